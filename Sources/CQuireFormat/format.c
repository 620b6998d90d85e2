/*
 * quire_predicate_format in C, because Swift cannot define a function with variable arguments.
 *
 * It fetches the arguments and leaves every judgement of the format to quire_predicate_parse.
 */
#include <quire.h>

#include <stdarg.h>
#include <stdlib.h>

/* What a specifier takes off the argument list. */
enum argument {
    ARGUMENT_NONE,
    ARGUMENT_UNKNOWN,
    ARGUMENT_VALUE,
    ARGUMENT_TEXT,
    ARGUMENT_INT,
    ARGUMENT_LONG,
    ARGUMENT_LONG_LONG,
    ARGUMENT_UNSIGNED,
    ARGUMENT_UNSIGNED_LONG,
    ARGUMENT_UNSIGNED_LONG_LONG,
    ARGUMENT_DOUBLE,
    ARGUMENT_LONG_DOUBLE
};

enum width { WIDTH_PLAIN, WIDTH_SHORT, WIDTH_LONG, WIDTH_LONG_LONG, WIDTH_LONG_DOUBLE };

static enum argument integer_argument(enum width width) {
    switch (width) {
    case WIDTH_PLAIN:
    case WIDTH_SHORT: return ARGUMENT_INT;
    case WIDTH_LONG: return ARGUMENT_LONG;
    case WIDTH_LONG_LONG: return ARGUMENT_LONG_LONG;
    case WIDTH_LONG_DOUBLE: break;
    }
    return ARGUMENT_UNKNOWN;
}

static enum argument unsigned_argument(enum width width) {
    switch (width) {
    case WIDTH_PLAIN:
    case WIDTH_SHORT: return ARGUMENT_UNSIGNED;
    case WIDTH_LONG: return ARGUMENT_UNSIGNED_LONG;
    case WIDTH_LONG_LONG: return ARGUMENT_UNSIGNED_LONG_LONG;
    case WIDTH_LONG_DOUBLE: break;
    }
    return ARGUMENT_UNKNOWN;
}

static enum argument real_argument(enum width width) {
    switch (width) {
    case WIDTH_PLAIN:
    case WIDTH_LONG: return ARGUMENT_DOUBLE;
    case WIDTH_LONG_DOUBLE: return ARGUMENT_LONG_DOUBLE;
    case WIDTH_SHORT:
    case WIDTH_LONG_LONG: break;
    }
    return ARGUMENT_UNKNOWN;
}

/* Reads the width after a percent sign and moves past it. */
static enum width read_width(const char **cursor) {
    const char first = **cursor;
    const bool is_doubled = first && (*cursor)[1] == first;
    switch (first) {
    case 'l': *cursor += is_doubled ? 2 : 1; return is_doubled ? WIDTH_LONG_LONG : WIDTH_LONG;
    case 'h': *cursor += is_doubled ? 2 : 1; return WIDTH_SHORT;
    case 'q':
    case 'j': *cursor += 1; return WIDTH_LONG_LONG;
    case 'z':
    case 't': *cursor += 1; return WIDTH_LONG;
    case 'L': *cursor += 1; return WIDTH_LONG_DOUBLE;
    default: return WIDTH_PLAIN;
    }
}

/* Reads what follows a percent sign and moves past it. */
static enum argument read_specifier(const char **cursor) {
    if (**cursor == '%') {
        *cursor += 1;
        return ARGUMENT_NONE;
    }
    const enum width width = read_width(cursor);
    const char conversion = **cursor;
    if (!conversion) return ARGUMENT_UNKNOWN;
    *cursor += 1;
    switch (conversion) {
    case '@': return width == WIDTH_PLAIN ? ARGUMENT_VALUE : ARGUMENT_UNKNOWN;
    case 'K':
    case 's': return width == WIDTH_PLAIN ? ARGUMENT_TEXT : ARGUMENT_UNKNOWN;
    case 'c':
    case 'C': return width == WIDTH_PLAIN ? ARGUMENT_INT : ARGUMENT_UNKNOWN;
    case 'd':
    case 'D':
    case 'i': return integer_argument(width);
    case 'u':
    case 'U':
    case 'x':
    case 'X':
    case 'o':
    case 'O': return unsigned_argument(width);
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'e':
    case 'E':
    case 'a':
    case 'A': return real_argument(width);
    default: return ARGUMENT_UNKNOWN;
    }
}

/* The next specifier outside quotes, or ARGUMENT_NONE at the end. */
static enum argument next_argument(const char **cursor) {
    char quote = 0;
    while (**cursor) {
        const char character = *(*cursor)++;
        if (quote) {
            if (character == '\\' && **cursor) *cursor += 1;
            else if (character == quote) quote = 0;
        } else if (character == '"' || character == '\'') {
            quote = character;
        } else if (character == '%') {
            const enum argument argument = read_specifier(cursor);
            if (argument != ARGUMENT_NONE) return argument;
        }
    }
    return ARGUMENT_NONE;
}

/* How many arguments can be fetched: those before the end or the first specifier that is unknown. */
static size_t count_arguments(const char *format) {
    size_t count = 0;
    for (;;) {
        const enum argument argument = next_argument(&format);
        if (argument == ARGUMENT_NONE || argument == ARGUMENT_UNKNOWN) return count;
        count++;
    }
}

static quire_value from_unsigned(unsigned long long number) {
    /* No integer value can hold it; as a double the parser refuses it instead of comparing with another number. */
    if (number > INT64_MAX) return quire_value_double((double)number);
    return quire_value_integer((int64_t)number);
}

static quire_value fetch(enum argument argument, va_list *arguments) {
    switch (argument) {
    case ARGUMENT_VALUE: {
        const quire_value *pointer = va_arg(*arguments, const quire_value *);
        return pointer ? *pointer : quire_value_nil();
    }
    case ARGUMENT_TEXT: return quire_value_text(va_arg(*arguments, const char *));
    case ARGUMENT_INT: return quire_value_integer(va_arg(*arguments, int));
    case ARGUMENT_LONG: return quire_value_integer(va_arg(*arguments, long));
    case ARGUMENT_LONG_LONG: return quire_value_integer(va_arg(*arguments, long long));
    case ARGUMENT_UNSIGNED: return from_unsigned(va_arg(*arguments, unsigned));
    case ARGUMENT_UNSIGNED_LONG: return from_unsigned(va_arg(*arguments, unsigned long));
    case ARGUMENT_UNSIGNED_LONG_LONG: return from_unsigned(va_arg(*arguments, unsigned long long));
    case ARGUMENT_DOUBLE: return quire_value_double(va_arg(*arguments, double));
    case ARGUMENT_LONG_DOUBLE: return quire_value_double((double)va_arg(*arguments, long double));
    case ARGUMENT_NONE:
    case ARGUMENT_UNKNOWN: break;
    }
    return quire_value_nil();
}

quire_status quire_predicate_format(quire_predicate **out_predicate, quire_error **out_error, const char *format, ...) {
    if (!format) return quire_predicate_parse(format, QUIRE_NUL, NULL, 0, out_predicate, out_error);

    quire_value few[16];
    quire_value *values = few;
    size_t count = count_arguments(format);
    if (count > sizeof few / sizeof few[0]) {
        values = calloc(count, sizeof *values);
        /* Without memory the parser is given no arguments, and says that they are missing. */
        if (!values) count = 0;
    }

    va_list arguments;
    va_start(arguments, format);
    const char *cursor = format;
    for (size_t index = 0; index < count; index++) {
        values[index] = fetch(next_argument(&cursor), &arguments);
    }
    va_end(arguments);

    const quire_status status = quire_predicate_parse(format, QUIRE_NUL, values, count, out_predicate, out_error);
    if (values != few) free(values);
    return status;
}
