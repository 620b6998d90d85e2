/* Random queries, and what rows show of others. */
#include "expected.h"

#include "dice.h"

#include <stdio.h>

enum { PATHS = 8 };
static const char *const sort_paths[KINDS][PATHS] = {
    {"title", "price", "created", "author.name", "author.age", "author.city.name", "author.city.size", "author"},
    {"name", "age", "born", "city.name", "city.size", "city", NULL, NULL},
    {"name", NULL, NULL, NULL, NULL, NULL, NULL, NULL},
    {"name", "weight", "begun", NULL, NULL, NULL, NULL, NULL},
};

const char *const displayed_paths[KINDS][DISPLAYED] = {
    {"author.name", "author.city.name", "tags.name", "author.books.@count", "tags.@sum.weight"},
    {"city.name", "books.@count", "books.title", "books.tags.name", "city.people.name"},
    {NULL, NULL, NULL, NULL, NULL},
    {"books.@count", "books.title", "books.author.name", NULL, NULL},
};

static int count_paths(const char *const *paths, int most) {
    int count = 0;
    while (count < most && paths[count]) count++;
    return count;
}

int displayed_count(int kind) { return count_paths(displayed_paths[kind], DISPLAYED); }

void make_query(int kind, query *out) {
    *out = (query){.kind = kind};
    do out->filter = random_below(filter_count);
    while (filters[out->filter].kind != kind);
    do out->section = random_below(sectioning_count);
    while (sectionings[out->section].kind != kind);
    /* None is the first. */
    if (chance(20)) while (out->section && sectionings[out->section - 1].kind == kind) out->section--;
    if (chance(35)) while (out->filter && filters[out->filter - 1].kind == kind) out->filter--;
    out->sort_count = random_below(MOST_SORTS + 1);
    for (int i = 0; i < out->sort_count; i++) {
        out->sorts[i].path = sort_paths[kind][random_below(count_paths(sort_paths[kind], PATHS))];
        out->sorts[i].is_ascending = chance(60);
    }
    if (chance(25)) out->limit = 1 + random_below(12);
    if (chance(20)) out->offset = random_below(7);
    if (kind != BOOK) return;
    out->is_narrow = chance(10);
    out->is_flat = !out->is_narrow && chance(10);
}

void print_query(const query *query) {
    const sectioning *by = &sectionings[query->section];
    printf("%s%s where %s", query->is_narrow ? "Novel" : entities[query->kind], query->is_flat ? " without novels" : "",
        filters[query->filter].format);
    for (int i = 0; i < query->sort_count; i++)
        printf("%s %s%s", i ? "," : " by", query->sorts[i].path, query->sorts[i].is_ascending ? "" : " descending");
    if (by->key_path || by->expression) {
        printf(" in sections by %s", by->key_path ? by->key_path : by->expression);
        if (by->is_rule) printf(" (rule %u%s)", by->grouping, by->is_descending ? ", descending" : "");
        for (int i = 0; i < MOST_FIXED_SECTIONS && by->fixed[i]; i++) printf(i ? ", %s" : ", fixed %s", by->fixed[i]);
    }
    if (query->offset) printf(", from %d", query->offset);
    if (query->limit) printf(", at most %d", query->limit);
}

/* --- Digests. */

static uint64_t mix(uint64_t digest, uint64_t number) {
    digest = (digest ^ number) * 0x9E3779B97F4A7C15u;
    return digest ^ digest >> 29;
}

/* A member of a set, whatever its place among the others. */
static uint64_t member(int kind, int slot, uint64_t value) { return mix(mix(mix(7, (uint64_t)kind), (uint64_t)slot), value); }

static uint64_t value_digest(const thing *thing, int key) { return (uint64_t)thing->values[key]; }

static uint64_t own_digest(const thing *thing) {
    uint64_t digest = mix(mix(1, (uint64_t)thing->holder), thing->tags);
    for (int i = 0; i < KEYS; i++) digest = mix(digest, value_digest(thing, i));
    return digest;
}

/* Of the books of a person, or of a tag, what `inner` says of each. */
static uint64_t books_digest(const facts *facts, int kind, int slot, uint64_t (*inner)(const struct facts *, const thing *)) {
    uint64_t sum = 0;
    for (int i = 0; i < MOST_THINGS; i++) {
        const thing *book = &facts->things[BOOK][i];
        if (!book->exists || !(kind == TAG ? book->tags >> slot & 1 : (uint32_t)(book->holder == slot))) continue;
        sum += member(BOOK, i, inner(facts, book));
    }
    return sum;
}

static uint64_t people_digest(const facts *facts, int city, uint64_t (*inner)(const struct facts *, const thing *)) {
    uint64_t sum = 0;
    for (int i = 0; i < MOST_THINGS; i++) {
        const thing *person = &facts->things[PERSON][i];
        if (person->exists && person->holder == city) sum += member(PERSON, i, inner(facts, person));
    }
    return sum;
}

static uint64_t tags_digest(const facts *facts, const thing *book, int key) {
    uint64_t sum = 0;
    for (int i = 0; i < MOST_TAGS; i++)
        if (book->tags >> i & 1) {
            const thing *tag = &facts->things[TAG][i];
            sum += member(TAG, i, key < 0 ? own_digest(tag) : value_digest(tag, key));
        }
    return sum;
}

static uint64_t nothing_of(const facts *facts, const thing *thing) { return (void)facts, (void)thing, 0; }
static uint64_t first_of(const facts *facts, const thing *thing) { return (void)facts, value_digest(thing, 0); }
static uint64_t tag_names_of(const facts *facts, const thing *book) { return tags_digest(facts, book, 0); }
static uint64_t author_name_of(const facts *facts, const thing *book) {
    return book->holder < 0 ? 0 : member(PERSON, book->holder, value_digest(&facts->things[PERSON][book->holder], 0));
}
static uint64_t all_of_book(const facts *facts, const thing *book) {
    const uint64_t digest = mix(own_digest(book), tags_digest(facts, book, -1));
    return book->holder < 0 ? digest : mix(digest, own_digest(&facts->things[PERSON][book->holder]));
}
static uint64_t all_of_person(const facts *facts, const thing *person) { return (void)facts, own_digest(person); }

uint64_t displayed_digest(const facts *facts, const thing *thing, int kind, int path) {
    const int slot = (int)(thing - facts->things[kind]), holder = thing->holder;
    const struct thing *author = kind == BOOK && holder >= 0 ? &facts->things[PERSON][holder] : NULL;
    switch (kind * DISPLAYED + path) {
    case BOOK * DISPLAYED: return author_name_of(facts, thing);
    case BOOK * DISPLAYED + 1:
        return !author || author->holder < 0 ? 0 : member(CITY, author->holder, value_digest(&facts->things[CITY][author->holder], 0));
    case BOOK * DISPLAYED + 2: return tags_digest(facts, thing, 0);
    case BOOK * DISPLAYED + 3: return author ? books_digest(facts, PERSON, holder, nothing_of) : 0;
    case BOOK * DISPLAYED + 4: return tags_digest(facts, thing, 1);
    case PERSON * DISPLAYED: return holder < 0 ? 0 : member(CITY, holder, value_digest(&facts->things[CITY][holder], 0));
    case PERSON * DISPLAYED + 1: return books_digest(facts, PERSON, slot, nothing_of);
    case PERSON * DISPLAYED + 2: return books_digest(facts, PERSON, slot, first_of);
    case PERSON * DISPLAYED + 3: return books_digest(facts, PERSON, slot, tag_names_of);
    case PERSON * DISPLAYED + 4: return holder < 0 ? 0 : people_digest(facts, holder, first_of);
    case TAG * DISPLAYED: return books_digest(facts, TAG, slot, nothing_of);
    case TAG * DISPLAYED + 1: return books_digest(facts, TAG, slot, first_of);
    default: return books_digest(facts, TAG, slot, author_name_of);
    }
}

uint64_t neighbourhood_digest(const facts *facts, const thing *thing, int kind) {
    const int slot = (int)(thing - facts->things[kind]), holder = thing->holder;
    uint64_t digest = own_digest(thing);
    if (kind == TAG) return mix(digest, books_digest(facts, TAG, slot, all_of_book));
    int city = kind == PERSON ? holder : -1;
    if (kind == PERSON) digest = mix(digest, books_digest(facts, PERSON, slot, all_of_book));
    if (kind == BOOK) {
        digest = mix(digest, tags_digest(facts, thing, -1));
        for (int tag = 0; tag < MOST_TAGS; tag++)
            if (thing->tags >> tag & 1) digest = mix(digest, books_digest(facts, TAG, tag, all_of_book));
        if (holder >= 0) {
            digest = mix(digest, own_digest(&facts->things[PERSON][holder]));
            digest = mix(digest, books_digest(facts, PERSON, holder, all_of_book));
            city = facts->things[PERSON][holder].holder;
        }
    }
    if (city < 0) return digest;
    return mix(mix(digest, own_digest(&facts->things[CITY][city])), people_digest(facts, city, all_of_person));
}
