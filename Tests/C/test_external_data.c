/* Values in files beside the store, and what goes wrong with them. */
#include "photos.h"

#include <sys/stat.h>

#define NOWHERE "0A0A0A0A-0000-4000-8000-0A0A0A0A0A0A"

static quire_object *save_photo(fixture made, const void *image, uint32_t size) {
    quire_object *photo = insert(made.context, "Photo");
    set_value(photo, "image", quire_value_data(image, size));
    save(made.context);
    return photo;
}

static quire_object *only_photo(fixture made) {
    quire_fetch_request *request = new_request("Photo", NULL, NULL);
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK(quire_list_count(list) == 1);
    quire_object *photo = NULL;
    CHECK_OK(quire_list_object(list, 0, &photo, &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
    return photo;
}

static int files_of_values(void) {
    DIR *stream = opendir(with(folder, "/.library_SUPPORT/_EXTERNAL_DATA"));
    if (!stream) return 0;
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream));) count += entry->d_name[0] != '.';
    closedir(stream);
    return count;
}

static void holds(quire_object *photo, const void *image, uint32_t size) {
    const quire_value value = get_value(photo, "image");
    CHECK(value.kind == QUIRE_VALUE_DATA && value.size == size && !memcmp(value.as.data, image, size));
}

static void large_values_lie_in_files(void) {
    use_folder();
    fixture made = open_photos_at(path, NULL);
    quire_object *photo = save_photo(made, large, LARGE);
    CHECK(files_of_values() == 1);
    quire_object_release(photo);
    close_fixture(made);
    struct stat status;
    CHECK(stat(path, &status) == 0 && status.st_size < LARGE);
    made = open_photos_at(path, NULL);
    photo = only_photo(made);
    holds(photo, large, LARGE);
    set_value(photo, "image", quire_value_data((const uint8_t *)"abc", 3));
    save(made.context);
    CHECK(files_of_values() == 0);
    holds(photo, "abc", 3);
    quire_object_release(photo);
    close_fixture(made);
    remove_folder(folder);
}

/* The failure names the row and the attribute; all else goes on. */
static void fails_with(quire_status status, const char *stored, const char *word) {
    use_folder();
    fixture made = open_photos_at(path, NULL);
    quire_object *photo = save_photo(made, "abc", 3);
    const int64_t id = quire_object_id(photo);
    quire_object_release(photo);
    close_fixture(made);
    run("sqlite3 '%s' \"UPDATE ZPHOTO SET ZIMAGE = %s\"", path, stored);
    made = open_photos_at(path, NULL);
    photo = only_photo(made);
    for (int turn = 0; turn < 2; turn++) {
        quire_value value = quire_value_integer(1);
        CHECK(quire_object_get(photo, "image", QUIRE_NUL, &value, &error) == status);
        CHECK(value.kind == QUIRE_VALUE_NIL);
        CHECK(strstr(quire_error_message(error).data, word) && strstr(quire_error_message(error).data, "'Photo.image'"));
        CHECK(!strcmp(quire_error_entity(error).data, "Photo") && !strcmp(quire_error_key(error).data, "image"));
        CHECK(quire_error_object_id(error) == id);
        quire_error_release(error);
        error = NULL;
    }
    CHECK(!strcmp(get_text(photo, "name"), "nil"));
    set_text(photo, "name", "named");
    save(made.context);
    int64_t count = 0;
    quire_fetch_request *request = new_request("Photo", "image != nil", NULL);
    CHECK_OK(quire_context_count(made.context, request, &count, &error));
    CHECK(count == 1);
    quire_fetch_request_release(request);
    request = new_request("Photo", "image.length > 0", NULL);
    CHECK_FAILS(status, quire_context_count(made.context, request, &count, &error));
    quire_fetch_request_release(request);
    set_value(photo, "image", quire_value_data((const uint8_t *)"xyz", 3));
    save(made.context);
    holds(photo, "xyz", 3);
    quire_object_release(photo);
    close_fixture(made);
    remove_folder(folder);
}

static void missing_files_and_damage_fail_for_their_value(void) {
    fails_with(QUIRE_NOT_FOUND, "x'02' || '" NOWHERE "' || x'00'", NOWHERE);
    fails_with(QUIRE_DATABASE, "x'03616263'", "damaged");
    fails_with(QUIRE_DATABASE, "x''", "damaged");
    fails_with(QUIRE_DATABASE, "'abc'", "damaged");
    fails_with(QUIRE_DATABASE, "7", "damaged");
    fails_with(QUIRE_DATABASE, "x'02' || '../../../../../../../../../../../etc/pwd' || x'00'", "damaged");
}

/* The folder cannot be made, so that nothing is saved. */
static void save_that_cannot_write_its_file_fails(void) {
    use_folder();
    fixture made = open_photos_at(path, NULL);
    write_file(with(folder, "/.library_SUPPORT"), "in the way");
    quire_object *photo = insert(made.context, "Photo");
    set_value(photo, "image", quire_value_data(large, LARGE));
    CHECK_FAILS(QUIRE_DATABASE, quire_context_save(made.context, &error));
    CHECK(quire_context_has_changes(made.context));
    CHECK(unlink(with(folder, "/.library_SUPPORT")) == 0);
    save(made.context);
    CHECK(files_of_values() == 1);
    quire_object_release(photo);
    close_fixture(made);
    CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
    CHECK(!exists(with(folder, "/.library_SUPPORT")) && files_in_folder() == 0);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    for (int i = 0; i < LARGE; i++) large[i] = (unsigned char)(i * 7 % 251);
    RUN(large_values_lie_in_files);
    RUN(missing_files_and_damage_fail_for_their_value);
    RUN(save_that_cannot_write_its_file_fails);
    return RESULT();
}
