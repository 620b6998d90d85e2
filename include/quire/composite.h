/**
 * @file
 * Composites: several results controllers of one context, shown as one list. The sections of the first come first, then
 * those of the second, and so on: favourites above everything else, or authors above books.
 *
 * The children may be of any entities and queries, and have limits and sections of their own. Several may show the same
 * object. An id is that of its entity, so a child and an id name a row. A composite shows what its children show at
 * that moment. They are read as before: pages of values, positions of ids and snapshots come from them (see
 * `quire_composite_child_start`).
 *
 * Once fetched, the children follow the context together. One processing of changes is one bracket, however many of
 * them changed. First come `will_change` of the composite and of each changing child, all with the old state. Then
 * come, all with the new state, the reports of each child, first child first, and then those of the composite. Another
 * request for a child and the end of its suspension are brackets, too.
 *
 * Changes have the frames and the order of those of one controller. A row that leaves one child and enters another is a
 * delete and an insert: these are two lists, and it may be in both or in neither. Rows move within their child only.
 * Aggregates are those of the children, whose delegates receive them. A change of aggregates alone is an empty bracket
 * of the composite.
 */
#ifndef QUIRE_COMPOSITE_H_
#define QUIRE_COMPOSITE_H_

#include "results.h"

QUIRE_BEGIN

/** How a composite is made. Zero means the default for every field. */
typedef struct quire_composite_options {
    /** sizeof(quire_composite_options) in your build. */
    uint32_t struct_size;
    /** Keep the change sets of the last brackets for `quire_composite_next_changes`. */
    bool queues_changes;
} quire_composite_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_COMPOSITE_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_composite_options)), false }

/** Notified of every change of a composite's contents, as a `quire_results_delegate` is. Every callback may be NULL. */
typedef struct quire_composite_delegate {
    /** sizeof(quire_composite_delegate) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** Passed to every callback, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, when the library releases `user_data`: replaced, removed, or released with the composite. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /** A bracket begins; the composite and its children still show the old state. */
    void (*QUIRE_NULLABLE will_change)(void *QUIRE_NULLABLE user_data, quire_composite *composite);
    /** A section of `child` came or went. Its index counts in the composite. */
    void (*QUIRE_NULLABLE did_change_section)(
        void *QUIRE_NULLABLE user_data, quire_composite *composite, quire_results *child,
        const quire_section_change *change);
    /** A row of `child` changed. Its places count in the composite. */
    void (*QUIRE_NULLABLE did_change_object)(
        void *QUIRE_NULLABLE user_data, quire_composite *composite, quire_results *child, quire_object *object,
        const quire_change *change);
    /** The bracket ends. */
    void (*QUIRE_NULLABLE did_change)(void *QUIRE_NULLABLE user_data, quire_composite *composite);
    /** After the bracket: everything that it reported, in one call. */
    void (*QUIRE_NULLABLE changes)(
        void *QUIRE_NULLABLE user_data, quire_composite *composite, const quire_changes *changes);
} quire_composite_delegate;

/** Sets `struct_size`; all else zero. */
#define QUIRE_COMPOSITE_DELEGATE_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_composite_delegate)), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/**
 * Makes a composite without children. `options` may be NULL. Owned: `*out_composite`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_UNSUPPORTED (fields set that this version does not know), QUIRE_CLOSED.
 */
quire_status quire_composite_create(
    quire_context *context, const quire_composite_options *QUIRE_NULLABLE options,
    quire_composite *QUIRE_NULLABLE *QUIRE_NONNULL out_composite, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `composite`. Takes NULL. Any thread. */
quire_composite *QUIRE_NULLABLE quire_composite_retain(const quire_composite *QUIRE_NULLABLE composite);

/** Releases a reference. With the last one, each child follows changes on its own again. Takes NULL. Any thread. */
void quire_composite_release(quire_composite *QUIRE_NULLABLE composite);

/** Its context. Borrowed from `composite`. */
quire_context *QUIRE_NULLABLE quire_composite_context(const quire_composite *composite);

/** Its number among the lists of its context, as `quire_results_number`. */
int64_t quire_composite_number(const quire_composite *composite);

/**
 * Puts a controller behind those that are there. It is retained, and stays. To show other lists make another composite;
 * to empty a child give it a request that matches nothing.
 *
 * Fails: QUIRE_INVALID_STATE (fetched already), QUIRE_INVALID_ARGUMENT (a controller of another context, or of any
 * composite).
 */
quire_status quire_composite_add(
    quire_composite *composite, quire_results *results, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How many children there are. */
int64_t quire_composite_child_count(const quire_composite *composite);

/** A child. Borrowed from `composite`; NULL when `index` is out of range. */
quire_results *QUIRE_NULLABLE quire_composite_child(const quire_composite *composite, int64_t index);

/**
 * Fetches all children, fetched before or not. Before its fetch a composite is empty and follows nothing, while its
 * children may. After it, only the composite fetches them. No fetch reports changes.
 *
 * Fails as `quire_results_fetch`, and with QUIRE_INVALID_STATE where there are no children. On failure all children
 * keep their rows.
 */
quire_status quire_composite_fetch(
    quire_composite *composite, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Sets the delegate, which is copied, or removes it with NULL. `destroy` of the one before is called. The children keep
 * theirs.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (a `struct_size` that no version has), QUIRE_UNSUPPORTED (fields set that this version
 * does not know).
 */
quire_status quire_composite_set_delegate(
    quire_composite *composite, const quire_composite_delegate *QUIRE_NULLABLE delegate,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Reports that a callback of the delegate failed, as `quire_results_delegate_failed` does. Fails likewise. */
quire_status quire_composite_delegate_failed(
    quire_composite *composite, const char *reason, size_t reason_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Rows of all children. */
int64_t quire_composite_count(const quire_composite *composite);

/** Sections of all children: of one without a section key there is always one. */
int64_t quire_composite_section_count(const quire_composite *composite);

/**
 * A section; its `start` counts in the composite. Its texts are borrowed from `composite` until its next change.
 *
 * Fails: QUIRE_NOT_FOUND, QUIRE_INVALID_STATE (not fetched).
 */
quire_status quire_composite_section(
    quire_composite *composite, int64_t section, quire_section *out_section,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** All sections in one call, as `quire_results_sections` returns them; `flags` likewise. Owned: `*out_page`. */
quire_status quire_composite_sections(
    quire_composite *composite, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The object at an index path. Owned: `*out_object`. Fails as `quire_results_object`. */
quire_status quire_composite_object(
    quire_composite *composite, int64_t section, int64_t row, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The index path of an object in the first child that has it. Fails as `quire_results_index_path`. */
quire_status quire_composite_index_path(
    quire_composite *composite, const quire_object *object, quire_index_path *out_path,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Writes `count` ids, from the row `first` counted over all children, to `out_ids`. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_composite_ids(
    quire_composite *composite, int64_t first, int64_t count, int64_t *out_ids,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** For each of `count` rows counted over all children, its section, or -1, in `out_sections`. */
quire_status quire_composite_section_of(
    quire_composite *composite, const int64_t *rows, size_t count, int64_t *out_sections,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Stores the child of a section in `*out_child`, and the section's place within that child in `*out_child_section`.
 * Fails as `quire_composite_section`.
 */
quire_status quire_composite_child_of_section(
    quire_composite *composite, int64_t section, int64_t *out_child, int64_t *out_child_section,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Stores the first section of a child in `*out_section`, and its first row counted over all children in `*out_row`.
 * Added to places within the child, they are places in the composite. Fails: QUIRE_NOT_FOUND (no such child),
 * QUIRE_INVALID_STATE (not fetched).
 */
quire_status quire_composite_child_start(
    quire_composite *composite, int64_t child, int64_t *out_section, int64_t *out_row,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** A number that grows with every change, as `quire_results_generation`. Borrowed from `composite`. */
const uint64_t *QUIRE_NULLABLE quire_composite_generation(const quire_composite *composite);

/**
 * The oldest change set not yet taken, or NULL. Owned: `*out_changes`. For composites made with `queues_changes`.
 *
 * Fails: QUIRE_INVALID_STATE (the composite does not queue).
 */
quire_status quire_composite_next_changes(
    quire_composite *composite, quire_changes *QUIRE_NULLABLE *QUIRE_NONNULL out_changes,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Attaches a pointer of the program to `composite`, in the place of the previous one. The library never reads through
 * it. `destroy`, which may be NULL, is called once with it: when another pointer takes its place, or with the last
 * release of `composite`, on the thread of that release.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_WRONG_THREAD; `destroy` is not called then.
 */
quire_status quire_composite_set_user_data(
    quire_composite *composite, void *QUIRE_NULLABLE user_data, void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data),
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The attached pointer, or NULL. */
void *QUIRE_NULLABLE quire_composite_user_data(const quire_composite *composite);

QUIRE_END

#endif
