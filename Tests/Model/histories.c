/*
 * Random histories of a context with several results controllers, each change replayed.
 *
 *   histories [--steps N] [--seed S]
 *   controllers [--steps N] [--seed S]
 *
 * Under the second name there are limits and offsets, too, other requests, suspended lists, and snapshots compared.
 *
 * After each batch of changes the classic changes and the linear steps, applied to the old list, must both give the
 * controller's new list, which must equal a fresh fetch and the reference. The last line counts the histories that
 * differ; the first of them is shown shrunk. Each history runs in a process of its own, so that a crash is a difference.
 */
#include "dice.h"
#include "following.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef enum verb {
    INSERT, SET_AUTHOR, SET_RANK, SET_CREATED, DELETE, PROCESS, SAVE, ROLLBACK, OBTAIN_IDS, CHANGE_LISTING, SUSPEND, COMPARE
} verb;

/* `slot` is the number of the inserted row. */
typedef struct operation {
    verb verb;
    int slot;
    values values;
    int controller, listing;
    bool tells;
} operation;

enum { LENGTH = 300 };

/* What a history's process tells the one that started it. */
typedef struct verdict {
    bool differs;
    int operations;
    char sentence[1024];
} verdict;

static verdict *shared;

/* Whether it goes by the name "controllers". */
static bool is_extended;

quire_error *error;
row rows[SLOTS];
int row_count;

void differ(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(shared->sentence, sizeof shared->sentence, format, arguments);
    va_end(arguments);
    shared->differs = true;
    _exit(0);
}

void succeed(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    differ("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
}

/* --- Running a history. */

static quire_model *new_model(void) {
    quire_model *model = quire_model_create();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    OK(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "author", QUIRE_NUL, QUIRE_STRING, &options, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "rank", QUIRE_NUL, QUIRE_INTEGER_64, &options, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "created", QUIRE_NUL, QUIRE_DATE, &options, &error));
    return model;
}

static void set(row *row, const char *key, quire_value value) {
    OK(quire_object_set(row->object, key, QUIRE_NUL, &value, &error));
}

static void set_values(row *row, const operation *operation) {
    const values *values = &operation->values, old = row->now;
    if (operation->verb == INSERT || operation->verb == SET_AUTHOR) {
        row->now.author = values->author;
        set(row, "author", quire_value_text(authors[values->author]));
    }
    if (operation->verb == INSERT || operation->verb == SET_RANK) {
        row->now.rank = values->rank;
        set(row, "rank", values->rank < 0 ? quire_value_nil() : quire_value_integer(values->rank));
    }
    if (operation->verb == INSERT || operation->verb == SET_CREATED) {
        row->now.created = values->created;
        set(row, "created", quire_value_date(values->created));
    }
    row->was_touched |= !values_equal(&old, &row->now);
}

static void end_batch(quire_context *context) {
    for (int slot = 0; slot < row_count; slot++) note_id(&rows[slot]);
    for (int i = 0; i < CONTROLLERS; i++) check_controller(context, &controllers[i]);
    for (int slot = 0; slot < row_count; slot++) {
        rows[slot].existed_before = rows[slot].exists;
        rows[slot].before = rows[slot].now;
        rows[slot].was_touched = false;
    }
}

static void perform(quire_context *context, const operation *operation) {
    row *row = NULL;
    if (operation->verb <= DELETE && operation->verb != INSERT) {
        for (int slot = 0; slot < row_count; slot++)
            if (rows[slot].ids[3] == operation->slot) row = &rows[slot];
        if (!row || !row->exists) return;
    }
    switch (operation->verb) {
    case INSERT:
        row = &rows[row_count++];
        memset(row, 0, sizeof *row);
        OK(quire_context_insert(context, "Quote", QUIRE_NUL, &row->object, &error));
        row->exists = true;
        row->ids[3] = operation->slot;
        note_id(row);
        set_values(row, operation);
        break;
    case SET_AUTHOR:
    case SET_RANK:
    case SET_CREATED: set_values(row, operation); break;
    case DELETE:
        OK(quire_context_delete(context, row->object, &error));
        row->exists = false;
        row->was_touched = true;
        break;
    case PROCESS:
        OK(quire_context_process(context, &error));
        end_batch(context);
        break;
    case OBTAIN_IDS:
        OK(quire_context_obtain_permanent_ids(context, &error));
        break;
    case SAVE:
        OK(quire_context_save(context, &error));
        for (int slot = 0; slot < row_count; slot++) {
            rows[slot].is_saved = rows[slot].existed = rows[slot].exists;
            rows[slot].saved = rows[slot].now;
        }
        end_batch(context);
        break;
    case ROLLBACK:
        OK(quire_context_rollback(context, &error));
        for (int slot = 0; slot < row_count; slot++) {
            rows[slot].exists = rows[slot].is_saved && rows[slot].existed;
            if (rows[slot].is_saved) rows[slot].now = rows[slot].saved;
        }
        end_batch(context);
        break;
    case CHANGE_LISTING: change_listing(&controllers[operation->controller], operation->listing); break;
    case SUSPEND: suspend_or_resume(&controllers[operation->controller], operation->tells); break;
    case COMPARE: compare_snapshots(&controllers[operation->controller]); break;
    }
}

/* Runs in a process of its own. */
static void run_history(const operation *operations, int count) {
    quire_model *model = new_model();
    quire_store *store = NULL;
    quire_context *context = NULL;
    OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    OK(quire_context_create(store, &context, &error));
    for (int i = 0; i < CONTROLLERS; i++) follow(context, i, is_extended ? 3 * i + 1 : i);
    for (int i = 0; i < count; i++) {
        shared->operations = i + 1;
        perform(context, &operations[i]);
    }
    for (int i = 0; i < CONTROLLERS; i++) unfollow(&controllers[i]);
    for (int slot = 0; slot < row_count; slot++) quire_object_release(rows[slot].object);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
}

static verdict judge(const operation *operations, int count) {
    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        run_history(operations, count);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    verdict verdict = *shared;
    if (WIFSIGNALED(status)) {
        verdict.differs = true;
        snprintf(verdict.sentence, sizeof verdict.sentence, "the process is ended by signal %d", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        verdict.differs = true;
        snprintf(verdict.sentence, sizeof verdict.sentence, "the process ends with status %d", WEXITSTATUS(status));
    }
    return verdict;
}

/* --- Making, shrinking and showing histories. */

static values random_values(void) {
    const values made = {random_below(author_count), random_below(12) == 0 ? -1 : 10 * random_below(11), 43200.0 * random_below(6)};
    return made;
}

static int make_history(operation *operations, int count) {
    int inserted = 0;
    /* How many rows a history works on, and how long its batches are, differ from one to the next. */
    const int size = 1 + random_below(60), batch = 1 + random_below(12);
    for (int i = 0; i < count; i++) {
        operation *operation = &operations[i];
        memset(operation, 0, sizeof *operation);
        operation->values = random_values();
        const int dice = random_below(100);
        if (random_below(batch) == 0) operation->verb = dice < 60 ? PROCESS : dice < 85 ? SAVE : dice < 95 ? ROLLBACK : OBTAIN_IDS;
        else if (inserted == 0 || (inserted < SLOTS - 1 && dice < (inserted < size ? 60 : 18))) operation->verb = INSERT;
        else if (dice < 30) operation->verb = DELETE;
        else operation->verb = (verb)(SET_AUTHOR + random_below(3));
        operation->slot = operation->verb == INSERT ? inserted++ : inserted ? random_below(inserted) : 0;
        if (operation->verb == DELETE && random_below(2)) operation->verb = SET_AUTHOR;
        if (!is_extended || random_below(8)) continue;
        if (operation->verb == INSERT) inserted--;
        operation->verb = (verb)(CHANGE_LISTING + random_below(3));
        operation->controller = random_below(CONTROLLERS);
        operation->listing = random_below(LISTINGS);
        operation->tells = random_below(3) > 0;
    }
    operations[count - 1].verb = PROCESS;
    return count;
}

/* Leaves out ever smaller parts while what remains still differs. */
static int shrink(operation *operations, int count, verdict *verdict_out) {
    static operation shorter[LENGTH];
    for (int part = count / 2; part > 0; part = part > 1 ? part / 2 : 0) {
        for (int from = 0; from + part <= count;) {
            memcpy(shorter, operations, sizeof *operations * (size_t)from);
            memcpy(shorter + from, operations + from + part, sizeof *operations * (size_t)(count - from - part));
            const verdict verdict = judge(shorter, count - part);
            if (!verdict.differs) {
                from += part;
                continue;
            }
            count -= part;
            memcpy(operations, shorter, sizeof *operations * (size_t)count);
            *verdict_out = verdict;
        }
    }
    return count;
}

static void show(const operation *operations, int count, const verdict *verdict) {
    static const char *const verbs[] = {"insert", "set", "set", "set", "delete", "process", "save", "rollback", "obtain permanent ids",
        "list", "suspend or resume", "compare snapshots"};
    for (int i = 0; i < count; i++) {
        const operation *operation = &operations[i];
        printf("  %s", verbs[operation->verb]);
        if (operation->verb <= DELETE) printf(" row %d", operation->slot);
        if (operation->verb >= CHANGE_LISTING) printf(" in controller %d", operation->controller);
        if (operation->verb == CHANGE_LISTING) printf(" %s", listings[operation->listing].name);
        if (operation->verb == SUSPEND) printf(operation->tells ? " and tell" : " silently");
        if (operation->verb == INSERT || operation->verb == SET_AUTHOR) {
            const char *author = authors[operation->values.author];
            printf(author ? " author \"%s\"" : " author nil", author);
        }
        if (operation->verb == INSERT || operation->verb == SET_RANK) {
            if (operation->values.rank < 0) printf(" rank nil");
            else printf(" rank %lld", (long long)operation->values.rank);
        }
        if (operation->verb == INSERT || operation->verb == SET_CREATED) printf(" created %g", operation->values.created);
        printf("\n");
    }
    printf("  %s\n", verdict->sentence);
}

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && *text && !*end && *text != '-';
}

int main(int argument_count, char **arguments) {
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    is_extended = strcmp(name, "controllers") == 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t steps = 20000, seed = ((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid()) % 1000000000;
    for (int i = 1; i < argument_count; i += 2) {
        const bool is_steps = strcmp(arguments[i], "--steps") == 0, is_seed = strcmp(arguments[i], "--seed") == 0;
        if (i + 1 == argument_count || !(is_steps || is_seed) || !read_number(arguments[i + 1], is_steps ? &steps : &seed)) {
            fprintf(stderr, "usage: %s [--steps N] [--seed S]\n", name);
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return perror("mmap"), 2;

    uint64_t done = 0, differences = 0;
    static operation operations[LENGTH];
    for (uint64_t history = 0; done < steps; history++) {
        seed_dice(seed + history * 0x2545F4914F6CDD1Du);
        const uint64_t left = steps - done;
        int count = make_history(operations, left < LENGTH ? (int)left : LENGTH);
        done += (uint64_t)count;
        verdict verdict = judge(operations, count);
        if (!verdict.differs) continue;
        if (differences++) continue;
        count = shrink(operations, verdict.operations, &verdict);
        show(operations, count, &verdict);
    }
    printf("%s: %llu steps, %llu differences, seed %llu\n", name, (unsigned long long)done, (unsigned long long)differences,
        (unsigned long long)seed);
    return differences ? 1 : 0;
}
