"""Runs the command, on a store that is made for each test."""

from __future__ import annotations

import atexit
import contextlib
import importlib.util
import io
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple, Optional

import quire

MISSING = " and ".join(name for name in ("rich", "textual") if importlib.util.find_spec(name) is None)
MISSING = MISSING and f"{MISSING} not installed"
HAS_ARROW = importlib.util.find_spec("pyarrow") is not None


class Author(quire.Model):
    name: quire.Attr[str] = quire.attr(searchable=True)
    books: quire.ToMany["Book"] = quire.relation(inverse="author", on_delete="cascade")
    book_count: quire.Attr[int] = quire.derived("books.@count")
    plain: quire.Attr[Optional[str]] = quire.derived("canonical:(name)")


class Book(quire.Model):
    title: quire.Attr[str]
    isbn: quire.Attr[Optional[str]] = quire.attr(default=None)
    pages: quire.Attr[int] = quire.attr(default=100, type=quire.Integer16)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    rating: quire.Attr[Optional[float]] = quire.attr(default=None)
    key: quire.Attr[Optional[uuid.UUID]] = quire.attr(default=None)
    lent: quire.Attr[Optional[bool]] = quire.attr(default=None)
    made: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    scan: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    author: quire.ToOne[Optional[Author]] = quire.relation(inverse="books")
    cover: quire.ToOne[Optional["Cover"]] = quire.relation(inverse="book")
    __unique__ = ["isbn"]
    __indexes__ = {"thick": quire.Index("-pages", "title", where="pages > 300")}


class Comic(Book):
    coloured: quire.Attr[bool] = quire.attr(default=True)


class Cover(quire.Model):
    colour: quire.Attr[str]
    book: quire.ToOne[Optional[Book]] = quire.relation(inverse="cover")


MODELS = [Author, Book, Comic, Cover]
FIRST = datetime(2026, 1, 1, 10, 30, tzinfo=timezone.utc)


_made: dict[int, str] = {}


def copy_of_store(path: str, books: int) -> None:
    """A store of so many books, which is made once."""
    if books not in _made:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder)
        _made[books] = os.path.join(folder, "made.sqlite")
        make_store(_made[books], books)
    shutil.copyfile(_made[books], path)


def make_store(path: str, books: int = 7) -> None:
    """Two authors; books with every type of value, and with none; one comic; one cover."""
    with quire.open(path, MODELS) as store, store.context.transaction() as context:
        authors = [context.add(Author(name=name)) for name in ("Goethe", "Ågren")]
        for place in range(books):
            book = context.add((Comic if place == 3 else Book)(
                title=f"Book {place}", isbn=f"978-{place}", pages=100 * (place % 100), author=authors[place % 2]))
            if place % 3:
                book.price, book.rating, book.key = Decimal(place) / 4, place / 2, uuid.UUID(int=place)
                book.lent, book.made, book.scan = place % 2 == 0, FIRST + timedelta(days=40 * place), bytes(place)
        context.add(Cover(colour="red", book=book))
        context.add(Book(title="[bold]x\x1b[31m\nsecond, \"line\" 東京", pages=1))


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class CommandTestCase(unittest.TestCase):
    books = 7

    def setUp(self) -> None:
        if MISSING:
            self.skipTest(MISSING)
        # Programs that run in the background of a shell ignore SIGINT, and so would theirs.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = self.place("books.sqlite")
        copy_of_store(self.path, self.books)

    def place(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def run_command(self, *arguments: str, given: str = "", stdin: Optional[io.RawIOBase] = None) -> Ran:
        """Runs it in this process, which is fast."""
        from quire.cli.main import main

        out, err = io.StringIO(), io.StringIO()
        stream = io.TextIOWrapper(io.BytesIO(given.encode()) if stdin is None else io.BufferedReader(stdin))
        before, sys.stdin = sys.stdin, stream
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(arguments)
        finally:
            sys.stdin = before
        return Ran(int(code), out.getvalue(), err.getvalue())

    def succeed(self, *arguments: str, given: str = "") -> str:
        ran = self.run_command(*arguments, given=given)
        self.assertEqual((ran.code, "Traceback" in ran.err), (0, False), ran.err)
        return ran.out

    def fail_with(self, code: int, sentence: str, *arguments: str, given: str = "") -> None:
        """It ends with a number and a sentence, and writes nothing else."""
        ran = self.run_command(*arguments, given=given)
        self.assertEqual(ran.code, code, ran.err)
        self.assertRegex(ran.err, sentence)
        self.assertNotIn("Traceback", ran.err)

    def process(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Runs it in a process of its own."""
        environment = {**os.environ, **options.pop("environment", {})}
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "quire", *arguments], capture_output=True, text=True,
            env=environment, **options)

    def sql(self, *statements: str) -> None:
        """Another program changes the file behind the library."""
        with contextlib.closing(sqlite3.connect(self.path)) as file, file:
            for statement in statements:
                file.execute(statement)
