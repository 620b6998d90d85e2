"""Attributes that a program has in another form than the store: enumerations, days, times, JSON, and its own types."""

import contextlib
import enum
import math
import random
import sqlite3
import tempfile
import unittest
from datetime import date, datetime, time, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, Optional

import quire
from support import seeds


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 10


class Money:
    """A type of the program."""

    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and self.cents == other.cents

    __hash__ = None

    def to_text(self) -> str:
        return f"{self.cents} cents"

    @staticmethod
    def from_text(text: str) -> "Money":
        return Money(int(text.removesuffix(" cents") if hasattr(text, "removesuffix") else text[:-6]))


class Shirt(quire.Model):
    color: quire.Attr[Color] = quire.attr(ordered=True)
    size: quire.Attr[Optional[Size]] = quire.attr(as_=Size, type=quire.Integer16, default=None)
    made: quire.Attr[Optional[date]] = quire.attr(default=None)
    packed_at: quire.Attr[Optional[time]] = quire.attr(default=None)
    extra: quire.Attr[Any] = quire.attr(as_=quire.JSON, ordered=True, default=None)
    labels: quire.Attr[Optional[dict[str, int]]] = quire.attr(as_=quire.JSON, ordered=True, default=None)
    price: quire.Attr[Optional[Money]] = quire.attr(
        as_=(Money.to_text, Money.from_text), ordered=True, default=None)
    cost: quire.Attr[Money] = quire.attr(
        as_=(lambda money: money.cents, Money), type=quire.Integer64, default=Money(5))


NAMES = list(Shirt.__annotations__)


def random_values(dice):
    values = {
        "size": dice.choice(list(Size)),
        "made": date.fromordinal(dice.randrange(1, 3000000)),
        "packed_at": time(dice.randrange(24), dice.randrange(60), dice.randrange(60), dice.randrange(1000000)),
        "extra": dice.choice([1, "é😀", [1, None, {"b": 2}], {"z": [], "a": True}, 0.5, False, "", []]),
        "labels": {"a": dice.randrange(5)},
        "price": Money(dice.randrange(100)),
    }
    return {
        "color": dice.choice(list(Color)), "cost": Money(dice.randrange(100)),
        **{name: None if dice.random() < 0.3 else value for name, value in values.items()}}


class ConversionTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "shirts.sqlite"
        self.store = quire.open(self.path, [Shirt])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def test_values_come_back_and_are_found(self):
        for seed in seeds(5):
            dice = random.Random(seed)
            rows = [random_values(dice) for _ in range(40)]
            with self.subTest(seed=seed):
                self.context.query(Shirt).delete()
                if dice.random() < 0.5:
                    self.context.insert_many(Shirt, {name: [row[name] for row in rows] for name in NAMES})
                else:
                    for row in rows:
                        self.context.add(Shirt(**row))
                self.context.save()
                with quire.open(self.path, [Shirt]) as other:
                    query = other.context.query(Shirt)
                    expected = [tuple(row[name] for name in NAMES) for row in rows]
                    self.assertEqual([tuple(getattr(each, name) for name in NAMES) for each in query], expected)
                    self.assertEqual(query.values(), expected)
                    self.assertEqual(list(zip(*(each.to_list() for each in query.columns().values()))), expected)
                    self.assertEqual([tuple(each.values()) for each in query.dictionaries(*NAMES)], expected)
                    for name in NAMES:
                        sought = rows[0][name]
                        count = sum(row[name] == sought for row in rows)
                        self.assertEqual(query.where(getattr(Shirt, name) == sought).count(), count, name)
                        self.assertEqual(query.where(getattr(Shirt, name) != sought).count(), 40 - count, name)
                        if sought is not None:
                            self.assertEqual(getattr(other.context.find(Shirt, **{name: sought}), name), sought)

    def test_orders_and_ranges(self):
        for days in (3, 1, 2):
            self.context.add(Shirt(
                color=Color.RED, made=date(2024, 1, days), packed_at=time(days), size=Size.LARGE if days > 1 else None))
        query = self.context.query(Shirt).order_by(Shirt.made)
        self.assertEqual([each.made.day for each in query], [1, 2, 3])
        self.assertEqual(query.where(Shirt.made >= date(2024, 1, 2)).count(), 2)
        self.assertEqual(query.where(Shirt.made.between(date(2024, 1, 2), date(2024, 1, 2))).count(), 1)
        self.assertEqual(query.where(Shirt.packed_at < time(2, 30)).count(), 2)
        self.assertEqual(query.where(Shirt.color.in_([Color.BLUE, Color.RED])).count(), 3)
        self.assertEqual(query.where((Shirt.size > Size.SMALL) & (Shirt.color != Color.BLUE)).count(), 2)
        self.assertEqual(query.where("color == 'red' AND size == 10").count(), 2)
        live = query.live(section_by=Shirt.color)
        self.assertEqual([(each.name, len(each)) for each in live.sections], [("RED", 3)])

    def test_rules_and_aggregates(self):
        class Shift(quire.Model):
            day: quire.Attr[Optional[date]] = quire.attr(default=None, minimum=date(2020, 1, 1))
            begins: quire.Attr[Optional[time]] = quire.attr(default=None, minimum=time(8), maximum=time(18))
            size: quire.Attr[Optional[Size]] = quire.attr(default=None, as_=Size, maximum=Size.LARGE)
            cost: quire.Attr[Money] = quire.attr(
                as_=(lambda money: money.cents, Money), type=quire.Integer64, default=Money(5), maximum=Money(10))
            color: quire.Attr[Color] = quire.attr(default=Color.RED, pattern="r.*")

        with quire.open(":memory:", [Shift]) as store:
            context = store.context
            for values, message in (
                ({"day": date(2019, 12, 31)}, "Shift.day.*below its minimum"),
                ({"begins": time(7, 59, 59)}, "Shift.begins.*below its minimum"),
                ({"begins": time(18, 0, 0, 1)}, "Shift.begins.*above its maximum"),
                ({"cost": Money(11)}, "Shift.cost.*above its maximum"),
                ({"color": Color.BLUE}, "Shift.color.*pattern"),
            ):
                context.add(Shift(**values))
                with self.subTest(values=values), self.assertRaisesRegex(quire.ValidationError, message):
                    context.save()
                context.rollback()
                with self.subTest(values=values), self.assertRaisesRegex(quire.ValidationError, message):
                    context.insert_rows(Shift, {name: [value] for name, value in values.items()})
            for day in (3, 1, 2):
                context.add(Shift(day=date(2024, 1, day), begins=time(8 + day), size=Size.LARGE, cost=Money(day)))
            context.save()
            query = context.query(Shift)
            # Sums and averages have the stored form.
            first = date(2024, 1, 1)
            self.assertEqual(
                query.aggregate(first="min:(day)", most="max:(cost)", all="sum:(cost)", mean="average:(begins)"),
                {"first": first, "most": Money(3), "all": 6, "mean": 10 * 3600e6})
            self.assertEqual(dict(query.live(aggregates={"first": "min:(day)"}).aggregates), {"first": first})
            found = query.group_by(Shift.size).dictionaries(Shift.size, least="min:(cost)")
            self.assertEqual(found, [{"size": Size.LARGE, "least": Money(1)}])
            self.assertEqual(
                query.group_by(Shift.day).having(quire.function("max", Shift.begins) >= time(10)).values(),
                [(date(2024, 1, 2),), (date(2024, 1, 3),)])
            self.assertEqual(
                query.order_by(Shift.day).limit(1).dictionaries(own="day", size=quire.Expression("%K", Shift.size)),
                [{"own": first, "size": Size.LARGE}])
            late = query.where(Shift.begins > time(9, 30)).order_by(Shift.day)
            self.assertEqual(
                late.values(Shift.day, Shift.cost), [(date(2024, 1, 2), Money(2)), (date(2024, 1, 3), Money(3))])

    def test_values_through_relationships(self):
        class Tag(quire.Model):
            tint: quire.Attr[Optional[Color]] = quire.attr(default=None, name="zTint")
            day: quire.Attr[Optional[date]] = quire.attr(default=None)
            words: quire.Attr[Any] = quire.attr(as_=quire.JSON, default=None)
            parts: quire.ToMany["Part"] = quire.relation(inverse="tag")

        class Fine(Tag):
            pass

        class Part(quire.Model):
            number: quire.Attr[int]
            # Of the same name and without a conversion.
            day: quire.Attr[Optional[datetime]] = quire.attr(default=None)
            tag: quire.ToOne[Optional[Tag]] = quire.relation(inverse="parts", name="zTag")
            above: quire.ToOne[Optional["Part"]] = quire.relation(inverse="below")
            below: quire.ToMany["Part"] = quire.relation(inverse="above")

        with quire.open(":memory:", [Tag, Fine, Part]) as store:
            context = store.context
            whole = context.add(Part(number=1))
            whole.tag = context.add(Fine(tint=Color.BLUE, day=date(2024, 1, 2), words=[1]))
            part = context.add(Part(number=2, day=datetime(2024, 1, 2, tzinfo=timezone.utc)))
            part.above = whole
            context.save()
            query = context.query(Part).order_by("number")
            path = Part.above.to(Part.tag).to(Tag.tint)
            keys = ["zTag.zTint", "zTag.day", "zTag.words", path, "above.zTag.day", "day", "above.number"]
            expected = [
                (Color.BLUE, date(2024, 1, 2), [1], None, None, None, None),
                (None, None, None, Color.BLUE, date(2024, 1, 2), datetime(2024, 1, 2, tzinfo=timezone.utc), 1)]
            for each in (query, query.live()):
                self.assertEqual(each.values(*keys), expected)
                columns = each.columns(*keys)
                self.assertEqual(list(zip(*(each.to_list() for each in columns.values()))), expected)
                self.assertEqual(columns[path].to_list(), [None, Color.BLUE])
            self.assertEqual([tuple(each.values()) for each in query.dictionaries(*keys)], expected)
            grouped = context.query(Part).where("zTag != nil").group_by("zTag.zTint")
            self.assertEqual(grouped.values(), [(Color.BLUE,)])
            self.assertEqual(
                grouped.dictionaries("zTag.zTint", day="max:(zTag.day)"),
                [{"zTag.zTint": Color.BLUE, "day": date(2024, 1, 2)}])
            self.assertEqual(
                [quire.Expression(each).evaluate(part) for each in ("above.zTag.zTint", "SELF.above.zTag.day", "day")],
                [Color.BLUE, date(2024, 1, 2), datetime(2024, 1, 2, tzinfo=timezone.utc)])
            self.assertEqual(path.evaluate(part), Color.BLUE)
            self.assertEqual(quire.Expression("below.above.zTag.words").evaluate(whole), [[1]])
            self.assertEqual(quire.Expression("max:(below.above.zTag.day)").evaluate(whole), date(2024, 1, 2))
            self.assertEqual(query.values(Part.tag)[0], (whole.tag.id,))

    def test_what_leads_to_values_is_compared_with_them(self):
        class Box(quire.Model):
            number: quire.Attr[int]
            things: quire.ToMany["Thing"] = quire.relation(inverse="box")

        class Thing(quire.Model):
            color: quire.Attr[Optional[Color]] = quire.attr(ordered=True, default=None)
            day: quire.Attr[Optional[date]] = quire.attr(default=None)
            words: quire.Attr[Any] = quire.attr(as_=quire.JSON, default=None)
            cost: quire.Attr[Optional[Money]] = quire.attr(as_=(Money.to_text, Money.from_text), default=None)
            box: quire.ToOne[Optional[Box]] = quire.relation(inverse="things")

        dice = random.Random(1)
        choices = {
            "color": list(Color), "day": [date(2024, 1, each) for each in range(1, 4)],
            "words": [[1], {"a": "b"}, "text", 5], "cost": [Money(1), Money(2)]}
        with quire.open(":memory:", [Box, Thing]) as store:
            context = store.context
            boxes = [context.add(Box(number=number)) for number in range(8)]
            for _ in range(16):
                thing = context.add(Thing(**{name: dice.choice(values) for name, values in choices.items()}))
                thing.box = dice.choice(boxes)
            context.save()
            things, found = context.query(Thing), context.query(Box)
            for name, values in choices.items():
                key = getattr(Thing, name)
                for value in values:
                    having = {box for box in boxes if any(getattr(each, name) == value for each in box.things)}
                    rest = {box for box in boxes if all(getattr(each, name) != value for each in box.things)}
                    with self.subTest(name=name, value=value):
                        self.assertEqual(set(found.where(Box.things.any(key) == value)), having)
                        self.assertEqual(set(found.where(Box.things.none(key) == value)), rest)
                        self.assertEqual(set(found.where(Box.things.any(key).in_([value]))), having)
                        of_them = [each for each in things if getattr(each, name) == value]
                        self.assertEqual(things.where(key.in_([value])).all(), of_them)
                        self.assertEqual(things.where(key.in_(values)).count(), 16)
                        self.assertEqual(found.where(
                            Box.things.subquery(lambda each: each.to(key) == value).count == 1).count(),
                            sum(sum(getattr(each, name) == value for each in box.things) == 1 for box in boxes))
            for name, order in (("color", lambda each: each.value), ("day", lambda each: each)):
                key = getattr(Thing, name)
                for box in boxes:
                    most = max((getattr(each, name) for each in box.things), key=order, default=None)
                    self.assertEqual(Box.things.max(key).evaluate(box), most)
                    self.assertIn(box, found.where(Box.things.max(key) == most).all())
                    self.assertIn({"most": most}, found.dictionaries(most=Box.things.max(key)))
            things.update({Thing.day: quire.function("max", Thing.day, date(2024, 1, 2))})
            self.assertEqual({each.day for each in things}, {date(2024, 1, 2), date(2024, 1, 3)})

    def test_parts_of_json_are_texts(self):
        for extra in ({"a": 1}, {"b": "a"}, ["b"]):
            self.context.add(Shirt(color=Color.RED, extra=extra))
        query = self.context.query(Shirt)
        self.assertEqual(query.where(Shirt.extra.contains('"a":')).count(), 1)
        self.assertEqual(query.where(Shirt.extra.begins_with("{")).count(), 2)
        self.assertEqual(query.where(Shirt.extra.like('["?"]')).count(), 1)
        self.assertEqual(query.where(Shirt.color.begins_with("r")).count(), 3)
        self.assertEqual(query.where(Shirt.color.contains(Color.RED)).count(), 3)

    def test_what_no_value_equals_is_not_looked_for(self):
        for value in ("green", 5, date(2024, 1, 1)):
            with self.assertRaisesRegex(quire.WrongType, "Shirt.color expects Color, .* none of its values equals"):
                self.context.find(Shirt, color=value)
        # A text alone does not say which attribute it compares with a value.
        for value, remedy in (
            (Color.RED, "give its value, Color.RED.value"), (time(9), "give the microseconds since midnight"),
            (date(2024, 1, 1), "give a moment of that day"),
        ):
            with self.assertRaisesRegex(quire.WrongType, remedy):
                self.context.query(Shirt).group_by("color").having("max:(color) == %@", value)
        self.assertIsNone(self.context.find(Shirt, color=Color.BLUE))
        self.assertIsNone(self.context.find(Shirt, color="blue"))

    def test_deleted_objects_leave_values(self):
        class Member(enum.Enum):
            OLD = 1
            NEW = 2

        class Deed(quire.Model):
            day: quire.Attr[date] = quire.attr(preserved=True, name="onDay")
            by: quire.Attr[Member] = quire.attr(preserved=True)
            words: quire.Attr[Any] = quire.attr(as_=quire.JSON, preserved=True)
            cost: quire.Attr[Optional[Money]] = quire.attr(
                as_=(Money.to_text, Money.from_text), preserved=True, default=None)

        path = Path(self.folder.name) / "deeds.sqlite"
        with quire.open(path, [Deed], track_history=True) as store:
            context = store.context
            deed = context.add(Deed(day=date(2024, 1, 2), by=Member.OLD, words={"a": [1]}))
            context.save()
            context.delete(deed)
            context.save()
            left = store.history()[1].changes[0].tombstone
            expected = {"onDay": date(2024, 1, 2), "by": Member.OLD, "words": {"a": [1]}, "cost": None}
            self.assertEqual((left, dict(left)), (expected, expected))
            deed = context.add(Deed(day=date(2024, 1, 2), by=Member.NEW, words=1))
            context.save()
            context.query(Deed).update(by=quire.Expression("3"))
            context.query(Deed).delete()
            # What follows the history is not kept from the rest.
            left = store.history()[-1].changes[0].tombstone
            self.assertEqual((left["onDay"], len(left), repr(left["words"])), (date(2024, 1, 2), 4, "1"))
            with self.assertRaisesRegex(quire.InvalidArgument, "^Deed.by: the store has 3, which cannot be decoded"):
                left["by"]

    def test_changes_are_saved_and_undone(self):
        shirt = self.context.add(Shirt(color=Color.RED, extra={"a": [1]}))
        self.context.save()
        shirt.color, shirt.extra = Color.BLUE, {"a": [1, 2]}
        self.assertEqual(shirt.extra, {"a": [1, 2]})
        self.context.rollback()
        self.assertEqual((shirt.color, shirt.extra), (Color.RED, {"a": [1]}))
        self.context.query(Shirt).update(color=Color.BLUE, made=date(1, 1, 1), cost=Money(9))
        self.assertEqual((shirt.color, shirt.made, shirt.cost), (Color.BLUE, date(1, 1, 1), Money(9)))

    def test_versions_in_conflict_have_values(self):
        dice = random.Random(1)
        committed, here, there = (random_values(dice) for _ in range(3))
        shirt = self.context.add(Shirt(**committed))
        self.context.save()
        self.context.enable_undo()
        for name, value in here.items():
            setattr(shirt, name, value)
        self.context.process()
        self.context.undo()
        self.assertEqual({name: getattr(shirt, name) for name in NAMES}, committed)
        self.context.redo()
        self.assertEqual({name: getattr(shirt, name) for name in NAMES}, here)
        with self.store.background() as other:
            other.query(Shirt).update(**there)
        with self.assertRaises(quire.Conflict) as caught:
            self.context.save()
        conflict, = caught.exception.conflicts
        self.assertEqual((conflict.committed, conflict.stored, conflict.current), (committed, there, here))

    def test_what_cannot_be_decoded_hides_neither_conflicts_nor_rules(self):
        class Ruled(quire.Model):
            color: quire.Attr[Color] = quire.attr(pattern="r.*|b.*")
            count: quire.Attr[int] = quire.attr(default=0)

        path = Path(self.folder.name) / "ruled.sqlite"
        with quire.open(path, [Ruled]) as store:
            context = store.context
            ruled = context.add(Ruled(color=Color.RED))
            context.save()
            ruled.count = 1
            with store.background() as other:
                other.query(Ruled).update(color=quire.Expression("'rose'"))
            with self.assertRaises(quire.Conflict) as caught:
                context.save()
            stored = caught.exception.conflicts[0].stored
            self.assertEqual((stored["count"], repr(stored)), (0, "{'color': 'rose', 'count': 0}"))
            with self.assertRaisesRegex(quire.InvalidArgument, "^Ruled.color: the store has 'rose'"):
                stored["color"]
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE ZRULED SET ZCOLOR = 'green'")
        with quire.open(path, [Ruled]) as store:
            with self.assertRaisesRegex(quire.ValidationError, "Ruled.color.*pattern") as refused:
                store.context.query(Ruled).one().validate()
            self.assertEqual(refused.exception.value, "green")

    def test_the_value_given_is_not_the_value_kept(self):
        given = {"a": [1]}
        shirt = Shirt(color=Color.RED, extra=given)
        given["a"].append(2)
        self.assertEqual(shirt.extra, {"a": [1]})

    def test_what_does_not_fit_says_so(self):
        for values, kind, message in (
            ({"color": "red"}, quire.WrongType, "Shirt.color expects Color, not str"),
            ({"made": datetime.now(timezone.utc)}, quire.WrongType, "moment and no day"),
            ({"packed_at": time(1, tzinfo=timezone.utc)}, quire.WrongType, "Shirt.packed_at: .*has a time zone"),
            ({"extra": {1, 2}}, quire.InvalidArgument, "Shirt.extra: .*not JSON serializable"),
            ({"extra": math.inf}, quire.InvalidArgument, "Shirt.extra: inf cannot be encoded"),
            ({"labels": [1]}, quire.WrongType, "Shirt.labels expects dict, not list"),
            ({"price": 5}, quire.WrongType, "Shirt.price expects Money, not int"),
        ):
            with self.subTest(values=values):
                with self.assertRaisesRegex(kind, message):
                    Shirt(**{"color": Color.RED, **values})
                self.context.query(Shirt).delete()
                name, value = next(iter(values.items()))
                columns = {"color": [Color.RED] * 2, name: [Color.RED if name == "color" else None, value]}
                with self.assertRaisesRegex(quire.Error, "Row 1"):
                    self.context.insert_many(Shirt, columns)

    def test_what_the_store_has_and_nothing_decodes_says_so(self):
        self.context.add(Shirt(color=Color.RED))
        self.context.save()
        self.context.query(Shirt).update(color=quire.Expression("'green'"))
        shirt = self.context.query(Shirt).one()
        with self.assertRaisesRegex(quire.InvalidArgument, "Shirt.color: the store has 'green', which cannot be dec"):
            shirt.color
        shirt.color = Color.BLUE
        self.assertEqual(shirt.color, Color.BLUE)

    def test_declarations_that_say_nothing_possible_are_refused(self):
        class Mixed(enum.Enum):
            ONE = 1
            TWO = "two"

        for annotation, options, message in (
            (Mixed, {}, "values of Mixed are not all of one type"),
            (Color, {"as_": 5}, "as_ is an enumeration"),
            (Color, {"as_": (str,)}, "as_ is an enumeration"),
            (date, {"type": quire.Integer64}, "no type that it can be stored as"),
            (Decimal, {"as_": (1, 2)}, "as_ is an enumeration"),
            (Color, {"as_": Color, "type": int}, "no type that it can be stored as"),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(TypeError, message):
                type("Refused", (quire.Model,), {
                    "__annotations__": {"it": quire.Attr[annotation]}, "it": quire.attr(**options),
                    "__module__": __name__})


if __name__ == "__main__":
    unittest.main()
