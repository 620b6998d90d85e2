"""Contexts that stay at one moment, and contexts that are put at that of another one."""

from __future__ import annotations

import sqlite3
import unittest

import quire

from support import MODELS, FileTestCase, Quote, Recording, StoreTestCase


class PinTests(StoreTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.context = self.store.context
        self.quote = self.context.add(Quote(contents="one"))
        self.context.save()
        self.other = self.store.create_context()
        self.assertEqual(self.count(self.other), 1)

    def count(self, context: quire.Context) -> int:
        return context.query(Quote).count()

    def add(self, contents: str) -> Quote:
        quote = self.context.add(Quote(contents=contents))
        self.context.save()
        return quote

    def test_a_pinned_context_does_not_merge_automatically(self) -> None:
        self.other.merges_automatically = True
        self.other.pin()
        self.assertTrue(self.other.is_pinned)
        self.add("two")
        self.assertEqual(self.count(self.other), 1)
        self.other.unpin()
        self.assertFalse(self.other.is_pinned)
        # No query advances a context, whether it merges automatically or not.
        self.assertEqual(self.count(self.other), 1)
        self.other.process()
        self.assertEqual(self.count(self.other), 2)
        self.other.unpin()

    def test_pinning_to_the_present_begins_with_the_next_read(self) -> None:
        fresh = self.store.create_context()
        fresh.pin()
        self.add("two")
        self.assertEqual(self.count(fresh), 2)
        self.add("three")
        self.assertEqual(self.count(fresh), 2)
        # One that has read stays at what it shows.
        self.other.pin()
        self.assertEqual(self.count(self.other), 1)

    def test_a_moment_of_another_context_is_gone_to(self) -> None:
        found = self.other.get(Quote, self.quote.id)
        self.assertEqual(found.price, 1)
        self.quote.price = 2
        second = self.add("two")
        third = self.store.create_context()
        self.assertEqual(self.count(third), 2)
        live = self.other.query(Quote).order_by(Quote.contents).live()
        self.addCleanup(live.close)
        told = Recording(live)
        moment = third.moment
        self.quote.price = 3
        self.add("three")
        self.other.pin(moment)
        self.assertEqual(self.other.moment, moment)
        self.assertEqual(told.take(), [["Insert 0.1", "Update 0.0/0.0"]])
        self.assertEqual((len(live), found.price), (2, 2))
        self.assertEqual(self.other.get(Quote, second.id).contents, "two")
        self.other.merge()
        self.assertEqual(told.take(), [["Insert 0.1", "Update 0.0/0.0"]])
        self.assertEqual((len(live), found.price), (3, 3))
        self.assertTrue(self.other.is_pinned)
        self.assertNotEqual(self.other.moment, moment)

    def test_an_earlier_moment_is_gone_back_to(self) -> None:
        self.quote.price = 2
        second = self.add("two")
        self.assertEqual(self.other.get(Quote, self.quote.id).price, 1)
        live = self.context.query(Quote).order_by(Quote.contents).live()
        self.addCleanup(live.close)
        told = Recording(live)
        self.context.pin(self.other.moment)
        self.assertEqual(told.take(), [["Delete 0.1", "Update 0.0/0.0"]])
        self.assertTrue(second.is_deleted)
        self.assertEqual(self.quote.price, 1)
        self.context.merge()
        self.assertEqual(told.take(), [["Insert 0.1", "Update 0.0/0.0"]])
        self.assertFalse(second.is_deleted)
        self.assertEqual((second.contents, self.quote.price), ("two", 2))

    def test_saves_merges_and_a_reset_leave_a_context_pinned_where_they_move_it(self) -> None:
        self.other.merges_automatically = True
        self.other.pin()
        for number, move in enumerate([self.other.merge, self.other.reset, self.other.refresh_all, self.save_other]):
            with self.subTest(number):
                before = self.count(self.other)
                self.add("more")
                self.assertEqual(self.count(self.other), before)
                move()
                self.assertTrue(self.other.is_pinned)
                now = self.count(self.other)
                self.assertGreater(now, before)
                self.add("still more")
                self.assertEqual(self.count(self.other), now)
                self.other.merge()

    def save_other(self) -> None:
        self.other.add(Quote(contents="theirs"))
        self.other.save()

    def test_a_block_pins_a_context(self) -> None:
        self.other.merges_automatically = True
        with self.other.pinned():
            self.add("two")
            self.assertEqual(self.count(self.other), 1)
            with self.other.pinned():
                pass
            self.assertTrue(self.other.is_pinned)
        self.assertFalse(self.other.is_pinned)
        # No query advances a context, whether it merges automatically or not.
        self.other.process()
        self.assertEqual(self.count(self.other), 2)
        self.other.pin()
        with self.assertRaises(KeyError), self.other.pinned(self.other.moment):
            raise KeyError
        self.assertTrue(self.other.is_pinned)
        with self.other.pinned():
            self.other.close()

    def test_what_is_no_moment_to_be_pinned_at(self) -> None:
        moment = self.other.moment
        self.add("two")
        self.other.merge()
        self.add("three")
        with self.assertRaisesRegex(quire.NotFound, "no longer there"):
            self.other.pin(moment)
        self.assertEqual((self.count(self.other), self.other.is_pinned), (2, False))
        with quire.open(":memory:", MODELS) as store, self.assertRaisesRegex(quire.InvalidArgument, "another store"):
            self.other.pin(store.context.moment)
        with self.assertRaises(TypeError):
            self.other.pin("now")  # type: ignore[arg-type]
        child = self.other.create_child()
        for call in (child.pin, lambda: child.moment, lambda: child.pin(self.other.moment)):
            with self.assertRaisesRegex(quire.Unsupported, "parent"):
                call()
        self.assertFalse(child.is_pinned)
        child.unpin()
        with self.other.transaction():
            for call in (self.other.pin, lambda: self.other.moment):
                with self.assertRaises(quire.InvalidState):
                    call()
        self.assertFalse(moment == 5)
        moment.close()
        with self.assertRaises(quire.StoreClosed):
            self.other.pin(moment)
        self.store.close()
        for call in (self.other.pin, self.other.unpin, lambda: self.other.moment, lambda: self.other.is_pinned):
            with self.assertRaises(quire.StoreClosed):
                call()

    def test_a_handler_that_fails_leaves_the_context_pinned_there(self) -> None:
        self.add("two")
        third = self.store.create_context()
        moment = third.moment
        live = self.other.query(Quote).live()
        self.addCleanup(live.close)

        @live.on_change
        def fail(changes: quire.ChangeSet[Quote]) -> None:
            raise KeyError

        with self.assertRaises(KeyError):
            self.other.pin(moment)
        self.assertEqual((self.count(self.other), self.other.is_pinned), (2, True))

    def test_a_block_ends_the_pin_where_a_handler_fails_at_its_beginning(self) -> None:
        self.add("two")
        moment = self.store.create_context().moment
        live = self.other.query(Quote).live()
        self.addCleanup(live.close)

        @live.on_change
        def fail(changes: quire.ChangeSet[Quote]) -> None:
            raise KeyError

        with self.assertRaises(KeyError), self.other.pinned(moment):
            self.fail("the block has begun")
        self.assertEqual((self.count(self.other), self.other.is_pinned), (2, False))


class FileTests(FileTestCase):
    def test_without_a_write_ahead_log_a_context_cannot_be_pinned(self) -> None:
        quire.open(self.path, MODELS).close()
        outside = sqlite3.connect(self.path, isolation_level=None)
        self.addCleanup(outside.close)
        outside.execute("PRAGMA journal_mode = DELETE")
        outside.execute("BEGIN")
        outside.execute("SELECT count(*) FROM ZQUOTE").fetchall()
        with quire.open(self.path, MODELS) as store:
            for call in (store.context.pin, lambda: store.context.moment):
                with self.assertRaisesRegex(quire.Unsupported, "write-ahead log"):
                    call()
            self.assertFalse(store.context.is_pinned)


if __name__ == "__main__":
    unittest.main()
