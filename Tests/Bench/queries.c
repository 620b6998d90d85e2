/*
 * Predicates: the ids of the rows that they hold for, in the order of the ids, as Quire finds them and as statements of
 * SQLite do that were prepared before.
 */
#include "bench.h"

/*
 * `of_case` is the case that it is reported in when that has a name of its own.
 * With `sql`, a statement that gives ids; otherwise a predicate. An `argument` is bound to the one or the other. What
 * is aside answers less than was asked, and is no floor.
 */
typedef struct contender { const char *name, *of_case, *sql, *format, *argument; bool is_aside; } contender;

enum { MOST = 8 };

static int64_t step_ids(sqlite3_stmt *statement, int64_t *count) {
    int64_t sum = 0;
    for (*count = 0; sqlite3_step(statement) == SQLITE_ROW; ++*count) sum += sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return sum;
}

static quire_fetch_request *new_request(const char *format, const char *argument) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    const quire_value value = quire_value_text(argument ? argument : "");
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_predicate_parse(format, QUIRE_NUL, &value, argument ? 1 : 0, &predicate, &error));
    OK(quire_fetch_request_set_predicate(request, predicate, &error));
    OK(quire_fetch_request_set_result_type(request, QUIRE_RESULT_IDS, &error));
    quire_predicate_release(predicate);
    return request;
}

static uint32_t fetched_checksum;

static int64_t fetch_ids(quire_context *context, quire_fetch_request *request, int64_t *count) {
    quire_list *list = NULL;
    OK(quire_context_fetch(context, request, &list, &error));
    int64_t sum = 0;
    uint32_t in_order = 0;
    *count = quire_list_count(list);
    for (int64_t first = 0; first < *count;) {
        int64_t ids[256];
        const int64_t part = *count - first < 256 ? *count - first : 256;
        OK(quire_list_ids(list, first, part, ids, &error));
        for (int64_t i = 0; i < part; i++) sum += ids[i], in_order = checksum(in_order, ids[i]);
        first += part;
    }
    fetched_checksum = in_order;
    quire_list_release(list);
    return sum;
}

/* Has all of them find the same `expected` rows. The fastest statement is the floor; it is reported first. */
static void compare(const char *name, int64_t rows, int64_t expected, const contender *contenders, int count, int rounds) {
    static double samples[MOST][MANY];
    sqlite3_stmt *statements[MOST] = {NULL};
    quire_fetch_request *requests[MOST] = {NULL};
    sqlite3 *database = open_database(path);
    opened made = open_store(path);
    /* As a store with a text index has it. */
    if (is_searchable) SQL_OK(sqlite3_exec(database, "PRAGMA cache_size = -65536", NULL, NULL, NULL));
    for (int i = 0; i < count; i++) {
        const contender *one = &contenders[i];
        if (!one->sql) {
            requests[i] = new_request(one->format, one->argument);
            continue;
        }
        statements[i] = prepare(database, one->sql);
        if (one->argument) SQL_OK(sqlite3_bind_text(statements[i], 1, one->argument, -1, SQLITE_STATIC));
    }
    int64_t sum = 0;
    /* The first round fills the caches. */
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            int64_t found = 0;
            const char *const work = statements[i] || round < 0 ? NULL : contenders[i].of_case ? contenders[i].of_case : name;
            const double start = begin_work(work);
            const int64_t ids =
                statements[i] ? step_ids(statements[i], &found) : fetch_ids(made.context, requests[i], &found);
            const double taken = end_work(work, start);
            if (round >= 0) samples[i][round] = taken;
            if (round < 0 && i == 0) sum = ids;
            CHECK(ids == sum && found == expected);
        }
    for (int i = 0; i < count; i++) {
        sqlite3_finalize(statements[i]);
        if (requests[i]) quire_fetch_request_release(requests[i]);
    }
    close_store(made);
    SQL_OK(sqlite3_close(database));
    answer("%lld ids %u", (long long)expected, fetched_checksum);

    int fastest = -1;
    for (int i = 0; i < count; i++)
        if (contenders[i].sql && !contenders[i].is_aside
            && (fastest < 0 || median(samples[i], rounds) < median(samples[fastest], rounds))) fastest = i;
    report(name, contenders[fastest].name, rows, samples[fastest], rounds, true);
    for (int i = 0; i < count; i++) {
        if (i == fastest) continue;
        if (contenders[i].of_case) report(contenders[i].of_case, contenders[fastest].name, rows, samples[fastest], rounds, true);
        report(contenders[i].of_case ? contenders[i].of_case : name, contenders[i].name, rows, samples[i], rounds, false);
    }
}

/* How many rows a statement gives. */
static int64_t count_rows(const char *sql) {
    sqlite3 *database = open_database(path);
    sqlite3_stmt *statement = prepare(database, sql);
    int64_t count = 0;
    step_ids(statement, &count);
    sqlite3_finalize(statement);
    SQL_OK(sqlite3_close(database));
    return count;
}

/* One title in a hundred has the pattern. */
static void contain(const char *name, const char *exact, int64_t rows, title_words title, const char *like, const char *upper) {
    const title_words before = words;
    words = title;
    prepare_file(rows);
    words = before;
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT Z_PK FROM ZQUOTE WHERE ZTITLE LIKE '%%%s%%'", like);
    const int64_t count = count_rows(sql);
    CHECK(count > rows / 200 && count < rows / 50);
    compare(name, rows, count, (contender[]){
        {.name = "sqlite-c", .sql = sql},
        {.name = "quire-c", .of_case = exact, .format = "title CONTAINS %@", .argument = like},
        {.name = "quire-c", .format = "title CONTAINS[cd] %@", .argument = upper}}, 3, FEW);
}

void contains_case(int64_t rows) {
    contain("contains", "contains.exact", rows, words, "42 of the", "42 OF THE");
    contain("contains.latin", NULL, rows, (title_words){"Édition", "des œuvres complètes"}, "42 des œuvres", "42 DES ŒUVRES");
    contain("contains.greek", NULL, rows, (title_words){"Τόμος", "των απάντων"}, "42 των απ", "42 ΤΩΝ ΆΠ");
}

/* The same pattern. "by keys" is what it costs SQLite to look at these rows when it is told their keys. */
void text_index_case(int64_t rows) {
    double inserts[2][1];
    static double saves[2][MANY];
    for (int searchable = 0; searchable < 2; searchable++) {
        is_searchable = searchable;
        const char *const insertion = searchable ? "searchable.insert" : NULL, *const save = searchable ? "searchable.save" : NULL;
        double start = begin_work(insertion);
        remove_files();
        insert_columns(path, rows);
        inserts[searchable][0] = end_work(insertion, start);
        opened made = open_store(path);
        for (int i = 0; i < MANY; i++) {
            quire_object *object = NULL;
            char title[64];
            snprintf(title, sizeof title, "Another title %d", i);
            const quire_value value = quire_value_text(title);
            start = begin_work(save);
            OK(quire_context_object(made.context, "Quote", 5, i * 7919 % rows + 1, &object, &error));
            OK(quire_object_set(object, "title", 5, &value, &error));
            OK(quire_context_save(made.context, &error));
            saves[searchable][i] = end_work(save, start);
            quire_object_release(object);
        }
        close_store(made);
    }
    static const char like[] = "SELECT Z_PK FROM ZQUOTE WHERE ZTITLE LIKE '%42 of the%'";
    sqlite3 *database = open_database(path);
    sqlite3_stmt *gather = prepare(database, "SELECT '[' || group_concat(Z_PK) || ']', count(*) FROM ZQUOTE "
        "WHERE ZTITLE LIKE '%42 of the%'");
    CHECK(sqlite3_step(gather) == SQLITE_ROW);
    char *list = strdup((const char *)sqlite3_column_text(gather, 0));
    const int64_t count = sqlite3_column_int64(gather, 1);
    sqlite3_finalize(gather);
    SQL_OK(sqlite3_close(database));
    CHECK(list && count > rows / 200 && count < rows / 50);
    compare("contains.index", rows, count, (contender[]){
        {.name = "sqlite-c-by-keys", .argument = list, .sql = "SELECT Z_PK FROM ZQUOTE WHERE Z_PK IN "
            "(SELECT value FROM json_each(?)) AND instr(ZTITLE, '42 of the')"},
        {.name = "sqlite-c", .is_aside = true, .sql = like},
        {.name = "quire-c", .of_case = "contains.index.exact", .format = "title CONTAINS '42 of the'"},
        {.name = "quire-c", .format = "title CONTAINS[cd] '42 OF THE'"}}, 4, FEW);
    free(list);
    is_searchable = false;
    answer("%lld rows", (long long)rows);
    report("searchable.insert", "quire-c-without", rows, inserts[0], 1, true);
    report("searchable.insert", "quire-c", rows, inserts[1], 1, false);
    report("searchable.save", "quire-c-without", rows, saves[0], MANY, true);
    report("searchable.save", "quire-c", rows, saves[1], MANY, false);
}

/* An author's fifty rows. */
void equal_case(int64_t rows) {
    prepare_file(rows);
    sample some;
    make_sample(rows / 2, rows, &some);
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT Z_PK FROM ZQUOTE WHERE ZAUTHOR = '%s'", some.author);
    compare("equal", rows, count_rows(sql), (contender[]){
        {.name = "sqlite-c", .sql = "SELECT Z_PK FROM ZQUOTE WHERE ZAUTHOR = ?", .argument = some.author},
        {.name = "quire-c", .format = "author == %@", .argument = some.author}}, 2, MANY);
}

/* Each quote has two of two hundred tags. "pairs" does not look whether there is a quote for each pair. */
void any_case(int64_t rows) {
    has_tags = true;
    prepare_file(rows);
    prepare_tags(rows);
    static const char join[] = "SELECT Z_1QUOTES FROM ZTAG JOIN Z_1TAGS ON Z_2TAGS = ZTAG.Z_PK "
        "JOIN ZQUOTE ON ZQUOTE.Z_PK = Z_1QUOTES WHERE ZNAME = ? ORDER BY 1";
    const int64_t count = count_rows("SELECT Z_1QUOTES FROM Z_1TAGS WHERE Z_2TAGS = 42");
    CHECK(count > rows / 200 && count < rows / 50);
    compare("any", rows, count, (contender[]){
        {.name = "sqlite-c-join", .argument = "Tag 042", .sql = join},
        {.name = "sqlite-c-in", .argument = "Tag 042", .sql = "SELECT Z_PK FROM ZQUOTE WHERE Z_PK IN (SELECT Z_1QUOTES "
            "FROM Z_1TAGS WHERE Z_2TAGS IN (SELECT Z_PK FROM ZTAG WHERE ZNAME = ?))"},
        {.name = "sqlite-c-exists", .argument = "Tag 042", .sql = "SELECT Z_PK FROM ZQUOTE WHERE EXISTS (SELECT 1 "
            "FROM Z_1TAGS JOIN ZTAG ON ZTAG.Z_PK = Z_2TAGS WHERE Z_1QUOTES = ZQUOTE.Z_PK AND ZNAME = ?)"},
        {.name = "sqlite-c-pairs", .is_aside = true, .argument = "Tag 042", .sql = "SELECT Z_1QUOTES FROM Z_1TAGS WHERE Z_2TAGS IN "
            "(SELECT Z_PK FROM ZTAG WHERE ZNAME = ?) ORDER BY 1"},
        {.name = "quire-c", .format = "ANY tags.name == %@", .argument = "Tag 042"}}, 5, FEW);
    has_tags = false;
}
