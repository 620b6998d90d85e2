/*
 * Stores that are being created when something happens: the process is killed, a system call fails, the power goes, or
 * twenty processes want the same path at once. Whatever it was, the next to open the path gets a whole store, with every
 * row whose save was reported to have succeeded.
 *
 *   creation [--kills N] [--rounds N] [--ways N] [--seed S]
 */
#include "dice.h"
#include "system_calls.h"

#include <quire.h>

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 20
#define LARGEST_DELAY 60000
#define SAVES 3
#define WAYS 6
/* A path that could never be opened again shows within the busy timeout. */
#define LONGEST_LIFE 60
/* How many differences of each kind are told one by one. */
#define PRINTED 5

/* What child processes tell. */
typedef struct report {
    atomic_int began, saved, ready;
    /* The journal's length behind each save. */
    int saved_at[SAVES];
    char uuid[PROCESSES][40];
    char sentence[1024];
} report;

static report *told;
static char folder[256], path[300];
static long steps, differences, printed;
static quire_error *error;

/* --- In a child process. */

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(told->sentence, sizeof told->sentence, format, arguments);
    va_end(arguments);
    _exit(1);
}

#define OK(call) do_or_fail((call), #call)

static void do_or_fail(quire_status status, const char *call) {
    if (status == QUIRE_OK) return;
    fail("%s gives %s: %s", call, quire_status_name(status), error ? quire_error_message(error).data : "no error");
}

static quire_model *notes_model(void) {
    quire_model *model = quire_model_create();
    quire_attribute_options title = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    title.is_optional = title.is_searchable = true;
    OK(quire_model_add_entity(model, "Note", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(model, "Note", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, &title, &error));
    OK(quire_model_add_entity(model, "Tag", QUIRE_NUL, NULL, &error));
    return model;
}

static quire_status open_store(const quire_store_options *options, quire_store **out_store) {
    quire_model *model = notes_model();
    const quire_status status = quire_store_open(path, QUIRE_NUL, model, options, out_store, &error);
    quire_model_release(model);
    return status;
}

static void insert_and_save(quire_context *context) {
    quire_object *note = NULL;
    OK(quire_context_insert(context, "Note", QUIRE_NUL, &note, &error));
    const quire_value title = quire_value_text("More light");
    OK(quire_object_set(note, "title", QUIRE_NUL, &title, &error));
    OK(quire_context_save(context, &error));
    quire_object_release(note);
}

static int64_t count_notes(quire_context *context, const char *format) {
    quire_fetch_request *request = NULL;
    quire_predicate *predicate = NULL;
    int64_t count = -1;
    OK(quire_fetch_request_create("Note", QUIRE_NUL, &request, &error));
    if (format) {
        OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
        OK(quire_fetch_request_set_predicate(request, predicate, &error));
    }
    OK(quire_context_count(context, request, &count, &error));
    quire_predicate_release(predicate);
    quire_fetch_request_release(request);
    return count;
}

/* Rows are saved one after the other, and each is reported. */
static void save_some(quire_store *store, int count) {
    quire_context *context = NULL;
    OK(quire_context_create(store, &context, &error));
    for (int i = 0; i < count; i++) {
        insert_and_save(context);
        if (i < SAVES) told->saved_at[i] = journal_length();
        atomic_fetch_add(&told->saved, 1);
    }
    quire_context_release(context);
}

/* A store that was cut off may be none yet, or have to be opened for writing first, but it is nothing else. */
static void look(bool is_read_only) {
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.is_read_only = is_read_only;
    options.must_exist = true;
    quire_store *store = NULL;
    const quire_status status = open_store(&options, &store);
    if (status == QUIRE_OK) {
        quire_context *context = NULL;
        OK(quire_context_create(store, &context, &error));
        const int64_t count = count_notes(context, NULL);
        if (count < atomic_load(&told->saved)) fail("a reader finds %lld rows of %d", (long long)count, told->saved);
        quire_context_release(context);
        quire_store_release(store);
        return;
    }
    const bool is_expected = status == QUIRE_CANNOT_OPEN || status == QUIRE_NOT_A_STORE
        || (is_read_only && status == QUIRE_READ_ONLY);
    if (!is_expected || atomic_load(&told->saved) > 0) OK(status);
    quire_error_release(error);
    error = NULL;
}

static void judge(void) {
    if (chance(50)) look(chance(50));
    quire_store *store = NULL;
    quire_context *context = NULL;
    OK(open_store(NULL, &store));
    OK(quire_context_create(store, &context, &error));
    const int64_t count = count_notes(context, NULL), found = count_notes(context, "title CONTAINS 'More'");
    if (count < atomic_load(&told->saved)) fail("%lld rows of %d are there", (long long)count, told->saved);
    if (found != count) fail("%lld rows of %lld are found by their text", (long long)found, (long long)count);
    insert_and_save(context);
    quire_context_release(context);
    quire_store_release(store);
}

/* --- Around them. */

static pid_t start(void (*body)(int), int argument) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_LIFE);
        body(argument);
        _exit(0);
    }
    return child;
}

/* 0, or the signal, or 256 and more for an exit status. */
static int end_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) ? 256 + WEXITSTATUS(status) : 0;
}

static void differ(const char *what, int end) {
    differences++;
    if (printed++ >= PRINTED) return;
    printf("  %s: ", what);
    if (end < 256) printf("ended by signal %d\n", end);
    else printf("%s\n", told->sentence);
}

static void begin(const char *part) {
    printf("%s\n", part);
    printed = 0;
}

static void new_path(void) {
    static int number;
    snprintf(path, sizeof path, "%s/%d.sqlite", folder, number++);
    memset(told, 0, sizeof *told);
    steps++;
}

static void forget_path(void) {
    const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < COUNT_OF(endings); i++) {
        char name[320];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

static void run_judge(int seed) {
    seed_dice((uint64_t)seed);
    judge();
}

static void check_path(const char *what) {
    const int end = end_of(start(run_judge, random_below(1 << 30)));
    if (end) differ(what, end);
    forget_path();
}

/* --- Killed at some moment within 60 ms. */

static void create_and_save(int argument) {
    (void)argument;
    quire_store *store = NULL;
    atomic_store(&told->began, 1);
    OK(open_store(NULL, &store));
    for (;;) {
        save_some(store, 1);
        if (atomic_load(&told->saved) % 8 == 0) {
            quire_store_release(store);
            OK(open_store(NULL, &store));
        }
    }
}

static void kill_some(long kills) {
    for (long i = 0; i < kills; i++) {
        new_path();
        const pid_t child = start(create_and_save, 0);
        while (!atomic_load(&told->began)) usleep(20);
        const int delay = random_below(LARGEST_DELAY);
        usleep((useconds_t)delay);
        kill(child, SIGKILL);
        const int end = end_of(child);
        char what[100];
        snprintf(what, sizeof what, "killed %d us after the beginning", delay);
        if (end != SIGKILL) differ(what, end);
        check_path(what);
    }
}

/* --- Each system call. */

static fate chosen;
static int reason;

/* SQLite takes a file that it cannot look at for one that was moved. */
static bool is_unseen(quire_status status) {
    return status == QUIRE_FILE_MOVED && strcmp(fateful_call(), "stat") == 0;
}

static void create_with_calamity(int call) {
    quire_store *store = NULL;
    quire_model *model = notes_model();
    begin_calls(chosen, call, reason);
    const quire_status status = quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error);
    end_calls();
    if (status != QUIRE_OK && status != QUIRE_CANNOT_OPEN && status != QUIRE_READ_ONLY && status != QUIRE_DATABASE
        && status != QUIRE_BUSY && !is_unseen(status))
        OK(status);
    if (status != QUIRE_OK) {
        quire_error_release(error);
        error = NULL;
        /* It was only once. */
        OK(quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error));
    }
    save_some(store, 1);
    quire_store_release(store);
}

static void create_counting(int argument) {
    (void)argument;
    quire_store *store = NULL;
    quire_model *model = notes_model();
    begin_calls(FATE_NONE, 0, 0);
    OK(quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error));
    atomic_store(&told->ready, end_calls());
    quire_store_release(store);
}

/* How many of the ways below each call goes. */
static void strike_each_call(long ways) {
    new_path();
    const int counted = end_of(start(create_counting, 0));
    if (counted) return differ("counting", counted);
    const int calls = atomic_load(&told->ready);
    forget_path();
    static const struct { fate fate; int reason; const char *what; } calamities[WAYS] = {
        {FATE_FAILS, EIO, "fails with EIO"}, {FATE_FAILS, ENOSPC, "fails with ENOSPC"}, {FATE_FAILS, EACCES, "fails with EACCES"},
        {FATE_FAILS, ENOMEM, "fails with ENOMEM"}, {FATE_ENDS, 0, "is the last"}, {FATE_ENDS_HALFWAY, 0, "is the last, and half done"}};
    for (int call = 0; call < calls; call++) {
        for (int way = 0; way < ways; way++) {
            const int i = (call + way) % COUNT_OF(calamities);
            new_path();
            chosen = calamities[i].fate;
            reason = calamities[i].reason;
            const int end = end_of(start(create_with_calamity, call));
            char what[120];
            snprintf(what, sizeof what, "call %d of %d, %s, %s", call, calls, fateful_call(), calamities[i].what);
            if (end != (chosen == FATE_FAILS ? 0 : SIGKILL)) differ(what, end);
            check_path(what);
        }
    }
}

/* --- The power goes. */

static void create_in_journal(int argument) {
    (void)argument;
    quire_store *store = NULL;
    OK(open_store(NULL, &store));
    save_some(store, SAVES);
}

static void cut_power_everywhere(void) {
    new_path();
    begin_journal();
    const int end = end_of(start(create_in_journal, 0));
    end_journal();
    if (end) return differ("writing a journal", end);
    forget_path();
    const int length = journal_length();
    int saved_at[SAVES];
    memcpy(saved_at, told->saved_at, sizeof saved_at);
    char first[300];
    snprintf(first, sizeof first, "%s", path);
    for (int cut = 0; cut <= length; cut++) {
        new_path();
        snprintf(path, sizeof path, "%s", first);
        for (int i = 0; i < SAVES; i++)
            if (saved_at[i] <= cut) atomic_store(&told->saved, i + 1);
        if (!cut_power(folder, cut)) {
            snprintf(told->sentence, sizeof told->sentence, "the journal could not be played: %s", strerror(errno));
            differ("a power cut", 256);
            return;
        }
        char what[80];
        snprintf(what, sizeof what, "a power cut after %d of %d writes", cut, length);
        check_path(what);
    }
}

/* --- Many at once. */

static int gate[2];

static void join_crowd(int place) {
    char byte;
    quire_store *store = NULL;
    quire_model *model = notes_model();
    close(gate[1]);
    atomic_fetch_add(&told->ready, 1);
    /* Opens for all at once, when it is closed on the other side. */
    (void)!read(gate[0], &byte, 1);
    OK(quire_store_open(path, QUIRE_NUL, model, NULL, &store, &error));
    snprintf(told->uuid[place], sizeof told->uuid[place], "%s", quire_store_uuid(store).data);
    save_some(store, 1);
    quire_store_release(store);
}

static void gather_crowds(long rounds) {
    for (long round = 0; round < rounds; round++) {
        new_path();
        steps += PROCESSES - 1;
        pid_t children[PROCESSES];
        if (pipe(gate) != 0) return perror("pipe"), exit(2);
        for (int i = 0; i < PROCESSES; i++) children[i] = start(join_crowd, i);
        while (atomic_load(&told->ready) < PROCESSES) usleep(100);
        close(gate[0]);
        close(gate[1]);
        char what[80];
        for (int i = 0; i < PROCESSES; i++) {
            const int end = end_of(children[i]);
            snprintf(what, sizeof what, "process %d of round %ld", i, round);
            if (end) differ(what, end);
            else if (strcmp(told->uuid[i], told->uuid[0]) != 0) {
                snprintf(told->sentence, sizeof told->sentence, "its store is %s, that of the first is %s", told->uuid[i], told->uuid[0]);
                differ(what, 256);
            }
        }
        snprintf(what, sizeof what, "after round %ld", round);
        check_path(what);
    }
}

static bool read_number(const char *text, long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtol(text, &end, 10);
    return !errno && *text && !*end && *out >= 0;
}

int main(int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    long kills = 2000, rounds = 100, ways = WAYS, seed = (now.tv_nsec ^ now.tv_sec << 10 ^ (long)getpid()) % 1000000000;
    for (int i = 1; i < argument_count; i += 2) {
        long *number = strcmp(arguments[i], "--kills") == 0 ? &kills
            : strcmp(arguments[i], "--rounds") == 0         ? &rounds
            : strcmp(arguments[i], "--ways") == 0           ? &ways
            : strcmp(arguments[i], "--seed") == 0           ? &seed
                                                            : NULL;
        if (!number || i + 1 == argument_count || !read_number(arguments[i + 1], number) || ways > WAYS) {
            fprintf(stderr, "usage: creation [--kills N] [--rounds N] [--ways 0..%d] [--seed S]\n", WAYS);
            return 2;
        }
    }
    told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/quire-creation-XXXXXX", parent ? parent : "/tmp");
    if (told == MAP_FAILED || !mkdtemp(folder)) return perror("creation"), 2;
    seed_dice((uint64_t)seed);
    watch_system_calls();
    begin("a power cut after each write");
    cut_power_everywhere();
    begin("killed at some moment");
    kill_some(kills);
    begin("many at once");
    gather_crowds(rounds);
    begin("each system call fails, or is the last");
    strike_each_call(ways);
    rmdir(folder);
    printf("creation: %ld steps, %ld differences, seed %ld\n", steps, differences, seed);
    return differences ? 1 : 0;
}
