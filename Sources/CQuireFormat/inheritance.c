/*
 * What the child of a fork has of its parent: the descriptions behind descriptors, and behind memory that is mapped
 * from them. Locks belong to the description, so that those of the parent would last as long as the child has it. The
 * child gets descriptions of its own in their places. It does not use them: a fork leaves the stores of the parent
 * alone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "locked_files.h"

/* Where the child may not open the file, it gets a description that nothing can be read from. */
static void replace(int descriptor, int access) {
  char path[48];
  int own;
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  own = quire_call_open(path, access | O_CLOEXEC, 0);
  if (own < 0) own = quire_call_open("/", O_PATH | O_CLOEXEC, 0);
  if (own < 0) return;
  dup3(own, descriptor, O_CLOEXEC);
  quire_call_close(own);
}

static bool has_path(int descriptor, const char *path) {
  char link[48], name[PATH_MAX + 16];
  ssize_t size;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  size = readlink(link, name, sizeof name - 1);
  if (size <= 0) return false;
  name[size] = 0;
  return !strcmp(name, path);
}

/* A descriptor that is in use, of the file that has this number and path. The device that the system tells of memory is
 * not that of stat(2) on each file system. */
static int descriptor_of(unsigned long long inode, const char *path) {
  int each;
  for (each = quire_next_known(0); each >= 0; each = quire_next_known(each + 1)) {
    const struct descriptor *entry = quire_known(each);
    if (entry->inode == inode && atomic_load(&entry->state) == IN_USE && has_path(each, path)) return each;
  }
  return -1;
}

/* Maps the same parts of the same files once more, by the child's own descriptors. */
static void replace_mappings(void) {
  char line[PATH_MAX + 256];
  FILE *lines = fopen("/proc/self/maps", "re");
  while (lines && fgets(line, sizeof line, lines)) {
    unsigned long start, end, offset;
    unsigned long long inode;
    char rights[8], *name;
    int descriptor, protection, length = 0;
    if (sscanf(line, "%lx-%lx %7s %lx %*s %llu %n", &start, &end, rights, &offset, &inode, &length) != 5 || !length)
      continue;
    name = line + length;
    name[strcspn(name, "\n")] = 0;
    if (rights[3] != 's' || !inode || (descriptor = descriptor_of(inode, name)) < 0) continue;
    protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0);
    mmap((void *)start, end - start, protection, MAP_SHARED | MAP_FIXED, descriptor, (off_t)offset);
  }
  if (lines) fclose(lines);
}

void quire_leave_to_parent(void) {
  int each;
  for (each = quire_next_known(0); each >= 0; each = quire_next_known(each + 1)) {
    struct descriptor *entry = quire_known(each);
    if (!quire_is_same_file(each, entry->device, entry->inode)) {
      atomic_store(&entry->state, UNKNOWN);
    } else if (atomic_load(&entry->state) == WAITING) {
      atomic_store(&entry->state, UNKNOWN);
      quire_call_close(each);
    } else {
      replace(each, entry->access);
    }
  }
  if (quire_next_known(0) >= 0) replace_mappings();
  quire_forget_all();
}
