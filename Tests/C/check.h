/*
 * The smallest test harness that does: each test runs in a process of its own, so that one that crashes fails alone. With
 * QUIRE_TEST_ONE_PROCESS all share one, and the first failure ends it: valgrind translates the library once for each process.
 */
#ifndef QUIRE_CHECK_H_
#define QUIRE_CHECK_H_

#include <quire.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Where every call of a test stores its error. */
static _Thread_local quire_error *error;
static int failed_tests;

static inline void check_failed(const char *file, int line, const char *what) {
    fprintf(stderr, "    %s:%d: %s\n", file, line, what);
    if (error) fprintf(stderr, "    last error: %s\n", quire_error_message(error).data);
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

/* Runs a test, a function of no arguments whose name is a sentence. With QUIRE_TEST_STACK, on a stack of so many KiB. */
#define RUN(test) check_run(test, #test)

static inline void check_run(void (*test)(void), const char *name) {
    fflush(NULL);
    const bool is_apart = !getenv("QUIRE_TEST_ONE_PROCESS");
    const pid_t child = is_apart ? fork() : 0;
    if (child == 0) {
        const char *const stack = getenv("QUIRE_TEST_STACK");
        if (stack) run_with_stack((size_t)atoi(stack), test);
        else test();
        if (is_apart) exit(0);
        printf("passed %s\n", name);
        return;
    }
    int status = 0;
    waitpid(child, &status, 0);
    const bool passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%s %s\n", passed ? "passed" : "FAILED", name);
    if (WIFSIGNALED(status)) printf("    ended by signal %d\n", WTERMSIG(status));
    if (!passed) failed_tests++;
}

#define RESULT() (failed_tests ? 1 : 0)

#endif
