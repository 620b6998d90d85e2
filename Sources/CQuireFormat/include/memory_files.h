#ifndef QUIRE_MEMORY_FILES_H_
#define QUIRE_MEMORY_FILES_H_

/* A VFS of SQLite whose files are blocks of the heap. All connections of this process that open a name share its content.
 * docs/internals/files-in-memory.md says why. Results are those of SQLite. Each function may be called on any thread. */

/* Registers the VFS with SQLite, which then refers to it for as long as the process lasts. Any number of times. */
int quire_memory_files_register(void);

/* The name of the VFS, which no other copy of this library in the process has. */
const char *quire_memory_files_vfs(void);

/* Has the name exist, with an empty database when it did not. It exists until each hold is released and each file of the
 * name is closed. Then its content is freed. SQLITE_MISUSE when the name is empty, too long, or that of a journal. */
int quire_memory_files_hold(const char *name);

/* Ends one hold of the name. */
void quire_memory_files_release(const char *name);

/* How many bytes of the heap the files of a name take, with their write-ahead log and its index; 0 for a name that does
 * not exist. */
long long quire_memory_files_size(const char *name);

#endif
