"""Caches of live lists."""

import contextlib
import os
import sqlite3
import subprocess
import sys

import quire
from support import MODELS, Author, FileTestCase, Quote

WRITE = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1])
base.execute(sys.argv[2])
base.commit()
base.close()
"""

READ = """
import sys
import quire
from support import MODELS, Quote
for _ in range(25):
    with quire.open(sys.argv[1], MODELS) as store:
        live = store.context.query(Quote).order_by(Quote.price).live(section_by="contents", cache="pairs")
        counts = [len(section) for section in live.sections]
        assert len(counts) == 2 and counts[0] == counts[1], counts
        assert len(set(live.ids)) == sum(counts)
"""

PAIRS = """
import sys
import quire
from support import MODELS, Quote
for round in range(25):
    with quire.open(sys.argv[1], MODELS) as store, store.context.transaction() as context:
        for text in ("a", "b"):
            context.add(Quote(contents=text, price=round % 7))
"""


class CacheTests(FileTestCase):
    def setUp(self):
        super().setUp()
        with quire.open(self.path, MODELS) as store:
            context = store.context
            for number in range(40):
                context.add(Quote(contents=f"text {number % 7}", price=number % 5))
            context.save()

    def caches(self):
        return [name for name in os.listdir(self.folder) if "-list-" in name]

    def shown(self, cache):
        """What a list shows in another session."""
        with quire.open(self.path, MODELS) as store:
            live = store.context.query(Quote).order_by(Quote.price).live(section_by="contents", cache=cache)
            return [(section.name, [quote.id for quote in section]) for section in live.sections]

    def test_what_killed_programs_left_of_a_cache_goes_when_it_is_written_again(self):
        self.shown("quotes")
        self.shown("others")
        mine, other = self.caches()
        ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True)
        gone, alive = int(ended.stdout), os.getppid()
        for name in (mine, other):
            for process in (gone, alive, os.getpid()):
                for number in (7, 18446744073709551615):
                    with open(os.path.join(self.folder, f"{name}-{process}-{number}"), "wb") as file:
                        file.write(b"half of it")
        foreign = [f"{mine}-{gone}", f"{mine}-{gone}-x", f"{mine}x-{gone}-7"]
        for name in foreign:
            open(os.path.join(self.folder, name), "wb").close()
        # One that has been there for a day is of no program that still writes.
        os.utime(os.path.join(self.folder, f"{mine}-{alive}-7"), (1, 1))
        before = set(os.listdir(self.folder))
        subprocess.run(
            [sys.executable, "-c", WRITE, self.path, "UPDATE ZQUOTE SET ZCONTENTS = 'x' WHERE Z_PK = 3"], check=True)
        quotes = self.shown("quotes")
        self.shown("others")
        self.assertEqual(quotes, self.shown(None))
        left = before - set(os.listdir(self.folder))
        self.assertEqual(
            left & {name for name in before if name.startswith(mine)},
            {f"{mine}-{gone}-7", f"{mine}-{gone}-18446744073709551615", f"{mine}-{alive}-7"})
        self.assertEqual(
            left & {name for name in before if name.startswith(other)},
            {f"{other}-{gone}-7", f"{other}-{gone}-18446744073709551615"})

    def test_a_cache_shows_what_a_list_without_one_shows_whoever_wrote(self):
        for sql in ("UPDATE ZQUOTE SET ZCONTENTS = 'x' WHERE Z_PK % 3 = 0", "DELETE FROM ZQUOTE WHERE Z_PK = 7",
                    "UPDATE ZQUOTE SET ZPRICE = -1 WHERE Z_PK = 9", "UPDATE ZQUOTE SET ZCONTENTS = NULL"):
            plain = self.shown(None)
            self.assertEqual(self.shown("quotes"), plain)
            self.assertEqual(self.shown("quotes"), plain)
            self.assertEqual(len(self.caches()), 1)
            subprocess.run([sys.executable, "-c", WRITE, self.path, sql], check=True)
            self.assertEqual(self.shown("quotes"), self.shown(None))
        with contextlib.closing(sqlite3.connect(self.path)) as base:
            self.assertEqual(base.execute("SELECT count(*) FROM ZQUOTE").fetchone(), (39,))

    def test_what_somebody_has_put_in_the_place_of_a_cache_is_not_read_whatever_its_size(self):
        plain = self.shown("quotes")
        cache = os.path.join(self.folder, self.caches()[0])
        for size in (0, 47, 48, 1 << 20, 900 << 30):
            with open(cache, "wb") as file:
                file.truncate(size)
            self.assertEqual(self.shown("quotes"), plain)
            self.assertLess(os.path.getsize(cache), 1 << 20)

    def test_a_cache_of_another_query_is_not_used(self):
        self.shown("quotes")
        with quire.open(self.path, MODELS) as store:
            query = store.context.query(Quote).where(Quote.price > 2)
            self.assertEqual(set(query.live(cache="quotes").ids), set(query.live().ids))
            self.assertEqual(len(store.context.query(Author).live(cache="quotes")), 0)

    def test_caches_are_deleted_by_name_or_together(self):
        for name in ("one", "two", "three/../4"):
            self.shown(name)
        self.assertEqual(len(self.caches()), 3)
        with quire.open(self.path, MODELS) as store:
            store.delete_cache("two")
            self.assertEqual(len(self.caches()), 2)
            store.delete_cache()
            store.delete_cache()
        self.assertEqual(self.caches(), [])

    def test_processes_that_read_and_write_it_at_once_see_what_was_committed_together(self):
        path = os.path.join(self.folder, "pairs.store")
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
        subprocess.run([sys.executable, "-c", PAIRS, path], env=environment, check=True)
        running = [
            subprocess.Popen([sys.executable, "-c", program, path], env=environment)
            for program in (READ, READ, READ, PAIRS)]
        self.assertEqual([each.wait() for each in running], [0] * 4)
        with quire.open(path, MODELS) as store:
            query = store.context.query(Quote).order_by(Quote.price)
            self.assertEqual(
                list(query.live(section_by="contents", cache="pairs").ids), list(query.live(section_by="contents").ids))
            self.assertEqual(len(query.all()), 100)
