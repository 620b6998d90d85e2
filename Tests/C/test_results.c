#include "recorder.h"

static void controller_is_empty_before_its_fetch(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "Faust", 300));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK(quire_results_count(results) == 0 && quire_results_section_count(results) == 0);
    CHECK(quire_results_context(results) == made.context);
    quire_section section = QUIRE_SECTION_INIT;
    quire_object *object = NULL;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_section(results, 0, &section, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_object(results, 0, 0, &object, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == 1 && quire_results_section_count(results) == 1);
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void without_sections_there_is_one_and_with_them_none_when_empty(void) {
    fixture made = open_fixture();
    quire_results *plain = controller(made.context, NULL, "title", NULL);
    quire_results *sectioned = controller(made.context, NULL, "title", "title");
    CHECK(quire_results_section_count(plain) == 1 && quire_results_section_count(sectioned) == 0);
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(plain, 0, &section, &error));
    CHECK_TEXT(section.name, "");
    CHECK(section.start == 0 && section.count == 0);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_section(sectioned, 0, &section, &error));
    quire_results_release(sectioned);
    quire_results_release(plain);
    close_fixture(made);
}

static void insert_update_move_and_delete_are_reported(void) {
    fixture made = open_fixture();
    quire_object *b = insert_book(made.context, "B", 1), *d = insert_book(made.context, "D", 1);
    quire_results *results = controller(made.context, NULL, "title", NULL);

    quire_object *c = insert_book(made.context, "C", 1);
    process(made.context);
    CHECK_TOLD("{was 2 +0.1 is 3}");
    set_value(b, "pages", quire_value_integer(2));
    process(made.context);
    CHECK_TOLD("{was 3 ~0.0/0.0 is 3}");
    set_text(b, "title", "E");
    process(made.context);
    CHECK_TOLD("{was 3 >0.0/0.2 is 3}");
    CHECK_OK(quire_context_delete(made.context, d, &error));
    process(made.context);
    CHECK_TOLD("{was 3 -0.1 is 2}");
    process(made.context);
    CHECK_TOLD("");
    CHECK(reported_rows == 4);
    quire_results_release(results);
    quire_object_release(b);
    quire_object_release(c);
    quire_object_release(d);
    close_fixture(made);
}

static void sort_key_that_keeps_its_place_is_an_update(void) {
    fixture made = open_fixture();
    quire_object *a = insert_book(made.context, "A", 1), *c = insert_book(made.context, "C", 1);
    quire_results *results = controller(made.context, NULL, "title", NULL);
    set_text(c, "title", "D");
    process(made.context);
    CHECK_TOLD("{was 2 ~0.1/0.1 is 2}");
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(c);
    close_fixture(made);
}

static void sections_come_and_go_before_the_rows_are_told(void) {
    fixture made = open_fixture();
    quire_object *a = book_with(made.context, "1", "A"), *b = book_with(made.context, "2", "B");
    quire_results *results = controller(made.context, NULL, "title", "isbn");
    CHECK(quire_results_section_count(results) == 2);

    set_text(b, "isbn", "C");
    process(made.context);
    CHECK_TOLD("{was 2 -s1:B +s1:C >1.0/1.0 is 2}");
    CHECK_OK(quire_context_delete(made.context, a, &error));
    process(made.context);
    CHECK_TOLD("{was 2 -s0:A -0.0 is 1}");
    quire_object *d = book_with(made.context, "3", "A");
    process(made.context);
    CHECK_TOLD("{was 1 +s0:A +0.0 is 2}");
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    quire_object_release(d);
    close_fixture(made);
}

static void related_object_reaches_the_rows_that_depend_on_what_changed(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *first = insert_book(made.context, "A", 1);
    set_text(author, "name", "Goethe");
    set_value(first, "author", quire_value_object(author));
    save(made.context);
    quire_results *results = controller(made.context, NULL, "title", "author.name");

    /* The author's books change, and not the name that the list depends on. */
    quire_object *second = insert_book(made.context, "B", 1);
    set_value(second, "author", quire_value_object(author));
    process(made.context);
    CHECK_TOLD("{was 1 +0.1 is 2}");
    set_text(author, "name", "Schiller");
    process(made.context);
    CHECK_TOLD("{was 2 -s0:Goethe +s0:Schiller >0.0/0.0 >0.1/0.1 is 2}");
    quire_results_release(results);
    quire_object_release(first);
    quire_object_release(second);
    quire_object_release(author);
    close_fixture(made);
}

static void predicate_decides_who_enters_and_leaves(void) {
    fixture made = open_fixture();
    quire_object *a = insert_book(made.context, "A", 50), *b = insert_book(made.context, "B", 150);
    quire_results *results = controller(made.context, "pages > 100", "title", NULL);
    set_value(a, "pages", quire_value_integer(200));
    set_value(b, "pages", quire_value_integer(10));
    process(made.context);
    CHECK_TOLD("{was 1 -0.0 +0.0 is 1}");
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    close_fixture(made);
}

static void rollback_is_reported_and_a_save_of_what_was_processed_is_not(void) {
    fixture made = open_fixture();
    quire_results *results = controller(made.context, NULL, "title", NULL);
    quire_object *book = insert_book(made.context, "A", 1);
    process(made.context);
    forget();
    CHECK_OK(quire_context_rollback(made.context, &error));
    CHECK_TOLD("{was 1 -0.0 is 0}");
    quire_object_release(book);

    book = insert_book(made.context, "B", 1);
    forget();
    save(made.context);
    CHECK_TOLD("{was 0 +0.0 is 1}");
    save(made.context);
    CHECK_TOLD("");
    quire_object_release(book);
    quire_results_release(results);
    close_fixture(made);
}

static void sections_have_names_titles_starts_and_counts(void) {
    fixture made = open_fixture();
    const char *const isbns[] = {"goethe 1", "goethe 2", NULL, "\xC3\xA4sop", ""};
    for (size_t i = 0; i < 5; i++) {
        quire_object *book = insert_book(made.context, "x", (int64_t)i);
        if (isbns[i]) set_text(book, "isbn", isbns[i]);
        quire_object_release(book);
    }
    quire_results *results = controller(made.context, NULL, "isbn", "isbn");
    CHECK(quire_results_section_count(results) == 4);
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(results, 0, &section, &error));
    CHECK_TEXT(section.name, "");
    CHECK(section.start == 0 && section.count == 2);
    CHECK_OK(quire_results_section(results, 1, &section, &error));
    CHECK_TEXT(section.name, "goethe 1");
    CHECK_TEXT(section.index_title, "G");
    CHECK(section.start == 2 && section.count == 1);
    CHECK_OK(quire_results_section(results, 3, &section, &error));
    CHECK_TEXT(section.index_title, "\xC3\x84");
    const int64_t outside[] = {-1, 4, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 4; i++) CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_section(results, outside[i], &section, &error));

    quire_page *page = NULL;
    CHECK_OK(quire_results_sections(results, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 4 && quire_page_column_count(page) == 5);
    CHECK(strcmp(quire_page_column(page, 0)->name, "name") == 0 && strcmp(quire_page_column(page, 1)->name, "indexTitle") == 0);
    CHECK(strcmp(quire_page_column(page, 2)->name, "start") == 0 && strcmp(quire_page_column(page, 3)->name, "count") == 0);
    CHECK(((const int64_t *)quire_page_column(page, 2)->values)[3] == 4);
    quire_page_release(page);

    CHECK_OK(quire_results_index_titles(results, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(quire_page_column_count(page) == 1 && strcmp(quire_page_column(page, 0)->name, "indexTitle") == 0);
    const int64_t titles = quire_page_row_count(page);
    quire_page_release(page);
    int64_t index = -1;
    CHECK_OK(quire_results_section_for_index_title(results, titles - 1, &index, &error));
    CHECK(index == 3);
    CHECK_OK(quire_results_section_for_index_title(results, titles - 2, &index, &error));
    CHECK(index == 1);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_section_for_index_title(results, titles, &index, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_section_for_index_title(results, -1, &index, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_sections(results, 8, &page, &error));
    quire_results_release(results);
    close_fixture(made);
}

static const char *own_title(void *data, quire_results *results, const char *name, size_t size) {
    (void)data, (void)results;
    return size == 1 && name[0] == 'A' ? "first" : NULL;
}

static void delegate_may_give_the_index_titles(void) {
    fixture made = open_fixture();
    quire_object *a = book_with(made.context, "1", "A"), *b = book_with(made.context, "2", "B");
    quire_results *results = controller(made.context, NULL, "title", "isbn");
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.index_title = own_title;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(results, 0, &section, &error));
    CHECK_TEXT(section.index_title, "first");
    quire_page *page = NULL;
    CHECK_OK(quire_results_index_titles(results, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 1);
    quire_page_release(page);
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    close_fixture(made);
}

static void rows_are_found_by_path_object_id_and_place(void) {
    fixture made = open_fixture();
    quire_object *books[] = {book_with(made.context, "1", "A"), book_with(made.context, "2", "A "), book_with(made.context, "3", "B")};
    quire_object *stranger = insert(made.context, "Tag"), *found = NULL;
    set_text(books[1], "isbn", "B1");
    quire_results *results = controller(made.context, NULL, "title", "isbn");
    quire_index_path path;
    CHECK_OK(quire_results_object(results, 1, 0, &found, &error));
    CHECK(found == books[2]);
    CHECK_OK(quire_results_index_path(results, books[1], &path, &error));
    CHECK(path.section == 2 && path.row == 0);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_index_path(results, stranger, &path, &error));
    quire_object_release(found);
    const int64_t outside[] = {-1, 3, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_object(results, outside[i], 0, &found, &error));
        CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_object(results, 0, outside[i], &found, &error));
    }
    int64_t ids[3], rows[5] = {0}, sections[4];
    CHECK_OK(quire_results_ids(results, 0, 3, ids, &error));
    CHECK(ids[0] == quire_object_id(books[0]) && ids[1] == quire_object_id(books[2]));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_ids(results, 1, 3, ids, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_ids(results, INT64_MAX, INT64_MAX, ids, &error));
    const int64_t asked[] = {ids[2], 4711, ids[0], INT64_MIN, INT64_MAX};
    CHECK_OK(quire_results_positions(results, asked, 5, rows, &error));
    CHECK(rows[0] == 2 && rows[1] == -1 && rows[2] == 0 && rows[3] == -1 && rows[4] == -1);
    const int64_t places[] = {2, -1, 0, INT64_MAX};
    CHECK_OK(quire_results_section_of(results, places, 4, sections, &error));
    CHECK(sections[0] == 2 && sections[1] == -1 && sections[2] == 0 && sections[3] == -1);
    const char *const keys[] = {"title"};
    quire_page *page = NULL;
    CHECK_OK(quire_results_page(results, 1, 2, keys, 1, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(quire_page_column(page, 0)->values_size == 4 && memcmp(quire_page_column(page, 0)->values, "3\0002\0", 4) == 0);
    quire_page_release(page);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_page(results, 2, 2, keys, 1, 0, &page, &error));
    quire_results_release(results);
    quire_object_release(stranger);
    for (int i = 0; i < 3; i++) quire_object_release(books[i]);
    close_fixture(made);
}

static void queued_changes_are_taken_oldest_first(void) {
    fixture made = open_fixture();
    quire_object *a = book_with(made.context, "1", "A"), *b = book_with(made.context, "2", "B");
    quire_results *results = controller(made.context, NULL, "title", "isbn");
    const uint64_t *generation = quire_results_generation(results), before = *generation;
    set_text(a, "isbn", "B2");
    process(made.context);
    CHECK(*generation > before);
    CHECK_OK(quire_context_delete(made.context, b, &error));
    process(made.context);

    quire_changes *changes = NULL;
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    quire_change_array rows = quire_changes_rows(changes);
    CHECK(rows.count == 1 && rows.first->kind == QUIRE_CHANGE_MOVE && rows.first->old_flat == 0 && rows.first->new_flat == 1);
    const quire_section_change_array sections = quire_changes_sections(changes);
    const quire_section_change *came = quire_section_change_at(sections, 1);
    CHECK(sections.count == 2 && sections.first->kind == QUIRE_CHANGE_DELETE && came->kind == QUIRE_CHANGE_INSERT);
    CHECK_TEXT(came->name, "B2");
    CHECK(quire_changes_steps(changes).count >= 3);
    const int64_t old_rows[] = {0, 1, 2, -1};
    int64_t new_rows[4];
    CHECK_OK(quire_changes_map_positions(changes, old_rows, 4, new_rows, &error));
    CHECK(new_rows[0] == 1 && new_rows[1] == 0 && new_rows[2] == -1 && new_rows[3] == -1);
    quire_changes_release(changes);

    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    rows = quire_changes_rows(changes);
    CHECK(rows.count == 1 && rows.first->kind == QUIRE_CHANGE_DELETE);
    quire_changes_release(changes);
    CHECK_OK(quire_results_next_changes(results, &changes, &error));
    CHECK(changes == NULL);
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    close_fixture(made);
}

static void controller_that_does_not_queue_says_so(void) {
    fixture made = open_fixture();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    quire_changes *changes = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_results_next_changes(results, &changes, &error));
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static quire_status create(quire_context *context, quire_fetch_request *request, const char *section) {
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = section;
    quire_results *results = (quire_results *)&error;
    const quire_status status = quire_results_create(context, request, &options, &results, &error);
    CHECK(results == NULL);
    quire_fetch_request_release(request);
    return status;
}

static void requests_that_cannot_be_followed_are_refused(void) {
    fixture made = open_fixture();
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, create(made.context, new_request("Poem", NULL, "title"), NULL));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, create(made.context, new_request("Book", NULL, "subtitle"), NULL));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, create(made.context, new_request("Book", NULL, "title"), "subtitle"));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, create(made.context, new_request("Book", NULL, "title"), "tags"));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_includes_pending_changes(request, false, &error));
    CHECK_FAILS(QUIRE_UNSUPPORTED, create(made.context, request, NULL));
    request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, create(made.context, request, NULL));
    close_fixture(made);
}

static void request_is_copied(void) {
    fixture made = open_fixture();
    quire_fetch_request *request = new_request("Book", "pages > 100", "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    CHECK_OK(quire_fetch_request_set_predicate(request, NULL, &error));
    quire_fetch_request_release(request);
    quire_object_release(insert_book(made.context, "thin", 10));
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(quire_results_count(results) == 0);
    quire_results_release(results);
    close_fixture(made);
}

static void delegate_is_destroyed_once_when_replaced_or_gone(void) {
    fixture made = open_fixture();
    quire_results *results = controller(made.context, NULL, "title", NULL);
    const quire_results_delegate delegate = recorder();
    destroyed = 0;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK(destroyed == 1);
    CHECK_OK(quire_results_set_delegate(results, NULL, &error));
    CHECK(destroyed == 2);
    CHECK_OK(quire_results_set_delegate(results, NULL, &error));
    CHECK(destroyed == 2);
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    quire_results_release(results);
    CHECK(destroyed == 3);
    close_fixture(made);
    CHECK(destroyed == 3);
}

static void delegate_of_another_size_is_understood_or_refused(void) {
    fixture made = open_fixture();
    quire_results *results = controller(made.context, NULL, "title", NULL);
    struct { quire_results_delegate known; void *tail; } later = {recorder(), NULL};
    later.known.struct_size = sizeof later;
    CHECK_OK(quire_results_set_delegate(results, &later.known, &error));
    destroyed = 0;
    later.tail = &later;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_results_set_delegate(results, &later.known, &error));
    CHECK(destroyed == 0);
    quire_results_delegate shorter = recorder();
    const uint32_t impossible[] = {0, 3, 12, 13, 30, 4097};
    for (size_t each = 0; each < sizeof impossible / sizeof *impossible; each++) {
        shorter.struct_size = impossible[each];
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_set_delegate(results, &shorter, &error));
    }
    /* Up to `will_change`: the callbacks behind it are not there. */
    shorter.struct_size = offsetof(quire_results_delegate, did_change_section);
    CHECK_OK(quire_results_set_delegate(results, &shorter, &error));
    forget();
    quire_object_release(insert_book(made.context, "A", 1));
    process(made.context);
    CHECK_TOLD("{was 0");
    quire_results_release(results);
    close_fixture(made);
}

static void section_of_another_size_is_filled_as_far_as_both_know_it(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "A", 1));
    quire_results *results = controller(made.context, NULL, "title", "title");
    quire_snapshot *snapshot = NULL;
    CHECK_OK(quire_results_snapshot(results, &snapshot, &error));
    struct { quire_section known; uint64_t later[2], behind; } newer;
    for (int of_snapshot = 0; of_snapshot < 2; of_snapshot++) {
        memset(&newer, 0x5A, sizeof newer);
        newer.known.struct_size = offsetof(__typeof__(newer), behind);
        CHECK_OK(
            of_snapshot ? quire_snapshot_section(snapshot, 0, &newer.known, &error)
                        : quire_results_section(results, 0, &newer.known, &error));
        CHECK(newer.known.struct_size == offsetof(__typeof__(newer), behind) && newer.known.reserved == 0);
        CHECK(newer.known.count == 1 && newer.known.start == 0);
        CHECK_TEXT(newer.known.name, "A");
        CHECK(newer.later[0] == 0 && newer.later[1] == 0 && newer.behind == 0x5A5A5A5A5A5A5A5A);

        /* On failure all but the size is zero. */
        CHECK_FAILS(
            QUIRE_NOT_FOUND, of_snapshot ? quire_snapshot_section(snapshot, 1, &newer.known, &error)
                                         : quire_results_section(results, 1, &newer.known, &error));
        CHECK(newer.known.struct_size == offsetof(__typeof__(newer), behind) && newer.known.count == 0 && !newer.known.name.data);

        /* One that was not initialised is not written to. */
        const uint32_t impossible[] = {0, 4, 64, 73, 79, 4104, UINT32_MAX};
        for (size_t each = 0; each < sizeof impossible / sizeof *impossible; each++) {
            memset(&newer, 0x5A, sizeof newer);
            newer.known.struct_size = impossible[each];
            CHECK_FAILS(
                QUIRE_INVALID_ARGUMENT, of_snapshot ? quire_snapshot_section(snapshot, 0, &newer.known, &error)
                                                    : quire_results_section(results, 0, &newer.known, &error));
            CHECK(newer.known.count == 0x5A5A5A5A5A5A5A5A && newer.known.reserved == 0x5A5A5A5A);
        }
    }
    quire_snapshot_release(snapshot);
    quire_results_release(results);
    close_fixture(made);
}

static void reserved_members_are_not_overlooked(void) {
    fixture made = open_fixture();
    quire_results *results = controller(made.context, NULL, "title", NULL);
    quire_results_delegate delegate = recorder();
    delegate.reserved = 1;
    destroyed = 0;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_results_set_delegate(results, &delegate, &error));
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.reserved = 1;
    hooks.destroy = count_destroyed;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_set_hooks(made.context, NULL, 0, &hooks, &error));
    quire_composite_options options = QUIRE_COMPOSITE_OPTIONS_INIT;
    quire_composite *composite = NULL;
    CHECK_OK(quire_composite_create(made.context, &options, &composite, &error));
    quire_composite_delegate all = QUIRE_COMPOSITE_DELEGATE_INIT;
    all.reserved = 1;
    all.destroy = count_destroyed;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_composite_set_delegate(composite, &all, &error));
    CHECK(destroyed == 0);
    quire_composite_release(composite);
    quire_results_release(results);
    close_fixture(made);
}

static void second_fetch_starts_anew_and_reports_nothing(void) {
    fixture made = open_fixture();
    quire_results *results = controller(made.context, NULL, "title", NULL);
    quire_object_release(insert_book(made.context, "A", 1));
    process(made.context);
    forget();
    CHECK_OK(quire_results_fetch(results, &error));
    CHECK(strcmp(told, "") == 0 && quire_results_count(results) == 1);
    quire_results_release(results);
    close_fixture(made);
}

static int64_t *ids_with_cache(quire_context *context, const char *cache, int64_t *out_count) {
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "title";
    options.cache_name = cache;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    *out_count = quire_results_count(results);
    CHECK(quire_results_section_count(results) == *out_count);
    int64_t *ids = malloc(sizeof *ids * (size_t)*out_count);
    CHECK_OK(quire_results_ids(results, 0, *out_count, ids, &error));
    quire_results_release(results);
    quire_fetch_request_release(request);
    return ids;
}

static int files_in(const char *folder) {
    char command[600];
    snprintf(command, sizeof command, "ls '%s' | grep -c -- -list- > '%s/count' || true", folder, folder);
    CHECK(system(command) == 0);
    snprintf(command, sizeof command, "%s/count", folder);
    FILE *file = fopen(command, "r");
    int count = -1;
    CHECK(file && fscanf(file, "%d", &count) == 1);
    fclose(file);
    return count;
}

static void cache_is_used_while_it_is_right_and_deleted_by_name_or_with_all_others(void) {
    char folder[300], path[400];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/books.store", folder);
    fixture made = open_fixture_at(path);
    for (int i = 0; i < 3; i++) quire_object_release(insert_book(made.context, i == 0 ? "B" : i == 1 ? "A" : "C", i));
    CHECK_OK(quire_context_save(made.context, &error));
    int64_t count = 0, again = 0;
    int64_t *ids = ids_with_cache(made.context, "books", &count), *cached = ids_with_cache(made.context, "books", &again);
    CHECK(count == 3 && again == 3 && memcmp(ids, cached, 3 * sizeof *ids) == 0);
    free(cached);
    CHECK(files_in(folder) == 1);

    quire_object_release(insert_book(made.context, "0", 1));
    CHECK_OK(quire_context_save(made.context, &error));
    cached = ids_with_cache(made.context, "books", &again);
    CHECK(again == 4 && memcmp(ids, cached + 1, 3 * sizeof *ids) == 0);
    free(cached);
    free(ids_with_cache(made.context, "other", &again));
    CHECK(files_in(folder) == 2);

    CHECK_OK(quire_results_delete_cache(made.store, "books", QUIRE_NUL, &error));
    CHECK(files_in(folder) == 1);
    CHECK_OK(quire_results_delete_cache(made.store, "books", QUIRE_NUL, &error));
    CHECK_OK(quire_results_delete_cache(made.store, NULL, 0, &error));
    CHECK(files_in(folder) == 0);
    free(ids);
    close_fixture(made);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(controller_is_empty_before_its_fetch);
    RUN(without_sections_there_is_one_and_with_them_none_when_empty);
    RUN(insert_update_move_and_delete_are_reported);
    RUN(sort_key_that_keeps_its_place_is_an_update);
    RUN(sections_come_and_go_before_the_rows_are_told);
    RUN(related_object_reaches_the_rows_that_depend_on_what_changed);
    RUN(predicate_decides_who_enters_and_leaves);
    RUN(rollback_is_reported_and_a_save_of_what_was_processed_is_not);
    RUN(sections_have_names_titles_starts_and_counts);
    RUN(delegate_may_give_the_index_titles);
    RUN(rows_are_found_by_path_object_id_and_place);
    RUN(queued_changes_are_taken_oldest_first);
    RUN(controller_that_does_not_queue_says_so);
    RUN(requests_that_cannot_be_followed_are_refused);
    RUN(request_is_copied);
    RUN(delegate_is_destroyed_once_when_replaced_or_gone);
    RUN(delegate_of_another_size_is_understood_or_refused);
    RUN(section_of_another_size_is_filled_as_far_as_both_know_it);
    RUN(reserved_members_are_not_overlooked);
    RUN(second_fetch_starts_anew_and_reports_nothing);
    RUN(cache_is_used_while_it_is_right_and_deleted_by_name_or_with_all_others);
    return RESULT();
}
