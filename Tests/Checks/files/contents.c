/*
 * Prints all that a store holds, opened for reading with the model that the file brings along.
 *
 *   contents STORE
 *
 * Each line has fields between tabs, the first of which says what it is:
 *
 *   hash ENTITY HASH
 *   count ENTITY OBJECTS OBJECTS-WITH-SUBENTITIES
 *   value ENTITY KEY PROPERTY VALUE
 *   one ENTITY KEY PROPERTY [ENTITY:KEY]
 *   many ENTITY KEY PROPERTY [ENTITY:KEY]...
 *
 * A value is a letter for its kind and what follows: `n` for nil, `i` and an integer, `b` and 0 or 1, `r` and a double of
 * 17 digits, `d` and such a double of seconds since 1970, `c` and a decimal number, `t` and text in hexadecimal, `x` and
 * bytes in hexadecimal, `m` and the message where a file is missing.
 */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>

static quire_error *error;

static void fail(const char *what, int line) {
    fprintf(stderr, "contents.c:%d: %s: %s\n", line, what, error ? quire_error_message(error).data : "no error");
    exit(1);
}

#define CHECK(x) ((x) ? (void)0 : fail(#x, __LINE__))
#define OK(call) CHECK((call) == QUIRE_OK)

static void print_bytes(char kind, const void *bytes, size_t size) {
    putchar(kind);
    for (size_t i = 0; i < size; i++) printf("%02x", ((const uint8_t *)bytes)[i]);
}

static void print_value(const quire_value *value) {
    switch ((quire_value_kind)value->kind) {
    case QUIRE_VALUE_NIL: putchar('n'); return;
    case QUIRE_VALUE_INTEGER: printf("i%lld", (long long)value->as.integer); return;
    case QUIRE_VALUE_BOOLEAN: printf("b%d", value->as.boolean); return;
    case QUIRE_VALUE_DOUBLE:
    case QUIRE_VALUE_FLOAT: printf("r%.17g", value->as.real); return;
    case QUIRE_VALUE_DATE: printf("d%.17g", value->as.real); return;
    case QUIRE_VALUE_DECIMAL: printf("c%.*s", (int)value->size, value->as.text); return;
    case QUIRE_VALUE_TEXT:
    case QUIRE_VALUE_URI: print_bytes('t', value->as.text, value->size); return;
    case QUIRE_VALUE_DATA:
    case QUIRE_VALUE_UUID: print_bytes('x', value->as.data, value->size); return;
    default: fail("a value of a kind that no attribute has", __LINE__);
    }
}

static void print_reference(quire_object *object) {
    printf("%s:%lld", quire_object_entity(object).data, (long long)quire_object_id(object));
}

static void print_head(const char *what, quire_object *object, quire_string name) {
    printf("%s\t%s\t%lld\t%s\t", what, quire_object_entity(object).data, (long long)quire_object_id(object), name.data);
}

static void print_attribute(quire_object *object, quire_string name) {
    quire_value value;
    print_head("value", object, name);
    const quire_status status = quire_object_get(object, name.data, name.size, &value, &error);
    if (status == QUIRE_NOT_FOUND) {
        printf("m%s", quire_error_message(error).data);
        quire_error_release(error);
        error = NULL;
    } else {
        OK(status);
        print_value(&value);
    }
    putchar('\n');
}

static void print_to_one(quire_object *object, quire_string name) {
    quire_object *held = NULL;
    OK(quire_object_get_object(object, name.data, name.size, &held, &error));
    print_head("one", object, name);
    if (held) print_reference(held);
    putchar('\n');
    quire_object_release(held);
}

static void print_to_many(quire_object *object, quire_string name) {
    quire_list *members = NULL;
    OK(quire_object_get_objects(object, name.data, name.size, &members, &error));
    print_head("many", object, name);
    for (int64_t i = 0; i < quire_list_count(members); i++) {
        quire_object *member = NULL;
        OK(quire_list_object(members, i, &member, &error));
        if (i) putchar(' ');
        print_reference(member);
        quire_object_release(member);
    }
    putchar('\n');
    quire_list_release(members);
}

static void print_object(quire_object *object, quire_model *model, quire_string entity, int64_t properties) {
    for (int64_t i = 0; i < properties; i++) {
        quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
        OK(quire_model_property(model, entity.data, entity.size, i, &info, &error));
        if (info.is_transient || info.kind == QUIRE_PROPERTY_FETCHED) continue;
        if (info.kind == QUIRE_PROPERTY_ATTRIBUTE) print_attribute(object, info.name);
        else if (info.is_to_many) print_to_many(object, info.name);
        else print_to_one(object, info.name);
    }
}

static void print_entity(quire_context *context, quire_model *model, quire_string entity) {
    quire_entity_info info = QUIRE_ENTITY_INFO_INIT;
    OK(quire_model_entity(model, entity.data, entity.size, &info, &error));
    uint8_t hash[32];
    OK(quire_model_version_hash(model, entity.data, entity.size, hash, &error));
    printf("hash\t%s\t", entity.data);
    print_bytes('x', hash, sizeof hash);
    quire_fetch_request *request = NULL;
    int64_t alone, all;
    OK(quire_fetch_request_create(entity.data, entity.size, &request, &error));
    OK(quire_context_count(context, request, &all, &error));
    OK(quire_fetch_request_set_includes_subentities(request, false, &error));
    OK(quire_context_count(context, request, &alone, &error));
    printf("\ncount\t%s\t%lld\t%lld\n", entity.data, (long long)alone, (long long)all);
    quire_list *objects = NULL;
    OK(quire_context_fetch(context, request, &objects, &error));
    CHECK(quire_list_count(objects) == alone);
    for (int64_t i = 0; i < alone; i++) {
        quire_object *object = NULL;
        OK(quire_list_object(objects, i, &object, &error));
        print_object(object, model, entity, info.property_count);
        quire_object_release(object);
    }
    quire_list_release(objects);
    quire_fetch_request_release(request);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: contents STORE\n");
        return 2;
    }
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    quire_store *store = NULL;
    quire_context *context = NULL;
    OK(quire_store_open(arguments[1], QUIRE_NUL, NULL, &options, &store, &error));
    OK(quire_context_create(store, &context, &error));
    quire_model *model = quire_store_model(store);
    for (int64_t i = 0; i < quire_model_entity_count(model); i++) {
        print_entity(context, model, quire_model_entity_name(model, i));
    }
    quire_context_release(context);
    OK(quire_store_close(store, &error));
    quire_store_release(store);
    return 0;
}
