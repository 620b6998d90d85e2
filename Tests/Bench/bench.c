/*
 * Quire beside plain SQLite, which does the same work on a file of the same rows in the same run.
 *
 *   bench [--only CASE] [--rows N,...] [--json FILE]
 *
 * Medians of wall time.
 */
#include "bench.h"

#include <time.h>
#include <unistd.h>

quire_error *error;
char path[64];

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

void report(const char *name, const char *contender, int64_t rows, double *samples, int count, bool is_floor) {
    const double middle = median(samples, count);
    if (is_floor) floor_median = middle;
    printf("%-16s %-16s %9lld %12.6f %8.2f\n", name, contender, (long long)rows, middle, middle / floor_median);
    fflush(stdout);
    if (!json) return;
    fprintf(json, "%s  {\"case\": \"%s\", \"contender\": \"%s\", \"rows\": %lld, \"median\": %.9f}", has_written ? ",\n" : "", name,
        contender, (long long)rows, middle);
    has_written = true;
}

void remove_files(void) {
    char name[80];
    const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static const struct { const char *name; void (*run)(int64_t rows); } cases[] = {
    {"insert", insert_case}, {"read", read_case}, {"first fetch", first_fetch_case}, {"move", move_case},
    {"contains", contains_case}, {"text index", text_index_case}, {"equal", equal_case}, {"any", any_case},
    {"cascade", cascade_case}};

static int usage(void) {
    fprintf(stderr, "usage: bench [--only CASE] [--rows N,...] [--json FILE]\n"
        "cases: insert, read, first fetch, move, contains, text index, equal, any, cascade\n");
    return 2;
}

int main(int argument_count, char **arguments) {
    const char *only = NULL, *rows = "10000,100000", *file = NULL;
    for (int i = 1; i < argument_count; i += 2) {
        if (i + 1 == argument_count) return usage();
        if (strcmp(arguments[i], "--only") == 0) only = arguments[i + 1];
        else if (strcmp(arguments[i], "--rows") == 0) rows = arguments[i + 1];
        else if (strcmp(arguments[i], "--json") == 0) file = arguments[i + 1];
        else return usage();
    }
    bool is_known = !only;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) is_known |= only && strcmp(only, cases[i].name) == 0;
    if (!is_known) return usage();
    if (file && !(json = fopen(file, "w"))) return perror(file), 1;
    if (json) fprintf(json, "[\n");

    snprintf(path, sizeof path, "bench-%d.sqlite", (int)getpid());
    printf("%-16s %-16s %9s %12s %8s\n", "case", "contender", "rows", "seconds", "ratio");
    for (const char *cursor = rows; *cursor;) {
        char *end = NULL;
        const long long count = strtoll(cursor, &end, 10);
        if (end == cursor || count <= 0 || count > 100000000 || (*end && *end != ',')) return usage();
        cursor = *end ? end + 1 : end;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            if (!only || strcmp(only, cases[i].name) == 0) cases[i].run(count);
    }
    remove_files();
    if (json) fprintf(json, "\n]\n"), fclose(json);
    return 0;
}
