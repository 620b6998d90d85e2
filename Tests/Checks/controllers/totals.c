#include "totals.h"

#include <math.h>
#include <string.h>

typedef enum function { COUNT, SUM, AVERAGE, LEAST, GREATEST } function;

/* What is asked of a row: NaN and NULL for nil. */
typedef double number_maker(const facts *facts, const thing *thing);

typedef struct total {
    const char *format;
    function function;
    /* NULL for the first key, which is a text. */
    number_maker *number;
    bool is_double, is_date;
} total;

static const thing *holder(const facts *facts, int kind, const thing *thing) {
    return thing->holder < 0 ? NULL : &facts->things[kind][thing->holder];
}

static double one(const facts *facts, const thing *thing) { return (void)facts, (void)thing, 1; }
static double second(const facts *facts, const thing *thing) { return (void)facts, number_of(thing, 1); }
static double third(const facts *facts, const thing *thing) { return (void)facts, number_of(thing, 2); }
static double age_of_author(const facts *facts, const thing *thing) {
    const struct thing *author = holder(facts, PERSON, thing);
    return author ? number_of(author, 1) : NAN;
}
static double product(const facts *facts, const thing *thing) { return number_of(thing, 1) * age_of_author(facts, thing); }
static double tags(const facts *facts, const thing *thing) { return (void)facts, __builtin_popcount(thing->tags); }
static double size_of_city(const facts *facts, const thing *thing) {
    const struct thing *city = holder(facts, CITY, thing);
    return city ? number_of(city, 1) : NAN;
}
static double books(const facts *facts, const thing *thing) {
    const int slot = (int)(thing - facts->things[PERSON]);
    int count = 0;
    for (int i = 0; i < MOST_THINGS; i++) count += facts->things[BOOK][i].exists && facts->things[BOOK][i].holder == slot;
    return count;
}

enum { TOTALS = 7 };
static const total totals[KINDS][TOTALS] = {
    {{"count:(SELF)", COUNT, one, 0, 0}, {"sum:(price)", SUM, second, true, 0}, {"min:(title)", LEAST, NULL, 0, 0},
        {"max:(created)", GREATEST, third, 0, true}, {"average:(author.age)", AVERAGE, age_of_author, true, 0},
        {"sum:(price * author.age)", SUM, product, true, 0}, {"sum:(tags.@count)", SUM, tags, 0, 0}},
    {{"count:(age)", COUNT, second, 0, 0}, {"max:(age)", GREATEST, second, 0, 0}, {"max:(name)", GREATEST, NULL, 0, 0},
        {"sum:(city.size)", SUM, size_of_city, 0, 0}, {"max:(books.@count)", GREATEST, books, 0, 0}},
};

static const total *total_named(int kind, const char *name) {
    for (const total *each = totals[kind]; each < totals[kind] + TOTALS && each->format; each++)
        if (strcmp(each->format, name) == 0) return each;
    return NULL;
}

void add_totals(const watched *watched) {
    for (int i = 0; i < TOTALS && totals[watched->query.kind][i].format; i++) {
        const char *format = totals[watched->query.kind][i].format;
        quire_expression *expression = NULL;
        OK(quire_expression_parse(format, QUIRE_NUL, NULL, 0, &expression, &error));
        OK(quire_results_add_aggregate(watched->results, format, QUIRE_NUL, expression, &error));
        quire_expression_release(expression);
    }
}

static bool is_same(const quire_value *left, const quire_value *right) {
    if (left->kind != right->kind) return false;
    if (left->kind == QUIRE_VALUE_TEXT) return strcmp(left->as.text, right->as.text) == 0;
    if (left->kind == QUIRE_VALUE_DOUBLE || left->kind == QUIRE_VALUE_DATE) return left->as.real == right->as.real;
    return left->kind == QUIRE_VALUE_NIL || left->as.integer == right->as.integer;
}

void totals_changed(void *data, quire_results *results, const quire_aggregate_change_array *changes) {
    watched *watched = data;
    int64_t section = -1;
    const total *last = NULL;
    if (!watched->is_open || !changes->count) FAIL(watched, "totals are told out of place");
    watched->totals += (int)changes->count;
    for (int64_t i = 0; i < changes->count; i++) {
        const quire_aggregate_change *change = quire_aggregate_change_at(*changes, i);
        const total *total = total_named(watched->query.kind, change->name.data);
        if (change->section < section || (change->section == section && total <= last)) FAIL(watched, "totals out of order");
        section = change->section, last = total;
        quire_value value;
        OK(quire_results_aggregate(results, section, total->format, QUIRE_NUL, &value, &error));
        if (!is_same(&value, &change->value)) FAIL(watched, "%s is told to be another than it is", total->format);
    }
}

/* Of `count` rows. */
static quire_value calculate(const facts *facts, int kind, const total *total, const int *slots, int count) {
    double sum = 0, best = NAN;
    const char *best_text = NULL;
    int values = 0;
    for (int i = 0; i < count; i++) {
        const thing *thing = &facts->things[kind][slots[i]];
        if (!total->number) {
            const char *text = text_of(thing, 0);
            if (text && (!best_text || (strcmp(text, best_text) < 0) == (total->function == LEAST))) best_text = text;
            continue;
        }
        const double number = total->number(facts, thing);
        if (isnan(number)) continue;
        values++;
        sum += number;
        if (isnan(best) || (number < best) == (total->function == LEAST)) best = number;
    }
    if (!total->number) return quire_value_text(best_text);
    if (total->function == COUNT) return quire_value_integer(values);
    if (values == 0) return total->function == SUM ? quire_value_integer(0) : quire_value_nil();
    const double found = total->function == SUM ? sum : total->function == AVERAGE ? sum / values : best;
    if (total->is_date) return quire_value_date(found);
    return total->is_double ? quire_value_double(found) : quire_value_integer((int64_t)found);
}

void check_totals(const watched *watched, const facts *facts) {
    const sections *list = &watched->mirror.list;
    for (int section = -1; section < list->count; section++) {
        const int *slots = list->slots + (section < 0 ? 0 : list->starts[section]);
        const int count = section < 0 ? list->total : list->sizes[section];
        for (int i = 0; i < TOTALS && totals[watched->query.kind][i].format; i++) {
            const total *total = &totals[watched->query.kind][i];
            const quire_value wanted = calculate(facts, watched->query.kind, total, slots, count);
            quire_value value;
            OK(quire_results_aggregate(watched->results, section, total->format, QUIRE_NUL, &value, &error));
            if (!is_same(&value, &wanted)) FAIL(watched, "%s of section %d is wrong", total->format, section);
        }
    }
}
