/* Reads all that a context shows, and compares it with the commit that the context is at. */
#ifndef QUIRE_MOMENTS_LOOK_H_
#define QUIRE_MOMENTS_LOOK_H_

#include "side.h"

/* Everything: objects with both sides of their relationships, all queries in each form, rows of values, lists. */
void look_at_all(side *side);
/* A part of it, which the dice choose. */
void look_at_some(side *side);

/* An item must be what the view has in its place. */
void look_at_item(side *side, const state *view, quire_object *object, int slot);

/* A fetch in batches is made, and its rows are read later, when others have saved. */
void begin_batches(side *side, int query);
void read_batches(side *side);

/* The same as `look_at_all` in a context that is made on this one for the time being; others may save within `meanwhile`. */
void look_through_child(side *side, void (*meanwhile)(void));

/* What a list view does: a window of a list with its objects and what these are related to. */
void draw_window(side *side);

extern _Thread_local long looks;

#endif
