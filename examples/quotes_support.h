/* What quotes.c needs beside its main matter: printing, comparing, a temporary place. */
#ifndef QUOTES_SUPPORT_H_
#define QUOTES_SUPPORT_H_

#include <quire.h>

/* Whether a call succeeded; prints and releases its error if not. */
bool ok(quire_status status, quire_error **error);

/* The name of a section, which is empty for quotations without an author. */
void print_name(const char *name, size_t size);

/* A quotation as its author and the beginning of its text. */
bool print_quote(quire_object *quote);

/*
 * Steps through the sections from the largest to the smallest: gives the one after `*index`, which begins as -1.
 * Returns false after the last.
 */
bool next_largest(quire_results *results, quire_section *section, int64_t *index);

void print_counts(const quire_results *results);
bool print_largest_sections(quire_results *results);

/* The first rows of the second largest section, or of the only one: in the packages the largest has no author. */
bool print_first_rows(quire_results *results);

/* The two authors with the most quotations; empty texts where there are not as many. */
void find_prolific_authors(quire_results *results, char names[2][64]);

/* Whether two pages with the same key paths hold the same values. */
bool pages_are_equal(const quire_page *a, const quire_page *b);

/* Writes a path for a new store in a new folder of its own. Says what is wrong and returns false on failure. */
bool make_temporary_path(char path[64]);

/* Removes such a store and its folder. Does nothing when the path is empty. */
void remove_temporary_store(const char *path);

#endif
