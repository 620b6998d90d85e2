"""Lists that a thread of the store reads, and large saves that it works out."""

from __future__ import annotations

import asyncio
import random
import unittest

import quire

from support import PATIENCE, await_readable

SEED = 20


class Book(quire.Model):
    title: quire.Attr[str]
    price: quire.Attr[float] = quire.attr(default=0.0)


class PreparedListTests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = quire.open(":memory:", [Book])
        self.addCleanup(self.store.close)
        self.books = self.store.context.query(Book).order_by("title")

    def insert(self, count: int, first: int = 0) -> None:
        with self.store.background() as context:
            context.insert_many(Book, {"title": [f"{number:06}" for number in range(first, first + count)]})
            context.save()

    def test_a_list_that_does_not_wait_is_empty_until_a_merge_shows_its_rows(self) -> None:
        self.insert(1000)
        live = self.books.live(wait=False)
        self.assertFalse(live.is_fetched)
        self.assertEqual((len(live), live.ids), (0, self.books.ids()[:0]))
        await_readable(self.store.context)
        self.assertFalse(live.is_fetched)
        self.store.context.merge()
        self.assertTrue(live.is_fetched)
        self.assertEqual(live.ids, self.books.ids())
        self.assertEqual([len(section) for section in live.sections], [1000])

    def test_unsaved_changes_are_in_the_list_that_arrives(self) -> None:
        self.insert(500)
        context = self.store.context
        context.delete(self.books.first())
        context.add(Book(title="000250 and a half"))
        live = self.books.live(wait=False)
        await_readable(context)
        context.merge()
        self.assertEqual(live.ids, self.books.ids())
        self.assertEqual(len(live), 500)

    def test_a_list_can_be_awaited(self) -> None:
        self.insert(300)

        async def arrive() -> quire.Results[Book]:
            return await self.books.live(wait=False)

        self.assertEqual(asyncio.run(arrive()).ids, self.books.ids())

    def test_a_list_can_be_awaited_while_the_program_merges_and_saves(self) -> None:
        self.insert(3000)
        context = self.store.context

        async def work() -> None:
            for number in range(20):
                context.add(Book(title=f"mine {number}"))
                context.save()
                context.merge()
                await asyncio.sleep(0)

        async def both() -> quire.Results[Book]:
            live, _ = await asyncio.gather(arrive(), work())
            return live

        async def arrive() -> quire.Results[Book]:
            return await self.books.live(wait=False)

        live = asyncio.run(both())
        self.assertEqual(live.ids, self.books.ids())
        self.assertEqual(len(live), 3020)

    def test_who_awaits_a_list_hears_that_it_was_cancelled_whoever_merges(self) -> None:
        # So many that it is not read before it is cancelled.
        self.insert(50000)
        context = self.store.context
        heard: list[object] = []

        async def arrive() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, told: heard.append(told.get("exception")))
            # Not the method itself, so that it comes before that of the wait.
            loop.add_reader(context, lambda: context.merge())
            cancellation = quire.Cancellation()
            live = self.books.watched(cancellation=cancellation).live(wait=False)
            cancellation.cancel()
            try:
                with self.assertRaises(quire.Cancelled):
                    await asyncio.wait_for(arrival(live), PATIENCE)
            finally:
                loop.remove_reader(context)
                live.close()

        async def arrival(live: quire.Results[Book]) -> quire.Results[Book]:
            return await live

        asyncio.run(arrive())
        self.assertTrue(all(isinstance(each, quire.Cancelled) for each in heard), heard)

    def test_an_automatic_context_shows_what_it_showed_until_a_large_save_is_worked_out(self) -> None:
        context = self.store.context
        context.merges_automatically = True
        live = self.books.live()
        told: list[int] = []
        live.on_change(lambda change: told.append(len(change)))
        self.insert(2000)
        await_readable(context)
        # No query advances the context.
        self.assertEqual((self.books.count(), told), (0, []))
        context.process()
        self.assertEqual(self.books.count(), 2000)
        self.assertEqual(live.ids, self.books.ids())
        self.assertEqual(told, [2000])
        live.close()

    def test_lists_are_as_fetched_whatever_others_save(self) -> None:
        print(f"prepared lists: seed {SEED}")
        dice = random.Random(SEED)
        context = self.store.context
        live = self.books.live(section_by="price")
        context.fileno()
        for turn in range(30):
            with self.store.background() as other:
                if dice.random() < 0.7 or not len(live):
                    titles = [f"{dice.randrange(10 ** 6)}" for _ in range(dice.choice([3, 300, 900]))]
                    prices = [float(dice.randrange(5)) for _ in titles]
                    other.insert_many(Book, {"title": titles, "price": prices})
                found = list(other.query(Book))
                for book in dice.sample(found, min(len(found), dice.choice([1, 5, 400]))):
                    if dice.random() < 0.3:
                        other.delete(book)
                    else:
                        book.price = float(dice.randrange(5))
                other.save()
            held = [book for book in list(self.books[:50]) if dice.random() < 0.5]
            if held and dice.random() < 0.3:
                dice.choice(held).title = f"{dice.randrange(10 ** 6)}"
                context.process()
            await_readable(context)
            context.merge()
            fetched = context.query(Book).order_by("price", "title")
            self.assertEqual(list(live.ids), list(fetched.ids()), f"turn {turn}")
            if dice.random() < 0.3:
                context.rollback()


if __name__ == "__main__":
    unittest.main()
