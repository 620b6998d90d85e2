#ifndef QUIRE_MEMORY_CONTENT_H_
#define QUIRE_MEMORY_CONTENT_H_

/* What memory_content.c, memory_locks.c, memory_names.c and memory_files.c share. None of it is for Swift. */

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* As large as the largest page, so that no page lies in two blocks. */
enum { quire_block_size = 1 << 16 };
/* A shelf has twice as many places for blocks as the one before it. No shelf moves when another one is added. */
enum { quire_shelf_count = 24, quire_first_shelf = 16 };

struct memory_names;

/* What a file holds. It outlives its name while it is open. */
struct memory_content {
  /* Of how many names and open files it is the content, its neighbour there, and how its own name ends. These three
   * belong to memory_names.c. */
  int references;
  struct memory_content *next;
  char suffix[16];
  atomic_bool is_deleted;

  /* Covers everything that follows, but for what is atomic. */
  pthread_mutex_t mutex;

  /* Bytes. What lies below is in blocks that stay where they are; what lies above means nothing. */
  _Atomic int64_t size;
  /* The blocks that there are, from the first one on. Some may lie beyond the size, and wait for files to leave. */
  int64_t block_count;
  atomic_bool has_surplus;
  unsigned char **shelves[quire_shelf_count];
  struct memory_file *first_file;

  /* Locks of the database (memory_locks.c): how many files have one, and which one has more than a shared lock. */
  int shared_count;
  struct memory_file *writer;

  /* The index of the write-ahead log. A slot has the number of its shared locks, or -1. */
  unsigned char **regions;
  int region_count, region_size, index_users;
  int slots[SQLITE_SHM_NLOCK];
};

/* An open file: what SQLite sees. */
struct memory_file {
  sqlite3_file base;
  struct memory_content *content;
  /* NULL for a file without a name. */
  struct memory_names *names;
  struct memory_file *next;
  /* How many fetched pages, and calls that read and write, refer to blocks by this file. */
  atomic_int inside;
  bool is_read_only, keeps_log;
  /* No page beyond is fetched. */
  int64_t fetch_limit;
  /* SQLITE_LOCK_NONE and its like; the mutex covers changes. */
  int level;
  bool has_index;
  /* By slots. */
  unsigned shared, exclusive;
};

/* MARK: Content (memory_content.c) */

/* NULL without memory. */
struct memory_content *quire_content_create(const char *suffix);
void quire_content_free(struct memory_content *content);

/* Has the content know its files, because blocks that one of them looks at are not freed. */
void quire_content_attach(struct memory_file *file);
void quire_content_detach(struct memory_file *file);

int quire_content_read(sqlite3_file *base, void *out, int count, sqlite3_int64 offset);
int quire_content_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset);
int quire_content_truncate(sqlite3_file *base, sqlite3_int64 size);
int quire_content_size(sqlite3_file *base, sqlite3_int64 *out);
int quire_content_fetch(sqlite3_file *base, sqlite3_int64 offset, int count, void **out);
int quire_content_unfetch(sqlite3_file *base, sqlite3_int64 offset, void *page);

/* The bytes of the heap that it takes. */
int64_t quire_content_footprint(struct memory_content *content);

/* MARK: Locks (memory_locks.c) */

int quire_memory_lock(sqlite3_file *base, int level);
int quire_memory_unlock(sqlite3_file *base, int level);
int quire_memory_check_reserved(sqlite3_file *base, int *out);

int quire_index_map(sqlite3_file *base, int region, int size, int extends, void volatile **out);
int quire_index_lock(sqlite3_file *base, int first, int count, int flags);
void quire_index_barrier(sqlite3_file *base);
int quire_index_unmap(sqlite3_file *base, int is_deleted);

/* MARK: Names (memory_names.c) */

enum { quire_longest_memory_name = 480 };

/* Gives a file the content of a name, which is added where `flags` say so. */
int quire_names_open(struct memory_file *file, const char *name, int flags);
/* Takes the content from a file again, whether or not it has a name. */
void quire_names_close(struct memory_file *file);

int quire_names_delete(const char *name);
/* Whether there is such a file with something in it. */
bool quire_names_has(const char *name);

#endif
