"""Dates outside of the years that datetime knows, which files of other programs have."""

from __future__ import annotations

import contextlib
import sqlite3
import unittest
from datetime import datetime, timezone
from typing import Any, Optional, Union

import quire
from support import FileTestCase

DISTANT = 123457767319545.0
FIRST = datetime(2020, 1, 1, tzinfo=timezone.utc)


class Photo(quire.Model):
    name: quire.Attr[str]
    taken: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    seen: quire.Attr[Union[datetime, float, None]] = quire.attr(default=None)


class DistantDateTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, [Photo]) as store, store.context.transaction() as context:
            context.add(Photo(name="distant", taken=FIRST))
            context.add(Photo(name="near", taken=FIRST))
        with contextlib.closing(sqlite3.connect(self.path)) as program, program:
            program.execute("UPDATE ZPHOTO SET ZTAKEN = ? WHERE ZNAME = 'distant'", (DISTANT,))

    def opened(self) -> Any:
        store = quire.open(self.path, [Photo])
        self.addCleanup(store.close)
        return store

    def test_it_is_read_as_seconds_in_every_way(self):
        context = self.opened().context
        photos = context.query(Photo).order_by(Photo.name)
        self.assertEqual([each.taken for each in photos.all()], [DISTANT, FIRST])
        self.assertEqual(photos.values(Photo.taken), [(DISTANT,), (FIRST,)])
        self.assertEqual(photos.columns(Photo.name, Photo.taken)["taken"].to_list(), [DISTANT, FIRST])
        self.assertEqual([each["taken"] for each in photos.dictionaries(Photo.taken)], [DISTANT, FIRST])
        extremes = context.query(Photo).aggregate(first="min:(taken)", last="max:(taken)")
        self.assertEqual(extremes, {"first": FIRST, "last": DISTANT})
        self.assertEqual(quire.Expression("taken").evaluate(photos.first()), DISTANT)
        live = photos.live(section_by=Photo.taken, aggregates={"last": "max:(taken)"})
        self.assertEqual(live.aggregates["last"], DISTANT)
        self.assertEqual(sorted(str(each.value) for each in live.sections), sorted(map(str, [DISTANT, FIRST])))

    def test_it_is_in_the_section_of_the_last_day_that_is_known(self):
        context = self.opened().context
        context.add(Photo(name="early", taken=-1e14))
        context.add(Photo(name="never", taken=float("inf")))
        context.save()
        for rule, first, last in ((quire.sections.by_day, "0001-01-01", "9999-12-31"),
                                  (quire.sections.by_year, "0001", "9999")):
            with context.query(Photo).live(section_by=rule(Photo.taken)) as photos:
                shown = [(each.name, [photo.name for photo in each]) for each in photos.sections]
            self.assertEqual([shown[0], shown[-1][0]], [(first, ["early"]), last])
            self.assertEqual(sorted(shown[-1][1]), ["distant", "never"])

    def test_it_is_found_by_its_number(self):
        context = self.opened().context
        photos = context.query(Photo)
        (found,) = photos.where(Photo.taken == DISTANT).all()
        for condition in (
                Photo.taken > 1e14, Photo.taken.between(1e13, 1e15), Photo.taken.in_([DISTANT, FIRST.replace(year=1)]),
                Photo.taken >= DISTANT, quire.Predicate("taken > CAST(%@, 'NSDate')", 1e14)):
            self.assertEqual(photos.where(condition).all(), [found], condition)
            self.assertTrue(condition.matches(found), condition)
        self.assertEqual(photos.where(Photo.taken < -1e14).count(), 0)

    def test_a_number_is_set_where_datetime_knows_no_date(self):
        store = self.opened()
        context = store.context
        made = Photo(name="made", taken=-1e13, seen=10**14)
        self.assertEqual((made.taken, made.seen), (-1e13, 1e14))
        context.add(made)
        context.query(Photo).first().seen = float("inf")
        context.save()
        context.query(Photo).where("name == 'near'").update(taken=2e14)
        context.insert_rows(Photo, {"name": ["a", "b"], "taken": [FIRST, 3e14]})
        with contextlib.closing(sqlite3.connect(self.path)) as program:
            self.assertEqual(
                program.execute("SELECT ZNAME, ZTAKEN FROM ZPHOTO WHERE ZTAKEN IS NOT NULL ORDER BY 1").fetchall(),
                [("a", 599529600), ("b", 3e14), ("distant", DISTANT), ("made", -1e13), ("near", 2e14)])
            self.assertEqual(
                program.execute("SELECT ZSEEN FROM ZPHOTO WHERE ZSEEN IS NOT NULL ORDER BY 1").fetchall(),
                [(1e14,), (float("inf"),)])

    def test_any_other_number_is_refused_with_what_to_give_instead(self):
        context = self.opened().context
        photo = context.query(Photo).first()
        for value in (0, 5.5, -1, 2.5e11, float("nan"), True):
            with self.assertRaisesRegex(quire.WrongType, "Photo.taken expects datetime, not"):
                photo.taken = value
        with self.assertRaisesRegex(quire.WrongType, r"timedelta\(seconds="):
            Photo(name="x", taken=5)
        with self.assertRaisesRegex(quire.WrongType, "Row 1"):
            context.insert_rows(Photo, {"name": ["a", "b"], "taken": [FIRST, 3]})


if __name__ == "__main__":
    unittest.main()
