#include "fixture.h"

/* Item: name (mandatory), pages from 1 to 1000, code of two to four letters a to c, price up to 9.50, first and last. */
static quire_model *ruled_model(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Item", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_attribute(model, "Item", QUIRE_NUL, "name", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
    const quire_value one = quire_value_integer(1), thousand = quire_value_integer(1000);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.minimum = &one;
    options.maximum = &thousand;
    CHECK_OK(quire_model_add_attribute(model, "Item", QUIRE_NUL, "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.minimum_length = 2;
    options.maximum_length = 4;
    options.pattern = "[a-c]*";
    CHECK_OK(quire_model_add_attribute(model, "Item", QUIRE_NUL, "code", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    const quire_value most = quire_value_decimal("9.50");
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.maximum = &most;
    CHECK_OK(quire_model_add_attribute(model, "Item", QUIRE_NUL, "price", QUIRE_NUL, QUIRE_TYPE_DECIMAL, &options, &error));
    add_attribute(model, "Item", "first", QUIRE_TYPE_INTEGER_32);
    add_attribute(model, "Item", "last", QUIRE_TYPE_INTEGER_32);
    return model;
}

static quire_status add_rule(quire_model *model, const char *key, const char *format, const char *message) {
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    const quire_status status = quire_model_add_validation_rule(
        model, "Item", QUIRE_NUL, key, QUIRE_NUL, predicate, message, QUIRE_NUL, &error);
    quire_predicate_release(predicate);
    return status;
}

static fixture open_ruled(void) {
    fixture made = {ruled_model(), NULL, NULL};
    CHECK_OK(add_rule(made.model, NULL, "first == nil OR first <= last", "The first comes before the last."));
    CHECK_OK(add_rule(made.model, "code", "SELF != 'abba'", "abba is taken."));
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static const quire_error *detail_about(const quire_error *whole, quire_rule rule) {
    for (int64_t i = 0; i < quire_error_detail_count(whole); i++) {
        const quire_error *detail = quire_error_detail(whole, i);
        if (quire_error_rule(detail) == rule) return detail;
    }
    return NULL;
}

static void every_broken_rule_tells_object_key_rule_and_value(void) {
    fixture made = open_ruled();
    quire_object *item = insert(made.context, "Item");
    set_value(item, "pages", quire_value_integer(0));
    set_text(item, "code", "xyz12");
    set_value(item, "price", quire_value_decimal("9.51"));
    set_value(item, "first", quire_value_integer(2));
    set_value(item, "last", quire_value_integer(1));
    quire_error *whole = NULL;
    CHECK(quire_context_save(made.context, &whole) == QUIRE_VALIDATION);
    CHECK(quire_error_rule(whole) == QUIRE_RULE_NONE && quire_error_detail_count(whole) == 6);
    static const struct { quire_rule rule; const char *key; } expected[] = {
        {QUIRE_RULE_MANDATORY, "name"}, {QUIRE_RULE_TOO_SMALL, "pages"}, {QUIRE_RULE_TOO_LONG, "code"},
        {QUIRE_RULE_PATTERN, "code"}, {QUIRE_RULE_TOO_LARGE, "price"}, {QUIRE_RULE_CUSTOM, NULL}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const quire_error *detail = detail_about(whole, expected[i].rule);
        CHECK(detail != NULL && quire_error_status(detail) == QUIRE_VALIDATION);
        CHECK_TEXT(quire_error_entity(detail), "Item");
        CHECK(quire_error_object_id(detail) == quire_object_id(item));
        if (expected[i].key) CHECK_TEXT(quire_error_key(detail), expected[i].key);
        else CHECK(quire_error_key(detail).data == NULL);
        quire_object *found = NULL;
        CHECK_OK(quire_error_object(detail, made.context, &found, &error));
        CHECK(found == item);
        quire_object_release(found);
    }
    quire_value value;
    CHECK_OK(quire_error_value(detail_about(whole, QUIRE_RULE_TOO_SMALL), &value, &error));
    CHECK(value.kind == QUIRE_VALUE_INTEGER && value.as.integer == 0);
    CHECK_OK(quire_error_value(detail_about(whole, QUIRE_RULE_TOO_LARGE), &value, &error));
    CHECK(value.kind == QUIRE_VALUE_DECIMAL && strcmp(value.as.text, "9.51") == 0);
    CHECK_OK(quire_error_value(detail_about(whole, QUIRE_RULE_PATTERN), &value, &error));
    CHECK(value.kind == QUIRE_VALUE_TEXT && strcmp(value.as.text, "xyz12") == 0);
    const quire_error *custom = detail_about(whole, QUIRE_RULE_CUSTOM);
    CHECK_TEXT(quire_error_message(custom), "The first comes before the last.");
    CHECK_TEXT(quire_error_predicate(custom), "first == nil OR first <= last");
    CHECK(quire_error_predicate(detail_about(whole, QUIRE_RULE_PATTERN)).data == NULL);
    quire_error_release(whole);
    quire_object_release(item);
    close_fixture(made);
}

static void an_error_outlives_its_object_and_keeps_no_context(void) {
    fixture made = open_ruled();
    quire_object *item = insert(made.context, "Item");
    quire_error *single = NULL;
    CHECK(quire_context_save(made.context, &single) == QUIRE_VALIDATION);
    const int64_t id = quire_object_id(item);
    quire_object_release(item);
    CHECK_OK(quire_context_rollback(made.context, &error));
    quire_object *found = NULL;
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_error_object(single, made.context, &found, &error));
    CHECK(found == NULL);
    close_fixture(made);
    CHECK(quire_error_rule(single) == QUIRE_RULE_MANDATORY && quire_error_object_id(single) == id);
    CHECK_TEXT(quire_error_key(single), "name");
    quire_value value;
    CHECK_OK(quire_error_value(single, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_NIL);
    quire_error_release(single);
}

static void an_object_is_validated_on_demand(void) {
    fixture made = open_ruled();
    quire_object *item = insert(made.context, "Item");
    CHECK_FAILS(QUIRE_VALIDATION, quire_object_validate(item, &error));
    set_text(item, "name", "a name");
    CHECK_OK(quire_object_validate(item, &error));
    const quire_value good = quire_value_text("abc"), bad = quire_value_text("abba"), wrong = quire_value_integer(1);
    CHECK_OK(quire_object_validate_value(item, "code", QUIRE_NUL, &good, &error));
    CHECK_FAILS(QUIRE_VALIDATION, quire_object_validate_value(item, "code", QUIRE_NUL, &bad, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_validate_value(item, "code", QUIRE_NUL, &wrong, &error));
    CHECK(get_value(item, "code").kind == QUIRE_VALUE_NIL);
    save(made.context);
    CHECK_OK(quire_context_delete(made.context, item, &error));
    CHECK_OK(quire_object_validate(item, &error));
    save(made.context);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_validate(item, &error));
    quire_object_release(item);
    close_fixture(made);
}

static void the_error_of_a_denied_deletion_finds_the_deleted_object(void) {
    fixture made = open_fixture();
    quire_object *tag = insert(made.context, "Tag"), *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
    save(made.context);
    CHECK_OK(quire_context_delete(made.context, tag, &error));
    CHECK_FAILS(QUIRE_VALIDATION, quire_object_validate(tag, &error));
    quire_error *denied = NULL;
    CHECK(quire_context_save(made.context, &denied) == QUIRE_VALIDATION);
    CHECK(quire_error_rule(denied) == QUIRE_RULE_DENIED);
    CHECK_TEXT(quire_error_key(denied), "books");
    quire_value value;
    CHECK_OK(quire_error_value(denied, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_INTEGER && value.as.integer == 1);
    quire_object *found = NULL;
    CHECK_OK(quire_error_object(denied, made.context, &found, &error));
    CHECK(found == tag);
    /* The deletion is allowed when the destination is deleted as well. */
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    quire_object_release(found);
    quire_error_release(denied);
    quire_object_release(tag);
    quire_object_release(book);
    close_fixture(made);
}

static void rules_that_cannot_apply_are_refused(void) {
    quire_model *model = ruled_model();
    const quire_value five = quire_value_integer(5), four = quire_value_integer(4);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.minimum = &five;
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_attribute(model, "Item", QUIRE_NUL, "x", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    options.maximum = &four;
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_attribute(model, "Item", QUIRE_NUL, "x", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &options, &error));
    options = (quire_attribute_options)QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.pattern = "(";
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_attribute(model, "Item", QUIRE_NUL, "x", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    options.pattern = NULL;
    options.minimum_length = UINT64_MAX;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_add_attribute(model, "Item", QUIRE_NUL, "x", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, add_rule(model, NULL, "first == 1", ""));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, add_rule(model, NULL, "first == $x", "A message."));
    CHECK_OK(add_rule(model, NULL, "missing == 1", "A message."));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    quire_model_release(model);
}

static void a_program_built_before_there_were_rules_passes_a_shorter_struct(void) {
    quire_model *model = ruled_model();
    const quire_value five = quire_value_integer(5);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.minimum = &five;
    options.struct_size = (uint32_t)offsetof(quire_attribute_options, minimum);
    CHECK_OK(quire_model_add_attribute(model, "Item", QUIRE_NUL, "x", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    quire_model_release(model);
}

static void rules_are_no_part_of_the_version_hash(void) {
    quire_model *plain = ruled_model(), *ruled = ruled_model();
    CHECK_OK(add_rule(ruled, NULL, "first == 1", "It is one."));
    uint8_t before[32], after[32];
    CHECK_OK(quire_model_version_hash(plain, "Item", QUIRE_NUL, before, &error));
    CHECK_OK(quire_model_version_hash(ruled, "Item", QUIRE_NUL, after, &error));
    CHECK(memcmp(before, after, sizeof before) == 0);
    quire_model_release(plain);
    quire_model_release(ruled);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(every_broken_rule_tells_object_key_rule_and_value);
    RUN(an_error_outlives_its_object_and_keeps_no_context);
    RUN(an_object_is_validated_on_demand);
    RUN(the_error_of_a_denied_deletion_finds_the_deleted_object);
    RUN(rules_that_cannot_apply_are_refused);
    RUN(a_program_built_before_there_were_rules_passes_a_shorter_struct);
    RUN(rules_are_no_part_of_the_version_hash);
    return RESULT();
}
