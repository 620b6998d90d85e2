/* A fetch as a page has the values that the page of the fetched list has, in every case. */
#include "fixture.h"

/* The same values in the same layout. */
static void check_equal(const quire_page *page, const quire_page *expected) {
    CHECK(quire_page_row_count(page) == quire_page_row_count(expected));
    CHECK(quire_page_column_count(page) == quire_page_column_count(expected));
    for (int64_t i = 0; i < quire_page_column_count(expected); i++) {
        const quire_column *a = quire_page_column(page, i), *b = quire_page_column(expected, i);
        CHECK(a != NULL && b != NULL && quire_page_column(page, i) == a);
        CHECK(strcmp(a->name, b->name) == 0 && a->type == b->type && a->length == b->length);
        CHECK(a->nil_count == b->nil_count && (a->validity == NULL) == (b->validity == NULL));
        if (b->validity)
            for (int64_t row = 0; row < b->length; row++)
                CHECK((a->validity[row / 8] >> (row % 8) & 1) == (b->validity[row / 8] >> (row % 8) & 1));
        CHECK((a->offsets == NULL) == (b->offsets == NULL));
        if (b->offsets) CHECK(memcmp(a->offsets, b->offsets, (size_t)(b->length + 1) * sizeof *b->offsets) == 0);
        CHECK(a->values_size == b->values_size && memcmp(a->values, b->values, (size_t)b->values_size) == 0);
    }
}

static quire_page *fetch_page(
    quire_context *context, const quire_fetch_request *request, const char *const *keys, size_t count, uint32_t flags) {
    quire_page *page = NULL;
    CHECK_OK(quire_context_fetch_page(context, request, keys, count, flags, &page, &error));
    CHECK(page != NULL);
    return page;
}

/* Compares both ways, with offsets and without, and returns the number of rows. */
static int64_t check_alike(quire_context *context, const quire_fetch_request *request, const char *const *keys, size_t count) {
    int64_t rows = -1;
    for (uint32_t flags = 0; flags <= QUIRE_PAGE_NUL_SEPARATED; flags++) {
        quire_list *list = NULL;
        quire_page *expected = NULL;
        CHECK_OK(quire_context_fetch(context, request, &list, &error));
        CHECK_OK(quire_list_page(list, 0, quire_list_count(list), keys, count, flags, &expected, &error));
        quire_page *page = fetch_page(context, request, keys, count, flags);
        check_equal(page, expected);
        rows = quire_page_row_count(page);
        quire_page_release(page);
        quire_page_release(expected);
        quire_list_release(list);
    }
    return rows;
}

static quire_fetch_request *ids_of(const char *entity, const char *format, const char *sort) {
    quire_fetch_request *request = new_request(entity, format, sort);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    return request;
}

/* Ten books, of which each third is a novel; some have no pages. */
static void insert_books(quire_context *context) {
    quire_object *author = insert(context, "Author");
    set_text(author, "name", "Goethe");
    for (int i = 0; i < 10; i++) {
        char title[16];
        snprintf(title, sizeof title, "book %d", (i * 7) % 10);
        quire_object *book = insert(context, i % 3 ? "Book" : "Novel");
        set_text(book, "title", title);
        set_value(book, "pages", i % 4 ? quire_value_integer(10 * i) : quire_value_nil());
        if (i % 2) set_value(book, "author", quire_value_object(author));
        quire_object_release(book);
    }
    save(context);
    quire_object_release(author);
}

static const char *const KEYS[] = {"title", "pages", "author"};

/* Every kind of request, in a context in any state. */
static void check_requests(quire_context *context) {
    static const char *const entities[] = {"Book", "Novel"}, *const sorts[] = {NULL, "title", "pages", "author.name"};
    static const char *const formats[] = {NULL, "pages > 20", "author.name BEGINSWITH 'G'", "title == 'none'"};
    static const char *const related[] = {"author.name", "title"};
    /* Some of them, where everything takes long. */
    const int step = getenv("QUIRE_SLOW") ? 11 : 1;
    int turn = 0;
    for (size_t e = 0; e < 2; e++)
        for (size_t s = 0; s < 4; s++)
            for (size_t f = 0; f < 4; f++)
                for (int window = 0; window < 3; window++)
                    for (int variant = 0; variant < 4; variant++) {
                        if (turn++ % step) continue;
                        quire_fetch_request *request = new_request(entities[e], formats[f], sorts[s]);
                        if (variant != 3) CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
                        if (window) CHECK_OK(quire_fetch_request_set_limit(request, window == 1 ? 4 : 0, &error));
                        if (window == 1) CHECK_OK(quire_fetch_request_set_offset(request, 1, &error));
                        if (variant == 1) CHECK_OK(quire_fetch_request_set_includes_subentities(request, false, &error));
                        if (variant == 2)
                            CHECK_OK(quire_fetch_request_set_includes_pending_changes(request, false, &error));
                        check_alike(context, request, KEYS, 3);
                        check_alike(context, request, NULL, 0);
                        check_alike(context, request, related, 2);
                        quire_fetch_request_release(request);
                    }
}

static void saved_rows(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    check_requests(made.context);
    close_fixture(made);
}

static void rows_of_objects_that_are_there(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    quire_list *list = fetch(made.context, "Book", NULL, "title");
    quire_object *object = NULL;
    CHECK_OK(quire_list_object(list, 3, &object, &error));
    check_requests(made.context);
    quire_object_release(object);
    quire_list_release(list);
    close_fixture(made);
}

static void pending_changes_are_included(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    quire_list *list = fetch(made.context, "Book", NULL, "title");
    quire_object *changed = NULL, *deleted = NULL;
    CHECK_OK(quire_list_object(list, 3, &changed, &error));
    CHECK_OK(quire_list_object(list, 5, &deleted, &error));
    set_value(changed, "pages", quire_value_integer(999));
    set_text(changed, "title", "a first one");
    CHECK_OK(quire_context_delete(made.context, deleted, &error));
    quire_object *inserted = insert_book(made.context, "book 4b", 44);
    check_requests(made.context);

    quire_fetch_request *request = ids_of("Book", NULL, "title");
    quire_page *page = fetch_page(made.context, request, KEYS, 3, 0);
    CHECK(quire_page_row_count(page) == 10);
    CHECK(((const int64_t *)quire_page_column(page, 1)->values)[0] == 999);
    quire_page_release(page);

    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    check_requests(child);
    quire_context_release(child);
    quire_fetch_request_release(request);
    quire_object_release(inserted);
    quire_object_release(deleted);
    quire_object_release(changed);
    quire_list_release(list);
    close_fixture(made);
}

/* How many rows a page of the books of 12345 pages has, and how many of those show no pages. */
static void check_page_of_changed(quire_context *context, int64_t rows, int64_t nils) {
    quire_fetch_request *request = ids_of("Book", "pages == 12345", NULL);
    quire_page *page = fetch_page(context, request, KEYS, 3, 0);
    CHECK(quire_page_row_count(page) == rows && quire_page_column(page, 1)->nil_count == nils);
    quire_page_release(page);
    quire_fetch_request_release(request);
}

/*
 * A context shows an object as it was read, until it merges what the writer has changed. A reader on the store finds no
 * row of later. A child finds rows as its parent holds them, with the values that its own objects show.
 */
static void objects_keep_what_they_showed(void) {
    for (int is_child = 0; is_child < 2; is_child++) {
        fixture made = open_fixture();
        quire_context *reader = NULL;
        insert_books(made.context);
        if (is_child) CHECK_OK(quire_context_create_child(made.context, &reader, &error));
        else CHECK_OK(quire_context_create(made.store, &reader, &error));
        quire_list *theirs = fetch(made.context, "Book", NULL, "title"), *mine = fetch(reader, "Book", NULL, "title");
        quire_object *object = NULL, *changed = NULL;
        CHECK_OK(quire_list_object(mine, 0, &object, &error));
        CHECK_OK(quire_list_object(theirs, 0, &changed, &error));
        CHECK(get_value(object, "pages").kind == QUIRE_VALUE_NIL);
        set_value(changed, "pages", quire_value_integer(12345));
        if (!is_child) save(made.context);
        check_requests(made.context);
        check_requests(reader);
        check_page_of_changed(reader, is_child, is_child);
        CHECK(get_value(object, "pages").kind == QUIRE_VALUE_NIL);
        CHECK_OK(quire_context_merge(reader, &error));
        check_page_of_changed(reader, 1, 0);
        quire_object_release(changed);
        quire_object_release(object);
        quire_list_release(mine);
        quire_list_release(theirs);
        quire_context_release(reader);
        close_fixture(made);
    }
}

static void rows_of_values_have_columns_of_their_own(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_COUNT, &error));
    CHECK(check_alike(made.context, request, NULL, 0) == 1);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "author.name", QUIRE_NUL, &error));
    CHECK(check_alike(made.context, request, NULL, 0) == 10);
    quire_page *page = (quire_page *)&made;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, KEYS, 3, 0, &page, &error));
    CHECK(page == NULL);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void objects_are_refreshed_when_asked(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_refreshes_refetched_objects(request, true, &error));
    CHECK(check_alike(made.context, request, KEYS, 3) == 10);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    quire_page *page = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, KEYS, 3, 0, &page, &error));
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void every_type_is_read(void) {
    fixture made = open_fixture();
    static const char text[] = "with\0NUL";
    for (int i = 0; i < 3; i++) {
        quire_object *object = insert(made.context, "Everything");
        quire_object_release(object);
    }
    save(made.context);
    quire_fetch_request *request = ids_of("Everything", NULL, NULL);
    CHECK(check_alike(made.context, request, NULL, 0) == 3);
    quire_fetch_request_release(request);

    quire_object *book = insert_book(made.context, "Faust", 300);
    const quire_value nul = {.kind = QUIRE_VALUE_TEXT, .size = sizeof text - 1, .as.text = text};
    set_value(book, "isbn", nul);
    quire_object_release(book);
    save(made.context);
    request = ids_of("Book", NULL, NULL);
    check_alike(made.context, request, NULL, 0);
    const char *const keys[] = {"isbn", "title"};
    quire_page *page = fetch_page(made.context, request, keys, 2, QUIRE_PAGE_NUL_SEPARATED);
    CHECK(quire_page_column(page, 0)->offsets != NULL && quire_page_column(page, 1)->offsets == NULL);
    quire_page_release(page);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static bool stop_soon(void *user_data, uint64_t rows) {
    *(uint64_t *)user_data = rows;
    return false;
}

/* The rows are read in the call that finds them, and so the reading ends too. */
static void reading_is_cancelled(void) {
    enum { ROWS = 50000 };
    fixture made = open_fixture();
    static quire_value values[ROWS];
    for (size_t i = 0; i < ROWS; i++) values[i] = quire_value_text("a title");
    const char *const keys[] = {"title"};
    const quire_value *const columns[] = {values};
    CHECK_OK(quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 1, ROWS, NULL, &error));
    save(made.context);
    for (int sorted = 0; sorted < 2; sorted++) {
        uint64_t seen = 0;
        quire_fetch_request *request = ids_of("Book", NULL, sorted ? "pages" : NULL);
        quire_page *page = NULL;
        quire_progress progress = QUIRE_PROGRESS_INIT;
        progress.report = stop_soon;
        progress.interval_milliseconds = 1;
        progress.user_data = &seen;
        CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
        CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch_page(made.context, request, keys, 1, 0, &page, &error));
        CHECK(page == NULL && seen < ROWS);
        CHECK_OK(quire_fetch_request_set_progress(request, NULL, &error));
        page = fetch_page(made.context, request, keys, 1, 0);
        CHECK(quire_page_row_count(page) == ROWS);
        quire_page_release(page);
        quire_fetch_request_release(request);
    }
    close_fixture(made);
}

static void mistakes_are_refused(void) {
    fixture made = open_fixture();
    insert_books(made.context);
    const char *const unknown[] = {"nothing"}, *const many[] = {"tags"}, *const none[] = {""}, *const foreign[] = {"genre"};
    quire_fetch_request *request = ids_of("Book", NULL, NULL), *odd = ids_of("Nothing", NULL, NULL);
    quire_page *page = (quire_page *)&made;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, unknown, 1, 0, &page, &error));
    CHECK(page == NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, many, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, none, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, foreign, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, NULL, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, request, NULL, 0, 2, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch_page(made.context, odd, NULL, 0, 0, &page, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_fetch_page(made.context, request, NULL, 0, 0, &page, &error));
    CHECK(page == NULL);
    quire_fetch_request_release(odd);
    quire_fetch_request_release(request);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(saved_rows);
    RUN(rows_of_objects_that_are_there);
    RUN(pending_changes_are_included);
    RUN(objects_keep_what_they_showed);
    RUN(rows_of_values_have_columns_of_their_own);
    RUN(objects_are_refreshed_when_asked);
    RUN(every_type_is_read);
    RUN(reading_is_cancelled);
    RUN(mistakes_are_refused);
    return RESULT();
}
