/* Models at places that are not what they seem: links, pipes, names that lead elsewhere, and disks that are full. */
#include "store_files.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char source[] = "<model><entity name='Thing'><attribute name='name' attributeType='String' optional='YES'/>"
                             "</entity></model>";

/* The path in the folder of the test; the result holds until the call after the next. */
static const char *in_folder(const char *name) {
    static char places[2][500];
    static int turn;
    char *place = places[turn = !turn];
    snprintf(place, sizeof places[0], "%s/%s", folder, name);
    return place;
}

static void write_text(const char *name, const char *text) {
    FILE *file = fopen(in_folder(name), "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make(const char *name) { CHECK(mkdir(in_folder(name), 0777) == 0); }

static void link_to(const char *target, const char *name) { CHECK(symlink(target, in_folder(name)) == 0); }

static quire_status load(const char *name, const char *version) {
    quire_model *model = NULL;
    const quire_status status = quire_model_load(in_folder(name), QUIRE_NUL, version, QUIRE_NUL, &model, &error);
    CHECK((status == QUIRE_OK) == (model != NULL));
    quire_model_release(model);
    return status;
}

/* X.xcdatamodeld with the versions a and b, and a model outside of it. */
static void make_versions(void) {
    use_folder();
    make("X.xcdatamodeld");
    const char *const places[] = {"X.xcdatamodeld/a.xcdatamodel", "X.xcdatamodeld/b.xcdatamodel", "outside.xcdatamodel"};
    for (int i = 0; i < 3; i++) {
        char contents[100];
        make(places[i]);
        snprintf(contents, sizeof contents, "%s/contents", places[i]);
        write_text(contents, source);
    }
    CHECK_OK(load("outside.xcdatamodel", NULL));
    CHECK_OK(load("X.xcdatamodeld", "a"));
}

static void write_current(const char *name) {
    char text[400];
    snprintf(text, sizeof text, "<?xml version='1.0'?><plist version='1.0'><dict><key>_XCCurrentVersionName</key>"
                                "<string>%s</string></dict></plist>", name);
    write_text("X.xcdatamodeld/.xccurrentversion", text);
}

static void name_of_a_version_leads_nowhere_else(void) {
    make_versions();
    write_current("b.xcdatamodel");
    CHECK_OK(load("X.xcdatamodeld", NULL));
    const char *const names[] = {"../outside.xcdatamodel", "/etc/passwd", "..", ".", "", "b.xcdatamodel/contents", "../outside"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_current(names[i]);
        CHECK_FAILS(QUIRE_NOT_FOUND, load("X.xcdatamodeld", NULL));
        CHECK_FAILS(QUIRE_NOT_FOUND, load("X.xcdatamodeld", names[i]));
    }
}

static void links_in_a_folder_are_not_followed(void) {
    make_versions();
    link_to("../outside.xcdatamodel", "X.xcdatamodeld/c.xcdatamodel");
    CHECK_FAILS(QUIRE_NOT_FOUND, load("X.xcdatamodeld", "c"));
    write_current("b.xcdatamodel");
    CHECK(rename(in_folder("X.xcdatamodeld/.xccurrentversion"), in_folder("list")) == 0);
    link_to("../list", "X.xcdatamodeld/.xccurrentversion");
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, load("X.xcdatamodeld", NULL));
    make("Y.xcdatamodel");
    link_to("../outside.xcdatamodel/contents", "Y.xcdatamodel/contents");
    CHECK_FAILS(QUIRE_INVALID_MODEL, load("Y.xcdatamodel", NULL));
    /* One that the caller names is followed. */
    link_to("outside.xcdatamodel", "Z.xcdatamodel");
    CHECK_OK(load("Z.xcdatamodel", NULL));
}

static void pipes_and_devices_are_not_waited_for(void) {
    make_versions();
    CHECK(mkfifo(in_folder("pipe"), 0666) == 0);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, load("pipe", NULL));
    quire_evaluation *metadata = NULL;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_metadata_read(in_folder("pipe"), QUIRE_NUL, &metadata, &error));
    quire_store *store = NULL;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(in_folder("pipe"), QUIRE_NUL, NULL, NULL, &store, &error));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_metadata_read(folder, QUIRE_NUL, &metadata, &error));
    quire_model *model = NULL;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_model_load("/dev/zero", QUIRE_NUL, NULL, 0, &model, &error));
    make("P.xcdatamodel");
    CHECK(mkfifo(in_folder("P.xcdatamodel/contents"), 0666) == 0);
    CHECK(load("P.xcdatamodel", NULL) != QUIRE_OK);
    quire_error_release(error);
    error = NULL;
    CHECK(mkfifo(in_folder("X.xcdatamodeld/.xccurrentversion"), 0666) == 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, load("X.xcdatamodeld", NULL));
}

/* Files may grow to so many bytes only, as on a disk that is full. */
static void limit_files(rlim_t size) {
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    const struct rlimit limit = {size, RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void full_disk_leaves_the_model_that_was_there_or_none(void) {
    make_versions();
    quire_model *small = NULL, *large = library_model();
    CHECK_OK(quire_model_load(in_folder("outside.xcdatamodel"), QUIRE_NUL, NULL, 0, &small, &error));
    CHECK_OK(quire_model_save(small, in_folder("S.xcdatamodel"), QUIRE_NUL, &error));
    limit_files(100);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_model_save(large, in_folder("L.xcdatamodel"), QUIRE_NUL, &error));
    CHECK(!exists(in_folder("L.xcdatamodel")));
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_model_save(large, in_folder("S.xcdatamodel"), QUIRE_NUL, &error));
    CHECK_OK(load("S.xcdatamodel", NULL));
    run("test \"$(ls -A '%s')\" = contents%s", in_folder("S.xcdatamodel"), "");
    limit_files(RLIM_INFINITY);
    CHECK_OK(quire_model_save(large, in_folder("S.xcdatamodel"), QUIRE_NUL, &error));
    quire_model_release(small);
    quire_model_release(large);
}

static void full_disk_leaves_no_file_of_a_value(void) {
    use_folder();
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Picture", QUIRE_NUL, NULL, &error));
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.allows_external_storage = true;
    options.is_optional = true;
    CHECK_OK(quire_model_add_attribute(
        model, "Picture", QUIRE_NUL, "data", QUIRE_NUL, QUIRE_TYPE_BINARY, &options, &error));
    fixture made = {model, NULL, NULL};
    CHECK_OK(quire_store_open(path, QUIRE_NUL, model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    quire_object *picture = insert(made.context, "Picture");
    enum { SIZE = 1 << 20 };
    uint8_t *const data = calloc(1, SIZE);
    set_value(picture, "data", quire_value_data(data, SIZE));
    limit_files(500000);
    CHECK(quire_context_save(made.context, &error) != QUIRE_OK);
    quire_error_release(error);
    error = NULL;
    run("test -z \"$(find '%s' -type f -path '*_EXTERNAL_DATA*')\"%s", folder, "");
    limit_files(RLIM_INFINITY);
    save(made.context);
    run("test \"$(find '%s' -type f -path '*_EXTERNAL_DATA*' | wc -l)\" = 1%s", folder, "");
    free(data);
    quire_object_release(picture);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(name_of_a_version_leads_nowhere_else);
    RUN(links_in_a_folder_are_not_followed);
    RUN(pipes_and_devices_are_not_waited_for);
    RUN(full_disk_leaves_the_model_that_was_there_or_none);
    RUN(full_disk_leaves_no_file_of_a_value);
    return RESULT();
}
