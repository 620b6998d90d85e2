/** What went wrong. An error is immutable, may be used from any thread and outlives the call that made it. */
#ifndef QUIRE_ERROR_H_
#define QUIRE_ERROR_H_

#include "base.h"

QUIRE_BEGIN

/** Adds a reference and returns `error`. Takes NULL. */
quire_error *QUIRE_NULLABLE quire_error_retain(quire_error *QUIRE_NULLABLE error);

/** Gives a reference back. Takes NULL. */
void quire_error_release(quire_error *QUIRE_NULLABLE error);

/** The status that the failed call returned. QUIRE_INVALID_ARGUMENT when `error` is NULL. */
quire_status quire_error_status(const quire_error *error);

/** A sentence that names the offender and, where there is one, the remedy. Borrowed from `error`. */
quire_string quire_error_message(const quire_error *error);

/** The byte at which reading failed: of a predicate's format, or of text that is not UTF-8. Otherwise -1. */
int64_t quire_error_offset(const quire_error *error);

/** SQLite's extended result code when SQLite was involved, otherwise 0. */
int32_t quire_error_database_code(const quire_error *error);

/** How many single errors a combined one holds: a save can break several rules at once. 0 for a single one. */
size_t quire_error_detail_count(const quire_error *error);

/** One of the single errors. Borrowed from `error`; NULL when `index` is out of range. */
const quire_error *QUIRE_NULLABLE quire_error_detail(const quire_error *error, size_t index);

QUIRE_END

#endif
