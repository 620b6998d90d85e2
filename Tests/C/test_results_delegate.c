/* Which callbacks there are is the program's business, and what can be read in them is the same for all. */
#include "recorder.h"

static quire_results *unfetched(quire_context *context, const char *section) {
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = section;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void set_delegate(quire_results *results, quire_results_delegate delegate) {
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
}

/* Two books in sections of their own; one moves to the section of the other. */
static void rename_a_book(quire_results_delegate delegate) {
    fixture made = open_fixture();
    quire_object *egmont = insert_book(made.context, "Egmont", 1), *faust = insert_book(made.context, "Faust", 1);
    save(made.context);
    quire_results *results = unfetched(made.context, "title");
    set_delegate(results, delegate);
    CHECK_OK(quire_results_fetch(results, &error));
    set_text(egmont, "title", "Faust");
    process(made.context);
    CHECK(quire_results_section_count(results) == 1 && quire_results_count(results) == 2);
    quire_results_release(results);
    quire_object_release(egmont);
    quire_object_release(faust);
    close_fixture(made);
}

static void delegate_of_two_callbacks_is_told_of_brackets_alone(void) {
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.will_change = will_change;
    delegate.did_change = did_change;
    forget();
    rename_a_book(delegate);
    CHECK_TOLD("{was 2 is 2}");
}

static const char *no_title(void *data, quire_results *results, const char *name, size_t size) {
    (void)data, (void)results, (void)name, (void)size;
    return NULL;
}

static void each_callback_may_be_the_only_one(void) {
    const quire_results_delegate all = recorder(), none = QUIRE_RESULTS_DELEGATE_INIT;
    quire_results_delegate delegate = none;
    forget();
    delegate.will_change = all.will_change;
    rename_a_book(delegate);
    CHECK_TOLD("{was 2");
    delegate = none, delegate.did_change_section = all.did_change_section;
    rename_a_book(delegate);
    CHECK_TOLD(" -s0:Egmont");
    delegate = none, delegate.did_change_object = all.did_change_object;
    rename_a_book(delegate);
    CHECK_TOLD(" >0.0/0.0");
    delegate = none, delegate.did_change = all.did_change;
    rename_a_book(delegate);
    CHECK_TOLD(" is 2}");
    delegate = none, delegate.user_data = &reported_rows, delegate.changes = all.changes;
    reported_rows = 0;
    rename_a_book(delegate);
    CHECK(reported_rows == 1);
    /* Without one that is told of changes, and without any, the list follows all the same. */
    delegate = none, delegate.index_title = no_title;
    rename_a_book(delegate);
    rename_a_book(none);
    CHECK_TOLD("");
}

static void first_fetch_tells_nothing(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "Faust", 300));
    quire_results *results = unfetched(made.context, NULL);
    forget();
    set_delegate(results, recorder());
    CHECK_OK(quire_results_fetch(results, &error));
    process(made.context);
    CHECK(quire_results_count(results) == 1);
    CHECK_TOLD("");
    quire_results_release(results);
    close_fixture(made);
}

static void read_section(void *data, quire_results *results, const quire_section_change *change) {
    (void)data;
    quire_section section = QUIRE_SECTION_INIT;
    tell(" %.*s", (int)change->name.size, change->name.data);
    if (change->kind == QUIRE_CHANGE_DELETE) return;
    CHECK_OK(quire_results_section(results, change->index, &section, &error));
    tell(" of %lld", (long long)section.count);
    for (int64_t row = 0; row < section.count; row++) {
        quire_object *object = NULL;
        CHECK_OK(quire_results_object(results, change->index, row, &object, &error));
        quire_object_release(object);
    }
}

static void sections_that_come_have_all_their_rows_when_they_are_told_of(void) {
    fixture made = open_fixture();
    quire_object *books[3];
    for (int i = 0; i < 3; i++) books[i] = insert_book(made.context, i == 0 ? "Egmont" : "Faust", i);
    save(made.context);
    quire_results *results = unfetched(made.context, "title");
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_section = read_section;
    set_delegate(results, delegate);
    CHECK_OK(quire_results_fetch(results, &error));
    forget();
    for (int i = 0; i < 3; i++) set_text(books[i], "title", "Stella");
    process(made.context);
    CHECK_TOLD(" Faust Egmont Stella of 3");
    for (int i = 0; i < 3; i++) quire_object_release(books[i]);
    quire_results_release(results);
    close_fixture(made);
}

typedef struct rows {
    int64_t calls, places;
} rows;

static void count_row(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)results, (void)object;
    rows *const counted = data;
    counted->calls++;
    counted->places += change->kind == QUIRE_CHANGE_INSERT ? change->new_flat : change->old_flat;
}

/* A large bracket is delivered in parts: none of its rows is left out, and none is reported twice. */
static void each_row_of_a_large_bracket_is_reported_once(void) {
    enum { ROWS = 1030 };
    quire_object *books[ROWS];
    rows counted = {0, 0};
    fixture made = open_fixture();
    quire_results *results = unfetched(made.context, NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = &counted;
    delegate.did_change_object = count_row;
    set_delegate(results, delegate);
    CHECK_OK(quire_results_fetch(results, &error));
    for (int i = 0; i < ROWS; i++) books[i] = insert_book(made.context, "Faust", i);
    process(made.context);
    CHECK(counted.calls == ROWS && counted.places == ROWS * (ROWS - 1) / 2);
    for (int i = 0; i < ROWS; i++) set_value(books[i], "pages", quire_value_integer(ROWS + i));
    process(made.context);
    CHECK(counted.calls == 2 * ROWS && counted.places == ROWS * (ROWS - 1));
    for (int i = 0; i < ROWS; i++) {
        CHECK_OK(quire_context_delete(made.context, books[i], &error));
        quire_object_release(books[i]);
    }
    process(made.context);
    CHECK(counted.calls == 3 * ROWS && counted.places == 3 * (ROWS * (ROWS - 1) / 2));
    quire_results_release(results);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(delegate_of_two_callbacks_is_told_of_brackets_alone);
    RUN(each_callback_may_be_the_only_one);
    RUN(first_fetch_tells_nothing);
    RUN(sections_that_come_have_all_their_rows_when_they_are_told_of);
    RUN(each_row_of_a_large_bracket_is_reported_once);
    return RESULT();
}
