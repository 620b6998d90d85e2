/* Files: copying, removing, and those that the contenders start with. */
#include "bench.h"

#include <unistd.h>

static const char *const endings[] = {"", "-wal", "-shm"};

void remove_store(const char *of) {
    char name[600];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", of, endings[i]);
        unlink(name);
    }
}

void remove_files(void) {
    remove_store(path);
}

sqlite3 *open_database(const char *path) {
    sqlite3 *database = NULL;
    SQL_OK(sqlite3_open(path, &database));
    SQL_OK(sqlite3_exec(database, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;", NULL, NULL, NULL));
    return database;
}

sqlite3_stmt *prepare(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    SQL_OK(sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
    return statement;
}

int64_t number_in(const char *path, const char *sql) {
    sqlite3 *database = open_database(path);
    sqlite3_stmt *statement = prepare(database, sql);
    CHECK(sqlite3_step(statement) == SQLITE_ROW);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_close(database));
    return number;
}

static bool copy(const char *from, const char *to) {
    FILE *source = fopen(from, "rb");
    if (!source) return false;
    FILE *target = fopen(to, "wb");
    CHECK(target);
    enum { AT_ONCE = 1 << 20 };
    char *bytes = malloc(AT_ONCE);
    CHECK(bytes);
    for (size_t count; (count = fread(bytes, 1, AT_ONCE, source)) > 0;) CHECK(fwrite(bytes, 1, count, target) == count);
    free(bytes);
    fclose(source);
    CHECK(fclose(target) == 0);
    return true;
}

void copy_store(const char *from, const char *to) { CHECK(copy(from, to)); }

static void prepared_name(char *name, size_t size, const char *in, const char *kind, int64_t rows) {
    snprintf(name, size, "%s/%s-%lld.sqlite", in, kind, (long long)rows);
}

bool copy_prepared(const char *kind, int64_t rows, const char *to) {
    char name[512];
    if (!folder) return false;
    prepared_name(name, sizeof name, folder, kind, rows);
    return copy(name, to);
}

/* A closed file has no log; the copy is all there is. */
static void keep(const char *from, const char *in, const char *kind, int64_t rows) {
    char name[512];
    prepared_name(name, sizeof name, in, kind, rows);
    CHECK(copy(from, name));
    remove_store(from);
}

static void finish(sqlite3 *database) {
    SQL_OK(sqlite3_exec(database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
}

/* The same rows as programs without Quire would have them: dates as text, as all of their libraries write them. */
static void make_plain(int64_t rows) {
    sqlite3 *database = open_database(path);
    SQL_OK(sqlite3_exec(database,
        "CREATE TABLE quote (id INTEGER PRIMARY KEY, author VARCHAR, title VARCHAR, created DATETIME, price FLOAT); "
        "CREATE INDEX ix_quote_author ON quote (author); BEGIN", NULL, NULL, NULL));
    sqlite3_stmt *statement = prepare(database, "INSERT INTO quote VALUES (?, ?, ?, "
        "strftime('%Y-%m-%d %H:%M:%S', ?, 'unixepoch') || '.000000', ?)");
    sample sample;
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &sample);
        sqlite3_bind_int64(statement, 1, i + 1);
        sqlite3_bind_text(statement, 2, sample.author, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 3, sample.title, -1, SQLITE_STATIC);
        sqlite3_bind_double(statement, 4, sample.created);
        sqlite3_bind_double(statement, 5, sample.price);
        CHECK(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL));
    finish(database);
}

/* The tree of `make_tree`, with deletes that cascade by foreign keys. */
static void make_plain_tree(const char *quire_tree) {
    sqlite3 *database = open_database(path);
    char *sql = sqlite3_mprintf("ATTACH %Q AS quire; "
        "CREATE TABLE folder (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES folder (id) ON DELETE CASCADE, name VARCHAR); "
        "CREATE TABLE file (id INTEGER PRIMARY KEY, folder INTEGER REFERENCES folder (id) ON DELETE CASCADE, name VARCHAR, "
        "size INTEGER); CREATE INDEX folder_parent ON folder (parent); CREATE INDEX file_folder ON file (folder); "
        "INSERT INTO folder SELECT Z_PK, ZPARENT, ZNAME FROM quire.ZFOLDER; "
        "INSERT INTO file SELECT Z_PK, ZFOLDER, ZNAME, ZSIZE FROM quire.ZFILE; DETACH quire", quire_tree);
    CHECK(sql);
    SQL_OK(sqlite3_exec(database, sql, NULL, NULL, NULL));
    sqlite3_free(sql);
    finish(database);
}

void prepare_files(const char *in, int64_t rows) {
    char tree[512];
    remove_files();
    insert_columns(path, rows);
    keep(path, in, "quire", rows);
    make_plain(rows);
    keep(path, in, "plain", rows);
    if (rows == 0) return;
    make_tree(rows);
    keep(path, in, "quire-tree", rows);
    prepared_name(tree, sizeof tree, in, "quire-tree", rows);
    make_plain_tree(tree);
    keep(path, in, "plain-tree", rows);
}
