/*
 * Which descriptors are SQLite's, and of which files.
 *
 * Descriptors are found by number, in pieces of memory that stay where they are: a lock is set without a mutex, and the
 * child of a fork finds them without one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "locked_files.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { piece_size = 1024, piece_count = 4096 };

static struct descriptor *_Atomic pieces[piece_count];
static struct file **files;
static int file_count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

atomic_int quire_waiting_count;

/* What was open before, where this copy of SQLite was in use by then, or the parent of this process used it. */
static struct earlier {
  dev_t device;
  ino_t inode;
  int descriptor;
} *earlier;
static int earlier_count;

void quire_files_lock(void) { pthread_mutex_lock(&mutex); }
void quire_files_unlock(void) { pthread_mutex_unlock(&mutex); }

/* MARK: Descriptors */

static struct descriptor *entry_of(int descriptor) {
  struct descriptor *piece;
  if (descriptor < 0 || descriptor >= piece_size * piece_count) return NULL;
  piece = atomic_load(&pieces[descriptor / piece_size]);
  return piece ? &piece[descriptor % piece_size] : NULL;
}

static struct descriptor *made_entry_of(int descriptor) {
  struct descriptor *piece;
  if (descriptor < 0 || descriptor >= piece_size * piece_count || entry_of(descriptor)) return entry_of(descriptor);
  piece = calloc(piece_size, sizeof *piece);
  if (!piece) return NULL;
  atomic_store(&pieces[descriptor / piece_size], piece);
  return &piece[descriptor % piece_size];
}

struct descriptor *quire_known(int descriptor) {
  struct descriptor *entry = entry_of(descriptor);
  return entry && atomic_load(&entry->state) != UNKNOWN ? entry : NULL;
}

/* MARK: Files */

static bool is_free(const struct file *file) { return file->in_use + file->waiting == 0; }

struct file *quire_file_of(dev_t device, ino_t inode) {
  int place;
  for (place = 0; place < file_count; place++) {
    struct file *file = files[place];
    if (file->inode == inode && file->device == device && !is_free(file)) return file;
  }
  return NULL;
}

struct file *quire_file_at(int place) { return place < file_count ? files[place] : NULL; }

bool quire_is_same_file(int descriptor, dev_t device, ino_t inode) {
  struct stat status;
  return !fstat(descriptor, &status) && status.st_ino == inode && status.st_dev == device;
}

static bool was_open(dev_t device, ino_t inode) {
  int each;
  for (each = 0; each < earlier_count; each++)
    if (earlier[each].inode == inode && earlier[each].device == device &&
        quire_is_same_file(earlier[each].descriptor, device, inode))
      return true;
  return false;
}

static struct file *free_place(void) {
  struct file **grown;
  int place;
  for (place = 0; place < file_count; place++)
    if (is_free(files[place])) return files[place];
  grown = realloc(files, (size_t)(file_count + 1) * sizeof *grown);
  if (!grown) return NULL;
  files = grown;
  files[file_count] = calloc(1, sizeof **files);
  return files[file_count] ? files[file_count++] : NULL;
}

static struct file *made_file_of(dev_t device, ino_t inode) {
  struct file *file = quire_file_of(device, inode);
  int part;
  if (file || !(file = free_place())) return file;
  file->device = device;
  file->inode = inode;
  file->is_index = file->is_proven = false;
  file->first_waiting = -1;
  atomic_store(&file->holder, -1);
  atomic_store(&file->is_plain, was_open(device, inode));
  for (part = 0; part < part_count; part++) file->held[part] = F_UNLCK;
  return file;
}

bool quire_adopt(int descriptor, int access, const struct stat *status, const struct stat *base, int forks) {
  struct descriptor *entry = made_entry_of(descriptor);
  struct file *file;
  if (!entry) return false;
  /* Something else has closed it. */
  if (atomic_load(&entry->state) == IN_USE) quire_set_waiting(descriptor);
  if (atomic_load(&entry->state) == WAITING) quire_forget(descriptor);
  quire_forget_earlier(descriptor);
  file = made_file_of(status->st_dev, status->st_ino);
  if (!file) return false;
  if (base) {
    file->is_index = true;
    file->base_device = base->st_dev;
    file->base_inode = base->st_ino;
  }
  file->in_use++;
  entry->access = access;
  entry->forks = forks;
  entry->device = status->st_dev;
  entry->inode = status->st_ino;
  entry->file = file;
  atomic_store(&entry->state, IN_USE);
  return true;
}

/* MARK: Waiting */

void quire_set_beside(int descriptor) {
  struct descriptor *entry = entry_of(descriptor);
  entry->is_beside = true;
  entry->file->beside++;
}

void quire_set_waiting(int descriptor) {
  struct descriptor *entry = entry_of(descriptor);
  struct file *file = entry->file;
  if (entry->is_beside) file->beside--;
  entry->is_beside = false;
  entry->next_waiting = file->first_waiting;
  file->first_waiting = descriptor;
  file->in_use--;
  file->waiting++;
  atomic_fetch_add(&quire_waiting_count, 1);
  atomic_store(&entry->state, WAITING);
}

static void stop_waiting(int descriptor) {
  struct file *file = entry_of(descriptor)->file;
  int *link = &file->first_waiting;
  while (*link != descriptor) link = &entry_of(*link)->next_waiting;
  *link = entry_of(descriptor)->next_waiting;
  file->waiting--;
  atomic_fetch_sub(&quire_waiting_count, 1);
}

void quire_set_in_use(int descriptor) {
  struct descriptor *entry = entry_of(descriptor);
  stop_waiting(descriptor);
  entry->file->in_use++;
  atomic_store(&entry->state, IN_USE);
}

void quire_forget(int descriptor) {
  struct descriptor *entry = entry_of(descriptor);
  stop_waiting(descriptor);
  if (atomic_load(&entry->file->holder) == descriptor) atomic_store(&entry->file->holder, -1);
  atomic_store(&entry->state, UNKNOWN);
}

int quire_waiting_descriptor(const struct file *file, int access) {
  int each = file->first_waiting;
  while (each >= 0 && entry_of(each)->access != access) each = entry_of(each)->next_waiting;
  return each;
}

/* MARK: What was open before */

static void add_earlier(dev_t device, ino_t inode, int descriptor) {
  struct earlier *grown = realloc(earlier, (size_t)(earlier_count + 1) * sizeof *grown);
  if (!grown) return;
  earlier = grown;
  earlier[earlier_count++] = (struct earlier){device, inode, descriptor};
}

void quire_note_earlier(void) {
  /* That of the process is empty when its first thread has ended. */
  DIR *folder = opendir("/proc/thread-self/fd");
  struct dirent *each;
  if (!folder) return;
  while ((each = readdir(folder))) {
    struct stat status;
    char *end;
    int descriptor = (int)strtol(each->d_name, &end, 10);
    if (*end || end == each->d_name || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) continue;
    if (!quire_known(descriptor)) add_earlier(status.st_dev, status.st_ino, descriptor);
  }
  closedir(folder);
}

void quire_forget_earlier(int descriptor) {
  int each;
  for (each = 0; each < earlier_count; each++)
    if (earlier[each].descriptor == descriptor) earlier[each--] = earlier[--earlier_count];
}

/* MARK: Forks */

atomic_int quire_forks;

bool quire_is_inherited(int descriptor) { return entry_of(descriptor)->forks != atomic_load(&quire_forks); }

int quire_next_known(int descriptor) {
  for (; descriptor < piece_size * piece_count; descriptor++) {
    if (!atomic_load(&pieces[descriptor / piece_size])) descriptor |= piece_size - 1;
    else if (quire_known(descriptor)) return descriptor;
  }
  return -1;
}

/* The memory stays: another thread of the parent may have been in the midst of a change. */
void quire_forget_all(void) {
  int each;
  earlier = NULL;
  earlier_count = 0;
  for (each = quire_next_known(0); each >= 0; each = quire_next_known(each + 1)) {
    struct descriptor *entry = entry_of(each);
    add_earlier(entry->device, entry->inode, each);
    atomic_store(&entry->state, UNKNOWN);
  }
  files = NULL;
  file_count = 0;
  atomic_store(&quire_waiting_count, 0);
  pthread_mutex_init(&mutex, NULL);
}
