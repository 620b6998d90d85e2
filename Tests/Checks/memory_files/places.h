/*
 * Where the check `memory_files` keeps databases: in memory by the VFS that is checked, and in files of a folder by
 * SQLite's own. Statements run in either, and what they give is compared.
 */
#ifndef QUIRE_PLACES_H_
#define QUIRE_PLACES_H_

#include <sqlite3.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum place { IN_MEMORY, IN_FILES, PLACES } place;

/* What a statement gives: its code, how many rows, and a digest of their values. */
typedef struct outcome {
    int code, rows;
    uint64_t digest;
} outcome;

static inline bool is_same(outcome one, outcome other) {
    return one.code == other.code && one.rows == other.rows && one.digest == other.digest;
}

/* A value that is bound to a statement: a number, or so many bytes that follow from it. */
typedef struct argument {
    int64_t number;
    int size;
} argument;

enum { MOST_ARGUMENTS = 3, LARGEST_BLOB = 300000 };

/* The folder of all files; made and deleted by `main`. */
extern char folder[200];

/* For the process of a history: has SQLite tell when a statement in memory reaches for a file, and how much memory it has.
 * Begins and ends SQLite. */
void begin_places(void);
void end_places(void);

/* Hears of memory that SQLite gives back, before; NULL when nothing does. */
extern void (*before_free)(const void *memory, int size);

/* Databases that histories use. Those in memory are held, and those in files are deleted, from `begin_place` on. */
enum { NAMES = 2 };
const char *name_in(place place, int which);
void begin_place(place place);
void end_place(place place);

/* What runs in memory meanwhile, on this thread, must open no file. */
void enter_memory(bool is_in_memory);

sqlite3 *open_in(place place, int which, int flags);
void close_in(place place, sqlite3 *database);

outcome run_in(place place, sqlite3 *database, const char *sql, const argument *arguments);

/* One step of a statement, added to the digest. */
outcome step_in(place place, sqlite3_stmt *statement, outcome before);

/* All tables and their rows. */
outcome contents_in(place place, sqlite3 *database);
/* Differs unless SQLite finds the database whole. */
void check_integrity(place place, sqlite3 *database);

const char *place_name(place place);

/* Memory that SQLite has. The allocation that is `countdown` further fails, and `more` after it; of those of at least
 * `size` bytes. */
typedef struct shortage {
    long countdown, more;
    int size;
} shortage;
void set_shortage(shortage shortage);
/* Whether an allocation has failed since then. It ends there. */
bool end_shortage(void);

#endif
