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

static void beyond_the_limit_a_context_moves_on_and_the_log_begins_anew(void) {
    quire_context *writer = NULL, *reader = NULL;
    quire_store *store = limited(least, &writer, &reader);
    CHECK(wal_of(store).limit == (int64_t)least && wal_of(store).older_count == 0 && wal_of(store).lag == 0);
    for (int i = 0; i < 3; i++) {
        quire_object_release(insert(writer, "Tag"));
        save(writer);
    }
    const quire_wal_info info = wal_of(store);
    CHECK(info.older_count == 1 && info.pinned_count == 0 && info.lag == 3 && info.size > 0 && info.size < info.limit);
    int64_t books = 0;
    for (; wal_of(store).older_count > 0 || wal_of(store).size >= info.limit; books++) fill(writer);
    CHECK(wal_of(store).older_count == 0 && wal_of(store).lag == 0);
    process(reader);
    CHECK(count(reader, "Book", NULL) == books);
    end(store, writer, reader);
}

/* Two books that the reader knows, of which it has read the first. The writer changes both, and the reader's moment goes. */
typedef struct lost {
    quire_store *store;
    quire_context *writer, *reader;
    quire_results *results;
    quire_object *read, *unread;
    const char *lent;
    quire_section section;
    uint64_t generation;
} lost;

static lost open_lost_to(void (*change)(quire_object *faust, quire_object *stella), bool has_pending) {
    lost lost = {.store = NULL};
    lost.store = limited(least, &lost.writer, &lost.reader);
    quire_object *faust = insert_book(lost.writer, "Faust", 2), *stella = insert_book(lost.writer, "Stella", 3);
    save(lost.writer);
    CHECK_OK(quire_context_merge(lost.reader, &error));
    quire_fetch_request *request = new_request("Book", "pages BETWEEN {2, 3}", "pages");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "title";
    CHECK_OK(quire_results_create(lost.reader, request, &options, &lost.results, &error));
    CHECK_OK(quire_results_fetch(lost.results, &error));
    lost.section = (quire_section)QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(lost.results, 0, &lost.section, &error));
    lost.read = in(lost.reader, faust, "Book");
    lost.unread = in(lost.reader, stella, "Book");
    CHECK_OK(quire_context_refresh(lost.reader, lost.unread, false, &error));
    if (has_pending) set_value(lost.read, "pages", quire_value_integer(3));
    lost.lent = get_text(lost.read, "title");
    lost.generation = quire_context_generation(lost.reader);
    change(faust, stella);
    save(lost.writer);
    while (wal_of(lost.store).older_count > 0) fill(lost.writer);
    quire_object_release(faust);
    quire_object_release(stella);
    quire_fetch_request_release(request);
    return lost;
}

static void rename_both(quire_object *faust, quire_object *stella) {
    set_text(faust, "title", "Faust II");
    set_text(stella, "title", "Stella II");
}

static lost open_lost(void) { return open_lost_to(rename_both, false); }

static void delete_stella(quire_object *faust, quire_object *stella) {
    set_text(faust, "title", "Faust II");
    CHECK_OK(quire_context_delete(quire_object_context(stella), stella, &error));
}

static void check_lent(const lost *lost) {
    CHECK(strcmp(lost->lent, "Faust") == 0);
    CHECK_TEXT(lost->section.name, "Faust");
}

static void release_lost(lost lost) {
    quire_object_release(lost.read);
    quire_object_release(lost.unread);
    quire_results_release(lost.results);
    end(lost.store, lost.writer, lost.reader);
}

/* Shows all that is newest, without a call that processes changes; what it has lent is still there. */
static void close_moved(lost lost) {
    check_lent(&lost);
    CHECK_SAME(get_text(lost.read, "title"), "Faust II");
    check_lent(&lost);
    CHECK(quire_context_generation(lost.reader) > lost.generation);
    CHECK(quire_object_is_fault(lost.unread) || strcmp(get_text(lost.unread, "title"), "Stella II") == 0);
    release_lost(lost);
}

static void a_read_moves_on_first_where_the_moment_was_given_up(void) {
    lost lost = open_lost();
    CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
    close_moved(lost);

    lost = open_lost();
    set_value(lost.unread, "pages", quire_value_integer(4));
    close_moved(lost);

    lost = open_lost();
    CHECK_SAME(members(lost.read, "tags", "label"), "");
    close_moved(lost);

    lost = open_lost();
    quire_object *shown = NULL;
    CHECK_OK(quire_results_object(lost.results, 1, 0, &shown, &error));
    CHECK_SAME(get_text(shown, "title"), "Stella II");
    quire_object_release(shown);
    close_moved(lost);

    lost = open_lost();
    const char *keys[] = {"title"};
    quire_page *page = NULL;
    CHECK_OK(quire_results_page(lost.results, 0, 2, keys, 1, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(memcmp(quire_page_column(page, 0)->values, "Faust II\0Stella II", 18) == 0);
    quire_page_release(page);
    close_moved(lost);

    lost = open_lost();
    quire_object_release(in(lost.reader, lost.unread, "Book"));
    close_moved(lost);

    lost = open_lost();
    CHECK(count(lost.reader, "Book", "title == 'Faust II'") == 1);
    close_moved(lost);

    lost = open_lost();
    quire_object *tag = insert(lost.reader, "Tag");
    CHECK_OK(quire_object_add(lost.read, "tags", QUIRE_NUL, tag, &error));
    quire_object_release(tag);
    close_moved(lost);

    lost = open_lost();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(lost.reader, &child, &error));
    CHECK_OK(quire_context_process_pending(child, &error));
    quire_context_release(child);
    close_moved(lost);
}

static void refuse(void *user_data, quire_results *results, const quire_changes *changes) {
    *(int *)user_data += 1;
    (void)changes;
    CHECK_OK(quire_results_delegate_failed(results, "no room", QUIRE_NUL, &error));
}

static void a_read_that_moves_on_fails_with_a_delegate_that_fails(void) {
    lost lost = open_lost();
    int told = 0;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.changes = refuse;
    delegate.user_data = &told;
    CHECK_OK(quire_results_set_delegate(lost.results, &delegate, &error));
    quire_value value;
    CHECK_FAILS(QUIRE_FUNCTION, quire_object_get(lost.unread, "title", QUIRE_NUL, &value, &error));
    CHECK(told == 1 && quire_context_generation(lost.reader) > lost.generation);
    CHECK(strcmp(lost.lent, "Faust") == 0);
    CHECK_OK(quire_results_set_delegate(lost.results, NULL, &error));
    CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
    release_lost(lost);
}

static void a_page_has_what_is_there_where_the_moment_was_given_up(void) {
    lost lost = open_lost_to(delete_stella, false);
    CHECK(quire_results_count(lost.results) == 2);
    const char *keys[] = {"title"};
    quire_page *page = NULL;
    CHECK_OK(quire_results_page(lost.results, 0, 2, keys, 1, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(quire_page_row_count(page) == 1 && quire_results_count(lost.results) == 1);
    quire_page_release(page);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_page(lost.results, 0, 2, keys, 1, 0, &page, &error));
    check_lent(&lost);
    CHECK(quire_object_is_deleted(lost.unread));
    release_lost(lost);
}

/* Only its pending change keeps an object as it was. */
static void what_is_pending_no_more_is_as_the_rest(void) {
    lost lost = open_lost_to(rename_both, true);
    CHECK_SAME(get_text(lost.unread, "title"), "Stella II");
    CHECK_SAME(get_text(lost.read, "title"), "Faust");
    set_value(lost.read, "pages", quire_value_integer(2));
    CHECK(!quire_context_has_changes(lost.reader));
    process(lost.reader);
    CHECK_SAME(get_text(lost.read, "title"), "Faust II");
    release_lost(lost);
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
        RUN(beyond_the_limit_a_context_moves_on_and_the_log_begins_anew);
        RUN(a_read_moves_on_first_where_the_moment_was_given_up);
        RUN(a_read_that_moves_on_fails_with_a_delegate_that_fails);
        RUN(a_page_has_what_is_there_where_the_moment_was_given_up);
        RUN(what_is_pending_no_more_is_as_the_rest);
        RUN(a_pinned_context_keeps_its_moment_beyond_the_limit);
        RUN(limits_have_a_default_and_a_least);
        RUN(a_checkpoint_empties_the_log_unless_a_context_shows_an_older_moment);
        RUN(compact_gives_free_pages_back_and_moves_no_context);
    }
    RUN(the_state_has_its_size_and_needs_an_open_store);
    RUN(a_log_cannot_ask);
    return RESULT();
}
