/* Lists that a thread of the store fetches, and large saves that it works out. */
#include "prepared_lists.h"

static quire_results *begin(quire_context *context, const char *format, uint64_t limit) {
    quire_fetch_request *request = new_request("Book", format, "title");
    quire_results *results = NULL;
    if (limit) CHECK_OK(quire_fetch_request_set_limit(request, limit, &error));
    CHECK_OK(quire_results_create(context, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch_async(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void a_list_is_empty_until_a_merge_shows_what_was_fetched(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK(!is_readable(stage.reader) || quire_context_merge(stage.reader, NULL) == QUIRE_OK);
    quire_results *list = begin(stage.reader, NULL, 0);
    CHECK(!quire_results_is_fetched(list) && quire_results_count(list) == 0);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_fetch_async(list, &error));
    CHECK(becomes_readable(descriptor_of(stage.reader)) && !quire_results_is_fetched(list));
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(quire_results_is_fetched(list) && !is_readable(stage.reader));
    CHECK(quire_results_count(list) == MANY + 2);
    check_as_fetched(list, NULL);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_fetch_async(list, &error));
    CHECK_OK(quire_results_fetch(list, &error));
    quire_results_release(list);
    close_stage(stage);
}

static void what_is_pending_lies_over_what_was_fetched(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    quire_results *list = begin(stage.reader, "title != 'none'", 0);
    set_text(faust, "title", "none");
    set_text(egmont, "title", "0");
    quire_object *made = insert_book(stage.reader, "zzz", 1);
    CHECK(becomes_readable(descriptor_of(stage.reader)));
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(quire_results_count(list) == MANY + 2);
    check_as_fetched(list, "title != 'none'");
    save(stage.reader);
    check_as_fetched(list, "title != 'none'");
    quire_object_release(made);
    quire_object_release(egmont);
    quire_object_release(faust);
    quire_results_release(list);
    close_stage(stage);
}

/* Each save puts the context elsewhere, so that what was fetched does not fit. */
static void a_fetch_arrives_beside_saves(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    quire_results *list = begin(stage.reader, NULL, 0);
    for (int turn = 0; turn < 12; turn++) {
        quire_object_release(insert_book(stage.reader, "mine", turn));
        save(stage.reader);
        if (is_readable(stage.reader)) CHECK_OK(quire_context_merge(stage.reader, &error));
    }
    while (!quire_results_is_fetched(list)) {
        CHECK(becomes_readable(descriptor_of(stage.reader)));
        CHECK_OK(quire_context_merge(stage.reader, &error));
    }
    check_as_fetched(list, NULL);
    quire_results_release(list);
    close_stage(stage);
}

static void lists_that_only_their_thread_can_fetch_are_fetched_at_once(void) {
    stage stage = open_stage();
    quire_context *child = NULL;
    quire_results *few = begin(stage.reader, NULL, 1);
    CHECK(quire_results_is_fetched(few) && quire_results_count(few) == 1);
    quire_results_release(few);
    CHECK_OK(quire_context_create_child(stage.reader, &child, &error));
    quire_results *list = begin(child, NULL, 0);
    CHECK(quire_results_is_fetched(list) && quire_results_count(list) == 2);
    quire_results_release(list);
    quire_context_release(child);
    close_stage(stage);
}

/* What was fetched for the former request is not shown. */
static void a_list_that_waits_for_its_rows_can_be_given_another_request(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    for (int aggregate = 0; aggregate < 2; aggregate++) {
        quire_results *list = begin(stage.reader, NULL, 0);
        if (aggregate) {
            quire_expression *sum = NULL;
            CHECK_OK(quire_expression_parse("sum:(pages)", QUIRE_NUL, NULL, 0, &sum, &error));
            CHECK_OK(quire_results_add_aggregate(list, "sum", QUIRE_NUL, sum, &error));
            quire_expression_release(sum);
        } else {
            quire_fetch_request *request = new_request("Book", "pages > 1", "title");
            CHECK_OK(quire_results_set_request(list, request, NULL, 0, &error));
            quire_fetch_request_release(request);
        }
        for (int turn = 0; !quire_results_is_fetched(list); turn++) {
            CHECK(turn < 10 && becomes_readable(descriptor_of(stage.reader)));
            CHECK_OK(quire_context_merge(stage.reader, &error));
        }
        check_as_fetched(list, aggregate ? NULL : "pages > 1");
        quire_results_release(list);
    }
    close_stage(stage);
}

static void a_cancelled_fetch_fails_one_merge(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    quire_cancellation *cancellation = quire_cancellation_create();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
    CHECK_OK(quire_results_create(stage.reader, request, NULL, &results, &error));
    quire_cancellation_cancel(cancellation);
    CHECK_OK(quire_results_fetch_async(results, &error));
    CHECK(becomes_readable(descriptor_of(stage.reader)));
    CHECK_FAILS(QUIRE_CANCELLED, quire_context_merge(stage.reader, &error));
    CHECK(!quire_results_is_fetched(results));
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(!is_readable(stage.reader));
    quire_results_release(results);
    quire_fetch_request_release(request);
    quire_cancellation_release(cancellation);
    close_stage(stage);
}

/* The descriptor is asked for before the save, so that the store works the merge out. */
static void a_large_save_is_told_when_it_is_worked_out(void) {
    stage stage = open_stage();
    CHECK(!is_readable(stage.reader));
    quire_results *list = fetched(stage.reader, "pages < 500");
    for (int turn = 1; turn <= 3; turn++) {
        insert_many(stage.writer, MANY, turn);
        CHECK(quire_results_count(list) == 2 + (turn - 1) * MANY);
        CHECK(becomes_readable(descriptor_of(stage.reader)));
        CHECK(quire_results_count(list) == 2 + (turn - 1) * MANY);
        CHECK_OK(quire_context_merge(stage.reader, &error));
        CHECK(quire_results_count(list) == 2 + turn * MANY && !is_readable(stage.reader));
        check_as_fetched(list, "pages < 500");
    }
    quire_results_release(list);
    close_stage(stage);
}

static void an_automatic_context_stays_where_it_is_until_then(void) {
    stage stage = open_stage();
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    quire_results *list = fetched(stage.reader, NULL);
    insert_many(stage.writer, MANY, 1);
    do {
        CHECK(quire_results_count(list) == 2 && count(stage.reader, "Book", NULL) == 2);
        CHECK_OK(quire_context_process(stage.reader, &error));
    } while (quire_results_count(list) == 2);
    CHECK(count(stage.reader, "Book", NULL) == MANY + 2);
    check_as_fetched(list, NULL);
    quire_results_release(list);
    close_stage(stage);
}

static void a_store_is_closed_and_a_context_goes_while_it_works(void) {
    for (int turn = 0; turn < 20; turn++) {
        stage stage = open_stage();
        insert_many(stage.writer, MANY, 1);
        quire_results *list = begin(stage.reader, NULL, 0), *other = fetched(stage.reader, NULL);
        insert_many(stage.writer, MANY, 2);
        usleep((useconds_t)(turn * 150));
        if (turn % 2) CHECK_OK(quire_store_close(stage.made.store, &error));
        quire_results_release(other);
        quire_results_release(list);
        close_stage(stage);
    }
}

/* The log is folded by a thread, and a merge worked out by another one. The last to close a file deletes its log. */
static void the_last_release_closes_the_store_though_its_threads_work(void) {
    char log[320];
    const int turns = getenv("QUIRE_SLOW") ? 1 : 3;
    for (int turn = 0; is_in_file && turn < turns; turn++) {
        stage stage = open_stage();
        snprintf(log, sizeof log, "%s-wal", path);
        is_readable(stage.reader);
        quire_results *list = fetched(stage.reader, NULL);
        for (int part = 0; part < 240 + 24 * turn; part++) insert_many(stage.writer, MANY, part);
        CHECK(access(log, F_OK) == 0);
        quire_results_release(list);
        quire_object_release(stage.drama);
        quire_object_release(stage.faust);
        quire_object_release(stage.egmont);
        quire_object_release(stage.goethe);
        quire_context_release(stage.reader);
        close_fixture(stage.made);
        CHECK(access(log, F_OK) != 0);
        remove_folder(folder);
    }
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    /* On a store in memory, and again on one in a file. */
    for (int place = 0; place < 2; place++) {
        is_in_file = place;
        RUN(a_list_is_empty_until_a_merge_shows_what_was_fetched);
        RUN(what_is_pending_lies_over_what_was_fetched);
        RUN(a_fetch_arrives_beside_saves);
        RUN(lists_that_only_their_thread_can_fetch_are_fetched_at_once);
        RUN(a_list_that_waits_for_its_rows_can_be_given_another_request);
        RUN(a_cancelled_fetch_fails_one_merge);
        RUN(a_large_save_is_told_when_it_is_worked_out);
        RUN(an_automatic_context_stays_where_it_is_until_then);
        RUN(a_store_is_closed_and_a_context_goes_while_it_works);
        RUN(the_last_release_closes_the_store_though_its_threads_work);
    }
    return RESULT();
}
