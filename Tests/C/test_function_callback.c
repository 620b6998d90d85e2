#include "functions.h"

#include <pthread.h>

static int32_t negated(int32_t a) { return -a; }

typedef struct tally { int calls, ends; quire_context *context; quire_object *object; } tally;

static void end(void *data) { ((tally *)data)->ends++; }

/* Writes arguments as text, lists in brackets and dictionaries in braces, and gives the length of what is there. */
static size_t write_values(char *text, size_t size, size_t used, const quire_value *arguments, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *place = text + used;
        const size_t room = size - used;
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
        case QUIRE_VALUE_LIST:
            used += (size_t)snprintf(place, room, "[");
            used = write_values(text, size, used, arguments[i].as.list, arguments[i].size);
            used += (size_t)snprintf(text + used, size - used, "]");
            break;
        case QUIRE_VALUE_DICTIONARY:
            used += (size_t)snprintf(place, room, "{");
            for (uint32_t entry = 0; entry < arguments[i].size; entry++) {
                used = write_values(text, size, used, &arguments[i].as.entries[entry].key, 1);
                used = write_values(text, size, used, &arguments[i].as.entries[entry].value, 1);
            }
            used += (size_t)snprintf(text + used, size - used, "}");
            break;
        default: used += (size_t)snprintf(place, room, "?;");
        }
    }
    return used;
}

/* The arguments as text, "!" at one that begins with it. */
static bool describe(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    static _Thread_local char text[256];
    ((tally *)data)->calls++;
    text[0] = 0;
    write_values(text, sizeof text, 0, arguments, count);
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

static void callbacks_are_given_lists_and_dictionaries(void) {
    fixture f = open_fixture();
    tally tally = {0, 0, NULL, NULL};
    register_describe(&tally, QUIRE_ANY_NUMBER);
    quire_object *object = insert_everything(f.context);
    const char *const lists = "FUNCTION({1, {'a', nil}}, 'describe', {small, decimal}, {}) == '[i1;[a;nil;]][i-7;2.5;][]'";
    CHECK(matches(object, lists) && matches(object, "describe({SELF}) == '[o;]'"));
    save(f.context);
    quire_status status;
    CHECK(try_count(f.context, lists, &status) == 1 && status == QUIRE_OK);
    const quire_value words[] = {quire_value_text("x"), quire_value_decimal("1.50")};
    const quire_entry inner[] = {{quire_value_text("b"), quire_value_list(words, 2)}, {quire_value_text("a"), quire_value_nil()}};
    const quire_entry outer[] = {{quire_value_text("d"), quire_value_dictionary(inner, 2)}};
    const quire_value subject = quire_value_dictionary(outer, 1);
    quire_predicate *predicate = NULL;
    bool answer = false;
    CHECK_OK(quire_predicate_parse("describe(d, d.b, SELF) == '{a;nil;b;[x;1.5;]}[x;1.5;]{d;{a;nil;b;[x;1.5;]}}'", QUIRE_NUL,
        NULL, 0, &predicate, &error));
    CHECK_OK(quire_predicate_evaluate(predicate, &subject, NULL, 0, &answer, &error));
    CHECK(answer);
    quire_predicate_release(predicate);
    quire_object_release(object);
    close_fixture(f);
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
    quire_native_function native = described((void (*)(void))negated, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
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
    const quire_native_function native = described((void (*)(void))negated, QUIRE_NATIVE_INT32, TYPES(QUIRE_NATIVE_INT32));
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

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(callbacks_are_given_values_as_they_are);
    RUN(callbacks_are_given_lists_and_dictionaries);
    RUN(a_function_that_is_gone_is_an_answer_and_no_crash);
    RUN(a_refused_registration_leaves_its_data_with_the_caller);
    RUN(constants_are_calculated_once_unless_the_function_is_volatile);
    RUN(what_fails_fails_the_fetch_and_nothing_more);
    RUN(a_function_may_not_use_the_context_that_calls_it);
    RUN(bad_results_are_errors);
    RUN(functions_come_and_go_while_others_call_them);
    return RESULT();
}
