"""Every scenario of public suites holds, but for those that docs/behaviour/list-scenarios.md lists with a reason."""

from __future__ import annotations

import collections
import functools
import re
import unittest
from typing import Callable, Optional

from list_scenarios import SCENARIOS, TABLE, Difference, Sequence, scenarios
from named_tests import tests_of
from support import say_skipped

NOT_BUILT = "no test"
"""In the place of a file: what Quire does not do, or does otherwise without a test of that alone."""


COUNT = 149
"""All scenarios, for the line that says that they are skipped."""


def setUpModule() -> None:
    if not SCENARIOS.is_dir():
        say_skipped(f"{COUNT:,} list scenarios", SCENARIOS)


@functools.cache
def text() -> str:
    return TABLE.read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text under a heading."""
    found = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", text(), re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


@functools.cache
def differing() -> dict[str, str]:
    """The scenarios that are reported otherwise, with what is reported and why."""
    rows = re.findall(r"^\| ([\w-]+/\S+) \| (\S.*) \|$", section("Reported otherwise"), re.MULTILINE)
    assert len(dict(rows)) == len(rows)
    return dict(rows)


@functools.cache
def behaviours() -> list[tuple[str, str, str, str]]:
    """Scenario, what Quire does, file and test."""
    return re.findall(
        r"^\| ([\w-]+/\S+) \| (same|differs|not built) \| ([\w. ]+) \| (.*?) *\|$", section("Behaviour"), re.MULTILINE)


@unittest.skipUnless(SCENARIOS.is_dir(), "the scenarios are not there")
class ScenarioTests(unittest.TestCase):
    def check(self, kinds: set[str], problem: Callable[[dict], Optional[str]]) -> None:
        wrong = []
        for name, scenario in scenarios().items():
            if scenario["kind"] not in kinds:
                continue
            with self.subTest(name):
                found = problem(scenario)
                if found is not None and name not in differing():
                    wrong.append(f"{name}: {found}")
                elif found is None and name in differing():
                    wrong.append(f"{name} holds, and {TABLE.name} lists it")
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_sequences_however_their_steps_reach_the_list(self) -> None:
        for way in Sequence.WAYS:
            with self.subTest(way):
                self.check({"sequence"}, lambda scenario: Sequence(scenario, way).problem())

    def test_differences_of_lists(self) -> None:
        self.check({"list_diff", "sectioned_list_diff"}, lambda scenario: Difference(scenario).problem())

    def test_no_portable_sequence_is_told_otherwise_but_where_fewer_moves_are_possible(self) -> None:
        portable = {name for name in differing() if scenarios()[name].get("portable")}
        self.assertEqual(portable, {"mrt/progressive/testMovesSwap", "cachetracker/nsfrc-micro-9"})

    def test_the_table_names_every_behaviour(self) -> None:
        self.assertEqual(
            {name for name, *_ in behaviours()},
            {name for name, scenario in scenarios().items() if scenario["kind"] == "behaviour"})
        self.assertEqual(set(differing()) - set(scenarios()), set())

    def test_the_figures_are_those_of_the_scenarios(self) -> None:
        self.assertEqual(len(scenarios()), COUNT)
        found: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
        other = {name for name, kind, *_ in behaviours() if kind != "same"} | set(differing())
        for name, scenario in scenarios().items():
            found[scenario["kind"]][0] += 1
            found[scenario["kind"]][1] += name not in other
        rows = re.findall(r"^\| (\w+) \| (\d+) \| (\d+) \|$", text(), re.MULTILINE)
        self.assertEqual({kind: [int(all), int(same)] for kind, all, same in rows}, dict(found))


@unittest.skipUnless(TABLE.is_file(), f"There is no {TABLE}: these tests are not run from the repository.")
class TableTests(unittest.TestCase):
    def test_every_test_that_is_named_exists(self) -> None:
        self.assertTrue(behaviours())
        gone = [row for row in behaviours() if row[2] != NOT_BUILT and row[3] not in tests_of(row[2])]
        self.assertEqual(gone, [])

    def test_every_behaviour_has_a_test_or_a_reason(self) -> None:
        reasons = set(re.findall(r"^- ([\w-]+/[\w-]+): +\S", section("Behaviour"), re.MULTILINE))
        self.assertEqual(reasons, {name for name, kind, *_ in behaviours() if kind != "same"})
        self.assertEqual([row for row in behaviours() if row[1] == "same" and row[2] == NOT_BUILT], [])


if __name__ == "__main__":
    unittest.main()
