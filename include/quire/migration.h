/**
 * @file
 * Taking a store over to another version of its model.
 *
 * A file is of one model, and quire_store_open refuses it with QUIRE_MODEL_MISMATCH for another one. A migration changes the
 * file, so that it is of the other model with the objects that it has. It works in place and in one transaction: whatever
 * interrupts it, the file is as it was or as it is to be. With `quire_store_options.migrates` an opening does it by itself.
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
 * done in two migrations, by a version of the model in between that has both the old and the new property: migrate to it,
 * open the store, set the new property of each object, and migrate again.
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
} quire_migration_step;

/** Sets `struct_size`; all else zero. */
#define QUIRE_MIGRATION_STEP_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_migration_step)), 0, { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, { NULL, 0 } }

/**
 * Works out what takes the store at `path` to the model `target`. Reads the file and writes nothing.
 *
 * `source` is the model that the file has now; with NULL it is the one of which the file keeps a copy. Both are frozen.
 * Of `options`, which may be NULL, `is_read_only`, `busy_timeout`, `relaxed_durability` and `log` count. With `is_read_only`
 * the file needs no permission to be written, and the migration cannot be run. Owned: `*out_migration`.
 *
 * Fails: QUIRE_UNSUPPORTED (what the models do not tell, as above; CloudKit mirrors the store; an XML store); QUIRE_INVALID_MODEL (also
 * for NULL and a store that keeps no model); QUIRE_MODEL_MISMATCH (the file is neither of `source` nor of `target`);
 * QUIRE_INVALID_ARGUMENT; QUIRE_CANNOT_OPEN; QUIRE_NOT_A_STORE; QUIRE_BUSY; QUIRE_READ_ONLY; QUIRE_DATABASE. Any thread.
 */
quire_status quire_migration_create(
    const char *path, size_t path_size, quire_model *QUIRE_NULLABLE source, quire_model *target,
    const quire_store_options *QUIRE_NULLABLE options, quire_migration *QUIRE_NULLABLE *QUIRE_NONNULL out_migration,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `migration`. Takes NULL. Any thread. */
quire_migration *QUIRE_NULLABLE quire_migration_retain(const quire_migration *QUIRE_NULLABLE migration);

/** Releases a reference. Takes NULL. Any thread. */
void quire_migration_release(quire_migration *QUIRE_NULLABLE migration);

/** How many steps there are; 0 when the file is of the target already, and for NULL. Any thread. */
int64_t quire_migration_step_count(const quire_migration *QUIRE_NULLABLE migration);

/**
 * Fills `*out_step`, which begins with QUIRE_MIGRATION_STEP_INIT, with the step at `index`. First come those that say what
 * differs between the models, then those with SQL, in the order in which they are run. These are the steps of the file as
 * `quire_migration_create` found it. Any thread.
 *
 * Fails: QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_migration_get_step(
    const quire_migration *migration, int64_t index, quire_migration_step *out_step,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Runs the migration, whole or not at all, and closes the file. A file that is of the target by now is left as it is, so a
 * second run does nothing. A file whose schema is another one than `quire_migration_create` found is planned anew.
 *
 * A table that only gets columns is written in place, and other tables are copied, so that the file may need room for both
 * meanwhile. `cancellation` and `progress` may be NULL; cancellation.h says how they work. `report` is told how many steps are
 * done, and is called during statements that take long, too.
 *
 * Fails, and leaves every object as it was: QUIRE_CANCELLED; QUIRE_INVALID_STATE (this process has the store open);
 * QUIRE_CONSTRAINT (a new uniqueness constraint that objects do not keep); QUIRE_BUSY; QUIRE_READ_ONLY; QUIRE_UNSUPPORTED
 * (something of another program names what is gone); QUIRE_DATABASE (also a full disk); and all that
 * `quire_migration_create` fails with. Any thread.
 */
quire_status quire_migration_run(
    quire_migration *migration, const quire_cancellation *QUIRE_NULLABLE cancellation,
    const quire_progress *QUIRE_NULLABLE progress, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
