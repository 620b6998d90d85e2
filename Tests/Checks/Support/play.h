/* Plays a scenario in a process of its own, and judges in another one what is left. */
#ifndef QUIRE_PLAY_H_
#define QUIRE_PLAY_H_

#include "stage.h"

#include <sys/types.h>

typedef struct play {
    const scenario *scenario;
    const char *folder;
    bool is_relaxed;
    calamity calamity;
    /* A failure is the last that the process sees, which ends without closing anything. */
    bool ends_after_failure;
    /* States are written down instead of compared. */
    bool is_recording;
} play;

/* Runs `body` in a child process. 0, the signal that ended it, or 256 and more for an exit status. */
int run_child(void (*body)(const void *data), const void *data);

/* Makes the folder as the scenario finds it; plays it; looks at what is left. Each ends the process when it differs. */
void furnish(const void *play);
void perform(const void *play);

typedef struct verdict {
    const scenario *scenario;
    const char *folder;
    bool is_relaxed;
    /* The process was ended, or the power went. */
    bool was_ended;
    /* Commits that must be there, and that may be. */
    int least, most;
    /* Names that only a write in progress has may be there. */
    bool has_leftovers;
    /* The process is ended before this call, when it is not negative: a recovery that is interrupted. */
    int ends_before;
} verdict;

void judge(const void *verdict);

/* What the arguments of a check say; NULL for all scenarios. And folders of its own. */
typedef struct check_run {
    long trials, recoveries, seed;
    const char *only;
    char root[300], template_folder[320], folder[320];
} check_run;

/* Makes what a check needs, and seeds the dice. Otherwise the program ends with a word about it. */
check_run begin_run(const char *check, long trials, int argument_count, char **arguments);
bool is_chosen(const check_run *run, const scenario *scenario);
/* Prints what came out, and removes the folders; the exit status. */
int end_run(const char *check, const check_run *run, long done);

/* The first sentences of differences are printed. */
void print_difference(const char *what, int end);

extern long differences;

#endif
