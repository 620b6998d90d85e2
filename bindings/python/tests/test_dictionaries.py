"""Dictionary results: columns, groups, aggregates; and what a query says of itself."""

import math
import random
import unittest

import quire
from support import Author, Quote, StoreTestCase, seeds


class DictionaryTests(StoreTestCase):
    def setUp(self):
        super().setUp()
        self.seed = seeds(1)[0]
        dice = random.Random(self.seed)
        authors = [self.context.add(Author(name=name)) for name in ("Goethe", "Schiller", "Zweig")] + [None]
        self.rows = []
        for number in range(60):
            row = {
                "author": dice.choice(authors), "contents": dice.choice(["a", "b", "\u00e9", "\U0001f4d6"]),
                "price": dice.choice([0.0, 1.0, 2.5, -3.0, 1e300]), "note": dice.choice([None, "", "x", "y"]),
            }
            self.context.add(Quote(**row))
            self.rows.append(row)
        self.context.save()
        for row in self.rows:
            row["author"] = row["author"] and row["author"].id
        self.query = self.context.query(Quote)

    def groups(self, *keys):
        found = {}
        for row in self.rows:
            found.setdefault(tuple(row[key] for key in keys), []).append(row)
        return found

    def test_every_row_has_the_keys_that_were_asked_for(self):
        rows = self.query.order_by("price", "contents").dictionaries(
            Quote.contents, Quote.note, "author.name", nothing="nil")
        self.assertEqual(len(rows), 60)
        self.assertEqual({tuple(row) for row in rows}, {("contents", "note", "author.name", "nothing")}, self.seed)
        wanted = sum(row["note"] is None for row in self.rows)
        self.assertEqual(sum(row["note"] is None for row in rows), wanted, self.seed)
        self.assertEqual({row["nothing"] for row in rows}, {None})

    def test_without_columns_there_are_all_attributes(self):
        rows = self.query.where("note == 'x'").dictionaries()
        self.assertTrue(all(set(row) == {"contents", "price", "note", "created_at"} for row in rows))
        self.assertTrue(all((row["note"], row["created_at"]) == ("x", None) for row in rows))

    def test_groups_are_what_a_loop_makes_of_the_rows(self):
        for keys in (["note"], ["author"], ["author", "note"], ["contents", "note", "price"]):
            rows = self.query.group_by(*keys).dictionaries(
                *keys, n="count:(SELF)", notes="count:(note)", total="sum:(price)", least="min:(contents)",
                greatest="max:(price)", mean="average:(price)", middle="median:(price)")
            found = {tuple(row.get(key) for key in keys): row for row in rows}
            wanted = self.groups(*keys)
            self.assertEqual(set(found), set(wanted), self.seed)
            for key, group in wanted.items():
                prices = [row["price"] for row in group]
                row = found[key]
                self.assertEqual(row["n"], len(group), self.seed)
                self.assertEqual(row["notes"], sum(each["note"] is not None for each in group), self.seed)
                self.assertEqual(row["least"], min(each["contents"] for each in group), self.seed)
                self.assertEqual(row["greatest"], max(prices), self.seed)
                self.assertTrue(math.isclose(row["total"], math.fsum(prices), rel_tol=1e-9, abs_tol=1e-6), self.seed)
                self.assertTrue(math.isclose(row["mean"], math.fsum(prices) / len(prices), rel_tol=1e-9, abs_tol=1e-6))
                ordered = sorted(prices)
                middle = len(ordered) // 2
                median = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
                self.assertEqual(row["middle"], median, self.seed)

    def test_having_takes_a_column_by_name_as_variable_or_spelled_out(self):
        wanted = {key for key, group in self.groups("author", "note").items() if len(group) > 4}
        query = self.query.group_by(Quote.author, Quote.note)
        for condition in ("n > 4", "$n > 4", "count:(SELF) > 4", "%@ > 4"):
            arguments = [quire.Expression("$n")] if "%" in condition else []
            rows = query.having(condition, *arguments).dictionaries(Quote.author, Quote.note, n="count:(SELF)")
            self.assertEqual({(row.get("author"), row.get("note")) for row in rows}, wanted, (condition, self.seed))
        rows = query.having("author == nil AND n > 4").dictionaries(n="count:(SELF)")
        sizes = [len(self.groups("author", "note")[key]) for key in wanted if key[0] is None]
        self.assertEqual(sorted(row["n"] for row in rows), sorted(sizes), self.seed)

    def test_groups_are_ordered_by_columns_and_then_by_their_keys(self):
        rows = self.query.group_by(Quote.note).order_by("-n").dictionaries(Quote.note, n="count:(SELF)")
        wanted = sorted(
            ((len(group), key[0]) for key, group in self.groups("note").items()),
            key=lambda pair: (-pair[0], pair[1] is not None, pair[1] or ""))
        self.assertEqual([(row["n"], row.get("note")) for row in rows], wanted, self.seed)
        self.assertEqual(
            self.query.group_by(Quote.note).order_by("note").limit(1).offset(1).dictionaries(Quote.note),
            [{"note": ""}])

    def test_distinct_leaves_one_of_equal_rows(self):
        rows = self.query.distinct().order_by("note").dictionaries(Quote.note, Quote.author)
        found = [(row.get("note"), row.get("author")) for row in rows]
        self.assertEqual(len(found), len(set(found)))
        self.assertEqual(set(found), set((row["note"], row["author"]) for row in self.rows), self.seed)

    def test_distinct_takes_equal_numbers_of_other_types_for_equal(self):
        for number, text in (
                (1, "TERNARY(price > 3, 1, 1.0)"), (1, "TERNARY(price > 3, yes, 1)"),
                (0, "TERNARY(price > 3, 0, 0.0 * -1)"), (1, "TERNARY(price > 3, CAST('1.0', 'NSDecimalNumber'), 1)")):
            rows = self.query.distinct().dictionaries(it=text)
            self.assertEqual(rows, [{"it": number}], (text, self.seed))
        rows = self.query.distinct().dictionaries(it="TERNARY(price > 3, 0.5, CAST('0.5', 'NSDecimalNumber'))")
        self.assertEqual(len(rows), 1)

    def test_an_aggregate_of_an_aggregate_is_refused(self):
        prices = [row["price"] for row in self.rows]
        found = self.query.aggregate(x="max:({min:(price), count:(SELF)})")["x"]
        self.assertEqual(found, max(min(prices), len(prices)))
        for call in (lambda: self.query.aggregate(x="sum:(sum:(price))"),
                     lambda: self.query.group_by("note").having("sum:(max:(price)) > 1").dictionaries("note")):
            with self.assertRaisesRegex(quire.InvalidArgument, "aggregate of an aggregate"):
                call()

    def test_expressions_are_columns(self):
        rows = self.query.order_by("price").limit(5).dictionaries(
            Quote.price, double="price * 2", upper="uppercase(contents)", id="SELF", name_length="length(author.name)",
            both=quire.Expression("TERNARY(price > 1, 1, 0.5)"), one="1")
        for row in rows:
            self.assertEqual(row["double"], row["price"] * 2)
            self.assertEqual(row["one"], 1)
            self.assertIsInstance(row["both"], float)
            self.assertEqual(self.context.get(Quote, row["id"]).contents.upper(), row["upper"])

    def test_an_aggregate_is_one_row(self):
        found = self.query.where("price > 0").aggregate(n="count:(SELF)", total="sum:(price)", last="max:(note)")
        chosen = [row for row in self.rows if row["price"] > 0]
        self.assertEqual(found["n"], len(chosen), self.seed)
        self.assertEqual(found["last"], max((row["note"] for row in chosen if row["note"] is not None), default=None))
        nothing = self.query.where("price == 77").aggregate(
            n="count:(SELF)", total="sum:(price)", mean="average:(price)")
        self.assertEqual(nothing, {"n": 0, "total": 0, "mean": None})
        self.assertEqual(
            self.context.query(Author).order_by("name").dictionaries(
                Author.name, dearest="quotes.@max.price")[0]["name"],
            "Goethe")

    def test_what_makes_no_sense_is_refused_by_name(self):
        refused = [
            (lambda: self.query.group_by("note").dictionaries("contents"), "contents"),
            (lambda: self.query.dictionaries("contents", total="sum:(price)"), "contents"),
            (lambda: self.query.having("n > 1").dictionaries(n="count:(SELF)"), "group"),
            (lambda: self.query.group_by("note").having("price > 1").dictionaries("note"), "price"),
            (lambda: self.query.distinct().order_by("price").dictionaries("note"), "price"),
            (lambda: self.query.dictionaries(total="sum:(contents)"), "sum:"),
            (lambda: self.context.query(Author).dictionaries("quotes"), "quotes"),
            (lambda: self.context.query(Author).dictionaries(all="quotes.price"), "quotes.price"),
            (lambda: self.context.query(Author).group_by("quotes").dictionaries(n="count:(SELF)"), "quotes"),
            (lambda: self.query.dictionaries(x="nothing + 1"), "nothing"),
            (lambda: self.query.order_by(Quote.price.asc("localized")).dictionaries("price"), "price"),
            (lambda: self.query.dictionaries(x="TERNARY(note == nil, 1, 'a')"), "x"),
        ]
        for attempt, name in refused:
            with self.assertRaises(quire.Error) as raised:
                attempt()
            self.assertIn(name, str(raised.exception))

    def test_unsaved_changes_do_not_show(self):
        self.query[0].price = 12345.0
        self.assertNotEqual(self.query.aggregate(most="max:(price)")["most"], 12345.0)


class ExplainTests(StoreTestCase):
    def test_a_query_tells_its_sql_its_plan_and_what_no_index_serves(self):
        query = self.context.query(Quote).where("contents == %@ AND note CONTAINS[cd] 'x'", "a").order_by("note")
        text = query.explain()
        self.assertIn("SELECT", text)
        self.assertIn('?1 = "a"', text)
        self.assertIn("plan: SEARCH", text)
        self.assertIn('no index: note CONTAINS[cd] "x"', text)
        self.assertIn("no index: the order by note", text)
        self.assertNotIn("no index: contents", text)
        self.assertNotIn("pending", text)
        self.quote("new")
        self.assertIn("pending: 1", query.explain())


if __name__ == "__main__":
    unittest.main()
