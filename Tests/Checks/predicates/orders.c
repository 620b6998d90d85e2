#include "orders.h"

#include "dice.h"

#include <stdio.h>
#include <string.h>

void make_ordering(int entity, ordering *out) {
    static const char *const locales[] = {NULL, NULL, "de", "sv", "tr", "da", "de@collation=phonebook", "ja", "en_US"};
    out->key_count = 0;
    for (int wanted = 1 + random_below(3); wanted > 0; wanted--) {
        quire_attribute_type type;
        const char *path = make_sort_key(&rows, entity, &type);
        if (!path) continue;
        const quire_sort_options defaults = QUIRE_SORT_OPTIONS_INIT;
        quire_sort_options *options = &out->keys[out->key_count].options;
        *options = defaults;
        options->is_descending = random_below(2);
        /* Now and then for what is no text, which everything must refuse. */
        if (kind_of_type(type) == TEXT || chance(1)) options->text_order = (uint32_t)random_below(5);
        if (options->text_order >= QUIRE_TEXT_LOCALIZED) options->locale = RANDOM_OF(locales);
        snprintf(out->keys[out->key_count++].path, sizeof out->keys[0].path, "%s", path);
    }
}

void add_keys(quire_fetch_request *request, const ordering *ordering) {
    for (int i = 0; i < ordering->key_count; i++)
        OK(quire_fetch_request_add_sort_with_options(
            request, ordering->keys[i].path, QUIRE_NUL, &ordering->keys[i].options, &error));
}

static void print_list(const char *name, const int *slots, int count) {
    printf("  %-20s", name);
    for (int i = 0; i < count; i++) printf(" #%d", slots[i]);
    printf("\n");
}

bool sorts_the_same(const query *query, bool shows) {
    int slots[STAGES][SLOTS], counts[STAGES];
    quire_status statuses[STAGES];
    complaint[0] = 0;
    for (int i = 0; i < STAGES; i++) {
        quire_predicate *predicate = query->condition ? parse(query->condition, &stages[i]) : NULL;
        quire_fetch_request *request = new_request(query->entity, predicate);
        quire_predicate_release(predicate);
        add_keys(request, &query->ordering);
        OK(quire_fetch_request_set_includes_subentities(request, query->includes_subentities, &error));
        statuses[i] = fetch(&stages[i], request, slots[i], &counts[i]);
        if (shows) print_list(stage_names[i], slots[i], counts[i]);
        drop_error();
        if (statuses[i] != statuses[0] || counts[i] != counts[0] || memcmp(slots[i], slots[0], sizeof(int) * (size_t)counts[0]))
            snprintf(complaint, sizeof complaint, "%s is ordered otherwise than saved", stage_names[i]);
        if (statuses[i] == QUIRE_OK) {
            int window[SLOTS], count;
            OK(quire_fetch_request_set_offset(request, (uint64_t)query->offset, &error));
            OK(quire_fetch_request_set_limit(request, query->limit ? (uint64_t)query->limit : QUIRE_NO_LIMIT, &error));
            OK(fetch(&stages[i], request, window, &count));
            int expected = counts[i] > query->offset ? counts[i] - query->offset : 0;
            if (query->limit && expected > query->limit) expected = query->limit;
            if (count != expected || memcmp(window, slots[i] + query->offset, sizeof(int) * (size_t)count)) {
                snprintf(complaint, sizeof complaint, "%s has another window %d+%d", stage_names[i], query->offset, query->limit);
                if (shows) print_list("its window", window, count);
            }
        }
        quire_fetch_request_release(request);
    }
    return !complaint[0];
}

void print_ordering(const ordering *ordering) {
    printf(" ORDER BY");
    for (int i = 0; i < ordering->key_count; i++)
        printf(" %s(order %u%s, locale %s)", ordering->keys[i].path, ordering->keys[i].options.text_order,
            ordering->keys[i].options.is_descending ? ", descending" : "",
            ordering->keys[i].options.locale ? ordering->keys[i].options.locale : "none");
}

void show_sort(query *query, uint64_t seed, int step) {
    printf("--- world of seed %llu, step %d: %s\n", (unsigned long long)seed, step, complaint);
    node *const condition = query->condition;
    query->condition = NULL;
    if (sorts_the_same(query, false)) query->condition = condition;
    const int all = rows.row_count + rows.doomed_count;
    for (int slot = 0; slot < all; slot++) {
        rows.rows[slot].exists = false;
        close_stages();
        open_stages();
        if (sorts_the_same(query, false)) rows.rows[slot].exists = true;
    }
    close_stages();
    open_stages();
    sorts_the_same(query, true);
    printf("  %s", rows.entities[query->entity].name);
    print_ordering(&query->ordering);
    printf(query->includes_subentities ? "" : " without entities below it");
    printf(" WHERE %s\n  %s\n", query->condition ? canonical : "TRUEPREDICATE", complaint);
    print_world(stdout, &rows);
    fflush(stdout);
}
