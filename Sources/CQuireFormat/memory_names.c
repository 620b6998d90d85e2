/*
 * The names of files in memory. A name stands for a database, with the journals that SQLite keeps beside it.
 *
 * A name exists while it is held, or while a file of it is open. A file that is deleted meanwhile stays for those that
 * have it open.
 */
#include <string.h>

#include "include/memory_files.h"
#include "memory_content.h"

struct memory_names {
  struct memory_names *next;
  /* Holds and open files. */
  int references;
  /* The files that there are. The database is among them unless it was deleted. */
  struct memory_content *contents;
  char name[];
};

enum { bucket_count = 64 };
static struct memory_names *buckets[bucket_count];
/* Covers the buckets, and what memory_content.h says. Neither SQLite's functions nor other mutexes are within it, but for
 * memory. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* MARK: Finding */

/* Where a name that SQLite makes goes on after that of the database; its end for a database. */
static size_t base_length(const char *name) {
  static const char *const endings[] = {"-journal", "-wal"};
  static const char super_journal[] = "-mj000000900";
  size_t length = strlen(name), each, kept;
  for (each = 0; each < sizeof endings / sizeof *endings; each++) {
    kept = strlen(endings[each]);
    if (length > kept && !strcmp(name + length - kept, endings[each])) return length - kept;
  }
  kept = sizeof super_journal - 1;
  return length > kept && !memcmp(name + length - kept, super_journal, 3) ? length - kept : length;
}

static struct memory_names **bucket(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  size_t each;
  for (each = 0; each < length; each++) hash = (hash ^ (unsigned char)name[each]) * 16777619u;
  return &buckets[hash % bucket_count];
}

/* The mutex is the caller's here and below. */
static struct memory_names *find(const char *name, size_t length) {
  struct memory_names *names = *bucket(name, length);
  while (names && (strncmp(names->name, name, length) || names->name[length])) names = names->next;
  return names;
}

/* The link to a file, which is NULL where there is none. */
static struct memory_content **find_content(struct memory_names *names, const char *suffix) {
  struct memory_content **link = &names->contents;
  while (*link && strcmp((*link)->suffix, suffix)) link = &(*link)->next;
  return link;
}

static int add_content(struct memory_names *names, const char *suffix) {
  struct memory_content *content = quire_content_create(suffix);
  if (!content) return SQLITE_IOERR_NOMEM;
  content->next = names->contents;
  names->contents = content;
  return SQLITE_OK;
}

/* Ends a reference to content. The last one leaves it to be freed without the mutex, since that may take long. */
static void forget_content(struct memory_content *content, struct memory_content **gone) {
  if (--content->references) return;
  content->next = *gone;
  *gone = content;
}

static void forget(struct memory_names *names, struct memory_content **gone) {
  struct memory_names **link;
  if (--names->references) return;
  for (link = bucket(names->name, strlen(names->name)); *link != names; link = &(*link)->next) continue;
  *link = names->next;
  while (names->contents) {
    struct memory_content *content = names->contents;
    names->contents = content->next;
    forget_content(content, gone);
  }
  sqlite3_free(names);
}

static void free_all(struct memory_content *gone) {
  while (gone) {
    struct memory_content *content = gone;
    gone = content->next;
    quire_content_free(content);
  }
}

/* MARK: Holding */

static int add(const char *name, size_t length) {
  struct memory_names *names = sqlite3_malloc64(sizeof *names + length + 1);
  if (!names) return SQLITE_NOMEM;
  memset(names, 0, sizeof *names);
  memcpy(names->name, name, length + 1);
  if (add_content(names, "") != SQLITE_OK) {
    sqlite3_free(names);
    return SQLITE_NOMEM;
  }
  names->references = 1;
  names->next = *bucket(name, length);
  *bucket(name, length) = names;
  return SQLITE_OK;
}

int quire_memory_files_hold(const char *name) {
  size_t length = name ? strlen(name) : 0;
  struct memory_names *names;
  int code = SQLITE_OK;
  if (!length || length > quire_longest_memory_name || base_length(name) < length) return SQLITE_MISUSE;
  pthread_mutex_lock(&mutex);
  names = find(name, length);
  if (names)
    names->references++;
  else
    code = add(name, length);
  pthread_mutex_unlock(&mutex);
  return code;
}

void quire_memory_files_release(const char *name) {
  struct memory_names *names;
  struct memory_content *gone = NULL;
  pthread_mutex_lock(&mutex);
  names = name ? find(name, strlen(name)) : NULL;
  if (names) forget(names, &gone);
  pthread_mutex_unlock(&mutex);
  free_all(gone);
}

long long quire_memory_files_size(const char *name) {
  struct memory_names *names;
  struct memory_content *content;
  long long result = 0;
  pthread_mutex_lock(&mutex);
  names = name ? find(name, strlen(name)) : NULL;
  for (content = names ? names->contents : NULL; content; content = content->next)
    result += quire_content_footprint(content);
  pthread_mutex_unlock(&mutex);
  return result;
}

/* MARK: Files */

/* Finds or adds the content of a name. */
static int open_named(struct memory_file *file, const char *name, int flags) {
  size_t length = base_length(name);
  struct memory_names *names = find(name, length);
  struct memory_content **link = names ? find_content(names, name + length) : NULL;
  if (!names || (*link && flags & SQLITE_OPEN_EXCLUSIVE)) return SQLITE_CANTOPEN;
  if (!*link) {
    int code = flags & SQLITE_OPEN_CREATE ? add_content(names, name + length) : SQLITE_CANTOPEN;
    if (code != SQLITE_OK) return code;
    link = find_content(names, name + length);
  }
  names->references++;
  (*link)->references++;
  file->names = names;
  file->content = *link;
  return SQLITE_OK;
}

int quire_names_open(struct memory_file *file, const char *name, int flags) {
  int code;
  if (name) {
    pthread_mutex_lock(&mutex);
    code = open_named(file, name, flags);
    pthread_mutex_unlock(&mutex);
    if (code != SQLITE_OK) return code;
  } else {
    file->content = quire_content_create("");
    if (!file->content) return SQLITE_IOERR_NOMEM;
  }
  quire_content_attach(file);
  return SQLITE_OK;
}

void quire_names_close(struct memory_file *file) {
  struct memory_content *gone = NULL;
  quire_content_detach(file);
  pthread_mutex_lock(&mutex);
  forget_content(file->content, &gone);
  if (file->names) forget(file->names, &gone);
  pthread_mutex_unlock(&mutex);
  free_all(gone);
}

int quire_names_delete(const char *name) {
  size_t length = base_length(name);
  struct memory_names *names;
  struct memory_content **link, *content, *gone = NULL;
  pthread_mutex_lock(&mutex);
  names = find(name, length);
  link = names ? find_content(names, name + length) : NULL;
  content = link ? *link : NULL;
  if (content) {
    *link = content->next;
    atomic_store(&content->is_deleted, true);
    forget_content(content, &gone);
  }
  pthread_mutex_unlock(&mutex);
  free_all(gone);
  return content ? SQLITE_OK : SQLITE_IOERR_DELETE_NOENT;
}

bool quire_names_has(const char *name) {
  size_t length = base_length(name);
  struct memory_names *names;
  struct memory_content *content = NULL;
  bool result;
  pthread_mutex_lock(&mutex);
  names = find(name, length);
  if (names) content = *find_content(names, name + length);
  result = content && atomic_load(&content->size) > 0;
  pthread_mutex_unlock(&mutex);
  return result;
}
