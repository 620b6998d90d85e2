/* Threads that read windows, with a context or a connection each. */
#include "bench.h"

#include <pthread.h>

enum { MOST_THREADS = 4, ROUNDS = 5, READS = 4000, READS_IN_A_LARGE_LIST = 1000 };

static const char *const columns[] = {"author", "title", "created", "price"};

typedef struct reader {
    pthread_t thread;
    pthread_barrier_t *start;
    int64_t rows, reads, letters;
    int number;
    opened made;
    quire_results *list;
    sqlite3 *database;
    int64_t *ids;
} reader;

static int64_t place_of(const reader *reader, int64_t turn) {
    return (turn * 104729 + reader->number * 7919) % (reader->rows - WINDOW);
}

static void *read_by_quire(void *argument) {
    reader *reader = argument;
    quire_error *mine = NULL;
    reader->letters = 0;
    pthread_barrier_wait(reader->start);
    for (int64_t turn = 0; turn < reader->reads; turn++) {
        quire_page *page = NULL;
        CHECK(quire_results_page(reader->list, place_of(reader, turn), WINDOW, columns, 4, 0, &page, &mine) == QUIRE_OK);
        for (int i = 0; i < 2; i++) reader->letters += quire_page_column(page, i)->offsets[WINDOW];
        quire_page_release(page);
    }
    return NULL;
}

static void *read_by_sqlite(void *argument) {
    reader *reader = argument;
    sqlite3_stmt *row = prepare(reader->database, "SELECT ZAUTHOR, ZTITLE, ZCREATED, ZPRICE FROM ZQUOTE WHERE Z_PK = ?");
    reader->letters = 0;
    pthread_barrier_wait(reader->start);
    for (int64_t turn = 0; turn < reader->reads; turn++) {
        const int64_t place = place_of(reader, turn);
        for (int i = 0; i < WINDOW; i++) {
            sqlite3_bind_int64(row, 1, reader->ids[place + i]);
            CHECK(sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0) && sqlite3_column_text(row, 1));
            reader->letters += sqlite3_column_bytes(row, 0) + sqlite3_column_bytes(row, 1);
            sqlite3_reset(row);
        }
    }
    sqlite3_finalize(row);
    return NULL;
}

/* Seconds for each window of all. */
static double read_windows(reader *readers, int count, void *(*work)(void *)) {
    pthread_barrier_t start;
    int64_t windows = 0;
    CHECK(pthread_barrier_init(&start, NULL, (unsigned)count + 1) == 0);
    for (int i = 0; i < count; i++) {
        readers[i].start = &start;
        windows += readers[i].reads;
        CHECK(pthread_create(&readers[i].thread, NULL, work, &readers[i]) == 0);
    }
    pthread_barrier_wait(&start);
    const double begun = now();
    for (int i = 0; i < count; i++) pthread_join(readers[i].thread, NULL);
    const double taken = now() - begun;
    pthread_barrier_destroy(&start);
    return taken / (double)windows;
}

void read_threads_case(int64_t rows) {
    CHECK(rows > WINDOW);
    static const int counts[] = {1, 2, 4};
    static const char *const names[] = {"read.threads", "read.threads.2", "read.threads.4"};
    prepare_file(rows);
    reader readers[MOST_THREADS];
    opened made = open_store(path);
    for (int i = 0; i < MOST_THREADS; i++) {
        reader *reader = &readers[i];
        *reader = (struct reader){.rows = rows, .number = i, .reads = rows > 100000 ? READS_IN_A_LARGE_LIST : READS, .made = made};
        OK(quire_context_create(made.store, &reader->made.context, &error));
        reader->list = new_controller(reader->made);
        reader->database = open_database(path);
        CHECK(reader->ids = malloc(sizeof *reader->ids * (size_t)rows));
        OK(quire_results_ids(reader->list, 0, rows, reader->ids, &error));
    }
    for (int i = 0; i < 3; i++) {
        double samples[2][ROUNDS];
        for (int round = -1; round < ROUNDS; round++) {
            const double by_sqlite = read_windows(readers, counts[i], read_by_sqlite);
            const int64_t letters = readers[counts[i] - 1].letters;
            const double by_quire = read_windows(readers, counts[i], read_by_quire);
            CHECK(readers[counts[i] - 1].letters == letters);
            if (round < 0) continue;
            samples[0][round] = by_sqlite;
            samples[1][round] = by_quire;
        }
        answer("%lld letters", (long long)readers[0].letters);
        report(names[i], "sqlite-c", rows, samples[0], ROUNDS, true);
        report(names[i], "quire-c", rows, samples[1], ROUNDS, false);
    }
    for (int i = 0; i < MOST_THREADS; i++) {
        free(readers[i].ids);
        SQL_OK(sqlite3_close(readers[i].database));
        quire_results_release(readers[i].list);
        quire_context_release(readers[i].made.context);
    }
    close_store(made);
}
