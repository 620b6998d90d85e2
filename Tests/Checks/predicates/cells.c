#include "cells.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

quire_value cell_of(const quire_column *column, int row) {
    quire_value value = quire_value_nil();
    if (column->validity && !(column->validity[row / 8] >> row % 8 & 1)) return value;
    const char *const bytes = column->values;
    if (column->offsets) {
        value.size = (uint32_t)(column->offsets[row + 1] - column->offsets[row]);
        value.as.text = bytes + column->offsets[row];
    }
    switch (column->type) {
    case QUIRE_COLUMN_INTEGER: return quire_value_integer(((const int64_t *)column->values)[row]);
    case QUIRE_COLUMN_BOOLEAN: return quire_value_boolean(bytes[row]);
    case QUIRE_COLUMN_DOUBLE: return quire_value_double(((const double *)column->values)[row]);
    case QUIRE_COLUMN_DATE: return quire_value_date(((const double *)column->values)[row]);
    case QUIRE_COLUMN_TEXT: value.kind = QUIRE_VALUE_TEXT; break;
    case QUIRE_COLUMN_DECIMAL: value.kind = QUIRE_VALUE_DECIMAL; break;
    case QUIRE_COLUMN_URI: value.kind = QUIRE_VALUE_URI; break;
    case QUIRE_COLUMN_DATA: value.kind = QUIRE_VALUE_DATA; break;
    case QUIRE_COLUMN_UUID:
        value.kind = QUIRE_VALUE_UUID;
        value.size = 16;
        value.as.text = bytes + 16 * row;
        break;
    default:
        value.kind = QUIRE_VALUE_OBJECT_ID;
        value.as.integer = ((const int64_t *)column->values)[row];
    }
    return value;
}

static size_t size_of(quire_value value) {
    if (value.kind == QUIRE_VALUE_UUID) return 16;
    return value.size == QUIRE_NUL ? strlen(value.as.text) : value.size;
}

bool is_number(quire_value value) {
    switch (value.kind) {
    case QUIRE_VALUE_INTEGER:
    case QUIRE_VALUE_BOOLEAN:
    case QUIRE_VALUE_DOUBLE:
    case QUIRE_VALUE_FLOAT:
    case QUIRE_VALUE_DECIMAL: return true;
    default: return false;
    }
}

double number_of(quire_value value) {
    char digits[200];
    switch (value.kind) {
    case QUIRE_VALUE_INTEGER: return (double)value.as.integer;
    case QUIRE_VALUE_BOOLEAN: return value.as.boolean;
    case QUIRE_VALUE_DECIMAL:
        snprintf(digits, sizeof digits, "%.*s", (int)size_of(value), value.as.text);
        return strtod(digits, NULL);
    default: return value.as.real;
    }
}

bool are_values_same(quire_value left, quire_value right, double size) {
    if (left.kind == QUIRE_VALUE_NIL || right.kind == QUIRE_VALUE_NIL) return left.kind == right.kind;
    if (is_number(left) && is_number(right)) {
        if (left.kind == QUIRE_VALUE_INTEGER && right.kind == QUIRE_VALUE_INTEGER) return left.as.integer == right.as.integer;
        const double one = number_of(left), other = number_of(right);
        if (one == other || (isnan(one) && isnan(other))) return true;
        /* Where a sum has overflowed or lost all small parts, its order decides. */
        if (size > 1e15) return true;
        return size > 0 && isfinite(one) && isfinite(other)
            && fabs(one - other) <= 1e-12 * fmax(size, fmax(fabs(one), fabs(other)));
    }
    switch (left.kind) {
    case QUIRE_VALUE_TEXT:
    case QUIRE_VALUE_URI:
        if (right.kind != QUIRE_VALUE_TEXT && right.kind != QUIRE_VALUE_URI) return false;
        break;
    case QUIRE_VALUE_DATE:
        return right.kind == QUIRE_VALUE_DATE
            && (left.as.real == right.as.real || (isnan(left.as.real) && isnan(right.as.real)));
    case QUIRE_VALUE_OBJECT_ID: return right.kind == left.kind && left.as.integer == right.as.integer;
    default:
        if (left.kind != right.kind) return false;
    }
    return size_of(left) == size_of(right) && memcmp(left.as.text, right.as.text, size_of(left)) == 0;
}

bool is_not_after(quire_value left, quire_value right) {
    if (left.kind == QUIRE_VALUE_NIL || right.kind == QUIRE_VALUE_NIL) return left.kind == QUIRE_VALUE_NIL;
    if (left.kind == QUIRE_VALUE_INTEGER) return left.as.integer <= right.as.integer;
    if (is_number(left)) return number_of(left) <= number_of(right);
    if (left.kind == QUIRE_VALUE_DATE) return left.as.real <= right.as.real;
    const size_t one = size_of(left), other = size_of(right);
    const int order = memcmp(left.as.text, right.as.text, one < other ? one : other);
    return order < 0 || (order == 0 && one <= other);
}

bool are_rows_same(const result *left, int left_row, const result *right, int right_row, int column_count) {
    for (int i = 0; i < column_count; i++)
        if (!are_values_same(left->cells[left_row][i], right->cells[right_row][i], fmax(left->sizes[i], right->sizes[i])))
            return false;
    return true;
}

bool are_results_same(const result *left, const result *right, int column_count) {
    bool is_taken[SLOTS] = {false};
    if (left->row_count != right->row_count) return false;
    for (int row = 0; row < left->row_count; row++) {
        int other = 0;
        while (other < right->row_count && (is_taken[other] || !are_rows_same(left, row, right, other, column_count))) other++;
        if (other == right->row_count) return false;
        is_taken[other] = true;
    }
    return true;
}

void print_result(const char *name, const result *result, int column_count) {
    printf("  %s:\n", name);
    for (int row = 0; row < result->row_count; row++) {
        for (int i = 0; i < column_count; i++) {
            printf(i ? ", " : "    ");
            print_value(stdout, result->cells[row][i]);
        }
        printf("\n");
    }
}
