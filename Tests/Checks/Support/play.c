#include "play.h"

#include "folders.h"
#include "journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Far longer than any takes: what hangs is a difference, too. */
enum { LONGEST_LIFE = 60, PRINTED = 12 };

long differences;

static bool read_number(const char *text, long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtol(text, &end, 10);
    return !errno && *text && !*end && *out >= 0;
}

check_run begin_run(const char *check, long trials, int argument_count, char **arguments) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    check_run run = {.trials = trials, .recoveries = 1, .seed = (now.tv_nsec ^ now.tv_sec << 10 ^ (long)getpid()) % 1000000000};
    for (int i = 1; i < argument_count; i += 2) {
        const char *name = arguments[i], *value = i + 1 < argument_count ? arguments[i + 1] : "";
        const bool is_read = strcmp(name, "--trials") == 0 ? read_number(value, &run.trials)
            : strcmp(name, "--recoveries") == 0            ? read_number(value, &run.recoveries)
            : strcmp(name, "--seed") == 0                  ? read_number(value, &run.seed)
            : strcmp(name, "--only") == 0                  ? (run.only = value, true)
                                                           : false;
        if (!is_read) {
            fprintf(stderr, "usage: %s [--trials N] [--seed S] [--recoveries N] [--only SCENARIO]\n", check);
            exit(2);
        }
    }
    void *memory = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || !make_system_calls() || !make_journal()
        || !make_check_folder(check, run.root, sizeof run.root)) {
        perror(check);
        exit(2);
    }
    told = memory;
    snprintf(run.template_folder, sizeof run.template_folder, "%s/template", run.root);
    snprintf(run.folder, sizeof run.folder, "%s/stage", run.root);
    seed_dice((uint64_t)run.seed);
    return run;
}

bool is_chosen(const check_run *run, const scenario *scenario) { return !run->only || strcmp(run->only, scenario->name) == 0; }

int end_run(const char *check, const check_run *run, long done) {
    remove_tree(run->root);
    if (!done) fprintf(stderr, "%s: there is no such scenario\n", check);
    printf("%s: %ld trials, %ld differences, seed %ld\n", check, done, differences, run->seed);
    return differences || !done ? 1 : 0;
}

int run_child(void (*body)(const void *data), const void *data) {
    int status = 0;
    fflush(NULL);
    told->sentence[0] = 0;
    const pid_t child = fork();
    if (child == 0) {
        alarm(LONGEST_LIFE);
        body(data);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("a child process");
        exit(2);
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) ? 256 + WEXITSTATUS(status) : 0;
}

void print_difference(const char *what, int end) {
    if (differences++ >= PRINTED) return;
    printf("  %s: ", what);
    if (end < 256) printf("ended by signal %d\n", end);
    else printf("%s\n", told->sentence);
}

void furnish(const void *data) {
    const play *play = data;
    stage stage;
    set_stage(&stage, play->folder, play->is_relaxed);
    play->scenario->furnish(&stage);
}

/* --- The play. */

static void compare(const char *what, const char *state, int number) {
    if (strcmp(state, told->state[number]) == 0) return;
    differ("%s after step '%s' (%s; %s of '%s'):\n%sinstead of\n%s", what, told->step, told->said, fateful_call(),
        fateful_file(), state, told->state[number]);
}

static void look(const play *play, stage *stage, int number) {
    char state[STATE_SIZE];
    if (!stage->store || !quire_store_is_open(stage->store)) return;
    read_stored_state(stage, state);
    if (play->is_recording && told->states == number) snprintf(told->state[told->states++], STATE_SIZE, "%s", state);
    compare("the store has another state", state, number);
    if (stage->list) {
        OK(quire_context_process(stage->context, &error));
        check_list(stage, stage->list);
    }
    if (stage->cached) {
        /* A step that fetches has failed, or not. */
        if (quire_results_section_count(stage->cached) > 0) check_list(stage, stage->cached);
    }
}

/* Which failures tell of a file that cannot be used. */
static bool is_plausible(quire_status status) {
    switch (status) {
        case QUIRE_DATABASE:
        case QUIRE_CANNOT_OPEN:
        case QUIRE_READ_ONLY:
        case QUIRE_BUSY:
        case QUIRE_NO_MEMORY: return true;
        /* SQLite and the library take a file that cannot be looked at for one that was moved. */
        case QUIRE_FILE_MOVED: return strstr(fateful_call(), "stat") != NULL;
        default: return false;
    }
}

static void hear(const step *step, quire_status status) {
    const quire_string message = error ? quire_error_message(error) : (quire_string){NULL, 0};
    snprintf(told->said, sizeof told->said, "%s: %s", quire_status_name(status), message.size ? message.data : "no message");
    if (!is_plausible(status) || message.size < 20)
        differ("step '%s' fails with %s (%s of '%s')", step->name, told->said, fateful_call(), fateful_file());
    quire_error_release(error);
    error = NULL;
}

static void look_after_failure(const play *play, stage *stage, const step *step) {
    char state[STATE_SIZE];
    const int committed = atomic_load(&told->committed);
    if (play->scenario->deletes && access(stage->path, F_OK) == 0) {
        open_stage(stage);
        look(play, stage, 0);
        close_stage(stage);
    }
    look(play, stage, committed);
    if (step->kind != STEP_SAVES) return;
    if (!quire_context_has_changes(stage->context)) differ("the changes are lost after step '%s' (%s)", step->name, told->said);
    read_state(stage->context, true, state);
    compare("the pending changes are others", state, committed + 1);
}

static void note_commit(void) {
    const int number = atomic_fetch_add(&told->committed, 1) + 1;
    if (number < STATES) told->saved_at[number] = journal_length();
}

/* Runs a step, once more when it fails. */
static void run_step(const play *play, stage *stage, const step *step) {
    const bool commits = step->kind == STEP_SAVES || step->kind == STEP_WRITES;
    snprintf(told->step, sizeof told->step, "%s", step->name);
    atomic_store(&told->is_committing, commits);
    for (int turn = 0;; turn++) {
        resume_calls();
        const quire_status status = step->run(stage);
        pause_calls();
        if (status == QUIRE_OK) break;
        hear(step, status);
        if (turn == 1 || play->is_recording)
            differ("step '%s' fails without a fault (%s of '%s' before): %s", step->name, fateful_call(), fateful_file(), told->said);
        end_calls();
        if (play->ends_after_failure) raise(SIGKILL);
        if (step->kind == STEP_CLOSES) break;
        look_after_failure(play, stage, step);
    }
    if (commits) note_commit();
    atomic_store(&told->is_committing, 0);
}

void perform(const void *data) {
    const play *play = data;
    stage stage;
    set_stage(&stage, play->folder, play->is_relaxed);
    atomic_store(&told->committed, 0);
    atomic_store(&told->is_committing, 0);
    told->said[0] = told->step[0] = 0;
    watch_folder(play->folder);
    if (play->scenario->begin) {
        play->scenario->begin(&stage);
        look(play, &stage, 0);
    }
    told->saved_at[0] = journal_length();
    begin_calls(play->calamity);
    pause_calls();
    for (const step *step = play->scenario->steps; step->name; step++) {
        if (step->prepare) step->prepare(&stage);
        if (step->kind == STEP_MERGES) note_commit();
        run_step(play, &stage, step);
        look(play, &stage, atomic_load(&told->committed));
    }
    told->calls = end_calls();
    close_stage(&stage);
}

/* --- The judge. */

typedef struct census {
    int values, unfinished, all;
    char name[200];
} census;

static void count_file(const char *name, bool is_folder, void *data) {
    census *const census = data;
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    const char *cache = strstr(last, "-list-");
    census->all++;
    if (is_folder) return;
    if (strstr(name, "_EXTERNAL_DATA/")) {
        census->values += last[0] != '.';
        census->unfinished += last[0] == '.';
    }
    if (strncmp(last, "quire-copy-", 11) == 0 || (cache && strchr(cache + 6, '-'))) census->unfinished++;
    if (census->unfinished && !census->name[0]) snprintf(census->name, sizeof census->name, "%s", name);
}

static int count_images(const char *state) {
    int count = 0;
    for (const char *place = state; (place = strstr(place, ", image ")); place++) count++;
    return count;
}

/* What no row names, and names that only a write has that goes on. */
static void judge_leftovers(const verdict *verdict, const char *state) {
    census census = {0};
    visit_tree(verdict->folder, count_file, &census);
    if (census.unfinished) differ("'%s' is left over (%s of '%s')", census.name, fateful_call(), fateful_file());
    const char *name = verdict->scenario->name;
    const int copies = strcmp(name, "copy") == 0 ? 2 : strcmp(name, "xml") == 0 ? 0 : 1, images = copies * count_images(state);
    if (census.values != images)
        differ("%d files have values of %d rows (%s of '%s')", census.values, images, fateful_call(), fateful_file());
}

static void judge_deletion(const verdict *verdict) {
    census census = {0};
    visit_tree(verdict->folder, count_file, &census);
    if (!verdict->has_leftovers && census.all) differ("%d files are left of a deleted store", census.all);
}

void judge(const void *data) {
    const verdict *verdict = data;
    char state[STATE_SIZE];
    int64_t mended = 0;
    stage stage;
    set_stage(&stage, verdict->folder, verdict->is_relaxed);
    watch_folder(verdict->folder);
    if (verdict->ends_before >= 0)
        begin_calls((calamity){.fate = FATE_ENDS, .number = verdict->ends_before, .kind = CALLS_THAT_CHANGE});
    if (verdict->scenario->deletes && access(stage.path, F_OK) != 0) return judge_deletion(verdict);
    if (verdict->scenario->deletes && !verdict->was_ended) differ("the store is still there");
    open_stage(&stage);
    read_stored_state(&stage, state);
    int number = verdict->most;
    while (number >= verdict->least && strcmp(state, told->state[number]) != 0) number--;
    if (number < verdict->least)
        differ("the store has none of the states %d to %d (step '%s', %s):\n%sinstead of\n%s", verdict->least,
            verdict->most, told->step, told->said, state, told->state[verdict->most]);
    OK(quire_store_check(stage.store, &mended, &error));
    if (mended) differ("%d text indexes lead to other rows", (int)mended);
    check_list(&stage, stage.list);
    if (verdict->scenario->judge) verdict->scenario->judge(&stage, verdict->was_ended);
    if (!verdict->has_leftovers) judge_leftovers(verdict, state);
    /* It can be written to, which is no part of a recovery that is interrupted. */
    end_calls();
    quire_object_release(insert_book(&stage, "behind it", 1, 3, NULL));
    OK(quire_context_save(stage.context, &error));
    close_stage(&stage);
}
