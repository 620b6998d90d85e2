/* What the files of the benchmark share: `bench.c` runs and reports, `quotes.c` makes the rows. */
#ifndef BENCH_H
#define BENCH_H

#include <quire.h>
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(x) ((x) ? (void)0 : fail(__FILE__, #x, __LINE__))
#define OK(call) CHECK((call) == QUIRE_OK)
#define SQL_OK(call) CHECK((call) == SQLITE_OK)

/* How often something is run. */
enum { FEW = 5, MANY = 301 };
/* How many new rows a save writes, and a transaction of the floor. */
enum { SAVED_AT_ONCE = 10000 };

extern quire_error *error;
/* Of the store that a case works on. */
extern char path[64];

void fail(const char *file, const char *what, int line);
double now(void);
double median(double *samples, int count);
/* Prints the median of `samples`, which are sorted, and its ratio to that of the last floor. */
void report(const char *name, const char *contender, int64_t rows, double *samples, int count, bool is_floor);
void remove_files(void);

/* --- Rows, by Quire. */

typedef struct sample { char author[24], title[64]; double created, price; } sample;

/* What a title is made of: the words before and after its number. */
typedef struct title_words { const char *before, *after; } title_words;
extern title_words words;
/* Whether titles have a text index. */
extern bool is_searchable;

/* Whether quotes have tags, which is to say that `prepare_tags` can be called. */
extern bool has_tags;

void make_sample(int64_t place, int64_t rows, sample *out);

typedef struct opened { quire_model *model; quire_store *store; quire_context *context; } opened;

opened open_store(const char *path);
void close_store(opened made);
void insert_objects(const char *path, int64_t rows);
void insert_columns(const char *path, int64_t rows);
/* The file of a case with its rows, and nothing else. */
void prepare_file(int64_t rows);
/* 200 tags, `Tag 001` and so on, two for each row. */
void prepare_tags(int64_t rows);

/* --- SQLite. */

sqlite3 *open_database(const char *path);
sqlite3_stmt *prepare(sqlite3 *database, const char *sql);

/* --- The cases. */

void insert_case(int64_t rows);
void read_case(int64_t rows);
void first_fetch_case(int64_t rows);
void move_case(int64_t rows);
void contains_case(int64_t rows);
void text_index_case(int64_t rows);
void equal_case(int64_t rows);
void any_case(int64_t rows);
void cascade_case(int64_t rows);

#endif
