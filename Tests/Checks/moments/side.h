/* A context, the commit that it is at, and what it shows: the state of that commit with what is pending laid over it. */
#ifndef QUIRE_MOMENTS_SIDE_H_
#define QUIRE_MOMENTS_SIDE_H_

#include "queries.h"

/* A list of the context, and what its change sets made of it so far. */
typedef struct followed followed;

typedef struct side {
    quire_context *context;
    /* Its place among the writers, and the store that it is on. */
    int writer, store;
    bool merges, undoes;
    /* A save has met a conflict, so that a rollback moves the context. */
    bool has_conflict;
    /* Whether `view` does not say what delegates read, because the call under way is to change it. */
    bool is_changing;
    /* The commit that it is at. */
    int64_t number;
    state base, view;
    quire_object *commits[WRITERS];
    quire_object *held[ITEMS];
    int64_t held_born[ITEMS];
    followed *lists[LISTS];
    /* A fetch in batches whose rows are read later, if the view is the same then. */
    quire_list *batches;
    int batched_query;
    state batched;
} side;

void open_side(side *side, int writer, int store, bool merges, bool undoes);
void close_side(side *side);

bool has_pending(const side *side);
/* Whether it was changed, inserted or deleted here, but for its tags; and whether its tags were. */
bool is_changed_item(const side *side, int slot);
bool is_tagged_item(const side *side, int slot);
bool is_changed_person(const side *side, int slot);

/* Whether what is pending can be laid over the state: nothing of it concerns what is gone there. */
bool can_rebase(const side *side, const state *to);

/* What is pending, laid over the state. */
void lay_pending(const side *side, const state *to, state *out);

/* The context has been moved to that commit: `call` says by what. Its view follows, and the rows of writers must say so. */
void move_to(side *side, int64_t number, const char *call);
/* Nothing is pending any more. */
void drop_pending(side *side);
/* Asks where the context is: it must not have moved. */
void locate(side *side, const char *call);
/* The same after a call that may have moved it to any commit from `least` on. */
void locate_from(side *side, int64_t least, const char *call);

/* Whether what is pending can be laid over what is newest. */
bool may_move(const side *side);
/* Before a call that moves it: what is pending and could not be laid over what is newest is dropped. */
void prepare_move(side *side);
/* Processes changes, by which a context that merges automatically moves. */
void process(side *side);

/* The object of that number by a query, or NULL when there is none, as the view has it. Owned. */
quire_object *find_object(side *side, const char *entity, int number);

/* The state of the commit that it shows now, with what is pending laid over it; for what reads while it moves. */
void read_view(side *side, state *out);

void release_batches(side *side);
void forget_held(side *side);
/* After a reset, which ends all objects. */
void take_commits(side *side);

#endif
