/* Signals: the library has no handlers, raises none, and goes on with what one of the program's interrupted. */
#include "fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

static char folder[256], path[300];

static void use_folder(void) {
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/library.sqlite", folder);
}

static volatile sig_atomic_t alarms;

static void note_alarm(int number) {
    (void)number;
    alarms++;
}

static void an_interrupted_call_goes_on(void) {
    use_folder();
    /* Without SA_RESTART: what is interrupted fails with EINTR. */
    struct sigaction action = {.sa_handler = note_alarm};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    const struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
    fixture made = open_fixture_at(path);
    for (int i = 0; i < 200 || alarms < 100; i++) {
        quire_object *book = insert_book(made.context, "Faust", i);
        save(made.context);
        CHECK(get_value(book, "pages").as.integer == i);
        quire_object_release(book);
    }
    close_fixture(made);
    made = open_fixture_at(path);
    quire_fetch_request *request = new_request("Book", "title BEGINSWITH 'F'", "title");
    int64_t count = 0;
    CHECK_OK(quire_context_count(made.context, request, &count, &error));
    CHECK(count >= 200);
    CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
    quire_fetch_request_release(request);
    close_fixture(made);
    remove_folder(folder);
}

static void the_handlers_of_the_program_stay(void) {
    use_folder();
    struct sigaction before[32], after;
    for (int number = 1; number < 32; number++) CHECK(sigaction(number, NULL, &before[number]) == 0);
    sigset_t mask_before, mask_after;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &mask_before) == 0);
    fixture made = open_fixture_at(path);
    int descriptor = -1;
    CHECK_OK(quire_context_descriptor(made.context, &descriptor, &error));
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    quire_object_release(insert_book(other, "Faust", 300));
    save(other);
    CHECK_OK(quire_context_merge(made.context, &error));
    quire_context_release(other);
    close_fixture(made);
    for (int number = 1; number < 32; number++) {
        CHECK(sigaction(number, NULL, &after) == 0);
        CHECK(after.sa_handler == before[number].sa_handler && after.sa_flags == before[number].sa_flags);
    }
    CHECK(sigprocmask(SIG_BLOCK, NULL, &mask_after) == 0);
    for (int number = 1; number < 32; number++) CHECK(sigismember(&mask_after, number) == sigismember(&mask_before, number));
    remove_folder(folder);
}

/* The limit on the size of files has a signal that ends programs. Where it is ignored, the save is what fails. */
static void a_limit_on_the_size_of_files_is_a_save_that_fails(void) {
    use_folder();
    fixture made = open_fixture_at(path);
    quire_object_release(insert_book(made.context, "Faust", 300));
    save(made.context);
    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    struct rlimit limit, before;
    CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
    limit = before;
    limit.rlim_cur = 64 * 1024;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    static char text[400000];
    memset(text, 'x', sizeof text - 1);
    quire_object *book = insert_book(made.context, text, 1);
    CHECK_FAILS(QUIRE_DATABASE, quire_context_save(made.context, &error));
    CHECK(quire_object_is_inserted(book));
    CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
    save(made.context);
    quire_object_release(book);
    close_fixture(made);
    remove_folder(folder);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(an_interrupted_call_goes_on);
    RUN(the_handlers_of_the_program_stay);
    RUN(a_limit_on_the_size_of_files_is_a_save_that_fails);
    return RESULT();
}
