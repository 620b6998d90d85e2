/*
 * Quire beside plain SQLite, which does the same work on a file of the same rows in the same run.
 *
 *   bench [--only CASE] [--rows N,...] [--folder FOLDER] [--json FILE]
 *   bench [--only CASE] --count NAME --rows N [--folder FOLDER]
 *   bench --prepare FOLDER --rows N,...
 *
 * Prints medians of wall time, or bytes a row. FILE has all samples, and the answers that other programs have to give
 * too. FOLDER has files that were made by --prepare; without it each case makes its own. With --count, under callgrind
 * with --collect-atstart=no, only the work of Quire that is measured as NAME is collected. The last line says how often
 * it was done.
 */
#include "bench.h"

#include <stdarg.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif
#endif

quire_error *error;
char path[64], floor_path[72];
const char *folder;

void fail(const char *file, const char *what, int line) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    if (error) fprintf(stderr, "%s\n", quire_error_message(error).data);
    exit(1);
}

double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The name of --count, and how often work of that name ended. */
static const char *counted;
static long works;

static void toggle_counting(const char *name) {
    if (!counted || !name || strcmp(name, counted) != 0) return;
#ifdef CALLGRIND_TOGGLE_COLLECT
    CALLGRIND_TOGGLE_COLLECT;
#endif
}

double begin_work(const char *name) {
    const double start = now();
    toggle_counting(name);
    return start;
}

double end_work(const char *name, double start) {
    toggle_counting(name);
    works += counted && name && strcmp(name, counted) == 0;
    return now() - start;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double median(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    return samples[count / 2];
}

static FILE *json;
static bool has_written;
static double floor_median;
static char current_answer[512];

void answer(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(current_answer, sizeof current_answer, format, arguments);
    va_end(arguments);
}

int rounds_for(int64_t rows, int most) {
    const int64_t rounds = 3000000 / rows;
    return rounds < 3 ? 3 : rounds > most ? most : (int)rounds;
}

void report(const char *name, const char *contender, int64_t rows, double *samples, int count, bool is_floor) {
    const double middle = median(samples, count);
    if (is_floor) floor_median = middle;
    printf("%-16s %-16s %9lld %12.6f %8.2f\n", name, contender, (long long)rows, middle, middle / floor_median);
    fflush(stdout);
    if (!json) return;
    fprintf(json, "%s  {\"case\": \"%s\", \"contender\": \"%s\", \"rows\": %lld, \"answer\": \"%s\", \"samples\": [",
        has_written ? ",\n" : "", name, contender, (long long)rows, current_answer);
    for (int i = 0; i < count; i++) fprintf(json, "%s%.9f", i ? ", " : "", samples[i]);
    fprintf(json, "]}");
    has_written = true;
}

static const struct { const char *name; void (*run)(int64_t rows); } cases[] = {
    {"insert.bulk", insert_bulk_case}, {"insert.objects", insert_objects_case}, {"fetch.first", first_fetch_case},
    {"ids", ids_case}, {"objects", objects_case}, {"window", window_case}, {"filter", filter_case},
    {"contains", contains_case}, {"contains.index", text_index_case}, {"equal", equal_case}, {"any", any_case},
    {"open", open_case}, {"live.one", live_one_case}, {"live.insert", live_insert_case}, {"live.delete", live_delete_case},
    {"live.update", live_update_case}, {"live.thousand", live_thousand_case}, {"live.ten", several_case}, {"cascade", cascade_case},
    {"cascade.batch", cascade_batch_case}, {"memory.list", memory_list_case}, {"memory.objects", memory_objects_case},
    {"wait.save", wait_save_case}, {"wait.fetch", wait_fetch_case}, {"wait.edit", wait_edit_case}, {"wait.query", wait_query_case},
    {"read.threads", read_threads_case}, {"foreign.writer", foreign_writer_case}, {"journal", journal_case},
    {"migrate", migrate_case}};

static int usage(void) {
    fprintf(stderr, "usage: bench [--only CASE] [--rows N,...] [--folder FOLDER] [--json FILE]\n"
        "       bench [--only CASE] --count NAME --rows N [--folder FOLDER]\n"
        "       bench --prepare FOLDER --rows N,...\ncases:");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) fprintf(stderr, " %s", cases[i].name);
    fprintf(stderr, "\n");
    return 2;
}

int main(int argument_count, char **arguments) {
    const char *only = NULL, *rows = "10000,100000", *file = NULL, *prepared = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        if (i + 1 == argument_count) return usage();
        if (strcmp(arguments[i], "--only") == 0) only = arguments[i + 1];
        else if (strcmp(arguments[i], "--rows") == 0) rows = arguments[i + 1];
        else if (strcmp(arguments[i], "--json") == 0) file = arguments[i + 1];
        else if (strcmp(arguments[i], "--folder") == 0) folder = arguments[i + 1];
        else if (strcmp(arguments[i], "--count") == 0) counted = arguments[i + 1];
        else if (strcmp(arguments[i], "--prepare") == 0) prepared = arguments[i + 1];
        else return usage();
    }
    bool is_known = !only;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) is_known |= only && strcmp(only, cases[i].name) == 0;
    if (!is_known) return usage();
    if (file && !(json = fopen(file, "w"))) return perror(file), 1;
    if (json) fprintf(json, "[\n");

#ifndef CALLGRIND_TOGGLE_COLLECT
    if (counted) return fprintf(stderr, "bench: it was compiled without valgrind/callgrind.h, which --count needs.\n"), 1;
#endif
    /* Counts are the same in each process: so is the path. */
    snprintf(path, sizeof path, "bench-%d.sqlite", counted ? 0 : (int)getpid());
    snprintf(floor_path, sizeof floor_path, "%s-floor", path);
    if (!prepared) printf("%-16s %-16s %9s %12s %8s\n", "case", "contender", "rows", "seconds", "ratio");
    for (const char *cursor = rows; *cursor;) {
        char *end = NULL;
        const long long count = strtoll(cursor, &end, 10);
        if (end == cursor || count < (prepared ? 0 : 1) || count > 100000000 || (*end && *end != ',')) return usage();
        cursor = *end ? end + 1 : end;
        if (prepared) prepare_files(prepared, count);
        for (size_t i = 0; !prepared && i < sizeof cases / sizeof cases[0]; i++)
            if (!only || strcmp(only, cases[i].name) == 0) cases[i].run(count);
    }
    remove_files();
    remove_store(floor_path);
    if (json) fprintf(json, "\n]\n"), fclose(json);
    if (counted) printf("counted %ld\n", works);
    return 0;
}
