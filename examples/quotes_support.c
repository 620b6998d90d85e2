/* See quotes_support.h. */
#define _POSIX_C_SOURCE 200809L

#include "quotes_support.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

bool ok(quire_status status, quire_error **error) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "quotes: %s\n", quire_error_message(*error).data);
    quire_error_release(*error);
    *error = NULL;
    return false;
}

void print_name(const char *name, size_t size) {
    if (size == 0) printf("(no author)");
    fwrite(name, 1, size, stdout);
}

/* The first line of a text that is not blank, shortened to 48 characters, with control characters as spaces. */
static void print_excerpt(const char *text, size_t size) {
    const char *end = text + size;
    while (text < end && memchr(" \t\n", *text, 3)) text++;
    for (int characters = 0; text < end && *text != '\n'; text++) {
        bool is_continuation = ((unsigned char)*text & 0xC0) == 0x80;
        if (!is_continuation && ++characters > 48) break;
        putchar((unsigned char)*text < 0x20 || *text == 0x7F ? ' ' : *text);
    }
}

bool print_quote(quire_object *quote) {
    quire_error *error = NULL;
    quire_value author, contents;
    if (!ok(quire_object_get(quote, "author", QUIRE_NUL, &author, &error), &error)
        || !ok(quire_object_get(quote, "contents", QUIRE_NUL, &contents, &error), &error)) return false;
    bool is_nil = author.kind == QUIRE_VALUE_NIL;
    print_name(is_nil ? "" : author.as.text, is_nil ? 0 : author.size);
    printf(": ");
    print_excerpt(contents.as.text, contents.size);
    putchar('\n');
    return true;
}

void print_counts(const quire_results *results) {
    printf("%" PRId64 " objects in %" PRId64 " sections\n",
           quire_results_count(results), quire_results_section_count(results));
}

bool next_largest(quire_results *results, quire_section *section, int64_t *index) {
    quire_section best = QUIRE_SECTION_INIT;
    int64_t best_index = -1;
    for (int64_t i = 0; i < quire_results_section_count(results); i++) {
        quire_error *error = NULL;
        quire_section other = QUIRE_SECTION_INIT;
        if (!ok(quire_results_section(results, i, &other, &error), &error)) return false;
        bool comes_later = *index < 0 || other.count < section->count
                        || (other.count == section->count && i > *index);
        if (comes_later && (best_index < 0 || other.count > best.count)) {
            best = other;
            best_index = i;
        }
    }
    *section = best;
    *index = best_index;
    return best_index >= 0;
}

bool print_largest_sections(quire_results *results) {
    quire_section section = QUIRE_SECTION_INIT;
    int64_t index = -1;
    puts("\nThe largest sections:");
    for (int i = 0; i < 10 && next_largest(results, &section, &index); i++) {
        printf("%7" PRId64 "  ", section.count);
        print_name(section.name.data, section.name.size);
        putchar('\n');
    }
    return true;
}

bool print_first_rows(quire_results *results) {
    quire_error *error = NULL;
    quire_section section = QUIRE_SECTION_INIT;
    int64_t index = -1;
    if (!next_largest(results, &section, &index)) return false;
    if (quire_results_section_count(results) > 1 && !next_largest(results, &section, &index)) return false;
    printf("\nThe first rows of section %" PRId64 ":\n", index);
    for (int64_t row = 0; row < section.count && row < 5; row++) {
        quire_object *quote = NULL;
        quire_value created_at;
        char date[32];
        if (!ok(quire_results_object(results, index, row, &quote, &error), &error)) return false;
        bool is_read = ok(quire_object_get(quote, "createdAt", QUIRE_NUL, &created_at, &error), &error);
        if (is_read) {
            time_t seconds = (time_t)created_at.as.real;
            strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", gmtime(&seconds));
            printf("  %s  ", date);
            is_read = print_quote(quote);
        }
        quire_object_release(quote);
        if (!is_read) return false;
    }
    return true;
}

void find_prolific_authors(quire_results *results, char names[2][64]) {
    quire_section section = QUIRE_SECTION_INIT;
    int64_t index = -1;
    /* Copied, because the names of sections hold until the next change only. */
    names[0][0] = names[1][0] = '\0';
    for (int found = 0; found < 2 && next_largest(results, &section, &index);) {
        if (section.name.size > 0) snprintf(names[found++], 64, "%s", section.name.data);
    }
}

static bool columns_are_equal(const quire_column *a, const quire_column *b) {
    size_t rows = (size_t)a->length;
    return a->length == b->length && a->nil_count == b->nil_count && a->values_size == b->values_size
        && (a->values_size == 0 || memcmp(a->values, b->values, (size_t)a->values_size) == 0)
        && (!a->offsets || memcmp(a->offsets, b->offsets, (rows + 1) * sizeof *a->offsets) == 0)
        && (!a->validity || memcmp(a->validity, b->validity, (rows + 7) / 8) == 0);
}

bool pages_are_equal(const quire_page *a, const quire_page *b) {
    int64_t columns = quire_page_column_count(a);
    if (quire_page_column_count(b) != columns) return false;
    for (int64_t i = 0; i < columns; i++) {
        if (!columns_are_equal(quire_page_column(a, i), quire_page_column(b, i))) return false;
    }
    return true;
}

#define TEMPORARY_NAME "/quotes.sqlite"

bool make_temporary_path(char path[64]) {
    char folder[] = "/tmp/quotes-XXXXXX";
    if (!mkdtemp(folder)) {
        fprintf(stderr, "quotes: cannot make a folder in /tmp: %s.\n", strerror(errno));
        return false;
    }
    snprintf(path, 64, "%s" TEMPORARY_NAME, folder);
    return true;
}

void remove_temporary_store(const char *path) {
    static const char *const suffixes[] = {"", "-wal", "-shm"}; /* the files that SQLite keeps beside a store */
    char other[128];
    if (*path == '\0') return;
    for (size_t i = 0; i < 3; i++) {
        snprintf(other, sizeof other, "%s%s", path, suffixes[i]);
        unlink(other);
    }
    snprintf(other, sizeof other, "%.*s", (int)(strlen(path) - strlen(TEMPORARY_NAME)), path);
    rmdir(other);
}
