#include "reading.h"

#include <sys/stat.h>

int used_count, differences;
/* Of all that an entity or a list can have, so much is looked at. */
enum { MOST = 2000 };

/* Whether a call succeeded; a failure is let go. */
static bool went(quire_status status) {
    if (status == QUIRE_OK) used_count++;
    CHECK((status == QUIRE_OK) == (error == NULL));
    if (error) CHECK(quire_error_message(error).size > 10);
    quire_error_release(error);
    error = NULL;
    return status == QUIRE_OK;
}

/* Reads all bytes that a text or a value has, so that the sanitizer sees wrong ones. */
static unsigned touched;

static void touch_text(quire_string text) {
    for (size_t i = 0; text.data && i < text.size; i++) touched += (unsigned char)text.data[i];
}

static void touch(const quire_value *value, int depth) {
    if (!value || depth > 100) return;
    switch (value->kind) {
    case QUIRE_VALUE_TEXT: case QUIRE_VALUE_URI: case QUIRE_VALUE_DECIMAL:
        touch_text((quire_string){value->as.text, value->size});
        break;
    case QUIRE_VALUE_DATA:
        for (uint32_t i = 0; i < value->size; i++) touched += value->as.data[i];
        break;
    case QUIRE_VALUE_LIST:
        for (uint32_t i = 0; i < value->size; i++) touch(&value->as.list[i], depth + 1);
        break;
    case QUIRE_VALUE_DICTIONARY:
        for (uint32_t i = 0; i < value->size; i++) {
            touch(&value->as.entries[i].key, depth + 1);
            touch(&value->as.entries[i].value, depth + 1);
        }
        break;
    default: touched += (unsigned)value->as.integer;
    }
}

/* --- Models. */

static void ask_property(quire_model *model, quire_string entity, const quire_property_info *info) {
    touch_text(info->name);
    touch_text(info->pattern);
    touch_text(info->derivation);
    touch(&info->default_value, 0);
    touch(&info->minimum, 0);
    touch(&info->maximum, 0);
    for (int64_t i = 0; i < info->user_info_count && i < MOST; i++) {
        quire_string key, value;
        if (went(quire_model_user_info(
                model, entity.data, entity.size, info->name.data, info->name.size, i, &key, &value, &error))) {
            touch_text(key);
            touch_text(value);
        }
    }
}

static void ask_entity(quire_model *model, quire_string entity) {
    quire_entity_info info = QUIRE_ENTITY_INFO_INIT;
    if (!went(quire_model_entity(model, entity.data, entity.size, &info, &error))) return;
    uint8_t hash[32];
    went(quire_model_version_hash(model, entity.data, entity.size, hash, &error));
    for (int64_t i = 0; i < info.property_count && i < MOST; i++) {
        quire_property_info property = QUIRE_PROPERTY_INFO_INIT;
        if (went(quire_model_property(model, entity.data, entity.size, i, &property, &error)))
            ask_property(model, entity, &property);
    }
    for (int64_t i = 0; i < info.fetch_index_count && i < MOST; i++) {
        quire_fetch_index_info index = QUIRE_FETCH_INDEX_INFO_INIT;
        if (!went(quire_model_fetch_index(model, entity.data, entity.size, i, &index, &error))) continue;
        for (int64_t j = 0; j < index.element_count && j < MOST; j++) {
            quire_index_element_info element = QUIRE_INDEX_ELEMENT_INFO_INIT;
            went(quire_model_fetch_index_element(model, entity.data, entity.size, i, j, &element, &error));
        }
    }
    for (int64_t i = 0; i < info.uniqueness_constraint_count && i < MOST; i++) {
        const quire_string *names = NULL;
        int64_t count = 0;
        went(quire_model_uniqueness_constraint(model, entity.data, entity.size, i, &names, &count, &error));
        for (int64_t j = 0; j < count; j++) touch_text(names[j]);
    }
    for (int64_t i = 0; i < info.validation_rule_count && i < MOST; i++) {
        quire_validation_rule_info rule = QUIRE_VALIDATION_RULE_INFO_INIT;
        went(quire_model_validation_rule(model, entity.data, entity.size, i, &rule, &error));
        touch_text(rule.message);
    }
    for (int64_t i = 0; i < info.user_info_count && i < MOST; i++) {
        quire_string key, value;
        went(quire_model_user_info(model, entity.data, entity.size, NULL, 0, i, &key, &value, &error));
    }
}

static void ask(quire_model *model) {
    for (int64_t i = 0; i < quire_model_entity_count(model) && i < MOST; i++) ask_entity(model, quire_model_entity_name(model, i));
    for (int64_t i = 0; i < quire_model_configuration_count(model) && i < MOST; i++) {
        quire_string name;
        const quire_string *entities = NULL;
        int64_t count = 0;
        went(quire_model_configuration(model, i, &name, &entities, &count, &error));
        for (int64_t j = 0; j < count; j++) touch_text(entities[j]);
    }
    for (int64_t i = 0; i < quire_model_version_identifier_count(model) && i < MOST; i++)
        touch_text(quire_model_version_identifier(model, i));
}

/* --- Stores. */

static void use_list(quire_list *list, quire_model *model) {
    for (int64_t i = 0; i < quire_list_count(list) && i < MOST; i++) {
        quire_object *object = NULL;
        if (!went(quire_list_object(list, i, &object, &error))) continue;
        const quire_string entity = quire_object_entity(object);
        quire_entity_info info = QUIRE_ENTITY_INFO_INIT;
        went(quire_model_entity(model, entity.data, entity.size, &info, &error));
        for (int64_t j = 0; j < info.property_count && j < 200; j++) {
            quire_property_info property = QUIRE_PROPERTY_INFO_INIT;
            if (!went(quire_model_property(model, entity.data, entity.size, j, &property, &error))) continue;
            quire_list *members = NULL;
            if (property.kind == QUIRE_PROPERTY_FETCHED) {
                went(quire_object_get_fetched(object, property.name.data, property.name.size, &members, &error));
            } else if (property.is_to_many) {
                went(quire_object_get_objects(object, property.name.data, property.name.size, &members, &error));
            } else {
                quire_value value = quire_value_nil();
                if (went(quire_object_get(object, property.name.data, property.name.size, &value, &error))) touch(&value, 0);
            }
            quire_list_release(members);
        }
        quire_object_release(object);
    }
}

static void fetch_all(quire_context *context, quire_model *model) {
    for (int64_t i = 0; i < quire_model_entity_count(model) && i < 200; i++) {
        const quire_string entity = quire_model_entity_name(model, i);
        quire_fetch_request *request = NULL;
        if (!went(quire_fetch_request_create(entity.data, entity.size, &request, &error))) continue;
        quire_list *list = NULL;
        if (went(quire_context_fetch(context, request, &list, &error))) use_list(list, model);
        quire_list_release(list);
        quire_fetch_request_release(request);
    }
    for (int64_t i = 0; i < quire_model_fetch_template_count(model) && i < 200; i++) {
        const quire_string name = quire_model_fetch_template_name(model, i);
        quire_fetch_request *request = NULL;
        if (!went(quire_model_fetch_template(model, name.data, name.size, NULL, 0, &request, &error))) continue;
        quire_list *list = NULL;
        int64_t count = 0;
        went(quire_context_count(context, request, &count, &error));
        went(quire_context_fetch(context, request, &list, &error));
        quire_list_release(list);
        quire_fetch_request_release(request);
    }
}

/* An object of each entity, with texts that patterns look at, and one object less. */
static void edit(quire_context *context, quire_model *model) {
    char longest[4097];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    for (int64_t i = 0; i < quire_model_entity_count(model) && i < 200; i++) {
        const quire_string entity = quire_model_entity_name(model, i);
        quire_object *object = NULL;
        if (!went(quire_context_insert(context, entity.data, entity.size, &object, &error))) continue;
        quire_entity_info info = QUIRE_ENTITY_INFO_INIT;
        went(quire_model_entity(model, entity.data, entity.size, &info, &error));
        for (int64_t j = 0; j < info.property_count && j < 200; j++) {
            quire_property_info property = QUIRE_PROPERTY_INFO_INIT;
            if (!went(quire_model_property(model, entity.data, entity.size, j, &property, &error))) continue;
            quire_value value = quire_value_text(longest);
            if (property.type != QUIRE_TYPE_STRING) value = quire_value_integer(INT64_MAX);
            if (property.kind == QUIRE_PROPERTY_ATTRIBUTE)
                went(quire_object_set(object, property.name.data, property.name.size, &value, &error));
        }
        went(quire_object_validate(object, &error));
        if (!went(quire_context_save(context, &error))) went(quire_context_rollback(context, &error));
        if (i % 2) {
            went(quire_context_delete(context, object, &error));
            if (!went(quire_context_save(context, &error))) went(quire_context_rollback(context, &error));
        }
        quire_object_release(object);
    }
}

static void use_store(quire_store *store, bool writes) {
    quire_context *context = NULL;
    if (!went(quire_context_create(store, &context, &error))) return;
    quire_model *model = quire_store_model(store);
    ask(model);
    fetch_all(context, model);
    if (writes) edit(context, model);
    quire_evaluation *metadata = NULL;
    if (went(quire_store_metadata(store, &metadata, &error))) touch(quire_evaluation_value(metadata), 0);
    quire_evaluation_release(metadata);
    quire_context_release(context);
}

bool read_store(const char *path) {
    quire_evaluation *metadata = NULL;
    if (went(quire_metadata_read(path, QUIRE_NUL, &metadata, &error))) touch(quire_evaluation_value(metadata), 0);
    quire_evaluation_release(metadata);
    quire_model *model = NULL;
    went(quire_model_load(path, QUIRE_NUL, NULL, 0, &model, &error));
    quire_model_release(model);
    bool is_read = false;
    for (int writes = 0; writes < 2; writes++) {
        quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
        options.is_read_only = !writes;
        options.must_exist = true;
        quire_store *store = NULL;
        if (went(quire_store_open(path, QUIRE_NUL, NULL, &options, &store, &error))) {
            is_read = true;
            use_store(store, writes);
        }
        quire_store_release(store);
    }
    return is_read;
}

bool read_model(const char *path) {
    quire_model *model = NULL;
    if (!went(quire_model_load(path, QUIRE_NUL, NULL, 0, &model, &error))) return false;
    ask(model);
    char folder[64];
    snprintf(folder, sizeof folder, "/tmp/quire-hostile-%d.xcdatamodel", (int)getpid());
    if (went(quire_model_save(model, folder, QUIRE_NUL, &error))) {
        quire_model *again = NULL;
        if (went(quire_model_load(folder, QUIRE_NUL, NULL, 0, &again, &error))) {
            for (int64_t i = 0; i < quire_model_entity_count(model) && i < MOST; i++) {
                const quire_string entity = quire_model_entity_name(model, i);
                uint8_t one[32] = {0}, other[32] = {0};
                went(quire_model_version_hash(model, entity.data, entity.size, one, &error));
                went(quire_model_version_hash(again, entity.data, entity.size, other, &error));
                if (memcmp(one, other, 32) != 0) {
                    printf("%s: '%s' is another entity after it was saved\n", path, entity.data);
                    differences++;
                }
            }
        } else {
            printf("%s: was saved, and is refused when it is loaded\n", path);
            differences++;
        }
        quire_model_release(again);
        char contents[96];
        snprintf(contents, sizeof contents, "%s/contents", folder);
        CHECK(unlink(contents) == 0 && rmdir(folder) == 0);
    }
    quire_store *store = NULL;
    if (went(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error))) use_store(store, true);
    quire_store_release(store);
    quire_model_release(model);
    return true;
}

bool read_archive(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    struct stat status;
    CHECK(fstat(fileno(file), &status) == 0);
    /* No byte behind the last one, so that the sanitizer sees a read of it. */
    uint8_t *data = malloc((size_t)status.st_size + !status.st_size);
    const size_t size = fread(data, 1, (size_t)status.st_size, file);
    fclose(file);
    quire_evaluation *evaluation = NULL;
    const bool is_read = went(quire_archive_decode(data, size, &evaluation, &error));
    if (is_read) touch(quire_evaluation_value(evaluation), 0);
    quire_evaluation_release(evaluation);
    free(data);
    return is_read;
}
