/*
 * The smallest test harness that does: each test runs in a process of its own, so that one that crashes fails alone. With
 * QUIRE_TEST_ONE_PROCESS all share one, and the first failure ends it: valgrind translates the library once for each process.
 *
 * A test that is a product has so many cases that each run takes only some of them, which `takes_case` chooses.
 *
 *   test_x                    runs all tests; of products the cases of this turn, or all cases when there is no turn
 *   test_x --all              runs all tests with all cases
 *   test_x TEST 'TEST: CASE'  runs the tests and the cases of these names alone
 *
 * The turn is the environment variable QUIRE_TURN, a hexadecimal number such as the hash of the commit. A case with the
 * share n has one chance in n in each turn, independent of other cases and turns. A case that fails prints the command that
 * repeats it.
 */
#ifndef QUIRE_CHECK_H_
#define QUIRE_CHECK_H_

#include <quire.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where every call of a test stores its error. */
static _Thread_local quire_error *error;
static int failed_tests;

/* Memory that a test shares with the process that waits for it: after a crash it still says which case ran. */
typedef struct check_progress {
    /* The name of the case that runs; empty in tests that are no products. */
    char current[400];
    /* The number of cases of the product so far, and of those that were taken. */
    long cases, taken;
    /* Which of the arguments name a test or a case. */
    bool is_found[16];
} check_progress;

static check_progress *check_progress_here;
static const char *check_program = "test", *const *check_names;
static int check_name_count;
/* The tests of the program, for messages. */
static const char *check_tests[200];
static int check_test_count;
static bool check_has_turn;
static uint64_t check_turn;

/* The last step of splitmix64: each bit of the result depends on all bits of the number. */
static inline uint64_t check_mix(uint64_t number) {
    number += 0x9E3779B97F4A7C15u;
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9u;
    number = (number ^ number >> 27) * 0x94D049BB133111EBu;
    return number ^ number >> 31;
}

/* The first thing in the `main` of a program. */
static inline void read_arguments(int count, char **arguments) {
    check_program = arguments[0];
    check_names = (const char *const *)arguments + 1;
    check_name_count = count - 1;
    if (count == 2 && strcmp(arguments[1], "--all") == 0) {
        check_name_count = 0;
        return;
    }
    if (count > 1 && arguments[1][0] == '-') {
        const bool is_help = strcmp(arguments[1], "--help") == 0;
        fprintf(is_help ? stdout : stderr, "usage: %s [--all | TEST | 'TEST: CASE' ...]\n", check_program);
        exit(is_help ? 0 : 2);
    }
    if ((size_t)check_name_count > sizeof ((check_progress *)NULL)->is_found) {
        fprintf(stderr, "%s: there are %d names; give at most 16.\n", check_program, check_name_count);
        exit(2);
    }
    const char *const turn = getenv("QUIRE_TURN");
    check_has_turn = turn && *turn;
    for (const char *digit = turn; check_has_turn && *digit; digit++) {
        if (!strchr("0123456789abcdefABCDEF", *digit))
            fprintf(stderr, "%s: QUIRE_TURN is '%s', which is no hexadecimal number.\n", check_program, turn), exit(2);
        check_turn = check_mix(check_turn ^ (uint64_t)(*digit | 0x20));
    }
}

/* Begins a test or a product. */
static inline check_progress *check_begin(void) {
    if (!check_progress_here) {
        const int use = PROT_READ | PROT_WRITE;
        check_progress_here = mmap(NULL, sizeof *check_progress_here, use, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (check_progress_here == MAP_FAILED) perror("mmap"), exit(1);
    }
    check_progress_here->current[0] = 0;
    check_progress_here->cases = check_progress_here->taken = 0;
    return check_progress_here;
}

/*
 * Returns whether a case of a product runs. `test` and `name` make the name that repeats it, `place` is its number in the
 * product, and a turn takes one of `share` cases.
 */
static inline bool takes_case(const char *test, const char *name, uint64_t place, unsigned share) {
    check_progress *const progress = check_progress_here;
    char whole[sizeof progress->current];
    snprintf(whole, sizeof whole, "%s: %s", test, name);
    bool is_taken = check_name_count == 0 && (!check_has_turn || check_mix(check_turn + check_mix(place)) % share == 0);
    for (int i = 0; i < check_name_count; i++) {
        const bool is_named = strcmp(check_names[i], whole) == 0;
        progress->is_found[i] |= is_named;
        /* The name of a test takes its whole product. */
        is_taken |= is_named || strcmp(check_names[i], test) == 0;
    }
    progress->cases++;
    progress->taken += is_taken;
    if (is_taken) memcpy(progress->current, whole, sizeof whole);
    return is_taken;
}

/* Prints the command that repeats the case which failed. */
static inline void check_print_case(FILE *file) {
    const char *letter = check_progress_here ? check_progress_here->current : "";
    if (!*letter) return;
    const char *const stack = getenv("QUIRE_TEST_STACK");
    fprintf(file, "    repeat this case: %s%s%s%s '", stack ? "QUIRE_TEST_STACK=" : "", stack ? stack : "", stack ? " " : "",
        check_program);
    for (; *letter; letter++) fprintf(file, *letter == '\'' ? "'\\''" : "%c", *letter);
    fprintf(file, "'\n");
}

/* Returns whether a test runs: the arguments name it, a case of it, or nothing at all. */
static inline bool check_is_wanted(const char *test) {
    const size_t length = strlen(test);
    bool is_wanted = !check_name_count;
    for (int i = 0; i < check_name_count; i++) {
        const bool is_begin = strncmp(check_names[i], test, length) == 0;
        is_wanted |= is_begin && (check_names[i][length] == 0 || check_names[i][length] == ':');
    }
    return is_wanted;
}

static inline void check_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "    %s:%d: %s\n", file, line, what);
    if (error) fprintf(stderr, "    last error: %s\n", quire_error_message(error).data);
    if (getenv("QUIRE_TEST_ONE_PROCESS")) check_print_case(stderr);
    exit(1);
}

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

/* The call, which is given `&error`, succeeds. */
#define CHECK_OK(call) check_ok((call), __FILE__, __LINE__, #call)

static inline void check_ok(quire_status status, const char *file, int line, const char *call) {
    if (status == QUIRE_OK && !error) return;
    fprintf(stderr, "    %s instead of QUIRE_OK\n", quire_status_name(status));
    check_failed(file, line, call);
}

/* The call, which is given `&error`, fails with this status, and the error agrees and has a sentence. */
#define CHECK_FAILS(expected, call) check_fails((expected), (call), __FILE__, __LINE__, #call)

static inline void check_fails(quire_status expected, quire_status status, const char *file, int line, const char *call) {
    const bool agrees = error && quire_error_status(error) == status && quire_error_message(error).size > 10;
    if (status != expected) {
        fprintf(stderr, "    %s instead of %s\n", quire_status_name(status), quire_status_name(expected));
        check_failed(file, line, call);
    }
    if (!agrees) check_failed(file, line, "the error agrees with the status and has a message");
    quire_error_release(error);
    error = NULL;
}

/* The text is this one, and ends with NUL. */
#define CHECK_TEXT(text, expected) check_text((text), (expected), __FILE__, __LINE__, #text)

static inline void check_text(quire_string text, const char *expected, const char *file, int line, const char *what) {
    if (text.data && text.size == strlen(expected) && memcmp(text.data, expected, text.size + 1) == 0) return;
    fprintf(stderr, "    \"%.*s\" instead of \"%s\"\n", text.data ? (int)text.size : 4, text.data ? text.data : "NULL", expected);
    check_failed(file, line, what);
}

static inline void *check_start(void *test) {
    (*(void (**)(void))test)();
    return NULL;
}

/* Runs a function on a thread whose stack has so many KiB. */
static inline void run_with_stack(size_t kibibytes, void (*function)(void)) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstacksize(&attributes, kibibytes << 10) == 0);
    CHECK(pthread_create(&thread, &attributes, check_start, &function) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
}

/* A test waits for events. What has not happened after so many seconds never does. */
enum { PATIENCE = 120 };

/* Waits until the descriptor polls readable. False when it never does. */
static inline bool becomes_readable(int descriptor) {
    struct pollfd waiting = {descriptor, POLLIN, 0};
    return poll(&waiting, 1, PATIENCE * 1000) == 1 && waiting.revents == POLLIN;
}

/* Waits until a thread of this process sleeps or waits for a lock. `thread` is its gettid(2), and 0 until it has stored that. */
static inline void await_sleep(const atomic_int *thread) {
    char name[64], state = 0;
    while (atomic_load(thread) == 0) sched_yield();
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", atomic_load(thread));
    while (state != 'S') {
        sched_yield();
        FILE *file = fopen(name, "r");
        CHECK(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
    }
}

/* One line, with the number of cases when the test is a product. */
static inline void check_print_result(const char *result, const char *test) {
    const check_progress *const progress = check_progress_here;
    printf("%s %s", result, test);
    if (progress->cases) printf(", %ld of %ld cases", progress->taken, progress->cases);
    printf("\n");
}

/* Runs a test, a function of no arguments whose name is a sentence. With QUIRE_TEST_STACK, on a stack of so many KiB. */
#define RUN(test) check_run(test, #test)

static inline void check_run(void (*test)(void), const char *name) {
    CHECK((size_t)check_test_count < sizeof check_tests / sizeof *check_tests);
    check_tests[check_test_count++] = name;
    if (!check_is_wanted(name)) return;
    check_progress *const progress = check_begin();
    for (int i = 0; i < check_name_count; i++) progress->is_found[i] |= strcmp(check_names[i], name) == 0;
    fflush(NULL);
    const bool is_apart = !getenv("QUIRE_TEST_ONE_PROCESS");
    const pid_t child = is_apart ? fork() : 0;
    if (child == 0) {
        const char *const stack = getenv("QUIRE_TEST_STACK");
        if (stack) run_with_stack((size_t)atoi(stack), test);
        else test();
        if (is_apart) exit(0);
        check_print_result("passed", name);
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    check_print_result(passed ? "passed" : "FAILED", name);
    if (WIFSIGNALED(status)) printf("    ended by signal %d\n", WTERMSIG(status));
    if (passed) return;
    check_print_case(stdout);
    failed_tests++;
}

#define RESULT() check_result()

static inline int check_result(void) {
    /* A crash may have come before a case that was asked for. */
    if (failed_tests) return 1;
    bool are_found = true;
    for (int i = 0; i < check_name_count; i++) {
        if (check_progress_here && check_progress_here->is_found[i]) continue;
        fprintf(stderr, "%s: there is no test or case '%s'.\n", check_program, check_names[i]);
        are_found = false;
    }
    if (are_found) return 0;
    fprintf(stderr, "The tests are:\n");
    for (int i = 0; i < check_test_count; i++) fprintf(stderr, "    %s\n", check_tests[i]);
    return 2;
}

#endif
