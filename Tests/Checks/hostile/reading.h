/* Whatever a caller does with a file that was read: it asks for everything, and writes. */
#ifndef QUIRE_HOSTILE_READING_H_
#define QUIRE_HOSTILE_READING_H_

#include "../../C/check.h"

/* How many calls succeeded that use what was read, and how often a model came back otherwise than it was saved. */
extern int used_count, differences;

/* Each returns whether the file was read rather than refused. */
bool read_store(const char *path);
bool read_model(const char *path);
bool read_archive(const char *path);

#endif
