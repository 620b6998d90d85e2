#include "shop.h"

#include "dice.h"

#include <math.h>
#include <poll.h>
#include <string.h>

setting current;
place places[CONTEXTS];

static quire_model *model;
static quire_store *store;
static quire_fetch_request *all[KINDS];

/* Ids are small: an entity begins with 1, and keys are taken ahead a few at a time. */
enum { MOST_IDS = 1 << 16 };
static int64_t ids[KINDS][MOST_THINGS];
static int16_t slots[KINDS][MOST_IDS];

const char *const entities[KINDS] = {"Book", "Person", "City", "Tag"};
const key keys[KINDS][KEYS] = {
    {{"title", QUIRE_TYPE_STRING}, {"price", QUIRE_TYPE_DOUBLE}, {"created", QUIRE_TYPE_DATE}},
    {{"name", QUIRE_TYPE_STRING}, {"age", QUIRE_TYPE_INTEGER_64}, {"born", QUIRE_TYPE_DATE}},
    {{"name", QUIRE_TYPE_STRING}, {"size", QUIRE_TYPE_INTEGER_64}, {"founded", QUIRE_TYPE_DATE}},
    {{"name", QUIRE_TYPE_STRING}, {"weight", QUIRE_TYPE_INTEGER_64}, {"begun", QUIRE_TYPE_DATE}},
};

/* nil and empty text, which share a section; an emoji; the same letter composed and with a combining mark. */
const char *const texts[] = {NULL, "", "Ann", "ann", "Anna", "Bob", "Zoe", "\xF0\x9F\xA6\x89", "\xC3\x84sop", "A\xCC\x88sop"};
const double numbers[] = {NAN, 0, 10, 20, 30, 40, 50, -5};
/* Of 1970 but the last: noon on January 1 and 2, a Saturday and a Sunday in January, February 1, a day of 1969. */
const double dates[] = {NAN, 43200, 129600, 216000, 302400 + 3600, 31 * 86400.0, -86400 * 40.0 + 1};

int pool_size(const key *key) {
    return key->type == QUIRE_TYPE_STRING ? COUNT_OF(texts) : key->type == QUIRE_TYPE_DATE ? COUNT_OF(dates) : COUNT_OF(numbers);
}

quire_value pool_value(const key *key, int place) {
    if (place == 0) return quire_value_nil();
    if (key->type == QUIRE_TYPE_STRING) return quire_value_text(texts[place]);
    if (key->type == QUIRE_TYPE_DATE) return quire_value_date(dates[place]);
    return key->type == QUIRE_TYPE_DOUBLE ? quire_value_double(numbers[place]) : quire_value_integer((int64_t)numbers[place]);
}

const char *text_of(const thing *thing, int key) { return texts[thing->values[key]]; }
/* Dates are the third key of each kind. */
double number_of(const thing *thing, int key) { return (key == 2 ? dates : numbers)[thing->values[key]]; }

static void add_relationship(const char *entity, const char *name, const char *destination, const char *inverse, bool is_to_many,
    quire_delete_rule rule) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_to_many = is_to_many;
    options.is_optional = true;
    options.inverse = inverse;
    options.delete_rule = rule;
    OK(quire_model_add_relationship(model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options, &error));
}

static void make_model(void) {
    model = quire_model_create();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    for (int kind = 0; kind < KINDS; kind++) {
        OK(quire_model_add_entity(model, entities[kind], QUIRE_NUL, NULL, &error));
        OK(quire_model_add_attribute(
            model, entities[kind], QUIRE_NUL, "number", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
        for (int i = 0; i < KEYS; i++)
            OK(quire_model_add_attribute(
                model, entities[kind], QUIRE_NUL, keys[kind][i].name, QUIRE_NUL, keys[kind][i].type, &options, &error));
    }
    quire_entity_options novel = QUIRE_ENTITY_OPTIONS_INIT;
    novel.parent = "Book";
    OK(quire_model_add_entity(model, "Novel", QUIRE_NUL, &novel, &error));
    add_relationship("Book", "author", "Person", "books", false, QUIRE_DELETE_NULLIFY);
    add_relationship("Person", "books", "Book", "author", true, current.cascades ? QUIRE_DELETE_CASCADE : QUIRE_DELETE_NULLIFY);
    add_relationship("Person", "city", "City", "people", false, QUIRE_DELETE_NULLIFY);
    add_relationship("City", "people", "Person", "city", true, QUIRE_DELETE_NULLIFY);
    add_relationship("Book", "tags", "Tag", "books", true, QUIRE_DELETE_NULLIFY);
    add_relationship("Tag", "books", "Book", "tags", true, QUIRE_DELETE_NULLIFY);
}

void open_shop(void) {
    make_model();
    memset(slots, -1, sizeof slots);
    OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    for (int i = 0; i < current.context_count; i++) {
        place *place = &places[i];
        const int parent = current.parents[i];
        if (parent < 0) OK(quire_context_create(store, &place->context, &error));
        else OK(quire_context_create_child(places[parent].context, &place->context, &error));
        OK(quire_context_descriptor(place->context, &place->descriptor, &error));
        OK(quire_context_set_merge_policy(place->context, current.policies[i], &error));
        OK(quire_context_set_merges_automatically(place->context, current.merges[i], &error));
        if (current.undoes[i]) OK(quire_context_enable_undo(place->context, 0, &error));
    }
    for (int kind = 0; kind < KINDS; kind++) OK(quire_fetch_request_create(entities[kind], QUIRE_NUL, &all[kind], &error));
}

void close_shop(void) {
    for (int kind = 0; kind < KINDS; kind++) quire_fetch_request_release(all[kind]);
    for (int i = current.context_count - 1; i >= 0; i--) quire_context_release(places[i].context);
    quire_store_release(store);
    quire_model_release(model);
}

bool is_on(int context, int other) {
    while (context >= 0 && context != other) context = current.parents[context];
    return context >= 0;
}

int root_of(int context) {
    while (current.parents[context] >= 0) context = current.parents[context];
    return context;
}

bool has_pending(int context) {
    for (; context >= 0; context = current.parents[context])
        if (quire_context_has_changes(places[context].context)) return true;
    return false;
}

bool is_settled(int context) {
    for (; context >= 0; context = current.parents[context]) {
        struct pollfd news = {places[context].descriptor, POLLIN, 0};
        if (places[context].is_dirty || poll(&news, 1, 0) != 0) return false;
    }
    return true;
}

void note_thing(int kind, int slot, int64_t id) {
    if (id <= 0 || id >= MOST_IDS) differ("%s %d has the id %lld", entities[kind], slot, (long long)id);
    if (slots[kind][id] >= 0 && slots[kind][id] != slot) differ("two things have the id %lld", (long long)id);
    ids[kind][slot] = id;
    slots[kind][id] = (int16_t)slot;
}

/* Of one that a batch request has just inserted, delegates hear before its id is given out. Its number says which it is. */
static void learn_id(int kind, int64_t id) {
    quire_object *object = NULL;
    quire_value number = quire_value_nil();
    for (int i = 0; i < current.context_count && !object; i++)
        if (quire_context_object(places[i].context, entities[kind], QUIRE_NUL, id, &object, NULL) != QUIRE_OK) object = NULL;
    if (!object) return;
    OK(quire_object_get(object, "number", QUIRE_NUL, &number, &error));
    if (number.kind == QUIRE_VALUE_INTEGER) note_thing(kind, (int)number.as.integer, id);
    quire_object_release(object);
}

int slot_of_id(int kind, int64_t id) {
    if (id <= 0 || id >= MOST_IDS) return -1;
    if (slots[kind][id] < 0) learn_id(kind, id);
    return slots[kind][id];
}

quire_object *find_thing(int context, int kind, int slot) {
    quire_object *object = NULL;
    if (slot < 0 || !ids[kind][slot]) return NULL;
    const quire_status status =
        quire_context_object(places[context].context, entities[kind], QUIRE_NUL, ids[kind][slot], &object, &error);
    if (status != QUIRE_OK && status != QUIRE_NOT_FOUND) succeed(status, "looking for a thing");
    if (status == QUIRE_OK) return object;
    quire_error_release(error);
    error = NULL;
    return NULL;
}

static int pool_place(const key *key, const quire_value *value) {
    if (value->kind == QUIRE_VALUE_NIL) return 0;
    for (int i = 1; i < pool_size(key); i++) {
        const quire_value other = pool_value(key, i);
        if (other.kind != value->kind) break;
        if (other.kind == QUIRE_VALUE_TEXT ? strcmp(other.as.text, value->as.text) == 0
            : other.kind == QUIRE_VALUE_INTEGER ? other.as.integer == value->as.integer : other.as.real == value->as.real)
            return i;
    }
    differ("%s has a value that nobody gave it", key->name);
}

static void read_thing(int kind, quire_object *object, thing *out) {
    quire_value value;
    for (int i = 0; i < KEYS; i++) {
        OK(quire_object_get(object, keys[kind][i].name, QUIRE_NUL, &value, &error));
        out->values[i] = pool_place(&keys[kind][i], &value);
    }
    out->holder = -1;
    if (kind == BOOK || kind == PERSON) {
        OK(quire_object_get(object, kind == BOOK ? "author" : "city", QUIRE_NUL, &value, &error));
        if (value.kind != QUIRE_VALUE_NIL) out->holder = slot_of_id(kind + 1, value.as.integer);
    }
    if (kind != BOOK) return;
    out->is_novel = strcmp(quire_object_entity(object).data, "Novel") == 0;
    quire_list *list = NULL;
    int64_t tags[MOST_TAGS];
    OK(quire_object_get_objects(object, "tags", QUIRE_NUL, &list, &error));
    OK(quire_list_ids(list, 0, quire_list_count(list), tags, &error));
    for (int64_t i = 0; i < quire_list_count(list); i++) out->tags |= 1u << slot_of_id(TAG, tags[i]);
    quire_list_release(list);
}

void read_facts(int context, facts *out) {
    memset(out, 0, sizeof *out);
    for (int kind = 0; kind < KINDS; kind++) {
        quire_list *list = NULL;
        OK(quire_context_fetch(places[context].context, all[kind], &list, &error));
        for (int64_t i = 0; i < quire_list_count(list); i++) {
            quire_object *object = NULL;
            quire_value number;
            OK(quire_list_object(list, i, &object, &error));
            OK(quire_object_get(object, "number", QUIRE_NUL, &number, &error));
            const int64_t id = quire_object_id(object);
            if (slot_of_id(kind, id) != number.as.integer) differ("%s %lld has the number of another", entities[kind], (long long)id);
            thing *thing = &out->things[kind][number.as.integer];
            if (thing->exists) differ("%s %lld is there twice", entities[kind], (long long)id);
            thing->exists = true;
            thing->id = id;
            read_thing(kind, object, thing);
            quire_object_release(object);
        }
        quire_list_release(list);
    }
}
