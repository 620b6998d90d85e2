/*
 * Whether each context shows one moment of its store: what it reads between two moves is of one commit, whatever others save.
 *
 *   moments [--steps N] [--seed S]            random histories of contexts on one thread, each shown shrunk where it differs
 *   moments --threads N [--steps N] [--seed S]    N threads (2 to 15) with a context each read everything and write, in so many
 *                                             steps each
 *   moments --draws N [--seed S]              one thread draws N windows with all their objects, beside two fast writers
 *
 * Further options, for each of these:
 *
 *   --memory, --file    stores in memory alone, or in files alone; otherwise the dice decide
 *   --foreign           plain SQLite and a second store of the same file write, too; in files
 *   --following         changes are processed at once, and after each commit all contexts merge, so that what is newest is
 *                       what all show (not with threads)
 *
 * What must hold:
 *
 * - Each save writes its number into a row that belongs to its writer. The greatest of these numbers that a context shows is
 *   the commit that it is at. All other numbers, objects, both sides of relationships, queries as objects, ids, pages, counts
 *   and rows of values, batches that are read later, live lists, their aggregates, and what a child reads through it must be
 *   what that commit has left, with what is pending laid over it. Plain arrays keep what each commit has left.
 * - A context does not move by itself while it is read. One that merges automatically moves forwards when it processes changes.
 * - No delegate is called from within a call that advances nothing.
 * - After a merge, after refreshing (by a fetch, too), a reset, and a rollback that follows a conflict, it is at the newest
 *   commit that was there before the call. After its own save, batch request or transaction it is at that commit. A save that
 *   fails moves nothing.
 * - A save conflicts with what others have changed since the commit that the context is at, and with nothing else.
 * - The change sets of a list, replayed, lead to the list that it shows. A delegate that reads the rows of which it is told
 *   finds the commit to which the context moves.
 *
 * The last line counts the histories that differ. `world.c` keeps the commits, `side.c` a context with what it must show,
 * `look.c` reads, `acts.c`, `batches.c` and `foreign.c` write, `lists.c` follows lists, `crowd.c` has the threads.
 */
#include "acts.h"
#include "crowd.h"
#include "dice.h"
#include "look.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 160, SIDES = 4 };

/* --- Histories on one thread. */

typedef enum kind {
    LOOK_AT_ALL, LOOK_AT_SOME, CHANGE, SAVE, SAVE_IN_VAIN, BATCH_UPDATE, BATCH_ROWS, TRANSACTION, MERGE, ROLL_BACK, REFRESH_ALL,
    REFRESH_ONE, RESET, UNDO, CHANGE_IN_CHILD, LOOK_THROUGH_CHILD, BEGIN_BATCHES, READ_BATCHES, REOPEN, WRITE_FOREIGN, SAVE_WHILE_BUSY,
    KIND_COUNT
} kind;

static const struct { const char *name; int weight; } kinds[KIND_COUNT] = {
    {"looks at everything", 4}, {"looks at something", 14}, {"changes something", 22}, {"saves", 12}, {"saves in vain", 2},
    {"updates by a batch request", 3}, {"inserts or deletes by a batch request", 3}, {"does so in a transaction", 3}, {"merges", 7},
    {"rolls back", 2}, {"refreshes all", 2}, {"refreshes one object", 2}, {"is reset", 2}, {"undoes a change", 3},
    {"has a child that changes something", 2}, {"is read through a child while another one saves", 3}, {"begins to fetch in batches", 4},
    {"reads the rest of the batches", 4}, {"is closed, and another one opened", 1}, {"stands by while plain SQLite writes", 6},
    {"saves in vain while plain SQLite writes", 1}};

typedef struct step {
    int kind, side;
    uint64_t seed;
} step;

static struct { int sides; bool merges[SIDES], undoes[SIDES]; } cast;
static bool wants_memory, wants_file;
static side sides[SIDES];
static int reader;

static bool is_foreign_kind(int kind) { return kind == WRITE_FOREIGN || kind == SAVE_WHILE_BUSY; }

static int random_kind(void) {
    int sum = 0;
    for (int i = 0; i < KIND_COUNT; i++) sum += current.has_foreign || !is_foreign_kind(i) ? kinds[i].weight : 0;
    int left = random_below(sum), kind = 0;
    for (;; kind++) {
        if (!current.has_foreign && is_foreign_kind(kind)) continue;
        if (left < kinds[kind].weight) return kind;
        left -= kinds[kind].weight;
    }
}

static void choose_store(void) {
    const bool is_memory = chance(50);
    current.is_memory = wants_memory || (is_memory && !wants_file && !current.has_foreign);
}

static void make_history(void *out, int count) {
    step *steps = out;
    choose_store();
    cast.sides = 2 + random_below(SIDES - 1);
    for (int i = 0; i < SIDES; i++) cast.merges[i] = chance(30), cast.undoes[i] = chance(30);
    for (int i = 0; i < count; i++) {
        steps[i].kind = random_kind();
        steps[i].side = random_below(cast.sides);
        steps[i].seed = (uint64_t)random_below(1 << 30);
    }
}

/* What another context saves while one is read. */
static void save_beside(void) {
    side *other = &sides[(reader + 1) % cast.sides];
    for (int i = 0; i < 3; i++) change(other);
    save(other);
}

/* Their merges are worked out by a thread, which may find the commit of a batch request without the one that numbers it. */
static bool merge_by_themselves(void) {
    for (int i = 0; i < cast.sides; i++)
        if (cast.merges[i]) return true;
    return false;
}

static void run_step(const step *step) {
    side *side = &sides[step->side];
    switch ((kind)step->kind) {
    case LOOK_AT_ALL: look_at_all(side); break;
    case LOOK_AT_SOME: look_at_some(side); break;
    case CHANGE: change(side); break;
    case SAVE: save(side); break;
    case SAVE_IN_VAIN: save_in_vain(side); break;
    case BATCH_UPDATE: batch_update(side); break;
    case BATCH_ROWS: batch_rows(side, merge_by_themselves()); break;
    case TRANSACTION: batch_rows(side, true); break;
    case MERGE: merge(side); break;
    case ROLL_BACK: roll_back(side); break;
    case REFRESH_ALL: refresh_all(side); break;
    case REFRESH_ONE: refresh_one(side); break;
    case RESET: reset(side); break;
    case UNDO: undo_change(side); break;
    case CHANGE_IN_CHILD: change_in_child(side); break;
    case LOOK_THROUGH_CHILD:
        reader = step->side;
        look_through_child(side, current.follows ? NULL : save_beside);
        break;
    case BEGIN_BATCHES: begin_batches(side, random_below(QUERIES)); break;
    case READ_BATCHES: read_batches(side); break;
    case REOPEN:
        close_side(side);
        open_side(side, step->side, side->store, cast.merges[step->side], cast.undoes[step->side]);
        break;
    case WRITE_FOREIGN: write_foreign(); break;
    case SAVE_WHILE_BUSY: save_while_foreign_writes(side); break;
    case KIND_COUNT: break;
    }
    if (step->kind >= BATCH_UPDATE && chance(50)) look_at_some(side);
}

static void run_history(const void *steps, int count) {
    const step *history = steps;
    make_requests();
    open_world();
    if (current.has_foreign) open_foreign();
    for (int i = 0; i < cast.sides; i++) open_side(&sides[i], i, current.has_foreign && i == 1, cast.merges[i], cast.undoes[i]);
    for (int i = 0; i < count; i++) {
        const int64_t before = newest_number();
        begin_step(i);
        seed_dice(history[i].seed);
        run_step(&history[i]);
        /* What is not processed would be told of within a merge, of a commit that is not the newest any more. */
        if (current.follows) DO(ADVANCING(quire_context_process_pending(sides[history[i].side].context, &failure)));
        for (int k = 0; k < cast.sides && current.follows && newest_number() != before; k++) merge(&sides[k]);
    }
    for (int i = 0; i < cast.sides; i++) {
        look_at_all(&sides[i]);
        merge(&sides[i]);
        look_at_all(&sides[i]);
        close_side(&sides[i]);
    }
    if (current.has_foreign) close_foreign();
    close_world();
    release_requests();
}

static void show_setting(void) {
    printf("A store %s, and %d contexts:", current.is_memory ? "in memory" : "in a file", cast.sides);
    for (int i = 0; i < cast.sides; i++)
        printf(" %d%s%s%s", i, cast.merges[i] ? " merges automatically" : " merges when told to", cast.undoes[i] ? " and undoes" : "",
            i + 1 < cast.sides ? "," : "\n");
}

static void show_step(const void *out) {
    const step *step = out;
    printf("  %d %s (%llu)\n", step->side, kinds[step->kind].name, (unsigned long long)step->seed);
}

/* --- Threads: a history of one step, which is all of it. */

static int threads;
static long draws, steps_of_each = 10000;

static void make_crowd(void *out, int count) {
    step *steps = out;
    choose_store();
    for (int i = 0; i < count; i++) steps[i] = (step){0, 0, (uint64_t)random_below(1 << 30)};
}

static void run_crowd(const void *steps, int count) {
    const step *only = steps;
    (void)count;
    /* A minute beyond the time that it may take, which is less than a hundredth of a second for each draw and step. */
    alarm((unsigned)(60 + (draws ? draws : threads * steps_of_each) / 50));
    begin_step(0);
    make_requests();
    open_world();
    if (current.has_foreign) open_foreign();
    if (draws) run_draws(draws, only->seed);
    else run_threads(threads, steps_of_each, only->seed);
    if (current.has_foreign) close_foreign();
    close_world();
    release_requests();
    printf("A store %s: %ld commits, %ld looks, %ld draws\n", current.is_memory ? "in memory" : "in a file", crowd_commits, crowd_looks,
        crowd_draws);
    fflush(stdout);
}

static void show_crowd(const void *out) {
    const step *step = out;
    printf("  threads, in a store %s (%llu)\n", current.is_memory ? "in memory" : "in a file", (unsigned long long)step->seed);
}

/* --- */

static int usage(void) {
    fprintf(stderr, "usage: moments [[--threads N] [--steps N] | --draws N] [--seed S] [--memory | --file] [--foreign] "
        "[--following]\n");
    return 2;
}

int main(int argument_count, char **arguments) {
    char *kept[10] = {arguments[0]}, *count = NULL, one[] = "1", steps[] = "--steps";
    int kept_count = 1;
    for (int i = 1; i < argument_count; i++) {
        const char *option = arguments[i];
        if (strcmp(option, "--memory") == 0) wants_memory = true;
        else if (strcmp(option, "--file") == 0) wants_file = true;
        else if (strcmp(option, "--foreign") == 0) current.has_foreign = true;
        else if (strcmp(option, "--following") == 0) current.follows = true;
        else if (++i == argument_count) return usage();
        else if (strcmp(option, "--threads") == 0) threads = atoi(arguments[i]);
        else if (strcmp(option, steps) == 0) count = arguments[i];
        else if (strcmp(option, "--draws") == 0) draws = atol(arguments[i]);
        else if (kept_count > 5) return usage();
        else kept[kept_count++] = arguments[i - 1], kept[kept_count++] = arguments[i];
    }
    const bool is_crowd = threads || draws;
    if (threads < 0 || threads == 1 || threads >= WRITERS || draws < 0 || (draws && count)) return usage();
    if ((wants_memory && (wants_file || current.has_foreign)) || (is_crowd && current.follows)) return usage();
    if (is_crowd && count && (steps_of_each = atol(count)) < 1) return usage();
    if (!is_crowd) {
        if (count) kept[kept_count++] = steps, kept[kept_count++] = count;
        const trial trial = {"moments", sizeof(step), LENGTH, make_history, run_history, show_setting, show_step};
        const int status = run_trial(&trial, kept_count, kept);
        return remove_left(), status;
    }
    current.is_threaded = true;
    kept[kept_count++] = steps, kept[kept_count++] = one;
    const trial trial = {"moments", sizeof(step), 1, make_crowd, run_crowd, NULL, show_crowd};
    const int status = run_trial(&trial, kept_count, kept);
    return remove_left(), status;
}
