/* Memory, in bytes a row: what holding a list adds to a process that holds nothing else. */
#include "bench.h"
#include "requery.h"

#include <sys/wait.h>
#include <unistd.h>

static double resident(void) {
    long size = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &size, &pages) == 2);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double hold_controller(int64_t rows) {
    opened made = open_store(path);
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    int64_t count = 0;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse("price >= 0", QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_context_count(made.context, request, &count, &error));
    const double before = resident();
    quire_results *results = new_controller(made);
    const double taken = resident() - before;
    CHECK(count == rows && quire_results_count(results) == rows);
    return taken;
}

static double hold_objects(int64_t rows) {
    opened made = open_store(path);
    quire_fetch_request *request = NULL;
    quire_list *list = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_set_limit(request, 50, &error));
    OK(quire_context_fetch(made.context, request, &list, &error));
    quire_list_release(list);
    OK(quire_fetch_request_set_limit(request, QUIRE_NO_LIMIT, &error));
    const double before = resident();
    OK(quire_context_fetch(made.context, request, &list, &error));
    const double taken = resident() - before;
    CHECK(quire_list_count(list) == rows);
    return taken;
}

static double hold_ids(int64_t rows) {
    sqlite3 *database = open_database(path);
    sqlite3_stmt *count = prepare(database, "SELECT count(*) FROM ZQUOTE WHERE ZPRICE >= 0");
    CHECK(sqlite3_step(count) == SQLITE_ROW && sqlite3_column_int64(count, 0) == rows);
    sqlite3_finalize(count);
    const double before = resident();
    requery list = requery_begin(database);
    const double taken = resident() - before;
    CHECK(list.old.count == rows);
    return taken;
}

/* In a process of its own, which ends with what it holds. */
static double held(double (*hold)(int64_t), int64_t rows) {
    int ends[2];
    double taken = -1;
    fflush(NULL);
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        taken = hold(rows);
        _exit(write(ends[1], &taken, sizeof taken) == sizeof taken ? 0 : 1);
    }
    close(ends[1]);
    CHECK(read(ends[0], &taken, sizeof taken) == sizeof taken);
    close(ends[0]);
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    return (taken > 0 ? taken : 0) / (double)rows;
}

void memory_list_case(int64_t rows) {
    prepare_file(rows);
    double floor = held(hold_ids, rows), controller = held(hold_controller, rows);
    answer("%lld rows", (long long)rows);
    report("memory.list", "sqlite-c-requery", rows, &floor, 1, true);
    report("memory.list", "quire-c", rows, &controller, 1, false);
}

void memory_objects_case(int64_t rows) {
    prepare_file(rows);
    double objects = held(hold_objects, rows);
    answer("%lld rows", (long long)rows);
    report("memory.objects", "quire-c", rows, &objects, 1, true);
}
