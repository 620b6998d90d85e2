/**
 * @file
 * Ending a fetch or a batch request that takes long, and watching it.
 *
 * A fetch runs on the thread that calls it, except for `quire_results_fetch_async`. Another thread ends it through a
 * cancellation that the request has. Or the fetch calls a progress function, which ends the fetch by returning false. Both
 * work for `quire_context_fetch`, `quire_context_count` and `quire_results_fetch`, and for batch requests from beginning to
 * end. A cancellation works for `quire_results_fetch_async`, too: the merge that was to show the list fails. A cancelled batch
 * request has changed nothing. The later reads of a list, batch by batch, are not cancelled.
 */
#ifndef QUIRE_CANCELLATION_H_
#define QUIRE_CANCELLATION_H_

#include "base.h"

QUIRE_BEGIN

/** Makes a cancellation. Owned by the caller. Cannot fail. */
quire_cancellation *quire_cancellation_create(void);

/** Adds a reference and returns `cancellation`. Takes NULL. Any thread. */
quire_cancellation *QUIRE_NULLABLE quire_cancellation_retain(const quire_cancellation *QUIRE_NULLABLE cancellation);

/** Releases a reference. Takes NULL. Any thread. */
void quire_cancellation_release(quire_cancellation *QUIRE_NULLABLE cancellation);

/**
 * Ends every fetch and batch request that has this cancellation: running ones within some milliseconds, later ones
 * before they begin. Each fails with QUIRE_CANCELLED and returns nothing. Store and context can be used as before. A
 * sort of very many rows is not interrupted in the middle. A match of a slow regular expression is, and a batch request
 * takes back what it has written.
 *
 * It cannot be taken back: make a new cancellation for later requests. A second call does nothing. Any thread; not for
 * signal handlers.
 */
void quire_cancellation_cancel(quire_cancellation *cancellation);

/** Whether `quire_cancellation_cancel` was called. Any thread. */
bool quire_cancellation_is_cancelled(const quire_cancellation *cancellation);

/**
 * Sets the cancellation of the fetches of `request`; NULL for none. The request keeps a reference. Any number of
 * requests may share a cancellation.
 */
quire_status quire_fetch_request_set_cancellation(
    quire_fetch_request *request, const quire_cancellation *QUIRE_NULLABLE cancellation,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Reports how far a fetch is. */
typedef struct quire_progress {
    /** sizeof(quire_progress) in your build. */
    uint32_t struct_size;
    /** Milliseconds before the first report, and between two reports; 0 for 10. Not exact. */
    uint32_t interval_milliseconds;
    /** Passed to the functions, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, when the library releases `user_data`: replaced, removed, or with the last copy. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * Called on the thread that fetches, which has read `row_count` rows so far. SQLite may look at many more rows than
     * it returns, and a batch request reads some rows more than once. A batch insertion reports the rows that it has
     * written. False cancels the fetch or batch request.
     *
     * The store is locked meanwhile, so be quick, and do not wait for a thread that uses the store. Calls into the
     * context, and into any other context of the store, are refused (QUIRE_INVALID_STATE). May not be NULL.
     */
    bool (*QUIRE_NULLABLE report)(void *QUIRE_NULLABLE user_data, uint64_t row_count);
} quire_progress;

/** Sets `struct_size`; all else zero. */
#define QUIRE_PROGRESS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_progress)), 0, NULL, NULL, NULL }

/**
 * Sets the progress function of the request's fetches. The struct is copied. NULL for none. A request that several
 * threads use at once calls `report` on each of them.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no function, a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set that
 * this version does not know).
 */
quire_status quire_fetch_request_set_progress(
    quire_fetch_request *request, const quire_progress *QUIRE_NULLABLE progress,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
