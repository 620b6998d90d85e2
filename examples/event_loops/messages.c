#define _POSIX_C_SOURCE 200809L

#include "messages.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

bool ok(quire_status status, quire_error **error) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "%s: %s\n", quire_status_name(status), *error ? quire_error_message(*error).data : "no message");
    quire_error_release(*error);
    *error = NULL;
    return false;
}

/* The entity Message { number: Integer, text: String }. */
static bool make_model(quire_model *model) {
    quire_error *error = NULL;
    return ok(quire_model_add_entity(model, "Message", QUIRE_NUL, NULL, &error), &error)
        && ok(quire_model_add_attribute(model, "Message", QUIRE_NUL, "number", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, NULL, &error), &error)
        && ok(quire_model_add_attribute(model, "Message", QUIRE_NUL, "text", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error), &error);
}

/* Called by the merge, on the thread of the context. */
static void message_changed(void *data, quire_results *list, quire_object *object, const quire_change *change) {
    quire_value number, text;
    quire_error *error = NULL;
    (void)data, (void)list;
    if (change->kind == QUIRE_CHANGE_INSERT && ok(quire_object_get(object, "number", QUIRE_NUL, &number, &error), &error)
        && ok(quire_object_get(object, "text", QUIRE_NUL, &text, &error), &error))
        printf("%" PRId64 ": %s\n", number.as.integer, text.as.text);
}

static bool make_list(messages *self) {
    quire_error *error = NULL;
    quire_fetch_request *request = NULL;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = message_changed;
    const bool is_made = ok(quire_fetch_request_create("Message", QUIRE_NUL, &request, &error), &error)
        && ok(quire_fetch_request_add_sort(request, "number", QUIRE_NUL, false, &error), &error)
        && ok(quire_results_create(self->context, request, NULL, &self->list, &error), &error)
        && ok(quire_results_set_delegate(self->list, &delegate, &error), &error)
        && ok(quire_results_fetch(self->list, &error), &error);
    quire_fetch_request_release(request);
    return is_made;
}

bool open_messages(messages *self) {
    quire_error *error = NULL;
    quire_model *model = quire_model_create();
    const bool is_open = make_model(model)
        && ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &self->store, &error), &error)
        && ok(quire_context_create(self->store, &self->context, &error), &error)
        && ok(quire_context_descriptor(self->context, &self->descriptor, &error), &error) && make_list(self);
    quire_model_release(model);
    return is_open;
}

/* ---- The thread that saves ---- */

static bool save_message(quire_context *context, int number) {
    static const char *const keys[] = {"number", "text"};
    quire_error *error = NULL;
    quire_object *message = NULL;
    const quire_value values[] = {quire_value_integer(number), quire_value_text("saved by another thread")};
    const bool is_saved = ok(quire_context_insert(context, "Message", QUIRE_NUL, &message, &error), &error)
        && ok(quire_object_set_values(message, keys, values, 2, &error), &error)
        && ok(quire_context_save(context, &error), &error);
    quire_object_release(message);
    return is_saved;
}

/* Gives NULL when something failed. A store is for all threads; a context is not, so this thread has its own. */
static void *write_messages(void *store) {
    const struct timespec pause = {0, 20000000};
    quire_error *error = NULL;
    quire_context *context = NULL;
    bool is_good = ok(quire_context_create(store, &context, &error), &error);
    for (int number = 1; is_good && number <= MESSAGE_COUNT; number++) {
        nanosleep(&pause, NULL);
        is_good = save_message(context, number);
    }
    quire_context_release(context);
    return is_good ? store : NULL;
}

bool start_writer(messages *self) {
    if (pthread_create(&self->writer, NULL, write_messages, self->store) == 0) return true;
    fprintf(stderr, "no thread can be started\n");
    return false;
}

/* ---- The thread that shows ---- */

bool merge_messages(messages *self) {
    quire_error *error = NULL;
    return ok(quire_context_merge(self->context, &error), &error);
}

bool has_all_messages(const messages *self) { return quire_results_count(self->list) == MESSAGE_COUNT; }

bool close_messages(messages *self) {
    void *result = NULL;
    pthread_join(self->writer, &result);
    quire_results_release(self->list);
    quire_context_release(self->context);
    quire_store_release(self->store);
    return result != NULL;
}
