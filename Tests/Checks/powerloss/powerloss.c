/*
 * Power cuts: scenarios are played once with a journal of what was written and synchronized, and images of what the disk
 * may hold at any moment are opened. A store that synchronizes its saves has lost none that was confirmed; one with relaxed
 * durability may have lost the last. Each holds exactly a commit.
 */
#include "folders.h"
#include "journal.h"
#include "play.h"
#include "shelf.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static check_run run;

/* Plays the scenario with a journal. False when that fails. */
static bool record(const scenario *scenario, bool is_relaxed) {
    remove_tree(run.template_folder);
    remove_tree(run.folder);
    bool is_ready = mkdir(run.template_folder, 0700) == 0;
    play play = {.scenario = scenario, .folder = run.template_folder, .is_relaxed = is_relaxed, .is_recording = true};
    play.calamity.kind = CALLS_ALL;
    int end = scenario->furnish ? run_child(furnish, &play) : 0;
    told->states = 0;
    play.folder = run.folder;
    is_ready = is_ready && copy_tree(run.template_folder, run.folder) && begin_journal(run.folder);
    if (!end && is_ready) end = run_child(perform, &play);
    end_journal();
    if (end) print_difference(scenario->name, end);
    else if (!is_ready || is_journal_full()) {
        fprintf(stderr, "powerloss: the journal of '%s' has no room, or its folder cannot be made\n", scenario->name);
        exit(2);
    }
    return end == 0;
}

static void cut_once(const scenario *scenario, bool is_relaxed) {
    const int saved = atomic_load(&told->committed), base = journal_base();
    const int length = base + random_below(journal_length() - base + 1);
    int least = 0, most = 0;
    for (int i = 1; i <= saved; i++) {
        if (!is_relaxed && told->saved_at[i] <= length) least = i;
        /* The next commit was begun, at most. */
        if (told->saved_at[i - 1] <= length) most = i;
    }
    remove_tree(run.folder);
    if (!make_image(run.folder, length)) {
        perror("powerloss: an image");
        exit(2);
    }
    char what[200];
    snprintf(what, sizeof what, "%s%s: the power goes after %d of %d entries", scenario->name,
        is_relaxed ? " (relaxed)" : "", length - base, journal_length() - base);
    verdict verdict = {.scenario = scenario, .folder = run.folder, .is_relaxed = is_relaxed, .was_ended = true, .least = least,
        .most = most, .has_leftovers = true, .ends_before = -1};
    for (long i = 0; i < run.recoveries; i++) {
        if (chance(50)) continue;
        verdict.ends_before = random_below(8);
        const int end = run_child(judge, &verdict);
        if (end == 0) return;
        if (end != SIGKILL) return print_difference(what, end);
    }
    verdict.ends_before = -1;
    const int end = run_child(judge, &verdict);
    if (end) print_difference(what, end);
}

int main(int argument_count, char **arguments) {
    long done = 0, number = 0, count = 0;
    run = begin_run("powerloss", 100000, argument_count, arguments);
    for (const scenario *each = scenarios; each->name; each++) count += 2 * is_chosen(&run, each);
    for (const scenario *each = scenarios; each->name; each++) {
        for (int is_relaxed = 0; is_relaxed < 2 && is_chosen(&run, each); is_relaxed++, number++) {
            const long share = run.trials * (number + 1) / count - run.trials * number / count;
            if (!record(each, is_relaxed)) continue;
            for (long i = 0; i < share; i++) cut_once(each, is_relaxed);
            printf("%s%s: %ld images of %d entries\n", each->name, is_relaxed ? ", relaxed" : "", share,
                journal_length() - journal_base());
            done += share;
        }
    }
    return end_run("powerloss", &run, done);
}
