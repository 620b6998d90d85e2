/**
 * @file
 * Functions of the program that predicates call: `distance(latitude, longitude, 52.5, 13.4) < 10`.
 *
 * `FUNCTION("distance", latitude, longitude, 52.5, 13.4) < 10` is the same. So is Core Data's order, with the target of
 * the call before the name: `FUNCTION(latitude, "distance", longitude, 52.5, 13.4) < 10`. The target is the first
 * argument and counts as one. The name is the text in quotes among the first two parts. When both are text in quotes,
 * it is the first if a function has that name, else the second. Text passed for `%@` is the name only where no part in
 * quotes can be.
 *
 * A name is the whole selector: `FUNCTION(title, "replace:with:", "a", "b")` and `replace:with:(title, "a", "b")` call
 * the function registered as "replace:with:", which takes three arguments. `power` and `power:` are two names. FUNCTION
 * also calls the functions of the predicate language: `FUNCTION(title, "uppercase")`. A selector may also stand between
 * two values: `a power: b` is `power:(a, b) == 1`.
 *
 * A function belongs to the process, not to a store, because predicates are read without one. Register it before the
 * first predicate that names it. Reading a predicate checks how many arguments a call has, and the types of constants
 * among them; evaluation checks the other values. A predicate knows its functions by name. A predicate that is used
 * after its function was removed fails with QUIRE_UNSUPPORTED. A call that runs at that moment ends well.
 *
 * A registered function may be called from any thread, from several at once, any number of times for one object and in
 * any order. It must not use contexts, objects or stores, nor close anything, while it runs (QUIRE_INVALID_STATE): it
 * gets its values as arguments. `_retain` and `_release` are allowed. It must not wait for another thread that uses the
 * same store. Registering and removing may be done from any thread.
 */
#ifndef QUIRE_FUNCTION_H_
#define QUIRE_FUNCTION_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/**
 * The types that a C function may have for its arguments and its result. C's `int` is QUIRE_NATIVE_INT32 on every
 * system that Quire runs on. `long` and `size_t` are 64 bits wide on 64-bit Linux.
 *
 * Arguments: an integer type takes whole numbers in its range, and booleans as 1 and 0. QUIRE_NATIVE_FLOAT and
 * QUIRE_NATIVE_DOUBLE take every number, rounded to the type. Any other value is an error that names function and
 * argument. If an argument is nil, the function is not called and the result is nil, except for
 * QUIRE_NATIVE_OPTIONAL_TEXT.
 */
typedef enum quire_native_type {
    /** `bool` */
    QUIRE_NATIVE_BOOL = 1,
    /** `int8_t` */
    QUIRE_NATIVE_INT8 = 2,
    /** `int16_t` */
    QUIRE_NATIVE_INT16 = 3,
    /** `int32_t` */
    QUIRE_NATIVE_INT32 = 4,
    /** `int64_t` */
    QUIRE_NATIVE_INT64 = 5,
    /** `uint8_t` */
    QUIRE_NATIVE_UINT8 = 6,
    /** `uint16_t` */
    QUIRE_NATIVE_UINT16 = 7,
    /** `uint32_t` */
    QUIRE_NATIVE_UINT32 = 8,
    /** `uint64_t`; results above INT64_MAX become the nearest double */
    QUIRE_NATIVE_UINT64 = 9,
    /** `float` */
    QUIRE_NATIVE_FLOAT = 10,
    /** `double` */
    QUIRE_NATIVE_DOUBLE = 11,
    /** `double`, for dates: seconds since 1970-01-01 00:00:00 UTC */
    QUIRE_NATIVE_DATE = 12,
    /**
     * `const char *`, UTF-8 that ends with NUL, for text and URIs. As an argument it is never NULL and holds during the
     * call. As a result it is copied at once, by the thread that made the call, and NULL is nil.
     */
    QUIRE_NATIVE_TEXT = 13,
    /** As an argument only: `const char *`, and nil is NULL. */
    QUIRE_NATIVE_OPTIONAL_TEXT = 14,
    /** As a result only: `char *` from malloc, which the library copies and passes to free(). NULL is nil. */
    QUIRE_NATIVE_OWNED_TEXT = 15
} quire_native_type;

/** A C function with its own signature. Zero means the default for every field. */
typedef struct quire_native_function {
    /** sizeof(quire_native_function) in your build. */
    uint32_t struct_size;
    /** A `quire_native_type`. */
    uint32_t result_type;
    /** `argument_count` of `quire_native_type`, at most 64; copied. */
    const uint32_t *QUIRE_NULLABLE argument_types;
    size_t argument_count; /**< How many argument types there are. */
    /** The function, cast to this type. Its signature must be the one described: no check is possible. */
    void (*QUIRE_NULLABLE function)(void);
    /** It may return another result for the same arguments. A call whose arguments are constants is then repeated. */
    bool is_volatile;
    /** For `destroy`; not passed to the function. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, on any thread, when the function is removed and no predicate that has called it is left. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
} quire_native_function;

/** Sets `struct_size`; all else zero. */
#define QUIRE_NATIVE_FUNCTION_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_native_function)), 0, NULL, 0, NULL, false, NULL, NULL }

/** As the number of arguments of a callback: any. */
#define QUIRE_ANY_NUMBER SIZE_MAX

/** A function that takes values as they are. */
typedef struct quire_function_callback {
    /** sizeof(quire_function_callback) in your build. */
    uint32_t struct_size;
    /** It may return another result for the same arguments. */
    bool is_volatile;
    /** How many arguments a call has, at most 64, or QUIRE_ANY_NUMBER. */
    size_t argument_count;
    /** Passed to both functions, never touched. */
    void *QUIRE_NULLABLE user_data;
    /** Called once, on any thread, when the function is removed and no predicate that has called it is left. */
    void (*QUIRE_NULLABLE destroy)(void *QUIRE_NULLABLE user_data);
    /**
     * The function. It returns true when it has put its result, a single value, into `*out_result`, which is nil
     * before. It returns false when it failed. `*out_result` may then be a text with the reason, for the error of the
     * fetch (QUIRE_FUNCTION).
     *
     * Values may be nil, lists and dictionaries. The values of a to-many key path are a list, in the order of the
     * relationship if it has one. Objects are passed as QUIRE_VALUE_OBJECT_ID, in lists too. Arguments are borrowed for
     * the call. The memory that the result points to is copied as soon as the function has returned, and must hold
     * until then.
     */
    bool (*QUIRE_NULLABLE call)(
        void *QUIRE_NULLABLE user_data, const quire_value *arguments, size_t argument_count, quire_value *out_result);
} quire_function_callback;

/** Sets `struct_size`; all else zero. */
#define QUIRE_FUNCTION_CALLBACK_INIT { QUIRE_CAST(uint32_t, sizeof(quire_function_callback)), false, 0, NULL, NULL, NULL }

/**
 * Registers a C function, which is called with its own signature.
 *
 * A name is a letter or an underscore, followed by letters, digits and underscores. Or it is a selector: one or more
 * such words with a colon behind each. It has 64 characters at most, and is neither a word nor a function of the
 * predicate language. On failure `destroy` is not called.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (such a name, a NULL function, an unknown type), QUIRE_INVALID_STATE (the name is
 * taken), QUIRE_INVALID_TEXT, QUIRE_UNSUPPORTED. Any thread.
 */
quire_status quire_function_register(
    const char *name, size_t name_size, const quire_native_function *function,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Registers a function that takes values as they are: for other languages, and for results that may be errors. Fails as
 * `quire_function_register`.
 */
quire_status quire_function_register_callback(
    const char *name, size_t name_size, const quire_function_callback *callback,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Removes a registered function; its name is free again. Fails: QUIRE_NOT_FOUND. Any thread. */
quire_status quire_function_unregister(
    const char *name, size_t name_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

QUIRE_END

#endif
