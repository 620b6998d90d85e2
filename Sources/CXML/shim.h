#ifndef QUIRE_CXML_SHIM_H
#define QUIRE_CXML_SHIM_H

#include <libxml/xmlreader.h>

// A variable of the library, which Swift cannot know to be safe.
static inline void quire_xml_free(void *memory) { xmlFree(memory); }

#endif
