/**
 * @file
 * A working set of objects: those that were inserted, changed and deleted since the last save, and those that were
 * read.
 *
 * Within a context there is one object for each id: fetching a row twice returns the same pointer. A context, its
 * objects, lists and results controllers are used by one thread at a time (see base.h).
 *
 * A context on a store reads one moment of it. Objects, lists, pages, counts and both sides of relationships are of one
 * commit, whatever other contexts, stores or programs commit meanwhile. No read waits for what they do. The moment begins
 * with the first read of the context, at the newest commit.
 *
 * No read advances the context to another moment, and no read calls a delegate: reading objects, values, pages, places,
 * snapshots and related objects, fetching, counting, finding, aggregating and evaluating. The same holds for calls that
 * set values, insert or delete. A fetch, a count and `quire_context_find` apply delete rules and lay pending changes over
 * the result.
 *
 * A context advances to the newest commit, and delegates are called, in these calls alone:
 *
 * - `quire_context_process`, where the context merges automatically (`quire_context_set_merges_automatically`). Otherwise
 *   it calls delegates for pending changes, and advances nothing. So does `quire_context_process_pending` always.
 * - `quire_context_merge`.
 * - `quire_context_save`. A conflict that the merge policy settles advances the context within it, whether the save then
 *   succeeds or not. `quire_context_obtain_permanent_ids` calls delegates.
 * - A batch request (see batch.h).
 * - `quire_context_refresh`, `quire_context_refresh_all`, and a fetch that refreshes objects.
 * - `quire_context_rollback`, which advances the context after a conflict, and `quire_context_reset`.
 * - `quire_context_undo`, `quire_context_redo`, and the begin and the end of an undo group, which call delegates.
 * - `quire_context_pin` with a moment.
 * - The begin, the commit and the rollback of a transaction.
 * - `quire_results_set_request`, `quire_results_suspend` and `quire_results_resume` call delegates, and advance nothing.
 *
 * The same calls of a child, and the save of a child, do that in its parents, too.
 *
 * Results controllers are told what became different between the two moments. When others have changed 256 rows or more,
 * that is worked out on a thread of the store for a context that merges automatically, or whose descriptor was asked for
 * (`quire_context_descriptor`). The context shows what it showed until then. What is told is the same, but for which of two
 * rows that change places is the one that moves. A merge on the thread of the context is still needed for lists with a limit,
 * an offset, aggregates or functions of the program, for suspended lists, and for contexts with a parent.
 *
 * What other processes commit, contexts merge in the same way. The changed rows are determined in one of these ways:
 *
 * - The change journal of the file (`change_journal` of `quire_store_options`). A journal of saves, the default of new
 *   files, has what Quire saves. A commit of another program is noticed by SQLite's count of commits, which needs a WAL.
 *   Saves are unknown, too, where triggers of another program write to tables of the model. A journal of all changes has
 *   plain SQL as well, and needs no WAL. It misses rows that REPLACE deletes because of another unique value than the
 *   key, and what a program writes that has disabled triggers. A journal has the last 10,000 entries at most.
 * - The history of the file (see history.h), which needs a WAL. It has what Quire and Core Data save. A commit without a
 *   history is noticed by SQLite's count of commits. Of several commits that are noticed together, one that has no history
 *   is missed where another one has a transaction of several saves. So is what plain SQL writes in the same transaction as
 *   a save. Lists that depend on members of objects are fetched again, as in the next case.
 * - Neither has all commits, or not back to what the context shows. Then everything may have changed. Objects and lists
 *   are read again. Lists report rows that came, went, or have another place or section. Of a row that stays where it is
 *   they report only what the journal, the history or an object that had its values tells. The change set says so:
 *   `quire_changes_contents_may_differ` is true, and the view draws all of its rows again.
 *
 * While a context holds an old moment, the write-ahead log (WAL) of the file keeps growing. Beyond `wal_limit` of
 * `quire_store_options` (64 MB unless set, 16 MB in memory) the store gives up moments of contexts of which the program
 * holds no objects, lists or children, and of contexts that wait to save. Other contexts keep theirs up to eight times that
 * limit. A call that is under way goes on at its moment. A pinned context always keeps its moment (see moment.h).
 *
 * When a context has lost its moment, its objects and lists stay as they are shown, and no delegate is called. Rows that
 * were not read yet come from the newest state of the store, and so do fetches and counts. A row that was deleted
 * meanwhile fails with QUIRE_NOT_FOUND, and the message names the remedy. The next call that advances the context brings
 * everything up to date, and reports it. `quire_context_has_lost_moment` and `quire_store_wal_info` tell that a moment was
 * lost. A context that draws should merge once per frame, whenever its descriptor is readable: each merge is then short, and
 * the log stays far below the size at which a moment is lost.
 *
 * Other programs that write make the log longer, too. The store looks after it when contexts read. A program that makes no
 * calls, and one that has the store open for reading only, leave the log as it is: others that write find it ever longer, and
 * cannot have it begin anew (`PRAGMA wal_checkpoint` is busy) while contexts show a moment.
 *
 * A file without a WAL has no moments: a program that has it open without one, or a system without shared memory, keeps it
 * from having a WAL. Contexts of such a file read ahead of what they show, as contexts do that have lost their moment,
 * whenever other contexts or programs have committed: what is shown stays, rows that were not read yet are the newest.
 */
#ifndef QUIRE_CONTEXT_H_
#define QUIRE_CONTEXT_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** A set of pending changes. */
typedef enum quire_pending {
    /** Inserted and not yet saved. */
    QUIRE_PENDING_INSERTED = 1,
    /** In the store, with changes that are not yet saved. */
    QUIRE_PENDING_UPDATED = 2,
    /** In the store, and to be removed by the next save. */
    QUIRE_PENDING_DELETED = 3
} quire_pending;

/**
 * Makes a context on a store. Owned: `*out_context`. Fails: QUIRE_CLOSED, QUIRE_INVALID_STATE (called from a log or a
 * registered function).
 */
quire_status quire_context_create(
    quire_store *store, quire_context *QUIRE_NULLABLE *QUIRE_NONNULL out_context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Makes a context on another context, for changes that are kept or dropped as a whole: a dialog with its own Save and
 * Cancel. Owned: `*out_context`.
 *
 * It reads through its parent and sees unsaved changes of the parent. Its saves are changes of the parent, one thing to
 * undo there. They reach the store when the parent saves. Contexts nest up to 64 deep. A child and its parent count as
 * one context for threads. Ids are the same in all of them, and objects are not: look an id up with
 * `quire_context_object`.
 *
 * Later changes of the parent reach objects that the child has read, and its results controllers, with
 * `quire_context_merge`, as a store's changes do. A save is in conflict where both have changed one property of an
 * object to different values. It is also in conflict where the parent has deleted an object that the child changed, or
 * changed one that the child deletes. The child's merge policy settles that, and its "store" is the parent. Of a
 * to-many relationship only the order can be in conflict: members are added and removed one by one, whatever the parent
 * did with the others.
 *
 * Merge policy, hooks and undo are the child's own. Each save validates values. Transient attributes are saved to the
 * parent too, as Core Data does. Rows of values come from the store, and batch requests are left to the context without
 * a parent (QUIRE_UNSUPPORTED).
 *
 * A save is one step of the parent, or none. Hooks that delete rules of the parent call meanwhile cannot save, roll
 * back, reset or undo the parent. While the child's merge handler decides, nothing of the parent can change
 * (QUIRE_INVALID_STATE).
 *
 * The child retains its parent. Fails: QUIRE_UNSUPPORTED (64 contexts are above it), QUIRE_WRONG_THREAD, QUIRE_CLOSED.
 */
quire_status quire_context_create_child(
    quire_context *parent, quire_context *QUIRE_NULLABLE *QUIRE_NONNULL out_context,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The context that `context` reads through, or NULL when that is the store. Borrowed from `context`. */
quire_context *QUIRE_NULLABLE quire_context_parent(const quire_context *context);

/** Adds a reference and returns `context`. Takes NULL. Any thread. */
quire_context *QUIRE_NULLABLE quire_context_retain(const quire_context *QUIRE_NULLABLE context);

/**
 * Releases a reference. When no reference to the context, its objects, lists and controllers is left, its pending
 * changes are dropped and its transaction is rolled back. While a call of it is under way on any thread, that happens
 * when the call is done. A save whose hook releases the last reference thus writes everything. Takes NULL. Any thread.
 */
void quire_context_release(quire_context *QUIRE_NULLABLE context);

/**
 * What the history of the store calls the author of the context's saves and batch requests from now on (see history.h). It is
 * for other programs, which know by it whose changes these are. NULL for none. Saves of a child are written by the context
 * without a parent, as its own.
 *
 * Fails: QUIRE_INVALID_TEXT, QUIRE_WRONG_THREAD.
 */
quire_status quire_context_set_author(
    quire_context *context, const char *QUIRE_NULLABLE author, size_t author_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The author; NULL when none is set. Borrowed until it is set again. */
quire_string quire_context_author(const quire_context *context);

/**
 * The name of the context in the history of the store, as `quire_context_set_author`. It is for people: it says what a program
 * was about. NULL for none.
 */
quire_status quire_context_set_name(
    quire_context *context, const char *QUIRE_NULLABLE name, size_t name_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The name; NULL when none is set. Borrowed until it is set again. */
quire_string quire_context_name(const quire_context *context);

/** Its store. Borrowed from `context`. */
quire_store *QUIRE_NULLABLE quire_context_store(const quire_context *context);

/**
 * Inserts an object of `entity`, with the defaults of its attributes and its id. Owned: `*out_object`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (unknown or abstract entity), QUIRE_CLOSED.
 */
quire_status quire_context_insert(
    quire_context *context, const char *entity, size_t entity_size, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Deletes an object: at once for lists and fetches, at the next save in the store. Its delete rules apply when changes
 * are processed. An object that was never saved is simply forgotten. Deleting it again does nothing.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (an object of another context), QUIRE_CLOSED.
 */
quire_status quire_context_delete(
    quire_context *context, quire_object *object, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object of `entity` (or of an entity that inherits from it) with this id. Owned: `*out_object`.
 *
 * An object that the context has read already is returned as it is, without another look into the store.
 *
 * Fails: QUIRE_NOT_FOUND (no such row, or deleted here), QUIRE_INVALID_ARGUMENT, QUIRE_CLOSED.
 */
quire_status quire_context_object(
    quire_context *context, const char *entity, size_t entity_size, int64_t id,
    quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object of `entity` (or of an entity that inherits from it) with this value of an attribute or a to-one
 * relationship. Pending changes are included. Of several objects it returns the one with the lowest id. Owned:
 * `*out_object`.
 *
 * An index on the attribute makes it fast (`quire_model_add_fetch_index`, `quire_model_add_uniqueness_constraint`).
 * Delete rules are applied first, as by a fetch. A value of nil finds an object without a value.
 *
 * Fails: QUIRE_NOT_FOUND (there is none), QUIRE_INVALID_ARGUMENT (no such key, a to-many relationship, a transient
 * attribute, a value that the attribute cannot hold), and as `quire_context_fetch`.
 */
quire_status quire_context_find(
    quire_context *context, const char *entity, size_t entity_size, const char *key, size_t key_size,
    const quire_value *value, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * As `quire_context_find`; where there is no such object, inserts one of `entity` with that value. `*out_is_inserted`
 * tells the two apart; it may be NULL. Owned: `*out_object`.
 *
 * Another context may insert an object with the same value meanwhile. With a uniqueness constraint the save then
 * settles that by the merge policy (see conflict.h). Fails as `quire_context_find`, but for QUIRE_NOT_FOUND, and as
 * `quire_context_insert`.
 */
quire_status quire_context_find_or_insert(
    quire_context *context, const char *entity, size_t entity_size, const char *key, size_t key_size,
    const quire_value *value, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    bool *QUIRE_NULLABLE out_is_inserted, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object with this URI, as `quire_object_uri` returns it. Owned: `*out_object`.
 *
 * Fails: QUIRE_NOT_FOUND, QUIRE_INVALID_ARGUMENT (not such a URI, or of another store), QUIRE_CLOSED.
 */
quire_status quire_context_object_for_uri(
    quire_context *context, const char *uri, size_t uri_size, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether there is something to save: changes of objects, or metadata that were set for the store.
 *
 * A child context saves no metadata. A rollback drops the changes of objects alone.
 */
bool quire_context_has_changes(const quire_context *context);

/** The objects of one set of pending changes (a `quire_pending`), oldest first. Owned: `*out_list`. */
quire_status quire_context_pending(
    quire_context *context, uint32_t pending, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Applies delete rules to deleted objects and notifies results controllers of all changes since the last time. A context
 * that merges automatically merges first.
 *
 * The calls that advance a context (see the top of this file) do this too, and no others. Called from a
 * delegate, it takes effect when the running bracket has ended. A change that was taken back meanwhile is none.
 *
 * Fails: QUIRE_INVALID_STATE (delegates have changed objects a thousand times in a row), QUIRE_CLOSED, QUIRE_DATABASE.
 *
 * Two failures concern lists. QUIRE_FUNCTION and QUIRE_INVALID_PREDICATE: a registered function, or an expression of a
 * list's predicate, section rule or aggregates, fails for a changed object. The lists stay as they are, and the next
 * call tries again. QUIRE_FUNCTION: a delegate failed (see `quire_results_delegate_failed`). The lists are right then.
 */
quire_status quire_context_process(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * As `quire_context_process`, without a merge: whatever `quire_context_set_merges_automatically` has set for the context
 * and for those above it. For programs that show pending changes before they take over those of others. Fails as
 * `quire_context_process`.
 */
quire_status quire_context_process_pending(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Advances to the newest commit, and takes over what others have saved since the moment that the context shows. Objects
 * show the new values, deleted ones are gone, and results controllers report the difference. Processes changes first, and
 * again at the end. What a thread of the store is working out (see above) is waited for.
 *
 * Pending changes of an object stay on top of its new values and can be saved: of two changes of the same attribute
 * this context's is then the later one. Objects that are deleted here stay so. Their delete rules apply to references
 * that other contexts have added. Text and data borrowed from objects whose values changed end with the call.
 *
 * Fails: QUIRE_CLOSED, QUIRE_DATABASE, QUIRE_CANNOT_OPEN (the process has no more descriptors: a context that moves needs
 * two or three of its own). Nothing was taken over then, and the next call tries again. Where only a list cannot be read
 * anew, the context has advanced. That list keeps its rows, and the next call reads it again.
 */
quire_status quire_context_merge(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether `quire_context_process` first takes over the saves of other contexts, as `quire_context_merge` does. What a
 * thread of the store is working out comes with a later call. A save does not merge: changes by other contexts of the
 * same objects are then conflicts. False unless set, as Core Data has it for `automaticallyMergesChangesFromParent`.
 */
quire_status quire_context_set_merges_automatically(
    quire_context *context, bool merges_automatically, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the context itself merges automatically; false unless set. */
bool quire_context_merges_automatically(const quire_context *context);

/**
 * Whether the context can no longer read the moment that it shows, because the store has given it up, or the file has no
 * WAL and there is something to merge. Rows that were not read yet then come from the newest state, until a call advances
 * the context (see above). For a child that is a matter of the context without a parent. False when `context` is NULL, and
 * on another thread than that of a call that is under way.
 */
bool quire_context_has_lost_moment(const quire_context *QUIRE_NULLABLE context);

/**
 * Finds the lists of a context that have changes to be taken, without a look at the others. The lists are results
 * controllers and composites that were made with `queues_changes`.
 *
 * Returns the number of the first such list whose number is above `after`, or 0 when there is no such list. Begin with 0.
 * `quire_results_number` and `quire_composite_number` tell the number of a list. Numbers follow the order in which the lists
 * were made. `quire_results_next_changes` and `quire_composite_next_changes` take the changes. Within a loop over such lists,
 * changes may be taken, and lists may be made and released. Lists of parents and of children do not count.
 *
 * For programs that call their handlers after a call of the library, and not within it.
 */
int64_t quire_context_next_list_with_changes(const quire_context *context, int64_t after);

/**
 * Whether a call that is given the context, or what belongs to it, would be let in now. The call does nothing else. For
 * programs that have to know before they begin something of several steps.
 *
 * Fails: QUIRE_WRONG_THREAD (another thread is inside), QUIRE_INVALID_STATE (called from a log, a registered function, or a
 * progress function that this context calls), QUIRE_CLOSED (the store is closed, or of another process).
 */
quire_status quire_context_check_entry(
    const quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * A number that grows whenever values of objects may have changed by anything else than a call that sets them. Such are
 * merging, rolling back, undoing, refreshing, and whatever else changes objects for the caller. Text and data that
 * objects lent before have ended then. For bindings that keep values of their own. 0 when `context` is NULL.
 */
uint64_t quire_context_generation(const quire_context *context);

/**
 * A file descriptor that polls readable as long as `quire_context_merge` has something to take over. Of a large change
 * it does so when that was worked out (see above), so that the merge does not take long. It is for event loops:
 * poll(2), GLib, Qt, asyncio. Only poll it; do not read from it, write to it or close it. That of a pinned context
 * stays readable as well, and a merge moves the context. Take it out of the event loop while the context is pinned.
 *
 * It polls readable for other programs as well, and needs no thread for that: the system tells of each write to the log of
 * the file, or to the file where it has no log. Then call `quire_context_merge`, which takes over what was committed, as
 * `quire_context_process` does where the context merges automatically. While another program is still writing, the
 * descriptor polls readable again a few milliseconds later. So for other programs it may poll readable when there is
 * nothing; another store of the same file is one of them. What the store itself writes has the descriptor poll readable
 * once it can be merged. It tells nothing of stores in memory, of XML stores, and of files whose folder allows no lock. A
 * file that was replaced by another is told by the next save (QUIRE_FILE_MOVED). When a merge has failed with
 * QUIRE_MODEL_MISMATCH, because another program has migrated the file, the descriptor is quiet again. An event loop on
 * epoll(7) takes the descriptors of 100 contexts of one store at most.
 *
 * It belongs to `context` and is closed with it. It becomes readable on any thread that saves; merging is for the
 * thread of the context. Once the store is closed it is never readable again, because nothing can be taken over.
 *
 * Fails: QUIRE_INVALID_STATE (the process has no more descriptors, or the system watches no more files), QUIRE_CLOSED.
 */
quire_status quire_context_descriptor(
    quire_context *context, int *out_descriptor, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Writes all pending changes in one transaction, or as part of the one that is open. Without changes it does nothing.
 *
 * On failure nothing was written and the context keeps its changes. A conflict is a row that has another version than
 * when it was read. Another writer changed or deleted it, or changed which objects it holds in a relationship that is
 * to-many on both sides. A deletion that would leave behind a reference by another writer is a conflict, too. The merge
 * policy decides conflicts (see conflict.h); unless one is set the save fails.
 *
 * The order is: changes are processed, hooks `will_save`, validation, writing, hooks `did_save` (see hooks.h).
 * Unchanged values of changed objects are not validated, so a value that is wrong in the file already stops no save.
 *
 * A save never merges first. When it has succeeded, the context is at its own commit. What others have committed before
 * it, the context takes over then, and observers are told of that after `did_save`. Core Data moves its generation there,
 * too, and refreshes nothing. A save that fails moves nothing.
 *
 * There is one exception to "nothing was written". When fsync fails, the system cannot tell whether the changes have
 * reached the disk (QUIRE_DATABASE, with the database code SQLITE_IOERR_FSYNC). The save is undone for all that use the
 * file now. A power cut or an end of all these processes may still bring it into the file. Look there before saving
 * again.
 *
 * Fails: QUIRE_VALIDATION (values, counts, rules, the deny rule; each in the error's details, see error.h),
 * QUIRE_FUNCTION (a hook failed), QUIRE_INVALID_STATE (called from a hook of a save; hooks change objects for ever),
 * QUIRE_CONFLICT, QUIRE_CONSTRAINT, QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED, QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_save(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Drops all pending changes: inserted objects are forgotten, deleted ones return, changed ones get their saved values.
 *
 * After a save that failed with QUIRE_CONFLICT the context advances to the newest commit, and all its objects are read anew.
 * The program can then make its changes again on the stored values. Text and data borrowed from the objects end with the rollback.
 *
 * Fails: QUIRE_INVALID_STATE (SQLite has ended the transaction of the context, which
 * `quire_context_rollback_transaction` takes back as a whole; called by a merge handler, or by a hook while the save of
 * a child is taken over), QUIRE_FUNCTION (a hook failed), QUIRE_CLOSED.
 */
quire_status quire_context_rollback(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Begins a transaction of the file, for several saves and batch requests that belong together. What this context writes
 * from now on is in the file when the transaction is committed, all of it or nothing. The context itself reads it at
 * once.
 *
 * A save or batch request that fails, or is cancelled, takes back what it wrote itself; the transaction stays open.
 * Children save into the context as ever.
 *
 * The context takes over first what others have saved by now, which is what the transaction sees.
 *
 * Keep transactions short. Other contexts of the store read the moments that they show, and wait where they write. They
 * fail with QUIRE_BUSY after the busy timeout (see store.h); on the thread that used the transaction last they fail at
 * once. Objects inserted in them have temporary ids meanwhile. Other processes read the earlier state, and cannot write.
 * All others learn of the changes by the commit. Releasing the context or closing the store rolls the transaction back.
 *
 * Fails: QUIRE_INVALID_STATE (the context has unsaved changes, or a transaction already; called from a delegate or a
 * hook), QUIRE_UNSUPPORTED (a child, whose saves do not reach the file), QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED,
 * QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_begin_transaction(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Saves pending changes, as `quire_context_save` does, and ends the transaction. Its changes are then in the file, and
 * other contexts can merge them.
 *
 * On failure the transaction is still open: try again when the cause is gone, or roll it back. After some errors SQLite
 * itself ends a transaction (a full disk, an I/O error). Then only the rollback is left: calls that would change
 * something fail with QUIRE_INVALID_STATE until then.
 *
 * Fails: as `quire_context_save`, QUIRE_INVALID_STATE (no transaction is open; called from a delegate or a hook).
 */
quire_status quire_context_commit_transaction(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Takes back everything since `quire_context_begin_transaction`, saved or pending, in the file and in the context.
 *
 * Objects show what the file has: changed ones have their earlier values, deleted ones are there again, inserted ones
 * are gone. Results controllers report all that in one bracket. The history of undo is cleared. Ids that were assigned
 * meanwhile are not assigned again while the store is open. Text and data borrowed from objects end with the rollback.
 *
 * Fails: QUIRE_INVALID_STATE (no transaction is open; called from a delegate or a hook), QUIRE_CLOSED. It can also fail
 * as `quire_context_merge` or `quire_context_process` do. The transaction is over all the same then, and the next call
 * of these goes on.
 */
quire_status quire_context_rollback_transaction(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether a transaction is open in `context`, or in the topmost of its parents. */
bool quire_context_is_in_transaction(const quire_context *context);

/**
 * Makes an object show its stored values. The whole context advances to the newest commit first, as by
 * `quire_context_merge`: pending changes of other objects stay on top of their new values, too.
 *
 * With `merge`, pending changes of the object stay on top of these values, and the next save writes them without a
 * conflict. Transient values stay too. Without `merge`, its changes are taken back, both sides of relationships
 * included. It becomes a fault, which is read when it is next needed. Merging does nothing to an object that was
 * inserted or deleted. Results controllers report the difference when changes are next processed. Text and data
 * borrowed from the object end with this.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (an object of another context), QUIRE_INVALID_STATE (gone, or without `merge` inserted
 * or deleted), QUIRE_NOT_FOUND (its row is gone from the store, and with it its pending changes), QUIRE_CLOSED,
 * QUIRE_DATABASE.
 */
quire_status quire_context_refresh(
    quire_context *context, quire_object *object, bool merge, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Refreshes all objects that the context has, and keeps their pending changes. Those without changes become faults. The
 * context advances to the newest commit first, as by `quire_context_merge`. Fails: QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_refresh_all(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Drops all pending changes as a rollback does, advances to the newest commit, and forgets all objects. Objects are read anew
 * when they are asked for next.
 *
 * Objects that callers hold fail with QUIRE_INVALID_STATE from then on. Results controllers stay, report what the
 * rollback changed, and return new objects. So do lists of fetches. Changes that delegates make during that report stay
 * pending. The history of undo is cleared.
 *
 * Fails: QUIRE_INVALID_STATE (called from a delegate), QUIRE_CLOSED, and as `quire_context_process`.
 */
quire_status quire_context_reset(quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Assigns a permanent id to every inserted object that could not have one at its insertion (see `quire_object_id`). It
 * also assigns another id where a program that does not keep to Z_PRIMARYKEY has used the id of an inserted object. A
 * save reports that case with QUIRE_CONFLICT. The objects stay inserted. Processes changes first.
 *
 * Fails: QUIRE_BUSY, QUIRE_READ_ONLY, QUIRE_FILE_MOVED, QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_context_obtain_permanent_ids(
    quire_context *context, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Inserts `row_count` objects of `entity` in one call, from columns. They are pending, as if inserted one by one.
 *
 * Nothing is inserted when one value is refused. Rows need at least one column.
 *
 * @param keys Names of `column_count` attributes, each ended by NUL.
 * @param columns `columns[c]` points to the `row_count` values of the attribute `keys[c]`.
 * @param[out] out_first_id The first id; NULL when it is not needed. The others follow without gaps: upwards, or
 *     downwards when they are temporary and thus negative.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_TEXT, QUIRE_CLOSED.
 */
quire_status quire_context_insert_rows(
    quire_context *context, const char *entity, size_t entity_size, const char *const QUIRE_NULLABLE *QUIRE_NONNULL keys,
    const quire_value *const QUIRE_NULLABLE *QUIRE_NONNULL columns, size_t column_count, size_t row_count,
    int64_t *QUIRE_NULLABLE out_first_id, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Attaches a pointer of the program to `context`, in the place of the previous one. The library never reads through it.
 * `destroy`, which may be NULL, is called once with it: when another pointer takes its place, or with the last release
 * of `context`, on the thread of that release.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_WRONG_THREAD; `destroy` is not called then.
 */
quire_status quire_context_set_user_data(
    quire_context *context, void *QUIRE_NULLABLE user_data, void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data),
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The attached pointer, or NULL. */
void *QUIRE_NULLABLE quire_context_user_data(const quire_context *context);

QUIRE_END

#endif
