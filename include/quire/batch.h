/**
 * @file
 * Batch requests: insert, update and delete in the store itself, by a few statements of SQL and without an object for
 * each row.
 *
 * A request is carried out at once, in one transaction. On failure nothing was changed. It sees saved values. Pending
 * changes of the context take no part in it and stay pending. Afterwards the file holds what changing and saving the
 * same objects one by one would have left.
 *
 * The context that runs a request takes the change over, and its results controllers report it like any other. Objects
 * show the new values, and deleted ones are gone. Pending changes of an object stay on top of its new values and can be
 * saved. Text and data borrowed from objects whose values changed end with the call. Other contexts of the store take
 * the change over when they merge (`quire_context_merge`). Until then their save of a changed object fails with
 * QUIRE_CONFLICT, or their merge policy settles it.
 *
 * A request is cancelled as a fetch is (`cancellation.h`): through the fetch request or, for an insertion, through its
 * options. It then fails with QUIRE_CANCELLED and nothing was changed, whether it was looking for its rows or writing.
 * Only the end of the transaction and the reports to context and results controllers can no longer be cancelled.
 *
 * `out_count` and `out_list` may be NULL in every call. A request thus returns its status alone, a number, or ids.
 * `*out_list` is owned.
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
     * Leave the context as it is: its objects and results controllers show their old values. They know of the change as
     * little as of that of another process. For a context that is about to be released.
     */
    bool skips_merge;
    /**
     * Insertion only: a row with the unique values of a saved object updates that object, which keeps its id. The
     * values are those of a uniqueness constraint that the entity has or inherits. The object gets the values of the
     * columns, and keeps what has no column. Of two such rows in one request the second updates what the first
     * inserted. nil equals no value here. The ids are those of inserted and updated objects, row by row.
     */
    bool upserts;
    /** Insertion only: ends it, from any thread. NULL for none. Updates and deletions use that of their request. */
    const quire_cancellation *QUIRE_NULLABLE cancellation;
    /**
     * Insertion only: receives the number of rows written so far, and may end the insertion. NULL for none. It is
     * copied, and released (`destroy`) before the call returns. Updates and deletions use that of their request.
     */
    const quire_progress *QUIRE_NULLABLE progress;
} quire_batch_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_BATCH_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_batch_options)), false, false, NULL, NULL }

/**
 * Inserts `row_count` saved objects of `entity`, from columns as `quire_context_insert_rows` takes them.
 *
 * Attributes without a column have their defaults; relationships are empty. The ids come in the order of the rows.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (also: `upserts` for an entity without uniqueness constraint), QUIRE_INVALID_TEXT,
 * QUIRE_VALIDATION (a mandatory property has no value), QUIRE_CONSTRAINT, QUIRE_BUSY, QUIRE_READ_ONLY,
 * QUIRE_FILE_MOVED, QUIRE_CLOSED, QUIRE_CANCELLED, QUIRE_DATABASE.
 */
quire_status quire_context_batch_insert(
    quire_context *context, const char *entity, size_t entity_size, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys,
    const quire_value *const QUIRE_NULLABLE *QUIRE_NONNULL columns, size_t column_count, size_t row_count,
    const quire_batch_options *QUIRE_NULLABLE options, int64_t *QUIRE_NULLABLE out_count,
    quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Sets `count` properties of all objects that match `request` by their saved values.
 *
 * Of the request count entity, predicate, sort keys, limit, offset and subentities. Its result type is objects or ids.
 * `keys` names attributes and to-one relationships, each name ended by NUL. A relationship is set to a saved object or
 * to nil, and its inverse follows. A relationship that is to-one on both sides can only be emptied.
 *
 * An attribute may be set to an expression (QUIRE_VALUE_EXPRESSION), such as `price * 2`. It is calculated for each
 * object. All expressions are calculated from saved values, before any value is set. A calculated value must fit the
 * attribute as a value set on an object must. Uniqueness constraints hold for the result: the objects may exchange
 * their unique values or shift them, as with `position + 1`. Count and ids are those of all matching objects, also of
 * those that had the values already.
 *
 * Fails as `quire_context_batch_insert` and `quire_context_fetch`, and with QUIRE_UNSUPPORTED (a relationship that is
 * to-one on both sides), QUIRE_VALIDATION (nil for a mandatory property; a relationship with too few or too many
 * objects).
 */
quire_status quire_context_batch_update(
    quire_context *context, const quire_fetch_request *request, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys,
    const quire_value *values, size_t count, const quire_batch_options *QUIRE_NULLABLE options,
    int64_t *QUIRE_NULLABLE out_count, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Deletes all objects that match `request` by their saved values, by the delete rules of their relationships. A cascade
 * takes along what it reaches, to any depth. Nullify empties the relationships of remaining objects. Deny makes the
 * call fail. Optional to-one relationships without inverse, which no rule reaches, are emptied too.
 *
 * Of the request count entity, predicate, sort keys, limit, offset and subentities. Its result type is objects or ids.
 * Count and ids are those of the matching objects, without those that rules took along. The ids lead to no objects any
 * more.
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
