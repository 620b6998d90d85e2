"""Three processes that edit one store, and a plain SQLite writer: what each mirrors by change sets must be right."""

from __future__ import annotations

import json
import pathlib
import random
import subprocess
import sys
from typing import Any, NamedTuple, Optional

from others_model import Difference

HERE = pathlib.Path(__file__).resolve().parent
PROCESSES = 3


class Case(NamedTuple):
    """The change journal of the file, or None for the default, and whether plain SQL writes, too."""

    change_journal: Optional[str]
    has_plain_writer: bool
    may_flag: bool
    """Whether change sets may say that contents may differ."""


CASES = {
    "mirrors-default": Case(None, False, False),
    "mirrors-default-sql": Case(None, True, True),
    "mirrors-all": Case("all", False, False),
    "mirrors-all-sql": Case("all", True, False),
    "mirrors-none": Case("none", True, True),
}


class Child:
    def __init__(self, script: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(HERE / script), *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, bufsize=1)
        self.answer()

    def order(self, order: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{order}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline().strip()
        if not line:
            raise Difference(f"a process has ended with {self.process.wait()}")
        return line

    def close(self) -> None:
        assert self.process.stdin and self.process.stdout
        if self.process.poll() is None and sys.exc_info()[0] is not None:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def run_mirrors(path: str, case: Case, commits: int, seed: str) -> tuple[Optional[str], str]:
    """What is wrong, and a sentence for people. The file is filled already."""
    children: list[Child] = []
    try:
        # One after another, so that no opening comes in between.
        for number in range(PROCESSES):
            children.append(Child("others_mirror.py", path, f"{seed}/{number}", str(commits)))
        mirrors = list(children)
        writer = None
        if case.has_plain_writer:
            writer = Child("others_writer.py", path, random.Random(seed).choice(["rules", "keys"]), f"{seed}/sql")
            children.append(writer)
        for mirror in mirrors:
            mirror.order("begin")
        for number in range(1, commits + 1 if writer else 1):
            assert writer
            writer.order(f"commit {number}")
            writer.answer()
        for mirror in mirrors:
            mirror.answer()
        told: list[dict[str, Any]] = []
        for mirror in mirrors:
            mirror.order("end")
            told.append(json.loads(mirror.answer()))
    except Difference as difference:
        return str(difference), ""
    finally:
        for child in children:
            child.close()
    wrong, flags = sum(each["wrong"] for each in told), sum(each["flags"] for each in told)
    sentence = f"{PROCESSES * commits} commits, {wrong} wrong, {flags} change sets say that contents may differ"
    if wrong:
        return f"{wrong} wrong: {[each['differences'] for each in told]}", sentence
    if any(each["shown"] != told[0]["shown"] for each in told):
        return "the processes show different rows in the end", sentence
    if flags and not case.may_flag:
        return f"{flags} change sets say that contents may differ", sentence
    if case.may_flag and not flags:
        return "no change set says that contents may differ", sentence
    return None, sentence
