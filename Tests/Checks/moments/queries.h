/* What is asked of contexts, with the answers that plain loops find in a state. */
#ifndef QUIRE_MOMENTS_QUERIES_H_
#define QUIRE_MOMENTS_QUERIES_H_

#include "world.h"

enum { QUERIES = 9, ALL_ITEMS = 0, LISTS = 4, MOST_ROWS = ITEMS };

typedef struct query {
    const char *entity, *predicate;
    /* The sort keys; one that begins with "-" descends. The number is the last of each. */
    const char *sorts[3];
    /* Of the list that is made of it: what makes its sections, or NULL. Only the first few have lists. */
    const char *section;
} query;
extern const query queries[QUERIES];

/* The numbers of the rows in order, and the sizes of the sections. */
typedef struct answer {
    int count, section_count;
    int rows[MOST_ROWS], sizes[MOST_ROWS];
} answer;

void make_requests(void);
void release_requests(void);
/* A request of the query, with objects, ids, or objects in batches. */
quire_fetch_request *request_for(int query, uint32_t result_type);
quire_fetch_request *batched_request(int query);
/* Rows of shelf, number of items and sum of their amounts. */
quire_fetch_request *shelves_request(void);
quire_fetch_request *fresh_request(int query);
/* The least and the greatest stamp of the crates. */
quire_fetch_request *crates_request(void);

void find_answer(int query, const state *state, answer *out);
int64_t sum_of_amounts(const state *state, int shelf);

#endif
