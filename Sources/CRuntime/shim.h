// What Swift's runtime and the system export, and its language has no word for.
#pragma once

#include <sys/eventfd.h>

// Retains an object and gives it, or gives NULL when its last reference has gone. Its memory must still be there.
void *_Nullable swift_tryRetain(void *_Nonnull object);

static inline void *_Nullable quire_retain_unless_going(const void *_Nonnull object) {
  return swift_tryRetain((void *)object);
}

// A counter of the system that polls readable while it is not zero, or -1.
static inline int quire_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
