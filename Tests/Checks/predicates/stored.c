#include "stored.h"

#include <stdio.h>
#include <string.h>

static bool is_unsaved(quire_value value) {
    if (value.kind == QUIRE_VALUE_OBJECT) return value.as.integer >= rows.first_unsaved;
    if (value.kind != QUIRE_VALUE_LIST) return false;
    for (uint32_t i = 0; i < value.size; i++)
        if (is_unsaved(value.as.list[i])) return true;
    return false;
}

bool names_unsaved(const node *node) {
    if (is_unsaved(node->argument)) return true;
    for (int i = 0; i < node->child_count; i++)
        if (names_unsaved(node->children[i])) return true;
    return false;
}

static quire_status fetch_saved(const stage *stage, const query *query, bool is_windowed, int *out_slots, int *out_count) {
    quire_predicate *predicate = query->condition ? parse(query->condition, stage) : NULL;
    quire_fetch_request *request = new_request(query->entity, predicate);
    quire_predicate_release(predicate);
    add_keys(request, &query->ordering);
    OK(quire_fetch_request_set_includes_subentities(request, query->includes_subentities, &error));
    OK(quire_fetch_request_set_includes_pending_changes(request, false, &error));
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    if (is_windowed) {
        OK(quire_fetch_request_set_offset(request, (uint64_t)query->offset, &error));
        OK(quire_fetch_request_set_limit(request, query->limit ? (uint64_t)query->limit : QUIRE_NO_LIMIT, &error));
    }
    quire_list *list = NULL;
    int64_t counted = -1;
    *out_count = 0;
    const quire_status status = quire_context_fetch(stage->context, request, &list, &error);
    const quire_status count_status = status ? status : quire_context_count(stage->context, request, &counted, &error);
    quire_fetch_request_release(request);
    if (status) return status;
    const int64_t count = quire_list_count(list);
    if (count_status || counted != count || count > SLOTS)
        snprintf(complaint, sizeof complaint, "a fetch gives %lld rows and the count is %lld", (long long)count, (long long)counted);
    int64_t ids[SLOTS];
    *out_count = count < SLOTS ? (int)count : SLOTS;
    OK(quire_list_ids(list, 0, *out_count, ids, &error));
    for (int i = 0; i < *out_count; i++) out_slots[i] = slot_of_id(ids[i], query->entity);
    quire_list_release(list);
    return QUIRE_OK;
}

static void print_list(const char *name, quire_status status, const int *slots, int count) {
    printf("  %-20s %s", name, quire_status_name(status));
    for (int i = 0; i < count; i++) printf(" #%d", slots[i]);
    printf("\n");
}

/* By memory, in no order. */
static bool holds_for(const query *query, const int *slots, int count) {
    quire_predicate *predicate = query->condition ? parse(query->condition, &earlier) : NULL;
    bool is_same = true;
    for (int slot = 0; slot < SLOTS && is_same; slot++) {
        if (!earlier.objects[slot] || !is_kind_of(&rows, rows.rows[slot].entity, query->entity)) continue;
        bool holds = query->includes_subentities || rows.rows[slot].entity == query->entity, found = false;
        if (holds && predicate && quire_predicate_matches(predicate, earlier.objects[slot], &holds, &error) != QUIRE_OK) {
            drop_error();
            break;
        }
        for (int i = 0; i < count; i++) found |= slots[i] == slot;
        if (holds == found) continue;
        is_same = false;
        snprintf(complaint, sizeof complaint, "#%d %s by memory", slot, holds ? "belongs to it" : "does not belong to it");
    }
    quire_predicate_release(predicate);
    return is_same;
}

bool stores_the_same(const query *query, bool shows) {
    int slots[2][SLOTS], counts[2];
    complaint[0] = 0;
    for (int is_windowed = 0; is_windowed < 2; is_windowed++) {
        quire_status statuses[2];
        for (int i = 0; i < 2; i++) {
            statuses[i] = fetch_saved(i ? &stages[MIXED] : &earlier, query, is_windowed, slots[i], &counts[i]);
            if (shows) print_list(i ? "mixed" : "earlier", statuses[i], slots[i], counts[i]);
            drop_error();
        }
        if (statuses[0] != statuses[1] || counts[0] != counts[1] || memcmp(slots[0], slots[1], sizeof(int) * (size_t)counts[0]))
            snprintf(complaint, sizeof complaint, "what is saved is another with changes pending");
        else if (statuses[0] == QUIRE_OK && !is_windowed && !complaint[0])
            holds_for(query, slots[0], counts[0]);
    }
    return !complaint[0];
}

void show_stored(query *query, uint64_t seed, int step) {
    printf("--- world of seed %llu, step %d: %s\n", (unsigned long long)seed, step, complaint);
    for (int slot = 0; slot < rows.row_count + rows.doomed_count; slot++) {
        if (!rows.rows[slot].exists) continue;
        rows.rows[slot].exists = false;
        close_stages();
        open_stages();
        if (stores_the_same(query, false)) rows.rows[slot].exists = true;
    }
    close_stages();
    open_stages();
    stores_the_same(query, true);
    printf("  %s%s", rows.entities[query->entity].name, query->includes_subentities ? "" : " without entities below it");
    print_ordering(&query->ordering);
    printf(" WHERE %s\n  %s\n", query->condition ? canonical : "TRUEPREDICATE", complaint);
    print_world(stdout, &rows);
    fflush(stdout);
}
