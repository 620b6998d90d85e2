/* Requests of lists that a thread of the store fetches. */
#include "prepared_lists.h"

/* A list that is fetched, and queues what it reports. */
static quire_results *queued(quire_context *context, const char *format) {
    quire_fetch_request *request = new_request("Book", format, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

/* Has another request fetched in the background, and returns its number. */
static int64_t ask(quire_results *results, const char *format) {
    quire_fetch_request *request = new_request("Book", format, "title");
    int64_t number = -1;
    CHECK_OK(quire_results_set_request_async(results, request, NULL, 0, NULL, &number, &error));
    quire_fetch_request_release(request);
    return number;
}

/* Merges until the request is shown. */
static void await_request(quire_results *results, int64_t number) {
    quire_context *context = quire_results_context(results);
    while (quire_results_request_number(results) != number) {
        CHECK(quire_results_awaits_request(results) && becomes_readable(descriptor_of(context)));
        CHECK_OK(quire_context_merge(context, &error));
    }
    CHECK(!quire_results_awaits_request(results));
}

/* Checks how many rows of each kind the one change set has, and that no other one waits. */
static void check_report(quire_results *results, int inserted, int deleted, int updated) {
    quire_changes *changes = NULL, *more = NULL;
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK(changes != NULL);
    int counts[QUIRE_CHANGE_UPDATE + 1] = {0};
    const quire_change_array all = quire_changes_rows(changes);
    for (int64_t i = 0; i < all.count; i++) counts[quire_change_at(all, i)->kind]++;
    CHECK(counts[QUIRE_CHANGE_INSERT] == inserted && counts[QUIRE_CHANGE_DELETE] == deleted);
    CHECK(counts[QUIRE_CHANGE_UPDATE] == updated && counts[QUIRE_CHANGE_MOVE] == 0);
    quire_changes_release(changes);
    CHECK_OK(quire_results_next_changes(results, &more, &error));
    CHECK(more == NULL);
}

static void another_request_is_shown_by_a_merge_which_reports_the_difference(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    insert_many(stage.writer, MANY, 2);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, "pages < 3");
    const int64_t count = quire_results_count(list);
    CHECK(quire_results_request_number(list) == 0 && !quire_results_awaits_request(list));
    const int64_t number = ask(list, "pages == 2");
    CHECK(number == 1 && quire_results_awaits_request(list));
    CHECK(becomes_readable(descriptor_of(stage.reader)));
    process(stage.reader);
    CHECK(quire_results_count(list) == count && quire_results_request_number(list) == 0);
    await_request(list, number);
    CHECK(quire_results_count(list) == MANY && !is_readable(stage.reader));
    check_report(list, 0, MANY, 0);
    check_as_fetched(list, "pages == 2");
    /* It follows that request from now on. */
    insert_many(stage.writer, 5, 2);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_report(list, 5, 0, 0);
    /* Without a difference nothing is reported. */
    await_request(list, ask(list, "pages > 1 AND pages < 3"));
    quire_changes *changes = NULL;
    CHECK_OK(quire_results_next_changes(list, &changes, &error));
    CHECK(changes == NULL && quire_results_request_number(list) == 2);
    quire_results_release(list);
    close_stage(stage);
}

static void the_last_of_several_requests_is_shown(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    insert_many(stage.writer, MANY, 2);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, "pages < 3");
    int64_t number = 0;
    for (int turn = 0; turn < 20; turn++) number = ask(list, turn % 2 ? "pages == 1" : "pages == 2");
    await_request(list, number);
    check_report(list, 0, MANY, 0);
    check_as_fetched(list, "pages == 1");
    /* So is one that is set at once. */
    ask(list, "pages == 2");
    quire_fetch_request *request = new_request("Book", "pages < 3", "title");
    CHECK_OK(quire_results_set_request(list, request, NULL, 0, &error));
    quire_fetch_request_release(request);
    CHECK(!quire_results_awaits_request(list) && quire_results_request_number(list) == number + 2);
    check_report(list, MANY, 0, 0);
    for (int turn = 0; turn < 3; turn++) CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(quire_results_count(list) == 2 * MANY);
    /* The end of a list ends its request. */
    ask(list, "pages == 2");
    quire_results_release(list);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    close_stage(stage);
}

static void the_merge_that_shows_a_request_has_what_others_saved(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, "pages < 500");
    CHECK(quire_results_count(list) == MANY + 2);
    /* Both are in both requests, and Faust is held here. */
    set_text(stage.faust, "title", "Faust II");
    set_text(stage.egmont, "title", "Egmont II");
    save(stage.writer);
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    CHECK(strcmp(get_text(faust, "title"), "Faust") == 0);
    await_request(list, ask(list, "pages != 1 AND pages < 500"));
    CHECK(strcmp(get_text(faust, "title"), "Faust II") == 0);
    check_report(list, 0, MANY, 2);
    check_as_fetched(list, "pages != 1 AND pages < 500");
    quire_object_release(faust);
    quire_results_release(list);
    close_stage(stage);
}

static void what_is_pending_lies_over_a_request(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, NULL);
    const int64_t number = ask(list, "pages == 7");
    quire_object *made = insert_book(stage.reader, "made", 7), *other = insert_book(stage.reader, "other", 8);
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    set_value(faust, "pages", quire_value_integer(7));
    await_request(list, number);
    CHECK(quire_results_count(list) == 2);
    check_as_fetched(list, "pages == 7");
    save(stage.reader);
    check_as_fetched(list, "pages == 7");
    quire_object_release(faust);
    quire_object_release(other);
    quire_object_release(made);
    quire_results_release(list);
    close_stage(stage);
}

static void a_request_that_fails_is_not_shown(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, NULL);
    quire_cancellation *cancellation = quire_cancellation_create();
    quire_fetch_request *request = new_request("Book", "pages == 1", "title");
    CHECK_OK(quire_fetch_request_set_cancellation(request, cancellation, &error));
    quire_cancellation_cancel(cancellation);
    CHECK_OK(quire_results_set_request_async(list, request, NULL, 0, NULL, NULL, &error));
    CHECK(becomes_readable(descriptor_of(stage.reader)));
    CHECK_FAILS(QUIRE_CANCELLED, quire_context_merge(stage.reader, &error));
    CHECK(!quire_results_awaits_request(list) && quire_results_request_number(list) == 0);
    CHECK(quire_results_count(list) == MANY + 2);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(!is_readable(stage.reader));
    quire_fetch_request_release(request);
    quire_cancellation_release(cancellation);
    /* A wrong one is rejected at once, and the one that is awaited stays. */
    const int64_t number = ask(list, "pages == 1");
    int64_t none = 5;
    request = new_request("Tag", NULL, NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_set_request_async(list, request, NULL, 0, NULL, &none, &error));
    CHECK(none == 0 && quire_results_awaits_request(list));
    quire_fetch_request_release(request);
    await_request(list, number);
    check_report(list, 0, 2, 0);
    quire_results_release(list);
    close_stage(stage);
}

static void a_suspended_list_shows_a_request_when_it_is_resumed(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, NULL);
    const int64_t number = ask(list, "pages == 1");
    CHECK_OK(quire_results_suspend(list, &error));
    insert_many(stage.writer, 5, 1);
    for (int turn = 0; turn < 3; turn++) CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(quire_results_count(list) == MANY + 2 && quire_results_awaits_request(list));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_set_request_async(list, request, NULL, 0, NULL, NULL, &error));
    quire_fetch_request_release(request);
    CHECK_OK(quire_results_resume(list, true, &error));
    CHECK(quire_results_count(list) == MANY + 7);
    check_report(list, 5, 0, 0);
    await_request(list, number);
    check_report(list, 0, 2, 0);
    quire_results_release(list);
    close_stage(stage);
}

static void a_composite_reports_it_with_its_own_places(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *first = queued(stage.reader, "pages != 1"), *second = queued(stage.reader, "pages == 1");
    quire_composite_options options = QUIRE_COMPOSITE_OPTIONS_INIT;
    options.queues_changes = true;
    quire_composite *composite = NULL;
    CHECK_OK(quire_composite_create(stage.reader, &options, &composite, &error));
    CHECK_OK(quire_composite_add(composite, first, &error));
    CHECK_OK(quire_composite_add(composite, second, &error));
    CHECK_OK(quire_composite_fetch(composite, &error));
    await_request(second, ask(second, "title == 'Faust'"));
    CHECK(quire_composite_count(composite) == 3);
    quire_changes *changes = NULL;
    CHECK_OK(quire_composite_next_changes(composite, &changes, &error));
    CHECK(changes && quire_changes_row_count(changes) == MANY + 1);
    quire_changes_release(changes);
    CHECK_OK(quire_composite_next_changes(composite, &changes, &error));
    CHECK(changes == NULL);
    quire_composite_release(composite);
    quire_results_release(second);
    quire_results_release(first);
    close_stage(stage);
}

/* What rows show of related objects is named for the request, too. */
static void displayed_key_paths_hold_for_an_awaited_request(void) {
    stage stage = open_stage();
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *list = queued(stage.reader, NULL);
    const char *const paths[] = {"author.name"};
    const int64_t number = ask(list, "title == 'Faust'");
    CHECK_OK(quire_results_set_displayed_key_paths(list, paths, 1, &error));
    await_request(list, number);
    check_report(list, 0, 1, 0);
    set_text(stage.goethe, "name", "Johann Wolfgang");
    save(stage.writer);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_report(list, 0, 0, 1);
    quire_results_release(list);
    close_stage(stage);
}

static void what_only_its_thread_can_fetch_is_shown_at_once(void) {
    stage stage = open_stage();
    quire_results *list = queued(stage.reader, NULL);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_limit(request, 1, &error));
    CHECK_OK(quire_results_set_request_async(list, request, NULL, 0, NULL, NULL, &error));
    CHECK(quire_results_count(list) == 1 && quire_results_request_number(list) == 1);
    check_report(list, 0, 1, 0);
    CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
    CHECK(ask(list, NULL) == 2 && quire_results_count(list) == 2 && !quire_results_awaits_request(list));
    CHECK_OK(quire_context_unpin(stage.reader, &error));
    quire_fetch_request_release(request);
    quire_results_release(list);
    /* So is what replaces a request before the first fetch. */
    request = new_request("Book", NULL, "title");
    CHECK_OK(quire_results_create(stage.reader, request, NULL, &list, &error));
    ask(list, "title == 'Faust'");
    CHECK(quire_results_request_number(list) == 1 && !quire_results_is_fetched(list));
    CHECK_OK(quire_results_fetch(list, &error));
    CHECK(quire_results_count(list) == 1);
    quire_fetch_request_release(request);
    quire_results_release(list);
    close_stage(stage);
}

static void a_request_arrives_beside_saves_and_an_automatic_merge_shows_it(void) {
    stage stage = open_stage();
    insert_many(stage.writer, MANY, 1);
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    quire_results *list = queued(stage.reader, NULL);
    const int64_t number = ask(list, "pages == 1");
    for (int turn = 0; turn < 12; turn++) {
        quire_object_release(insert_book(stage.reader, "mine", 1));
        save(stage.reader);
        quire_object_release(insert_book(stage.writer, "theirs", 1));
        save(stage.writer);
    }
    while (quire_results_request_number(list) != number) {
        CHECK(becomes_readable(descriptor_of(stage.reader)));
        process(stage.reader);
    }
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_as_fetched(list, "pages == 1");
    quire_results_release(list);
    close_stage(stage);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    /* On a store in memory, and again on one in a file. */
    for (int place = 0; place < 2; place++) {
        is_in_file = place;
        RUN(another_request_is_shown_by_a_merge_which_reports_the_difference);
        RUN(the_last_of_several_requests_is_shown);
        RUN(the_merge_that_shows_a_request_has_what_others_saved);
        RUN(what_is_pending_lies_over_a_request);
        RUN(a_request_that_fails_is_not_shown);
        RUN(a_suspended_list_shows_a_request_when_it_is_resumed);
        RUN(a_composite_reports_it_with_its_own_places);
        RUN(displayed_key_paths_hold_for_an_awaited_request);
        RUN(what_only_its_thread_can_fetch_is_shown_at_once);
        RUN(a_request_arrives_beside_saves_and_an_automatic_merge_shows_it);
    }
    return RESULT();
}
