/* Connections of one thread, each in memory and in files. Locks are refused in the same cases, so that each statement
 * gives the same in both places, failures included. */
#include "kinds.h"
#include "statements.h"

#include <stdio.h>

enum { CONNECTIONS = 4 };

typedef struct connection {
    sqlite3 *databases[PLACES];
    /* A statement that has been begun. */
    sqlite3_stmt *cursors[PLACES];
    bool is_attached, is_read_only;
} connection;

static connection connections[CONNECTIONS];

typedef enum deed { STATEMENT, CURSOR, REOPEN, ATTACH, BOTH, ALONE } deed;

static deed choose(statement *out) {
    const int number = random_below(100);
    if (number < 6) return REOPEN;
    if (number < 20) return CURSOR;
    if (number < 23) return ATTACH;
    if (number < 26) return BOTH;
    if (number < 27) return ALONE;
    *out = number < 42 ? transaction_statement()
        : number < 66 ? writing_statement()
        : number < 80 ? reading_statement()
        : number < 91 ? tending_statement()
                      : setting_statement();
    return STATEMENT;
}

static void compare(outcome one, outcome other, const char *what) {
    if (!is_same(one, other))
        differ("'%s' gives %d and %d rows %llx in memory, %d and %d rows %llx in files", what, one.code, one.rows,
            (unsigned long long)one.digest, other.code, other.rows, (unsigned long long)other.digest);
}

static void run_both(connection *connection, const statement *statement) {
    outcome outcomes[PLACES];
    for (int place = 0; place < PLACES; place++) {
        outcomes[place] = run_in(place, connection->databases[place], statement->sql, statement->arguments);
        if (statement->is_about_place) outcomes[place].digest = 0;
        /* A descriptor that only reads refuses locks in ways of its own. */
        if (connection->is_read_only && outcomes[place].code != SQLITE_OK) outcomes[place] = (outcome){.code = SQLITE_READONLY};
    }
    compare(outcomes[IN_MEMORY], outcomes[IN_FILES], statement->sql);
    if (sqlite3_get_autocommit(connection->databases[IN_MEMORY]) != sqlite3_get_autocommit(connection->databases[IN_FILES]))
        differ("after '%s' there is a transaction in one place only", statement->sql);
}

static void end_cursor(connection *connection) {
    for (int place = 0; place < PLACES; place++) {
        enter_memory(place == IN_MEMORY);
        sqlite3_finalize(connection->cursors[place]);
        enter_memory(false);
        connection->cursors[place] = NULL;
    }
}

/* Begins a statement, goes on with it, or ends it. Its pages stay fetched between steps. */
static void move_cursor(connection *connection) {
    outcome outcomes[PLACES] = {{0}};
    const bool ends = chance(30);
    const int rows = 1 + random_below(30);
    if (connection->cursors[0] && ends) return end_cursor(connection);
    for (int place = 0; place < PLACES; place++) {
        enter_memory(place == IN_MEMORY);
        if (!connection->cursors[place])
            sqlite3_prepare_v2(connection->databases[place], "SELECT id, k, v FROM t ORDER BY id", -1,
                &connection->cursors[place], NULL);
        enter_memory(false);
        for (int i = 0; i < rows; i++) {
            outcomes[place] = step_in(place, connection->cursors[place], outcomes[place]);
            if (outcomes[place].code != SQLITE_ROW) break;
        }
    }
    compare(outcomes[IN_MEMORY], outcomes[IN_FILES], "a statement that goes on");
    if (outcomes[0].code != SQLITE_ROW) end_cursor(connection);
}

static void open_both(connection *connection, bool is_read_only) {
    static const statement settings = {.sql = "PRAGMA temp_store = MEMORY; PRAGMA cache_size = 20"};
    const int flags = is_read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    for (int place = 0; place < PLACES; place++) {
        connection->databases[place] = open_in(place, 0, flags);
        if (!connection->databases[place]) differ("%s the database cannot be opened", place_name(place));
        /* Sorting and rollbacks of statements in memory use files without a name, which are the VFS's, too. */
        if (place == IN_FILES) run_in(place, connection->databases[place], settings.sql, NULL);
        else run_in(place, connection->databases[place], "PRAGMA cache_size = 20", NULL);
    }
    connection->is_attached = false;
    connection->is_read_only = is_read_only;
}

static void close_both(connection *connection) {
    end_cursor(connection);
    for (int place = 0; place < PLACES; place++) {
        if (connection->databases[place]) close_in(place, connection->databases[place]);
        connection->databases[place] = NULL;
    }
}

/* Has the other database with it, or not any more. */
static void attach_both(connection *connection) {
    outcome outcomes[PLACES];
    for (int place = 0; place < PLACES; place++) {
        char sql[400];
        snprintf(sql, sizeof sql, "ATTACH '%s' AS o; CREATE TABLE IF NOT EXISTS o.w(id INTEGER PRIMARY KEY, k)", name_in(place, 1));
        outcomes[place] = run_in(place, connection->databases[place], connection->is_attached ? "DETACH o" : sql, NULL);
    }
    compare(outcomes[IN_MEMORY], outcomes[IN_FILES], "the other database");
    /* A lock that is refused fails as well, but not as what is unknown does. */
    for (int place = 0; place < PLACES; place++)
        outcomes[place] = run_in(place, connection->databases[place], "SELECT count(*) FROM o.sqlite_schema", NULL);
    compare(outcomes[IN_MEMORY], outcomes[IN_FILES], "the other database");
    connection->is_attached = outcomes[0].code != SQLITE_ERROR;
}

/* Writes to both databases in one transaction, which takes a journal over their journals. */
static void write_both(connection *connection) {
    static const statement both = {.sql = "INSERT INTO o.w(k) SELECT count(*) FROM t; INSERT INTO u(k) SELECT count(*) FROM o.w;"
                                          "SELECT id, k FROM o.w ORDER BY id"};
    const bool is_alone = sqlite3_get_autocommit(connection->databases[IN_MEMORY]);
    if (!connection->is_attached) return;
    if (is_alone) run_both(connection, &(statement){.sql = "BEGIN"});
    run_both(connection, &both);
    if (is_alone) run_both(connection, &(statement){.sql = "COMMIT"});
}

/* Has the database alone, or not any more. Others are closed meanwhile: where one reads, SQLite 3.40 keeps the lock in
 * files that keeps others from beginning, though the connection did not get the database. */
static void be_alone(connection *connection) {
    for (int i = 0; i < CONNECTIONS; i++)
        if (&connections[i] != connection) close_both(&connections[i]);
    if (!sqlite3_get_autocommit(connection->databases[IN_MEMORY])) run_both(connection, &(statement){.sql = "ROLLBACK"});
    if (chance(50)) run_both(connection, &(statement){.sql = "PRAGMA locking_mode = EXCLUSIVE; INSERT INTO u(k) VALUES(1)"});
    else run_both(connection, &(statement){.sql = "PRAGMA locking_mode = NORMAL; SELECT count(*) FROM u"});
    for (int i = 0; i < CONNECTIONS; i++)
        if (&connections[i] != connection) open_both(&connections[i], false);
}

static void compare_all(void) {
    connection last = {0};
    for (int i = 0; i < CONNECTIONS; i++) close_both(&connections[i]);
    open_both(&last, false);
    for (int place = 0; place < PLACES; place++) check_integrity(place, last.databases[place]);
    compare(contents_in(IN_MEMORY, last.databases[IN_MEMORY]), contents_in(IN_FILES, last.databases[IN_FILES]), "all rows");
    close_both(&last);
}

static void take(const step *step) {
    connection *connection = &connections[step->who];
    statement statement;
    seed_dice(step->seed);
    switch (choose(&statement)) {
    case STATEMENT: return run_both(connection, &statement);
    case CURSOR: return move_cursor(connection);
    case ATTACH: return attach_both(connection);
    case BOTH: return write_both(connection);
    case ALONE: return be_alone(connection);
    case REOPEN: close_both(connection); return open_both(connection, chance(15));
    }
}

static void run(const step *steps, int count) {
    begin_places();
    for (int place = 0; place < PLACES; place++) begin_place(place);
    for (int i = 0; i < CONNECTIONS; i++) open_both(&connections[i], false);
    for (int place = 0; place < PLACES; place++)
        run_in(place, connections[0].databases[place],
            count && steps[0].seed % 2 ? "PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL" : "PRAGMA page_size = 4096", NULL);
    run_both(&connections[0], &(statement){.sql = "CREATE TABLE t(id INTEGER PRIMARY KEY, k INTEGER, v BLOB);"
        "CREATE INDEX t_k ON t(k); CREATE TABLE u(id INTEGER PRIMARY KEY, k INTEGER)"});
    for (int i = 0; i < count; i++) {
        begin_step(i);
        take(&steps[i]);
    }
    compare_all();
    for (int place = 0; place < PLACES; place++) end_place(place);
    end_places();
}

static void show(const step *step) {
    static const char *const deeds[] = {"", "moves a statement on", "is opened again", "attaches or detaches", "writes to both",
        "has the database alone, or not any more"};
    statement statement;
    seed_dice(step->seed);
    const deed deed = choose(&statement);
    printf(", connection %d: %s%s\n", step->who, deed == STATEMENT ? statement.sql : deeds[deed],
        deed == REOPEN && chance(15) ? ", to read only" : "");
}

const kind paired = {"paired", 40, CONNECTIONS, run, show};
