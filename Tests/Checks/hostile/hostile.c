/*
 * Reads damaged files and uses what it gets, without Python in between, so that a sanitizer sees the library alone.
 *
 *     hostile [--stack KIB] [--seconds S] FILE ...
 *
 * A FILE that ends in .sqlite is a store, which is written to as well; .archive is given to quire_archive_decode; all
 * else is a model. Prints a line for each: what became of it, and what time of a processor it took. Fails when a file takes
 * more than S seconds of that, or when a model that was saved is another one when it is loaded.
 */
#include "reading.h"

#include <time.h>

/* The time of a processor that this thread has used. */
static double now(void) {
    struct timespec moment;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &moment);
    return (double)moment.tv_sec + (double)moment.tv_nsec / 1e9;
}

static bool ends_in(const char *text, const char *ending) {
    const size_t size = strlen(text), end = strlen(ending);
    return size >= end && strcmp(text + size - end, ending) == 0;
}

typedef struct task {
    char **files;
    int count;
    double seconds;
    int slow;
} task;

static void *work(void *given) {
    task *all = given;
    for (int i = 0; i < all->count; i++) {
        const char *path = all->files[i];
        const double start = now();
        const bool is_read =
            ends_in(path, ".sqlite") ? read_store(path) : ends_in(path, ".archive") ? read_archive(path) : read_model(path);
        const double took = now() - start;
        if (took > all->seconds) all->slow++;
        printf("%s %.3f %s\n", is_read ? "read" : "refused", took, path);
        fflush(stdout);
    }
    return NULL;
}

int main(int argc, char **argv) {
    task all = {NULL, 0, 20, 0};
    long stack = 0;
    int place = 1;
    for (; place + 1 < argc && strncmp(argv[place], "--", 2) == 0; place += 2) {
        if (strcmp(argv[place], "--stack") == 0) stack = atol(argv[place + 1]);
        else if (strcmp(argv[place], "--seconds") == 0) all.seconds = atof(argv[place + 1]);
        else return fprintf(stderr, "hostile: there is no %s\n", argv[place]), 2;
    }
    all.files = argv + place;
    all.count = argc - place;
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (stack > 0) CHECK(pthread_attr_setstacksize(&attributes, (size_t)stack * 1024) == 0);
    CHECK(pthread_create(&thread, &attributes, work, &all) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
    printf("hostile: %d files, %d used, %d too slow, %d differences\n", all.count, used_count, all.slow, differences);
    return all.slow || differences ? 1 : 0;
}
