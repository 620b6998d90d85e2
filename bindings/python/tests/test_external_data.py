from __future__ import annotations

import os
import sqlite3
import tempfile
import unittest
from typing import Optional

import quire


class Photo(quire.Model):
    name: quire.Attr[str]
    image: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)


class ExternalDataTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "photos.sqlite")
        with quire.open(self.path, [Photo]) as store:
            for name in ("none", "empty", "inline", "file", "bare"):
                store.context.add(Photo(name=name))
            store.context.save()
        values = {
            "empty": b"\1", "inline": b"\1abc", "file": b"\2" + b"0A" * 18 + b"\0", "bare": b""}
        with sqlite3.connect(self.path) as database:
            for name, value in values.items():
                database.execute("UPDATE ZPHOTO SET ZIMAGE = ? WHERE ZNAME = ?", (value, name))
        database.close()
        self.store = quire.open(self.path, [Photo])
        self.addCleanup(self.store.close)
        self.query = self.store.context.query(Photo)

    def image(self, name: str) -> Optional[bytes]:
        photo = self.query.where("name == %@", name).one()
        return photo.image

    def test_values_in_the_row_are_read_without_their_mark(self) -> None:
        for name, expected in (("none", None), ("empty", b""), ("inline", b"abc")):
            self.assertEqual(self.image(name), expected)
        read = self.query.where("name == 'inline'").values("image")
        self.assertEqual(list(read), [(b"abc",)])

    def test_values_elsewhere_are_an_error(self) -> None:
        for name in ("file", "bare"):
            with self.assertRaisesRegex(quire.Unsupported, "ZIMAGE"):
                self.image(name)

    def test_values_are_not_written(self) -> None:
        photo = self.query.where("name == 'inline'").one()
        photo.image = b"x"
        with self.assertRaisesRegex(quire.Unsupported, "Photo.image"):
            self.store.context.save()
        self.store.context.rollback()
        self.assertEqual(photo.image, b"abc")
        with self.assertRaisesRegex(quire.Unsupported, "Photo.image"):
            self.query.where("name == 'inline'").update(image=b"x")
        with self.assertRaisesRegex(quire.Unsupported, "Photo.image"):
            self.store.context.insert_rows(Photo, {"name": ["a"], "image": [b"x"]})
        photo.image = None
        self.store.context.save()
        self.assertIsNone(self.image("inline"))

    def test_conditions_on_the_column_are_an_error(self) -> None:
        with self.assertRaisesRegex(quire.Unsupported, "Photo.image"):
            self.query.where("image == nil").all()


if __name__ == "__main__":
    unittest.main()
