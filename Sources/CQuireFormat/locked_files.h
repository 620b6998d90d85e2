#ifndef QUIRE_LOCKED_FILES_H_
#define QUIRE_LOCKED_FILES_H_

/* What locks.c, closing.c and system_calls.c share. None of it is for Swift. */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What SQLite locks: three ranges of a database, nine bytes of the index of a log. */
enum { part_count = 12 };
struct part {
  off_t start, size;
};
extern const struct part quire_parts[part_count];

/* A file of which there are descriptors. Each stays where it is in memory, and is used again for another file. */
struct file {
  dev_t device;
  ino_t inode;
  /* For the index of a log: the database that it belongs to. */
  bool is_index;
  dev_t base_device;
  ino_t base_inode;
  /* Descriptors. Both are 0 in a free place. Of those in use, `beside` are Quire's own, without SQLite. */
  int in_use, waiting, beside;
  /* The first descriptor that waits; -1 when none does. */
  int first_waiting;
  /* The descriptor whose description has the locks; -1 when there are none. */
  atomic_int holder;
  int holder_access;
  /* Its locks are those of fcntl(2). */
  atomic_bool is_plain;
  /* A lock of an open file description was granted. */
  bool is_proven;
  /* What the holder has, by parts: F_RDLCK, F_WRLCK or F_UNLCK. */
  short held[part_count];
};

enum state { UNKNOWN, IN_USE, WAITING };

struct descriptor {
  atomic_int state;
  int access;
  bool is_beside;
  /* How often the process had forked. */
  int forks;
  dev_t device;
  ino_t inode;
  struct file *file;
  int next_waiting;
};

/* MARK: The system */

/* The system calls that SQLite would make by itself. */
int quire_call_open(const char *path, int flags, int mode);
int quire_call_close(int descriptor);
int quire_call_fcntl(int descriptor, int command, void *argument);

/* SQLite closes descriptors below 3 again, which would end locks, so that files of the program take their places. */
void quire_fill_standard_descriptors(void);

/* MARK: Descriptors and files (locked_files.c) */

/* The mutex covers what these change. None of them waits for a file, and a fork takes it from no thread. */
void quire_files_lock(void);
void quire_files_unlock(void);

/* NULL for a descriptor that is not known. No mutex is needed for one that the caller has in use. */
struct descriptor *quire_known(int descriptor);

struct file *quire_file_of(dev_t device, ino_t inode);
struct file *quire_file_at(int place);
bool quire_is_same_file(int descriptor, dev_t device, ino_t inode);

/* Knows a descriptor from now on, which was opened after so many `forks`. False without memory. */
bool quire_adopt(int descriptor, int access, const struct stat *status, const struct stat *base, int forks);

/* Has a descriptor that is in use count as Quire's own. */
void quire_set_beside(int descriptor);

/* Has a descriptor wait that is in use, and the other way round. `quire_forget` is for one that waits. */
void quire_set_waiting(int descriptor);
void quire_set_in_use(int descriptor);
void quire_forget(int descriptor);

/* The first descriptor that waits for the file and was opened so; -1 when there is none. */
int quire_waiting_descriptor(const struct file *file, int access);

/* How many descriptors wait. */
extern atomic_int quire_waiting_count;

/* Notes what is open, since its locks may be those of fcntl(2). */
void quire_note_earlier(void);
void quire_forget_earlier(int descriptor);

/* Whether a child of this process may have the descriptor as well, or the file mapped by it. */
bool quire_is_inherited(int descriptor);

/* How often this process has forked, or is about to. */
extern atomic_int quire_forks;

/* In the child of a fork: gives back what its parent has, and forgets it (inheritance.c). */
void quire_leave_to_parent(void);
/* What is in use counts as open before. */
void quire_forget_all(void);
/* The first descriptor from `descriptor` on that is known; -1 when there is none. */
int quire_next_known(int descriptor);

/* MARK: Locks (locks.c) */

int quire_set_lock(int descriptor, int command, short type, struct part part, struct flock *out);

/* Sets or asks a lock in the name of this copy of SQLite. */
int quire_control(int descriptor, int access, struct file *file, int command, struct flock *lock);

/* Gives all locks of a file back that nothing uses any more. */
void quire_give_up(struct file *file);

/* Whether nothing has a lock on a file that waits. True as well where the system has plain locks only. */
bool quire_is_alone(struct file *file);
/* Takes all locks that there are through one descriptor, or finds that the system has plain locks only. */
bool quire_take_all(struct file *file, int descriptor);
/* Keeps all copies of SQLite from beginning to read a database. What has begun goes on. */
bool quire_take_pending(int descriptor);
/* Gives back all locks that a descriptor was given by these two. */
void quire_give_back(int descriptor);

/* MARK: Closing (closing.c) */

/* SQLite does not need the descriptor any more. */
int quire_finish(int descriptor);

/* Closes all that waits and that can be closed, because descriptors have run out. */
void quire_make_room(void);

/* Has the descriptors that this takes. */
void quire_keep_spares(void);

#endif
