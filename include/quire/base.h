/**
 * @file
 * Status codes, text and version, and the rules that hold for the whole library.
 *
 * Ownership. Handles (`quire_store *`, `quire_object *`, ...) are reference counted. A function named `_create`,
 * `_open` or `_insert` returns one reference, and so does every `out_` parameter of a handle type. The caller returns
 * it with the `_release` function of its type. `_retain` adds one. Both take NULL, and do nothing with a handle of
 * another type. A handle whose last reference was released is no handle of any type. Like memory that was freed, it
 * must not be passed to any function: what happens then is undefined. A child keeps its parent alive, so the order of
 * releases does not matter. Text, arrays and handles that a function *returns* are borrowed from its first argument,
 * for as long as its comment says.
 *
 * Errors. A call that can fail returns a `quire_status` and takes a `quire_error **` last, which may be NULL. On
 * failure it stores an error there that the caller releases. It also sets every `out_` parameter to NULL or zero. On
 * success it stores NULL there. In both cases it looks at nothing that was there before, and does not release it:
 * release an error before the next call with the same variable. NULL where a pointer is required, a handle of another
 * type, text that is not UTF-8 and a foreign enum number are failures like any other (QUIRE_INVALID_ARGUMENT,
 * QUIRE_INVALID_TEXT). They never end the process. A function that returns a value directly returns zero, false or NULL
 * for a NULL argument or a refused call.
 *
 * Structs that begin with `struct_size` are initialised with their _INIT macro, which has the name of the struct:
 * QUIRE_STORE_OPTIONS_INIT is that of `quire_store_options`. Each macro sets `struct_size`, and all else to zero: a
 * binding of another language may do the same. Texts in structs of options end with NUL. A program that was built with
 * a newer header may pass a longer struct. The members that this library does not know must be zero. Otherwise the call
 * fails with QUIRE_UNSUPPORTED. It fails so too for a member called `reserved` that is not zero. A shorter struct,
 * which may end with `struct_size` itself, has the members that it lacks as the macro sets them. Some structs of that
 * kind are filled by the library (`quire_section`). Such a struct keeps its size, and the library fills as many members
 * as fit. It reads nothing of the struct but its size. One that is shorter than in the first version that has it fails
 * the call with QUIRE_INVALID_ARGUMENT.
 *
 * Structs that the library lends may be longer than in your header when the library is newer. Do not copy their bytes,
 * and do not count through an array of them with `[]`. The `_array` types hold the distance between two elements, and
 * `quire_change_at` and its like use it. The structs that never change are `quire_string`, `quire_value`,
 * `quire_entry`, `quire_index_element`, `quire_index_path` and the `_array` types.
 *
 * Types. An enumeration is a `uint32_t` wherever it is passed, returned or kept in a struct. A number of another
 * version is therefore just a number. Only `quire_status` goes by its own name. Enumerators begin with words of their
 * type's name. Places, indexes and counts of the library's things are `int64_t`, and -1 is no place. Sizes of memory
 * that is passed are `size_t`: of texts in bytes, of arrays in elements.
 *
 * `const` on a handle says that the call does not change what the handle shows. Counting references changes nothing, so
 * `_retain` takes a const handle and returns one that can be released. A function that keeps its argument takes it
 * const, too, unless it goes on to change it.
 *
 * Text and data that an object lends (`quire_object_get` and its like) hold as long as the object. They end earlier when
 * the attribute is set, or when `quire_context_generation` of the context has grown. It grows with a rollback, a reset,
 * a refresh, a merge, an undo or redo, a batch request and the save of a child. It also grows with a save that took over
 * values of the store or of derived attributes. No read makes it grow. Copy what is
 * needed for longer. Text that any other thing lends holds as long as that thing, unless its comment says otherwise.
 *
 * Threads. Models, stores, predicates, expressions, section rules, cancellations, errors, pages, change sets, snapshots
 * and evaluations may be used from any thread. Several threads may read them at once. The objects in an evaluation or a
 * conflict belong to their context. A context, with its objects, lists, results controllers and composites, belongs to
 * one thread at a time. The library does not lock it. It detects an overlapping call and refuses it
 * (QUIRE_WRONG_THREAD). Handing a context from one thread to another is fine when the application orders the two.
 * `_retain` and `_release` may be called from any thread. A fetch request is plain data: do not change it on one thread
 * while another uses it. A store has threads of its own while there is work for them: they fold the log into the file,
 * and read what contexts will show. Of the program they call only the log of statements (log.h).
 *
 * Functions of the program. `destroy` is called once, when the library releases `user_data`: with a call that replaces
 * it, or with the last release of its owner. It runs on the thread of that call. When a thread of the store is just
 * looking at the owner, it runs at the end of the next call in that context instead. It may use the library, and even set
 * the next function in its place. It may use objects of a context only where its thread may. The comment of each other
 * function says what that function may do.
 *
 * Processes. A store belongs to the process that opened it. In a forked process, calls on the store and on its contexts
 * and objects fail with QUIRE_CLOSED. Releasing them there leaves the file alone. The same file cannot be opened there
 * (QUIRE_CANNOT_OPEN). SQLite's locks are not passed on, but SQLite would take them for its own, and saves could be
 * lost. Close a store before the fork and open it in each process, or use exec. Things in memory alone go on: models,
 * predicates, pages, change sets, snapshots, errors. No other thread of the program may be inside the library at the
 * moment of the fork.
 *
 * Signals. No function may be called from a signal handler. The library has no handlers and raises no signals. It goes
 * on with what a signal has interrupted; only a wait for a lock may become shorter. Ignore SIGXFSZ where the size of
 * files is limited: then the save fails instead.
 *
 * Memory. A call that asks for much at once fails with QUIRE_NO_MEMORY when there is not enough, and leaves everything
 * as it was. Such pieces are large texts and data, the ids of a fetch, pages of values, the rows of
 * `quire_context_batch_insert` and `quire_context_insert_rows`, and SQLite's memory for a statement. Smaller pieces
 * have no way back: without them the library ends the process, as most libraries of today do. The file is then as after
 * any end of a process: the saves that returned are in it. Fetch in batches, and keep a reserve, where memory is
 * limited.
 *
 * Text is UTF-8. Text passed in is a pointer and a size in bytes, less than QUIRE_NUL. QUIRE_NUL itself means that the
 * text ends with NUL. Text that the library returns is also followed by a NUL, which its size does not count.
 */
#ifndef QUIRE_BASE_H_
#define QUIRE_BASE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library's own build sees every pointer as nullable, because a caller's NULL must be checked, not assumed away. */
#if defined(__clang__) && !defined(QUIRE_IMPLEMENTATION)
#define QUIRE_NONNULL_BEGIN \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") \
    _Pragma("clang assume_nonnull begin")
#define QUIRE_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#define QUIRE_NULLABLE _Nullable
#define QUIRE_NONNULL _Nonnull
#else
#define QUIRE_NONNULL_BEGIN
#define QUIRE_NONNULL_END
#define QUIRE_NULLABLE
#define QUIRE_NONNULL
#endif

#ifdef __cplusplus
#define QUIRE_BEGIN extern "C" { QUIRE_NONNULL_BEGIN
#define QUIRE_END QUIRE_NONNULL_END }
#else
#define QUIRE_BEGIN QUIRE_NONNULL_BEGIN
#define QUIRE_END QUIRE_NONNULL_END
#endif

/* For the headers themselves: casts without a warning of -Wold-style-cast, and an element of an array with a stride. */
#ifdef __cplusplus
#define QUIRE_CAST(type, value) static_cast<type>(value)
#else
#define QUIRE_CAST(type, value) ((type)(value))
#endif
#define QUIRE_ELEMENT(type, array, index) \
    QUIRE_CAST(type *, QUIRE_CAST(const void *, \
        QUIRE_CAST(const char *, QUIRE_CAST(const void *, (array).first)) + QUIRE_CAST(size_t, index) * (array).stride))

/** Version of these headers, as in `quire_version`: its first number. */
#define QUIRE_VERSION_MAJOR 0
/** Its second number. */
#define QUIRE_VERSION_MINOR 1
/** Its third number. */
#define QUIRE_VERSION_PATCH 0

/** The same as one number, as in `quire_version_number`: 1002003 for 1.2.3. It grows with every version. */
#define QUIRE_VERSION_NUMBER (QUIRE_VERSION_MAJOR * 1000000 + QUIRE_VERSION_MINOR * 1000 + QUIRE_VERSION_PATCH)

/** As the size of a text: the text ends with NUL, and the library measures it. */
#define QUIRE_NUL UINT32_MAX

QUIRE_BEGIN

/** What a call came to. Numbers never change meaning. */
typedef enum quire_status {
    QUIRE_OK = 0,
    /** NULL, a wrong type, an unknown entity or key, a number out of range. */
    QUIRE_INVALID_ARGUMENT = 1,
    /** Right call, wrong moment: a frozen model, a deleted object, results that were not fetched. */
    QUIRE_INVALID_STATE = 2,
    /** Text that is not valid UTF-8. */
    QUIRE_INVALID_TEXT = 3,
    /** This version of the library does not support it. */
    QUIRE_UNSUPPORTED = 4,
    /** There is no such object, section or row, or a moment is no longer there. */
    QUIRE_NOT_FOUND = 5,
    /** Another thread is inside the same context. */
    QUIRE_WRONG_THREAD = 6,
    /** The store was closed. */
    QUIRE_CLOSED = 7,
    /** The model contradicts itself. */
    QUIRE_INVALID_MODEL = 8,
    /** The predicate cannot be read; the error has the byte offset. */
    QUIRE_INVALID_PREDICATE = 9,
    /** An object breaks the rules of its entity; nothing was saved. */
    QUIRE_VALIDATION = 10,
    /** A row was changed in the store since it was read; nothing was saved. */
    QUIRE_CONFLICT = 11,
    /** A uniqueness constraint of the store is violated; nothing was saved. */
    QUIRE_CONSTRAINT = 12,
    /** The file or its folder is missing or may not be opened. */
    QUIRE_CANNOT_OPEN = 13,
    /** The file is not a database, or not a store. */
    QUIRE_NOT_A_STORE = 14,
    /** The store was written with another model; the error names the entities that differ. */
    QUIRE_MODEL_MISMATCH = 15,
    /** The store is locked by another connection, or another context has a transaction open. */
    QUIRE_BUSY = 16,
    /** The store was opened read-only, or its file may not be written. */
    QUIRE_READ_ONLY = 17,
    /** SQLite failed: disk full, I/O error, damaged file. */
    QUIRE_DATABASE = 18,
    /** A registered function or a hook failed; the message is its own. */
    QUIRE_FUNCTION = 19,
    /** The caller cancelled it, from another thread or from a progress function. */
    QUIRE_CANCELLED = 20,
    /** A file of the open store was moved, deleted or replaced; nothing was written. */
    QUIRE_FILE_MOVED = 21,
    /** There is not enough memory; see "Memory" above. */
    QUIRE_NO_MEMORY = 22,
    /** The history after a token is no longer there, or not yet: read everything anew (history.h). */
    QUIRE_HISTORY_EXPIRED = 23
} quire_status;

/** Text: `size` bytes of UTF-8 at `data`, and a NUL behind them. */
typedef struct quire_string {
    const char *QUIRE_NULLABLE data; /**< The bytes; NULL when there is no text. */
    size_t size; /**< How many bytes, without the NUL behind them. */
} quire_string;

/** What went wrong; error.h. */
typedef struct quire_error quire_error;
/** Entities and their properties; model.h. */
typedef struct quire_model quire_model;
/** A file of objects; store.h. */
typedef struct quire_store quire_store;
/** A working set of objects; context.h. */
typedef struct quire_context quire_context;
/** The name of a commit that contexts show; moment.h. */
typedef struct quire_moment quire_moment;
/** An object of a context; object.h. */
typedef struct quire_object quire_object;
/** An object that another writer has changed; conflict.h. */
typedef struct quire_conflict quire_conflict;
/** A condition; predicate.h. */
typedef struct quire_predicate quire_predicate;
/** A calculation; expression.h. */
typedef struct quire_expression quire_expression;
/** What a calculation came to; expression.h. */
typedef struct quire_evaluation quire_evaluation;
/** A query; fetch.h. */
typedef struct quire_fetch_request quire_fetch_request;
/** The results of a fetch, or the objects of a relationship; list.h. */
typedef struct quire_list quire_list;
/** Rows of values in columns; list.h. */
typedef struct quire_page quire_page;
/** A results controller, which keeps a sectioned list up to date; results.h. */
typedef struct quire_results quire_results;
/** Several results controllers as one list; composite.h. */
typedef struct quire_composite quire_composite;
/** A change set; changes.h. */
typedef struct quire_changes quire_changes;
/** One state of a sectioned list; snapshot.h. */
typedef struct quire_snapshot quire_snapshot;
/** How a list is divided; section_rule.h. */
typedef struct quire_section_rule quire_section_rule;
/** What ends a fetch; cancellation.h. */
typedef struct quire_cancellation quire_cancellation;
/** What takes a store over to another model; migration.h. */
typedef struct quire_migration quire_migration;
/** Transactions of the history of a store; history.h. */
typedef struct quire_history quire_history;

/** The version of the library that is running, such as "0.1.0". Static. Compare it with the macros above. */
const char *quire_version(void);

/** The same as a number: QUIRE_VERSION_NUMBER of the headers that the library was built with. */
uint32_t quire_version_number(void);

/** The version of the SQLite that the library runs with, such as "3.40.1". Static. */
const char *quire_sqlite_version(void);

/** The version of the ICU that the library runs with, such as "72.1". Static. */
const char *quire_icu_version(void);

/** The name of a status, such as "QUIRE_NOT_FOUND"; "unknown status" for a foreign number. Static. */
const char *quire_status_name(quire_status status);

QUIRE_END

#endif
