/* What the library should do, in the plainest way: rows in an array, sorted anew each time. */
#ifndef QUIRE_REFERENCE_H_
#define QUIRE_REFERENCE_H_

#include "replay.h"

enum { CONTROLLERS = 4, LISTINGS = 19 };

/* The values of one row; `author` is an index into `authors`, a negative rank is nil. */
typedef struct values {
    int author;
    int64_t rank;
    double created;
} values;

typedef struct row {
    quire_object *object;
    bool exists, is_saved, existed;
    values now, saved;
    /* Where and with what it stood when changes were last processed. */
    bool existed_before, was_touched;
    values before;
    /* Ids that it has had: temporary and permanent. */
    int64_t ids[4];
    int id_count;
} row;

/* What makes sections in place of a key path. */
typedef enum rule {
    NO_RULE,
    /* The first letter of the author, in German. */
    LETTER,
    /* Ranges of the rank, 30 wide, from 10 on. */
    RANGE,
    /* The day, in UTC. */
    DAY,
    /* TERNARY(rank > 50, 'high', 'low') */
    HEIGHT
} rule;

enum { MOST_FIXED = 3 };

/* How a controller's list is made. */
typedef struct listing {
    const char *name, *predicate, *section, *sort[2];
    bool is_ascending[2];
    /* A limit of 0 is none. */
    int offset, limit;
    rule rule;
    bool is_descending;
    /* Sections that are there in any case. */
    const char *fixed[MOST_FIXED];
} listing;

/* The first four have no window. */
extern const listing listings[LISTINGS];
extern const char *const authors[];
extern const int author_count;

/* The list as it should be. */
void expected_sections(const row *rows, int row_count, int which, sections *out);

/* Name of a row's section in a list. */
const char *section_name(const values *values, int which);

bool values_equal(const values *left, const values *right);

#endif
