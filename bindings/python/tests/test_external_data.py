"""Attributes whose values may lie in files beside the store."""
from __future__ import annotations

import os
import re
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire

LARGEST_INLINE = 102_400
LARGE = bytes(range(256)) * 500
OTHER = LARGE[::-1]
MISSING = "0A0A0A0A-0000-4000-8000-0A0A0A0A0A0A"


class Album(quire.Model):
    title: quire.Attr[str]
    photos: quire.ToMany["Photo"] = quire.relation(inverse="album", on_delete="cascade")


class Photo(quire.Model):
    __unique__ = ["name"]

    name: quire.Attr[str]
    image: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    preview: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    album: quire.ToOne[Optional["Album"]] = quire.relation(inverse="photos")


class ExternalDataTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "photos.sqlite")
        self.open()

    def open(self, **options: Any) -> None:
        self.store = self.opened(**options)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.Album: Any = self.store.classes["Album"]
        self.Photo: Any = self.store.classes["Photo"]
        self.query: quire.Query[Any] = self.context.query(self.Photo)

    def opened(self, **options: Any) -> quire.Store:
        return quire.open(self.path, [Album, Photo], **options)

    def reopen(self, **options: Any) -> None:
        self.store.close()
        self.open(**options)

    def fill(self, **images: Optional[bytes]) -> None:
        for name, image in images.items():
            self.context.add(self.Photo(name=name, image=image))
        self.context.save()

    def photo(self, name: str) -> Any:
        return self.query.where("name == %@", name).one()

    def run_sql(self, sql: str, *values: object) -> list[Any]:
        database = sqlite3.connect(self.path)
        try:
            with database:
                return database.execute(sql, values).fetchall()
        finally:
            database.close()

    def stored(self, name: str) -> Any:
        return self.run_sql("SELECT ZIMAGE FROM ZPHOTO WHERE ZNAME = ?", name)[0][0]

    def data_folder(self, path: Optional[str] = None) -> str:
        folder, name = os.path.split(path or self.path)
        return os.path.join(folder, f".{os.path.splitext(name)[0]}_SUPPORT", "_EXTERNAL_DATA")

    def files(self, path: Optional[str] = None) -> dict[str, bytes]:
        folder = self.data_folder(path)
        found: dict[str, bytes] = {}
        for name in os.listdir(folder) if os.path.isdir(folder) else []:
            with open(os.path.join(folder, name), "rb") as file:
                found[name] = file.read()
        return found

    def named(self) -> set[str]:
        """What rows name, after a look at the form."""
        names = set()
        for row in self.run_sql("SELECT ZIMAGE, ZPREVIEW FROM ZPHOTO"):
            for value in row:
                if value is not None and value[0] == 2:
                    self.assertEqual((len(value), value[-1]), (38, 0))
                    names.add(value[1:37].decode("ascii"))
        return names

    def assert_files_are_named(self, count: int) -> None:
        self.assertEqual(set(self.files()), self.named())
        self.assertEqual(len(self.files()), count)

    # --- Reading

    def test_values_are_read_without_their_mark(self) -> None:
        self.fill(none=None, empty=b"x", inline=b"x")
        for name, value in (("empty", b"\1"), ("inline", b"\1abc")):
            self.run_sql("UPDATE ZPHOTO SET ZIMAGE = ? WHERE ZNAME = ?", value, name)
        self.reopen()
        for name, expected in (("none", None), ("empty", b""), ("inline", b"abc")):
            self.assertEqual(self.photo(name).image, expected)
        read = self.query.where("name == 'inline'").values("image")
        self.assertEqual(list(read), [(b"abc",)])

    def test_a_missing_file_fails_for_its_value_alone(self) -> None:
        self.fill(file=b"x", other=b"y")
        self.run_sql(
            "UPDATE ZPHOTO SET ZIMAGE = ? WHERE ZNAME = 'file'", b"\2" + MISSING.encode() + b"\0")
        self.reopen()
        photo = self.photo("file")
        for _ in range(2):
            with self.assertRaisesRegex(quire.NotFound, f"Photo.image.*{MISSING}"):
                _ = photo.image
        self.assertEqual((photo.name, photo.preview), ("file", None))
        self.assertEqual(self.photo("other").image, b"y")
        photo.name = "renamed"
        self.context.save()
        self.assertEqual(self.stored("renamed")[1:37].decode(), MISSING)
        for use in (
            lambda: self.query.where("image == %@", b"y").all(),
            lambda: list(self.query.values("image")),
        ):
            with self.assertRaisesRegex(quire.NotFound, MISSING):
                use()
        photo.image = b"new"
        self.context.save()
        self.assertEqual(self.stored("renamed"), b"\1new")

    def test_other_marks_are_damage(self) -> None:
        damaged = [
            b"", b"\0", b"\3abc", b"abc", b"\2", b"\2abc", b"\2" + MISSING.encode(),
            b"\2" + MISSING.encode() + b"\1", b"\2" + MISSING.lower().encode() + b"\0",
            b"\2" + b"../" * 12 + b"\0",
        ]
        self.fill(**{f"photo{number}": b"x" for number in range(len(damaged))})
        for number, value in enumerate(damaged):
            self.run_sql("UPDATE ZPHOTO SET ZIMAGE = ? WHERE ZNAME = ?", value, f"photo{number}")
        self.reopen()
        for photo in self.query.all():
            key = int(re.sub(".*/p", "", str(photo.id)))
            with self.assertRaisesRegex(quire.DatabaseError, f"Photo.image.*row {key} "):
                _ = photo.image

    def test_a_fetch_does_not_read_files(self) -> None:
        self.fill(**{f"photo{number}": LARGE for number in range(5)})
        self.reopen()
        photos = self.query.all()
        self.assertEqual(len([photo.name for photo in photos]), 5)
        for name in self.files():
            os.unlink(os.path.join(self.data_folder(), name))
        for photo in photos:
            with self.assertRaises(quire.NotFound):
                _ = photo.image

    # --- Writing

    def test_the_threshold(self) -> None:
        sizes = [0, 1, LARGEST_INLINE - 1, LARGEST_INLINE, LARGEST_INLINE + 1, 1_000_000]
        self.fill(**{f"photo{size}": bytes(size) for size in sizes})
        for size in sizes:
            stored = self.stored(f"photo{size}")
            if size <= LARGEST_INLINE:
                self.assertEqual(stored, b"\1" + bytes(size))
            else:
                self.assertRegex(stored, rb"\A\x02[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}\0\Z")
                self.assertEqual(self.files()[stored[1:37].decode()], bytes(size))
        self.assert_files_are_named(2)
        self.reopen()
        for size in sizes:
            self.assertEqual(self.photo(f"photo{size}").image, bytes(size))

    def test_files_go_with_what_they_were_for(self) -> None:
        self.fill(a=LARGE, b=LARGE, c=LARGE)
        self.assert_files_are_named(3)
        before = self.stored("b")
        self.photo("a").image = OTHER
        self.photo("b").name = "bb"
        self.context.save()
        self.assert_files_are_named(3)
        self.assertEqual(self.stored("bb"), before)
        self.photo("a").image = b"small"
        self.photo("c").image = None
        self.context.save()
        self.assert_files_are_named(1)
        self.context.delete(self.photo("bb"))
        self.context.save()
        self.assert_files_are_named(0)

    def test_the_same_data_is_no_change(self) -> None:
        self.fill(a=LARGE)
        self.reopen()
        before = self.stored("a")
        photo = self.photo("a")
        photo.image = bytes(LARGE)
        self.assertFalse(self.context.has_changes)
        self.context.save()
        self.assertEqual(self.stored("a"), before)

    def test_cascades_and_batches(self) -> None:
        album = self.Album(title="album")
        self.context.add(album)
        self.fill(a=LARGE, b=LARGE, c=b"c", d=LARGE)
        for name in ("a", "c"):
            self.photo(name).album = album
        self.context.save()
        self.context.delete(album)
        self.context.save()
        self.assert_files_are_named(2)
        self.query.update(image=OTHER)
        self.assert_files_are_named(2)
        self.assertEqual({self.photo(name).image for name in "bd"}, {OTHER})
        before = self.named()
        self.query.update(image=OTHER)
        self.assertEqual(self.named(), before)
        self.query.where("name == 'b'").update(image=b"b")
        self.assert_files_are_named(1)
        self.context.insert_rows(self.Photo, {"name": ["x", "y"], "image": [LARGE, b"y"]})
        self.assert_files_are_named(2)
        self.assertEqual(self.photo("x").image, LARGE)
        self.context.insert_rows(self.Photo, {"name": ["x", "z"], "image": [b"x", OTHER]}, upsert=True)
        self.assert_files_are_named(2)
        self.query.delete()
        self.assert_files_are_named(0)

    def test_nothing_is_left_of_what_fails(self) -> None:
        self.fill(a=LARGE, b=b"b")
        before = self.files()
        self.photo("a").image = OTHER
        self.context.add(self.Photo(name="b", image=OTHER))
        with self.assertRaises(quire.Error):
            self.context.save()
        self.assertEqual(self.files(), before)
        self.context.rollback()
        with self.assertRaises(ZeroDivisionError), self.context.transaction():
            self.photo("a").image = OTHER
            self.context.save()
            self.photo("b").image = LARGE
            self.context.save()
            self.assertEqual(len(self.files()), 3)
            _ = 1 // 0
        self.assertEqual(self.files(), before)
        self.assert_files_are_named(1)
        with self.context.transaction():
            self.photo("a").image = OTHER
            self.context.save()
            self.context.delete(self.photo("b"))
            self.context.save()
        self.assert_files_are_named(1)

    def test_objects_read_before_keep_their_values(self) -> None:
        self.fill(a=LARGE)
        self.reopen()
        mine = self.store.create_context().query(self.Photo).one()
        self.assertIsNone(mine.preview)
        kept = set(self.files())
        self.photo("a").image = OTHER
        self.context.save()
        # The file is there as long as a context is at a moment that names it.
        self.assertEqual(set(self.files()), self.named() | kept)
        self.assertEqual(mine.image, LARGE)
        self.assertIsNotNone(mine.context)
        mine.context.merge()
        self.assert_files_are_named(1)
        self.assertEqual(mine.image, OTHER)

    # --- SQL

    def test_a_list_does_not_need_a_damaged_value(self) -> None:
        self.fill(a=LARGE, b=b"b")
        self.run_sql("UPDATE ZPHOTO SET ZIMAGE = x'0341' WHERE ZNAME = 'a'")
        self.reopen()
        self.assertEqual([photo.name for photo in self.query.order_by("name")], ["a", "b"])

    def test_predicates_agree_with_memory(self) -> None:
        self.fill(none=None, a=b"a", b=b"b", large=LARGE, other=OTHER)
        self.reopen()
        predicates = [
            ("image == nil",), ("image != nil",), ("image == %@", b"a"), ("image != %@", b"a"),
            ("image == %@", LARGE), ("image IN %@", [b"b", OTHER]), ("image.length > 5",), ("image == preview",)]
        for predicate in predicates:
            with self.subTest(predicate=predicate[0]):
                saved = {photo.id for photo in self.query.where(*predicate)}
                for photo in self.query.all():
                    photo.name += "x"
                pending = {photo.id for photo in self.query.where(*predicate)}
                self.context.rollback()
                self.assertEqual(saved, pending)

    def test_whether_there_is_a_value_is_known_without_its_file(self) -> None:
        self.fill(none=None, inline=b"x", large=LARGE)
        for name in self.files():
            os.unlink(os.path.join(self.data_folder(), name))
        for is_pending in (False, True):
            album = self.context.add(self.Album(title="all"))
            for name in ("none", "inline", "large") if is_pending else ():
                self.photo(name).album = album
            for format, names in (
                    ("image == nil", ["none"]), ("nil != image", ["inline", "large"]),
                    ("NOT (image != NULL)", ["none"]), ("ANY album.photos.image == nil", None),
                    ("SUBQUERY(album.photos, $p, $p.image != nil).@count == 2", None)):
                expected = (["inline", "large", "none"] if is_pending else []) if names is None else names
                with self.subTest(format, is_pending=is_pending):
                    self.assertEqual(sorted(each.name for each in self.query.where(format)), expected)
                    matched = [each for each in self.query if quire.Predicate(format).matches(each)]
                    self.assertEqual(sorted(each.name for each in matched), expected)
            self.assertEqual(self.query.where(self.Photo.image.equals(None)).one().name, "none")
            with self.assertRaises(quire.NotFound):
                self.query.where("image == %@", LARGE[:-1]).all()

    def test_distinct_and_groups(self) -> None:
        self.fill(a=LARGE, b=LARGE, c=b"c")
        self.reopen()
        self.assertEqual({row[0] for row in self.query.distinct().values("image")}, {LARGE, b"c"})

    # --- Files of the store

    def test_a_store_in_memory_has_no_files(self) -> None:
        self.path = ":memory:"
        self.reopen()
        self.fill(a=LARGE)
        self.context.reset()
        self.assertEqual(self.photo("a").image, LARGE)

    def test_copies(self) -> None:
        self.fill(a=LARGE, b=b"b", missing=LARGE)
        os.unlink(os.path.join(self.data_folder(), self.stored("missing")[1:37].decode()))
        copy = os.path.join(self.folder, "copy.sqlite")
        self.store.copy(copy)
        self.assertEqual(self.files(copy), self.files())
        with quire.open(copy, [Album, Photo]) as store:
            query = store.context.query(Photo)
            self.assertEqual(query.where("name == 'a'").one().image, LARGE)
        self.context.delete(self.photo("a"))
        self.context.save()
        self.assertEqual(list(self.files(copy).values()), [LARGE])

    def test_deletion(self) -> None:
        self.fill(a=LARGE, b=b"b")
        self.store.close()
        quire.delete_store(self.path)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_neighbour_keeps_its_files(self) -> None:
        neighbour = os.path.join(self.folder, "photos.db")
        with quire.open(neighbour, [Album, Photo]) as store:
            store.context.add(Photo(name="n", image=OTHER))
            store.context.save()
        self.fill(a=LARGE)
        self.store.close()
        quire.delete_store(self.path)
        self.assertEqual(list(self.files(neighbour).values()), [OTHER])

    def test_reading_only_changes_nothing(self) -> None:
        self.fill(a=LARGE)
        self.store.close()
        before = sorted(os.listdir(self.folder)), self.files()
        self.open(read_only=True)
        self.assertEqual(self.photo("a").image, LARGE)
        self.store.close()
        self.assertEqual((sorted(os.listdir(self.folder)), self.files()), before)


class FoundClassesTests(ExternalDataTests):
    """The same with the classes that the store itself declares."""

    def opened(self, **options: Any) -> quire.Store:
        if not os.path.exists(self.path):
            super().opened().close()
        return quire.open(self.path, **options)

    def test_a_store_in_memory_has_no_files(self) -> None:
        """It needs a model."""


class FoundTraitsTests(unittest.TestCase):
    def test_all_that_is_declared_is_found(self) -> None:
        class Scan(quire.Model):
            data: quire.Attr[Optional[bytes]] = quire.attr(
                default=None, external=True, preserved=True, hash_modifier="2", renamed_from="bytes",
                user_info={"a": "b"})
            plain: quire.Attr[Optional[str]] = quire.attr(default=None)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "scans.sqlite")
            quire.open(path, [Scan]).close()
            with quire.open(path) as store:
                model, found = store.model, store.classes["Scan"]._quire_entity.attributes["data"]
                self.assertTrue(model.entities["Scan"].properties["data"].external)
            for trait in ("external", "preserved", "hash_modifier", "renamed_from", "user_info"):
                declared = getattr(Scan._quire_entity.attributes["data"]._traits, trait)
                self.assertEqual(getattr(found._traits, trait), declared, trait)
            again = os.path.join(folder, "again.sqlite")
            with quire.open(again, quire.load_model(path)) as store:
                self.assertEqual(store.model, model)


if __name__ == "__main__":
    unittest.main()
