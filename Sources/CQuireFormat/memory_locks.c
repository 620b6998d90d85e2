/*
 * Locks of files in memory: of the database, and of the index of its write-ahead log.
 *
 * They mean what those of SQLite's own VFS for files mean. Connections of one process are all that can have them, so
 * that counts under a mutex suffice. No call waits for a lock.
 */
#include <string.h>

#include "memory_content.h"

/* MARK: Locks of the database */

int quire_memory_lock(sqlite3_file *base, int level) {
  struct memory_file *file = (struct memory_file *)base;
  struct memory_content *content = file->content;
  struct memory_file *writer;
  int code = SQLITE_OK;
  if (file->level >= level) return SQLITE_OK;
  pthread_mutex_lock(&content->mutex);
  writer = content->writer == file ? NULL : content->writer;
  if (writer && (level > SQLITE_LOCK_SHARED || writer->level >= SQLITE_LOCK_PENDING)) {
    code = SQLITE_BUSY;
  } else if (level == SQLITE_LOCK_SHARED) {
    content->shared_count++;
    file->level = SQLITE_LOCK_SHARED;
  } else if (level == SQLITE_LOCK_EXCLUSIVE && content->shared_count > 1) {
    /* A transaction that is about to commit keeps others from beginning to read until the last reader has gone. The
     * closing of a log asks from a shared lock, and only tries. */
    if (content->writer) file->level = SQLITE_LOCK_PENDING;
    code = SQLITE_BUSY;
  } else {
    content->writer = file;
    file->level = level;
  }
  pthread_mutex_unlock(&content->mutex);
  return code;
}

int quire_memory_unlock(sqlite3_file *base, int level) {
  struct memory_file *file = (struct memory_file *)base;
  struct memory_content *content = file->content;
  if (file->level <= level) return SQLITE_OK;
  pthread_mutex_lock(&content->mutex);
  if (content->writer == file) content->writer = NULL;
  if (level == SQLITE_LOCK_NONE) content->shared_count--;
  file->level = level;
  pthread_mutex_unlock(&content->mutex);
  return SQLITE_OK;
}

int quire_memory_check_reserved(sqlite3_file *base, int *out) {
  struct memory_content *content = ((struct memory_file *)base)->content;
  pthread_mutex_lock(&content->mutex);
  *out = content->writer != NULL;
  pthread_mutex_unlock(&content->mutex);
  return SQLITE_OK;
}

/* MARK: The index of a log */

/* Adds a region of zeros. The caller has the mutex. */
static bool add_region(struct memory_content *content, int size) {
  unsigned char *added, **regions =
    sqlite3_realloc64(content->regions, sizeof(unsigned char *) * (content->region_count + 1));
  if (!regions) return false;
  content->regions = regions;
  added = sqlite3_malloc64(size);
  if (!added) return false;
  memset(added, 0, size);
  regions[content->region_count++] = added;
  content->region_size = size;
  return true;
}

int quire_index_map(sqlite3_file *base, int region, int size, int extends, void volatile **out) {
  struct memory_file *file = (struct memory_file *)base;
  struct memory_content *content = file->content;
  int code = SQLITE_OK;
  pthread_mutex_lock(&content->mutex);
  if (!file->has_index) content->index_users++;
  file->has_index = true;
  while (code == SQLITE_OK && extends && content->region_count <= region)
    if (!add_region(content, size)) code = SQLITE_IOERR_NOMEM;
  *out = content->region_count > region ? content->regions[region] : NULL;
  pthread_mutex_unlock(&content->mutex);
  return code;
}

static int take_slots(struct memory_file *file, int first, int count, unsigned mask, bool is_shared) {
  int *slots = file->content->slots, each;
  if (is_shared) {
    if (file->shared & mask) return SQLITE_OK;
    if (slots[first] < 0) return SQLITE_BUSY;
    slots[first]++;
    file->shared |= mask;
    return SQLITE_OK;
  }
  for (each = first; each < first + count; each++)
    if (slots[each] && !(file->exclusive & 1u << each)) return SQLITE_BUSY;
  for (each = first; each < first + count; each++) slots[each] = -1;
  file->exclusive |= mask;
  return SQLITE_OK;
}

static void give_back_slots(struct memory_file *file, unsigned mask) {
  int each;
  for (each = 0; each < SQLITE_SHM_NLOCK; each++) {
    unsigned bit = 1u << each & mask;
    if (file->exclusive & bit) file->content->slots[each] = 0;
    if (file->shared & bit) file->content->slots[each]--;
  }
  file->shared &= ~mask;
  file->exclusive &= ~mask;
}

int quire_index_lock(sqlite3_file *base, int first, int count, int flags) {
  struct memory_file *file = (struct memory_file *)base;
  unsigned mask = (1u << (first + count)) - (1u << first);
  int code = SQLITE_OK;
  pthread_mutex_lock(&file->content->mutex);
  if (flags & SQLITE_SHM_UNLOCK)
    give_back_slots(file, mask);
  else
    code = take_slots(file, first, count, mask, flags & SQLITE_SHM_SHARED);
  pthread_mutex_unlock(&file->content->mutex);
  return code;
}

#if defined(__SANITIZE_THREAD__)
#define KNOWS_NO_FENCES 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KNOWS_NO_FENCES 1
#endif
#endif

void quire_index_barrier(sqlite3_file *base) {
#ifndef KNOWS_NO_FENCES
  atomic_thread_fence(memory_order_seq_cst);
#endif
  /* As SQLite's own does. */
  pthread_mutex_lock(&((struct memory_file *)base)->content->mutex);
  pthread_mutex_unlock(&((struct memory_file *)base)->content->mutex);
}

int quire_index_unmap(sqlite3_file *base, int is_deleted) {
  struct memory_file *file = (struct memory_file *)base;
  struct memory_content *content = file->content;
  (void)is_deleted;
  if (!file->has_index) return SQLITE_OK;
  pthread_mutex_lock(&content->mutex);
  give_back_slots(file, ~0u);
  file->has_index = false;
  /* An index is made from its log when the first connection needs one. */
  if (--content->index_users == 0) {
    while (content->region_count > 0) sqlite3_free(content->regions[--content->region_count]);
    sqlite3_free(content->regions);
    content->regions = NULL;
  }
  pthread_mutex_unlock(&content->mutex);
  return SQLITE_OK;
}
