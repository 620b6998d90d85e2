/* Many contexts at once: one on top of the other, and side by side. */
#include "fixture.h"

#include <pthread.h>

/* What sanitizers put around each variable makes frames several times as large. */
#if !defined(__has_feature)
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { STACK = 1024 * 1024 };
#else
enum { STACK = 128 * 1024 };
#endif

enum { DEEPEST = 64, MANY = 20000 };

/* A context with `depth` contexts above it, the last of which is `context`. */
static quire_context *descendant(quire_context *context, int depth) {
    quire_context *lowest = quire_context_retain(context);
    for (int i = 0; i < depth; i++) {
        quire_context *child = NULL;
        CHECK_OK(quire_context_create_child(lowest, &child, &error));
        quire_context_release(lowest);
        lowest = child;
    }
    return lowest;
}

static void contexts_nest_to_a_depth_that_is_told(void) {
    fixture made = open_fixture();
    quire_context *lowest = descendant(made.context, DEEPEST), *child = lowest;
    for (int i = 0; i < 100000; i++)
        CHECK_FAILS(QUIRE_UNSUPPORTED, quire_context_create_child(lowest, &child, &error));
    CHECK(child == NULL);
    CHECK_OK(quire_context_create_child(quire_context_parent(lowest), &child, &error));
    quire_context_release(child);
    quire_context_release(lowest);
    close_fixture(made);
}

/* Reads, changes, deletes and saves at the bottom, and lets go of everything. */
static void *use_the_deepest_child(void *unused) {
    fixture made = open_fixture();
    quire_object *author = insert(made.context, "Author"), *book = insert_book(made.context, "Faust", 300);
    set_text(author, "name", "Goethe");
    set_value(book, "author", quire_value_object(author));
    save(made.context);
    quire_object_release(book);
    quire_object_release(author);

    quire_context *lowest = descendant(made.context, DEEPEST);
    CHECK_OK(quire_context_set_merges_automatically(lowest, true, &error));
    CHECK(count(lowest, "Book", "author.name == 'Goethe' AND ANY author.books.pages > 2") == 1);
    quire_list *authors = fetch(lowest, "Author", "ANY books.pages == 300", "name"), *books = NULL;
    CHECK_OK(quire_list_object(authors, 0, &author, &error));
    CHECK_OK(quire_object_get_objects(author, "books", QUIRE_NUL, &books, &error));
    CHECK_OK(quire_list_object(books, 0, &book, &error));
    set_value(book, "pages", quire_value_integer(7));
    CHECK(count(lowest, "Author", "ANY books.pages == 7") == 1);
    CHECK_OK(quire_context_delete(lowest, author, &error));
    CHECK_OK(quire_context_process(lowest, &error));
    CHECK(count(lowest, "Book", "TRUEPREDICATE") == 0);
    quire_object_release(insert_book(lowest, "Stella", 100));
    CHECK_OK(quire_context_obtain_permanent_ids(lowest, &error));
    for (quire_context *each = lowest; each; each = quire_context_parent(each)) save(each);
    CHECK(count(made.context, "Book", "title == 'Stella'") == 1 && count(made.context, "Author", "TRUEPREDICATE") == 0);

    quire_object_release(book);
    quire_list_release(books);
    quire_object_release(author);
    quire_list_release(authors);
    quire_context_release(lowest);
    close_fixture(made);
    return unused;
}

static void the_deepest_child_works_on_a_small_stack(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, use_the_deepest_child, NULL) == 0 && pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
}

static void many_contexts_and_controllers_live_side_by_side(void) {
    fixture made = open_fixture();
    /* valgrind makes each of them some fifty times as dear. */
    const int many = getenv("QUIRE_SLOW") ? MANY / 20 : MANY;
    quire_context **contexts = calloc((size_t)many, sizeof *contexts), **children = calloc((size_t)many, sizeof *children);
    quire_results **lists = calloc((size_t)many, sizeof *lists);
    CHECK(contexts && children && lists);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    for (int i = 0; i < many; i++) {
        CHECK_OK(quire_context_create(made.store, &contexts[i], &error));
        CHECK_OK(quire_context_create_child(made.context, &children[i], &error));
        CHECK_OK(quire_results_create(made.context, request, NULL, &lists[i], &error));
        CHECK_OK(quire_results_fetch(lists[i], &error));
    }
    quire_object_release(insert_book(made.context, "Faust", 300));
    save(made.context);
    for (int i = 0; i < many; i += many / 10) {
        CHECK(quire_results_count(lists[i]) == 1 && count(children[i], "Book", "TRUEPREDICATE") == 1);
        CHECK(count(contexts[i], "Book", "TRUEPREDICATE") == 1);
    }
    for (int i = 0; i < many; i++) {
        quire_results_release(lists[i]);
        quire_context_release(children[i]);
        quire_context_release(contexts[i]);
    }
    quire_fetch_request_release(request);
    free(lists);
    free(children);
    free(contexts);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(contexts_nest_to_a_depth_that_is_told);
    RUN(the_deepest_child_works_on_a_small_stack);
    RUN(many_contexts_and_controllers_live_side_by_side);
    return RESULT();
}
