/* Predicates and expressions on values that are in no store, and on objects among such values. */
#include "fixture.h"

static quire_expression *read_expression(const char *format, const quire_value *arguments, size_t count) {
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse(format, QUIRE_NUL, arguments, count, &expression, &error));
    return expression;
}

static quire_predicate *read_predicate(const char *format, const quire_value *arguments, size_t count) {
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, arguments, count, &predicate, &error));
    return predicate;
}

static bool holds(const char *format, quire_value subject) {
    quire_predicate *predicate = read_predicate(format, NULL, 0);
    bool result = false;
    CHECK_OK(quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    quire_predicate_release(predicate);
    return result;
}

static quire_entry entry(const char *key, quire_value value) {
    return (quire_entry){quire_value_text(key), value};
}

/* The caller releases it. */
static quire_evaluation *evaluate(const char *format, quire_value subject, quire_value *out_value) {
    quire_expression *expression = read_expression(format, NULL, 0);
    quire_evaluation *evaluation = NULL;
    CHECK_OK(quire_expression_evaluate(expression, &subject, NULL, 0, &evaluation, &error));
    quire_expression_release(expression);
    *out_value = *quire_evaluation_value(evaluation);
    return evaluation;
}

static void plain_values_lists_and_dictionaries_are_asked(void) {
    const quire_value numbers[] = {quire_value_integer(1), quire_value_integer(5), quire_value_nil()};
    const quire_entry inner[] = {entry("city", quire_value_text("Weimar")), entry("zip", quire_value_integer(99423))};
    const quire_entry outer[] = {
        entry("name", quire_value_text("Goethe")), entry("home", quire_value_dictionary(inner, 2)),
        entry("numbers", quire_value_list(numbers, 3))};
    const quire_value person = quire_value_dictionary(outer, 3);
    CHECK(holds("name == 'Goethe' AND home.city BEGINSWITH[c] 'WEI' AND home.zip > 99000", person));
    CHECK(holds("ANY numbers > 4 AND numbers.@count == 3 AND numbers.@sum == 6", person));
    CHECK(holds("missing == nil AND home.street == nil", person));
    CHECK(holds("SUBQUERY(numbers, $n, $n == nil).@count == 1", person));
    CHECK(holds("SELF > 3", quire_value_integer(4)));
    CHECK(holds("5 IN SELF", quire_value_list(numbers, 3)));
    CHECK(holds("SELF.@count == 0", quire_value_list(NULL, 0)));
    CHECK(holds("a == nil", quire_value_dictionary(NULL, 0)));
    CHECK(holds("SELF == nil", quire_value_nil()));
}

static void values_nest_deeply_but_not_endlessly(void) {
    quire_value nested[70];
    nested[0] = quire_value_integer(7);
    for (int depth = 1; depth < 70; depth++) nested[depth] = quire_value_list(&nested[depth - 1], 1);
    CHECK(holds("ANY SELF == 7", nested[64]));
    quire_predicate *predicate = read_predicate("ANY SELF == 7", NULL, 0);
    bool result = true;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &nested[65], NULL, 0, &result, &error));
    CHECK(!result);
    quire_value circle = quire_value_nil();
    circle = quire_value_list(&circle, 1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &circle, NULL, 0, &result, &error));
    quire_predicate_release(predicate);
}

static void malformed_values_are_refused(void) {
    quire_predicate *predicate = read_predicate("a == 1", NULL, 0);
    const quire_entry numbered = {quire_value_integer(1), quire_value_integer(1)};
    const quire_value text = quire_value_text_sized("\xFF", 1);
    const quire_entry torn = {text, quire_value_nil()};
    const quire_value expression = quire_value_predicate(predicate);
    bool result = true;
    quire_value subject = quire_value_dictionary(&numbered, 1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    subject = quire_value_dictionary(&torn, 1);
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    subject = quire_value_dictionary(NULL, 1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    subject = quire_value_list(&expression, 1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    subject = quire_value_integer(1);
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    quire_predicate *made = NULL;
    subject = quire_value_dictionary(NULL, 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_parse("a == %@", QUIRE_NUL, &subject, 1, &made, &error));
    quire_predicate_release(predicate);
}

static void variables_are_given_or_substituted(void) {
    quire_predicate *open = read_predicate("age > $least AND name == $who.name", NULL, 0), *closed = NULL;
    const quire_entry subject_entries[] = {entry("age", quire_value_integer(5)), entry("name", quire_value_text("Ada"))};
    const quire_value subject = quire_value_dictionary(subject_entries, 2);
    const quire_entry variables[] = {entry("least", quire_value_integer(4)), entry("who", subject)};
    bool result = false;
    CHECK_OK(quire_predicate_evaluate(open, &subject, variables, 2, &result, &error));
    CHECK(result);
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_evaluate(open, &subject, variables, 1, &result, &error));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_substitute(open, variables, 1, &closed, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_substitute(open, variables, 2, &closed, &error));
    quire_expression *self = read_expression("SELF", NULL, 0);
    const quire_entry trees[] = {entry("least", quire_value_integer(4)), entry("who", quire_value_expression(self))};
    CHECK_OK(quire_predicate_substitute(open, trees, 2, &closed, &error));
    CHECK_TEXT(quire_predicate_text(closed), "age > 4 AND name == SELF.name");
    CHECK_OK(quire_predicate_evaluate(closed, &subject, NULL, 0, &result, &error));
    CHECK(result);
    quire_predicate_release(closed);
    quire_predicate_release(open);
    quire_expression_release(self);
}

static void trees_are_arguments(void) {
    const quire_value two = quire_value_integer(2);
    quire_expression *sum = read_expression("price + %@", &two, 1), *path = read_expression("author.name", NULL, 0);
    const quire_value sides[] = {quire_value_expression(sum), quire_value_integer(9)};
    quire_predicate *less = read_predicate("%@ * 2 < %@", sides, 2);
    CHECK_TEXT(quire_predicate_text(less), "(price + 2) * 2 < 9");
    const quire_value keys[] = {quire_value_expression(path), quire_value_text("length")};
    quire_predicate *named = read_predicate("%K.%K > 3", keys, 2);
    CHECK_TEXT(quire_predicate_text(named), "author.name.length > 3");
    const quire_value parts[] = {quire_value_predicate(less), quire_value_predicate(named)};
    quire_predicate *both = read_predicate("%@ AND NOT %@", parts, 2);
    quire_predicate *written = read_predicate("(price + 2) * 2 < 9 AND NOT author.name.length > 3", NULL, 0);
    CHECK(quire_predicate_equal(both, written) && !quire_predicate_equal(both, less));
    quire_predicate *refused = NULL;
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_parse("%K == 1", QUIRE_NUL, sides, 1, &refused, &error));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_parse("%@", QUIRE_NUL, sides, 1, &refused, &error));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_predicate_parse("%@ == 1", QUIRE_NUL, parts, 1, &refused, &error));
    quire_expression *again = read_expression("%@", sides, 1);
    CHECK(quire_expression_equal(again, sum) && !quire_expression_equal(again, path));
    quire_expression_release(again);
    quire_expression_release(sum);
    quire_expression_release(path);
    quire_predicate_release(less);
    quire_predicate_release(named);
    quire_predicate_release(both);
    quire_predicate_release(written);
}

static void trees_of_trees_stay_as_low_as_text_makes_them(void) {
    quire_expression *tree = read_expression("a", NULL, 0);
    quire_status status = QUIRE_OK;
    int steps = 0;
    while (status == QUIRE_OK && steps < 100000) {
        const quire_value argument = quire_value_expression(tree);
        quire_expression *higher = NULL;
        status = quire_expression_parse("-%@", QUIRE_NUL, &argument, 1, &higher, NULL);
        if (status != QUIRE_OK) break;
        quire_expression_release(tree);
        tree = higher;
        steps++;
    }
    CHECK(status == QUIRE_INVALID_PREDICATE && steps > 50);
    const quire_string text = quire_expression_text(tree);
    quire_expression *again = read_expression(text.data, NULL, 0);
    CHECK(quire_expression_equal(again, tree));
    quire_expression_release(again);
    quire_expression_release(tree);
}

static void expressions_give_values_of_every_shape(void) {
    const quire_value numbers[] = {quire_value_integer(1), quire_value_decimal("2.50"), quire_value_text("x")};
    const quire_entry inner[] = {entry("b", quire_value_boolean(true)), entry("a", quire_value_list(numbers, 3))};
    const quire_entry outer[] = {entry("d", quire_value_dictionary(inner, 2)), entry("n", quire_value_integer(20))};
    const quire_value subject = quire_value_dictionary(outer, 2);
    quire_value value;
    quire_evaluation *evaluation = evaluate("n / 3 + 0.5", subject, &value);
    CHECK(value.kind == QUIRE_VALUE_DOUBLE && value.as.real == 6.5);
    quire_evaluation_release(evaluation);
    evaluation = evaluate("d", subject, &value);
    CHECK(value.kind == QUIRE_VALUE_DICTIONARY && value.size == 2);
    const quire_entry *entries = value.as.entries;
    CHECK(entries[0].key.size == 1 && entries[0].key.as.text[0] == 'a' && entries[1].value.as.boolean);
    const quire_value list = entries[0].value;
    CHECK(list.kind == QUIRE_VALUE_LIST && list.size == 3);
    CHECK(list.as.list[1].kind == QUIRE_VALUE_DECIMAL && memcmp(list.as.list[1].as.text, "2.5", 3) == 0);
    CHECK(list.as.list[2].kind == QUIRE_VALUE_TEXT && list.as.list[2].as.text[0] == 'x');
    CHECK(quire_evaluation_retain(evaluation) == evaluation);
    quire_evaluation_release(evaluation);
    quire_evaluation_release(evaluation);
    evaluation = evaluate("missing", subject, &value);
    CHECK(value.kind == QUIRE_VALUE_NIL);
    quire_evaluation_release(evaluation);
}

static void expression_substitutes_its_variables(void) {
    quire_expression *open = read_expression("$a + b", NULL, 0), *closed = NULL;
    const quire_entry three = entry("a", quire_value_integer(3));
    CHECK_OK(quire_expression_substitute(open, &three, 1, &closed, &error));
    CHECK_TEXT(quire_expression_text(closed), "3 + b");
    quire_expression_release(closed);
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, quire_expression_substitute(open, NULL, 0, &closed, &error));
    quire_expression_release(open);
}

static void objects_are_asked_inside_of_other_values(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *author = insert(made.context, "Author");
    set_text(author, "name", "Goethe");
    set_value(book, "author", quire_value_object(author));
    const quire_value books[] = {quire_value_object(book)};
    const quire_entry entries[] = {entry("books", quire_value_list(books, 1)), entry("writer", quire_value_object(author))};
    const quire_value shelf = quire_value_dictionary(entries, 2);
    CHECK(holds("ANY books.author.name == 'Goethe' AND books.@sum.pages == 300", shelf));
    CHECK(holds("SUBQUERY(books, $b, $b.author == writer).@count == 1", shelf));
    quire_value value;
    quire_evaluation *evaluation = evaluate("(books)[0].author", shelf, &value);
    CHECK(value.kind == QUIRE_VALUE_OBJECT && value.as.object == author);
    quire_evaluation_release(evaluation);
    quire_object_release(author);
    quire_object_release(book);
    close_fixture(made);
}

static void object_alone_is_checked_against_its_entity(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    const quire_value subject = quire_value_object(book);
    bool result = true;
    quire_predicate *predicate = read_predicate("author.nmae == 'x'", NULL, 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    quire_predicate_release(predicate);
    CHECK(holds("title == 'Faust'", subject));
    quire_object_release(book);
    close_fixture(made);
}

static void objects_of_two_contexts_and_of_closed_stores_are_refused(void) {
    fixture made = open_fixture(), other = open_fixture();
    quire_object *first = insert_book(made.context, "Faust", 300), *second = insert_book(other.context, "Egmont", 120);
    const quire_value both[] = {quire_value_object(first), quire_value_object(second)};
    quire_value subject = quire_value_list(both, 2);
    quire_predicate *predicate = read_predicate("ANY SELF.pages > 1", NULL, 0);
    bool result = true;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    subject.size = 1;
    CHECK_OK(quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_predicate_evaluate(predicate, &subject, NULL, 0, &result, &error));
    quire_predicate_release(predicate);
    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
    close_fixture(other);
}

static void evaluation_keeps_its_objects_and_their_changes(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    quire_value value;
    quire_evaluation *evaluation = evaluate("SELF", quire_value_object(book), &value);
    quire_object_release(book);
    close_fixture(made);
    CHECK(value.as.object == quire_evaluation_value(evaluation)->as.object && quire_object_is_inserted(value.as.object));
    quire_evaluation_release(evaluation);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(plain_values_lists_and_dictionaries_are_asked);
    RUN(values_nest_deeply_but_not_endlessly);
    RUN(malformed_values_are_refused);
    RUN(variables_are_given_or_substituted);
    RUN(trees_are_arguments);
    RUN(trees_of_trees_stay_as_low_as_text_makes_them);
    RUN(expressions_give_values_of_every_shape);
    RUN(expression_substitutes_its_variables);
    RUN(objects_are_asked_inside_of_other_values);
    RUN(object_alone_is_checked_against_its_entity);
    RUN(objects_of_two_contexts_and_of_closed_stores_are_refused);
    RUN(evaluation_keeps_its_objects_and_their_changes);
    return RESULT();
}
