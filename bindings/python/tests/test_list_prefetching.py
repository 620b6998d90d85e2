"""How many statements a live list takes for its rows, and for what they lead to."""

from __future__ import annotations

import gc
import unittest

import quire
from quire import sections

from support import MODELS, Author, FileTestCase, Quote


class StatementTests(FileTestCase):
    """2,000 quotes, each by an author of its own."""

    COUNT = 2000

    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        self.names = [f"author {number:04}" for number in range(self.COUNT)]
        with self.store.background() as filling:
            for number, name in enumerate(self.names):
                filling.add(Quote(contents=f"text {number:04}", author=filling.add(Author(name=name))))
        self.context = self.store.create_context()
        self.read: list[str] = []
        self.store.set_log(lambda sql, *rest: self.read.append(sql))
        self.addCleanup(lambda: self.store.closed or self.store.set_log(None))
        self.quotes = self.context.query(Quote).order_by(Quote.contents)
        # With its connection, which takes a statement of its own.
        self.quotes.count()
        self.statements()

    def statements(self) -> int:
        """How many there were since the last time."""
        found = len(self.read)
        self.read.clear()
        return found

    def test_rows_with_what_comes_with_them_take_a_statement_for_each_step(self) -> None:
        for section_by in None, sections.by_letter("contents"):
            live = self.quotes.prefetch("author").live(section_by=section_by)
            self.assertEqual([quote.author.name for quote in live], self.names)
            self.assertEqual(self.statements(), 3)
            gc.collect()
        live = self.quotes.prefetch("author").live(section_by=sections.by_letter("contents"))
        self.assertEqual([quote.author.name for section in live.sections for quote in section], self.names)
        self.assertEqual(self.statements(), 3)

    def test_members_come_with_the_rows(self) -> None:
        live = self.context.query(Author).order_by(Author.name).prefetch("quotes").live()
        self.assertEqual([[quote.contents for quote in author.quotes] for author in live][7], ["text 0007"])
        self.assertLessEqual(self.statements(), 4)

    def test_windows_are_read_with_those_behind_them(self) -> None:
        live = self.quotes.prefetch("author").live()
        self.statements()
        names = [quote.author.name for first in range(0, self.COUNT, 50) for quote in live[first : first + 50]]
        self.assertEqual(names, self.names)
        self.assertLess(self.statements(), 2 * self.COUNT // 50)

    def test_what_comes_with_them_stays_as_long_as_an_object(self) -> None:
        quote = self.quotes.prefetch("author").live()[3]
        gc.collect()
        self.statements()
        self.assertEqual(quote.author.name, "author 0003")
        self.assertEqual(self.statements(), 0)

    def test_objects_of_another_query_are_read_with_what_comes_with_them(self) -> None:
        kept = self.quotes.all()
        live = self.quotes.prefetch("author").live()
        self.statements()
        self.assertEqual([quote.author.name for quote in live], self.names)
        self.assertLessEqual(self.statements(), 2)
        self.assertIs(live[0], kept[0])

    def test_without_prefetching_rows_are_read_some_at_a_time(self) -> None:
        live = self.quotes.live()
        self.assertEqual([quote.author.name for quote in live], self.names)
        # One for each author, and no second one for each quote.
        self.assertLess(self.statements(), self.COUNT + self.COUNT // 50)


if __name__ == "__main__":
    unittest.main()
