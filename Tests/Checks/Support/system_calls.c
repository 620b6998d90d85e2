#include "system_calls.h"

#include "journal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- Counting. */

typedef struct shared {
    char call[24], file[300];
} shared;

static shared *told;
static char watched[300];
static bool is_counting, is_struck;
static calamity chosen;
static int count;

bool make_system_calls(void) {
    void *memory = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    told = memory == MAP_FAILED ? NULL : memory;
    return told != NULL;
}

const char *fateful_call(void) { return told->call; }
const char *fateful_file(void) { return told->file; }

void watch_folder(const char *folder) { snprintf(watched, sizeof watched, "%s", folder); }

void begin_calls(calamity calamity) {
    chosen = calamity;
    count = 0;
    is_struck = false;
    is_counting = true;
    told->call[0] = told->file[0] = 0;
}

void pause_calls(void) { is_counting = false; }
void resume_calls(void) { is_counting = true; }

int end_calls(void) {
    is_counting = false;
    chosen.fate = FATE_NONE;
    return count;
}

static bool is_within(const char *path) {
    const size_t size = strlen(watched);
    return size > 0 && strncmp(path, watched, size) == 0 && (path[size] == '/' || path[size] == 0);
}

/* What becomes of a call. */
typedef enum lot { LOT_GOES_ON, LOT_FAILS, LOT_HALF } lot;

static lot decide(const char *name, const char *file, int kinds) {
    if (!is_counting || !(kinds & (int)chosen.kind)) return LOT_GOES_ON;
    if (chosen.call && strncmp(chosen.call, name, strlen(chosen.call)) != 0) return LOT_GOES_ON;
    if (chosen.part && !strstr(file, chosen.part)) return LOT_GOES_ON;
    const int number = count++;
    const bool goes_on = chosen.fate == FATE_FAILS_ON && number > chosen.number;
    if (chosen.fate == FATE_NONE || (number != chosen.number && !goes_on)) return LOT_GOES_ON;
    if (!is_struck) {
        is_struck = true;
        snprintf(told->call, sizeof told->call, "%s", name);
        snprintf(told->file, sizeof told->file, "%s", file ? file : "");
    }
    if (chosen.fate == FATE_ENDS) raise(SIGKILL);
    if (chosen.fate == FATE_ENDS_HALFWAY || (chosen.reason == 0 && !goes_on)) return LOT_HALF;
    errno = chosen.reason ? chosen.reason : ENOSPC;
    return LOT_FAILS;
}

/* --- The open files of the folder. */

enum { DESCRIPTORS = 1024 };

typedef struct known {
    bool is_known, is_folder;
    /* The number of the file in the journal. */
    int file;
    char path[300];
} known;

static known known_files[DESCRIPTORS];

static known *at(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS && known_files[descriptor].is_known ? &known_files[descriptor] : NULL;
}

static void know(int descriptor, const char *path, bool is_new, bool is_folder) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS) return;
    known *const known = &known_files[descriptor];
    known->is_known = true;
    known->is_folder = is_folder;
    known->file = -1;
    snprintf(known->path, sizeof known->path, "%s", path);
    if (!is_folder) note_opened(path, is_new, &known->file);
}

static void forget(int descriptor) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) known_files[descriptor].is_known = false;
}

/* --- The calls. */

enum {
    LOCKS = CALLS_ALL,
    LOOKS = CALLS_ALL | CALLS_TO_DISK,
    READS = LOOKS | CALLS_THAT_READ,
    CHANGES = LOOKS | CALLS_THAT_CHANGE,
    FILLS = CHANGES | CALLS_THAT_FILL,
    WRITES = FILLS | CALLS_THAT_WRITE
};

/* The function of the C library, looked for once. */
#define REAL(result, name, parameters) \
    static result(*real) parameters; \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

/* Of a call that is about a path, or about an open file, and can only fail or not. */
#define FAILS_AT_PATH(name, path, kinds) (is_within(path) && decide(name, path, kinds) != LOT_GOES_ON)
#define FAILS_AT(name, descriptor, kinds) (at(descriptor) && decide(name, at(descriptor)->path, kinds) != LOT_GOES_ON)

static int open_watched(int (*real)(const char *, int, ...), const char *path, int flags, mode_t mode) {
    if (!is_within(path)) return real(path, flags, mode);
    const int reason = errno;
    struct stat status;
    /* Asked past the watch. */
    const bool is_there = syscall(SYS_newfstatat, AT_FDCWD, path, &status, 0) == 0;
    const bool makes = (flags & O_CREAT) && !is_there;
    errno = reason;
    if (decide("open", path, makes || flags & O_TRUNC ? FILLS : LOOKS) != LOT_GOES_ON) return -1;
    const int descriptor = real(path, flags, mode);
    if (descriptor < 0) return descriptor;
    know(descriptor, path, makes, is_there && S_ISDIR(status.st_mode));
    if (is_there && flags & O_TRUNC && at(descriptor)) note_size(at(descriptor)->file, 0);
    return descriptor;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        REAL(int, name, (const char *, int, ...)); \
        va_list arguments; \
        va_start(arguments, flags); \
        const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0; \
        va_end(arguments); \
        return open_watched(real, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
    REAL(int, close, (int));
    const bool is_failing = FAILS_AT("close", descriptor, LOOKS);
    const int reason = errno;
    forget(descriptor);
    const int result = real(descriptor);
    if (!is_failing) return result;
    errno = reason;
    return -1;
}

static size_t half(size_t size) { return (size + 1) / 2; }

ssize_t read(int descriptor, void *bytes, size_t size) {
    REAL(ssize_t, read, (int, void *, size_t));
    const lot lot = at(descriptor) ? decide("read", at(descriptor)->path, READS) : LOT_GOES_ON;
    return lot == LOT_FAILS ? -1 : real(descriptor, bytes, lot == LOT_HALF ? half(size) : size);
}

#define PREAD(name, offset_type) \
    ssize_t name(int descriptor, void *bytes, size_t size, offset_type offset) { \
        REAL(ssize_t, name, (int, void *, size_t, offset_type)); \
        const lot lot = at(descriptor) ? decide("pread", at(descriptor)->path, READS) : LOT_GOES_ON; \
        return lot == LOT_FAILS ? -1 : real(descriptor, bytes, lot == LOT_HALF ? half(size) : size, offset); \
    }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

/* How many of `size` bytes are to be written; -1 for a failure. */
static ssize_t allowed(const char *name, int descriptor, size_t size) {
    const lot lot = at(descriptor) ? decide(name, at(descriptor)->path, WRITES) : LOT_GOES_ON;
    return lot == LOT_FAILS ? -1 : (ssize_t)(lot == LOT_HALF ? size / 2 : size);
}

static void note_written(int descriptor, off_t offset, const void *bytes, ssize_t size) {
    if (at(descriptor) && size > 0) note_write(at(descriptor)->file, offset, bytes, (size_t)size);
    if (chosen.fate == FATE_ENDS_HALFWAY && is_counting && is_struck) raise(SIGKILL);
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
    REAL(ssize_t, write, (int, const void *, size_t));
    const ssize_t most = allowed("write", descriptor, size);
    if (most < 0) return -1;
    const off_t offset = at(descriptor) ? lseek(descriptor, 0, SEEK_CUR) : 0;
    const ssize_t written = real(descriptor, bytes, (size_t)most);
    note_written(descriptor, offset, bytes, written);
    return written;
}

#define PWRITE(name, offset_type) \
    ssize_t name(int descriptor, const void *bytes, size_t size, offset_type offset) { \
        REAL(ssize_t, name, (int, const void *, size_t, offset_type)); \
        const ssize_t most = allowed("pwrite", descriptor, size); \
        if (most < 0) return -1; \
        const ssize_t written = real(descriptor, bytes, (size_t)most, offset); \
        note_written(descriptor, offset, bytes, written); \
        return written; \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

/* What is told to survive is written down; there is no power cut to survive. */
static int synchronize(const char *name, int descriptor, long number) {
    known *const known = at(descriptor);
    if (!known) return (int)syscall(number, descriptor);
    if (decide(name, known->path, FILLS) != LOT_GOES_ON) return -1;
    if (known->is_folder) note_path(DEED_SYNCHRONIZE_FOLDER, known->path);
    else note_synchronized(known->file);
    return 0;
}

int fsync(int descriptor) { return synchronize("fsync", descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synchronize("fdatasync", descriptor, SYS_fdatasync); }

#define FTRUNCATE(name, size_type) \
    int name(int descriptor, size_type size) { \
        REAL(int, name, (int, size_type)); \
        if (FAILS_AT("ftruncate", descriptor, FILLS)) return -1; \
        const int result = real(descriptor, size); \
        if (result == 0 && at(descriptor)) note_size(at(descriptor)->file, size); \
        return result; \
    }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

int unlink(const char *path) {
    REAL(int, unlink, (const char *));
    if (FAILS_AT_PATH("unlink", path, CHANGES)) return -1;
    const int result = real(path);
    if (result == 0 && is_within(path)) note_path(DEED_DELETE, path);
    return result;
}

int mkdir(const char *path, mode_t mode) {
    REAL(int, mkdir, (const char *, mode_t));
    if (FAILS_AT_PATH("mkdir", path, FILLS)) return -1;
    const int result = real(path, mode);
    if (result == 0 && is_within(path)) note_path(DEED_MAKE_FOLDER, path);
    return result;
}

int rmdir(const char *path) {
    REAL(int, rmdir, (const char *));
    if (FAILS_AT_PATH("rmdir", path, CHANGES)) return -1;
    const int result = real(path);
    if (result == 0 && is_within(path)) note_path(DEED_DELETE_FOLDER, path);
    return result;
}

int rename(const char *path, const char *new_path) {
    REAL(int, rename, (const char *, const char *));
    if (FAILS_AT_PATH("rename", path, FILLS)) return -1;
    const int result = real(path, new_path);
    if (result == 0 && is_within(path)) note_rename(path, new_path);
    return result;
}

/* The library has no other name for a renaming that replaces nothing. */
long syscall(long number, ...) {
    REAL(long, syscall, (long, ...));
    va_list arguments;
    va_start(arguments, number);
    long values[6];
    for (int i = 0; i < 6; i++) values[i] = va_arg(arguments, long);
    va_end(arguments);
    const char *path = number == SYS_renameat2 ? (const char *)values[1] : "";
    if (number == SYS_renameat2 && FAILS_AT_PATH("renameat2", path, FILLS)) return -1;
    const long result = real(number, values[0], values[1], values[2], values[3], values[4], values[5]);
    if (number == SYS_renameat2 && result == 0 && is_within(path)) note_rename(path, (const char *)values[3]);
    return result;
}

/* A lock can fail to be taken. Nothing can be done where it cannot be given back, and no system is known to do that. */
static bool takes_lock(int command, const void *argument) {
    const bool locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK || command == F_OFD_SETLKW;
    return locks && ((const struct flock *)argument)->l_type != F_UNLCK;
}

#define FCNTL(name) \
    int name(int descriptor, int command, ...) { \
        REAL(int, name, (int, int, ...)); \
        va_list arguments; \
        va_start(arguments, command); \
        void *const argument = va_arg(arguments, void *); \
        va_end(arguments); \
        if (takes_lock(command, argument) && FAILS_AT("fcntl", descriptor, LOCKS)) return -1; \
        const int result = real(descriptor, command, argument); \
        const bool doubles = command == F_DUPFD || command == F_DUPFD_CLOEXEC; \
        if (doubles && result >= 0 && result < DESCRIPTORS && at(descriptor)) known_files[result] = *at(descriptor); \
        return result; \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

#define MMAP(name, offset_type) \
    void *name(void *address, size_t size, int protection, int flags, int descriptor, offset_type offset) { \
        REAL(void *, name, (void *, size_t, int, int, int, offset_type)); \
        if (FAILS_AT("mmap", descriptor, LOOKS)) return MAP_FAILED; \
        return real(address, size, protection, flags, descriptor, offset); \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

#define STAT(name, status_type) \
    int name(const char *path, status_type *out) { \
        REAL(int, name, (const char *, status_type *)); \
        return FAILS_AT_PATH(#name, path, LOOKS) ? -1 : real(path, out); \
    }
STAT(stat, struct stat)
STAT(stat64, struct stat64)
STAT(lstat, struct stat)
STAT(lstat64, struct stat64)

#define FSTAT(name, status_type) \
    int name(int descriptor, status_type *out) { \
        REAL(int, name, (int, status_type *)); \
        return FAILS_AT(#name, descriptor, LOOKS) ? -1 : real(descriptor, out); \
    }
FSTAT(fstat, struct stat)
FSTAT(fstat64, struct stat64)

int access(const char *path, int mode) {
    REAL(int, access, (const char *, int));
    return FAILS_AT_PATH("access", path, LOOKS) ? -1 : real(path, mode);
}

int faccessat(int folder, const char *path, int mode, int flags) {
    REAL(int, faccessat, (int, const char *, int, int));
    return FAILS_AT_PATH("faccessat", path, LOOKS) ? -1 : real(folder, path, mode, flags);
}

int chmod(const char *path, mode_t mode) {
    REAL(int, chmod, (const char *, mode_t));
    return FAILS_AT_PATH("chmod", path, LOOKS) ? -1 : real(path, mode);
}

int fchmod(int descriptor, mode_t mode) {
    REAL(int, fchmod, (int, mode_t));
    return FAILS_AT("fchmod", descriptor, LOOKS) ? -1 : real(descriptor, mode);
}

char *realpath(const char *path, char *out) {
    REAL(char *, realpath, (const char *, char *));
    return FAILS_AT_PATH("realpath", path, LOOKS) ? NULL : real(path, out);
}

DIR *opendir(const char *path) {
    REAL(DIR *, opendir, (const char *));
    if (FAILS_AT_PATH("opendir", path, LOOKS)) return NULL;
    DIR *const stream = real(path);
    if (stream && is_within(path)) know(dirfd(stream), path, false, true);
    return stream;
}

struct dirent *readdir(DIR *stream) {
    REAL(struct dirent *, readdir, (DIR *));
    return FAILS_AT("readdir", dirfd(stream), LOOKS) ? NULL : real(stream);
}

int closedir(DIR *stream) {
    REAL(int, closedir, (DIR *));
    forget(dirfd(stream));
    return real(stream);
}
