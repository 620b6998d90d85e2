/* Threads and processes that open and delete one store at the same moment. */
#include "store_files.h"

#include <pthread.h>
#include <stdatomic.h>

enum { OPENERS = 2, OPENINGS = 200, MODELS = 100, ENTITIES = 40 };

/* --- One model. */

typedef struct {
    quire_model *model;
    pthread_barrier_t *barrier;
} freezing;

static void *freeze_together(void *data) {
    const freezing *freezing = data;
    pthread_barrier_wait(freezing->barrier);
    CHECK_OK(quire_model_freeze(freezing->model, &error));
    CHECK(quire_model_is_frozen(freezing->model));
    return NULL;
}

static void threads_freeze_one_model_together(void) {
    for (int i = 0; i < MODELS; i++) {
        quire_model *model = library_model();
        quire_entity_options options = QUIRE_ENTITY_OPTIONS_INIT;
        options.parent = "Book";
        for (int j = 0; j < ENTITIES; j++) {
            char name[20];
            snprintf(name, sizeof name, "Book%d", j);
            CHECK_OK(quire_model_add_entity(model, name, QUIRE_NUL, &options, &error));
            CHECK_OK(quire_model_add_attribute(
                model, name, QUIRE_NUL, "motto", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
        }
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, NULL, OPENERS);
        freezing freezing = {model, &barrier};
        pthread_t threads[OPENERS];
        for (int j = 0; j < OPENERS; j++) CHECK(pthread_create(&threads[j], NULL, freeze_together, &freezing) == 0);
        for (int j = 0; j < OPENERS; j++) CHECK(pthread_join(threads[j], NULL) == 0);
        pthread_barrier_destroy(&barrier);
        quire_model_release(model);
    }
}

/* --- One path. */

static void check_is_one_of(quire_status status, const quire_status *expected, int count) {
    for (int i = 0; i < count; i++) if (status == expected[i]) return;
    check_failed(__FILE__, __LINE__, quire_status_name(status));
}

static atomic_int openers_left = OPENERS;

/* Otherwise nothing but this process opens and deletes it. */
static bool is_for_processes;

/* Whether this process has the log open that is at its path. */
static bool has_log(void) {
    bool is_found = false;
    DIR *descriptors = opendir("/proc/self/fd");
    CHECK(descriptors != NULL);
    for (struct dirent *entry; (entry = readdir(descriptors));) {
        char file[400];
        const ssize_t size = readlinkat(dirfd(descriptors), entry->d_name, file, sizeof file);
        const char *log = with(path, "-wal");
        is_found |= size == (ssize_t)strlen(log) && memcmp(file, log, strlen(log)) == 0;
    }
    closedir(descriptors);
    return is_found;
}

/*
 * A store that was opened stays: what is saved in it is there. One that got no log, because another process was at the
 * file all the time, may go between two calls, and says so. Most openings save nothing, to leave time for deletions.
 */
static void *open_again_and_again(void *model) {
    static const quire_status moved[] = {QUIRE_OK, QUIRE_FILE_MOVED}, saved_only[] = {QUIRE_OK};
    for (int i = 0; i < OPENINGS; i++) {
        fixture made = {model, NULL, NULL};
        const quire_status status = quire_store_open(path, QUIRE_NUL, model, NULL, &made.store, &error);
        check_is_one_of(status, moved, 2);
        quire_error_release(error);
        error = NULL;
        if (status != QUIRE_OK) continue;
        if (i % 8 != 0) {
            quire_store_release(made.store);
            continue;
        }
        const bool may_go = is_for_processes && !has_log();
        CHECK_OK(quire_context_create(made.store, &made.context, &error));
        const int64_t before = count(made.context, "Book", NULL);
        quire_object_release(insert_book(made.context, "Faust", 100));
        const quire_status saved = quire_context_save(made.context, &error);
        check_is_one_of(saved, may_go ? moved : saved_only, may_go ? 2 : 1);
        quire_error_release(error);
        error = NULL;
        CHECK(saved != QUIRE_OK || may_go || count(made.context, "Book", NULL) > before);
        quire_context_release(made.context);
        CHECK_OK(quire_store_close(made.store, &error));
        quire_store_release(made.store);
    }
    openers_left--;
    return NULL;
}

static void delete_once(const quire_status *expected, int count) {
    check_is_one_of(quire_store_delete(path, QUIRE_NUL, &error), expected, count);
    quire_error_release(error);
    error = NULL;
}

/* Nothing opens it any more, so that a deletion has no reason to refuse. */
static void what_is_left_is_whole_and_goes(void) {
    if (exists(path)) {
        CHECK(books_at(path) >= 0);
        CHECK_OK(quire_store_delete(path, QUIRE_NUL, &error));
    }
    CHECK(!exists(path));
    remove_folder(folder);
}

static void threads_open_a_store_that_is_deleted_again_and_again(void) {
    static const quire_status refused[] = {QUIRE_OK, QUIRE_BUSY, QUIRE_INVALID_STATE, QUIRE_CANNOT_OPEN};
    use_folder();
    quire_model *model = library_model();
    pthread_t threads[OPENERS];
    for (int i = 0; i < OPENERS; i++) CHECK(pthread_create(&threads[i], NULL, open_again_and_again, model) == 0);
    while (openers_left > 0) delete_once(refused, 4);
    for (int i = 0; i < OPENERS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    quire_model_release(model);
    what_is_left_is_whole_and_goes();
}

static void processes_open_a_store_that_is_deleted_again_and_again(void) {
    /* A file that another process has made this moment has no tables yet, and nothing tells that they will come. */
    static const quire_status refused[] = {QUIRE_OK, QUIRE_BUSY, QUIRE_CANNOT_OPEN, QUIRE_NOT_A_STORE};
    use_folder();
    fflush(NULL);
    pid_t children[OPENERS];
    for (int i = 0; i < OPENERS; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        is_for_processes = true;
        quire_model *model = library_model();
        open_again_and_again(model);
        quire_model_release(model);
        _exit(0);
    }
    for (int i = 0; i < OPENERS; i++) {
        int status = 0;
        pid_t ended = 0;
        while ((ended = waitpid(children[i], &status, WNOHANG)) == 0) delete_once(refused, 4);
        CHECK(ended == children[i] && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    what_is_left_is_whole_and_goes();
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(threads_freeze_one_model_together);
    RUN(threads_open_a_store_that_is_deleted_again_and_again);
    RUN(processes_open_a_store_that_is_deleted_again_and_again);
    return RESULT();
}
