/**
 * @file
 * Moments: names of commits, by which contexts are pinned and brought together.
 *
 * A context on a store reads one moment of it (see context.h). A pinned context stays there until a call moves it,
 * whatever others commit and however long the log becomes. A `quire_moment` names the commit that a context shows. Another
 * context of the store can be put at it.
 *
 * A `quire_moment` holds nothing by itself. It can be returned to while it is the newest commit, or while a context of the
 * store shows it. Keep a context pinned at a moment that is needed later. Contexts at one moment that is not the newest
 * may read by one connection to the file: their reads wait for each other, and for no others.
 *
 * The log cannot begin anew while a context shows an old moment, so it grows with each commit. `quire_store_wal_info`
 * tells how large it is (see store.h).
 */
#ifndef QUIRE_MOMENT_H_
#define QUIRE_MOMENT_H_

#include "context.h"

QUIRE_BEGIN

/**
 * The commit that `context` shows. A context that has read nothing yet begins to show the newest one. Owned:
 * `*out_moment`.
 *
 * Fails: QUIRE_UNSUPPORTED (a child, which has no moment of its own; a file without a write-ahead log), QUIRE_INVALID_STATE
 * (a transaction is open in the context; a merge handler is deciding; the context has lost its moment, see context.h),
 * QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_moment(
    quire_context *context, quire_moment *QUIRE_NULLABLE *QUIRE_NONNULL out_moment,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Has a context stay at one moment. It does not merge automatically meanwhile, and its moment is never given up for the
 * sake of the log. Its own saves, batch requests and transactions move it, and so do `quire_context_merge` and all else
 * that context.h names. It is then pinned at the moment that it has reached.
 *
 * With NULL it stays at what it shows. A context that has read nothing yet is pinned by its next read, at the newest
 * commit.
 *
 * With a moment, the context first goes to that. Objects and results controllers show what is there, and controllers
 * report the difference in one bracket. Pending changes stay on top, as in a merge. Text and data borrowed from objects
 * whose values change end with the call. An earlier moment is gone to as well. Objects that were inserted since are
 * deleted then, with what is pending in them, and return with the next merge. Everything is read anew for that, and again
 * by the merge. The same goes for a later moment when more than 64 commits have come since the context last moved.
 *
 * Fails: QUIRE_NOT_FOUND (others have committed since, and no context of the store shows the moment),
 * QUIRE_INVALID_ARGUMENT (a moment of another store, or of an earlier opening), QUIRE_UNSUPPORTED (a child; a file without
 * a write-ahead log), QUIRE_INVALID_STATE (a transaction is open in the context; a merge handler is deciding; without a
 * moment: the context has lost its own; with one: called from a delegate or a hook), QUIRE_CLOSED, QUIRE_DATABASE. The
 * context is where it was then, and no more pinned than before. QUIRE_FUNCTION (a hook or a delegate failed) comes when
 * the context is there and pinned.
 */
quire_status quire_context_pin(
    quire_context *context, const quire_moment *QUIRE_NULLABLE moment,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Ends the pin of a context. This advances nothing: a context that merges automatically advances with its next
 * `quire_context_process`. Without a pin it does nothing. Fails: QUIRE_CLOSED.
 */
quire_status quire_context_unpin(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the context is pinned. False for a child. */
bool quire_context_is_pinned(const quire_context *context);

/** Adds a reference and returns `moment`. Takes NULL. Any thread. */
quire_moment *QUIRE_NULLABLE quire_moment_retain(const quire_moment *QUIRE_NULLABLE moment);

/** Releases a reference. Takes NULL. Any thread. */
void quire_moment_release(quire_moment *QUIRE_NULLABLE moment);

/** Whether contexts find the same at both. Commits that change no objects in between do not count. Any thread. */
bool quire_moment_equal(const quire_moment *moment, const quire_moment *other);

QUIRE_END

#endif
