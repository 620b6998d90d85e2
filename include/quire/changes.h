/**
 * @file
 * Change sets: what happened to a list between two of its states. Results controllers and composites report them, one for
 * each bracket, and two snapshots have one between them.
 *
 * A change set has the changes of rows and of sections, in the order in which a delegate is notified. It also has them as
 * steps that are applied one after another. It never changes; any thread may read it.
 *
 * Index paths of the state before are "old", those of the state after all changes are "new". Deletes have an old path,
 * inserts have a new one, moves and updates have both. A row that only shifts because of others is not reported. A changed
 * row that keeps its place among the unchanged rows is an update, never a move. When a merge takes over several commits, a
 * row may be reported as updated that one of them has changed and a later one has changed back.
 *
 * Of commits of other processes the file may not say which rows they have changed. `quire_changes_contents_may_differ` tells
 * of that.
 */
#ifndef QUIRE_CHANGES_H_
#define QUIRE_CHANGES_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** What happened to a row or a section. The numbers are Core Data's. */
typedef enum quire_change_kind {
    QUIRE_CHANGE_INSERT = 1,
    QUIRE_CHANGE_DELETE = 2,
    /** Rows only. A moved row may also have changed otherwise. */
    QUIRE_CHANGE_MOVE = 3,
    /** Rows only. */
    QUIRE_CHANGE_UPDATE = 4
} quire_change_kind;

/** One step of the linear form of a change set. */
typedef enum quire_step_kind {
    QUIRE_STEP_INSERT_ROW = 1,
    QUIRE_STEP_DELETE_ROW = 2,
    QUIRE_STEP_MOVE_ROW = 3,
    QUIRE_STEP_UPDATE_ROW = 4,
    QUIRE_STEP_INSERT_SECTION = 5,
    QUIRE_STEP_DELETE_SECTION = 6,
    /** In plans only: rows of a flat list are replaced by others. */
    QUIRE_STEP_REPLACE_ROWS = 7
} quire_step_kind;

/** A change of a row. Frames that do not apply are -1. */
typedef struct quire_change {
    /** A `quire_change_kind`. */
    uint32_t kind;
    /** How many keys there are. */
    uint32_t key_count;
    /**
     * The object's id. Inserts, moves and updates have the id at the time of the change, deletes have the last one. A
     * temporary id is negative, and the next save replaces it (see `quire_object_id`).
     */
    int64_t id;
    int64_t old_section; /**< Place before the changes. */
    int64_t old_row; /**< Counted in its section. */
    /** Place counted over all sections. */
    int64_t old_flat;
    int64_t new_section; /**< Place after the changes. */
    int64_t new_row; /**< Counted in its section. */
    int64_t new_flat; /**< Counted over all sections. */
    /**
     * What has changed, for updates and moves. Names of the object's own properties are among them. Where a related object
     * changed, they are the sort keys and displayed key paths that lead there, and the section key. Of more than 64
     * properties those from the 64th on are named together. NULL for inserts and deletes, for rows that only stand
     * elsewhere under another request, and between snapshots. Borrowed like the change itself.
     */
    const quire_string *QUIRE_NULLABLE keys;
} quire_change;

/** Changes of rows: `count` of them, each `stride` bytes behind the one before. */
typedef struct quire_change_array {
    /** NULL when there are none. */
    const quire_change *QUIRE_NULLABLE first;
    int64_t count; /**< How many there are. */
    size_t stride; /**< Bytes from one to the next. */
} quire_change_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_change *QUIRE_NULLABLE quire_change_at(quire_change_array changes, int64_t index) {
    if (!changes.first || index < 0 || index >= changes.count) return NULL;
    return QUIRE_ELEMENT(const quire_change, changes, index);
}

/** A section that was inserted (`index` is a new place) or deleted (`index` is an old one). */
typedef struct quire_section_change {
    /** QUIRE_CHANGE_INSERT or QUIRE_CHANGE_DELETE. */
    uint32_t kind;
    uint32_t reserved; /**< Zero. */
    int64_t index; /**< Its place. */
    /** Borrowed from the change set, as is the value. */
    quire_string name;
    /** As in `quire_section`. */
    quire_value value;
} quire_section_change;

/** Changes of sections, as in `quire_change_array`. */
typedef struct quire_section_change_array {
    const quire_section_change *QUIRE_NULLABLE first; /**< NULL when there are none. */
    int64_t count; /**< How many there are. */
    size_t stride; /**< Bytes from one to the next. */
} quire_section_change_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_section_change *QUIRE_NULLABLE quire_section_change_at(
    quire_section_change_array changes, int64_t index) {
    if (!changes.first || index < 0 || index >= changes.count) return NULL;
    return QUIRE_ELEMENT(const quire_section_change, changes, index);
}

/**
 * A step of the linear form or of a plan. The steps of the linear form turn the old list into the new one when they are
 * applied one after another. Each is valid in the state at its moment. A move's destination is counted after the row has
 * been taken out. Members that a kind does not need are -1 or NULL, and the id of a section is 0.
 */
typedef struct quire_step {
    /** A `quire_step_kind`. */
    uint32_t kind;
    uint32_t reserved; /**< Zero. */
    int64_t id; /**< The object's id, as in `quire_change`. */
    int64_t section; /**< The section of the row, or the section that comes or goes. */
    int64_t row; /**< Counted in its section. */
    int64_t to_section; /**< Where a row moves to. */
    int64_t to_row; /**< Counted in its section. */
    /** `section` and `row` counted over all sections. */
    int64_t flat;
    int64_t to_flat; /**< `to_section` and `to_row` counted over all sections. */
    /** Of QUIRE_STEP_REPLACE_ROWS: how many rows go at `flat`, and how many come there. */
    int64_t removed;
    int64_t inserted; /**< How many rows come at `flat`. */
    /**
     * The ids of these rows; NULL for none. A range may have a row that stays, because the row became the first of its
     * section or ceased to be the first. Such a row is among both.
     */
    const int64_t *QUIRE_NULLABLE removed_ids;
    const int64_t *QUIRE_NULLABLE inserted_ids; /**< The ids of the rows that come; NULL for none. */
} quire_step;

/** Steps, as in `quire_change_array`. */
typedef struct quire_step_array {
    const quire_step *QUIRE_NULLABLE first; /**< NULL when there are none. */
    int64_t count; /**< How many there are. */
    size_t stride; /**< Bytes from one to the next. */
} quire_step_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_step *QUIRE_NULLABLE quire_step_at(quire_step_array steps, int64_t index) {
    if (!steps.first || index < 0 || index >= steps.count) return NULL;
    return QUIRE_ELEMENT(const quire_step, steps, index);
}

/** An aggregate whose value changed. */
typedef struct quire_aggregate_change {
    /** The section, in the list after the changes; -1 for the whole list. */
    int64_t section;
    /** Borrowed from the owner of the change, as is the value. */
    quire_string name;
    /** As `quire_results_aggregate` returns it; nil where that call fails. */
    quire_value value;
} quire_aggregate_change;

/** Changes of aggregates: `count` of them, each `stride` bytes behind the one before. */
typedef struct quire_aggregate_change_array {
    /** NULL when there are none. */
    const quire_aggregate_change *QUIRE_NULLABLE first;
    int64_t count; /**< How many there are. */
    size_t stride; /**< Bytes from one to the next. */
} quire_aggregate_change_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_aggregate_change *QUIRE_NULLABLE quire_aggregate_change_at(
    quire_aggregate_change_array changes, int64_t index) {
    if (!changes.first || index < 0 || index >= changes.count) return NULL;
    return QUIRE_ELEMENT(const quire_aggregate_change, changes, index);
}

/** Where a child began before and after the changes of a composite. Its sections and rows are counted from there. */
typedef struct quire_child_frame {
    int64_t old_section; /**< Its first section before the changes. */
    int64_t old_flat; /**< Its first row before the changes, counted over all sections. */
    int64_t new_section; /**< Its first section after the changes. */
    int64_t new_flat; /**< Its first row after the changes, counted over all sections. */
} quire_child_frame;

/** Frames of children, as in `quire_change_array`. */
typedef struct quire_child_frame_array {
    const quire_child_frame *QUIRE_NULLABLE first; /**< NULL when there are none. */
    int64_t count; /**< How many there are. */
    size_t stride; /**< Bytes from one to the next. */
} quire_child_frame_array;

/** One of them, or NULL when `index` is out of range. */
static inline const quire_child_frame *QUIRE_NULLABLE quire_child_frame_at(quire_child_frame_array frames, int64_t index) {
    if (!frames.first || index < 0 || index >= frames.count) return NULL;
    return QUIRE_ELEMENT(const quire_child_frame, frames, index);
}

/** How a list view takes changes. */
typedef enum quire_plan_order {
    /**
     * Steps one after another, in the order of `quire_changes_steps`. Each is valid in the state at its moment. A row that
     * moves is put before the row at its destination. The destination is counted while the moving row is still in its old
     * place: the `destinationChild` of Qt's `beginMoveRows`, the reference node of a document's `insertBefore`. Within one
     * section `to_row` is therefore never `row` or `row + 1`. `to_flat` is for models without sections. It equals `flat`
     * where the row keeps its place of the whole, and there is nothing to do.
     */
    QUIRE_PLAN_BEFORE_CHILD = 1,
    /**
     * Ranges of a flat list, first to last, each valid after those before it. At `flat`, `removed` rows are replaced by
     * `inserted` others, as GTK's `items-changed` says it, with the ids of both. The ranges cover all rows that were
     * inserted, deleted, moved or updated. They also cover rows that became the first of their section, or ceased to be
     * the first, so that no `sections-changed` is needed.
     */
    QUIRE_PLAN_RANGES = 2,
    /**
     * One batch, as a UITableView or a UICollectionView takes it. What is deleted has its place before all changes, what is
     * inserted has its place after them. Rows of a deleted or inserted section have no steps, because the section takes
     * them along. A row that moves out of a deleted section is inserted, and a row that moves into an inserted section is
     * deleted. For an update `section` and `row` are the place before, where the batch may reload it, or -1 when the row
     * moves. `to_section` and `to_row` are its place after.
     */
    QUIRE_PLAN_BATCH = 3
} quire_plan_order;

/** Adds a reference and returns `changes`. Takes NULL. Any thread. */
quire_changes *QUIRE_NULLABLE quire_changes_retain(const quire_changes *QUIRE_NULLABLE changes);

/** Gives a reference back. Takes NULL. Any thread. */
void quire_changes_release(quire_changes *QUIRE_NULLABLE changes);

/**
 * The row changes that `did_change_object` tells a delegate, in the same order. Borrowed from `changes`. The first call makes
 * them, which takes time with many rows; `quire_changes_row_count` tells how many there are without that. Any thread.
 */
quire_change_array quire_changes_rows(const quire_changes *changes);

/** How many row changes there are. 0 when `changes` is NULL. Any thread. */
int64_t quire_changes_row_count(const quire_changes *changes);

/**
 * Whether rows that the set does not name may show other values. False when `changes` is NULL. Any thread.
 *
 * So it is after a merge of commits of which neither the change journal nor the history of the file says which rows they
 * have changed (see context.h). A view then draws all of its rows again. The rows and sections that came, went or moved are
 * exact all the same. Such a set is reported even when it names no row, and advances `quire_results_generation`. Saves
 * and batch requests of the store's own contexts never cause one.
 */
bool quire_changes_contents_may_differ(const quire_changes *changes);

/** The section changes, in the order in which a delegate is notified. Borrowed from `changes`. */
quire_section_change_array quire_changes_sections(const quire_changes *changes);

/** The linear form. Borrowed from `changes`. */
quire_step_array quire_changes_steps(const quire_changes *changes);

/**
 * The changes as one kind of list view takes them.
 *
 * @param order A `quire_plan_order`.
 * @param splits_moves A row that moves is deleted and inserted, for views that cannot move rows. Ranges have no moves in
 *     any case.
 * @param[out] out_steps The steps, borrowed from `changes`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such order).
 */
quire_status quire_changes_plan(
    const quire_changes *changes, uint32_t order, bool splits_moves, quire_step_array *out_steps,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The aggregates whose values changed, in the order in which a delegate is notified. Those of the whole list come
 * first, then those of sections, first to last. Within each they come in the order in which they were added. An
 * inserted section has all of them, a deleted one none. Borrowed from `changes`. Change sets between snapshots have
 * none.
 */
quire_aggregate_change_array quire_changes_aggregates(const quire_changes *changes);

/**
 * The frames of all children, first to last. A change belongs to the last child that begins at or before its section.
 * Borrowed from `changes`; none for changes of a single controller.
 */
quire_child_frame_array quire_changes_children(const quire_changes *changes);

/**
 * Stores in `out_rows` where each of `count` rows of the old state went, counted over all sections; -1 when deleted or
 * out of range.
 */
quire_status quire_changes_map_positions(
    const quire_changes *changes, const int64_t *old_rows, size_t count, int64_t *out_rows,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
