/**
 * @file
 * Undoing and redoing changes of a context. Off until `quire_context_enable_undo`.
 *
 * Changes are undone in groups. All changes between two processings are one group: `quire_context_process`, a save and
 * all else that processes changes (see context.h) end it. A program that wants other groups begins and ends them
 * itself. A group without a change in the end is none.
 *
 * Undoing restores the values that the objects of a group had before it, and takes back insertions and deletions. It
 * does so by new changes, which results controllers report and the next save writes. Saves do not clear the history. A
 * saved insertion becomes a deletion. A saved deletion becomes an insertion of the same object with the same id. Both
 * sides of relationships come back, and so do the effects of delete rules. A rollback and a reset clear the history.
 *
 * Changes of other contexts, processes and batch requests take no part in it. Neither do changes by a merge policy:
 * members that others have added or removed since stay so. If others changed the same row and that was not merged, the
 * save that follows fails with QUIRE_CONFLICT as for any other change. An object whose row is gone from the store is
 * left out.
 *
 * The history holds the objects that it needs. It ends with the last reference to its context.
 */
#ifndef QUIRE_UNDO_H_
#define QUIRE_UNDO_H_

#include "base.h"

QUIRE_BEGIN

/**
 * Turns undo on, from the next change. At most `levels` groups are kept, the latest; 0 keeps all. A second call changes
 * that number alone.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (a number beyond INT64_MAX), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_enable_undo(
    quire_context *context, uint64_t levels, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Turns undo off and clears the history, open groups included.
 *
 * Fails: QUIRE_INVALID_STATE (a delegate is being notified of an undo).
 */
quire_status quire_context_disable_undo(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether undo is on. */
bool quire_context_is_undo_enabled(const quire_context *context);

/**
 * Begins a group, after processing the changes before it. Groups nest; those within another are part of it. `name` is
 * for a menu ("Rename") and may be NULL. The first name that a group or one within it has is the group's.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or a delegate is being notified of an undo), QUIRE_INVALID_TEXT, and as
 * `quire_context_process`.
 */
quire_status quire_context_begin_undo_group(
    quire_context *context, const char *QUIRE_NULLABLE name, size_t name_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Ends the group that was begun last. With the outermost one changes are processed, so the effects of delete rules are
 * part of it. It ends even when that fails.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or no group is open), and as `quire_context_process`.
 */
quire_status quire_context_end_undo_group(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether there is a group to undo, unprocessed changes included. */
bool quire_context_can_undo(const quire_context *context);

/** Whether there is a group to redo. Every new change ends that. */
bool quire_context_can_redo(const quire_context *context);

/** Name of the group that would be undone; empty when it has none. Borrowed until the next change of the context. */
quire_string quire_context_undo_name(const quire_context *context);

/** Name of the group that would be redone; empty when it has none. Borrowed until the next change of the context. */
quire_string quire_context_redo_name(const quire_context *context);

/**
 * Processes changes, takes back the last group, and processes again. Does nothing when there is none.
 *
 * Taking an insertion back deletes no other object. A rule QUIRE_DELETE_CASCADE would delete objects that were there
 * before, or came from others since. They stay, and lose their reference to the object.
 *
 * `out_list` may be NULL. Otherwise the list has the objects of the group, those that are gone now included. Owned:
 * `*out_list`. When a read that it needs fails, nothing was changed.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, a group is open, or a delegate is being notified of an undo), QUIRE_CLOSED,
 * QUIRE_DATABASE, and as `quire_context_process`.
 */
quire_status quire_context_undo(
    quire_context *context, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Redoes the last undone group. As `quire_context_undo`. */
quire_status quire_context_redo(
    quire_context *context, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether changes are recorded, so that they can be undone; true after `quire_context_enable_undo`. Changes made while
 * it is false are for good. Undoing a group before them restores the values of that time. Delete rules are applied
 * first.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_set_undo_registration(
    quire_context *context, bool is_registering, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether undo is on and changes are recorded. */
bool quire_context_is_undo_registering(const quire_context *context);

/**
 * Clears the history of undo and redo. The changes stay.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or a delegate is being notified of an undo).
 */
quire_status quire_context_remove_undo_actions(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
