/* Connections of several threads on one database in memory. Readers find sums that hold in each commit, and the same rows
 * twice within a transaction. Transactions have numbers; repeated in their order in a file they give the same rows. */
#include "kinds.h"
#include "statements.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, MOST_STEPS = 200, REPEATS = 6 };

typedef enum deed { WRITE, READ, TEND, SCAN, REOPEN, SET } deed;

typedef struct committed {
    int64_t number;
    uint32_t seed;
} committed;

typedef struct worker {
    int who, count;
    const step *steps;
    committed committed[MOST_STEPS * REPEATS];
    int committed_count;
} worker;

static deed choose(void) {
    const int number = random_below(100);
    return number < 35 ? WRITE : number < 70 ? READ : number < 82 ? TEND : number < 90 ? SCAN : number < 95 ? REOPEN : SET;
}

static const char counter_schema[] =
    "CREATE TABLE counter(id INTEGER PRIMARY KEY, n INTEGER, total INTEGER, size INTEGER); INSERT INTO counter VALUES(1, 0, 0, 0)";

/* Others may have what a statement needs; it is not done then. */
static bool is_busy(int code) { return (code & 0xFF) == SQLITE_BUSY || (code & 0xFF) == SQLITE_LOCKED; }

static bool do_or_be_busy(place place, sqlite3 *database, const char *sql) {
    const outcome outcome = run_in(place, database, sql, NULL);
    if (outcome.code == SQLITE_OK) return true;
    if (!is_busy(outcome.code)) differ("%s '%s' gives %d, %s", place_name(place), sql, outcome.code, sqlite3_errmsg(database));
    return false;
}

static int64_t number_of(place place, sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    enter_memory(place == IN_MEMORY);
    const int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (code != SQLITE_OK || sqlite3_step(statement) != SQLITE_ROW)
        differ("%s '%s' gives %s", place_name(place), sql, sqlite3_errmsg(database));
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    enter_memory(false);
    return number;
}

static const char update_counter[] =
    "UPDATE counter SET n = n + 1, total = (SELECT total(k) FROM t), size = (SELECT total(length(v)) FROM t)";

/* The number of the transaction; 0 when others are writing. What it does depends on the database and the seed alone. */
static int64_t write_once(place place, sqlite3 *database, uint32_t seed) {
    int64_t number;
    if (!do_or_be_busy(place, database, "BEGIN IMMEDIATE")) return 0;
    seed_dice(seed);
    for (int i = random_below(3); i >= 0; i--) {
        const statement statement = writing_statement();
        const outcome outcome = run_in(place, database, statement.sql, statement.arguments);
        if (outcome.code != SQLITE_OK && (outcome.code & 0xFF) != SQLITE_CONSTRAINT)
            differ("%s '%s' gives %d, %s", place_name(place), statement.sql, outcome.code, sqlite3_errmsg(database));
    }
    run_in(place, database, update_counter, NULL);
    number = number_of(place, database, "SELECT n FROM counter");
    if (chance(15) || !do_or_be_busy(place, database, "COMMIT")) {
        run_in(place, database, "ROLLBACK", NULL);
        return 0;
    }
    return number;
}

static void read_twice(sqlite3 *database) {
    static const char all[] = "SELECT n, total, size FROM counter; SELECT id, k, v FROM t ORDER BY id";
    if (!do_or_be_busy(IN_MEMORY, database, "BEGIN")) return;
    const outcome first = run_in(IN_MEMORY, database, all, NULL);
    if (is_busy(first.code)) return (void)run_in(IN_MEMORY, database, "ROLLBACK", NULL);
    if (!number_of(IN_MEMORY, database,
            "SELECT (SELECT total(k) FROM t) = total AND (SELECT total(length(v)) FROM t) = size FROM counter"))
        differ("the sums of a commit do not hold");
    const outcome second = run_in(IN_MEMORY, database, all, NULL);
    if (!is_same(first, second)) differ("a transaction reads %d rows and then %d", first.rows, second.rows);
    run_in(IN_MEMORY, database, "COMMIT", NULL);
}

/* A statement that keeps pages fetched while others write. */
static void scan(sqlite3 *database) {
    sqlite3_stmt *statement = NULL;
    outcome outcome = {0};
    enter_memory(true);
    if (sqlite3_prepare_v2(database, "SELECT id, v FROM t ORDER BY id", -1, &statement, NULL) == SQLITE_OK) {
        do {
            outcome = step_in(IN_MEMORY, statement, outcome);
            if (random_below(500) == 0) sqlite3_sleep(1);
        } while (outcome.code == SQLITE_ROW);
        if (outcome.code != SQLITE_DONE && !is_busy(outcome.code))
            differ("a scan gives %d, %s", outcome.code, sqlite3_errmsg(database));
    }
    sqlite3_finalize(statement);
    enter_memory(false);
}

static sqlite3 *open_one(void) {
    sqlite3 *opened = open_in(IN_MEMORY, 0, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX);
    if (!opened) differ("a database in memory cannot be opened");
    sqlite3_busy_timeout(opened, chance(50) ? 0 : 20);
    char sql[200];
    snprintf(sql, sizeof sql, "PRAGMA cache_size = %d; PRAGMA wal_autocheckpoint = %d; PRAGMA mmap_size = %d",
        chance(50) ? 10 : 2000, chance(50) ? 0 : 100, chance(70) ? 1000000000 : 0);
    do_or_be_busy(IN_MEMORY, opened, sql);
    return opened;
}

static void *work(void *argument) {
    worker *worker = argument;
    seed_dice(worker->steps[0].seed + (uint32_t)worker->who);
    sqlite3 *database = open_one();
    for (int i = 0; i < worker->count * REPEATS; i++) {
        const step *step = &worker->steps[i / REPEATS];
        if (step->who != worker->who) continue;
        if (worker->who == 0 && i % REPEATS == 0) begin_step(i / REPEATS);
        seed_dice(step->seed + (uint32_t)(i % REPEATS));
        const deed deed = choose();
        if (deed == WRITE) {
            const uint32_t seed = step->seed + (uint32_t)i;
            const int64_t number = write_once(IN_MEMORY, database, seed);
            if (number) worker->committed[worker->committed_count++] = (committed){number, seed};
        } else if (deed == READ) {
            read_twice(database);
        } else if (deed == SCAN) {
            scan(database);
        } else if (deed == REOPEN) {
            close_in(IN_MEMORY, database);
            database = open_one();
        } else {
            statement statement = deed == TEND ? tending_statement() : setting_statement();
            /* Has the database grow no more. */
            if (!strstr(statement.sql, "max_page_count")) do_or_be_busy(IN_MEMORY, database, statement.sql);
        }
    }
    close_in(IN_MEMORY, database);
    return NULL;
}

static int by_number(const void *one, const void *other) {
    const committed *left = one, *right = other;
    return (left->number > right->number) - (left->number < right->number);
}

/* What the threads have committed, in its order, in a file. */
static void repeat(const worker *workers, sqlite3 *memory) {
    static committed all[THREADS * MOST_STEPS * REPEATS];
    int count = 0;
    sqlite3 *file = open_in(IN_FILES, 0, SQLITE_OPEN_READWRITE);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < workers[i].committed_count; j++) all[count++] = workers[i].committed[j];
    qsort(all, (size_t)count, sizeof *all, by_number);
    do_or_be_busy(IN_FILES, file, schema);
    do_or_be_busy(IN_FILES, file, counter_schema);
    for (int i = 0; i < count; i++) {
        if (all[i].number != i + 1) differ("of %d commits there is none with the number %d", count, i + 1);
        if (write_once(IN_FILES, file, all[i].seed) != i + 1) differ("a transaction that was committed is not repeated");
    }
    if (number_of(IN_MEMORY, memory, "SELECT n FROM counter") != count) differ("other transactions than %d are there", count);
    if (!is_same(contents_in(IN_MEMORY, memory), contents_in(IN_FILES, file))) differ("the rows of %d commits are others", count);
    close_in(IN_FILES, file);
}

static void run(const step *steps, int count) {
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    begin_places();
    for (int place = 0; place < PLACES; place++) begin_place(place);
    seed_dice(steps[0].seed);
    sqlite3 *database = open_one();
    do_or_be_busy(IN_MEMORY, database, chance(50) ? "PRAGMA auto_vacuum = 2" : "PRAGMA auto_vacuum = 0");
    do_or_be_busy(IN_MEMORY, database, chance(75) ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
    do_or_be_busy(IN_MEMORY, database, schema);
    do_or_be_busy(IN_MEMORY, database, counter_schema);
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.who = i, .count = count < MOST_STEPS ? count : MOST_STEPS, .steps = steps};
        if (pthread_create(&threads[i], NULL, work, &workers[i])) differ("a thread cannot be made");
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    sqlite3_busy_timeout(database, 1000);
    check_integrity(IN_MEMORY, database);
    repeat(workers, database);
    close_in(IN_MEMORY, database);
    for (int place = 0; place < PLACES; place++) end_place(place);
    end_places();
}

static void show(const step *step) {
    static const char *const deeds[] = {"write", "read", "tend", "scan", "open again", "set"};
    printf(", thread %d:", step->who);
    for (int i = 0; i < REPEATS; i++) {
        seed_dice(step->seed + (uint32_t)i);
        printf(" %s", deeds[choose()]);
    }
    printf("\n");
}

const kind crowded = {"crowded", 10, THREADS, run, show};
