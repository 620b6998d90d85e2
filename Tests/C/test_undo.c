#include "fixture.h"

static fixture open_with_undo(void) {
    fixture made = open_fixture();
    CHECK_OK(quire_context_enable_undo(made.context, 0, &error));
    return made;
}

static void process(quire_context *context) { CHECK_OK(quire_context_process(context, &error)); }
static void undo(quire_context *context) { CHECK_OK(quire_context_undo(context, NULL, &error)); }
static void redo(quire_context *context) { CHECK_OK(quire_context_redo(context, NULL, &error)); }

static bool is_text(quire_string text, const char *wanted) {
    return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

static void it_is_off_until_it_is_enabled(void) {
    fixture made = open_fixture();
    CHECK(!quire_context_is_undo_enabled(made.context) && !quire_context_is_undo_registering(made.context));
    CHECK(!quire_context_can_undo(made.context) && !quire_context_can_redo(made.context));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_undo(made.context, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_begin_undo_group(made.context, NULL, 0, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_set_undo_registration(made.context, false, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_remove_undo_actions(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_enable_undo(made.context, UINT64_MAX, &error));
    CHECK_OK(quire_context_enable_undo(made.context, 5, &error));
    CHECK(quire_context_is_undo_enabled(made.context) && quire_context_is_undo_registering(made.context));
    CHECK_OK(quire_context_disable_undo(made.context, &error));
    CHECK(!quire_context_is_undo_enabled(made.context));
    close_fixture(made);
}

static void changes_are_undone_and_redone_across_saves(void) {
    fixture made = open_with_undo();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    set_text(book, "title", "Egmont");
    save(made.context);
    CHECK(quire_context_can_undo(made.context));
    undo(made.context);
    CHECK(strcmp(get_text(book, "title"), "Faust") == 0 && quire_object_is_updated(book));
    save(made.context);
    const int64_t id = quire_object_id(book);
    undo(made.context);
    CHECK(quire_object_is_deleted(book));
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 0 && !quire_context_can_undo(made.context));
    redo(made.context);
    redo(made.context);
    save(made.context);
    CHECK(quire_object_id(book) == id && strcmp(get_text(book, "title"), "Egmont") == 0);
    CHECK(!quire_context_can_redo(made.context));
    quire_object_release(book);
    close_fixture(made);
}

static void groups_nest_and_have_names(void) {
    fixture made = open_with_undo();
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_context_begin_undo_group(made.context, NULL, 0, &error));
    set_text(book, "title", "Egmont");
    CHECK_OK(quire_context_begin_undo_group(made.context, "Rename", QUIRE_NUL, &error));
    set_value(book, "pages", quire_value_integer(5));
    process(made.context);
    CHECK_OK(quire_context_end_undo_group(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_undo(made.context, NULL, &error));
    CHECK_OK(quire_context_end_undo_group(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_end_undo_group(made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_TEXT, quire_context_begin_undo_group(made.context, "\xFF", QUIRE_NUL, &error));
    CHECK(is_text(quire_context_undo_name(made.context), "Rename"));
    quire_list *list = NULL;
    CHECK_OK(quire_context_undo(made.context, &list, &error));
    CHECK(quire_list_count(list) == 1);
    quire_list_release(list);
    CHECK(strcmp(get_text(book, "title"), "Faust") == 0 && get_value(book, "pages").as.integer == 300);
    CHECK(is_text(quire_context_redo_name(made.context), "Rename"));
    CHECK(quire_context_undo_name(made.context).size == 0);
    quire_object_release(book);
    close_fixture(made);
}

static void without_registration_changes_are_for_good(void) {
    fixture made = open_with_undo();
    quire_object *book = insert_book(made.context, "Faust", 300);
    process(made.context);
    CHECK_OK(quire_context_set_undo_registration(made.context, false, &error));
    CHECK(!quire_context_is_undo_registering(made.context));
    set_text(book, "title", "Egmont");
    CHECK_OK(quire_context_set_undo_registration(made.context, true, &error));
    set_value(book, "pages", quire_value_integer(5));
    undo(made.context);
    CHECK(strcmp(get_text(book, "title"), "Egmont") == 0 && get_value(book, "pages").as.integer == 300);
    CHECK_OK(quire_context_remove_undo_actions(made.context, &error));
    CHECK(!quire_context_can_undo(made.context) && !quire_context_can_redo(made.context));
    undo(made.context);
    CHECK(!quire_object_is_deleted(book));
    quire_object_release(book);
    close_fixture(made);
}

static void deletion_is_undone_with_what_its_rules_did(void) {
    fixture made = open_with_undo();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_object_add(author, "books", QUIRE_NUL, book, &error));
    save(made.context);
    CHECK_OK(quire_context_delete(made.context, author, &error));
    save(made.context);
    CHECK(quire_object_is_deleted(book));
    /* The objects are held by what can be undone. */
    quire_object_release(book);
    quire_object_release(author);
    undo(made.context);
    save(made.context);
    CHECK(count(made.context, "Book", "author != nil") == 1);
    close_fixture(made);
}

/* `owner` has so many members, of those that it had and of those that the store has. */
static void expect_members(quire_object *owner, int64_t expected) {
    quire_list *members = NULL;
    CHECK_OK(quire_object_get_objects(owner, "books", QUIRE_NUL, &members, &error));
    CHECK(quire_list_count(members) == expected);
    quire_list_release(members);
}

/* A shelf has an order, and an author none. The deletion is saved, or only processed, or not even that. */
static void a_deleted_member_returns_to_its_owners(void) {
    for (int progress = 0; progress < 3; progress++) {
        fixture made = open_with_undo();
        quire_object *author = insert(made.context, "Author"), *shelf = insert(made.context, "Shelf"), *books[3];
        for (int i = 0; i < 3; i++) {
            books[i] = insert_book(made.context, "Faust", i);
            set_value(books[i], "author", quire_value_object(author));
            set_value(books[i], "shelf", quire_value_object(shelf));
        }
        save(made.context);
        expect_members(author, 3);
        expect_members(shelf, 3);
        CHECK_OK(quire_context_delete(made.context, books[1], &error));
        if (progress == 1) process(made.context);
        if (progress == 2) save(made.context);
        if (progress > 0) expect_members(author, 2), expect_members(shelf, 2);
        undo(made.context);
        expect_members(author, 3);
        expect_members(shelf, 3);
        save(made.context);
        CHECK(count(made.context, "Author", "books.@count == 3") == 1 && count(made.context, "Shelf", "books.@count == 3") == 1);
        for (int i = 0; i < 3; i++) quire_object_release(books[i]);
        quire_object_release(author);
        quire_object_release(shelf);
        close_fixture(made);
    }
}

static void rollback_ends_what_can_be_undone(void) {
    fixture made = open_with_undo();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    set_text(book, "title", "Egmont");
    CHECK_OK(quire_context_rollback(made.context, &error));
    CHECK(!quire_context_can_undo(made.context));
    quire_object_release(book);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(it_is_off_until_it_is_enabled);
    RUN(changes_are_undone_and_redone_across_saves);
    RUN(groups_nest_and_have_names);
    RUN(without_registration_changes_are_for_good);
    RUN(deletion_is_undone_with_what_its_rules_did);
    RUN(a_deleted_member_returns_to_its_owners);
    RUN(rollback_ends_what_can_be_undone);
    return RESULT();
}
