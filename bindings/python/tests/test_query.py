"""Queries and predicates."""

import random
import unittest
from array import array

import quire
from support import Animal, Author, Cat, Dog, Everything, Kitten, Quote, StoreTestCase, day


class QueryTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        goethe, schiller = (self.context.add(Author(name=name)) for name in ("Goethe", "Schiller"))
        self.authors = [goethe, schiller, None]
        for number in range(30):
            self.quote(
                f"text {number:02d}", author=self.authors[number % 3], created_at=day(number), price=number / 2,
                note=None if number % 2 else "even")
        self.context.save()
        self.query = self.context.query(Quote)

    def test_a_query_is_immutable_and_reads_when_asked(self):
        cheap = self.query.where("price < %f", 3)
        self.assertEqual(self.query.count(), 30)
        self.assertEqual(cheap.count(), 6)
        self.quote("new", price=0)
        self.assertEqual(cheap.count(), 7)

    def test_subentities_and_pending_changes_are_left_out_on_request(self):
        for animal in (Cat(name="any"), Kitten(name="small")):
            self.context.add(animal)
        animals = self.context.query(Cat)
        self.assertEqual((animals.count(), animals.excluding_subentities().count()), (2, 1))
        self.assertEqual(animals.excluding_pending_changes().count(), 0)
        self.context.save()
        self.assertEqual([each.name for each in animals.excluding_subentities()], ["any"])
        self.quote("new", price=0)
        self.query.where("price == 14.5").one().price = 0
        cheap = self.query.where("price == 0").order_by(Quote.contents)
        self.assertEqual([quote.contents for quote in cheap], ["new", "text 00", "text 29"])
        self.assertEqual([quote.contents for quote in cheap.excluding_pending_changes()], ["text 00"])
        with self.assertRaises(quire.Unsupported):
            cheap.excluding_pending_changes().live()

    def test_conditions_add_up(self):
        found = self.query.where("price < 3 OR price > 14").where("note == %@", "even")
        found = found.where("author.name == %@", "Goethe")
        self.assertEqual([quote.contents for quote in found], ["text 00"])

    def test_arguments_go_to_their_own_conditions(self):
        query = self.query.where("%K > %d", "price", 5).where("%K < %f", Quote.price, 6.0)
        self.assertEqual([quote.price for quote in query], [5.5])

    def test_an_object_can_be_an_argument(self):
        goethe = self.authors[0]
        self.assertEqual(self.query.where("author == %@", goethe).count(), 10)
        self.assertEqual(self.query.where("author == %@", None).count(), 10)
        self.assertEqual(self.query.where("author IN %@", self.authors[:2]).count(), 20)
        new = self.context.add(Author(name="new"))
        query = self.query.where("author == %@", new)
        quote = self.quote(author=new)
        self.assertEqual(query.all(), [quote])
        self.context.save()
        self.assertEqual(query.all(), [quote])

    def test_lists_can_be_arguments(self):
        for values in ([1.0, 2.0], (1.0, 2.0), {1.0, 2.0}, array("d", [1, 2]), range(1, 3)):
            self.assertEqual(self.query.where("price IN %@", values).count(), 2)
        self.assertEqual(self.query.where("price IN %@", []).count(), 0)
        self.assertEqual(self.query.where("price BETWEEN %@", [1, 2]).count(), 3)

    def test_an_argument_stays_what_it_was(self):
        prices = [1.0]
        queries = [
            self.query.where("price IN %@", iter([1.0])), self.query.where("price IN %@", (n for n in prices)),
            self.query.where(quire.Predicate("price IN %@", prices)),
            self.query.where("price IN %@", self.query.where("price == 1").columns("price")["price"])]
        prices.append(2.0)
        for query in queries:
            for _ in range(2):
                self.assertEqual(query.count(), 1)
        self.assertEqual(quire.Predicate("price IN %@", {1.0}).arguments, ((1.0,),))

    def test_whole_numbers_of_other_libraries_are_arguments(self):
        class Number:
            def __index__(self):
                return 3

        self.assertEqual(self.query.where("price < %d", Number()).count(), 6)
        self.assertEqual(len(self.query.limit(Number()).offset(Number())[Number():]), 0)
        self.assertEqual(self.query[Number()].price, 1.5)

    def test_text_orders_as_people_read_it(self):
        for contents in ("Zoo", "apple", "ära", "Apple", "File 10", "File 9"):
            self.quote(contents, price=-1)
        key = Quote.contents
        for saved in (False, True):
            for order, expected in (
                (key.asc(), ["Apple", "File 10", "File 9", "Zoo", "apple", "ära"]),
                (key.asc("case-insensitive"), ["apple", "Apple", "File 10", "File 9", "Zoo", "ära"]),
                (key.asc("localized"), ["apple", "Apple", "ära", "File 10", "File 9", "Zoo"]),
                (key.desc("localized-standard", locale="sv"), ["ära", "Zoo", "File 10", "File 9", "Apple", "apple"]),
                (quire.Order("contents", text="localized-standard"),
                 ["apple", "Apple", "ära", "File 9", "File 10", "Zoo"]),
            ):
                with self.subTest(order=order, saved=saved):
                    found = self.query.where("price < 0").order_by(order)
                    self.assertEqual([each.contents for each in found], expected)
            self.context.save()
        with self.assertRaises(quire.InvalidArgument):
            key.asc("alphabetical")
        with self.assertRaises(quire.InvalidArgument):
            self.query.order_by(key.asc("localized", locale="nowhere")).all()
        for wrong, error, message in (
            ("de\0x", quire.InvalidArgument, "U\\+0000"), (3, quire.WrongType, "a locale is a text, not int"),
            ("\ud800", quire.InvalidText, "UTF-8"),
        ):
            with self.assertRaisesRegex(error, message):
                key.asc("localized", locale=wrong)
        with self.assertRaisesRegex(quire.WrongType, "the key path of an order is a text, not int"):
            quire.Order(3)

    def test_order_by_takes_keys_and_text(self):
        for query in (
            self.query.order_by(Quote.note, Quote.price.desc()), self.query.order_by("note", "-price"),
            self.query.order_by(Quote.note.asc()).order_by("-price"),
        ):
            self.assertEqual(query.first().price, 14.5)
            self.assertEqual(query[15].price, 14.0)
        self.assertEqual(self.query.order_by("author.name", "-price").first().price, 14.5)
        with self.assertRaises(quire.InvalidArgument):
            self.query.order_by("nothing").all()
        with self.assertRaises(quire.InvalidArgument):
            self.query.order_by("")
        with self.assertRaises(TypeError):
            self.query.order_by(5)

    def test_slices_and_places_agree_with_a_list(self):
        query = self.query.order_by("-price")
        everything = query.all()
        self.assertEqual(list(query), everything)
        chance = random.Random(5)
        for _ in range(60):
            start, stop = chance.choice([None, *range(35)]), chance.choice([None, *range(35)])
            self.assertEqual(query[start:stop], everything[start:stop], (start, stop))
            limit, offset = chance.choice([None, *range(35)]), chance.randrange(35)
            window = query.limit(limit).offset(offset)
            expected = everything[offset:][:limit]
            self.assertEqual(window.all(), expected)
            self.assertEqual(window[start:stop], expected[start:stop], (start, stop, limit, offset))
            self.assertEqual(window.count(), len(expected))
            self.assertEqual(window.exists(), bool(expected))
            self.assertIs(window.first(), expected[0] if expected else None)
        self.assertIs(query[29], everything[29])
        with self.assertRaises(IndexError):
            query[30]
        for wrong in (slice(-1, None), slice(None, -1), slice(0, 9, 2), -1):
            with self.assertRaises(quire.InvalidArgument):
                query[wrong]
        for wrong in (1.0, "x", None, slice("x", None), slice(None, 1.5)):
            with self.assertRaises(TypeError):
                query[wrong]

    def test_a_limit_of_0_is_none_whatever_is_asked_for(self):
        self.context.save()
        nothing = self.query.order_by(Quote.price).limit(0)
        everything = self.query.order_by(Quote.price)
        for query in nothing, nothing.offset(2), everything.offset(99), nothing.where("price > 1"):
            for limited in query, query.batch_size(3), query.prefetch(Quote.author), query.refreshing():
                self.assertEqual((limited.all(), list(limited), limited[:5], limited[2:]), ([], [], [], []))
                self.assertEqual((limited.first(), limited.count(), limited.exists()), (None, 0, False))
                with self.assertRaises(quire.NotFound):
                    limited.one()
                with self.assertRaises(IndexError):
                    limited[0]
            self.assertEqual((len(query.ids()), query.values(), query.dictionaries("price")), (0, [], []))
            self.assertEqual(len(query.columns("price")["price"]), 0)
            live = query.live(section_by=Quote.note)
            self.assertEqual((len(live), len(live.sections), list(live)), (0, 0, []))
            self.assertEqual((query.update(price=7), query.delete()), (0, 0))
        self.assertEqual((self.query.where("price == 7").count(), everything.count()), (1, 30))
        live = everything.live()
        live.set_query(nothing)
        self.assertEqual(len(live), 0)
        live.set_query(nothing.limit(None))
        self.assertEqual(len(live), 30)

    def test_a_query_is_neither_true_nor_false(self):
        for query in self.query, self.query.where("price == 99"), self.query.limit(0):
            for ask in (lambda: bool(query), lambda: not query, lambda: query or None):
                with self.assertRaisesRegex(quire.WrongType, r"exists\(\)"):
                    ask()

    def test_a_query_has_no_length_before_it_runs(self):
        with self.assertRaisesRegex(quire.WrongType, r"count\(\)"):
            len(self.query)
        self.assertEqual(len(list(self.query)), 30)

    def test_None_takes_a_limit_back(self):
        self.assertEqual(self.query.limit(2).limit(None).count(), 30)
        self.assertEqual(repr(self.query.limit(0)), "<Query Quote.limit(0)>")
        self.assertEqual(repr(self.query.limit(0).limit(None)), "<Query Quote>")
        for wrong in -1, 2**63:
            with self.assertRaises(quire.InvalidArgument):
                self.query.limit(wrong)
        for wrong in "2", 1.5:
            with self.assertRaises(TypeError):
                self.query.limit(wrong)
        with self.assertRaises(TypeError):
            self.query.offset(None)

    def test_places_beyond_all_lists_are_empty(self):
        for place in (2**63 - 1, 2**63, 2**64, 2**200):
            self.assertEqual(self.query[place:], [])
            self.assertEqual(self.query.offset(2)[place - 1:], [])
            self.assertEqual(len(self.query[:place]), 30)
            with self.assertRaises(IndexError):
                self.query[place]

    def test_one_first_and_exists(self):
        self.assertEqual(self.query.where("price == 1").one().contents, "text 02")
        with self.assertRaisesRegex(quire.NotFound, r"where\('price == 99'\)"):
            self.query.where("price == 99").one()
        with self.assertRaises(quire.MultipleFound):
            self.query.one()
        with self.assertRaises(LookupError):
            self.query.one()
        self.assertIsNone(self.query.where("price == 99").first())
        self.assertTrue(self.query.exists())
        self.assertFalse(self.query.where("price == 99").exists())

    def test_ids_are_an_array(self):
        ids = self.query.order_by("-price").ids()
        self.assertIsInstance(ids, array)
        self.assertEqual(list(ids), [quote.id for quote in self.query.order_by("-price")])
        self.assertEqual(self.query.where("price == 99").ids(), array("q"))

    def test_values_are_tuples_with_pending_changes(self):
        self.query.where("price == 1").one().note = "pending"
        self.assertEqual(
            self.query.where("price <= 1").values(Quote.price, "note", "author.name", Quote.created_at, "author"),
            [(0.0, "even", "Goethe", day(0), self.authors[0].id), (0.5, None, "Schiller", day(1), self.authors[1].id),
             (1.0, "pending", None, day(2), None)])
        self.assertEqual(self.query.where("price == 99").values("note"), [])
        self.assertEqual(self.query.limit(1).values(), [("text 00", day(0), 0.0, "even")])
        self.assertEqual(self.query.limit(1).values("price", "price"), [(0.0, 0.0)])

    def test_columns_give_memory_without_a_copy(self):
        columns = self.query.columns(Quote.price, Quote.created_at, "note", "author")
        price = columns["price"]
        self.assertEqual(price.data.format, "d")
        self.assertTrue(price.data.readonly)
        self.assertEqual(price.data.tolist(), [number / 2 for number in range(30)])
        self.assertEqual(columns["created_at"][3], day(3))
        self.assertEqual(columns["created_at"].data[3], day(3).timestamp())
        self.assertEqual(columns["note"].to_list(), ["even", None] * 15)
        self.assertEqual((columns["note"].nil_count, columns["note"].valid), (15, [True, False] * 15))
        self.assertEqual(columns["author"].to_list(), [self.authors[0].id, self.authors[1].id, None] * 10)
        with self.assertRaisesRegex(TypeError, "holds no numbers"):
            columns["note"].data
        data = price.data
        del columns, price
        self.assertEqual(sum(data), sum(number / 2 for number in range(30)))
        self.assertEqual(self.query.where("price == 99").columns("price")["price"].data.tolist(), [])

    def test_batches_make_no_difference(self):
        for size in (1, 7, 30, 100):
            self.assertEqual(list(self.query.order_by("-price").batch_size(size)), self.query.order_by("-price").all())

    def test_a_list_that_is_iterated_stands_still(self):
        seen = []
        for quote in self.query.order_by("price").batch_size(4):
            seen.append(quote.price)
            if len(seen) == 3:
                self.quote("new", price=100)
                self.context.save()
        self.assertEqual(len(seen), 30)

    def test_a_row_that_vanishes_while_iterating_is_missed_only_when_it_is_read(self):
        other = self.store.create_context()
        found = []
        for quote in other.query(Quote).order_by("price").batch_size(10):
            found.append(quote)
            if len(found) == 1:
                self.context.delete(self.query.where("price == 10").one())
                self.context.save()
                other.merge()
        self.assertEqual(len(found), 30)
        with self.assertRaises(quire.NotFound):
            found[20].contents
        self.assertTrue(found[20].is_deleted)
        self.assertEqual(found[21].price, 10.5)

    def test_a_row_that_vanishes_and_could_be_of_several_classes_is_left_out(self):
        ids = [self.context.add(Dog(name=f"{n:02}")).id for n in range(30)]
        self.context.save()
        other = self.store.create_context()
        for saving in (self.context, other):
            names, found = [], other.query(Animal).order_by("name").batch_size(4)
            count = found.count()
            for animal in found:
                names.append(animal.name)
                if len(names) == 5:
                    saving.delete(saving.query(Animal).order_by("name")[10])
                    saving.save()
                    other.merge()
            self.assertEqual(len(names), count - 1)
        self.assertEqual(other.query(Animal).count(), len(ids) - 2)

    def test_what_is_deleted_and_not_saved_yet_still_comes(self):
        for n in range(30):
            self.context.add(Dog(name=f"{n:02}"))
        self.context.save()
        for model in (Animal, Quote):
            seen = []
            for each in self.context.query(model).batch_size(4):
                seen.append(each)
                if len(seen) == 5:
                    for other in self.context.query(model).all()[10:14]:
                        self.context.delete(other)
                    del other
            self.assertEqual([each.is_deleted for each in seen], [n in range(10, 14) for n in range(30)])

    def test_numbers_that_no_limit_can_be_are_refused(self):
        for method in (self.query.limit, self.query.offset, self.query.batch_size):
            for wrong in (-1, 2**63):
                with self.assertRaises(quire.InvalidArgument):
                    method(wrong)
            with self.assertRaises(TypeError):
                method("1")

    def test_a_query_shows_itself(self):
        query = self.query.where("price < %d", 5).order_by("-price").limit(3)
        self.assertEqual(repr(query), "<Query Quote.where('price < 5').order_by('-price').limit(3)>")


class PredicateTests(StoreTestCase):
    def test_it_shows_its_canonical_text(self):
        predicate = quire.Predicate("price<%f and contents BEGINSWITH[cd] %@", 5.5, 'say "hi"')
        self.assertEqual(str(quire.Predicate(str(predicate))), str(predicate))
        self.assertIn("BEGINSWITH[cd]", str(predicate))
        self.assertTrue(repr(predicate).startswith("<Predicate price < 5.5"))

    def test_it_matches_objects_as_they_are(self):
        quote = self.quote("More light!", price=3)
        predicate = quire.Predicate("contents CONTAINS[cd] %@ AND price < 5", "LÍGHT")
        self.assertTrue(predicate.matches(quote))
        quote.price = 6
        self.assertFalse(predicate.matches(quote))
        with self.assertRaises(quire.InvalidState):
            predicate.matches(Quote(contents="x"))
        with self.assertRaises(quire.InvalidArgument):
            quire.Predicate("nothing == 1").matches(quote)
        with self.assertRaisesRegex(quire.PredicateError, "no key 'contents' in text"):
            predicate.matches("x")

    def test_a_mistake_is_shown_with_its_place(self):
        with self.assertRaises(quire.PredicateError) as caught:
            quire.Predicate("price < AND")
        self.assertEqual(caught.exception.offset, 8)
        self.assertIn("^", str(caught.exception))
        with self.assertRaises(ValueError):
            self.context.query(Quote).where("price ==")

    def test_what_has_no_elements_is_named_by_the_store_too(self):
        self.context.add(Everything(data=b"abc"))
        self.context.save()
        with self.assertRaises(quire.PredicateError) as caught:
            self.context.query(Everything).where("(data)[FIRST] == 1").all()
        self.assertEqual(caught.exception.message, "(data)[FIRST] has an index into data.")

    def test_too_few_and_too_many_arguments_are_errors(self):
        for arguments in ((), (1, 2)):
            with self.assertRaises(quire.PredicateError):
                quire.Predicate("price < %d", *arguments)

    def test_an_argument_of_an_unknown_type_is_named(self):
        with self.assertRaisesRegex(TypeError, r"Argument 2 of the predicate .* is of type object"):
            quire.Predicate("price < %d AND note == %@", 1, object())
        with self.assertRaisesRegex(ValueError, "Argument 1 .* does not fit into 64 bits"):
            quire.Predicate("price < %d", 2**70)

    def test_conditions_can_be_predicates(self):
        self.quote(price=3)
        query = self.context.query(Quote).where(quire.Predicate("price > %d", 2)).where("price < 4")
        self.assertEqual(query.count(), 1)
        with self.assertRaises(TypeError):
            query.where(quire.Predicate("price > 1"), 5)
        with self.assertRaises(TypeError):
            query.where(5)


if __name__ == "__main__":
    unittest.main()
