"""How the command ends: numbers, sentences, and no traceback."""

from __future__ import annotations

import array
import contextlib
import fcntl
import functools
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
import termios
import unittest.mock

import quire

from .command import HAS_ARROW, CommandTestCase, Ran

BLOCKED = """
import contextlib, io, json, sys
for name in {names!r}:
    sys.modules[name] = None
from quire.cli.main import main
ran = []
for arguments in {runs!r}:
    out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(arguments)
    ran.append((code, out.buffer.getvalue().decode(), err.getvalue()))
print(json.dumps(ran))
"""


class EndTests(CommandTestCase):
    books = 3000

    def test_a_command_line_that_cannot_be_read(self) -> None:
        self.fail_with(2, "usage: quire(.|\n)*browse")
        self.fail_with(2, "invalid choice: 'inof'.*did you mean info?", "inof")
        self.fail_with(2, "--formt json; did you mean --format?", "query", self.path, "Book", "--formt", "json")
        self.fail_with(2, "did you mean json?", "query", self.path, "Book", "--format", "jsn")
        self.fail_with(2, "^usage: quire info (.|\n)*quire info: error: .*: x", "info", self.path, "Book", "x")
        self.fail_with(2, "^usage: quire check (.|\n)*arguments: --bogus$", "check", self.path, "--bogus")
        self.fail_with(2, "^usage: quire .-h(.|\n)*unrecognized arguments: --formt$", "--formt")
        self.fail_with(2, "'x' is no whole number", "query", self.path, "Book", "--limit", "x")
        self.fail_with(2, "-1 is not between 0", "query", self.path, "Book", "--limit=-1")
        self.fail_with(2, "browse needs a terminal", "browse", self.path)

    def test_files_that_are_no_stores(self) -> None:
        self.fail_with(3, "the file does not exist", "info", self.place("nothing.sqlite"))
        self.fail_with(3, r"Could not open 'a\\u001b\[31m'", "info", "a\x1b[31m")
        self.fail_with(3, "not an SQLite database", "info", __file__)
        self.fail_with(3, "Could not open .*: it is a folder", "check", self.folder)
        self.fail_with(3, "is a folder", "export", self.path, "Book", self.folder, "--format", "csv")
        self.fail_with(3, "Is a directory", "import", self.path, "Book", self.folder, "--format", "csv")
        self.fail_with(3, "is empty, not a store.$", "info", self.made("empty.sqlite", b""))
        self.fail_with(3, "not a store. --model makes a new", "import", self.place("empty.sqlite"), "Book", given="a\n")
        self.fail_with(3, "has no table Z_METADATA", "info", self.foreign())
        with open(self.path, "rb") as file:
            self.fail_with(3, "not an SQLite database", "info", self.made("short.sqlite", file.read(90)))
        self.fail_with(3, "No such file or directory", "import", self.path, "Book", self.place("nothing.csv"))
        self.fail_with(3, "no/where.csv': No such file or", "export", self.path, "Book", self.place("no/where.csv"))

    def made(self, name: str, contents: bytes) -> str:
        with open(self.place(name), "wb") as file:
            file.write(contents)
        return file.name

    def foreign(self) -> str:
        """A database of another program."""
        with contextlib.closing(sqlite3.connect(self.place("foreign.sqlite"))) as file, file:
            file.execute("CREATE TABLE x (y)")
        return self.place("foreign.sqlite")

    def test_a_file_that_cannot_be_written_or_is_locked(self) -> None:
        row = "title\nA\n"
        with contextlib.closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            hasty = unittest.mock.patch("quire.cli.opening.Store", functools.partial(quire.Store, timeout=0.1))
            with hasty:
                self.fail_with(3, "its lock. Try again when it is done.$", "import", self.path, "Book", given=row)
            other.execute("ROLLBACK")
        with open(self.path, "r+b") as file:
            # SQLite reads such a file, and does not write it.
            file.seek(18)
            file.write(b"\x03")
        self.fail_with(3, "its file or folder cannot be written", "import", self.path, "Book", given=row)
        self.assertIn("Goethe", self.succeed("query", self.path, "Author"))

    def test_a_library_that_is_missing_or_does_not_fit(self) -> None:
        for library, sentence in (
            ("/nowhere.so", "quire: Quire's shared library could not be loaded. Tried:"),
            ("libc.so.6", "quire: libc.so.6 is not Quire's library: it has no function quire_version."),
        ):
            ran = self.process("info", self.path, environment={"QUIRE_LIBRARY": library})
            self.assertEqual((ran.returncode, ran.stdout), (6, ""), ran.stderr)
            self.assertEqual(ran.stderr.splitlines()[0], sentence)
            self.assertNotIn("Traceback", ran.stderr)
        # Other programs get the exception.
        ran = subprocess.run(
            [sys.executable, "-c", "import quire"], capture_output=True, text=True,
            env={**os.environ, "QUIRE_LIBRARY": "/nowhere.so"})
        self.assertIn("ImportError: Quire's shared library", ran.stderr)

    def test_names_of_a_locale_without_utf8(self) -> None:
        ascii = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        ran = self.process("query", self.path, "Author", "--where", "name == 'Ågren'", environment=ascii)
        self.assertRegex(ran.stdout.splitlines()[-1], r"^\\xc5gren +1500  agren$")
        self.assertRegex(ran.stdout.splitlines()[1], r"^-+$")
        ran = self.process("query", self.path, "Ägren", environment=ascii)
        self.assertTrue(ran.stderr.startswith("quire: The store has no entity '\\xc4gren'. It has: "), ran.stderr)

    def test_names_that_the_store_does_not_have(self) -> None:
        self.fail_with(4, "no entity 'book'. Did you mean Book?", "query", self.path, "book")
        self.fail_with(4, "no entity 'Zebra'. It has: Author, Book, Comic, Cover.", "query", self.path, "Zebra")
        self.fail_with(4, "no property 'bogus'. It has: ", "query", self.path, "Book", "--columns", "bogus")
        self.fail_with(4, "no property 'titel'. Did you mean title?", "query", self.path, "Book", "--sort", "titel")
        ran = self.run_command("query", self.path, "Book", "--where", "pages > 3 AND titel == 'x'")
        self.assertEqual(
            ran.err, "quire: 'Book' has no property 'titel'. Did you mean title?\n"
            "pages > 3 AND titel == 'x'\n              ^\n")
        self.fail_with(4, "no property 'bogus'", "explain", self.path, "Book", "--where", "bogus == 1")
        self.fail_with(4, "one of them is empty", "query", self.path, "Book", "--sort", "title,")
        self.fail_with(4, "'hour:made' makes no sections", "query", self.path, "Book", "--section", "hour:made")
        self.fail_with(4, "no entity 'Zebra'", "browse", self.path, "Zebra")

    def test_a_wrong_predicate_shows_its_place(self) -> None:
        ran = self.run_command("query", self.path, "Book", "--where", "title == == 3")
        self.assertEqual((ran.code, ran.out), (4, ""))
        self.assertEqual(
            ran.err, "quire: A value or a key is expected here, but there is ==.\ntitle == == 3\n         ^\n")

    def test_a_reader_that_goes_away_ends_it_quietly(self) -> None:
        for format in ("table", "csv", "json", *(["arrow"] if HAS_ARROW else [])):
            command = [sys.executable, "-W", "error", "-m", "quire", "query", self.path, "Book", "--format", format]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                assert running.stdout is not None and running.stderr is not None
                running.stdout.read(10)
                running.stdout.close()
                self.assertEqual(running.stderr.read(), b"", format)
            self.assertEqual(running.returncode, 141, format)

    def test_a_full_disk_is_a_sentence(self) -> None:
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            command = [sys.executable, "-m", "quire", "query", self.path, "Book", "--format", "csv"]
            ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (3, "quire: No space left on device.\n"))

    def await_reading(self, running: subprocess.Popen[bytes]) -> None:
        """Waits until the command has taken all of its input, of which there may be more."""
        assert running.stdin is not None
        left = array.array("i", [1])
        while left[0] > 0:
            self.assertIsNone(running.poll())
            fcntl.ioctl(running.stdin, termios.FIONREAD, left)

    def test_control_c_ends_it_and_an_import_leaves_nothing(self) -> None:
        command = [sys.executable, "-W", "error", "-m", "quire", "import", self.path, "Book"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdin is not None and running.stderr is not None
            running.stdin.write(b"title\n" + b"more\n" * 6000)
            running.stdin.flush()
            self.await_reading(running)
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
        self.assertEqual((running.returncode, said), (130, b""))
        found = self.succeed("query", self.path, "Book", "--where", "title == 'more'", "--format", "csv", "--ids")
        self.assertEqual(len(found.splitlines()), 1)

    def test_signals_that_end_programs_leave_nothing_of_a_new_store(self) -> None:
        there = sorted(os.listdir(self.folder))
        made = self.place("made.sqlite")
        command = [sys.executable, "-W", "error", "-m", "quire", "import", made, "Book", "--model", self.path]
        for number in (signal.SIGTERM, signal.SIGHUP):
            with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
                assert running.stdin is not None and running.stderr is not None
                running.stdin.write(b"title\n" + b"more\n" * 6000)
                running.stdin.flush()
                while not any(".quire-import-" in each for each in os.listdir(self.folder)):
                    self.assertIsNone(running.poll())
                running.send_signal(number)
                said = running.stderr.read()
            self.assertEqual((running.returncode, said), (128 + number, b""))
            self.assertEqual(sorted(os.listdir(self.folder)), there)

    def test_a_package_that_is_missing_is_named(self) -> None:
        for_people = [["info", self.path], ["check", self.path], ["query", self.path, "Book"]]
        parquet = ["export", self.path, "Book", self.place("a.parquet")]
        for names, package, oldest, runs in (
            (["rich", "textual"], "rich", "13.3", for_people),
            (["textual"], "textual", "6.0", [["browse", self.path]]),
            (["pyarrow"], "pyarrow", "14", [parquet, ["query", self.path, "Book", "--format", "arrow"]]),
        ):
            for ran in self.without(names, runs):
                self.assertEqual(ran.code, 6, ran.err)
                self.assertEqual(
                    ran.err, f"quire: This needs the package {package}, which is not installed: pip install "
                    f"'{package}>={oldest}'.\n")

    def test_output_for_programs_needs_no_package(self) -> None:
        runs = [
            ["query", self.path, "Book", "--format", "csv"], ["query", self.path, "Book", "--format", "json"],
            ["info", self.path, "--format", "json"], ["info", self.path, "--names"], ["export", self.path, "Book"],
            ["explain", self.path, "Book"], ["completion", "bash"], ["--help"],
        ]
        for arguments, ran in zip(runs, self.without(["rich", "textual", "pyarrow"], runs)):
            self.assertEqual((ran.code, ran.err, bool(ran.out)), (0, "", True), arguments)

    def without(self, names: list[str], runs: list[list[str]]) -> list[Ran]:
        """Runs commands where packages are not installed."""
        program = BLOCKED.format(names=names, runs=runs)
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        return [Ran(*each) for each in json.loads(ran.stdout)]

    def test_importing_the_package_loads_nothing_of_the_command(self) -> None:
        program = "import sys, quire; print([name for name in sys.modules if 'cli' in name.split('.')])"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(ran.stdout, "[]\n", ran.stderr)


class TerminalTests(CommandTestCase):
    def on_terminal(self, *arguments: str, **environment: str) -> str:
        """What it writes on a terminal of 60 columns."""
        master, slave = pty.openpty()
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
        with subprocess.Popen(
            [sys.executable, "-m", "quire", *arguments], stdout=slave, stderr=slave,
            env={**variables, "TERM": "xterm-256color", "COLUMNS": "60", **environment},
        ):
            os.close(slave)
            parts = []
            try:
                while part := os.read(master, 1 << 16):
                    parts.append(part)
            except OSError:
                pass  # So ends a terminal.
        os.close(master)
        return b"".join(parts).decode()

    def test_a_terminal_has_colours_unless_it_wants_none(self) -> None:
        self.assertIn("\x1b[", self.on_terminal("check", self.path))
        self.assertNotIn("\x1b[3", self.on_terminal("check", self.path, NO_COLOR="1"))
        self.assertNotIn("\x1b[", self.on_terminal("check", self.path, TERM="dumb"))

    def test_a_table_fits_the_terminal_and_says_what_does_not(self) -> None:
        out = self.on_terminal("query", self.path, "Book", NO_COLOR="1")
        lines = re.sub("\x1b\\[[0-9;]*m|\r", "", out).splitlines()
        self.assertRegex(lines[-1], r"quire: \d of 11 columns do not fit; choose some with --columns")
        self.assertLessEqual(max(map(len, lines[:-1])), 60)

    def test_a_terminal_without_unicode_shows_the_numbers_of_letters(self) -> None:
        out = self.on_terminal("query", self.path, "Author", NO_COLOR="1", PYTHONIOENCODING="ascii")
        self.assertIn("\\xc5gren", out)
