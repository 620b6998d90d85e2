"""Type checkers see what is there; needs mypy, and is skipped without."""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

import quire

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.dirname(os.path.abspath(quire.__file__))


def mypy(*arguments):
    with tempfile.TemporaryDirectory() as cache:
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *arguments],
            capture_output=True, text=True, cwd=HERE, env={**os.environ, "MYPYPATH": os.path.dirname(PACKAGE)}).stdout


@unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
class TypingTests(unittest.TestCase):
    def test_the_package_is_clean(self):
        found = mypy("--config-file", os.path.join(HERE, "..", "pyproject.toml"), PACKAGE)
        self.assertIn("Success", found)

    def test_users_see_types_and_mistakes(self):
        found = set()
        for line in mypy("--no-warn-unused-ignores", "typed_use.py").splitlines():
            match = re.match(r'typed_use.py:(\d+): (?:note: Revealed type is "(.*)"|error: .*\[([a-z-]+)\])$', line)
            if match:
                found.add((int(match[1]), match[2] or match[3]))
        expected = set()
        with open(os.path.join(HERE, "typed_use.py")) as file:
            for number, line in enumerate(file, 1):
                match = re.search(r"# [RE]: (.*)$", line)
                if match:
                    expected.add((number, match[1]))
        self.assertEqual(found, expected)


if __name__ == "__main__":
    unittest.main()
