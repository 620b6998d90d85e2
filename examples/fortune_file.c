/* See fortune_file.h. Nothing here needs Quire. */
#define _POSIX_C_SOURCE 200809L

#include "fortune_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PACKAGES_FOLDER "/usr/share/games/fortunes"
#define LONGEST_AUTHOR 50

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t';
}

/* The length of the character at `bytes`, or 0 when it is not well-formed UTF-8. */
static size_t character_length(const unsigned char *bytes, size_t size) {
    unsigned char first = bytes[0];
    unsigned char low = 0x80, high = 0xBF; /* what the second byte may be */
    size_t length;
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) length = 2;
    else if (first >= 0xE0 && first <= 0xEF) length = 3;
    else if (first >= 0xF0 && first <= 0xF4) length = 4;
    else return 0;
    if (first == 0xE0) low = 0xA0;  /* two bytes would do */
    if (first == 0xED) high = 0x9F; /* surrogates */
    if (first == 0xF0) low = 0x90;  /* three bytes would do */
    if (first == 0xF4) high = 0x8F; /* beyond U+10FFFF */
    if (length > size || bytes[1] < low || bytes[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xBF) return 0;
    }
    return length;
}

static bool is_text(const char *path, const char *text, size_t size) {
    size_t offset = 0;
    while (offset < size) {
        const unsigned char *bytes = (const unsigned char *)text + offset;
        size_t length = character_length(bytes, size - offset);
        if (length == 0) {
            fprintf(stderr, "quotes: %s is not UTF-8: the byte 0x%02x at offset %zu begins no character.\n",
                    path, bytes[0], offset);
            return false;
        }
        offset += length;
    }
    const char *nul = memchr(text, '\0', size);
    if (nul) fprintf(stderr, "quotes: %s is no text: there is a zero byte at offset %zu.\n", path, (size_t)(nul - text));
    return nul == NULL;
}

/* The bytes of a file and room for one more, or NULL. */
static char *read_whole(const char *path, size_t *out_size) {
    char *text = NULL;
    size_t size = 0, capacity = 0;
    FILE *file = fopen(path, "rb");
    if (!file) goto failed;
    do {
        if (capacity - size < 2) {
            capacity = capacity ? capacity * 2 : 1 << 16;
            char *larger = realloc(text, capacity);
            if (!larger) goto failed;
            text = larger;
        }
        size += fread(text + size, 1, capacity - size - 1, file);
        if (ferror(file)) goto failed;
        if (size >= UINT32_MAX) { /* the size of a quire_value has 32 bits */
            errno = EFBIG;
            goto failed;
        }
    } while (!feof(file));
    fclose(file);
    *out_size = size;
    return text;
failed:
    fprintf(stderr, "quotes: cannot read %s: %s.\n", path, strerror(errno));
    if (file) fclose(file);
    free(text);
    return NULL;
}

/* Steps 2 and 3 of the rule; `text` is what follows the hyphens, which begins with a space. */
static void find_author(const char *text, size_t size, quotation *quote) {
    size_t end;
    for (end = 0; end < size; end++) {
        size_t left = size - end;
        const char *rest = text + end;
        if (*rest == ',') {
            if (left < 4 || (memcmp(rest, ", Jr", 4) != 0 && memcmp(rest, ", Sr", 4) != 0)) break;
        } else if (memchr("\"([<;:", *rest, 6)) {
            break;
        } else if (left >= 3 && *rest == ' ' && (left == 3 || rest[3] == ' ') &&
                   (memcmp(rest + 1, "in", 2) == 0 || memcmp(rest + 1, "on", 2) == 0 ||
                    memcmp(rest + 1, "at", 2) == 0 || memcmp(rest + 1, "to", 2) == 0)) {
            break;
        }
    }
    size_t start = 0;
    while (start < end && is_blank(text[start])) start++;
    while (end > start && is_blank(text[end - 1])) end--;
    if (end - start <= LONGEST_AUTHOR) {
        quote->author = text + start;
        quote->author_size = end - start;
    }
}

/* Adds an entry, given as its lines, each ended by a line feed. */
static bool add_entry(quotations *all, const char *text, size_t size) {
    bool is_empty = true;
    for (size_t i = 0; i < size && is_empty; i++) is_empty = is_blank(text[i]) || text[i] == '\n';
    if (is_empty) return true;

    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? all->capacity * 2 : 1024;
        quotation *larger = realloc(all->items, capacity * sizeof *larger);
        if (!larger) return false;
        all->items = larger;
        all->capacity = capacity;
    }
    quotation quote = {"", 0, text, size - 1};
    const char *end = text + size;
    const char *attribution = NULL, *attribution_end = NULL;
    for (const char *line = text; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        const char *start = line;
        while (is_blank(*start)) start++;
        if (line_end - start >= 3 && memcmp(start, "-- ", 3) == 0) {
            attribution = start + 2;
            attribution_end = line_end;
        }
        line = line_end + 1;
    }
    if (attribution) find_author(attribution, (size_t)(attribution_end - attribution), &quote);
    all->items[all->count++] = quote;
    return true;
}

/* Drops carriage returns and separators in place, so that the lines of each entry lie together. */
static bool split(quotations *all, char *text, size_t size) {
    const char *end = text + size;
    char *entry = text, *written = text;
    for (const char *line = text; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        if (!line_end) line_end = end;
        size_t length = (size_t)(line_end - line);
        if (length > 0 && line[length - 1] == '\r') length--;
        if (length == 1 && *line == '%') {
            if (!add_entry(all, entry, (size_t)(written - entry))) return false;
            entry = written;
        } else {
            memmove(written, line, length);
            written += length;
            *written++ = '\n';
        }
        line = line_end + 1;
    }
    return add_entry(all, entry, (size_t)(written - entry));
}

bool quotations_read_file(quotations *all, const char *path) {
    size_t size = 0, count_before = all->count;
    char *text = read_whole(path, &size);
    if (!text) return false;
    char **larger = realloc(all->texts, (all->text_count + 1) * sizeof *larger);
    if (!larger) {
        free(text);
        fprintf(stderr, "quotes: out of memory.\n");
        return false;
    }
    all->texts = larger;
    all->texts[all->text_count++] = text;

    if (size == 0) {
        fprintf(stderr, "quotes: %s is empty; it should hold quotations, with a line of one %% after each.\n", path);
        return false;
    }
    if (!is_text(path, text, size)) return false;
    if (!split(all, text, size)) {
        fprintf(stderr, "quotes: out of memory.\n");
        return false;
    }
    if (all->count == count_before) {
        fprintf(stderr, "quotes: %s holds no quotation, only blanks and %%.\n", path);
        return false;
    }
    return true;
}

/* Skips the index files (.dat) and the links of the same texts by another name (.u8). */
static int is_plain_name(const struct dirent *entry) {
    return strchr(entry->d_name, '.') == NULL;
}

static int by_bytes(const struct dirent **a, const struct dirent **b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

bool quotations_read_packages(quotations *all) {
    struct dirent **entries = NULL;
    int count = scandir(PACKAGES_FOLDER, &entries, is_plain_name, by_bytes);
    bool is_read = true;
    for (int i = 0; i < count; i++) {
        char path[sizeof PACKAGES_FOLDER + sizeof entries[i]->d_name + 1];
        struct stat status;
        snprintf(path, sizeof path, "%s/%s", PACKAGES_FOLDER, entries[i]->d_name);
        if (is_read && lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
            is_read = quotations_read_file(all, path);
        }
        free(entries[i]);
    }
    free(entries);
    if (is_read && all->count == 0) {
        fprintf(stderr, "quotes: %s has no quotations; install the packages fortunes and fortunes-min, "
                        "or name a file with --file.\n", PACKAGES_FOLDER);
        return false;
    }
    return is_read;
}

void quotations_print(const quotations *all) {
    for (size_t i = 0; i < all->count; i++) {
        const quotation *quote = &all->items[i];
        printf("author: ");
        fwrite(quote->author, 1, quote->author_size, stdout);
        printf("\n");
        fwrite(quote->contents, 1, quote->contents_size, stdout);
        printf("\n%%\n");
    }
}

void quotations_free(quotations *all) {
    for (size_t i = 0; i < all->text_count; i++) free(all->texts[i]);
    free(all->texts);
    free(all->items);
    *all = (quotations){0};
}
