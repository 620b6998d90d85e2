"""Predicates and expressions without a store, and as trees that Python's operators make."""

import dataclasses
import datetime
import decimal
import functools
import gc
import operator
import threading
import unittest
import uuid
from collections import OrderedDict, deque
from types import MappingProxyType

import quire
from support import Author, Quote, StoreTestCase, day


@dataclasses.dataclass
class Home:
    city: str
    zip: int


@dataclasses.dataclass
class Person:
    name: str
    home: Home


def holds(format, subject, *arguments, **variables):
    return quire.Predicate(format, *arguments).matches(subject, variables)


class MatchingTests(unittest.TestCase):
    def test_mappings_lists_and_plain_values_are_asked(self):
        person = {"name": "Goethe", "home": {"city": "Weimar", "zip": 99423}, "ages": [3, 9, None]}
        for format in (
            "name == 'Goethe' AND home.city BEGINSWITH[c] 'WEI'", "ANY ages > 5", "ages.@sum == 12", "missing == nil",
            "home.street == nil", "SUBQUERY(ages, $a, $a == nil).@count == 1", "ages[LAST] == nil", "NOT name == nil",
        ):
            self.assertTrue(holds(format, person), format)
            self.assertTrue(holds(format, OrderedDict(person)), format)
            self.assertTrue(holds(format, MappingProxyType(person)), format)
        self.assertTrue(holds("SELF > 3", 4))
        self.assertTrue(holds("SELF == nil", None))
        self.assertTrue(holds("SELF.@count == 2", (1, 2)))
        self.assertTrue(holds("SELF.@count == 0", []))
        self.assertTrue(holds("3 IN SELF AND SELF.@count == 2", {1, 3}))
        self.assertTrue(holds("ANY SELF == 'b'", deque("ab")))
        self.assertTrue(holds("ALL SELF.a > 1", [{"a": 2}, {"a": 3}]))

    def test_instances_of_dataclasses_are_asked_by_their_fields(self):
        person = Person("Goethe", Home("Weimar", 99423))
        self.assertTrue(holds("name == 'Goethe' AND home.zip == 99423 AND age == nil", person))
        self.assertTrue(holds("ANY SELF.home.city == 'Weimar'", [person]))
        with self.assertRaises(quire.WrongType):
            quire.Predicate("name == 'x'").matches(Person)

    def test_every_type_of_value_is_known(self):
        instant, number, name = day(1), decimal.Decimal("12.50"), uuid.uuid4()
        values = {
            "i": 1, "f": 1.5, "b": True, "n": None, "t": "e\u0301", "d": instant, "x": number, "u": name, "y": b"\0a",
            "m": memoryview(b"ab"), "s": instant.astimezone(datetime.timezone(datetime.timedelta(hours=1)))}
        for key, value in values.items():
            self.assertTrue(quire.Predicate("%K == %@", key, value).matches(values), key)
            given = quire.Expression("%K", key).evaluate(values)
            self.assertEqual(given, bytes(value) if key == "m" else value)
            self.assertEqual(type(given), bytes if key == "m" else type(value))
        self.assertTrue(holds("s == d AND t ==[d] 'e' AND t.length == 2 AND x > 12 AND b == 1", values))

    def test_variables_are_given_by_name(self):
        predicate = quire.Predicate("age > $least AND name == $who.name")
        row = {"age": 5, "name": "Ada"}
        self.assertTrue(predicate.matches(row, least=4, who={"name": "Ada"}))
        self.assertTrue(predicate.matches(row, {"least": 4}, who=row))
        self.assertFalse(predicate.matches(row, {"least": 5, "who": row}))
        self.assertTrue(quire.Predicate("SELF == $self + $subject").matches(3, {"self": 1, "subject": 2}))
        with self.assertRaisesRegex(quire.PredicateError, r"\$who has no value"):
            predicate.matches(row, least=4)

    def test_variables_are_substituted(self):
        predicate = quire.Predicate("age > $least AND SELF.$key == $who")
        done = predicate.substituting({"key": "name"}, least=4, who=quire.Expression("#first.name"))
        self.assertEqual(str(done), "age > 4 AND SELF.name == first.name")
        self.assertEqual(done, quire.Predicate("age > 4 AND SELF.name == first.name"))
        self.assertEqual(quire.Predicate("%@", done), done)
        with self.assertRaisesRegex(quire.PredicateError, r"no value for the variable \$"):
            predicate.substituting(least=4)
        self.assertEqual(str(quire.Expression("$a + b").substituting(a=3)), "3 + b")

    def test_expressions_give_python_values(self):
        row = {"n": 20, "list": [1, {"b": 2, "a": [None, "x"]}], "d": day(2)}
        for format, expected in (
            ("n / 3", 6), ("n / 3.0", 20 / 3), ("list", row["list"]), ("missing", None),
            ("{n, 'a', YES}", [20, "a", True]),
            ("list.@count", 2), ("d", day(2)), ("uppercase('ab')", "AB"),
            ("TERNARY(n > 3, 'much', 'little')", "much"),
            ("list[1].a", [None, "x"]), ("n %% 7", 6), ("SELF", row),
        ):
            self.assertEqual(quire.Expression(format).evaluate(row), expected, format)
        self.assertEqual(quire.Expression("SELF * $f").evaluate(4, f=2), 8)
        self.assertEqual(quire.Expression("1 + 1").evaluate(), 2)

    def test_an_index_beyond_the_list_is_nil_however_far(self):
        for index in (3, -1, 2**63 - 1, -(2**63), 1e300, float("-inf")):
            self.assertTrue(quire.Predicate("(SELF)[%@] == nil", index).matches([1, 2, 3]), index)
        self.assertTrue(quire.Predicate("(SELF)[%@] == 3", 2.0).matches([1, 2, 3]))
        for index in (1.5, float("nan")):
            with self.assertRaisesRegex(quire.PredicateError, "for an index into a list"):
                quire.Predicate("(SELF)[%@] == nil", index).matches([1, 2, 3])

    def test_failures_are_errors_of_the_package(self):
        circle, knot = [], {}
        circle.append({"a": [circle]})
        knot["self"] = {"more": [knot]}
        deep = 1
        for _ in range(65):
            deep = [deep]
        endless = 1
        for _ in range(100000):
            endless = [endless]
        for subject, kind, message in (
            (circle, quire.InvalidArgument, "contains itself"), (knot, quire.InvalidArgument, "contains itself"),
            (deep, quire.InvalidArgument, "64 deep"), (endless, quire.InvalidArgument, "64 deep"),
            ({1: 2}, quire.WrongType, "is a text"), (object(), quire.WrongType, "type object"),
            ([{"a": object()}], quire.WrongType, "type object"), (2**70, quire.InvalidArgument, "64 bits"),
            ("\ud800", quire.InvalidText, "UTF-8"), ({"\ud800": 1}, quire.InvalidText, "UTF-8"),
            (datetime.datetime(2024, 1, 1), quire.InvalidArgument, "time zone"),
            (5, quire.PredicateError, "no key 'a'"),
            (quire.Predicate("a == 1"), quire.InvalidArgument, "predicate"),
            (Quote.price, quire.InvalidArgument, "predicate"),
            (Quote(contents="x"), quire.InvalidState, "in no context"),
            (decimal.Decimal("nan"), quire.InvalidArgument, "number"),
        ):
            for ask in (quire.Predicate("a == 1").matches, quire.Expression("a").evaluate):
                with self.assertRaisesRegex(kind, message):
                    ask(subject)
        with self.assertRaises(quire.WrongType):
            quire.Predicate("a == 1").matches({}, ["x"])
        with self.assertRaises(quire.WrongType):
            quire.Predicate("a == 1").matches({}, {1: 2})
        with self.assertRaises(quire.WrongType):
            quire.Predicate("a == $x").substituting({1: 2})
        with self.assertRaises(quire.InvalidArgument):
            quire.Predicate("a == $x").substituting(x={"a": 1})
        with self.assertRaises(quire.InvalidArgument):
            quire.Predicate("a == %@", {"a": 1})
        for make in (quire.Predicate, quire.Expression):
            with self.assertRaises(quire.WrongType):
                make(5)
            with self.assertRaises(quire.PredicateError):
                make("a ==")
        for format in ("a MATCHES '('", "FUNCTION(a, 'b') == 1", "a < 'x' + 1", "nothing(a) == 1", "a.@nothing == 1"):
            with self.assertRaises(quire.Error, msg=format):
                holds(format, {"a": "x"})

    def test_a_wide_value_is_no_deep_one(self):
        shared = [1]
        self.assertTrue(holds("SELF.@count == 1000", [shared] * 1000))
        self.assertTrue(holds("ANY a == 1", {"a": [shared, shared]}))

    def test_many_threads_ask_one_predicate(self):
        predicate = quire.Predicate("name MATCHES 'a[0-9]+' AND n IN {1, 2, 3}")
        wrong = []

        def ask(number):
            for n in range(300):
                if predicate.matches({"name": f"a{number}", "n": n % 5}) != (n % 5 in (1, 2, 3)):
                    wrong.append(n)

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_thousands_are_joined(self):
        count = 5000
        for word, join, relation in (("OR", operator.or_, operator.eq), ("AND", operator.and_, operator.ne)):
            chain = functools.reduce(join, [relation(quire.Expression("a"), number * 2) for number in range(count)])
            self.assertEqual(len(chain.arguments), count)
            self.assertTrue(chain.format.startswith(f"%@ {word} %@ {word} "))
            for value, found in ((0, True), (4, True), (5, False), (2 * count, False), (None, False)):
                self.assertEqual(chain.matches({"a": value}), found == (word == "OR"))
            self.assertTrue(str(chain).startswith("a == 0 OR a == 2 OR" if word == "OR" else "a != 0 AND a != 2 AND"))

    def test_joined_ones_keep_their_parts(self):
        first, second = quire.Predicate("a == 1"), quire.Predicate("a == 2")
        joined, unused, again = first | second, first & second, first | second
        first.close()
        second.close()
        unused.close()
        self.assertFalse(joined.closed)
        self.assertTrue(unused.closed)
        self.assertEqual(str(joined), "a == 1 OR a == 2")
        self.assertEqual(joined, again)
        for use in (lambda: unused.matches({}), lambda: unused & joined, lambda: joined | first):
            with self.assertRaises(quire.StoreClosed):
                use()
        joined.close()
        self.assertTrue(joined.closed)
        shared = again | quire.Predicate("a == 3")
        wrong = []

        def ask():
            if not shared.matches({"a": 3}) or shared.matches({"a": 4}):
                wrong.append(1)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_what_is_substituted_keeps_its_variables(self):
        predicate = quire.Predicate("SUBQUERY(tags, $x, $x.name == $name).@count > 0")
        inner = predicate.substituting(name=quire.Expression("$x.title"))
        self.assertEqual(str(inner), "SUBQUERY(tags, $x1, $x1.name == $x.title).@count > 0")
        row = {"tags": [{"name": "a"}, {"name": "b"}]}
        self.assertTrue(inner.matches(row, x={"title": "b"}))
        self.assertFalse(inner.matches(row, x={"title": "c"}))

    def test_closed_ones_are_refused(self):
        predicate, expression = quire.Predicate("a == 1"), quire.Expression("a")
        joined = predicate & predicate
        predicate.close()
        expression.close()
        for use in (
            lambda: predicate.matches({}), lambda: expression.evaluate({}), lambda: predicate & joined,
            lambda: expression == 1, lambda: str(expression), lambda: predicate == joined,
        ):
            with self.assertRaises(quire.StoreClosed):
                use()
        self.assertTrue(joined.matches({"a": 1}))
        self.assertEqual((repr(predicate), repr(expression)), ("<Predicate (closed)>", "<Expression (closed)>"))


class ObjectTests(StoreTestCase):
    def test_objects_are_asked_alone_and_inside_of_other_values(self):
        goethe = self.context.add(Author(name="Goethe"))
        quotes = [self.quote(f"Light {price}", author=goethe, price=price) for price in (1.0, 5.0)]
        self.assertTrue(((Quote.price < 3) & (Quote.author == goethe)).matches(quotes[0]))
        self.assertTrue((Author.quotes.any(Quote.price) > 3).matches(goethe))
        desk = {"list": quotes, "who": goethe}
        self.assertTrue(holds("ANY list.author.name == 'Goethe' AND who == list[FIRST].author", desk))
        self.assertTrue(holds("SELF.@max.price == 5", goethe.quotes))
        self.assertTrue(holds("ALL SELF.price == $p.price", [quotes[1]], p=quotes[1]))
        self.assertIs(quire.Expression("list[0].author").evaluate({"list": quotes}), goethe)
        self.assertEqual(set(Author.quotes.to("self").evaluate({"quotes": goethe.quotes})), set(quotes))
        self.assertEqual(quire.Expression("quotes").evaluate(goethe), list(goethe.quotes))
        self.assertEqual(quire.Expression("%@", goethe).evaluate(), goethe.id)
        with self.assertRaises(quire.InvalidArgument):
            quire.Predicate("prize == 1").matches(quotes[0])

    def test_objects_of_two_contexts_are_refused(self):
        other = self.store.create_context()
        both = [self.quote("a"), other.add(Quote(contents="b"))]
        with self.assertRaisesRegex(quire.InvalidArgument, "another context"):
            holds("ANY SELF.price == 1", both)
        self.context.close()
        with self.assertRaises(quire.StoreClosed):
            holds("ANY SELF.price == 1", both[:1])

    def test_what_an_expression_gives_belongs_to_its_context(self):
        found = quire.Expression("author").evaluate(self.quote("a", author=self.context.add(Author(name="Goethe"))))
        gc.collect()
        found.name = "Schiller"
        self.context.save()
        self.assertEqual(self.context.query(Author).where(Author.name == "Schiller").one(), found)


class TypedTests(StoreTestCase):
    def test_each_operator_makes_the_tree_of_its_text(self):
        price, note, author, quotes = Quote.price, Quote.note, Quote.author, Author.quotes
        for typed, format in (
            (price == 5, "price == 5"), (price != 5, "price != 5"), (price < 5, "price < 5"),
            (price <= 5, "price <= 5"), (price > 5, "price > 5"), (price >= 5, "price >= 5"),
            (5 > price, "price < 5"), (5 == price, "price == 5"),
            (note == None, "note == nil"), (note != None, "note != nil"),  # noqa: E711
            (note.is_(None), "note == nil"), (note.is_not(None), "note != nil"),
            (note.equals("x", "c"), "note ==[c] 'x'"), (note.differs("x", "cd"), "note !=[cd] 'x'"),
            (note.contains("x", "cd"), "note CONTAINS[cd] 'x'"), (note.begins_with("x"), "note BEGINSWITH 'x'"),
            (note.ends_with("x", "d"), "note ENDSWITH[d] 'x'"), (note.like("x*", "c"), "note LIKE[c] 'x*'"),
            (note.matches("x.*"), "note MATCHES 'x.*'"), (note.contains(Quote.contents), "note CONTAINS contents"),
            (price.in_([1, 2]), "price IN {1, 2}"), (price.in_(()), "price IN {}"),
            (price.in_(iter([1])), "price IN {1}"),
            (price.in_([1, Quote.created_at]), "price IN {1, created_at}"), (note.in_("abc", "c"), "note IN[c] 'abc'"),
            (note.in_(["a"], "cd"), "note IN[cd] {'a'}"), (price.between(1, 5), "price BETWEEN {1, 5}"),
            (price.between(1, price + 1), "price BETWEEN {1, price + 1}"),
            (price + 1 < 5, "price + 1 < 5"), (1 + price < 5, "1 + price < 5"), (price - 1 < 5, "price - 1 < 5"),
            (1 - price < 5, "1 - price < 5"), (price * 2 < 5, "price * 2 < 5"), (2 * price < 5, "2 * price < 5"),
            (price / 2 < 5, "price / 2 < 5"), (2 / price < 5, "2 / price < 5"),
            (price % 2 == 1, "price %% 2 == 1"), (7 % price == 1, "7 %% price == 1"),
            (price ** 2 < 5, "price ** 2 < 5"), (2 ** price < 5, "2 ** price < 5"), (-price < 5, "-price < 5"),
            (abs(price) < 5, "abs(price) < 5"), ((price & 4) == 4, "price & 4 == 4"),
            ((price | 4) == 4, "price | 4 == 4"), ((price ^ 4) == 4, "price ^ 4 == 4"), (~price == 4, "~price == 4"),
            ((price << 4) == 4, "price << 4 == 4"), ((price >> 4) == 4, "price >> 4 == 4"),
            ((4 & price) == 4, "4 & price == 4"), ((4 | price) == 4, "4 | price == 4"),
            ((4 ^ price) == 4, "4 ^ price == 4"), ((4 << price) == 4, "4 << price == 4"),
            ((4 >> price) == 4, "4 >> price == 4"),
            ((price + 1) * 2 - price / 3 > price, "(price + 1) * 2 - price / 3 > price"),
            (author.to(Author.name) == "x", "author.name == 'x'"), (author.to("name") == "x", "author.name == 'x'"),
            (author.to(Author.quotes).count > 2, "author.quotes.@count > 2"), (author.is_(None), "author == nil"),
            (quotes.count > 2, "quotes.@count > 2"), (quotes.sum(price) > 2, "quotes.@sum.price > 2"),
            (quotes.avg(price) > 2, "quotes.@avg.price > 2"), (quotes.min(price) > 2, "quotes.@min.price > 2"),
            (quotes.max("price") > 2, "quotes.@max.price > 2"), (quotes.to(price).max() > 2, "quotes.price.@max > 2"),
            (quotes.any(price) > 2, "ANY quotes.price > 2"), (quotes.all(price) > 2, "ALL quotes.price > 2"),
            (quotes.none(price) > 2, "NONE quotes.price > 2"), (2 < quotes.any(price), "ANY quotes.price > 2"),
            (quotes.any(Quote.note).contains("x", "cd"), "ANY quotes.note CONTAINS[cd] 'x'"),
            (quotes.none(Quote.note).in_(["x"]), "NONE quotes.note IN {'x'}"),
            (quotes.any().is_(None), "ANY quotes == nil"), (quotes.contains(None), "quotes CONTAINS nil"),
            (quotes.all(price).between(1, 2), "ALL quotes.price BETWEEN {1, 2}"),
            (quotes.subquery(lambda q: q.to(price) < 5).count > 2, "SUBQUERY(quotes, $q, $q.price < 5).@count > 2"),
            (quotes.subquery(lambda q: (q.to(price) < 5) & (q.to(Quote.note) == Author.name)).sum(price) > 2,
             "SUBQUERY(quotes, $q, $q.price < 5 AND $q.note == name).@sum.price > 2"),
            (quotes.subquery(lambda q: q.to(author).to(quotes).subquery(lambda r: r != q).count == 0).count > 2,
             "SUBQUERY(quotes, $q, SUBQUERY($q.author.quotes, $r, $r != $q).@count == 0).@count > 2"),
            (quire.function("uppercase", note) == "X", "uppercase(note) == 'X'"),
            (quire.function("now") > day(1), "now() > %@"),
            (quire.function("max", price, 5) == 5, "max(price, 5) == 5"),
            (quire.Expression("TERNARY(%@, %@, 1)", price < 5, price) == 1, "TERNARY(price < 5, price, 1) == 1"),
            (quire.Expression("$x") == price, "$x == price"),
            (quire.Expression("SELF").to("note") == 1, "SELF.note == 1"),
            (~(price < 5), "NOT price < 5"), ((price < 5) & (note == "1"), "price < 5 AND note == '1'"),
            ((price < 5) | (note == "1"), "price < 5 OR note == '1'"),
            ((price < 5) & (note == "1") & (note == "2"), "price < 5 AND note == '1' AND note == '2'"),
            ((price < 5) & ((note == "1") & (note == "2")), "price < 5 AND (note == '1' AND note == '2')"),
            ((price < 5) & (note == "1") | (note == "2"), "(price < 5 AND note == '1') OR note == '2'"),
            ((price < 5) & ((note == "1") | (note == "2")), "price < 5 AND (note == '1' OR note == '2')"),
            (~(price < 5) & ~((note == "1") | (note == "2")), "NOT price < 5 AND NOT (note == '1' OR note == '2')"),
        ):
            arguments = (day(1),) * format.count("%@")
            self.assertEqual(typed, quire.Predicate(format, *arguments), f"{typed} and {format}")
            self.assertEqual(quire.Predicate(str(typed)), typed)

    def test_the_store_and_memory_answer_alike(self):
        goethe = self.context.add(Author(name="Goethe"))
        quotes = [
            self.quote(f"Light {n}", price=n, note=("a", "B", None)[n % 3], author=goethe if n % 2 else None)
            for n in range(9)]
        self.context.save()
        for condition in (
            Quote.price < 5, Quote.contents.contains("LIGHT", "c") & (Quote.price < 5), Quote.note.is_(None),
            Quote.note != "a", ~(Quote.note == "a"), Quote.price.between(2, 4) | (Quote.author == goethe),
            Quote.note.in_(["b", None], "c"),
            Quote.author.to(Author.name).begins_with("G"), Quote.price.in_([]), Quote.contents > Quote.note,
        ):
            stored = set(self.context.query(Quote).where(condition).all())
            self.assertEqual(stored, {quote for quote in quotes if condition.matches(quote)}, condition)
            self.assertEqual(stored, set(self.context.query(Quote).where(Quote.price < 99).where(condition)), condition)

    def test_a_query_keeps_its_conditions(self):
        self.quote(price=3)
        condition = Quote.price < 5
        query = self.context.query(Quote).where(condition)
        condition.close()
        self.assertEqual(query.count(), 1)

    def test_a_query_means_an_unsaved_object_when_it_is_saved(self):
        goethe = self.context.add(Author(name="Goethe"))
        self.quote(author=goethe)
        query = self.context.query(Quote).where(Quote.author == goethe).where("price < 5")
        self.assertEqual(query.count(), 1)
        self.context.save()
        self.assertEqual(query.count(), 1)

    def test_what_is_no_condition_says_so(self):
        with self.assertRaisesRegex(TypeError, "neither true nor false"):
            bool(Quote.price < 5)
        with self.assertRaisesRegex(quire.Error, "neither true nor false"):
            1 < Quote.price < 5
        for each in Quote.price, Quote.author, Author.quotes, Quote.price + 1, Author.quotes.any(Quote.price):
            with self.assertRaisesRegex(quire.WrongType, "neither true nor false.*& | ~"):
                # A comparison behind it would be the whole condition.
                each and (Quote.price < 5)
        with self.assertRaises(TypeError):
            (Quote.price < 5) & 5
        with self.assertRaises(TypeError):
            hash(Quote.price < 5)
        for mistake in (
            lambda: Quote.note.contains("x", "q"), lambda: Quote.note.contains("x", 5),
            lambda: quire.function("a b", 1), lambda: quire.function(5), lambda: Author.quotes.subquery(lambda q: 5),
            lambda: quire.Expression("a").same_as(5), lambda: Quote.price == object(),
            lambda: quire.Predicate("%K == 1", Quote.price + 1), lambda: Quote.price == {"a": 1},
        ):
            with self.assertRaises(quire.Error):
                mistake()

    def test_predicates_are_equal_as_trees(self):
        self.assertEqual(quire.Predicate("a = 1 && b <> 2"), quire.Predicate("a == %d AND b != 2", 1))
        self.assertNotEqual(quire.Predicate("a == 1 AND b == 2"), quire.Predicate("b == 2 AND a == 1"))
        self.assertNotEqual(quire.Predicate("a == 1"), "a == 1")
        self.assertTrue((Quote.price + 1).same_as(quire.Expression("price + 1")))
        self.assertFalse((Quote.price + 1).same_as(1 + Quote.price))

    def test_trees_grow_only_as_high_as_text_may(self):
        expression, condition = Quote.price + 1, Quote.price == 1
        with self.assertRaisesRegex(quire.PredicateError, "deep"):
            for _ in range(1000):
                expression = expression + 1
        with self.assertRaisesRegex(quire.PredicateError, "deep"):
            for _ in range(1000):
                condition = ~condition
        self.assertEqual(quire.Predicate(str(condition)), condition)
        wide = Quote.price == 0
        for number in range(1, 500):
            wide = wide | (Quote.price == number)
        self.assertEqual(wide, quire.Predicate(" OR ".join(f"price == {number}" for number in range(500))))


if __name__ == "__main__":
    unittest.main()
