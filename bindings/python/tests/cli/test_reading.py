"""info, query and explain."""

from __future__ import annotations

import csv
import io
import json
import operator
import os
import random
import re
import unittest.mock
from datetime import datetime, timedelta, timezone
from typing import Any

import quire

from .command import FIRST, MODELS, Book, CommandTestCase


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


class DateTests(CommandTestCase):
    """Text in ISO 8601 beside a date is a date, in every place where a condition compares."""

    books = 30

    def setUp(self) -> None:
        super().setUp()
        with quire.open(self.path, MODELS) as store:
            # Microseconds, a day at the edge of the calendar, and dates beyond it.
            for place, made in enumerate((FIRST.replace(microsecond=123457), datetime(
                    1, 1, 1, tzinfo=timezone.utc), 1e12, -1e12)):
                book: Any = store.context.add(Book(title=f"Odd {place}"))
                book.made = made
            store.context.save()
            self.made = dict(store.context.query(Book).values("title", "made"))

    def titles(self, condition: str) -> set[str]:
        out = self.succeed("query", self.path, "Book", "-w", condition, "-c", "title", "--format", "json")
        return {row["title"] for row in json.loads(out)}

    def test_it_compares_as_python_does(self) -> None:
        dice = random.Random(16)
        dates = sorted(made for made in self.made.values() if isinstance(made, datetime))

        def seconds(made: Any) -> float:
            return (made - datetime(2001, 1, 1, tzinfo=timezone.utc)).total_seconds() if isinstance(
                made, datetime) else made

        for name, compare in {
            "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
            "!=": operator.ne,
        }.items():
            near = [dice.choice(dates[1:]) + timedelta(hours=dice.randint(-2, 2)) for _ in range(3)]
            for date in (*dates[:3], *near):
                zone = timezone(timedelta(minutes=dice.choice([0, 0, 345, -690]) if date.year > 1 else 0))
                written = date.astimezone(zone).isoformat()
                if zone is timezone.utc or not zone.utcoffset(None):
                    written = dice.choice([written, written.replace("+00:00", "Z"), written[:-6]])
                expected = {
                    title for title, made in self.made.items()
                    if (name == "!=" if made is None else compare(seconds(made), seconds(date)))}
                with self.subTest(condition=f"made {name} '{written}'"):
                    self.assertEqual(self.titles(f"made {name} '{written}'"), expected)
                    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(name, name)
                    self.assertEqual(self.titles(f'"{written}" {mirrored} SELF.made'), expected)

    def test_a_day_is_its_beginning_in_utc(self) -> None:
        self.assertEqual(
            self.titles("made >= '2026-03-22' AND made < '2026-03-23'"), self.titles("made == '2026-03-22T10:30Z'"))
        self.assertEqual(self.titles("made == '2026-03-22'"), set())
        self.assertEqual(self.titles("made == '2026-03-22T10:30'"), {"Book 2"})

    def test_what_a_query_writes_finds_its_row(self) -> None:
        for format in ("csv", "json"):
            rows = self.succeed("query", self.path, "Book", "-c", "title,made", "-w", "made != nil", "--format", format)
            found = json.loads(rows) if format == "json" else list(csv.DictReader(io.StringIO(rows)))
            for row in (found[0], *found[-4:]):
                self.assertEqual(self.titles(f"made == '{row['made']}'"), {row["title"]})

    def test_every_place_takes_it(self) -> None:
        day, instant = "'2026-05-09T06:13:20Z'", datetime(2026, 5, 9, 6, 13, 20, tzinfo=timezone.utc)
        late = {"Odd 2"} | {
            title for title, made in self.made.items() if isinstance(made, datetime) and made > instant}
        self.assertEqual(self.titles("made > CAST(800000000, 'NSDate')"), late)
        for condition in (
            f"made > {day}", f"NOT made <= {day} AND made != nil", f"CAST({day}, 'NSDate') < made",
            f"(pages < 0 OR (title != 'made > \"2026\"' AND {day} < #made))", f"made BETWEEN {{{day}, '9e12'}}",
            f"TERNARY(made > {day}, 1, 0) == 1",
            f"SUBQUERY(author.books, $b, $b.made > {day}).@count > 0 AND made > {day}",
        ):
            with self.subTest(condition=condition):
                self.assertEqual(self.titles(condition), late - ({"Odd 2"} if "author" in condition else set()))
        two = "{'2026-02-10T10:30:00Z', '2026-03-22T11:30:00+01:00', '1999-01-01'}"
        cast = "{CAST('2026-02-10T10:30:00Z', 'NSDate'), CAST('0x10', 'NSDate'), '2026-03-22T10:30:00Z'}"
        for condition in (f"made IN {two}", f"{two} CONTAINS made", f"made IN {cast}"):
            self.assertEqual(self.titles(condition), {"Book 1", "Book 2"})
        for condition, names in (
            ("ANY books.made == '2026-02-10T10:30Z'", ["Ågren"]), ("books.@min.made < '2026-03-01'", ["Ågren"]),
            ("SUBQUERY(books, $b, $b.made < '2026-03-01' AND SUBQUERY($b.author.books, $c, $c.made IN "
             "{'2026-02-10T10:30Z'}).@count > 0).@count > 0", ["Ågren"]),
            ("'2026-03-22T10:30Z' IN books.made", ["Goethe"]), ("books.made CONTAINS '2026-03-22T10:30Z'", ["Goethe"]),
        ):
            out = self.succeed("query", self.path, "Author", "-w", condition, "-c", "name", "--format", "csv")
            self.assertEqual(out.split()[1:], names, condition)
        for command in ("export", "explain"):
            out = self.succeed(command, self.path, "Book", "-w", "made == '2026-03-22T10:30Z'")
            self.assertIn("Book 2," if command == "export" else "ZMADE", out)

    def test_text_beside_text_stays_text(self) -> None:
        self.sql("UPDATE ZBOOK SET ZTITLE = '2026-03-22' WHERE Z_PK = 1")
        for condition in ("title == '2026-03-22'", "'2026-03-22' == title", "title IN {'2026-03-22'}",
                          "title CONTAINS '2026-03-22'", "title == CAST('2026-03-22', 'NSString')"):
            self.assertEqual(self.titles(condition), {"2026-03-22"}, condition)

    def test_what_is_no_date_is_named_where_it_stands(self) -> None:
        for condition, text in (
            ("pages > 1 AND made > 'yesterday'", "yesterday"), ("made IN {'2026-03-22', '2026-02-30'}", "2026-02-30"),
            ("made > '2026'", "2026"), ("made IN {nil, 'x'}", "x"), ("made == ''", ""),
            ("CAST('2026-13-01', 'NSDate') < made", "2026-13-01"), ("made == 'nan'", "nan"),
        ):
            place = " " * condition.index(f"'{text}'")
            self.fail_with(
                4, f"'{text}' is no date in ISO 8601, such as 2026-11-21T10:30:00Z.\n"
                f"{re.escape(condition)}\n{place}\\^", "query", self.path, "Book", "-w", condition)
        for command in ("explain", "export", "watch"):
            self.fail_with(4, "'' is no date in ISO 8601", command, self.path, "Book", "-w", "made < ''")
        # A remedy is one of the command.
        self.fail_with(
            4, "no order. Compare with a date in ISO 8601, such as '2026-11-21T10:30:00Z', or with the seconds",
            "query", self.path, "Book", "-w", "made > 2026-03-22")


class ExplainTests(CommandTestCase):
    def test_it_tells_the_statement_and_its_plan(self) -> None:
        out = self.succeed("explain", self.path, "Book", "--where", "isbn == '978-1'", "--sort", "title")
        self.assertRegex(out, r"SELECT .* FROM ZBOOK")
        self.assertRegex(out, "plan: ")
