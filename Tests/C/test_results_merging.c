/* What a controller makes of what other contexts have saved. */
#include "recorder.h"

/*
 * A list of authors of long books, in a context that looks at the book between two changes. With `reads_ahead` it finds
 * what the other one holds then, and otherwise what it was told of last.
 */
static void check_between(quire_context *context, quire_context *other, bool saves, bool reads_ahead) {
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
    CHECK(get_value(theirs, "pages").as.integer == (reads_ahead ? 10 : 1));
    set_text(book, "title", "b");
    save(context);
    CHECK(quire_results_count(results) == former);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(quire_results_count(results) == former + 1 && get_value(theirs, "pages").as.integer == 10);
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
    check_between(made.context, other, true, false);
    quire_context_release(other);
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    check_between(made.context, child, false, true);
    check_between(made.context, child, true, true);
    quire_context_release(child);
    close_fixture(made);
}

static void check_first_title(quire_results *results, const char *title) {
    quire_object *first = NULL;
    CHECK_OK(quire_results_object(results, 0, 0, &first, &error));
    CHECK(strcmp(get_text(first, "title"), title) == 0);
    quire_object_release(first);
}

/* The list of a child is fetched from what its parent holds by then. That of a context on the store is of its moment. */
static void list_that_is_fetched_between_two_changes_is_right_after_the_way_back(void) {
    for (int is_child = 0; is_child < 2; is_child++) {
        fixture made = open_fixture();
        quire_object *book = insert_book(made.context, "a", 1), *theirs = NULL;
        quire_object_release(insert_book(made.context, "b", 1));
        save(made.context);
        quire_context *other = NULL;
        if (is_child) CHECK_OK(quire_context_create_child(made.context, &other, &error));
        else CHECK_OK(quire_context_create(made.store, &other, &error));
        CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(book), &theirs, &error));
        CHECK(strcmp(get_text(theirs, "title"), "a") == 0);
        set_text(book, "title", "z");
        save(made.context);
        quire_results *results = controller(other, NULL, "title", NULL);
        set_text(book, "title", "a");
        save(made.context);
        CHECK_OK(quire_context_merge(other, &error));
        CHECK_TOLD(is_child ? "{was 2 >0.1/0.0 is 2}" : "");
        check_first_title(results, "a");
        quire_results_release(results);
        quire_object_release(theirs);
        quire_object_release(book);
        quire_context_release(other);
        close_fixture(made);
    }
}

static void member_whose_row_is_gone_is_none(void) {
    for (int is_child = 0; is_child < 2; is_child++) {
        fixture made = open_fixture();
        quire_object *book = book_with(made.context, "a", "1"), *first = NULL, *mine = NULL;
        for (int i = 0; i < 2; i++) {
            quire_object *tag = insert(made.context, "Tag");
            set_text(tag, "label", i ? "y" : "x");
            CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
            if (i == 0) first = tag;
            else quire_object_release(tag);
        }
        save(made.context);
        quire_context *reader = NULL;
        if (is_child) CHECK_OK(quire_context_create_child(made.context, &reader, &error));
        else CHECK_OK(quire_context_create(made.store, &reader, &error));
        CHECK_OK(quire_context_object(reader, "Book", QUIRE_NUL, quire_object_id(book), &mine, &error));
        quire_list *tags = NULL;
        CHECK_OK(quire_object_get_objects(mine, "tags", QUIRE_NUL, &tags, &error));
        quire_list_release(tags);
        quire_results *results = controller(reader, "ALL tags.label == 'y'", "title", NULL);
        CHECK(quire_results_count(results) == 0);

        const quire_value none = quire_value_list(NULL, 0);
        set_value(first, "books", none);
        CHECK_OK(quire_context_delete(made.context, first, &error));
        save(made.context);

        /* The book has been read with both tags. To a child one of them is nowhere to be read. */
        set_value(mine, "pages", quire_value_integer(7));
        process(reader);
        CHECK_TOLD(is_child ? "{was 0 +0.0 is 1}" : "");
        CHECK_OK(quire_context_merge(reader, &error));
        CHECK_TOLD(is_child ? "{was 1 ~0.0/0.0 is 1}" : "{was 0 +0.0 is 1}");
        CHECK(quire_results_count(results) == 1 && count(reader, "Book", "tags.@count == 1") == 1);
        quire_results_release(results);
        quire_object_release(mine);
        quire_object_release(first);
        quire_object_release(book);
        quire_context_release(reader);
        close_fixture(made);
    }
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

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(what_was_read_between_two_changes_is_told_whole);
    RUN(list_that_is_fetched_between_two_changes_is_right_after_the_way_back);
    RUN(member_whose_row_is_gone_is_none);
    RUN(what_a_parent_takes_back_reaches_a_child_that_has_read_it);
    return RESULT();
}
