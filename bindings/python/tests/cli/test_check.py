"""check."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing
from typing import NamedTuple

import quire

from .command import CommandTestCase


class Tag(quire.Model):
    word: quire.Attr[str]
    notes: quire.ToMany["Note"] = quire.relation(inverse="tags")


class Note(quire.Model):
    text: quire.Attr[str]
    tags: quire.ToMany[Tag] = quire.relation(inverse="notes")
    near: quire.ToMany["Note"] = quire.relation(inverse="near")
    parts: quire.ToMany[Tag] = quire.relation()


class Column(NamedTuple):
    table: str
    name: str


class CheckTests(CommandTestCase):
    def test_a_sound_store_has_a_line_for_each_part(self) -> None:
        self.assertEqual(
            self.succeed("check", self.path),
            "file and text indexes: sound\nmandatory values: sound\nrelationships: sound\nderived attributes: sound\n")

    def test_a_relationship_to_what_is_not_there(self) -> None:
        self.sql("UPDATE ZBOOK SET ZAUTHOR = 77 WHERE Z_PK IN (1, 3)")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("Book.author of 2 objects leads to no Author: Book 1, Book 3.", ran.out)
        self.assertIn("1 problem\n", ran.out)

    def test_both_sides_of_one_to_one_agree(self) -> None:
        self.sql("UPDATE ZCOVER SET ZBOOK = NULL")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("Book.cover of one object leads to one whose book is another or none: Book 7.", ran.out)
        self.sql("UPDATE ZCOVER SET ZBOOK = 1")
        ran = self.run_command("check", self.path)
        self.assertIn("Cover.book of one object leads to one whose cover is another or none: Cover 1.", ran.out)
        self.assertIn("2 problems\n", ran.out)

    def test_a_mandatory_value_that_is_missing(self) -> None:
        self.sql("UPDATE ZBOOK SET ZTITLE = NULL WHERE Z_PK IN (2, 4)")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("mandatory values: wrong\n  Book.title of 2 objects has no value: Book 2, Book 4.\n", ran.out)
        self.assertIn("1 problem\n", ran.out)

    def test_a_key_that_would_be_given_again(self) -> None:
        self.sql("UPDATE Z_PRIMARYKEY SET Z_MAX = 3 WHERE Z_NAME = 'Book'")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("The last key of Book is said to be 3, and there is Book 8: an insert would take", ran.out)

    def test_relationships_to_many_that_lead_nowhere(self) -> None:
        self.path = self.place("notes.sqlite")
        with quire.open(self.path, [Tag, Note]) as store, store.context.transaction() as context:
            notes = [context.add(Note(text=text)) for text in ("a", "b", "c")]
            for each in notes:
                each.tags, each.near, each.parts = [context.add(Tag(word="x"))], notes, [context.add(Tag(word="y"))]
        self.assertIn("relationships: sound", self.succeed("check", self.path))
        before = sorted(os.listdir(self.folder))
        note, tag, near, parts = map(self.column, ("Z_NOTES", "Z_TAGS", "Z_NEAR", "ZPARTS"))
        self.sql(
            f"INSERT INTO {note.table} ({note.name}, {tag.name}) VALUES (2, 88), (77, 1)",
            f"UPDATE {near.table} SET REFLEXIVE = 66 WHERE rowid = 1",
            f"UPDATE ZTAG SET {parts.name} = 55 WHERE {parts.name} = 3")
        # They are notes: nothing that is read shows them.
        out = self.succeed("check", self.path)
        self.assertIn("  Note.tags of one object leads to no Tag: Note 2. No list or count shows it.\n", out)
        self.assertIn("  Tag.notes of one object leads to no Note: Tag 1. No", out)
        self.assertRegex(out, r"  Note.near of one object leads to no Note: Note \d. No")
        self.assertRegex(out, r"  Tag.owner by Note.parts of one object leads to no Note: Tag \d. No")
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def column(self, wanted: str) -> Column:
        """A column whose name has a number in it."""
        with closing(sqlite3.connect(self.path)) as file:
            [found] = [
                Column(table, name) for table, name in file.execute(
                    "SELECT m.name, c.name FROM sqlite_master AS m, pragma_table_info(m.name) AS c")
                if re.sub(r"\d", "", name) == wanted]
        return found

    def test_a_derived_value_that_is_wrong(self) -> None:
        self.sql("UPDATE ZAUTHOR SET ZBOOK_COUNT = 9 WHERE Z_PK = 1", "UPDATE ZAUTHOR SET ZPLAIN = NULL WHERE Z_PK = 2")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("Author.book_count of one object is not books.@count: 9 is kept, 4 is right.", ran.out)
        self.assertIn("Author.plain of one object is not canonical:(name): no value is kept, agren is right.", ran.out)

    def test_a_damaged_text_index(self) -> None:
        self.sql(f"DELETE FROM {self.text_index()}_data")
        ran = self.run_command("check", self.path)
        self.assertEqual(ran.code, 1)
        self.assertIn("1 text index is not used, so searches read all rows: it misses rows, or", ran.out)
        out = self.succeed("check", self.path, "--mend")
        self.assertTrue(out.startswith("1 text index was made anew\nfile and text indexes: sound\n"), out)
        self.assertTrue(self.succeed("check", self.path, "--mend").startswith("file and text indexes: sound\n"))

    def test_after_a_vacuum_a_store_for_reading_says_the_same_until_one_for_writing_is_opened(self) -> None:
        self.sql("VACUUM")
        for _ in range(2):
            ran = self.run_command("check", self.path)
            self.assertEqual(ran.code, 1)
            self.assertIn(
                "1 text index is not used, so searches read all rows: it misses rows, or may do so after another "
                "program's VACUUM. `quire check --mend` rebuilds it, and so does opening the store for writing after a "
                "VACUUM.\n", ran.out)
            with quire.open(self.path, read_only=True) as store:
                self.assertEqual(store.check(), 1)
        with quire.open(self.path) as store:
            self.assertEqual(store.check(), 0)
        self.assertIn("file and text indexes: sound", self.succeed("check", self.path))

    def test_a_check_of_an_open_store_counts_for_stores_that_are_opened_for_reading(self) -> None:
        with quire.open(self.path) as store:
            self.assertEqual(store.check(), 0)
            self.sql("VACUUM")
            self.assertEqual(self.run_command("check", self.path).code, 1)
            self.assertEqual(store.check(), 0)
            self.assertIn("file and text indexes: sound", self.succeed("check", self.path))

    def text_index(self) -> str:
        with closing(sqlite3.connect(self.path)) as file:
            [(name,)] = file.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts5%'")
        return str(name)

    def test_a_damaged_file(self) -> None:
        with open(self.path, "r+b") as file:
            file.seek(4096 * 3)
            file.write(b"\xff" * 4096 * 8)
        ran = self.run_command("check", self.path)
        self.assertIn(ran.code, (1, 3), ran.err)
        self.assertNotIn("Traceback", ran.err)
