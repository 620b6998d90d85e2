/*
 * Locks of files that end when they are given back, and not when some other descriptor of the file is closed.
 *
 * The locks of fcntl(2) that SQLite uses belong to a process and an inode. When the process closes any descriptor of
 * the file, all of them end. A second copy of SQLite in the process, as Python's sqlite3 is one where it brings its
 * own, closes descriptors that this copy does not know, and does not see its locks either (howtocorrupt.html of SQLite,
 * 2.2.1).
 *
 * - All locks of this copy on a file belong to the open file description of one of its descriptors, the holder, so that
 *   all connections of the copy have them together, as they do with those of fcntl(2). The kernel holds them against
 *   those of another copy in the same process, too.
 * - A descriptor is closed as the last one of its file, and while this copy has the file alone: then no lock of another
 *   copy ends. Otherwise it waits, and the next opening of the file takes it (closing.c).
 *
 * Where the system has no such locks, they are those of fcntl(2). So are those of a file that was open before, where
 * the program shares this copy of SQLite.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <sqlite3.h>
#include <stddef.h>

#include "locked_files.h"

const struct part quire_parts[part_count] = {
    {0x40000000, 1}, {0x40000001, 1}, {0x40000002, 510}, {120, 1}, {121, 1}, {122, 1},
    {123, 1},        {124, 1},        {125, 1},          {126, 1}, {127, 1}, {128, 1},
};
static const struct part pending = {0x40000000, 1}, all_of_database = {0x40000000, 512}, all_of_index = {120, 9};
static const struct part whole = {0, 0};

int quire_set_lock(int descriptor, int command, short type, struct part part, struct flock *out) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = part.start, .l_len = part.size};
  int result;
  do result = quire_call_fcntl(descriptor, command, &lock);
  while (result < 0 && errno == EINTR && command != F_OFD_SETLKW);
  if (result == 0 && out) *out = lock;
  return result;
}

/* What the holder has, by the parts that a lock covers. A length of 0 reaches to the end. */
static void note(struct file *file, const struct flock *lock) {
  int part;
  for (part = 0; part < part_count; part++) {
    off_t start = quire_parts[part].start, end = start + quire_parts[part].size;
    bool is_in = lock->l_start <= start && (lock->l_len == 0 || lock->l_start + lock->l_len >= end);
    if (is_in) file->held[part] = lock->l_type;
  }
}

/* Has another descriptor of the file hold its locks. They are locks for reading, which both may have for a moment. */
static int move_locks(struct file *file, int target, int access) {
  int holder = atomic_load(&file->holder), part;
  for (part = 0; part < part_count; part++) {
    if (file->held[part] == F_UNLCK || !quire_set_lock(target, F_OFD_SETLK, F_RDLCK, quire_parts[part], NULL)) continue;
    part = errno;
    quire_set_lock(target, F_OFD_SETLK, F_UNLCK, whole, NULL);
    errno = part;
    return -1;
  }
  quire_set_lock(holder, F_OFD_SETLK, F_UNLCK, whole, NULL);
  file->holder_access = access;
  atomic_store(&file->holder, target);
  return 0;
}

static int change_lock(int descriptor, int access, struct file *file, int command, struct flock *lock) {
  struct part part = {lock->l_start, lock->l_len};
  int holder = atomic_load(&file->holder), result;
  if (holder < 0) {
    file->holder_access = access;
    atomic_store(&file->holder, holder = descriptor);
  }
  if (lock->l_type == F_WRLCK && file->holder_access == O_RDONLY) {
    if (move_locks(file, descriptor, access)) return -1;
    holder = descriptor;
  }
  result = quire_set_lock(holder, command == F_SETLK ? F_OFD_SETLK : F_OFD_SETLKW, lock->l_type, part, NULL);
  if (result == 0) {
    file->is_proven = true;
    note(file, lock);
  }
  return result;
}

static void warn(void) {
  static atomic_flag was_said = ATOMIC_FLAG_INIT;
  if (atomic_flag_test_and_set(&was_said)) return;
  sqlite3_log(
      SQLITE_WARNING, "Quire: the system has no locks of open file descriptions (F_OFD_SETLK) for a file. "
                      "Another copy of SQLite in this process would end the locks that Quire has on it.");
}

/* After a refusal: whether it is that of a kernel or a file system without such locks. */
static bool turns_plain(struct file *file) {
  if (file->is_proven || (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP)) return false;
  atomic_store(&file->is_plain, true);
  warn();
  return true;
}

/* SQLite has one thread at a time do so for a file, so that no mutex is held while a slow file system answers. */
int quire_control(int descriptor, int access, struct file *file, int command, struct flock *lock) {
  int result, holder;
  if (!atomic_load(&file->is_plain)) {
    if (command == F_GETLK) {
      struct part part = {lock->l_start, lock->l_len};
      holder = atomic_load(&file->holder);
      result = quire_set_lock(holder < 0 ? descriptor : holder, F_OFD_GETLK, lock->l_type, part, lock);
    } else {
      result = change_lock(descriptor, access, file, command, lock);
    }
    if (result == 0 || !turns_plain(file)) return result;
  }
  return quire_call_fcntl(descriptor, command, lock);
}

void quire_give_up(struct file *file) {
  int holder = atomic_load(&file->holder), part;
  /* SQLite gives its lock of an index back by closing that. */
  if (holder >= 0) quire_set_lock(holder, F_OFD_SETLK, F_UNLCK, whole, NULL);
  for (part = 0; part < part_count; part++) file->held[part] = F_UNLCK;
  atomic_store(&file->holder, -1);
}

/* MARK: For closing */

bool quire_is_alone(struct file *file) {
  struct flock database, index;
  if (quire_set_lock(file->first_waiting, F_OFD_GETLK, F_WRLCK, all_of_database, &database) ||
      quire_set_lock(file->first_waiting, F_OFD_GETLK, F_WRLCK, all_of_index, &index))
    return turns_plain(file);
  return database.l_type == F_UNLCK && index.l_type == F_UNLCK;
}

bool quire_take_all(struct file *file, int descriptor) {
  if (quire_set_lock(descriptor, F_OFD_SETLK, F_WRLCK, all_of_database, NULL)) return turns_plain(file);
  if (!quire_set_lock(descriptor, F_OFD_SETLK, F_WRLCK, all_of_index, NULL)) return true;
  quire_set_lock(descriptor, F_OFD_SETLK, F_UNLCK, whole, NULL);
  return false;
}

bool quire_take_pending(int descriptor) {
  return quire_set_lock(descriptor, F_OFD_SETLK, F_WRLCK, pending, NULL) == 0;
}

void quire_give_back(int descriptor) {
  quire_set_lock(descriptor, F_OFD_SETLK, F_UNLCK, whole, NULL);
}
