/*
 * What files in memory hold: blocks of the heap, which are read without a lock.
 *
 * A block stays where it is until it is freed, and it is freed only while no file looks at one. To look, a file first
 * counts itself in (`enter`) and then reads the size. To shorten, the size is written first and then the counts are
 * read. Both are in one order for all threads, so that either the file sees the new size, or it is seen. Blocks that
 * cannot be freed wait. When the content grows again it takes them; otherwise the last file to leave frees them.
 *
 * That two threads do not read and write the same bytes at a time is for the locks of SQLite to see to. There is one
 * exception: the header of a database is read before there is a lock. The mutex keeps that apart from writing it.
 */
#include <string.h>

#include "memory_content.h"

/* SQLite may read a few bytes beyond a page that is damaged. */
enum { slack = 256 };

/* MARK: Blocks */

/* The place of a block. */
static unsigned char **place(struct memory_content *content, int64_t block, int *shelf) {
  uint64_t turn = (uint64_t)block / quire_first_shelf + 1;
  *shelf = 63 - __builtin_clzll(turn);
  if (*shelf >= quire_shelf_count || !content->shelves[*shelf]) return NULL;
  return &content->shelves[*shelf][block - quire_first_shelf * (((int64_t)1 << *shelf) - 1)];
}

static unsigned char *byte_at(struct memory_content *content, int64_t offset) {
  int shelf;
  return *place(content, offset / quire_block_size, &shelf) + offset % quire_block_size;
}

static int64_t blocks_for(int64_t size) { return (size + quire_block_size - 1) / quire_block_size; }

/* How many of `count` bytes from `offset` on are in one block. */
static int64_t in_one_block(int64_t offset, int64_t count) {
  int64_t rest = quire_block_size - offset % quire_block_size;
  return count < rest ? count : rest;
}

/* Has blocks for as many bytes. What could not be completed is surplus. The caller has the mutex. */
static int reserve(struct memory_content *content, int64_t size) {
  while (content->block_count < blocks_for(size)) {
    int shelf;
    unsigned char *block, **found = place(content, content->block_count, &shelf);
    if (shelf >= quire_shelf_count) return SQLITE_FULL;
    if (!found) {
      size_t bytes = sizeof(unsigned char *) * quire_first_shelf << shelf;
      unsigned char **added = sqlite3_malloc64(bytes);
      if (!added) return SQLITE_IOERR_NOMEM;
      content->shelves[shelf] = added;
      found = place(content, content->block_count, &shelf);
    }
    block = sqlite3_malloc64(quire_block_size + slack);
    if (!block) return SQLITE_IOERR_NOMEM;
    memset(block + quire_block_size, 0, slack);
    *found = block;
    content->block_count++;
  }
  return SQLITE_OK;
}

/* Frees the blocks beyond the size, unless a file looks at one. The caller has the mutex. */
static void free_surplus(struct memory_content *content) {
  int64_t needed = blocks_for(atomic_load(&content->size));
  struct memory_file *file;
  int shelf;
  /* Written before the counts are read: a file that leaves in between sees it. */
  atomic_store(&content->has_surplus, content->block_count > needed);
  if (content->block_count <= needed) return;
  for (file = content->first_file; file; file = file->next)
    if (atomic_load(&file->inside)) return;
  while (content->block_count > needed) sqlite3_free(*place(content, --content->block_count, &shelf));
  atomic_store(&content->has_surplus, false);
}

/* MARK: Looking at blocks */

static void enter(struct memory_file *file) { atomic_fetch_add(&file->inside, 1); }

static void leave(struct memory_file *file) {
  struct memory_content *content = file->content;
  if (atomic_fetch_sub(&file->inside, 1) > 1 || !atomic_load(&content->has_surplus)) return;
  pthread_mutex_lock(&content->mutex);
  free_surplus(content);
  pthread_mutex_unlock(&content->mutex);
}

/* MARK: Beginning and end */

struct memory_content *quire_content_create(const char *suffix) {
  struct memory_content *content = sqlite3_malloc64(sizeof *content);
  if (!content) return NULL;
  memset(content, 0, sizeof *content);
  sqlite3_snprintf(sizeof content->suffix, content->suffix, "%s", suffix);
  content->references = 1;
  if (pthread_mutex_init(&content->mutex, NULL)) {
    sqlite3_free(content);
    return NULL;
  }
  return content;
}

void quire_content_free(struct memory_content *content) {
  int shelf;
  atomic_store(&content->size, 0);
  free_surplus(content);
  for (shelf = 0; shelf < quire_shelf_count; shelf++) sqlite3_free(content->shelves[shelf]);
  pthread_mutex_destroy(&content->mutex);
  sqlite3_free(content);
}

void quire_content_attach(struct memory_file *file) {
  struct memory_content *content = file->content;
  pthread_mutex_lock(&content->mutex);
  file->next = content->first_file;
  content->first_file = file;
  pthread_mutex_unlock(&content->mutex);
}

void quire_content_detach(struct memory_file *file) {
  struct memory_content *content = file->content;
  struct memory_file **link;
  pthread_mutex_lock(&content->mutex);
  for (link = &content->first_file; *link; link = &(*link)->next) {
    if (*link != file) continue;
    *link = file->next;
    break;
  }
  free_surplus(content);
  pthread_mutex_unlock(&content->mutex);
}

int64_t quire_content_footprint(struct memory_content *content) {
  int64_t result = sizeof *content;
  int shelf;
  pthread_mutex_lock(&content->mutex);
  result += content->block_count * (quire_block_size + slack);
  for (shelf = 0; shelf < quire_shelf_count; shelf++)
    if (content->shelves[shelf]) result += (int64_t)sizeof(unsigned char *) * quire_first_shelf << shelf;
  result += (int64_t)content->region_count * content->region_size;
  pthread_mutex_unlock(&content->mutex);
  return result;
}

/* MARK: Reading */

int quire_content_read(sqlite3_file *base, void *out, int count, sqlite3_int64 offset) {
  struct memory_file *file = (struct memory_file *)base;
  unsigned char *target = out;
  bool is_header = offset == 0 && file->level == SQLITE_LOCK_NONE;
  int64_t there, left, part;
  enter(file);
  if (is_header) pthread_mutex_lock(&file->content->mutex);
  there = atomic_load(&file->content->size) - offset;
  if (there > count) there = count;
  if (there < 0) there = 0;
  for (left = there; left > 0; left -= part, offset += part, target += part) {
    part = in_one_block(offset, left);
    memcpy(target, byte_at(file->content, offset), part);
  }
  if (is_header) pthread_mutex_unlock(&file->content->mutex);
  leave(file);
  if (there == count) return SQLITE_OK;
  memset(target, 0, count - there);
  return SQLITE_IOERR_SHORT_READ;
}

int quire_content_size(sqlite3_file *base, sqlite3_int64 *out) {
  *out = atomic_load(&((struct memory_file *)base)->content->size);
  return SQLITE_OK;
}

int quire_content_fetch(sqlite3_file *base, sqlite3_int64 offset, int count, void **out) {
  struct memory_file *file = (struct memory_file *)base;
  *out = NULL;
  if (offset + count > file->fetch_limit || in_one_block(offset, count) < count) return SQLITE_OK;
  enter(file);
  if (offset + count <= atomic_load(&file->content->size))
    *out = byte_at(file->content, offset);
  else
    leave(file);
  return SQLITE_OK;
}

int quire_content_unfetch(sqlite3_file *base, sqlite3_int64 offset, void *page) {
  (void)offset;
  /* Without a page it is about a mapping, of which there is none. */
  if (page) leave((struct memory_file *)base);
  return SQLITE_OK;
}

/* MARK: Writing */

static void copy_in(struct memory_content *content, const unsigned char *bytes, int64_t count, int64_t offset) {
  int64_t part;
  for (; count > 0; count -= part, offset += part, bytes += part) {
    part = in_one_block(offset, count);
    memcpy(byte_at(content, offset), bytes, part);
  }
}

/* Blocks are not empty when they are allocated, nor when the content takes them again. */
static void clear(struct memory_content *content, int64_t offset, int64_t end) {
  int64_t part;
  for (; offset < end; offset += part) {
    part = in_one_block(offset, end - offset);
    memset(byte_at(content, offset), 0, part);
  }
}

/* Makes the content longer, with `bytes` at its new end; nothing where it has become as long meanwhile. */
static int extend(struct memory_content *content, const void *bytes, int64_t count, int64_t offset, bool *is_done) {
  int64_t size, end = offset + count;
  int code = SQLITE_OK;
  pthread_mutex_lock(&content->mutex);
  size = atomic_load(&content->size);
  if (end > size) {
    code = reserve(content, end);
    if (code == SQLITE_OK) {
      clear(content, size, offset);
      copy_in(content, bytes, count, offset);
      atomic_store(&content->size, end);
    }
    free_surplus(content);
    *is_done = true;
  }
  pthread_mutex_unlock(&content->mutex);
  return code;
}

int quire_content_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
  struct memory_file *file = (struct memory_file *)base;
  bool is_done = false;
  int code = SQLITE_OK;
  if (file->is_read_only) return SQLITE_IOERR_WRITE;
  enter(file);
  if (offset + count > atomic_load(&file->content->size))
    code = extend(file->content, bytes, count, offset, &is_done);
  if (!is_done) {
    if (offset == 0) pthread_mutex_lock(&file->content->mutex);
    copy_in(file->content, bytes, count, offset);
    if (offset == 0) pthread_mutex_unlock(&file->content->mutex);
  }
  leave(file);
  return code;
}

int quire_content_truncate(sqlite3_file *base, sqlite3_int64 size) {
  struct memory_file *file = (struct memory_file *)base;
  struct memory_content *content = file->content;
  int64_t former;
  int code = SQLITE_OK;
  if (file->is_read_only) return SQLITE_IOERR_TRUNCATE;
  pthread_mutex_lock(&content->mutex);
  former = atomic_load(&content->size);
  if (size > former) {
    code = reserve(content, size);
    if (code == SQLITE_OK) clear(content, former, size);
  }
  if (code == SQLITE_OK) atomic_store(&content->size, size);
  free_surplus(content);
  pthread_mutex_unlock(&content->mutex);
  return code;
}
