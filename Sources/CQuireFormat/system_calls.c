/*
 * The system calls of SQLite that are replaced: open, close and fcntl. And what of that concerns the whole process:
 * when they are replaced, and what a fork leaves to the parent. locks.c says why.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "include/locks.h"
#include "locked_files.h"

static sqlite3_syscall_ptr plain_open, plain_close, plain_fcntl;

/* How many files are open, or about to be, without being known yet. */
static atomic_int openings;

int quire_call_open(const char *path, int flags, int mode) {
  return plain_open ? ((int (*)(const char *, int, int))plain_open)(path, flags, mode) : open(path, flags, mode);
}

int quire_call_close(int descriptor) {
  return plain_close ? ((int (*)(int))plain_close)(descriptor) : close(descriptor);
}

int quire_call_fcntl(int descriptor, int command, void *argument) {
  return plain_fcntl ? ((int (*)(int, int, ...))plain_fcntl)(descriptor, command, argument)
                     : fcntl(descriptor, command, argument);
}

void quire_fill_standard_descriptors(void) {
  int each;
  for (each = 0; each <= 2; each++)
    if (fcntl(each, F_GETFD) < 0 && errno == EBADF) quire_call_open("/dev/null", each ? O_WRONLY : O_RDONLY, 0);
}

/* MARK: Opening */

/* Where the name is that of an index, the state of its database. */
static const struct stat *base_of(const char *path, struct stat *out) {
  static const char ending[] = "-shm";
  size_t size = strlen(path), kept = sizeof ending - 1;
  char base[4096];
  if (size <= kept || size - kept >= sizeof base || memcmp(path + size - kept, ending, kept)) return NULL;
  memcpy(base, path, size - kept);
  base[size - kept] = 0;
  return stat(base, out) ? NULL : out;
}

/* The descriptor that waits for the file at `path`; -1 when there is none that the caller might open. */
static int take_waiting(const char *path, int flags) {
  struct stat status;
  int access = flags & O_ACCMODE, found = -1, attempt;
  if (!atomic_load(&quire_waiting_count) || flags & O_TRUNC) return -1;
  if (flags & O_NOFOLLOW ? lstat(path, &status) : stat(path, &status)) return -1;
  for (attempt = 0; attempt < 2; attempt++) {
    struct file *file;
    quire_files_lock();
    file = quire_file_of(status.st_dev, status.st_ino);
    found = file ? quire_waiting_descriptor(file, access) : -1;
    if (found >= 0 && !quire_is_same_file(found, status.st_dev, status.st_ino)) {
      quire_forget(found);
      found = -1;
    }
    if (found >= 0 && attempt) quire_set_in_use(found);
    quire_files_unlock();
    /* What was opened earlier might not be opened today. */
    if (found < 0 || (!attempt && faccessat(AT_FDCWD, path, access == O_RDONLY ? R_OK : R_OK | W_OK, AT_EACCESS)))
      return -1;
  }
  return found;
}

static int adopt(int descriptor, const char *path, int flags, int forks) {
  struct stat status, base_status;
  const struct stat *base;
  bool is_known;
  if (descriptor <= 2 || fstat(descriptor, &status) || !S_ISREG(status.st_mode)) return descriptor;
  base = base_of(path, &base_status);
  quire_files_lock();
  is_known = quire_adopt(descriptor, flags & O_ACCMODE, &status, base, forks);
  if (is_known) quire_keep_spares();
  quire_files_unlock();
  if (is_known) return descriptor;
  /* It stays open, since to close it could end locks. */
  errno = ENOMEM;
  return -1;
}

static int open_file(const char *path, int flags, int mode) {
  int descriptor, reason, forks;
  /* Files with a name that only SQLite knows. */
  if (flags & O_EXCL) return quire_call_open(path, flags, mode);
  quire_fill_standard_descriptors();
  if ((descriptor = take_waiting(path, flags)) >= 0) return descriptor;
  atomic_fetch_add(&openings, 1);
  /* A fork that comes before the file is known gives it to the child. */
  forks = atomic_load(&quire_forks);
  descriptor = quire_call_open(path, flags, mode);
  if (descriptor < 0 && (errno == EMFILE || errno == ENFILE)) {
    quire_files_lock();
    quire_make_room();
    quire_files_unlock();
    descriptor = quire_call_open(path, flags, mode);
  }
  if (descriptor >= 0) descriptor = adopt(descriptor, path, flags, forks);
  reason = errno;
  atomic_fetch_sub(&openings, 1);
  errno = reason;
  return descriptor;
}

/* MARK: Closing and locking */

static int close_file(int descriptor) {
  int result;
  quire_files_lock();
  if (quire_known(descriptor)) {
    result = quire_finish(descriptor);
    quire_files_unlock();
    return result;
  }
  quire_forget_earlier(descriptor);
  quire_files_unlock();
  return quire_call_close(descriptor);
}

static int control_file(int descriptor, int command, ...) {
  struct descriptor *entry;
  struct flock *lock;
  va_list arguments;
  void *argument;
  va_start(arguments, command);
  argument = va_arg(arguments, void *);
  va_end(arguments);
  entry = quire_known(descriptor);
  if (!entry || (command != F_SETLK && command != F_SETLKW && command != F_GETLK))
    return quire_call_fcntl(descriptor, command, argument);
  lock = argument;
  if (entry->access == O_RDONLY && command != F_GETLK && lock->l_type == F_WRLCK) {
    /* As the system has it, so that SQLite knows that it only reads. */
    errno = EBADF;
    return -1;
  }
  return quire_control(descriptor, entry->access, entry->file, command, lock);
}

/* MARK: For files that are opened besides SQLite */

int quire_locks_open(const char *path, int flags) {
  int descriptor;
  quire_locks_install();
  if (!plain_open) return open(path, flags);
  descriptor = open_file(path, flags, 0);
  quire_files_lock();
  if (quire_known(descriptor)) quire_set_beside(descriptor);
  quire_files_unlock();
  return descriptor;
}

int quire_locks_close(int descriptor) { return plain_close ? close_file(descriptor) : close(descriptor); }

bool quire_locks_is_waiting(int descriptor) {
  struct descriptor *entry = quire_known(descriptor);
  return entry && atomic_load(&entry->state) == WAITING;
}

int quire_locks_ask(int descriptor, struct flock *lock) {
  return plain_fcntl ? control_file(descriptor, F_GETLK, lock) : fcntl(descriptor, F_GETLK, lock);
}

/* MARK: Beginning */

static void install(void) {
  sqlite3_mem_methods methods;
  /* SQLite refuses settings when it has begun: a program that shares this copy may have locks of fcntl(2) by then. */
  bool has_begun = sqlite3_config(SQLITE_CONFIG_GETMALLOC, &methods) != SQLITE_OK;
  sqlite3_vfs *system = sqlite3_vfs_find("unix");
  sqlite3_syscall_ptr open_call, close_call, fcntl_call;
  if (!system || system->iVersion < 3 || !system->xSetSystemCall) return;
  open_call = system->xGetSystemCall(system, "open");
  close_call = system->xGetSystemCall(system, "close");
  fcntl_call = system->xGetSystemCall(system, "fcntl");
  /* The child of a fork that came in the midst of this begins anew. */
  if (!open_call || !close_call || !fcntl_call || plain_open) return;
  quire_files_lock();
  if (has_begun) quire_note_earlier();
  plain_fcntl = fcntl_call;
  plain_close = close_call;
  plain_open = open_call;
  system->xSetSystemCall(system, "close", (sqlite3_syscall_ptr)close_file);
  system->xSetSystemCall(system, "fcntl", (sqlite3_syscall_ptr)control_file);
  system->xSetSystemCall(system, "open", (sqlite3_syscall_ptr)open_file);
  /* What was opened meanwhile. */
  if (has_begun) quire_note_earlier();
  quire_files_unlock();
}

void quire_locks_install(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, install);
}

/* MARK: Forks */

/* A file that is open and not known yet would keep its locks in the child. A fork waits for it, but not longer than a
 * tenth of a second: an opening may take long. No mutex is held from here to the end of the fork, since handlers of the
 * program may close files. */
static void begin_fork(void) {
  int tries;
  for (tries = 0; tries < 100 && atomic_load(&openings); tries++) usleep(1000);
  atomic_fetch_add(&quire_forks, 1);
}

/* What was opened in the meantime is the child's, too. */
static void end_fork(void) { atomic_fetch_add(&quire_forks, 1); }

static void end_fork_in_child(void) {
  atomic_store(&openings, 0);
  quire_leave_to_parent();
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(begin_fork, end_fork, end_fork_in_child); }
