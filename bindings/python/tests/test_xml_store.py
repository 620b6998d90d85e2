"""Core Data's XML stores: opened, saved, refused, and converted to SQLite and back."""

import contextlib
import os
import stat
import tempfile
import unittest
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Optional

import quire

# As the framework of macOS 10.4 wrote them: without version hashes.
VEHICLES = """<?xml version="1.0"?>
<!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

<database>
    <databaseInfo>
        <version>134481920</version>
        <UUID>343C8D7F-A000-42C4-8463-43FA1E5EF3FB</UUID>
        <nextObjectID>104</nextObjectID>
        <metadata></metadata>
    </databaseInfo>
    <object type="VEHICLEPICTURE" id="z103">
        <attribute name="picturename" type="string">picture_1</attribute>
        <attribute name="sequence" type="int32">0</attribute>
        <relationship name="picturesforvehicle" type="1/1" destination="VEHICLE" idrefs="z102"></relationship>
    </object>
    <object type="VEHICLEPICTURE" id="z104">
        <attribute name="picturename" type="string">\\u3c00b\\u3e00 &amp; more \\u2620 \\u</attribute>
        <attribute name="sequence" type="int32">1</attribute>
        <relationship name="picturesforvehicle" type="1/1" destination="VEHICLE" idrefs="z102"></relationship>
    </object>
    <object type="VEHICLE" id="z102">
        <attribute name="bought" type="date">273512152.85076302289962768555</attribute>
        <attribute name="make" type="string"> maker
</attribute>
        <attribute name="year" type="int32">2006</attribute>
        <relationship name="vehiclepictures" type="0/0" destination="VEHICLEPICTURE" idrefs="z104 z103"></relationship>
    </object>
</database>
"""


class Vehicle(quire.Model):
    make: quire.Attr[Optional[str]] = quire.attr(default=None)
    bought: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    year: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer32)
    vehiclePictures: quire.ToMany["VehiclePicture"] = quire.relation(
        inverse="picturesForVehicle", ordered=True, on_delete="cascade")


class VehiclePicture(quire.Model):
    pictureName: quire.Attr[Optional[str]] = quire.attr(default=None)
    sequence: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer32)
    picturesForVehicle: quire.ToOne[Optional[Vehicle]] = quire.relation(inverse="vehiclePictures")


class Sample(quire.Model):
    short: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer16)
    middle: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer32)
    long: quire.Attr[Optional[int]] = quire.attr(default=None)
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    single: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float)
    exact: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    name: quire.Attr[Optional[str]] = quire.attr(default=None, searchable=True)
    moment: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    key: quire.Attr[Optional[uuid.UUID]] = quire.attr(default=None)
    link: quire.Attr[Optional[str]] = quire.attr(default=None, type=quire.URI)
    blob: quire.Attr[Optional[bytes]] = quire.attr(default=None, type=quire.Transformable)
    tags: quire.ToMany["Tag"] = quire.relation(inverse="samples", ordered=True)
    friends: quire.ToMany["Sample"] = quire.relation(inverse="friends")
    size: quire.Attr[int] = quire.derived("tags.@count")


class Special(Sample):
    extra: quire.Attr[Optional[str]] = quire.attr(default=None)


class Tag(quire.Model):
    word: quire.Attr[str]
    samples: quire.ToMany[Sample] = quire.relation(inverse="tags")
    __unique__ = ["word"]


SAMPLES = [Sample, Special, Tag]
KEYS = ["short", "middle", "long", "flag", "real", "single", "exact", "name", "moment", "data", "key", "link", "blob"]
VALUES = {
    "short": [-32768, 0, 32767],
    "middle": [-2**31, 2**31 - 1],
    "long": [-2**63, 2**63 - 1, 0],
    "flag": [True, False],
    "real": [5e-324, -1.7976931348623157e308, float("inf"), float("-inf"), 0.1, 1e22, 0.0],
    "single": [3.4028234663852886e38, 1.401298464324817e-45, float("inf"), 0.10000000149011612],
    "exact": [Decimal("1e-30"), Decimal("12345678901234.5"), Decimal("-0.1"), Decimal(0), Decimal("1e60")],
    "name": ["", " ", "\n", "a\r\nb\rc\t", "&<>\"']]>", "🐘é\u2028\u0085", "\0\x01\x1f\x7f\ufffe\uffff", "\\u3c00",
             "\\u5c00u0100", "\\", "\\u", "\\\x01", "C:\\users\\u0000", "<![CDATA[x]]>", "x" * 20_000],
    "moment": [datetime(1, 1, 2, tzinfo=timezone.utc), datetime(9999, 12, 30, 23, 59, 59, 999000, tzinfo=timezone.utc),
               datetime(2001, 1, 1, tzinfo=timezone.utc), datetime(2024, 2, 29, 1, 2, 3, 456789, tzinfo=timezone.utc)],
    "data": [b"", b"\0", b"ab", b"abc", b"abcd", bytes(range(256)) * 800],
    "key": [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.UUID("0123456789abcdef0123456789abcdef")],
    "link": ["", "https://a.b/?c=d&e=<f>"],
    "blob": [b"", b"\xff\0"],
}


class StoreCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def at(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="a.xml"):
        with open(self.at(name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return self.at(name)

    def read(self, name="a.xml"):
        with open(self.at(name), encoding="utf-8", newline="") as file:
            return file.read()

    def refused(self, kind, words, body):
        before = {name: self.bytes(name) for name in os.listdir(self.folder)}
        with self.assertRaisesRegex(kind, words) as raised:
            body()
        self.assertTrue(str(raised.exception).endswith("."), str(raised.exception))
        self.assertEqual({name: self.bytes(name) for name in os.listdir(self.folder)}, before)
        return raised.exception

    def bytes(self, name):
        with open(self.at(name), "rb") as file:
            return file.read()


def filled(store):
    """Objects with all those values, and relationships between them."""
    context = store.context
    tags = [context.add(Tag(word=f"t{place}")) for place in range(4)]
    samples = []
    for key, values in VALUES.items():
        for place, value in enumerate(values):
            kind = Special if place % 2 else Sample
            sample = context.add(kind(**{key: value}))
            sample.tags = [tags[(len(samples) + step) % 4] for step in range(len(samples) % 4)]
            if samples and place % 3 == 0:
                sample.friends = samples[-2:]
            samples.append(sample)
    samples[0].friends.add(samples[0])
    context.save()
    return samples


def contents(store):
    """All objects of a store by their order, with what they hold."""
    context = store.context
    samples = sorted(context.query(Sample).all(), key=lambda each: each.id)
    places = {each.id: place for place, each in enumerate(samples)}
    found = []
    for each in samples:
        row = [type(each).__name__] + [getattr(each, key) for key in KEYS]
        row.append([tag.word for tag in each.tags])
        row.append(sorted(places[friend.id] for friend in each.friends))
        row.append(each.size)
        found.append(row)
    return found


class OpeningTests(StoreCase):
    def test_a_file_of_the_framework_opens_with_its_objects(self):
        path = self.write(VEHICLES)
        with quire.open(path, [Vehicle, VehiclePicture]) as store:
            vehicle = store.context.query(Vehicle).one()
            self.assertEqual(vehicle.id, 102)
            self.assertEqual(vehicle.uri, "x-coredata://343C8D7F-A000-42C4-8463-43FA1E5EF3FB/Vehicle/p102")
            self.assertEqual((vehicle.make, vehicle.year), (" maker\n", 2006))
            self.assertEqual(
                vehicle.bought.replace(microsecond=0), datetime(2009, 9, 1, 15, 35, 52, tzinfo=timezone.utc))
            names = [picture.pictureName for picture in vehicle.vehiclePictures]
            # Spellings of `<` and `>` that the framework has; others are text.
            self.assertEqual(names, ["<b> & more \\u2620 \\u", "picture_1"])
            self.assertEqual(store.metadata["NSStoreType"], "XML")
            self.assertEqual(store.uuid, "343C8D7F-A000-42C4-8463-43FA1E5EF3FB")
        self.assertEqual(self.read(), VEHICLES)
        self.assertEqual(os.listdir(self.folder), ["a.xml"])

    def test_metadata_are_read_without_a_model(self):
        found = quire.read_metadata(self.write(VEHICLES))
        self.assertEqual(found, {"NSStoreType": "XML", "NSStoreUUID": "343C8D7F-A000-42C4-8463-43FA1E5EF3FB"})

    def test_a_save_writes_the_spelling_of_the_framework(self):
        path = self.write(VEHICLES)
        with quire.open(path, [Vehicle, VehiclePicture]) as store:
            added = store.context.add(VehiclePicture(pictureName="new", sequence=2))
            self.assertEqual(added.id, 105)
            store.context.query(Vehicle).one().vehiclePictures.append(added)
            store.context.save()
        written = self.read()
        for part in (
            '<?xml version="1.0" standalone="yes"?>\n<!DOCTYPE database SYSTEM '
            '"file:///System/Library/DTDs/CoreData.dtd">\n\n<database>\n    <databaseInfo>\n'
            "        <version>134481920</version>\n        <UUID>343C8D7F-A000-42C4-8463-43FA1E5EF3FB</UUID>\n"
            "        <nextObjectID>105</nextObjectID>\n        <metadata>\n",
            '    <object type="VEHICLEPICTURE" id="z105">\n'
            '        <attribute name="picturename" type="string">new</attribute>\n'
            '        <attribute name="sequence" type="int32">2</attribute>\n'
            '        <relationship name="picturesforvehicle" type="1/1" destination="VEHICLE" idrefs="z102">'
            "</relationship>\n    </object>\n",
            '<attribute name="bought" type="date">273512152.85076302289962768555</attribute>',
            'type="0/0" destination="VEHICLEPICTURE" idrefs="z104 z103 z105"></relationship>',
            "<key>NSStoreModelVersionHashes</key>",
        ):
            self.assertIn(part, written)
        self.assertNotIn("NSStoreType", written)
        with quire.open(path, [Vehicle, VehiclePicture], read_only=True) as store:
            self.assertEqual(store.context.query(VehiclePicture).count(), 3)
            store.context.add(Vehicle())
            with self.assertRaises(quire.ReadOnly):
                store.context.save()

    def test_a_new_store_is_an_xml_store_where_that_is_wanted(self):
        with quire.open(self.at("a.xml"), SAMPLES, type="xml") as store:
            self.assertTrue(self.read().startswith('<?xml version="1.0" standalone="yes"?>'))
            filled(store)
            before = contents(store)
        self.assertEqual(os.listdir(self.folder), ["a.xml"])
        with quire.open(self.at("a.xml"), SAMPLES) as store:
            self.assertEqual(contents(store), before)
            self.assertEqual(min(store.context.query(Tag).ids()), 102)
            self.assertEqual(store.context.query(Sample).where("name CONTAINS %@", "🐘").count(), 1)
            self.assertEqual(store.check(), 0)

    def test_objects_of_all_entities_count_together(self):
        path = self.at("a.xml")
        with quire.open(path, SAMPLES, type="xml") as store:
            ids = [store.context.add(kind(**values)).id for kind, values in (
                (Tag, {"word": "a"}), (Sample, {}), (Tag, {"word": "b"}), (Special, {}))]
            store.context.save()
            ids += [store.context.add(Tag(word=str(number))).id for number in range(40)]
            store.context.save()
            self.assertEqual(len(set(ids)), 44)
            self.assertEqual(min(ids), 102)
            last = max(ids)
            store.context.delete(store.context.get(Tag, last))
            store.context.save()
        with quire.open(path, SAMPLES) as store:
            self.assertGreater(store.context.add(Sample()).id, last)

    def test_metadata_are_kept_and_written(self):
        path = self.at("a.xml")
        moment = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
        kept = {"text": "<é\r\n&>", "data": bytes(300), "list": [1, -2, 2**63 - 1, 0.1, True, moment, {"x": []}]}
        with quire.open(path, SAMPLES, type="xml") as store:
            identity = store.uuid
            for key, value in kept.items():
                store.metadata[key] = value
            store.context.save()
        with quire.open(path, SAMPLES) as store:
            self.assertEqual({key: store.metadata[key] for key in kept}, kept)
            self.assertEqual(store.uuid, identity)
            store.metadata["text"] = "\x01"
            self.refused(quire.Unsupported, "metadata.*control character", store.context.save)
            store.metadata["text"] = None
            store.context.save()
        self.assertEqual(quire.read_metadata(path)["list"], kept["list"])
        self.assertNotIn("text", quire.read_metadata(path))

    def test_a_file_must_be_of_the_type_that_is_wanted(self):
        quire.open(self.at("a.sqlite"), SAMPLES).close()
        self.write(VEHICLES)
        models = [Vehicle, VehiclePicture]
        self.refused(quire.NotAStore, "no XML store", lambda: quire.open(self.at("a.sqlite"), SAMPLES, type="xml"))
        self.refused(quire.NotAStore, "not an SQLite", lambda: quire.open(self.at("a.xml"), models, type="sqlite"))
        self.refused(quire.InvalidArgument, "type", lambda: quire.open(self.at("b"), models, type="binary"))
        self.refused(quire.InvalidArgument, "memory", lambda: quire.open(":memory:", models, type="xml"))
        self.refused(quire.InvalidModel, "Give the model", lambda: quire.open(self.at("a.xml")))
        self.refused(quire.CannotOpen, "does not exist", lambda: quire.open(
            self.at("b.xml"), models, type="xml", must_exist=True))

    def test_another_model_is_a_mismatch(self):
        quire.open(self.at("a.xml"), SAMPLES, type="xml").close()
        models = [Vehicle, VehiclePicture]
        said = self.refused(quire.ModelMismatch, "not migrated", lambda: quire.open(self.at("a.xml"), models))
        self.refused(quire.ModelMismatch, "other", lambda: quire.open(self.at("a.xml"), models, migrate=True))
        self.refused(quire.Unsupported, "history", lambda: quire.open(self.at("a.xml"), SAMPLES, track_history=True))
        self.assertIn("Vehicle, VehiclePicture (not in the file)", str(said))

    def test_a_binary_store_is_named(self):
        import plistlib

        with open(self.at("a.bin"), "wb") as file:
            plistlib.dump(
                {"$archiver": "NSKeyedArchiver", "$version": 100000, "$objects": ["$null"] * 200, "$top": {}}, file,
                fmt=plistlib.FMT_BINARY)
        self.refused(quire.Unsupported, "binary store of Core Data", lambda: quire.open(self.at("a.bin"), SAMPLES))


class SavingTests(StoreCase):
    def setUp(self):
        super().setUp()
        self.path = self.at("a.xml")
        self.store = quire.open(self.path, SAMPLES, type="xml")
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.context.add(Tag(word="first"))
        self.context.save()

    def words(self):
        with quire.open(self.path, SAMPLES, read_only=True) as store:
            return sorted(tag.word for tag in store.context.query(Tag))

    def test_everything_that_commits_writes_the_file(self):
        self.context.insert_rows(Tag, {"word": ["second", "third"]})
        self.assertEqual(self.words(), ["first", "second", "third"])
        self.context.query(Tag).where("word == 'third'").update(word="3")
        self.assertEqual(self.words(), ["3", "first", "second"])
        self.context.query(Tag).where("word != '3'").delete()
        self.assertEqual(self.words(), ["3"])
        with self.context.transaction():
            self.context.add(Tag(word="x"))
            self.context.save()
            self.assertEqual(self.words(), ["3"])
            self.context.add(Tag(word="y"))
            self.context.save()
        self.assertEqual(self.words(), ["3", "x", "y"])
        with contextlib.suppress(ZeroDivisionError), self.context.transaction():
            self.context.add(Tag(word="z"))
            self.context.save()
            raise ZeroDivisionError
        self.assertEqual(self.words(), ["3", "x", "y"])

    def test_lists_and_other_contexts_follow(self):
        other = self.store.create_context()
        live = other.query(Tag).order_by(Tag.word).live()
        self.context.add(Tag(word="a"))
        self.context.save()
        other.merge()
        self.assertEqual([tag.word for tag in live], ["a", "first"])

    def test_work_of_another_program_is_not_undone(self):
        with quire.open(self.path, SAMPLES) as second:
            second.context.add(Tag(word="theirs"))
            second.context.save()
        self.context.add(Tag(word="ours"))
        self.refused(quire.FileMoved, "changed, moved, deleted or replaced", self.context.save)
        self.assertTrue(self.context.has_changes)
        self.assertEqual(self.words(), ["first", "theirs"])
        os.unlink(self.path)
        self.refused(quire.FileMoved, "changed, moved", self.context.save)
        self.assertEqual(self.store.create_context().query(Tag).count(), 1)

    def test_a_folder_that_cannot_be_written_fails_a_save_and_an_opening(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        os.chmod(self.path, 0o666)
        if os.geteuid() == 0:
            # Root may write everywhere.
            os.seteuid(65534)
            self.addCleanup(os.seteuid, 0)
        self.context.add(Tag(word="second"))
        self.refused(quire.ReadOnly, "folder", self.context.save)
        self.refused(quire.ReadOnly, "folder", lambda: quire.open(self.path, SAMPLES))
        if os.getuid() == 0:
            os.seteuid(0)
        os.chmod(self.folder, 0o755)
        self.context.save()
        self.assertEqual(self.words(), ["first", "second"])

    def test_a_file_that_grows_too_large_fails_a_save_which_can_be_repeated(self):
        import resource
        import signal

        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        self.addCleanup(signal.signal, signal.SIGXFSZ, before)
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        self.context.add(Tag(word="x" * 100_000))
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limit[1]))
        try:
            with self.assertRaisesRegex(quire.DatabaseError, "Nothing was saved"):
                self.context.save()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        self.assertEqual(os.listdir(self.folder), ["a.xml"])
        self.assertEqual(self.words(), ["first"])
        self.assertEqual(self.store.create_context().query(Tag).count(), 1)
        self.context.save()
        self.assertEqual(len(self.words()), 2)

    def test_permissions_and_links_stay(self):
        os.chmod(self.path, 0o640)
        os.symlink("a.xml", self.at("link.xml"))
        with quire.open(self.at("link.xml"), SAMPLES) as store:
            store.context.add(Tag(word="second"))
            store.context.save()
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o640)
        self.assertTrue(os.path.islink(self.at("link.xml")))
        self.assertEqual(self.words(), ["first", "second"])
        os.link(self.path, self.at("second.xml"))
        self.refused(quire.CannotOpen, "2 names", lambda: quire.open(self.path, SAMPLES))

    def test_a_copy_is_an_xml_store(self):
        self.context.add(Tag(word="unsaved"))
        self.store.copy(self.at("b.xml"))
        with quire.open(self.at("b.xml"), SAMPLES) as store:
            self.assertEqual([tag.word for tag in store.context.query(Tag)], ["first"])
            self.assertEqual(store.uuid, self.store.uuid)
        self.refused(quire.CannotOpen, "already a file", lambda: self.store.copy(self.at("b.xml")))

    def test_references_to_what_is_gone_are_left_out(self):
        class Holder(quire.Model):
            held: quire.ToOne[Optional["Held"]] = quire.relation()

        class Held(quire.Model):
            name: quire.Attr[str]

        with quire.open(self.at("c.xml"), [Holder, Held], type="xml") as store:
            held = store.context.add(Held(name="x"))
            store.context.add(Holder(held=held))
            store.context.save()
            store.context.delete(held)
            store.context.save()
        with quire.open(self.at("c.xml"), [Holder, Held]) as store:
            self.assertIsNone(store.context.query(Holder).one().held)


    def test_relationships_without_inverse_are_kept(self):
        class Shelf(quire.Model):
            labels: quire.ToMany["Label"] = quire.relation()
            pins: quire.ToMany["Label"] = quire.relation(ordered=True)

        class Label(quire.Model):
            text: quire.Attr[str]

        models = [Shelf, Label]
        with quire.open(self.at("c.xml"), models, type="xml") as store:
            labels = [store.context.add(Label(text=text)) for text in "abcd"]
            store.context.add(Shelf(labels=labels[:2], pins=[labels[3], labels[0]]))
            store.context.add(Shelf(pins=[labels[2]]))
            store.context.save()
        quire.convert(self.at("c.xml"), self.at("d.sqlite"), models)
        for name in ("c.xml", "d.sqlite"):
            with quire.open(self.at(name), models) as store:
                shelves = sorted(store.context.query(Shelf), key=lambda each: each.id)
                self.assertEqual(sorted(label.text for label in shelves[0].labels), ["a", "b"])
                self.assertEqual([label.text for label in shelves[0].pins], ["d", "a"])
                self.assertEqual([label.text for label in shelves[1].pins], ["c"])
        text = self.read("c.xml")
        first = text.index('name="pins"')
        text = text[:first] + text[first:].replace("z104", "z102", 1)
        path = self.write(text, "e.xml")
        self.refused(
            quire.Unsupported, "line [0-9]+: 'Shelf.pins'.*another object leads", lambda: quire.open(path, models))


class DamageTests(StoreCase):
    def damaged(self, old, new, words):
        self.assertIn(old, VEHICLES)
        # The line of what is damaged, in which an element begins.
        line = VEHICLES[: VEHICLES.index(old)].count("\n") + 1
        words = words.replace("LINE", f"line {line}:")
        path = self.write(VEHICLES.replace(old, new, 1))
        return self.refused(quire.DatabaseError, words, lambda: quire.open(path, [Vehicle, VehiclePicture]))

    def test_damage_is_told_with_its_line(self):
        for old, new, words in (
            ("</database>\n", "", "line 27: "),
            ('name="picturesforvehicle" type="1/1" destination="VEHICLE" idrefs="z102"',
             'name="picturesforvehicle" idrefs="z103"', "'Vehicle.vehiclePictures' of the object 'z102'.*another"),
            ('destination="VEHICLEPICTURE" idrefs="z104 z103"', 'destination="VEHICLEPICTURE" idrefs="z104 z999"',
             "LINE .*'z999', which is no VehiclePicture"),
            ('type="VEHICLE" id="z102"', 'type="VEHICLE" id="z105"', "'Vehicle.vehiclePictures'.*'z104'.*another"),
            ('idrefs="z102"', 'idrefs="102"', "LINE '102' is no id"),
            ('idrefs="z102"', 'idrefs="z102 z102"', "LINE .*to-one"),
            ('idrefs="z104 z103"', 'idrefs="z104 z102"', "LINE .*'z102', which is no VehiclePicture"),
            (">2006<", ">2006a<", "LINE 'Vehicle.year'.*no value of the type 'int32'"),
            (">2006<", ">3000000000<", "LINE 'Vehicle.year'"),
            (">2006<", "><", "LINE 'Vehicle.year'"),
            (">273512152.85076302289962768555<", ">nan<", "LINE 'Vehicle.bought'"),
            ('type="int32">2006', 'type="string">2006', "LINE .*is of the type 'string' there, and of 'int32'"),
            ('destination="VEHICLE"', 'destination="CAR"', "LINE .*leads to 'CAR' there"),
            ('id="z103"', 'id="z102"', "a second object 'z102'"),
            ('id="z103"', 'id="x103"', "LINE 'x103' is no id"),
            ('id="z103"', 'id="z9223372036854775807"', "LINE 'z9223372036854775807' is no id"),
            ('type="VEHICLEPICTURE" id', 'type="CAR" id', "LINE the model has no entity 'CAR'"),
            ('name="year"', 'name="make"', "LINE .*has 'make' twice"),
            ('name="year"', 'name="colour"', "LINE the entity 'Vehicle' has no attribute 'colour'"),
            ('name="year"', 'name="vehiclepictures"', "LINE the entity 'Vehicle' has no attribute 'vehiclepictures'"),
            ("343C8D7F", "XYZ", "LINE .*is no UUID"),
            ("<nextObjectID>104", "<nextObjectID>-1", "LINE .*no number of an object"),
            ("<metadata></metadata>", "<metadata><plist><dict></plist></metadata>", "LINE "),
            ("<metadata></metadata>", "<metadata><plist><array/></plist></metadata>", "LINE .*no property list"),
            (" maker", " &maker;", "LINE .*maker"),
            (" maker", " <b/>maker", "LINE an element 'b' is in an element 'attribute'"),
            ("    <object", "    <thing/>\n    <object", "LINE 'thing' is no element of an XML store"),
        ):
            with self.subTest(new):
                self.damaged(old, new, words)

    def test_what_is_no_store_is_said_so(self):
        for text in ("<model/>", "<?xml version='1.0'?><plist/>", "<database", "<?xml"):
            path = self.write(text + " " * 600)
            self.refused((quire.NotAStore, quire.DatabaseError), "a.xml", lambda: quire.open(path, SAMPLES))
            path = self.write(text)
            self.refused((quire.NotAStore, quire.DatabaseError), "a.xml", lambda: quire.open(path, SAMPLES))

    def test_documents_that_are_built_to_exhaust_a_reader_are_refused(self):
        document = '<!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">'
        entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 10}">' for n in range(12))
        for old, new, words in (
            (document, f"<!DOCTYPE database [{entities}]>", "declares entities"),
            (document, '<!DOCTYPE database [<!ENTITY a SYSTEM "file:///etc/passwd">]>', "declares entities"),
            ("<metadata>", "<metadata>" + "<array>" * 100_000, "nested more than"),
            ('<object type', "<object " + " ".join(f'a{n}=""' for n in range(10_000)) + " type", "attributes"),
            ('version="1.0"', 'version="1.0" encoding="UTF-16"', "encoding"),
            ('version="1.0"', 'version="1.0" encoding="UTF-7"', "encoding"),
            (" maker", "\0maker", "U\\+0000"),
        ):
            with self.subTest(words):
                path = self.write(VEHICLES.replace(old, new, 1))
                self.refused(quire.NotAStore, words, lambda: quire.open(path, [Vehicle, VehiclePicture]))
        # What stands in the external DTD is not looked for.
        path = self.write(VEHICLES.replace("file:///System/Library/DTDs/CoreData.dtd", "http://127.0.0.1:9/x.dtd"))
        quire.open(path, [Vehicle, VehiclePicture]).close()

    def test_a_side_that_is_missing_follows_from_the_other(self):
        text = VEHICLES.replace(' idrefs="z104 z103"', "")
        with quire.open(self.write(text), [Vehicle, VehiclePicture]) as store:
            self.assertEqual(len(store.context.query(Vehicle).one().vehiclePictures), 2)
        text = VEHICLES.replace(' idrefs="z102"', "")
        with quire.open(self.write(text), [Vehicle, VehiclePicture]) as store:
            self.assertEqual(len(store.context.query(Vehicle).one().vehiclePictures), 2)
            self.assertEqual(store.context.query(VehiclePicture).first().picturesForVehicle.id, 102)
        other = '<object type="VEHICLE" id="z105">\n<relationship name="vehiclepictures" idrefs="z104"/></object>\n'
        path = self.write(VEHICLES.replace("</database>", f"{other}</database>"))
        self.refused(
            quire.DatabaseError, "line 29: .*'z104', which belongs to another object",
            lambda: quire.open(path, [Vehicle, VehiclePicture]))


class ConversionTests(StoreCase):
    def test_a_store_is_the_same_after_both_ways(self):
        with quire.open(self.at("a.sqlite"), SAMPLES) as store:
            filled(store)
            store.metadata["kept"] = ["x", 1]
            store.context.save()
            before, identity, metadata = contents(store), store.uuid, store.metadata.copy()
        quire.convert(self.at("a.sqlite"), self.at("b.xml"))
        with quire.open(self.at("b.xml"), SAMPLES) as store:
            self.assertEqual(contents(store), before)
            self.assertEqual(store.uuid, identity)
        quire.convert(self.at("b.xml"), self.at("c.sqlite"), SAMPLES)
        # It keeps its model, and has all tables.
        with quire.open(self.at("c.sqlite")) as store:
            self.assertEqual(store.uuid, identity)
            self.assertEqual(store.metadata.copy(), metadata)
            self.assertEqual(store.check(), 0)
        with quire.open(self.at("c.sqlite"), SAMPLES) as store:
            self.assertEqual(contents(store), before)
            ids = sorted(store.context.query(Sample).ids())
        quire.convert(self.at("c.sqlite"), self.at("d.xml"), type="xml")
        self.assertEqual(self.read("d.xml"), self.read("b.xml"))
        with quire.open(self.at("d.xml"), SAMPLES) as store:
            self.assertEqual(sorted(store.context.query(Sample).ids()), ids)
        self.assertEqual(
            sorted(name for name in os.listdir(self.folder) if not name.startswith(".")),
            ["a.sqlite", "b.xml", "c.sqlite", "d.xml"])

    def test_new_objects_of_a_converted_store_have_new_ids(self):
        self.write(VEHICLES)
        models = [Vehicle, VehiclePicture]
        quire.convert(self.at("a.xml"), self.at("b.sqlite"), models)
        with quire.open(self.at("b.sqlite"), models) as store:
            self.assertEqual(store.context.query(Vehicle).one().id, 102)
            self.assertGreater(store.context.add(Vehicle()).id, 104)

    def test_what_cannot_be_converted_leaves_no_file(self):
        models = [Vehicle, VehiclePicture]
        source, store = self.write(VEHICLES), self.at("a.sqlite")
        quire.open(store, models).close()
        self.refused(quire.CannotOpen, "already a file", lambda: quire.convert(source, store, models))
        self.refused(
            quire.InvalidArgument, "of the type XML", lambda: quire.convert(source, self.at("x"), models, type="xml"))
        self.refused(
            quire.InvalidArgument, "of the type SQLite", lambda: quire.convert(store, self.at("x"), type="sqlite"))
        self.refused(quire.InvalidArgument, "memory", lambda: quire.convert(source, ":memory:", models))
        self.refused(quire.InvalidModel, "model", lambda: quire.convert(source, self.at("x")))
        self.refused(quire.CannotOpen, "does not exist", lambda: quire.convert(self.at("y"), self.at("x"), models))
        self.refused(quire.CannotOpen, "folder", lambda: quire.convert(source, self.at("no/x"), models))
        self.refused(quire.ModelMismatch, "model", lambda: quire.convert(store, self.at("x"), SAMPLES))


if __name__ == "__main__":
    unittest.main()
