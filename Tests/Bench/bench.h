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
/* So many changes are made before any is timed, and the list after them is the answer. */
enum { CHECKED = 3 };
/* How many rows a list shows at a time. */
enum { WINDOW = 50 };
/* How many new rows a save writes, and a transaction of the floor. */
enum { SAVED_AT_ONCE = 10000 };

extern quire_error *error;
/* Of the store that a case works on. */
extern char path[64];

void fail(const char *file, const char *what, int line);
double now(void);
/*
 * The work of Quire that is measured under this name, between these two calls: seconds now, and those since. With --count
 * and this name callgrind counts its instructions. NULL for work that is not measured, such as that of a first round.
 */
double begin_work(const char *name);
double end_work(const char *name, double start);
double median(double *samples, int count);
/* Prints the median of `samples`, which are sorted, and its ratio to that of the last floor. */
void report(const char *name, const char *contender, int64_t rows, double *samples, int count, bool is_floor);
/* What the contenders of the reports that follow have found; other programs have to find the same. */
void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How often to do what takes as long as `rows` rows. */
int rounds_for(int64_t rows, int most);

/* --- Rows, by Quire. */

typedef struct sample { char author[24], title[64]; double created, price; } sample;

/* What a title is made of: the words before and after its number. */
typedef struct title_words { const char *before, *after; } title_words;
extern title_words words;
/* Whether titles have a text index. */
extern bool is_searchable;

/* Whether quotes have tags, which is to say that `prepare_tags` can be called. */
extern bool has_tags;

/* Whether quotes have a rating, of 3 where nothing is said. */
extern bool has_ratings;

void make_sample(int64_t place, int64_t rows, sample *out);

typedef struct opened { quire_model *model; quire_store *store; quire_context *context; } opened;

/* A model of quotes. Owned. */
quire_model *new_model(void);
opened open_store(const char *path);
void close_store(opened made);
void insert_objects(const char *path, int64_t rows);
void insert_columns(const char *path, int64_t rows);
/* The file of a case with its rows, and nothing else. */
void prepare_file(int64_t rows);
/* 200 tags, `Tag 001` and so on, two for each row. */
void prepare_tags(int64_t rows);

/* --- Files, with those that SQLite puts beside them. */

void remove_store(const char *path);
void remove_files(void);
/* Copies a closed file. */
void copy_store(const char *from, const char *to);
/* A second file, for the floor of a case about changes. */
extern char floor_path[72];
/* Makes the files of so many rows that other programs copy, in the layout of Quire and in one of their own. */
void prepare_files(const char *folder, int64_t rows);
/* Where files of `prepare_files` are, or NULL. */
extern const char *folder;
bool copy_prepared(const char *kind, int64_t rows, const char *to);
void make_tree(int64_t rows);

/* --- SQLite, with the settings that all contenders have. */

sqlite3 *open_database(const char *path);
sqlite3_stmt *prepare(sqlite3 *database, const char *sql);
/* The first number that a statement gives in the file at a path. */
int64_t number_in(const char *path, const char *sql);

/* --- Lists, and answers that other programs give too. */

quire_results *new_controller(opened made);
/* The same list, which a thread of the store fetches. */
quire_results *begin_controller(opened made);
/* Has a thread of the store fetch the rows of that list with a text in the title, all for "". Returns the request's number. */
int64_t begin_search(quire_results *results, const char *text);
uint32_t checksum(uint32_t sum, int64_t number);

typedef struct told { int64_t ids, sections; uint32_t id_sum, section_sum; } told;

told told_of(quire_results *results);
told told_by_query(sqlite3 *database);
void answer_list(told told);

/* --- The cases. */

void insert_bulk_case(int64_t rows);
void insert_objects_case(int64_t rows);
void objects_case(int64_t rows);
void ids_case(int64_t rows);
void window_case(int64_t rows);
void filter_case(int64_t rows);
void open_case(int64_t rows);
void first_fetch_case(int64_t rows);
void live_one_case(int64_t rows);
void live_insert_case(int64_t rows);
void live_delete_case(int64_t rows);
void live_update_case(int64_t rows);
void live_thousand_case(int64_t rows);
void contains_case(int64_t rows);
void text_index_case(int64_t rows);
void equal_case(int64_t rows);
void any_case(int64_t rows);
void cascade_case(int64_t rows);
void cascade_batch_case(int64_t rows);
void memory_list_case(int64_t rows);
void memory_objects_case(int64_t rows);
void several_case(int64_t rows);
void wait_save_case(int64_t rows);
void wait_fetch_case(int64_t rows);
void wait_edit_case(int64_t rows);
void wait_query_case(int64_t rows);
void read_threads_case(int64_t rows);
void foreign_writer_case(int64_t rows);
void journal_case(int64_t rows);
void migrate_case(int64_t rows);

#endif
