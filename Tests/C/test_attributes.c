#include "fixture.h"

/* Derived attributes, fetched properties, and attributes that are of no use to a store. */

static quire_status derive(
    quire_model *model, const char *entity, const char *name, quire_attribute_type type, const char *expression) {
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.derivation = expression;
    return quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, &options, &error);
}

static fixture open_derived(void) {
    fixture made = {.model = library_model()};
    CHECK_OK(derive(made.model, "Book", "sortTitle", QUIRE_TYPE_STRING, "canonical:(title)"));
    CHECK_OK(derive(made.model, "Book", "writer", QUIRE_TYPE_STRING, "author.name"));
    CHECK_OK(derive(made.model, "Book", "changed", QUIRE_TYPE_DATE, "now()"));
    CHECK_OK(derive(made.model, "Author", "bookCount", QUIRE_TYPE_INTEGER_32, "books.@count"));
    CHECK_OK(derive(made.model, "Author", "pages", QUIRE_TYPE_INTEGER_64, "books.pages.@sum"));
    quire_fetch_request *request = new_request("Book", "pages > $FETCH_SOURCE.pages", "pages");
    CHECK_OK(quire_model_add_fetched_property(made.model, "Book", QUIRE_NUL, "longer", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static void derived_attributes_are_there_after_the_save(void) {
    fixture made = open_derived();
    quire_object *author = insert(made.context, "Author");
    set_text(author, "name", "Goethe");
    quire_object *book = insert_book(made.context, "\xC3\x89tudes", 300);
    const quire_value held = quire_value_object(author);
    CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &held, &error));
    CHECK(get_value(author, "bookCount").as.integer == 0 && get_value(book, "sortTitle").kind == QUIRE_VALUE_NIL);
    save(made.context);
    CHECK(strcmp(get_text(book, "sortTitle"), "etudes") == 0 && strcmp(get_text(book, "writer"), "Goethe") == 0);
    CHECK(get_value(book, "changed").kind == QUIRE_VALUE_DATE);
    CHECK(get_value(author, "bookCount").as.integer == 1 && get_value(author, "pages").as.integer == 300);
    CHECK(!quire_object_is_updated(author) && !quire_context_has_changes(made.context));
    CHECK(count(made.context, "Author", "bookCount == 1 AND pages > 200") == 1);
    quire_list *list = fetch(made.context, "Book", "writer == 'Goethe'", "sortTitle");
    CHECK(quire_list_count(list) == 1);
    quire_list_release(list);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    CHECK(get_value(author, "bookCount").as.integer == 0);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

static void derived_attributes_cannot_be_set(void) {
    fixture made = open_derived();
    quire_object *author = insert(made.context, "Author");
    const quire_value three = quire_value_integer(3);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(author, "bookCount", QUIRE_NUL, &three, &error));
    const char *const keys[] = {"bookCount"};
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set_values(author, keys, &three, 1, &error));
    CHECK_FAILS(
        QUIRE_INVALID_ARGUMENT, quire_object_validate_value(author, "bookCount", QUIRE_NUL, &three, &error));
    CHECK(get_value(author, "bookCount").as.integer == 0);
    quire_object_release(author);
    close_fixture(made);
}

static void expressions_are_checked_when_the_model_is_made(void) {
    quire_model *model = library_model();
    CHECK_FAILS(QUIRE_INVALID_MODEL, derive(model, "Author", "sum", QUIRE_TYPE_INTEGER_64, "books.@sum.pages"));
    CHECK_FAILS(QUIRE_INVALID_MODEL, derive(model, "Author", "sum", QUIRE_TYPE_INTEGER_64, ""));
    CHECK_FAILS(QUIRE_INVALID_TEXT, derive(model, "Author", "sum", QUIRE_TYPE_INTEGER_64, "\xFF"));
    CHECK_OK(derive(model, "Author", "sum", QUIRE_TYPE_INTEGER_64, "books.weight.@sum"));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    quire_model_release(model);
    /* A default, which is never used. */
    model = library_model();
    const quire_value one = quire_value_integer(1);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.derivation = "books.@count";
    options.default_value = &one;
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_attribute(model, "Author", QUIRE_NUL, "n", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &options, &error));
    quire_model_release(model);
}

static const char *fetched(quire_object *object, const char *key) {
    quire_list *list = NULL;
    CHECK_OK(quire_object_get_fetched(object, key, QUIRE_NUL, &list, &error));
    const char *titles = joined(list, "title");
    quire_list_release(list);
    return titles;
}

static void a_fetched_property_stays_until_its_object_is_refreshed(void) {
    fixture made = open_derived();
    quire_object *first = insert_book(made.context, "Faust", 100), *second = insert_book(made.context, "Urfaust", 200);
    CHECK(strcmp(fetched(first, "longer"), "Urfaust") == 0);
    CHECK(strcmp(fetched(second, "longer"), "") == 0);
    quire_object *third = insert_book(made.context, "Faust II", 300);
    save(made.context);
    CHECK(strcmp(fetched(first, "longer"), "Urfaust") == 0);
    CHECK_OK(quire_context_refresh(made.context, first, true, &error));
    CHECK(strstr(fetched(first, "longer"), "Faust II") != NULL);
    quire_list *none = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_fetched(first, "title", QUIRE_NUL, &none, &error));
    const quire_value nil = quire_value_nil();
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(first, "longer", QUIRE_NUL, &nil, &error));
    CHECK(none == NULL);
    quire_object_release(first);
    quire_object_release(second);
    quire_object_release(third);
    close_fixture(made);
}

static void the_request_of_a_fetched_property_is_checked(void) {
    quire_model *model = library_model();
    quire_fetch_request *request = new_request("Book", "pages > $limit", NULL);
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_fetched_property(model, "Book", QUIRE_NUL, "longer", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);
    request = new_request("Book", NULL, NULL);
    CHECK_FAILS(QUIRE_INVALID_MODEL,
        quire_model_add_fetched_property(model, "Book", QUIRE_NUL, "title", QUIRE_NUL, request, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_model_add_fetched_property(model, "None", QUIRE_NUL, "all", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);
    quire_model_release(model);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(derived_attributes_are_there_after_the_save);
    RUN(derived_attributes_cannot_be_set);
    RUN(expressions_are_checked_when_the_model_is_made);
    RUN(a_fetched_property_stays_until_its_object_is_refreshed);
    RUN(the_request_of_a_fetched_property_is_checked);
    return RESULT();
}
