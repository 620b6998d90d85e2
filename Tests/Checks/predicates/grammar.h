/* Generated predicates over a generated model. */
#ifndef QUIRE_GRAMMAR_H_
#define QUIRE_GRAMMAR_H_

#include "world.h"

enum { MOST_CHILDREN = 4, MOST_NODES = 4000, MOST_ARGUMENTS = 256, MOST_TEXT = 1 << 16 };

/*
 * A part of a predicate. In `format` the bytes 1 to 4 stand for the children and 7 for an argument; objects among the
 * arguments are given as slots.
 */
typedef struct node {
    bool is_predicate;
    /* Whether it decides what else is evaluated, so that an error may be met or not. */
    bool is_choice;
    const char *format;
    int child_count;
    struct node *children[MOST_CHILDREN];
    quire_value argument;
} node;

/* A predicate over `entity`, which holds until the next is made. `is_wild` lets types meet that do not belong together. */
node *make_predicate(const world *world, int entity, bool is_wild);

/* One with `random()` and `now()` in it. */
node *make_chance_predicate(const world *world, int entity);

bool has_choice(const node *node);

/* --- Parts, for what is not a single predicate. All hold until parts are begun again or a predicate is made. */

void begin_parts(const world *world);
node *value_part(kind kind, int entity, int depth);
/* As `make_sort_key`. */
const char *key_part(int entity, quire_attribute_type *out_type);
node *constant(kind kind);
node *argument(quire_value value);
node *new_node(const char *format, int child_count, ...);
/* Forgets the nodes that were made since. */
int mark_nodes(void);
void forget_nodes(int mark);

/* A constant part, to put in the place of another. */
extern node true_predicate, false_predicate, nil_value, zero_value;

/* A path of to-one relationships to an attribute, to sort by; NULL when none was found. Holds as a predicate does. */
const char *make_sort_key(const world *world, int entity, quire_attribute_type *out_type);

/* Writes the predicate with the objects of a stage as arguments. NULL when it is too long. */
typedef struct rendering {
    size_t size;
    int argument_count, list_count;
    char text[MOST_TEXT];
    quire_value arguments[MOST_ARGUMENTS];
    quire_value lists[4 * MOST_ARGUMENTS];
} rendering;
bool render(const node *node, const stage *stage, rendering *out);

#endif
