/*
 * What loops over many objects hold, and whether what is made and gone is given back.
 *
 *   memory [--rows N] [--rounds N]
 *
 * Each measurement runs in a process of its own, so that the system's greatest resident size is that of the measurement.
 * The limit of 200 MB is for a million rows; what a loop may hold of the heap for each row holds for any number.
 */
#include <quire.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTE = 1 << 20, AT_A_TIME = 1000 };

static int64_t rows = 1000000;
static int rounds = 5;
static char folder[64], path[80];
static quire_error *error;

static void fail(const char *what, int line) {
    fprintf(stderr, "memory.c:%d: %s: %s\n", line, what, error ? quire_error_message(error).data : "no error");
    exit(1);
}

#define CHECK(x) ((x) ? (void)0 : fail(#x, __LINE__))
#define OK(call) CHECK((call) == QUIRE_OK)

typedef struct opened {
    quire_model *model;
    quire_store *store;
    quire_context *context;
} opened;

static opened open_store(void) {
    opened made = {quire_model_create(), NULL, NULL};
    quire_attribute_options attribute = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    attribute.is_optional = true;
    quire_relationship_options to_one = QUIRE_RELATIONSHIP_OPTIONS_INIT, to_many = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    to_one.is_optional = to_many.is_optional = to_many.is_to_many = true;
    to_one.inverse = "quotes";
    to_many.inverse = "book";
    const quire_index_element by_author[] = {{"author", false}};
    OK(quire_model_add_entity(made.model, "Book", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_entity(made.model, "Quote", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(made.model, "Quote", QUIRE_NUL, "author", QUIRE_NUL, QUIRE_TYPE_STRING, &attribute, &error));
    OK(quire_model_add_attribute(made.model, "Quote", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, &attribute, &error));
    OK(quire_model_add_attribute(made.model, "Quote", QUIRE_NUL, "number", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &attribute, &error));
    OK(quire_model_add_relationship(made.model, "Quote", QUIRE_NUL, "book", QUIRE_NUL, "Book", QUIRE_NUL, &to_one, &error));
    OK(quire_model_add_relationship(made.model, "Book", QUIRE_NUL, "quotes", QUIRE_NUL, "Quote", QUIRE_NUL, &to_many, &error));
    OK(quire_model_add_fetch_index(made.model, "Quote", QUIRE_NUL, "byAuthor", QUIRE_NUL, by_author, 1, &error));
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    OK(quire_store_open(path, QUIRE_NUL, made.model, &options, &made.store, &error));
    OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static void close_store(opened made) {
    quire_context_release(made.context);
    quire_store_release(made.store);
    quire_model_release(made.model);
}

static quire_fetch_request *new_request(void) {
    quire_fetch_request *request = NULL;
    OK(quire_fetch_request_create("Quote", QUIRE_NUL, &request, &error));
    OK(quire_fetch_request_add_sort(request, "author", QUIRE_NUL, false, &error));
    OK(quire_fetch_request_set_batch_size(request, AT_A_TIME, &error));
    return request;
}

/* Bytes that the program has and has not given back, whatever the allocator keeps of the rest. */
static size_t held(void) {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static size_t resident(void) {
    unsigned long pages = 0, ignored = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%lu %lu", &ignored, &pages) == 2);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* --- Loops. */

static void fill(void) {
    opened made = open_store();
    for (int64_t i = 0; i < rows; i++) {
        static const char *const keys[] = {"author", "title", "number"};
        char author[32], title[64];
        snprintf(author, sizeof author, "Author %06lld", (long long)(i * 7919 % rows / 50));
        snprintf(title, sizeof title, "Title %lld of the collected works", (long long)i);
        const quire_value values[] = {quire_value_text(author), quire_value_text(title), quire_value_integer(i)};
        quire_object *quote = NULL;
        OK(quire_context_insert(made.context, "Quote", QUIRE_NUL, &quote, &error));
        OK(quire_object_set_values(quote, keys, values, 3, &error));
        quire_object_release(quote);
        if (i % 10000 == 9999) OK(quire_context_save(made.context, &error));
    }
    OK(quire_context_save(made.context, &error));
    close_store(made);
}

typedef struct looping {
    size_t before, greatest;
    int64_t count, bytes;
} looping;

static void read_title(looping *looping, quire_object *quote) {
    quire_value title;
    OK(quire_object_get(quote, "title", 5, &title, &error));
    CHECK(title.kind == QUIRE_VALUE_TEXT && strncmp(title.as.text, "Title ", 6) == 0);
    looping->bytes += title.size;
    quire_object_release(quote);
    if (looping->count++ % 500 == 0 && held() > looping->greatest) looping->greatest = held();
}

/* Fails when the loop has not read every row, or held more than `most` for each, and the objects of its last batches. */
static void end(const looping *looping, size_t most) {
    CHECK(looping->count == rows && looping->bytes > 20 * rows);
    const size_t growth = looping->greatest - looping->before;
    printf("%.1f bytes for each row, ", (double)growth / (double)rows);
    if (growth > most * (size_t)rows + 16 * MEGABYTE) {
        printf("more than %zu and 16 MB\n", most);
        exit(1);
    }
}

/* The list has its ids, two words each, and a word for an object. Of the objects it has those of a few batches. */
static void loop_over_a_list(void) {
    opened made = open_store();
    looping looping = {.before = held()};
    quire_fetch_request *request = new_request();
    quire_list *list = NULL;
    OK(quire_context_fetch(made.context, request, &list, &error));
    for (int64_t i = 0; i < quire_list_count(list); i++) {
        quire_object *quote = NULL;
        OK(quire_list_object(list, i, &quote, &error));
        read_title(&looping, quote);
    }
    end(&looping, 48);
    quire_list_release(list);
    quire_fetch_request_release(request);
    close_store(made);
}

/* A live list has the sort keys of all rows, which are some twenty bytes here, beside their ids. */
static void loop_over_a_live_list(void) {
    opened made = open_store();
    looping looping = {.before = held()};
    quire_fetch_request *request = new_request();
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "author";
    quire_results *results = NULL;
    OK(quire_results_create(made.context, request, &options, &results, &error));
    OK(quire_results_fetch(results, &error));
    for (int64_t section = 0; section < quire_results_section_count(results); section++) {
        quire_section info = QUIRE_SECTION_INIT;
        OK(quire_results_section(results, section, &info, &error));
        for (int64_t row = 0; row < info.count; row++) {
            quire_object *quote = NULL;
            OK(quire_results_object(results, section, row, &quote, &error));
            read_title(&looping, quote);
        }
    }
    end(&looping, 128);
    quire_results_release(results);
    quire_fetch_request_release(request);
    close_store(made);
}

/* --- What is made and gone. */

static int64_t lives = 100000;

static quire_object *insert(opened made, int64_t number, quire_object *book) {
    char title[64];
    snprintf(title, sizeof title, "Title %lld of the collected works", (long long)number);
    const quire_value text = quire_value_text(title), value = quire_value_integer(number), owner = quire_value_object(book);
    quire_object *quote = NULL;
    OK(quire_context_insert(made.context, "Quote", QUIRE_NUL, &quote, &error));
    OK(quire_object_set(quote, "title", QUIRE_NUL, &text, &error));
    OK(quire_object_set(quote, "number", QUIRE_NUL, &value, &error));
    OK(quire_object_set(quote, "book", QUIRE_NUL, &owner, &error));
    return quote;
}

/* Inserts `lives` objects, saves, deletes and saves, a hundred at a time and now and then one, each seen by another context. */
static void live_and_die(opened made, quire_context *other, quire_object *book) {
    for (int64_t done = 0; done < lives;) {
        quire_object *quotes[100];
        const int count = done / 100 % 10 == 9 ? 1 : 100;
        for (int i = 0; i < count; i++) quotes[i] = insert(made, done + i, book);
        OK(quire_context_save(made.context, &error));
        OK(quire_context_merge(other, &error));
        for (int i = 0; i < count; i++) {
            OK(quire_context_delete(made.context, quotes[i], &error));
            quire_object_release(quotes[i]);
        }
        OK(quire_context_save(made.context, &error));
        OK(quire_context_merge(other, &error));
        done += count;
    }
}

/*
 * One byte that is kept of each life is more than is allowed: the rest is what tables have grown to, SQLite's pages among
 * them, which the first round brings about. The resident size follows the heap only roughly, because what is free lies
 * between what is not.
 */
static void make_and_remove(void) {
    opened made = open_store();
    quire_context *other = NULL;
    quire_results *results[2] = {NULL, NULL};
    quire_fetch_request *request = new_request();
    quire_object *book = NULL;
    OK(quire_context_create(made.store, &other, &error));
    OK(quire_results_create(made.context, request, NULL, &results[0], &error));
    OK(quire_results_create(other, request, NULL, &results[1], &error));
    for (int i = 0; i < 2; i++) OK(quire_results_fetch(results[i], &error));
    OK(quire_context_insert(made.context, "Book", QUIRE_NUL, &book, &error));

    live_and_die(made, other, book);
    malloc_trim(0);
    const size_t before = held(), resident_before = resident();
    for (int round = 0; round < rounds; round++) live_and_die(made, other, book);
    malloc_trim(0);
    const long kept = (long)held() - (long)before, grown = (long)resident() - (long)resident_before;
    printf("%ld bytes kept of %lld objects, %ld kB more resident, ", kept, (long long)(lives * rounds), grown / 1024);
    for (int i = 0; i < 2; i++) {
        CHECK(quire_results_count(results[i]) == 0);
        quire_results_release(results[i]);
    }
    quire_object_release(book);
    quire_fetch_request_release(request);
    quire_context_release(other);
    close_store(made);
    if (kept > lives * rounds || grown > 8 * MEGABYTE) {
        printf("which is too much\n");
        exit(1);
    }
}

/* --- Measuring. */

static int differences;

static void measure(const char *name, void (*measurement)(void)) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        printf("%s: ", name);
        measurement();
        exit(0);
    }
    int status = 0;
    struct rusage usage;
    CHECK(wait4(child, &status, 0, &usage) == child);
    const double peak = (double)usage.ru_maxrss / 1024;
    const bool is_good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (is_good) printf("%.1f MB at most\n", peak);
    if (is_good && peak < 200) return;
    printf("%s: %s\n", name, is_good ? "200 MB are the limit" : "failed");
    differences++;
}

static void remove_files(void) {
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        char name[96];
        snprintf(name, sizeof name, "%s%s", path, endings[i]);
        unlink(name);
    }
}

int main(int argument_count, char **arguments) {
    for (int i = 1; i < argument_count; i += 2) {
        char *end = NULL;
        const long long number = i + 1 < argument_count ? strtoll(arguments[i + 1], &end, 10) : 0;
        const bool is_number = number > 0 && end && *end == 0;
        if (is_number && strcmp(arguments[i], "--rows") == 0) rows = number;
        else if (is_number && number < 1000 && strcmp(arguments[i], "--rounds") == 0) rounds = (int)number;
        else return fprintf(stderr, "usage: memory [--rows N] [--rounds N]\n"), 2;
    }
    if (rows < lives) lives = rows;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.40s/quire-memory-XXXXXX", parent ? parent : "/tmp");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/quotes.sqlite", folder);
    measure("inserting and saving 10,000 at a time", fill);
    measure("a loop over a list that reads in batches", loop_over_a_list);
    measure("a loop over a live list", loop_over_a_live_list);
    remove_files();
    measure("objects that are inserted, saved, deleted and saved", make_and_remove);
    remove_files();
    rmdir(folder);
    printf("memory: %lld rows, %d differences\n", (long long)rows, differences);
    return differences != 0;
}
