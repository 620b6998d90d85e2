/*
 * Random histories of a context with several results controllers, each change replayed.
 *
 *   histories [--steps N] [--seed S]
 *
 * After each batch of changes the classic changes and the linear steps, applied to the old list, must both give the
 * controller's new list, which must equal a fresh fetch and the reference. The last line counts the histories that
 * differ; the first of them is shown shrunk. Each history runs in a process of its own, so that a crash is a difference.
 */
#include "dice.h"
#include "replay.h"

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

typedef enum verb { INSERT, SET_AUTHOR, SET_RANK, SET_CREATED, DELETE, PROCESS, SAVE, ROLLBACK, OBTAIN_IDS } verb;

/* `slot` is the number of the inserted row. */
typedef struct operation {
    verb verb;
    int slot;
    values values;
} operation;

enum { LENGTH = 300 };

/* What a history's process tells the one that started it. */
typedef struct verdict {
    bool differs;
    int operations;
    char sentence[1024];
} verdict;

static verdict *shared;

static quire_error *error;
static row rows[SLOTS];
static int row_count;

static void differ(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void differ(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(shared->sentence, sizeof shared->sentence, format, arguments);
    va_end(arguments);
    shared->differs = true;
    _exit(0);
}

#define OK(call) succeed((call), #call)

static void succeed(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    differ("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
}

/* --- What controllers tell. */

typedef struct followed {
    int which;
    quire_results *results;
    quire_fetch_request *request;
    /* The list as replayed so far, and as it was at the beginning of the batch. */
    sections mirror, at_start;
    told told;
    bool is_open, is_reported[SLOTS];
    int brackets;
} followed;

static followed controllers[CONTROLLERS];

static int slot_of_object(const quire_object *object) {
    for (int slot = 0; slot < row_count; slot++)
        if (rows[slot].object == object) return slot;
    return -1;
}

static void note_id(row *row) {
    const int64_t id = quire_object_id(row->object);
    for (int i = 0; i < row->id_count; i++)
        if (row->ids[i] == id) return;
    if (row->id_count < 4) row->ids[row->id_count++] = id;
}

static int slot_of_id(int64_t id) {
    for (int slot = 0; slot < row_count; slot++) {
        note_id(&rows[slot]);
        for (int i = 0; i < rows[slot].id_count; i++)
            if (rows[slot].ids[i] == id) return slot;
    }
    return -1;
}

static const char *list_name(const followed *followed) { return listings[followed->which].name; }

/* The list as the controller shows it in `will_change`, by its ids: a row that a rollback forgets has no object then. */
static void read_old_sections(followed *followed, sections *out) {
    static int64_t ids[SLOTS];
    out->count = (int)quire_results_section_count(followed->results);
    out->total = (int)quire_results_count(followed->results);
    for (int section = 0; section < out->count; section++) {
        quire_section info;
        OK(quire_results_section(followed->results, section, &info, &error));
        out->starts[section] = (int)info.start;
        out->sizes[section] = (int)info.count;
    }
    OK(quire_results_ids(followed->results, 0, out->total, ids, &error));
    for (int place = 0; place < out->total; place++) out->slots[place] = slot_of_id(ids[place]);
}

/* The list as the controller shows it. Names can be checked between batches, when the reference knows all values. */
static void read_sections(followed *followed, sections *out, bool checks_names) {
    out->count = (int)quire_results_section_count(followed->results);
    out->total = 0;
    for (int section = 0; section < out->count; section++) {
        quire_section info;
        OK(quire_results_section(followed->results, section, &info, &error));
        if (info.start != out->total) differ("%s: section %d starts at %lld", list_name(followed), section, (long long)info.start);
        out->starts[section] = out->total;
        out->sizes[section] = (int)info.count;
        for (int place = 0; place < info.count; place++) {
            quire_object *object = NULL;
            OK(quire_results_object(followed->results, section, place, &object, &error));
            const int slot = slot_of_object(object);
            if (slot < 0) differ("%s: row %d.%d is an unknown object", list_name(followed), section, place);
            if (place == 0 && checks_names) {
                const char *name = section_name(&rows[slot].now, followed->which);
                if (strlen(name) != info.name.size || memcmp(name, info.name.data, info.name.size) != 0)
                    differ("%s: section %d is called %s", list_name(followed), section, info.name.data);
            }
            out->slots[out->total++] = slot;
            quire_object_release(object);
        }
    }
    if (quire_results_count(followed->results) != out->total) differ("%s: the sections do not add up", list_name(followed));
}

static void will_change(void *data, quire_results *results) {
    followed *followed = data;
    static sections shown;
    (void)results;
    if (followed->is_open) differ("%s: a bracket begins inside another", list_name(followed));
    followed->is_open = true;
    followed->brackets++;
    followed->told.section_count = followed->told.row_count = followed->told.step_count = 0;
    read_old_sections(followed, &shown);
    if (!sections_equal(&shown, &followed->mirror)) differ("%s: will_change does not show the old state", list_name(followed));
}

static void section_changed(void *data, quire_results *results, const quire_section_change *change) {
    followed *followed = data;
    (void)results;
    if (!followed->is_open) differ("%s: a section is told outside a bracket", list_name(followed));
    if (followed->told.row_count) differ("%s: a section is told after a row", list_name(followed));
    followed->told.sections[followed->told.section_count++] = *change;
}

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    followed *followed = data;
    (void)results;
    if (!followed->is_open) differ("%s: a row is told outside a bracket", list_name(followed));
    const int slot = slot_of_object(object);
    if (slot < 0) differ("%s: a change concerns an unknown object", list_name(followed));
    if (slot_of_id(change->id) != slot) differ("%s: a change has the id of another object", list_name(followed));
    followed->told.rows[followed->told.row_count++] = (told_change){*change, slot};
    followed->is_reported[slot] = true;
}

static void did_change(void *data, quire_results *results) {
    followed *followed = data;
    static sections replayed, shown;
    (void)results;
    if (!followed->is_open) differ("%s: a bracket ends that did not begin", list_name(followed));
    if (!followed->told.row_count && !followed->told.section_count) differ("%s: an empty bracket", list_name(followed));
    replayed = followed->mirror;
    const char *fault = replay_changes(&followed->told, &replayed);
    if (fault) differ("%s: %s", list_name(followed), fault);
    read_sections(followed, &shown, false);
    if (!sections_equal(&replayed, &shown)) differ("%s: the changes do not lead to the new list", list_name(followed));
}

static void all_changes(void *data, quire_results *results, const quire_changes *changes) {
    followed *followed = data;
    static sections replayed, shown;
    (void)results;
    if (!followed->is_open) differ("%s: `changes` comes before the bracket", list_name(followed));
    size_t row_changes = 0, section_changes = 0, steps = 0;
    const quire_change *row_change = quire_changes_rows(changes, &row_changes);
    quire_changes_sections(changes, &section_changes);
    const quire_step *step = quire_changes_steps(changes, &steps);
    if ((int)row_changes != followed->told.row_count || (int)section_changes != followed->told.section_count)
        differ("%s: `changes` holds other changes than were told", list_name(followed));
    for (size_t i = 0; i < row_changes; i++)
        if (memcmp(&row_change[i], &followed->told.rows[i].change, sizeof *row_change) != 0)
            differ("%s: `changes` holds another row change %zu", list_name(followed), i);
    if (steps > sizeof followed->told.steps / sizeof *step) differ("%s: %zu steps", list_name(followed), steps);
    for (size_t i = 0; i < steps; i++) {
        followed->told.steps[i] = step[i];
        followed->told.step_slots[i] = step[i].kind <= QUIRE_STEP_UPDATE_ROW ? slot_of_id(step[i].id) : -1;
    }
    followed->told.step_count = (int)steps;
    replayed = followed->mirror;
    const char *fault = replay_steps(&followed->told, &replayed);
    if (fault) differ("%s: %s", list_name(followed), fault);
    followed->is_open = false;
    read_sections(followed, &shown, false);
    if (!sections_equal(&replayed, &shown)) differ("%s: the steps do not lead to the new list", list_name(followed));
    followed->mirror = replayed;
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

static void follow(quire_context *context, int which) {
    followed *followed = &controllers[which];
    const listing *list = &listings[which];
    followed->which = which;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &followed->request, &error));
    if (list->predicate) {
        quire_predicate *predicate = NULL;
        OK(quire_predicate_parse(list->predicate, QUIRE_NUL, NULL, 0, &predicate, &error));
        OK(quire_fetch_request_set_predicate(followed->request, predicate, &error));
        quire_predicate_release(predicate);
    }
    for (int i = 0; i < 2; i++)
        OK(quire_fetch_request_add_sort(followed->request, list->sort[i], QUIRE_NUL, list->is_ascending[i], &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = list->section;
    OK(quire_results_create(context, followed->request, &options, &followed->results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = followed;
    delegate.will_change = will_change;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = object_changed;
    delegate.did_change = did_change;
    delegate.changes = all_changes;
    OK(quire_results_set_delegate(followed->results, &delegate, &error));
    OK(quire_results_fetch(followed->results, &error));
    read_sections(followed, &followed->mirror, true);
    followed->at_start = followed->mirror;

    /* The fresh fetch has the order of the list: the section key goes before the sort keys. */
    if (list->section && strcmp(list->section, list->sort[0]) != 0) {
        OK(quire_fetch_request_clear_sort(followed->request, &error));
        OK(quire_fetch_request_add_sort(followed->request, list->section, QUIRE_NUL, true, &error));
        for (int i = 0; i < 2; i++)
            OK(quire_fetch_request_add_sort(followed->request, list->sort[i], QUIRE_NUL, list->is_ascending[i], &error));
    }
}

static bool is_in(const sections *list, int slot) {
    for (int i = 0; i < list->total; i++)
        if (list->slots[i] == slot) return true;
    return false;
}

static void check_controller(quire_context *context, followed *followed) {
    static sections expected, shown;
    const char *name = list_name(followed);
    if (followed->is_open) differ("%s: a bracket did not end", name);
    expected_sections(rows, row_count, followed->which, &expected);
    read_sections(followed, &shown, true);
    if (!sections_equal(&shown, &followed->mirror)) differ("%s: the list changed and nothing was told", name);
    if (!sections_equal(&shown, &expected)) differ("%s: the list is not that of the reference", name);

    quire_list *list = NULL;
    OK(quire_context_fetch(context, followed->request, &list, &error));
    if (quire_list_count(list) != shown.total) differ("%s: a fresh fetch has another count", name);
    for (int i = 0; i < shown.total; i++) {
        quire_object *object = NULL;
        OK(quire_list_object(list, i, &object, &error));
        if (object != rows[shown.slots[i]].object) differ("%s: a fresh fetch has another object at %d", name, i);
        quire_object_release(object);
    }
    quire_list_release(list);

    for (int slot = 0; slot < row_count; slot++) {
        const row *row = &rows[slot];
        const bool changed = row->existed_before != row->exists || !values_equal(&row->before, &row->now);
        const bool stayed = is_in(&followed->at_start, slot) && is_in(&shown, slot);
        if (stayed && !changed && !row->was_touched && followed->is_reported[slot])
            differ("%s: row %d was told and did not change", name, slot);
        if (stayed && changed && !followed->is_reported[slot]) differ("%s: row %d changed and was not told", name, slot);
    }
    followed->at_start = shown;
    memset(followed->is_reported, 0, sizeof followed->is_reported);
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
    }
}

/* Runs in a process of its own. */
static void run_history(const operation *operations, int count) {
    quire_model *model = new_model();
    quire_store *store = NULL;
    quire_context *context = NULL;
    OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    OK(quire_context_create(store, &context, &error));
    for (int i = 0; i < CONTROLLERS; i++) follow(context, i);
    for (int i = 0; i < count; i++) {
        shared->operations = i + 1;
        perform(context, &operations[i]);
    }
    for (int i = 0; i < CONTROLLERS; i++) {
        quire_results_release(controllers[i].results);
        quire_fetch_request_release(controllers[i].request);
    }
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
    const values made = {random_below(author_count), random_below(12) == 0 ? -1 : 10 * random_below(11), 0.5 * random_below(6)};
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
    static const char *const verbs[] = {"insert", "set", "set", "set", "delete", "process", "save", "rollback", "obtain permanent ids"};
    for (int i = 0; i < count; i++) {
        const operation *operation = &operations[i];
        printf("  %s", verbs[operation->verb]);
        if (operation->verb <= DELETE) printf(" row %d", operation->slot);
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
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t steps = 20000, seed = ((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid()) % 1000000000;
    for (int i = 1; i < argument_count; i += 2) {
        const bool is_steps = strcmp(arguments[i], "--steps") == 0, is_seed = strcmp(arguments[i], "--seed") == 0;
        if (i + 1 == argument_count || !(is_steps || is_seed) || !read_number(arguments[i + 1], is_steps ? &steps : &seed)) {
            fprintf(stderr, "usage: histories [--steps N] [--seed S]\n");
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
    printf("histories: %llu steps, %llu differences, seed %llu\n", (unsigned long long)done, (unsigned long long)differences,
        (unsigned long long)seed);
    return differences ? 1 : 0;
}
