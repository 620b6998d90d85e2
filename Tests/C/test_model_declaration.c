#include "fixture.h"

/* What a model says of itself for the files of models and for version hashes. */

static quire_model *album_model(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Album", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_attribute(model, "Album", QUIRE_NUL, "name", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
    CHECK_OK(quire_model_add_attribute(model, "Album", QUIRE_NUL, "width", QUIRE_NUL, QUIRE_TYPE_DOUBLE, NULL, &error));
    CHECK_OK(quire_model_add_attribute(model, "Album", QUIRE_NUL, "height", QUIRE_NUL, QUIRE_TYPE_FLOAT, NULL, &error));
    return model;
}

static quire_status add_data(quire_model *model, const char *name, uint32_t type, const quire_attribute_options *options) {
    return quire_model_add_attribute(model, "Album", QUIRE_NUL, name, QUIRE_NUL, type, options, &error);
}

static void hash_of_one_attribute(const quire_attribute_options *options, uint8_t *hash) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Album", QUIRE_NUL, NULL, &error));
    CHECK_OK(add_data(model, "cover", QUIRE_TYPE_TRANSFORMABLE, options));
    CHECK_OK(quire_model_version_hash(model, "Album", QUIRE_NUL, hash, &error));
    quire_model_release(model);
}

static void storage_is_part_of_the_version_hash_and_names_are_not(void) {
    uint8_t plain[32], other[32];
    const quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    hash_of_one_attribute(&options, plain);
    quire_attribute_options changed = options;
    changed.transformer = "Coder";
    changed.value_class_name = "Image";
    changed.renaming_identifier = "picture";
    hash_of_one_attribute(&changed, other);
    CHECK(!memcmp(plain, other, sizeof plain));
    changed = options;
    changed.allows_external_storage = true;
    hash_of_one_attribute(&changed, other);
    CHECK(memcmp(plain, other, sizeof plain));
    changed = options;
    changed.preserves_after_deletion = true;
    hash_of_one_attribute(&changed, other);
    CHECK(memcmp(plain, other, sizeof plain));
}

static void traits_that_mean_nothing_are_refused(void) {
    quire_model *model = album_model();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.allows_external_storage = true;
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_data(model, "a", QUIRE_TYPE_STRING, &options));
    options.is_transient = true;
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_data(model, "a", QUIRE_TYPE_BINARY, &options));
    options.allows_external_storage = false;
    options.preserves_after_deletion = true;
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_data(model, "a", QUIRE_TYPE_STRING, &options));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.transformer = "Coder";
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_data(model, "a", QUIRE_TYPE_BINARY, &options));
    options.transformer = NULL;
    options.value_class_name = "\xFF";
    CHECK_FAILS(QUIRE_INVALID_TEXT, add_data(model, "a", QUIRE_TYPE_TRANSFORMABLE, &options));
    const char *const constrained[] = {"data"};
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.allows_external_storage = true;
    CHECK_OK(add_data(model, "data", QUIRE_TYPE_BINARY, &options));
    CHECK_OK(quire_model_add_uniqueness_constraint(model, "Album", QUIRE_NUL, constrained, 1, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    quire_model_release(model);
}

/* A store in memory has no files. test_external_data has those of others. */
static void external_values_stay_in_memory(void) {
    fixture made = {album_model(), NULL, NULL};
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.allows_external_storage = true;
    options.is_optional = true;
    CHECK_OK(add_data(made.model, "cover", QUIRE_TYPE_BINARY, &options));
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    quire_object *album = insert(made.context, "Album");
    const quire_value width = quire_value_double(1);
    set_text(album, "name", "x");
    CHECK_OK(quire_object_set(album, "width", QUIRE_NUL, &width, &error));
    CHECK_OK(quire_object_set(album, "height", QUIRE_NUL, &width, &error));
    CHECK_OK(quire_context_save(made.context, &error));
    const quire_value cover = quire_value_data((const uint8_t *)"abc", 3);
    CHECK_OK(quire_object_set(album, "cover", QUIRE_NUL, &cover, &error));
    CHECK_OK(quire_context_save(made.context, &error));
    CHECK_OK(quire_context_reset(made.context, &error));
    quire_object_release(album);
    quire_fetch_request *request = new_request("Album", NULL, NULL);
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK_OK(quire_list_object(list, 0, &album, &error));
    const quire_value found = get_value(album, "cover");
    CHECK(found.kind == QUIRE_VALUE_DATA && found.size == 3 && !memcmp(found.as.data, "abc", 3));
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_object_release(album);
    close_fixture(made);
}

static void counts_of_relationships(void) {
    quire_model *model = album_model();
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.minimum_count = 1;
    options.renaming_identifier = "above";
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "parent", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    options.minimum_count = 2;
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "other", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    options.minimum_count = 0;
    options.maximum_count = UINT32_MAX;
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "other", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    options.is_to_many = true;
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "others", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    options.maximum_count = UINT32_MAX - 1;
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "more", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    quire_model_release(model);
}

static void maximum_of_uint32_max_is_no_limit(void) {
    fixture made = {quire_model_create(), NULL, NULL};
    CHECK_OK(quire_model_add_entity(made.model, "Node", QUIRE_NUL, NULL, &error));
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_to_many = true;
    options.is_optional = true;
    options.maximum_count = UINT32_MAX;
    options.inverse = "nodes";
    CHECK_OK(quire_model_add_relationship(
        made.model, "Node", QUIRE_NUL, "nodes", QUIRE_NUL, "Node", QUIRE_NUL, &options, &error));
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    quire_object *hub = insert(made.context, "Node");
    for (int number = 0; number < 5; number++) {
        quire_object *node = insert(made.context, "Node");
        CHECK_OK(quire_object_add(hub, "nodes", QUIRE_NUL, node, &error));
        quire_object_release(node);
    }
    CHECK_OK(quire_object_validate(hub, &error));
    CHECK_OK(quire_context_save(made.context, &error));
    quire_object_release(hub);
    close_fixture(made);
}

static quire_status add_index(
    quire_model *model, const char *name, const quire_index_element *elements, size_t count,
    const quire_index_options *options) {
    return quire_model_add_fetch_index_with_options(
        model, "Album", QUIRE_NUL, name, QUIRE_NUL, elements, count, options, &error);
}

static void indexes_of_all_kinds_are_created(void) {
    fixture made = {album_model(), NULL, NULL};
    quire_predicate *condition = NULL;
    quire_expression *expression = NULL;
    CHECK_OK(quire_predicate_parse("width > 1 AND name != nil", QUIRE_NUL, NULL, 0, &condition, &error));
    CHECK_OK(quire_expression_parse("SELF", QUIRE_NUL, NULL, 0, &expression, &error));
    const quire_index_element elements[] = {{"name", false}, {"entity", true}, {NULL, true}};
    const quire_expression *const expressions[] = {NULL, NULL, expression};
    quire_index_options options = QUIRE_INDEX_OPTIONS_INIT;
    options.condition = condition;
    options.expressions = expressions;
    CHECK_OK(add_index(made.model, "some", elements, 3, &options));
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_index(made.model, "some", elements, 3, &options));
    const quire_index_element doubled[] = {{"name", false}, {"entity", true}, {"self", true}};
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add_index(made.model, "other", doubled, 3, &options));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add_index(made.model, "other", elements, 3, NULL));
    options.kind = 7;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add_index(made.model, "other", elements, 3, &options));
    const quire_index_element sizes[] = {{"width", false}, {"height", false}};
    quire_index_options tree = QUIRE_INDEX_OPTIONS_INIT;
    tree.kind = QUIRE_INDEX_RTREE;
    CHECK_OK(add_index(made.model, "bySize", sizes, 2, &tree));
    quire_predicate_release(condition);
    quire_expression_release(expression);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    close_fixture(made);
}

static void an_index_that_cannot_be_made_is_named(void) {
    quire_model *model = album_model();
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse("width + 1", QUIRE_NUL, NULL, 0, &expression, &error));
    const quire_expression *const expressions[] = {expression};
    const quire_index_element elements[] = {{NULL, false}};
    quire_index_options options = QUIRE_INDEX_OPTIONS_INIT;
    options.expressions = expressions;
    CHECK_OK(add_index(model, "wider", elements, 1, &options));
    quire_expression_release(expression);
    quire_store *store = NULL;
    CHECK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error) == QUIRE_UNSUPPORTED);
    CHECK(error && strstr(quire_error_message(error).data, "'wider'"));
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
}

static void user_info_configurations_and_identifiers_are_checked(void) {
    quire_model *model = album_model();
    CHECK_OK(quire_model_set_user_info(model, "Album", QUIRE_NUL, NULL, 0, "k", 1, "v", 1, &error));
    CHECK_OK(quire_model_set_user_info(model, "Album", QUIRE_NUL, "name", QUIRE_NUL, "k", 1, "v", 1, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_set_user_info(model, "Album", QUIRE_NUL, "title", QUIRE_NUL, "k", 1, "v", 1, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_set_user_info(model, "Song", QUIRE_NUL, NULL, 0, "k", 1, "v", 1, &error));
    CHECK_FAILS(QUIRE_INVALID_TEXT,
        quire_model_set_user_info(model, "Album", QUIRE_NUL, NULL, 0, "k", 1, "\xFF", 1, &error));
    const char *const names[] = {"Album"}, *const unknown[] = {"Song"};
    CHECK_OK(quire_model_add_configuration(model, "Local", QUIRE_NUL, names, 1, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_configuration(model, "Local", QUIRE_NUL, names, 1, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_configuration(model, "", QUIRE_NUL, NULL, 0, &error));
    CHECK_OK(quire_model_add_version_identifier(model, "2", QUIRE_NUL, &error));
    CHECK_OK(quire_model_add_version_identifier(model, "2", QUIRE_NUL, &error));
    CHECK_OK(quire_model_add_configuration(model, "Remote", QUIRE_NUL, unknown, 1, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    CHECK_OK(quire_model_add_entity(model, "Song", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_freeze(model, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE,
        quire_model_set_user_info(model, "Album", QUIRE_NUL, NULL, 0, "k", 1, "v", 1, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_model_add_configuration(model, "X", QUIRE_NUL, names, 1, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_model_add_version_identifier(model, "3", QUIRE_NUL, &error));
    quire_model_release(model);
}

static void a_relationship_with_zeros_as_options_empties_the_other_side(void) {
    quire_model *model = album_model();
    quire_relationship_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "next", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    /* A struct of its size alone, and none. */
    options.struct_size = sizeof options.struct_size;
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "last", QUIRE_NUL, "Album", QUIRE_NUL, &options, &error));
    CHECK_OK(quire_model_add_relationship(
        model, "Album", QUIRE_NUL, "best", QUIRE_NUL, "Album", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_freeze(model, &error));
    int64_t property_count = 0;
    int relationship_count = 0;
    CHECK_OK(quire_model_property_count(model, "Album", QUIRE_NUL, &property_count, &error));
    for (int64_t i = 0; i < property_count; i++) {
        quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
        CHECK_OK(quire_model_property(model, "Album", QUIRE_NUL, i, &info, &error));
        if (info.kind != QUIRE_PROPERTY_RELATIONSHIP || info.is_to_many) continue;
        CHECK(info.delete_rule == QUIRE_DELETE_NULLIFY);
        relationship_count++;
    }
    CHECK(relationship_count == 3);
    quire_model_release(model);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(storage_is_part_of_the_version_hash_and_names_are_not);
    RUN(traits_that_mean_nothing_are_refused);
    RUN(external_values_stay_in_memory);
    RUN(counts_of_relationships);
    RUN(maximum_of_uint32_max_is_no_limit);
    RUN(indexes_of_all_kinds_are_created);
    RUN(an_index_that_cannot_be_made_is_named);
    RUN(user_info_configurations_and_identifiers_are_checked);
    RUN(a_relationship_with_zeros_as_options_empties_the_other_side);
    return RESULT();
}
