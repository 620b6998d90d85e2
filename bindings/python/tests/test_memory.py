"""Little memory: what asks for much at once fails, and nothing is lost."""

from __future__ import annotations

import contextlib
import ctypes
import ctypes.util
import os
import resource
import sqlite3
import subprocess
import sys
import sysconfig
import unittest
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Any, Optional

import quire
from quire._c import _ffi, _values
from quire.objects import _identity
from support import FileTestCase

ALONE = "QUIRE_TEST_ALONE"
"""Names the test that a process of its own runs."""
MEGABYTE = 1 << 20
LARGE = 200 * MEGABYTE


class Sheet(quire.Model):
    number: quire.Attr[int] = quire.attr(default=0)
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    day: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None)


def used() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


@contextlib.contextmanager
def only(room: int) -> Any:
    """At most so many bytes more for a block."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used() + room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def without_reserve() -> Any:
    """What Python's allocator has reserved is in use for a block.

    Without a global lock Python reserves addresses by the gigabyte, which a limit to addresses does not take away.
    """
    held: list[bytes] = []
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        with only(0):
            for size in (MEGABYTE, MEGABYTE >> 4, MEGABYTE >> 8):
                with contextlib.suppress(MemoryError):
                    while True:
                        held.append(bytes(size))
    try:
        yield
    finally:
        held.clear()


@unittest.skipUnless(os.path.exists("/proc/self/statm"), "needs to know how much memory is in use")
class LittleMemoryTests(FileTestCase):
    def open(self) -> quire.Store:
        return quire.open(self.path, [Sheet])

    def in_child(self, work: Callable[[quire.Context], None]) -> None:
        # Memory that other tests have given back is no little memory: a process of its own has none of that.
        name = f"test_memory.{type(self).__name__}.{self._testMethodName}"
        if os.environ.get(ALONE) != name:
            run = subprocess.run(
                [sys.executable, "-W", "error", "-m", "unittest", name], cwd=os.path.dirname(os.path.abspath(__file__)),
                env={**os.environ, ALONE: name}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(run.returncode, 0, run.stdout)
            self.assertIn("Ran 1 test", run.stdout)
            return
        with self.open() as store:
            work(store.context)

    def refuse(self, room: int, work: Callable[[], Any]) -> None:
        with only(room):
            try:
                work()
            except quire.NoMemory as error:
                self.assertIn("memory", str(error))
            else:
                self.fail("it was done")

    def fill(self, rows: int, size: int = 0) -> None:
        with self.open():
            pass
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows) "
                "INSERT INTO ZSHEET (Z_PK, Z_ENT, Z_OPT, ZNUMBER, ZTEXT, ZDATA) "
                "SELECT i, 1, 1, i, CASE WHEN :size THEN CAST(zeroblob(:size) AS TEXT) END, "
                "CASE WHEN :size THEN zeroblob(:size) END FROM n", {"rows": rows, "size": size})
            connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = ?", (rows,))

    def test_a_large_value_is_refused(self) -> None:
        def work(context: quire.Context) -> None:
            sheet = context.add(Sheet(number=1))
            # The package makes copies of its own, for which Python says when there is no memory.
            for kind, key in ((_ffi.QUIRE_VALUE_DATA, b"data"), (_ffi.QUIRE_VALUE_TEXT, b"text")):
                packed = _values.data(b"a" * LARGE, kind)
                self.refuse(50 * MEGABYTE, lambda: _identity.write(sheet, key, packed))
            with only(50 * MEGABYTE), self.assertRaises(MemoryError):
                sheet.data = b"a" * LARGE
            context.save()
            self.assertEqual([each.number for each in context.query(Sheet).all()], [1])

        self.in_child(work)

    def test_a_large_value_of_a_file_is_refused(self) -> None:
        self.fill(1, LARGE)

        def work(context: quire.Context) -> None:
            self.refuse(100 * MEGABYTE, lambda: context.query(Sheet).one().data)
            self.refuse(300 * MEGABYTE, lambda: context.query(Sheet).one().data)
            self.refuse(300 * MEGABYTE, lambda: context.query(Sheet).columns("data"))
            self.assertEqual(context.query(Sheet).count(), 1)

        self.in_child(work)

    def test_a_large_result_is_refused(self) -> None:
        self.fill(1_500_000)

        def work(context: quire.Context) -> None:
            query = context.query(Sheet)
            self.refuse(8 * MEGABYTE, lambda: query.columns("number"))
            self.assertEqual(query.count(), 1_500_000)
            self.refuse(20 * MEGABYTE, query.ids)
            self.refuse(20 * MEGABYTE, lambda: query.order_by("-number").live())
            self.assertEqual(query.where("number == 77").one().id, 77)
            self.assertEqual(len(query.ids()), 1_500_000)

        self.in_child(work)

    def test_what_is_made_of_a_large_page_is_refused(self) -> None:
        rows = 500_000
        self.fill(rows)
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("UPDATE ZSHEET SET ZTEXT = 'text of a sheet'")

        def work(context: quire.Context) -> None:
            for name in ("day", "price"):
                columns = context.query(Sheet).columns(name)
                self.refuse(MEGABYTE, columns.__arrow_c_stream__)
                self.assertIsNotNone(columns.__arrow_c_stream__())
            columns = context.query(Sheet).columns("text")
            # The library lends the texts as they are, and Python has no memory for its own.
            with without_reserve(), only(MEGABYTE), self.assertRaises(MemoryError):
                columns["text"].to_list()
            self.assertEqual(set(columns["text"].to_list()), {"text of a sheet"})
            self.assertEqual(len(columns["text"].to_list()), rows)

        self.in_child(work)

    def test_a_large_table_of_rows_is_refused(self) -> None:
        def work(context: quire.Context) -> None:
            numbers = list(range(500_000))
            self.refuse(100 * MEGABYTE, lambda: context.insert_rows(Sheet, {"number": numbers}))
            self.assertEqual(context.query(Sheet).count(), 0)
            context.insert_rows(Sheet, {"number": numbers[:1000]})
            self.assertEqual(context.query(Sheet).count(), 1000)

        self.in_child(work)

    def test_what_sqlite_has_no_memory_for_is_refused(self) -> None:
        self.fill(20_000)

        def work(context: quire.Context) -> None:
            name = ctypes.util.find_library("sqlite3")
            assert name is not None
            sqlite = ctypes.CDLL(name)
            sqlite.sqlite3_hard_heap_limit64.argtypes = [ctypes.c_int64]
            sqlite.sqlite3_hard_heap_limit64.restype = ctypes.c_int64
            sqlite.sqlite3_memory_used.restype = ctypes.c_int64
            context.query(Sheet).count()
            if sqlite.sqlite3_memory_used() == 0:
                self.skipTest("the library has an SQLite of its own, whose limits are out of reach")
            refused = 0
            for room in range(0, 400_000, 10_000):
                sheet = context.add(Sheet(number=-room, text="x" * 100_000))
                sqlite.sqlite3_hard_heap_limit64(sqlite.sqlite3_memory_used() + room)
                try:
                    for call in (
                        context.save, lambda: context.query(Sheet).order_by("text", "-number").ids(),
                        lambda: context.query(Sheet).where("number == 5").update(text="y" * 50_000),
                    ):
                        try:
                            call()
                        except quire.NoMemory:
                            refused += 1
                finally:
                    sqlite.sqlite3_hard_heap_limit64(0)
                context.save()
                self.assertEqual(context.query(Sheet).where("number == %@", -room).ids()[0], sheet.id)
            self.assertGreater(refused, 3)

        self.in_child(work)


if __name__ == "__main__":
    unittest.main()
