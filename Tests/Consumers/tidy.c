/* A program that gives back what it was given, but for one handle if it is compiled so. */
#include <quire.h>

#include <stdio.h>
#include <stdlib.h>

static void check(quire_status status) {
    if (status == QUIRE_OK) return;
    fprintf(stderr, "%s\n", quire_status_name(status));
    exit(1);
}

/* On a stack of its own, so that no word of it is left where valgrind would find it. */
static void __attribute__((noinline)) use_it(void) {
    quire_model *model = quire_model_create();
    check(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, NULL));
    quire_attribute_options optional = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    optional.is_optional = true;
    check(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "author", QUIRE_NUL, QUIRE_TYPE_STRING, &optional, NULL));
    quire_store *store = NULL;
    check(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, NULL));
    quire_context *context = NULL;
    check(quire_context_create(store, &context, NULL));
    quire_predicate *predicate = NULL;
    check(quire_predicate_parse("author CONTAINS[cd] 'goe'", QUIRE_NUL, NULL, 0, &predicate, NULL));
    quire_fetch_request *request = NULL;
    check(quire_fetch_request_create("Quote", QUIRE_NUL, &request, NULL));
    check(quire_fetch_request_set_predicate(request, predicate, NULL));
    quire_results_options by_author = QUIRE_RESULTS_OPTIONS_INIT;
    by_author.section_key_path = "author";
    quire_results *results = NULL;
    check(quire_results_create(context, request, &by_author, &results, NULL));
    check(quire_results_fetch(results, NULL));
    for (int i = 0; i < 20; i++) {
        quire_object *quote = NULL;
        check(quire_context_insert(context, "Quote", QUIRE_NUL, &quote, NULL));
        const quire_value author = quire_value_text(i % 2 ? "Goethe" : "Schiller");
        check(quire_object_set(quote, "author", QUIRE_NUL, &author, NULL));
        if (!KEEPS_A_HANDLE || i != 7) quire_object_release(quote);
    }
    check(quire_context_save(context, NULL));
    quire_list *list = NULL;
    check(quire_context_fetch(context, request, &list, NULL));
    quire_error *error = NULL;
    if (quire_context_insert(context, "None", QUIRE_NUL, &(quire_object *){NULL}, &error) == QUIRE_OK) exit(1);
    quire_error_release(error);
    quire_list_release(list);
    quire_results_release(results);
    quire_fetch_request_release(request);
    quire_predicate_release(predicate);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
}

int main(void) {
    use_it();
    return 0;
}
