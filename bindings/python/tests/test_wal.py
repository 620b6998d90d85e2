"""The write-ahead log: its limit, and what is told of it."""

from __future__ import annotations

import os
import sqlite3
import unittest
from contextlib import closing

import quire

from support import MODELS, FileTestCase, Quote


class LogTests(FileTestCase):
    def fill(self, store: quire.Store, times: int) -> None:
        for _ in range(times):
            with store.background() as context:
                context.add(Quote(contents="a" * 5000))

    def test_another_program_cannot_empty_the_log_while_a_context_shows_a_moment(self) -> None:
        with quire.open(self.path, MODELS) as store, closing(sqlite3.connect(self.path, timeout=0)) as other:
            self.fill(store, 1)
            reader = store.create_context()
            self.assertEqual(reader.query(Quote).count(), 1)
            self.fill(store, 1)
            self.assertEqual(other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0], 1)
            reader.close()
            store.context.close()
            self.assertEqual(other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0], 0)

    def test_a_list_that_cannot_be_read_anew_keeps_its_rows_and_is_read_again_later(self) -> None:
        with quire.open(self.path, MODELS) as store, closing(sqlite3.connect(self.path)) as other:
            self.fill(store, 2)
            context = store.create_context()
            live = context.query(Quote).order_by(Quote.contents).live()
            ids = list(live.ids)
            other.executescript(
                "UPDATE ZQUOTE SET ZPRICE = 7, Z_OPT = Z_OPT + 1; DELETE FROM ZQUOTE WHERE Z_PK = 1;"
                "ALTER TABLE ZQUOTE RENAME COLUMN ZCONTENTS TO ZLOST;")
            with self.assertRaises(quire.DatabaseError):
                context.merge()
            self.assertEqual(list(live.ids), ids)
            other.execute("ALTER TABLE ZQUOTE RENAME COLUMN ZLOST TO ZCONTENTS")
            context.merge()
            self.assertEqual((list(live.ids), live.values("price")), ([2], [(7,)]))

    def test_the_limit_of_the_log_ends_moments_but_for_pinned_ones(self) -> None:
        with quire.open(self.path, MODELS, wal_limit=65536) as store:
            reader = store.create_context()
            self.assertEqual(reader.query(Quote).count(), 0)
            reader.pin()
            self.fill(store, 60)
            reader.process()
            self.assertEqual(reader.query(Quote).count(), 0)
            state = store.wal_info
            self.assertEqual((state.limit, state.older_count, state.pinned_count, state.lag), (65536, 1, 1, 60))
            self.assertGreater(state.size, 2 * 65536)
            self.assertGreater(state.unfolded_size, 0)
            self.assertGreaterEqual(os.path.getsize(self.path + "-wal"), state.size)
            reader.unpin()
            while store.wal_info.older_count or store.wal_info.size >= 65536:
                self.fill(store, 1)
            self.assertEqual((store.wal_info.pinned_count, store.wal_info.lag), (0, 0))
            reader.process()
            self.assertGreater(reader.query(Quote).count(), 60)

    def test_limits_that_are_none(self) -> None:
        for limit in (-1, 1, 65535, 2**63):
            with self.subTest(limit), self.assertRaises(quire.InvalidArgument):
                quire.open(":memory:", MODELS, wal_limit=limit)
        with self.assertRaises(TypeError):
            quire.open(":memory:", MODELS, wal_limit=1e6)  # type: ignore[arg-type]
        for limit, expected in ((0, 16 << 20), (65536, 65536), (1 << 30, 1 << 30)):
            with quire.open(":memory:", MODELS, wal_limit=limit) as store:
                self.assertEqual(store.wal_info.limit, expected)
        with self.assertRaises(quire.StoreClosed):
            store.wal_info

    def test_a_checkpoint_empties_the_log_and_says_who_keeps_it(self) -> None:
        with quire.open(self.path, MODELS, timeout=0.05) as store:
            reader = store.create_context()
            self.assertEqual(reader.query(Quote).count(), 0)
            self.fill(store, 3)
            with self.assertRaisesRegex(quire.Busy, "1 context of this process shows an older moment. Merge it first"):
                store.checkpoint()
            reader.pin()
            with self.assertRaisesRegex(quire.Busy, "an older moment, 1 of them pinned"):
                store.checkpoint()
            reader.merge()
            store.checkpoint()
            self.assertEqual((os.path.getsize(self.path + "-wal"), store.wal_info.size), (0, 0))
            # The log begins anew beside contexts that show the newest commit.
            self.fill(store, 1)
            self.assertEqual(reader.query(Quote).count(), 3)
            reader.merge()
            self.assertEqual(reader.query(Quote).count(), 4)
            with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
                other.execute("BEGIN")
                self.assertEqual(other.execute("SELECT count(*) FROM ZQUOTE").fetchone(), (4,))
                with self.assertRaisesRegex(quire.Busy, "another process or connection reads it"):
                    store.checkpoint()
                other.execute("ROLLBACK")
                other.execute("BEGIN IMMEDIATE")
                with self.assertRaisesRegex(quire.Busy, "another process or connection writes to it"):
                    store.checkpoint()
            store.checkpoint()
        with self.assertRaises(quire.StoreClosed):
            store.checkpoint()

    def test_compact_gives_back_what_deletions_left(self) -> None:
        for path in (self.path, ":memory:"):
            with self.subTest(path), quire.open(path, MODELS) as store:
                context, kept = store.context, store.create_context()
                context.insert_rows(
                    Quote, {"contents": [f"{i}" + "a" * 5000 for i in range(500)], "price": list(range(500))})
                context.query(Quote).where("price < 400").delete()
                kept.merge()
                live = kept.query(Quote).order_by(Quote.price).live()
                store.checkpoint()
                size = 0 if path == ":memory:" else os.path.getsize(path)
                before = [(each.id, each.price, each.contents) for each in live]
                freed = store.compact()
                self.assertGreater(freed, 400 * 5000)
                if path != ":memory:":
                    self.assertEqual(os.path.getsize(path), size - freed)
                    self.assertEqual(os.path.getsize(path + "-wal"), 0)
                self.assertEqual([(each.id, each.price, each.contents) for each in live], before)
                self.assertEqual(store.check(), 0)
                self.assertEqual(kept.query(Quote).where("contents BEGINSWITH '450a'").count(), 1)
                self.assertEqual((store.compact(), kept.has_changes), (0, False))
                context.add(Quote(contents="new", price=1000))
                context.save()
                kept.merge()
                self.assertEqual((len(live), live[-1].contents), (101, "new"))

    def test_what_can_be_neither_checkpointed_nor_compacted(self) -> None:
        with quire.open(self.path, MODELS):
            pass
        with quire.open(self.path, MODELS, read_only=True) as store:
            for call in (store.checkpoint, store.compact):
                self.assertRaises(quire.ReadOnly, call)
        with quire.open(self.path + ".xml", MODELS, type="xml") as store:
            for call in (store.checkpoint, store.compact):
                self.assertRaisesRegex(quire.Unsupported, "an XML store has neither", call)
        with quire.open(self.path, MODELS) as store, store.context.transaction():
            for call in (store.checkpoint, store.compact):
                self.assertRaisesRegex(quire.Busy, "A transaction of the store .* is open on this thread", call)
        with closing(sqlite3.connect(self.path)) as other:
            other.executescript("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = 0; VACUUM;")
        with quire.open(self.path, MODELS) as store:
            self.assertEqual(store.compact(), 0)
            store.context.insert_rows(Quote, {"contents": ["a" * 5000] * 10})
            store.context.query(Quote).delete()
            self.assertRaisesRegex(quire.Unsupported, "created without incremental vacuum", store.compact)
            store.checkpoint()

    def test_a_file_without_a_log_has_none_to_tell_of(self) -> None:
        quire.open(self.path, MODELS).close()
        outside = sqlite3.connect(self.path, isolation_level=None)
        self.addCleanup(outside.close)
        outside.execute("PRAGMA journal_mode = DELETE")
        outside.execute("BEGIN")
        outside.execute("SELECT count(*) FROM ZQUOTE").fetchall()
        with quire.open(self.path, MODELS, wal_limit=65536) as store:
            self.assertEqual(store.context.query(Quote).count(), 0)
            self.assertEqual(store.wal_info, quire.WALInfo(0, 0, 0, 0, 0, 0, 0))
            store.checkpoint()
            self.assertEqual(store.compact(), 0)


if __name__ == "__main__":
    unittest.main()
