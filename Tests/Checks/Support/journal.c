#include "journal.h"

#include "folders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES ((size_t)192 << 20)

typedef struct shared {
    bool is_written, is_full;
    char folder[300];
    int names, files, entries, base;
    size_t bytes;
    char name[JOURNAL_NAMES][JOURNAL_NAME_SIZE];
    /* The file that a name leads to now, -1 for none. */
    int file_of_name[JOURNAL_NAMES];
    entry entry[JOURNAL_ENTRIES];
    char store[];
} shared;

static shared *told;

bool make_journal(void) {
    void *memory = mmap(NULL, sizeof *told + BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    told = memory == MAP_FAILED ? NULL : memory;
    return told != NULL;
}

void end_journal(void) { told->is_written = false; }
bool has_journal(void) { return told && told->is_written; }
int journal_length(void) { return told ? told->entries : 0; }
bool is_journal_full(void) { return told->is_full; }
const entry *journal_entry(int number) { return &told->entry[number]; }
const char *journal_bytes(const entry *entry) { return told->store + entry->bytes; }
const char *journal_name(int number) { return told->name[number]; }
int journal_name_count(void) { return told->names; }
int journal_file_count(void) { return told->files; }
int journal_base(void) { return told->base; }

/* The number of a name; -1 for one of another folder, and when there is no room. */
static int name_number(const char *path) {
    const size_t prefix = strlen(told->folder);
    if (strncmp(path, told->folder, prefix) != 0 || (path[prefix] != '/' && path[prefix] != 0)) return -1;
    const char *name = path + prefix + (path[prefix] == '/');
    for (int i = 0; i < told->names; i++)
        if (strcmp(told->name[i], name) == 0) return i;
    if (told->names == JOURNAL_NAMES || strlen(name) >= JOURNAL_NAME_SIZE) {
        told->is_full = true;
        return -1;
    }
    told->file_of_name[told->names] = -1;
    snprintf(told->name[told->names], JOURNAL_NAME_SIZE, "%s", name);
    return told->names++;
}

static void note(entry made, const void *bytes) {
    if (!has_journal()) return;
    const size_t size = bytes ? made.size : 0;
    if (told->entries == JOURNAL_ENTRIES || told->bytes + size > BYTES) {
        told->is_full = true;
        return;
    }
    made.bytes = told->bytes;
    if (bytes) memcpy(told->store + told->bytes, bytes, size);
    told->bytes += size;
    told->entry[told->entries++] = made;
}

void note_opened(const char *path, bool is_new, int *out_file) {
    const int name = has_journal() ? name_number(path) : -1;
    *out_file = -1;
    if (name < 0) return;
    if (is_new || told->file_of_name[name] < 0) {
        if (told->files == JOURNAL_FILES) {
            told->is_full = true;
            return;
        }
        told->file_of_name[name] = told->files++;
        note((entry){.deed = DEED_MAKE, .file = told->file_of_name[name], .name = name}, NULL);
    }
    *out_file = told->file_of_name[name];
}

void note_write(int file, int64_t offset, const void *bytes, size_t size) {
    if (file >= 0) note((entry){.deed = DEED_WRITE, .file = file, .offset = offset, .size = size}, bytes);
}

void note_size(int file, int64_t size) {
    if (file >= 0) note((entry){.deed = DEED_SET_SIZE, .file = file, .offset = size}, NULL);
}

void note_synchronized(int file) {
    if (file >= 0) note((entry){.deed = DEED_SYNCHRONIZE, .file = file}, NULL);
}

void note_rename(const char *path, const char *new_path) {
    if (!has_journal()) return;
    const int name = name_number(path), new_name = name_number(new_path);
    if (name < 0 || new_name < 0) return;
    const int file = told->file_of_name[name];
    told->file_of_name[new_name] = file;
    told->file_of_name[name] = -1;
    note((entry){.deed = DEED_RENAME, .file = file, .name = name, .new_name = new_name}, NULL);
}

void note_path(deed deed, const char *path) {
    const int name = has_journal() ? name_number(path) : -1;
    if (name < 0) return;
    note((entry){.deed = deed, .file = told->file_of_name[name], .name = name}, NULL);
    if (deed == DEED_DELETE) told->file_of_name[name] = -1;
}

static void note_present(const char *name, bool is_folder, void *data) {
    (void)data;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", told->folder, name);
    if (is_folder) return note_path(DEED_MAKE_FOLDER, path);
    size_t size = 0;
    int file = -1;
    char *bytes = read_whole(path, &size);
    note_opened(path, true, &file);
    if (bytes) note_write(file, 0, bytes, size);
    else told->is_full = true;
    free(bytes);
}

bool begin_journal(const char *folder) {
    told->names = told->files = told->entries = told->base = 0;
    told->bytes = 0;
    told->is_full = false;
    snprintf(told->folder, sizeof told->folder, "%s", folder);
    told->is_written = true;
    visit_tree(folder, note_present, NULL);
    told->base = told->entries;
    return !told->is_full;
}
