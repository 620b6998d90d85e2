#include "dice.h"

/* Each thread has dice of its own. */
static _Thread_local uint64_t state;

/* The generator "splitmix64", of which one step sets neighbouring seeds apart. */
static uint64_t next(void) {
    uint64_t bits = state += 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

void seed_dice(uint64_t seed) {
    state = seed;
    state = next();
}

int random_below(int bound) { return (int)(next() % (uint64_t)bound); }
