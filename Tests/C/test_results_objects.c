/* Windows of objects of lists, and in how many statements rows are read. */
#include "fixture.h"

enum { BOOKS = 200 };

static int statements;

static void count_statement(void *data, const quire_log_entry *entry) {
    (void)data;
    /* The first word of those that begin and end a transaction is another one. */
    if (strncmp(entry->sql.data, "SELECT", 6) == 0 || strncmp(entry->sql.data, "WITH", 4) == 0) statements++;
}

/* How many statements have read since the last time. */
static int read_statements(void) {
    const int count = statements;
    statements = 0;
    return count;
}

/* Books "000" to "199", each with an author of its own name. */
static fixture open_library(void) {
    fixture made = open_fixture();
    char title[8];
    for (int i = 0; i < BOOKS; i++) {
        snprintf(title, sizeof title, "%03d", i);
        quire_object *book = insert_book(made.context, title, i), *author = insert(made.context, "Author");
        set_text(author, "name", title);
        set_value(book, "author", quire_value_object(author));
        quire_object_release(book);
        quire_object_release(author);
    }
    save(made.context);
    CHECK_OK(quire_context_reset(made.context, &error));
    quire_log log = QUIRE_LOG_INIT;
    log.statement = count_statement;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    return made;
}

static void close_library(fixture made) {
    CHECK_OK(quire_store_set_log(made.store, NULL, &error));
    close_fixture(made);
}

static quire_results *list_books(quire_context *context, bool prefetches) {
    quire_fetch_request *request = new_request("Book", NULL, "title");
    if (prefetches) CHECK_OK(quire_fetch_request_add_prefetch(request, "author", QUIRE_NUL, &error));
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void check_authors(quire_list *list, int first) {
    char title[8];
    for (int64_t i = 0; i < quire_list_count(list); i++) {
        quire_object *book = NULL, *author = NULL;
        CHECK_OK(quire_list_object(list, i, &book, &error));
        CHECK_OK(quire_object_get_object(book, "author", QUIRE_NUL, &author, &error));
        snprintf(title, sizeof title, "%03d", first + (int)i);
        CHECK(strcmp(get_text(book, "title"), title) == 0 && strcmp(get_text(author, "name"), title) == 0);
        quire_object_release(author);
        quire_object_release(book);
    }
}

static void a_window_is_read_in_a_statement_for_each_step(void) {
    fixture made = open_library();
    quire_results *results = list_books(made.context, true);
    read_statements();
    quire_list *list = NULL;
    CHECK_OK(quire_results_objects(results, 0, BOOKS, &list, &error));
    CHECK(quire_list_count(list) == BOOKS && read_statements() == 2);
    check_authors(list, 0);
    CHECK(read_statements() == 0);
    /* What the list holds need not be read again. */
    quire_list *part = NULL;
    CHECK_OK(quire_results_objects(results, 50, 20, &part, &error));
    CHECK(quire_list_count(part) == 20 && read_statements() == 0);
    check_authors(part, 50);
    quire_list_release(part);
    quire_list_release(list);
    CHECK_OK(quire_results_objects(results, BOOKS, 0, &list, &error));
    CHECK(quire_list_count(list) == 0 && read_statements() == 0);
    quire_list_release(list);
    quire_results_release(results);
    close_library(made);
}

static void a_window_has_pending_objects_and_must_be_there(void) {
    fixture made = open_library();
    quire_results *results = list_books(made.context, true);
    quire_object *book = insert_book(made.context, "0005", 1);
    CHECK_OK(quire_context_process(made.context, &error));
    quire_list *list = NULL;
    CHECK_OK(quire_results_objects(results, 0, 3, &list, &error));
    quire_object *second = NULL;
    CHECK_OK(quire_list_object(list, 1, &second, &error));
    CHECK(strcmp(get_text(second, "title"), "0005") == 0);
    quire_object_release(second);
    quire_list_release(list);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_objects(results, 0, BOOKS + 2, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_objects(results, -1, 1, &list, &error));
    CHECK(list == NULL);
    quire_object_release(book);
    quire_results_release(results);

    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_objects(results, 0, 0, &list, &error));
    quire_fetch_request_release(request);
    quire_results_release(results);
    close_library(made);
}

/* Looks up the objects of rows of a page, and returns how many statements that has taken. */
static int look_up(quire_context *context, const int64_t *ids, int first, int step, int count) {
    quire_object *objects[BOOKS];
    read_statements();
    for (int i = 0; i < count; i++) {
        CHECK_OK(quire_context_object(context, "Book", QUIRE_NUL, ids[first + i * step], &objects[i], &error));
        get_text(objects[i], "title");
    }
    for (int i = 0; i < count; i++) quire_object_release(objects[i]);
    return read_statements();
}

static void objects_of_a_page_are_read_ahead_when_they_are_asked_for_in_turn(void) {
    for (int way = 0; way < 3; way++) {
        fixture made = open_library();
        quire_results *results = list_books(made.context, false);
        int64_t ids[BOOKS];
        const char *keys[] = {"title"};
        quire_page *page = NULL;
        CHECK_OK(quire_results_ids(results, 0, BOOKS, ids, &error));
        CHECK_OK(quire_results_page(results, 0, BOOKS, keys, 1, 0, &page, &error));
        if (way == 0) CHECK(look_up(made.context, ids, 0, 1, BOOKS) == 5);
        if (way == 1) CHECK(look_up(made.context, ids, BOOKS - 1, -1, BOOKS) == 5);
        /* At other places each row is read alone. */
        if (way == 2) CHECK(look_up(made.context, ids, 0, 7, BOOKS / 7) == BOOKS / 7);
        quire_page_release(page);
        quire_results_release(results);
        close_library(made);
    }
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_window_is_read_in_a_statement_for_each_step);
    RUN(a_window_has_pending_objects_and_must_be_there);
    RUN(objects_of_a_page_are_read_ahead_when_they_are_asked_for_in_turn);
    return RESULT();
}
