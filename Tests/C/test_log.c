/* The log of statements, and data that a program attaches to handles. */
#include "fixture.h"

#include <pthread.h>

typedef struct journal {
    char text[65536];
    size_t used;
    int count, destroyed;
    uint64_t rows, nanoseconds;
    quire_store *store;
    quire_context *context;
    quire_status refused[6];
} journal;

static void write_down(void *user_data, const quire_log_entry *entry) {
    journal *journal = user_data;
    CHECK(entry->struct_size >= sizeof *entry && entry->sql.data && strlen(entry->sql.data) == entry->sql.size);
    journal->count++;
    journal->rows += entry->row_count;
    journal->nanoseconds += entry->nanoseconds;
    journal->used += (size_t)snprintf(
        journal->text + journal->used, sizeof journal->text - journal->used, "%s\n", entry->sql.data);
    if (journal->used > sizeof journal->text - 1024) journal->used = 0;
    if (journal->store) {
        journal->refused[0] = quire_store_set_log(journal->store, NULL, NULL);
        journal->refused[1] = quire_context_save(journal->context, NULL);
        journal->refused[2] = quire_store_close(journal->store, NULL);
        quire_evaluation *metadata = NULL;
        journal->refused[3] = quire_store_metadata(journal->store, &metadata, NULL);
        journal->refused[4] = quire_store_set_metadata(journal->store, "key", QUIRE_NUL, NULL, NULL);
        journal->refused[5] = quire_metadata_read("none", QUIRE_NUL, &metadata, NULL);
    }
}

static void let_go(void *user_data) { ((journal *)user_data)->destroyed++; }

static quire_log log_into(journal *journal) {
    quire_log log = QUIRE_LOG_INIT;
    log.user_data = journal;
    log.destroy = let_go;
    log.statement = write_down;
    return log;
}

static void statements_are_logged_with_rows_and_times(void) {
    fixture made = open_fixture();
    static journal journal;
    const quire_log log = log_into(&journal);
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    for (int i = 0; i < 10; i++) quire_object_release(insert_book(made.context, "Urfaust", i));
    save(made.context);
    CHECK(strstr(journal.text, "INSERT INTO ZBOOK") && strstr(journal.text, "COMMIT"));
    CHECK(!strstr(journal.text, "Urfaust"));
    journal.rows = journal.nanoseconds = 0;
    quire_list_release(fetch(made.context, "Book", "title == 'Urfaust'", NULL));
    CHECK(journal.rows == 10);

    CHECK_OK(quire_store_set_log(made.store, NULL, &error));
    CHECK(journal.destroyed == 1);
    const int before = journal.count;
    quire_list_release(fetch(made.context, "Book", NULL, NULL));
    CHECK(journal.count == before);
    close_fixture(made);
    CHECK(journal.destroyed == 1);
}

static void values_are_logged_only_when_asked_for(void) {
    fixture made = open_fixture();
    static journal journal;
    quire_log log = log_into(&journal);
    log.includes_values = true;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    CHECK(count(made.context, "Book", "title == 'Urfaust'") == 0);
    CHECK(strstr(journal.text, "'Urfaust'") != NULL);
    log.least_nanoseconds = UINT64_MAX;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    const int before = journal.count;
    CHECK(count(made.context, "Book", "title == 'Urfaust'") == 0);
    CHECK(journal.count == before && journal.destroyed == 1);
    close_fixture(made);
    CHECK(journal.destroyed == 2);
}

static void opening_is_logged(void) {
    quire_model *model = library_model();
    static journal journal;
    const quire_log log = log_into(&journal);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.log = &log;
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, &options, &store, &error));
    CHECK(strstr(journal.text, "CREATE TABLE ZBOOK") != NULL);
    quire_store_release(store);
    CHECK(journal.destroyed == 1);
    quire_model_release(model);
}

static void check_hears(journal *journal, const char *part, const char *where) {
    if (!strstr(journal->text, part)) fprintf(stderr, "no %s in the log of %s\n", part, where);
    CHECK(strstr(journal->text, part) != NULL);
    memset(journal->text, 0, sizeof journal->text);
    journal->used = 0;
}

static void a_log_of_the_opening_hears_what_all_contexts_read(void) {
    char folder[256], path[300], copy[300], xml[300];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/a.sqlite", folder);
    snprintf(copy, sizeof copy, "%s/b.sqlite", folder);
    snprintf(xml, sizeof xml, "%s/a.xml", folder);
    quire_model *model = library_model();
    const struct {
        const char *path;
        bool is_read_only;
        quire_store_type type;
    } stores[] = {{path, false, 0}, {path, true, 0}, {":memory:", false, 0}, {xml, false, QUIRE_STORE_XML}};
    for (size_t i = 0; i < sizeof stores / sizeof stores[0]; i++) {
        const char *const name = stores[i].is_read_only ? "a store for reading only" : stores[i].path;
        static journal journal;
        memset(&journal, 0, sizeof journal);
        const quire_log log = log_into(&journal);
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        options.log = &log;
        options.is_read_only = stores[i].is_read_only;
        options.type = stores[i].type;
        quire_store *store = NULL;
        CHECK_OK(quire_store_open(stores[i].path, QUIRE_NUL, model, &options, &store, &error));
        quire_context *contexts[3];
        for (int number = 0; number < 3; number++)
            CHECK_OK(quire_context_create(store, &contexts[number], &error));
        if (!options.is_read_only) {
            quire_object_release(insert_book(contexts[0], "Urfaust", 1));
            save(contexts[0]);
            check_hears(&journal, "INSERT INTO ZBOOK", name);
        }
        for (int number = 0; number < 3; number++) {
            CHECK_OK(quire_context_merge(contexts[number], &error));
            quire_list_release(fetch(contexts[number], "Book", "title != 'x'", NULL));
            check_hears(&journal, "FROM ZBOOK", name);
            CHECK(count(contexts[number], "Book", "pages == 1") == 1);
            check_hears(&journal, "FROM ZBOOK", name);
        }
        if (stores[i].path == path && !options.is_read_only) {
            CHECK_OK(quire_store_copy(store, copy, QUIRE_NUL, &error));
            check_hears(&journal, "schema_version", "a copy");
        }
        CHECK(journal.destroyed == 0);
        CHECK_OK(quire_store_set_log(store, NULL, &error));
        CHECK(journal.destroyed == 1);
        const int before = journal.count;
        for (int number = 0; number < 3; number++) {
            CHECK(count(contexts[number], "Book", "pages == 2") == 0);
            quire_context_release(contexts[number]);
        }
        CHECK(journal.count == before);
        quire_store_release(store);
        CHECK(journal.destroyed == 1);
    }
    quire_model_release(model);
    remove_folder(folder);
}

static void what_fails_leaves_the_log_to_its_owner(void) {
    char folder[256], path[300];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/junk", folder);
    FILE *junk = fopen(path, "w");
    for (int i = 0; i < 500; i++) fputs("no database ", junk);
    fclose(junk);
    fixture made = open_fixture();
    quire_model *unresolved = quire_model_create();
    CHECK_OK(quire_model_add_entity(unresolved, "Book", QUIRE_NUL, NULL, &error));
    quire_relationship_options nowhere = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    CHECK_OK(quire_model_add_relationship(
        unresolved, "Book", QUIRE_NUL, "shelf", QUIRE_NUL, "Nowhere", QUIRE_NUL, &nowhere, &error));
    static journal journal;
    quire_log log = log_into(&journal);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.log = &log;
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open("", QUIRE_NUL, made.model, &options, &store, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(NULL, QUIRE_NUL, made.model, &options, &store, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(":memory:", QUIRE_NUL, NULL, &options, &store, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_store_open(":memory:", QUIRE_NUL, unresolved, &options, &store, &error));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open("/none/none", QUIRE_NUL, made.model, &options, &store, &error));
    CHECK_FAILS(QUIRE_NOT_A_STORE, quire_store_open(path, QUIRE_NUL, made.model, &options, &store, &error));
    log.statement = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(":memory:", QUIRE_NUL, made.model, &options, &store, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_set_log(made.store, &log, &error));
    log.statement = write_down;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_set_log(NULL, &log, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_store_set_log(made.store, &log, &error));
    CHECK(journal.destroyed == 0);
    CHECK(journal.count > 0);
    quire_model_release(unresolved);
    close_fixture(made);
    remove_folder(folder);
}

static void log_cannot_use_the_store(void) {
    fixture made = open_fixture();
    static journal journal;
    journal.store = made.store;
    journal.context = made.context;
    const quire_log log = log_into(&journal);
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    CHECK(count(made.context, "Book", NULL) == 0);
    for (int i = 0; i < 6; i++) CHECK(journal.refused[i] == QUIRE_INVALID_STATE);
    journal.refused[3] = QUIRE_OK;
    quire_evaluation *metadata = NULL;
    CHECK_OK(quire_store_metadata(made.store, &metadata, &error));
    quire_evaluation_release(metadata);
    CHECK(journal.refused[3] == QUIRE_INVALID_STATE);
    CHECK_OK(quire_store_set_log(made.store, NULL, &error));
    journal.store = NULL;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK(journal.destroyed == 2);
    close_fixture(made);
}

static void log_may_be_set_while_a_transaction_is_open(void) {
    fixture made = open_fixture();
    static journal journal;
    const quire_log log = log_into(&journal);
    CHECK_OK(quire_context_begin_transaction(made.context, &error));
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    quire_object_release(insert_book(made.context, "Urfaust", 1));
    save(made.context);
    CHECK(strstr(journal.text, "INSERT INTO ZBOOK") && !strstr(journal.text, "COMMIT"));
    CHECK_OK(quire_context_commit_transaction(made.context, &error));
    CHECK(strstr(journal.text, "COMMIT"));
    close_fixture(made);
}

static void log_without_function_is_refused(void) {
    fixture made = open_fixture();
    static journal journal;
    quire_log log = log_into(&journal);
    log.statement = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_set_log(made.store, &log, &error));
    CHECK(journal.destroyed == 0);
    close_fixture(made);
}

static int destroyed;

static void count_destroyed(void *user_data) {
    CHECK(user_data == &destroyed);
    destroyed++;
}

static void handles_carry_data_of_the_program(void) {
    fixture made = open_fixture();
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    quire_results *results = NULL;
    quire_composite *composite = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_OK(quire_composite_create(made.context, NULL, &composite, &error));
    CHECK(!quire_context_user_data(made.context) && !quire_results_user_data(results) && !quire_composite_user_data(composite));
    CHECK_OK(quire_context_set_user_data(made.context, &destroyed, count_destroyed, &error));
    CHECK_OK(quire_results_set_user_data(results, &destroyed, count_destroyed, &error));
    CHECK_OK(quire_composite_set_user_data(composite, &destroyed, count_destroyed, &error));
    CHECK(quire_context_user_data(made.context) == &destroyed);
    CHECK(quire_results_user_data(results) == &destroyed);
    CHECK(quire_composite_user_data(composite) == &destroyed);

    int other = 0;
    CHECK_OK(quire_results_set_user_data(results, &other, NULL, &error));
    CHECK(destroyed == 1 && quire_results_user_data(results) == &other);
    CHECK_OK(quire_context_set_user_data(made.context, NULL, NULL, &error));
    CHECK(destroyed == 2 && !quire_context_user_data(made.context));
    quire_results_release(results);
    CHECK(destroyed == 2);
    quire_composite_release(composite);
    CHECK(destroyed == 3);
    CHECK_OK(quire_context_set_user_data(made.context, &destroyed, count_destroyed, &error));
    quire_fetch_request_release(request);
    close_fixture(made);
    CHECK(destroyed == 4);
}

static void libraries_below_have_versions(void) {
    int major = 0, minor = 0;
    CHECK(sscanf(quire_sqlite_version(), "%d.%d", &major, &minor) == 2 && major == 3 && minor >= 38);
    CHECK(sscanf(quire_icu_version(), "%d.%d", &major, &minor) == 2 && major >= 60);
    CHECK(quire_icu_version() == quire_icu_version());
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(statements_are_logged_with_rows_and_times);
    RUN(values_are_logged_only_when_asked_for);
    RUN(opening_is_logged);
    RUN(a_log_of_the_opening_hears_what_all_contexts_read);
    RUN(what_fails_leaves_the_log_to_its_owner);
    RUN(log_cannot_use_the_store);
    RUN(log_may_be_set_while_a_transaction_is_open);
    RUN(log_without_function_is_refused);
    RUN(handles_carry_data_of_the_program);
    RUN(libraries_below_have_versions);
    return RESULT();
}
