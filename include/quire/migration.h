/**
 * @file
 * Taking a store over to another version of its model.
 *
 * A file is of one model, and quire_store_open refuses it with QUIRE_MODEL_MISMATCH for another one. A migration changes the
 * file, so that it is of the other model with the objects that it has. It works in place and in one transaction: whatever
 * interrupts it, the file is as it was or as it is to be. With `quire_store_options.migrates` an opening does it by itself.
 * With several stages (`quire_migration_add_stage`) each stage is one transaction.
 *
 * What becomes of entities and properties is inferred from the two models. Equal names are the same thing. Where a name has
 * changed, the renaming identifier of the new model gives the former name, or the identifier that the former model had. The
 * rules are those of Core Data's lightweight migration. These can be:
 *
 * - attributes are new, are gone, have another name, become optional or searchable, or become mandatory with a default.
 *   Objects that are there have the default of a new attribute;
 * - relationships are new, are gone, have another name, become to-many, ordered or unordered, or lose or get an inverse;
 * - entities are new, are gone with their objects, have another name, become concrete, have another parent or children;
 * - properties move to an ancestor or a descendant;
 * - fetch indexes and uniqueness constraints come and go.
 *
 * A file whose version hashes are those of the new model is of that model, and nothing is done. Fetch indexes, defaults and
 * renaming identifiers are no part of a hash: what differs in these alone needs a hash modifier.
 *
 * Whatever else differs is refused with QUIRE_UNSUPPORTED before a byte is written, and the message names the entity, the
 * property and the reason. Among this are another type of an attribute, a to-many relationship that becomes to-one, a new
 * mandatory attribute without a default, and two entities without a common ancestor that get one. What is refused can be
 * done in stages, by a model in between that has both the old and the new property. The callback of that stage sets the new
 * property of each object, and the next stage takes the old one away. The step from each model to the next is inferred.
 *
 * Primary keys, versions of rows, the UUID of the store, application metadata and the history of changes stay. Indexes,
 * triggers, views, columns and tables of other programs stay too. One that names what is gone fails the migration, and the
 * message names it. Attributes that the library derives, and text indexes, are made when the store is opened next.
 *
 * Close the store in all processes first. A process of the former version that has it open fails with QUIRE_MODEL_MISMATCH
 * from its next save or merge on, and writes nothing.
 */
#ifndef QUIRE_MIGRATION_H_
#define QUIRE_MIGRATION_H_

#include "cancellation.h"
#include "store.h"
#include "value.h"

QUIRE_BEGIN

/** What a step of a migration is about. */
typedef enum quire_migration_step_kind {
    QUIRE_MIGRATION_ADD_ENTITY = 1,
    QUIRE_MIGRATION_REMOVE_ENTITY = 2,
    QUIRE_MIGRATION_RENAME_ENTITY = 3,
    QUIRE_MIGRATION_CHANGE_ENTITY = 4, /**< Another parent, or abstract or not. */
    QUIRE_MIGRATION_ADD_PROPERTY = 5,
    QUIRE_MIGRATION_REMOVE_PROPERTY = 6,
    QUIRE_MIGRATION_RENAME_PROPERTY = 7,
    QUIRE_MIGRATION_CHANGE_PROPERTY = 8, /**< Optional, to-many, ordered, its inverse, or moved. */
    QUIRE_MIGRATION_CHANGE_TABLE = 9, /**< SQL that changes tables and rows. */
    QUIRE_MIGRATION_CHANGE_INDEX = 10, /**< SQL that changes indexes and triggers. */
    QUIRE_MIGRATION_CHANGE_BOOKKEEPING = 11 /**< SQL that notes what the file is. */
} quire_migration_step_kind;

/** One step of a migration. Its texts are valid as long as the migration. */
typedef struct quire_migration_step {
    /** sizeof(quire_migration_step) in your build. */
    uint32_t struct_size;
    uint32_t kind; /**< A `quire_migration_step_kind`. */
    /** The entity of the new model, or of the former one for what is gone; empty for none. */
    quire_string entity;
    /** The property, likewise; empty for none. */
    quire_string property;
    /** What the step does, for a person. The words may change from version to version. */
    quire_string sentence;
    /**
     * The statements that the step runs, each ended by a semicolon; empty for what the statements of later steps do.
     * A question mark stands for the metadata and for the copy of the model.
     */
    quire_string sql;
    uint32_t stage; /**< The stage that it is of, from 0. */
    uint32_t reserved; /**< Zero. */
} quire_migration_step;

/** Sets `struct_size`; all else zero. */
#define QUIRE_MIGRATION_STEP_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_migration_step)), 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0, 0 }

/**
 * Works out what takes the store at `path` to the model `target`. Reads the file and writes nothing.
 *
 * `source` is the model that the file has now, or before the first stage; with NULL it is the one of which the file keeps a
 * copy. Both models are frozen.
 * Of `options`, which may be NULL, `is_read_only`, `busy_timeout`, `relaxed_durability` and `log` count. With `is_read_only`
 * the file needs no permission to be written, and the migration cannot be run. Owned: `*out_migration`.
 *
 * The way to `target` is one stage, without callbacks. With NULL as `target` there is no stage until
 * `quire_migration_add_stage` adds one, and what concerns the model that the file has is not checked before.
 *
 * Fails: QUIRE_UNSUPPORTED (what the models do not tell, as above; CloudKit mirrors the store; an XML store); QUIRE_INVALID_MODEL (also
 * for NULL and a store that keeps no model); QUIRE_MODEL_MISMATCH (the file is neither of `source` nor of `target`);
 * QUIRE_INVALID_ARGUMENT; QUIRE_CANNOT_OPEN; QUIRE_NOT_A_STORE; QUIRE_BUSY; QUIRE_READ_ONLY; QUIRE_DATABASE. Any thread.
 */
quire_status quire_migration_create(
    const char *path, size_t path_size, quire_model *QUIRE_NULLABLE source, quire_model *QUIRE_NULLABLE target,
    const quire_store_options *QUIRE_NULLABLE options, quire_migration *QUIRE_NULLABLE *QUIRE_NONNULL out_migration,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `migration`. Takes NULL. Any thread. */
quire_migration *QUIRE_NULLABLE quire_migration_retain(const quire_migration *QUIRE_NULLABLE migration);

/** Releases a reference. Takes NULL. Any thread. */
void quire_migration_release(quire_migration *QUIRE_NULLABLE migration);

/**
 * What the program does in a stage beside what is inferred. Each callback may be NULL.
 *
 * A callback returns true, or false when it failed. `*out_reason` is nil before. After a failure it may be a text with the
 * reason, which is copied as soon as the callback has returned. The stage is taken back then, and the run fails with
 * QUIRE_FUNCTION.
 *
 * `context` is for the call alone. It reads and saves in the transaction of the stage, so that its saves are in the file
 * when that ends well. What is pending when the callback returns true is saved by the library; a save that fails takes the
 * stage back, too. The history of the file, where there is one, has each save. When the callback has returned, everything
 * that was retained of the context fails with QUIRE_CLOSED.
 *
 * A callback runs on the thread of `quire_migration_run`, with no lock held. The context cannot begin or end a transaction
 * (QUIRE_INVALID_STATE). The store of the context cannot be closed (QUIRE_INVALID_STATE), and other contexts of it cannot be
 * used (QUIRE_BUSY). The file cannot be opened or migrated by the callback, nor can the migration get a stage
 * (QUIRE_INVALID_STATE).
 */
typedef struct quire_migration_callbacks {
    /** sizeof(quire_migration_callbacks) in your build. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** Passed to both callbacks, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, on any thread, when the migration is gone. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /** The stage has begun, and the store of `context` is of the former model, with everything as it was. */
    bool (*QUIRE_NULLABLE will_migrate)(void *QUIRE_NULLABLE user_data, quire_context *context, quire_value *out_reason);
    /** The store of `context` is of the model of the stage, with what was inferred done. */
    bool (*QUIRE_NULLABLE did_migrate)(void *QUIRE_NULLABLE user_data, quire_context *context, quire_value *out_reason);
} quire_migration_callbacks;

/** Sets `struct_size`; all else zero. */
#define QUIRE_MIGRATION_CALLBACKS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_migration_callbacks)), 0, NULL, NULL, NULL, NULL }

/**
 * Adds a stage that takes the store to `model`, which is frozen, from the model of the stage before, from `source` for the
 * first one, or from the model of which the file keeps a copy. `callbacks`, which are copied, may be NULL. Reads the file
 * and writes nothing.
 *
 * Where the file has the model of a stage by its version hashes, a run begins with the stage after that. So a run that was
 * cut off goes on where it was, and stages that a file has behind it may stay in a program for good. No two stages lead to
 * models with the same version hashes, as a file could not tell one from the other.
 *
 * Whether the file can be migrated is known with the last stage alone, where `source` is NULL: any stage may lead to the
 * model that the file has. What stands against it, QUIRE_UNSUPPORTED, QUIRE_MODEL_MISMATCH or QUIRE_INVALID_MODEL, is then
 * told by `quire_migration_get_step` and `quire_migration_run`.
 *
 * Fails, adds no stage and does not call `destroy`: QUIRE_UNSUPPORTED (what the two models do not tell);
 * QUIRE_INVALID_MODEL (also for a model with the version hashes of another stage or of `source`); QUIRE_INVALID_STATE (the
 * migration runs); QUIRE_INVALID_ARGUMENT; QUIRE_CANNOT_OPEN; QUIRE_NOT_A_STORE; QUIRE_BUSY; QUIRE_READ_ONLY;
 * QUIRE_DATABASE. Any thread.
 */
quire_status quire_migration_add_stage(
    quire_migration *migration, quire_model *model, const quire_migration_callbacks *QUIRE_NULLABLE callbacks,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * How many steps there are in all stages that the file has before it; 0 when it is of the last model already, when it cannot
 * be migrated by these stages, and for NULL. Any thread.
 */
int64_t quire_migration_step_count(const quire_migration *QUIRE_NULLABLE migration);

/**
 * Fills `*out_step`, which begins with QUIRE_MIGRATION_STEP_INIT, with the step at `index`. Of each stage, first come those
 * that say what differs between the models, then those with SQL, in the order in which they are run. These are the steps of
 * the file as `quire_migration_create` or the last `quire_migration_add_stage` found it. What callbacks do is in no step.
 * Any thread.
 *
 * Fails: QUIRE_INVALID_ARGUMENT; QUIRE_UNSUPPORTED, QUIRE_MODEL_MISMATCH and QUIRE_INVALID_MODEL at any index, where the file
 * cannot be migrated by the stages that there are.
 */
quire_status quire_migration_get_step(
    const quire_migration *migration, int64_t index, quire_migration_step *out_step,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Runs the migration, each stage whole or not at all, and closes the file. A file that is of the last model by now is left
 * as it is, so a second run does nothing, and calls nothing. A file whose schema is another one than was found before is
 * planned anew.
 *
 * A table that only gets columns is written in place, and other tables are copied, so that the file may need room for both
 * meanwhile. `cancellation` and `progress` may be NULL; cancellation.h says how they work. `report` is told how many steps are
 * done, and is called during statements that take long, too.
 *
 * Fails, and leaves every object as the last stage that was done has left it: QUIRE_CANCELLED; QUIRE_FUNCTION (a callback
 * failed); what the save after a callback fails with; QUIRE_INVALID_STATE (this process has the store open, the migration
 * has no stage, or it runs already);
 * QUIRE_CONSTRAINT (a new uniqueness constraint that objects do not keep); QUIRE_BUSY; QUIRE_READ_ONLY; QUIRE_UNSUPPORTED
 * (something of another program names what is gone); QUIRE_DATABASE (also a full disk); and all that
 * `quire_migration_create` fails with. Any thread.
 */
quire_status quire_migration_run(
    quire_migration *migration, const quire_cancellation *QUIRE_NULLABLE cancellation,
    const quire_progress *QUIRE_NULLABLE progress, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
