/* What happens in a history of the check `controllers`: steps.c carries it out. */
#ifndef QUIRE_STEPS_H_
#define QUIRE_STEPS_H_

#include "watching.h"

typedef enum verb {
    /* Changes, up to MANY, are processed later. */
    INSERT, INSERT_ROWS, SET, HOLD, MARK, DELETE, MANY,
    PROCESS, SAVE, SAVE_UP, MERGE, ROLLBACK, REFRESH, REFRESH_ALL, RESET, UNDO, REDO,
    BATCH_UPDATE, BATCH_DELETE, BATCH_INSERT,
    ASK, DISPLAY, SUSPEND, COMPARE, FETCH_AGAIN, REACT
} verb;

/*
 * HOLD gives a book an author or a person a city, MARK a book a tag, each from one side of the relationship or the other.
 * MANY does something to every so many of a kind. Under REACT a delegate does what `reaction` says.
 */
typedef struct step {
    verb verb, reaction;
    int context, controller, kind, slot, count, key, values[KEYS];
    /* The holder, or the tag; -1 for none. */
    int other;
    /* From the other side; and whatever else may be one way or the other. */
    bool is_inverse, flag;
    uint32_t paths;
    moment moment;
    query query;
} step;

void perform(const step *step);
void show_step(const void *step);

/* Processes what delegates have changed, until they change no more. */
void settle_reactions(void);

#endif
