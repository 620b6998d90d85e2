/* What the files of the check `threads` share. `threads.c` runs it, `desk.c` is what a thread does, `ledger.c` audits. */
#ifndef QUIRE_THREADS_H_
#define QUIRE_THREADS_H_

#include <quire.h>
#include <sqlite3.h>

#include <stdatomic.h>
#include <stddef.h>

enum { TELLERS = 8, ACCOUNTS = 12, STAMPS = 6, TAGS = 8, LABELS = 48, OPENING = 1000 };

/* A list of pairs of numbers. */
typedef struct pairs {
    int64_t (*items)[2];
    size_t count, capacity;
} pairs;

void add_pair(pairs *pairs, int64_t first, int64_t second);

/*
 * What a thread says it has saved. The ledger of the store is right when it is the sum of these:
 *
 * - the balance of an account is what it opened with and all deltas. A thread changes it under a policy that refuses
 *   conflicts, or else one change would be lost in another;
 * - visits are added by batch requests alone;
 * - entries are those that were inserted, less those that were deleted: no thread inserts a deleted one again;
 * - a stamp has the mark that some thread says was saved last here or there, and all its values from that one;
 * - a label is there once when any thread has saved it.
 */
typedef struct claims {
    int64_t deltas[ACCOUNTS], visits[ACCOUNTS];
    /* Id and amount; id and 0. */
    pairs inserted, deleted, notes;
    /* Place and mark. */
    pairs stamped;
    bool labels[LABELS];
} claims;

typedef struct teller {
    int number;
    uint64_t seed;
    long steps;
    claims claims;
    long saves, conflicts, settled, busy, looks;
} teller;

/* The request and the predicates that all threads use at once. */
extern quire_fetch_request *all_entries, *all_entry_ids, *some_entries, *fresh_entries;
extern quire_store *store;

/* A thread has done a step. */
void count_step(void);

/* A sentence about a difference, which ends the check. */
void differ(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Does the steps of a `teller`, at a desk. */
void *work(void *argument);

/* What a stamp with that mark has beside it. */
int64_t stamp_value(int64_t mark);
void stamp_text(int64_t mark, char text[32]);

void name_label(int label, char name[16]);

/* Compares the file with the sum of the claims; gives the number of differences and tells the first. */
long audit(sqlite3 *database, const teller *tellers);

/* Leaves a handle for the next thread to release, which need not be that of its context. */
void leave_object(quire_object *object);
void leave_list(quire_list *list);
void leave_results(quire_results *results);

#endif
