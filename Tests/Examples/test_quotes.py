"""Checks the examples: the C program, the Python program and count.awk must read the same quotations from a file,
and the two programs must say the same about them.

Environment: QUOTES is the C program, built from examples/quotes.c. The Python program runs with this interpreter, and
finds the package and the library as usual (PYTHONPATH, QUIRE_LIBRARY).
"""
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
PACKAGES = pathlib.Path("/usr/share/games/fortunes")
PROGRAMS = {
    "C": [os.environ.get("QUOTES", "QUOTES-is-not-set")],
    "Python": [sys.executable, str(EXAMPLES / "quotes.py")],
}
AWKS = [found.split() for found in ("mawk", "gawk", "original-awk", "busybox awk") if shutil.which(found.split()[0])]


def run(command, *arguments):
    # The programs write UTF-8 whatever the locale is; LC_ALL=C would show it if they did not. awk needs it.
    return subprocess.run([*command, *map(str, arguments)], capture_output=True, env={**os.environ, "LC_ALL": "C"})


def awk(command, *arguments):
    return run([*command, *arguments[:-1], "-f", str(EXAMPLES / "count.awk")], arguments[-1])


class QuotesTestCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "quotations"
        self.store = self.folder / "store.sqlite"

    def printed(self, text):
        """What each program and each awk reads from `text`, as it prints it."""
        self.file.write_bytes(text)
        results = {name: run(command, "--file", self.file, "--print") for name, command in PROGRAMS.items()}
        for command in AWKS:
            results[" ".join(command)] = awk(command, "-v", "print_all=1", self.file)
        return results


class Splitting(QuotesTestCase):
    def assert_reads(self, text, *expected):
        wanted = b"".join(b"author: %s\n%s\n%%\n" % quotation for quotation in expected)
        for name, result in self.printed(text).items():
            with self.subTest(reader=name):
                self.assertEqual((result.returncode, result.stdout, result.stderr), (0, wanted, b""))

    def assert_author(self, line, author):
        self.assert_reads(b"text\n" + line + b"\n%\n", (author, b"text\n" + line))

    def test_entries_end_at_lines_of_one_percent_sign(self):
        self.assert_reads(b"one\n%\ntwo\nlines\n%\n", (b"", b"one"), (b"", b"two\nlines"))

    def test_the_last_percent_sign_may_be_missing(self):
        self.assert_reads(b"one\n%\ntwo", (b"", b"one"), (b"", b"two"))
        self.assert_reads(b"one\n%\ntwo\n", (b"", b"one"), (b"", b"two"))

    def test_a_percent_sign_in_a_longer_line_is_text(self):
        self.assert_reads(b"%DCL\n %\n%%\n% \n%\n", (b"", b"%DCL\n %\n%%\n% "))

    def test_entries_of_blanks_are_none(self):
        self.assert_reads(b"%\n%\n\n%\n \t\n%\none\n%\n%\n", (b"", b"one"))

    def test_contents_stay_as_they_are(self):
        text = b"\n\tA\x08A  \n\n\x0b \xc2\xa0\n"
        self.assert_reads(text + b"%\n", (b"", text[:-1]))

    def test_crlf_reads_as_lf(self):
        text = b"one\n-- A. Author\n%\n\n%\ntwo\n"
        expected = (b"A. Author", b"one\n-- A. Author"), (b"", b"two")
        self.assert_reads(text, *expected)
        self.assert_reads(text.replace(b"\n", b"\r\n"), *expected)

    def test_a_carriage_return_inside_a_line_stays(self):
        self.assert_reads(b"o\rne\r\r\n%\r", (b"", b"o\rne\r"))

    def test_emoji(self):
        text = "A 👩‍👩‍👧 quire 📖\n\t\t-- Zoë 🦊".encode()
        self.assert_reads(text + b"\n%\n", ("Zoë 🦊".encode(), text))

    def test_no_attribution_is_no_author(self):
        for line in (b"--A. Author", b"- A. Author", b"-- ", b"--", b"--\tA. Author", b"it -- A. Author"):
            self.assert_author(line, b"")

    def test_the_last_attribution_counts(self):
        text = b"-- One\ntext\n\t\t-- Two\n\t\t   and a note\n"
        self.assert_reads(text + b"%\n", (b"Two", text[:-1]))

    def test_titles_and_notes_are_cut_off(self):
        for line, author in {
            b'\t\t-- Mark Twain, "Life on the Mississippi"': b"Mark Twain",
            b'-- Ambrose Bierce "The Devil\'s Dictionary"': b"Ambrose Bierce",
            b"-- Steve Jobs (1955-2011)": b"Steve Jobs",
            b"-- Ernst Mach [about atoms]": b"Ernst Mach",
            b"-- Larry Wall in <199710221744.KAA24484@wall.org>": b"Larry Wall",
            b"-- Larry Wall in": b"Larry Wall",
            b"-- Larry Wallin": b"Larry Wallin",
            b"-- Linus Torvalds to Andrew Tanenbaum": b"Linus Torvalds",
            b"-- Karl: a proverb; a bad one": b"Karl",
            b"  \t--  \tMae West \t": b"Mae West",
            b"-- in #debian-devel": b"",
            b'-- "The Rockford Files"': b"",
            b"-- , 1984": b"",
            b"-- --": b"--",
        }.items():
            self.assert_author(line, author)

    def test_junior_is_part_of_the_name(self):
        self.assert_author(b"-- Martin Luther King, Jr., a speech", b"Martin Luther King, Jr.")
        self.assert_author(b"-- Oliver Wendell Holmes, Sr.", b"Oliver Wendell Holmes, Sr.")
        self.assert_author(b"-- A, J", b"A")

    def test_a_sentence_is_no_author(self):
        self.assert_author(b"-- " + b"x" * 50, b"x" * 50)
        self.assert_author(b"-- " + b"x" * 51, b"")
        self.assert_author(b"-- " + "é".encode() * 25, "é".encode() * 25)
        self.assert_author(b"-- " + "é".encode() * 26, b"")

    def test_random_texts_read_the_same(self):
        seed = int(os.environ.get("SEED") or random.randrange(2**32))
        print(f"random texts: SEED={seed}", file=sys.stderr)
        source = random.Random(seed)
        pieces = ["%", "\n", "\n%\n", "\r\n", "\r", "\n-- ", "\t", " ", "--", ", Jr", ", Sr.", ",", '"', "(", "[", "<",
                  ";", ":", " in ", " on", " at ", " to ", "\n\n", "Mae", "West", "é", "🦊", "\x08", "\x0b",
                  "\u2028"]
        for _ in range(40):
            text = "".join(source.choices(pieces, k=source.randrange(1, 400))).encode() + b"x"
            first, *others = ((result.returncode, result.stdout) for result in self.printed(text).values())
            self.assertEqual(first[0], 0)
            for other in others:
                self.assertEqual(other, first)

    @unittest.skipUnless(PACKAGES.is_dir(), "the packages fortunes and fortunes-min are not installed")
    def test_the_packages_read_the_same(self):
        files = sorted(path for path in PACKAGES.iterdir()
                       if "." not in path.name and path.is_file() and not path.is_symlink())
        expected = b"".join(awk(["awk"], "-v", "print_all=1", path).stdout for path in files)
        self.assertGreater(expected.count(b"author: "), 1000)
        for name, command in PROGRAMS.items():
            with self.subTest(reader=name):
                self.assertEqual(run(command, "--print").stdout, expected)


class Problems(QuotesTestCase):
    def assert_fails(self, message, *arguments):
        for name, command in PROGRAMS.items():
            with self.subTest(program=name):
                result = run(command, "--store", self.store, *arguments)
                self.assertEqual((result.returncode, result.stdout, result.stderr.decode()), (1, b"", message))

    def assert_file_fails(self, problem):
        self.assert_fails(f"quotes: {problem}\n", "--file", self.file)
        self.assertFalse(self.store.exists())

    def test_missing_file(self):
        self.assert_file_fails(f"cannot read {self.file}: No such file or directory.")

    def test_folder(self):
        self.file.mkdir()
        self.assert_file_fails(f"cannot read {self.file}: Is a directory.")

    def test_empty_file(self):
        self.file.touch()
        self.assert_file_fails(
            f"{self.file} is empty; it should hold quotations, with a line of one % after each.")

    def test_a_file_of_one_percent_sign(self):
        for text in (b"%", b"%\n", b"\n", b" \n%\n%\n\r\n"):
            self.file.write_bytes(text)
            self.assert_file_fails(f"{self.file} holds no quotation, only blanks and %.")

    def test_not_utf8(self):
        for tail, offset in {
            b"\xff": 0, b"\x80": 0, b"\xc0\xaf": 0, b"\xc3": 0, b"\xc3(": 0, b"\xe2\x82": 0, b"\xe2\x82A": 0,
            b"\xe0\x80\x80": 0, b"\xed\xa0\x80": 0, b"\xf0\x80\x80\x80": 0, b"\xf4\x90\x80\x80": 0, b"\xf5": 0,
            b"\xf0\x9f\xa6\n": 0, "🦊".encode() + b"\xfe": 4,
        }.items():
            text = b"one\n%\nlatin: " + tail
            at = len(text) - len(tail) + offset
            self.file.write_bytes(text)
            self.assert_file_fails(
                f"{self.file} is not UTF-8: the byte 0x{text[at]:02x} at offset {at} begins no character.")

    def test_a_zero_byte(self):
        self.file.write_bytes(b"one\n%\ntw\0o\n")
        self.assert_file_fails(f"{self.file} is no text: there is a zero byte at offset 8.")

    def test_an_existing_store_is_refused_and_left_alone(self):
        self.file.write_bytes(b"one\n%\n")
        self.store.write_bytes(b"precious")
        self.assert_fails(f"quotes: {self.store} exists already; name a new file for the store.\n",
                          "--file", self.file)
        self.assertEqual(self.store.read_bytes(), b"precious")

    def test_a_store_in_a_missing_folder(self):
        self.file.write_bytes(b"one\n%\n")
        self.store = self.folder / "missing" / "store.sqlite"
        outputs = [run(command, "--file", self.file, "--store", self.store) for command in PROGRAMS.values()]
        for result in outputs:
            self.assertEqual((result.returncode, result.stdout), (1, b""))
            self.assertIn(str(self.store), result.stderr.decode())
        self.assertEqual(outputs[0].stderr, outputs[1].stderr)

    def test_unknown_arguments(self):
        for name, command in PROGRAMS.items():
            for arguments in (["--frob"], ["--file"], ["x"], ["--print", "--store", self.store]):
                with self.subTest(program=name, arguments=arguments):
                    self.assertEqual(run(command, *arguments).returncode, 2)


class Demonstration(QuotesTestCase):
    def demonstrate(self, text):
        """Runs both programs on a file and returns what they print, which must be the same."""
        self.file.write_bytes(text)
        outputs = []
        for name, command in PROGRAMS.items():
            store = self.folder / f"{name}.sqlite"
            result = run(command, "--file", self.file, "--store", store)
            self.assertEqual((result.returncode, result.stderr), (0, b""), name)
            with sqlite3.connect(store) as connection:
                self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
                count, sections = connection.execute(
                    "SELECT count(*), count(DISTINCT ifnull(ZAUTHOR, '')) FROM ZQUOTE").fetchone()
            connection.close()
            store.unlink()
            lines = result.stdout.decode().splitlines()
            self.assertEqual(lines[-1], "Every row is as it was.")
            self.assertEqual(lines[-2], f"{count} objects in {sections} sections")
            self.assertEqual(lines[0], awk(["awk"], self.file).stdout.decode().strip())
            outputs.append(result.stdout.decode())
        self.assertEqual(*outputs)
        return outputs[0]

    def test_a_single_quotation(self):
        self.demonstrate(b"one")

    def test_quotations_of_one_author(self):
        self.demonstrate(b"one\n-- A\n%\ntwo\n-- A\n%\n")

    def test_text_that_is_hard_to_print(self):
        text = "\n\t\x08\x1b[1m\n-- É\n%\n👩‍👩‍👧 «Ω»\u2028" * 3 + "ж" * 100
        self.demonstrate(text.encode())

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_the_c_program_leaks_nothing(self):
        self.file.write_bytes(b"one\n-- A\n%\ntwo\n-- B\n%\nthree\n%\n")
        result = run(["valgrind", "--quiet", "--leak-check=full", "--errors-for-leak-kinds=definite",
                      "--show-leak-kinds=definite", "--error-exitcode=9", *PROGRAMS["C"]], "--file", self.file)
        self.assertEqual(result.returncode, 0, result.stderr.decode())

    def test_reports(self):
        text = b"".join(b"Quotation %d\n-- Author %d\n%%\n" % (i, i % 40) for i in range(300))
        report = self.demonstrate(text + b"Alone\n-- Zoe\n%\n")
        self.assertIn("""
Add a quotation of an author who has some
  unsaved:
    insert to 0,8 Author 0: The list was right before I looked.
  saved:
    nothing more

Add a quotation of a new author
  unsaved:
    insert section 0 Ada Example
    insert to 0,0 Ada Example: A section of one's own.
  saved:
    nothing more

Edit the text of the first
  unsaved:
    update from 1,8 to 1,8 Author 0: The list was right before anybody looked.
  saved:
    nothing more

Change the author of the first: others of that author remain
  unsaved:
    move from 1,8 to 2,8 Author 1: The list was right before anybody looked.
  saved:
    nothing more

Change the author of the second: it was the last of that author
  unsaved:
    delete section 0 Ada Example
    move from 0,0 to 0,8 Author 0: A section of one's own.
  saved:
    nothing more

Delete the last quotation of an author
  which is Zoe: Alone
  unsaved:
    delete section 40 Zoe
    delete from 40,0
  saved:
    nothing more

Make a hundred changes, of all kinds
""", report)
        changes = report.split("saved at once:\n")[1].split("\n\n")[0].splitlines()
        kinds = [line.split()[0] for line in changes[:-1] if line.split()[1] != "section"]
        self.assertEqual({kind: kinds.count(kind) for kind in kinds},
                         {"delete": 25, "insert": 25, "move": 25, "update": 25})


if __name__ == "__main__":
    unittest.main()
