/* Finding one object by a value, and reading one value in a call. */
#include "fixture.h"

static quire_object *find(quire_context *context, const char *entity, const char *key, quire_value value) {
    quire_object *found = NULL;
    const quire_status status = quire_context_find(context, entity, QUIRE_NUL, key, QUIRE_NUL, &value, &found, &error);
    if (status == QUIRE_NOT_FOUND) {
        CHECK(!found);
        quire_error_release(error);
        error = NULL;
        return NULL;
    }
    CHECK_OK(status);
    CHECK(found != NULL);
    return found;
}

/* What a fetch gives first, the slow way to the same. */
static int64_t first_id(quire_context *context, const char *entity, const char *key, quire_value value) {
    char format[64];
    snprintf(format, sizeof format, "%s == %%@", key);
    quire_predicate *predicate = NULL;
    CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, &value, 1, &predicate, &error));
    quire_fetch_request *request = new_request(entity, NULL, NULL);
    CHECK_OK(quire_fetch_request_set_predicate(request, predicate, &error));
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    int64_t id = 0;
    if (quire_list_count(list)) {
        quire_object *object = NULL;
        CHECK_OK(quire_list_object(list, 0, &object, &error));
        id = quire_object_id(object);
        quire_object_release(object);
    }
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_predicate_release(predicate);
    return id;
}

static void check_found(quire_context *context, const char *entity, const char *key, quire_value value) {
    quire_object *found = find(context, entity, key, value);
    CHECK((found ? quire_object_id(found) : 0) == first_id(context, entity, key, value));
    quire_object_release(found);
}

static void found_is_what_a_fetch_gives_first(void) {
    const unsigned seed = getenv("QUIRE_FRESH_SEEDS") ? (unsigned)getpid() : 7;
    printf("    seed %u\n", seed);
    srand(seed);
    fixture made = open_fixture();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    for (int step = 0; step < 1500; step++) {
        char title[16];
        snprintf(title, sizeof title, "title %d", rand() % 40);
        quire_object *known = find(made.context, "Book", "title", quire_value_text(title));
        switch (rand() % 7) {
            case 0: case 1: case 2: {
                quire_object *book = insert(made.context, rand() % 3 ? "Book" : "Novel");
                set_text(book, "title", title);
                set_value(book, "pages", quire_value_integer(rand() % 9));
                quire_object_release(book);
                break;
            }
            case 3:
                if (known) set_text(known, "title", "another");
                break;
            case 4:
                if (known) set_value(known, "pages", rand() % 2 ? quire_value_nil() : quire_value_integer(rand() % 9));
                break;
            case 5:
                if (known) CHECK_OK(quire_context_delete(made.context, known, &error));
                break;
            default:
                if (rand() % 20 == 0) save(made.context);
                else if (rand() % 40 == 0) CHECK_OK(quire_context_rollback(made.context, &error));
        }
        quire_object_release(known);
        check_found(made.context, "Book", "title", quire_value_text(title));
        check_found(made.context, "Novel", "title", quire_value_text(title));
        check_found(made.context, "Book", "pages", quire_value_integer(rand() % 9));
        if (step % 50 == 0) check_found(child, "Book", "title", quire_value_text(title));
        if (step % 10 == 0) check_found(made.context, "Book", "pages", quire_value_nil());
    }
    quire_context_release(child);
    close_fixture(made);
}

static quire_object *find_or_insert(quire_context *context, const char *isbn, bool *is_inserted) {
    const quire_value value = quire_value_text(isbn);
    quire_object *found = NULL;
    CHECK_OK(quire_context_find_or_insert(
        context, "Book", QUIRE_NUL, "isbn", QUIRE_NUL, &value, &found, is_inserted, &error));
    return found;
}

static void what_is_not_found_is_inserted_once(void) {
    fixture made = open_fixture();
    bool is_inserted = false;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            char isbn[16];
            snprintf(isbn, sizeof isbn, "%d", i);
            quire_object *book = find_or_insert(made.context, isbn, &is_inserted);
            CHECK(is_inserted == (round == 0));
            CHECK(strcmp(get_text(book, "isbn"), isbn) == 0);
            if (is_inserted) set_text(book, "title", isbn);
            quire_object_release(book);
        }
        CHECK(count(made.context, "Book", NULL) == 100);
        if (round == 1) save(made.context);
    }
    quire_object_release(find_or_insert(made.context, "0", NULL));
    close_fixture(made);
}

static void objects_are_found_by_what_they_refer_to(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Faust", 300);
    quire_value value = quire_value_object(author);
    CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &value, &error));
    quire_object *found = find(made.context, "Book", "author", value);
    CHECK(found == book);
    quire_object_release(found);
    found = find(made.context, "Book", "author", quire_value_nil());
    CHECK(!found);
    quire_object *stranger = insert(made.context, "Tag");
    value = quire_value_object(stranger);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_find(
        made.context, "Book", QUIRE_NUL, "author", QUIRE_NUL, &value, &found, &error));
    quire_object_release(stranger);
    quire_object_release(author);
    quire_object_release(book);
    close_fixture(made);
}

static void what_cannot_be_looked_for_is_refused_and_nothing_inserted(void) {
    fixture made = open_fixture();
    quire_object *found = NULL;
    const struct { const char *entity, *key; quire_value value; } wrong[] = {
        {"Book", "none", quire_value_nil()}, {"Nothing", "title", quire_value_nil()}, {"Author", "books", quire_value_nil()},
        {"Book", "title", quire_value_integer(1)}, {"Book", "pages", quire_value_integer(INT64_MAX)},
        {"Book", "author", quire_value_text("Goethe")}, {"Thing", "title", quire_value_nil()}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_find_or_insert(
            made.context, wrong[i].entity, QUIRE_NUL, wrong[i].key, QUIRE_NUL, &wrong[i].value, &found, NULL, &error));
        CHECK(!found);
    }
    CHECK(!quire_context_has_changes(made.context));
    close_fixture(made);
}

static void values_are_read_as_one_type_each(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    quire_string text;
    int64_t integer = -1;
    double number = -1;
    bool is_nil = false;
    CHECK_OK(quire_object_get_text(object, "text", QUIRE_NUL, &text, &error));
    CHECK(!text.data && !text.size);
    CHECK_OK(quire_object_get_integer(object, "large", QUIRE_NUL, &integer, &is_nil, &error));
    CHECK(integer == 0 && is_nil);
    CHECK_OK(quire_object_get_number(object, "real", QUIRE_NUL, &number, &is_nil, &error));
    CHECK(number == 0 && is_nil);
    CHECK_OK(quire_object_get_date(object, "moment", QUIRE_NUL, &number, NULL, &error));

    set_text(object, "text", "Stra\xc3\x9f" "e");
    set_value(object, "large", quire_value_integer(INT64_MIN));
    set_value(object, "flag", quire_value_boolean(true));
    set_value(object, "real", quire_value_double(0.1));
    set_value(object, "narrow", quire_value_double(0.5));
    set_value(object, "decimal", quire_value_decimal("-12.50"));
    set_value(object, "moment", quire_value_date(1700000000.25));
    set_value(object, "link", quire_value_uri("https://example.org/"));
    CHECK_OK(quire_object_get_text(object, "text", QUIRE_NUL, &text, &error));
    CHECK_TEXT(text, "Stra\xc3\x9f" "e");
    CHECK_OK(quire_object_get_text(object, "link", QUIRE_NUL, &text, &error));
    CHECK_TEXT(text, "https://example.org/");
    CHECK_OK(quire_object_get_text(object, "decimal", QUIRE_NUL, &text, &error));
    CHECK_TEXT(text, get_value(object, "decimal").as.text);
    CHECK_OK(quire_object_get_integer(object, "large", QUIRE_NUL, &integer, &is_nil, &error));
    CHECK(integer == INT64_MIN && !is_nil);
    CHECK_OK(quire_object_get_integer(object, "flag", QUIRE_NUL, &integer, NULL, &error));
    CHECK(integer == 1);
    const struct { const char *key; double number; } numbers[] = {
        {"real", 0.1}, {"narrow", 0.5}, {"decimal", -12.5}, {"flag", 1}, {"large", -9223372036854775808.0}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        CHECK_OK(quire_object_get_number(object, numbers[i].key, QUIRE_NUL, &number, &is_nil, &error));
        CHECK(number == numbers[i].number && !is_nil);
    }
    CHECK_OK(quire_object_get_date(object, "moment", QUIRE_NUL, &number, &is_nil, &error));
    CHECK(number == get_value(object, "moment").as.real && !is_nil);

    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_text(object, "real", QUIRE_NUL, &text, &error));
    CHECK(!text.data);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_integer(object, "real", QUIRE_NUL, &integer, &is_nil, &error));
    CHECK(integer == 0 && !is_nil);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_number(object, "moment", QUIRE_NUL, &number, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_date(object, "large", QUIRE_NUL, &number, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_text(object, "none", QUIRE_NUL, &text, &error));
    quire_object_release(object);
    close_fixture(made);
}

/* Fails, and names the call to use instead. */
#define CHECK_ADVISED(advice, call) \
    do { \
        CHECK((call) == QUIRE_INVALID_ARGUMENT && strstr(quire_error_message(error).data, "Read it with " advice ".")); \
        quire_error_release(error); \
        error = NULL; \
    } while (0)

static void what_is_read_as_another_type_is_told_with_the_call_that_reads_it(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *author = insert(made.context, "Author");
    const quire_value written_by = quire_value_object(author);
    CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &written_by, &error));
    quire_string text;
    int64_t integer;
    double number;
    CHECK_ADVISED("quire_object_get", quire_object_get_text(book, "pages", QUIRE_NUL, &text, &error));
    CHECK_ADVISED("quire_object_get_object", quire_object_get_text(book, "author", QUIRE_NUL, &text, &error));
    CHECK_ADVISED("quire_object_get_object", quire_object_get_integer(book, "author", QUIRE_NUL, &integer, NULL, &error));
    CHECK_ADVISED("quire_object_get_objects", quire_object_get_text(book, "tags", QUIRE_NUL, &text, &error));
    CHECK_ADVISED("quire_object_get_objects", quire_object_get_number(author, "books", QUIRE_NUL, &number, NULL, &error));
    CHECK_ADVISED("quire_object_get_objects", quire_object_get_date(author, "books", QUIRE_NUL, &number, NULL, &error));

    quire_object *found = NULL;
    CHECK_OK(quire_object_get_object(book, "author", QUIRE_NUL, &found, &error));
    CHECK(found == author);
    quire_object_release(found);
    quire_list *books = NULL;
    CHECK_OK(quire_object_get_objects(author, "books", QUIRE_NUL, &books, &error));
    CHECK(quire_list_count(books) == 1);
    quire_list_release(books);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

/* The message names the parameter of the function that was called. */
#define CHECK_NULL_NAMED(name, call) \
    do { \
        CHECK((call) == QUIRE_INVALID_ARGUMENT && strstr(quire_error_message(error).data, "'" name "'")); \
        quire_error_release(error); \
        error = NULL; \
    } while (0)

static void missing_results_are_named_as_the_header_does(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    CHECK_NULL_NAMED("out_value", quire_object_get(object, "text", QUIRE_NUL, NULL, &error));
    CHECK_NULL_NAMED("out_text", quire_object_get_text(object, "text", QUIRE_NUL, NULL, &error));
    CHECK_NULL_NAMED("out_integer", quire_object_get_integer(object, "large", QUIRE_NUL, NULL, NULL, &error));
    CHECK_NULL_NAMED("out_number", quire_object_get_number(object, "real", QUIRE_NUL, NULL, NULL, &error));
    CHECK_NULL_NAMED("out_seconds", quire_object_get_date(object, "moment", QUIRE_NUL, NULL, NULL, &error));
    quire_object_release(object);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(found_is_what_a_fetch_gives_first);
    RUN(what_is_not_found_is_inserted_once);
    RUN(objects_are_found_by_what_they_refer_to);
    RUN(what_cannot_be_looked_for_is_refused_and_nothing_inserted);
    RUN(values_are_read_as_one_type_each);
    RUN(what_is_read_as_another_type_is_told_with_the_call_that_reads_it);
    RUN(missing_results_are_named_as_the_header_does);
    return RESULT();
}
