/* What a change journal costs: saves of one row and of 1,000, a batch insert, and a commit of plain SQL. */
#include "bench.h"

enum { JOURNALS = 3, SAVES = 200, LARGE_SAVES = 5, CHANGED = 1000 };

static const uint32_t journals[JOURNALS] = {QUIRE_CHANGE_JOURNAL_NONE, QUIRE_CHANGE_JOURNAL_SAVES, QUIRE_CHANGE_JOURNAL_ALL};
static const char *const contenders[JOURNALS] = {"quire-c-none", "quire-c", "quire-c-all"};
static const char *const programs[JOURNALS] = {"sqlite-c", "sqlite-c-saves", "sqlite-c-all"};

/* Stores of the same rows, which keep a journal each; saves take turns, so that what slows one slows all. */
typedef struct contender {
    char path[80];
    opened made;
    quire_object *quotes[CHANGED];
} contender;

static contender stores[JOURNALS];

static void open_contender(contender *one, uint32_t journal, bool relaxed) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = relaxed;
    options.change_journal = journal;
    one->made = (opened){new_model(), NULL, NULL};
    OK(quire_store_open(one->path, QUIRE_NUL, one->made.model, &options, &one->made.store, &error));
    OK(quire_context_create(one->made.store, &one->made.context, &error));
    quire_fetch_request *request = NULL;
    quire_list *list = NULL;
    OK(quire_fetch_request_create("Quote", 5, &request, &error));
    OK(quire_fetch_request_set_limit(request, CHANGED, &error));
    OK(quire_context_fetch(one->made.context, request, &list, &error));
    for (int i = 0; i < CHANGED; i++) OK(quire_list_object(list, i, &one->quotes[i], &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
}

static void close_contender(contender *one) {
    for (int i = 0; i < CHANGED; i++) quire_object_release(one->quotes[i]);
    close_store(one->made);
}

/* Seconds for a save of the first `count` objects. */
static double save_some(contender *one, int count, double price) {
    for (int i = 0; i < count; i++) {
        const quire_value value = quire_value_double(price);
        OK(quire_object_set(one->quotes[i], "price", 5, &value, &error));
    }
    const double start = begin_work(NULL);
    OK(quire_context_save(one->made.context, &error));
    return end_work(NULL, start);
}

static void report_saves(const char *name, int64_t rows, int saves, int changed) {
    static double samples[JOURNALS][SAVES];
    for (int turn = 0; turn < saves; turn++)
        for (int i = 0; i < JOURNALS; i++) samples[i][turn] = save_some(&stores[i], changed, turn + 0.5);
    for (int i = 0; i < JOURNALS; i++) report(name, contenders[i], rows, samples[i], saves, i == 0);
}

static void report_inserts(int64_t rows) {
    double samples[JOURNALS][LARGE_SAVES];
    quire_value *prices = malloc(sizeof *prices * (size_t)rows);
    CHECK(prices);
    for (int64_t i = 0; i < rows; i++) prices[i] = quire_value_double((double)i);
    static const char *const keys[] = {"price"};
    const quire_value *const columns[] = {prices};
    for (int turn = 0; turn < LARGE_SAVES; turn++)
        for (int i = 0; i < JOURNALS; i++) {
            const double start = begin_work(NULL);
            OK(quire_context_batch_insert(
                stores[i].made.context, "Quote", 5, keys, columns, 1, (size_t)rows, NULL, NULL, NULL, &error));
            samples[i][turn] = end_work(NULL, start);
        }
    free(prices);
    for (int i = 0; i < JOURNALS; i++) report("journal.insert", contenders[i], rows, samples[i], LARGE_SAVES, i == 0);
}

static void report_sql(int64_t rows) {
    static double samples[JOURNALS][SAVES];
    for (int i = 0; i < JOURNALS; i++) {
        sqlite3 *database = open_database(stores[i].path);
        sqlite3_stmt *update = prepare(database, "UPDATE ZQUOTE SET ZPRICE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = 1");
        for (int turn = 0; turn < SAVES; turn++) {
            const double start = now();
            sqlite3_bind_double(update, 1, turn);
            CHECK(sqlite3_step(update) == SQLITE_DONE);
            sqlite3_reset(update);
            samples[i][turn] = now() - start;
        }
        sqlite3_finalize(update);
        SQL_OK(sqlite3_close(database));
    }
    for (int i = 0; i < JOURNALS; i++) report("journal.sql", programs[i], rows, samples[i], SAVES, i == 0);
}

void journal_case(int64_t rows) {
    prepare_file(rows);
    for (int i = 0; i < JOURNALS; i++) {
        snprintf(stores[i].path, sizeof stores[i].path, "%s-%u", path, (unsigned)journals[i]);
        remove_store(stores[i].path);
        copy_store(path, stores[i].path);
    }
    for (int relaxed = 0; relaxed <= 1; relaxed++) {
        for (int i = 0; i < JOURNALS; i++) open_contender(&stores[i], journals[i], relaxed);
        report_saves(relaxed ? "journal.relaxed" : "journal", rows, SAVES, 1);
        if (relaxed) report_saves("journal.thousand", rows, LARGE_SAVES, CHANGED);
        if (relaxed) report_inserts(rows);
        for (int i = 0; i < JOURNALS; i++) close_contender(&stores[i]);
    }
    report_sql(rows);
    for (int i = 0; i < JOURNALS; i++) remove_store(stores[i].path);
}
