"""Files whose changes other programs follow, by a history or by CloudKit."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Optional

import quire


class Note(quire.Model):
    title: quire.Attr[Optional[str]] = quire.attr(default=None)


class FollowedTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "notes.sqlite")
        with quire.open(self.path, [Note]) as store:
            store.context.add(Note(title="a"))
            store.context.save()

    def add_tables(self, *names: str) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            for name in names:
                file.execute(f"CREATE TABLE {name} (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER)")

    def contents(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def test_a_history_of_an_unknown_form_is_not_written(self) -> None:
        self.add_tables("ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING")
        before = self.contents()
        for track_history in (False, True):
            with self.assertRaisesRegex(quire.Unsupported, "history.*ACHANGE has no column ZCHANGETYPE.*reading only"):
                quire.open(self.path, [Note], track_history=track_history)
        self.assertEqual(self.contents(), before)
        with quire.open(self.path, [Note], read_only=True) as store:
            self.assertEqual(store.context.query(Note).count(), 1)

    def test_a_file_that_is_mirrored_is_not_written(self) -> None:
        self.add_tables("ANSCKRECORDMETADATA")
        before = self.contents()
        for track_history in (False, True):
            with self.assertRaisesRegex(quire.Unsupported, "CloudKit.*ANSCKRECORDMETADATA.*reading only"):
                quire.open(self.path, [Note], track_history=track_history)
        self.assertEqual(self.contents(), before)
        with quire.open(self.path, [Note], read_only=True) as store:
            self.assertEqual(store.context.query(Note).count(), 1)


if __name__ == "__main__":
    unittest.main()
