#include "filters.h"

#include <math.h>
#include <string.h>

#define EACH(facts, kind, name) \
    for (const thing *name = (facts)->things[kind]; name < (facts)->things[kind] + MOST_THINGS; name++) \
        if (name->exists)

#define FILTER(name) static bool name(const facts *facts __attribute__((unused)), const thing *it __attribute__((unused)))

static int slot_in(const facts *facts, int kind, const thing *thing) { return (int)(thing - facts->things[kind]); }
static bool is(const char *text, const char *other) { return text && strcmp(text, other) == 0; }
static bool has_tag(const facts *facts, const thing *book, const thing *tag) {
    return book->tags >> slot_in(facts, TAG, tag) & 1;
}
static bool wrote(const facts *facts, const thing *person, const thing *book) {
    return book->holder == slot_in(facts, PERSON, person);
}

const thing *holder_of(const facts *facts, int kind, const thing *thing) {
    return thing && thing->holder >= 0 ? &facts->things[kind + 1][thing->holder] : NULL;
}
static const thing *author_of(const facts *facts, const thing *book) { return holder_of(facts, BOOK, book); }
static const thing *city_of(const facts *facts, const thing *person) { return holder_of(facts, PERSON, person); }

int count_books(const facts *facts, const thing *person) {
    int count = 0;
    EACH(facts, BOOK, book) count += wrote(facts, person, book);
    return count;
}

static int count_people(const facts *facts, const thing *city) {
    int count = 0;
    EACH(facts, PERSON, person) count += person->holder == slot_in(facts, CITY, city);
    return count;
}

static bool has_tag_named(const facts *facts, const thing *book, const char *name) {
    EACH(facts, TAG, tag) if (has_tag(facts, book, tag) && is(text_of(tag, 0), name)) return true;
    return false;
}

static bool has_tag_above(const facts *facts, const thing *book, double weight) {
    EACH(facts, TAG, tag) if (has_tag(facts, book, tag) && number_of(tag, 1) > weight) return true;
    return false;
}

/* The greatest weight; NaN for none. */
static double most_weight(const facts *facts, const thing *book) {
    double most = NAN;
    EACH(facts, TAG, tag) if (has_tag(facts, book, tag) && !(number_of(tag, 1) <= most) && !isnan(number_of(tag, 1)))
        most = number_of(tag, 1);
    return most;
}

static double sum_of_weights(const facts *facts, const thing *book) {
    double sum = 0;
    EACH(facts, TAG, tag) if (has_tag(facts, book, tag) && !isnan(number_of(tag, 1))) sum += number_of(tag, 1);
    return sum;
}

static double sum_of_prices(const facts *facts, const thing *person) {
    double sum = 0;
    EACH(facts, BOOK, book) if (wrote(facts, person, book) && !isnan(number_of(book, 1))) sum += number_of(book, 1);
    return sum;
}

static bool has_book_above(const facts *facts, const thing *person, double price) {
    EACH(facts, BOOK, book) if (wrote(facts, person, book) && number_of(book, 1) > price) return true;
    return false;
}

FILTER(anything) { return true; }

/* --- Books. */

FILTER(is_dear) { return number_of(it, 1) > 10; }
FILTER(is_untitled) { return !text_of(it, 0) || strncmp(text_of(it, 0), "An", 2) == 0; }
FILTER(is_by_ann) { return author_of(facts, it) && is(text_of(author_of(facts, it), 0), "Ann"); }
FILTER(is_by_an_elder) { return author_of(facts, it) && number_of(author_of(facts, it), 1) > 10; }
FILTER(is_by_nobody) { return !author_of(facts, it); }
FILTER(is_from_a_town) {
    const thing *city = city_of(facts, author_of(facts, it));
    return city && number_of(city, 1) >= 10;
}
FILTER(is_not_from_bob) {
    const thing *city = city_of(facts, author_of(facts, it));
    return !city || !(is(text_of(city, 0), "Bob") || is(text_of(city, 0), "Zoe"));
}
FILTER(has_ann) { return has_tag_named(facts, it, "Ann"); }
FILTER(has_nothing_heavy) { return !has_tag_above(facts, it, 20); }
FILTER(has_all_heavy) {
    EACH(facts, TAG, tag) if (has_tag(facts, it, tag) && !(number_of(tag, 1) > 0)) return false;
    return true;
}
FILTER(has_tags) { return __builtin_popcount(it->tags) > 1; }
FILTER(has_named_heavy) {
    EACH(facts, TAG, tag) if (has_tag(facts, it, tag) && number_of(tag, 1) > 0 && text_of(tag, 0)) return true;
    return false;
}
FILTER(has_much) { return sum_of_weights(facts, it) > 20; }
FILTER(has_forty) { return most_weight(facts, it) == 40; }
FILTER(is_by_a_writer) { return author_of(facts, it) && count_books(facts, author_of(facts, it)) > 2; }
FILTER(has_dear_fellow) { return author_of(facts, it) && has_book_above(facts, author_of(facts, it), 30); }
FILTER(has_tagged_fellow) {
    const thing *author = author_of(facts, it);
    if (author) EACH(facts, BOOK, book) if (wrote(facts, author, book) && number_of(book, 1) > 0 && has_tag_named(facts, book, "Ann"))
        return true;
    return false;
}
FILTER(is_from_a_crowd) {
    const thing *city = city_of(facts, author_of(facts, it));
    return city && count_people(facts, city) > 1;
}
FILTER(shares_a_cheap_tag) {
    EACH(facts, TAG, tag) if (has_tag(facts, it, tag)) {
        EACH(facts, BOOK, book) if (has_tag(facts, book, tag) && number_of(book, 1) < 10) return true;
    }
    return false;
}
FILTER(is_dear_and_bare) { return number_of(it, 1) > 0 && !it->tags; }
FILTER(is_among_elders) {
    const thing *city = city_of(facts, author_of(facts, it));
    if (city) EACH(facts, PERSON, person) if (person->holder == slot_in(facts, CITY, city) && number_of(person, 1) > 30) return true;
    return false;
}

/* --- Persons. */

FILTER(is_old) { return number_of(it, 1) > 10; }
FILTER(has_books) { return count_books(facts, it) > 1; }
FILTER(has_dear_book) { return has_book_above(facts, it, 20); }
FILTER(has_book_with_ann) {
    EACH(facts, BOOK, book) if (wrote(facts, it, book) && has_tag_named(facts, book, "Ann")) return true;
    return false;
}
FILTER(has_dear_tagged_book) {
    EACH(facts, BOOK, book) if (wrote(facts, it, book) && number_of(book, 1) > 10 && book->tags) return true;
    return false;
}
FILTER(lives_in_ann) { return city_of(facts, it) && is(text_of(city_of(facts, it), 0), "Ann"); }
FILTER(earns_much) { return sum_of_prices(facts, it) > 40; }
FILTER(has_all_titled) {
    EACH(facts, BOOK, book) if (wrote(facts, it, book) && !text_of(book, 0)) return false;
    return true;
}
FILTER(has_neighbours) { return city_of(facts, it) && count_people(facts, city_of(facts, it)) > 1; }
FILTER(writes_nothing_heavy) {
    EACH(facts, BOOK, book) if (wrote(facts, it, book) && has_tag_above(facts, book, 20)) return false;
    return true;
}
FILTER(has_nameless_city) { return !city_of(facts, it) || !text_of(city_of(facts, it), 0); }

/* --- Tags. */

static int count_tagged(const facts *facts, const thing *tag) {
    int count = 0;
    EACH(facts, BOOK, book) count += has_tag(facts, book, tag);
    return count;
}
FILTER(is_used) { return count_tagged(facts, it) > 1; }
FILTER(is_anns) {
    EACH(facts, BOOK, book) if (has_tag(facts, book, it) && is_by_ann(facts, book)) return true;
    return false;
}
FILTER(is_heavy) { return number_of(it, 1) > 10; }
FILTER(is_of_dear_books) {
    int count = 0;
    EACH(facts, BOOK, book) count += has_tag(facts, book, it) && number_of(book, 1) > 10 && is_by_an_elder(facts, book);
    return count > 0;
}

const filter filters[] = {
    {BOOK, "TRUEPREDICATE", anything},
    {BOOK, "price > 10", is_dear},
    {BOOK, "title == nil OR title BEGINSWITH 'An'", is_untitled},
    {BOOK, "author.name == 'Ann'", is_by_ann},
    {BOOK, "author.age > 10", is_by_an_elder},
    {BOOK, "author == nil", is_by_nobody},
    {BOOK, "author.city.size >= 10", is_from_a_town},
    {BOOK, "NOT (author.city.name IN {'Bob', 'Zoe'})", is_not_from_bob},
    {BOOK, "ANY tags.name == 'Ann'", has_ann},
    {BOOK, "NONE tags.weight > 20", has_nothing_heavy},
    {BOOK, "ALL tags.weight > 0", has_all_heavy},
    {BOOK, "tags.@count > 1", has_tags},
    {BOOK, "SUBQUERY(tags, $t, $t.weight > 0 AND $t.name != nil).@count >= 1", has_named_heavy},
    {BOOK, "tags.@sum.weight > 20", has_much},
    {BOOK, "tags.@max.weight == 40", has_forty},
    {BOOK, "author.books.@count > 2", is_by_a_writer},
    {BOOK, "ANY author.books.price > 30", has_dear_fellow},
    {BOOK, "SUBQUERY(author.books, $b, $b.price > 0 AND ANY $b.tags.name == 'Ann').@count > 0", has_tagged_fellow},
    {BOOK, "author.city.people.@count > 1", is_from_a_crowd},
    {BOOK, "ANY tags.books.price < 10", shares_a_cheap_tag},
    {BOOK, "price > 0 AND tags.@count == 0", is_dear_and_bare},
    {BOOK, "ANY author.city.people.age > 30", is_among_elders},
    {PERSON, "TRUEPREDICATE", anything},
    {PERSON, "age > 10", is_old},
    {PERSON, "books.@count > 1", has_books},
    {PERSON, "ANY books.price > 20", has_dear_book},
    {PERSON, "ANY books.tags.name == 'Ann'", has_book_with_ann},
    {PERSON, "SUBQUERY(books, $b, $b.price > 10 AND $b.tags.@count > 0).@count > 0", has_dear_tagged_book},
    {PERSON, "city.name == 'Ann'", lives_in_ann},
    {PERSON, "books.@sum.price > 40", earns_much},
    {PERSON, "ALL books.title != nil", has_all_titled},
    {PERSON, "city.people.@count > 1", has_neighbours},
    {PERSON, "NONE books.tags.weight > 20", writes_nothing_heavy},
    {PERSON, "city.name == nil", has_nameless_city},
    {TAG, "TRUEPREDICATE", anything},
    {TAG, "books.@count > 1", is_used},
    {TAG, "ANY books.author.name == 'Ann'", is_anns},
    {TAG, "weight > 10", is_heavy},
    {TAG, "SUBQUERY(books, $b, $b.price > 10 AND $b.author.age > 10).@count > 0", is_of_dear_books},
};
const int filter_count = sizeof filters / sizeof filters[0];
