"""Checks that type checkers are content with the Python blocks of the pages, and with the example of an event loop.

Without mypy and basedpyright it is skipped.
"""
import pathlib
import sys
import tempfile
import unittest

from pages import PAGES, ROOT, program

sys.path.append(str(ROOT / "bindings/python/tests"))
from checkers import CHECKERS, MISSING  # noqa: E402


@unittest.skipIf(MISSING, MISSING)
class ReadmeTypes(unittest.TestCase):
    def test_the_blocks_of_each_page_have_no_mistake_and_one_behind_them_is_found(self):
        for page in PAGES:
            for name, check in CHECKERS.items():
                with self.subTest(page=page, checker=name), tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder, "page.py")
                    text = program(page) + "\nQuote(nothing=1)\n"
                    file.write_text(text)
                    found = check(str(file))
                    self.assertEqual(found.wrong, {text.count("\n")}, found.text)

    def test_the_event_loop_has_no_mistake_for_them(self):
        for name, check in CHECKERS.items():
            with self.subTest(checker=name):
                found = check(str(ROOT / "examples/event_loops/with_asyncio.py"))
                self.assertEqual((found.wrong, found.text), (set(), ""))


if __name__ == "__main__":
    unittest.main()
