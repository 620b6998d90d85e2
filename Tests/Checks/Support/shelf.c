#include "shelf.h"

#include "dice.h"
#include "folders.h"
#include "journal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTOR = 512 };

/* How much of what was not synchronized is there. */
typedef struct weather {
    /* Of a hundred writes and names; and of a hundred sectors of a write that is torn. */
    int kept, torn, sectors;
} weather;

static weather draw_weather(void) {
    static const weather kinds[] = {{0, 0, 0}, {100, 0, 0}, {50, 0, 0}, {85, 0, 0}, {15, 0, 0}, {50, 50, 50}, {90, 40, 80}, {60, 100, 30}};
    return RANDOM_OF(kinds);
}

typedef struct contents {
    size_t size;
    char *bytes;
} contents;

static bool resize(contents *file, size_t size) {
    char *const bytes = realloc(file->bytes, size + 1);
    if (!bytes) return false;
    if (size > file->size) memset(bytes + file->size, 0, size - file->size);
    file->bytes = bytes;
    file->size = size;
    return true;
}

static bool put(contents *file, size_t offset, const char *bytes, size_t size) {
    if (offset + size > file->size && !resize(file, offset + size)) return false;
    memcpy(file->bytes + offset, bytes, size);
    return true;
}

/* Sectors begin at multiples of their size in the file, wherever the write begins. */
static bool put_torn(contents *file, const entry *entry, int sectors) {
    const char *bytes = journal_bytes(entry);
    for (size_t place = 0; place < entry->size;) {
        const size_t offset = (size_t)entry->offset + place, rest = entry->size - place;
        const size_t room = SECTOR - offset % SECTOR, size = room < rest ? room : rest;
        if (chance(sectors) && !put(file, offset, bytes + place, size)) return false;
        place += size;
    }
    return true;
}

static bool play_contents(contents *files, int length, weather weather) {
    int sure[JOURNAL_FILES];
    for (int i = 0; i < JOURNAL_FILES; i++) sure[i] = journal_base();
    for (int i = 0; i < length; i++)
        if (journal_entry(i)->deed == DEED_SYNCHRONIZE) sure[journal_entry(i)->file] = i;
    for (int i = 0; i < length; i++) {
        const entry *entry = journal_entry(i);
        if (entry->deed != DEED_WRITE && entry->deed != DEED_SET_SIZE) continue;
        const bool is_sure = i < sure[entry->file];
        if (!is_sure && !chance(weather.kept)) continue;
        contents *const file = &files[entry->file];
        if (entry->deed == DEED_SET_SIZE ? !resize(file, (size_t)entry->offset)
            : is_sure || !chance(weather.torn) ? !put(file, (size_t)entry->offset, journal_bytes(entry), entry->size)
                                               : !put_torn(file, entry, weather.sectors))
            return false;
    }
    return true;
}

/* How long the name of the folder is that a name lies in. */
static size_t folder_size(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash ? (size_t)(slash - name) : 0;
}

/* Behind which entry names of the same folder may be old ones. */
static int last_sure(int name, int length) {
    const char *path = journal_name(name);
    for (int i = length - 1; i > journal_base(); i--) {
        const entry *entry = journal_entry(i);
        if (entry->deed != DEED_SYNCHRONIZE_FOLDER) continue;
        const char *folder = journal_name(entry->name);
        if (strlen(folder) == folder_size(path) && strncmp(folder, path, strlen(folder)) == 0) return i;
    }
    return journal_base();
}

enum { NOTHING = -1, FOLDER = -2 };

static void play_names(int *place_of_name, int length, weather weather) {
    for (int i = 0; i < JOURNAL_NAMES; i++) place_of_name[i] = NOTHING;
    for (int i = 0; i < length; i++) {
        const entry *entry = journal_entry(i);
        if (entry->deed == DEED_WRITE || entry->deed == DEED_SET_SIZE || entry->deed == DEED_SYNCHRONIZE
            || entry->deed == DEED_SYNCHRONIZE_FOLDER)
            continue;
        if (i >= last_sure(entry->name, length) && !chance(weather.kept)) continue;
        switch (entry->deed) {
            case DEED_MAKE: place_of_name[entry->name] = entry->file; break;
            case DEED_MAKE_FOLDER: place_of_name[entry->name] = FOLDER; break;
            case DEED_RENAME:
                place_of_name[entry->new_name] = entry->file;
                place_of_name[entry->name] = NOTHING;
                break;
            default: place_of_name[entry->name] = NOTHING; break;
        }
    }
}

static bool is_index(const char *name) {
    const size_t size = strlen(name);
    return size > 4 && strcmp(name + size - 4, "-shm") == 0;
}

bool make_image(const char *target, int length) {
    static contents files[JOURNAL_FILES];
    static int place_of_name[JOURNAL_NAMES];
    const weather weather = draw_weather();
    memset(files, 0, sizeof files);
    bool is_made = play_contents(files, length, weather) && mkdir(target, 0700) == 0;
    play_names(place_of_name, length, weather);
    /* Folders first, each before what is in it: names are as long as they are deep. */
    for (int depth = 1; is_made && depth < JOURNAL_NAME_SIZE; depth++)
        for (int i = 0; i < journal_name_count(); i++) {
            char path[600];
            snprintf(path, sizeof path, "%s/%s", target, journal_name(i));
            if (place_of_name[i] == FOLDER && (int)strlen(journal_name(i)) == depth) mkdir(path, 0700);
        }
    for (int i = 0; is_made && i < journal_name_count(); i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", target, journal_name(i));
        struct stat status;
        const size_t parent = strlen(target) + folder_size(journal_name(i)) + 1;
        char folder[600];
        snprintf(folder, sizeof folder, "%.*s", (int)parent, path);
        if (place_of_name[i] < 0 || is_index(journal_name(i)) || stat(folder, &status) != 0) continue;
        const contents *file = &files[place_of_name[i]];
        is_made = write_whole(path, file->bytes ? file->bytes : "", file->size);
    }
    for (int i = 0; i < JOURNAL_FILES; i++) free(files[i].bytes);
    return is_made;
}
