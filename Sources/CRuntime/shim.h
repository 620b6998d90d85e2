// What Swift's runtime exports and its language has no word for.
#pragma once

// Retains an object and gives it, or gives NULL when its last reference has gone. Its memory must still be there.
void *_Nullable swift_tryRetain(void *_Nonnull object);

static inline void *_Nullable quire_retain_unless_going(const void *_Nonnull object) {
  return swift_tryRetain((void *)object);
}
