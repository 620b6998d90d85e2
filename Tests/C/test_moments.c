/* What a context shows while others save: the state of one moment, until the context moves on. */
#include "moments.h"

/* --- What is read. */

static void lists_and_counts_are_of_the_moment(void) {
    stage stage = open_stage();
    save_much(stage);
    check_before(stage.reader);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    const char *const keys[] = {"title", "pages"};
    quire_page *page = NULL;
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    CHECK_OK(quire_context_fetch_page(stage.reader, request, keys, 2, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 2 && ((const int64_t *)quire_page_column(page, 1)->values)[1] == 300);
    quire_page_release(page);
    quire_fetch_request_release(request);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_after(stage.reader);
    close_stage(stage);
}

/* They are faults, so that all of it is read when the writer has saved. */
static void objects_are_of_the_moment(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    const int64_t last = quire_object_id(stage.egmont) + 100;
    save_much(stage);
    quire_list *stella = fetch(stage.writer, "Book", "title == 'Stella'", NULL);
    int64_t new_id = last;
    CHECK_OK(quire_list_ids(stella, 0, 1, &new_id, &error));
    quire_list_release(stella);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_SAME(get_text(egmont, "title"), "Egmont");
    quire_object *none = NULL;
    const quire_status status = quire_context_object(stage.reader, "Book", QUIRE_NUL, new_id, &none, NULL);
    quire_value title;
    CHECK(status == QUIRE_NOT_FOUND || quire_object_get(none, "title", QUIRE_NUL, &title, NULL) == QUIRE_NOT_FOUND);
    quire_object_release(none);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK(quire_object_is_deleted(egmont));
    CHECK_OK(quire_context_object(stage.reader, "Book", QUIRE_NUL, new_id, &none, &error));
    CHECK_SAME(get_text(none, "title"), "Stella");
    quire_object_release(none);
    quire_object_release(egmont);
    quire_object_release(faust);
    close_stage(stage);
}

/* One side is read before the save, and the other one after it. */
static void both_sides_of_a_relationship_are_of_the_moment(void) {
    for (int many_first = 0; many_first < 2; many_first++) {
        stage stage = open_stage();
        quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
        quire_object *goethe = in(stage.reader, stage.goethe, "Author"), *drama = in(stage.reader, stage.drama, "Tag");
        quire_object *author = NULL;
        for (int pass = 0; pass < 2; pass++) {
            if (pass == many_first) {
                CHECK_OK(quire_object_get_object(faust, "author", QUIRE_NUL, &author, &error));
                CHECK(author == goethe);
                quire_object_release(author);
                CHECK_SAME(members(faust, "tags", "label"), "");
                CHECK_SAME(members(egmont, "tags", "label"), "drama");
            } else {
                CHECK_SAME(members(goethe, "books", "title"), "Egmont,Faust");
                CHECK_SAME(members(drama, "books", "title"), "Egmont");
            }
            if (pass == 0) save_much(stage);
        }
        CHECK_OK(quire_context_merge(stage.reader, &error));
        CHECK_OK(quire_object_get_object(faust, "author", QUIRE_NUL, &author, &error));
        CHECK_SAME(get_text(author, "name"), "Schiller");
        CHECK_SAME(members(author, "books", "title"), "Urfaust");
        CHECK_SAME(members(goethe, "books", "title"), "");
        CHECK_SAME(members(drama, "books", "title"), "Urfaust");
        CHECK_SAME(members(faust, "tags", "label"), "drama");
        quire_object_release(author);
        quire_object_release(drama);
        quire_object_release(goethe);
        quire_object_release(egmont);
        quire_object_release(faust);
        close_stage(stage);
    }
}

static void a_new_context_is_at_the_newest_commit(void) {
    stage stage = open_stage();
    save_much(stage);
    quire_context *fresh = NULL;
    CHECK_OK(quire_context_create(stage.made.store, &fresh, &error));
    check_after(fresh);
    check_before(stage.reader);
    set_text(stage.faust, "title", "Faust I");
    save(stage.writer);
    check_after(fresh);
    check_before(stage.reader);
    quire_context_release(fresh);
    close_stage(stage);
}

static void a_child_reads_what_its_parent_holds(void) {
    stage stage = open_stage();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(stage.reader, &child, &error));
    save_much(stage);
    check_before(child);
    quire_object *faust = in(child, stage.faust, "Book"), *held = in(stage.reader, stage.faust, "Book");
    set_value(held, "pages", quire_value_integer(7));
    CHECK(count(child, "Book", "pages == 7") == 1);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_OK(quire_context_rollback(stage.reader, &error));
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_OK(quire_context_merge(child, &error));
    check_after(child);
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    quire_object_release(held);
    quire_object_release(faust);
    quire_context_release(child);
    close_stage(stage);
}

static void a_reader_is_not_held_up_by_the_transaction_of_another_context(void) {
    stage stage = open_stage();
    CHECK_OK(quire_context_begin_transaction(stage.writer, &error));
    save_much(stage);
    check_after(stage.writer);
    check_before(stage.reader);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_before(stage.reader);
    quire_context *fresh = NULL;
    CHECK_OK(quire_context_create(stage.made.store, &fresh, &error));
    check_before(fresh);
    CHECK_OK(quire_context_commit_transaction(stage.writer, &error));
    check_before(stage.reader);
    check_before(fresh);
    CHECK_OK(quire_context_merge(stage.reader, &error));
    check_after(stage.reader);
    quire_context_release(fresh);
    close_stage(stage);
}

/* --- What moves a context on. */

static void merging_tells_all_that_became_different_in_one_bracket(void) {
    stage stage = open_stage();
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    save_much(stage);
    set_text(stage.faust, "title", "A tragedy");
    save(stage.writer);
    process(stage.reader);
    CHECK_TOLD("");
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_TOLD("{was 2 -0.0 +0.1 ~0.1/0.0 is 2}");
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_TOLD("");
    CHECK_SAME(all(stage.reader, "Book", "title"), "A tragedy,Stella");
    quire_results_release(results);
    close_stage(stage);
}

static void has_saved(void *data, quire_object *object) {
    (void)data;
    tell("saved %s;", get_text(object, "title"));
}

static void a_save_moves_the_context_and_tells_what_others_saved_after_it(void) {
    stage stage = open_stage();
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.did_save = has_saved;
    CHECK_OK(quire_context_set_hooks(stage.reader, NULL, 0, &hooks, &error));
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    quire_object *tasso = insert_book(stage.reader, "Tasso", 90);
    process(stage.reader);
    CHECK_TOLD("{was 2 +0.2 is 3}");
    save_much(stage);
    save(stage.reader);
    CHECK_TOLD("saved Tasso;{was 3 -0.0 +0.0 >0.1/0.2 is 3}");
    CHECK_SAME(all(stage.reader, "Book", "title"), "Stella,Tasso,Urfaust");
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_TOLD("");
    quire_object_release(tasso);
    quire_results_release(results);
    close_stage(stage);
}

/* A save does not merge first, so that the change of a row that the writer has changed is in conflict. */
static void a_failed_save_moves_nothing(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    save_much(stage);
    set_value(faust, "isbn", quire_value_text("1"));
    process(stage.reader);
    forget();
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(stage.reader, &error));
    CHECK_TOLD("");
    check_before(stage.reader);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_SAME(get_text(faust, "isbn"), "1");
    CHECK(!quire_object_is_deleted(egmont));
    CHECK_OK(quire_context_rollback(stage.reader, &error));
    check_after(stage.reader);
    CHECK(quire_object_is_deleted(egmont) && quire_results_count(results) == 2);
    forget();
    quire_results_release(results);
    quire_object_release(egmont);
    quire_object_release(faust);
    close_stage(stage);
}

static void a_save_that_validation_or_a_transaction_stops_moves_nothing(void) {
    stage stage = open_stage();
    save_much(stage);
    quire_object *nameless = insert(stage.reader, "Book");
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_save(stage.reader, &error));
    CHECK_OK(quire_context_rollback(stage.reader, &error));
    check_before(stage.reader);
    CHECK_OK(quire_context_begin_transaction(stage.writer, &error));
    quire_object *tasso = insert_book(stage.reader, "Tasso", 300);
    CHECK_FAILS(QUIRE_BUSY, quire_context_save(stage.reader, &error));
    CHECK_SAME(all(stage.reader, "Book", "title"), "Egmont,Faust,Tasso");
    CHECK_OK(quire_context_rollback(stage.reader, &error));
    check_before(stage.reader);
    CHECK_OK(quire_context_commit_transaction(stage.writer, &error));
    quire_object_release(tasso);
    quire_object_release(nameless);
    close_stage(stage);
}

static void a_conflict_that_is_settled_moves_the_whole_context(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    CHECK_OK(quire_context_set_merge_policy(stage.reader, QUIRE_MERGE_OBJECT_WINS, &error));
    save_much(stage);
    set_text(faust, "isbn", "1");
    save(stage.reader);
    CHECK(quire_context_settled_count(stage.reader) == 1);
    check_after(stage.reader);
    CHECK_SAME(get_text(faust, "isbn"), "1");
    CHECK(quire_object_is_deleted(egmont));
    quire_object_release(egmont);
    quire_object_release(faust);
    close_stage(stage);
}

static void refreshing_moves_the_whole_context(void) {
    for (int way = 0; way < 5; way++) {
        stage stage = open_stage();
        quire_object *goethe = in(stage.reader, stage.goethe, "Author"), *faust = in(stage.reader, stage.faust, "Book");
        CHECK_SAME(get_text(faust, "title"), "Faust");
        quire_results *results = controller(stage.reader, NULL, "title", NULL);
        save_much(stage);
        quire_fetch_request *request = new_request("Author", NULL, NULL);
        quire_list *list = NULL;
        switch (way) {
        case 0: CHECK_OK(quire_context_refresh(stage.reader, goethe, false, &error)); break;
        case 1: CHECK_OK(quire_context_refresh(stage.reader, goethe, true, &error)); break;
        case 2: CHECK_OK(quire_context_refresh_all(stage.reader, &error)); break;
        case 3: CHECK_OK(quire_context_reset(stage.reader, &error)); break;
        default:
            CHECK_OK(quire_fetch_request_set_refreshes_refetched_objects(request, true, &error));
            CHECK_OK(quire_context_fetch(stage.reader, request, &list, &error));
            quire_list_release(list);
        }
        CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
        if (way != 3) CHECK_SAME(get_text(faust, "title"), "Urfaust");
        check_after(stage.reader);
        quire_fetch_request_release(request);
        quire_results_release(results);
        quire_object_release(faust);
        quire_object_release(goethe);
        close_stage(stage);
    }
}

static void a_batch_request_moves_the_context(void) {
    for (int skips = 0; skips < 2; skips++) {
        stage stage = open_stage();
        quire_object *faust = in(stage.reader, stage.faust, "Book");
        quire_results *results = controller(stage.reader, NULL, "title", NULL);
        save_much(stage);
        quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
        options.skips_merge = skips;
        static const char *const keys[] = {"isbn"};
        const quire_value values[] = {quire_value_text("1")};
        int64_t number = 0;
        quire_fetch_request *request = new_request("Book", "title == 'Urfaust'", NULL);
        CHECK_OK(quire_context_batch_update(stage.reader, request, keys, values, 1, &options, &number, NULL, &error));
        CHECK(number == 1);
        check_after(stage.reader);
        CHECK(count(stage.reader, "Book", "isbn == '1'") == 1);
        CHECK_SAME(get_text(faust, "isbn"), "1");
        CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
        quire_fetch_request_release(request);
        quire_results_release(results);
        quire_object_release(faust);
        close_stage(stage);
    }
}

static void the_beginning_and_the_end_of_a_transaction_move_the_context(void) {
    stage stage = open_stage();
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    save_much(stage);
    CHECK_OK(quire_context_begin_transaction(stage.reader, &error));
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    check_after(stage.reader);
    quire_object_release(insert_book(stage.reader, "Tasso", 90));
    save(stage.reader);
    CHECK_TOLD("{was 2 +0.1 is 3}");
    CHECK_OK(quire_context_rollback_transaction(stage.reader, &error));
    CHECK_TOLD("{was 3 -0.1 is 2}");
    check_after(stage.reader);
    quire_results_release(results);
    close_stage(stage);
}

/* When changes are processed. A fetch and what only shows an object read what the context shows. */
static void a_context_that_merges_automatically_moves_by_itself(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error));
    save_much(stage);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    check_before(stage.reader);
    process(stage.reader);
    check_after(stage.reader);
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    set_text(stage.faust, "title", "Faust I");
    save(stage.writer);
    process(stage.reader);
    CHECK_SAME(get_text(faust, "title"), "Faust I");
    quire_object_release(faust);
    close_stage(stage);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    /* On a store in memory, and again on one in a file. */
    for (int place = 0; place < 2; place++) {
        is_in_file = place;
        RUN(lists_and_counts_are_of_the_moment);
        RUN(objects_are_of_the_moment);
        RUN(both_sides_of_a_relationship_are_of_the_moment);
        RUN(a_new_context_is_at_the_newest_commit);
        RUN(a_child_reads_what_its_parent_holds);
        RUN(a_reader_is_not_held_up_by_the_transaction_of_another_context);
        RUN(merging_tells_all_that_became_different_in_one_bracket);
        RUN(a_save_moves_the_context_and_tells_what_others_saved_after_it);
        RUN(a_failed_save_moves_nothing);
        RUN(a_save_that_validation_or_a_transaction_stops_moves_nothing);
        RUN(a_conflict_that_is_settled_moves_the_whole_context);
        RUN(refreshing_moves_the_whole_context);
        RUN(a_batch_request_moves_the_context);
        RUN(the_beginning_and_the_end_of_a_transaction_move_the_context);
        RUN(a_context_that_merges_automatically_moves_by_itself);
    }
    return RESULT();
}
