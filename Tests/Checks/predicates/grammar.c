#include "grammar.h"

#include "dice.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

node true_predicate = {true, false, "TRUEPREDICATE", 0, {NULL}, {0, 0, {0}}};
node false_predicate = {true, false, "FALSEPREDICATE", 0, {NULL}, {0, 0, {0}}};
node nil_value = {false, false, "nil", 0, {NULL}, {0, 0, {0}}};
node zero_value = {false, false, "0", 0, {NULL}, {0, 0, {0}}};

static const world *here;
static bool is_wild, has_chance;
static node nodes[MOST_NODES];
static int node_count;
static char memory[MOST_TEXT];
static size_t memory_used;
static quire_value list_values[4 * MOST_ARGUMENTS];
static int list_value_count;
static int variable_number;

/* What can be named: the keys of the object, and the variables of the subqueries around. */
typedef struct scope {
    int entity, variable_count;
    int variables[4], variable_entities[4];
} scope;

static node *value_of(kind kind, const scope *scope, int depth);
static node *collection_of(kind kind, const scope *scope, int depth);
static node *predicate_in(const scope *scope, int depth);

/* --- Nodes. */

static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *start = memory + memory_used;
    const size_t left = sizeof memory - memory_used;
    const int size = vsnprintf(start, left, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= left) return "nil";
    memory_used += (size_t)size + 1;
    return start;
}

node *new_node(const char *format, int child_count, ...) {
    /* The last node stands for all that find no room. */
    node *made = &nodes[node_count < MOST_NODES - 1 ? node_count++ : node_count];
    memset(made, 0, sizeof *made);
    made->format = format;
    made->child_count = child_count;
    va_list children;
    va_start(children, child_count);
    for (int i = 0; i < child_count; i++) made->children[i] = va_arg(children, node *);
    va_end(children);
    return made;
}

int mark_nodes(void) { return node_count; }

void forget_nodes(int mark) { node_count = mark; }

/* The room is ample for the depths that are asked for; what would go beyond becomes a constant. */
static bool is_full(void) { return node_count > MOST_NODES - 100 || memory_used > sizeof memory - 4096; }

static node *leaf(const char *format) { return new_node(format, 0); }
static node *one(const char *format, node *first) { return new_node(format, 1, first); }
static node *two(const char *format, node *first, node *second) { return new_node(format, 2, first, second); }

static node *predicate(node *node) {
    node->is_predicate = true;
    return node;
}

static node *choice(node *node) {
    node->is_choice = true;
    return node;
}

node *argument(quire_value value) {
    node *made = leaf("\7");
    made->argument = value;
    return made;
}

bool has_choice(const node *node) {
    bool found = node->is_choice;
    for (int i = 0; i < node->child_count; i++) found |= has_choice(node->children[i]);
    return found;
}

/* --- Paths. */

static const char *key(int property, bool is_first) {
    static const char *const reserved[] = {"in", "like", "not", "any", "none"};
    const char *name = here->properties[property].name;
    bool needs_sign = chance(3);
    for (int i = 0; i < COUNT_OF(reserved); i++) needs_sign |= is_first && strcmp(name, reserved[i]) == 0;
    return needs_sign ? text("#%s", name) : name;
}

/* SELF and variables with their entities; the first is SELF, which keys need not name. */
static const char *random_start(const scope *scope, int *out_entity) {
    const int which = scope->variable_count && chance(65) ? random_below(scope->variable_count) : -1;
    *out_entity = which < 0 ? scope->entity : scope->variable_entities[which];
    return which >= 0 ? text("$v%d", scope->variables[which]) : chance(8) ? "SELF" : "";
}

static const char *join(const char *path, const char *name) { return *path ? text("%s.%s", path, name) : name; }

static int random_property(int entity) {
    for (int tries = 0; tries < 40; tries++) {
        const int property = random_below(here->property_count);
        if (has_property(here, entity, property)) return property;
    }
    return -1;
}

/*
 * Follows random relationships from random starts. For OBJECT the path ends with a relationship, or may be empty;
 * otherwise with an attribute. `*out_entity` is where an object path ends, or what has the attribute.
 */
static const char *path_to(kind wanted, bool passes_many, const scope *scope, int *out_entity) {
    for (int tries = 0; tries < 30; tries++) {
        int entity;
        const char *path = random_start(scope, &entity);
        bool is_many = false;
        for (int hops = passes_many ? 1 + random_below(3) : random_below(3); hops > 0; hops--) {
            int property = -1;
            for (int tries = 0; tries < 12 && property < 0; tries++) {
                property = random_property(entity);
                if (property < 0 || here->properties[property].destination < 0) property = -1;
                else if (here->properties[property].is_to_many && !passes_many) property = -1;
            }
            if (property < 0) break;
            path = join(path, key(property, !*path));
            is_many |= here->properties[property].is_to_many;
            entity = here->properties[property].destination;
        }
        if (is_many != passes_many) continue;
        *out_entity = entity;
        if (wanted == OBJECT) return *path ? path : "SELF";
        const int property = random_property(entity);
        if (property < 0 || here->properties[property].destination >= 0) continue;
        if (kind_of_type(here->properties[property].type) == wanted) return join(path, key(property, !*path));
    }
    return NULL;
}

const char *make_sort_key(const world *world, int entity, quire_attribute_type *out_type) {
    begin_parts(world);
    return key_part(entity, out_type);
}

const char *key_part(int entity, quire_attribute_type *out_type) {
    const char *path = "";
    for (int hops = random_below(3); hops > 0; hops--) {
        const int property = random_property(entity);
        if (property < 0 || here->properties[property].destination < 0 || here->properties[property].is_to_many) continue;
        path = join(path, here->properties[property].name);
        entity = here->properties[property].destination;
    }
    for (int tries = 0; tries < 20; tries++) {
        const int property = random_property(entity);
        if (property < 0 || here->properties[property].destination >= 0) continue;
        *out_type = here->properties[property].type;
        return join(path, here->properties[property].name);
    }
    return NULL;
}

/* --- Constants. */

static const char *quoted(const char *value) {
    char buffer[256];
    size_t used = 0;
    buffer[used++] = '"';
    for (; *value && used < sizeof buffer - 10; value++) {
        if (*value == '"' || *value == '\\') buffer[used++] = '\\';
        if (*value == '\n') buffer[used++] = '\\';
        buffer[used++] = *value == '\n' ? 'n' : *value;
    }
    buffer[used++] = '"';
    buffer[used] = 0;
    return text("%s", buffer);
}

static quire_value object_at_random(void) {
    quire_value value = quire_value_nil();
    if (here->row_count == 0) return value;
    value.kind = QUIRE_VALUE_OBJECT;
    value.as.integer = random_below(here->row_count);
    return value;
}

static quire_value random_value(kind kind) {
    static const quire_attribute_type numbers[] = {
        QUIRE_TYPE_INTEGER_16, QUIRE_TYPE_INTEGER_16, QUIRE_TYPE_INTEGER_16, QUIRE_TYPE_INTEGER_32, QUIRE_TYPE_INTEGER_64,
        QUIRE_TYPE_DECIMAL, QUIRE_TYPE_DOUBLE, QUIRE_TYPE_FLOAT, QUIRE_TYPE_BOOLEAN};
    if (chance(2)) return quire_value_nil();
    switch (kind) {
    case NUMBER: return chance(3) ? quire_value_double(NAN) : value_for(RANDOM_OF(numbers));
    case TEXT: return value_for(chance(85) ? QUIRE_TYPE_STRING : QUIRE_TYPE_URI);
    case DATE: return value_for(QUIRE_TYPE_DATE);
    case DATA: return value_for(QUIRE_TYPE_BINARY);
    case UUID: return value_for(QUIRE_TYPE_UUID);
    default: return chance(10) ? quire_value_nil() : object_at_random();
    }
}

/* Those of the rows mostly, and what is no date. */
static const char *const written_dates[] = {
    "\"0001-01-01\"", "\"1970-01-01T00:00:00Z\"", "\"1970-01-01T02:00+02:00\"", "\"2001-01-01\"", "\"2001-01-01 00:00:00.5\"",
    "\"2001-01-01T00:00:03Z\"", "\"2023-11-14T22:13:20,25Z\"", "\"999021692800\"", "\"inf\"", "\"soon\""};

/* Written out where the language has a way to write it, or as an argument. */
node *constant(kind kind) {
    const quire_value value = random_value(kind);
    if (chance(50)) return argument(value);
    switch (value.kind) {
    case QUIRE_VALUE_NIL: return leaf(chance(50) ? "nil" : "NULL");
    case QUIRE_VALUE_INTEGER: return leaf(text("%lld", (long long)value.as.integer));
    case QUIRE_VALUE_BOOLEAN: return leaf(value.as.boolean ? "YES" : "false");
    case QUIRE_VALUE_DOUBLE: return isfinite(value.as.real) ? leaf(text("%.17g", value.as.real)) : argument(value);
    case QUIRE_VALUE_TEXT: return value.size == QUIRE_NUL ? leaf(quoted(value.as.text)) : argument(value);
    case QUIRE_VALUE_DATE: return chance(40) ? leaf(RANDOM_OF(written_dates)) : argument(value);
    default: return argument(value);
    }
}

/* A list of constants as one argument. */
static node *constant_list(kind kind, int count) {
    if (list_value_count + count > COUNT_OF(list_values)) return leaf("{}");
    quire_value *values = list_values + list_value_count;
    list_value_count += count;
    for (int i = 0; i < count; i++) values[i] = random_value(kind);
    return argument(quire_value_list(values, (uint32_t)count));
}

/* --- Values. */

static kind other_kind(kind kind) { return is_wild && chance(12) ? (enum kind)random_below(KINDS) : kind; }

static node *subquery(const scope *outer, int *out_entity, int depth) {
    const char *path = path_to(OBJECT, true, outer, out_entity);
    if (!path || outer->variable_count == COUNT_OF(outer->variables)) return NULL;
    scope inner = *outer;
    const int number = variable_number++;
    inner.variables[inner.variable_count] = number;
    inner.variable_entities[inner.variable_count++] = *out_entity;
    return choice(one(text("SUBQUERY(%s, $v%d, \1)", path, number), predicate_in(&inner, depth - 1)));
}

static node *path_node(kind kind, const scope *scope) {
    int entity;
    const char *path = path_to(kind, false, scope, &entity);
    return path ? leaf(path) : constant(kind);
}

/* An attribute, or a value reached through one, of a random kind or the wanted one. */
static const char *attribute_key(kind kind, int entity) {
    for (int tries = 0; tries < 20; tries++) {
        const int property = random_property(entity);
        if (property < 0 || here->properties[property].destination >= 0) continue;
        if (kind_of_type(here->properties[property].type) == kind) return here->properties[property].name;
    }
    return NULL;
}

/* Collection operators on a path. */
static node *aggregate(kind kind, const scope *scope) {
    int entity;
    const char *path = path_to(OBJECT, true, scope, &entity);
    if (!path) return constant(kind);
    if (kind == NUMBER && chance(45)) return leaf(text("%s.@count", path));
    const char *const attribute = attribute_key(other_kind(kind), entity);
    if (!attribute) return constant(kind);
    static const char *const numeric[] = {"sum", "avg", "min", "max"}, *const ordered[] = {"min", "max"};
    return leaf(text("%s.@%s.%s", path, kind == NUMBER ? RANDOM_OF(numeric) : RANDOM_OF(ordered), attribute));
}

/* A path may end with a single object, which has no place to name: an error, whatever there is. */
static node *indexed(kind kind, const scope *scope, int depth) {
    static const char *const places[] = {"FIRST", "LAST", "0", "1", "2", "-1"};
    int entity;
    if (depth > 0 && kind != OBJECT && chance(20)) {
        node *found = subquery(scope, &entity, depth);
        const char *attribute = found ? attribute_key(kind, entity) : NULL;
        if (attribute) return choice(one(text("\1[%s].%s", RANDOM_OF(places), attribute), found));
    }
    const char *path = path_to(OBJECT, true, scope, &entity);
    if (!path) return constant(kind);
    const char *place = RANDOM_OF(places);
    if (kind == OBJECT) {
        if (depth > 0 && chance(20)) return choice(one(text("%s[\1]", path), value_of(NUMBER, scope, depth - 2)));
        return choice(leaf(text("%s[%s]", path, place)));
    }
    const char *attribute = attribute_key(kind, entity);
    if (!attribute) return constant(kind);
    return choice(leaf(text(chance(50) ? "%s[%s].%s" : "(%1$s.%3$s)[%2$s]", path, place, attribute)));
}

static node *number(const scope *scope, int depth) {
    if (has_chance && chance(25)) return chance(60) ? leaf("random()") : leaf(text("randomn:(%d)", 1 + random_below(9)));
    static const char *const operators[] = {
        "(\1 + \2)", "(\1 - \2)", "(\1 * \2)", "(\1 / \2)", "(\1 %% \2)", "(\1 ** \2)", "\1 + \2", "\1 - \2", "\1 * \2"};
    static const char *const bitwise[] = {"(\1 & \2)", "(\1 | \2)", "(\1 ^ \2)", "(\1 << \2)", "(\1 >> \2)"};
    static const char *const unary[] = {
        "-(\1)", "abs:(\1)", "abs(\1)", "sqrt:(\1)", "log:(\1)", "ln:(\1)", "exp:(\1)", "floor(\1)", "ceiling:(\1)", "trunc:(\1)",
        "noindex:(\1)", "CAST(\1, \"NSNumber\")", "CAST(\1, \"NSDecimalNumber\")", "CAST(\1, \"float\")"};
    static const char *const statistics[] = {
        "sum:(\1)", "average:(\1)", "min:(\1)", "max:(\1)", "median:(\1)", "stddev:(\1)", "count:(\1)"};
    const int dice = random_below(100);
    if (dice < 30) return two(RANDOM_OF(operators), value_of(NUMBER, scope, depth - 1), value_of(NUMBER, scope, depth - 1));
    if (dice < 36) {
        /* Bits are those of integers alone, so mostly of integers. */
        if (chance(15)) return one("~(\1)", value_of(NUMBER, scope, depth - 1));
        node *right = chance(80) ? leaf(text("%d", random_below(70))) : value_of(NUMBER, scope, depth - 1);
        node *left = value_of(NUMBER, scope, depth - 1);
        if (chance(25)) left = leaf(text("%d", random_below(1000) - 100));
        else if (chance(30)) left = one("length:(\1)", value_of(TEXT, scope, depth - 1));
        return two(RANDOM_OF(bitwise), left, right);
    }
    if (dice < 56) return one(RANDOM_OF(unary), value_of(NUMBER, scope, depth - 1));
    if (dice < 62) return one("length:(\1)", value_of(other_kind(TEXT), scope, depth - 1));
    if (dice < 66) return one("CAST(\1, \"NSNumber\")", value_of(chance(50) ? TEXT : DATE, scope, depth - 1));
    if (dice < 80) return one(RANDOM_OF(statistics), collection_of(other_kind(NUMBER), scope, depth - 1));
    if (dice < 84) return one("count:(\1)", collection_of((kind)random_below(KINDS), scope, depth - 1));
    if (dice < 88) return one("\1[SIZE]", one("(\1)", collection_of((kind)random_below(KINDS), scope, depth - 1)));
    int entity;
    node *found = subquery(scope, &entity, depth);
    if (!found) return aggregate(NUMBER, scope);
    const char *attribute = attribute_key(NUMBER, entity);
    if (!attribute || chance(60)) return one(chance(60) ? "\1.@count" : "\1[SIZE]", found);
    static const char *const operations[] = {"\1.@sum.%s", "\1.@avg.%s", "\1.@min.%s", "\1.@max.%s"};
    return one(text(RANDOM_OF(operations), attribute), found);
}

static node *value_of(kind kind, const scope *scope, int depth) {
    kind = other_kind(kind);
    const int dice = random_below(100);
    if (is_full() || dice < 25) return constant(kind);
    if (dice < (depth <= 0 ? 85 : 60)) return path_node(kind, scope);
    const bool has_extremes = kind == NUMBER || kind == TEXT || kind == DATE;
    if (dice < (depth <= 0 ? 95 : 70) && has_extremes) return aggregate(kind, scope);
    if (depth <= 0 || dice < 75) return indexed(kind, scope, depth);
    if (dice < 78)
        return choice(new_node("TERNARY(\1, \2, \3)", 3, predicate_in(scope, depth - 1), value_of(kind, scope, depth - 1),
            value_of(kind, scope, depth - 1)));
    static const char *const textual[] = {"uppercase:(\1)", "lowercase:(\1)", "canonical:(\1)", "uppercase(\1)", "noindex:(\1)"};
    switch (kind) {
    case NUMBER: return number(scope, depth);
    case TEXT:
        if (chance(25)) {
            /* Not of objects, whose ids depend on the stage. */
            const bool was_wild = is_wild;
            is_wild = false;
            node *made = one("CAST(\1, \"NSString\")", value_of((enum kind)random_below(OBJECT), scope, depth - 1));
            is_wild = was_wild;
            return made;
        }
        return one(RANDOM_OF(textual), value_of(TEXT, scope, depth - 1));
    case DATE:
        if (has_chance && chance(40)) return leaf("now()");
        if (chance(50)) return one("CAST(\1, \"NSDate\")", value_of(NUMBER, scope, depth - 1));
        return one(chance(50) ? "max:(\1)" : "min:(\1)", collection_of(DATE, scope, depth - 1));
    default: return path_node(kind, scope);
    }
}

/* --- Collections. */

static node *collection_of(kind kind, const scope *scope, int depth) {
    int entity;
    const int dice = random_below(100);
    if (is_full()) return leaf("{}");
    if (dice < 50 || depth <= 0) {
        const char *path = path_to(kind, true, scope, &entity);
        return path ? leaf(path) : constant_list(kind, 1 + random_below(4));
    }
    if (dice < 58) return constant_list(kind, chance(5) ? 40 + random_below(80) : random_below(5));
    if (dice < 70) {
        static const char *const lists[] = {"{}", "{\1}", "{\1, \2}", "{\1, \2, \3}"};
        const int count = random_below(4);
        node *made = leaf(lists[count]);
        for (; made->child_count < count; made->child_count++)
            made->children[made->child_count] = value_of(kind, scope, depth - 1);
        return made;
    }
    if (dice < 80) {
        static const char *const sets[] = {"(\1 UNION \2)", "(\1 INTERSECT \2)", "(\1 MINUS \2)"};
        return two(RANDOM_OF(sets), collection_of(kind, scope, depth - 1), collection_of(kind, scope, depth - 1));
    }
    if (dice < 86) {
        const char *path = path_to(OBJECT, true, scope, &entity);
        const char *attribute = path ? attribute_key(kind, entity) : NULL;
        if (attribute) return leaf(text("%s.@%s.%s", path, chance(50) ? "unionOfObjects" : "distinctUnionOfObjects", attribute));
    }
    if (dice < 89 && kind == NUMBER) return one("mode:(\1)", collection_of(NUMBER, scope, depth - 1));
    node *found = subquery(scope, &entity, depth);
    const char *attribute = found && kind != OBJECT ? attribute_key(kind, entity) : NULL;
    if (found && kind == OBJECT) return found;
    return attribute ? one(text("\1.%s", attribute), found) : constant_list(kind, 2);
}

/* --- Predicates. */

static const char *options(kind kind) {
    static const char *const letters[] = {"[c]", "[d]", "[cd]", "[cd]", "[n]", "[l]", "[cl]", "[cdl]"};
    return chance(kind == TEXT ? 55 : 2) ? RANDOM_OF(letters) : "";
}

/* What follows a value: an operator and its right side, as `\1`. */
static node *test_of(const char *left, node *first, kind kind, const scope *scope, int depth) {
    static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">=", "=", "<>"};
    static const char *const text_operators[] = {"CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "IN"};
    const int dice = random_below(100);
    const char *chosen = options(kind);
    const bool orders = kind != OBJECT || is_wild;
    if (kind == TEXT && dice < 40) {
        const char *operation = RANDOM_OF(text_operators);
        /* Not every text is a pattern; those that are none are errors on both sides. */
        if (strcmp(operation, "MATCHES") == 0 && chance(80)) {
            static const char *const patterns[] = {
                "\".*\"", "\"[a-z]+\"", "\".*abc.*\"", "\"(abc|File).*\"", "\"a.?b\"", "\"\\\\w+ \\\\d+\"",
                "\"(?i)AB\"", "\"\"", "\"^a$\"", "\"\\\\p{L}*\""};
            return one(text("%s MATCHES%s %s", left, chosen, RANDOM_OF(patterns)), first);
        }
        if (strcmp(operation, "LIKE") == 0 && chance(70)) {
            static const char *const patterns[] = {
                "\"*\"", "\"?\"", "\"a*\"", "\"*b*\"", "\"*abc*\"", "\"abc*c?\"", "\"a?b\"", "\"\\\\*\"", "\"*\\\\\\\\*\"", "\"\xC3\xA4*\"",
                "\"?\\u0301*\"", "\"??\"", "\"stra?e\"", "\"?zm?r\"", "\"*?x\"", "\"\xE0\xB8\x81?\xE0\xB8\x99\"", "\"?\xCE\xB9\""};
            return one(text("%s LIKE%s %s", left, chosen, RANDOM_OF(patterns)), first);
        }
        return two(text("%s %s%s \2", left, operation, chosen), first, value_of(TEXT, scope, depth - 1));
    }
    if (dice < 50) return choice(two(text("%s IN%s \2", left, chosen), first, collection_of(kind, scope, depth - 1)));
    if (dice < 58 && orders)
        return choice(new_node(text("%s BETWEEN%s {\2, \3}", left, chosen), 3, first, value_of(kind, scope, depth - 1),
            value_of(kind, scope, depth - 1)));
    const char *relation = relations[random_below(orders ? COUNT_OF(relations) : 2)];
    return two(text("%s %s%s \2", left, relation, chosen), first, value_of(kind, scope, depth - 1));
}

static node *compound(const scope *scope, int depth) {
    const int dice = random_below(10);
    if (dice < 2) return one(chance(50) ? "NOT (\1)" : "!(\1)", predicate_in(scope, depth - 1));
    node *first = predicate_in(scope, depth - 1), *second = predicate_in(scope, depth - 1);
    static const char *const pairs[] = {"(\1) AND (\2)", "(\1) OR (\2)", "\1 AND \2", "(\1 || \2)", "(\1 AND NOT \2)"};
    if (dice < 8) return choice(two(RANDOM_OF(pairs), first, second));
    static const char *const triples[] = {"(\1 AND \2 AND \3)", "(\1 OR \2 OR \3)", "\1 AND \2 OR \3"};
    return choice(new_node(RANDOM_OF(triples), 3, first, second, predicate_in(scope, depth - 1)));
}

/* A list written as a chain: one value compared with many constants, and something else among them now and then. */
static node *list_of_tests(kind kind, const scope *scope) {
    const bool is_or = chance(60), passes_many = chance(30);
    int entity;
    const char *path = path_to(kind, passes_many, scope, &entity);
    if (!path) return NULL;
    const char *quantifier = !passes_many ? "" : is_or ? "ANY " : "NONE ", *chosen = options(kind);
    const char *relation = is_or || passes_many ? "==" : "!=";
    node *made = NULL;
    for (int left = 14 + random_below(24); left > 0; left--) {
        node *part;
        if (chance(3)) part = one("(\1)", predicate_in(scope, 0));
        else if (chance(4)) part = one(text("%s%s%s IN%s \1", is_or || passes_many ? "" : "NOT ", quantifier, path, chosen),
            constant_list(kind, 2));
        else if (!passes_many && chance(5)) part = one(text("\1 %s%s %s", relation, chosen, path), constant(kind));
        else if (!is_or && !passes_many && chance(20)) part = one(text("NOT %s ==%s \1", path, chosen), constant(kind));
        else part = one(text("%s%s %s%s \1", quantifier, path, relation, chosen), constant(kind));
        if (made) made = two(is_or ? chance(80) ? "\1 OR \2" : "(\1) OR (\2)" : chance(80) ? "\1 AND \2" : "(\1) AND (\2)", made, part);
        else made = part;
        made->is_predicate = made->is_choice = part->is_predicate = true;
    }
    return made;
}

/* An attribute of text in a list of texts, mostly without regard to accents. */
static node *text_in_list(const scope *scope) {
    static const char *const letters[] = {"[d]", "[d]", "[cd]", "[cd]", "[c]", ""};
    const bool passes_many = chance(25);
    int entity;
    const char *path = path_to(TEXT, passes_many, scope, &entity);
    if (!path) return NULL;
    return one(text("%s%s%s IN%s \1", chance(20) ? "NOT " : "", passes_many ? "ANY " : "", path, RANDOM_OF(letters)),
        constant_list(TEXT, 1 + random_below(6)));
}

static node *predicate_in(const scope *scope, int depth) {
    static const kind kinds[] = {NUMBER, NUMBER, NUMBER, NUMBER, TEXT, TEXT, TEXT, TEXT, DATE, DATE, DATA, UUID, OBJECT, OBJECT};
    static const char *const quantifiers[] = {"ANY", "ALL", "SOME", "NONE"};
    kind kind = RANDOM_OF(kinds);
    int entity;
    /* Mostly of a kind that the object has or reaches. */
    for (int tries = 0; tries < 5 && !path_to(kind, false, scope, &entity); tries++) kind = RANDOM_OF(kinds);
    const int dice = random_below(100);
    if (is_full() || dice < 1) return chance(50) ? &true_predicate : &false_predicate;
    if (kind == TEXT && chance(12)) {
        node *list = text_in_list(scope);
        if (list) return predicate(choice(list));
    }
    if (depth > 0 && dice < 3) {
        node *list = list_of_tests(kind, scope);
        if (list) return list;
    }
    if (depth > 0 && dice < 28) return predicate(compound(scope, depth));
    if (dice < 48) {
        node *first = collection_of(kind, scope, depth - 1);
        return predicate(choice(test_of(text("%s \1", RANDOM_OF(quantifiers)), first, kind, scope, depth)));
    }
    if (dice < 53)
        return predicate(choice(two(
            text("\1 CONTAINS%s \2", options(kind)), collection_of(kind, scope, depth - 1), value_of(kind, scope, depth - 1))));
    if (dice < 55)
        return predicate(two(chance(60) ? "\1 == \2" : "\1 != \2", collection_of(kind, scope, depth - 1),
            collection_of(kind, scope, depth - 1)));
    if (dice < 59) return predicate(one(chance(50) ? "\1 == nil" : "\1 != nil", value_of(kind, scope, depth - 1)));
    return predicate(test_of("\1", value_of(kind, scope, depth - 1), kind, scope, depth));
}

void begin_parts(const world *world) {
    here = world;
    is_wild = has_chance = false;
    node_count = list_value_count = variable_number = 0;
    memory_used = 0;
}

node *value_part(kind kind, int entity, int depth) {
    const scope scope = {entity, 0, {0}, {0}};
    return value_of(kind, &scope, depth);
}

node *make_predicate(const world *world, int entity, bool wild) {
    begin_parts(world);
    is_wild = wild;
    const scope scope = {entity, 0, {0}, {0}};
    return predicate_in(&scope, random_below(4));
}

node *make_chance_predicate(const world *world, int entity) {
    begin_parts(world);
    has_chance = true;
    const scope scope = {entity, 0, {0}, {0}};
    return predicate_in(&scope, 1 + random_below(4));
}

/* --- Writing them. */

static bool append(rendering *out, const char *bytes, size_t size) {
    if (out->size + size > sizeof out->text) return false;
    memcpy(out->text + out->size, bytes, size);
    out->size += size;
    return true;
}

static bool resolve(quire_value value, const stage *stage, rendering *rendering, quire_value *out) {
    *out = value;
    if (value.kind == QUIRE_VALUE_OBJECT) *out = quire_value_object(stage->objects[value.as.integer]);
    if (value.kind != QUIRE_VALUE_LIST) return true;
    if (rendering->list_count + (int)value.size > COUNT_OF(rendering->lists)) return false;
    quire_value *list = rendering->lists + rendering->list_count;
    rendering->list_count += (int)value.size;
    for (uint32_t i = 0; i < value.size; i++)
        if (!resolve(value.as.list[i], stage, rendering, &list[i])) return false;
    out->as.list = list;
    return true;
}

static bool render_into(const node *node, const stage *stage, rendering *out) {
    for (const char *at = node->format; *at; at++) {
        if (*at == 7) {
            if (out->argument_count == MOST_ARGUMENTS || !append(out, "%@", 2)) return false;
            if (!resolve(node->argument, stage, out, &out->arguments[out->argument_count++])) return false;
        } else if (*at > 0 && *at <= MOST_CHILDREN) {
            if (!render_into(node->children[*at - 1], stage, out)) return false;
        } else if (!append(out, at, 1)) {
            return false;
        }
    }
    return true;
}

bool render(const node *node, const stage *stage, rendering *out) {
    out->size = 0;
    out->argument_count = out->list_count = 0;
    return render_into(node, stage, out);
}
