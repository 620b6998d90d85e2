#include "fixture.h"

/* What hooks write down, and what they are to do. */
typedef struct diary {
    char log[4096];
    int destroyed;
    /* The hook that fails or acts, by its name in the log; NULL for none. */
    const char *failing, *acting;
    quire_status inner;
} diary;

static bool note(diary *diary, const char *hook, quire_object *object, quire_value *out_reason) {
    CHECK(strlen(diary->log) < sizeof diary->log - 100);
    sprintf(diary->log + strlen(diary->log), "%s %s;", hook, quire_object_entity(object).data);
    if (diary->failing && strcmp(diary->failing, hook) == 0) {
        *out_reason = quire_value_text("because");
        return false;
    }
    return true;
}

static bool acts(const diary *diary, const char *hook) { return diary->acting && strcmp(diary->acting, hook) == 0; }

static bool awake_from_insert(void *data, quire_object *object, quire_value *out_reason) {
    diary *diary = data;
    if (acts(diary, "insert") && strcmp(quire_object_entity(object).data, "Book") == 0) {
        CHECK(get_value(object, "pages").as.integer == 100);
        set_text(object, "title", "untitled");
    }
    return note(diary, "insert", object, out_reason);
}

static bool awake_from_fetch(void *data, quire_object *object, quire_value *out_reason) {
    diary *diary = data;
    if (acts(diary, "fetch")) set_text(object, "title", "seen");
    return note(diary, "fetch", object, out_reason);
}

static bool prepare_for_deletion(void *data, quire_object *object, quire_value *out_reason) {
    return note(data, "prepare", object, out_reason);
}

static bool will_save(void *data, quire_object *object, quire_value *out_reason) {
    diary *diary = data;
    if (acts(diary, "will_save")) {
        quire_value pages = get_value(object, "pages");
        pages.as.integer++;
        set_value(object, "pages", pages);
    }
    return note(diary, "will_save", object, out_reason);
}

static bool validate(void *data, quire_object *object, quire_value *out_reason) {
    diary *diary = data;
    if (acts(diary, "validate")) {
        CHECK_OK(quire_object_refuse(object, "title", QUIRE_NUL, "This title is taken.", QUIRE_NUL, &error));
        CHECK_OK(quire_object_refuse(object, NULL, 0, "Nobody wants it.", QUIRE_NUL, &error));
    }
    return note(diary, "validate", object, out_reason);
}

static void did_save(void *data, quire_object *object) {
    diary *diary = data;
    quire_value reason;
    note(diary, "did_save", object, &reason);
    if (acts(diary, "did_save")) {
        set_text(object, "title", "later");
        diary->inner = quire_context_save(quire_object_context(object), NULL);
    }
}

static void destroy(void *data) { ((diary *)data)->destroyed++; }

static void set_hooks(quire_context *context, const char *entity, diary *diary) {
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = diary;
    hooks.destroy = destroy;
    hooks.awake_from_insert = awake_from_insert;
    hooks.awake_from_fetch = awake_from_fetch;
    hooks.prepare_for_deletion = prepare_for_deletion;
    hooks.will_save = will_save;
    hooks.validate = validate;
    hooks.did_save = did_save;
    CHECK_OK(quire_context_set_hooks(context, entity, QUIRE_NUL, &hooks, &error));
}

static void check_log(diary *diary, const char *expected) {
    if (strcmp(diary->log, expected) != 0) {
        fprintf(stderr, "    \"%s\" instead of \"%s\"\n", diary->log, expected);
        exit(1);
    }
    diary->log[0] = 0;
}

static void the_hooks_of_a_life_are_called_in_their_order(void) {
    fixture made = open_fixture();
    diary diary = {.acting = "insert"};
    set_hooks(made.context, NULL, &diary);
    quire_object *author = insert(made.context, "Author"), *book = insert(made.context, "Book");
    CHECK(strcmp(get_text(book, "title"), "untitled") == 0);
    const quire_value held = quire_value_object(author);
    CHECK_OK(quire_object_set(book, "author", QUIRE_NUL, &held, &error));
    check_log(&diary, "insert Author;insert Book;");
    save(made.context);
    check_log(&diary,
        "will_save Author;will_save Book;validate Author;validate Book;did_save Author;did_save Book;");
    save(made.context);
    check_log(&diary, "");
    CHECK_OK(quire_context_delete(made.context, author, &error));
    check_log(&diary, "prepare Author;");
    CHECK_OK(quire_context_process(made.context, &error));
    check_log(&diary, "prepare Book;");
    save(made.context);
    check_log(&diary, "will_save Author;will_save Book;did_save Author;did_save Book;");
    quire_object_release(author);
    quire_object_release(book);
    close_fixture(made);
    CHECK(diary.destroyed == 1);
}

static void an_object_awakes_when_the_program_first_uses_it_after_a_read(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    diary diary = {.acting = "fetch"};
    set_hooks(other, "Book", &diary);
    quire_list *list = fetch(other, "Book", NULL, NULL);
    check_log(&diary, "");
    CHECK(strcmp(joined(list, "title"), "seen") == 0);
    CHECK(strcmp(joined(list, "title"), "seen") == 0);
    check_log(&diary, "fetch Book;");
    /* What it set is no change. */
    CHECK(!quire_context_has_changes(other));
    quire_list_release(list);
    quire_context_release(other);
    CHECK(diary.destroyed == 1);
    quire_object_release(book);
    close_fixture(made);
}

static void a_hook_that_fails_fails_its_call_with_its_reason(void) {
    static const char *const hooks[] = {"will_save", "validate"};
    fixture made = open_fixture();
    diary diary = {.failing = "insert"};
    set_hooks(made.context, "Book", &diary);
    quire_object *none = NULL;
    quire_error *reason = NULL;
    CHECK(quire_context_insert(made.context, "Book", QUIRE_NUL, &none, &reason) == QUIRE_FUNCTION);
    CHECK(none == NULL && strstr(quire_error_message(reason).data, "because") != NULL);
    quire_error_release(reason);
    CHECK(!quire_context_has_changes(made.context));
    diary.failing = NULL;
    quire_object *book = insert_book(made.context, "Faust", 300);
    for (size_t i = 0; i < 2; i++) {
        diary.failing = hooks[i];
        CHECK_FAILS(QUIRE_FUNCTION, quire_context_save(made.context, &error));
        CHECK(quire_object_is_inserted(book));
    }
    diary.failing = NULL;
    save(made.context);
    diary.failing = "prepare";
    CHECK_FAILS(QUIRE_FUNCTION, quire_context_delete(made.context, book, &error));
    CHECK(!quire_object_is_deleted(book));
    quire_object_release(book);
    close_fixture(made);
}

/* 1,000 entries do not fit into the diary. */
static bool endless(void *data, quire_object *object, quire_value *out_reason) {
    ((diary *)data)->log[0] = 0;
    return will_save(data, object, out_reason);
}

static void an_endless_will_save_is_an_error(void) {
    fixture made = open_fixture();
    diary diary = {.acting = "will_save"};
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = &diary;
    quire_object *book = insert_book(made.context, "Faust", 0);
    save(made.context);
    set_value(book, "pages", quire_value_integer(1));
    hooks.will_save = endless;
    CHECK_OK(quire_context_set_hooks(made.context, "Book", QUIRE_NUL, &hooks, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_save(made.context, &error));
    CHECK(quire_object_is_updated(book) && get_value(book, "pages").as.integer == 1001);
    CHECK_OK(quire_context_set_hooks(made.context, "Book", QUIRE_NUL, NULL, &error));
    save(made.context);
    quire_object_release(book);
    close_fixture(made);
}

static void validate_refuses_with_a_message_and_a_key(void) {
    fixture made = open_fixture();
    diary diary = {.acting = "validate"};
    set_hooks(made.context, NULL, &diary);
    quire_object *book = insert_book(made.context, "Faust", 300);
    quire_error *whole = NULL;
    CHECK(quire_context_save(made.context, &whole) == QUIRE_VALIDATION);
    CHECK(quire_error_detail_count(whole) == 2);
    const quire_error *first = quire_error_detail(whole, 0), *second = quire_error_detail(whole, 1);
    CHECK(quire_error_rule(first) == QUIRE_RULE_HOOK && quire_error_rule(second) == QUIRE_RULE_HOOK);
    CHECK_TEXT(quire_error_message(first), "This title is taken.");
    CHECK_TEXT(quire_error_key(first), "title");
    CHECK(quire_error_key(second).data == NULL);
    quire_value value;
    CHECK_OK(quire_error_value(first, &value, &error));
    CHECK(value.kind == QUIRE_VALUE_TEXT && strcmp(value.as.text, "Faust") == 0);
    quire_error_release(whole);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_object_refuse(book, NULL, 0, "Too late.", QUIRE_NUL, &error));
    quire_object_release(book);
    close_fixture(made);
}

static void did_save_dirties_the_context_again_and_cannot_save(void) {
    fixture made = open_fixture();
    diary diary = {.acting = "did_save"};
    set_hooks(made.context, NULL, &diary);
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    CHECK(diary.inner == QUIRE_INVALID_STATE);
    CHECK(quire_object_is_updated(book) && strcmp(get_text(book, "title"), "later") == 0);
    quire_object_release(book);
    close_fixture(made);
}

static bool remove_hooks(void *data, quire_object *object, quire_value *out_reason) {
    CHECK_OK(quire_context_set_hooks(quire_object_context(object), NULL, 0, NULL, &error));
    /* The struct that is running is still there. */
    return note(data, "will_save", object, out_reason);
}

static void hooks_are_replaced_from_within_a_hook(void) {
    fixture made = open_fixture();
    diary diary = {0};
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = &diary;
    hooks.destroy = destroy;
    hooks.will_save = remove_hooks;
    CHECK_OK(quire_context_set_hooks(made.context, NULL, 0, &hooks, &error));
    quire_object *first = insert_book(made.context, "Faust", 300), *second = insert_book(made.context, "Urfaust", 3);
    save(made.context);
    check_log(&diary, "will_save Book;");
    CHECK(diary.destroyed == 1);
    quire_object_release(first);
    quire_object_release(second);
    close_fixture(made);
}

static void hooks_of_a_later_version_are_refused_and_stay_the_callers(void) {
    fixture made = open_fixture();
    struct { quire_hooks known; void *unknown; } hooks = {QUIRE_HOOKS_INIT, NULL};
    diary diary = {0};
    hooks.known.struct_size = sizeof hooks;
    hooks.known.user_data = &diary;
    hooks.known.destroy = destroy;
    hooks.unknown = &hooks;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_set_hooks(made.context, NULL, 0, &hooks.known, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_set_hooks(made.context, "None", QUIRE_NUL, &hooks.known, &error));
    CHECK(diary.destroyed == 0);
    close_fixture(made);
}

static bool will_turn_into_fault(void *data, quire_object *object, quire_value *out_reason) {
    CHECK(!quire_object_is_fault(object));
    return note(data, "will_turn", object, out_reason);
}

static bool did_turn_into_fault(void *data, quire_object *object, quire_value *out_reason) {
    CHECK(quire_object_is_fault(object));
    return note(data, "did_turn", object, out_reason);
}

static bool awake_from_snapshot(void *data, quire_object *object, uint32_t events, quire_value *out_reason) {
    char name[32];
    sprintf(name, "awake %u", (unsigned)events);
    if (acts(data, name)) set_value(object, "pages", quire_value_integer(7));
    return note(data, name, object, out_reason);
}

static void objects_hear_of_snapshots_and_of_becoming_faults(void) {
    fixture made = open_fixture();
    diary diary = {0};
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = &diary;
    hooks.will_turn_into_fault = will_turn_into_fault;
    hooks.did_turn_into_fault = did_turn_into_fault;
    hooks.awake_from_snapshot = awake_from_snapshot;
    CHECK_OK(quire_context_set_hooks(made.context, NULL, 0, &hooks, &error));
    CHECK_OK(quire_context_enable_undo(made.context, 0, &error));
    quire_object *book = insert_book(made.context, "Faust", 300);
    save(made.context);
    CHECK_OK(quire_context_remove_undo_actions(made.context, &error));
    set_text(book, "title", "Urfaust");
    diary.acting = "awake 8";
    CHECK_OK(quire_context_undo(made.context, NULL, &error));
    check_log(&diary, "awake 8 Book;");
    CHECK(get_value(book, "pages").as.integer == 7 && !quire_context_has_changes(made.context));
    CHECK_OK(quire_context_redo(made.context, NULL, &error));
    check_log(&diary, "awake 8 Book;");
    CHECK_OK(quire_context_refresh(made.context, book, true, &error));
    check_log(&diary, "awake 32 Book;");
    CHECK_OK(quire_context_rollback(made.context, &error));
    check_log(&diary, "awake 16 Book;");
    /* A hook that fails prevents nothing. */
    diary.failing = "did_turn";
    CHECK_FAILS(QUIRE_FUNCTION, quire_context_refresh(made.context, book, false, &error));
    check_log(&diary, "will_turn Book;did_turn Book;");
    CHECK(quire_object_is_fault(book) && strcmp(get_text(book, "title"), "Faust") == 0);
    diary.failing = NULL;
    CHECK_OK(quire_context_reset(made.context, &error));
    check_log(&diary, "will_turn Book;did_turn Book;");
    quire_object_release(book);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(the_hooks_of_a_life_are_called_in_their_order);
    RUN(an_object_awakes_when_the_program_first_uses_it_after_a_read);
    RUN(a_hook_that_fails_fails_its_call_with_its_reason);
    RUN(an_endless_will_save_is_an_error);
    RUN(validate_refuses_with_a_message_and_a_key);
    RUN(did_save_dirties_the_context_again_and_cannot_save);
    RUN(hooks_are_replaced_from_within_a_hook);
    RUN(hooks_of_a_later_version_are_refused_and_stay_the_callers);
    RUN(objects_hear_of_snapshots_and_of_becoming_faults);
    return RESULT();
}
