/*
 * A playground for predicates: type a condition on books, and see what it finds, by which SQL, or what is wrong with it.
 *
 *     cc predicates.c $(pkg-config --cflags --libs quire) -o predicates
 *     ./predicates 'pages > 300 AND author.born < 1850'
 *     ./predicates <conditions.txt
 *
 * Without arguments it reads conditions from its input, one in each line. Books have title, pages, year and author; an
 * author has name, born and books.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <quire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static quire_error *error; /* of the call that failed last */

static bool ok(quire_status status) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "predicates: %s\n", quire_error_message(error).data);
    quire_error_release(error);
    error = NULL;
    return false;
}

/* ---- The library of books ---- */

static bool add_attribute(quire_model *model, const char *entity, const char *name, uint32_t type) {
    return ok(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, NULL, &error));
}

static bool add_relationship(quire_model *model, const char *entity, const char *name, const char *destination,
                             bool is_to_many, const char *inverse) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_to_many = options.is_optional = is_to_many;
    options.inverse = inverse;
    return ok(quire_model_add_relationship(model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options,
                                           &error));
}

static bool fill_model(quire_model *model) {
    return ok(quire_model_add_entity(model, "Author", QUIRE_NUL, NULL, &error))
        && ok(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error))
        && add_attribute(model, "Author", "name", QUIRE_TYPE_STRING)
        && add_attribute(model, "Author", "born", QUIRE_TYPE_INTEGER_32)
        && add_attribute(model, "Book", "title", QUIRE_TYPE_STRING)
        && add_attribute(model, "Book", "pages", QUIRE_TYPE_INTEGER_32)
        && add_attribute(model, "Book", "year", QUIRE_TYPE_INTEGER_32)
        && add_relationship(model, "Author", "books", "Book", true, "author")
        && add_relationship(model, "Book", "author", "Author", false, "books");
}

static bool add_book(quire_context *context, const char *title, int pages, int year, const char *name, int born) {
    quire_object *author = NULL, *book = NULL;
    const char *keys[] = {"title", "pages", "year", "author"};
    const quire_value sought = quire_value_text(name), birth = quire_value_integer(born);
    bool is_added = ok(quire_context_find_or_insert(context, "Author", QUIRE_NUL, "name", QUIRE_NUL, &sought, &author,
                                                    NULL, &error))
                 && ok(quire_object_set(author, "born", QUIRE_NUL, &birth, &error))
                 && ok(quire_context_insert(context, "Book", QUIRE_NUL, &book, &error));
    const quire_value values[] = {quire_value_text(title), quire_value_integer(pages), quire_value_integer(year),
                                  quire_value_object(author)};
    is_added = is_added && ok(quire_object_set_values(book, keys, values, 4, &error));
    quire_object_release(book);
    quire_object_release(author);
    return is_added;
}

static bool add_books(quire_context *context) {
    return add_book(context, "Middlemarch", 880, 1871, "George Eliot", 1819)
        && add_book(context, "Silas Marner", 240, 1861, "George Eliot", 1819)
        && add_book(context, "Orlando", 336, 1928, "Virginia Woolf", 1882)
        && add_book(context, "The Waves", 324, 1931, "Virginia Woolf", 1882)
        && add_book(context, "Émile, or On Education", 530, 1762, "Jean-Jacques Rousseau", 1712)
        && add_book(context, "Frankenstein", 280, 1818, "Mary Shelley", 1797)
        && ok(quire_context_save(context, &error));
}

/* ---- A predicate ---- */

/* The lines of an explanation that begin with one of these words: the SQL, and what no index serves. */
static void print_sql(const char *explanation) {
    for (const char *line = explanation, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        if (strncmp(line, "SELECT", 6) == 0 || strncmp(line, "no index", 8) == 0) {
            printf("  %.*s\n", (int)(end - line), line);
        }
    }
}

static bool print_books(quire_list *books) {
    bool is_printed = true;
    printf("  %" PRId64 " found\n", quire_list_count(books));
    for (int64_t i = 0; i < quire_list_count(books) && is_printed; i++) {
        quire_object *book = NULL;
        quire_string title;
        is_printed = ok(quire_list_object(books, i, &book, &error))
                  && ok(quire_object_get_text(book, "title", QUIRE_NUL, &title, &error));
        if (is_printed) printf("    %s\n", title.data);
        quire_object_release(book);
    }
    return is_printed;
}

/* An error of the text has the byte at which reading ended, for an editor. Its message shows the place by itself. */
static bool parse(const char *text, quire_predicate **predicate) {
    if (quire_predicate_parse(text, QUIRE_NUL, NULL, 0, predicate, &error) == QUIRE_OK) return true;
    printf("  wrong at byte %" PRId64 ": %s\n", quire_error_offset(error), quire_error_message(error).data);
    quire_error_release(error);
    error = NULL;
    return false;
}

/* Reads a condition, and prints it as the library has understood it, the SQL of its fetch, and what that finds. */
static bool try_predicate(quire_context *context, const char *text) {
    quire_predicate *predicate = NULL;
    quire_fetch_request *request = NULL;
    quire_evaluation *explanation = NULL;
    quire_list *books = NULL;
    printf("%s\n", text);
    if (!parse(text, &predicate)) return false;
    printf("  is read as %s\n", quire_predicate_text(predicate).data);
    bool is_tried = ok(quire_fetch_request_create("Book", QUIRE_NUL, &request, &error))
                 && ok(quire_fetch_request_set_predicate(request, predicate, &error))
                 && ok(quire_fetch_request_add_sort(request, "title", QUIRE_NUL, false, &error))
                 && ok(quire_fetch_request_explain(request, context, &explanation, &error));
    if (is_tried) print_sql(quire_evaluation_value(explanation)->as.text);
    /* An unknown key is an error of the fetch: the predicate itself knows no entity. */
    is_tried = is_tried && ok(quire_context_fetch(context, request, &books, &error)) && print_books(books);
    quire_list_release(books);
    quire_evaluation_release(explanation);
    quire_fetch_request_release(request);
    quire_predicate_release(predicate);
    return is_tried;
}

/* One condition in each line of the input. A wrong one does not end that. */
static bool try_lines(quire_context *context) {
    char *line = NULL;
    size_t capacity = 0;
    bool are_right = true;
    if (isatty(STDIN_FILENO)) puts("Books where ...? One condition in each line; ^D ends.");
    while (getline(&line, &capacity, stdin) >= 0) {
        line[strcspn(line, "\n")] = '\0';
        if (*line && !try_predicate(context, line)) are_right = false;
    }
    free(line);
    return are_right;
}

int main(int argument_count, char **arguments) {
    quire_model *model = quire_model_create();
    quire_store *store = NULL;
    quire_context *context = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0); /* what is wrong stands below what it is about */
    bool is_right = fill_model(model)
                 && ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error))
                 && ok(quire_context_create(store, &context, &error)) && add_books(context);
    for (int i = 1; i < argument_count && context; i++) is_right = try_predicate(context, arguments[i]) && is_right;
    if (is_right && argument_count == 1) is_right = try_lines(context);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return is_right ? 0 : 1;
}
