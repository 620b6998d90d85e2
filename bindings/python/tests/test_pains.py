"""docs/behaviour/pains.md has all pains, and names tests that exist."""

from __future__ import annotations

import re
import unittest

from named_tests import ROOT, tests_of

TABLE = ROOT / "docs" / "behaviour" / "pains.md"
NOT_BUILT = "Not built yet."


@unittest.skipUnless(TABLE.is_file(), f"There is no {TABLE}: these tests are not run from the repository.")
class PainTests(unittest.TestCase):
    def setUp(self) -> None:
        text = TABLE.read_text(encoding="utf-8")
        self.pains = [int(number) for number in re.findall(r"^\| (\d+) \| [^|]+ \|$", text, re.MULTILINE)]
        self.answers = {
            int(number): answer for number, answer in re.findall(r"^- (\d+): (.+(?:\n  .+)*)$", text, re.MULTILINE)}
        self.tests = re.findall(r"^\| (\d+) \| (\w+\.(?:swift|c|py)) \| (.*?) *\|$", text, re.MULTILINE)
        self.assertEqual(len(re.findall(r"^\| \d+ \|", text, re.MULTILINE)), len(self.pains) + len(self.tests))

    def test_there_are_all_pains_in_their_order(self) -> None:
        self.assertEqual(self.pains, list(range(1, 26)))
        self.assertEqual(list(self.answers), self.pains)

    def test_every_test_that_is_named_exists(self) -> None:
        self.assertEqual([row for row in self.tests if row[2] not in tests_of(row[1])], [])

    def test_what_quire_does_about_each_has_a_test(self) -> None:
        shown = {int(number) for number, _, _ in self.tests}
        self.assertEqual(shown, {number for number, answer in self.answers.items() if answer != NOT_BUILT})


if __name__ == "__main__":
    unittest.main()
