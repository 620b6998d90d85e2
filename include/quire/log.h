/**
 * @file
 * The SQL that a store runs, with the time that each statement took: for finding out why something is slow.
 *
 * A log is a function of the program. It may be set when a store is opened (`quire_store_options.log`), and then
 * receives the statements of the opening too. Or it may be set any time later. Without a log nothing is measured.
 */
#ifndef QUIRE_LOG_H_
#define QUIRE_LOG_H_

#include "base.h"

QUIRE_BEGIN

/** One statement that has ended, whether it succeeded or failed. */
typedef struct quire_log_entry {
    /** sizeof(quire_log_entry) in the library. A field behind this size is not there. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** The statement; its values are `?1`, `?2` and so on unless the log includes values. */
    quire_string sql;
    /** How long it ran, the time between its rows included. SQLite measures in milliseconds or finer. */
    uint64_t nanoseconds;
    /** How many rows it returned; 0 for a statement that returns none. */
    uint64_t row_count;
} quire_log_entry;

/** Receives statements. */
typedef struct quire_log {
    /** sizeof(quire_log) in your build. */
    uint32_t struct_size;
    /** Whether `sql` has values in the places of its parameters. The log may then hold private text of users. */
    bool includes_values;
    /** Statements that ran for less are left out; 0 for none. */
    uint64_t least_nanoseconds;
    /** Passed to the functions, never touched. */
    void *QUIRE_NULLABLE user_data;
    /**
     * Called once, when the library releases `user_data`: replaced, removed, or released with the store. Not called
     * when `quire_store_set_log` or `quire_store_open` fails, although the latter may have called `statement`.
     */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * Called for each statement of each connection that the store has, on the thread that has run it. `entry` and its
     * text end with the call. Functions of the library that need a context or a store fail with QUIRE_INVALID_STATE
     * meanwhile. Those that return a value directly return zero, false or NULL.
     *
     * Allowed are `_retain` and `_release`, and the functions of a store that need no file: `quire_store_is_open`,
     * `quire_store_path`, `quire_store_uuid`, `quire_store_model`. The store is locked: the function must not wait for
     * a thread that uses it. May not be NULL.
     */
    void (*QUIRE_NULLABLE statement)(void *QUIRE_NULLABLE user_data, const quire_log_entry *entry);
} quire_log;

/** Sets `struct_size`; all else zero. */
#define QUIRE_LOG_INIT { QUIRE_CAST(uint32_t, sizeof(quire_log)), false, 0, NULL, NULL, NULL }

/**
 * Sends each statement of `store` to `log` from now on, in the place of the previous log. NULL ends logging. The struct
 * is copied. On failure `destroy` is not called.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no function `statement`, a `struct_size` that no version has), QUIRE_UNSUPPORTED
 * (fields set that this version does not know), QUIRE_INVALID_STATE (called from a log or a registered function),
 * QUIRE_CLOSED. Any thread.
 */
quire_status quire_store_set_log(
    quire_store *store, const quire_log *QUIRE_NULLABLE log, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
