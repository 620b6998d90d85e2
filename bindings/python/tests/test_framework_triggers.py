"""Attributes that triggers of Core Data's framework, or of an application, keep up in its own files."""

import contextlib
import os
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire

CALL = "SELECT NSCoreDataDATrigger{kind}AffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) " \
    "FROM ZBOOK WHERE Z_PK = {row};"


def counting(name: str, event: str, when: str, value: str, row: str) -> str:
    return (
        f"CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_{name} AFTER {event} ON ZPAGE FOR EACH ROW "
        f"WHEN ({when}) BEGIN UPDATE ZBOOK SET ZPAGESCOUNT = {value} WHERE Z_PK = {row}; "
        f"{CALL.format(kind='Updated', row=row)} END")


FRAMEWORK = [
    counting("INSERT", "INSERT", "NEW.ZBOOK NOT NULL", "IFNULL(ZPAGESCOUNT, 0) + 1", "NEW.ZBOOK"),
    counting("UPDATE_INCREMENT", "UPDATE OF ZBOOK", "NEW.ZBOOK NOT NULL", "ZPAGESCOUNT + 1", "NEW.ZBOOK"),
    counting("UPDATE_DECREMENT", "UPDATE OF ZBOOK", "OLD.ZBOOK NOT NULL", "ZPAGESCOUNT - 1", "OLD.ZBOOK"),
    counting("DELETE", "DELETE", "OLD.ZBOOK NOT NULL", "ZPAGESCOUNT - 1", "OLD.ZBOOK"),
    "CREATE TRIGGER Z_DA_ZBOOK_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON ZBOOK FOR EACH ROW BEGIN "
    "UPDATE ZBOOK SET ZPAGESCOUNT = (SELECT IFNULL(COUNT(ZBOOK), 0) FROM ZPAGE WHERE ZBOOK = NEW.Z_PK) "
    f"WHERE Z_PK = NEW.Z_PK; {CALL.format(kind='InsertUpdated', row='NEW.Z_PK')} END",
]
APPLICATION = (
    "CREATE TRIGGER ZT_ZBOOK_ZREADS AFTER UPDATE OF ZNUMBER ON ZPAGE FOR EACH ROW BEGIN "
    "UPDATE ZBOOK SET ZREADS = IFNULL(ZREADS, 0) + 1 WHERE Z_PK = NEW.ZBOOK; "
    "SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'ZREADS', ZREADS) "
    "FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END")


def models(is_derived: bool) -> list[Any]:
    class Book(quire.Model):
        title: quire.Attr[str]
        reads: quire.Attr[Optional[int]] = quire.attr(default=None)
        pagesCount: quire.Attr[Optional[int]] = (
            quire.derived("pages.@count") if is_derived else quire.attr(default=None))
        pages: quire.ToMany["Page"] = quire.relation(inverse="book")

    class Page(quire.Model):
        number: quire.Attr[int]
        book: quire.ToOne[Optional["Book"]] = quire.relation(inverse="pages")

    return [Book, Page]


class FrameworkTriggerTests(unittest.TestCase):
    triggers = FRAMEWORK

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "books.sqlite")
        quire.open(self.path, models(False)).close()
        self.run_sql(*self.triggers)
        self.before = self.schema()
        self.open()
        for title in "ab":
            book = self.context.add(self.Book(title=title))
            for number in range(3):
                self.context.add(self.Page(number=number, book=book))
        self.context.save()

    def open(self) -> None:
        self.Book, self.Page = models(True)
        self.store = quire.open(self.path, [self.Book, self.Page])
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def run_sql(self, *statements: str) -> None:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            for name in ("DATriggerUpdated", "DATriggerInsertUpdated", "TriggerUpdate"):
                file.create_function(f"NSCoreData{name}AffectedObjectValue", 5, lambda *_: None)
            for statement in statements:
                file.execute(statement)
            file.commit()

    def rows(self, sql: str) -> list[Any]:
        with contextlib.closing(sqlite3.connect(self.path)) as file:
            return file.execute(sql).fetchall()

    def schema(self) -> list[Any]:
        return sorted(self.rows("SELECT type, name, sql FROM sqlite_master"), key=repr)

    def counts(self) -> dict[str, Any]:
        """What the file has, which objects and plain counting agree with."""
        found = dict(self.rows("SELECT ZTITLE, ZPAGESCOUNT FROM ZBOOK"))
        counted = dict(self.rows(
            "SELECT ZTITLE, (SELECT count(*) FROM ZPAGE WHERE ZBOOK = ZBOOK.Z_PK) FROM ZBOOK"))
        self.assertEqual(found, counted)
        shown = {book.title: book.pagesCount for book in self.context.query(self.Book)}
        self.assertEqual(shown, found)
        return found

    def book(self, title: str) -> Any:
        return self.context.query(self.Book).where("title == %@", title).one()

    def test_triggers_stay(self) -> None:
        self.assertEqual(self.schema(), self.before)
        self.store.close()
        self.open()
        self.assertEqual(self.schema(), self.before)

    def test_own_changes(self) -> None:
        a, b = self.book("a"), self.book("b")
        self.assertEqual(self.counts(), {"a": 3, "b": 3})
        versions = self.rows("SELECT Z_OPT FROM ZBOOK")
        self.context.query(self.Page).where("book == %@", a)[0].book = b
        self.context.save()
        self.assertEqual((a.pagesCount, b.pagesCount), (2, 4))
        self.assertEqual(self.rows("SELECT Z_OPT FROM ZBOOK"), versions)
        self.assertEqual(self.counts(), {"a": 2, "b": 4})
        self.context.delete(self.context.query(self.Page).where("book == %@", b)[0])
        self.context.add(self.Page(number=9, book=a))
        self.context.save()
        self.assertEqual((a.pagesCount, b.pagesCount), (3, 3))
        self.counts()
        self.assertFalse(self.context.has_changes)

    def test_lists_and_other_contexts(self) -> None:
        a, b = self.book("a"), self.book("b")
        other = self.store.create_context()
        theirs = {book.title: book for book in other.query(self.Book)}
        self.assertEqual(theirs["a"].pagesCount, 3)
        lists = self.context.query(self.Book).where("pagesCount > 3").live()
        self.assertEqual(len(lists), 0)
        self.context.query(self.Page).where("book == %@", a)[0].book = b
        self.context.save()
        self.assertEqual([book.title for book in lists], ["b"])
        other.merge()
        self.assertEqual((theirs["a"].pagesCount, theirs["b"].pagesCount), (2, 4))

    def test_changes_of_plain_sqlite(self) -> None:
        self.store.close()
        self.run_sql("UPDATE ZPAGE SET ZBOOK = 2 WHERE Z_PK = (SELECT min(Z_PK) FROM ZPAGE WHERE ZBOOK = 1)")
        self.open()
        self.assertEqual(sorted(self.counts().values()), [2, 4])

    def test_batches(self) -> None:
        a, b = self.book("a"), self.book("b")
        self.assertEqual(a.pagesCount, 3)
        self.context.query(self.Page).where("book == %@ AND number > 0", a).update(book=b)
        self.assertEqual((a.pagesCount, b.pagesCount), (1, 5))
        self.context.query(self.Page).where("book == %@", b).delete()
        self.assertEqual((a.pagesCount, b.pagesCount), (1, 0))
        self.counts()

    def test_transactions(self) -> None:
        a, b = self.book("a"), self.book("b")
        self.assertEqual((a.pagesCount, b.pagesCount), (3, 3))
        with contextlib.suppress(ZeroDivisionError), self.context.transaction():
            self.context.query(self.Page).where("book == %@", a)[0].book = b
            self.context.save()
            self.assertEqual((a.pagesCount, b.pagesCount), (2, 4))
            _ = 1 // 0
        self.context.rollback()
        self.assertEqual(self.counts(), {"a": 3, "b": 3})

    def test_a_book_goes_with_its_pages(self) -> None:
        a = self.book("a")
        for page in self.context.query(self.Page).where("book == %@", a).all():
            self.context.delete(page)
        self.context.delete(a)
        self.context.save()
        self.assertEqual(self.counts(), {"b": 3})


class ApplicationTriggerTests(FrameworkTriggerTests):
    triggers = [*FRAMEWORK, APPLICATION]

    def test_attributes_that_are_not_derived(self) -> None:
        a = self.book("a")
        self.assertIsNone(a.reads)
        for page in self.context.query(self.Page):
            page.number += 1
        self.context.save()
        self.assertEqual(a.reads, 3)
        self.assertEqual(self.rows("SELECT ZREADS FROM ZBOOK"), [(3,), (3,)])
        self.assertFalse(self.context.has_changes)


class AmbiguousNameTests(unittest.TestCase):
    """A trigger whose name ends as one of another entity would."""

    def test_it_is_of_its_own_table(self) -> None:
        class C(quire.Model):
            name: quire.Attr[str]
            d: quire.Attr[Optional[str]] = quire.derived("uppercase:(name)")

        class B_C(quire.Model):
            d: quire.Attr[Optional[str]] = quire.attr(default=None)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "names.sqlite")
            quire.open(path, [C, B_C]).close()
            foreign = "Z_DA_ZB_C_B_C_d_PARAMETER_INSERT"
            with contextlib.closing(sqlite3.connect(path)) as file:
                file.execute(f"CREATE TRIGGER {foreign} AFTER INSERT ON ZB_C BEGIN SELECT 1; END")
            with quire.open(path, [C, B_C]) as store:
                added = store.context.add(C(name="abc"))
                store.context.save()
                self.assertEqual(added.d, "ABC")
            with contextlib.closing(sqlite3.connect(path)) as file:
                file.execute("INSERT INTO ZC (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9, 2, 1, 'x')")
                self.assertEqual(file.execute("SELECT ZD FROM ZC ORDER BY Z_PK").fetchall(), [("ABC",), ("X",)])
                self.assertIn((foreign,), file.execute("SELECT name FROM sqlite_master").fetchall())


class UntriggeredTests(unittest.TestCase):
    """A file of the framework whose derived attribute nothing keeps up that is known."""

    def test_it_is_left_alone(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "books.sqlite")
            quire.open(path, models(False)).close()
            with contextlib.closing(sqlite3.connect(path)) as file:
                # The hash of an entity with a derived attribute is another one than ours.
                plist = bytes(file.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()[0])
                import plistlib
                metadata = plistlib.loads(plist)
                metadata["NSStoreModelVersionHashes"]["Book"] = bytes(32)
                file.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(metadata, fmt=plistlib.FMT_BINARY),))
                file.commit()
                with self.assertRaises(quire.ModelMismatch):
                    quire.open(path, models(True))
                # The file keeps a model with the same attribute.
                other = os.path.join(folder, "derived.sqlite")
                quire.open(other, models(True)).close()
                with contextlib.closing(sqlite3.connect(other)) as derived:
                    kept = derived.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
                file.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", kept)
                file.execute("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZPAGESCOUNT) VALUES (7, 1, 1, 'a', 5)")
                file.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_ENT = 1")
                file.commit()
                before = file.execute("SELECT name, sql FROM sqlite_master").fetchall()
            with self.assertRaises(quire.ModelMismatch):
                quire.open(path, models(False))
            book, page = models(True)
            with quire.open(path, [book, page]) as store:
                found = store.context.query(book).one()
                store.context.add(page(number=1, book=found))
                found.title = "b"
                store.context.save()
                self.assertEqual(found.pagesCount, 5)
            with contextlib.closing(sqlite3.connect(path)) as file:
                self.assertEqual(file.execute("SELECT name, sql FROM sqlite_master").fetchall(), before)
                self.assertEqual(file.execute("SELECT ZTITLE, ZPAGESCOUNT FROM ZBOOK").fetchall(), [("b", 5)])


if __name__ == "__main__":
    unittest.main()
