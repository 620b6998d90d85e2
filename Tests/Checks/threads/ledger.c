/* What the threads say they have saved, and whether the file agrees. */
#include "threads.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void add_pair(pairs *pairs, int64_t first, int64_t second) {
    if (pairs->count == pairs->capacity) {
        pairs->capacity = pairs->capacity ? pairs->capacity * 2 : 64;
        pairs->items = realloc(pairs->items, pairs->capacity * sizeof *pairs->items);
        if (!pairs->items) differ("No memory for %zu claims", pairs->capacity);
    }
    pairs->items[pairs->count][0] = first;
    pairs->items[pairs->count++][1] = second;
}

int64_t stamp_value(int64_t mark) { return (int64_t)(((uint64_t)mark * 0x9E3779B97F4A7C15u) >> 8); }
void stamp_text(int64_t mark, char text[32]) { snprintf(text, 32, "mark %lld", (long long)mark); }
void name_label(int label, char name[16]) { snprintf(name, 16, "label %02d", label); }

static long differences;

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...) {
    va_list arguments;
    if (++differences > 10) return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static int by_both(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Those of all threads, sorted. */
static pairs gathered(const teller *tellers, size_t offset) {
    pairs all = {0};
    for (int i = 0; i < TELLERS; i++) {
        const pairs *part = (const pairs *)((const char *)&tellers[i].claims + offset);
        for (size_t k = 0; k < part->count; k++) add_pair(&all, part->items[k][0], part->items[k][1]);
    }
    if (all.count) qsort(all.items, all.count, sizeof *all.items, by_both);
    return all;
}

static const int64_t *found(const pairs *pairs, int64_t first, int64_t second) {
    const int64_t key[2] = {first, second};
    return pairs->count ? bsearch(key, pairs->items, pairs->count, sizeof *pairs->items, by_both) : NULL;
}

static sqlite3_stmt *prepared(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) differ("%s: %s", sql, sqlite3_errmsg(database));
    return statement;
}

static int64_t number(sqlite3 *database, const char *sql) {
    sqlite3_stmt *statement = prepared(database, sql);
    if (sqlite3_step(statement) != SQLITE_ROW) differ("%s gives no row", sql);
    const int64_t number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

static void audit_accounts(sqlite3 *database, const teller *tellers) {
    sqlite3_stmt *statement = prepared(database, "SELECT Z_PK, ZBALANCE, ZVISITS, ZNUMBER FROM ZACCOUNT ORDER BY Z_PK");
    int count = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
        const int64_t key = sqlite3_column_int64(statement, 0);
        if (key != count + 1 || count >= ACCOUNTS || sqlite3_column_int64(statement, 3) != key) {
            note("account %lld is none of ours", (long long)key);
            continue;
        }
        int64_t balance = OPENING, visits = 0;
        for (int i = 0; i < TELLERS; i++) {
            balance += tellers[i].claims.deltas[count];
            visits += tellers[i].claims.visits[count];
        }
        if (sqlite3_column_int64(statement, 1) != balance)
            note("account %lld has %lld, and the threads say %lld", (long long)key,
                (long long)sqlite3_column_int64(statement, 1), (long long)balance);
        if (sqlite3_column_int64(statement, 2) != visits)
            note("account %lld has %lld visits, and the threads say %lld", (long long)key,
                (long long)sqlite3_column_int64(statement, 2), (long long)visits);
    }
    sqlite3_finalize(statement);
    if (count != ACCOUNTS) note("there are %d accounts", count);
}

static void audit_entries(sqlite3 *database, const teller *tellers) {
    pairs inserted = gathered(tellers, offsetof(claims, inserted)), deleted = gathered(tellers, offsetof(claims, deleted));
    for (size_t i = 1; i < inserted.count; i++)
        if (inserted.items[i][0] == inserted.items[i - 1][0])
            note("two entries were given the id %lld", (long long)inserted.items[i][0]);
    sqlite3_stmt *statement = prepared(database, "SELECT Z_PK, ZAMOUNT FROM ZENTRY");
    size_t stored = 0, expected = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; stored++) {
        const int64_t key = sqlite3_column_int64(statement, 0), amount = sqlite3_column_int64(statement, 1);
        if (!found(&inserted, key, amount))
            note("nobody says that entry %lld of %lld was saved", (long long)key, (long long)amount);
        if (found(&deleted, key, 0)) note("entry %lld is there, and somebody says that it was deleted", (long long)key);
    }
    sqlite3_finalize(statement);
    for (size_t i = 0; i < inserted.count; i++) expected += !found(&deleted, inserted.items[i][0], 0);
    if (stored != expected) note("there are %zu entries, and the threads say %zu", stored, expected);
    free(inserted.items);
    free(deleted.items);

    pairs notes = gathered(tellers, offsetof(claims, notes));
    statement = prepared(database, "SELECT Z_PK FROM ZNOTE");
    while (sqlite3_step(statement) == SQLITE_ROW)
        if (!found(&notes, sqlite3_column_int64(statement, 0), 0))
            note("nobody says that note %lld was saved", (long long)sqlite3_column_int64(statement, 0));
    sqlite3_finalize(statement);
    free(notes.items);
}

static void audit_stamps(sqlite3 *database, const teller *tellers) {
    pairs stamped = gathered(tellers, offsetof(claims, stamped));
    sqlite3_stmt *statement = prepared(database, "SELECT Z_PK, ZMARK, ZVALUE, ZTEXT FROM ZSTAMP ORDER BY Z_PK");
    int count = 0;
    for (; sqlite3_step(statement) == SQLITE_ROW; count++) {
        const int64_t key = sqlite3_column_int64(statement, 0), mark = sqlite3_column_int64(statement, 1);
        if (mark == 0) continue;
        char text[32];
        stamp_text(mark, text);
        if (!found(&stamped, key, mark))
            note("nobody says that stamp %lld was saved with the mark %lld", (long long)key, (long long)mark);
        if (sqlite3_column_int64(statement, 2) != stamp_value(mark) || strcmp((const char *)sqlite3_column_text(statement, 3), text))
            note("stamp %lld has values of two marks", (long long)key);
    }
    sqlite3_finalize(statement);
    if (count != STAMPS) note("there are %d stamps", count);
    free(stamped.items);
}

static void audit_labels(sqlite3 *database, const teller *tellers) {
    sqlite3_stmt *statement = prepared(database, "SELECT count(*) FROM ZLABEL WHERE ZNAME = ?");
    int64_t known = 0;
    for (int label = 0; label < LABELS; label++) {
        bool is_claimed = false;
        for (int i = 0; i < TELLERS; i++) is_claimed |= tellers[i].claims.labels[label];
        char name[16];
        name_label(label, name);
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) != SQLITE_ROW) differ("labels cannot be counted");
        const int64_t stored = sqlite3_column_int64(statement, 0);
        if (stored != is_claimed)
            note("%s is there %lld times, and the threads say %d", name, (long long)stored, is_claimed);
        known += stored;
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    if (number(database, "SELECT count(*) FROM ZLABEL") != known) note("there are other labels");
}

/* The file in itself: nothing refers to a row that is not there, and no key is given twice. */
static void audit_file(sqlite3 *database) {
    static const struct { const char *sql, *sentence; } rules[] = {
        {"SELECT count(*) FROM ZENTRY WHERE ZACCOUNT NOT IN (SELECT Z_PK FROM ZACCOUNT)", "entries of no account"},
        {"SELECT count(*) FROM ZNOTE WHERE ZENTRY NOT IN (SELECT Z_PK FROM ZENTRY)", "notes of an entry that is gone"},
        {"SELECT count(*) FROM ZNOTE WHERE ZENTRY IS NOT NULL AND Z_FOK_ENTRY IS NULL", "notes without a place"},
        {"SELECT count(*) FROM Z_2TAGS WHERE Z_2ENTRIES NOT IN (SELECT Z_PK FROM ZENTRY)", "tags of an entry that is gone"},
        {"SELECT count(*) FROM Z_2TAGS WHERE Z_6TAGS NOT IN (SELECT Z_PK FROM ZTAG)", "pairs with a tag that is gone"},
        {"SELECT count(*) FROM Z_PRIMARYKEY WHERE Z_NAME = 'Entry' AND Z_MAX < (SELECT max(Z_PK) FROM ZENTRY)", "keys behind the last"},
        {"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'", "faults in the file"}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const int64_t faults = number(database, rules[i].sql);
        if (faults) note("there are %lld %s", (long long)faults, rules[i].sentence);
    }
}

long audit(sqlite3 *database, const teller *tellers) {
    differences = 0;
    audit_accounts(database, tellers);
    audit_entries(database, tellers);
    audit_stamps(database, tellers);
    audit_labels(database, tellers);
    audit_file(database);
    return differences;
}
