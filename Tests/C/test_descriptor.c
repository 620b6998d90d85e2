/* The descriptor of a context: what an event loop waits for, whatever becomes of the store and of the descriptor. */
#include "fixture.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

static bool is_readable(int descriptor) {
    struct pollfd waiting = {descriptor, POLLIN, 0};
    return poll(&waiting, 1, 0) == 1 && waiting.revents == POLLIN;
}

static int descriptor_of(quire_context *context) {
    int descriptor = -1;
    CHECK_OK(quire_context_descriptor(context, &descriptor, &error));
    CHECK(descriptor >= 0);
    return descriptor;
}

/* Another context of the store saves an object. */
static void save_elsewhere(quire_store *store) {
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(store, &other, &error));
    quire_object_release(insert_book(other, "Faust", 300));
    save(other);
    quire_context_release(other);
}

static void nothing_is_left_to_wait_for_when_the_store_is_closed(void) {
    fixture made = open_fixture();
    const int descriptor = descriptor_of(made.context);
    CHECK(!is_readable(descriptor));
    save_elsewhere(made.store);
    CHECK(is_readable(descriptor));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK(!is_readable(descriptor));
    CHECK_FAILS(QUIRE_CLOSED, quire_context_merge(made.context, &error));
    CHECK(!is_readable(descriptor));
    close_fixture(made);
    CHECK(fcntl(descriptor, F_GETFD) == -1);
}

static void a_child_has_nothing_to_wait_for_either(void) {
    fixture made = open_fixture();
    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    const int descriptor = descriptor_of(child);
    quire_object *book = insert_book(made.context, "Faust", 300);
    CHECK_OK(quire_context_process(made.context, &error));
    CHECK(is_readable(descriptor));
    CHECK_OK(quire_store_close(made.store, &error));
    CHECK(!is_readable(descriptor));
    /* A rollback after that wakes no descriptor. */
    (void)quire_context_rollback(made.context, NULL);
    CHECK(!is_readable(descriptor));
    quire_object_release(book);
    quire_context_release(child);
    close_fixture(made);
}

static void a_closed_store_gives_no_descriptors(void) {
    fixture made = open_fixture();
    CHECK_OK(quire_store_close(made.store, &error));
    int descriptor = 7;
    CHECK_FAILS(QUIRE_CLOSED, quire_context_descriptor(made.context, &descriptor, &error));
    CHECK(descriptor == 0);
    close_fixture(made);
}

static void a_descriptor_that_was_closed_by_mistake_raises_no_signal(void) {
    fixture made = open_fixture();
    signal(SIGPIPE, SIG_DFL);
    const int descriptor = descriptor_of(made.context);
    close(descriptor);
    save_elsewhere(made.store);
    CHECK_OK(quire_context_merge(made.context, &error));
    CHECK(count(made.context, "Book", "TRUEPREDICATE") == 1);
    close_fixture(made);
}

static void what_comes_to_have_its_number_is_neither_written_nor_closed(void) {
    fixture made = open_fixture();
    signal(SIGPIPE, SIG_DFL);
    const int descriptor = descriptor_of(made.context);
    close(descriptor);
    int ends[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && ends[0] == descriptor);
    save_elsewhere(made.store);
    CHECK(!is_readable(ends[1]) && !is_readable(ends[0]));
    CHECK(write(ends[1], "x", 1) == 1);
    CHECK_OK(quire_context_merge(made.context, &error));
    CHECK(is_readable(ends[0]));
    close_fixture(made);
    CHECK(fcntl(ends[0], F_GETFD) != -1);
    char byte = 0;
    CHECK(read(ends[0], &byte, 1) == 1 && byte == 'x');
}

static void two_contexts_have_descriptors_of_their_own(void) {
    fixture made = open_fixture();
    quire_context *other = NULL;
    CHECK_OK(quire_context_create(made.store, &other, &error));
    const int mine = descriptor_of(made.context), theirs = descriptor_of(other);
    CHECK(mine != theirs);
    quire_object_release(insert_book(other, "Stella", 100));
    save(other);
    CHECK(is_readable(mine) && !is_readable(theirs));
    quire_context_release(other);
    CHECK(is_readable(mine));
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(nothing_is_left_to_wait_for_when_the_store_is_closed);
    RUN(a_child_has_nothing_to_wait_for_either);
    RUN(a_closed_store_gives_no_descriptors);
    RUN(a_descriptor_that_was_closed_by_mistake_raises_no_signal);
    RUN(what_comes_to_have_its_number_is_neither_written_nor_closed);
    RUN(two_contexts_have_descriptors_of_their_own);
    return RESULT();
}
