"""Models from files, and to files."""

import contextlib
import pathlib
import plistlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import quire

CONTENTS = """<?xml version="1.0" encoding="UTF-8"?>
<model type="com.apple.IDECoreDataModeler.DataModel">
  <entity name="Note">
    <attribute name="title" attributeType="String" optional="YES"/>
    <relationship name="tags" toMany="YES" deletionRule="Nullify" optional="YES" destinationEntity="Tag"
      inverseName="notes" inverseEntity="Tag"/>
  </entity>
  <entity name="Tag">
    <relationship name="notes" toMany="YES" deletionRule="Nullify" optional="YES" destinationEntity="Note"
      inverseName="tags" inverseEntity="Note"/>
  </entity>
</model>
"""


class LoadModelTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.versions = self.folder / "Notes.xcdatamodeld"
        for name, contents in (("Notes", CONTENTS.replace("Tag", "Label")), ("Notes 2", CONTENTS)):
            place = self.versions / f"{name}.xcdatamodel"
            place.mkdir(parents=True)
            (place / "contents").write_text(contents)
        (self.versions / ".xccurrentversion").write_bytes(
            plistlib.dumps({"_XCCurrentVersionName": "Notes 2.xcdatamodel"}))

    def test_the_current_version_and_others(self) -> None:
        with quire.load_model(self.versions) as model:
            self.assertEqual(list(model.entities), ["Note", "Tag"])
        with quire.load_model(self.versions, version="Notes") as model:
            self.assertEqual(list(model.entities), ["Note", "Label"])
        with self.assertRaisesRegex(quire.NotFound, "has no version 'Notes 3'.*Notes 2.xcdatamodel"):
            quire.load_model(self.versions, version="Notes 3")

    def test_a_saved_model_is_the_same(self) -> None:
        model = quire.load_model(self.versions)
        copy = self.folder / "Copy.xcdatamodel"
        model.save(copy)
        again = quire.load_model(str(copy))
        self.assertEqual(again.description, model.description)
        with self.assertRaises(quire.InvalidArgument):
            model.save(self.folder / "Copy")
        self.assertEqual(repr(again), "<LoadedModel Note, Tag>")

    def test_a_store_with_an_inflated_model_takes_no_gigabytes(self) -> None:
        # One text of a few kilobytes, deflated, in an array that has it 31 times.
        for megabytes in (15, 48):
            size = megabytes << 20
            array = b"\xaf\x10\x1f" + b"\1" * 31
            text = b"\x5f\x12" + struct.pack(">I", size) + b"a" * size
            offsets = struct.pack(">II", 8, 8 + len(array))
            archive = b"bplist00" + array + text + offsets + struct.pack(
                ">6xBBQQQ", 4, 1, 2, 0, 8 + len(array) + len(text))
            maker = zlib.compressobj(9, zlib.DEFLATED, -15)
            path = self.folder / f"{megabytes}.sqlite"
            with contextlib.closing(sqlite3.connect(path)) as file, file:
                file.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
                file.execute(
                    "INSERT INTO Z_MODELCACHE VALUES (?)", (maker.compress(archive) + maker.flush(),))
            program = (
                "import quire, resource, sys\n"
                "try: quire.load_model(sys.argv[1])\n"
                "except quire.InvalidModel: print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)")
            said = subprocess.run(
                [sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout
            self.assertLess(int(said), 300)

    def test_what_is_no_model(self) -> None:
        with self.assertRaises(quire.CannotOpen):
            quire.load_model(self.folder / "missing.momd")
        damaged = self.folder / "damaged.mom"
        for contents in (b"", b"bplist00", b"<model>", b"SQLite format 3\0"):
            damaged.write_bytes(contents)
            with self.assertRaises(quire.Error):
                quire.load_model(damaged)
        with self.assertRaises(quire.WrongType):
            quire.load_model(self.versions, version=2)  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
