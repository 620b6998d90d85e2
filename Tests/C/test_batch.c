#include "fixture.h"

static void insert_library(fixture f) {
    for (int i = 0; i < 6; i++) {
        char title[16];
        snprintf(title, sizeof title, "b%d", i);
        quire_object_release(insert_book(f.context, title, 100 * i));
    }
    save(f.context);
}

/* The ids of a list, which is given back, as text. */
static const char *ids(quire_list *list) {
    static char text[256];
    size_t used = 0;
    text[0] = 0;
    for (int64_t i = 0; i < quire_list_count(list); i++) {
        int64_t id = 0;
        CHECK_OK(quire_list_ids(list, i, 1, &id, &error));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? "," : "", (long long)id);
    }
    quire_list_release(list);
    return text;
}

static const char *titles(quire_context *context, const char *format) {
    quire_list *list = fetch(context, "Book", format, "title");
    const char *text = joined(list, "title");
    quire_list_release(list);
    return text;
}

static void insertion_gives_saved_objects(void) {
    fixture f = open_fixture();
    insert_library(f);
    const quire_value names[] = {quire_value_text("x"), quire_value_text("y")};
    const quire_value pages[] = {quire_value_integer(7), quire_value_nil()};
    const char *const keys[] = {"title", "pages"};
    const quire_value *const columns[] = {names, pages};
    int64_t count = -1;
    quire_list *list = NULL;
    CHECK_OK(quire_context_batch_insert(
        f.context, "Book", QUIRE_NUL, keys, columns, 2, 2, NULL, &count, &list, &error));
    CHECK(count == 2 && quire_list_count(list) == 2 && !quire_context_has_changes(f.context));
    CHECK(strcmp(joined(list, "title"), "x,y") == 0);
    CHECK(strcmp(ids(list), "7,8") == 0);
    CHECK_OK(quire_context_batch_insert(f.context, "Book", QUIRE_NUL, keys, columns, 1, 2, NULL, NULL, NULL, &error));
    CHECK(strcmp(titles(f.context, "title IN {'x', 'y'} AND pages == 100"), "x,y") == 0);
    /* A title is mandatory. */
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_batch_insert(
        f.context, "Book", QUIRE_NUL, keys + 1, columns + 1, 1, 2, NULL, &count, &list, &error));
    CHECK(count == 0 && list == NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_insert(
        f.context, "Thing", QUIRE_NUL, keys, columns, 2, 2, NULL, &count, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_insert(
        f.context, "Book", QUIRE_NUL, keys, columns, 0, SIZE_MAX, NULL, &count, &list, &error));
    CHECK_OK(quire_context_batch_insert(f.context, "Book", QUIRE_NUL, keys, columns, 2, 0, NULL, &count, &list, &error));
    CHECK(count == 0 && strcmp(ids(list), "") == 0);
    close_fixture(f);
}

static void update_sets_what_answers_the_request(void) {
    fixture f = open_fixture();
    insert_library(f);
    quire_object *author = insert(f.context, "Author");
    save(f.context);
    quire_fetch_request *request = new_request("Book", "pages >= 200", "pages");
    CHECK_OK(quire_fetch_request_set_offset(request, 1, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, 2, &error));
    const char *const keys[] = {"title", "author"};
    const quire_value values[] = {quire_value_text("new"), quire_value_object(author)};
    int64_t count = -1;
    quire_list *list = NULL;
    CHECK_OK(quire_context_batch_update(f.context, request, keys, values, 2, NULL, &count, &list, &error));
    CHECK(count == 2 && strcmp(ids(list), "4,5") == 0);
    CHECK(strcmp(titles(f.context, "TRUEPREDICATE"), "b0,b1,b2,b5,new,new") == 0);
    quire_list *books = NULL;
    CHECK_OK(quire_object_get_objects(author, "books", QUIRE_NUL, &books, &error));
    CHECK(strcmp(joined(books, "title"), "new,new") == 0);
    quire_list_release(books);

    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_update(f.context, request, keys, values, 0, NULL, &count, &list, &error));
    const quire_value wrong[] = {quire_value_integer(1), quire_value_nil()};
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_update(f.context, request, keys, wrong, 2, NULL, &count, &list, &error));
    const quire_value none[] = {quire_value_nil()};
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_batch_update(f.context, request, keys, none, 1, NULL, &count, &list, &error));
    const char *const unique[] = {"isbn"};
    CHECK_FAILS(QUIRE_CONSTRAINT, quire_context_batch_update(f.context, request, unique, values, 1, NULL, &count, &list, &error));
    quire_object *fresh = insert(f.context, "Author");
    const quire_value unsaved[] = {quire_value_text("t"), quire_value_object(fresh)};
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_update(f.context, request, keys, unsaved, 2, NULL, &count, &list, &error));
    CHECK(count == 0 && list == NULL);
    quire_object_release(fresh);
    quire_fetch_request_release(request);
    quire_object_release(author);
    close_fixture(f);
}

/* An expression without arguments; the caller owns it. */
static quire_expression *expression(const char *text) {
    quire_expression *made = NULL;
    CHECK_OK(quire_expression_parse(text, QUIRE_NUL, NULL, 0, &made, &error));
    return made;
}

static void update_calculates_for_each_object(void) {
    fixture f = open_fixture();
    insert_library(f);
    quire_object *author = insert(f.context, "Author");
    save(f.context);
    quire_fetch_request *request = new_request("Book", "pages >= 200", "pages");
    quire_expression *more = expression("pages + 100"), *loud = expression("uppercase(title)");
    quire_expression *all = expression("max:(pages)"), *none = expression("nil"), *text = expression("title");
    const char *const keys[] = {"pages", "title", "author"};
    const quire_value values[] = {quire_value_expression(more), quire_value_expression(loud), quire_value_object(author)};
    int64_t count = 0;
    quire_list *list = NULL;
    CHECK_OK(quire_context_batch_update(f.context, request, keys, values, 3, NULL, &count, &list, &error));
    CHECK(count == 4 && strcmp(ids(list), "3,4,5,6") == 0);
    CHECK(strcmp(titles(f.context, "author != nil"), "B2,B3,B4,B5") == 0);
    CHECK(strcmp(titles(f.context, "pages IN {300, 400, 500, 600}"), "B2,B3,B4,B5") == 0);
    CHECK(strcmp(titles(f.context, "pages < 200"), "b0,b1") == 0);

    /* What does not fit changes nothing, and neither does what is no value of each row. */
    const char *const title[] = {"title"}, *const pages[] = {"pages"}, *const owner[] = {"author"};
    const quire_value nothing = quire_value_expression(none), word = quire_value_expression(text);
    const quire_value greatest = quire_value_expression(all);
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_batch_update(
        f.context, request, title, &nothing, 1, NULL, &count, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_update(
        f.context, request, pages, &word, 1, NULL, &count, &list, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_batch_update(
        f.context, request, owner, &word, 1, NULL, &count, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_context_batch_update(
        f.context, request, pages, &greatest, 1, NULL, &count, &list, &error));
    CHECK(count == 0 && strcmp(titles(f.context, "pages IN {300, 400, 500, 600}"), "B2,B3,B4,B5") == 0);
    quire_expression_release(more);
    quire_expression_release(loud);
    quire_expression_release(all);
    quire_expression_release(none);
    quire_expression_release(text);
    quire_fetch_request_release(request);
    quire_object_release(author);
    close_fixture(f);
}

static void deletion_follows_the_rules(void) {
    fixture f = open_fixture();
    quire_object *author = insert(f.context, "Author"), *tag = insert(f.context, "Tag");
    set_text(author, "name", "Goethe");
    quire_object *books[3];
    for (int i = 0; i < 3; i++) {
        books[i] = insert_book(f.context, "b", i);
        if (i < 2) set_value(books[i], "author", quire_value_object(author));
    }
    CHECK_OK(quire_object_add(books[0], "tags", QUIRE_NUL, tag, &error));
    save(f.context);
    quire_fetch_request *request = new_request("Tag", NULL, NULL);
    int64_t count = -1;
    quire_list *list = NULL;
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_batch_delete(f.context, request, NULL, &count, &list, &error));
    CHECK(count == 0 && list == NULL && !quire_object_is_deleted(tag));
    quire_fetch_request_release(request);

    request = new_request("Author", "name == 'Goethe'", NULL);
    CHECK_OK(quire_context_batch_delete(f.context, request, NULL, &count, &list, &error));
    CHECK(count == 1 && strcmp(ids(list), "1") == 0);
    CHECK(quire_object_is_deleted(author) && quire_object_is_deleted(books[0]) && quire_object_is_deleted(books[1]));
    CHECK(!quire_object_is_deleted(books[2]) && !quire_context_has_changes(f.context));
    quire_value value;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_get(author, "name", QUIRE_NUL, &value, &error));
    quire_list *tagged = NULL;
    CHECK_OK(quire_object_get_objects(tag, "books", QUIRE_NUL, &tagged, &error));
    CHECK(quire_list_count(tagged) == 0);
    quire_list_release(tagged);
    CHECK(count == 1 && strcmp(titles(f.context, NULL), "b") == 0);
    quire_fetch_request_release(request);
    request = new_request("Tag", NULL, NULL);
    CHECK_OK(quire_context_batch_delete(f.context, request, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    for (int i = 0; i < 3; i++) quire_object_release(books[i]);
    quire_object_release(author);
    quire_object_release(tag);
    close_fixture(f);
}

static quire_results *live(fixture f) {
    quire_fetch_request *request = new_request("Book", "pages < 1000", "pages");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(f.context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

/* The kinds of the rows' changes, as letters. */
static const char *changes(quire_results *results) {
    static char text[64];
    size_t used = 0;
    quire_changes *set = NULL;
    CHECK_OK(quire_results_next_changes(results, &set, &error));
    if (!set) return "none";
    const quire_change_array rows = quire_changes_rows(set);
    for (int64_t i = 0; i < rows.count; i++) text[used++] = " IDMU"[quire_change_at(rows, i)->kind];
    text[used] = 0;
    quire_changes_release(set);
    return text;
}

static void live_lists_report_what_a_request_did(void) {
    fixture f = open_fixture();
    insert_library(f);
    quire_results *results = live(f);
    CHECK(quire_results_count(results) == 6);
    const char *const keys[] = {"pages"};
    const quire_value hundred = quire_value_integer(350), far = quire_value_integer(5000);
    quire_fetch_request *request = new_request("Book", "pages == 0", NULL);
    CHECK_OK(quire_context_batch_update(f.context, request, keys, &hundred, 1, NULL, NULL, NULL, &error));
    CHECK(strcmp(changes(results), "M") == 0);
    quire_fetch_request_release(request);
    request = new_request("Book", "pages < 250", NULL);
    CHECK_OK(quire_context_batch_update(f.context, request, keys, &far, 1, NULL, NULL, NULL, &error));
    CHECK(strcmp(changes(results), "DD") == 0);
    quire_fetch_request_release(request);
    request = new_request("Book", "pages == 300", NULL);
    CHECK_OK(quire_context_batch_delete(f.context, request, NULL, NULL, NULL, &error));
    CHECK(strcmp(changes(results), "D") == 0);
    const quire_value title = quire_value_text("fresh");
    const quire_value *const column[] = {&title};
    const char *const title_key[] = {"title"};
    CHECK_OK(quire_context_batch_insert(f.context, "Book", QUIRE_NUL, title_key, column, 1, 1, NULL, NULL, NULL, &error));
    CHECK(strcmp(changes(results), "I") == 0);
    CHECK(strcmp(changes(results), "none") == 0);
    CHECK(quire_results_count(results) == 4);

    quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
    options.skips_merge = true;
    CHECK_OK(quire_context_batch_delete(f.context, request, &options, NULL, NULL, &error));
    quire_fetch_request_release(request);
    request = new_request("Book", NULL, NULL);
    int64_t count = 0;
    CHECK_OK(quire_context_batch_delete(f.context, request, &options, &count, NULL, &error));
    CHECK(count == 6 && quire_results_count(results) == 4 && strcmp(changes(results), "none") == 0);
    options.struct_size = 1;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_delete(f.context, request, &options, &count, NULL, &error));
    quire_fetch_request_release(request);
    quire_results_release(results);
    close_fixture(f);
}

static void pending_changes_stay_on_top(void) {
    fixture f = open_fixture();
    insert_library(f);
    quire_object *book = NULL, *other = NULL;
    CHECK_OK(quire_context_object(f.context, "Book", QUIRE_NUL, 1, &book, &error));
    CHECK_OK(quire_context_object(f.context, "Book", QUIRE_NUL, 2, &other, &error));
    set_text(book, "title", "mine");
    set_text(other, "title", "mine too");
    const char *const keys[] = {"title", "pages"};
    const quire_value values[] = {quire_value_text("theirs"), quire_value_integer(9)};
    quire_fetch_request *request = new_request("Book", "title == 'b0'", NULL);
    CHECK_OK(quire_context_batch_update(f.context, request, keys, values, 2, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    CHECK(strcmp(get_text(book, "title"), "mine") == 0 && get_value(book, "pages").as.integer == 9);
    request = new_request("Book", "title == 'b1'", NULL);
    CHECK_OK(quire_context_batch_delete(f.context, request, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    CHECK(quire_object_is_deleted(other));
    save(f.context);
    quire_context *fresh = NULL;
    CHECK_OK(quire_context_create(f.store, &fresh, &error));
    CHECK(strcmp(titles(fresh, "pages == 9"), "mine") == 0);
    CHECK(count(fresh, "Book", NULL) == 5);

    /* A context that was not told finds out when it saves. */
    set_text(book, "title", "again");
    request = new_request("Book", "pages == 9", NULL);
    CHECK_OK(quire_context_batch_update(fresh, request, keys, values, 1, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(f.context, &error));
    quire_context_release(fresh);
    quire_object_release(book);
    quire_object_release(other);
    close_fixture(f);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(insertion_gives_saved_objects);
    RUN(update_sets_what_answers_the_request);
    RUN(update_calculates_for_each_object);
    RUN(deletion_follows_the_rules);
    RUN(live_lists_report_what_a_request_did);
    RUN(pending_changes_stay_on_top);
    return RESULT();
}
