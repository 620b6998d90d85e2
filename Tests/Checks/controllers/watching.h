/*
 * Controllers of the check `controllers`. Watching.c listens to what they report and replays it; comparing.c holds their
 * lists against a fresh fetch, against what should be listed, and against themselves.
 */
#ifndef QUIRE_WATCHING_H_
#define QUIRE_WATCHING_H_

#include "expected.h"

enum { WATCHED = 6 };

typedef enum moment { NEVER, AT_WILL_CHANGE, AT_OBJECT, AT_DID_CHANGE, AT_CHANGES } moment;

typedef struct watched {
    int context;
    query query;
    quire_results *results;
    /* For a fresh fetch: in the order of the list. */
    quire_fetch_request *request;
    /* The list as replayed so far, as it was when it was last compared, and as replayed from the queue. */
    named_sections mirror;
    sections at_comparison, drained;
    /* Brackets since then. */
    int brackets, undrained;
    /* Of a bracket. */
    told told;
    int totals;
    bool is_open;
    /* Since the comparison: rows that were told of and stayed or came, with what they named, and whether more was told
       than what objects changed. */
    bool is_reported[SLOTS];
    uint32_t named[SLOTS];
    bool is_upset;
    /* Whether the bracket is about another request, so that every row may move. */
    bool is_changing, is_suspended;
    /* Which displayed key paths. */
    uint32_t displayed;
    /* An earlier state of the list; whether reports lead from it to now, and those of one request alone. */
    quire_snapshot *snapshot;
    named_sections kept;
    bool is_linked, is_same_request;
    /* When its delegate changes something, once. */
    moment reacts;
} watched;

extern watched watches[WATCHED];

/* What a delegate does when it reacts; and how often it has done so. */
extern void (*reaction)(const watched *watched);

void watch(watched *watched, int context, const query *query);
void unwatch(watched *watched);

/* Another query; none while it is suspended. */
void ask(watched *watched, const query *query);
void display(watched *watched, uint32_t paths);
/* Suspends it, or resumes it if it is suspended. */
void suspend_or_resume(watched *watched, bool tells);
/* Fetches again, which tells nothing. */
void fetch_again(watched *watched);

/* Whatever happens, the list is what was replayed, from callbacks and from the queue, and its places are right. */
void check_list(watched *watched);
/* When the context is settled: against what objects say now and said at the last comparison. */
void compare_list(watched *watched, const facts *before, const facts *now);
/* Compares the list with the snapshot that was kept, and keeps another. */
void compare_snapshots(watched *watched);

/* --- Between the two files. */

/* The list with its sections as it is now, by ids. */
void read_list(const watched *watched, named_sections *out);
void take_told(const watched *watched, const quire_changes *changes, told *told);
/* Replays what was told in each of its forms; and whether it tells of more moves than it has to. */
void check_told(const watched *watched, const told *told, const quire_changes *changes, const sections *old, const sections *new);
void check_moves(const watched *watched, const told *told, const sections *old, const sections *new, bool is_free);
quire_section_rule *make_rule(const query *query);
void put_section_first(watched *watched);

#define FAIL(watched, format, ...) \
    differ("controller %d, of %s: " format, (int)((watched) - watches), entities[(watched)->query.kind], ##__VA_ARGS__)

#endif
