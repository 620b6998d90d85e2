/* The model that a store keeps, and stores of models that were loaded. */
#include "store_files.h"

/* Persons with two relationships to each other; that of `naming` names the table, or none where it is NULL. */
static quire_model *persons(const char *naming) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Person", QUIRE_NUL, NULL, &error));
    add_attribute(model, "Person", "name", QUIRE_TYPE_STRING);
    const char *const names[] = {"friends", "friendOf"};
    for (int i = 0; i < 2; i++) {
        quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
        options.is_to_many = options.is_optional = true;
        options.inverse = names[!i];
        options.names_join_table = naming && !strcmp(naming, names[i]);
        CHECK_OK(quire_model_add_relationship(
            model, "Person", QUIRE_NUL, names[i], QUIRE_NUL, "Person", QUIRE_NUL, &options, &error));
    }
    return model;
}

static void create(const char *at, quire_model *model) {
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(at, QUIRE_NUL, model, NULL, &store, &error));
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
}

/* Whether `friends` names the table and not `friendOf`, which the rule would take. */
static bool is_named_by_friends(const char *at) {
    quire_model *model = NULL;
    CHECK_OK(quire_model_load(at, QUIRE_NUL, NULL, 0, &model, &error));
    bool found = false;
    for (int64_t place = 0; place < 3; place++) {
        quire_property_info info = QUIRE_PROPERTY_INFO_INIT;
        CHECK_OK(quire_model_property(model, "Person", QUIRE_NUL, place, &info, &error));
        if (info.names_join_table) found = info.name.size == 7 && !memcmp(info.name.data, "friends", 7);
    }
    quire_model_release(model);
    return found;
}

static void a_store_opens_with_the_model_that_it_keeps(void) {
    use_folder();
    quire_model *model = persons(NULL);
    uint8_t declared[32], kept[32];
    create(path, model);
    CHECK_OK(quire_model_version_hash(model, "Person", QUIRE_NUL, declared, &error));
    quire_model_release(model);
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, NULL, NULL, &store, &error));
    CHECK_OK(quire_model_version_hash(quire_store_model(store), "Person", QUIRE_NUL, kept, &error));
    CHECK(!memcmp(declared, kept, sizeof kept));
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    remove_folder(folder);
}

static void a_loaded_model_makes_a_store(void) {
    use_folder();
    quire_model *model = persons("friends");
    create(path, model);
    quire_model_release(model);
    CHECK(is_named_by_friends(path));
    CHECK_OK(quire_model_load(path, QUIRE_NUL, NULL, 0, &model, &error));
    create(other_path, model);
    create(other_path, model);
    quire_model_release(model);
    CHECK(is_named_by_friends(other_path));
    remove_folder(folder);
}

static void a_relationship_names_the_table(void) {
    const char *const names[] = {"friends", "friendOf"};
    bool found[2];
    for (int i = 0; i < 2; i++) {
        use_folder();
        quire_model *model = persons(names[i]);
        create(path, model);
        found[i] = is_named_by_friends(path);
        /* What the file has decides when it is opened. */
        quire_model_release(model);
        model = persons(names[!i]);
        create(path, model);
        quire_model_release(model);
        CHECK(is_named_by_friends(path) == found[i]);
        remove_folder(folder);
    }
    CHECK(found[0] && !found[1]);
}

static void a_name_without_a_table_is_refused(void) {
    quire_model *model = persons(NULL);
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_to_many = options.names_join_table = true;
    CHECK_OK(quire_model_add_relationship(
        model, "Person", QUIRE_NUL, "others", QUIRE_NUL, "Person", QUIRE_NUL, &options, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    quire_model_release(model);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_store_opens_with_the_model_that_it_keeps);
    RUN(a_loaded_model_makes_a_store);
    RUN(a_relationship_names_the_table);
    RUN(a_name_without_a_table_is_refused);
    return RESULT();
}
