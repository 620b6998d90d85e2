/* Deleting the root of a tree, with everything below by the delete rules. */
#include "bench.h"

/* Folder (name) ->> folders and files by cascade, File (name, size). */
static quire_store *open_tree(const char *path) {
    quire_model *model = quire_model_create();
    quire_attribute_options attribute = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    quire_relationship_options to_one = QUIRE_RELATIONSHIP_OPTIONS_INIT, to_many = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    attribute.is_optional = to_one.is_optional = to_many.is_optional = to_many.is_to_many = true;
    to_many.delete_rule = QUIRE_DELETE_CASCADE;
    static const char *const entities[] = {"File", "Folder"};
    for (int i = 0; i < 2; i++) {
        OK(quire_model_add_entity(model, entities[i], QUIRE_NUL, NULL, &error));
        OK(quire_model_add_attribute(model, entities[i], QUIRE_NUL, "name", QUIRE_NUL, QUIRE_TYPE_STRING, &attribute, &error));
    }
    OK(quire_model_add_attribute(model, "File", QUIRE_NUL, "size", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &attribute, &error));
    to_one.inverse = "files";
    to_many.inverse = "folder";
    OK(quire_model_add_relationship(model, "File", QUIRE_NUL, "folder", QUIRE_NUL, "Folder", QUIRE_NUL, &to_one, &error));
    OK(quire_model_add_relationship(model, "Folder", QUIRE_NUL, "files", QUIRE_NUL, "File", QUIRE_NUL, &to_many, &error));
    to_one.inverse = "folders";
    to_many.inverse = "parent";
    OK(quire_model_add_relationship(model, "Folder", QUIRE_NUL, "parent", QUIRE_NUL, "Folder", QUIRE_NUL, &to_one, &error));
    OK(quire_model_add_relationship(model, "Folder", QUIRE_NUL, "folders", QUIRE_NUL, "Folder", QUIRE_NUL, &to_many, &error));
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    return store;
}

/* One folder in a hundred; each but the first lies in one of those before it, ten to a folder. Files lie anywhere. */
void make_tree(int64_t rows) {
    const int64_t folders = rows / 100 + 1;
    remove_files();
    if (copy_prepared("quire-tree", rows, path)) return;
    quire_store_release(open_tree(path));
    sqlite3 *database = open_database(path);
    SQL_OK(sqlite3_exec(database, "BEGIN", NULL, NULL, NULL));
    sqlite3_stmt *folder = prepare(database,
        "INSERT INTO ZFOLDER (Z_PK, Z_ENT, Z_OPT, ZPARENT, ZNAME) VALUES (?1, 2, 1, ?2, printf('Folder %06d', ?1))");
    for (int64_t i = 1; i <= folders; i++) {
        sqlite3_bind_int64(folder, 1, i);
        if (i > 1) sqlite3_bind_int64(folder, 2, (i + 8) / 10);
        CHECK(sqlite3_step(folder) == SQLITE_DONE);
        sqlite3_reset(folder);
    }
    sqlite3_stmt *file = prepare(database,
        "INSERT INTO ZFILE (Z_PK, Z_ENT, Z_OPT, ZFOLDER, ZSIZE, ZNAME) VALUES (?1, 1, 1, ?2, ?1 * 7, printf('Report %06d.txt', ?1))");
    for (int64_t i = 1; i <= rows - folders; i++) {
        sqlite3_bind_int64(file, 1, i);
        sqlite3_bind_int64(file, 2, (int64_t)(((uint64_t)i * 0x9E3779B97F4A7C15u >> 20) % (uint64_t)folders) + 1);
        CHECK(sqlite3_step(file) == SQLITE_DONE);
        sqlite3_reset(file);
    }
    sqlite3_finalize(folder);
    sqlite3_finalize(file);
    char sql[160];
    snprintf(sql, sizeof sql, "UPDATE Z_PRIMARYKEY SET Z_MAX = CASE Z_NAME WHEN 'Folder' THEN %lld ELSE %lld END; COMMIT",
        (long long)folders, (long long)(rows - folders));
    SQL_OK(sqlite3_exec(database, sql, NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
}

static void delete_prepared(sqlite3 *database, const char *sql, int64_t count) {
    sqlite3_stmt *statement = prepare(database, sql);
    for (int64_t i = 1; i <= count; i++) {
        sqlite3_bind_int64(statement, 1, i);
        CHECK(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
}

static double delete_rows(int64_t rows) {
    const int64_t folders = rows / 100 + 1;
    sqlite3 *database = open_database(path);
    const double start = now();
    SQL_OK(sqlite3_exec(database, "BEGIN", NULL, NULL, NULL));
    delete_prepared(database, "DELETE FROM ZFILE WHERE Z_PK = ?", rows - folders);
    delete_prepared(database, "DELETE FROM ZFOLDER WHERE Z_PK = ?", folders);
    SQL_OK(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL));
    const double taken = now() - start;
    SQL_OK(sqlite3_close(database));
    return taken;
}

static double delete_root(void) {
    quire_store *store = open_tree(path);
    quire_context *context = NULL;
    quire_object *root = NULL;
    OK(quire_context_create(store, &context, &error));
    OK(quire_context_object(context, "Folder", QUIRE_NUL, 1, &root, &error));
    const double start = begin_work("cascade");
    OK(quire_context_delete(context, root, &error));
    OK(quire_context_save(context, &error));
    const double taken = end_work("cascade", start);
    quire_object_release(root);
    quire_context_release(context);
    quire_store_release(store);
    return taken;
}

static double delete_root_in_store(void) {
    quire_store *store = open_tree(path);
    quire_context *context = NULL;
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    OK(quire_context_create(store, &context, &error));
    OK(quire_fetch_request_create("Folder", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse("parent == nil", QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    int64_t count = 0;
    const double start = begin_work("cascade.batch");
    OK(quire_context_batch_delete(context, request, NULL, &count, NULL, &error));
    const double taken = end_work("cascade.batch", start);
    CHECK(count == 1);
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    quire_context_release(context);
    quire_store_release(store);
    return taken;
}

static void check_empty(const char *sql) {
    sqlite3 *database = open_database(path);
    sqlite3_stmt *statement = prepare(database, sql);
    CHECK(sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_int64(statement, 0) == 0);
    answer("0 left");
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_close(database));
}

static const char left_in_quire[] = "SELECT (SELECT count(*) FROM ZFILE) + (SELECT count(*) FROM ZFOLDER)";

/* With objects. The floor knows all keys and deletes by them. */
void cascade_case(int64_t rows) {
    double samples[2][FEW];
    const int rounds = rounds_for(rows, FEW);
    for (int round = 0; round < rounds; round++) {
        make_tree(rows);
        samples[0][round] = delete_rows(rows);
        make_tree(rows);
        samples[1][round] = delete_root();
        check_empty(left_in_quire);
    }
    report("cascade", "sqlite-c", rows, samples[0], rounds, true);
    report("cascade", "quire-c", rows, samples[1], rounds, false);
}

/* Without objects. The floor deletes the root, and SQLite the rest by foreign keys. */
void cascade_batch_case(int64_t rows) {
    double samples[2][FEW];
    const int rounds = rounds_for(rows, FEW);
    const bool has_floor = folder != NULL;
    for (int round = 0; round < rounds; round++) {
        if (has_floor) {
            remove_files();
            CHECK(copy_prepared("plain-tree", rows, path));
            sqlite3 *database = open_database(path);
            SQL_OK(sqlite3_exec(database, "PRAGMA foreign_keys=ON", NULL, NULL, NULL));
            const double start = now();
            SQL_OK(sqlite3_exec(database, "DELETE FROM folder WHERE id = 1", NULL, NULL, NULL));
            samples[0][round] = now() - start;
            SQL_OK(sqlite3_close(database));
            check_empty("SELECT (SELECT count(*) FROM file) + (SELECT count(*) FROM folder)");
        }
        make_tree(rows);
        samples[1][round] = delete_root_in_store();
        check_empty(left_in_quire);
    }
    if (has_floor) report("cascade.batch", "sqlite-c", rows, samples[0], rounds, true);
    report("cascade.batch", "quire-c", rows, samples[1], rounds, !has_floor);
}
