"""check."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from .command import CommandTestCase


class CheckTests(CommandTestCase):
    def test_a_sound_store_has_a_line_for_each_part(self) -> None:
        self.assertEqual(
            self.succeed("check", self.path),
            "file and text indexes: sound\nrelationships: sound\nderived attributes: sound\n")

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
        self.assertIn("1 text index does not lead to every row.", ran.out)

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
