/* Which options of a request have a meaning for what it is used for, and that the others are refused. */
#include "fixture.h"

/* b0 to b5, of two authors by turns, with 0 to 500 pages; the last is not saved. */
static fixture six_books(void) {
    fixture made = open_fixture();
    quire_object *authors[2];
    static const char *const names[] = {"Goethe", "Schiller"};
    for (size_t i = 0; i < 2; i++) {
        authors[i] = insert(made.context, "Author");
        set_text(authors[i], "name", names[i]);
    }
    for (int i = 0; i < 6; i++) {
        char title[16];
        snprintf(title, sizeof title, "b%d", i);
        quire_object *book = insert_book(made.context, title, 100 * i);
        set_value(book, "author", quire_value_object(authors[i % 2]));
        if (i == 4) save(made.context);
        quire_object_release(book);
    }
    for (size_t i = 0; i < 2; i++) quire_object_release(authors[i]);
    return made;
}

static int64_t fetched(quire_context *context, quire_fetch_request *request) {
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    const int64_t count = quire_list_count(list);
    quire_list_release(list);
    return count;
}

static int64_t counted(quire_context *context, quire_fetch_request *request) {
    int64_t count = -1;
    CHECK_OK(quire_context_count(context, request, &count, &error));
    return count;
}

static void a_limit_of_0_is_none_and_no_limit_is_all(void) {
    fixture made = six_books();
    for (int is_saved = 0; is_saved < 2; is_saved++) {
        static const struct { uint64_t limit, offset; int64_t count; } windows[] = {
            {QUIRE_NO_LIMIT, 0, 6}, {0, 0, 0}, {0, 2, 0}, {2, 0, 2}, {QUIRE_NO_LIMIT, 2, 4}, {INT64_MAX, 5, 1},
            {0, INT64_MAX, 0}, {QUIRE_NO_LIMIT, INT64_MAX, 0}};
        static const uint32_t types[] = {QUIRE_RESULT_OBJECTS, QUIRE_RESULT_IDS};
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            quire_fetch_request *request = new_request("Book", NULL, "title");
            CHECK_OK(quire_fetch_request_set_limit(request, windows[i].limit, &error));
            CHECK_OK(quire_fetch_request_set_offset(request, windows[i].offset, &error));
            for (size_t type = 0; type < 2; type++) {
                CHECK_OK(quire_fetch_request_set_result_type(request, types[type], &error));
                for (uint64_t batch_size = 0; batch_size < 3; batch_size += 2) {
                    CHECK_OK(quire_fetch_request_set_batch_size(request, batch_size, &error));
                    CHECK(fetched(made.context, request) == windows[i].count);
                    CHECK(fetched(made.context, request) == windows[i].count);
                }
                CHECK(counted(made.context, request) == windows[i].count);
            }
            quire_fetch_request_release(request);
        }
        /* Of rows of values the store is asked, which has the last book later. */
        quire_fetch_request *rows = new_request("Book", NULL, "title");
        CHECK_OK(quire_fetch_request_set_result_type(rows, QUIRE_RESULT_DICTIONARIES, &error));
        CHECK(fetched(made.context, rows) == 5 + is_saved && counted(made.context, rows) == 5 + is_saved);
        CHECK_OK(quire_fetch_request_set_limit(rows, 0, &error));
        CHECK(fetched(made.context, rows) == 0 && counted(made.context, rows) == 0);
        CHECK_OK(quire_fetch_request_set_limit(rows, QUIRE_NO_LIMIT, &error));
        CHECK(fetched(made.context, rows) == 5 + is_saved);
        quire_fetch_request_release(rows);
        save(made.context);
    }
    close_fixture(made);
}

static void a_live_list_of_none_stays_empty(void) {
    fixture made = six_books();
    static const char *const sections[] = {NULL, "title"};
    for (size_t i = 0; i < 2; i++) {
        for (uint64_t offset = 0; offset < 3; offset += 2) {
            quire_fetch_request *request = new_request("Book", NULL, "title");
            CHECK_OK(quire_fetch_request_set_limit(request, 0, &error));
            CHECK_OK(quire_fetch_request_set_offset(request, offset, &error));
            quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
            options.section_key_path = sections[i];
            options.queues_changes = true;
            quire_results *results = NULL;
            CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
            CHECK_OK(quire_results_fetch(results, &error));
            CHECK(quire_results_count(results) == 0 && quire_results_section_count(results) == (i == 0));
            quire_object *book = insert_book(made.context, "a", 1);
            CHECK_OK(quire_context_process(made.context, &error));
            CHECK_OK(quire_context_delete(made.context, book, &error));
            quire_object_release(book);
            CHECK_OK(quire_context_process(made.context, &error));
            quire_changes *changes = NULL;
            CHECK_OK(quire_results_next_changes(results, &changes, &error));
            CHECK(changes == NULL && quire_results_count(results) == 0);
            CHECK_OK(quire_fetch_request_set_limit(request, QUIRE_NO_LIMIT, &error));
            CHECK_OK(quire_results_set_request(results, request, sections[i], i ? QUIRE_NUL : 0, &error));
            CHECK(quire_results_count(results) == 6 - (int64_t)offset);
            quire_results_release(results);
            quire_fetch_request_release(request);
        }
    }
    close_fixture(made);
}

static void a_batch_request_of_none_changes_nothing(void) {
    fixture made = six_books();
    save(made.context);
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_limit(request, 0, &error));
    const char *const keys[] = {"pages"};
    const quire_value values[] = {quire_value_integer(7)};
    int64_t count = -1;
    CHECK_OK(quire_context_batch_update(made.context, request, keys, values, 1, NULL, &count, NULL, &error));
    CHECK(count == 0);
    count = -1;
    CHECK_OK(quire_context_batch_delete(made.context, request, NULL, &count, NULL, &error));
    CHECK(count == 0);
    CHECK_OK(quire_fetch_request_set_limit(request, QUIRE_NO_LIMIT, &error));
    CHECK(counted(made.context, request) == 6);
    quire_fetch_request_release(request);
    quire_list *list = fetch(made.context, "Book", "pages == 7", NULL);
    CHECK(quire_list_count(list) == 0);
    quire_list_release(list);
    close_fixture(made);
}

typedef enum option {
    GROUP, HAVING, DISTINCT, CALCULATED, PROPERTY, REFRESH, PREFETCH, BATCH_SIZE, FAULTS, NO_VALUES, OPTIONS
} option;
static const char *const offenders[OPTIONS] = {"author", "condition for groups", "equal rows", "twice", "title", "refreshes"};

static quire_fetch_request *request_with(option option, uint32_t result_type) {
    quire_fetch_request *request = new_request("Book", NULL, option == DISTINCT ? NULL : "title");
    CHECK_OK(quire_fetch_request_set_result_type(request, result_type, &error));
    quire_predicate *predicate = NULL;
    quire_expression *expression = NULL;
    switch (option) {
    case GROUP: CHECK_OK(quire_fetch_request_add_group(request, "author", QUIRE_NUL, &error)); break;
    case HAVING:
        CHECK_OK(quire_predicate_parse("count:(SELF) > 0", QUIRE_NUL, NULL, 0, &predicate, &error));
        CHECK_OK(quire_fetch_request_set_having(request, predicate, &error));
        quire_predicate_release(predicate);
        break;
    case DISTINCT: CHECK_OK(quire_fetch_request_set_distinct(request, true, &error)); break;
    case CALCULATED:
        CHECK_OK(quire_expression_parse("pages * 2", QUIRE_NUL, NULL, 0, &expression, &error));
        CHECK_OK(quire_fetch_request_add_expression(request, "twice", QUIRE_NUL, expression, &error));
        quire_expression_release(expression);
        break;
    case PROPERTY: CHECK_OK(quire_fetch_request_add_property(request, "title", QUIRE_NUL, &error)); break;
    case REFRESH: CHECK_OK(quire_fetch_request_set_refreshes_refetched_objects(request, true, &error)); break;
    case PREFETCH: CHECK_OK(quire_fetch_request_add_prefetch(request, "author", QUIRE_NUL, &error)); break;
    case BATCH_SIZE: CHECK_OK(quire_fetch_request_set_batch_size(request, 2, &error)); break;
    case FAULTS: CHECK_OK(quire_fetch_request_set_returns_objects_as_faults(request, true, &error)); break;
    case NO_VALUES: CHECK_OK(quire_fetch_request_set_includes_property_values(request, false, &error)); break;
    default: break;
    }
    return request;
}

typedef enum use { FETCH, COUNT, EXPLAIN, RESULTS, SET_REQUEST, UPDATE, DELETE, FETCHED, USES } use;

/* A fetched property belongs to a model that is not in use yet. */
static quire_status use_request(fixture made, quire_fetch_request *request, use use) {
    static const char *const keys[] = {"pages"};
    const quire_value values[] = {quire_value_integer(7)};
    quire_list *list = NULL;
    quire_evaluation *explanation = NULL;
    quire_results *results = NULL;
    int64_t count = 0;
    quire_status status = QUIRE_OK;
    switch (use) {
    case FETCH:
        status = quire_context_fetch(made.context, request, &list, &error);
        CHECK((status == QUIRE_OK) == (list != NULL));
        quire_list_release(list);
        return status;
    case COUNT: return quire_context_count(made.context, request, &count, &error);
    case EXPLAIN:
        status = quire_fetch_request_explain(request, made.context, &explanation, &error);
        quire_evaluation_release(explanation);
        return status;
    case RESULTS:
        status = quire_results_create(made.context, request, NULL, &results, &error);
        quire_results_release(results);
        return status;
    case SET_REQUEST: {
        quire_fetch_request *plain = new_request("Book", NULL, "title");
        CHECK_OK(quire_results_create(made.context, plain, NULL, &results, &error));
        quire_fetch_request_release(plain);
        CHECK_OK(quire_results_fetch(results, &error));
        status = quire_results_set_request(results, request, NULL, 0, &error);
        CHECK(quire_results_count(results) == 6);
        quire_results_release(results);
        return status;
    }
    case UPDATE: return quire_context_batch_update(made.context, request, keys, values, 1, NULL, NULL, NULL, &error);
    case DELETE: return quire_context_batch_delete(made.context, request, NULL, NULL, NULL, &error);
    default: {
        quire_model *model = library_model();
        status = quire_model_add_fetched_property(model, "Author", QUIRE_NUL, "others", QUIRE_NUL, request, &error);
        quire_model_release(model);
        return status;
    }
    }
}

/* Whether an option changes what the use gives, or how it is read. */
static bool has_meaning(option option, uint32_t type, use use) {
    /* How objects are read is of no concern where none are read. */
    if (option >= PREFETCH) return true;
    if (use <= EXPLAIN) {
        if (option == HAVING) return false;
        if (type == QUIRE_RESULT_DICTIONARIES) return option != REFRESH;
        return type == QUIRE_RESULT_OBJECTS && (option == PROPERTY || option == REFRESH);
    }
    if (use <= SET_REQUEST) return option == PROPERTY;
    return use == FETCHED && (option == PROPERTY || option == REFRESH);
}

static void what_has_no_meaning_is_refused_and_named(void) {
    static const uint32_t types[] = {
        QUIRE_RESULT_OBJECTS, QUIRE_RESULT_IDS, QUIRE_RESULT_DICTIONARIES, QUIRE_RESULT_COUNT};
    for (use use = FETCH; use < USES; use++) {
        for (option option = GROUP; option < OPTIONS; option++) {
            for (size_t i = 0; i < 4; i++) {
                /* Of other uses, what they say of the type is told of below. */
                if (use > EXPLAIN && types[i] != QUIRE_RESULT_OBJECTS) continue;
                fixture made = six_books();
                save(made.context);
                quire_fetch_request *request = request_with(option, types[i]);
                /* Rows of groups can have what they have in common. */
                if (option == GROUP && types[i] == QUIRE_RESULT_DICTIONARIES) {
                    CHECK_OK(quire_fetch_request_clear_sort(request, &error));
                    CHECK_OK(quire_fetch_request_add_property(request, "author", QUIRE_NUL, &error));
                }
                const quire_status status = use_request(made, request, use);
                if (has_meaning(option, types[i], use)) {
                    CHECK(status == QUIRE_OK);
                } else {
                    CHECK(status == (use == FETCHED ? QUIRE_INVALID_MODEL
                        : option == HAVING && types[i] == QUIRE_RESULT_DICTIONARIES ? QUIRE_INVALID_STATE
                        : QUIRE_INVALID_ARGUMENT));
                    if (status != QUIRE_INVALID_STATE)
                        CHECK(strstr(quire_error_message(error).data, offenders[option]) != NULL);
                    quire_error_release(error);
                    error = NULL;
                    quire_list *all = fetch(made.context, "Book", "pages != 7", NULL);
                    CHECK(quire_list_count(all) == 6);
                    quire_list_release(all);
                }
                quire_fetch_request_release(request);
                close_fixture(made);
            }
        }
    }
}

/* A deletion of dictionaries had no order, and so deleted other objects than the first. */
static void other_results_than_a_use_can_have_are_refused(void) {
    fixture made = six_books();
    save(made.context);
    static const uint32_t types[] = {
        QUIRE_RESULT_OBJECTS, QUIRE_RESULT_IDS, QUIRE_RESULT_DICTIONARIES, QUIRE_RESULT_COUNT};
    for (size_t i = 1; i < 4; i++) {
        quire_fetch_request *request = new_request("Book", NULL, NULL);
        CHECK_OK(quire_fetch_request_add_sort(request, "title", QUIRE_NUL, true, &error));
        CHECK_OK(quire_fetch_request_set_limit(request, 1, &error));
        CHECK_OK(quire_fetch_request_set_result_type(request, types[i], &error));
        quire_results *results = NULL;
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_create(made.context, request, NULL, &results, &error));
        CHECK_FAILS(QUIRE_INVALID_MODEL, use_request(made, request, FETCHED));
        if (types[i] == QUIRE_RESULT_IDS) {
            CHECK_OK(use_request(made, request, UPDATE));
            CHECK_OK(use_request(made, request, DELETE));
        } else {
            CHECK_FAILS(QUIRE_INVALID_ARGUMENT, use_request(made, request, UPDATE));
            CHECK_FAILS(QUIRE_INVALID_ARGUMENT, use_request(made, request, DELETE));
        }
        quire_fetch_request_release(request);
    }
    quire_list *list = fetch(made.context, "Book", NULL, "title");
    CHECK(strcmp(joined(list, "title"), "b0,b1,b2,b3,b4") == 0);
    quire_list_release(list);
    close_fixture(made);
}

/* A copy of a template may be changed at will, so that its use alone decides. */
static void a_template_is_refused_where_it_is_used_and_not_before(void) {
    fixture made = {library_model(), NULL, NULL};
    quire_fetch_request *template = new_request("Book", NULL, NULL), *request = NULL;
    CHECK_OK(quire_fetch_request_add_property(template, "author", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_add_group(template, "author", QUIRE_NUL, &error));
    CHECK_OK(quire_model_add_fetch_template(made.model, "authors", QUIRE_NUL, template, &error));
    quire_fetch_request_release(template);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    quire_object_release(insert_book(made.context, "Faust", 300));
    save(made.context);
    CHECK_OK(quire_model_fetch_template(made.model, "authors", QUIRE_NUL, NULL, 0, &request, &error));
    for (use use = FETCH; use < FETCHED; use++)
        if (use != SET_REQUEST) CHECK_FAILS(QUIRE_INVALID_ARGUMENT, use_request(made, request, use));
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK(fetched(made.context, request) == 1 && counted(made.context, request) == 1);
    quire_fetch_request_release(request);
    quire_list *all = fetch(made.context, "Book", "pages == 300", NULL);
    CHECK(quire_list_count(all) == 1);
    quire_list_release(all);
    close_fixture(made);
}

static void a_count_of_dictionaries_counts_groups_and_equal_rows_once(void) {
    fixture made = six_books();
    save(made.context);
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "author", QUIRE_NUL, &error));
    CHECK(counted(made.context, request) == 6);
    CHECK_OK(quire_fetch_request_set_distinct(request, true, &error));
    CHECK(counted(made.context, request) == 2 && fetched(made.context, request) == 2);
    CHECK_OK(quire_fetch_request_set_distinct(request, false, &error));
    CHECK_OK(quire_fetch_request_add_group(request, "author", QUIRE_NUL, &error));
    CHECK(counted(made.context, request) == 2 && fetched(made.context, request) == 2);
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse("sum:(pages) > 600", QUIRE_NUL, NULL, 0, &predicate, &error));
    CHECK_OK(quire_fetch_request_set_having(request, predicate, &error));
    quire_predicate_release(predicate);
    CHECK(counted(made.context, request) == 1 && fetched(made.context, request) == 1);
    quire_fetch_request_release(request);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_limit_of_0_is_none_and_no_limit_is_all);
    RUN(a_live_list_of_none_stays_empty);
    RUN(a_batch_request_of_none_changes_nothing);
    RUN(what_has_no_meaning_is_refused_and_named);
    RUN(other_results_than_a_use_can_have_are_refused);
    RUN(a_template_is_refused_where_it_is_used_and_not_before);
    RUN(a_count_of_dictionaries_counts_groups_and_equal_rows_once);
    return RESULT();
}
