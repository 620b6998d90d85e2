/* Ten live lists with queries of their own on one context, beside one of them: saves of a hundred changes each. */
#include "bench.h"

enum { LISTS = 10, SAVES = 100, CHANGES = 100 };

static const struct { const char *predicate, *sort, *sections; bool is_ascending; uint64_t limit; } queries[LISTS] = {
    {NULL, "title", "author", true, QUIRE_NO_LIMIT},
    {NULL, "title", NULL, true, QUIRE_NO_LIMIT},
    {NULL, "price", NULL, false, QUIRE_NO_LIMIT},
    {NULL, "created", NULL, false, QUIRE_NO_LIMIT},
    {"price > 500", "author", NULL, true, QUIRE_NO_LIMIT},
    {"author BEGINSWITH 'Author 0001'", "title", NULL, true, QUIRE_NO_LIMIT},
    {"title CONTAINS '77'", "created", NULL, true, QUIRE_NO_LIMIT},
    {"created > CAST(1550000000 - 978307200, 'NSDate')", "price", "author", true, QUIRE_NO_LIMIT},
    {NULL, "price", NULL, false, 100},
    {"price BETWEEN {100, 200}", "title", "author", true, QUIRE_NO_LIMIT}};

static void count_change(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)results, (void)object, (void)change;
    ++*(int64_t *)data;
}

static quire_results *new_list(opened made, int place, int64_t *count) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    if (queries[place].predicate) {
        OK(quire_predicate_parse(queries[place].predicate, QUIRE_NUL, NULL, 0, &predicate, &error));
        OK(quire_fetch_request_set_predicate(request, predicate, &error));
    }
    OK(quire_fetch_request_add_sort(request, queries[place].sort, QUIRE_NUL, !queries[place].is_ascending, &error));
    OK(quire_fetch_request_set_limit(request, queries[place].limit, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = queries[place].sections;
    quire_results *results = NULL;
    OK(quire_results_create(made.context, request, &options, &results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = count;
    delegate.did_change_object = count_change;
    OK(quire_results_set_delegate(results, &delegate, &error));
    OK(quire_results_fetch(results, &error));
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return results;
}

/* One of the four attributes of a row, to what another row has there. */
static void change(opened made, int64_t rows, int64_t turn) {
    sample sample;
    make_sample(turn * 104729 + 17, rows, &sample);
    const quire_value values[] = {quire_value_text(sample.author), quire_value_text(sample.title),
        quire_value_date(sample.created), quire_value_double(sample.price)};
    static const char *const keys[] = {"author", "title", "created", "price"};
    quire_object *object = NULL;
    OK(quire_context_object(made.context, "Quote", 5, turn * 7919 % rows + 1, &object, &error));
    OK(quire_object_set_values(object, keys + turn % 4, values + turn % 4, 1, &error));
    quire_object_release(object);
}

void several_case(int64_t rows) {
    static const int counts[] = {1, LISTS};
    static double processed[2][SAVES], saved[2][SAVES];
    /* To the first list, and to the others. */
    int64_t changes[2][2] = {{0}};
    for (int i = 0; i < 2; i++) {
        prepare_file(rows);
        opened made = open_store(path);
        quire_results *lists[LISTS];
        for (int k = 0; k < counts[i]; k++) lists[k] = new_list(made, k, &changes[i][k > 0]);
        for (int turn = 0; turn < SAVES; turn++) {
            for (int64_t k = 0; k < CHANGES; k++) change(made, rows, turn * CHANGES + k);
            const char *const work = i ? "live.ten" : NULL, *const processing = i ? "live.ten.told" : NULL;
            const double start = begin_work(work);
            begin_work(processing);
            OK(quire_context_process(made.context, &error));
            processed[i][turn] = end_work(processing, start);
            OK(quire_context_save(made.context, &error));
            saved[i][turn] = end_work(work, start);
        }
        for (int k = 0; k < counts[i]; k++) quire_results_release(lists[k]);
        close_store(made);
    }
    CHECK(changes[0][0] > 0 && changes[0][0] == changes[1][0] && changes[0][1] == 0 && changes[1][1] > 0);
    answer("%lld changes of the first list", (long long)changes[0][0]);
    report("live.ten", "quire-c-one", rows, saved[0], SAVES, true);
    report("live.ten", "quire-c", rows, saved[1], SAVES, false);
    report("live.ten.told", "quire-c-one", rows, processed[0], SAVES, true);
    report("live.ten.told", "quire-c", rows, processed[1], SAVES, false);
}
