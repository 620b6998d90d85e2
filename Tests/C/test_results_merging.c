/* What a controller makes of what other contexts have saved. */
#include "recorder.h"

/* A list of authors of long books; `other` has read the book as it was between two changes. */
static void check_ahead(quire_context *context, quire_context *other, bool saves) {
    quire_object *author = insert(context, "Author"), *book = insert_book(context, "a", 1), *theirs = NULL;
    set_value(book, "author", quire_value_object(author));
    save(context);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(book), &theirs, &error));
    CHECK_OK(quire_context_refresh_all(other, &error));
    quire_fetch_request *request = new_request("Author", "ANY books.pages > 5", NULL);
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(other, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    const int64_t former = quire_results_count(results);
    CHECK(quire_object_is_fault(theirs));
    set_value(book, "pages", quire_value_integer(10));
    if (saves) save(context);
    CHECK(get_value(theirs, "pages").as.integer == 10);
    set_text(book, "title", "b");
    save(context);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(quire_results_count(results) == former + 1);
    quire_results_release(results);
    quire_fetch_request_release(request);
    quire_object_release(theirs);
    quire_object_release(book);
    quire_object_release(author);
}

static void what_was_read_between_two_changes_is_told_whole(void) {
    fixture made = open_fixture();
    quire_context *other = NULL, *child = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    check_ahead(made.context, other, true);
    quire_context_release(other);
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    check_ahead(made.context, child, false);
    check_ahead(made.context, child, true);
    quire_context_release(child);
    close_fixture(made);
}

static void list_that_is_fetched_between_two_changes_is_told_of_the_way_back(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "a", 1), *theirs = NULL;
    quire_object_release(insert_book(made.context, "b", 1));
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(book), &theirs, &error));
    CHECK(strcmp(get_text(theirs, "title"), "a") == 0);
    set_text(book, "title", "z");
    save(made.context);
    quire_results *results = controller(other, NULL, "title", NULL);
    set_text(book, "title", "a");
    save(made.context);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK_TOLD("{was 2 >0.1/0.0 is 2}");
    quire_results_release(results);
    quire_object_release(theirs);
    quire_object_release(book);
    quire_context_release(other);
    close_fixture(made);
}

static void member_whose_row_is_gone_is_none(void) {
    fixture made = open_fixture();
    quire_object *book = book_with(made.context, "a", "1"), *theirs = NULL;
    int64_t ids[2];
    for (int i = 0; i < 2; i++) {
        quire_object *tag = insert(made.context, "Tag");
        set_text(tag, "label", i ? "y" : "x");
        CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
        ids[i] = quire_object_id(tag);
        quire_object_release(tag);
    }
    save(made.context);
    quire_results *results = controller(made.context, "ALL tags.label == 'y'", "title", NULL);
    CHECK(quire_results_count(results) == 0);

    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Tag", QUIRE_NUL, ids[0], &theirs, &error));
    const quire_value none = quire_value_list(NULL, 0);
    set_value(theirs, "books", none);
    CHECK_OK(quire_context_delete(other, theirs, &error));
    save(other);
    quire_object_release(theirs);
    quire_context_release(other);

    /* The book has been read with both tags, of which one is nowhere to be read. */
    set_value(book, "pages", quire_value_integer(7));
    process(made.context);
    CHECK_TOLD("{was 0 +0.0 is 1}");
    CHECK_OK(quire_context_merge(made.context, &error));
    CHECK(quire_results_count(results) == 1 && count(made.context, "Book", "tags.@count == 1") == 1);
    forget();
    quire_results_release(results);
    quire_object_release(book);
    close_fixture(made);
}

static void what_a_parent_takes_back_reaches_a_child_that_has_read_it(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "a", 1), *theirs = NULL;
    save(made.context);
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    quire_results *results = controller(child, "pages > 5", "title", NULL);
    set_value(book, "pages", quire_value_integer(10));
    CHECK_OK(quire_context_object(child, "Book", QUIRE_NUL, quire_object_id(book), &theirs, &error));
    CHECK(get_value(theirs, "pages").as.integer == 10);
    set_value(book, "pages", quire_value_integer(1));
    set_text(theirs, "title", "b");
    process(child);
    CHECK_OK(quire_context_merge(child, &error));
    CHECK(get_value(theirs, "pages").as.integer == 1 && quire_results_count(results) == 0);
    CHECK(count(child, "Book", "pages > 5") == 0);
    forget();

    /* The same with one that comes and goes. */
    quire_object *passing = insert_book(made.context, "c", 10), *seen = NULL;
    CHECK_OK(quire_context_object(child, "Book", QUIRE_NUL, quire_object_id(passing), &seen, &error));
    CHECK(get_value(seen, "pages").as.integer == 10);
    CHECK_OK(quire_context_delete(made.context, passing, &error));
    set_text(seen, "title", "d");
    process(child);
    CHECK_OK(quire_context_merge(child, &error));
    CHECK(quire_results_count(results) == 0 && quire_object_is_deleted(seen));
    forget();
    quire_object_release(seen);
    quire_object_release(passing);
    quire_results_release(results);
    quire_object_release(theirs);
    quire_object_release(book);
    quire_context_release(child);
    close_fixture(made);
}

int main(void) {
    RUN(what_was_read_between_two_changes_is_told_whole);
    RUN(list_that_is_fetched_between_two_changes_is_told_of_the_way_back);
    RUN(member_whose_row_is_gone_is_none);
    RUN(what_a_parent_takes_back_reaches_a_child_that_has_read_it);
    return RESULT();
}
