#include "statements.h"

#include "dice.h"

#include <stdarg.h>
#include <stdio.h>

const char schema[] =
    "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, k INTEGER, v BLOB);"
    "CREATE INDEX IF NOT EXISTS t_k ON t(k);"
    "CREATE TABLE IF NOT EXISTS u(id INTEGER PRIMARY KEY, k INTEGER)";

static statement make(const char *format, ...) __attribute__((format(printf, 1, 2)));
static statement make(const char *format, ...) {
    statement made = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(made.sql, sizeof made.sql, format, arguments);
    va_end(arguments);
    return made;
}

static argument number(int value) { return (argument){value, 0}; }

static argument blob(void) {
    const int sizes[] = {8, 40, 400, 4000, 40000, LARGEST_BLOB};
    return (argument){random_below(1000000), 8 + random_below(sizes[chance(70) ? random_below(3) : random_below(6)])};
}

statement reading_statement(void) {
    statement made;
    switch (random_below(7)) {
    case 0: return make("SELECT id, k, v FROM t ORDER BY id");
    case 1: return make("SELECT count(*), sum(k), sum(length(v)) FROM t");
    case 2:
        made = make("SELECT id, k, v FROM t WHERE k >= ? ORDER BY k, id LIMIT 50");
        made.arguments[0] = number(random_below(1000));
        return made;
    /* More to sort than the cache holds. */
    case 3: return make("SELECT v, id FROM t ORDER BY length(v), v, id");
    case 4: return make("SELECT u.id, t.v FROM u JOIN t ON t.k = u.k ORDER BY u.id, t.id LIMIT 100");
    case 5: return make("PRAGMA page_count; PRAGMA freelist_count; PRAGMA data_version");
    default: return make("PRAGMA integrity_check(3)");
    }
}

statement writing_statement(void) {
    statement made;
    switch (random_below(10)) {
    case 0:
    case 1:
        made = make("INSERT INTO t(k, v) VALUES(?, ?)");
        made.arguments[0] = number(random_below(1000));
        made.arguments[1] = blob();
        return made;
    case 2:
    case 3:
        made = make(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?1)"
            " INSERT INTO t(k, v) SELECT (n * 7919 + ?2) %% 1000, zeroblob((n * 31 + ?2) %% 700) FROM c");
        made.arguments[0] = number(chance(20) ? 3000 : 60);
        made.arguments[1] = number(random_below(1000));
        return made;
    case 4:
        made = make("UPDATE t SET v = ?2 WHERE id %% 11 = ?1");
        made.arguments[0] = number(random_below(11));
        made.arguments[1] = (argument){random_below(1000), 8 + random_below(3000)};
        return made;
    case 5:
        made = make("UPDATE t SET k = (k + ?) %% 1000 WHERE id %% 5 = ?");
        made.arguments[0] = number(random_below(1000));
        made.arguments[1] = number(random_below(5));
        return made;
    case 6:
        made = make("DELETE FROM t WHERE id %% 4 = ?");
        made.arguments[0] = number(random_below(4));
        return made;
    case 7: return chance(30) ? make("DELETE FROM t") : make("DELETE FROM t WHERE length(v) > 20000");
    case 8:
        made = make("INSERT INTO u(k) VALUES(?)");
        made.arguments[0] = number(random_below(1000));
        return made;
    default:
        /* Fails when it has inserted some: what it has done is undone by its own journal. */
        made = make(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200)"
            " INSERT INTO t(id, k, v) SELECT CASE n WHEN 199 THEN ?1 ELSE NULL END, n, zeroblob(900) FROM c"
            " UNION ALL SELECT ?1, 0, NULL");
        made.arguments[0] = number(1000000 + random_below(3));
        return made;
    }
}

statement transaction_statement(void) {
    static const char *const all[] = {"BEGIN", "BEGIN", "BEGIN IMMEDIATE", "BEGIN IMMEDIATE", "BEGIN EXCLUSIVE", "COMMIT",
        "COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"};
    return make("%s", RANDOM_OF(all));
}

statement tending_statement(void) {
    static const char *const modes[] = {"PASSIVE", "FULL", "RESTART", "TRUNCATE"};
    switch (random_below(8)) {
    case 0: return make("VACUUM");
    case 1: return make("PRAGMA incremental_vacuum(%d)", random_below(100));
    case 2: return make("PRAGMA page_size = %d; VACUUM", 512 << random_below(8));
    case 3: return make("PRAGMA auto_vacuum = %d; VACUUM", random_below(3));
    default: return make("PRAGMA wal_checkpoint(%s)", RANDOM_OF(modes));
    }
}

statement setting_statement(void) {
    static const char *const journals[] = {"DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL", "WAL", "WAL", "WAL"};
    static const int mapped[] = {0, 0, 70000, 1000000, 1000000000, 1000000000}, caches[] = {1, 10, 100, 2000};
    statement made;
    switch (random_below(11)) {
    case 0:
    case 1: {
        const char *journal = RANDOM_OF(journals);
        /* Without a journal a transaction cannot be undone. */
        return make("PRAGMA journal_mode = %s", journal[0] == 'O' ? "WAL" : journal);
    }
    case 2:
    case 3:
        made = make("PRAGMA mmap_size = %d", RANDOM_OF(mapped));
        /* A mapping that is in use keeps its size, in files. */
        made.is_about_place = true;
        return made;
    case 4:
    case 5: return make("PRAGMA cache_size = %d", RANDOM_OF(caches));
    case 6: return make("PRAGMA wal_autocheckpoint = %d", chance(50) ? 0 : 1 + random_below(200));
    case 7: return make("PRAGMA journal_size_limit = %d", chance(50) ? -1 : random_below(100000));
    case 8: return make("PRAGMA synchronous = %d", random_below(3));
    case 9: return make("PRAGMA secure_delete = %d", random_below(2));
    default: return make("PRAGMA max_page_count = %d", chance(70) ? 1000000 : 30 + random_below(2000));
    }
}
