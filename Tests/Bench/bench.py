#!/usr/bin/env python3
"""The Python package against the sqlite3 module, on the same rows in the same run.

    QUIRE_LIBRARY=build/lib/libquire.so PYTHONPATH=bindings/python/src Tests/Bench/bench.py [--rows N] [--json FILE]

Times are medians of process CPU seconds; `held bytes` is what the list of all objects (or tuples) adds to the resident
memory, divided by the rows, in a process of its own.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta, timezone
from typing import Optional

import quire

BUDGETS = {"all as objects": 1.2, "ids": 0.4, "bulk insert": 1.2}
HELD_BUDGET = 450
RUNS = 5


class Item(quire.Model):
    author: quire.Attr[Optional[str]]
    title: quire.Attr[Optional[str]]
    created_at: quire.Attr[Optional[datetime]]
    price: quire.Attr[Optional[float]]
    __indexes__ = [("author", "created_at")]


def make_rows(count, seed=7):
    """(author, title, created_at, price) for `count` rows by count / 50 authors, shuffled."""
    source = random.Random(seed)
    authors = max(1, count // 50)
    start = datetime(2020, 1, 1, tzinfo=timezone.utc)
    order = list(range(count))
    source.shuffle(order)
    return [
        (f"Author {place % authors:06d}", f"Title {place} of the collected works",
         start + timedelta(seconds=source.randrange(150_000_000)), round(source.random() * 1000, 2))
        for place in order]


class Quire:
    """The contender under test."""

    name = "quire"

    def __init__(self, folder, rows):
        self.path = os.path.join(folder, "items.quire")
        self.columns = dict(zip(("author", "title", "created_at", "price"), zip(*rows)))

    def open(self):
        self.store = quire.open(self.path, [Item], relaxed_durability=True)
        self.query = self.store.context.query(Item).order_by(Item.author, Item.created_at)

    def close(self):
        self.store.close()

    def insert(self):
        self.store.context.insert_many(Item, self.columns)
        self.store.context.save()

    def clear(self):
        self.close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.path + suffix):
                os.remove(self.path + suffix)
        self.open()

    def all(self):
        return self.query.all()

    def ids(self):
        return self.query.ids()


class SQLite:
    """The standard library's module, with dates as seconds: the fastest that it can hold them."""

    name = "sqlite3"
    order = "FROM item ORDER BY author, created_at, id"

    def __init__(self, folder, rows):
        self.path = os.path.join(folder, "items.sqlite")
        self.rows = [(author, title, at.timestamp(), price) for author, title, at, price in rows]

    def open(self):
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        for statement in (
            "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL",
            "CREATE TABLE IF NOT EXISTS item("
            "id INTEGER PRIMARY KEY, author TEXT, title TEXT, created_at REAL, price REAL)",
            "CREATE INDEX IF NOT EXISTS item_order ON item(author, created_at)",
        ):
            self.connection.execute(statement)

    def close(self):
        self.connection.close()

    def insert(self):
        self.connection.execute("BEGIN")
        self.connection.executemany("INSERT INTO item(author, title, created_at, price) VALUES (?, ?, ?, ?)", self.rows)
        self.connection.execute("COMMIT")

    def clear(self):
        self.close()
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(self.path + suffix):
                os.remove(self.path + suffix)
        self.open()

    def all(self):
        return self.connection.execute(f"SELECT id, author, title, created_at, price {self.order}").fetchall()

    def ids(self):
        return [row[0] for row in self.connection.execute(f"SELECT id {self.order}")]


CONTENDERS = {kind.name: kind for kind in (Quire, SQLite)}


def timed(action):
    gc.collect()
    start = time.process_time()
    result = action()
    taken = time.process_time() - start
    del result
    return taken


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure(contender, rows, check):
    contender.open()
    found = {"bulk insert": []}
    for run in range(3):
        if run:
            contender.clear()
        found["bulk insert"].append(timed(contender.insert))
    found["all as objects"] = [timed(contender.all) for _ in range(RUNS)]
    found["ids"] = [timed(contender.ids) for _ in range(RUNS)]
    if len(contender.all()) != rows or len(contender.ids()) != rows:
        sys.exit(f"{contender.name} does not give {rows} rows.")
    check[contender.name] = list(contender.ids())
    contender.close()
    return {case: statistics.median(times) for case, times in found.items()}


def held(name, folder, rows):
    """Bytes a row of the list of all, measured in a process of its own."""
    command = [sys.executable, __file__, "--held", name, "--folder", folder, "--rows", str(rows)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_held(name, folder, rows):
    contender = CONTENDERS[name](folder, [(None, None, datetime.now(timezone.utc), None)])
    contender.open()
    contender.ids()
    # The first page warms what is made once.
    warm = contender.query[:50] if name == "quire" else None
    del warm
    gc.collect()
    before = resident()
    result = contender.all()
    gc.collect()
    print((resident() - before) / len(result))
    sys.stdout.flush()
    del result
    contender.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--json")
    parser.add_argument("--held", choices=CONTENDERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.held:
        return measure_held(options.held, options.folder, options.rows)

    folder = tempfile.mkdtemp()
    try:
        data = make_rows(options.rows)
        results, ids = [], {}
        for kind in CONTENDERS.values():
            medians = measure(kind(folder, data), options.rows, ids)
            medians["held bytes"] = held(kind.name, folder, options.rows)
            results += [
                {"case": f"python {case}", "contender": kind.name, "rows": options.rows, "median": median}
                for case, median in medians.items()]
        if ids["quire"] != ids["sqlite3"]:
            sys.exit("The contenders give different orders.")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    show(results, options.rows)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)


def show(results, rows):
    by_case = {}
    for result in results:
        by_case.setdefault(result["case"].removeprefix("python "), {})[result["contender"]] = result["median"]
    print(f"{'case':16}{'rows':>10}{'quire':>12}{'sqlite3':>12}{'ratio':>8}  budget")
    for case, medians in by_case.items():
        mine, theirs = medians["quire"], medians["sqlite3"]
        if case == "held bytes":
            print(f"{case:16}{rows:>10,}{mine:>10.0f} B{theirs:>10.0f} B{mine / theirs:>7.2f}x  {HELD_BUDGET} B")
        else:
            print(
                f"{case:16}{rows:>10,}{mine * 1e3:>9.1f} ms{theirs * 1e3:>9.1f} ms{mine / theirs:>7.2f}x  "
                f"{BUDGETS[case]}x")


if __name__ == "__main__":
    main()
