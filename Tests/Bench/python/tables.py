#!/usr/bin/env python3
"""Rows to polars and back, beside sqlite3's own rows: medians of processor time in one run, by turns.

    tables.py [--rows N] [--rounds N]

Needs polars, numpy and the package quire. The table has five columns: a text, a whole number, a number, a moment and a
boolean. sqlite3 reads the same file, by its own columns, and writes into a table of the same columns without Quire's
Z_ENT and Z_OPT. It says, too, whether the numbers of polars are where the library laid them.
"""
import argparse
import datetime
import os
import random
import sqlite3
import statistics
import tempfile
import time

import numpy
import polars

import quire

COLUMNS = ["name", "amount", "price", "created", "active"]


class Row(quire.Model):
    name: quire.Attr[str]
    amount: quire.Attr[int]
    price: quire.Attr[float]
    created: quire.Attr[datetime.datetime]
    active: quire.Attr[bool]


def make(path, count):
    dice = random.Random(1)
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    with quire.open(path, [Row]) as store:
        store.context.insert_rows(Row, {
            "name": [f"name {dice.randrange(10**6)}" for _ in range(count)],
            "amount": [dice.randrange(10**6) for _ in range(count)],
            "price": [dice.random() * 100 for _ in range(count)],
            "created": [begin + datetime.timedelta(seconds=dice.randrange(10**8)) for _ in range(count)],
            "active": [dice.random() < 0.5 for _ in range(count)]}, merge=False)


def from_quire(store):
    return polars.DataFrame(store.context.query(Row).columns())


def from_sqlite3(path):
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT ZNAME, ZAMOUNT, ZPRICE, ZCREATED, ZACTIVE FROM ZROW").fetchall()
    connection.close()
    return polars.DataFrame(rows, schema=COLUMNS, orient="row")


def into_quire(frame, path):
    with quire.open(path, [Row]) as store:
        begin = time.process_time()
        store.context.insert_rows(Row, frame, merge=False)
        return time.process_time() - begin


def into_sqlite3(frame, path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE row (id INTEGER PRIMARY KEY, name, amount INTEGER, price REAL, created, active)")
    begin = time.process_time()
    rows = frame.with_columns(polars.col("created").dt.timestamp()).rows()
    connection.executemany("INSERT INTO row (name, amount, price, created, active) VALUES (?, ?, ?, ?, ?)", rows)
    connection.commit()
    spent = time.process_time() - begin
    connection.close()
    return spent


def took(call, *arguments):
    begin = time.process_time()
    call(*arguments)
    return time.process_time() - begin


def is_copied(store, name):
    """Whether polars has numbers elsewhere than the library laid them."""
    columns = store.context.query(Row).columns(name)
    taken = polars.DataFrame(columns)[name].to_numpy(allow_copy=False)
    return not numpy.shares_memory(taken, numpy.asarray(columns[name].data))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    times = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.sqlite")
        make(path, given.rows)
        with quire.open(path, [Row]) as store:
            frame = from_quire(store)
            for turn in range(given.rounds + 1):
                taken = {
                    "to, quire": took(from_quire, store), "to, sqlite3": took(from_sqlite3, path),
                    "back, quire": into_quire(frame, os.path.join(folder, f"{turn}-quire.sqlite")),
                    "back, sqlite3": into_sqlite3(frame, os.path.join(folder, f"{turn}-sqlite3.sqlite"))}
                for each in ("quire", "sqlite3"):
                    os.unlink(os.path.join(folder, f"{turn}-{each}.sqlite"))
                # The first one warms up.
                for name, seconds in taken.items() if turn else ():
                    times.setdefault(name, []).append(seconds)
            copied = [name for name in ("amount", "price") if is_copied(store, name)]
    medians = {name: statistics.median(found) for name, found in times.items()}
    for way in ("to", "back"):
        ours, theirs = medians[f"{way}, quire"], medians[f"{way}, sqlite3"]
        print(f"{way:5} quire {ours * 1000:5.0f} ms   sqlite3 {theirs * 1000:5.0f} ms   {theirs / ours:.1f} times")
    print("copied:", ", ".join(copied) or "no numbers")


if __name__ == "__main__":
    main()
