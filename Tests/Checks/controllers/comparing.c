#include "watching.h"

#include "dice.h"
#include "totals.h"

#include <stdio.h>
#include <string.h>

/* --- Lists against themselves. */

static void check_places(const watched *watched, const named_sections *shown) {
    static int64_t ids[SLOTS + 1], rows[SLOTS + 2], found[SLOTS + 2];
    const sections *list = &shown->list;
    const int total = list->total;
    OK(quire_results_ids(watched->results, 0, total, ids, &error));
    ids[total] = (int64_t)1 << 40;
    OK(quire_results_positions(watched->results, ids, (size_t)total + 1, found, &error));
    for (int i = 0; i < total; i++)
        if (found[i] != i) FAIL(watched, "row %d is found at %lld", i, (long long)found[i]);
    if (found[total] != -1) FAIL(watched, "an id that nobody has is found");
    for (int i = 0; i < total + 2; i++) rows[i] = i - 1;
    OK(quire_results_section_of(watched->results, rows, (size_t)total + 2, found, &error));
    if (found[0] != -1 || found[total + 1] != -1) FAIL(watched, "a row out of range has a section");
    for (int section = 0; section < list->count; section++)
        for (int row = 0; row < list->sizes[section]; row++)
            if (found[list->starts[section] + row + 1] != section) FAIL(watched, "row %d.%d is in another section", section, row);
}

static void drain(watched *watched) {
    static told told;
    int taken = 0;
    for (quire_changes *changes = NULL;; taken++) {
        OK(quire_results_next_changes(watched->results, &changes, &error));
        if (!changes) break;
        take_told(watched, changes, &told);
        const char *fault = replay_changes(&told, &watched->drained);
        if (fault) FAIL(watched, "as queued, %s", fault);
        quire_changes_release(changes);
    }
    if (taken != watched->undrained) FAIL(watched, "%d change sets are queued of %d", taken, watched->undrained);
    if (!sections_equal(&watched->drained, &watched->mirror.list)) FAIL(watched, "what is queued does not lead to the list");
    watched->undrained = 0;
}

void check_list(watched *watched) {
    static named_sections shown;
    if (watched->is_open) FAIL(watched, "a bracket did not end");
    read_list(watched, &shown);
    if (!sections_equal(&shown.list, &watched->mirror.list)) FAIL(watched, "the list changed and nothing was told");
    for (int i = 0; i < shown.list.count; i++)
        if (strcmp(shown.names[i], watched->mirror.names[i]) != 0) FAIL(watched, "section %d has got another name", i);
    check_places(watched, &shown);
    drain(watched);
}

/* --- Lists against others. */

static const char *text_of_list(const sections *list) {
    static char texts[2][300];
    static int which;
    char *text = texts[which = !which];
    int size = 0;
    for (int section = 0, place = 0; section < list->count; section++) {
        size += snprintf(text + size, size < 290 ? 290 - (size_t)size : 0, "[");
        for (int row = 0; row < list->sizes[section] && size < 270; row++)
            size += snprintf(text + size, 20, row ? " %d" : "%d", list->slots[place++]);
        size += snprintf(text + size, size < 290 ? 290 - (size_t)size : 0, "]");
        if (size >= 270) break;
    }
    return text;
}

static void check_objects(const watched *watched) {
    const sections *list = &watched->mirror.list;
    for (int section = 0; section < list->count; section++) {
        for (int row = 0; row < list->sizes[section]; row++) {
            quire_object *object = NULL;
            quire_index_path path;
            OK(quire_results_object(watched->results, section, row, &object, &error));
            if (slot_of_id(watched->query.kind, quire_object_id(object)) != list->slots[list->starts[section] + row])
                FAIL(watched, "row %d.%d is another object", section, row);
            OK(quire_results_index_path(watched->results, object, &path, &error));
            if (path.section != section || path.row != row) FAIL(watched, "row %d.%d has another index path", section, row);
            quire_object_release(object);
        }
    }
}

static void check_page(const watched *watched) {
    const int total = watched->mirror.list.total, first = random_below(total + 1), count = random_below(total - first + 1);
    const char *const columns[] = {"number"};
    quire_page *page = NULL;
    OK(quire_results_page(watched->results, first, count, columns, 1, 0, &page, &error));
    const int64_t *numbers = quire_page_column(page, 0)->values;
    for (int i = 0; i < count; i++)
        if (numbers[i] != watched->mirror.list.slots[first + i]) FAIL(watched, "a page shows other rows");
    quire_page_release(page);
}

static void check_ids(const watched *watched, const int64_t *ids, int64_t count, const char *what) {
    const sections *list = &watched->mirror.list;
    if (count != list->total) FAIL(watched, "%s has %lld rows, the list %d", what, (long long)count, list->total);
    for (int i = 0; i < count; i++)
        if (slot_of_id(watched->query.kind, ids[i]) != list->slots[i]) FAIL(watched, "%s has another row %d", what, i);
}

/* By a request, where that knows the order, and by another controller. */
static void fetch_anew(const watched *watched) {
    static int64_t ids[SLOTS];
    quire_context *context = places[watched->context].context;
    quire_section_rule *rule = make_rule(&watched->query);
    if (!rule) {
        quire_list *list = NULL;
        OK(quire_context_fetch(context, watched->request, &list, &error));
        const int64_t count = quire_list_count(list);
        if (count <= SLOTS) OK(quire_list_ids(list, 0, count, ids, &error));
        check_ids(watched, ids, count, "a fresh fetch");
        quire_list_release(list);
    }
    struct watched fresh = {.query = watched->query};
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_rule = rule;
    if (!rule) options.section_key_path = sectionings[watched->query.section].key_path;
    OK(quire_results_create(context, watched->request, &options, &fresh.results, &error));
    OK(quire_results_fetch(fresh.results, &error));
    static named_sections shown;
    read_list(&fresh, &shown);
    if (!sections_equal(&shown.list, &watched->mirror.list)) FAIL(watched, "a fresh controller has another list");
    quire_results_release(fresh.results);
    quire_section_rule_release(rule);
}

static bool is_in(const sections *list, int slot) {
    for (int i = 0; i < list->total; i++)
        if (list->slots[i] == slot) return true;
    return false;
}

static uint32_t changed_keys(const thing *before, const thing *now) {
    uint32_t changed = 0;
    for (int key = 0; key < KEYS; key++) changed |= (uint32_t)(before->values[key] != now->values[key]) << key;
    return changed | (uint32_t)(before->holder != now->holder) << KEYS | (uint32_t)(before->tags != now->tags) << (KEYS + 1);
}

/* Rows that changed, or show what changed, are told of by name, and others are not. */
static void check_reports(const watched *watched, const facts *before, const facts *now) {
    const int kind = watched->query.kind;
    for (int slot = 0; slot < MOST_THINGS; slot++) {
        const thing *old = &before->things[kind][slot], *new = &now->things[kind][slot];
        if (!old->exists || !new->exists) continue;
        if (!is_in(&watched->at_comparison, slot) || !is_in(&watched->mirror.list, slot)) continue;
        const bool is_reported = watched->is_reported[slot], is_one = watched->brackets == 1;
        const uint32_t changed = changed_keys(old, new), named = watched->named[slot];
        if (changed && !is_reported) FAIL(watched, "row %d changed and was not told of", slot);
        if (is_one && is_reported && (named & changed) != changed)
            FAIL(watched, "row %d is told of without all that changed: %#x of %#x", slot, named, changed);
        for (int path = 0; path < displayed_count(kind); path++) {
            if (!(watched->displayed >> path & 1)) continue;
            if (displayed_digest(before, old, kind, path) == displayed_digest(now, new, kind, path)) continue;
            const char *shown = displayed_paths[kind][path];
            if (!is_reported) FAIL(watched, "row %d shows another %s and was not told of", slot, shown);
            if (is_one && !(named >> (8 + path) & 1)) FAIL(watched, "row %d is told of without %s", slot, shown);
        }
        if (!is_reported && !has_same_key(before, now, &watched->query, slot))
            FAIL(watched, "row %d has another key and was not told of", slot);
        const place *place = &places[watched->context];
        if (!is_reported || !is_one || place->is_refreshed || place->saves_of_others > 1) continue;
        if (neighbourhood_digest(before, old, kind) == neighbourhood_digest(now, new, kind))
            FAIL(watched, "row %d is told of and nothing changed", slot);
    }
}

void compare_list(watched *watched, const facts *before, const facts *now) {
    if (!watched->is_suspended) {
        static named_sections expected;
        expect(now, &watched->query, &expected);
        if (!sections_equal(&watched->mirror.list, &expected.list))
            FAIL(watched, "the list is %s instead of %s", text_of_list(&watched->mirror.list), text_of_list(&expected.list));
        for (int i = 0; i < expected.list.count; i++)
            if (strcmp(expected.names[i], watched->mirror.names[i]) != 0)
                FAIL(watched, "section %d is called %s instead of %s", i, watched->mirror.names[i], expected.names[i]);
        check_totals(watched, now);
        check_objects(watched);
        check_page(watched);
        fetch_anew(watched);
        if (!watched->is_upset && before) check_reports(watched, before, now);
    }
    watched->at_comparison = watched->mirror.list;
    watched->brackets = 0;
    watched->is_upset = watched->is_suspended;
    memset(watched->is_reported, 0, sizeof watched->is_reported);
    memset(watched->named, 0, sizeof watched->named);
}

/* --- Snapshots. */

static void check_snapshot(const watched *watched, const quire_snapshot *snapshot, const named_sections *kept) {
    static int64_t ids[SLOTS], found[SLOTS], rows[SLOTS];
    const sections *list = &kept->list;
    const size_t total = (size_t)list->total;
    if (quire_snapshot_count(snapshot) != list->total || quire_snapshot_section_count(snapshot) != list->count)
        FAIL(watched, "a snapshot has another number of rows or sections");
    OK(quire_snapshot_ids(snapshot, 0, list->total, ids, &error));
    OK(quire_snapshot_positions(snapshot, ids, total, found, &error));
    for (int i = 0; i < list->total; i++) {
        rows[i] = i;
        if (slot_of_id(watched->query.kind, ids[i]) != list->slots[i]) FAIL(watched, "a snapshot has changed");
        if (found[i] != i) FAIL(watched, "a snapshot finds row %d elsewhere", i);
    }
    OK(quire_snapshot_section_of(snapshot, rows, total, found, &error));
    for (int section = 0; section < list->count; section++) {
        quire_section info = QUIRE_SECTION_INIT;
        OK(quire_snapshot_section(snapshot, section, &info, &error));
        const bool is_same_place = info.start == list->starts[section] && info.count == list->sizes[section];
        if (!is_same_place || strcmp(info.name.data, kept->names[section]) != 0)
            FAIL(watched, "a section of a snapshot has changed");
        for (int row = 0; row < list->sizes[section]; row++)
            if (found[list->starts[section] + row] != section) FAIL(watched, "a snapshot has a row in another section");
    }
}

static bool is_same_list(const named_sections *left, const named_sections *right) {
    if (!sections_equal(&left->list, &right->list)) return false;
    for (int i = 0; i < left->list.count; i++)
        if (strcmp(left->names[i], right->names[i]) != 0) return false;
    return true;
}

void compare_snapshots(watched *watched) {
    static told told;
    quire_snapshot *now = NULL;
    OK(quire_results_snapshot(watched->results, &now, &error));
    check_snapshot(watched, now, &watched->mirror);
    for (int is_backwards = 0; watched->snapshot && is_backwards < 2; is_backwards++) {
        const quire_snapshot *from = is_backwards ? now : watched->snapshot, *to = is_backwards ? watched->snapshot : now;
        const named_sections *start = is_backwards ? &watched->mirror : &watched->kept;
        const named_sections *end = is_backwards ? &watched->kept : &watched->mirror;
        quire_changes *changes = NULL;
        OK(quire_snapshot_changes(from, to, &changes, &error));
        take_told(watched, changes, &told);
        check_told(watched, &told, changes, &start->list, &end->list);
        check_moves(watched, &told, &start->list, &end->list, !watched->is_linked);
        quire_changes_release(changes);
    }
    if (watched->snapshot) {
        check_snapshot(watched, watched->snapshot, &watched->kept);
        const bool is_same = is_same_list(&watched->kept, &watched->mirror), is_equal = quire_snapshot_equal(watched->snapshot, now);
        if (is_equal ? !is_same : is_same && watched->is_same_request) FAIL(watched, "snapshots are equal or not by mistake");
    }
    quire_snapshot_release(watched->snapshot);
    watched->snapshot = now;
    watched->kept = watched->mirror;
    watched->is_linked = watched->is_same_request = true;
}
