#include "fixture.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>

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

/* -- C functions of many signatures. -- */

static float half(float number) { return number / 2; }
static bool both(bool a, bool b) { return a && b; }
static int8_t add8(int8_t a, uint8_t b) { return (int8_t)(a + b); }
static int16_t negate16(int16_t a) { return (int16_t)-a; }
static int32_t negate32(int32_t a) { return -a; }
static int64_t negate64(int64_t a) { return -a; }
static uint8_t low(int64_t a) { return (uint8_t)a; }
static uint16_t low16(int64_t a) { return (uint16_t)a; }
static uint32_t low32(uint64_t a) { return (uint32_t)a; }
static uint64_t most(uint16_t a, uint32_t b) { return UINT64_MAX - a - b; }
static double later(double moment, int32_t days) { return moment + 86400.0 * days; }
static int32_t letters(const char *text) { return (int32_t)strlen(text); }
static bool is_absent(const char *text) { return text == NULL; }
static const char *tenth(const char *text, double number, int32_t place) {
    static _Thread_local char result[64];
    if (number < 0) return NULL;
    snprintf(result, sizeof result, "%s-%.1f-%d", text, number, place);
    return result;
}
static char *shouted(const char *text) {
    char *copy = strdup(text);
    for (char *c = copy; *c; c++) *c = (char)toupper((unsigned char)*c);
    return copy;
}
static const char *broken(void) { return "\xFF"; }
/* More arguments than registers, of both kinds. */
static double many(int8_t a, double b, int16_t c, float d, int32_t e, double f, int64_t g, double h, uint8_t i, double j, uint64_t k,
    double l, int32_t m, double n, int32_t o, double p, float q, double r) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * (double)g + 8 * h + 9 * i + 10 * j + 11 * (double)k + 12 * l + 13 * m + 14 * n
        + 15 * o + 16 * p + 17 * q + 18 * r;
}

static void register_all(void) {
    REGISTER("hypotenuse", hypot, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE);
    REGISTER("half", half, QUIRE_NATIVE_FLOAT, QUIRE_NATIVE_FLOAT);
    REGISTER("both", both, QUIRE_NATIVE_BOOL, QUIRE_NATIVE_BOOL, QUIRE_NATIVE_BOOL);
    REGISTER("add8", add8, QUIRE_NATIVE_INT8, QUIRE_NATIVE_INT8, QUIRE_NATIVE_UINT8);
    REGISTER("negate16", negate16, QUIRE_NATIVE_INT16, QUIRE_NATIVE_INT16);
    REGISTER("negate32", negate32, QUIRE_NATIVE_INT32, QUIRE_NATIVE_INT32);
    REGISTER("negate64", negate64, QUIRE_NATIVE_INT64, QUIRE_NATIVE_INT64);
    REGISTER("low", low, QUIRE_NATIVE_UINT8, QUIRE_NATIVE_INT64);
    REGISTER("low16", low16, QUIRE_NATIVE_UINT16, QUIRE_NATIVE_INT64);
    REGISTER("low32", low32, QUIRE_NATIVE_UINT32, QUIRE_NATIVE_UINT64);
    REGISTER("most", most, QUIRE_NATIVE_UINT64, QUIRE_NATIVE_UINT16, QUIRE_NATIVE_UINT32);
    REGISTER("later", later, QUIRE_NATIVE_DATE, QUIRE_NATIVE_DATE, QUIRE_NATIVE_INT32);
    REGISTER("letters", letters, QUIRE_NATIVE_INT32, QUIRE_NATIVE_TEXT);
    REGISTER("is_absent", is_absent, QUIRE_NATIVE_BOOL, QUIRE_NATIVE_OPTIONAL_TEXT);
    REGISTER("tenth", tenth, QUIRE_NATIVE_TEXT, QUIRE_NATIVE_TEXT, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT32);
    REGISTER("shouted", shouted, QUIRE_NATIVE_OWNED_TEXT, QUIRE_NATIVE_TEXT);
    REGISTER("many", many, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT8, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT16, QUIRE_NATIVE_FLOAT,
        QUIRE_NATIVE_INT32, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT64, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_UINT8, QUIRE_NATIVE_DOUBLE,
        QUIRE_NATIVE_UINT64, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT32, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT32, QUIRE_NATIVE_DOUBLE,
        QUIRE_NATIVE_FLOAT, QUIRE_NATIVE_DOUBLE);
    const quire_native_function none = described((void (*)(void))broken, QUIRE_NATIVE_TEXT, NULL, 0);
    CHECK_OK(quire_function_register("broken", QUIRE_NUL, &none, &error));
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

static const char *const truths[] = {
    "hypotenuse(3, real) == 5", "hypotenuse(medium, 0) == 70000", "FUNCTION('hypotenuse', 3, 4) == 5", "half(narrow) == 0.125",
    "both(flag, YES) == YES", "both(flag, 0) == NO", "add8(-100, 200) == 100", "add8(small, 255) == -8", "negate16(-32768) == -32768",
    "negate16(small) == 7", "negate32(medium) == -70000", "negate64(large) == -5000000000", "low(-1) == 255", "low16(-1) == 65535",
    "low32(5000000000) == 705032704", "most(1, 2) > 9223372036854775807", "negate64(decimal * 2) == -5",
    "later(moment, 1) > moment", "later(moment, 0) == moment", "later(later(moment, 2), -2) == moment", "letters(text) == 5",
    "letters('') == 0", "is_absent(nil) == 1", "is_absent(link) == 1", "is_absent(text) == 0",
    "tenth(text, real, -3) == 'l\xC3\xB6we-4.0--3'", "tenth('', -1, 0) == nil", "shouted(tenth('a', 1, 2)) == 'A-1.0-2'",
    "shouted(text) BEGINSWITH 'L'", "letters(nil) == nil", "negate32(nil) == nil", "hypotenuse(real, link) == nil",
    "negate64(negate32(negate16(add8(1, 2)))) == -3", "shouted('ab') IN {'AB', 'x'}",
    "TERNARY(both(flag, flag) == 1, letters('abc'), 0) == 3",
    "many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18) == 2109",
};

enum { TRUTHS = sizeof truths / sizeof truths[0] };

static void native_functions_are_called_with_their_signature(void) {
    fixture f = open_fixture();
    register_all();
    quire_object *object = insert_everything(f.context);
    for (size_t i = 0; i < TRUTHS; i++)
        if (!matches(object, truths[i])) check_failed(__FILE__, __LINE__, truths[i]);
    quire_object_release(object);
    close_fixture(f);
}

static void functions_give_the_same_in_the_store(void) {
    fixture f = open_fixture();
    register_all();
    quire_object *objects[] = {insert_everything(f.context), insert(f.context, "Everything"), insert_everything(f.context)};
    set_value(objects[2], "small", quire_value_integer(100));
    set_text(objects[2], "text", "x");
    set_value(objects[2], "flag", quire_value_boolean(false));
    save(f.context);
    /* Another context has read nothing, so that the store answers alone. */
    quire_context *fresh = NULL;
    CHECK_OK(quire_context_create(f.store, &fresh, &error));
    for (size_t i = 0; i < TRUTHS; i++) {
        int64_t expected = 0;
        for (int place = 0; place < 3; place++) {
            quire_predicate *predicate = NULL;
            bool answer = false;
            CHECK_OK(quire_predicate_parse(truths[i], QUIRE_NUL, NULL, 0, &predicate, &error));
            const quire_status status = quire_predicate_matches(predicate, objects[place], &answer, NULL);
            /* What fails for one object fails the fetch. */
            expected = status == QUIRE_OK && expected >= 0 ? expected + answer : -1;
            quire_predicate_release(predicate);
        }
        quire_fetch_request *request = new_request("Everything", truths[i], NULL);
        int64_t number = 0;
        const quire_status status = quire_context_count(fresh, request, &number, NULL);
        if (expected < 0 ? status != QUIRE_INVALID_PREDICATE : status != QUIRE_OK || number != expected)
            check_failed(__FILE__, __LINE__, truths[i]);
        quire_fetch_request_release(request);
    }
    quire_context_release(fresh);
    for (int place = 0; place < 3; place++) quire_object_release(objects[place]);
    close_fixture(f);
}

static void what_a_type_cannot_hold_names_function_and_argument(void) {
    fixture f = open_fixture();
    register_all();
    quire_object *object = insert_everything(f.context);
    expect_failure(QUIRE_INVALID_PREDICATE, object, "negate16(medium) == 1", "Argument 1 of negate16");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "add8(1, small) == 1", "Argument 2 of add8");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "negate32(text) == 1", "was given text");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "negate32(decimal) == 1", "was given 2.5");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "hypotenuse(1, text) == 1", "Argument 2 of hypotenuse");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "letters(large) == 1", "must be text");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "both(flag, medium) == 1", "Argument 2 of both");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "later(real, 1) == nil", "must be a date");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "low32(small) == 1", "must be a whole number that is not negative");
    expect_failure(QUIRE_INVALID_PREDICATE, object, "letters({text, text}) == 1", "must be a single value");
    expect_failure(QUIRE_FUNCTION, object, "broken() == 'x'", "not valid UTF-8");
    quire_object_release(object);
    close_fixture(f);
}

static void wrong_calls_are_refused_when_the_predicate_is_read(void) {
    register_all();
    static const struct { const char *format, *part; int64_t offset; } cases[] = {
        {"x > 1 AND hypotenuse(a) > 1", "takes 2 arguments, and here is 1", 10},
        {"hypotenuse(a, b, c) > 1", "takes 2 arguments, and here are 3", 0},
        {"hypotenuse() > 1", "takes 2 arguments, and here are 0", 0},
        {"FUNCTION('hypotenuse', a) > 1", "takes 2 arguments", 0},
        {"FUNCTION('unheard', a) > 1", "no registered function named 'unheard'", 0},
        {"FUNCTION('unheard') > 1", "no registered function named 'unheard'", 0},
        {"hypotenuse('x', b) > 1", "Argument 1 of hypotenuse must be a number", 0},
        {"negate16(32768) > 1", "from -32768 to 32767, and was given 32768", 0},
        {"low32(-1) > 1", "not negative", 0},
        {"negate32(1.5) > 1", "given 1.5", 0},
        {"letters(5) > 1", "must be text", 0},
        {"letters({'a', 'b'}) > 1", "must be a single value", 0},
        {"letters('a\\u0000b') > 1", "without U+0000", 0},
        {"FUNCTION(a, b) > 1", "the name of a registered function", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        quire_predicate *predicate = NULL;
        CHECK(quire_predicate_parse(cases[i].format, QUIRE_NUL, NULL, 0, &predicate, &error) == QUIRE_INVALID_PREDICATE);
        if (!strstr(quire_error_message(error).data, cases[i].part)) check_failed(__FILE__, __LINE__, cases[i].format);
        CHECK(quire_error_offset(error) == cases[i].offset);
        quire_error_release(error);
        error = NULL;
    }
}

static void both_spellings_print_as_one_that_reads_back(void) {
    register_all();
    static const char *const formats[] = {
        "hypotenuse(a, b.c) > 1", "FUNCTION(\"hypotenuse\", a, b.c) > 1", "function('hypotenuse', a, b.c) > 1"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        quire_predicate *first = NULL, *second = NULL;
        CHECK_OK(quire_predicate_parse(formats[i], QUIRE_NUL, NULL, 0, &first, &error));
        CHECK_TEXT(quire_predicate_text(first), "hypotenuse(a, b.c) > 1");
        CHECK_OK(quire_predicate_parse(quire_predicate_text(first).data, QUIRE_NUL, NULL, 0, &second, &error));
        CHECK_TEXT(quire_predicate_text(second), "hypotenuse(a, b.c) > 1");
        quire_predicate_release(first);
        quire_predicate_release(second);
    }
}

static void registration_refuses_what_cannot_be_called(void) {
    const quire_native_function good = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
    static const char *const names[] = {"", "1st", "two words", "a:b", "caf\xC3\xA9", "sum", "uppercase", "now", "avg", "cast", "Function",
        "and", "nil", "first", "a23456789012345678901234567890123456789012345678901234567890123456"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register(names[i], QUIRE_NUL, &good, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f\0g", 3, &good, &error));
    quire_native_function bad = good;
    bad.function = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = described((void (*)(void))negate32, 0, TYPES(QUIRE_NATIVE_INT32));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = described((void (*)(void))negate32, QUIRE_NATIVE_OPTIONAL_TEXT, TYPES(QUIRE_NATIVE_INT32));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32, 99));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_OWNED_TEXT));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, NULL, 1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = good;
    bad.argument_count = 65;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    bad = good;
    bad.struct_size = 2;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f", QUIRE_NUL, &bad, &error));
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register_callback("f", QUIRE_NUL, &callback, &error));
    CHECK_OK(quire_function_register("f", QUIRE_NUL, &good, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_function_register("f", QUIRE_NUL, &good, &error));
    CHECK_OK(quire_function_unregister("f", QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_function_unregister("f", QUIRE_NUL, &error));
    CHECK_OK(quire_function_register("f", QUIRE_NUL, &good, &error));
}

/* -- Callbacks. -- */

typedef struct tally { int calls, ends; quire_context *context; quire_object *object; } tally;

static void end(void *data) { ((tally *)data)->ends++; }

/* The arguments as text, "!" at one that begins with it. */
static bool describe(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    static _Thread_local char text[256];
    size_t used = 0;
    ((tally *)data)->calls++;
    text[0] = 0;
    for (size_t i = 0; i < count; i++) {
        char *place = text + used;
        const size_t room = sizeof text - used;
        switch (arguments[i].kind) {
        case QUIRE_VALUE_NIL: used += (size_t)snprintf(place, room, "nil;"); break;
        case QUIRE_VALUE_INTEGER: used += (size_t)snprintf(place, room, "i%lld;", (long long)arguments[i].as.integer); break;
        case QUIRE_VALUE_BOOLEAN: used += (size_t)snprintf(place, room, "b%d;", arguments[i].as.boolean); break;
        case QUIRE_VALUE_DOUBLE: used += (size_t)snprintf(place, room, "d%g;", arguments[i].as.real); break;
        case QUIRE_VALUE_FLOAT: used += (size_t)snprintf(place, room, "f%g;", arguments[i].as.real); break;
        case QUIRE_VALUE_DATE: used += (size_t)snprintf(place, room, "t%g;", arguments[i].as.real); break;
        case QUIRE_VALUE_OBJECT_ID: used += (size_t)snprintf(place, room, "o;"); break;
        case QUIRE_VALUE_DECIMAL:
        case QUIRE_VALUE_TEXT: used += (size_t)snprintf(place, room, "%.*s;", (int)arguments[i].size, arguments[i].as.text); break;
        default: used += (size_t)snprintf(place, room, "?;");
        }
    }
    *result = quire_value_text(text);
    return text[0] != '!';
}

static void register_describe(tally *tally, size_t count) {
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.argument_count = count;
    callback.user_data = tally;
    callback.destroy = end;
    callback.call = describe;
    CHECK_OK(quire_function_register_callback("describe", QUIRE_NUL, &callback, &error));
}

static void callbacks_are_given_values_as_they_are(void) {
    fixture f = open_fixture();
    tally tally = {0, 0, NULL, NULL};
    register_describe(&tally, QUIRE_ANY_NUMBER);
    quire_object *object = insert_everything(f.context);
    CHECK(matches(object, "describe(small, flag, real, narrow, moment, text, decimal, link, SELF) == "
                          "'i-7;b1;d4;f0.25;t1000;l\xC3\xB6we;2.5;nil;o;'"));
    CHECK(matches(object, "describe() == ''"));
    expect_failure(QUIRE_FUNCTION, object, "describe('!not today', small) == 'x'", "The function describe failed: !not today;i-7;");
    quire_object_release(object);
    close_fixture(f);
    CHECK(tally.ends == 0);
    CHECK_OK(quire_function_unregister("describe", QUIRE_NUL, &error));
    CHECK(tally.ends == 1 && tally.calls == 3);
}

static void a_function_that_is_gone_is_an_answer_and_no_crash(void) {
    fixture f = open_fixture();
    tally tally = {0, 0, NULL, NULL};
    quire_object *object = insert_everything(f.context);
    register_describe(&tally, 1);
    quire_predicate *predicate = NULL;
    bool answer = true;
    CHECK_OK(quire_predicate_parse("describe(small) == 'i-7;'", QUIRE_NUL, NULL, 0, &predicate, &error));
    CHECK_OK(quire_predicate_matches(predicate, object, &answer, &error));
    CHECK(answer && tally.calls == 1);
    tally.calls = 0;
    CHECK_OK(quire_function_unregister("describe", QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_predicate_matches(predicate, object, &answer, &error));
    register_describe(&tally, 2);
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_matches(predicate, object, &answer, &error));
    CHECK_OK(quire_function_unregister("describe", QUIRE_NUL, &error));
    register_describe(&tally, 1);
    CHECK_OK(quire_predicate_matches(predicate, object, &answer, &error));
    CHECK(answer);
    CHECK(tally.calls == 1);
    CHECK_OK(quire_function_unregister("describe", QUIRE_NUL, &error));
    quire_predicate_release(predicate);
    CHECK(tally.ends == 3);
    quire_object_release(object);
    close_fixture(f);
}

static void a_refused_registration_leaves_its_data_with_the_caller(void) {
    tally tally = {0, 0, NULL, NULL};
    register_describe(&tally, 1);
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.user_data = &tally;
    callback.destroy = end;
    callback.call = describe;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_function_register_callback("describe", QUIRE_NUL, &callback, &error));
    quire_native_function native = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
    native.user_data = &tally;
    native.destroy = end;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_function_register("describe", QUIRE_NUL, &native, &error));
    CHECK(tally.ends == 0);
    CHECK_OK(quire_function_register("other", QUIRE_NUL, &native, &error));
    CHECK_OK(quire_function_unregister("other", QUIRE_NUL, &error));
    CHECK(tally.ends == 1);
}

static bool count_calls(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    (void)arguments, (void)count;
    *result = quire_value_integer(++((tally *)data)->calls);
    return true;
}

static void constants_are_calculated_once_unless_the_function_is_volatile(void) {
    fixture f = open_fixture();
    tally steady = {0, 0, NULL, NULL}, moody = {0, 0, NULL, NULL};
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.argument_count = 1;
    callback.call = count_calls;
    callback.user_data = &steady;
    CHECK_OK(quire_function_register_callback("steady", QUIRE_NUL, &callback, &error));
    callback.user_data = &moody;
    callback.is_volatile = true;
    CHECK_OK(quire_function_register_callback("moody", QUIRE_NUL, &callback, &error));
    quire_object *object = insert_everything(f.context);
    CHECK(matches(object, "steady(5) == steady(5) - 1"));
    CHECK(matches(object, "ANY {1, 2, 3} == steady(5) - 2"));
    CHECK(steady.calls == 3);
    CHECK(matches(object, "moody(5) == 1"));
    CHECK(matches(object, "moody(5) == 2"));
    quire_object_release(object);
    close_fixture(f);
}

static bool use_the_context(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    (void)arguments, (void)count;
    tally *tally = data;
    quire_object *made = NULL;
    quire_store *store = quire_context_store(tally->context);
    tally->calls += quire_context_insert(tally->context, "Tag", QUIRE_NUL, &made, NULL) == QUIRE_INVALID_STATE;
    tally->calls += quire_object_set(tally->object, "text", QUIRE_NUL, result, NULL) == QUIRE_INVALID_STATE;
    tally->calls += quire_context_save(tally->context, NULL) == QUIRE_INVALID_STATE;
    tally->calls += quire_store_close(store, NULL) == QUIRE_INVALID_STATE;
    tally->calls += made == NULL;
    *result = quire_value_integer(tally->calls);
    return true;
}

static void what_fails_fails_the_fetch_and_nothing_more(void) {
    fixture f = open_fixture();
    tally tally = {0, 0, NULL, NULL};
    register_describe(&tally, QUIRE_ANY_NUMBER);
    quire_object_release(insert_everything(f.context));
    save(f.context);
    quire_status status;
    try_count(f.context, "describe('!not today', small) == 'x'", &status);
    CHECK(status == QUIRE_FUNCTION && strstr(quire_error_message(error).data, "!not today;i-7;") != NULL);
    quire_error_release(error);
    error = NULL;
    CHECK(try_count(f.context, "describe(small, flag, real, narrow, moment, text, decimal, link) == "
                               "'i-7;b1;d4;f0.25;t1000;l\xC3\xB6we;2.5;nil;'", &status) == 1 && status == QUIRE_OK);
    close_fixture(f);
}

static void a_function_may_not_use_the_context_that_calls_it(void) {
    fixture f = open_fixture();
    quire_object *object = insert_everything(f.context);
    tally tally = {0, 0, f.context, object};
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.call = use_the_context;
    callback.user_data = &tally;
    callback.is_volatile = true;
    CHECK_OK(quire_function_register_callback("meddle", QUIRE_NUL, &callback, &error));
    CHECK(matches(object, "meddle() == 5"));
    save(f.context);
    tally.calls = 0;
    quire_status status;
    CHECK(try_count(f.context, "meddle() == 5", &status) == 1 && status == QUIRE_OK);
    set_text(object, "text", "free again");
    save(f.context);
    quire_object_release(object);
    close_fixture(f);
}

static bool foreign_result(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    (void)arguments, (void)count;
    result->kind = *(uint32_t *)data;
    result->size = 1;
    result->as.text = "\xFF";
    return true;
}

static void bad_results_are_errors(void) {
    fixture f = open_fixture();
    quire_object *object = insert_everything(f.context);
    uint32_t kind = 0;
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.call = foreign_result;
    callback.user_data = &kind;
    callback.is_volatile = true;
    CHECK_OK(quire_function_register_callback("foreign", QUIRE_NUL, &callback, &error));
    const uint32_t kinds[] = {QUIRE_VALUE_TEXT, QUIRE_VALUE_URI, QUIRE_VALUE_DECIMAL, QUIRE_VALUE_UUID, QUIRE_VALUE_OBJECT,
        QUIRE_VALUE_OBJECT_ID, QUIRE_VALUE_LIST, 99, UINT32_MAX};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        kind = kinds[i];
        expect_failure(QUIRE_FUNCTION, object, "foreign() == 1", "The function foreign gave");
    }
    quire_object_release(object);
    close_fixture(f);
}

static void *register_and_remove(void *data) {
    const quire_native_function native = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
    quire_object *object = data;
    quire_predicate *predicate = NULL;
    CHECK(quire_predicate_parse("flicker(5) == -5", QUIRE_NUL, NULL, 0, &predicate, NULL) == QUIRE_OK);
    for (int i = 0; i < 2000; i++) {
        if (object) {
            bool answer = false;
            const quire_status status = quire_predicate_matches(predicate, object, &answer, NULL);
            CHECK(status == QUIRE_OK ? answer : status == QUIRE_UNSUPPORTED);
        } else {
            quire_function_register("flicker", QUIRE_NUL, &native, NULL);
            quire_function_unregister("flicker", QUIRE_NUL, NULL);
        }
    }
    quire_predicate_release(predicate);
    return NULL;
}

static void functions_come_and_go_while_others_call_them(void) {
    fixture f = open_fixture();
    quire_object *object = insert_everything(f.context);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, register_and_remove, i ? NULL : object) == 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    quire_object_release(object);
    close_fixture(f);
}

int main(void) {
    RUN(native_functions_are_called_with_their_signature);
    RUN(functions_give_the_same_in_the_store);
    RUN(what_a_type_cannot_hold_names_function_and_argument);
    RUN(wrong_calls_are_refused_when_the_predicate_is_read);
    RUN(both_spellings_print_as_one_that_reads_back);
    RUN(registration_refuses_what_cannot_be_called);
    RUN(callbacks_are_given_values_as_they_are);
    RUN(a_function_that_is_gone_is_an_answer_and_no_crash);
    RUN(a_refused_registration_leaves_its_data_with_the_caller);
    RUN(constants_are_calculated_once_unless_the_function_is_volatile);
    RUN(what_fails_fails_the_fetch_and_nothing_more);
    RUN(a_function_may_not_use_the_context_that_calls_it);
    RUN(bad_results_are_errors);
    RUN(functions_come_and_go_while_others_call_them);
    return RESULT();
}
