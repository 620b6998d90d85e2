"""Blocks that are one transaction of the file."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
import unittest
from typing import Any, Optional

import quire

from support import Author, FileTestCase, Quote, StoreTestCase, await_sleep, seeds


class Shelf(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="shelf", ordered=True)
    count: quire.Attr[int] = quire.derived("books.@count")


class Writer(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="writer", on_delete="cascade")


class Label(quire.Model):
    text: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="labels")


class Book(quire.Model):
    title: quire.Attr[str] = quire.attr(searchable=True)
    pages: quire.Attr[int] = quire.attr(default=100)
    isbn: quire.Attr[Optional[str]] = quire.attr(default=None)
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="books")
    writer: quire.ToOne["Writer | None"] = quire.relation(inverse="books")
    labels: quire.ToMany["Label"] = quire.relation(inverse="books")
    __unique__ = ["isbn"]


class Novel(Book):
    genre: quire.Attr[Optional[str]] = quire.attr(default=None)


MODELS = [Shelf, Writer, Label, Book, Novel]
KINDS: list[Any] = [Shelf, Writer, Label, Book, Novel]


class Left(Exception):
    """What ends a block."""


class BlockTests(StoreTestCase):
    def titles(self) -> list[str]:
        return [each for each, in self.store.create_context().query(Quote).order_by("contents").values("contents")]

    def test_what_was_saved_inside_goes_with_the_block(self) -> None:
        kept = self.quote("kept", price=1)
        gone = self.quote("gone")
        self.context.save()
        live = self.context.query(Quote).order_by("contents").live()
        with self.assertRaises(Left), self.context.transaction():
            added = self.quote("added")
            self.context.save()
            self.context.insert_rows(Quote, {"contents": ["row"]})
            self.assertEqual(self.context.query(Quote).where(Quote.contents == "kept").update(price=2), 1)
            self.assertEqual(kept.price, 2)
            self.assertEqual(self.context.query(Quote).where(Quote.contents == "gone").delete(), 1)
            self.context.insert_many(Quote, {"contents": ["many"]})
            kept.note = "pending"
            self.context.process()
            self.assertEqual([each.contents for each in live], ["added", "kept", "many", "row"])
            raise Left
        self.assertEqual([each.contents for each in live], ["gone", "kept"])
        self.assertEqual((kept.price, kept.note, gone.contents, gone.is_deleted), (1, None, "gone", False))
        self.assertTrue(added.is_deleted)
        self.assertIs(self.context.get(Quote, gone.id), gone)
        self.assertEqual(self.titles(), ["gone", "kept"])

    def test_the_end_commits_all_of_it(self) -> None:
        other = self.store.create_context()
        with self.context.transaction():
            self.context.insert_rows(Quote, {"contents": ["row"]})
            self.quote("saved")
            self.context.save()
            self.quote("pending")
            self.assertEqual(self.context.query(Quote).count(), 3)
        self.assertEqual(self.titles(), ["pending", "row", "saved"])
        self.assertFalse(self.context.has_changes)
        other.merge()
        self.assertEqual(other.query(Quote).count(), 3)

    def test_an_end_that_cannot_save_takes_earlier_saves_along(self) -> None:
        with self.assertRaises(quire.ValidationError), self.context.transaction():
            self.quote("saved")
            self.context.save()
            self.context.insert_many(Quote, {"note": ["a quote without contents"]})
        self.assertEqual(self.titles(), [])

    def test_an_inner_save_that_fails_may_be_caught(self) -> None:
        with self.context.transaction():
            self.quote("first")
            self.context.save()
            self.context.insert_many(Quote, {"note": ["a quote without contents"]})
            with self.assertRaises(quire.ValidationError):
                self.context.save()
            self.context.rollback()
            self.quote("second")
        self.assertEqual(self.titles(), ["first", "second"])

    def test_a_block_that_was_saved_does_not_look_as_if_it_had_failed(self) -> None:
        class Told(quire.Model):
            name: quire.Attr[str]

            def did_save(self) -> None:
                raise ValueError("did_save")

        def fails(change: object) -> None:
            raise ValueError("handler")

        with quire.open(":memory:", [Told]) as store:
            live = store.context.query(Told).live()
            live.on_change(fails)
            for block in (store.context.transaction, store.background):
                with self.assertLogs("quire", "ERROR") as logged, block() as context:
                    context.add(Told(name="x"))
                self.assertTrue(any("saved" in line for line in logged.output), logged.output)
                self.assertFalse(store.context.has_changes)
            self.assertEqual(store.create_context().query(Told).count(), 2)
            with self.assertRaisesRegex(ValueError, "handler"):
                store.context.merge()
            # One that raises before anything was written has failed.
            with self.assertLogs("quire", "ERROR"), self.assertRaisesRegex(ValueError, "handler"):
                with store.context.transaction() as context:
                    context.add(Told(name="y"))
                    context.process()
            self.assertEqual(store.create_context().query(Told).count(), 2)

    def test_an_interruption_comes_out_of_a_block_that_was_saved(self) -> None:
        live = self.context.query(Quote).live()

        @live.on_change
        def interrupt(change: object) -> None:
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt), self.context.transaction():
            self.quote("x")
        self.assertEqual(self.titles(), ["x"])
        live.close()

    def test_other_contexts_read_as_before_it(self) -> None:
        other = self.store.create_context()
        self.assertEqual(other.query(Quote).count(), 0)
        with self.context.transaction():
            self.quote("x")
            self.context.save()
            found = [other.query(Quote).count()]
            thread = threading.Thread(target=lambda: found.append(self.store.create_context().query(Quote).count()))
            thread.start()
            thread.join()
            other.merge()
            self.assertEqual((found, other.query(Quote).count()), ([0, 0], 0))
        self.assertEqual(other.query(Quote).count(), 0)
        other.merge()
        self.assertEqual(other.query(Quote).count(), 1)

    def test_other_contexts_wait_with_a_save_for_the_end(self) -> None:
        other = self.store.create_context()
        saved: list[str] = []

        def save() -> None:
            with self.store.background() as context:
                context.add(Quote(contents="z"))
            saved.append("z")

        thread = threading.Thread(target=save)
        with self.context.transaction():
            self.quote("x")
            self.context.save()
            added = other.add(Quote(contents="y"))
            with self.assertRaisesRegex(quire.Busy, "on this thread"):
                other.save()
            thread.start()
            await_sleep(thread.native_id)
            self.assertEqual(saved, [])
        thread.join()
        self.assertEqual(saved, ["z"])
        other.save()
        self.assertGreater(added.id, 0)
        self.assertEqual(sorted(self.titles()), ["x", "y", "z"])

    def test_a_child_saves_at_the_end_of_its_block_alone(self) -> None:
        child = self.context.create_child()
        with child.transaction():
            child.add(Quote(contents="x"))
            with self.assertRaisesRegex(quire.InvalidState, "saves at its end"):
                child.save()
            with self.assertRaisesRegex(quire.InvalidState, "do not nest"), child.transaction():
                pass
        self.assertEqual((len(self.context.inserted), child.has_changes), (1, False))
        with self.assertRaises(Left), child.transaction():
            child.add(Quote(contents="y"))
            raise Left
        self.assertEqual((len(self.context.inserted), child.has_changes), (1, False))
        child.add(Quote(contents="z"))
        child.save()
        self.context.save()
        self.assertEqual(self.titles(), ["x", "z"])

    def test_closing_the_context_or_the_store_inside_takes_everything_back(self) -> None:
        context = self.store.create_context()
        with self.assertRaises(quire.StoreClosed), context.transaction():
            held = context.add(Quote(contents="x"))
            context.save()
            context.close()
        self.assertEqual(self.titles(), [])
        del held
        with self.assertRaises(quire.StoreClosed), self.context.transaction():
            self.quote("x")
            self.context.save()
            self.store.close()

    def test_an_object_that_was_read_in_a_query_is_as_the_file_has_it(self) -> None:
        author = self.context.add(Author(name="Goethe"))
        for number in range(5):
            self.quote(str(number), author=author)
        self.context.save()
        fresh = self.store.create_context()
        quotes = fresh.query(Quote).order_by("contents").all()
        with self.assertRaises(Left), fresh.transaction():
            fresh.query(Quote).update(price=7)
            self.assertEqual([each.price for each in quotes], [7] * 5)
            fresh.get(Author, author.id).name = "Schiller"
            fresh.save()
            fresh.query(Author).delete()
            self.assertEqual(fresh.query(Quote).count(), 0)
            raise Left
        self.assertEqual([each.price for each in quotes], [1] * 5)
        self.assertEqual({each.author.name for each in quotes if each.author}, {"Goethe"})
        self.assertEqual(len(fresh.get(Author, author.id).quotes), 5)


class FileBlockTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def found(self, context: quire.Context, part: str) -> int:
        return context.query(Book).where("title CONTAINS %@", part).count()

    def test_the_text_index_and_derived_attributes_go_along(self) -> None:
        shelf = self.context.add(Shelf(name="s"))
        self.context.insert_rows(Book, {"title": [f"first {number}" for number in range(300)]})
        self.context.save()
        for ends in (False, True):
            with contextlib.suppress(Left), self.context.transaction():
                # So many that the index takes them in at once.
                self.context.insert_rows(Book, {"title": [f"second {number}" for number in range(600)]})
                self.context.query(Book).where("title BEGINSWITH 'first 1'").update(title="third")
                shelf.books = self.context.query(Book).where("title BEGINSWITH 'first 2'").all()
                self.context.save()
                self.assertEqual((self.found(self.context, "second"), self.found(self.context, "third")), (600, 111))
                self.assertEqual((self.found(self.context, "first"), shelf.count), (189, 111))
                if not ends:
                    raise Left
            for context in (self.context, self.store.create_context()):
                expected = (600, 111, 189, 111) if ends else (0, 0, 300, 0)
                found = [self.found(context, part) for part in ("second", "third", "first")]
                self.assertEqual((*found, context.query(Shelf).one().count), expected)

    def test_a_list_has_no_cache_of_what_was_not_committed(self) -> None:
        self.context.insert_rows(Book, {"title": ["a", "b"]})
        with contextlib.suppress(Left), self.context.transaction():
            self.context.insert_rows(Book, {"title": ["c"]})
            self.assertEqual(len(self.context.query(Book).order_by("title").live(cache="books")), 3)
            raise Left
        for _ in range(2):
            live = self.store.create_context().query(Book).order_by("title").live(cache="books")
            self.assertEqual([each.title for each in live], ["a", "b"])

    def test_nothing_is_left_to_undo(self) -> None:
        self.context.enable_undo()
        book = self.context.add(Book(title="a"))
        self.context.save()
        with contextlib.suppress(Left), self.context.transaction():
            book.title = "b"
            self.context.save()
            self.context.undo()
            self.assertEqual(book.title, "a")
            self.context.redo()
            self.context.save()
            raise Left
        self.assertEqual((book.title, self.context.can_undo, self.context.can_redo), ("a", False, False))

    def test_a_process_that_ends_inside_leaves_nothing(self) -> None:
        program = (
            "import os, sys, quire\n"
            "from test_transactions import MODELS, Book\n"
            "context = quire.open(sys.argv[1], MODELS).context\n"
            "with context.transaction():\n"
            "    context.insert_rows(Book, {'title': ['x' * 100] * 50_000})\n"
            "    os._exit(7)\n")
        ended = subprocess.run(
            [sys.executable, "-c", program, self.path], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
        self.assertEqual(ended.returncode, 7)
        self.assertEqual(self.context.query(Book).count(), 0)
        with self.context.transaction():
            self.context.add(Book(title="after"))
        self.assertEqual(self.store.create_context().query(Book).count(), 1)


class Scene:
    """A context that does things at random, with lists that follow it, and what it should come to."""

    def __init__(self, test: FileTestCase, seed: int) -> None:
        self.dice = random.Random(seed)
        self.path = os.path.join(test.folder, f"{seed}.store")
        self.store = quire.open(self.path, MODELS)
        test.addCleanup(self.store.close)
        self.test = test
        self.context = self.store.context
        self.other = self.store.create_context()
        self.held: list[Any] = []
        self.number = 0
        self.ends = True
        self.queries = [
            lambda context: context.query(Book).order_by("pages", "title"),
            lambda context: context.query(Book).where("pages > 150 AND ANY labels.text >= 'l5'").order_by("title"),
            lambda context: context.query(Book).where("title CONTAINS[c] 'st'").order_by("-pages"),
            lambda context: context.query(Shelf).where("books.@count > 1").order_by("-count"),
            lambda context: context.query(Book).where("writer.name >= 'w5'").order_by("writer.name").limit(3),
        ]
        self.lives = [(query, query(self.context).live()) for query in self.queries]
        self.shown = [[each.id for each in live] for _, live in self.lives]
        for place, (_, live) in enumerate(self.lives):
            live.on_change(lambda changes, place=place: self.follow(place, changes))

    def follow(self, place: int, changes: quire.ChangeSet[Any]) -> None:
        shown = self.shown[place]
        rows = list(changes)
        for each in sorted((each for each in rows if isinstance(each, (quire.Delete, quire.Move))),
                           key=lambda each: -each.old_flat):
            del shown[each.old_flat]
        for each in sorted((each for each in rows if isinstance(each, (quire.Insert, quire.Move))),
                           key=lambda each: each.new_flat):
            shown.insert(each.new_flat, each.id)

    def name(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.dice.randrange(10)}st{self.number}"

    def live(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.held if isinstance(each, kind) and not each.is_deleted]

    def pick(self, kind: type[Any]) -> Any:
        found = self.live(kind)
        return self.dice.choice(found) if found else None

    def add(self) -> None:
        kind = self.dice.choice([Shelf, Writer, Label, Book, Book, Novel])
        made: Any
        if kind is Shelf:
            made = Shelf(name=self.name("s"))
        elif kind is Writer:
            made = Writer(name=self.name("w"))
        elif kind is Label:
            made = Label(text=self.name("l"))
        else:
            made = kind(title=self.name("t"), pages=self.dice.randrange(300))
        self.held.append(self.context.add(made))

    def change(self) -> None:
        book, dice = self.pick(Book), self.dice
        if book is None:
            return
        which = dice.randrange(6)
        if which == 0:
            book.pages = dice.randrange(300)
        elif which == 1:
            book.title = self.name("T")
        elif which == 2:
            book.writer = self.pick(Writer)
        elif which == 3:
            book.shelf = self.pick(Shelf)
        elif which == 4:
            book.labels = [each for each in self.live(Label) if dice.random() < 0.4]
        elif (shelf := self.pick(Shelf)) is not None:
            books = self.live(Book)
            shelf.books = dice.sample(books, min(len(books), 3))

    def delete(self) -> None:
        found = self.pick(self.dice.choice(KINDS))
        if found is not None:
            self.context.delete(found)

    def step(self) -> None:
        dice, context = self.dice, self.context
        # What was not merged shows only where all is taken back.
        merge = self.ends or dice.random() < 0.8
        which = dice.randrange(16)
        if which < 4:
            self.add()
        elif which < 8:
            self.change()
        elif which == 8:
            self.delete()
        elif which == 9:
            context.save()
        elif which == 10:
            context.process()
        elif which == 11:
            titles = [self.name("r") for _ in range(3)]
            context.insert_rows(Book, {"title": titles, "pages": [7, 170, 290]}, merge=merge)
        elif which == 12:
            few = context.query(Book).where(Book.pages < dice.randrange(300)).limit(3)
            few.update(pages=dice.randrange(300), merge=merge)
        elif which == 13:
            context.query(dice.choice(KINDS)).limit(1).delete(merge=merge)
        elif which == 14:
            context.obtain_permanent_ids()
        elif dice.random() < 0.5:
            context.rollback()
        else:
            self.held.extend(context.query(dice.choice([Book, Shelf, Writer, Label])).limit(4).all())

    def dump(self) -> list[str]:
        """All that the file has, as a program sees it that knows nothing of Quire."""
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            tables = [name for name, in file.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'QUIRE_TEXT%' ORDER BY name")]
            return [f"{table}: {row}" for table in tables for row in sorted(map(repr, file.execute(
                f'SELECT * FROM "{table}"')))]

    @staticmethod
    def picture(context: quire.Context) -> dict[tuple[str, int], Any]:
        """Everything that a context says of all objects."""
        found: dict[tuple[str, int], Any] = {}
        for kind in (Shelf, Writer, Label, Book):
            for each in context.query(kind).all():
                found[kind.__name__, each.id] = Scene.describe(each)
        return found

    @staticmethod
    def describe(each: Any) -> Any:
        def of(one: Any) -> Any:
            return None if one is None else one.id

        if isinstance(each, Shelf):
            return each.name, each.count, [of(book) for book in each.books]
        if isinstance(each, Writer):
            return each.name, sorted(of(book) for book in each.books)
        if isinstance(each, Label):
            return each.text, sorted(of(book) for book in each.books)
        return (
            type(each).__name__, each.title, each.pages, of(each.shelf), of(each.writer),
            sorted(of(label) for label in each.labels))

    def check(self) -> None:
        """After a block: the context says what a new one reads, of every object that is held and in every list."""
        fresh = self.store.create_context()
        expected = self.picture(fresh)
        self.test.assertEqual(self.picture(self.context), expected)
        for each in self.held:
            root = next(kind for kind in (Shelf, Writer, Label, Book) if isinstance(each, kind))
            if (root.__name__, each.id) in expected:
                self.test.assertEqual(self.describe(each), expected[root.__name__, each.id])
            else:
                self.test.assertTrue(each.is_deleted, each)
        self.held = [each for each in self.held if not each.is_deleted]
        for place, (query, live) in enumerate(self.lives):
            self.test.assertEqual([each.id for each in live], list(query(fresh).ids()), place)
            self.test.assertEqual(self.shown[place], [each.id for each in live], place)
        self.other.merge()
        self.test.assertEqual(self.picture(self.other), expected)
        fresh.close()

    def round(self) -> None:
        before = self.dump()
        picture = self.picture(self.store.create_context())
        self.ends = self.dice.random() < 0.5
        try:
            with self.context.transaction():
                for _ in range(self.dice.randrange(1, 25)):
                    self.step()
                if not self.ends:
                    raise Left
        except (Left, quire.Error):
            self.test.assertEqual(self.dump(), before)
            self.test.assertEqual(self.picture(self.store.create_context()), picture)
        self.check()


class RandomBlockTests(FileTestCase):
    def test_file_objects_and_lists_are_as_before_or_as_after(self) -> None:
        for seed in seeds(12):
            with self.subTest(seed=seed):
                scene = Scene(self, seed)
                for _ in range(12):
                    scene.round()


if __name__ == "__main__":
    unittest.main()
