#include "replay.h"

#include <stdio.h>
#include <string.h>

static char sentence[256];

#define FAULT(...) return snprintf(sentence, sizeof sentence, __VA_ARGS__), sentence
#define NUMBER(x) ((long long)(x))

bool sections_equal(const sections *left, const sections *right) {
    return left->count == right->count && left->total == right->total
        && memcmp(left->sizes, right->sizes, sizeof(int) * (size_t)left->count) == 0
        && memcmp(left->slots, right->slots, sizeof(int) * (size_t)left->total) == 0;
}

static void open_editing(const sections *list, editing *editing) {
    editing->count = list->count;
    for (int i = 0; i < list->count; i++) {
        editing->sizes[i] = list->sizes[i];
        memcpy(editing->slots[i], list->slots + list->starts[i], sizeof(int) * (size_t)list->sizes[i]);
    }
}

static void close_editing(const editing *editing, sections *list) {
    list->count = editing->count;
    list->total = 0;
    for (int i = 0; i < editing->count; i++) {
        list->starts[i] = list->total;
        list->sizes[i] = editing->sizes[i];
        memcpy(list->slots + list->total, editing->slots[i], sizeof(int) * (size_t)editing->sizes[i]);
        list->total += editing->sizes[i];
    }
}

static int64_t flat_place(const editing *editing, int64_t section, int64_t row) {
    for (int64_t i = 0; i < section; i++) row += editing->sizes[i];
    return row;
}

static bool has_row(const editing *editing, int64_t section, int64_t row) {
    return section >= 0 && section < editing->count && row >= 0 && row < editing->sizes[section];
}

static bool has_place(const editing *editing, int64_t section, int64_t row) {
    return section >= 0 && section < editing->count && row >= 0 && row <= editing->sizes[section];
}

static int remove_row(editing *editing, int64_t section, int64_t row) {
    int *slots = editing->slots[section];
    const int slot = slots[row];
    memmove(slots + row, slots + row + 1, sizeof(int) * (size_t)(--editing->sizes[section] - row));
    return slot;
}

static void insert_row(editing *editing, int64_t section, int64_t row, int slot) {
    int *slots = editing->slots[section];
    memmove(slots + row + 1, slots + row, sizeof(int) * (size_t)(editing->sizes[section]++ - row));
    slots[row] = slot;
}

static void remove_section(editing *editing, int64_t section) {
    const size_t behind = (size_t)(--editing->count - section);
    memmove(editing->sizes + section, editing->sizes + section + 1, sizeof editing->sizes[0] * behind);
    memmove(editing->slots + section, editing->slots + section + 1, sizeof editing->slots[0] * behind);
}

static void insert_section(editing *editing, int64_t section) {
    const size_t behind = (size_t)(editing->count++ - section);
    memmove(editing->sizes + section + 1, editing->sizes + section, sizeof editing->sizes[0] * behind);
    memmove(editing->slots + section + 1, editing->slots + section, sizeof editing->slots[0] * behind);
    editing->sizes[section] = 0;
}

/* The order in which a delegate is told: deletions last to first, then inserts, moves and updates first to last. */
static const char *check_order(const told *told) {
    static const int ranks[] = {-1, 1, 0, 2, 3};
    for (int i = 0; i < told->row_count; i++) {
        const quire_change *change = &told->rows[i].change;
        if (change->kind < 1 || change->kind > 4) FAULT("change of the unknown kind %u", change->kind);
        if (i == 0) continue;
        const quire_change *previous = &told->rows[i - 1].change;
        const int rank = ranks[change->kind], previous_rank = ranks[previous->kind];
        if (rank < previous_rank) FAULT("kind %u told after kind %u", change->kind, previous->kind);
        if (rank != previous_rank) continue;
        const bool is_ordered = change->kind == QUIRE_CHANGE_DELETE ? change->old_flat < previous->old_flat
                                                                    : change->new_flat > previous->new_flat;
        if (!is_ordered) FAULT("changes of kind %u are told out of order", change->kind);
    }
    for (int i = 1; i < told->section_count; i++) {
        const quire_section_change *change = &told->sections[i], *previous = &told->sections[i - 1];
        const bool is_delete = change->kind == QUIRE_CHANGE_DELETE, was_delete = previous->kind == QUIRE_CHANGE_DELETE;
        if (is_delete && !was_delete) FAULT("a section's deletion told after an insertion");
        if (is_delete == was_delete && (is_delete ? change->index >= previous->index : change->index <= previous->index))
            FAULT("section changes are told out of order");
    }
    return NULL;
}

/* Takes out what left: rows that were deleted or moved, last to first, then the sections. */
static const char *take_out(const told *told, editing *editing) {
    static bool leaves[SLOTS][SLOTS];
    for (int section = 0; section < editing->count; section++) memset(leaves[section], 0, sizeof leaves[section]);
    for (int i = 0; i < told->row_count; i++) {
        const quire_change *change = &told->rows[i].change;
        if (change->kind == QUIRE_CHANGE_INSERT) continue;
        const int64_t section = change->old_section, row = change->old_row;
        if (!has_row(editing, section, row)) FAULT("old place %lld.%lld does not exist", NUMBER(section), NUMBER(row));
        if (editing->slots[section][row] != told->rows[i].slot)
            FAULT("old place %lld.%lld holds another row", NUMBER(section), NUMBER(row));
        if (flat_place(editing, section, row) != change->old_flat)
            FAULT("old place %lld.%lld is not %lld in all", NUMBER(section), NUMBER(row), NUMBER(change->old_flat));
        if (change->kind == QUIRE_CHANGE_UPDATE) continue;
        if (leaves[section][row]) FAULT("old place %lld.%lld is left twice", NUMBER(section), NUMBER(row));
        leaves[section][row] = true;
    }
    for (int section = 0; section < editing->count; section++)
        for (int row = editing->sizes[section] - 1; row >= 0; row--)
            if (leaves[section][row]) remove_row(editing, section, row);
    for (int i = 0; i < told->section_count; i++) {
        const quire_section_change *change = &told->sections[i];
        if (change->kind != QUIRE_CHANGE_DELETE) continue;
        if (change->index < 0 || change->index >= editing->count) FAULT("section %lld cannot go", NUMBER(change->index));
        if (editing->sizes[change->index]) FAULT("section %lld goes and still has rows", NUMBER(change->index));
        remove_section(editing, change->index);
    }
    return NULL;
}

/* Puts in what came: sections, then rows in the order of their new places. */
static const char *put_in(const told *told, editing *editing) {
    for (int i = 0; i < told->section_count; i++) {
        const quire_section_change *change = &told->sections[i];
        if (change->kind != QUIRE_CHANGE_INSERT) continue;
        if (change->index < 0 || change->index > editing->count) FAULT("section %lld cannot come", NUMBER(change->index));
        insert_section(editing, change->index);
    }
    bool is_done[2 * SLOTS] = {false};
    for (;;) {
        int next = -1;
        for (int i = 0; i < told->row_count; i++) {
            const quire_change *change = &told->rows[i].change;
            if (is_done[i] || change->kind == QUIRE_CHANGE_DELETE || change->kind == QUIRE_CHANGE_UPDATE) continue;
            if (next < 0 || change->new_flat < told->rows[next].change.new_flat) next = i;
        }
        if (next < 0) break;
        is_done[next] = true;
        const quire_change *change = &told->rows[next].change;
        if (!has_place(editing, change->new_section, change->new_row))
            FAULT("new place %lld.%lld does not exist", NUMBER(change->new_section), NUMBER(change->new_row));
        insert_row(editing, change->new_section, change->new_row, told->rows[next].slot);
    }
    for (int i = 0; i < told->row_count; i++) {
        const quire_change *change = &told->rows[i].change;
        if (change->kind == QUIRE_CHANGE_DELETE) continue;
        const int64_t section = change->new_section, row = change->new_row;
        if (!has_row(editing, section, row) || editing->slots[section][row] != told->rows[i].slot)
            FAULT("new place %lld.%lld does not hold the row", NUMBER(section), NUMBER(row));
        if (flat_place(editing, section, row) != change->new_flat)
            FAULT("new place %lld.%lld is not %lld in all", NUMBER(section), NUMBER(row), NUMBER(change->new_flat));
    }
    return NULL;
}

static editing edited;

const char *replay_changes(const told *told, sections *list) {
    const char *fault = check_order(told);
    if (fault) return fault;
    open_editing(list, &edited);
    fault = take_out(told, &edited);
    if (!fault) fault = put_in(told, &edited);
    if (!fault) close_editing(&edited, list);
    return fault;
}

const char *replay_steps(const told *told, sections *list) {
    open_editing(list, &edited);
    for (int i = 0; i < told->step_count; i++) {
        const quire_step *step = &told->steps[i];
        const int64_t section = step->section, row = step->row;
        const int slot = told->step_slots[i];
        switch (step->kind) {
        case QUIRE_STEP_INSERT_SECTION:
            if (section < 0 || section > edited.count) FAULT("step %d inserts a section at %lld", i, NUMBER(section));
            insert_section(&edited, section);
            break;
        case QUIRE_STEP_DELETE_SECTION:
            if (section < 0 || section >= edited.count || edited.sizes[section])
                FAULT("step %d deletes section %lld, which has rows or does not exist", i, NUMBER(section));
            remove_section(&edited, section);
            break;
        case QUIRE_STEP_INSERT_ROW:
            if (!has_place(&edited, section, row)) FAULT("step %d inserts at %lld.%lld", i, NUMBER(section), NUMBER(row));
            if (flat_place(&edited, section, row) != step->flat) FAULT("step %d has the wrong flat place", i);
            insert_row(&edited, section, row, slot);
            break;
        case QUIRE_STEP_DELETE_ROW:
        case QUIRE_STEP_UPDATE_ROW:
        case QUIRE_STEP_MOVE_ROW:
            if (!has_row(&edited, section, row) || edited.slots[section][row] != slot)
                FAULT("step %d, of kind %u: its row is not at %lld.%lld", i, step->kind, NUMBER(section), NUMBER(row));
            if (flat_place(&edited, section, row) != step->flat) FAULT("step %d has the wrong flat place", i);
            if (step->kind == QUIRE_STEP_UPDATE_ROW) break;
            remove_row(&edited, section, row);
            if (step->kind == QUIRE_STEP_DELETE_ROW) break;
            if (!has_place(&edited, step->to_section, step->to_row))
                FAULT("step %d moves to %lld.%lld", i, NUMBER(step->to_section), NUMBER(step->to_row));
            if (flat_place(&edited, step->to_section, step->to_row) != step->to_flat) FAULT("step %d has the wrong flat place", i);
            insert_row(&edited, step->to_section, step->to_row, slot);
            break;
        default: FAULT("step %d has the unknown kind %u", i, step->kind);
        }
    }
    close_editing(&edited, list);
    return NULL;
}
