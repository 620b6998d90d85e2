/* Images of a folder after a power cut, made from the journal. */
#ifndef QUIRE_SHELF_H_
#define QUIRE_SHELF_H_

#include <stdbool.h>

/*
 * Makes the folder `target` as the disk has it when the power goes behind the first `length` entries of the journal.
 * What was synchronized is there. Of the rest the dice decide: each sector of 512 bytes of a write is there or not, so
 * that writes are dropped, torn and reordered; each size and each name that was changed is the new or the old one.
 * The index of a log, `-shm`, is in memory and never there. False when the image cannot be made.
 */
bool make_image(const char *target, int length);

#endif
