/**
 * @file
 * Conditions, written in the language of NSPredicate: `author == "Goethe" AND contents CONTAINS[cd] %@`.
 *
 * A predicate is immutable and may be used from any thread. The same predicate has the same result for saved rows, for
 * unsaved objects, and for values outside of any store. nil is a value: `author != "x"` includes objects without an
 * author.
 *
 * An ordering of values without an order, such as text and a number, is an error, not false. For an object the declared
 * types of its keys decide, for other values their own types. The key of an object has a type even while its value is nil.
 * A nil among other values has none. Elements of collections are compared one by one, and without an order neither is
 * the less.
 *
 * Conditions
 *
 *     AND && OR || NOT !       NOT binds tightest, then AND, then OR; parentheses group
 *     TRUEPREDICATE FALSEPREDICATE
 *     = == != <> < <= =< > >= =>    by value; nil equals nil alone, and is neither less nor greater than anything
 *     BETWEEN {low, high}      both bounds included
 *     IN                       a list `{a, b}`, a list as argument, a collection, the values of a dictionary; or, of
 *                              text, whether it is a part of the other
 *     CONTAINS                 the same the other way round
 *     BEGINSWITH ENDSWITH      the empty text is part of none, for CONTAINS too
 *     LIKE                     the whole text, with ? for one character, * for any number, \ before what means itself.
 *                              `?` is one of the text as it is: with [c] `Stra?e` finds `Straße`, which folds to `strasse`
 *     MATCHES                  the whole text, as a regular expression of ICU
 *
 * Options stand behind an operator. `[c]` ignores case, `[d]` accents, `[cd]` both. Accents are the nonspacing marks of
 * Latin, Greek, Cyrillic, Arabic and Hebrew letters. Marks of other scripts, such as the vowels of Thai and Hindi and the
 * voicing of Japanese, count, as does a mark without a letter. `[n]` says that both texts are in one form already and
 * compares their code points. `[l]` folds by the locale's rules. Without options text compares by code point: a letter
 * with a combining mark is not the letter that is written as one character, while `[d]` finds both. Text never equals a
 * number. Booleans are 1 and 0.
 *
 * Text that is written beside a date is a date in ISO 8601, of UTC where it has no zone: `created >= "2026-03-01"`, also in
 * lists and behind ANY. A day is its beginning. Text that is no date is an error there, once an entity says what is a
 * date; other text never equals a date.
 *
 * A decimal counts as the nearest double, which is what a file holds. It is compared, calculated with and sorted as that
 * double, whether it is saved or not. Thus 0.1000000000000000000001 equals 0.1. As text it has the digits that the double
 * prints with. Trees, and their text, keep all 38 digits. Sums of decimals, with or without integers, are exact decimals
 * everywhere: in predicates, columns, groups, live lists and derived attributes, whatever the order of the rows. Beyond 38
 * digits they are the nearest double, and in a derived attribute they are rounded to 15. An average is the nearest double
 * to the exact sum, divided by the number of values.
 *
 * Hundreds of `a == 1 OR a == 2` cost what `a IN {1, 2}` costs.
 *
 * ANY (or SOME), ALL and NONE before a comparison ask about the elements of its left side, which is a collection:
 * `ANY tags.label == "x"`. For an empty collection ANY is false, and ALL and NONE are true.
 *
 * Values
 *
 *     author, author.name      keys; of each element, when a collection is on the way. At most 128 in a path
 *     SELF                     what is asked about, in any case: `self` is never a property
 *     #like, #"two words"      a key that is a word of the language, such as #self, or no word at all. Behind a point a
 *                              key needs no `#`
 *     12 0x1F 0o17 0b11 1.5e3  numbers
 *     "text" 'text'            with \n \t \r \" \' \\ \u00E9 in it
 *     YES NO TRUE FALSE NIL NULL    words of the language, in any case
 *     {1, 2, a + b}            a list
 *     + - * / ** %%            arithmetic (%% is the remainder). Integers divide toward zero. nil and division by zero are
 *                              nil. A result beyond the integers is a floating number
 *     & | ^ ~ << >>            the same with the bits of integers, below + and above the comparisons
 *     a[0] a[FIRST] a[LAST] a[SIZE] a["key"]    an element, the number of elements, a key. nil behind the end. `a.d[0]`
 *                              is an index into each d, `(a.d)[0]` into all of them
 *     a UNION b, INTERSECT, MINUS
 *     @count @sum @avg @min @max    in a path: `books.@count`, `books.@sum.pages`; @unionOfObjects, @distinctUnionOfObjects
 *                              and the same of Arrays and Sets are lists
 *     SUBQUERY(books, $b, $b.pages > 300 AND $b.title != title)    the elements for which the condition holds. Keys that
 *                              do not begin with the variable are those of the outer object
 *     TERNARY(condition, a, b)
 *     CAST(a, "NSDate")        also NSNumber, NSDecimalNumber, NSString, NSData, NSUUID, NSURL and float. Dates are
 *                              seconds since 2001-01-01 UTC, or text in ISO 8601. Text that does not read as the type is
 *                              nil
 *     $name, $name.key, a.$key    variables; the last one stands for a key
 *     $name := a               sets the variable to a, for the rest
 *
 * Functions of a collection, or of any number of values: sum average (or avg) min max median mode stddev count. They
 * ignore nil among the values. Of one value: sqrt log ln exp floor ceiling trunc abs, uppercase lowercase canonical length,
 * noindex, randomn; of two: the operators under their names, such as add:to: and modulus:by:, objectFrom:withIndex: and
 * castObject:toType:. Without: now() random(). Those of one value may be written with or without their colon: `sum:(a)`.
 *
 * Arguments. `%@` is any value. An expression or a predicate as argument takes the place as a tree of its own, so
 * `%@ AND %@` joins two predicates. `%K` is a key path, as text or as an expression that is one. `%d %i %u %x %o` are
 * integers, `%f %g %e` floating numbers, `%c` a character and `%s` text. In quotes they are text.
 *
 * `FUNCTION(target, "name:", a)`, `FUNCTION("name:", target, a)` and `target name: a` call functions that the program
 * registered: see function.h. Where none has the name, the first and the last are still read, and fail with
 * QUIRE_UNSUPPORTED where they are used. So do FETCH, ANYKEY, UTI-CONFORMS-TO, UTI-EQUALS, the option `[w]` and, in a
 * fetch, what the store does not do yet: the error names the part.
 *
 * A predicate is at most 128 levels deep, whether it is read or put together from others. Each operator, call, list and
 * NOT is a level, and a chain of AND or of OR is one. Deeper ones fail with QUIRE_INVALID_PREDICATE. A thread whose stack
 * has 128 KiB can read, evaluate and fetch by every predicate.
 *
 * Mistakes. A predicate is read without an entity. Reading finds what the language does not allow, and such an error has
 * an offset. Names, types, patterns and what is unsupported are looked at where the predicate is used: by
 * `quire_results_create`, a fetch or `quire_predicate_matches`, whose errors have the offset -1. Keys are those of the
 * entity that is asked for. An entity that inherits from it has more, which are not found, and no key has the entity of
 * an object. An ordering of a date and text is an error. Their equality is none, and finds nothing.
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
 * Reads a predicate as `quire_predicate_parse` does, with the arguments in C's variable form. `format` ends with NUL.
 * The compiler cannot check these arguments: other languages use `quire_predicate_parse`.
 *
 * - `%@`: a `const quire_value *`
 * - `%K %s`: a `const char *`
 * - `%d %i %c`: an int; `%u %x`: an unsigned
 * - `%ld %li`: a long; `%lu %lx`: an unsigned long
 * - `%lld %lli`: a long long; `%llu %llx`: an unsigned long long
 * - `%f %g %e`: a double; `%Lf %Lg %Le`: a long double
 * - `%zd %zu`: a size_t; `%td`: a ptrdiff_t; `%jd %ju`: an intmax_t or uintmax_t; `%hd %hhd`: a short or a char
 */
quire_status quire_predicate_format(
    quire_predicate *QUIRE_NULLABLE *QUIRE_NONNULL out_predicate, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error,
    const char *format, ...);

/** Adds a reference and returns `predicate`. Takes NULL. */
quire_predicate *QUIRE_NULLABLE quire_predicate_retain(const quire_predicate *QUIRE_NULLABLE predicate);

/** Releases a reference. Takes NULL. */
void quire_predicate_release(quire_predicate *QUIRE_NULLABLE predicate);

/** Its canonical text, arguments included. Parsing the text makes an equal predicate. Borrowed from `predicate`. */
quire_string quire_predicate_text(const quire_predicate *predicate);

/**
 * Whether `object` matches the predicate, with its present values.
 *
 * Unlike in a fetch, transient attributes may be compared, and the whole language is evaluated, quantifiers, functions
 * and SUBQUERY included.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such key), QUIRE_INVALID_PREDICATE (an ordering of values without an order, such as
 * text and a number; a malformed pattern), QUIRE_FUNCTION (a registered function failed), QUIRE_UNSUPPORTED (names the
 * part that is not evaluated: FETCH, ANYKEY, a method of an object, a function that is not registered),
 * QUIRE_INVALID_STATE (deleted and saved), QUIRE_NOT_FOUND, QUIRE_CLOSED, QUIRE_DATABASE. Thread: that of the object's
 * context.
 */
quire_status quire_predicate_matches(
    const quire_predicate *predicate, quire_object *object, bool *out_matches,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether the two are the same tree. Trees that are only evaluated alike, such as `a AND b` and `b AND a`, are not
 * equal.
 */
bool quire_predicate_equal(const quire_predicate *predicate, const quire_predicate *other);

/**
 * The predicate with a value for each of its variables. A name in `variables` that it does not use is ignored. A
 * variable without a value is an error. The variable of a SUBQUERY is not one of them.
 *
 * A value is one that an argument of a format may be, or an expression. The keys of such an expression are those of the
 * evaluated object. A dictionary can only be passed to `quire_predicate_evaluate`.
 *
 * Owned: `*out_predicate`. Fails: QUIRE_INVALID_PREDICATE (a missing value; a variable that stands for a key and has
 * another value than text), QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_TEXT.
 */
quire_status quire_predicate_substitute(
    const quire_predicate *predicate, const quire_entry *QUIRE_NULLABLE variables, size_t variable_count,
    quire_predicate *QUIRE_NULLABLE *QUIRE_NONNULL out_predicate, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether `subject` matches the predicate. No store is needed. The subject is any value: also a list or a dictionary,
 * of lists and dictionaries again, at most 64 deep. A key that a dictionary does not have is nil. The key of a list is
 * the list of that key's values in its elements. Text and data have the key `length`.
 *
 * Objects may be in it wherever a value may, all of one context. Then the call is made on the thread of that context.
 * An object as the subject itself is checked as `quire_predicate_matches` checks it.
 *
 * @param variables Values for variables that the predicate leaves open, dictionaries and objects included.
 *
 * Fails: as `quire_predicate_matches`; QUIRE_INVALID_PREDICATE (a variable without a value; a key of a number),
 * QUIRE_INVALID_ARGUMENT (objects of two contexts, a key that is not text, more than 64 levels), QUIRE_INVALID_TEXT,
 * QUIRE_WRONG_THREAD.
 */
quire_status quire_predicate_evaluate(
    const quire_predicate *predicate, const quire_value *subject, const quire_entry *QUIRE_NULLABLE variables,
    size_t variable_count, bool *out_matches, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
