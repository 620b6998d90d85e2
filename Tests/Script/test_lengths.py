"""script/check rejects lengths with which a check would look at nothing, before it builds anything."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "script/check"


class LengthTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.script = pathlib.Path(folder.name) / "script/check"
        self.script.parent.mkdir()
        shutil.copy(SCRIPT, self.script)
        # A copy has nothing to build with: what is accepted fails there.

    def run_check(self, *arguments):
        return subprocess.run([self.script, *arguments], text=True, capture_output=True)

    def usages(self):
        """The options with a number N of each check."""
        pattern = r"^  script/check ([a-z][a-z_-]*)((?: .*\n(?:\s+\[.*\n)*)?)"
        lines = re.findall(pattern, self.run_check("--help").stdout, re.M)
        return {name: re.findall(r"(--[a-z]+) N", usage) for name, usage in lines if " N" in usage}

    def test_every_length_is_a_number_from_1_on(self):
        usages = self.usages()
        self.assertLessEqual({"histories", "moments", "xml", "memory", "tests", "fuzz-predicate"}, set(usages))
        for name, options in usages.items():
            for value in ("0", "00", "-1", "-0", "", "x", "1.5", "9" * 30):
                for wrong in ((options[0], value), (f"{options[0]}={value}",)):
                    with self.subTest(name, wrong=wrong):
                        ran = self.run_check(name, "--seed", "1", *wrong)
                        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                        self.assertEqual(
                            ran.stderr.splitlines()[0],
                            f"script/check: '{options[0]}' takes a number of 1 or more, not '{value}'.")
                        self.assertIn(f"script/check {name}", ran.stderr)

    def test_other_numbers_are_accepted(self):
        for arguments in (("histories", "--steps", "1"), ("external", "--kills=010"), ("history", "--kills", "0")):
            ran = self.run_check(*arguments)
            self.assertEqual(ran.returncode, 127)
            self.assertIn("script/build: No such file", ran.stderr)

    def test_a_part_can_be_left_out_but_not_be_less_than_nothing(self):
        for name, option in (("history", "--kills"), ("xml", "--damaged"), ("faults", "--recoveries")):
            ran = self.run_check(name, option, "-1")
            self.assertEqual(ran.returncode, 2)
            self.assertRegex(ran.stderr, f"'{option}' takes a number of 0 or more, not '-1'")
        ran = self.run_check("debian", "--steps", "3")
        self.assertIn("script/check: there is no option '--steps'.", ran.stderr)
        self.assertRegex(self.run_check("history", "--steps").stderr, "'--steps' takes a number of 1 or more, not ''")


if __name__ == "__main__":
    unittest.main()
