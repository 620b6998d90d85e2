/* A small library of books, and a store of it in memory, for the tests. */
#ifndef QUIRE_FIXTURE_H_
#define QUIRE_FIXTURE_H_

#include "check.h"

#include <fcntl.h>

/* Most tests need no more than these three. */
typedef struct fixture {
    quire_model *model;
    quire_store *store;
    quire_context *context;
} fixture;

static inline void add_attribute(quire_model *model, const char *entity, const char *name, quire_attribute_type type) {
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    CHECK_OK(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, &options, &error));
}

static inline void add_relationship(
    quire_model *model, const char *entity, const char *name, const char *destination, const char *inverse, bool is_to_many,
    bool is_ordered, quire_delete_rule rule) {
    quire_relationship_options options = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    options.is_optional = true;
    options.is_to_many = is_to_many;
    options.is_ordered = is_ordered;
    options.inverse = inverse;
    options.delete_rule = rule;
    CHECK_OK(quire_model_add_relationship(
        model, entity, QUIRE_NUL, name, QUIRE_NUL, destination, QUIRE_NUL, &options, &error));
}

/*
 * Author (name) <->> Book (title, mandatory; pages, 100 by default; unique isbn) <<->> Tag (label), Novel is a Book,
 * Shelf ->> Book ordered, Thing is abstract, and Everything has an attribute of each type.
 */
static inline quire_model *library_model(void) {
    quire_model *model = quire_model_create();
    CHECK(model != NULL);
    const char *const entities[] = {"Author", "Book", "Tag", "Shelf", "Everything"};
    for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
        CHECK_OK(quire_model_add_entity(model, entities[i], QUIRE_NUL, NULL, &error));
    quire_entity_options options = QUIRE_ENTITY_OPTIONS_INIT;
    options.parent = "Book";
    CHECK_OK(quire_model_add_entity(model, "Novel", QUIRE_NUL, &options, &error));
    quire_entity_options abstract = QUIRE_ENTITY_OPTIONS_INIT;
    abstract.is_abstract = true;
    CHECK_OK(quire_model_add_entity(model, "Thing", QUIRE_NUL, &abstract, &error));

    add_attribute(model, "Author", "name", QUIRE_TYPE_STRING);
    CHECK_OK(quire_model_add_attribute(model, "Book", QUIRE_NUL, "title", QUIRE_NUL, QUIRE_TYPE_STRING, NULL, &error));
    const quire_value hundred = quire_value_integer(100);
    quire_attribute_options pages = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    pages.is_optional = true;
    pages.default_value = &hundred;
    CHECK_OK(quire_model_add_attribute(model, "Book", QUIRE_NUL, "pages", QUIRE_NUL, QUIRE_TYPE_INTEGER_32, &pages, &error));
    add_attribute(model, "Book", "isbn", QUIRE_TYPE_STRING);
    add_attribute(model, "Novel", "genre", QUIRE_TYPE_STRING);
    add_attribute(model, "Tag", "label", QUIRE_TYPE_STRING);
    const char *const unique[] = {"isbn"};
    CHECK_OK(quire_model_add_uniqueness_constraint(model, "Book", QUIRE_NUL, unique, 1, &error));

    add_relationship(model, "Author", "books", "Book", "author", true, false, QUIRE_DELETE_CASCADE);
    add_relationship(model, "Book", "author", "Author", "books", false, false, QUIRE_DELETE_NULLIFY);
    add_relationship(model, "Book", "tags", "Tag", "books", true, false, QUIRE_DELETE_NULLIFY);
    add_relationship(model, "Tag", "books", "Book", "tags", true, false, QUIRE_DELETE_DENY);
    add_relationship(model, "Shelf", "books", "Book", "shelf", true, true, QUIRE_DELETE_NULLIFY);
    add_relationship(model, "Book", "shelf", "Shelf", "books", false, false, QUIRE_DELETE_NULLIFY);

    static const struct { const char *name; quire_attribute_type type; } every[] = {
        {"small", QUIRE_TYPE_INTEGER_16}, {"medium", QUIRE_TYPE_INTEGER_32}, {"large", QUIRE_TYPE_INTEGER_64},
        {"decimal", QUIRE_TYPE_DECIMAL}, {"real", QUIRE_TYPE_DOUBLE}, {"narrow", QUIRE_TYPE_FLOAT}, {"text", QUIRE_TYPE_STRING},
        {"flag", QUIRE_TYPE_BOOLEAN}, {"moment", QUIRE_TYPE_DATE}, {"bytes", QUIRE_TYPE_BINARY}, {"uuid", QUIRE_TYPE_UUID},
        {"link", QUIRE_TYPE_URI}, {"opaque", QUIRE_TYPE_TRANSFORMABLE}};
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++)
        add_attribute(model, "Everything", every[i].name, every[i].type);
    return model;
}

static inline fixture open_fixture_at(const char *path) {
    fixture made = {library_model(), NULL, NULL};
    CHECK_OK(quire_store_open(path, QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

static inline fixture open_fixture(void) { return open_fixture_at(":memory:"); }

static inline void close_fixture(fixture made) {
    quire_context_release(made.context);
    quire_store_release(made.store);
    quire_model_release(made.model);
}

static inline quire_object *insert(quire_context *context, const char *entity) {
    quire_object *object = NULL;
    CHECK_OK(quire_context_insert(context, entity, QUIRE_NUL, &object, &error));
    CHECK(object != NULL);
    return object;
}

static inline void set_value(quire_object *object, const char *key, quire_value value) {
    CHECK_OK(quire_object_set(object, key, QUIRE_NUL, &value, &error));
}

static inline void set_text(quire_object *object, const char *key, const char *text) {
    set_value(object, key, quire_value_text(text));
}

static inline quire_value get_value(quire_object *object, const char *key) {
    quire_value value = quire_value_nil();
    CHECK_OK(quire_object_get(object, key, QUIRE_NUL, &value, &error));
    return value;
}

/* The text of an attribute, "nil" for none. */
static inline const char *get_text(quire_object *object, const char *key) {
    const quire_value value = get_value(object, key);
    if (value.kind == QUIRE_VALUE_NIL) return "nil";
    CHECK(value.kind == QUIRE_VALUE_TEXT && value.as.text && strlen(value.as.text) == value.size);
    return value.as.text;
}

static inline quire_object *insert_book(quire_context *context, const char *title, int64_t pages) {
    quire_object *book = insert(context, "Book");
    set_text(book, "title", title);
    set_value(book, "pages", quire_value_integer(pages));
    return book;
}

static inline void save(quire_context *context) { CHECK_OK(quire_context_save(context, &error)); }

static inline quire_fetch_request *new_request(const char *entity, const char *format, const char *sort) {
    quire_fetch_request *request = NULL;
    CHECK_OK(quire_fetch_request_create(entity, QUIRE_NUL, &request, &error));
    if (format) {
        quire_predicate *predicate = NULL;
        CHECK_OK(quire_predicate_parse(format, QUIRE_NUL, NULL, 0, &predicate, &error));
        CHECK_OK(quire_fetch_request_set_predicate(request, predicate, &error));
        quire_predicate_release(predicate);
    }
    if (sort) CHECK_OK(quire_fetch_request_add_sort(request, sort, QUIRE_NUL, false, &error));
    return request;
}

static inline quire_list *fetch(quire_context *context, const char *entity, const char *format, const char *sort) {
    quire_fetch_request *request = new_request(entity, format, sort);
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    CHECK(list != NULL);
    quire_fetch_request_release(request);
    return list;
}

static inline int64_t count(quire_context *context, const char *entity, const char *format) {
    quire_fetch_request *request = new_request(entity, format, NULL);
    int64_t number = -1;
    CHECK_OK(quire_context_count(context, request, &number, &error));
    quire_fetch_request_release(request);
    return number;
}

/* The attribute of each object of a list, joined by commas. The result holds until the next call. */
static inline const char *joined(quire_list *list, const char *key) {
    static char text[4096];
    size_t used = 0;
    text[0] = 0;
    for (int64_t i = 0; i < quire_list_count(list); i++) {
        quire_object *object = NULL;
        CHECK_OK(quire_list_object(list, i, &object, &error));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", get_text(object, key));
        quire_object_release(object);
    }
    return text;
}

/* A folder for the files of one test, removed by `remove_folder`. */
static inline void make_folder(char *path, size_t size) {
    const char *parent = getenv("TMPDIR");
    snprintf(path, size, "%s/quire-test-XXXXXX", parent ? parent : "/tmp");
    CHECK(mkdtemp(path) != NULL);
}

static inline void remove_folder(const char *path) {
    char command[512];
    snprintf(command, sizeof command, "rm -r '%s'", path);
    CHECK(system(command) == 0);
}

/* SQLite's own program, which has a file open until `close_shell`. */
typedef struct shell {
    pid_t process;
    FILE *orders, *answers;
} shell;

static inline shell open_shell(const char *path) {
    int orders[2], answers[2];
    CHECK(pipe2(orders, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0);
    const shell made = {fork(), fdopen(orders[1], "w"), fdopen(answers[0], "r")};
    if (made.process == 0) {
        dup2(orders[0], STDIN_FILENO);
        dup2(answers[1], STDOUT_FILENO);
        execlp("sqlite3", "sqlite3", "-bail", path, (char *)NULL);
        _exit(1);
    }
    close(orders[0]);
    close(answers[1]);
    return made;
}

/* Returns when the program has run the statements. */
static inline void run_in_shell(shell shell, const char *statements) {
    char line[256];
    CHECK(fprintf(shell.orders, "%s\n.print done\n", statements) > 0 && fflush(shell.orders) == 0);
    do CHECK(fgets(line, sizeof line, shell.answers) != NULL);
    while (strcmp(line, "done\n") != 0);
}

static inline void close_shell(shell shell) {
    int status = 0;
    fclose(shell.orders);
    CHECK(waitpid(shell.process, &status, 0) == shell.process && status == 0);
    fclose(shell.answers);
}

#endif
