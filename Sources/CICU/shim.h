// ICU's functions are macros that add a version to each name, which Swift cannot see; these are functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/unorm2.h>
#include <unicode/uregex.h>
#include <unicode/usearch.h>
#include <unicode/ustring.h>

static inline UCaseMap *quire_icu_case_map_open(UErrorCode *status) { return ucasemap_open("", 0, status); }

static inline int32_t quire_icu_fold_case(
    const UCaseMap *map, char *target, int32_t capacity, const char *source, int32_t length, UErrorCode *status) {
  return ucasemap_utf8FoldCase(map, target, capacity, source, length, status);
}

static inline UChar *quire_icu_from_utf8(
    UChar *target, int32_t capacity, int32_t *written, const char *source, int32_t length, UErrorCode *status) {
  return u_strFromUTF8(target, capacity, written, source, length, status);
}

static inline char *quire_icu_to_utf8(
    char *target, int32_t capacity, int32_t *written, const UChar *source, int32_t length, UErrorCode *status) {
  return u_strToUTF8(target, capacity, written, source, length, status);
}

static inline const UNormalizer2 *quire_icu_nfd(UErrorCode *status) { return unorm2_getNFDInstance(status); }
static inline const UNormalizer2 *quire_icu_nfc(UErrorCode *status) { return unorm2_getNFCInstance(status); }

static inline int32_t quire_icu_normalize(
    const UNormalizer2 *form, const UChar *source, int32_t length, UChar *target, int32_t capacity,
    UErrorCode *status) {
  return unorm2_normalize(form, source, length, target, capacity, status);
}

static inline int32_t quire_icu_fold_case_utf16(
    UChar *target, int32_t capacity, const UChar *source, int32_t length, UErrorCode *status) {
  return u_strFoldCase(target, capacity, source, length, U_FOLD_CASE_DEFAULT, status);
}

// Removes the nonspacing marks (category Mn) in place and returns the new length.
static inline int32_t quire_icu_drop_marks(UChar *text, int32_t length) {
  int32_t read = 0, written = 0;
  while (read < length) {
    int32_t start = read;
    UChar32 point;
    U16_NEXT(text, read, length, point);
    if (u_charType(point) == U_NON_SPACING_MARK) continue;
    while (start < read) text[written++] = text[start++];
  }
  return written;
}

// Removes in place all that normalization may drop or move, and makes another character of the zero, at which some
// readers of text stop. Returns the new length.
static inline int32_t quire_icu_drop_combining(UChar *text, int32_t length) {
  int32_t read = 0, written = 0;
  while (read < length) {
    int32_t start = read;
    UChar32 point;
    U16_NEXT(text, read, length, point);
    if (u_charType(point) == U_NON_SPACING_MARK || u_getCombiningClass(point) != 0) continue;
    if (point == 0) text[start] = 1;
    while (start < read) text[written++] = text[start++];
  }
  return written;
}

// Four numbers, of the version of Unicode.
static inline void quire_icu_unicode_version(uint8_t *version) { u_getUnicodeVersion(version); }

static inline URegularExpression *quire_icu_regex_open(
    const UChar *pattern, int32_t length, uint32_t flags, UParseError *place, UErrorCode *status) {
  return uregex_open(pattern, length, flags, place, status);
}
static inline void quire_icu_regex_close(URegularExpression *regex) { uregex_close(regex); }
static inline void quire_icu_regex_limit(
    URegularExpression *regex, int32_t time, int32_t stack, UErrorCode *status) {
  uregex_setTimeLimit(regex, time, status);
  uregex_setStackLimit(regex, stack, status);
}
static inline void quire_icu_regex_set_text(
    URegularExpression *regex, const UChar *text, int32_t length, UErrorCode *status) {
  uregex_setText(regex, text, length, status);
}
static inline UBool quire_icu_regex_matches(URegularExpression *regex, UErrorCode *status) {
  return uregex_matches(regex, 0, status);
}

// The collation of the process's locale. That of the POSIX locale holds letters of different case for different
// letters, whatever the strength; the root collation stands in for it.
static inline UCollator *quire_icu_collator_open(bool ignores_case, bool ignores_marks, UErrorCode *status) {
  const char *locale = uloc_getDefault();
  for (const char *part = locale; *part; part++) {
    if (part[0] == 'P' && part[1] == 'O' && part[2] == 'S' && part[3] == 'I' && part[4] == 'X') locale = "";
  }
  UCollator *collator = ucol_open(locale, status);
  if (U_FAILURE(*status)) return collator;
  ucol_setStrength(collator, ignores_marks ? UCOL_PRIMARY : ignores_case ? UCOL_SECONDARY : UCOL_TERTIARY);
  if (ignores_marks && !ignores_case) ucol_setAttribute(collator, UCOL_CASE_LEVEL, UCOL_ON, status);
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, status);
  return collator;
}
static inline void quire_icu_collator_close(UCollator *collator) { ucol_close(collator); }
static inline int32_t quire_icu_collator_order(
    const UCollator *collator, const char *left, int32_t left_length, const char *right, int32_t right_length,
    UErrorCode *status) {
  return ucol_strcollUTF8(collator, left, left_length, right, right_length, status);
}

// Where `pattern` stands in `text` under a collation: from the front or, with `last`, from the back; -1 if nowhere.
static inline int32_t quire_icu_collator_find(
    const UCollator *collator, const UChar *pattern, int32_t pattern_length, const UChar *text, int32_t text_length,
    bool last, int32_t *found_length, UErrorCode *status) {
  UStringSearch *search =
      usearch_openFromCollator(pattern, pattern_length, text, text_length, collator, NULL, status);
  if (U_FAILURE(*status)) return -1;
  int32_t found = last ? usearch_last(search, status) : usearch_first(search, status);
  *found_length = found < 0 ? 0 : usearch_getMatchedLength(search);
  usearch_close(search);
  return found;
}

// A collator for the keys that order text.
static inline UCollator *quire_icu_order_open(
    const char *locale, bool ignores_case, bool numbers_by_value, UErrorCode *status) {
  UCollator *collator = ucol_open(locale, status);
  if (U_FAILURE(*status)) return collator;
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, status);
  if (ignores_case) ucol_setStrength(collator, UCOL_SECONDARY);
  if (numbers_by_value) ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, status);
  return collator;
}
static inline void quire_icu_order_close(UCollator *collator) { ucol_close(collator); }
static inline int32_t quire_icu_order_key(
    const UCollator *collator, const UChar *text, int32_t length, uint8_t *key, int32_t capacity) {
  return ucol_getSortKey(collator, text, length, key, capacity);
}
// Whether ICU has data for the language of a locale; the empty one is the root, of no language.
static inline bool quire_icu_has_locale(const char *locale) {
  char wanted[ULOC_LANG_CAPACITY], found[ULOC_LANG_CAPACITY];
  UErrorCode status = U_ZERO_ERROR;
  if (!*locale) return true;
  if (uloc_getLanguage(locale, wanted, sizeof wanted, &status) <= 0 || U_FAILURE(status)) return false;
  for (int32_t index = 0; index < uloc_countAvailable(); index++) {
    status = U_ZERO_ERROR;
    uloc_getLanguage(uloc_getAvailable(index), found, sizeof found, &status);
    if (U_SUCCESS(status) && strcmp(wanted, found) == 0) return true;
  }
  return false;
}

static inline const char *quire_icu_error_name(UErrorCode status) { return u_errorName(status); }

// The C library's linear-time search, which its header shows only to those who ask for GNU's extensions.
extern void *memmem(const void *text, size_t length, const void *part, size_t part_length);
static inline bool quire_contains(const void *text, size_t length, const void *part, size_t part_length) {
  return memmem(text, length, part, part_length) != 0;
}
