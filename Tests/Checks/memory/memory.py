#!/usr/bin/env python3
r"""What loops over many objects hold in Python, and whether what is made and gone is given back.

    QUIRE_LIBRARY=build/lib/libquire.so PYTHONPATH=bindings/python/src \
        Tests/Checks/memory/memory.py [--rows N] [--rounds N]

Each measurement runs in a process of its own, so that the system's greatest resident size is that of the measurement.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import resource
import subprocess
import sys
import tempfile
from typing import Optional

import quire

LIMIT = 200
LIVES = 100_000
# Of each life less than a byte may be kept in Python's own objects, and a few in the resident size, which follows the
# heap only roughly, because what is free lies between what is not.
MOST_BYTES_GROWN = 8 << 20


class Quote(quire.Model):
    author: quire.Attr[Optional[str]] = quire.attr(default=None)
    title: quire.Attr[Optional[str]] = quire.attr(default=None)
    number: quire.Attr[int] = quire.attr(default=0)
    __indexes__ = [("author",)]


def resident() -> int:
    """What is in memory, without what the allocator only keeps for later."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def fill(path: str, rows: int, rounds: int) -> str:
    """insert_many of 10,000 rows at a time"""
    with quire.open(path, [Quote], relaxed_durability=True) as store:
        for first in range(0, rows, 10_000):
            numbers = range(first, min(first + 10_000, rows))
            store.context.insert_many(Quote, {
                "author": [f"Author {number * 7919 % rows // 50:06d}" for number in numbers],
                "title": [f"Title {number} of the collected works" for number in numbers],
                "number": numbers})
            store.context.save()
    return ""


def read(quotes, rows: int) -> str:
    count = length = 0
    for quote in quotes:
        count += 1
        length += len(quote.title)
    if count != rows or length < 20 * rows:
        sys.exit(f"{count} objects were read instead of {rows}")
    return ""


def loop_over_a_query(path: str, rows: int, rounds: int) -> str:
    """a loop over a query that reads in batches"""
    with quire.open(path, [Quote]) as store:
        return read(store.context.query(Quote).order_by(Quote.author).batch_size(1000), rows)


def loop_over_a_live_list(path: str, rows: int, rounds: int) -> str:
    """a loop over a live list"""
    with quire.open(path, [Quote]) as store:
        return read(store.context.query(Quote).order_by(Quote.author).live(section_by=Quote.author), rows)


def make_and_remove(path: str, rows: int, rounds: int) -> str:
    """objects that are inserted, saved, deleted and saved"""
    lives = min(rows, LIVES)
    with quire.open(path + "-lives", [Quote], relaxed_durability=True) as store:
        context, other = store.context, store.create_context()
        other.merges_automatically = True
        lists = [each.query(Quote).order_by(Quote.author).live() for each in (context, other)]

        def live_and_die() -> None:
            for first in range(0, lives, 100):
                made = [
                    Quote(author="Goethe", title=f"Title {number}", number=number)
                    for number in range(first, first + 100)]
                for quote in made:
                    context.add(quote)
                context.save()
                other.process()
                for quote in made:
                    context.delete(quote)
                context.save()
                other.process()

        live_and_die()
        objects, before = len(gc.get_objects()), resident()
        for _ in range(rounds):
            live_and_die()
        grown, kept = resident() - before, len(gc.get_objects()) - objects
        if any(map(len, lists)):
            sys.exit("a live list shows what was deleted")
        if grown > MOST_BYTES_GROWN or kept > 1000:
            sys.exit(f"{grown} bytes and {kept} objects of Python are kept of {lives * rounds}")
        return f"{kept} objects of Python kept of {lives * rounds}, {grown // 1024} kB more resident, "


MEASUREMENTS = {each.__name__: each for each in (fill, loop_over_a_query, loop_over_a_live_list, make_and_remove)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        told = MEASUREMENTS[options.measure](options.path, options.rows, options.rounds)
        print(told, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, sep="|")
        return

    differences = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, measurement in MEASUREMENTS.items():
            command = [
                sys.executable, __file__, "--measure", name, "--path", os.path.join(folder, "quotes.sqlite"), "--rows",
                str(options.rows), "--rounds", str(options.rounds)]
            run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            what = f"python, {measurement.__doc__}"
            if run.returncode:
                differences += 1
                print(f"{what}: failed")
                continue
            told, peak = run.stdout.rsplit("|", 1)
            print(f"{what}: {told}{float(peak):.1f} MB at most")
            if float(peak) >= LIMIT:
                differences += 1
                print(f"{what}: {LIMIT} MB are the limit")
    print(f"memory.py: {options.rows} rows, {differences} differences")
    sys.exit(differences != 0)


if __name__ == "__main__":
    main()
