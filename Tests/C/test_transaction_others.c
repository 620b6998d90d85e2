/* What other contexts, threads and programs see and get while a context has a transaction open. */
#include "transaction.h"

static void others_on_the_thread_read_as_before_and_cannot_write(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    quire_object *faust = insert_book(made.context, "Faust", 300), *theirs = NULL;
    save(made.context);
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK_OK(quire_context_object(other, "Book", QUIRE_NUL, quire_object_id(faust), &theirs, &error));
    CHECK(get_value(theirs, "pages").as.integer == 300);

    begin(made.context);
    set_value(faust, "pages", quire_value_integer(301));
    save(made.context);
    /* What it writes is not committed, and is to be read by no other context. */
    CHECK(count(made.context, "Book", "pages == 301") == 1);
    CHECK(get_value(theirs, "pages").as.integer == 300 && count(other, "Book", "pages == 300") == 1);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK_OK(quire_context_refresh_all(other, &error));
    CHECK(get_value(theirs, "pages").as.integer == 300 && count(other, "Book", "pages == 300") == 1);
    CHECK(strcmp(titles(made.store), "Faust") == 0);
    quire_object *stella = insert_book(other, "Stella", 60);
    CHECK(quire_object_id(stella) < 0 && count(other, "Book", NULL) == 2);
    CHECK_FAILS(QUIRE_BUSY, quire_context_save(other, &error));
    CHECK_OK(quire_context_rollback(other, &error));
    CHECK_FAILS(QUIRE_BUSY, quire_context_begin_transaction(other, &error));
    CHECK(count(made.context, "Book", NULL) == 1);
    commit(made.context);
    CHECK(get_value(theirs, "pages").as.integer == 300 && count(other, "Book", "pages == 301") == 0);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(get_value(theirs, "pages").as.integer == 301 && count(other, "Book", "pages == 301") == 1);
    quire_object_release(stella);
    quire_object_release(theirs);
    quire_context_release(other);
    quire_object_release(faust);
    close_fixture(made);
}

static void what_was_rolled_back_reaches_no_other_context(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    CHECK(count(other, "Book", "TRUEPREDICATE") == 0);
    const uint64_t generation = quire_context_generation(other);
    begin(made.context);
    save_book(made.context, "Faust", 300);
    roll_back(made.context);
    CHECK_OK(quire_context_merge(other, &error));
    CHECK(quire_context_generation(other) == generation);
    quire_context_release(other);
    close_fixture(made);
}

/* What a thread does with a context of its own while a transaction is open elsewhere. */
typedef struct visit {
    fixture made;
    atomic_int thread;
    atomic_bool has_ended;
    quire_status status;
    int64_t number;
    bool came_after_the_end;
} visit;

static void *count_elsewhere(void *data) {
    visit *visit = data;
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(visit->made.store, &other, &error));
    visit->number = count(other, "Book", NULL);
    quire_context_release(other);
    return NULL;
}

static void *save_elsewhere(void *data) {
    visit *visit = data;
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(visit->made.store, &other, &error));
    add_book(other, "Egmont", 120);
    atomic_store(&visit->thread, gettid());
    visit->status = quire_context_save(other, NULL);
    visit->came_after_the_end = atomic_load(&visit->has_ended);
    visit->number = count(other, "Book", NULL);
    quire_context_release(other);
    return NULL;
}

static void other_threads_read_as_before_without_waiting(void) {
    scene scene = open_scene(60000);
    visit visit = {.made = scene.made};
    pthread_t thread;
    save_book(scene.made.context, "Faust", 300);
    begin(scene.made.context);
    save_book(scene.made.context, "Stella", 60);
    CHECK(pthread_create(&thread, NULL, count_elsewhere, &visit) == 0);
    pthread_join(thread, NULL);
    CHECK(visit.number == 1);
    commit(scene.made.context);
    CHECK(strcmp(titles(scene.made.store), "Faust,Stella") == 0);
    close_scene(scene);
}

static void other_threads_wait_for_the_end_to_write(void) {
    scene scene = open_scene(60000);
    visit visit = {.made = scene.made};
    pthread_t thread;
    begin(scene.made.context);
    save_book(scene.made.context, "Faust", 300);
    CHECK(pthread_create(&thread, NULL, save_elsewhere, &visit) == 0);
    await_sleep(&visit.thread);
    save_book(scene.made.context, "Stella", 60);
    atomic_store(&visit.has_ended, true);
    commit(scene.made.context);
    pthread_join(thread, NULL);
    CHECK(visit.status == QUIRE_OK && visit.number == 3 && visit.came_after_the_end);
    close_scene(scene);
}

static void other_threads_give_up_writing_after_the_busy_timeout(void) {
    scene scene = open_scene(30);
    visit visit = {.made = scene.made};
    pthread_t thread;
    begin(scene.made.context);
    CHECK(pthread_create(&thread, NULL, save_elsewhere, &visit) == 0);
    pthread_join(thread, NULL);
    CHECK(visit.status == QUIRE_BUSY && visit.number == 1);
    save_book(scene.made.context, "Faust", 300);
    commit(scene.made.context);
    CHECK(strcmp(titles(scene.made.store), "Faust") == 0);
    close_scene(scene);
}

enum { WRITERS = 3, READERS = 2, ROUNDS = 40, BOOKS = 4, TOTAL = BOOKS * 1000 };

typedef struct crowd {
    fixture made;
    atomic_int writing;
} crowd;

static int64_t total_pages(quire_context *context) {
    quire_list *list = fetch(context, "Book", NULL, "title");
    CHECK(quire_list_count(list) == BOOKS);
    int64_t total = 0;
    for (int i = 0; i < BOOKS; i++) {
        quire_object *book = NULL;
        CHECK_OK(quire_list_object(list, i, &book, &error));
        total += get_value(book, "pages").as.integer;
        quire_object_release(book);
    }
    quire_list_release(list);
    return total;
}

/* Gives pages of one book to another, in two saves. */
static void *move_pages(void *data) {
    crowd *crowd = data;
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(crowd->made.store, &context, &error));
    unsigned seed = (unsigned)(uintptr_t)context;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK_OK(quire_context_begin_transaction(context, &error));
        /* What others have committed, so that nothing is in conflict. */
        CHECK_OK(quire_context_merge(context, &error));
        quire_list *list = fetch(context, "Book", NULL, "title");
        const int first = rand_r(&seed) % BOOKS, second = (first + 1 + rand_r(&seed) % (BOOKS - 1)) % BOOKS;
        for (int step = 0; step < 2; step++) {
            quire_object *book = NULL;
            CHECK_OK(quire_list_object(list, step ? second : first, &book, &error));
            set_value(book, "pages", quire_value_integer(get_value(book, "pages").as.integer + (step ? 7 : -7)));
            save(context);
            quire_object_release(book);
        }
        quire_list_release(list);
        CHECK(total_pages(context) == TOTAL);
        if (rand_r(&seed) % 3) CHECK_OK(quire_context_commit_transaction(context, &error));
        else CHECK_OK(quire_context_rollback_transaction(context, &error));
    }
    quire_context_release(context);
    atomic_fetch_sub(&crowd->writing, 1);
    return NULL;
}

static void *add_up_pages(void *data) {
    crowd *crowd = data;
    quire_context *follower = NULL;
    CHECK_OK(quire_context_create(crowd->made.store, &follower, &error));
    while (atomic_load(&crowd->writing)) {
        quire_context *fresh = NULL;
        CHECK_OK(quire_context_create(crowd->made.store, &fresh, &error));
        CHECK(total_pages(fresh) == TOTAL);
        quire_context_release(fresh);
        /* Whatever others commit between two of its reads. */
        CHECK(total_pages(follower) == TOTAL);
        CHECK_OK(quire_context_merge(follower, &error));
    }
    CHECK_OK(quire_context_merge(follower, &error));
    CHECK(total_pages(follower) == TOTAL);
    quire_context_release(follower);
    return NULL;
}

static void threads_see_all_of_a_transaction_or_nothing(void) {
    scene scene = open_scene(600000);
    crowd crowd = {.made = scene.made};
    pthread_t threads[WRITERS + READERS];
    for (int i = 0; i < BOOKS; i++) add_book(scene.made.context, "Faust", TOTAL / BOOKS);
    save(scene.made.context);
    atomic_store(&crowd.writing, WRITERS);
    for (int i = 0; i < WRITERS + READERS; i++)
        CHECK(pthread_create(&threads[i], NULL, i < WRITERS ? move_pages : add_up_pages, &crowd) == 0);
    for (int i = 0; i < WRITERS + READERS; i++) pthread_join(threads[i], NULL);
    CHECK_OK(quire_context_merge(scene.made.context, &error));
    CHECK(total_pages(scene.made.context) == TOTAL && total_pages(scene.outside.context) == TOTAL);
    close_scene(scene);
}

/* A context that is used by a delegate of the one with the transaction, and what it gets. */
static quire_context *stranger;
static int64_t strangers_books;
static quire_status strangers_status;

static void use_the_stranger(void *data, quire_results *results) {
    (void)results;
    strangers_books = count(stranger, "Book", NULL);
    strangers_status = quire_context_save(stranger, NULL);
    CHECK(count(data, "Book", NULL) == 1);
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_commit_transaction(data, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_context_rollback_transaction(data, &error));
}

static void others_read_and_cannot_write_from_within_a_delegate_too(void) {
    fixture made = open_fixture();
    CHECK_OK(quire_context_create(made.store, &stranger, &error));
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results *results = NULL;
    CHECK_OK(quire_results_create(made.context, request, NULL, &results, &error));
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = made.context;
    delegate.did_change = use_the_stranger;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    CHECK_OK(quire_results_fetch(results, &error));
    add_book(stranger, "Stella", 60);
    begin(made.context);
    add_book(made.context, "Faust", 300);
    save(made.context);
    CHECK(strangers_books == 1 && strangers_status == QUIRE_BUSY);
    commit(made.context);
    save(stranger);
    CHECK(strcmp(titles(made.store), "Faust,Stella") == 0 && count(stranger, "Book", NULL) == 2);
    quire_fetch_request_release(request);
    quire_results_release(results);
    quire_context_release(stranger);
    close_fixture(made);
}

static void another_program_that_writes_makes_it_wait(void) {
    scene scene = open_scene(20);
    begin(scene.outside.context);
    CHECK_FAILS(QUIRE_BUSY, quire_context_begin_transaction(scene.made.context, &error));
    CHECK(!quire_context_is_in_transaction(scene.made.context));
    save_book(scene.outside.context, "Faust", 300);
    commit(scene.outside.context);
    begin(scene.made.context);
    CHECK(count(scene.made.context, "Book", "TRUEPREDICATE") == 1);
    roll_back(scene.made.context);
    close_scene(scene);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(others_on_the_thread_read_as_before_and_cannot_write);
    RUN(what_was_rolled_back_reaches_no_other_context);
    RUN(other_threads_read_as_before_without_waiting);
    RUN(other_threads_wait_for_the_end_to_write);
    RUN(other_threads_give_up_writing_after_the_busy_timeout);
    RUN(threads_see_all_of_a_transaction_or_nothing);
    RUN(others_read_and_cannot_write_from_within_a_delegate_too);
    RUN(another_program_that_writes_makes_it_wait);
    return RESULT();
}
