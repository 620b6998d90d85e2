/* What a thread of the check `threads` does: at a desk, which is a context with what it holds, one piece of work at a time. */
#include "dice.h"
#include "threads.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local quire_error *error;

/* The call, which is given `&error`, succeeds or fails with the other status. Gives whether it succeeded. */
static bool either(quire_status status, quire_status other, quire_status another, const char *call) {
    if (status != QUIRE_OK && status != other && status != another)
        differ("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
    quire_error_release(error);
    error = NULL;
    return status == QUIRE_OK;
}

#define OK(call) ((void)either((call), QUIRE_OK, QUIRE_OK, #call))
/* Of an entry that another thread may have deleted: its row is gone, or the object is known to be gone. */
#define IF_THERE(call) either((call), QUIRE_NOT_FOUND, QUIRE_INVALID_STATE, #call)

typedef enum merging { BY_REQUEST, AUTOMATICALLY, BY_POLLING } merging;

typedef struct desk {
    teller *teller;
    quire_context *context;
    merging merging;
    int descriptor;
    quire_object *accounts[ACCOUNTS], *stamps[STAMPS], *tags[TAGS];
    quire_results *results;
    /* Rows of the controller, as its delegate counts them. */
    int64_t rows;
    int64_t serial;
    /* What the handler decides. */
    uint32_t stamp_policy, entry_policy;
} desk;

/* What is not saved yet, to become claims. */
enum { MOST = 6 };
typedef struct plan {
    int64_t deltas[ACCOUNTS], marks[STAMPS], amounts[MOST];
    quire_object *inserted[MOST], *deleted[MOST], *notes[4 * MOST];
    int64_t deleted_ids[MOST];
    int labels[MOST];
    int inserted_count, deleted_count, note_count, label_count;
} plan;

static void set(quire_object *object, const char *key, quire_value value) {
    OK(quire_object_set(object, key, QUIRE_NUL, &value, &error));
}

static int64_t get(quire_object *object, const char *key) {
    quire_value value;
    OK(quire_object_get(object, key, QUIRE_NUL, &value, &error));
    return value.as.integer;
}

static quire_object *insert(desk *desk, const char *entity) {
    quire_object *object = NULL;
    OK(quire_context_insert(desk->context, entity, QUIRE_NUL, &object, &error));
    return object;
}

static bool has_news(const desk *desk) {
    struct pollfd waiting = {desk->descriptor, POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
}

/* --- A desk is opened and left. */

static void row_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)results, (void)object;
    desk *desk = data;
    desk->rows += (change->kind == QUIRE_CHANGE_INSERT) - (change->kind == QUIRE_CHANGE_DELETE);
}

static void bracket_ended(void *data, quire_results *results) {
    const desk *desk = data;
    if (quire_results_count(results) != desk->rows)
        differ("a controller has %lld rows after changes that lead to %lld", (long long)quire_results_count(results),
            (long long)desk->rows);
}

static void follow(desk *desk) {
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "kind";
    options.queues_changes = chance(50);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = desk;
    delegate.did_change_object = row_changed;
    delegate.did_change = bracket_ended;
    OK(quire_results_create(desk->context, all_entries, &options, &desk->results, &error));
    OK(quire_results_set_delegate(desk->results, &delegate, &error));
    OK(quire_results_fetch(desk->results, &error));
    desk->rows = quire_results_count(desk->results);
}

static uint32_t decide(void *data, const quire_conflict *conflict) {
    const desk *desk = data;
    const quire_string entity = quire_object_entity(quire_conflict_object(conflict));
    if (strcmp(entity.data, "Account") == 0) return QUIRE_MERGE_ERROR;
    return strcmp(entity.data, "Stamp") == 0 ? desk->stamp_policy : desk->entry_policy;
}

static void open_desk(desk *desk, teller *teller) {
    desk->teller = teller;
    desk->merging = (merging)random_below(3);
    OK(quire_context_create(store, &desk->context, &error));
    OK(quire_context_set_merges_automatically(desk->context, desk->merging == AUTOMATICALLY, &error));
    OK(quire_context_descriptor(desk->context, &desk->descriptor, &error));
    for (int i = 0; i < ACCOUNTS; i++)
        OK(quire_context_object(desk->context, "Account", QUIRE_NUL, i + 1, &desk->accounts[i], &error));
    for (int i = 0; i < STAMPS; i++)
        OK(quire_context_object(desk->context, "Stamp", QUIRE_NUL, i + 1, &desk->stamps[i], &error));
    for (int i = 0; i < TAGS; i++) OK(quire_context_object(desk->context, "Tag", QUIRE_NUL, i + 1, &desk->tags[i], &error));
    follow(desk);
}

static void leave_desk(desk *desk) {
    /* A delegate is called on the thread of its context: the thread that releases the controller finds none. */
    OK(quire_results_set_delegate(desk->results, NULL, &error));
    leave_results(desk->results);
    for (int i = 0; i < ACCOUNTS; i++) leave_object(desk->accounts[i]);
    for (int i = 0; i < STAMPS; i++) leave_object(desk->stamps[i]);
    for (int i = 0; i < TAGS; i++) leave_object(desk->tags[i]);
    quire_context_release(desk->context);
}

/* --- Pieces of work. */

static quire_object *any_entry(desk *desk) {
    quire_fetch_request *const requests[] = {all_entries, all_entries, some_entries, fresh_entries};
    quire_list *list = NULL;
    quire_object *entry = NULL;
    OK(quire_context_fetch(desk->context, RANDOM_OF(requests), &list, &error));
    if (quire_list_count(list))
        IF_THERE(quire_list_object(list, random_below((int)quire_list_count(list)), &entry, &error));
    leave_list(list);
    return entry;
}

static void transfer(desk *desk, plan *plan) {
    const int from = random_below(ACCOUNTS), to = random_below(ACCOUNTS);
    const int64_t amount = 1 + random_below(50);
    if (from == to) return;
    set(desk->accounts[from], "balance", quire_value_integer(get(desk->accounts[from], "balance") - amount));
    set(desk->accounts[to], "balance", quire_value_integer(get(desk->accounts[to], "balance") + amount));
    plan->deltas[from] -= amount;
    plan->deltas[to] += amount;
}

static void stamp(desk *desk, plan *plan) {
    static const char *const keys[] = {"mark", "value", "text"};
    const int place = random_below(STAMPS);
    const int64_t mark = desk->teller->number * 1000000000ll + ++desk->serial;
    char text[32];
    stamp_text(mark, text);
    const quire_value values[] = {
        quire_value_integer(mark), quire_value_integer(stamp_value(mark)), quire_value_text(text)};
    OK(quire_object_set_values(desk->stamps[place], keys, values, 3, &error));
    plan->marks[place] = mark;
}

static void add_note(desk *desk, plan *plan, quire_object *entry) {
    if (plan->note_count == COUNT_OF(plan->notes)) return;
    quire_object *note = insert(desk, "Note");
    set(note, "text", quire_value_text("so it was"));
    IF_THERE(quire_object_add(entry, "notes", QUIRE_NUL, note, &error));
    plan->notes[plan->note_count++] = note;
}

static void insert_entry(desk *desk, plan *plan) {
    static const char *const kinds[] = {"cash", "card", "cheque", "Überweisung"}, *const memos[] = {"été", "taxes", "rent", "boxing"};
    if (plan->inserted_count == MOST) return;
    quire_object *entry = insert(desk, "Entry");
    const int64_t amount = 1 + random_below(100);
    set(entry, "amount", quire_value_integer(amount));
    set(entry, "writer", quire_value_integer(desk->teller->number));
    set(entry, "kind", quire_value_text(RANDOM_OF(kinds)));
    set(entry, "memo", quire_value_text(RANDOM_OF(memos)));
    if (chance(80)) set(entry, "account", quire_value_object(RANDOM_OF(desk->accounts)));
    if (chance(30)) OK(quire_object_add(entry, "tags", QUIRE_NUL, RANDOM_OF(desk->tags), &error));
    for (int i = random_below(3); i > 0; i--) add_note(desk, plan, entry);
    plan->amounts[plan->inserted_count] = amount;
    plan->inserted[plan->inserted_count++] = entry;
}

static void delete_entry(desk *desk, plan *plan) {
    quire_object *entry = plan->deleted_count < MOST ? any_entry(desk) : NULL;
    if (!entry) return;
    plan->deleted_ids[plan->deleted_count] = quire_object_id(entry);
    plan->deleted[plan->deleted_count++] = entry;
    IF_THERE(quire_context_delete(desk->context, entry, &error));
}

static void turn_notes(quire_object *entry) {
    quire_list *list = NULL;
    quire_value members[16];
    quire_object *notes[16];
    uint32_t count = 0;
    if (!IF_THERE(quire_object_get_objects(entry, "notes", QUIRE_NUL, &list, &error))) return;
    for (int64_t i = quire_list_count(list) - 1; i >= 0 && count < 16; i--)
        if (IF_THERE(quire_list_object(list, i, &notes[count], &error))) members[count] = quire_value_object(notes[count]), count++;
    const quire_value turned = quire_value_list(members, count);
    IF_THERE(quire_object_set(entry, "notes", QUIRE_NUL, &turned, &error));
    for (uint32_t i = 0; i < count; i++) quire_object_release(notes[i]);
    quire_list_release(list);
}

static void change_entry(desk *desk, plan *plan) {
    quire_object *entry = any_entry(desk);
    if (!entry) return;
    const quire_value account = quire_value_object(RANDOM_OF(desk->accounts)), memo = quire_value_text("moved");
    switch (random_below(6)) {
    case 0: IF_THERE(quire_object_set(entry, "memo", QUIRE_NUL, &memo, &error)); break;
    case 1: IF_THERE(quire_object_set(entry, "account", QUIRE_NUL, &account, &error)); break;
    case 2: IF_THERE(quire_object_add(entry, "tags", QUIRE_NUL, RANDOM_OF(desk->tags), &error)); break;
    case 3: IF_THERE(quire_object_remove(entry, "tags", QUIRE_NUL, RANDOM_OF(desk->tags), &error)); break;
    case 4: add_note(desk, plan, entry); break;
    case 5: turn_notes(entry); break;
    }
    leave_object(entry);
}

static void insert_label(desk *desk, plan *plan) {
    if (plan->label_count == MOST) return;
    char name[16];
    const int label = random_below(LABELS);
    name_label(label, name);
    quire_object *object = insert(desk, "Label");
    set(object, "name", quire_value_text(name));
    plan->labels[plan->label_count++] = label;
    quire_object_release(object);
}

static void visit(desk *desk, quire_context *context) {
    const int first = random_below(ACCOUNTS), last = first + random_below(ACCOUNTS - first);
    const quire_value bounds[] = {quire_value_integer(first + 1), quire_value_integer(last + 1)};
    static const char *const keys[] = {"visits"};
    quire_predicate *predicate = NULL;
    quire_expression *expression = NULL;
    quire_fetch_request *request = NULL;
    int64_t count = 0;
    OK(quire_predicate_parse("number BETWEEN {%@, %@}", QUIRE_NUL, bounds, 2, &predicate, &error));
    OK(quire_expression_parse("visits + 1", QUIRE_NUL, NULL, 0, &expression, &error));
    OK(quire_fetch_request_create("Account", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    const quire_value more = quire_value_expression(expression);
    if (either(quire_context_batch_update(context, request, keys, &more, 1, NULL, &count, NULL, &error), QUIRE_BUSY, QUIRE_OK,
            "a batch update")) {
        if (count != last - first + 1) differ("%lld accounts were visited instead of %d", (long long)count, last - first + 1);
        for (int i = first; i <= last; i++) desk->teller->claims.visits[i]++;
    }
    quire_fetch_request_release(request);
    quire_expression_release(expression);
    quire_predicate_release(predicate);
}

static void batch_insert(desk *desk, quire_context *context) {
    static const char *const keys[] = {"amount", "kind"};
    const quire_value amounts[] = {quire_value_integer(random_below(100)), quire_value_integer(random_below(100))};
    const quire_value kinds[] = {quire_value_text("cash"), quire_value_nil()}, *const columns[] = {amounts, kinds};
    quire_list *list = NULL;
    if (!either(quire_context_batch_insert(context, "Entry", QUIRE_NUL, keys, columns, 2, 2, NULL, NULL, &list, &error), QUIRE_BUSY,
            QUIRE_OK, "a batch insertion"))
        return;
    int64_t ids[2];
    OK(quire_list_ids(list, 0, 2, ids, &error));
    for (int i = 0; i < 2; i++) add_pair(&desk->teller->claims.inserted, ids[i], amounts[i].as.integer);
    quire_list_release(list);
}

static void batch_delete(desk *desk, quire_context *context) {
    const quire_value arguments[] = {quire_value_integer(random_below(100)), quire_value_integer(random_below(TELLERS + 1))};
    quire_predicate *predicate = NULL;
    quire_fetch_request *request = NULL;
    quire_list *list = NULL;
    OK(quire_predicate_parse("amount > %@ AND writer == %@", QUIRE_NUL, arguments, 2, &predicate, &error));
    OK(quire_fetch_request_create("Entry", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_fetch_request_set_limit(request, 4, &error));
    if (either(quire_context_batch_delete(context, request, NULL, NULL, &list, &error), QUIRE_BUSY, QUIRE_OK, "a batch deletion")) {
        for (int64_t i = 0; i < quire_list_count(list); i++) {
            int64_t id = 0;
            OK(quire_list_ids(list, i, 1, &id, &error));
            add_pair(&desk->teller->claims.deleted, id, 0);
        }
        quire_list_release(list);
    }
    quire_fetch_request_release(request);
    quire_predicate_release(predicate);
}

static void upsert_labels(desk *desk, quire_context *context) {
    static const char *const keys[] = {"name", "uses"};
    char names[3][16];
    quire_value texts[3], uses[3];
    const quire_value *const columns[] = {texts, uses};
    int labels[3];
    for (int i = 0; i < 3; i++) {
        name_label(labels[i] = random_below(LABELS), names[i]);
        texts[i] = quire_value_text(names[i]);
        uses[i] = quire_value_integer(i);
    }
    quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
    options.upserts = true;
    if (either(quire_context_batch_insert(context, "Label", QUIRE_NUL, keys, columns, 2, 3, &options, NULL, NULL, &error), QUIRE_BUSY,
            QUIRE_OK, "an upsert"))
        for (int i = 0; i < 3; i++) desk->teller->claims.labels[labels[i]] = true;
}

/* A batch request takes what it read over, under what is pending here. Hence nothing is: see `claims`. */
static void batch(desk *desk, quire_context *context) {
    switch (random_below(4)) {
    case 0: visit(desk, context); break;
    case 1: batch_insert(desk, context); break;
    case 2: batch_delete(desk, context); break;
    case 3: upsert_labels(desk, context); break;
    }
}

/* --- Saves. */

static void keep_claims(desk *desk, const plan *plan) {
    claims *claims = &desk->teller->claims;
    for (int i = 0; i < ACCOUNTS; i++) claims->deltas[i] += plan->deltas[i];
    for (int i = 0; i < plan->inserted_count; i++) {
        const int64_t id = quire_object_id(plan->inserted[i]);
        if (quire_object_is_deleted(plan->inserted[i])) continue;
        if (id <= 0) differ("a saved entry has the id %lld", (long long)id);
        add_pair(&claims->inserted, id, plan->amounts[i]);
    }
    /* A policy may have given a deletion up. What was never saved is no claim. */
    for (int i = 0; i < plan->deleted_count; i++) {
        const bool was_new = plan->deleted_ids[i] < 0;
        if (!was_new && quire_object_is_deleted(plan->deleted[i])) add_pair(&claims->deleted, plan->deleted_ids[i], 0);
    }
    for (int i = 0; i < plan->note_count; i++)
        if (!quire_object_is_deleted(plan->notes[i])) add_pair(&claims->notes, quire_object_id(plan->notes[i]), 0);
    for (int i = 0; i < STAMPS; i++)
        if (plan->marks[i] && get(desk->stamps[i], "mark") == plan->marks[i]) add_pair(&claims->stamped, i + 1, plan->marks[i]);
    for (int i = 0; i < plan->label_count; i++) claims->labels[plan->labels[i]] = true;
}

static void release_plan(plan *plan) {
    for (int i = 0; i < plan->inserted_count; i++) leave_object(plan->inserted[i]);
    for (int i = 0; i < plan->deleted_count; i++) leave_object(plan->deleted[i]);
    for (int i = 0; i < plan->note_count; i++) leave_object(plan->notes[i]);
}

static void save(desk *desk, plan *plan) {
    teller *teller = desk->teller;
    for (int attempt = 0; attempt < 20; attempt++) {
        const quire_status status = quire_context_save(desk->context, &error);
        if (status == QUIRE_OK) {
            teller->saves++;
            teller->settled += quire_context_settled_count(desk->context) > 0;
            keep_claims(desk, plan);
            return;
        }
        const bool is_label = status == QUIRE_CONSTRAINT && plan->label_count;
        if (status != QUIRE_BUSY && status != QUIRE_CONFLICT && !is_label)
            differ("a save gives %s: %s", quire_status_name(status), error ? quire_error_message(error).data : "no error");
        quire_error_release(error);
        error = NULL;
        if (status != QUIRE_BUSY) {
            teller->conflicts++;
            break;
        }
        teller->busy++;
    }
    OK(quire_context_rollback(desk->context, &error));
}

/* Which policy there is decides what may be done, so that the claims are true: see `claims`. */
static void transact(desk *desk) {
    static const quire_merge_policy for_entries[] = {QUIRE_MERGE_STORE_WINS, QUIRE_MERGE_ROLLBACK};
    plan plan = {0};
    const uint32_t policy = (uint32_t)random_below(5);
    const bool has_handler = chance(30), decides = has_handler || policy == QUIRE_MERGE_ERROR;
    const bool is_for_entries = decides || policy == QUIRE_MERGE_STORE_WINS || policy == QUIRE_MERGE_ROLLBACK;
    quire_merge_handler handler = QUIRE_MERGE_HANDLER_INIT;
    handler.user_data = desk;
    handler.decide = decide;
    desk->stamp_policy = 1 + (uint32_t)random_below(4);
    desk->entry_policy = RANDOM_OF(for_entries);
    OK(quire_context_set_merge_policy(desk->context, policy, &error));
    OK(quire_context_set_merge_handler(desk->context, has_handler ? &handler : NULL, &error));

    for (int work = 1 + random_below(6); work > 0; work--) {
        switch (is_for_entries ? random_below(10) : 9) {
        case 0: case 1: case 2: insert_entry(desk, &plan); break;
        case 3: case 4: delete_entry(desk, &plan); break;
        case 5: case 6: case 7: change_entry(desk, &plan); break;
        case 8: insert_label(desk, &plan); break;
        case 9: stamp(desk, &plan); break;
        }
        if (chance(10)) OK(quire_context_process(desk->context, &error));
        if (chance(3)) OK(quire_context_merge(desk->context, &error));
        if (chance(5)) either(quire_context_obtain_permanent_ids(desk->context, &error), QUIRE_BUSY, QUIRE_OK, "permanent ids");
    }
    /* Last, and nothing is merged until the save: what is merged under a pending balance is lost, as the header says. */
    if (decides && chance(60)) transfer(desk, &plan);
    if (chance(12)) OK(quire_context_rollback(desk->context, &error));
    else save(desk, &plan);
    release_plan(&plan);
}

/* A context that is made for one piece of work and lives no longer. */
static void work_aside(desk *desk) {
    struct desk aside = {.teller = desk->teller, .serial = desk->serial};
    open_desk(&aside, desk->teller);
    if (chance(50)) batch(&aside, aside.context);
    else transact(&aside);
    desk->serial = aside.serial;
    leave_desk(&aside);
}

/* --- Looks. */

/*
 * With nothing pending and nothing to merge, a context shows the store as it was at one moment: what is transferred is
 * on no account twice, and its live list is what a fetch finds.
 */
static void look(desk *desk) {
    static const char *const amount[] = {"amount"};
    if (desk->merging == AUTOMATICALLY) OK(quire_context_process(desk->context, &error));
    else if (desk->merging == BY_REQUEST || has_news(desk)) OK(quire_context_merge(desk->context, &error));
    int64_t sum = 0;
    quire_list *list = NULL;
    quire_page *page = NULL;
    OK(quire_context_fetch(desk->context, all_entry_ids, &list, &error));
    const uint64_t generation = quire_context_generation(desk->context);
    for (int i = 0; i < ACCOUNTS; i++) sum += get(desk->accounts[i], "balance");
    const int64_t count = quire_list_count(list);
    const bool has_page = either(quire_list_page(list, 0, count, amount, 1, 0, &page, &error), QUIRE_NOT_FOUND, QUIRE_OK, "a page");
    const int64_t shown = quire_results_count(desk->results);
    int64_t *ids = calloc((size_t)(count + shown + 1), sizeof *ids);
    OK(quire_list_ids(list, 0, count, ids, &error));
    OK(quire_results_ids(desk->results, 0, shown, ids + count, &error));
    /* A read moves the context on when the log has become too long for its moment. */
    if (!has_news(desk) && quire_context_generation(desk->context) == generation) {
        desk->teller->looks++;
        if (sum != ACCOUNTS * OPENING) differ("the accounts of a context add up to %lld", (long long)sum);
        if (count != shown || memcmp(ids, ids + count, sizeof *ids * (size_t)count) != 0)
            differ("a controller shows %lld rows where a fetch finds %lld, or others", (long long)shown, (long long)count);
        if (!has_page) differ("a row is gone, and nobody says so");
    }
    free(ids);
    quire_page_release(page);
    quire_list_release(list);
}

static void follow_again(desk *desk) {
    quire_changes *changes = NULL;
    if (quire_results_next_changes(desk->results, &changes, NULL) == QUIRE_OK) quire_changes_release(changes);
    if (chance(50)) return;
    OK(quire_results_set_delegate(desk->results, NULL, &error));
    leave_results(desk->results);
    follow(desk);
}

void *work(void *argument) {
    teller *teller = argument;
    desk desk = {0};
    seed_dice(teller->seed);
    open_desk(&desk, teller);
    for (long step = 0; step < teller->steps; step++) {
        const int kind = random_below(100);
        if (kind < 60) transact(&desk);
        else if (kind < 70) batch(&desk, desk.context);
        else if (kind < 75) work_aside(&desk);
        else if (kind < 95) look(&desk);
        else if (kind < 97) follow_again(&desk);
        else if (kind < 98) OK(quire_context_refresh_all(desk.context, &error));
        else if (kind < 99) OK(quire_context_rollback(desk.context, &error));
        else {
            leave_desk(&desk);
            open_desk(&desk, teller);
        }
        count_step();
    }
    leave_desk(&desk);
    return NULL;
}
