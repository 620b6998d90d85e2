#include "list_models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char sentence[256];
static int (*slot_of_row)(int64_t id);

#define FAULT(...) return snprintf(sentence, sizeof sentence, __VA_ARGS__), sentence

/* --- A list that is edited in place, rows of all sections one after another. */

static int start_of(const sections *list, int64_t section) {
    int start = 0;
    for (int64_t i = 0; i < section; i++) start += list->sizes[i];
    return start;
}

static bool has_section(const sections *list, int64_t section) { return section >= 0 && section < list->count; }

static bool has_row(const sections *list, int64_t section, int64_t row) {
    return has_section(list, section) && row >= 0 && row < list->sizes[section];
}

static bool has_gap(const sections *list, int64_t section, int64_t row) {
    return has_section(list, section) && row >= 0 && row <= list->sizes[section];
}

/* -1 when there is no such row. */
static int slot_at(const sections *list, int64_t section, int64_t row) {
    return has_row(list, section, row) ? list->slots[start_of(list, section) + row] : -1;
}

static void put_slots(sections *list, int flat, const int *slots, int count) {
    memmove(list->slots + flat + count, list->slots + flat, sizeof(int) * (size_t)(list->total - flat));
    memcpy(list->slots + flat, slots, sizeof(int) * (size_t)count);
    list->total += count;
}

static void cut_slots(sections *list, int flat, int count) {
    list->total -= count;
    memmove(list->slots + flat, list->slots + flat + count, sizeof(int) * (size_t)(list->total - flat));
}

static void put_row(sections *list, int64_t section, int64_t row, int slot) {
    put_slots(list, start_of(list, section) + (int)row, &slot, 1);
    list->sizes[section]++;
}

static void cut_row(sections *list, int64_t section, int64_t row) {
    cut_slots(list, start_of(list, section) + (int)row, 1);
    list->sizes[section]--;
}

static void put_section(sections *list, int64_t section, int size) {
    memmove(list->sizes + section + 1, list->sizes + section, sizeof(int) * (size_t)(list->count++ - section));
    list->sizes[section] = size;
}

static void cut_section(sections *list, int64_t section) {
    memmove(list->sizes + section, list->sizes + section + 1, sizeof(int) * (size_t)(--list->count - section));
}

/* --- Qt, and a document: rows are inserted before the one that stands at the destination. */

static const char *before_child(quire_step_array steps, bool splits, sections *list) {
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        const int64_t section = step->section, row = step->row;
        const int slot = step->id ? slot_of_row(step->id) : -1;
        const bool is_insertion = step->kind == QUIRE_STEP_INSERT_ROW;
        if (step->kind <= QUIRE_STEP_UPDATE_ROW) {
            if (is_insertion ? !has_gap(list, section, row) : slot < 0 || slot_at(list, section, row) != slot)
                FAULT("step %d, of kind %u: its row is not there", (int)i, step->kind);
            if (step->flat != start_of(list, section) + row) FAULT("step %d has the wrong flat place", (int)i);
        }
        switch (step->kind) {
        case QUIRE_STEP_INSERT_SECTION:
            if (section < 0 || section > list->count) FAULT("step %d inserts a section out of range", (int)i);
            put_section(list, section, 0);
            break;
        case QUIRE_STEP_DELETE_SECTION:
            if (!has_section(list, section) || list->sizes[section]) FAULT("step %d deletes a section with rows", (int)i);
            cut_section(list, section);
            break;
        case QUIRE_STEP_INSERT_ROW: put_row(list, section, row, slot); break;
        case QUIRE_STEP_DELETE_ROW: cut_row(list, section, row); break;
        case QUIRE_STEP_UPDATE_ROW: break;
        case QUIRE_STEP_MOVE_ROW: {
            const bool is_same = section == step->to_section;
            if (splits) FAULT("step %d is a move that was to be split", (int)i);
            if (!has_gap(list, step->to_section, step->to_row)) FAULT("step %d moves to no place", (int)i);
            /* `beginMoveRows` refuses these. */
            if (is_same && (step->to_row == row || step->to_row == row + 1)) FAULT("step %d moves a row nowhere", (int)i);
            /* Over a border the place in the whole may stay the same, which is written as such. */
            const int64_t flat = start_of(list, step->to_section) + step->to_row;
            if (step->to_flat != (flat == step->flat + 1 ? step->flat : flat)) FAULT("step %d moves to the wrong flat place", (int)i);
            cut_row(list, section, row);
            put_row(list, step->to_section, is_same && step->to_row > row ? step->to_row - 1 : step->to_row, slot);
            break;
        }
        default: FAULT("step %d is of the kind %u", (int)i, step->kind);
        }
    }
    return NULL;
}

/* --- UIKit: a section that comes brings its rows, one that goes takes them along. */

typedef struct arrival {
    int64_t section, row;
    int slot;
} arrival;

static int compare_arrivals(const void *left, const void *right) {
    const arrival *a = left, *b = right;
    return a->section != b->section ? (a->section > b->section) - (a->section < b->section) : (a->row > b->row) - (a->row < b->row);
}

static const char *batch(
    quire_step_array steps, bool splits, const sections *old, const sections *new, sections *list) {
    static bool leaves[SLOTS];
    static bool goes[SLOTS], comes[SLOTS];
    static arrival arrivals[2 * SLOTS];
    int arriving = 0;
    memset(leaves, 0, sizeof leaves);
    memset(goes, 0, sizeof goes);
    memset(comes, 0, sizeof comes);
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        const int slot = step->id ? slot_of_row(step->id) : -1;
        const bool is_move = step->kind == QUIRE_STEP_MOVE_ROW;
        if (is_move && splits) FAULT("a move of the batch was to be split");
        if (step->kind == QUIRE_STEP_DELETE_SECTION) {
            if (!has_section(old, step->section)) FAULT("the batch deletes section %lld", (long long)step->section);
            goes[step->section] = true;
        } else if (step->kind == QUIRE_STEP_INSERT_SECTION) {
            if (!has_section(new, step->section)) FAULT("the batch inserts section %lld", (long long)step->section);
            comes[step->section] = true;
        } else if (step->kind == QUIRE_STEP_UPDATE_ROW) {
            if (slot_at(new, step->to_section, step->to_row) != slot) FAULT("an update of the batch is not where it says");
            if (step->section >= 0 && slot_at(old, step->section, step->row) != slot)
                FAULT("an update of the batch was not where it says");
        } else if (step->kind != QUIRE_STEP_INSERT_ROW && step->kind != QUIRE_STEP_DELETE_ROW && !is_move) {
            FAULT("a step of the batch is of the kind %u", step->kind);
        }
        if (step->kind == QUIRE_STEP_DELETE_ROW || is_move) {
            if (slot < 0 || slot_at(old, step->section, step->row) != slot) FAULT("the batch takes another row away");
            const int flat = start_of(old, step->section) + (int)step->row;
            if (flat != step->flat) FAULT("a step of the batch has the wrong flat place");
            if (leaves[flat]) FAULT("the batch takes a row away twice");
            leaves[flat] = true;
        }
        if (step->kind == QUIRE_STEP_INSERT_ROW || is_move) {
            const int64_t section = is_move ? step->to_section : step->section, row = is_move ? step->to_row : step->row;
            arrivals[arriving++] = (arrival){section, row, slot};
        }
    }
    for (int64_t section = old->count - 1; section >= 0; section--) {
        for (int64_t row = old->sizes[section] - 1; row >= 0; row--) {
            if (!leaves[start_of(old, section) + row]) continue;
            if (goes[section]) FAULT("a row of a section that goes leaves by itself");
            cut_row(list, section, row);
        }
    }
    for (int64_t section = old->count - 1; section >= 0; section--) {
        if (!goes[section]) continue;
        cut_slots(list, start_of(list, section), list->sizes[section]);
        cut_section(list, section);
    }
    for (int64_t section = 0; section < new->count; section++) {
        if (!comes[section]) continue;
        if (section > list->count) FAULT("the batch inserts a section behind the end");
        put_section(list, section, 0);
        put_slots(list, start_of(list, section), new->slots + start_of(new, section), new->sizes[section]);
        list->sizes[section] = new->sizes[section];
    }
    qsort(arrivals, (size_t)arriving, sizeof arrivals[0], compare_arrivals);
    for (int i = 0; i < arriving; i++) {
        if (!has_gap(list, arrivals[i].section, arrivals[i].row)) FAULT("the batch inserts a row nowhere");
        if (comes[arrivals[i].section]) FAULT("a row of a section that comes arrives by itself");
        put_row(list, arrivals[i].section, arrivals[i].row, arrivals[i].slot);
    }
    return NULL;
}

/* --- GTK: of all that is in no range, neither rows nor the beginnings of sections may have changed. */

/* The rows, and of those that are the first of their section the number with a mark. */
static void write_items(const sections *list, sections *out) {
    *out = *list;
    for (int i = 0, flat = 0; i < list->count; flat += list->sizes[i++])
        if (list->sizes[i]) out->slots[flat] += SLOTS;
}

static const char *ranges(quire_step_array steps, const sections *old, const sections *new) {
    static sections shown, wanted;
    write_items(old, &shown);
    write_items(new, &wanted);
    int64_t end = -1;
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        /* Two ranges that touch would be one. */
        if (step->kind != QUIRE_STEP_REPLACE_ROWS || step->flat <= end || step->removed + step->inserted <= 0)
            FAULT("range %d is none, or touches the one before", (int)i);
        if (step->flat + step->removed > shown.total || step->flat + step->inserted > wanted.total)
            FAULT("range %d is beyond the list", (int)i);
        for (int64_t k = 0; k < step->removed; k++)
            if (slot_of_row(step->removed_ids[k]) != shown.slots[step->flat + k] % SLOTS) FAULT("range %d takes another id away", (int)i);
        for (int64_t k = 0; k < step->inserted; k++)
            if (slot_of_row(step->inserted_ids[k]) != wanted.slots[step->flat + k] % SLOTS) FAULT("range %d brings another id", (int)i);
        cut_slots(&shown, (int)step->flat, (int)step->removed);
        put_slots(&shown, (int)step->flat, wanted.slots + step->flat, (int)step->inserted);
        end = step->flat + step->inserted;
    }
    if (shown.total != wanted.total || memcmp(shown.slots, wanted.slots, sizeof(int) * (size_t)wanted.total) != 0)
        FAULT("the ranges leave something out");
    return NULL;
}

const char *apply_plans(const quire_changes *changes, const sections *old, const sections *new, int (*slot_of)(int64_t id)) {
    static sections list;
    slot_of_row = slot_of;
    for (int splits = 0; splits < 2; splits++) {
        for (quire_plan_order order = QUIRE_PLAN_BEFORE_CHILD; order <= QUIRE_PLAN_BATCH; order++) {
            quire_step_array steps;
            if (quire_changes_plan(changes, order, splits, &steps, NULL) != QUIRE_OK) FAULT("there is no plan %u", order);
            list = *old;
            const char *fault = order == QUIRE_PLAN_BEFORE_CHILD ? before_child(steps, splits, &list)
                : order == QUIRE_PLAN_RANGES                     ? ranges(steps, old, new)
                                                                 : batch(steps, splits, old, new, &list);
            if (fault) return fault;
            if (order != QUIRE_PLAN_RANGES && !sections_equal(&list, new)) FAULT("plan %u does not lead to the new list", order);
        }
    }
    return NULL;
}

const char *check_mapping(const quire_changes *changes, const sections *old, const sections *new) {
    static int64_t rows[SLOTS + 2], mapped[SLOTS + 2];
    for (int i = 0; i < old->total + 2; i++) rows[i] = i - 1;
    if (quire_changes_map_positions(changes, rows, (size_t)old->total + 2, mapped, NULL) != QUIRE_OK)
        FAULT("positions cannot be mapped");
    if (mapped[0] != -1 || mapped[old->total + 1] != -1) FAULT("a row out of range is mapped");
    for (int i = 0; i < old->total; i++) {
        const int64_t row = mapped[i + 1];
        if (row >= new->total || (row >= 0 && new->slots[row] != old->slots[i])) FAULT("row %d is mapped to another", i);
        for (int place = 0; row < 0 && place < new->total; place++)
            if (new->slots[place] == old->slots[i]) FAULT("row %d is mapped to none, and still there", i);
    }
    return NULL;
}
