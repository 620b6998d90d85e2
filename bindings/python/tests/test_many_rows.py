"""Columns of many rows, which are read by a scan, beside the objects' own values."""

import random
import sqlite3
import tempfile
import unittest
from pathlib import Path
from typing import Optional

import quire
from support import seeds


class Item(quire.Model):
    place: quire.Attr[int]
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    single: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float)
    blob: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    other: quire.ToOne["Item | None"] = quire.relation(inverse="others")
    others: quire.ToMany["Item"] = quire.relation(inverse="other")


class Special(Item):
    extra: quire.Attr[Optional[int]] = quire.attr(default=None)


class ManyRowsTests(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "many.sqlite"
        self.store = quire.open(self.path, [Item, Special])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def fill(self, count, dice):
        for place in range(count):
            kind = dice.choice([Item, Item, Special])
            each = self.context.add(kind(
                place=place, text=dice.choice([None, "", "é😀", "a\0b" if dice.random() < 0.01 else "x" * 40]),
                single=dice.choice([None, 0.1, -2.5])))
            if place % 200 == 7:
                each.blob = dice.randbytes(110000)
            elif place % 3:
                each.blob = dice.randbytes(3)
        self.context.save()

    def expected(self, objects, names):
        return [tuple(getattr(each, name) for name in names) for each in objects]

    def test_columns_that_are_packed_in_parts_arrive_whole(self):
        for seed in seeds(2):
            dice = random.Random(seed)
            with self.subTest(seed=seed):
                self.context.query(Item).delete()
                count = 3 * 4096 + dice.choice([0, 1, 17])
                texts = ["x" * dice.randrange(3) for _ in range(count)]
                # Parts without and with None, and with what ASCII is not.
                texts[5000:5000 + dice.randrange(5000)] = [None] * 4
                texts += ["é😀"] * (count - len(texts))
                singles = [float(place % 7) for place in range(count)]
                ids = self.context.insert_many(Item, {"place": range(count), "text": texts, "single": singles})
                self.context.save()
                self.assertEqual(len(ids), count)
                rows = self.context.query(Item).order_by("place").values("place", "text", "single")
                self.assertEqual(list(rows), list(zip(range(count), texts, singles)))

    def test_a_value_that_does_not_fit_is_named_by_its_row_in_any_part(self):
        places = list(range(10_000))
        places[9_000] = "nine"
        with self.assertRaises(quire.WrongType) as caught:
            self.context.insert_many(Item, {"place": places})
        self.assertEqual(caught.exception.row, 9_000)
        self.assertIn("Row 9000, counted from 0", str(caught.exception))
        self.assertEqual(self.context.query(Item).count(), 0)

    def test_a_large_change_set_is_read_while_it_is_closed(self):
        told = []
        live = self.context.query(Item).order_by("place").live()
        live.on_change(told.append)
        self.context.insert_many(Item, {"place": range(10_000)})
        self.context.process()
        [changes] = told
        self.assertEqual(len(changes), 10_000)
        read = []
        for change in changes:
            if len(read) == 100:
                changes.close()
            read.append(change.new_flat)
        self.assertEqual(read, list(range(10_000)))
        with self.assertRaises(quire.StoreClosed):
            list(changes)
        self.assertEqual(len(changes), 10_000)

    def test_scanned_columns_are_the_objects_values(self):
        for seed in seeds(4):
            dice = random.Random(seed)
            with self.subTest(seed=seed):
                self.context.query(Item).delete()
                self.fill(700, dice)
                names = dice.sample(["place", "text", "single", "blob"], k=dice.randrange(1, 5))
                if dice.random() < 0.5:
                    self.context.query(Item).where("modulus:by:(place, 5) == 2").delete()
                objects = self.context.query(Item).all()
                found = self.expected(objects, names)
                del objects
                self.assertEqual(self.context.query(Item).values(*names), found)
                half = self.context.query(Item).where("single == nil")
                self.assertEqual(half.values(*names), self.expected(half.all(), names))
                with quire.open(self.path, [Item, Special]) as store:
                    # No object is there.
                    self.assertEqual(store.context.query(Item).values(*names), found)
                    self.assertEqual(
                        store.context.query(Special).values("extra", "place"),
                        [(None, each.place) for each in self.context.query(Special)])

    def test_unsaved_changes_are_among_scanned_rows(self):
        self.fill(600, random.Random(1))
        objects = self.context.query(Item).all()
        objects[300].text = "changed"
        self.context.delete(objects[400])
        self.context.add(Item(place=1000, text="new"))
        kept = self.context.query(Item).order_by(Item.place).all()
        self.assertEqual(
            self.context.query(Item).order_by(Item.place).values("place", "text"),
            self.expected(kept, ["place", "text"]))

    def test_a_row_that_another_program_took_away_says_so(self):
        self.fill(600, random.Random(2))
        with quire.open(self.path, [Item, Special]) as store:
            live = store.context.query(Item).live()
            ids = live.ids
            with sqlite3.connect(self.path) as connection:
                connection.execute("DELETE FROM ZITEM WHERE Z_PK = ?", (ids[500],))
            connection.close()
            self.assertEqual(len(live.columns("place")["place"]), 600)
            with live.suspended():
                store.context.merge()
                with self.assertRaisesRegex(quire.NotFound, str(ids[500])):
                    live.columns("place")
                self.assertEqual(len(live.columns("place", first=0, count=500)["place"]), 500)
            self.assertEqual(len(live.columns("place")["place"]), 599)

    def test_what_no_attribute_holds_says_so(self):
        self.fill(600, random.Random(3))
        with sqlite3.connect(self.path) as connection:
            connection.execute("UPDATE ZITEM SET ZPLACE = 'nine' WHERE Z_PK = 300")
        connection.close()
        with quire.open(self.path, [Item, Special]) as store:
            with self.assertRaisesRegex(quire.DatabaseError, "ZPLACE.*text where"):
                store.context.query(Item).columns("place")
            self.assertEqual(len(store.context.query(Item).columns("text")["text"]), 600)


if __name__ == "__main__":
    unittest.main()
