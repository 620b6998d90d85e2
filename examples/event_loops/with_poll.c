/*
 * Waits with poll(2) until another thread has saved something, and shows it in a live list.
 *
 *     cc with_poll.c messages.c $(pkg-config --cflags --libs quire) -pthread -o with_poll
 *
 * A program would wait for its other descriptors in the same call.
 */
#include "messages.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

/* Until all messages have come; ten seconds without any are too many. */
static bool show_messages(messages *self) {
    while (!has_all_messages(self)) {
        struct pollfd waiting = {self->descriptor, POLLIN, 0};
        const int ready = poll(&waiting, 1, 10000);
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            fprintf(stderr, "%s\n", ready < 0 ? strerror(errno) : "nothing has come for ten seconds");
            return false;
        }
        if (!merge_messages(self)) return false;
    }
    return true;
}

int main(void) {
    messages messages = {0};
    if (!open_messages(&messages) || !start_writer(&messages)) return 1;
    const bool is_shown = show_messages(&messages);
    return close_messages(&messages) && is_shown ? 0 : 1;
}
