"""Checks that the programs in the pages are complete and do what they say.

Environment: QUIRE_CFLAGS are the compiler's options for the library, such as what pkg-config --cflags --libs quire
says. The Python programs find the package and the library as usual (PYTHONPATH, QUIRE_LIBRARY).
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import unittest

from pages import PAGES, blocks, program

PACKAGE = "bindings/python/README.md"


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_here(self, *command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stderr)
        return result.stdout

    def run_c(self):
        """What the C blocks print, each a program of its own."""
        printed = []
        for block in blocks("README.md", "c"):
            source = f"#include <quire.h>\n#include <stdio.h>\nint main(void) {{\n{block}return 0;\n}}\n"
            (self.folder / "readme.c").write_text(source)
            options = shlex.split(os.environ["QUIRE_CFLAGS"])
            self.run_here("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "readme.c", *options, "-o", "readme")
            printed.append(self.run_here("./readme"))
        return printed

    def run_python(self, text):
        (self.folder / "readme.py").write_text(text)
        return self.run_here(sys.executable, "-W", "error", "readme.py").splitlines()

    def test_c(self):
        self.assertEqual(self.run_c(), ["Goethe: 1\n"])

    def test_python(self):
        change, first, found = self.run_python(program("README.md"))
        self.assertEqual((first, found), ("Goethe 1", "Quote ['author']"))
        self.assertIn("insert", change.lower())

    def test_python_of_the_package(self):
        section, row, shown, by_author, imported, found = self.run_python(program(PACKAGE))
        self.assertIn("InsertSection", section)
        self.assertIn("Insert", row)
        self.assertEqual((shown, by_author), ("Goethe 1 ['More light!']", "['Goethe'] 1"))
        self.assertEqual((imported, found), ("imported 3", "['Faust'] ['Author', 'Book', 'Tag']"))

    def test_the_blocks_of_all_pages_run_one_after_the_other_in_one_folder(self):
        for time in ("first", "second"):
            with self.subTest(time=time):
                self.run_c()
                for page in PAGES:
                    self.assertTrue(self.run_python(program(page)), page)
        self.assertGreaterEqual(len(list(self.folder.glob("*.sqlite"))), 4)

    def test_the_blocks_of_all_pages_run_in_one_session(self):
        for pages in ([*PAGES], [*reversed(PAGES)], [*PAGES, *PAGES]):
            with self.subTest(pages=pages):
                self.assertTrue(self.run_python("\n".join(map(program, pages))))

    def test_the_predicates_beside_keys_are_theirs(self):
        shown = re.findall(r"^    (.*), *# (.* .*[>=}\"].*|.*BETWEEN.*)$", blocks(PACKAGE, "python")[-1], re.MULTILINE)
        compared = [f"assert str({made}) == str(quire.Predicate({text.partition(';')[0]!r})), ({made}, {text!r})"
                    for made, text in shown]
        self.assertGreaterEqual(len(compared), 3)
        self.run_python("\n".join([program(PACKAGE), *compared]))

    def test_the_package_says_the_same_to_help(self):
        text = self.run_here(sys.executable, "-c", "import quire; print(quire.__doc__)")
        example = text.partition("`help(")[0].splitlines()
        block = textwrap.dedent("\n".join(line for line in example if line.startswith("    ") or not line))
        (change,) = self.run_python(block)
        self.assertIn("Insert", change)


if __name__ == "__main__":
    unittest.main()
