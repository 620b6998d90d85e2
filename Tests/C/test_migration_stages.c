/* A store goes over to another model in stages, with functions of the program. */
#include "store_files.h"

#include <signal.h>
#include <sys/wait.h>

/* Books have their pages as a text (1), as a text and as a number (2), and as a number (3). A book of version 1 and 2 has
   many shelves, and one of version 2 and 3 has its first shelf. */
static quire_model *books(int version) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(model, "Shelf", QUIRE_NUL, NULL, &error));
    add_attribute(model, "Shelf", "name", QUIRE_TYPE_STRING);
    if (version < 3) add_attribute(model, "Book", "pages", QUIRE_TYPE_STRING);
    if (version < 3) add_relationship(model, "Book", "shelves", "Shelf", NULL, true, false, QUIRE_DELETE_NULLIFY);
    if (version == 2) add_attribute(model, "Book", "count", QUIRE_TYPE_INTEGER_64);
    if (version > 1) add_relationship(model, "Book", "shelf", "Shelf", NULL, false, false, QUIRE_DELETE_NULLIFY);
    if (version == 3) {
        quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
        options.is_optional = true;
        options.renaming_identifier = "count";
        CHECK_OK(quire_model_add_attribute(
            model, "Book", QUIRE_NUL, "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
    }
    return model;
}

static quire_store *open_version(int version, quire_context **context) {
    quire_model *model = books(version);
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error));
    CHECK_OK(quire_context_create(store, context, &error));
    quire_model_release(model);
    return store;
}

/* A file of version 1 with a book of 464 pages on the shelf "left". */
static void make_store(void) {
    use_folder();
    quire_context *context = NULL;
    quire_store *store = open_version(1, &context);
    quire_object *book = insert(context, "Book"), *shelf = insert(context, "Shelf");
    set_text(book, "pages", "464");
    set_text(shelf, "name", "left");
    CHECK_OK(quire_object_add(book, "shelves", QUIRE_NUL, shelf, &error));
    save(context);
    quire_object_release(book);
    quire_object_release(shelf);
    quire_context_release(context);
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
}

/* Whether the file is of a version, with the pages of its only book as that has them. */
static bool is_version(int version) {
    quire_model *model = books(version);
    quire_store *store = NULL;
    const quire_status status = quire_store_open(path, QUIRE_NUL, model, NULL, &store, NULL);
    quire_model_release(model);
    if (status != QUIRE_OK) return false;
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_list *list = fetch(context, "Book", NULL, NULL);
    quire_object *book = NULL;
    CHECK(quire_list_count(list) == 1);
    CHECK_OK(quire_list_object(list, 0, &book, &error));
    if (version == 3) {
        quire_object *shelf = NULL;
        CHECK(get_value(book, "pages").as.integer == 464);
        CHECK_OK(quire_object_get_object(book, "shelf", QUIRE_NUL, &shelf, &error));
        CHECK(shelf && !strcmp(get_text(shelf, "name"), "left"));
        quire_object_release(shelf);
    } else {
        CHECK(!strcmp(get_text(book, "pages"), "464"));
    }
    quire_object_release(book);
    quire_list_release(list);
    quire_context_release(context);
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    return true;
}

/* What the callbacks of a test do and have seen. */
typedef struct plan {
    int will_calls, did_calls, destroy_calls;
    bool fails, dies;
    bool keeps;
    quire_context *kept;
    quire_object *kept_book;
    quire_migration *migration;
} plan;

static void destroy(void *user_data) { ((plan *)user_data)->destroy_calls++; }

static bool will(void *user_data, quire_context *context, quire_value *out_reason) {
    plan *plan = user_data;
    plan->will_calls++;
    CHECK(out_reason->kind == QUIRE_VALUE_NIL);
    CHECK(count(context, "Book", "pages == '464'") == 1);
    return true;
}

static bool convert(void *user_data, quire_context *context, quire_value *out_reason) {
    plan *plan = user_data;
    plan->did_calls++;
    quire_list *list = fetch(context, "Book", NULL, NULL), *shelves = NULL;
    quire_object *book = NULL, *shelf = NULL;
    CHECK_OK(quire_list_object(list, 0, &book, &error));
    set_value(book, "count", quire_value_integer(strtoll(get_text(book, "pages"), NULL, 10)));
    CHECK_OK(quire_object_get_objects(book, "shelves", QUIRE_NUL, &shelves, &error));
    CHECK_OK(quire_list_object(shelves, 0, &shelf, &error));
    set_value(book, "shelf", quire_value_object(shelf));
    if (plan->migration) {
        quire_model *model = books(1);
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_migration_run(plan->migration, NULL, NULL, &error));
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_migration_add_stage(plan->migration, model, NULL, &error));
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_begin_transaction(context, &error));
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_commit_transaction(context, &error));
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_rollback_transaction(context, &error));
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_store_close(quire_context_store(context), &error));
        quire_store *store = NULL;
        CHECK_FAILS(QUIRE_INVALID_STATE, quire_store_open(path, QUIRE_NUL, NULL, NULL, &store, &error));
        quire_model_release(model);
        /* The run keeps the migration. */
        quire_migration_release(plan->migration);
    }
    if (plan->dies || plan->fails) save(context);
    if (plan->dies) kill(getpid(), SIGKILL);
    if (plan->keeps) {
        plan->kept = quire_context_retain(context);
        plan->kept_book = quire_object_retain(book);
    }
    quire_object_release(shelf);
    quire_object_release(book);
    quire_list_release(shelves);
    quire_list_release(list);
    if (plan->fails) *out_reason = quire_value_text("the reason");
    return !plan->fails;
}

static quire_migration *migration(plan *plan) {
    quire_migration *made = NULL;
    CHECK_OK(quire_migration_create(path, QUIRE_NUL, NULL, NULL, NULL, &made, &error));
    quire_migration_callbacks callbacks = QUIRE_MIGRATION_CALLBACKS_INIT;
    callbacks.user_data = plan;
    callbacks.destroy = destroy;
    callbacks.will_migrate = will;
    callbacks.did_migrate = convert;
    quire_model *second = books(2), *third = books(3);
    CHECK_OK(quire_migration_add_stage(made, second, &callbacks, &error));
    CHECK_OK(quire_migration_add_stage(made, third, NULL, &error));
    quire_model_release(second);
    quire_model_release(third);
    return made;
}

static void what_cannot_be_inferred_is_done_by_a_callback(void) {
    make_store();
    quire_model *third = books(3);
    quire_migration *direct = NULL;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_migration_create(path, QUIRE_NUL, NULL, third, NULL, &direct, &error));
    quire_model_release(third);
    plan plan = {0};
    quire_migration *staged = migration(&plan);
    const int64_t steps = quire_migration_step_count(staged);
    quire_migration_step first = QUIRE_MIGRATION_STEP_INIT, last = QUIRE_MIGRATION_STEP_INIT;
    CHECK_OK(quire_migration_get_step(staged, 0, &first, &error));
    CHECK_OK(quire_migration_get_step(staged, steps - 1, &last, &error));
    CHECK(first.stage == 0 && last.stage == 1 && last.reserved == 0);
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    CHECK(plan.will_calls == 1 && plan.did_calls == 1 && plan.destroy_calls == 0);
    CHECK(is_version(3));
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    CHECK(plan.will_calls == 1 && plan.did_calls == 1);
    quire_migration_release(staged);
    CHECK(plan.destroy_calls == 1);
    remove_folder(folder);
}

static void a_callback_that_fails_takes_its_stage_back(void) {
    make_store();
    plan plan = {.fails = true};
    quire_migration *staged = migration(&plan);
    CHECK(quire_migration_run(staged, NULL, NULL, &error) == QUIRE_FUNCTION);
    const char *message = quire_error_message(error).data;
    CHECK(strstr(message, "did_migrate") && strstr(message, "the reason"));
    quire_error_release(error);
    error = NULL;
    CHECK(is_version(1));
    plan.fails = false;
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    quire_migration_release(staged);
    CHECK(is_version(3));
    remove_folder(folder);
}

static void a_process_that_is_killed_in_a_callback_leaves_the_stage_before(void) {
    make_store();
    const pid_t child = fork();
    if (child == 0) {
        plan plan = {.dies = true};
        quire_migration *staged = migration(&plan);
        (void)quire_migration_run(staged, NULL, NULL, &error);
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(is_version(1));
    plan plan = {0};
    quire_migration *staged = migration(&plan);
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    quire_migration_release(staged);
    CHECK(is_version(3));
    remove_folder(folder);
}

static void a_context_that_is_kept_is_closed(void) {
    make_store();
    plan plan = {.keeps = true};
    quire_migration *staged = migration(&plan);
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    quire_migration_release(staged);
    quire_object *object = NULL;
    quire_store *store = NULL;
    const quire_value one = quire_value_integer(1);
    CHECK_FAILS(QUIRE_CLOSED, quire_context_insert(plan.kept, "Book", QUIRE_NUL, &object, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_save(plan.kept, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_begin_transaction(plan.kept, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_object_set(plan.kept_book, "count", QUIRE_NUL, &one, &error));
    store = quire_context_store(plan.kept);
    CHECK(!quire_store_is_open(store));
    CHECK_OK(quire_store_close(store, &error));
    quire_object_release(plan.kept_book);
    quire_context_release(plan.kept);
    CHECK(is_version(3));
    remove_folder(folder);
}

static void a_callback_cannot_change_the_migration_or_end_its_transaction(void) {
    make_store();
    plan plan = {0};
    quire_migration *staged = migration(&plan);
    plan.migration = staged;
    CHECK_OK(quire_migration_run(staged, NULL, NULL, &error));
    CHECK(plan.did_calls == 1 && plan.destroy_calls == 1);
    CHECK(is_version(3));
    remove_folder(folder);
}

static void stages_that_cannot_be_are_refused(void) {
    make_store();
    quire_model *first = books(1), *second = books(2), *third = books(3);
    quire_migration *staged = NULL;
    plan plan = {0};
    quire_migration_callbacks callbacks = QUIRE_MIGRATION_CALLBACKS_INIT;
    callbacks.user_data = &plan;
    callbacks.destroy = destroy;
    CHECK_OK(quire_migration_create(path, QUIRE_NUL, first, NULL, NULL, &staged, &error));
    CHECK(quire_migration_step_count(staged) == 0);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_migration_run(staged, NULL, NULL, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_migration_add_stage(staged, third, &callbacks, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_migration_add_stage(staged, first, &callbacks, &error));
    callbacks.reserved = 1;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_migration_add_stage(staged, second, &callbacks, &error));
    CHECK(plan.destroy_calls == 0);
    callbacks.reserved = 0;
    CHECK_OK(quire_migration_add_stage(staged, second, &callbacks, &error));
    quire_migration_release(staged);
    CHECK(plan.destroy_calls == 1);
    /* The file is of neither model, which each step and the run say. */
    quire_migration_step step = QUIRE_MIGRATION_STEP_INIT;
    CHECK_OK(quire_migration_create(path, QUIRE_NUL, second, NULL, NULL, &staged, &error));
    CHECK_OK(quire_migration_add_stage(staged, third, NULL, &error));
    CHECK(quire_migration_step_count(staged) == 0);
    CHECK_FAILS(QUIRE_MODEL_MISMATCH, quire_migration_get_step(staged, 0, &step, &error));
    CHECK_FAILS(QUIRE_MODEL_MISMATCH, quire_migration_run(staged, NULL, NULL, &error));
    quire_migration_release(staged);
    CHECK(is_version(1));
    quire_model_release(first);
    quire_model_release(second);
    quire_model_release(third);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(what_cannot_be_inferred_is_done_by_a_callback);
    RUN(a_callback_that_fails_takes_its_stage_back);
    RUN(a_process_that_is_killed_in_a_callback_leaves_the_stage_before);
    RUN(a_context_that_is_kept_is_closed);
    RUN(a_callback_cannot_change_the_migration_or_end_its_transaction);
    RUN(stages_that_cannot_be_are_refused);
    return RESULT();
}
