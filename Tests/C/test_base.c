#include "check.h"

static void version_is_that_of_the_headers(void) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", QUIRE_VERSION_MAJOR, QUIRE_VERSION_MINOR, QUIRE_VERSION_PATCH);
    CHECK(strcmp(quire_version(), expected) == 0);
    CHECK(quire_version() == quire_version());
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
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        CHECK(strcmp(quire_status_name(expected[i].status), expected[i].name) == 0);
}

static void foreign_number_is_an_unknown_status(void) {
    CHECK(strcmp(quire_status_name((quire_status)21), "unknown status") == 0);
    CHECK(strcmp(quire_status_name((quire_status)0x7fffffff), "unknown status") == 0);
}

static void text_given_out_ends_with_nul(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "QuoteAndMore", 5, NULL, &error));
    const quire_string name = quire_model_entity_name(model, 0);
    CHECK_TEXT(name, "Quote");
    quire_model_release(model);
}

int main(void) {
    RUN(version_is_that_of_the_headers);
    RUN(every_status_has_its_name);
    RUN(foreign_number_is_an_unknown_status);
    RUN(text_given_out_ends_with_nul);
    return RESULT();
}
