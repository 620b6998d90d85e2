/* Sort orders of random keys, and windows on them. */
#ifndef QUIRE_ORDERS_H_
#define QUIRE_ORDERS_H_

#include "questions.h"

typedef struct ordering {
    int key_count;
    struct { char path[200]; quire_sort_options options; } keys[3];
} ordering;

/* A sort order, of which rows, and the window on it. */
typedef struct query {
    int entity, offset, limit;
    bool includes_subentities;
    /* NULL for all rows. */
    node *condition;
    ordering ordering;
} query;

void make_ordering(int entity, ordering *out);
void add_keys(quire_fetch_request *request, const ordering *ordering);
void print_ordering(const ordering *ordering);

/* Whether all stages give one order, and a window of it is a part of it. */
bool sorts_the_same(const query *query, bool shows);
/* Shows a difference, with as few rows as it needs. */
void show_sort(query *query, uint64_t seed, int step);

#endif
