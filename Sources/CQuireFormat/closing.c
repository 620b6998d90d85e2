/*
 * When descriptors are closed. To close one ends all locks of fcntl(2) that this process has on the file, which are
 * those of another copy of SQLite. So it must be sure that there are none, and that none comes meanwhile:
 *
 * - All locks that there are could be taken. Then nothing else has any.
 * - When others have locks, the descriptor waits, and each closing of another file tries again with two of those that
 *   wait. Beyond a number of them, or when descriptors have run out, it must do that no copy in this process has a
 *   lock: the lock `pending` keeps all copies from beginning to read meanwhile, and what is open in this process shows
 *   its locks. To see them takes descriptors, of which some are kept for that.
 * - A file that this process may not write gives it no such lock. That no copy has a lock must then do by itself.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "locked_files.h"

enum { most_waiting = 64, tries_per_closing = 2 };

/* OVERLAYFS_SUPER_MAGIC, whose header is not everywhere. */
enum { overlay = 0x794c7630 };

/* MARK: Spare descriptors */

/* One for a folder of /proc, one for a file there, and one to open a file once more. They are ends of a pipe, since
 * nothing else has its inode: a program may close all that is open, and open its own files by these numbers. */
enum { spare_count = 3 };
static struct {
  int descriptors[spare_count];
  dev_t device;
  ino_t inode;
} spares;

static bool is_spare(int descriptor) {
  return descriptor > 2 && quire_is_same_file(descriptor, spares.device, spares.inode);
}

static void give_up_spares(void) {
  int each;
  for (each = 0; each < spare_count; each++) {
    if (is_spare(spares.descriptors[each])) quire_call_close(spares.descriptors[each]);
    spares.descriptors[each] = 0;
  }
}

void quire_keep_spares(void) {
  struct stat status;
  int ends[2], each = 0;
  while (each < spare_count && is_spare(spares.descriptors[each])) each++;
  if (each == spare_count) return;
  give_up_spares();
  if (pipe2(ends, O_CLOEXEC)) return;
  if (ends[0] <= 2 || ends[1] <= 2 || fstat(ends[0], &status)) {
    quire_call_close(ends[0]);
    quire_call_close(ends[1]);
    return;
  }
  spares.device = status.st_dev;
  spares.inode = status.st_ino;
  spares.descriptors[0] = ends[0];
  spares.descriptors[1] = ends[1];
  for (each = 2; each < spare_count; each++) spares.descriptors[each] = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
}

/* MARK: Locks of other copies */

/* Nothing of SQLite's is there. */
static const struct part probe = {0x40000400, 1};

/* Whether a descriptor shows a lock of a kind that was set by it. */
static bool shows_lock(const char *name, const char *kind) {
  char path[300], line[256];
  bool is_found = false;
  FILE *lines;
  snprintf(path, sizeof path, "/proc/thread-self/fdinfo/%s", name);
  lines = fopen(path, "re");
  if (!lines) return false;
  while (!is_found && fgets(line, sizeof line, lines)) is_found = !strncmp(line, "lock:", 5) && strstr(line, kind);
  fclose(lines);
  return is_found;
}

/* Whether a copy of SQLite in this process has locks of fcntl(2) on the file. True where that is not known: a lock that
 * is set here must be shown. */
static bool has_plain_locks(const struct file *file) {
  int own = file->first_waiting;
  bool is_probe_shown = false, is_found = false;
  DIR *folder = opendir("/proc/thread-self/fd");
  struct dirent *each;
  if (!folder) return true;
  quire_set_lock(own, F_OFD_SETLK, F_RDLCK, probe, NULL);
  while (!is_found && (each = readdir(folder))) {
    char *end;
    int descriptor = (int)strtol(each->d_name, &end, 10);
    if (*end || end == each->d_name || !quire_is_same_file(descriptor, file->device, file->inode)) continue;
    if (descriptor == own) is_probe_shown = shows_lock(each->d_name, " OFDLCK ");
    is_found = shows_lock(each->d_name, " POSIX ");
  }
  quire_set_lock(own, F_OFD_SETLK, F_UNLCK, probe, NULL);
  closedir(folder);
  return is_found || !is_probe_shown;
}

/* MARK: Letting go */

/* Closes what waits of a file, `last` as the last. */
static void close_waiting(struct file *file, int last) {
  int each;
  while ((each = file->first_waiting) >= 0) {
    struct stat status;
    bool is_there = quire_is_same_file(each, file->device, file->inode);
    bool is_unknown = !is_there && fstat(each, &status) && errno != EBADF;
    if (each == last && file->waiting > 1) {
      quire_set_in_use(last);
      close_waiting(file, -1);
      quire_set_waiting(last);
      continue;
    }
    quire_forget(each);
    /* Something else may have closed it, and opened another file. Where the system does not tell, it stays open. */
    if (is_there) quire_call_close(each);
    if (is_unknown) quire_give_back(each);
  }
}

/* Opens the file once more for writing, to wait with the others. -1 when this process may not. */
static int opened_again(struct file *file) {
  struct stat status;
  struct statfs system;
  char path[48];
  int opened, forks = atomic_load(&quire_forks);
  /* To open it for writing would copy it there. */
  if (fstatfs(file->first_waiting, &system) || system.f_type == overlay) return -1;
  quire_fill_standard_descriptors();
  snprintf(path, sizeof path, "/proc/thread-self/fd/%d", file->first_waiting);
  opened = quire_call_open(path, O_RDWR | O_CLOEXEC, 0);
  if (opened < 0 || fstat(opened, &status) || !quire_adopt(opened, O_RDWR, &status, NULL, forks)) return -1;
  quire_set_waiting(opened);
  return quire_known(opened)->file == file ? opened : -1;
}

/* A descriptor that waits and can have locks for writing. A child of this process has its description, too, where that
 * cannot be helped: locks would then last as long as the child. -1 when this process may not write the file. */
static int writable_descriptor(struct file *file) {
  int found = quire_waiting_descriptor(file, O_RDWR), opened;
  if (found >= 0 && !quire_is_inherited(found)) return found;
  opened = opened_again(file);
  return opened >= 0 ? opened : found;
}

/* A copy of SQLite that does not read a database does not use its index. */
static void close_indexes(const struct file *database) {
  struct file *file;
  int place;
  for (place = 0; (file = quire_file_at(place)); place++) {
    bool is_its = file->is_index && file->base_inode == database->inode && file->base_device == database->device;
    if (is_its && !file->in_use && file->waiting && !has_plain_locks(file)) close_waiting(file, -1);
  }
}

/* Closes what waits of a file that nothing here uses, where no lock of another copy ends with that. */
static void let_go(struct file *file, bool is_urgent) {
  int last;
  if (!atomic_load(&file->is_plain) && !quire_is_alone(file) &&
      (!is_urgent || file->is_index || has_plain_locks(file)))
    return;
  if (atomic_load(&file->is_plain)) {
    close_waiting(file, -1);
    return;
  }
  last = writable_descriptor(file);
  if (last >= 0 && quire_take_all(file, last)) {
    close_waiting(file, last);
    return;
  }
  if (last >= 0 && (!is_urgent || file->is_index || !quire_take_pending(last))) return;
  if (has_plain_locks(file)) {
    if (last >= 0) quire_give_back(last);
    return;
  }
  if (is_urgent) close_indexes(file);
  close_waiting(file, last);
}

static void try_again(void) {
  static int turn;
  int place, idle = 0, tries = 0;
  struct file *file;
  if (!atomic_load(&quire_waiting_count)) return;
  for (place = 0; (file = quire_file_at(place)); place++) idle += file->in_use ? 0 : file->waiting;
  for (; place > 0 && idle > 0 && tries < tries_per_closing; place--) {
    file = quire_file_at(++turn);
    if (!file) file = quire_file_at(turn = 0);
    if (file->in_use || !file->waiting) continue;
    let_go(file, idle > most_waiting);
    tries++;
  }
}

void quire_make_room(void) {
  struct file *file;
  int place;
  if (!atomic_load(&quire_waiting_count)) return;
  give_up_spares();
  for (place = 0; (file = quire_file_at(place)); place++)
    if (!file->in_use && file->waiting) let_go(file, false);
  for (place = 0; (file = quire_file_at(place)); place++)
    if (!file->in_use && file->waiting) let_go(file, true);
  quire_keep_spares();
}

int quire_finish(int descriptor) {
  struct file *file = quire_known(descriptor)->file;
  quire_set_waiting(descriptor);
  if (atomic_load(&file->is_plain)) {
    /* SQLite has looked after its own locks of fcntl(2). */
    close_waiting(file, -1);
  } else {
    if (file->in_use == file->beside) quire_give_up(file);
    if (!file->in_use) let_go(file, false);
  }
  try_again();
  return 0;
}
