/**
 * @file
 * The history of a store: which transactions have changed which objects, for programs that follow a file.
 *
 * A file keeps a history once a store of it was opened with `tracks_history` (see store.h), or when Core Data has turned on
 * its persistent history. From then on each save and each batch request of any program adds a transaction, in its own
 * transaction of the file. What a failed or undone save would have written is not in it. Plain SQL adds nothing.
 *
 * A program keeps a token of the place in the history that it has reached. Later it fetches what came after that, from any
 * process and in another run. A token is QUIRE_HISTORY_TOKEN_SIZE bytes that may be kept in a file. It names the store by its
 * UUID, so it also goes for a copy of the file.
 *
 * A history grows until it is purged. A token of a place whose later transactions were purged has expired: the program reads
 * everything anew, and goes on with a new token. So it does where an older copy of the file is in its place. A token knows
 * its transaction by number and time, so that it has expired even when the copy has as many transactions by then. It has not
 * where that transaction was purged, from the copy or before the token was made: then the number alone is compared.
 */
#ifndef QUIRE_HISTORY_H_
#define QUIRE_HISTORY_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** The bytes of a history token. */
#define QUIRE_HISTORY_TOKEN_SIZE 40

/** What a transaction did to an object. */
typedef enum quire_history_kind {
    QUIRE_HISTORY_INSERT = 0,
    /** Values or relationships of the object are others than before. */
    QUIRE_HISTORY_UPDATE = 1,
    QUIRE_HISTORY_DELETE = 2
} quire_history_kind;

/** Which transactions are fetched. Zero means the default for every field. */
typedef struct quire_history_options {
    /** sizeof(quire_history_options) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** Only those of this author. NULL for all. */
    const char *QUIRE_NULLABLE author;
    /** Only those of contexts with this name. NULL for all. */
    const char *QUIRE_NULLABLE context_name;
    /**
     * Only changes of this entity or of one under it, and only transactions that have such. Changes of other entities are
     * left out. NULL for all.
     */
    const char *QUIRE_NULLABLE entity;
    /** Whether `since` counts. */
    bool has_since;
    /** Seconds since 1970: only transactions that are not earlier, by the clocks of the programs that made them. */
    double since;
    /** So many transactions at most; 0 for all. */
    uint64_t limit;
} quire_history_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_HISTORY_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_history_options)), 0, NULL, NULL, NULL, false, 0.0, 0 }

/** A transaction of the history. Its texts are borrowed from the `quire_history`; those that it does not have are NULL. */
typedef struct quire_history_transaction_info {
    /** sizeof(quire_history_transaction_info) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    int64_t number; /**< Grows from transaction to transaction, and is never assigned again. */
    double timestamp; /**< When it was written, in seconds since 1970, by the clock of its program. */
    quire_string author; /**< `quire_context_set_author` of the context that has saved. */
    quire_string context_name; /**< `quire_context_set_name` of that. */
    quire_string process_id; /**< The name of the program. */
    quire_string bundle_id; /**< The bundle identifier of the program; on systems without bundles its name again. */
    int64_t change_count; /**< How many changes there are for `quire_history_change`. */
} quire_history_transaction_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_HISTORY_TRANSACTION_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_history_transaction_info)), 0, 0, 0.0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, \
      { NULL, 0 }, 0 }

/** A change of one object. Its text is borrowed from the `quire_history`. */
typedef struct quire_history_change_info {
    /** sizeof(quire_history_change_info) in your build. */
    uint32_t struct_size;
    uint32_t kind; /**< A `quire_history_kind`. */
    int64_t id; /**< The permanent id of the object, as `quire_object_id` tells it. */
    quire_string entity; /**< The name of its entity; NULL where the model of the store has no such entity. */
    /** How many properties an update has changed, for `quire_history_changed_key`. -1 where the history does not tell. */
    int64_t key_count;
    /** How many values a deletion has left, for `quire_history_tombstone`. */
    int64_t tombstone_count;
} quire_history_change_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_HISTORY_CHANGE_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_history_change_info)), 0, 0, { NULL, 0 }, 0, 0 }

/**
 * Writes the token of the place at which the history is now to the QUIRE_HISTORY_TOKEN_SIZE bytes at `out_token`. A fetch
 * after it finds what was committed since.
 *
 * Thread: any. Fails: QUIRE_INVALID_STATE (the file keeps no history; called from a log, a registered function or a progress
 * function), QUIRE_BUSY, QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_history_token(
    quire_store *store, uint8_t *out_token, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Fetches the transactions after the place that a token stands for, the oldest first. A NULL token, with the size 0, stands
 * for the begin of what there is. `options` may be NULL.
 *
 * What is fetched is of one state of the file, and stays as it is. Owned: `*out_history`.
 *
 * Thread: any. Waits for a save that is under way, and for the end of a transaction that a context has open, as
 * `quire_context_begin_transaction` says of other contexts. Fails: QUIRE_HISTORY_EXPIRED (transactions after the token were purged, or
 * the file is an older copy, or another one, that does not have the token's transaction); QUIRE_INVALID_ARGUMENT (a damaged token, or one
 * of another store; an unknown entity); QUIRE_INVALID_STATE (the file keeps no history; called from a log, a registered
 * function or a progress function); QUIRE_BUSY, QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_history_fetch(
    quire_store *store, const uint8_t *QUIRE_NULLABLE token, size_t token_size,
    const quire_history_options *QUIRE_NULLABLE options, quire_history *QUIRE_NULLABLE *QUIRE_NONNULL out_history,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `history`. Takes NULL. Any thread. */
quire_history *QUIRE_NULLABLE quire_history_retain(const quire_history *QUIRE_NULLABLE history);

/** Releases a reference. Takes NULL. Any thread. */
void quire_history_release(quire_history *QUIRE_NULLABLE history);

/** How many transactions were fetched. Any thread. */
int64_t quire_history_count(const quire_history *history);

/**
 * Writes the token with which the next fetch goes on: of the last transaction that was fetched where `limit` has cut the
 * rest off, otherwise of the last one of the file, whether the options left it out or not.
 *
 * Thread: any. Fails: QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_history_next_token(
    const quire_history *history, uint8_t *out_token, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The transaction at `index`, from 0. Thread: any. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_history_transaction(
    const quire_history *history, int64_t index, quire_history_transaction_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Writes the token of the transaction at `index`: a fetch after it begins behind it. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_history_transaction_token(
    const quire_history *history, int64_t index, uint8_t *out_token,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The change at `index` of the transaction at `transaction`. Thread: any. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_history_change(
    const quire_history *history, int64_t transaction, int64_t index, quire_history_change_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The name of a property that an update has changed. How Core Data tells the properties in a file is not fully known: mostly
 * `key_count` is -1, and any property may have changed. Borrowed from `history`. No text for what is out of range.
 */
quire_string quire_history_changed_key(
    const quire_history *history, int64_t transaction, int64_t change, int64_t index);

/**
 * A value that a deletion has left: that of an attribute that is declared with `preserves_after_deletion`. They are in the
 * order of the names. The name and the value are borrowed from `history`.
 *
 * Thread: any. Fails: QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_history_tombstone(
    const quire_history *history, int64_t transaction, int64_t change, int64_t index, quire_string *out_key,
    quire_value *out_value, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Removes the transactions before the one that a token stands for. That one stays, and so do all later ones. Their numbers
 * are not assigned again. `*out_count` is how many were removed, and may be NULL. Where they were purged before, it is 0.
 *
 * Thread: any. Fails: QUIRE_INVALID_ARGUMENT (a damaged token, or one of another store), QUIRE_HISTORY_EXPIRED (the file is
 * an older copy, or another one, that does not have the token's transaction), QUIRE_INVALID_STATE (the file keeps no
 * history; called from a log, a registered function or a progress function), QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED,
 * QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_history_purge(
    quire_store *store, const uint8_t *token, size_t token_size, int64_t *QUIRE_NULLABLE out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Removes the transactions before the first one that is not earlier than a date, in seconds since 1970. Where clocks differ, an
 * earlier one that follows it stays. As `quire_history_purge`, and fails with QUIRE_INVALID_ARGUMENT for NaN.
 */
quire_status quire_history_purge_before_date(
    quire_store *store, double seconds_since_1970, int64_t *QUIRE_NULLABLE out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
