/*
 * The system calls that are made for the files of a folder: counted, one of them made to fail or to be the last of its
 * process, and written down in the journal. The program defines the functions of the C library itself. With its symbols
 * exported, the loader finds them first, for the library and for SQLite.
 */
#ifndef QUIRE_CHECK_SYSTEM_CALLS_H_
#define QUIRE_CHECK_SYSTEM_CALLS_H_

#include <stdbool.h>

typedef enum fate {
    /* The calls are only counted. */
    FATE_NONE,
    /* The call fails, or reads or writes half; once, or this one and all after it. */
    FATE_FAILS,
    FATE_FAILS_ON,
    /* The process ends before the call; or when it has written half. */
    FATE_ENDS,
    FATE_ENDS_HALFWAY
} fate;

/* Which calls are counted. */
typedef enum call_kind {
    CALLS_ALL = 1,
    /* Those that change a file or a folder. */
    CALLS_THAT_CHANGE = 2,
    /* Those that may need space on the disk. */
    CALLS_THAT_FILL = 4,
    CALLS_THAT_WRITE = 8,
    CALLS_THAT_READ = 16,
    /* Those that a broken disk makes fail: all but locks, which are in memory. */
    CALLS_TO_DISK = 32
} call_kind;

typedef struct calamity {
    fate fate;
    /* The number of the call, from 0, among those of a kind. */
    int number;
    call_kind kind;
    /* What errno says; 0 for half of the bytes. FATE_FAILS_ON with half goes on with ENOSPC. */
    int reason;
    /* Only calls whose name begins so count (stat64 is one of stat), and only those for files whose path has this part; NULL for all. */
    const char *call, *part;
} calamity;

/* Once in a process, before it has child processes. */
bool make_system_calls(void);

/* Calls are those for `folder`, absolute and without links, and what is in it. */
void watch_folder(const char *folder);

/* From now on calls are counted, and one has its fate. */
void begin_calls(calamity calamity);

/* Calls are let through, and not counted, until `resume_calls`. */
void pause_calls(void);
void resume_calls(void);

/* Calls are let through again; how many were counted. */
int end_calls(void);

/* The first call that had its fate, and its file: "" for none. Shared with child processes. */
const char *fateful_call(void);
const char *fateful_file(void);

#endif
