/**
 * @file
 * Fetch requests: which objects, in which order, how many, and as what.
 *
 * Some options would change the result of a use, and have no meaning for it. Such a use fails with
 * QUIRE_INVALID_ARGUMENT, and the message names the option:
 *
 * - groups, their condition, equal rows and calculated columns, for all but QUIRE_RESULT_DICTIONARIES; thus also for
 *   results controllers, batch requests and fetched properties (QUIRE_INVALID_MODEL);
 * - named properties where the result is ids or a number;
 * - refreshing where the result has no objects.
 *
 * A count and an explanation take what the fetch takes. Options about reading objects (batch size, prefetching, faults,
 * property values) have no effect where none are read.
 */
#ifndef QUIRE_FETCH_H_
#define QUIRE_FETCH_H_

#include "base.h"

QUIRE_BEGIN

/** What a fetch returns. The numbers are Core Data's. */
typedef enum quire_result_type {
    /** Objects, registered in the context. */
    QUIRE_RESULT_OBJECTS = 0,
    /** Ids only; nothing else is read. */
    QUIRE_RESULT_IDS = 1,
    /** Rows of values, straight from the store, without pending changes (as in Core Data). */
    QUIRE_RESULT_DICTIONARIES = 2,
    /** One row with one number, the count. `quire_context_count` is the short way. */
    QUIRE_RESULT_COUNT = 4
} quire_result_type;

/** Makes a request for all objects of `entity`. Owned: `*out_request`. Whether the entity exists shows at the fetch. */
quire_status quire_fetch_request_create(
    const char *entity, size_t entity_size, quire_fetch_request *QUIRE_NULLABLE *QUIRE_NONNULL out_request,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Adds a reference and returns `request`. Takes NULL. */
quire_fetch_request *QUIRE_NULLABLE quire_fetch_request_retain(const quire_fetch_request *QUIRE_NULLABLE request);

/** Releases a reference. Takes NULL. */
void quire_fetch_request_release(quire_fetch_request *QUIRE_NULLABLE request);

/** Selects only objects that match `predicate`; NULL for all. The request keeps a reference. */
quire_status quire_fetch_request_set_predicate(
    quire_fetch_request *request, const quire_predicate *QUIRE_NULLABLE predicate,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Selects only objects that match `predicate` as well as the predicate of the request. The request keeps what it needs
 * of it. However many are added, they are one chain.
 *
 * Fails: QUIRE_INVALID_ARGUMENT, QUIRE_INVALID_PREDICATE (with one level more it is too deep).
 */
quire_status quire_fetch_request_add_predicate(
    quire_fetch_request *request, const quire_predicate *predicate, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Orders by a key path (`author`, `author.name`), after the keys added before: ascending, or descending on request. nil
 * comes first ascending and last descending; text orders by code point. Objects that are equal in all keys order by id,
 * temporary ones last and oldest first.
 *
 * Whether the key exists shows at the fetch. Fails: QUIRE_INVALID_ARGUMENT (an empty name in the path),
 * QUIRE_INVALID_TEXT.
 */
quire_status quire_fetch_request_add_sort(
    quire_fetch_request *request, const char *key_path, size_t key_path_size, bool is_descending,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How text is ordered. */
typedef enum quire_text_order {
    /** By code point: `Zoo`, `apple`, `Etude` with an accent. An index of the attribute serves it. */
    QUIRE_TEXT_BINARY = 0,
    /** By code point after folding case, as `[c]` in predicates does. */
    QUIRE_TEXT_CASE_INSENSITIVE = 1,
    /** As a dictionary of the locale has it, upper and lower case of a letter beside each other. */
    QUIRE_TEXT_LOCALIZED = 2,
    /** As QUIRE_TEXT_LOCALIZED, without regard to case. */
    QUIRE_TEXT_LOCALIZED_CASE_INSENSITIVE = 3,
    /** As QUIRE_TEXT_LOCALIZED, with numbers in the text by their value: `File 9` before `File 10`. */
    QUIRE_TEXT_LOCALIZED_STANDARD = 4
} quire_text_order;

/** How `quire_fetch_request_add_sort_with_options` sorts. Zero means the default for every field. */
typedef struct quire_sort_options {
    /** sizeof(quire_sort_options) in your build. */
    uint32_t struct_size;
    /** A `quire_text_order`; other than QUIRE_TEXT_BINARY for text and URIs only. */
    uint32_t text_order;
    /** Great values first, nil last. */
    bool is_descending;
    /**
     * ICU's name of a locale for the localized orders, such as "de" or "sv_SE"; NULL for the order that is common to all
     * languages. The locale of the process takes no part, so that a list has the same order everywhere.
     */
    const char *QUIRE_NULLABLE locale;
} quire_sort_options;

/** Sets `struct_size`; all else zero. */
#define QUIRE_SORT_OPTIONS_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_sort_options)), QUIRE_CAST(uint32_t, QUIRE_TEXT_BINARY), false, NULL }

/**
 * Orders by a key path as `quire_fetch_request_add_sort` does, text by one of the orders in which people read lists.
 *
 * Sections of a controller follow: values that are equal in the order of the section key share a section, which has the
 * name of the first. `options` may be NULL.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (an unknown order or locale), QUIRE_INVALID_TEXT, QUIRE_UNSUPPORTED (fields set that
 * this version does not know). Whether the attribute holds text shows at the fetch.
 */
quire_status quire_fetch_request_add_sort_with_options(
    quire_fetch_request *request, const char *key_path, size_t key_path_size,
    const quire_sort_options *QUIRE_NULLABLE options, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Removes all sort keys. */
quire_status quire_fetch_request_clear_sort(
    quire_fetch_request *request, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** As a limit: all results. */
#define QUIRE_NO_LIMIT UINT64_MAX

/**
 * At most `limit` results, counted over saved rows and pending changes together; 0 is none. QUIRE_NO_LIMIT unless set.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (more than INT64_MAX, other than QUIRE_NO_LIMIT).
 */
quire_status quire_fetch_request_set_limit(
    quire_fetch_request *request, uint64_t limit, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Leaves out the first `offset` results. Fails: QUIRE_INVALID_ARGUMENT (more than INT64_MAX). */
quire_status quire_fetch_request_set_offset(
    quire_fetch_request *request, uint64_t offset, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads the values of `batch_size` objects at a time, when one of them is touched; 0 for all with the fetch.
 *
 * The list then keeps the objects of the last batches, some 20,000 and two batches at least. A loop over any number of
 * objects thus holds little memory. The list releases other objects, and reads them again when they are asked for.
 * Fails as `quire_fetch_request_set_offset`.
 */
quire_status quire_fetch_request_set_batch_size(
    quire_fetch_request *request, uint64_t batch_size, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Reads related objects together with the objects of the result. The path is a relationship, or several, to-one or
 * to-many (`author`, `tags`, `author.books`). Each step is read. Each call adds a path.
 *
 * It takes one statement for each step, whatever the number of objects, and with a batch size one for each step and
 * batch. Touching the related objects then reads nothing: neither which ones there are, unsaved changes included, nor
 * their values. They stay read as long as the list of the fetch keeps the object that leads to them, or the program
 * holds them. A results controller reads them with its objects, see `quire_results_object`. Results other than objects
 * have nothing to prefetch.
 *
 * Whether the path exists, and is one of stored relationships, shows at the fetch. Fails: QUIRE_INVALID_ARGUMENT (an
 * empty name in the path), QUIRE_INVALID_TEXT.
 */
quire_status quire_fetch_request_add_prefetch(
    quire_fetch_request *request, const char *key_path, size_t key_path_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether objects are made without values. The values are read when one of the objects is needed: of a batch in one
 * statement, or without a batch size of the whole result. False unless set, unlike in Core Data, whose default rests on
 * a cache of rows beside the objects. Here there is no such cache, so without this option a fetch fills the objects.
 *
 * The first object of a batch that is asked for makes the others, so that they can be read together as long as the list
 * holds them. An object that has values already keeps them. It cannot be combined with prefetching and refreshing.
 */
quire_status quire_fetch_request_set_returns_objects_as_faults(
    quire_fetch_request *request, bool returns_objects_as_faults,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether the values of objects are read at all. True unless set. With false the fetch reads ids and entities only, and
 * each object is read by itself when it is touched. For results that are shown in part or used for their ids. It cannot
 * be combined with properties, prefetching and refreshing.
 */
quire_status quire_fetch_request_set_includes_property_values(
    quire_fetch_request *request, bool includes_property_values,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether objects of the result that were read before take the stored values. False unless set: they keep the values
 * that they show.
 *
 * The context advances to the newest commit first, as by `quire_context_merge`. Pending changes of an object stay. Its other
 * properties become those of the store, and so does the version that the next save expects: of two changes of the same
 * property this context's is then the later one. Results controllers report the difference with the fetch. Objects that a
 * batch reads later are reported when changes are next processed.
 */
quire_status quire_fetch_request_set_refreshes_refetched_objects(
    quire_fetch_request *request, bool refreshes_refetched_objects,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** What the fetch returns: a `quire_result_type`. Objects unless set. */
quire_status quire_fetch_request_set_result_type(
    quire_fetch_request *request, uint32_t result_type, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether objects of entities that inherit from the request's are included. True unless set. */
quire_status quire_fetch_request_set_includes_subentities(
    quire_fetch_request *request, bool includes_subentities, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Whether pending changes of the context are seen. True unless set. Without, membership follows the saved values. */
quire_status quire_fetch_request_set_includes_pending_changes(
    quire_fetch_request *request, bool includes_pending_changes,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a column to results of type QUIRE_RESULT_DICTIONARIES: an attribute, a to-one relationship (its id) or a key
 * path through to-one relationships. Without any, all attributes.
 *
 * Results of objects then have these properties alone, which are the objects' own. When another property is needed, the
 * values of a batch of objects are read, as after `quire_fetch_request_set_returns_objects_as_faults`.
 *
 * Whether the key exists shows at the fetch. Fails: QUIRE_INVALID_ARGUMENT (an empty name in the path),
 * QUIRE_INVALID_TEXT.
 */
quire_status quire_fetch_request_add_property(
    quire_fetch_request *request, const char *key_path, size_t key_path_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Adds a column `name` with the values of `expression`. Such are `price * 2`, `books.@count` and `SELF` (the id).
 *
 * An aggregate of a key, such as `sum:(price)`, covers all rows of a group. Without groups it covers all rows, and the
 * result has one row. The aggregates are `sum: count: min: max: average: median: stddev:`. None of them counts nil, and
 * `count:(SELF)` counts rows. Sums of integers are integers as long as 64 bits hold them. `median:` and `stddev:` hold
 * the numbers of a group in memory.
 *
 * The type of the column is that of its values. Integers and doubles together are doubles; without any value it is
 * double. Fails: QUIRE_INVALID_ARGUMENT (no name), QUIRE_INVALID_TEXT. An invalid expression fails at the fetch.
 */
quire_status quire_fetch_request_add_expression(
    quire_fetch_request *request, const char *name, size_t name_size, const quire_expression *expression,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Makes one row of all rows that have the same value at `key_path`, and at the key paths added before. For results of
 * type QUIRE_RESULT_DICTIONARIES. nil is a value here too. Every column must then be one of these keys, an aggregate,
 * or made of such. Every sort key must be so, too, or be the name of a column. Rows that are equal in all sort keys are
 * ordered by the keys of the groups.
 *
 * Fails as `quire_fetch_request_add_property`.
 */
quire_status quire_fetch_request_add_group(
    quire_fetch_request *request, const char *key_path, size_t key_path_size,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Selects only groups that match `predicate`; NULL for all. It may name a column by its name (`total > 10`), as a
 * variable (`$total > 10`), or spell its expression (`sum:(price) > 10`). Core Data takes the second alone. The request
 * keeps a reference. A fetch without groups fails with QUIRE_INVALID_STATE.
 */
quire_status quire_fetch_request_set_having(
    quire_fetch_request *request, const quire_predicate *QUIRE_NULLABLE predicate,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Whether equal rows of the result become one, for results of type QUIRE_RESULT_DICTIONARIES. False unless set. Sort
 * keys must then be columns; rows that are equal in them are ordered by the columns from the first on.
 */
quire_status quire_fetch_request_set_distinct(
    quire_fetch_request *request, bool is_distinct, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Runs a request. Applies delete rules first, and lays pending changes over the result. It reports nothing, and advances the
 * context only where the request refreshes objects (see context.h). Owned: `*out_list`.
 *
 * Fails: QUIRE_INVALID_ARGUMENT (unknown entity or key, a transient attribute), QUIRE_INVALID_PREDICATE (an ordering of
 * what has no order, such as text and a number; a malformed pattern), QUIRE_UNSUPPORTED (a predicate part),
 * QUIRE_INVALID_STATE (with a request that refreshes: delegates that go on changing objects, see `quire_context_process`),
 * QUIRE_CANCELLED, QUIRE_CLOSED,
 * QUIRE_BUSY, QUIRE_DATABASE.
 */
quire_status quire_context_fetch(
    quire_context *context, const quire_fetch_request *request, quire_list *QUIRE_NULLABLE *QUIRE_NONNULL out_list,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Runs a request and reads its whole result as columns: the values that `quire_list_page` gives for all rows of what
 * `quire_context_fetch` gives, pending changes included, in less time. `key_paths`, `key_path_count` and `flags` are those
 * of `quire_list_page`. Owned: `*out_page`.
 *
 * One statement finds the rows and reads them, where no pending change concerns them, no key path passes through a
 * relationship, and the context is no child. Then all values are of one state of the file, no row can be gone in between,
 * and a cancellation of the request ends the reading, too. Otherwise the call fetches ids and reads the rows after that.
 *
 * For objects and ids it makes no objects, and the options about reading objects have no effect. Objects that the context
 * has read show the values that they have there.
 *
 * Fails as `quire_context_fetch` and `quire_list_page`.
 */
quire_status quire_context_fetch_page(
    quire_context *context, const quire_fetch_request *request,
    const char *const QUIRE_NULLABLE *QUIRE_NULLABLE key_paths, size_t key_path_count, uint32_t flags,
    quire_page *QUIRE_NULLABLE *QUIRE_NONNULL out_page, quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** How many results a request has, whatever its result type; limit and offset count. Fails as `quire_context_fetch`. */
quire_status quire_context_count(
    quire_context *context, const quire_fetch_request *request, int64_t *out_count,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/**
 * Explains a fetch of `request` in lines of text: the SQL, its arguments, and SQLite's plan for it with the indexes it
 * would use. Behind `no index:` it names each part of the predicate for which every row is looked at, and the order if
 * rows have to be sorted. For people; the wording changes between versions.
 *
 * Owned: `*out_explanation`, whose `quire_evaluation_value` is the text. Nothing is fetched, but delete rules are
 * applied. Fails as `quire_context_fetch`. Thread: that of the context.
 */
quire_status quire_fetch_request_explain(
    const quire_fetch_request *request, quire_context *context,
    quire_evaluation *QUIRE_NULLABLE *QUIRE_NONNULL out_explanation,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** What a request was given. The struct is initialised with its _INIT macro before the call that fills it. */
typedef struct quire_fetch_request_info {
    /** sizeof(quire_fetch_request_info) in your build; the library fills no more. */
    uint32_t struct_size;
    /** A `quire_result_type`. */
    uint32_t result_type;
    quire_string entity; /**< The name of the entity. */
    /** NULL for all objects. */
    const quire_predicate *QUIRE_NULLABLE predicate;
    /** QUIRE_NO_LIMIT for all. */
    uint64_t limit;
    uint64_t offset; /**< How many results are left out at the beginning. */
    uint64_t batch_size; /**< 0 for no batches. */
    int64_t sort_count; /**< How many sort keys there are. */
    int64_t prefetch_count; /**< How many prefetched paths there are. */
    bool includes_subentities; /**< As set, like the following. */
    bool includes_pending_changes; /**< As set. */
    bool includes_property_values; /**< As set. */
    bool returns_objects_as_faults; /**< As set. */
    bool refreshes_refetched_objects; /**< As set. */
    /** It has groups, columns, or leaves out equal rows. What these are is not told. */
    bool makes_rows;
} quire_fetch_request_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_FETCH_REQUEST_INFO_INIT \
    { QUIRE_CAST(uint32_t, sizeof(quire_fetch_request_info)), 0, {NULL, 0}, NULL, 0, 0, 0, 0, 0, false, false, false, false, \
      false, false }

/** A sort key of a request. */
typedef struct quire_sort_info {
    /** sizeof(quire_sort_info) in your build; the library fills no more. */
    uint32_t struct_size;
    /** A `quire_text_order`. */
    uint32_t text_order;
    quire_string key_path; /**< What is sorted by. */
    /** No text for the order that is common to all languages. */
    quire_string locale;
    bool is_descending; /**< Great values first, nil last. */
} quire_sort_info;

/** Sets `struct_size`; all else zero. */
#define QUIRE_SORT_INFO_INIT { QUIRE_CAST(uint32_t, sizeof(quire_sort_info)), 0, {NULL, 0}, {NULL, 0}, false }

/**
 * Tells what a request was given. Texts and the predicate are borrowed from the request. They live until the request is
 * changed, and those of a request that a model keeps live as long as the model. Any thread may ask the latter.
 *
 * Fails: QUIRE_INVALID_ARGUMENT.
 */
quire_status quire_fetch_request_describe(
    const quire_fetch_request *request, quire_fetch_request_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** Tells a sort key by its place. Texts live as those of `quire_fetch_request_describe`. Fails: QUIRE_INVALID_ARGUMENT. */
quire_status quire_fetch_request_sort_key(
    const quire_fetch_request *request, int64_t index, quire_sort_info *out_info,
    quire_error *QUIRE_NULLABLE *QUIRE_NULLABLE out_error);

/** A prefetched path by its place, which lives as the above. No text when `index` is out of range. */
quire_string quire_fetch_request_prefetched(const quire_fetch_request *request, int64_t index);

QUIRE_END

#endif
