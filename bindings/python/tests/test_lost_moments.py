"""Contexts whose moment the store has given up, because the write-ahead log had become too long."""

import pathlib
import tempfile
import unittest

import quire


class Line(quire.Model):
    text: quire.Attr[str]
    rank: quire.Attr[int] = quire.attr(default=0)


class LostMomentTests(unittest.TestCase):
    LIMIT = 65_536

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = quire.open(
            pathlib.Path(folder.name) / "lines.sqlite", [Line], wal_limit=self.LIMIT, relaxed_durability=True)
        self.addCleanup(self.store.close)
        self.writer, self.reader = self.store.context, self.store.create_context()
        self.first, self.second = (self.writer.add(Line(text=text, rank=rank)) for rank, text in enumerate("ab"))
        self.writer.save()
        self.reader.merge()
        self.live = self.reader.query(Line).where("rank < 10").order_by("rank").live()
        self.told: list[int] = []
        self.live.on_change(lambda change: self.told.append(len(change)))
        self.shown = self.live[0]
        self.assertEqual(self.shown.text, "a")

    def lose(self) -> None:
        """Writes until the store gives up the moment of the reader."""
        self.writer.save()
        while self.store.wal_info.size < 4 * self.LIMIT:
            self.fill()
        self.assertFalse(self.reader.has_lost_moment)
        while not self.store.wal_info.lost_count:
            self.fill()
        self.assertTrue(self.reader.has_lost_moment)

    def fill(self) -> None:
        self.writer.add(Line(text="x" * 5000, rank=99))
        self.writer.save()

    def test_no_read_calls_handlers_and_what_is_shown_stays(self) -> None:
        unread = self.reader.get(Line, self.second.id)
        unread.refresh(merge=False)
        self.reader.process()
        self.assertEqual(self.shown.text, "a")
        self.told.clear()
        self.first.text, self.second.text, self.second.rank = "A", "B", 50
        self.lose()
        self.assertEqual((self.shown.text, len(self.live), self.live[0]), ("a", 2, self.shown))
        self.assertEqual(self.reader.query(Line).where("text == 'B'").one(), unread)
        self.assertEqual(self.live.ids.tolist(), [self.first.id, self.second.id])
        self.assertEqual([line.id for line in self.live], [self.first.id, self.second.id])
        with self.assertRaisesRegex(quire.InvalidState, "merge"):
            self.reader.moment
        self.assertEqual((self.told, self.reader.has_lost_moment), ([], True))
        self.reader.merge()
        self.assertEqual((len(self.told), self.reader.has_lost_moment, self.store.wal_info.lost_count), (1, False, 0))
        self.assertEqual((self.shown.text, unread.text), ("A", "B"))
        self.assertEqual(self.live.ids, self.reader.query(Line).where("rank < 10").order_by("rank").ids())

    def test_an_object_whose_row_is_gone_is_not_found_until_a_merge(self) -> None:
        gone = self.second.id
        self.writer.delete(self.second)
        self.lose()
        with self.assertRaisesRegex(quire.NotFound, r"merge"):
            self.reader.get(Line, gone)
        with self.assertRaisesRegex(quire.NotFound, r"merge"):
            self.live.values("text")
        self.assertEqual((len(self.live), self.told), (2, []))
        self.reader.merge()
        self.assertEqual((len(self.live), self.told), (1, [1]))


if __name__ == "__main__":
    unittest.main()
