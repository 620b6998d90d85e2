"""What the mistakes of a caller are made in, and the list of them.

Each is a text, what the error knows of the offender beyond words, and what makes the mistake in a `World` of its own.
The offender is written `entity.key#@row`: `#` for the id of an object, `@` and a number for a row that was given.
"""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Callable, NamedTuple, Optional

import quire


class Author(quire.Model):
    surname: quire.Attr[str]
    age: quire.Attr[Optional[int]] = quire.attr(default=None, type=quire.Integer16, minimum=-3)
    books: quire.ToMany["Book"] = quire.relation(inverse="author", on_delete="deny", maximum=3)
    shelf: quire.ToMany["Book"] = quire.relation(inverse="shelves", ordered=True)
    book_count: quire.Attr[Optional[int]] = quire.derived("books.@count")


class Book(quire.Model):
    author: quire.ToOne["Author | None"] = quire.relation(inverse="books")
    shelves: quire.ToMany["Author"] = quire.relation(inverse="shelf")
    title: quire.Attr[str] = quire.attr(max_length=20, pattern="[^!]*")
    note: quire.Attr[Optional[str]] = quire.attr(default=None, name="remark", max_length=30)
    price: quire.Attr[Optional[Decimal]] = quire.attr(default=None, minimum=Decimal("-3"))
    pages: quire.Attr[Optional[int]] = quire.attr(default=None, minimum=1, maximum=100)
    weight: quire.Attr[Optional[float]] = quire.attr(default=None, type=quire.Float, maximum=9.5)
    lent: quire.Attr[bool] = quire.attr(default=False)
    printed: quire.Attr[Optional[datetime]] = quire.attr(
        default=None, maximum=datetime(2030, 1, 1, tzinfo=timezone.utc))
    code: quire.Attr[Optional[uuid.UUID]] = quire.attr(default=None)
    cover: quire.Attr[Optional[bytes]] = quire.attr(default=None, max_length=4)
    draft: quire.Attr[Optional[str]] = quire.attr(default=None, transient=True)
    __unique__ = ["code"]
    __rules__ = [("pages == nil OR pages != 13", "A book has not 13 pages.")]
    __templates__ = {"cheaper": "price < $limit"}


class Animal(quire.Model):
    __abstract__ = True
    called: quire.Attr[str]


class Dog(Animal):
    tricks: quire.Attr[int] = quire.attr(default=0)


class Stranger(quire.Model):
    called: quire.Attr[str]


MODELS = [Author, Book, Animal, Dog]


class World:
    """A store in memory with an author of a saved book; another store; and a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.path = os.path.join(folder, "books.store")
        self.store = quire.open(":memory:", MODELS)
        self.context = self.store.context
        self.author = self.context.add(Author(surname="Goethe"))
        self.book = self.context.add(Book(title="Faust", author=self.author))
        self.dog = self.context.add(Dog(called="Rex"))
        self.context.save()
        self.books = self.context.query(Book)
        self.authors = self.context.query(Author)
        self.others: list[Any] = []

    def keep(self, store: quire.Store) -> quire.Store:
        self.others.append(store)
        return store

    def file(self, *models: type[quire.Model], **options: Any) -> quire.Store:
        """A store in a file."""
        return self.keep(quire.open(self.path, models or MODELS, **options))

    def saved(self, **values: Any) -> None:
        """Saves a book with these values."""
        self.context.add(Book(**{"title": "Egmont", **values}))
        self.context.save()

    def close(self) -> None:
        for each in reversed(self.others):
            each.close()
        self.store.close()


@contextmanager
def world() -> Iterator[World]:
    with tempfile.TemporaryDirectory() as folder:
        made = World(folder)
        try:
            yield made
        finally:
            made.close()


class Mistake(NamedTuple):
    title: str
    offender: str
    make: Callable[[World], object]


MISTAKES: list[Mistake] = []


def mistake(title: str, offender: str = "") -> Callable[[Callable[[World], object]], Callable[[World], object]]:
    """Adds a mistake that takes more than an expression."""

    def keep(make: Callable[[World], object]) -> Callable[[World], object]:
        MISTAKES.append(Mistake(title, offender, make))
        return make

    return keep


def many(*rows: tuple[str, str, Callable[[World], object]]) -> None:
    """Adds mistakes: titles, offenders and how they are made."""
    MISTAKES.extend(Mistake(*row) for row in rows)


def assign(name: str, value: object) -> Callable[[World], object]:
    """Sets a property of the book."""
    return lambda w: setattr(w.book, name, value)
