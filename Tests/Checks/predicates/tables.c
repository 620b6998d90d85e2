#include "tables.h"

#include "cells.h"
#include "dice.h"
#include "stored.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- Making them. */

static void add_key_column(table *table, const char *path, quire_attribute_type type) {
    for (int i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, path) == 0) return;
    column *made = &table->columns[table->column_count++];
    snprintf(made->name, sizeof made->name, "%s", path);
    made->is_key = true;
    made->kind = kind_of_type(type);
}

static void add_expression(table *table) {
    static const kind kinds[] = {NUMBER, NUMBER, NUMBER, TEXT, DATE};
    column *made = &table->columns[table->column_count];
    snprintf(made->name, sizeof made->name, "c%d", table->column_count++);
    made->kind = RANDOM_OF(kinds);
    made->part_count = 1;
    made->format = "\1";
    made->parts[0] = value_part(made->kind, table->entity, random_below(3));
    /* SQL takes the bytes of what was calculated, in which 0, 0.0 and -0.0 are three values. */
    table->is_distinct &= made->kind == TEXT;
}

/* A name may be a word of the language. */
static node *key_node(const char *path) { return new_node("#\1", 1, new_node(path, 0)); }

static const char *key_of_kind(int entity, kind kind) {
    for (int tries = 0; tries < 8; tries++) {
        quire_attribute_type type;
        const char *path = key_part(entity, &type);
        if (path && kind_of_type(type) == kind) return path;
    }
    return NULL;
}

static bool depends_on_order(const char *function) {
    return strcmp(function, "sum") == 0 || strcmp(function, "average") == 0 || strcmp(function, "stddev") == 0;
}

static void add_aggregate(table *table) {
    static const char *const numeric[] = {"sum", "average", "min", "max", "median", "stddev", "count"};
    static const char *const ordered[] = {"min", "max", "count"};
    static const char *const formats[] = {"\1 + \2", "\1 - \2", "\1 * \2", "\1 / \2", "max:({\1, \2})"};
    column *made = &table->columns[table->column_count];
    snprintf(made->name, sizeof made->name, "c%d", table->column_count++);
    const kind of = chance(75) ? NUMBER : chance(60) ? TEXT : DATE;
    made->kind = of;
    made->part_count = of == NUMBER && chance(25) ? 2 : 1;
    made->format = made->part_count == 2 ? RANDOM_OF(formats) : of == NUMBER && chance(15) ? "abs:(\1)" : "\1";
    for (int i = 0; i < made->part_count; i++) {
        made->functions[i] = of == NUMBER ? RANDOM_OF(numeric) : RANDOM_OF(ordered);
        const char *path = key_of_kind(table->entity, of), *other = key_of_kind(table->entity, of);
        if (path && !chance(10)) {
            static const char *const operators[] = {"\1 + \2", "\1 - \2", "\1 * \2", "TERNARY(\1 == nil, \2, \1)"};
            node *second = chance(50) ? constant(NUMBER) : key_node(other);
            made->parts[i] = of == NUMBER && other && chance(25) ? new_node(RANDOM_OF(operators), 2, key_node(path), second)
                                                                 : key_node(path);
        } else {
            /* Counting an object counts rows. */
            made->functions[i] = "count";
            made->parts[i] = new_node("SELF", 0);
        }
    }
    if (strcmp(made->functions[0], "count") == 0) made->kind = NUMBER;
    const bool is_calculated = strcmp(made->format, "\1") != 0 || strcmp(made->functions[0], "median") == 0;
    table->is_distinct &= !is_calculated && !depends_on_order(made->functions[0]);
}

static void make_having(table *table) {
    static const char *const tests[] = {"\1 == \2", "\1 != \2", "\1 < \2", "\1 >= \2", "\1 == nil", "\1 IN {\2}", "NOT \1 > \2"};
    static const char *const pairs[] = {"\1 AND \2", "\1 OR \2", "NOT (\1 OR \2)"};
    having *made = &table->having;
    made->test_count = 1 + random_below(2);
    made->format = made->test_count == 2 ? RANDOM_OF(pairs) : chance(20) ? "NOT (\1)" : "\1";
    for (int i = 0; i < made->test_count; i++) {
        made->tests[i].column = random_below(table->column_count);
        made->tests[i].spelling = random_below(3);
        made->tests[i].format = RANDOM_OF(tests);
        made->tests[i].operand = constant(table->columns[made->tests[i].column].kind);
    }
}

void make_table(int entity, table *out) {
    memset(out, 0, sizeof *out);
    begin_parts(&rows);
    out->entity = entity;
    out->is_mixed = random_below(2);
    out->is_grouped = chance(65);
    /* Whether sums that were added in another order are equal is chance. */
    out->is_distinct = chance(25);
    out->sort_column = -1;
    quire_attribute_type type;
    if (out->is_grouped)
        for (int wanted = random_below(MOST_GROUPS + 1); wanted > 0; wanted--) {
            const char *path = key_part(entity, &type);
            if (!path || (out->group_count && strcmp(path, out->groups[0]) == 0)) continue;
            out->groups[out->group_count++] = path;
            if (chance(80)) add_key_column(out, path, type);
        }
    for (int wanted = 1 + random_below(MOST_COLUMNS - out->column_count); wanted > 0; wanted--) {
        const char *path = out->is_grouped || chance(60) ? NULL : key_part(entity, &type);
        if (out->is_grouped) add_aggregate(out);
        else if (path) add_key_column(out, path, type);
        else add_expression(out);
    }
    if (out->group_count && chance(50)) make_having(out);
    const int sorted = random_below(out->column_count);
    if (chance(40) && out->columns[sorted].is_key) out->sort_column = sorted;
    out->is_descending = random_below(2);
    out->offset = random_below(4);
    out->limit = random_below(10);
    /* What differs without columns is told by other steps. */
    if (chance(30)) {
        static const char *const tests[] = {"\1 != \2", "\1 > \2", "\1 == nil"};
        out->condition = new_node(RANDOM_OF(tests), 2, value_part(NUMBER, entity, 1), value_part(NUMBER, entity, 0));
        out->condition->is_predicate = true;
    }
    /* An object that is not saved is none for what is. */
    if (out->condition && names_unsaved(out->condition)) out->is_mixed = false;
    for (int i = 0; i < out->column_count; i++)
        for (int part = 0; part < out->columns[i].part_count; part++)
            if (names_unsaved(out->columns[i].parts[part])) out->is_mixed = false;
}

/* --- Writing them. */

/* The column as it is asked for, of a row or of a group. */
static node *written(const column *column) {
    node *made = new_node(column->format, column->part_count, NULL, NULL);
    for (int i = 0; i < column->part_count; i++) {
        static char calls[2 * MOST_COLUMNS][24];
        static int call;
        made->children[i] = column->parts[i];
        if (!column->functions[i]) continue;
        char *const format = calls[call++ % COUNT_OF(calls)];
        snprintf(format, sizeof calls[0], "%s:(\1)", column->functions[i]);
        made->children[i] = new_node(format, 1, column->parts[i]);
    }
    return made;
}

static quire_expression *expression_of(const node *node, const stage *stage) {
    static rendering rendering;
    quire_expression *made = NULL;
    if (!render(node, stage, &rendering)) return NULL;
    if (quire_expression_parse(rendering.text, rendering.size, rendering.arguments, (size_t)rendering.argument_count, &made, &error)
        != QUIRE_OK) {
        snprintf(complaint, sizeof complaint, "reading %.*s fails: %s", (int)rendering.size, rendering.text,
            quire_error_message(error).data);
        drop_error();
    }
    return made;
}

/* The condition for groups; with `cells`, for memory: of the values that the columns have. */
static node *condition_of(const table *table, const quire_value *cells) {
    node *made = new_node(table->having.format, table->having.test_count, NULL, NULL);
    for (int i = 0; i < table->having.test_count; i++) {
        const column *column = &table->columns[table->having.tests[i].column];
        static char names[2][210];
        const bool is_variable = table->having.tests[i].spelling == 1 && !strchr(column->name, '.');
        snprintf(names[i], sizeof names[0], "%s%s", is_variable ? "$" : "#", column->name);
        node *subject = cells ? argument(cells[table->having.tests[i].column])
            : table->having.tests[i].spelling == 2 && !column->is_key ? written(column) : new_node(names[i], 0);
        made->children[i] = new_node(table->having.tests[i].format, 2, subject, table->having.tests[i].operand);
    }
    return made;
}

/* --- Asking the store. */

static quire_fetch_request *request_for(const table *table, const stage *stage) {
    quire_predicate *predicate = table->condition ? parse(table->condition, stage) : NULL;
    quire_fetch_request *request = new_request(table->entity, predicate);
    quire_predicate_release(predicate);
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    for (int i = 0; i < table->column_count; i++) {
        const column *column = &table->columns[i];
        if (column->is_key) {
            OK(quire_fetch_request_add_property(request, column->name, QUIRE_NUL, &error));
            continue;
        }
        quire_expression *expression = expression_of(written(column), stage);
        if (expression) OK(quire_fetch_request_add_expression(request, column->name, QUIRE_NUL, expression, &error));
        quire_expression_release(expression);
    }
    for (int i = 0; i < table->group_count; i++) OK(quire_fetch_request_add_group(request, table->groups[i], QUIRE_NUL, &error));
    if (table->having.test_count) {
        predicate = parse(condition_of(table, NULL), stage);
        OK(quire_fetch_request_set_having(request, predicate, &error));
        quire_predicate_release(predicate);
    }
    OK(quire_fetch_request_set_distinct(request, table->is_distinct, &error));
    if (table->sort_column >= 0)
        OK(quire_fetch_request_add_sort(
            request, table->columns[table->sort_column].name, QUIRE_NUL, table->is_descending, &error));
    return request;
}

/* What a page is made of stays with it. */
static quire_status ask(const stage *stage, const quire_fetch_request *request, result *out, quire_page **out_page) {
    quire_list *list = NULL;
    *out_page = NULL;
    out->row_count = 0;
    quire_status status = quire_context_fetch(stage->context, request, &list, &error);
    if (status != QUIRE_OK) return status;
    const int64_t count = quire_list_count(list);
    int64_t counted = -1;
    if (quire_context_count(stage->context, request, &counted, &error) != QUIRE_OK || counted != count)
        snprintf(complaint, sizeof complaint, "the result has %lld rows and the count is %lld", (long long)count, (long long)counted);
    out->row_count = count < SLOTS ? (int)count : SLOTS;
    status = quire_list_page(list, 0, out->row_count, NULL, 0, 0, out_page, &error);
    quire_list_release(list);
    if (status != QUIRE_OK) return status;
    for (int64_t i = 0; i < quire_page_column_count(*out_page) && i < MOST_COLUMNS; i++)
        for (int row = 0; row < out->row_count; row++) out->cells[row][i] = cell_of(quire_page_column(*out_page, i), row);
    return QUIRE_OK;
}

/* --- Working them out. */

static quire_evaluation *kept[SLOTS * 16];
static int kept_count;

static void forget(void) {
    while (kept_count > 0) quire_evaluation_release(kept[--kept_count]);
}

static bool evaluate(const node *node, const stage *stage, quire_object *object, quire_value *out) {
    const quire_value subject = object ? quire_value_object(object) : quire_value_nil();
    quire_expression *expression = expression_of(node, stage);
    quire_evaluation *evaluation = NULL;
    const bool is_good = expression && kept_count < COUNT_OF(kept)
        && quire_expression_evaluate(expression, &subject, NULL, 0, &evaluation, &error) == QUIRE_OK;
    quire_expression_release(expression);
    drop_error();
    if (!is_good) return false;
    kept[kept_count++] = evaluation;
    *out = *quire_evaluation_value(evaluation);
    return true;
}

/* An aggregate of what a part is for the rows of a group. */
static bool aggregate(
    const column *column, int part, const stage *stage, const int *slots, int count, quire_value *out, double *out_size) {
    quire_value values[SLOTS];
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (!evaluate(column->parts[part], stage, stage->objects[slots[i]], &values[found])) return false;
        if (values[found].kind == QUIRE_VALUE_NIL) continue;
        if (is_number(values[found]) && depends_on_order(column->functions[part]))
            *out_size = fmax(*out_size, fabs(number_of(values[found])));
        found++;
    }
    *out = quire_value_integer(found);
    if (strcmp(column->functions[part], "count") == 0) return true;
    char format[24];
    snprintf(format, sizeof format, "%s:(\1)", column->functions[part]);
    return evaluate(new_node(format, 1, argument(quire_value_list(values, (uint32_t)found))), stage, NULL, out);
}

/* One row of the result, of some rows of the table. */
static bool work_out_row(const table *table, const stage *stage, const int *slots, int count, result *out) {
    quire_value *cells = out->cells[out->row_count];
    for (int i = 0; i < table->column_count; i++) {
        const column *column = &table->columns[i];
        if (column->is_key || !column->functions[0]) {
            const node *node = column->is_key ? key_node(column->name) : column->parts[0];
            if (!evaluate(node, stage, stage->objects[slots[0]], &cells[i])) return false;
            continue;
        }
        node *made = new_node(column->format, column->part_count, NULL, NULL);
        for (int part = 0; part < column->part_count; part++) {
            quire_value value;
            if (!aggregate(column, part, stage, slots, count, &value, &out->sizes[i])) return false;
            made->children[part] = argument(value);
        }
        if (!evaluate(made, stage, NULL, &cells[i])) return false;
    }
    if (table->having.test_count) {
        const quire_value nothing = quire_value_nil();
        bool holds = false;
        quire_predicate *predicate = parse(condition_of(table, cells), stage);
        const bool is_good = predicate && quire_predicate_evaluate(predicate, &nothing, NULL, 0, &holds, &error) == QUIRE_OK;
        quire_predicate_release(predicate);
        drop_error();
        if (!is_good || !holds) return is_good;
    }
    if (table->is_distinct)
        for (int row = 0; row < out->row_count; row++)
            if (are_rows_same(out, row, out, out->row_count, table->column_count)) return true;
    out->row_count++;
    return true;
}

/* False where an expression fails. */
static bool work_out(const table *table, const stage *stage, result *out) {
    int groups[SLOTS][SLOTS], counts[SLOTS] = {0}, group_count = 0;
    quire_value keys[SLOTS][MOST_GROUPS];
    quire_predicate *predicate = table->condition ? parse(table->condition, stage) : NULL;
    bool is_good = true;
    out->row_count = 0;
    memset(out->sizes, 0, sizeof out->sizes);
    for (int slot = 0; slot < SLOTS && is_good; slot++) {
        bool holds = stage->objects[slot] && is_kind_of(&rows, rows.rows[slot].entity, table->entity);
        if (holds && predicate) is_good = quire_predicate_matches(predicate, stage->objects[slot], &holds, &error) == QUIRE_OK;
        if (!holds || !is_good) continue;
        int group = table->is_grouped ? 0 : group_count;
        quire_value key[MOST_GROUPS];
        for (int i = 0; i < table->group_count; i++)
            is_good &= evaluate(key_node(table->groups[i]), stage, stage->objects[slot], &key[i]);
        for (; is_good && table->is_grouped && group < group_count; group++) {
            bool is_same = true;
            for (int i = 0; i < table->group_count; i++) is_same &= are_values_same(key[i], keys[group][i], 0);
            if (is_same) break;
        }
        if (group == group_count) memcpy(keys[group_count++], key, sizeof key);
        groups[group][counts[group]++] = slot;
    }
    quire_predicate_release(predicate);
    drop_error();
    /* Without keys there is one group, even of nothing. */
    if (table->is_grouped && !table->group_count) group_count = 1;
    for (int group = 0; group < group_count && is_good; group++) {
        const int mark = mark_nodes();
        is_good = work_out_row(table, stage, groups[group], counts[group], out);
        forget_nodes(mark);
    }
    return is_good;
}

/* --- Comparing. */

static bool has_choices(const table *table) {
    bool found = table->condition && has_choice(table->condition);
    for (int i = 0; i < table->column_count; i++)
        for (int part = 0; part < table->columns[i].part_count; part++) found |= has_choice(table->columns[i].parts[part]);
    return found || table->having.test_count > 0;
}

static bool is_ordered(const table *table, const result *result) {
    if (table->sort_column < 0) return true;
    for (int row = 1; row < result->row_count; row++) {
        const int first = table->is_descending ? row : row - 1;
        if (!is_not_after(result->cells[first][table->sort_column], result->cells[2 * row - 1 - first][table->sort_column]))
            return false;
    }
    return true;
}

outcome tables_the_same(const table *table, bool shows) {
    static result given, expected, window;
    const int mark = mark_nodes();
    complaint[0] = 0;
    const stage *asked = table->is_mixed ? &stages[MIXED] : &stages[SAVED];
    quire_fetch_request *request = request_for(table, asked);
    quire_page *page = NULL, *window_page = NULL;
    char message[400] = "";
    const quire_status status = complaint[0] ? QUIRE_OK : ask(asked, request, &given, &page);
    if (status != QUIRE_OK) snprintf(message, sizeof message, "%s", error ? quire_error_message(error).data : "no message");
    drop_error();
    const bool is_worked_out = work_out(table, table->is_mixed ? &earlier : asked, &expected);
    outcome outcome = SAME;
    if (complaint[0]) outcome = DIFFERENT;
    else if (status == QUIRE_UNSUPPORTED) outcome = NOT_SUPPORTED;
    else if (status != QUIRE_OK || !is_worked_out) {
        outcome = status != QUIRE_OK && !is_worked_out ? FAILED : HALF_AN_ERROR;
        /* Rows that are left out, and values that are not needed, need not fail. A column has one type. */
        const bool may_fail = has_choices(table) || expected.row_count == 0 || strstr(message, "values of different types");
        if (status != QUIRE_OK && is_worked_out && !may_fail) outcome = DIFFERENT;
        snprintf(complaint, sizeof complaint, "the store says %s (%s), memory %s", quire_status_name(status), message,
            is_worked_out ? "has a result" : "fails");
    } else if (!are_results_same(&given, &expected, table->column_count)) {
        outcome = DIFFERENT;
        snprintf(complaint, sizeof complaint, "the rows differ");
    } else if (!is_ordered(table, &given)) {
        outcome = DIFFERENT;
        snprintf(complaint, sizeof complaint, "the rows are not in order");
    } else {
        OK(quire_fetch_request_set_offset(request, (uint64_t)table->offset, &error));
        OK(quire_fetch_request_set_limit(request, table->limit ? (uint64_t)table->limit : QUIRE_NO_LIMIT, &error));
        OK(ask(asked, request, &window, &window_page));
        int count = given.row_count > table->offset ? given.row_count - table->offset : 0;
        if (table->limit && count > table->limit) count = table->limit;
        bool is_same = window.row_count == count && !complaint[0];
        for (int row = 0; row < count && is_same; row++)
            is_same = are_rows_same(&window, row, &given, row + table->offset, table->column_count);
        if (!is_same) {
            outcome = DIFFERENT;
            snprintf(complaint, sizeof complaint, "the window %d+%d is another", table->offset, table->limit);
        }
    }
    if (shows) {
        print_result("the store", &given, table->column_count);
        print_result("memory", &expected, table->column_count);
    }
    quire_fetch_request_release(request);
    quire_page_release(page);
    quire_page_release(window_page);
    forget();
    forget_nodes(mark);
    return outcome;
}

/* --- Showing a difference. */

static void print_node(const node *node) {
    static rendering rendering;
    if (!render(node, &stages[SAVED], &rendering)) return;
    printf("%.*s", (int)rendering.size, rendering.text);
    for (int i = 0; i < rendering.argument_count; i++) {
        printf(i ? ", " : " of ");
        print_value(stdout, rendering.arguments[i]);
    }
}

static void print_table(const table *table) {
    printf("  %s of the %s stage:", rows.entities[table->entity].name, table->is_mixed ? "mixed" : "saved");
    for (int i = 0; i < table->column_count; i++) {
        printf(i ? ", %s" : " %s", table->columns[i].name);
        if (table->columns[i].is_key) continue;
        printf(" = ");
        print_node(written(&table->columns[i]));
    }
    if (table->is_distinct) printf(" DISTINCT");
    for (int i = 0; i < table->group_count; i++) printf(" GROUP BY %s", table->groups[i]);
    if (table->having.test_count) {
        printf(" HAVING ");
        print_node(condition_of(table, NULL));
    }
    if (table->sort_column >= 0)
        printf(" ORDER BY %s%s", table->columns[table->sort_column].name, table->is_descending ? " descending" : "");
    if (table->condition) {
        printf(" WHERE ");
        print_node(table->condition);
    }
    printf("\n");
}

static bool still_differs(const table *table) { return tables_the_same(table, false) == DIFFERENT; }

void show_table(table *table, uint64_t seed, int step) {
    printf("--- world of seed %llu, step %d: %s\n", (unsigned long long)seed, step, complaint);
    struct table smaller = *table;
    smaller.condition = NULL;
    if (still_differs(&smaller)) *table = smaller;
    smaller = *table;
    smaller.having.test_count = 0;
    if (still_differs(&smaller)) *table = smaller;
    for (int i = 0; i < table->column_count && table->column_count > 1;) {
        smaller = *table;
        smaller.sort_column = -1;
        smaller.column_count--;
        memmove(&smaller.columns[i], &smaller.columns[i + 1], sizeof *smaller.columns * (size_t)(smaller.column_count - i));
        if (!smaller.having.test_count && still_differs(&smaller)) *table = smaller;
        else i++;
    }
    for (int slot = 0; slot < rows.row_count + rows.doomed_count; slot++) {
        if (!rows.rows[slot].exists) continue;
        rows.rows[slot].exists = false;
        close_stages();
        open_stages();
        if (!still_differs(table)) rows.rows[slot].exists = true;
    }
    close_stages();
    open_stages();
    tables_the_same(table, true);
    print_table(table);
    printf("  %s\n", complaint);
    print_world(stdout, &rows);
    fflush(stdout);
}
