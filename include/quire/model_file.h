/**
 * @file
 * Models in files: the sources that Xcode edits, the compiled ones in applications, and those that stores keep.
 */
#ifndef QUIRE_MODEL_FILE_H_
#define QUIRE_MODEL_FILE_H_

#include "base.h"
#include "model.h"

QUIRE_BEGIN

/**
 * Reads the model at `path`, which is one of
 *
 *     X.xcdatamodel     a source of Xcode: a folder with the file `contents`, or that file
 *     X.xcdatamodeld    a folder of such versions, one of which it says is current
 *     X.mom, X.momd     the same compiled
 *     any file          a store that keeps its model, as all of Core Data since 2015 do
 *
 * What is in a file decides, not its name. In a folder of versions `version` is the name of one, with its ending or
 * without; NULL is the current version, or the only one.
 *
 * What Core Data allows in a model is never refused for taste: names that the calls of model.h refuse are taken, and an
 * entity may have two indexes of one name. A predicate with parts that the language does not have is kept, and calls that
 * would use it fail, and so do those of a predicate of more than 64 KiB of text. So is a derived attribute that this
 * version cannot calculate: creating a store with it fails (QUIRE_UNSUPPORTED), and in a file of Core Data it is left
 * alone. Composite attributes are kept, and no store is created or opened with them (QUIRE_UNSUPPORTED). A default that
 * its attribute cannot hold is left out. The file is left as it is, and the model is frozen. Nothing is read from
 * elsewhere: links in a folder are not followed. Owned: `*out_model`. Any thread.
 *
 * Fails: QUIRE_CANNOT_OPEN (nothing there, no permission); QUIRE_NOT_FOUND (no such version); QUIRE_INVALID_MODEL (no
 * model, a damaged one, more than 16 MiB or 5,000 entities, a store that keeps none); QUIRE_UNSUPPORTED (an attribute of
 * an unknown type); QUIRE_INVALID_ARGUMENT (several versions, none of which is current); QUIRE_BUSY, QUIRE_DATABASE (a
 * store).
 */
quire_status quire_model_load(
    const char *path, size_t path_size, const char *QUIRE_NULLABLE version, size_t version_size,
    quire_model *QUIRE_NULLABLE *QUIRE_NONNULL out_model, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Writes the model as a source of Xcode: a folder `path`, which ends in ".xcdatamodel", with the file `contents`. A
 * folder that is there gets new contents, which appear whole or not at all. Freezes the model.
 *
 * What Xcode has no words for is written in elements that only `quire_model_load` reads: validation rules, the order and
 * the prefetched paths of fetch requests, filters of derived attributes, and version identifiers after the first.
 * Text indexes and names of join tables are entries of the user info. Composites that no attribute has, and what a request
 * has beyond its predicate, order, limits, result type and prefetched paths, are left out. So is what Xcode alone uses:
 * whether it generates classes and with which types, and places in its diagram. Any thread.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (another ending); QUIRE_INVALID_MODEL; QUIRE_UNSUPPORTED (a text with a control
 * character, which XML cannot have); QUIRE_CANNOT_OPEN (no folder to write to, no permission, a full disk).
 */
quire_status quire_model_save(
    quire_model *model, const char *path, size_t path_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
