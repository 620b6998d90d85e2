#include "figures.h"

#include "../../../Sources/CQuireFormat/include/memory_files.h"
#include "dice.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROWS = 100000, SAVES = 20000, WINDOWS = 4000, WINDOW = 50, ROUNDS = 5, LOG = 250 };

/* How a database is kept. Those on the VFS have a reader with a held transaction, and fold their log at 1 MB. */
typedef struct way {
    const char *name;
    bool is_plain;
    int cache, mapped;
} way;

static const way ways[] = {
    {"':memory:'", true, 0, 0},
    {"VFS, cache of 10 pages, mapped", false, 10, 1},
    {"VFS, cache of 100 pages, mapped", false, 100, 1},
    {"VFS, cache of 2000 pages, mapped", false, 2000, 1},
    {"VFS, cache of 10 pages", false, 10, 0},
    {"VFS, cache of 100 pages", false, 100, 0},
    {"VFS, cache of 2000 pages", false, 2000, 0},
};

typedef struct figures {
    /* Of all rows in ms; of a save, a window, and a window after the save of another connection, in us. */
    double insert, save, window, moved;
    /* MB that SQLite has, of which the files take some. */
    double memory, files;
} figures;

/* Time of the processor, since nothing here waits: other programs of the machine do not count. */
static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void fail(sqlite3 *database, const char *what) {
    fprintf(stderr, "memory_files: %s: %s\n", what, sqlite3_errmsg(database));
    exit(2);
}

static void run(sqlite3 *database, const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fail(database, sql);
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) fail(database, sql);
    return statement;
}

static void step(sqlite3_stmt *statement) {
    while (sqlite3_step(statement) == SQLITE_ROW) continue;
    if (sqlite3_reset(statement) != SQLITE_OK) fail(sqlite3_db_handle(statement), sqlite3_sql(statement));
}

static sqlite3 *open_way(const way *way, const char *name) {
    sqlite3 *database = NULL;
    char sql[300];
    const int code = sqlite3_open_v2(way->is_plain ? ":memory:" : name, &database,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, way->is_plain ? NULL : quire_memory_files_vfs());
    if (code != SQLITE_OK) fail(database, "open");
    run(database, "PRAGMA temp_store = MEMORY; PRAGMA page_size = 4096");
    snprintf(sql, sizeof sql,
        "PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = %d;"
        "PRAGMA cache_size = %d; PRAGMA mmap_size = %lld", LOG, way->cache, way->mapped ? 1LL << 40 : 0);
    run(database, way->is_plain ? "PRAGMA auto_vacuum = 2" : sql);
    return database;
}

/* The ids in an order that is not that of the table. */
static int64_t any_row(void) { return 1 + random_below(ROWS); }

static void bind_row(sqlite3_stmt *statement, int64_t id) {
    static const char text[] = "a text that is as long as that of a message in a list, of eighty letters or so, maybe";
    sqlite3_bind_int64(statement, 1, id);
    sqlite3_bind_int64(statement, 2, id * 7919 % 100003);
    sqlite3_bind_text(statement, 3, text, sizeof text - 1 - (int)(id % 40), SQLITE_STATIC);
    sqlite3_bind_double(statement, 4, (double)id / 3);
}

static void insert_rows(sqlite3 *writer) {
    sqlite3_stmt *insert = prepare(writer, "INSERT INTO t(id, k, title, price) VALUES(?, ?, ?, ?)");
    run(writer, "BEGIN IMMEDIATE");
    for (int64_t id = 1; id <= ROWS; id++) {
        bind_row(insert, id);
        step(insert);
    }
    run(writer, "COMMIT");
    sqlite3_finalize(insert);
}

static void save(sqlite3 *writer, sqlite3_stmt *update) {
    run(writer, "BEGIN IMMEDIATE");
    sqlite3_bind_int64(update, 1, random_below(1000000));
    sqlite3_bind_int64(update, 2, any_row());
    step(update);
    run(writer, "COMMIT");
}

/* 50 rows by key, as a list reads its window. */
static void read_window(sqlite3_stmt *select) {
    for (int i = 0; i < WINDOW; i++) {
        sqlite3_bind_int64(select, 1, any_row());
        step(select);
    }
}

static void take_moment(const way *way, sqlite3 *reader) {
    if (!way->is_plain) run(reader, "COMMIT; BEGIN; PRAGMA schema_version");
}

/* The reader takes its moment again, so that the log begins anew. */
static void fold(const way *way, sqlite3 *writer, sqlite3 *reader) {
    if (way->is_plain) return;
    run(reader, "COMMIT");
    run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    run(reader, "BEGIN; PRAGMA schema_version");
}

static figures measure(const way *way) {
    static int number;
    figures figures = {0};
    char name[40];
    snprintf(name, sizeof name, "figures-%d", ++number);
    const sqlite3_int64 before = sqlite3_memory_used();
    if (quire_memory_files_hold(name) != SQLITE_OK) exit(2);
    sqlite3 *writer = open_way(way, name);
    run(writer, "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, title TEXT, price REAL); CREATE INDEX t_k ON t(k)");
    sqlite3 *reader = way->is_plain ? writer : open_way(way, name);
    seed_dice(1);
    double start = now();
    insert_rows(writer);
    if (!way->is_plain) run(writer, "PRAGMA wal_checkpoint(TRUNCATE)");
    figures.insert = (now() - start) / 1000;

    sqlite3_stmt *update = prepare(writer, "UPDATE t SET price = ? WHERE id = ?");
    start = now();
    for (int i = 0; i < SAVES; i++) save(writer, update);
    figures.save = (now() - start) / SAVES;

    sqlite3_stmt *select = prepare(reader, "SELECT id, k, title, price FROM t WHERE id = ?");
    if (!way->is_plain) run(reader, "BEGIN; PRAGMA schema_version");
    start = now();
    for (int i = 0; i < WINDOWS; i++) read_window(select);
    figures.window = (now() - start) / WINDOWS;
    for (int i = 0; i < WINDOWS; i++) {
        save(writer, update);
        start = now();
        take_moment(way, reader);
        if (i % LOG == 0) fold(way, writer, reader);
        read_window(select);
        figures.moved += (now() - start) / WINDOWS;
    }
    figures.memory = (double)(sqlite3_memory_used() - before) / 1e6;
    figures.files = (double)quire_memory_files_size(name) / 1e6;
    sqlite3_finalize(update);
    sqlite3_finalize(select);
    if (!way->is_plain) sqlite3_close(reader);
    sqlite3_close(writer);
    quire_memory_files_release(name);
    return figures;
}

static double least(double one, double other) { return one == 0 || other < one ? other : one; }

int print_figures(void) {
    figures best[COUNT_OF(ways)] = {{0}};
    if (quire_memory_files_register() != SQLITE_OK) return 2;
    /* All ways in turn, so that what else the machine does strikes each of them. */
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT_OF(ways); i++) {
            const figures found = measure(&ways[i]);
            best[i] = (figures){least(best[i].insert, found.insert), least(best[i].save, found.save),
                least(best[i].window, found.window), least(best[i].moved, found.moved), found.memory, found.files};
        }
    printf("| | %d rows | a save | %d rows by key | after a save | memory | of it files |\n|---|---:|---:|---:|---:|---:|---:|\n", ROWS,
        WINDOW);
    for (int i = 0; i < COUNT_OF(ways); i++)
        printf("| %s | %.0f ms (%.2f) | %.1f us (%.2f) | %.1f us (%.2f) | %.1f us (%.2f) | %.1f MB | %.1f MB |\n", ways[i].name,
            best[i].insert, best[i].insert / best[0].insert, best[i].save, best[i].save / best[0].save, best[i].window,
            best[i].window / best[0].window, best[i].moved, best[i].moved / best[0].moved, best[i].memory, best[i].files);
    return 0;
}
