#ifndef QUIRE_CDIGEST_SHIM_H
#define QUIRE_CDIGEST_SHIM_H

#include <sha2.h>

#endif
