#include "recorder.h"

/* One value as text. */
static const char *written(quire_value value) {
    static char texts[8][64];
    static int next;
    char *text = texts[next++ % 8];
    switch (value.kind) {
    case QUIRE_VALUE_NIL: snprintf(text, 64, "nil"); break;
    case QUIRE_VALUE_INTEGER: snprintf(text, 64, "%lld", (long long)value.as.integer); break;
    case QUIRE_VALUE_DOUBLE: snprintf(text, 64, "%.17g", value.as.real); break;
    case QUIRE_VALUE_TEXT: CHECK(value.as.text[value.size] == 0); snprintf(text, 64, "'%s'", value.as.text); break;
    case QUIRE_VALUE_DECIMAL: CHECK(value.as.text[value.size] == 0); snprintf(text, 64, "d%s", value.as.text); break;
    default: snprintf(text, 64, "kind %u", value.kind);
    }
    return text;
}

static const char *aggregate(quire_results *results, int64_t section, const char *name) {
    quire_value value;
    CHECK_OK(quire_results_aggregate(results, section, name, QUIRE_NUL, &value, &error));
    return written(value);
}

#define CHECK_AGGREGATE(results, section, name, expected) CHECK(strcmp(aggregate(results, section, name), expected) == 0)

static void aggregates_changed(void *data, quire_results *results, const quire_aggregate_change_array *changes) {
    (void)data;
    CHECK(changes->count > 0);
    for (int64_t i = 0; i < changes->count; i++) {
        const quire_aggregate_change *change = quire_aggregate_change_at(*changes, i);
        tell(" %lld:%s=%s", (long long)change->section, change->name.data, written(change->value));
        CHECK_AGGREGATE(results, change->section, change->name.data, written(change->value));
    }
}

static quire_status add(quire_results *results, const char *name, const char *format) {
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse(format, QUIRE_NUL, NULL, 0, &expression, &error));
    const quire_status status = quire_results_add_aggregate(results, name, QUIRE_NUL, expression, &error);
    quire_expression_release(expression);
    return status;
}

/* Of a library's entity, with nothing added and nothing fetched. */
static quire_results *unfetched(quire_context *context, const char *entity, const char *section, uint64_t limit) {
    quire_fetch_request *request = new_request(entity, NULL, strcmp(entity, "Book") == 0 ? "title" : NULL);
    CHECK_OK(quire_fetch_request_set_limit(request, limit, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = section;
    options.queues_changes = true;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    quire_fetch_request_release(request);
    quire_results_delegate delegate = recorder();
    delegate.did_change_aggregates = aggregates_changed;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    return results;
}

static void aggregates_follow_the_rows_of_each_section(void) {
    fixture made = open_fixture();
    quire_object *books[4];
    const char *const titles[] = {"a", "b", "c", "d"}, *const isbns[] = {"1", "1x", "2", "3"};
    for (int i = 0; i < 4; i++) {
        books[i] = insert_book(made.context, titles[i], 100 * (i + 1));
        set_text(books[i], "isbn", isbns[i]);
    }
    save(made.context);
    quire_results *results = unfetched(made.context, "Book", NULL, QUIRE_NO_LIMIT);
    CHECK_OK(add(results, "pages", "sum:(pages)"));
    CHECK_OK(add(results, "each", "average:(pages)"));
    CHECK_OK(add(results, "first", "min:(title)"));
    quire_value value;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_aggregate(results, -1, "pages", QUIRE_NUL, &value, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK_AGGREGATE(results, -1, "pages", "1000");
    CHECK_AGGREGATE(results, 0, "each", "250");
    CHECK_AGGREGATE(results, 0, "first", "'a'");

    set_value(books[0], "pages", quire_value_nil());
    process(made.context);
    CHECK_TOLD("{was 4 ~0.0/0.0 -1:pages=900 -1:each=300 0:pages=900 0:each=300 is 4}");
    CHECK_OK(quire_context_delete(made.context, books[0], &error));
    process(made.context);
    CHECK_TOLD("{was 4 -0.0 -1:first='b' 0:first='b' is 3}");

    /* Sections of another request, in which the aggregates stay. Those that come tell all of theirs. */
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_results_set_request(results, request, "isbn", QUIRE_NUL, &error));
    quire_fetch_request_release(request);
    CHECK_TOLD("{was 3 -s0: +s0:1x +s1:2 +s2:3 >0.0/0.0 >0.1/1.0 >0.2/2.0 0:pages=200 0:each=200 0:first='b'"
        " 1:pages=300 1:each=300 1:first='c' 2:pages=400 2:each=400 2:first='d' is 3}");
    set_text(books[1], "isbn", "2");
    process(made.context);
    CHECK_TOLD("{was 3 -s0:1x >0.0/0.0 0:pages=500 0:each=250 0:first='b' is 3}");

    quire_changes *changes = NULL, *last = NULL;
    while (quire_results_next_changes(results, &changes, &error) == QUIRE_OK && changes) {
        quire_changes_release(last);
        last = changes;
    }
    const quire_aggregate_change_array told_last = quire_changes_aggregates(last);
    const quire_aggregate_change *third = quire_aggregate_change_at(told_last, 2);
    CHECK(told_last.count == 3 && third->section == 0 && strcmp(third->name.data, "first") == 0);
    CHECK(strcmp(written(quire_aggregate_change_at(told_last, 1)->value), "250") == 0);
    CHECK(quire_changes_aggregates(NULL).first == NULL && quire_changes_aggregates(NULL).count == 0);
    quire_changes_release(last);
    for (int i = 0; i < 4; i++) quire_object_release(books[i]);
    quire_results_release(results);
    close_fixture(made);
}

static void a_window_has_aggregates_of_what_it_shows(void) {
    fixture made = open_fixture();
    quire_object *books[4];
    const char *const titles[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) books[i] = insert_book(made.context, titles[i], 1 << i);
    save(made.context);
    quire_results *results = unfetched(made.context, "Book", NULL, 2);
    CHECK_OK(add(results, "pages", "sum:(pages)"));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK_AGGREGATE(results, -1, "pages", "3");
    CHECK_OK(quire_results_suspend(results, &error));
    CHECK_OK(quire_context_delete(made.context, books[0], &error));
    set_value(books[2], "pages", quire_value_integer(40));
    process(made.context);
    CHECK_AGGREGATE(results, -1, "pages", "3");
    CHECK_OK(quire_results_resume(results, true, &error));
    CHECK_TOLD("{was 2 -0.0 +0.1 -1:pages=42 0:pages=42 is 2}");
    for (int i = 0; i < 4; i++) quire_object_release(books[i]);
    quire_results_release(results);
    close_fixture(made);
}

static void related_objects_reach_aggregates_alone(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *other = insert(made.context, "Author");
    set_text(author, "name", "Ann");
    set_text(other, "name", "Bob");
    for (int i = 0; i < 2; i++) {
        quire_object *book = insert_book(made.context, i ? "b" : "a", 10);
        quire_value value = quire_value_object(i ? other : author);
        CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &value, &error));
        quire_object_release(book);
    }
    save(made.context);
    quire_results *results = unfetched(made.context, "Book", NULL, QUIRE_NO_LIMIT);
    CHECK_OK(add(results, "last", "max:(author.name)"));
    CHECK_OK(add(results, "books", "sum:(author.books.@count)"));
    CHECK_OK(quire_results_fetch(results, &error));
    const uint64_t generation = *quire_results_generation(results);
    set_text(author, "name", "Adam");
    process(made.context);
    CHECK_TOLD("");
    CHECK(*quire_results_generation(results) == generation);
    set_text(author, "name", "Zoe");
    process(made.context);
    CHECK_TOLD("{was 2 -1:last='Zoe' 0:last='Zoe' is 2}");
    CHECK(*quire_results_generation(results) > generation);
    quire_object_release(author);
    quire_object_release(other);
    quire_results_release(results);
    close_fixture(made);
}

static void numbers_of_each_type_have_their_sums(void) {
    fixture made = open_fixture();
    quire_results *results = unfetched(made.context, "Everything", NULL, QUIRE_NO_LIMIT);
    CHECK_OK(add(results, "large", "sum:(large)"));
    CHECK_OK(add(results, "real", "sum:(real)"));
    CHECK_OK(add(results, "decimal", "sum:(decimal)"));
    CHECK_OK(add(results, "flags", "sum:(flag)"));
    CHECK_OK(add(results, "texts", "count:(text)"));
    CHECK_OK(add(results, "latest", "max:(moment)"));
    CHECK_OK(add(results, "weighted", "sum:(real * medium) / sum:(medium)"));
    CHECK_OK(quire_results_fetch(results, &error));
    /* Of no rows. */
    CHECK_AGGREGATE(results, -1, "large", "0");
    CHECK_AGGREGATE(results, -1, "decimal", "0");
    CHECK_AGGREGATE(results, -1, "texts", "0");
    CHECK_AGGREGATE(results, -1, "latest", "nil");
    CHECK_AGGREGATE(results, -1, "weighted", "nil");
    quire_object *rows[3];
    const double reals[] = {1e16, 1, 1};
    const char *const decimals[] = {"0.1", "0.2", "-12.50"};
    for (int i = 0; i < 3; i++) {
        rows[i] = insert(made.context, "Everything");
        set_value(rows[i], "large", quire_value_integer(INT64_MAX));
        set_value(rows[i], "real", quire_value_double(reals[i]));
        set_value(rows[i], "medium", quire_value_integer(i));
        quire_value decimal = quire_value_text(decimals[i]);
        decimal.kind = QUIRE_VALUE_DECIMAL;
        set_value(rows[i], "decimal", decimal);
        set_value(rows[i], "flag", quire_value_boolean(i > 0));
        set_value(rows[i], "moment", quire_value_date(i));
    }
    process(made.context);
    CHECK_AGGREGATE(results, -1, "large", "2.7670116110564327e+19");
    CHECK_AGGREGATE(results, -1, "real", "10000000000000002");
    CHECK_AGGREGATE(results, 0, "decimal", "d-12.2");
    CHECK_AGGREGATE(results, -1, "flags", "2");
    CHECK_AGGREGATE(results, -1, "texts", "0");
    CHECK_AGGREGATE(results, -1, "weighted", "1");
    quire_value value;
    CHECK_OK(quire_results_aggregate(results, -1, "latest", QUIRE_NUL, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_DATE && value.as.real == 2);
    for (int i = 0; i < 2; i++) CHECK_OK(quire_context_delete(made.context, rows[i], &error));
    save(made.context);
    CHECK_AGGREGATE(results, -1, "large", "9223372036854775807");
    CHECK_AGGREGATE(results, -1, "real", "1");
    CHECK_AGGREGATE(results, -1, "decimal", "d-12.5");
    for (int i = 0; i < 3; i++) quire_object_release(rows[i]);
    quire_results_release(results);
    close_fixture(made);
}

static void what_is_no_aggregate_is_refused(void) {
    fixture made = open_fixture();
    quire_results *results = unfetched(made.context, "Book", NULL, QUIRE_NO_LIMIT);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add(results, "x", "pages"));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add(results, "x", "sum:(nothing)"));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add(results, "x", "sum:(tags)"));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, add(results, "x", "sum:(title)"));
    CHECK_FAILS(QUIRE_INVALID_PREDICATE, add(results, "x", "max:(author)"));
    CHECK_FAILS(QUIRE_UNSUPPORTED, add(results, "x", "median:(pages)"));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add(results, "", "sum:(pages)"));
    CHECK_OK(add(results, "x", "sum:(pages)"));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, add(results, "x", "sum:(pages)"));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, add(results, "y", "sum:(pages)"));
    quire_value value;
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_aggregate(results, -1, "y", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_aggregate(results, 1, "x", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_aggregate(results, -2, "x", QUIRE_NUL, &value, &error));
    quire_results_release(results);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(aggregates_follow_the_rows_of_each_section);
    RUN(a_window_has_aggregates_of_what_it_shows);
    RUN(related_objects_reach_aggregates_alone);
    RUN(numbers_of_each_type_have_their_sums);
    RUN(what_is_no_aggregate_is_refused);
    return RESULT();
}
