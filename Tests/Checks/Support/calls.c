#include "calls.h"

#include "trial.h"

quire_error *error;

void succeed(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    differ("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
}
