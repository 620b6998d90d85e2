"""What live lists and calculations have of attributes whose values a program has in another form than the store."""

import enum
import json
import random
import unittest
from datetime import date, datetime
from typing import Any, Optional

import quire
from support import seeds
from test_conversions import NAMES, Color, Money, Shirt, random_values


class Weekday(enum.Enum):
    """One whose class says how a member is written."""

    MONDAY = 1
    SUNDAY = 7

    def __str__(self) -> str:
        return self.name.title()


class Meeting(quire.Model):
    day: quire.Attr[Optional[date]] = quire.attr(default=None, name="onDay")
    at: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    weekday: quire.Attr[Optional[Weekday]] = quire.attr(default=None)
    shirt: quire.ToOne["Worn | None"] = quire.relation(inverse="meetings")


class Worn(Shirt):
    meetings: quire.ToMany["Meeting"] = quire.relation(inverse="shirt")


def printed(name: str, value: Any) -> str:
    """What a section of such values is called."""
    if value is None:
        return ""
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, Money):
        return value.to_text() if name == "price" else str(value.cents)
    if name in ("extra", "labels"):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return value.isoformat()


class ConvertedListTests(unittest.TestCase):
    def setUp(self):
        self.store = quire.open(":memory:", [Worn, Meeting])
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.query = self.context.query(Worn)

    def add(self, **values):
        return self.context.add(Worn(**{"color": Color.RED, **values}))

    def fill(self, dice):
        self.query.delete()
        return [self.add(**random_values(dice)) for _ in range(30)]

    def test_the_least_and_the_greatest_are_values(self):
        for seed in seeds(3):
            rows = self.fill(random.Random(seed))
            self.context.save()
            for name in NAMES:
                key = getattr(Worn, name)
                kind = type(self)._stored(name)
                values = sorted((getattr(row, name) for row in rows if getattr(row, name) is not None), key=kind)
                expected = {"least": values[0], "most": values[-1]}
                made = {"least": f"min:({name})", "most": quire.function("max", key)}
                with self.subTest(seed=seed, name=name), self.query.live(section_by="made", aggregates=made) as live:
                    self.assertEqual(self.query.aggregate(**made), expected)
                    self.assertEqual(self.query.dictionaries(**made), [expected])
                    self.assertEqual(dict(live.aggregates), expected)
                    for section in live.sections:
                        own = [getattr(row, name) for row in section if getattr(row, name) is not None]
                        own.sort(key=kind)
                        self.assertEqual(
                            dict(section.aggregates),
                            {"least": own[0] if own else None, "most": own[-1] if own else None})
                    told = []
                    live.on_change(told.append)
                    for row in rows[1:]:
                        self.context.delete(row)
                    self.context.process()
                    left = getattr(rows[0], name)
                    self.assertEqual(dict(live.aggregates), {"least": left, "most": left})
                    for each in told[-1].aggregate_changes:
                        if each.section is None:
                            self.assertEqual(each.value, left)
                    self.context.rollback()

    @staticmethod
    def _stored(name):
        return {"color": lambda each: each.value, "cost": lambda each: each.cents}.get(
            name, lambda each: printed(name, each) if name in ("extra", "labels", "price") else each)


if __name__ == "__main__":
    unittest.main()
