#include "recorder.h"

#include <pthread.h>

static quire_snapshot *snapshot_of(quire_results *results) {
    quire_snapshot *snapshot = NULL;
    CHECK_OK(quire_results_snapshot(results, &snapshot, &error));
    return snapshot;
}

/* The changes as text: kinds with the places that they have. */
static quire_string between(const quire_snapshot *from, const quire_snapshot *to) {
    quire_changes *changes = NULL;
    CHECK_OK(quire_snapshot_changes(from, to, &changes, &error));
    const quire_section_change_array sections = quire_changes_sections(changes);
    const quire_change_array rows = quire_changes_rows(changes);
    static char text[512];
    size_t size = 0;
    text[0] = 0;
    for (int64_t i = 0; i < sections.count; i++) {
        const quire_section_change *section = quire_section_change_at(sections, i);
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%lld:%s ", section->kind == QUIRE_CHANGE_INSERT ? "+s" : "-s",
            (long long)section->index, section->name.data);
    }
    for (int64_t i = 0; i < rows.count; i++) {
        const quire_change *row = quire_change_at(rows, i);
        size += (size_t)snprintf(text + size, sizeof text - size, "%c%lld/%lld ", "?+->~"[row->kind], (long long)row->old_flat,
            (long long)row->new_flat);
    }
    quire_changes_release(changes);
    return (quire_string){text, size};
}

static void snapshot_stays_what_it_was(void) {
    fixture made = open_fixture();
    quire_object *a = insert_book(made.context, "a", 1), *b = insert_book(made.context, "b", 2);
    quire_results *results = controller(made.context, NULL, "title", "title");
    quire_snapshot *before = snapshot_of(results), *again = snapshot_of(results);
    CHECK(before == again);
    quire_snapshot_release(again);
    set_text(a, "title", "z");
    set_value(b, "pages", quire_value_integer(3));
    quire_object_release(insert_book(made.context, "b", 4));
    process(made.context);
    quire_snapshot *after = snapshot_of(results);
    CHECK(quire_snapshot_count(before) == 2 && quire_snapshot_section_count(before) == 2);
    CHECK(quire_snapshot_count(after) == 3 && quire_snapshot_section_count(after) == 2);
    CHECK(quire_snapshot_generation(after) == *quire_results_generation(results));
    CHECK(quire_snapshot_generation(before) < quire_snapshot_generation(after));
    CHECK_TEXT(between(before, after), "-s0:a +s1:z +-1/1 >0/2 ~1/0 ");
    CHECK_TEXT(between(after, before), "-s1:z +s0:a -1/-1 >2/0 ~0/1 ");
    CHECK_TEXT(between(before, before), "");
    CHECK(quire_snapshot_equal(before, before) && !quire_snapshot_equal(before, after) && !quire_snapshot_equal(NULL, NULL));

    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_snapshot_section(after, 0, &section, &error));
    CHECK_TEXT(section.name, "b");
    CHECK(section.start == 0 && section.count == 2 && section.index_title.data == NULL);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_snapshot_section(after, 2, &section, &error));
    quire_page *page = NULL;
    CHECK_OK(quire_snapshot_sections(after, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 2 && quire_page_column_count(page) == 4);
    quire_page_release(page);
    int64_t ids[3], rows[3], sections[3], shown[3];
    CHECK_OK(quire_snapshot_ids(after, 0, 3, ids, &error));
    CHECK_OK(quire_results_ids(results, 0, 3, shown, &error));
    CHECK(memcmp(ids, shown, sizeof ids) == 0);
    CHECK_OK(quire_snapshot_positions(after, ids, 3, rows, &error));
    CHECK(rows[0] == 0 && rows[1] == 1 && rows[2] == 2);
    CHECK_OK(quire_snapshot_positions(before, ids, 3, rows, &error));
    CHECK(rows[0] == 1 && rows[1] == -1 && rows[2] == 0);
    rows[0] = 1, rows[1] = 2, rows[2] = 3;
    CHECK_OK(quire_snapshot_section_of(after, rows, 3, sections, &error));
    CHECK(sections[0] == 0 && sections[1] == 1 && sections[2] == -1);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_snapshot_ids(after, 2, 2, ids, &error));

    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    close_fixture(made);
    /* They need nothing of all that. */
    CHECK_TEXT(between(before, after), "-s0:a +s1:z +-1/1 >0/2 ~1/0 ");
    quire_snapshot_release(quire_snapshot_retain(before));
    quire_snapshot_release(before);
    quire_snapshot_release(after);
}

static void no_snapshot_before_the_fetch(void) {
    fixture made = open_fixture();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    quire_snapshot *snapshot = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_snapshot(results, &snapshot, &error));
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void *look_up_all(void *data) {
    const quire_snapshot *snapshot = data;
    const int64_t count = quire_snapshot_count(snapshot);
    for (int64_t row = 0; row < count; row++) {
        int64_t id = 0, found = -1;
        if (quire_snapshot_ids(snapshot, row, 1, &id, NULL) || quire_snapshot_positions(snapshot, &id, 1, &found, NULL)) return NULL;
        if (found != row) return NULL;
    }
    return data;
}

static void threads_read_one_while_the_list_changes(void) {
    fixture made = open_fixture();
    quire_object *books[500];
    for (size_t i = 0; i < 500; i++) books[i] = insert_book(made.context, "same", (int64_t)i);
    quire_results *results = controller(made.context, NULL, "title", NULL);
    quire_snapshot *snapshot = snapshot_of(results);
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, look_up_all, snapshot) == 0);
    for (size_t i = 0; i < 500; i += 50) {
        CHECK_OK(quire_context_delete(made.context, books[i], &error));
        process(made.context);
        forget();
    }
    for (size_t i = 0; i < 3; i++) {
        void *result = NULL;
        CHECK(pthread_join(threads[i], &result) == 0 && result == snapshot);
    }
    CHECK(quire_snapshot_count(snapshot) == 500 && quire_results_count(results) == 490);
    quire_snapshot_release(snapshot);
    quire_results_release(results);
    for (size_t i = 0; i < 500; i++) quire_object_release(books[i]);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(snapshot_stays_what_it_was);
    RUN(no_snapshot_before_the_fetch);
    RUN(threads_read_one_while_the_list_changes);
    return RESULT();
}
