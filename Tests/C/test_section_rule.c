#include "recorder.h"

/* Sections as text: names with what they hold, and their index titles. */
static quire_string shown(quire_results *results) {
    static char text[1024];
    size_t size = 0;
    text[0] = 0;
    for (int64_t i = 0; i < quire_results_section_count(results); i++) {
        quire_section section = QUIRE_SECTION_INIT;
        CHECK_OK(quire_results_section(results, i, &section, &error));
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s/%s:%lld", i ? " " : "", section.name.data,
            section.index_title.data, (long long)section.count);
    }
    return (quire_string){text, size};
}

static quire_section_rule *rule(const char *key_path, const quire_section_rule_options *options) {
    quire_section_rule *made = NULL;
    CHECK_OK(quire_section_rule_create(key_path, QUIRE_NUL, options, &made, &error));
    return made;
}

static quire_results *ruled(quire_context *context, const char *entity, const char *sort, const quire_section_rule *rule) {
    quire_fetch_request *request = new_request(entity, NULL, sort);
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_rule = rule;
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    quire_fetch_request_release(request);
    return results;
}

static void set_rule(quire_results *results, const char *entity, const char *sort, const quire_section_rule *rule) {
    quire_fetch_request *request = new_request(entity, NULL, sort);
    CHECK_OK(quire_results_set_request_with_rule(results, request, rule, &error));
    quire_fetch_request_release(request);
}

static void texts_are_gathered_by_letter(void) {
    fixture made = open_fixture();
    const char *const titles[] = {"zoo", "\xC3\x84pple", "apple", "Zebra", "7", "\xC3\x96l"};
    for (int i = 0; i < 6; i++) quire_object_release(insert_book(made.context, titles[i], 9 - i));
    save(made.context);
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    options.grouping = QUIRE_GROUPING_LETTER;
    options.locale = "sv";
    quire_section_rule *swedish = rule("title", &options);
    quire_results *results = ruled(made.context, "Book", "pages", swedish);
    CHECK_TEXT(shown(results), "#/#:1 A/A:1 Z/Z:2 \xC3\x84/\xC3\x84:1 \xC3\x96/\xC3\x96:1");
    int64_t section = -1;
    CHECK_OK(quire_results_section_for_index_title(results, 3, &section, &error));
    CHECK(section == 3);
    /* Within a section the sort keys order the rows. */
    quire_object *first = NULL;
    CHECK_OK(quire_results_object(results, 2, 0, &first, &error));
    CHECK(strcmp(get_text(first, "title"), "Zebra") == 0);
    quire_object_release(first);
    /* In German the dots make no other letter. */
    options.locale = "de";
    options.is_descending = true;
    const quire_value fixed[] = {quire_value_text("Q"), quire_value_text("A")};
    options.fixed_sections = fixed;
    options.fixed_section_count = 2;
    quire_section_rule *german = rule("title", &options);
    set_rule(results, "Book", "pages", german);
    CHECK_TEXT(shown(results), "Q/Q:0 A/A:2 Z/Z:2 O/O:1 #/#:1");
    set_rule(results, "Book", "pages", NULL);
    CHECK_TEXT(shown(results), "/:6");
    CHECK(quire_section_rule_retain(german) == german);
    quire_section_rule_release(german);
    quire_section_rule_release(german);
    quire_section_rule_release(swedish);
    quire_section_rule_release(NULL);
    CHECK(quire_section_rule_retain(NULL) == NULL);
    quire_results_release(results);
    close_fixture(made);
}

static void dates_and_numbers_are_gathered_by_ranges(void) {
    fixture made = open_fixture();
    /* 2026-03-28 22:59:59 and 23:00 UTC: midnight of the 29th in Berlin, on which clocks change; and one day later. */
    const double moments[] = {1774738799, 1774738800, 1774821600};
    for (int i = 0; i < 3; i++) {
        quire_object *object = insert(made.context, "Everything");
        set_value(object, "moment", quire_value_date(moments[i]));
        set_value(object, "real", quire_value_double(10.5 * i - 1));
        quire_object_release(object);
    }
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    options.grouping = QUIRE_GROUPING_DAY;
    options.time_zone = "Europe/Berlin";
    quire_section_rule *by_day = rule("moment", &options);
    quire_results *results = ruled(made.context, "Everything", "real", by_day);
    CHECK_TEXT(shown(results), "2026-03-28/2026:1 2026-03-29/2026:1 2026-03-30/2026:1");
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(results, 1, &section, &error));
    CHECK(section.value.kind == QUIRE_VALUE_DATE && section.value.as.real == 1774738800);
    options.grouping = QUIRE_GROUPING_WEEK;
    options.locale = "de";
    options.is_descending = true;
    quire_section_rule *by_week = rule("moment", &options);
    set_rule(results, "Everything", "real", by_week);
    CHECK_TEXT(shown(results), "2026-03-30/2026:1 2026-03-23/2026:2");

    quire_section_rule_options numbers = QUIRE_SECTION_RULE_OPTIONS_INIT;
    numbers.grouping = QUIRE_GROUPING_NUMBER;
    numbers.width = 10;
    quire_section_rule *by_ten = rule("real", &numbers);
    set_rule(results, "Everything", NULL, by_ten);
    CHECK_TEXT(shown(results), "-10/-10:1 0/0:1 20/20:1");
    const double bounds[] = {0, 5};
    numbers.bounds = bounds;
    numbers.bound_count = 2;
    quire_section_rule *by_bounds = rule("real", &numbers);
    set_rule(results, "Everything", NULL, by_bounds);
    CHECK_TEXT(shown(results), "<0/<0:1 5/5:2");
    quire_page *page = NULL;
    CHECK_OK(quire_results_sections(results, 0, &page, &error));
    const quire_column *values = quire_page_column(page, 4);
    CHECK(strcmp(values->name, "value") == 0 && values->type == QUIRE_COLUMN_DOUBLE && ((const double *)values->values)[1] == 5);
    quire_page_release(page);
    quire_section_rule_release(by_day);
    quire_section_rule_release(by_week);
    quire_section_rule_release(by_ten);
    quire_section_rule_release(by_bounds);
    quire_results_release(results);
    close_fixture(made);
}

static void expressions_make_sections_that_follow_related_objects(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *books[3];
    for (int i = 0; i < 3; i++) {
        books[i] = insert_book(made.context, i == 0 ? "a" : i == 1 ? "b" : "c", 100 * i);
        set_value(books[i], "author", (quire_value){.kind = QUIRE_VALUE_OBJECT, .as.object = author});
    }
    set_text(author, "name", "Goethe");
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse(
        "TERNARY(author.books.@count > 2, uppercase:(author.name), 'few')", QUIRE_NUL, NULL, 0, &expression, &error));
    quire_section_rule *made_of = NULL;
    CHECK_OK(quire_section_rule_create_with_expression(expression, NULL, &made_of, &error));
    quire_expression_release(expression);
    quire_results *results = ruled(made.context, "Book", "title", made_of);
    const quire_results_delegate delegate = recorder();
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_TEXT(shown(results), "GOETHE/G:3");
    set_text(author, "name", "Schiller");
    process(made.context);
    CHECK_TOLD("{was 3 -s0:GOETHE +s0:SCHILLER >0.0/0.0 >0.1/0.1 >0.2/0.2 is 3}");
    CHECK_OK(quire_context_delete(made.context, books[1], &error));
    process(made.context);
    CHECK_TOLD("{was 3 -s0:SCHILLER +s0:few -0.1 >0.0/0.0 >0.2/0.1 is 2}");
    quire_section_rule_release(made_of);
    quire_results_release(results);
    for (int i = 0; i < 3; i++) quire_object_release(books[i]);
    quire_object_release(author);
    close_fixture(made);
}

static void fixed_sections_stay_when_they_are_empty(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "a", 1);
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    const quire_value fixed[] = {quire_value_integer(3), quire_value_integer(1)};
    options.fixed_sections = fixed;
    options.fixed_section_count = 2;
    quire_section_rule *by_pages = rule("pages", &options);
    quire_results *results = ruled(made.context, "Book", "title", by_pages);
    const quire_results_delegate delegate = recorder();
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_TEXT(shown(results), "3/3:0 1/1:1");
    quire_section section = QUIRE_SECTION_INIT;
    CHECK_OK(quire_results_section(results, 0, &section, &error));
    CHECK(section.value.kind == QUIRE_VALUE_INTEGER && section.value.as.integer == 3);
    set_value(book, "pages", quire_value_integer(3));
    process(made.context);
    CHECK_TOLD("{was 1 >1.0/0.0 is 1}");
    set_value(book, "pages", quire_value_integer(2));
    process(made.context);
    CHECK_TOLD("{was 1 +s2:2 >0.0/2.0 is 1}");
    CHECK_OK(quire_context_delete(made.context, book, &error));
    process(made.context);
    CHECK_TOLD("{was 1 -s2:2 -2.0 is 0}");
    CHECK_TEXT(shown(results), "3/3:0 1/1:0");
    quire_section_rule_release(by_pages);
    quire_results_release(results);
    quire_object_release(book);
    close_fixture(made);
}

/* Writes a TZif file of a zone that is always so many minutes ahead of UTC, in the place of the one there. */
static void write_zone(const char *path, int minutes) {
    unlink(path);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    for (int part = 0; part < 2; part++) {
        unsigned char block[44 + 6 + 4] = {'T', 'Z', 'i', 'f', '2'};
        block[39] = 1, block[43] = 4;
        for (int i = 0; i < 4; i++) block[44 + i] = (unsigned char)((uint32_t)(minutes * 60) >> (24 - 8 * i));
        CHECK(fwrite(block, sizeof block, 1, file) == 1);
    }
    fputs("\n\n", file);
    fclose(file);
}

static void zones_that_the_system_lacks_come_from_a_folder(void) {
    char folder[256], path[300];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/Base", folder);
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    set_value(object, "moment", quire_value_date(1774738800));
    quire_object_release(object);
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    options.grouping = QUIRE_GROUPING_DAY;
    options.time_zone = "Base";
    quire_section_rule *none = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("moment", QUIRE_NUL, &options, &none, &error));
    options.time_zone_folder = folder;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("moment", QUIRE_NUL, &options, &none, &error));
    write_zone(path, 30);
    quire_section_rule *by_day = rule("moment", &options);
    quire_results *results = ruled(made.context, "Everything", "real", by_day);
    CHECK_TEXT(shown(results), "2026-03-28/2026:1");
    /* The list stays as it is, and the next one has what the file has then. */
    write_zone(path, 60);
    object = insert(made.context, "Everything");
    set_value(object, "moment", quire_value_date(1774738801));
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK_TEXT(shown(results), "2026-03-28/2026:2");
    quire_results *next = ruled(made.context, "Everything", "real", by_day);
    CHECK_TEXT(shown(next), "2026-03-29/2026:2");
    CHECK(truncate(path, 100) == 0);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_section_rule_create("moment", QUIRE_NUL, &options, &none, &error));
    options.time_zone = "../Base";
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("moment", QUIRE_NUL, &options, &none, &error));
    quire_object_release(object);
    quire_results_release(next);
    quire_results_release(results);
    quire_section_rule_release(by_day);
    close_fixture(made);
    remove_folder(folder);
}

static void wrong_rules_are_refused(void) {
    fixture made = open_fixture();
    quire_section_rule *none = NULL;
    quire_section_rule_options options = QUIRE_SECTION_RULE_OPTIONS_INIT;
    options.grouping = 99;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title", QUIRE_NUL, &options, &none, &error));
    options.grouping = QUIRE_GROUPING_LETTER;
    options.locale = "xx_nowhere";
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title", QUIRE_NUL, &options, &none, &error));
    options.locale = NULL;
    options.text_order = 2;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title", QUIRE_NUL, &options, &none, &error));
    options.text_order = 0;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title..name", QUIRE_NUL, &options, &none, &error));
    options.grouping = QUIRE_GROUPING_DAY;
    options.time_zone = "Nowhere/At";
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title", QUIRE_NUL, &options, &none, &error));
    options.grouping = QUIRE_GROUPING_NUMBER;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_section_rule_create("title", QUIRE_NUL, &options, &none, &error));
    options.width = 1;
    quire_section_rule *by_number = rule("title", &options);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results_options sections = QUIRE_RESULTS_OPTIONS_INIT;
    sections.section_rule = by_number;
    quire_results *results = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_create(made.context, request, &sections, &results, &error));
    quire_section_rule *by_title = rule("title", NULL);
    sections.section_rule = by_title;
    sections.section_key_path = "title";
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_create(made.context, request, &sections, &results, &error));
    sections.section_key_path = NULL;
    CHECK_OK(quire_results_create(made.context, request, &sections, &results, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_set_request_with_rule(results, request, by_number, &error));
    quire_results_release(results);
    quire_section_rule_release(by_number);
    quire_section_rule_release(by_title);
    quire_fetch_request_release(request);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(texts_are_gathered_by_letter);
    RUN(dates_and_numbers_are_gathered_by_ranges);
    RUN(expressions_make_sections_that_follow_related_objects);
    RUN(fixed_sections_stay_when_they_are_empty);
    RUN(zones_that_the_system_lacks_come_from_a_folder);
    RUN(wrong_rules_are_refused);
    return RESULT();
}
