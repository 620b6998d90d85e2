/*
 * A sectioned list of quotations that stays right while they change.
 *
 * Reads quotations into a new store, shows them by author, edits them and prints what the list reports about each
 * edit: first unsaved, then with the save. Closes the store, opens it again and compares.
 *
 *     cc quotes.c quotes_support.c fortune_file.c $(pkg-config --cflags --libs quire) -o quotes
 *     ./quotes [--file FILE] [--store PATH | --print]
 *
 * Without --file the quotations are those of Debian's packages fortunes and fortunes-min; without --store the store
 * is a temporary file. --print shows the quotations as they were read, and makes no store.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <inttypes.h>
#include <quire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fortune_file.h"
#include "quotes_support.h"

#define FIRST_SECOND 1704067200.0 /* 2024-01-01 00:00:00 UTC; each quotation is a second later than the one before */

typedef struct quotes {
    quire_model *model;
    quire_store *store;
    quire_context *context;
    quire_results *results;
    bool has_reported; /* whether the list has reported a change since this was last set */
    double next_second;
} quotes;

/* ---- Opening and closing ---- */

/* The entity Quote { author: String?, contents: String, createdAt: Date }, with an index for the order of the list. */
static bool make_model(quotes *self) {
    quire_error *error = NULL;
    quire_attribute_options optional = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    optional.is_optional = true;
    quire_index_element by_author[] = {{"author", false}, {"createdAt", false}};
    self->model = quire_model_create();
    return ok(quire_model_add_entity(self->model, "Quote", QUIRE_NUL, NULL, &error), &error)
        && ok(quire_model_add_attribute(self->model, "Quote", QUIRE_NUL, "author", QUIRE_NUL, QUIRE_TYPE_STRING,
                                        &optional, &error), &error)
        && ok(quire_model_add_attribute(self->model, "Quote", QUIRE_NUL, "contents", QUIRE_NUL, QUIRE_TYPE_STRING,
                                        NULL, &error), &error)
        && ok(quire_model_add_attribute(self->model, "Quote", QUIRE_NUL, "createdAt", QUIRE_NUL, QUIRE_TYPE_DATE,
                                        NULL, &error), &error)
        && ok(quire_model_add_fetch_index(self->model, "Quote", QUIRE_NUL, "byAuthor", QUIRE_NUL, by_author, 2,
                                          &error), &error);
}

static bool open_store(quotes *self, const char *path, bool must_exist) {
    quire_error *error = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.must_exist = must_exist;
    return ok(quire_store_open(path, QUIRE_NUL, self->model, &options, &self->store, &error), &error)
        && ok(quire_context_create(self->store, &self->context, &error), &error);
}

/* The list: all quotations by author, then by date, with a section for each author. */
static bool fetch_results(quotes *self) {
    quire_error *error = NULL;
    quire_fetch_request *request = NULL;
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "author";
    bool is_fetched =
        ok(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error), &error)
        && ok(quire_fetch_request_add_sort(request, "author", QUIRE_NUL, false, &error), &error)
        && ok(quire_fetch_request_add_sort(request, "createdAt", QUIRE_NUL, false, &error), &error)
        && ok(quire_results_create(self->context, request, &options, &self->results, &error), &error)
        && ok(quire_results_fetch(self->results, &error), &error);
    quire_fetch_request_release(request); /* the controller has copied it */
    return is_fetched;
}

/* Releases all but the model. */
static bool close_store(quotes *self) {
    quire_error *error = NULL;
    bool is_closed = !self->store || ok(quire_store_close(self->store, &error), &error);
    quire_results_release(self->results);
    quire_context_release(self->context);
    quire_store_release(self->store);
    self->results = NULL;
    self->context = NULL;
    self->store = NULL;
    return is_closed;
}

/* ---- Reading ---- */

/* Inserts all quotations in one call, column by column, and saves them. */
static bool insert_all(quotes *self, const quotations *all) {
    quire_error *error = NULL;
    quire_value *values = malloc(3 * all->count * sizeof *values);
    if (!values) {
        fprintf(stderr, "quotes: out of memory.\n");
        return false;
    }
    quire_value *authors = values, *contents = values + all->count, *dates = values + 2 * all->count;
    for (size_t i = 0; i < all->count; i++) {
        const quotation *quote = &all->items[i];
        authors[i] = quote->author_size ? quire_value_text_sized(quote->author, (uint32_t)quote->author_size) : quire_value_nil();
        contents[i] = quire_value_text_sized(quote->contents, (uint32_t)quote->contents_size);
        dates[i] = quire_value_date(self->next_second++);
    }
    const char *keys[] = {"author", "contents", "createdAt"};
    const quire_value *columns[] = {authors, contents, dates};
    bool is_saved =
        ok(quire_context_insert_rows(self->context, "Quote", QUIRE_NUL, keys, columns, 3, all->count, NULL,
                                     &error), &error)
        && ok(quire_context_save(self->context, &error), &error);
    free(values);
    return is_saved;
}

/* ---- What the list reports ---- */

static void section_changed(void *user_data, quire_results *results, const quire_section_change *change) {
    quotes *self = user_data;
    (void)results;
    self->has_reported = true;
    printf("    %s section %" PRId64 " ", change->kind == QUIRE_CHANGE_INSERT ? "insert" : "delete", change->index);
    print_name(change->name.data, change->name.size);
    putchar('\n');
}

static void row_changed(void *user_data, quire_results *results, quire_object *quote, const quire_change *change) {
    static const char *const kinds[] = {"?", "insert", "delete", "move", "update"};
    quotes *self = user_data;
    (void)results;
    self->has_reported = true;
    printf("    %s", kinds[change->kind <= QUIRE_CHANGE_UPDATE ? change->kind : 0]);
    if (change->old_section >= 0) printf(" from %" PRId64 ",%" PRId64, change->old_section, change->old_row);
    if (change->new_section >= 0) printf(" to %" PRId64 ",%" PRId64, change->new_section, change->new_row);
    if (change->kind == QUIRE_CHANGE_DELETE) {
        putchar('\n'); /* where it was is all that a list needs */
        return;
    }
    putchar(' ');
    print_quote(quote);
}

static bool follow(quotes *self) {
    quire_error *error = NULL;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = self;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = row_changed;
    return ok(quire_results_set_delegate(self->results, &delegate, &error), &error);
}

/* Lets the list see the edits made since the last time, then saves them; the delegate prints. */
static bool process_and_save(quotes *self) {
    quire_error *error = NULL;
    self->has_reported = false;
    puts("  unsaved:");
    if (!ok(quire_context_process(self->context, &error), &error)) return false;
    if (!self->has_reported) puts("    nothing");
    self->has_reported = false;
    puts("  saved:");
    if (!ok(quire_context_save(self->context, &error), &error)) return false;
    if (!self->has_reported) puts("    nothing more");
    return true;
}

/* ---- Editing ---- */

static bool set_text(quire_object *quote, const char *key, const char *text) {
    quire_error *error = NULL;
    quire_value value = quire_value_text(*text ? text : NULL);
    return ok(quire_object_set(quote, key, QUIRE_NUL, &value, &error), &error);
}

/* Adds a quotation; an empty author is none. Gives a reference to it, or NULL. */
static quire_object *add_quote(quotes *self, const char *author, const char *contents) {
    quire_error *error = NULL;
    quire_object *quote = NULL;
    const char *keys[] = {"author", "contents", "createdAt"};
    quire_value values[] = {quire_value_text(*author ? author : NULL), quire_value_text(contents),
                            quire_value_date(self->next_second++)};
    if (!ok(quire_context_insert(self->context, "Quote", QUIRE_NUL, &quote, &error), &error)) return NULL;
    if (ok(quire_object_set_values(quote, keys, values, 3, &error), &error)) return quote;
    quire_object_release(quote);
    return NULL;
}

/* Deletes the only quotation of the first author with just one. */
static bool delete_last_of_an_author(quotes *self) {
    for (int64_t i = 0; i < quire_results_section_count(self->results); i++) {
        quire_error *error = NULL;
        quire_section section = QUIRE_SECTION_INIT;
        quire_object *quote = NULL;
        if (!ok(quire_results_section(self->results, i, &section, &error), &error)) return false;
        if (section.count != 1) continue;
        if (!ok(quire_results_object(self->results, i, 0, &quote, &error), &error)) return false;
        printf("  which is ");
        bool is_deleted = print_quote(quote) && ok(quire_context_delete(self->context, quote, &error), &error);
        quire_object_release(quote);
        return is_deleted;
    }
    puts("  but every section has more than one");
    return true;
}

/* Up to 75 rows spread over the list get another text, get another author or go, in turn; and 25 quotations come. */
static bool make_mixed_changes(quotes *self, const char *author) {
    quire_error *error = NULL;
    int64_t ids[75], rows = quire_results_count(self->results);
    int64_t edits = rows < 75 ? rows : 75;
    char name[32];
    for (int64_t i = 0; i < edits; i++) {
        if (!ok(quire_results_ids(self->results, i * rows / edits, 1, &ids[i], &error), &error)) return false;
    }
    bool is_done = true;
    for (int64_t i = 0; i < edits && is_done; i++) {
        quire_object *quote = NULL;
        if (!ok(quire_context_object(self->context, "Quote", QUIRE_NUL, ids[i], &quote, &error), &error)) return false;
        snprintf(name, sizeof name, "Example Author %" PRId64, i % 7);
        if (i % 3 == 0) is_done = set_text(quote, "contents", "Edited together with others.");
        else if (i % 3 == 1) is_done = set_text(quote, "author", name);
        else is_done = ok(quire_context_delete(self->context, quote, &error), &error);
        quire_object_release(quote);
    }
    for (int64_t i = 0; i < 25 && is_done; i++) {
        snprintf(name, sizeof name, "Example Author %" PRId64, i);
        quire_object *quote = add_quote(self, i % 2 ? author : name, "Added together with others.");
        is_done = quote != NULL;
        quire_object_release(quote);
    }
    puts("  saved at once:");
    return is_done && ok(quire_context_save(self->context, &error), &error);
}

static bool make_edits(quotes *self) {
    char authors[2][64];
    find_prolific_authors(self->results, authors);
    quire_object *known = NULL, *new = NULL;
    bool is_done = false;

    puts("\nAdd a quotation of an author who has some");
    known = add_quote(self, authors[0], "The list was right before I looked.");
    if (!known || !process_and_save(self)) goto done;

    puts("\nAdd a quotation of a new author");
    new = add_quote(self, "Ada Example", "A section of one's own.");
    if (!new || !process_and_save(self)) goto done;

    puts("\nEdit the text of the first");
    if (!set_text(known, "contents", "The list was right before anybody looked.")) goto done;
    if (!process_and_save(self)) goto done;

    puts("\nChange the author of the first: others of that author remain");
    if (!set_text(known, "author", authors[1]) || !process_and_save(self)) goto done;

    puts("\nChange the author of the second: it was the last of that author");
    if (!set_text(new, "author", authors[0]) || !process_and_save(self)) goto done;

    puts("\nDelete the last quotation of an author");
    if (!delete_last_of_an_author(self) || !process_and_save(self)) goto done;

    puts("\nMake a hundred changes, of all kinds");
    is_done = make_mixed_changes(self, authors[0]);
done:
    quire_object_release(known);
    quire_object_release(new);
    return is_done;
}

/* ---- Reopening ---- */

/* All rows of the list in columns, which stay as they are when the list changes or closes. */
static quire_page *copy_rows(const quotes *self) {
    static const char *const keys[] = {"author", "contents", "createdAt"};
    quire_error *error = NULL;
    quire_page *page = NULL;
    ok(quire_results_page(self->results, 0, quire_results_count(self->results), keys, 3, 0, &page, &error), &error);
    return page;
}

static bool reopen_and_compare(quotes *self, const char *path) {
    quire_page *before = copy_rows(self), *after = NULL;
    bool is_same = before && close_store(self) && open_store(self, path, true) && fetch_results(self)
                && (after = copy_rows(self));
    if (is_same) {
        puts("\nClosed, and opened again");
        print_counts(self->results);
        is_same = pages_are_equal(before, after);
        puts(is_same ? "Every row is as it was." : "The rows differ.");
    }
    quire_page_release(before);
    quire_page_release(after);
    return is_same;
}

static bool run(quotes *self, const quotations *all, const char *path) {
    if (!make_model(self) || !open_store(self, path, false)) return false;
    if (!insert_all(self, all) || !fetch_results(self)) return false;
    print_counts(self->results);
    if (!print_largest_sections(self->results) || !print_first_rows(self->results)) return false;
    if (!follow(self) || !make_edits(self)) return false;
    print_counts(self->results);
    return reopen_and_compare(self, path) && close_store(self);
}

/* ---- The program ---- */

int main(int argument_count, char **arguments) {
    const char *file = NULL, *path = NULL;
    bool only_prints = false, is_wrong = false;
    char temporary_path[64] = "";
    for (int i = 1; i < argument_count; i++) {
        if (strcmp(arguments[i], "--file") == 0 && i + 1 < argument_count) file = arguments[++i];
        else if (strcmp(arguments[i], "--store") == 0 && i + 1 < argument_count) path = arguments[++i];
        else if (strcmp(arguments[i], "--print") == 0) only_prints = true;
        else is_wrong = true;
    }
    if (is_wrong || (path && only_prints)) {
        fprintf(stderr, "usage: quotes [--file FILE] [--store PATH | --print]\n");
        return 2;
    }
    struct stat status;
    if (path && lstat(path, &status) == 0) {
        fprintf(stderr, "quotes: %s exists already; name a new file for the store.\n", path);
        return 1;
    }
    quotations all = {0};
    quotes self = {.next_second = FIRST_SECOND};
    bool is_done = file ? quotations_read_file(&all, file) : quotations_read_packages(&all);
    if (is_done && only_prints) quotations_print(&all);
    else if (is_done && path) is_done = run(&self, &all, path);
    else if (is_done) is_done = make_temporary_path(temporary_path) && run(&self, &all, temporary_path);
    close_store(&self);
    remove_temporary_store(temporary_path);
    quire_model_release(self.model);
    quotations_free(&all);
    if (is_done && (fflush(stdout) != 0 || ferror(stdout))) {
        fprintf(stderr, "quotes: cannot write the output: %s.\n", strerror(errno));
        is_done = false;
    }
    return is_done ? 0 : 1;
}
