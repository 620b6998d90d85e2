"""compact."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing

import quire

from .command import MODELS, Author, Book, CommandTestCase


class CompactTests(CommandTestCase):
    def test_a_file_becomes_shorter_and_keeps_its_rows(self) -> None:
        with quire.open(self.path, MODELS) as store:
            store.context.insert_rows(Book, {"title": ["x" * 5000] * 100})
            store.context.query(Book).where("title BEGINSWITH 'xx'").delete()
            store.context.close()
            store.checkpoint()
        before, rows = os.path.getsize(self.path), self.succeed("query", self.path, "Book", "--ids", "-f", "csv")
        out = self.succeed("compact", self.path)
        after = os.path.getsize(self.path)
        self.assertLess(after, before - 100 * 4096)
        self.assertRegex(out, rf"^[0-9,]+ bytes given back: {after:,} bytes of {before:,}\n$")
        self.assertEqual(self.succeed("query", self.path, "Book", "--ids", "-f", "csv"), rows)
        self.assertIn("file and text indexes: sound", self.succeed("check", self.path))
        self.assertEqual(self.succeed("compact", self.path), f"0 bytes given back: {after:,} bytes of {after:,}\n")

    def test_another_program_that_reads_keeps_it(self) -> None:
        with quire.open(self.path, MODELS) as store, closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM ZBOOK").fetchall()
            store.context.add(Author(name="Ann"))
            store.context.save()
            self.fail_with(3, "cannot be emptied: another process or connection reads it", "compact", self.path)

    def test_no_store_is_made(self) -> None:
        self.fail_with(3, "No such file|no file|does not exist", "compact", self.path + "-none")
        self.assertFalse(os.path.exists(self.path + "-none"))
