#include "fixture.h"

/* The changed keys, joined by commas. The result holds until the next call. */
static const char *changed(quire_object *object) {
    static char text[256];
    quire_string keys[8];
    size_t number = 0, used = 0;
    CHECK_OK(quire_object_changed_keys(object, keys, 8, &number, &error));
    CHECK(number <= 8);
    text[0] = 0;
    for (size_t i = 0; i < number; i++)
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%.*s", i ? "," : "", (int)keys[i].size, keys[i].data);
    return text;
}

static void changed_keys_and_committed_values_tell_what_a_save_would_change(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *tag = insert(made.context, "Tag");
    save(made.context);
    CHECK(strcmp(changed(book), "") == 0);
    set_text(book, "title", "Egmont");
    CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
    CHECK(strstr(changed(book), "title") && strstr(changed(book), "tags") && !strstr(changed(book), "pages"));
    CHECK(strcmp(changed(tag), "books") == 0);
    size_t number = 0;
    CHECK_OK(quire_object_changed_keys(book, NULL, 0, &number, &error));
    CHECK(number == 2);
    quire_string first = {NULL, 0};
    CHECK_OK(quire_object_changed_keys(book, &first, 1, &number, &error));
    CHECK(number == 2 && first.size > 0);
    quire_value value = quire_value_nil();
    CHECK_OK(quire_object_get_committed(book, "title", QUIRE_NUL, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_TEXT && strcmp(value.as.text, "Faust") == 0);
    CHECK(strcmp(get_text(book, "title"), "Egmont") == 0);
    quire_list *list = NULL;
    CHECK_OK(quire_object_get_committed_objects(book, "tags", QUIRE_NUL, &list, &error));
    CHECK(quire_list_count(list) == 0);
    quire_list_release(list);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_committed(book, "tags", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_object_get_committed_objects(book, "title", QUIRE_NUL, &list, &error));
    quire_object_release(tag);
    quire_object_release(book);
    close_fixture(made);
}

static void decimals_are_lent_beside_each_other(void) {
    fixture made = open_fixture();
    quire_object *object = insert(made.context, "Everything");
    set_value(object, "decimal", quire_value_decimal("1.5"));
    save(made.context);
    set_value(object, "decimal", quire_value_decimal("2.5"));
    quire_value committed = quire_value_nil();
    CHECK_OK(quire_object_get_committed(object, "decimal", QUIRE_NUL, &committed, &error));
    const quire_value present = get_value(object, "decimal");
    CHECK(strcmp(present.as.text, "2.5") == 0 && strcmp(committed.as.text, "1.5") == 0);
    quire_object_release(object);
    close_fixture(made);
}

static void refresh_takes_over_the_newest_row_and_keeps_or_drops_changes(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *mine = NULL;
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(book), &mine, &error));
    set_text(mine, "title", "Egmont");
    set_value(book, "pages", quire_value_integer(301));
    save(made.context);
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(other, &error));
    CHECK_OK(quire_context_refresh(other, mine, true, &error));
    CHECK(get_value(mine, "pages").as.integer == 301 && strcmp(get_text(mine, "title"), "Egmont") == 0);
    save(other);
    CHECK_OK(quire_context_refresh(made.context, book, true, &error));
    CHECK(strcmp(get_text(book, "title"), "Egmont") == 0 && !quire_object_is_fault(book));
    set_text(book, "title", "Tasso");
    CHECK_OK(quire_context_refresh(made.context, book, false, &error));
    CHECK(quire_object_is_fault(book) && !quire_context_has_changes(made.context));
    CHECK(strcmp(get_text(book, "title"), "Egmont") == 0 && !quire_object_is_fault(book));
    CHECK_OK(quire_context_refresh_all(made.context, &error));
    CHECK(quire_object_is_fault(book));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_refresh(made.context, mine, true, &error));
    quire_object_release(mine);
    quire_context_release(other);
    quire_object_release(book);
    close_fixture(made);
}

static void reset_forgets_every_object(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *again = NULL;
    save(made.context);
    const int64_t id = quire_object_id(book);
    set_text(book, "title", "Egmont");
    CHECK_OK(quire_context_reset(made.context, &error));
    CHECK(!quire_context_has_changes(made.context));
    quire_value value = quire_value_nil();
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_get(book, "title", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_delete(made.context, book, &error));
    CHECK(!quire_object_is_deleted(book) && !quire_object_is_updated(book));
    CHECK_OK(quire_context_object(made.context, "Book", QUIRE_NUL, id, &again, &error));
    CHECK(again != book && strcmp(get_text(again, "title"), "Faust") == 0);
    quire_object_release(again);
    quire_object_release(book);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(changed_keys_and_committed_values_tell_what_a_save_would_change);
    RUN(decimals_are_lent_beside_each_other);
    RUN(refresh_takes_over_the_newest_row_and_keeps_or_drops_changes);
    RUN(reset_forgets_every_object);
    return RESULT();
}
