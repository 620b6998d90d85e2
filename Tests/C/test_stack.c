/* Whatever is legal runs on a thread of 128 KiB, and what is nested deeper is refused there. What is long or chained runs, too. */
#include "functions.h"

enum { STACK = 128 };

/* A kind of nest: `before` and `after` stand around `core` as often as the nest is deep, and `rest` behind all. */
typedef struct nest {
    const char *before, *core, *after, *rest;
    /* To explain a deep one takes half a minute; to ask a row takes time by the power of the depth. */
    enum { FAST, SLOW_TO_EXPLAIN, ENDLESS } effort;
} nest;

static const nest nests[] = {
    {"(", "number == 1", ")", "", FAST},
    {"(", "number", ")", " == 1", FAST},
    {"abs(", "number", ")", " == 1", FAST},
    {"abs(", "1", ")", " == number", FAST},
    {"uppercase(", "title", ")", " == 'A'", FAST},
    {"noindex(", "number", ")", " == 1", FAST},
    {"1 + (", "number", ")", " > 1", FAST},
    {"(", "number", " + 1)", " > 1", FAST},
    {"", "number", " + 1", " > 1", FAST},
    {"2 ** ", "number", "", " > 1", FAST},
    {"1 | 1 ^ 1 & 1 << 1 + 1 * 2 ** (", "0", ")", " > number", FAST},
    {"- ", "number", "", " == 1", FAST},
    {"~ ", "number", "", " == 1", FAST},
    {"NOT ", "number == 1", "", "", FAST},
    {"NOT (", "number == 1", ")", "", FAST},
    {"(number == 2 OR (number > 0 AND ", "number == 1", "))", "", FAST},
    {"number == 2 OR NOT (", "number == 1", ")", "", FAST},
    {"", "children", "[0]", ".number == 1", ENDLESS},
    {"children[", "0", "].number", " == 1", FAST},
    {"{1, 2}[", "number", "]", " == 1", FAST},
    {"{", "number", "}", " == 1", FAST},
    {"{", "1", "}", " == number", FAST},
    {"TERNARY(1 == ", "number", ", 1, 2)", " == 1", FAST},
    {"TERNARY(number == 1, ", "number", ", 2)", " == 1", FAST},
    {"TERNARY(NOT (1 == ", "number", "), 1, 2)", " == 1", FAST},
    {"1 == TERNARY(", "number == 1", ", 1, 2)", "", FAST},
    {"TERNARY(number == 1, ", "SELF", ", SELF).parent", " == nil", FAST},
    {"SUBQUERY(", "children", ", $x, $x.number > 0)", ".@count == 1", FAST},
    {"SUBQUERY(", "children", ", $x, $x.number > 0).children", ".@count == 1", SLOW_TO_EXPLAIN},
    {"SUBQUERY(children, $x, ", "number == 1", ").@count == 1", "", FAST},
    {"1 == SUBQUERY(children, $x, ", "number == 1", ").@sum.number", "", FAST},
    {"1 IN {2, SUBQUERY(children, $x, ", "number == 1", ").@sum.number}", "", FAST},
    {"ANY SUBQUERY(children, $x, ", "number == 1", ").number > 0", "", FAST},
    {"ALL SUBQUERY(children, $x, ", "number == 1", ").parent.title == title", "", FAST},
    {"SUBQUERY(children, $x, ", "number == 1", ").@max.number == 1", "", FAST},
    {"SUBQUERY(children, $x, ", "number == 1", ")[0].number == 1", "", FAST},
    {"SUBQUERY(children, $x, ", "number == 1", ")[0].parent.number == 1", "", FAST},
    {"uppercase(SUBQUERY(children, $x, ", "number == 1", ")[FIRST].title) == 'A'", "", FAST},
    {"SUBQUERY({1}, $x, ", "number == 1", ").@count == 1", "", FAST},
    {"(children UNION SUBQUERY(children, $x, ", "number == 1", ")).@count == 1", "", ENDLESS},
    {"(children UNION ", "children", ")", ".@count == 1", ENDLESS},
    {"(", "children", " UNION children)", ".@count == 1", ENDLESS},
    {"({number} UNION ", "children.number", ")", ".@count == 1", FAST},
    {"CAST(", "number", ", 'NSString')", " == '1'", FAST},
    {"sum(", "number", ", 1)", " == 1", FAST},
    {"max({1, ", "number", "})", " == 1", FAST},
    {"FUNCTION('same', ", "number", ")", " == 1", FAST},
    {"bisect(", "number", ")", " == 1", FAST},
    {"objectFrom:withIndex:({", "number", "}, 0)", " == 1", FAST},
};

static quire_object *node;
static quire_context *context;
static const nest *shape;
static quire_predicate *deepest;

static char *written(const nest *kind, int depth) {
    const size_t before = strlen(kind->before), after = strlen(kind->after);
    char *text = malloc((before + after) * (size_t)depth + strlen(kind->core) + strlen(kind->rest) + 1), *end = text;
    for (int i = 0; i < depth; i++) end = stpcpy(end, kind->before);
    end = stpcpy(end, kind->core);
    for (int i = 0; i < depth; i++) end = stpcpy(end, kind->after);
    stpcpy(end, kind->rest);
    return text;
}

static quire_predicate *read_nest(const nest *kind, int depth) {
    char *text = written(kind, depth);
    quire_predicate *predicate = NULL;
    const quire_status status = quire_predicate_parse(text, QUIRE_NUL, NULL, 0, &predicate, &error);
    free(text);
    if (status == QUIRE_OK) return predicate;
    CHECK(status == QUIRE_INVALID_PREDICATE && !predicate && strstr(quire_error_message(error).data, "nested") != NULL);
    quire_error_release(error);
    error = NULL;
    return NULL;
}

/* Searched for once: each test takes the nests as deep as the first has found that they may be. */
static int depth_of_deepest(const nest *kind) {
    static int depths[sizeof nests / sizeof nests[0]];
    int *known = &depths[kind - nests];
    if (*known) return *known;
    CHECK(!read_nest(kind, 100000));
    int least = 1, most = 4096;
    while (most - least > 1) {
        const int middle = (least + most) / 2;
        quire_predicate *predicate = read_nest(kind, middle);
        *(predicate ? &least : &most) = middle;
        quire_predicate_release(predicate);
    }
    return *known = least;
}

/* A nest may be one that the store or the objects refuse; what counts is that there is an answer. */
static void expect_answer(quire_status status) {
    CHECK(status == QUIRE_OK || (error && quire_error_status(error) == status));
    quire_error_release(error);
    error = NULL;
}

static bool same(void *user_data, const quire_value *arguments, size_t count, quire_value *out_result) {
    (void)user_data;
    /* A function of the program needs something, too. */
    volatile char frame[8 << 10];
    memset((char *)frame, 1, sizeof frame);
    if (count == 1 && arguments[0].kind <= QUIRE_VALUE_FLOAT) *out_result = arguments[0];
    return true;
}

static int64_t bisect(int64_t number) {
    volatile char frame[8 << 10];
    memset((char *)frame, 1, sizeof frame);
    return number / 2;
}

static void add_entity_of_nodes(quire_model *model) {
    CHECK_OK(quire_model_add_entity(model, "Node", QUIRE_NUL, NULL, &error));
    add_attribute(model, "Node", "number", QUIRE_TYPE_INTEGER_64);
    add_attribute(model, "Node", "title", QUIRE_TYPE_STRING);
    add_relationship(model, "Node", "parent", "Node", "children", false, false, QUIRE_DELETE_NULLIFY);
    add_relationship(model, "Node", "children", "Node", "parent", true, false, QUIRE_DELETE_NULLIFY);
}

static void open_nodes(void) {
    REGISTER("bisect", bisect, QUIRE_NATIVE_INT64, QUIRE_NATIVE_INT64);
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    callback.argument_count = 1;
    callback.call = same;
    CHECK_OK(quire_function_register_callback("same", QUIRE_NUL, &callback, &error));
    quire_model *model = quire_model_create();
    quire_store *store = NULL;
    add_entity_of_nodes(model);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_object *last = NULL;
    for (int i = 0; i < 3; i++) {
        quire_object *next = insert(context, "Node");
        set_value(next, "number", quire_value_integer(1));
        set_text(next, "title", "a");
        if (last) set_value(next, "parent", quire_value_object(last));
        if (!node) node = next;
        last = next;
    }
    save(context);
    quire_store_release(store);
    quire_model_release(model);
}

static quire_fetch_request *request_for_nest(void) {
    quire_fetch_request *request = new_request("Node", NULL, "title");
    CHECK_OK(quire_fetch_request_set_predicate(request, deepest, &error));
    return request;
}

static void tree_is_printed_read_compared_and_copied(void) {
    const quire_string text = quire_predicate_text(deepest);
    quire_predicate *again = NULL, *copy = NULL;
    CHECK_OK(quire_predicate_parse(text.data, text.size, NULL, 0, &again, &error));
    CHECK(quire_predicate_equal(deepest, again));
    CHECK_OK(quire_predicate_substitute(again, NULL, 0, &copy, &error));
    quire_predicate_release(again);
    quire_predicate_release(copy);
}

static void objects_and_values_are_asked(void) {
    bool answer = false;
    const quire_entry entries[] = {{quire_value_text("number"), quire_value_integer(1)},
        {quire_value_text("title"), quire_value_text("a")}};
    const quire_value subject = quire_value_dictionary(entries, 2);
    expect_answer(quire_predicate_matches(deepest, node, &answer, &error));
    expect_answer(quire_predicate_evaluate(deepest, &subject, NULL, 0, &answer, &error));
}

static void store_is_asked(void) {
    quire_fetch_request *request = request_for_nest();
    int64_t number = 0;
    quire_list *list = NULL;
    expect_answer(quire_context_count(context, request, &number, &error));
    expect_answer(quire_context_fetch(context, request, &list, &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
}

static void fetch_is_explained(void) {
    quire_fetch_request *request = request_for_nest();
    quire_evaluation *explanation = NULL;
    expect_answer(quire_fetch_request_explain(request, context, &explanation, &error));
    quire_evaluation_release(explanation);
    quire_fetch_request_release(request);
}

static void list_follows(void) {
    quire_fetch_request *request = request_for_nest();
    quire_results *results = NULL;
    const quire_status status = quire_results_create(context, request, NULL, &results, &error);
    if (status == QUIRE_OK) expect_answer(quire_results_fetch(results, &error));
    else expect_answer(status);
    set_value(node, "number", quire_value_integer(2));
    set_value(node, "number", quire_value_integer(1));
    expect_answer(quire_context_process(context, &error));
    quire_results_release(results);
    quire_fetch_request_release(request);
}

static void values_are_calculated(void) {
    char *text = NULL;
    const quire_string format = quire_predicate_text(deepest);
    CHECK(asprintf(&text, "TERNARY(%s, 1, 2)", format.data) > 0);
    quire_expression *expression = NULL;
    /* One level more may be one too many. */
    const quire_status status = quire_expression_parse(text, QUIRE_NUL, NULL, 0, &expression, &error);
    free(text);
    if (status != QUIRE_OK) return expect_answer(status);
    quire_fetch_request *request = new_request("Node", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_expression(request, "value", QUIRE_NUL, expression, &error));
    quire_list *list = NULL;
    expect_answer(quire_context_fetch(context, request, &list, &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_expression_release(expression);
}

static void rule_is_kept(void) {
    quire_model *model = quire_model_create();
    add_entity_of_nodes(model);
    quire_status status = quire_model_add_validation_rule(
        model, "Node", QUIRE_NUL, NULL, 0, deepest, "The nest does not hold.", QUIRE_NUL, &error);
    quire_store *store = NULL;
    if (status == QUIRE_OK) status = quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error);
    if (status == QUIRE_OK) {
        quire_context *other = NULL;
        CHECK_OK(quire_context_create(store, &other, &error));
        quire_object_release(insert(other, "Node"));
        status = quire_context_save(other, &error);
        quire_context_release(other);
    }
    expect_answer(status);
    quire_store_release(store);
    quire_model_release(model);
}

static void each_nest_is_read(void) {
    deepest = read_nest(shape, depth_of_deepest(shape));
    CHECK(deepest != NULL);
}

static void release_nest(void) { quire_predicate_release(deepest); }

/* A product of nests and uses. `place` is the number of the use. */
static void run_nests(const char *test, size_t place, void (*use)(void)) {
    enum { NESTS = sizeof nests / sizeof nests[0] };
    const bool is_slow = getenv("QUIRE_SLOW") != NULL;
    for (size_t i = 0; i < NESTS; i++) {
        shape = &nests[i];
        const bool is_explained = use == fetch_is_explained;
        const bool takes_long = shape->effort == SLOW_TO_EXPLAIN && is_explained;
        if (takes_long && is_slow) continue;
        if (shape->effort == ENDLESS && !is_explained && use != tree_is_printed_read_compared_and_copied) continue;
        char name[120];
        snprintf(name, sizeof name, "%s...%s%s", shape->before, shape->after, shape->rest);
        if (!takes_case(test, name, place * NESTS + i, takes_long ? 24 : is_slow ? 12 : 3)) continue;
        run_with_stack(STACK, each_nest_is_read);
        run_with_stack(STACK, use);
        run_with_stack(STACK, release_nest);
    }
}

#define NEST_TEST(place, name, use) \
    static void name(void) { \
        run_with_stack(STACK, open_nodes); \
        run_nests(#name, place, use); \
    }

NEST_TEST(0, deepest_trees_are_printed_read_compared_and_copied, tree_is_printed_read_compared_and_copied)
NEST_TEST(1, deepest_trees_are_asked_about_objects_and_values, objects_and_values_are_asked)
NEST_TEST(2, deepest_trees_are_fetched_by, store_is_asked)
NEST_TEST(3, deepest_trees_are_explained, fetch_is_explained)
NEST_TEST(4, lists_follow_the_deepest_trees, list_follows)
NEST_TEST(5, values_of_deepest_trees_are_calculated, values_are_calculated)
NEST_TEST(6, deepest_trees_are_rules_of_a_model, rule_is_kept)

/* A hundred calls in each other are legal. */
static void a_hundred_calls_may_be_nested(void) {
    for (size_t i = 0; i < sizeof nests / sizeof nests[0]; i++) {
        if (strcmp(nests[i].before, "abs(") != 0) continue;
        quire_predicate *predicate = read_nest(&nests[i], 100);
        CHECK(predicate != NULL);
        quire_predicate_release(predicate);
    }
}

/* Trees that are put together from others without any text, and with the first or the second part the deep one. */
static void compose(const char *format, bool is_left, bool is_expression) {
    quire_predicate *whole = NULL, *leaf = NULL;
    quire_expression *value = NULL, *number = NULL;
    CHECK_OK(quire_predicate_parse("number == 1", QUIRE_NUL, NULL, 0, &leaf, &error));
    CHECK_OK(quire_expression_parse("number", QUIRE_NUL, NULL, 0, &number, &error));
    whole = quire_predicate_retain(leaf);
    value = quire_expression_retain(number);
    quire_status status = QUIRE_OK;
    int depth = 0;
    while (status == QUIRE_OK && depth < 5000) {
        const quire_value deep = is_expression ? quire_value_expression(value) : quire_value_predicate(whole);
        const quire_value flat = is_expression ? quire_value_expression(number) : quire_value_predicate(leaf);
        const quire_value arguments[] = {is_left ? deep : flat, is_left ? flat : deep};
        quire_predicate *next = NULL;
        quire_expression *next_value = NULL;
        status = is_expression ? quire_expression_parse(format, QUIRE_NUL, arguments, 2, &next_value, &error)
                               : quire_predicate_parse(format, QUIRE_NUL, arguments, 2, &next, &error);
        if (status != QUIRE_OK) break;
        quire_predicate_release(is_expression ? NULL : whole);
        quire_expression_release(is_expression ? value : NULL);
        if (is_expression) value = next_value;
        else whole = next;
        depth++;
    }
    CHECK(status == QUIRE_INVALID_PREDICATE && depth > 20);
    quire_error_release(error);
    error = NULL;
    quire_predicate_release(whole);
    quire_predicate_release(leaf);
    quire_expression_release(value);
    quire_expression_release(number);
}

static void compose_all(void) {
    compose("%@ AND NOT %@", false, false);
    compose("%@ OR %@", true, false);
    compose("TERNARY(%@, 1, 2) == 1 AND %@", true, false);
    compose("%@ + %@", true, true);
    compose("%@ + %@", false, true);
    compose("SUBQUERY({%@}, $x, $x == %@).@count", false, true);
}

static void composed_trees_end_where_texts_do(void) { run_with_stack(STACK, compose_all); }

/* Conditions that are added to a request one after the other are one chain. */
static void add_many(void) {
    open_nodes();
    quire_fetch_request *request = new_request("Node", "number == 1", NULL);
    quire_predicate *more = NULL;
    CHECK_OK(quire_predicate_parse("number != 7 OR title == 'b'", QUIRE_NUL, NULL, 0, &more, &error));
    for (int i = 0; i < 3000; i++) CHECK_OK(quire_fetch_request_add_predicate(request, more, &error));
    int64_t number = 0;
    CHECK_OK(quire_context_count(context, request, &number, &error));
    CHECK(number == 3);
    quire_predicate_release(more);
    shape = &nests[13];
    each_nest_is_read();
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_fetch_request_add_predicate(request, deepest, &error));
    CHECK_OK(quire_context_count(context, request, &number, &error));
    CHECK(number == 3);
    release_nest();
    quire_fetch_request_release(request);
}

static void thousands_of_conditions_may_be_added(void) { run_with_stack(STACK, add_many); }

/* What a predicate is asked about may be 64 levels deep. */
static void ask_about_nested_values(void) {
    enum { LEVELS = 64 };
    quire_value lists[LEVELS + 1], dictionaries[LEVELS + 1];
    quire_entry entries[LEVELS + 1];
    lists[0] = dictionaries[0] = quire_value_integer(7);
    for (int i = 1; i <= LEVELS; i++) {
        lists[i] = quire_value_list(&lists[i - 1], 1);
        entries[i] = (quire_entry){quire_value_text("a"), dictionaries[i - 1]};
        dictionaries[i] = quire_value_dictionary(&entries[i], 1);
    }
    const char *const formats[] = {"ANY SELF == 7", "SELF == $other", "SELF.a.a.a == $other", "{SELF} CONTAINS $other",
        "SELF.@distinctUnionOfObjects.self == $other", "(SELF UNION $other).@count == 1"};
    for (size_t i = 0; i < 2 * sizeof formats / sizeof formats[0]; i++) {
        const quire_value subject = i % 2 ? lists[LEVELS] : dictionaries[LEVELS];
        const quire_entry other = {quire_value_text("other"), subject};
        quire_predicate *predicate = NULL;
        bool answer = false;
        CHECK_OK(quire_predicate_parse(formats[i / 2], QUIRE_NUL, NULL, 0, &predicate, &error));
        expect_answer(quire_predicate_evaluate(predicate, &subject, &other, 1, &answer, &error));
        quire_predicate_release(predicate);
    }
    quire_expression *expression = NULL;
    quire_evaluation *evaluation = NULL;
    CHECK_OK(quire_expression_parse("SELF", QUIRE_NUL, NULL, 0, &expression, &error));
    CHECK_OK(quire_expression_evaluate(expression, &dictionaries[LEVELS], NULL, 0, &evaluation, &error));
    quire_evaluation_release(evaluation);
    quire_expression_release(expression);
}

static void nested_values_are_asked_about(void) { run_with_stack(STACK, ask_about_nested_values); }

/* A regular expression or a wildcard pattern is nested as deep as it likes; it is answered, or refused. */
static void match_patterns(void) {
    open_nodes();
    static const nest patterns[] = {{"(", "a", ")", "", false}, {"(?:", "a", ")*", "", false}, {"[", "a", "]", "", false},
        {"a|(", "a", ")", "", false}, {"(?=", "a", ")", "", false}, {"a*", "", "", "", false}, {"*?", "", "", "", false}};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        const int depths[] = {10, 100, 1000, 10000};
        for (size_t k = 0; k < sizeof depths / sizeof depths[0]; k++) {
            char *text = written(&patterns[i], depths[k]);
            const quire_value pattern = quire_value_text(text);
            const char *const formats[] = {"title MATCHES %@", "title LIKE %@", "title MATCHES[cd] %@"};
            for (size_t j = 0; j < sizeof formats / sizeof formats[0]; j++) {
                CHECK_OK(quire_predicate_parse(formats[j], QUIRE_NUL, &pattern, 1, &deepest, &error));
                objects_and_values_are_asked();
                store_is_asked();
                quire_predicate_release(deepest);
            }
            free(text);
        }
    }
}

static void patterns_are_matched(void) { run_with_stack(STACK, match_patterns); }

/* `count` times `part`, between `first` and `last`. */
static char *repeated(const char *first, const char *part, int count, const char *last) {
    const nest kind = {part, last, "", "", FAST};
    char *tail = written(&kind, count), *text = NULL;
    CHECK(asprintf(&text, "%s%s", first, tail) > 0);
    free(tail);
    return text;
}

/* What is long without being nested takes no more stack than what is short. */
static void ask_long_texts(void) {
    open_nodes();
    char *format = repeated("number IN {", "7, ", 40000, "%d}");
    CHECK_OK(quire_predicate_format(&deepest, &error, format, 1));
    free(format);
    bool answer = false;
    CHECK_OK(quire_predicate_matches(deepest, node, &answer, &error));
    CHECK(answer);
    store_is_asked();
    quire_predicate_release(deepest);

    char *title = repeated("", "ab", 50000, "c");
    set_text(node, "title", title);
    free(title);
    const char *const patterns[] = {"title LIKE 'a*c'", "title LIKE[cd] '*b*C'", "title LIKE '*a?a*b?'"};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        CHECK_OK(quire_predicate_parse(patterns[i], QUIRE_NUL, NULL, 0, &deepest, &error));
        CHECK_OK(quire_predicate_matches(deepest, node, &answer, &error));
        CHECK(answer);
        quire_predicate_release(deepest);
    }
    save(context);
    quire_fetch_request *request = new_request("Node", "title LIKE 'a*b*c'", NULL);
    int64_t number = 0;
    CHECK_OK(quire_context_count(context, request, &number, &error));
    CHECK(number == 1);
    quire_fetch_request_release(request);
}

static void long_texts_are_asked(void) { run_with_stack(STACK, ask_long_texts); }

/* Objects that go one with another, in a chain: those of a file that are not read yet, and those that were never saved. */
static void delete_chains(void) {
    enum { LENGTH = 3000 };
    quire_model *model = quire_model_create();
    quire_store *store = NULL;
    add_entity_of_nodes(model);
    add_relationship(model, "Node", "next", "Node", "previous", false, false, QUIRE_DELETE_CASCADE);
    add_relationship(model, "Node", "previous", "Node", "next", false, false, QUIRE_DELETE_NULLIFY);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    CHECK_OK(quire_context_create(store, &context, &error));
    for (int is_saved = 0; is_saved < 2; is_saved++) {
        quire_object *first = insert(context, "Node"), *last = quire_object_retain(first);
        for (int i = 1; i < LENGTH; i++) {
            quire_object *next = insert(context, "Node");
            set_value(next, "previous", quire_value_object(last));
            quire_object_release(last);
            last = next;
        }
        quire_object_release(last);
        if (is_saved) {
            save(context);
            CHECK_OK(quire_context_reset(context, &error));
            quire_object_release(first);
            quire_fetch_request *request = new_request("Node", "previous == nil", NULL);
            quire_list *list = NULL;
            CHECK_OK(quire_context_fetch(context, request, &list, &error));
            CHECK(quire_list_count(list) == 1);
            CHECK_OK(quire_list_object(list, 0, &first, &error));
            quire_list_release(list);
            quire_fetch_request_release(request);
        }
        CHECK_OK(quire_context_delete(context, first, &error));
        CHECK_OK(quire_context_process(context, &error));
        save(context);
        quire_object_release(first);
        quire_fetch_request *request = new_request("Node", NULL, NULL);
        int64_t number = -1;
        CHECK_OK(quire_context_count(context, request, &number, &error));
        CHECK(number == 0);
        quire_fetch_request_release(request);
    }
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
}

static void chains_are_deleted(void) { run_with_stack(STACK, delete_chains); }

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_hundred_calls_may_be_nested);
    RUN(deepest_trees_are_printed_read_compared_and_copied);
    RUN(deepest_trees_are_asked_about_objects_and_values);
    RUN(deepest_trees_are_fetched_by);
    RUN(deepest_trees_are_explained);
    RUN(lists_follow_the_deepest_trees);
    RUN(values_of_deepest_trees_are_calculated);
    RUN(deepest_trees_are_rules_of_a_model);
    RUN(composed_trees_end_where_texts_do);
    RUN(thousands_of_conditions_may_be_added);
    RUN(nested_values_are_asked_about);
    RUN(patterns_are_matched);
    RUN(long_texts_are_asked);
    RUN(chains_are_deleted);
    return RESULT();
}
