#include "places.h"

#include "../../../Sources/CQuireFormat/include/memory_files.h"
#include "trial.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char folder[200];

const char *place_name(place place) { return place == IN_MEMORY ? "in memory" : "in files"; }

/* --- Memory. */

static sqlite3_mem_methods plain;
static atomic_long outstanding;
static _Atomic long countdown, more;
static atomic_int smallest;
static atomic_bool has_failed;

static bool is_short(int size) {
    if (atomic_load(&countdown) <= 0 || size < atomic_load(&smallest)) return false;
    if (atomic_fetch_sub(&countdown, 1) != 1) return false;
    atomic_store(&has_failed, true);
    if (atomic_fetch_sub(&more, 1) > 0) atomic_store(&countdown, 1);
    return true;
}

static void *allocate(int size) {
    void *memory = is_short(size) ? NULL : plain.xMalloc(size);
    if (memory) atomic_fetch_add(&outstanding, 1);
    return memory;
}

static void *reallocate(void *memory, int size) { return is_short(size) ? NULL : plain.xRealloc(memory, size); }

void (*before_free)(const void *memory, int size);

static void give_back(void *memory) {
    if (memory) atomic_fetch_sub(&outstanding, 1);
    if (memory && before_free) before_free(memory, plain.xSize(memory));
    plain.xFree(memory);
}

void set_shortage(shortage shortage) {
    atomic_store(&has_failed, false);
    atomic_store(&smallest, shortage.size);
    atomic_store(&more, shortage.more);
    atomic_store(&countdown, shortage.countdown);
}

bool end_shortage(void) {
    atomic_store(&countdown, 0);
    return atomic_load(&has_failed);
}

/* --- System calls. */

static _Thread_local bool is_in_memory;
static int (*plain_open)(const char *, int, int), (*plain_unlink)(const char *), (*plain_access)(const char *, int);

void enter_memory(bool is_now) { is_in_memory = is_now; }

static void refuse(const char *path) {
    if (is_in_memory && strcmp(path, "/dev/urandom") != 0) differ("a database in memory reaches for the file '%s'", path);
}

static int watched_open(const char *path, int flags, int mode) {
    refuse(path);
    return plain_open(path, flags, mode);
}

static int watched_unlink(const char *path) {
    refuse(path);
    return plain_unlink(path);
}

static int watched_access(const char *path, int mode) {
    refuse(path);
    return plain_access(path, mode);
}

static void watch_system_calls(void) {
    sqlite3_vfs *vfs = sqlite3_vfs_find("unix");
    plain_open = (int (*)(const char *, int, int))vfs->xGetSystemCall(vfs, "open");
    plain_unlink = (int (*)(const char *))vfs->xGetSystemCall(vfs, "unlink");
    plain_access = (int (*)(const char *, int))vfs->xGetSystemCall(vfs, "access");
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)watched_open);
    vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)watched_unlink);
    vfs->xSetSystemCall(vfs, "access", (sqlite3_syscall_ptr)watched_access);
}

/* --- Beginning and end. */

void begin_places(void) {
    sqlite3_mem_methods counting;
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK) differ("SQLite had begun before");
    counting = plain;
    counting.xMalloc = allocate;
    counting.xRealloc = reallocate;
    counting.xFree = give_back;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &counting);
    watch_system_calls();
    if (quire_memory_files_register() != SQLITE_OK) differ("the VFS is not registered");
}

void end_places(void) {
    sqlite3_shutdown();
    if (atomic_load(&outstanding)) differ("%ld allocations are left", atomic_load(&outstanding));
}

const char *name_in(place place, int which) {
    static char names[PLACES][NAMES][300];
    char *name = names[place][which];
    if (place == IN_MEMORY) return which ? "memory two" : "/memory-one";
    if (!name[0]) snprintf(name, sizeof names[0][0], "%s/%d.sqlite", folder, which);
    return name;
}

static void delete_files(int which) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char path[320];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", name_in(IN_FILES, which), endings[i]);
        unlink(path);
    }
}

void begin_place(place place) {
    for (int which = 0; which < NAMES; which++) {
        /* Names are made before threads ask for them. */
        const char *name = name_in(place, which);
        if (place == IN_FILES) {
            delete_files(which);
            /* What is held is there, and empty. */
            FILE *file = fopen(name, "w");
            if (!file || fclose(file)) differ("'%s' cannot be made", name);
        } else if (quire_memory_files_hold(name) != SQLITE_OK) differ("'%s' cannot be held", name);
    }
}

void end_place(place place) {
    for (int which = 0; which < NAMES; which++) {
        if (place == IN_FILES) {
            delete_files(which);
            continue;
        }
        quire_memory_files_release(name_in(place, which));
        if (quire_memory_files_size(name_in(place, which))) differ("what was released and closed is still there");
    }
}

sqlite3 *open_in(place place, int which, int flags) {
    sqlite3 *database = NULL;
    const char *vfs = place == IN_MEMORY ? quire_memory_files_vfs() : NULL;
    enter_memory(place == IN_MEMORY);
    const int code = sqlite3_open_v2(name_in(place, which), &database, flags | SQLITE_OPEN_EXRESCODE, vfs);
    enter_memory(false);
    if (code == SQLITE_OK) return database;
    sqlite3_close(database);
    return NULL;
}

void close_in(place place, sqlite3 *database) {
    enter_memory(place == IN_MEMORY);
    const int code = sqlite3_close(database);
    enter_memory(false);
    if (code != SQLITE_OK) differ("%s a connection is closed with %d", place_name(place), code);
}

/* --- Statements. */

static uint64_t add_bytes(uint64_t digest, const void *bytes, int count) {
    for (int i = 0; i < count; i++) digest = (digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return digest;
}

static uint64_t add_row(uint64_t digest, sqlite3_stmt *statement) {
    for (int column = 0; column < sqlite3_column_count(statement); column++) {
        const int type = sqlite3_column_type(statement, column);
        const void *bytes = sqlite3_column_blob(statement, column);
        digest = add_bytes(digest, &type, sizeof type);
        digest = add_bytes(digest, bytes, sqlite3_column_bytes(statement, column));
    }
    return digest;
}

outcome step_in(place place, sqlite3_stmt *statement, outcome before) {
    enter_memory(place == IN_MEMORY);
    before.code = sqlite3_step(statement);
    enter_memory(false);
    if (before.code == SQLITE_ROW) {
        before.rows++;
        before.digest = add_row(before.digest, statement);
    }
    return before;
}

/* Bytes that follow from a number, eight at a time. */
static void bind_bytes(sqlite3_stmt *statement, int place, argument argument) {
    static _Thread_local uint64_t words[LARGEST_BLOB / 8 + 1];
    uint64_t word = (uint64_t)argument.number * 0x9E3779B97F4A7C15u;
    for (int i = 0; i < argument.size / 8 + 1; i++) words[i] = word += word << 7 ^ word >> 9;
    sqlite3_bind_blob(statement, place, words, argument.size, SQLITE_STATIC);
}

static outcome run_statement(place place, sqlite3 *database, const char **rest, const argument *arguments) {
    outcome outcome = {SQLITE_OK, 0, 14695981039346656037u};
    sqlite3_stmt *statement = NULL;
    enter_memory(place == IN_MEMORY);
    outcome.code = sqlite3_prepare_v2(database, *rest, -1, &statement, rest);
    if (statement) {
        const int count = sqlite3_bind_parameter_count(statement);
        for (int i = 0; i < count && i < MOST_ARGUMENTS; i++)
            if (arguments[i].size) bind_bytes(statement, i + 1, arguments[i]);
            else sqlite3_bind_int64(statement, i + 1, arguments[i].number);
        do {
            outcome = step_in(place, statement, outcome);
        } while (outcome.code == SQLITE_ROW);
        enter_memory(place == IN_MEMORY);
        outcome.code = sqlite3_finalize(statement);
    }
    enter_memory(false);
    return outcome;
}

/* Statements one after the other, up to the first that fails. */
outcome run_in(place place, sqlite3 *database, const char *sql, const argument *arguments) {
    outcome all = {SQLITE_OK, 0, 0};
    while (all.code == SQLITE_OK && sql && *sql) {
        const outcome one = run_statement(place, database, &sql, arguments);
        all.code = one.code;
        all.rows += one.rows;
        all.digest = all.digest * 31 + one.digest;
    }
    return all;
}

outcome contents_in(place place, sqlite3 *database) {
    return run_in(place, database,
        "SELECT type, name, sql FROM sqlite_schema ORDER BY name; SELECT id, k, v FROM t ORDER BY id;"
        "SELECT k, count(*) FROM t GROUP BY k ORDER BY k; SELECT id, k FROM u ORDER BY id", NULL);
}

void check_integrity(place place, sqlite3 *database) {
    sqlite3_stmt *statement = NULL;
    enter_memory(place == IN_MEMORY);
    int code = sqlite3_prepare_v2(database, "PRAGMA integrity_check(1)", -1, &statement, NULL);
    if (code == SQLITE_OK) code = sqlite3_step(statement);
    const char *text = code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (!text || strcmp(text, "ok") != 0) differ("%s integrity_check gives %d, %s", place_name(place), code, text ? text : "nothing");
    sqlite3_finalize(statement);
    enter_memory(false);
}
