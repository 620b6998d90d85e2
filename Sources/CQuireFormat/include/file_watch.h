#ifndef QUIRE_FILE_WATCH_H_
#define QUIRE_FILE_WATCH_H_

#include <stdbool.h>
#include <stdint.h>

/* A descriptor that polls readable when a file was written to, and what it takes to look whether that is a commit. */
typedef struct quire_file_watch {
  int descriptor; /* For poll(2): of `events` and `timer`. */
  int events;     /* Of inotify(7). */
  int timer;      /* For what is to be looked at again. */
  int locked;     /* The file with the lock of what writes. */
  int64_t lock;   /* Where that is. */
  int64_t lock_length;
  const volatile uint32_t *counter; /* SQLite's count of commits; NULL where it keeps none. */
} quire_file_watch;

/*
 * Watches the file with the log at `log`, whose index is at `index`; or the database at `file` where `log` is NULL. False
 * with errno, and nothing to close.
 */
bool quire_file_watch_open(quire_file_watch *watch, const char *file, const char *log, const char *index);

/*
 * Has what watches a database follow its log, once there is one. False with errno where there is none, and nothing has
 * changed.
 */
bool quire_file_watch_follow_log(quire_file_watch *watch, const char *log, const char *index);

/* In a forked process, which shares with its parent what polls readable, it is not `own`. */
void quire_file_watch_close(const quire_file_watch *watch, bool is_own);

/* Whether something has polled readable, and whether that was a write. Takes all of it. */
bool quire_file_watch_take(const quire_file_watch *watch, bool *was_written);

/* Whether a transaction that writes is under way, of any process. */
bool quire_file_watch_is_written(const quire_file_watch *watch);

/* Has it poll readable after so many milliseconds, with 0 never; and as soon as the file is written to, unless it rests. */
void quire_file_watch_pause(const quire_file_watch *watch, int milliseconds, bool rests);

/* What the counter says now. */
static inline uint32_t quire_file_watch_count(const volatile uint32_t *counter) {
  return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

/* A descriptor of epoll(7) that polls readable with `descriptor`, or -1. */
int quire_poll_make(int descriptor);

/* Has it poll readable with `descriptor`, too. False with errno. */
bool quire_poll_add(int poll, int descriptor);

/* Whether `poll` is such a descriptor, to which `descriptor` was added. */
bool quire_poll_has(int poll, int descriptor);

#endif
