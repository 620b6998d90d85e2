/* The files of a store: what happens when they go from their places, copies, and deletion. */
#include "fixture.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

static char folder[256], path[300], other_path[300];

static void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
    snprintf(other_path, sizeof other_path, "%s/other.sqlite", folder);
}

/* The path with an ending; the result holds until the call after the next. */
static const char *with(const char *start, const char *ending) {
    static char names[2][400];
    static int turn;
    char *name = names[turn = !turn];
    snprintf(name, sizeof names[0], "%s%s", start, ending);
    return name;
}

static bool exists(const char *name) { return access(name, F_OK) == 0; }

static void run(const char *format, const char *first, const char *second) {
    char command[1200];
    snprintf(command, sizeof command, format, first, second);
    CHECK(system(command) == 0);
}

static int files_in_folder(void) {
    DIR *stream = opendir(folder);
    CHECK(stream != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void save_book(fixture made, const char *title) {
    quire_object_release(insert_book(made.context, title, 100));
    save(made.context);
}

static void save_book_at(const char *where, const char *title) {
    fixture made = open_fixture_at(where);
    save_book(made, title);
    close_fixture(made);
}

static int64_t books_at(const char *where) {
    fixture made = open_fixture_at(where);
    const int64_t number = count(made.context, "Book", NULL);
    close_fixture(made);
    run("test \"$(sqlite3 '%s' 'PRAGMA integrity_check')\" = ok%s", where, "");
    return number;
}

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
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_store_copy(made.store, with(path, "-second"), QUIRE_NUL, &error));
    CHECK(!exists(with(path, "-second")));
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
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
        /* What becomes of the log and its index is noticed within a tenth of a second. */
        if (i >= OF_THE_FILE) usleep(150000);
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

static void file_that_is_back_is_written_again(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    /* Its last change is not of this very moment. */
    usleep(50000);
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
    usleep(150000);
    CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(made.context, &error));
    close_fixture(made);
    CHECK(rename(with(folder, "-moved"), folder) == 0);
    CHECK(books_at(path) == 1);
    remove_folder(folder);
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

static void relative_path_is_taken_once(void) {
    use_folder();
    CHECK(chdir(folder) == 0);
    fixture made = open_fixture_at("library.sqlite");
    CHECK(chdir("/") == 0);
    save_book(made, "Faust");
    CHECK_TEXT(quire_store_path(made.store), "library.sqlite");
    close_fixture(made);
    CHECK(books_at(path) == 1);
    remove_folder(folder);
}

static void link_may_change_while_its_store_is_open(void) {
    use_folder();
    CHECK(symlink(path, with(folder, "/link")) == 0);
    fixture made = open_fixture_at(with(folder, "/link"));
    CHECK(exists(with(path, "-wal")));
    CHECK(unlink(with(folder, "/link")) == 0 && symlink(other_path, with(folder, "/link")) == 0);
    save_book(made, "Faust");
    close_fixture(made);
    CHECK(books_at(path) == 1);
    remove_folder(folder);
}

/* --- Copies. */

static void copy_has_what_is_saved(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    quire_object_release(insert_book(made.context, "Tasso", 100));
    CHECK(chmod(path, 0640) == 0);
    CHECK_OK(quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
    CHECK(!exists(with(other_path, "-wal")) && !exists(with(other_path, "-shm")) && !exists(with(other_path, "-journal")));
    struct stat status;
    CHECK(stat(other_path, &status) == 0 && (status.st_mode & 0777) == 0640);
    fixture copy = open_fixture_at(other_path);
    CHECK_TEXT(quire_store_uuid(copy.store), quire_store_uuid(made.store).data);
    CHECK(count(copy.context, "Book", NULL) == 1);
    /* They are two from now on. */
    save_book(copy, "Stella");
    close_fixture(copy);
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 2);
    close_fixture(made);
    CHECK(books_at(other_path) == 2 && books_at(path) == 2);
    remove_folder(folder);
}

static void copy_never_takes_the_place_of_a_file(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        write_file(with(other_path, endings[i]), "mine");
        CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
        run("test \"$(cat '%s%s')\" = mine", other_path, endings[i]);
        CHECK(unlink(with(other_path, endings[i])) == 0);
    }
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_copy(made.store, path, QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_copy(made.store, with(folder, "/none/copy"), QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_copy(made.store, "", 0, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_copy(made.store, ":memory:", QUIRE_NUL, &error));
    CHECK(files_in_folder() == 3);
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
    CHECK(files_in_folder() == 1);
    close_fixture(made);
    remove_folder(folder);
}

static void store_in_memory_is_copied_to_a_file(void) {
    use_folder();
    fixture made = open_fixture();
    save_book(made, "Faust");
    CHECK_OK(quire_store_copy(made.store, path, QUIRE_NUL, &error));
    CHECK(files_in_folder() == 1 && books_at(path) == 1);
    save_book(made, "Tasso");
    CHECK(count(made.context, "Book", NULL) == 2);
    close_fixture(made);
    remove_folder(folder);
}

static void store_for_reading_only_is_copied(void) {
    use_folder();
    save_book_at(path, "Faust");
    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = true;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    CHECK_OK(quire_store_copy(store, other_path, QUIRE_NUL, &error));
    quire_store_release(store);
    quire_model_release(model);
    CHECK(books_at(other_path) == 1);
    remove_folder(folder);
}

/* Pairs of books, each pair in one save. */
static void copy_is_of_one_moment_while_another_process_writes(void) {
    use_folder();
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        fixture writer = open_fixture_at(path);
        for (;;) {
            quire_object_release(insert_book(writer.context, "Faust I", 100));
            quire_object_release(insert_book(writer.context, "Faust II", 100));
            save(writer.context);
        }
    }
    fixture made = open_fixture_at(path);
    while (count(made.context, "Book", NULL) == 0) usleep(1000);
    for (int i = 0; i < 10; i++) {
        CHECK_OK(quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
        const int64_t books = books_at(other_path);
        CHECK(books > 0 && books % 2 == 0);
        CHECK_OK(quire_store_delete(other_path, QUIRE_NUL, &error));
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    close_fixture(made);
    remove_folder(folder);
}

/* --- Deletion. */

static void deleted_store_leaves_nothing(void) {
    use_folder();
    save_book_at(path, "Faust");
    /* What a process that was killed leaves. */
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        fixture made = open_fixture_at(path);
        save_book(made, "Tasso");
        raise(SIGKILL);
    }
    CHECK(waitpid(child, NULL, 0) == child && exists(with(path, "-wal")));
    write_file(with(path, "-list-00112233445566778899aabbccddeeff"), "a cache");
    write_file(with(path, ".txt"), "no part of it");
    CHECK(symlink(path, with(folder, "/link")) == 0);
    CHECK_OK(quire_store_delete(with(folder, "/link"), QUIRE_NUL, &error));
    CHECK(files_in_folder() == 1 && exists(with(path, ".txt")));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(books_at(path) == 0);
    remove_folder(folder);
}

static void open_store_is_not_deleted(void) {
    use_folder();
    save_book_at(path, "Faust");
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        fixture made = open_fixture_at(path);
        CHECK(write(ends[1], "x", 1) == 1);
        pause();
        close_fixture(made);
    }
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    CHECK_FAILS(QUIRE_BUSY, quire_store_delete(path, QUIRE_NUL, &error));
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);

    fixture made = open_fixture_at(path);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(chdir(folder) == 0);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_store_delete("library.sqlite", QUIRE_NUL, &error));
    save_book(made, "Tasso");
    close_fixture(made);
    CHECK(books_at(path) == 2);
    CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(files_in_folder() == 0);
    remove_folder(folder);
}

static void what_is_no_store_is_not_deleted(void) {
    use_folder();
    write_file(path, "Dear diary, this is no database, and it is long enough to have a header of one hundred bytes, I hope.");
    CHECK_FAILS(QUIRE_NOT_A_STORE, quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(exists(path) && unlink(path) == 0);
    write_file(path, "");
    CHECK_FAILS(QUIRE_NOT_A_STORE, quire_store_delete(path, QUIRE_NUL, &error));
    run("sqlite3 '%s' 'PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1);'%s", path, " >/dev/null");
    CHECK_FAILS(QUIRE_NOT_A_STORE, quire_store_delete(path, QUIRE_NUL, &error));
    run("test \"$(sqlite3 '%s' 'SELECT x FROM t')\" = 1%s", path, "");
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_delete(folder, QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_delete(other_path, QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_store_delete(":memory:", QUIRE_NUL, &error));
    remove_folder(folder);
}

int main(void) {
    RUN(files_that_are_not_in_their_places_are_not_written);
    RUN(second_store_at_a_path_is_left_alone);
    RUN(file_that_is_back_is_written_again);
    RUN(transaction_is_not_committed_to_a_file_that_was_moved);
    RUN(folder_that_was_moved_is_noticed);
    RUN(what_was_saved_outlives_a_log_that_was_deleted);
    RUN(relative_path_is_taken_once);
    RUN(link_may_change_while_its_store_is_open);
    RUN(copy_has_what_is_saved);
    RUN(copy_never_takes_the_place_of_a_file);
    RUN(store_in_memory_is_copied_to_a_file);
    RUN(store_for_reading_only_is_copied);
    RUN(copy_is_of_one_moment_while_another_process_writes);
    RUN(deleted_store_leaves_nothing);
    RUN(open_store_is_not_deleted);
    RUN(what_is_no_store_is_not_deleted);
    return RESULT();
}
