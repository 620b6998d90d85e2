/*
 * Rows change and are committed, and a sectioned list is right again: by a results controller, beside the commit alone,
 * and beside a program that queries again and compares.
 */
#include "bench.h"
#include "requery.h"

typedef enum kind { MOVE, INSERT, DELETE, UPDATE } kind;

/* `count` rows change in one save. */
typedef struct change { const char *name; kind kind; int64_t count; int rounds; } change;

enum { MOST = 1000 };

static int64_t changed_id(int64_t turn, int64_t rows) {
    return turn * 7919 % rows + 1;
}

static void make_author(int64_t turn, int64_t rows, sample *out) {
    make_sample(turn * 104729 + 17, rows, out);
}

static int64_t told_changes;

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)data, (void)results, (void)object;
    told_changes += change->kind != 0;
}

/* --- By Quire. What changes is at hand, as what is shown is. */

static double change_objects(opened made, const change *what, int64_t turn, int64_t rows) {
    static sample samples[MOST];
    static quire_object *objects[MOST];
    char title[64];
    for (int64_t i = 0; i < what->count; i++) {
        const int64_t each = turn * what->count + i;
        if (what->kind == MOVE) make_author(each, rows, &samples[i]);
        if (what->kind == INSERT) make_sample(rows + each, rows, &samples[i]);
        else OK(quire_context_object(made.context, "Quote", 5, changed_id(each, rows), &objects[i], &error));
        quire_value value;
        if (what->kind != INSERT) OK(quire_object_get(objects[i], "title", 5, &value, &error));
    }
    snprintf(title, sizeof title, "Another title %lld", (long long)turn);
    const char *const work = turn >= CHECKED ? what->name : NULL;
    const double start = begin_work(work);
    for (int64_t i = 0; i < what->count; i++) {
        static const char *const keys[] = {"author", "title", "created", "price"};
        const sample *sample = &samples[i];
        if (what->kind == MOVE) {
            const quire_value author = quire_value_text(sample->author);
            OK(quire_object_set(objects[i], "author", 6, &author, &error));
        } else if (what->kind == UPDATE) {
            const quire_value text = quire_value_text(title);
            OK(quire_object_set(objects[i], "title", 5, &text, &error));
        } else if (what->kind == DELETE) {
            OK(quire_context_delete(made.context, objects[i], &error));
        } else {
            const quire_value values[] = {quire_value_text(sample->author), quire_value_text(sample->title),
                quire_value_date(sample->created), quire_value_double(sample->price)};
            OK(quire_context_insert(made.context, "Quote", 5, &objects[i], &error));
            OK(quire_object_set_values(objects[i], keys, values, 4, &error));
        }
    }
    OK(quire_context_save(made.context, &error));
    const double taken = end_work(work, start);
    for (int64_t i = 0; i < what->count; i++) quire_object_release(objects[i]);
    return taken;
}

/* --- By statements. */

typedef struct writer { sqlite3 *database; sqlite3_stmt *begin, *write, *commit; } writer;

static writer open_writer(const char *of, kind kind) {
    static const char *const sql[] = {
        "UPDATE ZQUOTE SET ZAUTHOR = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?",
        "INSERT INTO ZQUOTE (Z_PK, Z_ENT, Z_OPT, ZAUTHOR, ZTITLE, ZCREATED, ZPRICE) VALUES (?, 1, 1, ?, ?, ?, ?)",
        "DELETE FROM ZQUOTE WHERE Z_PK = ?", "UPDATE ZQUOTE SET ZTITLE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?"};
    writer made = {.database = open_database(of)};
    made.begin = prepare(made.database, "BEGIN IMMEDIATE");
    made.write = prepare(made.database, sql[kind]);
    made.commit = prepare(made.database, "COMMIT");
    return made;
}

static void close_writer(writer made) {
    sqlite3_finalize(made.begin);
    sqlite3_finalize(made.write);
    sqlite3_finalize(made.commit);
    SQL_OK(sqlite3_close(made.database));
}

static void step(sqlite3_stmt *statement) {
    CHECK(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_reset(statement);
}

static double write_rows(writer made, const change *what, int64_t turn, int64_t rows, requery *list) {
    static sample samples[MOST];
    char title[64];
    for (int64_t i = 0; i < what->count; i++) {
        const int64_t each = turn * what->count + i;
        if (what->kind == MOVE) make_author(each, rows, &samples[i]);
        if (what->kind == INSERT) make_sample(rows + each, rows, &samples[i]);
    }
    snprintf(title, sizeof title, "Another title %lld", (long long)turn);
    sqlite3_stmt *write = made.write;
    const double start = now();
    step(made.begin);
    for (int64_t i = 0; i < what->count; i++) {
        const int64_t each = turn * what->count + i, id = changed_id(each, rows);
        const sample *sample = &samples[i];
        if (what->kind == INSERT) {
            sqlite3_bind_int64(write, 1, rows + each + 1);
            sqlite3_bind_text(write, 2, sample->author, -1, SQLITE_STATIC);
            sqlite3_bind_text(write, 3, sample->title, -1, SQLITE_STATIC);
            sqlite3_bind_double(write, 4, sample->created - 978307200);
            sqlite3_bind_double(write, 5, sample->price);
        } else if (what->kind == DELETE) {
            sqlite3_bind_int64(write, 1, id);
        } else {
            sqlite3_bind_text(write, 1, what->kind == MOVE ? sample->author : title, -1, SQLITE_STATIC);
            sqlite3_bind_int64(write, 2, id);
        }
        step(write);
    }
    step(made.commit);
    if (list) requery_refresh(list);
    return now() - start;
}

/* --- The cases. */

static void check_same(told left, told right) {
    CHECK(left.ids == right.ids && left.sections == right.sections);
    CHECK(left.id_sum == right.id_sum && left.section_sum == right.section_sum);
}

static told requeried(const change *what, int64_t rows, double *samples, int rounds) {
    prepare_file(rows);
    writer made = open_writer(path, what->kind);
    requery list = requery_begin(made.database);
    told told = {0, 0, 0, 0};
    for (int i = 0; i < CHECKED + rounds; i++) {
        const double taken = write_rows(made, what, i, rows, &list);
        if (i >= CHECKED) samples[i - CHECKED] = taken;
        if (i + 1 == CHECKED) {
            told = told_by_query(made.database);
            CHECK(list.old.count == told.ids && list.old.sections == told.sections);
        }
    }
    requery_end(&list);
    close_writer(made);
    return told;
}

/* Quire and the commit alone take turns, each on a file of its own. */
static void live_case(change what, int64_t rows) {
    static double samples[3][MANY];
    if (what.count > rows) what.count = rows;
    const int64_t room = what.kind == DELETE ? rows / 2 : MANY;
    const int rounds = what.rounds < room ? what.rounds : (int)room;
    prepare_file(rows);
    remove_store(floor_path);
    if (!copy_prepared("quire", rows, floor_path)) insert_columns(floor_path, rows);
    opened made = open_store(path);
    quire_results *results = new_controller(made);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = object_changed;
    OK(quire_results_set_delegate(results, &delegate, &error));
    writer floor = open_writer(floor_path, what.kind);
    told told = {0, 0, 0, 0};
    told_changes = 0;
    for (int i = 0; i < CHECKED + rounds; i++) {
        const double of_quire = change_objects(made, &what, i, rows);
        const double of_floor = write_rows(floor, &what, i, rows, NULL);
        if (i >= CHECKED) samples[0][i - CHECKED] = of_floor, samples[1][i - CHECKED] = of_quire;
        if (i + 1 != CHECKED) continue;
        told = told_of(results);
        check_same(told, told_by_query(floor.database));
        CHECK(told_changes > 0);
    }
    check_same(told_of(results), told_by_query(floor.database));
    quire_results_release(results);
    close_store(made);
    close_writer(floor);
    remove_store(floor_path);

    const int few = rounds_for(rows, 21);
    check_same(told, requeried(&what, rows, samples[2], few));
    answer_list(told);
    report(what.name, "sqlite-c-commit", rows, samples[0], rounds, true);
    report(what.name, "quire-c", rows, samples[1], rounds, false);
    report(what.name, "sqlite-c-requery", rows, samples[2], few, false);
}

void live_one_case(int64_t rows) {
    live_case((change){"live.one", MOVE, 1, MANY}, rows);
}

void live_insert_case(int64_t rows) {
    live_case((change){"live.insert", INSERT, 1, MANY}, rows);
}

void live_delete_case(int64_t rows) {
    live_case((change){"live.delete", DELETE, 1, MANY}, rows);
}

void live_update_case(int64_t rows) {
    live_case((change){"live.update", UPDATE, 1, MANY}, rows);
}

void live_thousand_case(int64_t rows) {
    live_case((change){"live.thousand", MOVE, MOST, 21}, rows);
}
