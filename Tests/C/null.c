/*
 * Every public function with NULL, another handle, bad text and huge numbers in the place of each argument; in an
 * open store, in a closed one, from inside a delegate, and from a log. A status comes back, never a crash.
 *
 * The calls are in null_calls.h, which null_calls.py writes from the list of public functions.
 */
#include "fixture.h"

/* A keyed archive of the text "x". */
static const uint8_t archive[] = {
    0x62, 0x70, 0x6C, 0x69, 0x73, 0x74, 0x30, 0x30, 0xD4, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x09, 0x0C, 0x59, 0x24,
    0x61, 0x72, 0x63, 0x68, 0x69, 0x76, 0x65, 0x72, 0x58, 0x24, 0x6F, 0x62, 0x6A, 0x65, 0x63, 0x74, 0x73, 0x54, 0x24,
    0x74, 0x6F, 0x70, 0x58, 0x24, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6F, 0x6E, 0x5F, 0x10, 0x0F, 0x4E, 0x53, 0x4B, 0x65,
    0x79, 0x65, 0x64, 0x41, 0x72, 0x63, 0x68, 0x69, 0x76, 0x65, 0x72, 0xA2, 0x07, 0x08, 0x55, 0x24, 0x6E, 0x75, 0x6C,
    0x6C, 0x51, 0x78, 0xD1, 0x0A, 0x0B, 0x54, 0x72, 0x6F, 0x6F, 0x74, 0x80, 0x01, 0x10, 0x01, 0x08, 0x11, 0x1B, 0x24,
    0x29, 0x32, 0x44, 0x47, 0x4D, 0x4F, 0x52, 0x57, 0x59, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x0D, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x5B};

typedef struct world {
    quire_model *model, *open_model;
    quire_store *store;
    quire_context *context;
    quire_object *object, *other;
    quire_predicate *predicate;
    quire_expression *expression;
    quire_evaluation *evaluation;
    quire_fetch_request *fetch_request;
    quire_list *list;
    quire_page *page;
    quire_results *results, *open_results;
    quire_expression *total;
    quire_changes *changes;
    quire_snapshot *snapshot;
    quire_composite *composite, *open_composite;
    quire_section_rule *section_rule;
    quire_cancellation *cancellation;
    quire_moment *moment;
    quire_history *history;
    quire_migration *migration, *open_migration;
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    quire_error *error, *broken, *conflict_error;
    const quire_conflict *conflict;
    quire_merge_handler merge_handler;
    char uri[128];
    quire_value number, text, values[2], subject;
    quire_entry entry;
    const quire_value *columns[2], *null_columns[2];
    const char *keys[2], *null_keys[2], *invalid_keys[2], *properties[1], *entities[1];
    quire_index_element element;
    quire_results_delegate delegate;
    quire_composite_delegate composite_delegate;
    quire_native_function function;
    quire_function_callback callback;
    quire_progress progress;
    quire_log log;
    quire_value known;
    quire_object *everything;
    quire_hooks hooks;
    quire_migration_callbacks migration_callbacks;
    int64_t ids[2], out_numbers[8];
    uint8_t out_bytes[QUIRE_HISTORY_TOKEN_SIZE]; /* The longest are tokens; a hash has 32. */
} world;

typedef struct outcome {
    quire_status status;
    bool outs_are_zero;
    /* For functions that give no status: something other than zero or NULL. */
    bool gave_something;
} outcome;

typedef struct variant {
    const char *function, *wrong;
    outcome (*call)(world *w, int variant);
    int number, must_fail, must_give_nothing, must_succeed;
    /* Whether the world is another afterwards: in any case, or when the call succeeds. */
    int changes, changes_on_success;
    /* Whether a log may not make the call, which is in order. */
    int needs_store;
} variant;

static bool is_zero(const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (((const unsigned char *)bytes)[i]) return false;
    return true;
}

/* A failure has an error that agrees with it; a success has none. */
static void check_error(quire_status status, quire_error **failure) {
    if (status == QUIRE_OK) CHECK(*failure == NULL);
    else CHECK(*failure && quire_error_status(*failure) == status && quire_error_message(*failure).size > 10);
    quire_error_release(*failure);
}

/* Written by the first call that saves, and loaded by others. */
static const char *model_folder(void) {
    static char path[64];
    if (!path[0]) snprintf(path, sizeof path, "/tmp/quire-null-%d.xcdatamodel", (int)getpid());
    return path;
}

/* What no call declares, from a source. It lives as long as the process. */
static quire_model *composite_model(void) {
    static quire_model *model;
    if (model) return model;
    char path[64];
    snprintf(path, sizeof path, "/tmp/quire-null-%d.contents", (int)getpid());
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(
        "<model><entity name=\"Item\"><attribute name=\"place\" attributeType=\"Composite\" composite=\"Place\"/></entity>"
        "<composite name=\"Place\"><attribute name=\"x\" attributeType=\"Double\"/></composite></model>", file) >= 0);
    CHECK(fclose(file) == 0);
    CHECK(quire_model_load(path, QUIRE_NUL, NULL, 0, &model, NULL) == QUIRE_OK);
    unlink(path);
    return model;
}

/* Of a store beside that of the world, which a call makes or deletes. */
static const char *free_path(void) {
    static char path[300];
    const char *parent = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/quire-null-%d.sqlite", parent ? parent : "/tmp", (int)getpid());
    return path;
}

/* Of what a conversion makes. */
static const char *target_path(void) {
    static char path[310];
    snprintf(path, sizeof path, "%s.xml", free_path());
    return path;
}

/* Of a store that a migration takes from one model to another. */
static const char *migration_path(void) {
    static char path[320];
    snprintf(path, sizeof path, "%s-migration", free_path());
    return path;
}

static quire_model *shared_target;

/* Its context has no other reference left: what a merge leaves pending in it goes with this one. */
static void merge_conflicting_context(world *w) {
    quire_context *context = quire_context_retain(quire_object_context(quire_conflict_object(w->conflict)));
    (void)quire_context_merge(context, NULL);
    quire_context_release(context);
}

#include "null_calls.h"

static int32_t answer(void) { return 42; }

static bool say_nothing(void *data, const quire_value *arguments, size_t count, quire_value *result) {
    (void)data, (void)arguments, (void)count, (void)result;
    return true;
}

/* Made once, and with it the stores of all worlds: only models that are not frozen must be new each time. */
static quire_model *shared_model;

static void log_nothing(void *user_data, const quire_log_entry *entry) {
    (void)user_data;
    (void)entry;
}

static bool go_on(void *user_data, uint64_t row_count) {
    (void)user_data, (void)row_count;
    return true;
}

static void hear(void *user_data, quire_object *object) { (void)user_data, (void)object; }

static uint32_t leave(void *user_data, const quire_conflict *conflict) {
    (void)user_data, (void)conflict;
    return QUIRE_MERGE_ERROR;
}

/* What another context is told that comes too late. */
static void make_conflict(world *w) {
    quire_context *late = NULL;
    quire_object *twin = NULL;
    CHECK_OK(quire_context_create(w->store, &late, &error));
    CHECK_OK(quire_context_object(late, "Book", QUIRE_NUL, quire_object_id(w->object), &twin, &error));
    set_text(twin, "title", "Late");
    set_text(w->object, "title", "Faust II");
    save(w->context);
    CHECK(quire_context_save(late, &w->conflict_error) == QUIRE_CONFLICT);
    w->conflict = quire_error_conflict(w->conflict_error, 0);
    CHECK(w->conflict != NULL);
    quire_object_release(twin);
    quire_context_release(late);
}

static void share_model(void) {
    shared_model = library_model();
    quire_fetch_request *request = new_request("Book", "pages >= $pages", NULL);
    CHECK_OK(quire_model_add_fetch_template(shared_model, "long", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);
    request = new_request("Book", "pages > $FETCH_SOURCE.pages", NULL);
    CHECK_OK(quire_model_add_fetched_property(shared_model, "Book", QUIRE_NUL, "longer", QUIRE_NUL, request, &error));
    quire_fetch_request_release(request);
    const quire_index_element elements[] = {{"pages", false}};
    const char *const names[] = {"Book"};
    quire_predicate *rule = NULL;
    CHECK_OK(quire_predicate_parse("TRUEPREDICATE", QUIRE_NUL, NULL, 0, &rule, &error));
    CHECK_OK(quire_model_add_fetch_index(shared_model, "Book", QUIRE_NUL, "byPages", QUIRE_NUL, elements, 1, &error));
    CHECK_OK(quire_model_add_validation_rule(
        shared_model, "Book", QUIRE_NUL, NULL, 0, rule, "never broken", QUIRE_NUL, &error));
    quire_predicate_release(rule);
    CHECK_OK(quire_model_set_user_info(shared_model, "Book", QUIRE_NUL, "title", QUIRE_NUL, "k", 1, "v", 1, &error));
    CHECK_OK(quire_model_add_configuration(shared_model, "Books", QUIRE_NUL, names, 1, &error));
    CHECK_OK(quire_model_add_version_identifier(shared_model, "1", QUIRE_NUL, &error));
}

static quire_migration *shared_migration;

static void share_migration(void) {
    quire_model *former = quire_model_create();
    quire_store *store = NULL;
    shared_target = quire_model_create();
    CHECK_OK(quire_model_add_entity(former, "Note", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(shared_target, "Note", QUIRE_NUL, NULL, &error));
    add_attribute(shared_target, "Note", "text", QUIRE_TYPE_STRING);
    unlink(migration_path());
    CHECK_OK(quire_store_open(migration_path(), QUIRE_NUL, former, NULL, &store, &error));
    quire_store_release(store);
    quire_model_release(former);
    CHECK_OK(quire_migration_create(
        migration_path(), QUIRE_NUL, NULL, shared_target, NULL, &shared_migration, &error));
}

/* Its one transaction has a change that has left a value. */
static quire_history *history_of_a_deletion(void) {
    quire_model *model = quire_model_create();
    CHECK_OK(quire_model_add_entity(model, "Note", QUIRE_NUL, NULL, &error));
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    options.preserves_after_deletion = true;
    CHECK_OK(quire_model_add_attribute(model, "Note", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, &options, &error));
    quire_store_options opening = QUIRE_STORE_OPTIONS_INIT;
    opening.tracks_history = true;
    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_history *history = NULL;
    uint8_t token[QUIRE_HISTORY_TOKEN_SIZE];
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, model, &opening, &store, &error));
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_object *note = insert(context, "Note");
    save(context);
    CHECK_OK(quire_history_token(store, token, &error));
    CHECK_OK(quire_context_delete(context, note, &error));
    save(context);
    CHECK_OK(quire_history_fetch(store, token, sizeof token, NULL, &history, &error));
    quire_object_release(note);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return history;
}

static world *make_world(void) {
    if (!shared_model) share_model(), share_migration();
    world *w = calloc(1, sizeof *w);
    w->model = quire_model_retain(shared_model);
    quire_store_options opening = QUIRE_STORE_OPTIONS_INIT;
    opening.tracks_history = true;
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, w->model, &opening, &w->store, &error));
    CHECK_OK(quire_history_token(w->store, w->token, &error));
    CHECK_OK(quire_context_create(w->store, &w->context, &error));
    w->history = history_of_a_deletion();
    w->migration = quire_migration_retain(shared_migration);
    CHECK_OK(quire_migration_create(migration_path(), QUIRE_NUL, NULL, NULL, NULL, &w->open_migration, &error));
    w->open_model = quire_model_create();
    CHECK_OK(quire_model_add_entity(w->open_model, "Book", QUIRE_NUL, NULL, &error));
    CHECK_OK(quire_model_add_entity(w->open_model, "Author", QUIRE_NUL, NULL, &error));
    add_attribute(w->open_model, "Book", "title", QUIRE_TYPE_STRING);
    add_attribute(w->open_model, "Book", "isbn", QUIRE_TYPE_STRING);
    w->object = insert_book(w->context, "Faust", 300);
    w->other = insert(w->context, "Tag");
    w->everything = insert(w->context, "Everything");
    save(w->context);
    make_conflict(w);
    w->merge_handler.struct_size = sizeof w->merge_handler;
    w->merge_handler.decide = leave;
    snprintf(w->uri, sizeof w->uri, "%s", quire_object_uri(w->object).data);
    w->number = quire_value_integer(1);
    w->text = quire_value_text("text");
    w->known = quire_value_text("Faust II");
    w->values[0] = quire_value_text("title");
    w->values[1] = quire_value_text("isbn");
    w->keys[0] = w->null_keys[0] = w->invalid_keys[0] = "title";
    w->keys[1] = "isbn";
    w->invalid_keys[1] = "\xFFx";
    w->null_keys[0] = NULL;
    w->invalid_keys[0] = "\xFF";
    w->columns[0] = &w->values[0];
    w->columns[1] = &w->values[1];
    w->null_columns[0] = w->columns[0];
    w->properties[0] = "title";
    w->entities[0] = "Book";
    w->element.property = "title";
    w->delegate.struct_size = sizeof w->delegate;
    w->composite_delegate.struct_size = sizeof w->composite_delegate;
    w->function = (quire_native_function)QUIRE_NATIVE_FUNCTION_INIT;
    w->function.result_type = QUIRE_NATIVE_INT32;
    w->function.function = (void (*)(void))answer;
    w->callback = (quire_function_callback)QUIRE_FUNCTION_CALLBACK_INIT;
    w->callback.call = say_nothing;
    CHECK_OK(quire_function_register("registered", QUIRE_NUL, &w->function, &error));
    w->migration_callbacks = (quire_migration_callbacks)QUIRE_MIGRATION_CALLBACKS_INIT;
    w->hooks = (quire_hooks)QUIRE_HOOKS_INIT;
    w->hooks.did_save = hear;
    const quire_value nil = quire_value_nil();
    CHECK(quire_object_validate_value(w->object, "title", QUIRE_NUL, &nil, &w->broken) == QUIRE_VALIDATION);
    w->progress.struct_size = sizeof w->progress;
    w->progress.report = go_on;
    w->log.struct_size = sizeof w->log;
    w->log.statement = log_nothing;
    w->cancellation = quire_cancellation_create();
    CHECK_OK(quire_context_moment(w->context, &w->moment, &error));
    CHECK_OK(quire_model_save(w->model, model_folder(), QUIRE_NUL, &error));
    composite_model();
    CHECK_OK(quire_predicate_parse("pages > 10", QUIRE_NUL, NULL, 0, &w->predicate, &error));
    CHECK(quire_predicate_parse("pages >", QUIRE_NUL, NULL, 0, &(quire_predicate *){NULL}, &w->error) == QUIRE_INVALID_PREDICATE);
    w->entry.key = quire_value_text("pages");
    w->entry.value = w->number;
    w->subject = quire_value_dictionary(&w->entry, 1);
    CHECK_OK(quire_expression_parse("pages + 10", QUIRE_NUL, NULL, 0, &w->expression, &error));
    CHECK_OK(quire_expression_evaluate(w->expression, &w->subject, NULL, 0, &w->evaluation, &error));
    w->fetch_request = new_request("Book", NULL, "title");
    CHECK_OK(quire_context_fetch(w->context, w->fetch_request, &w->list, &error));
    CHECK_OK(quire_list_page(w->list, 0, 1, NULL, 0, 0, &w->page, &error));
    CHECK_OK(quire_list_ids(w->list, 0, 1, w->ids, &error));
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    options.section_key_path = "title";
    CHECK_OK(quire_results_create(w->context, w->fetch_request, &options, &w->results, &error));
    CHECK_OK(quire_results_create(w->context, w->fetch_request, &options, &w->open_results, &error));
    CHECK_OK(quire_expression_parse("sum:(pages)", QUIRE_NUL, NULL, 0, &w->total, &error));
    CHECK_OK(quire_results_add_aggregate(w->results, "total", QUIRE_NUL, w->total, &error));
    CHECK_OK(quire_results_fetch(w->results, &error));
    set_value(w->object, "pages", quire_value_integer(301));
    CHECK_OK(quire_context_process(w->context, &error));
    CHECK_OK(quire_results_next_changes(w->results, &w->changes, &error));
    CHECK_OK(quire_results_snapshot(w->results, &w->snapshot, &error));
    const quire_composite_options queuing = {sizeof queuing, true};
    quire_results *child = NULL;
    CHECK_OK(quire_results_create(w->context, w->fetch_request, &options, &child, &error));
    CHECK_OK(quire_composite_create(w->context, &queuing, &w->composite, &error));
    CHECK_OK(quire_composite_add(w->composite, child, &error));
    CHECK_OK(quire_composite_fetch(w->composite, &error));
    quire_results_release(child);
    CHECK_OK(quire_composite_create(w->context, NULL, &w->open_composite, &error));
    CHECK_OK(quire_section_rule_create("title", QUIRE_NUL, NULL, &w->section_rule, &error));
    CHECK_OK(quire_context_enable_undo(w->context, 0, &error));
    return w;
}

static void end_world(world *w) {
    quire_object_release(w->everything);
    /* The process has but one table of functions. */
    quire_function_unregister("registered", QUIRE_NUL, NULL);
    quire_function_unregister("Fresh", QUIRE_NUL, NULL);
    quire_cancellation_release(w->cancellation);
    quire_moment_release(w->moment);
    quire_history_release(w->history);
    quire_migration_release(w->migration);
    quire_migration_release(w->open_migration);
    quire_section_rule_release(w->section_rule);
    quire_composite_release(w->composite);
    quire_composite_release(w->open_composite);
    quire_snapshot_release(w->snapshot);
    quire_changes_release(w->changes);
    quire_results_release(w->results);
    quire_results_release(w->open_results);
    quire_expression_release(w->total);
    quire_page_release(w->page);
    quire_list_release(w->list);
    quire_fetch_request_release(w->fetch_request);
    quire_evaluation_release(w->evaluation);
    quire_expression_release(w->expression);
    quire_predicate_release(w->predicate);
    quire_object_release(w->object);
    quire_object_release(w->other);
    quire_context_release(w->context);
    quire_store_release(w->store);
    quire_model_release(w->open_model);
    quire_model_release(w->model);
    quire_error_release(w->error);
    quire_error_release(w->broken);
    quire_error_release(w->conflict_error);
    unlink(free_path());
    unlink(target_path());
    char contents[96];
    snprintf(contents, sizeof contents, "%s/contents", model_folder());
    unlink(contents);
    rmdir(model_folder());
    free(w);
}

enum { VARIANTS = sizeof variants / sizeof variants[0] };

static void judge(const variant *variant, outcome outcome) {
    const char *complaint = NULL;
    if (variant->must_fail && outcome.status == QUIRE_OK) complaint = "succeeded";
    if (variant->must_succeed && outcome.status != QUIRE_OK) complaint = "failed";
    if (variant->must_give_nothing && outcome.gave_something) complaint = "gave something other than zero";
    if (!outcome.outs_are_zero) complaint = "failed and left an out_ parameter as it was";
    if (!complaint) return;
    fprintf(stderr, "    %s, with %s, %s (%s)\n", variant->function, variant->wrong, complaint, quire_status_name(outcome.status));
    exit(1);
}

static const variant *current;

static outcome in_an_open_store(world *w) {
    const outcome outcome = current->call(w, current->number);
    judge(current, outcome);
    return outcome;
}

/* For places where a call may fail that succeeds elsewhere. */
static outcome call_and_judge_mildly(world *w) {
    variant relaxed = *current;
    relaxed.must_succeed = 0;
    const outcome outcome = current->call(w, current->number);
    judge(&relaxed, outcome);
    return outcome;
}

static outcome in_a_closed_store(world *w) {
    CHECK_OK(quire_store_close(w->store, &error));
    return call_and_judge_mildly(w);
}

static int calls_in_callbacks;
static outcome outcome_in_callback;

static void call_inside(void *data, quire_results *results) {
    (void)results;
    if (!calls_in_callbacks++) outcome_in_callback = call_and_judge_mildly(data);
}

static outcome inside_a_delegate(world *w, bool before) {
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = w;
    if (before) delegate.will_change = call_inside;
    else delegate.did_change = call_inside;
    calls_in_callbacks = 0;
    CHECK_OK(quire_results_set_delegate(w->results, &delegate, &error));
    char title[32];
    snprintf(title, sizeof title, "Urfaust %d", current->number);
    set_text(w->object, "title", title);
    quire_context_process(w->context, NULL);
    CHECK(calls_in_callbacks >= 1);
    return outcome_in_callback;
}

static void call_in_log(void *data, const quire_log_entry *entry) {
    (void)entry;
    if (!calls_in_callbacks++) outcome_in_callback = call_and_judge_mildly(data);
}

/* What needs a context or a store is refused. */
static outcome from_a_log(world *w) {
    quire_log log = QUIRE_LOG_INIT;
    log.user_data = w;
    log.statement = call_in_log;
    calls_in_callbacks = 0;
    CHECK_OK(quire_store_set_log(w->store, &log, &error));
    CHECK(count(w->context, "Book", NULL) == 1);
    CHECK(calls_in_callbacks >= 1);
    if (current->needs_store && outcome_in_callback.status != QUIRE_INVALID_STATE) {
        fprintf(stderr, "    %s from a log: %s\n", current->function, quire_status_name(outcome_in_callback.status));
        exit(1);
    }
    CHECK_OK(quire_store_set_log(w->store, NULL, &error));
    return outcome_in_callback;
}

static outcome before_a_change(world *w) { return inside_a_delegate(w, true); }

static outcome after_a_change(world *w) { return inside_a_delegate(w, false); }

/* Where calls are made, and whether each has a world of its own. A turn takes one of `share` calls. */
typedef struct place { const char *name; outcome (*call)(world *w); bool is_alone; unsigned share; } place;

static bool takes_variant(const place *place, int number) {
    char name[160];
    snprintf(name, sizeof name, "%s, %s", variants[number].function, variants[number].wrong);
    return takes_case(place->name, name, (uint64_t)number, place->share);
}

/*
 * All calls from `*next` on, one after another, in one world until a call changes it: one that fails must not, so
 * that the calls after it would fail too. Returns the number of worlds.
 */
static int run_from(const place *place, volatile int *next) {
    world *w = NULL;
    int worlds = 0;
    for (; *next < VARIANTS; ++*next) {
        if (!takes_variant(place, *next)) continue;
        current = &variants[*next];
        if (!w) w = make_world(), worlds++;
        const bool has_succeeded = place->call(w).status == QUIRE_OK && !current->must_give_nothing;
        if (place->is_alone || current->changes || (current->changes_on_success && has_succeeded)) end_world(w), w = NULL;
    }
    if (w) end_world(w);
    quire_model_release(shared_model);
    quire_model_release(shared_target);
    quire_migration_release(shared_migration);
    unlink(migration_path());
    return worlds;
}

/*
 * Like RUN, but silent about what passes: there are many. A process makes all calls. When one ends it, another process
 * goes on behind that call.
 */
static void run_place(const char *name, outcome (*call)(world *w), bool is_alone, unsigned share) {
    const place place = {name, call, is_alone, share};
    check_tests[check_test_count++] = name;
    if (!check_is_wanted(name)) return;
    check_progress *const progress = check_begin();
    for (int i = 0; i < check_name_count; i++) progress->is_found[i] |= strcmp(check_names[i], name) == 0;
    int failures = 0;
    volatile int *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(next != MAP_FAILED);
    for (*next = 0; *next < VARIANTS; ++*next) {
        fflush(NULL);
        const pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            run_from(&place, next);
            exit(0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && *next == VARIANTS) break;
        failures++;
        printf("FAILED %s", progress->current);
        if (*next == VARIANTS) printf(", or the end of its world");
        if (WIFSIGNALED(status)) printf(": ended by signal %d", WTERMSIG(status));
        printf("\n");
        check_print_case(stdout);
    }
    munmap((void *)next, sizeof *next);
    check_print_result(failures ? "FAILED" : "passed", name);
    failed_tests += failures;
}

/* Without a process of their own, for tools that make one dear. */
static void run_together(const char *test, outcome (*call)(world *w)) {
    volatile int next = 0;
    const place place = {test, call, false, 4};
    const int worlds = run_from(&place, &next);
    printf("%ld calls in %d worlds\n", check_progress_here->taken, worlds);
}

static void all_in_an_open_store(void) { run_together(__func__, in_an_open_store); }

static void all_after_a_change(void) { run_together(__func__, after_a_change); }

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    if (getenv("QUIRE_SLOW")) {
        RUN(all_in_an_open_store);
        RUN(all_after_a_change);
        return RESULT();
    }
    /* Behind others all calls run in each turn, so that each function is called with each argument. */
    run_place("in an open store", in_an_open_store, true, 8);
    run_place("in an open store, behind others", in_an_open_store, false, 1);
    run_place("in a closed store", in_a_closed_store, false, 1);
    run_place("before a change", before_a_change, false, 1);
    run_place("after a change", after_a_change, false, 1);
    run_place("from a log", from_a_log, false, 1);
    return RESULT();
}
