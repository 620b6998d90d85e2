"""Runs the programs of the contenders, and holds what they found against each other."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from plan import CASES, PYTHON, Case, takes_part

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "build/lib/libquire.so"
PROGRAM = ROOT / "build/tests/bench"
GRDB = ROOT / ".build-bench/release/grdb-bench"
CHECKED_ROWS = 2000
"""With so many rows all contenders have to agree before anything is timed."""
IMPORTS = 15


class Disagreement(Exception):
    """Contenders that should have found the same."""


class Bench:
    """What was measured so far, and how: which contenders there are, by which interpreter, in which folder."""

    def __init__(
        self, folder: pathlib.Path, contenders: set[str], python: str, program: pathlib.Path = PROGRAM
    ) -> None:
        self.program = program
        self.folder = folder
        self.contenders = contenders
        self.python = python
        self.samples: dict[tuple[str, str, int], list[float]] = {}
        self.answers: dict[tuple[str, int], tuple[str, str]] = {}
        self.environment = dict(
            os.environ, QUIRE_LIBRARY=os.environ.get("QUIRE_LIBRARY", str(LIBRARY)), PYTHONDONTWRITEBYTECODE="1",
            PYTHONPATH=str(ROOT / "bindings/python/src"))

    # MARK: running

    def prepare(self, rows: set[int]) -> None:
        """Makes the files that the contenders copy."""
        wanted = sorted(count for count in rows | {0} if not (self.folder / f"plain-{count}.sqlite").exists())
        if wanted:
            counts = ",".join(map(str, wanted))
            self.start([self.program, "--prepare", self.folder, "--rows", counts])

    def start(self, command: list) -> None:
        subprocess.run(
            list(map(str, command)), cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def found(self, command: list) -> list[dict]:
        with tempfile.NamedTemporaryFile(suffix=".json", dir=self.folder) as file:
            self.start([*command, "--folder", self.folder, "--json", file.name])
            return json.load(file)

    def take(self, results: list[dict], wanted: set[str]) -> None:
        """Keeps the samples of the wanted cases; all contenders of a case have to give one answer."""
        for result in results:
            case, contender, rows = result["case"], result["contender"], result["rows"]
            if case not in wanted:
                continue
            other, answer = self.answers.setdefault((case, rows), (contender, result["answer"]))
            if answer != result["answer"]:
                raise Disagreement(
                    f"{case} with {rows} rows: {other} found '{answer}', and {contender} '{result['answer']}'.")
            self.samples.setdefault((case, contender, rows), []).extend(result["samples"])

    def command_of(self, contender: str, cases: str, rows: int) -> list:
        program = [GRDB] if contender == "grdb" else [
            self.python, ROOT / "Tests/Bench/python/peers.py", contender]
        return [*program, cases, "--rows", rows]

    def run_in_c(self, case: str, rows: int, wanted: set[str]) -> None:
        self.take(self.found([self.program, "--only", case, "--rows", rows]), wanted)

    def run_other(self, contender: str, case: Case, rows: int) -> None:
        self.take(self.found(self.command_of(contender, case.name, rows)), {case.name})

    def others(self, case: Case, rows: int) -> list[str]:
        return [each for each in case.others if each in self.contenders and takes_part(case, each, rows)]

    def check(self, cases: list[Case]) -> None:
        """Has everyone do everything with few rows, one process for each contender; forgets the times."""
        self.prepare({CHECKED_ROWS})
        wanted = {name for case in cases for name in (case.name, *case.also)}
        for case in sorted({case.in_c for case in cases if case.in_c}):
            self.run_in_c(case, CHECKED_ROWS, wanted)
        for contender in sorted({each for case in cases for each in case.others} & self.contenders):
            names = ",".join(case.name for case in cases if contender in case.others and case.name != "import")
            if names:
                command = self.command_of(contender, names, CHECKED_ROWS)
                self.take(self.found([*command, "--quick"]), wanted)
        self.samples.clear()

    def measure(self, cases: list[Case], rows_of) -> None:
        """Everything at all sizes; `rows_of(case)` says which."""
        done = set()
        for case in cases:
            if case.name == "import":
                self.measure_imports(case)
                self.show(case.name, 0)
                continue
            for rows in rows_of(case):
                self.prepare({rows})
                names = {each.name for each in cases if each.in_c == case.in_c} | set(case.also)
                is_new = case.in_c and (case.in_c, rows) not in done
                done.add((case.in_c, rows))
                for _ in range(case.rounds if rows <= 100_000 else 1):
                    if is_new:
                        self.run_in_c(case.in_c, rows, names)
                    for contender in self.others(case, rows):
                        self.run_other(contender, case, rows)
                for name in (case.name, *case.also):
                    self.show(name, rows)

    def measure_imports(self, case: Case) -> None:
        """The time that loading takes in a process that has just begun."""
        code = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
        dynamic = "from ctypes import CDLL; " + code
        statements = {each: code.format(f"import {_module(each)}") for each in PYTHON if each in self.contenders}
        statements["quire-c"] = dynamic.format(f"CDLL({self.environment['QUIRE_LIBRARY']!r})")
        statements["sqlite-c"] = dynamic.format("CDLL('libsqlite3.so.0')")
        # An installed package has been compiled before.
        environment = dict(self.environment, PYTHONPYCACHEPREFIX=str(self.folder / "compiled"))
        del environment["PYTHONDONTWRITEBYTECODE"]
        for turn in range(-1, IMPORTS):
            for contender, statement in statements.items():
                ended = subprocess.run(
                    [self.python, "-c", statement], env=environment, check=True, capture_output=True, text=True)
                if turn < 0:
                    continue
                self.samples.setdefault((case.name, contender, 0), []).append(float(ended.stdout))

    # MARK: results

    def results(self) -> list[dict]:
        return [
            {"case": case, "contender": contender, "rows": rows, "median": statistics.median(samples)}
            for (case, contender, rows), samples in self.samples.items()]

    def show(self, name: str, rows: int) -> None:
        """Prints the medians of one case, with their ratios to Quire's."""
        medians = {
            contender: statistics.median(samples)
            for (case, contender, count), samples in self.samples.items() if (case, count) == (name, rows)}
        for contender, median in medians.items():
            base = medians.get("quire-python" if contender in PYTHON else "quire-c")
            ratio = f"{median / base:12.2f}" if base else ""
            print(f"{name:<22}{contender:<20}{rows:>10,}{median:>16.6f}{ratio}", flush=True)


def _module(contender: str) -> str:
    return "quire" if contender == "quire-python" else contender


def importable() -> set[str]:
    """The Python contenders that this interpreter has."""
    return {
        each for each in PYTHON if each == "quire-python" or importlib.util.find_spec(each) is not None}


def python_with_peers() -> str:
    """The Python of the environment with the peers, which is made when it is not there."""
    made = subprocess.run([ROOT / "script/environment", "bench"], check=True, stdout=subprocess.PIPE, text=True)
    return made.stdout.rstrip() + "/bin/python"


def build_grdb() -> None:
    subprocess.run(
        ["swift", "build", "--configuration", "release", "--package-path", ROOT / "Tests/Bench/grdb", "--scratch-path",
         ROOT / ".build-bench"], check=True, stdout=sys.stderr)


__all__ = ["Bench", "CASES", "Disagreement", "ROOT", "build_grdb", "importable", "python_with_peers"]
