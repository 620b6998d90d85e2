/* Values in rows and columns, compared without the library's help. */
#ifndef QUIRE_CELLS_H_
#define QUIRE_CELLS_H_

#include "tables.h"

typedef struct result {
    int row_count;
    quire_value cells[SLOTS][MOST_COLUMNS];
    /* Of each column, the greatest number that went into its sums. */
    double sizes[MOST_COLUMNS];
} result;

/* Borrowed from the page of the column. */
quire_value cell_of(const quire_column *column, int row);

bool is_number(quire_value value);
double number_of(quire_value value);

/* Numbers may differ by what the order of adding changes when none of them is greater than `size`. */
bool are_values_same(quire_value left, quire_value right, double size);
bool is_not_after(quire_value left, quire_value right);
bool are_rows_same(const result *left, int left_row, const result *right, int right_row, int column_count);

/* In any order. */
bool are_results_same(const result *left, const result *right, int column_count);
void print_result(const char *name, const result *result, int column_count);

#endif
