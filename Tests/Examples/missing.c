/* Tries the predicates that it is given in each place that takes one, and an attribute of a type that is missing. Prints
 * for each a line of the place, the name of the status, and the first line of the message, with tabs between. */
#include <quire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void told(const char *place, quire_status status, quire_error *error) {
    const char *message = error ? quire_error_message(error).data : "";
    printf("%s\t%s\t%.*s\n", place, quire_status_name(status), (int)strcspn(message, "\n"), message);
    quire_error_release(error);
}

#define TELL(place, call) do { quire_error *error = NULL; const quire_status status = (call); told(place, status, error); } while (0)

static void needed(quire_status status, const char *what) {
    if (status == QUIRE_OK) return;
    fprintf(stderr, "%s: %s\n", what, quire_status_name(status));
    exit(1);
}
#define NEED(call) needed((call), #call)

static quire_model *model_of_books(void) {
    quire_model *model = quire_model_create();
    NEED(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, NULL));
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    NEED(quire_model_add_attribute(model, "Book", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, &options, NULL));
    return model;
}

static void use(quire_context *context, quire_object *book, const char *text) {
    quire_predicate *predicate;
    TELL("parse", quire_predicate_parse(text, QUIRE_NUL, NULL, 0, &predicate, &error));
    if (!predicate) return;
    bool matches = false;
    TELL("matches", quire_predicate_matches(predicate, book, &matches, &error));
    const quire_value subject = quire_value_integer(1);
    TELL("evaluate", quire_predicate_evaluate(predicate, &subject, NULL, 0, &matches, &error));

    quire_fetch_request *request;
    NEED(quire_fetch_request_create("Book", QUIRE_NUL, &request, NULL));
    NEED(quire_fetch_request_set_predicate(request, predicate, NULL));
    quire_list *list;
    int64_t count;
    TELL("fetch", quire_context_fetch(context, request, &list, &error));
    TELL("count", quire_context_count(context, request, &count, &error));
    TELL("delete", quire_context_batch_delete(context, request, NULL, NULL, NULL, &error));
    quire_list_release(list);
    quire_results *results;
    TELL("list", quire_results_create(context, request, NULL, &results, &error));
    if (results) TELL("list", quire_results_fetch(results, &error));
    quire_results_release(results);
    quire_fetch_request_release(request);
    quire_model *model = model_of_books();
    TELL("rule", quire_model_add_validation_rule(
        model, "Book", QUIRE_NUL, NULL, 0, predicate, "It is so.", QUIRE_NUL, &error));
    quire_model_release(model);
    quire_predicate_release(predicate);
}

int main(int count, char **arguments) {
    quire_model *model = model_of_books();
    TELL("composite", quire_model_add_attribute(model, "Book", QUIRE_NUL, "place", QUIRE_NUL, 2100, NULL, &error));
    quire_store *store;
    quire_context *context;
    quire_object *book;
    NEED(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, NULL));
    NEED(quire_context_create(store, &context, NULL));
    NEED(quire_context_insert(context, "Book", QUIRE_NUL, &book, NULL));
    NEED(quire_context_save(context, NULL));
    for (int i = 1; i < count; i++) use(context, book, arguments[i]);
    quire_object_release(book);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return 0;
}
