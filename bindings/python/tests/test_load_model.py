"""Models from files, and to files."""

import pathlib
import plistlib
import tempfile
import unittest

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
