#include "crowd.h"

#include "acts.h"
#include "dice.h"
#include "look.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

long crowd_commits, crowd_looks, crowd_draws;

static atomic_bool is_over;
static atomic_long all_looks;
/* Posted for each step that a thread has done. */
static sem_t steps_to_come;

typedef struct worker {
    pthread_t thread;
    int number;
    uint64_t seed;
    void (*work)(struct worker *worker);
    long draws, steps;
} worker;

static void change_and_save(side *side, int most) {
    for (int work = 1 + random_below(most); work > 0; work--) change(side);
    if (chance(6)) roll_back(side);
    else save(side);
}

static bool is_far_behind(const side *side) { return newest_number() - side->number > KEPT / 2; }

/* A context that lags moves with its own saves alone, and those are rare. */
static void act(side *side, bool lags) {
    int kind = random_below(100);
    /* Further behind it could not be compared any more. */
    if (is_far_behind(side)) merge(side);
    if (lags && kind >= 36 && kind < 86 && chance(98)) kind = random_below(36);
    if (kind < 30) look_at_some(side);
    else if (kind < 36) look_at_all(side);
    else if (kind < 60) change_and_save(side, 4);
    else if (kind < 66) batch_update(side);
    else if (kind < 70) batch_rows(side, true);
    else if (kind < 80) merge(side);
    else if (kind < 82) refresh_all(side);
    else if (kind < 84) refresh_one(side);
    else if (kind < 86) reset(side);
    else if (kind < 90) begin_batches(side, random_below(QUERIES));
    else if (kind < 94) read_batches(side);
    else if (kind < 96) look_through_child(side, NULL);
    else if (kind < 98) save_in_vain(side);
    else {
        const int writer = side->writer, store = side->store;
        const bool merges = side->merges;
        close_side(side);
        open_side(side, writer, store, merges, chance(30));
    }
}

static void read_and_write(worker *worker) {
    side side;
    open_side(&side, worker->number, current.has_foreign && worker->number % 3 == 2, worker->number % 3 == 1, false);
    for (long step = 0; step < worker->steps; step++) {
        act(&side, worker->number % 4 == 3);
        sem_post(&steps_to_come);
    }
    close_side(&side);
}

static void write_fast(worker *worker) {
    side side;
    open_side(&side, worker->number, 0, false, false);
    while (!atomic_load(&is_over)) {
        change_and_save(&side, 3);
        if (chance(30)) merge(&side);
        if (chance(10)) batch_update(&side);
        if (chance(5)) batch_rows(&side, true);
    }
    close_side(&side);
}

static void draw(worker *worker) {
    side side;
    open_side(&side, worker->number, 0, chance(50), false);
    for (long i = 0; i < worker->draws; i++) {
        draw_window(&side);
        if (!side.merges && chance(30)) merge(&side);
        if (is_far_behind(&side)) merge(&side);
        if (chance(1)) {
            close_side(&side);
            open_side(&side, worker->number, 0, chance(50), false);
        }
    }
    atomic_store(&is_over, true);
    close_side(&side);
}

static void *begin(void *argument) {
    worker *worker = argument;
    seed_dice(worker->seed);
    worker->work(worker);
    atomic_fetch_add(&all_looks, looks);
    return NULL;
}

static void run(worker *workers, int count, uint64_t seed) {
    for (int i = 0; i < count; i++) {
        workers[i].number = i;
        workers[i].seed = seed * 64 + (uint64_t)i;
        if (pthread_create(&workers[i].thread, NULL, begin, &workers[i]) != 0) fault("thread %d does not start", i);
    }
}

static void end(worker *workers, int count) {
    for (int i = 0; i < count; i++) pthread_join(workers[i].thread, NULL);
    crowd_commits = (long)newest_number();
    crowd_looks = atomic_load(&all_looks);
}

void run_threads(int threads, long steps, uint64_t seed) {
    worker workers[WRITERS] = {{0}};
    sem_init(&steps_to_come, 0, 0);
    for (int i = 0; i < threads; i++) workers[i].work = read_and_write, workers[i].steps = steps;
    run(workers, threads, seed);
    seed_dice(seed);
    for (long i = 0; i < threads * steps; i++) {
        if (current.has_foreign && i % 4 == 0) write_foreign();
        sem_wait(&steps_to_come);
    }
    end(workers, threads);
}

void run_draws(long draws, uint64_t seed) {
    worker workers[] = {{.work = draw, .draws = draws}, {.work = write_fast}, {.work = write_fast}};
    run(workers, COUNT_OF(workers), seed);
    end(workers, COUNT_OF(workers));
    crowd_draws = draws;
}
