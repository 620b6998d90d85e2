/**
 * Results controllers: a fetch request kept up to date, gathered in sections, that reports its exact changes.
 *
 * A controller follows its context: a change shows when the context processes it (`quire_context_process`, a save, a
 * rollback, a fetch), saved or not. Then the delegate is told, on the thread of that call: first `will_change` (the
 * controller still shows the old state), then sections, then objects, then aggregates, then `did_change` (all with the new
 * state), then `changes` with everything at once. Callbacks may read, change objects, save and release anything;
 * what they change is reported in a bracket of its own, after the running one.
 *
 * What is reported is in changes.h.
 */
#ifndef QUIRE_RESULTS_H_
#define QUIRE_RESULTS_H_

#include "aggregate.h"
#include "base.h"
#include "changes.h"
#include "section_rule.h"
#include "value.h"

QUIRE_BEGIN

/** Place of a row. */
typedef struct quire_index_path {
    int64_t section;
    int64_t row;
} quire_index_path;

/** A section, as `quire_results_section` gives it. */
typedef struct quire_section {
    /** sizeof(quire_section) in your build; the library fills no more. */
    uint32_t struct_size;
    uint32_t reserved;
    /**
     * The value as text: numbers as they print, booleans "0" and "1", dates as "2026-11-21T02:03:04Z"; empty for nil and
     * in a controller without sections. A section rule may have other names, see `quire_section_grouping`.
     */
    quire_string name;
    /**
     * For a list's index: the delegate's; else the letter of sections by letter, the year of those by days to years, the
     * name of those by ranges of numbers, and otherwise the first letter of the name in upper case. Empty for an empty name.
     */
    quire_string index_title;
    /**
     * What the rows have in common: the value of the section key path, or what the section rule makes of it. nil in a
     * controller without sections; of nil and empty text, which share a section, nil.
     */
    quire_value value;
    /** Place of its first row, counted over all sections. */
    int64_t start;
    /** Rows. */
    int64_t count;
} quire_section;

/** Sets `struct_size`; all else zero. */
#define QUIRE_SECTION_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_section)), 0, {NULL, 0}, {NULL, 0}, {QUIRE_CAST(uint32_t, QUIRE_VALUE_NIL), 0, {0}}, \
      0, 0 }

/** How a controller is made. Zero means the default for every field. */
typedef struct quire_results_options {
    /** sizeof(quire_results_options) in your build. */
    uint32_t struct_size;
    /**
     * Keep the change sets of the last brackets for `quire_results_next_changes`, for programs that prefer asking to
     * being called.
     */
    bool queues_changes;
    /** Attribute or key path through to-one relationships whose values make the sections; NULL for a single section. */
    const char *QUIRE_NULLABLE section_key_path;
    /** What makes the sections, in place of a key path; only one of the two can be given. Retained. */
    const quire_section_rule *QUIRE_NULLABLE section_rule;
    /**
     * Name of a cache, or NULL: a file beside the store, in which a fetch leaves the rows and sections that it read, so
     * that a fetch of the same query need not read them again while the store is as it was then. After a commit, of
     * whatever program, or for another query under the name, it is not used, and is written anew. A damaged one, one that
     * cannot be written and one that was deleted make a fetch slower, and nothing else. Nothing pending is in it.
     *
     * Without effect for stores in memory and child contexts; with aggregates, a limit, an offset or a section rule that is
     * more than a key path; for sections by decimals, data, UUIDs or objects; with predicates that give another answer at
     * another time or in another process: by functions that the program registered, the current time, comparisons `[l]`,
     * objects or SUBQUERY. Copied.
     */
    const char *QUIRE_NULLABLE cache_name;
} quire_results_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_RESULTS_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_results_options)), false, NULL, NULL, NULL }

/** Told about every change of a controller's contents. Every callback may be NULL. Pointers hold during the call. */
typedef struct quire_results_delegate {
    /** sizeof(quire_results_delegate) in your build. */
    uint32_t struct_size;
    uint32_t reserved;
    /** Passed to every callback, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Once, when the library lets go of `user_data`: replaced, removed, or the controller is gone. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * A bracket begins; the controller still shows the old state: counts, sections, places. The objects themselves have
     * their new values already.
     */
    void (*QUIRE_NULLABLE will_change)(void *QUIRE_NULLABLE user_data, quire_results *results);
    /** A section came or went. Deletions first, last to first; then insertions, first to last. */
    void (*QUIRE_NULLABLE did_change_section)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const quire_section_change *change);
    /**
     * A row changed. Deletions first, last to first; then insertions, moves and updates, each first to last in the new
     * frame. `object` is the object concerned, also when deleted; the values of one that was never saved, or whose
     * deletion is saved, are gone.
     */
    void (*QUIRE_NULLABLE did_change_object)(
        void *QUIRE_NULLABLE user_data, quire_results *results, quire_object *object, const quire_change *change);
    /** The bracket ends. */
    void (*QUIRE_NULLABLE did_change)(void *QUIRE_NULLABLE user_data, quire_results *results);
    /** After the bracket: everything that it reported, in one call. */
    void (*QUIRE_NULLABLE changes)(void *QUIRE_NULLABLE user_data, quire_results *results, const quire_changes *changes);
    /**
     * The index title of a section with this name, instead of its first letter: text that ends with NUL and is copied,
     * or NULL for no title.
     */
    const char *QUIRE_NULLABLE (*QUIRE_NULLABLE index_title)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const char *name, size_t name_size);
    /**
     * Aggregates have other values: all of them in one call, behind the rows and before `did_change`, in the order of
     * `quire_changes_aggregates`. A related object that changes may have a bracket consist of nothing else.
     */
    void (*QUIRE_NULLABLE did_change_aggregates)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const quire_aggregate_change_array *changes);
} quire_results_delegate;

/** Sets `struct_size`; all else zero. */
#define QUIRE_RESULTS_DELEGATE_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_results_delegate)), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Makes a controller for the objects of `request`, whose entity, predicate, sort keys, limit, offset, subentities,
 * cancellation and progress are copied. What a fetch reads with its objects, or leaves unread, is no concern of a controller, which reads
 * objects when it is asked for them.
 *
 * Sections come first in the order: when the first sort key is not the section key path, rows are ordered by section,
 * ascending, and then by the sort keys. nil and empty text share a section, whose name is empty and in which the rows
 * with nil come first. A section rule orders the sections by itself, and the sort keys the rows in each of them. `options`
 * may be NULL. Owned: `*out_results`.
 *
 * A limit and an offset stay true: they choose places of the whole order, sections first. A row that is pushed out is
 * told of as a delete and one that is drawn in as an insert, whether it changed or not; a section that has none of its
 * rows there is not among the sections. The keys of the rows up to the end of the window, and of some behind it, are kept;
 * when these run out others are read from there on, so that a window costs what lies before its end.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (unknown entity or key; a result type other than objects; a section rule for values of
 * another type, or whose expression gives several values, or others each time), QUIRE_UNSUPPORTED (a predicate part; a
 * request without pending changes), QUIRE_CLOSED.
 */
quire_status quire_results_create(
    quire_context *context, const quire_fetch_request *request, const quire_results_options *QUIRE_NULLABLE options,
    quire_results *QUIRE_NULLABLE *QUIRE_NONNULL out_results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `results`. Takes NULL. Any thread. */
quire_results *QUIRE_NULLABLE quire_results_retain(const quire_results *QUIRE_NULLABLE results);

/** Gives a reference back; the last one ends the following of changes. Takes NULL. Any thread. */
void quire_results_release(quire_results *QUIRE_NULLABLE results);

/** Its context. Borrowed from `results`. */
quire_context *QUIRE_NULLABLE quire_results_context(const quire_results *results);

/**
 * Its number among the results controllers and composites of its context: 1 for the first that was made, and never that of
 * another one. It stays the same; any thread may ask. See `quire_context_next_list_with_changes`.
 */
int64_t quire_results_number(const quire_results *results);

/**
 * Sets the delegate, which is copied, or removes it with NULL. `destroy` of the one before is called.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set that this version
 * does not know).
 */
quire_status quire_results_set_delegate(
    quire_results *results, const quire_results_delegate *QUIRE_NULLABLE delegate,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Fetches. Before it, a controller is empty and follows nothing. Again, it starts anew; neither time reports changes.
 *
 * Fails as `quire_context_fetch`, and with QUIRE_INVALID_STATE from within its own delegate, and for a child of a composite
 * that was fetched (see composite.h); the controller then keeps what it had.
 */
quire_status quire_results_fetch(quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Deletes the cache of that name, see `quire_results_options`, or with NULL for `name` all caches of the store. There need
 * not be one, and the store may be closed. Caches of a store that is deleted itself should go with it. Any thread.
 *
 * Fails: QUIRE_READ_ONLY (the folder cannot be written), QUIRE_INVALID_STATE (called from a log or a registered function).
 */
quire_status quire_results_delete_cache(
    quire_store *store, const char *QUIRE_NULLABLE name, size_t name_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Lists something else from now on: another predicate, sort order or entity of the same tree, in the sections of
 * `section_key_path`, NULL for a single section. What is copied of `request`, and what orders the rows, is as in
 * `quire_results_create`.
 *
 * Once fetched, the rows are fetched anew and the difference is told in a bracket of its own: rows that are in both
 * lists and kept their order among each other, and their section, are not told of; the moves are as few as can be. A
 * section is the same when its value and its name are, whatever makes it or orders it; sections do not move, so of those
 * that come to be in another order the ones with the most rows stay, and the others go and come. Where nothing differs
 * nothing is told. From within the delegate of another controller this works, too.
 *
 * Fails as `quire_results_create` and `quire_results_fetch` do, with QUIRE_INVALID_ARGUMENT for an entity of another tree,
 * and with QUIRE_INVALID_STATE while it is suspended; the controller then keeps what it had, and nothing is told. When a
 * delegate went on changing objects without end, or failed, the new request stays.
 */
quire_status quire_results_set_request(
    quire_results *results, const quire_fetch_request *request, const char *QUIRE_NULLABLE section_key_path,
    size_t section_key_path_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The same with the sections of a rule, which is retained; NULL for a single section. */
quire_status quire_results_set_request_with_rule(
    quire_results *results, const quire_fetch_request *request, const quire_section_rule *QUIRE_NULLABLE section_rule,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Leaves the list as it is: what happens from now on is not shown and not told, until `quire_results_resume`. What has
 * happened so far is told first. The list keeps its rows even where their objects are deleted meanwhile.
 *
 * For the time of an animation, or to move a row that the user has dragged: the view shows the new order already, so
 * suspend, set the values that order the rows, and resume with `tells` false.
 * Fails: QUIRE_INVALID_STATE (it is suspended already; from within its own delegate), and as `quire_context_process`.
 */
quire_status quire_results_suspend(quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Shows what has happened since `quire_results_suspend`. With `tells` that is one bracket, with each row's change from then
 * to now; without it nobody is told and nothing queued, because whoever shows the list has done the same already.
 *
 * Fails: QUIRE_INVALID_STATE (it is not suspended; from within its own delegate), and as `quire_context_process`; where it
 * cannot read what it needs, it stays suspended.
 */
quire_status quire_results_resume(
    quire_results *results, bool tells, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * For a callback of its delegate that cannot do what it should. The bracket goes on to its end, and so does whatever else
 * is to be told; every list is right afterwards. Then the call that processed the changes fails with QUIRE_FUNCTION and
 * the first such reason. A save, which processes changes before it writes, has then written nothing. What is told after a
 * save has written comes out of the next call that processes changes.
 *
 * Fails: QUIRE_INVALID_STATE (no callback is running), QUIRE_INVALID_TEXT, after which the failure counts all the same.
 */
quire_status quire_results_delegate_failed(
    quire_results *results, const char *reason, size_t reason_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Names what rows show of related objects: key paths such as "author.name" or "tags.@count", through relationships of any
 * kind. From now on a change there is told as an update of each row that shows it, although the row itself did not change.
 * They replace those named before; none to follow the query alone. Copied.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (an unknown key; a path that goes on behind an attribute). With another request they stay,
 * which then fails when its entity does not have them.
 */
quire_status quire_results_set_displayed_key_paths(
    quire_results *results, const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths, size_t key_path_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Rows in all sections. */
int64_t quire_results_count(const quire_results *results);

/**
 * Sections. Without a section key path or rule there is exactly one once fetched, also when empty; with one, an empty
 * result has none but those that the rule names.
 */
int64_t quire_results_section_count(const quire_results *results);

/**
 * A section, in a struct that was initialised with QUIRE_SECTION_INIT. Its texts are borrowed from `results` until its next
 * change.
 *
 * Fails: QUIRE_NOT_FOUND, QUIRE_INVALID_STATE (not fetched), QUIRE_INVALID_ARGUMENT (a `struct_size` that no version has).
 */
quire_status quire_results_section(
    quire_results *results, int64_t section, quire_section *out_section,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * All sections in one call, as a page with the columns `name`, `indexTitle`, `start`, `count` and `value`. The values of
 * an expression that gives values of several types come as their names. Owned: `*out_page`.
 *
 * `flags` as in `quire_list_page`.
 */
quire_status quire_results_sections(
    quire_results *results, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object at an index path. Owned: `*out_object`.
 *
 * Whoever asks for row after row, in either direction, gets the next 64 rows read in one statement, with what the request
 * prefetches of each; the controller holds the objects of the last four such batches. They are objects of the context,
 * and follow its changes. A row at a random place is read alone.
 *
 * Fails: QUIRE_NOT_FOUND, QUIRE_INVALID_STATE (not fetched), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_results_object(
    quire_results *results, int64_t section, int64_t row, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The index path of an object. Fails: QUIRE_NOT_FOUND (not in the results, or of another context), QUIRE_INVALID_STATE. */
quire_status quire_results_index_path(
    quire_results *results, const quire_object *object, quire_index_path *out_path,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Writes `count` ids, from the row `first` counted over all sections, to `out_ids`. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_results_ids(
    quire_results *results, int64_t first, int64_t count, int64_t *out_ids,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** For each of `count` ids, its row counted over all sections, or -1, in `out_rows`. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_results_positions(
    quire_results *results, const int64_t *ids, size_t count, int64_t *out_rows,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** For each of `count` rows counted over all sections, its section, or -1, in `out_sections`. */
quire_status quire_results_section_of(
    quire_results *results, const int64_t *rows, size_t count, int64_t *out_sections,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The values of `count` rows, from the row `first` counted over all sections, as `quire_list_page` gives them. Owned: `*out_page`. */
quire_status quire_results_page(
    quire_results *results, int64_t first, int64_t count,
    const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths, size_t key_path_count, uint32_t flags,
    quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The section that belongs to place `title_index` among the index titles of all sections (those without one left out,
 * a title that follows an equal one counted once).
 *
 * Fails: QUIRE_NOT_FOUND (out of range).
 */
quire_status quire_results_section_for_index_title(
    quire_results *results, int64_t title_index, int64_t *out_section,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The index titles of all sections, as a page with the one column `indexTitle`. Owned: `*out_page`. */
quire_status quire_results_index_titles(
    quire_results *results, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * A number that grows with every change of the contents, at an address that holds as long as `results`: a cache can
 * check itself without a call. Read it on the context's thread.
 */
const uint64_t *QUIRE_NULLABLE quire_results_generation(const quire_results *results);

/**
 * The oldest change set not yet taken, or NULL. Owned: `*out_changes`. For controllers made with `queues_changes`.
 *
 * Fails: QUIRE_INVALID_STATE (the controller does not queue).
 */
quire_status quire_results_next_changes(
    quire_results *results, quire_changes *QUIRE_NULLABLE *QUIRE_NONNULL out_changes,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Attaches a pointer of the program to `results`, in the place of the one that it had. The library never touches what it
 * points to. `destroy`, which may be NULL, is called once with it: when another takes its place, or when `results` is
 * gone, then on the thread that has released it last.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_WRONG_THREAD; `destroy` is not called then.
 */
quire_status quire_results_set_user_data(
    quire_results *results, void *QUIRE_NULLABLE user_data, void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data),
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** What was attached, or NULL. */
void *QUIRE_NULLABLE quire_results_user_data(const quire_results *results);

QUIRE_END

#endif
