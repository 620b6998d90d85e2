"""Stores that are created with a model of a file, and the model that every new store keeps."""

import contextlib
import pathlib
import sqlite3
import tempfile
import unittest
import zlib
from typing import Optional

import quire

from test_load_model import CONTENTS


class Reader(quire.Model):
    """Its own relatives: which side names the table is for the class to say."""

    __class_name__ = "App.Reader"

    name: quire.Attr[str] = quire.attr(searchable=True, user_info={"shown": "first"})
    age: quire.Attr[Optional[int]] = quire.attr(default=None)
    fans: quire.ToMany["Reader"] = quire.relation(inverse="idols")
    idols: quire.ToMany["Reader"] = quire.relation(inverse="fans", names_join_table=True)


class CreatedFileTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "a.sqlite"

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            return file.execute(sql).fetchall()

    def test_a_loaded_model_makes_a_store(self) -> None:
        source = self.folder / "Notes.xcdatamodel"
        source.mkdir()
        (source / "contents").write_text(CONTENTS)
        model = quire.load_model(source)
        with quire.open(self.path, model) as store:
            self.assertEqual(store.model, model.description)
            note, tag = store.classes["Note"], store.classes["Tag"]
            made = store.context.add(note(title="a"))
            made.tags.add(store.context.add(tag()))
            store.context.save()
        with quire.open(self.path, model, must_exist=True) as store:
            self.assertEqual(store.context.query(store.classes["Note"]).count(), 1)
        model.close()
        # The file has it now.
        with quire.open(self.path) as store:
            self.assertEqual(list(store.classes), ["Note", "Tag"])
            self.assertEqual(len(store.context.query(store.classes["Note"]).one().tags), 1)
        with self.assertRaises(quire.StoreClosed):
            quire.open(self.path, model)

    def test_a_new_store_keeps_its_model(self) -> None:
        with quire.open(self.path, [Reader]) as store:
            declared = store.model
            store.context.add(Reader(name="Ada"))
            store.context.save()
        ((content,),) = self.rows("SELECT Z_CONTENT FROM Z_MODELCACHE")
        assert isinstance(content, bytes)
        self.assertTrue(zlib.decompress(content, -15).startswith(b"bplist00"))
        with quire.open(self.path) as store:
            self.assertEqual(store.model, declared)
            reader = store.classes["Reader"]
            # The text index stays, which Core Data does not know.
            self.assertTrue(store.model.entities["Reader"].properties["name"].searchable)
            self.assertEqual(store.context.query(reader).where(reader.name.contains("da")).count(), 1)
            store.context.query(reader).one().age = 3
            store.context.save()
        with quire.open(self.path, [Reader]) as store:
            self.assertEqual(store.context.query(Reader).one().age, 3)

    def test_the_name_of_a_join_table(self) -> None:
        quire.open(self.path, [Reader]).close()
        joins = "SELECT name FROM sqlite_master WHERE name GLOB 'Z_1*S'"
        self.assertEqual(self.rows(joins), [("Z_1IDOLS",)])
        model = quire.load_model(self.path)
        properties = model.entities["Reader"].properties
        self.assertTrue(properties["idols"].names_join_table)
        self.assertFalse(properties["fans"].names_join_table)
        self.path = self.folder / "b.sqlite"
        quire.open(self.path, model).close()
        self.assertEqual(self.rows(joins), [("Z_1IDOLS",)])

    def test_a_store_without_a_copy(self) -> None:
        quire.open(self.path, [Reader]).close()
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.execute("DROP TABLE Z_MODELCACHE")
        quire.open(self.path, [Reader]).close()
        with self.assertRaisesRegex(quire.InvalidModel, "keeps no model"):
            quire.open(self.path)
        self.assertEqual(self.rows("SELECT name FROM sqlite_master WHERE name = 'Z_MODELCACHE'"), [])


if __name__ == "__main__":
    unittest.main()
