/**
 * @file
 * What went wrong. An error is immutable, may be used from any thread and outlives the call that made it.
 */
#ifndef QUIRE_ERROR_H_
#define QUIRE_ERROR_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** The rules that a failed validation can be about. Numbers never change meaning. */
typedef enum quire_rule {
    /** The error is about no rule, or about several: see its details. */
    QUIRE_RULE_NONE = 0,
    /** A property that is not optional has no value. */
    QUIRE_RULE_MANDATORY = 1,
    /** Fewer objects than the relationship must hold. The value is their number. */
    QUIRE_RULE_TOO_FEW = 2,
    /** More objects than the relationship may hold. The value is their number. */
    QUIRE_RULE_TOO_MANY = 3,
    /** Deleted, although its relationship denies that. The value is the number of objects that remain. */
    QUIRE_RULE_DENIED = 4,
    /** Below the minimum: a number that is too small, a date that is too soon. */
    QUIRE_RULE_TOO_SMALL = 5,
    /** Above the maximum: a number that is too large, a date that is too late. */
    QUIRE_RULE_TOO_LARGE = 6,
    QUIRE_RULE_TOO_SHORT = 7,
    QUIRE_RULE_TOO_LONG = 8,
    /** Text that does not match the pattern. */
    QUIRE_RULE_PATTERN = 9,
    /** A rule that was added with `quire_model_add_validation_rule`. */
    QUIRE_RULE_CUSTOM = 10,
    /** The hook `validate` has refused the object. */
    QUIRE_RULE_HOOK = 11
} quire_rule;

/** Adds a reference and returns `error`. Takes NULL. */
quire_error *QUIRE_NULLABLE quire_error_retain(const quire_error *QUIRE_NULLABLE error);

/** Releases a reference. Takes NULL. */
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
int64_t quire_error_detail_count(const quire_error *error);

/** One of the single errors. Borrowed from `error`; NULL when `index` is out of range. */
const quire_error *QUIRE_NULLABLE quire_error_detail(const quire_error *error, int64_t index);

/** The rule that a single error of QUIRE_VALIDATION is about: a `quire_rule`, or QUIRE_RULE_NONE. */
uint32_t quire_error_rule(const quire_error *error);

/**
 * The name of the entity at fault: that of the object, property, row or key path. Borrowed from `error`. There is no
 * text without such an entity, and none for a combined error, whose details have their own.
 */
quire_string quire_error_entity(const quire_error *error);

/**
 * The id of the object that was used or saved, in its permanent form once it has one. 0 when there is none: rows of a
 * batch request have no object. An error keeps neither object nor context alive.
 */
int64_t quire_error_object_id(const quire_error *error);

/**
 * The property at fault, or the key that no property has. Borrowed from `error`; no text when there is no single one.
 */
quire_string quire_error_key(const quire_error *error);

/**
 * The row at fault among those passed to `quire_context_insert_rows` or a batch request, counted from 0; otherwise -1.
 */
int64_t quire_error_row(const quire_error *error);

/** The predicate of a broken rule of kind QUIRE_RULE_CUSTOM. Borrowed from `error`; otherwise no text. */
quire_string quire_error_predicate(const quire_error *error);

/**
 * The value that broke a rule, as the object had it. For rules about counts it is the number of objects; nil when there
 * is no single value. A relationship has QUIRE_VALUE_OBJECT_ID. Text and data are borrowed from `error`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_UNSUPPORTED (four gigabytes and more).
 */
quire_status quire_error_value(
    const quire_error *error, quire_value *out_value, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object that the error is about, looked up in `context`: the context whose call failed, on its thread. Owned:
 * `*out_object`.
 *
 * Fails: QUIRE_NOT_FOUND (the error is about no object, or the object is gone), QUIRE_WRONG_THREAD, QUIRE_CLOSED.
 */
quire_status quire_error_object(
    const quire_error *error, quire_context *context, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
