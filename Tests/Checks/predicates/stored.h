/* Fetches that do not see the pending changes of their context. */
#ifndef QUIRE_STORED_H_
#define QUIRE_STORED_H_

#include "orders.h"

/*
 * Whether in the mixed stage they give what a store gives that has the same rows and nothing pending, with that the rows
 * for which memory says that the predicate holds.
 */
bool stores_the_same(const query *query, bool shows);
/* Whether the condition names an object that is not saved in the mixed stage. */
bool names_unsaved(const node *node);
void show_stored(query *query, uint64_t seed, int step);

#endif
