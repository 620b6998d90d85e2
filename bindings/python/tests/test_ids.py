"""Ids: which object gets which, and what happens when another program is in between."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import quire

from support import Author, FileTestCase, Quote


class IdTests(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.store = quire.Store(self.path, [Author, Quote], timeout=0.05)
        self.context = self.store.create_context()

    def tearDown(self) -> None:
        self.store.close()
        super().tearDown()

    def add(self, contents: str, context: quire.Context | None = None) -> Quote:
        return (context or self.context).add(Quote(contents=contents))

    def column(self, sql: str) -> list:
        with closing(sqlite3.connect(self.path)) as connection:
            return [row[0] for row in connection.execute(sql)]

    def test_ids_count_up_whatever_context_and_store_they_are_of(self) -> None:
        other = self.store.create_context()
        first, second, third = self.add("a"), self.add("b", other), self.add("c")
        with quire.Store(self.path, [Author, Quote]) as elsewhere:
            context = elsewhere.create_context()
            far = self.add("d", context)
            context.save()
            ids = [first.id, second.id, third.id, far.id]
            self.assertEqual(ids, sorted(set(ids)))
            other.save(), self.context.save()
            self.assertEqual(self.column("SELECT Z_PK FROM ZQUOTE ORDER BY ZCONTENTS"), ids)

    def test_a_store_that_was_closed_leaves_no_gap(self) -> None:
        for round in range(3):
            self.add(str(round))
            self.context.save()
            self.assertGreater(self.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Quote'")[0], round + 1)
            self.store.close()
            self.assertEqual(self.column("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Quote'"), [round + 1])
            self.store = quire.Store(self.path, [Author, Quote])
            self.context = self.store.create_context()
        self.assertEqual(self.column("SELECT Z_PK FROM ZQUOTE ORDER BY Z_PK"), [1, 2, 3])

    def test_many_ids_follow_each_other(self) -> None:
        self.add("a")
        self.assertEqual(list(self.context.insert_many(Quote, {"contents": [str(n) for n in range(500)]})),
                         list(range(2, 502)))
        self.assertEqual(self.add("b").id, 502)
        self.assertEqual(list(self.context.insert_rows(Quote, {"contents": ["x", "y"]})), [503, 504])
        self.context.save()
        self.assertEqual(self.column("SELECT Z_PK FROM ZQUOTE ORDER BY Z_PK"), list(range(1, 505)))

    def test_while_another_program_writes_ids_are_temporary(self) -> None:
        live = self.context.query(Quote).order_by("contents").live()
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            first, second = self.add("a"), self.add("b")
            many = self.context.insert_many(Quote, {"contents": ["c", "d"]})
            connection.execute("ROLLBACK")
        self.assertEqual([first.id, second.id, *many], [-1, -2, -3, -4])
        self.assertIs(self.context.get(Quote, -1), first)
        self.context.process()
        self.assertEqual(list(live.ids), [-1, -2, -3, -4])
        self.assertGreater(self.add("e").id, 0)
        self.context.save()
        self.assertGreater(min(first.id, second.id), 0)
        self.assertLess(first.id, second.id)
        self.assertEqual([quote.contents for quote in live], list("abcde"))
        self.assertEqual(self.column("SELECT ZCONTENTS FROM ZQUOTE ORDER BY Z_PK")[-4:], list("abcd"))
        with self.assertRaises(quire.NotFound):
            self.context.get(Quote, -1)

    def test_temporary_ids_become_permanent_on_request(self) -> None:
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            quote = self.add("a")
            with self.assertRaises(quire.Busy):
                self.context.obtain_permanent_ids()
            connection.execute("ROLLBACK")
        self.context.obtain_permanent_ids()
        self.assertGreater(quote.id, 0)
        self.assertTrue(quote.is_inserted)
        self.assertIs(self.context.get(Quote, quote.id), quote)

    def test_ids_that_a_child_asks_for_are_those_of_its_parents_too(self) -> None:
        child = self.context.create_child()
        below, beside = child.create_child(), self.context.create_child()
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            quote = self.add("a")
            seen = [each.get(Quote, quote.id) for each in (child, below, beside)]
            own = child.add(Quote(contents="b"))
            connection.execute("ROLLBACK")
        child.obtain_permanent_ids()
        self.assertGreater(quote.id, 0)
        self.assertGreater(own.id, 0)
        self.assertEqual({each.id for each in seen}, {quote.id})
        self.assertIs(self.context.query(Quote).one(), quote)
        for context, each in zip((child, below, beside), seen):
            self.assertIs(context.get(Quote, quote.id), each)

    def test_a_program_that_counts_for_itself_is_noticed(self) -> None:
        author = self.context.add(Author(name="Goethe"))
        quotes = [self.add("a"), self.add("b")]
        for quote in quotes:
            quote.author = author
        with closing(sqlite3.connect(self.path)) as connection:
            connection.execute("INSERT INTO ZQUOTE (Z_PK, Z_ENT, Z_OPT, ZCONTENTS) SELECT 2, Z_ENT, 1, 'theirs' "
                               "FROM Z_PRIMARYKEY WHERE Z_NAME = 'Quote'")
            connection.commit()
        with self.assertRaisesRegex(quire.Conflict, "another program has given that key"):
            self.context.save()
        self.context.obtain_permanent_ids()
        self.assertEqual(quotes[0].id, 1)
        self.assertGreater(quotes[1].id, 2)
        self.context.save()
        self.assertEqual(self.column("SELECT ZCONTENTS FROM ZQUOTE ORDER BY Z_PK"), ["a", "theirs", "b"])
        self.assertEqual(self.column("SELECT ZAUTHOR FROM ZQUOTE ORDER BY Z_PK"), [author.id, None, author.id])
        self.assertEqual({quote.contents for quote in author.quotes}, {"a", "b"})
