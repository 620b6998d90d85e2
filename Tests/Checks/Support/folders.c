#include "folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 600 };

bool make_check_folder(const char *check, char *out, size_t size) {
    const char *parent = getenv("TMPDIR");
    if (!parent) parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    char name[PATH_SIZE];
    snprintf(name, sizeof name, "%s/quire-%s-XXXXXX", parent, check);
    char *const made = mkdtemp(name) ? realpath(name, NULL) : NULL;
    if (!made || strlen(made) >= size) return false;
    snprintf(out, size, "%s", made);
    free(made);
    return true;
}

static void visit_below(
    const char *folder, const char *prefix, void (*visit)(const char *, bool, void *), void *data) {
    char path[PATH_SIZE], name[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", folder, prefix);
    DIR *stream = opendir(path);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        struct stat status;
        if (snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "/" : "", entry->d_name) >= (int)sizeof name
            || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path || lstat(path, &status) != 0)
            continue;
        const bool is_folder = S_ISDIR(status.st_mode);
        visit(name, is_folder, data);
        if (is_folder) visit_below(folder, name, visit, data);
    }
    closedir(stream);
}

void visit_tree(const char *folder, void (*visit)(const char *name, bool is_folder, void *data), void *data) {
    visit_below(folder, "", visit, data);
}

void remove_tree(const char *folder) {
    DIR *stream = opendir(folder);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        char path[PATH_SIZE];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
            || snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        if (unlink(path) != 0) remove_tree(path);
    }
    closedir(stream);
    rmdir(folder);
}

char *read_whole(const char *path, size_t *out_size) {
    FILE *in = fopen(path, "rb");
    if (!in) return NULL;
    char *bytes = NULL;
    struct stat status;
    if (fstat(fileno(in), &status) == 0 && (bytes = malloc((size_t)status.st_size + 1))) {
        *out_size = fread(bytes, 1, (size_t)status.st_size, in);
        bytes[*out_size] = 0;
    }
    fclose(in);
    return bytes;
}

bool write_whole(const char *path, const char *bytes, size_t size) {
    FILE *out = fopen(path, "wb");
    if (!out) return false;
    const bool is_whole = fwrite(bytes, 1, size, out) == size;
    return fclose(out) == 0 && is_whole;
}

typedef struct copying {
    const char *from, *to;
    bool is_whole;
} copying;

static void copy_one(const char *name, bool is_folder, void *data) {
    copying *const copying = data;
    char from[PATH_SIZE], to[PATH_SIZE];
    if (snprintf(from, sizeof from, "%s/%s", copying->from, name) >= (int)sizeof from
        || snprintf(to, sizeof to, "%s/%s", copying->to, name) >= (int)sizeof to) {
        copying->is_whole = false;
    } else if (is_folder) {
        if (mkdir(to, 0700) != 0) copying->is_whole = false;
    } else {
        size_t size = 0;
        char *bytes = read_whole(from, &size);
        if (!bytes || !write_whole(to, bytes, size)) copying->is_whole = false;
        free(bytes);
    }
}

bool copy_tree(const char *from, const char *to) {
    copying copying = {from, to, mkdir(to, 0700) == 0};
    visit_tree(from, copy_one, &copying);
    return copying.is_whole;
}
