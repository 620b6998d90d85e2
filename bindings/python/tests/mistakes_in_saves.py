"""What saves and stores refuse."""

from __future__ import annotations

import os
import resource
import sqlite3
import threading
import uuid
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable

import quire
from mistake_world import MODELS, Author, Book, World, many, mistake


# Saving

many(
    ("a value below its minimum", "Book.price#", lambda w: w.saved(price=Decimal("-4"))),
    ("a value above its maximum", "Book.pages#", lambda w: w.saved(pages=500)),
    ("a number of 32 bits above its maximum", "Book.weight#", lambda w: w.saved(weight=10.25)),
    ("a date above its maximum", "Book.printed#",
     lambda w: w.saved(printed=datetime(2031, 1, 1, tzinfo=timezone.utc))),
    ("a text that is too long", "Book.title#", lambda w: w.saved(title="x" * 30)),
    ("a text that matches no pattern", "Book.title#", lambda w: w.saved(title="Oh!")),
    ("bytes that are too long", "Book.cover#", lambda w: w.saved(cover=b"12345")),
    ("a condition of the class", "Book#", lambda w: w.saved(pages=13)),
    ("a number below its minimum", "Author.age#",
     lambda w: (w.context.add(Author(surname="x", age=-4)), w.context.save())),
    ("what is mandatory left out", "Book.title#",
     lambda w: (w.context.insert_many(Book, {"pages": [5]}), w.context.save())),
    ("several rules", "", lambda w: w.saved(pages=0, title="Oh!")),
    ("too many objects", "Author.books#",
     lambda w: ([w.context.add(Book(title="x", author=w.author)) for _ in range(4)], w.context.save())),
    ("deleting what a rule denies, object by object", "Author.books#",
     lambda w: (w.context.delete(w.author), w.context.save())),
    ("equal values where they must be unique", "Book.code#",
     lambda w: ([w.context.add(Book(title="x", code=uuid.UUID(int=7))) for _ in range(2)], w.context.save())),
    ("validating an object", "Book.title#", lambda w: w.context.add(Book(title="Oh!")).validate()),
    ("validating an object in no context", "Book", lambda w: Book(title="x").validate()),
    ("validating a value", "Book.pages#", lambda w: w.book.validate_value("pages", 500)),
    ("validating a value of an unknown property", "Book.seiten", lambda w: w.book.validate_value("seiten", 500)),
    ("a value of a wrong type to validate", "Book.pages#", lambda w: w.book.validate_value("pages", "x")),
)


@mistake("a conflict", "Book#")
def _(w: World) -> None:
    other = w.store.create_context()
    other.query(Book).one().title = "a"
    w.book.title = "b"
    other.save()
    w.context.save()


@mistake("a change of a row that is gone", "Book#")
def _(w: World) -> None:
    other = w.store.create_context()
    other.query(Book).delete()
    w.book.title = "b"
    w.context.save()


@mistake("several conflicts", "")
def _(w: World) -> None:
    w.context.add(Book(title="y"))
    w.context.save()
    other = w.store.create_context()
    for each in other.query(Book):
        each.title = "a"
    for each in w.context.query(Book):
        each.title = "b"
    other.save()
    w.context.save()


@mistake("a relationship to a row that is gone", "Book.author")
def _(w: World) -> None:
    author = w.context.add(Author(surname="x"))
    w.context.save()
    w.store.create_context().query(Author).where(Author.surname == "x").delete()
    w.book.author = author
    w.context.save()


@mistake("a conflict with a parent", "Book#")
def _(w: World) -> None:
    child = w.context.create_child()
    child.query(Book).one().title = "a"
    w.book.title = "b"
    w.context.process()
    child.save()


many(
    ("undoing with nothing on", "", lambda w: w.context.undo()),
    ("a merge policy that is none", "", lambda w: setattr(w.context, "merge_policy", "mine")),
    ("a merge function that gives nothing", "", lambda w: _merged(w, lambda conflict: None)),
)


def _merged(w: World, policy: Callable[[Any], Any]) -> None:
    w.context.merge_policy = policy
    other = w.store.create_context()
    other.query(Book).one().title = "a"
    w.book.title = "b"
    other.save()
    w.context.save()


# Stores

@mistake("a folder that does not exist")
def _(w: World) -> None:
    quire.open(os.path.join(w.folder, "nowhere", "books.store"), MODELS)


@mistake("a file that must exist")
def _(w: World) -> None:
    w.file(must_exist=True)


@mistake("a folder for a file")
def _(w: World) -> None:
    quire.open(w.folder, MODELS)


@mistake("a file of another kind")
def _(w: World) -> None:
    with open(w.path, "w") as file:
        file.write("no database " * 1000)
    w.file()


@mistake("a database of another program")
def _(w: World) -> None:
    with sqlite3.connect(w.path) as connection:
        connection.execute("CREATE TABLE other(x)")
    connection.close()
    w.file()


@mistake("a read-only store")
def _(w: World) -> None:
    w.file().close()
    store = w.file(read_only=True)
    store.context.add(Author(surname="x"))
    store.context.save()


@mistake("a lock that is held")
def _(w: World) -> None:
    store = w.file(timeout=0.01)
    other = sqlite3.connect(w.path, isolation_level=None)
    w.others.append(other)
    other.execute("BEGIN IMMEDIATE")
    store.context.add(Author(surname="x"))
    store.context.save()


@mistake("no more descriptors")
def _(w: World) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = max(map(int, os.listdir("/proc/self/fd")))
    held = [os.open("/dev/null", os.O_RDONLY) for _ in range(3)]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(held) + 1, before[1]))
        while True:
            try:
                held.append(os.open("/dev/null", os.O_RDONLY))
            except OSError:
                break
        w.file()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for each in held:
            os.close(each)
        del used


many(
    ("a timeout that is none", "", lambda w: w.file(timeout=0)),
    ("a path that is a number", "", lambda w: quire.open(None, MODELS)),
    ("an empty path", "", lambda w: quire.open("", MODELS)),
    ("a path with a NUL", "", lambda w: quire.open("a\0b", MODELS)),
    ("no models", "", lambda w: quire.open(":memory:", [])),
    ("a model that is none", "", lambda w: quire.open(":memory:", [5])),
    ("a store in place of models", "", lambda w: quire.open(w.path, w.store)),
    ("memory without models", "", lambda w: quire.open(":memory:")),
    ("a file that is not there, without models", "", lambda w: quire.open(w.path + "none")),
    ("a model, not a list", "", lambda w: quire.open(":memory:", Book)),
    ("a model without those that it leads to", "Book.author", lambda w: quire.open(":memory:", [Book])),
    ("memory for reading only", "", lambda w: quire.open(":memory:", MODELS, read_only=True)),
    ("a store that was closed", "", lambda w: (w.store.close(), w.context.query(Book).all())),
    ("a context that was closed", "Book.title#", lambda w: (w.context.close(), setattr(w.book, "title", "x"))),
)


@mistake("another thread", "Book.title#")
def _(w: World) -> None:
    failures: list[BaseException] = []
    entered, done = threading.Event(), threading.Event()

    def progress(rows: int) -> None:
        entered.set()
        done.wait()

    def run() -> None:
        entered.wait()
        try:
            w.book.title = "x"
        except BaseException as failure:
            failures.append(failure)
        done.set()

    thread = threading.Thread(target=run)
    thread.start()
    w.context.insert_rows(Author, {"surname": ["x"] * 30000}, progress=progress)
    thread.join()
    raise failures[0]
