"""What programs with plain SQLite put into a file: numbers at the ends of their range, text for numbers, triggers."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import sys
import traceback
import unittest
from collections.abc import Callable, Iterator
from typing import Any, Optional

import quire
from support import FileTestCase, cases_of_turn, seeds

LARGEST, SMALLEST = 2**63 - 1, -2**63
NUMBERS: list[Any] = [
    None, 0, -1, 1, 2, 2**31 - 1, 2**31, 2**32 + 1, 2**53 + 1, 2**62, LARGEST - 4097, LARGEST - 17, LARGEST - 16,
    LARGEST - 2, LARGEST - 1, LARGEST, SMALLEST, SMALLEST + 1, 1.5, 1e300, -1e300, 9.3e18, "text", "12x", "", b"",
    b"12"]


class Shelf(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany["Book"] = quire.relation(inverse="shelf", ordered=True)


class Book(quire.Model):
    title: quire.Attr[Optional[str]] = quire.attr(searchable=True, default=None)
    pages: quire.Attr[int] = quire.attr(default=0)
    shelf: quire.ToOne["Shelf | None"] = quire.relation(inverse="books")
    tags: quire.ToMany["Tag"] = quire.relation(inverse="books")
    __unique__ = [("title",)]


class Tag(quire.Model):
    name: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany[Book] = quire.relation(inverse="tags")


class StrangeFileTestCase(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        with self.open() as store, store.context.transaction() as context:
            tags = [context.add(Tag(name=f"tag {number}")) for number in range(3)]
            for name in ("a", "b"):
                shelf = context.add(Shelf(name=name))
                for number in range(4):
                    book = context.add(Book(title=f"{name}{number}", pages=number))
                    shelf.books.append(book)
                    book.tags.update(tags[:number])

    def open(self) -> quire.Store:
        return quire.open(self.path, [Shelf, Book, Tag])

    @contextlib.contextmanager
    def program(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection

    def column(self, connection: sqlite3.Connection, table: str, start: str) -> str:
        """The name of a column of which the layout decides the rest."""
        return next(name for (name,) in connection.execute(f"SELECT name FROM pragma_table_info('{table}')")
                    if name.startswith(start))


class StrangeKeyTests(StrangeFileTestCase):
    def use(self) -> None:
        """Whatever fails has to fail with an error of this package."""
        def attempt(work: Callable[[], Any]) -> None:
            with contextlib.suppress(quire.Error):
                work()
            with contextlib.suppress(quire.Error):
                store.context.rollback()

        with self.open() as store:
            context = store.context
            books, shelves = context.query(Book), context.query(Shelf)
            ids: list[int] = []
            attempt(lambda: ids.extend(books.ids()))
            attempt(lambda: [(book.title, book.shelf and book.shelf.name, len(book.tags)) for book in books.all()])
            attempt(lambda: [[book.id for book in shelf.books] for shelf in shelves.all()])
            attempt(lambda: books.order_by("shelf.name", "-pages").dictionaries("title", "shelf.name"))
            attempt(lambda: books.where("ANY tags.name CONTAINS %@", "1").count())
            attempt(lambda: books.where("title CONTAINS %@", "a2x").all())
            for id in ids[:3]:
                attempt(lambda: context.get(Book, id).shelf)
            lists: list[Any] = []
            attempt(lambda: lists.append(books.order_by("shelf.name").live("shelf.name")))

            def insert(count: int) -> None:
                shelf = shelves.first()
                for number in range(count):
                    book = context.add(Book(title=f"new {len(os.listdir('/proc/self/fd'))} {number} {count}"))
                    book.shelf = shelf
                    book.tags.update(context.query(Tag).all())
                context.save()

            for count in (1, 20, 100):
                attempt(lambda: insert(count))
            attempt(lambda: context.insert_rows(Book, {"title": [f"row {number}" for number in range(30)]}))
            attempt(lambda: context.insert_rows(Book, {"title": ["a1", "row 3", "other"]}, upsert=True))
            attempt(lambda: books.where("pages > 1").update(pages=7))

            def change() -> None:
                for shelf in shelves.all():
                    shelf.books.reverse()
                for book in books.all()[:3]:
                    book.pages = 1
                    book.tags.clear()
                context.save()

            attempt(change)
            attempt(lambda: books.where("pages == 7").delete())

            def delete() -> None:
                for shelf in shelves.all()[:1]:
                    context.delete(shelf)
                context.save()

            attempt(delete)
            for each in lists:
                attempt(lambda: [len(section) for section in each.sections])
            attempt(lambda: context.refresh_all())
            attempt(lambda: store.check())

    def outcome(self) -> int:
        """Of a process that uses the file: 0, or how it ended."""
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.use()
                code = 0
            except quire.Error:
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def test_no_number_of_a_file_ends_the_process(self) -> None:
        with self.program() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            order = self.column(connection, "ZBOOK", "Z_FOK_")
        whole = self.path + "-whole"
        shutil.copyfile(self.path, whole)
        places = [
            "UPDATE Z_PRIMARYKEY SET Z_MAX = ?", "UPDATE ZBOOK SET Z_PK = ? WHERE Z_PK = 3",
            "UPDATE ZSHELF SET Z_PK = ? WHERE Z_PK = 1", "UPDATE ZBOOK SET Z_OPT = ?", "UPDATE ZBOOK SET Z_ENT = ?",
            "UPDATE ZBOOK SET ZSHELF = ? WHERE Z_PK > 2", f"UPDATE ZBOOK SET {order} = ? WHERE Z_PK IN (2, 5)",
            f"UPDATE ZBOOK SET {order} = ?", "UPDATE ZBOOK SET ZPAGES = ?",
            "UPDATE ZTAG SET Z_PK = ? WHERE Z_PK = 2"]
        cases = [[(place, number)] for place in places for number in NUMBERS]
        for seed in seeds(20):
            dice = random.Random(seed)
            cases.append([(place, dice.choice(NUMBERS)) for place in dice.sample(places, 3)])
        for case, alone in cases_of_turn(self, cases, share=4):
            shutil.copyfile(whole, self.path)
            with self.program() as connection:
                for statement, number in case:
                    # Keys and what must be a number refuse the rest.
                    with contextlib.suppress(sqlite3.IntegrityError):
                        connection.execute(statement, (number,))
            self.assertEqual(self.outcome(), 0, f"{case}; alone: {alone}")

    def test_a_table_without_keys_left_says_so_and_saves_nothing(self) -> None:
        for last in (LARGEST, LARGEST - 1):
            with self.program() as connection:
                connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Tag'", (last,))
            with self.open() as store:
                context = store.context
                context.add(Tag(name="one more"))
                with self.assertRaisesRegex(quire.DatabaseError, "'Tag'.* has no primary keys left"):
                    context.save()
                context.rollback()
                self.assertEqual(context.query(Tag).count(), 3)
                context.add(Book(title=f"another {last}"))
                context.save()

    def test_a_maximum_that_is_no_number_gives_no_key_twice(self) -> None:
        for value in ("text", "2x", b"9", 1.5, None, -5, SMALLEST):
            with self.subTest(value):
                with self.program() as connection:
                    connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ? WHERE Z_NAME = 'Book'", (value,))
                    (last,) = connection.execute("SELECT max(Z_PK) FROM ZBOOK").fetchone()
                with self.open() as store:
                    book = store.context.add(Book(title=f"after {value!r}"))
                    store.context.save()
                    self.assertGreater(book.id, last)
                    self.assertEqual(store.context.query(Book).where("title == %@", book.title).ids()[0], book.id)


class IgnoringTriggerTests(StrangeFileTestCase):
    def ignore(self, event: str, table: str, when: str = "1") -> None:
        with self.program() as connection:
            connection.execute("DROP TRIGGER IF EXISTS ignoring")
            connection.execute(
                f"CREATE TRIGGER ignoring BEFORE {event} ON {table} WHEN {when} BEGIN SELECT RAISE(IGNORE); END")

    def rows(self, table: str) -> list[Any]:
        with self.program() as connection:
            return connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()

    def refuse(self, table: str, work: Callable[[quire.Context], Any], naming: str) -> None:
        tables = [name for name in ("ZBOOK", "ZSHELF", "ZTAG", table)]
        before = [self.rows(name) for name in tables]
        with self.open() as store:
            with self.assertRaisesRegex(quire.DatabaseError, f"{naming}.* trigger of the table {table}"):
                work(store.context)
                store.context.save()
        self.assertEqual([self.rows(name) for name in tables], before, "nothing was written")

    def test_a_row_that_a_trigger_ignores_fails_the_save(self) -> None:
        self.ignore("INSERT", "ZBOOK", "NEW.ZTITLE = 'bad'")
        self.refuse(
            "ZBOOK", lambda context: [context.add(Book(title=each)) for each in ("good", "bad")], "insert Book")
        self.refuse("ZBOOK", lambda context: context.insert_rows(Book, {"title": ["good", "bad"]}), "insert Book")
        self.ignore("UPDATE", "ZBOOK", "NEW.ZTITLE = 'bad'")

        def change(context: quire.Context) -> None:
            first, second = context.query(Book).all()[:2]
            first.title, second.title = "good", "bad"

        self.refuse("ZBOOK", change, "update Book")
        self.refuse(
            "ZBOOK", lambda context: context.query(Book).where("title == 'a0'").update(title="bad"), "update Book")
        self.ignore("DELETE", "ZBOOK", "OLD.ZTITLE = 'a1'")
        self.refuse(
            "ZBOOK", lambda context: [context.delete(book) for book in context.query(Book).all()], "delete Book")
        self.refuse("ZBOOK", lambda context: context.query(Book).delete(), "delete Book")

    def test_a_pair_that_a_trigger_ignores_fails_the_save(self) -> None:
        with self.program() as connection:
            (join,) = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[0-9]*'").fetchone()
        self.ignore("INSERT", join)

        def tag(context: quire.Context) -> None:
            book = context.query(Book).where("title == 'a0'").one()
            book.tags.update(context.query(Tag).all())

        self.refuse(join, tag, "put ")
        self.ignore("DELETE", join)

        def untag(context: quire.Context) -> None:
            context.query(Book).where("title == 'a3'").one().tags.clear()

        self.refuse(join, untag, "take ")

    def test_keys_that_a_trigger_does_not_let_be_taken_are_given_to_nothing(self) -> None:
        self.ignore("UPDATE", "Z_PRIMARYKEY")
        self.refuse("Z_PRIMARYKEY", lambda context: context.add(Book(title="new")), "take primary keys")

    def test_a_trigger_that_writes_the_row_itself_is_no_failure(self) -> None:
        with self.program() as connection:
            connection.execute("""
                CREATE TRIGGER writing BEFORE INSERT ON ZTAG WHEN NEW.ZNAME NOT LIKE 'x%' BEGIN
                  INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZNAME)
                  VALUES (NEW.Z_PK, NEW.Z_ENT, NEW.Z_OPT, 'x' || NEW.ZNAME);
                  SELECT RAISE(IGNORE);
                END""")
        with self.open() as store:
            store.context.add(Tag(name="new"))
            store.context.save()
        with self.program() as connection:
            self.assertIn(("xnew",), connection.execute("SELECT ZNAME FROM ZTAG").fetchall())


class UnwritableLogTests(StrangeFileTestCase):
    @unittest.skipUnless(os.geteuid() == 0, "needs to become another user")
    def test_a_store_whose_log_cannot_be_written_is_not_opened_for_writing(self) -> None:
        os.chmod(self.folder, 0o777)
        os.chmod(self.path, 0o666)
        for ending in ("-wal", "-shm"):
            with self.subTest(ending):
                # A program that is using the store keeps its log.
                holder = sqlite3.connect(self.path)
                holder.execute("UPDATE ZTAG SET ZNAME = 'another' WHERE Z_PK = 1")
                holder.commit()
                for each in ("-wal", "-shm"):
                    os.chmod(self.path + each, 0o444 if each == ending else 0o666)
                os.seteuid(65534)
                try:
                    with self.assertRaisesRegex(quire.ReadOnly, ending):
                        self.open()
                    with quire.open(self.path, [Shelf, Book, Tag], read_only=True) as store:
                        self.assertEqual(store.context.query(Tag).count(), 3)
                finally:
                    os.seteuid(0)
                    holder.close()
        with self.open() as store:
            store.context.add(Tag(name="new"))
            store.context.save()


if __name__ == "__main__":
    unittest.main()
