/* Random histories, each in a process of its own, and the first that differs as short as it gets. */
#ifndef QUIRE_TRIAL_H_
#define QUIRE_TRIAL_H_

#include <stddef.h>

/* How a check makes, runs and shows the steps of a history, which are `step_size` bytes each. */
typedef struct trial {
    const char *name;
    size_t step_size;
    int length;
    /* Makes a history of `count` steps with the dice, which have been seeded. */
    void (*make)(void *steps, int count);
    /* Runs it, and calls `begin_step` before each step. Nothing that it does is there afterwards. */
    void (*run)(const void *steps, int count);
    /* Prints what the whole history is done with, or nothing; and a line of a step. */
    void (*show_setting)(void);
    void (*show)(const void *step);
} trial;

/* Does what the arguments of the program say; its exit status. */
int run_trial(const trial *trial, int argument_count, char **arguments);

void begin_step(int number);

/* Ends the process of the history, which differs. */
void differ(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
