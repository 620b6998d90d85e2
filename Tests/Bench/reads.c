/* What a list shows: its ids, windows of it, the first rows that fulfil a condition; and opening a file. */
#include "bench.h"

#include <math.h>

static const char *const columns[] = {"author", "title", "created", "price"};

static quire_fetch_request *new_request(void) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "author", QUIRE_NUL, false, &error));
    return request;
}

/* --- Ids. */

static int64_t fetch_ids(opened made, uint32_t *sum) {
    quire_fetch_request *request = new_request();
    quire_list *list = NULL;
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    OK(quire_context_fetch(made.context, request, &list, &error));
    const int64_t count = quire_list_count(list);
    int64_t *ids = malloc(sizeof *ids * (size_t)(count + 1));
    CHECK(ids);
    OK(quire_list_ids(list, 0, count, ids, &error));
    for (int64_t i = 0; i < count; i++) *sum = checksum(*sum, ids[i]);
    free(ids);
    quire_list_release(list);
    quire_fetch_request_release(request);
    return count;
}

static int64_t step_ids(sqlite3 *database, uint32_t *sum) {
    sqlite3_stmt *statement = prepare(database, "SELECT Z_PK FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK");
    int64_t count = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; count++) *sum = checksum(*sum, sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    return count;
}

void ids_case(int64_t rows) {
    prepare_file(rows);
    double samples[2][21];
    const int rounds = rounds_for(rows, 21);
    sqlite3 *database = open_database(path);
    opened made = open_store(path);
    for (int round = -1; round < rounds; round++) {
        uint32_t sums[2] = {0, 0};
        double start = now();
        CHECK(step_ids(database, &sums[0]) == rows);
        if (round >= 0) samples[0][round] = now() - start;
        const char *const work = round >= 0 ? "ids" : NULL;
        start = begin_work(work);
        CHECK(fetch_ids(made, &sums[1]) == rows);
        const double taken = end_work(work, start);
        if (round >= 0) samples[1][round] = taken;
        CHECK(sums[0] == sums[1]);
        answer("%lld ids %u", (long long)rows, sums[1]);
    }
    close_store(made);
    SQL_OK(sqlite3_close(database));
    report("ids", "sqlite-c", rows, samples[0], rounds, true);
    report("ids", "quire-c", rows, samples[1], rounds, false);
}

/* --- Windows. */

typedef struct seen { int64_t letters, cents, count; } seen;

static seen see_page(quire_results *results, int64_t place) {
    quire_page *page = NULL;
    OK(quire_results_page(results, place, WINDOW, columns, 4, 0, &page, &error));
    seen seen = {0, 0, quire_page_row_count(page)};
    for (int c = 0; c < 2; c++) seen.letters += quire_page_column(page, c)->offsets[seen.count];
    const double *prices = quire_page_column(page, 3)->values;
    for (int64_t i = 0; i < seen.count; i++) seen.cents += llround(prices[i] * 100);
    quire_page_release(page);
    return seen;
}

static void see_row(sqlite3_stmt *statement, seen *seen) {
    CHECK(sqlite3_column_text(statement, 0) && sqlite3_column_text(statement, 1));
    seen->letters += sqlite3_column_bytes(statement, 0) + sqlite3_column_bytes(statement, 1);
    seen->cents += llround(sqlite3_column_double(statement, 3) * 100);
    seen->count += sqlite3_column_double(statement, 2) > -1e12;
}

static seen see_offset(sqlite3_stmt *statement, int64_t place) {
    seen seen = {0, 0, 0};
    sqlite3_bind_int64(statement, 1, place);
    while (sqlite3_step(statement) == SQLITE_ROW) see_row(statement, &seen);
    sqlite3_reset(statement);
    return seen;
}

static seen see_keys(sqlite3_stmt *statement, const int64_t *ids) {
    seen seen = {0, 0, 0};
    for (int i = 0; i < WINDOW; i++) {
        sqlite3_bind_int64(statement, 1, ids[i]);
        CHECK(sqlite3_step(statement) == SQLITE_ROW);
        see_row(statement, &seen);
        sqlite3_reset(statement);
    }
    return seen;
}

static bool is_same(seen a, seen b) {
    return a.letters == b.letters && a.cents == b.cents && a.count == b.count;
}

/* `window` is beside OFFSET, `window.ids` beside a program that has all ids, `window.again` where the rows are in memory. */
void window_case(int64_t rows) {
    CHECK(rows > WINDOW);
    enum { READS = 201 };
    static double samples[4][READS];
    prepare_file(rows);
    sqlite3 *database = open_database(path);
    opened made = open_store(path);
    quire_results *results = new_controller(made);
    int64_t *ids = malloc(sizeof *ids * (size_t)rows);
    CHECK(ids);
    OK(quire_results_ids(results, 0, rows, ids, &error));
    sqlite3_stmt *by_offset = prepare(database,
        "SELECT ZAUTHOR, ZTITLE, ZCREATED, ZPRICE FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK LIMIT 50 OFFSET ?");
    sqlite3_stmt *by_key = prepare(database, "SELECT ZAUTHOR, ZTITLE, ZCREATED, ZPRICE FROM ZQUOTE WHERE Z_PK = ?");
    char told[300] = "";
    int offsets = 0;
    const int most_offsets = rounds_for(rows, READS);
    for (int turn = 0; turn < CHECKED + READS; turn++) {
        const int64_t place = turn * 104729LL % (rows - WINDOW > 1 ? rows - WINDOW : 1);
        const bool is_timed = turn >= CHECKED, has_offset = !is_timed || offsets < most_offsets;
        const char *const work = is_timed ? "window" : NULL;
        double start = begin_work(work);
        const seen by_quire = see_page(results, place);
        const double taken = end_work(work, start);
        if (is_timed) samples[1][turn - CHECKED] = taken;
        start = now();
        const seen seen_by_key = see_keys(by_key, ids + place);
        if (is_timed) samples[2][turn - CHECKED] = now() - start;
        CHECK(is_same(by_quire, seen_by_key));
        if (!has_offset) continue;
        start = now();
        CHECK(is_same(by_quire, see_offset(by_offset, place)));
        if (is_timed) samples[0][offsets++] = now() - start;
        else snprintf(told + strlen(told), sizeof told - strlen(told), "%s%lld rows, %lld letters, %lld cents", turn ? "; " : "",
            (long long)by_quire.count, (long long)by_quire.letters, (long long)by_quire.cents);
    }
    quire_object *shown[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        quire_value value;
        OK(quire_context_object(made.context, "Quote", 5, ids[i], &shown[i], &error));
        OK(quire_object_get(shown[i], "title", 5, &value, &error));
    }
    for (int turn = -1; turn < READS; turn++) {
        const char *const work = turn >= 0 ? "window.again" : NULL;
        const double start = begin_work(work);
        see_page(results, 0);
        const double taken = end_work(work, start);
        if (turn >= 0) samples[3][turn] = taken;
    }
    for (int i = 0; i < WINDOW; i++) quire_object_release(shown[i]);
    free(ids);
    sqlite3_finalize(by_offset);
    sqlite3_finalize(by_key);
    quire_results_release(results);
    close_store(made);
    SQL_OK(sqlite3_close(database));
    answer("%s", told);
    report("window", "sqlite-c", rows, samples[0], offsets, true);
    report("window", "quire-c", rows, samples[1], READS, false);
    report("window.ids", "sqlite-c", rows, samples[2], READS, true);
    report("window.ids", "quire-c", rows, samples[1], READS, false);
    report("window.again", "quire-c", rows, samples[3], READS, true);
}

/* --- The first rows by another order that fulfil a condition. */

static int64_t fetch_filtered(opened made, uint32_t *sum) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    quire_list *list = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse("title CONTAINS '77' AND price < 500", QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_fetch_request_add_sort(request, "price", QUIRE_NUL, true, &error));
    OK(quire_fetch_request_set_limit(request, WINDOW, &error));
    OK(quire_context_fetch(made.context, request, &list, &error));
    const int64_t count = quire_list_count(list);
    for (int64_t i = 0; i < count; i++) {
        quire_object *object = NULL;
        quire_value value;
        OK(quire_list_object(list, i, &object, &error));
        OK(quire_object_get(object, "title", 5, &value, &error));
        *sum = checksum(*sum, quire_object_id(object));
        quire_object_release(object);
    }
    quire_list_release(list);
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return count;
}

static int64_t step_filtered(sqlite3 *database, uint32_t *sum) {
    sqlite3_stmt *statement = prepare(database, "SELECT Z_PK, ZAUTHOR, ZTITLE, ZCREATED, ZPRICE FROM ZQUOTE "
        "WHERE instr(ZTITLE, '77') AND ZPRICE < 500 ORDER BY ZPRICE DESC, Z_PK LIMIT 50");
    int64_t count = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
        CHECK(sqlite3_column_text(statement, 2));
        *sum = checksum(*sum, sqlite3_column_int64(statement, 0));
    }
    sqlite3_finalize(statement);
    return count;
}

void filter_case(int64_t rows) {
    prepare_file(rows);
    double samples[2][21];
    const int rounds = rounds_for(rows, 21);
    sqlite3 *database = open_database(path);
    opened made = open_store(path);
    for (int round = -1; round < rounds; round++) {
        uint32_t sums[2] = {0, 0};
        double start = now();
        const int64_t count = step_filtered(database, &sums[0]);
        if (round >= 0) samples[0][round] = now() - start;
        const char *const work = round >= 0 ? "filter" : NULL;
        start = begin_work(work);
        CHECK(fetch_filtered(made, &sums[1]) == count);
        const double taken = end_work(work, start);
        if (round >= 0) samples[1][round] = taken;
        CHECK(sums[0] == sums[1]);
        answer("%lld ids %u", (long long)count, sums[1]);
    }
    close_store(made);
    SQL_OK(sqlite3_close(database));
    report("filter", "sqlite-c", rows, samples[0], rounds, true);
    report("filter", "quire-c", rows, samples[1], rounds, false);
}

/* --- Opening, and reading one text. */

static double open_by_quire(const char *work, char *title, size_t size) {
    const double start = begin_work(work);
    opened made = open_store(path);
    quire_object *object = NULL;
    quire_value value;
    OK(quire_context_object(made.context, "Quote", 5, 1, &object, &error));
    OK(quire_object_get(object, "title", 5, &value, &error));
    const double taken = end_work(work, start);
    snprintf(title, size, "%s", value.as.text);
    quire_object_release(object);
    close_store(made);
    return taken;
}

static double open_by_sqlite(char *title, size_t size) {
    const double start = now();
    sqlite3 *database = open_database(path);
    sqlite3_stmt *statement = prepare(database, "SELECT ZTITLE FROM ZQUOTE WHERE Z_PK = 1");
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    snprintf(title, size, "%s", (const char *)sqlite3_column_text(statement, 0));
    const double taken = now() - start;
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_close(database));
    return taken;
}

void open_case(int64_t rows) {
    prepare_file(rows);
    double samples[2][51];
    char titles[2][100];
    for (int round = -1; round < 51; round++) {
        const double by_sqlite = open_by_sqlite(titles[0], sizeof titles[0]);
        const double by_quire = open_by_quire(round >= 0 ? "open" : NULL, titles[1], sizeof titles[1]);
        if (round >= 0) samples[0][round] = by_sqlite, samples[1][round] = by_quire;
    }
    CHECK(strcmp(titles[0], titles[1]) == 0);
    answer("%s", titles[1]);
    report("open", "sqlite-c", rows, samples[0], 51, true);
    report("open", "quire-c", rows, samples[1], 51, false);
}
