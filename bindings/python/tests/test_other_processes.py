"""What other processes commit: a descriptor that polls readable, and rows that are told."""

import asyncio
import os
import select
import sqlite3
import subprocess
import sys
import tempfile
import threading
import unittest
from collections.abc import Callable
from typing import Any, Optional

import quire

from support import PATIENCE, await_readable


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="author")


class Book(quire.Model):
    title: quire.Attr[str]
    pages: quire.Attr[int] = quire.attr(default=0)
    author: quire.ToOne[Optional[Author]] = quire.relation(inverse="books")


SAVE = """
import quire, sys
with quire.open(sys.argv[1]) as store:
    book = store.context.query(store.classes["Book"]).where("title = 'one'").one()
    book.pages = 7
    store.context.save()
"""


MIGRATE = """
import quire, sys, typing
class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
class Book(quire.Model):
    title: quire.Attr[str]
    author: quire.ToOne[typing.Optional[Author]] = quire.relation(inverse="books")
quire.migrate(sys.argv[1], [Author, Book])
"""


class OtherProcesses(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "library.sqlite")

    def opened(self, **options: Any) -> quire.Store:
        store = quire.open(self.path, [Author, Book], **options)
        self.addCleanup(store.close)
        return store

    def fill(self, context: quire.Context) -> None:
        author = context.add(Author(name="Goethe"))
        for title in ("one", "two", "three"):
            context.add(Book(title=title, author=author))
        context.save()

    def save_elsewhere(self) -> None:
        subprocess.run([sys.executable, "-c", SAVE, self.path], check=True)

    def run_sql(self, *statements: str) -> None:
        connection = sqlite3.connect(self.path, isolation_level=None)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def wait_for(self, context: quire.Context, condition: Callable[[], object]) -> None:
        while not condition():
            await_readable(context)
            context.process()

    def is_readable(self, context: quire.Context) -> bool:
        return bool(select.select([context], [], [], 0)[0])

    def changes_of(self, rows: quire.Results[Any]) -> list[tuple[str, int]]:
        self.addCleanup(rows.close)
        found: list[tuple[str, int]] = []
        rows.on_change(lambda changes: found.extend((type(each).__name__, each.id) for each in changes))
        return found

    def test_a_descriptor_polls_readable_when_another_process_has_saved(self) -> None:
        context = self.opened().context
        self.fill(context)
        books = list(context.query(Book).order_by("title"))
        self.assertFalse(self.is_readable(context))
        self.save_elsewhere()
        await_readable(context)
        self.assertEqual([each.pages for each in books], [0, 0, 0])
        context.merge()
        self.assertEqual(sorted(each.pages for each in books), [0, 0, 7])

    def test_an_event_loop_follows_another_process(self) -> None:
        context = self.opened().context
        self.fill(context)
        rows = context.query(Book).where("pages > 0").live()

        async def follow() -> int:
            loop, arrived = asyncio.get_running_loop(), asyncio.Event()
            rows.on_change(lambda changes: arrived.set())
            loop.add_reader(context, context.merge)
            await asyncio.to_thread(self.save_elsewhere)
            await asyncio.wait_for(arrived.wait(), PATIENCE)
            loop.remove_reader(context)
            with rows:
                return len(rows)

        self.assertEqual(asyncio.run(follow()), 1)

    def test_what_is_committed_right_behind_a_write_is_merged_with_it(self) -> None:
        def edit(context: quire.Context) -> None:
            context.query(Book).where("title = 'one'").one().pages += 1

        def save(context: quire.Context) -> None:
            edit(context)
            context.save()

        def transaction(context: quire.Context) -> None:
            with context.transaction():
                edit(context)

        def batch(context: quire.Context) -> None:
            context.query(Book).where("title = 'one'").update(pages=5)

        for write in (save, transaction, batch):
            with self.subTest(write):
                self.path = f"{self.path}.{write.__name__}"
                store = self.opened()
                context = store.context
                self.fill(context)
                rows = context.query(Book).order_by("title").live()
                found = self.changes_of(rows)
                books = list(rows)
                self.assertEqual([each.pages for each in books], [0, 0, 0])
                commits = ["DELETE FROM ZBOOK WHERE ZTITLE = 'two'"]

                def commit_too(statement: str, *_: Any) -> None:
                    # The context has not come to read its own commit yet.
                    if statement.startswith("COMMIT") and commits:
                        self.run_sql(commits.pop())

                store.set_log(commit_too)
                write(context)
                store.set_log(None)
                self.assertEqual(commits, [])
                self.assertEqual([id for kind, id in found if kind == "Delete"], [books[2].id])
                self.assertEqual(len(rows), context.query(Book).count())

    def test_a_commit_before_the_descriptor_wakes_it(self) -> None:
        context = self.opened().context
        self.fill(context)
        self.assertEqual(context.query(Book).count(), 3)
        self.run_sql("DELETE FROM ZBOOK WHERE ZTITLE = 'two'")
        await_readable(context)
        context.merge()
        self.assertEqual(context.query(Book).count(), 2)

    def test_a_history_leads_to_members_without_a_way_back_and_to_their_order(self) -> None:
        class Label(quire.Model):
            name: quire.Attr[str]
            shelves: quire.ToMany["Shelf"] = quire.relation(inverse="labels")

        class Box(quire.Model):
            size: quire.Attr[int] = quire.attr(default=0)

        class Shelf(quire.Model):
            boxes: quire.ToMany[Box] = quire.relation()
            labels: quire.ToMany[Label] = quire.relation(inverse="shelves", ordered=True)

        models = [Label, Box, Shelf]
        with quire.open(self.path, models, track_history=True) as store, quire.open(self.path, models) as other:
            context = store.context
            shelf = context.add(Shelf(labels=[context.add(Label(name=name)) for name in "abc"]))
            context.add(Box())
            context.save()
            self.assertEqual((len(shelf.boxes), [each.name for each in shelf.labels]), (0, ["a", "b", "c"]))
            there = other.context.query(Shelf).one()
            there.boxes = list(other.context.query(Box))
            there.labels = list(there.labels)[::-1]
            other.context.save()
            context.merge()
            self.assertEqual((len(shelf.boxes), [each.name for each in shelf.labels]), (1, ["c", "b", "a"]))

    def test_a_commit_without_a_history_is_found_in_a_file_with_one(self) -> None:
        context = self.opened(track_history=True).context
        self.fill(context)
        context.merges_automatically = True
        rows = context.query(Book).where("pages > 0").live()
        context.fileno()
        self.run_sql("UPDATE ZBOOK SET ZPAGES = 9 WHERE ZTITLE = 'two'")
        self.wait_for(context, lambda: len(rows) == 1)
        self.save_elsewhere()
        self.wait_for(context, lambda: len(rows) == 2)

    # Without a log

    def opened_without_log(self, **options: Any) -> quire.Store:
        """For writing, while something else reads the file, which so does not get a log."""
        with self.opened(**options) as store:
            self.fill(store.context)
        self.run_sql("PRAGMA journal_mode = DELETE")
        reader = sqlite3.connect(self.path, isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM ZBOOK").fetchall()
        store = self.opened()
        reader.execute("COMMIT")
        reader.close()
        self.assertFalse(os.path.exists(f"{self.path}-wal"))
        return store

    def list_of(self, context: quire.Context) -> quire.Results[Book]:
        rows = context.query(Book).live()
        self.addCleanup(rows.close)
        context.fileno()
        return rows

    INSERT = "INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGES) SELECT max(Z_PK) + 1, 2, 1, 'more', 5 FROM ZBOOK"

    def test_a_commit_behind_that_of_a_transaction_is_told_without_a_log(self) -> None:
        store = self.opened_without_log()
        context = store.create_context()
        rows = self.list_of(context)
        committed = []

        def commit_too(statement: str, *_: Any) -> None:
            if statement.startswith("COMMIT") and not committed:
                committed.append(statement)
                self.run_sql(self.INSERT)

        store.set_log(commit_too)
        with store.context.transaction():
            store.context.add(Book(title="own"))
        store.set_log(None)
        self.assertEqual(len(committed), 1)
        self.merge_until(context, lambda: len(rows) == 5)

    def merge_until(self, context: quire.Context, condition: Callable[[], object]) -> None:
        while not condition():
            await_readable(context)
            context.merge()

    def test_a_log_that_went_before_the_store_had_it_open_is_not_followed(self) -> None:
        store = self.opened_without_log(track_history=True)
        context = store.create_context()
        rows = self.list_of(context)
        inside, go = threading.Event(), threading.Event()

        def pause(statement: str, *_: Any) -> None:
            if statement.startswith("COMMIT") and not inside.is_set():
                inside.set()
                go.wait()

        store.set_log(pause)
        # It has the connection meanwhile, so that the file cannot be asked.
        thread = threading.Thread(target=lambda: store.history_token)
        thread.start()
        inside.wait()
        writer = sqlite3.connect(self.path, isolation_level=None)
        for statement in ("PRAGMA journal_mode = WAL", "UPDATE ZBOOK SET ZPAGES = 1 WHERE Z_PK = 1"):
            writer.execute(statement).fetchall()
        # Each look finds that it has to be done again.
        for _ in range(5):
            await_readable(context)
            context.merge()
        writer.close()
        go.set()
        thread.join()
        store.set_log(None)
        for count in range(4, 8):
            self.run_sql(self.INSERT)
            self.merge_until(context, lambda: len(rows) == count)

    def test_a_descriptor_that_is_made_in_a_transaction_waits_for_its_end(self) -> None:
        for opened in (self.opened_without_log, self.opened):
            store = opened()
            context = store.create_context()
            rows = context.query(Book).live()
            count = len(rows)
            with store.context.transaction():
                store.context.add(Book(title="own"))
                store.context.save()
                self.assertFalse(self.is_readable(context))
            await_readable(context)
            context.merge()
            self.assertEqual(len(rows), count + 1)
            rows.close()
            store.close()

    def test_a_descriptor_that_is_made_while_a_thread_saves_waits_for_its_end(self) -> None:
        for opened in (self.opened_without_log, self.opened):
            store = opened()
            context = store.create_context()
            rows = context.query(Book).live()
            count = len(rows)
            inside, go = threading.Event(), threading.Event()

            def pause(statement: str, *_: Any) -> None:
                if statement.startswith("INSERT INTO ZBOOK") and not inside.is_set():
                    inside.set()
                    go.wait()

            def save() -> None:
                with store.background() as background:
                    background.add(Book(title="own"))

            store.set_log(pause)
            thread = threading.Thread(target=save)
            thread.start()
            inside.wait()
            self.assertFalse(self.is_readable(context))
            go.set()
            # Had it woken before, there would be nothing to merge.
            await_readable(context)
            context.merge()
            self.assertEqual(len(rows), count + 1)
            thread.join()
            store.set_log(None)
            rows.close()
            store.close()

    def test_a_descriptor_is_quiet_after_another_process_has_migrated_the_file(self) -> None:
        store = self.opened()
        self.fill(store.context)
        merging, automatic = store.create_context(), store.create_context()
        automatic.merges_automatically = True
        rows = [self.list_of(context) for context in (merging, automatic)]
        subprocess.run([sys.executable, "-c", MIGRATE, self.path], check=True)
        for context, take_over in ((merging, merging.merge), (automatic, automatic.process)):
            with self.subTest(take_over):
                with self.assertRaises(quire.ModelMismatch):
                    while True:
                        await_readable(context)
                        take_over()
                self.assertFalse(self.is_readable(context))
                with self.assertRaises(quire.ModelMismatch):
                    take_over()
                self.assertFalse(self.is_readable(context))
        self.assertEqual([self.is_readable(context) for context in (merging, automatic)], [False, False])
        self.assertEqual([len(each) for each in rows], [3, 3])


if __name__ == "__main__":
    unittest.main()
