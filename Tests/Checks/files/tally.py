"""What a check has counted, and what differed."""

from __future__ import annotations

from collections import Counter
from typing import Optional

MOST_TOLD = 40


class Tally:
    """`damaged` is how many files of each kind a check is to damage, `program` the one that reads a store from C, and
    `hostile` the one that uses damaged files."""

    def __init__(self, damaged: int = 100, program: Optional[str] = None, hostile: Optional[str] = None) -> None:
        self.damaged, self.program, self.hostile = damaged, program, hostile
        self.counts: Counter[str] = Counter()
        self.differences = 0

    def add(self, other: Tally) -> None:
        self.counts.update(other.counts)
        self.differences += other.differences

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] += number

    def differ(self, where: str, text: str) -> None:
        self.differences += 1
        if self.differences <= MOST_TOLD:
            print(f"files: {where}: {text}")
        elif self.differences == MOST_TOLD + 1:
            print("files: more differences are counted, but not told")

    def expect(self, where: str, text: str, is_so: bool) -> None:
        if not is_so:
            self.differ(where, text)

    def last_line(self, head: str, seed: int) -> str:
        counted = [f"{number} {what}" for what, number in self.counts.items()]
        return ", ".join([head, *counted, f"{self.differences} differences", f"seed {seed}"])
