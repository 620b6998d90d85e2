/**
 * @file
 * What a model declares: entities, properties, indexes, constraints, rules, configurations and user info.
 *
 * Everything that `model.h` declares can be asked for. The functions that take an `error` freeze the model, and fail as
 * `quire_model_freeze`. What they lend (texts, arrays, handles and what values point to) is borrowed from the model and
 * lives as long as that. Texts that were not declared are no text (`data` is NULL). A struct is initialised with its _INIT
 * macro before the call, which fills as much of it as the caller's build knows. Any thread may ask.
 */
#ifndef QUIRE_MODEL_INFO_H_
#define QUIRE_MODEL_INFO_H_

#include "base.h"
#include "model.h"
#include "value.h"

QUIRE_BEGIN

/** An entity. */
typedef struct quire_entity_info {
    /** sizeof(quire_entity_info) in your build; the library fills no more. */
    uint32_t struct_size;
    /** Its number in the file (Z_ENT), from 1. */
    uint32_t number;
    quire_string name; /**< The name of the entity. */
    /** The entity that it inherits from. */
    quire_string parent;
    quire_string version_hash_modifier; /**< As in `quire_entity_options`. */
    quire_string class_name; /**< As in `quire_entity_options`. */
    quire_string renaming_identifier; /**< As in `quire_entity_options`. */
    bool is_abstract; /**< It has no objects of its own. */
    /** Own and inherited, fetched ones included: those of ancestors first. */
    int64_t property_count;
    /** Of its own, as all that follow. See `quire_model_fetch_index`. */
    int64_t fetch_index_count;
    int64_t uniqueness_constraint_count; /**< See `quire_model_uniqueness_constraint`. */
    int64_t validation_rule_count; /**< See `quire_model_validation_rule`. */
    int64_t user_info_count; /**< See `quire_model_user_info`. */
} quire_entity_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_ENTITY_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_entity_info)), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, false, \
      0, 0, 0, 0, 0 }

/** What a property is. */
typedef enum quire_property_kind {
    QUIRE_PROPERTY_ATTRIBUTE = 0,
    QUIRE_PROPERTY_RELATIONSHIP = 1,
    QUIRE_PROPERTY_FETCHED = 2
} quire_property_kind;

/** A property. Members of another kind are zero, and nil. */
typedef struct quire_property_info {
    /** sizeof(quire_property_info) in your build; the library fills no more. */
    uint32_t struct_size;
    /** A `quire_property_kind`. */
    uint32_t kind;
    quire_string name; /**< The name of the property. */
    /** The entity that declares it. */
    quire_string entity;
    quire_string version_hash_modifier; /**< As in the options. */
    quire_string renaming_identifier; /**< As in the options. */
    int64_t user_info_count; /**< See `quire_model_user_info`. */
    bool is_optional; /**< It may be nil, or empty, when saved. */
    bool is_transient; /**< It lives in memory only. */
    /**
     * A model of a file asks for an index of it, as models before iOS 11 do. A store has one named as the attribute, in
     * each entity that has it, as if it were among the fetch indexes. Where the entity has fetch indexes, it is a mark.
     */
    bool is_indexed;

    /** Of an attribute, as all up to `element_count`. As in `quire_attribute_options`. */
    bool is_searchable;
    bool allows_external_storage; /**< As in `quire_attribute_options`. */
    bool preserves_after_deletion; /**< As in `quire_attribute_options`. */
    /** CloudKit is to encrypt it. Models of files have that. */
    bool allows_cloud_encryption;
    uint32_t type; /**< A `quire_attribute_type`. */
    quire_value default_value; /**< nil for none. */
    quire_value minimum; /**< nil for none. */
    quire_value maximum; /**< nil for none. */
    uint64_t minimum_length; /**< 0 for none. */
    uint64_t maximum_length; /**< 0 for none. */
    quire_string pattern; /**< As in `quire_attribute_options`. */
    quire_string derivation; /**< As in `quire_attribute_options`. */
    quire_string transformer; /**< As in `quire_attribute_options`. */
    quire_string value_class_name; /**< As in `quire_attribute_options`. */
    /** Of a composite attribute: what the model calls what it is made of, and how many attributes that are. */
    quire_string composite_name;
    int64_t element_count; /**< See `quire_model_composite_element`. */

    /** Of a relationship, as all up to `inverse`. It holds any number of objects. */
    bool is_to_many;
    bool is_ordered; /**< Its objects have an order. */
    /** As declared, or as the store has it that the model was loaded from where that differs from the rule. */
    bool names_join_table;
    /** A `quire_delete_rule`. */
    uint32_t delete_rule;
    uint32_t minimum_count; /**< 0 for none. */
    uint32_t maximum_count; /**< 0 or UINT32_MAX for none; 1 for to-one. */
    quire_string destination; /**< The entity at the other end. */
    quire_string inverse; /**< The relationship that points back. */

    /** Of a fetched property: its request, which `quire_fetch_request_describe` tells. Not to be changed. */
    const quire_fetch_request *QUIRE_NULLABLE request;
} quire_property_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_PROPERTY_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_property_info)), 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, 0, false, false, false, \
      false, false, false, false, 0, \
      {QUIRE_CAST(uint32_t, QUIRE_VALUE_NIL), 0, {0}}, {QUIRE_CAST(uint32_t, QUIRE_VALUE_NIL), 0, {0}}, \
      {QUIRE_CAST(uint32_t, QUIRE_VALUE_NIL), 0, {0}}, 0, 0, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, \
      {NULL, 0}, 0, false, false, false, 0, 0, 0, {NULL, 0}, {NULL, 0}, NULL }

/** A fetch index. */
typedef struct quire_fetch_index_info {
    /** sizeof(quire_fetch_index_info) in your build; the library fills no more. */
    uint32_t struct_size;
    /** A `quire_index_kind`. */
    uint32_t kind;
    quire_string name; /**< The name of the index. */
    int64_t element_count; /**< See `quire_model_fetch_index_element`. */
    /** Which rows are in the index; NULL for all. */
    const quire_predicate *QUIRE_NULLABLE condition;
} quire_fetch_index_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_FETCH_INDEX_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_fetch_index_info)), 0, {NULL, 0}, 0, NULL }

/** An element of a fetch index. */
typedef struct quire_index_element_info {
    /** sizeof(quire_index_element_info) in your build; the library fills no more. */
    uint32_t struct_size;
    bool is_descending; /**< Great values first. */
    /** A property, `self` or `entity`; no text for an expression. */
    quire_string property;
    const quire_expression *QUIRE_NULLABLE expression; /**< NULL for a property. */
} quire_index_element_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_INDEX_ELEMENT_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_index_element_info)), false, {NULL, 0}, NULL }

/** A validation rule, as `quire_model_add_validation_rule` adds it. */
typedef struct quire_validation_rule_info {
    /** sizeof(quire_validation_rule_info) in your build; the library fills no more. */
    uint32_t struct_size;
    uint32_t reserved; /**< Zero. */
    /** The attribute that it is about; no text for a rule about the object. */
    quire_string key;
    quire_string message; /**< What a broken rule says. */
    const quire_predicate *QUIRE_NULLABLE predicate; /**< What has to be true. */
} quire_validation_rule_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_VALIDATION_RULE_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_validation_rule_info)), 0, {NULL, 0}, {NULL, 0}, NULL }

/** Fails: QUIRE_INVALID_ARGUMENT (no such entity), QUIRE_INVALID_MODEL. */
quire_status quire_model_entity(
    quire_model *model, const char *entity, size_t entity_size, quire_entity_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How many properties an entity has, own and inherited. Fails as `quire_model_entity`. */
quire_status quire_model_property_count(
    quire_model *model, const char *entity, size_t entity_size, int64_t *out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** A property by its place. Fails: QUIRE_INVALID_ARGUMENT (no such entity, an index out of range), QUIRE_INVALID_MODEL. */
quire_status quire_model_property(
    quire_model *model, const char *entity, size_t entity_size, int64_t index, quire_property_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * An element of a composite attribute by its place: an attribute, which may be composite itself. `property` is the name
 * of the attribute, with those of elements behind it (`location.point`). Fails as `quire_model_property`, and with
 * QUIRE_INVALID_ARGUMENT where there is no such composite attribute.
 */
quire_status quire_model_composite_element(
    quire_model *model, const char *entity, size_t entity_size, const char *property, size_t property_size, int64_t index,
    quire_property_info *out_info, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** A fetch index of an entity by its place. Fails as `quire_model_property`. */
quire_status quire_model_fetch_index(
    quire_model *model, const char *entity, size_t entity_size, int64_t index, quire_fetch_index_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The element `place` of a fetch index. Fails as `quire_model_property`. */
quire_status quire_model_fetch_index_element(
    quire_model *model, const char *entity, size_t entity_size, int64_t index, int64_t place,
    quire_index_element_info *out_info, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** The names of the properties of a uniqueness constraint of an entity, by its place. Fails as `quire_model_property`. */
quire_status quire_model_uniqueness_constraint(
    quire_model *model, const char *entity, size_t entity_size, int64_t index,
    const quire_string *QUIRE_NULLABLE *QUIRE_NONNULL out_properties, int64_t *out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** A validation rule of an entity by its place. Fails as `quire_model_property`. */
quire_status quire_model_validation_rule(
    quire_model *model, const char *entity, size_t entity_size, int64_t index, quire_validation_rule_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * A text of the user info of an entity, or of a property that the entity has, by its place. `property` is NULL for the
 * entity. What is no text in a file is not here. Fails as `quire_model_property`.
 */
quire_status quire_model_user_info(
    quire_model *model, const char *entity, size_t entity_size, const char *QUIRE_NULLABLE property, size_t property_size,
    int64_t index, quire_string *out_key, quire_string *out_value, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How many configurations there are. */
int64_t quire_model_configuration_count(const quire_model *model);

/** The name of a configuration and those of its entities, by its place. Fails as `quire_model_property`. */
quire_status quire_model_configuration(
    quire_model *model, int64_t index, quire_string *out_name,
    const quire_string *QUIRE_NULLABLE *QUIRE_NONNULL out_entities, int64_t *out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How many version identifiers there are. */
int64_t quire_model_version_identifier_count(const quire_model *model);

/** A version identifier, in the order of addition. No text when `index` is out of range. */
quire_string quire_model_version_identifier(const quire_model *model, int64_t index);

/** How many fetch templates there are. */
int64_t quire_model_fetch_template_count(const quire_model *model);

/** The name of a fetch template, in the order of addition. No text when `index` is out of range. */
quire_string quire_model_fetch_template_name(const quire_model *model, int64_t index);

/**
 * The request of a fetch template as it is kept, with the variables of its predicate, by the place of its name.
 * `quire_fetch_request_describe` tells it; `quire_model_fetch_template` makes one to be used. Borrowed from `model`, and
 * not to be changed. NULL when `index` is out of range.
 */
const quire_fetch_request *QUIRE_NULLABLE quire_model_fetch_template_request(const quire_model *model, int64_t index);

QUIRE_END

#endif
