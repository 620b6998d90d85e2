/**
 * @file
 * The entities of a store: their attributes, relationships, indexes and constraints.
 *
 * A model is built by calls, in any order within an entity, then used. Its first use (`quire_model_freeze`,
 * `quire_store_open`) checks it as a whole. After that it never changes. Names are ASCII letters, digits and
 * underscores, a letter first. Names that differ only in case are refused, because SQLite would take them for one. For
 * properties, names that Core Data reserves are refused too. So are words that stand for values in predicates, in any
 * case (`nil`, `null`, `yes`, `no`, `true`, `false`, `self`, `anykey`, `truepredicate`, `falsepredicate`).
 */
#ifndef QUIRE_MODEL_H_
#define QUIRE_MODEL_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** Type of an attribute. The numbers are Core Data's and part of the file. */
typedef enum quire_attribute_type {
    /** Any value, never stored: for transient attributes only. */
    QUIRE_TYPE_UNDEFINED = 0,
    QUIRE_TYPE_INTEGER_16 = 100,
    QUIRE_TYPE_INTEGER_32 = 200,
    QUIRE_TYPE_INTEGER_64 = 300,
    /**
     * A decimal number. Core Data's files hold it as a double, which carries 15 digits: decimals and integers with more
     * are rejected, and doubles are rounded to as many. Round the number, or keep it as text. What is calculated for the
     * attribute, by a batch update or as a derived value, is rounded to 15 digits. Numbers that other programs have
     * written are read with all digits that they print with.
     */
    QUIRE_TYPE_DECIMAL = 400,
    /** NaN is refused and negative zero becomes zero, because SQLite stores neither; so with floats and dates. */
    QUIRE_TYPE_DOUBLE = 500,
    QUIRE_TYPE_FLOAT = 600,
    QUIRE_TYPE_STRING = 700,
    QUIRE_TYPE_BOOLEAN = 800,
    QUIRE_TYPE_DATE = 900,
    QUIRE_TYPE_BINARY = 1000,
    QUIRE_TYPE_UUID = 1100,
    QUIRE_TYPE_URI = 1200,
    /** Bytes that the application encodes; kept as they are. */
    QUIRE_TYPE_TRANSFORMABLE = 1800,
    /**
     * Several attributes under one name. Models of files may have it (`quire_model_composite_element`); it is not
     * declared by calls, and stores are neither created nor opened with it. Its part in the version hash is not known
     * to be Core Data's.
     */
    QUIRE_TYPE_COMPOSITE = 2100
} quire_attribute_type;

/** What deleting an object does to the objects that a relationship holds. */
typedef enum quire_delete_rule {
    /** The other side loses the deleted object. The default. */
    QUIRE_DELETE_NULLIFY = 0,
    /** Nothing: the other side may keep a reference to a deleted object. */
    QUIRE_DELETE_NO_ACTION = 1,
    /** The other objects are deleted too. */
    QUIRE_DELETE_CASCADE = 2,
    /** A save fails (QUIRE_VALIDATION) while other objects remain. */
    QUIRE_DELETE_DENY = 3
} quire_delete_rule;

/** How an entity is made. Zero means the default for every field. */
typedef struct quire_entity_options {
    /** sizeof(quire_entity_options) in your build. */
    uint32_t struct_size;
    /** It has no objects of its own, only those of entities that inherit from it. */
    bool is_abstract;
    /** Name of the entity that it inherits from, which may be added later; NULL for none. */
    const char *QUIRE_NULLABLE parent;
    /** Changes the version hash, to tell two versions apart that look alike; NULL for none. */
    const char *QUIRE_NULLABLE version_hash_modifier;
    /**
     * The name of the class of its objects in the application; NULL for none of its own. Kept for the files of models,
     * and no part of the version hash.
     */
    const char *QUIRE_NULLABLE class_name;
    /** What it was called in an earlier version, for migrations; NULL for the same name. No part of the version hash. */
    const char *QUIRE_NULLABLE renaming_identifier;
} quire_entity_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_ENTITY_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_entity_options)), false, NULL, NULL, NULL, NULL }

/** How an attribute is made. Zero means the default for every field. */
typedef struct quire_attribute_options {
    /** sizeof(quire_attribute_options) in your build. */
    uint32_t struct_size;
    /** It may be nil when saved. */
    bool is_optional;
    /** It lives in memory only and has no column. */
    bool is_transient;
    /** The value of an inserted object; NULL for nil. Copied. */
    const quire_value *QUIRE_NULLABLE default_value;
    /** Changes the version hash; NULL for none. */
    const char *QUIRE_NULLABLE version_hash_modifier;
    /**
     * The store keeps an index of its text, which finds parts of three characters and more. The index serves CONTAINS,
     * LIKE, BEGINSWITH, ENDSWITH and the fixed parts of MATCHES, with any options but [l]. For stored attributes of
     * type QUIRE_TYPE_STRING and QUIRE_TYPE_URI. Not part of the version hash. A store gets the index when it is opened
     * for writing. It loses the index when it is opened for writing with a model that does not ask for it. Results are
     * the same without the index.
     */
    bool is_searchable;
    /**
     * Least and greatest value that a save accepts, themselves included; NULL for none. For numbers and dates. Copied.
     * nil passes these and all following rules; `is_optional` decides about nil. No rule is part of the version hash.
     */
    const quire_value *QUIRE_NULLABLE minimum;
    const quire_value *QUIRE_NULLABLE maximum; /**< See `minimum`. */
    /** Least and greatest length that a save accepts, 0 for none: of texts in characters (code points), of data in bytes. */
    uint64_t minimum_length;
    uint64_t maximum_length; /**< See `minimum_length`. */
    /** Regular expression of ICU that the whole of a text must match to be saved; NULL for none. Copied. */
    const char *QUIRE_NULLABLE pattern;
    /**
     * The expression from which the store calculates the attribute; NULL for an attribute that is set. Copied. One of
     *
     *     name, author.name                       the value behind a path of to-one relationships
     *     uppercase:(name), lowercase:(name), canonical:(name)    the last without case and diacritics
     *     items.@count, count:(items)             how many objects a to-many relationship holds
     *     items.price.@sum, .@min, .@max, .@avg   of their values; sum:(items.price), min:, max:, average: as well
     *     now()                                   when the row was last saved
     *
     * A to-many relationship may come behind to-one ones (`author.books.@count`), and the operator is last. Freezing
     * the model checks keys and types; the keys must be stored and not derived themselves. `@count` is an integer,
     * `@sum` an integer, double or decimal, `@avg` a double or decimal. The others have the type of their values.
     *
     * The column is right after each save and batch request, and objects show that without a refresh. Until then they
     * show the value of the last save (for a new object 0 for `@count` and `@sum`, otherwise nil). Sort keys, predicates
     * and sections use the attribute as any other.
     *
     * Other programs may write to the file. Their SQLite keeps the column up, except for uppercase, lowercase and
     * canonical of text that is not ASCII. Such values are set right when the store is next opened for writing or saved
     * to. A change that only derives does not advance the version of a row. A derivation is not part of the version
     * hash. A derived attribute has no default, no rules, and no part in uniqueness constraints, and `is_optional` is
     * not checked.
     *
     * In a file of Core Data its own triggers keep the column up, and stay as they are. Without them the column is left
     * alone. The version hash of an entity with derived attributes is then the file's own.
     */
    const char *QUIRE_NULLABLE derivation;
    /**
     * Large values lie in files beside the store. For QUIRE_TYPE_BINARY and QUIRE_TYPE_TRANSFORMABLE, not for
     * transient attributes, and not in uniqueness constraints. Part of the version hash.
     *
     * A save writes a value of more than 102,400 bytes to a file of its own, in the folder
     * `.NAME_SUPPORT/_EXTERNAL_DATA` beside the store `NAME.sqlite`. The file is written before the row that names it,
     * and goes after the commit of what replaces it, or when the last object that has yet to read it is released. Where
     * another program has copied the row, the copy of the row then lacks its file. A store in memory has no files.
     *
     * quire_store_copy and quire_store_delete take the files along. Stores in one folder whose names differ only in what
     * follows the last dot, such as `NAME.sqlite` and `NAME.bak`, have one folder of files. quire_store_copy therefore
     * refuses such a name. Do not make such a copy with other programs either: each of the two stores removes files that
     * the other one needs. quire_store_delete leaves the files that another store in the folder names. It leaves all
     * files when this process has that store open, or when it cannot be read.
     *
     * An object reads its file when the value is asked for. When the file is not there, that value fails with
     * QUIRE_NOT_FOUND, and the object can be used on. So does a fetch whose predicate, order or columns need the value:
     * those read the file of each row that they look at. A comparison with nil reads no files, except those of objects
     * with unsaved changes. What is neither data nor the name of a file is an error, QUIRE_DATABASE.
     */
    bool allows_external_storage;
    /**
     * The history of the store keeps the last value of a deleted object (see history.h). Not for transient ones. Part of the
     * version hash.
     */
    bool preserves_after_deletion;
    /**
     * For QUIRE_TYPE_TRANSFORMABLE: the application's transformer of its values, and the name of their class; NULL for
     * none. Kept for the files of models. No part of the version hash.
     */
    const char *QUIRE_NULLABLE transformer;
    const char *QUIRE_NULLABLE value_class_name; /**< See `transformer`. */
    /** What it was called in an earlier version, for migrations; NULL for the same name. No part of the version hash. */
    const char *QUIRE_NULLABLE renaming_identifier;
} quire_attribute_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_ATTRIBUTE_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_attribute_options)), false, false, NULL, NULL, false, NULL, NULL, 0, 0, NULL, NULL, \
      false, false, NULL, NULL, NULL }

/** How a relationship is made: to-one, mandatory and nullifying. Zero means the default for every field. */
typedef struct quire_relationship_options {
    /** sizeof(quire_relationship_options) in your build. */
    uint32_t struct_size;
    /** It holds any number of objects instead of one. */
    bool is_to_many;
    /** Its objects have an order; for to-many only. */
    bool is_ordered;
    /** It may be empty when saved. */
    bool is_optional;
    /** It lives in memory only. */
    bool is_transient;
    /** A `quire_delete_rule`. */
    uint32_t delete_rule;
    /**
     * Fewest objects when it is not empty. For to-one 0 or 1, where `is_optional` alone decides about nil. Part of the
     * version hash.
     */
    uint32_t minimum_count;
    /**
     * Most objects, 0 for any number; for to-many only. UINT32_MAX is any number too. Models that Xcode made have 0, and
     * those that programs made may have that. Part of the version hash, where the two differ.
     */
    uint32_t maximum_count;
    /**
     * Name of the relationship of the destination that points back, kept up to date by the library; NULL for none. Name
     * one wherever you can. Without it, Core Data's file has one column for the owner of a to-many relationship. An
     * object that two owners hold is then saved as belonging to the last.
     */
    const char *QUIRE_NULLABLE inverse;
    /** Changes the version hash; NULL for none. */
    const char *QUIRE_NULLABLE version_hash_modifier;
    /** What it was called in an earlier version, for migrations; NULL for the same name. No part of the version hash. */
    const char *QUIRE_NULLABLE renaming_identifier;
    /**
     * The table that relates many objects to many is named after this relationship and not after its inverse. Without
     * it the file decides, and in a new one a rule (docs/file-format.md). Core Data chooses between two relationships of
     * one entity by an order of its own: say here what its file has. No part of the version hash.
     */
    bool names_join_table;
} quire_relationship_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_RELATIONSHIP_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_relationship_options)), false, false, false, false, \
      QUIRE_CAST(uint32_t, QUIRE_DELETE_NULLIFY), 0, 0, NULL, NULL, NULL, false }

/** One element of a fetch index. */
typedef struct quire_index_element {
    /**
     * A stored property; `self` for the object itself (its primary key), or `entity` for the number of its entity. NULL
     * where `quire_index_options` has an expression for the element.
     */
    const char *QUIRE_NULLABLE property;
    bool is_descending; /**< Great values first. */
} quire_index_element;

/** What a fetch index is. The numbers are Core Data's. */
typedef enum quire_index_kind {
    /** An ordered index. */
    QUIRE_INDEX_BINARY = 0,
    /** An R-Tree of one to five numbers or dates, for ranges in all of them. It has no condition. */
    QUIRE_INDEX_RTREE = 1
} quire_index_kind;

/** How a fetch index is made. Zero means the default for every field. */
typedef struct quire_index_options {
    /** sizeof(quire_index_options) in your build. */
    uint32_t struct_size;
    /** A `quire_index_kind`. */
    uint32_t kind;
    /**
     * Which rows are in the index; NULL for all. Copied. The store makes conditions that compare stored attributes and
     * to-one relationships of the entity with constants (`favorite == YES AND state != 4`).
     */
    const quire_predicate *QUIRE_NULLABLE condition;
    /**
     * NULL, or as many expressions as there are elements, NULL for those with a property. Copied. SELF, `entity` and
     * single keys are the same as the property of that name. The store makes no others.
     */
    const quire_expression *QUIRE_NULLABLE const *QUIRE_NULLABLE expressions;
} quire_index_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_INDEX_OPTIONS_INIT { QUIRE_CAST(uint32_t, sizeof(quire_index_options)), 0, NULL, NULL }

/** Makes an empty model. Owned by the caller. Cannot fail. */
quire_model *quire_model_create(void);

/** Adds a reference and returns `model`. Takes NULL. */
quire_model *QUIRE_NULLABLE quire_model_retain(const quire_model *QUIRE_NULLABLE model);

/** Releases a reference. Takes NULL. */
void quire_model_release(quire_model *QUIRE_NULLABLE model);

/**
 * Adds an entity. `options` may be NULL.
 *
 * Fails: QUIRE_INVALID_MODEL (name taken or not allowed), QUIRE_INVALID_STATE (the model is frozen).
 */
quire_status quire_model_add_entity(
    quire_model *model, const char *name, size_t name_size, const quire_entity_options *QUIRE_NULLABLE options,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds an attribute to an entity that was added before. `type` is a `quire_attribute_type`; `options` may be NULL.
 *
 * Fails: QUIRE_INVALID_MODEL (name taken, reserved or not allowed; Undefined but not transient; a rule that cannot
 * apply: a bound for values without an order, a minimum above the maximum, a malformed pattern; an expression that
 * attributes cannot be derived by), QUIRE_INVALID_ARGUMENT (no such entity, a default of another type),
 * QUIRE_UNSUPPORTED (composite attributes), QUIRE_INVALID_STATE (the model is frozen).
 */
quire_status quire_model_add_attribute(
    quire_model *model, const char *entity, size_t entity_size, const char *name, size_t name_size, uint32_t type,
    const quire_attribute_options *QUIRE_NULLABLE options, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a relationship to `destination`, an entity that may be added later. `options` may be NULL.
 *
 * Fails as `quire_model_add_attribute`; whether destination and inverse exist is checked when the model is frozen.
 */
quire_status quire_model_add_relationship(
    quire_model *model, const char *entity, size_t entity_size, const char *name, size_t name_size,
    const char *destination, size_t destination_size, const quire_relationship_options *QUIRE_NULLABLE options,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds an index that fetches can use. It is not part of the version hash. A new store gets it. As with Core Data, one on
 * a single relationship, one with a to-many relationship, and one that a uniqueness constraint serves make nothing.
 *
 * Fails: QUIRE_INVALID_MODEL (name taken, no elements), QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_STATE. Whether the
 * properties exist is checked when the model is frozen. What a store cannot make, such as an index on an expression,
 * fails with QUIRE_UNSUPPORTED when a store is created, and the message names the index.
 */
quire_status quire_model_add_fetch_index(
    quire_model *model, const char *entity, size_t entity_size, const char *name, size_t name_size,
    const quire_index_element *elements, size_t count, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The same with options, which may be NULL. Fails too: QUIRE_UNSUPPORTED (fields set that the library does not know). */
quire_status quire_model_add_fetch_index_with_options(
    quire_model *model, const char *entity, size_t entity_size, const char *name, size_t name_size,
    const quire_index_element *elements, size_t count, const quire_index_options *QUIRE_NULLABLE options,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a uniqueness constraint: no two objects have the same values in all of `properties`, an array of `count` names
 * that end with NUL. Enforced at each save. nil does not conflict with nil (a fact of SQLite).
 *
 * Fails: QUIRE_INVALID_MODEL (no properties, named twice), QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_STATE.
 */
quire_status quire_model_add_uniqueness_constraint(
    quire_model *model, const char *entity, size_t entity_size, const char *const QUIRE_NULLABLE *QUIRE_NONNULL properties,
    size_t count, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a rule that a save checks for each object of `entity` and of entities that inherit from it: `predicate` must
 * hold.
 *
 * @param key The name of an attribute. The rule is then about its values: SELF is the value (`SELF BEGINSWITH "x"`), and
 *     nil is not checked. With NULL the rule is about the object: keys are its own, SELF is the object (`ends > starts`,
 *     `books.@count < 3`).
 * @param predicate What must hold. The model keeps it; it is not part of the version hash.
 * @param message The message of the error when the rule is broken. Kept like the predicate.
 *
 * Fails: QUIRE_INVALID_MODEL (an empty message), QUIRE_INVALID_PREDICATE (variables, parts that cannot be evaluated),
 * QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_STATE (the model is frozen). Whether the keys exist is checked when the model
 * is frozen.
 */
quire_status quire_model_add_validation_rule(
    quire_model *model, const char *entity, size_t entity_size, const char *QUIRE_NULLABLE key, size_t key_size,
    const quire_predicate *predicate, const char *message, size_t message_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Keeps a copy of `request` under a name, for `quire_model_fetch_template`. Its predicate may have variables (`$name`).
 *
 * Fails: QUIRE_INVALID_MODEL (name taken or empty), QUIRE_INVALID_TEXT, QUIRE_INVALID_STATE (the model is frozen). Whether
 * the entity exists is checked when the model is frozen.
 */
quire_status quire_model_add_fetch_template(
    quire_model *model, const char *name, size_t name_size, const quire_fetch_request *request,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * A copy of the request of that name, with values for the variables of its predicate. Every variable needs a value,
 * which may be nil; `quire_predicate_substitute` lists the possible ones. The caller may change the copy. Owned:
 * `*out_request`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such template; variables without a value, or a value for an unknown variable: the
 * message names them), QUIRE_INVALID_PREDICATE, QUIRE_INVALID_TEXT.
 */
quire_status quire_model_fetch_template(
    const quire_model *model, const char *name, size_t name_size, const quire_entry *QUIRE_NULLABLE variables,
    size_t variable_count, quire_fetch_request *QUIRE_NULLABLE *QUIRE_NONNULL out_request,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a fetched property: a list of objects, read with `quire_object_get_fetched`. The list is the result of a
 * request, which is copied. In its predicate `$FETCH_SOURCE` is the object whose property is read (`year ==
 * $FETCH_SOURCE.year`), and `$FETCHED_PROPERTY` the name of the property. `$FETCHED_PROPERTY.userInfo.word` is the text
 * of its user info for `word`, and nil without one. The keys behind `$FETCH_SOURCE` are looked up in memory. A fetched
 * property has no column, and predicates and sort keys cannot use it.
 *
 * Fails: QUIRE_INVALID_MODEL (name taken, reserved or not allowed; other variables, a result type other than objects),
 * QUIRE_INVALID_ARGUMENT (no such entity), QUIRE_INVALID_STATE (the model is frozen). Whether the entity of the request
 * exists is checked when the model is frozen, its keys when the property is read.
 */
quire_status quire_model_add_fetched_property(
    quire_model *model, const char *entity, size_t entity_size, const char *name, size_t name_size,
    const quire_fetch_request *request, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Keeps a text under a key with an entity, or with a property that the entity declares itself; `property` is NULL for the
 * former. A key that has a text already gets the new one. Copied, and no part of the version hash.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such entity or property), QUIRE_INVALID_TEXT, QUIRE_INVALID_STATE (the model is
 * frozen).
 */
quire_status quire_model_set_user_info(
    quire_model *model, const char *entity, size_t entity_size, const char *QUIRE_NULLABLE property, size_t property_size,
    const char *key, size_t key_size, const char *value, size_t value_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Names a set of entities, an array of `count` names that end with NUL. Kept for the files of models; a store has all
 * entities.
 *
 * Fails: QUIRE_INVALID_MODEL (name taken or empty), QUIRE_INVALID_TEXT, QUIRE_INVALID_STATE (the model is frozen).
 * Whether the entities exist is checked when the model is frozen.
 */
quire_status quire_model_add_configuration(
    quire_model *model, const char *name, size_t name_size,
    const char *const QUIRE_NULLABLE *QUIRE_NULLABLE entities, size_t count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds what the application calls this version of the model. The metadata of a new store have all identifiers in
 * NSStoreModelVersionIdentifiers, and an empty one if there are none. One that is there already is not added again.
 *
 * Fails: QUIRE_INVALID_TEXT, QUIRE_INVALID_STATE (the model is frozen).
 */
quire_status quire_model_add_version_identifier(
    quire_model *model, const char *identifier, size_t identifier_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Checks the model as a whole and forbids further change. The first use does this, too; calling it twice is fine.
 *
 * Fails: QUIRE_INVALID_MODEL, naming the inconsistency: an unknown parent or destination, an inverse that does not
 * point back, a cycle of parents, a property declared again below, or more than the 2,000 columns of a table of SQLite.
 * (The table of an entity holds all entities that inherit from it.) The model can then still be changed.
 */
quire_status quire_model_freeze(quire_model *model, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether the model no longer changes. */
bool quire_model_is_frozen(const quire_model *model);

/** How many entities there are. */
int64_t quire_model_entity_count(const quire_model *model);

/** Name of an entity, in the order of addition. Borrowed from `model`; no text when `index` is out of range. */
quire_string quire_model_entity_name(const quire_model *model, int64_t index);

/**
 * Writes the 32 bytes of an entity's version hash, as Core Data computes it, to `out_hash`. Freezes the model.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (no such entity), QUIRE_INVALID_MODEL.
 */
quire_status quire_model_version_hash(
    quire_model *model, const char *entity, size_t entity_size, uint8_t *out_hash,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
