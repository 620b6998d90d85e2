/*
 * SQLite's system calls: counted, one of them made to fail or to be the last of its process, and what they wrote written
 * down, so that a power cut can be played. Quire uses the SQLite of the process, so that its calls are among them.
 */
#ifndef QUIRE_SYSTEM_CALLS_H_
#define QUIRE_SYSTEM_CALLS_H_

#include <stdbool.h>
#include <stddef.h>

typedef enum fate {
    /* The calls are only counted. */
    FATE_NONE,
    /* One call fails with a given errno. */
    FATE_FAILS,
    /* The process ends before one call. */
    FATE_ENDS,
    /* The process ends when one call has written half of its bytes; before the call when it writes none. */
    FATE_ENDS_HALFWAY
} fate;

/* Puts itself between SQLite and the system. Once in a process, before it opens a file. */
void watch_system_calls(void);

/* From now on calls are counted, and call `number`, from 0, has this fate. */
void begin_calls(fate fate, int number, int reason);

/* Calls are let through again; how many there were. */
int end_calls(void);

/* The name of the call that had its fate, "" for none. Shared with child processes. */
const char *fateful_call(void);

/* What is done to files in between, by this process and its children. */
void begin_journal(void);
void end_journal(void);

/* How many entries it has. */
int journal_length(void);

/*
 * Makes in `folder` what a power cut behind the first `length` entries leaves of the files of the journal: what was
 * synchronized, and by the dice some of the rest. False when the journal was too short for all that was done.
 */
bool cut_power(const char *folder, int length);

#endif
