/*
 * How long the write-ahead log becomes.
 *
 *   wal [--steps N] [--limit M]
 *   wal --scrolls N [--limit M] [--seed S]
 *
 * One thread makes N saves, each of one row of 2,000, while another one draws every 4 ms: it processes changes, and looks at
 * its list. What must hold, for the log as SQLite has it and for its file:
 *
 * - While both move on, it stays under 32 MB.
 * - Beside a context that never merges, it stays under eight times the limit, which is M megabytes (64). That context shows
 *   what it showed until the store gives its moment up. Then it reads the newest rows, and its list tells nothing, until a
 *   merge makes the list what a new one is.
 * - While two threads save without a pause, and a third one merges and is pinned for 20 ms again and again, it stays under
 *   eight times the limit.
 *
 * With --scrolls, a list scrolls beside two writers in N runs, with limits from 64 KiB to M megabytes: see scroll.c. In every
 * second run the context merges once per frame. Then it never loses its moment, and no read fails. In the others it never
 * merges. Then each row that is read is the one whose id was asked for, a row that is gone is not found, and one merge makes
 * the list and all objects right. In all of them the log stays under eight times the limit and what
 * the writers have on the way (scroll.c), and no delegate is called from within a read.
 */
#include "wal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BOOKS = 2000, MOST_WHILE_MOVING = 32, DRAWS_BETWEEN_LOOKS = 10 };

static long long saves = 1000000, limit = 64;
static char folder[64];
char path[80], log_path[84];
_Thread_local quire_error *error;

void fail(const char *what, const char *file, int line) {
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, error ? quire_error_message(error).data : "no error");
    exit(1);
}

int64_t log_size(quire_store *store) {
    quire_wal_info info = QUIRE_WAL_INFO_INIT;
    OK(quire_store_wal_info(store, &info, &error));
    return info.size;
}

static quire_store *open_store(void) {
    quire_model *model = quire_model_create();
    quire_attribute_options attribute = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    OK(quire_model_add_entity(model, "Book", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(model, "Book", QUIRE_NUL, "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &attribute, &error));
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    /* How fast the disk is tells nothing of the log. */
    options.relaxed_durability = true;
    options.wal_limit = (uint64_t)limit * MEGABYTE;
    quire_store *store = NULL;
    OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    return store;
}

static quire_context *new_context(quire_store *store) {
    quire_context *context = NULL;
    OK(quire_context_create(store, &context, &error));
    return context;
}

static void set_pages(quire_object *book, int64_t pages) {
    const quire_value value = quire_value_integer(pages);
    OK(quire_object_set(book, "pages", QUIRE_NUL, &value, &error));
}

/* --- The thread that writes. */

typedef struct writer {
    quire_context *context;
    quire_object *books[BOOKS];
    /* The first of the books that it writes, and how many they are. */
    int first, count;
    atomic_bool is_over;
} writer;

static void *write_on(void *of) {
    writer *writer = of;
    for (long long i = 0; i < saves; i++) {
        set_pages(writer->books[writer->first + i % writer->count], BOOKS + i);
        OK(quire_context_save(writer->context, &error));
    }
    atomic_store(&writer->is_over, true);
    return NULL;
}

/* --- Contexts that read. */

static quire_results *list_all(quire_context *context) {
    quire_fetch_request *request = NULL;
    quire_results *results = NULL;
    OK(quire_fetch_request_create("Book", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "pages", QUIRE_NUL, false, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    OK(quire_results_create(context, request, &options, &results, &error));
    OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

/* How many brackets the list has told since the last time. */
static int told(quire_results *results) {
    int count = 0;
    for (quire_changes *changes = NULL;; count++) {
        OK(quire_results_next_changes(results, &changes, &error));
        if (!changes) return count;
        quire_changes_release(changes);
    }
}

/* A context that is not merged and processes nothing. It only reads a window of its list now and then. */
typedef struct idler {
    quire_context *context;
    quire_results *results;
    uint64_t generation;
    /* The value of the first row. */
    int64_t pages;
    bool is_lost;
} idler;

static int64_t first_pages(quire_results *results) {
    const char *keys[] = {"pages"};
    quire_page *page = NULL;
    OK(quire_results_page(results, 0, 1, keys, 1, 0, &page, &error));
    const int64_t pages = *(const int64_t *)quire_page_column(page, 0)->values;
    quire_page_release(page);
    return pages;
}

static idler start_idling(quire_store *store) {
    idler idler = {.context = new_context(store)};
    idler.results = list_all(idler.context);
    idler.pages = first_pages(idler.results);
    idler.generation = quire_context_generation(idler.context);
    return idler;
}

/* Whether it shows what it showed, or, once its moment is lost, something newer of the same row; and tells nothing. */
static bool look(idler *idler) {
    const bool was_lost = quire_context_has_lost_moment(idler->context);
    const int64_t pages = first_pages(idler->results);
    idler->is_lost = quire_context_has_lost_moment(idler->context);
    const bool is_told = told(idler->results) > 0 || quire_context_generation(idler->context) != idler->generation;
    const bool is_right = !is_told && (idler->is_lost ? pages >= idler->pages : pages == idler->pages) && (!was_lost || idler->is_lost);
    if (!is_right) printf("  pages %lld after %lld, %s, %s\n", (long long)pages, (long long)idler->pages,
        idler->is_lost ? "lost" : "not lost", is_told ? "told" : "not told");
    return is_right;
}

/* Whether a merge makes its list what a new one is. */
static bool merge(idler *idler, quire_store *store) {
    OK(quire_context_merge(idler->context, &error));
    quire_context *fresh = new_context(store);
    quire_results *wanted = list_all(fresh);
    int64_t ids[BOOKS], others[BOOKS];
    OK(quire_results_ids(idler->results, 0, BOOKS, ids, &error));
    OK(quire_results_ids(wanted, 0, BOOKS, others, &error));
    const bool is_right = memcmp(ids, others, sizeof ids) == 0 && first_pages(idler->results) == first_pages(wanted)
        && !quire_context_has_lost_moment(idler->context);
    if (!is_right) printf("  a merge does not make the list right\n");
    quire_results_release(wanted);
    quire_context_release(fresh);
    return is_right;
}

/* --- Both at once. */

static int64_t greater(int64_t left, int64_t right) { return left > right ? left : right; }

static int run(bool has_idler) {
    quire_store *store = open_store();
    writer writer = {.context = new_context(store), .count = BOOKS};
    for (int i = 0; i < BOOKS; i++) {
        OK(quire_context_insert(writer.context, "Book", QUIRE_NUL, &writer.books[i], &error));
        set_pages(writer.books[i], i);
    }
    OK(quire_context_save(writer.context, &error));
    quire_context *drawing = new_context(store);
    OK(quire_context_set_merges_automatically(drawing, true, &error));
    quire_results *drawn = list_all(drawing);
    idler idler = {.context = NULL};
    if (has_idler) idler = start_idling(store);

    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_on, &writer) == 0);
    int64_t longest = 0, largest = 0;
    int draws = 0, differences = 0;
    for (; !atomic_load(&writer.is_over); draws++) {
        OK(quire_context_process(drawing, &error));
        told(drawn);
        if (has_idler && draws % DRAWS_BETWEEN_LOOKS == 0) differences += !look(&idler);
        longest = greater(longest, log_size(store));
        struct stat file;
        if (stat(log_path, &file) == 0) largest = greater(largest, file.st_size);
        usleep(4000);
    }
    pthread_join(thread, NULL);

    const int64_t most = (has_idler ? 8 * limit : MOST_WHILE_MOVING) * MEGABYTE;
    differences += longest >= most || largest >= most;
    if (has_idler) differences += !look(&idler) + !merge(&idler, store);
    printf("%s: the log has at most %.1f MB, its file %.1f MB, of %lld MB; %d draws", has_idler ? "one never merges" : "both move",
        (double)longest / MEGABYTE, (double)largest / MEGABYTE, (long long)(most / MEGABYTE), draws);
    if (has_idler) printf("; it %s its moment", idler.is_lost ? "lost" : "kept");
    printf("\n");

    if (has_idler) {
        quire_results_release(idler.results);
        quire_context_release(idler.context);
    }
    quire_results_release(drawn);
    quire_context_release(drawing);
    for (int i = 0; i < BOOKS; i++) quire_object_release(writer.books[i]);
    quire_context_release(writer.context);
    OK(quire_store_close(store, &error));
    quire_store_release(store);
    remove(path);
    return differences;
}

/* --- Two that write, and one that reads beside pins of 20 ms. */

static int run_with_pins(void) {
    quire_store *store = open_store();
    writer writers[2] = {{.count = BOOKS / 2}, {.first = BOOKS / 2, .count = BOOKS / 2}};
    for (int i = 0; i < 2; i++) writers[i].context = new_context(store);
    for (int i = 0; i < BOOKS; i++) {
        writer *writer = &writers[i / (BOOKS / 2)];
        OK(quire_context_insert(writer->context, "Book", QUIRE_NUL, &writer->books[i], &error));
        set_pages(writer->books[i], i);
    }
    for (int i = 0; i < 2; i++) OK(quire_context_save(writers[i].context, &error));
    quire_context *reading = new_context(store);
    quire_results *results = list_all(reading);

    pthread_t threads[2];
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, write_on, &writers[i]) == 0);
    int64_t longest = 0;
    int pins = 0, differences = 0;
    for (; !atomic_load(&writers[0].is_over) || !atomic_load(&writers[1].is_over); pins++) {
        OK(quire_context_merge(reading, &error));
        told(results);
        OK(quire_context_pin(reading, NULL, &error));
        const int64_t pages = first_pages(results);
        usleep(20000);
        differences += first_pages(results) != pages;
        quire_wal_info info = QUIRE_WAL_INFO_INIT;
        OK(quire_store_wal_info(store, &info, &error));
        longest = greater(longest, info.size);
        OK(quire_context_unpin(reading, &error));
    }
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    differences += longest >= 8 * limit * MEGABYTE;
    printf("two write beside pins: the log has at most %.1f MB of %lld MB; %d pins\n", (double)longest / MEGABYTE, 8 * limit, pins);

    quire_results_release(results);
    quire_context_release(reading);
    for (int i = 0; i < BOOKS; i++) quire_object_release(writers[i / (BOOKS / 2)].books[i]);
    for (int i = 0; i < 2; i++) quire_context_release(writers[i].context);
    OK(quire_store_close(store, &error));
    quire_store_release(store);
    remove(path);
    return differences;
}

int main(int argument_count, char **arguments) {
    long long scrolls = 0, seed = 1;
    for (int i = 1; i < argument_count; i += 2) {
        long long *const option = strcmp(arguments[i], "--steps") == 0 ? &saves
            : strcmp(arguments[i], "--limit") == 0 ? &limit
            : strcmp(arguments[i], "--scrolls") == 0 ? &scrolls
            : strcmp(arguments[i], "--seed") == 0 ? &seed : NULL;
        char *end = NULL;
        const long long number = i + 1 < argument_count ? strtoll(arguments[i + 1], &end, 10) : 0;
        if (!option || number <= 0 || *end) {
            fprintf(stderr, "usage: wal [--steps N] [--limit MEGABYTES]\n"
                            "       wal --scrolls N [--limit MEGABYTES] [--seed S]\n");
            return 2;
        }
        *option = number;
    }
    snprintf(folder, sizeof folder, "/tmp/quire-wal-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/books.store", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    const int differences = scrolls ? scroll((int)scrolls, (uint64_t)limit * MEGABYTE, (uint64_t)seed)
        : run(false) + run(true) + run_with_pins();
    rmdir(folder);
    if (scrolls) printf("wal: %lld steps, %d differences, seed %lld\n", scrolls, differences, seed);
    else printf("wal: %lld steps, %d differences\n", saves, differences);
    return differences ? 1 : 0;
}
