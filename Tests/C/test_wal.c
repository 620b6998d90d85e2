/* The write-ahead log: its limit, and what is told of it. */
#include "moments.h"

static const uint64_t least = 65536;

static quire_wal_info wal_of(quire_store *store) {
    quire_wal_info info = QUIRE_WAL_INFO_INIT;
    CHECK_OK(quire_store_wal_info(store, &info, &error));
    CHECK(info.unfolded_size >= 0 && info.unfolded_size <= info.size && info.pinned_count <= info.older_count);
    return info;
}

/* As open_stage, with a limit. */
static quire_store *limited(uint64_t limit, quire_context **writer, quire_context **reader) {
    if (is_in_file) {
        make_folder(folder, sizeof folder);
        snprintf(path, sizeof path, "%s/books.store", folder);
    }
    quire_model *model = library_model();
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.wal_limit = limit;
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(is_in_file ? path : ":memory:", QUIRE_NUL, model, &options, &store, &error));
    CHECK_OK(quire_context_create(store, writer, &error));
    CHECK_OK(quire_context_create(store, reader, &error));
    CHECK(count(*reader, "Book", NULL) == 0);
    quire_model_release(model);
    return store;
}

static void end(quire_store *store, quire_context *writer, quire_context *reader) {
    quire_context_release(writer);
    quire_context_release(reader);
    CHECK_OK(quire_store_close(store, &error));
    quire_store_release(store);
    if (is_in_file) remove_folder(folder);
}

/* A commit of two pages and more, which may begin a checkpoint on a thread of the store. */
static void fill(quire_context *context) {
    static char title[5001];
    memset(title, 'a', sizeof title - 1);
    quire_object_release(insert_book(context, title, 1));
    save(context);
}

static void beyond_the_limit_a_context_without_objects_loses_its_moment(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(least, &writer, &reader);
    CHECK(wal_of(store).limit == (int64_t)least && wal_of(store).older_count == 0 && wal_of(store).lag == 0);
    for (int i = 0; i < 3; i++) {
        quire_object_release(insert(writer, "Tag"));
        save(writer);
    }
    const quire_wal_info info = wal_of(store);
    CHECK(info.older_count == 1 && info.pinned_count == 0 && info.lag == 3 && info.size > 0 && info.size < info.limit);
    CHECK(info.lost_count == 0 && !quire_context_has_lost_moment(reader));
    int64_t books = 0;
    for (; wal_of(store).older_count > 0 || wal_of(store).size >= info.limit; books++) fill(writer);
    CHECK(wal_of(store).older_count == 0 && wal_of(store).lag == 0 && wal_of(store).lost_count == 1);
    CHECK(quire_context_has_lost_moment(reader) && !quire_context_has_lost_moment(writer));
    CHECK(count(reader, "Book", NULL) == books);
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK(!quire_context_has_lost_moment(reader) && wal_of(store).lost_count == 0 && !quire_context_has_lost_moment(NULL));
    end(store, writer, reader);
}

/* --- Objects and lists in use. */

/*
 * Two books that the reader knows, of which it has read the first. The writer changes both. The reader keeps its moment until
 * the log is much longer than its limit.
 */
typedef struct lost {
    quire_store *store;
    quire_context *writer, *reader;
    quire_results *results;
    quire_object *read, *unread, *faust, *stella;
    const char *lent;
    quire_section section;
    uint64_t generation;
    int told;
} lost;

static void count_report(void *user_data, quire_results *results, const quire_changes *changes) {
    *(int *)user_data += 1;
    (void)results, (void)changes;
}

static quire_results *list_of_two(quire_context *context) {
    quire_results *results = NULL;
    quire_fetch_request *request = new_request("Book", "pages BETWEEN {2, 3}", "pages");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "title";
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void open_lost_to(lost *lost, void (*change)(const struct lost *lost), bool has_pending) {
    *lost = (struct lost){.section = QUIRE_SECTION_INIT};
    lost->store = limited(least, &lost->writer, &lost->reader);
    lost->faust = insert_book(lost->writer, "Faust", 2), lost->stella = insert_book(lost->writer, "Stella", 3);
    save(lost->writer);
    CHECK_OK(quire_context_merge(lost->reader, &error));
    lost->read = in(lost->reader, lost->faust, "Book");
    lost->unread = in(lost->reader, lost->stella, "Book");
    CHECK_OK(quire_context_refresh(lost->reader, lost->unread, false, &error));
    lost->results = list_of_two(lost->reader);
    CHECK_OK(quire_results_section(lost->results, 0, &lost->section, &error));
    CHECK(quire_object_is_fault(lost->unread));
    if (has_pending) set_value(lost->read, "pages", quire_value_integer(3));
    lost->lent = get_text(lost->read, "title");
    lost->generation = quire_context_generation(lost->reader);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.changes = count_report;
    delegate.user_data = &lost->told;
    CHECK_OK(quire_results_set_delegate(lost->results, &delegate, &error));
    change(lost);
    save(lost->writer);
    while (wal_of(lost->store).size < 4 * (int64_t)least) fill(lost->writer);
    CHECK(!quire_context_has_lost_moment(lost->reader) && wal_of(lost->store).older_count == 1);
    while (wal_of(lost->store).lost_count == 0) fill(lost->writer);
    CHECK(quire_context_has_lost_moment(lost->reader));
}

static void rename_both(const lost *lost) {
    set_text(lost->faust, "title", "Faust II");
    set_text(lost->stella, "title", "Stella II");
}

static void open_lost(lost *lost) { open_lost_to(lost, rename_both, false); }

static void delete_stella(const lost *lost) {
    set_text(lost->faust, "title", "Faust II");
    CHECK_OK(quire_context_delete(lost->writer, lost->stella, &error));
}

/* Nothing was reported, and what was shown and lent is still there. */
static void check_as_shown(const lost *lost) {
    CHECK(lost->told == 0 && quire_context_has_lost_moment(lost->reader));
    CHECK(quire_context_generation(lost->reader) == lost->generation);
    CHECK(strcmp(lost->lent, "Faust") == 0);
    CHECK_TEXT(lost->section.name, "Faust");
    CHECK_SAME(get_text(lost->read, "title"), "Faust");
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(lost->results, 1, &section, &error));
    CHECK_TEXT(section.name, "Stella");
    int64_t ids[2];
    CHECK_OK(quire_results_ids(lost->results, 0, 2, ids, &error));
    CHECK(ids[0] == quire_object_id(lost->read) && ids[1] == quire_object_id(lost->unread));
}

static void release_lost(const lost *lost) {
    quire_object_release(lost->read);
    quire_object_release(lost->unread);
    quire_object_release(lost->faust);
    quire_object_release(lost->stella);
    quire_results_release(lost->results);
    end(lost->store, lost->writer, lost->reader);
}

/* The list is what a new one of the context is. */
static void check_list_is_right(lost *lost) {
    quire_results *fresh = list_of_two(lost->reader);
    const int64_t total = quire_results_count(fresh);
    CHECK(quire_results_count(lost->results) == total && total <= 4);
    int64_t ids[4], wanted[4];
    CHECK_OK(quire_results_ids(lost->results, 0, total, ids, &error));
    CHECK_OK(quire_results_ids(fresh, 0, total, wanted, &error));
    CHECK(memcmp(ids, wanted, (size_t)total * sizeof *ids) == 0);
    CHECK(quire_results_section_count(lost->results) == quire_results_section_count(fresh));
    for (int64_t i = 0; i < quire_results_section_count(fresh); i++) {
        quire_section section = QUIRE_SECTION_INIT, other = QUIRE_SECTION_INIT;
        CHECK_OK(quire_results_section(lost->results, i, &section, &error));
        CHECK_OK(quire_results_section(fresh, i, &other, &error));
        CHECK(section.name.size == other.name.size && memcmp(section.name.data, other.name.data, other.name.size) == 0);
    }
    quire_results_release(fresh);
}

/* A merge brings everything up to date, and reports it once. */
static void close_merged(lost *lost) {
    check_as_shown(lost);
    CHECK_OK(quire_context_merge(lost->reader, &error));
    CHECK(lost->told == 1 && !quire_context_has_lost_moment(lost->reader));
    CHECK(quire_context_generation(lost->reader) > lost->generation && wal_of(lost->store).lost_count == 0);
    CHECK_SAME(get_text(lost->read, "title"), "Faust II");
    CHECK_SAME(get_text(lost->unread, "title"), "Stella II");
    check_list_is_right(lost);
    release_lost(lost);
}

static void no_read_advances_or_reports_where_the_moment_was_given_up(void) {
    lost lost;
    open_lost(&lost);
    CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
    close_merged(&lost);

    open_lost(&lost);
    CHECK_SAME(members(lost.read, "tags", "label"), "");
    close_merged(&lost);

    open_lost(&lost);
    quire_object *shown = NULL;
    CHECK_OK(quire_results_object(lost.results, 1, 0, &shown, &error));
    CHECK(shown == lost.unread);
    CHECK_SAME(get_text(shown, "title"), "Stella II");
    quire_object_release(shown);
    close_merged(&lost);

    open_lost(&lost);
    const char *keys[] = {"title"};
    quire_page *page = NULL;
    CHECK_OK(quire_results_page(lost.results, 0, 2, keys, 1, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(memcmp(quire_page_column(page, 0)->values, "Faust\0Stella II", 15) == 0);
    quire_page_release(page);
    close_merged(&lost);

    open_lost(&lost);
    quire_object_release(in(lost.reader, lost.unread, "Book"));
    CHECK_OK(quire_object_validate(lost.unread, &error));
    close_merged(&lost);

    open_lost(&lost);
    CHECK(count(lost.reader, "Book", "title == 'Faust II'") == 1);
    CHECK_SAME(all(lost.reader, "Tag", "label"), "");
    close_merged(&lost);

    open_lost(&lost);
    quire_results *other = list_of_two(lost.reader);
    CHECK(quire_results_count(other) == 2);
    close_merged(&lost);
    quire_results_release(other);

    open_lost(&lost);
    quire_object *tag = insert(lost.reader, "Tag");
    CHECK_OK(quire_object_add(lost.read, "tags", QUIRE_NUL, tag, &error));
    quire_object_release(tag);
    CHECK_OK(quire_context_process_pending(lost.reader, &error));
    CHECK(lost.told <= 1);
    lost.told = 0;
    close_merged(&lost);

    open_lost(&lost);
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(lost.reader, &child, &error));
    CHECK(count(child, "Book", "title == 'Stella II'") == 1 && quire_context_has_lost_moment(child));
    CHECK_OK(quire_context_process_pending(child, &error));
    quire_context_release(child);
    close_merged(&lost);
}

static void a_row_that_is_gone_is_not_found_and_its_list_stays(void) {
    lost lost;
    open_lost_to(&lost, delete_stella, false);
    const char *keys[] = {"title"};
    quire_page *page = NULL;
    quire_object *shown = NULL;
    quire_value value;
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_page(lost.results, 0, 2, keys, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_results_object(lost.results, 1, 0, &shown, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(lost.reader, "Book", QUIRE_NUL, quire_object_id(lost.unread), &shown, &error));
    CHECK(quire_object_get(lost.unread, "title", QUIRE_NUL, &value, &error) == QUIRE_NOT_FOUND);
    CHECK(strstr(quire_error_message(error).data, "quire_context_merge") != NULL);
    quire_error_release(error);
    error = NULL;
    CHECK_OK(quire_results_page(lost.results, 0, 1, keys, 1, 0, &page, &error));
    quire_page_release(page);
    CHECK_OK(quire_context_process(lost.reader, &error));
    CHECK(!quire_object_is_deleted(lost.unread));
    check_as_shown(&lost);
    CHECK_OK(quire_context_merge(lost.reader, &error));
    CHECK(lost.told == 1 && quire_results_count(lost.results) == 1 && quire_object_is_deleted(lost.unread));
    release_lost(&lost);
}

static void pending_changes_are_reported_alone_unless_the_context_merges_automatically(void) {
    lost lost;
    open_lost_to(&lost, rename_both, true);
    CHECK_OK(quire_context_process(lost.reader, &error));
    CHECK(lost.told == 1 && quire_context_has_lost_moment(lost.reader));
    CHECK_SAME(get_text(lost.read, "title"), "Faust");
    CHECK_OK(quire_context_set_merges_automatically(lost.reader, true, &error));
    CHECK(count(lost.reader, "Book", "title == 'Stella II'") == 1);
    CHECK(lost.told == 1);
    CHECK_OK(quire_context_process(lost.reader, &error));
    CHECK(lost.told == 2 && !quire_context_has_lost_moment(lost.reader));
    CHECK_SAME(get_text(lost.read, "title"), "Faust II");
    check_list_is_right(&lost);
    release_lost(&lost);
}

static void a_save_still_finds_what_others_have_changed(void) {
    lost lost;
    open_lost_to(&lost, rename_both, true);
    CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(lost.reader, &error));
    CHECK_OK(quire_context_rollback(lost.reader, &error));
    CHECK_SAME(get_text(lost.read, "title"), "Faust II");
    CHECK(!quire_context_has_lost_moment(lost.reader));
    check_list_is_right(&lost);
    release_lost(&lost);
}

/* What is read ahead twice changed in something else in between than what the list knows. */
static void lists_are_right_after_a_merge_whatever_was_read_ahead(void) {
    lost lost;
    for (int reads = 0; reads < 4; reads++) {
        open_lost(&lost);
        set_value(lost.stella, "pages", quire_value_integer(9));
        quire_object *egmont = insert_book(lost.writer, "Egmont", 2);
        save(lost.writer);
        quire_results *other = NULL;
        if (reads & 1) CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
        if (reads & 2) other = list_of_two(lost.reader);
        CHECK(other == NULL || quire_results_count(other) == 2);
        set_text(lost.stella, "title", "Stella III");
        set_value(egmont, "pages", quire_value_integer(3));
        save(lost.writer);
        check_as_shown(&lost);
        CHECK_OK(quire_context_merge(lost.reader, &error));
        CHECK(lost.told == 1 && quire_results_count(lost.results) == 2);
        CHECK_SAME(get_text(lost.unread, "title"), "Stella III");
        check_list_is_right(&lost);
        CHECK(other == NULL || quire_results_count(other) == 2);
        quire_results_release(other);
        quire_object_release(egmont);
        release_lost(&lost);
    }
}

static void a_lost_moment_can_neither_be_named_nor_kept(void) {
    lost lost;
    open_lost(&lost);
    quire_moment *moment = NULL;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_moment(lost.reader, &moment, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_pin(lost.reader, NULL, &error));
    CHECK(!quire_context_is_pinned(lost.reader));
    check_as_shown(&lost);
    CHECK_OK(quire_context_moment(lost.writer, &moment, &error));
    CHECK_OK(quire_context_pin(lost.reader, moment, &error));
    CHECK(lost.told == 1 && !quire_context_has_lost_moment(lost.reader));
    CHECK_SAME(get_text(lost.read, "title"), "Faust II");
    check_list_is_right(&lost);
    quire_moment_release(moment);
    release_lost(&lost);
}

static void a_pinned_context_keeps_its_moment_beyond_the_limit(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(least, &writer, &reader);
    CHECK_OK(quire_context_pin(reader, NULL, &error));
    for (int i = 0; i < 60; i++) fill(writer);
    process(reader);
    CHECK(count(reader, "Book", NULL) == 0);
    const quire_wal_info info = wal_of(store);
    CHECK(info.older_count == 1 && info.pinned_count == 1 && info.lag == 60);
    CHECK(info.size > 2 * info.limit && info.unfolded_size > 0);
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK(count(reader, "Book", NULL) == 60 && wal_of(store).older_count == 0);
    while (wal_of(store).size >= info.limit) {
        fill(writer);
        CHECK_OK(quire_context_merge(reader, &error));
    }
    end(store, writer, reader);
}

static void limits_have_a_default_and_a_least(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(0, &writer, &reader);
    CHECK(wal_of(store).limit == (is_in_file ? 64 : 16) << 20);
    end(store, writer, reader);
    store = limited(UINT64_C(1) << 32, &writer, &reader);
    CHECK(wal_of(store).limit == INT64_C(1) << 32);
    end(store, writer, reader);
    quire_model *model = library_model();
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.wal_limit = least - 1;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(":memory:", QUIRE_NUL, model, &options, &store, &error));
    CHECK(store == NULL);
    /* A program that knows no limit has the default. */
    options.struct_size = offsetof(quire_store_options, wal_limit);
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, &options, &store, &error));
    CHECK(wal_of(store).limit == 16 << 20);
    quire_store_release(store);
    quire_model_release(model);
}

static void the_state_has_its_size_and_needs_an_open_store(void) {
    fixture made = open_fixture();
    quire_wal_info info = {0};
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_wal_info(made.store, &info, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_wal_info(made.store, NULL, &error));
    CHECK_OK(quire_store_close(made.store, &error));
    info = (quire_wal_info)QUIRE_WAL_INFO_INIT;
    info.lag = 5;
    CHECK_FAILS(QUIRE_CLOSED, quire_store_wal_info(made.store, &info, &error));
    CHECK(info.lag == 0 && info.struct_size == sizeof info);
    close_fixture(made);
}

/* Pages become free by deletions. */
static void free_pages(quire_context *writer) {
    quire_object *books[40];
    static char title[5001];
    memset(title, 'a', sizeof title - 1);
    for (int i = 0; i < 40; i++) books[i] = insert_book(writer, title, i);
    save(writer);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(quire_context_delete(writer, books[i], &error));
        quire_object_release(books[i]);
    }
    save(writer);
}

static void a_checkpoint_empties_the_log_unless_a_context_shows_an_older_moment(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(0, &writer, &reader);
    fill(writer);
    CHECK(wal_of(store).size > 0);
    CHECK_FAILS(QUIRE_BUSY, quire_store_checkpoint(store, &error));
    CHECK(count(reader, "Book", NULL) == 0 && wal_of(store).older_count == 1);
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK_OK(quire_store_checkpoint(store, &error));
    CHECK(wal_of(store).size == 0 && count(reader, "Book", NULL) == 1);
    fill(writer);
    CHECK(wal_of(store).size > 0 && count(reader, "Book", NULL) == 1);
    end(store, writer, reader);
}

static void compact_gives_free_pages_back_and_moves_no_context(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(0, &writer, &reader);
    free_pages(writer);
    int64_t freed = -1;
    /* The pages are free, and the log keeps them until the reader has merged. */
    CHECK_FAILS(QUIRE_BUSY, quire_store_compact(store, &freed, &error));
    CHECK(freed == 0);
    CHECK_OK(quire_context_merge(reader, &error));
    const uint64_t generation = quire_context_generation(reader);
    free_pages(writer);
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK(quire_context_generation(reader) > generation);
    const uint64_t merged = quire_context_generation(reader);
    CHECK_OK(quire_store_compact(store, &freed, &error));
    CHECK(freed > 40 * 4096 && wal_of(store).size == 0 && wal_of(store).older_count == 0);
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK(quire_context_generation(reader) == merged);
    CHECK_OK(quire_store_compact(store, NULL, &error));
    CHECK_OK(quire_store_compact(store, &freed, &error));
    CHECK(freed == 0);
    CHECK_OK(quire_store_close(store, &error));
    freed = 5;
    CHECK_FAILS(QUIRE_CLOSED, quire_store_compact(store, &freed, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_store_checkpoint(store, &error));
    CHECK(freed == 0);
    end(store, writer, reader);
}

static quire_store *logged;

static void ask_within_a_log(void *data, const quire_log_entry *entry) {
    (void)data, (void)entry;
    quire_wal_info info = QUIRE_WAL_INFO_INIT;
    tell(
        "%d %d %d;", quire_store_wal_info(logged, &info, NULL), quire_store_checkpoint(logged, NULL),
        quire_store_compact(logged, NULL, NULL));
}

static void a_log_cannot_ask(void) {
    fixture made = open_fixture();
    quire_log log = QUIRE_LOG_INIT;
    log.statement = ask_within_a_log;
    logged = made.store;
    CHECK_OK(quire_store_set_log(made.store, &log, &error));
    CHECK(count(made.context, "Book", NULL) == 0);
    CHECK_OK(quire_store_set_log(made.store, NULL, &error));
    CHECK_TOLD("2 2 2;");
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    for (int place = 0; place < 2; place++) {
        is_in_file = place;
        RUN(beyond_the_limit_a_context_without_objects_loses_its_moment);
        RUN(no_read_advances_or_reports_where_the_moment_was_given_up);
        RUN(a_row_that_is_gone_is_not_found_and_its_list_stays);
        RUN(pending_changes_are_reported_alone_unless_the_context_merges_automatically);
        RUN(a_save_still_finds_what_others_have_changed);
        RUN(lists_are_right_after_a_merge_whatever_was_read_ahead);
        RUN(a_lost_moment_can_neither_be_named_nor_kept);
        RUN(a_pinned_context_keeps_its_moment_beyond_the_limit);
        RUN(limits_have_a_default_and_a_least);
        RUN(a_checkpoint_empties_the_log_unless_a_context_shows_an_older_moment);
        RUN(compact_gives_free_pages_back_and_moves_no_context);
    }
    RUN(the_state_has_its_size_and_needs_an_open_store);
    RUN(a_log_cannot_ask);
    return RESULT();
}
