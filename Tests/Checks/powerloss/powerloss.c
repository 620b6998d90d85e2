/*
 * Power cuts: scenarios are played once with a journal of what was written and synchronized, and images of what the disk
 * may hold at any moment are opened. A store that synchronizes its saves has lost none that was confirmed; one with relaxed
 * durability may have lost the last. Each holds exactly a commit.
 */
#include "folders.h"
#include "journal.h"
#include "play.h"
#include "shelf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char root[300], template_folder[320], folder[320];

/* Plays the scenario with a journal. False when that fails. */
static bool record(const scenario *scenario, bool is_relaxed) {
    remove_tree(template_folder);
    remove_tree(folder);
    bool is_ready = mkdir(template_folder, 0700) == 0;
    play play = {.scenario = scenario, .folder = template_folder, .is_relaxed = is_relaxed, .is_recording = true};
    play.calamity.kind = CALLS_ALL;
    int end = scenario->furnish ? run_child(furnish, &play) : 0;
    told->states = 0;
    play.folder = folder;
    is_ready = is_ready && copy_tree(template_folder, folder) && begin_journal(folder);
    if (!end && is_ready) end = run_child(perform, &play);
    end_journal();
    if (end) print_difference(scenario->name, end);
    else if (!is_ready || is_journal_full()) {
        fprintf(stderr, "powerloss: the journal of '%s' has no room, or its folder cannot be made\n", scenario->name);
        exit(2);
    }
    return end == 0;
}

static void cut_once(const scenario *scenario, bool is_relaxed, long recoveries) {
    const int saved = atomic_load(&told->committed), base = journal_base();
    const int length = base + random_below(journal_length() - base + 1);
    int least = 0, most = 0;
    for (int i = 1; i <= saved; i++) {
        if (!is_relaxed && told->saved_at[i] <= length) least = i;
        /* The next commit was begun, at most. */
        if (told->saved_at[i - 1] <= length) most = i;
    }
    remove_tree(folder);
    if (!make_image(folder, length)) {
        perror("powerloss: an image");
        exit(2);
    }
    char what[200];
    snprintf(what, sizeof what, "%s%s: the power goes after %d of %d entries", scenario->name,
        is_relaxed ? " (relaxed)" : "", length - base, journal_length() - base);
    verdict verdict = {.scenario = scenario, .folder = folder, .is_relaxed = is_relaxed, .was_ended = true, .least = least,
        .most = most, .has_leftovers = true, .ends_before = -1};
    for (long i = 0; i < recoveries; i++) {
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

static bool read_number(const char *text, long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtol(text, &end, 10);
    return !errno && *text && !*end && *out >= 0;
}

int main(int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long trials = 100000, recoveries = 1, seed = (now.tv_nsec ^ now.tv_sec << 10 ^ (long)getpid()) % 1000000000;
    const char *only = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        long *number = strcmp(arguments[i], "--trials") == 0 ? &trials
            : strcmp(arguments[i], "--recoveries") == 0      ? &recoveries
            : strcmp(arguments[i], "--seed") == 0            ? &seed
                                                             : NULL;
        if (i + 1 < argument_count && strcmp(arguments[i], "--only") == 0) only = arguments[i + 1];
        else if (!number || i + 1 == argument_count || !read_number(arguments[i + 1], number)) {
            fprintf(stderr, "usage: powerloss [--trials N] [--seed S] [--recoveries N] [--only SCENARIO]\n");
            return 2;
        }
    }
    if (!make_plays() || !make_check_folder("powerloss", root, sizeof root)) return perror("powerloss"), 2;
    snprintf(template_folder, sizeof template_folder, "%s/template", root);
    snprintf(folder, sizeof folder, "%s/stage", root);
    seed_dice((uint64_t)seed);
    long done = 0;
    int count = 0, number = 0;
    for (const scenario *each = scenarios; each->name; each++) count += 2 * (!only || strcmp(only, each->name) == 0);
    for (const scenario *each = scenarios; each->name; each++) {
        if (only && strcmp(only, each->name) != 0) continue;
        for (int is_relaxed = 0; is_relaxed < 2; is_relaxed++) {
            const long share = trials * (number + 1) / count - trials * number / count;
            number++;
            if (!record(each, is_relaxed)) continue;
            for (long i = 0; i < share; i++) cut_once(each, is_relaxed, recoveries);
            printf("%s%s: %ld images of %d entries\n", each->name, is_relaxed ? ", relaxed" : "", share,
                journal_length() - journal_base());
            done += share;
        }
    }
    remove_tree(root);
    printf("powerloss: %ld trials, %ld differences, seed %ld\n", done, differences, seed);
    return differences ? 1 : 0;
}
