/* Names that SQLite and the library use beside a store, which no new file may have. */
#include "store_files.h"

#include <sys/stat.h>

static fixture made;

/* Each makes something at a path, and returns what came of it. */
static quire_status copy_to(const char *target) { return quire_store_copy(made.store, target, QUIRE_NUL, &error); }

static quire_status convert_to(const char *target) {
    return quire_store_convert(path, QUIRE_NUL, made.model, target, QUIRE_NUL, QUIRE_STORE_XML, &error);
}

static quire_status open_type_at(const char *target, quire_store_type type) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.type = type;
    quire_store *store = NULL;
    const quire_status status = quire_store_open(target, QUIRE_NUL, made.model, &options, &store, &error);
    quire_store_release(store);
    return status;
}

static quire_status open_at(const char *target) { return open_type_at(target, QUIRE_STORE_ANY); }

static quire_status open_xml_at(const char *target) { return open_type_at(target, QUIRE_STORE_XML); }

typedef quire_status (*make)(const char *target);

static const make makes[] = {copy_to, convert_to, open_at, open_xml_at};
enum { MAKE_COUNT = sizeof makes / sizeof makes[0] };

/* That nothing can be made at a path, that the failure names it and the store, and that nothing is there. */
static void check_is_refused(const char *target, const char *store) {
    for (int i = 0; i < MAKE_COUNT; i++) {
        struct stat before, after;
        const bool was_there = lstat(target, &before) == 0;
        const quire_status status = makes[i](target);
        /* What is no store fails to be opened by itself. */
        const bool is_refused = status == QUIRE_CANNOT_OPEN || (status == QUIRE_NOT_A_STORE && was_there && i > 1);
        if (!is_refused) fprintf(stderr, "way %d to make %s gives %d\n", i, target, (int)status);
        CHECK(is_refused);
        const char *const message = quire_error_message(error).data;
        if (!was_there && (!strstr(message, target) || !strstr(message, store))) fprintf(stderr, "%s\n", message);
        CHECK(was_there || (strstr(message, target) && strstr(message, store)));
        quire_error_release(error);
        error = NULL;
        CHECK((lstat(target, &after) == 0) == was_there && (!was_there || before.st_ino == after.st_ino));
    }
}

static const char *const endings[] = {
    "-journal", "-wal", "-shm", "-list-0123456789abcdef0123456789abcdef", "-list-0123456789abcdef0123456789abcdef-1-2"};
enum { ENDING_COUNT = sizeof endings / sizeof endings[0] };

/* A store with one book, open in `made`, or a copy of it that no program has open. */
static void begin(void) {
    use_folder();
    made = open_fixture_at(path);
    save_book(made, "Faust");
    CHECK_OK(quire_store_copy(made.store, other_path, QUIRE_NUL, &error));
}

static void end(void) {
    save_book(made, "Stella");
    close_fixture(made);
    CHECK(books_at(path) == 2 && books_at(other_path) == 1);
    remove_folder(folder);
}

static void names_that_belong_to_a_store_are_no_targets(void) {
    begin();
    for (int i = 0; i < ENDING_COUNT; i++) {
        /* That of the open store is there, or SQLite would make it. */
        char name[400];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        check_is_refused(name, path);
        snprintf(name, sizeof name, "%s%s", other_path, endings[i]);
        check_is_refused(name, other_path);
    }
    end();
}

static void no_other_spelling_of_the_path_leads_there(void) {
    begin();
    char name[600];
    CHECK(mkdir(with(folder, "/inner"), 0700) == 0 && symlink("..", with(folder, "/inner/up")) == 0);
    const char *const ways[] = {"/./other.sqlite-journal", "//other.sqlite-journal", "/inner/../other.sqlite-journal",
        "/inner/up/other.sqlite-journal", "/inner/up/inner/up/other.sqlite-wal"};
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        snprintf(name, sizeof name, "%s%s", folder, ways[i]);
        check_is_refused(name, other_path);
    }
    CHECK(chdir(folder) == 0);
    check_is_refused("other.sqlite-journal", other_path);
    CHECK(chdir("/") == 0);
    /* A link that leads nowhere yet. */
    CHECK(symlink("other.sqlite-journal", with(folder, "/link")) == 0);
    CHECK(symlink("../link", with(folder, "/inner/link")) == 0);
    check_is_refused(with(folder, "/link"), other_path);
    check_is_refused(with(folder, "/inner/link"), other_path);
    CHECK(!exists(with(other_path, "-journal")));
    end();
}

static void folders_of_large_values_have_no_targets(void) {
    begin();
    char name[600];
    /* Before there are any, and then. */
    snprintf(name, sizeof name, "%s/.other_SUPPORT", folder);
    check_is_refused(name, other_path);
    CHECK(mkdir(name, 0700) == 0);
    strcat(name, "/file");
    check_is_refused(name, other_path);
    name[strlen(name) - strlen("/file")] = 0;
    strcat(name, "/_EXTERNAL_DATA");
    check_is_refused(name, other_path);
    CHECK(mkdir(name, 0700) == 0);
    strcat(name, "/file.sqlite");
    check_is_refused(name, other_path);
    snprintf(name, sizeof name, "%s/.other_SUPPORT/library.xcdatamodel", folder);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_model_save(made.model, name, QUIRE_NUL, &error));
    CHECK(!exists(name));
    end();
}

static void names_that_only_look_alike_are_free(void) {
    begin();
    /* Beside no file, they are names as others. */
    const char *const names[] = {"/none.sqlite-journal", "/other.sqlite-journal2", "/other-wal", "/other.sqlite-list-1", "/-wal",
        "/.none_SUPPORT"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        CHECK_OK(copy_to(with(folder, names[i])));
        CHECK(books_at(with(folder, names[i])) == 1);
        CHECK_OK(quire_store_delete(with(folder, names[i]), QUIRE_NUL, &error));
        CHECK_OK(open_at(with(folder, names[i])));
        CHECK_OK(quire_store_delete(with(folder, names[i]), QUIRE_NUL, &error));
    }
    end();
}

static void a_store_with_the_name_of_a_journal_is_not_lost(void) {
    begin();
    char name[400], beside[420];
    snprintf(name, sizeof name, "%s/none.sqlite", folder);
    for (int i = 0; i < 3; i++) {
        snprintf(beside, sizeof beside, "%s%s", name, endings[i]);
        CHECK_OK(copy_to(beside));
        for (int way = 0; way < MAKE_COUNT; way++) {
            CHECK(makes[way](name) == QUIRE_CANNOT_OPEN);
            const char *const message = quire_error_message(error).data;
            CHECK(strstr(message, name) && strstr(message, beside));
            quire_error_release(error);
            error = NULL;
        }
        CHECK(!exists(name) && books_at(beside) == 1 && unlink(beside) == 0);
    }
    /* Another program has put it there. */
    snprintf(beside, sizeof beside, "%s-journal", other_path);
    run("cp '%s' '%s'", other_path, beside);
    CHECK(open_at(other_path) == QUIRE_CANNOT_OPEN && strstr(quire_error_message(error).data, beside));
    quire_error_release(error);
    error = NULL;
    CHECK(books_at(beside) == 1 && unlink(beside) == 0);
    end();
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(names_that_belong_to_a_store_are_no_targets);
    RUN(no_other_spelling_of_the_path_leads_there);
    RUN(folders_of_large_values_have_no_targets);
    RUN(names_that_only_look_alike_are_free);
    RUN(a_store_with_the_name_of_a_journal_is_not_lost);
    return RESULT();
}
