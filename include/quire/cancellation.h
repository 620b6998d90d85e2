/**
 * Ending a fetch or a batch request that takes long, and watching it.
 *
 * A fetch runs on the thread that calls it. Another thread ends it through a cancellation that the request has; or the
 * fetch tells a progress function how far it is, and that ends it by giving false. Both hold for `quire_context_fetch`,
 * `quire_context_count` and `quire_results_fetch`, and for batch requests from beginning to end: a cancelled one has
 * changed nothing. What a list reads later, batch by batch, they do not touch.
 */
#ifndef QUIRE_CANCELLATION_H_
#define QUIRE_CANCELLATION_H_

#include "base.h"

QUIRE_BEGIN

/** Makes a cancellation. Owned by the caller. Cannot fail. */
quire_cancellation *quire_cancellation_create(void);

/** Adds a reference and returns `cancellation`. Takes NULL. Any thread. */
quire_cancellation *QUIRE_NULLABLE quire_cancellation_retain(const quire_cancellation *QUIRE_NULLABLE cancellation);

/** Gives a reference back. Takes NULL. Any thread. */
void quire_cancellation_release(quire_cancellation *QUIRE_NULLABLE cancellation);

/**
 * Ends every fetch and batch request that has this cancellation: the running ones within some milliseconds (a sort of
 * very many rows is not broken off in the middle, a match of a slow regular expression is, and a batch request takes back
 * what it has written), later ones before they begin. Each fails with QUIRE_CANCELLED and gives nothing; store
 * and context can be used as before.
 *
 * It cannot be taken back: make a new cancellation for what may run afterwards. Again, it does nothing. Any thread; not
 * for signal handlers.
 */
void quire_cancellation_cancel(quire_cancellation *cancellation);

/** Whether `quire_cancellation_cancel` was called. Any thread. */
bool quire_cancellation_is_cancelled(const quire_cancellation *cancellation);

/**
 * Sets what ends the fetches of `request`; NULL for nothing. The request keeps a reference. Any number of requests may
 * share a cancellation.
 */
quire_status quire_fetch_request_set_cancellation(
    quire_fetch_request *request, const quire_cancellation *QUIRE_NULLABLE cancellation,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Is told how far a fetch is. */
typedef struct quire_progress {
    /** sizeof(quire_progress) in your build. */
    uint32_t struct_size;
    /** How long a fetch runs before it is told the first time, and between two times; 0 for 10. Not exact. */
    uint32_t interval_milliseconds;
    /** Passed to the functions, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Once, when the library lets go of `user_data`: replaced, removed, or nothing that copied it is left. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * Called on the thread that fetches, which has read `row_count` rows so far; SQLite may look at many more than it
     * gives, and a batch request reads some rows more than once. A batch insertion tells the rows that it has written.
     * False cancels the fetch or batch request.
     *
     * The store is locked meanwhile, so be quick, and do not wait for a thread that uses the store. Calls into the
     * context, and into any other context of the store, are refused (QUIRE_INVALID_STATE). May not be NULL.
     */
    bool (*QUIRE_NULLABLE report)(void *QUIRE_NULLABLE user_data, uint64_t row_count);
} quire_progress;

/** Sets `struct_size`; all else zero. */
#define QUIRE_PROGRESS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_progress)), 0, NULL, NULL, NULL }

/**
 * Sets who is told of the progress of the request's fetches; it is copied. NULL for nobody. A request that is used by
 * several threads at once calls `report` on each of them.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no function, a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set that this
 * version does not know).
 */
quire_status quire_fetch_request_set_progress(
    quire_fetch_request *request, const quire_progress *QUIRE_NULLABLE progress,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
