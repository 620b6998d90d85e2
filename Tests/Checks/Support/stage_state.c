/* What a store holds, as text. */
#include "stage.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct page {
    char *out;
    size_t used;
} page;

static void say(page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(page *page, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(page->out + page->used, STATE_SIZE - page->used, format, arguments);
    va_end(arguments);
    page->used += (size_t)size;
    if (page->used >= STATE_SIZE) differ("a state is longer than %d bytes", STATE_SIZE);
}

static quire_list *sorted(quire_context *context, const char *entity, const char *key) {
    quire_fetch_request *request = NULL;
    quire_list *list = NULL;
    OK(quire_fetch_request_create(entity, QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, key, QUIRE_NUL, false, &error));
    OK(quire_context_fetch(context, request, &list, &error));
    quire_fetch_request_release(request);
    return list;
}

static quire_value get(quire_object *object, const char *key) {
    quire_value value = quire_value_nil();
    OK(quire_object_get(object, key, QUIRE_NUL, &value, &error));
    return value;
}

static uint64_t digest(quire_value data) {
    uint64_t sum = 1469598103934665603u;
    for (uint32_t i = 0; i < data.size; i++) sum = (sum ^ data.as.data[i]) * 1099511628211u;
    return sum;
}

static int64_t count_found(quire_context *context, const char *word) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    int64_t count = -1;
    char format[80];
    snprintf(format, sizeof format, "title CONTAINS '%s'", word);
    OK(quire_fetch_request_create("Book", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_context_count(context, request, &count, &error));
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return count;
}

static const char *const words[] = {"river", "stone", "glass", "cloud"};

/* Writes the books, and what derived attributes and the text index must hold by them. */
static void say_books(page *page, quire_context *context, bool has_pending, int64_t *found) {
    quire_list *books = sorted(context, "Book", "title");
    say(page, "%lld books\n", (long long)quire_list_count(books));
    for (int64_t i = 0; i < quire_list_count(books); i++) {
        quire_object *book = NULL, *author = NULL;
        OK(quire_list_object(books, i, &book, &error));
        const quire_value text = get(book, "title");
        const char *title = text.kind == QUIRE_VALUE_TEXT ? text.as.text : "nil";
        say(page, "%s, %lld pages", title, (long long)get(book, "pages").as.integer);
        for (int k = 0; k < COUNT_OF(words); k++) found[k] += strstr(title, words[k]) != NULL;
        if (!has_pending) {
            const quire_value capitals = get(book, "capitals");
            const char *upper = capitals.kind == QUIRE_VALUE_TEXT ? capitals.as.text : "nil";
            size_t same = 0;
            while (title[same] && upper[same] == toupper((unsigned char)title[same])) same++;
            if (title[same] || upper[same]) differ("the capitals of '%s' are '%s'", title, upper);
        }
        const quire_value image = get(book, "image");
        if (image.kind == QUIRE_VALUE_DATA) say(page, ", image %u %llx", image.size, (unsigned long long)digest(image));
        OK(quire_object_get_object(book, "author", QUIRE_NUL, &author, &error));
        say(page, " by %s\n", author ? get(author, "name").as.text : "none");
        quire_object_release(author);
        quire_object_release(book);
    }
    quire_list_release(books);
}

static void say_authors(page *page, quire_context *context, bool has_pending) {
    quire_list *authors = sorted(context, "Author", "name");
    for (int64_t i = 0; i < quire_list_count(authors); i++) {
        quire_object *author = NULL;
        quire_list *books = NULL;
        OK(quire_list_object(authors, i, &author, &error));
        OK(quire_object_get_objects(author, "books", QUIRE_NUL, &books, &error));
        const int64_t count = quire_list_count(books);
        int64_t pages = 0;
        for (int64_t k = 0; k < count; k++) {
            quire_object *book = NULL;
            OK(quire_list_object(books, k, &book, &error));
            pages += get(book, "pages").as.integer;
            quire_object_release(book);
        }
        const char *name = get(author, "name").as.text;
        const int64_t derived = get(author, "bookCount").as.integer, sum = get(author, "pageSum").as.integer;
        if (!has_pending && (derived != count || sum != pages))
            differ("%s has %lld books of %lld pages, derived are %lld of %lld", name, (long long)count, (long long)pages,
                (long long)derived, (long long)sum);
        say(page, "%s: %lld books\n", name, (long long)count);
        quire_list_release(books);
        quire_object_release(author);
    }
    quire_list_release(authors);
}

void read_state(quire_context *context, bool has_pending, char *out) {
    page page = {out, 0};
    int64_t found[COUNT_OF(words)] = {0};
    say_books(&page, context, has_pending, found);
    say_authors(&page, context, has_pending);
    for (int k = 0; k < COUNT_OF(words); k++) {
        const int64_t count = count_found(context, words[k]);
        if (count != found[k])
            differ("%lld books are found by '%s', and %lld have it", (long long)count, words[k], (long long)found[k]);
    }
}

void read_stored_state(stage *stage, char *out) {
    quire_context *context = NULL;
    OK(quire_context_create(stage->store, &context, &error));
    read_state(context, false, out);
    quire_context_release(context);
}
