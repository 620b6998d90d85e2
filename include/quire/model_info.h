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
    quire_string name;
    /** The entity that it inherits from. */
    quire_string parent;
    quire_string version_hash_modifier;
    quire_string class_name;
    quire_string renaming_identifier;
    bool is_abstract;
    /** Own and inherited, fetched ones included: those of ancestors first. */
    int64_t property_count;
    /** Of its own, as all that follow. */
    int64_t fetch_index_count;
    int64_t uniqueness_constraint_count;
    int64_t validation_rule_count;
    int64_t user_info_count;
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
    quire_string name;
    /** The entity that declares it. */
    quire_string entity;
    quire_string version_hash_modifier;
    quire_string renaming_identifier;
    int64_t user_info_count;
    bool is_optional;
    bool is_transient;
    /**
     * A model of a file asks for an index of it, as models before iOS 11 do. A store has one named as the attribute, in
     * each entity that has it, as if it were among the fetch indexes. Where the entity has fetch indexes, it is a mark.
     */
    bool is_indexed;

    /** Of an attribute. `type` is a `quire_attribute_type`; the bounds are nil and 0 where there are none. */
    bool is_searchable;
    bool allows_external_storage;
    bool preserves_after_deletion;
    /** CloudKit is to encrypt it. Models of files have that. */
    bool allows_cloud_encryption;
    uint32_t type;
    quire_value default_value;
    quire_value minimum;
    quire_value maximum;
    uint64_t minimum_length;
    uint64_t maximum_length;
    quire_string pattern;
    quire_string derivation;
    quire_string transformer;
    quire_string value_class_name;
    /** Of a composite attribute: what the model calls what it is made of, and how many attributes that are. */
    quire_string composite_name;
    int64_t element_count;

    /** Of a relationship. A maximum of 0 or UINT32_MAX is none; that of a to-one relationship is 1. */
    bool is_to_many;
    bool is_ordered;
    /** As declared, or as the store has it that the model was loaded from where that differs from the rule. */
    bool names_join_table;
    /** A `quire_delete_rule`. */
    uint32_t delete_rule;
    uint32_t minimum_count;
    uint32_t maximum_count;
    quire_string destination;
    quire_string inverse;

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
    quire_string name;
    int64_t element_count;
    /** Which rows are in the index; NULL for all. */
    const quire_predicate *QUIRE_NULLABLE condition;
} quire_fetch_index_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_FETCH_INDEX_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_fetch_index_info)), 0, {NULL, 0}, 0, NULL }

/** An element of a fetch index. */
typedef struct quire_index_element_info {
    /** sizeof(quire_index_element_info) in your build; the library fills no more. */
    uint32_t struct_size;
    bool is_descending;
    /** A property, `self` or `entity`; no text for an expression. */
    quire_string property;
    const quire_expression *QUIRE_NULLABLE expression;
} quire_index_element_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_INDEX_ELEMENT_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_index_element_info)), false, {NULL, 0}, NULL }

/** A validation rule, as `quire_model_add_validation_rule` adds it. */
typedef struct quire_validation_rule_info {
    /** sizeof(quire_validation_rule_info) in your build; the library fills no more. */
    uint32_t struct_size;
    uint32_t reserved;
    /** The attribute that it is about; no text for a rule about the object. */
    quire_string key;
    quire_string message;
    const quire_predicate *QUIRE_NULLABLE predicate;
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
