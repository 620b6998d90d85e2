"""Type checkers see what is there, and agree with what happens; needs mypy and basedpyright, and is skipped without."""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import unittest

import quire
from checkers import CHECKERS, MISSING, PACKAGE, mypy
from declared_forms import CALLS, DECLARATIONS, FORMS, PREAMBLE

HERE = os.path.dirname(os.path.abspath(__file__))


def run(lines):
    """What a program defines."""
    scope = {"__name__": __name__}
    exec(compile("\n".join(lines), "declared.py", "exec", dont_inherit=True), scope)
    return scope


@unittest.skipIf(MISSING, MISSING)
class TypingTests(unittest.TestCase):
    def test_the_package_is_clean(self):
        found = mypy("--config-file", os.path.join(HERE, "..", "pyproject.toml"), os.path.join(PACKAGE, "quire"))
        self.assertIn("Success", found)

    def test_users_see_types_and_mistakes(self):
        with open(os.path.join(HERE, "typed_use.py")) as file:
            lines = file.read().splitlines()
        shown = {number: found[1] for number, line in enumerate(lines, 1) if (found := re.search(r"# R: (.*)$", line))}
        wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# E")}
        for name, check in CHECKERS.items():
            with self.subTest(checker=name):
                found = check(os.path.join(HERE, "typed_use.py"))
                self.assertEqual(found.types, shown)
                self.assertEqual(found.wrong, wrong, found.text)

    def test_a_program_that_uses_much_runs_and_has_no_mistake(self):
        path = os.path.join(HERE, "typed_program.py")
        subprocess.run([sys.executable, "-W", "error", path], check=True)
        for name, check in CHECKERS.items():
            with self.subTest(checker=name):
                found = check(path)
                self.assertEqual((found.wrong, found.types, found.text), (set(), {}, ""))

    def test_what_a_constructor_takes_is_what_the_checkers_let_it_take(self):
        """Each form of a declaration, with each call: it runs where both checkers are content, and nowhere else."""
        lines = PREAMBLE.splitlines()
        for name, declared in FORMS.items():
            lines += [f"class {name}(quire.Model):", f"    it: {declared}"]
        first = len(lines) + 1
        calls = [call.replace("FORM", name) for name in FORMS for call in CALLS]
        scope = run(lines)
        refused = set()
        for call in calls:
            try:
                eval(call, scope)
            except (TypeError, quire.InvalidArgument):
                refused.add(call)
        self.assertGreater(len(refused), len(FORMS))
        self.assertGreater(len(calls) - len(refused), len(FORMS))
        for name, found in self.checked(lines + calls).items():
            self.assertGreaterEqual(min(found.wrong), first, found.text)
            self.assertEqual({calls[number - first] for number in found.wrong}, refused, name)

    def test_a_declaration_that_is_refused_is_a_mistake_to_the_checkers(self):
        for declared, is_right in DECLARATIONS.items():
            lines = [*PREAMBLE.splitlines(), "class Declared(quire.Model):", f"    it: {declared}"]
            with self.subTest(declared=declared):
                refused = self.assertRaises((TypeError, quire.InvalidArgument))
                with contextlib.nullcontext() if is_right else refused:
                    run(lines)
        several = PREAMBLE.splitlines()
        first = len(several)
        for number, declared in enumerate(DECLARATIONS):
            several += [f"class Declared{number}(quire.Model):", f"    it: {declared}"]
        for name, found in self.checked(several).items():
            wrong = {first + 2 * number + 2 for number, is_right in enumerate(DECLARATIONS.values()) if not is_right}
            self.assertEqual(found.wrong, wrong, f"{name}: {found.text}")

    def checked(self, lines):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "declared.py")
            with open(path, "w") as file:
                file.write("\n".join(lines) + "\n")
            return {name: check(path) for name, check in CHECKERS.items()}


if __name__ == "__main__":
    unittest.main()
