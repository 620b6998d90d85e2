/*
 * Noticing what other programs write to a file, without a thread.
 *
 * inotify(7) tells of each write. A commit comes into sight a little after the last of its writes: SQLite first has the
 * system write it to the disk. So what was written while some program has the lock of what writes is looked at again after
 * a moment. The lock is given back after the commit came into sight. The events are taken first, then the lock is asked for,
 * and then the count is read: whatever comes after that makes another event.
 */
#define _GNU_SOURCE
#include "file_watch.h"

#include "locks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Of SQLite's file format: the byte of the log's index that is locked by what writes, and those of a database. */
enum { INDEX_WRITE_LOCK = 120, PENDING_LOCK = 0x40000000, RESERVED_LOCK_END = 0x40000002 };
/* Where the index has the count, as quire_sqlite_commit_counter says. */
enum { COUNTER_OFFSET = 8, MAPPED_SIZE = 136 };

int quire_poll_make(int descriptor) {
  int poll = epoll_create1(EPOLL_CLOEXEC);
  if (poll >= 0 && !quire_poll_add(poll, descriptor)) {
    int reason = errno;
    close(poll);
    errno = reason;
    return -1;
  }
  return poll;
}

bool quire_poll_add(int poll, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
  return epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 || errno == EEXIST;
}

bool quire_poll_has(int poll, int descriptor) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = descriptor}};
  return epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0;
}

static bool find_counter(quire_file_watch *watch) {
  struct stat status;
  void *mapping;
  if (fstat(watch->locked, &status) != 0) return false;
  if (status.st_size < MAPPED_SIZE) {
    errno = ENODATA;
    return false;
  }
  mapping = mmap(NULL, MAPPED_SIZE, PROT_READ, MAP_SHARED, watch->locked, 0);
  if (mapping == MAP_FAILED) return false;
  watch->counter = (const volatile uint32_t *)((const char *)mapping + COUNTER_OFFSET);
  return true;
}

bool quire_file_watch_open(quire_file_watch *watch, const char *file, const char *log, const char *index) {
  const quire_file_watch none = {-1, -1, -1, -1, PENDING_LOCK, RESERVED_LOCK_END - PENDING_LOCK, NULL};
  bool is_open;
  *watch = none;
  if (log) {
    watch->lock = INDEX_WRITE_LOCK;
    watch->lock_length = 1;
  }
  is_open = (watch->locked = quire_locks_open(log ? index : file, O_RDONLY | O_CLOEXEC)) >= 0 &&
            (watch->events = inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) >= 0 &&
            (watch->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) >= 0 &&
            inotify_add_watch(watch->events, log ? log : file, IN_MODIFY) >= 0 &&
            (watch->descriptor = quire_poll_make(watch->events)) >= 0 && quire_poll_add(watch->descriptor, watch->timer) &&
            (!log || find_counter(watch));
  if (!is_open) {
    int reason = errno;
    quire_file_watch_close(watch, true);
    errno = reason;
  }
  return is_open;
}

bool quire_file_watch_follow_log(quire_file_watch *watch, const char *log, const char *index) {
  int locked = quire_locks_open(index, O_RDONLY | O_CLOEXEC);
  if (locked < 0) return false;
  if (inotify_add_watch(watch->events, log, IN_MODIFY) < 0) {
    int reason = errno;
    quire_locks_close(locked);
    errno = reason;
    return false;
  }
  quire_locks_close(watch->locked);
  watch->locked = locked;
  watch->lock = INDEX_WRITE_LOCK;
  watch->lock_length = 1;
  return true;
}

void quire_file_watch_close(const quire_file_watch *watch, bool is_own) {
  /* A forked process has copies, which would keep it polling readable. */
  if (is_own && watch->descriptor >= 0) {
    epoll_ctl(watch->descriptor, EPOLL_CTL_DEL, watch->events, NULL);
    epoll_ctl(watch->descriptor, EPOLL_CTL_DEL, watch->timer, NULL);
  }
  if (watch->counter) munmap((char *)watch->counter - COUNTER_OFFSET, MAPPED_SIZE);
  if (watch->descriptor >= 0) close(watch->descriptor);
  if (watch->timer >= 0) close(watch->timer);
  if (watch->events >= 0) close(watch->events);
  if (watch->locked >= 0) quire_locks_close(watch->locked);
}

bool quire_file_watch_take(const quire_file_watch *watch, bool *was_written) {
  _Alignas(struct inotify_event) char events[4096];
  uint64_t times;
  *was_written = false;
  while (read(watch->events, events, sizeof events) > 0) *was_written = true;
  return read(watch->timer, &times, sizeof times) > 0 || *was_written;
}

bool quire_file_watch_is_written(const quire_file_watch *watch) {
  /* A lock for reading is hindered by those for writing alone. */
  struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = watch->lock, .l_len = watch->lock_length};
  return fcntl(watch->locked, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void quire_file_watch_pause(const quire_file_watch *watch, int milliseconds, bool rests) {
  struct itimerspec time = {.it_value = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000L}};
  struct epoll_event event = {.events = rests ? 0 : EPOLLIN, .data = {.fd = watch->events}};
  timerfd_settime(watch->timer, 0, &time, NULL);
  epoll_ctl(watch->descriptor, EPOLL_CTL_MOD, watch->events, &event);
}
