#include "functions.h"

#include <ctype.h>
#include <math.h>

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
static bool exceeds(int64_t a, int64_t b) { return a > b; }
static const char *broken(void) { return "\xFF"; }
/* More arguments than registers, of both kinds. */
static double many(int8_t a, double b, int16_t c, float d, int32_t e, double f, int64_t g, double h, uint8_t i, double j, uint64_t k,
    double l, int32_t m, double n, int32_t o, double p, float q, double r) {
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * (double)g + 8 * h + 9 * i + 10 * j + 11 * (double)k + 12 * l + 13 * m + 14 * n
        + 15 * o + 16 * p + 17 * q + 18 * r;
}

static void register_all(void) {
    REGISTER("hypotenuse", hypot, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE);
    REGISTER("power:", pow, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE);
    REGISTER("exceeds:", exceeds, QUIRE_NATIVE_BOOL, QUIRE_NATIVE_INT64, QUIRE_NATIVE_INT64);
    REGISTER("place:withNumber:", tenth, QUIRE_NATIVE_TEXT, QUIRE_NATIVE_TEXT, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_INT32);
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
    "FUNCTION(real, 'hypotenuse', 3) == 5", "FUNCTION(real, 'power:', 2) == 16", "FUNCTION('power:', real, 2) == 16",
    "power:(real, 2) == 16", "FUNCTION(FUNCTION(2, 'power:', 3), 'power:', real) == 4096", "FUNCTION(small, 'negate32') == 7",
    "FUNCTION(text, 'place:withNumber:', 1, 2) == place:withNumber:(text, 1, 2)", "FUNCTION('abc', 'letters') == 3",
    "FUNCTION('letters', 'shouted') == 7", "FUNCTION('abc', 'uppercase') == 'ABC'", "FUNCTION(text, 'length') == 4",
    "FUNCTION(2, 'add:to:', 3) == 5", "FUNCTION('length', 'abc') == 3", "FUNCTION(link, 'power:', 2) == nil",
    "FUNCTION({1, real}, 'max') == 4", "small exceeds: -8", "NOT small exceeds: 8 AND large exceeds: medium",
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
        {"FUNCTION() > 1", "the name of a registered function", 0},
        {"FUNCTION(a, b, 'hypotenuse') > 1", "the name of a registered function", 0},
        {"FUNCTION(a, 'hypotenuse') > 1", "hypotenuse takes 2 arguments, and here is 1", 0},
        {"x > 1 AND FUNCTION(a, 'power:', b, c) > 1", "power: takes 2 arguments, and here are 3", 10},
        {"FUNCTION('x', 'power:', b) > 1", "Argument 1 of power: must be a number", 0},
        {"FUNCTION(a, 'add:to:') > 1", "add:to: takes 2 arguments", 0},
        {"FUNCTION(a, 'two words') > 1", "cannot name a function", 0},
        {"FUNCTION(a, 'self') > 1", "cannot name a function", 0},
        {"FUNCTION('unheard:', a) > 1", "no registered function named 'unheard:'", 0},
        {"a exceeds: 'x'", "Argument 2 of exceeds: must be a whole number", 0},
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

static void core_datas_order_prints_as_a_call_that_reads_back(void) {
    register_all();
    static const struct { const char *format, *text; } cases[] = {
        {"FUNCTION(a, 'hypotenuse', b.c) > 1", "hypotenuse(a, b.c) > 1"},
        {"FUNCTION(a, 'power:', b) > 1", "power:(a, b) > 1"},
        {"FUNCTION($x, 'place:withNumber:', 1, a[0]) == 'y'", "place:withNumber:($x, 1, a[0]) == \"y\""},
        {"FUNCTION(SELF, 'uppercase') == 'A'", "uppercase:(SELF) == \"A\""},
        {"FUNCTION(a, 'add:to:', 1) == 2", "a + 1 == 2"},
        {"FUNCTION('letters', 'shouted') == 1", "letters(\"shouted\") == 1"},
        {"FUNCTION('x', 'shouted') == 'X'", "shouted(\"x\") == \"X\""},
        {"FUNCTION(a, 'unheard:', 1) == 2", "unheard:(a, 1) == 2"},
        {"a exceeds: b", "exceeds:(a, b) == 1"},
        {"ANY a exceeds: b", "ANY a exceeds: b"},
        {"a unheard: b", "a unheard: b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        quire_predicate *first = NULL, *second = NULL;
        CHECK_OK(quire_predicate_parse(cases[i].format, QUIRE_NUL, NULL, 0, &first, &error));
        CHECK_TEXT(quire_predicate_text(first), cases[i].text);
        CHECK_OK(quire_predicate_parse(cases[i].text, QUIRE_NUL, NULL, 0, &second, &error));
        CHECK(quire_predicate_equal(first, second));
        quire_predicate_release(first);
        quire_predicate_release(second);
    }
}

static void a_text_in_an_argument_chooses_no_function_where_the_format_names_one(void) {
    register_all();
    const quire_value name = quire_value_text("letters"), other = quire_value_text("shouted");
    const struct { const char *format; quire_value arguments[2]; size_t count; const char *text; } cases[] = {
        {"FUNCTION(%@, 'shouted') == 1", {name}, 1, "shouted(\"letters\") == 1"},
        {"FUNCTION('shouted', %@) == 1", {name}, 1, "shouted(\"letters\") == 1"},
        {"FUNCTION(%@, 'unheard:') == 1", {name}, 1, "unheard:(\"letters\") == 1"},
        {"FUNCTION(%@, a) == 1", {name}, 1, "letters(a) == 1"},
        {"FUNCTION(a, %@) == 1", {name}, 1, "letters(a) == 1"},
        {"FUNCTION(%@, %@) == 1", {name, other}, 2, "letters(\"shouted\") == 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        quire_predicate *predicate = NULL;
        CHECK_OK(quire_predicate_parse(cases[i].format, QUIRE_NUL, cases[i].arguments, cases[i].count, &predicate, &error));
        CHECK_TEXT(quire_predicate_text(predicate), cases[i].text);
        quire_predicate_release(predicate);
    }
    quire_predicate *predicate = NULL;
    CHECK(quire_predicate_parse("FUNCTION('unheard:', %@) == 1", QUIRE_NUL, &name, 1, &predicate, &error)
          == QUIRE_INVALID_PREDICATE);
    CHECK(strstr(quire_error_message(error).data, "no registered function named 'unheard:'") != NULL);
    quire_error_release(error);
    error = NULL;
}

static void what_is_not_registered_is_refused_when_it_is_called(void) {
    fixture f = open_fixture();
    quire_object *object = insert_everything(f.context);
    expect_failure(QUIRE_UNSUPPORTED, object, "FUNCTION(small, 'unheard:', 1) == 2", "The function unheard:");
    expect_failure(QUIRE_UNSUPPORTED, object, "FUNCTION(text, 'dropTable') == 2", "The function dropTable");
    expect_failure(QUIRE_UNSUPPORTED, object, "small exceeds: 2", "exceeds:");
    save(f.context);
    quire_status status;
    try_count(f.context, "FUNCTION(small, 'unheard:', 1) == 2", &status);
    CHECK(status == QUIRE_UNSUPPORTED && strstr(quire_error_message(error).data, "The function unheard:") != NULL);
    quire_error_release(error);
    error = NULL;
    quire_object_release(object);
    close_fixture(f);
}

static void registration_refuses_what_cannot_be_called(void) {
    const quire_native_function good = described((void (*)(void))negate32, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
    static const char *const names[] = {"", "1st", "two words", "a:b", ":", "a::", ":a", "1:", "a b:", "sum:", "add:to:",
        "objectFrom:withIndex:", "castObject:toType:", "caf\xC3\xA9", "sum", "uppercase", "now", "avg", "cast", "Function",
        "and", "nil", "first", "a23456789012345678901234567890123456789012345678901234567890123456"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register(names[i], QUIRE_NUL, &good, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_function_register("f\0g", 3, &good, &error));
    static const char *const selectors[] = {"and:", "negate32:", "a:b:", "sum:sum:", "_:_:"};
    for (size_t i = 0; i < sizeof selectors / sizeof selectors[0]; i++)
        CHECK_OK(quire_function_register(selectors[i], QUIRE_NUL, &good, &error));
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

static double handed;
static double hand_back(double moment) {
    handed = moment;
    return moment;
}

/* A date has many neighbours: neither call nor result moves it to one of them. */
static void dates_are_those_that_the_object_has(void) {
    fixture f = open_fixture();
    REGISTER("hand_back", hand_back, QUIRE_NATIVE_DATE, QUIRE_NATIVE_DATE);
    quire_object *object = insert(f.context, "Everything");
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse("hand_back(moment) == moment", QUIRE_NUL, NULL, 0, &predicate, &error));
    uint64_t state = 7;
    for (int i = 0; i < 20000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double microseconds = (double)(state >> 13) / (i % 3 ? 1 : 64);
        set_value(object, "moment", quire_value_date((i % 2 ? -microseconds / 4 : microseconds) / 1e6));
        bool answer = false;
        CHECK_OK(quire_predicate_matches(predicate, object, &answer, &error));
        CHECK(answer && handed == get_value(object, "moment").as.real);
    }
    quire_predicate_release(predicate);
    quire_object_release(object);
    close_fixture(f);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(dates_are_those_that_the_object_has);
    RUN(native_functions_are_called_with_their_signature);
    RUN(functions_give_the_same_in_the_store);
    RUN(what_a_type_cannot_hold_names_function_and_argument);
    RUN(wrong_calls_are_refused_when_the_predicate_is_read);
    RUN(both_spellings_print_as_one_that_reads_back);
    RUN(core_datas_order_prints_as_a_call_that_reads_back);
    RUN(a_text_in_an_argument_chooses_no_function_where_the_format_names_one);
    RUN(what_is_not_registered_is_refused_when_it_is_called);
    RUN(registration_refuses_what_cannot_be_called);
    return RESULT();
}
