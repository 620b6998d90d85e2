/* Handles are released in every order: a child keeps what it was made from alive. What ends leaves nothing behind. */
#include "fixture.h"

#include <fcntl.h>

enum { MODEL, STORE, CONTEXT, OBJECT, PREDICATE, REQUEST, LIST, PAGE, RESULTS, CHANGES, HANDLES };

static int destroyed;

static void count_destroyed(void *data) { (void)data, destroyed++; }

/* One handle of each type, all of one store. */
static void make_all(void **handles) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust, the first part of the tragedy", 300);
    save(made.context);
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse("pages > 100", QUIRE_NUL, NULL, 0, &predicate, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_predicate(request, predicate, &error));
    quire_list *list = NULL;
    quire_page *page = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK_OK(quire_list_page(list, 0, 1, NULL, 0, 0, &page, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    quire_results *results = NULL;
    quire_changes *changes = NULL;
    CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.destroy = count_destroyed;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    set_value(book, "pages", quire_value_integer(301));
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK(changes != NULL);
    void *const all[HANDLES] = {made.model, made.store, made.context, book, predicate, request, list, page, results, changes};
    memcpy(handles, all, sizeof all);
}

static void release(int which, void *handle) {
    switch (which) {
    case MODEL: quire_model_release(handle); break;
    case STORE: quire_store_release(handle); break;
    case CONTEXT: quire_context_release(handle); break;
    case OBJECT: quire_object_release(handle); break;
    case PREDICATE: quire_predicate_release(handle); break;
    case REQUEST: quire_fetch_request_release(handle); break;
    case LIST: quire_list_release(handle); break;
    case PAGE: quire_page_release(handle); break;
    case RESULTS: quire_results_release(handle); break;
    case CHANGES: quire_changes_release(handle); break;
    }
}

/* Uses a handle whose parents may be gone for the caller. */
static void use(int which, void *handle) {
    int64_t id = 0;
    quire_object *object = NULL;
    switch (which) {
    case MODEL: CHECK(quire_model_entity_count(handle) == 7); break;
    case STORE: CHECK(quire_store_is_open(handle) && quire_store_uuid(handle).size == 36); break;
    case CONTEXT: CHECK(quire_context_has_changes(handle) && quire_context_store(handle) != NULL); break;
    case OBJECT: CHECK(strncmp(get_text(handle, "title"), "Faust", 5) == 0); break;
    case PREDICATE: CHECK(quire_predicate_text(handle).size > 5); break;
    case REQUEST: CHECK_OK(quire_fetch_request_set_limit(handle, 5, &error)); break;
    case LIST:
        CHECK_OK(quire_list_object(handle, 0, &object, &error));
        CHECK(get_value(object, "pages").as.integer == 301);
        quire_object_release(object);
        break;
    case PAGE: CHECK(quire_page_column(handle, 0) != NULL && quire_page_column(handle, 0)->length == 1); break;
    case RESULTS: CHECK_OK(quire_results_ids(handle, 0, 1, &id, &error)); break;
    case CHANGES: CHECK(quire_changes_rows(handle).count == 1); break;
    }
}

static uint32_t state = 12345;

static uint32_t next_random(uint32_t bound) {
    state = state * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)state * bound) >> 32);
}

static void handles_are_released_in_many_orders(void) {
    const int rounds = getenv("QUIRE_SLOW") ? 40 : 400;
    for (int round = 0; round < rounds; round++) {
        void *handles[HANDLES];
        int order[HANDLES];
        make_all(handles);
        for (int i = 0; i < HANDLES; i++) order[i] = i;
        for (int i = HANDLES - 1; i > 0; i--) {
            const int j = (int)next_random((uint32_t)i + 1), swapped = order[i];
            order[i] = order[j], order[j] = swapped;
        }
        destroyed = 0;
        for (int i = 0; i < HANDLES; i++) {
            for (int j = i; j < HANDLES; j++) use(order[j], handles[order[j]]);
            release(order[i], handles[order[i]]);
        }
        CHECK(destroyed == 1);
    }
}

static void each_handle_can_be_the_last(void) {
    for (int first = 0; first < HANDLES; first++) {
        void *handles[HANDLES];
        make_all(handles);
        destroyed = 0;
        /* One is the last, and still works when all others are gone. */
        for (int i = 0; i < HANDLES; i++)
            if (i != first) release(i, handles[i]);
        if (first != CONTEXT) use(first, handles[first]);
        release(first, handles[first]);
        CHECK(destroyed == 1);
    }
}

static void retained_handles_need_as_many_releases(void) {
    void *handles[HANDLES];
    make_all(handles);
    CHECK(quire_model_retain(handles[MODEL]) == handles[MODEL]);
    CHECK(quire_store_retain(handles[STORE]) == handles[STORE]);
    CHECK(quire_context_retain(handles[CONTEXT]) == handles[CONTEXT]);
    CHECK(quire_object_retain(handles[OBJECT]) == handles[OBJECT]);
    CHECK(quire_predicate_retain(handles[PREDICATE]) == handles[PREDICATE]);
    CHECK(quire_fetch_request_retain(handles[REQUEST]) == handles[REQUEST]);
    CHECK(quire_list_retain(handles[LIST]) == handles[LIST]);
    CHECK(quire_page_retain(handles[PAGE]) == handles[PAGE]);
    CHECK(quire_results_retain(handles[RESULTS]) == handles[RESULTS]);
    CHECK(quire_changes_retain(handles[CHANGES]) == handles[CHANGES]);
    for (int i = 0; i < HANDLES; i++) release(i, handles[i]);
    for (int i = 0; i < HANDLES; i++) use(i, handles[i]);
    for (int i = 0; i < HANDLES; i++) release(i, handles[i]);
}

static void null_is_retained_and_released(void) {
    for (int i = 0; i < HANDLES; i++) release(i, NULL);
    CHECK(!quire_model_retain(NULL) && !quire_store_retain(NULL) && !quire_context_retain(NULL) && !quire_object_retain(NULL));
    CHECK(!quire_predicate_retain(NULL) && !quire_fetch_request_retain(NULL) && !quire_list_retain(NULL));
    CHECK(!quire_page_retain(NULL) && !quire_results_retain(NULL) && !quire_changes_retain(NULL));
}

static void unsaved_changes_end_with_the_last_handle_of_the_context(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    quire_context_release(made.context);
    CHECK(quire_object_is_inserted(book) && quire_object_context(book) != NULL);
    quire_object_release(book);
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    CHECK(count(made.context, "Book", NULL) == 0);
    close_fixture(made);
}

static void changed_objects_survive_without_a_handle(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "Faust", 300));
    quire_list *list = fetch(made.context, "Book", NULL, NULL);
    CHECK(quire_list_count(list) == 1);
    quire_list_release(list);
    save(made.context);
    CHECK(count(made.context, "Book", "title == 'Faust'") == 1);
    close_fixture(made);
}

static void closing_the_store_keeps_handles_valid(void) {
    void *handles[HANDLES];
    make_all(handles);
    CHECK_OK(quire_store_close(handles[STORE], &error));
    for (int i = HANDLES - 1; i >= 0; i--) release(i, handles[i]);
}

/* How many descriptors the process has open. */
static int open_descriptors(void) {
    int open = 0;
    for (int i = 0; i < 1024; i++) open += fcntl(i, F_GETFD) != -1;
    return open;
}

/* A list with a cache of `name` is fetched, which reads the cache that is there, or writes it. */
static void use_cache(quire_context *context, const char *name, const char *sort) {
    quire_fetch_request *request = new_request("Book", NULL, sort);
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    quire_results *results = NULL;
    options.cache_name = name;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == 3000);
    quire_results_release(results);
    quire_fetch_request_release(request);
}

/* Makes and ends what may have a descriptor: each kind of store, contexts and children that are waited for, caches. */
static void use_what_has_descriptors(const char *folder) {
    static const quire_store_type types[] = {QUIRE_STORE_SQLITE, QUIRE_STORE_XML};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        char path[300], copy[320];
        snprintf(path, sizeof path, "%s/store-%zu", folder, i);
        snprintf(copy, sizeof copy, "%s-copy", path);
        fixture made = {library_model(), NULL, NULL};
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        quire_context *child = NULL;
        options.type = types[i];
        CHECK_OK(quire_store_open(path, QUIRE_NUL, made.model, &options, &made.store, &error));
        CHECK_OK(quire_context_create(made.store, &made.context, &error));
        CHECK_OK(quire_context_create_child(made.context, &child, &error));
        int descriptor = -1;
        CHECK_OK(quire_context_descriptor(made.context, &descriptor, &error));
        CHECK_OK(quire_context_descriptor(child, &descriptor, &error));
        for (int k = 0; k < 3000; k++) quire_object_release(insert_book(made.context, "Faust", k));
        save(made.context);
        if (types[i] == QUIRE_STORE_SQLITE) {
            /* One that is read whole, and one that turns out to be of another list, or of an older state. */
            use_cache(made.context, "books", "pages");
            use_cache(made.context, "books", "pages");
            use_cache(made.context, "books", "title");
            quire_object *book = insert_book(made.context, "Urfaust", 1);
            save(made.context);
            CHECK_OK(quire_context_delete(made.context, book, &error));
            quire_object_release(book);
            save(made.context);
            use_cache(made.context, "books", "title");
        }
        CHECK_OK(quire_store_copy(made.store, copy, QUIRE_NUL, &error));
        quire_context_release(child);
        close_fixture(made);
        CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(folder, QUIRE_NUL, NULL, NULL, &made.store, &error));
        if (types[i] == QUIRE_STORE_SQLITE) {
            CHECK_OK(quire_store_delete(copy, QUIRE_NUL, &error));
            CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
        } else {
            CHECK(unlink(copy) == 0 && unlink(path) == 0);
        }
    }
}

static void what_ends_leaves_no_descriptor_open(void) {
    char folder[200];
    make_folder(folder, sizeof folder);
    /* Some are opened once for the whole process. */
    use_what_has_descriptors(folder);
    const int before = open_descriptors();
    for (int i = 0; i < 3; i++) use_what_has_descriptors(folder);
    CHECK(open_descriptors() == before);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(handles_are_released_in_many_orders);
    RUN(each_handle_can_be_the_last);
    RUN(retained_handles_need_as_many_releases);
    RUN(null_is_retained_and_released);
    RUN(unsaved_changes_end_with_the_last_handle_of_the_context);
    RUN(changed_objects_survive_without_a_handle);
    RUN(closing_the_store_keeps_handles_valid);
    RUN(what_ends_leaves_no_descriptor_open);
    return RESULT();
}
