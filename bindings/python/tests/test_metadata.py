"""Metadata of stores."""

from __future__ import annotations

import contextlib
import os
import plistlib
import sqlite3
import tempfile
import unittest
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Optional

import quire


class Note(quire.Model):
    title: quire.Attr[Optional[str]] = quire.attr(default=None)


VALUES: dict[str, Any] = {
    "text": "grün 😀", "none": "", "number": -7, "large": 2 ** 62, "real": 0.1, "flag": True, "data": b"\0\xff",
    "date": datetime(2031, 5, 4, 3, 2, 1, tzinfo=timezone.utc), "list": [1, "a", [b""]],
    "dictionary": {"inner": {"x": 1.5}},
}


class MetadataTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "notes.sqlite")
        self.store = quire.open(self.path, [Note])
        self.addCleanup(self.store.close)

    def in_file(self) -> dict[str, Any]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            found: dict[str, Any] = plistlib.loads(file.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
            return found

    def own(self) -> dict[str, Any]:
        return {key: value for key, value in self.store.metadata.items() if not key.startswith(("NS", "_NS"))}

    def test_values_of_every_kind_are_written_by_the_next_save(self) -> None:
        for key, value in VALUES.items():
            self.store.metadata[key] = value
        self.assertEqual(self.own(), VALUES)
        self.assertNotIn("text", self.in_file())
        self.store.context.add(Note(title="a"))
        self.store.context.save()
        found = self.in_file()
        self.assertEqual({**found, **VALUES, "date": found["date"]}, found)
        self.assertEqual(found["date"].replace(tzinfo=timezone.utc), VALUES["date"])
        self.assertEqual(self.own(), VALUES)

    def test_a_save_without_other_changes_writes_them(self) -> None:
        self.store.metadata["a"] = 1
        self.assertTrue(self.store.context.has_changes)
        self.assertFalse(quire.Context(self.store, self.store.context).has_changes)
        self.store.context.rollback()
        self.assertTrue(self.store.context.has_changes)
        self.store.context.save()
        self.assertFalse(self.store.context.has_changes)
        self.assertEqual(self.in_file()["a"], 1)
        del self.store.metadata["a"]
        self.assertNotIn("a", self.store.metadata)
        self.store.create_context().save()
        self.assertNotIn("a", self.in_file())
        with self.assertRaises(KeyError):
            del self.store.metadata["a"]

    def test_those_of_core_data_are_read_and_not_set(self) -> None:
        self.assertEqual(self.store.metadata["NSStoreUUID"], self.store.uuid)
        self.assertEqual(list(self.store.metadata["NSStoreModelVersionHashes"]), ["Note"])
        for key in ("NSStoreType", "NSPersistenceFrameworkVersion", "_NSAutoVacuumLevel", "", "a\0b"):
            with self.subTest(key), self.assertRaises(quire.InvalidArgument):
                self.store.metadata[key] = "x"

    def test_none_removes_a_key_and_is_no_error_where_there_is_none(self) -> None:
        for value in ("x", None, None):
            self.store.metadata["program"] = value
            self.store.context.save()
        self.assertNotIn("program", self.store.metadata)
        with self.assertRaises(KeyError):
            del self.store.metadata["program"]

    def test_keys_of_other_programs_stay(self) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file, file:
            kept = {**self.in_file(), "theirs": {"a": [1, 2.5, plistlib.UID(3), b"x"]}}
            file.execute("UPDATE Z_METADATA SET Z_PLIST = ?", [plistlib.dumps(kept, fmt=plistlib.FMT_BINARY)])
        self.store.metadata["ours"] = 1
        self.store.context.save()
        self.assertEqual(self.in_file(), {**kept, "ours": 1})

    def test_what_no_property_list_holds_is_refused(self) -> None:
        for value in (Decimal("1.5"), [None], {"a": Decimal(1)}, "a\0b", self.store.context.add(Note())):
            with self.subTest(value), self.assertRaisesRegex(quire.InvalidArgument, "'key'"):
                self.store.metadata["key"] = value
        self.assertNotIn("key", self.store.metadata)

    def test_what_could_not_be_read_again_is_refused(self) -> None:
        deep: Any = 1
        for _ in range(63):
            deep = [deep]
        for value in (deep, ["x" * 1000] * 2000):
            with self.assertRaisesRegex(quire.InvalidArgument, "'key'.*reader"):
                self.store.metadata["key"] = value
        self.store.context.save()
        self.assertNotIn("key", self.in_file())

    def test_neither_are_values_that_are_too_much_together(self) -> None:
        repeated = ["x" * 1000] * 600
        self.store.metadata["a"] = repeated
        with self.assertRaises(quire.InvalidArgument):
            self.store.metadata["b"] = repeated
        self.store.context.save()
        self.store.metadata["b"] = repeated
        with self.assertRaisesRegex(quire.InvalidArgument, "with what the file has"):
            self.store.context.save()
        self.store.metadata["b"] = None
        self.store.context.save()
        self.store.close()
        with quire.open(self.path, [Note]) as store:
            self.assertEqual(store.metadata["a"], repeated)

    def test_integers_without_a_sign_stay(self) -> None:
        large = {"a": 2 ** 63, "b": [2 ** 64 - 1], "c": 2 ** 63 - 1, "d": -2 ** 63, "e": -1}
        with contextlib.closing(sqlite3.connect(self.path)) as file, file:
            kept = {**self.in_file(), **large}
            file.execute("UPDATE Z_METADATA SET Z_PLIST = ?", [plistlib.dumps(kept, fmt=plistlib.FMT_BINARY)])
        self.assertEqual(self.own(), large)
        self.assertIsInstance(self.store.metadata["a"], Decimal)
        self.store.metadata["ours"] = 1
        self.store.context.save()
        self.assertEqual(self.in_file(), {**kept, "ours": 1})

    def test_a_transaction_that_is_rolled_back_has_them_pending_again(self) -> None:
        context = self.store.context
        self.store.metadata["a"] = 1
        with self.assertRaises(ZeroDivisionError), context.transaction():
            context.save()
            self.store.metadata["b"] = 2
            context.save()
            raise ZeroDivisionError
        self.assertNotIn("a", self.in_file())
        self.assertEqual(self.own(), {"a": 1, "b": 2})
        context.save()
        self.assertEqual((self.in_file()["a"], self.in_file()["b"]), (1, 2))

    def test_they_are_not_looked_at_in_a_transaction(self) -> None:
        with self.store.context.transaction():
            self.store.metadata["a"] = 1
            with self.assertRaisesRegex(quire.Busy, "transaction"):
                self.own()
        self.assertEqual(self.own(), {"a": 1})

    def test_a_failed_save_keeps_them(self) -> None:
        self.store.metadata["a"] = 1
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as file:
            file.execute("CREATE TRIGGER no BEFORE INSERT ON ZNOTE BEGIN SELECT RAISE(ABORT, 'no'); END")
            self.store.context.add(Note())
            with self.assertRaises(quire.Error):
                self.store.context.save()
            self.assertNotIn("a", self.in_file())
            file.execute("DROP TRIGGER no")
        self.store.context.save()
        self.assertEqual(self.in_file()["a"], 1)

    def test_a_store_that_is_only_read_keeps_its_own(self) -> None:
        self.store.close()
        with quire.open(self.path, [Note], read_only=True) as store:
            with self.assertRaises(quire.ReadOnly):
                store.metadata["a"] = 1

    def test_a_file_is_asked_without_a_model(self) -> None:
        self.store.metadata["a"] = "b"
        self.store.context.save()
        self.assertEqual(quire.read_metadata(self.path), self.store.metadata.copy())
        self.store.close()
        self.assertEqual(quire.read_metadata(os.fsencode(self.path))["a"], "b")
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["notes.sqlite"])
        with self.assertRaises(quire.CannotOpen):
            quire.read_metadata(self.path + "-none")
        with open(self.path + ".txt", "w") as file:
            file.write("no store " * 100)
        with self.assertRaises(quire.NotAStore):
            quire.read_metadata(self.path + ".txt")


if __name__ == "__main__":
    unittest.main()
