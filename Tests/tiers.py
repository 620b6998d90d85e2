"""Chooses the tests of a tier and runs them with CTest.

    python3 Tests/tiers.py quick|commit|full BUILD [--turn HASH] [--list]

A tier is a set of CTest's tests:

    quick   a part of the commit tier: what says most in four minutes
    commit  at each commit: every test with the label `commit`, and a part of those of TURNS
    full    every test, each with all of its cases

That part goes by turns: the hash of the commit chooses, and what has changed since the last
commit that passed runs in any case. The same hash is given to the tests as QUIRE_TURN: those that are a product of many
cases run a part of them. --turn repeats the choice of another commit, --list prints the choice alone.
"""
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
    r"packaging/|bindings/python/(src|pyproject|setup)|Sources/C[^/]*/|CMakeLists|Package\.swift|script/(wheel|deb)"
)
PAGES = r"docs/site/|include/|bindings/python/src/|Tests/Documentation/|README\.md|script/site"
TABLES = r"bindings/python/.*arrow|.*/ABI\+Arrow|include/quire/arrow\.h|Tests/Bench/python/"
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
    parser.add_argument("--list", action="store_true", help="print the choice, and run nothing")
    options = parser.parse_args()
    commit = Commit(options.build / "tested-commit")
    turn = options.turn or commit.hash
    if not re.fullmatch(r"[0-9a-f]{8,40}", turn):
        parser.error(f"'{turn}' is no hash of a commit: give at least eight hexadecimal digits.")
    tests = all_tests(options.build)
    changed = commit.changed()
    programs = changed_programs(options.build, changed or [])
    choice = chosen(tests, options.tier, turn, changed, programs)
    print(f"{options.tier} tier of {commit}: {len(choice)} of {len(tests)} tests, turn {turn[:8]}", flush=True)
    for name in choice:
        if choice[name]:
            print(f"  {name}: {choice[name]}")
    sys.stdout.flush()
    if options.list:
        return 0
    begun = time.monotonic()
    variables = {"QUIRE_CHANGED_TESTS": " ".join(programs), "QUIRE_COMMIT": turn[:8]}
    if options.tier != "full":
        variables["QUIRE_TURN"] = turn[:8]
    status = run(options.build, tests, choice, variables)
    reported = report(options.build)
    passed = status == 0 and reported
    outcome = "passed" if passed else "FAILED" if reported else f"CTest ended early, with status {status},"
    print(f"{options.tier} tier of {commit}, turn {turn[:8]}: {outcome} in {time.monotonic() - begun:.0f} s")
    if passed and options.tier != "quick":
        commit.note_tested()
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
        fresh = git("ls-files", "--others", "--exclude-standard")
        return git("diff", "--name-only", base).splitlines() + fresh.splitlines()

    def note_tested(self):
        if not self.is_changed:
            self._tested.write_text(self.hash + "\n")


def git(*arguments):
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def all_tests(build):
    """The labels of each of CTest's tests by its name, in its order."""
    listed = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True)
    return {
        test["name"]: next((each["value"] for each in test["properties"] if each["name"] == "LABELS"), [])
        for test in json.loads(listed.stdout)["tests"]
    }


def changed_programs(build, changed):
    """The programs of Tests/C, among those that share a process, whose file, header or implementation has changed."""
    programs = sorted(path.stem for path in (build / "Tests/together").glob("*.o"))
    subjects = [
        re.sub(r"(?<=[a-z])(?=[A-Z])", "_", found[1]).lower()
        for found in (re.fullmatch(r"(?:include/quire|.*/ABI)/(?:ABI\+)?(\w+)\.(?:h|swift)", path) for path in changed)
        if found
    ]
    files = {path[8:-2] for path in changed if path.startswith("Tests/C/")} | {f"test_{each}" for each in subjects}
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
    for each in TURNS:
        names = [name for name in tests if re.fullmatch(each.tests, name)]
        ranked = sorted(names, key=lambda name: hashlib.sha256(f"{turn[:8]} {name}".encode()).digest())
        choice |= dict.fromkeys(ranked[: each.count], "by its turn")
        if each.files and changed is None:
            choice |= dict.fromkeys(names, "it is not known what has changed")
        elif each.files:
            paths = [path for path in changed if re.match(each.files, path)]
            choice |= dict.fromkeys(names if paths else [], f"{len(paths)} of its files have changed")
    return choice


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
