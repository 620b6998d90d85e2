/**
 * @file
 * The metadata of a store: what it is, which model made it, and what programs keep there.
 *
 * Metadata are a dictionary, a property list in the file. Keys that begin with NSStore, NSPersistence or _NS are those
 * of Core Data: `NSStoreUUID`, `NSStoreModelVersionHashes`, `NSStoreModelVersionIdentifiers` and others. All other keys
 * are the programs' own. Real files keep secrets there.
 */
#ifndef QUIRE_METADATA_H_
#define QUIRE_METADATA_H_

#include "base.h"
#include "expression.h"
#include "value.h"

QUIRE_BEGIN

/**
 * Reads the metadata of an open store. `quire_evaluation_value` is a dictionary of them.
 *
 * The values are those of the file now, with what `quire_store_set_metadata` has set and no save has written yet. They
 * are text, data, integers, doubles, booleans, dates, lists and dictionaries. Integers from 2^63 on are decimals.
 *
 * Owned: `*out_metadata`. Thread: any. Fails: QUIRE_CLOSED, QUIRE_BUSY, QUIRE_DATABASE (damaged metadata).
 */
quire_status quire_store_metadata(
    quire_store *store, quire_evaluation *QUIRE_NULLABLE *QUIRE_NONNULL out_metadata,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Has the next save of a context on the store itself, or its next batch request, write a value into the metadata. That
 * save may have nothing else to write; the save of a child context does not write it. NULL and nil remove the key. All
 * other keys stay as they are.
 *
 * What was set is lost when the store is closed before a save. A transaction that is rolled back has it pending again.
 *
 * Thread: any. Fails: QUIRE_INVALID_ARGUMENT (an empty key, one of Core Data's; a value of another kind than
 * `quire_store_metadata` returns, and decimals; one with more in it than could be read again), QUIRE_READ_ONLY,
 * QUIRE_BUSY, QUIRE_CLOSED. A save fails with QUIRE_INVALID_ARGUMENT when all metadata together could not be read again.
 */
quire_status quire_store_set_metadata(
    quire_store *store, const char *key, size_t key_size, const quire_value *QUIRE_NULLABLE value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads the metadata of the store at `path`, without a model. The file stays as it is.
 *
 * Owned: `*out_metadata`. Thread: any. Fails: QUIRE_CANNOT_OPEN, QUIRE_NOT_A_STORE, QUIRE_BUSY, QUIRE_UNSUPPORTED (version
 * hashes of another kind), QUIRE_DATABASE.
 */
quire_status quire_metadata_read(
    const char *path, size_t path_size, quire_evaluation *QUIRE_NULLABLE *QUIRE_NONNULL out_metadata,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
