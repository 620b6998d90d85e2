#!/usr/bin/env python3
"""What other processes commit to a file.

    others.py [--commits N] [--seed S] [--only CASE ...]

A case is a kind of file and a kind of writer. The writer makes N commits, one after another, while this process waits
in poll(2) and processes. Each has to show in live lists; how long after the return of the writer's commit is printed.
After each, lists and members of objects are compared with new fetches. Where the writer is Quire, this process makes
N commits, too, which have to show there. At the end of a case the writer commits without a pause; then the file is
replaced by another.

In a case of mirrors three processes make N commits each, with and without a plain SQLite writer. Each keeps what its
lists show by change sets, rereads values only where a change set says so, and compares that with a fresh query.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import statistics
import sys
import tempfile
import time
from typing import Any, Optional

from others_mirrors import CASES as MIRRORS, Child, run_mirrors
from others_model import MARK, MODELS, Author, Book, Difference, Tag, Watcher

import quire

FILES = ["plain", "saves", "all", "history", "delete"]
CASES = [f"{file}-{writer}" for file in FILES for writer in ("quire", "rules", "careless")
         # A store of Quire would turn on the log.
         if (file, writer) != ("delete", "quire")] + ["all_delete-careless", *MIRRORS]
JOURNALS = {"saves": "saves", "all": "all", "all_delete": "all"}


def fill(path: str, change_journal: Any, track_history: bool = False) -> None:
    with quire.open(path, MODELS, change_journal=change_journal, track_history=track_history) as store:
        context = store.context
        authors = [context.add(Author(name=f"A{number}")) for number in range(6)]
        context.add(Tag(name=f"{MARK}0"))
        for name in "123":
            context.add(Tag(name=name))
        for number in range(40):
            context.add(Book(number=number, pages=number * 25, author=authors[number % 5]))
        context.save()


class Case:
    def __init__(self, folder: str, name: str, seed: int) -> None:
        self.file, self.kind = name.split("-")
        self.path = os.path.join(folder, f"{name}.sqlite")
        self.random = random.Random(f"{seed}/{name}")
        fill(self.path, JOURNALS.get(self.file, "none"), self.file == "history")
        self.keeper: Optional[sqlite3.Connection] = None
        if "delete" in self.file:
            # Another program that reads keeps the store from having a log.
            self.keeper = sqlite3.connect(self.path, isolation_level=None)
            self.keeper.execute("PRAGMA journal_mode = DELETE")
            self.keeper.execute("BEGIN")
            self.keeper.execute("SELECT count(*) FROM ZBOOK").fetchone()
        self.watcher = Watcher(self.path)
        if self.keeper:
            self.keeper.close()
        self.writer = Child("others_writer.py", self.path, self.kind, f"{seed}/{name}/writer")
        self.number = 0
        self.times: list[float] = []

    def commit_there(self) -> None:
        self.number += 1
        self.writer.order(f"commit {self.number}")
        seen = self.watcher.wait(self.number)
        committed = float(self.writer.answer())
        if seen is None:
            raise Difference(f"commit {self.number} does not show")
        self.times.append(seen - committed)
        self.watcher.compare()

    def commit_here(self) -> None:
        self.number += 1
        context = self.watcher.context
        context.add(Book(number=self.random.randrange(10_000), pages=self.random.randrange(1000),
                         author=self.random.choice(self.watcher.kept)))
        self.watcher.lists[0][0].name = f"{MARK}{self.number}"
        context.save()
        committed = time.monotonic()
        self.writer.order(f"see {self.number}")
        answer = self.writer.answer()
        if answer == "late" or answer.startswith("differs"):
            raise Difference(f"in the other process, after commit {self.number} of this one: {answer}")
        self.times.append(float(answer) - committed)

    def commit_without_pause(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            self.writer.order(f"commit {self.number}")
        if self.watcher.wait(self.number) is None:
            raise Difference(f"the last of {count} commits without a pause does not show")
        for _ in range(count):
            self.writer.answer()
        # Without a log a context reads what is newest, so that the mark may be ahead of the lists.
        if self.keeper:
            self.watcher.follow()
        else:
            self.watcher.compare()

    def replace_file(self) -> None:
        """What is there is told by the next save, and by an opening."""
        other = f"{self.path}.other"
        fill(other, "none")
        self.writer.close()
        for ending in ("-wal", "-shm"):
            if os.path.exists(f"{self.path}{ending}"):
                os.unlink(f"{self.path}{ending}")
        os.replace(other, self.path)
        context = self.watcher.context
        context.process()
        context.add(Tag(name="lost"))
        try:
            context.save()
        except quire.FileMoved:
            pass
        else:
            raise Difference("a save goes into a file that was replaced")
        self.watcher.close()
        watcher = Watcher(self.path)
        if watcher.mark != 0:
            raise Difference("an opening does not find the other file")
        watcher.compare()
        watcher.close()


def run(folder: str, name: str, commits: int, seed: int) -> tuple[Optional[str], list[float], int]:
    case = Case(folder, name, seed)
    try:
        for _ in range(commits):
            case.commit_there()
            if case.kind == "quire":
                case.commit_here()
        wakes = case.watcher.wakes
        case.commit_without_pause(min(commits, 200))
        case.replace_file()
        return None, case.times, wakes
    except (Difference, quire.Error) as difference:
        return f"{name}: {difference}", case.times, case.watcher.wakes
    finally:
        if case.writer.process.poll() is None:
            case.writer.process.kill()
            case.writer.close()
        case.watcher.close()


def mirror(folder: str, name: str, commits: int, seed: int) -> Optional[str]:
    path = os.path.join(folder, f"{name}.sqlite")
    fill(path, MIRRORS[name].change_journal)
    difference, sentence = run_mirrors(path, MIRRORS[name], commits, f"{seed}/{name}")
    print(f"{name:<22} {sentence}", flush=True)
    return None if difference is None else f"{name}: {difference}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--only", nargs="+", choices=CASES, default=CASES)
    options = parser.parse_args()
    differences = commits = 0
    for name in options.only:
        folder = tempfile.mkdtemp()
        try:
            if name in MIRRORS:
                difference, times, wakes = mirror(folder, name, options.commits, options.seed), [], 0
                commits += options.commits
            else:
                difference, times, wakes = run(folder, name, options.commits, options.seed)
        finally:
            shutil.rmtree(folder)
        commits += len(times)
        if difference is not None:
            differences += 1
            print(difference)
        if times:
            print(
                f"{name:<22} {len(times):>6} commits, {statistics.median(times) * 1000:6.2f} ms in the median, "
                f"{max(times) * 1000:6.1f} ms at the longest, {wakes} times awake", flush=True)
    print(f"others: {commits} steps, {differences} differences, seed {options.seed}")
    sys.exit(differences > 0)


if __name__ == "__main__":
    main()
