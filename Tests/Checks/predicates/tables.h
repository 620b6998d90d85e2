/* Dictionary results: columns of keys, expressions and aggregates, in groups or distinct. */
#ifndef QUIRE_TABLES_H_
#define QUIRE_TABLES_H_

#include "questions.h"

enum { MOST_COLUMNS = 4, MOST_GROUPS = 2 };

/* A column. Of a group, `parts` are what its aggregates are taken of, and the bytes 1 and 2 in `format` stand for them. */
typedef struct column {
    char name[200];
    bool is_key;
    kind kind;
    const char *format;
    int part_count;
    const char *functions[2];
    node *parts[2];
} column;

/* What is asked of groups: two tests of columns, of which the second may be left out. */
typedef struct having {
    int test_count;
    const char *format;
    struct { int column, spelling; const char *format; node *operand; } tests[2];
} having;

typedef struct table {
    int entity, column_count, group_count, sort_column, offset, limit;
    bool is_grouped, is_distinct, is_descending, is_mixed;
    column columns[MOST_COLUMNS];
    const char *groups[MOST_GROUPS];
    having having;
    node *condition;
} table;

/* Holds as a predicate of the grammar does. */
void make_table(int entity, table *out);

/*
 * Whether the store gives the columns that are worked out from the objects: expressions by memory, row by row, and
 * groups here. `complaint` tells what differs.
 */
outcome tables_the_same(const table *table, bool shows);
void show_table(table *table, uint64_t seed, int step);

#endif
