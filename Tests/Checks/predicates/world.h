/*
 * A generated model and generated rows, and the same rows as a store has them, as a context has them, and half and half.
 */
#ifndef QUIRE_WORLD_H_
#define QUIRE_WORLD_H_

#include <quire.h>

#include <stdio.h>

enum { MOST_ENTITIES = 4, MOST_PROPERTIES = 56, SLOTS = 64, MOST_LINKS = 6 };

/* A column of the language's types: what values of it can be compared with. */
typedef enum kind { NUMBER, TEXT, DATE, DATA, UUID, OBJECT, KINDS } kind;

/* An attribute, or a relationship when `destination` is not negative. */
typedef struct property {
    char name[24];
    int owner;
    quire_attribute_type type;
    /* Whether the store keeps an index of its texts. */
    bool is_searchable;
    int destination, inverse;
    bool is_to_many, is_ordered;
    /* Rows hold the links of this side; the other side follows. */
    bool leads;
} property;

typedef struct entity {
    const char *name;
    int parent;
} entity;

/* What one row holds. A value of a leading relationship is in `links`, as slots. */
typedef struct row_state {
    quire_value values[MOST_PROPERTIES];
    int link_counts[MOST_PROPERTIES];
    int links[MOST_PROPERTIES][MOST_LINKS];
} row_state;

typedef struct world_row {
    int entity;
    /* False once shrinking has left it out. */
    bool exists;
    row_state now;
    /* In the mixed stage, what was saved before it was changed to `now`. */
    row_state before;
} world_row;

typedef struct world {
    int entity_count, property_count, row_count;
    /* In the mixed stage rows from here on are not saved, and those behind `row_count` are saved and deleted. */
    int first_unsaved, doomed_count;
    /* In the saved stage, whether a context is asked that has read the rows instead of having written them. */
    bool is_read_back;
    entity entities[MOST_ENTITIES];
    property properties[MOST_PROPERTIES];
    world_row rows[SLOTS];
} world;

/* How a context came to have the rows of a world. EARLIER has what the mixed stage has saved, and nothing pending. */
typedef enum stage_kind { SAVED, UNSAVED, MIXED, STAGES, EARLIER = STAGES } stage_kind;

typedef struct stage {
    quire_store *store;
    quire_context *context;
    quire_object *objects[SLOTS];
} stage;

extern quire_error *error;

/* Ends the process unless `status` is QUIRE_OK: for what cannot fail. */
#define OK(call) require_ok((call), #call)
void require_ok(quire_status status, const char *call);

void make_world(world *world);

/* A random value that an attribute of this type can hold, perhaps nil. */
quire_value value_for(quire_attribute_type type);
kind kind_of_type(quire_attribute_type type);
bool has_property(const world *world, int entity, int property);
bool is_kind_of(const world *world, int entity, int ancestor);

void open_stage(stage *stage, const world *world, stage_kind kind);
void close_stage(stage *stage);

void print_value(FILE *out, quire_value value);
void print_world(FILE *out, const world *world);

#endif
