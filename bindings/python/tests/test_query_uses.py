"""What each use of a query makes of what the query says, and that it refuses what has no meaning for it."""

import unittest

import quire
from support import Author, Quote, StoreTestCase


class QueryUsesTestCase(StoreTestCase):
    def setUp(self):
        super().setUp()
        goethe = self.context.add(Author(name="Goethe"))
        for price, note in ((1, "a"), (2, "a"), (3, "b"), (4, None), (1, "a")):
            self.quote(f"text {price}", price=price, note=note, author=goethe if price < 3 else None)
        self.context.save()
        self.query = self.context.query(Quote)
        self.live = self.query.live()

    def facts(self):
        return sorted(self.context.query(Quote).values(Quote.price, Quote.contents, Quote.note), key=repr)


OF_OBJECTS = {
    "all()": lambda case, query: query.all(),
    "iterating": lambda case, query: list(query),
    "first()": lambda case, query: query.first(),
    "one()": lambda case, query: query.one(),
    "all() of a place": lambda case, query: query[0],
    "all() of places": lambda case, query: query[1:3],
    "ids()": lambda case, query: query.ids(),
    "exists()": lambda case, query: query.exists(),
    "a live list": lambda case, query: query.live(),
    "a live list that is there": lambda case, query: case.live.set_query(query),
    "update()": lambda case, query: query.update(price=7),
    "delete()": lambda case, query: query.delete(),
}
"""The uses that are of objects, by what messages call them."""


class RowsOfValuesTests(QueryUsesTestCase):
    def test_what_makes_rows_of_values_is_refused_by_what_is_of_objects(self):
        before = self.facts()
        queries = {
            "group_by('note', 'author')": self.query.group_by(Quote.note, "author"),
            "group_by('note')": self.query.group_by("note").having("count:(SELF) > 1"),
            "distinct()": self.query.distinct(),
            "having('price > 1')": self.query.having(Quote.price > 1),
        }
        for offender, query in queries.items():
            for name, use in OF_OBJECTS.items():
                with self.subTest(use=name, offender=offender):
                    with self.assertRaises(quire.InvalidArgument) as raised:
                        use(self, query)
                    for words in offender, name.partition(" of ")[0].partition(" that ")[0], "Leave it out":
                        self.assertIn(words, raised.exception.message)
                    self.assertEqual(self.facts(), before)
                    self.assertEqual(len(self.live), 5)

    def test_values_and_columns_of_groups_are_those_of_dictionaries(self):
        query = self.query.group_by(Quote.note).order_by(Quote.note)
        self.assertEqual(query.values(), [(None,), ("a",), ("b",)])
        self.assertEqual(query.values(Quote.note, Quote.note), [(None, None), ("a", "a"), ("b", "b")])
        self.assertEqual(query.columns()["note"], [None, "a", "b"])
        self.assertEqual(query.columns(Quote.note)[Quote.note], [None, "a", "b"])
        self.assertEqual(query.limit(2).offset(1).values(), [("a",), ("b",)])
        self.assertEqual(query.having("count:(SELF) > 1").values(), [("a",)])
        self.assertEqual(query.limit(0).values(), [])
        for keys in (), (Quote.note,):
            self.assertEqual(query.values(*keys), [tuple(row.values()) for row in query.dictionaries(Quote.note)])
        for ask in query.values, query.columns:
            with self.assertRaisesRegex(quire.InvalidArgument, "price"):
                ask(Quote.price)

    def test_distinct_values_and_columns_come_once(self):
        query = self.query.distinct().order_by(Quote.note, Quote.price)
        wanted = [(None, 4.0), ("a", 1.0), ("a", 2.0), ("b", 3.0)]
        self.assertEqual(query.values(Quote.note, Quote.price), wanted)
        self.assertEqual(query.columns(Quote.note, "price")["price"], [price for _, price in wanted])
        self.assertEqual(len(query.values()), 4)

    def test_a_count_is_that_of_the_groups(self):
        for query in (
            self.query.group_by(Quote.note), self.query.group_by(Quote.note, Quote.price),
            self.query.group_by("note").having("max:(price) > 1"), self.query.group_by("note").limit(2),
            self.query.group_by("note").offset(1), self.query.group_by("note").limit(0),
            self.query.where("price > 99").group_by("note"), self.query.group_by(Quote.author.to(Author.name)),
            self.query.group_by("note").distinct(),
        ):
            self.assertEqual(query.count(), len(query.values()), query)
        with self.assertRaisesRegex(quire.InvalidArgument, r"distinct\(\).*len\(query.values"):
            self.query.distinct().count()

    def test_an_explanation_is_that_of_the_rows(self):
        self.assertIn("GROUP BY", self.query.group_by(Quote.note).explain())
        self.assertIn("HAVING", self.query.group_by(Quote.note).having("max:(price) > 1").explain())
        self.assertIn("SELECT DISTINCT", self.query.distinct().explain())
        self.assertNotIn("ZPRICE", self.query.distinct().explain(Quote.note))
        self.assertIn("quire_sum", self.query.explain(total="sum:(price)"))
        with self.assertRaisesRegex(quire.InvalidArgument, "price"):
            self.query.group_by(Quote.note).explain(Quote.price)

    def test_a_condition_for_groups_needs_groups(self):
        query = self.query.having("count:(SELF) > 1")
        for ask in query.values, query.columns, query.count, query.explain, query.dictionaries:
            with self.assertRaisesRegex(quire.InvalidState, r"having\('count:\(SELF\) > 1'\).*group_by"):
                ask()

    def test_an_aggregate_is_of_all_objects_of_the_query(self):
        for offender, query in {
            "limit(2)": self.query.limit(2), "offset(1)": self.query.offset(1), "limit(0)": self.query.limit(0),
            "group_by('note')": self.query.group_by("note"), "distinct()": self.query.distinct(),
            "having('price > 1')": self.query.having("price > 1"),
        }.items():
            with self.assertRaises(quire.InvalidArgument) as raised:
                query.aggregate(total="sum:(price)")
            self.assertIn(offender, raised.exception.message)
        self.assertEqual(self.query.where("price > 1").aggregate(total="sum:(price)"), {"total": 9.0})

    def test_a_query_shows_what_it_says_of_rows(self):
        query = self.query.group_by(Quote.note, "author.name").having("price > 1").distinct().limit(2)
        self.assertEqual(
            repr(query), "<Query Quote.group_by('note', 'author.name').having('price > 1').distinct().limit(2)>")


class ReadingTests(QueryUsesTestCase):
    def test_refreshing_is_refused_where_no_objects_are_read(self):
        query = self.query.refreshing()
        for name, use in {
            "ids()": query.ids, "values()": query.values, "columns()": query.columns,
            "dictionaries()": query.dictionaries, "aggregate()": lambda: query.aggregate(total="sum:(price)"),
            "a live list": query.live, "update()": lambda: query.update(price=7), "delete()": query.delete,
        }.items():
            with self.subTest(name), self.assertRaises(quire.InvalidArgument) as raised:
                use()
            self.assertIn("refreshing()", raised.exception.message)
            self.assertIn(name, raised.exception.message)
        self.assertRaises(quire.InvalidArgument, self.live.set_query, query)
        self.assertEqual((query.count(), query.exists(), len(query.all())), (5, True, 5))
        self.assertIn("SELECT", query.explain())

    def test_how_objects_are_read_changes_nothing_where_none_are(self):
        plain = self.query.order_by(Quote.price, Quote.contents)
        for query in plain.prefetch(Quote.author), plain.batch_size(2), plain.prefetch("author").batch_size(1):
            self.assertEqual(list(query.ids()), list(plain.ids()))
            self.assertEqual(query.values(), plain.values())
            self.assertEqual(query.dictionaries("price"), plain.dictionaries("price"))
            self.assertEqual(query.live().ids, plain.live().ids)
            self.assertEqual((query.count(), query.exists(), query.explain()), (5, True, plain.explain()))
            self.assertEqual(query.where("price == 9").update(price=8), 0)


if __name__ == "__main__":
    unittest.main()
