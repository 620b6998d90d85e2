/**
 * Conditions, written in the language of NSPredicate: `author == "Goethe" AND contents CONTAINS[cd] %@`.
 *
 * A predicate is immutable and may be used from any thread. The same predicate gives the same answer for saved rows
 * and for unsaved objects. nil is a value: `author != "x"` includes objects without an author.
 *
 * Keys are attributes, to-one relationships, and paths through to-one relationships (`author.name`); SELF is the object.
 * Words of the language are keys when a number sign stands before them (`#like`, `#no`).
 *
 *     = == != <> < <= > >=                    by value; nil equals nil alone, and is neither less nor greater
 *     BETWEEN {low, high}     IN {a, b, c}    bounds and members may be keys; IN also takes a list as argument
 *     CONTAINS BEGINSWITH ENDSWITH            parts of text; the empty text is part of none
 *     LIKE                                    the whole text, with ? for one character and * for any number
 *     MATCHES                                 the whole text, as a regular expression of ICU
 *     AND && OR || NOT !                      TRUEPREDICATE FALSEPREDICATE
 *
 * Behind an operator on text, `[c]` takes no notice of case, `[d]` of accents, `[cd]` of both. Without them text compares
 * by code point: a letter with a combining mark is not the letter that is written as one character, while `[d]` finds
 * both. Text never equals a number or a date: give dates as arguments. In the canonical text a date stands as seconds
 * since 2001-01-01 UTC, as Core Data prints it.
 *
 * The rest of NSPredicate's language (ANY, ALL, @count, SUBQUERY, functions, keys in arithmetic) is read, and refused with
 * QUIRE_UNSUPPORTED where it is used, with the name of the part.
 */
#ifndef QUIRE_PREDICATE_H_
#define QUIRE_PREDICATE_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/**
 * Reads a predicate. `arguments` are the values for `%@`, `%K`, `%d`, `%f` and so on, in order.
 *
 * Owned: `*out_predicate`. Fails: QUIRE_INVALID_PREDICATE, whose error has the byte offset and shows the place with a
 * caret; QUIRE_INVALID_TEXT; QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_predicate_parse(
    const char *format, size_t format_size, const quire_value *QUIRE_NULLABLE arguments, size_t argument_count,
    quire_predicate *QUIRE_NULLABLE *QUIRE_NONNULL out_predicate, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads a predicate as `quire_predicate_parse` does, with the arguments in C's variable form: for `%@` a
 * `const quire_value *`, for `%K` and `%s` a `const char *`, for `%d %i %c` an int, `%u %x` an unsigned, `%ld %li`
 * a long, `%lu %lx` an unsigned long, `%lld %lli` a long long, `%llu %llx` an unsigned long long, for `%f %g %e` a
 * double. `format` ends with NUL. The compiler cannot check these arguments: other languages use
 * `quire_predicate_parse`.
 */
quire_status quire_predicate_format(
    quire_predicate *QUIRE_NULLABLE *QUIRE_NONNULL out_predicate, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error,
    const char *format, ...);

/** Adds a reference and returns `predicate`. Takes NULL. */
quire_predicate *QUIRE_NULLABLE quire_predicate_retain(quire_predicate *QUIRE_NULLABLE predicate);

/** Gives a reference back. Takes NULL. */
void quire_predicate_release(quire_predicate *QUIRE_NULLABLE predicate);

/** Its canonical text, arguments included; reading it gives an equal predicate. Borrowed from `predicate`. */
quire_string quire_predicate_text(const quire_predicate *predicate);

/**
 * Whether `object` fulfils the predicate, with its values as they are now.
 *
 * Unlike in a fetch, transient attributes may be compared, and the whole language is evaluated, quantifiers, functions
 * and SUBQUERY included.
 * Fails: QUIRE_INVALID_ARGUMENT (no such key), QUIRE_INVALID_PREDICATE (an ordering of what has no order, such as text
 * and a number; a malformed pattern), QUIRE_UNSUPPORTED (names the part that is not evaluated: FUNCTION, FETCH, ANYKEY),
 * QUIRE_INVALID_STATE (deleted and saved), QUIRE_NOT_FOUND, QUIRE_CLOSED, QUIRE_DATABASE. Thread: that of the
 * object's context.
 */
quire_status quire_predicate_matches(
    const quire_predicate *predicate, quire_object *object, bool *out_matches,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
