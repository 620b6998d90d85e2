/**
 * @file
 * A file of objects, in the layout of Core Data's SQLite stores.
 *
 * These files belong to the store `PATH`, and stay with it while it is open:
 *
 * - `PATH`, an SQLite database, with its text indexes inside;
 * - `PATH-wal`, SQLite's write-ahead log: until a store is closed, the last saves are only there;
 * - `PATH-shm`, the index of the log, which is made anew when it is needed;
 * - `PATH-journal`, which a creation, or a write where there is no log, leaves when it is interrupted;
 * - `PATH-list-...`, the caches of lists, which may be deleted at any time;
 * - the folder `.NAME_SUPPORT`, with large values of attributes that allow external storage;
 * - `quire-copy-...` in the same folder, which an interrupted copy leaves; it may be deleted when no copy is under way.
 *
 * They are beside the file itself, not beside a symbolic link to it. A relative path starts from the folder that is
 * current when the store is opened, once and for all.
 *
 * Do not move, delete or replace them while any process has the store open. `quire_store_copy` and `quire_store_delete`
 * are safe. When the file is not where it was, or another one is there, every write fails with QUIRE_FILE_MOVED and
 * writes nothing. The same happens within a tenth of a second when the log, its index or a folder above is moved.
 * Fetches go on to read the file that was opened, and it may still be copied.
 *
 * The failing call, or the closing of the store, folds the log into the file and empties it. Close the store then, and
 * open it where it is now. That cannot be done where another process or store has used the file or its log meanwhile,
 * and the message of the failure says so. Until then a program must open neither the moved file nor another file in its
 * place: it would miss the last saves, or damage the file.
 *
 * A file has one log for each of its names. The library therefore opens no file with several names (hard links) for
 * writing. In one process it opens no file that it has open by another name.
 *
 * Other programs that write. Core Data, other processes with this library, and plain SQL may write to an open store, as
 * SQLite's locks let them. Plain SQL must keep three rules:
 *
 * - an UPDATE raises the version of each row: `UPDATE ZBOOK SET ZPAGES = 334, Z_OPT = Z_OPT + 1 WHERE ...`. Otherwise a
 *   save of a context that has read the row writes over the change, without QUIRE_CONFLICT;
 * - an INSERT sets `Z_ENT` to the number of the entity, and `Z_OPT` to 1. `Z_PRIMARYKEY` has the number, in the row whose
 *   `Z_NAME` is the entity. Without it, fetches that meet the row fail with QUIRE_DATABASE;
 * - an INSERT takes its key, `Z_PK`, from `Z_MAX` of the root entity in `Z_PRIMARYKEY`, which it raises in the same
 *   transaction (BEGIN IMMEDIATE). Otherwise a pending object may have the same key, and its save fails with
 *   QUIRE_CONFLICT until it is given another one (`quire_context_obtain_permanent_ids`).
 *
 * No delete rule, inverse or validation of the model holds for SQL. Contexts find what SQL has changed with
 * `quire_context_merge` or `quire_context_refresh_all`; context.h says what lists report of that.
 *
 * An XML store, which Core Data has on macOS, is one file, `PATH`. All of it is in memory while the store is open, and each
 * commit writes it anew: a save, a batch request and a transaction as one. The new file is written beside the old one as
 * `quire-copy-...`, synchronized, and put into its place, so that there is always one whole file. When that fails, so does
 * the save, and the store has what it had. A save that finds another file than the one that was read, or one that was
 * changed, fails with QUIRE_FILE_MOVED: it would undo the work of another program. Everything else is as with SQLite. Core
 * Data's own spelling is kept, as far as it is known. Control characters, which no XML can have, are written as a
 * backslash, `u` and four digits (docs/file-format.md). The metadata can have none, and a save of them fails with
 * QUIRE_UNSUPPORTED. A copy of an XML store (`quire_store_copy`) is one, too. With `relaxed_durability` a power cut may bring
 * back the file before the last saves, and never a part of one.
 */
#ifndef QUIRE_STORE_H_
#define QUIRE_STORE_H_

#include "base.h"
#include "log.h"

QUIRE_BEGIN

/** In which form a store lies on the disk. */
typedef enum quire_store_type {
    /** The form that the file has. A new store is of SQLite. */
    QUIRE_STORE_ANY = 0,
    /** A database of SQLite. */
    QUIRE_STORE_SQLITE = 1,
    /** Core Data's XML store: one file, all of which is in memory while the store is open. */
    QUIRE_STORE_XML = 2
} quire_store_type;

/**
 * Which change journal a file keeps: the table `QUIRE_CHANGE_JOURNAL`, from which contexts of other processes learn which
 * rows a commit has changed (see context.h).
 */
typedef enum quire_change_journal {
    /** What the file has. A new file of SQLite gets QUIRE_CHANGE_JOURNAL_SAVES. */
    QUIRE_CHANGE_JOURNAL_DEFAULT = 0,
    /** None. One that is there is removed. */
    QUIRE_CHANGE_JOURNAL_NONE = 1,
    /** Saves and batch requests of Quire record the ids of the rows that they change, in their transactions. */
    QUIRE_CHANGE_JOURNAL_SAVES = 2,
    /** The same, and triggers record each row that plain SQL changes. */
    QUIRE_CHANGE_JOURNAL_ALL = 3
} quire_change_journal;

/** How a store is opened. Zero means the default for every field. */
typedef struct quire_store_options {
    /** sizeof(quire_store_options) in your build. */
    uint32_t struct_size;
    /**
     * Never write; a save fails with QUIRE_READ_ONLY. The file must exist. A closed store leaves its folder as it was.
     * While it is open, `PATH-shm` and an empty `PATH-wal` may be there. They stay when something else uses the file by
     * then, when the process ends without closing the store, and when it may write to the folder and not to the file:
     * without SQLite's lock for writers it does not know that nothing else uses them.
     */
    bool is_read_only;
    /** Fail with QUIRE_CANNOT_OPEN instead of creating a file. */
    bool must_exist;
    /**
     * SQLite's synchronous=NORMAL: faster saves, the last of which a power cut may undo. Never damages the file. Without
     * effect where the file system has no shared memory, so that there is no log.
     */
    bool relaxed_durability;
    /** Milliseconds to wait for another connection's lock, or another context's transaction; 0 means 5000. */
    uint32_t busy_timeout;
    /** The log for each statement, those of the opening included (see log.h). NULL for none. It is copied. */
    const quire_log *QUIRE_NULLABLE log;
    /**
     * Have the file keep a history of its changes, as Core Data's persistent history, from this open on (see history.h). Saves
     * and batch requests write it wherever a file keeps one, with or without this. Not together with `is_read_only`.
     * An XML store keeps none, and fails with QUIRE_UNSUPPORTED.
     */
    bool tracks_history;
    /**
     * Migrate a file of another version of the model first (see migration.h). The file's copy of its model tells what it
     * was. That may be a later version, as behind a program that was set back: then what `model` does not have is removed.
     * `quire_migration_create` with a source refuses such a file. Not together with `is_read_only`. An XML store is not
     * migrated.
     */
    bool migrates;
    /**
     * How many bytes of pages the write-ahead log may have; 0 means 64 MB, and 16 MB in memory. From a sixteenth of it on,
     * the log is folded into the file beside the program's calls. From a quarter on, saves wait up to 25 ms for contexts that
     * advance. From three eighths on, saves, batch requests and transactions wait for a checkpoint that is under way, up to
     * `busy_timeout`: contexts that merge can advance meanwhile, and so can pinned ones beyond the limit whose pins are short.
     * Beyond it, the store gives up moments that are not the newest, of contexts without objects or lists in use.
     * Other contexts keep their moments up to eight times this limit (see context.h), and pinned ones for as long as they
     * are pinned (see moment.h). At least 65536, or the open fails with QUIRE_INVALID_ARGUMENT. It is no less than 16
     * pages of the file, and a save may exceed it.
     */
    uint64_t wal_limit;
    /**
     * The form of a new store, a `quire_store_type`. A file that is there must have it, or the open fails with
     * QUIRE_NOT_A_STORE. QUIRE_STORE_ANY takes whatever form the file has.
     */
    uint32_t type;
    /**
     * Which change journal the file keeps from this open on, a `quire_change_journal`. Saves and batch requests of all
     * processes write it wherever a file keeps one, whatever they give here. The default leaves a file as it is, but for
     * the table `QUIRE_NOTES` of earlier versions: a journal of all changes takes its place. Not together with
     * `is_read_only`. A store in memory and an XML store have none: SAVES and ALL fail with QUIRE_UNSUPPORTED there, and
     * for a file in which another program has something else of that name.
     */
    uint32_t change_journal;
} quire_store_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_STORE_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_store_options)), false, false, false, 0, NULL, false, false, 0, 0, 0 }

/**
 * Opens the store at `path`, creating it when there is no file. `:memory:` is a private store in memory.
 *
 * An empty file and a database without tables become a store, too. A creation is whole or not there, whatever
 * interrupts it. Processes that open a new path together get one store. With `must_exist` or `is_read_only`, an open
 * waits for a creation that is under way in another process, as for a lock.
 *
 * Freezes the model. A new file keeps a copy of it, unless a text of it has U+0000 in it. The copy has all that Core Data
 * knows, and which attributes are searchable; rules of whole objects are not in it. It stays as the creation wrote it.
 *
 * With NULL the model is the one of which the file keeps a copy, and the file must exist. Files that Core Data made before
 * 2015 have none, and neither have those of the library from before it wrote any. `quire_store_model` returns it.
 *
 * A file that cannot be opened as this store is left untouched. `options` may be NULL. Owned: `*out_store`.
 *
 * A new file gets no name that SQLite or the library uses beside a store, whether that is open or not: with `-wal`, `-shm`,
 * `-journal` or the name of a list cache behind the name of a file, or in a folder of large values. Links and other
 * spellings of the path change nothing. This also holds for `quire_store_copy` and `quire_store_convert`.
 *
 * An XML store is known by its first bytes. It keeps no copy of its model, so that NULL is QUIRE_INVALID_MODEL. A damaged
 * one is QUIRE_DATABASE, and the message names the line.
 *
 * Fails: QUIRE_INVALID_MODEL (also for NULL and a store that keeps no model); QUIRE_CANNOT_OPEN (missing folder, no
 * permission, a folder, several names; the name belongs to another store, or a store has a name that belongs to this
 * one); QUIRE_NOT_A_STORE (no database, or another program's; for NULL, `must_exist`
 * and `is_read_only` also an empty file or database); QUIRE_MODEL_MISMATCH (written with another model: the message
 * names the entities); QUIRE_BUSY; QUIRE_READ_ONLY (the file, its folder or its log may not be written; or the open is for
 * reading only although the last write was interrupted, which an open for writing takes back); QUIRE_FILE_MOVED (in the
 * midst of the call); QUIRE_UNSUPPORTED (for writing: the history of the file has an unknown form; CloudKit mirrors it, and
 * would not learn of a save; or it has an R-Tree of which neither triggers nor the model say what is in it);
 * QUIRE_INVALID_ARGUMENT (options that do not go together); QUIRE_DATABASE; and with `migrates` all that
 * `quire_migration_create` and `quire_migration_run` fail with.
 */
quire_status quire_store_open(
    const char *path, size_t path_size, quire_model *QUIRE_NULLABLE model,
    const quire_store_options *QUIRE_NULLABLE options, quire_store *QUIRE_NULLABLE *QUIRE_NONNULL out_store,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `store`. Takes NULL. */
quire_store *QUIRE_NULLABLE quire_store_retain(const quire_store *QUIRE_NULLABLE store);

/** Releases a reference; the last release closes the store. Takes NULL. */
void quire_store_release(quire_store *QUIRE_NULLABLE store);

/**
 * Closes the file. Unsaved changes are lost. Later calls that need the file fail with QUIRE_CLOSED; closing again does
 * nothing. Handles stay valid until released. Waits for what reads or writes on another thread; the cancellation of a
 * request ends that sooner (cancellation.h).
 *
 * Fails: QUIRE_FILE_MOVED (the last saves are only in the log, which the message names); QUIRE_DATABASE. The store is
 * closed all the same.
 */
quire_status quire_store_close(quire_store *store, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Writes the saved state, as of one moment, into a new store at `path`. There must be no file. Unsaved changes are left
 * out. The copy appears whole or not at all.
 *
 * Other threads and processes may read and save meanwhile, except in a store in memory, whose threads wait. The copy
 * has the permissions of the file, and keeps the UUID: ids of objects mean the same objects in it. Caches of lists are
 * not copied. A file of a value that is missing is missing in the copy, too. The store may be open for reading only, and
 * its file may have been moved or deleted. Other threads wait then.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (`:memory:`; or attributes allow external storage, and the name is that of the store but
 * for what follows the last dot); QUIRE_CANNOT_OPEN (there is a file already, also one of the files that would belong to
 * the copy; the name belongs to another store; missing folder, no permission); QUIRE_BUSY; QUIRE_INVALID_STATE (a store
 * in memory or a moved one, in the midst of a read or save); QUIRE_CLOSED; QUIRE_DATABASE (full disk). Thread: any.
 */
quire_status quire_store_copy(
    quire_store *store, const char *path, size_t path_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Writes the store at `path` into a new file at `target`, as a store of another type: an XML store as one of SQLite, or
 * the other way round. There must be no file at `target`. The new store appears whole or not at all. The store at `path` is
 * only read, and stays as it is.
 *
 * All objects, values, relationships and orders are kept, and so are the UUID and the metadata. Dates in the metadata lose
 * fractions of seconds in an XML store. Versions of rows begin at 1. Large values are in the rows, and not in files beside
 * the store. A history and caches of lists are not kept.
 *
 * An XML store numbers the objects of all entities together. From SQLite the keys are kept where no two entities share
 * one, as in a store that was XML before. Otherwise all objects get other keys, and so other URIs, in the order of the
 * entities and of their keys. To SQLite the keys are kept.
 *
 * `model` may be NULL for a file of SQLite that keeps its model. `type`, a `quire_store_type`, is that of the new store;
 * QUIRE_STORE_ANY is the one that the store at `path` does not have.
 *
 * Fails as `quire_store_open` for the store at `path`. Also: QUIRE_INVALID_ARGUMENT (`:memory:`; the store has the type
 * already); QUIRE_CANNOT_OPEN (there is a file at `target`, or no folder for it, or no permission, or the name belongs to
 * another store); QUIRE_UNSUPPORTED (a
 * text of the metadata has a control character, which no XML can have); QUIRE_DATABASE (full disk). Thread: any.
 */
quire_status quire_store_convert(
    const char *path, size_t path_size, quire_model *QUIRE_NULLABLE model, const char *target, size_t target_size,
    uint32_t type, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Deletes the store at `path`, of any model, with all files that belong to it. A symbolic link at `path` is deleted
 * with the files that it leads to.
 *
 * A store that is open is refused, and so is any other file; nothing was deleted then. A store that uses no log is known
 * to be open in other processes only while they read or write. That is one on a file system without shared memory, or
 * one that another process read or wrote without a pause while it was opened.
 * An opening may meet a deletion. When its file goes before it is done, it fails with QUIRE_FILE_MOVED, and leaves a new
 * store at the path alone.
 *
 * Fails: QUIRE_INVALID_STATE (this process has it open); QUIRE_BUSY (another one has, or this process is opening it);
 * QUIRE_NOT_A_STORE (an XML store, too, which is one file and no more; also an empty file, in which another process may be
 * about to make a store);
 * QUIRE_CANNOT_OPEN (there is none); QUIRE_READ_ONLY (the file or its folder may not be written); QUIRE_DATABASE.
 * Thread: any.
 */
quire_status quire_store_delete(
    const char *path, size_t path_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Checks the whole file: its pages, tables and indexes by SQLite's `integrity_check`, and whether each text index leads
 * to every row that it should.
 *
 * It does not compare rows with the model. Thus it finds no value of another type than its attribute and no row of an
 * unknown entity: fetches that meet them fail with QUIRE_DATABASE. Nor does it find a relationship that leads nowhere. It
 * does not look for the files of values that are stored outside: such a value fails with QUIRE_NOT_FOUND when it is read.
 *
 * A text index that does not is made anew from the texts. In a store that is open for reading only it is not used any
 * more. `*out_mended` is the number of such indexes, and may be NULL. The call takes as long as reading the file and
 * making all text indexes anew. Other threads that use the store wait for it.
 *
 * Fails: QUIRE_DATABASE (the file is damaged otherwise: the details are SQLite's findings); QUIRE_BUSY; QUIRE_CLOSED;
 * QUIRE_INVALID_STATE (from within a fetch or a save).
 */
quire_status quire_store_check(
    quire_store *store, int64_t *QUIRE_NULLABLE out_mended, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Writes what is in the write-ahead log (WAL) into the file, and empties `PATH-wal`. The library does so by itself while
 * programs write (see `wal_limit`). This call is for a program that is about to copy the file by other means, or that wants
 * its disk space back at once.
 *
 * Contexts stay at their moments, unless a moment is older than the newest commit: then the WAL cannot be emptied. The call
 * waits up to `busy_timeout` for contexts of other threads to merge, and for other programs. It does not wait for a context
 * that the calling thread used last. Where the time is over, what could be written is in the file, and nothing is lost. A
 * store without a WAL has nothing to do, and succeeds.
 *
 * Fails: QUIRE_BUSY (contexts at older moments, another program, or an open transaction: the message says which);
 * QUIRE_READ_ONLY; QUIRE_UNSUPPORTED (an XML store); QUIRE_INVALID_STATE (from within a fetch, a save or a migration);
 * QUIRE_FILE_MOVED; QUIRE_CLOSED; QUIRE_DATABASE. Thread: any.
 */
quire_status quire_store_checkpoint(quire_store *store, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Gives free pages of the file back to the file system: a file does not become shorter by deletions alone. Then it empties
 * the WAL as `quire_store_checkpoint` does, by which the file becomes shorter. `*out_freed_size` is the number of bytes, and
 * may be NULL.
 *
 * Pages are moved, and rows keep their ids. Other threads and programs may read meanwhile, and write in between: pages are
 * given back some at a time, each time in a transaction. When the call fails with QUIRE_BUSY, the pages are free, and the
 * file becomes shorter with the next checkpoint. A store in memory gives memory back.
 *
 * Fails as `quire_store_checkpoint` does, and with QUIRE_UNSUPPORTED for a file that has free pages and was created without
 * SQLite's incremental vacuum (`PRAGMA auto_vacuum = 2`), which no file of the library or of Core Data is today.
 * Thread: any.
 */
quire_status quire_store_compact(
    quire_store *store, int64_t *QUIRE_NULLABLE out_freed_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How large the write-ahead log of a store is, and what keeps it. */
typedef struct quire_wal_info {
    /** sizeof(quire_wal_info) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /**
     * Bytes of the pages in the log. The file `PATH-wal` has a little more, and does not become shorter when the log begins
     * anew. 0 for a file that has no log, or that is read without locks.
     */
    int64_t size;
    int64_t unfolded_size; /**< Bytes of those pages that are not in the file itself yet. */
    int64_t limit; /**< `wal_limit` of the options, or the default, in whole pages; 0 where `size` is never known. */
    /**
     * Contexts of this store whose moment is not the newest one, and merges that were worked out beside a context and wait to
     * be taken. As long as there are any, the log cannot begin anew.
     */
    int64_t older_count;
    int64_t pinned_count; /**< Those of them that are pinned, and keep their moments beyond the limit. */
    /** How many commits the oldest of these moments lacks; those of other programs in a row count as one. 0 without any. */
    int64_t lag;
    /**
     * Contexts of this store that have lost the moment which they show, and have not advanced since (see context.h). They
     * count among the older ones above only while they read by another moment that is not the newest.
     */
    int64_t lost_count;
} quire_wal_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_WAL_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_wal_info)), 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Tells how large the write-ahead log is now, and how many contexts keep it from beginning anew. These are contexts of
 * this process. Other programs that read the file for long keep its log as well, and are not counted. Waits for a save that
 * is under way. Thread: any.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_STATE (called from a log, a registered function or a progress function),
 * QUIRE_CLOSED.
 */
quire_status quire_store_wal_info(
    quire_store *store, quire_wal_info *out_info, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Stores in `out_journal` which change journal the file keeps, a `quire_change_journal`: NONE, SAVES or ALL. One that lacks
 * some of its triggers counts as one of SAVES. Fails: QUIRE_BUSY, QUIRE_CLOSED, QUIRE_DATABASE, QUIRE_INVALID_STATE (called
 * from a log or a registered function). Thread: any.
 */
quire_status quire_store_change_journal(
    quire_store *store, uint32_t *out_journal, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the store is open. */
bool quire_store_is_open(const quire_store *store);

/** The path it was opened with. Borrowed from `store`. */
quire_string quire_store_path(const quire_store *store);

/** The upper-case UUID of the file, assigned at its creation. Borrowed from `store`. */
quire_string quire_store_uuid(const quire_store *store);

/** Its model. Borrowed from `store`. */
quire_model *QUIRE_NULLABLE quire_store_model(const quire_store *store);

QUIRE_END

#endif
