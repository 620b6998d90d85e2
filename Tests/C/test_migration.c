/* A store goes over to another version of its model. */
#include "store_files.h"

/* Version 1 has a title and pages; version 2 calls the pages a length and has a rating of 3; version 3 has a number as
   title, which nothing can be inferred for. */
static quire_model *books(int version) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    add_attribute(model, "Book", "title", version == 3 ? QUIRE_TYPE_INTEGER_64 : QUIRE_TYPE_STRING);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.renaming_identifier = version == 2 ? "pages" : NULL;
    CHECK_OK(quire_model_add_attribute(
        model, "Book", QUIRE_NUL, version == 2 ? "length" : "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
    if (version == 2) {
        const quire_value three = quire_value_integer(3);
        quire_attribute_options rated = QUIRE_ATTRIBUTE_OPTIONS_INIT;
        rated.default_value = &three;
        CHECK_OK(quire_model_add_attribute(model, "Book", QUIRE_NUL, "rating", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &rated, &error));
    }
    return model;
}

/* A file of version 1 with one book. */
static void make_store(void) {
    use_folder();
    quire_model *model = books(1);
    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_object *book = NULL;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error));
    CHECK_OK(quire_context_create(store, &context, &error));
    CHECK_OK(quire_context_insert(context, "Book", QUIRE_NUL, &book, &error));
    const quire_value title = quire_value_text("Faust"), pages = quire_value_integer(464);
    CHECK_OK(quire_object_set(book, "title", QUIRE_NUL, &title, &error));
    CHECK_OK(quire_object_set(book, "pages", QUIRE_NUL, &pages, &error));
    CHECK_OK(quire_context_save(context, &error));
    quire_object_release(book);
    quire_context_release(context);
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    quire_model_release(model);
}

/* The file is of version 2 with that book. */
static void check_store(const quire_store_options *options) {
    quire_model *model = books(2);
    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_object *book = NULL;
    quire_value length = {0}, rating = {0};
    CHECK_OK(quire_store_open(path, QUIRE_NUL, model, options, &store, &error));
    CHECK_OK(quire_context_create(store, &context, &error));
    CHECK_OK(quire_context_object(context, "Book", QUIRE_NUL, 1, &book, &error));
    CHECK_OK(quire_object_get(book, "length", QUIRE_NUL, &length, &error));
    CHECK_OK(quire_object_get(book, "rating", QUIRE_NUL, &rating, &error));
    CHECK(length.as.integer == 464 && rating.as.integer == 3);
    quire_object_release(book);
    quire_context_release(context);
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    quire_model_release(model);
}

static quire_migration *migration_to(int version) {
    quire_model *model = books(version);
    quire_migration *migration = NULL;
    CHECK_OK(quire_migration_create(path, QUIRE_NUL, NULL, model, NULL, &migration, &error));
    quire_model_release(model);
    return migration;
}

static void a_migration_tells_its_steps_and_runs_them(void) {
    make_store();
    quire_migration *migration = migration_to(2);
    const int64_t count = quire_migration_step_count(migration);
    CHECK(count > 2);
    quire_migration_step step = QUIRE_MIGRATION_STEP_INIT;
    CHECK_OK(quire_migration_get_step(migration, 0, &step, &error));
    CHECK(step.kind == QUIRE_MIGRATION_RENAME_PROPERTY && step.sql.size == 0);
    CHECK_TEXT(step.entity, "Book");
    CHECK_TEXT(step.property, "length");
    CHECK_TEXT(step.sentence, "'Book.length' was called 'pages'.");
    CHECK_OK(quire_migration_get_step(migration, count - 1, &step, &error));
    CHECK(step.kind == QUIRE_MIGRATION_CHANGE_BOOKKEEPING && step.sql.size > 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_migration_get_step(migration, count, &step, &error));
    CHECK(step.sql.data == NULL && step.struct_size == sizeof step);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_migration_get_step(migration, -1, &step, &error));
    CHECK_OK(quire_migration_run(migration, NULL, NULL, &error));
    check_store(NULL);
    /* The second run finds the target, and the steps stay what they were. */
    CHECK_OK(quire_migration_run(migration, NULL, NULL, &error));
    CHECK(quire_migration_step_count(migration) == count);
    quire_migration_release(migration);
    migration = migration_to(2);
    CHECK(quire_migration_step_count(migration) == 0);
    CHECK_OK(quire_migration_run(migration, NULL, NULL, &error));
    quire_migration_release(migration);
    remove_folder(folder);
}

static void an_opening_migrates_where_it_is_told_to(void) {
    make_store();
    quire_model *model = books(2);
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    CHECK_FAILS(QUIRE_MODEL_MISMATCH, quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    options.migrates = options.is_read_only = true;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    options.is_read_only = false;
    check_store(&options);
    check_store(&options);
    remove_folder(folder);
}

/* A model whose number may be missing, or else has a default, in either case once more with another table layout. */
static quire_model *notes(bool is_optional, bool has_more) {
    quire_model *model = quire_model_create();
    const quire_value seven = quire_value_integer(7);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = is_optional;
    options.default_value = is_optional ? NULL : &seven;
    CHECK_OK(quire_model_add_entity(model, "Note", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_attribute(model, "Note", QUIRE_NUL, "number", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
    add_attribute(model, "Note", has_more ? "text" : "title", QUIRE_TYPE_STRING);
    return model;
}

static void nil_becomes_the_default_of_what_is_mandatory_now(void) {
    for (int has_more = 0; has_more < 2; has_more++) {
        use_folder();
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        for (int is_optional = 1; is_optional >= 0; is_optional--) {
            quire_model *model = notes(is_optional, has_more && !is_optional);
            quire_store *store = NULL;
            quire_context *context = NULL;
            options.migrates = !is_optional;
            CHECK_OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
            CHECK_OK(quire_context_create(store, &context, &error));
            if (is_optional) {
                quire_object_release(insert(context, "Note"));
                quire_object *other = insert(context, "Note");
                set_value(other, "number", quire_value_integer(3));
                save(context);
                quire_object_release(other);
            } else {
                CHECK(count(context, "Note", "number == 7") == 1 && count(context, "Note", "number == 3") == 1);
                CHECK(count(context, "Note", "number == nil") == 0);
            }
            quire_context_release(context);
            CHECK_OK(quire_store_close(store, &error));
            quire_store_release(store);
            quire_model_release(model);
        }
        remove_folder(folder);
    }
}

static void what_cannot_be_inferred_is_refused(void) {
    make_store();
    quire_model *model = books(3);
    quire_migration *migration = NULL;
    const quire_status status = quire_migration_create(path, QUIRE_NUL, NULL, model, NULL, &migration, &error);
    CHECK(status == QUIRE_UNSUPPORTED && migration == NULL);
    CHECK_TEXT(quire_error_entity(error), "Book");
    CHECK_TEXT(quire_error_key(error), "title");
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
    remove_folder(folder);
}

static bool cancels(void *user_data, uint64_t done) {
    ++*(int *)user_data;
    return done > 1000;
}

static int destroyed;
static void destroy(void *user_data) {
    (void)user_data;
    destroyed++;
}

static void a_run_is_cancelled(void) {
    make_store();
    quire_migration *migration = migration_to(2);
    quire_cancellation *cancellation = quire_cancellation_create();
    quire_cancellation_cancel(cancellation);
    CHECK_FAILS(QUIRE_CANCELLED, quire_migration_run(migration, cancellation, NULL, &error));
    quire_cancellation_release(cancellation);
    int calls = 0;
    quire_progress progress = QUIRE_PROGRESS_INIT;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_migration_run(migration, NULL, &progress, &error));
    progress.report = cancels;
    progress.user_data = &calls;
    progress.destroy = destroy;
    progress.interval_milliseconds = 1;
    /* A file as small as this one may be done before the first report. */
    const quire_status status = quire_migration_run(migration, NULL, &progress, &error);
    CHECK(status == (calls ? QUIRE_CANCELLED : QUIRE_OK) && destroyed == 1);
    quire_error_release(error);
    error = NULL;
    CHECK_OK(quire_migration_run(migration, NULL, NULL, &error));
    quire_migration_release(migration);
    check_store(NULL);
    remove_folder(folder);
}

static void a_store_that_is_open_or_not_to_be_written_is_refused(void) {
    make_store();
    quire_model *former = books(1), *model = books(2);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    quire_migration *migration = NULL;
    CHECK_OK(quire_migration_create(path, QUIRE_NUL, former, model, &options, &migration, &error));
    CHECK(quire_migration_step_count(migration) > 0);
    CHECK_FAILS(QUIRE_READ_ONLY, quire_migration_run(migration, NULL, NULL, &error));
    quire_migration_release(migration);
    migration = migration_to(2);
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, former, NULL, &store, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_migration_run(migration, NULL, NULL, &error));
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    CHECK_OK(quire_migration_run(migration, NULL, NULL, &error));
    quire_migration_release(quire_migration_retain(migration));
    quire_migration_release(migration);
    CHECK_FAILS(
        QUIRE_INVALID_ARGUMENT, quire_migration_create(":memory:", QUIRE_NUL, former, model, NULL, &migration, &error));
    CHECK_FAILS(
        QUIRE_CANNOT_OPEN, quire_migration_create(other_path, QUIRE_NUL, former, model, NULL, &migration, &error));
    CHECK(quire_migration_step_count(NULL) == 0);
    quire_model_release(former);
    quire_model_release(model);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_migration_tells_its_steps_and_runs_them);
    RUN(an_opening_migrates_where_it_is_told_to);
    RUN(nil_becomes_the_default_of_what_is_mandatory_now);
    RUN(what_cannot_be_inferred_is_refused);
    RUN(a_run_is_cancelled);
    RUN(a_store_that_is_open_or_not_to_be_written_is_refused);
    return RESULT();
}
