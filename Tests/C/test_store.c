#include "fixture.h"

static char folder[256], path[300];

static void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
}

static quire_status open_with(quire_model *model, const quire_store_options *options, quire_store **store) {
    return quire_store_open(path, QUIRE_NUL, model, options, store, &error);
}

static void write_file(const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(text, 1, size, file) == size);
    fclose(file);
}

static void created_file_is_found_again(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    char uuid[64];
    snprintf(uuid, sizeof uuid, "%s", quire_store_uuid(made.store).data);
    CHECK(strlen(uuid) == 36 && strspn(uuid, "0123456789ABCDEF-") == 36);
    CHECK_TEXT(quire_store_path(made.store), path);
    CHECK(quire_store_model(made.store) == made.model);
    CHECK(quire_store_is_open(made.store));
    quire_object_release(book);
    close_fixture(made);

    made = open_fixture_at(path);
    CHECK_TEXT(quire_store_uuid(made.store), uuid);
    CHECK(count(made.context, "Book", "title == 'Faust'") == 1);
    close_fixture(made);
    remove_folder(folder);
}

static void check_of_a_sound_store_mends_nothing(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    int64_t mended = -1;
    CHECK_OK(quire_store_check(made.store, &mended, &error));
    CHECK(mended == 0);
    CHECK_OK(quire_store_check(made.store, NULL, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    mended = -1;
    CHECK_FAILS(QUIRE_CLOSED, quire_store_check(made.store, &mended, &error));
    CHECK(mended == 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_check(NULL, &mended, &error));
    close_fixture(made);
    remove_folder(folder);
}

static void memory_store_leaves_no_file(void) {
    fixture made = open_fixture();
    CHECK(access(":memory:", F_OK) != 0);
    fixture other = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    CHECK(count(other.context, "Book", NULL) == 0);
    quire_object_release(book);
    close_fixture(other);
    close_fixture(made);
}

static void missing_folder_and_folders_cannot_be_opened(void) {
    use_folder();
    quire_model *model = library_model();
    quire_store *store = (quire_store *)path;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(folder, QUIRE_NUL, model, NULL, &store, &error));
    CHECK(store == NULL);
    snprintf(path, sizeof path, "%s/none/library.sqlite", folder);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, open_with(model, NULL, &store));
    quire_model_release(model);
    remove_folder(folder);
}

static void missing_file_is_not_created_when_it_must_exist(void) {
    use_folder();
    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.must_exist = true;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, open_with(model, &options, &store));
    options.must_exist = false;
    options.is_read_only = true;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, open_with(model, &options, &store));
    CHECK(access(path, F_OK) != 0);
    quire_model_release(model);
    remove_folder(folder);
}

static void file_that_is_no_database_is_left_untouched(void) {
    use_folder();
    const char text[] = "Dear diary, this is no database, and it is long enough to have a header of one hundred bytes, I hope.";
    write_file(text, sizeof text - 1);
    quire_model *model = library_model();
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(model, NULL, &store));
    CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(NULL, NULL, &store));
    char read[sizeof text] = "";
    FILE *file = fopen(path, "rb");
    CHECK(fread(read, 1, sizeof read, file) == sizeof text - 1 && memcmp(read, text, sizeof text - 1) == 0);
    fclose(file);
    quire_model_release(model);
    remove_folder(folder);
}

static void empty_file_is_not_a_store_without_a_model(void) {
    use_folder();
    write_file("", 0);
    quire_store *store = NULL;
    for (int is_read_only = 0; is_read_only < 2; is_read_only++) {
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        options.is_read_only = is_read_only != 0;
        CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(NULL, &options, &store));
    }
    remove_folder(folder);
}

static void database_of_another_program_is_not_a_store(void) {
    use_folder();
    char command[400];
    snprintf(command, sizeof command, "sqlite3 '%s' 'CREATE TABLE t (x); INSERT INTO t VALUES (1);'", path);
    CHECK(system(command) == 0);
    quire_model *model = library_model();
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(model, NULL, &store));
    CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(NULL, NULL, &store));
    snprintf(command, sizeof command, "test \"$(sqlite3 '%s' .tables)\" = t", path);
    CHECK(system(command) == 0);
    quire_model_release(model);
    remove_folder(folder);
}

static void another_model_is_a_mismatch_that_names_the_entity(void) {
    use_folder();
    close_fixture(open_fixture_at(path));
    quire_model *model = library_model();
    CHECK_OK(quire_model_add_attribute(model, "Tag", QUIRE_NUL, "colour", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
    quire_store *store = NULL;
    CHECK(open_with(model, NULL, &store) == QUIRE_MODEL_MISMATCH);
    CHECK(strstr(quire_error_message(error).data, "Tag") != NULL);
    CHECK(strstr(quire_error_message(error).data, "Shelf") == NULL);
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
    remove_folder(folder);
}

static void model_that_contradicts_itself_opens_nothing(void) {
    use_folder();
    quire_model *model = quire_model_create();
    quire_entity_options options = QUIRE_ENTITY_OPTIONS_INIT;
    options.parent = "Missing";
    CHECK_OK(quire_model_add_entity(model, "Book", QUIRE_NUL, &options, &error));
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_INVALID_MODEL, open_with(model, NULL, &store));
    CHECK(access(path, F_OK) != 0);
    quire_model_release(model);
    remove_folder(folder);
}

static void read_only_store_reads_and_does_not_save(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_object_release(book);
    close_fixture(made);

    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    CHECK_OK(open_with(model, &options, &store));
    CHECK_OK(quire_context_create(store, &context, &error));
    CHECK(count(context, "Book", NULL) == 1);
    book = insert_book(context, "Egmont", 120);
    CHECK_FAILS(QUIRE_READ_ONLY, quire_context_save(context, &error));
    CHECK(quire_context_obtain_permanent_ids(context, &error) == QUIRE_READ_ONLY);
    CHECK(strstr(quire_error_message(error).data, "for reading only") && !strstr(quire_error_message(error).data, "UPDATE"));
    quire_error_release(error);
    error = NULL;
    CHECK(quire_object_is_inserted(book));
    quire_object_release(book);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    remove_folder(folder);
}

/* A context with something to save, on a store that waits so many milliseconds for others. */
typedef struct waiting {
    quire_store *store;
    quire_context *context;
    atomic_int thread;
    atomic_bool is_over;
} waiting;

static void open_waiting(waiting *made, quire_model *model, uint32_t timeout) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.busy_timeout = timeout;
    CHECK_OK(open_with(model, &options, &made->store));
    CHECK_OK(quire_context_create(made->store, &made->context, &error));
    quire_object_release(insert_book(made->context, "Faust", 300));
}

static void close_waiting(waiting *made) {
    quire_context_release(made->context);
    quire_store_release(made->store);
}

static void *save_in_the_end(void *data) {
    waiting *patient = data;
    atomic_store(&patient->thread, gettid());
    save(patient->context);
    atomic_store(&patient->is_over, true);
    return NULL;
}

static void locked_store_is_busy_after_its_own_timeout(void) {
    use_folder();
    close_fixture(open_fixture_at(path));
    quire_model *model = library_model();
    waiting hasty = {0}, patient = {0};
    open_waiting(&hasty, model, 50);
    open_waiting(&patient, model, PATIENCE * 1000);

    const shell other = open_shell(path);
    run_in_shell(other, "BEGIN IMMEDIATE;");
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, save_in_the_end, &patient) == 0);
    await_sleep(&patient.thread);
    CHECK_FAILS(QUIRE_BUSY, quire_context_save(hasty.context, &error));
    CHECK(quire_context_has_changes(hasty.context) && !atomic_load(&patient.is_over));
    run_in_shell(other, "ROLLBACK;");
    CHECK(pthread_join(thread, NULL) == 0);
    save(hasty.context);
    close_shell(other);

    close_waiting(&hasty);
    close_waiting(&patient);
    quire_model_release(model);
    remove_folder(folder);
}

typedef struct opening {
    quire_model *model;
    const quire_store_options *options;
    atomic_int thread;
} opening;

static void *open_in_thread(void *data) {
    opening *opening = data;
    quire_store *store = NULL;
    atomic_store(&opening->thread, gettid());
    CHECK_OK(open_with(opening->model, opening->options, &store));
    quire_store_release(store);
    return NULL;
}

static void store_that_is_being_created_is_waited_for(void) {
    for (int is_read_only = 0; is_read_only < 2; is_read_only++) {
        use_folder();
        close_fixture(open_fixture_at(path));
        char command[1200];
        snprintf(command, sizeof command, "sqlite3 '%s' .dump | grep -v '^BEGIN\\|^COMMIT\\|^PRAGMA' >'%s/all.sql'", path, folder);
        CHECK(system(command) == 0 && unlink(path) == 0);
        const shell creator = open_shell(path);
        snprintf(command, sizeof command, "BEGIN IMMEDIATE;\n.read '%s/all.sql'", folder);
        run_in_shell(creator, command);
        quire_model *model = library_model();
        quire_store *store = NULL;
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        options.is_read_only = is_read_only;
        options.must_exist = true;
        options.busy_timeout = 50;
        CHECK_FAILS(QUIRE_NOT_A_STORE, open_with(model, &options, &store));
        options.busy_timeout = PATIENCE * 1000;
        opening opening = {model, &options, 0};
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, open_in_thread, &opening) == 0);
        await_sleep(&opening.thread);
        run_in_shell(creator, "COMMIT;");
        CHECK(pthread_join(thread, NULL) == 0);
        close_shell(creator);
        quire_model_release(model);
        remove_folder(folder);
    }
}

static void closed_store_refuses_work_and_keeps_its_handles(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);

    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK(!quire_store_is_open(made.store));
    CHECK_TEXT(quire_store_path(made.store), ":memory:");

    quire_object *other = NULL;
    quire_context *context = NULL;
    quire_list *list = NULL;
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_FAILS(QUIRE_CLOSED, quire_context_insert(made.context, "Book", QUIRE_NUL, &other, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_create(made.store, &context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_fetch(made.context, request, &list, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_delete(made.context, book, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_save(made.context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_process(made.context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_rollback(made.context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_obtain_permanent_ids(made.context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_object(made.context, "Book", QUIRE_NUL, 1, &other, &error));

    quire_fetch_request_release(request);
    quire_object_release(book);
    close_fixture(made);
}

static void options_of_another_size_are_understood_or_refused(void) {
    struct { quire_store_options known; uint64_t tail; } later = {QUIRE_STORE_OPTIONS_INIT, 0};
    later.known.struct_size = sizeof later;
    quire_model *model = library_model();
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, &later.known, &store, &error));
    quire_store_release(store);
    later.tail = 1;
    CHECK(quire_store_open(":memory:", QUIRE_NUL, model, &later.known, &store, &error) != QUIRE_OK);
    CHECK(store == NULL);
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
}

static void path_is_taken_by_its_size(void) {
    use_folder();
    quire_model *model = library_model();
    quire_store *store = NULL;
    char longer[320];
    snprintf(longer, sizeof longer, "%s-and-more", path);
    CHECK_OK(quire_store_open(longer, strlen(path), model, NULL, &store, &error));
    CHECK(access(path, F_OK) == 0 && access(longer, F_OK) != 0);
    quire_store_release(store);
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_store_open("\xFF.sqlite", QUIRE_NUL, model, NULL, &store, &error));
    CHECK(quire_store_open("", QUIRE_NUL, model, NULL, &store, &error) != QUIRE_OK);
    quire_error_release(error);
    error = NULL;
    CHECK(quire_store_open("a\0b", 3, model, NULL, &store, &error) != QUIRE_OK);
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(created_file_is_found_again);
    RUN(check_of_a_sound_store_mends_nothing);
    RUN(memory_store_leaves_no_file);
    RUN(missing_folder_and_folders_cannot_be_opened);
    RUN(missing_file_is_not_created_when_it_must_exist);
    RUN(file_that_is_no_database_is_left_untouched);
    RUN(database_of_another_program_is_not_a_store);
    RUN(empty_file_is_not_a_store_without_a_model);
    RUN(another_model_is_a_mismatch_that_names_the_entity);
    RUN(model_that_contradicts_itself_opens_nothing);
    RUN(read_only_store_reads_and_does_not_save);
    RUN(locked_store_is_busy_after_its_own_timeout);
    RUN(store_that_is_being_created_is_waited_for);
    RUN(closed_store_refuses_work_and_keeps_its_handles);
    RUN(options_of_another_size_are_understood_or_refused);
    RUN(path_is_taken_by_its_size);
    return RESULT();
}
