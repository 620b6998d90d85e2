/*
 * Each system call of thirteen scenarios fails, by turns: once, or from then on; with EIO, without space, or half done.
 * Or it is the last of its process. The failure must be told or do no harm, the store be whole, and a second try succeed.
 */
#include "folders.h"
#include "play.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
static check_run run;

static void reset(const scenario *scenario) {
    remove_tree(run.folder);
    if (scenario->furnish ? !copy_tree(run.template_folder, run.folder) : mkdir(run.folder, 0700) != 0) {
        perror("the folder of a scenario");
        exit(2);
    }
}

/* The template of a scenario, and its states. False when that fails. */
static bool prepare(const scenario *scenario) {
    remove_tree(run.template_folder);
    (void)mkdir(run.template_folder, 0700);
    play play = {.scenario = scenario, .folder = run.template_folder, .is_recording = true};
    int end = scenario->furnish ? run_child(furnish, &play) : 0;
    told->states = 0;
    if (!end) {
        play.folder = run.folder;
        play.calamity.kind = CALLS_ALL;
        reset(scenario);
        end = run_child(perform, &play);
    }
    if (end) print_difference(scenario->name, end);
    return end == 0;
}

/* How many calls of a kind a scenario makes. */
static int count_calls(const scenario *scenario, call_kind kind) {
    const play play = {.scenario = scenario, .folder = run.folder, .is_recording = true, .calamity = {.kind = kind}};
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

static void try_one(const attempt *attempt) {
    const way *const way = &ways[attempt->way];
    const play play = {.scenario = attempt->scenario, .folder = run.folder, .ends_after_failure = way->ends_after_failure,
        .calamity = {way->fate, attempt->number, way->kind, way->reason, NULL, NULL}};
    char what[500];
    reset(attempt->scenario);
    int end = run_child(perform, &play);
    const bool was_ended = end == SIGKILL && (way->fate >= FATE_ENDS || way->ends_after_failure);
    const bool is_alike = end == 0 || was_ended;
    snprintf(what, sizeof what, "%s: call %d of %d, %s of '%s', %s", attempt->scenario->name, attempt->number,
        attempt->calls, fateful_call(), fateful_file() + strlen(run.folder) * (fateful_file()[0] != 0), way->what);
    if (!is_alike) return print_difference(what, end);
    verdict verdict = {.scenario = attempt->scenario, .folder = run.folder, .was_ended = was_ended,
        .least = atomic_load(&told->committed), .has_leftovers = was_ended || may_leave_names(way), .ends_before = -1};
    verdict.most = verdict.least + (was_ended ? atomic_load(&told->is_committing) : 0);
    for (long i = 0; was_ended && i < run.recoveries; i++) {
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

int main(int argument_count, char **arguments) {
    long done = 0;
    int chosen = 0;
    run = begin_run("faults", LONG_MAX, argument_count, arguments);
    for (const scenario *each = scenarios; each->name; each++) chosen += is_chosen(&run, each);
    for (const scenario *each = scenarios; each->name; each++) {
        if (!is_chosen(&run, each)) continue;
        attempt_count = 0;
        gather(each);
        /* Where not all are tried, the dice say which. */
        const long most = run.trials / chosen;
        for (long i = 0; i < attempt_count && i < most; i++, done++) {
            const long other = attempt_count > most ? i + random_below((int)(attempt_count - i)) : i;
            const attempt attempt = attempts[other];
            attempts[other] = attempts[i];
            try_one(&attempt);
        }
    }
    return end_run("faults", &run, done);
}
