/* Aggregates of the followed controllers, compared with what all rows of the reference make. */
#ifndef QUIRE_AGGREGATES_H_
#define QUIRE_AGGREGATES_H_

#include "following.h"

/* Before the first fetch. */
void add_aggregates(quire_results *results);

/* For delegates: what is told is what there is, in its order. */
void aggregates_changed(void *data, quire_results *results, const quire_aggregate_change_array *changes);

/* `list` is the list as it should be. */
void check_aggregates(quire_results *results, const sections *list, const char *name);

#endif
