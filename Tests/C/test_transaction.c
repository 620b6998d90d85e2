/* Several saves and batch requests of one context as one transaction of the file. */
#include "transaction.h"

#include <signal.h>
#include <sys/resource.h>

static void what_was_saved_inside_is_in_the_file_with_the_commit(void) {
    scene scene = open_scene(0);
    quire_context *context = scene.made.context;
    begin(context);
    save_book(context, "Faust", 300);
    insert_row(context, "Stella");
    save_book(context, "Egmont", 100);
    add_book(context, "Clavigo", 80);
    CHECK(count(context, "Book", "TRUEPREDICATE") == 4);
    CHECK(strcmp(titles(scene.outside.store), "") == 0);
    commit(context);
    CHECK(strcmp(titles(scene.outside.store), "Clavigo,Egmont,Faust,Stella") == 0);
    close_scene(scene);
}

static void a_rollback_takes_back_what_was_saved_and_what_was_not(void) {
    scene scene = open_scene(0);
    quire_context *context = scene.made.context;
    quire_object *faust = insert_book(context, "Faust", 300), *stella = insert_book(context, "Stella", 60);
    quire_object *egmont = insert_book(context, "Egmont", 100), *goethe = insert(context, "Author");
    set_value(faust, "author", quire_value_object(goethe));
    save(context);

    begin(context);
    quire_object *clavigo = insert_book(context, "Clavigo", 80);
    set_value(faust, "pages", quire_value_integer(301));
    set_value(stella, "author", quire_value_object(goethe));
    CHECK_OK(quire_context_delete(context, egmont, &error));
    save(context);
    CHECK(quire_object_is_deleted(egmont));
    insert_row(context, "Tasso");
    set_pages(context, "title == 'Stella'", 61);
    CHECK(delete_books(context, "title == 'Faust'") == 1 && quire_object_is_deleted(faust));
    add_book(context, "Iphigenie", 90);
    set_value(stella, "pages", quire_value_integer(62));
    CHECK_OK(quire_context_delete(context, goethe, &error));
    roll_back(context);

    CHECK(strcmp(titles(scene.made.store), "Egmont,Faust,Stella") == 0);
    CHECK(strcmp(titles(scene.outside.store), "Egmont,Faust,Stella") == 0);
    CHECK(get_value(faust, "pages").as.integer == 300 && get_value(stella, "pages").as.integer == 60);
    CHECK(get_value(stella, "author").kind == QUIRE_VALUE_NIL && get_value(faust, "author").kind == QUIRE_VALUE_OBJECT_ID);
    CHECK(strcmp(get_text(egmont, "title"), "Egmont") == 0 && !quire_object_is_deleted(egmont));
    quire_value title = quire_value_nil();
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_get(clavigo, "title", QUIRE_NUL, &title, &error));
    quire_list *books = NULL;
    CHECK_OK(quire_object_get_objects(goethe, "books", QUIRE_NUL, &books, &error));
    CHECK(strcmp(joined(books, "title"), "Faust") == 0);
    quire_list_release(books);

    /* What comes after it is like any other change. */
    set_value(egmont, "pages", quire_value_integer(101));
    set_value(faust, "pages", quire_value_integer(302));
    save(context);
    CHECK(count(scene.outside.context, "Book", "pages IN {101, 302}") == 2);
    quire_object_release(clavigo);
    quire_object_release(goethe);
    quire_object_release(egmont);
    quire_object_release(stella);
    quire_object_release(faust);
    close_scene(scene);
}

static void lists_are_told_of_a_rollback_in_one_bracket(void) {
    fixture made = open_fixture();
    quire_object *stella = insert_book(made.context, "Stella", 60), *egmont = insert_book(made.context, "Egmont", 100);
    save(made.context);
    quire_fetch_request *request = new_request("Book", "pages < 200", "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    quire_results_delegate delegate = recorder();
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    begin(made.context);
    save_book(made.context, "Clavigo", 80);
    CHECK_OK(quire_context_delete(made.context, egmont, &error));
    set_value(stella, "pages", quire_value_integer(300));
    save(made.context);
    add_book(made.context, "Tasso", 90);
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK(quire_results_count(results) == 2);
    forget();
    roll_back(made.context);
    CHECK_TOLD("{was 2 -0.1 -0.0 +0.0 +0.1 is 2}");
    quire_fetch_request_release(request);
    quire_results_release(results);
    quire_object_release(egmont);
    quire_object_release(stella);
    close_fixture(made);
}

static void transactions_do_not_nest_and_begin_without_changes(void) {
    fixture made = open_fixture();
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_commit_transaction(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_rollback_transaction(made.context, &error));
    add_book(made.context, "Faust", 300);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_begin_transaction(made.context, &error));
    save(made.context);
    begin(made.context);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_begin_transaction(made.context, &error));
    save_book(made.context, "Stella", 60);
    commit(made.context);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_rollback_transaction(made.context, &error));
    CHECK(count(made.context, "Book", "TRUEPREDICATE") == 2);
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_begin_transaction(made.context, &error));
    close_fixture(made);
}

static void children_save_into_the_transaction_of_their_parent(void) {
    fixture made = open_fixture();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_begin_transaction(child, &error));
    begin(made.context);
    CHECK(quire_context_is_in_transaction(child));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_commit_transaction(child, &error));
    save_book(child, "Faust", 300);
    save(made.context);
    CHECK(count(child, "Book", "TRUEPREDICATE") == 1);
    roll_back(made.context);
    CHECK_OK(quire_context_merge(child, &error));
    CHECK(count(child, "Book", "TRUEPREDICATE") == 0 && count(made.context, "Book", "TRUEPREDICATE") == 0);
    quire_context_release(child);
    close_fixture(made);
}

static void a_save_that_fails_leaves_the_rest_of_the_transaction(void) {
    scene scene = open_scene(0);
    quire_context *context = scene.made.context;
    begin(context);
    quire_object *faust = insert_book(context, "Faust", 300);
    set_text(faust, "isbn", "1");
    save(context);
    quire_object *other = insert_book(context, "Faust II", 200);
    set_text(other, "isbn", "1");
    set_value(faust, "pages", quire_value_integer(301));
    CHECK_FAILS(QUIRE_CONSTRAINT, quire_context_save(context, &error));
    CHECK_FAILS(QUIRE_CONSTRAINT, quire_context_commit_transaction(context, &error));
    CHECK(quire_context_is_in_transaction(context) && quire_context_has_changes(context));
    set_text(other, "isbn", "2");
    commit(context);
    CHECK(strcmp(titles(scene.outside.store), "Faust,Faust II") == 0);
    CHECK(count(scene.outside.context, "Book", "pages == 301") == 1);
    quire_object_release(other);
    quire_object_release(faust);
    close_scene(scene);
}

/* Cancels the request when it is first told its progress. */
static bool cancel(void *data, uint64_t rows) {
    (void)rows;
    (*(int *)data)++;
    return false;
}

static void a_batch_request_that_is_cancelled_leaves_the_rest(void) {
    scene scene = open_scene(0);
    quire_context *context = scene.made.context;
    static const char *const keys[] = {"title"};
    enum { ROWS = 20000 };
    quire_value *values = calloc(ROWS, sizeof *values);
    const quire_value *const columns[] = {values};
    for (int i = 0; i < ROWS; i++) values[i] = quire_value_text("Tasso");
    begin(context);
    save_book(context, "Faust", 300);
    int calls = 0;
    quire_progress progress = QUIRE_PROGRESS_INIT;
    progress.user_data = &calls;
    progress.report = cancel;
    /* Shorter than any of this takes. */
    progress.interval_milliseconds = 1;
    quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
    options.progress = &progress;
    CHECK_FAILS(QUIRE_CANCELLED, quire_context_batch_insert(
        context, "Book", QUIRE_NUL, keys, columns, 1, ROWS, &options, NULL, NULL, &error));
    CHECK(calls == 1 && count(context, "Book", "TRUEPREDICATE") == 1);
    options.progress = NULL;
    CHECK_OK(quire_context_batch_insert(context, "Book", QUIRE_NUL, keys, columns, 1, ROWS, &options, NULL, NULL, &error));
    calls = 0;
    quire_fetch_request *request = new_request("Book", "title == 'Tasso'", NULL);
    CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
    CHECK_FAILS(QUIRE_CANCELLED, quire_context_batch_delete(context, request, NULL, NULL, NULL, &error));
    CHECK(calls == 1 && count(context, "Book", "TRUEPREDICATE") == ROWS + 1);
    CHECK(delete_books(context, "title == 'Tasso'") == ROWS);
    commit(context);
    CHECK(strcmp(titles(scene.outside.store), "Faust") == 0);
    quire_fetch_request_release(request);
    free(values);
    close_scene(scene);
}

static void releasing_the_context_rolls_back(void) {
    scene scene = open_scene(0);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(scene.made.store, &other, &error));
    begin(other);
    save_book(other, "Faust", 300);
    quire_context_release(other);
    CHECK(strcmp(titles(scene.made.store), "") == 0);
    save_book(scene.made.context, "Stella", 60);
    CHECK(strcmp(titles(scene.outside.store), "Stella") == 0);
    close_scene(scene);
}

static void closing_the_store_rolls_back(void) {
    scene scene = open_scene(0);
    begin(scene.made.context);
    save_book(scene.made.context, "Faust", 300);
    CHECK_OK(quire_store_close(scene.made.store, &error));
    CHECK(!quire_context_is_in_transaction(scene.made.context));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_commit_transaction(scene.made.context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_rollback_transaction(scene.made.context, &error));
    CHECK(strcmp(titles(scene.outside.store), "") == 0);
    close_scene(scene);
}

static void ids_of_what_was_rolled_back_are_not_given_again(void) {
    fixture made = open_fixture();
    int64_t highest = 0;
    for (int round = 0; round < 4; round++) {
        begin(made.context);
        for (int i = 0; i < 30; i++) {
            quire_object *book = insert_book(made.context, "Faust", 300);
            CHECK(quire_object_id(book) > highest);
            if (i == 29) highest = quire_object_id(book);
            quire_object_release(book);
            if (i % 10 == 0) save(made.context);
        }
        insert_row(made.context, "Stella");
        quire_list *list = fetch(made.context, "Book", "title == 'Stella'", NULL);
        int64_t id = 0;
        CHECK_OK(quire_list_ids(list, 0, 1, &id, &error));
        CHECK(id > highest);
        highest = id;
        quire_list_release(list);
        roll_back(made.context);
    }
    save_book(made.context, "Faust", 300);
    CHECK(count(made.context, "Book", "TRUEPREDICATE") == 1);
    close_fixture(made);
}

static void a_transaction_that_sqlite_had_to_end_can_only_be_rolled_back(void) {
    scene scene = open_scene(0);
    quire_context *context = scene.made.context, *other = NULL;
    quire_object *faust = insert_book(context, "Faust", 300);
    save(context);
    CHECK_OK(quire_context_create(scene.made.store, &other, &error));
    CHECK(count(other, "Book", "TRUEPREDICATE") == 1);

    begin(context);
    set_value(faust, "pages", quire_value_integer(301));
    save(context);
    /* The log cannot grow any more, as on a full disk. */
    struct rlimit before, none;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    none = before;
    none.rlim_cur = 1;
    CHECK(setrlimit(RLIMIT_FSIZE, &none) == 0);
    CHECK_FAILS(QUIRE_DATABASE, quire_context_commit_transaction(context, &error));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(quire_context_is_in_transaction(context));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_commit_transaction(context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_save(context, &error));
    const quire_value pages = quire_value_integer(302);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_set(faust, "pages", QUIRE_NUL, &pages, &error));
    /* It no longer stands in the way of others. */
    save_book(other, "Stella", 60);
    roll_back(context);
    CHECK(get_value(faust, "pages").as.integer == 300);
    set_value(faust, "pages", pages);
    save(context);
    CHECK(strcmp(titles(scene.outside.store), "Faust,Stella") == 0);
    CHECK(count(scene.outside.context, "Book", "pages == 302") == 1);
    quire_context_release(other);
    quire_object_release(faust);
    close_scene(scene);
}

static void a_store_for_reading_has_none(void) {
    scene scene = open_scene(0);
    fixture reader = {library_model(), NULL, NULL};
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    CHECK_OK(quire_store_open(scene.path, QUIRE_NUL, reader.model, &options, &reader.store, &error));
    CHECK_OK(quire_context_create(reader.store, &reader.context, &error));
    CHECK_FAILS(QUIRE_READ_ONLY, quire_context_begin_transaction(reader.context, &error));
    close_fixture(reader);
    close_scene(scene);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(what_was_saved_inside_is_in_the_file_with_the_commit);
    RUN(a_rollback_takes_back_what_was_saved_and_what_was_not);
    RUN(lists_are_told_of_a_rollback_in_one_bracket);
    RUN(transactions_do_not_nest_and_begin_without_changes);
    RUN(children_save_into_the_transaction_of_their_parent);
    RUN(a_save_that_fails_leaves_the_rest_of_the_transaction);
    RUN(a_batch_request_that_is_cancelled_leaves_the_rest);
    RUN(releasing_the_context_rolls_back);
    RUN(closing_the_store_rolls_back);
    RUN(ids_of_what_was_rolled_back_are_not_given_again);
    RUN(a_transaction_that_sqlite_had_to_end_can_only_be_rolled_back);
    RUN(a_store_for_reading_has_none);
    return RESULT();
}
