/* List views of several kinds, each of which takes a plan in its own way. */
#ifndef QUIRE_LIST_MODELS_H_
#define QUIRE_LIST_MODELS_H_

#include "replay.h"

/* All plans of `changes`, which turn `old` into `new`. NULL, or a sentence about the first thing that a view could not do. */
const char *apply_plans(const quire_changes *changes, const sections *old, const sections *new, int (*slot_of)(int64_t id));

/* Whether `quire_changes_map_positions` leads each row of `old` to its place in `new`. As above. */
const char *check_mapping(const quire_changes *changes, const sections *old, const sections *new);

#endif
