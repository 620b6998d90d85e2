"""Models and stores for the tests."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import random
import re
import select
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional, TypeVar
from uuid import UUID

import quire

Case = TypeVar("Case")
START = datetime(2024, 1, 1, tzinfo=timezone.utc)


def seeds(fixed: int) -> list[int]:
    """Seeds of random tests: always the same, unless QUIRE_FRESH_SEEDS says how many new ones to take."""
    fresh = os.environ.get("QUIRE_FRESH_SEEDS")
    if fresh is None:
        return list(range(1, fixed + 1))
    return [random.SystemRandom().randrange(1 << 32) for _ in range(int(fresh))]


def cases_of_turn(test: unittest.TestCase, cases: Iterable[Case], share: int) -> Iterator[tuple[Case, str]]:
    """The cases of a large product that run, each with the command that runs it alone, for the messages of failures.

    QUIRE_TURN is a hexadecimal number, such as the hash of a commit. It selects about one case in `share`, and each
    turn selects other ones. Without it all cases run."""
    listed = list(cases)
    turn, alone = os.environ.get("QUIRE_TURN"), os.environ.get("QUIRE_CASE")
    if turn and not re.fullmatch("[0-9a-fA-F]+", turn):
        raise ValueError(f"QUIRE_TURN is {turn!r}, which is no hexadecimal number.")
    needed = "".join(
        f"{name}={shlex.quote(os.environ[name])} " for name in ("QUIRE_LIBRARY", "PYTHONPATH") if name in os.environ)

    def is_selected(number: int) -> bool:
        digest = hashlib.sha256(f"{int(turn or '0', 16)} {test.id()} {number}".encode()).digest()
        return int.from_bytes(digest, "big") % share == 0

    numbers = [int(alone)] if alone else [each for each in range(len(listed)) if not turn or is_selected(each)]
    for number in numbers:
        yield listed[number], f"{needed}QUIRE_CASE={number} python3 -m unittest {test.id()}"


def say_skipped(cases: str, data: pathlib.Path) -> None:
    """Says how many cases are skipped because their data is not there; `script/test` repeats the line at its end."""
    # On a line of its own: the runner of the tests has begun one.
    print(f"\nskipped: {cases}: no {os.path.relpath(data, pathlib.Path(__file__).parents[3])}", flush=True)


# A test waits for events. What has not happened after so many seconds never does.
PATIENCE = 120

# A program that waits until its parent's thread of that id sleeps or waits for a lock. It is a process of its own,
# because a thread of the parent would have the other thread wait for Python's lock.
AWAIT_SLEEP = """
import os, sys
state = ""
while state != "S":
    with open(f"/proc/{os.getppid()}/task/{sys.argv[-1]}/stat") as file:
        state = file.read().rpartition(")")[2].split()[0]
"""


def await_sleep(thread: Optional[int]) -> None:
    """Waits until the thread of this `native_id` sleeps or waits for a lock."""
    subprocess.run([sys.executable, "-c", AWAIT_SLEEP, str(thread)], check=True, timeout=PATIENCE)


def await_readable(context: quire.Context) -> None:
    if not select.select([context], [], [], PATIENCE)[0]:
        raise AssertionError(f"The context has not polled readable within {PATIENCE} seconds.")


def day(count: float) -> datetime:
    return START + timedelta(days=count)


class Author(quire.Model):
    name: quire.Attr[str]
    quotes: quire.ToMany["Quote"] = quire.relation(inverse="author", on_delete="cascade")


class Quote(quire.Model):
    author: quire.ToOne["Author | None"] = quire.relation(inverse="quotes")
    contents: quire.Attr[str]
    created_at: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    price: quire.Attr[float] = quire.attr(default=1.0)
    note: quire.Attr[Optional[str]] = quire.attr(default=None)
    __indexes__ = [("price", "-created_at"), "contents"]


class Everything(quire.Model):
    """One attribute of each type."""

    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    whole: quire.Attr[Optional[int]] = quire.attr(default=None)
    small: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer16)
    middle: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer32)
    real: quire.Attr[Optional[float]] = quire.attr(default=None)
    single: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float)
    flag: quire.Attr[Optional[bool]] = quire.attr(default=None)
    instant: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    exact: quire.Attr[Optional[Decimal]] = quire.attr(default=None)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    uid: quire.Attr[Optional[UUID]] = quire.attr(default=None)
    link: quire.Attr[Optional[str]] = quire.attr(default=None, type=quire.URI)
    coded: quire.Attr[Optional[bytes]] = quire.attr(default=None, type=quire.Transformable)
    draft: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True)


class Animal(quire.Model):
    __abstract__ = True
    name: quire.Attr[str]


class Dog(Animal):
    tricks: quire.Attr[int] = quire.attr(default=0)


class Cat(Animal):
    lives: quire.Attr[int] = quire.attr(default=9)


class Kitten(Cat):
    toy: quire.Attr[Optional[str]] = quire.attr(default=None)


MODELS = [Author, Quote, Everything, Dog, Kitten, Cat]


class Recording:
    """The changes of a list, as text: a line for each bracket."""

    def __init__(self, live: quire.Results[Any]) -> None:
        self.lines: list[list[str]] = []
        live.on_change(self.follow)

    def follow(self, change: quire.ChangeSet[Any]) -> None:
        line = [f"{type(each).__name__} {each.index}" for each in change.section_changes]
        for each in change:
            places = [f"{place[0]}.{place[1]}" for place in (each.old, each.new) if place is not None]
            line.append(f"{type(each).__name__} {'/'.join(places)}")
        self.lines.append(line)

    def take(self) -> list[list[str]]:
        lines, self.lines = self.lines, []
        return lines


class StoreTestCase(unittest.TestCase):
    """Opens a store in memory for each test."""

    def setUp(self) -> None:
        self.store = quire.open(":memory:", MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def quote(self, contents: str = "More light!", **values: object) -> Quote:
        return self.context.add(Quote(contents=contents, **values))


class FileTestCase(unittest.TestCase):
    """Has a folder for store files."""

    def setUp(self) -> None:
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "quotes.store")


class WatchedFileTestCase(FileTestCase):
    """The log of the store tells what is read when, and another program changes the file behind it. Three authors have
    the quotes that `quotes` gives the values of."""

    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, MODELS) as store, store.context.transaction() as context:
            authors = [context.add(Author(name=f"author {number}")) for number in range(3)]
            for number, values in enumerate(self.quotes()):
                context.add(Quote(**values, author=authors[number % 3]))
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        self.context = self.store.context

    def quotes(self) -> list[dict[str, Any]]:
        return [{"contents": f"text {number}"} for number in range(9)]

    @contextlib.contextmanager
    def reading(self) -> Iterator[list[str]]:
        """The tables of which rows are read within the block, one for each statement."""
        read: list[str] = []

        def note(sql: str, seconds: float, row_count: int) -> None:
            read.extend(re.findall(r"\b(?:FROM|JOIN) (Z\w+)", sql)[:1])

        self.store.set_log(note)
        try:
            yield read
        finally:
            self.store.set_log(None)

    def sql(self, statement: str) -> None:
        with sqlite3.connect(self.path) as connection:
            connection.execute(statement)
        connection.close()
