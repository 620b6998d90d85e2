/* One attribute with a default is added to all rows. The floor does the same by ALTER TABLE and UPDATE. */
#include "bench.h"

enum { ROUNDS = 3 };

static double migrate_floor(void) {
    const double begin = now();
    sqlite3 *database = open_database(floor_path);
    SQL_OK(sqlite3_exec(database,
        "BEGIN IMMEDIATE; ALTER TABLE ZQUOTE ADD COLUMN ZRATING INTEGER; UPDATE ZQUOTE SET ZRATING = 3; COMMIT",
        NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
    return now() - begin;
}

static double migrate_store(void) {
    has_ratings = true;
    quire_model *model = new_model();
    has_ratings = false;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    quire_migration *migration = NULL;
    const double begin = begin_work("migrate");
    OK(quire_migration_create(path, QUIRE_NUL, NULL, model, &options, &migration, &error));
    OK(quire_migration_run(migration, NULL, NULL, &error));
    const double took = end_work("migrate", begin);
    quire_migration_release(migration);
    quire_model_release(model);
    return took;
}

static int64_t rating_sum(const char *of) { return number_in(of, "SELECT total(ZRATING) FROM ZQUOTE"); }

void migrate_case(int64_t rows) {
    double floor[ROUNDS], quire[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        remove_store(floor_path);
        prepare_file(rows);
        copy_store(path, floor_path);
        floor[i] = migrate_floor();
        quire[i] = migrate_store();
        CHECK(rating_sum(path) == 3 * rows && rating_sum(floor_path) == 3 * rows);
    }
    answer("%lld rows", (long long)rows);
    report("migrate", "sqlite-c", rows, floor, ROUNDS, true);
    report("migrate", "quire-c", rows, quire, ROUNDS, false);
}
