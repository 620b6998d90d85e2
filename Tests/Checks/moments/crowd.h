/* Threads with contexts of their own. */
#ifndef QUIRE_MOMENTS_CROWD_H_
#define QUIRE_MOMENTS_CROWD_H_

#include <stdint.h>

/* So many threads read everything and write, each in so many steps. */
void run_threads(int threads, long steps, uint64_t seed);
/* One thread draws so many windows beside two that write as fast as they can. */
void run_draws(long draws, uint64_t seed);

/* What the last run did. */
extern long crowd_commits, crowd_looks, crowd_draws;

#endif
