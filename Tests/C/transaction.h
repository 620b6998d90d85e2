/* What the tests of transactions have in common. */
#ifndef QUIRE_TRANSACTION_H_
#define QUIRE_TRANSACTION_H_

#include "recorder.h"

/* A store in a folder of its own, and the same file through a store of another program's making. */
typedef struct scene {
    fixture made, outside;
    char folder[256], path[300];
} scene;

static scene open_scene(uint32_t busy_timeout) {
    scene scene;
    make_folder(scene.folder, sizeof scene.folder);
    snprintf(scene.path, sizeof scene.path, "%s/books.store", scene.folder);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.busy_timeout = busy_timeout;
    scene.made = (fixture){library_model(), NULL, NULL};
    CHECK_OK(quire_store_open(scene.path, QUIRE_NUL, scene.made.model, &options, &scene.made.store, &error));
    CHECK_OK(quire_context_create(scene.made.store, &scene.made.context, &error));
    scene.outside = open_fixture_at(scene.path);
    return scene;
}

static void close_scene(scene scene) {
    close_fixture(scene.outside);
    close_fixture(scene.made);
    remove_folder(scene.folder);
}

static void begin(quire_context *context) {
    CHECK_OK(quire_context_begin_transaction(context, &error));
    CHECK(quire_context_is_in_transaction(context));
}

static void commit(quire_context *context) {
    CHECK_OK(quire_context_commit_transaction(context, &error));
    CHECK(!quire_context_is_in_transaction(context) && !quire_context_has_changes(context));
}

static void roll_back(quire_context *context) {
    CHECK_OK(quire_context_rollback_transaction(context, &error));
    CHECK(!quire_context_is_in_transaction(context) && !quire_context_has_changes(context));
}

/* The titles that a context that has read nothing before finds. */
static const char *titles(quire_store *store) {
    quire_context *fresh = NULL;
    CHECK_OK(quire_context_create(store, &fresh, &error));
    quire_list *list = fetch(fresh, "Book", NULL, "title");
    const char *text = joined(list, "title");
    quire_list_release(list);
    quire_context_release(fresh);
    return text;
}

static void add_book(quire_context *context, const char *title, int64_t pages) {
    quire_object_release(insert_book(context, title, pages));
}

static void save_book(quire_context *context, const char *title, int64_t pages) {
    add_book(context, title, pages);
    save(context);
}

static int64_t delete_books(quire_context *context, const char *format) {
    quire_fetch_request *request = new_request("Book", format, NULL);
    int64_t number = -1;
    CHECK_OK(quire_context_batch_delete(context, request, NULL, &number, NULL, &error));
    quire_fetch_request_release(request);
    return number;
}

static void set_pages(quire_context *context, const char *format, int64_t pages) {
    static const char *const keys[] = {"pages"};
    const quire_value values[] = {quire_value_integer(pages)};
    quire_fetch_request *request = new_request("Book", format, NULL);
    CHECK_OK(quire_context_batch_update(context, request, keys, values, 1, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
}

static void insert_row(quire_context *context, const char *title) {
    static const char *const keys[] = {"title"};
    const quire_value values[] = {quire_value_text(title)}, *const columns[] = {values};
    CHECK_OK(quire_context_batch_insert(context, "Book", QUIRE_NUL, keys, columns, 1, 1, NULL, NULL, NULL, &error));
}

#endif
