/*
 * Random histories of a context with several results controllers, each change replayed.
 *
 *   histories [--steps N] [--seed S]
 *
 * In every other history there are limits and offsets, too, other requests, suspended lists, and snapshots compared.
 *
 * After each batch of changes the classic changes and the linear steps, applied to the old list, must both give the
 * controller's new list, which must equal a fresh fetch and the reference. The last line counts the histories that
 * differ; the first of them is shown shrunk. Each history runs in a process of its own, so that a crash is a difference.
 */
#include "dice.h"
#include "following.h"

#include <stdio.h>
#include <string.h>

typedef enum verb {
    INSERT, SET_AUTHOR, SET_RANK, SET_CREATED, DELETE, PROCESS, SAVE, ROLLBACK, OBTAIN_IDS, CHANGE_LISTING, CHANGE_IN_BACKGROUND,
    SUSPEND, COMPARE
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

/* Whether there are limits, other requests and so on. */
static bool is_extended;

row rows[SLOTS];
int row_count;

/* --- Running a history. */

static quire_model *new_model(void) {
    quire_model *model = quire_model_create();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    OK(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "author", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "rank", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
    OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "created", QUIRE_NUL, QUIRE_TYPE_DATE, &options, &error));
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
    case CHANGE_IN_BACKGROUND:
        change_listing_in_background(&controllers[operation->controller], operation->listing, operation->tells);
        break;
    case SUSPEND: suspend_or_resume(&controllers[operation->controller], operation->tells); break;
    case COMPARE: compare_snapshots(&controllers[operation->controller]); break;
    }
}

/* Runs in a process of its own. */
static void run_history(const void *steps, int count) {
    const operation *operations = steps;
    quire_model *model = new_model();
    quire_store *store = NULL;
    quire_context *context = NULL;
    OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
    OK(quire_context_create(store, &context, &error));
    for (int i = 0; i < CONTROLLERS; i++) follow(context, i, is_extended ? 3 * i + 1 : i);
    for (int i = 0; i < count; i++) {
        begin_step(i);
        perform(context, &operations[i]);
    }
    for (int i = 0; i < CONTROLLERS; i++) unfollow(&controllers[i]);
    for (int slot = 0; slot < row_count; slot++) quire_object_release(rows[slot].object);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
}

/* --- Making and showing histories. */

static values random_values(void) {
    const values made = {random_below(author_count), random_below(12) == 0 ? -1 : 10 * random_below(11), 43200.0 * random_below(6)};
    return made;
}

static void make_history(void *steps, int count) {
    operation *operations = steps;
    is_extended = chance(50);
    int inserted = 0;
    /* How many rows a history works on, and how long its batches are, differ from one to the next. */
    const int size = 1 + random_below(60), batch = 1 + random_below(12);
    for (int i = 0; i < count; i++) {
        operation *operation = &operations[i];
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
        operation->verb = (verb)(CHANGE_LISTING + random_below(4));
        operation->controller = random_below(CONTROLLERS);
        operation->listing = random_below(LISTINGS);
        operation->tells = random_below(3) > 0;
    }
    operations[count - 1].verb = PROCESS;
}

static void show(const void *step) {
    static const char *const verbs[] = {"insert", "set", "set", "set", "delete", "process", "save", "rollback", "obtain permanent ids",
        "list", "list in the background", "suspend or resume", "compare snapshots"};
    const operation *operation = step;
    printf("  %s", verbs[operation->verb]);
    if (operation->verb <= DELETE) printf(" row %d", operation->slot);
    if (operation->verb >= CHANGE_LISTING) printf(" in controller %d", operation->controller);
    if (operation->verb == CHANGE_LISTING || operation->verb == CHANGE_IN_BACKGROUND) printf(" %s", listings[operation->listing].name);
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

int main(int argument_count, char **arguments) {
    const trial trial = {"histories", sizeof(operation), LENGTH, make_history, run_history, NULL, show};
    return run_trial(&trial, argument_count, arguments);
}
