#include "world.h"

#include "dice.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

quire_error *error;

void require_ok(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    fprintf(stderr, "%s gives %s: %s\n", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
    abort();
}

/* --- Values: few of each type, so that many are equal, and those at which something changes. */

static const int64_t small_integers[] = {-32768, -2, -1, 0, 0, 1, 1, 2, 3, 7, 10, 64, 100, 32767};
static const int64_t medium_integers[] = {INT32_MIN, -1, 0, 1, 2, 3, 16777216, 16777217, INT32_MAX};
static const int64_t large_integers[] = {
    INT64_MIN, INT64_MIN + 1, -9007199254740993, -1, 0, 1, 2, 3, 9007199254740991, 9007199254740992, 9007199254740993,
    INT64_MAX - 1, INT64_MAX};
static const double reals[] = {
    -INFINITY, -DBL_MAX, -9223372036854775808.0, -2.5, -1, -0.5, -0.0, 0.0, 5e-324, 0.1, 0.5, 1, 1.5, 2, 2.5, 3, 100,
    9007199254740992.0, 9223372036854775808.0, 1e300, INFINITY};
static const double narrow_reals[] = {
    -INFINITY, -FLT_MAX, -2.5, -0.0, 0.0, 1e-45, 0.1, 0.5, 1, 2, 2.5, 3, 16777216, FLT_MAX, INFINITY};
/* Behind the plain ones those that no double is, and that attributes reject. */
enum { STORED_DECIMALS = 22 };
static const char *const decimals[] = {
    "-12.50", "-1", "0", "0.1", "0.5", "1", "2", "2.5", "3", "1e3", "123456789.125", "1e-9", "0.1", "0.3", "-1", "2", "10", "10.0",
    "16777217", "1e19", "1e120", "-1.5e-120",
    "0.1000000000000000000000000001", "0.09999999999999999999999", "2.00000000000000000000000000000000001",
    "9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854774784.5",
    "12345678901234567890123456789012345678", "-99999999999999999999999999999999999999"};
static const double dates[] = {-62135596800.0, -1e9, 0, 978307200, 978307200.5, 978307203, 1e9, 1700000000.25, 1e12};
static const char *const texts[] = {
    "", "a", "A", "b", "ab", "aB", "AB", "abc", "abcabc", "a b", "1", "2", "10", "2.5", "File 9", "File 10", "file 9", "File 09",
    "0x10", "%", "_", "a_b", "a%b", "*", "a*b", "?", "\\", "'", "\"", "\n", "a\nb", " ", "nil", "z", "Z", "[a]", "a+",
    "The Abc of ABCs", "abcdabce", "Fi\xC3\xA9l\xC3\xA9 9",
    /* Letters with marks, composed and not, a mark alone. */
    "\xC3\xA4", "a\xCC\x88", "\xC3\x84", "\xC3\xA9t\xC3\xA9", "e\xCC\x81te", "ete", "\xC5\xBE", "\xC3\xB8", "\xC3\xA5", "\xCC\x81",
    /* Sharp s, small and capital; i with and without a dot; a ligature; sigmas; a letter in title case. */
    "\xC3\x9F", "ss", "SS", "\xE1\xBA\x9E", "i", "I", "\xC4\xB0", "\xC4\xB1", "i\xCC\x87", "\xEF\xAC\x81", "fi", "\xCE\xA3", "\xCF\x83",
    "\xCF\x82", "\xC7\x85",
    /* Emoji, alone and joined; Japanese; a Korean syllable, composed and not. */
    "\xF0\x9F\x98\x80", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", "\xE6\x97\xA5\xE6\x9C\xAC", "\xED\x95\x9C",
    "\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB",
    /* Marks that are letters of words: Thai, Hindi, Japanese, composed and not; and marks that are not: Arabic, Hebrew. */
    "\xE0\xB8\x81\xE0\xB8\xB4\xE0\xB8\x99", "\xE0\xB8\x81\xE0\xB8\xB1\xE0\xB8\x99",
    "\xE0\xA4\x95\xE0\xA5\x81\xE0\xA4\xB2", "\xE0\xA4\x95\xE0\xA5\x87\xE0\xA4\xB2",
    "\xE3\x81\x8B", "\xE3\x81\x8C", "\xE3\x81\x8B\xE3\x82\x99", "\xD9\x85\xD9\x8F", "\xD9\x85",
    "\xD7\xA9\xD7\xB8\xD7\x81", "\xD7\xA9",
    /* Letters whose folding is longer, in words; the iota subscript, alone and behind letters. */
    ("Stra\xC3\x9F" "e"), "stra\xC3\x9F", "\xC4\xB0zm\xC4\xB0r", "o\xEF\xAC\x81x", "\xCD\x85", "\xCE\xB1\xCD\x85", "a\xCD\x85",
    "\xE1\xBE\xB3"};
static const char *const uris[] = {
    "http://a.example/", "http://a.example/b", "HTTP://A.EXAMPLE/", "mailto:x@y.example", "urn:\xC3\x9F"};
static const uint8_t bytes[][16] = {
    {0}, {0, 1}, {1, 2, 3}, {255}, {'a', 'b'}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const uint32_t byte_counts[] = {0, 1, 2, 3};

kind kind_of_type(quire_attribute_type type) {
    switch (type) {
    case QUIRE_TYPE_STRING:
    case QUIRE_TYPE_URI: return TEXT;
    case QUIRE_TYPE_DATE: return DATE;
    case QUIRE_TYPE_BINARY: return DATA;
    case QUIRE_TYPE_UUID: return UUID;
    default: return NUMBER;
    }
}

quire_value value_for(quire_attribute_type type) {
    if (chance(18)) return quire_value_nil();
    switch (type) {
    case QUIRE_TYPE_INTEGER_16: return quire_value_integer(RANDOM_OF(small_integers));
    case QUIRE_TYPE_INTEGER_32: return quire_value_integer(chance(50) ? RANDOM_OF(small_integers) : RANDOM_OF(medium_integers));
    case QUIRE_TYPE_INTEGER_64: return quire_value_integer(chance(40) ? RANDOM_OF(small_integers) : RANDOM_OF(large_integers));
    case QUIRE_TYPE_DECIMAL: return quire_value_decimal(RANDOM_OF(decimals));
    case QUIRE_TYPE_DOUBLE: return quire_value_double(RANDOM_OF(reals));
    case QUIRE_TYPE_FLOAT: {
        quire_value value = quire_value_double((float)RANDOM_OF(narrow_reals));
        value.kind = QUIRE_VALUE_FLOAT;
        return value;
    }
    /* One text has a NUL inside. */
    case QUIRE_TYPE_STRING: return chance(2) ? quire_value_text_sized("a\0b", 3) : quire_value_text(RANDOM_OF(texts));
    case QUIRE_TYPE_BOOLEAN: return quire_value_boolean(random_below(2));
    case QUIRE_TYPE_DATE: return quire_value_date(RANDOM_OF(dates));
    case QUIRE_TYPE_BINARY: return quire_value_data(RANDOM_OF(bytes), RANDOM_OF(byte_counts));
    case QUIRE_TYPE_UUID: return quire_value_uuid(RANDOM_OF(bytes));
    case QUIRE_TYPE_URI: return quire_value_uri(RANDOM_OF(uris));
    default: return quire_value_nil();
    }
}

static quire_value attribute_value(quire_attribute_type type) {
    if (type == QUIRE_TYPE_DECIMAL && chance(82)) return quire_value_decimal(decimals[random_below(STORED_DECIMALS)]);
    return type == QUIRE_TYPE_DECIMAL ? quire_value_nil() : value_for(type);
}

/* --- Making models and rows. */

static const struct { quire_attribute_type type; const char *name; } types[] = {
    {QUIRE_TYPE_INTEGER_16, "small"}, {QUIRE_TYPE_INTEGER_32, "medium"}, {QUIRE_TYPE_INTEGER_64, "large"},
    {QUIRE_TYPE_DECIMAL, "decimal"}, {QUIRE_TYPE_DOUBLE, "real"}, {QUIRE_TYPE_FLOAT, "narrow"},
    {QUIRE_TYPE_STRING, "text"}, {QUIRE_TYPE_STRING, "title"}, {QUIRE_TYPE_BOOLEAN, "flag"},
    {QUIRE_TYPE_DATE, "moment"}, {QUIRE_TYPE_BINARY, "bytes"}, {QUIRE_TYPE_UUID, "uuid"}, {QUIRE_TYPE_URI, "link"}};

/* Words of the language and of SQL. */
static const char *const words[] = {"in", "like", "size", "first", "select", "order", "not", "any", "count", "length", "none"};

bool is_kind_of(const world *world, int entity, int ancestor) {
    while (entity >= 0 && entity != ancestor) entity = world->entities[entity].parent;
    return entity == ancestor;
}

bool has_property(const world *world, int entity, int property) {
    return is_kind_of(world, entity, world->properties[property].owner);
}

static property *add_property(world *world, int owner, const char *stem) {
    property *made = &world->properties[world->property_count];
    memset(made, 0, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s%d", stem, world->property_count);
    made->owner = owner;
    made->destination = made->inverse = -1;
    world->property_count++;
    return made;
}

static void add_attribute(world *world, int owner, int which, unsigned *used_words) {
    property *made = add_property(world, owner, types[which].name);
    made->type = types[which].type;
    made->is_searchable = kind_of_type(made->type) == TEXT && chance(40);
    const int word = random_below(COUNT_OF(words));
    if (!chance(8) || *used_words & 1u << word) return;
    *used_words |= 1u << word;
    snprintf(made->name, sizeof made->name, "%s", words[word]);
}

static void add_relationship(world *world) {
    const int from = random_below(world->entity_count), to = random_below(world->entity_count);
    const int shape = random_below(10), first = world->property_count;
    const bool is_many_to_many = shape >= 6, is_to_many = is_many_to_many || (shape >= 1 && shape <= 4);
    const bool is_ordered = is_to_many && chance(35);
    property *one = add_property(world, from, is_ordered ? "ordered" : is_to_many ? "many" : "one");
    one->destination = to;
    one->is_to_many = is_to_many;
    one->is_ordered = is_ordered;
    /* Of one-to-many, the side that holds a single object leads, unless the order matters. */
    one->leads = is_ordered || is_many_to_many || !is_to_many;
    if (shape == 0) return;
    property *other = add_property(world, to, is_many_to_many ? "many" : "one");
    other->destination = from;
    other->is_to_many = is_many_to_many;
    other->leads = !one->leads;
    one->inverse = first + 1;
    other->inverse = first;
}

/* Whether an object can be at the far end only once. */
static bool is_exclusive(const world *world, const property *property) {
    return property->inverse >= 0 && !world->properties[property->inverse].is_to_many;
}

static void make_states(world *world, bool is_before, int row_count) {
    static bool is_taken[MOST_PROPERTIES][SLOTS];
    memset(is_taken, 0, sizeof is_taken);
    for (int slot = 0; slot < row_count; slot++) {
        world_row *row = &world->rows[slot];
        row_state *state = is_before ? &row->before : &row->now;
        /* Most of what is pending is a small change. */
        const bool keeps = is_before && slot < world->first_unsaved && chance(60);
        for (int i = 0; i < world->property_count; i++) {
            const property *property = &world->properties[i];
            if (!has_property(world, row->entity, i)) continue;
            if (property->destination < 0) {
                state->values[i] = keeps || (is_before && chance(70)) ? row->now.values[i] : attribute_value(property->type);
                continue;
            }
            if (!property->leads) continue;
            int wanted = chance(20) ? 0 : property->is_to_many ? random_below(MOST_LINKS + 1) : 1;
            if (keeps) wanted = row->now.link_counts[i];
            for (int link = 0; link < wanted; link++) {
                int target = random_below(row_count);
                if (is_before && link < row->now.link_counts[i] && (keeps || chance(60))) target = row->now.links[i][link];
                if (target >= row_count || !is_kind_of(world, world->rows[target].entity, property->destination)) continue;
                if (is_before && target >= world->first_unsaved && target < world->row_count) continue;
                if (is_exclusive(world, property) && is_taken[i][target]) continue;
                bool holds = false;
                for (int other = 0; other < state->link_counts[i]; other++) holds |= state->links[i][other] == target;
                if (holds) continue;
                is_taken[i][target] = true;
                state->links[i][state->link_counts[i]++] = target;
            }
        }
    }
}

void make_world(world *world) {
    static const char *const names[MOST_ENTITIES] = {"Alpha", "Beta", "Gamma", "Delta"};
    memset(world, 0, sizeof *world);
    world->entity_count = 1 + random_below(MOST_ENTITIES);
    unsigned used_words = 0;
    for (int i = 0; i < world->entity_count; i++) {
        world->entities[i].name = names[i];
        world->entities[i].parent = i > 0 && chance(40) ? random_below(i) : -1;
        for (int count = 2 + random_below(5); count > 0; count--) add_attribute(world, i, random_below(COUNT_OF(types)), &used_words);
    }
    /* One of each type at least somewhere, often enough. */
    if (chance(50))
        for (int i = 0; i < COUNT_OF(types); i++) add_attribute(world, 0, i, &used_words);
    for (int count = random_below(6); count > 0; count--) add_relationship(world);

    world->row_count = chance(4) ? random_below(2) : chance(30) ? 1 + random_below(8) : 8 + random_below(53);
    world->first_unsaved = random_below(world->row_count + 1);
    world->doomed_count = random_below(4);
    world->is_read_back = random_below(2);
    const int all = world->row_count + world->doomed_count;
    for (int slot = 0; slot < all; slot++) {
        world->rows[slot].exists = true;
        world->rows[slot].entity = random_below(world->entity_count);
    }
    make_states(world, false, world->row_count);
    make_states(world, true, all);
}

/* --- Making the rows of a world. */

static quire_model *new_model(const world *world) {
    quire_model *model = quire_model_create();
    for (int i = 0; i < world->entity_count; i++) {
        quire_entity_options options = QUIRE_ENTITY_OPTIONS_INIT;
        if (world->entities[i].parent >= 0) options.parent = world->entities[world->entities[i].parent].name;
        OK(quire_model_add_entity(model, world->entities[i].name, QUIRE_NUL, &options, &error));
    }
    for (int i = 0; i < world->property_count; i++) {
        const property *property = &world->properties[i];
        const char *owner = world->entities[property->owner].name;
        if (property->destination < 0) {
            quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
            options.is_optional = true;
            options.is_searchable = property->is_searchable;
            OK(quire_model_add_attribute(model, owner, QUIRE_NUL, property->name, QUIRE_NUL, property->type, &options, &error));
            continue;
        }
        quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
        options.is_optional = true;
        options.is_to_many = property->is_to_many;
        options.is_ordered = property->is_ordered;
        options.inverse = property->inverse >= 0 ? world->properties[property->inverse].name : NULL;
        OK(quire_model_add_relationship(model, owner, QUIRE_NUL, property->name, QUIRE_NUL,
            world->entities[property->destination].name, QUIRE_NUL, &options, &error));
    }
    return model;
}

static void insert_row(stage *stage, const world *world, int slot) {
    if (!world->rows[slot].exists) return;
    OK(quire_context_insert(
        stage->context, world->entities[world->rows[slot].entity].name, QUIRE_NUL, &stage->objects[slot], &error));
}

static bool are_same(quire_value left, quire_value right) {
    /* Values of a world point into the tables above, so that the same value is the same pointer. */
    return left.kind == right.kind && left.size == right.size && left.as.integer == right.as.integer;
}

static bool are_links_same(const row_state *left, const row_state *right, int i) {
    return left->link_counts[i] == right->link_counts[i]
        && memcmp(left->links[i], right->links[i], sizeof(int) * (size_t)left->link_counts[i]) == 0;
}

static void clear_links(stage *stage, const world *world, int slot, const row_state *old, const row_state *new) {
    for (int i = 0; i < world->property_count; i++) {
        if (are_links_same(old, new, i)) continue;
        const property *property = &world->properties[i];
        const quire_value nil = quire_value_nil();
        if (!property->is_to_many)
            OK(quire_object_set(stage->objects[slot], property->name, QUIRE_NUL, &nil, &error));
        else
            for (int link = 0; link < old->link_counts[i]; link++) {
                quire_object *target = stage->objects[old->links[i][link]];
                if (target) OK(quire_object_remove(stage->objects[slot], property->name, QUIRE_NUL, target, &error));
            }
    }
}

static void set_state(stage *stage, const world *world, int slot, const row_state *old, const row_state *new) {
    quire_object *object = stage->objects[slot];
    for (int i = 0; i < world->property_count; i++) {
        const property *property = &world->properties[i];
        if (!has_property(world, world->rows[slot].entity, i)) continue;
        if (property->destination < 0) {
            if (old && are_same(old->values[i], new->values[i])) continue;
            OK(quire_object_set(object, property->name, QUIRE_NUL, &new->values[i], &error));
            continue;
        }
        if (old && are_links_same(old, new, i)) continue;
        for (int link = 0; link < new->link_counts[i]; link++) {
            quire_object *target = stage->objects[new->links[i][link]];
            if (!target) continue;
            const quire_value value = quire_value_object(target);
            if (property->is_to_many) OK(quire_object_add(object, property->name, QUIRE_NUL, target, &error));
            else OK(quire_object_set(object, property->name, QUIRE_NUL, &value, &error));
        }
    }
}

static void change_rows(stage *stage, const world *world) {
    const int saved = world->first_unsaved;
    for (int slot = world->row_count; slot < world->row_count + world->doomed_count; slot++) {
        if (!stage->objects[slot]) continue;
        OK(quire_context_delete(stage->context, stage->objects[slot], &error));
        quire_object_release(stage->objects[slot]);
        stage->objects[slot] = NULL;
    }
    OK(quire_context_process(stage->context, &error));
    for (int slot = saved; slot < world->row_count; slot++) insert_row(stage, world, slot);
    for (int slot = 0; slot < saved; slot++)
        if (stage->objects[slot]) clear_links(stage, world, slot, &world->rows[slot].before, &world->rows[slot].now);
    for (int slot = 0; slot < world->row_count; slot++)
        if (stage->objects[slot])
            set_state(stage, world, slot, slot < saved ? &world->rows[slot].before : NULL, &world->rows[slot].now);
}

/* The same objects in a context of their own. */
static void read_back(stage *stage, const world *world) {
    quire_context *fresh = NULL;
    OK(quire_context_create(stage->store, &fresh, &error));
    for (int slot = 0; slot < world->row_count; slot++) {
        if (!stage->objects[slot]) continue;
        const int64_t id = quire_object_id(stage->objects[slot]);
        const char *entity = world->entities[world->rows[slot].entity].name;
        quire_object_release(stage->objects[slot]);
        OK(quire_context_object(fresh, entity, QUIRE_NUL, id, &stage->objects[slot], &error));
    }
    quire_context_release(stage->context);
    stage->context = fresh;
}

void open_stage(stage *stage, const world *world, stage_kind kind) {
    memset(stage, 0, sizeof *stage);
    quire_model *model = new_model(world);
    OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &stage->store, &error));
    OK(quire_context_create(stage->store, &stage->context, &error));
    quire_model_release(model);
    const int count = world->row_count;
    const bool is_before = kind == MIXED || kind == EARLIER;
    for (int slot = 0; slot < count; slot++)
        if (!is_before || slot < world->first_unsaved) insert_row(stage, world, slot);
    if (is_before)
        for (int slot = count; slot < count + world->doomed_count; slot++) insert_row(stage, world, slot);
    for (int slot = 0; slot < SLOTS; slot++)
        if (stage->objects[slot])
            set_state(stage, world, slot, NULL, is_before ? &world->rows[slot].before : &world->rows[slot].now);
    if (kind != UNSAVED) OK(quire_context_save(stage->context, &error));
    if (kind == SAVED && world->is_read_back) read_back(stage, world);
    if (kind == MIXED) change_rows(stage, world);
}

void close_stage(stage *stage) {
    for (int slot = 0; slot < SLOTS; slot++) quire_object_release(stage->objects[slot]);
    quire_context_release(stage->context);
    quire_store_release(stage->store);
    memset(stage, 0, sizeof *stage);
}

/* --- Showing them. */

static void print_text(FILE *out, const char *text, size_t size) {
    fputc('"', out);
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == '"' || byte == '\\') fprintf(out, "\\x%02x", byte);
        else fputc(byte, out);
    }
    fputc('"', out);
}

void print_value(FILE *out, quire_value value) {
    const size_t size = value.size == QUIRE_NUL ? strlen(value.as.text) : value.size;
    switch (value.kind) {
    case QUIRE_VALUE_INTEGER: fprintf(out, "%lld", (long long)value.as.integer); break;
    case QUIRE_VALUE_BOOLEAN: fprintf(out, "%s", value.as.boolean ? "YES" : "NO"); break;
    case QUIRE_VALUE_DOUBLE:
    case QUIRE_VALUE_FLOAT: fprintf(out, "%.17g", value.as.real); break;
    case QUIRE_VALUE_DATE: fprintf(out, "1970%+.17g", value.as.real); break;
    case QUIRE_VALUE_DECIMAL: fprintf(out, "%.*s", (int)size, value.as.text); break;
    case QUIRE_VALUE_TEXT:
    case QUIRE_VALUE_URI: print_text(out, value.as.text, size); break;
    case QUIRE_VALUE_DATA:
    case QUIRE_VALUE_UUID:
        fputc('<', out);
        for (size_t i = 0; i < size; i++) fprintf(out, "%02x", value.as.data[i]);
        fputc('>', out);
        break;
    default: fprintf(out, "nil");
    }
}

static void print_state(FILE *out, const world *world, const row_state *state) {
    for (int i = 0; i < world->property_count; i++) {
        if (state->values[i].kind != QUIRE_VALUE_NIL) {
            fprintf(out, "  %s ", world->properties[i].name);
            print_value(out, state->values[i]);
        }
        bool shows = false;
        for (int link = 0; link < state->link_counts[i]; link++) {
            if (!world->rows[state->links[i][link]].exists) continue;
            if (!shows) fprintf(out, "  %s", world->properties[i].name);
            shows = true;
            fprintf(out, " #%d", state->links[i][link]);
        }
    }
    fprintf(out, "\n");
}

static bool are_states_same(const world *world, const row_state *left, const row_state *right) {
    for (int i = 0; i < world->property_count; i++)
        if (!are_same(left->values[i], right->values[i]) || !are_links_same(left, right, i)) return false;
    return true;
}

void print_world(FILE *out, const world *world) {
    for (int entity = 0; entity < world->entity_count; entity++) {
        const int parent = world->entities[entity].parent;
        fprintf(out, "  entity %s", world->entities[entity].name);
        if (parent >= 0) fprintf(out, " is %s", world->entities[parent].name);
        fprintf(out, ":");
        for (int i = 0; i < world->property_count; i++) {
            const property *property = &world->properties[i];
            if (property->owner != entity) continue;
            fprintf(out, " %s%s", property->name, property->is_searchable ? "(searchable)" : "");
            if (property->destination < 0) continue;
            fprintf(out, "(%s%s", property->is_ordered ? "ordered " : property->is_to_many ? "many " : "",
                world->entities[property->destination].name);
            if (property->inverse >= 0) fprintf(out, " inverse %s", world->properties[property->inverse].name);
            fprintf(out, ")");
        }
        fprintf(out, "\n");
    }
    for (int slot = 0; slot < world->row_count + world->doomed_count; slot++) {
        const world_row *row = &world->rows[slot];
        if (!row->exists) continue;
        if (slot < world->row_count) {
            fprintf(out, "  #%d %s", slot, world->entities[row->entity].name);
            print_state(out, world, &row->now);
        }
        const bool is_doomed = slot >= world->row_count;
        if (is_doomed || (slot < world->first_unsaved && !are_states_same(world, &row->now, &row->before))) {
            fprintf(out, "    #%d %s", slot, is_doomed ? "deleted in mixed stage, was" : "saved in mixed stage as");
            print_state(out, world, &row->before);
        }
    }
}
