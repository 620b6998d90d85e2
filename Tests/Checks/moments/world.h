/*
 * The world of the check `moments`: items of persons and with tags, and the states that its commits have left.
 *
 * Each writer has a row of the entity `Commit`, and writes the number of the commit into it with each of its saves. No two
 * writers meet in a row, and the greatest of these numbers is the commit that a reader is at. The states of all commits are
 * kept here as plain arrays.
 */
#ifndef QUIRE_MOMENTS_WORLD_H_
#define QUIRE_MOMENTS_WORLD_H_

#include <quire.h>

#include <stdint.h>

enum { WRITERS = 16, ITEMS_OF_ONE = 10, ITEMS = WRITERS * ITEMS_OF_ONE, FIRST_PEOPLE = 5, PEOPLE = FIRST_PEOPLE + WRITERS, TAGS = 6 };
enum { NO_OWNER = -1 };
/* So many crates make a commit large enough to be worked out beside contexts; their numbers begin here. */
enum { CRATES = 300, FIRST_CRATE = 10000 };
/* Names, shelves and amounts of items lie below these; so do levels of persons. */
enum { NAMES = 6, SHELVES = 4, AMOUNTS = 10, LEVELS = 4 };

typedef struct item {
    bool exists;
    uint8_t name, shelf, amount, tags;
    int8_t owner;
    /* The commit of the last batch request that has set it. */
    int64_t stamp;
    /* Which one it is of those that had its place; the commits that changed its row and its tags last. */
    int64_t born, changed, tagged;
} item;

typedef struct person {
    bool exists;
    uint8_t level;
    int64_t born, changed;
} person;

/* What a store holds after a commit, or what a context shows. */
typedef struct state {
    int64_t numbers[WRITERS];
    item items[ITEMS];
    person people[PEOPLE];
    /* The commit of the last batch request that has set all crates. */
    int64_t crate_stamp;
} state;

extern const char *const names[NAMES];

/* What a run is done with. */
typedef struct setting {
    bool is_memory, is_threaded;
    /* Plain SQLite and a second store of the file write, too. */
    bool has_foreign;
    /* All contexts merge after each commit, so that what is newest is what all show. */
    bool follows;
} setting;
extern setting current;

/* The store of the run, and the second one of the same file. */
extern quire_store *stores[2];
extern char store_path[128];
/* Of the rows that are never deleted. */
extern int64_t tag_ids[TAGS], commit_ids[WRITERS];

/* Opens a new store with the first commit. */
void open_world(void);
void close_world(void);
/* In the process that runs the histories: removes the file of one that has differed. */
void remove_left(void);
quire_context *open_context(int store);

/* --- Commits. */

/* How many are kept: a context that is further behind can no longer be compared. */
enum { KEPT = 1 << 12 };

/* The newest commit that was filed, and what it has left. */
int64_t newest_number(void);
/* Whether it is still kept. */
bool read_state(int64_t number, state *out);
/* The greatest of the numbers. */
int64_t number_of(const state *state);

/*
 * A commit is announced with what it will leave before it is written: a reader may be there before its writer knows. It is
 * filed when it is written. One writer at a time does that; it may begin several times, and ends as often.
 */
void begin_commit(void);
void announce_commit(const state *state);
void file_commit(void);
void end_commit(void);

/* --- Failing. */

/* Ends the run with a sentence about a difference. */
void fault(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

extern _Thread_local quire_error *failure;
#define DO(call) expect((call), QUIRE_OK, #call)
void expect(quire_status status, quire_status wanted, const char *call);
/*
 * For each call that may advance a context and call delegates. A delegate that is called from within any other call fails the
 * run (`lists.c`).
 */
extern _Thread_local int advancing;
#define ADVANCING(call) (advancing++, advanced(call))
static inline quire_status advanced(quire_status status) {
    advancing--;
    return status;
}
/* Forgets the error of a call that may fail; returns its status. */
quire_status forgiven(quire_status status);

#endif
