"""The history of a store: what is in it after saves, batch requests and failures, and how it is read and purged."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
import threading
import unittest
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional
from uuid import UUID

import quire


class Author(quire.Model):
    name: quire.Attr[str] = quire.attr(preserved=True)
    code: quire.Attr[Optional[str]] = quire.attr(default=None)
    books: quire.ToMany["Book"] = quire.relation(inverse="author", on_delete="cascade")
    __unique__ = ["code"]


class Book(quire.Model):
    author: quire.ToOne["Author | None"] = quire.relation(inverse="books")
    title: quire.Attr[str] = quire.attr(preserved=True)
    pages: quire.Attr[int] = quire.attr(default=100)
    isbn: quire.Attr[Optional[UUID]] = quire.attr(default=None, preserved=True)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None, preserved=True)
    read: quire.Attr[Optional[datetime]] = quire.attr(default=None, preserved=True)
    cover: quire.Attr[Optional[bytes]] = quire.attr(default=None, preserved=True, external=True)


class Comic(Book):
    coloured: quire.Attr[bool] = quire.attr(default=True, preserved=True)


class Single(quire.Model):
    only: quire.Attr[Optional[str]] = quire.attr(default=None)


MODELS = [Author, Book, Comic, Single]


class StoreHistoryTestCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "library.sqlite")
        self.store = quire.open(self.path, MODELS, track_history=True)
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def told(self, after: Optional[bytes] = None, **filters: Any) -> list[list[tuple[str, Optional[str], int]]]:
        """The changes of each transaction."""
        return [
            [(each.kind, each.entity, each.id) for each in transaction.changes]
            for transaction in self.store.history(after=after, **filters)]

    def add(self, *objects: quire.Model) -> None:
        for each in objects:
            self.context.add(each)
        self.context.save()


class WrittenTests(StoreHistoryTestCase):
    def test_a_save_is_a_transaction_with_all_its_objects(self) -> None:
        author = Author(name="Goethe")
        self.add(author, Book(title="Faust", author=author), Comic(title="Werther"))
        author.name = "J. W. von Goethe"
        self.context.save()
        self.context.delete(author)
        self.context.save()
        self.assertEqual(self.told(), [
            [("insert", "Author", 1), ("insert", "Book", 1), ("insert", "Comic", 2)], [("update", "Author", 1)],
            [("delete", "Author", 1), ("delete", "Book", 1)]])

    def test_what_comes_to_nothing_is_not_in_it(self) -> None:
        author = Author(name="Goethe")
        self.add(author)
        author.name = "Schiller"
        author.name = "Goethe"
        self.context.save()
        came = self.context.add(Author(name="went"))
        self.context.delete(came)
        self.context.save()
        author.name = "Kleist"
        self.context.rollback()
        self.context.save()
        self.assertEqual(len(self.store.history()), 1)

    def test_an_undone_save_is_two_transactions(self) -> None:
        self.context.enable_undo()
        self.add(Author(name="Goethe"))
        self.context.undo()
        self.context.save()
        self.assertEqual(self.told(), [[("insert", "Author", 1)], [("delete", "Author", 1)]])

    def test_kinds_have_the_numbers_of_core_data(self) -> None:
        author = Author(name="a")
        self.add(author)
        author.name = "b"
        self.context.save()
        self.context.delete(author)
        self.context.save()
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            kinds = [kind for kind, in file.execute("SELECT ZCHANGETYPE FROM ACHANGE ORDER BY Z_PK")]
        self.assertEqual(kinds, [0, 1, 2])
        self.assertEqual([changes[0][0] for changes in self.told()], ["insert", "update", "delete"])

    def test_a_failed_save_adds_nothing(self) -> None:
        self.add(Author(name="Goethe", code="a"))
        token = self.store.history_token
        self.context.add(Author(name="Schiller", code="a"))
        with self.assertRaises(quire.ConstraintError):
            self.context.save()
        self.context.rollback()
        other = self.store.create_context()
        mine, theirs = self.context.query(Author).one(), other.query(Author).one()
        theirs.name = "A"
        other.save()
        mine.name = "B"
        with self.assertRaises(quire.Conflict):
            self.context.save()
        self.assertEqual(self.told(token), [[("update", "Author", 1)]])

    def test_batch_requests_are_transactions(self) -> None:
        self.context.insert_rows(Book, {"title": ["a", "b", "c"], "pages": [1, 2, 3]})
        self.context.query(Book).where(Book.pages > 1).update(pages=2)
        self.context.query(Book).where(Book.pages > 100).update(pages=2)
        self.context.query(Book).where(Book.pages == 2).delete()
        self.assertEqual(self.told(), [
            [("insert", "Book", 1), ("insert", "Book", 2), ("insert", "Book", 3)], [("update", "Book", 3)],
            [("delete", "Book", 2), ("delete", "Book", 3)]])

    def test_a_transaction_of_the_file_has_one_for_each_save_or_none(self) -> None:
        with self.assertRaises(ZeroDivisionError), self.context.transaction():
            self.context.add(Author(name="a"))
            self.context.save()
            raise ZeroDivisionError
        self.assertEqual(self.told(), [])
        with self.context.transaction():
            author = self.context.add(Author(name="a"))
            self.context.save()
            with self.assertRaises(quire.Busy):
                self.store.history()
            self.context.delete(author)
        self.assertEqual([[each[0] for each in changes] for changes in self.told()], [["insert"], ["delete"]])

    def test_a_child_is_written_by_its_parent(self) -> None:
        child = self.context.create_child()
        child.author, self.context.author = "child", "parent"
        child.add(Author(name="a"))
        child.save()
        self.assertEqual(self.told(), [])
        self.context.save()
        self.assertEqual([each.author for each in self.store.history()], ["parent"])

    def test_a_deletion_leaves_values_of_each_type(self) -> None:
        read, isbn = datetime(2024, 5, 1, 12, 30, tzinfo=timezone.utc), UUID(int=7)
        large = b"x" * 200_000
        comic = Comic(title="Faust", isbn=isbn, price=Decimal("12.5"), read=read, cover=large)
        small = Book(title="b", cover=b"small")
        self.add(comic, small)
        self.context.delete(comic)
        self.context.save()
        self.context.query(Book).delete()
        of_comic, of_book = (each.changes[0].tombstone for each in self.store.history()[1:])
        self.assertEqual(of_comic, {
            "coloured": True, "cover": large, "isbn": isbn, "price": Decimal("12.5"), "read": read, "title": "Faust"})
        self.assertEqual(of_book, {"cover": b"small", "isbn": None, "price": None, "read": None, "title": "b"})

    def test_authors_and_names_are_those_of_the_context(self) -> None:
        self.assertEqual((self.context.author, self.context.name), (None, None))
        self.context.author, self.context.name = "me", "näme 😀"
        self.assertEqual((self.context.author, self.context.name), ("me", "näme 😀"))
        self.add(Author(name="a"))
        self.context.author = None
        self.context.insert_rows(Author, {"name": ["b"]})
        first, second = self.store.history()
        self.assertEqual((first.author, first.name, second.author, second.name), ("me", "näme 😀", None, "näme 😀"))
        self.assertTrue(first.process)
        self.assertEqual(first.bundle, first.process)
        self.assertLess(abs(datetime.now(timezone.utc) - first.timestamp), timedelta(minutes=5))

    def test_texts_are_shared(self) -> None:
        self.context.author = "me"
        for name in "abc":
            self.add(Author(name=name))
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            texts = [name for name, in file.execute("SELECT ZNAME FROM ATRANSACTIONSTRING ORDER BY Z_PK")]
        self.assertEqual(texts, ["me", self.store.history()[0].process])

    def test_an_entity_of_one_property_tells_what_was_changed(self) -> None:
        single, book = Single(), Book(title="a")
        self.add(single, book)
        single.only, book.title = "b", "b"
        self.context.save()
        self.assertEqual([(each.entity, each.keys) for each in self.store.history()[1].changes],
                         [("Book", None), ("Single", ("only",))])

    def test_a_history_that_another_program_begins_is_written_at_once(self) -> None:
        path = self.path + ".other"
        with quire.open(path, MODELS) as store:
            store.context.add(Author(name="a"))
            store.context.save()
            with self.assertRaisesRegex(quire.InvalidState, "keeps no history.*track_history"):
                store.history()
            with quire.open(self.path, read_only=True) as other, contextlib.closing(sqlite3.connect(path)) as file:
                self.assertEqual(len(other.history()), 0)
                with contextlib.closing(sqlite3.connect(self.path)) as model:
                    for statement, in model.execute(
                            "SELECT sql FROM sqlite_master WHERE tbl_name IN "
                            "('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING')").fetchall():
                        file.execute(statement)
                file.commit()
            store.context.add(Author(name="b"))
            store.context.save()
            self.assertEqual([(each.kind, each.id) for each in store.history()[0].changes], [("insert", 2)])

    def test_it_is_not_begun_for_reading_only(self) -> None:
        with self.assertRaises(quire.InvalidArgument):
            quire.open(self.path, MODELS, read_only=True, track_history=True)

    def test_it_is_begun_in_a_file_that_is_there(self) -> None:
        path = self.path + ".other"
        quire.open(path, MODELS).close()
        with quire.open(path, MODELS, track_history=True) as store:
            self.assertEqual(len(store.history()), 0)
        with quire.open(path, MODELS) as store:
            store.context.add(Author(name="a"))
            store.context.save()
            self.assertEqual(len(store.history()), 1)

    def test_it_goes_for_a_store_in_memory(self) -> None:
        with quire.open(":memory:", MODELS, track_history=True) as store:
            store.context.add(Author(name="a"))
            store.context.save()
            self.assertEqual(len(store.history()), 1)

    def test_threads_that_save_at_once_have_numbers_without_gaps(self) -> None:
        def work(name: str) -> None:
            for _ in range(20):
                with self.store.background() as context:
                    context.author = name
                    context.add(Author(name=name))

        threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        found = self.store.history()
        self.assertEqual([each.number for each in found], list(range(1, 61)))
        for name in "abc":
            self.assertEqual(len(self.store.history(author=name)), 20)


class ReadTests(StoreHistoryTestCase):
    def setUp(self) -> None:
        super().setUp()
        for number in range(6):
            self.context.author = "AB"[number % 2]
            self.context.name = None if number < 3 else "late"
            author = Author(name=str(number))
            self.add(author, *([Comic(title="c", author=author)] if number == 2 else []))

    def numbers(self, **filters: Any) -> list[int]:
        return [each.number for each in self.store.history(**filters)]

    def test_filters_choose_transactions(self) -> None:
        self.assertEqual(self.numbers(), [1, 2, 3, 4, 5, 6])
        self.assertEqual(self.numbers(author="A"), [1, 3, 5])
        self.assertEqual(self.numbers(author="A", name="late"), [5])
        self.assertEqual(self.numbers(author="nobody"), [])
        self.assertEqual(self.numbers(entity=Book), [3])
        self.assertEqual(self.told(entity="Book"), [[("insert", "Comic", 1)]])
        self.assertEqual(self.told(entity=Comic), [[("insert", "Comic", 1)]])
        self.assertEqual(self.numbers(entity=Single), [])
        middle = self.store.history()[3].timestamp
        self.assertEqual(self.numbers(since=middle), [4, 5, 6])
        self.assertEqual(self.numbers(since=datetime(2100, 1, 1, tzinfo=timezone.utc)), [])
        self.assertEqual(self.numbers(limit=2), [1, 2])
        self.assertEqual(self.numbers(limit=0), [])

    def test_a_token_goes_on_where_it_is(self) -> None:
        found = self.store.history(limit=2)
        self.assertEqual(self.numbers(after=found.token), [3, 4, 5, 6])
        self.assertEqual(found.token, found[1].token)
        self.assertEqual(self.numbers(after=found[0].token, limit=3), [2, 3, 4])
        # What a filter leaves out was looked at.
        self.assertEqual(self.numbers(after=self.store.history(author="A").token), [])
        self.assertEqual(self.store.history().token, self.store.history_token)
        self.assertEqual(self.store.history(after=found.token, limit=0).token, found.token)

    def test_a_token_outlives_the_store(self) -> None:
        token = self.store.history()[4].token
        self.store.close()
        with quire.open(self.path) as store:
            self.assertEqual([each.number for each in store.history(after=token)], [6])
            store.copy(self.path + ".copy")
        with quire.open(self.path + ".copy", read_only=True) as copy:
            self.assertEqual([each.number for each in copy.history(after=token)], [6])

    def test_a_token_of_another_store_and_a_damaged_one_are_refused(self) -> None:
        with quire.open(":memory:", MODELS, track_history=True) as other:
            with self.assertRaisesRegex(quire.InvalidArgument, "another store"):
                self.store.history(after=other.history_token)
            with self.assertRaisesRegex(quire.InvalidArgument, "another store"):
                self.store.purge_history(before=other.history_token)
        token = bytearray(self.store.history_token)
        token[25] ^= 1
        for damaged in (bytes(token), b"", b"x" * 31, bytes(32)):
            with self.assertRaisesRegex(quire.InvalidArgument, "damaged"):
                self.store.history(after=damaged)
        with self.assertRaises(quire.WrongType):
            self.store.history(after="token")  # type: ignore[arg-type]
        with self.assertRaises(quire.InvalidArgument):
            self.store.history(entity="Nothing")

    def test_a_token_of_an_older_copy_has_expired(self) -> None:
        self.store.copy(self.path + ".copy")
        self.add(Author(name="new"))
        with quire.open(self.path + ".copy") as copy:
            with self.assertRaisesRegex(quire.HistoryExpired, "older copy"):
                copy.history(after=self.store.history_token)
            with self.assertRaisesRegex(quire.HistoryExpired, "older copy"):
                copy.purge_history(before=self.store.history_token)

    def test_a_purge_removes_what_is_strictly_earlier(self) -> None:
        tokens = [each.token for each in self.store.history()]
        self.assertEqual(self.store.purge_history(before=tokens[0]), 0)
        self.assertEqual(self.store.purge_history(before=tokens[3]), 3)
        self.assertEqual(self.numbers(), [4, 5, 6])
        self.assertEqual(self.numbers(after=tokens[2]), [4, 5, 6])
        with self.assertRaisesRegex(quire.HistoryExpired, "begins with 4"):
            self.store.history(after=tokens[1])
        self.assertEqual(self.store.purge_history(before=tokens[1]), 0)
        date = self.store.history()[1].timestamp
        self.assertEqual(self.store.purge_history(before=date), 1)
        self.assertEqual(self.numbers(), [5, 6])
        self.assertEqual(self.store.purge_history(before=datetime(2100, 1, 1, tzinfo=timezone.utc)), 2)
        self.assertEqual(self.numbers(after=tokens[5]), [])
        with self.assertRaises(quire.HistoryExpired):
            self.store.history(after=tokens[4])
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            for table in ("ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"):
                self.assertEqual(file.execute(f"SELECT count(*) FROM {table}").fetchone(), (0,), table)
        # Numbers go on.
        self.add(Author(name="new"))
        self.assertEqual(self.numbers(after=tokens[5]), [7])

    def test_a_purge_keeps_texts_that_are_used(self) -> None:
        self.store.purge_history(before=self.store.history()[5].token)
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            texts = {name for name, in file.execute("SELECT ZNAME FROM ATRANSACTIONSTRING")}
        self.assertEqual(texts, {"B", "late", self.store.history()[0].process})

    def test_a_purge_moves_no_context(self) -> None:
        moment = self.context.moment
        other = self.store.create_context()
        other.query(Author).all()
        self.store.purge_history(before=self.store.history_token)
        self.assertEqual(self.context.moment, moment)
        with quire.open(self.path, read_only=True) as reading, self.assertRaises(quire.ReadOnly):
            reading.purge_history(before=self.store.history_token)

    def test_entities_that_the_model_does_not_have_stay_in_it(self) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.execute("UPDATE ACHANGE SET ZENTITY = 77 WHERE ZTRANSACTIONID = 6")
            file.commit()
        self.assertEqual(self.told()[5], [("insert", None, 6)])

    def test_clocks_that_differ_purge_less(self) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            file.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = 9e9 WHERE Z_PK = 2")
            file.commit()
        self.assertEqual(self.store.purge_history(before=datetime(2100, 1, 1, tzinfo=timezone.utc)), 1)
        self.assertEqual(self.numbers(), [2, 3, 4, 5, 6])


class FormTests(StoreHistoryTestCase):
    """Histories that other programs have made otherwise."""

    def setUp(self) -> None:
        super().setUp()
        self.context.author = "me"
        self.add(Author(name="a"))
        self.store.close()

    def sql(self, *statements: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            found: list[Any] = []
            for statement in statements:
                found = file.execute(statement).fetchall()
            file.commit()
            return found

    def save_again(self, *objects: quire.Model, author: str = "me") -> list[quire.HistoryTransaction]:
        with quire.open(self.path, MODELS) as store:
            store.context.author = author
            for each in objects:
                store.context.add(each)
            store.context.save()
            return list(store.history())

    def test_one_without_a_table_of_texts_has_them_in_its_transactions(self) -> None:
        self.sql(
            "DROP TABLE ATRANSACTION", "DROP TABLE ATRANSACTIONSTRING", "DELETE FROM ACHANGE",
            "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, "
            "ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR )")
        [transaction] = self.save_again(Author(name="b"), author="other")
        self.assertEqual((transaction.number, transaction.author, transaction.name), (2, "other", None))
        self.assertEqual(
            self.sql("SELECT Z_PK, ZAUTHOR, ZCONTEXTNAME, ZBUNDLEID FROM ATRANSACTION"),
            [(2, "other", None, transaction.process)])
        with quire.open(self.path, MODELS) as store:
            self.assertEqual(len(store.history(author="other")), 1)
            self.assertEqual(store.purge_history(before=4e9), 1)

    def test_texts_of_both_kinds_are_read(self) -> None:
        self.sql("UPDATE ATRANSACTION SET ZAUTHORTS = NULL, ZAUTHOR = 'older'")
        with quire.open(self.path, MODELS, read_only=True) as store:
            self.assertEqual([each.author for each in store.history(author="older")], ["older"])

    def test_columns_for_what_deletions_leave_are_added(self) -> None:
        self.sql("ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE5", "ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE4")
        with quire.open(self.path, MODELS) as store:
            comic = store.context.add(Comic(title="c"))
            store.context.save()
            store.context.delete(comic)
            store.context.save()
            self.assertEqual(store.history()[2].changes[0].tombstone["title"], "c")
        self.assertEqual(self.sql("SELECT ZTOMBSTONE5 FROM ACHANGE WHERE ZCHANGETYPE = 2"), [("c",)])

    def test_numbers_go_on_where_the_last_ones_are_not_told(self) -> None:
        self.sql(
            "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16001", "UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_ENT > 16000")
        self.assertEqual([each.number for each in self.save_again(Author(name="b"))], [1, 2])
        self.assertEqual(
            self.sql("SELECT Z_ENT, Z_NAME, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1"),
            [(16001, "CHANGE", 2), (16002, "TRANSACTION", 2), (16003, "TRANSACTIONSTRING", 0)])

    def test_numbers_go_on_behind_those_that_were_taken(self) -> None:
        self.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 40 WHERE Z_ENT > 16000")
        self.assertEqual([each.number for each in self.save_again(Author(name="b"), author="new")], [1, 41])
        self.assertEqual(self.sql("SELECT max(Z_PK) FROM ACHANGE", "SELECT max(Z_PK) FROM ATRANSACTIONSTRING"), [(41,)])

    def test_values_of_a_wrong_type_stop_no_deletion(self) -> None:
        self.sql("UPDATE ZAUTHOR SET ZNAME = x'FF', ZCODE = 'x'")
        with quire.open(self.path, MODELS) as store:
            store.context.query(Author).delete()
            self.assertEqual(store.history()[1].changes[0].tombstone, {"name": None})

    def test_a_save_that_a_trigger_keeps_out_of_the_history_fails(self) -> None:
        self.sql("CREATE TRIGGER silent BEFORE INSERT ON ATRANSACTION BEGIN SELECT raise(IGNORE); END")
        with quire.open(self.path, MODELS) as store:
            store.context.add(Author(name="b"))
            with self.assertRaises(quire.DatabaseError):
                store.context.save()
        self.assertEqual(self.sql("SELECT count(*) FROM ZAUTHOR"), [(1,)])


if __name__ == "__main__":
    unittest.main()
