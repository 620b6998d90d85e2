/* Queries of controllers, and the lists that they should give, sorted anew each time. */
#ifndef QUIRE_EXPECTED_H_
#define QUIRE_EXPECTED_H_

#include "filters.h"
#include "replay.h"

enum { MOST_SORTS = 3, MOST_FIXED_SECTIONS = 2 };

/* How a query's rows are gathered. */
typedef struct sectioning {
    int kind;
    /* A key path, or what a rule is made of. */
    const char *key_path, *expression;
    bool is_rule;
    quire_section_grouping grouping;
    bool is_descending;
    const char *fixed[MOST_FIXED_SECTIONS];
} sectioning;

/* Ordered by kind; the first of each kind is none. */
extern const sectioning sectionings[];
extern const int sectioning_count;

/* Of numbers, unless they have bounds. */
enum { RANGE_WIDTH = 20, RANGE_ORIGIN = 10 };
extern const double range_bounds[2];
/* Whether a rule's ranges have those bounds. */
bool has_bounds(const sectioning *sectioning);

typedef struct query {
    int kind, filter, section, sort_count, offset, limit;
    /* Of books: novels alone, or none of them. */
    bool is_narrow, is_flat;
    struct { const char *path; bool is_ascending; } sorts[MOST_SORTS];
} query;

/* A random one. */
void make_query(int kind, query *out);
void print_query(const query *query);

/* A list with the names of its sections. */
typedef struct named_sections {
    sections list;
    char names[SLOTS][32];
} named_sections;

void expect(const facts *facts, const query *query, named_sections *out);

/* Whether a row has the same section and the same sort keys by both. */
bool has_same_key(const facts *before, const facts *now, const query *query, int slot);

/* Displayed key paths of a kind. */
enum { DISPLAYED = 5 };
extern const char *const displayed_paths[KINDS][DISPLAYED];
int displayed_count(int kind);
/* What the objects that a row of a kind shows there come to; equal when nothing changed that is shown. */
uint64_t displayed_digest(const facts *facts, const thing *thing, int kind, int path);
/* The same for all that a query or a displayed key path of the pools can reach from a row, itself included. */
uint64_t neighbourhood_digest(const facts *facts, const thing *thing, int kind);

#endif
