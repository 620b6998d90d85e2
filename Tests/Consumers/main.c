/* Writes a quotation to the file that it is given. */
#include <quire.h>

#include <stdio.h>

static int fail(quire_error *error) {
    fprintf(stderr, "%s\n", quire_error_message(error).data);
    quire_error_release(error);
    return 1;
}

int main(int argument_count, char **arguments) {
    if (argument_count != 2) return 2;
    quire_error *error = NULL;
    quire_model *model = quire_model_create();
    if (quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error)) return fail(error);
    if (quire_model_add_attribute(model, "Quote", QUIRE_NUL, "contents", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error)) return fail(error);

    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_object *quote = NULL;
    if (quire_store_open(arguments[1], QUIRE_NUL, model, NULL, &store, &error)) return fail(error);
    if (quire_context_create(store, &context, &error)) return fail(error);
    if (quire_context_insert(context, "Quote", QUIRE_NUL, &quote, &error)) return fail(error);
    const quire_value text = quire_value_text("More light!");
    if (quire_object_set(quote, "contents", QUIRE_NUL, &text, &error)) return fail(error);
    if (quire_context_save(context, &error)) return fail(error);
    printf("saved %s\n", quire_object_uri(quote).data);

    quire_object_release(quote);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return 0;
}
