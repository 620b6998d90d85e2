/* What other processes commit: the descriptor of a context polls readable for it, and lists are told which rows it is. */
#include "fixture.h"

static char folder[256], path[300];

static void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
}

static void run_sql(const char *sql) {
    char command[800];
    snprintf(command, sizeof command, "sqlite3 '%s' '%s' > /dev/null", path, sql);
    CHECK(system(command) == 0);
}

/* A process that commits one book for each byte that it is sent, and answers with one. */
typedef struct writer {
    pid_t process;
    int orders, answers;
} writer;

static void work(int orders, int answers) {
    char order;
    fixture made = {NULL, NULL, NULL};
    while (read(orders, &order, 1) == 1) {
        if (!made.model) made = open_fixture_at(path);
        CHECK_OK(quire_context_merge(made.context, &error));
        if (order == 'i') quire_object_release(insert_book(made.context, "Faust", 300));
        if (order == 'u') {
            quire_list *list = NULL;
            quire_object *book = NULL;
            quire_fetch_request *request = new_request("Book", NULL, "pages");
            CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
            CHECK_OK(quire_list_object(list, 0, &book, &error));
            set_value(book, "pages", quire_value_integer(1000));
            quire_object_release(book);
            quire_list_release(list);
            quire_fetch_request_release(request);
        }
        save(made.context);
        CHECK(write(answers, "d", 1) == 1);
    }
    if (made.model) close_fixture(made);
}

/* Before this process opens the file: SQLite's locks do not pass to a child. */
static writer start_writer(void) {
    int orders[2], answers[2];
    CHECK(pipe(orders) == 0 && pipe(answers) == 0);
    fflush(NULL);
    const writer made = {fork(), orders[1], answers[0]};
    if (made.process == 0) {
        alarm(PATIENCE);
        close(orders[1]);
        close(answers[0]);
        work(orders[0], answers[1]);
        _exit(0);
    }
    close(orders[0]);
    close(answers[1]);
    return made;
}

static void have_it(writer writer, char order) {
    char answer = 0;
    CHECK(write(writer.orders, &order, 1) == 1);
    CHECK(read(writer.answers, &answer, 1) == 1 && answer == 'd');
}

static void stop(writer writer) {
    int status = 0;
    close(writer.orders);
    close(writer.answers);
    CHECK(waitpid(writer.process, &status, 0) == writer.process);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static bool is_readable(int descriptor) {
    struct pollfd waiting = {descriptor, POLLIN, 0};
    return poll(&waiting, 1, 0) == 1;
}

/* Does what an event loop does until the list has so many rows. */
static bool comes_to(quire_results *results, quire_context *context, int descriptor, int64_t count) {
    while (quire_results_count(results) != count) {
        if (!becomes_readable(descriptor)) return false;
        CHECK_OK(quire_context_process(context, &error));
    }
    return true;
}

typedef struct followed {
    fixture made;
    quire_results *results;
    int descriptor;
} followed;

static followed follow(const quire_store_options *options) {
    followed followed = {{library_model(), NULL, NULL}, NULL, 0};
    fixture *made = &followed.made;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, made->model, options, &made->store, &error));
    CHECK_OK(quire_context_create(made->store, &made->context, &error));
    CHECK_OK(quire_context_set_merges_automatically(made->context, true, &error));
    quire_fetch_request *request = new_request("Book", NULL, "pages");
    CHECK_OK(quire_results_create(made->context, request, NULL, &followed.results, &error));
    CHECK_OK(quire_results_fetch(followed.results, &error));
    quire_fetch_request_release(request);
    CHECK_OK(quire_context_descriptor(made->context, &followed.descriptor, &error));
    return followed;
}

static void unfollow(followed followed) {
    quire_results_release(followed.results);
    close_fixture(followed.made);
}

static void a_list_shows_what_another_process_commits(void) {
    use_folder();
    writer writer = start_writer();
    followed followed = follow(NULL);
    for (int64_t number = 1; number <= 20; number++) {
        have_it(writer, 'i');
        CHECK(comes_to(followed.results, followed.made.context, followed.descriptor, number));
    }
    stop(writer);
    unfollow(followed);
    remove_folder(folder);
}

static void a_context_that_does_not_merge_is_woken_until_it_does(void) {
    use_folder();
    writer writer = start_writer();
    followed followed = follow(NULL);
    quire_context *context = followed.made.context;
    CHECK_OK(quire_context_set_merges_automatically(context, false, &error));
    have_it(writer, 'i');
    CHECK(becomes_readable(followed.descriptor));
    CHECK_OK(quire_context_process(context, &error));
    CHECK(quire_results_count(followed.results) == 0);
    CHECK(becomes_readable(followed.descriptor));
    CHECK_OK(quire_context_merge(context, &error));
    CHECK(quire_results_count(followed.results) == 1);
    stop(writer);
    unfollow(followed);
    remove_folder(folder);
}

static void two_contexts_and_two_stores_of_one_file_are_each_woken(void) {
    use_folder();
    writer writer = start_writer();
    followed first = follow(NULL), second = follow(NULL);
    quire_context *beside = NULL;
    int descriptor = -1;
    CHECK_OK(quire_context_create(first.made.store, &beside, &error));
    CHECK_OK(quire_context_descriptor(beside, &descriptor, &error));
    CHECK(count(beside, "Book", "TRUEPREDICATE") == 0);
    have_it(writer, 'i');
    CHECK(comes_to(first.results, first.made.context, first.descriptor, 1));
    CHECK(becomes_readable(descriptor));
    CHECK_OK(quire_context_merge(beside, &error));
    CHECK(count(beside, "Book", "TRUEPREDICATE") == 1);
    CHECK(comes_to(second.results, second.made.context, second.descriptor, 1));
    /* Each of the two stores is another program to the other one. */
    quire_object_release(insert_book(first.made.context, "Stella", 100));
    save(first.made.context);
    CHECK(comes_to(second.results, second.made.context, second.descriptor, 2));
    quire_context_release(beside);
    stop(writer);
    unfollow(first);
    unfollow(second);
    remove_folder(folder);
}

static void its_own_saves_do_not_wake_a_context(void) {
    use_folder();
    followed followed = follow(NULL);
    for (int64_t number = 1; number <= 5; number++) {
        quire_object_release(insert_book(followed.made.context, "Faust", number));
        save(followed.made.context);
        CHECK(!is_readable(followed.descriptor));
    }
    unfollow(followed);
    remove_folder(folder);
}

enum { SAVES = 100, LARGE = 3000 };

/* One thread saves each time that the other one asks for it. */
typedef struct saving {
    quire_store *store;
    pthread_t thread;
    int orders[2];
} saving;

static void *save_in_thread(void *data) {
    const saving *saving = data;
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(saving->store, &context, &error));
    int count = 0;
    while (read(saving->orders[0], &count, sizeof count) == sizeof count) {
        for (int i = 0; i < count; i++) quire_object_release(insert_book(context, "Faust", 300));
        save(context);
    }
    quire_context_release(context);
    return NULL;
}

static void start_saving(saving *saving, quire_store *store) {
    saving->store = store;
    CHECK(pipe(saving->orders) == 0);
    CHECK(pthread_create(&saving->thread, NULL, save_in_thread, saving) == 0);
}

static void order(const saving *saving, int count) {
    CHECK(write(saving->orders[1], &count, sizeof count) == sizeof count);
}

static void end_saving(const saving *saving) {
    close(saving->orders[1]);
    CHECK(pthread_join(saving->thread, NULL) == 0);
    close(saving->orders[0]);
}

/* No loop here: behind the first wait there is something to merge. */
static void a_descriptor_waits_until_a_save_of_a_thread_can_be_merged(void) {
    use_folder();
    followed followed = follow(NULL);
    quire_context *context = followed.made.context;
    CHECK_OK(quire_context_set_merges_automatically(context, false, &error));
    saving saving;
    start_saving(&saving, followed.made.store);
    int64_t number = 0;
    for (int i = 0; i < SAVES; i++) {
        /* A large one is written to the log in several parts, before it is committed. */
        const int count = i % 25 == 24 ? LARGE : 1;
        order(&saving, count);
        CHECK(becomes_readable(followed.descriptor));
        CHECK_OK(quire_context_merge(context, &error));
        CHECK(quire_results_count(followed.results) == (number += count));
    }
    end_saving(&saving);
    unfollow(followed);
    remove_folder(folder);
}

/* A wake that the transaction caused would come before there is something to merge. */
static void a_long_transaction_of_a_thread_wakes_nothing_before_its_end(void) {
    use_folder();
    followed followed = follow(NULL);
    quire_context *context = followed.made.context, *other = NULL;
    CHECK_OK(quire_context_set_merges_automatically(context, false, &error));
    CHECK_OK(quire_context_create(followed.made.store, &other, &error));
    CHECK_OK(quire_context_begin_transaction(other, &error));
    for (int i = 0; i < LARGE; i++) quire_object_release(insert_book(other, "Faust", 300));
    save(other);
    CHECK(!is_readable(followed.descriptor));
    CHECK_OK(quire_context_rollback_transaction(other, &error));
    CHECK(!is_readable(followed.descriptor));
    quire_context_release(other);
    saving saving;
    start_saving(&saving, followed.made.store);
    order(&saving, 1);
    CHECK(becomes_readable(followed.descriptor));
    CHECK_OK(quire_context_merge(context, &error));
    CHECK(quire_results_count(followed.results) == 1 && !is_readable(followed.descriptor));
    end_saving(&saving);
    unfollow(followed);
    remove_folder(folder);
}

static void a_file_that_another_program_gives_a_log_wakes_for_what_comes_there(void) {
    use_folder();
    writer writer = start_writer();
    have_it(writer, 'i');
    stop(writer);
    run_sql("PRAGMA journal_mode = DELETE");
    writer = start_writer();
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    followed followed = follow(&options);
    for (int64_t number = 2; number <= 20; number++) {
        have_it(writer, 'i');
        CHECK(comes_to(followed.results, followed.made.context, followed.descriptor, number));
    }
    stop(writer);
    unfollow(followed);
    remove_folder(folder);
}

static int updates, others;

static void count_object(void *user_data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)user_data;
    (void)results;
    (void)object;
    if (change->kind == QUIRE_CHANGE_UPDATE) updates++;
    else others++;
}

/* Nothing reads the object here, so that only the file can tell that its row has changed. */
static void tell_a_row_that_stays(const quire_store_options *options) {
    use_folder();
    writer writer = start_writer();
    unfollow(follow(options));
    have_it(writer, 'i');
    followed followed = follow(options);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = count_object;
    CHECK_OK(quire_results_set_delegate(followed.results, &delegate, &error));
    updates = others = 0;
    have_it(writer, 'u');
    while (updates == 0) {
        CHECK(becomes_readable(followed.descriptor));
        CHECK_OK(quire_context_process(followed.made.context, &error));
    }
    CHECK(updates == 1 && others == 0);
    stop(writer);
    unfollow(followed);
    remove_folder(folder);
}

static void a_new_file_tells_of_a_row_that_stays_where_it_is(void) {
    const quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    tell_a_row_that_stays(&options);
}

static void a_change_journal_of_saves_tells_of_a_row_that_stays_where_it_is(void) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.change_journal = QUIRE_CHANGE_JOURNAL_SAVES;
    tell_a_row_that_stays(&options);
}

static void a_change_journal_of_all_changes_tells_of_a_row_that_stays_where_it_is(void) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.change_journal = QUIRE_CHANGE_JOURNAL_ALL;
    tell_a_row_that_stays(&options);
}

static void a_history_tells_of_a_row_that_stays_where_it_is(void) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.tracks_history = true;
    options.change_journal = QUIRE_CHANGE_JOURNAL_NONE;
    tell_a_row_that_stays(&options);
}

static int reports, flags, rows_reported;

static void count_report(void *data, quire_results *results, const quire_changes *changes) {
    (void)data, (void)results;
    reports++;
    flags += quire_changes_contents_may_differ(changes);
    rows_reported += (int)quire_changes_row_count(changes);
}

/* Plain SQL changes a row that stays where it is, and then this process saves. */
static followed count_reports(uint32_t change_journal) {
    use_folder();
    fixture made = open_fixture_at(path);
    quire_object_release(insert_book(made.context, "Faust", 300));
    save(made.context);
    close_fixture(made);
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.change_journal = change_journal;
    followed followed = follow(&options);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.changes = count_report;
    CHECK_OK(quire_results_set_delegate(followed.results, &delegate, &error));
    reports = flags = rows_reported = 0;
    const uint64_t *generation = quire_results_generation(followed.results), before = *generation;
    run_sql("UPDATE ZBOOK SET ZTITLE = 1");
    while (reports == 0) {
        CHECK(becomes_readable(followed.descriptor));
        CHECK_OK(quire_context_process(followed.made.context, &error));
    }
    CHECK(reports == 1 && *generation > before);
    return followed;
}

static void unfollow_and_remove(followed followed) {
    unfollow(followed);
    remove_folder(folder);
}

static void a_commit_that_no_journal_has_is_reported_as_contents_that_may_differ(void) {
    for (uint32_t journal = QUIRE_CHANGE_JOURNAL_DEFAULT; journal <= QUIRE_CHANGE_JOURNAL_SAVES; journal++) {
        followed followed = count_reports(journal);
        CHECK(flags == 1 && rows_reported == 0);
        quire_object_release(insert_book(followed.made.context, "own", 1));
        save(followed.made.context);
        CHECK(reports == 2 && flags == 1 && rows_reported == 1);
        unfollow_and_remove(followed);
    }
}

static void a_journal_of_all_changes_leaves_no_contents_that_may_differ(void) {
    followed followed = count_reports(QUIRE_CHANGE_JOURNAL_ALL);
    CHECK(flags == 0 && rows_reported == 1);
    unfollow_and_remove(followed);
    CHECK(!quire_changes_contents_may_differ(NULL));
}

static uint32_t journal_of(const quire_store_options *options) {
    followed followed = follow(options);
    uint32_t journal = 0;
    CHECK_OK(quire_store_change_journal(followed.made.store, &journal, &error));
    unfollow(followed);
    return journal;
}

static void a_file_keeps_the_change_journal_that_it_has_until_another_is_asked_for(void) {
    use_folder();
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    CHECK(journal_of(&options) == QUIRE_CHANGE_JOURNAL_SAVES);
    for (uint32_t journal = QUIRE_CHANGE_JOURNAL_ALL; journal >= QUIRE_CHANGE_JOURNAL_NONE; journal--) {
        options.change_journal = journal;
        CHECK(journal_of(&options) == journal);
        CHECK(journal_of(NULL) == journal);
    }
    options.change_journal = QUIRE_CHANGE_JOURNAL_ALL + 1;
    quire_model *model = library_model();
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    remove_folder(folder);
}

static void a_change_journal_needs_a_file_of_sqlite_that_can_be_written(void) {
    use_folder();
    close_fixture(open_fixture_at(path));
    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.change_journal = QUIRE_CHANGE_JOURNAL_ALL;
    options.is_read_only = true;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    options.is_read_only = false;
    options.type = QUIRE_STORE_XML;
    char xml[320];
    snprintf(xml, sizeof xml, "%s/library.xml", folder);
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_store_open(xml, QUIRE_NUL, model, &options, &store, &error));
    options.type = QUIRE_STORE_ANY;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_store_open(":memory:", QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_list_shows_what_another_process_commits);
    RUN(a_context_that_does_not_merge_is_woken_until_it_does);
    RUN(two_contexts_and_two_stores_of_one_file_are_each_woken);
    RUN(its_own_saves_do_not_wake_a_context);
    RUN(a_descriptor_waits_until_a_save_of_a_thread_can_be_merged);
    RUN(a_long_transaction_of_a_thread_wakes_nothing_before_its_end);
    RUN(a_file_that_another_program_gives_a_log_wakes_for_what_comes_there);
    RUN(a_new_file_tells_of_a_row_that_stays_where_it_is);
    RUN(a_change_journal_of_saves_tells_of_a_row_that_stays_where_it_is);
    RUN(a_change_journal_of_all_changes_tells_of_a_row_that_stays_where_it_is);
    RUN(a_history_tells_of_a_row_that_stays_where_it_is);
    RUN(a_commit_that_no_journal_has_is_reported_as_contents_that_may_differ);
    RUN(a_journal_of_all_changes_leaves_no_contents_that_may_differ);
    RUN(a_file_keeps_the_change_journal_that_it_has_until_another_is_asked_for);
    RUN(a_change_journal_needs_a_file_of_sqlite_that_can_be_written);
    return RESULT();
}
