#ifndef QUIRE_CXML_SHIM_H
#define QUIRE_CXML_SHIM_H

#include <libxml/xmlreader.h>

#endif
