/* Programs that call their handlers after a call of the library: what they process, which lists they ask, when they may. */
#include "functions.h"
#include "recorder.h"

#include <pthread.h>

/* The titles of a list that has no delegate, joined by commas. */
static const char *titles(quire_results *results) {
    static char text[256];
    size_t used = 0;
    text[0] = 0;
    for (int64_t row = 0; row < quire_results_count(results); row++) {
        quire_object *book = NULL;
        CHECK_OK(quire_results_object(results, 0, row, &book, &error));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", row ? "," : "", get_text(book, "title"));
        quire_object_release(book);
    }
    return text;
}

/* A list of books by title that queues, or does not. */
static quire_results *list_of(quire_context *context, const char *format, bool queues) {
    quire_fetch_request *request = new_request("Book", format, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = queues;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void process_pending(quire_context *context) { CHECK_OK(quire_context_process_pending(context, &error)); }

static void insert_and_forget(quire_context *context, const char *title) {
    quire_object_release(insert_book(context, title, 1));
}

static int64_t after(quire_context *context, int64_t number) { return quire_context_next_list_with_changes(context, number); }

/* Takes the changes of a list; how many change sets there were. */
static int take_all(quire_results *results) {
    for (int taken = 0;; taken++) {
        quire_changes *changes = NULL;
        CHECK_OK(quire_results_next_changes(results, &changes, &error));
        if (!changes) return taken;
        quire_changes_release(changes);
    }
}

static void what_is_pending_is_processed_without_what_others_have_saved(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    for (int automatic = 0; automatic < 2; automatic++) {
        CHECK_OK(quire_context_set_merges_automatically(made.context, automatic, &error));
        CHECK_OK(quire_context_reset(made.context, &error));
        quire_results *results = list_of(made.context, automatic ? "title BEGINSWITH 'z'" : NULL, true);
        insert_and_forget(other, automatic ? "z other" : "other");
        save(other);
        insert_and_forget(made.context, automatic ? "z own" : "own");
        process_pending(made.context);
        CHECK(strcmp(titles(results), automatic ? "z own" : "own") == 0);
        process_pending(made.context);
        process(made.context);
        CHECK(strcmp(titles(results), automatic ? "z other,z own" : "own") == 0);
        CHECK(take_all(results) == 1 + automatic);
        quire_results_release(results);
        CHECK_OK(quire_context_merge(made.context, &error));
        CHECK_OK(quire_context_rollback(made.context, &error));
    }
    quire_context_release(other);
    close_fixture(made);
}

static void parents_process_what_is_pending_too_and_take_over_nothing(void) {
    fixture made = open_fixture();
    quire_context *other = NULL, *child = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    CHECK_OK(quire_context_set_merges_automatically(made.context, true, &error));
    CHECK_OK(quire_context_set_merges_automatically(child, true, &error));
    quire_results *above = list_of(made.context, NULL, true), *below = list_of(child, NULL, true);
    insert_and_forget(other, "other");
    save(other);
    insert_and_forget(made.context, "parent");
    insert_and_forget(child, "child");
    process_pending(child);
    CHECK(strcmp(titles(above), "parent") == 0 && strcmp(titles(below), "child") == 0);
    /* Each context has its own lists. */
    CHECK(after(made.context, 0) == quire_results_number(above) && after(child, 0) == quire_results_number(below));
    CHECK(take_all(below) == 1 && !after(child, 0) && after(made.context, 0));
    process(child);
    CHECK(strcmp(titles(above), "other,parent") == 0 && strcmp(titles(below), "child,other,parent") == 0);
    quire_results_release(above);
    quire_results_release(below);
    quire_context_release(child);
    quire_context_release(other);
    close_fixture(made);
}

static void fail_to_show(void *data, quire_results *results) {
    (void)data;
    CHECK_OK(quire_results_delegate_failed(results, "no room", QUIRE_NUL, &error));
}

static void processing_what_is_pending_fails_as_processing_does(void) {
    fixture made = open_fixture();
    quire_results *results = list_of(made.context, NULL, true);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change = fail_to_show;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    insert_and_forget(made.context, "Faust");
    CHECK_FAILS(QUIRE_FUNCTION, quire_context_process_pending(made.context, &error));
    CHECK(quire_results_count(results) == 1);
    process_pending(made.context);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_process_pending(NULL, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_process_pending(made.context, &error));
    quire_results_release(results);
    close_fixture(made);
}

static void whether_a_context_merges_is_what_was_set_for_it(void) {
    fixture made = open_fixture();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    CHECK(!quire_context_merges_automatically(made.context) && !quire_context_merges_automatically(NULL));
    CHECK_OK(quire_context_set_merges_automatically(made.context, true, &error));
    CHECK(quire_context_merges_automatically(made.context) && !quire_context_merges_automatically(child));
    CHECK_OK(quire_context_set_merges_automatically(made.context, false, &error));
    CHECK(!quire_context_merges_automatically(made.context));
    quire_context_release(child);
    close_fixture(made);
}

/* MARK: entry */

static quire_status entry_elsewhere;

static void *try_to_enter(void *context) {
    entry_elsewhere = quire_context_check_entry(context, NULL);
    CHECK(!quire_context_merges_automatically(context) && !after(context, 0));
    return NULL;
}

static void enter(void *context, quire_results *results) {
    (void)results;
    CHECK_OK(quire_context_check_entry(context, &error));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, try_to_enter, context) == 0 && pthread_join(thread, NULL) == 0);
}

static void delegates_are_let_in_and_other_threads_are_not(void) {
    fixture made = open_fixture();
    quire_results *results = list_of(made.context, NULL, true);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = made.context;
    delegate.will_change = enter;
    delegate.did_change = enter;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_context_set_merges_automatically(made.context, true, &error));
    insert_and_forget(made.context, "Faust");
    process(made.context);
    CHECK(entry_elsewhere == QUIRE_WRONG_THREAD);
    CHECK_OK(quire_context_set_merges_automatically(made.context, false, &error));
    CHECK(take_all(results) == 1);
    /* When no call is under way, any thread is let in. */
    enter(made.context, results);
    CHECK(entry_elsewhere == QUIRE_OK);
    quire_results_release(results);
    close_fixture(made);
}

static quire_context *asked;
static int refusals;

static int32_t ask_within_a_function(int32_t number) {
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_check_entry(asked, &error));
    CHECK(!after(asked, 0) && !quire_context_merges_automatically(asked));
    refusals++;
    return number;
}

static void ask_within_a_log(void *data, const quire_log_entry *entry) {
    (void)data, (void)entry;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_check_entry(asked, &error));
    refusals++;
}

static void functions_and_logs_are_not_let_in(void) {
    fixture made = open_fixture();
    asked = made.context;
    REGISTER("asking", ask_within_a_function, QUIRE_NATIVE_INT32, QUIRE_NATIVE_INT32);
    quire_object *object = insert_everything(made.context);
    CHECK(matches(object, "asking(small) == -7") && refusals > 0);
    refusals = 0;
    quire_log log = QUIRE_LOG_INIT;
    log.statement = ask_within_a_log;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    save(made.context);
    CHECK(refusals > 0);
    CHECK_OK(quire_store_set_log(made.store, NULL, &error));
    CHECK_OK(quire_context_check_entry(made.context, &error));
    quire_object_release(object);
    close_fixture(made);
}

static void a_closed_store_lets_no_call_in(void) {
    fixture made = open_fixture();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    insert_and_forget(child, "Faust");
    CHECK_OK(quire_context_check_entry(child, &error));
    CHECK(quire_context_has_changes(child));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_check_entry(child, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_check_entry(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_check_entry(NULL, &error));
    quire_results *none = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_check_entry((quire_context *)(void *)made.store, &error));
    quire_results_release(none);
    quire_context_release(child);
    close_fixture(made);
}

static void a_transaction_of_another_context_is_not_waited_for(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_begin_transaction(other, &error));
    CHECK_OK(quire_context_check_entry(made.context, &error));
    CHECK_OK(quire_context_check_entry(other, &error));
    CHECK_OK(quire_context_rollback_transaction(other, &error));
    quire_context_release(other);
    close_fixture(made);
}

/* MARK: lists with changes */

static void lists_with_changes_are_found_in_the_order_in_which_they_were_made(void) {
    fixture made = open_fixture();
    quire_results *all = list_of(made.context, NULL, true), *quiet = list_of(made.context, NULL, false);
    quire_results *short_ones = list_of(made.context, "pages < 10", true), *long_ones = list_of(made.context, "pages > 10", true);
    CHECK(quire_results_number(all) == 1 && quire_results_number(quiet) == 2 && quire_results_number(long_ones) == 4);
    CHECK(quire_results_number(NULL) == 0 && quire_composite_number(NULL) == 0 && after(NULL, 0) == 0);
    CHECK(after(made.context, 0) == 0);

    insert_and_forget(made.context, "Stella");
    CHECK(after(made.context, 0) == 0);
    process(made.context);
    CHECK(after(made.context, 0) == 1 && after(made.context, 1) == 3 && after(made.context, 3) == 0);
    CHECK(after(made.context, 2) == 3 && after(made.context, INT64_MIN) == 1 && after(made.context, INT64_MAX) == 0);

    /* A list that changes later and was made earlier comes first. */
    CHECK(take_all(all) == 1 && after(made.context, 0) == 3 && after(made.context, 3) == 0);
    quire_object *faust = insert_book(made.context, "Faust", 300);
    process(made.context);
    CHECK(after(made.context, 0) == 1 && after(made.context, 1) == 3 && after(made.context, 3) == 4);
    set_value(faust, "pages", quire_value_integer(5));
    process(made.context);
    CHECK(take_all(long_ones) == 2 && take_all(short_ones) == 2 && take_all(all) == 2 && after(made.context, 0) == 0);

    /* What was fetched anew has nothing to tell. */
    set_value(faust, "pages", quire_value_integer(6));
    process(made.context);
    CHECK(after(made.context, 0) == 1);
    CHECK_OK(quire_results_fetch(all, &error));
    CHECK(after(made.context, 0) == 3);
    quire_results_release(short_ones);
    CHECK(after(made.context, 0) == 0);
    quire_object_release(faust);
    quire_results_release(all);
    quire_results_release(quiet);
    quire_results_release(long_ones);
    close_fixture(made);
}

static void composites_are_among_them_with_numbers_of_their_own(void) {
    fixture made = open_fixture();
    quire_results *first = list_of(made.context, "pages < 10", true), *second = list_of(made.context, NULL, false);
    quire_composite_options options = QUIRE_COMPOSITE_OPTIONS_INIT;
    options.queues_changes = true;
    quire_composite *composite = NULL;
    CHECK_OK(quire_composite_create(made.context, &options, &composite, &error));
    CHECK_OK(quire_composite_add(composite, first, &error));
    CHECK_OK(quire_composite_add(composite, second, &error));
    CHECK_OK(quire_composite_fetch(composite, &error));
    quire_results *last = list_of(made.context, NULL, true);
    CHECK(quire_composite_number(composite) == 3 && quire_results_number(last) == 4);
    CHECK(quire_results_number((quire_results *)(void *)composite) == 0);

    insert_and_forget(made.context, "Stella");
    process(made.context);
    CHECK(after(made.context, 0) == 1 && after(made.context, 1) == 3 && after(made.context, 3) == 4);
    quire_changes *changes = NULL;
    CHECK_OK(quire_composite_next_changes(composite, &changes, &error));
    CHECK(quire_changes_rows(changes).count == 2);
    quire_changes_release(changes);
    CHECK(after(made.context, 1) == 4);
    /* The composite keeps its child, which keeps its changes. */
    quire_results_release(first);
    CHECK(after(made.context, 0) == 1);
    CHECK_OK(quire_composite_fetch(composite, &error));
    CHECK(after(made.context, 0) == 4);
    quire_composite_release(composite);
    quire_results_release(second);
    quire_results_release(last);
    close_fixture(made);
}

static void a_loop_over_them_may_make_and_release_lists(void) {
    enum { LISTS = 60 };
    fixture made = open_fixture();
    quire_results *lists[4 * LISTS + 1] = {0};
    for (int i = 0; i < LISTS; i++) {
        quire_results *results = list_of(made.context, NULL, true);
        lists[quire_results_number(results)] = results;
    }
    insert_and_forget(made.context, "Stella");
    process(made.context);
    int told = 0;
    for (int64_t number = 0; (number = after(made.context, number)) != 0;) {
        CHECK(number <= 4 * LISTS && lists[number] && take_all(lists[number]) > 0);
        if (number > LISTS) continue;
        told++;
        if (number % 3 == 0) {
            quire_results *fresh = list_of(made.context, NULL, true);
            CHECK(quire_results_number(fresh) > LISTS && !lists[quire_results_number(fresh)]);
            lists[quire_results_number(fresh)] = fresh;
            insert_and_forget(made.context, "Faust");
            process_pending(made.context);
        }
        if (number % 4 == 0) {
            quire_results_release(lists[number + 1]);
            lists[number + 1] = NULL;
            quire_results_release(lists[number]);
            lists[number] = NULL;
        }
    }
    CHECK(told > LISTS / 2 && told < LISTS);
    /* What changed behind the loop's back is found by the next one. */
    int rest = 0;
    for (int64_t number = 0; (number = after(made.context, number)) != 0; rest++) CHECK(take_all(lists[number]) > 0);
    CHECK(rest > 0 && after(made.context, 0) == 0);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) quire_results_release(lists[i]);
    close_fixture(made);
}

static void many_lists_that_no_program_asks_for_come_and_go(void) {
    fixture made = open_fixture();
    quire_results *last = NULL;
    for (int i = 0; i < 500; i++) {
        quire_results *results = list_of(made.context, NULL, true);
        insert_and_forget(made.context, "Stella");
        process(made.context);
        quire_results_release(last);
        last = results;
    }
    CHECK(after(made.context, 0) == 500 && quire_results_number(last) == 500);
    CHECK_OK(quire_context_rollback(made.context, &error));
    CHECK(take_all(last) == 2 && after(made.context, 0) == 0);
    quire_results_release(last);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(what_is_pending_is_processed_without_what_others_have_saved);
    RUN(parents_process_what_is_pending_too_and_take_over_nothing);
    RUN(processing_what_is_pending_fails_as_processing_does);
    RUN(whether_a_context_merges_is_what_was_set_for_it);
    RUN(delegates_are_let_in_and_other_threads_are_not);
    RUN(functions_and_logs_are_not_let_in);
    RUN(a_closed_store_lets_no_call_in);
    RUN(a_transaction_of_another_context_is_not_waited_for);
    RUN(lists_with_changes_are_found_in_the_order_in_which_they_were_made);
    RUN(composites_are_among_them_with_numbers_of_their_own);
    RUN(a_loop_over_them_may_make_and_release_lists);
    RUN(many_lists_that_no_program_asks_for_come_and_go);
    return RESULT();
}
