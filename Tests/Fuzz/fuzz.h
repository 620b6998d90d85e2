/* What every fuzzed target has: libFuzzer calls it, and so does `replay`. */
#ifndef QUIRE_FUZZ_H_
#define QUIRE_FUZZ_H_

#include <stddef.h>
#include <stdint.h>

/* Gives 0; a fault ends the process. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
