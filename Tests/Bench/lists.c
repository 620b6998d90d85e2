/* Changes and lists: inserting, reading, a controller's first fetch, one row that moves. */
#include "bench.h"

static quire_fetch_request *new_request(void) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "author", QUIRE_NUL, true, &error));
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

static quire_results *new_controller(opened made) {
    quire_fetch_request *request = new_request();
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "author";
    quire_results *results = NULL;
    OK(quire_results_create(made.context, request, &options, &results, &error));
    OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static int moves_told;

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)data, (void)results, (void)object;
    moves_told += change->kind == QUIRE_CHANGE_MOVE;
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

void insert_case(int64_t rows) {
    static const struct { const char *name; void (*work)(const char *, int64_t); } contenders[] = {
        {"sqlite3", insert_prepared}, {"quire objects", insert_objects}, {"quire columns", insert_columns}};
    double samples[3][FEW];
    for (int round = 0; round < FEW; round++)
        for (int i = 0; i < 3; i++) {
            remove_files();
            const double start = now();
            contenders[i].work(path, rows);
            samples[i][round] = now() - start;
        }
    for (int i = 0; i < 3; i++) report("insert", contenders[i].name, rows, samples[i], FEW, i == 0);
}

void read_case(int64_t rows) {
    prepare_file(rows);
    double samples[3][FEW];
    sqlite3 *database = open_database(path);
    for (int round = 0; round < FEW; round++) {
        double start = now();
        const size_t bytes = step_titles(database);
        samples[0][round] = now() - start;
        opened made = open_store(path);
        start = now();
        CHECK(read_objects(made, rows) == bytes);
        samples[1][round] = now() - start;
        close_store(made);
        made = open_store(path);
        start = now();
        CHECK(read_page(made, rows) == bytes);
        samples[2][round] = now() - start;
        close_store(made);
    }
    SQL_OK(sqlite3_close(database));
    report("read", "sqlite3", rows, samples[0], FEW, true);
    report("read", "quire objects", rows, samples[1], FEW, false);
    report("read", "quire page", rows, samples[2], FEW, false);
}

void first_fetch_case(int64_t rows) {
    prepare_file(rows);
    double samples[2][FEW];
    sqlite3 *database = open_database(path);
    for (int round = 0; round < FEW; round++) {
        double start = now();
        CHECK(step_ids(database) == rows * (rows + 1) / 2);
        samples[0][round] = now() - start;
        opened made = open_store(path);
        start = now();
        quire_results *results = new_controller(made);
        samples[1][round] = now() - start;
        CHECK(quire_results_count(results) == rows);
        quire_results_release(results);
        close_store(made);
    }
    SQL_OK(sqlite3_close(database));
    report("first fetch", "sqlite3 ids", rows, samples[0], FEW, true);
    report("first fetch", "quire controller", rows, samples[1], FEW, false);
}

void move_case(int64_t rows) {
    prepare_file(rows);
    static double samples[2][MANY];
    sqlite3 *database = open_database(path);
    sqlite3_stmt *update = prepare(database, "UPDATE ZQUOTE SET ZAUTHOR = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?");
    sample sample;
    for (int i = 0; i < MANY; i++) {
        make_sample(i * 7919, rows, &sample);
        sqlite3_bind_text(update, 1, sample.author, -1, SQLITE_STATIC);
        sqlite3_bind_int64(update, 2, i % rows + 1);
        const double start = now();
        CHECK(sqlite3_step(update) == SQLITE_DONE);
        samples[0][i] = now() - start;
        sqlite3_reset(update);
    }
    sqlite3_finalize(update);
    SQL_OK(sqlite3_close(database));

    opened made = open_store(path);
    quire_results *results = new_controller(made);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = object_changed;
    OK(quire_results_set_delegate(results, &delegate, &error));
    moves_told = 0;
    int changes = 0;
    for (int i = 0; i < MANY; i++) {
        make_sample(i * 104729 + 17, rows, &sample);
        quire_object *object = NULL;
        quire_value old;
        OK(quire_context_object(made.context, "Quote", 5, i % rows + 1, &object, &error));
        OK(quire_object_get(object, "author", 6, &old, &error));
        changes += strcmp(old.as.text, sample.author) != 0;
        const quire_value author = quire_value_text(sample.author);
        const double start = now();
        OK(quire_object_set(object, "author", 6, &author, &error));
        OK(quire_context_save(made.context, &error));
        samples[1][i] = now() - start;
        quire_object_release(object);
    }
    CHECK(moves_told == changes);
    quire_results_release(results);
    close_store(made);
    report("move", "sqlite3 update", rows, samples[0], MANY, true);
    report("move", "quire", rows, samples[1], MANY, false);
}
