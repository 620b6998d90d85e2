#include "expected.h"

#include "dice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEY(of, path) {.kind = of, .key_path = path}
#define RULE(of, path, by, ...) {.kind = of, .key_path = path, .is_rule = true, .grouping = by, __VA_ARGS__}
#define EXPRESSION(of, text, ...) {.kind = of, .expression = text, .is_rule = true, __VA_ARGS__}

const sectioning sectionings[] = {
    KEY(BOOK, NULL),
    KEY(BOOK, "title"),
    KEY(BOOK, "price"),
    KEY(BOOK, "created"),
    KEY(BOOK, "author.name"),
    KEY(BOOK, "author.city.name"),
    RULE(BOOK, "title", QUIRE_GROUPING_LETTER, .is_descending = false),
    RULE(BOOK, "author.name", QUIRE_GROUPING_LETTER, .is_descending = true, .fixed = {"Z", "B"}),
    RULE(BOOK, "price", QUIRE_GROUPING_NUMBER, .is_descending = true, .fixed = {"30", "10"}),
    RULE(BOOK, "author.age", QUIRE_GROUPING_NUMBER, .is_descending = false),
    RULE(BOOK, "created", QUIRE_GROUPING_DAY, .is_descending = true),
    RULE(BOOK, "created", QUIRE_GROUPING_WEEK, .is_descending = false),
    RULE(BOOK, "author.born", QUIRE_GROUPING_MONTH, .is_descending = true),
    RULE(BOOK, "author.city.size", QUIRE_GROUPING_VALUE, .is_descending = true),
    EXPRESSION(BOOK, "TERNARY(price > 10, 'high', 'low')", .fixed = {"middle", "low"}),
    EXPRESSION(BOOK, "tags.@count", .is_descending = true),
    EXPRESSION(BOOK, "tags.@max.weight", .is_descending = false),
    EXPRESSION(BOOK, "TERNARY(author.books.@count > 1, 'many', 'few')", .is_descending = false),
    EXPRESSION(BOOK, "TERNARY(ANY tags.name == 'Ann', 'ann', 'other')", .is_descending = true),
    KEY(PERSON, NULL),
    KEY(PERSON, "name"),
    KEY(PERSON, "age"),
    KEY(PERSON, "city.name"),
    RULE(PERSON, "name", QUIRE_GROUPING_LETTER, .fixed = {"B", NULL}),
    RULE(PERSON, "city.size", QUIRE_GROUPING_NUMBER, .is_descending = true),
    RULE(PERSON, "born", QUIRE_GROUPING_YEAR, .is_descending = false),
    RULE(PERSON, "city.name", QUIRE_GROUPING_VALUE, .is_descending = true),
    EXPRESSION(PERSON, "books.@count", .is_descending = false),
    EXPRESSION(PERSON, "TERNARY(city.people.@count > 1, 'crowd', 'alone')", .is_descending = true),
    KEY(TAG, NULL),
    KEY(TAG, "name"),
    KEY(TAG, "weight"),
    EXPRESSION(TAG, "books.@count", .is_descending = true),
};
const int sectioning_count = sizeof sectionings / sizeof sectionings[0];

const double range_bounds[2] = {10, 30};
bool has_bounds(const sectioning *sectioning) { return strcmp(sectioning->key_path, "author.age") == 0; }

/* --- Values at key paths and of expressions, with their order. */

typedef struct cell {
    enum { NOTHING, NUMBER, WORDS } kind;
    double number;
    const char *words;
} cell;

static cell number_cell(double number) { return (cell){isnan(number) ? NOTHING : NUMBER, number, NULL}; }
static cell words_cell(const char *words) { return (cell){words ? WORDS : NOTHING, 0, words}; }

static int compare_cells(const cell *left, const cell *right) {
    if (left->kind != right->kind) return left->kind == NOTHING ? -1 : 1;
    if (left->kind == WORDS) return strcmp(left->words, right->words);
    return left->kind == NUMBER ? (left->number > right->number) - (left->number < right->number) : 0;
}

static int key_at(int kind, const char *name) {
    for (int i = 0; i < KEYS; i++)
        if (strcmp(keys[kind][i].name, name) == 0) return i;
    return -1;
}

static cell cell_at(const facts *facts, const thing *thing, int kind, const char *path) {
    for (const char *rest; (rest = strchr(path, '.')); path = rest + 1) thing = holder_of(facts, kind, thing), kind++;
    if (!thing) return number_cell(NAN);
    const int key = key_at(kind, path);
    if (key < 0) return number_cell(thing->holder < 0 ? NAN : (double)facts->things[kind + 1][thing->holder].id);
    return keys[kind][key].type == QUIRE_TYPE_STRING ? words_cell(text_of(thing, key)) : number_cell(number_of(thing, key));
}

static int count_in(const facts *facts, int kind, int holder) {
    int count = 0;
    for (int slot = 0; slot < MOST_THINGS; slot++)
        count += facts->things[kind][slot].exists && facts->things[kind][slot].holder == holder;
    return count;
}

static cell expression_cell(const facts *facts, const thing *thing, const sectioning *sectioning) {
    const char *text = sectioning->expression;
    const int slot = (int)(thing - facts->things[sectioning->kind]);
    if (strcmp(text, "TERNARY(price > 10, 'high', 'low')") == 0) return words_cell(number_of(thing, 1) > 10 ? "high" : "low");
    if (strcmp(text, "tags.@count") == 0) return number_cell(__builtin_popcount(thing->tags));
    if (strcmp(text, "books.@count") == 0 && sectioning->kind == PERSON) return number_cell(count_in(facts, BOOK, slot));
    if (strcmp(text, "TERNARY(author.books.@count > 1, 'many', 'few')") == 0)
        return words_cell(thing->holder >= 0 && count_in(facts, BOOK, thing->holder) > 1 ? "many" : "few");
    if (strcmp(text, "TERNARY(city.people.@count > 1, 'crowd', 'alone')") == 0)
        return words_cell(thing->holder >= 0 && count_in(facts, PERSON, thing->holder) > 1 ? "crowd" : "alone");
    if (strcmp(text, "books.@count") == 0) {
        int count = 0;
        for (int book = 0; book < MOST_THINGS; book++)
            count += facts->things[BOOK][book].exists && facts->things[BOOK][book].tags >> slot & 1;
        return number_cell(count);
    }
    const bool is_weight = strcmp(text, "tags.@max.weight") == 0;
    bool has_ann = false;
    double most = NAN;
    for (int tag = 0; tag < MOST_TAGS; tag++) {
        if (!(thing->tags >> tag & 1)) continue;
        const char *name = text_of(&facts->things[TAG][tag], 0);
        const double weight = number_of(&facts->things[TAG][tag], 1);
        has_ann |= name && strcmp(name, "Ann") == 0;
        if (!isnan(weight) && !(weight <= most)) most = weight;
    }
    return is_weight ? number_cell(most) : words_cell(has_ann ? "ann" : "other");
}

/* --- Sections. */

typedef struct section {
    cell order;
    char name[32];
} section;

static void name_date(char *name, double seconds, const char *format) {
    const time_t time = (time_t)floor(seconds);
    struct tm parts;
    gmtime_r(&time, &parts);
    strftime(name, 32, format, &parts);
}

static void make_period(section *section, double seconds, quire_section_grouping grouping) {
    static const char *const formats[] = {"%Y-%m-%d", "%Y-%m-%d", "%Y-%m", "%Y"};
    const double day = floor(seconds / 86400);
    /* The first of 1970 is a Thursday, and weeks begin on Sunday. */
    const double begin = grouping == QUIRE_GROUPING_WEEK ? day - fmod(fmod(day + 4, 7) + 7, 7) : day;
    name_date(section->name, begin * 86400, formats[grouping - QUIRE_GROUPING_DAY]);
    section->order = words_cell(section->name);
}

static section section_of(const facts *facts, const thing *thing, const sectioning *by) {
    section section = {{NOTHING, 0, NULL}, ""};
    if (!by->key_path && !by->expression) return section;
    const cell cell =
        by->expression ? expression_cell(facts, thing, by) : cell_at(facts, thing, by->kind, by->key_path);
    const char *last = by->key_path ? strrchr(by->key_path, '.') ? strrchr(by->key_path, '.') + 1 : by->key_path : "";
    if (cell.kind == NOTHING || (cell.kind == WORDS && !*cell.words)) return section;
    section.order = cell;
    if (by->grouping >= QUIRE_GROUPING_DAY && by->grouping <= QUIRE_GROUPING_YEAR) {
        make_period(&section, cell.number, by->grouping);
    } else if (by->grouping == QUIRE_GROUPING_LETTER) {
        /* The owl is a symbol, which comes before the letters; with and without its dots, the A is one. */
        const char letter = *cell.words == '\xF0' ? '#' : *cell.words == '\xC3' ? 'A' : *cell.words & 0x5F;
        section.order = number_cell(letter);
        snprintf(section.name, sizeof section.name, "%c", letter);
    } else if (by->grouping == QUIRE_GROUPING_NUMBER && has_bounds(by)) {
        const double bound = cell.number < range_bounds[0] ? -INFINITY : range_bounds[cell.number >= range_bounds[1]];
        section.order = number_cell(bound);
        if (isinf(bound)) snprintf(section.name, sizeof section.name, "<%g", range_bounds[0]);
        else snprintf(section.name, sizeof section.name, "%g", bound);
    } else if (by->grouping == QUIRE_GROUPING_NUMBER) {
        const double bound = floor((cell.number - RANGE_ORIGIN) / RANGE_WIDTH) * RANGE_WIDTH + RANGE_ORIGIN;
        section.order = number_cell(bound);
        snprintf(section.name, sizeof section.name, "%g", bound);
    } else if (cell.kind == WORDS) {
        snprintf(section.name, sizeof section.name, "%s", cell.words);
    } else if (strcmp(last, "created") == 0) {
        name_date(section.name, cell.number, "%Y-%m-%dT%H:%M:%SZ");
    } else {
        snprintf(section.name, sizeof section.name, strcmp(last, "price") == 0 ? "%.1f" : "%.0f", cell.number);
    }
    return section;
}

/* Which of the fixed sections it is; those that are none come behind them. */
static int fixed_place(const sectioning *by, const char *name) {
    int place = 0;
    while (place < MOST_FIXED_SECTIONS && by->fixed[place] && strcmp(by->fixed[place], name) != 0) place++;
    return place;
}

static int fixed_count(const sectioning *by) {
    int count = 0;
    while (count < MOST_FIXED_SECTIONS && by->fixed[count]) count++;
    return count;
}

/* --- The list. */

typedef struct candidate {
    int slot;
    int64_t id;
    section section;
    cell cells[MOST_SORTS + 1];
} candidate;

/* Sections by the values of a key path, in which nil and empty text share one and keep their order. */
static bool is_plain(const sectioning *by) {
    return by->key_path && by->grouping == QUIRE_GROUPING_VALUE && !fixed_count(by);
}

static const query *compared;

static int compare(const void *left_candidate, const void *right_candidate) {
    const candidate *left = left_candidate, *right = right_candidate;
    const sectioning *by = &sectionings[compared->section];
    int order = 0;
    if (is_plain(by)) {
        order = compare_cells(&left->cells[MOST_SORTS], &right->cells[MOST_SORTS]);
        if (order) return by->is_descending ? -order : order;
    } else if (by->is_rule) {
        order = fixed_place(by, left->section.name) - fixed_place(by, right->section.name);
        if (order) return order;
        /* Words that are a section's name have moved with it. */
        cell first = left->section.order, second = right->section.order;
        if (first.kind == WORDS) first.words = left->section.name;
        if (second.kind == WORDS) second.words = right->section.name;
        order = compare_cells(&first, &second);
        if (order) return by->is_descending ? -order : order;
    }
    for (int i = 0; i < compared->sort_count; i++) {
        order = compare_cells(&left->cells[i], &right->cells[i]);
        if (order) return compared->sorts[i].is_ascending ? order : -order;
    }
    return (left->id > right->id) - (left->id < right->id);
}

static void add_section(named_sections *out, const char *name, int start) {
    snprintf(out->names[out->list.count], sizeof out->names[0], "%s", name);
    out->list.starts[out->list.count] = start;
    out->list.sizes[out->list.count++] = 0;
}

void expect(const facts *facts, const query *query, named_sections *out) {
    static candidate candidates[MOST_THINGS];
    const sectioning *by = &sectionings[query->section];
    /* A section key path that is the first sort key already has its direction. */
    const bool is_sorted =
        !by->is_rule && by->key_path && query->sort_count && strcmp(by->key_path, query->sorts[0].path) == 0;
    int count = 0;
    for (int slot = 0; slot < MOST_THINGS; slot++) {
        const thing *thing = &facts->things[query->kind][slot];
        if (!thing->exists || !filters[query->filter].holds(facts, thing)) continue;
        if (query->is_narrow ? !thing->is_novel : query->is_flat && thing->is_novel) continue;
        candidate *candidate = &candidates[count++];
        *candidate = (struct candidate){.slot = slot, .id = thing->id, .section = section_of(facts, thing, by)};
        for (int i = 0; i < query->sort_count; i++)
            candidate->cells[i] = cell_at(facts, thing, query->kind, query->sorts[i].path);
        if (is_plain(by) && !is_sorted)
            candidate->cells[MOST_SORTS] = cell_at(facts, thing, query->kind, by->key_path);
    }
    compared = query;
    qsort(candidates, (size_t)count, sizeof candidates[0], compare);

    sections *list = &out->list;
    const int first = query->offset < count ? query->offset : count;
    list->total = query->limit && query->limit < count - first ? query->limit : count - first;
    list->count = 0;
    const bool has_sections = by->key_path || by->expression;
    if (!has_sections) add_section(out, "", 0);
    int fixed = 0;
    for (int i = 0; i < list->total; i++) {
        const candidate *candidate = &candidates[first + i];
        const char *name = candidate->section.name;
        list->slots[i] = candidate->slot;
        if (has_sections && (i == 0 || strcmp(name, candidate[-1].section.name) != 0)) {
            const int place = fixed_place(by, name);
            for (; fixed < place; fixed++) add_section(out, by->fixed[fixed], i);
            if (place < fixed_count(by)) fixed = place + 1;
            add_section(out, name, i);
        }
        list->sizes[list->count - 1]++;
    }
    for (; fixed < fixed_count(by); fixed++) add_section(out, by->fixed[fixed], list->total);
}

bool has_same_key(const facts *before, const facts *now, const query *query, int slot) {
    const sectioning *by = &sectionings[query->section];
    const thing *old = &before->things[query->kind][slot], *new = &now->things[query->kind][slot];
    const section first = section_of(before, old, by), second = section_of(now, new, by);
    if (strcmp(first.name, second.name) != 0) return false;
    for (int i = 0; i < query->sort_count; i++) {
        const cell left = cell_at(before, old, query->kind, query->sorts[i].path);
        const cell right = cell_at(now, new, query->kind, query->sorts[i].path);
        if (compare_cells(&left, &right)) return false;
    }
    return true;
}
