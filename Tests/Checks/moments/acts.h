/* What contexts do: changes, saves, batch requests, and all that moves a context on. Each ends with what must be true then. */
#ifndef QUIRE_MOMENTS_ACTS_H_
#define QUIRE_MOMENTS_ACTS_H_

#include "side.h"

/* One change, which is pending then. */
void change(side *side);
/* Saves under a number of its own. In a conflict nothing may move; the context is rolled back then. Says whether it saved. */
bool save(side *side);
/* A save that fails, and moves nothing. */
void save_in_vain(side *side);

void batch_update(side *side);
/* Insertion or deletion, in a transaction with the number, or in one commit and the number in the next. */
void batch_rows(side *side, bool in_transaction);

void merge(side *side);
void roll_back(side *side);
void refresh_all(side *side);
void refresh_one(side *side);
void reset(side *side);
void undo_change(side *side);
/* A change in a context that is made on this one, which saves it to this one. */
void change_in_child(side *side);

/* Numbers a commit that leaves `next`, in which the rows that are not as in `newest` are changed by it. */
int64_t number_commit(int writer, const state *newest, state *next);
/* Sets the number that the next save of the context writes. */
void set_number(side *side, int64_t number);
/* Tells things apart that had one place after each other. */
int64_t next_birth(void);

/* Plain SQLite. A commit of it is under a number, too. */
void open_foreign(void);
void close_foreign(void);
void write_foreign(void);
/* It holds the writer's lock while the context saves, which fails and moves nothing. */
void save_while_foreign_writes(side *side);

#endif
