/* What happens when the files of an open store go from their places. */
#include "store_files.h"

#include <sys/stat.h>
#include <time.h>

static quire_status insert_rows(fixture made) {
    const char *const keys[] = {"title"};
    const quire_value titles[] = {quire_value_text("Egmont")};
    const quire_value *const columns[] = {titles};
    return quire_context_batch_insert(made.context, "Book", QUIRE_NUL, keys, columns, 1, 1, NULL, NULL, NULL, &error);
}

static quire_status delete_rows(fixture made) {
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    const quire_status status = quire_context_batch_delete(made.context, request, NULL, NULL, NULL, &error);
    quire_fetch_request_release(request);
    return status;
}

/* Everything that writes is refused, and nothing is lost by that; the caller has a new object in the context. */
static void check_is_refused(fixture made) {
    CHECK(quire_context_save(made.context, &error) == QUIRE_FILE_MOVED);
    CHECK(strstr(quire_error_message(error).data, "moved, deleted or replaced"));
    CHECK(strstr(quire_error_message(error).data, path));
    quire_error_release(error);
    error = NULL;
    CHECK_FAILS(QUIRE_FILE_MOVED, insert_rows(made));
    CHECK_FAILS(QUIRE_FILE_MOVED, delete_rows(made));
    CHECK(quire_context_has_changes(made.context));
    /* More objects than keys were taken ahead. */
    for (int i = 0; i < 100; i++) quire_object_release(insert_book(made.context, "Stella", i));
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_obtain_permanent_ids(made.context, &error));
    /* A copy is a way to keep what was opened. */
    char copy[400];
    snprintf(copy, sizeof copy, "%s/copy.sqlite", folder);
    CHECK_OK(quire_store_copy(made.store, copy, QUIRE_NUL, &error));
    CHECK(books_at(copy) == 1 && unlink(copy) == 0);
}

/* What becomes of the log and its index is noticed some time later. Until then a transaction begins. */
static void await_notice(quire_store *store) {
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(store, &context, &error));
    while (quire_context_begin_transaction(context, &error) == QUIRE_OK)
        CHECK_OK(quire_context_rollback_transaction(context, &error));
    CHECK(quire_error_status(error) == QUIRE_FILE_MOVED);
    quire_error_release(error);
    error = NULL;
    quire_context_release(context);
}

static void move_file(void) { CHECK(rename(path, other_path) == 0); }
static void delete_file(void) { CHECK(unlink(path) == 0); }
static void delete_log(void) { CHECK(unlink(with(path, "-wal")) == 0); }
static void delete_index(void) { CHECK(unlink(with(path, "-shm")) == 0); }

static void replace_file(void) {
    save_book_at(other_path, "Iphigenie");
    CHECK(rename(other_path, path) == 0);
}

static void replace_log(void) {
    write_file(other_path, "another log");
    CHECK(rename(other_path, with(path, "-wal")) == 0);
}

static void replace_index(void) {
    write_file(other_path, "another index");
    CHECK(rename(other_path, with(path, "-shm")) == 0);
}

static void move_everything(void) {
    CHECK(rename(path, other_path) == 0);
    CHECK(rename(with(path, "-wal"), with(other_path, "-wal")) == 0);
    CHECK(rename(with(path, "-shm"), with(other_path, "-shm")) == 0);
}

static void files_that_are_not_in_their_places_are_not_written(void) {
    enum { OF_THE_FILE = 3 };
    void (*const deeds[])(void) = {
        move_file, delete_file, replace_file, delete_log, replace_log, delete_index, replace_index, move_everything};
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        use_folder();
        fixture made = open_fixture_at(path);
        save_book(made, "Faust");
        quire_object_release(insert_book(made.context, "Tasso", 100));
        deeds[i]();
        if (i >= OF_THE_FILE) await_notice(made.store);
        check_is_refused(made);
        /* What was opened can be read to the end. */
        CHECK(count(made.context, "Book", "title == 'Faust'") == 1);
        close_fixture(made);
        remove_folder(folder);
    }
}

static void second_store_at_a_path_is_left_alone(void) {
    for (int keeps_log = 0; keeps_log < 2; keeps_log++) {
        use_folder();
        fixture first = open_fixture_at(path);
        save_book(first, "Faust");
        CHECK(rename(path, other_path) == 0);
        if (!keeps_log) CHECK(rename(with(path, "-wal"), with(other_path, "-wal")) == 0);
        /* A new store at the old path, which is still open when the first one is closed. */
        fixture second = open_fixture_at(path);
        save_book(second, "Iphigenie");
        quire_object_release(insert_book(first.context, "Tasso", 100));
        CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(first.context, &error));
        close_fixture(first);
        if (!keeps_log) CHECK(exists(with(path, "-wal")));
        save_book(second, "Stella");
        CHECK(count(second.context, "Book", NULL) == 2);
        close_fixture(second);
        CHECK(books_at(path) == 2);
        if (!keeps_log) CHECK(books_at(other_path) == 1);
        remove_folder(folder);
    }
}

/* What a program does that takes the message at its word. */
static void file_that_is_opened_where_it_is_now_has_all_that_was_saved(void) {
    for (int is_told = 0; is_told < 2; is_told++) {
        use_folder();
        fixture made = open_fixture_at(path);
        for (int i = 0; i < 50; i++) save_book(made, "Faust");
        CHECK(rename(path, other_path) == 0);
        if (is_told) {
            quire_object_release(insert_book(made.context, "Tasso", 100));
            CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
            /* From here on the file is whole, whatever becomes of this process. */
            run("cp '%s' '%s'", other_path, with(other_path, "-copy"));
            CHECK(books_at(with(other_path, "-copy")) == 50 && unlink(with(other_path, "-copy")) == 0);
        }
        CHECK_OK(quire_store_close(made.store, &error));
        close_fixture(made);
        CHECK(books_at(other_path) == 50);
        /* A new store at the old path has nothing of it. */
        CHECK(books_at(path) == 0);
        CHECK(books_at(other_path) == 50);
        remove_folder(folder);
    }
}

static void insert_many(fixture made, int64_t rows) {
    for (int64_t i = 0; i < rows; i++) quire_object_release(insert_book(made.context, "Iphigenie auf Tauris", i));
    save(made.context);
}

static void backup_that_is_moved_to_the_path_is_left_as_it_was(void) {
    for (int is_told = 0; is_told < 2; is_told++) {
        use_folder();
        fixture backup = open_fixture_at(other_path);
        insert_many(backup, 3000);
        close_fixture(backup);
        fixture made = open_fixture_at(path);
        insert_many(made, 5000);
        save_book(made, "Faust");
        CHECK(rename(other_path, path) == 0);
        if (is_told) {
            quire_object_release(insert_book(made.context, "Tasso", 100));
            CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
        }
        close_fixture(made);
        CHECK(books_at(path) == 3000);
        made = open_fixture_at(path);
        CHECK_OK(quire_store_check(made.store, NULL, &error));
        close_fixture(made);
        remove_folder(folder);
    }
}

/* What another program has written since must not be overwritten by an older log. */
static void file_that_was_written_where_it_is_now_is_left_alone(void) {
    for (int stays_open = 0; stays_open < 2; stays_open++) {
        use_folder();
        fixture made = open_fixture_at(path);
        insert_many(made, 2000);
        run("sqlite3 '%s' 'PRAGMA wal_checkpoint' > /dev/null%s", path, "");
        save_book(made, "Faust");
        CHECK(rename(path, other_path) == 0);
        /* SQLite's own program, because a store of the parent is refused in a forked process. */
        const shell other = open_shell(other_path);
        run_in_shell(other, "UPDATE ZBOOK SET ZTITLE = 'Wallenstein' || Z_PK;");
        if (!stays_open) close_shell(other);
        quire_object_release(insert_book(made.context, "Tasso", 100));
        CHECK(quire_context_save(made.context, &error) == QUIRE_FILE_MOVED);
        CHECK(strstr(quire_error_message(error).data, "library.sqlite-wal"));
        quire_error_release(error);
        error = NULL;
        CHECK_FAILS(QUIRE_FILE_MOVED, quire_store_close(made.store, &error));
        CHECK(!quire_store_is_open(made.store));
        close_fixture(made);
        if (stays_open) close_shell(other);
        /* The last save is in the log alone, as the messages said. */
        CHECK(books_at(other_path) == 2000 && exists(with(path, "-wal")));
        run("test \"$(sqlite3 '%s' \"SELECT count(*) FROM ZBOOK WHERE ZTITLE LIKE 'Wallenstein%%'\")\" = 2000%s",
            other_path, "");
        remove_folder(folder);
    }
}

static void second_name_of_an_open_file_is_refused(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    CHECK(rename(path, other_path) == 0);
    quire_store *second = NULL;
    CHECK(quire_store_open(other_path, QUIRE_NUL, quire_store_model(made.store), NULL, &second, &error)
        == QUIRE_CANNOT_OPEN);
    CHECK(!second && strstr(quire_error_message(error).data, path));
    quire_error_release(error);
    error = NULL;
    CHECK(rename(other_path, path) == 0);
    save_book(made, "Stella");
    close_fixture(made);

    CHECK(link(path, other_path) == 0);
    quire_model *model = library_model();
    CHECK(quire_store_open(path, QUIRE_NUL, model, NULL, &second, &error) == QUIRE_CANNOT_OPEN);
    CHECK(!second && strstr(quire_error_message(error).data, "hard link"));
    quire_error_release(error);
    error = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    CHECK_OK(quire_store_open(other_path, QUIRE_NUL, model, &options, &second, &error));
    quire_store_release(second);
    CHECK(unlink(other_path) == 0);
    quire_model_release(model);
    CHECK(books_at(path) == 2);
    remove_folder(folder);
}

/* Waits until the last change of the file is so old that a later one has another time. */
static void await_age(void) {
    struct stat status;
    struct timespec now;
    CHECK(stat(path, &status) == 0);
    do clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while ((now.tv_sec - status.st_ctim.tv_sec) * 1000000000 + now.tv_nsec - status.st_ctim.tv_nsec < 50000000);
}

static void file_that_is_back_is_written_again(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    await_age();
    save_book(made, "Stella");
    quire_object_release(insert_book(made.context, "Tasso", 100));
    move_everything();
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
    CHECK(rename(other_path, path) == 0);
    CHECK(rename(with(other_path, "-wal"), with(path, "-wal")) == 0);
    CHECK(rename(with(other_path, "-shm"), with(path, "-shm")) == 0);
    save(made.context);
    close_fixture(made);
    CHECK(books_at(path) == 3 && files_in_folder() == 1);
    remove_folder(folder);
}

static void transaction_is_not_committed_to_a_file_that_was_moved(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    CHECK_OK(quire_context_begin_transaction(made.context, &error));
    save_book(made, "Tasso");
    move_everything();
    quire_object_release(insert_book(made.context, "Stella", 100));
    /* Nothing else uses the log: the transaction is open still. */
    CHECK(quire_context_save(made.context, &error) == QUIRE_FILE_MOVED);
    CHECK(!strstr(quire_error_message(error).data, "Something else"));
    quire_error_release(error);
    error = NULL;
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_commit_transaction(made.context, &error));
    CHECK_OK(quire_context_rollback_transaction(made.context, &error));
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_begin_transaction(made.context, &error));
    close_fixture(made);
    CHECK(books_at(other_path) == 1);
    remove_folder(folder);
}

static void folder_that_was_moved_is_noticed(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    quire_object_release(insert_book(made.context, "Tasso", 100));
    CHECK(rename(folder, with(folder, "-moved")) == 0);
    await_notice(made.store);
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
    close_fixture(made);
    CHECK(rename(with(folder, "-moved"), folder) == 0);
    CHECK(books_at(path) == 1);
    remove_folder(folder);
}

/* What such a context showed cannot be had any more. */
static void context_at_an_older_moment_advances_with_a_merge(bool is_pinned) {
    use_folder();
    fixture made = open_fixture_at(path);
    quire_object *faust = insert_book(made.context, "Faust", 1), *stella = insert_book(made.context, "Stella", 1);
    save(made.context);
    quire_context *reader = NULL;
    quire_object *shown = NULL;
    CHECK_OK(quire_context_create(made.store, &reader, &error));
    CHECK_OK(quire_context_object(reader, "Book", QUIRE_NUL, quire_object_id(faust), &shown, &error));
    CHECK(get_value(shown, "pages").as.integer == 1);
    if (is_pinned) CHECK_OK(quire_context_pin(reader, NULL, &error));
    set_value(faust, "pages", quire_value_integer(2));
    set_value(stella, "pages", quire_value_integer(2));
    save(made.context);
    move_everything();
    set_value(faust, "pages", quire_value_integer(3));
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
    CHECK(count(reader, "Book", "pages == 2") == 2);
    /* What was read stays as it is shown until a merge: a fetch advances nothing. */
    CHECK(get_value(shown, "pages").as.integer == 1 && quire_context_has_lost_moment(reader));
    CHECK_OK(quire_context_merge(reader, &error));
    CHECK(get_value(shown, "pages").as.integer == 2 && !quire_context_has_lost_moment(reader));
    quire_object_release(shown);
    quire_object_release(faust);
    quire_object_release(stella);
    quire_context_release(reader);
    close_fixture(made);
    remove_folder(folder);
}

static void contexts_at_an_older_moment_advance_with_a_merge(void) {
    context_at_an_older_moment_advances_with_a_merge(false);
    context_at_an_older_moment_advances_with_a_merge(true);
}

static void what_was_saved_outlives_a_log_that_was_deleted(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    delete_log();
    close_fixture(made);
    CHECK(books_at(path) == 1);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(files_that_are_not_in_their_places_are_not_written);
    RUN(second_store_at_a_path_is_left_alone);
    RUN(file_that_is_back_is_written_again);
    RUN(file_that_is_opened_where_it_is_now_has_all_that_was_saved);
    RUN(backup_that_is_moved_to_the_path_is_left_as_it_was);
    RUN(file_that_was_written_where_it_is_now_is_left_alone);
    RUN(second_name_of_an_open_file_is_refused);
    RUN(transaction_is_not_committed_to_a_file_that_was_moved);
    RUN(folder_that_was_moved_is_noticed);
    RUN(contexts_at_an_older_moment_advance_with_a_merge);
    RUN(what_was_saved_outlives_a_log_that_was_deleted);
    return RESULT();
}
