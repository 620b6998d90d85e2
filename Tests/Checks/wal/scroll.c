/*
 * A list that scrolls beside two writers, and pages and objects that are read of it.
 *
 * Each note has its id as a number, so that what is read says which row it is. The writers change, insert and delete notes,
 * so much for each frame of the list, and neither depends on how fast the machine is. In each frame a window of the list is
 * read as ids, as objects and as a page.
 */
#include "wal.h"

#include "dice.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the writers may commit before a thread has looked at the log, in bytes: with a limit of 16 pages it shows. */
enum { COMMITS_ON_THE_WAY = 256 << 10 };

enum { NOTES = 2000, SHELVES = 5, RANKS = 1000, WINDOW = 20, FRAMES = 400, LEAST_TEXT = 200, MOST_TEXT = 3000, WRITERS = 2 };
/* So many times the limit of the log the writers write in all. */
enum { TIMES_THE_LIMIT = 18 };
/* A changed note writes two pages or three. */
enum { BYTES_OF_A_CHANGE = 8000 };

static const uint64_t limits[] = {64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20};

/* Whether a call is under way that may call delegates. */
static bool is_advancing;
#define ADVANCING(call) (is_advancing = true, OK(call), is_advancing = false)

static int reports;

static void begin_report(void *data, quire_results *results) {
    (void)data, (void)results;
    if (!is_advancing) {
        fprintf(stderr, "scroll: a delegate is called from within a call that advances nothing\n");
        exit(1);
    }
    reports++;
}

static quire_store *open_notes(uint64_t limit) {
    quire_model *model = quire_model_create();
    quire_attribute_options attribute = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    attribute.is_optional = true;
    OK(quire_model_add_entity(model, "Note", QUIRE_NUL, NULL, &error));
    static const char *const numbers[] = {"number", "rank", "shelf"};
    for (int i = 0; i < COUNT_OF(numbers); i++)
        OK(quire_model_add_attribute(model, "Note", QUIRE_NUL, numbers[i], QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &attribute, &error));
    OK(quire_model_add_attribute(model, "Note", QUIRE_NUL, "text", QUIRE_NUL, QUIRE_TYPE_STRING, &attribute, &error));
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    /* How fast the disk is says nothing of the log. */
    options.relaxed_durability = true;
    options.wal_limit = limit;
    quire_store *store = NULL;
    OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    return store;
}

static quire_context *new_context(quire_store *store) {
    quire_context *context = NULL;
    OK(quire_context_create(store, &context, &error));
    return context;
}

static void set(quire_object *note, const char *key, quire_value value) {
    OK(quire_object_set(note, key, QUIRE_NUL, &value, &error));
}

static void set_text(quire_object *note) {
    static _Thread_local char text[MOST_TEXT + 1];
    const int size = LEAST_TEXT + random_below(MOST_TEXT - LEAST_TEXT);
    memset(text, 'a' + random_below(26), MOST_TEXT);
    text[size] = 0;
    set(note, "text", quire_value_text(text));
}

static int64_t insert_note(quire_context *context) {
    quire_object *note = NULL;
    OK(quire_context_insert(context, "Note", QUIRE_NUL, &note, &error));
    OK(quire_context_obtain_permanent_ids(context, &error));
    set(note, "number", quire_value_integer(quire_object_id(note)));
    set(note, "rank", quire_value_integer(random_below(RANKS)));
    set(note, "shelf", quire_value_integer(random_below(SHELVES)));
    set_text(note);
    const int64_t id = quire_object_id(note);
    quire_object_release(note);
    return id;
}

/* --- Writers. */

typedef struct writer {
    pthread_t thread;
    quire_context *context;
    /* Ids: a writer holds no objects, so that its moment is given up while it waits for a frame. */
    int64_t notes[NOTES];
    int count, saves, changes, frames_of_a_save;
    uint64_t seed;
    /* Frames that the writer has made no saves for, and saves that the reader waits for. */
    sem_t frames, done;
} writer;

static void change_a_note(writer *writer) {
    const int place = random_below(writer->count), kind = random_below(100);
    quire_object *note = NULL;
    OK(quire_context_object(writer->context, "Note", QUIRE_NUL, writer->notes[place], &note, &error));
    if (kind < 10 && writer->count > NOTES / 4) {
        OK(quire_context_delete(writer->context, note, &error));
        writer->notes[place] = writer->notes[--writer->count];
    } else if (kind < 20 && writer->count < NOTES) {
        writer->notes[writer->count++] = insert_note(writer->context);
    } else if (kind < 50) {
        set(note, "rank", quire_value_integer(random_below(RANKS)));
    } else if (kind < 60) {
        set(note, "shelf", quire_value_integer(random_below(SHELVES)));
    } else {
        set_text(note);
    }
    quire_object_release(note);
}

static void *write_notes(void *of) {
    writer *writer = of;
    seed_dice(writer->seed);
    for (int frame = 0; frame < FRAMES; frame++) {
        sem_wait(&writer->frames);
        for (int i = 0; i < writer->saves && frame % writer->frames_of_a_save == 0; i++) {
            for (int k = 0; k < writer->changes; k++) change_a_note(writer);
            OK(quire_context_save(writer->context, &error));
        }
        sem_post(&writer->done);
    }
    return NULL;
}

static void start_writing(writer *writer, quire_store *store, int64_t bytes_of_a_frame, uint64_t seed) {
    *writer = (struct writer){.context = new_context(store), .seed = seed};
    for (; writer->count < NOTES / WRITERS; writer->count++) writer->notes[writer->count] = insert_note(writer->context);
    OK(quire_context_save(writer->context, &error));
    const int64_t changes = bytes_of_a_frame / BYTES_OF_A_CHANGE;
    writer->saves = changes >= 8 ? 1 + random_below(4) : 1;
    writer->changes = (int)(changes / writer->saves > 0 ? changes / writer->saves : 1);
    writer->frames_of_a_save = changes ? 1 : (int)(BYTES_OF_A_CHANGE / bytes_of_a_frame);
    CHECK(sem_init(&writer->frames, 0, 0) == 0 && sem_init(&writer->done, 0, 0) == 0);
}

static void stop_writing(writer *writer) {
    quire_context_release(writer->context);
    sem_destroy(&writer->frames);
    sem_destroy(&writer->done);
}

/* --- The list. */

static quire_results *list_notes(quire_context *context) {
    quire_fetch_request *request = NULL;
    quire_results *results = NULL;
    OK(quire_fetch_request_create("Note", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "shelf", QUIRE_NUL, false, &error));
    OK(quire_fetch_request_add_sort(request, "rank", QUIRE_NUL, false, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "shelf";
    OK(quire_results_create(context, request, &options, &results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.will_change = begin_report;
    OK(quire_results_set_delegate(results, &delegate, &error));
    OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

typedef struct reader {
    quire_context *context;
    quire_results *results;
    bool merges;
    int64_t place;
    long gone, ahead;
    /* Objects that stay in use. */
    quire_object *held[WINDOW];
} reader;

/* Whether a read may have failed: only for a row that is gone, and only where the context has lost its moment. */
static bool is_read(reader *reader, quire_status status) {
    if (status == QUIRE_OK) return true;
    const bool may_fail = status == QUIRE_NOT_FOUND && !reader->merges && quire_context_has_lost_moment(reader->context);
    if (!may_fail || !strstr(quire_error_message(error).data, "quire_context_merge")) fail("a read", __FILE__, __LINE__);
    quire_error_release(error);
    error = NULL;
    reader->gone++;
    return false;
}

static void read_object(reader *reader, int64_t row, int64_t id) {
    int64_t section = 0, number = 0;
    bool is_nil = false;
    quire_object *object = NULL;
    quire_section info = QUIRE_SECTION_INIT;
    OK(quire_results_section_of(reader->results, &row, 1, &section, &error));
    OK(quire_results_section(reader->results, section, &info, &error));
    if (!is_read(reader, quire_results_object(reader->results, section, row - info.start, &object, &error))) return;
    CHECK(quire_object_id(object) == id);
    if (is_read(reader, quire_object_get_integer(object, "number", QUIRE_NUL, &number, &is_nil, &error))) CHECK(number == id);
    quire_object **const slot = &reader->held[row % WINDOW];
    quire_object_release(*slot);
    *slot = object;
}

/* A window, which moves up and down, and at times to any other place. */
static void draw(reader *reader) {
    static const char *const keys[] = {"number"};
    int64_t ids[WINDOW], places[WINDOW];
    const int64_t total = quire_results_count(reader->results), most = total - WINDOW;
    reader->place += random_below(2 * WINDOW) - WINDOW / 2;
    if (chance(5) || reader->place < 0 || reader->place > most) reader->place = random_below((int)most);
    OK(quire_results_ids(reader->results, reader->place, WINDOW, ids, &error));
    for (int i = 0; i < WINDOW; i++) read_object(reader, reader->place + i, ids[i]);
    quire_page *page = NULL;
    if (is_read(reader, quire_results_page(reader->results, reader->place, WINDOW, keys, 1, 0, &page, &error))) {
        const int64_t *numbers = quire_page_column(page, 0)->values;
        for (int i = 0; i < WINDOW; i++) CHECK(numbers[i] == ids[i]);
        quire_page_release(page);
    }
    /* Nothing has moved meanwhile. */
    CHECK(quire_results_count(reader->results) == total);
    OK(quire_results_positions(reader->results, ids, WINDOW, places, &error));
    for (int i = 0; i < WINDOW; i++) CHECK(places[i] == reader->place + i);
}

/* Reads that fetch, beside the list. */
static void fetch_something(reader *reader) {
    quire_fetch_request *request = NULL;
    int64_t count = 0;
    OK(quire_fetch_request_create("Note", QUIRE_NUL, &request, &error));
    OK(quire_context_count(reader->context, request, &count, &error));
    quire_fetch_request_release(request);
    CHECK(count > 0);
    if (chance(20)) {
        quire_results *other = list_notes(reader->context);
        /* Without a moment each fetch is of what is newest by then. */
        CHECK(quire_results_count(other) == count || quire_context_has_lost_moment(reader->context));
        quire_results_release(other);
    }
}

static int64_t integer_of(quire_object *object, const char *key) {
    int64_t number = 0;
    bool is_nil = false;
    OK(quire_object_get_integer(object, key, QUIRE_NUL, &number, &is_nil, &error));
    return number;
}

/* The list and its objects are what a context shows that has read nothing before. */
static void compare(reader *reader, quire_store *store) {
    quire_context *fresh = new_context(store);
    quire_results *wanted = list_notes(fresh);
    const int64_t total = quire_results_count(wanted);
    CHECK(quire_results_count(reader->results) == total);
    int64_t *ids = calloc((size_t)total, sizeof *ids), *others = calloc((size_t)total, sizeof *others);
    CHECK(ids && others);
    OK(quire_results_ids(reader->results, 0, total, ids, &error));
    OK(quire_results_ids(wanted, 0, total, others, &error));
    CHECK(memcmp(ids, others, (size_t)total * sizeof *ids) == 0);
    CHECK(quire_results_section_count(reader->results) == quire_results_section_count(wanted));
    for (int64_t i = 0; i < quire_results_section_count(wanted); i++) {
        quire_section left = QUIRE_SECTION_INIT, right = QUIRE_SECTION_INIT;
        OK(quire_results_section(reader->results, i, &left, &error));
        OK(quire_results_section(wanted, i, &right, &error));
        CHECK(left.start == right.start && left.count == right.count && left.name.size == right.name.size);
    }
    for (int i = 0; i < WINDOW; i++) {
        quire_object *held = reader->held[i], *same = NULL;
        if (!held || quire_object_is_deleted(held)) continue;
        OK(quire_context_object(fresh, "Note", QUIRE_NUL, quire_object_id(held), &same, &error));
        CHECK(integer_of(held, "rank") == integer_of(same, "rank") && integer_of(held, "shelf") == integer_of(same, "shelf"));
        quire_string text, other;
        OK(quire_object_get_text(held, "text", QUIRE_NUL, &text, &error));
        OK(quire_object_get_text(same, "text", QUIRE_NUL, &other, &error));
        CHECK(text.size == other.size && memcmp(text.data, other.data, text.size) == 0);
        quire_object_release(same);
    }
    free(ids);
    free(others);
    quire_results_release(wanted);
    quire_context_release(fresh);
}

static int64_t greater(int64_t left, int64_t right) { return left > right ? left : right; }

/* --- Runs. */

/* Whether the log became longer than it may. */
static bool run(uint64_t limit, bool merges, uint64_t seed) {
    seed_dice(seed);
    quire_store *store = open_notes(limit);
    const int64_t bytes = TIMES_THE_LIMIT * (int64_t)limit / FRAMES;
    writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) start_writing(&writers[i], store, bytes / WRITERS, seed * WRITERS + (uint64_t)i + 1);
    /* The first save of a writer is longer than a small limit. */
    while (log_size(store) >= (int64_t)limit / 2) {
        change_a_note(&writers[0]);
        OK(quire_context_save(writers[0].context, &error));
    }
    seed_dice(seed);
    reader reader = {.context = new_context(store), .merges = merges};
    reader.results = list_notes(reader.context);
    for (int i = 0; i < WRITERS; i++) CHECK(pthread_create(&writers[i].thread, NULL, write_notes, &writers[i]) == 0);
    int64_t longest = 0;
    int losses = 0;
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int i = 0; i < WRITERS; i++) sem_post(&writers[i].frames);
        const int before = reports;
        if (merges) ADVANCING(quire_context_merge(reader.context, &error));
        draw(&reader);
        if (chance(10)) fetch_something(&reader);
        if (!merges && chance(10)) ADVANCING(quire_context_process(reader.context, &error));
        CHECK(merges || reports == before);
        for (int i = 0; i < WRITERS; i++) sem_wait(&writers[i].done);
        CHECK(!merges || !quire_context_has_lost_moment(reader.context));
        reader.ahead += quire_context_has_lost_moment(reader.context);
        longest = greater(longest, log_size(store));
    }
    for (int i = 0; i < WRITERS; i++) pthread_join(writers[i].thread, NULL);
    losses += quire_context_has_lost_moment(reader.context);
    ADVANCING(quire_context_merge(reader.context, &error));
    CHECK(!quire_context_has_lost_moment(reader.context));
    compare(&reader, store);
    const bool differs = longest >= 8 * (int64_t)limit + COMMITS_ON_THE_WAY || losses != !merges;
    printf("  %s, limit %llu KB: the log has at most %.2f times that; %ld of %d frames without a moment, %ld rows gone, seed %llu%s\n",
        merges ? "merges once per frame" : "never merges", (unsigned long long)limit >> 10, (double)longest / (double)limit,
        reader.ahead, FRAMES, reader.gone, (unsigned long long)seed, differs ? ": DIFFERS" : "");
    for (int i = 0; i < WINDOW; i++) quire_object_release(reader.held[i]);
    quire_results_release(reader.results);
    quire_context_release(reader.context);
    for (int i = 0; i < WRITERS; i++) stop_writing(&writers[i]);
    OK(quire_store_close(store, &error));
    quire_store_release(store);
    OK(quire_store_delete(path, QUIRE_NUL, &error));
    return differs;
}

int scroll(int runs, uint64_t most_limit, uint64_t seed) {
    int differences = 0, count = 0;
    while (count < COUNT_OF(limits) && limits[count] <= most_limit) count++;
    for (int i = 0; i < runs; i++) differences += run(limits[i / 2 % (count ? count : 1)], i % 2 == 0, seed + (uint64_t)i);
    return differences;
}
