/* Connections for which memory runs out: at any allocation, once or for a while. What fails leaves the database as it was,
 * and what succeeds has done what it does in a file. */
#include "kinds.h"
#include "statements.h"

#include <stdio.h>

static sqlite3 *writer, *reader, *file;

typedef enum deed { TRANSACTION, TENDING, REOPEN, READING } deed;

/* Statements between BEGIN and COMMIT. */
enum { MOST_STATEMENTS = 4 };

typedef struct plan {
    deed deed;
    shortage shortage;
    int count;
    statement statements[MOST_STATEMENTS];
} plan;

static plan make_plan(void) {
    plan made = {.deed = TRANSACTION, .count = 1};
    const int number = random_below(100);
    /* Blocks of files, and regions of indexes; or anything. */
    if (chance(60)) made.shortage = (shortage){1 + random_below(chance(50) ? 3 : 20), 0, 30000};
    else made.shortage = (shortage){1 + random_below(chance(50) ? 30 : 500), 0, 0};
    made.shortage.more = chance(60) ? 0 : random_below(100);
    if (number < 60) made.count = 1 + random_below(MOST_STATEMENTS);
    else made.deed = number < 80 ? TENDING : number < 90 ? REOPEN : READING;
    for (int i = 0; i < made.count; i++)
        made.statements[i] = made.deed == TRANSACTION ? writing_statement()
            : made.deed == TENDING                    ? tending_statement()
                                                      : reading_statement();
    return made;
}

static bool is_full(outcome outcome) { return outcome.code == SQLITE_NOMEM || outcome.code == SQLITE_IOERR_NOMEM; }

static sqlite3 *open_one(place place) {
    sqlite3 *opened = open_in(place, 0, SQLITE_OPEN_READWRITE);
    /* So that pages are written before the transaction ends. */
    if (opened) run_in(place, opened, "PRAGMA cache_size = 10; PRAGMA wal_autocheckpoint = 0", NULL);
    return opened;
}

static sqlite3 *opened_again(void) {
    sqlite3 *opened = open_one(IN_MEMORY);
    if (!opened) differ("a database in memory cannot be opened again");
    return opened;
}

static void compare(outcome expected, const char *what) {
    sqlite3 *const all[] = {writer, reader};
    for (int i = 0; i < COUNT_OF(all); i++)
        if (!is_same(contents_in(IN_MEMORY, all[i]), expected)) differ("%s leaves other rows for connection %d", what, i);
    check_integrity(IN_MEMORY, reader);
}

/* Each statement of a transaction either has done all or nothing; the transaction may still go on. */
static void run_transaction(const plan *plan) {
    outcome outcome;
    bool done[MOST_STATEMENTS] = {false};
    set_shortage(plan->shortage);
    outcome = run_in(IN_MEMORY, writer, "BEGIN IMMEDIATE", NULL);
    for (int i = 0; i < plan->count && !sqlite3_get_autocommit(writer); i++) {
        outcome = run_in(IN_MEMORY, writer, plan->statements[i].sql, plan->statements[i].arguments);
        done[i] = !is_full(outcome);
    }
    if (!sqlite3_get_autocommit(writer)) {
        outcome = run_in(IN_MEMORY, writer, "COMMIT", NULL);
        end_shortage();
        if (outcome.code != SQLITE_OK) run_in(IN_MEMORY, writer, "ROLLBACK", NULL);
        /* What is rolled back has not been. */
        if (outcome.code == SQLITE_OK) {
            run_in(IN_FILES, file, "BEGIN IMMEDIATE", NULL);
            for (int i = 0; i < plan->count; i++)
                if (done[i]) run_in(IN_FILES, file, plan->statements[i].sql, plan->statements[i].arguments);
            run_in(IN_FILES, file, "COMMIT", NULL);
        }
    }
    if (!end_shortage() && is_full(outcome)) differ("'COMMIT' finds no memory, though nothing failed");
}

static void run_alone(const plan *plan) {
    const statement *statement = &plan->statements[0];
    set_shortage(plan->shortage);
    const outcome outcome = run_in(IN_MEMORY, chance(50) ? writer : reader, statement->sql, statement->arguments);
    if (!end_shortage() && is_full(outcome)) differ("'%s' finds no memory, though nothing failed", statement->sql);
}

static void take(const step *step) {
    seed_dice(step->seed);
    const plan plan = make_plan();
    if (plan.deed == TRANSACTION) run_transaction(&plan);
    else if (plan.deed != REOPEN) run_alone(&plan);
    else {
        sqlite3 **either = chance(50) ? &writer : &reader;
        set_shortage(plan.shortage);
        close_in(IN_MEMORY, *either);
        *either = open_one(IN_MEMORY);
        end_shortage();
        if (*either) close_in(IN_MEMORY, *either);
        *either = opened_again();
    }
    compare(contents_in(IN_FILES, file), "memory that runs out");
}

static void run(const step *steps, int count) {
    static const char *const journals[] = {"WAL", "WAL", "DELETE", "PERSIST", "TRUNCATE"};
    begin_places();
    for (int place = 0; place < PLACES; place++) begin_place(place);
    writer = opened_again();
    seed_dice(steps[0].seed);
    char sql[200];
    snprintf(sql, sizeof sql, "PRAGMA auto_vacuum = %d; PRAGMA journal_mode = %s; PRAGMA mmap_size = %d", random_below(3),
        RANDOM_OF(journals), chance(50) ? 1000000000 : 0);
    run_in(IN_MEMORY, writer, sql, NULL);
    run_in(IN_MEMORY, writer, schema, NULL);
    reader = opened_again();
    file = open_one(IN_FILES);
    run_in(IN_FILES, file, schema, NULL);
    for (int i = 0; i < count; i++) {
        begin_step(i);
        take(&steps[i]);
    }
    close_in(IN_MEMORY, writer);
    close_in(IN_MEMORY, reader);
    close_in(IN_FILES, file);
    for (int place = 0; place < PLACES; place++) end_place(place);
    end_places();
}

static void show(const step *step) {
    static const char *const deeds[] = {"a transaction", "alone", "a connection is opened again", "alone"};
    seed_dice(step->seed);
    const plan plan = make_plan();
    printf(": allocation %ld of %d bytes or more fails, and %ld after it; %s\n", plan.shortage.countdown, plan.shortage.size,
        plan.shortage.more, deeds[plan.deed]);
    for (int i = 0; i < plan.count && plan.deed != REOPEN; i++) printf("    %s\n", plan.statements[i].sql);
}

const kind starved = {"starved", 20, 1, run, show};
