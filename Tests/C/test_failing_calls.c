/* System calls that fail, and what a store makes of that. script/check faults tries all of them; here are single ones. */
#include "photos.h"

#include "folders.h"
#include "system_calls.h"

#include <errno.h>
#include <sys/stat.h>

static void insert_photo(fixture made) {
    quire_object *photo = insert(made.context, "Photo");
    set_value(photo, "image", quire_value_data(large, LARGE));
    quire_object_release(photo);
}

/* Its files are known from their opening on. */
static void use_watched_folder(void) {
    use_folder();
    CHECK(make_system_calls());
    watch_folder(folder);
}

/* The next call whose name begins so fails for a file with that part in its path; or all of them do. */
static void fail_calls(fate fate, const char *call, const char *part, int reason) {
    begin_calls((calamity){fate, 0, CALLS_ALL, reason, call, part});
}

static int photos_at(const char *where) {
    fixture made = open_photos_at(where, NULL);
    quire_list *list = fetch(made.context, "Photo", NULL, NULL);
    const int count = (int)quire_list_count(list);
    for (int i = 0; i < count; i++) {
        quire_object *photo = NULL;
        CHECK_OK(quire_list_object(list, i, &photo, &error));
        const quire_value value = get_value(photo, "image");
        CHECK(value.kind == QUIRE_VALUE_DATA && value.size == LARGE && !memcmp(value.as.data, large, LARGE));
        quire_object_release(photo);
    }
    quire_list_release(list);
    close_fixture(made);
    return count;
}

static void count_name(const char *name, bool is_folder, void *data) {
    (void)name;
    *(int *)data += !is_folder;
}

static int files_of_values(void) {
    int count = 0;
    visit_tree(with(folder, "/.library_SUPPORT/_EXTERNAL_DATA"), count_name, &count);
    return count;
}

/* The log has the commit, which comes into the file when every process ends. */
static void values_stay_while_a_failed_commit_may_come_back(void) {
    use_watched_folder();
    fixture made = open_photos_at(path, NULL);
    insert_photo(made);
    fail_calls(FATE_FAILS, "fdatasync", "-wal", EIO);
    CHECK_FAILS(QUIRE_DATABASE, quire_context_save(made.context, &error));
    CHECK(end_calls() > 0);
    char image[300];
    snprintf(image, sizeof image, "%s-image", folder);
    CHECK(copy_tree(folder, image));
    CHECK(unlink(with(image, "/library.sqlite-shm")) == 0);
    CHECK(photos_at(with(image, "/library.sqlite")) == 1);
    remove_tree(image);
    save(made.context);
    CHECK(files_of_values() == 1);
    close_fixture(made);
    CHECK(photos_at(path) == 1);
    remove_tree(folder);
}

/* A closing that cannot look at a file gives its locks back. */
static void closing_that_fails_leaves_no_lock(void) {
    use_watched_folder();
    fixture made = open_photos_at(path, NULL);
    insert_photo(made);
    save(made.context);
    fail_calls(FATE_FAILS_ON, "fstat", "library.sqlite", EIO);
    close_fixture(made);
    CHECK(end_calls() > 0);
    CHECK(photos_at(path) == 1);
    remove_tree(folder);
}

/* Whichever of them fails: what SQLite leaves of a journal does not stay. */
static void copy_leaves_nothing_beside_it(void) {
    use_watched_folder();
    fixture made = open_photos_at(path, NULL);
    insert_photo(made);
    save(made.context);
    const int before = files_in_folder();
    for (int number = 0;; number++) {
        begin_calls((calamity){FATE_FAILS, number, CALLS_ALL, ENOSPC, "fdatasync", "-journal"});
        const quire_status status = quire_store_copy(made.store, other_path, QUIRE_NUL, &error);
        const int calls = end_calls();
        CHECK(status == QUIRE_OK || status == QUIRE_DATABASE);
        quire_error_release(error);
        error = NULL;
        CHECK(files_in_folder() == before + (status == QUIRE_OK));
        if (status == QUIRE_OK) CHECK_OK(quire_store_delete(other_path, QUIRE_NUL, &error));
        if (calls <= number) break;
    }
    close_fixture(made);
    CHECK(photos_at(path) == 1);
    remove_tree(folder);
}

/* Otherwise files would stay that belong to no store, or those of another store would go. */
static void deletion_needs_to_read_its_folders(void) {
    static const char *const calls[] = {"opendir", "readdir"}, *const parts[] = {"_EXTERNAL_DATA", ""};
    for (int i = 0; i < 4; i++) {
        use_watched_folder();
        fixture made = open_photos_at(path, NULL);
        insert_photo(made);
        save(made.context);
        close_fixture(made);
        fail_calls(FATE_FAILS, calls[i % 2], parts[i / 2], EIO);
        CHECK_FAILS(QUIRE_DATABASE, quire_store_delete(path, QUIRE_NUL, &error));
        CHECK(end_calls() > 0);
        CHECK(photos_at(path) == 1);
        CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
        CHECK(files_in_folder() == 0 && files_of_values() == 0);
        remove_tree(folder);
    }
}

/* The files of a neighbour are not those of the store that is deleted. */
static void deletion_leaves_files_of_an_unseen_neighbour(void) {
    use_watched_folder();
    fixture made = open_photos_at(path, NULL);
    insert_photo(made);
    save(made.context);
    close_fixture(made);
    size_t size = 0;
    char *bytes = read_whole(path, &size);
    const char *neighbour = with(folder, "/library.bak");
    CHECK(bytes && write_whole(neighbour, bytes, size));
    free(bytes);
    fail_calls(FATE_FAILS, "stat", "library.bak", EIO);
    CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(end_calls() > 0);
    CHECK(photos_at(with(folder, "/library.bak")) == 1);
    remove_tree(folder);
}

/* A name in a folder that was not synchronized may be lost in a power cut. */
static void names_that_may_be_lost_fail_the_save(void) {
    static const char *const parts[] = {"_EXTERNAL_DATA", "_SUPPORT", ""};
    for (int i = 0; i < 3; i++) {
        use_watched_folder();
        fixture made = open_photos_at(path, NULL);
        insert_photo(made);
        for (int number = 0;; number++) {
            begin_calls((calamity){FATE_FAILS, number, CALLS_ALL, EIO, "fsync", parts[i]});
            const quire_status status = quire_context_save(made.context, &error);
            const bool has_failed = end_calls() > number;
            CHECK(status == (has_failed ? QUIRE_DATABASE : QUIRE_OK));
            quire_error_release(error);
            error = NULL;
            CHECK(files_of_values() == !has_failed);
            if (!has_failed) break;
        }
        CHECK(!quire_context_has_changes(made.context));
        close_fixture(made);
        CHECK(photos_at(path) == 1);
        remove_tree(folder);
    }
}

static void copy_whose_name_may_be_lost_fails(void) {
    use_watched_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Orlando");
    fail_calls(FATE_FAILS, "fsync", "", EIO);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
    CHECK(end_calls() == 1 && !exists(other_path));
    CHECK_OK(quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
    close_fixture(made);
    CHECK(books_at(other_path) == 1);
    remove_tree(folder);
}

static void says(quire_status expected, quire_status status, const char *word) {
    CHECK(status == expected);
    CHECK(error && strstr(quire_error_message(error).data, word));
    quire_error_release(error);
    error = NULL;
}

static void file_that_cannot_be_looked_at_is_not_moved(void) {
    for (int goes_on = 0; goes_on < 2; goes_on++) {
        use_watched_folder();
        fixture made = open_fixture_at(path);
        save_book(made, "Orlando");
        quire_object_release(insert_book(made.context, "Emma", 100));
        /* The next save looks at the paths, since the file was changed. */
        CHECK(chmod(path, 0600) == 0);
        fail_calls(goes_on ? FATE_FAILS_ON : FATE_FAILS, "stat", "library.sqlite", EIO);
        says(QUIRE_DATABASE, quire_context_save(made.context, &error), "cannot be looked at (Input/output error)");
        CHECK(end_calls() > 0);
        save(made.context);
        fail_calls(FATE_FAILS_ON, "stat", "library.sqlite", EIO);
        CHECK_OK(quire_store_close(made.store, &error));
        CHECK(end_calls() > 0);
        close_fixture(made);
        CHECK(books_at(path) == 2);
        remove_tree(folder);
    }
}

static void opening_of_what_cannot_be_looked_at_fails(void) {
    use_watched_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Orlando");
    close_fixture(made);
    made = (fixture){library_model(), NULL, NULL};
    for (int number = 0;; number++) {
        begin_calls((calamity){FATE_FAILS_ON, number, CALLS_ALL, EIO, "stat", "library.sqlite"});
        const quire_status status = quire_store_open(path, QUIRE_NUL, made.model, NULL, &made.store, &error);
        const bool has_failed = end_calls() > number;
        if (status != QUIRE_OK) CHECK(status == QUIRE_CANNOT_OPEN || status == QUIRE_DATABASE);
        quire_error_release(error);
        error = NULL;
        quire_store_release(made.store);
        made.store = NULL;
        if (!has_failed) break;
    }
    close_fixture(made);
    CHECK(books_at(path) == 1);
    remove_tree(folder);
}

/* SQLite goes on with a file that the system opens for reading only. */
static void file_that_opens_for_reading_only_is_not_opened_for_writing(void) {
    use_watched_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Orlando");
    close_fixture(made);
    made.model = library_model();
    fail_calls(FATE_FAILS, "open", "library.sqlite", EPERM);
    says(QUIRE_READ_ONLY, quire_store_open(path, QUIRE_NUL, made.model, NULL, &made.store, &error),
        "its file or folder cannot be written");
    CHECK(end_calls() > 0);
    quire_model_release(made.model);
    CHECK(books_at(path) == 1);
    remove_tree(folder);
}

static int synchronizations_of_a_creation(bool is_relaxed) {
    use_watched_folder();
    fixture made = {library_model(), NULL, NULL};
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = is_relaxed;
    begin_calls((calamity){FATE_NONE, 0, CALLS_ALL, 0, "fdatasync", "-journal"});
    CHECK_OK(quire_store_open(path, QUIRE_NUL, made.model, &options, &made.store, &error));
    const int calls = end_calls();
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    begin_calls((calamity){FATE_NONE, 0, CALLS_ALL, 0, "fdatasync", "-wal"});
    save_book(made, "Orlando");
    save_book(made, "Emma");
    CHECK((end_calls() < 2) == is_relaxed);
    close_fixture(made);
    remove_tree(folder);
    return calls;
}

/* A journal that is synchronized once may be torn by a power cut, and damage the file. */
static void creation_with_relaxed_durability_is_as_safe(void) {
    const int calls = synchronizations_of_a_creation(false);
    CHECK(calls > 0);
    CHECK(synchronizations_of_a_creation(true) == calls);
}

/* The connection to the copy knows the reason. */
static void copy_says_why_it_failed(void) {
    use_watched_folder();
    fixture made = open_fixture_at(path);
    save_book(made, "Orlando");
    fail_calls(FATE_FAILS, "fdatasync", "-journal", EIO);
    says(QUIRE_DATABASE, quire_store_copy(made.store, other_path, QUIRE_NUL, &error), "(disk I/O error)");
    CHECK(end_calls() > 0);
    close_fixture(made);
    remove_tree(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    for (int i = 0; i < LARGE; i++) large[i] = (unsigned char)(i * 7 % 251);
    RUN(values_stay_while_a_failed_commit_may_come_back);
    RUN(closing_that_fails_leaves_no_lock);
    RUN(copy_leaves_nothing_beside_it);
    RUN(deletion_needs_to_read_its_folders);
    RUN(deletion_leaves_files_of_an_unseen_neighbour);
    RUN(names_that_may_be_lost_fail_the_save);
    RUN(copy_whose_name_may_be_lost_fails);
    RUN(file_that_cannot_be_looked_at_is_not_moved);
    RUN(opening_of_what_cannot_be_looked_at_fails);
    RUN(file_that_opens_for_reading_only_is_not_opened_for_writing);
    RUN(creation_with_relaxed_durability_is_as_safe);
    RUN(copy_says_why_it_failed);
    return RESULT();
}
