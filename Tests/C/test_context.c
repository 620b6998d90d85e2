#include "fixture.h"

#include <fcntl.h>
#include <poll.h>

static int64_t pending(quire_context *context, quire_pending which) {
    quire_list *list = NULL;
    CHECK_OK(quire_context_pending(context, which, &list, &error));
    const int64_t number = quire_list_count(list);
    quire_list_release(list);
    return number;
}

static void inserted_object_has_defaults_and_an_id(void) {
    fixture made = open_fixture();
    quire_object *book = insert(made.context, "Book");
    CHECK(quire_object_id(book) > 0);
    CHECK(get_value(book, "pages").as.integer == 100);
    CHECK(get_value(book, "title").kind == QUIRE_VALUE_NIL);
    CHECK(pending(made.context, QUIRE_PENDING_INSERTED) == 1);
    CHECK(quire_context_has_changes(made.context));
    quire_object_release(book);
    close_fixture(made);
}

static void unknown_and_abstract_entities_are_refused(void) {
    fixture made = open_fixture();
    quire_object *object = (quire_object *)&made;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_insert(made.context, "Poem", QUIRE_NUL, &object, &error));
    CHECK(object == NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_insert(made.context, "Thing", QUIRE_NUL, &object, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_insert(made.context, "book", QUIRE_NUL, &object, &error));
    CHECK(!quire_context_has_changes(made.context));
    close_fixture(made);
}

static void save_makes_ids_permanent_and_ends_the_changes(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    CHECK(quire_object_id(book) > 0);
    CHECK(!quire_context_has_changes(made.context));
    CHECK(!quire_object_is_inserted(book) && !quire_object_is_updated(book));
    CHECK(pending(made.context, QUIRE_PENDING_INSERTED) == 0);
    save(made.context);
    quire_object_release(book);
    close_fixture(made);
}

static quire_object *look_up(quire_context *context, const char *entity, int64_t id) {
    quire_object *found = NULL;
    CHECK_OK(quire_context_object(context, entity, QUIRE_NUL, id, &found, &error));
    return found;
}

static void a_child_sees_its_parent_and_saves_into_it(void) {
    fixture made = open_fixture();
    quire_context *child = NULL, *grandchild = NULL;
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    CHECK(quire_context_parent(child) == made.context && quire_context_parent(made.context) == NULL);
    CHECK(quire_context_store(child) == made.store);
    quire_object *mine = look_up(child, "Book", quire_object_id(book));
    CHECK(mine != book && get_value(mine, "pages").as.integer == 300);
    set_value(mine, "pages", quire_value_integer(301));
    CHECK(get_value(book, "pages").as.integer == 300);
    save(child);
    CHECK(get_value(book, "pages").as.integer == 301 && !quire_context_has_changes(child));

    CHECK_OK(quire_context_create_child(child, &grandchild, &error));
    quire_object *novel = insert(grandchild, "Tag");
    save(grandchild);
    save(child);
    CHECK(pending(made.context, QUIRE_PENDING_INSERTED) == 2);
    save(made.context);
    quire_object *other = look_up(made.context, "Tag", quire_object_id(novel));
    quire_object_release(other);
    quire_object_release(novel);
    quire_object_release(mine);
    quire_context_release(grandchild);
    quire_context_release(child);
    quire_object_release(book);
    close_fixture(made);
}

static void a_child_in_conflict_with_its_parent_says_so(void) {
    fixture made = open_fixture();
    quire_context *child = NULL;
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    quire_object *mine = look_up(child, "Book", quire_object_id(book));
    CHECK(get_value(mine, "pages").as.integer == 300);
    set_value(mine, "pages", quire_value_integer(301));
    set_value(book, "pages", quire_value_integer(302));
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(child, &error));
    CHECK(get_value(book, "pages").as.integer == 302 && quire_context_has_changes(child));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_delete(child, book, &error));
    quire_object_release(mine);
    quire_context_release(child);
    quire_object_release(book);
    close_fixture(made);
}

static void a_parent_lives_as_long_as_its_children(void) {
    fixture made = open_fixture();
    quire_context *parent = NULL, *child = NULL;
    CHECK_OK(quire_context_create(made.store, &parent, &error));
    quire_object_release(insert_book(parent, "Faust", 300));
    CHECK_OK(quire_context_create_child(parent, &child, &error));
    quire_context_release(parent);
    quire_list *list = fetch(child, "Book", NULL, NULL);
    CHECK(quire_list_count(list) == 1);
    quire_list_release(list);
    save(quire_context_parent(child));
    quire_context_release(child);
    list = fetch(made.context, "Book", NULL, NULL);
    CHECK(quire_list_count(list) == 1);
    quire_list_release(list);
    close_fixture(made);
}

static void one_id_is_one_object(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *again = NULL, *by_uri = NULL, *fetched = NULL;
    save(made.context);
    CHECK_OK(quire_context_object(made.context, "Book", QUIRE_NUL, quire_object_id(book), &again, &error));
    const quire_string uri = quire_object_uri(book);
    CHECK_OK(quire_context_object_for_uri(made.context, uri.data, uri.size, &by_uri, &error));
    quire_list *list = fetch(made.context, "Book", NULL, NULL);
    CHECK_OK(quire_list_object(list, 0, &fetched, &error));
    CHECK(again == book && by_uri == book && fetched == book);
    quire_list_release(list);
    quire_object_release(fetched);
    quire_object_release(by_uri);
    quire_object_release(again);
    quire_object_release(book);
    close_fixture(made);
}

static void object_of_a_subentity_is_found_by_its_parent(void) {
    fixture made = open_fixture();
    quire_object *novel = insert(made.context, "Novel"), *found = NULL;
    set_text(novel, "title", "Werther");
    save(made.context);
    CHECK_OK(quire_context_object(made.context, "Book", QUIRE_NUL, quire_object_id(novel), &found, &error));
    CHECK(found == novel);
    quire_object_release(found);
    quire_object_release(novel);
    close_fixture(made);
}

static void ids_and_uris_that_lead_nowhere_are_refused(void) {
    fixture made = open_fixture();
    quire_object *found = NULL;
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, 4711, &found, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, INT64_MAX, &found, &error));
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, INT64_MIN, &found, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_object(made.context, "Poem", QUIRE_NUL, 1, &found, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_object_for_uri(made.context, "no uri", QUIRE_NUL, &found, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_object_for_uri(
            made.context, "x-coredata://00000000-0000-0000-0000-000000000000/Book/p1", QUIRE_NUL, &found, &error));
    char uri[200];
    snprintf(uri, sizeof uri, "x-coredata://%s/Book/p4711", quire_store_uuid(made.store).data);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object_for_uri(made.context, uri, QUIRE_NUL, &found, &error));
    close_fixture(made);
}

static void deleted_object_is_gone_at_once_and_from_the_store_after_the_save(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300), *found = NULL;
    save(made.context);
    const int64_t id = quire_object_id(book);

    CHECK_OK(quire_context_delete(made.context, book, &error));
    CHECK_OK(quire_context_delete(made.context, book, &error));
    CHECK(quire_object_is_deleted(book));
    CHECK(count(made.context, "Book", NULL) == 0);
    CHECK(pending(made.context, QUIRE_PENDING_DELETED) == 1);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, id, &found, &error));
    save(made.context);
    CHECK(pending(made.context, QUIRE_PENDING_DELETED) == 0);
    CHECK(quire_object_is_deleted(book));
    quire_object_release(book);
    close_fixture(made);
}

static void deleting_what_was_never_saved_forgets_it(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_context_delete(made.context, book, &error));
    CHECK(pending(made.context, QUIRE_PENDING_INSERTED) == 0);
    CHECK(pending(made.context, QUIRE_PENDING_DELETED) == 0);
    CHECK(!quire_context_has_changes(made.context));
    quire_object_release(book);
    close_fixture(made);
}

static void object_of_another_context_is_refused(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_delete(other, book, &error));
    CHECK(!quire_object_is_deleted(book));
    quire_object_release(book);
    quire_context_release(other);
    close_fixture(made);
}

static void delete_rules_apply_when_changes_are_processed(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Faust", 300);
    quire_object *tag = insert(made.context, "Tag");
    set_value(book, "author", quire_value_object(author));
    CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
    save(made.context);

    CHECK_OK(quire_context_delete(made.context, tag, &error));
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_save(made.context, &error));
    CHECK_OK(quire_context_rollback(made.context, &error));
    CHECK(!quire_object_is_deleted(tag));

    CHECK_OK(quire_context_delete(made.context, author, &error));
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK(quire_object_is_deleted(book));
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 0 && count(made.context, "Tag", NULL) == 1);
    quire_object_release(tag);
    quire_object_release(book);
    quire_object_release(author);
    close_fixture(made);
}

static void pending_sets_are_kept_apart_oldest_first(void) {
    fixture made = open_fixture();
    quire_object *first = insert_book(made.context, "A", 1), *second = insert_book(made.context, "B", 2);
    save(made.context);
    set_text(second, "title", "B2");
    set_text(first, "title", "A2");
    quire_list *list = NULL;
    CHECK_OK(quire_context_pending(made.context, QUIRE_PENDING_UPDATED, &list, &error));
    CHECK(strcmp(joined(list, "title"), "B2,A2") == 0);
    quire_list_release(list);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_pending(made.context, 0, &list, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_pending(made.context, 4, &list, &error));
    CHECK(list == NULL);
    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
}

static void rollback_returns_everything(void) {
    fixture made = open_fixture();
    quire_object *kept = insert_book(made.context, "Faust", 300), *gone = insert_book(made.context, "Egmont", 120);
    save(made.context);
    quire_object *added = insert_book(made.context, "Stella", 90);
    set_text(kept, "title", "Faust II");
    CHECK_OK(quire_context_delete(made.context, gone, &error));

    CHECK_OK(quire_context_rollback(made.context, &error));

    CHECK(!quire_context_has_changes(made.context));
    CHECK(strcmp(get_text(kept, "title"), "Faust") == 0);
    CHECK(!quire_object_is_deleted(gone) && strcmp(get_text(gone, "title"), "Egmont") == 0);
    CHECK(count(made.context, "Book", NULL) == 2);
    quire_object_release(added);
    quire_object_release(gone);
    quire_object_release(kept);
    close_fixture(made);
}

static void failed_save_writes_nothing_and_keeps_the_changes(void) {
    fixture made = open_fixture();
    quire_object *good = insert_book(made.context, "Faust", 300), *bad = insert(made.context, "Book");
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_save(made.context, &error));
    CHECK(quire_object_is_inserted(good) && quire_object_is_inserted(bad));
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK(count(other, "Book", NULL) == 0);
    set_text(bad, "title", "Egmont");
    save(made.context);
    CHECK(count(other, "Book", NULL) == 0);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(count(other, "Book", NULL) == 2);
    quire_context_release(other);
    quire_object_release(good);
    quire_object_release(bad);
    close_fixture(made);
}

static void uniqueness_is_enforced_by_the_save(void) {
    fixture made = open_fixture();
    quire_object *first = insert_book(made.context, "Faust", 300), *second = insert_book(made.context, "Egmont", 120);
    set_text(first, "isbn", "1");
    set_text(second, "isbn", "1");
    CHECK_FAILS(QUIRE_CONSTRAINT, quire_context_save(made.context, &error));
    set_text(second, "isbn", "2");
    save(made.context);
    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
}

static void change_of_a_row_that_another_context_changed_is_a_conflict(void) {
    fixture made = open_fixture();
    quire_object *mine = insert_book(made.context, "Faust", 300), *theirs = NULL;
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(mine), &theirs, &error));
    CHECK(get_value(theirs, "pages").as.integer == 300);
    set_value(mine, "pages", quire_value_integer(301));
    set_value(theirs, "pages", quire_value_integer(302));
    save(made.context);
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(other, &error));
    CHECK(quire_context_has_changes(other));
    quire_object_release(theirs);
    quire_context_release(other);
    quire_object_release(mine);
    close_fixture(made);
}

static bool is_readable(int descriptor) {
    struct pollfd waiting = {descriptor, POLLIN, 0};
    return poll(&waiting, 1, 0) == 1 && waiting.revents == POLLIN;
}

static void what_another_context_saves_is_merged(void) {
    fixture made = open_fixture();
    quire_object *mine = insert_book(made.context, "Faust", 300), *theirs = NULL;
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(mine), &theirs, &error));
    int descriptor = -1, same = -1;
    CHECK_OK(quire_context_descriptor(other, &descriptor, &error));
    CHECK_OK(quire_context_descriptor(other, &same, &error));
    CHECK(descriptor >= 0 && same == descriptor && !is_readable(descriptor));

    set_value(mine, "pages", quire_value_integer(301));
    save(made.context);
    CHECK(is_readable(descriptor) && is_readable(descriptor));
    CHECK_OK(quire_context_process(other, &error));
    CHECK(get_value(theirs, "pages").as.integer == 300 && is_readable(descriptor));
    const uint64_t generation = quire_context_generation(other);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(get_value(theirs, "pages").as.integer == 301 && !is_readable(descriptor));
    CHECK(quire_context_generation(other) > generation && !quire_context_has_changes(other));

    CHECK_OK(quire_context_set_merges_automatically(other, true, &error));
    set_value(mine, "pages", quire_value_integer(302));
    save(made.context);
    CHECK_OK(quire_context_process(other, &error));
    CHECK(get_value(theirs, "pages").as.integer == 302);
    CHECK_OK(quire_context_delete(made.context, mine, &error));
    save(made.context);
    /* A count only reads. */
    CHECK(count(other, "Book", "TRUEPREDICATE") == 1 && !quire_object_is_deleted(theirs));
    CHECK_OK(quire_context_process(other, &error));
    CHECK(count(other, "Book", "TRUEPREDICATE") == 0 && quire_object_is_deleted(theirs));
    quire_object_release(theirs);
    quire_context_release(other);
    CHECK(fcntl(descriptor, F_GETFD) == -1);
    quire_object_release(mine);
    close_fixture(made);
}

static void an_id_is_permanent_from_the_insertion_on(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    const int64_t id = quire_object_id(book);
    CHECK(id > 0 && quire_object_is_inserted(book));
    CHECK_OK(quire_context_obtain_permanent_ids(made.context, &error));
    CHECK(quire_object_id(book) == id);
    save(made.context);
    CHECK(quire_object_id(book) == id);
    quire_object_release(book);

    /* Not even an object that was never saved leaves its id to another. */
    quire_object *forgotten = insert_book(made.context, "Egmont", 100);
    const int64_t unused = quire_object_id(forgotten);
    CHECK_OK(quire_context_rollback(made.context, &error));
    quire_object *next = insert_book(made.context, "Egmont", 100);
    CHECK(quire_object_id(next) > unused);
    CHECK_FAILS(QUIRE_NOT_FOUND, quire_context_object(made.context, "Book", QUIRE_NUL, unused, &book, &error));
    quire_object_release(next);
    quire_object_release(forgotten);
    close_fixture(made);
}

/* A program that does not keep to Z_PRIMARYKEY, while the context is at a moment before that. */
static void an_id_that_another_program_has_used_is_replaced(void) {
    char folder[256], path[300], command[600];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/books.store", folder);
    fixture made = open_fixture_at(path);
    quire_object_release(insert_book(made.context, "Faust", 300));
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 1);
    quire_object *book = insert_book(made.context, "Egmont", 100);
    const int64_t id = quire_object_id(book);
    snprintf(command, sizeof command, "sqlite3 '%s' 'INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) "
        "SELECT %lld, Z_ENT, 1, 1 FROM ZBOOK'", path, (long long)id);
    CHECK(system(command) == 0);
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(made.context, &error));
    CHECK_OK(quire_context_obtain_permanent_ids(made.context, &error));
    CHECK(quire_object_id(book) != id);
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 3);
    quire_object_release(book);
    close_fixture(made);
    remove_folder(folder);
}

static void rows_are_inserted_from_columns(void) {
    fixture made = open_fixture();
    const char *const keys[] = {"title", "pages"};
    const quire_value titles[] = {quire_value_text("A"), quire_value_text("B"), quire_value_text("C")};
    const quire_value pages[] = {quire_value_integer(1), quire_value_nil(), quire_value_integer(3)};
    const quire_value *const columns[] = {titles, pages};
    int64_t first = 0;
    CHECK_OK(quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 2, 3, &first, &error));
    CHECK(first > 0);
    quire_object *third = NULL;
    CHECK_OK(quire_context_object(made.context, "Book", QUIRE_NUL, first + 2, &third, &error));
    CHECK(strcmp(get_text(third, "title"), "C") == 0 && get_value(third, "pages").as.integer == 3);
    CHECK(pending(made.context, QUIRE_PENDING_INSERTED) == 3);
    save(made.context);
    CHECK(count(made.context, "Book", "pages == nil") == 1);
    quire_object_release(third);
    close_fixture(made);
}

static void rows_with_a_refused_value_insert_nothing(void) {
    fixture made = open_fixture();
    const char *const keys[] = {"title"}, *const wrong[] = {"subtitle"}, *const none[] = {NULL};
    const quire_value titles[] = {quire_value_text("A"), quire_value_integer(2)};
    const quire_value invalid[] = {quire_value_text("A"), quire_value_text("\xFF")};
    const quire_value *const columns[] = {titles}, *const invalid_columns[] = {invalid}, *const no_column[] = {NULL};
    quire_context *context = made.context;
    int64_t first = 7;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(context, "Book", QUIRE_NUL, keys, columns, 1, 2, &first, &error));
    CHECK(first == 0);
    CHECK_FAILS(QUIRE_INVALID_TEXT,
        quire_context_insert_rows(context, "Book", QUIRE_NUL, keys, invalid_columns, 1, 2, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(context, "Book", QUIRE_NUL, wrong, columns, 1, 1, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(context, "Book", QUIRE_NUL, none, columns, 1, 1, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(context, "Book", QUIRE_NUL, keys, no_column, 1, 1, NULL, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT,
        quire_context_insert_rows(context, "Thing", QUIRE_NUL, keys, columns, 1, 1, NULL, &error));
    CHECK(!quire_context_has_changes(context));
    close_fixture(made);
}

static void store_is_that_of_the_creation(void) {
    fixture made = open_fixture();
    CHECK(quire_context_store(made.context) == made.store);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(inserted_object_has_defaults_and_an_id);
    RUN(unknown_and_abstract_entities_are_refused);
    RUN(save_makes_ids_permanent_and_ends_the_changes);
    RUN(a_child_sees_its_parent_and_saves_into_it);
    RUN(a_child_in_conflict_with_its_parent_says_so);
    RUN(a_parent_lives_as_long_as_its_children);
    RUN(one_id_is_one_object);
    RUN(object_of_a_subentity_is_found_by_its_parent);
    RUN(ids_and_uris_that_lead_nowhere_are_refused);
    RUN(deleted_object_is_gone_at_once_and_from_the_store_after_the_save);
    RUN(deleting_what_was_never_saved_forgets_it);
    RUN(object_of_another_context_is_refused);
    RUN(delete_rules_apply_when_changes_are_processed);
    RUN(pending_sets_are_kept_apart_oldest_first);
    RUN(rollback_returns_everything);
    RUN(failed_save_writes_nothing_and_keeps_the_changes);
    RUN(uniqueness_is_enforced_by_the_save);
    RUN(change_of_a_row_that_another_context_changed_is_a_conflict);
    RUN(what_another_context_saves_is_merged);
    RUN(an_id_is_permanent_from_the_insertion_on);
    RUN(an_id_that_another_program_has_used_is_replaced);
    RUN(rows_are_inserted_from_columns);
    RUN(rows_with_a_refused_value_insert_nothing);
    RUN(store_is_that_of_the_creation);
    return RESULT();
}
