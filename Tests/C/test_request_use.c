/* Which options of a request have a meaning for what it is used for, and that the others are refused. */
#include "fixture.h"

/* b0 to b5, of two authors by turns, with 0 to 500 pages; the last is not saved. */
static fixture six_books(void) {
    fixture made = open_fixture();
    quire_object *authors[2];
    static const char *const names[] = {"Goethe", "Schiller"};
    for (size_t i = 0; i < 2; i++) {
        authors[i] = insert(made.context, "Author");
        set_text(authors[i], "name", names[i]);
    }
    for (int i = 0; i < 6; i++) {
        char title[16];
        snprintf(title, sizeof title, "b%d", i);
        quire_object *book = insert_book(made.context, title, 100 * i);
        set_value(book, "author", quire_value_object(authors[i % 2]));
        if (i == 4) save(made.context);
        quire_object_release(book);
    }
    for (size_t i = 0; i < 2; i++) quire_object_release(authors[i]);
    return made;
}

static int64_t fetched(quire_context *context, quire_fetch_request *request) {
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    const int64_t count = quire_list_count(list);
    quire_list_release(list);
    return count;
}

static int64_t counted(quire_context *context, quire_fetch_request *request) {
    int64_t count = -1;
    CHECK_OK(quire_context_count(context, request, &count, &error));
    return count;
}

static void a_limit_of_0_is_none_and_no_limit_is_all(void) {
    fixture made = six_books();
    for (int is_saved = 0; is_saved < 2; is_saved++) {
        static const struct { uint64_t limit, offset; int64_t count; } windows[] = {
            {QUIRE_NO_LIMIT, 0, 6}, {0, 0, 0}, {0, 2, 0}, {2, 0, 2}, {QUIRE_NO_LIMIT, 2, 4}, {INT64_MAX, 5, 1},
            {0, INT64_MAX, 0}, {QUIRE_NO_LIMIT, INT64_MAX, 0}};
        static const uint32_t types[] = {QUIRE_RESULT_OBJECTS, QUIRE_RESULT_IDS};
        for (size_t i = 0; i < sizeof windows / sizeof windows[0]; i++) {
            quire_fetch_request *request = new_request("Book", NULL, "title");
            CHECK_OK(quire_fetch_request_set_limit(request, windows[i].limit, &error));
            CHECK_OK(quire_fetch_request_set_offset(request, windows[i].offset, &error));
            for (size_t type = 0; type < 2; type++) {
                CHECK_OK(quire_fetch_request_set_result_type(request, types[type], &error));
                for (uint64_t batch_size = 0; batch_size < 3; batch_size += 2) {
                    CHECK_OK(quire_fetch_request_set_batch_size(request, batch_size, &error));
                    CHECK(fetched(made.context, request) == windows[i].count);
                    CHECK(fetched(made.context, request) == windows[i].count);
                }
                CHECK(counted(made.context, request) == windows[i].count);
            }
            quire_fetch_request_release(request);
        }
        /* Of rows of values the store is asked, which has the last book later. */
        quire_fetch_request *rows = new_request("Book", NULL, "title");
        CHECK_OK(quire_fetch_request_set_result_type(rows, QUIRE_RESULT_DICTIONARIES, &error));
        CHECK(fetched(made.context, rows) == 5 + is_saved && counted(made.context, rows) == 5 + is_saved);
        CHECK_OK(quire_fetch_request_set_limit(rows, 0, &error));
        CHECK(fetched(made.context, rows) == 0 && counted(made.context, rows) == 0);
        CHECK_OK(quire_fetch_request_set_limit(rows, QUIRE_NO_LIMIT, &error));
        CHECK(fetched(made.context, rows) == 5 + is_saved);
        quire_fetch_request_release(rows);
        save(made.context);
    }
    close_fixture(made);
}

static void a_live_list_of_none_stays_empty(void) {
    fixture made = six_books();
    static const char *const sections[] = {NULL, "title"};
    for (size_t i = 0; i < 2; i++) {
        for (uint64_t offset = 0; offset < 3; offset += 2) {
            quire_fetch_request *request = new_request("Book", NULL, "title");
            CHECK_OK(quire_fetch_request_set_limit(request, 0, &error));
            CHECK_OK(quire_fetch_request_set_offset(request, offset, &error));
            quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
            options.section_key_path = sections[i];
            options.queues_changes = true;
            quire_results *results = NULL;
            CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
            CHECK_OK(quire_results_fetch(results, &error));
            CHECK(quire_results_count(results) == 0 && quire_results_section_count(results) == (i == 0));
            quire_object *book = insert_book(made.context, "a", 1);
            CHECK_OK(quire_context_process(made.context, &error));
            CHECK_OK(quire_context_delete(made.context, book, &error));
            quire_object_release(book);
            CHECK_OK(quire_context_process(made.context, &error));
            quire_changes *changes = NULL;
            CHECK_OK(quire_results_next_changes(results, &changes, &error));
            CHECK(changes == NULL && quire_results_count(results) == 0);
            CHECK_OK(quire_fetch_request_set_limit(request, QUIRE_NO_LIMIT, &error));
            CHECK_OK(quire_results_set_request(results, request, sections[i], i ? QUIRE_NUL : 0, &error));
            CHECK(quire_results_count(results) == 6 - (int64_t)offset);
            quire_results_release(results);
            quire_fetch_request_release(request);
        }
    }
    close_fixture(made);
}

static void a_batch_request_of_none_changes_nothing(void) {
    fixture made = six_books();
    save(made.context);
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_limit(request, 0, &error));
    const char *const keys[] = {"pages"};
    const quire_value values[] = {quire_value_integer(7)};
    int64_t count = -1;
    CHECK_OK(quire_context_batch_update(made.context, request, keys, values, 1, NULL, &count, NULL, &error));
    CHECK(count == 0);
    count = -1;
    CHECK_OK(quire_context_batch_delete(made.context, request, NULL, &count, NULL, &error));
    CHECK(count == 0);
    CHECK_OK(quire_fetch_request_set_limit(request, QUIRE_NO_LIMIT, &error));
    CHECK(counted(made.context, request) == 6);
    quire_fetch_request_release(request);
    quire_list *list = fetch(made.context, "Book", "pages == 7", NULL);
    CHECK(quire_list_count(list) == 0);
    quire_list_release(list);
    close_fixture(made);
}

int main(void) {
    RUN(a_limit_of_0_is_none_and_no_limit_is_all);
    RUN(a_live_list_of_none_stays_empty);
    RUN(a_batch_request_of_none_changes_nothing);
    return RESULT();
}
