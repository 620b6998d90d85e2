#include "fixture.h"

/* Books with and without a title; every third has none, and one is of characters beyond ASCII. */
static quire_page *books(fixture made, int count, uint32_t flags) {
    const char *const keys[] = {"title", "pages"};
    for (int i = 0; i < count; i++) {
        quire_object *book = insert_book(made.context, i % 2 ? "Egmont" : "F\xC3\xA4ust", 100 + i);
        if (i % 3 == 2) set_value(book, "title", quire_value_nil());
        quire_object_release(book);
    }
    quire_list *list = fetch(made.context, "Book", NULL, "pages");
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, quire_list_count(list), keys, 2, flags, &page, &error));
    quire_list_release(list);
    return page;
}

static bool has_value(const struct ArrowArray *array, int64_t row) {
    const uint8_t *validity = array->buffers[0];
    row += array->offset;
    return !validity || validity[row / 8] >> (row % 8) & 1;
}

static bool is_text(const struct ArrowArray *array, int64_t row, const char *text) {
    const int64_t *offsets = (const int64_t *)array->buffers[1] + array->offset;
    int64_t size = offsets[row + 1] - offsets[row];
    return size == (int64_t)strlen(text) && memcmp((const char *)array->buffers[2] + offsets[row], text, (size_t)size) == 0;
}

static void check_books(const struct ArrowArray *array, int64_t first) {
    CHECK(array->n_children == 2 && array->n_buffers == 1 && array->buffers[0] == NULL && array->offset == 0);
    const struct ArrowArray *titles = array->children[0], *pages = array->children[1];
    CHECK(titles->length == array->length && titles->n_buffers == 3 && pages->n_buffers == 2 && pages->null_count == 0);
    for (int64_t row = 0; row < array->length; row++) {
        int64_t i = first + row;
        CHECK(has_value(titles, row) == (i % 3 != 2));
        CHECK(is_text(titles, row, i % 3 == 2 ? "" : i % 2 ? "Egmont" : "F\xC3\xA4ust"));
        CHECK(((const int64_t *)pages->buffers[1])[pages->offset + row] == 100 + i);
    }
}

static void arrays_outlive_page_and_store(void) {
    for (uint32_t flags = 0; flags < 2; flags++) {
        fixture made = open_fixture();
        quire_page *page = books(made, 20, flags);
        struct ArrowSchema schema;
        struct ArrowArray array;
        CHECK_OK(quire_page_export_arrow(page, -1, &schema, &array, &error));
        CHECK(array.children[1]->buffers[1] == quire_page_column(page, 1)->values);
        CHECK(array.children[0]->buffers[0] == quire_page_column(page, 0)->validity && array.children[0]->null_count == 6);
        quire_page_release(page);
        close_fixture(made);
        CHECK(strcmp(schema.format, "+s") == 0 && schema.n_children == 2 && strcmp(schema.children[0]->format, "U") == 0);
        CHECK(strcmp(schema.children[0]->name, "title") == 0 && strcmp(schema.children[1]->format, "l") == 0);
        CHECK(schema.children[0]->flags == ARROW_FLAG_NULLABLE);
        check_books(&array, 0);
        schema.release(&schema);
        /* A child may be moved away, and then outlives its parent. */
        struct ArrowArray pages = *array.children[1];
        array.children[1]->release = NULL;
        array.release(&array);
        CHECK(array.release == NULL && schema.release == NULL && ((const int64_t *)pages.buffers[1])[19] == 119);
        pages.release(&pages);
        CHECK(pages.release == NULL);
    }
}

static void streams_slice_the_rows(void) {
    fixture made = open_fixture();
    quire_page *page = books(made, 20, QUIRE_PAGE_NUL_SEPARATED);
    const int64_t steps[] = {0, 1, 3, 20, INT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        struct ArrowArrayStream stream;
        CHECK_OK(quire_page_stream_arrow(page, -1, steps[i], &stream, &error));
        struct ArrowSchema schema;
        CHECK(stream.get_schema(&stream, &schema) == 0 && schema.n_children == 2);
        schema.release(&schema);
        int64_t rows = 0;
        for (;;) {
            struct ArrowArray array;
            CHECK(stream.get_next(&stream, &array) == 0);
            if (!array.release) break;
            CHECK(array.length > 0 && (steps[i] == 0 || array.length <= steps[i]));
            check_books(&array, rows);
            rows += array.length;
            array.release(&array);
        }
        CHECK(rows == 20);
        stream.release(&stream);
        CHECK(stream.release == NULL);
    }
    quire_page_release(page);
    close_fixture(made);
}

static void pages_without_rows_are_empty_streams(void) {
    fixture made = open_fixture();
    quire_page *page = books(made, 0, 0);
    struct ArrowArrayStream stream;
    struct ArrowArray array;
    CHECK_OK(quire_page_stream_arrow(page, -1, 5, &stream, &error));
    CHECK(stream.get_next(&stream, &array) == 0 && array.release == NULL);
    stream.release(&stream);
    CHECK_OK(quire_page_export_arrow(page, 0, NULL, &array, &error));
    CHECK(array.length == 0 && *(const int64_t *)array.buffers[1] == 0);
    array.release(&array);
    quire_page_release(page);
    close_fixture(made);
}

static void mistakes_are_refused(void) {
    fixture made = open_fixture();
    quire_page *page = books(made, 1, 0);
    struct ArrowSchema schema;
    struct ArrowArrayStream stream;
    const int64_t places[] = {-2, 2, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_page_export_arrow(page, places[i], &schema, NULL, &error));
        CHECK(schema.release == NULL);
        CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_page_stream_arrow(page, places[i], 0, &stream, &error));
        CHECK(stream.release == NULL);
    }
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_page_stream_arrow(page, -1, -1, &stream, &error));
    quire_page_release(page);
    close_fixture(made);
}

static quire_object *everything(fixture made, const char *decimal, double moment) {
    quire_object *object = insert(made.context, "Everything");
    if (decimal) set_value(object, "decimal", quire_value_decimal(decimal));
    set_value(object, "moment", quire_value_date(moment));
    set_value(object, "flag", quire_value_boolean(moment > 0));
    return object;
}

static void values_are_laid_out_as_arrow_has_them(void) {
    fixture made = open_fixture();
    quire_object *objects[] = {
        everything(made, "-1.25", -0.5), everything(made, NULL, 12.5), everything(made, "12e3", 0.0000005)};
    const char *const keys[] = {"decimal", "moment", "flag"};
    quire_list *list = fetch(made.context, "Everything", NULL, "moment");
    quire_page *page = NULL;
    CHECK_OK(quire_list_page(list, 0, 3, keys, 3, 0, &page, &error));
    struct ArrowSchema schema;
    struct ArrowArray array;
    CHECK_OK(quire_page_export_arrow(page, -1, &schema, &array, &error));
    CHECK(strcmp(schema.children[0]->format, "d:38,2") == 0 && strcmp(schema.children[1]->format, "tsu:UTC") == 0);
    const int64_t *decimals = array.children[0]->buffers[1], *moments = array.children[1]->buffers[1];
    CHECK(decimals[0] == -125 && decimals[1] == -1 && decimals[2] == 1200000 && decimals[3] == 0);
    CHECK(moments[0] == -500000 && moments[1] == 0 && moments[2] == 12500000);
    CHECK(strcmp(schema.children[2]->format, "b") == 0 && *(const uint8_t *)array.children[2]->buffers[1] == 6);
    schema.release(&schema);
    array.release(&array);
    quire_page_release(page);

    /* No type has room for both numbers, and no timestamp for the date. */
    set_value(objects[0], "decimal", quire_value_decimal("1e-30"));
    set_value(objects[1], "decimal", quire_value_decimal("1e30"));
    set_value(objects[1], "moment", quire_value_date(1e13));
    CHECK_OK(quire_list_page(list, 0, 3, keys, 3, 0, &page, &error));
    CHECK_OK(quire_page_export_arrow(page, 0, &schema, NULL, &error));
    CHECK(strcmp(schema.format, "U") == 0);
    schema.release(&schema);
    CHECK_FAILS(QUIRE_INVALID_ARGUMENT, quire_page_export_arrow(page, 1, &schema, &array, &error));
    quire_page_release(page);
    quire_list_release(list);
    for (int i = 0; i < 3; i++) quire_object_release(objects[i]);
    close_fixture(made);
}

int main(int argument_count, char **arguments) {
    read_arguments(argument_count, arguments);
    RUN(arrays_outlive_page_and_store);
    RUN(streams_slice_the_rows);
    RUN(pages_without_rows_are_empty_streams);
    RUN(mistakes_are_refused);
    RUN(values_are_laid_out_as_arrow_has_them);
    return RESULT();
}
