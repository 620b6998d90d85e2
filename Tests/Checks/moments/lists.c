#include "lists.h"

#include "look.h"
#include "replay.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct followed {
    side *side;
    quire_results *results;
    int query;
    /* What the change sets made of the list so far. */
    sections shown;
    /* Ids of rows that were ever shown; their places here are the slots of the replay. */
    int64_t ids[SLOTS];
    int known;
    /* The search for a slot that is free again goes around, so that two rows of one report never get the same. */
    int last;
};

#define FAIL(side, followed, format, ...) \
    fault("context %d at commit %lld, list %d: " format, (side)->writer, (long long)(side)->number, (followed)->query, __VA_ARGS__)

/* A slot of the replay. When all are taken, those of rows that are not shown are free again. */
static int slot_of(side *side, followed *followed, int64_t id) {
    for (int i = 0; i < followed->known; i++)
        if (followed->ids[i] == id) return i;
    if (followed->known < SLOTS) {
        followed->ids[followed->known] = id;
        return followed->known++;
    }
    bool is_shown[SLOTS] = {false};
    for (int i = 0; i < followed->shown.total; i++) is_shown[followed->shown.slots[i]] = true;
    for (int tried = 0; tried < SLOTS; tried++) {
        followed->last = (followed->last + 1) % SLOTS;
        if (is_shown[followed->last]) continue;
        followed->ids[followed->last] = id;
        return followed->last;
    }
    FAIL(side, followed, "more than %d rows", SLOTS);
}

static void read_sections(side *side, followed *followed, sections *out) {
    static _Thread_local int64_t ids[SLOTS];
    out->count = (int)quire_results_section_count(followed->results);
    out->total = (int)quire_results_count(followed->results);
    if (out->total > SLOTS || out->count > SLOTS) FAIL(side, followed, "%d rows in %d sections", out->total, out->count);
    int start = 0;
    for (int i = 0; i < out->count; i++) {
        quire_section section = QUIRE_SECTION_INIT;
        DO(quire_results_section(followed->results, i, &section, &failure));
        out->starts[i] = start;
        out->sizes[i] = (int)section.count;
        start += (int)section.count;
    }
    if (start != out->total) FAIL(side, followed, "the sections have %d of %d rows", start, out->total);
    DO(quire_results_ids(followed->results, 0, out->total, ids, &failure));
    for (int i = 0; i < out->total; i++) out->slots[i] = slot_of(side, followed, ids[i]);
}

static void begin_report(void *data, quire_results *results) {
    const followed *followed = data;
    (void)results;
    if (!advancing) FAIL(followed->side, followed, "%s", "its delegate is called from within a call that advances nothing");
}

/* A delegate reads while its context moves on: a row that is there has the values of the commit that is told of. */
static void read_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    static _Thread_local state view;
    const followed *followed = data;
    side *side = followed->side;
    int64_t number = 0;
    (void)results;
    if (change->kind == QUIRE_CHANGE_DELETE || side->is_changing) return;
    read_view(side, &view);
    DO(quire_object_get_integer(object, "number", QUIRE_NUL, &number, NULL, &failure));
    look_at_item(side, &view, object, (int)number);
}

followed *follow_list(side *side, int query) {
    followed *made = calloc(1, sizeof *made);
    if (!made) fault("there is no memory for a list");
    made->side = side;
    made->query = query;
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    options.section_key_path = queries[query].section;
    DO(quire_results_create(side->context, request_for(query, QUIRE_RESULT_OBJECTS), &options, &made->results, &failure));
    if (query == ALL_ITEMS) {
        quire_expression *sum = NULL;
        DO(quire_expression_parse("sum:(amount)", QUIRE_NUL, NULL, 0, &sum, &failure));
        DO(quire_results_add_aggregate(made->results, "total", QUIRE_NUL, sum, &failure));
        quire_expression_release(sum);
    }
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = made;
    delegate.will_change = begin_report;
    if (query == ALL_ITEMS) delegate.did_change_object = read_changed;
    DO(quire_results_set_delegate(made->results, &delegate, &failure));
    DO(quire_results_fetch(made->results, &failure));
    locate(side, "quire_results_fetch");
    read_sections(side, made, &made->shown);
    return made;
}

void leave_list(followed *followed) {
    if (!followed) return;
    DO(quire_results_set_delegate(followed->results, NULL, &failure));
    quire_results_release(followed->results);
    free(followed);
}

/* --- Replaying. */

static void take_told(side *side, followed *followed, const quire_changes *changes, told *told) {
    const quire_change_array rows = quire_changes_rows(changes);
    const quire_section_change_array sections = quire_changes_sections(changes);
    const quire_step_array steps = quire_changes_steps(changes);
    if (rows.count > 2 * SLOTS || sections.count > 2 * SLOTS || steps.count > 8 * SLOTS)
        FAIL(side, followed, "%lld steps", (long long)steps.count);
    told->row_count = (int)rows.count, told->section_count = (int)sections.count, told->step_count = (int)steps.count;
    for (int i = 0; i < told->row_count; i++) {
        const quire_change *row = quire_change_at(rows, i);
        told->rows[i] = (told_change){*row, slot_of(side, followed, row->id)};
    }
    for (int i = 0; i < told->section_count; i++) told->sections[i] = *quire_section_change_at(sections, i);
    for (int i = 0; i < told->step_count; i++) {
        const quire_step *step = quire_step_at(steps, i);
        told->steps[i] = *step;
        told->step_slots[i] = step->kind <= QUIRE_STEP_UPDATE_ROW ? slot_of(side, followed, step->id) : -1;
    }
}

/* The helper that replays has memory of its own, which is one for all threads. */
static pthread_mutex_t replaying = PTHREAD_MUTEX_INITIALIZER;

static void replay_told(side *side, followed *followed) {
    static told told;
    static sections stepped;
    pthread_mutex_lock(&replaying);
    for (quire_changes *changes = NULL;;) {
        DO(quire_results_next_changes(followed->results, &changes, &failure));
        if (!changes) break;
        take_told(side, followed, changes, &told);
        stepped = followed->shown;
        const char *sentence = replay_changes(&told, &followed->shown);
        if (sentence) FAIL(side, followed, "replaying its changes: %s", sentence);
        sentence = replay_steps(&told, &stepped);
        if (sentence) FAIL(side, followed, "replaying its steps: %s", sentence);
        if (!sections_equal(&stepped, &followed->shown)) FAIL(side, followed, "%s", "its steps lead to another list than its changes");
        quire_changes_release(changes);
    }
    pthread_mutex_unlock(&replaying);
}

/* An inserted object may have had a temporary id until it was saved. It keeps its slot, and the one of its new id is free again. */
static void learn_ids(followed *followed, sections *is) {
    for (int i = 0; i < is->total; i++) {
        const int old = followed->shown.slots[i], new = is->slots[i];
        if (old == new || followed->ids[old] > 0) continue;
        followed->ids[old] = followed->ids[new];
        followed->ids[new] = 0;
        is->slots[i] = old;
    }
}

/* --- Comparing. */

static void compare_rows(side *side, followed *followed, const answer *wanted) {
    static const char *const keys[] = {"number"};
    quire_page *page = NULL;
    const int count = (int)quire_results_count(followed->results);
    if (count != wanted->count) FAIL(side, followed, "it has %d rows instead of %d", count, wanted->count);
    if (queries[followed->query].section && quire_results_section_count(followed->results) != wanted->section_count)
        FAIL(side, followed, "it has %d sections instead of %d", (int)quire_results_section_count(followed->results),
            wanted->section_count);
    for (int i = 0; queries[followed->query].section && i < wanted->section_count; i++) {
        quire_section section = QUIRE_SECTION_INIT;
        DO(quire_results_section(followed->results, i, &section, &failure));
        if (section.count != wanted->sizes[i])
            FAIL(side, followed, "section %d has %d rows instead of %d", i, (int)section.count, wanted->sizes[i]);
    }
    expect(quire_results_page(followed->results, 0, count, keys, 1, 0, &page, &failure), QUIRE_OK, "a page of a list");
    const int64_t *numbers = quire_page_column(page, 0)->values;
    for (int i = 0; i < count; i++)
        if (numbers[i] != wanted->rows[i]) FAIL(side, followed, "row %d is %d instead of %d", i, (int)numbers[i], wanted->rows[i]);
    quire_page_release(page);
}

static void compare_totals(side *side, followed *followed, const answer *wanted) {
    if (followed->query != ALL_ITEMS) return;
    int row = 0;
    for (int section = -1; section < wanted->section_count; section++) {
        const int shelf = section < 0 ? -1 : side->view.items[wanted->rows[row]].shelf;
        if (section >= 0) row += wanted->sizes[section];
        quire_value value;
        DO(quire_results_aggregate(followed->results, section, "total", QUIRE_NUL, &value, &failure));
        const int64_t sum = sum_of_amounts(&side->view, shelf);
        if (value.kind != QUIRE_VALUE_INTEGER || value.as.integer != sum)
            FAIL(side, followed, "the amounts of section %d add up to %lld instead of %lld", section, (long long)value.as.integer,
                (long long)sum);
    }
}

void check_list(side *side, followed *followed) {
    static _Thread_local answer wanted;
    static _Thread_local sections is;
    find_answer(followed->query, &side->view, &wanted);
    compare_rows(side, followed, &wanted);
    compare_totals(side, followed, &wanted);
    replay_told(side, followed);
    read_sections(side, followed, &is);
    if (is.total == followed->shown.total) learn_ids(followed, &is);
    if (!sections_equal(&is, &followed->shown)) FAIL(side, followed, "%s", "its changes, replayed, lead to another list than it shows");
}
