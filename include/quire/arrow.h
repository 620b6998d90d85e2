/**
 * @file
 * Pages as Arrow arrays, for libraries of tables: pandas, polars, DuckDB and others take them without a copy.
 *
 * The three structs are those of the specifications "The Arrow C data interface" and "The Arrow C stream interface" of
 * Apache Arrow. They never change. A program that includes another header with them may include this one, too.
 */
#ifndef QUIRE_ARROW_H_
#define QUIRE_ARROW_H_

#include "base.h"

QUIRE_BEGIN

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *QUIRE_NULLABLE format;
    const char *QUIRE_NULLABLE name;
    const char *QUIRE_NULLABLE metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema *QUIRE_NULLABLE *QUIRE_NULLABLE children;
    struct ArrowSchema *QUIRE_NULLABLE dictionary;
    void (*QUIRE_NULLABLE release)(struct ArrowSchema *QUIRE_NULLABLE);
    void *QUIRE_NULLABLE private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void *QUIRE_NULLABLE *QUIRE_NULLABLE buffers;
    struct ArrowArray *QUIRE_NULLABLE *QUIRE_NULLABLE children;
    struct ArrowArray *QUIRE_NULLABLE dictionary;
    void (*QUIRE_NULLABLE release)(struct ArrowArray *QUIRE_NULLABLE);
    void *QUIRE_NULLABLE private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*QUIRE_NULLABLE get_schema)(struct ArrowArrayStream *QUIRE_NULLABLE, struct ArrowSchema *QUIRE_NULLABLE out);
    int (*QUIRE_NULLABLE get_next)(struct ArrowArrayStream *QUIRE_NULLABLE, struct ArrowArray *QUIRE_NULLABLE out);
    const char *QUIRE_NULLABLE (*QUIRE_NULLABLE get_last_error)(struct ArrowArrayStream *QUIRE_NULLABLE);
    void (*QUIRE_NULLABLE release)(struct ArrowArrayStream *QUIRE_NULLABLE);
    void *QUIRE_NULLABLE private_data;
};

#endif

/**
 * A column of a page as an Arrow array, or all of them as an array of structs.
 *
 * @param column The place of the column; -1 for all of them.
 * @param[out] out_schema The type of the array. NULL for a caller that needs only the array.
 * @param[out] out_array The array. NULL for a caller that needs only the type.
 *
 * Integers, doubles, ids, UUIDs, data and texts stay where they are, also in pages with QUIRE_PAGE_NUL_SEPARATED. The
 * arrays hold what they need of the page: it may be released, and its store closed. The caller calls `release` of both
 * structs, on any thread.
 *
 * | quire_column_type       | Arrow                                                                            |
 * |-------------------------|----------------------------------------------------------------------------------|
 * | INTEGER, OBJECT_ID      | int64 (`l`)                                                                      |
 * | BOOLEAN                 | bool (`b`), a bitmap                                                             |
 * | DOUBLE                  | float64 (`g`)                                                                    |
 * | DATE                    | timestamp in microseconds, UTC (`tsu:UTC`), rounded to the nearest               |
 * | TEXT, URI               | large utf8 (`U`)                                                                 |
 * | DECIMAL                 | decimal128 of precision 38 and the least scale that holds all values of the page |
 * |                         | (`d:38,S`); large utf8 (`U`) where there is none                                 |
 * | DATA                    | large binary (`Z`)                                                               |
 * | UUID                    | fixed-size binary (`w:16`) with the extension `arrow.uuid`                       |
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such column, a date beyond the years that 64 bits of microseconds reach),
 * QUIRE_NO_MEMORY.
 */
quire_status quire_page_export_arrow(
    const quire_page *page, int64_t column, struct ArrowSchema *QUIRE_NULLABLE out_schema,
    struct ArrowArray *QUIRE_NULLABLE out_array, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * The same as a stream of arrays, all of one type. They are slices of the same memory. A page without rows makes a stream
 * without arrays.
 *
 * @param column The place of the column; -1 for all of them.
 * @param batch_rows How many rows an array has at most; 0 for one array.
 * @param[out] out_stream The caller calls its `release`. Its functions are called by one thread at a time.
 *
 * Fails as `quire_page_export_arrow`, and with QUIRE_INVALID_ARGUMENT (`batch_rows` is negative).
 */
quire_status quire_page_stream_arrow(
    const quire_page *page, int64_t column, int64_t batch_rows, struct ArrowArrayStream *out_stream,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
