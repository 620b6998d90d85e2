"""Checks that the programs in README.md are complete and do what they say.

Environment: QUIRE_CFLAGS are the compiler's options for the library, such as what pkg-config --cflags --libs quire
says. The Python program finds the package and the library as usual (PYTHONPATH, QUIRE_LIBRARY).
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

README = (pathlib.Path(__file__).resolve().parents[2] / "README.md").read_text()


def program(language):
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return text


class Readme(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_here(self, *command):
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_c(self):
        source = f"#include <quire.h>\n#include <stdio.h>\nint main(void) {{\n{program('c')}return 0;\n}}\n"
        (self.folder / "readme.c").write_text(source)
        options = shlex.split(os.environ["QUIRE_CFLAGS"])
        self.run_here("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "readme.c", *options, "-o", "readme")
        self.assertEqual(self.run_here("./readme"), "Goethe: 1\n")

    def test_python(self):
        (self.folder / "readme.py").write_text(program("python"))
        change, last = self.run_here(sys.executable, "readme.py").splitlines()
        self.assertEqual(last, "Goethe 1")
        self.assertIn("insert", change.lower())


if __name__ == "__main__":
    unittest.main()
