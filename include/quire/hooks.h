/**
 * @file
 * Functions of the program that are called at points in the life of objects: when an object is inserted, read, saved or
 * deleted.
 *
 * Hooks belong to a context. Its calls call them, on their thread, with no lock held. Hooks may use the context, its
 * objects and others freely, with the exceptions below. Objects that they change are changed as always: live lists
 * report it, a save writes it, and undo covers it. Hooks within hooks are refused when they are 64 deep
 * (QUIRE_INVALID_STATE).
 *
 * Batch requests (batch.h) have no objects and call no hooks.
 */
#ifndef QUIRE_HOOKS_H_
#define QUIRE_HOOKS_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** Why the values of an object changed without a call that set them. The numbers are Core Data's. */
typedef enum quire_snapshot_events {
    /** Its insertion was undone: it is deleted now, and has no values to be set. */
    QUIRE_SNAPSHOT_UNDO_INSERTION = 2,
    /** Its deletion was undone: it is there again. */
    QUIRE_SNAPSHOT_UNDO_DELETION = 4,
    /** A change of it was undone. A redo counts as what it undoes: a deletion done again is QUIRE_SNAPSHOT_UNDO_INSERTION. */
    QUIRE_SNAPSHOT_UNDO_UPDATE = 8,
    /** `quire_context_rollback` or `_reset` has restored its saved values. */
    QUIRE_SNAPSHOT_ROLLBACK = 16,
    /** It shows its stored values: `quire_context_refresh`, `_refresh_all`, `_merge`, or an automatic merge. */
    QUIRE_SNAPSHOT_REFRESH = 32,
    /** The merge policy has settled a conflict of it. */
    QUIRE_SNAPSHOT_MERGE_POLICY = 64
} quire_snapshot_events;

/**
 * The hooks for the objects of an entity. Every callback may be NULL and costs nothing then. `object` is borrowed for
 * the call.
 *
 * All but `did_save` return true, or false when they failed. `*out_reason` is nil before. After a failure it may be a
 * text with the reason, which is copied as soon as the callback has returned. The call that ran the hook fails with
 * QUIRE_FUNCTION.
 */
typedef struct quire_hooks {
    /** sizeof(quire_hooks) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** Passed to every callback, never touched. */
    void *QUIRE_NULLABLE user_data;
    /**
     * Called once, when the library releases `user_data`: the hooks are replaced or removed, or the context is
     * released.
     */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * The object was inserted and has its defaults, or the values that came with it (`quire_context_insert_rows`).
     * Called once in its life: not when an insertion is done again after it was undone. If it fails, nothing was
     * inserted.
     */
    bool (*QUIRE_NULLABLE awake_from_insert)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * The row was read, and the program is about to read or change the object for the first time since
     * (`quire_object_get`, `_set` and their like). Attributes of `object` that the hook sets, transient ones above all,
     * are not changes. They are not saved, live lists do not report them, and the object is as clean as before. The
     * hook cannot change its relationships (QUIRE_INVALID_STATE). Fetches, pages and predicates read values without
     * calling the hook. If it fails, the call fails, and the next one calls the hook again.
     */
    bool (*QUIRE_NULLABLE awake_from_fetch)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * The object is about to be deleted, by a call or by the rule of another object, and still has its relationships.
     * Also called when it is deleted a second time. If the hook fails, the object is not deleted. Where a rule deletes
     * it, the call that processed changes fails, and the next one tries again.
     */
    bool (*QUIRE_NULLABLE prepare_for_deletion)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * A save is about to validate and write the object, which was inserted, changed or deleted. Changes by the hook are
     * saved too. The hook is called again for all objects that it changed, until nothing changes. After 1,000 such
     * rounds the save fails with QUIRE_INVALID_STATE. So set a value only if it is another. If the hook fails, so does
     * the save, with everything pending.
     */
    bool (*QUIRE_NULLABLE will_save)(void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * An inserted or changed object is validated. `quire_object_refuse` reports what is wrong with it, and the save
     * fails with that among the other broken rules. The hook returns true all the same. False means that the hook
     * itself failed, and ends the save. It must not change objects (QUIRE_INVALID_STATE from the save).
     */
    bool (*QUIRE_NULLABLE validate)(void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * The object was saved. A deleted object has no values any more. Changes by the hook are pending for the next save,
     * which the hook cannot make.
     */
    void (*QUIRE_NULLABLE did_save)(void *QUIRE_NULLABLE user_data, quire_object *object);
    /**
     * The values of the object are about to be forgotten, so that the next use reads them. `quire_context_refresh`
     * without merging, `_refresh_all`, `_reset`, and `_rollback` after a conflict do so. The program can free what it
     * keeps beside the object for these values. Not called with the last release of an object.
     *
     * This hook and the two below cannot prevent anything. If one fails, all is done as if it had not, and the call
     * fails at its end. Attributes of `object` that they set are no changes, and they cannot set its relationships.
     */
    bool (*QUIRE_NULLABLE will_turn_into_fault)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * The values are forgotten. Reading one now reads the row. After `quire_context_reset` the object cannot be used.
     */
    bool (*QUIRE_NULLABLE did_turn_into_fault)(
        void *QUIRE_NULLABLE user_data, quire_object *object, quire_value *out_reason);
    /**
     * The context changed the values of the object; `events` is one of `quire_snapshot_events`. The hook can
     * recalculate what depends on them, such as transient attributes. Called when everything is in its new place. Not
     * called for objects that a fetch refreshes, nor for values that a save derives.
     */
    bool (*QUIRE_NULLABLE awake_from_snapshot)(
        void *QUIRE_NULLABLE user_data, quire_object *object, uint32_t events, quire_value *out_reason);
} quire_hooks;

/** Sets `struct_size`; all else zero. */
#define QUIRE_HOOKS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_hooks)), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Sets the hooks, which are copied, for objects of `entity` and of entities that inherit from it and have none of their
 * own. With NULL as `entity`, sets them for all entities that have none. NULL as `hooks` removes the hooks. `destroy`
 * of the previous hooks is called.
 *
 * Set them before the context reads or inserts objects. On failure `destroy` is not called.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such entity, a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set
 * that this version does not know).
 */
quire_status quire_context_set_hooks(
    quire_context *context, const char *QUIRE_NULLABLE entity, size_t entity_size, const quire_hooks *QUIRE_NULLABLE hooks,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
