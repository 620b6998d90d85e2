"""Queries of live lists that are read in the background."""

from __future__ import annotations

import asyncio
import select
import unittest
from typing import Any, Optional

import quire
from quire import sections

from support import MODELS, Author, FileTestCase, Quote

COUNT = 1000


class BackgroundQueryTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.open(self.path, MODELS)
        self.addCleanup(self.store.close)
        with self.store.background() as filling:
            filling.insert_rows(
                Quote, {"contents": [f"{n:04}" for n in range(COUNT)], "price": [n % 10 for n in range(COUNT)]})
        self.context = self.store.context
        self.quotes = self.context.query(Quote).order_by(Quote.contents)
        self.live = self.quotes.live()
        self.told: list[Any] = []

        @self.live.on_change
        def note(change: Any) -> None:
            self.told.append((len(change), [quote.contents for quote in self.live[:2]]))

    def merge_until_shown(self, live: Optional[quire.Results[Quote]] = None) -> None:
        live = live or self.live
        while live.awaits_query:
            select.select([self.context], [], [])
            self.context.merge()

    def test_the_list_goes_on_until_a_merge_shows_the_query(self) -> None:
        self.live.set_query(self.quotes.where(Quote.price == 3), wait=False)
        self.assertEqual((len(self.live), self.live.awaits_query, self.told), (COUNT, True, []))
        self.assertEqual(self.live[1].contents, "0001")
        self.merge_until_shown()
        self.assertEqual([quote.contents for quote in self.live], [f"{n:04}" for n in range(3, COUNT, 10)])
        self.assertEqual(self.told, [(COUNT * 9 // 10, ["0003", "0013"])])
        self.context.add(Quote(contents="00", price=3))
        self.context.save()
        self.assertEqual(self.told[1:], [(1, ["00", "0003"])])

    def test_the_last_query_of_several_is_shown(self) -> None:
        for price in range(10):
            self.live.set_query(self.quotes.where(Quote.price == price), wait=False)
        self.merge_until_shown()
        self.assertEqual({quote.price for quote in self.live}, {9})
        self.assertEqual(len(self.told), 1)
        self.live.set_query(self.quotes.where(Quote.price == 1), wait=False)
        self.live.set_query(self.quotes.where(Quote.price == 2))
        self.assertEqual(({quote.price for quote in self.live}, self.live.awaits_query), ({2}, False))
        self.context.merge()
        self.assertEqual({quote.price for quote in self.live}, {2})

    def test_sections_orders_and_classes_are_those_of_the_query_that_is_shown(self) -> None:
        self.live.set_query(self.quotes.prefetch("author"), sections.by_letter("contents"), wait=False)
        self.assertEqual([section.name for section in self.live.sections], [""])
        self.merge_until_shown()
        self.assertEqual([section.name for section in self.live.sections], ["#"])
        self.assertEqual(self.told, [(COUNT, ["0000", "0001"])])
        self.live.set_query(self.context.query(Quote).order_by(Quote.contents.desc()), wait=False)
        self.merge_until_shown()
        self.assertEqual(self.live[0].contents, f"{COUNT - 1:04}")

    def test_what_fails_raises_from_the_merge_and_changes_nothing(self) -> None:
        cancellation = quire.Cancellation()
        self.live.set_query(self.quotes.where(Quote.price == 3).watched(cancellation=cancellation), wait=False)
        cancellation.cancel()
        try:
            self.merge_until_shown()
        except quire.Cancelled:
            self.assertEqual((len(self.live), self.told), (COUNT, []))
        else:
            self.assertEqual(len(self.live), COUNT // 10)
        with self.assertRaises(quire.InvalidArgument):
            self.live.set_query(self.context.query(Author), wait=False)  # type: ignore[arg-type]
        self.assertFalse(self.live.awaits_query)

    def test_an_event_loop_can_wait_for_it(self) -> None:
        async def search() -> int:
            live = await self.quotes.live(wait=False)
            live.set_query(self.quotes.where(Quote.price == 3), wait=False)
            self.assertIs(await live, live)
            return len(live)

        self.assertEqual(asyncio.run(search()), COUNT // 10)

    def test_what_has_a_limit_is_read_at_once(self) -> None:
        self.live.set_query(self.quotes.limit(5), wait=False)
        self.assertEqual((len(self.live), self.live.awaits_query, len(self.told)), (5, False, 1))

    def test_changes_meanwhile_are_told_before(self) -> None:
        self.live.set_query(self.quotes.where(Quote.price == 3), wait=False)
        self.context.add(Quote(contents="00", price=3))
        self.context.process()
        self.assertEqual(self.told, [(1, ["00", "0000"])])
        self.merge_until_shown()
        self.assertEqual(self.told[1:], [(COUNT * 9 // 10, ["00", "0003"])])


if __name__ == "__main__":
    unittest.main()
