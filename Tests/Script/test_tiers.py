"""Tests/tiers.py chooses what a tier has, and reports how its run ended."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import tiers  # noqa: E402

HASHES = [f"{number * 0x9E3779B1 % 2**32:08x}" for number in range(1, 101)]
TESTS = {
    "c.test_store": ["c", "commit"],
    "swift.0": ["swift", "commit"],
    "python.typing": ["python", "commit"],
    **{f"valgrind.{name}": ["valgrind", "full"] for name in ["together_0", "together_1", "null", "changed"]},
    "consumer.wheel": ["consumer", "full"],
    "docs.site": ["docs", "full"],
}


def choice(tier, turn="01234567", changed=(), programs=()):
    return tiers.chosen(TESTS, tier, turn, changed, programs)


class ChoiceTests(unittest.TestCase):
    def test_the_full_tier_has_every_test_and_those_of_valgrind_once(self):
        self.assertEqual(set(TESTS) - set(choice("full")), {"valgrind.changed"})

    def test_a_commit_has_its_own_tests_and_two_of_valgrind(self):
        for turn in HASHES:
            chosen = set(choice("commit", turn))
            self.assertLessEqual({"c.test_store", "swift.0", "python.typing"}, chosen, turn)
            self.assertEqual(sum(name.startswith("valgrind.") for name in chosen), 2, turn)
            self.assertEqual(len(chosen), 5, turn)

    def test_each_test_of_valgrind_has_its_turn_at_one_commit_or_another(self):
        seen = set().union(*(choice("commit", turn) for turn in HASHES))
        self.assertLessEqual({"valgrind.together_0", "valgrind.together_1", "valgrind.null"}, seen)

    def test_the_first_eight_digits_of_a_hash_repeat_its_choice(self):
        for turn in HASHES:
            self.assertEqual(choice("commit", turn), choice("commit", turn + "0123"), turn)

    def test_the_quick_tier_is_a_part_of_a_commit(self):
        for turn in HASHES:
            self.assertEqual(set(choice("quick", turn)), {"c.test_store"})

    def test_a_change_brings_the_tests_of_its_files(self):
        self.assertIn("consumer.wheel", choice("commit", changed=["packaging/wheel/make.sh"]))
        self.assertNotIn("docs.site", choice("commit", changed=["packaging/wheel/make.sh"]))
        self.assertIn("docs.site", choice("commit", changed=["docs/site/index.md"]))

    def test_everything_counts_as_changed_where_that_is_not_known(self):
        self.assertLessEqual({"consumer.wheel", "docs.site"}, set(choice("commit", changed=None)))

    def test_a_changed_program_of_C_runs_under_valgrind(self):
        self.assertEqual(choice("commit", programs=["test_store"])["valgrind.changed"], "test_store")
        self.assertEqual(choice("commit", changed=["Tests/C/null.c"])["valgrind.null"], "it has changed")

    def test_a_program_changes_with_its_file_its_header_and_its_implementation(self):
        programs = ["test_fetch", "test_fork", "test_list", "test_model_info"]
        for path, changed in {
            "Tests/C/test_list.c": ["test_list"],
            "include/quire/fetch.h": ["test_fetch"],
            "Sources/QuireCore/ABI/ABI+ModelInfo.swift": ["test_model_info"],
            "Sources/CQuireFormat/fork.c": ["test_fork"],
            "Sources/QuireCore/Text/TextOrder.swift": [],
        }.items():
            self.assertEqual(tiers.changed_programs(programs, [path]), changed, path)

    def test_each_file_in_C_of_the_library_has_a_program(self):
        files = {path.stem for path in (tiers.ROOT / "Sources/CQuireFormat").glob("*.c")}
        self.assertEqual(set(tiers.PROGRAMS_OF_C), files)
        for programs in tiers.PROGRAMS_OF_C.values():
            for name in programs:
                self.assertTrue((tiers.ROOT / f"Tests/C/{name}.c").exists(), name)


class RunTests(unittest.TestCase):
    """Runs CTest on a folder with tests of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)

    def write(self, **commands):
        (self.build / "CTestTestfile.cmake").write_text("".join(
            f'add_test({name} sh -c "{command}")\nset_tests_properties({name} PROPERTIES LABELS "c;commit")\n'
            for name, command in commands.items()))

    def run_tests(self, chosen, **commands):
        names = list(commands)
        self.write(**commands)
        self.assertEqual(list(tiers.all_tests(self.build)), names)
        # In a process of its own, whose output CTest's is.
        code = (
            "import pathlib, sys, tiers\n"
            f"sys.exit(tiers.run(pathlib.Path({str(self.build)!r}), {names}, {chosen}, {{'QUIRE_TURN': '01234567'}}))")
        done = subprocess.run([sys.executable, "-c", code], cwd=tiers.ROOT / "Tests", capture_output=True)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            reported = tiers.report(self.build)
        return done.returncode, reported, printed.getvalue()

    def run_script(self, *arguments):
        done = subprocess.run(
            [sys.executable, tiers.ROOT / "Tests/tiers.py", *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def test_only_what_is_chosen_runs_with_its_turn_and_what_it_skips_is_repeated(self):
        status, reported, printed = self.run_tests(
            ["second"], first="false", second="echo skipped: turn $QUIRE_TURN", third="false")
        self.assertEqual((status, reported), (0, True))
        self.assertRegex(printed, r"^longest: second \d+ s\nskipped: turn 01234567\n$")

    def test_a_failure_is_the_status(self):
        status, reported, _ = self.run_tests(["first", "second"], first="true", second="false")
        self.assertNotEqual(status, 0)
        self.assertTrue(reported)

    def test_a_ctest_that_is_killed_leaves_no_results_of_an_earlier_run(self):
        self.run_tests(["first"], first="true")
        status, reported, _ = self.run_tests(["first"], first="kill -9 $PPID")
        self.assertNotEqual(status, 0)
        self.assertFalse(reported)

    def test_what_failed_before_fails_the_tier(self):
        self.write(first="true")
        self.assertRegex("%d %s" % self.run_script("full", self.build), r"(?s)^0 .*: passed in \d+ s\n$")
        self.assertRegex(
            "%d %s" % self.run_script("full", self.build, "--failed", "an earlier part"),
            r"(?s)^1 .*\nfailed before: an earlier part\n.*: FAILED in \d+ s\n$")

    def test_a_list_has_each_test_with_its_reason_and_runs_none(self):
        self.write(**{"first": "false", "c.second": "false"})
        status, printed = self.run_script("quick", self.build, "--list", "--turn", "01234567")
        self.assertEqual(status, 0)
        self.assertRegex(
            printed, r"1 of 2 tests, turn 01234567\n- first: not in the quick tier\n  c.second: always\n$")

    def test_a_folder_without_tests_and_a_wrong_turn_are_named(self):
        self.assertRegex("%d %s" % self.run_script("commit", self.build), "(?s)^2 .* has no tests: make it by")
        self.write(first="true")
        self.assertRegex(
            "%d %s" % self.run_script("commit", self.build, "--turn", "ABCDEF12"), "(?s)^2 .*, not 'ABCDEF12'")


if __name__ == "__main__":
    unittest.main()
