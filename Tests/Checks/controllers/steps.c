#include "steps.h"

#include <stdio.h>
#include <string.h>

/* What delegates are to do, by controller; and in which contexts they have. */
static step reactions[WATCHED];
static bool has_reacted[CONTEXTS];

static void drop_error(void) {
    quire_error_release(error);
    error = NULL;
}

/* Whether it went well. What others have deleted, or a conflict, is nothing to wonder at. */
static bool is_done(quire_status status, const char *call) {
    if (status == QUIRE_OK) return true;
    if (status != QUIRE_NOT_FOUND && status != QUIRE_CONFLICT) succeed(status, call);
    drop_error();
    return false;
}
#define TRY(call) is_done((call), #call)

/* What a context shows has changed, for itself and those on it. */
static void spread(int context, bool is_dirty) {
    if (is_dirty) places[context].is_dirty = true;
    for (int i = 0; i < current.context_count; i++)
        if (is_on(i, context)) places[i].is_unchecked = true;
}

static void upset_refreshed(int context) {
    for (int i = 0; i < current.context_count; i++)
        if (is_on(i, context)) places[i].is_refreshed = true;
}

/* A save that fails may have been half taken over by a parent, which takes that back. */
static void upset_all(void) {
    for (int i = 0; i < current.context_count; i++) places[i].is_refreshed = true;
}

/* --- Changes. */

static void set_values(quire_object *object, const step *step) {
    const char *names[KEYS];
    quire_value values[KEYS];
    for (int i = 0; i < KEYS; i++) {
        names[i] = keys[step->kind][i].name;
        values[i] = pool_value(&keys[step->kind][i], step->values[i]);
    }
    TRY(quire_object_set_values(object, names, values, KEYS, &error));
}

static void hold(int context, const step *step, quire_object *object) {
    static const char *const ways[] = {"author", "city"}, *const back[] = {"books", "people"};
    quire_object *holder = find_thing(context, step->kind + 1, step->other);
    const quire_value value = quire_value_object(holder);
    if (!step->is_inverse || !holder) TRY(quire_object_set(object, ways[step->kind], QUIRE_NUL, &value, &error));
    else if (step->flag) TRY(quire_object_remove(holder, back[step->kind], QUIRE_NUL, object, &error));
    else TRY(quire_object_add(holder, back[step->kind], QUIRE_NUL, object, &error));
    quire_object_release(holder);
}

static void mark(int context, const step *step, quire_object *book) {
    quire_object *tag = find_thing(context, TAG, step->other);
    quire_object *owner = step->is_inverse ? tag : book, *member = step->is_inverse ? book : tag;
    const char *key = step->is_inverse ? "books" : "tags";
    if (tag && step->flag) TRY(quire_object_remove(owner, key, QUIRE_NUL, member, &error));
    else if (tag) TRY(quire_object_add(owner, key, QUIRE_NUL, member, &error));
    quire_object_release(tag);
}

static void insert(int context, const step *step) {
    quire_object *object = NULL;
    const quire_value number = quire_value_integer(step->slot);
    const char *entity = step->kind == BOOK && step->flag ? "Novel" : entities[step->kind];
    OK(quire_context_insert(places[context].context, entity, QUIRE_NUL, &object, &error));
    note_thing(step->kind, step->slot, quire_object_id(object));
    OK(quire_object_set(object, "number", QUIRE_NUL, &number, &error));
    set_values(object, step);
    if (step->kind <= PERSON && step->other >= 0) {
        struct step plain = *step;
        plain.flag = false;
        hold(context, &plain, object);
    }
    quire_object_release(object);
}

/* Columns of books, with the values of the step turned on from row to row. */
static void insert_rows(int context, const step *step, bool into_store) {
    static const char *const names[] = {"number", "title", "price"};
    quire_value numbers[MOST_THINGS], titles[MOST_THINGS], prices[MOST_THINGS];
    const quire_value *const columns[] = {numbers, titles, prices};
    for (int i = 0; i < step->count; i++) {
        numbers[i] = quire_value_integer(step->slot + i);
        titles[i] = pool_value(&keys[BOOK][0], (step->values[0] + i) % pool_size(&keys[BOOK][0]));
        prices[i] = pool_value(&keys[BOOK][1], (step->values[1] + i) % pool_size(&keys[BOOK][1]));
    }
    const size_t count = (size_t)step->count;
    int64_t inserted[MOST_THINGS], first = 0;
    quire_list *list = NULL;
    if (into_store) {
        OK(quire_context_batch_insert(places[context].context, "Book", QUIRE_NUL, names, columns, 3, count, NULL, NULL, &list, &error));
        OK(quire_list_ids(list, 0, (int64_t)count, inserted, &error));
        quire_list_release(list);
    } else {
        OK(quire_context_insert_rows(places[context].context, "Book", QUIRE_NUL, names, columns, 3, count, &first, &error));
        for (size_t i = 0; i < count; i++) inserted[i] = first + (int64_t)i;
    }
    for (size_t i = 0; i < count; i++) note_thing(BOOK, step->slot + (int)i, inserted[i]);
}

static void change_one(int context, const step *step, verb verb, int slot) {
    quire_object *object = find_thing(context, step->kind, slot);
    if (!object) return;
    const quire_value value = pool_value(&keys[step->kind][step->key], step->values[step->key]);
    switch (verb) {
    case SET: TRY(quire_object_set(object, keys[step->kind][step->key].name, QUIRE_NUL, &value, &error)); break;
    case HOLD: hold(context, step, object); break;
    case MARK: mark(context, step, object); break;
    default: TRY(quire_context_delete(places[context].context, object, &error)); break;
    }
    quire_object_release(object);
}

/* Every so many of a kind: other values for each, another holder for all, or gone. */
static void change_many(int context, const step *step) {
    struct step each = *step;
    for (int slot = step->slot; slot < MOST_THINGS; slot += step->count) {
        each.values[step->key] = (step->values[step->key] + slot) % pool_size(&keys[step->kind][step->key]);
        change_one(context, &each, step->reaction, slot);
    }
}

/* --- Saves. */

static bool save(int context) {
    const bool is_saved = TRY(quire_context_save(places[context].context, &error));
    /* As the header advises after a conflict; all objects are read anew. */
    if (!is_saved) OK(quire_context_rollback(places[context].context, &error)), upset_all();
    places[context].is_dirty = false;
    for (int i = 0; i < current.context_count; i++) {
        places[i].is_unchecked = true;
        places[i].saves_of_others += is_saved && context == root_of(context) && context != root_of(i);
    }
    return is_saved;
}

static quire_fetch_request *make_batch(const step *step) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    OK(quire_fetch_request_create(entities[step->kind], QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(filters[step->query.filter].format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    quire_predicate_release(predicate);
    return request;
}

/* Batch requests are for contexts without a parent. */
static void run_batch(int context, const step *step) {
    if (current.parents[context] >= 0) return;
    upset_refreshed(context);
    for (int i = 0; i < current.context_count; i++) places[i].is_unchecked = true;
    if (step->verb == BATCH_INSERT) {
        insert_rows(context, step, true);
        return;
    }
    quire_fetch_request *request = make_batch(step);
    if (step->verb == BATCH_DELETE) {
        OK(quire_fetch_request_set_limit(request, 3, &error));
        OK(quire_context_batch_delete(places[context].context, request, NULL, NULL, NULL, &error));
    } else {
        static const char *const ways[] = {"author", "city"};
        const bool holds = step->is_inverse && step->kind <= PERSON;
        const char *const names[] = {holds ? ways[step->kind] : keys[step->kind][step->key].name};
        quire_object *holder = holds ? find_thing(context, step->kind + 1, step->other) : NULL;
        /* One that is not saved cannot be given to saved ones. */
        const bool is_new = holder && quire_object_is_inserted(holder);
        const quire_value value =
            holds ? quire_value_object(holder) : pool_value(&keys[step->kind][step->key], step->values[step->key]);
        if (!is_new) TRY(quire_context_batch_update(places[context].context, request, names, &value, 1, NULL, NULL, NULL, &error));
        quire_object_release(holder);
    }
    quire_fetch_request_release(request);
}

/* --- Delegates that change something while they are told. */

static void do_react(const watched *watched) {
    const step *step = &reactions[watched - watches];
    const int context = watched->context;
    has_reacted[context] = true;
    if (step->reaction == SAVE) TRY(quire_context_save(places[context].context, &error));
    else if (step->reaction == PROCESS) OK(quire_context_process(places[context].context, &error));
    else change_one(context, step, step->reaction, step->slot);
    for (int i = 0; i < current.context_count; i++) places[i].is_unchecked = true;
    places[context].is_dirty = true;
}

void settle_reactions(void) {
    for (int i = 0; i < current.context_count; i++) {
        if (!has_reacted[i]) continue;
        has_reacted[i] = false;
        OK(quire_context_process(places[i].context, &error));
        if (!has_reacted[i]) places[i].is_dirty = false;
        i = -1;
    }
}

/* --- Steps. */

void perform(const step *step) {
    const int c = step->context;
    quire_context *context = places[c].context;
    watched *watched = &watches[step->controller];
    reaction = do_react;
    if (step->verb <= MANY) spread(c, true);
    /* Members that come and go again before they are told of. */
    const bool regroups = step->verb >= HOLD && step->verb <= MANY;
    if (regroups || step->verb == ROLLBACK || step->verb == UNDO || step->verb == REDO) upset_refreshed(c);
    else if (step->verb <= REDO) spread(c, false);
    switch (step->verb) {
    case INSERT: insert(c, step); return;
    case INSERT_ROWS: insert_rows(c, step, false); return;
    case SET:
    case HOLD:
    case MARK:
    case DELETE: change_one(c, step, step->verb, step->slot); return;
    case MANY: change_many(c, step); return;
    case SAVE: save(c); return;
    case SAVE_UP:
        for (int each = c; each >= 0 && save(each); each = current.parents[each]) continue;
        return;
    case REFRESH:
    case REFRESH_ALL: {
        quire_object *object = step->verb == REFRESH ? find_thing(c, step->kind, step->slot) : NULL;
        if (step->verb == REFRESH_ALL) OK(quire_context_refresh_all(context, &error));
        else if (object && (step->flag || !(quire_object_is_inserted(object) || quire_object_is_deleted(object)))) {
            const quire_status status = quire_context_refresh(context, object, step->flag, &error);
            /* A rule of what was deleted before it may have reached it when that was processed. */
            if (status == QUIRE_INVALID_STATE && quire_object_is_deleted(object)) drop_error();
            else is_done(status, "quire_context_refresh");
        }
        quire_object_release(object);
        places[c].is_dirty = true;
        upset_refreshed(c);
        return;
    }
    case BATCH_UPDATE:
    case BATCH_DELETE:
    case BATCH_INSERT: run_batch(c, step); return;
    case ASK: ask(watched, &step->query); return;
    case DISPLAY: display(watched, step->paths); return;
    case SUSPEND: suspend_or_resume(watched, step->flag); return;
    case COMPARE: compare_snapshots(watched); return;
    case FETCH_AGAIN: fetch_again(watched); return;
    case REACT:
        reactions[step->controller] = *step;
        watched->reacts = step->moment;
        return;
    case PROCESS: OK(quire_context_process(context, &error)); break;
    case MERGE: OK(quire_context_merge(context, &error)); break;
    case ROLLBACK: OK(quire_context_rollback(context, &error)); break;
    case RESET: OK(quire_context_reset(context, &error)), upset_refreshed(c); break;
    case UNDO: if (current.undoes[c]) OK(quire_context_undo(context, NULL, &error)); break;
    case REDO: if (current.undoes[c]) OK(quire_context_redo(context, NULL, &error)); break;
    }
    if (step->verb != UNDO && step->verb != REDO) places[c].is_dirty = false;
}

/* --- Showing. */

static void show_value(const step *step, int key) {
    const quire_value value = pool_value(&keys[step->kind][key], step->values[key]);
    printf(" %s ", keys[step->kind][key].name);
    if (value.kind == QUIRE_VALUE_NIL) printf("nil");
    else if (value.kind == QUIRE_VALUE_TEXT) printf("\"%s\"", value.as.text);
    else if (value.kind == QUIRE_VALUE_INTEGER) printf("%lld", (long long)value.as.integer);
    else printf("%g", value.as.real);
}

static void show_change(const step *step, verb verb) {
    static const char *const ways[] = {"author", "city"};
    if (verb == SET) show_value(step, step->key);
    if (verb == HOLD && step->is_inverse && step->other >= 0) printf(step->flag ? " left by %d" : " taken by %d", step->other);
    else if (verb == HOLD && step->other < 0) printf(" %s nil", ways[step->kind]);
    else if (verb == HOLD) printf(" %s %d", ways[step->kind], step->other);
    if (verb == MARK) printf(step->flag ? " without tag %d%s" : " with tag %d%s", step->other, step->is_inverse ? ", by the tag" : "");
}

void show_step(const void *any) {
    static const char *const verbs[] = {"insert", "insert rows from", "set", "set", "set", "delete", "every so many", "process", "save",
        "save up to the store", "merge", "rollback", "refresh", "refresh all", "reset", "undo", "redo", "update in the store",
        "delete from the store", "insert into the store from", "ask", "display", "suspend or resume", "compare snapshots",
        "fetch again", "have the delegate react"};
    const step *step = any;
    if (step->verb >= ASK) printf("  controller %d: %s", step->controller, verbs[step->verb]);
    else printf("  context %d: %s", step->context, verbs[step->verb]);
    if (step->verb <= MANY || step->verb == REFRESH || step->verb == BATCH_INSERT) printf(" %s %d", entities[step->kind], step->slot);
    switch (step->verb) {
    case INSERT:
        if (step->kind == BOOK && step->flag) printf(" (a novel)");
        for (int i = 0; i < KEYS; i++) show_value(step, i);
        if (step->kind <= PERSON && step->other >= 0) printf(step->is_inverse ? " taken by %d" : " held by %d", step->other);
        break;
    case INSERT_ROWS:
    case BATCH_INSERT:
        printf(", %d of them", step->count);
        show_value(step, 0);
        show_value(step, 1);
        break;
    case MANY:
        printf(" and each %d further: %s", step->count, verbs[step->reaction]);
        show_change(step, step->reaction);
        break;
    case BATCH_UPDATE:
        printf(" %s where %s:", entities[step->kind], filters[step->query.filter].format);
        if (step->is_inverse && step->kind <= PERSON) printf(" holder %d", step->other);
        else show_value(step, step->key);
        break;
    case BATCH_DELETE: printf(" %s where %s", entities[step->kind], filters[step->query.filter].format); break;
    case ASK: printf(" "), print_query(&step->query); break;
    case DISPLAY: printf(" %#x", step->paths); break;
    case SUSPEND: printf(step->flag ? " and tell" : " silently"); break;
    case REACT:
        printf(" at %d: %s %s %d", step->moment, verbs[step->reaction], entities[step->kind], step->slot);
        show_change(step, step->reaction);
        break;
    case REFRESH: printf(step->flag ? " and merge" : ""); break;
    default: show_change(step, step->verb);
    }
    printf("\n");
}
