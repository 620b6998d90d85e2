/**
 * Aggregates: what a results controller calculates of its rows, of each section and of the whole list, and keeps up to
 * date.
 *
 * An aggregate is an expression with a name, such as `sum:(price * amount)`, `max:(author.name)` or `count:(SELF)`, in
 * the language of `quire_fetch_request_add_expression`; here the aggregates are `sum: count: min: max: average:`. What is
 * between the parentheses is asked of each row, and may calculate, follow to-one relationships and count or add up to-many
 * ones (`books.@count`). Several can be put together: `sum:(price * amount) / sum:(amount)`.
 *
 * Aggregates are of the rows that are shown, so that a limit and an offset count. They follow the rows as the list does, to
 * whatever request it is given, and also changes of related objects that reach the list by no other way. A change costs what
 * it touches, not a look at all rows; what they are made of is kept in memory for each row.
 *
 * nil does not count, in any of them, and `count:(SELF)` counts rows. Of no values, as in a section without rows, count and
 * sum are the integer 0, and the others nil. Sums are exact: they are rounded when they are asked for, and depend neither on
 * the order of the rows nor on those that came and went. The sum of integers is an integer as long as 64 bits hold it, and
 * otherwise the nearest double; booleans count as 0 and 1. The sum of decimals, with integers or not, is a decimal as long as
 * 38 digits hold it. Any other is a double, infinite where doubles end, and NaN when one of its numbers is. An average is
 * the nearest double to the sum, divided by the number of values. Of numbers, NaN is the least or the greatest only among
 * itself. Text compares by code point. Where an expression gives values of several types, these follow one another in the
 * order of numbers, texts, dates, data and UUIDs.
 */
#ifndef QUIRE_AGGREGATE_H_
#define QUIRE_AGGREGATE_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** An aggregate that has another value than before. */
typedef struct quire_aggregate_change {
    /** The section, in the list after the changes; -1 for the whole list. */
    int64_t section;
    /** Borrowed from whatever has the change, as is the value. */
    quire_string name;
    /** As `quire_results_aggregate` gives it; nil where that fails. */
    quire_value value;
} quire_aggregate_change;

/** Changes of aggregates: `count` of them, each `stride` bytes behind the one before. */
typedef struct quire_aggregate_change_array {
    /** NULL when there are none. */
    const quire_aggregate_change *QUIRE_NULLABLE first;
    int64_t count;
    size_t stride;
} quire_aggregate_change_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_aggregate_change *QUIRE_NULLABLE quire_aggregate_change_at(
    quire_aggregate_change_array changes, int64_t index) {
    if (!changes.first || index < 0 || index >= changes.count) return NULL;
    return QUIRE_ELEMENT(const quire_aggregate_change, changes, index);
}

/**
 * Has the controller calculate `expression`, by this name, from its first fetch on. With another request it stays, which then
 * fails when its entity does not have the keys.
 *
 * Whether the keys are there, and of what type they are, shows now. Fails: QUIRE_INVALID_ARGUMENT (no name, or that of another
 * aggregate; an unknown key; what is no aggregate and not made of such; an expression in one that gives several values, or
 * others each time), QUIRE_INVALID_PREDICATE (a sum of a key that holds no numbers; the least of what has no order),
 * QUIRE_UNSUPPORTED (`median: mode: stddev:`), QUIRE_INVALID_STATE (it was fetched already), QUIRE_CLOSED.
 */
quire_status quire_results_add_aggregate(
    quire_results *results, const char *name, size_t name_size, const quire_expression *expression,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The value of the aggregate `name` for the rows of `section`, or with -1 of all rows. Its text is borrowed from `results`
 * until its next change, fetch or request. Within a bracket it is as the callback sees the list.
 *
 * Fails: QUIRE_NOT_FOUND (no such section or aggregate), QUIRE_INVALID_STATE (not fetched), QUIRE_INVALID_PREDICATE (a row gives
 * a value that is no number where a sum is asked for, an object where the least is, or a list).
 */
quire_status quire_results_aggregate(
    quire_results *results, int64_t section, const char *name, size_t name_size, quire_value *out_value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The aggregates that came to have other values, in the order in which a delegate is told: those of the whole list, then
 * those of sections, first to last, each in the order in which they were added. Of a section that came it is all of them, of
 * one that went none. Borrowed from `changes`. Change sets between snapshots have none.
 */
quire_aggregate_change_array quire_changes_aggregates(const quire_changes *changes);

QUIRE_END

#endif
