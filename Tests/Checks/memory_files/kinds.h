/* The kinds of histories of the check `memory_files`. Each is the steps of one kind. */
#ifndef QUIRE_KINDS_H_
#define QUIRE_KINDS_H_

#include "dice.h"
#include "trial.h"

#include <stdint.h>

typedef struct step {
    uint8_t kind, who;
    uint16_t reserved;
    /* Of the dice, for all that the step decides. */
    uint32_t seed;
} step;

typedef struct kind {
    const char *name;
    /* Of 100 histories. */
    int share;
    int actors;
    void (*run)(const step *steps, int count);
    void (*show)(const step *step);
} kind;

/* Connections of one thread, in memory and in files: each statement gives the same. */
extern const kind paired;
/* Connections of several threads in memory. What they have committed, repeated in a file, gives the same. */
extern const kind crowded;
/* Connections for which memory runs out. */
extern const kind starved;
/* Open files without SQLite's connections: bytes, fetched pages, locks, names. */
extern const kind bare;
/* Open files of several threads: fetched pages while the content becomes shorter and longer. */
extern const kind raced;

#endif
