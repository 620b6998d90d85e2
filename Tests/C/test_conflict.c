#include "fixture.h"

/* Two contexts that know one book, and what each sets before the first saves and then the second. */
typedef struct race {
    fixture f;
    quire_context *late;
    quire_object *book, *mine;
} race;

static race start_race(void) {
    race r = {open_fixture(), NULL, NULL, NULL};
    r.book = insert_book(r.f.context, "Alice", 10);
    save(r.f.context);
    CHECK_OK(quire_context_create(r.f.store, &r.late, &error));
    CHECK_OK(quire_context_object(r.late, "Book", QUIRE_NUL, quire_object_id(r.book), &r.mine, &error));
    set_text(r.mine, "title", "FromCtx2");
    set_text(r.book, "title", "FromCtx1");
    return r;
}

static void end_race(race r) {
    quire_object_release(r.book);
    quire_object_release(r.mine);
    quire_context_release(r.late);
    close_fixture(r.f);
}

static void check_book(quire_object *book, const char *title, int64_t pages) {
    CHECK(strcmp(get_text(book, "title"), title) == 0);
    CHECK(get_value(book, "pages").as.integer == pages);
}

/* What a new context reads. */
static void check_stored(race r, const char *title, int64_t pages) {
    quire_context *fresh = NULL;
    quire_object *book = NULL;
    CHECK_OK(quire_context_create(r.f.store, &fresh, &error));
    CHECK_OK(quire_context_object(fresh, "Book", QUIRE_NUL, quire_object_id(r.book), &book, &error));
    check_book(book, title, pages);
    quire_object_release(book);
    quire_context_release(fresh);
}

static void each_policy_merges_as_its_name_says(void) {
    static const struct { quire_merge_policy policy; const char *title; int64_t pages, mine, theirs; } rows[] = {
        {QUIRE_MERGE_STORE_WINS, "FromCtx1", 99, 99, 10}, {QUIRE_MERGE_OBJECT_WINS, "FromCtx2", 50, 10, 50},
        {QUIRE_MERGE_OVERWRITE, "FromCtx2", 10, 10, 77}, {QUIRE_MERGE_ROLLBACK, "FromCtx1", 10, 10, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        race r = start_race();
        CHECK(quire_context_merge_policy(r.late) == QUIRE_MERGE_ERROR);
        CHECK_OK(quire_context_set_merge_policy(r.late, rows[i].policy, &error));
        CHECK(quire_context_merge_policy(r.late) == rows[i].policy);
        set_value(r.mine, "pages", quire_value_integer(rows[i].mine));
        set_value(r.book, "pages", quire_value_integer(rows[i].theirs));
        save(r.f.context);
        save(r.late);
        CHECK(quire_context_settled_count(r.late) == 1 && !quire_context_has_changes(r.late));
        check_book(r.mine, rows[i].title, rows[i].pages);
        check_stored(r, rows[i].title, rows[i].pages);
        end_race(r);
    }
}

static const char *text_of(const quire_conflict *conflict, quire_conflict_version version) {
    quire_value value = quire_value_nil();
    CHECK_OK(quire_conflict_value(conflict, version, "title", QUIRE_NUL, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_TEXT);
    return value.as.text;
}

static void an_error_has_all_versions_of_each_object_in_conflict(void) {
    race r = start_race();
    save(r.f.context);
    quire_error *failure = NULL;
    CHECK(quire_context_save(r.late, &failure) == QUIRE_CONFLICT);
    CHECK(quire_error_conflict_count(failure) == 1 && !quire_error_conflict(failure, 1));
    const quire_conflict *conflict = quire_error_conflict(failure, 0);
    CHECK(quire_conflict_cause(conflict) == QUIRE_CONFLICT_CHANGED);
    CHECK(quire_conflict_object(conflict) == r.mine && !quire_conflict_other(conflict));
    CHECK(strcmp(text_of(conflict, QUIRE_CONFLICT_VERSION_COMMITTED), "Alice") == 0);
    CHECK(strcmp(text_of(conflict, QUIRE_CONFLICT_VERSION_STORED), "FromCtx1") == 0);
    CHECK(strcmp(text_of(conflict, QUIRE_CONFLICT_VERSION_CURRENT), "FromCtx2") == 0);
    quire_value value = quire_value_nil();
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_conflict_value(conflict, 0, "title", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_conflict_value(conflict, 1, "tags", QUIRE_NUL, &value, &error));
    /* The error outlives the contexts. */
    end_race(r);
    CHECK(strcmp(text_of(conflict, QUIRE_CONFLICT_VERSION_CURRENT), "FromCtx2") == 0);
    quire_error_release(failure);
}

static void a_deleted_row_has_no_stored_version(void) {
    race r = start_race();
    CHECK_OK(quire_context_delete(r.f.context, r.book, &error));
    save(r.f.context);
    quire_error *failure = NULL;
    CHECK(quire_context_save(r.late, &failure) == QUIRE_CONFLICT);
    const quire_conflict *conflict = quire_error_conflict(failure, 0);
    CHECK(quire_conflict_cause(conflict) == QUIRE_CONFLICT_DELETED);
    CHECK(quire_conflict_has(conflict, QUIRE_CONFLICT_VERSION_CURRENT) && !quire_conflict_has(conflict, QUIRE_CONFLICT_VERSION_STORED));
    quire_value value = quire_value_nil();
    CHECK_FAILS(QUIRE_NOT_FOUND,
        quire_conflict_value(conflict, QUIRE_CONFLICT_VERSION_STORED, "title", QUIRE_NUL, &value, &error));
    quire_error_release(failure);
    CHECK_OK(quire_context_set_merge_policy(r.late, QUIRE_MERGE_ROLLBACK, &error));
    save(r.late);
    CHECK(quire_object_is_deleted(r.mine));
    end_race(r);
}

typedef struct judge {
    quire_object *object;
    uint32_t answer;
    int asked, destroyed;
} judge;

static uint32_t decide(void *data, const quire_conflict *conflict) {
    judge *judge = data;
    judge->asked++;
    CHECK(quire_conflict_object(conflict) == judge->object);
    CHECK(strcmp(get_text(judge->object, "title"), "FromCtx2") == 0);
    const quire_value value = quire_value_text("changed");
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_set(judge->object, "title", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_save(quire_object_context(judge->object), &error));
    CHECK_FAILS(QUIRE_INVALID_STATE,
        quire_context_set_merge_policy(quire_object_context(judge->object), QUIRE_MERGE_ERROR, &error));
    return judge->answer;
}

static void destroy(void *data) { ((judge *)data)->destroyed++; }

static void a_handler_decides_and_is_given_back_once(void) {
    race r = start_race();
    save(r.f.context);
    judge judge = {r.mine, 4711, 0, 0};
    quire_merge_handler handler = QUIRE_MERGE_HANDLER_INIT;
    handler.user_data = &judge;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_set_merge_handler(r.late, &handler, &error));
    handler.destroy = destroy;
    handler.decide = decide;
    CHECK_OK(quire_context_set_merge_handler(r.late, &handler, &error));
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(r.late, &error));
    judge.answer = QUIRE_MERGE_OBJECT_WINS;
    save(r.late);
    CHECK(judge.asked == 2 && judge.destroyed == 0);
    check_stored(r, "FromCtx2", 10);
    CHECK_OK(quire_context_set_merge_handler(r.late, NULL, &error));
    CHECK(judge.destroyed == 1);
    CHECK_OK(quire_context_set_merge_handler(r.late, &handler, &error));
    end_race(r);
    CHECK(judge.destroyed == 2);
}

static void a_new_object_with_the_unique_value_of_a_row_is_folded_into_it(void) {
    fixture f = open_fixture();
    quire_object *book = insert_book(f.context, "old", 10);
    set_text(book, "isbn", "1");
    save(f.context);
    quire_object *fresh = insert_book(f.context, "new", 100);
    set_text(fresh, "isbn", "1");
    quire_error *failure = NULL;
    CHECK(quire_context_save(f.context, &failure) == QUIRE_CONSTRAINT);
    const quire_conflict *conflict = quire_error_conflict(failure, 0);
    CHECK(quire_conflict_cause(conflict) == QUIRE_CONFLICT_UNIQUE);
    CHECK(quire_conflict_object(conflict) == fresh && quire_conflict_other(conflict) == book);
    CHECK(strcmp(text_of(conflict, QUIRE_CONFLICT_VERSION_STORED), "old") == 0);
    quire_error_release(failure);
    CHECK_OK(quire_context_set_merge_policy(f.context, QUIRE_MERGE_OBJECT_WINS, &error));
    save(f.context);
    CHECK(quire_object_is_deleted(fresh));
    check_book(book, "new", 10);
    quire_object_release(fresh);
    quire_object_release(book);
    close_fixture(f);
}

/* Item (code, unique) above Disc (length, side) and Novel (author, pages). */
static quire_model *items_model(void) {
    quire_model *model = quire_model_create();
    quire_entity_options under = QUIRE_ENTITY_OPTIONS_INIT;
    under.parent = "Item";
    CHECK_OK(quire_model_add_entity(model, "Item", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(model, "Disc", QUIRE_NUL, &under, &error));
    CHECK_OK(quire_model_add_entity(model, "Novel", QUIRE_NUL, &under, &error));
    add_attribute(model, "Item", "code", QUIRE_TYPE_STRING);
    add_attribute(model, "Disc", "length", QUIRE_TYPE_INTEGER_32);
    add_attribute(model, "Disc", "side", QUIRE_TYPE_STRING);
    add_attribute(model, "Novel", "author", QUIRE_TYPE_STRING);
    add_attribute(model, "Novel", "pages", QUIRE_TYPE_INTEGER_32);
    const char *const unique[] = {"code"};
    CHECK_OK(quire_model_add_uniqueness_constraint(model, "Item", QUIRE_NUL, unique, 1, &error));
    return model;
}

static quire_object *insert_item(quire_context *context, const char *entity) {
    quire_object *item = insert(context, entity);
    set_text(item, "code", "1");
    if (strcmp(entity, "Disc") == 0) {
        set_value(item, "length", quire_value_integer(45));
        set_text(item, "side", "B");
    } else if (strcmp(entity, "Novel") == 0) {
        set_text(item, "author", "Fontane");
        set_value(item, "pages", quire_value_integer(300));
    }
    return item;
}

/* Whether a version has the values that `insert_item` has given to an object of an entity, and none of another. */
static bool has_values_of(const quire_conflict *conflict, quire_conflict_version version, const char *entity) {
    const struct { const char *entity, *key, *text; int64_t number; } all[] = {
        {"", "code", "1", 0}, {"Disc", "length", NULL, 45}, {"Disc", "side", "B", 0}, {"Novel", "author", "Fontane", 0},
        {"Novel", "pages", NULL, 300}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        quire_value value;
        const quire_status status = quire_conflict_value(conflict, version, all[i].key, QUIRE_NUL, &value, NULL);
        if (*all[i].entity && strcmp(all[i].entity, entity) != 0) {
            if (status != QUIRE_INVALID_ARGUMENT) return false;
        } else if (status || value.kind != (all[i].text ? QUIRE_VALUE_TEXT : QUIRE_VALUE_INTEGER)) {
            return false;
        } else if (all[i].text ? strcmp(value.as.text, all[i].text) != 0 : value.as.integer != all[i].number) {
            return false;
        }
    }
    return true;
}

static void the_stored_version_of_unique_values_is_of_the_entity_of_the_other_object(void) {
    static const char *const entities[] = {"Item", "Disc", "Novel"};
    quire_model *model = items_model();
    for (size_t i = 0; i < 9; i++) {
        const char *const first = entities[i / 3], *const second = entities[i % 3];
        quire_store *store = NULL;
        quire_context *context = NULL;
        CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error));
        CHECK_OK(quire_context_create(store, &context, &error));
        quire_object *saved = insert_item(context, first);
        save(context);
        quire_object *fresh = insert_item(context, second);
        quire_error *failure = NULL;
        CHECK(quire_context_save(context, &failure) == QUIRE_CONSTRAINT);
        CHECK(quire_error_conflict_count(failure) == 1);
        const quire_conflict *conflict = quire_error_conflict(failure, 0);
        CHECK(quire_conflict_object(conflict) == fresh && quire_conflict_other(conflict) == saved);
        CHECK(has_values_of(conflict, QUIRE_CONFLICT_VERSION_STORED, first));
        CHECK(has_values_of(conflict, QUIRE_CONFLICT_VERSION_CURRENT, second));
        CHECK(!quire_conflict_has(conflict, QUIRE_CONFLICT_VERSION_COMMITTED));
        quire_error_release(failure);
        quire_object_release(saved);
        quire_object_release(fresh);
        quire_context_release(context);
        quire_store_release(store);
    }
    quire_model_release(model);
}

static void batch_insertion_updates_by_unique_values(void) {
    fixture f = open_fixture();
    quire_object *book = insert_book(f.context, "old", 10);
    set_text(book, "isbn", "1");
    save(f.context);
    const quire_value isbns[] = {quire_value_text("1"), quire_value_text("2"), quire_value_text("2")};
    const quire_value titles[] = {quire_value_text("a"), quire_value_text("b"), quire_value_text("c")};
    const char *const keys[] = {"isbn", "title"};
    const quire_value *const columns[] = {isbns, titles};
    quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
    options.upserts = true;
    int64_t count = 0, ids[3];
    quire_list *list = NULL;
    CHECK_OK(quire_context_batch_insert(
        f.context, "Book", QUIRE_NUL, keys, columns, 2, 3, &options, &count, &list, &error));
    CHECK_OK(quire_list_ids(list, 0, 3, ids, &error));
    CHECK(count == 3 && ids[0] == quire_object_id(book) && ids[1] == ids[2] && ids[1] != ids[0]);
    check_book(book, "a", 10);
    quire_list_release(list);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_batch_insert(
        f.context, "Author", QUIRE_NUL, (const char *const[]){"name"}, columns, 1, 3, &options, NULL, NULL, &error));
    /* A mandatory value may be missing only where there is one already. */
    CHECK_OK(quire_context_batch_insert(f.context, "Book", QUIRE_NUL, keys, columns, 1, 3, &options, NULL, NULL, &error));
    const quire_value unknown[] = {quire_value_text("9")};
    const quire_value *const one[] = {unknown};
    CHECK_FAILS(QUIRE_VALIDATION, quire_context_batch_insert(
        f.context, "Book", QUIRE_NUL, keys, one, 1, 1, &options, NULL, NULL, &error));
    quire_object_release(book);
    close_fixture(f);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(each_policy_merges_as_its_name_says);
    RUN(an_error_has_all_versions_of_each_object_in_conflict);
    RUN(a_deleted_row_has_no_stored_version);
    RUN(a_handler_decides_and_is_given_back_once);
    RUN(a_new_object_with_the_unique_value_of_a_row_is_folded_into_it);
    RUN(the_stored_version_of_unique_values_is_of_the_entity_of_the_other_object);
    RUN(batch_insertion_updates_by_unique_values);
    return RESULT();
}
