#ifndef QUIRE_CSQLITE_SHIM_H
#define QUIRE_CSQLITE_SHIM_H

#include <sqlite3.h>

/* SQLITE_TRANSIENT is a number cast to a function pointer, which Swift cannot see. */

static inline int quire_sqlite_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 size) {
  return sqlite3_bind_text64(statement, index, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int quire_sqlite_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 size) {
  return sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_TRANSIENT);
}

static inline void quire_sqlite_result_text_copy(sqlite3_context *context, const char *text, sqlite3_uint64 size) {
  sqlite3_result_text64(context, text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void quire_sqlite_result_blob_copy(sqlite3_context *context, const void *bytes, sqlite3_uint64 size) {
  sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
}

/* Numbers that are computed, which Swift does not see either. */

static inline int quire_sqlite_readonly_rollback(void) { return SQLITE_READONLY_ROLLBACK; }
static inline int quire_sqlite_readonly_moved(void) { return SQLITE_READONLY_DBMOVED; }

/* sqlite3_db_config takes variable arguments, which Swift cannot pass. */

static inline int quire_sqlite_set_checkpoint_on_close(sqlite3 *database, int is_on) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !is_on, (int *)0);
}

static inline int quire_sqlite_set_trusted_schema(sqlite3 *database, int is_on) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, is_on, (int *)0);
}

/* The lock of a database file that no other connection, of any process, has it open beside. SQLite asks for it itself
 * when it closes a log. The connection has read the file; give the lock back with `quire_sqlite_share_file` in any case. */

static inline int quire_sqlite_lock_file(sqlite3 *database) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code == SQLITE_OK && (!file || !file->pMethods)) code = SQLITE_MISUSE;
  return code == SQLITE_OK ? file->pMethods->xLock(file, SQLITE_LOCK_EXCLUSIVE) : code;
}

static inline void quire_sqlite_share_file(sqlite3 *database) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (file && file->pMethods) file->pMethods->xUnlock(file, SQLITE_LOCK_SHARED);
}

/* While a store is opened: a lock of a database file that is not at its path any more is refused, before SQLite looks for a
 * log and a journal by that path. They would belong to another file. The first lock is the one that a deletion waits for,
 * so that a file that was at its path under this lock stays there until the lock ends. */

typedef struct quire_sqlite_guard {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *original;
} quire_sqlite_guard;

static inline int quire_sqlite_guarded_lock(sqlite3_file *file, int level) {
  const sqlite3_io_methods *original = ((const quire_sqlite_guard *)file->pMethods)->original;
  int has_moved = 0;
  int code = original->xLock(file, level);
  if (code != SQLITE_OK || level != SQLITE_LOCK_SHARED) return code;
  if (original->xFileControl(file, SQLITE_FCNTL_HAS_MOVED, &has_moved) != SQLITE_OK || !has_moved) return code;
  original->xUnlock(file, SQLITE_LOCK_NONE);
  return SQLITE_READONLY_DBMOVED;
}

/* `guard` stays where it is until `quire_sqlite_stop_guarding`. */
static inline int quire_sqlite_guard_file(sqlite3 *database, quire_sqlite_guard *guard) {
  sqlite3_file *file = 0;
  int code = sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code == SQLITE_OK && (!file || !file->pMethods)) code = SQLITE_MISUSE;
  if (code != SQLITE_OK) return code;
  guard->original = file->pMethods;
  guard->methods = *file->pMethods;
  /* A later SQLite may have more methods than these. */
  if (guard->methods.iVersion > 3) guard->methods.iVersion = 3;
  guard->methods.xLock = quire_sqlite_guarded_lock;
  file->pMethods = &guard->methods;
  return SQLITE_OK;
}

static inline void quire_sqlite_stop_guarding(sqlite3 *database, quire_sqlite_guard *guard) {
  sqlite3_file *file = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return;
  if (file && file->pMethods == &guard->methods) file->pMethods = guard->original;
}

/* Where SQLite counts the commits of a file with a write-ahead log: in the index of the log, which all programs share
 * (https://sqlite.org/walformat.html, section 2.1). NULL where the connection has no such index. It has read the file, with
 * its log, before. The address is good for as long as the connection is open. */

static inline const unsigned *quire_sqlite_commit_counter(sqlite3 *database) {
  sqlite3_file *file = 0;
  void volatile *index = 0;
  if (sqlite3_file_control(database, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &index) != SQLITE_OK || !index) return 0;
  return (const unsigned *)index + 2;
}

static inline unsigned quire_sqlite_read_counter(const unsigned *counter) {
  return __atomic_load_n(counter, __ATOMIC_SEQ_CST);
}

/* How many pages the log has, and how many of them are in the file, by the same index (sections 2.1 and 2.2 there). */

static inline unsigned quire_sqlite_log_page_count(const unsigned *counter) {
  return __atomic_load_n(counter + 2, __ATOMIC_SEQ_CST);
}

static inline unsigned quire_sqlite_folded_page_count(const unsigned *counter) {
  return __atomic_load_n(counter + 22, __ATOMIC_SEQ_CST);
}

#endif
