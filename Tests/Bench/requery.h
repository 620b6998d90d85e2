/* A list that is kept right without Quire, as well as C does it: query again, gather sections again, compare. */
#ifndef REQUERY_H
#define REQUERY_H

#include "bench.h"

/* The ids in order, and where each section begins; the names of sections lie one after another, each ended by NUL. */
typedef struct shown {
    int64_t *ids, *starts;
    char *names;
    int64_t count, room, sections, section_room;
    size_t name_size, name_room;
} shown;

typedef struct requery { sqlite3_stmt *statement; shown old, new; int32_t *places; int64_t place_room; int64_t told; } requery;

requery requery_begin(sqlite3 *database);
/* Reads the list again; `told` counts deleted, inserted and moved rows. */
void requery_refresh(requery *list);
void requery_end(requery *list);

#endif
