"""Classes for the entities of a file that is opened without a model."""

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Any

import framework_files
import quire
from framework_files import declare, description

TYPES = description()


def shelf() -> Any:
    return declare().entity("Shelf", [
        declare().attribute("label", TYPES.STRING, optional=False),
        declare().many("books", "Book", "shelf", ordered=True)])


def book() -> Any:
    attribute = declare().attribute
    names = ["id", "id_", "context", "class", "_hidden", "self", "uri", "Model"]
    return declare().entity("Book", [
        *(attribute(name, TYPES.STRING) for name in names),
        attribute("pages", TYPES.INTEGER32, default=7), attribute("lent", TYPES.BOOLEAN),
        attribute("made", TYPES.DATE), attribute("note", TYPES.STRING, transient=True),
        declare().one("shelf", "Shelf", "books")])


def comic() -> Any:
    # The second has the name of a property of its parent in Python, but not in the file.
    return declare().entity("Comic", [
        declare().attribute("coloured", TYPES.BOOLEAN), declare().attribute("hidden_", TYPES.INTEGER16)], parent="Book")


class FoundClassTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "books.sqlite")
        store = framework_files.write_store(self.path, shelf(), book(), comic())
        key = store.add("Shelf", {"label": "a"})
        for place, (entity, name) in enumerate([("Book", "first"), ("Comic", "second")], 1):
            made = store.add(entity, {"id": name, "id_": f"{name}_", "self": "me", "_hidden": "h", "class": "c"})
            store.point(entity, made, "shelf", ("Shelf", key), 1024 * (3 - place))
        store.close()
        self.store = quire.open(self.path)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        self.Shelf, self.Book, self.Comic = (self.store.classes[name] for name in ("Shelf", "Book", "Comic"))

    def sql(self, statement: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.path)) as file, file:
            return file.execute(statement).fetchall()


class NameTests(FoundClassTestCase):
    def test_a_name_that_is_taken_has_an_underscore_behind_it(self) -> None:
        found = self.context.query(self.Book).excluding_subentities().one()
        self.assertEqual((found.id, found.id__, found.id_), (1, "first", "first_"))
        self.assertIs(found.context, self.context)
        self.assertIsNone(found.context_)
        self.assertEqual((found.class_, found.hidden_, found.self), ("c", "h", "me"))
        self.assertTrue(found.uri.startswith("x-coredata://"))
        self.assertIsNone(found.uri_)

    def test_a_child_leaves_names_of_its_parent_alone(self) -> None:
        found = self.context.query(self.Comic).one()
        self.assertEqual((found.hidden_, found.hidden__, found.id__), ("h", None, "second"))

    def test_predicates_have_the_names_of_the_file(self) -> None:
        query = self.context.query(self.Book)
        self.assertEqual(query.where("id == 'second'").one().id, 2)
        self.assertEqual(query.where(self.Book.id__ == "first").one().id, 1)
        self.assertEqual([each.id for each in query.order_by(self.Book.id__.desc())], [2, 1])

    def test_constructors_take_every_name(self) -> None:
        made = self.context.add(self.Book(id__="third", self="it", class_="x", Model="y", hidden_="z"))
        self.context.save()
        rows = self.sql(f"SELECT ZID, ZSELF, ZCLASS, ZMODEL, Z_HIDDEN, ZPAGES FROM ZBOOK WHERE Z_PK = {made.id}")
        self.assertEqual(rows, [("third", "it", "x", "y", "z", 7)])


    def test_a_name_of_the_wrong_side_is_told_that_of_the_other(self) -> None:
        query, said = self.context.query(self.Book), "called 'id__' in Python"
        found = query.excluding_subentities().one()
        for call in (
                lambda: self.Book(id="x"), lambda: setattr(found, "id", "x"), lambda: query.update(id="x"),
                lambda: self.context.find(self.Book, id="x"), lambda: self.context.insert_many(self.Book, {"id": []})):
            with self.assertRaisesRegex((quire.Error, AttributeError), said):
                call()
        said = "'_hidden' for 'hidden_'"
        for call in (
                lambda: query.where("hidden_ == 'h'").all(), lambda: query.order_by("hidden_").all(),
                lambda: query.values("hidden_"), lambda: query.live(section_by="hidden_"),
                lambda: query.where("hidden_ == 'h'").count(), lambda: query.group_by("hidden_").values()):
            with self.assertRaisesRegex(quire.InvalidArgument, said):
                call()

    def test_help_has_the_names_of_both_sides(self) -> None:
        self.assertIn("hidden_: Attr[Optional[str]], called '_hidden' in predicates", self.Book.__doc__)


class ClassTests(FoundClassTestCase):
    def test_classes_inherit_as_entities_do(self) -> None:
        self.assertEqual(list(self.store.classes), ["Book", "Comic", "Shelf"])
        self.assertTrue(issubclass(self.Comic, self.Book))
        self.assertTrue(issubclass(self.Book, quire.Model))
        self.assertEqual([type(each).__name__ for each in self.context.query(self.Book)], ["Book", "Comic"])
        self.assertNotIn("Cover", self.store.classes)
        with self.assertRaises(KeyError):
            self.store.classes["Cover"]

    def test_each_store_has_classes_of_its_own(self) -> None:
        with quire.open(self.path, read_only=True) as other:
            self.assertIsNot(other.classes["Book"], self.Book)
            for call in (lambda: other.context.query(self.Book), lambda: other.context.add(self.Book())):
                with self.assertRaisesRegex(quire.InvalidModel, r"another open store.*store.classes\['Book'\]"):
                    call()

    def test_another_store_is_not_opened_with_them(self) -> None:
        with self.assertRaisesRegex(quire.InvalidModel, "quire.load_model"):
            quire.open(self.path, self.store.classes.values())

    def test_a_class_of_the_program_is_not_one_of_a_store_without(self) -> None:
        class Shelf(quire.Model):
            label: quire.Attr[str]

        with self.assertRaisesRegex(quire.InvalidModel, r"store.classes\['Shelf'\].*quire.open"):
            self.context.query(Shelf)

    def test_a_transformable_says_what_it_takes(self) -> None:
        class Cover(quire.Model):
            image: quire.Attr[bytes] = quire.attr(type=quire.Transformable)

        for value in ("x", {"a": 1}):
            with self.assertRaisesRegex(quire.WrongType, "bytes.*archive.decode.*encodes nothing"):
                Cover(image=value)  # type: ignore[arg-type]

    def test_relationships_are_followed_in_order(self) -> None:
        found = self.context.query(self.Shelf).one()
        self.assertEqual([each.id__ for each in found.books], ["second", "first"])
        self.assertIs(found.books[0].shelf, found)
        found.books = list(found.books)[::-1]
        self.context.save()
        rows = self.sql("SELECT ZID FROM ZBOOK ORDER BY Z_FOK_SHELF")
        self.assertEqual(rows, [("first",), ("second",)])

    def test_values_are_checked_at_once(self) -> None:
        found = self.context.query(self.Comic).one()
        for name, value in (("pages", "many"), ("lent", 3.5), ("made", 1), ("shelf", found), ("id__", 5)):
            with self.subTest(name), self.assertRaises((TypeError, quire.InvalidArgument)):
                setattr(found, name, value)
        with self.assertRaises((TypeError, AttributeError)):
            self.Book(title="there is none")
        self.assertFalse(found.is_updated)

    def test_what_is_missing_is_found_at_the_save(self) -> None:
        self.context.add(self.Shelf())
        with self.assertRaisesRegex(quire.ValidationError, "label"):
            self.context.save()

    def test_a_live_list_reports_what_changes(self) -> None:
        with self.context.query(self.Book).where("pages > 5").live() as books:
            told: list[Any] = []
            books.on_change(told.append)
            found = self.context.query(self.Comic).one()
            found.pages = 9
            self.context.save()
            self.assertEqual(list(books), [found])
            self.assertEqual(len(told), 1)


class FileTests(FoundClassTestCase):
    def test_a_file_without_a_model_asks_for_one(self) -> None:
        self.store.close()
        self.sql("DROP TABLE Z_MODELCACHE")
        for options in ({}, {"read_only": True}, {"must_exist": True}):
            with self.subTest(options), self.assertRaises(quire.InvalidModel) as raised:
                quire.open(self.path, **options)
            self.assertRegex(str(raised.exception), "model")
            self.assertRegex(str(raised.exception), r"[Gg]ive|[Oo]pen it with")

    def test_a_damaged_model_is_refused(self) -> None:
        self.store.close()
        for content in (b"", b"\x00", b"\xff" * 40):
            self.sql(f"UPDATE Z_MODELCACHE SET Z_CONTENT = x'{content.hex()}'")
            with self.subTest(content), self.assertRaises(quire.InvalidModel):
                quire.open(self.path)

    def test_nothing_is_created_without_a_model(self) -> None:
        self.store.close()
        path = self.path + "-new"
        with self.assertRaises(quire.Error):
            quire.open(path)
        self.assertFalse(os.path.exists(path))
        with self.assertRaises(quire.Error):
            quire.open(":memory:")

    def test_the_file_is_closed_after_a_refusal(self) -> None:
        self.store.close()
        self.sql("DROP TABLE Z_MODELCACHE")
        with contextlib.suppress(quire.InvalidModel):
            quire.open(self.path)
        quire.delete_store(self.path)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), [])


if __name__ == "__main__":
    unittest.main()
