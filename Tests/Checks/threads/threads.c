/*
 * Threads with a context each on one store: random inserts, changes, deletes, saves, merges and batch requests at once.
 *
 *   threads [--steps N] [--seed S]
 *
 * Each thread does so many steps, 400 unless told otherwise.
 *
 * Every save must end with a status that is to be expected; whenever a context has nothing to merge it must show one
 * state of the store; and at the end the file must be the sum of what the threads say they have saved. Runs under the
 * thread sanitizer too (script/check threads). The seed decides what each thread wants to do, not which thread is first.
 */
#include "dice.h"
#include "threads.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

quire_fetch_request *all_entries, *all_entry_ids, *some_entries, *fresh_entries;
quire_store *store;
static teller tellers[TELLERS];
static atomic_long step_count;
/* Posted for each step that a thread has done. */
static sem_t steps_to_come;
static uint64_t seed;
static char folder[64], path[80];
static _Thread_local quire_error *error;

#define OK(call) ((call) == QUIRE_OK ? (void)0 : differ("%s: %s", #call, error ? quire_error_message(error).data : "no error"))
#define SQL_OK(call) ((call) == SQLITE_OK ? (void)0 : differ("%s", #call))

static void remove_folder(void) {
    const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(folder);
}

static void conclude(long differences) {
    printf("threads: %ld steps, %ld differences, seed %llu\n", atomic_load(&step_count), differences, (unsigned long long)seed);
    fflush(NULL);
}

void differ(const char *format, ...) {
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    va_list arguments;
    pthread_mutex_lock(&alone);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\nThe store is left in %s.\n", folder);
    conclude(1);
    _exit(1);
}

/* --- Handles that change hands. */

typedef struct left_handle {
    quire_object *object;
    quire_list *list;
    quire_results *results;
} left_handle;

static left_handle left[32];
static pthread_mutex_t left_mutex = PTHREAD_MUTEX_INITIALIZER;

static void release_left(left_handle handle) {
    quire_object_release(handle.object);
    quire_list_release(handle.list);
    quire_results_release(handle.results);
}

static void leave(left_handle handle) {
    const int place = random_below(COUNT_OF(left));
    pthread_mutex_lock(&left_mutex);
    const left_handle other = left[place];
    left[place] = handle;
    pthread_mutex_unlock(&left_mutex);
    release_left(other);
}

void leave_object(quire_object *object) { leave((left_handle){.object = object}); }
void leave_list(quire_list *list) { leave((left_handle){.list = list}); }
void leave_results(quire_results *results) { leave((left_handle){.results = results}); }

/* --- The store. */

static void add_attribute(quire_model *model, const char *entity, const char *name, quire_attribute_type type) {
    const quire_value zero = quire_value_integer(0);
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    if (type == QUIRE_TYPE_INTEGER_64) options.default_value = &zero;
    OK(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, &options, &error));
}

static void relate(
    quire_model *model, const char *entity, const char *name, const char *destination, const char *inverse, bool is_to_many,
    bool is_ordered, quire_delete_rule rule) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.is_to_many = is_to_many;
    options.is_ordered = is_ordered;
    options.inverse = inverse;
    options.delete_rule = rule;
    OK(quire_model_add_relationship(model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options, &error));
}

static quire_model *bank_model(void) {
    static const struct { const char *entity, *name; quire_attribute_type type; } attributes[] = {
        {"Account", "number", QUIRE_TYPE_INTEGER_64}, {"Account", "balance", QUIRE_TYPE_INTEGER_64},
        {"Account", "visits", QUIRE_TYPE_INTEGER_64}, {"Entry", "amount", QUIRE_TYPE_INTEGER_64},
        {"Entry", "writer", QUIRE_TYPE_INTEGER_64}, {"Entry", "kind", QUIRE_TYPE_STRING},
        {"Entry", "memo", QUIRE_TYPE_STRING}, {"Note", "text", QUIRE_TYPE_STRING},
        {"Tag", "name", QUIRE_TYPE_STRING}, {"Label", "name", QUIRE_TYPE_STRING},
        {"Label", "uses", QUIRE_TYPE_INTEGER_64}, {"Stamp", "mark", QUIRE_TYPE_INTEGER_64},
        {"Stamp", "value", QUIRE_TYPE_INTEGER_64}, {"Stamp", "text", QUIRE_TYPE_STRING}};
    static const char *const entities[] = {"Account", "Entry", "Label", "Note", "Stamp", "Tag"}, *const unique[] = {"name"};
    quire_model *model = quire_model_create();
    for (int i = 0; i < COUNT_OF(entities); i++) OK(quire_model_add_entity(model, entities[i], QUIRE_NUL, NULL, &error));
    for (int i = 0; i < COUNT_OF(attributes); i++)
        add_attribute(model, attributes[i].entity, attributes[i].name, attributes[i].type);
    relate(model, "Account", "entries", "Entry", "account", true, false, QUIRE_DELETE_CASCADE);
    relate(model, "Entry", "account", "Account", "entries", false, false, QUIRE_DELETE_NULLIFY);
    relate(model, "Entry", "notes", "Note", "entry", true, true, QUIRE_DELETE_CASCADE);
    relate(model, "Note", "entry", "Entry", "notes", false, false, QUIRE_DELETE_NULLIFY);
    relate(model, "Entry", "tags", "Tag", "entries", true, false, QUIRE_DELETE_NULLIFY);
    relate(model, "Tag", "entries", "Entry", "tags", true, false, QUIRE_DELETE_NULLIFY);
    OK(quire_model_add_uniqueness_constraint(model, "Label", QUIRE_NUL, unique, 1, &error));
    return model;
}

static void fill(quire_context *context, const char *entity, const char *key, int count, int64_t balance) {
    for (int i = 1; i <= count; i++) {
        quire_object *object = NULL;
        const quire_value number = quire_value_integer(i), amount = quire_value_integer(balance);
        char name[16];
        snprintf(name, sizeof name, "%s %d", entity, i);
        const quire_value text = quire_value_text(name);
        OK(quire_context_insert(context, entity, QUIRE_NUL, &object, &error));
        if (quire_object_id(object) != i) differ("%s %d has the id %lld", entity, i, (long long)quire_object_id(object));
        if (key) OK(quire_object_set(object, key, QUIRE_NUL, strcmp(key, "name") ? &number : &text, &error));
        if (balance) OK(quire_object_set(object, "balance", QUIRE_NUL, &amount, &error));
        quire_object_release(object);
    }
}

static quire_fetch_request *entries(const char *format) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create("Entry", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "kind", QUIRE_NUL, false, &error));
    OK(quire_fetch_request_add_sort(request, "amount", QUIRE_NUL, true, &error));
    if (format) {
        quire_predicate *predicate = NULL;
        OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
        OK(quire_fetch_request_set_predicate(request, predicate, &error));
        quire_predicate_release(predicate);
    }
    return request;
}

static quire_model *open_bank(void) {
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/quire-threads-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder)) differ("No folder can be made in %s", parent ? parent : "/tmp");
    snprintf(path, sizeof path, "%s/bank.sqlite", folder);
    quire_model *model = bank_model();
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    options.busy_timeout = 20;
    OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_context *context = NULL;
    OK(quire_context_create(store, &context, &error));
    fill(context, "Account", "number", ACCOUNTS, OPENING);
    fill(context, "Tag", "name", TAGS, 0);
    fill(context, "Stamp", NULL, STAMPS, 0);
    OK(quire_context_save(context, &error));
    quire_context_release(context);

    /* What is compiled of it, the folding of text and its expressions, all threads share. */
    all_entries = entries(NULL);
    all_entry_ids = entries(NULL);
    OK(quire_fetch_request_set_result_type(all_entry_ids, QUIRE_RESULT_IDS, &error));
    some_entries = entries(
        "memo MATCHES '.*[aeiou]x+.*' OR memo CONTAINS[cd] 'ÉT' OR ANY tags.name == 'Tag 3' OR notes.@count > 1 OR account.balance < 990");
    OK(quire_fetch_request_set_batch_size(some_entries, 7, &error));
    fresh_entries = entries("amount > 20");
    OK(quire_fetch_request_set_refreshes_refetched_objects(fresh_entries, true, &error));
    OK(quire_fetch_request_add_prefetch(fresh_entries, "notes", QUIRE_NUL, &error));
    return model;
}

void count_step(void) {
    atomic_fetch_add(&step_count, 1);
    sem_post(&steps_to_come);
}

/* Waits until the threads have done so many steps; gives how many that were, fewer at the end. */
static long await_steps(long count, long left) {
    for (long i = 0; i < count && i < left; i++) sem_wait(&steps_to_come);
    return count < left ? count : left;
}

/* Takes the lock of the file now and then, as another program would, so that saves and ids have to do without. */
static void disturb(long left) {
    sqlite3 *database = NULL;
    SQL_OK(sqlite3_open(path, &database));
    sqlite3_busy_timeout(database, 1000);
    while (left > 0) {
        const bool is_locked = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
        left -= await_steps(random_below(chance(10) ? 8 : 2), left);
        if (is_locked) SQL_OK(sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL));
        left -= await_steps(1 + random_below(300), left);
    }
    SQL_OK(sqlite3_close(database));
}

static void run(long steps) {
    pthread_t threads[TELLERS];
    sem_init(&steps_to_come, 0, 0);
    for (int i = 0; i < TELLERS; i++) {
        tellers[i].number = i + 1;
        tellers[i].seed = seed * (TELLERS + 1) + (uint64_t)i + 1;
        tellers[i].steps = steps;
        if (pthread_create(&threads[i], NULL, work, &tellers[i]) != 0) differ("Thread %d does not start", i);
    }
    disturb(steps * TELLERS);
    for (int i = 0; i < TELLERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNT_OF(left); i++) release_left(left[i]);
}

/* Gives whether there was anything to check. */
static bool tell(void) {
    teller sum = {0};
    for (int i = 0; i < TELLERS; i++) {
        sum.saves += tellers[i].saves;
        sum.conflicts += tellers[i].conflicts;
        sum.settled += tellers[i].settled;
        sum.busy += tellers[i].busy;
        sum.looks += tellers[i].looks;
    }
    printf("%d threads: %ld saves, of which %ld settled conflicts; %ld refused for a conflict, %ld for a lock; %ld looks at all\n",
        TELLERS, sum.saves, sum.settled, sum.conflicts, sum.busy, sum.looks);
    return sum.saves && sum.looks;
}

int main(int argument_count, char **arguments) {
    long steps = 400;
    seed = (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid();
    for (int i = 1; i < argument_count; i += 2) {
        char *end = NULL;
        const unsigned long long number = i + 1 < argument_count ? strtoull(arguments[i + 1], &end, 10) : 0;
        const bool is_number = end && *end == 0 && end != arguments[i + 1];
        if (is_number && strcmp(arguments[i], "--steps") == 0) steps = (long)number;
        else if (is_number && strcmp(arguments[i], "--seed") == 0) seed = number;
        else return fprintf(stderr, "usage: threads [--steps N] [--seed S]\n"), 2;
    }
    seed_dice(seed * (TELLERS + 1));
    quire_model *model = open_bank();
    run(steps);
    quire_fetch_request_release(all_entries);
    quire_fetch_request_release(all_entry_ids);
    quire_fetch_request_release(some_entries);
    quire_fetch_request_release(fresh_entries);
    quire_store_release(store);
    quire_model_release(model);

    sqlite3 *database = NULL;
    SQL_OK(sqlite3_open(path, &database));
    long differences = audit(database, tellers);
    SQL_OK(sqlite3_close(database));
    if (!tell()) differences++, printf("nothing was saved or looked at\n");
    if (differences) printf("The store is left in %s.\n", folder);
    else remove_folder();
    conclude(differences);
    return differences != 0;
}
