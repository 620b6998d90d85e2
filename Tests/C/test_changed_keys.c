#include "recorder.h"

/* Keys as text, joined by commas. */
static const char *keys_of(const quire_change *change) {
    static char text[256];
    size_t size = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < change->key_count; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%s", i ? "," : "", change->keys[i].data);
    return text;
}

static char heard[512];

static void hear(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)data, (void)results, (void)object;
    const size_t size = strlen(heard);
    snprintf(heard + size, sizeof heard - size, "%c%lld:%s ", "?+->~"[change->kind], (long long)change->new_flat, keys_of(change));
}

static void check_heard(const char *expected, int line) {
    if (strcmp(heard, expected) != 0) {
        fprintf(stderr, "    line %d: heard \"%s\" and not \"%s\"\n", line, heard, expected);
        exit(1);
    }
    heard[0] = 0;
}

#define CHECK_HEARD(expected) check_heard(expected, __LINE__)

static void changes_name_what_changed(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *tag = insert(made.context, "Tag");
    quire_object *a = insert_book(made.context, "a", 1), *b = insert_book(made.context, "b", 2);
    const quire_value owner = {.kind = QUIRE_VALUE_OBJECT, .as.object = author};
    set_value(a, "author", owner);
    set_text(author, "name", "Goethe");
    save(made.context);
    quire_results *results = controller(made.context, NULL, "title", NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = hear;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));

    set_value(a, "pages", quire_value_integer(7));
    set_text(b, "title", "0");
    process(made.context);
    CHECK_HEARD(">0:title ~1:pages ");
    /* The author is not displayed. */
    set_text(author, "name", "Schiller");
    process(made.context);
    CHECK_HEARD("");
    const char *const paths[] = {"author.name", "tags.@count", "tags.label"};
    CHECK_OK(quire_results_set_displayed_key_paths(results, paths, 3, &error));
    set_text(author, "name", "Lessing");
    process(made.context);
    CHECK_HEARD("~1:author.name ");
    set_value(b, "author", owner);
    process(made.context);
    CHECK_HEARD("~0:author,author.name ");
    CHECK_OK(quire_object_add(a, "tags", QUIRE_NUL, tag, &error));
    process(made.context);
    CHECK_HEARD("~1:tags,tags.@count,tags.label ");
    set_text(tag, "label", "new");
    set_text(author, "name", "Goethe");
    process(made.context);
    CHECK_HEARD("~0:author.name ~1:author.name,tags.label ");
    /* A change that comes and goes. */
    set_text(author, "name", "x");
    set_text(author, "name", "Goethe");
    process(made.context);
    CHECK_HEARD("");
    CHECK_OK(quire_results_suspend(results, &error));
    set_text(author, "name", "y");
    process(made.context);
    set_value(a, "pages", quire_value_integer(8));
    CHECK_OK(quire_results_resume(results, true, &error));
    CHECK_HEARD("~0:author.name ~1:pages,author.name ");

    const char *const wrong[] = {"author.nothing", "title.more"};
    for (int i = 0; i < 2; i++)
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_results_set_displayed_key_paths(results, wrong + i, 1, &error));
    CHECK_OK(quire_results_set_displayed_key_paths(results, NULL, 0, &error));
    set_text(author, "name", "z");
    process(made.context);
    CHECK_HEARD("");
    quire_results_release(results);
    quire_object_release(a);
    quire_object_release(b);
    quire_object_release(tag);
    quire_object_release(author);
    close_fixture(made);
}

static void keys_lead_to_what_orders_rows(void) {
    fixture made = open_fixture();
    quire_object *authors[2], *books[2];
    for (int i = 0; i < 2; i++) {
        authors[i] = insert(made.context, "Author");
        books[i] = insert_book(made.context, i ? "b" : "a", i);
        set_text(authors[i], "name", i ? "N" : "M");
        set_value(books[i], "author", (quire_value){.kind = QUIRE_VALUE_OBJECT, .as.object = authors[i]});
    }
    quire_results *results = controller(made.context, NULL, "author.name", NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = hear;
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));
    set_text(authors[0], "name", "Z");
    process(made.context);
    CHECK_HEARD(">1:author.name ");
    quire_results_release(results);
    for (int i = 0; i < 2; i++) {
        quire_object_release(books[i]);
        quire_object_release(authors[i]);
    }
    close_fixture(made);
}

/* The parent tells of whole objects when it does not know what a batch request has changed in them. */
static void what_a_batch_request_changes_is_named_in_a_child(void) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *rival = insert(made.context, "Author");
    quire_object *first = insert_book(made.context, "a", 1), *second = insert_book(made.context, "b", 2);
    set_text(author, "name", "M");
    set_text(rival, "name", "N");
    set_value(first, "author", quire_value_object(author));
    set_value(second, "author", quire_value_object(rival));
    save(made.context);
    quire_object_release(first);
    quire_object_release(second);
    quire_object_release(author);
    quire_object_release(rival);

    quire_context *child = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    quire_results *results = controller(child, NULL, "author.name", NULL);
    quire_results *watching = controller(made.context, NULL, "author.name", NULL);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.did_change_object = hear;
    CHECK_OK(quire_results_set_delegate(watching, &delegate, &error));
    CHECK_OK(quire_results_set_delegate(results, &delegate, &error));

    const char *const pages[] = {"pages"}, *const name[] = {"name"};
    quire_fetch_request *request = new_request("Book", "title == 'a'", NULL);
    quire_value value = quire_value_integer(7);
    CHECK_OK(quire_context_batch_update(made.context, request, pages, &value, 1, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    heard[0] = 0;
    CHECK_OK(quire_context_merge(child, &error));
    CHECK(strncmp(heard, "~0:", 3) == 0 && strstr(heard, "pages"));

    request = new_request("Author", "name == 'M'", NULL);
    value = quire_value_text("Z");
    CHECK_OK(quire_context_batch_update(made.context, request, name, &value, 1, NULL, NULL, NULL, &error));
    quire_fetch_request_release(request);
    heard[0] = 0;
    CHECK_OK(quire_context_merge(child, &error));
    CHECK_HEARD(">1:author.name ");
    quire_results_release(watching);
    quire_results_release(results);
    quire_context_release(child);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(changes_name_what_changed);
    RUN(keys_lead_to_what_orders_rows);
    RUN(what_a_batch_request_changes_is_named_in_a_child);
    return RESULT();
}
