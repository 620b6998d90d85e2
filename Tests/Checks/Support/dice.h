/* The random numbers of a check: the same from the same seed. */
#ifndef QUIRE_DICE_H_
#define QUIRE_DICE_H_

#include <stdbool.h>
#include <stdint.h>

void seed_dice(uint64_t seed);

/* 0 up to `bound`, which is small, so the bias of a remainder does not matter. */
int random_below(int bound);

static inline bool chance(int percent) { return random_below(100) < percent; }

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define RANDOM_OF(array) ((array)[random_below(COUNT_OF(array))])

#endif
