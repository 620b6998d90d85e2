/*
 * Products of several kinds in one list, the favourites first: entities that inherit from another one.
 *
 *     cc products.c $(pkg-config --cflags --libs quire) -o products
 *     ./products
 *
 * Book and Album inherit from Product. A list of products has both, and each row knows which of them it is. When a
 * product becomes a favourite, its row moves to the other section, and the list reports that one move.
 */
#include <inttypes.h>
#include <quire.h>
#include <stdio.h>
#include <string.h>

static quire_error *error; /* of the call that failed last */

/* Whether a call succeeded. Says what is wrong if not: every error of the library is a sentence. */
static bool ok(quire_status status) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "products: %s\n", quire_error_message(error).data);
    quire_error_release(error);
    error = NULL;
    return false;
}

/* ---- The model ---- */

static bool add_attribute(quire_model *model, const char *entity, const char *name, uint32_t type) {
    return ok(quire_model_add_attribute(model, entity, QUIRE_NUL, name, QUIRE_NUL, type, NULL, &error));
}

/* An abstract entity has no objects of its own. Those that name it as their parent have its attributes, too. */
static bool fill_model(quire_model *model) {
    quire_entity_options is_product = QUIRE_ENTITY_OPTIONS_INIT, product = QUIRE_ENTITY_OPTIONS_INIT;
    quire_attribute_options favourite = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    const quire_value no = quire_value_boolean(false);
    product.is_abstract = true;
    is_product.parent = "Product";
    favourite.default_value = &no;
    return ok(quire_model_add_entity(model, "Product", QUIRE_NUL, &product, &error))
        && add_attribute(model, "Product", "name", QUIRE_TYPE_STRING)
        && add_attribute(model, "Product", "price", QUIRE_TYPE_DECIMAL)
        && ok(quire_model_add_attribute(model, "Product", QUIRE_NUL, "isFavourite", QUIRE_NUL, QUIRE_TYPE_BOOLEAN,
                                        &favourite, &error))
        && ok(quire_model_add_entity(model, "Book", QUIRE_NUL, &is_product, &error))
        && add_attribute(model, "Book", "author", QUIRE_TYPE_STRING)
        && ok(quire_model_add_entity(model, "Album", QUIRE_NUL, &is_product, &error))
        && add_attribute(model, "Album", "minutes", QUIRE_TYPE_INTEGER_32);
}

/* ---- The products ---- */

/* Inserts an object of `entity`; `key` is the attribute that only this entity has. */
static bool add(quire_context *context, const char *entity, const char *name, const char *price, const char *key,
                quire_value value) {
    quire_object *product = NULL;
    const char *keys[] = {"name", "price", key};
    const quire_value values[] = {quire_value_text(name), quire_value_decimal(price), value};
    bool is_added = ok(quire_context_insert(context, entity, QUIRE_NUL, &product, &error))
                 && ok(quire_object_set_values(product, keys, values, 3, &error));
    quire_object_release(product);
    return is_added;
}

static bool add_products(quire_context *context) {
    return add(context, "Book", "Orlando", "9.80", "author", quire_value_text("Virginia Woolf"))
        && add(context, "Book", "The Waves", "12.50", "author", quire_value_text("Virginia Woolf"))
        && add(context, "Album", "Kind of Blue", "14.00", "minutes", quire_value_integer(46))
        && add(context, "Album", "Hounds of Love", "11.20", "minutes", quire_value_integer(47))
        && add(context, "Book", "Middlemarch", "8.40", "author", quire_value_text("George Eliot"))
        && ok(quire_context_save(context, &error));
}

/* `name` is a key of Product, so it is found whatever the product is. */
static bool make_favourite(quire_context *context, const char *name) {
    quire_object *product = NULL;
    const quire_value text = quire_value_text(name), yes = quire_value_boolean(true);
    printf("\n%s is a favourite now:\n", name);
    bool is_made = ok(quire_context_find(context, "Product", QUIRE_NUL, "name", QUIRE_NUL, &text, &product, &error))
                && ok(quire_object_set(product, "isFavourite", QUIRE_NUL, &yes, &error))
                && ok(quire_context_save(context, &error));
    quire_object_release(product);
    return is_made;
}

/* ---- Showing them ---- */

static bool print_product(quire_object *product) {
    quire_string name, author;
    double price;
    if (!ok(quire_object_get_text(product, "name", QUIRE_NUL, &name, &error))) return false;
    if (!ok(quire_object_get_number(product, "price", QUIRE_NUL, &price, NULL, &error))) return false;
    printf("%-15s %6.2f  ", name.data, price);
    /* The entity says which further keys an object has. */
    if (strcmp(quire_object_entity(product).data, "Book") == 0) {
        if (!ok(quire_object_get_text(product, "author", QUIRE_NUL, &author, &error))) return false;
        printf("a book by %s\n", author.data);
    } else {
        int64_t minutes;
        if (!ok(quire_object_get_integer(product, "minutes", QUIRE_NUL, &minutes, NULL, &error))) return false;
        printf("an album of %" PRId64 " minutes\n", minutes);
    }
    return true;
}

static bool print_list(quire_results *results) {
    for (int64_t i = 0; i < quire_results_section_count(results); i++) {
        quire_section section = QUIRE_SECTION_INIT;
        if (!ok(quire_results_section(results, i, &section, &error))) return false;
        puts(section.value.as.boolean ? "Favourites" : "Others");
        for (int64_t row = 0; row < section.count; row++) {
            quire_object *product = NULL;
            if (!ok(quire_results_object(results, i, row, &product, &error))) return false;
            printf("  ");
            bool is_printed = print_product(product);
            quire_object_release(product);
            if (!is_printed) return false;
        }
    }
    return true;
}

static void section_changed(void *user_data, quire_results *results, const quire_section_change *change) {
    (void)user_data, (void)results;
    printf("  section %" PRId64 " is %s\n", change->index, change->kind == QUIRE_CHANGE_INSERT ? "new" : "gone");
}

/* Old places count before all changes of the bracket, new ones after all of them. */
static void row_changed(void *user_data, quire_results *results, quire_object *product, const quire_change *change) {
    (void)user_data, (void)results, (void)product;
    printf("  row %" PRId64 " of section %" PRId64 " %s row %" PRId64 " of section %" PRId64 "\n", change->old_row,
           change->old_section, change->kind == QUIRE_CHANGE_MOVE ? "moves to" : "is now", change->new_row,
           change->new_section);
}

/* All products, the favourites first (true comes last, so descending), then by name. */
static bool show(quire_context *context, quire_fetch_request *request) {
    quire_results *results = NULL;
    quire_results_options options = QUIRE_RESULTS_OPTIONS_INIT;
    quire_results_delegate delegate = QUIRE_RESULTS_DELEGATE_INIT;
    options.section_key_path = "isFavourite";
    delegate.did_change_section = section_changed;
    delegate.did_change_object = row_changed;
    bool is_shown = ok(quire_fetch_request_add_sort(request, "isFavourite", QUIRE_NUL, true, &error))
                 && ok(quire_fetch_request_add_sort(request, "name", QUIRE_NUL, false, &error))
                 && ok(quire_results_create(context, request, &options, &results, &error))
                 && ok(quire_results_fetch(results, &error))
                 && ok(quire_results_set_delegate(results, &delegate, &error))
                 && print_list(results)
                 && make_favourite(context, "Kind of Blue")
                 && make_favourite(context, "Middlemarch")
                 && (putchar('\n'), print_list(results));
    quire_results_release(results);
    return is_shown;
}

/* A request for one of the entities has only its objects, and may ask for its own keys. */
static bool count_books(quire_context *context, quire_fetch_request *request) {
    quire_predicate *predicate = NULL;
    int64_t count = 0;
    bool is_counted = ok(quire_predicate_format(&predicate, &error, "author ENDSWITH %s", "Woolf"))
                   && ok(quire_fetch_request_set_predicate(request, predicate, &error))
                   && ok(quire_context_count(context, request, &count, &error));
    if (is_counted) printf("\n%" PRId64 " books are by Virginia Woolf\n", count);
    quire_predicate_release(predicate);
    return is_counted;
}

int main(void) {
    quire_model *model = quire_model_create();
    quire_store *store = NULL;
    quire_context *context = NULL;
    quire_fetch_request *products = NULL, *books = NULL;
    bool is_done = fill_model(model)
                && ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error))
                && ok(quire_context_create(store, &context, &error))
                && ok(quire_fetch_request_create("Product", QUIRE_NUL, &products, &error))
                && ok(quire_fetch_request_create("Book", QUIRE_NUL, &books, &error))
                && add_products(context) && show(context, products) && count_books(context, books);
    /* Every release takes NULL, and their order does not matter. */
    quire_fetch_request_release(books);
    quire_fetch_request_release(products);
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return is_done ? 0 : 1;
}
