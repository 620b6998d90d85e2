#include "fixture.h"

static quire_list *two_books(fixture made) {
    quire_object *faust = insert_book(made.context, "Faust", 300), *egmont = insert_book(made.context, "Egmont", 120);
    quire_object *author = insert(made.context, "Author");
    set_text(author, "name", "Goethe");
    set_value(faust, "author", quire_value_object(author));
    save(made.context);
    quire_object_release(author);
    quire_object_release(faust);
    quire_object_release(egmont);
    return fetch(made.context, "Book", NULL, "title");
}

static void objects_and_ids_by_index(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    quire_object *first = NULL;
    int64_t ids[2] = {0};
    CHECK(quire_list_count(list) == 2);
    CHECK_OK(quire_list_object(list, 0, &first, &error));
    CHECK_OK(quire_list_ids(list, 0, 2, ids, &error));
    CHECK(strcmp(get_text(first, "title"), "Egmont") == 0 && quire_object_id(first) == ids[0]);
    CHECK_OK(quire_list_ids(list, 2, 0, ids, &error));
    quire_object_release(first);
    quire_list_release(list);
    close_fixture(made);
}

static void indexes_out_of_range_are_refused(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    quire_object *object = (quire_object *)&made;
    quire_page *page = NULL;
    int64_t ids[4];
    const int64_t outside[] = {-1, 2, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < 4; i++) {
        CHECK_FAILS(QUIRE_NOT_FOUND, quire_list_object(list, outside[i], &object, &error));
        CHECK(object == NULL);
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_ids(list, outside[i], 1, ids, &error));
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, outside[i], 1, NULL, 0, 0, &page, &error));
    }
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_ids(list, 1, INT64_MAX, ids, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_ids(list, 0, -1, ids, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 3, NULL, 0, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 1, INT64_MAX, NULL, 0, 0, &page, &error));
    quire_list_release(list);
    close_fixture(made);
}

static void page_has_the_columns_asked_for(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    const char *const keys[] = {"title", "pages", "author", "author.name"};
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, 2, keys, 4, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 2 && quire_page_column_count(page) == 4);
    CHECK(quire_page_column(page, 4) == NULL && quire_page_column(page, -1) == NULL);

    const quire_column *title = quire_page_column(page, 0);
    CHECK(strcmp(title->name, "title") == 0 && title->type == QUIRE_COLUMN_TEXT && title->length == 2);
    CHECK(title->nil_count == 0 && title->validity == NULL);
    CHECK(title->offsets[0] == 0 && title->offsets[1] == 6 && title->offsets[2] == 11);
    CHECK(title->values_size >= 11 && memcmp(title->values, "EgmontFaust", 11) == 0);

    const quire_column *pages = quire_page_column(page, 1);
    CHECK(pages->type == QUIRE_COLUMN_INTEGER && pages->offsets == NULL && pages->values_size == 16);
    CHECK(((const int64_t *)pages->values)[0] == 120 && ((const int64_t *)pages->values)[1] == 300);

    const quire_column *author = quire_page_column(page, 2), *name = quire_page_column(page, 3);
    CHECK(author->type == QUIRE_COLUMN_OBJECT_ID && author->nil_count == 1 && author->validity[0] == 2);
    CHECK(((const int64_t *)author->values)[1] > 0);
    CHECK(name->nil_count == 1 && name->offsets[1] == 0 && name->offsets[2] == 6);
    quire_page_release(page);
    quire_list_release(list);
    close_fixture(made);
}

static void page_without_keys_has_all_attributes(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, 2, NULL, 0, 0, &page, &error));
    CHECK(quire_page_column_count(page) == 3);
    quire_page_release(page);
    CHECK_OK(quire_list_page(list, 2, 0, NULL, 0, 0, &page, &error));
    CHECK(quire_page_row_count(page) == 0 && quire_page_column_count(page) == 3);
    quire_page_release(page);
    quire_list_release(list);
    close_fixture(made);
}

static void separated_text_ends_each_value_with_nul(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    const char *const keys[] = {"author.name", "title"};
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, 2, keys, 2, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    const quire_column *name = quire_page_column(page, 0), *title = quire_page_column(page, 1);
    CHECK(name->offsets == NULL && name->values_size == 8 && memcmp(name->values, "\0Goethe\0", 8) == 0);
    CHECK(title->offsets == NULL && title->values_size == 13 && memcmp(title->values, "Egmont\0Faust\0", 13) == 0);
    quire_page_release(page);
    quire_list_release(list);

    quire_object *odd = insert(made.context, "Book");
    quire_value text = quire_value_text("a");
    text.as.text = "a\0b";
    text.size = 3;
    set_value(odd, "title", text);
    list = fetch(made.context, "Book", NULL, "title");
    CHECK_OK(quire_list_page(list, 0, 3, keys, 2, QUIRE_PAGE_NUL_SEPARATED, &page, &error));
    CHECK(quire_page_column(page, 1)->offsets != NULL);
    quire_page_release(page);
    quire_list_release(list);
    quire_object_release(odd);
    close_fixture(made);
}

static void page_shows_pending_changes(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    quire_object *first = NULL;
    CHECK_OK(quire_list_object(list, 0, &first, &error));
    set_value(first, "pages", quire_value_integer(999));
    const char *const keys[] = {"pages"};
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, 1, keys, 1, 0, &page, &error));
    CHECK(((const int64_t *)quire_page_column(page, 0)->values)[0] == 999);
    quire_page_release(page);
    quire_object_release(first);
    quire_list_release(list);
    close_fixture(made);
}

static void page_has_a_layout_for_each_type(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    set_value(object, "flag", quire_value_boolean(true));
    set_value(object, "real", quire_value_double(0.25));
    set_value(object, "moment", quire_value_date(12.5));
    set_value(object, "bytes", quire_value_data((const uint8_t *)"\0\1", 2));
    quire_value uuid = quire_value_data((const uint8_t *)"0123456789abcdef", 16);
    uuid.kind = QUIRE_VALUE_UUID;
    set_value(object, "uuid", uuid);
    quire_value uri = quire_value_text("a:b");
    uri.kind = QUIRE_VALUE_URI;
    set_value(object, "link", uri);
    quire_value decimal = quire_value_text("1.5");
    decimal.kind = QUIRE_VALUE_DECIMAL;
    set_value(object, "decimal", decimal);

    for (int round = 0; round < 2; round++) {
        const char *const keys[] = {"flag", "real", "moment", "bytes", "uuid", "link", "decimal"};
        quire_list *list = fetch(made.context, "Everything", NULL, NULL);
        quire_page *page = NULL;
        CHECK_OK(quire_list_page(list, 0, 1, keys, 7, 0, &page, &error));
        const quire_column *columns[7];
        for (int i = 0; i < 7; i++) columns[i] = quire_page_column(page, i);
        CHECK(columns[0]->type == QUIRE_COLUMN_BOOLEAN && *(const uint8_t *)columns[0]->values == 1);
        CHECK(columns[1]->type == QUIRE_COLUMN_DOUBLE && *(const double *)columns[1]->values == 0.25);
        CHECK(columns[2]->type == QUIRE_COLUMN_DATE && *(const double *)columns[2]->values == 12.5);
        CHECK(columns[3]->type == QUIRE_COLUMN_DATA && columns[3]->offsets[1] == 2 && memcmp(columns[3]->values, "\0\1", 2) == 0);
        CHECK(columns[4]->type == QUIRE_COLUMN_UUID && memcmp(columns[4]->values, "0123456789abcdef", 16) == 0);
        CHECK(columns[5]->type == QUIRE_COLUMN_URI && memcmp(columns[5]->values, "a:b", 3) == 0);
        CHECK(columns[6]->type == QUIRE_COLUMN_DECIMAL && memcmp(columns[6]->values, "1.5", 3) == 0);
        quire_page_release(page);
        quire_list_release(list);
        save(made.context);
    }
    quire_object_release(object);
    close_fixture(made);
}

static void page_keys_and_flags_are_checked(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    const char *const unknown[] = {"subtitle"}, *const many[] = {"tags"}, *const none[] = {NULL}, *const invalid[] = {"\xFF"};
    quire_page *page = (quire_page *)&made;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 1, unknown, 1, 0, &page, &error));
    CHECK(page == NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 1, many, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 1, none, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_list_page(list, 0, 1, invalid, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 1, NULL, 1, 0, &page, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 1, NULL, 0, 2, &page, &error));
    quire_list_release(list);
    close_fixture(made);
}

static void page_of_several_entities_has_the_keys_that_they_share(void) {
    fixture made = open_fixture();
    quire_object *novel = insert(made.context, "Novel"), *book = insert_book(made.context, "Faust", 300);
    quire_list *list = NULL;
    quire_page *page = NULL;
    const char *const keys[] = {"pages"}, *const foreign[] = {"genre"};
    CHECK_OK(quire_context_pending(made.context, QUIRE_PENDING_INSERTED, &list, &error));
    CHECK_OK(quire_list_page(list, 0, 2, keys, 1, 0, &page, &error));
    CHECK(((const int64_t *)quire_page_column(page, 0)->values)[1] == 300);
    quire_page_release(page);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_list_page(list, 0, 2, foreign, 1, 0, &page, &error));
    quire_list_release(list);
    quire_object *author = insert(made.context, "Author");
    CHECK_OK(quire_context_pending(made.context, QUIRE_PENDING_INSERTED, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_list_page(list, 0, 3, NULL, 0, 0, &page, &error));
    CHECK(page == NULL);
    quire_list_release(list);
    quire_object_release(author);
    quire_object_release(book);
    quire_object_release(novel);
    close_fixture(made);
}

static void page_over_a_row_that_is_gone_says_so(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_list *list = fetch(made.context, "Book", NULL, NULL);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    save(made.context);
    quire_page *page = NULL;
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_list_page(list, 0, 1, NULL, 0, 0, &page, &error));
    quire_list_release(list);
    quire_object_release(book);
    close_fixture(made);
}

static void list_is_a_snapshot_of_which_objects_there_are(void) {
    fixture made = open_fixture();
    quire_list *list = two_books(made);
    quire_object_release(insert_book(made.context, "Stella", 90));
    CHECK(quire_list_count(list) == 2);
    CHECK(quire_list_count(NULL) == 0);
    quire_list_release(list);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(objects_and_ids_by_index);
    RUN(indexes_out_of_range_are_refused);
    RUN(page_has_the_columns_asked_for);
    RUN(page_without_keys_has_all_attributes);
    RUN(separated_text_ends_each_value_with_nul);
    RUN(page_shows_pending_changes);
    RUN(page_has_a_layout_for_each_type);
    RUN(page_keys_and_flags_are_checked);
    RUN(page_of_several_entities_has_the_keys_that_they_share);
    RUN(page_over_a_row_that_is_gone_says_so);
    RUN(list_is_a_snapshot_of_which_objects_there_are);
    return RESULT();
}
