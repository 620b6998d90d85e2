/* What with_poll.c and with_glib.c share: a store of messages, a live list of them, and a thread that saves some. */
#ifndef MESSAGES_H_
#define MESSAGES_H_

#include <pthread.h>
#include <quire.h>

/* How many messages the thread saves. */
#define MESSAGE_COUNT 5

typedef struct messages {
    quire_store *store;
    quire_context *context; /* for the thread that opened it */
    quire_results *list;
    int descriptor; /* polls readable as long as `context` has something to merge */
    pthread_t writer;
} messages;

/* Whether a call succeeded; prints and releases its error if not. */
bool ok(quire_status status, quire_error **error);

/* Opens a store in memory, with a live list that prints each message that comes. */
bool open_messages(messages *self);

/* Starts the thread that saves messages, some hundredths of a second apart, in a context of its own. */
bool start_writer(messages *self);

/* Takes over what has been saved; the list prints it. For the thread of the context, when the descriptor is readable. */
bool merge_messages(messages *self);

/* Whether all messages have come. */
bool has_all_messages(const messages *self);

/* Waits for the thread and closes everything. Returns whether the thread has saved all. */
bool close_messages(messages *self);

#endif
