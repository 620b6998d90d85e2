"""Stores go over to other versions of their models."""

import multiprocessing
import os
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire
from quire import MigrationStepKind as Kind

from support import PATIENCE


def first() -> list[type[quire.Model]]:
    class Author(quire.Model):
        name: quire.Attr[str]

    class Book(quire.Model):
        title: quire.Attr[str]
        pages: quire.Attr[Optional[int]] = quire.attr(default=None)
        author: quire.ToOne[Optional["Author"]] = quire.relation()

    return [Author, Book]


def second() -> list[type[quire.Model]]:
    class Writer(quire.Model):
        __renamed_from__ = "Author"
        name: quire.Attr[str]
        books: quire.ToMany["Book"] = quire.relation(inverse="writer", ordered=True)

    class Book(quire.Model):
        title: quire.Attr[str]
        length: quire.Attr[Optional[int]] = quire.attr(default=None, renamed_from="pages")
        rating: quire.Attr[int] = quire.attr(default=3)
        writer: quire.ToOne[Optional["Writer"]] = quire.relation(inverse="books", renamed_from="author")

    return [Writer, Book]


def named(classes: list[type[quire.Model]], name: str) -> Any:
    return next(each for each in classes if each.__name__ == name)


def rest_of(path: str) -> dict[str, bytes]:
    """Every file of a store with its bytes."""
    folder, name = os.path.split(path)
    found = {}
    for each in sorted(os.listdir(folder)):
        if each.startswith(name) and not each.endswith("-shm"):
            with open(os.path.join(folder, each), "rb") as file:
                found[each] = file.read()
    return found


def _write(path: str, orders: Any, answers: Any) -> None:
    classes = first()
    with quire.open(path, classes) as store:
        author = named(classes, "Author")
        answers.put(store.context.query(author).count())
        orders.get()
        for call in ("save", "merge"):
            try:
                if call == "save":
                    store.context.add(author(name="late"))
                    store.context.save()
                else:
                    store.context.merge()
                answers.put("went on")
            except quire.ModelMismatch as error:
                answers.put(str(error))
            store.context.rollback()


class MigrationTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "books.sqlite")
        classes = first()
        author, book = named(classes, "Author"), named(classes, "Book")
        with quire.open(self.path, classes) as store:
            ann = store.context.add(author(name="Ann"))
            for number in range(3):
                store.context.add(book(title=f"{number}", pages=number, author=ann))
            store.context.add(book(title="anonymous"))
            store.context.save()
            store.metadata["kept"] = "yes"
            store.context.save()
            self.uuid = store.uuid

    def assert_second(self) -> None:
        classes = second()
        book = named(classes, "Book")
        with quire.open(self.path, classes) as store:
            books = store.context.query(book).order_by(book.title).all()
            self.assertEqual(
                [(each.title, each.length, each.rating) for each in books],
                [("0", 0, 3), ("1", 1, 3), ("2", 2, 3), ("anonymous", None, 3)])
            writer = store.context.query(named(classes, "Writer")).one()
            self.assertEqual([each.title for each in writer.books], ["0", "1", "2"])
            self.assertEqual((store.uuid, store.metadata["kept"]), (self.uuid, "yes"))
            store.context.add(book(title="new", writer=writer))
            store.context.save()
            self.assertEqual(store.check(), 0)

    def test_a_dry_run_tells_the_steps_of_the_run_and_leaves_every_byte(self) -> None:
        before = rest_of(self.path)
        steps = quire.migrate(self.path, second(), dry_run=True)
        self.assertEqual(rest_of(self.path), before)
        found = {(each.kind, each.entity, each.property) for each in steps if not each.sql}
        self.assertEqual(found, {
            (Kind.RENAME_ENTITY, "Writer", ""), (Kind.ADD_PROPERTY, "Writer", "books"),
            (Kind.RENAME_PROPERTY, "Book", "length"), (Kind.ADD_PROPERTY, "Book", "rating"),
            (Kind.RENAME_PROPERTY, "Book", "writer"), (Kind.CHANGE_PROPERTY, "Book", "writer")})
        self.assertTrue(all(str(each) for each in steps))
        self.assertEqual(quire.migrate(self.path, second()), steps)
        self.assert_second()

    def test_what_is_of_the_models_already_is_left_alone(self) -> None:
        quire.migrate(self.path, second())
        before = rest_of(self.path)
        self.assertEqual(quire.migrate(self.path, second()), [])
        self.assertEqual(rest_of(self.path), before)

    def test_an_opening_migrates_where_it_is_told_to(self) -> None:
        with self.assertRaises(quire.ModelMismatch):
            quire.open(self.path, second())
        quire.open(self.path, second(), migrate=True).close()
        self.assert_second()
        with self.assertRaisesRegex(quire.InvalidArgument, "reading only"):
            quire.open(self.path, first(), migrate=True, read_only=True)

    def test_what_cannot_be_inferred_is_refused_with_the_property_and_leaves_every_byte(self) -> None:
        class Author(quire.Model):
            name: quire.Attr[str]

        class Book(quire.Model):
            title: quire.Attr[int]
            pages: quire.Attr[Optional[int]] = quire.attr(default=None)
            author: quire.ToOne[Optional[Author]] = quire.relation()

        before = rest_of(self.path)
        for call in (
            lambda: quire.migrate(self.path, [Author, Book], dry_run=True),
            lambda: quire.migrate(self.path, [Author, Book]),
            lambda: quire.open(self.path, [Author, Book], migrate=True),
        ):
            with self.assertRaises(quire.Unsupported) as caught:
                call()
            self.assertEqual((caught.exception.entity, caught.exception.key), ("Book", "title"))
            self.assertIn("'Book.title' is of type Integer 64, and was of type String.", str(caught.exception))
        self.assertEqual(rest_of(self.path), before)

    def test_a_new_unique_property_for_which_values_are_equal_is_refused(self) -> None:
        class Author(quire.Model):
            name: quire.Attr[str]

        class Book(quire.Model):
            __unique__ = ["pages"]
            title: quire.Attr[str]
            pages: quire.Attr[Optional[int]] = quire.attr(default=None)
            author: quire.ToOne[Optional[Author]] = quire.relation()

        classes = first()
        with quire.open(self.path, classes) as store:
            store.context.add(named(classes, "Book")(title="again", pages=1))
            store.context.save()
        with self.assertRaisesRegex(quire.ConstraintError, "Make them differ first.*ZPAGES"):
            quire.migrate(self.path, [Author, Book])
        with quire.open(self.path, first(), must_exist=True) as store:
            self.assertEqual(store.check(), 0)

    def test_a_store_without_a_copy_of_its_model_needs_the_source(self) -> None:
        with sqlite3.connect(self.path) as connection:
            connection.execute("DELETE FROM Z_MODELCACHE")
        connection.close()
        with self.assertRaisesRegex(quire.InvalidModel, "keeps no model"):
            quire.migrate(self.path, second())
        with self.assertRaises(quire.ModelMismatch):
            quire.migrate(self.path, second(), source=[named(first(), "Author")])
        quire.migrate(self.path, second(), source=first())
        self.assert_second()

    def test_an_older_program_takes_a_file_back_unless_it_gives_the_source(self) -> None:
        later = second()
        with quire.open(self.path, later, migrate=True) as store:
            for each in store.context.query(named(later, "Book")):
                each.rating = 5
            store.context.save()
        before = rest_of(self.path)
        with self.assertRaises(quire.ModelMismatch):
            quire.migrate(self.path, first(), source=[named(first(), "Author")])
        self.assertEqual(rest_of(self.path), before)
        quire.open(self.path, first(), migrate=True).close()
        with quire.open(self.path, later, migrate=True) as store:
            self.assertEqual({each.rating for each in store.context.query(named(later, "Book"))}, {3})

    def test_a_cancelled_run_leaves_the_file_as_it_was(self) -> None:
        cancellation = quire.Cancellation()
        cancellation.cancel()
        with self.assertRaises(quire.Cancelled):
            quire.migrate(self.path, second(), cancellation=cancellation)
        quire.open(self.path, first()).close()

    def test_a_store_that_is_open_is_refused(self) -> None:
        with quire.open(self.path, first()):
            with self.assertRaisesRegex(quire.InvalidState, "this process has it open"):
                quire.migrate(self.path, second())
            self.assertTrue(quire.migrate(self.path, second(), dry_run=True))
        quire.migrate(self.path, second())

    def test_an_xml_store_is_to_be_converted_first(self) -> None:
        path = self.path.replace(".sqlite", ".xml")
        quire.open(path, first(), type="xml").close()
        before = rest_of(path)
        with self.assertRaisesRegex(quire.Unsupported, "Convert it"):
            quire.migrate(path, second(), source=first())
        with self.assertRaises(quire.ModelMismatch):
            quire.open(path, second(), migrate=True)
        with self.assertRaisesRegex(quire.Unsupported, "keep a history"):
            quire.open(path, first(), track_history=True)
        self.assertEqual(rest_of(path), before)

    def test_relationships_that_become_inverses_with_objects_of_their_own_are_refused(self) -> None:
        class Author(quire.Model):
            name: quire.Attr[str]
            books: quire.ToMany["Book"] = quire.relation()

        class Book(quire.Model):
            title: quire.Attr[str]
            pages: quire.Attr[Optional[int]] = quire.attr(default=None)
            author: quire.ToOne[Optional[Author]] = quire.relation()

        quire.migrate(self.path, [Author, Book])

        class Later:
            class Author(quire.Model):
                name: quire.Attr[str]
                books: quire.ToMany["Book"] = quire.relation(inverse="author")

            class Book(quire.Model):
                title: quire.Attr[str]
                pages: quire.Attr[Optional[int]] = quire.attr(default=None)
                author: quire.ToOne[Optional["Author"]] = quire.relation(inverse="books")

        with self.assertRaisesRegex(quire.Unsupported, "are each other's inverse, and were not"):
            quire.migrate(self.path, [Later.Author, Later.Book])

    def test_bad_arguments_are_refused(self) -> None:
        with self.assertRaises(quire.InvalidModel):
            quire.migrate(self.path, None)  # type: ignore[arg-type]
        with self.assertRaises(TypeError):
            quire.migrate(self.path, second(), cancellation=1)  # type: ignore[arg-type]
        with self.assertRaises(quire.InvalidArgument):
            quire.migrate(self.path, second(), timeout=0)
        with self.assertRaisesRegex(quire.InvalidArgument, "in memory"):
            quire.migrate(":memory:", second())
        with self.assertRaises(quire.CannotOpen):
            quire.migrate(self.path + "-none", second())

    def test_another_process_of_the_former_version_writes_nothing_more(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        orders, answers = spawn.Queue(), spawn.Queue()
        other = spawn.Process(target=_write, args=(self.path, orders, answers))
        other.start()
        try:
            self.assertEqual(answers.get(timeout=PATIENCE), 1)
            quire.migrate(self.path, second())
            orders.put("go on")
            for _ in range(2):
                self.assertIn("taken over to another model", answers.get(timeout=PATIENCE))
        finally:
            orders.put("end")
            other.join(PATIENCE)
        self.assertEqual(other.exitcode, 0)
        self.assert_second()


def notes(version: int) -> list[Any]:
    class Line(quire.Model):
        note: quire.ToOne[Optional["Note"]] = quire.relation(inverse="lines")

    class Note(quire.Model):
        if version == 1:
            title: quire.Attr[str] = quire.attr(searchable=True)
        else:
            name: quire.Attr[str] = quire.attr(searchable=True, renamed_from="title")
        lines: quire.ToMany["Line"] = quire.relation(inverse="note")
        count: quire.Attr[int] = quire.derived("lines.@count")

    return [Line, Note]


class KeptByTriggersTests(unittest.TestCase):
    def test_the_next_opening_makes_text_indexes_and_derives_attributes(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "notes.sqlite")
        line, note = notes(1)
        with quire.open(path, [line, note]) as store:
            store.context.add(line(note=store.context.add(note(title="Über alles"))))
            store.context.save()
        line, note = notes(2)
        quire.migrate(path, [line, note])
        with quire.open(path, [line, note]) as store:
            found: Any = store.context.query(note).where("name CONTAINS[cd] 'uber'").one()
            self.assertEqual((found.name, found.count, store.check()), ("Über alles", 1, 0))
            store.context.add(line(note=found))
            store.context.save()
            self.assertEqual(found.count, 2)


class PartsOfOthersTests(unittest.TestCase):
    """What another program has in the file stays, or is named."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "books.sqlite")
        classes = first()
        with quire.open(self.path, classes) as store:
            store.context.add(named(classes, "Book")(title="a", pages=7))
            store.context.save()

    def run_sql(self, *statements: str) -> list[Any]:
        connection = sqlite3.connect(self.path)
        try:
            with connection:
                return [connection.execute(each).fetchall() for each in statements][-1]
        finally:
            connection.close()

    def test_indexes_triggers_views_columns_and_tables_stay(self) -> None:
        self.run_sql(
            "CREATE TABLE NOTES (TEXT)", "CREATE INDEX BY_TITLE ON ZBOOK (ZTITLE DESC)",
            "ALTER TABLE ZBOOK ADD COLUMN SHELF VARCHAR", "UPDATE ZBOOK SET SHELF = 'top'",
            "CREATE TRIGGER NOTED AFTER INSERT ON ZBOOK BEGIN INSERT INTO NOTES VALUES (NEW.ZTITLE); END",
            "CREATE VIEW TITLES AS SELECT ZTITLE, SHELF FROM ZBOOK")
        quire.migrate(self.path, second())
        self.assertEqual(self.run_sql("SELECT * FROM TITLES"), [("a", "top")])
        self.assertEqual(self.run_sql("SELECT count(*) FROM NOTES"), [(0,)])
        self.assertEqual(
            self.run_sql("SELECT sql FROM sqlite_master WHERE name = 'BY_TITLE'"),
            [("CREATE INDEX BY_TITLE ON ZBOOK (ZTITLE DESC)",)])
        classes = second()
        with quire.open(self.path, classes) as store:
            store.context.add(named(classes, "Book")(title="b"))
            store.context.save()
        self.assertEqual(self.run_sql("SELECT * FROM NOTES"), [("b",)])

    def test_what_names_what_is_gone_fails_and_leaves_the_file(self) -> None:
        for name, statement in (
            ("index BY_PAGES", "CREATE INDEX BY_PAGES ON ZBOOK (ZPAGES)"),
            ("trigger LONG", "CREATE TRIGGER LONG AFTER UPDATE OF ZPAGES ON ZBOOK BEGIN SELECT NEW.ZPAGES; END"),
            ("view LENGTHS", "CREATE VIEW LENGTHS AS SELECT ZPAGES FROM ZBOOK"),
        ):
            self.run_sql(statement)
            with self.subTest(name), self.assertRaisesRegex(quire.Unsupported, name):
                quire.migrate(self.path, second())
            kind, plain = name.split()
            quire.open(self.path, first()).close()
            self.run_sql(f"DROP {kind} {plain}")
        quire.migrate(self.path, second())


if __name__ == "__main__":
    unittest.main()
