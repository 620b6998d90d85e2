#!/usr/bin/env python3
"""Another copy of SQLite in the process of an open store, and another process beside it.

    copies.py [--rounds N] [--seed S]

The other copy opens the file of the store, adds one to a number, reads it and closes the file, N times, as Python's
sqlite3 does where it brings a SQLite of its own. Meanwhile stores in the same process add one to a number of their
own again and again, and are opened and closed. Another process does as the other copy does. No addition may be lost,
and the file must be whole. Locks of fcntl(2) end when any descriptor of a file is closed, so that all of this depends
on whose locks they are.

Ends with one line, `copies: N steps, D differences, seed S`; fails when something differs.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from typing import Optional

import quire

ADD = "UPDATE ZCOUNTER SET ZVALUE = ZVALUE + 1, Z_OPT = Z_OPT + 1 WHERE Z_PK = 1"
BUSY = 5
BUSY_TIMEOUT = 60_000
# The other process: adds until its input ends, and prints how often it did.
STRANGER = f"""
import select, sqlite3, sys, time
count = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    file = sqlite3.connect(sys.argv[1], timeout={BUSY_TIMEOUT / 1000}, isolation_level=None)
    file.execute({ADD!r})
    count += 1
    file.close()
    time.sleep(0.002)
print(count)
"""


class Counter(quire.Model):
    owner: quire.Attr[str] = quire.attr(default="")
    value: quire.Attr[int] = quire.attr(default=0)


class OtherSQLite:
    """A copy of the library of SQLite, which has nothing in common with the one that the store uses."""

    def __init__(self, folder: str) -> None:
        found = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
        source = next(line.split(" => ")[1] for line in found.splitlines() if "libsqlite3.so.0 " in line)
        path = os.path.join(folder, "libother.so")
        shutil.copy(source, path)
        self.library = ctypes.CDLL(path, mode=os.RTLD_LOCAL)
        self.library.sqlite3_close.argtypes = [ctypes.c_void_p]
        self.library.sqlite3_busy_timeout.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.library.sqlite3_exec.argtypes = [ctypes.c_void_p, ctypes.c_char_p] + [ctypes.c_void_p] * 3
        self.library.sqlite3_errmsg.argtypes = [ctypes.c_void_p]
        self.library.sqlite3_errmsg.restype = ctypes.c_char_p

    def open(self, path: str) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self.check(handle, self.library.sqlite3_open_v2(path.encode(), ctypes.byref(handle), 2, None))
        self.library.sqlite3_busy_timeout(handle, BUSY_TIMEOUT)
        return handle

    def run(self, handle: ctypes.c_void_p, sql: str) -> None:
        self.check(handle, self.library.sqlite3_exec(handle, sql.encode(), None, None, None))

    def close(self, handle: ctypes.c_void_p) -> None:
        self.check(handle, self.library.sqlite3_close(handle))

    def check(self, handle: ctypes.c_void_p, code: int) -> None:
        if code:
            raise RuntimeError(f"{code}: {self.library.sqlite3_errmsg(handle).decode()}")


class Check:
    def __init__(self, folder: str, rounds: int, seed: int) -> None:
        self.path = os.path.join(folder, "a.sqlite")
        self.rounds = rounds
        self.dice = random.Random(seed)
        self.other = OtherSQLite(folder)
        self.problems: list[str] = []
        self.additions = 0
        self.additions_by_store = 0
        self.is_over = threading.Event()

    def add_by_store(self) -> None:
        """Adds through stores until the other copy has done its rounds. Each closes its files in the midst of them."""
        dice = random.Random(self.dice.random())
        try:
            while not self.is_over.is_set():
                with quire.open(self.path, [Counter], timeout=BUSY_TIMEOUT / 1000) as store:
                    self.add(store.context, dice)
                if dice.random() < 0.5:
                    # Closes the only descriptors of this copy, which were opened for reading.
                    with quire.open(self.path, read_only=True, timeout=BUSY_TIMEOUT / 1000) as store:
                        store.context.query(store.classes["Counter"]).all()
        except Exception as error:
            self.problems.append(f"the store: {error!r}")

    def add(self, context: quire.Context, dice: random.Random) -> None:
        own = context.query(Counter).where(Counter.owner == "store").one()
        while not self.is_over.is_set() and dice.random() > 0.1:
            # The other row is no conflict with this one, and is read all the time.
            context.query(Counter).where(Counter.value >= 0).all()
            own.value += 1
            context.save()
            self.additions_by_store += 1
            if dice.random() < 0.1:
                quire.read_metadata(self.path)

    def add_by_copy(self) -> None:
        kept: Optional[ctypes.c_void_p] = None
        for step in range(self.rounds):
            handle = self.other.open(self.path)
            try:
                self.other.run(handle, "BEGIN IMMEDIATE")
                if self.dice.random() < 0.05:
                    time.sleep(0.002)
                self.other.run(handle, f"{ADD}; COMMIT; SELECT * FROM ZCOUNTER")
                self.additions += 1
            except RuntimeError as error:
                self.problems.append(f"round {step} of the other copy: {error}")
            # Now and then a second connection outlives the first.
            if kept is not None and self.dice.random() < 0.3:
                self.other.close(kept)
                kept = None
            if kept is None and self.dice.random() < 0.1:
                kept = handle
            else:
                self.other.close(handle)
            # SQLite has a file that is locked wait for a hundred times as long as a round takes.
            if self.dice.random() < 0.3:
                time.sleep(0.002)
        if kept is not None:
            self.other.close(kept)

    def run(self) -> None:
        with quire.open(self.path, [Counter]) as store:
            # The first has the first key, which the other copy knows.
            store.context.add(Counter())
            store.context.save()
            store.context.add(Counter(owner="store"))
            store.context.save()
        stranger = subprocess.Popen(
            [sys.executable, "-c", STRANGER, self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        adder = threading.Thread(target=self.add_by_store)
        adder.start()
        self.add_by_copy()
        self.is_over.set()
        adder.join()
        said, _ = stranger.communicate("\n")
        if stranger.returncode:
            self.problems.append("the other process failed")
        print(f"additions: {self.additions_by_store} by the store, {self.additions} by the other copy, "
              f"{said.strip()} by the other process")
        with sqlite3.connect(self.path) as file:
            self.judge(file, {1: self.additions + int(said or 0), 2: self.additions_by_store})

    def check_descriptors(self) -> None:
        """Descriptors that wait for the other copy to be done are taken again, are few, and go with their files."""
        folder = os.path.dirname(self.path)
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(200):
            quire.open(self.path, [Counter]).close()
        again = len(os.listdir("/proc/self/fd"))
        paths = [os.path.join(folder, f"{number}.sqlite") for number in range(300)]
        for path in paths:
            quire.open(path, [Counter]).close()
        many = len(os.listdir("/proc/self/fd"))
        for path in paths:
            os.remove(path)
        quire.open(self.path, [Counter]).close()
        left = len(os.listdir("/proc/self/fd"))
        if again > before + 4 or many > before + 300 or left > before + 6:
            self.problems.append(f"there are too many descriptors: {before}, {again}, {many}, and {left} at the end")

    def judge(self, file: sqlite3.Connection, additions: dict[int, int]) -> None:
        found = file.execute("PRAGMA integrity_check").fetchone()[0]
        if found != "ok":
            self.problems.append(f"the file is damaged: {found}")
        values = dict(file.execute("SELECT Z_PK, ZVALUE FROM ZCOUNTER"))
        if values != additions:
            self.problems.append(f"by row, there were {additions} additions, and the numbers are {values}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder, given.rounds, given.seed)
        check.run()
        check.check_descriptors()
    for problem in check.problems[:20]:
        print(problem)
    print(f"copies: {given.rounds} steps, {len(check.problems)} differences, seed {given.seed}")
    return 1 if check.problems else 0


if __name__ == "__main__":
    sys.exit(main())
