/** A file of objects, in the layout of Core Data's SQLite stores. */
#ifndef QUIRE_STORE_H_
#define QUIRE_STORE_H_

#include "base.h"
#include "log.h"

QUIRE_BEGIN

/** How a store is opened. Zero means the default for every field. */
typedef struct quire_store_options {
    /** sizeof(quire_store_options) in your build. */
    uint32_t struct_size;
    /** Never write; a save fails with QUIRE_READ_ONLY. The file must exist. */
    bool is_read_only;
    /** Fail with QUIRE_CANNOT_OPEN instead of creating a file. */
    bool must_exist;
    /** SQLite's synchronous=NORMAL: faster saves, the last of which a power cut may undo. Never damages the file. */
    bool relaxed_durability;
    /** How long to wait for another connection's lock, or another context's transaction, in milliseconds; 0 means 5000. */
    uint32_t busy_timeout;
    /** What is told of each statement, those of the opening included (see log.h). NULL for nothing. It is copied. */
    const quire_log *QUIRE_NULLABLE log;
} quire_store_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_STORE_OPTIONS_INIT { (uint32_t)sizeof(quire_store_options), false, false, false, 0, NULL }

/**
 * Opens the store at `path`, creating it when there is no file. `:memory:` is a private store in memory.
 *
 * Freezes the model. A file that cannot be opened as this store is left untouched. `options` may be NULL.
 * Owned: `*out_store`.
 * Fails: QUIRE_INVALID_MODEL; QUIRE_CANNOT_OPEN (missing folder, no permission, a folder); QUIRE_NOT_A_STORE (no
 * database, or another program's); QUIRE_MODEL_MISMATCH (written with another model: the message names the entities);
 * QUIRE_BUSY; QUIRE_READ_ONLY (the file may not be written); QUIRE_DATABASE.
 */
quire_status quire_store_open(
    const char *path, size_t path_size, quire_model *model, const quire_store_options *QUIRE_NULLABLE options,
    quire_store *QUIRE_NULLABLE *QUIRE_NONNULL out_store, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `store`. Takes NULL. */
quire_store *QUIRE_NULLABLE quire_store_retain(const quire_store *QUIRE_NULLABLE store);

/** Gives a reference back; the last one closes the store. Takes NULL. */
void quire_store_release(quire_store *QUIRE_NULLABLE store);

/**
 * Closes the file. What was not saved is lost. Later calls that need the file fail with QUIRE_CLOSED; closing again
 * does nothing. Handles stay valid until released.
 *
 * Fails: QUIRE_DATABASE; the store is closed all the same.
 */
quire_status quire_store_close(quire_store *store, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the store is open. */
bool quire_store_is_open(const quire_store *store);

/** The path it was opened with. Borrowed from `store`. */
quire_string quire_store_path(const quire_store *store);

/** The upper-case UUID that the file was given when it was created. Borrowed from `store`. */
quire_string quire_store_uuid(const quire_store *store);

/** Its model. Borrowed from `store`. */
quire_model *QUIRE_NULLABLE quire_store_model(const quire_store *store);

QUIRE_END

#endif
