#include "system_calls.h"

#include "dice.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- What is shared with child processes. */

typedef enum deed { DEED_MAKE, DEED_WRITE, DEED_SET_SIZE, DEED_DELETE, DEED_SYNCHRONIZE, DEED_SYNCHRONIZE_FOLDER } deed;

typedef struct entry {
    deed deed;
    int file;
    /* The size, for DEED_SET_SIZE. */
    off_t offset;
    size_t size, bytes;
} entry;

#define FILES 8
#define ENTRIES 4096
#define BYTES (8u << 20)

typedef struct shared {
    char fateful[24];
    bool is_written, is_too_short;
    int files, entries;
    size_t bytes;
    char names[FILES][64];
    entry journal[ENTRIES];
    char store[BYTES];
} shared;

static shared *told;

const char *fateful_call(void) { return told->fateful; }

/* --- Counting. */

static bool is_counting;
static fate chosen;
static int chosen_number, chosen_reason, count;

/* True when this call is to fail; errno says how. */
static bool fails(const char *name, bool writes) {
    if (!is_counting || count++ != chosen_number || chosen == FATE_NONE) return false;
    snprintf(told->fateful, sizeof told->fateful, "%s", name);
    if (chosen == FATE_FAILS) {
        errno = chosen_reason;
        return true;
    }
    if (chosen == FATE_ENDS || !writes) raise(SIGKILL);
    return false;
}

/* Whether the call that was just asked about is to write half of its bytes. */
static bool is_halved(void) { return is_counting && chosen == FATE_ENDS_HALFWAY && count - 1 == chosen_number; }

void begin_calls(fate fate, int number, int reason) {
    is_counting = true;
    chosen = fate;
    chosen_number = number;
    chosen_reason = reason;
    count = 0;
    told->fateful[0] = 0;
}

int end_calls(void) {
    is_counting = false;
    return count;
}

/* --- The journal. */

/* The file of each descriptor, from 1; 0 for none, -1 for a folder. */
static int file_of_descriptor[1024];

static int file_named(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    for (int i = 0; i < told->files; i++)
        if (strcmp(told->names[i], name) == 0) return i + 1;
    if (told->files == FILES || strlen(name) >= sizeof told->names[0]) {
        told->is_too_short = true;
        return 0;
    }
    snprintf(told->names[told->files++], sizeof told->names[0], "%s", name);
    return told->files;
}

static void note(deed deed, int file, off_t offset, const void *bytes, size_t size) {
    if (!told->is_written || file == 0) return;
    if (told->entries == ENTRIES || (bytes && told->bytes + size > BYTES)) {
        told->is_too_short = true;
        return;
    }
    told->journal[told->entries++] = (entry){deed, file - 1, offset, size, told->bytes};
    if (bytes) {
        memcpy(told->store + told->bytes, bytes, size);
        told->bytes += size;
    }
}

static int file_at(int descriptor) {
    return descriptor >= 0 && descriptor < (int)COUNT_OF(file_of_descriptor) ? file_of_descriptor[descriptor] : 0;
}

static void note_descriptor(int descriptor, int file) {
    if (descriptor >= 0 && descriptor < (int)COUNT_OF(file_of_descriptor)) file_of_descriptor[descriptor] = file;
}

void begin_journal(void) {
    told->files = told->entries = 0;
    told->bytes = 0;
    told->is_too_short = false;
    told->is_written = true;
}

void end_journal(void) { told->is_written = false; }

int journal_length(void) { return told->entries; }

/* --- A power cut. */

typedef struct played {
    bool exists;
    size_t size;
    char *bytes;
} played;

static void play(played *file, const entry *entry, bool is_torn) {
    size_t size = entry->size;
    switch (entry->deed) {
        case DEED_MAKE:
        case DEED_DELETE:
            file->exists = entry->deed == DEED_MAKE;
            file->size = 0;
            break;
        case DEED_SET_SIZE: {
            const size_t wanted = (size_t)entry->offset;
            file->bytes = realloc(file->bytes, wanted + 1);
            if (wanted > file->size) memset(file->bytes + file->size, 0, wanted - file->size);
            file->size = wanted;
            break;
        }
        case DEED_WRITE: {
            /* Disks write whole sectors. */
            if (is_torn && size > 512) size = 512 * (size_t)(1 + random_below((int)(size / 512)));
            const size_t end = (size_t)entry->offset + size;
            if (end > file->size) {
                file->bytes = realloc(file->bytes, end + 1);
                memset(file->bytes + file->size, 0, end - file->size);
                file->size = end;
            }
            memcpy(file->bytes + entry->offset, told->store + entry->bytes, size);
            break;
        }
        case DEED_SYNCHRONIZE:
        case DEED_SYNCHRONIZE_FOLDER: break;
    }
}

bool cut_power(const char *folder, int length) {
    for (int file = 0; file < told->files; file++) {
        const size_t name_size = strlen(told->names[file]);
        /* What is shared in memory is made anew. */
        if (name_size > 4 && strcmp(told->names[file] + name_size - 4, "-shm") == 0) continue;
        int sure = 0, sure_entry = 0;
        for (int i = 0; i < length; i++) {
            const entry *entry = &told->journal[i];
            if (entry->deed == DEED_SYNCHRONIZE && entry->file == file) sure = i;
            if (entry->deed == DEED_SYNCHRONIZE_FOLDER) sure_entry = i;
        }
        played all = {0};
        for (int i = 0; i < length; i++) {
            const entry *entry = &told->journal[i];
            if (entry->file != file) continue;
            const bool is_of_folder = entry->deed == DEED_MAKE || entry->deed == DEED_DELETE;
            const bool is_sure = i < (is_of_folder ? sure_entry : sure);
            if (is_sure || chance(60)) play(&all, entry, !is_sure && chance(30));
        }
        if (all.exists) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", folder, told->names[file]);
            FILE *out = fopen(path, "wb");
            if (!out || fwrite(all.bytes ? all.bytes : "", 1, all.size, out) != all.size || fclose(out)) return false;
        }
        free(all.bytes);
    }
    return !told->is_too_short;
}

/* --- The calls. */

static sqlite3_vfs *vfs;
static sqlite3_syscall_ptr reals[32];

#define CALL(number, result, name, parameters) \
    enum { number_##name = number }; \
    typedef result (*kind_##name) parameters; \
    static result my_##name parameters
#define REAL(name) ((kind_##name)reals[number_##name])

CALL(0, int, open, (const char *path, int flags, int mode)) {
    if (fails("open", false)) return -1;
    const bool is_new = access(path, F_OK) != 0;
    const int descriptor = REAL(open)(path, flags, mode);
    if (descriptor < 0) return descriptor;
    const int file = told->is_written ? file_named(path) : 0;
    note_descriptor(descriptor, file);
    if (is_new) note(DEED_MAKE, file, 0, NULL, 0);
    return descriptor;
}

CALL(1, int, close, (int descriptor)) {
    const bool is_failing = fails("close", false);
    note_descriptor(descriptor, 0);
    const int result = REAL(close)(descriptor);
    if (!is_failing) return result;
    errno = chosen_reason;
    return -1;
}

CALL(2, int, access, (const char *path, int mode)) { return fails("access", false) ? -1 : REAL(access)(path, mode); }
CALL(3, int, stat, (const char *path, struct stat *out)) { return fails("stat", false) ? -1 : REAL(stat)(path, out); }
CALL(4, int, fstat, (int descriptor, struct stat *out)) { return fails("fstat", false) ? -1 : REAL(fstat)(descriptor, out); }
CALL(5, int, lstat, (const char *path, struct stat *out)) { return fails("lstat", false) ? -1 : REAL(lstat)(path, out); }

CALL(6, int, ftruncate, (int descriptor, off_t size)) {
    if (fails("ftruncate", false)) return -1;
    note(DEED_SET_SIZE, file_at(descriptor), size, NULL, 0);
    return REAL(ftruncate)(descriptor, size);
}

static int my_fcntl(int descriptor, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fails("fcntl", false) ? -1 : fcntl(descriptor, command, argument);
}

CALL(7, ssize_t, read, (int descriptor, void *bytes, size_t size)) {
    return fails("read", false) ? -1 : REAL(read)(descriptor, bytes, size);
}

CALL(8, ssize_t, pread, (int descriptor, void *bytes, size_t size, off_t offset)) {
    return fails("pread", false) ? -1 : REAL(pread)(descriptor, bytes, size, offset);
}

CALL(9, ssize_t, pread64, (int descriptor, void *bytes, size_t size, off_t offset)) {
    return fails("pread64", false) ? -1 : REAL(pread64)(descriptor, bytes, size, offset);
}

CALL(10, ssize_t, write, (int descriptor, const void *bytes, size_t size)) {
    return fails("write", false) ? -1 : REAL(write)(descriptor, bytes, size);
}

static ssize_t write_at(
    const char *name, ssize_t (*real)(int, const void *, size_t, off_t), int descriptor, const void *bytes, size_t size,
    off_t offset) {
    if (fails(name, true)) return -1;
    if (is_halved()) {
        (void)!real(descriptor, bytes, size / 2, offset);
        raise(SIGKILL);
    }
    note(DEED_WRITE, file_at(descriptor), offset, bytes, size);
    return real(descriptor, bytes, size, offset);
}

CALL(11, ssize_t, pwrite, (int descriptor, const void *bytes, size_t size, off_t offset)) {
    return write_at("pwrite", REAL(pwrite), descriptor, bytes, size, offset);
}

CALL(12, ssize_t, pwrite64, (int descriptor, const void *bytes, size_t size, off_t offset)) {
    return write_at("pwrite64", REAL(pwrite64), descriptor, bytes, size, offset);
}

CALL(13, int, fchmod, (int descriptor, mode_t mode)) {
    return fails("fchmod", false) ? -1 : REAL(fchmod)(descriptor, mode);
}

/* Gives the number of the error, and does not set errno. */
CALL(14, int, fallocate, (int descriptor, off_t offset, off_t size)) {
    if (fails("fallocate", false)) return chosen_reason;
    return REAL(fallocate)(descriptor, offset, size);
}

CALL(15, int, unlink, (const char *path)) {
    if (fails("unlink", false)) return -1;
    const int result = REAL(unlink)(path);
    if (result == 0 && told->is_written) note(DEED_DELETE, file_named(path), 0, NULL, 0);
    return result;
}

/* Its result is one of SQLite's. */
CALL(16, int, openDirectory, (const char *path, int *out)) {
    if (fails("openDirectory", false)) {
        *out = -1;
        return SQLITE_CANTOPEN;
    }
    const int result = REAL(openDirectory)(path, out);
    if (result == SQLITE_OK && told->is_written) note_descriptor(*out, -1);
    return result;
}

CALL(17, void *, mmap, (void *address, size_t size, int protection, int flags, int descriptor, off_t offset)) {
    return fails("mmap", false) ? MAP_FAILED : REAL(mmap)(address, size, protection, flags, descriptor, offset);
}

CALL(18, ssize_t, readlink, (const char *path, char *out, size_t size)) {
    return fails("readlink", false) ? -1 : REAL(readlink)(path, out, size);
}

CALL(19, char *, getcwd, (char *out, size_t size)) { return fails("getcwd", false) ? NULL : REAL(getcwd)(out, size); }

/* SQLite calls these two by their names, which a program may define: the first one that the loader finds counts. */

static int synchronize(const char *name, long number, int descriptor) {
    if (fails(name, false)) return -1;
    const int result = (int)syscall(number, descriptor), file = file_at(descriptor);
    if (file < 0) note(DEED_SYNCHRONIZE_FOLDER, 1, 0, NULL, 0);
    if (file > 0) note(DEED_SYNCHRONIZE, file, 0, NULL, 0);
    return result;
}

int fsync(int descriptor) { return synchronize("fsync", SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return synchronize("fdatasync", SYS_fdatasync, descriptor); }

void watch_system_calls(void) {
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    vfs = sqlite3_vfs_find("unix");
    if (told == MAP_FAILED || !vfs || vfs->iVersion < 3) {
        fprintf(stderr, "SQLite's system calls cannot be watched.\n");
        exit(2);
    }
    static const struct { const char *name; int number; sqlite3_syscall_ptr mine; } calls[] = {
#define ROW(name) {#name, number_##name, (sqlite3_syscall_ptr)my_##name}
        ROW(open), ROW(close), ROW(access), ROW(stat), ROW(fstat), ROW(lstat), ROW(ftruncate), ROW(read), ROW(pread),
        ROW(pread64), ROW(write), ROW(pwrite), ROW(pwrite64), ROW(fchmod), ROW(fallocate), ROW(unlink),
        ROW(openDirectory), ROW(mmap), ROW(readlink), ROW(getcwd), {"fcntl", -1, (sqlite3_syscall_ptr)my_fcntl}};
    for (int i = 0; i < COUNT_OF(calls); i++) {
        /* Not every build of SQLite makes each of them. */
        const sqlite3_syscall_ptr real = vfs->xGetSystemCall(vfs, calls[i].name);
        if (!real) continue;
        if (calls[i].number >= 0) reals[calls[i].number] = real;
        vfs->xSetSystemCall(vfs, calls[i].name, calls[i].mine);
    }
}
