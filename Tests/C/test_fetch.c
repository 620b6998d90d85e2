#include "fixture.h"

static fixture three_books(void) {
    fixture made = open_fixture();
    quire_object_release(insert_book(made.context, "Faust", 300));
    quire_object_release(insert_book(made.context, "Egmont", 120));
    quire_object *novel = insert(made.context, "Novel");
    set_text(novel, "title", "Werther");
    set_value(novel, "pages", quire_value_nil());
    quire_object_release(novel);
    save(made.context);
    return made;
}

static const char *titles(quire_context *context, quire_fetch_request *request) {
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    const char *text = joined(list, "title");
    quire_list_release(list);
    quire_fetch_request_release(request);
    return text;
}

static void sort_keys_order_with_nil_first_ascending(void) {
    fixture made = three_books();
    CHECK(strcmp(titles(made.context, new_request("Book", NULL, "pages")), "Werther,Egmont,Faust") == 0);
    quire_fetch_request *descending = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_add_sort(descending, "pages", QUIRE_NUL, false, &error));
    CHECK(strcmp(titles(made.context, descending), "Faust,Egmont,Werther") == 0);
    close_fixture(made);
}

static void text_orders_by_code_point(void) {
    fixture made = open_fixture();
    const char *const names[] = {"b", "a", "B", "\xC3\xA4", "\xF0\x9F\xA6\x89", "\xEF\xBC\xA1"};
    for (size_t i = 0; i < 6; i++) quire_object_release(insert_book(made.context, names[i], 1));
    const char *const expected = "B,a,b,\xC3\xA4,\xEF\xBC\xA1,\xF0\x9F\xA6\x89";
    CHECK(strcmp(titles(made.context, new_request("Book", NULL, "title")), expected) == 0);
    save(made.context);
    CHECK(strcmp(titles(made.context, new_request("Book", NULL, "title")), expected) == 0);
    close_fixture(made);
}

static void second_sort_key_decides_ties_and_clearing_removes_both(void) {
    fixture made = three_books();
    quire_object_release(insert_book(made.context, "Clavigo", 120));
    quire_fetch_request *request = new_request("Book", "pages != nil", "pages");
    CHECK_OK(quire_fetch_request_add_sort(request, "title", QUIRE_NUL, true, &error));
    quire_fetch_request_retain(request);
    CHECK(strcmp(titles(made.context, request), "Clavigo,Egmont,Faust") == 0);
    CHECK_OK(quire_fetch_request_clear_sort(request, &error));
    CHECK_OK(quire_fetch_request_add_sort(request, "title", QUIRE_NUL, false, &error));
    CHECK(strcmp(titles(made.context, request), "Faust,Egmont,Clavigo") == 0);
    close_fixture(made);
}

static void sorting_follows_a_to_one_relationship(void) {
    fixture made = three_books();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Don Carlos", 200);
    set_text(author, "name", "Schiller");
    set_value(book, "author", quire_value_object(author));
    save(made.context);
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_add_sort(request, "author.name", QUIRE_NUL, false, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, 1, &error));
    CHECK(strcmp(titles(made.context, request), "Don Carlos") == 0);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

static void limit_and_offset_count_saved_and_pending_together(void) {
    fixture made = three_books();
    quire_object_release(insert_book(made.context, "Clavigo", 110));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_offset(request, 1, &error));
    CHECK_OK(quire_fetch_request_set_limit(request, 2, &error));
    int64_t number = 0;
    CHECK_OK(quire_context_count(made.context, request, &number, &error));
    CHECK(number == 2);
    CHECK(strcmp(titles(made.context, request), "Egmont,Faust") == 0);
    request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_offset(request, INT64_MAX, &error));
    CHECK(strcmp(titles(made.context, request), "") == 0);
    request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_limit(request, INT64_MAX, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_set_limit(request, UINT64_MAX, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_set_offset(request, UINT64_MAX, &error));
    CHECK(strcmp(titles(made.context, request), "Clavigo,Egmont,Faust,Werther") == 0);
    close_fixture(made);
}

static void predicate_is_replaced_and_removed(void) {
    fixture made = three_books();
    quire_fetch_request *request = new_request("Book", "title == 'Faust'", "title");
    quire_fetch_request_retain(request);
    CHECK(strcmp(titles(made.context, request), "Faust") == 0);
    CHECK_OK(quire_fetch_request_set_predicate(request, NULL, &error));
    CHECK(strcmp(titles(made.context, request), "Egmont,Faust,Werther") == 0);
    close_fixture(made);
}

static void subentities_can_be_left_out(void) {
    fixture made = three_books();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_includes_subentities(request, false, &error));
    CHECK(strcmp(titles(made.context, request), "Egmont,Faust") == 0);
    CHECK(strcmp(titles(made.context, new_request("Novel", NULL, "title")), "Werther") == 0);
    close_fixture(made);
}

static void pending_changes_are_seen_unless_refused(void) {
    fixture made = three_books();
    quire_list *list = fetch(made.context, "Book", NULL, "title");
    quire_object *egmont = NULL, *faust = NULL;
    CHECK_OK(quire_list_object(list, 0, &egmont, &error));
    CHECK_OK(quire_list_object(list, 1, &faust, &error));
    quire_list_release(list);
    set_value(egmont, "pages", quire_value_integer(500));
    CHECK_OK(quire_context_delete(made.context, faust, &error));
    quire_object_release(insert_book(made.context, "Iphigenie", 501));

    CHECK(strcmp(titles(made.context, new_request("Book", "pages >= 300", "pages")), "Egmont,Iphigenie") == 0);
    quire_fetch_request *request = new_request("Book", "pages >= 300", "pages");
    CHECK_OK(quire_fetch_request_set_includes_pending_changes(request, false, &error));
    int64_t number = 0;
    CHECK_OK(quire_context_count(made.context, request, &number, &error));
    CHECK(number == 1);
    quire_fetch_request_release(request);
    quire_object_release(faust);
    quire_object_release(egmont);
    close_fixture(made);
}

static void batches_give_the_same_objects(void) {
    fixture made = open_fixture();
    for (int i = 0; i < 100; i++) quire_object_release(insert_book(made.context, "x", i));
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    quire_fetch_request *request = new_request("Book", NULL, "pages");
    CHECK_OK(quire_fetch_request_set_batch_size(request, 7, &error));
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(other, request, &list, &error));
    for (int64_t i = 99; i >= 0; i--) {
        quire_object *book = NULL;
        CHECK_OK(quire_list_object(list, i, &book, &error));
        CHECK(get_value(book, "pages").as.integer == i);
        quire_object_release(book);
    }
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_context_release(other);
    close_fixture(made);
}

static void ids_and_counts_are_results_too(void) {
    fixture made = three_books();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    quire_list *list = NULL;
    int64_t ids[3] = {0};
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK_OK(quire_list_ids(list, 0, 3, ids, &error));
    CHECK(ids[0] > 0 && ids[1] > 0 && ids[0] != ids[1]);
    quire_list_release(list);

    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_COUNT, &error));
    quire_page *page = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK(quire_list_count(list) == 1);
    CHECK_OK(quire_list_page(list, 0, 1, NULL, 0, 0, &page, &error));
    CHECK(quire_page_column_count(page) == 1 && ((const int64_t *)quire_page_column(page, 0)->values)[0] == 3);
    quire_page_release(page);
    quire_list_release(list);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_set_result_type(request, 3, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_set_result_type(request, UINT32_MAX, &error));
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void dictionaries_have_the_properties_asked_for(void) {
    fixture made = three_books();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "pages", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "author.name", QUIRE_NUL, &error));
    quire_object_release(insert_book(made.context, "Unsaved", 1));
    quire_list *list = NULL;
    quire_page *page = NULL;
    quire_object *object = NULL;
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    CHECK(quire_list_count(list) == 3);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_list_object(list, 0, &object, &error));
    CHECK_OK(quire_list_page(list, 0, 3, NULL, 0, 0, &page, &error));
    CHECK(quire_page_column_count(page) == 2);
    const quire_column *pages = quire_page_column(page, 0), *names = quire_page_column(page, 1);
    CHECK(strcmp(pages->name, "pages") == 0 && pages->type == QUIRE_COLUMN_INTEGER && pages->nil_count == 1);
    CHECK(((const int64_t *)pages->values)[0] == 120 && !(pages->validity[0] & 4));
    CHECK(strcmp(names->name, "author.name") == 0 && names->type == QUIRE_COLUMN_TEXT && names->nil_count == 3);
    quire_page_release(page);
    quire_list_release(list);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static quire_status try_fetch(quire_context *context, quire_fetch_request *request) {
    quire_list *list = (quire_list *)&error;
    const quire_status status = quire_context_fetch(context, request, &list, &error);
    CHECK(list == NULL);
    quire_fetch_request_release(request);
    return status;
}

static void unknown_entities_and_keys_show_at_the_fetch(void) {
    fixture made = three_books();
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, new_request("Poem", NULL, NULL)));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, new_request("Book", "subtitle == 'x'", NULL)));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, new_request("Book", NULL, "subtitle")));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, new_request("Book", NULL, "author.subtitle")));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, new_request("Book", NULL, "tags.label")));
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_DICTIONARIES, &error));
    CHECK_OK(quire_fetch_request_add_property(request, "tags", QUIRE_NUL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, try_fetch(made.context, request));
    close_fixture(made);
}

static void text_given_to_a_request_is_checked(void) {
    quire_fetch_request *request = NULL;
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_fetch_request_create("\xFF", QUIRE_NUL, &request, &error));
    request = new_request("Book", NULL, NULL);
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_fetch_request_add_sort(request, "\xFF", QUIRE_NUL, true, &error));
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_fetch_request_add_property(request, "\xFF", QUIRE_NUL, &error));
    quire_fetch_request_release(request);
}

int main(void) {
    RUN(sort_keys_order_with_nil_first_ascending);
    RUN(text_orders_by_code_point);
    RUN(second_sort_key_decides_ties_and_clearing_removes_both);
    RUN(sorting_follows_a_to_one_relationship);
    RUN(limit_and_offset_count_saved_and_pending_together);
    RUN(predicate_is_replaced_and_removed);
    RUN(subentities_can_be_left_out);
    RUN(pending_changes_are_seen_unless_refused);
    RUN(batches_give_the_same_objects);
    RUN(ids_and_counts_are_results_too);
    RUN(dictionaries_have_the_properties_asked_for);
    RUN(unknown_entities_and_keys_show_at_the_fetch);
    RUN(text_given_to_a_request_is_checked);
    return RESULT();
}
