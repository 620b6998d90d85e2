/**
 * @file
 * Reading and changing one object. Used on the thread of its context.
 */
#ifndef QUIRE_OBJECT_H_
#define QUIRE_OBJECT_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** Adds a reference and returns `object`. Takes NULL. Any thread. */
quire_object *QUIRE_NULLABLE quire_object_retain(const quire_object *QUIRE_NULLABLE object);

/** Releases a reference. Takes NULL. Any thread. */
void quire_object_release(quire_object *QUIRE_NULLABLE object);

/** Its context. Borrowed from `object`. */
quire_context *QUIRE_NULLABLE quire_object_context(const quire_object *object);

/** Name of its entity. Borrowed from `object`. */
quire_string quire_object_entity(const quire_object *object);

/**
 * Its id, permanent from its insertion on. The save that makes a row of the object does not change it, and no other
 * object of the store ever gets it. (Keys are taken from the file ahead, some at a time. An unused key leaves a gap.) 0
 * when `object` is NULL.
 *
 * The id is temporary when none can be had at the insertion: the store is read only, or another process is just writing
 * to it. A temporary id is negative, and of this context alone. It becomes permanent with the save, or with
 * `quire_context_obtain_permanent_ids`.
 *
 * Ids are unique among the entities of one inheritance tree. Objects of unrelated entities can have the same id.
 */
int64_t quire_object_id(const quire_object *object);

/**
 * Its URI, `x-coredata://<store>/<entity>/p<id>`; before it has a permanent id, `x-coredata:///<entity>/t<UUID>`.
 *
 * Borrowed from `object`, until its id becomes permanent.
 */
quire_string quire_object_uri(quire_object *object);

/** Whether it was inserted and not yet saved. */
bool quire_object_is_inserted(const quire_object *object);

/** Whether it is in the store and has changes that are not yet saved. */
bool quire_object_is_updated(const quire_object *object);

/** Whether it was deleted, here or, found when reading it, in the store. */
bool quire_object_is_deleted(const quire_object *object);

/** Whether its values have not been read yet, or are to be read anew; reading one does that. */
bool quire_object_is_fault(const quire_object *object);

/**
 * Reads an attribute or a to-one relationship. A relationship has QUIRE_VALUE_OBJECT_ID or nil.
 *
 * Text and data are borrowed from `object`, as base.h says: until this attribute is set, or until the context changes
 * values of objects by other means. A deleted object can be read until the deletion is saved.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such key, a to-many relationship), QUIRE_INVALID_STATE (deleted and saved, or never
 * saved), QUIRE_NOT_FOUND (its row is gone from the store), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_object_get(
    quire_object *object, const char *key, size_t key_size, quire_value *out_value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads an attribute that holds text, a URI or a decimal number, as text. No text (`data` is NULL) for nil.
 *
 * Borrowed as by `quire_object_get`. Fails as `quire_object_get`, and with QUIRE_INVALID_ARGUMENT (another type), also
 * while the value is nil.
 */
quire_status quire_object_get_text(
    quire_object *object, const char *key, size_t key_size, quire_string *out_text,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads an attribute that holds an integer or a boolean. 0 for nil; `*out_is_nil`, which may be NULL, distinguishes nil from a zero.
 *
 * Fails as `quire_object_get`, and with QUIRE_INVALID_ARGUMENT (another type, also while the value is nil).
 */
quire_status quire_object_get_integer(
    quire_object *object, const char *key, size_t key_size, int64_t *out_integer, bool *QUIRE_NULLABLE out_is_nil,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads an attribute that holds a number of any type, or a boolean, as the nearest double. 0 for nil;
 * `*out_is_nil`, which may be NULL, distinguishes nil from a zero.
 *
 * Fails as `quire_object_get`, and with QUIRE_INVALID_ARGUMENT (another type, also while the value is nil).
 */
quire_status quire_object_get_number(
    quire_object *object, const char *key, size_t key_size, double *out_number, bool *QUIRE_NULLABLE out_is_nil,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads an attribute that holds a date, as seconds since 1970-01-01 00:00:00 UTC. 0 for nil;
 * `*out_is_nil`, which may be NULL, distinguishes nil from that moment.
 *
 * Fails as `quire_object_get`, and with QUIRE_INVALID_ARGUMENT (another type, also while the value is nil).
 */
quire_status quire_object_get_date(
    quire_object *object, const char *key, size_t key_size, double *out_seconds, bool *QUIRE_NULLABLE out_is_nil,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Changes an attribute or a relationship; inverse relationships follow at once.
 *
 * A to-one relationship takes an object or nil. A to-many one takes a list of objects, which replaces its members. A
 * value equal to the present one changes nothing.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such key, a derived attribute, a value that the attribute cannot hold, an object of
 * another context or entity), QUIRE_INVALID_TEXT, QUIRE_INVALID_STATE (deleted), QUIRE_NOT_FOUND, QUIRE_CLOSED,
 * QUIRE_DATABASE.
 */
quire_status quire_object_set(
    quire_object *object, const char *key, size_t key_size, const quire_value *value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Changes `count` attributes or to-one relationships in one call. Each of `keys` ends with NUL.
 *
 * Nothing changes when one value is refused. Fails as `quire_object_set`.
 */
quire_status quire_object_set_values(
    quire_object *object, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys, const quire_value *values, size_t count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The object that a to-one relationship holds, or NULL. Owned: `*out_object`. Fails as `quire_object_get`. */
quire_status quire_object_get_object(
    quire_object *object, const char *key, size_t key_size, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The objects that a to-many relationship holds, as they are now; later changes do not reach the list.
 *
 * In their order when the relationship is ordered, otherwise by id. Owned: `*out_list`. Fails as `quire_object_get`.
 */
quire_status quire_object_get_objects(
    quire_object *object, const char *key, size_t key_size, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The objects of a fetched property. The first call runs its request, pending changes included. The result stays until
 * the object is refreshed or becomes a fault, without objects deleted since. Owned: `*out_list`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such fetched property), QUIRE_INVALID_STATE (deleted and saved, or never saved),
 * and as `quire_context_fetch`.
 */
quire_status quire_object_get_fetched(
    quire_object *object, const char *key, size_t key_size, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The keys of the stored properties that differ from their last read or saved values, relationships included. For an
 * inserted object they are the keys that have a value. Transient attributes are never among them.
 *
 * Stores how many there are in `*out_count`, and the first `capacity` of them in `out_keys`, which may be NULL when
 * `capacity` is 0. Borrowed from `object`. Fails: QUIRE_INVALID_STATE (deleted and saved, or never saved).
 */
quire_status quire_object_changed_keys(
    quire_object *object, quire_string *QUIRE_NULLABLE out_keys, size_t capacity, size_t *out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The value that an attribute or a to-one relationship had when it was last read or saved; nil for an inserted object.
 *
 * Text and data are borrowed from `object`, until this attribute changes, a save, a rollback, or a refresh.
 * Fails as `quire_object_get`.
 */
quire_status quire_object_get_committed(
    quire_object *object, const char *key, size_t key_size, quire_value *out_value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The objects that a to-many relationship held when it was last read or saved, those to be deleted included. None for
 * an inserted object. In the order of `quire_object_get_objects`. Owned: `*out_list`. Fails as that function.
 */
quire_status quire_object_get_committed_objects(
    quire_object *object, const char *key, size_t key_size, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds `other` to a to-many relationship, at its end when ordered. Holding it already changes nothing. Fails as `quire_object_set`. */
quire_status quire_object_add(
    quire_object *object, const char *key, size_t key_size, quire_object *other,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Removes `other` from a to-many relationship. Not holding it changes nothing. Fails as `quire_object_set`. */
quire_status quire_object_remove(
    quire_object *object, const char *key, size_t key_size, quire_object *other,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Checks an object as a save would, and also unchanged properties: every value, every count, the rules about the object
 * and the hook `validate`. For a deleted object it checks whether the deny rule allows the deletion. Nothing is
 * changed.
 *
 * Fails: QUIRE_VALIDATION (all broken rules in the error's details, see error.h), QUIRE_FUNCTION (the hook failed),
 * QUIRE_INVALID_STATE (deleted and saved, or never saved), QUIRE_NOT_FOUND, QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_object_validate(quire_object *object, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Checks whether a value could be set for an attribute or a to-one relationship and then be saved, without setting it.
 * It checks the type, whether nil is allowed, and the rules about the attribute.
 *
 * Fails: QUIRE_VALIDATION (the broken rules), and as `quire_object_set`.
 */
quire_status quire_object_validate_value(
    quire_object *object, const char *key, size_t key_size, const quire_value *value,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Refuses the save of an object, with a reason. For its hook `validate` (hooks.h), which may refuse several times.
 *
 * @param key The property at fault, or NULL when it is the object as a whole.
 * @param message That of the error.
 *
 * Fails: QUIRE_INVALID_STATE (the hook is not running for this object), QUIRE_INVALID_ARGUMENT (no such key, no
 * message).
 */
quire_status quire_object_refuse(
    quire_object *object, const char *QUIRE_NULLABLE key, size_t key_size, const char *message, size_t message_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
