#include "side.h"

#include "dice.h"
#include "lists.h"

#include <string.h>

static void release_commits(side *side) {
    for (int i = 0; i < WRITERS; i++) quire_object_release(side->commits[i]);
    memset(side->commits, 0, sizeof side->commits);
}

void take_commits(side *side) {
    release_commits(side);
    for (int i = 0; i < WRITERS; i++)
        DO(quire_context_object(side->context, "Commit", QUIRE_NUL, commit_ids[i], &side->commits[i], &failure));
}

void forget_held(side *side) {
    for (int i = 0; i < ITEMS; i++) quire_object_release(side->held[i]);
    memset(side->held, 0, sizeof side->held);
}

void release_batches(side *side) {
    quire_list_release(side->batches);
    side->batches = NULL;
}

void open_side(side *side, int writer, int store, bool merges, bool undoes) {
    memset(side, 0, sizeof *side);
    side->writer = writer, side->store = store, side->merges = merges, side->undoes = undoes;
    const int64_t least = newest_number();
    side->context = open_context(store);
    DO(quire_context_set_merges_automatically(side->context, merges, &failure));
    if (undoes) DO(quire_context_enable_undo(side->context, 0, &failure));
    take_commits(side);
    locate_from(side, least, "quire_context_create");
    for (int i = 0; i < LISTS; i++) side->lists[i] = follow_list(side, i);
}

void close_side(side *side) {
    release_batches(side);
    forget_held(side);
    for (int i = 0; i < LISTS; i++) leave_list(side->lists[i]);
    release_commits(side);
    quire_context_release(side->context);
    side->context = NULL;
}

/* --- What is pending: where the view is not the base. */

bool is_changed_item(const side *side, int slot) {
    const item *a = &side->base.items[slot], *b = &side->view.items[slot];
    return a->exists != b->exists
        || (a->exists && (a->name != b->name || a->shelf != b->shelf || a->amount != b->amount || a->owner != b->owner));
}

bool is_tagged_item(const side *side, int slot) {
    const item *a = &side->base.items[slot], *b = &side->view.items[slot];
    return (a->exists || b->exists) && a->tags != b->tags;
}

bool is_changed_person(const side *side, int slot) {
    const person *a = &side->base.people[slot], *b = &side->view.people[slot];
    return a->exists != b->exists || (a->exists && a->level != b->level);
}

bool has_pending(const side *side) {
    for (int i = 0; i < ITEMS; i++)
        if (is_changed_item(side, i) || is_tagged_item(side, i)) return true;
    for (int i = 0; i < PEOPLE; i++)
        if (is_changed_person(side, i)) return true;
    return false;
}

static bool is_same_item(const item *a, const item *b) { return a->exists && b->exists && a->born == b->born; }
static bool is_same_person(const person *a, const person *b) { return a->exists && b->exists && a->born == b->born; }

bool can_rebase(const side *side, const state *to) {
    for (int i = 0; i < PEOPLE; i++) {
        const person *was = &side->base.people[i], *is = &side->view.people[i];
        if (was->exists && is->exists && was->level != is->level && !is_same_person(was, &to->people[i])) return false;
    }
    for (int i = 0; i < ITEMS; i++) {
        const item *was = &side->base.items[i], *is = &side->view.items[i];
        if (!is->exists || !(is_changed_item(side, i) || is_tagged_item(side, i))) continue;
        if (was->exists && !is_same_item(was, &to->items[i])) return false;
        if (is->owner == NO_OWNER || (was->exists && was->owner == is->owner)) continue;
        const person *owner = &side->view.people[is->owner];
        if (side->base.people[is->owner].exists && !is_same_person(owner, &to->people[is->owner])) return false;
    }
    return true;
}

/* Its own properties win one by one; members are added and removed one by one. */
static void lay_over(const item *was, const item *is, item *out) {
    if (is->name != was->name) out->name = is->name;
    if (is->shelf != was->shelf) out->shelf = is->shelf;
    if (is->amount != was->amount) out->amount = is->amount;
    if (is->owner != was->owner) out->owner = is->owner;
    out->tags = (uint8_t)((out->tags & ~(was->tags & ~is->tags)) | (is->tags & ~was->tags));
}

void lay_pending(const side *side, const state *to, state *out) {
    state laid = *to;
    for (int i = 0; i < PEOPLE; i++) {
        const person *was = &side->base.people[i], *is = &side->view.people[i];
        if (!is_changed_person(side, i)) continue;
        if (!was->exists) laid.people[i] = *is;
        else if (is->exists) laid.people[i].level = is->level;
        else if (is_same_person(was, &laid.people[i])) laid.people[i] = (person){.exists = false};
    }
    for (int i = 0; i < ITEMS; i++) {
        const item *was = &side->base.items[i], *is = &side->view.items[i];
        if (!is_changed_item(side, i) && !is_tagged_item(side, i)) continue;
        if (!was->exists) laid.items[i] = *is;
        else if (!is_same_item(was, &laid.items[i])) continue;
        else if (is->exists) lay_over(was, is, &laid.items[i]);
        else laid.items[i] = (item){.exists = false};
    }
    /* The delete rule of a person that is deleted here reaches what others gave it meanwhile. */
    for (int i = 0; i < ITEMS; i++) {
        item *item = &laid.items[i];
        if (item->exists && item->owner != NO_OWNER && !laid.people[item->owner].exists) item->owner = NO_OWNER;
    }
    *out = laid;
}

void drop_pending(side *side) { side->view = side->base; }

bool may_move(const side *side) {
    state newest;
    if (!has_pending(side)) return true;
    if (!read_state(newest_number(), &newest)) fault("the newest commit is not kept");
    return can_rebase(side, &newest);
}

void prepare_move(side *side) {
    if (may_move(side)) return;
    side->is_changing = true;
    DO(ADVANCING(quire_context_rollback(side->context, &failure)));
    side->is_changing = false;
    drop_pending(side);
    locate(side, "quire_context_rollback");
}

void process(side *side) {
    if (side->has_conflict) return;
    if (side->merges) prepare_move(side);
    expect(ADVANCING(quire_context_process(side->context, &failure)), QUIRE_OK, "quire_context_process");
    if (side->merges) locate_from(side, side->number, "quire_context_process");
    else locate(side, "quire_context_process");
}

/* --- Where it is. */

static void read_numbers(side *side, int64_t *numbers, const char *call) {
    bool is_nil = false;
    for (int i = 0; i < WRITERS; i++) {
        expect(quire_object_get_integer(side->commits[i], "stamp", QUIRE_NUL, &numbers[i], &is_nil, &failure), QUIRE_OK, call);
        if (is_nil) fault("context %d, after %s: a writer has no number", side->writer, call);
    }
}

void read_view(side *side, state *out) {
    state seen = {.numbers = {0}}, is;
    read_numbers(side, seen.numbers, "a change was reported");
    if (!read_state(number_of(&seen), &is))
        fault("context %d tells its delegate of the unknown commit %lld", side->writer, (long long)number_of(&seen));
    if (memcmp(seen.numbers, is.numbers, sizeof is.numbers) != 0)
        fault("context %d tells its delegate of a part of commit %lld", side->writer, (long long)number_of(&seen));
    lay_pending(side, &is, out);
}

void locate_from(side *side, int64_t least, const char *call) {
    state seen = {.numbers = {0}}, is;
    read_numbers(side, seen.numbers, call);
    const int64_t number = number_of(&seen);
    if (number < least)
        fault("context %d, after %s: it is at commit %lld instead of %lld, where it should be", side->writer, call, (long long)number,
            (long long)least);
    if (!read_state(number, &is)) fault("context %d, after %s: it is at the unknown commit %lld", side->writer, call, (long long)number);
    for (int i = 0; i < WRITERS; i++)
        if (seen.numbers[i] != is.numbers[i])
            fault("context %d, after %s: writer %d wrote commit %lld, and %lld is the newest that it shows of it; the newest of all "
                  "that it shows is %lld", side->writer, call, i, (long long)is.numbers[i], (long long)seen.numbers[i],
                  (long long)number);
    if (number != side->number) release_batches(side);
    if (number != side->number) {
        lay_pending(side, &is, &side->view);
        side->base = is;
    }
    side->number = number;
}

void locate(side *side, const char *call) {
    const int64_t before = side->number;
    locate_from(side, before, call);
    if (side->number == before) return;
    fault("context %d, after %s: it has moved from commit %lld to %lld by itself", side->writer, call, (long long)before,
        (long long)side->number);
}

void move_to(side *side, int64_t number, const char *call) {
    locate_from(side, number, call);
    if (!current.is_threaded && side->number != number)
        fault("context %d, after %s: it is at commit %lld instead of %lld", side->writer, call, (long long)side->number,
            (long long)number);
}

quire_object *find_object(side *side, const char *entity, int number) {
    quire_object *object = NULL;
    const quire_value value = quire_value_integer(number);
    const quire_status status =
        quire_context_find(side->context, entity, QUIRE_NUL, "number", QUIRE_NUL, &value, &object, &failure);
    if (status == QUIRE_NOT_FOUND) object = NULL;
    expect(status, status == QUIRE_NOT_FOUND ? status : QUIRE_OK, "quire_context_find");
    locate(side, "quire_context_find");
    const bool exists = *entity == 'I' ? side->view.items[number].exists : side->view.people[number].exists;
    if (exists != (object != NULL))
        fault("context %d at commit %lld: %s %d is %s", side->writer, (long long)side->number, entity, number,
            exists ? "not found" : "found, and should not be there");
    return object;
}
