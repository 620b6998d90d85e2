/* Another program: plain SQLite on the file of the store. */
#include "acts.h"
#include "dice.h"
#include "look.h"

#include <sqlite3.h>
#include <stdio.h>

enum { FOREIGN = WRITERS - 1, PATIENCE = 10000 };

static sqlite3 *database;

static void run(const char *sql) {
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) fault("plain SQLite: '%s' gives %s", sql, sqlite3_errmsg(database));
}

void open_foreign(void) {
    if (sqlite3_open(store_path, &database) != SQLITE_OK) fault("plain SQLite cannot open %s", store_path);
    sqlite3_busy_timeout(database, PATIENCE);
}

void close_foreign(void) {
    sqlite3_close(database);
    database = NULL;
}

static void update_row(const char *entity, int number, const char *column, int64_t value) {
    char sql[200];
    snprintf(sql, sizeof sql, "UPDATE ZROW SET %s = %lld, Z_OPT = Z_OPT + 1 WHERE ZNUMBER = %d AND Z_ENT = "
        "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '%s')", column, (long long)value, number, entity);
    run(sql);
}

void write_foreign(void) {
    state newest, next;
    begin_commit();
    if (!read_state(newest_number(), &newest)) fault("the newest commit is not kept");
    next = newest;
    run("BEGIN IMMEDIATE");
    for (int i = 0, left = 1 + random_below(4); i < ITEMS && left; i++) {
        const int slot = random_below(ITEMS);
        if (!newest.items[slot].exists) continue;
        const bool is_shelf = chance(50);
        const uint8_t value = (uint8_t)random_below(is_shelf ? SHELVES : AMOUNTS);
        *(is_shelf ? &next.items[slot].shelf : &next.items[slot].amount) = value;
        update_row("Item", slot, is_shelf ? "ZSHELF" : "ZAMOUNT", value);
        left--;
        /* Its version has grown, even if its values are what they were. */
        next.items[slot].changed = number_of(&newest) + 1;
    }
    update_row("Commit", -1 - FOREIGN, "ZSTAMP", number_commit(FOREIGN, &newest, &next));
    announce_commit(&next);
    run("COMMIT");
    file_commit();
    end_commit();
}

void save_while_foreign_writes(side *side) {
    DO(ADVANCING(quire_context_process_pending(side->context, &failure)));
    begin_commit();
    const int64_t before = side->base.numbers[side->writer];
    run("BEGIN IMMEDIATE");
    set_number(side, newest_number() + 1);
    expect(ADVANCING(quire_context_save(side->context, &failure)), QUIRE_BUSY, "a save while another program writes");
    run("ROLLBACK");
    set_number(side, before);
    locate(side, "a save that met another writer");
    end_commit();
    look_at_some(side);
}
