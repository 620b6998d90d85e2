/**
 * Functions of the program that are called at points in the life of objects: when one is inserted, read, saved or deleted.
 *
 * Hooks belong to a context and are called by its calls, on their thread, with no lock held. They may use the context, its
 * objects and others as they like, save for what is said below. Objects that they change are changed as always: live lists
 * hear of it, a save writes it, and it is undone with the rest. Hooks within hooks are refused when they are 64 deep
 * (QUIRE_INVALID_STATE).
 *
 * Batch requests (batch.h) have no objects and call no hooks.
 */
#ifndef QUIRE_HOOKS_H_
#define QUIRE_HOOKS_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** Why an object has other values than before, without a call having set them. The numbers are Core Data's. */
typedef enum quire_snapshot_events {
    /** Its insertion was undone: it is deleted now, and has no values to be set. */
    QUIRE_SNAPSHOT_UNDO_INSERTION = 2,
    /** Its deletion was undone: it is there again. */
    QUIRE_SNAPSHOT_UNDO_DELETION = 4,
    /** A change of it was undone. Doing something again comes under what that undoes: a deletion done again is the first. */
    QUIRE_SNAPSHOT_UNDO_UPDATE = 8,
    /** `quire_context_rollback` or `_reset` has given back what was saved. */
    QUIRE_SNAPSHOT_ROLLBACK = 16,
    /** It shows what is in the store now: `quire_context_refresh`, `_refresh_all`, `_merge`, or a merge by itself. */
    QUIRE_SNAPSHOT_REFRESH = 32,
    /** The merge policy has settled a conflict over it. */
    QUIRE_SNAPSHOT_MERGE_POLICY = 64
} quire_snapshot_events;

/**
 * What to call for the objects of an entity. Every callback may be NULL and costs nothing then. `object` is borrowed for the
 * call.
 *
 * All but `did_save` give true, or false when they failed; `*out_reason`, which is nil before, may then be a text that tells
 * why, which is copied as soon as the callback has returned. The call that ran the hook fails with QUIRE_FUNCTION.
 */
typedef struct quire_hooks {
    /** sizeof(quire_hooks) in your build. */
    uint32_t struct_size;
    uint32_t reserved;
    /** Passed to every callback, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Once, when the library lets go of `user_data`: the hooks are replaced or removed, or the context is gone. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * It was inserted and has its defaults, or the values that came with it (`quire_context_insert_rows`). Once in its
     * life: not when an insertion is done again after it was undone. If it fails, nothing was inserted.
     */
    bool (*QUIRE_NULLABLE awake_from_insert)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * Its row was read, and the program is about to read or change it for the first time since (`quire_object_get`,
     * `_set` and their like). Attributes of `object` that are set here, transient ones above all, are not changes: they
     * are not saved, live lists do not hear of them, and the object is as clean as before. Its relationships cannot be
     * changed here (QUIRE_INVALID_STATE). Fetches, pages and predicates read values without calling it. If it fails, the
     * call fails, and the next one calls it again.
     */
    bool (*QUIRE_NULLABLE awake_from_fetch)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * It is about to be deleted, by a call or by the rule of another object, and still has its relationships. Also when it
     * is deleted a second time. If it fails, the object is not deleted; where a rule wanted that, the call that processed
     * changes fails, and the next one tries again.
     */
    bool (*QUIRE_NULLABLE prepare_for_deletion)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * A save is about to validate and write it: an inserted, changed or deleted object. What it changes is saved too, and
     * all that was changed is told again, until nothing changes any more; after 1,000 such rounds the save fails with
     * QUIRE_INVALID_STATE. So set a value only if it is another. If it fails, so does the save, with everything pending.
     */
    bool (*QUIRE_NULLABLE will_save)(void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * An inserted or changed object is validated: `quire_object_refuse` says what is wrong with it, which comes out with
     * the other broken rules of the save. True all the same; false means that nobody knows, and ends the save. It must not
     * change objects (QUIRE_INVALID_STATE from the save).
     */
    bool (*QUIRE_NULLABLE validate)(void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * It was saved; an object that was deleted has no values any more. What it changes is pending for the next save, which
     * cannot be made from here.
     */
    void (*QUIRE_NULLABLE did_save)(void *QUIRE_NULLABLE user_data, quire_object *object);
    /**
     * Its values are about to be forgotten, so that the next use reads them: `quire_context_refresh` without merging,
     * `_refresh_all`, `_reset`, and `_rollback` after a conflict. What it keeps beside the object for them can go. Not
     * when the last reference to an object goes. This hook and the two below cannot prevent anything: if one fails, all
     * is done as if it had not, and the call fails at its end. Attributes of `object` that they set are no changes, and
     * its relationships cannot be set.
     */
    bool (*QUIRE_NULLABLE will_turn_into_fault)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /** They are forgotten. Reading one now reads the row; after `quire_context_reset` the object cannot be used. */
    bool (*QUIRE_NULLABLE did_turn_into_fault)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * It has other values than before, by the doing of its context; `events` is one of `quire_snapshot_events`. To
     * calculate anew what is made of them, such as transient attributes. Called when everything is in its new place.
     * Not called for objects that a fetch refreshes, nor for what a save derives.
     */
    bool (*QUIRE_NULLABLE awake_from_snapshot)(
        void *QUIRE_NULLABLE user_data, quire_object *object, uint32_t events, quire_value *out_reason);
} quire_hooks;

/** Sets `struct_size`; all else zero. */
#define QUIRE_HOOKS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_hooks)), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Sets the hooks, which are copied, for objects of `entity` and of entities that inherit from it and have none of their own;
 * with NULL as `entity`, for all entities that have none. NULL as `hooks` removes what was set there. `destroy` of the ones
 * before is called.
 *
 * Set them before the context reads or inserts objects. On failure `destroy` is not called.
 * Fails: QUIRE_INVALID_ARGUMENT (no such entity, a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set that
 * this version does not know).
 */
quire_status quire_context_set_hooks(
    quire_context *context, const char *QUIRE_NULLABLE entity, size_t entity_size, const quire_hooks *QUIRE_NULLABLE hooks,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
