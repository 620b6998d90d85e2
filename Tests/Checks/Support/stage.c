#include "stage.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

report *told;
quire_error *error;

void differ(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(told->sentence, sizeof told->sentence, format, arguments);
    va_end(arguments);
    _exit(1);
}

void succeed(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    differ("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
}

/* --- The model. */

static void add(quire_model *model, const char *entity, const char *name, quire_attribute_type type, const char *derivation) {
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.is_searchable = strcmp(name, "title") == 0;
    options.allows_external_storage = type == QUIRE_TYPE_BINARY;
    options.derivation = derivation;
    OK(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, &options, &error));
}

static void relate(
    quire_model *model, const char *entity, const char *name, const char *destination, const char *inverse, bool is_to_many) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.is_to_many = is_to_many;
    options.inverse = inverse;
    options.delete_rule = QUIRE_DELETE_NULLIFY;
    OK(quire_model_add_relationship(model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options, &error));
}

static quire_model *library(void) {
    quire_model *model = quire_model_create();
    OK(quire_model_add_entity(model, "Author", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    add(model, "Author", "name", QUIRE_TYPE_STRING, NULL);
    add(model, "Book", "title", QUIRE_TYPE_STRING, NULL);
    add(model, "Book", "pages", QUIRE_TYPE_INTEGER_32, NULL);
    add(model, "Book", "image", QUIRE_TYPE_BINARY, NULL);
    relate(model, "Author", "books", "Book", "author", true);
    relate(model, "Book", "author", "Author", "books", false);
    add(model, "Author", "bookCount", QUIRE_TYPE_INTEGER_32, "books.@count");
    add(model, "Author", "pageSum", QUIRE_TYPE_INTEGER_32, "books.pages.@sum");
    add(model, "Book", "capitals", QUIRE_TYPE_STRING, "uppercase:(title)");
    return model;
}

void set_stage(stage *stage, const char *folder, bool is_relaxed) {
    memset(stage, 0, sizeof *stage);
    snprintf(stage->folder, sizeof stage->folder, "%s", folder);
    snprintf(stage->path, sizeof stage->path, "%s/library.sqlite", folder);
    snprintf(stage->copy_path, sizeof stage->copy_path, "%s/copy.sqlite", folder);
    stage->is_relaxed = is_relaxed;
}

quire_status open_store(stage *stage) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = stage->is_relaxed;
    if (stage->is_xml) options.type = QUIRE_STORE_XML;
    if (!stage->model) stage->model = library();
    return quire_store_open(stage->path, QUIRE_NUL, stage->model, &options, &stage->store, &error);
}

quire_status make_list(stage *stage, const char *cache_name, quire_results **out_list) {
    quire_fetch_request *request = NULL;
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "author.name";
    options.cache_name = cache_name;
    OK(quire_fetch_request_create("Book", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "author.name", QUIRE_NUL, false, &error));
    OK(quire_fetch_request_add_sort(request, "title", QUIRE_NUL, false, &error));
    const quire_status status = quire_results_create(stage->context, request, &options, out_list, &error);
    quire_fetch_request_release(request);
    return status == QUIRE_OK ? quire_results_fetch(*out_list, &error) : status;
}

void open_stage(stage *stage) {
    OK(open_store(stage));
    OK(quire_context_create(stage->store, &stage->context, &error));
    OK(make_list(stage, NULL, &stage->list));
}

void close_stage(stage *stage) {
    quire_results_release(stage->list);
    quire_results_release(stage->cached);
    quire_context_release(stage->context);
    quire_context_release(stage->other);
    if (stage->store) OK(quire_store_close(stage->store, &error));
    quire_store_release(stage->store);
    stage->store = NULL;
    stage->context = stage->other = NULL;
    stage->list = stage->cached = NULL;
}

/* --- Books. */

enum { IMAGE_SIZE = 103000 };

/* Data that any other number has otherwise; 0 for none. */
static quire_value image_of(int image) {
    static uint8_t bytes[IMAGE_SIZE];
    if (!image) return quire_value_nil();
    for (int i = 0; i < IMAGE_SIZE; i++) bytes[i] = (uint8_t)(i * 31 + image * 7 + i / 251);
    return quire_value_data(bytes, IMAGE_SIZE);
}

void set_image(quire_object *book, int image) {
    const quire_value value = image_of(image);
    OK(quire_object_set(book, "image", QUIRE_NUL, &value, &error));
}

void set_pages(quire_object *book, int pages) {
    const quire_value value = quire_value_integer(pages);
    OK(quire_object_set(book, "pages", QUIRE_NUL, &value, &error));
}

static quire_object *find(stage *stage, const char *entity, const char *key, const char *text) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    quire_list *list = NULL;
    quire_object *found = NULL;
    char format[100];
    snprintf(format, sizeof format, "%s == '%s'", key, text);
    OK(quire_fetch_request_create(entity, QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_context_fetch(stage->context, request, &list, &error));
    if (quire_list_count(list) != 1) differ("there are %d objects with %s", (int)quire_list_count(list), format);
    OK(quire_list_object(list, 0, &found, &error));
    quire_list_release(list);
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return found;
}

quire_object *find_book(stage *stage, const char *title) { return find(stage, "Book", "title", title); }

quire_object *insert_book(stage *stage, const char *title, int pages, int image, const char *author) {
    quire_object *book = NULL;
    const quire_value text = quire_value_text(title);
    OK(quire_context_insert(stage->context, "Book", QUIRE_NUL, &book, &error));
    OK(quire_object_set(book, "title", QUIRE_NUL, &text, &error));
    set_pages(book, pages);
    if (image) set_image(book, image);
    if (author) {
        quire_object *writer = find(stage, "Author", "name", author);
        const quire_value value = quire_value_object(writer);
        OK(quire_object_set(book, "author", QUIRE_NUL, &value, &error));
        quire_object_release(writer);
    }
    return book;
}

void furnish_library(stage *stage) {
    static const char *const names[] = {"Ada", "Ben", "Cleo", "Dora"};
    static const char *const words[] = {"river", "stone", "glass"};
    open_stage(stage);
    for (int i = 0; i < COUNT_OF(names); i++) {
        quire_object *author = NULL;
        const quire_value name = quire_value_text(names[i]);
        OK(quire_context_insert(stage->context, "Author", QUIRE_NUL, &author, &error));
        OK(quire_object_set(author, "name", QUIRE_NUL, &name, &error));
        quire_object_release(author);
    }
    for (int i = 0; i < 12; i++) {
        char title[40];
        snprintf(title, sizeof title, "book %02d of %s", i, words[i % 3]);
        quire_object_release(insert_book(stage, title, 100 + i, i % 4 == 0 ? i + 1 : 0, i == 11 ? NULL : names[i % 4]));
    }
    OK(quire_context_save(stage->context, &error));
    close_stage(stage);
}

/* --- Lists. */

void check_list(stage *stage, quire_results *list) {
    quire_results *fresh = NULL;
    int64_t shown[100], expected[100];
    OK(make_list(stage, NULL, &fresh));
    const int64_t count = quire_results_count(fresh), sections = quire_results_section_count(fresh);
    if (count > COUNT_OF(shown)) differ("a list of %lld rows", (long long)count);
    if (count != quire_results_count(list) || sections != quire_results_section_count(list))
        differ("a list has %lld rows in %lld sections, fetched afresh %lld in %lld", (long long)quire_results_count(list),
            (long long)quire_results_section_count(list), (long long)count, (long long)sections);
    OK(quire_results_ids(list, 0, count, shown, &error));
    OK(quire_results_ids(fresh, 0, count, expected, &error));
    for (int64_t i = 0; i < count; i++)
        if (shown[i] != expected[i]) differ("row %lld of a list is another one when it is fetched afresh", (long long)i);
    quire_results_release(fresh);
}
