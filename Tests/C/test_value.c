#include "fixture.h"

#include <math.h>

static quire_value through_a_file(const char *key, quire_value value) {
    static char folder[256], path[300], held[256];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/store", folder);

    fixture written = open_fixture_at(path);
    quire_object *object = insert(written.context, "Everything");
    set_value(object, key, value);
    save(written.context);
    const int64_t id = quire_object_id(object);
    quire_object_release(object);
    close_fixture(written);

    fixture read = open_fixture_at(path);
    CHECK_OK(quire_context_object(read.context, "Everything", QUIRE_NUL, id, &object, &error));
    quire_value found = get_value(object, key);
    if (found.kind == QUIRE_VALUE_TEXT || found.kind == QUIRE_VALUE_DATA || found.kind == QUIRE_VALUE_UUID
        || found.kind == QUIRE_VALUE_URI || found.kind == QUIRE_VALUE_DECIMAL) {
        const size_t size = found.kind == QUIRE_VALUE_UUID ? 16 : found.size;
        CHECK(size < sizeof held);
        memcpy(held, found.as.text, size);
        found.as.text = held;
    }
    quire_object_release(object);
    close_fixture(read);
    remove_folder(folder);
    return found;
}

static void value_takes_sixteen_bytes(void) { CHECK(sizeof(quire_value) == 16); }

static void constructors_fill_kind_size_and_member(void) {
    static const uint8_t uuid[16] = {1, 2};
    const quire_value part = quire_value_text_sized("Goethe", 2), identifier = quire_value_uuid(uuid);
    CHECK(part.kind == QUIRE_VALUE_TEXT && part.size == 2 && strcmp(part.as.text, "Goethe") == 0);
    CHECK(identifier.kind == QUIRE_VALUE_UUID && identifier.size == 16 && identifier.as.data == uuid);
    CHECK(quire_value_decimal("1.5").kind == QUIRE_VALUE_DECIMAL && quire_value_uri("a:b").kind == QUIRE_VALUE_URI);
    CHECK(quire_value_decimal(NULL).kind == QUIRE_VALUE_NIL && quire_value_uri(NULL).kind == QUIRE_VALUE_NIL);
    CHECK(quire_value_nil().kind == QUIRE_VALUE_NIL && quire_value_nil().size == 0);
    CHECK(quire_value_integer(INT64_MIN).kind == QUIRE_VALUE_INTEGER && quire_value_integer(INT64_MIN).as.integer == INT64_MIN);
    CHECK(quire_value_boolean(true).kind == QUIRE_VALUE_BOOLEAN && quire_value_boolean(true).as.boolean);
    CHECK(quire_value_double(0.5).kind == QUIRE_VALUE_DOUBLE && quire_value_double(0.5).as.real == 0.5);
    CHECK(quire_value_date(-1.5).kind == QUIRE_VALUE_DATE && quire_value_date(-1.5).as.real == -1.5);
    CHECK(quire_value_text("x").kind == QUIRE_VALUE_TEXT && quire_value_text("x").size == QUIRE_NUL);
    CHECK(quire_value_text(NULL).kind == QUIRE_VALUE_NIL);
    CHECK(quire_value_data((const uint8_t *)"ab", 2).size == 2);
    CHECK(quire_value_object(NULL).kind == QUIRE_VALUE_NIL);
    CHECK(quire_value_list(NULL, 0).kind == QUIRE_VALUE_LIST && quire_value_list(NULL, 0).size == 0);
}

static void integers_return_from_the_file(void) {
    CHECK(through_a_file("small", quire_value_integer(-32768)).as.integer == -32768);
    CHECK(through_a_file("medium", quire_value_integer(INT32_MAX)).as.integer == INT32_MAX);
    CHECK(through_a_file("large", quire_value_integer(INT64_MIN)).as.integer == INT64_MIN);
    CHECK(through_a_file("large", quire_value_integer(INT64_MAX)).kind == QUIRE_VALUE_INTEGER);
}

static void booleans_return_as_booleans(void) {
    const quire_value yes = through_a_file("flag", quire_value_boolean(true));
    CHECK(yes.kind == QUIRE_VALUE_BOOLEAN && yes.as.boolean);
    const quire_value no = through_a_file("flag", quire_value_boolean(false));
    CHECK(no.kind == QUIRE_VALUE_BOOLEAN && !no.as.boolean);
}

static void doubles_floats_and_dates_keep_their_fractions(void) {
    CHECK(through_a_file("real", quire_value_double(0.1)).as.real == 0.1);
    quire_value narrow = quire_value_double(0.5);
    narrow.kind = QUIRE_VALUE_FLOAT;
    const quire_value float_back = through_a_file("narrow", narrow);
    CHECK(float_back.kind == QUIRE_VALUE_FLOAT && float_back.as.real == 0.5);
    const quire_value before = through_a_file("moment", quire_value_date(-86400.25));
    CHECK(before.kind == QUIRE_VALUE_DATE && before.as.real == -86400.25);
}

static void text_keeps_every_character(void) {
    const char *const texts[] = {"", "plain", "e\xCC\x81", "\xF0\x9F\xA6\x89", "\xE2\x80\x8F", "tab\tline\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const quire_value found = through_a_file("text", quire_value_text(texts[i]));
        CHECK(found.kind == QUIRE_VALUE_TEXT && found.size == strlen(texts[i]));
        CHECK(memcmp(found.as.text, texts[i], found.size) == 0);
    }
}

static void text_with_a_size_may_contain_nul(void) {
    quire_value text = quire_value_text("a");
    text.as.text = "a\0b";
    text.size = 3;
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    set_value(object, "text", text);
    const quire_value found = get_value(object, "text");
    CHECK(found.size == 3 && memcmp(found.as.text, "a\0b", 4) == 0);
    quire_object_release(object);
    close_fixture(made);
}

static void bytes_and_identifiers_return(void) {
    const quire_value bytes = through_a_file("bytes", quire_value_data((const uint8_t *)"\0\1\xFF", 3));
    CHECK(bytes.kind == QUIRE_VALUE_DATA && bytes.size == 3 && memcmp(bytes.as.data, "\0\1\xFF", 3) == 0);
    const quire_value none = through_a_file("bytes", quire_value_data((const uint8_t *)"", 0));
    CHECK(none.kind == QUIRE_VALUE_DATA && none.size == 0);

    quire_value uuid = quire_value_data((const uint8_t *)"0123456789abcdef", 16);
    uuid.kind = QUIRE_VALUE_UUID;
    const quire_value uuid_back = through_a_file("uuid", uuid);
    CHECK(uuid_back.kind == QUIRE_VALUE_UUID && memcmp(uuid_back.as.data, "0123456789abcdef", 16) == 0);

    quire_value uri = quire_value_text("https://example.org/a%20b?c#d");
    uri.kind = QUIRE_VALUE_URI;
    const quire_value uri_back = through_a_file("link", uri);
    CHECK(uri_back.kind == QUIRE_VALUE_URI && uri_back.size == 29);
    CHECK(memcmp(uri_back.as.text, "https://example.org/a%20b?c#d", 29) == 0);
}

static void decimals_are_kept_by_value(void) {
    quire_value decimal = quire_value_text("-12.50");
    decimal.kind = QUIRE_VALUE_DECIMAL;
    const quire_value found = through_a_file("decimal", decimal);
    CHECK(found.kind == QUIRE_VALUE_DECIMAL);
    CHECK(fabs(strtod(found.as.text, NULL) + 12.5) < 1e-12);
}

static void value_of_another_kind_is_refused(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    const quire_value text = quire_value_text("12");
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "large", QUIRE_NUL, &text, &error));
    const quire_value number = quire_value_integer(40000);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "small", QUIRE_NUL, &number, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "text", QUIRE_NUL, &number, &error));
    quire_value foreign = quire_value_nil();
    foreign.kind = 4711;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "text", QUIRE_NUL, &foreign, &error));
    quire_value decimal = quire_value_text("twelve");
    decimal.kind = QUIRE_VALUE_DECIMAL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "decimal", QUIRE_NUL, &decimal, &error));
    quire_value uuid = quire_value_data((const uint8_t *)"short", 5);
    uuid.kind = QUIRE_VALUE_UUID;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, "uuid", QUIRE_NUL, &uuid, &error));
    quire_object_release(object);
    close_fixture(made);
}

static void text_that_is_not_utf8_is_refused(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    const char *const texts[] = {"\xFF", "\xC3(", "\xED\xA0\x80", "\xF8\x88\x80\x80\x80", "\xC0\x80", "ends \xE2\x82"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const quire_value text = quire_value_text(texts[i]);
        CHECK_FAILS(QUIRE_INVALID_TEXT, quire_object_set(object, "text", QUIRE_NUL, &text, &error));
    }
    CHECK(get_value(object, "text").kind == QUIRE_VALUE_NIL);
    quire_object_release(object);
    close_fixture(made);
}

static void pointers_that_are_null_are_refused(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    const uint32_t kinds[] = {QUIRE_VALUE_TEXT, QUIRE_VALUE_DATA, QUIRE_VALUE_UUID, QUIRE_VALUE_URI, QUIRE_VALUE_DECIMAL};
    const char *const keys[] = {"text", "bytes", "uuid", "link", "decimal"};
    for (size_t i = 0; i < 5; i++) {
        quire_value value = quire_value_nil();
        value.kind = kinds[i];
        value.size = 16;
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_set(object, keys[i], QUIRE_NUL, &value, &error));
    }
    quire_object_release(object);
    close_fixture(made);
}

static bool are_equal(quire_value left, quire_value right) {
    const bool equal = quire_value_equal(&left, &right);
    CHECK(equal == quire_value_equal(&right, &left));
    return equal;
}

static void values_are_equal_by_what_they_stand_for(void) {
    const quire_value one = quire_value_integer(1), nil = quire_value_nil();
    CHECK(are_equal(nil, nil) && !are_equal(nil, quire_value_integer(0)) && !are_equal(nil, quire_value_text("")));
    CHECK(are_equal(one, quire_value_double(1)) && are_equal(one, quire_value_decimal("1.00")));
    CHECK(are_equal(one, quire_value_boolean(true)) && !are_equal(one, quire_value_text("1")));
    CHECK(!are_equal(quire_value_integer(INT64_MAX), quire_value_double(9223372036854775807.0)));
    CHECK(are_equal(quire_value_double(0.0), quire_value_double(-0.0)));
    CHECK(are_equal(quire_value_text("Faust"), quire_value_text_sized("Fausten", 5)));
    CHECK(!are_equal(quire_value_text("\xc3\xa9"), quire_value_text("e\xcc\x81")));
    CHECK(are_equal(quire_value_date(1.5), quire_value_date(1.5)) && !are_equal(quire_value_date(1), one));
    const uint8_t bytes[16] = {1, 2, 3};
    CHECK(are_equal(quire_value_uuid(bytes), quire_value_uuid(bytes)) && !are_equal(quire_value_uuid(bytes), nil));
}

static void lists_and_dictionaries_are_equal_part_by_part(void) {
    const quire_value left[] = {quire_value_integer(1), quire_value_text("a")};
    const quire_value right[] = {quire_value_double(1), quire_value_text("a")}, other[] = {left[1], left[0]};
    CHECK(are_equal(quire_value_list(left, 2), quire_value_list(right, 2)));
    CHECK(!are_equal(quire_value_list(left, 2), quire_value_list(other, 2)));
    CHECK(!are_equal(quire_value_list(left, 2), quire_value_list(left, 1)) && !are_equal(quire_value_list(left, 1), left[0]));
    const quire_entry some[] = {{quire_value_text("a"), left[0]}, {quire_value_text("b"), quire_value_list(left, 2)}};
    const quire_entry same[] = {{quire_value_text("b"), quire_value_list(right, 2)}, {quire_value_text("a"), right[0]}};
    CHECK(are_equal(quire_value_dictionary(some, 2), quire_value_dictionary(same, 2)));
    CHECK(!are_equal(quire_value_dictionary(some, 2), quire_value_dictionary(some, 1)));

    /* As deep as a program may make it. */
    static quire_value nested[100000];
    nested[0] = left[0];
    for (size_t i = 1; i < 100000; i++) nested[i] = quire_value_list(&nested[i - 1], 1);
    CHECK(are_equal(nested[60], nested[60]) && !are_equal(nested[99999], nested[99999]));
}

static void objects_are_equal_to_themselves_and_their_ids(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Faust", 1);
    const quire_value held = quire_value_object(author);
    CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &held, &error));
    const quire_value id = get_value(book, "author");
    CHECK(id.kind == QUIRE_VALUE_OBJECT_ID);
    CHECK(are_equal(held, held) && are_equal(id, id) && are_equal(held, id));
    CHECK(!are_equal(held, quire_value_object(book)) && !are_equal(id, quire_value_integer(id.as.integer)));
    quire_object_release(author);
    quire_object_release(book);
    close_fixture(made);
}

static void what_is_no_value_equals_nothing(void) {
    quire_value nan = quire_value_double(0), text = quire_value_text("\xff"), unknown = quire_value_nil(), empty = nan;
    nan.as.real = __builtin_nan("");
    unknown.kind = 4711;
    empty.kind = QUIRE_VALUE_TEXT;
    empty.size = 5;
    empty.as.text = NULL;
    const quire_value none[] = {nan, text, unknown, empty};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++) CHECK(!are_equal(none[i], none[j]));
    CHECK(!quire_value_equal(NULL, &nan) && !quire_value_equal(&nan, NULL) && !quire_value_equal(NULL, NULL));
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(values_are_equal_by_what_they_stand_for);
    RUN(lists_and_dictionaries_are_equal_part_by_part);
    RUN(objects_are_equal_to_themselves_and_their_ids);
    RUN(what_is_no_value_equals_nothing);
    RUN(value_takes_sixteen_bytes);
    RUN(constructors_fill_kind_size_and_member);
    RUN(integers_return_from_the_file);
    RUN(booleans_return_as_booleans);
    RUN(doubles_floats_and_dates_keep_their_fractions);
    RUN(text_keeps_every_character);
    RUN(text_with_a_size_may_contain_nul);
    RUN(bytes_and_identifiers_return);
    RUN(decimals_are_kept_by_value);
    RUN(value_of_another_kind_is_refused);
    RUN(text_that_is_not_utf8_is_refused);
    RUN(pointers_that_are_null_are_refused);
    return RESULT();
}
