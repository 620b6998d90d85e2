/*
 * What a process did to the files of a folder, in order: for images of what a power cut leaves, see shelf.h. The journal
 * is shared with the child processes of the one that made it.
 */
#ifndef QUIRE_JOURNAL_H_
#define QUIRE_JOURNAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum deed {
    /* A name gets a new empty file; or a new folder. */
    DEED_MAKE,
    DEED_MAKE_FOLDER,
    DEED_WRITE,
    DEED_SET_SIZE,
    DEED_RENAME,
    DEED_DELETE,
    DEED_DELETE_FOLDER,
    /* The contents of a file survive a power cut; or the names in a folder do. */
    DEED_SYNCHRONIZE,
    DEED_SYNCHRONIZE_FOLDER
} deed;

enum { JOURNAL_NAME_SIZE = 120, JOURNAL_NAMES = 400, JOURNAL_FILES = 400, JOURNAL_ENTRIES = 1 << 16 };

typedef struct entry {
    deed deed;
    /* The numbers of the file, and of the name that the deed is about; of a rename, the old name. */
    int file, name, new_name;
    /* Of DEED_SET_SIZE the size. */
    int64_t offset;
    size_t size, bytes;
} entry;

/* Makes the journal, which is shared from then on. False without memory. */
bool make_journal(void);

/* From now on what is done in `folder` is written down. The files that are there now count as synchronized. */
bool begin_journal(const char *folder);
void end_journal(void);
bool has_journal(void);

int journal_length(void);
/* Whether it had no room for all that was done. */
bool is_journal_full(void);

const entry *journal_entry(int number);
const char *journal_bytes(const entry *entry);
/* A path from the folder on. */
const char *journal_name(int number);
int journal_name_count(void);
int journal_file_count(void);
/* How many entries, at the beginning, are files that were there before. */
int journal_base(void);

/* What is done; paths are absolute, and those of other folders are left out. */
void note_opened(const char *path, bool is_new, int *out_file);
void note_write(int file, int64_t offset, const void *bytes, size_t size);
void note_size(int file, int64_t size);
void note_rename(const char *path, const char *new_path);
void note_path(deed deed, const char *path);
void note_synchronized(int file);

#endif
