/*
 * Random predicates and sort orders over random models and rows, by SQL and in memory.
 *
 *   predicates [--steps N] [--seed S] [--show N] [--stack KIBIBYTES]
 *
 * The same rows are in three contexts: saved in one, where SQL answers; pending in another, where memory does; and in a
 * third changed since they were saved, where a fetch lays one over the other. Fetches, counts and single objects must
 * agree everywhere, errors included, and what a predicate prints must read and print the same. The last line counts the
 * steps that differ; the first of them (10, unless --show says otherwise) are shown, made smaller. Each world of rows
 * runs in a process of its own, so that a crash is a difference. `--seed S+W` begins with the world W of the seed S.
 * `--stack` has the worlds run on a thread with a stack of that size.
 */
#include "dice.h"
#include "orders.h"
#include "questions.h"
#include "stored.h"
#include "tables.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORLD_STEPS = 200 };

/* What a world's process tells the one that started it. */
typedef struct verdict {
    uint64_t steps, differences, unsupported, errors, half_errors, sorts, saved, tables, chances;
    int left_to_show;
    bool is_finished;
    char doing[2048];
    /* The first part of the language that was refused. */
    char refusal[1536];
} verdict;

static verdict *shared;
/* --- Making a difference smaller. */

static void tell(int entity, const char *predicate) {
    snprintf(shared->doing, sizeof shared->doing, "%s WHERE %s", rows.entities[entity].name, predicate);
}

static bool still_differs(const node *root, int entity) { return judge(root, entity, tell) == DIFFERENT; }

/* Replaces a part by a constant or by a part of itself, as long as what remains differs. */
static bool shrink_at(node **place, node *root, node **root_place, int entity) {
    node *const old = *place;
    node *candidates[MOST_CHILDREN + 2];
    int count = 0;
    if (old == &true_predicate || old == &false_predicate || old == &nil_value || old == &zero_value) return false;
    candidates[count++] = old->is_predicate ? &true_predicate : &nil_value;
    candidates[count++] = old->is_predicate ? &false_predicate : &zero_value;
    for (int i = 0; i < old->child_count; i++)
        if (old->children[i]->is_predicate == old->is_predicate) candidates[count++] = old->children[i];
    for (int i = 0; i < count; i++) {
        *place = candidates[i];
        if (still_differs(root_place == place ? *place : root, entity)) return true;
    }
    *place = old;
    for (int i = 0; i < old->child_count; i++)
        if (shrink_at(&old->children[i], root, root_place, entity)) return true;
    return false;
}

static void shrink_rows(const node *root, int entity) {
    const int all = rows.row_count + rows.doomed_count;
    for (int part = all / 2; part > 0; part = part > 1 ? part / 2 : 0)
        for (int from = 0; from < all; from += part) {
            static world kept;
            kept = rows;
            bool changes = false;
            for (int slot = from; slot < from + part && slot < all; slot++) {
                changes |= rows.rows[slot].exists;
                rows.rows[slot].exists = false;
            }
            if (!changes) continue;
            close_stages();
            open_stages();
            if (!still_differs(root, entity)) rows = kept;
        }
    close_stages();
    open_stages();
}

static void shrink_values(const node *root, int entity) {
    for (int slot = 0; slot < rows.row_count; slot++) {
        if (!rows.rows[slot].exists) continue;
        for (int i = 0; i < rows.property_count; i++) {
            world_row *row = &rows.rows[slot];
            if (row->now.values[i].kind == QUIRE_VALUE_NIL && row->now.link_counts[i] == 0
                && row->before.values[i].kind == QUIRE_VALUE_NIL && row->before.link_counts[i] == 0) continue;
            const world_row kept = *row;
            row->now.values[i] = row->before.values[i] = quire_value_nil();
            row->now.link_counts[i] = row->before.link_counts[i] = 0;
            close_stages();
            open_stages();
            if (!still_differs(root, entity)) *row = kept;
        }
    }
    close_stages();
    open_stages();
}

static void print_slots(const char *name, const answer *answer) {
    printf("  %-20s", name);
    if (answer->status != QUIRE_OK) printf("%s: %s\n", quire_status_name(answer->status), answer->message);
    else {
        for (int slot = 0; slot < rows.row_count; slot++)
            if (answer->holds[slot]) printf(" #%d", slot);
        printf("\n");
    }
}

static void show(node *root, int entity, uint64_t seed, int step) {
    printf("--- world of seed %llu, step %d: %s\n", (unsigned long long)seed, step, complaint);
    for (int tries = 0; tries < 200 && shrink_at(&root, root, &root, entity); tries++) continue;
    shrink_rows(root, entity);
    for (int tries = 0; tries < 200 && shrink_at(&root, root, &root, entity); tries++) continue;
    shrink_values(root, entity);
    judge(root, entity, tell);
    printf("  %s WHERE %s\n  %s\n", rows.entities[entity].name, canonical, complaint);
    for (int i = 0; i < QUESTIONS; i++) print_slots(question_names[i], &answers[i]);
    print_world(stdout, &rows);
    fflush(stdout);
}

/* --- Worlds. */

static bool sort_step(uint64_t seed, int step) {
    query query = {random_below(rows.entity_count), random_below(8), random_below(12), chance(80), NULL, {0}};
    make_ordering(query.entity, &query.ordering);
    shared->sorts++;
    if (chance(40)) {
        query.condition = make_predicate(&rows, query.entity, false);
        /* What differs without an order is told by other steps. */
        if (judge(query.condition, query.entity, tell) != SAME) query.condition = NULL;
    }
    tell(query.entity, "a sort order");
    if (sorts_the_same(&query, false)) return false;
    shared->differences++;
    if (shared->left_to_show <= 0) return false;
    shared->left_to_show--;
    show_sort(&query, seed, step);
    return true;
}

static bool stored_step(uint64_t seed, int step) {
    query query = {random_below(rows.entity_count), random_below(8), random_below(12), chance(80), NULL, {0}};
    if (chance(50)) make_ordering(query.entity, &query.ordering);
    shared->saved++;
    query.condition = make_predicate(&rows, query.entity, false);
    if (names_unsaved(query.condition) || judge(query.condition, query.entity, tell) != SAME) query.condition = NULL;
    if (stores_the_same(&query, false)) return false;
    shared->differences++;
    if (shared->left_to_show <= 0) return false;
    shared->left_to_show--;
    show_stored(&query, seed, step);
    return true;
}

static bool table_step(uint64_t seed, int step) {
    static table table;
    make_table(random_below(rows.entity_count), &table);
    shared->tables++;
    tell(table.entity, "columns");
    switch (tables_the_same(&table, false)) {
    case SAME: return false;
    case NOT_SUPPORTED: shared->unsupported++; return false;
    case FAILED: shared->errors++; return false;
    case HALF_AN_ERROR: shared->half_errors++; return false;
    case DIFFERENT: break;
    }
    shared->differences++;
    if (shared->left_to_show <= 0) return false;
    shared->left_to_show--;
    show_table(&table, seed, step);
    return true;
}

static void note_refusal(void) {
    for (int i = QUESTIONS - 1; i >= 0; i--)
        if (answers[i].status == QUIRE_UNSUPPORTED)
            snprintf(shared->refusal, sizeof shared->refusal, "%s: %s in %.900s", question_names[i], answers[i].message, canonical);
}

static bool chance_step(uint64_t seed, int step) {
    const int entity = random_below(rows.entity_count);
    shared->chances++;
    const outcome outcome = accept(make_chance_predicate(&rows, entity), entity, tell);
    if (outcome == NOT_SUPPORTED && shared->unsupported++ == 0) note_refusal();
    if (outcome != DIFFERENT) return false;
    shared->differences++;
    printf("--- world of seed %llu, step %d: %s in %s\n", (unsigned long long)seed, step, complaint, canonical);
    return false;
}

/* True when showing a difference has used up the world. */
static bool predicate_step(uint64_t seed, int step) {
    const int entity = random_below(rows.entity_count);
    node *root = make_predicate(&rows, entity, chance(8));
    switch (judge(root, entity, tell)) {
    case SAME: break;
    case NOT_SUPPORTED:
        if (shared->unsupported++ == 0) note_refusal();
        break;
    case FAILED: shared->errors++; break;
    case HALF_AN_ERROR: shared->half_errors++; break;
    case DIFFERENT:
        shared->differences++;
        if (shared->left_to_show <= 0) break;
        shared->left_to_show--;
        show(root, entity, seed, step);
        return true;
    }
    return false;
}

/* Two of three steps are single predicates. */
static bool take_step(uint64_t seed, int step) {
    switch (random_below(24)) {
    case 0:
    case 1:
    case 2: return sort_step(seed, step);
    case 3:
    case 4: return stored_step(seed, step);
    case 5:
    case 6: return table_step(seed, step);
    case 7: return chance_step(seed, step);
    default: return predicate_step(seed, step);
    }
}

/* Runs in a process of its own. */
static void run_world(uint64_t seed, uint64_t first, uint64_t steps) {
    seed_dice(seed);
    make_world(&rows);
    open_stages();
    for (uint64_t step = 0; step < steps; step++) {
        shared->steps = first + step + 1;
        if (take_step(seed, (int)step)) {
            /* Making it smaller has changed the rows. */
            close_stages();
            seed_dice(seed);
            make_world(&rows);
            open_stages();
            seed_dice(seed ^ (step + 1) << 32);
        }
    }
    close_stages();
    shared->is_finished = true;
}

static struct { uint64_t seed, first, steps, stack; } world_task;

static void *start_world(void *unused) {
    (void)unused;
    run_world(world_task.seed, world_task.first, world_task.steps);
    return NULL;
}

/* The same on a thread whose stack has so many KiB. */
static void run_world_with_stack(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, world_task.stack << 10) != 0) exit(3);
    if (pthread_create(&thread, &attributes, start_world, NULL) != 0) exit(3);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void judge_world(uint64_t seed, uint64_t first, uint64_t steps, uint64_t stack) {
    shared->is_finished = false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        world_task.seed = seed;
        world_task.first = first;
        world_task.steps = steps;
        world_task.stack = stack;
        if (stack) run_world_with_stack();
        else start_world(NULL);
        exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (shared->is_finished && WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    shared->differences++;
    const bool is_signal = WIFSIGNALED(status);
    printf("--- world of seed %llu: ended %s %d in %s\n", (unsigned long long)seed, is_signal ? "by signal" : "with status",
        is_signal ? WTERMSIG(status) : WEXITSTATUS(status), shared->doing);
}

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && *text && !*end && *text != '-';
}

int main(int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seed = ((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid()) % 1000000000;
    uint64_t steps = 20000, shown = 10, stack = 0;
    for (int i = 1; i < argument_count; i += 2) {
        uint64_t *out = strcmp(arguments[i], "--steps") == 0 ? &steps
            : strcmp(arguments[i], "--seed") == 0            ? &seed
            : strcmp(arguments[i], "--show") == 0            ? &shown
            : strcmp(arguments[i], "--stack") == 0           ? &stack
                                                             : NULL;
        if (!out || i + 1 == argument_count || !read_number(arguments[i + 1], out)) {
            fprintf(stderr, "usage: predicates [--steps N] [--seed S] [--show N] [--stack KIBIBYTES]\n");
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("mmap"), 2;
    memset(shared, 0, sizeof *shared);
    shared->left_to_show = (int)shown;

    for (uint64_t world = 0, done = 0; done < steps; world++) {
        const uint64_t count = steps - done < WORLD_STEPS ? steps - done : WORLD_STEPS;
        judge_world(seed + world, done, count, stack);
        done += count;
    }
    printf("predicates: %llu sort orders, %llu fetches of what is saved, %llu dictionary results, %llu with random()\n",
        (unsigned long long)shared->sorts, (unsigned long long)shared->saved, (unsigned long long)shared->tables,
        (unsigned long long)shared->chances);
    printf("predicates: %llu errors, %llu errors of some rows or in some order, %llu unsupported\n",
        (unsigned long long)shared->errors, (unsigned long long)shared->half_errors, (unsigned long long)shared->unsupported);
    if (shared->unsupported) printf("predicates: unsupported, for example, %s\n", shared->refusal);
    printf("predicates: %llu steps, %llu differences, seed %llu\n", (unsigned long long)steps,
        (unsigned long long)shared->differences, (unsigned long long)seed);
    return shared->differences ? 1 : 0;
}
