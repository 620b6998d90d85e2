#include "aggregates.h"

#include <string.h>

/* By this name, in this order. */
enum { ROWS, RANKS, SUM, LEAST, GREATEST, AVERAGE, SEVENTHS, FIRST, LATEST, AGGREGATES };
static const char *const formats[AGGREGATES] = {"count:(SELF)", "count:(rank)", "sum:(rank)", "min:(rank)", "max:(rank)",
    "average:(rank)", "sum:(rank / 7.0)", "min:(author)", "max:(created)"};

void add_aggregates(quire_results *results) {
    for (int i = 0; i < AGGREGATES; i++) {
        quire_expression *expression = NULL;
        OK(quire_expression_parse(formats[i], QUIRE_NUL, NULL, 0, &expression, &error));
        OK(quire_results_add_aggregate(results, formats[i], QUIRE_NUL, expression, &error));
        quire_expression_release(expression);
    }
}

static bool is_same(const quire_value *left, const quire_value *right) {
    if (left->kind != right->kind) return false;
    if (left->kind == QUIRE_VALUE_TEXT) return strcmp(left->as.text, right->as.text) == 0;
    return left->kind == QUIRE_VALUE_NIL || left->as.integer == right->as.integer;
}

static int place_of(const char *name) {
    for (int i = 0; i < AGGREGATES; i++)
        if (strcmp(formats[i], name) == 0) return i;
    return -1;
}

void aggregates_changed(void *data, quire_results *results, const quire_aggregate_change_array *changes) {
    (void)data;
    int64_t section = -1;
    int last = -1;
    for (int64_t i = 0; i < changes->count; i++) {
        const quire_aggregate_change *change = quire_aggregate_change_at(*changes, i);
        const int place = place_of(change->name.data);
        if (change->section < section || (change->section == section && place <= last)) differ("aggregates out of order");
        section = change->section, last = place;
        quire_value value;
        OK(quire_results_aggregate(results, section, change->name.data, change->name.size, &value, &error));
        if (!is_same(&value, &change->value)) differ("%s is told to be another than it is", change->name.data);
    }
    if (!changes->count) differ("no aggregates are told of");
}

/* What some rows make, `slots` being their places. */
static void calculate(const int *slots, int count, quire_value *out) {
    for (int i = 0; i < AGGREGATES; i++) out[i] = quire_value_nil();
    int64_t ranks = 0, sum = 0;
    /* In units of 2^-52, of which a seventh of a rank is a whole number. */
    __int128 sevenths = 0;
    for (int i = 0; i < count; i++) {
        const values *now = &rows[slots[i]].now;
        const char *author = authors[now->author];
        if (author && (out[FIRST].kind == QUIRE_VALUE_NIL || strcmp(author, out[FIRST].as.text) < 0)) out[FIRST] = quire_value_text(author);
        if (out[LATEST].kind == QUIRE_VALUE_NIL || now->created > out[LATEST].as.real) out[LATEST] = quire_value_date(now->created);
        if (now->rank < 0) continue;
        if (!ranks || now->rank < out[LEAST].as.integer) out[LEAST] = quire_value_integer(now->rank);
        if (!ranks || now->rank > out[GREATEST].as.integer) out[GREATEST] = quire_value_integer(now->rank);
        ranks++;
        sum += now->rank;
        sevenths += (__int128)((double)now->rank / 7.0 * 0x1p52);
    }
    out[ROWS] = quire_value_integer(count);
    out[RANKS] = quire_value_integer(ranks);
    out[SUM] = quire_value_integer(sum);
    out[SEVENTHS] = ranks ? quire_value_double((double)sevenths * 0x1p-52) : quire_value_integer(0);
    if (ranks) out[AVERAGE] = quire_value_double((double)sum / (double)ranks);
}

void check_aggregates(quire_results *results, const sections *list, const char *name) {
    quire_value expected[AGGREGATES];
    for (int section = -1; section < list->count; section++) {
        if (section < 0) calculate(list->slots, list->total, expected);
        else calculate(list->slots + list->starts[section], list->sizes[section], expected);
        for (int i = 0; i < AGGREGATES; i++) {
            quire_value value;
            OK(quire_results_aggregate(results, section, formats[i], QUIRE_NUL, &value, &error));
            if (!is_same(&value, &expected[i])) differ("%s: %s of section %d is wrong", name, formats[i], section);
        }
    }
}
