/**
 * @file
 * Keyed archives: what Core Data puts into a transformable attribute unless its program says otherwise.
 *
 * The values of such attributes are data. This reads those that NSKeyedArchiver has written.
 */
#ifndef QUIRE_ARCHIVE_H_
#define QUIRE_ARCHIVE_H_

#include "base.h"
#include "expression.h"
#include "value.h"

QUIRE_BEGIN

/**
 * Reads an archive in the binary form of property lists. `quire_evaluation_value` is the archived value:
 *
 *     NSString, NSNumber, NSDate, NSData, NSUUID, NSURL, NSDecimalNumber    the value of that kind
 *     nil, NSNull                                                           nil
 *     NSArray, NSSet, NSOrderedSet                                          a list
 *     NSDictionary                                                          a dictionary, when its keys are text
 *     any other class                                                       a dictionary
 *
 * The dictionary of another class has what the object archived under its keys, and the name of the class as text under
 * the key "$class". No key of an archived object begins so. An NSDictionary with other keys than text is such an object:
 * it has the lists "NS.keys" and "NS.objects". An archive without an object called "root" is a dictionary of its objects.
 * No object of another class is ever made, and nothing of the program runs.
 *
 * Owned: `*out_evaluation`. Any thread. Fails: QUIRE_INVALID_ARGUMENT (no keyed archive, or a damaged one),
 * QUIRE_UNSUPPORTED (an object that contains itself; more than 64 levels, or more objects in all than a million or two
 * for each byte: some are then contained many times).
 */
quire_status quire_archive_decode(
    const uint8_t *data, size_t size, quire_evaluation *QUIRE_NULLABLE *QUIRE_NONNULL out_evaluation,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
