/* What is done with the store, step by step. */
#include "stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static quire_status save(stage *stage) { return quire_context_save(stage->context, &error); }

static void change_pages(stage *stage, const char *title, int pages) {
    quire_object *book = find_book(stage, title);
    set_pages(book, pages);
    quire_object_release(book);
}

static void change_title(stage *stage, const char *title, const char *next) {
    quire_object *book = find_book(stage, title);
    const quire_value text = quire_value_text(next);
    OK(quire_object_set(book, "title", QUIRE_NUL, &text, &error));
    quire_object_release(book);
}

static void change_image(stage *stage, const char *title, int image) {
    quire_object *book = find_book(stage, title);
    set_image(book, image);
    quire_object_release(book);
}

static void delete_book(stage *stage, const char *title) {
    quire_object *book = find_book(stage, title);
    OK(quire_context_delete(stage->context, book, &error));
    quire_object_release(book);
}

/* --- Opening, and closing. */

/* The last saves are only in the log, as after a process that was killed. */
static void furnish_with_log(stage *stage) {
    furnish_library(stage);
    open_stage(stage);
    change_pages(stage, "book 01 of stone", 7);
    OK(save(stage));
    quire_object_release(insert_book(stage, "a cloud", 9, 5, "Ben"));
    OK(save(stage));
}

static void begin_reading(stage *stage) {
    OK(quire_context_create(stage->store, &stage->context, &error));
    OK(make_list(stage, NULL, &stage->list));
}

static void insert_first(stage *stage) {
    begin_reading(stage);
    quire_object_release(insert_book(stage, "the first cloud", 11, 2, NULL));
}

static void insert_second(stage *stage) { quire_object_release(insert_book(stage, "the second cloud", 12, 0, NULL)); }

static quire_status read_list(stage *stage) {
    quire_results_release(stage->list);
    stage->list = NULL;
    return make_list(stage, NULL, &stage->list);
}

static void make_context(stage *stage) { OK(quire_context_create(stage->store, &stage->context, &error)); }

static quire_status close_store(stage *stage) {
    return quire_store_close(stage->store, &error);
}

/* --- Saving. */

static void edit_one(stage *stage) {
    quire_object_release(insert_book(stage, "new cloud", 31, 0, "Ada"));
    change_pages(stage, "book 01 of stone", 501);
}

static void edit_two(stage *stage) {
    delete_book(stage, "book 02 of glass");
    change_title(stage, "book 03 of river", "renamed");
}

static void edit_many(stage *stage) {
    for (int i = 0; i < 20; i++) {
        char title[300];
        memset(title, 'x', sizeof title);
        snprintf(title, sizeof title, "many %02d clouds", i);
        quire_object_release(insert_book(stage, title, i, 0, i % 2 ? "Ben" : NULL));
    }
}

/* --- Batch requests. */

static quire_fetch_request *all_books(const char *format) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    OK(quire_fetch_request_create("Book", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    quire_predicate_release(predicate);
    return request;
}

static quire_status batch_update(stage *stage) {
    quire_fetch_request *request = all_books("pages < 106");
    const char *const keys[] = {"pages"};
    const quire_value values[] = {quire_value_integer(300)};
    const quire_status status = quire_context_batch_update(stage->context, request, keys, values, 1, NULL, NULL, NULL, &error);
    quire_fetch_request_release(request);
    return status;
}

static quire_status batch_insert(stage *stage) {
    const char *const keys[] = {"title", "pages"};
    const quire_value titles[] = {quire_value_text("batch of river"), quire_value_text("batch of glass")};
    const quire_value pages[] = {quire_value_integer(1), quire_value_integer(2)};
    const quire_value *const columns[] = {titles, pages};
    return quire_context_batch_insert(stage->context, "Book", QUIRE_NUL, keys, columns, 2, 2, NULL, NULL, NULL, &error);
}

static quire_status batch_delete(stage *stage) {
    quire_fetch_request *request = all_books("pages > 106 AND pages < 110");
    const quire_status status = quire_context_batch_delete(stage->context, request, NULL, NULL, NULL, &error);
    quire_fetch_request_release(request);
    return status;
}

/* --- Merging. */

static void begin_merging(stage *stage) {
    open_stage(stage);
    OK(quire_context_create(stage->store, &stage->other, &error));
}

/* Does in the other context what a step does in the first. */
static void elsewhere(stage *stage, void (*edit)(struct stage *)) {
    quire_context *const context = stage->context;
    stage->context = stage->other;
    edit(stage);
    OK(save(stage));
    stage->context = context;
}

static void edit_elsewhere(stage *stage) { elsewhere(stage, edit_one); }
static void delete_elsewhere(stage *stage) { elsewhere(stage, edit_two); }
static quire_status merge(stage *stage) { return quire_context_merge(stage->context, &error); }

/* --- Text. */

static void edit_text(stage *stage) {
    change_title(stage, "book 04 of stone", "a glass of clouds");
    change_title(stage, "book 05 of glass", "the cloud and the stone");
    delete_book(stage, "book 06 of river");
}

static quire_status batch_text(stage *stage) {
    quire_fetch_request *request = all_books("title CONTAINS 'stone'");
    const char *const keys[] = {"title"};
    const quire_value values[] = {quire_value_text("only clouds")};
    const quire_status status = quire_context_batch_update(stage->context, request, keys, values, 1, NULL, NULL, NULL, &error);
    quire_fetch_request_release(request);
    return status;
}

static quire_status find_text(stage *stage) {
    quire_fetch_request *request = all_books("title CONTAINS 'cloud'");
    int64_t count = -1;
    const quire_status status = quire_context_count(stage->context, request, &count, &error);
    quire_fetch_request_release(request);
    if (status == QUIRE_OK && count != 5) differ("%lld books are found by their text", (long long)count);
    return status;
}

/* --- Derived attributes. */

static void move_books(stage *stage) {
    quire_object *book = find_book(stage, "book 00 of river"), *other = find_book(stage, "book 01 of stone"), *writer = NULL;
    OK(quire_object_get_object(other, "author", QUIRE_NUL, &writer, &error));
    const quire_value value = quire_value_object(writer);
    OK(quire_object_set(book, "author", QUIRE_NUL, &value, &error));
    set_pages(other, 1000);
    quire_object_release(writer);
    quire_object_release(other);
    quire_object_release(book);
}

static void delete_author(stage *stage) {
    quire_object *book = find_book(stage, "book 01 of stone"), *writer = NULL;
    OK(quire_object_get_object(book, "author", QUIRE_NUL, &writer, &error));
    OK(quire_context_delete(stage->context, writer, &error));
    quire_object_release(writer);
    quire_object_release(book);
}

/* --- A list with a cache. */

static quire_status fetch_cached(stage *stage) {
    quire_results_release(stage->cached);
    stage->cached = NULL;
    return make_list(stage, "shelf", &stage->cached);
}

/* --- Values in files. */

static void replace_image(stage *stage) {
    change_image(stage, "book 00 of river", 41);
    quire_object_release(insert_book(stage, "pictures of clouds", 3, 42, "Cleo"));
}

static void remove_image(stage *stage) {
    change_image(stage, "book 04 of stone", 0);
    delete_book(stage, "book 08 of glass");
}

/* --- An XML store. */

static void furnish_xml(stage *stage) {
    stage->is_xml = true;
    furnish_library(stage);
}

/* --- A copy. */

static void judge_copy(stage *stage, bool was_ended) {
    if (access(stage->copy_path, F_OK) != 0) {
        if (!was_ended) differ("there is no copy");
        return;
    }
    struct stage other = *stage;
    memset(&other.store, 0, sizeof other.store);
    snprintf(other.path, sizeof other.path, "%s", stage->copy_path);
    char state[STATE_SIZE];
    OK(open_store(&other));
    read_stored_state(&other, state);
    if (strcmp(state, told->state[0]) != 0) differ("the copy has another state:\n%sinstead of\n%s", state, told->state[0]);
    OK(quire_store_close(other.store, &error));
    quire_store_release(other.store);
}

static quire_status copy(stage *stage) {
    /* A copy whose name may not last, and that could not be removed again, is whole. */
    if (access(stage->copy_path, F_OK) == 0) {
        judge_copy(stage, false);
        OK(quire_store_delete(stage->copy_path, QUIRE_NUL, &error));
    }
    return quire_store_copy(stage->store, stage->copy_path, QUIRE_NUL, &error);
}

/* --- A deletion. */

static void furnish_for_deletion(stage *stage) {
    furnish_library(stage);
    open_stage(stage);
    OK(fetch_cached(stage));
    change_pages(stage, "book 01 of stone", 8);
    OK(save(stage));
}

static void begin_deletion(stage *stage) {
    open_stage(stage);
    if (!told->states) read_stored_state(stage, told->state[told->states++]);
    close_stage(stage);
}

static quire_status delete_store(stage *stage) { return quire_store_delete(stage->path, QUIRE_NUL, &error); }

/* --- Several saves that belong together. */

static quire_object *first, *second;

static void begin_transactions(stage *stage) {
    open_stage(stage);
    first = find_book(stage, "book 01 of stone");
    second = find_book(stage, "book 04 of stone");
}

static bool has_rollback_to_end;

static quire_status write_together(stage *stage) {
    /* A rollback that could not read everything anew is ended by a merge. */
    if (has_rollback_to_end) OK(quire_context_merge(stage->context, &error));
    const quire_value pages = quire_value_integer(700), more = quire_value_integer(701);
    quire_status status = quire_context_begin_transaction(stage->context, &error);
    if (status == QUIRE_OK) status = quire_object_set(first, "pages", QUIRE_NUL, &pages, &error);
    if (status == QUIRE_OK) status = quire_context_save(stage->context, &error);
    if (status == QUIRE_OK) status = quire_object_set(second, "pages", QUIRE_NUL, &more, &error);
    if (status == QUIRE_OK) status = quire_context_commit_transaction(stage->context, &error);
    if (status == QUIRE_OK || !quire_context_is_in_transaction(stage->context)) return status;
    quire_error *next = NULL;
    has_rollback_to_end = quire_context_rollback_transaction(stage->context, &next) != QUIRE_OK;
    quire_error_release(next);
    if (quire_context_is_in_transaction(stage->context)) differ("a transaction is open after its rollback");
    return status;
}

static void end_transactions(stage *stage) {
    (void)stage;
    quire_object_release(first);
    quire_object_release(second);
}

static quire_status nothing(stage *stage) {
    (void)stage;
    return QUIRE_OK;
}

#define SAVE(edit) {STEP_SAVES, "save", edit, save}
#define WRITE(name, run) {STEP_WRITES, name, NULL, run}
#define MERGE(edit) {STEP_MERGES, "merge", edit, merge}
#define READ(name, prepare, run) {STEP_READS, name, prepare, run}
#define CLOSE {STEP_CLOSES, "close", NULL, close_store}

const scenario scenarios[] = {
    {"create", NULL, NULL, {READ("open", NULL, open_store), SAVE(insert_first), SAVE(insert_second)}, NULL, false},
    {"open", furnish_with_log, NULL, {READ("open", NULL, open_store), READ("read", make_context, read_list), CLOSE}, NULL, false},
    {"save", furnish_library, open_stage, {SAVE(edit_one), SAVE(edit_two), SAVE(edit_many)}, NULL, false},
    {"batch", furnish_library, open_stage,
        {WRITE("update", batch_update), WRITE("insert", batch_insert), WRITE("delete", batch_delete)}, NULL, false},
    {"merge", furnish_library, begin_merging, {MERGE(edit_elsewhere), MERGE(delete_elsewhere)}, NULL, false},
    {"text", furnish_library, open_stage,
        {SAVE(edit_text), WRITE("update", batch_text), READ("find", NULL, find_text)}, NULL, false},
    {"derived", furnish_library, open_stage, {SAVE(move_books), SAVE(delete_author)}, NULL, false},
    {"cache", furnish_library, open_stage,
        {READ("fetch", NULL, fetch_cached), READ("fetch again", NULL, fetch_cached), SAVE(edit_one),
            READ("fetch", NULL, fetch_cached)},
        NULL, false},
    {"external", furnish_library, open_stage, {SAVE(replace_image), SAVE(remove_image)}, NULL, false},
    {"xml", furnish_xml, open_stage, {SAVE(edit_one), SAVE(replace_image), WRITE("delete", batch_delete), CLOSE}, NULL, false},
    {"copy", furnish_library, open_stage, {READ("copy", NULL, copy)}, judge_copy, false},
    {"transaction", furnish_library, begin_transactions,
        {WRITE("transaction", write_together), READ("end", end_transactions, nothing)}, NULL, false},
    {"close", furnish_library, open_stage, {SAVE(edit_many), SAVE(replace_image), CLOSE}, NULL, false},
    {"delete", furnish_for_deletion, begin_deletion, {READ("delete", NULL, delete_store)}, NULL, true},
    {NULL, NULL, NULL, {{0}}, NULL, false}};
