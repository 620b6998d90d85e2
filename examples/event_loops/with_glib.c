/*
 * Has GLib's main loop, which GTK runs on, call when another thread has saved something, and shows it in a live list.
 *
 *     cc with_glib.c messages.c $(pkg-config --cflags --libs quire glib-2.0) -pthread -o with_glib
 */
#include "messages.h"

#include <glib-unix.h>
#include <glib.h>
#include <stdio.h>

typedef struct shown {
    messages messages;
    GMainLoop *loop;
    bool has_failed;
} shown;

/* The descriptor is readable. It stays so until what was saved is merged. */
static gboolean something_was_saved(gint descriptor, GIOCondition condition, gpointer data) {
    shown *self = data;
    (void)descriptor, (void)condition;
    self->has_failed = !merge_messages(&self->messages);
    if (!self->has_failed && !has_all_messages(&self->messages)) return G_SOURCE_CONTINUE;
    g_main_loop_quit(self->loop);
    return G_SOURCE_REMOVE;
}

static gboolean time_is_over(gpointer data) {
    shown *self = data;
    fprintf(stderr, "not all messages have come within ten seconds\n");
    self->has_failed = true;
    g_main_loop_quit(self->loop);
    return G_SOURCE_CONTINUE;
}

int main(void) {
    shown self = {0};
    if (!open_messages(&self.messages)) return 1;
    self.loop = g_main_loop_new(NULL, FALSE);
    g_unix_fd_add(self.messages.descriptor, G_IO_IN, something_was_saved, &self);
    const guint timeout = g_timeout_add_seconds(10, time_is_over, &self);
    if (!start_writer(&self.messages)) return 1;

    g_main_loop_run(self.loop);

    g_source_remove(timeout);
    g_main_loop_unref(self.loop);
    return close_messages(&self.messages) && !self.has_failed ? 0 : 1;
}
