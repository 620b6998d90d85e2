/* Photos, whose images lie in files beside the store when they are large. */
#ifndef QUIRE_PHOTOS_H_
#define QUIRE_PHOTOS_H_

#include "store_files.h"

/* Bytes that go into a file. */
#define LARGE 300000

static unsigned char large[LARGE];

static inline fixture open_photos_at(const char *where, const quire_store_options *options) {
    fixture made = {quire_model_create(), NULL, NULL};
    CHECK_OK(quire_model_add_entity(made.model, "Photo", QUIRE_NUL, NULL, &error));
    add_attribute(made.model, "Photo", "name", QUIRE_TYPE_STRING);
    quire_attribute_options image = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    image.is_optional = image.allows_external_storage = true;
    CHECK_OK(quire_model_add_attribute(made.model, "Photo", QUIRE_NUL, "image", QUIRE_NUL, QUIRE_TYPE_BINARY, &image, &error));
    CHECK_OK(quire_store_open(where, QUIRE_NUL, made.model, options, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

#endif
