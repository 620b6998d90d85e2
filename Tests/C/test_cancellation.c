#include "fixture.h"

#include <time.h>

enum { MOST_ROWS = 100000 };

/* Fewer where everything takes long. */
static size_t rows(void) { return getenv("QUIRE_SLOW") ? MOST_ROWS / 10 : MOST_ROWS; }

/* A store of many books, all of which a slow predicate has to look at. */
static fixture many_books(void) {
    fixture made = open_fixture();
    static char titles[MOST_ROWS][16];
    static quire_value values[MOST_ROWS];
    for (size_t i = 0; i < rows(); i++) {
        snprintf(titles[i], sizeof titles[i], "book %zu", i);
        values[i] = quire_value_text(titles[i]);
    }
    const char *const keys[] = {"title"};
    const quire_value *const columns[] = {values};
    CHECK_OK(quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 1, rows(), NULL, &error));
    save(made.context);
    return made;
}

static quire_fetch_request *slow_request(void) {
    return new_request("Book", "title MATCHES '.*b.*o.*o.*k.*[0-9]+.*[0-9]*' AND NOT title MATCHES '(.*o)*k x'", "pages");
}

static void check_usable(fixture made) {
    CHECK(count(made.context, "Book", NULL) == (int64_t)rows());
    quire_object *book = insert_book(made.context, "one more", 1);
    save(made.context);
    CHECK(count(made.context, "Book", "title == 'one more'") == 1);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    quire_object_release(book);
}

typedef struct watch {
    quire_context *context, *other;
    int calls, destroyed;
    uint64_t rows, stop_at;
    quire_cancellation *cancellation;
    bool called_in;
} watch;

static bool note(void *user_data, uint64_t row_count) {
    watch *w = user_data;
    CHECK(row_count >= w->rows);
    w->rows = row_count;
    w->calls++;
    return w->stop_at == 0 || row_count < w->stop_at;
}

static bool stop_at_once(void *user_data, uint64_t row_count) {
    (void)row_count;
    ((watch *)user_data)->calls++;
    return false;
}

static void note_end(void *user_data) { ((watch *)user_data)->destroyed++; }

static quire_progress progress_of(watch *w, bool (*report)(void *, uint64_t)) {
    quire_progress progress = QUIRE_PROGRESS_INIT;
    progress.interval_milliseconds = 1;
    progress.user_data = w;
    progress.report = report;
    progress.destroy = note_end;
    return progress;
}

static void *cancel(void *cancellation) {
    quire_cancellation_cancel(cancellation);
    return NULL;
}

/* A report of progress, while the request runs: another thread cancels it. */
static bool cancel_on_another_thread(void *user_data, uint64_t row_count) {
    watch *w = user_data;
    pthread_t thread;
    w->rows = row_count;
    w->calls++;
    CHECK(pthread_create(&thread, NULL, cancel, w->cancellation) == 0 && pthread_join(thread, NULL) == 0);
    return true;
}

static void another_thread_cancels_a_running_fetch(void) {
    fixture made = many_books();
    quire_fetch_request *request = slow_request();
    int64_t number = 0;
    static const quire_result_type types[] = {QUIRE_RESULT_OBJECTS, QUIRE_RESULT_IDS, QUIRE_RESULT_DICTIONARIES, QUIRE_RESULT_COUNT};
    for (size_t i = 0; i < 4; i++) {
        quire_cancellation *cancellation = quire_cancellation_create();
        watch w = {.cancellation = cancellation};
        const quire_progress progress = progress_of(&w, cancel_on_another_thread);
        CHECK_OK(quire_fetch_request_set_result_type(request, types[i], &error));
        CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
        CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
        quire_list *list = NULL;
        CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch(made.context, request, &list, &error));
        CHECK(list == NULL && w.calls == 1 && w.rows < rows());
        CHECK(quire_cancellation_is_cancelled(cancellation));
        CHECK_OK(quire_fetch_request_set_progress(request, NULL, &error));
        CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch(made.context, request, &list, &error));
        quire_cancellation_release(cancellation);
    }
    CHECK_OK(quire_fetch_request_set_cancellation(request, NULL, &error));
    CHECK_OK(quire_context_count(made.context, request, &number, &error));
    CHECK(number == (int64_t)rows());
    quire_fetch_request_release(request);
    check_usable(made);
    close_fixture(made);
}

/* A thread, which cancels what it runs when it has used 20 ms of a processor for that. */
typedef struct busy_thread {
    clockid_t clock;
    int64_t start;
    quire_cancellation *cancellation;
} busy_thread;

static int64_t used_time(clockid_t clock) {
    struct timespec used;
    CHECK(clock_gettime(clock, &used) == 0);
    return used.tv_sec * 1000000000 + used.tv_nsec;
}

static void *cancel_when_busy(void *data) {
    const busy_thread *other = data;
    while (used_time(other->clock) - other->start < 20000000) sched_yield();
    quire_cancellation_cancel(other->cancellation);
    return NULL;
}

/* Of one row: its expression tries all ways for ten seconds, and would then be refused as one that takes too long. */
static void a_single_match_is_cancelled(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", 1);
    for (int is_saved = 0; is_saved < 2; is_saved++) {
        quire_fetch_request *request = new_request("Book", "title MATCHES '(a|aa)+b'", NULL);
        quire_cancellation *cancellation = quire_cancellation_create();
        CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
        busy_thread me = {.cancellation = cancellation};
        CHECK(pthread_getcpuclockid(pthread_self(), &me.clock) == 0);
        me.start = used_time(me.clock);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, cancel_when_busy, &me) == 0);
        quire_list *list = NULL;
        CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch(made.context, request, &list, &error));
        CHECK(pthread_join(thread, NULL) == 0);
        quire_cancellation_release(cancellation);
        quire_fetch_request_release(request);
        /* The progress function is asked meanwhile, too, and its answer counts. */
        request = new_request("Book", "title MATCHES '(a|aa)+b'", NULL);
        watch w = {0};
        const quire_progress progress = progress_of(&w, stop_at_once);
        CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
        CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch(made.context, request, &list, &error));
        CHECK(w.calls == 1);
        quire_fetch_request_release(request);
        CHECK(count(made.context, "Book", "title MATCHES '(a|aa)+!'") == 1);
        save(made.context);
    }
    quire_object_release(book);
    close_fixture(made);
}

static void a_controller_keeps_its_rows_when_its_fetch_is_cancelled(void) {
    fixture made = many_books();
    quire_fetch_request *request = slow_request();
    quire_cancellation *cancellation = quire_cancellation_create();
    CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    quire_fetch_request_release(request);
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == (int64_t)rows());
    quire_cancellation_cancel(cancellation);
    CHECK_FAILS(QUIRE_CANCELLED, quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == (int64_t)rows());
    quire_cancellation_release(cancellation);
    quire_object_release(insert_book(made.context, "book 1 2", 1));
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK(quire_results_count(results) == (int64_t)rows() + 1);
    quire_results_release(results);
    close_fixture(made);
}

static void progress_rises_and_false_cancels(void) {
    fixture made = many_books();
    quire_fetch_request *request = slow_request();
    watch all = {0}, some = {0};
    some.stop_at = 1;
    quire_progress progress = progress_of(&all, note);
    CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
    CHECK_OK(quire_fetch_request_clear_sort(request, &error));
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK(all.calls > 1 && all.rows > 0 && all.rows <= rows());
    quire_list_release(list);
    progress = progress_of(&some, note);
    CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
    CHECK(all.destroyed == 1);
    CHECK_FAILS(QUIRE_CANCELLED, quire_context_fetch(made.context, request, &list, &error));
    CHECK(some.rows > 0 && some.rows < rows() && some.destroyed == 0);
    progress.report = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_set_progress(request, &progress, &error));
    CHECK_OK(quire_fetch_request_set_progress(request, NULL, &error));
    CHECK(some.destroyed == 1);
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
    check_usable(made);
    close_fixture(made);
}

static bool call_in(void *user_data, uint64_t row_count) {
    watch *w = user_data;
    (void)row_count;
    if (w->called_in) return true;
    w->called_in = true;
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    quire_list *list = NULL;
    quire_object *object = NULL;
    int64_t number = 0;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_fetch(w->context, request, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_count(w->other, request, &number, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_insert(w->context, "Book", QUIRE_NUL, &object, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_object(w->other, "Book", QUIRE_NUL, 1, &object, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_save(w->context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_check_entry(w->context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_rollback(w->context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_store_close(quire_context_store(w->context), &error));
    CHECK(!quire_context_has_changes(w->context));
    quire_context_release(quire_context_retain(w->context));
    quire_fetch_request_release(request);
    return true;
}

static void calls_from_the_progress_function_are_refused(void) {
    fixture made = many_books();
    watch w = {0};
    w.context = made.context;
    CHECK_OK(quire_context_create(made.store, &w.other, &error));
    quire_fetch_request *request = slow_request();
    const quire_progress progress = progress_of(&w, call_in);
    CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
    int64_t number = 0;
    CHECK_OK(quire_context_count(made.context, request, &number, &error));
    CHECK(number == (int64_t)rows() && w.called_in);
    quire_fetch_request_release(request);
    CHECK(w.destroyed == 1);
    check_usable(made);
    quire_context_release(w.other);
    close_fixture(made);
}

/* Everything that a batch request could have changed. */
static int64_t sum_of_pages(quire_context *context) {
    quire_list *list = fetch(context, "Book", NULL, NULL);
    int64_t sum = quire_list_count(list);
    for (int64_t i = 0; i < quire_list_count(list); i += 1000) {
        quire_object *book = NULL;
        CHECK_OK(quire_list_object(list, i, &book, &error));
        quire_value value;
        CHECK_OK(quire_object_get(book, "pages", QUIRE_NUL, &value, &error));
        sum += value.as.integer;
        quire_object_release(book);
    }
    quire_list_release(list);
    return sum;
}

static quire_status insert_many(fixture made, const quire_batch_options *options) {
    static char titles[MOST_ROWS][16];
    static quire_value values[MOST_ROWS];
    for (size_t i = 0; i < rows(); i++) {
        snprintf(titles[i], sizeof titles[i], "new %zu", i);
        values[i] = quire_value_text(titles[i]);
    }
    const char *const keys[] = {"title"};
    const quire_value *const columns[] = {values};
    int64_t count = 0;
    return quire_context_batch_insert(
        made.context, "Book", QUIRE_NUL, keys, columns, 1, rows(), options, &count, NULL, &error);
}

/* 0 to 3: which batch request to make. An insertion has cancellation and progress in its options. */
static quire_status batch(fixture made, int which, quire_fetch_request *request, const quire_batch_options *options) {
    const quire_value pages = quire_value_integer(7);
    quire_value longer = quire_value_nil();
    const char *const keys[] = {"pages"};
    quire_status status;
    switch (which) {
    case 0: return quire_context_batch_update(made.context, request, keys, &pages, 1, NULL, NULL, NULL, &error);
    case 1: {
        quire_expression *expression = NULL;
        CHECK_OK(quire_expression_parse("pages + 1", QUIRE_NUL, NULL, 0, &expression, &error));
        longer = quire_value_expression(expression);
        status = quire_context_batch_update(made.context, request, keys, &longer, 1, NULL, NULL, NULL, &error);
        quire_expression_release(expression);
        return status;
    }
    case 2: return quire_context_batch_delete(made.context, request, NULL, NULL, NULL, &error);
    default: return insert_many(made, options);
    }
}

static void a_cancelled_batch_request_has_changed_nothing(void) {
    fixture made = many_books();
    const int64_t before = sum_of_pages(made.context);
    for (int which = 0; which < 4; which++) {
        quire_fetch_request *request = new_request("Book", NULL, NULL);
        /* First the progress function ends it, once it knows of more rows than there are to find. */
        watch all = {0};
        all.stop_at = which < 2 ? rows() + rows() / 10 : which == 2 ? rows() / 2 : rows() / 10;
        quire_progress progress = progress_of(&all, note);
        quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
        options.progress = &progress;
        if (which < 3) CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
        CHECK_FAILS(QUIRE_CANCELLED, batch(made, which, request, &options));
        CHECK(all.calls > 0 && all.rows >= all.stop_at);
        CHECK(sum_of_pages(made.context) == before);
        CHECK_OK(quire_fetch_request_set_progress(request, NULL, &error));
        CHECK(all.destroyed == 1);
        /* Then another thread. */
        quire_cancellation *cancellation = quire_cancellation_create();
        CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
        watch w = {.cancellation = cancellation};
        progress = progress_of(&w, cancel_on_another_thread);
        if (which < 3) CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
        options.cancellation = cancellation;
        CHECK_FAILS(QUIRE_CANCELLED, batch(made, which, request, &options));
        CHECK(w.calls == 1);
        CHECK_FAILS(QUIRE_CANCELLED, batch(made, which, request, &options));
        CHECK(w.calls == 1);
        CHECK(sum_of_pages(made.context) == before);
        check_usable(made);
        quire_cancellation_release(cancellation);
        quire_fetch_request_release(request);
    }
    close_fixture(made);
}

static void a_batch_request_is_watched_through_its_request_or_its_options(void) {
    fixture made = many_books();
    watch w = {0};
    w.context = made.context;
    CHECK_OK(quire_context_create(made.store, &w.other, &error));
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    quire_progress progress = progress_of(&w, call_in);
    CHECK_OK(quire_fetch_request_set_progress(request, &progress, &error));
    CHECK_OK(batch(made, 1, request, NULL));
    CHECK(w.called_in);
    w.called_in = false;
    quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
    options.progress = &progress;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_delete(made.context, request, &options, NULL, NULL, &error));
    CHECK_OK(insert_many(made, &options));
    CHECK(w.called_in && w.destroyed == 1);
    quire_fetch_request_release(request);
    CHECK(w.destroyed == 2);
    CHECK(count(made.context, "Book", NULL) == 2 * (int64_t)rows());
    progress.report = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, insert_many(made, &options));
    options.progress = NULL;
    options.cancellation = (quire_cancellation *)made.context;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, insert_many(made, &options));
    CHECK(count(made.context, "Book", NULL) == 2 * (int64_t)rows());
    quire_context_release(w.other);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(another_thread_cancels_a_running_fetch);
    RUN(a_single_match_is_cancelled);
    RUN(a_controller_keeps_its_rows_when_its_fetch_is_cancelled);
    RUN(progress_rises_and_false_cancels);
    RUN(calls_from_the_progress_function_are_refused);
    RUN(a_cancelled_batch_request_has_changed_nothing);
    RUN(a_batch_request_is_watched_through_its_request_or_its_options);
    return RESULT();
}
