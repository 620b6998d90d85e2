#include "recorder.h"

#include <inttypes.h>

/* What a composite's delegate is told, in the form of the recorder's, and which child it is about. */
static void all_will_change(void *data, quire_composite *composite) {
    (void)data;
    tell("[was %" PRId64, quire_composite_count(composite));
}

static int place_of(quire_composite *composite, const quire_results *child) {
    for (int64_t i = 0; i < quire_composite_child_count(composite); i++)
        if (quire_composite_child(composite, i) == child) return (int)i;
    return -1;
}

static void any_section_changed(
    void *data, quire_composite *composite, quire_results *child, const quire_section_change *change) {
    tell(" %d", place_of(composite, child));
    section_changed(data, child, change);
}

static void any_object_changed(
    void *data, quire_composite *composite, quire_results *child, quire_object *object, const quire_change *change) {
    tell(" %d", place_of(composite, child));
    object_changed(data, child, object, change);
}

static void all_did_change(void *data, quire_composite *composite) {
    (void)data;
    tell(" is %" PRId64 "]", quire_composite_count(composite));
}

static void everything(void *data, quire_composite *composite, const quire_changes *changes) {
    (void)data, (void)composite;
    const quire_change_array rows = quire_changes_rows(changes);
    CHECK(rows.first && rows.count > 0);
    tell("%" PRId64 ";", rows.count);
}

static quire_composite *composite_of(quire_context *context, quire_results *const *children, size_t count) {
    quire_composite_options options = QUIRE_COMPOSITE_OPTIONS_INIT;
    options.queues_changes = true;
    quire_composite *composite = NULL;
    CHECK_OK(quire_composite_create(context, &options, &composite, &error));
    for (size_t i = 0; i < count; i++) {
        CHECK_OK(quire_results_set_delegate(children[i], NULL, &error));
        CHECK_OK(quire_composite_add(composite, children[i], &error));
    }
    quire_composite_delegate delegate = QUIRE_COMPOSITE_DELEGATE_INIT;
    delegate.destroy = count_destroyed;
    delegate.will_change = all_will_change;
    delegate.did_change_section = any_section_changed;
    delegate.did_change_object = any_object_changed;
    delegate.did_change = all_did_change;
    delegate.changes = everything;
    CHECK_OK(quire_composite_set_delegate(composite, &delegate, &error));
    CHECK_OK(quire_composite_fetch(composite, &error));
    forget();
    destroyed = 0;
    return composite;
}

static quire_results *authors(quire_context *context) {
    quire_fetch_request *request = new_request("Author", NULL, "name");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, NULL, &results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void sections_of_the_children_follow_each_other(void) {
    fixture made = open_fixture();
    quire_object *a = book_with(made.context, "Emilia", "1"), *b = book_with(made.context, "Faust", "2");
    quire_object *author = insert(made.context, "Author");
    quire_results *children[] = {
        controller(made.context, "title == 'Faust'", "title", NULL), authors(made.context),
        controller(made.context, "title == 'none'", "title", "isbn"), controller(made.context, NULL, "title", "isbn")};
    quire_composite *composite = composite_of(made.context, children, 4);
    CHECK(quire_composite_context(composite) == made.context && quire_composite_child_count(composite) == 4);
    CHECK(quire_composite_child(composite, 1) == children[1] && !quire_composite_child(composite, 4));
    CHECK(quire_composite_count(composite) == 4 && quire_composite_section_count(composite) == 4);

    static const struct { const char *name; int64_t start, child, inner; } wanted[] = {
        {"", 0, 0, 0}, {"", 1, 1, 0}, {"1", 2, 3, 0}, {"2", 3, 3, 1}};
    quire_section section = QUIRE_SECTION_INIT;
    int64_t child = 9, inner = 9;
    for (int64_t i = 0; i < 4; i++) {
        CHECK_OK(quire_composite_section(composite, i, &section, &error));
        CHECK_TEXT(section.name, wanted[i].name);
        CHECK(section.start == wanted[i].start && section.count == 1);
        CHECK_OK(quire_composite_child_of_section(composite, i, &child, &inner, &error));
        CHECK(child == wanted[i].child && inner == wanted[i].inner);
    }
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_composite_section(composite, 4, &section, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_composite_child_of_section(composite, -1, &child, &inner, &error));

    int64_t row = 9, first = 9;
    CHECK_OK(quire_composite_child_start(composite, 3, &first, &row, &error));
    CHECK(first == 2 && row == 2);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_composite_child_start(composite, 4, &first, &row, &error));

    int64_t ids[4];
    CHECK_OK(quire_composite_ids(composite, 0, 4, ids, &error));
    CHECK(ids[0] == quire_object_id(b) && ids[1] == quire_object_id(author) && ids[2] == quire_object_id(a));
    CHECK(ids[3] == ids[0]);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_composite_ids(composite, 3, 2, ids, &error));
    const int64_t rows[] = {-1, 0, 3, 4};
    int64_t sections[4];
    CHECK_OK(quire_composite_section_of(composite, rows, 4, sections, &error));
    CHECK(sections[0] == -1 && sections[1] == 0 && sections[2] == 3 && sections[3] == -1);

    /* An object that is shown twice has its place in the first child. */
    quire_object *found = NULL;
    quire_index_path path;
    CHECK_OK(quire_composite_object(composite, 3, 0, &found, &error));
    CHECK(found == b);
    CHECK_OK(quire_composite_index_path(composite, found, &path, &error));
    CHECK(path.section == 0 && path.row == 0);
    quire_object_release(found);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_composite_object(composite, 2, 1, &found, &error));

    quire_page *page = NULL;
    CHECK_OK(quire_composite_sections(composite, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 4);
    CHECK(((const int64_t *)quire_page_column(page, 2)->values)[3] == 3);
    quire_page_release(page);

    quire_composite_release(composite);
    CHECK(destroyed == 1);
    for (int i = 0; i < 4; i++) quire_results_release(children[i]);
    quire_object_release(a);
    quire_object_release(b);
    quire_object_release(author);
    close_fixture(made);
}

static void one_processing_is_one_bracket(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "A", 50), *author = insert(made.context, "Author");
    set_text(author, "name", "Goethe");
    quire_results *children[] = {
        controller(made.context, "pages > 100", "title", NULL), authors(made.context),
        controller(made.context, "pages <= 100", "title", "title")};
    quire_composite *composite = composite_of(made.context, children, 3);
    const uint64_t *generation = quire_composite_generation(composite), before = *generation;

    /* One row leaves the last child, with its section, and enters the first; another child changes, too. */
    set_value(book, "pages", quire_value_integer(200));
    set_text(author, "name", "Schiller");
    process(made.context);
    CHECK_TOLD("[was 2 2 -s2:A 2 -2.0 0 +0.0 1 ~1.0/1.0 is 2]3;");
    CHECK(*generation > before);

    quire_changes *changes = NULL;
    CHECK_OK(quire_composite_next_changes(composite, &changes, &error));
    const quire_child_frame_array frames = quire_changes_children(changes);
    const quire_child_frame *second = quire_child_frame_at(frames, 1), *third = quire_child_frame_at(frames, 2);
    CHECK(frames.count == 3 && second->old_section == 1 && second->old_flat == 0 && second->new_flat == 1);
    CHECK(third->old_section == 2 && third->old_flat == 1 && third->new_section == 2 && third->new_flat == 2);
    const quire_step_array steps = quire_changes_steps(changes);
    CHECK(steps.count == 4 && steps.first->kind == QUIRE_STEP_DELETE_ROW && steps.first->flat == 1);
    CHECK(quire_step_at(steps, 1)->kind == QUIRE_STEP_INSERT_ROW && quire_step_at(steps, 1)->flat == 0);
    CHECK(quire_step_at(steps, 2)->kind == QUIRE_STEP_DELETE_SECTION);
    quire_changes_release(changes);
    CHECK_OK(quire_composite_next_changes(composite, &changes, &error));
    CHECK(changes == NULL);

    /* The changes of a child alone have no frames. */
    CHECK_OK(quire_results_next_changes(children[0], &changes, &error));
    CHECK(!quire_changes_children(changes).first && quire_changes_children(changes).count == 0);
    quire_changes_release(changes);

    /* Another request for a child is a bracket of all. */
    quire_fetch_request *request = new_request("Book", "title == 'none'", "title");
    CHECK_OK(quire_results_set_request(children[0], request, NULL, 0, &error));
    CHECK_TOLD("[was 2 0 -0.0 is 1]1;");
    quire_fetch_request_release(request);

    /* A child that is suspended stays as it is; the others do not. */
    CHECK_OK(quire_results_suspend(children[1], &error));
    set_text(author, "name", "Heine");
    set_value(book, "pages", quire_value_integer(1));
    process(made.context);
    CHECK_TOLD("[was 1 2 +s2:A 2 +2.0 is 2]1;");
    CHECK_OK(quire_results_resume(children[1], true, &error));
    CHECK_TOLD("[was 2 1 ~1.0/1.0 is 2]1;");

    quire_composite_release(composite);
    for (int i = 0; i < 3; i++) quire_results_release(children[i]);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

static void children_are_added_once_and_before_the_fetch(void) {
    fixture made = open_fixture(), other = open_fixture();
    quire_results *child = controller(made.context, NULL, "title", NULL), *late = authors(made.context);
    quire_results *stranger = controller(other.context, NULL, "title", NULL);
    quire_composite *composite = NULL;
    CHECK_OK(quire_composite_create(made.context, NULL, &composite, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_fetch(composite, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_composite_add(composite, stranger, &error));
    CHECK_OK(quire_composite_add(composite, child, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_composite_add(composite, child, &error));

    /* Before it is fetched, there is nothing in it, and its child is on its own. */
    quire_object_release(insert_book(made.context, "A", 1));
    process(made.context);
    CHECK_TOLD("{was 0 +0.0 is 1}");
    quire_section section = QUIRE_SECTION_INIT;
    CHECK(quire_composite_count(composite) == 0 && quire_composite_section_count(composite) == 0);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_section(composite, 0, &section, &error));
    CHECK_OK(quire_composite_fetch(composite, &error));
    CHECK(quire_composite_count(composite) == 1);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_add(composite, late, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_fetch(child, &error));
    quire_changes *changes = NULL;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_next_changes(composite, &changes, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_delegate_failed(composite, "no", QUIRE_NUL, &error));

    /* And again when the composite is gone. */
    quire_composite_release(composite);
    quire_object_release(insert_book(made.context, "B", 1));
    process(made.context);
    CHECK_TOLD("{was 1 +0.1 is 2}");
    CHECK_OK(quire_results_fetch(child, &error));
    quire_results_release(child);
    quire_results_release(late);
    quire_results_release(stranger);
    close_fixture(other);
    close_fixture(made);
}

static void refuse(void *data, quire_composite *composite, const quire_changes *changes) {
    (void)data, (void)changes;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_composite_fetch(composite, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_suspend(quire_composite_child(composite, 0), &error));
    CHECK_OK(quire_composite_delegate_failed(composite, "The view is gone.", QUIRE_NUL, &error));
    quire_composite_release(composite);
}

static void a_delegate_may_fail_and_let_go_of_the_composite(void) {
    fixture made = open_fixture();
    quire_results *children[] = {authors(made.context), controller(made.context, NULL, "title", NULL)};
    quire_composite *composite = composite_of(made.context, children, 2);
    quire_composite_delegate delegate = QUIRE_COMPOSITE_DELEGATE_INIT;
    delegate.changes = refuse;
    CHECK_OK(quire_composite_set_delegate(composite, &delegate, &error));
    CHECK(destroyed == 1);
    quire_object_release(insert_book(made.context, "A", 1));
    CHECK_FAILS(QUIRE_FUNCTION, quire_context_process(made.context, &error));
    CHECK(quire_results_count(children[1]) == 1);
    for (int i = 0; i < 2; i++) quire_results_release(children[i]);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(sections_of_the_children_follow_each_other);
    RUN(one_processing_is_one_bracket);
    RUN(children_are_added_once_and_before_the_fetch);
    RUN(a_delegate_may_fail_and_let_go_of_the_composite);
    return RESULT();
}
