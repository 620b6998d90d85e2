"""The files of external values beside copies, deletions, triggers and objects that are read already."""
from __future__ import annotations

import gc
import os
import resource
import shutil
import sqlite3
import tempfile
import unittest
from typing import Any, Optional

import quire

LARGE = bytes(range(256)) * 500
OTHER = LARGE[::-1]
MODEL = """<?xml version="1.0"?><model><entity name="Item">
<attribute name="text" optional="YES" attributeType="String" allowsExternalBinaryDataStorage="YES"/>
<attribute name="number" optional="YES" attributeType="Integer 64" allowsExternalBinaryDataStorage="YES"/>
<attribute name="data" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
</entity></model>"""


class Page(quire.Model):
    name: quire.Attr[str]
    scan: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)
    next: quire.ToOne[Optional["Page"]] = quire.relation(inverse="previous")
    previous: quire.ToOne[Optional["Page"]] = quire.relation(inverse="next")


class ExternalFilesTests(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = self.at("a.sqlite")

    def at(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def open(self, name: str = "a.sqlite", **options: Any) -> quire.Store:
        store = quire.open(self.at(name), [Page], **options)
        self.addCleanup(store.close)
        return store

    def make(self, name: str = "a.sqlite", **scans: Optional[bytes]) -> quire.Store:
        store = self.open(name)
        for page, scan in scans.items():
            store.context.add(Page(name=page, scan=scan))
        store.context.save()
        return store

    def scan(self, store: quire.Store, name: str) -> Optional[bytes]:
        return store.context.query(Page).where("name == %@", name).one().scan

    def data_folder(self, stem: str = "a") -> str:
        return self.at(f".{stem}_SUPPORT/_EXTERNAL_DATA")

    def files(self, stem: str = "a") -> list[str]:
        folder = self.data_folder(stem)
        return sorted(os.listdir(folder)) if os.path.isdir(folder) else []

    def run_sql(self, sql: str, *values: object) -> list[Any]:
        database = sqlite3.connect(self.path)
        try:
            with database:
                return database.execute(sql, values).fetchall()
        finally:
            database.close()

    # --- Copies

    def test_a_copy_needs_a_folder_of_its_own(self) -> None:
        store = self.make(one=LARGE)
        os.mkdir(self.at("folder"))
        os.symlink(self.folder, self.at("link"))
        for name in ("a.bak", "a", "a.sqlite2", "link/a.bak", "folder/../a.bak"):
            with self.subTest(name), self.assertRaisesRegex(quire.InvalidArgument, "a_SUPPORT.*Choose another"):
                store.copy(self.at(name))
            self.assertFalse(os.path.exists(self.at(name)))
        self.assertEqual(len(self.files()), 1)
        for name in ("a.b.bak", "b.sqlite", "folder/a.bak"):
            store.copy(self.at(name))
        store.context.query(Page).delete()
        store.close()
        for name in ("a.b.bak", "b.sqlite", "folder/a.bak"):
            with self.open(name) as copy:
                self.assertEqual(self.scan(copy, "one"), LARGE)

    def test_a_copy_that_fails_leaves_the_files_of_others(self) -> None:
        store = self.make(**{f"page{number}": bytes([number]) * 200_000 for number in range(6)})
        store.copy(self.at("b.sqlite"))
        before = self.files("b")
        broken = os.path.join(self.data_folder(), self.files()[0])
        os.rename(broken, self.at("kept"))
        os.mkdir(broken)
        for name in ("a.bak", "b.bak", "c.sqlite"):
            with self.assertRaises(quire.Error):
                store.copy(self.at(name))
        self.assertEqual((len(self.files()), self.files("b"), self.files("c")), (6, before, []))
        os.rmdir(broken)
        os.rename(self.at("kept"), broken)
        with self.assertRaisesRegex(quire.CannotOpen, "another store beside it"):
            store.copy(self.at("b.bak"))
        self.assertEqual(self.files("b"), before)
        self.assertNotIn("b.bak", os.listdir(self.folder))
        with self.open("b.sqlite") as copy:
            self.assertEqual(self.scan(copy, "page5"), b"\5" * 200_000)

    def test_a_copy_replaces_what_a_lost_store_left(self) -> None:
        store = self.make(one=LARGE)
        for _ in range(2):
            store.copy(self.at("b.sqlite"))
            with open(os.path.join(self.data_folder("b"), self.files("b")[0]), "rb") as file:
                self.assertEqual(file.read(), LARGE)
            with open(os.path.join(self.data_folder("b"), self.files("b")[0]), "wb") as file:
                file.write(b"changed")
            os.unlink(self.at("b.sqlite"))
            with open(self.at("b.txt"), "w", encoding="utf-8") as file:
                file.write("No store.")

    # --- Deletions

    def test_plain_copies_keep_their_files(self) -> None:
        self.make(one=LARGE).close()
        shutil.copy(self.path, self.at("a.bak"))
        with self.make(two=OTHER):
            pass
        quire.delete_store(self.path)
        self.assertEqual(len(self.files()), 1)
        with self.open("a.bak") as copy:
            self.assertEqual(self.scan(copy, "one"), LARGE)
        quire.delete_store(self.at("a.bak"))
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_plain_copy_that_is_open_keeps_its_files(self) -> None:
        self.make(one=LARGE).close()
        shutil.copy(self.path, self.at("a.bak"))
        with self.open("a.bak") as copy:
            quire.delete_store(self.path)
            self.assertEqual(self.scan(copy, "one"), LARGE)

    def test_files_of_other_kinds_keep_nothing(self) -> None:
        self.make(one=LARGE).close()
        for name, contents in (("a.txt", "text" * 1000), ("a.new", ""), ("a", "x")):
            with open(self.at(name), "w", encoding="utf-8") as file:
                file.write(contents)
        quire.delete_store(self.path)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "a.new", "a.txt"])

    # --- Rows

    def test_the_flag_counts_for_data_alone(self) -> None:
        source = self.at("Model.xcdatamodel")
        os.mkdir(source)
        with open(os.path.join(source, "contents"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        with quire.open(self.path, quire.load_model(source)) as store:
            item = store.classes["Item"](text="text", number=5, data=LARGE)
            store.context.add(item)
            store.context.save()
        self.assertEqual(self.run_sql("SELECT ZTEXT, ZNUMBER, length(ZDATA) FROM ZITEM"), [("text", 5, 38)])
        with quire.open(self.path) as store:
            query = store.context.query(store.classes["Item"])
            item = query.where("text == 'text' AND number == 5").one()
            self.assertEqual((item.text, item.number, item.data), ("text", 5, LARGE))

    def test_a_batch_that_a_trigger_ignores_keeps_the_file(self) -> None:
        self.make(locked=LARGE, other=LARGE).close()
        self.run_sql(
            "CREATE TRIGGER keep BEFORE UPDATE ON ZPAGE WHEN old.ZNAME = 'locked' BEGIN SELECT raise(IGNORE); END")
        before = self.files()
        with self.open() as store:
            with self.assertRaisesRegex(quire.DatabaseError, "trigger of the table ZPAGE"):
                store.context.query(Page).update(scan=OTHER)
        self.assertEqual(self.files(), before)
        with self.open() as store:
            self.assertEqual([self.scan(store, name) for name in ("locked", "other")], [LARGE, LARGE])

    def test_a_comparison_with_nil_reads_no_file(self) -> None:
        store = self.make(file=LARGE, small=b"x", none=None)
        query = store.context.query(Page)
        file, none = (query.where("name == %@", name).one() for name in ("file", "none"))
        file.next = none
        store.context.save()
        store.close()
        os.unlink(os.path.join(self.data_folder(), self.files()[0]))
        query = self.open().context.query(Page)
        expected = {
            "scan == nil": ["none"], "scan != nil": ["file", "small"], "NOT scan == nil": ["file", "small"],
            "next.scan == nil": ["file", "none", "small"], "previous.scan != nil": ["none"],
            "scan IN {nil}": ["none"],
        }
        for predicate, names in expected.items():
            with self.subTest(predicate):
                self.assertEqual([page.name for page in query.where(predicate).order_by("name")], names)

    # --- Objects

    def fill(self, count: int, size: int) -> quire.Store:
        store = self.open()
        for number in range(count):
            store.context.add(Page(name=str(number), scan=bytes([number]) * size))
            store.context.save()
        store.close()
        return self.open()

    def loaded(self, store: quire.Store) -> list[Page]:
        """All objects, in a context that keeps them because they have changes, with values that are not read."""
        pages = list(store.create_context().query(Page))
        for page in pages:
            page.name = f"x{page.name}"
        return pages

    def test_objects_need_little_memory_for_files_that_go(self) -> None:
        count, size = 60, 2_000_000
        store = self.fill(count, size)
        mine = self.loaded(store)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for page in store.context.query(Page):
            page.scan = b"small"
        store.context.save()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 40_000, "kilobytes")
        for page in mine:
            self.assertEqual(page.scan, bytes([int(page.name[1:])]) * size)
        self.assertEqual(len(mine), count)
        mine[0].context.reset()
        del page, mine
        gc.collect()
        self.assertEqual(self.files(), [])
        self.assertEqual({page.scan for page in store.context.query(Page)}, {b"small"})

    def test_deletions_need_little_memory(self) -> None:
        store = self.fill(60, 2_000_000)
        pages = list(store.context.query(Page))
        self.assertEqual(len({page.name for page in pages}), 60)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for page in pages:
            store.context.delete(page)
        store.context.save()
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 40_000, "kilobytes")
        del page, pages
        gc.collect()
        self.assertEqual(self.files(), [])

    def test_a_deletion_is_undone_after_its_save(self) -> None:
        store = self.fill(12, 2_000_000)
        store.context.enable_undo()
        for page in store.context.query(Page):
            store.context.delete(page)
        store.context.save()
        store.context.undo()
        store.context.save()
        store.close()
        store = self.open()
        self.assertEqual(
            {page.name: page.scan for page in store.context.query(Page)},
            {str(number): bytes([number]) * 2_000_000 for number in range(12)})
        self.assertEqual(len(self.files()), 12)

    def test_a_close_removes_what_objects_needed(self) -> None:
        store = self.fill(12, 2_000_000)
        mine = self.loaded(store)
        for page in store.context.query(Page):
            page.scan = None
        store.context.save()
        self.assertGreater(len(self.files()), 0)
        store.close()
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    unittest.main()
