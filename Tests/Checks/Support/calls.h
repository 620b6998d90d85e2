/* Calls of the library that a history makes, and that must succeed. */
#ifndef QUIRE_CALLS_H_
#define QUIRE_CALLS_H_

#include <quire.h>

extern quire_error *error;

#define OK(call) succeed((call), #call)
void succeed(quire_status status, const char *call);

#endif
