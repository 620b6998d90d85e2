/* The files of a store in a folder of their own. */
#ifndef QUIRE_TESTS_STORE_FILES_H
#define QUIRE_TESTS_STORE_FILES_H

#include "fixture.h"

#include <dirent.h>

static char folder[256], path[300], other_path[300];

static inline void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
    snprintf(other_path, sizeof other_path, "%s/other.sqlite", folder);
}

/* The path with an ending; the result holds until the call after the next. */
static inline const char *with(const char *start, const char *ending) {
    static char names[2][400];
    static int turn;
    char *name = names[turn = !turn];
    snprintf(name, sizeof names[0], "%s%s", start, ending);
    return name;
}

static inline bool exists(const char *name) { return access(name, F_OK) == 0; }

static inline void run(const char *format, const char *first, const char *second) {
    char command[1200];
    snprintf(command, sizeof command, format, first, second);
    CHECK(system(command) == 0);
}

static inline int files_in_folder(void) {
    DIR *stream = opendir(folder);
    CHECK(stream != NULL);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static inline void save_book(fixture made, const char *title) {
    quire_object_release(insert_book(made.context, title, 100));
    save(made.context);
}

static inline void save_book_at(const char *where, const char *title) {
    fixture made = open_fixture_at(where);
    save_book(made, title);
    close_fixture(made);
}

static inline int64_t books_at(const char *where) {
    fixture made = open_fixture_at(where);
    const int64_t number = count(made.context, "Book", NULL);
    close_fixture(made);
    run("test \"$(sqlite3 '%s' 'PRAGMA integrity_check')\" = ok%s", where, "");
    return number;
}

static inline void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

#endif
