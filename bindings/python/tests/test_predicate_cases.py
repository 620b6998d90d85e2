"""Every case of the public suites holds, but for those that docs/behaviour/predicate-cases.md lists with a reason."""

import collections
import functools
import itertools
import os
import re
import tempfile
import unittest

import quire
from fetch_cases import Sessions, fetching_problem, partly_saved, unsaved
from predicate_cases import (
    CASES, METHODS, TABLE, Memory, evaluation_problem, parsing_problem, read, sorting_problem, unmet)
from stored_rows import DoesNotFit, Engine
from support import say_skipped, seeds

SHARE_OF_UNMET = 0.03
FILES = ("eval", "parse", "sort", "fetch")
COUNT = 1_186
"""The cases of all files, for the line that says that they are skipped."""


def setUpModule():
    if not CASES.is_dir():
        say_skipped(f"{COUNT:,} predicate cases", CASES)


class Problems(dict):
    """What is wrong with each case of a file that fits, by its id; None for those that hold."""

    def __init__(self, name, problem):
        super().__init__()
        self.left_out = collections.Counter()
        """How many cases were not run, by reason."""
        for case in read(f"{name}.json"):
            try:
                self[case["id"]] = problem(case)
            except DoesNotFit as reason:
                self.left_out[str(reason)] += 1


def nothing_to_ask(case):
    raise DoesNotFit("nothing is asked about rows")


@functools.cache
def in_memory():
    """The cases without a store, and with unsaved objects."""
    return {
        "eval": Problems("eval", lambda case: evaluation_problem(case, Memory())),
        "parse": Problems("parse", parsing_problem),
        "sort": Problems("sort", lambda case: sorting_problem(case, "memory")),
        "fetch": Problems("fetch", lambda case: fetching_problem(case, unsaved))}


def by_sql(new_path):
    """The cases with saved objects, in stores at new paths."""
    sessions = Sessions(new_path)
    engine = Engine(new_path)
    try:
        return {
            "eval": Problems("eval", lambda case: evaluation_problem(case, engine)),
            "parse": Problems("parse", nothing_to_ask),
            "sort": Problems("sort", lambda case: sorting_problem(case, "sqlite")),
            "fetch": Problems("fetch", lambda case: fetching_problem(case, sessions.saved))}
    finally:
        sessions.close()


@functools.cache
def in_files():
    # Many small stores: none of them has to outlast a power cut.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        numbers = itertools.count()
        return by_sql(lambda: os.path.join(folder, f"{next(numbers)}.store"))


@unittest.skipUnless(CASES.is_dir(), "the cases are not there")
class PredicateCaseTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        for name, method in METHODS.items():
            quire.register_function(name, method)

    @classmethod
    def tearDownClass(cls):
        for name in METHODS:
            quire.unregister_function(name)

    def check(self, where, found):
        listed = unmet()
        failures = []
        for name in FILES:
            for case in read(f"{name}.json"):
                id = case["id"]
                problem = found[name].get(id)
                if problem is not None and (id, where) not in listed:
                    asked = case.get("format") or case.get("request")
                    failures.append(f"{id} ({case['authority']}) {asked}: {problem}")
                elif problem is None and (id, where) in listed:
                    failures.append(f"{id} holds or is not run, and {TABLE.name} lists it for {where}")
        self.assertEqual(failures, [], "\n" + "\n".join(failures))

    def test_cases_in_memory(self):
        self.check("memory", in_memory())

    def test_cases_in_store_files(self):
        self.check("sqlite", in_files())

    def test_cases_in_stores_without_a_file(self):
        self.check("sqlite", by_sql(lambda: ":memory:"))

    def test_fetches_of_partly_saved_rows(self):
        for seed in seeds(2):
            with self.subTest(seed=seed):
                found = Problems("fetch", lambda case: fetching_problem(case, lambda case: partly_saved(case, seed)))
                self.assertEqual(
                    {id for id, problem in found.items() if problem is not None},
                    {id for id, where in unmet() if id in found and where == "sqlite"})

    def test_the_table_has_authorities_and_figures(self):
        cases = {case["id"]: case for name in FILES for case in read(f"{name}.json")}
        for (id, _), (authority, _) in unmet().items():
            self.assertEqual(cases[id]["authority"], authority, id)
        text = TABLE.read_text()
        for name in FILES:
            figures = [len(read(f"{name}.json"))]
            for found in (in_memory()[name], in_files()[name]):
                figures += [len(found), sum(problem is None for problem in found.values())]
            self.assertIn(f"\n| {name} | {' | '.join(map(str, figures))} |\n", text)

    def test_the_table_tells_what_was_not_run_and_why(self):
        wanted = [
            f"| {name} | {where} | {count} | {reason} |"
            for name in FILES for where, found in (("memory", in_memory()), ("sqlite", in_files()))
            for reason, count in sorted(found[name].left_out.items())]
        found = re.findall(r"^\| \w+ \| (?:memory|sqlite) \| \d+ \| .+ \|$", TABLE.read_text(), re.M)
        self.assertEqual(found, wanted, "\n" + "\n".join(wanted))
        for name in FILES:
            for figures in (in_memory()[name], in_files()[name]):
                self.assertEqual(len(figures) + sum(figures.left_out.values()), len(read(f"{name}.json")))

    def test_few_cases_are_not_met(self):
        total = sum(len(read(f"{name}.json")) for name in FILES)
        failing = len({id for id, _ in unmet()})
        self.assertEqual(total, COUNT)
        self.assertLess(failing / total, SHARE_OF_UNMET)
        self.assertIn(f"{failing} of {total} cases do not hold: {failing / total:.1%}", TABLE.read_text())

    def test_each_case_runs_somewhere(self):
        for name in FILES:
            for case in read(f"{name}.json"):
                self.assertTrue(case["id"] in in_memory()[name] or case["id"] in in_files()[name], case["id"])


if __name__ == "__main__":
    unittest.main()
