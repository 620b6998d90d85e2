"""The tables in docs/behaviour and docs/file-format.md name tests that exist, and count right."""

from __future__ import annotations

import collections
import pathlib
import re
import unittest

from named_tests import LANGUAGES, ROOT, tests_of

DOCS = ROOT / "docs" / "behaviour"

MISSING = "missing"
"""In the place of a file: nothing shows this fact yet."""


class Table:
    """What the tables of lists and of objects have to be."""

    name: str
    sections: int
    """How many sections there are, numbered from 1."""
    counts: dict[str, list[int]] = {}
    """The first table: section to how many facts, the same, that differ, that are not built, without a test."""
    facts: dict[str, str] = {}
    """What Quire does, by the number of the fact."""
    reasons: list[tuple[str, str]] = []
    shown_by: list[tuple[str, str, str]] = []
    """Fact, file and test."""

    @classmethod
    def setUpClass(cls) -> None:
        text = (DOCS / cls.name).read_text(encoding="utf-8")
        fact = r"\d+\.\d+"
        cls.counts = {
            name: [int(each) for each in numbers.split(" | ")]
            for name, numbers in re.findall(
                r"^\| (\d+|all)\b[^|]* \| (\d+(?: \| \d+){4}) \|$", text, re.MULTILINE)}
        facts = re.findall(rf"^\| ({fact}) \| [ATRS/]+ \| .+ \| (same|differs|not built) \|$", text, re.MULTILINE)
        cls.facts = dict(facts)
        if len(cls.facts) != len(facts):
            raise AssertionError("A number stands for two facts.")
        cls.reasons = [
            (fact, kind)
            for listed, kind in re.findall(r"^- ([\d.,\s]+) \((differs|not built)\):\s+\S", text, re.MULTILINE)
            for fact in re.split(r",\s+", listed)]
        cls.shown_by = [
            row for row in re.findall(rf"^\| ({fact}) \| ([\w.]+) \| (.*?) *\|$", text, re.MULTILINE)
            if row[1] == MISSING or pathlib.PurePath(row[1]).suffix in LANGUAGES]
        rows = len(re.findall(rf"^\| {fact} \|", text, re.MULTILINE))
        if rows != len(facts) + len(cls.shown_by):
            raise AssertionError(f"{rows - len(facts) - len(cls.shown_by)} rows are neither facts nor tests.")

    def test_there_are_facts_of_all_sections(self) -> None:
        sections = {fact.rpartition(".")[0] for fact in self.facts}
        self.assertEqual(sections, {str(number) for number in range(1, self.sections + 1)})
        for section in sections:
            numbers = [int(fact.rpartition(".")[2]) for fact in self.facts if fact.rpartition(".")[0] == section]
            self.assertEqual(numbers, list(range(1, len(numbers) + 1)), section)

    def test_every_test_that_is_named_exists(self) -> None:
        gone = [(file, test) for _, file, test in self.shown_by if file != MISSING and test not in tests_of(file)]
        self.assertEqual(gone, [])

    def test_what_quire_does_has_a_test_or_is_said_to_miss_one(self) -> None:
        shown = {fact for fact, _, _ in self.shown_by}
        self.assertEqual(shown - set(self.facts), set())
        self.assertEqual([fact for fact, kind in self.facts.items() if kind != "not built" and fact not in shown], [])

    def test_what_is_not_the_same_has_a_reason(self) -> None:
        self.assertEqual(
            sorted(self.reasons), sorted((fact, kind) for fact, kind in self.facts.items() if kind != "same"))

    def test_the_counts_are_those_of_the_rows(self) -> None:
        missing = {fact for fact, file, _ in self.shown_by if file == MISSING}
        found: dict[str, list[int]] = collections.defaultdict(lambda: [0] * 5)
        for fact, kind in self.facts.items():
            for name in (fact.rpartition(".")[0], "all"):
                found[name][0] += 1
                found[name][1 + ("same", "differs", "not built").index(kind)] += 1
                found[name][4] += fact in missing
        self.assertEqual(self.counts, dict(found))


REASON = "these tests are not run from the repository"


@unittest.skipUnless(DOCS.is_dir(), REASON)
class GraphTableTests(Table, unittest.TestCase):
    name = "objects.md"
    sections = 9


@unittest.skipUnless(DOCS.is_dir(), REASON)
class ResultsTableTests(Table, unittest.TestCase):
    name = "lists.md"
    sections = 18


@unittest.skipUnless(DOCS.is_dir(), REASON)
class PredicateTableTests(unittest.TestCase):
    def test_every_rule_has_tests_that_exist(self) -> None:
        text = (DOCS / "predicates.md").read_text(encoding="utf-8")
        rules = re.findall(r"^\| (\d+) \| [TQ] \| .+ \|$", text, re.MULTILINE)
        shown_by = re.findall(r"^\| (\d+) \| (\w+\.(?:swift|c|py)) \| (.+) \|$", text, re.MULTILINE)
        self.assertTrue(rules)
        self.assertEqual(rules, [str(number) for number in range(1, len(rules) + 1)])
        self.assertEqual({rule for rule, *_ in shown_by}, set(rules))
        self.assertEqual(len(re.findall(r"^\| \d+ \|", text, re.MULTILINE)), len(rules) + len(shown_by))
        self.assertEqual([row for row in shown_by if row[2] not in tests_of(row[1])], [])


@unittest.skipUnless(DOCS.is_dir(), REASON)
class FileFormatTests(unittest.TestCase):
    def test_every_test_that_is_named_exists(self) -> None:
        text = (DOCS.parent / "file-format.md").read_text(encoding="utf-8")
        tests = re.findall(r"^\| [\w -]+ \| (\w+\.(?:swift|c|py)) \| (.+) \|$", text, re.MULTILINE)
        self.assertTrue(tests)
        self.assertEqual([row for row in tests if row[1] not in tests_of(row[0])], [])


if __name__ == "__main__":
    unittest.main()
