// What Swift's runtime and the system export, and its language has no word for.
#pragma once

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// Retains an object and gives it, or gives NULL when its last reference has gone. Its memory must still be there.
void *_Nullable swift_tryRetain(void *_Nonnull object);

static inline void *_Nullable quire_retain_unless_going(const void *_Nonnull object) {
  return swift_tryRetain((void *)object);
}

// A variable of the environment; NULL in a program that has other rights than its caller. The C library's header
// declares that only with GNU's extensions.
extern char *_Nullable secure_getenv(const char *_Nonnull name);
static inline const char *_Nullable quire_environment(const char *_Nonnull name) { return secure_getenv(name); }

// A counter of the system that polls readable while it is not zero, or -1.
static inline int quire_make_event(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// Renames a file where no file is, in one step. Fails with EINVAL or ENOSYS where the file system cannot do that.
static inline int quire_rename_to_free(const char *_Nonnull from, const char *_Nonnull to) {
  return (int)syscall(SYS_renameat2, -100 /* AT_FDCWD */, from, -100, to, 1 /* RENAME_NOREPLACE */);
}
