/* Registered functions, and objects that they are asked about. */
#ifndef QUIRE_FUNCTIONS_H_
#define QUIRE_FUNCTIONS_H_

#include "fixture.h"

static quire_native_function described(
    void (*function)(void), uint32_t result, const uint32_t *arguments, size_t count) {
    quire_native_function native = QUIRE_NATIVE_FUNCTION_INIT;
    native.function = function;
    native.result_type = result;
    native.argument_types = arguments;
    native.argument_count = count;
    return native;
}

#define TYPES(...) (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* Registers `function`, whose types are given as C has them. */
#define REGISTER(name, function, result, ...) \
    do { \
        const quire_native_function native = described((void (*)(void))function, result, TYPES(__VA_ARGS__)); \
        CHECK_OK(quire_function_register(name, QUIRE_NUL, &native, &error)); \
    } while (0)

/* What the predicate says of an Everything whose attributes were set by the test. */
static bool matches(quire_object *object, const char *format) {
    quire_predicate *predicate = NULL;
    bool answer = false;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    CHECK_OK(quire_predicate_matches(predicate, object, &answer, &error));
    quire_predicate_release(predicate);
    return answer;
}

static int64_t try_count(quire_context *context, const char *format, quire_status *status) {
    quire_fetch_request *request = new_request("Everything", format, NULL);
    int64_t number = 0;
    *status = quire_context_count(context, request, &number, &error);
    quire_fetch_request_release(request);
    return number;
}

static void expect_failure(quire_status expected, quire_object *object, const char *format, const char *part) {
    quire_predicate *predicate = NULL;
    bool answer = true;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
    CHECK(quire_predicate_matches(predicate, object, &answer, &error) == expected);
    CHECK(!answer && strstr(quire_error_message(error).data, part) != NULL);
    quire_error_release(error);
    error = NULL;
    quire_predicate_release(predicate);
}

static quire_object *insert_everything(quire_context *context) {
    quire_object *object = insert(context, "Everything");
    set_value(object, "small", quire_value_integer(-7));
    set_value(object, "medium", quire_value_integer(70000));
    set_value(object, "large", quire_value_integer(INT64_C(5000000000)));
    set_value(object, "decimal", quire_value_decimal("2.5"));
    set_value(object, "real", quire_value_double(4));
    set_value(object, "narrow", quire_value_double(0.25));
    set_text(object, "text", "l\xC3\xB6we");
    set_value(object, "flag", quire_value_boolean(true));
    set_value(object, "moment", quire_value_date(1000));
    return object;
}

#endif
