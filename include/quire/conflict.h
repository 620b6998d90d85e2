/**
 * @file
 * What a save does with objects that another writer has changed since they were read, and how it reports them.
 *
 * A save compares versions. Where a row has another version than the object was read with, or is gone, the merge policy
 * of the context decides, object by object. Then the save is tried again. It ends with QUIRE_CONFLICT when the policy
 * says so, or when other writers interfered twenty times in a row. A settled conflict stays settled in the context, and
 * results controllers report it, even if the save then fails for another reason. Conflicts are settled before
 * uniqueness.
 *
 * |                              | store wins           | object wins      | overwrite        | rollback             |
 * |------------------------------|----------------------|------------------|------------------|----------------------|
 * | changed on both sides        | the store's value    | the value here   | the value here   | the store's value    |
 * | changed here only            | the value here       | the value here   | the value here   | the store's value    |
 * | changed in the store only    | the store's value    | the store's value| the value here   | the store's value    |
 * | changed here, deleted there  | gone                 | inserted again   | inserted again   | gone                 |
 * | deleted here, changed there  | the deletion given up| deleted          | deleted          | the deletion given up|
 * | deleted here, referred there | the deletion given up| rules applied    | rules applied    | the deletion given up|
 * | unique values of another     | see below            | see below        | see below        | see below            |
 *
 * Properties are attributes and to-one relationships. To-many relationships without a to-one inverse are merged member
 * by member under the first two policies: members added or removed on either side stay so. Under overwrite the members
 * here replace those in the store, as far as they were read. Under rollback those in the store replace the members
 * here. Members that belong to an object by their own to-one relationship follow that relationship.
 *
 * An object that is inserted again keeps its id. An object that was deleted on both sides is gone. References here to
 * an object that another writer deleted are emptied, unless that object was changed here too and is inserted again.
 *
 * When a deletion is given up, the object returns with the store's values. Objects that the delete rules deleted with
 * it stay deleted. Relationships that the rules emptied of it stay empty, and are saved like other changes. The rules
 * are also applied to references to a deleted object that another writer added; deny makes the save fail.
 *
 * Uniqueness constraints. A new object with the unique values of a saved one, or of an older new one, is dropped in
 * favour of that one, which keeps its id. References to the new object become references to the other one. Under object
 * wins, the other one takes every value of the new object that is not the default of its attribute. Under store wins,
 * it takes those of them for which it has nil; under overwrite, all; under rollback, none. It also takes the members of
 * to-many relationships, except under rollback.
 *
 * A saved object that got the unique values of another one cannot be dropped. Store wins takes the constraint's
 * properties back, and rollback all its changes. The other policies fail with QUIRE_CONSTRAINT, as everything does by
 * default. A new object also fails unless its entity is that of the other object, or one above it.
 */
#ifndef QUIRE_CONFLICT_H_
#define QUIRE_CONFLICT_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** What a save does with an object that another writer has changed. See above. */
typedef enum quire_merge_policy {
    /** The save fails with QUIRE_CONFLICT or QUIRE_CONSTRAINT and writes nothing. */
    QUIRE_MERGE_ERROR = 0,
    /** Property by property: changes of the store win, other changes here stay. */
    QUIRE_MERGE_STORE_WINS = 1,
    /** Property by property: changes here win over changes of the store. */
    QUIRE_MERGE_OBJECT_WINS = 2,
    /** The whole object as it is in memory. */
    QUIRE_MERGE_OVERWRITE = 3,
    /** The changes of the object are dropped. */
    QUIRE_MERGE_ROLLBACK = 4
} quire_merge_policy;

/** Why an object could not be saved. */
typedef enum quire_conflict_kind {
    /** Another writer changed it. */
    QUIRE_CONFLICT_CHANGED = 1,
    /** Another writer deleted it. It was changed here, or a saved object refers to it. */
    QUIRE_CONFLICT_DELETED = 2,
    /** It was deleted here, and another writer has made `quire_conflict_other` refer to it. */
    QUIRE_CONFLICT_REFERRED = 3,
    /** `quire_conflict_other` has the same values where only one object may have them. */
    QUIRE_CONFLICT_UNIQUE = 4
} quire_conflict_kind;

/** Which values of an object in conflict. */
typedef enum quire_conflict_version {
    /** As it was read or last saved here. A new object has none. */
    QUIRE_CONFLICT_VERSION_COMMITTED = 1,
    /**
     * As it is in the store now. None when there is no row. Of QUIRE_CONFLICT_UNIQUE it is the version of
     * `quire_conflict_other`, with the keys of that object's entity.
     */
    QUIRE_CONFLICT_VERSION_STORED = 2,
    /** As it is here. An object that was deleted here has none. */
    QUIRE_CONFLICT_VERSION_CURRENT = 3
} quire_conflict_version;

/** A function that decides each conflict. */
typedef struct quire_merge_handler {
    /** sizeof(quire_merge_handler) in your build. */
    uint32_t struct_size;
    /** Passed to both functions, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, when the handler is replaced or the context is released. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * Returns a `quire_merge_policy`; any other number counts as QUIRE_MERGE_ERROR. Called on the thread of the save,
     * outside of any transaction. `conflict` is borrowed for the call. It may read objects of the context and fetch.
     * Calls that would change, save or roll back the context or a parent of it fail with QUIRE_INVALID_STATE. All
     * conflicts of a round are decided before the first is settled. One object can come again, when yet another writer
     * changed it.
     */
    uint32_t (*QUIRE_NULLABLE decide)(void *QUIRE_NULLABLE user_data, const quire_conflict *conflict);
} quire_merge_handler;

/** Sets `struct_size`; all else zero. */
#define QUIRE_MERGE_HANDLER_INIT { QUIRE_CAST(uint32_t, sizeof(quire_merge_handler)), NULL, NULL, NULL }

/**
 * Sets the merge policy of the context's saves: a `quire_merge_policy`, QUIRE_MERGE_ERROR at first. Removes a handler.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_CLOSED.
 */
quire_status quire_context_set_merge_policy(
    quire_context *context, uint32_t policy, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The merge policy that was set; QUIRE_MERGE_ERROR when `context` is NULL. A handler decides in its place. */
uint32_t quire_context_merge_policy(const quire_context *context);

/**
 * Sets a function that decides each conflict, in the place of the policy. NULL goes back to the policy that was set.
 *
 * On failure the handler stays the caller's. Fails: QUIRE_INVALID_ARGUMENT (no `decide`), QUIRE_CLOSED.
 */
quire_status quire_context_set_merge_handler(
    quire_context *context, const quire_merge_handler *QUIRE_NULLABLE handler,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * How many conflicts the last save settled, saved or not. Where there are some, objects have other values than before.
 * Text and data borrowed from them have ended.
 */
int64_t quire_context_settled_count(const quire_context *context);

/** How many objects in conflict the error of a save has; 0 for other errors. */
int64_t quire_error_conflict_count(const quire_error *error);

/** One of them, each with its values. Borrowed from `error`; NULL when `index` is out of range. */
const quire_conflict *QUIRE_NULLABLE quire_error_conflict(const quire_error *error, int64_t index);

/** Why the object could not be saved: a `quire_conflict_kind`. 0 when `conflict` is NULL. */
uint32_t quire_conflict_cause(const quire_conflict *conflict);

/** The object in conflict. Borrowed from `conflict`, for the thread of its context. */
quire_object *QUIRE_NULLABLE quire_conflict_object(const quire_conflict *conflict);

/** The other object of QUIRE_CONFLICT_REFERRED and QUIRE_CONFLICT_UNIQUE, otherwise NULL. Borrowed from `conflict`. */
quire_object *QUIRE_NULLABLE quire_conflict_other(const quire_conflict *conflict);

/** Whether it has values of that version (a `quire_conflict_version`). Any thread. */
bool quire_conflict_has(const quire_conflict *conflict, uint32_t version);

/**
 * One value: an attribute, or the id that a to-one relationship holds (QUIRE_VALUE_OBJECT_ID). The values are those at
 * the failure of the save. Text and data are borrowed from `conflict`. Any thread.
 *
 * Fails: QUIRE_NOT_FOUND (no values of that version), QUIRE_INVALID_ARGUMENT (a key that the entity of that version does not
 * have, a to-many relationship).
 */
quire_status quire_conflict_value(
    const quire_conflict *conflict, uint32_t version, const char *key, size_t key_size, quire_value *out_value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
