/*
 * The fuzzed target for predicates.
 *
 * The input up to its first NUL is a format; what follows makes the arguments. What can be read must print, and what is
 * printed must read back and print the same. Then the predicate is asked about an object and counted in a context,
 * which may fail but must not trap.
 */
#include "fuzz.h"

#include <quire.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 8, MOST_VALUES = 64, GREATEST_DEPTH = 4 };

/* What of the input is not yet used. */
typedef struct source {
    const uint8_t *bytes;
    size_t size;
    quire_value values[MOST_VALUES];
    size_t value_count;
} source;

static quire_context *context;
static quire_object *object;
static quire_error *error;

/* An input that shows a fault is made known by ending the process, which the fuzzer reports with the input. */
static void require(bool holds, const char *sentence, quire_string detail) {
    if (holds) return;
    fprintf(stderr, "%s: %.*s\n", sentence, (int)detail.size, detail.data ? detail.data : "");
    abort();
}

static void require_ok(quire_status status) {
    require(status == QUIRE_OK, "the fixture cannot be made", error ? quire_error_message(error) : (quire_string){NULL, 0});
}

static void take(source *source, void *out, size_t size) {
    const size_t taken = size < source->size ? size : source->size;
    memset(out, 0, size);
    if (taken) memcpy(out, source->bytes, taken);
    source->bytes += taken;
    source->size -= taken;
}

static uint8_t take_byte(source *source) {
    uint8_t byte;
    take(source, &byte, 1);
    return byte;
}

/* Kinds are numbered as the header numbers them; one more, which is none, must be refused. */
static quire_value take_value(source *source, int depth) {
    quire_value value = quire_value_nil();
    value.kind = take_byte(source) % (QUIRE_VALUE_LIST + 2);
    switch (value.kind) {
    case QUIRE_VALUE_NIL: break;
    case QUIRE_VALUE_BOOLEAN: value.as.boolean = take_byte(source) & 1; break;
    case QUIRE_VALUE_INTEGER:
    case QUIRE_VALUE_OBJECT_ID: take(source, &value.as.integer, sizeof value.as.integer); break;
    case QUIRE_VALUE_DOUBLE:
    case QUIRE_VALUE_FLOAT:
    case QUIRE_VALUE_DATE: take(source, &value.as.real, sizeof value.as.real); break;
    case QUIRE_VALUE_OBJECT: value.as.object = object; break;
    case QUIRE_VALUE_LIST: {
        const uint32_t count = take_byte(source) % 6;
        if (depth == GREATEST_DEPTH || source->value_count + count > MOST_VALUES) break;
        quire_value *list = source->values + source->value_count;
        source->value_count += count;
        for (uint32_t i = 0; i < count; i++) list[i] = take_value(source, depth + 1);
        value = quire_value_list(list, count);
        break;
    }
    default: {
        const uint8_t wanted = value.kind == QUIRE_VALUE_UUID ? 16 : take_byte(source);
        value.size = wanted < source->size ? wanted : (uint32_t)source->size;
        value.as.data = source->bytes;
        source->bytes += value.size;
        source->size -= value.size;
    }
    }
    return value;
}

static void add_attribute(quire_model *model, const char *name, quire_attribute_type type) {
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    require_ok(quire_model_add_attribute(model, "Thing", QUIRE_NUL, name, QUIRE_NUL, type, &options, &error));
}

static void add_relationship(quire_model *model, const char *name, const char *inverse, bool is_to_many) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.is_to_many = is_to_many;
    options.inverse = inverse;
    require_ok(quire_model_add_relationship(
        model, "Thing", QUIRE_NUL, name, QUIRE_NUL, "Thing", QUIRE_NUL, &options, &error));
}

static void set(quire_object *object, const char *key, quire_value value) {
    require_ok(quire_object_set(object, key, QUIRE_NUL, &value, &error));
}

/* A thing with two parts, one of them saved. */
static void make_fixture(void) {
    quire_model *model = quire_model_create();
    require_ok(quire_model_add_entity(model, "Thing", QUIRE_NUL, NULL, &error));
    add_attribute(model, "name", QUIRE_TYPE_STRING);
    add_attribute(model, "number", QUIRE_TYPE_INTEGER_64);
    add_attribute(model, "real", QUIRE_TYPE_DOUBLE);
    add_attribute(model, "narrow", QUIRE_TYPE_FLOAT);
    add_attribute(model, "decimal", QUIRE_TYPE_DECIMAL);
    add_attribute(model, "date", QUIRE_TYPE_DATE);
    add_attribute(model, "flag", QUIRE_TYPE_BOOLEAN);
    add_attribute(model, "data", QUIRE_TYPE_BINARY);
    add_attribute(model, "uuid", QUIRE_TYPE_UUID);
    add_attribute(model, "uri", QUIRE_TYPE_URI);
    add_relationship(model, "whole", "parts", false);
    add_relationship(model, "parts", "whole", true);

    quire_store *store = NULL;
    require_ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    require_ok(quire_context_create(store, &context, &error));
    quire_object *parts[2];
    require_ok(quire_context_insert(context, "Thing", QUIRE_NUL, &object, &error));
    for (int i = 0; i < 2; i++) {
        require_ok(quire_context_insert(context, "Thing", QUIRE_NUL, &parts[i], &error));
        set(parts[i], "name", quire_value_text(i ? "B\xC3\xA9" : "a"));
        set(parts[i], "number", quire_value_integer(i ? INT64_MAX : 2));
        set(parts[i], "whole", quire_value_object(object));
        if (i == 0) require_ok(quire_context_save(context, &error));
    }
    static const uint8_t uuid[16] = {1, 2, 3};
    set(object, "name", quire_value_text("Text with \xF0\x9F\x98\x80"));
    set(object, "number", quire_value_integer(-7));
    set(object, "real", quire_value_double(2.5));
    set(object, "narrow", quire_value_double(0.5));
    set(object, "decimal", quire_value_decimal("12.5"));
    set(object, "date", quire_value_date(978307200.5));
    set(object, "flag", quire_value_boolean(true));
    set(object, "data", quire_value_data(uuid, 3));
    set(object, "uuid", quire_value_uuid(uuid));
    set(object, "uri", quire_value_uri("http://example.org/"));
    for (int i = 0; i < 2; i++) quire_object_release(parts[i]);
    quire_store_release(store);
    quire_model_release(model);
}

static void ask(quire_predicate *predicate) {
    bool matches = false;
    if (quire_predicate_matches(predicate, object, &matches, &error) != QUIRE_OK)
        require(quire_error_message(error).size > 0, "an error without a sentence", quire_predicate_text(predicate));
    quire_error_release(error);
    error = NULL;
    quire_fetch_request *request = NULL;
    require_ok(quire_fetch_request_create("Thing", QUIRE_NUL, &request, &error));
    require_ok(quire_fetch_request_set_predicate(request, predicate, &error));
    int64_t count = 0;
    if (quire_context_count(context, request, &count, &error) != QUIRE_OK)
        require(quire_error_message(error).size > 0, "an error without a sentence", quire_predicate_text(predicate));
    require(count >= 0 && count <= 3, "more objects fulfil it than there are", quire_predicate_text(predicate));
    quire_error_release(error);
    error = NULL;
    quire_fetch_request_release(request);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!context) make_fixture();
    const uint8_t *nul = size ? memchr(bytes, 0, size) : NULL;
    const size_t format_size = nul ? (size_t)(nul - bytes) : size;
    source source = {nul ? nul + 1 : NULL, nul ? size - format_size - 1 : 0, {{0}}, 0};
    quire_value arguments[MOST_ARGUMENTS];
    size_t argument_count = 0;
    while (source.size && argument_count < MOST_ARGUMENTS) arguments[argument_count++] = take_value(&source, 0);

    quire_predicate *predicate = NULL, *again = NULL;
    const char *format = size ? (const char *)bytes : "";
    if (quire_predicate_parse(format, format_size, arguments, argument_count, &predicate, &error) != QUIRE_OK) {
        const quire_string message = quire_error_message(error);
        require(message.size > 0 && !predicate, "an error without a sentence", message);
        const int64_t offset = quire_error_offset(error);
        require(offset >= -1 && (size_t)(offset + 1) <= size + 1, "an offset outside of the format", message);
        quire_error_release(error);
        error = NULL;
        return 0;
    }
    const quire_string text = quire_predicate_text(predicate);
    require(text.size > 0, "a predicate without text", (quire_string){format, format_size});
    const quire_status status = quire_predicate_parse(text.data, text.size, NULL, 0, &again, &error);
    require(status == QUIRE_OK, "what is printed does not read", text);
    const quire_string second = quire_predicate_text(again);
    require(second.size == text.size && memcmp(second.data, text.data, text.size) == 0, "it prints differently", text);
    ask(predicate);
    quire_predicate_release(predicate);
    quire_predicate_release(again);
    return 0;
}
