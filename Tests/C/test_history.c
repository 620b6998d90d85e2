/* The history of a store: what saves add, how it is fetched, and how it is purged. */
#include "fixture.h"

typedef struct history_world {
    quire_model *model;
    quire_store *store;
    quire_context *context;
} history_world;

static history_world open_world_at(const char *path) {
    history_world made;
    made.model = quire_model_create();
    CHECK_OK(quire_model_add_entity(made.model, "Note", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(made.model, "Tag", QUIRE_NUL, NULL, &error));
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.preserves_after_deletion = true;
    CHECK_OK(quire_model_add_attribute(
        made.model, "Note", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    CHECK_OK(quire_model_add_attribute(
        made.model, "Note", QUIRE_NUL, "price", QUIRE_NUL, QUIRE_TYPE_DECIMAL, &options, &error));
    add_attribute(made.model, "Tag", "label", QUIRE_TYPE_STRING);
    quire_store_options opening = QUIRE_STORE_OPTIONS_INIT;
    opening.tracks_history = true;
    CHECK_OK(quire_store_open(path, QUIRE_NUL, made.model, &opening, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static history_world open_world(void) { return open_world_at(":memory:"); }

static void close_world(history_world made) {
    quire_context_release(made.context);
    quire_store_release(made.store);
    quire_model_release(made.model);
}

static quire_object *add_note(history_world made, const char *title) {
    quire_object *note = insert(made.context, "Note");
    set_text(note, "title", title);
    save(made.context);
    return note;
}

static quire_history *fetched(history_world made, const uint8_t *token, const quire_history_options *options) {
    quire_history *history = NULL;
    CHECK_OK(quire_history_fetch(made.store, token, token ? QUIRE_HISTORY_TOKEN_SIZE : 0, options, &history, &error));
    return history;
}

static quire_history_transaction_info transaction_at(const quire_history *history, int64_t index) {
    quire_history_transaction_info info = QUIRE_HISTORY_TRANSACTION_INFO_INIT;
    CHECK_OK(quire_history_transaction(history, index, &info, &error));
    return info;
}

static quire_history_change_info change_at(const quire_history *history, int64_t transaction, int64_t index) {
    quire_history_change_info info = QUIRE_HISTORY_CHANGE_INFO_INIT;
    CHECK_OK(quire_history_change(history, transaction, index, &info, &error));
    return info;
}

static int64_t count_of(history_world made, const uint8_t *token, const quire_history_options *options) {
    quire_history *history = fetched(made, token, options);
    const int64_t count = quire_history_count(history);
    quire_history_release(history);
    return count;
}

static void saves_are_transactions_with_their_changes(void) {
    history_world made = open_world();
    CHECK_OK(quire_context_set_author(made.context, "editor", QUIRE_NUL, &error));
    CHECK_OK(quire_context_set_name(made.context, "window", 3, &error));
    CHECK_TEXT(quire_context_author(made.context), "editor");
    CHECK_TEXT(quire_context_name(made.context), "win");
    quire_object *note = add_note(made, "first");
    set_text(note, "title", "second");
    set_value(note, "price", quire_value_decimal("12.5"));
    CHECK_OK(quire_context_set_author(made.context, NULL, 0, &error));
    CHECK(quire_context_author(made.context).data == NULL);
    save(made.context);
    const int64_t id = quire_object_id(note);
    CHECK_OK(quire_context_delete(made.context, note, &error));
    save(made.context);
    quire_object_release(note);

    quire_history *history = fetched(made, NULL, NULL);
    CHECK(quire_history_count(history) == 3 && quire_history_count(NULL) == 0);
    quire_history_transaction_info info = transaction_at(history, 0);
    CHECK(info.number == 1 && info.change_count == 1 && info.timestamp > 1.6e9);
    CHECK_TEXT(info.author, "editor");
    CHECK_TEXT(info.context_name, "win");
    CHECK(info.process_id.size > 0 && info.bundle_id.size > 0);
    CHECK(transaction_at(history, 1).author.data == NULL);
    quire_history_change_info change = change_at(history, 0, 0);
    CHECK(change.kind == QUIRE_HISTORY_INSERT && change.id == id && change.key_count == 0 && change.tombstone_count == 0);
    CHECK_TEXT(change.entity, "Note");
    change = change_at(history, 1, 0);
    CHECK(change.kind == QUIRE_HISTORY_UPDATE && change.key_count == -1);
    CHECK(quire_history_changed_key(history, 1, 0, 0).data == NULL);
    change = change_at(history, 2, 0);
    CHECK(change.kind == QUIRE_HISTORY_DELETE && change.id == id && change.tombstone_count == 2);
    quire_string key;
    quire_value value;
    CHECK_OK(quire_history_tombstone(history, 2, 0, 0, &key, &value, &error));
    CHECK_TEXT(key, "price");
    CHECK(value.kind == QUIRE_VALUE_DECIMAL && strcmp(value.as.text, "12.5") == 0);
    CHECK_OK(quire_history_tombstone(history, 2, 0, 1, &key, &value, &error));
    CHECK_TEXT(key, "title");
    CHECK(value.kind == QUIRE_VALUE_TEXT && strcmp(value.as.text, "second") == 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_tombstone(history, 2, 0, 2, &key, &value, &error));
    CHECK(key.data == NULL && value.kind == 0);
    quire_history_release(history);
    close_world(made);
}

static void an_update_of_an_entity_with_one_property_tells_which(void) {
    history_world made = open_world();
    quire_object *tag = insert(made.context, "Tag");
    save(made.context);
    set_text(tag, "label", "new");
    save(made.context);
    quire_history *history = fetched(made, NULL, NULL);
    CHECK(change_at(history, 1, 0).key_count == 1);
    CHECK_TEXT(quire_history_changed_key(history, 1, 0, 0), "label");
    CHECK(quire_history_changed_key(history, 1, 0, 1).data == NULL);
    CHECK(quire_history_changed_key(history, 9, 0, 0).data == NULL);
    quire_history_release(history);
    quire_object_release(tag);
    close_world(made);
}

static void a_fetch_goes_on_after_a_token(void) {
    history_world made = open_world();
    uint8_t start[QUIRE_HISTORY_TOKEN_SIZE], next[QUIRE_HISTORY_TOKEN_SIZE], last[QUIRE_HISTORY_TOKEN_SIZE];
    CHECK_OK(quire_history_token(made.store, start, &error));
    for (int number = 0; number < 4; number++) quire_object_release(add_note(made, "note"));
    CHECK(count_of(made, start, NULL) == 4);
    quire_history_options options = QUIRE_HISTORY_OPTIONS_INIT;
    options.limit = 3;
    quire_history *history = fetched(made, start, &options);
    CHECK(quire_history_count(history) == 3);
    CHECK_OK(quire_history_next_token(history, next, &error));
    CHECK_OK(quire_history_transaction_token(history, 2, last, &error));
    CHECK(memcmp(next, last, sizeof next) == 0);
    CHECK(count_of(made, next, NULL) == 1);
    CHECK_OK(quire_history_transaction_token(history, 0, next, &error));
    CHECK(count_of(made, next, NULL) == 3);
    /* It outlives the store. */
    quire_history *same = quire_history_retain(history);
    quire_history_release(history);
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK(transaction_at(same, 2).number == 3);
    CHECK_FAILS(QUIRE_CLOSED, quire_history_token(made.store, next, &error));
    for (size_t place = 0; place < sizeof next; place++) CHECK(next[place] == 0);
    quire_history_release(same);
    close_world(made);
}

static void options_choose_transactions(void) {
    history_world made = open_world();
    CHECK_OK(quire_context_set_author(made.context, "a", 1, &error));
    quire_object_release(add_note(made, "note"));
    CHECK_OK(quire_context_set_author(made.context, "b", 1, &error));
    CHECK_OK(quire_context_set_name(made.context, "window", QUIRE_NUL, &error));
    quire_object_release(insert(made.context, "Tag"));
    save(made.context);
    quire_history_options options = QUIRE_HISTORY_OPTIONS_INIT;
    options.author = "b";
    CHECK(count_of(made, NULL, &options) == 1);
    options.entity = "Note";
    CHECK(count_of(made, NULL, &options) == 0);
    options.author = NULL;
    CHECK(count_of(made, NULL, &options) == 1);
    options = (quire_history_options)QUIRE_HISTORY_OPTIONS_INIT;
    options.context_name = "window";
    CHECK(count_of(made, NULL, &options) == 1);
    options = (quire_history_options)QUIRE_HISTORY_OPTIONS_INIT;
    options.has_since = true;
    CHECK(count_of(made, NULL, &options) == 2);
    options.since = 4102444800.0;
    CHECK(count_of(made, NULL, &options) == 0);
    options.since = 0.0 / 0.0;
    quire_history *history = NULL;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, NULL, 0, &options, &history, &error));
    options = (quire_history_options)QUIRE_HISTORY_OPTIONS_INIT;
    options.entity = "Nothing";
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, NULL, 0, &options, &history, &error));
    options = (quire_history_options)QUIRE_HISTORY_OPTIONS_INIT;
    options.reserved = 1;
    CHECK_FAILS(QUIRE_UNSUPPORTED, quire_history_fetch(made.store, NULL, 0, &options, &history, &error));
    CHECK(history == NULL);
    close_world(made);
}

static void tokens_are_refused_for_reasons_of_their_own(void) {
    history_world made = open_world(), other = open_world();
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    quire_history *history = NULL;
    CHECK_OK(quire_history_token(other.store, token, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, token, sizeof token, NULL, &history, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_purge(made.store, token, sizeof token, NULL, &error));
    CHECK_OK(quire_history_token(made.store, token, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, token, sizeof token - 1, NULL, &history, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, NULL, sizeof token, NULL, &history, &error));
    token[8] ^= 1;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_fetch(made.store, token, sizeof token, NULL, &history, &error));
    token[8] ^= 1;
    quire_object_release(add_note(made, "first"));
    quire_object_release(add_note(made, "second"));
    int64_t purged = -1;
    CHECK_OK(quire_history_purge_before_date(made.store, 4102444800.0, &purged, &error));
    CHECK(purged == 2);
    CHECK_FAILS(QUIRE_HISTORY_EXPIRED, quire_history_fetch(made.store, token, sizeof token, NULL, &history, &error));
    close_world(made);
    close_world(other);
}

static void a_token_has_expired_behind_an_older_copy_of_its_file(void) {
    char folder[256], path[300], copy[320];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/notes.sqlite", folder);
    snprintf(copy, sizeof copy, "%s/copy.sqlite", folder);
    history_world made = open_world_at(path);
    quire_object_release(add_note(made, "first"));
    CHECK_OK(quire_store_copy(made.store, copy, QUIRE_NUL, &error));
    quire_object_release(add_note(made, "second"));
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    CHECK_OK(quire_history_token(made.store, token, &error));
    quire_history_release(fetched(made, token, NULL));
    close_world(made);
    made = open_world_at(copy);
    quire_history *history = NULL;
    CHECK_FAILS(QUIRE_HISTORY_EXPIRED, quire_history_fetch(made.store, token, sizeof token, NULL, &history, &error));
    /* It comes to as many transactions, and to more. */
    for (int number = 0; number < 2; number++) {
        quire_object_release(add_note(made, "another"));
        CHECK_FAILS(QUIRE_HISTORY_EXPIRED, quire_history_fetch(made.store, token, sizeof token, NULL, &history, &error));
        CHECK_FAILS(QUIRE_HISTORY_EXPIRED, quire_history_purge(made.store, token, sizeof token, NULL, &error));
    }
    CHECK_OK(quire_history_token(made.store, token, &error));
    history = fetched(made, token, NULL);
    CHECK(quire_history_count(history) == 0);
    quire_history_release(history);
    close_world(made);
    remove_folder(folder);
}

static void a_purge_keeps_the_transaction_of_its_token(void) {
    history_world made = open_world();
    for (int number = 0; number < 4; number++) quire_object_release(add_note(made, "note"));
    quire_history *history = fetched(made, NULL, NULL);
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    CHECK_OK(quire_history_transaction_token(history, 2, token, &error));
    quire_history_release(history);
    int64_t purged = -1;
    CHECK_OK(quire_history_purge(made.store, token, sizeof token, &purged, &error));
    CHECK(purged == 2);
    CHECK_OK(quire_history_purge(made.store, token, sizeof token, NULL, &error));
    history = fetched(made, NULL, NULL);
    CHECK(quire_history_count(history) == 2 && transaction_at(history, 0).number == 3);
    quire_history_release(history);
    /* Once its own transaction is gone, there is nothing left to remove. */
    CHECK_OK(quire_history_purge_before_date(made.store, 4102444800.0, &purged, &error));
    CHECK(purged == 2);
    CHECK_OK(quire_history_purge(made.store, token, sizeof token, &purged, &error));
    CHECK(purged == 0);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_purge_before_date(made.store, 0.0 / 0.0, &purged, &error));
    CHECK(purged == 0);
    close_world(made);
}

static void a_file_without_a_history_says_so(void) {
    fixture made = open_fixture();
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    quire_history *history = NULL;
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_history_token(made.store, token, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_history_fetch(made.store, NULL, 0, NULL, &history, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_history_purge_before_date(made.store, 0, NULL, &error));
    close_fixture(made);
}

static void a_history_is_not_begun_for_reading_only(void) {
    quire_model *model = library_model();
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.tracks_history = true;
    options.is_read_only = true;
    CHECK_FAILS(
        QUIRE_INVALID_ARGUMENT, quire_store_open("/tmp/none.sqlite", QUIRE_NUL, model, &options, &store, &error));
    quire_model_release(model);
}

static void structs_of_other_sizes_are_filled_as_far_as_they_go(void) {
    history_world made = open_world();
    quire_object_release(add_note(made, "note"));
    quire_history *history = fetched(made, NULL, NULL);
    struct {
        quire_history_change_info known;
        int64_t more[2];
    } longer = {QUIRE_HISTORY_CHANGE_INFO_INIT, {7, 7}};
    longer.known.struct_size = sizeof longer;
    CHECK_OK(quire_history_change(history, 0, 0, &longer.known, &error));
    CHECK(longer.known.id == 1 && longer.more[0] == 0 && longer.more[1] == 0);
    quire_history_transaction_info info = QUIRE_HISTORY_TRANSACTION_INFO_INIT;
    info.struct_size = 8;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_transaction(history, 0, &info, &error));
    info = (quire_history_transaction_info)QUIRE_HISTORY_TRANSACTION_INFO_INIT;
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_transaction(history, 1, &info, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_history_transaction(history, -1, &info, &error));
    quire_history_release(history);
    close_world(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(saves_are_transactions_with_their_changes);
    RUN(an_update_of_an_entity_with_one_property_tells_which);
    RUN(a_fetch_goes_on_after_a_token);
    RUN(options_choose_transactions);
    RUN(tokens_are_refused_for_reasons_of_their_own);
    RUN(a_token_has_expired_behind_an_older_copy_of_its_file);
    RUN(a_purge_keeps_the_transaction_of_its_token);
    RUN(a_file_without_a_history_says_so);
    RUN(a_history_is_not_begun_for_reading_only);
    RUN(structs_of_other_sizes_are_filled_as_far_as_they_go);
    return RESULT();
}
