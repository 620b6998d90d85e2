#include "following.h"

#include "aggregates.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

followed controllers[CONTROLLERS];

static int slot_of_object(const quire_object *object) {
    for (int slot = 0; slot < row_count; slot++)
        if (rows[slot].object == object) return slot;
    return -1;
}

void note_id(row *row) {
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

/* Reads what a change set holds. */
static void take_told(const quire_changes *changes, told *told) {
    const quire_change_array rows_told = quire_changes_rows(changes);
    const quire_section_change_array sections_told = quire_changes_sections(changes);
    const quire_step_array steps = quire_changes_steps(changes);
    if (steps.count > (int64_t)(sizeof told->steps / sizeof told->steps[0])) differ("%lld steps", (long long)steps.count);
    for (int64_t i = 0; i < rows_told.count; i++) {
        const quire_change *change = quire_change_at(rows_told, i);
        told->rows[i] = (told_change){*change, slot_of_id(change->id)};
    }
    for (int64_t i = 0; i < sections_told.count; i++) told->sections[i] = *quire_section_change_at(sections_told, i);
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        told->steps[i] = *step;
        told->step_slots[i] = step->kind <= QUIRE_STEP_UPDATE_ROW ? slot_of_id(step->id) : -1;
    }
    told->row_count = (int)rows_told.count, told->section_count = (int)sections_told.count, told->step_count = (int)steps.count;
}

static const char *list_name(const followed *followed) { return listings[followed->which].name; }

/* The list as the controller shows it in `will_change`, by its ids: a row that a rollback forgets has no object then. */
static void read_old_sections(followed *followed, sections *out) {
    static int64_t ids[SLOTS];
    out->count = (int)quire_results_section_count(followed->results);
    out->total = (int)quire_results_count(followed->results);
    for (int section = 0; section < out->count; section++) {
        quire_section info = QUIRE_SECTION_INIT;
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
        quire_section info = QUIRE_SECTION_INIT;
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
    if (followed->is_suspended) differ("%s: a bracket begins while it is suspended", list_name(followed));
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

static bool names_key(const quire_change *change, const char *key) {
    for (uint32_t i = 0; i < change->key_count; i++)
        if (strcmp(change->keys[i].data, key) == 0) return true;
    return false;
}

/* What changed since the last batch is named, and of rows that come or go nothing. */
static void check_keys(const followed *followed, const quire_change *change, const row *row) {
    if (change->kind == QUIRE_CHANGE_INSERT || change->kind == QUIRE_CHANGE_DELETE) {
        if (change->key_count || change->keys) differ("%s: a row that comes or goes has keys", list_name(followed));
        return;
    }
    if (followed->is_upset || followed->brackets > 1) return;
    /* During a rollback the object knows its values, and the reference not yet. */
    quire_value author, rank, created;
    OK(quire_object_get(row->object, "author", QUIRE_NUL, &author, &error));
    OK(quire_object_get(row->object, "rank", QUIRE_NUL, &rank, &error));
    OK(quire_object_get(row->object, "created", QUIRE_NUL, &created, &error));
    const char *before = authors[row->before.author];
    const bool is_same_author = author.kind == QUIRE_VALUE_NIL ? !before : before && strcmp(before, author.as.text) == 0;
    const bool is_same_rank = rank.kind == QUIRE_VALUE_NIL ? row->before.rank < 0 : rank.as.integer == row->before.rank;
    if ((!is_same_author && !names_key(change, "author")) || (!is_same_rank && !names_key(change, "rank"))
        || (created.as.real != row->before.created && !names_key(change, "created")))
        differ("%s: a change does not name all that changed", list_name(followed));
}

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    followed *followed = data;
    (void)results;
    if (!followed->is_open) differ("%s: a row is told outside a bracket", list_name(followed));
    const int slot = slot_of_object(object);
    if (slot < 0) differ("%s: a change concerns an unknown object", list_name(followed));
    if (slot_of_id(change->id) != slot) differ("%s: a change has the id of another object", list_name(followed));
    followed->told.rows[followed->told.row_count] = (told_change){*change, slot};
    followed->told.rows[followed->told.row_count++].change.keys = NULL;
    check_keys(followed, change, &rows[slot]);
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
    const quire_change_array rows = quire_changes_rows(changes);
    const quire_step_array steps = quire_changes_steps(changes);
    if (rows.count != followed->told.row_count || quire_changes_sections(changes).count != followed->told.section_count)
        differ("%s: `changes` holds other changes than were told", list_name(followed));
    for (int64_t i = 0; i < rows.count; i++) {
        quire_change change = *quire_change_at(rows, i);
        change.keys = NULL;
        if (memcmp(&change, &followed->told.rows[i].change, sizeof change) != 0)
            differ("%s: `changes` holds another row change %lld", list_name(followed), (long long)i);
    }
    if (steps.count > (int64_t)(sizeof followed->told.steps / sizeof followed->told.steps[0]))
        differ("%s: %lld steps", list_name(followed), (long long)steps.count);
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        followed->told.steps[i] = *step;
        followed->told.step_slots[i] = step->kind <= QUIRE_STEP_UPDATE_ROW ? slot_of_id(step->id) : -1;
    }
    followed->told.step_count = (int)steps.count;
    replayed = followed->mirror;
    const char *fault = replay_steps(&followed->told, &replayed);
    if (fault) differ("%s: %s", list_name(followed), fault);
    followed->is_open = false;
    read_sections(followed, &shown, false);
    if (!sections_equal(&replayed, &shown)) differ("%s: the steps do not lead to the new list", list_name(followed));
    followed->mirror = replayed;
}

static void make_request(followed *followed, int which) {
    const listing *list = &listings[which];
    quire_fetch_request_release(followed->request);
    followed->which = which;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &followed->request, &error));
    OK(quire_fetch_request_set_offset(followed->request, (uint64_t)list->offset, &error));
    OK(quire_fetch_request_set_limit(followed->request, list->limit ? (uint64_t)list->limit : QUIRE_NO_LIMIT, &error));
    if (list->predicate) {
        quire_predicate *predicate = NULL;
        OK(quire_predicate_parse(list->predicate, QUIRE_NUL, NULL, 0, &predicate, &error));
        OK(quire_fetch_request_set_predicate(followed->request, predicate, &error));
        quire_predicate_release(predicate);
    }
    for (int i = 0; i < 2; i++)
        OK(quire_fetch_request_add_sort(followed->request, list->sort[i], QUIRE_NUL, !list->is_ascending[i], &error));
}

/* What makes the sections; NULL where it is a key path or nothing. Owned. */
static quire_section_rule *make_rule(int which) {
    const listing *list = &listings[which];
    if (!list->rule) return NULL;
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    quire_value fixed[MOST_FIXED];
    for (; options.fixed_section_count < MOST_FIXED && list->fixed[options.fixed_section_count]; options.fixed_section_count++) {
        const char *name = list->fixed[options.fixed_section_count];
        fixed[options.fixed_section_count] = list->rule == RANGE ? quire_value_integer(atoi(name)) : quire_value_text(name);
    }
    options.fixed_sections = fixed;
    options.is_descending = list->is_descending;
    if (list->rule == LETTER) options.locale = "de";
    if (list->rule == RANGE) options.width = 30, options.origin = 10;
    static const uint32_t groupings[] = {
        0, QUIRE_GROUPING_LETTER, QUIRE_GROUPING_NUMBER, QUIRE_GROUPING_DAY, QUIRE_GROUPING_VALUE};
    options.grouping = groupings[list->rule];
    quire_section_rule *rule = NULL;
    if (list->rule == HEIGHT) {
        quire_expression *expression = NULL;
        OK(quire_expression_parse("TERNARY(rank > 50, 'high', 'low')", QUIRE_NUL, NULL, 0, &expression, &error));
        OK(quire_section_rule_create_with_expression(expression, &options, &rule, &error));
        quire_expression_release(expression);
    } else {
        const char *const keys[] = {NULL, "author", "rank", "created"};
        OK(quire_section_rule_create(keys[list->rule], QUIRE_NUL, &options, &rule, &error));
    }
    return rule;
}

/* The fresh fetch has the order of the list: the section key goes before the sort keys. */
static void put_section_first(followed *followed) {
    const listing *list = &listings[followed->which];
    if (list->section && strcmp(list->section, list->sort[0]) != 0) {
        OK(quire_fetch_request_clear_sort(followed->request, &error));
        OK(quire_fetch_request_add_sort(followed->request, list->section, QUIRE_NUL, false, &error));
        for (int i = 0; i < 2; i++)
            OK(quire_fetch_request_add_sort(followed->request, list->sort[i], QUIRE_NUL, !list->is_ascending[i], &error));
    }
}

void follow(quire_context *context, int place, int which) {
    followed *followed = &controllers[place];
    make_request(followed, which);
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = listings[which].section;
    quire_section_rule *rule = make_rule(which);
    options.section_rule = rule;
    OK(quire_results_create(context, followed->request, &options, &followed->results, &error));
    quire_section_rule_release(rule);
    /* The store's thread reads no list that calculates. */
    followed->has_aggregates = place % 2 == 0;
    if (followed->has_aggregates) add_aggregates(followed->results);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = followed;
    delegate.will_change = will_change;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = object_changed;
    delegate.did_change_aggregates = aggregates_changed;
    delegate.did_change = did_change;
    delegate.changes = all_changes;
    OK(quire_results_set_delegate(followed->results, &delegate, &error));
    OK(quire_results_fetch(followed->results, &error));
    read_sections(followed, &followed->mirror, true);
    followed->at_start = followed->mirror;
    put_section_first(followed);
}

void unfollow(followed *followed) {
    quire_snapshot_release(followed->snapshot);
    quire_results_release(followed->results);
    quire_fetch_request_release(followed->request);
}

static bool is_in(const sections *list, int slot) {
    for (int i = 0; i < list->total; i++)
        if (list->slots[i] == slot) return true;
    return false;
}

/* A fresh fetch gives the same rows; with a section rule, that of another controller. */
static void fetch_anew(quire_context *context, const followed *followed, const sections *shown) {
    const char *name = list_name(followed);
    quire_section_rule *rule = make_rule(followed->which);
    if (rule) {
        static int64_t ids[SLOTS], others[SLOTS];
        quire_results *fresh = NULL;
        quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
        options.section_rule = rule;
        OK(quire_results_create(context, followed->request, &options, &fresh, &error));
        quire_section_rule_release(rule);
        OK(quire_results_fetch(fresh, &error));
        if (quire_results_count(fresh) != shown->total) differ("%s: a fresh fetch has another count", name);
        OK(quire_results_ids(fresh, 0, shown->total, ids, &error));
        OK(quire_results_ids(followed->results, 0, shown->total, others, &error));
        if (memcmp(ids, others, sizeof ids[0] * (size_t)shown->total) != 0) differ("%s: a fresh fetch has another order", name);
        quire_results_release(fresh);
        return;
    }
    quire_list *list = NULL;
    OK(quire_context_fetch(context, followed->request, &list, &error));
    if (quire_list_count(list) != shown->total) differ("%s: a fresh fetch has another count", name);
    for (int i = 0; i < shown->total; i++) {
        quire_object *object = NULL;
        OK(quire_list_object(list, i, &object, &error));
        if (object != rows[shown->slots[i]].object) differ("%s: a fresh fetch has another object at %d", name, i);
        quire_object_release(object);
    }
    quire_list_release(list);
}

void check_controller(quire_context *context, followed *followed) {
    static sections expected, shown;
    const char *name = list_name(followed);
    if (followed->is_open) differ("%s: a bracket did not end", name);
    if (followed->is_suspended) {
        read_old_sections(followed, &shown);
        if (!sections_equal(&shown, &followed->mirror)) differ("%s: the list changed while it was suspended", name);
        followed->is_upset = true;
        return;
    }
    expected_sections(rows, row_count, followed->which, &expected);
    read_sections(followed, &shown, true);
    if (!sections_equal(&shown, &followed->mirror)) differ("%s: the list changed and nothing was told", name);
    if (!sections_equal(&shown, &expected)) differ("%s: the list is not that of the reference", name);
    if (followed->has_aggregates) check_aggregates(followed->results, &expected, name);

    fetch_anew(context, followed, &shown);

    for (int slot = 0; slot < row_count; slot++) {
        const row *row = &rows[slot];
        const bool changed = row->existed_before != row->exists || !values_equal(&row->before, &row->now);
        const bool stayed = is_in(&followed->at_start, slot) && is_in(&shown, slot);
        if (followed->is_upset) break;
        if (stayed && !changed && !row->was_touched && followed->is_reported[slot] && followed->brackets < 2)
            differ("%s: row %d was told and did not change", name, slot);
        if (stayed && changed && !followed->is_reported[slot]) differ("%s: row %d changed and was not told", name, slot);
    }
    followed->at_start = shown;
    followed->brackets = 0;
    followed->is_upset = false;
    memset(followed->is_reported, 0, sizeof followed->is_reported);
}

/* Has the request read in the background. */
static int64_t begin_request(followed *followed, int which) {
    int64_t number = 0;
    make_request(followed, which);
    quire_section_rule *rule = make_rule(which);
    const char *key_path = rule ? NULL : listings[which].section;
    OK(quire_results_set_request_async(followed->results, followed->request, key_path, QUIRE_NUL, rule, &number, &error));
    quire_section_rule_release(rule);
    return number;
}

void change_listing_in_background(followed *followed, int which, bool is_late) {
    if (followed->is_suspended) return;
    quire_context *context = quire_results_context(followed->results);
    struct pollfd news = {-1, POLLIN, 0};
    OK(quire_context_descriptor(context, &news.fd, &error));
    followed->is_upset = true;
    /* One that another takes the place of is not shown. */
    if (is_late) begin_request(followed, (which + 1) % LISTINGS);
    const int64_t number = begin_request(followed, which);
    while (quire_results_request_number(followed->results) != number) {
        if (!quire_results_awaits_request(followed->results)) differ("%s: a request was lost", list_name(followed));
        poll(&news, 1, -1);
        OK(quire_context_merge(context, &error));
    }
    if (quire_results_awaits_request(followed->results)) differ("%s: it awaits what it shows", list_name(followed));
    put_section_first(followed);
}

void change_listing(followed *followed, int which) {
    if (followed->is_suspended) return;
    make_request(followed, which);
    quire_section_rule *rule = make_rule(which);
    if (rule) OK(quire_results_set_request_with_rule(followed->results, followed->request, rule, &error));
    else OK(quire_results_set_request(followed->results, followed->request, listings[which].section, QUIRE_NUL, &error));
    quire_section_rule_release(rule);
    put_section_first(followed);
    followed->is_upset = true;
}

void suspend_or_resume(followed *followed, bool tells) {
    followed->is_upset = true;
    if (!followed->is_suspended) {
        OK(quire_results_suspend(followed->results, &error));
        followed->is_suspended = true;
        return;
    }
    followed->is_suspended = false;
    const int brackets = followed->brackets;
    OK(quire_results_resume(followed->results, tells, &error));
    if (tells) return;
    if (followed->brackets != brackets) differ("%s: it was resumed silently, and told", list_name(followed));
    read_sections(followed, &followed->mirror, false);
}

void compare_snapshots(followed *followed) {
    quire_snapshot *now = NULL;
    OK(quire_results_snapshot(followed->results, &now, &error));
    if (followed->snapshot) {
        static told told;
        static sections replayed;
        for (int is_backwards = 0; is_backwards < 2; is_backwards++) {
            const quire_snapshot *from = is_backwards ? now : followed->snapshot, *to = is_backwards ? followed->snapshot : now;
            const sections *start = is_backwards ? &followed->mirror : &followed->kept;
            const sections *end = is_backwards ? &followed->kept : &followed->mirror;
            quire_changes *changes = NULL;
            OK(quire_snapshot_changes(from, to, &changes, &error));
            take_told(changes, &told);
            replayed = *start;
            const char *fault = replay_changes(&told, &replayed);
            if (fault) differ("%s: between snapshots, %s", list_name(followed), fault);
            if (!sections_equal(&replayed, end)) differ("%s: the changes between snapshots do not lead there", list_name(followed));
            replayed = *start;
            fault = replay_steps(&told, &replayed);
            if (fault) differ("%s: between snapshots, %s", list_name(followed), fault);
            if (!sections_equal(&replayed, end)) differ("%s: the steps between snapshots do not lead there", list_name(followed));
            quire_changes_release(changes);
        }
        static int64_t ids[SLOTS];
        OK(quire_snapshot_ids(followed->snapshot, 0, followed->kept.total, ids, &error));
        for (int i = 0; i < followed->kept.total; i++)
            if (slot_of_id(ids[i]) != followed->kept.slots[i]) differ("%s: a snapshot has changed", list_name(followed));
    }
    quire_snapshot_release(followed->snapshot);
    followed->snapshot = now;
    followed->kept = followed->mirror;
}
