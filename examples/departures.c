/*
 * A board of departures in the terminal, which follows what another thread saves.
 *
 *     cc departures.c $(pkg-config --cflags --libs quire) -pthread -o departures
 *     ./departures [MILLISECONDS]
 *
 * Each thread has a context of its own on the same store. The board's thread waits for its context's descriptor, as an
 * event loop would, and merges what was saved. The list then reports its changes, and the board is drawn again. In a
 * terminal it is drawn over the one before. The argument says how long the other thread waits between its saves.
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <quire.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Thread_local quire_error *error; /* of the call of this thread that failed last */

static bool ok(quire_status status) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "departures: %s\n", quire_error_message(error).data);
    quire_error_release(error);
    error = NULL;
    return false;
}

static bool add_text(quire_model *model, const char *name) {
    return ok(quire_model_add_attribute(model, "Departure", QUIRE_NUL, name, QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
}

/* ---- The other thread: what a railway tells ---- */

typedef struct railway {
    quire_store *store;
    long pause; /* milliseconds between two saves */
    bool is_done;
} railway;

static bool depart(quire_context *context, const char *time, const char *destination, const char *platform) {
    quire_object *departure = NULL;
    const char *keys[] = {"time", "destination", "platform"};
    const quire_value values[] = {quire_value_text(time), quire_value_text(destination), quire_value_text(platform)};
    bool is_inserted = ok(quire_context_insert(context, "Departure", QUIRE_NUL, &departure, &error))
                    && ok(quire_object_set_values(departure, keys, values, 3, &error));
    quire_object_release(departure);
    return is_inserted;
}

/* Sets `key` of the departure for `destination`, or with NULL for `text` takes the departure off. */
static bool change(quire_context *context, const char *destination, const char *key, const char *text) {
    quire_object *departure = NULL;
    const quire_value sought = quire_value_text(destination), value = quire_value_text(text);
    bool is_changed = ok(quire_context_find(context, "Departure", QUIRE_NUL, "destination", QUIRE_NUL, &sought,
                                            &departure, &error))
                   && (text ? ok(quire_object_set(departure, key, QUIRE_NUL, &value, &error))
                            : ok(quire_context_delete(context, departure, &error)));
    quire_object_release(departure);
    return is_changed;
}

static bool save(quire_context *context, const railway *self) {
    const struct timespec pause = {self->pause / 1000, self->pause % 1000 * 1000000};
    nanosleep(&pause, NULL);
    return ok(quire_context_save(context, &error));
}

static void *run_railway(void *argument) {
    railway *self = argument;
    quire_context *context = NULL;
    self->is_done = ok(quire_context_create(self->store, &context, &error))
                 && depart(context, "10:12", "Dresden", "4") && save(context, self)
                 && depart(context, "10:05", "Hamburg", "4") && depart(context, "10:20", "Prague", "7") && save(context, self)
                 && change(context, "Dresden", "platform", "7") && save(context, self)
                 && change(context, "Prague", "time", "10:08") && save(context, self)
                 && change(context, "Hamburg", NULL, NULL) && save(context, self)
                 && depart(context, "23:59", "The end", "9") && save(context, self);
    quire_context_release(context);
    return NULL;
}

/* ---- The board ---- */

typedef struct board {
    quire_context *context;
    quire_results *results;
    bool is_terminal, is_over;
} board;

/* All columns of all rows in one call: `quire_results_page` is made for lists that are drawn as a whole. */
static bool draw(board *self) {
    static const char *const keys[] = {"time", "destination"};
    quire_page *page = NULL;
    if (!ok(quire_results_page(self->results, 0, quire_results_count(self->results), keys, 2, QUIRE_PAGE_NUL_SEPARATED,
                               &page, &error))) return false;
    const char *times = quire_page_column(page, 0)->values, *destinations = quire_page_column(page, 1)->values;
    if (self->is_terminal) printf("\x1b[H\x1b[J"); /* to the upper left corner, and clear what is below */
    bool is_drawn = true;
    for (int64_t i = 0; i < quire_results_section_count(self->results) && is_drawn; i++) {
        quire_section section = QUIRE_SECTION_INIT;
        is_drawn = ok(quire_results_section(self->results, i, &section, &error));
        if (!is_drawn) break;
        printf("Platform %s\n", section.name.data);
        for (int64_t row = 0; row < section.count; row++) {
            printf("  %s  %s\n", times, destinations);
            times += 6; /* "10:12" and the NUL that ends each value of this form */
            while (*destinations++) {}
        }
        if (section.name.data[0] == '9') self->is_over = true; /* the platform of "The end" */
    }
    printf("--\n");
    fflush(stdout);
    quire_page_release(page);
    return is_drawn;
}

/* After each bracket of changes, with all of them at once. */
static void changed(void *user_data, quire_results *results, const quire_changes *changes) {
    board *self = user_data;
    if (!self->is_terminal) printf("%" PRId64 " changes\n", quire_changes_rows(changes).count);
    if (!draw(self)) ok(quire_results_delegate_failed(results, "the board cannot be drawn", QUIRE_NUL, &error));
}

static bool open_board(board *self, quire_store *store) {
    quire_fetch_request *request = NULL;
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    options.section_key_path = "platform";
    delegate.user_data = self;
    delegate.changes = changed;
    bool is_open = ok(quire_context_create(store, &self->context, &error))
                && ok(quire_fetch_request_create("Departure", QUIRE_NUL, &request, &error))
                && ok(quire_fetch_request_add_sort(request, "platform", QUIRE_NUL, false, &error))
                && ok(quire_fetch_request_add_sort(request, "time", QUIRE_NUL, false, &error))
                && ok(quire_results_create(self->context, request, &options, &self->results, &error))
                && ok(quire_results_set_delegate(self->results, &delegate, &error))
                && ok(quire_results_fetch(self->results, &error)) && draw(self);
    quire_fetch_request_release(request);
    return is_open;
}

/* Until the railway has said that it is over; ten seconds without a word are too many. */
static bool follow(board *self) {
    struct pollfd waiting = {.events = POLLIN};
    if (!ok(quire_context_descriptor(self->context, &waiting.fd, &error))) return false;
    while (!self->is_over) {
        if (poll(&waiting, 1, 10000) != 1) {
            fprintf(stderr, "departures: the railway is silent.\n");
            return false;
        }
        if (!ok(quire_context_merge(self->context, &error))) return false;
    }
    return true;
}

int main(int argument_count, char **arguments) {
    quire_model *model = quire_model_create();
    railway railway = {.pause = argument_count > 1 ? atol(arguments[1]) : 1000};
    board board = {.is_terminal = isatty(STDOUT_FILENO)};
    pthread_t thread;
    bool is_done = ok(quire_model_add_entity(model, "Departure", QUIRE_NUL, NULL, &error))
                && add_text(model, "time") && add_text(model, "destination") && add_text(model, "platform")
                && ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &railway.store, &error))
                && open_board(&board, railway.store);
    if (is_done && pthread_create(&thread, NULL, run_railway, &railway) != 0) {
        fprintf(stderr, "departures: cannot start another thread.\n");
        is_done = false;
    }
    if (is_done) {
        is_done = follow(&board);
        pthread_join(thread, NULL);
    }
    quire_results_release(board.results);
    quire_context_release(board.context);
    quire_store_release(railway.store);
    quire_model_release(model);
    return is_done && railway.is_done ? 0 : 1;
}
