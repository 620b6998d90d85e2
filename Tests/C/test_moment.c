/* Contexts that are pinned at a moment, and contexts that are put at that of another one. */
#include "moments.h"

static quire_moment *moment_of(quire_context *context) {
    quire_moment *moment = NULL;
    CHECK_OK(quire_context_moment(context, &moment, &error));
    CHECK(moment != NULL);
    return moment;
}

static quire_context *fresh_context(stage stage) {
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(stage.made.store, &context, &error));
    return context;
}

/* Any commit that changes something. */
static void save_little(stage stage) {
    static int64_t pages = 1000;
    set_value(stage.faust, "pages", quire_value_integer(++pages));
    save(stage.writer);
}

/* --- Pins. */

static void a_pinned_context_does_not_merge_automatically(void) {
    stage stage = open_stage();
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    CHECK(!quire_context_is_pinned(stage.reader));
    CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
    CHECK(quire_context_is_pinned(stage.reader));
    save_much(stage);
    process(stage.reader);
    check_before(stage.reader);
    CHECK_OK(quire_context_unpin(stage.reader, &error));
    CHECK(!quire_context_is_pinned(stage.reader));
    /* No read advances a context, whether it merges automatically or not. */
    check_before(stage.reader);
    process(stage.reader);
    check_after(stage.reader);
    CHECK_OK(quire_context_unpin(stage.reader, &error));
    close_stage(stage);
}

static void a_context_that_has_read_nothing_is_pinned_by_its_next_read(void) {
    stage stage = open_stage();
    quire_context *fresh = fresh_context(stage);
    CHECK_OK(quire_context_set_merges_automatically(fresh, true, &error));
    CHECK_OK(quire_context_pin(fresh, NULL, &error));
    save_much(stage);
    check_after(fresh);
    save_little(stage);
    check_after(fresh);
    quire_context_release(fresh);
    close_stage(stage);
}

/* Each of the ways moves the context, and it is pinned at what it has reached. */
static void what_moves_a_pinned_context_leaves_it_pinned(void) {
    for (int way = 0; way < 9; way++) {
        stage stage = open_stage();
        quire_object *goethe = in(stage.reader, stage.goethe, "Author");
        quire_fetch_request *request = new_request("Author", NULL, NULL);
        quire_list *list = NULL;
        CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
        CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
        save_much(stage);
        check_before(stage.reader);
        switch (way) {
        case 0: CHECK_OK(quire_context_merge(stage.reader, &error)); break;
        case 1: CHECK_OK(quire_context_refresh(stage.reader, goethe, true, &error)); break;
        case 2: CHECK_OK(quire_context_refresh_all(stage.reader, &error)); break;
        case 3: CHECK_OK(quire_context_reset(stage.reader, &error)); break;
        case 4: quire_object_release(insert(stage.reader, "Tag")); save(stage.reader); break;
        case 5:
            CHECK_OK(quire_fetch_request_set_refreshes_refetched_objects(request, true, &error));
            CHECK_OK(quire_context_fetch(stage.reader, request, &list, &error));
            quire_list_release(list);
            break;
        case 6: {
            int64_t number = 0;
            static const char *const keys[] = {"label"};
            const quire_value values[] = {quire_value_text("play")};
            quire_fetch_request *tags = new_request("Tag", "label == 'none'", NULL);
            CHECK_OK(quire_context_batch_update(stage.reader, tags, keys, values, 1, NULL, &number, NULL, &error));
            quire_fetch_request_release(tags);
            break;
        }
        case 7:
            CHECK_OK(quire_context_begin_transaction(stage.reader, &error));
            CHECK_OK(quire_context_commit_transaction(stage.reader, &error));
            break;
        default: {
            quire_object *faust = in(stage.reader, stage.faust, "Book");
            set_text(faust, "isbn", "1");
            CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(stage.reader, &error));
            check_before(stage.reader);
            CHECK_OK(quire_context_rollback(stage.reader, &error));
            quire_object_release(faust);
        }
        }
        check_after(stage.reader);
        CHECK(quire_context_is_pinned(stage.reader));
        set_text(stage.faust, "title", "Faust I");
        save(stage.writer);
        process(stage.reader);
        check_after(stage.reader);
        quire_fetch_request_release(request);
        quire_object_release(goethe);
        close_stage(stage);
    }
}

/* --- Moments of other contexts. */

static void a_context_goes_to_the_moment_of_another_one_and_reports_the_difference(void) {
    stage stage = open_stage();
    quire_context *other = fresh_context(stage);
    check_before(other);
    quire_moment *earlier = moment_of(stage.reader), *same = moment_of(other);
    CHECK(quire_moment_equal(earlier, same) && quire_moment_equal(earlier, earlier));
    save_much(stage);
    CHECK_OK(quire_context_merge(other, &error));
    quire_moment *later = moment_of(other);
    CHECK(!quire_moment_equal(earlier, later));
    set_text(stage.faust, "title", "Faust I");
    save(stage.writer);
    /* The newest one is neither. */
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_SAME(get_text(egmont, "title"), "Egmont");
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    CHECK_OK(quire_context_pin(stage.reader, later, &error));
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    check_after(stage.reader);
    CHECK(quire_context_is_pinned(stage.reader) && !quire_context_is_pinned(other));
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK(quire_object_is_deleted(egmont));
    /* What lies between comes with the merge. */
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_SAME(get_text(faust, "title"), "Faust I");
    CHECK_SAME(all(stage.reader, "Book", "title"), "Faust I,Stella");
    CHECK(quire_context_is_pinned(stage.reader));
    check_after(other);
    quire_results_release(results);
    quire_object_release(egmont);
    quire_object_release(faust);
    quire_moment_release(later);
    quire_moment_release(same);
    quire_moment_release(earlier);
    quire_context_release(other);
    close_stage(stage);
}

static void a_context_goes_back_to_an_earlier_moment_and_on_again(void) {
    stage stage = open_stage();
    quire_moment *earlier = moment_of(stage.reader);
    save_much(stage);
    quire_context *other = fresh_context(stage);
    check_after(other);
    quire_list *list = fetch(other, "Book", "title == 'Stella'", NULL);
    quire_object *stella = NULL, *faust = in(other, stage.faust, "Book"), *goethe = in(other, stage.goethe, "Author");
    CHECK_OK(quire_list_object(list, 0, &stella, &error));
    quire_list_release(list);
    CHECK_SAME(get_text(stella, "title"), "Stella");
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK_SAME(members(goethe, "books", "title"), "");
    quire_results *results = controller(other, NULL, "title", NULL);
    CHECK_OK(quire_context_pin(other, earlier, &error));
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    check_before(other);
    CHECK(quire_object_is_deleted(stella));
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_SAME(members(goethe, "books", "title"), "Egmont,Faust");
    quire_moment *there = moment_of(other);
    CHECK(quire_moment_equal(there, earlier));
    /* The other one may go its way. */
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_after(stage.reader);
    check_before(other);
    save_little(stage);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    CHECK(!quire_object_is_deleted(stella));
    CHECK_SAME(get_text(stella, "title"), "Stella");
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK_SAME(members(goethe, "books", "title"), "");
    CHECK_SAME(all(other, "Book", "title"), "Stella,Urfaust");
    CHECK_OK(quire_context_merge(other, &error));
    CHECK_TOLD("");
    quire_results_release(results);
    quire_object_release(goethe);
    quire_object_release(faust);
    quire_object_release(stella);
    quire_moment_release(there);
    quire_moment_release(earlier);
    quire_context_release(other);
    close_stage(stage);
}

static void pending_changes_stay_on_top(void) {
    for (int back = 0; back < 2; back++) {
        stage stage = open_stage();
        quire_context *other = fresh_context(stage);
        check_before(other);
        save_much(stage);
        CHECK_OK(quire_context_merge(other, &error));
        quire_context *mover = back ? other : stage.reader;
        quire_moment *aim = moment_of(back ? stage.reader : other);
        save_little(stage);
        quire_object *faust = in(mover, stage.faust, "Book");
        CHECK_SAME(get_text(faust, "title"), back ? "Urfaust" : "Faust");
        set_text(faust, "isbn", "1");
        quire_object_release(insert_book(mover, "Tasso", 90));
        CHECK_OK(quire_context_pin(mover, aim, &error));
        CHECK_SAME(get_text(faust, "title"), back ? "Faust" : "Urfaust");
        CHECK_SAME(get_text(faust, "isbn"), "1");
        CHECK_SAME(all(mover, "Book", "title"), back ? "Egmont,Faust,Tasso" : "Stella,Tasso,Urfaust");
        /* It lacks what the writer has made of the row since. */
        CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(mover, &error));
        CHECK_OK(quire_context_merge(mover, &error));
        save(mover);
        CHECK_SAME(get_text(faust, "title"), "Urfaust");
        CHECK_SAME(get_text(faust, "isbn"), "1");
        CHECK_SAME(all(mover, "Book", "title"), "Stella,Tasso,Urfaust");
        quire_object_release(faust);
        quire_moment_release(aim);
        quire_context_release(other);
        close_stage(stage);
    }
}

/* Its row is not there, so that there is nothing to be changed. */
static void what_is_pending_in_an_object_that_was_inserted_since_is_dropped(void) {
    stage stage = open_stage();
    quire_moment *earlier = moment_of(stage.reader);
    quire_object *stella = insert_book(stage.writer, "Stella", 60);
    save(stage.writer);
    set_text(stella, "title", "Clavigo");
    CHECK_OK(quire_context_pin(stage.writer, earlier, &error));
    CHECK(quire_object_is_deleted(stella) && !quire_context_has_changes(stage.writer));
    CHECK_SAME(all(stage.writer, "Book", "title"), "Egmont,Faust");
    CHECK_OK(quire_context_merge(stage.writer, &error));
    CHECK(!quire_object_is_deleted(stella) && !quire_context_has_changes(stage.writer));
    CHECK_SAME(get_text(stella, "title"), "Stella");
    quire_object_release(stella);
    quire_moment_release(earlier);
    close_stage(stage);
}

static void many_commits_can_be_gone_over(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    CHECK(get_value(faust, "pages").as.integer == 300);
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    quire_context *other = fresh_context(stage);
    for (int i = 0; i < 30; i++) save_little(stage);
    const int64_t pages = get_value(stage.faust, "pages").as.integer;
    quire_moment *aim = moment_of(other);
    for (int i = 0; i < 100; i++) save_little(stage);
    quire_object_release(insert_book(stage.writer, "Stella", 60));
    save(stage.writer);
    CHECK_OK(quire_context_pin(stage.reader, aim, &error));
    CHECK(get_value(faust, "pages").as.integer == pages && quire_results_count(results) == 2);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK(get_value(faust, "pages").as.integer == pages + 100 && quire_results_count(results) == 3);
    forget();
    quire_moment_release(aim);
    quire_context_release(other);
    quire_results_release(results);
    quire_object_release(faust);
    close_stage(stage);
}

static void the_newest_moment_needs_no_other_context(void) {
    stage stage = open_stage();
    save_much(stage);
    quire_context *other = fresh_context(stage);
    quire_moment *newest = moment_of(other);
    quire_context_release(other);
    CHECK_OK(quire_context_pin(stage.reader, newest, &error));
    check_after(stage.reader);
    /* A moment is still there while the context shows it. */
    save_little(stage);
    CHECK_OK(quire_context_pin(stage.reader, newest, &error));
    check_after(stage.reader);
    other = fresh_context(stage);
    CHECK(count(other, "Book", "pages > 1000") == 1);
    CHECK_OK(quire_context_pin(other, newest, &error));
    check_after(other);
    quire_context_release(other);
    quire_moment_release(newest);
    close_stage(stage);
}

static void a_moment_that_no_context_shows_is_not_found(void) {
    stage stage = open_stage();
    quire_moment *lost = moment_of(stage.reader);
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    save_much(stage);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    save_little(stage);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_pin(stage.reader, lost, &error));
    CHECK(!quire_context_is_pinned(stage.reader));
    check_after(stage.reader);
    CHECK(get_value(faust, "pages").as.integer == 80);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_TOLD("{was 2 ~0.1/0.1 is 2}");
    CHECK(get_value(faust, "pages").as.integer > 1000);
    quire_results_release(results);
    quire_object_release(faust);
    quire_moment_release(lost);
    close_stage(stage);
}

static void a_moment_of_a_context_that_saves_alone_is_not_found_after_the_save(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_moment *before = moment_of(made.context);
    set_text(book, "title", "Urfaust");
    save(made.context);
    quire_moment *after = moment_of(made.context);
    CHECK(!quire_moment_equal(before, after));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_pin(made.context, before, &error));
    quire_moment_release(after);
    quire_moment_release(before);
    quire_object_release(book);
    close_fixture(made);
}

/* A list that is fetched beside its context would move it. */
static void a_list_of_a_pinned_context_is_fetched_at_its_moment(void) {
    for (int automatic = 0; automatic < 2; automatic++) {
        stage stage = open_stage();
        CHECK_OK(quire_context_set_merges_automatically(stage.reader, automatic, &error));
        CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
        save_much(stage);
        quire_fetch_request *request = new_request("Book", NULL, "title");
        quire_results *results = NULL;
        CHECK_OK(quire_results_create(stage.reader, request, NULL, &results, &error));
        CHECK_OK(quire_results_fetch_async(results, &error));
        CHECK(quire_results_is_fetched(results) && quire_results_count(results) == 2);
        quire_object *first = NULL;
        CHECK_OK(quire_results_object(results, 0, 0, &first, &error));
        CHECK_SAME(get_text(first, "title"), "Egmont");
        quire_object_release(first);
        process(stage.reader);
        check_before(stage.reader);
        quire_results_release(results);
        quire_fetch_request_release(request);
        close_stage(stage);
    }
}

/* What was asked for before the pin, the context fetches itself. */
static void a_list_that_waits_for_its_rows_gets_those_of_the_moment_at_which_its_context_is_pinned(void) {
    stage stage = open_stage();
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(stage.reader, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch_async(results, &error));
    CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
    save_much(stage);
    process(stage.reader);
    CHECK(quire_results_is_fetched(results) && quire_results_count(results) == 2);
    check_before(stage.reader);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_after(stage.reader);
    CHECK(quire_results_count(results) == 2);
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_stage(stage);
}

/* --- Where it cannot be. */

static void children_are_pinned_by_their_parents(void) {
    stage stage = open_stage();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(stage.reader, &child, &error));
    quire_moment *moment = moment_of(stage.reader), *none = moment;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_pin(child, NULL, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_pin(child, moment, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_moment(child, &none, &error));
    CHECK(none == NULL);
    CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
    CHECK(!quire_context_is_pinned(child));
    CHECK_OK(quire_context_unpin(child, &error));
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    CHECK_OK(quire_context_set_merges_automatically(child, true, &error));
    save_much(stage);
    check_before(child);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_after(child);
    quire_moment *later = moment_of(stage.reader);
    CHECK_OK(quire_context_merge(child, &error));
    quire_moment_release(later);
    quire_moment_release(moment);
    quire_context_release(child);
    close_stage(stage);
}

static void children_follow_where_their_parent_goes(void) {
    stage stage = open_stage();
    quire_moment *earlier = moment_of(stage.reader);
    save_much(stage);
    quire_context *parent = fresh_context(stage), *child = NULL;
    CHECK_OK(quire_context_create_child(parent, &child, &error));
    check_after(child);
    quire_object *faust = in(child, stage.faust, "Book");
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    quire_results *results = controller(child, NULL, "title", NULL);
    CHECK_OK(quire_context_pin(parent, earlier, &error));
    CHECK_OK(quire_context_merge(child, &error));
    check_before(child);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    CHECK_OK(quire_context_merge(parent, &error));
    CHECK_OK(quire_context_merge(child, &error));
    check_after(child);
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    quire_results_release(results);
    quire_object_release(faust);
    quire_context_release(child);
    quire_context_release(parent);
    quire_moment_release(earlier);
    close_stage(stage);
}

static void a_transaction_is_at_no_moment(void) {
    stage stage = open_stage();
    quire_moment *moment = moment_of(stage.reader), *none = moment;
    CHECK_OK(quire_context_pin(stage.reader, NULL, &error));
    CHECK_OK(quire_context_begin_transaction(stage.reader, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_pin(stage.reader, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_pin(stage.reader, moment, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_moment(stage.reader, &none, &error));
    CHECK(none == NULL && quire_context_is_pinned(stage.reader));
    CHECK_OK(quire_context_unpin(stage.reader, &error));
    CHECK_OK(quire_context_rollback_transaction(stage.reader, &error));
    CHECK(!quire_context_is_pinned(stage.reader));
    quire_moment_release(moment);
    close_stage(stage);
}

static void a_moment_is_of_one_store(void) {
    stage stage = open_stage();
    fixture other = open_fixture();
    CHECK(count(other.context, "Book", NULL) == 0);
    quire_moment *theirs = moment_of(other.context), *own = moment_of(stage.reader);
    CHECK(!quire_moment_equal(theirs, own) && !quire_moment_equal(theirs, NULL) && !quire_moment_equal(NULL, own));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_pin(stage.reader, theirs, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_pin(stage.reader, (quire_moment *)stage.reader, &error));
    CHECK(!quire_context_is_pinned(stage.reader));
    CHECK_OK(quire_store_close(other.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_pin(other.context, theirs, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_pin(other.context, NULL, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_unpin(other.context, &error));
    quire_moment *none = own;
    CHECK_FAILS(QUIRE_CLOSED, quire_context_moment(other.context, &none, &error));
    CHECK(none == NULL);
    quire_moment_release(theirs);
    quire_moment_release(own);
    close_fixture(other);
    close_stage(stage);
}

static quire_moment *wanted;

static void pin_from_a_delegate(void *data, quire_results *results) {
    (void)data;
    quire_context *context = quire_results_context(results);
    tell("%d", quire_context_pin(context, wanted, NULL));
    tell(" %d;", quire_context_pin(context, NULL, NULL));
}

static void a_delegate_moves_nothing(void) {
    stage stage = open_stage();
    wanted = moment_of(stage.reader);
    quire_context *other = fresh_context(stage);
    check_before(other);
    save_much(stage);
    CHECK_OK(quire_context_merge(other, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(other, request, NULL, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change = pin_from_a_delegate;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    quire_object_release(insert_book(other, "Tasso", 90));
    process(other);
    CHECK_TOLD("2 0;");
    CHECK(quire_context_is_pinned(other));
    quire_results_release(results);
    quire_fetch_request_release(request);
    quire_context_release(other);
    quire_moment_release(wanted);
    close_stage(stage);
}

static void references_are_counted(void) {
    stage stage = open_stage();
    quire_moment *moment = moment_of(stage.reader);
    CHECK(quire_moment_retain(moment) == moment && quire_moment_retain(NULL) == NULL);
    quire_moment_release(moment);
    CHECK(quire_moment_equal(moment, moment));
    quire_moment_release(moment);
    quire_moment_release(NULL);
    close_stage(stage);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    /* On a store in memory, and again on one in a file. */
    for (int place = 0; place < 2; place++) {
        is_in_file = place;
        RUN(a_pinned_context_does_not_merge_automatically);
        RUN(a_context_that_has_read_nothing_is_pinned_by_its_next_read);
        RUN(what_moves_a_pinned_context_leaves_it_pinned);
        RUN(a_context_goes_to_the_moment_of_another_one_and_reports_the_difference);
        RUN(a_context_goes_back_to_an_earlier_moment_and_on_again);
        RUN(pending_changes_stay_on_top);
        RUN(what_is_pending_in_an_object_that_was_inserted_since_is_dropped);
        RUN(many_commits_can_be_gone_over);
        RUN(the_newest_moment_needs_no_other_context);
        RUN(a_moment_that_no_context_shows_is_not_found);
        RUN(a_list_of_a_pinned_context_is_fetched_at_its_moment);
        RUN(a_list_that_waits_for_its_rows_gets_those_of_the_moment_at_which_its_context_is_pinned);
        RUN(children_are_pinned_by_their_parents);
        RUN(children_follow_where_their_parent_goes);
        RUN(a_transaction_is_at_no_moment);
        RUN(a_moment_is_of_one_store);
        RUN(a_delegate_moves_nothing);
    }
    RUN(a_moment_of_a_context_that_saves_alone_is_not_found_after_the_save);
    RUN(references_are_counted);
    return RESULT();
}
