/* Inserting, reading, and a controller's first fetch. */
#include "bench.h"

static quire_fetch_request *new_request(void) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "author", QUIRE_NUL, false, &error));
    return request;
}

static size_t read_objects(opened made, int64_t rows) {
    quire_fetch_request *request = new_request();
    quire_list *list = NULL;
    OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK(quire_list_count(list) == rows);
    size_t bytes = 0;
    for (int64_t i = 0; i < rows; i++) {
        quire_object *object = NULL;
        quire_value value;
        OK(quire_list_object(list, i, &object, &error));
        OK(quire_object_get(object, "title", 5, &value, &error));
        bytes += value.size;
        quire_object_release(object);
    }
    quire_list_release(list);
    quire_fetch_request_release(request);
    return bytes;
}

static size_t read_page(opened made, int64_t rows) {
    static const char *const title[] = {"title"};
    quire_fetch_request *request = new_request();
    quire_list *list = NULL;
    quire_page *page = NULL;
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    OK(quire_context_fetch(made.context, request, &list, &error));
    OK(quire_list_page(list, 0, rows, title, 1, 0, &page, &error));
    const size_t bytes = (size_t)quire_page_column(page, 0)->offsets[rows];
    quire_page_release(page);
    quire_list_release(list);
    quire_fetch_request_release(request);
    return bytes;
}

static quire_results *make_controller(opened made, const char *cache_name) {
    quire_fetch_request *request = new_request();
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "author";
    options.cache_name = cache_name;
    quire_results *results = NULL;
    OK(quire_results_create(made.context, request, &options, &results, &error));
    quire_fetch_request_release(request);
    return results;
}

static quire_results *new_cached_controller(opened made, const char *cache_name) {
    quire_results *results = make_controller(made, cache_name);
    OK(quire_results_fetch(results, &error));
    return results;
}

quire_results *begin_controller(opened made) {
    quire_results *results = make_controller(made, NULL);
    OK(quire_results_fetch_async(results, &error));
    return results;
}

int64_t begin_search(quire_results *results, const char *text) {
    quire_fetch_request *request = new_request();
    quire_predicate *predicate = NULL;
    const quire_value value = quire_value_text(text);
    int64_t number = 0;
    if (*text) {
        OK(quire_predicate_parse("title CONTAINS[cd] %@", QUIRE_NUL, &value, 1, &predicate, &error));
        OK(quire_fetch_request_set_predicate(request, predicate, &error));
    }
    OK(quire_results_set_request_async(results, request, "author", QUIRE_NUL, NULL, &number, &error));
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return number;
}

quire_results *new_controller(opened made) {
    return new_cached_controller(made, NULL);
}

static void insert_prepared(const char *path, int64_t rows) {
    sqlite3 *database = open_database(path);
    SQL_OK(sqlite3_exec(database,
        "CREATE TABLE ZQUOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHOR VARCHAR, ZTITLE VARCHAR, "
        "ZCREATED TIMESTAMP, ZPRICE FLOAT); CREATE INDEX I ON ZQUOTE (ZAUTHOR); BEGIN;", NULL, NULL, NULL));
    sqlite3_stmt *statement = prepare(database, "INSERT INTO ZQUOTE VALUES (?, 1, 1, ?, ?, ?, ?)");
    sample sample;
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &sample);
        sqlite3_bind_int64(statement, 1, i + 1);
        sqlite3_bind_text(statement, 2, sample.author, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, sample.title, -1, SQLITE_STATIC);
        sqlite3_bind_double(statement, 4, sample.created - 978307200);
        sqlite3_bind_double(statement, 5, sample.price);
        CHECK(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
        if ((i + 1) % SAVED_AT_ONCE == 0) SQL_OK(sqlite3_exec(database, "COMMIT; BEGIN", NULL, NULL, NULL));
    }
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
}

static size_t step_titles(sqlite3 *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT Z_PK, ZTITLE FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK");
    size_t bytes = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        CHECK(sqlite3_column_text(statement, 1));
        bytes += (size_t)sqlite3_column_bytes(statement, 1);
    }
    sqlite3_finalize(statement);
    return bytes;
}

static int64_t step_ids(sqlite3 *database) {
    sqlite3_stmt *statement = prepare(database, "SELECT Z_PK, ZAUTHOR FROM ZQUOTE ORDER BY ZAUTHOR, Z_PK");
    int64_t sum = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) sum += sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return sum;
}

/* The floor is the same for both: prepared statements, as many to a transaction. */
static void insert_case(const char *name, int64_t rows, void (*insert)(const char *, int64_t)) {
    void (*const work[])(const char *, int64_t) = {insert_prepared, insert};
    double samples[2][FEW];
    const int rounds = rounds_for(rows, FEW);
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < 2; i++) {
            remove_files();
            const double start = begin_work(i ? name : NULL);
            work[i](path, rows);
            samples[i][round] = end_work(i ? name : NULL, start);
            sqlite3 *database = open_database(path);
            const told told = told_by_query(database);
            CHECK(told.ids == rows);
            answer("%lld ids %u", (long long)told.ids, told.id_sum);
            SQL_OK(sqlite3_close(database));
        }
    report(name, "sqlite-c", rows, samples[0], rounds, true);
    report(name, "quire-c", rows, samples[1], rounds, false);
}

void insert_bulk_case(int64_t rows) {
    insert_case("insert.bulk", rows, insert_columns);
}

void insert_objects_case(int64_t rows) {
    insert_case("insert.objects", rows, insert_objects);
}

/* A page is the same without objects: one column. */
void objects_case(int64_t rows) {
    prepare_file(rows);
    double samples[3][FEW];
    const int rounds = rounds_for(rows, FEW);
    sqlite3 *database = open_database(path);
    for (int round = 0; round < rounds; round++) {
        double start = now();
        const size_t bytes = step_titles(database);
        samples[0][round] = now() - start;
        opened made = open_store(path);
        start = begin_work("objects");
        CHECK(read_objects(made, rows) == bytes);
        samples[1][round] = end_work("objects", start);
        close_store(made);
        made = open_store(path);
        start = begin_work("page");
        CHECK(read_page(made, rows) == bytes);
        samples[2][round] = end_work("page", start);
        close_store(made);
        answer("%zu letters", bytes);
    }
    SQL_OK(sqlite3_close(database));
    report("objects", "sqlite-c", rows, samples[0], rounds, true);
    report("objects", "quire-c", rows, samples[1], rounds, false);
    report("page", "sqlite-c", rows, samples[0], rounds, true);
    report("page", "quire-c", rows, samples[2], rounds, false);
}

/* Seconds until the list is there, in a store that is opened anew as by a program that begins; with `out_told` unmeasured. */
static double first_fetch(const char *cache_name, told *out_told) {
    const char *const work = out_told ? NULL : cache_name ? "fetch.warm" : "fetch.first";
    const opened made = open_store(path);
    const double start = begin_work(work);
    quire_results *results = new_cached_controller(made, cache_name);
    const double seconds = end_work(work, start);
    if (out_told) *out_told = told_of(results);
    quire_results_release(results);
    close_store(made);
    return seconds;
}

enum { FETCHES = 11 };

/* Cold, and warm: from the cache file that an earlier program has left, which also has to show the same list. */
void first_fetch_case(int64_t rows) {
    static const char cache_name[] = "bench";
    prepare_file(rows);
    told cold, left, warm;
    first_fetch(NULL, &cold);
    first_fetch(cache_name, &left);
    first_fetch(cache_name, &warm);
    CHECK(memcmp(&cold, &left, sizeof cold) == 0 && memcmp(&cold, &warm, sizeof cold) == 0);
    answer_list(cold);

    double samples[3][FETCHES];
    sqlite3 *database = open_database(path);
    for (int round = 0; round < FETCHES; round++) {
        const double start = now();
        CHECK(step_ids(database) == rows * (rows + 1) / 2);
        samples[0][round] = now() - start;
        samples[1][round] = first_fetch(NULL, NULL);
        samples[2][round] = first_fetch(cache_name, NULL);
    }
    SQL_OK(sqlite3_close(database));
    const opened made = open_store(path);
    OK(quire_results_delete_cache(made.store, cache_name, QUIRE_NUL, &error));
    close_store(made);
    report("fetch.first", "sqlite-c", rows, samples[0], FETCHES, true);
    report("fetch.first", "quire-c", rows, samples[1], FETCHES, false);
    report("fetch.warm", "sqlite-c", rows, samples[0], FETCHES, true);
    report("fetch.warm", "quire-c", rows, samples[2], FETCHES, false);
}
