/* A delegate that writes down what it is told, and controllers of books that have it. */
#ifndef QUIRE_RECORDER_H_
#define QUIRE_RECORDER_H_

#include "fixture.h"

#include <stdarg.h>

/* What a delegate was told, as one line of text: a bracket is `{...}`. */
static char told[4096];
static size_t told_size;
static int destroyed;

static void forget(void) { told_size = 0, told[0] = 0; }

static void tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void tell(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    told_size += (size_t)vsnprintf(told + told_size, sizeof told - told_size, format, arguments);
    va_end(arguments);
    CHECK(told_size < sizeof told);
}

/* What was told since the last time. */
#define CHECK_TOLD(expected) (CHECK_TEXT(((quire_string){told, told_size}), (expected)), forget())

static void will_change(void *data, quire_results *results) {
    (void)data;
    tell("{was %lld", (long long)quire_results_count(results));
}

static void section_changed(void *data, quire_results *results, const quire_section_change *change) {
    (void)data, (void)results;
    tell(" %s%lld:%.*s", change->kind == QUIRE_CHANGE_INSERT ? "+s" : "-s", (long long)change->index, (int)change->name.size,
        change->name.data);
}

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)data, (void)results;
    CHECK(object != NULL && quire_object_id(object) == change->id);
    const char *const kinds[] = {"?", "+", "-", ">", "~"};
    CHECK(change->kind >= 1 && change->kind <= 4);
    tell(" %s", kinds[change->kind]);
    if (change->kind != QUIRE_CHANGE_INSERT) tell("%lld.%lld", (long long)change->old_section, (long long)change->old_row);
    else CHECK(change->old_section == -1 && change->old_row == -1 && change->old_flat == -1);
    if (change->kind == QUIRE_CHANGE_MOVE || change->kind == QUIRE_CHANGE_UPDATE) tell("/");
    if (change->kind != QUIRE_CHANGE_DELETE) tell("%lld.%lld", (long long)change->new_section, (long long)change->new_row);
    else CHECK(change->new_section == -1 && change->new_row == -1 && change->new_flat == -1);
}

static void did_change(void *data, quire_results *results) {
    (void)data;
    tell(" is %lld}", (long long)quire_results_count(results));
}

static void all_changes(void *data, quire_results *results, const quire_changes *changes) {
    (void)results;
    CHECK(quire_changes_row_count(changes) == quire_changes_rows(changes).count);
    *(size_t *)data += (size_t)quire_changes_rows(changes).count;
}

static void count_destroyed(void *data) { (void)data, destroyed++; }

static size_t reported_rows;

static quire_results_delegate recorder(void) {
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = &reported_rows;
    delegate.destroy = count_destroyed;
    delegate.will_change = will_change;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = object_changed;
    delegate.did_change = did_change;
    delegate.changes = all_changes;
    return delegate;
}

static quire_results *controller(quire_context *context, const char *format, const char *sort, const char *section) {
    quire_fetch_request *request = new_request("Book", format, sort);
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = section;
    options.queues_changes = true;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    quire_fetch_request_release(request);
    const quire_results_delegate delegate = recorder();
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    forget();
    return results;
}

static quire_object *book_with(quire_context *context, const char *title, const char *isbn) {
    quire_object *book = insert_book(context, title, 1);
    set_text(book, "isbn", isbn);
    return book;
}

static void process(quire_context *context) { CHECK_OK(quire_context_process(context, &error)); }

#endif
