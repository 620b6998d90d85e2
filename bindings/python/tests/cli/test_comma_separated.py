"""CSV: what is quoted and what is bare, and that both come back."""

from __future__ import annotations

import csv
import io
import itertools
import random
import sys
import unittest
from typing import Optional

import quire

from .command import CommandTestCase

TEXTS = [
    None, "", "NULL", "null", '"', '""', '"",', ",", ",,", "\n", "\r\n", "\r", " ", ' "x"', 'a"b', 'a"",""b',
    "a\n\"\"\nb", '","",\n,""', "\ufeffx", "🧑‍🚀 東京", "\\N", "'"]
if sys.version_info >= (3, 11):
    # Older versions of `csv` read no NUL.
    TEXTS.append("\x00x")


class Thing(quire.Model):
    place: quire.Attr[int]
    text: quire.Attr[Optional[str]] = quire.attr(default=None)
    data: quire.Attr[Optional[bytes]] = quire.attr(default=None)
    number: quire.Attr[Optional[int]] = quire.attr(default=None)
    word: quire.Attr[str] = quire.attr(default="x")


class CommaSeparatedTests(CommandTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.things = self.place("things.sqlite")
        with quire.open(self.things, [Thing]) as store, store.context.transaction() as context:
            for place, text in enumerate(TEXTS):
                data = None if text is None else text.encode()
                # Every text of a store is whole; NUL ends none of them.
                context.add(Thing(
                    place=place, text=text, data=data, number=place if place % 2 else None, word=text or ""))

    def rows(self, path: str) -> list[tuple[object, ...]]:
        with quire.open(path, [Thing], read_only=True) as store:
            return store.context.query(Thing).order_by("place").values("place", "text", "data", "number", "word")

    def test_every_text_comes_back_and_so_does_no_value(self) -> None:
        for place, options in enumerate(((), ("--null", "NULL"), ("--null", "\\N"), ("--null", " "))):
            out, other = self.place(f"{place}.csv"), self.place(f"{place}.sqlite")
            self.succeed("export", self.things, "Thing", out, *options)
            self.succeed("import", other, "Thing", out, "--model", self.things, *options)
            self.assertEqual(self.rows(other), self.rows(self.things))

    def test_a_value_that_also_stands_for_none_comes_back(self) -> None:
        for null in ("1", "07", "YQ=="):
            out, other = self.place(f"{null}.csv"), self.place(f"{null}.sqlite")
            self.succeed("export", self.things, "Thing", out, "--null", null)
            self.succeed("import", other, "Thing", out, "--model", self.things, "--null", null)
            self.assertEqual(self.rows(other), self.rows(self.things))
        # What is no value of the type stands for none in quotes, too.
        other = self.place("other.sqlite")
        given = '"place","number"\n"1","NULL"\n"2",NULL\n"3","3"\n'
        self.succeed("import", other, "Thing", "--model", self.things, "--null", "NULL", given=given)
        self.assertEqual([row[3] for row in self.rows(other)], [None, None, 3])

    def test_many_columns(self) -> None:
        other = self.place("other.sqlite")
        # So many that this would take a quarter of an hour if each name were looked for among all of them.
        names = ",".join(f"@{place}" for place in range(300_000))
        self.succeed("import", other, "Thing", "--model", self.things, given=f"place,{names}\n1{',' * 300_000}\n")

    def test_what_is_written(self) -> None:
        found = self.succeed(
            "export", self.things, "Thing", "-c", "place,text,number", "-w", "place < 3", "--null", "NULL")
        self.assertEqual(found, 'place,text,number\n0,NULL,NULL\n1,"",1\n2,"NULL",NULL\n')
        found = self.succeed("query", self.things, "Thing", "-c", "place,text", "-w", "place < 3", "-f", "csv")
        self.assertEqual(found, 'place,text\n0,\n1,""\n2,NULL\n')
        # Every other reader has the same fields.
        found = self.succeed("export", self.things, "Thing", "-c", "place,text,word")
        self.assertEqual(
            [row[1:] for row in csv.reader(io.StringIO(found, newline=""), strict=True)][1:],
            [[text or "", text or ""] for text in TEXTS])

    def test_files_of_other_programs(self) -> None:
        other = self.place("other.sqlite")
        given = '\ufeff"place","text","number","word"\r\n"1","","","a"\r\n2,,"",""\r\n3,"x\r\n"",""",7,\r\n'
        self.succeed("import", other, "Thing", "--model", self.things, given=given)
        self.assertEqual(self.rows(other), [
            (1, "", None, None, "a"), (2, None, None, None, ""), (3, 'x\r\n","', None, 7, "")])

    def test_one_column_has_no_bare_line(self) -> None:
        found = self.succeed("export", self.things, "Thing", "-c", "text", "-w", "place < 2")
        self.assertEqual(found, 'text\n""\n""\n')
        found = self.succeed("export", self.things, "Thing", "-c", "text", "-w", "place < 2", "--null", "NULL")
        self.assertEqual(found, 'text\nNULL\n""\n')

    def test_a_text_for_no_value_that_needs_quotes_is_refused(self) -> None:
        for null in (",", '"', "a\nb"):
            self.fail_with(
                2, "argument --null: a text without quotes", "export", self.things, "Thing", "--null", null)

    def test_fields_are_those_of_another_reader(self) -> None:
        """Whatever stands in the lines: the marks change no field, and no more than fields are marked."""
        from quire.cli.comma_separated import Reader, line_of

        dice = random.Random(19)
        for _ in range(20_000):
            null = dice.choice(["", "N"])
            text = "a,b\n" + "".join(dice.choice('""""",,,\nNa') for _ in range(dice.randrange(1, 20)))
            expected: Optional[list[list[str]]]
            try:
                expected = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row][1:]
            except csv.Error:
                expected = None
            reader, found = Reader(io.StringIO(text, newline=""), null), []
            try:
                reader.headings()
                found = [reader.values(row) for _, row in reader]
            except csv.Error:
                self.assertIsNone(expected, text)
                continue
            self.assertEqual([[null if each is None else each for each in row] for row in found], expected, text)
        for values in itertools.product((None, "", "N", '"', "x\ny"), repeat=3):
            for null in ("", "N"):
                lines = "a,b,c\n" + line_of([null if each is None else each for each in values], values, null)
                reader = Reader(io.StringIO(lines, newline=""), null)
                reader.headings()
                self.assertEqual([reader.values(row) for _, row in reader], [list(values)], lines)


if __name__ == "__main__":
    unittest.main()
