/* XML stores: made, reopened, converted, refused. */
#include "store_files.h"

static quire_model *books(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    add_attribute(model, "Book", "title", QUIRE_TYPE_STRING);
    return model;
}

static quire_status open_as(const char *at, quire_model *model, quire_store_type type, quire_store **out) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.type = type;
    quire_error_release(error);
    error = NULL;
    return quire_store_open(at, QUIRE_NUL, model, &options, out, &error);
}

static void add_book(quire_store *store, const char *title) {
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_object *book = NULL;
    CHECK_OK(quire_context_insert(context, "Book", QUIRE_NUL, &book, &error));
    const quire_value value = quire_value_text(title);
    CHECK_OK(quire_object_set(book, "title", QUIRE_NUL, &value, &error));
    quire_status status = quire_context_save(context, &error);
    quire_object_release(book);
    quire_context_release(context);
    CHECK_OK(status);
}

static void begins_with(const char *at, const char *expected) {
    char found[64] = "";
    FILE *file = fopen(at, "rb");
    CHECK(file && fread(found, 1, strlen(expected), file) == strlen(expected));
    CHECK(!strcmp(found, expected));
    fclose(file);
}

static void a_store_of_either_type_is_known_by_its_bytes(void) {
    use_folder();
    quire_model *model = books();
    quire_store *store = NULL;
    CHECK_OK(open_as(path, model, QUIRE_STORE_XML, &store));
    add_book(store, "Faust");
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    begins_with(path, "<?xml version=\"1.0\" standalone=\"yes\"?>");
    CHECK_OK(open_as(path, model, QUIRE_STORE_ANY, &store));
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    CHECK(open_as(path, model, QUIRE_STORE_SQLITE, &store) == QUIRE_NOT_A_STORE);
    CHECK(open_as(path, NULL, QUIRE_STORE_ANY, &store) == QUIRE_INVALID_MODEL);
    CHECK(open_as(path, model, (quire_store_type)7, &store) == QUIRE_INVALID_ARGUMENT);
    CHECK(!store);
    quire_error_release(error);
    error = NULL;
    quire_model_release(model);
    remove_folder(folder);
}

static void a_store_is_converted_both_ways(void) {
    use_folder();
    quire_model *model = books();
    quire_store *store = NULL;
    CHECK_OK(open_as(path, model, QUIRE_STORE_XML, &store));
    add_book(store, "Faust");
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    CHECK_OK(quire_store_convert(path, QUIRE_NUL, model, other_path, QUIRE_NUL, QUIRE_STORE_SQLITE, &error));
    begins_with(other_path, "SQLite format 3");
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_convert(
        path, QUIRE_NUL, model, other_path, QUIRE_NUL, QUIRE_STORE_SQLITE, &error));
    CHECK_FAILS(QUIRE_NOT_A_STORE, quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(unlink(path) == 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_convert(
        other_path, QUIRE_NUL, NULL, path, QUIRE_NUL, QUIRE_STORE_SQLITE, &error));
    CHECK_OK(quire_store_convert(other_path, QUIRE_NUL, NULL, path, QUIRE_NUL, QUIRE_STORE_ANY, &error));
    begins_with(path, "<?xml version=\"1.0\" standalone=\"yes\"?>");
    quire_evaluation *metadata = NULL;
    CHECK_OK(quire_metadata_read(path, QUIRE_NUL, &metadata, &error));
    quire_evaluation_release(metadata);
    quire_model_release(model);
    remove_folder(folder);
}

static void a_save_leaves_the_work_of_another_program(void) {
    use_folder();
    quire_model *model = books();
    quire_store *store = NULL, *other = NULL;
    CHECK_OK(open_as(path, model, QUIRE_STORE_XML, &store));
    CHECK_OK(open_as(path, model, QUIRE_STORE_ANY, &other));
    add_book(other, "Faust");
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_object *book = NULL;
    CHECK_OK(quire_context_insert(context, "Book", QUIRE_NUL, &book, &error));
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(context, &error));
    quire_object_release(book);
    quire_context_release(context);
    CHECK_OK(quire_store_close(store, &error));
    CHECK_OK(quire_store_close(other, &error));
    quire_store_release(store);
    quire_store_release(other);
    quire_model_release(model);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_store_of_either_type_is_known_by_its_bytes);
    RUN(a_store_is_converted_both_ways);
    RUN(a_save_leaves_the_work_of_another_program);
    return RESULT();
}
