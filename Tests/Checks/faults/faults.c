/*
 * Each system call of thirteen scenarios fails, by turns: once, or from then on; with EIO, without space, or half done.
 * Or it is the last of its process. The failure must be told or do no harm, the store be whole, and a second try succeed.
 */
#include "folders.h"
#include "play.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct way {
    const char *what;
    fate fate;
    call_kind kind;
    int reason;
    bool ends_after_failure;
} way;

static const way ways[] = {
    {"fails with EIO", FATE_FAILS, CALLS_ALL, EIO, false},
    {"fails with EIO, as all that follow", FATE_FAILS_ON, CALLS_TO_DISK, EIO, false},
    {"has no space", FATE_FAILS, CALLS_THAT_FILL, ENOSPC, false},
    {"has no space, as all that follow", FATE_FAILS_ON, CALLS_THAT_FILL, ENOSPC, false},
    {"writes half", FATE_FAILS, CALLS_THAT_WRITE, 0, false},
    {"writes half, and there is no space then", FATE_FAILS_ON, CALLS_THAT_WRITE, 0, false},
    {"reads half", FATE_FAILS, CALLS_THAT_READ, 0, false},
    {"fails with EIO, and the process ends", FATE_FAILS, CALLS_ALL, EIO, true},
    {"fails with EIO, as all that follow until the process ends", FATE_FAILS_ON, CALLS_TO_DISK, EIO, true},
    {"is the last", FATE_ENDS, CALLS_THAT_CHANGE, 0, false},
    {"is the last, and half done", FATE_ENDS_HALFWAY, CALLS_THAT_WRITE, 0, false}};

typedef struct attempt {
    const scenario *scenario;
    int way, number, calls;
} attempt;

enum { ATTEMPTS = 60000 };

static attempt attempts[ATTEMPTS];
static long attempt_count;
static char root[300], template_folder[320], folder[320];

static void reset(const scenario *scenario) {
    remove_tree(folder);
    if (scenario->furnish ? !copy_tree(template_folder, folder) : mkdir(folder, 0700) != 0) {
        perror("the folder of a scenario");
        exit(2);
    }
}

/* The template of a scenario, and its states. False when that fails. */
static bool prepare(const scenario *scenario) {
    remove_tree(template_folder);
    (void)mkdir(template_folder, 0700);
    play play = {.scenario = scenario, .folder = template_folder, .is_recording = true};
    int end = scenario->furnish ? run_child(furnish, &play) : 0;
    told->states = 0;
    if (!end) {
        play.folder = folder;
        play.calamity.kind = CALLS_ALL;
        reset(scenario);
        end = run_child(perform, &play);
    }
    if (end) print_difference(scenario->name, end);
    return end == 0;
}

/* How many calls of a kind a scenario makes. */
static int count_calls(const scenario *scenario, call_kind kind) {
    const play play = {.scenario = scenario, .folder = folder, .is_recording = true, .calamity = {.kind = kind}};
    reset(scenario);
    return run_child(perform, &play) ? 0 : told->calls;
}

static void gather(const scenario *scenario) {
    if (!prepare(scenario)) return;
    int most = 0;
    for (int way = 0; way < COUNT_OF(ways); way++) {
        const int calls = count_calls(scenario, ways[way].kind);
        if (calls > most) most = calls;
        for (int number = 0; number < calls && attempt_count < ATTEMPTS; number++)
            attempts[attempt_count++] = (attempt){scenario, way, number, calls};
    }
    printf("%s: %d calls\n", scenario->name, most);
}

static bool may_leave_names(const way *way) {
    static const char *const calls[] = {"unlink", "rmdir", "opendir", "readdir"};
    if (way->fate != FATE_FAILS || way->ends_after_failure) return true;
    for (int i = 0; i < COUNT_OF(calls); i++)
        if (strcmp(fateful_call(), calls[i]) == 0) return true;
    return false;
}

static void try_one(const attempt *attempt, long recoveries) {
    const way *const way = &ways[attempt->way];
    const play play = {.scenario = attempt->scenario, .folder = folder, .ends_after_failure = way->ends_after_failure,
        .calamity = {way->fate, attempt->number, way->kind, way->reason, NULL, NULL}};
    char what[500];
    reset(attempt->scenario);
    int end = run_child(perform, &play);
    const bool was_ended = end == SIGKILL && (way->fate >= FATE_ENDS || way->ends_after_failure);
    const bool is_alike = end == 0 || was_ended;
    snprintf(what, sizeof what, "%s: call %d of %d, %s of '%s', %s", attempt->scenario->name, attempt->number,
        attempt->calls, fateful_call(), fateful_file() + strlen(folder) * (fateful_file()[0] != 0), way->what);
    if (!is_alike) return print_difference(what, end);
    verdict verdict = {.scenario = attempt->scenario, .folder = folder, .was_ended = was_ended,
        .least = atomic_load(&told->committed), .has_leftovers = was_ended || may_leave_names(way), .ends_before = -1};
    verdict.most = verdict.least + (was_ended ? atomic_load(&told->is_committing) : 0);
    for (long i = 0; was_ended && i < recoveries; i++) {
        verdict.ends_before = random_below(8);
        end = run_child(judge, &verdict);
        if (end != 0 && end != SIGKILL) return print_difference(what, end);
        /* It wrote what shows that it can. */
        if (end == 0) return;
    }
    verdict.ends_before = -1;
    end = run_child(judge, &verdict);
    if (end) print_difference(what, end);
}

static bool read_number(const char *text, long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtol(text, &end, 10);
    return !errno && *text && !*end && *out >= 0;
}

int main(int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long trials = ATTEMPTS, recoveries = 1, seed = (now.tv_nsec ^ now.tv_sec << 10 ^ (long)getpid()) % 1000000000;
    const char *only = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        long *number = strcmp(arguments[i], "--trials") == 0 ? &trials
            : strcmp(arguments[i], "--recoveries") == 0      ? &recoveries
            : strcmp(arguments[i], "--seed") == 0            ? &seed
                                                             : NULL;
        if (i + 1 < argument_count && strcmp(arguments[i], "--only") == 0) only = arguments[i + 1];
        else if (!number || i + 1 == argument_count || !read_number(arguments[i + 1], number)) {
            fprintf(stderr, "usage: faults [--trials N] [--seed S] [--recoveries N] [--only SCENARIO]\n");
            return 2;
        }
    }
    if (!make_plays() || !make_check_folder("faults", root, sizeof root)) return perror("faults"), 2;
    snprintf(template_folder, sizeof template_folder, "%s/template", root);
    snprintf(folder, sizeof folder, "%s/stage", root);
    seed_dice((uint64_t)seed);
    long done = 0;
    for (const scenario *scenario = scenarios; scenario->name; scenario++) {
        if (only && strcmp(only, scenario->name) != 0) continue;
        attempt_count = 0;
        gather(scenario);
        /* Some of all: the dice say which. */
        int named = 0;
        for (const struct scenario *each = scenarios; each->name; each++) named += !only || strcmp(only, each->name) == 0;
        const long most = trials / named;
        for (long i = 0; i < attempt_count && i < most; i++) {
            const long other = attempt_count > most ? i + random_below((int)(attempt_count - i)) : i;
            const attempt chosen = attempts[other];
            attempts[other] = attempts[i];
            try_one(&chosen, recoveries);
            done++;
        }
    }
    remove_tree(root);
    printf("faults: %ld trials, %ld differences, seed %ld\n", done, differences, seed);
    return differences ? 1 : 0;
}
