/*
 * Stores in memory by a VFS: random histories of its connections and files.
 *
 *     memory_files [--kind paired|bare|starved|raced|crowded] [--steps N] [--seed S]
 *     memory_files --figures
 */
#include "figures.h"
#include "kinds.h"
#include "places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const kind *const kinds[] = {&paired, &bare, &starved, &raced, &crowded};

/* The only kind, where one is asked for. */
static int chosen = -1;

static void make(void *out, int count) {
    step *steps = out;
    int share = random_below(100), which = 0;
    while (which + 1 < COUNT_OF(kinds) && share >= kinds[which]->share) share -= kinds[which++]->share;
    if (chosen >= 0) which = chosen;
    for (int i = 0; i < count; i++) {
        steps[i].kind = (uint8_t)which;
        steps[i].who = (uint8_t)random_below(kinds[which]->actors);
        steps[i].seed = (uint32_t)random_below(1 << 30);
    }
}

static void run(const void *steps, int count) {
    const step *first = steps;
    if (count) kinds[first->kind]->run(first, count);
}

static void show(const void *step) {
    const struct step *shown = step;
    printf("  %s", kinds[shown->kind]->name);
    kinds[shown->kind]->show(shown);
}

int main(int argument_count, char **arguments) {
    const trial trial = {.name = "memory_files", .step_size = sizeof(step), .length = 80, .make = make, .run = run, .show = show};
    const char *parent = getenv("TMPDIR");
    if (argument_count == 2 && strcmp(arguments[1], "--figures") == 0) return print_figures();
    if (argument_count > 2 && strcmp(arguments[1], "--kind") == 0) {
        for (chosen = COUNT_OF(kinds) - 1; chosen >= 0 && strcmp(kinds[chosen]->name, arguments[2]) != 0; chosen--) continue;
        if (chosen < 0) return fprintf(stderr, "memory_files: there is no kind '%s'\n", arguments[2]), 2;
        argument_count -= 2;
        arguments += 2;
    }
    snprintf(folder, sizeof folder, "%s/quire-memory-files-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) return perror("memory_files"), 2;
    const int result = run_trial(&trial, argument_count, arguments);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 2;
    return result;
}
