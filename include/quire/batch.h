/**
 * Batch requests: insert, update and delete in the store itself, by a few statements of SQL and without an object for
 * each row.
 *
 * A request is carried out at once, in one transaction: on failure nothing was changed. It sees what is saved; pending
 * changes of the context take no part in it and stay pending. The file holds afterwards what changing the same objects
 * one by one and saving them would have left.
 *
 * The context that runs a request takes the change over, and its results controllers report it like any other: objects
 * show the new values, deleted ones are gone, and what is pending in an object stays on top of its new values and can be
 * saved. Text and data borrowed from objects whose values changed end with the call. Other contexts of the store take it
 * over when they merge (`quire_context_merge`); until then their save of an object that the request changed fails with
 * QUIRE_CONFLICT, or is settled by their merge policy.
 *
 * A request is cancelled as a fetch is (`cancellation.h`), through the fetch request or, of an insertion, through its
 * options. Whether it is looking for its rows or writing, it fails with QUIRE_CANCELLED and nothing was changed. Only what
 * comes after the last row can no longer be cancelled: the end of the transaction, and what tells context and results
 * controllers of the change.
 *
 * `out_count` and `out_list` may be NULL in every call, so that a request gives its status, a number, or ids. `*out_list`
 * is owned.
 */
#ifndef QUIRE_BATCH_H_
#define QUIRE_BATCH_H_

#include "base.h"
#include "cancellation.h"
#include "value.h"

QUIRE_BEGIN

/** How a batch request is carried out. Zero means the default for every field. */
typedef struct quire_batch_options {
    /** sizeof(quire_batch_options) in your build. */
    uint32_t struct_size;
    /**
     * Leave the context as it is: its objects and results controllers show what they showed, and know of the change as
     * little as of that of another process. For a context that is about to be released.
     */
    bool skips_merge;
    /**
     * Insertion only: a row whose values are those of a saved object in a uniqueness constraint of the entity (or one
     * that it inherits) updates that object, which keeps its id. It gets the values of the columns; what has no column
     * stays. Of two such rows in one request the second updates what the first inserted. nil is like no other value.
     * The ids are of what was inserted or updated, row by row.
     */
    bool upserts;
    /** Insertion only: ends it, from any thread. NULL for nothing. Updates and deletions have that of their request. */
    const quire_cancellation *QUIRE_NULLABLE cancellation;
    /**
     * Insertion only: is told how many rows were written so far, and may end it. NULL for nobody. It is copied, and
     * let go of (`destroy`) before the call returns. Updates and deletions have that of their request.
     */
    const quire_progress *QUIRE_NULLABLE progress;
} quire_batch_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_BATCH_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_batch_options)), false, false, NULL, NULL }

/**
 * Inserts `row_count` saved objects of `entity`, from columns as `quire_context_insert_rows` takes them.
 *
 * Attributes without a column have their defaults; relationships are empty. The ids come in the order of the rows.
 * Fails: QUIRE_INVALID_ARGUMENT (also: `upserts` for an entity without uniqueness constraint), QUIRE_INVALID_TEXT,
 * QUIRE_VALIDATION (a mandatory property has no value),
 * QUIRE_CONSTRAINT, QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED, QUIRE_CLOSED, QUIRE_CANCELLED, QUIRE_DATABASE.
 */
quire_status quire_context_batch_insert(
    quire_context *context, const char *entity, size_t entity_size, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys,
    const quire_value *const QUIRE_NULLABLE *QUIRE_NONNULL columns, size_t column_count, size_t row_count,
    const quire_batch_options *QUIRE_NULLABLE options, int64_t *QUIRE_NULLABLE out_count,
    quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Sets `count` properties of all objects that answer `request`, saved values deciding.
 *
 * Of the request count entity, predicate, sort keys, limit, offset and subentities; its result type is objects or ids.
 * `keys` names attributes and to-one
 * relationships, each name ended by NUL; a relationship is set to a saved object or to nil, and its inverse follows. One
 * that is to-one on both sides can only be emptied. An attribute may be given an expression (QUIRE_VALUE_EXPRESSION),
 * which is calculated for each object, as `price * 2` is; all are calculated from what was saved, before any is set.
 * What they give must fit the attribute as a value that is set on an object must. Count and ids are of all objects that
 * answer the request, also of those that had the values already and were left as they are.
 *
 * Fails as `quire_context_batch_insert` and `quire_context_fetch`, and with QUIRE_UNSUPPORTED (a relationship that is
 * to-one on both sides), QUIRE_VALIDATION (nil for a mandatory property; a relationship with too few or too many objects).
 */
quire_status quire_context_batch_update(
    quire_context *context, const quire_fetch_request *request, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys,
    const quire_value *values, size_t count, const quire_batch_options *QUIRE_NULLABLE options,
    int64_t *QUIRE_NULLABLE out_count, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Deletes all objects that answer `request`, saved values deciding, by the delete rules of their relationships: cascades
 * take along what they reach, to any depth, what stays lets go of what is deleted, and deny makes the call fail. Optional
 * to-one relationships without inverse, which no rule reaches, are emptied too.
 *
 * Of the request count entity, predicate, sort keys, limit, offset and subentities; its result type is objects or ids.
 * Count and ids are of the objects
 * that answer it, without those that rules took along. The ids are what they were; there are no objects behind them.
 *
 * Fails as `quire_context_fetch`, and with QUIRE_VALIDATION (deny; a mandatory relationship that would be left empty),
 * QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED.
 */
quire_status quire_context_batch_delete(
    quire_context *context, const quire_fetch_request *request, const quire_batch_options *QUIRE_NULLABLE options,
    int64_t *QUIRE_NULLABLE out_count, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
