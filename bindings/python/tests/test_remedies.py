"""What errors advise: it must be possible, and help."""

import datetime
import decimal
import enum
import os
import pathlib
import sys
import tempfile
import unittest
from typing import Any, Callable, Optional

import quire


class Book(quire.Model):
    title: quire.Attr[str]
    pages: quire.Attr[int] = quire.attr(default=0)
    at: quire.Attr[Optional[datetime.datetime]] = quire.attr(default=None)
    sequel: quire.ToOne["Book | None"] = quire.relation()
    related: quire.ToMany["Book"] = quire.relation()


class Silent(Book):
    """Its constructor leaves everything out."""

    def __init__(self, title: str) -> None:
        pass


class Assigning(Book):
    """Its constructor assigns what nothing is there to take yet."""

    def __init__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


class Color(enum.Enum):
    RED = "red"


class Shirt(quire.Model):
    color: quire.Attr[Color]
    day: quire.Attr[datetime.date]
    size: quire.Attr[float]
    at: quire.Attr[datetime.datetime]
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    extra: quire.Attr[Any] = quire.attr(default=None, as_=quire.JSON)


class RemedyCase(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Book, Silent, Assigning, Shirt])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def told(self, kind: type[BaseException], call: Callable[[], object]) -> str:
        with self.assertRaises(kind) as caught:
            call()
        return str(caught.exception)


class ConstructorTests(RemedyCase):
    def test_a_constructor_that_leaves_out_the_one_of_the_base_is_named(self) -> None:
        given: list[tuple[str, Any]] = [("title", "x"), ("pages", 5), ("sequel", None), ("related", [])]
        for name, value in given:
            said = self.told(quire.InvalidState, lambda: Assigning(name, value))
            self.assertIn("Assigning.__init__", said)
            self.assertIn("super().__init__(title=...)", said)

    def test_an_object_without_what_the_base_makes_goes_nowhere(self) -> None:
        book = self.context.add(Book(title="x"))
        for call in (
            lambda: self.context.add(Silent("a")), lambda: setattr(book, "sequel", Silent("a")),
            lambda: setattr(book, "related", [Silent("a")]), lambda: quire.Predicate("sequel == %@", Silent("a")),
        ):
            said = self.told(quire.InvalidState, call)
            self.assertIn("Silent.__init__", said)
            self.assertIn("super().__init__(title=...)", said)
        self.assertEqual(self.context.query(Silent).count(), 0)
        self.assertIsNone(book.sequel)

    def test_a_constructor_that_calls_the_one_of_the_base_is_fine(self) -> None:
        class Short(Book):
            def __init__(self, title: str) -> None:
                super().__init__(title=title)
                self.pages = len(title)

        with quire.open(":memory:", [Book, Short]) as store:
            self.assertEqual(store.context.add(Short("Faust")).pages, 5)

    def test_values_without_names_are_told_with_the_name_of_the_class(self) -> None:
        make: Any = Book
        self.assertIn("Book(title='Faust')", self.told(TypeError, lambda: make("Faust")))
        self.assertIn("Book(**values)", self.told(TypeError, lambda: make({"title": "Faust"})))

    def test_a_property_that_the_class_has_lost_is_told_of_when_a_store_is_opened(self) -> None:
        class Lost(quire.Model):
            pages: quire.Attr[int] = quire.attr(default=0)

        setattr(Lost, "pages", 3)
        said = self.told(quire.InvalidModel, lambda: quire.open(":memory:", [Lost]))
        self.assertIn("Lost.pages", said)
        self.assertIn("attr(default=...)", said)


class ValueTests(RemedyCase):
    def test_values_of_foreign_types_are_told_with_what_to_give(self) -> None:
        for value, remedy in (
            (datetime.date(2024, 5, 1), "datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)"),
            (datetime.timedelta(1), "total_seconds()"), (Color.RED, "Color.RED.value"), (object(), "Decimal or UUID"),
        ):
            self.assertIn(remedy, self.told(quire.WrongType, lambda: Book.at > value))
        self.assertEqual(
            self.context.query(Book).where(
                Book.at > datetime.datetime(2024, 5, 1, tzinfo=datetime.timezone.utc)).count(), 0)
        self.assertEqual(self.context.query(Book).where(Book.title == Color.RED.value).count(), 0)

    def test_rows_instead_of_columns_are_told_with_the_columns_of_rows(self) -> None:
        rows: Any = [{"title": "a", "pages": 1}, {"title": "b", "pages": 2}]
        for call in (self.context.insert_many, self.context.insert_rows):
            said = self.told(quire.WrongType, lambda: call(Book, rows))
            self.assertIn('{"title": [...]}', said)
            self.assertIn("{name: [row[name] for row in rows] for name in rows[0]}", said)
        self.context.insert_many(Book, {name: [row[name] for row in rows] for name in rows[0]})
        self.assertEqual(self.context.query(Book).order_by("title").values("title", "pages"), [("a", 1), ("b", 2)])

    def test_what_makes_rows_is_left_out_of_exists(self) -> None:
        query = self.context.query(Book)
        for asked in (query.distinct(), query.group_by("title").distinct()):
            self.assertNotIn("count()", self.told(quire.InvalidArgument, asked.exists))
        self.assertIn("take count()", self.told(quire.InvalidArgument, query.group_by("title").exists))
        self.assertEqual(query.group_by("title").count(), 0)


class QueryTests(RemedyCase):
    def test_several_conditions_must_all_hold(self) -> None:
        for pages in range(5):
            self.context.add(Book(title=f"{pages % 2}", pages=pages))
        query, odd = self.context.query(Book).order_by(Book.pages), Book.title == "1"
        self.assertEqual(query.where(odd, Book.pages > 1).values(Book.pages), [(3,)])
        self.assertEqual(query.where(odd, Book.pages > 0, Book.pages < 3).values(Book.pages), [(1,)])
        self.assertEqual(query.where(odd).count(), 2)
        grouped = query.group_by(Book.pages).having(Book.pages > 1, Book.pages < 3)
        self.context.save()
        self.assertEqual(grouped.values(Book.pages), [(2,)])
        said = self.told(quire.WrongType, lambda: query.where(odd, "pages > 1"))
        self.assertIn("Join conditions with &", said)

    def test_orders_name_how_a_direction_is_written(self) -> None:
        query = self.context.query(Book)
        for key, right in (
            ("title desc", '"-title"'), ("title DESC", '"-title"'), ("title asc", '"title"'),
            ("-title desc", '"-title"'), (-Book.title, '.desc() or "-author"'),
        ):
            said = self.told(quire.Error, lambda: query.order_by(key))
            self.assertIn(right, said)
            self.assertIn(".desc()", said)

    def test_a_key_behind_a_relationship_is_told_with_how_it_is_written(self) -> None:
        sequel: Any = Book.sequel
        said = self.told(AttributeError, lambda: sequel.title)
        self.assertIn("Book.sequel.to(Book.title)", said)
        self.assertFalse(hasattr(sequel, "_title"))

    def test_values_that_no_value_equals_are_refused(self) -> None:
        moment = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
        self.context.add(Shirt(color=Color.RED, day=moment.date(), size=2.0, at=moment))
        wrong: list[tuple[Any, Any]] = [
            (Shirt.size, "2"), (Shirt.size, moment), (Shirt.size, b"2"), (Shirt.day, "2020-01-01"), (Shirt.day, 5),
            (Shirt.color, "green"), (Shirt.color, 5), (Shirt.at, "2020"), (Shirt.at, 3.5), (Shirt.text, 5),
            (Shirt.text, moment)]
        for key, value in wrong:
            for call in (
                    lambda: key == value, lambda: key != value, lambda: key.in_([None, value]),
                    lambda: key.equals(value), lambda: key.differs(value)):
                said = self.told(quire.WrongType, call)
                self.assertIn(f"{key} expects ", said)
        right: list[tuple[Any, Any]] = [
            (Shirt.size, 2), (Shirt.size, decimal.Decimal(2)), (Shirt.size, Shirt.size), (Shirt.size, Shirt.size + 0),
            (Shirt.size, quire.Expression("1 + 1")), (Shirt.text, None), (Shirt.color, Color.RED), (Shirt.color, "red"),
            (Shirt.color, Shirt.color), (Shirt.day, moment.date()), (Shirt.at, moment), (Shirt.at, Shirt.at),
            (Shirt.extra, None)]
        query = self.context.query(Shirt)
        for key, value in right:
            self.assertEqual(query.where(key == value).count(), 1, (key, value))
        self.assertEqual(query.where(Shirt.at != 1e15).count(), 1)
        self.assertEqual(query.where(Shirt.size.in_([1, True, decimal.Decimal(2)])).count(), 1)


class FileTests(RemedyCase):
    def setUp(self) -> None:
        super().setUp()
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)
        self.path = self.folder / "books.sqlite"

    def opened(self) -> quire.Store:
        store = quire.open(self.path, [Book])
        self.addCleanup(store.close)
        store.context.add(Book(title="Faust"))
        store.context.save()
        return store

    def test_a_deletion_of_nothing_speaks_of_no_creation(self) -> None:
        said = self.told(quire.CannotOpen, lambda: quire.delete_store(self.path))
        self.assertIn("cannot be deleted: there is no such file", said)

    @unittest.skipUnless(hasattr(os, "geteuid"), "there are no permissions")
    def test_a_deletion_without_permission_names_what_to_change(self) -> None:
        if os.geteuid() == 0:
            # To whom everything is permitted.
            os.chown(self.folder, 65534, -1)
            os.seteuid(65534)
            self.addCleanup(os.seteuid, 0)
        self.opened().close()
        self.path.chmod(0o444)
        said = self.told(quire.ReadOnly, lambda: quire.delete_store(self.path))
        self.assertIn("Change the permissions and the owner of that file", said)
        self.path.chmod(0o644)
        self.folder.chmod(0o555)
        self.addCleanup(self.folder.chmod, 0o755)
        said = self.told(quire.ReadOnly, lambda: quire.delete_store(self.path))
        self.assertIn(f"Change the permissions of '{self.folder}'", said)
        self.folder.chmod(0o755)
        quire.delete_store(self.path)

    def test_a_copy_onto_an_open_store_does_not_advise_to_delete_it(self) -> None:
        store = self.opened()
        link = self.folder / "link.sqlite"
        link.symlink_to(self.path)
        for target in (self.path, f"{self.path}-wal", link):
            said = self.told(quire.CannotOpen, lambda: store.copy(target))
            self.assertIn("is a file of its own. Choose another path.", said)
        with quire.open(self.folder / "other.sqlite", [Book]) as other:
            for source in (store, self.store):
                said = self.told(quire.CannotOpen, lambda: source.copy(self.folder / "other.sqlite"))
                self.assertIn("is a store that this process has open. Choose another path.", said)
            self.assertEqual(other.context.query(Book).count(), 0)
        store.copy(self.folder / "copy.sqlite")
        (self.folder / "other.sqlite").unlink()
        store.copy(self.folder / "other.sqlite")

    def test_a_copy_beside_a_transaction_advises_to_end_it(self) -> None:
        store = self.opened()
        with store.context.transaction():
            for call in (lambda: store.copy(self.folder / "copy.sqlite"), store.check):
                said = self.told(quire.Busy, call)
                self.assertIn("Commit it or roll it back first", said)
                self.assertNotIn("do this in that context", said)
        store.copy(self.folder / "copy.sqlite")
        store.check()

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_forked_process_is_told_of_the_fork_when_it_deletes(self) -> None:
        store = self.opened()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                for _ in range(2):
                    said = self.told(quire.CannotOpen, lambda: quire.delete_store(self.path))
                    self.assertIn("was open when this process was forked", said)
                    self.assertNotIn("Close it first", said)
                    store.close()
                code = 0
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(store.context.query(Book).count(), 1)


if __name__ == "__main__":
    unittest.main()
