"""Chooses the tests of a tier and runs them with CTest.

    python3 Tests/tiers.py quick|commit|full BUILD [--turn HASH] [--list] [--failed WHAT]

A tier is a set of CTest's tests:

    quick   a part of the commit tier: what says most in four minutes
    commit  at each commit: every test with the label `commit`, and a part of those of TURNS
    full    every test, each with all of its cases

That part goes by turns: the hash of the commit chooses, and what has changed since the last
commit that passed runs in any case. The same hash is given to the tests as QUIRE_TURN: those that are a product of many
cases run a part of them. --turn takes turns as at another commit. --list prints which tests run and which do not, with
the reasons. --failed names what has failed before: the outcome is a failure then, whatever these tests do.
"""
from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True)
class Turn:
    """Tests of the full tier of which `count` run at a commit, and all when one of their files has changed."""

    tests: str
    count: int
    files: str | None = None


PACKAGING = (
    r"packaging/|bindings/python/(src|pyproject|setup|README|LICENSE)|Sources/C[^/]*/|.*/exports\.map|CMakeLists"
    r"|LICENSE|Package\.swift|share/|script/(wheel|deb|collectable|environment(s/wheel\.txt)?$)"
)
PAGES = (
    r"docs/site/|include/|bindings/python/src/|Tests/Documentation/|README\.md"
    r"|script/(site|environment(s/documentation\.txt)?$)"
)
TABLES = (
    r"bindings/python/.*arrow|.*/ABI\+Arrow|include/quire/arrow\.h|Tests/Bench/python/"
    r"|script/environment(s/tables\.txt)?$"
)
# The programs that use a file in C of the library more than others do.
PROGRAMS_OF_C = {
    "closing": ["test_store"],
    "file_watch": ["test_other_processes"],
    "fork": ["test_fork"],
    "format": ["test_predicate"],
    "inheritance": ["test_children"],
    "locked_files": ["test_store_files"],
    "locks": ["test_store_files", "test_threads"],
    "memory_content": ["test_store", "test_moments"],
    "memory_files": ["test_store", "test_moments"],
    "memory_locks": ["test_store", "test_moments"],
    "memory_names": ["test_store", "test_moments"],
    "system_calls": ["test_moved_files"],
}
TURNS = [
    # The address sanitizer looks at all programs in C at each commit. Valgrind finds values without a source, too.
    Turn(r"valgrind\.(?!changed).*", 2),
    Turn(r"consumer\.(wheel|debian)", 0, PACKAGING),
    Turn(r"docs\.(site|code)", 0, PAGES),
    Turn(r"python\.tables|bench\.tables", 0, TABLES),
]
# In the quick tier. Swift's tests take longer than all of these.
QUICK = (
    r"(c|checked|abi|header|fuzz|tidy|python)(\..*)?"
    r"|check\.(histories|controllers|predicates|moments|graph|history|xml)"
)
NOT_QUICK = r"python\.(typing|command|tables).*|tidy\.compile_commands"
# Below the build.
RESULTS = "Testing/tests.xml"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tier", choices=["quick", "commit", "full"])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--turn", metavar="HASH", help="choose as at the commit of this hash")
    parser.add_argument("--list", action="store_true", help="print which tests run and which do not, and run none")
    parser.add_argument("--failed", metavar="WHAT", help="what has failed before")
    options = parser.parse_args()
    if options.turn is not None and not re.fullmatch(r"[0-9a-f]{8,40}", options.turn):
        parser.error(f"--turn takes 8 to 40 digits of a hash, 0 to 9 and a to f, not '{options.turn}'.")
    options.build = options.build.resolve()
    tests = all_tests(options.build)
    if not tests:
        parser.error(f"'{options.build}' has no tests: make it by script/build --checked {options.build}")
    commit = Commit(options.build / "tested-commit")
    turn = options.turn or commit.hash
    changed = commit.changed()
    together = sorted(path.stem for path in (options.build / "Tests/together").glob("*.o"))
    programs = changed_programs(together, changed or [])
    choice = chosen(tests, options.tier, turn, changed, programs)
    print(f"{options.tier} tier of {commit}: {len(choice)} of {len(tests)} tests, turn {turn[:8]}")
    if options.list:
        for name in tests:
            if name in choice:
                print(f"  {name}: {choice[name] or 'always'}")
            else:
                print(f"- {name}: {reason_to_omit(name, options.tier)}")
        return 0
    for name in choice:
        if choice[name]:
            print(f"  {name}: {choice[name]}")
    sys.stdout.flush()
    begun = time.monotonic()
    variables = {"QUIRE_CHANGED_TESTS": " ".join(programs), "QUIRE_COMMIT": turn[:8]}
    if options.tier != "full":
        variables["QUIRE_TURN"] = turn[:8]
    status = run(options.build, tests, choice, variables)
    reported = report(options.build)
    passed = status == 0 and reported and not options.failed
    outcome = "passed" if passed else "FAILED" if reported else f"CTest ended early, with status {status},"
    if options.failed:
        print(f"failed before: {options.failed}")
    print(f"{options.tier} tier of {commit}, turn {turn[:8]}: {outcome} in {time.monotonic() - begun:.0f} s")
    if passed and options.tier != "quick":
        commit.record_tested()
    return 0 if passed else 1


class Commit:
    """The commit that is checked out, and what has changed since the last one that passed."""

    def __init__(self, tested):
        self._tested = tested
        self.hash = git("rev-parse", "HEAD") or "0" * 40
        self.is_changed = bool(git("status", "--porcelain"))

    def __str__(self):
        return self.hash[:12] + (" with changes" if self.is_changed else "")

    def changed(self):
        """The paths that have changed; None if that is not known, as in a shallow clone."""
        base = self._tested.read_text().strip() if self._tested.exists() else "HEAD~1"
        if not git("rev-parse", "--verify", "--quiet", base + "^{commit}"):
            return None
        # A file that was moved has changed in both places.
        known = git("diff", "--no-renames", "--name-only", "-z", base)
        fresh = git("ls-files", "--others", "--exclude-standard", "-z")
        return [path for path in (known + fresh).split("\0") if path]

    def record_tested(self):
        if not self.is_changed:
            self._tested.write_text(self.hash + "\n")


def git(*arguments):
    """What git prints; nothing where it fails or is missing."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def all_tests(build):
    """The labels of each of CTest's tests by its name, in its order."""
    if not (build / "CTestTestfile.cmake").exists():
        return {}
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    return {
        test["name"]: next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])
        for test in json.loads(listed.stdout)["tests"]
    }


def changed_programs(programs, changed):
    """Those programs of Tests/C whose file, header or implementation has changed."""
    subjects = [
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", found[1]).lower()
        for found in (re.fullmatch(r"(?:include/quire|.*/ABI)/(?:ABI\+)?(\w+)\.(?:h|swift)", path) for path in changed)
        if found
    ]
    files = {path[8:-2] for path in changed if path.startswith("Tests/C/")} | {f"test_{each}" for each in subjects}
    for path in changed:
        if found := re.fullmatch(r"Sources/CQuireFormat/(\w+)\.c", path):
            files.update(PROGRAMS_OF_C[found[1]])
    return [name for name in programs if name in files]


def chosen(tests, tier, turn, changed, programs):
    """Why each test runs, by its name; "" where it is in each run of the tier."""
    if tier == "full":
        return {name: "" for name in tests if name != "valgrind.changed"}
    if tier == "quick":
        commit = [name for name, labels in tests.items() if "commit" in labels]
        return {name: "" for name in commit if re.fullmatch(QUICK, name) and not re.fullmatch(NOT_QUICK, name)}
    choice = {name: "" for name, labels in tests.items() if "commit" in labels}
    if programs:
        choice["valgrind.changed"] = ", ".join(programs)
    apart = [name[9:] for name in tests if name.startswith("valgrind.") and not re.match("together|changed", name[9:])]
    choice |= {f"valgrind.{name}": "it has changed" for name in changed_programs(apart, changed or [])}
    for each in TURNS:
        names = [name for name in tests if re.fullmatch(each.tests, name)]
        ranked = sorted(names, key=lambda name: hashlib.sha256(f"{turn[:8]} {name}".encode()).digest())
        choice = dict.fromkeys(ranked[: each.count], "by its turn") | choice
        if each.files and changed is None:
            choice |= dict.fromkeys(names, "it is not known what has changed")
        elif each.files:
            paths = [path for path in changed if re.match(each.files, path)]
            others = f" and {len(paths) - 1} more of its files" if paths[1:] else ""
            choice |= dict.fromkeys(names if paths else [], f"{''.join(paths[:1])}{others} changed")
    return choice


def reason_to_omit(name, tier):
    """Why a test was not chosen."""
    if name.startswith("environment."):
        return "runs before a test that needs it"
    if name == "valgrind.changed":
        return "no program of Tests/C has changed" if tier == "commit" else "its programs run in other tests"
    if tier == "quick":
        return "not in the quick tier"
    for each in TURNS:
        if re.fullmatch(each.tests, name):
            return "none of its files has changed" if each.files else "not its turn"
    return "in the full tier"


def run(build, tests, choice, variables):
    """CTest's status. It takes the tests by their numbers, and adds what prepares them."""
    numbers = [str(number) for number, name in enumerate(tests, 1) if name in choice]
    selection = build / "Testing/selection.txt"
    selection.parent.mkdir(exist_ok=True)
    # Start, end, stride, and further numbers.
    selection.write_text(",".join([numbers[0], numbers[0], "1", *numbers[1:], "\n"]))
    (build / RESULTS).unlink(missing_ok=True)
    environment = {name: value for name, value in os.environ.items() if name != "QUIRE_TURN"} | variables
    return subprocess.run(
        ["ctest", "--output-on-failure", "--parallel", str(os.cpu_count() or 1), "-I", str(selection.resolve()),
            "--output-junit", RESULTS],
        cwd=build, env=environment).returncode


def report(build):
    """Prints the longest tests, and what tests say that they skip. False where CTest has left no results."""
    if not (build / RESULTS).exists():
        return False
    cases = xml.etree.ElementTree.parse(build / RESULTS).getroot().iter("testcase")
    longest = sorted(((float(case.get("time")), case.get("name")) for case in cases), reverse=True)[:10]
    print("longest: " + ", ".join(f"{name} {seconds:.0f} s" for seconds, name in longest))
    log = (build / "Testing/Temporary/LastTest.log").read_text(errors="replace")
    for line in sorted(set(re.findall(r"^skipped: .*", log, re.MULTILINE))):
        print(line)
    return True


if __name__ == "__main__":
    sys.exit(main())
