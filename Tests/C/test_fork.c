/* A forked process: what has a file is the parent's alone, what is memory is as good as before. */
#include "fixture.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256], path[300], other_path[300];

static void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
    snprintf(other_path, sizeof other_path, "%s/other.sqlite", folder);
}

/* Runs `body` in a child, which ends as programs do; its checks are the test's. */
static void in_a_child(void (*body)(void *data), void *data) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(PATIENCE);
        body(data);
        /* What the test holds for the parent would be lost to valgrind, which does not look where another program goes on. */
        if (getenv("QUIRE_SLOW")) execl("/bin/true", "true", (char *)NULL);
        exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int64_t count_books(quire_context *context) {
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    int64_t count = -1;
    CHECK_OK(quire_context_count(context, request, &count, &error));
    quire_fetch_request_release(request);
    return count;
}

typedef struct scene {
    fixture made;
    quire_object *book;
    quire_list *list;
    quire_results *results;
    quire_fetch_request *request;
    quire_page *page;
    quire_changes *changes;
    quire_snapshot *snapshot;
    quire_predicate *predicate;
    quire_error *failure;
    const char *title;
} scene;

static void open_scene(scene *scene) {
    use_folder();
    memset(scene, 0, sizeof *scene);
    scene->made = open_fixture_at(path);
    scene->book = insert_book(scene->made.context, "Faust, the first part of the tragedy", 300);
    save(scene->made.context);
    scene->request = new_request("Book", NULL, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.queues_changes = true;
    CHECK_OK(quire_results_create(scene->made.context, scene->request, &options, &scene->results, &error));
    CHECK_OK(quire_results_fetch(scene->results, &error));
    CHECK_OK(quire_context_fetch(scene->made.context, scene->request, &scene->list, &error));
    const char *const keys[] = {"pages"};
    CHECK_OK(quire_list_page(scene->list, 0, 1, keys, 1, 0, &scene->page, &error));
    quire_object_release(insert_book(scene->made.context, "Stella", 100));
    CHECK_OK(quire_context_process(scene->made.context, &error));
    CHECK_OK(quire_results_next_changes(scene->results, &scene->changes, &error));
    CHECK_OK(quire_results_snapshot(scene->results, &scene->snapshot, &error));
    CHECK_OK(quire_predicate_parse("SELF > 5", QUIRE_NUL, NULL, 0, &scene->predicate, &error));
    CHECK(quire_context_insert(scene->made.context, "None", QUIRE_NUL, &(quire_object *){NULL}, &scene->failure) != QUIRE_OK);
    scene->title = get_text(scene->book, "title");
}

static void release_all(scene *scene) {
    quire_predicate_release(scene->predicate);
    quire_snapshot_release(scene->snapshot);
    quire_changes_release(scene->changes);
    quire_page_release(scene->page);
    quire_results_release(scene->results);
    quire_list_release(scene->list);
    quire_fetch_request_release(scene->request);
    quire_object_release(scene->book);
    quire_error_release(scene->failure);
    close_fixture(scene->made);
}

static void find_it_closed(void *data) {
    scene *scene = data;
    quire_context *context = scene->made.context, *another = NULL;
    quire_object *object = NULL;
    quire_list *list = NULL;
    int64_t count = 0;
    quire_value value = quire_value_nil();
    const quire_value pages = quire_value_integer(7);
    CHECK_FAILS(QUIRE_CLOSED, quire_context_check_entry(context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_save(context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_insert(context, "Book", QUIRE_NUL, &object, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_fetch(context, scene->request, &list, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_count(context, scene->request, &count, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_rollback(context, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_create(scene->made.store, &another, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_create_child(context, &another, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_object_get(scene->book, "title", QUIRE_NUL, &value, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_object_set(scene->book, "pages", QUIRE_NUL, &pages, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_list_object(scene->list, 0, &object, &error));
    CHECK_FAILS(QUIRE_CLOSED, quire_results_object(scene->results, 0, 0, &object, &error));
    CHECK(quire_results_count(scene->results) == 0 && !quire_store_is_open(scene->made.store));
    CHECK_OK(quire_store_close(scene->made.store, &error));

    /* What the message says is what helps. */
    quire_error *failure = NULL;
    CHECK(quire_context_save(context, &failure) == QUIRE_CLOSED);
    CHECK(strstr(quire_error_message(failure).data, "forked") && strstr(quire_error_message(failure).data, "before the fork"));
    quire_error_release(failure);
}

static void a_store_of_the_parent_is_closed_in_the_child_and_the_parent_goes_on(void) {
    scene scene;
    open_scene(&scene);
    in_a_child(find_it_closed, &scene);
    CHECK(quire_store_is_open(scene.made.store));
    save(scene.made.context);
    CHECK(count_books(scene.made.context) == 2);
    in_a_child(find_it_closed, &scene);
    release_all(&scene);
    remove_folder(folder);
}

static void give_everything_back(void *data) { release_all(data); }

static void what_the_child_gives_back_the_parent_keeps(void) {
    scene scene;
    open_scene(&scene);
    /* With a transaction's worth of pending changes, which the child drops without a word to the file. */
    in_a_child(give_everything_back, &scene);
    CHECK(strcmp(scene.title, "Faust, the first part of the tragedy") == 0);
    set_value(scene.book, "pages", quire_value_integer(301));
    save(scene.made.context);
    CHECK(count_books(scene.made.context) == 2);
    release_all(&scene);
    fixture again = open_fixture_at(path);
    CHECK(count_books(again.context) == 2);
    close_fixture(again);
    remove_folder(folder);
}

static void a_transaction_goes_on_though_a_child_gives_it_back(void) {
    scene scene;
    open_scene(&scene);
    save(scene.made.context);
    CHECK_OK(quire_context_begin_transaction(scene.made.context, &error));
    quire_object_release(insert_book(scene.made.context, "Tasso", 1));
    save(scene.made.context);
    in_a_child(give_everything_back, &scene);
    quire_object_release(insert_book(scene.made.context, "Egmont", 1));
    save(scene.made.context);
    CHECK_OK(quire_context_commit_transaction(scene.made.context, &error));
    release_all(&scene);
    fixture again = open_fixture_at(path);
    CHECK(count_books(again.context) == 4);
    close_fixture(again);
    remove_folder(folder);
}

static void read_what_is_memory(void *data) {
    scene *scene = data;
    bool matches = false;
    const quire_value six = quire_value_integer(6);
    CHECK_OK(quire_predicate_evaluate(scene->predicate, &six, NULL, 0, &matches, &error));
    CHECK(matches);
    CHECK(*(const int64_t *)quire_page_column(scene->page, 0)->values == 300);
    CHECK(quire_changes_rows(scene->changes).count == 1 && quire_changes_steps(scene->changes).count == 1);
    CHECK(quire_snapshot_count(scene->snapshot) == 2);
    CHECK(quire_error_status(scene->failure) == QUIRE_INVALID_ARGUMENT);
    CHECK(quire_model_entity_count(scene->made.model) > 0);
    CHECK(strcmp(scene->title, "Faust, the first part of the tragedy") == 0);
    /* The model is as good as ever, too, for a file that no process had open. */
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(other_path, QUIRE_NUL, scene->made.model, NULL, &store, &error));
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(store, &context, &error));
    quire_object_release(insert_book(context, "Egmont", 1));
    save(context);
    CHECK(count_books(context) == 1);
    quire_context_release(context);
    quire_store_release(store);
}

static void what_is_memory_alone_goes_on_in_the_child(void) {
    scene scene;
    open_scene(&scene);
    in_a_child(read_what_is_memory, &scene);
    quire_store *store = NULL;
    CHECK_OK(quire_store_open(other_path, QUIRE_NUL, scene.made.model, NULL, &store, &error));
    quire_store_release(store);
    release_all(&scene);
    remove_folder(folder);
}

static void be_refused(void *data) {
    scene *scene = data;
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(path, QUIRE_NUL, scene->made.model, NULL, &store, &error));
    options.is_read_only = true;
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(path, QUIRE_NUL, scene->made.model, &options, &store, &error));
    /* By another name it is the same file. */
    char link_path[320];
    snprintf(link_path, sizeof link_path, "%s-link", path);
    CHECK(link(path, link_path) == 0);
    CHECK_FAILS(QUIRE_CANNOT_OPEN, quire_store_open(link_path, QUIRE_NUL, scene->made.model, NULL, &store, &error));
    CHECK(unlink(link_path) == 0);
}

static void be_refused_in_the_grandchild_too(void *data) {
    be_refused(data);
    in_a_child(be_refused, data);
}

/* SQLite would find the locks of the parent there, take them for its own, and write to a log that the parent removes. */
static void a_file_that_was_open_at_the_fork_is_refused_in_the_child(void) {
    scene scene;
    open_scene(&scene);
    in_a_child(be_refused_in_the_grandchild_too, &scene);
    release_all(&scene);
    remove_folder(folder);
}

static void add_a_book(void *data) {
    (void)data;
    fixture made = open_fixture_at(path);
    quire_object_release(insert_book(made.context, "Egmont", 1));
    save(made.context);
    close_fixture(made);
}

static void a_file_that_was_closed_before_the_fork_is_opened_by_each(void) {
    use_folder();
    add_a_book(NULL);
    in_a_child(add_a_book, NULL);
    add_a_book(NULL);
    in_a_child(add_a_book, NULL);
    fixture made = open_fixture_at(path);
    CHECK(count_books(made.context) == 4);
    quire_store_release(made.store);
    CHECK_OK(quire_store_close(made.store, &error));
    in_a_child(add_a_book, NULL);
    quire_context_release(made.context);
    quire_model_release(made.model);
    made = open_fixture_at(path);
    CHECK(count_books(made.context) == 5);
    close_fixture(made);
    remove_folder(folder);
}

static pthread_barrier_t start;

/* Everything that the library makes when it is first asked for, in a file of its own. */
static void *work_at_once(void *name) {
    char own_path[300];
    snprintf(own_path, sizeof own_path, "%s/%s.sqlite", folder, (const char *)name);
    pthread_barrier_wait(&start);
    fixture made = open_fixture_at(own_path);
    insert_book(made.context, "Faust", 300);
    save(made.context);
    quire_fetch_request *request = new_request("Book", "title CONTAINS[cd] 'fau' AND pages > 20", "title");
    int64_t count = -1;
    CHECK_OK(quire_context_count(made.context, request, &count, &error));
    CHECK(count == 1);
    quire_fetch_request_release(request);
    close_fixture(made);
    return NULL;
}

static void work_with_four_threads(void *unused) {
    (void)unused;
    static const char *const names[] = {"a", "b", "c"};
    pthread_t threads[3];
    pthread_barrier_init(&start, NULL, 4);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work_at_once, (void *)(uintptr_t)names[i]) == 0);
    work_at_once("d");
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&start);
}

/* A lock of the runtime knows its thread by a number that is another one in the child. */
static void threads_of_a_child_may_begin_together(void) {
    quire_model_release(quire_model_create());
    /* Valgrind runs one thread at a time. */
    const int children = getenv("QUIRE_SLOW") ? 1 : 20;
    for (int i = 0; i < children; i++) {
        use_folder();
        in_a_child(work_with_four_threads, NULL);
        remove_folder(folder);
    }
}

typedef struct followed {
    quire_context *context;
    quire_results *results;
} followed;

static void give_back(void *data) {
    const followed *followed = data;
    quire_error *failure = NULL;
    CHECK(quire_context_process(followed->context, &failure) == QUIRE_CLOSED);
    quire_error_release(failure);
    quire_results_release(followed->results);
    quire_context_release(followed->context);
}

/* Such a thread does not exist in the child. */
static void a_child_does_not_wait_for_what_a_thread_of_the_store_works_out(void) {
    enum { BOOKS = 1500 };
    fixture made = open_fixture();
    static quire_object *books[BOOKS];
    for (int i = 0; i < BOOKS; i++) books[i] = insert_book(made.context, "Faust", i);
    save(made.context);
    followed followed;
    quire_fetch_request *request = new_request("Book", NULL, "pages");
    CHECK_OK(quire_context_create(made.store, &followed.context, &error));
    CHECK_OK(quire_context_set_merges_automatically(followed.context, true, &error));
    CHECK_OK(quire_results_create(followed.context, request, NULL, &followed.results, &error));
    CHECK_OK(quire_results_fetch(followed.results, &error));
    const int children = getenv("QUIRE_SLOW") ? 2 : 20;
    for (int child = 0; child < children; child++) {
        for (int i = 0; i < BOOKS; i++) set_value(books[i], "pages", quire_value_integer(child * 7 + i + 1));
        save(made.context);
        usleep((useconds_t)(child * 300));
        in_a_child(give_back, &followed);
        CHECK_OK(quire_context_process(followed.context, &error));
    }
    quire_results_release(followed.results);
    quire_context_release(followed.context);
    quire_fetch_request_release(request);
    for (int i = 0; i < BOOKS; i++) quire_object_release(books[i]);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(a_child_does_not_wait_for_what_a_thread_of_the_store_works_out);
    RUN(a_store_of_the_parent_is_closed_in_the_child_and_the_parent_goes_on);
    RUN(what_the_child_gives_back_the_parent_keeps);
    RUN(a_transaction_goes_on_though_a_child_gives_it_back);
    RUN(what_is_memory_alone_goes_on_in_the_child);
    RUN(a_file_that_was_open_at_the_fork_is_refused_in_the_child);
    RUN(a_file_that_was_closed_before_the_fork_is_opened_by_each);
    RUN(threads_of_a_child_may_begin_together);
    return RESULT();
}
