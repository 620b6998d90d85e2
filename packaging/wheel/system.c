// What a library for older systems brings of its own, where it is linked from the static libraries of a newer system.
// All of it is seen within the library alone.
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define HERE __attribute__((visibility("hidden")))
#define OF_SYSTEM(name, mine) __asm__(".symver " #mine ", " #name "@GLIBC_2.2.5")

// Debian's static libraries are compiled for programs, which may refer to variables of the C library as their own. A
// shared library may not: the linker refuses it. So these are variables of the library, with what those of the C
// library have in them.
extern FILE *system_stdin, *system_stdout, *system_stderr;
OF_SYSTEM(stdin, system_stdin);
OF_SYSTEM(stdout, system_stdout);
OF_SYSTEM(stderr, system_stderr);
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
OF_SYSTEM(tzname, system_tzname);
OF_SYSTEM(__timezone, system_timezone);
OF_SYSTEM(tzset, system_tzset);
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
