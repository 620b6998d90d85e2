/**
 * @file
 * Lists: results of fetches, to-many relationships and pending changes. Pages: rows of values in columns.
 *
 * A list is a snapshot of *which* objects there are. The objects themselves are live.
 */
#ifndef QUIRE_LIST_H_
#define QUIRE_LIST_H_

#include "base.h"

QUIRE_BEGIN

/** How the values of a column lie in memory. */
typedef enum quire_column_type {
    /** `values` is int64_t[length]. */
    QUIRE_COLUMN_INTEGER = 1,
    /** `values` is uint8_t[length], 0 or 1. */
    QUIRE_COLUMN_BOOLEAN = 2,
    /** `values` is double[length]. */
    QUIRE_COLUMN_DOUBLE = 3,
    /** `values` is double[length], seconds since 1970-01-01 UTC. */
    QUIRE_COLUMN_DATE = 4,
    /** `values` is UTF-8; value i is the bytes offsets[i] to offsets[i + 1]. */
    QUIRE_COLUMN_TEXT = 5,
    /** As QUIRE_COLUMN_TEXT; each a decimal number. */
    QUIRE_COLUMN_DECIMAL = 6,
    /** As QUIRE_COLUMN_TEXT; each a URI. */
    QUIRE_COLUMN_URI = 7,
    /** `values` is bytes; value i is the bytes offsets[i] to offsets[i + 1]. */
    QUIRE_COLUMN_DATA = 8,
    /** `values` is 16 bytes a row. */
    QUIRE_COLUMN_UUID = 9,
    /** `values` is int64_t[length], ids of objects. */
    QUIRE_COLUMN_OBJECT_ID = 10
} quire_column_type;

/** How a page is made. */
typedef enum quire_page_flags {
    /**
     * Text, decimal and URI columns without offsets: the values one after another, each ended by NUL (nil as no bytes).
     * The fastest form for languages that split text. A column with a value that contains U+0000 keeps its offsets
     * instead, and so does one that there is no memory to rewrite. So look at `offsets`.
     */
    QUIRE_PAGE_NUL_SEPARATED = 1
} quire_page_flags;

/**
 * One column of a page. The layout is that of an Arrow array. Numbers are contiguous. `validity` is a bitmap with the
 * least significant bit first (1: there is a value, 0: nil). Text is large UTF-8 with 64-bit offsets.
 */
typedef struct quire_column {
    /** The key path, ended by NUL. */
    const char *name;
    /** A `quire_column_type`. */
    uint32_t type;
    uint32_t reserved; /**< Zero. */
    /** Rows. */
    int64_t length;
    /** How many of them are nil. */
    int64_t nil_count;
    /** NULL when none is nil. */
    const uint8_t *QUIRE_NULLABLE validity;
    /** `length` + 1 numbers; NULL for types of fixed width and for text in NUL-separated form. */
    const int64_t *QUIRE_NULLABLE offsets;
    const void *values; /**< As the type says; see `quire_column_type`. */
    /** Bytes at `values`. */
    int64_t values_size;
} quire_column;

/** Adds a reference and returns `list`. Takes NULL. Any thread. */
quire_list *QUIRE_NULLABLE quire_list_retain(const quire_list *QUIRE_NULLABLE list);

/** Releases a reference. Takes NULL. Any thread. */
void quire_list_release(quire_list *QUIRE_NULLABLE list);

/** How many objects or rows it has. */
int64_t quire_list_count(const quire_list *list);

/**
 * The object at `index`. Owned: `*out_object`.
 *
 * Fails: QUIRE_NOT_FOUND (`index` out of range), QUIRE_INVALID_STATE (a list of rows or of a count), QUIRE_CLOSED,
 * QUIRE_DATABASE.
 */
quire_status quire_list_object(
    quire_list *list, int64_t index, quire_object *QUIRE_NULLABLE *QUIRE_NONNULL out_object,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Writes `count` ids from `first` on to `out_ids`. Fails: QUIRE_INVALID_ARGUMENT (out of range), QUIRE_INVALID_STATE. */
quire_status quire_list_ids(
    const quire_list *list, int64_t first, int64_t count, int64_t *out_ids,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The values of `count` rows from `first` on, as columns, pending changes included. Owned: `*out_page`.
 *
 * @param key_paths Names of `key_path_count` columns, each ended by NUL: attributes, to-one relationships (ids), key
 *     paths through to-one relationships. With 0 of them, the columns are all attributes; for dictionary results and
 *     counts, their own columns.
 * @param flags A sum of `quire_page_flags`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (out of range, unknown key, a to-many relationship, unknown flag), QUIRE_INVALID_STATE
 * (pending changes of entities that have no parent in common), QUIRE_NOT_FOUND (a row is gone from the store),
 * QUIRE_CLOSED, QUIRE_DATABASE.
 */
quire_status quire_list_page(
    quire_list *list, int64_t first, int64_t count, const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths,
    size_t key_path_count, uint32_t flags, quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `page`. Takes NULL. Any thread. */
quire_page *QUIRE_NULLABLE quire_page_retain(const quire_page *QUIRE_NULLABLE page);

/** Releases a reference. Takes NULL. Any thread. */
void quire_page_release(quire_page *QUIRE_NULLABLE page);

/** Rows of the page. */
int64_t quire_page_row_count(const quire_page *page);

/** Columns of the page. */
int64_t quire_page_column_count(const quire_page *page);

/** A column. Borrowed from `page`, with all that it points to; NULL when `index` is out of range. */
const quire_column *QUIRE_NULLABLE quire_page_column(const quire_page *page, int64_t index);

QUIRE_END

#endif
