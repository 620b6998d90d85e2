/* Controllers whose lists are followed by what they report, and compared with the reference. */
#ifndef QUIRE_FOLLOWING_H_
#define QUIRE_FOLLOWING_H_

#include "calls.h"
#include "reference.h"
#include "replay.h"
#include "trial.h"

extern row rows[SLOTS];
extern int row_count;

typedef struct followed {
    int which;
    quire_results *results;
    /* For a fresh fetch: in the order of the list. */
    quire_fetch_request *request;
    /* The list as replayed so far, and as it was at the beginning of the batch. */
    sections mirror, at_start;
    /* An earlier state of the list. */
    quire_snapshot *snapshot;
    sections kept;
    told told;
    bool is_open, is_suspended, has_aggregates, is_reported[SLOTS];
    /* Brackets of the batch, and whether what it told is more than what objects changed. */
    int brackets;
    bool is_upset;
} followed;

extern followed controllers[CONTROLLERS];

/* Notes the id that a row has now. */
void note_id(row *row);

void follow(quire_context *context, int place, int which);
void unfollow(followed *followed);
/* At the end of a batch. */
void check_controller(quire_context *context, followed *followed);

/* Another listing, unless it is suspended. */
void change_listing(followed *followed, int which);
/* The same by a request that is read in the background, and takes the place of another one with `is_late`. */
void change_listing_in_background(followed *followed, int which, bool is_late);
/* Suspends it, or resumes it if it is suspended. */
void suspend_or_resume(followed *followed, bool tells);
/* Compares the list with the snapshot that was kept, and keeps another. */
void compare_snapshots(followed *followed);

#endif
