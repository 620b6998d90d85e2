/*
 * A VFS of SQLite for stores in memory: what SQLite calls. Nothing of it reaches a disk, files without a name included.
 * docs/internals/files-in-memory.md says why there is one.
 *
 * What is not about files is left to the VFS that was the default one when this one was registered.
 */
#include <stdio.h>
#include <string.h>

#include "include/memory_files.h"
#include "memory_content.h"

static sqlite3_vfs *others(sqlite3_vfs *vfs) { return vfs->pAppData; }

/* MARK: Open files */

static int close_file(sqlite3_file *base) {
  struct memory_file *file = (struct memory_file *)base;
  quire_index_unmap(base, 0);
  quire_memory_unlock(base, SQLITE_LOCK_NONE);
  quire_names_close(file);
  base->pMethods = NULL;
  return SQLITE_OK;
}

static int synchronize(sqlite3_file *base, int flags) {
  (void)base, (void)flags;
  return SQLITE_OK;
}

/* SQLite turns a flag on by 1 and off by 0, and otherwise asks for it. */
static void set_or_ask(bool *flag, int *argument) {
  if (*argument >= 0) *flag = *argument != 0;
  *argument = *flag;
}

static int control(sqlite3_file *base, int operation, void *argument) {
  struct memory_file *file = (struct memory_file *)base;
  int64_t former = file->fetch_limit;
  switch (operation) {
  case SQLITE_FCNTL_LOCKSTATE: *(int *)argument = file->level; return SQLITE_OK;
  case SQLITE_FCNTL_LAST_ERRNO: *(int *)argument = 0; return SQLITE_OK;
  case SQLITE_FCNTL_PERSIST_WAL: set_or_ask(&file->keeps_log, argument); return SQLITE_OK;
  case SQLITE_FCNTL_POWERSAFE_OVERWRITE: *(int *)argument = 1; return SQLITE_OK;
  case SQLITE_FCNTL_VFSNAME: *(char **)argument = sqlite3_mprintf("%s", quire_memory_files_vfs()); return SQLITE_OK;
  case SQLITE_FCNTL_HAS_MOVED: *(int *)argument = atomic_load(&file->content->is_deleted); return SQLITE_OK;
#ifdef SQLITE_FCNTL_EXTERNAL_READER
  case SQLITE_FCNTL_EXTERNAL_READER: *(int *)argument = 0; return SQLITE_OK;
#endif
  case SQLITE_FCNTL_MMAP_SIZE:
    if (*(sqlite3_int64 *)argument >= 0) file->fetch_limit = *(sqlite3_int64 *)argument;
    *(sqlite3_int64 *)argument = former;
    return SQLITE_OK;
  /* Blocks are what files grow by. */
  case SQLITE_FCNTL_SIZE_HINT:
  case SQLITE_FCNTL_CHUNK_SIZE: return SQLITE_OK;
  default: return SQLITE_NOTFOUND;
  }
}

static int sector_size(sqlite3_file *base) {
  (void)base;
  return 512;
}

static int characteristics(sqlite3_file *base) {
  (void)base;
  return SQLITE_IOCAP_ATOMIC | SQLITE_IOCAP_SAFE_APPEND | SQLITE_IOCAP_SEQUENTIAL | SQLITE_IOCAP_POWERSAFE_OVERWRITE
#ifdef SQLITE_IOCAP_SUBPAGE_READ
    | SQLITE_IOCAP_SUBPAGE_READ
#endif
    ;
}

static const sqlite3_io_methods methods = {
  .iVersion = 3,
  .xClose = close_file,
  .xRead = quire_content_read,
  .xWrite = quire_content_write,
  .xTruncate = quire_content_truncate,
  .xSync = synchronize,
  .xFileSize = quire_content_size,
  .xLock = quire_memory_lock,
  .xUnlock = quire_memory_unlock,
  .xCheckReservedLock = quire_memory_check_reserved,
  .xFileControl = control,
  .xSectorSize = sector_size,
  .xDeviceCharacteristics = characteristics,
  .xShmMap = quire_index_map,
  .xShmLock = quire_index_lock,
  .xShmBarrier = quire_index_barrier,
  .xShmUnmap = quire_index_unmap,
  .xFetch = quire_content_fetch,
  .xUnfetch = quire_content_unfetch,
};

/* MARK: Names */

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out_flags) {
  struct memory_file *file = (struct memory_file *)base;
  int code;
  (void)vfs;
  memset(file, 0, sizeof *file);
  code = quire_names_open(file, name, flags);
  if (code != SQLITE_OK) return code;
  file->is_read_only = flags & SQLITE_OPEN_READONLY;
  base->pMethods = &methods;
  if (name && flags & SQLITE_OPEN_DELETEONCLOSE) quire_names_delete(name);
  if (out_flags) *out_flags = flags;
  return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int synchronizes_folder) {
  (void)vfs, (void)synchronizes_folder;
  return quire_names_delete(name);
}

static int has_file(sqlite3_vfs *vfs, const char *name, int flags, int *out) {
  (void)vfs, (void)flags;
  *out = quire_names_has(name);
  return SQLITE_OK;
}

static int full_name(sqlite3_vfs *vfs, const char *name, int count, char *out) {
  size_t length = strlen(name);
  (void)vfs;
  if (length >= (size_t)count) return SQLITE_CANTOPEN;
  memcpy(out, name, length + 1);
  return SQLITE_OK;
}

/* MARK: What is not about files */

static void *open_library(sqlite3_vfs *vfs, const char *path) {
  return others(vfs)->xDlOpen ? others(vfs)->xDlOpen(others(vfs), path) : NULL;
}

static void describe_error(sqlite3_vfs *vfs, int count, char *out) {
  if (others(vfs)->xDlError) others(vfs)->xDlError(others(vfs), count, out);
}

static void (*find_symbol(sqlite3_vfs *vfs, void *library, const char *symbol))(void) {
  return others(vfs)->xDlSym ? others(vfs)->xDlSym(others(vfs), library, symbol) : NULL;
}

static void close_library(sqlite3_vfs *vfs, void *library) {
  if (others(vfs)->xDlClose) others(vfs)->xDlClose(others(vfs), library);
}

static int randomness(sqlite3_vfs *vfs, int count, char *out) {
  return others(vfs)->xRandomness(others(vfs), count, out);
}

static int pause(sqlite3_vfs *vfs, int microseconds) { return others(vfs)->xSleep(others(vfs), microseconds); }

static int current_time(sqlite3_vfs *vfs, double *out) { return others(vfs)->xCurrentTime(others(vfs), out); }

static int current_milliseconds(sqlite3_vfs *vfs, sqlite3_int64 *out) {
  double days;
  int code;
  if (others(vfs)->iVersion >= 2 && others(vfs)->xCurrentTimeInt64)
    return others(vfs)->xCurrentTimeInt64(others(vfs), out);
  code = current_time(vfs, &days);
  *out = (sqlite3_int64)(days * 86400000.0);
  return code;
}

/* The number of the last failure of the system, of which there are none here. */
static int last_error(sqlite3_vfs *vfs, int count, char *out) {
  (void)vfs, (void)count, (void)out;
  return 0;
}

/* MARK: Registering */

static char vfs_name[48];
static sqlite3_vfs memory_vfs = {
  .iVersion = 2,
  .szOsFile = sizeof(struct memory_file),
  .mxPathname = quire_longest_memory_name + sizeof((struct memory_content *)0)->suffix,
  .zName = vfs_name,
  .xOpen = open_file,
  .xDelete = delete_file,
  .xAccess = has_file,
  .xFullPathname = full_name,
  .xDlOpen = open_library,
  .xDlError = describe_error,
  .xDlSym = find_symbol,
  .xDlClose = close_library,
  .xRandomness = randomness,
  .xSleep = pause,
  .xCurrentTime = current_time,
  .xCurrentTimeInt64 = current_milliseconds,
  .xGetLastError = last_error,
};

/* Two copies of this library may share one of SQLite, which finds a VFS by its name. */
__attribute__((constructor)) static void make_name(void) {
  snprintf(vfs_name, sizeof vfs_name, "quire-memory-%llx", (unsigned long long)(uintptr_t)&memory_vfs);
}

const char *quire_memory_files_vfs(void) { return vfs_name; }

int quire_memory_files_register(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static bool is_registered;
  int code = SQLITE_OK;
  pthread_mutex_lock(&mutex);
  if (!is_registered) {
    memory_vfs.pAppData = sqlite3_vfs_find(NULL);
    code = memory_vfs.pAppData ? sqlite3_vfs_register(&memory_vfs, 0) : SQLITE_ERROR;
    is_registered = code == SQLITE_OK;
  }
  pthread_mutex_unlock(&mutex);
  return code;
}
