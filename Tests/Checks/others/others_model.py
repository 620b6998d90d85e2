"""The model of the check, and a store whose live lists are brought up to date when a descriptor says so."""

from __future__ import annotations

import select
import time
from typing import Any, Optional

import quire


class Author(quire.Model):
    name: quire.Attr[str]
    books: quire.ToMany["Book"] = quire.relation(inverse="author")
    tags: quire.ToMany["Tag"] = quire.relation(inverse="authors", ordered=True)
    pins: quire.ToMany["Tag"] = quire.relation()


class Book(quire.Model):
    number: quire.Attr[int]
    pages: quire.Attr[int]
    author: quire.ToOne[Optional[Author]] = quire.relation(inverse="books")


class Tag(quire.Model):
    name: quire.Attr[str]
    authors: quire.ToMany[Author] = quire.relation(inverse="tags")


MODELS = [Author, Book, Tag]
MARK = "mark "
"""One tag is named so, with the number of the last commit behind it."""
PATIENCE = 120
"""What has not come to the descriptor after so many seconds never does."""


class Difference(Exception):
    """What a list shows, and a new fetch does not."""


class Watcher:
    def __init__(self, path: str) -> None:
        self.store = quire.open(path, MODELS)
        self.context = self.store.context
        self.context.merges_automatically = True
        self.lists = [query.live() for _, query in self._queries(self.context)]
        # Held and read, so that it shows another name only when the context has moved.
        self._mark = self.lists[0][0]
        assert self.mark >= 0
        # Objects that have read their members.
        self.kept = list(self.context.query(Author))
        for author in self.kept:
            len(author.books), len(author.tags), len(author.pins)
        self._poll = select.poll()
        self._poll.register(self.context.fileno(), select.POLLIN)
        self.wakes = 0

    @staticmethod
    def _queries(context: quire.Context) -> list[tuple[str, Any]]:
        return [
            ("marks", context.query(Tag).where("name BEGINSWITH %@", MARK)),
            ("books", context.query(Book).order_by("number")),
            ("long books",
             context.query(Book).where("pages > 500 AND author.name != 'A0'").order_by("-pages", "number")),
            ("authors", context.query(Author).where("books.@count > 2 OR tags.name CONTAINS '1'").order_by("name")),
        ]

    @property
    def mark(self) -> int:
        """The last commit that the lists show."""
        return int(self._mark.name[len(MARK):])

    def wait(self, mark: int) -> Optional[float]:
        """Waits until a commit shows; returns when it did, or None when it never does."""
        while self.mark < mark:
            if not self._poll.poll(PATIENCE * 1000):
                return None
            self.wakes += 1
            self.context.process()
        return time.monotonic()

    def follow(self) -> None:
        """Processes until the lists agree with new fetches, as long as the descriptor becomes readable for it."""
        while True:
            try:
                return self.compare()
            # Without a log the file has the newest commit alone. A list may hold a row that is gone, or lose it here.
            except (Difference, quire.NotFound, quire.InvalidState):
                if not self._poll.poll(PATIENCE * 1000):
                    raise
            self.context.process()

    def compare(self) -> None:
        """With new fetches by another context. No other program commits meanwhile."""
        with self.store.create_context() as fresh:
            for (name, query), shown in zip(self._queries(fresh), self.lists):
                self._same(name, [_values(each) for each in shown], [_values(each) for each in query])
            for author in self.kept:
                there = fresh.query(Author).where("name = %@", author.name).one()
                for key in ("books", "tags", "pins"):
                    # Tags are ordered.
                    arranged: Any = list if key == "tags" else sorted
                    self._same(
                        f"{key} of an author", arranged(each.id for each in getattr(author, key)),
                        arranged(each.id for each in getattr(there, key)))

    @staticmethod
    def _same(name: str, shown: list[Any], wanted: list[Any]) -> None:
        if shown != wanted:
            raise Difference(
                f"{name}: {[each for each in shown if each not in wanted][:3]} are shown, and a new fetch has "
                f"{[each for each in wanted if each not in shown][:3]} ({len(shown)} and {len(wanted)})")

    def close(self) -> None:
        """Once more does nothing."""
        try:
            self.store.close()
        except quire.FileMoved:
            pass


def _values(each: Any) -> tuple[Any, ...]:
    if isinstance(each, Book):
        return each.id, each.number, each.pages, None if each.author is None else each.author.id
    return each.id, each.name
