"""info, query and explain."""

from __future__ import annotations

import csv
import io
import json
import os
import unittest.mock

from .command import CommandTestCase


class InfoTests(CommandTestCase):
    def test_it_tells_entities_with_their_numbers_of_objects(self) -> None:
        out = self.succeed("info", self.path)
        self.assertRegex(out, r"(?m)^Book +7 +8 +9 +2")
        # Comics stand below the books that they are.
        self.assertRegex(out, r"(?m)^  Comic +1 +10 +2")
        self.assertRegex(out, r"size +[\d.]+ kB")

    def test_it_tells_indexes_hashes_and_metadata(self) -> None:
        out = self.succeed("info", self.path)
        self.assertRegex(out, r"thick +Book +pages descending, title where pages > 300")
        self.assertRegex(out, r"\(text\) +Author +name")
        self.assertRegex(out, r"\(unique\) +Book +isbn")
        self.assertRegex(out, r"(?m)^Author +[0-9a-f]{64}")
        self.assertRegex(out, r"NSStoreUUID +[0-9A-F-]{36}")

    def test_its_json_has_the_same(self) -> None:
        found = json.loads(self.succeed("info", self.path, "--format", "json"))
        self.assertEqual([each["name"] for each in found["entities"]], ["Author", "Book", "Comic", "Cover"])
        book = found["entities"][1]
        self.assertEqual((book["objects"], book["objects_with_subentities"]), (7, 8))
        self.assertEqual(len(book["version_hash"]), 64)
        self.assertEqual(found["metadata"]["NSStoreModelVersionHashes"]["Book"], book["version_hash"])
        self.assertEqual(found["size"], os.stat(self.path).st_size)

    def test_it_tells_the_properties_of_an_entity(self) -> None:
        out = self.succeed("info", self.path, "Comic")
        self.assertRegex(out, r"(?m)^Comic\n  objects   1\n  inherits  from Book\n")
        self.assertRegex(out, r"(?m)^pages +Integer16 +mandatory, usually 100 *$")
        self.assertRegex(out, r"(?m)^isbn +String +optional *$")
        self.assertRegex(out, r"(?m)^coloured +Boolean +mandatory, usually true *$")
        self.assertRegex(out, r"(?m)^author +Author \(one or none\) +books +nullify *$")
        self.assertRegex(out, r"(?m)^\(unique\) +Book +isbn *$")
        self.assertNotIn("(text)", out)
        author = self.succeed("info", self.path, "Author")
        self.assertRegex(author, r"(?m)^book_count +Integer64 +calculated: books.@count *$")
        self.assertRegex(author, r"(?m)^books +Book \(many\) +author +cascade *$")
        self.assertRegex(author, r"(?m)^\(text\) +Author +name *$")
        everything = json.loads(self.succeed("info", self.path, "--format", "json"))
        found = json.loads(self.succeed("info", self.path, "Book", "--format", "json"))
        self.assertEqual(found, everything["entities"][1])
        self.assertEqual(self.succeed("info", self.path, "Cover", "--names").split(), ["colour", "book"])
        self.fail_with(4, "has no entity 'Bok'. Did you mean Book?", "info", self.path, "Bok")

    def test_names_stand_alone_for_other_programs(self) -> None:
        self.assertEqual(self.succeed("info", "--names", self.path).split(), ["Author", "Book", "Comic", "Cover"])

    def test_the_folder_stays_as_it_was(self) -> None:
        before = sorted(os.listdir(self.folder)), os.stat(self.path).st_mtime_ns
        for arguments in (("info",), ("query", "Book"), ("check",)):
            self.succeed(arguments[0], self.path, *arguments[1:])
        self.assertEqual((sorted(os.listdir(self.folder)), os.stat(self.path).st_mtime_ns), before)


class QueryTests(CommandTestCase):
    def test_json_has_a_row_on_each_line(self) -> None:
        out = self.succeed("query", self.path, "Book", "--format", "json", "--ids")
        rows = json.loads(out)
        self.assertEqual(len(rows), 8)
        self.assertEqual(len(out.splitlines()), 10)
        self.assertEqual(rows[1], {
            "@id": 2, "title": "Book 1", "isbn": "978-1", "pages": 100, "price": "0.25", "rating": 0.5,
            "key": "00000000-0000-0000-0000-000000000001", "lent": False, "made": "2026-02-10T10:30:00Z",
            "scan": "AA==", "author": 2, "cover": None})

    def test_a_predicate_an_order_and_a_limit(self) -> None:
        out = self.succeed(
            "query", self.path, "Book", "--where", "pages > 100", "--where", "author.name ==[cd] 'agren'",
            "--sort=-pages,title", "--limit", "1", "--offset", "1", "--columns", "title,author.name", "--format", "csv")
        self.assertEqual(out, "title,author.name\nBook 3,Ågren\n")

    def test_an_order_that_begins_with_a_minus_is_no_option(self) -> None:
        for order in (["--sort", "-pages"], ["-s", "-pages,title"], ["--sort=-pages"], ["-s-pages"]):
            out = self.succeed(
                "query", self.path, "Book", *order, "-n", "1", "--columns", "title", "--format", "csv")
            self.assertEqual(out, "title\nBook 6\n", order)
        self.fail_with(2, "argument -s/--sort: expected one argument", "query", self.path, "Book", "-s", "-n", "1")

    def test_csv_reads_back(self) -> None:
        out = self.succeed("query", self.path, "Book", "--format", "csv", "--columns", "title,pages")
        rows = list(csv.reader(io.StringIO(out)))
        self.assertEqual(rows[-1], ["[bold]x\x1b[31m\nsecond, \"line\" 東京", "1"])

    def test_a_table_shows_text_of_the_file_and_obeys_none(self) -> None:
        out = self.succeed("query", self.path, "Book", "--columns", "title,pages,lent,scan")
        self.assertIn('[bold]x\\u001b[31m\\nsecond, "line" 東京', out)
        self.assertNotIn("\x1b", out)
        self.assertIn("<5 bytes>", out)

    def test_a_table_in_a_file_is_not_cut(self) -> None:
        self.sql("UPDATE ZBOOK SET ZTITLE = 'much longer than all before' WHERE Z_PK = 8")
        from quire.cli import selection

        with unittest.mock.patch.object(selection, "_ROWS_AT_A_TIME", 2):
            out = self.succeed("query", self.path, "Book", "--columns", "title,pages,isbn")
        self.assertIn("\nmuch longer than all before      1\n", out)
        self.assertIn("\nBook 6    600  978-6\n", out)

    def test_rows_stand_in_sections(self) -> None:
        out = self.succeed("query", self.path, "Book", "--section", "author.name", "--columns", "title")
        self.assertRegex(out, r"Goethe  4\nBook 0 *\nBook 2")
        found = json.loads(self.succeed(
            "query", self.path, "Book", "--section", "month:made", "--columns", "title", "--format", "json"))
        self.assertEqual(
            [(each["section"], each["count"]) for each in found],
            [("", 4), ("2026-02", 1), ("2026-03", 1), ("2026-06", 1), ("2026-07", 1)])
        self.assertEqual(found[1]["rows"], [{"title": "Book 1"}])
        out = self.succeed(
            "query", self.path, "Author", "--section", "letter:name", "--columns", "name", "--format", "csv")
        self.assertEqual(out, "@section,name\nA,Ågren\nG,Goethe\n")

    def test_nothing_found_is_an_empty_answer(self) -> None:
        nothing = ("query", self.path, "Book", "--where", "pages > 30000", "--columns", "title", "--format")
        self.assertEqual(self.succeed(*nothing, "json"), "[\n]\n")
        self.assertEqual(self.succeed(*nothing, "csv"), "title\n")
        self.assertIn("title", self.succeed(*nothing, "table"))
        self.assertEqual(self.succeed(*nothing, "json", "--section", "pages"), "[\n]\n")

    def test_an_entity_without_attributes_that_are_shown_has_its_ids(self) -> None:
        self.assertEqual(
            self.succeed("query", self.path, "Author", "--columns", "name", "--ids", "--format", "csv"),
            "@id,name\n1,Goethe\n2,Ågren\n")


class ExplainTests(CommandTestCase):
    def test_it_tells_the_statement_and_its_plan(self) -> None:
        out = self.succeed("explain", self.path, "Book", "--where", "isbn == '978-1'", "--sort", "title")
        self.assertRegex(out, r"SELECT .* FROM ZBOOK")
        self.assertRegex(out, "plan: ")
