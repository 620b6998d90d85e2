/* Two threads in one context: the second is refused with a status, never let in, never made to wait. */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct scene {
    fixture made;
    quire_object *book, *author;
    quire_list *list;
    quire_results *results;
    quire_fetch_request *request;
    quire_predicate *predicate;
    bool was_called;
} scene;

#define REFUSED(call) CHECK((call) == QUIRE_WRONG_THREAD)

static void context_refuses(const scene *scene) {
    quire_context *context = scene->made.context;
    quire_object *object = scene->book;
    quire_list *list = scene->list;
    int64_t number = 7;
    int descriptor = 7;
    REFUSED(quire_context_insert(context, "Book", QUIRE_NUL, &object, NULL));
    CHECK(object == NULL);
    REFUSED(quire_context_delete(context, scene->book, NULL));
    REFUSED(quire_context_object(context, "Book", QUIRE_NUL, 1, &object, NULL));
    REFUSED(quire_context_object_for_uri(context, "x-coredata:///Book/p1", QUIRE_NUL, &object, NULL));
    REFUSED(quire_context_pending(context, QUIRE_PENDING_INSERTED, &list, NULL));
    CHECK(list == NULL);
    REFUSED(quire_context_fetch(context, scene->request, &list, NULL));
    REFUSED(quire_context_count(context, scene->request, &number, NULL));
    REFUSED(quire_context_process(context, NULL));
    REFUSED(quire_context_process_pending(context, NULL));
    REFUSED(quire_context_check_entry(context, NULL));
    CHECK(quire_context_next_list_with_changes(context, 0) == 0);
    REFUSED(quire_context_merge(context, NULL));
    REFUSED(quire_context_save(context, NULL));
    REFUSED(quire_context_rollback(context, NULL));
    REFUSED(quire_context_begin_transaction(context, NULL));
    REFUSED(quire_context_commit_transaction(context, NULL));
    REFUSED(quire_context_rollback_transaction(context, NULL));
    CHECK(!quire_context_is_in_transaction(context));
    REFUSED(quire_context_reset(context, NULL));
    REFUSED(quire_context_refresh(context, scene->book, true, NULL));
    REFUSED(quire_context_refresh_all(context, NULL));
    REFUSED(quire_context_obtain_permanent_ids(context, NULL));
    REFUSED(quire_context_set_merges_automatically(context, true, NULL));
    REFUSED(quire_context_set_merge_policy(context, QUIRE_MERGE_OVERWRITE, NULL));
    REFUSED(quire_context_set_merge_handler(context, NULL, NULL));
    REFUSED(quire_context_set_hooks(context, NULL, 0, NULL, NULL));
    REFUSED(quire_context_descriptor(context, &descriptor, NULL));
    static const char *const keys[] = {"title"};
    const quire_value titles[] = {quire_value_text("Stella")}, *const columns[] = {titles};
    REFUSED(quire_context_insert_rows(context, "Book", QUIRE_NUL, keys, columns, 1, 1, &number, NULL));
    REFUSED(quire_context_batch_insert(context, "Book", QUIRE_NUL, keys, columns, 1, 1, NULL, &number, &list, NULL));
    REFUSED(quire_context_batch_update(context, scene->request, keys, titles, 1, NULL, &number, &list, NULL));
    REFUSED(quire_context_batch_delete(context, scene->request, NULL, &number, &list, NULL));
    CHECK(!quire_context_has_changes(context) && quire_context_merge_policy(context) == QUIRE_MERGE_ERROR);
}

static void object_refuses(const scene *scene) {
    quire_object *book = scene->book, *other = scene->book;
    quire_list *list = scene->list;
    quire_value value = quire_value_integer(7);
    const quire_value pages = quire_value_integer(8);
    static const char *const keys[] = {"pages"};
    quire_string changed[4];
    size_t count = 7;
    bool matches = true;
    REFUSED(quire_object_get(book, "pages", QUIRE_NUL, &value, NULL));
    CHECK(value.kind == QUIRE_VALUE_NIL);
    REFUSED(quire_object_get_committed(book, "pages", QUIRE_NUL, &value, NULL));
    REFUSED(quire_object_set(book, "pages", QUIRE_NUL, &pages, NULL));
    REFUSED(quire_object_set_values(book, keys, &pages, 1, NULL));
    REFUSED(quire_object_get_object(book, "author", QUIRE_NUL, &other, NULL));
    CHECK(other == NULL);
    REFUSED(quire_object_get_objects(scene->author, "books", QUIRE_NUL, &list, NULL));
    REFUSED(quire_object_get_committed_objects(scene->author, "books", QUIRE_NUL, &list, NULL));
    REFUSED(quire_object_add(scene->author, "books", QUIRE_NUL, book, NULL));
    REFUSED(quire_object_remove(scene->author, "books", QUIRE_NUL, book, NULL));
    REFUSED(quire_object_changed_keys(book, changed, 4, &count, NULL));
    REFUSED(quire_object_validate(book, NULL));
    REFUSED(quire_object_validate_value(book, "pages", QUIRE_NUL, &pages, NULL));
    REFUSED(quire_predicate_matches(scene->predicate, book, &matches, NULL));
    CHECK(quire_object_id(book) == 0 && quire_object_uri(book).data == NULL && !quire_object_is_fault(book));
    CHECK(!quire_object_is_inserted(book) && !quire_object_is_updated(book) && !quire_object_is_deleted(book));
}

static void list_and_results_refuse(const scene *scene) {
    quire_object *object = scene->book;
    quire_page *page = NULL;
    quire_section section = QUIRE_SECTION_INIT;
    quire_index_path path;
    quire_evaluation *explanation = NULL;
    int64_t ids[1] = {7}, rows[1] = {0};
    REFUSED(quire_list_object(scene->list, 0, &object, NULL));
    CHECK(object == NULL);
    REFUSED(quire_list_ids(scene->list, 0, 1, ids, NULL));
    REFUSED(quire_list_page(scene->list, 0, 1, NULL, 0, 0, &page, NULL));
    REFUSED(quire_results_fetch(scene->results, NULL));
    REFUSED(quire_results_section(scene->results, 0, &section, NULL));
    REFUSED(quire_results_sections(scene->results, 0, &page, NULL));
    REFUSED(quire_results_object(scene->results, 0, 0, &object, NULL));
    REFUSED(quire_results_index_path(scene->results, scene->book, &path, NULL));
    REFUSED(quire_results_ids(scene->results, 0, 1, ids, NULL));
    REFUSED(quire_results_positions(scene->results, ids, 1, rows, NULL));
    REFUSED(quire_results_section_of(scene->results, rows, 1, ids, NULL));
    REFUSED(quire_results_page(scene->results, 0, 1, NULL, 0, 0, &page, NULL));
    REFUSED(quire_results_set_delegate(scene->results, NULL, NULL));
    REFUSED(quire_fetch_request_explain(scene->request, scene->made.context, &explanation, NULL));
    CHECK(page == NULL && explanation == NULL);
    CHECK(quire_results_count(scene->results) == 0 && quire_results_section_count(scene->results) == 0);
}

/* What the second thread does while the first is in the context. */
static void *meddle(void *data) {
    const scene *scene = data;
    context_refuses(scene);
    object_refuses(scene);
    list_and_results_refuse(scene);
    /* The error tells what to do. */
    CHECK_FAILS(QUIRE_WRONG_THREAD, quire_context_save(scene->made.context, &error));
    /* References are counted anywhere, and so is what a handle is made of read. */
    quire_object_release(quire_object_retain(scene->book));
    quire_context_release(quire_context_retain(scene->made.context));
    CHECK(quire_object_context(scene->book) == scene->made.context);
    CHECK_TEXT(quire_object_entity(scene->book), "Book");
    return NULL;
}

static void let_another_in(void *data, quire_results *results) {
    (void)results;
    scene *scene = data;
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, meddle, scene) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    scene->was_called = true;
}

static void a_second_thread_is_refused_by_every_call(void) {
    scene scene = {.made = open_fixture()};
    scene.book = insert_book(scene.made.context, "Faust", 300);
    scene.author = insert(scene.made.context, "Author");
    set_value(scene.book, "author", quire_value_object(scene.author));
    save(scene.made.context);
    scene.request = new_request("Book", NULL, "title");
    scene.list = fetch(scene.made.context, "Book", NULL, "title");
    CHECK_OK(quire_predicate_parse("pages > 100", QUIRE_NUL, NULL, 0, &scene.predicate, &error));
    CHECK_OK(quire_results_create(scene.made.context, scene.request, NULL, &scene.results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = &scene;
    delegate.will_change = let_another_in;
    CHECK_OK(quire_results_set_delegate(scene.results, &delegate, &error));
    CHECK_OK(quire_results_fetch(scene.results, &error));

    set_text(scene.book, "title", "Faust I");
    CHECK_OK(quire_context_process(scene.made.context, &error));

    CHECK(scene.was_called && quire_results_count(scene.results) == 1);
    CHECK(get_value(scene.book, "pages").as.integer == 300 && strcmp(get_text(scene.book, "title"), "Faust I") == 0);
    quire_results_release(scene.results);
    quire_list_release(scene.list);
    quire_predicate_release(scene.predicate);
    quire_fetch_request_release(scene.request);
    quire_object_release(scene.author);
    quire_object_release(scene.book);
    close_fixture(scene.made);
}

enum { RACERS = 4 };

static quire_context *contested;
static atomic_long inserted, refused;

/* The call came to something, or another thread was inside. */
static bool came(quire_status status) {
    if (status == QUIRE_WRONG_THREAD) atomic_fetch_add(&refused, 1);
    else CHECK(status == QUIRE_OK);
    return status == QUIRE_OK;
}

/* As a program does that has not understood whose the context is. Text that is borrowed it must not touch. */
static void *race(void *data) {
    quire_fetch_request *request = data;
    /* Where there is one processor, threads have to be interrupted inside to meet. */
    for (int i = 0; atomic_load(&refused) < 100 || atomic_load(&inserted) < 100; i++) {
        quire_object *book = NULL;
        if (came(quire_context_insert(contested, "Book", QUIRE_NUL, &book, NULL))) {
            atomic_fetch_add(&inserted, 1);
            const quire_value title = quire_value_text("Faust"), pages = quire_value_integer(i);
            quire_value read;
            while (!came(quire_object_set(book, "title", QUIRE_NUL, &title, NULL))) continue;
            if (came(quire_object_set(book, "pages", QUIRE_NUL, &pages, NULL)) && came(quire_object_get(book, "pages", 5, &read, NULL)))
                CHECK(read.as.integer == i);
            quire_object_release(book);
        }
        int64_t number = 0;
        if (i % 8 == 0) came(quire_context_count(contested, request, &number, NULL));
        if (i % 16 == 0) came(quire_context_process(contested, NULL));
    }
    return NULL;
}

static void racing_threads_are_let_in_one_at_a_time(void) {
    fixture made = open_fixture();
    contested = made.context;
    quire_fetch_request *request = new_request("Book", "pages > 10", "title");
    pthread_t threads[RACERS];
    for (int i = 0; i < RACERS; i++) CHECK(pthread_create(&threads[i], NULL, race, request) == 0);
    for (int i = 0; i < RACERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);

    save(made.context);
    CHECK(count(made.context, "Book", NULL) == atomic_load(&inserted));
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void *change_and_save(void *data) {
    quire_object *book = data;
    set_value(book, "pages", quire_value_integer(get_value(book, "pages").as.integer + 1));
    save(quire_object_context(book));
    return NULL;
}

static void a_context_goes_from_thread_to_thread(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    for (int i = 0; i < 8; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, change_and_save, book) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(get_value(book, "pages").as.integer == 308 && count(made.context, "Book", "pages == 308") == 1);
    quire_object_release(book);
    close_fixture(made);
}

/* What is read of these by several threads at once is what one alone reads. */
typedef struct reading {
    quire_page *page;
    quire_changes *changes;
    quire_snapshot *earlier, *later;
    quire_evaluation *evaluation;
    quire_section_rule *rule;
    quire_error *failure;
} reading;

static int64_t read_all(const reading *from) {
    int64_t sum = quire_page_row_count(from->page);
    for (int64_t i = 0; i < quire_page_column_count(from->page); i++) {
        const quire_column *column = quire_page_column(from->page, i);
        for (int64_t row = 0; row < column->length; row++)
            sum += column->type == QUIRE_COLUMN_INTEGER ? ((const int64_t *)column->values)[row] : column->offsets[row];
    }
    const quire_change_array rows = quire_changes_rows(from->changes);
    for (int64_t i = 0; i < rows.count; i++) sum += quire_change_at(rows, i)->new_flat;
    const quire_step_array steps = quire_changes_steps(from->changes);
    for (int64_t i = 0; i < steps.count; i++) sum += quire_step_at(steps, i)->flat;
    for (uint32_t order = QUIRE_PLAN_BEFORE_CHILD; order <= QUIRE_PLAN_BATCH; order++) {
        quire_step_array plan;
        CHECK(quire_changes_plan(from->changes, order, true, &plan, NULL) == QUIRE_OK);
        for (int64_t i = 0; i < plan.count; i++) sum += quire_step_at(plan, i)->flat;
    }
    const int64_t old_rows[] = {0, 1, 2, 3};
    int64_t new_rows[4];
    CHECK(quire_changes_map_positions(from->changes, old_rows, 4, new_rows, NULL) == QUIRE_OK);
    for (int i = 0; i < 4; i++) sum += new_rows[i];
    quire_changes *between = NULL;
    CHECK(quire_snapshot_changes(from->earlier, from->later, &between, NULL) == QUIRE_OK);
    sum += quire_changes_rows(between).count;
    quire_changes_release(between);
    const quire_value *list = quire_evaluation_value(from->evaluation);
    for (uint32_t i = 0; i < list->size; i++) sum += list->as.list[i].as.integer;
    sum += (int64_t)quire_error_message(from->failure).size;
    quire_page_release(quire_page_retain(from->page));
    quire_changes_release(quire_changes_retain(from->changes));
    quire_evaluation_release(quire_evaluation_retain(from->evaluation));
    quire_section_rule_release(quire_section_rule_retain(from->rule));
    return sum;
}

static void *read_repeatedly(void *data) {
    int64_t first = read_all(data);
    for (int i = 0; i < 200; i++) CHECK(read_all(data) == first);
    return (void *)(intptr_t)first;
}

static void what_was_read_is_read_by_any_thread_while_the_context_goes_on(void) {
    fixture made = open_fixture();
    quire_object *books[20];
    for (int i = 0; i < 20; i++) books[i] = insert_book(made.context, i % 2 ? "Faust" : "Stella", i);
    save(made.context);
    quire_fetch_request *request = new_request("Book", NULL, "pages");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    options.section_key_path = "title";
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, &options, &results, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    reading from = {0};
    CHECK_OK(quire_results_snapshot(results, &from.earlier, &error));
    for (int i = 0; i < 20; i += 3) set_value(books[i], "pages", quire_value_integer(100 - i));
    CHECK_OK(quire_context_delete(made.context, books[1], &error));
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK_OK(quire_results_next_changes(results, &from.changes, &error));
    CHECK_OK(quire_results_snapshot(results, &from.later, &error));
    const char *const keys[] = {"title", "pages"};
    CHECK_OK(quire_results_page(results, 0, quire_results_count(results), keys, 2, 0, &from.page, &error));
    quire_expression *expression = NULL;
    CHECK_OK(quire_expression_parse("{1, 2, 3 + 4}", QUIRE_NUL, NULL, 0, &expression, &error));
    const quire_value nil = quire_value_nil();
    CHECK_OK(quire_expression_evaluate(expression, &nil, NULL, 0, &from.evaluation, &error));
    CHECK_OK(quire_section_rule_create("title", QUIRE_NUL, NULL, &from.rule, &error));
    quire_object *none = NULL;
    CHECK(quire_context_insert(made.context, "None", QUIRE_NUL, &none, &from.failure) == QUIRE_INVALID_ARGUMENT);

    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, read_repeatedly, &from) == 0);
    for (int i = 0; i < 50; i++) {
        set_value(books[2], "pages", quire_value_integer(i));
        set_text(books[4], "title", i % 2 ? "Faust" : "Stella");
        save(made.context);
    }
    for (int i = 0; i < 20; i++) quire_object_release(books[i]);
    quire_results_release(results);
    close_fixture(made);
    int64_t sums[4];
    for (int i = 0; i < 4; i++) {
        void *sum = NULL;
        CHECK(pthread_join(threads[i], &sum) == 0);
        sums[i] = (intptr_t)sum;
    }
    CHECK(sums[0] == sums[1] && sums[1] == sums[2] && sums[2] == sums[3] && sums[0] == read_all(&from));
    quire_page_release(from.page);
    quire_changes_release(from.changes);
    quire_snapshot_release(from.earlier);
    quire_snapshot_release(from.later);
    quire_evaluation_release(from.evaluation);
    quire_section_rule_release(from.rule);
    quire_error_release(from.failure);
    quire_expression_release(expression);
    quire_fetch_request_release(request);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_second_thread_is_refused_by_every_call);
    RUN(racing_threads_are_let_in_one_at_a_time);
    RUN(a_context_goes_from_thread_to_thread);
    RUN(what_was_read_is_read_by_any_thread_while_the_context_goes_on);
    return RESULT();
}
