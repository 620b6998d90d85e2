"""Which cases of a large product run in a turn."""

from __future__ import annotations

import collections
import os
import unittest
import unittest.mock

from support import cases_of_turn


class TurnTests(unittest.TestCase):
    def selected(self, **environment: str) -> list[str]:
        names = [f"case {number}" for number in range(100)]
        with unittest.mock.patch.dict(os.environ, environment):
            return [case for case, _ in cases_of_turn(self, names, share=4)]

    def setUp(self) -> None:
        patch = unittest.mock.patch.dict(os.environ)
        patch.start()
        self.addCleanup(patch.stop)
        for name in ("QUIRE_TURN", "QUIRE_CASE"):
            os.environ.pop(name, None)

    def test_all_cases_run_without_a_turn(self) -> None:
        self.assertEqual(len(self.selected()), 100)
        self.assertEqual(len(self.selected(QUIRE_TURN="")), 100)

    def test_each_case_has_an_equal_chance_in_each_turn(self) -> None:
        counts: collections.Counter[str] = collections.Counter()
        for turn in range(400):
            counts.update(self.selected(QUIRE_TURN=f"{turn:040x}"))
        self.assertEqual(len(counts), 100)
        self.assertTrue(9_000 < sum(counts.values()) < 11_000, counts)
        self.assertTrue(50 < min(counts.values()) < max(counts.values()) < 150, counts)
        self.assertEqual(self.selected(QUIRE_TURN="f6276024"), self.selected(QUIRE_TURN="F6276024"))
        self.assertNotEqual(self.selected(QUIRE_TURN="f6276024"), self.selected(QUIRE_TURN="f6276025"))
        with self.assertRaisesRegex(ValueError, "QUIRE_TURN is 'later', which is no hexadecimal number"):
            self.selected(QUIRE_TURN="later")

    def test_a_failure_names_the_command_that_runs_its_case_alone(self) -> None:
        command = list(cases_of_turn(self, "abc", share=4))[1][1]
        needed = "".join(
            f"{name}={os.environ[name]} " for name in ("QUIRE_LIBRARY", "PYTHONPATH") if name in os.environ)
        self.assertEqual(command, f"{needed}QUIRE_CASE=1 python3 -m unittest {self.id()}")
        self.assertEqual(self.selected(QUIRE_TURN="1", QUIRE_CASE="17"), ["case 17"])
        with self.assertRaises(IndexError):
            self.selected(QUIRE_CASE="100")


if __name__ == "__main__":
    unittest.main()
