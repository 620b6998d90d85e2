/* What errors tell of the offender beyond words: entity, key, id and row, whatever has failed. */
#include "store_files.h"

/* What the error of the last call tells; NULL stands for no text. */
typedef struct offender {
    const char *entity, *key;
    int64_t id, row;
    const char *words;
} offender;

static void check_name(quire_string name, const char *expected) {
    if (expected) CHECK_TEXT(name, expected);
    else CHECK(name.data == NULL && name.size == 0);
}

/* Takes the error. */
static void check_offender(quire_status expected, quire_status status, offender wanted) {
    CHECK(status == expected && error != NULL);
    check_name(quire_error_entity(error), wanted.entity);
    check_name(quire_error_key(error), wanted.key);
    CHECK(quire_error_object_id(error) == wanted.id);
    CHECK(quire_error_row(error) == wanted.row);
    if (wanted.words) CHECK(strstr(quire_error_message(error).data, wanted.words) != NULL);
    quire_error_release(error);
    error = NULL;
}

static quire_value decimal_value(const char *digits) {
    quire_value value = quire_value_text(digits);
    value.kind = QUIRE_VALUE_DECIMAL;
    return value;
}

static void setters_tell_entity_key_and_id(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *all = insert(made.context, "Everything");
    quire_object *novel = insert(made.context, "Novel");
    const int64_t id = quire_object_id(book);

    const quire_value text = quire_value_text("many"), wild = decimal_value("12,5"), broken = quire_value_text("\xff");
    const quire_value objects[] = {quire_value_object(book)};
    const quire_value author = quire_value_object(book), tags = quire_value_list(objects, 1);
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(book, "pages", QUIRE_NUL, &text, &error),
        (offender){"Book", "pages", id, -1, "'Book.pages'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(book, "subtitle", QUIRE_NUL, &text, &error),
        (offender){"Book", "subtitle", id, -1, "'subtitle'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(all, "decimal", QUIRE_NUL, &wild, &error),
        (offender){"Everything", "decimal", quire_object_id(all), -1, "'Everything.decimal' is not a decimal number: '12,5'"});
    check_offender(QUIRE_INVALID_TEXT, quire_object_set(book, "title", QUIRE_NUL, &broken, &error),
        (offender){"Book", "title", id, -1, "'Book.title'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(book, "author", QUIRE_NUL, &author, &error),
        (offender){"Book", "author", id, -1, "'Book.author'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(book, "tags", QUIRE_NUL, &tags, &error),
        (offender){"Book", "tags", id, -1, "'Book.tags'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_add(book, "tags", QUIRE_NUL, book, &error),
        (offender){"Book", "tags", id, -1, "'Book.tags'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_remove(book, "title", QUIRE_NUL, book, &error),
        (offender){"Book", "title", id, -1, "'Book.title'"});
    /* The entity of the object, not the one that declares the property. */
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set(novel, "pages", QUIRE_NUL, &text, &error),
        (offender){"Novel", "pages", quire_object_id(novel), -1, "'Book.pages'"});
    const char *const keys[] = {"title", "pages"};
    const quire_value values[] = {quire_value_text("Egmont"), text};
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_set_values(book, keys, values, 2, &error),
        (offender){"Book", "pages", id, -1, "'Book.pages'"});
    CHECK_TEXT(((quire_string){get_text(book, "title"), 5}), "Faust");
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_validate_value(book, "pages", QUIRE_NUL, &text, &error),
        (offender){"Book", "pages", id, -1, "'Book.pages'"});

    quire_object_release(novel);
    quire_object_release(all);
    quire_object_release(book);
    close_fixture(made);
}

static void getters_tell_entity_key_and_id(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    const int64_t id = quire_object_id(book);
    quire_value value;
    quire_object *other = NULL;
    quire_list *list = NULL;
    double seconds;
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get_date(book, "pages", QUIRE_NUL, &seconds, NULL, &error),
        (offender){"Book", "pages", id, -1, "'Book.pages'"});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get(book, "subtitle", QUIRE_NUL, &value, &error),
        (offender){"Book", "subtitle", id, -1, NULL});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get(book, "tags", QUIRE_NUL, &value, &error),
        (offender){"Book", "tags", id, -1, NULL});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get_object(book, "title", QUIRE_NUL, &other, &error),
        (offender){"Book", "title", id, -1, NULL});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get_objects(book, "author", QUIRE_NUL, &list, &error),
        (offender){"Book", "author", id, -1, NULL});
    const quire_value title = quire_value_text("Egmont");
    check_offender(QUIRE_NOT_FOUND, quire_context_find(made.context, "Book", QUIRE_NUL, "title", QUIRE_NUL, &title, &other, &error),
        (offender){"Book", "title", 0, -1, "There is no Book whose 'title' is 'Egmont'."});
    check_offender(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, 77, &other, &error),
        (offender){"Book", NULL, 77, -1, NULL});
    save(made.context);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    check_offender(QUIRE_INVALID_STATE, quire_object_set(book, "pages", QUIRE_NUL, &value, &error),
        (offender){"Book", "pages", id, -1, NULL});
    quire_object_release(book);
    close_fixture(made);
}

static void rows_tell_key_and_row(void) {
    fixture made = open_fixture();
    const char *const keys[] = {"title", "pages"};
    const quire_value titles[] = {quire_value_text("a"), quire_value_text("b"), quire_value_text("c")};
    const quire_value pages[] = {quire_value_integer(1), quire_value_integer(2), quire_value_text("many")};
    const quire_value broken[] = {quire_value_integer(1), quire_value_text("\xff"), quire_value_integer(2)};
    const quire_value *const columns[] = {titles, pages}, *const unreadable[] = {titles, broken};
    int64_t first, count;
    quire_list *list = NULL;
    const offender unfit = {"Book", "pages", 0, 2, "Row 2, counted from 0: Attribute 'Book.pages'"};
    const offender damaged = {"Book", "pages", 0, 1, "'pages[1]'"};
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 2, 3, &first, &error), unfit);
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_batch_insert(made.context, "Book", QUIRE_NUL, keys, columns, 2, 3, NULL, &count, &list, &error), unfit);
    check_offender(QUIRE_INVALID_TEXT,
        quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, unreadable, 2, 3, &first, &error), damaged);
    check_offender(QUIRE_INVALID_TEXT,
        quire_context_batch_insert(made.context, "Book", QUIRE_NUL, keys, unreadable, 2, 3, NULL, &count, &list, &error),
        damaged);
    /* What is mandatory and not there. */
    const quire_value some[] = {quire_value_text("a"), quire_value_nil()};
    const quire_value *const without[] = {some};
    check_offender(QUIRE_VALIDATION,
        quire_context_batch_insert(made.context, "Book", QUIRE_NUL, keys, without, 1, 2, NULL, &count, &list, &error),
        (offender){"Book", "title", 0, 1, NULL});
    const char *const unknown[] = {"subtitle"};
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(made.context, "Book", QUIRE_NUL, unknown, columns, 1, 3, &first, &error),
        (offender){"Book", "subtitle", 0, -1, NULL});
    close_fixture(made);
}

static void batch_requests_tell_the_key(void) {
    fixture made = open_fixture();
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    const char *const pages[] = {"pages"}, *const titles[] = {"title"}, *const tags[] = {"tags"}, *const none[] = {"none"};
    const quire_value text = quire_value_text("many"), broken = quire_value_text("\xff"), nil = quire_value_nil();
    int64_t count;
    quire_list *list = NULL;
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_batch_update(made.context, request, pages, &text, 1, NULL, &count, &list, &error),
        (offender){"Book", "pages", 0, -1, NULL});
    check_offender(QUIRE_INVALID_TEXT,
        quire_context_batch_update(made.context, request, titles, &broken, 1, NULL, &count, &list, &error),
        (offender){"Book", "title", 0, -1, NULL});
    check_offender(QUIRE_VALIDATION,
        quire_context_batch_update(made.context, request, titles, &nil, 1, NULL, &count, &list, &error),
        (offender){"Book", "title", 0, -1, NULL});
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_batch_update(made.context, request, tags, &text, 1, NULL, &count, &list, &error),
        (offender){"Book", "tags", 0, -1, NULL});
    check_offender(QUIRE_INVALID_ARGUMENT,
        quire_context_batch_update(made.context, request, none, &text, 1, NULL, &count, &list, &error),
        (offender){"Book", "none", 0, -1, NULL});
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void queries_tell_the_key(void) {
    fixture made = open_fixture();
    quire_list *list = NULL;
    const struct { const char *format, *sort, *entity, *key; } queries[] = {
        {"subtitle == 'x'", NULL, "Book", "subtitle"}, {"author.age == 5", NULL, "Author", "age"},
        {NULL, "subtitle", "Book", "subtitle"}, {NULL, "tags", "Book", "tags"}};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        quire_fetch_request *request = new_request("Book", queries[i].format, queries[i].sort);
        check_offender(QUIRE_INVALID_ARGUMENT, quire_context_fetch(made.context, request, &list, &error),
            (offender){queries[i].entity, queries[i].key, 0, -1, NULL});
        quire_fetch_request_release(request);
    }
    close_fixture(made);
}

static void conflicts_tell_the_id(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_context *second = NULL;
    CHECK_OK(quire_context_create(made.store, &second, &error));
    quire_object *same = NULL;
    CHECK_OK(quire_context_object(second, "Book", QUIRE_NUL, quire_object_id(book), &same, &error));
    set_value(same, "pages", quire_value_integer(1));
    save(second);
    set_value(book, "pages", quire_value_integer(2));
    check_offender(QUIRE_CONFLICT, quire_context_save(made.context, &error),
        (offender){"Book", NULL, quire_object_id(book), -1, NULL});
    quire_object_release(same);
    quire_context_release(second);
    quire_object_release(book);
    close_fixture(made);
}

static void models_tell_entity_and_key(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_searchable = true;
    check_offender(QUIRE_INVALID_MODEL,
        quire_model_add_attribute(model, "Book", QUIRE_NUL, "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &options, &error),
        (offender){"Book", "pages", 0, -1, NULL});
    quire_model_release(model);
}

static void errors_about_no_object_have_none(void) {
    quire_predicate *predicate = NULL;
    check_offender(QUIRE_INVALID_PREDICATE, quire_predicate_parse("a ==", QUIRE_NUL, NULL, 0, &predicate, &error),
        (offender){NULL, NULL, 0, -1, NULL});
    CHECK(quire_error_row(NULL) == -1 && quire_error_object_id(NULL) == 0);
    check_name(quire_error_entity(NULL), NULL);
    check_name(quire_error_key(NULL), NULL);
}

/* An error names its object, which can be looked up and is not kept alive. */
static void object_of_a_setter_is_found_by_its_error(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *found = NULL;
    const quire_value text = quire_value_text("many");
    quire_error *failed = NULL;
    CHECK(quire_object_set(book, "pages", QUIRE_NUL, &text, &failed) == QUIRE_INVALID_ARGUMENT);
    CHECK_OK(quire_error_object(failed, made.context, &found, &error));
    CHECK(found == book);
    quire_object_release(found);
    quire_object_release(book);
    close_fixture(made);
    CHECK_TEXT(quire_error_key(failed), "pages");
    quire_error_release(failed);
}

/* One damaged value, whatever reads it. */
static void damaged_values_tell_their_row(void) {
    use_folder();
    save_book_at(path, "Egmont");
    save_book_at(path, "Faust");
    run("sqlite3 '%s' \"UPDATE ZBOOK SET ZPAGES = 'old' WHERE ZTITLE = 'Faust'\"%s", path, "");
    fixture made = open_fixture_at(path);
    const offender damaged = {"Book", "pages", 2, -1, "'Book.pages' cannot be read for Book 2. Column 'ZPAGES' of the store"};
    const char *const keys[] = {"title", "pages"};
    quire_object *book = NULL;
    for (int turn = 0; turn < 2; turn++)
        check_offender(
            QUIRE_DATABASE, quire_context_object(made.context, "Book", QUIRE_NUL, 2, &book, &error), damaged);
    quire_page *page = NULL;
    quire_list *list = NULL;
    for (int is_sorted = 0; is_sorted < 2; is_sorted++) {
        quire_fetch_request *request = new_request("Book", NULL, is_sorted ? "title" : NULL);
        check_offender(
            QUIRE_DATABASE, quire_context_fetch_page(made.context, request, keys, 2, 0, &page, &error), damaged);
        check_offender(QUIRE_DATABASE, quire_context_fetch(made.context, request, &list, &error), damaged);
        quire_fetch_request_release(request);
    }
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    check_offender(QUIRE_DATABASE, quire_results_page(results, 0, 2, keys, 2, 0, &page, &error), damaged);
    CHECK_OK(quire_results_page(results, 0, 2, keys, 1, 0, &page, &error));
    quire_page_release(page);
    quire_results_release(results);
    quire_fetch_request_release(request);
    request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "pages", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_set_distinct(request, true, &error));
    check_offender(QUIRE_DATABASE, quire_context_fetch(made.context, request, &list, &error), damaged);
    quire_fetch_request_release(request);
    request = new_request("Book", NULL, "pages");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "pages";
    CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
    check_offender(QUIRE_DATABASE, quire_results_fetch(results, &error), damaged);
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_fixture(made);
    remove_folder(folder);
}

/* What a call does not read it does not read of nil either. */
static void getters_look_at_the_declared_type(void) {
    fixture made = open_fixture();
    quire_object *all = insert(made.context, "Everything"), *book = insert_book(made.context, "Faust", 300);
    static const struct { const char *key, *calls; } attributes[] = {
        {"small", "in"}, {"medium", "in"}, {"large", "in"}, {"decimal", "nt"}, {"real", "n"}, {"narrow", "n"}, {"text", "t"},
        {"flag", "in"}, {"moment", "d"}, {"bytes", ""}, {"uuid", ""}, {"link", "t"}, {"opaque", ""}};
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
        for (const char *call = "intd"; *call; call++) {
            int64_t integer = 1;
            double number = 1;
            quire_string text = {"x", 1};
            bool is_nil = false;
            const char *key = attributes[i].key;
            const quire_status status = *call == 'i' ? quire_object_get_integer(all, key, QUIRE_NUL, &integer, &is_nil, &error)
                : *call == 'n' ? quire_object_get_number(all, key, QUIRE_NUL, &number, &is_nil, &error)
                : *call == 'd' ? quire_object_get_date(all, key, QUIRE_NUL, &number, &is_nil, &error)
                               : quire_object_get_text(all, key, QUIRE_NUL, &text, &error);
            if (strchr(attributes[i].calls, *call)) {
                CHECK(status == QUIRE_OK && (is_nil || (*call == 't' && !text.data)));
                continue;
            }
            CHECK(!is_nil && integer != (*call == 'i') && number != (*call == 'n' || *call == 'd') && (*call != 't' || !text.data));
            check_offender(QUIRE_INVALID_ARGUMENT, status, (offender){"Everything", key, quire_object_id(all), -1, "is of the type"});
        }
    int64_t integer;
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get_integer(book, "author", QUIRE_NUL, &integer, NULL, &error),
        (offender){"Book", "author", quire_object_id(book), -1, "Read it with quire_object_get_object."});
    quire_object_release(book);
    quire_object_release(all);
    close_fixture(made);
}

static void messages_tell_the_remedy(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    const int64_t id = quire_object_id(book);
    quire_value value;
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get(book, "author.name", QUIRE_NUL, &value, &error),
        (offender){"Book", "author.name", id, -1, "This takes one key and no key path: read 'author' first."});
    check_offender(QUIRE_INVALID_ARGUMENT, quire_object_get(book, "genre", QUIRE_NUL, &value, &error),
        (offender){"Book", "genre", id, -1, "'Novel', which inherits from it, has it: ask for that entity."});
    quire_list *list = NULL;
    static const struct { const char *entity, *format, *words; } conditions[] = {
        {"Everything", "moment > 'soon'", "'soon' is no date in ISO 8601, such as 2026-11-21T10:30:00Z."},
        {"Everything", "moment < 5", "CAST(number, \"NSDate\")."},
        {"Book", "title > 5", "text and a number have no order. Compare values of one type; == of these two is never true."},
        {"Book", "pages IN (100)", "and has 100. A list is written in braces, such as {1, 2}."},
        {"Book", "author > author", "an object has no order. Compare with == or !=."}};
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        quire_fetch_request *request = new_request(conditions[i].entity, conditions[i].format, NULL);
        check_offender(QUIRE_INVALID_PREDICATE, quire_context_fetch(made.context, request, &list, &error),
            (offender){quire_error_entity(error).data, quire_error_key(error).data, 0, -1, conditions[i].words});
        quire_fetch_request_release(request);
    }
    static const char *const bare[] = {"title == faust", "title IN {'Egmont', faust}"};
    for (size_t i = 0; i < 2; i++) {
        quire_fetch_request *request = new_request("Book", bare[i], NULL);
        check_offender(QUIRE_INVALID_ARGUMENT, quire_context_fetch(made.context, request, &list, &error),
            (offender){"Book", "faust", 0, -1, "Text stands in quotes."});
        quire_fetch_request_release(request);
    }
    quire_predicate *predicate = NULL;
    check_offender(QUIRE_INVALID_PREDICATE, quire_predicate_parse("pages IN (100, 200)", QUIRE_NUL, NULL, 0, &predicate, &error),
        (offender){NULL, NULL, 0, -1, "A list is written in braces, such as {1, 2}."});
    /* What was never saved was not deleted. */
    CHECK_OK(quire_context_rollback(made.context, &error));
    const quire_value title = quire_value_text("Egmont");
    check_offender(QUIRE_INVALID_STATE, quire_object_get(book, "title", QUIRE_NUL, &value, &error),
        (offender){"Book", "title", id, -1, "was taken back before it was saved and has no values any more."});
    check_offender(QUIRE_INVALID_STATE, quire_object_set(book, "title", QUIRE_NUL, &title, &error),
        (offender){"Book", "title", id, -1, "was taken back before it was saved"});
    quire_object_release(book);
    book = insert_book(made.context, "Faust", 300);
    save(made.context);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    check_offender(QUIRE_INVALID_STATE, quire_object_get(book, "title", QUIRE_NUL, &value, &error),
        (offender){"Book", "title", quire_object_id(book), -1, "was deleted and has no values any more."});
    quire_object_release(book);
    close_fixture(made);
}

static void inverse_that_names_none_is_told(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Host", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(model, "Entry", QUIRE_NUL, NULL, &error));
    add_relationship(model, "Host", "entries", "Entry", "host", true, false, QUIRE_DELETE_NULLIFY);
    add_relationship(model, "Entry", "host", "Host", NULL, false, false, QUIRE_DELETE_NULLIFY);
    check_offender(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error),
        (offender){"Entry", "host", 0, -1, "names no inverse itself. Set the inverse of 'Entry.host' to 'entries'."});
    quire_model_release(model);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(setters_tell_entity_key_and_id);
    RUN(getters_tell_entity_key_and_id);
    RUN(rows_tell_key_and_row);
    RUN(batch_requests_tell_the_key);
    RUN(queries_tell_the_key);
    RUN(conflicts_tell_the_id);
    RUN(models_tell_entity_and_key);
    RUN(errors_about_no_object_have_none);
    RUN(object_of_a_setter_is_found_by_its_error);
    RUN(damaged_values_tell_their_row);
    RUN(getters_look_at_the_declared_type);
    RUN(messages_tell_the_remedy);
    RUN(inverse_that_names_none_is_told);
    return RESULT();
}
