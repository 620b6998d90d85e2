#include "fixture.h"

static quire_error *predicate_error(void) {
    quire_predicate *predicate = NULL;
    quire_error *made = NULL;
    CHECK(quire_predicate_parse("name == ", QUIRE_NUL, NULL, 0, &predicate, &made) == QUIRE_INVALID_PREDICATE);
    CHECK(made != NULL && predicate == NULL);
    return made;
}

static void error_tells_its_status_message_and_offset(void) {
    quire_error *made = predicate_error();

    CHECK(quire_error_status(made) == QUIRE_INVALID_PREDICATE);
    CHECK(quire_error_offset(made) >= 7 && quire_error_offset(made) <= 8);
    CHECK(quire_error_message(made).size > 10);
    CHECK(strlen(quire_error_message(made).data) == quire_error_message(made).size);
    CHECK(quire_error_database_code(made) == 0);
    CHECK(quire_error_detail_count(made) == 0);
    CHECK(quire_error_detail(made, 0) == NULL);

    quire_error_release(made);
}

static void offset_is_minus_one_for_other_errors(void) {
    quire_fetch_request *request = NULL;
    quire_error *made = NULL;
    CHECK(quire_fetch_request_create(NULL, 0, &request, &made) == QUIRE_INVALID_ARGUMENT);
    CHECK(quire_error_offset(made) == -1);
    quire_error_release(made);
}

static void error_of_a_file_has_the_code_of_sqlite(void) {
    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_error *made = NULL;
    CHECK(quire_store_open("/no-such-folder/store", QUIRE_NUL, model, NULL, &store, &made) == QUIRE_CANNOT_OPEN);
    CHECK(store == NULL);
    CHECK(quire_error_status(made) == QUIRE_CANNOT_OPEN);
    quire_error_release(made);
    quire_model_release(model);
}

static void null_is_taken_everywhere(void) {
    CHECK(quire_error_retain(NULL) == NULL);
    quire_error_release(NULL);
    CHECK(quire_error_status(NULL) == QUIRE_INVALID_ARGUMENT);
    CHECK(quire_error_message(NULL).data == NULL && quire_error_message(NULL).size == 0);
    CHECK(quire_error_detail_count(NULL) == 0);
    CHECK(quire_error_detail(NULL, 0) == NULL);
    CHECK(quire_error_database_code(NULL) == 0);
}

static void retained_error_outlives_its_first_owner(void) {
    quire_error *made = predicate_error();
    CHECK(quire_error_retain(made) == made);
    quire_error_release(made);
    CHECK(quire_error_status(made) == QUIRE_INVALID_PREDICATE);
    quire_error_release(made);
}

static void save_that_breaks_several_rules_lists_each(void) {
    fixture made = open_fixture();
    quire_object *first = insert(made.context, "Book"), *second = insert(made.context, "Book");

    quire_error *several = NULL;
    CHECK(quire_context_save(made.context, &several) == QUIRE_VALIDATION);
    CHECK(quire_error_detail_count(several) == 2);
    for (int64_t i = 0; i < 2; i++) {
        const quire_error *single = quire_error_detail(several, i);
        CHECK(quire_error_status(single) == QUIRE_VALIDATION);
        CHECK(strstr(quire_error_message(single).data, "title") != NULL);
        CHECK(quire_error_detail_count(single) == 0);
    }
    CHECK(quire_error_detail(several, 2) == NULL);
    CHECK(quire_error_detail(several, -1) == NULL);
    quire_error_release(several);

    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
}

static void detail_that_is_retained_outlives_the_whole(void) {
    fixture made = open_fixture();
    quire_object *first = insert(made.context, "Book"), *second = insert(made.context, "Book");
    quire_error *several = NULL;
    CHECK(quire_context_save(made.context, &several) == QUIRE_VALIDATION);
    quire_error *single = quire_error_retain((quire_error *)quire_error_detail(several, 1));
    quire_error_release(several);
    CHECK(strstr(quire_error_message(single).data, "title") != NULL);
    quire_error_release(single);
    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(error_tells_its_status_message_and_offset);
    RUN(offset_is_minus_one_for_other_errors);
    RUN(error_of_a_file_has_the_code_of_sqlite);
    RUN(null_is_taken_everywhere);
    RUN(retained_error_outlives_its_first_owner);
    RUN(save_that_breaks_several_rules_lists_each);
    RUN(detail_that_is_retained_outlives_the_whole);
    return RESULT();
}
