/*
 * Quotations from files in the format of the fortune program.
 *
 * A file is UTF-8 text. A line that holds nothing but % ends an entry; so does the end of the file. The carriage
 * return of a CRLF is dropped. An entry of blanks only is none. The contents of a quotation are all lines of its
 * entry, as they are; its author is found by this rule, which fortune_file.py and count.awk follow too:
 *
 *   1. Take the last line that begins, after any blanks (spaces and tabs), with two hyphens and a space. Without one
 *      there is no author.
 *   2. Cut what follows the hyphens at the first of , " ( [ < ; : or the first word in, on, at or to; a comma before
 *      " Jr" or " Sr" does not count.
 *   3. Take blanks off both ends. When nothing is left, or more than 50 bytes, which is a sentence and no name, there
 *      is no author.
 */
#ifndef FORTUNE_FILE_H_
#define FORTUNE_FILE_H_

#include <stdbool.h>
#include <stddef.h>

/* Texts are not ended by NUL. An author of size 0 is none. */
typedef struct quotation {
    const char *author;
    size_t author_size;
    const char *contents;
    size_t contents_size;
} quotation;

/* Begins as all zero. `texts` are the files that the quotations point into. */
typedef struct quotations {
    quotation *items;
    size_t count;
    size_t capacity;
    char **texts;
    size_t text_count;
} quotations;

/* Adds the quotations of one file. On failure says on stderr what is wrong with it and returns false. */
bool quotations_read_file(quotations *all, const char *path);

/* Adds those of the packages fortunes and fortunes-min: of all plain text files there, in the order of their names. */
bool quotations_read_packages(quotations *all);

/* Prints each quotation as its author, its contents and a line with %. */
void quotations_print(const quotations *all);

void quotations_free(quotations *all);

#endif
