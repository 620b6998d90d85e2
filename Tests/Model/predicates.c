/*
 * Random predicates and sort orders over random models and rows, by SQL and in memory.
 *
 *   predicates [--steps N] [--seed S] [--show N]
 *
 * The same rows are in three contexts: saved in one, where SQL answers; pending in another, where memory does; and in a
 * third changed since they were saved, where a fetch lays one over the other. Fetches, counts and single objects must
 * agree everywhere, errors included, and what a predicate prints must read and print the same. The last line counts the
 * steps that differ; the first of them (10, unless --show says otherwise) are shown, made smaller. Each world of rows
 * runs in a process of its own, so that a crash is a difference. `--seed S+W` begins with the world W of the seed S.
 */
#include "dice.h"
#include "questions.h"

#include <errno.h>
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
    uint64_t steps, differences, unsupported, errors, half_errors, sorts;
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

/* --- Sort orders. */

typedef struct ordering {
    int key_count;
    struct { char path[200]; quire_sort_options options; } keys[3];
} ordering;

static void make_ordering(int entity, ordering *out) {
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

static void add_keys(quire_fetch_request *request, const ordering *ordering) {
    for (int i = 0; i < ordering->key_count; i++)
        OK(quire_fetch_request_add_sort_with_options(
            request, ordering->keys[i].path, QUIRE_NUL, &ordering->keys[i].options, &error));
}

static void print_list(const char *name, const int *slots, int count) {
    printf("  %-20s", name);
    for (int i = 0; i < count; i++) printf(" #%d", slots[i]);
    printf("\n");
}

/* A sort order, of which rows, and the window on it. */
typedef struct query {
    int entity, offset, limit;
    bool includes_subentities;
    /* NULL for all rows. */
    node *condition;
    ordering ordering;
} query;

/* Whether all stages give one order, and a window of it is a part of it. */
static bool sorts_the_same(const query *query, bool shows) {
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
            OK(quire_fetch_request_set_limit(request, (uint64_t)query->limit, &error));
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

static void show_sort(query *query, uint64_t seed, int step) {
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
    printf("  %s ORDER BY", rows.entities[query->entity].name);
    const ordering *ordering = &query->ordering;
    for (int i = 0; i < ordering->key_count; i++)
        printf(" %s(order %u%s, locale %s)", ordering->keys[i].path, ordering->keys[i].options.text_order,
            ordering->keys[i].options.is_descending ? ", descending" : "",
            ordering->keys[i].options.locale ? ordering->keys[i].options.locale : "none");
    printf(query->includes_subentities ? "" : " without entities below it");
    printf(" WHERE %s\n  %s\n", query->condition ? canonical : "TRUEPREDICATE", complaint);
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

static void note_refusal(void) {
    for (int i = QUESTIONS - 1; i >= 0; i--)
        if (answers[i].status == QUIRE_UNSUPPORTED)
            snprintf(shared->refusal, sizeof shared->refusal, "%s: %s in %.900s", question_names[i], answers[i].message, canonical);
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

/* Runs in a process of its own. */
static void run_world(uint64_t seed, uint64_t first, uint64_t steps) {
    seed_dice(seed);
    make_world(&rows);
    open_stages();
    for (uint64_t step = 0; step < steps; step++) {
        shared->steps = first + step + 1;
        if (random_below(8) == 0 ? sort_step(seed, (int)step) : predicate_step(seed, (int)step)) {
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

static void judge_world(uint64_t seed, uint64_t first, uint64_t steps) {
    shared->is_finished = false;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        run_world(seed, first, steps);
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
    uint64_t steps = 20000, shown = 10;
    for (int i = 1; i < argument_count; i += 2) {
        uint64_t *out = strcmp(arguments[i], "--steps") == 0 ? &steps
            : strcmp(arguments[i], "--seed") == 0            ? &seed
            : strcmp(arguments[i], "--show") == 0            ? &shown
                                                             : NULL;
        if (!out || i + 1 == argument_count || !read_number(arguments[i + 1], out)) {
            fprintf(stderr, "usage: predicates [--steps N] [--seed S] [--show N]\n");
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("mmap"), 2;
    memset(shared, 0, sizeof *shared);
    shared->left_to_show = (int)shown;

    for (uint64_t world = 0, done = 0; done < steps; world++) {
        const uint64_t count = steps - done < WORLD_STEPS ? steps - done : WORLD_STEPS;
        judge_world(seed + world, done, count);
        done += count;
    }
    printf("predicates: %llu sort orders, %llu errors, %llu errors of some rows or in some order, %llu unsupported\n",
        (unsigned long long)shared->sorts, (unsigned long long)shared->errors, (unsigned long long)shared->half_errors,
        (unsigned long long)shared->unsupported);
    if (shared->unsupported) printf("predicates: unsupported, for example, %s\n", shared->refusal);
    printf("predicates: %llu steps, %llu differences, seed %llu\n", (unsigned long long)steps,
        (unsigned long long)shared->differences, (unsigned long long)seed);
    return shared->differences ? 1 : 0;
}
