/* Folders of a check's own: made, copied, listed and removed, past the calls that system_calls.h watches. */
#ifndef QUIRE_FOLDERS_H_
#define QUIRE_FOLDERS_H_

#include <stdbool.h>
#include <stddef.h>

/* A new empty folder under TMPDIR, or where memory serves as a disk, or under /tmp; its name goes to `out`. */
bool make_check_folder(const char *check, char *out, size_t size);

/* Removes a folder with all that is in it. One that is not there is no failure. */
void remove_tree(const char *folder);

/* Makes `to`, with all files and folders that are in `from`. */
bool copy_tree(const char *from, const char *to);

/* Calls `visit` for each file and folder below `folder`: its path from there, and whether it is a folder. */
void visit_tree(const char *folder, void (*visit)(const char *name, bool is_folder, void *data), void *data);

/* All bytes of a file, in memory of malloc(3); NULL when it cannot be read. */
char *read_whole(const char *path, size_t *out_size);

bool write_whole(const char *path, const char *bytes, size_t size);

#endif
