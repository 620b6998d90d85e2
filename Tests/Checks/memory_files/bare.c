/* Open files without connections. Bytes are compared with an array, locks with those of SQLite's own files, and pages that
 * were fetched stay where they are while the file becomes shorter and longer. */
#include "kinds.h"
#include "places.h"

#include "../../../Sources/CQuireFormat/include/memory_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES = 4, FETCHED = 6, LARGEST = 700000, LARGEST_WRITE = 150000, BLOCK = 65536, REGION = 32768 };

typedef struct page {
    sqlite3_int64 offset;
    int size;
    const unsigned char *bytes;
} page;

typedef struct opened {
    sqlite3_file *files[PLACES];
    page pages[FETCHED];
    int level;
    /* By slots. */
    unsigned shared, exclusive;
    bool has_index;
} opened;

static opened all[FILES];
static unsigned char expected[LARGEST + LARGEST_WRITE];
static sqlite3_int64 size;
static sqlite3_vfs *vfs[PLACES];
/* How often the name is held beside the one hold of the place. */
static int holds;

static int set_size(sqlite3_int64 new_size) {
    if (new_size > size) memset(expected + size, 0, (size_t)(new_size - size));
    size = new_size;
    return SQLITE_OK;
}

static void succeed(int code, const char *what) {
    if (code != SQLITE_OK) differ("%s gives %d", what, code);
}

static void open_both(opened *opened) {
    for (int place = 0; place < PLACES; place++) {
        /* A name is followed by the end of its parameters. */
        static char names[PLACES][400];
        int flags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
        snprintf(names[place], sizeof names[place] - 4, "%s", name_in(place, 0));
        opened->files[place] = calloc(1, (size_t)vfs[place]->szOsFile);
        succeed(vfs[place]->xOpen(vfs[place], names[place], opened->files[place], flags, &flags), "xOpen");
    }
    opened->level = SQLITE_LOCK_NONE;
}

static sqlite3_file *memory_of(const opened *opened) { return opened->files[IN_MEMORY]; }

static void end_page(opened *opened, page *page) {
    static volatile unsigned sum;
    const unsigned char *bytes = page->bytes;
    /* The bytes mean nothing any more, but they are there. */
    for (int i = 0; i < page->size; i++) sum += bytes[i];
    page->bytes = NULL;
    succeed(memory_of(opened)->pMethods->xUnfetch(memory_of(opened), page->offset, (void *)bytes), "xUnfetch");
}

static void end_pages(opened *opened) {
    for (int i = 0; i < FETCHED; i++)
        if (opened->pages[i].bytes) end_page(opened, &opened->pages[i]);
}

static void close_both(opened *opened) {
    if (!memory_of(opened)) return;
    end_pages(opened);
    for (int place = 0; place < PLACES; place++) {
        sqlite3_file *file = opened->files[place];
        if (opened->shared | opened->exclusive)
            for (int slot = 0; slot < SQLITE_SHM_NLOCK; slot++) {
                const unsigned bit = 1u << slot;
                if (opened->shared & bit) file->pMethods->xShmLock(file, slot, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_SHARED);
                if (opened->exclusive & bit) file->pMethods->xShmLock(file, slot, 1, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
            }
        file->pMethods->xShmUnmap(file, 0);
        file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
        file->pMethods->xClose(file);
        free(file);
        opened->files[place] = NULL;
    }
    opened->shared = opened->exclusive = 0;
    opened->has_index = false;
}

/* A block with a fetched page stays. */
static void refuse_to_free(const void *memory, int count) {
    const unsigned char *first = memory;
    for (int i = 0; i < FILES; i++)
        for (int j = 0; j < FETCHED; j++)
            if (all[i].pages[j].bytes >= first && all[i].pages[j].bytes < first + count) differ("a fetched page is freed");
}

/* --- Bytes. */

static void write_some(opened *opened) {
    const int count = 1 + random_below(chance(70) ? 5000 : LARGEST_WRITE);
    const sqlite3_int64 offset = random_below(chance(50) && size && size < LARGEST ? (int)size : LARGEST);
    unsigned char *bytes = malloc((size_t)count);
    for (int i = 0; i < count; i++) bytes[i] = (unsigned char)(i * 7 + count + (int)offset);
    if (offset + count > size) set_size(offset + count);
    memcpy(expected + offset, bytes, (size_t)count);
    succeed(memory_of(opened)->pMethods->xWrite(memory_of(opened), bytes, count, offset), "xWrite");
    free(bytes);
}

static void truncate(opened *opened) {
    set_size(random_below(chance(70) && size ? (int)size : LARGEST));
    succeed(memory_of(opened)->pMethods->xTruncate(memory_of(opened), size), "xTruncate");
}

static void read_some(opened *opened) {
    const int count = 1 + random_below(chance(70) ? 5000 : LARGEST_WRITE);
    const sqlite3_int64 offset = random_below(LARGEST);
    unsigned char *bytes = malloc((size_t)count);
    sqlite3_int64 found = -1;
    const int64_t there = size < offset ? 0 : size - offset < count ? size - offset : count;
    memset(bytes, 0x55, (size_t)count);
    const int code = memory_of(opened)->pMethods->xRead(memory_of(opened), bytes, count, offset);
    if (code != (there == count ? SQLITE_OK : SQLITE_IOERR_SHORT_READ)) differ("xRead gives %d", code);
    for (int i = 0; i < count; i++)
        if (bytes[i] != (i < there ? expected[offset + i] : 0)) differ("byte %lld is %d", (long long)offset + i, bytes[i]);
    free(bytes);
    succeed(memory_of(opened)->pMethods->xFileSize(memory_of(opened), &found), "xFileSize");
    if (found != size) differ("the size is %lld instead of %lld", (long long)found, (long long)size);
}

static void fetch(opened *opened) {
    page *page = &opened->pages[random_below(FETCHED)];
    if (page->bytes) return end_page(opened, page);
    page->size = 512 << random_below(8);
    page->offset = (sqlite3_int64)random_below(LARGEST / page->size) * page->size;
    sqlite3_int64 limit = chance(75) ? LARGEST * 2 : random_below(LARGEST);
    void *bytes = NULL;
    const bool may = page->offset + page->size <= size && page->offset + page->size <= limit;
    succeed(memory_of(opened)->pMethods->xFileControl(memory_of(opened), SQLITE_FCNTL_MMAP_SIZE, &limit), "SQLITE_FCNTL_MMAP_SIZE");
    succeed(memory_of(opened)->pMethods->xFetch(memory_of(opened), page->offset, page->size, &bytes), "xFetch");
    if (may != (bytes != NULL)) differ("a page of %d at %lld is %s", page->size, (long long)page->offset, may ? "not fetched" : "fetched");
    if (bytes && memcmp(bytes, expected + page->offset, (size_t)page->size) != 0) differ("a fetched page has other bytes");
    page->bytes = bytes;
}

/* While no page is fetched, the name takes no more than its content. */
static void check_size(void) {
    bool has_index = false;
    for (int i = 0; i < FILES; i++) {
        has_index |= all[i].has_index;
        for (int j = 0; j < FETCHED; j++)
            if (all[i].pages[j].bytes) return;
    }
    const long long most = (size + BLOCK - 1) / BLOCK * (BLOCK + 256) + has_index * 2 * REGION + 10000;
    const long long found = quire_memory_files_size(name_in(IN_MEMORY, 0));
    if (found > most || found < size) differ("%lld bytes take %lld of memory", (long long)size, found);
}

/* --- Locks. */

static void lock(opened *opened) {
    static const int levels[] = {SQLITE_LOCK_SHARED, SQLITE_LOCK_RESERVED, SQLITE_LOCK_EXCLUSIVE};
    int codes[PLACES], reserved[PLACES];
    int level = RANDOM_OF(levels);
    const bool unlocks = chance(40);
    if (unlocks) level = chance(50) ? SQLITE_LOCK_NONE : SQLITE_LOCK_SHARED;
    else if (opened->level == SQLITE_LOCK_NONE) level = SQLITE_LOCK_SHARED;
    /* SQLite 3.40 keeps a lock in files that it did not get, and asks so for the end of a log alone. */
    else if (opened->level == SQLITE_LOCK_SHARED) level = SQLITE_LOCK_RESERVED;
    if (unlocks && level > opened->level) return;
    for (int place = 0; place < PLACES; place++) {
        sqlite3_file *file = opened->files[place];
        codes[place] = unlocks ? file->pMethods->xUnlock(file, level) : file->pMethods->xLock(file, level);
    }
    if (codes[0] != codes[1]) differ("lock %d from %d gives %d in memory, %d in files", level, opened->level, codes[0], codes[1]);
    if (codes[0] == SQLITE_OK && (unlocks || level > opened->level)) opened->level = level;
    for (int place = 0; place < PLACES; place++) {
        sqlite3_file *file = all[0].files[place];
        if (file) succeed(file->pMethods->xCheckReservedLock(file, &reserved[place]), "xCheckReservedLock");
    }
    if (memory_of(&all[0]) && reserved[0] != reserved[1]) differ("a reserved lock is seen in one place only");
}

static void lock_slots(opened *opened) {
    const int first = random_below(SQLITE_SHM_NLOCK);
    const bool is_shared = chance(60);
    const int count = is_shared ? 1 : 1 + random_below(SQLITE_SHM_NLOCK - first);
    const unsigned mask = (1u << (first + count)) - (1u << first);
    unsigned *own = is_shared ? &opened->shared : &opened->exclusive;
    const bool unlocks = (*own & mask) == mask;
    /* SQLite does not ask for what it has in another way, nor gives back what it does not have. */
    if ((opened->shared | opened->exclusive) & mask && !unlocks) return;
    int codes[PLACES];
    opened->has_index = true;
    for (int place = 0; place < PLACES; place++) {
        void volatile *region = NULL;
        sqlite3_file *file = opened->files[place];
        succeed(file->pMethods->xShmMap(file, random_below(2), REGION, 1, &region), "xShmMap");
        if (!region) differ("%s a region is not mapped", place_name(place));
        for (int i = 0; i < REGION; i++)
            if (((unsigned char volatile *)region)[i]) differ("%s a region is not empty", place_name(place));
        codes[place] = file->pMethods->xShmLock(file, first, count,
            (unlocks ? SQLITE_SHM_UNLOCK : SQLITE_SHM_LOCK) | (is_shared ? SQLITE_SHM_SHARED : SQLITE_SHM_EXCLUSIVE));
    }
    if (codes[0] != codes[1]) differ("slots %d to %d give %d in memory, %d in files", first, first + count, codes[0], codes[1]);
    if (codes[0] != SQLITE_OK) return;
    if (unlocks) *own &= ~mask;
    else *own |= mask;
}

/* --- Names. */

static void hold(void) {
    const char *name = name_in(IN_MEMORY, 0);
    if (chance(50) || !holds) succeed(quire_memory_files_hold(name), "hold"), holds++;
    else quire_memory_files_release(name), holds--;
}

/* A file beside a database: made, found, deleted, and there until it is closed. */
static void make_journal(void) {
    static const char *const endings[] = {"-journal", "-wal", "-mj12345A9BC"};
    char name[400] = {0};
    int flags = SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_READWRITE, found = 1;
    sqlite3_file *file = calloc(1, (size_t)vfs[IN_MEMORY]->szOsFile), *again = calloc(1, (size_t)vfs[IN_MEMORY]->szOsFile);
    snprintf(name, sizeof name - 4, "%s%s", name_in(IN_MEMORY, 0), RANDOM_OF(endings));
    if (vfs[0]->xOpen(vfs[0], name, file, flags, NULL) != SQLITE_CANTOPEN) differ("a journal is there that was not made");
    succeed(vfs[0]->xOpen(vfs[0], name, file, flags | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE, NULL), "xOpen of a journal");
    vfs[0]->xAccess(vfs[0], name, SQLITE_ACCESS_EXISTS, &found);
    if (found) differ("an empty journal counts as one");
    succeed(file->pMethods->xWrite(file, "abc", 3, 0), "xWrite");
    vfs[0]->xAccess(vfs[0], name, SQLITE_ACCESS_EXISTS, &found);
    if (!found) differ("a journal is not found");
    if (vfs[0]->xOpen(vfs[0], name, again, flags | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE, NULL) != SQLITE_CANTOPEN)
        differ("a journal is made twice");
    succeed(vfs[0]->xDelete(vfs[0], name, 0), "xDelete");
    if (vfs[0]->xDelete(vfs[0], name, 0) != SQLITE_IOERR_DELETE_NOENT) differ("a journal is deleted twice");
    char bytes[3];
    succeed(file->pMethods->xRead(file, bytes, 3, 0), "xRead of a deleted journal");
    succeed(file->pMethods->xFileControl(file, SQLITE_FCNTL_HAS_MOVED, &found), "SQLITE_FCNTL_HAS_MOVED");
    if (!found || memcmp(bytes, "abc", 3) != 0) differ("a deleted journal is another one");
    file->pMethods->xClose(file);
    free(file);
    free(again);
}

static void refuse_names(void) {
    static const char *const refused[] = {"", "a-wal", "b-journal", "c-mj00000F9AB"};
    sqlite3_file *file = calloc(1, (size_t)vfs[IN_MEMORY]->szOsFile);
    char name[8] = "unheld";
    if (quire_memory_files_hold(RANDOM_OF(refused)) != SQLITE_MISUSE) differ("a name is held that cannot be one");
    if (quire_memory_files_hold(NULL) != SQLITE_MISUSE) differ("no name is held");
    const int flags = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (vfs[0]->xOpen(vfs[0], name, file, flags, NULL) != SQLITE_CANTOPEN) differ("a name is opened that is not held");
    free(file);
}

static void take(const step *step) {
    opened *opened = &all[step->who];
    seed_dice(step->seed);
    const int number = random_below(100);
    if (!memory_of(opened)) return open_both(opened);
    if (number < 5) close_both(opened);
    else if (number < 25) write_some(opened);
    else if (number < 33) truncate(opened);
    else if (number < 45) read_some(opened);
    else if (number < 65) fetch(opened);
    else if (number < 80) lock(opened);
    else if (number < 93) lock_slots(opened);
    else if (number < 95) hold();
    else if (number < 97) make_journal();
    else if (number < 98) refuse_names();
    else
        for (int i = 0; i < FILES; i++) end_pages(&all[i]);
    check_size();
}

static void run(const step *steps, int count) {
    begin_places();
    before_free = refuse_to_free;
    for (int place = 0; place < PLACES; place++) begin_place(place);
    vfs[IN_MEMORY] = sqlite3_vfs_find(quire_memory_files_vfs());
    vfs[IN_FILES] = sqlite3_vfs_find(NULL);
    if (!vfs[IN_MEMORY] || quire_memory_files_register() != SQLITE_OK) differ("the VFS is not there");
    for (int i = 0; i < count; i++) {
        begin_step(i);
        take(&steps[i]);
    }
    for (int i = 0; i < FILES; i++) close_both(&all[i]);
    while (holds) quire_memory_files_release(name_in(IN_MEMORY, 0)), holds--;
    for (int place = 0; place < PLACES; place++) end_place(place);
    end_places();
}

static void show(const step *step) {
    seed_dice(step->seed);
    printf(", file %d, choice %d, seed %u\n", step->who, random_below(100), step->seed);
}

const kind bare = {"bare", 20, FILES, run, show};
