/* Callbacks may read, change, save, fetch and release; what they change is reported in a bracket of its own. */
#include "fixture.h"

#include <pthread.h>

typedef enum when { WILL_CHANGE, SECTION, OBJECT, DID_CHANGE, CHANGES, MOMENTS } when;

typedef struct scene {
    fixture made;
    quire_results *results;
    quire_object *book;
    when moment;
    void (*act)(struct scene *scene);
    int depth, deepest, brackets, acts, destroyed;
} scene;

static void perform(scene *scene, when moment) {
    if (scene->moment != moment || scene->acts > 0 || !scene->act) return;
    scene->acts++;
    scene->act(scene);
}

static void will_change(void *data, quire_results *results) {
    scene *scene = data;
    (void)results;
    scene->depth++, scene->brackets++;
    if (scene->depth > scene->deepest) scene->deepest = scene->depth;
    perform(scene, WILL_CHANGE);
}

static void section_changed(void *data, quire_results *results, const quire_section_change *change) {
    (void)results, (void)change;
    perform(data, SECTION);
}

static void object_changed(void *data, quire_results *results, quire_object *object, const quire_change *change) {
    (void)results, (void)object, (void)change;
    perform(data, OBJECT);
}

static void did_change(void *data, quire_results *results) {
    scene *scene = data;
    (void)results;
    perform(scene, DID_CHANGE);
    scene->depth--;
}

static void all_changes(void *data, quire_results *results, const quire_changes *changes) {
    (void)results, (void)changes;
    perform(data, CHANGES);
}

static void destroy(void *data) { ((scene *)data)->destroyed++; }

static void open_scene(scene *scene) {
    scene->made = open_fixture();
    scene->book = insert_book(scene->made.context, "Faust", 300);
    save(scene->made.context);
    quire_fetch_request *request = new_request("Book", NULL, "title");
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    options.section_key_path = "title";
    CHECK_OK(quire_results_create(scene->made.context, request, &options, &scene->results, &error));
    quire_fetch_request_release(request);
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    delegate.user_data = scene;
    delegate.destroy = destroy;
    delegate.will_change = will_change;
    delegate.did_change_section = section_changed;
    delegate.did_change_object = object_changed;
    delegate.did_change = did_change;
    delegate.changes = all_changes;
    CHECK_OK(quire_results_set_delegate(scene->results, &delegate, &error));
    CHECK_OK(quire_results_fetch(scene->results, &error));
}

/* Lets `act` happen in each callback in turn, while a book is inserted; then closes everything. */
static void in_each_callback(void (*act)(scene *), int expected_brackets) {
    for (int moment = 0; moment < MOMENTS; moment++) {
        scene scene = {.moment = (when)moment, .act = act};
        open_scene(&scene);
        quire_object *egmont = insert_book(scene.made.context, "Egmont", 120);
        CHECK_OK(quire_context_process(scene.made.context, &error));
        CHECK(scene.acts == 1);
        CHECK(scene.deepest == 1);
        if (expected_brackets && scene.brackets != expected_brackets)
            fprintf(stderr, "    %d brackets in moment %d\n", scene.brackets, moment);
        CHECK(!expected_brackets || scene.brackets == expected_brackets);
        quire_object_release(egmont);
        quire_results_release(scene.results);
        quire_object_release(scene.book);
        close_fixture(scene.made);
        CHECK(scene.destroyed == 1);
    }
}

static void read_everything(scene *scene) {
    const bool is_old = scene->moment == WILL_CHANGE;
    CHECK(quire_results_count(scene->results) == (is_old ? 1 : 2));
    CHECK(quire_results_section_count(scene->results) == (is_old ? 1 : 2));
    quire_section section = QUIRE_SECTION_INIT;
    quire_object *object = NULL;
    quire_page *page = NULL;
    CHECK_OK(quire_results_section(scene->results, 0, &section, &error));
    CHECK_TEXT(section.name, is_old ? "Faust" : "Egmont");
    CHECK_OK(quire_results_object(scene->results, 0, 0, &object, &error));
    CHECK(strcmp(get_text(object, "title"), is_old ? "Faust" : "Egmont") == 0);
    CHECK_OK(quire_results_page(scene->results, 0, is_old ? 1 : 2, NULL, 0, 0, &page, &error));
    quire_page_release(page);
    quire_object_release(object);
}

static void release_controller(scene *scene) {
    quire_results_release(scene->results);
    scene->results = NULL;
}

static void unset_delegate(scene *scene) {
    CHECK_OK(quire_results_set_delegate(scene->results, NULL, &error));
    CHECK(scene->destroyed <= 1);
}

static void set_a_value(scene *scene) { set_value(scene->book, "pages", quire_value_integer(301)); }

static void insert_an_object(scene *scene) {
    quire_object_release(insert_book(scene->made.context, "Stella", 90));
    CHECK(quire_results_count(scene->results) <= 2);
}

static void save_all(scene *scene) {
    save(scene->made.context);
    CHECK(quire_object_id(scene->book) > 0);
}

static void process_again(scene *scene) {
    set_text(scene->book, "title", "Werther");
    CHECK_OK(quire_context_process(scene->made.context, &error));
}

static void fetch_all(scene *scene) {
    CHECK(count(scene->made.context, "Book", NULL) == 2);
    quire_list *list = fetch(scene->made.context, "Book", NULL, "title");
    CHECK(strcmp(joined(list, "title"), "Egmont,Faust") == 0);
    quire_list_release(list);
}

static void delete_the_object(scene *scene) { CHECK_OK(quire_context_delete(scene->made.context, scene->book, &error)); }

static void roll_back(scene *scene) { CHECK_OK(quire_context_rollback(scene->made.context, &error)); }

static void close_the_store(scene *scene) { CHECK_OK(quire_store_close(scene->made.store, &error)); }

static void fetch_again(scene *scene) {
    const quire_status status = quire_results_fetch(scene->results, &error);
    CHECK(status == QUIRE_OK || status == QUIRE_INVALID_STATE);
    quire_error_release(error);
    error = NULL;
}

static void release_everything(scene *scene) {
    quire_results_release(scene->results);
    quire_object_release(scene->book);
    scene->results = NULL;
    scene->book = NULL;
}

static void *from_another_thread(void *data) {
    scene *scene = data;
    quire_object *object = NULL;
    quire_error *refusal = NULL;
    const quire_status status = quire_context_insert(scene->made.context, "Book", QUIRE_NUL, &object, &refusal);
    CHECK(status == QUIRE_WRONG_THREAD && object == NULL && quire_error_status(refusal) == QUIRE_WRONG_THREAD);
    quire_error_release(refusal);
    CHECK(quire_context_save(scene->made.context, NULL) == QUIRE_WRONG_THREAD);
    CHECK(quire_results_count(scene->results) == 0 && quire_results_section_count(scene->results) == 0);
    CHECK(quire_object_id(scene->book) == 0 && quire_object_uri(scene->book).data == NULL);
    CHECK(!quire_object_is_inserted(scene->book) && !quire_object_is_updated(scene->book));
    CHECK(!quire_object_is_deleted(scene->book) && !quire_context_has_changes(scene->made.context));
    quire_object_release(quire_object_retain(scene->book));
    return NULL;
}

static void use_another_thread(scene *scene) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, from_another_thread, scene) == 0);
    pthread_join(thread, NULL);
}

static void callbacks_may_read(void) { in_each_callback(read_everything, 1); }
static void callbacks_may_release_the_controller(void) { in_each_callback(release_controller, 0); }
static void callbacks_may_unset_the_delegate(void) { in_each_callback(unset_delegate, 0); }
static void values_set_in_a_callback_are_reported_later(void) { in_each_callback(set_a_value, 0); }
static void objects_inserted_in_a_callback_are_reported_later(void) { in_each_callback(insert_an_object, 0); }
static void callbacks_may_save(void) { in_each_callback(save_all, 0); }
static void processing_in_a_callback_waits_for_the_bracket(void) { in_each_callback(process_again, 2); }
static void callbacks_may_fetch(void) { in_each_callback(fetch_all, 0); }
static void callbacks_may_delete(void) { in_each_callback(delete_the_object, 0); }
static void callbacks_may_roll_back(void) { in_each_callback(roll_back, 0); }
static void callbacks_may_close_the_store(void) { in_each_callback(close_the_store, 0); }
static void callbacks_may_fetch_the_controller_again(void) { in_each_callback(fetch_again, 0); }
static void callbacks_may_release_everything(void) { in_each_callback(release_everything, 0); }
static void another_thread_is_refused_during_a_bracket(void) { in_each_callback(use_another_thread, 1); }

static void *whole_life(void *data) {
    (void)data;
    fixture made = open_fixture();
    for (int i = 0; i < 50; i++) quire_object_release(insert_book(made.context, "x", i));
    CHECK(quire_context_save(made.context, NULL) == QUIRE_OK);
    close_fixture(made);
    return NULL;
}

static void threads_with_contexts_of_their_own_do_not_meet(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, whole_life, NULL) == 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

static void *release_elsewhere(void *object) {
    quire_object_release(object);
    return NULL;
}

static void object_may_be_released_on_another_thread(void) {
    fixture made = open_fixture();
    quire_object *book = insert_book(made.context, "Faust", 300);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, release_elsewhere, book) == 0);
    pthread_join(thread, NULL);
    save(made.context);
    CHECK(count(made.context, "Book", NULL) == 1);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(callbacks_may_read);
    RUN(callbacks_may_release_the_controller);
    RUN(callbacks_may_unset_the_delegate);
    RUN(values_set_in_a_callback_are_reported_later);
    RUN(objects_inserted_in_a_callback_are_reported_later);
    RUN(callbacks_may_save);
    RUN(processing_in_a_callback_waits_for_the_bracket);
    RUN(callbacks_may_fetch);
    RUN(callbacks_may_delete);
    RUN(callbacks_may_roll_back);
    RUN(callbacks_may_close_the_store);
    RUN(callbacks_may_fetch_the_controller_again);
    RUN(callbacks_may_release_everything);
    RUN(another_thread_is_refused_during_a_bracket);
    RUN(threads_with_contexts_of_their_own_do_not_meet);
    RUN(object_may_be_released_on_another_thread);
    return RESULT();
}
