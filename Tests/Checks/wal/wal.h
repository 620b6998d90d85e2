/* What the parts of the check `wal` share. */
#ifndef QUIRE_WAL_CHECK_H_
#define QUIRE_WAL_CHECK_H_

#include <quire.h>

enum { MEGABYTE = 1 << 20 };

/* Of the store of the run, in a folder of its own. */
extern char path[80], log_path[84];
extern _Thread_local quire_error *error;

_Noreturn void fail(const char *what, const char *file, int line);

#define CHECK(x) ((x) ? (void)0 : fail(#x, __FILE__, __LINE__))
#define OK(call) CHECK((call) == QUIRE_OK)

/* The size of the log, as SQLite has it. */
int64_t log_size(quire_store *store);

/* Runs of lists that scroll beside two writers; the number of runs that differ. Limits are at most so many bytes. */
int scroll(int runs, uint64_t most_limit, uint64_t seed);

#endif
