#ifndef QUIRE_CZLIB_SHIM_H
#define QUIRE_CZLIB_SHIM_H

#include <zlib.h>

/* Macros that call functions with the size of a struct, which Swift does not import. */

static inline int quire_inflate_raw_init(z_streamp stream) { return inflateInit2(stream, -MAX_WBITS); }

static inline int quire_deflate_raw_init(z_streamp stream) {
    return deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

#endif
