/*
 * The world of the check `controllers`: books by persons with cities, and with tags; and the contexts that change it.
 *
 * A thing is known by its kind and its slot, which it carries in its attribute `number`. What is true of it, a context is
 * asked, object by object: how contexts come to agree is the business of the check `graph`.
 */
#ifndef QUIRE_SHOP_H_
#define QUIRE_SHOP_H_

#include "calls.h"
#include "trial.h"

enum { BOOK, PERSON, CITY, TAG, KINDS };
enum { MOST_THINGS = 300, MOST_TAGS = 32, KEYS = 3, CONTEXTS = 4 };

extern const char *const entities[KINDS];

/* An attribute. Its values are places in the pool of its type, in which the first is nil. */
typedef struct key {
    const char *name;
    quire_attribute_type type;
} key;
extern const key keys[KINDS][KEYS];

extern const char *const texts[];
extern const double numbers[], dates[];
/* How many values an attribute may have. */
int pool_size(const key *key);
quire_value pool_value(const key *key, int place);

typedef struct thing {
    bool exists, is_novel;
    int64_t id;
    int values[KEYS];
    /* The author of a book, the city of a person; -1 for none. */
    int holder;
    /* Of a book. */
    uint32_t tags;
} thing;

/* What a context shows. */
typedef struct facts {
    thing things[KINDS][MOST_THINGS];
} facts;

/* NULL and NaN for nil. */
const char *text_of(const thing *thing, int key);
double number_of(const thing *thing, int key);

/* What a history is done with. */
typedef struct setting {
    /* Of each context the one that it is made on, or -1 for the store. */
    int context_count, parents[CONTEXTS];
    uint32_t policies[CONTEXTS];
    bool undoes[CONTEXTS], merges[CONTEXTS];
    /* Whether the books of a person go with it. */
    bool cascades;
} setting;

/* A context and what is known of it. */
typedef struct place {
    quire_context *context;
    int descriptor;
    /* Whether there may be changes that it has not processed; whether anything happened since its lists were compared;
       and whether rows may be told of that show nothing else than then: objects were refreshed, or there was something
       pending, when what they reach is looked for by saved values, too. */
    bool is_dirty, is_unchecked, is_refreshed;
    /* Contexts that it does not read through have saved so often since then. What one of them changed, and the next one
       changed back, may be told of. */
    int saves_of_others;
} place;

extern setting current;
extern place places[CONTEXTS];

void open_shop(void);
void close_shop(void);

/* Whether `context` and those it is made on have nothing to process or to merge, so that all it shows agrees. */
bool is_settled(int context);
bool is_on(int context, int other);
/* The context on the store that it is or reads through. */
int root_of(int context);
/* Whether it or one that it is on has something to save. */
bool has_pending(int context);

/* NULL when the context does not have it. Owned. */
quire_object *find_thing(int context, int kind, int slot);
void note_thing(int kind, int slot, int64_t id);
/* -1 for an id that no thing has had. */
int slot_of_id(int kind, int64_t id);
void read_facts(int context, facts *out);

#endif
