/* The files of a store: what happens when they go from their places. */
#include "fixture.h"

#include <dirent.h>

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
    CHECK(quire_context_save(made.context, NULL) != QUIRE_OK);
    CHECK(insert_rows(made) != QUIRE_OK);
    quire_error_release(error);
    CHECK(delete_rows(made) != QUIRE_OK);
    quire_error_release(error);
    error = NULL;
    CHECK(quire_context_has_changes(made.context));
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
        CHECK(quire_context_save(first.context, NULL) != QUIRE_OK);
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
    CHECK(quire_context_save(made.context, NULL) != QUIRE_OK);
    CHECK(rename(other_path, path) == 0);
    CHECK(rename(with(other_path, "-wal"), with(path, "-wal")) == 0);
    CHECK(rename(with(other_path, "-shm"), with(path, "-shm")) == 0);
    save(made.context);
    close_fixture(made);
    CHECK(books_at(path) == 3 && files_in_folder() == 1);
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

int main(void) {
    RUN(files_that_are_not_in_their_places_are_not_written);
    RUN(second_store_at_a_path_is_left_alone);
    RUN(file_that_is_back_is_written_again);
    RUN(what_was_saved_outlives_a_log_that_was_deleted);
    RUN(relative_path_is_taken_once);
    RUN(link_may_change_while_its_store_is_open);
    return RESULT();
}
