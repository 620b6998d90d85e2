/* The paths of a store, copies, and deletion. */
#include "store_files.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

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
    int ends[2];
    CHECK(pipe(ends) == 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        fixture writer = open_fixture_at(path);
        for (int saves = 0;; saves++) {
            quire_object_release(insert_book(writer.context, "Faust I", 100));
            quire_object_release(insert_book(writer.context, "Faust II", 100));
            save(writer.context);
            if (saves == 0) CHECK(write(ends[1], "x", 1) == 1);
        }
    }
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
    fixture made = open_fixture_at(path);
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

static void copy_may_have_a_name_as_long_as_can_be(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Faust");
    char long_path[512];
    /* SQLite needs room for "-journal" behind it. */
    snprintf(long_path, sizeof long_path, "%s/%0247d", folder, 1);
    CHECK_OK(quire_store_copy(made.store, long_path, QUIRE_NUL, &error));
    CHECK(books_at(long_path) == 1);
    close_fixture(made);
    remove_folder(folder);
}

/* --- Openings of a file that goes meanwhile. */

/* After how many statements of the opening the file goes, and whether other files come in its place. */
static int statements_left;
static bool is_replaced;
static const char *const endings[] = {"-wal", "-shm", "-journal", ""};

static void take_file_away(void *data, const quire_log_entry *entry) {
    static bool is_in_transaction;
    (void)data;
    if (!strncmp(entry->sql.data, "BEGIN", 5)) is_in_transaction = true;
    if (!strncmp(entry->sql.data, "COMMIT", 6) || !strncmp(entry->sql.data, "ROLLBACK", 8)) is_in_transaction = false;
    if (statements_left < 0 || (statements_left > 0 && statements_left--)) return;
    /* In a transaction SQLite deletes a journal by its name. A deletion would wait for the end. */
    if (is_replaced && is_in_transaction) return;
    statements_left = -1;
    for (int i = 0; i < 4; i++) {
        unlink(with(path, endings[i]));
        if (is_replaced) write_file(with(path, endings[i]), "mine");
    }
}

static void check_openings_of_a_file_that_goes(void) {
    for (int is_new = 0; is_new < 2; is_new++) {
        bool has_gone = true;
        int number = 0;
        for (; has_gone; number++) {
            use_folder();
            if (!is_new) close_fixture(open_fixture_at(path));
            quire_model *model = library_model();
            quire_log log = QUIRE_LOG_INIT;
            log.statement = take_file_away;
            quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
            options.log = &log;
            statements_left = number;
            quire_store *store = NULL;
            const quire_status status = quire_store_open(path, QUIRE_NUL, model, &options, &store, &error);
            has_gone = statements_left < 0;
            statements_left = -1;
            if (has_gone && status == QUIRE_OK) {
                /* After the last look of the opening: the first save finds it out. */
                quire_context *context = NULL;
                CHECK_OK(quire_context_create(store, &context, &error));
                quire_object_release(insert_book(context, "Faust", 1));
                CHECK_FAILS(QUIRE_FILE_MOVED, quire_context_save(context, &error));
                quire_context_release(context);
            } else {
                if (has_gone && status != QUIRE_FILE_MOVED)
                    fprintf(stderr, "    after statement %d: %s\n", number, quire_status_name(status));
                CHECK(status == (has_gone ? QUIRE_FILE_MOVED : QUIRE_OK));
            }
            quire_error_release(error);
            error = NULL;
            quire_store_release(store);
            quire_model_release(model);
            for (int i = 0; is_replaced && has_gone && i < 4; i++) run("test \"$(cat '%s%s')\" = mine", path, endings[i]);
            remove_folder(folder);
        }
        CHECK(number > 10);
    }
}

static void file_that_goes_while_it_is_opened_has_moved(void) { check_openings_of_a_file_that_goes(); }

/* SQLite knows a log and a journal by their names, and would play or delete those of the other file. */
static void file_that_comes_in_its_place_is_left_alone(void) {
    is_replaced = true;
    check_openings_of_a_file_that_goes();
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
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
    RUN(copy_may_have_a_name_as_long_as_can_be);
    RUN(file_that_goes_while_it_is_opened_has_moved);
    RUN(file_that_comes_in_its_place_is_left_alone);
    return RESULT();
}
