"""Derived and transient attributes, fetched properties, and the hooks around snapshots."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, ClassVar, Optional

import quire
from support import seeds


class Author(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
    book_count: quire.Attr[int] = quire.derived("books.@count", name="bookCount")
    total: quire.Attr[Decimal] = quire.derived("books.price.@sum")
    longest: quire.Attr[Optional[int]] = quire.derived("books.pages.@max")


class Book(quire.Model):
    title: quire.Attr[str]
    pages: quire.Attr[int] = quire.attr(default=1)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    author: quire.ToOne["Author | None"] = quire.relation(inverse="books")
    sort_title: quire.Attr[Optional[str]] = quire.derived("canonical:(title)", searchable=True)
    writer: quire.Attr[Optional[str]] = quire.derived("author.name")
    changed: quire.Attr[Optional[datetime]] = quire.derived("now()")
    thicker: quire.Fetched["Book"] = quire.fetched("pages > $FETCH_SOURCE.pages", "-pages", limit=2)
    words: quire.Attr[Optional[int]] = quire.attr(default=None, transient=True)

    log: ClassVar[list[str]] = []
    failing: ClassVar[list[str]] = []

    @property
    def label(self) -> str:
        """A computed attribute is a property like any other."""
        return f"{self.writer}: {self.title}"

    def _note(self, what: str) -> None:
        self.log.append(what)
        if what in self.failing:
            raise RuntimeError(what)

    def will_turn_into_fault(self) -> None:
        self._note("will")

    def did_turn_into_fault(self) -> None:
        assert self.is_fault
        self._note("did")

    def awake_from_snapshot(self, events: quire.SnapshotEvents) -> None:
        self._note(events.name or "")
        if events & ~quire.SnapshotEvents.UNDO_INSERTION:
            self.words = len(self.title.split())


MODELS = [Author, Book]


class AttributesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "books.sqlite")
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context
        Book.log.clear()
        Book.failing.clear()

    def add_book(self, title: str, **values: Any) -> Book:
        return self.context.add(Book(title=title, **values))

    # MARK: derived attributes

    def test_derived_values_are_there_after_the_save(self) -> None:
        author = self.context.add(Author(name="Goethe"))
        self.assertEqual((author.book_count, author.total, author.longest), (0, 0, None))
        book = self.add_book("Études", author=author, price=Decimal("0.1"), pages=7)
        self.add_book("Faust", author=author, price=Decimal("0.2"))
        self.assertIsNone(book.sort_title)
        self.context.save()
        self.assertEqual((author.book_count, author.total, author.longest), (2, Decimal("0.3"), 7))
        self.assertEqual((book.sort_title, book.writer, book.label), ("etudes", "Goethe", "Goethe: Études"))
        assert book.changed is not None
        self.assertLess(abs(datetime.now(timezone.utc) - book.changed), timedelta(minutes=1))
        self.assertEqual((author.changed_values, self.context.has_changes), ({}, False))
        author.name = "Johann"
        self.context.save()
        self.assertEqual(book.writer, "Johann")
        self.assertEqual(
            [each.title for each in self.context.query(Book).where(Book.writer == "Johann").order_by(Book.sort_title)],
            ["Études", "Faust"])
        self.assertEqual(self.context.query(Book).where(Book.sort_title.contains("tud")).one(), book)

    def test_live_lists_and_their_sections_follow_what_is_derived(self) -> None:
        authors = [self.context.add(Author(name=name)) for name in "ab"]
        self.context.save()
        live = self.context.query(Author).order_by(Author.book_count, Author.name).live(section_by=Author.book_count)
        self.assertEqual([section.name for section in live.sections], ["0"])
        changes: list[Any] = []
        live.on_change(changes.append)
        self.add_book("x", author=authors[0])
        self.context.save()
        self.assertEqual([section.name for section in live.sections], ["0", "1"])
        self.assertEqual([each.name for each in live], ["b", "a"])
        self.assertTrue(changes)

    def test_nobody_assigns_a_derived_attribute(self) -> None:
        author = self.context.add(Author(name="x"))
        with self.assertRaisesRegex(quire.InvalidArgument, "derived"):
            author.book_count = 3
        with self.assertRaisesRegex(quire.InvalidArgument, "derived"):
            Author(book_count=3)
        with self.assertRaisesRegex(quire.InvalidArgument, "derived"):
            self.context.insert_many(Author, {"book_count": [1]})
        with self.assertRaisesRegex(quire.InvalidArgument, "derived"):
            self.context.query(Author).update(book_count=1)
        self.assertEqual(author.book_count, 0)

    def test_expressions_are_checked_when_the_store_is_opened(self) -> None:
        class Wrong(quire.Model):
            name: quire.Attr[str]
            size: quire.Attr[int] = quire.derived("names.@count")

        with self.assertRaisesRegex(quire.InvalidModel, "Wrong.size.*names"):
            quire.open(":memory:", [Wrong])

    def test_random_histories_leave_what_plain_sql_calculates(self) -> None:
        seed = seeds(1)[0]
        print(f"derived: seed {seed}")
        dice = random.Random(seed)
        plain = sqlite3.connect(self.path, isolation_level=None)
        self.addCleanup(plain.close)
        for round in range(40):
            for _ in range(dice.randrange(5)):
                authors, books = list(self.context.query(Author)), list(self.context.query(Book))
                kind = dice.randrange(6)
                if kind == 0 or not authors:
                    self.context.add(Author(name=dice.choice(["Ä", "b", None])))
                elif kind == 1 or not books:
                    self.add_book(
                        dice.choice(["É", "x y"]), author=dice.choice(authors), pages=dice.randrange(9),
                        price=dice.choice([None, Decimal(dice.randrange(99)) / 10]))
                elif kind == 2:
                    dice.choice(books).author = dice.choice([None, *authors])
                elif kind == 3:
                    dice.choice(authors).name = dice.choice(["c", "Ö"])
                elif kind == 4:
                    self.context.delete(dice.choice([*authors, *books]))
                else:
                    dice.choice(books).pages = dice.randrange(20)
            self.context.save()
            if round % 5 == 4:
                # A program that knows SQLite alone.
                plain.execute("UPDATE ZBOOK SET ZPAGES = ZPAGES + 1, ZAUTHOR = (SELECT max(Z_PK) FROM ZAUTHOR)")
                self.context.reset()
            wrong = plain.execute(
                "SELECT a.Z_PK FROM ZAUTHOR a LEFT JOIN ZBOOK b ON b.ZAUTHOR = a.Z_PK GROUP BY a.Z_PK "
                "HAVING a.ZBOOKCOUNT <> count(b.Z_PK) OR abs(a.ZTOTAL - total(b.ZPRICE)) > 1e-9 "
                "OR a.ZLONGEST IS NOT max(b.ZPAGES) UNION ALL "
                "SELECT b.Z_PK FROM ZBOOK b LEFT JOIN ZAUTHOR a ON a.Z_PK = b.ZAUTHOR WHERE b.ZWRITER IS NOT a.ZNAME"
            ).fetchall()
            self.assertEqual(wrong, [], f"round {round} of seed {seed}")
            for author in self.context.query(Author):
                self.assertEqual(author.book_count, len(author.books), f"round {round} of seed {seed}")
            for book in self.context.query(Book):
                self.assertEqual(book.writer, book.author.name if book.author else None)
                self.assertEqual(book.sort_title, {"É": "e", "x y": "x y"}[book.title])

    # MARK: fetched properties

    def test_a_fetched_property_stays_until_its_object_is_refreshed(self) -> None:
        first, second = self.add_book("a", pages=1), self.add_book("b", pages=2)
        self.assertEqual(first.thicker, [second])
        third, fourth = self.add_book("c", pages=3), self.add_book("d", pages=4)
        self.assertEqual(first.thicker, [second])
        self.context.save()
        first.refresh()
        self.assertEqual(first.thicker, [fourth, third])
        self.context.delete(third)
        self.assertEqual(first.thicker, [fourth])
        with self.assertRaises(AttributeError):
            first.thicker = []
        with self.assertRaises(quire.InvalidState):
            Book(title="e").thicker
        self.assertEqual(repr(Book.thicker), "Book.thicker")

    def test_a_fetched_property_of_at_most_0_objects_has_none(self) -> None:
        class Shelf(quire.Model):
            name: quire.Attr[str]
            all: quire.Fetched["Shelf"] = quire.fetched("TRUEPREDICATE", limit=None)
            none: quire.Fetched["Shelf"] = quire.fetched("TRUEPREDICATE", limit=0)

        with quire.open(":memory:", [Shelf]) as store:
            shelf = store.context.add(Shelf(name="a"))
            self.assertEqual((shelf.all, shelf.none), ([shelf], []))

    def test_the_condition_of_a_fetched_property_asks_for_its_user_info(self) -> None:
        class Page(quire.Model):
            text: quire.Attr[str]
            great: quire.Fetched["Page"] = quire.fetched(
                "text CONTAINS[c] $FETCHED_PROPERTY.userInfo.search AND $FETCHED_PROPERTY.name == 'great' AND "
                "$FETCHED_PROPERTY == 'great' AND $FETCHED_PROPERTY.userInfo.none == nil",
                user_info={"search": "Great"})
            wrong: quire.Fetched["Page"] = quire.fetched("text == $FETCHED_PROPERTY.entity.name")

        with quire.open(":memory:", [Page]) as store:
            page = store.context.add(Page(text="a great one"))
            store.context.add(Page(text="none"))
            store.context.save()
            self.assertEqual(list(page.great), [page])
            with self.assertRaisesRegex(
                    quire.PredicateError, r"'Page.wrong' asks for \$FETCHED_PROPERTY.entity.name. It can"):
                list(page.wrong)

    def test_declarations_of_fetched_properties_are_checked(self) -> None:
        with self.assertRaisesRegex(TypeError, "fetched"):
            class Bare(quire.Model):
                others: quire.Fetched["Bare"]
        with self.assertRaises(TypeError):
            quire.fetched(5)  # type: ignore[arg-type]
        with self.assertRaises(ValueError):
            quire.fetched("TRUEPREDICATE", limit=-1)

        class Wrong(quire.Model):
            others: quire.Fetched["Wrong"] = quire.fetched("SELF == $other")

        with self.assertRaisesRegex(quire.InvalidModel, "other"):
            quire.open(":memory:", [Wrong])

    # MARK: hooks around snapshots

    def test_objects_are_told_of_snapshots_and_of_becoming_faults(self) -> None:
        book = self.add_book("one")
        self.context.save()
        self.context.enable_undo()
        book.title = "now three words"
        self.context.undo()
        self.assertEqual((book.title, book.words, self.context.has_changes), ("one", 1, False))
        self.context.redo()
        self.assertEqual((book.title, book.words), ("now three words", 3))
        self.context.rollback()
        self.assertEqual((book.title, book.words), ("one", 1))
        book.refresh()
        self.assertEqual(Book.log, ["UNDO_UPDATE", "UNDO_UPDATE", "ROLLBACK", "REFRESH"])
        Book.log.clear()
        book.refresh(merge=False)
        self.assertEqual((Book.log, book.title), (["will", "did"], "one"))

    def test_what_they_raise_comes_out_of_the_call_and_prevents_nothing(self) -> None:
        book = self.add_book("one")
        self.context.save()
        Book.failing.append("ROLLBACK")
        book.title = "two"
        with self.assertRaisesRegex(RuntimeError, "ROLLBACK"):
            self.context.rollback()
        self.assertEqual((book.title, self.context.has_changes), ("one", False))
        Book.failing.append("did")
        with self.assertRaisesRegex(RuntimeError, "did"):
            self.context.refresh_all()
        self.assertEqual(book.title, "one")
        Book.failing[:] = ["will"]
        with self.assertRaisesRegex(RuntimeError, "will"):
            self.context.reset()
        with self.assertRaises(quire.InvalidState):
            book.title
        self.assertEqual(self.context.query(Book).count(), 1)


if __name__ == "__main__":
    unittest.main()
