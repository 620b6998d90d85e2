"""export and import."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import sqlite3
import stat
import unittest
from collections.abc import Callable
from contextlib import closing
from typing import Any

import quire

from .command import HAS_ARROW, MODELS, Book, CommandTestCase


class Waiting(io.RawIOBase):
    """A stream of standard input that does some work before one of its reads."""

    def __init__(self, given: bytes, read: int, work: Callable[[], None]) -> None:
        self._given = io.BytesIO(given)
        self._left = read
        self._work = work

    @property
    def has_waited(self) -> bool:
        return self._left <= 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._left -= 1
        if self._left == 0:
            self._work()
        return self._given.readinto(buffer)


class MovingTestCase(CommandTestCase):
    def rows(self, path: str, *keys: str) -> list[Any]:
        with quire.open(path, MODELS, read_only=True) as store:
            return store.context.query(Book).excluding_subentities().order_by("title").values(*keys)


class RoundTripTests(MovingTestCase):
    def check(self, ending: str, *options: str) -> None:
        out, other = self.place(f"books{ending}"), self.place("other.sqlite")
        self.succeed("export", self.path, "Book", out, "--where", "title != 'Book 3'", *options)
        self.succeed("import", other, "Book", out, "--model", self.path, *options)
        expected = [row for row in self.rows(self.path)]
        self.assertEqual(self.rows(other), expected)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(["books.sqlite", f"books{ending}", "other.sqlite"]))

    def test_csv(self) -> None:
        self.check(".csv", "--null", "NULL")

    def test_json_lines(self) -> None:
        self.check(".jsonl")

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_parquet(self) -> None:
        self.check(".parquet")

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_parquet_has_the_types_of_the_attributes(self) -> None:
        import pyarrow.parquet

        out = self.place("books.parquet")
        self.succeed("export", self.path, "Book", out, "--columns", "pages,price,lent,made,scan,author,author.name")
        types = [str(each.type) for each in pyarrow.parquet.read_schema(out)]
        self.assertEqual(
            types, ["int16", "double", "bool", "timestamp[us, tz=UTC]", "large_binary", "int64", "large_string"])

    def test_by_standard_output_and_input(self) -> None:
        lines = self.succeed("export", self.path, "Book", "--format", "jsonl", "--columns", "title,pages,made")
        self.assertEqual(json.loads(lines.splitlines()[1]), {
            "title": "Book 1", "pages": 100, "made": "2026-02-10T10:30:00Z"})
        other = self.place("other.sqlite")
        self.succeed("import", other, "Book", "--format", "jsonl", "--model", self.path, given=lines)
        self.assertEqual(len(self.rows(other, "title")), 8)


class ExportTests(MovingTestCase):
    def test_a_file_that_is_there_stays_unless_it_is_forced(self) -> None:
        out = self.place("books.csv")
        with open(out, "w") as file:
            file.write("mine")
        self.fail_with(3, "is there already; --force replaces it", "export", self.path, "Book", out)
        with open(out) as file:
            self.assertEqual(file.read(), "mine")
        self.succeed("export", self.path, "Book", out, "--force")
        with open(out) as file:
            self.assertTrue(file.read().startswith("title,"))

    def test_the_store_itself_is_never_replaced(self) -> None:
        with open(self.path, "rb") as file:
            before = file.read()
        os.symlink(self.path, self.place("link.csv"))
        os.link(self.path, self.place("hard.csv"))
        names = ["books.sqlite", "books.sqlite-wal", "books.sqlite-journal", "link.csv", "hard.csv"]
        for name in names:
            self.fail_with(
                2, "is the store that is exported, or belongs to it", "export", self.path, "Book", self.place(name),
                "--format", "csv", "--force")
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), before)

    def test_names_that_belong_to_another_store_are_no_targets(self) -> None:
        other, folder, rows = self.place("other.sqlite"), self.place(".other_SUPPORT"), self.place("rows.csv")
        self.succeed("export", self.path, "Book", rows)
        shutil.copy(self.path, other)
        os.mkdir(folder)
        os.symlink("other.sqlite-journal", self.place("link"))
        for name in (
            "other.sqlite-wal", "other.sqlite-shm", "other.sqlite-journal", "./other.sqlite-wal", "link",
            "other.sqlite-list-0123456789abcdef0123456789abcdef", ".other_SUPPORT/file",
        ):
            place, belongs = self.folder + "/" + name, f"'{other}', which has that name for itself"
            self.fail_with(3, belongs, "export", self.path, "Book", place, "--format", "csv", "--force")
            self.fail_with(3, belongs, "import", place, "Book", rows, "--model", self.path)
        self.assertEqual(
            sorted(os.listdir(self.folder)), [".other_SUPPORT", "books.sqlite", "link", "other.sqlite", "rows.csv"])
        self.assertEqual(os.listdir(folder), [])
        self.succeed("export", self.path, "Book", self.place("none.sqlite-wal"), "--format", "csv")

    def test_what_is_no_file_is_not_replaced_and_a_link_stays_one(self) -> None:
        pipe, link, out = self.place("pipe.csv"), self.place("link.csv"), self.place("books.csv")
        os.mkfifo(pipe)
        self.fail_with(3, "is no regular file", "export", self.path, "Book", pipe, "--force")
        self.assertTrue(stat.S_ISFIFO(os.stat(pipe).st_mode))
        with open(out, "w") as file:
            file.write("mine")
        os.symlink(out, link)
        self.succeed("export", self.path, "Book", link, "--force")
        self.assertTrue(os.path.islink(link))
        with open(out) as file:
            self.assertTrue(file.read().startswith("title,"))

    def test_an_export_that_fails_leaves_no_file(self) -> None:
        out = self.place("books.csv")
        self.fail_with(4, "has no property 'bogus'", "export", self.path, "Book", out, "--columns", "bogus")
        self.fail_with(2, "does not end in .csv, .jsonl, .ndjson, .parquet", "export", self.path, "Book", out + "x")
        self.assertEqual(os.listdir(self.folder), ["books.sqlite"])

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_a_date_that_parquet_has_no_word_for_is_named(self) -> None:
        self.sql("UPDATE ZBOOK SET ZMADE = 1e15 WHERE Z_PK = 2")
        out = self.place("books.parquet")
        self.fail_with(5, "date in row 1 of 'made' .* CSV and JSON take it", "export", self.path, "Book", out)
        self.assertEqual(os.listdir(self.folder), ["books.sqlite"])
        self.assertIn("1000000000000000.0", self.succeed("export", self.path, "Book", "--columns", "made"))


class ImportTests(MovingTestCase):
    def insert(self, text: str, *options: str) -> str:
        return self.succeed("import", self.path, "Book", *options, given=text)

    def refuse(self, code: int, sentence: str, text: str, *options: str) -> None:
        """Nothing of it is imported."""
        before = self.rows(self.path)
        self.fail_with(code, sentence, "import", self.path, "Book", *options, given=text)
        self.assertEqual(self.rows(self.path), before)

    def test_values_as_people_write_them(self) -> None:
        self.insert(
            "\ufefftitle,pages,lent,made,rating\n"
            "zadig,7,YES,2026-11-21T10:30:00.5+02:00,1e2\n\n"
            "zaire,5,no,2026-11-21,\n", "--null", "")
        zadig, zaire = self.rows(self.path, "title", "pages", "lent", "made", "rating")[-2:]
        self.assertEqual((zadig[:3], zadig[4]), (("zadig", 7, True), 100.0))
        self.assertEqual(zadig[3].isoformat(), "2026-11-21T08:30:00.500000+00:00")
        self.assertEqual(zaire[3].isoformat(), "2026-11-21T00:00:00+00:00")

    def test_a_value_that_does_not_fit_is_named_with_its_line(self) -> None:
        self.refuse(5, "standard input, line 3, pages: 'many' is no whole number", "title,pages\nA,1\nB,many\n")
        self.refuse(5, r"line 2, made: 'soon' is no date in ISO 8601", "title,made\nA,soon\n")
        self.refuse(5, "line 2, scan: 'ä' is not in Base64", "title,scan\nA,ä\n")
        self.refuse(5, "line 2, key: '1' is no UUID", "title,key\nA,1\n")
        self.refuse(5, "line 3: .*99999 does not fit into 16 bits", "title,pages\nA,1\nB,99999\n")
        self.refuse(5, "line 3, pages: there is no value, and the model wants one", "title,pages\nA,1\nB,\n")
        self.refuse(5, "line 2: 'Book.title' is mandatory but has no value.$", "pages\n3\n")

    def test_a_text_that_is_no_csv_is_refused(self) -> None:
        self.refuse(5, "standard input is empty", "")
        self.refuse(5, "line 2: 3 values, and the first line names 2 columns", "title,pages\nA,1,2\n")
        self.refuse(5, "the column 'title' more than once", "title,title\nA,B\n")
        self.refuse(5, "'Book' has no attribute 'tilte'. Did you mean title?", "tilte\nA\n")

    def test_an_empty_text_that_is_mandatory_comes_back(self) -> None:
        self.insert("title,pages\n,1\n")
        self.assertIn(("", 1), self.rows(self.path, "title", "pages"))
        out, other = self.place("books.csv"), self.place("other.sqlite")
        self.succeed("export", self.path, "Book", out, "--own")
        self.succeed("import", other, "Book", out, "--model", self.path)
        self.assertEqual(self.rows(other, "title"), self.rows(self.path, "title"))
        # Another text for no value leaves no doubt.
        self.refuse(5, "line 2, title: there is no value, and the model", "title,pages\nNULL,1\n", "--null", "NULL")
        self.refuse(5, "line 1, title: there is no value", '{"title": null}\n', "--format", "jsonl")

    @unittest.skipUnless(HAS_ARROW, "pyarrow not installed")
    def test_damage_within_a_file_names_the_file(self) -> None:
        for ending, name in ((".parquet", "Parquet"), (".arrows", "Arrow")):
            out = self.place(f"books{ending}")
            self.succeed("export", self.path, "Book", out)
            with open(out, "r+b") as file:
                if ending == ".parquet":
                    file.seek(4)
                    file.write(b"\xff" * 200)
                else:
                    file.truncate(os.path.getsize(out) - 300)
            self.fail_with(
                3, rf"^quire: '.*/books{ending}' cannot be read as {name}: .*[^.]\.\n$",
                "import", self.path, "Book", out)

    def test_json_lines_that_are_none_are_refused(self) -> None:
        lines = ("--format", "jsonl")
        self.refuse(5, "line 2: no JSON", '{"title": "A"}\n{"title": \n', *lines)
        self.refuse(5, "line 1: an object is needed", '["A"]\n', *lines)
        self.refuse(5, "line 2: the first line has no 'pages'", '{"title": "A"}\n{"title": "B", "pages": 1}\n', *lines)
        self.refuse(5, "line 1, title: 5 is no text", '{"title": 5}\n', *lines)
        self.refuse(5, "line 1, pages: 'True' is no whole number", '{"title": "A", "pages": true}\n', *lines)

    def test_columns_choose_and_the_rest_is_left(self) -> None:
        self.insert("title,author,@id\nzadig,1,7\n", "--columns", "title")
        self.assertEqual(self.rows(self.path, "title", "pages")[-1], ("zadig", 100))
        self.refuse(5, "There is no column 'bogus'. There are: title", "title\nA\n", "--columns", "bogus")

    def test_derived_attributes_are_left_to_the_store(self) -> None:
        ran = self.run_command("import", self.path, "Author", given="name,book_count\nKleist,9\n")
        self.assertEqual(ran.code, 0)
        self.assertIn("The store calculates book_count, so what stands there is left out.", ran.err)
        self.assertIn("1 row of standard input", ran.err)
        self.succeed("check", self.path)

    def test_upsert_updates_what_is_unique(self) -> None:
        self.refuse(
            5, "^quire: standard input, line 3: Entity 'Book' must be unique by isbn: .* and so has Book 2",
            "title,isbn\nNew,x\nBook 1,978-1\n")
        self.refuse(
            5, "line 4: Entity 'Book' must be unique by isbn: .* Line 2 has it, too.$",
            "title,isbn\nNew,x\nOther,\nThird,x\n")
        many = "".join(f"Many,{number}\n" for number in range(7000))
        self.refuse(5, "line 7002: Entity 'Book' must be unique by isbn", f"title,isbn\n{many}Again,3\n")
        self.insert("title,isbn,pages\nBook 1,978-1,77\n", "--upsert")
        self.assertIn(("Book 1", 77), self.rows(self.path, "title", "pages"))
        self.assertEqual(len(self.rows(self.path)), 7)

    def test_a_store_that_is_not_there_needs_a_model(self) -> None:
        other = self.place("other.sqlite")
        self.fail_with(3, "the file does not exist", "import", other, "Book", given="title\nA\n")
        # One that was made for an import that failed goes with it.
        self.fail_with(5, "no whole number", "import", other, "Book", "--model", self.path, given="title,pages\nA,x\n")
        self.assertEqual(os.listdir(self.folder), ["books.sqlite"])

    def test_a_store_that_another_program_makes_meanwhile_stays(self) -> None:
        other = self.place("race.sqlite")
        rows = "title,pages\n" + "A,1\n" * 20_000

        def make() -> None:
            with quire.open(other, MODELS) as store:
                store.context.add(Book(title="Mine"))
                store.context.save()

        # Before the first byte comes, and while rows are read; rows that fit and rows that do not.
        for first, text, added in (
            (True, "title,pages\nA,x\n", 0), (True, "title,pages\nA,1\n", 1), (False, f"{rows}A,x\n", 0),
            (False, rows, 0),
        ):
            with self.subTest(first=first, size=len(text)):
                stream = Waiting(text.encode(), 1 if first else 4, make)
                ran = self.run_command("import", other, "Book", "--model", self.path, stdin=stream)
                self.assertTrue(stream.has_waited)
                self.assertEqual(ran.code == 0, added == 1, ran.err)
                if not first and text == rows:
                    self.assertRegex(ran.err, "Another program has made '.*race.sqlite' meanwhile")
                titles = [title for title, in self.rows(other, "title")]
                self.assertEqual(titles, ["A"] * added + ["Mine"])
                quire.delete_store(other)
                self.assertEqual(sorted(os.listdir(self.folder)), ["books.sqlite"])

    def test_what_was_at_the_place_of_a_new_store_stays_when_it_fails(self) -> None:
        empty, link = self.place("empty.sqlite"), self.place("link.sqlite")
        with open(empty, "w"):
            os.chmod(empty, 0o640)
        os.symlink("target.sqlite", link)
        before = sorted(os.listdir(self.folder))
        for path in (empty, link):
            command = ("import", path, "Book", "--model", self.path)
            self.fail_with(5, "no whole number", *command, given="title,pages\nA,x\n")
            self.fail_with(4, "no entity 'Bok'", "import", path, "Bok", "--model", self.path, given="title\nA\n")
            self.assertEqual(sorted(os.listdir(self.folder)), before)
            self.assertEqual(os.path.getsize(empty), 0)
        for path in (empty, link):
            self.succeed("import", path, "Book", "--model", self.path, given="title\nA\n")
            self.assertEqual(self.rows(path, "title"), [("A",)])
        self.assertEqual(stat.S_IMODE(os.stat(empty).st_mode), 0o640)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, "target.sqlite"]))

    def test_a_log_without_its_store_is_not_taken_for_that_of_a_new_one(self) -> None:
        other, kept = self.place("other.sqlite"), self.place("kept")
        with closing(sqlite3.connect(self.path)) as file:
            file.execute("PRAGMA journal_mode=WAL")
            file.execute("UPDATE ZBOOK SET ZPAGES = 5")
            file.commit()
            shutil.copyfile(f"{self.path}-wal", kept)
        shutil.copyfile(kept, f"{other}-wal")
        self.succeed("import", other, "Book", "--model", self.path, given="title\nA\n")
        self.assertEqual(self.rows(other, "title", "pages"), [("A", 100)])
        self.succeed("check", other)

    def test_values_beside_a_new_store_come_with_it(self) -> None:
        class Scan(quire.Model):
            picture: quire.Attr[bytes] = quire.attr(external=True)
            number: quire.Attr[int] = quire.attr(default=0)

        scans, made = self.place("scans.sqlite"), self.place("made.sqlite")
        quire.open(scans, [Scan]).close()
        before = sorted(os.listdir(self.folder))
        picture = bytes(range(256)) * 2000
        given = f"picture,number\n{base64.b64encode(picture).decode()}"
        command = ("import", made, "Scan", "--model", scans)
        self.fail_with(5, "no whole number", *command, given=f"{given},x\n")
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        self.succeed(*command, given=f"{given},1\n")
        with quire.open(made, [Scan], read_only=True) as store:
            self.assertEqual([each.picture for each in store.context.query(Scan)], [picture])
        self.assertEqual(sorted(os.listdir(self.folder)), sorted([*before, ".made_SUPPORT", "made.sqlite"]))

    def test_many_rows_are_one_transaction(self) -> None:
        rows = "".join(f"Many {number},{number % 30000}\n" for number in range(12_000))
        self.refuse(5, "line 12002, pages: 'x'", f"title,pages\n{rows}A,x\n")
        self.insert(f"title,pages\n{rows}")
        with closing(sqlite3.connect(self.path)) as file:
            self.assertEqual(file.execute("SELECT count(*) FROM ZBOOK").fetchone(), (12_008,))
