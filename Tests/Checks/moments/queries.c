#include "queries.h"

#include <stdlib.h>
#include <string.h>

const query queries[QUERIES] = {
    {"Item", NULL, {"shelf", "name", "number"}, "shelf"},
    {"Item", "owner.level >= 2", {"-amount", "number"}, NULL},
    {"Item", "ANY tags.number == 1", {"-name", "number"}, "name"},
    {"Person", "items.@count > 1", {"level", "number"}, "level"},
    {"Item", "amount > 4 AND shelf == 2", {"number"}, NULL},
    {"Item", "tags.@count == 0 AND owner != nil", {"owner.level", "number"}, NULL},
    {"Person", NULL, {"number"}, NULL},
    {"Person", "SUBQUERY(items, $i, $i.amount > 5).@count > 0", {"number"}, NULL},
    /* By the index of texts. */
    {"Item", "name CONTAINS[cd] 'ANN'", {"name", "number"}, NULL},
};

static quire_fetch_request *plain[QUERIES], *ids[QUERIES], *batched[QUERIES], *fresh[QUERIES], *shelves, *crates;

static quire_fetch_request *make_request(const query *query) {
    quire_fetch_request *request = NULL;
    DO(quire_fetch_request_create(query->entity, QUIRE_NUL, &request, &failure));
    for (int i = 0; i < 3 && query->sorts[i]; i++) {
        const bool is_descending = query->sorts[i][0] == '-';
        DO(quire_fetch_request_add_sort(request, query->sorts[i] + is_descending, QUIRE_NUL, is_descending, &failure));
    }
    if (!query->predicate) return request;
    quire_predicate *predicate = NULL;
    DO(quire_predicate_parse(query->predicate, QUIRE_NUL, NULL, 0, &predicate, &failure));
    DO(quire_fetch_request_set_predicate(request, predicate, &failure));
    quire_predicate_release(predicate);
    return request;
}

static void add_expression(quire_fetch_request *request, const char *name, const char *format) {
    quire_expression *expression = NULL;
    DO(quire_expression_parse(format, QUIRE_NUL, NULL, 0, &expression, &failure));
    DO(quire_fetch_request_add_expression(request, name, QUIRE_NUL, expression, &failure));
    quire_expression_release(expression);
}

void make_requests(void) {
    for (int i = 0; i < QUERIES; i++) {
        plain[i] = make_request(&queries[i]);
        ids[i] = make_request(&queries[i]);
        DO(quire_fetch_request_set_result_type(ids[i], QUIRE_RESULT_IDS, &failure));
        batched[i] = make_request(&queries[i]);
        DO(quire_fetch_request_set_batch_size(batched[i], 3, &failure));
        fresh[i] = make_request(&queries[i]);
        DO(quire_fetch_request_set_refreshes_refetched_objects(fresh[i], true, &failure));
        const bool is_item = strcmp(queries[i].entity, "Item") == 0;
        DO(quire_fetch_request_add_prefetch(fresh[i], is_item ? "tags" : "items", QUIRE_NUL, &failure));
    }
    DO(quire_fetch_request_create("Item", QUIRE_NUL, &shelves, &failure));
    DO(quire_fetch_request_set_result_type(shelves, QUIRE_RESULT_DICTIONARIES, &failure));
    DO(quire_fetch_request_add_sort(shelves, "shelf", QUIRE_NUL, false, &failure));
    DO(quire_fetch_request_add_group(shelves, "shelf", QUIRE_NUL, &failure));
    DO(quire_fetch_request_add_property(shelves, "shelf", QUIRE_NUL, &failure));
    add_expression(shelves, "items", "count:(SELF)");
    add_expression(shelves, "total", "sum:(amount)");
    DO(quire_fetch_request_create("Crate", QUIRE_NUL, &crates, &failure));
    DO(quire_fetch_request_set_result_type(crates, QUIRE_RESULT_DICTIONARIES, &failure));
    add_expression(crates, "least", "min:(stamp)");
    add_expression(crates, "greatest", "max:(stamp)");
}

void release_requests(void) {
    for (int i = 0; i < QUERIES; i++) {
        quire_fetch_request_release(plain[i]);
        quire_fetch_request_release(ids[i]);
        quire_fetch_request_release(batched[i]);
        quire_fetch_request_release(fresh[i]);
    }
    quire_fetch_request_release(shelves);
    quire_fetch_request_release(crates);
}

quire_fetch_request *request_for(int query, uint32_t result_type) {
    return result_type == QUIRE_RESULT_IDS ? ids[query] : plain[query];
}
quire_fetch_request *batched_request(int query) { return batched[query]; }
quire_fetch_request *fresh_request(int query) { return fresh[query]; }
quire_fetch_request *shelves_request(void) { return shelves; }
quire_fetch_request *crates_request(void) { return crates; }

/* --- Answers. */

static int items_of(const state *state, int person, int least_amount) {
    int count = 0;
    for (int i = 0; i < ITEMS; i++) {
        const item *item = &state->items[i];
        count += item->exists && item->owner == person && item->amount >= least_amount;
    }
    return count;
}

static bool fulfils(int query, const state *state, int row) {
    const item *item = &state->items[row];
    switch (query) {
    case 1: return item->owner != NO_OWNER && state->people[item->owner].level >= 2;
    case 2: return item->tags >> 1 & 1;
    case 3: return items_of(state, row, 0) > 1;
    case 4: return item->amount > 4 && item->shelf == 2;
    case 5: return !item->tags && item->owner != NO_OWNER;
    case 7: return items_of(state, row, 6) > 0;
    case 8: return item->name < 2;
    default: return true;
    }
}

/* What orders rows before their numbers do. */
static int compare(int query, const state *state, int left, int right) {
    const item *a = &state->items[left], *b = &state->items[right];
    switch (query) {
    case 0: return a->shelf != b->shelf ? a->shelf - b->shelf : strcmp(names[a->name], names[b->name]);
    case 1: return b->amount - a->amount;
    case 2: return strcmp(names[b->name], names[a->name]);
    case 3: return state->people[left].level - state->people[right].level;
    case 8: return strcmp(names[a->name], names[b->name]);
    case 5: return state->people[a->owner].level - state->people[b->owner].level;
    default: return 0;
    }
}

static bool share_section(int query, const state *state, int left, int right) {
    switch (query) {
    case 0: return state->items[left].shelf == state->items[right].shelf;
    case 2: return state->items[left].name == state->items[right].name;
    case 3: return state->people[left].level == state->people[right].level;
    default: return true;
    }
}

void find_answer(int query, const state *state, answer *out) {
    const bool is_item = strcmp(queries[query].entity, "Item") == 0;
    out->count = out->section_count = 0;
    for (int row = 0; row < (is_item ? ITEMS : PEOPLE); row++) {
        if (!(is_item ? state->items[row].exists : state->people[row].exists) || !fulfils(query, state, row)) continue;
        int place = out->count++;
        /* Numbers grow, so that a row comes behind those that are equal otherwise. */
        for (; place > 0 && compare(query, state, row, out->rows[place - 1]) < 0; place--) out->rows[place] = out->rows[place - 1];
        out->rows[place] = row;
    }
    for (int i = 0; i < out->count; i++) {
        if (i == 0 || (queries[query].section && !share_section(query, state, out->rows[i - 1], out->rows[i])))
            out->sizes[out->section_count++] = 0;
        out->sizes[out->section_count - 1]++;
    }
}

int64_t sum_of_amounts(const state *state, int shelf) {
    int64_t sum = 0;
    for (int i = 0; i < ITEMS; i++)
        if (state->items[i].exists && (shelf < 0 || state->items[i].shelf == shelf)) sum += state->items[i].amount;
    return sum;
}
