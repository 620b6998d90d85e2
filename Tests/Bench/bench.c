/*
 * Quire beside plain SQLite, which does the same work on a file of the same rows in the same run.
 *
 *   bench [--only CASE] [--rows N,...] [--json FILE]
 *
 * Rows are {author text, title text, created date, price double}, fifty to an author, scattered. Medians of wall time.
 */
#include <quire.h>
#include <sqlite3.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x) ((x) ? (void)0 : fail(#x, __LINE__))
#define OK(call) CHECK((call) == QUIRE_OK)
#define SQL_OK(call) CHECK((call) == SQLITE_OK)

static quire_error *error;

static void fail(const char *what, int line) {
    fprintf(stderr, "bench.c:%d: %s\n", line, what);
    if (error) fprintf(stderr, "%s\n", quire_error_message(error).data);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return samples[count / 2];
}

/* --- Reporting. */

static FILE *json;
static bool has_written;
static double floor_median;

static void report(const char *name, const char *contender, int64_t rows, double *samples, int count, bool is_floor) {
    const double middle = median(samples, count);
    if (is_floor) floor_median = middle;
    printf("%-16s %-16s %9lld %12.6f %8.2f\n", name, contender, (long long)rows, middle, middle / floor_median);
    fflush(stdout);
    if (!json) return;
    fprintf(json, "%s  {\"case\": \"%s\", \"contender\": \"%s\", \"rows\": %lld, \"median\": %.9f}", has_written ? ",\n" : "", name,
        contender, (long long)rows, middle);
    has_written = true;
}

/* --- The rows. */

typedef struct sample { char author[24], title[64]; double created, price; } sample;

static void make_sample(int64_t place, int64_t rows, sample *out) {
    /* A multiplication by a large odd number scatters the authors and titles over the rows. */
    const uint64_t mixed = (uint64_t)place * 0x9E3779B97F4A7C15u >> 20;
    const int64_t author_count = rows / 50 > 0 ? rows / 50 : 1;
    snprintf(out->author, sizeof out->author, "Author %06llu", (unsigned long long)(mixed % (uint64_t)author_count));
    snprintf(out->title, sizeof out->title, "Title %llu of the collected works", (unsigned long long)(mixed % 100000007u));
    out->created = 1.5e9 + (double)(mixed % 100000000u);
    out->price = (double)(mixed % 100000u) / 100;
}

/* --- Quire. */

static const char *const keys[] = {"author", "title", "created", "price"};

/* Whether titles have a text index. */
static bool is_searchable;

static quire_model *new_model(void) {
    static const quire_attribute_type types[] = {QUIRE_STRING, QUIRE_STRING, QUIRE_DATE, QUIRE_DOUBLE};
    quire_model *model = quire_model_create();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    OK(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error));
    for (int i = 0; i < 4; i++) {
        options.is_searchable = is_searchable && i == 1;
        OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, keys[i], QUIRE_NUL, types[i], &options, &error));
    }
    const quire_index_element author = {"author", false};
    OK(quire_model_add_fetch_index(model, "Quote", QUIRE_NUL, "byAuthor", QUIRE_NUL, &author, 1, &error));
    return model;
}

typedef struct opened { quire_model *model; quire_store *store; quire_context *context; } opened;

static opened open_store(const char *path) {
    opened made = {new_model(), NULL, NULL};
    OK(quire_store_open(path, QUIRE_NUL, made.model, NULL, &made.store, &error));
    OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static void close_store(opened made) {
    quire_context_release(made.context);
    quire_store_release(made.store);
    quire_model_release(made.model);
}

static void insert_objects(const char *path, int64_t rows) {
    opened made = open_store(path);
    sample sample;
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &sample);
        const quire_value values[] = {quire_value_text(sample.author), quire_value_text(sample.title), quire_value_date(sample.created),
            quire_value_double(sample.price)};
        quire_object *object = NULL;
        OK(quire_context_insert(made.context, "Quote", 5, &object, &error));
        OK(quire_object_set_values(object, keys, values, 4, &error));
        quire_object_release(object);
    }
    OK(quire_context_save(made.context, &error));
    close_store(made);
}

static void insert_columns(const char *path, int64_t rows) {
    opened made = open_store(path);
    sample *samples = malloc(sizeof *samples * (size_t)rows);
    quire_value *values = malloc(sizeof *values * 4 * (size_t)rows);
    CHECK(samples && values);
    const quire_value *const columns[] = {values, values + rows, values + 2 * rows, values + 3 * rows};
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &samples[i]);
        values[i] = quire_value_text(samples[i].author);
        values[rows + i] = quire_value_text(samples[i].title);
        values[2 * rows + i] = quire_value_date(samples[i].created);
        values[3 * rows + i] = quire_value_double(samples[i].price);
    }
    OK(quire_context_insert_rows(made.context, "Quote", 5, keys, columns, 4, (size_t)rows, NULL, &error));
    OK(quire_context_save(made.context, &error));
    free(values);
    free(samples);
    close_store(made);
}

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

/* --- SQLite. */

static sqlite3 *open_database(const char *path) {
    sqlite3 *database = NULL;
    SQL_OK(sqlite3_open(path, &database));
    SQL_OK(sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", NULL, NULL, NULL));
    return database;
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    SQL_OK(sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
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

/* --- The cases. */

enum { FEW = 5, MANY = 301 };

static char path[64];

static void remove_files(void) {
    char name[80];
    const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void insert_case(int64_t rows) {
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

static void prepare_file(int64_t rows) {
    remove_files();
    insert_columns(path, rows);
}

static void read_case(int64_t rows) {
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

static void first_fetch_case(int64_t rows) {
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

static void move_case(int64_t rows) {
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

static int64_t count_rows(sqlite3 *database, const char *sql, const char *argument) {
    sqlite3_stmt *statement = prepare(database, sql);
    if (argument) sqlite3_bind_text(statement, 1, argument, -1, SQLITE_STATIC);
    int64_t count = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) count++;
    sqlite3_finalize(statement);
    return count;
}

static int64_t fetch_ids(opened made, const char *format) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    quire_list *list = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    OK(quire_context_fetch(made.context, request, &list, &error));
    const int64_t count = quire_list_count(list);
    quire_list_release(list);
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return count;
}

/* One title in a hundred has the pattern. "by keys" is what it costs SQLite to look at these rows when it knows them. */
static void text_index_case(int64_t rows) {
    enum { CONTENDERS = 4 };
    static const char *const names[CONTENDERS] = {"sqlite3 LIKE", "sqlite3 by keys", "quire contains", "quire [cd]"};
    double samples[CONTENDERS][FEW], inserts[2][1], saves[2][MANY];
    for (int searchable = 0; searchable < 2; searchable++) {
        is_searchable = searchable;
        double start = now();
        prepare_file(rows);
        inserts[searchable][0] = now() - start;
        opened made = open_store(path);
        for (int i = 0; i < MANY; i++) {
            quire_object *object = NULL;
            char title[64];
            snprintf(title, sizeof title, "Another title %d", i);
            const quire_value value = quire_value_text(title);
            start = now();
            OK(quire_context_object(made.context, "Quote", 5, i * 7919 % rows + 1, &object, &error));
            OK(quire_object_set(object, "title", 5, &value, &error));
            OK(quire_context_save(made.context, &error));
            saves[searchable][i] = now() - start;
            quire_object_release(object);
        }
        close_store(made);
    }
    sqlite3 *database = open_database(path);
    opened made = open_store(path);
    sqlite3_stmt *gather = prepare(database, "SELECT '[' || group_concat(Z_PK) || ']' FROM ZQUOTE WHERE ZTITLE LIKE '%42 of the%'");
    CHECK(sqlite3_step(gather) == SQLITE_ROW);
    const char *list = (const char *)sqlite3_column_text(gather, 0);
    for (int round = -1; round < FEW; round++)
        for (int i = 0; i < CONTENDERS; i++) {
            int64_t count = 0;
            const double start = now();
            if (i == 0) count = count_rows(database, "SELECT Z_PK, Z_ENT FROM ZQUOTE WHERE ZTITLE LIKE '%42 of the%'", NULL);
            if (i == 1)
                count = count_rows(database, "SELECT Z_PK, Z_ENT FROM ZQUOTE WHERE Z_PK IN (SELECT value FROM json_each(?)) "
                    "AND instr(ZTITLE, '42 of the')", list);
            if (i == 2) count = fetch_ids(made, "title CONTAINS '42 of the'");
            if (i == 3) count = fetch_ids(made, "title CONTAINS[cd] '42 OF THE'");
            /* The first round is for the caches. */
            if (round >= 0) samples[i][round] = now() - start;
            CHECK(count > rows / 200 && count < rows / 50);
        }
    sqlite3_finalize(gather);
    SQL_OK(sqlite3_close(database));
    close_store(made);
    is_searchable = false;
    for (int i = 0; i < CONTENDERS; i++) report("text index", names[i], rows, samples[i], FEW, i == 0);
    report("text index", "insert without", rows, inserts[0], 1, true);
    report("text index", "insert with", rows, inserts[1], 1, false);
    report("text index", "save one without", rows, saves[0], MANY, true);
    report("text index", "save one with", rows, saves[1], MANY, false);
}

static const struct { const char *name; void (*run)(int64_t rows); } cases[] = {
    {"insert", insert_case}, {"read", read_case}, {"first fetch", first_fetch_case}, {"move", move_case},
    {"text index", text_index_case}};

static int usage(void) {
    fprintf(stderr, "usage: bench [--only CASE] [--rows N,...] [--json FILE]\ncases: insert, read, first fetch, move, text index\n");
    return 2;
}

int main(int argument_count, char **arguments) {
    const char *only = NULL, *rows = "10000,100000", *file = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        if (i + 1 == argument_count) return usage();
        if (strcmp(arguments[i], "--only") == 0) only = arguments[i + 1];
        else if (strcmp(arguments[i], "--rows") == 0) rows = arguments[i + 1];
        else if (strcmp(arguments[i], "--json") == 0) file = arguments[i + 1];
        else return usage();
    }
    bool is_known = !only;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) is_known |= only && strcmp(only, cases[i].name) == 0;
    if (!is_known) return usage();
    if (file && !(json = fopen(file, "w"))) return perror(file), 1;
    if (json) fprintf(json, "[\n");

    snprintf(path, sizeof path, "bench-%d.sqlite", (int)getpid());
    printf("%-16s %-16s %9s %12s %8s\n", "case", "contender", "rows", "seconds", "ratio");
    for (const char *cursor = rows; *cursor;) {
        char *end = NULL;
        const long long count = strtoll(cursor, &end, 10);
        if (end == cursor || count <= 0 || count > 100000000 || (*end && *end != ',')) return usage();
        cursor = *end ? end + 1 : end;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            if (!only || strcmp(only, cases[i].name) == 0) cases[i].run(count);
    }
    remove_files();
    if (json) fprintf(json, "\n]\n"), fclose(json);
    return 0;
}
