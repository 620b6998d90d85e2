"""A text index that was damaged: it is made anew from the texts, and until then no row is missing."""

from __future__ import annotations

import contextlib
import itertools
import random
import shutil
import sqlite3
import unittest
from collections.abc import Callable, Iterable, Iterator
from typing import Optional

import quire

from support import FileTestCase, cases_of_turn

INDEX = "QUIRE_TEXT_ZNOTE_ZTITLE"
STRUCTURE, AVERAGES = 10, 1
WORDS = "summer winter spring autumn light shadow river mountain letter word night day sea wind stone fire".split()


class Note(quire.Model):
    title: quire.Attr[Optional[str]] = quire.attr(searchable=True)
    number: quire.Attr[int]


def titles(start: int, count: int) -> list[str]:
    dice = random.Random(start)
    return [f"{' '.join(dice.choices(WORDS, k=3))} {number:05}" for number in range(start, start + count)]


def run(*statements: str) -> Callable[[sqlite3.Connection], None]:
    def damage(connection: sqlite3.Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return damage


def leaves(connection: sqlite3.Connection) -> list[int]:
    """The keys of the blocks with terms."""
    return [key for (key,) in connection.execute(f"SELECT id FROM {INDEX}_data WHERE id > 1000 ORDER BY id")]


def lose_a_leaf(connection: sqlite3.Connection) -> None:
    keys = leaves(connection)
    connection.execute(f"DELETE FROM {INDEX}_data WHERE id = ?", (keys[len(keys) // 2],))


def lose_all_leaves(connection: sqlite3.Connection) -> None:
    connection.execute(f"DELETE FROM {INDEX}_data WHERE id > 1000")


def replace_blocks(change: Callable[[bytes], bytes]) -> Callable[[sqlite3.Connection], None]:
    def damage(connection: sqlite3.Connection) -> None:
        for key, block in connection.execute(f"SELECT id, block FROM {INDEX}_data WHERE id > 1000").fetchall():
            connection.execute(f"UPDATE {INDEX}_data SET block = ? WHERE id = ?", (change(block), key))

    return damage


def garble(block: bytes) -> bytes:
    return random.Random(len(block)).randbytes(len(block))


def change_one_bit(connection: sqlite3.Connection) -> None:
    keys = leaves(connection)
    key = keys[len(keys) // 2]
    (block,) = connection.execute(f"SELECT block FROM {INDEX}_data WHERE id = ?", (key,)).fetchone()
    changed = bytearray(block)
    changed[len(changed) // 2] ^= 1
    connection.execute(f"UPDATE {INDEX}_data SET block = ? WHERE id = ?", (bytes(changed), key))


def swap_leaves(connection: sqlite3.Connection) -> None:
    keys = leaves(connection)
    first, last = keys[0], keys[-1]
    blocks = dict(connection.execute(f"SELECT id, block FROM {INDEX}_data").fetchall())
    connection.execute(f"UPDATE {INDEX}_data SET block = ? WHERE id = ?", (blocks[last], first))
    connection.execute(f"UPDATE {INDEX}_data SET block = ? WHERE id = ?", (blocks[first], last))


def forget_a_segment(connection: sqlite3.Connection) -> None:
    """The structure record of an index that is empty."""
    connection.execute(f"UPDATE {INDEX}_data SET block = x'00000000000000' WHERE id = {STRUCTURE}")


def take_rows_out(connection: sqlite3.Connection) -> None:
    """What FTS5 itself does on request: the index is whole, and lacks rows."""
    for key, title in connection.execute("SELECT Z_PK, ZTITLE FROM ZNOTE WHERE Z_PK % 7 = 0").fetchall():
        connection.execute(
            f"INSERT INTO {INDEX} ({INDEX}, rowid, text) VALUES ('delete', ?, ?)", (key, title.casefold()))


def hide_the_table(connection: sqlite3.Connection) -> None:
    """The shadow tables stay, without the virtual table that they are of."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(f"DELETE FROM sqlite_master WHERE name = '{INDEX}'")
    connection.execute("PRAGMA writable_schema = OFF")


def tear_a_page(path: str) -> None:
    """Garbles the pages of the file that the blocks are in."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (root,) = connection.execute(f"SELECT rootpage FROM sqlite_master WHERE name = '{INDEX}_data'").fetchone()
    with open(path, "r+b") as file:
        file.seek((root - 1) * size)
        file.write(random.Random(root).randbytes(size))


DAMAGES: dict[str, Callable[[sqlite3.Connection], None]] = {
    "the table of blocks is dropped": run(f"DROP TABLE {INDEX}_data"),
    "the table of terms is dropped": run(f"DROP TABLE {INDEX}_idx"),
    "the table of settings is dropped": run(f"DROP TABLE {INDEX}_config"),
    "all shadow tables are dropped": run(
        f"DROP TABLE {INDEX}_data", f"DROP TABLE {INDEX}_idx", f"DROP TABLE {INDEX}_config"),
    "the structure record is gone": run(f"DELETE FROM {INDEX}_data WHERE id = {STRUCTURE}"),
    "the structure record is garbled": run(f"UPDATE {INDEX}_data SET block = randomblob(40) WHERE id = {STRUCTURE}"),
    "the structure record has no segments": forget_a_segment,
    "the averages are gone": run(f"DELETE FROM {INDEX}_data WHERE id = {AVERAGES}"),
    "a leaf is gone": lose_a_leaf,
    "all leaves are gone": lose_all_leaves,
    "all blocks are gone": run(f"DELETE FROM {INDEX}_data"),
    "the leaves are garbled": replace_blocks(garble),
    "the leaves are cut in half": replace_blocks(lambda block: block[:len(block) // 2]),
    "the leaves are empty": replace_blocks(lambda block: b""),
    "a leaf has another bit": change_one_bit,
    "two leaves are exchanged": swap_leaves,
    "the terms are gone": run(f"DELETE FROM {INDEX}_idx"),
    "half of the terms are gone": run(f"DELETE FROM {INDEX}_idx WHERE pgno % 4 >= 2"),
    "the terms lead elsewhere": run(f"UPDATE {INDEX}_idx SET pgno = 2"),
    "the version of the format is another": run(f"UPDATE {INDEX}_config SET v = 99 WHERE k = 'version'"),
    "the settings are gone": run(f"DELETE FROM {INDEX}_config"),
    "rows were taken out of the index": take_rows_out,
    "the virtual table is gone": hide_the_table,
    "the list of what is pending is dropped": run(f"DROP TABLE {INDEX}_PENDING"),
    "what is pending is gone": run(f"DELETE FROM {INDEX}_PENDING"),
    "what is pending has another shape": run(
        f"DROP TABLE {INDEX}_PENDING", f"CREATE TABLE {INDEX}_PENDING (x, y)"),
    "a trigger is gone": run(f"DROP TRIGGER {INDEX}_INSERT"),
    "the directory is gone": run("DROP TABLE QUIRE_TEXT"),
    "the directory is empty": run("DELETE FROM QUIRE_TEXT"),
    "the directory has another shape": run("DROP TABLE QUIRE_TEXT", "CREATE TABLE QUIRE_TEXT (x)"),
}


class DamagedTextIndexTestCase(FileTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.texts: dict[int, str] = {}
        self.copies = 0
        with self.open() as store:
            # Some that go into the index at once, in two segments, and some that stay pending.
            for start, count in ((0, 400), (400, 300), (700, 60)):
                self.insert(store, titles(start, count))
            # So do rows that were changed.
            for note in store.context.query(Note).where("number IN %@", [5, 250, 699]).all():
                note.title = f"changed {note.title}"
                self.texts[note.number] = note.title
            store.context.save()

    def open(self, read_only: bool = False) -> quire.Store:
        return quire.open(self.path, [Note], read_only=read_only)

    def insert(self, store: quire.Store, texts: Iterable[str]) -> None:
        for text in texts:
            number = len(self.texts)
            self.texts[number] = text
            store.context.add(Note(title=text, number=number))
        store.context.save()

    @contextlib.contextmanager
    def another(self) -> Iterator[None]:
        """A copy of the store for a block."""
        path, texts = self.path, self.texts
        with self.program() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.path, self.texts = f"{path}-{self.copies}", dict(texts)
        self.copies += 1
        shutil.copyfile(path, self.path)
        try:
            yield
        finally:
            self.path, self.texts = path, texts

    @contextlib.contextmanager
    def program(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self.path)) as connection, connection:
            yield connection

    def assert_finds_all(self, store: quire.Store, uses_index: Optional[bool] = None) -> None:
        patterns = WORDS + ["00005", "00123", "00250", "00699", "00701", "0075", "changed", "r w", "n l", "nothing"]
        query = store.context.query(Note)
        for pattern in patterns:
            wanted = {number for number, text in self.texts.items() if pattern in text}
            found = query.where("title CONTAINS %@", pattern)
            self.assertEqual({note.number for note in found.all()}, wanted, pattern)
            self.assertEqual(found.count(), len(wanted), pattern)
            self.assertEqual(
                {each["number"] for each in found.dictionaries("number")}, wanted, pattern)
            self.assertEqual(
                [note.number for note in found.order_by("number").all()], sorted(wanted), pattern)
            wanted = {number for number, text in self.texts.items() if text.startswith(pattern)}
            found = query.where("title BEGINSWITH[cd] %@", pattern.upper())
            self.assertEqual({note.number for note in found.all()}, wanted, pattern)
        if uses_index is not None:
            steps = query.where("title CONTAINS %@", "00123").explain()
            self.assertEqual("VIRTUAL TABLE" in str(steps), uses_index, steps)

    def assert_sound(self) -> None:
        with self.program() as connection:
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            connection.execute(f"INSERT INTO {INDEX} ({INDEX}) VALUES ('integrity-check')")


class TextIndexDamageTests(DamagedTextIndexTestCase):
    def test_a_whole_index_is_used_and_not_made_anew(self) -> None:
        def blocks() -> list[tuple[int, bytes]]:
            with self.program() as connection:
                return connection.execute(f"SELECT id, block FROM {INDEX}_data").fetchall()

        before = blocks()
        for read_only in (True, False):
            with self.open(read_only) as store:
                self.assert_finds_all(store, uses_index=True)
        self.assertEqual(blocks(), before)
        with self.open() as store:
            for start in range(760, 3000, 280):
                self.insert(store, titles(start, 280))
            before = blocks()
        with self.open() as store:
            self.assert_finds_all(store, uses_index=True)
        self.assertEqual(blocks(), before, "merges of segments are no damage")
        self.assert_sound()

    def test_an_index_that_was_damaged_between_programs_is_made_anew_and_no_row_is_missing(self) -> None:
        for name, damage in DAMAGES.items():
            with self.subTest(name), self.another():
                with self.program() as connection:
                    damage(connection)
                with self.open(read_only=True) as store:
                    self.assert_finds_all(store)
                with self.open() as store:
                    self.assert_finds_all(store, uses_index=True)
                    self.insert(store, titles(760, 300))
                    self.assert_finds_all(store, uses_index=True)
                with self.open() as store:
                    self.assert_finds_all(store, uses_index=True)
                self.assert_sound()

    def test_an_index_that_is_damaged_under_an_open_store_loses_no_row_and_fails_no_save(self) -> None:
        cases = itertools.product(DAMAGES, ("query", "save"))
        for (name, first), alone in cases_of_turn(self, cases, share=4):
            with self.subTest(name, first=first, alone=alone), self.another():
                with self.open() as store:
                    self.assert_finds_all(store, uses_index=True)
                    with self.program() as connection:
                        DAMAGES[name](connection)
                    if first == "query":
                        self.assert_finds_all(store)
                    self.insert(store, titles(760, 300))
                    self.assert_finds_all(store)
                    self.insert(store, titles(1060, 300))
                    self.assert_finds_all(store)
                with self.open() as store:
                    self.assert_finds_all(store, uses_index=True)
                self.assert_sound()

    def test_a_check_finds_what_is_missing_and_makes_the_index_anew(self) -> None:
        with self.open() as store:
            self.assertEqual(store.check(), 0, "the index is whole")
            # With sums that are right, as if another program had known how to write them.
            with self.program() as connection:
                take_rows_out(connection)
            with self.open() as other:
                self.assertEqual(other.check(), 0, "the opening has made it anew")
            self.assertEqual(store.check(), 0)
            self.assert_finds_all(store, uses_index=True)

    def test_a_check_of_a_store_with_stale_keys_finds_nothing(self) -> None:
        with self.program() as connection:
            # Neither fires a trigger for the row that goes.
            connection.execute(
                "INSERT OR REPLACE INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZNUMBER) VALUES (5, 1, 1, 'other words', 4)")
        self.texts[4] = "other words"
        for read_only in (True, False):
            with self.open(read_only) as store:
                self.assertEqual(store.check(), 0)
                self.assert_finds_all(store, uses_index=True)

    def test_a_check_does_not_trust_the_triggers(self) -> None:
        with self.program() as connection:
            (version,) = connection.execute("PRAGMA schema_version").fetchone()
            triggers = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
            connection.execute(f"DROP TRIGGER {INDEX}_UPDATE")
            connection.execute("UPDATE ZNOTE SET ZTITLE = 'unheard of' WHERE Z_PK = 9")
            for (sql,) in triggers:
                with contextlib.suppress(sqlite3.OperationalError):
                    connection.execute(sql)
        self.texts[8] = "unheard of"
        with self.program() as connection:
            # As if the schema had never been touched.
            (now,) = connection.execute("PRAGMA schema_version").fetchone()
            connection.execute("UPDATE QUIRE_TEXT SET Z_SCHEMA = ?", (now,))
            self.assertGreater(now, version)
        for read_only in (True, False):
            with self.open(read_only) as store:
                query = store.context.query(Note).where("title CONTAINS %@", "unheard of")
                self.assertEqual(query.count(), 0, "nothing told of the row")
                self.assertEqual(store.check(), 1)
                self.assertEqual(query.count(), 1)
                self.assert_finds_all(store, uses_index=not read_only)
                self.assertEqual(store.check(), int(read_only))
        self.assert_sound()

    def test_a_check_tells_of_damage_that_it_cannot_mend(self) -> None:
        with self.program() as connection:
            (size,) = connection.execute("PRAGMA page_size").fetchone()
            (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ZNOTE'").fetchone()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with open(self.path, "r+b") as file:
            # Where the first cells are.
            file.seek(root * size - 64)
            file.write(random.Random(1).randbytes(64))
        with self.open(read_only=True) as store, self.assertRaisesRegex(quire.DatabaseError, "damaged"):
            store.check()

    def test_a_check_gives_each_finding_of_sqlite_as_a_detail(self) -> None:
        with self.program() as connection:
            connection.execute("CREATE TABLE other (x)")
            connection.execute("INSERT INTO other VALUES (zeroblob(100000))")
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("DELETE FROM sqlite_master WHERE name = 'other'")
        with self.open() as store:
            with self.assertRaisesRegex(quire.DatabaseError, "damaged.*never used") as caught:
                store.check()
            self.assertGreater(len(caught.exception.details), 20)
            self.assert_finds_all(store, uses_index=True)

    def test_an_index_on_torn_pages_costs_neither_rows_nor_saves(self) -> None:
        with self.program() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tear_a_page(self.path)
        with self.open(read_only=True) as store:
            self.assert_finds_all(store)
        with self.open() as store:
            self.assert_finds_all(store)
            self.insert(store, titles(760, 300))
            self.assert_finds_all(store)
        with self.open() as store:
            self.assert_finds_all(store)

    def test_a_model_without_the_index_gets_rid_of_a_damaged_one(self) -> None:
        models = [type("Note", (quire.Model,), {
            "__annotations__": {"title": quire.Attr[Optional[str]], "number": quire.Attr[int]},
            "title": quire.attr()})]
        for damage in ("the table of terms is dropped", "the settings are gone", "the virtual table is gone"):
            with self.subTest(damage), self.another():
                with self.program() as connection:
                    DAMAGES[damage](connection)
                with quire.open(self.path, models) as store:
                    self.assertEqual(store.context.query(models[0]).count(), len(self.texts))
                with self.program() as connection:
                    left = connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'QUIRE_TEXT%'")
                    self.assertEqual(left.fetchall(), [])
                with self.open() as store:
                    self.assert_finds_all(store, uses_index=True)


if __name__ == "__main__":
    unittest.main()
