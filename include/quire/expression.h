/**
 * @file
 * Values that are calculated, in the language of predicates.
 *
 * `price * 2` is an expression, and so is `SUBQUERY(books, $b, $b.pages > 300).@count`.
 *
 * An expression is immutable and may be used from any thread. Evaluating it makes a `quire_evaluation`, which owns the
 * value and all that the value points to.
 */
#ifndef QUIRE_EXPRESSION_H_
#define QUIRE_EXPRESSION_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/**
 * Reads an expression; `arguments` as for `quire_predicate_parse`.
 *
 * Owned: `*out_expression`. Fails: QUIRE_INVALID_PREDICATE, whose error has the byte offset and shows the place with a
 * caret; QUIRE_INVALID_TEXT; QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_expression_parse(
    const char *format, size_t format_size, const quire_value *QUIRE_NULLABLE arguments, size_t argument_count,
    quire_expression *QUIRE_NULLABLE *QUIRE_NONNULL out_expression, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `expression`. Takes NULL. */
quire_expression *QUIRE_NULLABLE quire_expression_retain(const quire_expression *QUIRE_NULLABLE expression);

/** Releases a reference. Takes NULL. */
void quire_expression_release(quire_expression *QUIRE_NULLABLE expression);

/** Its canonical text, arguments included. Parsing the text makes an equal expression. Borrowed from `expression`. */
quire_string quire_expression_text(const quire_expression *expression);

/**
 * Whether the two are the same tree. Trees that are only evaluated alike, such as `a + b` and `b + a`, are not equal.
 */
bool quire_expression_equal(const quire_expression *expression, const quire_expression *other);

/** As `quire_predicate_substitute`. Owned: `*out_expression`. */
quire_status quire_expression_substitute(
    const quire_expression *expression, const quire_entry *QUIRE_NULLABLE variables, size_t variable_count,
    quire_expression *QUIRE_NULLABLE *QUIRE_NONNULL out_expression, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Evaluates the expression for `subject`. Subject, variables, failures and thread are those of
 * `quire_predicate_evaluate`.
 *
 * Owned: `*out_evaluation`.
 */
quire_status quire_expression_evaluate(
    const quire_expression *expression, const quire_value *subject, const quire_entry *QUIRE_NULLABLE variables,
    size_t variable_count, quire_evaluation *QUIRE_NULLABLE *QUIRE_NONNULL out_evaluation,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The value, borrowed from `evaluation` with all that it points to. It has text, lists, dictionaries
 * (QUIRE_VALUE_DICTIONARY, in the order of their keys) and objects of the context (QUIRE_VALUE_OBJECT). An object that
 * was an argument of the format is its id (QUIRE_VALUE_OBJECT_ID). The value never changes; the objects show their own
 * changes.
 */
const quire_value *QUIRE_NULLABLE quire_evaluation_value(const quire_evaluation *evaluation);

/** Adds a reference and returns `evaluation`. Takes NULL. */
quire_evaluation *QUIRE_NULLABLE quire_evaluation_retain(const quire_evaluation *QUIRE_NULLABLE evaluation);

/** Releases a reference. Takes NULL. */
void quire_evaluation_release(quire_evaluation *QUIRE_NULLABLE evaluation);

QUIRE_END

#endif
