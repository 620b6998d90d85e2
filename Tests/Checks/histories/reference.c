#include "reference.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const listing listings[LISTINGS] = {
    {"by author", NULL, "author", {"author", "rank"}, {true, true}, 0, 0, NO_RULE, false, {NULL}},
    {"without sections", NULL, NULL, {"created", "rank"}, {true, false}, 0, 0, NO_RULE, false, {NULL}},
    {"high ranks by author", "rank > 50", "author", {"rank", "created"}, {true, true}, 0, 0, NO_RULE, false, {NULL}},
    {"descending", NULL, "author", {"author", "rank"}, {false, false}, 0, 0, NO_RULE, false, {NULL}},
    {"the first ten", NULL, NULL, {"rank", "created"}, {true, false}, 0, 10, NO_RULE, false, {NULL}},
    {"a page by author", NULL, "author", {"author", "created"}, {true, true}, 5, 12, NO_RULE, false, {NULL}},
    {"high ranks but the first three", "rank > 50", NULL, {"rank", "author"}, {false, true}, 3, 0, NO_RULE, false, {NULL}},
    {"the last authors first", NULL, "author", {"author", "rank"}, {false, true}, 2, 7, NO_RULE, false, {NULL}},
    {"one row", NULL, NULL, {"created", "author"}, {false, false}, 1, 1, NO_RULE, false, {NULL}},
    {"by rank", NULL, "rank", {"rank", "author"}, {true, true}, 0, 0, NO_RULE, false, {NULL}},
    {"by rank, descending", NULL, "rank", {"rank", "created"}, {false, true}, 0, 20, NO_RULE, false, {NULL}},
    {"by date", NULL, NULL, {"created", "author"}, {true, true}, 0, 0, NO_RULE, false, {NULL}},
    {.name = "by letter", .sort = {"rank", "created"}, .is_ascending = {true, false}, .rule = LETTER},
    {.name = "by letter, descending, with fixed ones", .predicate = "rank > 50", .sort = {"author", "rank"},
        .is_ascending = {false, true}, .rule = LETTER, .is_descending = true, .fixed = {"Z", "Q", "A"}},
    {.name = "by ranges of the rank", .sort = {"author", "created"}, .is_ascending = {true, true}, .rule = RANGE},
    {.name = "a page by ranges", .sort = {"created", "author"}, .is_ascending = {true, true}, .offset = 4, .limit = 9,
        .rule = RANGE, .is_descending = true, .fixed = {"40"}},
    {.name = "by day, the last first", .sort = {"created", "rank"}, .is_ascending = {true, true}, .rule = DAY,
        .is_descending = true},
    {.name = "by height", .sort = {"author", "rank"}, .is_ascending = {true, true}, .rule = HEIGHT},
    {.name = "by height, the first ten", .sort = {"rank", "author"}, .is_ascending = {false, true}, .limit = 10, .rule = HEIGHT,
        .fixed = {"middle", "low"}},
};

/* nil and empty text, which share a section; an emoji; the same letter composed and with a combining mark. */
const char *const authors[] = {NULL, "", "Goethe", "goethe", "Goethe, J. W.", "\xF0\x9F\xA6\x89", "\xC3\x84sop", "A\xCC\x88sop", "Z"};
const int author_count = sizeof authors / sizeof authors[0];

bool values_equal(const values *left, const values *right) {
    return left->author == right->author && left->rank == right->rank && left->created == right->created;
}

/* Where the section of a row stands among those of its rule. */
static int section_place(const values *values, rule rule) {
    const char *author = authors[values->author];
    switch (rule) {
    /* The owl is a symbol, which comes before the letters; with and without its dots, the A is one. */
    case LETTER: return !author || !*author ? 0 : *author == '\xF0' ? 1 : *author == '\xC3' ? 'A' : *author & 0x5F;
    case RANGE: return values->rank < 0 ? INT_MIN : (int)(values->rank + 20) / 30 * 30 - 20;
    case DAY: return (int)values->created / 86400;
    case HEIGHT: return values->rank <= 50;
    default: return 0;
    }
}

static const char *rule_name(int place, rule rule) {
    static char name[32];
    if (rule == HEIGHT) return place ? "low" : "high";
    if (place == (rule == LETTER ? 0 : INT_MIN)) return "";
    if (rule == LETTER && place == 1) return "#";
    if (rule == LETTER) snprintf(name, sizeof name, "%c", place);
    else snprintf(name, sizeof name, rule == DAY ? "1970-01-%02d" : "%d", rule == DAY ? place + 1 : place);
    return name;
}

const char *section_name(const values *values, int which) {
    if (listings[which].rule) return rule_name(section_place(values, listings[which].rule), listings[which].rule);
    static const char *const ranks[] = {"0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "100"};
    const char *section = listings[which].section;
    if (!section) return "";
    if (strcmp(section, "rank") == 0) return values->rank < 0 ? "" : ranks[values->rank / 10];
    return authors[values->author] ? authors[values->author] : "";
}

static int sign(double difference) { return (difference > 0) - (difference < 0); }

static int compare_by_key(const row *left, const row *right, const char *key) {
    if (strcmp(key, "rank") == 0) {
        /* nil, which is negative here, comes first. */
        const int64_t a = left->now.rank < 0 ? -1 : left->now.rank, b = right->now.rank < 0 ? -1 : right->now.rank;
        return (a > b) - (a < b);
    }
    if (strcmp(key, "created") == 0) return sign(left->now.created - right->now.created);
    const char *a = authors[left->now.author], *b = authors[right->now.author];
    if (!a || !b) return (a != NULL) - (b != NULL);
    const int order = strcmp(a, b);
    return (order > 0) - (order < 0);
}

/* Unsaved objects come after the saved ones, in the order of insertion. */
static int compare_by_id(const row *left, const row *right) {
    const int64_t a = quire_object_id(left->object), b = quire_object_id(right->object);
    if ((a < 0) != (b < 0)) return a < 0 ? 1 : -1;
    return a < 0 ? (a < b) - (a > b) : (a > b) - (a < b);
}

/* Which of the fixed sections it is; those that are none come behind them. */
static int fixed_place(const listing *list, const char *name) {
    int place = 0;
    while (place < MOST_FIXED && list->fixed[place] && strcmp(list->fixed[place], name) != 0) place++;
    return place;
}

static int compare_sections(const row *left, const row *right, const listing *list) {
    const int a = section_place(&left->now, list->rule), b = section_place(&right->now, list->rule);
    const int first = fixed_place(list, rule_name(a, list->rule)), second = fixed_place(list, rule_name(b, list->rule));
    if (first != second) return first - second;
    return list->is_descending ? (a < b) - (a > b) : (a > b) - (a < b);
}

static const row *compared_rows;
static int compared_list;

static int compare(const void *left_slot, const void *right_slot) {
    const row *left = &compared_rows[*(const int *)left_slot], *right = &compared_rows[*(const int *)right_slot];
    const listing *list = &listings[compared_list];
    if (list->rule) {
        const int order = compare_sections(left, right, list);
        if (order) return order;
    }
    if (list->section && strcmp(list->section, list->sort[0]) != 0) {
        const int order = compare_by_key(left, right, list->section);
        if (order) return order;
    }
    for (int i = 0; i < 2; i++) {
        const int order = compare_by_key(left, right, list->sort[i]);
        if (order) return list->is_ascending[i] ? order : -order;
    }
    return compare_by_id(left, right);
}

/* Fixed sections without rows, up to one. */
static void add_empty(sections *out, int *fixed, int end, int which) {
    for (; *fixed < end && *fixed < MOST_FIXED && listings[which].fixed[*fixed]; ++*fixed) {
        out->starts[out->count] = out->count ? out->starts[out->count - 1] + out->sizes[out->count - 1] : 0;
        out->sizes[out->count++] = 0;
    }
}

void expected_sections(const row *rows, int row_count, int which, sections *out) {
    out->count = 0;
    out->total = 0;
    for (int slot = 0; slot < row_count; slot++)
        if (rows[slot].exists && (!listings[which].predicate || rows[slot].now.rank > 50)) out->slots[out->total++] = slot;
    compared_rows = rows;
    compared_list = which;
    qsort(out->slots, (size_t)out->total, sizeof out->slots[0], compare);
    const int offset = listings[which].offset, limit = listings[which].limit;
    out->total = out->total > offset ? out->total - offset : 0;
    if (limit && out->total > limit) out->total = limit;
    memmove(out->slots, out->slots + offset, sizeof out->slots[0] * (size_t)out->total);
    int fixed = 0;
    char name[64] = "";
    for (int i = 0; i < out->total; i++) {
        const char *next = section_name(&rows[out->slots[i]].now, which);
        if (i == 0 || strcmp(next, name) != 0) {
            snprintf(name, sizeof name, "%s", next);
            const int place = fixed_place(&listings[which], name);
            add_empty(out, &fixed, place, which);
            if (place < MOST_FIXED && listings[which].fixed[place]) fixed = place + 1;
            out->starts[out->count] = i;
            out->sizes[out->count++] = 0;
        }
        out->sizes[out->count - 1]++;
    }
    add_empty(out, &fixed, MOST_FIXED, which);
    if (!listings[which].section && !listings[which].rule && out->count == 0) {
        out->count = 1;
        out->starts[0] = out->sizes[0] = 0;
    }
}
