/* How few moves can turn a list into another, worked out the slow way. */
#ifndef QUIRE_FEWEST_MOVES_H_
#define QUIRE_FEWEST_MOVES_H_

#include "replay.h"

/*
 * The rows of both lists that have to move, when as many as can be keep their order among each other and their section;
 * -1 when a row that is not free to move would have to. `matching` has for each new section the old one that it is, or -1.
 */
int fewest_moves(const sections *old, const sections *new, const int *matching, const bool *is_free);

#endif
