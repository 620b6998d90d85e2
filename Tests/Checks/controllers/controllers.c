/*
 * Random histories of results controllers over related objects, in contexts beside each other and on each other.
 *
 *   controllers [--steps N] [--seed S]
 *
 * What a controller reports is replayed in each of its forms: as a delegate is told, as steps, as the plans of list views,
 * as queued, as the difference of two snapshots; and no form may tell of more moves than it has to. Whenever a context has
 * nothing more to process or to merge, the lists in it must be what a fresh fetch gives, what a new controller gives, and
 * what plain loops make of what the objects say. The last line counts the histories that differ; the first of them is
 * shown shrunk.
 *
 * What the index promises itself cannot be asked from outside: the histories of the Swift tests (SectionedIndexHistoryTests,
 * ResultsControllerTests) ask for it after each of their steps.
 */
#include "dice.h"
#include "steps.h"

#include <stdio.h>
#include <string.h>

enum { LENGTH = 300 };

/* What each controller begins with. */
static struct { int context; query query; } beginnings[WATCHED];

static facts before[CONTEXTS];
static bool has_before[CONTEXTS];

static void compare_all(void) {
    static facts now;
    for (int i = 0; i < WATCHED; i++) check_list(&watches[i]);
    for (int context = 0; context < current.context_count; context++) {
        if (!places[context].is_unchecked || !is_settled(context)) continue;
        read_facts(context, &now);
        for (int i = 0; i < WATCHED; i++)
            if (watches[i].context == context) compare_list(&watches[i], has_before[context] ? &before[context] : NULL, &now);
        before[context] = now;
        has_before[context] = true;
        places[context].is_unchecked = false;
        places[context].is_refreshed = has_pending(context);
        places[context].saves_of_others = 0;
    }
}

static void run_history(const void *steps, int count) {
    open_shop();
    for (int i = 0; i < WATCHED; i++) watch(&watches[i], beginnings[i].context, &beginnings[i].query);
    for (int i = 0; i < count; i++) {
        begin_step(i);
        seed_dice((uint64_t)i);
        perform((const step *)steps + i);
        settle_reactions();
        compare_all();
    }
    for (int i = 0; i < WATCHED; i++) unwatch(&watches[i]);
    close_shop();
}

/* --- Making histories. */

static int random_kind(void) {
    static const int kinds[] = {BOOK, BOOK, BOOK, BOOK, PERSON, PERSON, TAG};
    return RANDOM_OF(kinds);
}

static void make_setting(void) {
    static const struct { int count, parents[CONTEXTS]; } shapes[] = {
        {1, {-1}}, {2, {-1, 0}}, {2, {-1, -1}}, {3, {-1, 0, -1}}, {3, {-1, 0, 0}}, {4, {-1, 0, 1, -1}}};
    const int shape = random_below(COUNT_OF(shapes));
    current = (setting){.context_count = shapes[shape].count, .cascades = chance(20)};
    for (int i = 0; i < current.context_count; i++) {
        current.parents[i] = shapes[shape].parents[i];
        current.policies[i] = chance(30) ? QUIRE_MERGE_ERROR : (uint32_t)random_below(5);
        current.undoes[i] = chance(40);
        current.merges[i] = chance(30);
    }
    for (int i = 0; i < WATCHED; i++) {
        beginnings[i].context = random_below(current.context_count);
        make_query(i < 3 ? BOOK : random_kind(), &beginnings[i].query);
    }
}

static void make_history(void *made, int count) {
    step *steps = made;
    make_setting();
    int made_of[KINDS] = {0};
    /* How many things a history works on, and how long its batches are, differ from one to the next. */
    const int wanted[KINDS] = {chance(15) ? 150 : 2 + random_below(50), 1 + random_below(12), 1 + random_below(5), 1 + random_below(8)};
    const int batch = 2 + random_below(6), extras = 4 + random_below(20);
    for (int i = 0; i < count; i++) {
        step *step = &steps[i];
        step->context = random_below(current.context_count);
        step->controller = random_below(WATCHED);
        step->is_inverse = chance(30);
        step->flag = chance(30);
        step->key = random_below(KEYS);
        step->kind = chance(50) ? BOOK : random_below(KINDS);
        const int kind = step->kind;
        for (int key = 0; key < KEYS; key++) step->values[key] = random_below(pool_size(&keys[kind][key]));
        step->other = -1;
        if (kind <= PERSON && made_of[kind + 1] && chance(80)) step->other = random_below(made_of[kind + 1]);
        step->slot = made_of[kind] ? random_below(made_of[kind]) : 0;

        const int dice = random_below(100);
        if (random_below(batch) == 0) {
            static const verb verbs[] = {PROCESS, PROCESS, PROCESS, SAVE, SAVE, SAVE, SAVE_UP, SAVE_UP, MERGE, MERGE, MERGE, ROLLBACK,
                UNDO, UNDO, REDO, REFRESH, REFRESH_ALL, BATCH_UPDATE, BATCH_DELETE, BATCH_INSERT};
            step->verb = chance(1) ? RESET : RANDOM_OF(verbs);
            do step->query.filter = random_below(filter_count);
            while (filters[step->query.filter].kind != (kind == CITY ? BOOK : kind));
            if (kind == CITY) step->kind = BOOK, step->key %= 2, step->values[step->key] = random_below(7);
        } else if (random_below(100) < extras) {
            static const verb verbs[] = {ASK, ASK, DISPLAY, SUSPEND, SUSPEND, COMPARE, COMPARE, FETCH_AGAIN, REACT};
            static const verb reactions[] = {SET, SET, HOLD, DELETE, SAVE, PROCESS};
            step->verb = RANDOM_OF(verbs);
            make_query(beginnings[step->controller].query.kind, &step->query);
            step->paths = (uint32_t)random_below(32);
            step->moment = (moment)(AT_WILL_CHANGE + random_below(4));
            step->reaction = RANDOM_OF(reactions);
        } else if (made_of[kind] < wanted[kind] && dice < 70) {
            step->verb = INSERT;
        } else if (dice < 30) {
            step->verb = SET;
        } else if (dice < 60 && kind <= PERSON) {
            step->verb = HOLD;
        } else if (dice < 75 && made_of[TAG]) {
            step->verb = MARK;
        } else if (dice < 85) {
            step->verb = DELETE;
        } else {
            static const verb verbs[] = {SET, SET, HOLD, MARK, DELETE};
            step->verb = chance(70) ? MANY : INSERT_ROWS;
            step->reaction = RANDOM_OF(verbs);
            step->count = 1 + random_below(5);
            step->slot = random_below(step->count);
        }

        const verb does = step->verb == MANY || step->verb == REACT ? step->reaction : step->verb;
        if (does == MARK) step->kind = BOOK, step->other = made_of[TAG] ? random_below(made_of[TAG]) : -1;
        if (does == HOLD && step->kind > PERSON)
            step->kind = BOOK, step->other = made_of[PERSON] ? random_below(made_of[PERSON]) : -1;
        if ((does == MARK || does == HOLD) && step->verb != MANY)
            step->slot = made_of[step->kind] ? random_below(made_of[step->kind]) : 0;
        if (step->verb == INSERT_ROWS || step->verb == BATCH_INSERT) {
            step->kind = BOOK;
            step->count = 1 + random_below(chance(20) ? 40 : 6);
            for (int key = 0; key < KEYS; key++) step->values[key] = random_below(pool_size(&keys[BOOK][key]));
        }
        const bool is_insertion = step->verb == INSERT || step->verb == INSERT_ROWS || step->verb == BATCH_INSERT;
        const int more = step->verb == INSERT ? 1 : step->count;
        if (!is_insertion) continue;
        if (made_of[step->kind] + more > (step->kind == TAG ? MOST_TAGS : MOST_THINGS)) {
            step->verb = PROCESS;
            continue;
        }
        step->slot = made_of[step->kind];
        made_of[step->kind] += more;
    }
    steps[count - 1].verb = PROCESS;
}

static void show_setting(void) {
    for (int i = 0; i < current.context_count; i++) {
        printf("  context %d on ", i);
        if (current.parents[i] < 0) printf("the store");
        else printf("context %d", current.parents[i]);
        printf(", merge policy %u%s%s\n", current.policies[i], current.undoes[i] ? ", undo" : "", current.merges[i] ? ", merging" : "");
    }
    if (current.cascades) printf("  books go with their author\n");
    for (int i = 0; i < WATCHED; i++) {
        printf("  controller %d in context %d: ", i, beginnings[i].context);
        print_query(&beginnings[i].query);
        printf("\n");
    }
}

int main(int argument_count, char **arguments) {
    const trial trial = {"controllers", sizeof(step), LENGTH, make_history, run_history, show_setting, show_step};
    return run_trial(&trial, argument_count, arguments);
}
