"""How the command ends: numbers, sentences, and no traceback."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import time

from .command import CommandTestCase

BLOCKED = """
import sys
for name in {names!r}:
    sys.modules[name] = None
from quire.cli.main import main
sys.exit(main({arguments!r}))
"""


class EndTests(CommandTestCase):
    books = 3000

    def test_a_command_line_that_cannot_be_read(self) -> None:
        self.fail_with(2, "usage: quire")
        self.fail_with(2, "invalid choice: 'inof'", "inof")
        self.fail_with(2, "'x' is no whole number", "query", self.path, "Book", "--limit", "x")
        self.fail_with(2, "-1 is not between 0", "query", self.path, "Book", "--limit=-1")
        self.fail_with(2, "browse needs a terminal", "browse", self.path)

    def test_files_that_are_no_stores(self) -> None:
        self.fail_with(3, "the file does not exist", "info", self.place("nothing.sqlite"))
        self.fail_with(3, r"Could not open 'a\\u001b\[31m'", "info", "a\x1b[31m")
        self.fail_with(3, "not an SQLite database", "info", __file__)
        self.fail_with(3, "Could not open", "check", self.folder)
        self.fail_with(3, "No such file or directory", "import", self.path, "Book", self.place("nothing.csv"))
        self.fail_with(3, "No such file or directory", "export", self.path, "Book", self.place("no/where.csv"))

    def test_names_that_the_store_does_not_have(self) -> None:
        self.fail_with(4, "no entity 'book'. Did you mean Book?", "query", self.path, "book")
        self.fail_with(4, "no entity 'Zebra'. It has: Author, Book, Comic, Cover.", "query", self.path, "Zebra")
        self.fail_with(4, "no property 'bogus'. It has: ", "query", self.path, "Book", "--columns", "bogus")
        self.fail_with(4, "no property 'bogus'", "query", self.path, "Book", "--sort", "bogus")
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
        for format in ("table", "csv", "json"):
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

    def test_control_c_ends_it_and_an_import_leaves_nothing(self) -> None:
        command = [sys.executable, "-W", "error", "-m", "quire", "import", self.path, "Book"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            assert running.stdin is not None and running.stderr is not None
            running.stdin.write(b"title\n" + b"more\n" * 6000)
            running.stdin.flush()
            time.sleep(1)
            running.send_signal(signal.SIGINT)
            said = running.stderr.read()
        self.assertEqual((running.returncode, said), (130, b""))
        found = self.succeed("query", self.path, "Book", "--where", "title == 'more'", "--format", "csv", "--ids")
        self.assertEqual(len(found.splitlines()), 1)

    def test_a_package_that_is_missing_is_named(self) -> None:
        for names, package, arguments in (
            (["rich", "textual"], "rich", ["info", self.path]), (["rich", "textual"], "rich", ["check", self.path]),
            (["rich"], "rich", ["query", self.path, "Book"]), (["textual"], "textual", ["browse", self.path]),
        ):
            ran = self.without(names, arguments)
            self.assertEqual(ran.returncode, 6, ran.stderr)
            self.assertEqual(
                ran.stderr,
                f"quire: This needs the package {package}, which is not installed: pip install 'quire[cli]'.\n")
        for arguments in (
            ["export", self.path, "Book", self.place("a.parquet")], ["query", self.path, "Book", "--format", "arrow"],
        ):
            ran = self.without(["pyarrow"], arguments)
            self.assertEqual((ran.returncode, "pip install 'quire[arrow]'" in ran.stderr), (6, True), ran.stderr)

    def test_output_for_programs_needs_no_package(self) -> None:
        for arguments in (
            ["query", self.path, "Book", "--format", "csv"], ["query", self.path, "Book", "--format", "json"],
            ["info", self.path, "--format", "json"], ["info", self.path, "--names"], ["export", self.path, "Book"],
            ["explain", self.path, "Book"], ["completion", "bash"], ["--help"],
        ):
            ran = self.without(["rich", "textual", "pyarrow"], arguments)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""), arguments)

    def without(self, names: list[str], arguments: list[str]) -> subprocess.CompletedProcess[str]:
        program = BLOCKED.format(names=names, arguments=arguments)
        return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

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
