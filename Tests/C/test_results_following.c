/* What a controller finds by itself, and what it does not bother its delegate with. */
#include "recorder.h"

static void change_that_is_taken_back_before_processing_is_not_reported(void) {
    fixture made = open_fixture();
    quire_object *first = book_with(made.context, "a", "1"), *second = book_with(made.context, "b", "2");
    save(made.context);
    quire_results *results = controller(made.context, NULL, "title", NULL);
    set_text(first, "title", "z");
    set_text(first, "title", "a");
    process(made.context);
    CHECK_TOLD("");
    set_text(first, "title", "z");
    CHECK_OK(quire_context_delete(made.context, second, &error));
    CHECK_OK(quire_context_rollback(made.context, &error));
    CHECK_TOLD("");
    quire_object *passing = book_with(made.context, "c", "3");
    CHECK_OK(quire_context_delete(made.context, passing, &error));
    process(made.context);
    CHECK_TOLD("");
    set_text(first, "title", "z");
    process(made.context);
    CHECK_TOLD("{was 2 >0.0/0.1 is 2}");
    set_text(first, "title", "a");
    process(made.context);
    CHECK_TOLD("{was 2 >0.1/0.0 is 2}");
    quire_results_release(results);
    quire_object_release(passing);
    quire_object_release(second);
    quire_object_release(first);
    close_fixture(made);
}

static quire_fetch_request *books_of(quire_object *author, const char *format) {
    quire_value argument = quire_value_object(author);
    quire_value list = quire_value_list(&argument, 1);
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, strstr(format, "IN") ? &list : &argument, 1, &predicate, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_predicate(request, predicate, &error));
    quire_predicate_release(predicate);
    return request;
}

static void predicate_goes_on_to_mean_an_object_that_is_saved(void) {
    static const char *const formats[] = {"author == %@", "author IN %@"};
    for (size_t i = 0; i < 2; i++) {
        fixture made = open_fixture();
        quire_object *author = insert(made.context, "Author"), *book = book_with(made.context, "a", "1");
        set_value(book, "author", quire_value_object(author));
        quire_fetch_request *request = books_of(author, formats[i]);
        quire_results *results = NULL;
        CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
        const quire_results_delegate delegate = recorder();
        CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
        CHECK_OK(quire_results_fetch(results, &error));
        CHECK(quire_results_count(results) == 1);
        forget();
        save(made.context);
        set_value(book, "pages", quire_value_integer(7));
        process(made.context);
        CHECK_TOLD("{was 1 ~0.0/0.0 is 1}");
        int64_t number = 0;
        CHECK_OK(quire_context_count(made.context, request, &number, &error));
        CHECK(number == 1);
        quire_results_release(results);
        quire_fetch_request_release(request);
        quire_object_release(book);
        quire_object_release(author);
        close_fixture(made);
    }
}

static void unsaved_objects_of_two_contexts_are_not_taken_for_each_other(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    quire_object *theirs = insert(other, "Author"), *mine = insert(made.context, "Author");
    quire_object *book = book_with(made.context, "a", "1");
    set_value(book, "author", quire_value_object(mine));
    quire_fetch_request *request = books_of(theirs, "author == %@");
    int64_t number = -1;
    CHECK_OK(quire_context_count(made.context, request, &number, &error));
    CHECK(number == 0);
    quire_fetch_request_release(request);
    quire_object_release(book);
    quire_object_release(mine);
    quire_object_release(theirs);
    quire_context_release(other);
    close_fixture(made);
}

/* An author whom another context deletes while `made` has just given him a book that the other has not seen. */
static void rival_delete(quire_context *other, quire_object *author, quire_status expected) {
    quire_object *theirs = NULL;
    CHECK_OK(quire_context_object(other, "Author", QUIRE_NUL, quire_object_id(author), &theirs, &error));
    quire_list *books = NULL;
    CHECK_OK(quire_object_get_objects(theirs, "books", QUIRE_NUL, &books, &error));
    quire_list_release(books);
    quire_object *book = book_with(quire_object_context(author), "late", NULL);
    set_value(book, "author", quire_value_object(author));
    save(quire_object_context(author));
    CHECK_OK(quire_context_delete(other, theirs, &error));
    CHECK_FAILS(expected, quire_context_save(other, &error));
    quire_object_release(book);
    quire_object_release(theirs);
}

static void deletion_does_not_leave_behind_what_another_context_has_added(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author");
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    rival_delete(other, author, QUIRE_CONFLICT);
    CHECK(count(made.context, "Author", NULL) == 1 && count(made.context, "Book", "author != nil") == 1);

    /* The rollback has it read the store anew: now the delete rule reaches the book. */
    CHECK_OK(quire_context_rollback(other, &error));
    quire_object *theirs = NULL;
    CHECK_OK(quire_context_object(other, "Author", QUIRE_NUL, quire_object_id(author), &theirs, &error));
    CHECK_OK(quire_context_delete(other, theirs, &error));
    save(other);
    CHECK(count(other, "Author", NULL) == 0 && count(other, "Book", NULL) == 0);
    quire_object_release(theirs);
    quire_object_release(author);
    quire_context_release(other);
    close_fixture(made);
}

static void rollback_after_a_conflict_reads_what_is_stored_now(void) {
    fixture made = open_fixture();
    quire_object *mine = insert_book(made.context, "Faust", 300), *theirs = NULL;
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(mine), &theirs, &error));
    quire_results *results = controller(other, "pages > 300", "title", NULL);
    set_value(mine, "pages", quire_value_integer(301));
    set_value(theirs, "pages", quire_value_integer(302));
    save(made.context);
    process(other);
    CHECK_TOLD("{was 0 +0.0 is 1}");
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(other, &error));
    CHECK_OK(quire_context_rollback(other, &error));
    CHECK_TOLD("{was 1 ~0.0/0.0 is 1}");
    CHECK(get_value(theirs, "pages").as.integer == 301);
    set_value(theirs, "pages", quire_value_integer(303));
    save(other);
    CHECK_OK(quire_context_merge(made.context, &error));
    CHECK(count(made.context, "Book", "pages == 303") == 1);
    quire_results_release(results);
    quire_object_release(theirs);
    quire_context_release(other);
    quire_object_release(mine);
    close_fixture(made);
}

static void object_that_another_context_has_deleted_is_gone_after_the_rollback(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "a", 1), *theirs = NULL;
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Author", QUIRE_NUL, quire_object_id(author), &theirs, &error));
    CHECK_OK(quire_context_delete(other, theirs, &error));
    save(other);
    set_value(book, "author", quire_value_object(author));
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(made.context, &error));
    CHECK(!quire_object_is_deleted(author) && strcmp(get_text(author, "name"), "nil") == 0);
    CHECK_OK(quire_context_rollback(made.context, &error));
    quire_value name;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_get(author, "name", QUIRE_NUL, &name, &error));
    CHECK(quire_object_is_deleted(author) && get_value(book, "author").kind == QUIRE_VALUE_NIL);
    set_value(book, "pages", quire_value_integer(2));
    save(made.context);
    quire_object_release(theirs);
    quire_context_release(other);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

/* A child reads what its parent holds. A context on the store has the row of its moment, where it belongs. */
static void row_that_is_read_anew_moves_to_where_it_belongs(void) {
    for (int is_child = 0; is_child < 2; is_child++) {
        fixture made = open_fixture();
        quire_object *mine = insert_book(made.context, "a", 1);
        quire_object_release(insert_book(made.context, "b", 1));
        save(made.context);
        quire_context *reader = NULL;
        if (is_child) CHECK_OK(quire_context_create_child(made.context, &reader, &error));
        else CHECK_OK(quire_context_create(made.store, &reader, &error));
        quire_results *results = controller(reader, NULL, "title", NULL);
        set_text(mine, "title", "z");
        save(made.context);
        quire_object *theirs = NULL;
        CHECK_OK(quire_results_object(results, 0, 0, &theirs, &error));
        CHECK(strcmp(get_text(theirs, "title"), is_child ? "z" : "a") == 0);
        process(reader);
        CHECK_TOLD(is_child ? "{was 2 >0.0/0.1 is 2}" : "");
        CHECK_OK(quire_context_merge(reader, &error));
        CHECK_TOLD(is_child ? "{was 2 ~0.1/0.1 is 2}" : "{was 2 >0.0/0.1 is 2}");
        CHECK(strcmp(get_text(theirs, "title"), "z") == 0);
        quire_object_release(theirs);
        quire_results_release(results);
        quire_context_release(reader);
        quire_object_release(mine);
        close_fixture(made);
    }
}

/* A child reads it before, as its parent holds it. A context on the store reads it with the merge. */
static void what_came_before_a_merge_is_told_with_the_merge(void) {
    for (int is_child = 0; is_child < 2; is_child++) {
        fixture made = open_fixture();
        quire_object_release(insert_book(made.context, "a", 200));
        quire_object *first = insert_book(made.context, "b", 200);
        save(made.context);
        quire_context *reader = NULL;
        if (is_child) CHECK_OK(quire_context_create_child(made.context, &reader, &error));
        else CHECK_OK(quire_context_create(made.store, &reader, &error));
        quire_results *results = controller(reader, "pages > 100", "title", NULL);

        /* One comes and is then changed, one is changed. */
        quire_object *second = insert_book(made.context, "c", 1);
        save(made.context);
        set_value(second, "pages", quire_value_integer(200));
        set_text(first, "title", "0");
        save(made.context);
        quire_list *read = fetch(reader, "Book", "pages > 100", "title");
        CHECK(strcmp(joined(read, "title"), is_child ? "0,a,c" : "a,b") == 0);
        CHECK_TOLD("");

        CHECK_OK(quire_context_merge(reader, &error));
        CHECK_TOLD("{was 2 +0.2 >0.1/0.0 is 3}");
        quire_list_release(read);
        quire_results_release(results);
        quire_context_release(reader);
        quire_object_release(second);
        quire_object_release(first);
        close_fixture(made);
    }
}

static quire_results *fetched_meanwhile;

static void fetch_the_other(void *data, quire_results *results) {
    (void)data, (void)results;
    CHECK_OK(quire_results_fetch(fetched_meanwhile, &error));
}

static void controller_that_is_fetched_meanwhile_is_not_told_what_it_has_seen(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "a", 1);
    save(made.context);
    quire_results *first = controller(made.context, NULL, "title", NULL);
    fetched_meanwhile = controller(made.context, NULL, "title", NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change = fetch_the_other;
    CHECK_OK(quire_results_set_delegate(first, &delegate, &error));
    set_value(book, "pages", quire_value_integer(2));
    process(made.context);
    CHECK_TOLD("");
    CHECK_OK(quire_results_set_delegate(first, NULL, &error));
    set_value(book, "pages", quire_value_integer(3));
    process(made.context);
    CHECK_TOLD("{was 1 ~0.0/0.0 is 1}");
    quire_results_release(fetched_meanwhile);
    quire_results_release(first);
    quire_object_release(book);
    close_fixture(made);
}

/* Library files of Core Data hold such references: nothing removes them under the rule 'no action'. */
static void reference_to_a_row_that_is_gone_counts_as_nil_behind_it(void) {
    fixture made = {quire_model_create(), NULL, NULL};
    CHECK_OK(quire_model_add_entity(made.model, "Author", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(made.model, "Book", QUIRE_NUL, NULL, &error));
    add_attribute(made.model, "Author", "name", QUIRE_TYPE_STRING);
    add_attribute(made.model, "Book", "title", QUIRE_TYPE_STRING);
    add_attribute(made.model, "Book", "pages", QUIRE_TYPE_INTEGER_32);
    add_relationship(made.model, "Book", "author", "Author", "books", false, false, QUIRE_DELETE_NULLIFY);
    add_relationship(made.model, "Author", "books", "Book", "author", true, false, QUIRE_DELETE_NO_ACTION);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "a", 1);
    set_text(author, "name", "Goethe");
    set_value(book, "author", quire_value_object(author));
    save(made.context);
    quire_results *by_name = controller(made.context, NULL, "author.name", "author.name");
    CHECK_OK(quire_context_delete(made.context, author, &error));
    process(made.context);
    const bool is_nil = get_value(book, "author").kind == QUIRE_VALUE_NIL;
    CHECK(count(made.context, "Book", "author == nil") == (is_nil ? 1 : 0));
    CHECK_TOLD("");
    save(made.context);
    CHECK_TOLD("{was 1 -s0:Goethe +s0: >0.0/0.0 is 1}");
    quire_results_release(by_name);
    CHECK((get_value(book, "author").kind == QUIRE_VALUE_NIL) == is_nil);
    CHECK(count(made.context, "Book", "author == nil") == (is_nil ? 1 : 0));

    quire_results *results = controller(made.context, "author.name == nil", "author.name", "author.name");
    CHECK(quire_results_count(results) == 1);
    set_value(book, "pages", quire_value_integer(2));
    process(made.context);
    CHECK_TOLD("{was 1 ~0.0/0.0 is 1}");
    save(made.context);
    CHECK_OK(quire_context_rollback(made.context, &error));
    quire_results_release(results);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

static quire_status change_request(quire_results *results, const char *format, const char *sort, const char *section) {
    quire_fetch_request *request = new_request("Book", format, sort);
    const quire_status status = quire_results_set_request(results, request, section, QUIRE_NUL, &error);
    quire_fetch_request_release(request);
    return status;
}

static void another_request_is_told_as_the_difference(void) {
    fixture made = open_fixture();
    quire_object *books[] = {
        insert_book(made.context, "a", 30), insert_book(made.context, "b", 10), insert_book(made.context, "c", 20)};
    quire_results *results = controller(made.context, NULL, "title", NULL);
    CHECK_OK(change_request(results, "pages > 10", "title", NULL));
    CHECK_TOLD("{was 3 -0.1 is 2}");
    CHECK_OK(change_request(results, NULL, "pages", NULL));
    CHECK_TOLD("{was 2 +0.0 >0.1/0.1 is 3}");
    CHECK_OK(change_request(results, NULL, "pages", "title"));
    CHECK_TOLD("{was 3 -s0: +s0:a +s1:b +s2:c >0.2/0.0 >0.0/1.0 >0.1/2.0 is 3}");
    CHECK_OK(change_request(results, "title != 'b'", "title", "title"));
    CHECK_TOLD("{was 3 -s1:b -1.0 is 2}");
    CHECK_OK(change_request(results, "title IN {'a', 'c'}", "pages", "title"));
    CHECK_TOLD("");
    set_text(books[1], "title", "c");
    process(made.context);
    CHECK_TOLD("{was 2 +1.0 is 3}");
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, change_request(results, NULL, "subtitle", NULL));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, change_request(results, NULL, "title", "tags"));
    quire_fetch_request *request = new_request("Author", NULL, "name");
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_set_request(results, request, NULL, 0, &error));
    quire_fetch_request_release(request);
    CHECK_TOLD("");
    CHECK(quire_results_count(results) == 3);
    quire_results_release(results);
    for (size_t i = 0; i < 3; i++) quire_object_release(books[i]);
    close_fixture(made);
}

static void limit_and_offset_stay_true(void) {
    fixture made = open_fixture();
    static const char *const titles[] = {"a", "b", "c", "d", "e", "f"};
    quire_object *books[6];
    for (size_t i = 0; i < 6; i++) books[i] = insert_book(made.context, titles[i], 100 - (int64_t)i);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_offset(request, 1, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, 3, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "title";
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
    const quire_results_delegate delegate = recorder();
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    forget();
    CHECK(quire_results_count(results) == 3 && quire_results_section_count(results) == 3);
    /* From behind the window to before it: all move down, and one leaves. */
    set_text(books[5], "title", "A");
    process(made.context);
    CHECK_TOLD("{was 3 -s2:d +s0:a -2.0 +0.0 is 3}");
    /* Behind it nothing is told, nor before it where nothing shifts. */
    set_text(books[4], "title", "z");
    set_text(books[5], "title", "B");
    process(made.context);
    CHECK_TOLD("");
    CHECK_OK(quire_context_delete(made.context, books[1], &error));
    CHECK_OK(quire_context_delete(made.context, books[5], &error));
    process(made.context);
    CHECK_TOLD("{was 3 -s1:b -s0:a +s1:d +s2:z -1.0 -0.0 +1.0 +2.0 is 3}");
    set_text(books[2], "title", "y");
    process(made.context);
    CHECK_TOLD("{was 3 -s0:c +s1:y >0.0/1.0 is 3}");
    CHECK_OK(quire_fetch_request_set_offset(request, 9, &error));
    CHECK_OK(quire_results_set_request(results, request, NULL, 0, &error));
    CHECK(quire_results_count(results) == 0 && quire_results_section_count(results) == 1);
    CHECK_OK(quire_fetch_request_set_offset(request, INT64_MAX, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, INT64_MAX, &error));
    CHECK_OK(quire_results_set_request(results, request, NULL, 0, &error));
    CHECK(quire_results_count(results) == 0);
    quire_fetch_request_release(request);
    quire_results_release(results);
    for (size_t i = 0; i < 6; i++) quire_object_release(books[i]);
    close_fixture(made);
}

static void request_that_is_replaced_before_the_fetch_is_the_one_that_is_fetched(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "a", 30));
    quire_fetch_request *request = new_request("Book", "pages > 100", "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    quire_fetch_request_release(request);
    CHECK_OK(change_request(results, NULL, "title", "title"));
    CHECK(quire_results_count(results) == 0);
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == 1 && quire_results_section_count(results) == 1);
    quire_results_release(results);
    close_fixture(made);
}

static void suspended_list_stays_as_it_is(void) {
    fixture made = open_fixture();
    quire_object *a = insert_book(made.context, "a", 1), *b = insert_book(made.context, "b", 2);
    quire_results *results = controller(made.context, NULL, "title", NULL);
    CHECK_OK(quire_results_suspend(results, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_suspend(results, &error));
    set_text(a, "title", "z");
    process(made.context);
    CHECK_OK(quire_context_delete(made.context, b, &error));
    quire_object_release(insert_book(made.context, "c", 3));
    save(made.context);
    CHECK_TOLD("");
    CHECK(quire_results_count(results) == 2);
    quire_object *shown = NULL;
    CHECK_OK(quire_results_object(results, 0, 1, &shown, &error));
    CHECK(shown == b);
    quire_object_release(shown);
    CHECK_FAILS(QUIRE_INVALID_STATE, change_request(results, NULL, "pages", NULL));
    CHECK_OK(quire_results_resume(results, true, &error));
    CHECK_TOLD("{was 2 -0.1 +0.0 ~0.0/0.1 is 2}");
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_resume(results, true, &error));

    /* The user has dragged it, and the view shows it there. */
    CHECK_OK(quire_results_suspend(results, &error));
    set_text(a, "title", "A");
    CHECK_OK(quire_results_resume(results, false, &error));
    CHECK_TOLD("");
    quire_index_path path;
    CHECK_OK(quire_results_index_path(results, a, &path, &error));
    CHECK(path.section == 0 && path.row == 0);
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    close_fixture(made);
}

static void fail_with(void *data, quire_results *results, const quire_changes *changes) {
    (void)changes;
    ++*(int *)data;
    CHECK_OK(quire_results_delegate_failed(results, "no room", QUIRE_NUL, &error));
    CHECK_OK(quire_results_delegate_failed(results, "later", QUIRE_NUL, &error));
}

static void fail_with_bytes(void *data, quire_results *results, const quire_changes *changes) {
    (void)data;
    (void)changes;
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_results_delegate_failed(results, "no \xff room", QUIRE_NUL, &error));
}

static void failure_counts_though_its_reason_is_no_text(void) {
    fixture made = open_fixture();
    quire_results *failing = controller(made.context, NULL, "title", NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.changes = fail_with_bytes;
    CHECK_OK(quire_results_set_delegate(failing, &delegate, &error));
    quire_object_release(insert_book(made.context, "a", 1));
    const quire_status status = quire_context_save(made.context, &error);
    CHECK(status == QUIRE_FUNCTION);
    CHECK_TEXT(quire_error_message(error), "A delegate of a results controller failed: it gave a reason that is no text.");
    quire_error_release(error);
    error = NULL;
    quire_results_release(failing);
    close_fixture(made);
}

static void failure_of_a_delegate_comes_out_of_the_call(void) {
    fixture made = open_fixture();
    quire_results *failing = controller(made.context, NULL, "title", NULL);
    quire_results *other = controller(made.context, NULL, "title", NULL);
    int calls = 0;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = &calls;
    delegate.changes = fail_with;
    CHECK_OK(quire_results_set_delegate(failing, &delegate, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_delegate_failed(failing, "no room", QUIRE_NUL, &error));
    quire_object_release(insert_book(made.context, "a", 1));
    const quire_status status = quire_context_save(made.context, &error);
    CHECK(status == QUIRE_FUNCTION && calls == 1);
    CHECK_TEXT(quire_error_message(error), "A delegate of a results controller failed: no room");
    quire_error_release(error);
    error = NULL;
    CHECK_TOLD("{was 0 +0.0 is 1}");
    CHECK(quire_results_count(failing) == 1 && quire_context_has_changes(made.context));
    save(made.context);
    CHECK(calls == 1 && !quire_context_has_changes(made.context));
    quire_results_release(failing);
    quire_results_release(other);
    close_fixture(made);
}

static quire_string plan_of(const quire_changes *changes, uint32_t order, bool splits_moves) {
    static const char *const kinds[] = {"?", "+", "-", ">", "~", "+s", "-s", "="};
    static char text[512];
    size_t size = 0;
    quire_step_array steps;
    CHECK_OK(quire_changes_plan(changes, order, splits_moves, &steps, &error));
    text[0] = 0;
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s", kinds[step->kind]);
        if (step->kind == QUIRE_STEP_REPLACE_ROWS)
            size += (size_t)snprintf(
                text + size, sizeof text - size, "%d-%d+%d ", (int)step->flat, (int)step->removed, (int)step->inserted);
        else if (step->kind >= QUIRE_STEP_INSERT_SECTION)
            size += (size_t)snprintf(text + size, sizeof text - size, "%d ", (int)step->section);
        else {
            size += (size_t)snprintf(text + size, sizeof text - size, "%d.%d ", (int)step->section, (int)step->row);
            if (step->to_section >= 0)
                size += (size_t)snprintf(text + size - 1, sizeof text - size + 1, "/%d.%d ", (int)step->to_section, (int)step->to_row) - 1;
        }
    }
    return (quire_string){text, size};
}

static void plan_is_made_for_each_kind_of_view(void) {
    fixture made = open_fixture();
    quire_object *books[] = {
        insert_book(made.context, "a", 1), insert_book(made.context, "b", 1), insert_book(made.context, "b", 2),
        insert_book(made.context, "b", 3)};
    quire_results *results = controller(made.context, NULL, "title", "title");
    quire_changes *changes = NULL;
    /* The sole row of a section moves into another, one moves down there, and one is updated. */
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK(changes == NULL);
    set_text(books[0], "title", "b");
    set_text(books[1], "title", "c");
    set_value(books[2], "pages", quire_value_integer(9));
    process(made.context);
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK_TEXT(plan_of(changes, QUIRE_PLAN_BEFORE_CHILD, false), "+s2 >0.0/1.0 >1.1/2.0 -s0 ~0.0 ~0.1 ~1.0 ");
    CHECK_TEXT(plan_of(changes, QUIRE_PLAN_BEFORE_CHILD, true), "+s2 -0.0 +1.0 -1.1 +2.0 -s0 ~0.0 ~0.1 ~1.0 ");
    CHECK_TEXT(plan_of(changes, QUIRE_PLAN_BATCH, false), "-1.0 -s0 +s1 +0.0 ~1.1/0.1 ");
    CHECK_TEXT(plan_of(changes, QUIRE_PLAN_RANGES, false), "=0-4+4 ");
    quire_step_array steps;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_changes_plan(changes, 9, false, &steps, &error));
    CHECK(steps.first == NULL && steps.count == 0);

    /* A range has the ids of what goes and of what comes, in their order. */
    CHECK_OK(quire_changes_plan(changes, QUIRE_PLAN_RANGES, false, &steps, &error));
    const int order_before[] = {0, 1, 2, 3}, order_after[] = {0, 2, 3, 1};
    for (size_t i = 0; i < 4; i++) {
        CHECK(steps.first->removed_ids[i] == quire_object_id(books[order_before[i]]));
        CHECK(steps.first->inserted_ids[i] == quire_object_id(books[order_after[i]]));
    }
    quire_changes_release(changes);

    /* So has one with a row that is drawn in because the first row of its section went. */
    CHECK_OK(quire_context_delete(made.context, books[0], &error));
    process(made.context);
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK_TEXT(plan_of(changes, QUIRE_PLAN_RANGES, false), "=0-2+1 ");
    CHECK_OK(quire_changes_plan(changes, QUIRE_PLAN_RANGES, false, &steps, &error));
    CHECK(steps.first->removed_ids[1] == quire_object_id(books[2]));
    CHECK(steps.first->inserted_ids[0] == quire_object_id(books[2]));
    CHECK(quire_changes_steps(changes).first->removed == -1 && quire_changes_steps(changes).first->removed_ids == NULL);
    quire_changes_release(changes);
    quire_results_release(results);
    for (size_t i = 0; i < 4; i++) quire_object_release(books[i]);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(change_that_is_taken_back_before_processing_is_not_reported);
    RUN(predicate_goes_on_to_mean_an_object_that_is_saved);
    RUN(unsaved_objects_of_two_contexts_are_not_taken_for_each_other);
    RUN(deletion_does_not_leave_behind_what_another_context_has_added);
    RUN(rollback_after_a_conflict_reads_what_is_stored_now);
    RUN(object_that_another_context_has_deleted_is_gone_after_the_rollback);
    RUN(what_came_before_a_merge_is_told_with_the_merge);
    RUN(controller_that_is_fetched_meanwhile_is_not_told_what_it_has_seen);
    RUN(row_that_is_read_anew_moves_to_where_it_belongs);
    RUN(reference_to_a_row_that_is_gone_counts_as_nil_behind_it);
    RUN(another_request_is_told_as_the_difference);
    RUN(request_that_is_replaced_before_the_fetch_is_the_one_that_is_fetched);
    RUN(limit_and_offset_stay_true);
    RUN(suspended_list_stays_as_it_is);
    RUN(failure_of_a_delegate_comes_out_of_the_call);
    RUN(failure_counts_though_its_reason_is_no_text);
    RUN(plan_is_made_for_each_kind_of_view);
    return RESULT();
}
