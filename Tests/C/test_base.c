#include "check.h"

static void version_is_that_of_the_headers(void) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", QUIRE_VERSION_MAJOR, QUIRE_VERSION_MINOR, QUIRE_VERSION_PATCH);
    CHECK(strcmp(quire_version(), expected) == 0);
    CHECK(quire_version() == quire_version());
}

static void version_number_grows_with_the_version(void) {
    CHECK(quire_version_number() == QUIRE_VERSION_NUMBER);
    CHECK(QUIRE_VERSION_NUMBER == QUIRE_VERSION_MAJOR * 1000000 + QUIRE_VERSION_MINOR * 1000 + QUIRE_VERSION_PATCH);
#if QUIRE_VERSION_NUMBER < 1000
    CHECK(!"the number can be compared in the preprocessor");
#endif
}

static void every_status_has_its_name(void) {
    static const struct { quire_status status; const char *name; } expected[] = {
        {QUIRE_OK, "QUIRE_OK"},
        {QUIRE_INVALID_ARGUMENT, "QUIRE_INVALID_ARGUMENT"},
        {QUIRE_INVALID_STATE, "QUIRE_INVALID_STATE"},
        {QUIRE_INVALID_TEXT, "QUIRE_INVALID_TEXT"},
        {QUIRE_UNSUPPORTED, "QUIRE_UNSUPPORTED"},
        {QUIRE_NOT_FOUND, "QUIRE_NOT_FOUND"},
        {QUIRE_WRONG_THREAD, "QUIRE_WRONG_THREAD"},
        {QUIRE_CLOSED, "QUIRE_CLOSED"},
        {QUIRE_INVALID_MODEL, "QUIRE_INVALID_MODEL"},
        {QUIRE_INVALID_PREDICATE, "QUIRE_INVALID_PREDICATE"},
        {QUIRE_VALIDATION, "QUIRE_VALIDATION"},
        {QUIRE_CONFLICT, "QUIRE_CONFLICT"},
        {QUIRE_CONSTRAINT, "QUIRE_CONSTRAINT"},
        {QUIRE_CANNOT_OPEN, "QUIRE_CANNOT_OPEN"},
        {QUIRE_NOT_A_STORE, "QUIRE_NOT_A_STORE"},
        {QUIRE_MODEL_MISMATCH, "QUIRE_MODEL_MISMATCH"},
        {QUIRE_BUSY, "QUIRE_BUSY"},
        {QUIRE_READ_ONLY, "QUIRE_READ_ONLY"},
        {QUIRE_DATABASE, "QUIRE_DATABASE"},
        {QUIRE_FUNCTION, "QUIRE_FUNCTION"},
        {QUIRE_CANCELLED, "QUIRE_CANCELLED"},
        {QUIRE_FILE_MOVED, "QUIRE_FILE_MOVED"},
        {QUIRE_NO_MEMORY, "QUIRE_NO_MEMORY"},
        {QUIRE_HISTORY_EXPIRED, "QUIRE_HISTORY_EXPIRED"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK(strcmp(quire_status_name(expected[i].status), expected[i].name) == 0);
}

static void foreign_number_is_an_unknown_status(void) {
    CHECK(strcmp(quire_status_name((quire_status)4711), "unknown status") == 0);
    CHECK(strcmp(quire_status_name((quire_status)0x7fffffff), "unknown status") == 0);
}

static void text_given_out_ends_with_nul(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "QuoteAndMore", 5, NULL, &error));
    const quire_string name = quire_model_entity_name(model, 0);
    CHECK_TEXT(name, "Quote");
    quire_model_release(model);
}

static void size_that_no_text_has_is_refused(void) {
    quire_model *model = quire_model_create();
    const size_t wild[] = {(size_t)QUIRE_NUL + 1, (size_t)QUIRE_NUL + 5, SIZE_MAX / 2, SIZE_MAX - 1, SIZE_MAX};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_add_entity(model, "Quote", wild[i], NULL, &error));
    CHECK_OK(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error));
    CHECK_TEXT(quire_model_entity_name(model, 0), "Quote");
    quire_model_release(model);
}

/* As an array of a newer library is to this program: its elements go on behind what is known. */
static void elements_are_found_by_the_stride_of_their_array(void) {
    const struct { quire_change known; int64_t later[3]; } rows[] = {{{.id = 1}, {7}}, {{.id = 2}, {7}}, {{.id = 3}, {7}}};
    const quire_change_array array = {&rows[0].known, 3, sizeof rows[0]};
    for (int64_t i = 0; i < array.count; i++) CHECK(quire_change_at(array, i)->id == i + 1);
    CHECK(quire_change_at(array, -1) == NULL && quire_change_at(array, 3) == NULL && quire_change_at(array, INT64_MIN) == NULL);

    const struct { quire_step known; int64_t later; } steps[] = {{{.flat = 4}, 7}, {{.flat = 5}, 7}};
    CHECK(quire_step_at((quire_step_array){&steps[0].known, 2, sizeof steps[0]}, 1)->flat == 5);
    const struct { quire_section_change known; int64_t later; } sections[] = {{{.index = 4}, 7}, {{.index = 5}, 7}};
    CHECK(quire_section_change_at((quire_section_change_array){&sections[0].known, 2, sizeof sections[0]}, 1)->index == 5);
    const struct { quire_aggregate_change known; int64_t later; } totals[] = {{{.section = 4}, 7}, {{.section = 5}, 7}};
    CHECK(quire_aggregate_change_at((quire_aggregate_change_array){&totals[0].known, 2, sizeof totals[0]}, 1)->section == 5);
    const struct { quire_child_frame known; int64_t later; } frames[] = {{{.old_flat = 4}, 7}, {{.old_flat = 5}, 7}};
    CHECK(quire_child_frame_at((quire_child_frame_array){&frames[0].known, 2, sizeof frames[0]}, 1)->old_flat == 5);
    CHECK(quire_change_at((quire_change_array){NULL, 0, sizeof(quire_change)}, 0) == NULL);
    CHECK(quire_changes_rows(NULL).first == NULL && quire_changes_rows(NULL).count == 0);
    CHECK(quire_changes_row_count(NULL) == 0);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(version_is_that_of_the_headers);
    RUN(version_number_grows_with_the_version);
    RUN(every_status_has_its_name);
    RUN(foreign_number_is_an_unknown_status);
    RUN(text_given_out_ends_with_nul);
    RUN(size_that_no_text_has_is_refused);
    RUN(elements_are_found_by_the_stride_of_their_array);
    return RESULT();
}
