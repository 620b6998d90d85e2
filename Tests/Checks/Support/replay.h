/* Applies reported changes to a list, and finds what is wrong with them. */
#ifndef QUIRE_REPLAY_H_
#define QUIRE_REPLAY_H_

#include <quire.h>

enum { SLOTS = 400 };

/* A sectioned list of rows, which have numbers below `SLOTS`. */
typedef struct sections {
    int count;
    int sizes[SLOTS];
    int starts[SLOTS];
    int slots[SLOTS];
    int total;
} sections;

/* Rows of a list while it is edited, each section an array of its own. */
typedef struct editing {
    int count;
    int sizes[SLOTS];
    int slots[SLOTS][SLOTS];
} editing;

/* A reported change with the row that it concerns. */
typedef struct told_change {
    quire_change change;
    int slot;
} told_change;

typedef struct told {
    quire_section_change sections[2 * SLOTS];
    told_change rows[2 * SLOTS];
    quire_step steps[8 * SLOTS];
    int step_slots[8 * SLOTS];
    int section_count, row_count, step_count;
} told;

/* Both give NULL, or a sentence about the first fault. `list` is the state before, and becomes the one after. */
const char *replay_changes(const told *told, sections *list);
const char *replay_steps(const told *told, sections *list);

bool sections_equal(const sections *left, const sections *right);

#endif
