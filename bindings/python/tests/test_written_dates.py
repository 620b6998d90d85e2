"""Dates that predicates write as text: the same in memory, in SQL and over pending objects."""

import operator
import random
import re
import unittest
from datetime import datetime, timedelta, timezone
from typing import Any, Optional

import quire
from support import FileTestCase, seeds

EPOCH = datetime(2001, 1, 1, tzinfo=timezone.utc)
COMPARE: "dict[str, Any]" = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


class Day(quire.Model):
    name: quire.Attr[str]
    at: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    touched: quire.Attr[bool] = quire.attr(default=False)
    notes: quire.ToMany["Note"] = quire.relation(inverse="day")


class Note(quire.Model):
    at: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    day: quire.ToOne[Optional[Day]] = quire.relation(inverse="notes")


class WrittenDateTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, [Day, Note])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def names(self, condition: str, *arguments: Any) -> set[str]:
        """The days that a condition holds for. Saved and pending, it must hold for the same, and by object."""
        found = {each.name for each in self.context.query(Day).where(condition, *arguments)}
        by_object = {
            each.name for each in self.context.query(Day) if quire.Predicate(condition, *arguments).matches(each)}
        self.assertEqual(found, by_object, condition)
        with self.store.create_context() as other:
            for each in other.query(Day):
                each.touched = True
            pending = {each.name for each in other.query(Day).where(condition, *arguments)}
        self.assertEqual(found, pending, condition)
        return found

    def written(self, dice: random.Random, date: datetime) -> str:
        zone = timezone(timedelta(minutes=dice.choice([0, 0, 60, 345, -690])))
        text = date.astimezone(zone).isoformat(sep=dice.choice("T "))
        if not zone.utcoffset(None):
            text = dice.choice([text, text[:-6], text[:-6] + "Z", text[:-6] + "z"])
        elif dice.random() < 0.3:
            text = text[:-3] + text[-2:]
        return f" {text} " if dice.random() < 0.1 else text

    def test_they_compare_as_in_python(self) -> None:
        for seed in seeds(3):
            dice = random.Random(seed)
            self.context.query(Day).delete()
            dates = [
                EPOCH + timedelta(
                    days=dice.randrange(-30_000, 30_000), seconds=dice.randrange(86_400),
                    microseconds=dice.choice([0, 0, 500_000, dice.randrange(10**6)])) for _ in range(12)]
            for number, date in enumerate(dates):
                self.context.add(Day(name=f"{number}", at=date))
            self.context.add(Day(name="none"))
            self.context.save()
            for date in (*dates, *(each + timedelta(microseconds=1) for each in dates[:3])):
                text, name = self.written(dice, date), dice.choice(list(COMPARE))
                expected = {f"{number}" for number, each in enumerate(dates) if COMPARE[name](each, date)}
                expected |= {"none"} if name == "!=" else set()
                self.assertEqual(self.names(f"at {name} '{text}'"), expected, (seed, name, text))
                mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(name, name)
                self.assertEqual(self.names(f"%@ {mirrored} at", text), expected, (seed, name, text))
            few = dice.sample(range(12), 3)
            texts = [self.written(dice, dates[each]) for each in few]
            self.assertEqual(self.names("at IN %@", texts), set(map(str, few)), seed)
            low, high = sorted(dice.sample(dates, 2))
            expected = {f"{number}" for number, each in enumerate(dates) if low <= each <= high}
            between = f"at BETWEEN {{'{self.written(dice, low)}', %@}}"
            self.assertEqual(self.names(between, self.written(dice, high)), expected, seed)

    def test_they_are_dates_wherever_a_date_is_compared(self) -> None:
        for number in range(3):
            day = self.context.add(Day(name=f"{number}", at=datetime(2026, 3, 1 + number, tzinfo=timezone.utc)))
            self.context.add(Note(day=day, at=datetime(2026, 4, 1 + number, 12, tzinfo=timezone.utc)))
        self.context.save()
        for condition in (
            "at == '2026-03-02'", "SELF.at == '2026-03-02T00:00Z'", "at IN {'2026-03-02', '1999-01-01'}",
            "{'2026-03-02'} CONTAINS at", "ANY notes.at == '2026-04-02T12:00'", "notes.at CONTAINS '2026-04-02T12:00'",
            "'2026-04-02T12:00Z' IN notes.at", "ANY notes.at IN {'2026-04-02T14:00+02:00', nil}",
            "notes.@max.at == '2026-04-02T12:00'", "notes[FIRST].at == '2026-04-02T12:00'",
            "SUBQUERY(notes, $n, $n.at == '2026-04-02T12:00' AND $n.day.at < '2026-03-03').@count == 1",
            "TERNARY(at == '2026-03-02', 1, 0) == 1", "at == CAST('2026-03-02', 'NSDate')",
            "CAST(at, 'NSDate') == '2026-03-02'", "noindex:(at) == '2026-03-02'", "NOT at != '2026-03-02'",
            "at == CAST('794102400', 'NSDate')", "max:(notes.at) == '2026-04-02T12:00:00.000Z'",
        ):
            self.assertEqual(self.names(condition), {"1"}, condition)
        self.assertEqual(self.names("at != '2026-03-02'"), {"0", "2"})
        self.assertEqual(self.names("name == '2026-03-02' OR name IN {'2026-03-02', '2'}"), {"2"})
        query = self.context.query(Day)
        rows = query.dictionaries(first="TERNARY(at > '2026-03-02', 'late', 'early')")
        self.assertEqual([row["first"] for row in rows], ["early", "early", "late"])
        groups = query.group_by("name").having("max:(at) >= '2026-03-02' AND last < '2026-03-03'")
        self.assertEqual(groups.dictionaries("name", last="max:(at)")[0]["name"], "1")
        query.update(touched=quire.Expression("TERNARY(at > '2026-03-02', YES, NO)"))
        self.assertEqual([each.name for each in query.where("touched == YES")], ["2"])
        live = query.live(section_by=quire.Expression("TERNARY(at > '2026-03-02', 'late', 'early')"))
        self.assertEqual([(each.name, len(each)) for each in live.sections], [("early", 2), ("late", 1)])

    def test_text_that_is_no_date_is_rejected(self) -> None:
        self.context.add(Day(name="a"))
        self.context.save()
        query = self.context.query(Day)
        for text in (
            "yesterday", "", "2026", "2026-03", "2026-02-29", "2026-13-01", "2026-03-01T", "2026-03-01T24:00", "nan",
            "12", "2026-03-01T10:30+", "2026-03-01Z", "2026-3-1", "01.03.2026", "20260301", "0000-01-01", "x" * 100,
        ):
            for condition in ("at > %@", "%@ == at", "at != %@", "at IN {nil, %@}", "ANY notes.at <= %@",
                              "SUBQUERY(notes, $n, $n.at == %@).@count > 0", "TERNARY(at == %@, 1, 0) == 1"):
                with self.subTest(text=text, condition=condition):
                    said = re.escape(f"'{text[:60]}' is no date in ISO 8601, such as")
                    with self.assertRaisesRegex(quire.PredicateError, said):
                        query.where(condition, text).count()
                    with self.assertRaisesRegex(quire.PredicateError, "is no date in ISO 8601"):
                        quire.Predicate(condition, text).matches(query.first())
        with self.assertRaisesRegex(quire.PredicateError, "is no date in ISO 8601"):
            query.where("at < CAST('soon', 'NSDate')").count()
        with self.assertRaisesRegex(quire.PredicateError, "has no order|have no order"):
            query.where("at < 5").count()
        # Names come first.
        with self.assertRaises(quire.InvalidArgument) as raised:
            query.where("at < 'soon' AND when < 'later'").count()
        self.assertIn("when", str(raised.exception))

    def test_text_of_a_column_is_cast(self) -> None:
        for number, name in enumerate(("2026-03-01", "2026-03-02T10:00:00+01:00", "soon", "0", "794102400")):
            self.context.add(Day(name=name, at=datetime(2026, 3, 2, tzinfo=timezone.utc)))
        self.context.save()
        self.assertEqual(self.names("CAST(name, 'NSDate') > at"), {"2026-03-02T10:00:00+01:00"})
        self.assertEqual(self.names("CAST(name, 'NSDate') == at"), {"794102400"})
        self.assertEqual(self.names("CAST(name, 'NSDate') == nil"), {"soon"})


if __name__ == "__main__":
    unittest.main()
