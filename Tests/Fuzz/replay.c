/*
 * Gives the inputs of a pack to a fuzzed target, where there is no fuzzer: replay PACK [NAME]
 *
 * The name of each input is printed before it runs, because a fault ends the process. With NAME that input runs alone.
 * inputs.py describes the format of packs.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <sha1.h>

enum { NAME_DIGITS = 12 };

static const char *pack;

static _Noreturn void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "%s: ", pack);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    exit(2);
}

/* The whole pack, with a NUL after it. */
static char *read_pack(size_t *size) {
    FILE *file = fopen(pack, "rb");
    if (!file) perror(pack), exit(2);
    char *text = NULL;
    *size = 0;
    for (size_t more = 1; more; *size += more) {
        if (!(text = realloc(text, *size + 65537))) fail("there is no memory for it.");
        more = fread(text + *size, 1, 65536, file);
    }
    if (ferror(file)) perror(pack), exit(2);
    fclose(file);
    text[*size] = 0;
    return text;
}

/* A block of the exact size of the input, so that reading beyond it shows. NULL when an escape is malformed. */
static uint8_t *decode(const char *text, size_t length, size_t *size) {
    uint8_t *input = malloc(length ? length : 1);
    *size = 0;
    for (size_t i = 0; input && i < length; i++) {
        uint8_t byte = (uint8_t)text[i];
        bool is_valid = byte >= 0x20 && byte < 0x7F;
        if (byte == '\\' && text[i + 1] == '\\') {
            i++;
        } else if (byte == '\\') {
            is_valid = length - i >= 4 && sscanf(text + i, "\\x%2hhx", &byte) == 1;
            i += 3;
        }
        if (!is_valid) return free(input), NULL;
        input[(*size)++] = byte;
    }
    return input ? realloc(input, *size ? *size : 1) : NULL;
}

/* The input of a line of the pack. */
static uint8_t *read_line(const char *line, size_t length, size_t number, size_t *size) {
    const bool has_name = length > NAME_DIGITS && line[NAME_DIGITS] == ' ';
    uint8_t *input = has_name ? decode(line + NAME_DIGITS + 1, length - NAME_DIGITS - 1, size) : NULL;
    if (!input) fail("line %zu is damaged: it is not a name and escaped bytes.", number);
    char digest[SHA1_DIGEST_STRING_LENGTH];
    SHA1Data(input, *size, digest);
    if (memcmp(digest, line, NAME_DIGITS) != 0)
        fail("line %zu is damaged: its bytes have another name, %.*s.", number, NAME_DIGITS, digest);
    return input;
}

int main(int argument_count, char **arguments) {
    if (argument_count != 2 && argument_count != 3) return fprintf(stderr, "usage: replay PACK [NAME]\n"), 2;
    pack = arguments[1];
    const char *const wanted = argument_count == 3 ? arguments[2] : NULL;
    size_t size, count = 0, run_count = 0;
    char *const text = read_pack(&size);
    const char *line = text, *previous = NULL, *end;
    /* The last line is read first, because a truncated pack has another one. */
    const char *last = size && text[size - 1] == '\n' ? text + size - 1 : text;
    while (last > text && last[-1] != '\n') last--;
    size_t expected;
    int consumed = 0;
    if (sscanf(last, "%zu inputs%n", &expected, &consumed) != 1 || consumed == 0 || last + consumed + 1 != text + size)
        fail("it is truncated: its last line is not 'N inputs'.");
    for (; line < last; line = end + 1) {
        end = memchr(line, '\n', (size_t)(last - line));
        count++;
        size_t input_size;
        uint8_t *const input = read_line(line, (size_t)(end - line), count, &input_size);
        if (previous && memcmp(line, previous, NAME_DIGITS) <= 0)
            fail("line %zu is damaged: %.*s is not after %.*s.", count, NAME_DIGITS, line, NAME_DIGITS, previous);
        previous = line;
        if (!wanted || (strlen(wanted) == NAME_DIGITS && memcmp(wanted, line, NAME_DIGITS) == 0)) {
            fprintf(stderr, "%.*s\n", NAME_DIGITS, line);
            LLVMFuzzerTestOneInput(input, input_size);
            run_count++;
        }
        free(input);
    }
    free(text);
    if (count != expected) fail("it is damaged: it has %zu inputs, and its last line says %zu.", count, expected);
    if (wanted && !run_count) fail("it has no input of the name '%s'.", wanted);
    printf("%zu inputs, no fault\n", run_count);
    return run_count ? 0 : 2;
}
