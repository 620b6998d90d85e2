/* Aggregates of the controllers that are watched, compared with what all rows make. */
#ifndef QUIRE_TOTALS_H_
#define QUIRE_TOTALS_H_

#include "watching.h"

/* Before the first fetch. */
void add_totals(const watched *watched);

/* For delegates: what is told is what there is, in its order. */
void totals_changed(void *data, quire_results *results, const quire_aggregate_change_array *changes);

void check_totals(const watched *watched, const facts *facts);

#endif
