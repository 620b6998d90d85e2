/*
 * How long the thread that draws waits while another thread saves 200,000 rows in one commit, or while a text is typed into a
 * search field.
 *
 * It reads a window every 2 ms, and takes over what is ready. Each of its calls is timed, less the time in which it was ready
 * to run and had no processor.
 */
#include "requery.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 3, MOST_CALLS = 400000, SAVED = 200000, EDIT_EVERY = 50 };

static const char *const keys[] = {"author", "title", "created", "price"};

/* --- Calls that are timed. */

typedef struct calls {
    double *seconds;
    int count;
    double longest;
} calls;

/* The time in which the thread could have run, in seconds: the second number that the scheduler keeps. */
static double delayed(void) {
    static _Thread_local int file = -1;
    char text[96] = "";
    unsigned long long run = 0, waited = 0;
    if (file < 0) file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (file < 0 || pread(file, text, sizeof text - 1, 0) <= 0) return 0;
    return sscanf(text, "%llu %llu", &run, &waited) == 2 ? 1e-9 * (double)waited : 0;
}

typedef struct begun { double time, delay; } begun;

static begun begin_call(void) {
    const double delay = delayed();
    return (begun){now(), delay};
}

static void end_call(calls *calls, begun begun) {
    const double time = now() - begun.time, seconds = time - (delayed() - begun.delay);
    CHECK(calls->count < MOST_CALLS);
    calls->seconds[calls->count++] = seconds > 0 ? seconds : 0;
    if (seconds > calls->longest) calls->longest = seconds;
}

/* --- What is saved. */

static int64_t saved_rows(int64_t rows) { return rows < SAVED / 2 ? rows : SAVED; }

static atomic_bool is_saved;

typedef struct columns { sample *samples; quire_value *values; int64_t count; } columns;
typedef struct job { quire_store *store; columns columns; } job;

static columns make_columns(int64_t rows) {
    columns made = {.count = saved_rows(rows)};
    const size_t count = (size_t)made.count;
    made.samples = malloc(sizeof *made.samples * count);
    made.values = malloc(sizeof *made.values * 4 * count);
    CHECK(made.samples && made.values);
    for (size_t i = 0; i < count; i++) {
        sample *sample = &made.samples[i];
        make_sample(rows + (int64_t)i, rows, sample);
        made.values[i] = quire_value_text(sample->author);
        made.values[count + i] = quire_value_text(sample->title);
        made.values[2 * count + i] = quire_value_date(sample->created);
        made.values[3 * count + i] = quire_value_double(sample->price);
    }
    return made;
}

static void free_columns(columns columns) {
    free(columns.samples);
    free(columns.values);
}

static void *save_by_quire(void *argument) {
    const job *job = argument;
    quire_error *mine = NULL;
    quire_context *context = NULL;
    const quire_value *some[4];
    for (int i = 0; i < 4; i++) some[i] = job->columns.values + i * job->columns.count;
    CHECK(quire_context_create(job->store, &context, &mine) == QUIRE_OK);
    CHECK(quire_context_insert_rows(context, "Quote", 5, keys, some, 4, (size_t)job->columns.count, NULL, &mine) == QUIRE_OK);
    CHECK(quire_context_save(context, &mine) == QUIRE_OK);
    quire_context_release(context);
    atomic_store(&is_saved, true);
    return NULL;
}

static void *save_by_sqlite(void *argument) {
    const job *job = argument;
    sqlite3 *database = open_database(path);
    sqlite3_busy_timeout(database, 60000);
    SQL_OK(sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL));
    sqlite3_stmt *statement = prepare(database, "INSERT INTO ZQUOTE (Z_ENT, Z_OPT, ZAUTHOR, ZTITLE, ZCREATED, ZPRICE) "
        "VALUES (1, 1, ?, ?, ?, ?)");
    for (int64_t i = 0; i < job->columns.count; i++) {
        const sample *sample = &job->columns.samples[i];
        sqlite3_bind_text(statement, 1, sample->author, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, sample->title, -1, SQLITE_STATIC);
        sqlite3_bind_double(statement, 3, sample->created - 978307200);
        sqlite3_bind_double(statement, 4, sample->price);
        CHECK(sqlite3_step(statement) == SQLITE_DONE);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
    atomic_store(&is_saved, true);
    return NULL;
}

/* --- Drawing. */

typedef struct drawing { calls windows, edits; told told; } drawing;

static void rest(double begun) {
    const double left = begun + 0.002 - now();
    const struct timespec pause = {0, left > 0 ? (long)(left * 1e9) : 0};
    if (left > 0) nanosleep(&pause, NULL);
}

static int64_t place_of(int64_t turn, int64_t count) { return turn * 104729 % (count > WINDOW ? count - WINDOW : 1); }

static void read_window(quire_results *list, int64_t turn) {
    quire_page *page = NULL;
    const int64_t count = quire_results_count(list);
    OK(quire_results_page(list, place_of(turn, count), WINDOW, keys, 4, 0, &page, &error));
    CHECK(quire_page_row_count(page) == WINDOW);
    quire_page_release(page);
}

static bool has_news(int descriptor) {
    struct pollfd news = {descriptor, POLLIN, 0};
    return poll(&news, 1, 0) == 1;
}

/* Another row each time, of those that the other thread leaves alone. */
static void edit(opened made, int64_t turn, int64_t rows) {
    quire_object *object = NULL;
    const quire_value price = quire_value_double((double)turn);
    OK(quire_context_object(made.context, "Quote", 5, turn * 7919 % rows + 1, &object, &error));
    OK(quire_object_set(object, "price", QUIRE_NUL, &price, &error));
    OK(quire_context_save(made.context, &error));
    quire_object_release(object);
}

static void draw_by_quire(int64_t rows, bool fetches, bool edits, drawing *out) {
    prepare_file(rows);
    opened made = open_store(path);
    job job = {made.store, make_columns(rows)};
    int descriptor = -1;
    OK(quire_context_descriptor(made.context, &descriptor, &error));
    quire_results *list = fetches ? NULL : new_controller(made);
    pthread_t thread;
    atomic_store(&is_saved, false);
    CHECK(pthread_create(&thread, NULL, save_by_quire, &job) == 0);
    const int64_t whole = rows + saved_rows(rows);
    for (int64_t turn = 0; !list || quire_results_count(list) < whole || (edits && out->edits.count < CHECKED); turn++) {
        const double start = now();
        if (!list) {
            const begun begun = begin_call();
            list = begin_controller(made);
            end_call(&out->windows, begun);
        }
        begun begun = begin_call();
        if (quire_results_is_fetched(list)) read_window(list, turn);
        end_call(&out->windows, begun);
        if (has_news(descriptor)) {
            begun = begin_call();
            OK(quire_context_merge(made.context, &error));
            end_call(&out->windows, begun);
        }
        if (edits && turn % EDIT_EVERY == EDIT_EVERY - 1) {
            begun = begin_call();
            edit(made, turn / EDIT_EVERY, rows);
            end_call(&out->edits, begun);
        }
        rest(start);
    }
    pthread_join(thread, NULL);
    OK(quire_context_merge(made.context, &error));
    out->told = told_of(list);
    free_columns(job.columns);
    quire_results_release(list);
    close_store(made);
}

/* --- Typing into a search field. */

/* What is in the field after each key; all rows at the end. */
static const char *const typed[] = {"4", "42", "42 ", "42 o", "42 of", "42", "4", ""};

enum { KEYS = sizeof typed / sizeof *typed, KEY_EVERY = 20 };

/* A key comes when the rows of the one before it are shown, or after 20 windows. */
static void type_by_quire(int64_t rows, drawing *out) {
    prepare_file(rows);
    opened made = open_store(path);
    int descriptor = -1;
    OK(quire_context_descriptor(made.context, &descriptor, &error));
    quire_results *list = new_controller(made);
    int64_t number = 0;
    for (int64_t turn = 0, key = 0, next = 0; key < KEYS || quire_results_awaits_request(list); turn++) {
        const double start = now();
        if (key < KEYS && (turn >= next || quire_results_request_number(list) == number)) {
            const begun begun = begin_call();
            number = begin_search(list, typed[key++]);
            end_call(&out->windows, begun);
            next = turn + KEY_EVERY;
        }
        if (quire_results_count(list) >= WINDOW) {
            const begun begun = begin_call();
            read_window(list, turn);
            end_call(&out->windows, begun);
        }
        if (has_news(descriptor)) {
            const begun begun = begin_call();
            OK(quire_context_merge(made.context, &error));
            end_call(&out->windows, begun);
        }
        rest(start);
    }
    out->told = told_of(list);
    quire_results_release(list);
    close_store(made);
}

/* The ids are queried again when another connection has committed; and without that, so that it shows no new rows. */
static void draw_by_sqlite(int64_t rows, bool fetches, bool requeries, drawing *out) {
    prepare_file(rows);
    sqlite3 *database = open_database(path);
    sqlite3_stmt *row = prepare(database, "SELECT ZAUTHOR, ZTITLE, ZCREATED, ZPRICE FROM ZQUOTE WHERE Z_PK = ?");
    sqlite3_stmt *version = prepare(database, "PRAGMA data_version");
    job job = {NULL, make_columns(rows)};
    requery list = {0};
    if (!fetches) list = requery_begin(database);
    CHECK(sqlite3_step(version) == SQLITE_ROW);
    int before = sqlite3_column_int(version, 0);
    sqlite3_reset(version);
    pthread_t thread;
    atomic_store(&is_saved, false);
    CHECK(pthread_create(&thread, NULL, save_by_sqlite, &job) == 0);
    for (bool ends = false; !ends; ends = atomic_load(&is_saved)) {
        static int64_t turn;
        const double start = now();
        if (!list.statement) {
            const begun begun = begin_call();
            list = requery_begin(database);
            end_call(&out->windows, begun);
        }
        begun begun = begin_call();
        const int64_t place = place_of(turn++, list.old.count);
        for (int i = 0; i < WINDOW; i++) {
            sqlite3_bind_int64(row, 1, list.old.ids[place + i]);
            CHECK(sqlite3_step(row) == SQLITE_ROW && sqlite3_column_text(row, 0) && sqlite3_column_text(row, 1));
            sqlite3_reset(row);
        }
        end_call(&out->windows, begun);
        begun = begin_call();
        CHECK(sqlite3_step(version) == SQLITE_ROW);
        const int is = sqlite3_column_int(version, 0);
        sqlite3_reset(version);
        if (requeries && is != before) {
            requery_refresh(&list);
            end_call(&out->windows, begun);
        }
        before = is;
        rest(start);
    }
    pthread_join(thread, NULL);
    if (requeries) {
        const begun begun = begin_call();
        requery_refresh(&list);
        end_call(&out->windows, begun);
    }
    out->told = told_by_query(database);
    free_columns(job.columns);
    requery_end(&list);
    sqlite3_finalize(version);
    sqlite3_finalize(row);
    SQL_OK(sqlite3_close(database));
}

/* --- The cases. The longest call is that of the best of three runs, so that it is none of the machine. */

typedef enum contender { SQLITE, REQUERY, QUIRE, CONTENDERS } contender;

static const char *const titles[CONTENDERS] = {"sqlite-c", "sqlite-c-requery", "quire-c"};

typedef struct measured { double longest; calls calls; } measured;

static measured measure_typing(int64_t rows) {
    drawing drawing = {.windows.seconds = malloc(sizeof(double) * MOST_CALLS)};
    CHECK(drawing.windows.seconds);
    double best = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        drawing.windows.count = 0;
        drawing.windows.longest = 0;
        type_by_quire(rows, &drawing);
        if (turn == 0 || drawing.windows.longest < best) best = drawing.windows.longest;
    }
    answer_list(drawing.told);
    return (measured){best, drawing.windows};
}

static measured measure(int64_t rows, bool fetches, bool edits, contender contender) {
    drawing drawing = {.windows.seconds = malloc(sizeof(double) * MOST_CALLS), .edits.seconds = malloc(sizeof(double) * MOST_CALLS)};
    CHECK(drawing.windows.seconds && drawing.edits.seconds);
    calls *told = edits ? &drawing.edits : &drawing.windows, *others = edits ? &drawing.windows : &drawing.edits;
    double best = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        told->count = others->count = 0;
        told->longest = 0;
        if (contender == QUIRE) draw_by_quire(rows, fetches, edits, &drawing);
        else draw_by_sqlite(rows, fetches, contender == REQUERY, &drawing);
        if (turn == 0 || told->longest < best) best = told->longest;
    }
    answer_list(drawing.told);
    free(others->seconds);
    return (measured){best, *told};
}

/* The longest calls of all, and the medians of the last run. */
static void compare(int64_t rows, bool fetches, bool edits, contender first, const char *name) {
    measured all[CONTENDERS];
    char further[40];
    snprintf(further, sizeof further, "%s.median", name);
    for (int i = first; i < CONTENDERS; i++) all[i] = measure(rows, fetches, edits, (contender)i);
    for (int i = first; i < CONTENDERS; i++) report(name, titles[i], rows, &all[i].longest, 1, i == (int)first);
    for (int i = first; i < CONTENDERS; i++) {
        report(further, titles[i], rows, all[i].calls.seconds, all[i].calls.count, i == (int)first);
        free(all[i].calls.seconds);
    }
}

void wait_save_case(int64_t rows) {
    compare(rows, false, false, SQLITE, "wait.save");
}

void wait_fetch_case(int64_t rows) {
    compare(rows, true, false, SQLITE, "wait.fetch");
}

/* The saves of the thread that draws, one row each. */
void wait_edit_case(int64_t rows) {
    compare(rows, false, true, QUIRE, "wait.edit");
}

/* Another request of the list for each key that is typed. */
void wait_query_case(int64_t rows) {
    measured measured = measure_typing(rows);
    report("wait.query", titles[QUIRE], rows, &measured.longest, 1, true);
    report("wait.query.median", titles[QUIRE], rows, measured.calls.seconds, measured.calls.count, true);
    free(measured.calls.seconds);
}
