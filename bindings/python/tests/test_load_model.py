"""Models from files, and to files."""

import contextlib
import copy
import os
import pathlib
import pickle
import plistlib
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib
from decimal import Decimal

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

KEPT = """<model>
  <entity name="Item">
    <attribute name="place" attributeType="Composite" composite="Place" optional="YES"/>
    <attribute name="key" attributeType="Integer 16" indexed="YES"/>
    <attribute name="secret" attributeType="Binary" customClassName="NSString" allowsCloudEncryption="YES"/>
  </entity>
  <composite name="Place">
    <attribute name="x" attributeType="Double" defaultValueString="2.5"/>
    <attribute name="inner" attributeType="Composite" composite="Inner"/>
  </composite>
  <composite name="Inner"><attribute name="label" attributeType="String" optional="YES"/></composite>
</model>"""
DERIVED = """<model>
  <entity name="Item">
    <attribute name="total" attributeType="Integer 64" optional="YES" derived="YES" derivationExpression="{}"/>
    <relationship name="parts" toMany="YES" optional="YES" destinationEntity="Item" inverseName="whole"/>
    <relationship name="whole" maxCount="1" optional="YES" destinationEntity="Item" inverseName="parts"/>
  </entity>
</model>"""


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

    def test_decimals_of_more_digits_than_a_file_keeps_are_rounded(self) -> None:
        place = self.folder / "Prices.xcdatamodel"
        place.mkdir()
        (place / "contents").write_text(
            """<model><entity name="Item"><attribute name="price" attributeType="Decimal" optional="YES"
              defaultValueString="0.12345678901234567" minValueString="0.100000000000000049"
              maxValueString="12345678901234567"/></entity></model>""")
        price = quire.load_model(place).entities["Item"].properties["price"]
        self.assertEqual(
            (price.default, price.minimum, price.maximum),
            (Decimal("0.123456789012346"), Decimal("0.1"), Decimal("12345678901234600")))

    def test_a_saved_model_is_the_same(self) -> None:
        model = quire.load_model(self.versions)
        copy = self.folder / "Copy.xcdatamodel"
        model.save(copy)
        again = quire.load_model(str(copy))
        self.assertEqual(again.description, model.description)
        with self.assertRaises(quire.InvalidArgument):
            model.save(self.folder / "Copy")
        self.assertEqual(repr(again), "<LoadedModel Note, Tag>")
        self.assertEqual((again, {again: 1}), (model, {model: 1}))
        self.assertNotEqual(quire.load_model(self.versions, version="Notes"), model)
        model.close()
        self.assertEqual(again, model)
        self.assertNotEqual(again, model.description)

    def test_a_folder_may_have_a_slash_behind_it(self) -> None:
        model = quire.load_model(f"{self.versions}/")
        for path in (f"{self.folder}/Copy.xcdatamodel/", os.fsencode(self.folder / "Copy.xcdatamodel") + b"//"):
            model.save(path)
            self.assertEqual(quire.load_model(path), model)

    def test_the_model_of_a_store_is_saved(self) -> None:
        loaded = quire.load_model(self.versions)
        with quire.open(":memory:", loaded) as store:
            described = store.model
        described.save(self.folder / "Copy.xcdatamodel")
        self.assertEqual(quire.load_model(self.folder / "Copy.xcdatamodel"), loaded)
        for copied in (copy.deepcopy(described), pickle.loads(pickle.dumps(described))):
            self.assertEqual(copied, described)
            with self.assertRaisesRegex(quire.InvalidState, "copy"):
                copied.save(self.folder / "Copy.xcdatamodel")

    def test_a_store_is_known_as_one_by_the_first_call_of_a_process(self) -> None:
        path = self.folder / "notes.sqlite"
        quire.open(path, quire.load_model(self.versions)).close()
        program = "import quire, sys; print(list(quire.load_model(sys.argv[1]).entities))"
        said = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
        self.assertEqual((said.stdout, said.stderr), ("['Note', 'Tag']\n", ""))

    def test_a_store_says_which_models_it_takes(self) -> None:
        loaded = quire.load_model(self.versions)
        for given, message in (
                ("x.momd", r"quire.load_model\('x.momd'\)"), (self.versions, "quire.load_model"),
                ([loaded], "by itself, not in a list"), (loaded.description, "not ModelDescription"), (5, "not int")):
            with self.subTest(given=given), self.assertRaisesRegex(TypeError, message):
                quire.open(":memory:", given)  # type: ignore[arg-type]

    def test_templates_and_fetched_properties_are_used(self) -> None:
        contents = CONTENTS.replace("</entity>", """
            <fetchedProperty name="id"><fetchRequest entity="Note" predicateString="title == $FETCH_SOURCE.title"/>
            </fetchedProperty></entity>""", 1).replace("</model>", """
            <fetchRequest name="byTitle" entity="Note" predicateString="title == $title"/>
            <fetchRequest name="Tag.all" entity="Tag"/></model>""")
        model = self.loaded(contents)
        templates = model.description.templates
        self.assertEqual(templates["byTitle"].condition, "title == $title")
        self.assertEqual((templates["Tag.all"].entity, templates["Tag.all"].condition), ("Tag", ""))
        found = model.entities["Note"].properties["id"]
        self.assertEqual((found.destination, found.request.condition), ("Note", "title == $FETCH_SOURCE.title"))
        path = self.folder / "notes.sqlite"
        for given in (model, None):
            with quire.open(path, given) as store:
                note, tag = store.classes["Note"], store.classes["Tag"]
                context = store.context
                made = context.add(note(title="a"))
                context.save()
                self.assertIn(made, context.template(note, "byTitle", title="a").all())
                self.assertEqual(context.template(tag, "all").count(), 0)
                self.assertIn(made, made.id_)
                self.assertIn("id_: Fetched[Note], where title == $FETCH_SOURCE.title", note.__doc__)
                for entity, name in ((tag, "byTitle"), (note, "all")):
                    with self.assertRaisesRegex(quire.InvalidArgument, f"has no template '{name}'"):
                        context.template(entity, name)

    def test_templates_of_classes_are_those_of_the_file(self) -> None:
        class Owner(quire.Model):
            n: quire.Attr[int]
            __templates__ = {
                "least": "n >= $least", "first": quire.Template(None, "-n", limit=1, offset=1),
                "ordered": ("n > 0", "n")}

        path = self.folder / "owners.sqlite"
        with quire.open(path, [Owner]) as store:
            for n in (1, 2, 3):
                store.context.add(Owner(n=n))
            store.context.save()
            templates = store.model.templates
        self.assertEqual(list(templates), ["Owner.least", "Owner.first", "Owner.ordered"])
        first = templates["Owner.first"]
        self.assertEqual((first.condition, first.limit, first.offset), ("", 1, 1))
        self.assertEqual(first.order_by, [quire.Order("n", False)])
        for given in ([Owner], None):
            with quire.open(path, given) as store:
                found = store.classes["Owner"]
                self.assertEqual(store.context.template(found, "least", least=2).count(), 2)
                self.assertEqual([each.n for each in store.context.template(found, "ordered")], [1, 2, 3])
                first = store.context.template(found, "first")
                self.assertEqual(([each.n for each in first], first.one().n, len(first[0:5])), ([2], 2, 1))
                self.assertEqual([each.n for each in first.limit(2)], [2, 1])
                self.assertEqual([each.n for each in first.offset(2)], [1])

    def loaded(self, contents: str) -> quire.LoadedModel:
        path = self.folder / "contents"
        path.write_text(contents)
        return quire.load_model(path)

    def loaded_entity(self, inner: str) -> quire.EntityDescription:
        return self.loaded(f'<model><entity name="A">{inner}</entity></model>').entities["A"]

    def test_a_default_that_no_store_can_hold_is_left_out(self) -> None:
        for value in ("nan", "NaN"):
            with self.subTest(value=value):
                entity = self.loaded_entity(
                    f'<attribute name="x" attributeType="Double" defaultValueString="{value}"/>')
                self.assertIsNone(entity.properties["x"].default)

    def test_a_join_table_that_is_named_by_mistake(self) -> None:
        def relationship(name: str, inverse: str, value: str, more: str = "") -> str:
            return (f'<relationship name="{name}" destinationEntity="A" inverseName="{inverse}" inverseEntity="A" '
                    f'{more}><userInfo><entry key="QuireNamesJoinTable" value="{value}"/></userInfo></relationship>')

        many = 'toMany="YES"'
        for inner, naming in (
            (relationship("a", "b", "YES") + relationship("b", "a", "YES", many), []),
            (relationship("a", "b", "NO", many) + relationship("b", "a", "NO", many), []),
            (relationship("a", "b", "YES", many + ' transient="YES"')
             + relationship("b", "a", "NO", many + ' transient="YES"'), []),
            ('<relationship name="a" destinationEntity="A" toMany="YES"><userInfo>'
             '<entry key="QuireNamesJoinTable" value="YES"/></userInfo></relationship>', []),
            (relationship("a", "b", "NO", many) + relationship("b", "a", "YES", many), ["b"]),
            (relationship("a", "b", "YES", many) + relationship("b", "a", "YES", many), ["b"]),
        ):
            with self.subTest(inner=inner):
                properties = self.loaded_entity(inner).properties
                self.assertEqual([each.name for each in properties.values() if each.names_join_table], naming)

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
                "import quire, sys\n"
                "try: quire.load_model(sys.argv[1])\n"
                # Other than ru_maxrss, this is not that of the process that made this one, if that had more.
                "except quire.InvalidModel:\n"
                "    [most] = [line for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
                "    print(int(most.split()[1]) >> 10)")
            said = subprocess.run(
                [sys.executable, "-c", program, path], capture_output=True, text=True, check=True).stdout
            # A free-threaded Python takes more for itself.
            self.assertLess(int(said), 350)

    def test_a_deep_list_of_versions_fits_the_stack_of_any_thread(self) -> None:
        program = (
            "import quire, sys, threading\n"
            "def load():\n"
            "    try: quire.load_model(sys.argv[1])\n"
            "    except quire.Error: print('refused')\n"
            "threading.stack_size(512 << 10)\n"
            "thread = threading.Thread(target=load)\n"
            "thread.start(); thread.join()")
        for deep in (63, 64, 1_900, 100_000):
            (self.versions / ".xccurrentversion").write_text(
                '<?xml version="1.0"?><plist version="1.0">' + "<array>" * deep + "</array>" * deep + "</plist>")
            with self.subTest(deep=deep):
                said = subprocess.run(
                    [sys.executable, "-c", program, self.versions], capture_output=True, text=True, check=True).stdout
                self.assertEqual(said, "refused\n")

    def test_what_only_files_declare_is_told_and_saved(self) -> None:
        model = self.loaded(KEPT)
        model.save(self.folder / "Kept.xcdatamodel")
        again = quire.load_model(self.folder / "Kept.xcdatamodel")
        self.assertEqual(again.description, model.description)
        properties = again.entities["Item"].properties
        place = properties["place"]
        self.assertEqual((place.type, place.composite, list(place.elements)), ("Composite", "Place", ["x", "inner"]))
        self.assertEqual((place.elements["x"].type, place.elements["x"].default), ("Double", 2.5))
        self.assertEqual(place.elements["inner"].elements["label"].type, "String")
        self.assertEqual((properties["key"].indexed, properties["secret"].indexed), (True, False))
        self.assertEqual((properties["key"].encrypted, properties["secret"].encrypted), (False, True))
        self.assertEqual(properties["secret"].value_class, "NSString")
        self.assertEqual(again.entities["Item"].indexes, [])

    def test_derivations_are_kept_as_they_are_written(self) -> None:
        for text in ("count:(parts)", "parts.@count", "median:(parts.total)", "gone"):
            model = self.loaded(DERIVED.format(text))
            model.save(self.folder / "Derived.xcdatamodel")
            for each in (model, quire.load_model(self.folder / "Derived.xcdatamodel")):
                self.assertEqual(each.entities["Item"].properties["total"].derivation, text)

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
