/* Two contexts of one store, for tests of what one of them shows while the other one saves. */
#ifndef QUIRE_MOMENTS_H_
#define QUIRE_MOMENTS_H_

#include "recorder.h"

/* Where the store of a test is. */
static bool is_in_file;
static char folder[256], path[300];

/* Goethe with Egmont, which is tagged 'drama', and Faust. The writer makes them, and the reader has counted them. */
typedef struct stage {
    fixture made;
    quire_context *writer, *reader;
    quire_object *goethe, *egmont, *faust, *drama;
} stage;

static stage open_stage(void) {
    stage stage = {.made = {0}};
    if (is_in_file) {
        make_folder(folder, sizeof folder);
        snprintf(path, sizeof path, "%s/books.store", folder);
        stage.made = open_fixture_at(path);
    } else {
        stage.made = open_fixture();
    }
    stage.writer = stage.made.context;
    stage.goethe = insert(stage.writer, "Author");
    set_text(stage.goethe, "name", "Goethe");
    stage.egmont = insert_book(stage.writer, "Egmont", 120);
    stage.faust = insert_book(stage.writer, "Faust", 300);
    stage.drama = insert(stage.writer, "Tag");
    set_text(stage.drama, "label", "drama");
    set_value(stage.egmont, "author", quire_value_object(stage.goethe));
    set_value(stage.faust, "author", quire_value_object(stage.goethe));
    CHECK_OK(quire_object_add(stage.egmont, "tags", QUIRE_NUL, stage.drama, &error));
    save(stage.writer);
    CHECK_OK(quire_context_create(stage.made.store, &stage.reader, &error));
    CHECK(count(stage.reader, "Book", NULL) == 2);
    return stage;
}

static void close_stage(stage stage) {
    quire_object_release(stage.drama);
    quire_object_release(stage.faust);
    quire_object_release(stage.egmont);
    quire_object_release(stage.goethe);
    quire_context_release(stage.reader);
    close_fixture(stage.made);
    if (is_in_file) remove_folder(folder);
}

/* The object of the same row in another context. */
static quire_object *in(quire_context *context, quire_object *object, const char *entity) {
    quire_object *found = NULL;
    CHECK_OK(quire_context_object(context, entity, QUIRE_NUL, quire_object_id(object), &found, &error));
    return found;
}

/* The texts of all objects of an entity, sorted. */
static const char *all(quire_context *context, const char *entity, const char *key) {
    quire_list *list = fetch(context, entity, NULL, key);
    const char *text = joined(list, key);
    quire_list_release(list);
    return text;
}

static const char *members(quire_object *object, const char *relationship, const char *key) {
    quire_list *list = NULL;
    CHECK_OK(quire_object_get_objects(object, relationship, QUIRE_NUL, &list, &error));
    const char *text = joined(list, key);
    quire_list_release(list);
    return text;
}

#define CHECK_SAME(text, expected) CHECK_TEXT(((quire_string){(text), strlen(text)}), (expected))

/* The writer changes Faust, and gives it to another author and a tag to it; Egmont goes and Stella comes. */
static void save_much(stage stage) {
    quire_object *schiller = insert(stage.writer, "Author"), *stella = insert_book(stage.writer, "Stella", 60);
    set_text(schiller, "name", "Schiller");
    set_text(stage.faust, "title", "Urfaust");
    set_value(stage.faust, "pages", quire_value_integer(80));
    set_value(stage.faust, "author", quire_value_object(schiller));
    CHECK_OK(quire_object_add(stage.faust, "tags", QUIRE_NUL, stage.drama, &error));
    CHECK_OK(quire_context_delete(stage.writer, stage.egmont, &error));
    save(stage.writer);
    quire_object_release(stella);
    quire_object_release(schiller);
}

/* What a context shows before all that, and after it. */
static void check_before(quire_context *context) {
    CHECK_SAME(all(context, "Book", "title"), "Egmont,Faust");
    CHECK_SAME(all(context, "Author", "name"), "Goethe");
    CHECK(count(context, "Book", NULL) == 2 && count(context, "Book", "pages > 100") == 2);
    CHECK(count(context, "Book", "author.name == 'Goethe'") == 2);
    CHECK(count(context, "Book", "pages < 100 AND ANY tags.label == 'drama'") == 0);
}

static void check_after(quire_context *context) {
    CHECK_SAME(all(context, "Book", "title"), "Stella,Urfaust");
    CHECK_SAME(all(context, "Author", "name"), "Goethe,Schiller");
    CHECK(count(context, "Book", NULL) == 2 && count(context, "Book", "pages > 100") == 0);
    CHECK(count(context, "Book", "author.name == 'Goethe'") == 0);
    CHECK(count(context, "Book", "pages < 100 AND ANY tags.label == 'drama'") == 1);
}

#endif
