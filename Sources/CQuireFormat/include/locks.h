#ifndef QUIRE_LOCKS_H_
#define QUIRE_LOCKS_H_

#include <stdbool.h>

struct flock;

/* Has SQLite take and give back the locks of files that are opened from now on as locks.c says. Any number of times. */
void quire_locks_install(void);

/* As open(2) without O_CREAT, for a file that may be a database, or the index of a log. */
int quire_locks_open(const char *path, int flags);

/* As fcntl(2) with F_GETLK. Locks of this copy of SQLite are no hindrance to it. */
int quire_locks_ask(int descriptor, struct flock *lock);

/* As close(2), of what quire_locks_open has opened. */
int quire_locks_close(int descriptor);

/* Whether the descriptor is one that nothing uses any more, and that stays open only for the locks of others. */
bool quire_locks_is_waiting(int descriptor);

#endif
