/**
 * @file
 * Results controllers: a fetch request kept up to date, gathered in sections, that reports its exact changes. Where a file
 * does not say which rows another program has changed, the report says that too (`quire_changes_contents_may_differ`).
 *
 * A controller follows its context. It shows a change, saved or not, with the calls that context.h lists, such as
 * `quire_context_process` and a save, and with no read. Then it calls the delegate, on the thread of that call. First comes `will_change`,
 * while the controller still shows the old state. Then come sections, objects, aggregates and `did_change`, all with
 * the new state. Last comes `changes` with everything at once. Callbacks may read, change objects, save and release
 * anything. Their changes are reported in a bracket of their own, after the running one.
 *
 * changes.h describes the reports.
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
    int64_t section; /**< Counted from 0. */
    int64_t row; /**< Counted in its section. */
} quire_index_path;

/** A section, as `quire_results_section` returns it. */
typedef struct quire_section {
    /** sizeof(quire_section) in your build; the library fills no more. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /**
     * The value as text: numbers as they print, booleans "0" and "1", dates as "2026-11-21T02:03:04Z"; empty for nil and
     * in a controller without sections. A section rule may have other names, see `quire_section_grouping`.
     */
    quire_string name;
    /**
     * The title for a list's index. The delegate's comes first. Else it is the letter for sections by letter, the year
     * for those by days to years, and the name for those by ranges of numbers. Otherwise it is the first letter of the
     * name in upper case. Empty for an empty name.
     */
    quire_string index_title;
    /**
     * The common value of the rows: that of the section key path, or of the section rule. nil in a controller without
     * sections. nil and empty text share a section, whose value is nil.
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
     * Keep the change sets of the last brackets for `quire_results_next_changes`. For programs that ask for changes
     * instead of being called.
     */
    bool queues_changes;
    /** Attribute or key path through to-one relationships whose values make the sections; NULL for a single section. */
    const char *QUIRE_NULLABLE section_key_path;
    /** The rule that makes the sections, in place of a key path; set at most one of the two. Retained. */
    const quire_section_rule *QUIRE_NULLABLE section_rule;
    /**
     * Name of a cache, or NULL. A cache is a file beside the store, in which a fetch leaves the rows and sections that
     * it read. A fetch of the same query need not read them again while the store is in the same state. After a commit,
     * of any program, or for another query under the name, the cache is not used, and is written anew. A cache that is
     * damaged, deleted or cannot be written makes a fetch slower, and has no other effect. It has no pending changes.
     *
     * The name has no effect for stores in memory and child contexts. It has none with aggregates, a limit, an offset
     * or a section rule that is more than a key path, and none for sections by decimals, data, UUIDs or objects. It has
     * none with predicates whose result depends on the time or the process: functions that the program registered, the
     * current time, comparisons `[l]`, objects or SUBQUERY. Copied.
     */
    const char *QUIRE_NULLABLE cache_name;
} quire_results_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_RESULTS_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_results_options)), false, NULL, NULL, NULL }

/** Notified of every change of a controller's contents. Every callback may be NULL. Pointers hold during the call. */
typedef struct quire_results_delegate {
    /** sizeof(quire_results_delegate) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** Passed to every callback, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, when the library releases `user_data`: replaced, removed, or released with the controller. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * A bracket begins; the controller still shows the old state: counts, sections, places. The objects themselves have
     * their new values already.
     */
    void (*QUIRE_NULLABLE will_change)(void *QUIRE_NULLABLE user_data, quire_results *results);
    /** A section was inserted or deleted. Deletions first, last to first; then insertions, first to last. */
    void (*QUIRE_NULLABLE did_change_section)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const quire_section_change *change);
    /**
     * A row changed. Deletions first, last to first; then insertions, moves and updates, each first to last in the new
     * frame. `object` is the object of the row, also when deleted. An object that was never saved, or whose deletion is
     * saved, has no values any more. The objects are read for this function: 20,000 take some 50 ms. With NULL none are.
     */
    void (*QUIRE_NULLABLE did_change_object)(
        void *QUIRE_NULLABLE user_data, quire_results *results, quire_object *object, const quire_change *change);
    /** The bracket ends. */
    void (*QUIRE_NULLABLE did_change)(void *QUIRE_NULLABLE user_data, quire_results *results);
    /** After the bracket: everything that it reported, in one call. */
    void (*QUIRE_NULLABLE changes)(void *QUIRE_NULLABLE user_data, quire_results *results, const quire_changes *changes);
    /**
     * Returns the index title of a section with this name, instead of its first letter. The title is text that ends
     * with NUL and is copied, or NULL for no title.
     */
    const char *QUIRE_NULLABLE (*QUIRE_NULLABLE index_title)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const char *name, size_t name_size);
    /**
     * Aggregates changed: all of them in one call, behind the rows and before `did_change`, in the order of
     * `quire_changes_aggregates`. A change of a related object can make a bracket of aggregates alone.
     */
    void (*QUIRE_NULLABLE did_change_aggregates)(
        void *QUIRE_NULLABLE user_data, quire_results *results, const quire_aggregate_change_array *changes);
} quire_results_delegate;

/** Sets `struct_size`; all else zero. */
#define QUIRE_RESULTS_DELEGATE_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_results_delegate)), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Makes a controller for the objects of `request`. Entity, predicate, sort keys, limit, offset, subentities,
 * cancellation and progress are copied. Options about reading objects have no effect on a controller, which reads
 * objects when it is asked for them.
 *
 * Sections come first in the order. When the first sort key is not the section key path, rows are ordered by section,
 * ascending, and then by the sort keys. nil and empty text share a section, whose name is empty; the rows with nil come
 * first in it. A section rule orders the sections by itself, and the sort keys order the rows in each of them.
 * `options` may be NULL. Owned: `*out_results`.
 *
 * A limit and an offset stay true: they choose places of the whole order, sections first. A row that is pushed out is
 * reported as a delete, and one that is drawn in as an insert, whether it changed or not. A section without rows in the
 * window is not among the sections. The controller keeps the keys of the rows up to the end of the window, and of some
 * behind it. When these run out it reads others from there on. A window thus costs what lies before its end.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (unknown entity or key; a result type other than objects; a section rule for values of
 * another type, or whose expression has several values, or others each time), QUIRE_UNSUPPORTED (a predicate part; a
 * request without pending changes), QUIRE_CLOSED.
 */
quire_status quire_results_create(
    quire_context *context, const quire_fetch_request *request, const quire_results_options *QUIRE_NULLABLE options,
    quire_results *QUIRE_NULLABLE *QUIRE_NONNULL out_results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `results`. Takes NULL. Any thread. */
quire_results *QUIRE_NULLABLE quire_results_retain(const quire_results *QUIRE_NULLABLE results);

/** Releases a reference; with the last one the controller ends to follow changes. Takes NULL. Any thread. */
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
 * Fetches. Before its fetch a controller is empty and follows nothing. A second fetch starts anew. No fetch reports
 * changes.
 *
 * Fails as `quire_context_fetch`, and with QUIRE_INVALID_STATE from within its own delegate, and for a child of a
 * composite that was fetched (see composite.h). On failure the controller keeps its rows.
 */
quire_status quire_results_fetch(quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Fetches on a thread of the store. The controller is empty until a merge shows the rows: `quire_context_merge`, or an
 * automatic one. `quire_context_descriptor` polls readable when the rows are there, and `quire_results_is_fetched` tells
 * that they are shown. No fetch reports changes.
 *
 * That merge moves the context to the commit that the rows are of. What is pending in the context is laid over them. A merge
 * that comes earlier waits for a fetch that the thread has begun, and otherwise shows no rows yet. When the context saves
 * meanwhile, the fetch begins again. So poll and merge until `quire_results_is_fetched`. After the fifth time, and where it
 * has failed, the merge fetches on its own thread, and fails as `quire_results_fetch` does.
 *
 * Its progress function is not called. After a cancellation the merge fails once, with QUIRE_CANCELLED, and the controller
 * stays as it was.
 *
 * Only the thread of the context can fetch some lists, and this call fetches them at once: lists with a limit, an offset,
 * aggregates, a cache or functions of the program, and lists of contexts with a parent or a transaction, of pinned contexts
 * (see moment.h), of contexts that have lost their moment, or of a file without a WAL.
 *
 * Fails: QUIRE_INVALID_STATE (fetched or being fetched already, in a composite, within its own delegate), and as
 * `quire_results_fetch` where it fetches at once.
 */
quire_status quire_results_fetch_async(quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the controller was fetched, so that it has rows and follows its context. False when `results` is NULL. */
bool quire_results_is_fetched(const quire_results *QUIRE_NULLABLE results);

/**
 * Deletes the cache of that name, see `quire_results_options`, or with NULL for `name` all caches of the store. There
 * need not be one, and the store may be closed. Delete the caches of a store before you delete the store itself. Any
 * thread.
 *
 * Fails: QUIRE_READ_ONLY (the folder cannot be written), QUIRE_INVALID_STATE (called from a log or a registered
 * function).
 */
quire_status quire_results_delete_cache(
    quire_store *store, const char *QUIRE_NULLABLE name, size_t name_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Sets another request: another predicate, sort order or entity of the same tree, in the sections of
 * `section_key_path`, NULL for a single section. Which parts of `request` are copied, and how rows are ordered, is as
 * in `quire_results_create`.
 *
 * Once fetched, the rows are fetched anew and the difference is reported in a bracket of its own, with as few moves as
 * possible. Rows that are in both lists and kept section and order are not reported. A section is the same when its
 * value and its name are, whatever makes it or orders it. Sections do not move. Of sections in another order those with
 * the most rows stay, and the others are deleted and inserted. Without a difference there is no report. This also works
 * from within the delegate of another controller.
 *
 * Fails as `quire_results_create` and `quire_results_fetch` do, with QUIRE_INVALID_ARGUMENT for an entity of another
 * tree, and with QUIRE_INVALID_STATE while it is suspended. The controller then keeps its rows, and reports nothing.
 * When a delegate went on changing objects without end, or failed, the new request stays.
 */
quire_status quire_results_set_request(
    quire_results *results, const quire_fetch_request *request, const char *QUIRE_NULLABLE section_key_path,
    size_t section_key_path_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** As `quire_results_set_request`, with the sections of a rule, which is retained; NULL for a single section. */
quire_status quire_results_set_request_with_rule(
    quire_results *results, const quire_fetch_request *request, const quire_section_rule *QUIRE_NULLABLE section_rule,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Sets another request, as `quire_results_set_request` does, and fetches its rows on a thread of the store: a search field
 * sets one for each key. The controller goes on with its rows until a merge shows the new ones: `quire_context_merge`, or an
 * automatic one. `quire_context_descriptor` polls readable when the rows are there. The difference is one bracket, together
 * with what that merge has changed. Set `section_key_path`, `section_rule` (retained) or neither.
 *
 * A later request takes the place of one that is not shown yet, whose fetch is cancelled. So does
 * `quire_results_set_request`, and so does the end of the controller. `*out_number`, which may be NULL, is the number that
 * `quire_results_request_number` returns as soon as the request is shown.
 *
 * That merge moves the context to the commit that the rows are of. What is pending in the context is laid over them. Changes
 * of the shown rows are reported meanwhile as usual. When the context saves meanwhile, the fetch begins again; after the
 * fifth time, and where it has failed, the merge fetches on its own thread, and fails as `quire_results_set_request` does. A
 * request that fails, or that its cancellation ends (the merge fails with QUIRE_CANCELLED), is not shown, and the controller
 * goes on with its rows. While the controller is suspended the request waits.
 *
 * What only the thread of the context can fetch is fetched and reported at once, as `quire_results_fetch_async` says. Before
 * the first fetch there are no rows to show, and the request takes the place of the present one at once.
 *
 * Fails: as `quire_results_set_request` where it fetches at once, otherwise as that does for a wrong request.
 */
quire_status quire_results_set_request_async(
    quire_results *results, const quire_fetch_request *request, const char *QUIRE_NULLABLE section_key_path,
    size_t section_key_path_size, const quire_section_rule *QUIRE_NULLABLE section_rule, int64_t *QUIRE_NULLABLE out_number,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The number of the request that is shown: 0 for that of the creation. Each request that is set gets the next number. */
int64_t quire_results_request_number(const quire_results *results);

/** Whether a request of `quire_results_set_request_async` is yet to be shown. False when `results` is NULL. */
bool quire_results_awaits_request(const quire_results *QUIRE_NULLABLE results);

/**
 * Suspends the list: it neither shows nor reports later changes, until `quire_results_resume`. Changes up to now are
 * reported first. The list keeps its rows even where their objects are deleted meanwhile.
 *
 * For the time of an animation, or to move a row that the user has dragged. The view shows the new order already:
 * suspend, set the values that order the rows, and resume with `tells` false.
 *
 * Fails: QUIRE_INVALID_STATE (it is suspended already; from within its own delegate), and as `quire_context_process`.
 */
quire_status quire_results_suspend(quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Shows the changes since `quire_results_suspend`. With `tells` they are one bracket, with each row's change from then
 * to now. Without it there is no report and nothing is queued, because the view shows the changes already.
 *
 * Fails: QUIRE_INVALID_STATE (it is not suspended; from within its own delegate), and as `quire_context_process`. When
 * a read that it needs fails, it stays suspended.
 */
quire_status quire_results_resume(
    quire_results *results, bool tells, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reports that a callback of the delegate failed. The bracket and all other reports go on to their end, and every list
 * is right afterwards. Then the call that processed the changes fails with QUIRE_FUNCTION and the first such reason. A
 * save, which processes changes before it writes, has then written nothing. A failure in a report after the write comes
 * out of the next call that processes changes.
 *
 * Fails: QUIRE_INVALID_STATE (no callback is running), QUIRE_INVALID_TEXT, after which the failure counts all the same.
 */
quire_status quire_results_delegate_failed(
    quire_results *results, const char *reason, size_t reason_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Names the values of related objects that rows show: key paths such as "author.name" or "tags.@count", through
 * relationships of any kind. From now on a change there is reported as an update of each row that shows it, although
 * the row itself did not change. The paths replace those named before; none to follow the query alone. Copied.
 *
 * With another request they stay; the request fails when its entity does not have them. Fails: QUIRE_INVALID_ARGUMENT
 * (an unknown key; a path that goes on behind an attribute).
 */
quire_status quire_results_set_displayed_key_paths(
    quire_results *results, const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths, size_t key_path_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Rows in all sections. */
int64_t quire_results_count(const quire_results *results);

/**
 * How many sections there are. Without a section key path or rule there is exactly one once fetched, also when empty.
 * With one, an empty result has only the sections that the rule names.
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
 * All sections in one call, as a page with the columns `name`, `indexTitle`, `start`, `count` and `value`. Where an
 * expression has values of several types, the column `value` has their names. Owned: `*out_page`.
 *
 * `flags` as in `quire_list_page`.
 */
quire_status quire_results_sections(
    quire_results *results, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The object at an index path. Owned: `*out_object`.
 *
 * A program that asks for row after row, in either direction, gets the next 64 rows read in one statement, with the
 * prefetched objects of each. The controller holds the objects of the last four such batches. They are objects of the
 * context, and follow its changes. A row at a random place is read alone.
 *
 * Fails: QUIRE_NOT_FOUND, QUIRE_INVALID_STATE (not fetched), QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_results_object(
    quire_results *results, int64_t section, int64_t row, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The objects of `count` rows, from the row `first` counted over all sections, as a list. Owned: `*out_list`.
 *
 * Rows whose objects have no values yet are read in one statement. One more for each step of a path reads what the request
 * prefetches. The list holds the objects, and those that were prefetched: as long as it is there, their values and
 * relationships are read without a statement.
 *
 * Fails: QUIRE_NOT_FOUND (a row is no longer in the store), QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_STATE (not fetched),
 * QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_results_objects(
    quire_results *results, int64_t first, int64_t count, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
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

/**
 * The values of `count` rows, from the row `first` counted over all sections, as `quire_list_page` returns them. Owned:
 * `*out_page`.
 */
quire_status quire_results_page(
    quire_results *results, int64_t first, int64_t count,
    const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths, size_t key_path_count, uint32_t flags,
    quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The section at place `title_index` among the index titles of all sections. Sections without a title are left out, and
 * a title that follows an equal one counts once.
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
 * A number that grows with every change of the contents, at an address that holds as long as `results`. A cache can
 * thus check itself without a call. Read it on the context's thread.
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
 * Attaches a pointer of the program to `results`, in the place of the previous one. The library never reads through it.
 * `destroy`, which may be NULL, is called once with it: when another pointer takes its place, or with the last release
 * of `results`, on the thread of that release.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_WRONG_THREAD; `destroy` is not called then.
 */
quire_status quire_results_set_user_data(
    quire_results *results, void *QUIRE_NULLABLE user_data, void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data),
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The attached pointer, or NULL. */
void *QUIRE_NULLABLE quire_results_user_data(const quire_results *results);

QUIRE_END

#endif
