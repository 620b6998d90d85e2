#include "fixture.h"

/* Everything that a model declares is asked for, and compared with the declaration. */

#define CHECK_NO_TEXT(string) CHECK((string).data == NULL && (string).size == 0)

static quire_predicate *parsed(const char *format) {
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    return predicate;
}

static void set_info(quire_model *model, const char *entity, const char *property, const char *key, const char *value) {
    CHECK_OK(quire_model_set_user_info(model, entity, QUIRE_NUL, property, property ? QUIRE_NUL : 0, key, QUIRE_NUL, value,
        QUIRE_NUL, &error));
}

static quire_model *declared(void) {
    quire_model *model = quire_model_create();
    quire_entity_options asset = QUIRE_ENTITY_OPTIONS_INIT;
    asset.is_abstract = true;
    asset.version_hash_modifier = "m1";
    asset.class_name = "MyAsset";
    asset.renaming_identifier = "OldAsset";
    CHECK_OK(quire_model_add_entity(model, "Photo", QUIRE_NUL, &(quire_entity_options){
        .struct_size = sizeof asset, .parent = "Asset"}, &error));
    CHECK_OK(quire_model_add_entity(model, "Asset", QUIRE_NUL, &asset, &error));
    CHECK_OK(quire_model_add_entity(model, "Album", QUIRE_NUL, NULL, &error));

    const quire_value size = quire_value_integer(3), least = quire_value_integer(1), most = quire_value_integer(9);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.default_value = &size;
    options.version_hash_modifier = "m2";
    options.renaming_identifier = "extent";
    options.minimum = &least;
    options.maximum = &most;
    options.preserves_after_deletion = true;
    CHECK_OK(quire_model_add_attribute(
        model, "Asset", QUIRE_NUL, "size", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_searchable = true;
    options.minimum_length = 1;
    options.maximum_length = 20;
    options.pattern = "[a-z]+";
    CHECK_OK(quire_model_add_attribute(model, "Asset", QUIRE_NUL, "name", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.allows_external_storage = true;
    options.transformer = "ImageCoder";
    options.value_class_name = "Image";
    CHECK_OK(quire_model_add_attribute(
        model, "Photo", QUIRE_NUL, "image", QUIRE_NUL, QUIRE_TYPE_TRANSFORMABLE, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_transient = true;
    CHECK_OK(quire_model_add_attribute(model, "Photo", QUIRE_NUL, "now", QUIRE_NUL, QUIRE_TYPE_UNDEFINED, &options, &error));
    const quire_value price = quire_value_decimal("1.50");
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.default_value = &price;
    CHECK_OK(quire_model_add_attribute(model, "Album", QUIRE_NUL, "price", QUIRE_NUL, QUIRE_TYPE_DECIMAL, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.derivation = "photos.@count";
    CHECK_OK(quire_model_add_attribute(
        model, "Album", QUIRE_NUL, "photoCount", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));

    quire_relationship_options to_one = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    to_one.minimum_count = 1;
    to_one.delete_rule = QUIRE_DELETE_DENY;
    to_one.inverse = "photos";
    to_one.version_hash_modifier = "m3";
    to_one.renaming_identifier = "folder";
    CHECK_OK(quire_model_add_relationship(
        model, "Photo", QUIRE_NUL, "album", QUIRE_NUL, "Album", QUIRE_NUL, &to_one, &error));
    quire_relationship_options to_many = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    to_many.is_to_many = to_many.is_ordered = to_many.is_optional = true;
    to_many.minimum_count = 2;
    to_many.maximum_count = UINT32_MAX;
    to_many.inverse = "album";
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "photos", QUIRE_NUL, "Photo", QUIRE_NUL, &to_many, &error));

    quire_fetch_request *request = new_request("Photo", "size > $FETCH_SOURCE.photoCount", NULL);
    CHECK_OK(quire_model_add_fetched_property(model, "Album", QUIRE_NUL, "large", QUIRE_NUL, request, &error));
    CHECK_OK(quire_model_add_fetch_template(model, "all", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);

    quire_predicate *condition = parsed("size > 1"), *rule = parsed("size != 5"), *of_value = parsed("SELF != 4");
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse("size + 1", QUIRE_NUL, NULL, 0, &expression, &error));
    const quire_index_element elements[] = {{"name", true}, {"self", false}, {"entity", false}, {NULL, false}};
    const quire_expression *const expressions[] = {NULL, NULL, NULL, expression};
    quire_index_options index = QUIRE_INDEX_OPTIONS_INIT;
    index.condition = condition;
    index.expressions = expressions;
    CHECK_OK(quire_model_add_fetch_index_with_options(
        model, "Photo", QUIRE_NUL, "byName", QUIRE_NUL, elements, 4, &index, &error));
    const quire_index_element number[] = {{"size", false}};
    index = (quire_index_options)QUIRE_INDEX_OPTIONS_INIT;
    index.kind = QUIRE_INDEX_RTREE;
    CHECK_OK(quire_model_add_fetch_index_with_options(
        model, "Photo", QUIRE_NUL, "bySize", QUIRE_NUL, number, 1, &index, &error));
    const char *const unique[] = {"name", "size"}, *const entities[] = {"Album", "Photo"};
    CHECK_OK(quire_model_add_uniqueness_constraint(model, "Photo", QUIRE_NUL, unique, 2, &error));
    CHECK_OK(quire_model_add_validation_rule(
        model, "Asset", QUIRE_NUL, NULL, 0, rule, "Not five.", QUIRE_NUL, &error));
    CHECK_OK(quire_model_add_validation_rule(
        model, "Asset", QUIRE_NUL, "size", QUIRE_NUL, of_value, "Nor four.", QUIRE_NUL, &error));
    quire_predicate_release(condition);
    quire_predicate_release(rule);
    quire_predicate_release(of_value);
    quire_expression_release(expression);
    CHECK_OK(quire_model_add_configuration(model, "Local", QUIRE_NUL, entities, 2, &error));
    CHECK_OK(quire_model_add_configuration(model, "Empty", QUIRE_NUL, NULL, 0, &error));
    CHECK_OK(quire_model_add_version_identifier(model, "7", QUIRE_NUL, &error));
    CHECK_OK(quire_model_add_version_identifier(model, "beta", QUIRE_NUL, &error));
    set_info(model, "Asset", NULL, "k", "v");
    set_info(model, "Asset", "size", "unit", "cm");
    set_info(model, "Album", "photos", "a", "b");
    set_info(model, "Album", "large", "c", "d");
    return model;
}

static quire_property_info property(quire_model *model, const char *entity, int64_t index) {
    quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
    CHECK_OK(quire_model_property(model, entity, QUIRE_NUL, index, &info, &error));
    return info;
}

static quire_entity_info entity(quire_model *model, const char *name) {
    quire_entity_info info = QUIRE_ENTITY_INFO_INIT;
    CHECK_OK(quire_model_entity(model, name, QUIRE_NUL, &info, &error));
    return info;
}

static void entities_are_as_declared(void) {
    quire_model *model = declared();
    quire_entity_info info = entity(model, "Asset");
    CHECK(quire_model_is_frozen(model));
    CHECK(info.number == 2 && info.is_abstract);
    CHECK_TEXT(info.name, "Asset");
    CHECK_NO_TEXT(info.parent);
    CHECK_TEXT(info.version_hash_modifier, "m1");
    CHECK_TEXT(info.class_name, "MyAsset");
    CHECK_TEXT(info.renaming_identifier, "OldAsset");
    CHECK(info.property_count == 2 && info.validation_rule_count == 2 && info.user_info_count == 1);
    CHECK(info.fetch_index_count == 0 && info.uniqueness_constraint_count == 0);
    info = entity(model, "Photo");
    CHECK(info.number == 3 && !info.is_abstract);
    CHECK_TEXT(info.parent, "Asset");
    CHECK_NO_TEXT(info.version_hash_modifier);
    CHECK_NO_TEXT(info.class_name);
    CHECK_NO_TEXT(info.renaming_identifier);
    CHECK(info.property_count == 5 && info.validation_rule_count == 0 && info.user_info_count == 0);
    CHECK(info.fetch_index_count == 2 && info.uniqueness_constraint_count == 1);
    int64_t count = 0;
    CHECK_OK(quire_model_property_count(model, "Album", QUIRE_NUL, &count, &error));
    CHECK(count == 4);
    quire_model_release(model);
}

static void attributes_are_as_declared(void) {
    quire_model *model = declared();
    quire_property_info info = property(model, "Photo", 0);
    CHECK(info.kind == QUIRE_PROPERTY_ATTRIBUTE && info.type == QUIRE_TYPE_INTEGER_32);
    CHECK_TEXT(info.name, "size");
    CHECK_TEXT(info.entity, "Asset");
    CHECK_TEXT(info.version_hash_modifier, "m2");
    CHECK_TEXT(info.renaming_identifier, "extent");
    CHECK(info.is_optional && !info.is_transient && !info.is_searchable && info.preserves_after_deletion);
    CHECK(!info.allows_external_storage && info.user_info_count == 1);
    CHECK(info.default_value.kind == QUIRE_VALUE_INTEGER && info.default_value.as.integer == 3);
    CHECK(info.minimum.as.integer == 1 && info.maximum.as.integer == 9);
    CHECK(info.minimum_length == 0 && info.maximum_length == 0);
    CHECK_NO_TEXT(info.pattern);
    CHECK_NO_TEXT(info.derivation);
    CHECK_NO_TEXT(info.transformer);
    CHECK_NO_TEXT(info.value_class_name);
    CHECK_NO_TEXT(info.destination);
    CHECK_NO_TEXT(info.inverse);
    CHECK(info.request == NULL && !info.is_to_many && !info.is_ordered && info.maximum_count == 0);
    info = property(model, "Photo", 1);
    CHECK_TEXT(info.name, "name");
    CHECK(info.is_searchable && !info.is_optional && info.minimum_length == 1 && info.maximum_length == 20);
    CHECK_TEXT(info.pattern, "[a-z]+");
    CHECK(info.default_value.kind == QUIRE_VALUE_NIL && info.minimum.kind == QUIRE_VALUE_NIL);
    info = property(model, "Photo", 2);
    CHECK_TEXT(info.entity, "Photo");
    CHECK(info.type == QUIRE_TYPE_TRANSFORMABLE && info.allows_external_storage && !info.preserves_after_deletion);
    CHECK_TEXT(info.transformer, "ImageCoder");
    CHECK_TEXT(info.value_class_name, "Image");
    info = property(model, "Photo", 3);
    CHECK(info.type == QUIRE_TYPE_UNDEFINED && info.is_transient);
    info = property(model, "Album", 0);
    CHECK(info.default_value.kind == QUIRE_VALUE_DECIMAL && info.default_value.size == 3);
    CHECK(!memcmp(info.default_value.as.text, "1.5", 3));
    info = property(model, "Album", 1);
    CHECK_TEXT(info.derivation, "photos.@count");
    CHECK(info.default_value.kind == QUIRE_VALUE_NIL);
    quire_model_release(model);
}

static void relationships_and_fetched_properties_are_as_declared(void) {
    quire_model *model = declared();
    quire_property_info info = property(model, "Photo", 4);
    CHECK(info.kind == QUIRE_PROPERTY_RELATIONSHIP && !info.is_to_many && !info.is_ordered && !info.is_optional);
    CHECK(info.delete_rule == QUIRE_DELETE_DENY && info.minimum_count == 1 && info.maximum_count == 1);
    CHECK_TEXT(info.name, "album");
    CHECK_TEXT(info.destination, "Album");
    CHECK_TEXT(info.inverse, "photos");
    CHECK_TEXT(info.version_hash_modifier, "m3");
    CHECK_TEXT(info.renaming_identifier, "folder");
    info = property(model, "Album", 2);
    CHECK(info.is_to_many && info.is_ordered && info.is_optional && !info.is_transient && info.user_info_count == 1);
    CHECK(info.delete_rule == QUIRE_DELETE_NULLIFY && info.minimum_count == 2 && info.maximum_count == UINT32_MAX);
    info = property(model, "Album", 3);
    CHECK(info.kind == QUIRE_PROPERTY_FETCHED && info.request != NULL && info.user_info_count == 1);
    CHECK_TEXT(info.name, "large");
    CHECK_TEXT(info.entity, "Album");
    quire_model_release(model);
}

static void indexes_constraints_and_rules_are_as_declared(void) {
    quire_model *model = declared();
    quire_fetch_index_info index = QUIRE_FETCH_INDEX_INFO_INIT;
    CHECK_OK(quire_model_fetch_index(model, "Photo", QUIRE_NUL, 0, &index, &error));
    CHECK(index.kind == QUIRE_INDEX_BINARY && index.element_count == 4);
    CHECK_TEXT(index.name, "byName");
    CHECK_TEXT(quire_predicate_text(index.condition), "size > 1");
    const char *const names[] = {"name", "self", "entity"};
    for (int64_t place = 0; place < 4; place++) {
        quire_index_element_info element = QUIRE_INDEX_ELEMENT_INFO_INIT;
        CHECK_OK(quire_model_fetch_index_element(model, "Photo", QUIRE_NUL, 0, place, &element, &error));
        CHECK(element.is_descending == (place == 0) && (element.expression != NULL) == (place == 3));
        if (place < 3) CHECK_TEXT(element.property, names[place]);
        else CHECK_TEXT(quire_expression_text(element.expression), "size + 1");
        if (place == 3) CHECK_NO_TEXT(element.property);
    }
    CHECK_OK(quire_model_fetch_index(model, "Photo", QUIRE_NUL, 1, &index, &error));
    CHECK(index.kind == QUIRE_INDEX_RTREE && index.element_count == 1 && index.condition == NULL);
    const quire_string *properties = NULL;
    int64_t count = 0;
    CHECK_OK(quire_model_uniqueness_constraint(model, "Photo", QUIRE_NUL, 0, &properties, &count, &error));
    CHECK(count == 2);
    CHECK_TEXT(properties[0], "name");
    CHECK_TEXT(properties[1], "size");
    quire_validation_rule_info rule = QUIRE_VALIDATION_RULE_INFO_INIT;
    CHECK_OK(quire_model_validation_rule(model, "Asset", QUIRE_NUL, 0, &rule, &error));
    CHECK_NO_TEXT(rule.key);
    CHECK_TEXT(rule.message, "Not five.");
    CHECK_TEXT(quire_predicate_text(rule.predicate), "size != 5");
    CHECK_OK(quire_model_validation_rule(model, "Asset", QUIRE_NUL, 1, &rule, &error));
    CHECK_TEXT(rule.key, "size");
    CHECK_TEXT(rule.message, "Nor four.");
    CHECK_TEXT(quire_predicate_text(rule.predicate), "SELF != 4");
    quire_model_release(model);
}

static void the_rest_is_as_declared(void) {
    quire_model *model = declared();
    quire_string key, value, name;
    CHECK_OK(quire_model_user_info(model, "Asset", QUIRE_NUL, NULL, 0, 0, &key, &value, &error));
    CHECK_TEXT(key, "k");
    CHECK_TEXT(value, "v");
    CHECK_OK(quire_model_user_info(model, "Photo", QUIRE_NUL, "size", QUIRE_NUL, 0, &key, &value, &error));
    CHECK_TEXT(key, "unit");
    CHECK_TEXT(value, "cm");
    CHECK_OK(quire_model_user_info(model, "Album", QUIRE_NUL, "large", QUIRE_NUL, 0, &key, &value, &error));
    CHECK_TEXT(key, "c");
    CHECK(quire_model_configuration_count(model) == 2);
    const quire_string *entities = NULL;
    int64_t count = 0;
    CHECK_OK(quire_model_configuration(model, 0, &name, &entities, &count, &error));
    CHECK_TEXT(name, "Local");
    CHECK(count == 2);
    CHECK_TEXT(entities[0], "Album");
    CHECK_TEXT(entities[1], "Photo");
    CHECK_OK(quire_model_configuration(model, 1, &name, &entities, &count, &error));
    CHECK(count == 0);
    CHECK(quire_model_version_identifier_count(model) == 2);
    CHECK_TEXT(quire_model_version_identifier(model, 0), "7");
    CHECK_TEXT(quire_model_version_identifier(model, 1), "beta");
    CHECK_NO_TEXT(quire_model_version_identifier(model, 2));
    CHECK(quire_model_fetch_template_count(model) == 1);
    CHECK_TEXT(quire_model_fetch_template_name(model, 0), "all");
    CHECK_NO_TEXT(quire_model_fetch_template_name(model, -1));
    quire_model_release(model);
}

static void requests_are_as_they_are_kept(void) {
    quire_model *model = declared();
    quire_fetch_request_info info = QUIRE_FETCH_REQUEST_INFO_INIT;
    CHECK_OK(quire_fetch_request_describe(property(model, "Album", 3).request, &info, &error));
    CHECK(info.result_type == QUIRE_RESULT_OBJECTS && info.limit == QUIRE_NO_LIMIT && info.offset == 0);
    CHECK(info.includes_subentities && info.includes_pending_changes && !info.makes_rows && info.sort_count == 0);
    CHECK_TEXT(info.entity, "Photo");
    CHECK_TEXT(quire_predicate_text(info.predicate), "size > $FETCH_SOURCE.photoCount");
    CHECK_OK(quire_fetch_request_describe(quire_model_fetch_template_request(model, 0), &info, &error));
    CHECK_TEXT(quire_predicate_text(info.predicate), "size > $FETCH_SOURCE.photoCount");
    CHECK(quire_model_fetch_template_request(model, 1) == NULL);
    CHECK(quire_model_fetch_template_request(model, -1) == NULL);
    quire_model_release(model);
}

static void a_request_tells_what_it_was_given(void) {
    quire_fetch_request *request = new_request("Photo", NULL, NULL);
    quire_fetch_request_info info = QUIRE_FETCH_REQUEST_INFO_INIT;
    CHECK_OK(quire_fetch_request_describe(request, &info, &error));
    CHECK(info.predicate == NULL && info.sort_count == 0 && info.prefetch_count == 0 && info.includes_property_values);
    quire_sort_options options = QUIRE_SORT_OPTIONS_INIT;
    options.text_order = QUIRE_TEXT_LOCALIZED;
    options.is_descending = true;
    options.locale = "sv";
    CHECK_OK(quire_fetch_request_add_sort_with_options(request, "album.name", QUIRE_NUL, &options, &error));
    CHECK_OK(quire_fetch_request_add_sort(request, "size", QUIRE_NUL, false, &error));
    CHECK_OK(quire_fetch_request_add_prefetch(request, "album.photos", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, 5, &error));
    CHECK_OK(quire_fetch_request_set_offset(request, 6, &error));
    CHECK_OK(quire_fetch_request_set_batch_size(request, 7, &error));
    CHECK_OK(quire_fetch_request_set_includes_subentities(request, false, &error));
    CHECK_OK(quire_fetch_request_set_returns_objects_as_faults(request, true, &error));
    CHECK_OK(quire_fetch_request_describe(request, &info, &error));
    CHECK(info.limit == 5 && info.offset == 6 && info.batch_size == 7 && info.sort_count == 2 && info.prefetch_count == 1);
    CHECK(!info.includes_subentities && info.returns_objects_as_faults && !info.refreshes_refetched_objects);
    quire_sort_info key = QUIRE_SORT_INFO_INIT;
    CHECK_OK(quire_fetch_request_sort_key(request, 0, &key, &error));
    CHECK(key.is_descending && key.text_order == QUIRE_TEXT_LOCALIZED);
    CHECK_TEXT(key.key_path, "album.name");
    CHECK_TEXT(key.locale, "sv");
    CHECK_OK(quire_fetch_request_sort_key(request, 1, &key, &error));
    CHECK(!key.is_descending && key.text_order == QUIRE_TEXT_BINARY);
    CHECK_NO_TEXT(key.locale);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_sort_key(request, 2, &key, &error));
    CHECK_TEXT(quire_fetch_request_prefetched(request, 0), "album.photos");
    CHECK_NO_TEXT(quire_fetch_request_prefetched(request, 1));
    CHECK_OK(quire_fetch_request_set_distinct(request, true, &error));
    CHECK_OK(quire_fetch_request_clear_sort(request, &error));
    CHECK_OK(quire_fetch_request_describe(request, &info, &error));
    CHECK(info.makes_rows && info.sort_count == 0);
    quire_fetch_request_release(request);
}

static void what_is_not_there_is_an_error(void) {
    quire_model *model = declared();
    quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_property(model, "Song", QUIRE_NUL, 0, &info, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_property(model, "Photo", QUIRE_NUL, 5, &info, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_property(model, "Photo", QUIRE_NUL, -1, &info, &error));
    info.struct_size = 12;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_property(model, "Photo", QUIRE_NUL, 0, &info, &error));
    quire_model_release(model);
    model = quire_model_create();
    quire_entity_info of_entity = QUIRE_ENTITY_INFO_INIT;
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_entity(model, "Photo", QUIRE_NUL, &of_entity, &error));
    quire_model_release(model);
}

/* What no call declares, from a source. */
static void elements_of_composite_attributes_are_told(void) {
    static const char contents[] =
        "<model><entity name=\"Item\"><attribute name=\"place\" attributeType=\"Composite\" composite=\"Place\"/>"
        "<attribute name=\"key\" attributeType=\"Integer 16\" indexed=\"YES\" allowsCloudEncryption=\"YES\"/></entity>"
        "<composite name=\"Place\"><attribute name=\"x\" attributeType=\"Double\" defaultValueString=\"2.5\"/>"
        "<attribute name=\"inner\" attributeType=\"Composite\" composite=\"Inner\"/></composite>"
        "<composite name=\"Inner\"><attribute name=\"label\" attributeType=\"String\"/></composite></model>";
    char folder[200], path[220];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/contents", folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(contents, file) >= 0 && fclose(file) == 0);
    quire_model *model = NULL;
    CHECK_OK(quire_model_load(folder, QUIRE_NUL, NULL, 0, &model, &error));
    remove_folder(folder);
    quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
    CHECK_OK(quire_model_property(model, "Item", QUIRE_NUL, 0, &info, &error));
    CHECK(info.type == QUIRE_TYPE_COMPOSITE && info.element_count == 2 && !info.is_indexed);
    CHECK_TEXT(info.composite_name, "Place");
    CHECK_OK(quire_model_property(model, "Item", QUIRE_NUL, 1, &info, &error));
    CHECK(info.is_indexed && info.allows_cloud_encryption && info.element_count == 0);
    CHECK_OK(quire_model_composite_element(model, "Item", QUIRE_NUL, "place", QUIRE_NUL, 0, &info, &error));
    CHECK_TEXT(info.name, "x");
    CHECK(info.type == QUIRE_TYPE_DOUBLE && info.default_value.as.real == 2.5);
    CHECK_OK(quire_model_composite_element(model, "Item", QUIRE_NUL, "place.inner", QUIRE_NUL, 0, &info, &error));
    CHECK_TEXT(info.name, "label");
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_composite_element(model, "Item", QUIRE_NUL, "place", QUIRE_NUL, 2, &info, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_composite_element(model, "Item", QUIRE_NUL, "key", QUIRE_NUL, 0, &info, &error));
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    quire_model_release(model);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(entities_are_as_declared);
    RUN(attributes_are_as_declared);
    RUN(relationships_and_fetched_properties_are_as_declared);
    RUN(indexes_constraints_and_rules_are_as_declared);
    RUN(the_rest_is_as_declared);
    RUN(requests_are_as_they_are_kept);
    RUN(a_request_tells_what_it_was_given);
    RUN(what_is_not_there_is_an_error);
    RUN(elements_of_composite_attributes_are_told);
    return RESULT();
}
