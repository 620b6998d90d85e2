/*
 * Functions of the program that predicates call: towns within some kilometres of a place.
 *
 *     cc distances.c $(pkg-config --cflags --libs quire) -lm -o distances
 *     ./distances [LATITUDE LONGITUDE KILOMETRES]
 *
 * The first function is plain C, called with numbers. The second takes values as they are, and may fail with a reason.
 */
#include <inttypes.h>
#include <math.h>
#include <quire.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static quire_error *error; /* of the call that failed last */

static bool ok(quire_status status) {
    if (status == QUIRE_OK) return true;
    fprintf(stderr, "distances: %s\n", quire_error_message(error).data);
    quire_error_release(error);
    error = NULL;
    return false;
}

/* ---- The functions ---- */

/* Kilometres between two places on the Earth, given in degrees. It knows nothing of Quire. */
static double distance(double latitude, double longitude, double other_latitude, double other_longitude) {
    const double radians = 0.017453292519943295;
    const double a = sin((other_latitude - latitude) * radians / 2);
    const double b = sin((other_longitude - longitude) * radians / 2);
    return 12742 * asin(sqrt(a * a + cos(latitude * radians) * cos(other_latitude * radians) * b * b));
}

/* Whether the first text sounds like the second to an ear that hears nothing but consonants. */
static bool sounds_like(void *user_data, const quire_value *arguments, size_t argument_count, quire_value *out_result) {
    char heard[2][64];
    (void)user_data;
    for (size_t i = 0; i < argument_count; i++) {
        size_t length = 0;
        if (arguments[i].kind != QUIRE_VALUE_TEXT) {
            *out_result = quire_value_text("soundsLike compares two texts"); /* the reason, for the error of the fetch */
            return false;
        }
        for (uint32_t byte = 0; byte < arguments[i].size && length < 63; byte++) {
            const char letter = (char)(arguments[i].as.text[byte] | 0x20); /* in lower case */
            if (letter < 'a' || letter > 'z' || strchr("aeiouyhw", letter)) continue;
            if (length == 0 || heard[i][length - 1] != letter) heard[i][length++] = letter;
        }
        heard[i][length] = '\0';
    }
    *out_result = quire_value_boolean(strcmp(heard[0], heard[1]) == 0);
    return true;
}

/* A function belongs to the process, and must be there before the first predicate that names it. */
static bool register_functions(void) {
    static const uint32_t numbers[] = {QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE, QUIRE_NATIVE_DOUBLE};
    quire_native_function native = QUIRE_NATIVE_FUNCTION_INIT;
    quire_function_callback callback = QUIRE_FUNCTION_CALLBACK_INIT;
    native.result_type = QUIRE_NATIVE_DOUBLE;
    native.argument_types = numbers;
    native.argument_count = 4;
    native.function = (void (*)(void))distance;
    callback.argument_count = 2;
    callback.call = sounds_like;
    return ok(quire_function_register("distance", QUIRE_NUL, &native, &error))
        && ok(quire_function_register_callback("soundsLike", QUIRE_NUL, &callback, &error));
}

/* ---- The towns ---- */

static bool add_attribute(quire_model *model, const char *name, uint32_t type) {
    return ok(quire_model_add_attribute(model, "Town", QUIRE_NUL, name, QUIRE_NUL, type, NULL, &error));
}

/* Many objects in one call, column by column. */
static bool add_towns(quire_context *context) {
    const char *keys[] = {"name", "latitude", "longitude"};
    const quire_value names[] = {quire_value_text("Berlin"), quire_value_text("Potsdam"), quire_value_text("Leipzig"),
                                 quire_value_text("Dresden"), quire_value_text("Hamburg"), quire_value_text("Prague")};
    const quire_value latitudes[] = {quire_value_double(52.52), quire_value_double(52.40), quire_value_double(51.34),
                                     quire_value_double(51.05), quire_value_double(53.55), quire_value_double(50.08)};
    const quire_value longitudes[] = {quire_value_double(13.40), quire_value_double(13.06), quire_value_double(12.37),
                                      quire_value_double(13.74), quire_value_double(9.99), quire_value_double(14.44)};
    const quire_value *columns[] = {names, latitudes, longitudes};
    return ok(quire_context_insert_rows(context, "Town", QUIRE_NUL, keys, columns, 3, 6, NULL, &error))
        && ok(quire_context_save(context, &error));
}

/* ---- Asking ---- */

/* Prints the towns for which `predicate` holds, and with an expression its value for each of them. */
static bool print_towns(quire_context *context, const quire_predicate *predicate, const quire_expression *kilometres) {
    quire_fetch_request *request = NULL;
    quire_list *towns = NULL;
    bool is_found = ok(quire_fetch_request_create("Town", QUIRE_NUL, &request, &error))
                 && ok(quire_fetch_request_set_predicate(request, predicate, &error))
                 && ok(quire_fetch_request_add_sort(request, "name", QUIRE_NUL, false, &error))
                 && ok(quire_context_fetch(context, request, &towns, &error));
    for (int64_t i = 0; is_found && i < quire_list_count(towns); i++) {
        quire_object *town = NULL;
        quire_evaluation *evaluation = NULL;
        quire_string name;
        is_found = ok(quire_list_object(towns, i, &town, &error))
                && ok(quire_object_get_text(town, "name", QUIRE_NUL, &name, &error));
        if (is_found) printf("  %s", name.data);
        if (is_found && kilometres) {
            const quire_value subject = quire_value_object(town);
            is_found = ok(quire_expression_evaluate(kilometres, &subject, NULL, 0, &evaluation, &error));
            if (is_found) printf(", %.0f km", quire_evaluation_value(evaluation)->as.real);
        }
        putchar('\n');
        quire_evaluation_release(evaluation);
        quire_object_release(town);
    }
    quire_list_release(towns);
    quire_fetch_request_release(request);
    return is_found;
}

static bool print_near(quire_context *context, double latitude, double longitude, double limit) {
    quire_predicate *predicate = NULL;
    quire_expression *kilometres = NULL;
    const quire_value place[] = {quire_value_double(latitude), quire_value_double(longitude)};
    printf("Less than %g km from %g, %g:\n", limit, latitude, longitude);
    bool is_printed =
        ok(quire_predicate_format(&predicate, &error, "distance(latitude, longitude, %f, %f) < %f", latitude, longitude, limit))
        && ok(quire_expression_parse("distance(latitude, longitude, %f, %f)", QUIRE_NUL, place, 2, &kilometres, &error))
        && print_towns(context, predicate, kilometres);
    quire_expression_release(kilometres);
    quire_predicate_release(predicate);
    return is_printed;
}

static bool print_alike(quire_context *context, const char *title, quire_value sound) {
    quire_predicate *predicate = NULL;
    printf("Towns that sound like %s:\n", title);
    bool is_printed = ok(quire_predicate_parse("soundsLike(name, %@) == YES", QUIRE_NUL, &sound, 1, &predicate, &error))
                   && print_towns(context, predicate, NULL);
    quire_predicate_release(predicate);
    return is_printed;
}

int main(int argument_count, char **arguments) {
    quire_model *model = quire_model_create();
    quire_store *store = NULL;
    quire_context *context = NULL;
    double place[] = {52.52, 13.40, 170};
    for (int i = 0; i < 3 && i + 1 < argument_count; i++) place[i] = strtod(arguments[i + 1], NULL);
    setvbuf(stdout, NULL, _IOLBF, 0);
    bool is_done = register_functions()
                && ok(quire_model_add_entity(model, "Town", QUIRE_NUL, NULL, &error))
                && add_attribute(model, "name", QUIRE_TYPE_STRING) && add_attribute(model, "latitude", QUIRE_TYPE_DOUBLE)
                && add_attribute(model, "longitude", QUIRE_TYPE_DOUBLE)
                && ok(quire_store_open(":memory:", QUIRE_NUL, model, NULL, &store, &error))
                && ok(quire_context_create(store, &context, &error))
                && add_towns(context) && print_near(context, place[0], place[1], place[2])
                && print_alike(context, "Barlen", quire_value_text("Barlen"))
                && print_alike(context, "Draisden", quire_value_text("Draisden"))
                /* The function refuses this, and the fetch fails with its reason. */
                && !print_alike(context, "a number", quire_value_integer(42));
    quire_context_release(context);
    quire_store_release(store);
    quire_model_release(model);
    return is_done ? 0 : 1;
}
