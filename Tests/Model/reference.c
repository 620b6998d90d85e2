#include "reference.h"

#include <stdlib.h>
#include <string.h>

const listing listings[LISTINGS] = {
    {"by author", NULL, "author", {"author", "rank"}, {true, true}, 0, 0},
    {"without sections", NULL, NULL, {"created", "rank"}, {true, false}, 0, 0},
    {"high ranks by author", "rank > 50", "author", {"rank", "created"}, {true, true}, 0, 0},
    {"descending", NULL, "author", {"author", "rank"}, {false, false}, 0, 0},
    {"the first ten", NULL, NULL, {"rank", "created"}, {true, false}, 0, 10},
    {"a page by author", NULL, "author", {"author", "created"}, {true, true}, 5, 12},
    {"high ranks but the first three", "rank > 50", NULL, {"rank", "author"}, {false, true}, 3, 0},
    {"the last authors first", NULL, "author", {"author", "rank"}, {false, true}, 2, 7},
    {"one row", NULL, NULL, {"created", "author"}, {false, false}, 1, 1},
    {"by rank", NULL, "rank", {"rank", "author"}, {true, true}, 0, 0},
    {"by rank, descending", NULL, "rank", {"rank", "created"}, {false, true}, 0, 20},
    {"by date", NULL, NULL, {"created", "author"}, {true, true}, 0, 0},
};

/* nil and empty text, which share a section; an emoji; the same letter composed and with a combining mark. */
const char *const authors[] = {NULL, "", "Goethe", "goethe", "Goethe, J. W.", "\xF0\x9F\xA6\x89", "\xC3\x84sop", "A\xCC\x88sop", "Z"};
const int author_count = sizeof authors / sizeof authors[0];

bool values_equal(const values *left, const values *right) {
    return left->author == right->author && left->rank == right->rank && left->created == right->created;
}

const char *section_name(const values *values, int which) {
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

static const row *compared_rows;
static int compared_list;

static int compare(const void *left_slot, const void *right_slot) {
    const row *left = &compared_rows[*(const int *)left_slot], *right = &compared_rows[*(const int *)right_slot];
    const listing *list = &listings[compared_list];
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
    for (int i = 0; i < out->total; i++) {
        const bool opens = i == 0
            || strcmp(section_name(&rows[out->slots[i]].now, which), section_name(&rows[out->slots[i - 1]].now, which)) != 0;
        if (opens) {
            out->starts[out->count] = i;
            out->sizes[out->count++] = 0;
        }
        out->sizes[out->count - 1]++;
    }
    if (!listings[which].section && out->count == 0) {
        out->count = 1;
        out->starts[0] = out->sizes[0] = 0;
    }
}
