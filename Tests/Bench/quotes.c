/* Rows of {author text, title text, created date, price double}, fifty to an author, scattered; an index on author. */
#include "bench.h"

title_words words = {"Title", "of the collected works"};
bool is_searchable;
bool has_tags;
bool has_ratings;

void make_sample(int64_t place, int64_t rows, sample *out) {
    /* A multiplication by a large odd number scatters the authors and titles over the rows. */
    const uint64_t mixed = (uint64_t)place * 0x9E3779B97F4A7C15u >> 20;
    const int64_t author_count = rows / 50 > 0 ? rows / 50 : 1;
    snprintf(out->author, sizeof out->author, "Author %06llu", (unsigned long long)(mixed % (uint64_t)author_count));
    snprintf(out->title, sizeof out->title, "%s %llu %s", words.before, (unsigned long long)(mixed % 100000007u),
        words.after);
    out->created = 1.5e9 + (double)(mixed % 100000000u);
    out->price = (double)(mixed % 100000u) / 100;
}

static const char *const keys[] = {"author", "title", "created", "price"};

static void add_tags(quire_model *model) {
    quire_attribute_options attribute = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    quire_relationship_options relationship = QUIRE_RELATIONSHIP_OPTIONS_INIT;
    attribute.is_optional = relationship.is_optional = relationship.is_to_many = true;
    OK(quire_model_add_entity(model, "Tag", QUIRE_NUL, NULL, &error));
    OK(quire_model_add_attribute(model, "Tag", QUIRE_NUL, "name", QUIRE_NUL, QUIRE_TYPE_STRING, &attribute, &error));
    relationship.inverse = "quotes";
    OK(quire_model_add_relationship(model, "Quote", 5, "tags", 4, "Tag", 3, &relationship, &error));
    relationship.inverse = "tags";
    OK(quire_model_add_relationship(model, "Tag", 3, "quotes", 6, "Quote", 5, &relationship, &error));
    const quire_index_element name = {"name", false};
    OK(quire_model_add_fetch_index(model, "Tag", QUIRE_NUL, "byName", QUIRE_NUL, &name, 1, &error));
}

quire_model *new_model(void) {
    static const quire_attribute_type types[] = {QUIRE_TYPE_STRING, QUIRE_TYPE_STRING, QUIRE_TYPE_DATE, QUIRE_TYPE_DOUBLE};
    quire_model *model = quire_model_create();
    quire_attribute_options options = QUIRE_ATTRIBUTE_OPTIONS_INIT;
    options.is_optional = true;
    OK(quire_model_add_entity(model, "Quote", QUIRE_NUL, NULL, &error));
    for (int i = 0; i < 4; i++) {
        options.is_searchable = is_searchable && i == 1;
        OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, keys[i], QUIRE_NUL, types[i], &options, &error));
    }
    if (has_ratings) {
        const quire_value three = quire_value_integer(3);
        options.is_searchable = false;
        options.default_value = &three;
        OK(quire_model_add_attribute(model, "Quote", QUIRE_NUL, "rating", QUIRE_NUL, QUIRE_TYPE_INTEGER_64, &options, &error));
    }
    const quire_index_element author = {"author", false};
    OK(quire_model_add_fetch_index(model, "Quote", QUIRE_NUL, "by_author", QUIRE_NUL, &author, 1, &error));
    if (has_tags) add_tags(model);
    return model;
}

opened open_store(const char *path) {
    opened made = {new_model(), NULL, NULL};
    quire_store_options options = QUIRE_STORE_OPTIONS_INIT;
    options.relaxed_durability = true;
    OK(quire_store_open(path, QUIRE_NUL, made.model, &options, &made.store, &error));
    OK(quire_context_create(made.store, &made.context, &error));
    return made;
}

void close_store(opened made) {
    quire_context_release(made.context);
    quire_store_release(made.store);
    quire_model_release(made.model);
}

void insert_objects(const char *path, int64_t rows) {
    opened made = open_store(path);
    sample sample;
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &sample);
        const quire_value values[] = {quire_value_text(sample.author), quire_value_text(sample.title), quire_value_date(sample.created),
            quire_value_double(sample.price)};
        quire_object *object = NULL;
        OK(quire_context_insert(made.context, "Quote", 5, &object, &error));
        OK(quire_object_set_values(object, keys, values, 4, &error));
        quire_object_release(object);
        if ((i + 1) % SAVED_AT_ONCE == 0) OK(quire_context_save(made.context, &error));
    }
    OK(quire_context_save(made.context, &error));
    close_store(made);
}

void insert_columns(const char *path, int64_t rows) {
    opened made = open_store(path);
    sample *samples = malloc(sizeof *samples * (size_t)rows);
    quire_value *values = malloc(sizeof *values * 4 * (size_t)rows);
    CHECK(samples && values);
    const quire_value *const columns[] = {values, values + rows, values + 2 * rows, values + 3 * rows};
    for (int64_t i = 0; i < rows; i++) {
        make_sample(i, rows, &samples[i]);
        values[i] = quire_value_text(samples[i].author);
        values[rows + i] = quire_value_text(samples[i].title);
        values[2 * rows + i] = quire_value_date(samples[i].created);
        values[3 * rows + i] = quire_value_double(samples[i].price);
    }
    for (int64_t i = 0; i < rows; i += SAVED_AT_ONCE) {
        const quire_value *const some[] = {columns[0] + i, columns[1] + i, columns[2] + i, columns[3] + i};
        const int64_t count = rows - i < SAVED_AT_ONCE ? rows - i : SAVED_AT_ONCE;
        OK(quire_context_batch_insert(made.context, "Quote", 5, keys, some, 4, (size_t)count, NULL, NULL, NULL, &error));
    }
    free(values);
    free(samples);
    close_store(made);
}

void prepare_file(int64_t rows) {
    const bool is_plain = !is_searchable && !has_tags && strcmp(words.before, "Title") == 0;
    remove_files();
    if (!is_plain || !copy_prepared("quire", rows, path)) insert_columns(path, rows);
}

void prepare_tags(int64_t rows) {
    sqlite3 *database = open_database(path);
    SQL_OK(sqlite3_exec(database, "BEGIN", NULL, NULL, NULL));
    sqlite3_stmt *tag = prepare(database, "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (?1, 2, 1, printf('Tag %03d', ?1))");
    for (int i = 1; i <= 200; i++) {
        sqlite3_bind_int(tag, 1, i);
        CHECK(sqlite3_step(tag) == SQLITE_DONE);
        sqlite3_reset(tag);
    }
    sqlite3_finalize(tag);
    sqlite3_stmt *pair = prepare(database, "INSERT INTO Z_1TAGS (Z_1QUOTES, Z_2TAGS) VALUES (?, ?)");
    for (int64_t i = 1; i <= rows; i++) {
        const uint64_t first = ((uint64_t)i * 0x9E3779B97F4A7C15u >> 20) % 200;
        const uint64_t tags[] = {first, (first + 1 + (uint64_t)i % 199) % 200};
        for (int k = 0; k < 2; k++) {
            sqlite3_bind_int64(pair, 1, i);
            sqlite3_bind_int64(pair, 2, (int64_t)tags[k] + 1);
            CHECK(sqlite3_step(pair) == SQLITE_DONE);
            sqlite3_reset(pair);
        }
    }
    sqlite3_finalize(pair);
    SQL_OK(sqlite3_exec(database, "UPDATE Z_PRIMARYKEY SET Z_MAX = 200 WHERE Z_ENT = 2; COMMIT", NULL, NULL, NULL));
    SQL_OK(sqlite3_close(database));
}
