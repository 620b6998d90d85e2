/* Open files of several threads, of which one makes the content shorter and longer while the others fetch pages. No page is
 * freed that is fetched, and nothing stays when all have been given back. */
#include "kinds.h"
#include "places.h"

#include "../../../Sources/CQuireFormat/include/memory_files.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, FETCHED = 4, REPEATS = 50, BLOCK = 65536, BLOCKS = 40, PAGE = 4096 };

typedef struct racer {
    int who, count;
    const step *steps;
    sqlite3_file *file;
    _Atomic(unsigned char *) pages[FETCHED];
} racer;

static racer racers[THREADS];

static void refuse_to_free(const void *memory, int count) {
    const unsigned char *first = memory;
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < FETCHED; j++) {
            const unsigned char *page = atomic_load(&racers[i].pages[j]);
            if (page >= first && page < first + count) differ("a page is freed that thread %d has fetched", i);
        }
}

/* What the page has may change meanwhile, since nothing like SQLite's locks is between the threads. */
__attribute__((no_sanitize_thread)) static void look_at(const unsigned char *page) {
    static _Thread_local volatile unsigned sum;
    for (int i = 0; i < PAGE; i += 64) sum += page[i];
}

static void give_back(racer *racer, int which) {
    unsigned char *page = atomic_exchange(&racer->pages[which], NULL);
    if (!page) return;
    look_at(page);
    racer->file->pMethods->xUnfetch(racer->file, 0, page);
}

static void fetch(racer *racer) {
    const int which = random_below(FETCHED);
    void *page = NULL;
    give_back(racer, which);
    racer->file->pMethods->xFetch(racer->file, (sqlite3_int64)random_below(BLOCKS * BLOCK / PAGE) * PAGE, PAGE, &page);
    atomic_store(&racer->pages[which], page);
    if (page) look_at(page);
}

static void resize(racer *racer) {
    static const unsigned char bytes[100] = {1};
    const sqlite3_int64 offset = random_below(BLOCKS * BLOCK - PAGE);
    const int code = chance(50) ? racer->file->pMethods->xTruncate(racer->file, offset)
                                : racer->file->pMethods->xWrite(racer->file, bytes, sizeof bytes, offset + PAGE - (int)sizeof bytes);
    if (code != SQLITE_OK) differ("the content is made longer or shorter with %d", code);
}

static void *work(void *argument) {
    racer *racer = argument;
    for (int i = 0; i < racer->count; i++) {
        if (racer->steps[i].who != racer->who) continue;
        seed_dice(racer->steps[i].seed);
        for (int each = 0; each < REPEATS; each++)
            if (racer->who == 0) resize(racer);
            else fetch(racer);
    }
    for (int i = 0; i < FETCHED; i++) give_back(racer, i);
    return NULL;
}

static void run(const step *steps, int count) {
    pthread_t threads[THREADS];
    begin_places();
    before_free = refuse_to_free;
    begin_place(IN_MEMORY);
    sqlite3_vfs *vfs = sqlite3_vfs_find(quire_memory_files_vfs());
    for (int i = 0; i < THREADS; i++) {
        sqlite3_int64 limit = INT64_MAX;
        sqlite3_file *file = racers[i].file = calloc(1, (size_t)vfs->szOsFile);
        if (vfs->xOpen(vfs, name_in(IN_MEMORY, 0), file, SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
            differ("a file cannot be opened");
        file->pMethods->xFileControl(file, SQLITE_FCNTL_MMAP_SIZE, &limit);
        racers[i].who = i;
        racers[i].count = count;
        racers[i].steps = steps;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, &racers[i])) differ("a thread cannot be made");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    sqlite3_int64 size = 0;
    racers[0].file->pMethods->xFileSize(racers[0].file, &size);
    const long long found = quire_memory_files_size(name_in(IN_MEMORY, 0));
    if (found > (size + BLOCK - 1) / BLOCK * (BLOCK + 256) + 10000) differ("%lld bytes take %lld of memory", (long long)size, found);
    for (int i = 0; i < THREADS; i++) {
        racers[i].file->pMethods->xClose(racers[i].file);
        free(racers[i].file);
    }
    end_place(IN_MEMORY);
    end_places();
}

static void show(const step *step) { printf(", thread %d, seed %u\n", step->who, step->seed); }

const kind raced = {"raced", 10, THREADS, run, show};
