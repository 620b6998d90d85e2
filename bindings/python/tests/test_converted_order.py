"""What asks for the order of values that the store keeps in another form."""

import enum
import functools
import operator
import unittest
from collections.abc import Callable
from datetime import date, time, timedelta
from typing import Any, Optional

import quire
from test_conversions import Color, Money, Size


@functools.total_ordering
class Sum(Money):
    """A type of the program that has an order."""

    def __lt__(self, other: "Sum") -> bool:
        return self.cents < other.cents

    def __repr__(self) -> str:
        return f"Sum({self.cents})"


class Grade(enum.Enum):
    LOW, HIGH = "low", "high"

    def __lt__(self, other: "Grade") -> bool:
        return list(Grade).index(self) < list(Grade).index(other)


class Mark(enum.Enum):
    FIRST, SECOND = "a", "b"

    def __lt__(self, other: "Mark") -> bool:
        return list(Mark).index(self) < list(Mark).index(other)


class Tone(str, enum.Enum):
    DARK, LIGHT = "dark", "light"


class Level(enum.Enum):
    LOW, HIGH = 9, 10


def of_text(form: Callable[[int], str], **options: Any) -> Any:
    return quire.attr(as_=(lambda each: form(each.cents), lambda text: Sum(int(text))), **options)


def of_number(
    type: quire.AttributeType, encode: Callable[[int], Any], decode: Callable[[Any], int], **options: Any
) -> Any:
    return quire.attr(as_=(lambda each: encode(each.cents), lambda plain: Sum(decode(plain))), type=type, **options)


class Item(quire.Model):
    text: quire.Attr[Sum] = of_text(str)
    padded: quire.Attr[Sum] = of_text("{:09}".format, ordered=True)
    link: quire.Attr[Sum] = of_text(str, type=quire.URI)
    cents: quire.Attr[Sum] = of_number(quire.Integer64, int, int)
    debt: quire.Attr[Sum] = of_number(quire.Integer32, lambda cents: -cents, lambda plain: -plain, ordered=False)
    ratio: quire.Attr[Sum] = of_number(quire.Double, lambda cents: cents / 4, lambda plain: round(plain * 4))
    raw: quire.Attr[Sum] = of_number(quire.Transformable, lambda cents: str(cents).encode(), int)
    color: quire.Attr[Color]
    shade: quire.Attr[Color] = quire.attr(ordered=True)
    size: quire.Attr[Size]
    level: quire.Attr[Level]
    grade: quire.Attr[Grade]
    mark: quire.Attr[Mark]
    tone: quire.Attr[Tone]
    extra: quire.Attr[Any] = quire.attr(as_=quire.JSON)
    day: quire.Attr[date]
    clock: quire.Attr[time] = quire.attr(name="zClock")
    above: quire.ToOne[Optional["Item"]] = quire.relation(inverse="below")
    below: quire.ToMany["Item"] = quire.relation(inverse="above")


WITHOUT_ORDER = {"text", "link", "debt", "raw", "color", "grade", "extra"}
ATTRIBUTES = [name for name in Item.__annotations__ if name not in ("above", "below")]


def plain(value: Any) -> Any:
    """By what Python orders a value: itself, or the value of a member that has no order."""
    return value.value if isinstance(value, (Color, Level)) else value


def value_of(name: str, number: int) -> Any:
    members = {"color": Color, "shade": Color, "size": Size, "level": Level, "grade": Grade, "mark": Mark, "tone": Tone}
    if name in members:
        return list(members[name])[number % 2]
    if name == "day":
        return date(2020, 1, 1) + timedelta(number)
    if name == "clock":
        return time(number % 24, number % 60)
    return number if name == "extra" else Sum(number)


NUMBERS = (7, 10, 9, 100, 0, 23)
KEYS = {name: getattr(Item, name) for name in ATTRIBUTES}


class OrderTests(unittest.TestCase):
    """Whatever asks for the order of values gets Python's, or an error that names the attribute."""

    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Item])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.whole = self.context.add(Item(**{name: value_of(name, 8) for name in ATTRIBUTES}))
        self.items = [self.context.add(Item(**{name: value_of(name, each) for name in ATTRIBUTES})) for each in NUMBERS]
        self.items[0].above = self.whole
        self.context.save()
        self.all = [self.whole, *self.items]
        self.query = self.context.query(Item)

    def hold(self, ask: Callable[[str, Any], Any], expected: Callable[[str, Any], Any], values=NUMBERS) -> None:
        """What `ask` gives for each attribute and some values of it."""
        for name in ATTRIBUTES:
            for value in (value_of(name, each) for each in values):
                with self.subTest(name=name, value=value):
                    if name in WITHOUT_ORDER:
                        with self.assertRaisesRegex(quire.InvalidArgument, f"Item.{name}.*order") as caught:
                            ask(name, value)
                        self.assertEqual((caught.exception.entity, caught.exception.key), ("Item", name))
                        self.assertNotIn("zClock", str(caught.exception))
                    else:
                        self.assertEqual(ask(name, value), expected(name, value))

    def matching(self, test: Callable[[Any, Any], bool]) -> Callable[[str, Any], list[Item]]:
        return lambda name, value: [each for each in self.all if test(plain(getattr(each, name)), plain(value))]

    def sorted(self, name: str, value: Any = None) -> list[Item]:
        return sorted(self.all, key=lambda each: plain(getattr(each, name)))

    def test_keys_are_compared(self) -> None:
        for compare, test in (
            (operator.lt, lambda a, b: a < b), (operator.le, lambda a, b: not b < a),
            (operator.gt, lambda a, b: b < a), (operator.ge, lambda a, b: not a < b),
        ):
            self.hold(lambda name, value: self.query.where(compare(KEYS[name], value)).all(), self.matching(test))
        self.hold(
            lambda name, value: self.query.where(KEYS[name].between(value, value)).all(),
            self.matching(lambda a, b: not a < b and not b < a))
        self.hold(lambda name, value: self.query.where(KEYS[name] > KEYS[name]).all(), lambda name, value: [], [1])

    def test_a_comparison_fails_where_it_is_written(self) -> None:
        for compare in (
            lambda: Item.text > Sum(9), lambda: Item.text >= None, lambda: Item.cents < Item.text,
            lambda: Item.text.between(Sum(1), Sum(2)), lambda: Item.extra <= 5,
        ):
            with self.assertRaisesRegex(quire.InvalidArgument, "order"):
                compare()

    def test_text_is_compared(self) -> None:
        update = quire.Expression("max(text, '9')")
        with self.assertRaisesRegex(quire.InvalidArgument, "Item.text.*order"):
            self.query.update(link=update)
        for form in ("{0} > %@", "{0} >= %@ AND {0} != %@", "{0} BETWEEN {{%@, %@}} AND {0} != %@", "%@ < {0}",
                     "NOT ({0} <= %@)", "cents == 1 OR {0} > {0}", "SELF.{0} > %@", "ANY below.{0} > %@",
                     "above.{0} > %@", "SUBQUERY(below, $x, $x.{0} > %@).@count > 0", "TERNARY({0} > %@, 1, 2) == 1",
                     "max({0}, %@) == %@", "below.@max.{0} == %@", "below.{0}.@min == %@", "#{0} >[c] %@"):
            for name in WITHOUT_ORDER:
                text = form.format(name)
                with self.subTest(text), self.assertRaisesRegex(quire.InvalidArgument, f"Item.{name}.*order"):
                    self.query.where(text, *["1"] * text.count("%@")).all()
        self.assertEqual(self.query.where("cents > %@", 9).all(), [self.items[1], self.items[3], self.items[5]])
        self.assertEqual(self.query.where("zClock >= %@", 7 * 3600 * 1000000).count(), 5)

    def test_what_asks_for_no_order_is_as_before(self) -> None:
        for condition in (
            "text == '7' AND cents > 3", 'extra != "a > text < b"', "text IN {'7', '8 < 9'} AND zClock > 0",
            "CAST(text, 'NSNumber') > 9", "length(text) > 2 OR text BEGINSWITH '1'",
            "max(cents, 3) > 2 AND text != nil", "3 < cents AND text != '7'",
            "SUBQUERY(below, $x, $x.text == '7' AND $x.cents < 8).@count == 1", "below.@max.cents == 7", "link == text",
            "TERNARY(text == '7', cents, 0) < 9", "below.@count > 0 AND color != 'red > blue'",
        ):
            with self.subTest(condition):
                self.query.where(condition).all()
        self.assertEqual(self.query.where("CAST(text, 'NSNumber') > 9").count(), 3)
        self.assertEqual(self.query.where((Item.text == Sum(7)) | Item.text.in_([Sum(9), Sum(1)])).count(), 2)
        self.assertEqual(self.query.group_by(Item.color).count(), 2)
        self.assertEqual(len(self.query.distinct().values(Item.color)), 2)

    def test_rows_are_ordered(self) -> None:
        for order in (lambda name: KEYS[name], lambda name: KEYS[name].path, lambda name: KEYS[name].asc(),
                      lambda name: quire.Order(KEYS[name].path)):
            self.hold(lambda name, value: self.query.order_by(order(name)).all(), self.sorted, [1])
            self.hold(lambda name, value: list(self.query.order_by(order(name)).live()), self.sorted, [1])
        for order in (lambda name: KEYS[name].desc(), lambda name: "-" + KEYS[name].path):
            self.hold(
                lambda name, value: [plain(getattr(each, name)) for each in self.query.order_by(order(name))],
                lambda name, value: [plain(getattr(each, name)) for each in self.sorted(name)][::-1], [1])

    def test_rows_are_ordered_through_a_relationship(self) -> None:
        for each in self.items:
            each.above = self.context.add(Item(**{name: getattr(each, name) for name in ATTRIBUTES}))
        rows = self.query.where("above != nil")
        for path in (lambda name: "above." + KEYS[name].path, lambda name: Item.above.to(KEYS[name])):
            self.hold(
                lambda name, value: rows.order_by(path(name)).all(),
                lambda name, value: [each for each in self.sorted(name) if each is not self.whole], [1])

    def test_least_and_greatest_are_calculated(self) -> None:
        def least_of(name: str, value: Any) -> Any:
            return getattr(min(self.all, key=lambda each: plain(getattr(each, name))), name)

        for text in ("min:({})", "min({})"):
            for ask in (
                lambda name, value: self.query.aggregate(m=text.format(KEYS[name].path))["m"],
                lambda name, value: self.query.aggregate(m=quire.function("min", KEYS[name]))["m"],
                lambda name, value: self.query.live(aggregates={"m": text.format(KEYS[name].path)}).aggregates["m"],
                lambda name, value: self.query.dictionaries(m=text.format(KEYS[name].path))[0]["m"],
            ):
                self.hold(ask, least_of, [1])
        self.hold(
            lambda name, value: self.query.where(Item.below.max(KEYS[name]) == Item.below.min(KEYS[name])).all(),
            lambda name, value: self.all, [1])
        self.hold(
            lambda name, value: self.query.group_by("level").having(f"max:({KEYS[name].path}) != nil").count(),
            lambda name, value: 2, [1])

    def test_sections_are_ordered(self) -> None:
        for section in (
            lambda name: KEYS[name], lambda name: KEYS[name].path, lambda name: quire.Expression(KEYS[name].path),
            lambda name: quire.sections.by_value(KEYS[name]),
        ):
            def rows(name: str, value: Any) -> list[Item]:
                with self.query.live(section_by=section(name)) as live:
                    live.set_query(self.query, section_by=section(name))
                    return list(live)

            self.hold(rows, self.sorted, [1])
        for name in ("text", "color"):
            with self.assertRaisesRegex(quire.InvalidArgument, f"Item.{name}.*order"):
                self.query.live(section_by=quire.sections.by_letter(name))
            with self.assertRaisesRegex(quire.InvalidArgument, f"Item.{name}.*order"):
                self.query.live(section_by=quire.sections.by_value(KEYS[name], fixed=["red"]))
        # These are all that there are, in an order.
        for key, fixed in ((Item.color, list(Color)), ("color", list(Color)), (Item.color, ["red", "blue"])):
            live = self.query.live(section_by=quire.sections.by_value(key, fixed=fixed))
            self.assertEqual([(each.name, each.value) for each in live.sections], [(it.name, it) for it in Color])
        with self.assertRaisesRegex(quire.InvalidArgument, "Item.color.*order"):
            self.query.live(section_by=quire.sections.by_value("color", fixed=[Color.RED]))

    def test_a_list_gets_a_query_of_another_class(self) -> None:
        class Ware(quire.Model):
            text: quire.Attr[str]

        with quire.open(":memory:", [Item, Ware]) as store:
            wares, items = store.context.query(Ware), store.context.query(Item)
            live = wares.live(aggregates={"least": "min:(text)"})
            for section in (None, "text"):
                with self.assertRaisesRegex(quire.InvalidArgument, "Item.text.*order"):
                    live.set_query(items, section_by=section)
            with self.assertRaisesRegex(quire.InvalidArgument, "Item.text.*order"):
                wares.live(section_by="text").set_query(items, section_by="text")

    def test_objects_are_asked(self) -> None:
        self.hold(
            lambda name, value: quire.Predicate("%K >= %K", KEYS[name], KEYS[name]).matches(self.whole),
            lambda name, value: True, [1])
        with self.assertRaisesRegex(quire.InvalidArgument, "Item.text.*order"):
            quire.Expression("max(text, '9')").evaluate(self.whole)
        # A mapping has values of its own.
        self.assertTrue(quire.Predicate("text > '10'").matches({"text": "9"}))

    def test_declarations_say_so(self) -> None:
        for options, declared in (
            ({"__templates__": {"dear": ("price > $least", "number")}}, {}),
            ({"__templates__": {"dear": quire.Template(None, "-price")}}, {}),
            ({"__rules__": [("price > '3'", "It is dear.")]}, {}),
            ({"price": of_text(str, rules=[("SELF > '3'", "It is dear.")])}, {}),
            ({"price": of_text(str, minimum=Sum(3))}, {}),
            ({"price": of_text(str, maximum=Sum(3))}, {}),
            ({"dearest": quire.derived("below.price.@max")}, {"dearest": quire.Attr[Optional[str]]}),
            ({"dear": quire.fetched("price > $FETCH_SOURCE.price")}, {"dear": quire.Fetched["Ware"]}),
            ({"dear": quire.fetched("'3' < $FETCH_SOURCE.price")}, {"dear": quire.Fetched["Ware"]}),
            ({"dear": quire.fetched(None, "price")}, {"dear": quire.Fetched["Ware"]}),
        ):
            with self.subTest(options):
                ware = type("Ware", (quire.Model,), {
                    "__annotations__": {
                        "number": quire.Attr[int], "price": quire.Attr[Sum], "above": quire.ToOne[Optional["Ware"]],
                        "below": quire.ToMany["Ware"], **declared},
                    "price": of_text(str), "above": quire.relation(inverse="below"),
                    "below": quire.relation(inverse="above"), "__module__": __name__, **options})
                with self.assertRaisesRegex(quire.InvalidModel, "Ware.price.*order"):
                    quire.open(":memory:", [ware])

    def test_an_order_that_is_not_there_cannot_be_declared(self) -> None:
        for annotation, options, message in (
            (Grade, {"ordered": True}, "ordered=True.*Grade.LOW.*Grade.HIGH.*'low'.*'high'"),
            (int, {"ordered": True}, "ordered is for"),
            (str, {"ordered": False}, "ordered is for"),
            (Color, {"ordered": 1}, "ordered is True, False or None"),
        ):
            with self.subTest(message), self.assertRaisesRegex(TypeError, message):
                type("Refused", (quire.Model,), {
                    "__annotations__": {"it": quire.Attr[annotation]}, "it": quire.attr(**options),
                    "__module__": __name__})


if __name__ == "__main__":
    unittest.main()
