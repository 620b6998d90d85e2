#include "watching.h"

#include "fewest_moves.h"
#include "list_models.h"
#include "totals.h"

#include <stdlib.h>
#include <string.h>

watched watches[WATCHED];
void (*reaction)(const watched *watched);

/* --- Reading. */

void read_list(const watched *watched, named_sections *out) {
    static int64_t ids[SLOTS];
    sections *list = &out->list;
    list->count = (int)quire_results_section_count(watched->results);
    list->total = (int)quire_results_count(watched->results);
    if (list->total > SLOTS || list->count > SLOTS) FAIL(watched, "%d rows in %d sections", list->total, list->count);
    int start = 0;
    for (int section = 0; section < list->count; section++) {
        quire_section info = QUIRE_SECTION_INIT;
        OK(quire_results_section(watched->results, section, &info, &error));
        if (info.start != start) FAIL(watched, "section %d starts at %lld", section, (long long)info.start);
        if (info.name.size >= sizeof out->names[0]) FAIL(watched, "a name of %zu bytes", info.name.size);
        memcpy(out->names[section], info.name.data, info.name.size + 1);
        list->starts[section] = start;
        list->sizes[section] = (int)info.count;
        start += (int)info.count;
    }
    if (start != list->total) FAIL(watched, "the sections do not add up");
    OK(quire_results_ids(watched->results, 0, list->total, ids, &error));
    for (int place = 0; place < list->total; place++) {
        list->slots[place] = slot_of_id(watched->query.kind, ids[place]);
        if (list->slots[place] < 0) FAIL(watched, "row %d has the unknown id %lld", place, (long long)ids[place]);
    }
}

void take_told(const watched *watched, const quire_changes *changes, told *told) {
    const quire_change_array rows = quire_changes_rows(changes);
    const quire_section_change_array sections = quire_changes_sections(changes);
    const quire_step_array steps = quire_changes_steps(changes);
    if (rows.count > 2 * SLOTS || sections.count > 2 * SLOTS || steps.count > 8 * SLOTS)
        FAIL(watched, "%lld steps", (long long)steps.count);
    const int kind = watched->query.kind;
    for (int64_t i = 0; i < rows.count; i++) {
        const quire_change *row = quire_change_at(rows, i);
        told->rows[i] = (told_change){*row, slot_of_id(kind, row->id)};
    }
    for (int64_t i = 0; i < sections.count; i++) told->sections[i] = *quire_section_change_at(sections, i);
    for (int64_t i = 0; i < steps.count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        told->steps[i] = *step;
        told->step_slots[i] = step->kind <= QUIRE_STEP_UPDATE_ROW ? slot_of_id(kind, step->id) : -1;
    }
    told->row_count = (int)rows.count, told->section_count = (int)sections.count, told->step_count = (int)steps.count;
}

/* --- Checking what was told. */

/* For each new section the old one that it is: those that neither went nor came, in their order. */
static void match_sections(const watched *watched, const told *told, const sections *old, const sections *new, int *matching) {
    bool goes[SLOTS] = {false}, comes[SLOTS] = {false};
    for (int i = 0; i < told->section_count; i++) {
        const quire_section_change *change = &told->sections[i];
        (change->kind == QUIRE_CHANGE_DELETE ? goes : comes)[change->index] = true;
    }
    int next = 0;
    for (int section = 0; section < new->count; section++) {
        while (!comes[section] && next < old->count && goes[next]) next++;
        matching[section] = comes[section] || next == old->count ? -1 : next++;
        if (!comes[section] && matching[section] < 0) FAIL(watched, "section %d is neither old nor new", section);
    }
}

void check_moves(const watched *watched, const told *told, const sections *old, const sections *new, bool is_free) {
    static int matching[SLOTS];
    bool may_move[SLOTS];
    memset(may_move, is_free, sizeof may_move);
    int moves = 0;
    for (int i = 0; i < told->row_count; i++) {
        const told_change *row = &told->rows[i];
        moves += row->change.kind == QUIRE_CHANGE_MOVE;
        if (row->change.kind >= QUIRE_CHANGE_MOVE) may_move[row->slot] = true;
    }
    match_sections(watched, told, old, new, matching);
    const int fewest = fewest_moves(old, new, matching, may_move);
    if (fewest < 0) FAIL(watched, "a row lost its place and is not told of");
    if (moves != fewest) FAIL(watched, "%d moves are told where %d would do", moves, fewest);
}

static int told_kind;
static int told_slot(int64_t id) { return slot_of_id(told_kind, id); }

void check_told(const watched *watched, const told *told, const quire_changes *changes, const sections *old, const sections *new) {
    static sections replayed;
    replayed = *old;
    const char *fault = replay_changes(told, &replayed);
    if (fault) FAIL(watched, "%s", fault);
    if (!sections_equal(&replayed, new)) FAIL(watched, "the changes do not lead to the new list");
    replayed = *old;
    fault = replay_steps(told, &replayed);
    if (fault) FAIL(watched, "%s", fault);
    if (!sections_equal(&replayed, new)) FAIL(watched, "the steps do not lead to the new list");
    told_kind = watched->query.kind;
    fault = apply_plans(changes, old, new, told_slot);
    if (!fault) fault = check_mapping(changes, old, new);
    if (fault) FAIL(watched, "%s", fault);
}

static bool has_name(const named_sections *sections, const char *name) {
    for (int i = 0; i < sections->list.count; i++)
        if (strcmp(sections->names[i], name) == 0) return true;
    return false;
}

/* Under one request a section that is in both lists is the same, and told of as neither gone nor come. */
static void check_sections(const watched *watched, const named_sections *new) {
    const named_sections *old = &watched->mirror;
    int changes = 0;
    for (int i = 0; i < old->list.count; i++) changes += !has_name(new, old->names[i]);
    for (int i = 0; i < new->list.count; i++) changes += !has_name(old, new->names[i]);
    for (int i = 0; i < watched->told.section_count; i++) {
        const quire_section_change *change = &watched->told.sections[i];
        const bool goes = change->kind == QUIRE_CHANGE_DELETE;
        const char *name = (goes ? old : new)->names[change->index];
        if (strcmp(name, change->name.data) != 0) FAIL(watched, "a section is told of by another name");
        if (has_name(goes ? new : old, name)) FAIL(watched, "the section %s is told of and was there all the time", name);
    }
    if (changes != watched->told.section_count) FAIL(watched, "%d sections are told of", watched->told.section_count);
}

/* --- The delegate. */

static void react(watched *watched, moment moment) {
    if (watched->reacts != moment) return;
    watched->reacts = NEVER;
    reaction(watched);
}

static void will_change(void *data, quire_results *results) {
    watched *watched = data;
    static named_sections shown;
    (void)results;
    if (watched->is_suspended) FAIL(watched, "a bracket begins while it is suspended");
    if (watched->is_open) FAIL(watched, "a bracket begins inside another");
    watched->is_open = true;
    watched->brackets++;
    watched->undrained++;
    places[watched->context].is_unchecked = true;
    watched->told.section_count = watched->told.row_count = watched->totals = 0;
    read_list(watched, &shown);
    if (!sections_equal(&shown.list, &watched->mirror.list)) FAIL(watched, "will_change does not show the old state");
    react(watched, AT_WILL_CHANGE);
}

static void section_changed(void *data, quire_results *results, const quire_section_change *change) {
    watched *watched = data;
    (void)results;
    if (!watched->is_open || watched->told.row_count) FAIL(watched, "a section is told out of place");
    watched->told.sections[watched->told.section_count++] = *change;
}

/* Which of the keys and displayed key paths a change names. */
static uint32_t named_keys(int kind, const quire_change *change) {
    uint32_t named = 0;
    for (uint32_t i = 0; i < change->key_count; i++) {
        const char *name = change->keys[i].data;
        for (int key = 0; key < KEYS; key++) named |= (uint32_t)(strcmp(name, keys[kind][key].name) == 0) << key;
        named |= (uint32_t)(strcmp(name, "author") == 0 || strcmp(name, "city") == 0) << KEYS;
        named |= (uint32_t)(strcmp(name, "tags") == 0) << (KEYS + 1);
        named |= (uint32_t)(strcmp(name, "books") == 0) << (KEYS + 2);
        for (int path = 0; path < displayed_count(kind); path++)
            named |= (uint32_t)(strcmp(name, displayed_paths[kind][path]) == 0) << (8 + path);
    }
    return named;
}

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    watched *watched = data;
    (void)results;
    if (!watched->is_open) FAIL(watched, "a row is told outside a bracket");
    const int slot = slot_of_id(watched->query.kind, change->id);
    if (slot < 0 || quire_object_id(object) != change->id) FAIL(watched, "a change concerns another object");
    if (quire_object_context(object) != places[watched->context].context) FAIL(watched, "a change concerns a stranger");
    const bool stays = change->kind == QUIRE_CHANGE_MOVE || change->kind == QUIRE_CHANGE_UPDATE;
    if (!stays && (change->key_count || change->keys)) FAIL(watched, "a row that comes or goes has keys");
    told_change *told = &watched->told.rows[watched->told.row_count++];
    *told = (told_change){*change, slot};
    told->change.keys = NULL;
    if (change->kind != QUIRE_CHANGE_DELETE) watched->is_reported[slot] = true;
    if (stays) watched->named[slot] |= named_keys(watched->query.kind, change);
    react(watched, AT_OBJECT);
}

static void did_change(void *data, quire_results *results) {
    watched *watched = data;
    (void)results;
    if (!watched->is_open) FAIL(watched, "a bracket ends that did not begin");
    if (!watched->told.row_count && !watched->told.section_count && !watched->totals) FAIL(watched, "an empty bracket");
    react(watched, AT_DID_CHANGE);
}

static void all_changes(void *data, quire_results *results, const quire_changes *changes) {
    watched *watched = data;
    static named_sections shown;
    static told again;
    (void)results;
    if (!watched->is_open) FAIL(watched, "`changes` comes before the bracket");
    read_list(watched, &shown);
    take_told(watched, changes, &again);
    if (again.row_count != watched->told.row_count || again.section_count != watched->told.section_count)
        FAIL(watched, "`changes` holds other changes than were told");
    for (int i = 0; i < again.row_count; i++) {
        again.rows[i].change.keys = NULL;
        if (memcmp(&again.rows[i].change, &watched->told.rows[i].change, sizeof(quire_change)) != 0)
            FAIL(watched, "`changes` holds another row change %d", i);
    }
    memcpy(watched->told.steps, again.steps, sizeof again.steps);
    memcpy(watched->told.step_slots, again.step_slots, sizeof again.step_slots);
    watched->told.step_count = again.step_count;
    check_told(watched, &watched->told, changes, &watched->mirror.list, &shown.list);
    if (!watched->is_changing) check_sections(watched, &shown);
    check_moves(watched, &watched->told, &watched->mirror.list, &shown.list, watched->is_changing);
    watched->is_open = false;
    /* What a delegate does now is told of in another bracket, as any change. */
    watched->is_changing = false;
    watched->mirror = shown;
    react(watched, AT_CHANGES);
}

/* --- Requests. */

static void make_request(watched *watched, const query *query) {
    quire_fetch_request_release(watched->request);
    watched->query = *query;
    OK(quire_fetch_request_create(query->is_narrow ? "Novel" : entities[query->kind], QUIRE_NUL, &watched->request, &error));
    OK(quire_fetch_request_set_includes_subentities(watched->request, !query->is_flat, &error));
    OK(quire_fetch_request_set_offset(watched->request, (uint64_t)query->offset, &error));
    OK(quire_fetch_request_set_limit(watched->request, query->limit ? (uint64_t)query->limit : QUIRE_NO_LIMIT, &error));
    quire_predicate *predicate = NULL;
    OK(quire_predicate_parse(filters[query->filter].format, QUIRE_NUL, NULL, 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(watched->request, predicate, &error));
    quire_predicate_release(predicate);
    for (int i = 0; i < query->sort_count; i++)
        OK(quire_fetch_request_add_sort(
            watched->request, query->sorts[i].path, QUIRE_NUL, !query->sorts[i].is_ascending, &error));
}

quire_section_rule *make_rule(const query *query) {
    const sectioning *by = &sectionings[query->section];
    if (!by->is_rule) return NULL;
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    quire_value fixed[MOST_FIXED_SECTIONS];
    for (; options.fixed_section_count < MOST_FIXED_SECTIONS && by->fixed[options.fixed_section_count]; options.fixed_section_count++) {
        const char *name = by->fixed[options.fixed_section_count];
        fixed[options.fixed_section_count] =
            by->grouping == QUIRE_GROUPING_NUMBER ? quire_value_double(atof(name)) : quire_value_text(name);
    }
    options.fixed_sections = fixed;
    options.is_descending = by->is_descending;
    options.grouping = by->grouping;
    if (by->grouping == QUIRE_GROUPING_LETTER) options.locale = "de";
    if (by->grouping == QUIRE_GROUPING_NUMBER && has_bounds(by)) options.bounds = range_bounds, options.bound_count = 2;
    else if (by->grouping == QUIRE_GROUPING_NUMBER) options.width = RANGE_WIDTH, options.origin = RANGE_ORIGIN;
    quire_section_rule *rule = NULL;
    if (!by->expression) {
        OK(quire_section_rule_create(by->key_path, QUIRE_NUL, &options, &rule, &error));
        return rule;
    }
    quire_expression *expression = NULL;
    OK(quire_expression_parse(by->expression, QUIRE_NUL, NULL, 0, &expression, &error));
    OK(quire_section_rule_create_with_expression(expression, &options, &rule, &error));
    quire_expression_release(expression);
    return rule;
}

/* A fresh fetch has the order of the list when the section key goes before the sort keys. */
void put_section_first(watched *watched) {
    const query *query = &watched->query;
    const sectioning *by = &sectionings[query->section];
    if (by->is_rule || !by->key_path || (query->sort_count && strcmp(by->key_path, query->sorts[0].path) == 0)) return;
    OK(quire_fetch_request_clear_sort(watched->request, &error));
    OK(quire_fetch_request_add_sort(watched->request, by->key_path, QUIRE_NUL, false, &error));
    for (int i = 0; i < query->sort_count; i++)
        OK(quire_fetch_request_add_sort(
            watched->request, query->sorts[i].path, QUIRE_NUL, !query->sorts[i].is_ascending, &error));
}

/* What is shown without having been told. */
static void start_anew(watched *watched) {
    read_list(watched, &watched->mirror);
    watched->drained = watched->mirror.list;
    watched->undrained = 0;
    watched->is_upset = true;
    places[watched->context].is_unchecked = true;
}

void watch(watched *watched, int context, const query *query) {
    memset(watched, 0, sizeof *watched);
    watched->context = context;
    make_request(watched, query);
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    quire_section_rule *rule = make_rule(query);
    options.section_rule = rule;
    if (!rule) options.section_key_path = sectionings[query->section].key_path;
    OK(quire_results_create(places[context].context, watched->request, &options, &watched->results, &error));
    quire_section_rule_release(rule);
    add_totals(watched);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = watched;
    delegate.will_change = will_change;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = object_changed;
    delegate.did_change_aggregates = totals_changed;
    delegate.did_change = did_change;
    delegate.changes = all_changes;
    OK(quire_results_set_delegate(watched->results, &delegate, &error));
    OK(quire_results_fetch(watched->results, &error));
    put_section_first(watched);
    start_anew(watched);
}

void unwatch(watched *watched) {
    quire_snapshot_release(watched->snapshot);
    quire_results_release(watched->results);
    quire_fetch_request_release(watched->request);
}

void ask(watched *watched, const query *query) {
    if (watched->is_suspended) return;
    /* What is pending is told under the old request. */
    OK(quire_context_process(places[watched->context].context, &error));
    make_request(watched, query);
    watched->is_changing = true;
    quire_section_rule *rule = make_rule(query);
    const char *key_path = sectionings[query->section].key_path;
    if (rule) OK(quire_results_set_request_with_rule(watched->results, watched->request, rule, &error));
    else OK(quire_results_set_request(watched->results, watched->request, key_path, key_path ? QUIRE_NUL : 0, &error));
    watched->is_changing = false;
    quire_section_rule_release(rule);
    put_section_first(watched);
    watched->is_upset = true;
    watched->is_same_request = false;
    places[watched->context].is_unchecked = true;
}

void display(watched *watched, uint32_t paths) {
    const char *shown[DISPLAYED];
    size_t count = 0;
    const int kind = watched->query.kind;
    watched->displayed = paths & ((1u << displayed_count(kind)) - 1);
    for (int i = 0; i < DISPLAYED; i++)
        if (watched->displayed >> i & 1) shown[count++] = displayed_paths[kind][i];
    OK(quire_results_set_displayed_key_paths(watched->results, shown, count, &error));
    watched->is_upset = true;
}

void suspend_or_resume(watched *watched, bool tells) {
    watched->is_upset = true;
    places[watched->context].is_unchecked = true;
    if (!watched->is_suspended) {
        OK(quire_results_suspend(watched->results, &error));
        watched->is_suspended = true;
        return;
    }
    /* What is pending is withheld before it resumes. */
    OK(quire_context_process(places[watched->context].context, &error));
    watched->is_suspended = false;
    const int brackets = watched->brackets;
    OK(quire_results_resume(watched->results, tells, &error));
    if (tells) return;
    if (watched->brackets != brackets) FAIL(watched, "it was resumed silently, and told");
    start_anew(watched);
}

void fetch_again(watched *watched) {
    OK(quire_context_process(places[watched->context].context, &error));
    const int told = watched->brackets;
    OK(quire_results_fetch(watched->results, &error));
    if (watched->brackets != told) FAIL(watched, "a fetch was told of");
    watched->is_linked = false;
    start_anew(watched);
}
