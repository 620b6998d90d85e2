/* Predicates, and what they mean in plain loops over what is true. */
#ifndef QUIRE_FILTERS_H_
#define QUIRE_FILTERS_H_

#include "shop.h"

typedef struct filter {
    int kind;
    const char *format;
    bool (*holds)(const facts *facts, const thing *thing);
} filter;

/* Ordered by kind; the first of each kind holds for all. */
extern const filter filters[];
extern const int filter_count;

/* NULL for none. */
const thing *holder_of(const facts *facts, int kind, const thing *thing);
int count_books(const facts *facts, const thing *person);

#endif
