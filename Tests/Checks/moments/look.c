#include "look.h"

#include "dice.h"
#include "lists.h"

#include <string.h>

_Thread_local long looks;

#define FAIL(side, format, ...) \
    fault("context %d at commit %lld of %lld: " format, (side)->writer, (long long)(side)->number, (long long)newest_number(), __VA_ARGS__)

/* --- Objects. */

static int64_t integer_of(quire_object *object, const char *key) {
    int64_t number = 0;
    bool is_nil = false;
    expect(quire_object_get_integer(object, key, QUIRE_NUL, &number, &is_nil, &failure), QUIRE_OK, key);
    return is_nil ? -1 : number;
}

static uint64_t numbers_in(quire_object *object, const char *key) {
    quire_list *list = NULL;
    uint64_t found = 0;
    expect(quire_object_get_objects(object, key, QUIRE_NUL, &list, &failure), QUIRE_OK, key);
    for (int64_t i = 0; i < quire_list_count(list); i++) {
        quire_object *member = NULL;
        DO(quire_list_object(list, i, &member, &failure));
        /* Of items the number is too great for a set of bits; their sum tells sets apart well enough. */
        const int64_t number = integer_of(member, "number");
        found += *key == 't' ? (uint64_t)1 << number : (uint64_t)(number + 1) * (uint64_t)(number + 7);
        quire_object_release(member);
    }
    quire_list_release(list);
    return found;
}

void look_at_item(side *side, const state *view, quire_object *object, int slot) {
    const item *is = &view->items[slot];
    quire_string text;
    if (!is->exists) FAIL(side, "item %d is there, and should not be", slot);
    expect(quire_object_get_text(object, "name", QUIRE_NUL, &text, &failure), QUIRE_OK, "the name of an item");
    if (text.size != strlen(names[is->name]) || memcmp(text.data, names[is->name], text.size) != 0)
        FAIL(side, "item %d has the name '%.20s' instead of '%s'", slot, text.data, names[is->name]);
    const int64_t wanted[] = {is->shelf, is->amount, is->stamp};
    static const char *const keys[] = {"shelf", "amount", "stamp"};
    for (int i = 0; i < COUNT_OF(keys); i++) {
        const int64_t found = integer_of(object, keys[i]);
        if (found != wanted[i])
            FAIL(side, "item %d has the %s %lld instead of %lld", slot, keys[i], (long long)found, (long long)wanted[i]);
    }
    quire_object *owner = NULL;
    expect(quire_object_get_object(object, "owner", QUIRE_NUL, &owner, &failure), QUIRE_OK, "the owner of an item");
    const int64_t number = owner ? integer_of(owner, "number") : NO_OWNER;
    if (number != is->owner) FAIL(side, "item %d has the owner %lld instead of %d", slot, (long long)number, is->owner);
    if (owner && integer_of(owner, "level") != view->people[is->owner].level) FAIL(side, "the owner of item %d has another level", slot);
    quire_object_release(owner);
    const uint64_t tags = numbers_in(object, "tags");
    if (tags != is->tags) FAIL(side, "item %d has the tags %llx instead of %x", slot, (unsigned long long)tags, is->tags);
}

static uint64_t items_of(const state *view, int person, int tag) {
    uint64_t sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        const item *item = &view->items[i];
        const bool is_member = item->exists && (tag < 0 ? item->owner == person : item->tags >> tag & 1);
        if (is_member) sum += (uint64_t)(i + 1) * (uint64_t)(i + 7);
    }
    return sum;
}

static void look_at_person(side *side, const state *view, quire_object *object, int slot) {
    if (!view->people[slot].exists) FAIL(side, "person %d is there, and should not be", slot);
    const int64_t level = integer_of(object, "level");
    if (level != view->people[slot].level)
        FAIL(side, "person %d has the level %lld instead of %d", slot, (long long)level, view->people[slot].level);
    /* As the last save has left it: what is pending does not count. */
    int64_t count = 0;
    for (int i = 0; i < ITEMS; i++) count += side->base.items[i].exists && side->base.items[i].owner == slot;
    if (!side->base.people[slot].exists) count = 0;
    const int64_t counted = integer_of(object, "count");
    if (counted != count) FAIL(side, "person %d counts %lld items instead of %lld", slot, (long long)counted, (long long)count);
    if (numbers_in(object, "items") != items_of(view, slot, -1)) FAIL(side, "person %d has other items", slot);
}

static void look_at_tags(side *side, quire_context *context, const state *view) {
    for (int i = 0; i < TAGS; i++) {
        quire_object *tag = NULL;
        DO(quire_context_object(context, "Tag", QUIRE_NUL, tag_ids[i], &tag, &failure));
        if (numbers_in(tag, "items") != items_of(view, 0, i)) FAIL(side, "tag %d has other items", i);
        quire_object_release(tag);
    }
}

static void look_at_object(side *side, const state *view, int query, quire_object *object, int slot) {
    if (strcmp(queries[query].entity, "Item") == 0) look_at_item(side, view, object, slot);
    else look_at_person(side, view, object, slot);
}

/* The rows of a list are those of the query, and each of them is right. */
static void look_at_rows(side *side, const state *view, int query, quire_list *list, const char *form) {
    static _Thread_local answer wanted;
    find_answer(query, view, &wanted);
    const int64_t count = quire_list_count(list);
    if (count != wanted.count) FAIL(side, "query %d, %s, has %lld rows instead of %d", query, form, (long long)count, wanted.count);
    for (int i = 0; i < wanted.count; i++) {
        quire_object *object = NULL;
        expect(quire_list_object(list, i, &object, &failure), QUIRE_OK, form);
        const int64_t number = integer_of(object, "number");
        if (number != wanted.rows[i])
            FAIL(side, "query %d, %s: row %d is %lld instead of %d", query, form, i, (long long)number, wanted.rows[i]);
        look_at_object(side, view, query, object, wanted.rows[i]);
        const bool is_ours = quire_object_context(object) == side->context && *queries[query].entity == 'I';
        if (is_ours && side->held[number] && side->held_born[number] == view->items[number].born && side->held[number] != object)
            FAIL(side, "query %d, %s: item %d has two objects", query, form, (int)number);
        /* Some stay registered, so that later reads find values that were read before. */
        if (view == &side->view && *queries[query].entity == 'I' && chance(30)) {
            quire_object_release(side->held[number]);
            side->held[number] = quire_object_retain(object);
            side->held_born[number] = view->items[number].born;
        }
        quire_object_release(object);
    }
}

/* --- Queries. */

static void fetch_rows(side *side, int query, bool is_fresh) {
    quire_list *list = NULL;
    /* What is pending may have been refused just now. */
    is_fresh = is_fresh && may_move(side);
    quire_fetch_request *request = is_fresh ? fresh_request(query) : request_for(query, QUIRE_RESULT_OBJECTS);
    const int64_t least = newest_number();
    if (is_fresh) expect(ADVANCING(quire_context_fetch(side->context, request, &list, &failure)), QUIRE_OK, "a fetch that refreshes");
    else expect(quire_context_fetch(side->context, request, &list, &failure), QUIRE_OK, "a fetch");
    if (is_fresh) move_to(side, least, "a fetch that refreshes");
    else locate(side, "quire_context_fetch");
    look_at_rows(side, &side->view, query, list, is_fresh ? "with prefetching" : "as objects");
    quire_list_release(list);
}

static void fetch_page(side *side, int query) {
    static _Thread_local answer wanted;
    const bool is_item = strcmp(queries[query].entity, "Item") == 0;
    const char *const keys[] = {"number", is_item ? "owner.level" : "level"};
    quire_list *list = NULL;
    quire_page *page = NULL;
    int64_t count = 0;
    expect(quire_context_count(side->context, request_for(query, QUIRE_RESULT_OBJECTS), &count, &failure), QUIRE_OK, "a count");
    locate(side, "quire_context_count");
    find_answer(query, &side->view, &wanted);
    if (count != wanted.count) FAIL(side, "query %d counts %lld rows instead of %d", query, (long long)count, wanted.count);
    /* In one step, or by the ids. */
    quire_fetch_request *request = request_for(query, QUIRE_RESULT_IDS);
    if (chance(50)) expect(quire_context_fetch_page(side->context, request, keys, 2, 0, &page, &failure), QUIRE_OK, "a fetch of a page");
    else expect(quire_context_fetch(side->context, request, &list, &failure), QUIRE_OK, "a fetch of ids");
    locate(side, "quire_context_fetch");
    if (list) expect(quire_list_page(list, 0, quire_list_count(list), keys, 2, 0, &page, &failure), QUIRE_OK, "a page");
    find_answer(query, &side->view, &wanted);
    count = quire_page_row_count(page);
    if (count != wanted.count) FAIL(side, "query %d, as a page, has %lld rows instead of %d", query, (long long)count, wanted.count);
    const quire_column *numbers = quire_page_column(page, 0), *levels = quire_page_column(page, 1);
    for (int i = 0; i < wanted.count; i++) {
        const int row = wanted.rows[i], owner = is_item ? side->view.items[row].owner : row;
        if (((const int64_t *)numbers->values)[i] != row)
            FAIL(side, "query %d, as a page: row %d is not %d", query, i, row);
        const bool is_nil = levels->validity && !(levels->validity[i / 8] >> i % 8 & 1);
        const int64_t level = is_nil ? -1 : ((const int64_t *)levels->values)[i];
        const int64_t is = owner < 0 ? -1 : side->view.people[owner].level;
        if (level != is) FAIL(side, "query %d, as a page: row %d has the level %lld", query, i, (long long)level);
    }
    quire_page_release(page);
    quire_list_release(list);
}

/* Rows of values come from the store, without what is pending. */
static void fetch_shelves(side *side) {
    quire_list *list = NULL;
    quire_page *page = NULL;
    expect(quire_context_fetch(side->context, shelves_request(), &list, &failure), QUIRE_OK, "a fetch of rows of values");
    locate(side, "quire_context_fetch");
    DO(quire_list_page(list, 0, quire_list_count(list), NULL, 0, 0, &page, &failure));
    const int64_t *columns[3];
    for (int i = 0; i < 3; i++) columns[i] = quire_page_column(page, i)->values;
    int64_t row = 0;
    for (int shelf = 0; shelf < SHELVES; shelf++) {
        int64_t count = 0;
        for (int i = 0; i < ITEMS; i++) count += side->base.items[i].exists && side->base.items[i].shelf == shelf;
        if (!count) continue;
        const int64_t wanted[] = {shelf, count, sum_of_amounts(&side->base, shelf)};
        for (int i = 0; i < 3; i++)
            if (row >= quire_page_row_count(page) || columns[i][row] != wanted[i])
                FAIL(side, "rows of values: column %d of shelf %d is not %lld", i, shelf, (long long)wanted[i]);
        row++;
    }
    const int64_t others = quire_page_row_count(page) - row;
    if (others) FAIL(side, "rows of values: there are %lld shelves too many", (long long)others);
    quire_page_release(page);
    quire_list_release(list);
}

static void fetch_crates(side *side) {
    quire_list *list = NULL;
    quire_page *page = NULL;
    expect(quire_context_fetch(side->context, crates_request(), &list, &failure), QUIRE_OK, "a fetch of the stamps of crates");
    locate(side, "quire_context_fetch");
    DO(quire_list_page(list, 0, quire_list_count(list), NULL, 0, 0, &page, &failure));
    for (int i = 0; i < 2; i++) {
        const int64_t stamp = ((const int64_t *)quire_page_column(page, i)->values)[0];
        if (stamp != side->base.crate_stamp)
            FAIL(side, "a crate has the stamp %lld instead of %lld", (long long)stamp, (long long)side->base.crate_stamp);
    }
    quire_page_release(page);
    quire_list_release(list);
}

static void look_at_lists(side *side) {
    expect(ADVANCING(quire_context_process_pending(side->context, &failure)), QUIRE_OK, "quire_context_process_pending");
    locate(side, "quire_context_process_pending");
    for (int i = 0; i < LISTS; i++)
        if (side->lists[i]) check_list(side, side->lists[i]);
}

static void look_at_held(side *side) {
    for (int i = 0; i < ITEMS; i++) {
        if (!side->held[i]) continue;
        if (!side->view.items[i].exists || side->held_born[i] != side->view.items[i].born) {
            quire_object_release(side->held[i]);
            side->held[i] = NULL;
        } else look_at_item(side, &side->view, side->held[i], i);
    }
}

/* --- Looks. */

static void look_at(side *side, int part) {
    if (chance(50)) process(side);
    switch (part) {
    case 0: look_at_held(side); break;
    case 1: look_at_tags(side, side->context, &side->view); break;
    case 2: fetch_shelves(side); break;
    case 3: look_at_lists(side); break;
    case 4: fetch_rows(side, ALL_ITEMS, chance(30)); break;
    case 5: fetch_rows(side, random_below(QUERIES), chance(30)); break;
    case 6: fetch_crates(side); break;
    default: fetch_page(side, random_below(QUERIES)); break;
    }
    locate(side, "reading");
    looks++;
}

void look_at_all(side *side) {
    for (int part = 0; part < 4; part++) look_at(side, part);
    for (int query = 0; query < QUERIES; query++) {
        fetch_rows(side, query, chance(30));
        fetch_page(side, query);
        locate(side, "reading");
    }
    looks++;
}

void look_at_some(side *side) {
    for (int i = 0; i < 3; i++) look_at(side, random_below(8));
}

void begin_batches(side *side, int query) {
    release_batches(side);
    expect(quire_context_fetch(side->context, batched_request(query), &side->batches, &failure), QUIRE_OK, "a fetch in batches");
    quire_list *batches = side->batches;
    side->batches = NULL;
    locate(side, "quire_context_fetch");
    side->batches = batches;
    side->batched_query = query;
    side->batched = side->view;
}

void read_batches(side *side) {
    if (!side->batches) return;
    if (memcmp(&side->batched, &side->view, sizeof side->view) != 0) return release_batches(side);
    look_at_rows(side, &side->view, side->batched_query, side->batches, "in batches, read later");
    release_batches(side);
}

void look_through_child(side *side, void (*meanwhile)(void)) {
    quire_context *child = NULL;
    DO(quire_context_create_child(side->context, &child, &failure));
    for (int turn = 0; turn < 2; turn++) {
        if (turn && meanwhile) meanwhile();
        if (!turn || !meanwhile) look_at_tags(side, child, &side->view);
        for (int i = 0; i < 3; i++) {
            quire_list *list = NULL;
            const int query = random_below(QUERIES);
            expect(quire_context_fetch(child, request_for(query, QUIRE_RESULT_OBJECTS), &list, &failure), QUIRE_OK, "a fetch of a child");
            locate(side, "a fetch of its child");
            /* A child takes what its parent was told over when it merges. */
            DO(ADVANCING(quire_context_merge(child, &failure)));
            locate(side, "a merge of its child");
            quire_list_release(list);
            expect(quire_context_fetch(child, request_for(query, QUIRE_RESULT_OBJECTS), &list, &failure), QUIRE_OK, "a fetch of a child");
            locate(side, "a fetch of its child");
            state view = side->view;
            look_at_rows(side, &view, query, list, "through a child");
            quire_list_release(list);
        }
    }
    quire_context_release(child);
    looks++;
}

void draw_window(side *side) {
    static _Thread_local answer wanted;
    quire_fetch_request *request = request_for(ALL_ITEMS, QUIRE_RESULT_OBJECTS);
    quire_list *list = NULL;
    process(side);
    expect(quire_context_fetch(side->context, request, &list, &failure), QUIRE_OK, "a fetch of what is drawn");
    locate(side, "quire_context_fetch");
    find_answer(ALL_ITEMS, &side->view, &wanted);
    look_at_rows(side, &side->view, ALL_ITEMS, list, "as drawn");
    quire_list_release(list);
    expect(ADVANCING(quire_context_process_pending(side->context, &failure)), QUIRE_OK, "quire_context_process_pending");
    check_list(side, side->lists[ALL_ITEMS]);
    looks++;
}
