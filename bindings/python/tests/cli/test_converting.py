"""convert."""

from __future__ import annotations

import os
import unittest

import quire

from .command import MODELS, Book, CommandTestCase


class ConvertTests(CommandTestCase):
    def titles(self, path: str) -> list[str]:
        with quire.open(path, MODELS, read_only=True) as store:
            return sorted(book.title for book in store.context.query(Book))

    def test_a_store_is_converted_both_ways(self) -> None:
        xml, back = self.place("books.xml"), self.place("back.sqlite")
        ran = self.run_command("convert", self.path, xml)
        self.assertEqual((ran.code, ran.out), (0, ""), ran.err)
        self.assertEqual(ran.err, f"{xml}: {os.path.getsize(xml):,} bytes\n")
        ran = self.run_command("convert", xml, back, "--model", self.path, "--type", "sqlite", "--quiet")
        self.assertEqual(ran, (0, "", ""))
        self.assertEqual(self.titles(back), self.titles(self.path))
        self.assertEqual(sorted(os.listdir(self.folder)), ["back.sqlite", "books.sqlite", "books.xml"])
        with quire.open(back) as store:
            self.assertEqual(store.context.query(store.classes["Comic"]).count(), 1)

    def test_what_cannot_be_converted_ends_with_a_sentence(self) -> None:
        xml = self.place("books.xml")
        quire.convert(self.path, xml)
        for arguments, code, words in (
            ((xml, self.place("x")), 3, "--model gives the model that made it."),
            ((self.path, xml), 3, "already a file"),
            ((self.path, self.place("x"), "--type", "sqlite"), 3, "of the type SQLite already"),
            ((self.place("none"), self.place("x")), 3, "does not exist"),
            ((xml, self.place("x"), "--model", self.place("none")), 3, "none"),
            ((self.path, self.place("x"), "--type", "csv"), 2, "invalid choice"),
        ):
            with self.subTest(words):
                ran = self.run_command("convert", *arguments)
                self.assertEqual(ran.code, code, ran.err)
                self.assertIn(words, ran.err)
                self.assertFalse(os.path.exists(self.place("x")))


if __name__ == "__main__":
    unittest.main()
