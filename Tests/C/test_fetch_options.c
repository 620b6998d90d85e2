/* What a fetch reads with its objects, or leaves unread; templates. How many statements run, the Swift tests count. */
#include "fixture.h"

/* Goethe with Faust and Egmont, Schiller with Don Carlos; Faust has a tag. */
static fixture four_people(void) {
    fixture made = open_fixture();
    static const struct { const char *author, *title; } books[] = {
        {"Goethe", "Faust"}, {"Goethe", "Egmont"}, {"Schiller", "Don Carlos"}};
    quire_object *author = NULL;
    const char *last = "";
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(last, books[i].author) != 0) {
            quire_object_release(author);
            author = insert(made.context, "Author");
            set_text(author, "name", last = books[i].author);
        }
        quire_object *book = insert_book(made.context, books[i].title, (int64_t)(i + 1) * 100);
        set_value(book, "author", quire_value_object(author));
        if (i == 0) {
            quire_object *tag = insert(made.context, "Tag");
            set_text(tag, "label", "drama");
            CHECK_OK(quire_object_add(book, "tags", QUIRE_NUL, tag, &error));
            quire_object_release(tag);
        }
        quire_object_release(book);
    }
    quire_object_release(author);
    save(made.context);
    return made;
}

static quire_context *new_context(fixture made) {
    quire_context *context = NULL;
    CHECK_OK(quire_context_create(made.store, &context, &error));
    return context;
}

static quire_list *run(quire_context *context, quire_fetch_request *request) {
    quire_list *list = NULL;
    CHECK_OK(quire_context_fetch(context, request, &list, &error));
    return list;
}

static quire_object *object_at(quire_list *list, int64_t index) {
    quire_object *object = NULL;
    CHECK_OK(quire_list_object(list, index, &object, &error));
    return object;
}

/* A context on the store shows its moment anyway. A child reads what its parent holds by then. */
static void prefetched_objects_are_as_they_were_at_the_fetch(void) {
    fixture made = four_people();
    for (int way = 0; way < 4; way++) {
        const bool prefetches = way & 1, is_child = way & 2;
        quire_context *writer = new_context(made), *reader = NULL;
        if (is_child) CHECK_OK(quire_context_create_child(writer, &reader, &error));
        else reader = new_context(made);
        quire_fetch_request *request = new_request("Book", NULL, "title");
        if (prefetches) CHECK_OK(quire_fetch_request_add_prefetch(request, "author", QUIRE_NUL, &error));
        quire_list *list = run(reader, request), *authors = fetch(writer, "Author", "name == 'Schiller'", NULL);
        quire_object *author = object_at(authors, 0), *book = object_at(list, 0), *shown = NULL;
        set_text(author, "name", "changed");
        save(writer);
        CHECK_OK(quire_object_get_object(book, "author", QUIRE_NUL, &shown, &error));
        CHECK(strcmp(get_text(shown, "name"), prefetches || !is_child ? "Schiller" : "changed") == 0);
        CHECK_OK(quire_context_merge(reader, &error));
        CHECK(strcmp(get_text(shown, "name"), "changed") == 0);
        set_text(author, "name", "Schiller");
        save(writer);
        quire_object_release(shown);
        quire_object_release(author);
        quire_object_release(book);
        quire_list_release(authors);
        quire_list_release(list);
        quire_fetch_request_release(request);
        quire_context_release(reader);
        quire_context_release(writer);
    }
    close_fixture(made);
}

static void prefetching_shows_unsaved_members(void) {
    fixture made = four_people();
    quire_context *context = new_context(made);
    quire_list *authors = fetch(context, "Author", NULL, "name");
    quire_object *schiller = object_at(authors, 1), *new_book = insert_book(context, "Die Wahlverwandtschaften", 1);
    quire_list_release(authors);
    set_value(new_book, "author", quire_value_object(schiller));
    quire_fetch_request *request = new_request("Author", NULL, "name");
    CHECK_OK(quire_fetch_request_add_prefetch(request, "books.tags", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_set_batch_size(request, 1, &error));
    quire_list *list = run(context, request), *books = NULL;
    quire_object *author = object_at(list, 1);
    CHECK_OK(quire_object_get_objects(author, "books", QUIRE_NUL, &books, &error));
    CHECK(strcmp(joined(books, "title"), "Don Carlos,Die Wahlverwandtschaften") == 0);
    quire_list_release(books);
    quire_object_release(author);
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_object_release(new_book);
    quire_object_release(schiller);
    quire_context_release(context);
    close_fixture(made);
}

static void wrong_paths_and_contradictions_show_at_the_fetch(void) {
    fixture made = four_people();
    quire_list *list = NULL;
    static const char *const paths[] = {"title", "nothing", "author.name", "author.books.nothing"};
    for (size_t i = 0; i < 4; i++) {
        quire_fetch_request *request = new_request("Book", NULL, NULL);
        CHECK_OK(quire_fetch_request_add_prefetch(request, paths[i], QUIRE_NUL, &error));
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch(made.context, request, &list, &error));
        quire_fetch_request_release(request);
    }
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_fetch_request_add_prefetch(request, "author..books", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_add_prefetch(request, "author", QUIRE_NUL, &error));
    CHECK_OK(quire_fetch_request_set_includes_property_values(request, false, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_context_fetch(made.context, request, &list, &error));
    CHECK_OK(quire_fetch_request_set_includes_property_values(request, true, &error));
    CHECK_OK(quire_context_fetch(made.context, request, &list, &error));
    quire_list_release(list);
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void what_is_left_unread_is_read_when_it_is_needed(void) {
    fixture made = four_people();
    for (int way = 0; way < 3; way++) {
        quire_context *reader = new_context(made), *writer = new_context(made);
        quire_fetch_request *request = new_request("Book", "title BEGINSWITH 'Faust'", NULL);
        if (way == 0) CHECK_OK(quire_fetch_request_set_returns_objects_as_faults(request, true, &error));
        if (way == 1) CHECK_OK(quire_fetch_request_set_includes_property_values(request, false, &error));
        if (way == 2) CHECK_OK(quire_fetch_request_add_property(request, "title", QUIRE_NUL, &error));
        quire_list *list = run(reader, request), *same = fetch(writer, "Book", "title BEGINSWITH 'Faust'", NULL);
        quire_object *book = object_at(list, 0), *other = object_at(same, 0);
        CHECK(quire_object_is_fault(book));
        static const char *const titles[] = {"Faust", "Faust 1", "Faust 2", "Faust 3"};
        set_text(other, "title", titles[way + 1]);
        set_value(other, "pages", quire_value_integer(101 + way));
        save(writer);
        /* Properties that were fetched, and all else that is read now, are of one moment. */
        if (way == 2) CHECK(strcmp(get_text(book, "title"), titles[way]) == 0);
        CHECK(get_value(book, "pages").as.integer == 100 + way);
        CHECK(strcmp(get_text(book, "title"), titles[way]) == 0 && !quire_object_is_fault(book));
        CHECK_OK(quire_context_merge(reader, &error));
        CHECK(strcmp(get_text(book, "title"), titles[way + 1]) == 0 && get_value(book, "pages").as.integer == 101 + way);
        quire_object_release(book);
        quire_object_release(other);
        quire_list_release(list);
        quire_list_release(same);
        quire_fetch_request_release(request);
        quire_context_release(reader);
        quire_context_release(writer);
    }
    close_fixture(made);
}

static void refetched_objects_take_over_what_is_newer(void) {
    fixture made = four_people();
    quire_context *writer = new_context(made);
    quire_list *list = fetch(made.context, "Book", "title == 'Faust'", NULL), *same = fetch(writer, "Book", "title == 'Faust'", NULL);
    quire_object *book = object_at(list, 0), *other = object_at(same, 0);
    quire_list_release(list);
    quire_list_release(same);
    set_value(other, "pages", quire_value_integer(7));
    save(writer);
    set_text(book, "isbn", "mine");
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    quire_list_release(run(made.context, request));
    CHECK(get_value(book, "pages").as.integer == 100);
    CHECK_FAILS(QUIRE_CONFLICT, quire_context_save(made.context, &error));
    CHECK_OK(quire_fetch_request_set_refreshes_refetched_objects(request, true, &error));
    quire_list_release(run(made.context, request));
    CHECK(get_value(book, "pages").as.integer == 7 && strcmp(get_text(book, "isbn"), "mine") == 0);
    save(made.context);

    /* The writer has its own old version of the row still; both change the same now. */
    quire_context *third = new_context(made);
    list = fetch(third, "Book", "title == 'Faust'", NULL);
    quire_object *again = object_at(list, 0);
    set_text(again, "isbn", "theirs");
    set_text(book, "isbn", "mine again");
    save(third);
    quire_list_release(run(made.context, request));
    CHECK(strcmp(get_text(book, "isbn"), "mine again") == 0);
    /* The context has moved on, as by a merge, so that its change is the later one. */
    save(made.context);
    quire_object_release(again);
    quire_list_release(list);
    quire_context_release(third);
    quire_fetch_request_release(request);
    quire_object_release(book);
    quire_object_release(other);
    quire_context_release(writer);
    close_fixture(made);
}

static void a_second_predicate_narrows_the_first(void) {
    fixture made = four_people();
    quire_fetch_request *request = new_request("Book", NULL, "title");
    static const struct { const char *format; int64_t count; } steps[] = {{"pages > 100", 2}, {"title BEGINSWITH 'D'", 1}};
    for (size_t i = 0; i < 2; i++) {
        quire_predicate *predicate = NULL;
        int64_t number = 0;
        CHECK_OK(quire_predicate_parse(steps[i].format, QUIRE_NUL, NULL, 0, &predicate, &error));
        CHECK_OK(quire_fetch_request_add_predicate(request, predicate, &error));
        quire_predicate_release(predicate);
        CHECK_OK(quire_context_count(made.context, request, &number, &error));
        CHECK(number == steps[i].count);
    }
    quire_fetch_request_release(request);
    close_fixture(made);
}

static void templates_give_requests_with_their_variables_replaced(void) {
    fixture made = {library_model(), NULL, NULL};
    quire_fetch_request *template = new_request("Book", "pages >= $least AND title != $title", "title");
    CHECK_OK(quire_model_add_fetch_template(made.model, "long", QUIRE_NUL, template, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_fetch_template(made.model, "long", QUIRE_NUL, template, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_add_fetch_template(made.model, "", QUIRE_NUL, template, &error));
    CHECK_OK(quire_store_open(":memory:", QUIRE_NUL, made.model, NULL, &made.store, &error));
    CHECK_OK(quire_context_create(made.store, &made.context, &error));
    CHECK_FAILS(QUIRE_INVALID_STATE, quire_model_add_fetch_template(made.model, "late", QUIRE_NUL, template, &error));
    /* The model has a copy. */
    CHECK_OK(quire_fetch_request_set_predicate(template, NULL, &error));
    quire_fetch_request_release(template);
    quire_object_release(insert_book(made.context, "Faust", 300));
    quire_object_release(insert_book(made.context, "Egmont", 120));

    const quire_entry variables[] = {
        {quire_value_text("least"), quire_value_integer(100)}, {quire_value_text("title"), quire_value_text("Egmont")},
        {quire_value_text("other"), quire_value_nil()}};
    quire_fetch_request *request = NULL;
    CHECK_OK(quire_model_fetch_template(made.model, "long", QUIRE_NUL, variables, 2, &request, &error));
    quire_list *list = run(made.context, request);
    CHECK(strcmp(joined(list, "title"), "Faust") == 0);
    quire_list_release(list);
    CHECK_OK(quire_fetch_request_set_limit(request, 1, &error));
    quire_fetch_request_release(request);

    CHECK(quire_model_fetch_template(made.model, "long", QUIRE_NUL, variables, 1, &request, &error) == QUIRE_INVALID_ARGUMENT);
    CHECK(strstr(quire_error_message(error).data, "$title") && !strstr(quire_error_message(error).data, "$least"));
    quire_error_release(error);
    error = NULL;
    CHECK(request == NULL);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_fetch_template(made.model, "long", QUIRE_NUL, variables, 3, &request, &error));
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_model_fetch_template(made.model, "short", QUIRE_NUL, NULL, 0, &request, &error));
    close_fixture(made);
}

static void a_template_of_an_unknown_entity_is_found_at_the_freezing(void) {
    quire_model *model = library_model();
    quire_fetch_request *request = new_request("Poem", NULL, NULL);
    CHECK_OK(quire_model_add_fetch_template(model, "poems", QUIRE_NUL, request, &error));
    CHECK_FAILS(QUIRE_INVALID_MODEL, quire_model_freeze(model, &error));
    quire_fetch_request_release(request);
    quire_model_release(model);
}

static int64_t pages_at(quire_list *list, int64_t index) {
    quire_object *book = NULL;
    CHECK_OK(quire_list_object(list, index, &book, &error));
    const int64_t pages = get_value(book, "pages").as.integer;
    quire_object_release(book);
    return pages;
}

/* What is let go shows what the parent holds when it is asked for again; what is kept shows what it showed. */
static void a_list_keeps_the_objects_of_its_last_batches(void) {
    enum { BATCH = 10000 };
    fixture made = open_fixture();
    static const char *const keys[] = {"title", "pages"};
    quire_value *titles = malloc(3 * BATCH * sizeof *titles), *pages = malloc(3 * BATCH * sizeof *pages);
    const quire_value *const columns[] = {titles, pages};
    for (int i = 0; i < 3 * BATCH; i++) titles[i] = quire_value_text("Faust"), pages[i] = quire_value_integer(1);
    CHECK_OK(quire_context_insert_rows(made.context, "Book", QUIRE_NUL, keys, columns, 2, 3 * BATCH, NULL, &error));
    save(made.context);
    free(titles);
    free(pages);

    quire_context *child = NULL;
    quire_list *list = NULL;
    CHECK_OK(quire_context_create_child(made.context, &child, &error));
    quire_fetch_request *request = new_request("Book", NULL, NULL);
    CHECK_OK(quire_fetch_request_set_batch_size(request, BATCH, &error));
    CHECK_OK(quire_context_fetch(child, request, &list, &error));
    quire_object *held = NULL;
    CHECK_OK(quire_list_object(list, 1, &held, &error));
    for (int batch = 0; batch < 3; batch++) CHECK(pages_at(list, batch * BATCH) == 1);

    const int64_t places[] = {0, 1, 2 * BATCH};
    for (int i = 0; i < 3; i++) {
        int64_t id = 0;
        quire_object *book = NULL;
        CHECK_OK(quire_list_ids(list, places[i], 1, &id, &error));
        CHECK_OK(quire_context_object(made.context, "Book", QUIRE_NUL, id, &book, &error));
        set_value(book, "pages", quire_value_integer(2));
        quire_object_release(book);
    }
    save(made.context);
    CHECK(pages_at(list, 0) == 2 && pages_at(list, 1) == 1 && pages_at(list, 2 * BATCH) == 1);
    quire_object_release(held);
    quire_list_release(list);
    quire_fetch_request_release(request);
    quire_context_release(child);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(prefetched_objects_are_as_they_were_at_the_fetch);
    RUN(prefetching_shows_unsaved_members);
    RUN(wrong_paths_and_contradictions_show_at_the_fetch);
    RUN(what_is_left_unread_is_read_when_it_is_needed);
    RUN(refetched_objects_take_over_what_is_newer);
    RUN(a_second_predicate_narrows_the_first);
    RUN(templates_give_requests_with_their_variables_replaced);
    RUN(a_template_of_an_unknown_entity_is_found_at_the_freezing);
    RUN(a_list_keeps_the_objects_of_its_last_batches);
    return RESULT();
}
