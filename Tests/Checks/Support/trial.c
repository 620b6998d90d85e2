#include "trial.h"

#include "dice.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a history's process tells the one that started it. */
typedef struct verdict {
    bool differs;
    int steps;
    char sentence[1024];
} verdict;

static verdict *shared;

void begin_step(int number) { shared->steps = number + 1; }

void differ(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(shared->sentence, sizeof shared->sentence, format, arguments);
    va_end(arguments);
    shared->differs = true;
    _exit(0);
}

static verdict judge(const trial *trial, const void *steps, int count) {
    memset(shared, 0, sizeof *shared);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        /* Far longer than any takes: one that never ends is a difference, too. */
        alarm(300);
        trial->run(steps, count);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    verdict verdict = *shared;
    if (WIFSIGNALED(status)) {
        verdict.differs = true;
        snprintf(verdict.sentence, sizeof verdict.sentence, "the process is ended by signal %d", WTERMSIG(status));
    } else if (WEXITSTATUS(status) != 0) {
        verdict.differs = true;
        snprintf(verdict.sentence, sizeof verdict.sentence, "the process ends with status %d", WEXITSTATUS(status));
    }
    return verdict;
}

/* Leaves out ever smaller parts while what remains still differs. */
static int shrink(const trial *trial, char *steps, int count, verdict *verdict_out) {
    const size_t size = trial->step_size;
    char *shorter = malloc(size * (size_t)count);
    /* Single steps go round until none can be spared: one may have been there for the sake of another. */
    for (int part = count / 2, before = 0; part > 0; part = part > 1 ? part / 2 : count < before) {
        before = count;
        for (int from = 0; from + part <= count;) {
            memcpy(shorter, steps, size * (size_t)from);
            memcpy(shorter + size * (size_t)from, steps + size * (size_t)(from + part), size * (size_t)(count - from - part));
            const verdict verdict = judge(trial, shorter, count - part);
            if (!verdict.differs) {
                from += part;
                continue;
            }
            count -= part;
            memcpy(steps, shorter, size * (size_t)count);
            *verdict_out = verdict;
        }
    }
    free(shorter);
    return count;
}

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !errno && *text && !*end && *text != '-';
}

int run_trial(const trial *trial, int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t steps = 20000, seed = ((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 20 ^ (uint64_t)getpid()) % 1000000000;
    for (int i = 1; i < argument_count; i += 2) {
        const bool is_steps = strcmp(arguments[i], "--steps") == 0, is_seed = strcmp(arguments[i], "--seed") == 0;
        if (i + 1 == argument_count || !(is_steps || is_seed) || !read_number(arguments[i + 1], is_steps ? &steps : &seed)) {
            fprintf(stderr, "usage: %s [--steps N] [--seed S]\n", trial->name);
            return 2;
        }
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *history = malloc(trial->step_size * (size_t)trial->length);
    if (shared == MAP_FAILED || !history) return perror(trial->name), 2;

    uint64_t done = 0, differences = 0;
    for (uint64_t number = 0; done < steps; number++) {
        seed_dice(seed + number * 0x2545F4914F6CDD1Du);
        const uint64_t left = steps - done;
        int count = left < (uint64_t)trial->length ? (int)left : trial->length;
        memset(history, 0, trial->step_size * (size_t)count);
        trial->make(history, count);
        done += (uint64_t)count;
        verdict verdict = judge(trial, history, count);
        if (!verdict.differs || differences++) continue;
        count = shrink(trial, history, verdict.steps, &verdict);
        if (trial->show_setting) trial->show_setting();
        for (int i = 0; i < count; i++) trial->show(history + trial->step_size * (size_t)i);
        printf("  %s\n", verdict.sentence);
    }
    free(history);
    printf("%s: %llu steps, %llu differences, seed %llu\n", trial->name, (unsigned long long)done,
        (unsigned long long)differences, (unsigned long long)seed);
    return differences ? 1 : 0;
}
