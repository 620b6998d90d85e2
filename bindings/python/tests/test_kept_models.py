"""Stores that are opened with the model that they keep."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from typing import Optional

import quire

CUT_OFF = """
import os, sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("PRAGMA cache_size = 1")
file.execute("BEGIN")
file.execute("UPDATE ZPLANT SET ZNAME = 'half done, and much longer than before ' || Z_PK")
os._exit(0)
"""


class Plant(quire.Model):
    name: quire.Attr[str]


class KeptModelTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "plants.sqlite")
        with quire.open(self.path, [Plant]) as store:
            for number in range(2000):
                store.context.add(Plant(name=f"plant {number}"))
            store.context.save()

    def without_log(self) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            self.assertEqual(file.execute("PRAGMA journal_mode = DELETE").fetchone(), ("delete",))

    def test_a_write_that_was_cut_off_is_taken_back(self) -> None:
        self.without_log()
        subprocess.run([sys.executable, "-c", CUT_OFF, self.path], check=True)
        self.assertGreater(os.path.getsize(self.path + "-journal"), 0)
        with self.assertRaises(quire.ReadOnly):
            quire.open(self.path, read_only=True)
        with quire.open(self.path) as store:
            plant = store.classes["Plant"]
            self.assertEqual(store.context.query(plant).where(plant.name.begins_with("plant ")).count(), 2000)

    def test_it_waits_for_a_lock_as_long_as_it_is_told(self) -> None:
        self.without_log()
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("BEGIN EXCLUSIVE")
            for read_only in (False, True):
                with self.assertRaises(quire.Busy):
                    quire.open(self.path, timeout=0.1, read_only=read_only)

    def test_the_log_is_told_how_the_model_is_read(self) -> None:
        with self.assertLogs("quire.sql", logging.DEBUG) as told:
            quire.open(self.path).close()
        self.assertIn("Z_MODELCACHE", " ".join(told.output))

    def test_what_is_no_store_stays_as_it_is(self) -> None:
        contents: list[tuple[str, Optional[bytes], type[quire.Error]]] = [
            ("none", None, quire.CannotOpen), ("empty", b"", quire.NotAStore),
            ("text", b"no store " * 100, quire.NotAStore)]
        for name, content, kind in contents:
            path = self.path + name
            if content is not None:
                with open(path, "wb") as file:
                    file.write(content)
            with self.subTest(name):
                with self.assertRaises(kind):
                    quire.open(path)
                self.assertEqual(os.path.exists(path), content is not None)
                if content is not None:
                    with open(path, "rb") as file:
                        self.assertEqual(file.read(), content)
        with contextlib.closing(sqlite3.connect(self.path + "other")) as other:
            other.execute("CREATE TABLE a (b)")
        with self.assertRaises(quire.NotAStore):
            quire.open(self.path + "other")
        os.mkdir(self.path + "folder")
        with self.assertRaisesRegex(quire.CannotOpen, "a folder"):
            quire.open(self.path + "folder")

    def test_a_model_is_classes_or_a_loaded_one(self) -> None:
        with quire.open(self.path) as store:
            with self.assertRaisesRegex(quire.WrongType, "not Store"):
                quire.open(self.path, store)  # type: ignore[arg-type]
        with self.assertRaisesRegex(quire.InvalidArgument, "in memory"):
            quire.open(":memory:")


if __name__ == "__main__":
    unittest.main()
