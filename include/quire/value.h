/**
 * @file
 * One value: of an attribute, a to-one relationship, an argument of a predicate, or the subject of a predicate.
 */
#ifndef QUIRE_VALUE_H_
#define QUIRE_VALUE_H_

#include "base.h"

QUIRE_BEGIN

/** Which member of `quire_value.as` holds. */
typedef enum quire_value_kind {
    QUIRE_VALUE_NIL = 0,
    /** `as.integer` */
    QUIRE_VALUE_INTEGER = 1,
    /** `as.boolean` */
    QUIRE_VALUE_BOOLEAN = 2,
    /** `as.real` */
    QUIRE_VALUE_DOUBLE = 3,
    /** `as.real`, which holds a 32-bit float widened */
    QUIRE_VALUE_FLOAT = 4,
    /**
     * `as.text` of `size` bytes: a decimal number such as "-12.50" or "1e3". It has at most 38 significant digits. The
     * last of them stands for a power of ten from -128 to 127.
     */
    QUIRE_VALUE_DECIMAL = 5,
    /** `as.text` of `size` bytes of UTF-8 */
    QUIRE_VALUE_TEXT = 6,
    /** `as.real`: seconds since 1970-01-01 00:00:00 UTC, negative before, fractions kept */
    QUIRE_VALUE_DATE = 7,
    /** `as.data` of `size` bytes */
    QUIRE_VALUE_DATA = 8,
    /** `as.data` of 16 bytes in the order of RFC 4122 */
    QUIRE_VALUE_UUID = 9,
    /** `as.text` of `size` bytes: an absolute URI, kept as it is */
    QUIRE_VALUE_URI = 10,
    /** `as.object`. Into calls and out of evaluation: a read to-one relationship is QUIRE_VALUE_OBJECT_ID. */
    QUIRE_VALUE_OBJECT = 11,
    /** `as.integer`: the id of the object at the other end. Output only. */
    QUIRE_VALUE_OBJECT_ID = 12,
    /** `as.list`, an array of `size` values: the objects of a to-many relationship, the right side of IN. */
    QUIRE_VALUE_LIST = 13,
    /**
     * `as.entries`, an array of `size` entries. Only into evaluation and out of it (see quire_predicate_evaluate), and as
     * an argument of registered callbacks.
     */
    QUIRE_VALUE_DICTIONARY = 14,
    /** `as.expression`. Input only: an argument of a format, or the substitute of a variable. */
    QUIRE_VALUE_EXPRESSION = 15,
    /** `as.predicate`. Input only: an argument of a format. */
    QUIRE_VALUE_PREDICATE = 16
} quire_value_kind;

struct quire_entry;

/**
 * A value: 16 bytes on 64-bit systems.
 *
 * Passed in, text and data belong to the caller and are copied. Returned, they are borrowed as the function says.
 * `size` counts bytes for text and data (QUIRE_NUL: `as.text` ends with NUL), values for a list, entries for a
 * dictionary, and is otherwise 0.
 */
typedef struct quire_value {
    /** A `quire_value_kind`. */
    uint32_t kind;
    uint32_t size; /**< Of text and data in bytes, otherwise in elements, see above. */
    union {
        int64_t integer;
        double real;
        bool boolean;
        const char *QUIRE_NULLABLE text;
        const uint8_t *QUIRE_NULLABLE data;
        quire_object *QUIRE_NULLABLE object;
        const struct quire_value *QUIRE_NULLABLE list;
        const struct quire_entry *QUIRE_NULLABLE entries;
        const quire_expression *QUIRE_NULLABLE expression;
        const quire_predicate *QUIRE_NULLABLE predicate;
    } as; /**< The value itself, in the member that `kind` names. */
} quire_value;

/** A key of a dictionary, which is text, and its value; or the name of a variable, without its dollar sign. */
typedef struct quire_entry {
    quire_value key; /**< Text. */
    quire_value value; /**< Any value. */
} quire_entry;

/**
 * Whether two values are equal, as `==` of predicates compares them. Numbers compare by their value, of any kind. Text,
 * URIs and data compare byte by byte. nil equals nil alone. Lists compare element by element, dictionaries key by key.
 * Objects compare by entity tree and id, expressions and predicates by their structure. A QUIRE_VALUE_OBJECT_ID equals
 * any object with that id. Values of different kinds are otherwise unequal.
 *
 * False when one of them is NULL, or is no value that the library would take: an unknown kind, text that is not UTF-8,
 * NaN. Any thread; with objects, that of their context.
 */
bool quire_value_equal(const quire_value *left, const quire_value *right);

/** nil: no value. */
static inline quire_value quire_value_nil(void) {
    quire_value value;
    value.kind = QUIRE_VALUE_NIL;
    value.size = 0;
    value.as.integer = 0;
    return value;
}

/** An integer. */
static inline quire_value quire_value_integer(int64_t integer) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_INTEGER;
    value.as.integer = integer;
    return value;
}

/** A boolean. */
static inline quire_value quire_value_boolean(bool boolean) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_BOOLEAN;
    value.as.boolean = boolean;
    return value;
}

/** A double. */
static inline quire_value quire_value_double(double real) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_DOUBLE;
    value.as.real = real;
    return value;
}

/** A date, as seconds since 1970-01-01 00:00:00 UTC. */
static inline quire_value quire_value_date(double seconds_since_1970) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_DATE;
    value.as.real = seconds_since_1970;
    return value;
}

/** Text that ends with NUL. The value points to it and does not copy it. NULL makes nil. */
static inline quire_value quire_value_text(const char *QUIRE_NULLABLE text) {
    quire_value value = quire_value_nil();
    if (text) {
        value.kind = QUIRE_VALUE_TEXT;
        value.size = QUIRE_NUL;
        value.as.text = text;
    }
    return value;
}

/** Text of `size` bytes. The value points to it and does not copy it. */
static inline quire_value quire_value_text_sized(const char *QUIRE_NULLABLE text, uint32_t size) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_TEXT;
    value.size = size;
    value.as.text = text;
    return value;
}

/** A decimal number as text that ends with NUL, such as "-12.50". The value points to it. NULL makes nil. */
static inline quire_value quire_value_decimal(const char *QUIRE_NULLABLE digits) {
    quire_value value = quire_value_text(digits);
    if (digits) value.kind = QUIRE_VALUE_DECIMAL;
    return value;
}

/** An absolute URI as text that ends with NUL. The value points to it. NULL makes nil. */
static inline quire_value quire_value_uri(const char *QUIRE_NULLABLE uri) {
    quire_value value = quire_value_text(uri);
    if (uri) value.kind = QUIRE_VALUE_URI;
    return value;
}

/** A UUID, 16 bytes in the order of RFC 4122. The value points to them. */
static inline quire_value quire_value_uuid(const uint8_t *uuid) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_UUID;
    value.size = 16;
    value.as.data = uuid;
    return value;
}

/** Bytes. The value points to them and does not copy them. */
static inline quire_value quire_value_data(const uint8_t *data, uint32_t size) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_DATA;
    value.size = size;
    value.as.data = data;
    return value;
}

/**
 * An object of the context in which the value will be used. In a predicate or an expression it may be of any context of
 * the same store. NULL makes nil.
 */
static inline quire_value quire_value_object(quire_object *QUIRE_NULLABLE object) {
    quire_value value = quire_value_nil();
    if (object) {
        value.kind = QUIRE_VALUE_OBJECT;
        value.as.object = object;
    }
    return value;
}

/** `count` values. The value points to them and does not copy them. */
static inline quire_value quire_value_list(const quire_value *QUIRE_NULLABLE values, uint32_t count) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_LIST;
    value.size = count;
    value.as.list = values;
    return value;
}

/** `count` entries. The value points to them and does not copy them. */
static inline quire_value quire_value_dictionary(const quire_entry *QUIRE_NULLABLE entries, uint32_t count) {
    quire_value value = quire_value_nil();
    value.kind = QUIRE_VALUE_DICTIONARY;
    value.size = count;
    value.as.entries = entries;
    return value;
}

/**
 * An expression: an argument of a format, the substitute of a variable, or the calculation of a batch update. NULL
 * makes nil.
 */
static inline quire_value quire_value_expression(const quire_expression *QUIRE_NULLABLE expression) {
    quire_value value = quire_value_nil();
    if (expression) {
        value.kind = QUIRE_VALUE_EXPRESSION;
        value.as.expression = expression;
    }
    return value;
}

/** A predicate, as an argument of a format. NULL makes nil. */
static inline quire_value quire_value_predicate(const quire_predicate *QUIRE_NULLABLE predicate) {
    quire_value value = quire_value_nil();
    if (predicate) {
        value.kind = QUIRE_VALUE_PREDICATE;
        value.as.predicate = predicate;
    }
    return value;
}

QUIRE_END

#endif
