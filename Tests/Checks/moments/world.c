#include "world.h"

#include "dice.h"
#include "trial.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const names[NAMES] = {"Ann", "ann", "Bob", "\xC3\x84sop", "Zoe", ""};

setting current;
quire_store *stores[2];
char store_path[128];
int64_t tag_ids[TAGS], commit_ids[WRITERS];
_Thread_local quire_error *failure;
_Thread_local int advancing;

static quire_model *model;

/* --- Failing. */

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

void fault(const char *format, ...) {
    char sentence[1000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    /* Only the first thread gets through; the others wait for the end of the process. */
    pthread_mutex_lock(&telling);
    differ("%s", sentence);
}

void expect(quire_status status, quire_status wanted, const char *call) {
    if (status != wanted)
        fault("%s gives %s: %s", call, quire_status_name(status), failure ? quire_error_message(failure).data : "no error");
    quire_error_release(failure);
    failure = NULL;
}

quire_status forgiven(quire_status status) {
    quire_error_release(failure);
    failure = NULL;
    return status;
}

/* --- Commits. */

static state *kept[KEPT];
static _Atomic int64_t newest;
static pthread_mutex_t committing;
static pthread_rwlock_t looking_up = PTHREAD_RWLOCK_INITIALIZER;

int64_t number_of(const state *state) {
    int64_t number = 0;
    for (int i = 0; i < WRITERS; i++)
        if (state->numbers[i] > number) number = state->numbers[i];
    return number;
}

int64_t newest_number(void) { return atomic_load(&newest); }

/* A reader that is far behind finds another commit in its place. */
bool read_state(int64_t number, state *out) {
    pthread_rwlock_rdlock(&looking_up);
    const state *found = number > 0 ? kept[number % KEPT] : NULL;
    const bool is_kept = found && number_of(found) == number;
    if (is_kept) *out = *found;
    pthread_rwlock_unlock(&looking_up);
    return is_kept;
}

static void keep(int64_t number, const state *state) {
    pthread_rwlock_wrlock(&looking_up);
    if (!kept[number % KEPT]) kept[number % KEPT] = malloc(sizeof *state);
    if (!kept[number % KEPT]) fault("there is no memory for a state");
    *kept[number % KEPT] = *state;
    pthread_rwlock_unlock(&looking_up);
}

void begin_commit(void) { pthread_mutex_lock(&committing); }
void end_commit(void) { pthread_mutex_unlock(&committing); }

void announce_commit(const state *state) {
    if (number_of(state) != newest_number() + 1) fault("the check announces commit %lld", (long long)number_of(state));
    keep(newest_number() + 1, state);
}

void file_commit(void) { atomic_fetch_add(&newest, 1); }

/* --- The store. */

static void add_attribute(const char *entity, const char *name, quire_attribute_type type, bool is_optional) {
    const quire_value zero = quire_value_integer(0);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = is_optional;
    if (type == QUIRE_TYPE_INTEGER_64) options.default_value = &zero;
    options.is_searchable = type == QUIRE_TYPE_STRING;
    expect(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, &options, &failure), QUIRE_OK, name);
}

/* The store calculates it. */
static void add_derived(const char *entity, const char *name, const char *derivation) {
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.derivation = derivation;
    expect(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &failure), QUIRE_OK,
        name);
}

static void relate(const char *entity, const char *name, const char *destination, const char *inverse, bool is_to_many) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.is_to_many = is_to_many;
    options.inverse = inverse;
    DO(quire_model_add_relationship(model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options, &failure));
}

/* Items, crates and commits are rows of one kind, so that one batch request reaches all of them. */
static void make_model(void) {
    model = quire_model_create();
    quire_entity_options row = QUIRE_ENTITY_OPTIONS_INIT;
    DO(quire_model_add_entity(model, "Row", QUIRE_NUL, NULL, &failure));
    row.parent = "Row";
    DO(quire_model_add_entity(model, "Commit", QUIRE_NUL, &row, &failure));
    DO(quire_model_add_entity(model, "Item", QUIRE_NUL, &row, &failure));
    DO(quire_model_add_entity(model, "Crate", QUIRE_NUL, &row, &failure));
    DO(quire_model_add_entity(model, "Person", QUIRE_NUL, NULL, &failure));
    DO(quire_model_add_entity(model, "Tag", QUIRE_NUL, NULL, &failure));
    add_attribute("Row", "number", QUIRE_TYPE_INTEGER_64, true);
    add_attribute("Row", "stamp", QUIRE_TYPE_INTEGER_64, true);
    add_attribute("Item", "name", QUIRE_TYPE_STRING, false);
    add_attribute("Item", "shelf", QUIRE_TYPE_INTEGER_64, true);
    add_attribute("Item", "amount", QUIRE_TYPE_INTEGER_64, true);
    add_attribute("Person", "number", QUIRE_TYPE_INTEGER_64, true);
    add_attribute("Person", "level", QUIRE_TYPE_INTEGER_64, true);
    add_derived("Person", "count", "items.@count");
    add_attribute("Tag", "number", QUIRE_TYPE_INTEGER_64, true);
    relate("Item", "owner", "Person", "items", false);
    relate("Person", "items", "Item", "owner", true);
    relate("Item", "tags", "Tag", "items", true);
    relate("Tag", "items", "Item", "tags", true);
}

static quire_object *insert_row(quire_context *context, const char *entity, int64_t number) {
    quire_object *object = NULL;
    const quire_value value = quire_value_integer(number);
    DO(quire_context_insert(context, entity, QUIRE_NUL, &object, &failure));
    DO(quire_object_set(object, "number", QUIRE_NUL, &value, &failure));
    return object;
}

/* The first commit has persons, tags and the rows of the writers. */
static void fill_store(void) {
    quire_context *context = open_context(0);
    quire_object *tags[TAGS], *commits[WRITERS];
    state first = {.numbers = {1}};
    for (int i = 0; i < WRITERS; i++) {
        quire_object *commit = insert_row(context, "Commit", -1 - i);
        const quire_value number = quire_value_integer(first.numbers[i]);
        DO(quire_object_set(commit, "stamp", QUIRE_NUL, &number, &failure));
        commits[i] = commit;
    }
    for (int i = 0; i < FIRST_PEOPLE; i++) {
        const quire_value level = quire_value_integer(i % LEVELS);
        quire_object *person = insert_row(context, "Person", i);
        DO(quire_object_set(person, "level", QUIRE_NUL, &level, &failure));
        first.people[i] = (struct person){.exists = true, .level = (uint8_t)(i % LEVELS), .changed = 1};
        quire_object_release(person);
    }
    for (int i = 0; i < TAGS; i++) tags[i] = insert_row(context, "Tag", i);
    for (int i = 0; i < CRATES; i++) quire_object_release(insert_row(context, "Crate", FIRST_CRATE + i));
    DO(quire_context_save(context, &failure));
    for (int i = 0; i < TAGS; i++) {
        tag_ids[i] = quire_object_id(tags[i]);
        quire_object_release(tags[i]);
    }
    for (int i = 0; i < WRITERS; i++) {
        commit_ids[i] = quire_object_id(commits[i]);
        quire_object_release(commits[i]);
    }
    announce_commit(&first);
    file_commit();
    quire_context_release(context);
}

static void remove_store(void) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    char name[160];
    for (int i = 0; i < COUNT_OF(endings); i++) {
        snprintf(name, sizeof name, "%s%s", store_path, endings[i]);
        unlink(name);
    }
}

quire_context *open_context(int store) {
    quire_context *context = NULL;
    DO(quire_context_create(stores[store], &context, &failure));
    return context;
}

/* All histories of a run have one path after each other. */
static void choose_path(int run) {
    const char *folder = getenv("TMPDIR");
    snprintf(store_path, sizeof store_path, "%.60s/quire-moments-%d.sqlite", folder ? folder : "/tmp", run);
    remove_store();
}

void remove_left(void) { choose_path((int)getpid()); }

void open_world(void) {
    choose_path((int)getppid());
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&committing, &kind);
    pthread_mutexattr_destroy(&kind);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    /* A moment that is given up for a long log would be a move that the check knows nothing of. */
    options.wal_limit = UINT64_C(4) << 30;
    options.busy_timeout = current.is_threaded ? 10000 : 20;
    const char *path = current.is_memory ? ":memory:" : store_path;
    make_model();
    DO(quire_store_open(path, QUIRE_NUL, model, &options, &stores[0], &failure));
    fill_store();
    if (current.has_foreign) DO(quire_store_open(path, QUIRE_NUL, model, &options, &stores[1], &failure));
}

void close_world(void) {
    quire_store_release(stores[1]);
    quire_store_release(stores[0]);
    quire_model_release(model);
    remove_store();
    for (int i = 0; i < KEPT; i++) free(kept[i]);
}
