#include "acts.h"

#include "dice.h"
#include "look.h"

#include <stdatomic.h>

static _Atomic int64_t births;

int64_t next_birth(void) { return ++births; }

static void set(quire_object *object, const char *key, quire_value value) {
    expect(quire_object_set(object, key, QUIRE_NUL, &value, &failure), QUIRE_OK, key);
}

/* A place of the view that has something, or -1. */
static int any_item(const side *side) {
    const int first = random_below(ITEMS);
    for (int i = 0; i < ITEMS; i++)
        if (side->view.items[(first + i) % ITEMS].exists) return (first + i) % ITEMS;
    return -1;
}

static int any_person(const side *side) {
    const int first = random_below(PEOPLE);
    for (int i = 0; i < PEOPLE; i++)
        if (side->view.people[(first + i) % PEOPLE].exists) return (first + i) % PEOPLE;
    return -1;
}

/* A place of this writer that nothing has, here and in what is newest; or -1. */
static int free_item(const side *side) {
    state newest;
    if (!read_state(newest_number(), &newest)) return -1;
    for (int i = side->writer * ITEMS_OF_ONE; i < (side->writer + 1) * ITEMS_OF_ONE; i++)
        if (!side->view.items[i].exists && !side->base.items[i].exists && !newest.items[i].exists) return i;
    return -1;
}

/* --- Changes. */

static void insert_item(side *side) {
    const int slot = free_item(side), owner = chance(70) ? any_person(side) : NO_OWNER;
    if (slot < 0) return;
    quire_object *holder = owner >= 0 ? find_object(side, "Person", owner) : NULL, *object = NULL;
    item made = {.exists = true, .name = (uint8_t)random_below(NAMES), .shelf = (uint8_t)random_below(SHELVES),
        .amount = (uint8_t)random_below(AMOUNTS), .owner = (int8_t)(holder ? owner : NO_OWNER), .born = next_birth()};
    DO(quire_context_insert(side->context, "Item", QUIRE_NUL, &object, &failure));
    set(object, "number", quire_value_integer(slot));
    set(object, "name", quire_value_text(names[made.name]));
    set(object, "shelf", quire_value_integer(made.shelf));
    set(object, "amount", quire_value_integer(made.amount));
    if (holder) set(object, "owner", quire_value_object(holder));
    side->view.items[slot] = made;
    quire_object_release(holder);
    quire_object_release(object);
}

static void delete_item(side *side, int slot) {
    quire_object *object = find_object(side, "Item", slot);
    if (!object) return;
    DO(quire_context_delete(side->context, object, &failure));
    side->view.items[slot] = (item){.exists = false};
    quire_object_release(object);
}

static void relate_item(side *side, int slot) {
    const int owner = chance(80) ? any_person(side) : NO_OWNER;
    quire_object *holder = owner >= 0 ? find_object(side, "Person", owner) : NULL;
    quire_object *object = find_object(side, "Item", slot);
    if (object && (owner < 0 || holder)) {
        set(object, "owner", quire_value_object(holder));
        side->view.items[slot].owner = (int8_t)owner;
    }
    quire_object_release(holder);
    quire_object_release(object);
}

static void tag_item(side *side, int slot) {
    const int tag = random_below(TAGS);
    quire_object *object = find_object(side, "Item", slot), *label = NULL;
    if (!object) return;
    DO(quire_context_object(side->context, "Tag", QUIRE_NUL, tag_ids[tag], &label, &failure));
    item *item = &side->view.items[slot];
    /* From either side. */
    const bool is_from_tag = chance(30), adds = !(item->tags >> tag & 1);
    quire_object *from = is_from_tag ? label : object, *to = is_from_tag ? object : label;
    const char *key = is_from_tag ? "items" : "tags";
    if (adds) DO(quire_object_add(from, key, QUIRE_NUL, to, &failure));
    else DO(quire_object_remove(from, key, QUIRE_NUL, to, &failure));
    item->tags = (uint8_t)(item->tags ^ 1 << tag);
    quire_object_release(label);
    quire_object_release(object);
}

static void set_item(side *side, int slot) {
    quire_object *object = find_object(side, "Item", slot);
    if (!object) return;
    item *item = &side->view.items[slot];
    const int kind = random_below(3);
    if (kind == 0) set(object, "name", quire_value_text(names[item->name = (uint8_t)random_below(NAMES)]));
    else if (kind == 1) set(object, "shelf", quire_value_integer(item->shelf = (uint8_t)random_below(SHELVES)));
    else set(object, "amount", quire_value_integer(item->amount = (uint8_t)random_below(AMOUNTS)));
    quire_object_release(object);
}

static void insert_person(side *side) {
    const int slot = FIRST_PEOPLE + side->writer;
    state newest;
    if (side->view.people[slot].exists || side->base.people[slot].exists) return;
    if (!read_state(newest_number(), &newest) || newest.people[slot].exists) return;
    quire_object *object = NULL;
    const int level = random_below(LEVELS);
    DO(quire_context_insert(side->context, "Person", QUIRE_NUL, &object, &failure));
    set(object, "number", quire_value_integer(slot));
    set(object, "level", quire_value_integer(level));
    side->view.people[slot] = (person){.exists = true, .level = (uint8_t)level, .born = next_birth()};
    quire_object_release(object);
}

static void change_person(side *side, bool deletes) {
    const int slot = any_person(side);
    quire_object *object = slot < 0 ? NULL : find_object(side, "Person", slot);
    if (!object) return;
    if (deletes) {
        DO(quire_context_delete(side->context, object, &failure));
        side->view.people[slot] = (person){.exists = false};
        for (int i = 0; i < ITEMS; i++)
            if (side->view.items[i].exists && side->view.items[i].owner == slot) side->view.items[i].owner = NO_OWNER;
        DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    } else set(object, "level", quire_value_integer(side->view.people[slot].level = (uint8_t)random_below(LEVELS)));
    quire_object_release(object);
}

void change(side *side) {
    const int kind = random_below(100), slot = any_item(side);
    if (slot < 0 || kind < 25) insert_item(side);
    else if (kind < 33) delete_item(side, slot);
    else if (kind < 50) relate_item(side, slot);
    else if (kind < 68) tag_item(side, slot);
    else if (kind < 88) set_item(side, slot);
    else if (kind < 92) insert_person(side);
    else change_person(side, kind >= 97);
}

void change_in_child(side *side) {
    const int slot = any_item(side);
    if (slot < 0) return;
    quire_object *ours = find_object(side, "Item", slot), *object = NULL;
    if (!ours) return;
    quire_context *child = NULL;
    const int amount = random_below(AMOUNTS);
    DO(quire_context_create_child(side->context, &child, &failure));
    DO(quire_context_object(child, "Item", QUIRE_NUL, quire_object_id(ours), &object, &failure));
    set(object, "amount", quire_value_integer(amount));
    side->is_changing = true;
    DO(ADVANCING(quire_context_save(child, &failure)));
    side->is_changing = false;
    side->view.items[slot].amount = (uint8_t)amount;
    quire_object_release(object);
    quire_object_release(ours);
    quire_context_release(child);
    locate(side, "a save of its child");
}

/* --- Saves. */

int64_t number_commit(int writer, const state *newest, state *next) {
    const int64_t number = number_of(newest) + 1;
    next->numbers[writer] = number;
    for (int i = 0; i < ITEMS; i++) {
        const item *was = &newest->items[i];
        item *is = &next->items[i];
        const bool is_other = was->exists != is->exists || was->born != is->born;
        if (is_other || was->name != is->name || was->shelf != is->shelf || was->amount != is->amount || was->owner != is->owner
            || was->stamp != is->stamp)
            is->changed = number;
        if (is_other || was->tags != is->tags) is->tagged = number;
    }
    for (int i = 0; i < PEOPLE; i++) {
        const person *was = &newest->people[i];
        if (was->exists != next->people[i].exists || was->born != next->people[i].born || was->level != next->people[i].level)
            next->people[i].changed = number;
    }
    return number;
}

/* Rolls back. */
static void drop(side *side) {
    side->is_changing = true;
    DO(ADVANCING(quire_context_rollback(side->context, &failure)));
    side->is_changing = false;
    drop_pending(side);
}

typedef enum outcome { MUST_SUCCEED, EITHER, MUST_CONFLICT } outcome;

/* Whether others have changed what is pending here. */
static outcome foresee(const side *side, const state *newest) {
    outcome found = can_rebase(side, newest) ? MUST_SUCCEED : EITHER;
    unsigned ours = 0, theirs = 0;
    for (int i = 0; i < ITEMS; i++) {
        const item *was = &side->base.items[i], *is = &side->view.items[i], *there = &newest->items[i];
        const bool is_gone = was->exists && (!there->exists || there->born != was->born);
        const bool is_ours = is_changed_item(side, i), is_tagged = is_tagged_item(side, i);
        if (is_ours && was->exists && !is_gone && there->changed != was->changed) return MUST_CONFLICT;
        if (is_ours && is->exists && is_gone) return MUST_CONFLICT;
        if ((is_ours || is_tagged) && (is_gone || there->tagged != was->tagged || there->changed != was->changed)) found = EITHER;
        /* A tag that both have given to items, or taken from them. */
        if (is_tagged) ours |= (unsigned)(was->tags ^ is->tags);
        /* What was given and taken back in between shows in the version of the tag alone. */
        if (there->tagged != was->tagged) theirs = ~0U;
        if (there->exists && there->owner != NO_OWNER && side->base.people[there->owner].exists
            && !side->view.people[there->owner].exists
            && (!was->exists || was->born != there->born || was->owner != there->owner))
            return EITHER;
    }
    for (int i = 0; i < PEOPLE; i++) {
        const person *was = &side->base.people[i], *there = &newest->people[i];
        if (!is_changed_person(side, i) || !was->exists) continue;
        const bool is_gone = !there->exists || there->born != was->born;
        if (!is_gone && there->changed != was->changed) return MUST_CONFLICT;
        if (is_gone && side->view.people[i].exists) return MUST_CONFLICT;
        if (is_gone) found = EITHER;
    }
    return found == MUST_SUCCEED && ours & theirs ? EITHER : found;
}

void set_number(side *side, int64_t number) {
    set(side->commits[side->writer], "stamp", quire_value_integer(number));
}

bool save(side *side) {
    state newest, next;
    /* Before there is a number, which is of a later commit than what is told of it now. */
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    begin_commit();
    if (!read_state(newest_number(), &newest)) fault("the newest commit is not kept");
    const outcome outcome = foresee(side, &newest);
    lay_pending(side, &newest, &next);
    const int64_t number = number_commit(side->writer, &newest, &next), before = side->base.numbers[side->writer];
    announce_commit(&next);
    set_number(side, number);
    const quire_status status = ADVANCING(quire_context_save(side->context, &failure));
    if (status == QUIRE_OK && outcome != MUST_CONFLICT) {
        file_commit();
        drop_pending(side);
        move_to(side, number, "its save");
        end_commit();
        return true;
    }
    if (status == QUIRE_OK) fault("context %d at commit %lld saves what others have changed by %lld", side->writer,
        (long long)side->number, (long long)newest_number());
    expect(status, outcome == MUST_SUCCEED ? QUIRE_OK : QUIRE_CONFLICT, "a save");
    set_number(side, before);
    locate(side, "a save that failed");
    side->has_conflict = status == QUIRE_CONFLICT;
    look_at_some(side);
    drop(side);
    side->has_conflict = false;
    move_to(side, newest_number(), "rolling back after a conflict");
    end_commit();
    return false;
}

void save_in_vain(side *side) {
    const int slot = any_item(side);
    quire_object *object = slot < 0 ? NULL : find_object(side, "Item", slot);
    if (!object) return;
    side->is_changing = true;
    set(object, "name", quire_value_nil());
    expect(ADVANCING(quire_context_save(side->context, &failure)), QUIRE_VALIDATION, "a save without a name");
    locate(side, "a save without a name");
    set(object, "name", quire_value_text(names[side->view.items[slot].name]));
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    side->is_changing = false;
    quire_object_release(object);
}

/* --- Moving. */

void merge(side *side) {
    prepare_move(side);
    const int64_t least = newest_number();
    expect(ADVANCING(quire_context_merge(side->context, &failure)), QUIRE_OK, "a merge");
    move_to(side, least, "a merge");
}

void roll_back(side *side) {
    drop(side);
    locate(side, "a rollback");
}

void refresh_all(side *side) {
    prepare_move(side);
    const int64_t least = newest_number();
    expect(ADVANCING(quire_context_refresh_all(side->context, &failure)), QUIRE_OK, "refreshing all");
    move_to(side, least, "refreshing all");
}

void refresh_one(side *side) {
    state newest;
    prepare_move(side);
    /* Its row must not go meanwhile. */
    begin_commit();
    const int slot = any_item(side);
    if (!read_state(newest_number(), &newest)) fault("the newest commit is not kept");
    const bool is_clean = slot >= 0 && !is_changed_item(side, slot) && !is_tagged_item(side, slot);
    if (is_clean && newest.items[slot].exists && newest.items[slot].born == side->view.items[slot].born) {
        quire_object *object = find_object(side, "Item", slot);
        expect(ADVANCING(quire_context_refresh(side->context, object, chance(50), &failure)), QUIRE_OK, "refreshing one");
        quire_object_release(object);
        move_to(side, newest_number(), "refreshing one");
    }
    end_commit();
}

void reset(side *side) {
    release_batches(side);
    forget_held(side);
    const int64_t least = newest_number();
    side->is_changing = true;
    expect(ADVANCING(quire_context_reset(side->context, &failure)), QUIRE_OK, "a reset");
    side->is_changing = false;
    take_commits(side);
    drop_pending(side);
    move_to(side, least, "a reset");
}

void undo_change(side *side) {
    const int slot = any_item(side);
    if (!side->undoes || slot < 0) return;
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    quire_object *object = find_object(side, "Item", slot);
    if (!object) return;
    const int amount = (side->view.items[slot].amount + 1) % AMOUNTS;
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    side->is_changing = true;
    set(object, "amount", quire_value_integer(amount));
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    DO(ADVANCING(quire_context_undo(side->context, NULL, &failure)));
    if (chance(40)) {
        DO(ADVANCING(quire_context_redo(side->context, NULL, &failure)));
        side->view.items[slot].amount = (uint8_t)amount;
    }
    side->is_changing = false;
    quire_object_release(object);
    locate(side, "undoing");
}
