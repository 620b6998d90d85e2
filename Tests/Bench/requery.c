#include "requery.h"

static void add_section(shown *list, int64_t start, const char *name, size_t size) {
    if (list->sections == list->section_room) {
        list->section_room = list->section_room * 2 + 64;
        CHECK(list->starts = realloc(list->starts, sizeof *list->starts * (size_t)list->section_room));
    }
    if (list->name_size + size + 1 > list->name_room) {
        list->name_room = (list->name_size + size + 1) * 2;
        CHECK(list->names = realloc(list->names, list->name_room));
    }
    list->starts[list->sections++] = start;
    memcpy(list->names + list->name_size, name, size + 1);
    list->name_size += size + 1;
}

static void read_list(sqlite3_stmt *statement, shown *list) {
    size_t last = 0;
    list->count = list->sections = 0;
    list->name_size = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        if (list->count == list->room) {
            list->room = list->room * 2 + 1024;
            CHECK(list->ids = realloc(list->ids, sizeof *list->ids * (size_t)list->room));
        }
        const char *author = (const char *)sqlite3_column_text(statement, 1);
        CHECK(author);
        if (list->sections == 0 || strcmp(list->names + last, author) != 0) {
            last = list->name_size;
            add_section(list, list->count, author, (size_t)sqlite3_column_bytes(statement, 1));
        }
        list->ids[list->count++] = sqlite3_column_int64(statement, 0);
    }
    sqlite3_reset(statement);
}

/* How many of `numbers` are not in the longest part that rises. */
static int64_t falling(const int32_t *numbers, int64_t count) {
    int32_t *ends = malloc(sizeof *ends * (size_t)(count + 1));
    CHECK(ends);
    int64_t length = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t low = 0, high = length;
        if (length && ends[length - 1] < numbers[i]) low = length;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (ends[middle] < numbers[i]) low = middle + 1;
            else high = middle;
        }
        ends[low] = numbers[i];
        if (low == length) length++;
    }
    free(ends);
    return count - length;
}

/* What both lists begin and end with is left out. Ids are small and dense, so that an array finds their places. */
static int64_t compare(requery *list) {
    const shown *old = &list->old, *new = &list->new;
    int64_t first = 0, old_end = old->count, new_end = new->count, largest = 0, told = 0, both = 0;
    while (first < old_end && first < new_end && old->ids[first] == new->ids[first]) first++;
    while (old_end > first && new_end > first && old->ids[old_end - 1] == new->ids[new_end - 1]) old_end--, new_end--;
    for (int64_t i = first; i < old_end; i++) largest = old->ids[i] > largest ? old->ids[i] : largest;
    for (int64_t i = first; i < new_end; i++) largest = new->ids[i] > largest ? new->ids[i] : largest;
    if (largest >= list->place_room) {
        CHECK(list->places = realloc(list->places, sizeof *list->places * (size_t)(largest + 1)));
        memset(list->places + list->place_room, 0xFF, sizeof *list->places * (size_t)(largest + 1 - list->place_room));
        list->place_room = largest + 1;
    }
    int32_t *kept = malloc(sizeof *kept * (size_t)(old_end - first + 1));
    CHECK(kept);
    for (int64_t i = first; i < new_end; i++) list->places[new->ids[i]] = (int32_t)i;
    for (int64_t i = first; i < old_end; i++) {
        if (list->places[old->ids[i]] < 0) told++;
        else kept[both++] = list->places[old->ids[i]];
    }
    told += new_end - first - both + falling(kept, both);
    for (int64_t i = first; i < new_end; i++) list->places[new->ids[i]] = -1;
    free(kept);
    return told;
}

requery requery_begin(sqlite3 *database) {
    requery list = {.statement = prepare(database, "SELECT Z_PK, ZAUTHOR FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK")};
    read_list(list.statement, &list.old);
    return list;
}

void requery_refresh(requery *list) {
    read_list(list->statement, &list->new);
    list->told += compare(list);
    const shown old = list->old;
    list->old = list->new;
    list->new = old;
}

void requery_end(requery *list) {
    shown *const lists[] = {&list->old, &list->new};
    for (int i = 0; i < 2; i++) free(lists[i]->ids), free(lists[i]->starts), free(lists[i]->names);
    free(list->places);
    sqlite3_finalize(list->statement);
}
