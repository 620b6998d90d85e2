#ifndef QUIRE_CPROPERTYLIST_SHIM_H
#define QUIRE_CPROPERTYLIST_SHIM_H

#include <plist/plist.h>

#endif
