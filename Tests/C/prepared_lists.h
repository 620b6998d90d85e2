/* Many rows, and lists that a thread of the store works for. */
#ifndef QUIRE_PREPARED_LISTS_H_
#define QUIRE_PREPARED_LISTS_H_

#include "moments.h"

/* From 256 rows on a thread of the store works. */
enum { MANY = 300 };

static inline void insert_many(quire_context *context, int count, int pages) {
    static const char *const keys[] = {"title", "pages"};
    static quire_value titles[MANY], numbers[MANY];
    static char texts[MANY][24];
    const quire_value *const columns[] = {titles, numbers};
    CHECK(count <= MANY);
    for (int i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%d %06d", pages, i);
        titles[i] = quire_value_text(texts[i]);
        numbers[i] = quire_value_integer(pages);
    }
    CHECK_OK(quire_context_insert_rows(context, "Book", QUIRE_NUL, keys, columns, 2, (size_t)count, NULL, &error));
    save(context);
}

static inline int descriptor_of(quire_context *context) {
    int descriptor = -1;
    CHECK_OK(quire_context_descriptor(context, &descriptor, &error));
    return descriptor;
}

static inline bool is_readable(quire_context *context) {
    struct pollfd news = {descriptor_of(context), POLLIN, 0};
    return poll(&news, 1, 0) == 1;
}

/* It tells nothing. */
static inline quire_results *fetched(quire_context *context, const char *format) {
    quire_fetch_request *request = new_request("Book", format, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static inline void check_as_fetched(quire_results *results, const char *format) {
    const quire_context *context = quire_results_context(results);
    quire_list *list = fetch((quire_context *)context, "Book", format, "title");
    const int64_t count = (int64_t)quire_list_count(list);
    static int64_t shown[4 * MANY], fetched[4 * MANY];
    CHECK(quire_results_count(results) == count && count <= 4 * MANY);
    CHECK_OK(quire_list_ids(list, 0, count, fetched, &error));
    CHECK_OK(quire_results_ids(results, 0, count, shown, &error));
    CHECK(memcmp(shown, fetched, sizeof *shown * (size_t)count) == 0);
    quire_list_release(list);
}

#endif
