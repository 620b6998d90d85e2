/* `destroy` may call the library: it is called once, when what it belongs to is let go of, and no lock is held then. */
#include "fixture.h"

#include <unistd.h>

typedef struct scene {
    fixture made;
    quire_object *book;
    quire_results *results;
    quire_fetch_request *request;
    int destroyed, depth;
    bool is_over;
} scene;

static scene *current;

static bool call_with_anything(void *data, const quire_value *arguments, size_t count, quire_value *out) {
    (void)data, (void)arguments, (void)count;
    *out = quire_value_integer(1);
    return true;
}

static void destroy(void *data);

static void set_delegate(void *data) {
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = data;
    delegate.destroy = destroy;
    CHECK_OK(quire_results_set_delegate(current->results, &delegate, &error));
}

static void remove_delegate(void) { CHECK_OK(quire_results_set_delegate(current->results, NULL, &error)); }

static void set_hooks(void *data) {
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = data;
    hooks.destroy = destroy;
    CHECK_OK(quire_context_set_hooks(current->made.context, NULL, 0, &hooks, &error));
}

static void remove_hooks(void) { CHECK_OK(quire_context_set_hooks(current->made.context, NULL, 0, NULL, &error)); }

static uint32_t decide(void *data, const quire_conflict *conflict) {
    (void)data, (void)conflict;
    return QUIRE_MERGE_ERROR;
}

static void set_handler(void *data) {
    quire_merge_handler handler = QUIRE_MERGE_HANDLER_INIT;
    handler.user_data = data;
    handler.destroy = destroy;
    handler.decide = decide;
    CHECK_OK(quire_context_set_merge_handler(current->made.context, &handler, &error));
}

static void remove_handler(void) { CHECK_OK(quire_context_set_merge_handler(current->made.context, NULL, &error)); }

static bool go_on(void *data, uint64_t count) {
    (void)data, (void)count;
    return true;
}

static void set_progress(void *data) {
    quire_progress progress = QUIRE_PROGRESS_INIT;
    progress.user_data = data;
    progress.destroy = destroy;
    progress.report = go_on;
    CHECK_OK(quire_fetch_request_set_progress(current->request, &progress, &error));
}

static void remove_progress(void) { CHECK_OK(quire_fetch_request_set_progress(current->request, NULL, &error)); }

static void set_function(void *data) {
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.user_data = data;
    callback.destroy = destroy;
    callback.call = call_with_anything;
    CHECK_OK(quire_function_register_callback("anything", QUIRE_NUL, &callback, &error));
}

static void remove_function(void) { CHECK_OK(quire_function_unregister("anything", QUIRE_NUL, &error)); }

static void set_context_data(void *data) {
    CHECK_OK(quire_context_set_user_data(current->made.context, data, destroy, &error));
}

static void remove_context_data(void) { CHECK_OK(quire_context_set_user_data(current->made.context, NULL, NULL, &error)); }

static void set_results_data(void *data) { CHECK_OK(quire_results_set_user_data(current->results, data, destroy, &error)); }

static void remove_results_data(void) { CHECK_OK(quire_results_set_user_data(current->results, NULL, NULL, &error)); }

static void note_statement(void *data, const quire_log_entry *entry) { (void)data, (void)entry; }

static void set_log(void *data) {
    quire_log log = QUIRE_LOG_INIT;
    log.user_data = data;
    log.destroy = destroy;
    log.statement = note_statement;
    CHECK_OK(quire_store_set_log(current->made.store, &log, &error));
}

static void remove_log(void) { CHECK_OK(quire_store_set_log(current->made.store, NULL, &error)); }

static const struct { const char *name; void (*set)(void *data); void (*remove)(void); } kinds[] = {
    {"delegate", set_delegate, remove_delegate}, {"hooks", set_hooks, remove_hooks}, {"merge handler", set_handler, remove_handler},
    {"progress", set_progress, remove_progress}, {"function", set_function, remove_function},
    {"context's data", set_context_data, remove_context_data}, {"controller's data", set_results_data, remove_results_data},
    {"log", set_log, remove_log},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Reads, changes, fetches, saves, retains and releases, and sets all kinds anew, one of which it is itself. */
static void use_the_library(void) {
    int64_t count = 0;
    CHECK_OK(quire_context_count(current->made.context, current->request, &count, &error));
    CHECK(count >= 1);
    set_value(current->book, "pages", quire_value_integer(count));
    save(current->made.context);
    quire_object_release(quire_object_retain(current->book));
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(current->made.store, &other, &error));
    quire_object_release(insert(other, "Tag"));
    save(other);
    quire_context_release(other);
    CHECK(quire_results_count(current->results) >= 0);
}

static void destroy(void *data) {
    (*(int *)data)++;
    current->destroyed++;
    if (current->depth > 0) return;
    current->depth++;
    if (!current->is_over) use_the_library();
    current->depth--;
}

static void open_scene(scene *scene) {
    memset(scene, 0, sizeof *scene);
    current = scene;
    scene->made = open_fixture();
    scene->book = insert_book(scene->made.context, "Faust", 300);
    save(scene->made.context);
    scene->request = new_request("Book", NULL, "title");
    CHECK_OK(quire_results_create(scene->made.context, scene->request, NULL, &scene->results, &error));
    CHECK_OK(quire_results_fetch(scene->results, &error));
    /* What waits for a lock that it holds itself does so for ever. */
    alarm(PATIENCE);
}

static void close_scene(scene *scene) {
    alarm(0);
    scene->is_over = true;
    quire_fetch_request_release(scene->request);
    quire_results_release(scene->results);
    quire_object_release(scene->book);
    close_fixture(scene->made);
}

static void what_is_replaced_or_removed_may_use_the_library_as_it_goes(void) {
    for (int kind = 0; kind < KINDS; kind++) {
        scene scene;
        int first = 0, second = 0;
        open_scene(&scene);
        kinds[kind].set(&first);
        /* A name is taken until it is removed. */
        if (kinds[kind].set == set_function) remove_function();
        kinds[kind].set(&second);
        CHECK(first == 1 && second == 0);
        kinds[kind].remove();
        CHECK(first == 1 && second == 1);
        close_scene(&scene);
        CHECK(scene.destroyed == 2);
    }
}

static int kind_to_set, third;

static void destroy_and_set_again(void *data) {
    (*(int *)data)++;
    if (!current->is_over && *(int *)data == 1) kinds[kind_to_set].set(&third);
}

static void what_goes_may_set_the_next_in_its_place(void) {
    for (kind_to_set = 0; kinds[kind_to_set].set != set_log; kind_to_set++) {
        scene scene;
        int first = 0;
        third = 0;
        open_scene(&scene);
        if (kinds[kind_to_set].set == set_delegate) {
            quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
            delegate.user_data = &first;
            delegate.destroy = destroy_and_set_again;
            CHECK_OK(quire_results_set_delegate(scene.results, &delegate, &error));
        } else if (kinds[kind_to_set].set == set_hooks) {
            quire_hooks hooks = QUIRE_HOOKS_INIT;
            hooks.user_data = &first;
            hooks.destroy = destroy_and_set_again;
            CHECK_OK(quire_context_set_hooks(scene.made.context, NULL, 0, &hooks, &error));
        } else if (kinds[kind_to_set].set == set_handler) {
            quire_merge_handler handler = {sizeof handler, &first, destroy_and_set_again, decide};
            CHECK_OK(quire_context_set_merge_handler(scene.made.context, &handler, &error));
        } else if (kinds[kind_to_set].set == set_progress) {
            quire_progress progress = {sizeof progress, 0, &first, destroy_and_set_again, go_on};
            CHECK_OK(quire_fetch_request_set_progress(scene.request, &progress, &error));
        } else if (kinds[kind_to_set].set == set_context_data) {
            CHECK_OK(quire_context_set_user_data(scene.made.context, &first, destroy_and_set_again, &error));
        } else if (kinds[kind_to_set].set == set_results_data) {
            CHECK_OK(quire_results_set_user_data(scene.results, &first, destroy_and_set_again, &error));
        } else {
            quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
            callback.user_data = &first;
            callback.destroy = destroy_and_set_again;
            callback.call = call_with_anything;
            CHECK_OK(quire_function_register_callback("anything", QUIRE_NUL, &callback, &error));
        }
        kinds[kind_to_set].remove();
        CHECK(first == 1 && third == 0);
        /* The one that was set meanwhile is in place. */
        kinds[kind_to_set].remove();
        CHECK(first == 1 && third == 1);
        close_scene(&scene);
    }
}

static void *release_results(void *data) {
    quire_results_release(data);
    return NULL;
}

static void what_goes_with_the_last_reference_may_use_another_context(void) {
    scene scene;
    int first = 0;
    open_scene(&scene);
    set_delegate(&first);
    quire_results *results = scene.results;
    /* In its place, for `destroy` to look at. */
    quire_results *other = NULL;
    CHECK_OK(quire_results_create(scene.made.context, scene.request, NULL, &other, &error));
    scene.results = other;
    release_results(results);
    CHECK(first == 1 && scene.destroyed == 1);
    close_scene(&scene);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(what_is_replaced_or_removed_may_use_the_library_as_it_goes);
    RUN(what_goes_may_set_the_next_in_its_place);
    RUN(what_goes_with_the_last_reference_may_use_another_context);
    return RESULT();
}
