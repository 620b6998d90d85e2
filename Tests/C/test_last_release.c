/* The last reference to a context goes in the midst of a call: the call is finished as if it had stayed. */
#include <stdatomic.h>

#include "transaction.h"

/* From where the reference is let go of. */
typedef enum when {
    AWAKE, WILL_SAVE, VALIDATE, DID_SAVE, WILL_CHANGE, DID_CHANGE, CHANGES, INSERTION, SAVEPOINT, COMMIT, PROGRESS, MOMENTS
} when;

typedef struct leaving {
    scene scene;
    quire_results *results;
    when moment;
    bool is_armed;
    int acts;
} leaving;

/* All that the program holds of the context. */
static void let_go(leaving *leaving, when moment) {
    if (!leaving->is_armed || leaving->moment != moment) return;
    leaving->is_armed = false;
    leaving->acts++;
    quire_context *context = leaving->scene.made.context;
    quire_results *results = leaving->results;
    leaving->scene.made.context = NULL;
    leaving->results = NULL;
    quire_results_release(results);
    quire_context_release(context);
}

static bool awake(void *data, quire_object *object, quire_value *out_reason) {
    (void)object, (void)out_reason;
    let_go(data, AWAKE);
    return true;
}

static bool will_save(void *data, quire_object *object, quire_value *out_reason) {
    (void)object, (void)out_reason;
    let_go(data, WILL_SAVE);
    return true;
}

static bool validate(void *data, quire_object *object, quire_value *out_reason) {
    (void)object, (void)out_reason;
    let_go(data, VALIDATE);
    return true;
}

static void did_save(void *data, quire_object *object) {
    (void)object;
    let_go(data, DID_SAVE);
}

static void before_change(void *data, quire_results *results) {
    (void)results;
    let_go(data, WILL_CHANGE);
}

static void after_change(void *data, quire_results *results) {
    (void)results;
    let_go(data, DID_CHANGE);
}

static void changes_at_once(void *data, quire_results *results, const quire_changes *changes) {
    (void)results, (void)changes;
    let_go(data, CHANGES);
}

static void statement(void *data, const quire_log_entry *entry) {
    if (strncmp(entry->sql.data, "INSERT INTO ZBOOK", 17) == 0) let_go(data, INSERTION);
    if (strncmp(entry->sql.data, "SAVEPOINT", 9) == 0) let_go(data, SAVEPOINT);
    if (strncmp(entry->sql.data, "COMMIT", 6) == 0) let_go(data, COMMIT);
}

static bool report(void *data, uint64_t rows) {
    (void)rows;
    let_go(data, PROGRESS);
    return true;
}

static void open_leaving(leaving *leaving) {
    leaving->scene = open_scene(0);
    quire_hooks hooks = QUIRE_HOOKS_INIT;
    hooks.user_data = leaving;
    hooks.awake_from_insert = awake;
    hooks.will_save = will_save;
    hooks.validate = validate;
    hooks.did_save = did_save;
    CHECK_OK(quire_context_set_hooks(leaving->scene.made.context, NULL, 0, &hooks, &error));
    quire_log log = QUIRE_LOG_INIT;
    log.user_data = leaving;
    log.statement = statement;
    CHECK_OK(quire_store_set_log(leaving->scene.made.store, &log, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    CHECK_OK(quire_results_create(leaving->scene.made.context, request, NULL, &leaving->results, &error));
    quire_fetch_request_release(request);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = leaving;
    delegate.will_change = before_change;
    delegate.did_change = after_change;
    delegate.changes = changes_at_once;
    CHECK_OK(quire_results_set_delegate(leaving->results, &delegate, &error));
    CHECK_OK(quire_results_fetch(leaving->results, &error));
}

/* Another context of the store finds these books, and no transaction. */
static void close_leaving(leaving *leaving, const char *expected) {
    const char *found = titles(leaving->scene.made.store);
    if (strcmp(found, expected) != 0) fprintf(stderr, "    [%s] in moment %d\n", found, leaving->moment);
    CHECK(strcmp(found, expected) == 0);
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(leaving->scene.made.store, &other, &error));
    begin(other);
    roll_back(other);
    quire_context_release(other);
    quire_results_release(leaving->results);
    CHECK(strcmp(titles(leaving->scene.outside.store), expected) == 0);
    close_scene(leaving->scene);
}

static void insert_three(quire_context *context) {
    add_book(context, "Egmont", 1);
    add_book(context, "Faust", 2);
    add_book(context, "Stella", 3);
}

static void save_writes_everything_though_the_last_reference_goes_meanwhile(void) {
    for (when moment = WILL_SAVE; moment <= COMMIT; moment++) {
        leaving leaving = {.moment = moment};
        open_leaving(&leaving);
        quire_context *context = leaving.scene.made.context;
        insert_three(context);
        leaving.is_armed = true;
        CHECK_OK(quire_context_save(context, &error));
        CHECK(leaving.acts == (moment != SAVEPOINT));
        close_leaving(&leaving, "Egmont,Faust,Stella");
    }
}

static void transaction_is_taken_back_when_a_save_in_it_lets_go_of_the_context(void) {
    for (when moment = WILL_SAVE; moment <= SAVEPOINT; moment++) {
        leaving leaving = {.moment = moment};
        open_leaving(&leaving);
        quire_context *context = leaving.scene.made.context;
        begin(context);
        insert_three(context);
        leaving.is_armed = true;
        CHECK_OK(quire_context_save(context, &error));
        CHECK(leaving.acts == 1);
        close_leaving(&leaving, "");
    }
}

static void commit_writes_everything_though_the_last_reference_goes_meanwhile(void) {
    for (when moment = WILL_SAVE; moment <= COMMIT; moment++) {
        leaving leaving = {.moment = moment};
        open_leaving(&leaving);
        quire_context *context = leaving.scene.made.context;
        begin(context);
        insert_three(context);
        leaving.is_armed = true;
        CHECK_OK(quire_context_commit_transaction(context, &error));
        CHECK(leaving.acts == 1);
        close_leaving(&leaving, "Egmont,Faust,Stella");
    }
}

static void batch_insertion_is_whole_though_its_progress_lets_go_of_the_context(void) {
    enum { ROWS = 40000 };
    static quire_value values[ROWS];
    static const char *const keys[] = {"title"};
    const quire_value *const columns[] = {values};
    for (int i = 0; i < ROWS; i++) values[i] = quire_value_text("Faust");
    for (int in_transaction = 0; in_transaction < 2; in_transaction++) {
        leaving leaving = {.moment = PROGRESS};
        open_leaving(&leaving);
        quire_context *context = leaving.scene.made.context;
        if (in_transaction) begin(context);
        quire_progress progress = QUIRE_PROGRESS_INIT;
        progress.interval_milliseconds = 1;
        progress.user_data = &leaving;
        progress.report = report;
        quire_batch_options options = QUIRE_BATCH_OPTIONS_INIT;
        options.progress = &progress;
        leaving.is_armed = true;
        CHECK_OK(quire_context_batch_insert(
            context, "Book", QUIRE_NUL, keys, columns, 1, ROWS, &options, NULL, NULL, &error));
        CHECK(leaving.acts == 1);
        quire_context *other = NULL;
        CHECK_OK(quire_context_create(leaving.scene.made.store, &other, &error));
        CHECK(count(other, "Book", NULL) == (in_transaction ? 0 : ROWS));
        CHECK_OK(quire_context_begin_transaction(other, &error));
        quire_context_release(other);
        close_scene(leaving.scene);
    }
}

/* The object that the call gives is a reference to its context like any other. */
static void context_goes_on_when_the_call_gives_a_reference_to_it(void) {
    leaving leaving = {.moment = AWAKE};
    open_leaving(&leaving);
    quire_context *context = leaving.scene.made.context;
    begin(context);
    leaving.is_armed = true;
    quire_object *book = NULL;
    CHECK_OK(quire_context_insert(context, "Book", QUIRE_NUL, &book, &error));
    CHECK(leaving.acts == 1 && quire_object_context(book) == context);
    set_text(book, "title", "Faust");
    CHECK_OK(quire_context_commit_transaction(context, &error));
    CHECK(strcmp(get_text(book, "title"), "Faust") == 0);
    quire_object_release(book);
    close_leaving(&leaving, "Faust");
}

/* A child and its parent are entered as one. */
static void child_may_be_let_go_of_in_the_save_that_it_makes(void) {
    leaving leaving = {.moment = WILL_CHANGE};
    open_leaving(&leaving);
    quire_context *parent = leaving.scene.made.context, *child = NULL;
    CHECK_OK(quire_context_create_child(parent, &child, &error));
    add_book(child, "Faust", 1);
    leaving.scene.made.context = child;
    leaving.is_armed = true;
    CHECK_OK(quire_context_save(child, &error));
    CHECK(leaving.acts == 1 && quire_context_has_changes(parent));
    save(parent);
    leaving.scene.made.context = parent;
    close_leaving(&leaving, "Faust");
}

static fixture held;

static void release_held(void *data, const quire_log_entry *entry) {
    (void)data;
    if (strncmp(entry->sql.data, "ROLLBACK", 8) != 0 || !held.context) return;
    quire_context *context = held.context;
    held.context = NULL;
    quire_context_release(context);
}

static void close_logs_its_rollback_to_a_log_that_lets_go_of_the_holder(void) {
    scene scene = open_scene(0);
    held = scene.made;
    quire_log log = QUIRE_LOG_INIT;
    log.statement = release_held;
    CHECK_OK(quire_store_set_log(held.store, &log, &error));
    begin(held.context);
    save_book(held.context, "Faust", 1);
    CHECK_OK(quire_store_close(held.store, &error));
    CHECK(!held.context);
    scene.made.context = NULL;
    CHECK(strcmp(titles(scene.outside.store), "") == 0);
    close_scene(scene);
}

static quire_object *last;
static atomic_int statement_count;

/* Only a call that is under way keeps the context: after a release before that there is no context to save. */
static void note_statement(void *data, const quire_log_entry *entry) {
    (void)data;
    (void)entry;
    statement_count++;
}

static void *release_last(void *least) {
    while (statement_count < *(const int *)least) sched_yield();
    quire_object_release(last);
    return NULL;
}

static void last_reference_may_go_on_another_thread_during_a_save(void) {
    enum { ROWS = 4000 };
    static quire_value values[ROWS];
    static const char *const keys[] = {"title"};
    const quire_value *const columns[] = {values};
    for (int i = 0; i < ROWS; i++) values[i] = quire_value_text("Faust");
    const int rounds = getenv("QUIRE_SLOW") ? 6 : 40;
    for (int round = 0; round < rounds; round++) {
        const bool in_transaction = round % 2;
        fixture made = open_fixture();
        if (in_transaction) begin(made.context);
        CHECK_OK(quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 1, ROWS, NULL, &error));
        last = insert_book(made.context, "Stella", 1);
        quire_context *context = made.context;
        quire_context_release(context);
        quire_log log = QUIRE_LOG_INIT;
        log.statement = note_statement;
        statement_count = 0;
        CHECK_OK(quire_store_set_log(made.store, &log, &error));
        /* The later ones come after the save. */
        const int least = 1 + round / 2 * (ROWS / 16);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, release_last, (void *)&least) == 0);
        const quire_status status = quire_context_save(context, NULL);
        statement_count += least;
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_OK(quire_context_create(made.store, &made.context, &error));
        CHECK(status == QUIRE_OK);
        CHECK(count(made.context, "Book", NULL) == (in_transaction ? 0 : ROWS + 1));
        close_fixture(made);
    }
}

/* The end of a child on another thread does not turn calls on its parent away. */
static void *release_child(void *child) {
    quire_context_release(child);
    return NULL;
}

static void child_may_end_on_another_thread_while_its_parent_is_used(void) {
    fixture made = open_fixture();
    const int rounds = getenv("QUIRE_SLOW") ? 20 : 200;
    for (int round = 0; round < rounds; round++) {
        quire_context *child = NULL;
        CHECK_OK(quire_context_create_child(made.context, &child, &error));
        for (int i = 0; i < 20; i++) add_book(child, "Faust", i);
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, release_child, child) == 0);
        for (int i = 0; i < 50; i++) add_book(made.context, "Stella", i);
        CHECK(pthread_join(thread, NULL) == 0);
        CHECK_OK(quire_context_rollback(made.context, &error));
    }
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(save_writes_everything_though_the_last_reference_goes_meanwhile);
    RUN(transaction_is_taken_back_when_a_save_in_it_lets_go_of_the_context);
    RUN(commit_writes_everything_though_the_last_reference_goes_meanwhile);
    RUN(batch_insertion_is_whole_though_its_progress_lets_go_of_the_context);
    RUN(context_goes_on_when_the_call_gives_a_reference_to_it);
    RUN(child_may_be_let_go_of_in_the_save_that_it_makes);
    RUN(close_logs_its_rollback_to_a_log_that_lets_go_of_the_holder);
    RUN(last_reference_may_go_on_another_thread_during_a_save);
    RUN(child_may_end_on_another_thread_while_its_parent_is_used);
    return RESULT();
}
