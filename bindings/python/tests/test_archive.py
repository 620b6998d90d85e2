"""Keyed archives as plain values."""

import datetime
import plistlib
import unittest
import uuid
from plistlib import UID
from typing import Any

import quire


def archive(*objects: Any) -> bytes:
    """An archive of these objects, the first of which is the root."""
    return plistlib.dumps(
        {
            "$archiver": "NSKeyedArchiver", "$version": 100_000, "$top": {"root": UID(1)},
            "$objects": ["$null", *objects],
        }, fmt=plistlib.FMT_BINARY)


def of_class(name: str) -> "dict[str, Any]":
    return {"$classname": name, "$classes": [name, "NSObject"]}


class ArchiveTest(unittest.TestCase):
    def test_single_values(self) -> None:
        for value in ("ü", 5, -5, 2.5, True, b"ab"):
            self.assertEqual(quire.archive.decode(archive(value)), value)
        some = uuid.UUID("12345678-1234-4234-8234-123456789012")
        self.assertEqual(
            quire.archive.decode(archive({"$class": UID(2), "NS.uuidbytes": some.bytes}, of_class("NSUUID"))), some)

    def test_containers(self) -> None:
        found = quire.archive.decode(
            bytearray(archive(
                {"$class": UID(2), "NS.keys": [UID(3), UID(4)], "NS.objects": [UID(5), UID(0)]},
                of_class("NSDictionary"), "when", "nothing", {"$class": UID(6), "NS.time": 0.5}, of_class("NSDate"))))
        moment = datetime.datetime(2001, 1, 1, 0, 0, 0, 500_000, datetime.timezone.utc)
        self.assertEqual(found, {"when": moment, "nothing": None})

    def test_objects_of_other_classes_have_their_name(self) -> None:
        found = quire.archive.decode(
            archive({"$class": UID(2), "size": 3, "name": UID(3)}, of_class("App.Cover"), "Faust"))
        self.assertEqual(found, {"$class": "App.Cover", "size": 3, "name": "Faust"})

    def test_what_cannot_be_plain_is_refused(self) -> None:
        cycle = archive({"$class": UID(2), "NS.objects": [UID(1)]}, of_class("NSArray"))
        with self.assertRaisesRegex(quire.Unsupported, "'NSArray' that contains itself"):
            quire.archive.decode(cycle)
        for damaged in (b"", b"x", cycle[:-1], plistlib.dumps({"a": 1}, fmt=plistlib.FMT_BINARY)):
            with self.assertRaises(quire.InvalidArgument):
                quire.archive.decode(damaged)
        with self.assertRaises(quire.WrongType):
            quire.archive.decode("text")  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
