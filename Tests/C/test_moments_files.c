/* What a context shows of a file that other programs write as well, and in which lists have caches. */
#include "moments.h"

static quire_results *cached_list(quire_context *context) {
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.cache_name = "books";
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static const char *listed(quire_results *results) {
    static char text[1024];
    size_t used = 0;
    text[0] = 0;
    for (int64_t i = 0; i < quire_results_count(results); i++) {
        quire_object *object = NULL;
        CHECK_OK(quire_results_object(results, 0, i, &object, &error));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", get_text(object, "title"));
        quire_object_release(object);
    }
    return text;
}

static void a_cache_is_not_written_from_an_older_moment_nor_read_at_one(void) {
    for (int old_first = 0; old_first < 2; old_first++) {
        stage stage = open_stage();
        save_much(stage);
        for (int pass = 0; pass < 4; pass++) {
            const bool is_old = pass % 2 != old_first;
            quire_results *results = cached_list(is_old ? stage.reader : stage.writer);
            CHECK_SAME(listed(results), is_old ? "Egmont,Faust" : "Stella,Urfaust");
            quire_results_release(results);
        }
        close_stage(stage);
    }
}

/* Through a store of another program's making. */
static void save_outside(stage stage) {
    fixture outside = open_fixture_at(path);
    quire_object *theirs = in(outside.context, stage.faust, "Book"), *gone = in(outside.context, stage.egmont, "Book");
    set_text(theirs, "title", "Urfaust");
    CHECK_OK(quire_context_delete(outside.context, gone, &error));
    quire_object_release(insert_book(outside.context, "Stella", 60));
    save(outside.context);
    quire_object_release(gone);
    quire_object_release(theirs);
    close_fixture(outside);
}

static void commits_of_another_program_are_told_with_the_merge(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book"), *egmont = in(stage.reader, stage.egmont, "Book");
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    save_outside(stage);
    process(stage.reader);
    CHECK_TOLD("");
    check_before(stage.reader);
    CHECK_SAME(get_text(faust, "title"), "Faust");
    CHECK_SAME(get_text(egmont, "title"), "Egmont");
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_TOLD("{was 2 -0.0 +0.0 ~0.1/0.1 is 2}");
    CHECK_SAME(listed(results), "Stella,Urfaust");
    CHECK_SAME(all(stage.reader, "Book", "title"), "Stella,Urfaust");
    CHECK_SAME(get_text(faust, "title"), "Urfaust");
    CHECK(quire_object_is_deleted(egmont));
    quire_results_release(results);
    quire_object_release(egmont);
    quire_object_release(faust);
    close_stage(stage);
}

/* Whatever it is that moves the context. */
static void lists_have_what_another_program_has_committed(void) {
    for (int way = 0; way < 8; way++) {
        stage stage = open_stage();
        quire_object *faust = in(stage.reader, stage.faust, "Book");
        CHECK_SAME(get_text(faust, "title"), "Faust");
        quire_results *results = controller(stage.reader, NULL, "title", NULL);
        save_outside(stage);
        switch (way) {
        case 0: quire_object_release(insert(stage.reader, "Author")); save(stage.reader); break;
        case 1: CHECK_OK(quire_context_refresh(stage.reader, faust, true, &error)); break;
        case 2: CHECK_OK(quire_context_reset(stage.reader, &error)); break;
        case 3: CHECK_OK(quire_context_begin_transaction(stage.reader, &error)); break;
        case 4: CHECK_OK(quire_context_set_merges_automatically(stage.reader, true, &error)); process(stage.reader); break;
        case 5:
            quire_object_release(insert(stage.writer, "Author"));
            save(stage.writer);
            CHECK_SAME(listed(results), "Egmont,Faust");
            CHECK_OK(quire_context_merge(stage.reader, &error));
            break;
        case 6:
            set_text(faust, "isbn", "1");
            CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(stage.reader, &error));
            CHECK_SAME(listed(results), "Egmont,Faust");
            CHECK_OK(quire_context_rollback(stage.reader, &error));
            break;
        default:
            CHECK_OK(quire_context_set_merge_policy(stage.reader, QUIRE_MERGE_OBJECT_WINS, &error));
            set_text(faust, "isbn", "1");
            save(stage.reader);
        }
        CHECK_SAME(listed(results), "Stella,Urfaust");
        CHECK_SAME(all(stage.reader, "Book", "title"), "Stella,Urfaust");
        quire_results_release(results);
        quire_object_release(faust);
        close_stage(stage);
    }
}

static void fail_once(void *data, quire_results *results) {
    if (*(int *)data == 0) CHECK_OK(quire_results_delegate_failed(results, "not now", QUIRE_NUL, &error));
    *(int *)data += 1;
}

static void a_delegate_that_fails_keeps_no_commit_from_a_list(void) {
    stage stage = open_stage();
    quire_object *faust = in(stage.reader, stage.faust, "Book");
    CHECK_SAME(get_text(faust, "title"), "Faust");
    quire_results *results = controller(stage.reader, NULL, "title", NULL);
    int calls = 0;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = &calls;
    delegate.did_change = fail_once;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    save_outside(stage);
    CHECK_FAILS(QUIRE_FUNCTION, quire_context_merge(stage.reader, &error));
    CHECK_OK(quire_context_merge(stage.reader, &error));
    CHECK_SAME(listed(results), "Stella,Urfaust");
    quire_results_release(results);
    quire_object_release(faust);
    close_stage(stage);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    is_in_file = true;
    RUN(a_cache_is_not_written_from_an_older_moment_nor_read_at_one);
    RUN(commits_of_another_program_are_told_with_the_merge);
    RUN(lists_have_what_another_program_has_committed);
    RUN(a_delegate_that_fails_keeps_no_commit_from_a_list);
    return RESULT();
}
