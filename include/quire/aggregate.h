/**
 * @file
 * Aggregates: values that a results controller calculates over the rows of each section and of the whole list, and
 * keeps up to date.
 *
 * An aggregate is an expression with a name, such as `sum:(price * amount)`, `max:(author.name)` or `count:(SELF)`. The
 * language is that of `quire_fetch_request_add_expression`; the aggregates are `sum: count: min: max: average:`. The
 * part between the parentheses is evaluated for each row. It may calculate, follow to-one relationships, and count or
 * add up to-many ones (`books.@count`). Several aggregates can be combined: `sum:(price * amount) / sum:(amount)`.
 *
 * Aggregates cover the rows that are shown, so a limit and an offset count. They follow the rows as the list does,
 * under any request. They also follow changes of related objects that reach the list by no other way. A change costs
 * what it touches, not a look at all rows. The values that an aggregate is made of are kept in memory for each row.
 *
 * No aggregate counts nil, and `count:(SELF)` counts rows. Over no values, as in a section without rows, count and sum
 * are the integer 0, and the others are nil.
 *
 * Sums are exact. They are rounded when they are read. They depend neither on the order of the rows nor on rows that
 * came and went. The sum of integers is an integer as long as 64 bits hold it, and otherwise the nearest double.
 * Booleans count as 0 and 1. The sum of decimals, with or without integers, is a decimal as long as 38 digits hold it.
 * Any other sum is a double: infinite where doubles end, and NaN when one of its numbers is. An average is the nearest
 * double to the sum, divided by the number of values.
 *
 * NaN is the least or the greatest number only where all numbers are NaN. Text compares by code point. Where an
 * expression has values of several types, these follow one another in the order of numbers, texts, dates, data and
 * UUIDs.
 */
#ifndef QUIRE_AGGREGATE_H_
#define QUIRE_AGGREGATE_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/**
 * Adds the aggregate `expression`, by this name. The controller calculates it from its first fetch on. With another
 * request the aggregate stays; the request fails when its entity does not have the keys.
 *
 * The keys and their types are checked now. Fails: QUIRE_INVALID_ARGUMENT (no name, or that of another aggregate; an
 * unknown key; an expression that is not made of aggregates; a part that has several values, or others each time),
 * QUIRE_INVALID_PREDICATE (a sum of a key that holds no numbers; the least of values without an order),
 * QUIRE_UNSUPPORTED (`median: mode: stddev:`), QUIRE_INVALID_STATE (the controller was already fetched), QUIRE_CLOSED.
 */
quire_status quire_results_add_aggregate(
    quire_results *results, const char *name, size_t name_size, const quire_expression *expression,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The value of the aggregate `name` for the rows of `section`, or with -1 for all rows. Its text is borrowed from
 * `results` until the next change, fetch or request of the controller. Within a bracket it fits the list that the
 * callback sees.
 *
 * Fails: QUIRE_NOT_FOUND (no such section or aggregate), QUIRE_INVALID_STATE (not fetched), QUIRE_INVALID_PREDICATE (a
 * row has a value that does not fit: no number for a sum, an object for the least, or a list).
 */
quire_status quire_results_aggregate(
    quire_results *results, int64_t section, const char *name, size_t name_size, quire_value *out_value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
