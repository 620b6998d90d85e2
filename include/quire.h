/**
 * @file
 * Quire: an object store, fetch requests and sectioned results that stay up to date.
 *
 * This header includes all others; each can also be included alone.
 *
 *   quire/base.h         status codes, text, version, and the rules that hold everywhere: ownership, threads
 *   quire/error.h        what went wrong
 *   quire/value.h        one value of an attribute
 *   quire/model.h        entities, attributes, relationships
 *   quire/model_info.h   what a model declares
 *   quire/model_file.h   models in files of Core Data and Xcode
 *   quire/store.h        a file of objects
 *   quire/metadata.h     what a store says of itself, and what programs keep there
 *   quire/migration.h    taking a store over to another version of its model
 *   quire/log.h          the SQL that a store runs, with times
 *   quire/context.h      a working set of objects: insert, delete, save, rollback
 *   quire/moment.h       contexts that stay at one commit, and go to that of another context
 *   quire/conflict.h     what a save does with objects that another writer changed
 *   quire/undo.h         undoing and redoing changes
 *   quire/object.h       reading and changing one object
 *   quire/hooks.h        functions of the program that are called when objects are read, saved or deleted
 *   quire/predicate.h    conditions, as text; the language
 *   quire/expression.h   values that are calculated, in the same language
 *   quire/function.h     functions of the program that predicates call
 *   quire/archive.h      keyed archives, as transformable attributes have them
 *   quire/fetch.h        fetch requests
 *   quire/batch.h        insert, update and delete in the store, without an object for each row
 *   quire/cancellation.h ending a fetch that takes long, and watching it
 *   quire/list.h         results of fetches: objects, ids, or rows in columns
 *   quire/arrow.h        pages as Arrow arrays, for libraries of tables
 *   quire/history.h      what any program has changed in a store, for those that follow it
 *   quire/section_rule.h how sectioned lists are divided
 *   quire/changes.h      changes of sectioned lists: change sets, and steps for views
 *   quire/aggregate.h    values that sectioned lists calculate over their rows
 *   quire/results.h      results controllers: sectioned lists that report their changes
 *   quire/composite.h    several results controllers as one list
 *   quire/snapshot.h     one state of a sectioned list, for any thread, and the difference of two
 */
#ifndef QUIRE_H_
#define QUIRE_H_

#include "quire/base.h"
#include "quire/error.h"
#include "quire/value.h"
#include "quire/model.h"
#include "quire/model_info.h"
#include "quire/model_file.h"
#include "quire/store.h"
#include "quire/migration.h"
#include "quire/log.h"
#include "quire/context.h"
#include "quire/moment.h"
#include "quire/conflict.h"
#include "quire/undo.h"
#include "quire/object.h"
#include "quire/hooks.h"
#include "quire/predicate.h"
#include "quire/expression.h"
#include "quire/function.h"
#include "quire/archive.h"
#include "quire/metadata.h"
#include "quire/history.h"
#include "quire/fetch.h"
#include "quire/batch.h"
#include "quire/cancellation.h"
#include "quire/list.h"
#include "quire/arrow.h"
#include "quire/section_rule.h"
#include "quire/changes.h"
#include "quire/aggregate.h"
#include "quire/results.h"
#include "quire/composite.h"
#include "quire/snapshot.h"

#endif
