// ICU's functions are macros that add a version to each name, which Swift cannot see; these are functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <unicode/ucal.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/ulocdata.h>
#include <unicode/unorm2.h>
#include <unicode/uregex.h>
#include <unicode/uscript.h>
#include <unicode/usearch.h>
#include <unicode/uset.h>
#include <unicode/ustring.h>

static inline uint32_t quire_icu_version_parts(void) {
  UVersionInfo parts;
  u_getVersion(parts);
  return (uint32_t)parts[0] << 24 | (uint32_t)parts[1] << 16 | (uint32_t)parts[2] << 8 | parts[3];
}

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

// What a code point is to the marks around it.
typedef enum quire_icu_role {
  // Nonspacing marks on it are part of the letter.
  QUIRE_ICU_KEEPS_MARKS,
  // Of Latin, Greek, Cyrillic, Arabic or Hebrew, where nonspacing marks are accents and points.
  QUIRE_ICU_SHEDS_MARKS,
  // A nonspacing mark (category Mn).
  QUIRE_ICU_MARK,
  // Belongs to the base before it, as a mark does, and always stays.
  QUIRE_ICU_FOLLOWER,
} quire_icu_role;

static inline quire_icu_role quire_icu_role_of(UChar32 point) {
  switch (u_charType(point)) {
  case U_NON_SPACING_MARK: return QUIRE_ICU_MARK;
  case U_COMBINING_SPACING_MARK:
  case U_ENCLOSING_MARK: return QUIRE_ICU_FOLLOWER;
  default: break;
  }
  UErrorCode status = U_ZERO_ERROR;
  if (uscript_getScript(point, &status) == USCRIPT_INHERITED) return QUIRE_ICU_FOLLOWER;
  // Characters that several scripts use, such as the Arabic tatweel, count for each of them.
  const bool sheds = uscript_hasScript(point, USCRIPT_LATIN) || uscript_hasScript(point, USCRIPT_GREEK)
      || uscript_hasScript(point, USCRIPT_CYRILLIC) || uscript_hasScript(point, USCRIPT_ARABIC)
      || uscript_hasScript(point, USCRIPT_HEBREW);
  return sheds ? QUIRE_ICU_SHEDS_MARKS : QUIRE_ICU_KEEPS_MARKS;
}

// The role of what a character begins with when it is decomposed: some signs of Greek are made of signs of all scripts.
static inline quire_icu_role quire_icu_role_of_composed(UChar32 point) {
  UErrorCode status = U_ZERO_ERROR;
  UChar parts[32];
  const UNormalizer2 *decompose = unorm2_getNFDInstance(&status);
  const int32_t length = U_SUCCESS(status) ? unorm2_getDecomposition(decompose, point, parts, 32, &status) : -1;
  int32_t place = 0;
  if (length > 0 && U_SUCCESS(status)) U16_NEXT(parts, place, length, point);
  return quire_icu_role_of(point);
}

// Removes in place the nonspacing marks whose base sheds them, and returns the new length.
static inline int32_t quire_icu_drop_marks(UChar *text, int32_t length) {
  int32_t read = 0, written = 0;
  bool sheds = false;
  while (read < length) {
    int32_t start = read;
    UChar32 point;
    U16_NEXT(text, read, length, point);
    const quire_icu_role role = quire_icu_role_of(point);
    if (role == QUIRE_ICU_MARK && sheds) continue;
    if (role == QUIRE_ICU_KEEPS_MARKS || role == QUIRE_ICU_SHEDS_MARKS) sheds = role == QUIRE_ICU_SHEDS_MARKS;
    while (start < read) text[written++] = text[start++];
  }
  return written;
}

// Drops the nonspacing marks whose base sheds them, and makes letters of private use of the others: a collator that
// ignores marks tells letters apart. Expects decomposed text. `target` may get twice as long as the text.
static inline int32_t quire_icu_raise_marks(
    UChar *target, int32_t capacity, const UChar *text, int32_t length, UErrorCode *status) {
  int32_t read = 0, written = 0;
  bool sheds = false;
  while (read < length) {
    UChar32 point;
    U16_NEXT(text, read, length, point);
    const quire_icu_role role = quire_icu_role_of(point);
    if (role == QUIRE_ICU_MARK && sheds) continue;
    // Vowels that are letters to the collator stay as they are: some are ordered together with their neighbours.
    if (role == QUIRE_ICU_MARK && u_getCombiningClass(point) != 0 && point < 0x20000) point += 0xF0000;
    if (role == QUIRE_ICU_KEEPS_MARKS || role == QUIRE_ICU_SHEDS_MARKS) sheds = role == QUIRE_ICU_SHEDS_MARKS;
    if (written + U16_LENGTH(point) > capacity) {
      *status = U_BUFFER_OVERFLOW_ERROR;
      return 2 * length;
    }
    U16_APPEND_UNSAFE(target, written, point);
  }
  return written;
}
// Whether a raised mark at that place is one character with the letter before it, as the voicing marks of Japanese are.
static inline bool quire_icu_is_divided(const UChar *text, int32_t place, int32_t length) {
  if (place <= 0 || place >= length) return false;
  UErrorCode status = U_ZERO_ERROR;
  const UNormalizer2 *compose = unorm2_getNFCInstance(&status);
  if (U_FAILURE(status)) return false;
  UChar32 letter, mark;
  int32_t before = place;
  U16_PREV(text, 0, before, letter);
  U16_NEXT(text, place, length, mark);
  return mark > 0xF0000 && unorm2_composePair(compose, letter, mark - 0xF0000) >= 0;
}

// Whether a code point is never one character with what is before it.
static inline bool quire_icu_has_boundary(const UNormalizer2 *compose, UChar32 point) {
  return unorm2_hasBoundaryBefore(compose, point);
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
static inline void quire_icu_regex_watch(URegularExpression *regex, URegexMatchCallback *callback, UErrorCode *status) {
  uregex_setMatchCallback(regex, callback, NULL, status);
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
static inline int32_t quire_icu_collator_order_utf16(
    const UCollator *collator, const UChar *left, int32_t left_length, const UChar *right, int32_t right_length) {
  return ucol_strcoll(collator, left, left_length, right, right_length);
}

// Where `pattern` stands in `text` under a collation: from the front or, with `last`, from the back; -1 if nowhere.
static inline int32_t quire_icu_collator_find(
    const UCollator *collator, const UChar *pattern, int32_t pattern_length, const UChar *text, int32_t text_length,
    bool last, int32_t *found_length, UErrorCode *status) {
  UStringSearch *search =
      usearch_openFromCollator(pattern, pattern_length, text, text_length, collator, NULL, status);
  if (U_FAILURE(*status)) return -1;
  int32_t found = last ? usearch_last(search, status) : usearch_first(search, status);
  while (found >= 0 && quire_icu_is_divided(text, found + usearch_getMatchedLength(search), text_length))
    found = last ? usearch_previous(search, status) : usearch_next(search, status);
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

// A collator that tells letters apart and nothing else.
static inline UCollator *quire_icu_letters_open(const char *locale, UErrorCode *status) {
  UCollator *collator = ucol_open(locale, status);
  if (U_FAILURE(*status)) return collator;
  ucol_setStrength(collator, UCOL_PRIMARY);
  ucol_setAttribute(collator, UCOL_NORMALIZATION_MODE, UCOL_ON, status);
  return collator;
}

// The letters that a locale's indexes have; an empty set where ICU knows none. To be closed.
static inline USet *quire_icu_index_letters(const char *locale) {
  UErrorCode status = U_ZERO_ERROR;
  USet *set = uset_openEmpty();
  ULocaleData *data = ulocdata_open(locale, &status);
  if (U_SUCCESS(status)) {
    ulocdata_getExemplarSet(data, set, 0, ULOCDATA_ES_INDEX, &status);
    ulocdata_close(data);
  }
  if (U_FAILURE(status)) uset_clear(set);
  return set;
}
// The texts of several characters that a collator orders as one. Those that begin with U+FDD0 and U+FDD1 stand for the
// beginnings of the sections of Chinese indexes and of scripts. To be closed.
static inline USet *quire_icu_contractions(const UCollator *collator, UErrorCode *status) {
  USet *set = uset_openEmpty();
  ucol_getContractionsAndExpansions(collator, set, NULL, false, status);
  return set;
}
static inline int32_t quire_icu_set_count(const USet *set) { return uset_getItemCount(set); }
// A text of the length that is returned, or for 0 the characters from `first` to `last`.
static inline int32_t quire_icu_set_item(
    const USet *set, int32_t index, int32_t *first, int32_t *last, UChar *text, int32_t capacity) {
  UErrorCode status = U_ZERO_ERROR;
  int32_t length = uset_getItem(set, index, first, last, text, capacity, &status);
  return U_FAILURE(status) ? -1 : length;
}
static inline void quire_icu_set_close(USet *set) { uset_close(set); }

// Whether ICU knows a time zone.
static inline bool quire_icu_has_time_zone(const UChar *name, int32_t length) {
  UChar canonical[128];
  UBool is_known = false;
  UErrorCode status = U_ZERO_ERROR;
  int32_t size = ucal_getCanonicalTimeZoneID(name, length, canonical, 128, &is_known, &status);
  return U_SUCCESS(status) && size > 0;
}
static inline UCalendar *quire_icu_calendar_open(
    const UChar *zone, int32_t length, const char *locale, UErrorCode *status) {
  return ucal_open(zone, length, locale, UCAL_GREGORIAN, status);
}
static inline void quire_icu_calendar_close(UCalendar *calendar) { ucal_close(calendar); }

// The day with which weeks begin in a locale: 1 for Sunday to 7 for Saturday.
static inline int32_t quire_icu_first_weekday(const char *locale, UErrorCode *status) {
  static const UChar utc[] = {'U', 'T', 'C'};
  UCalendar *calendar = quire_icu_calendar_open(utc, 3, locale, status);
  int32_t day = U_SUCCESS(*status) ? ucal_getAttribute(calendar, UCAL_FIRST_DAY_OF_WEEK) : 0;
  ucal_close(calendar);
  return day;
}

// Moments between which a calendar's time zone has one offset, all in milliseconds; the end is no part of it.
typedef struct quire_icu_offset {
  double start, end;
  bool has_start, has_end;
  int32_t offset;
} quire_icu_offset;

static inline quire_icu_offset quire_icu_offset_around(UCalendar *calendar, double moment, UErrorCode *status) {
  quire_icu_offset found = {0, 0, false, false, 0};
  ucal_setMillis(calendar, moment, status);
  found.offset = ucal_get(calendar, UCAL_ZONE_OFFSET, status) + ucal_get(calendar, UCAL_DST_OFFSET, status);
  found.has_start =
      ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_PREVIOUS_INCLUSIVE, &found.start, status);
  found.has_end = ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_NEXT, &found.end, status);
  return found;
}

static inline const char *quire_icu_error_name(UErrorCode status) { return u_errorName(status); }

// The C library's linear-time search, which its header declares only with GNU's extensions.
extern void *memmem(const void *text, size_t length, const void *part, size_t part_length);
static inline bool quire_contains(const void *text, size_t length, const void *part, size_t part_length) {
  return memmem(text, length, part, part_length) != 0;
}
