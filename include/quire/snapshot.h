/**
 * @file
 * Snapshots: the rows and sections of a results controller at one moment, which never change.
 *
 * A snapshot serves to draw a list on another thread, to keep an earlier state, or to find the difference of two
 * states. It shares memory with the controller and with other snapshots. Taking one costs a few words for each block of
 * some hundred rows and for each section, however many change sets there have been. It holds ids, not objects, and no
 * aggregates. It may outlive the context. Any thread may use it, several at once too.
 */
#ifndef QUIRE_SNAPSHOT_H_
#define QUIRE_SNAPSHOT_H_

#include "results.h"

QUIRE_BEGIN

/**
 * The state that the controller shows now. It is the same snapshot as long as nothing changed and the program holds it.
 * Within a bracket it is the state that the callback sees. On the context's thread. Owned: `*out_snapshot`.
 *
 * Fails: QUIRE_INVALID_STATE (not fetched).
 */
quire_status quire_results_snapshot(
    quire_results *results, quire_snapshot *QUIRE_NULLABLE *QUIRE_NONNULL out_snapshot,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `snapshot`. Takes NULL. */
quire_snapshot *QUIRE_NULLABLE quire_snapshot_retain(const quire_snapshot *QUIRE_NULLABLE snapshot);

/** Releases a reference. Takes NULL. */
void quire_snapshot_release(quire_snapshot *QUIRE_NULLABLE snapshot);

/** Rows in all sections. */
int64_t quire_snapshot_count(const quire_snapshot *snapshot);

/** Sections, as in `quire_results_section_count`. */
int64_t quire_snapshot_section_count(const quire_snapshot *snapshot);

/** The number at `quire_results_generation` when it was taken. */
uint64_t quire_snapshot_generation(const quire_snapshot *snapshot);

/**
 * A section. Its name and value are borrowed from `snapshot`. It has no index title, because a delegate is not called
 * from any thread.
 *
 * Fails: QUIRE_NOT_FOUND.
 */
quire_status quire_snapshot_section(
    const quire_snapshot *snapshot, int64_t section, quire_section *out_section,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** All sections in one call, as a page with the columns `name`, `start`, `count` and `value`. Owned: `*out_page`. */
quire_status quire_snapshot_sections(
    const quire_snapshot *snapshot, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Writes `count` ids, from the row `first` counted over all sections, to `out_ids`. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_snapshot_ids(
    const quire_snapshot *snapshot, int64_t first, int64_t count, int64_t *out_ids,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * For each of `count` ids, its row counted over all sections, or -1, in `out_rows`. The first call takes the time to look
 * at all rows. Fails: QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_snapshot_positions(
    const quire_snapshot *snapshot, const int64_t *ids, size_t count, int64_t *out_rows,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** For each of `count` rows counted over all sections, its section, or -1, in `out_sections`. */
quire_status quire_snapshot_section_of(
    const quire_snapshot *snapshot, const int64_t *rows, size_t count, int64_t *out_sections,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether both have the same sections, by key and name, with the same rows in the same order. The values of the objects
 * are no part of a snapshot. False for NULL.
 */
bool quire_snapshot_equal(const quire_snapshot *snapshot, const quire_snapshot *other);

/**
 * The changes that lead from the list of `snapshot` to that of `later`, as a controller would report them, with as few
 * moves as possible. The two may be moments of one controller, in any order, or of two controllers. The ids of two
 * controllers must mean the same objects.
 *
 * Two moments of one controller with no `quire_results_fetch` in between know which rows were reported, and which
 * objects got permanent ids. Then only those rows are reported, as updates where they keep their place. That takes one
 * look at each id. Otherwise rows that keep their place count as unchanged, and objects with other ids as others. Ids
 * are those of `later`, save for deletes. Owned: `*out_changes`.
 */
quire_status quire_snapshot_changes(
    const quire_snapshot *snapshot, const quire_snapshot *later, quire_changes *QUIRE_NULLABLE *QUIRE_NONNULL out_changes,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
