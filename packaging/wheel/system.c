// What a library for older systems brings of its own, where it is linked from the static libraries of a newer system.
// All of it is seen within the library alone.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define HERE __attribute__((visibility("hidden")))
#define OF_SYSTEM(name, mine, version) __asm__(".symver " #mine ", " #name "@GLIBC_" #version)

// Debian's static libraries are compiled for programs, which may refer to variables of the C library as their own. A
// shared library may not: the linker refuses it. So these are variables of the library, with what those of the C
// library have in them.
extern FILE *system_stdin, *system_stdout, *system_stderr;
OF_SYSTEM(stdin, system_stdin, 2.2.5);
OF_SYSTEM(stdout, system_stdout, 2.2.5);
OF_SYSTEM(stderr, system_stderr, 2.2.5);
HERE FILE *stdin, *stdout, *stderr;

__attribute__((constructor)) static void take_streams(void) {
  stdin = system_stdin;
  stdout = system_stdout;
  stderr = system_stderr;
}

// ICU calls tzset before it reads these.
extern char *system_tzname[2];
extern long system_timezone;
void system_tzset(void);
OF_SYSTEM(tzname, system_tzname, 2.2.5);
OF_SYSTEM(__timezone, system_timezone, 2.2.5);
OF_SYSTEM(tzset, system_tzset, 2.2.5);
HERE char *tzname[2];
HERE long __timezone;

HERE void tzset(void) {
  system_tzset();
  tzname[0] = system_tzname[0];
  tzname[1] = system_tzname[1];
  __timezone = system_timezone;
}

// Until glibc 2.33 these are not in the C library; what they call is there still. On this processor the variants for
// large files are the same.
int __xstat(int version, const char *path, struct stat *found);
int __lxstat(int version, const char *path, struct stat *found);
int __fxstat(int version, int descriptor, struct stat *found);

HERE int stat(const char *path, struct stat *found) { return __xstat(1, path, found); }
HERE int lstat(const char *path, struct stat *found) { return __lxstat(1, path, found); }
HERE int fstat(int descriptor, struct stat *found) { return __fxstat(1, descriptor, found); }
HERE int stat64(const char *path, struct stat64 *found) { return __xstat(1, path, (struct stat *)found); }
HERE int lstat64(const char *path, struct stat64 *found) { return __lxstat(1, path, (struct stat *)found); }
HERE int fstat64(int descriptor, struct stat64 *found) { return __fxstat(1, descriptor, (struct stat *)found); }

// Before glibc 2.33 AT_EACCESS asks for the real user, where the effective one is another. Linux 5.8 has a call for it,
// which sandboxes may not know.
int system_faccessat(int folder, const char *path, int mode, int flags);
OF_SYSTEM(faccessat, system_faccessat, 2.4);

HERE int faccessat(int folder, const char *path, int mode, int flags) {
  if (flags) {
    int result = (int)syscall(SYS_faccessat2, folder, path, mode, flags);
    if (result == 0 || (errno != ENOSYS && errno != EPERM)) return result;
  }
  return system_faccessat(folder, path, mode, flags);
}

// As of glibc 2.28, and the same as fcntl.
HERE int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  return fcntl(descriptor, command, argument);
}

// As of glibc 2.32: whether libstdc++ may count references without atomic instructions. Never is right, too.
HERE char __libc_single_threaded;
