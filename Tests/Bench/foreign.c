/* Commits of a program that has plain SQLite and nothing else, alone and beside contexts. */
#include "bench.h"

#include <poll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More commits than SQLite's log has pages before it is folded, so that folding takes part. */
enum { COMMITS = 3000, ROUNDS = 5, MOVES_A_SECOND = 20 };

typedef struct program { pid_t process; int orders, answers; } program;

/* One row by its key. Ends when it gets no more orders. */
static void serve(int orders, int answers, int64_t rows) {
    char order = 0;
    while (read(orders, &order, 1) == 1) {
        sqlite3 *database = open_database(path);
        sqlite3_busy_timeout(database, 60000);
        sqlite3_stmt *statement = prepare(database, "UPDATE ZQUOTE SET ZPRICE = ?, Z_OPT = Z_OPT + 1 WHERE Z_PK = ?");
        const double start = now();
        for (int64_t i = 0; i < COMMITS; i++) {
            sqlite3_bind_double(statement, 1, (double)i);
            sqlite3_bind_int64(statement, 2, i * 7919 % rows + 1);
            CHECK(sqlite3_step(statement) == SQLITE_DONE);
            sqlite3_reset(statement);
        }
        const double taken = (now() - start) / COMMITS;
        sqlite3_finalize(statement);
        SQL_OK(sqlite3_close(database));
        CHECK(write(answers, &taken, sizeof taken) == sizeof taken);
    }
    _exit(0);
}

/* It begins before the library is used, which has no meaning in a process that was split off. */
static program start_program(int64_t rows) {
    int orders[2], answers[2];
    CHECK(pipe(orders) == 0 && pipe(answers) == 0);
    fflush(NULL);
    const pid_t process = fork();
    CHECK(process >= 0);
    if (process == 0) {
        close(orders[1]);
        close(answers[0]);
        serve(orders[0], answers[1], rows);
    }
    close(orders[0]);
    close(answers[1]);
    return (program){process, orders[1], answers[0]};
}

static void end_program(program program) {
    int status = 1;
    close(program.orders);
    CHECK(waitpid(program.process, &status, 0) == program.process && status == 0);
    close(program.answers);
}

/* A context moves to what is newest, and reads a window of its list. */
static void move(opened made, quire_results *list, int64_t turn) {
    static const char *const columns[] = {"author", "price"};
    quire_page *page = NULL;
    OK(quire_context_refresh_all(made.context, &error));
    OK(quire_context_process(made.context, &error));
    OK(quire_results_page(list, turn * 104729 % (quire_results_count(list) - WINDOW), WINDOW, columns, 2, 0, &page, &error));
    quire_page_release(page);
}

/* Seconds for a commit. Without a list no context is there, or one that does nothing. */
static double commit_beside(program program, opened made, quire_results *list) {
    double taken = 0;
    CHECK(write(program.orders, "", 1) == 1);
    for (int64_t turn = 0; list; turn++) {
        struct pollfd answer = {program.answers, POLLIN, 0};
        if (poll(&answer, 1, 1000 / MOVES_A_SECOND) == 1) break;
        move(made, list, turn);
    }
    CHECK(read(program.answers, &taken, sizeof taken) == sizeof taken);
    return taken;
}

/* From now on the file has a change journal of what any program writes, by triggers. */
static void begin_journal(void) {
    quire_model *model = new_model();
    quire_store *store = NULL;
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.change_journal = QUIRE_CHANGE_JOURNAL_ALL;
    OK(quire_store_open(path, QUIRE_NUL, model, &options, &store, &error));
    quire_store_release(store);
    quire_model_release(model);
}

void foreign_writer_case(int64_t rows) {
    CHECK(rows > WINDOW);
    double samples[4][ROUNDS];
    prepare_file(rows);
    const program program = start_program(rows);
    for (int round = 0; round < ROUNDS; round++) {
        samples[0][round] = commit_beside(program, (opened){NULL, NULL, NULL}, NULL);
        opened made = open_store(path);
        quire_results *list = new_controller(made);
        move(made, list, 0);
        samples[1][round] = commit_beside(program, made, NULL);
        samples[2][round] = commit_beside(program, made, list);
        quire_results_release(list);
        close_store(made);
    }
    begin_journal();
    for (int round = 0; round < ROUNDS; round++)
        samples[3][round] = commit_beside(program, (opened){NULL, NULL, NULL}, NULL);
    CHECK(number_in(path, "SELECT count(*) FROM QUIRE_CHANGE_JOURNAL") >= COMMITS);
    end_program(program);
    sqlite3 *database = open_database(path);
    answer_list(told_by_query(database));
    SQL_OK(sqlite3_close(database));
    report("foreign.writer", "sqlite-c", rows, samples[0], ROUNDS, true);
    report("foreign.writer", "quire-c-idle", rows, samples[1], ROUNDS, false);
    report("foreign.writer", "quire-c", rows, samples[2], ROUNDS, false);
    report("foreign.writer", "sqlite-c-journal", rows, samples[3], ROUNDS, false);
}
