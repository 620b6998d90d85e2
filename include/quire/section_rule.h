/**
 * @file
 * Section rules: how a results controller gathers its rows, and how it orders its sections.
 *
 * The simplest rule is a key path, for which `quire_results_options.section_key_path` is enough. A rule can do more. It
 * takes the value of an expression. It gathers texts by their first letter, dates by their day, week, month or year,
 * and numbers by ranges. It orders the sections independently of the rows. It may name sections that are there even
 * without rows.
 *
 * A rule never changes and may be used from any thread, by any number of controllers.
 *
 * Time zones. The offsets of a zone come from the first of these that has it: the system's TZif file of that name, in the
 * folder that the environment variable TZDIR names, or otherwise in /usr/share/zoneinfo, /usr/lib/zoneinfo,
 * /usr/share/lib/zoneinfo or /etc/zoneinfo; the file in `time_zone_folder`; the data inside ICU, which is as old as ICU.
 * Names such as "GMT+3", for which there is no file, are ICU's, too. UTC needs no data. A controller looks at the file when
 * it is made or gets another request, so a change of the system's data shows in controllers made after it, and never
 * within one. Files with leap seconds ("right/Europe/Berlin") give the days of those without.
 *
 * A date belongs to the day that the clocks of its zone show. Where clocks go back over midnight, the end of a day comes
 * a second time, after the first minutes of the next one.
 */
#ifndef QUIRE_SECTION_RULE_H_
#define QUIRE_SECTION_RULE_H_

#include "base.h"
#include "value.h"

QUIRE_BEGIN

/** What rows of one section have in common. */
typedef enum quire_section_grouping {
    /**
     * Their value, of any type. Numbers of different types are the same when they are equal. nil and empty text share a
     * section, whose value is nil. A key path without fixed sections puts the rows with nil before the others there, or
     * behind them when descending.
     */
    QUIRE_GROUPING_VALUE = 0,
    /**
     * The first letter of a text, as an index of the locale has it. Swedish ends with Z, Å, Ä, Ö; Czech has CH behind
     * H; Japanese has the rows of the kana; Chinese goes by pinyin. Accents and case make another letter only where
     * they do in the language.
     *
     * Text before all letters, such as digits, has the section "#". Text behind them all, and between the letters of
     * two scripts, has a section "…". nil and empty text have the section "" before all. The value of a section is its
     * letter.
     */
    QUIRE_GROUPING_LETTER = 1,
    /** The day of a date, called "2026-11-21". Of days to years the value is the date of the beginning. */
    QUIRE_GROUPING_DAY = 2,
    /** The week, called by its first day. The locale sets the day on which weeks begin: Sunday without one. */
    QUIRE_GROUPING_WEEK = 3,
    /** The month, called "2026-11". */
    QUIRE_GROUPING_MONTH = 4,
    /** The year, called "2026". */
    QUIRE_GROUPING_YEAR = 5,
    /**
     * A range of numbers, called by its lower bound, which is its value, a double. A range includes its lower bound and
     * excludes its upper one.
     */
    QUIRE_GROUPING_NUMBER = 6
} quire_section_grouping;

/** How a rule gathers and orders. Zero means the default for every field. */
typedef struct quire_section_rule_options {
    /** sizeof(quire_section_rule_options) in your build. */
    uint32_t struct_size;
    /** A `quire_section_grouping`. */
    uint32_t grouping;
    /** Sections with great values first, the section of nil last. */
    bool is_descending;
    /**
     * A `quire_text_order` for QUIRE_GROUPING_VALUE. Texts that are equal in it share a section. The section has the
     * value of the row that opened it, and keeps that value when this row leaves.
     */
    uint32_t text_order;
    /**
     * ICU's name of a locale, such as "de" or "sv_SE", for letters, weeks and the localized orders; NULL for the common
     * order of all languages. For letters several may be named, as in "ja,en": the first orders texts, and the letters
     * are those of all.
     */
    const char *QUIRE_NULLABLE locale;
    /** For dates: the IANA name of a time zone, such as "Europe/Berlin"; NULL for UTC. See "Time zones" above. */
    const char *QUIRE_NULLABLE time_zone;
    /**
     * For numbers, unless `bounds` are given: how long each range is, greater than 0. The bounds are decimals: with a width
     * of 0.1 they are 0.1, 0.2, 0.3 and so on, and a number is in the range of the last bound whose nearest double is not
     * greater. Names are these decimals. A 32-bit number is compared with the nearest 32-bit number.
     */
    double width;
    /** For numbers: a number at which one of these ranges begins, less than 2^55 widths from 0. */
    double origin;
    /**
     * For numbers: where ranges begin, ascending. The last has no end. The one before the first has the value -infinity
     * and is called "<" with the first bound behind it. Copied.
     */
    const double *QUIRE_NULLABLE bounds;
    size_t bound_count; /**< How many bounds there are. */
    /**
     * Sections that are always there, also without rows, in this order. They are values as the rows have them, such as
     * any date of a day. Others come behind them when they have rows. Copied. They cannot be objects, and must be of
     * the kind of the key's values.
     */
    const quire_value *QUIRE_NULLABLE fixed_sections;
    size_t fixed_section_count; /**< How many fixed sections there are. */
    /**
     * For dates: a folder of TZif files for time zones that the system has no file of, such as that of Python's package
     * tzdata; NULL for none.
     */
    const char *QUIRE_NULLABLE time_zone_folder;
} quire_section_rule_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_SECTION_RULE_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_section_rule_options)), QUIRE_CAST(uint32_t, QUIRE_GROUPING_VALUE), false, 0, \
      NULL, NULL, 0, 0, NULL, 0, NULL, 0, NULL }

/**
 * A rule for the values at a key path through to-one relationships. `options` may be NULL. Owned: `*out_rule`.
 *
 * Whether the entity has the key, and of what type it is, shows when a controller is made with it. Dates beyond the
 * years 1 to 9999 count as of the first or last of these. NaN counts as nil.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (a missing name in the path; an unknown grouping, order, locale or time zone; a width
 * or bounds that make no ranges; a fixed section that is named twice, or that such sections cannot have),
 * QUIRE_INVALID_TEXT, QUIRE_CANNOT_OPEN (the file of a time zone is damaged or cannot be read), QUIRE_UNSUPPORTED (fields
 * set that this version does not know).
 */
quire_status quire_section_rule_create(
    const char *key_path, size_t key_path_size, const quire_section_rule_options *QUIRE_NULLABLE options,
    quire_section_rule *QUIRE_NULLABLE *QUIRE_NONNULL out_rule, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * A rule for the value of an expression for each object. It must have one value, and the same each time: functions such
 * as `now()` are refused when a controller is made with it. Registered functions may take part; they must be registered
 * when the controller is made. Owned: `*out_rule`. Fails as `quire_section_rule_create`.
 */
quire_status quire_section_rule_create_with_expression(
    const quire_expression *expression, const quire_section_rule_options *QUIRE_NULLABLE options,
    quire_section_rule *QUIRE_NULLABLE *QUIRE_NONNULL out_rule, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `rule`. Takes NULL. */
quire_section_rule *QUIRE_NULLABLE quire_section_rule_retain(const quire_section_rule *QUIRE_NULLABLE rule);

/** Releases a reference. Takes NULL. */
void quire_section_rule_release(quire_section_rule *QUIRE_NULLABLE rule);

QUIRE_END

#endif
