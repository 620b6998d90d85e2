/**
 * Undoing and redoing what was changed in a context. Off until `quire_context_enable_undo`.
 *
 * Changes are undone in groups. What happens between two processings of changes is one group: `quire_context_process`,
 * a save and every fetch end it. A program that wants others begins and ends them itself. A group in which nothing has
 * changed in the end is none.
 *
 * Undoing gives the objects of a group the values that they had before it, and takes back that they were inserted or
 * deleted, by new changes, which results controllers report and the next save writes. Saves do not end what can be undone:
 * an insertion that was saved becomes a deletion, and a deletion that was saved an insertion of the same object with the
 * same id. Both sides of relationships come back, and so does what delete rules did. A rollback and a reset end everything.
 * What other contexts, processes and batch requests do takes no part in it, nor does what a save settles with them by the
 * merge policy: members that they have added or removed since stay so. If they changed the same row and that was not merged,
 * the save that follows fails with QUIRE_CONFLICT as for any other change. An object whose row is gone from the store is
 * left out.
 *
 * What can be undone holds the objects that it needs. It ends with the last reference to its context.
 */
#ifndef QUIRE_UNDO_H_
#define QUIRE_UNDO_H_

#include "base.h"

QUIRE_BEGIN

/**
 * Turns undo on, from what is changed next. At most `levels` groups are kept, the latest; 0 keeps all. Called again, it
 * changes that number alone.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (a number beyond INT64_MAX), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_enable_undo(
    quire_context *context, uint64_t levels, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Turns undo off: what could be undone and redone is forgotten, and open groups with it.
 *
 * Fails: QUIRE_INVALID_STATE (a delegate is being told of an undo).
 */
quire_status quire_context_disable_undo(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether undo is on. */
bool quire_context_is_undo_enabled(const quire_context *context);

/**
 * Begins a group, after processing what was changed before it. Groups nest; those within another are part of it. `name`
 * is for a menu ("Rename") and may be NULL; the first name that a group or one within it has is the group's.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or a delegate is being told of an undo), QUIRE_INVALID_TEXT, and as
 * `quire_context_process`.
 */
quire_status quire_context_begin_undo_group(
    quire_context *context, const char *QUIRE_NULLABLE name, size_t name_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Ends the group that was begun last. With the outermost one changes are processed, so that what delete rules do is part
 * of it. It ends even when that fails.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or no group is open), and as `quire_context_process`.
 */
quire_status quire_context_end_undo_group(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether there is a group to undo, what is not yet processed included. */
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
 * An insertion that is taken back takes nothing along: what a rule QUIRE_DELETE_CASCADE would delete with the object, because
 * it was there before or came from others since, stays and refers to it no more.
 *
 * `out_list` may be NULL; otherwise the list has the objects of the group, those that are gone now included. Owned:
 * `*out_list`. When reading what is needed fails, nothing was changed.
 * Fails: QUIRE_INVALID_STATE (undo is off, a group is open, or a delegate is being told of an undo), QUIRE_CLOSED,
 * QUIRE_DATABASE, and as `quire_context_process`.
 */
quire_status quire_context_undo(
    quire_context *context, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Does again what was undone last. As `quire_context_undo`. */
quire_status quire_context_redo(
    quire_context *context, quire_list *QUIRE_NULLABLE *QUIRE_NULLABLE out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether changes are kept so that they can be undone; true after `quire_context_enable_undo`. While it is false, changes
 * are for good, and undoing what was before them gives the values of then. Delete rules are applied first.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_set_undo_registration(
    quire_context *context, bool is_registering, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether undo is on and changes are kept for it. */
bool quire_context_is_undo_registering(const quire_context *context);

/**
 * Forgets what could be undone and redone. The changes stay.
 *
 * Fails: QUIRE_INVALID_STATE (undo is off, or a delegate is being told of an undo).
 */
quire_status quire_context_remove_undo_actions(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
