#!/usr/bin/env python3
"""One contender does the work of some cases, and says what came out and how long it took.

    peers.py CONTENDER CASE,... --rows N --folder FOLDER --json FILE [--quick]

FOLDER has the files that `bench --prepare` made; the contender works on a copy. FILE becomes a list of objects with the
members case, contender, rows, answer and samples (seconds; bytes a row for memory). script/bench runs this.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import shutil
import time

import sample
import waiting

MODULES = {
    "quire-python": "with_quire", "sqlite3": "with_sqlite3", "sqlalchemy": "with_sqlalchemy", "peewee": "with_peewee"}
ENDINGS = ("", "-wal", "-shm")
PATIENCE = 8.0
"""After so many seconds of work no further sample is taken."""
CHECKED = 3
"""So many changes are made before anything is timed, and the list after them is the answer."""
AT_ONCE = 1000


def now():
    return time.perf_counter()


def timed(action):
    start = now()
    action()
    return now() - start


def repeated(action, most):
    """Samples of an action that may be done again and again."""
    action()
    samples = []
    while len(samples) < most and sum(samples) < PATIENCE:
        gc.collect()
        samples.append(timed(action))
    return samples


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Run:
    """One case, done by one contender on a copy of the file of `rows` rows."""

    def __init__(self, contender, rows, folder, is_quick):
        self.contender = contender
        self.rows = rows
        self.folder = folder
        self.most = 2 if is_quick else 11
        self.singles = 2 if is_quick else 51
        self.is_open = False
        self.path = os.path.join(folder, f"peer-{os.getpid()}.sqlite")

    def open(self, of=None, tree=False):
        """Opens a new copy of the file of so many rows."""
        self.close()
        self.remove()
        kind = "tree-" if tree else ""
        rows = self.rows if of is None else of
        shutil.copyfile(os.path.join(self.folder, f"{self.contender.file}-{kind}{rows}.sqlite"), self.path)
        self.contender.open(self.path, tree)
        self.is_open = True

    def close(self):
        if self.is_open:
            self.is_open = False
            self.contender.close()

    def remove(self):
        for ending in ENDINGS:
            if os.path.exists(self.path + ending):
                os.remove(self.path + ending)

    # MARK: inserting

    def insert_bulk(self):
        return self.insert(self.contender.insert_bulk, self.contender.prepare_bulk(sample.all_rows(self.rows)))

    def insert_objects(self):
        return self.insert(self.contender.insert_objects, sample.all_rows(self.rows))

    def insert(self, work, rows):
        samples = []
        while len(samples) < min(self.most, 3) and sum(samples) < PATIENCE:
            self.open(of=0)
            gc.collect()
            samples.append(timed(lambda: work(rows)))
        return sample.told_ids(self.contender.ids()), samples

    # MARK: reading

    def fetch_first(self):
        return self.first_fetches(self.open, self.contender.list)

    def fetch_warm(self):
        """From the cache file that a fetch before has left."""
        self.open()
        self.contender.cached_list()
        told, samples = self.first_fetches(self.open_again, self.contender.cached_list)
        self.contender.delete_cache()
        return told, samples

    def first_fetches(self, open_file, make):
        samples, told = [], None
        while len(samples) < min(self.most, 5) and sum(samples) < PATIENCE:
            open_file()
            held = []
            gc.collect()
            samples.append(timed(lambda: held.append(make())))
            told = told or held[0].told_list()
            held.clear()
        return told, samples

    def open_again(self):
        self.close()
        self.contender.open(self.path)
        self.is_open = True

    def ids(self):
        self.open()
        return sample.told_ids(self.contender.ids()), repeated(self.contender.ids, self.most)

    def objects(self):
        self.open()
        return f"{self.contender.letters()} letters", repeated(self.contender.letters, min(self.most, 5))

    def all(self):
        self.open()
        return f"{len(self.contender.objects())} objects", repeated(self.contender.objects, min(self.most, 5))

    def filter(self):
        self.open()
        return sample.told_ids(self.contender.filter()), repeated(self.contender.filter, self.most)

    def contains(self):
        self.open()
        return sample.told_ids(self.contender.contains()), repeated(self.contender.contains, self.most)

    def windows(self, read, reads):
        places = [sample.window_place(turn, self.rows) for turn in range(reads)]
        told = "; ".join(sample.told_window(read(place)) for place in places[:CHECKED])
        gc.collect()
        return told, [timed(lambda: read(place)) for place in places[CHECKED:]]

    def window(self):
        self.open()
        return self.windows(self.contender.list().window, 60)

    def window_ids(self):
        self.open()
        return self.windows(self.contender.list().window_by_ids, 60)

    def window_again(self):
        """A window whose objects are held, because they are shown."""
        self.open()
        shown = self.contender.list()
        told = "; ".join(
            sample.told_window(shown.window(sample.window_place(turn, self.rows))) for turn in range(CHECKED))
        held = shown.objects(0)
        samples = [timed(lambda: shown.objects(0)) for _ in range(60)]
        del held
        return told, samples

    def open_file(self):
        self.open()
        title = self.contender.first_title()
        samples = []
        for _ in range(min(self.most, 21)):
            self.close()
            samples.append(timed(self.reopened))
            self.is_open = True
        return title, samples

    def reopened(self):
        self.contender.open(self.path)
        self.contender.first_title()

    # MARK: changes

    def changes(self, prepared, most):
        """Samples of changes: `prepared(live, turn)` gives the one that is timed."""
        self.open()
        live = self.contender.list()
        for turn in range(CHECKED):
            prepared(live, turn)()
        told = live.told_list()
        samples = []
        gc.collect()
        while len(samples) < most and sum(samples) < PATIENCE:
            samples.append(timed(prepared(live, CHECKED + len(samples))))
        return told, samples

    def moved(self, live, turn):
        return live.moving([sample.changed_id(turn, self.rows)], [sample.new_author(turn, self.rows)])

    def live_one(self):
        return self.changes(self.moved, self.singles)

    def live_update(self):
        def updated(live, turn):
            return live.updating(sample.changed_id(turn, self.rows), f"Another title {turn}")

        return self.changes(updated, self.singles)

    def live_delete(self):
        return self.changes(lambda live, turn: live.deleting(sample.changed_id(turn, self.rows)), self.singles)

    def live_insert(self):
        return self.changes(
            lambda live, turn: live.inserting(sample.row(self.rows + turn, self.rows)), self.singles)

    def live_thousand(self):
        count = min(AT_ONCE, self.rows)

        def moved(live, turn):
            turns = range(turn * count, (turn + 1) * count)
            return live.moving(
                [sample.changed_id(each, self.rows) for each in turns],
                [sample.new_author(each, self.rows) for each in turns])

        return self.changes(moved, self.most)

    def live_sections(self):
        """The first section after a change, which the section before knows nothing of."""
        self.open()
        live = self.contender.titled_list()
        told, samples = "", []
        gc.collect()
        for turn in range(self.singles):
            live.updating(sample.changed_id(turn, self.rows), f"Another title {turn}")()
            samples.append(timed(lambda: live.shown.sections[0].name))
            told = told or f"{len(live.shown.sections)} sections from {live.shown.sections[0].name}"
        return told, samples

    # MARK: waiting

    def wait_save(self):
        return self.waits(fetches=False)

    def wait_fetch(self):
        return self.waits(fetches=True)

    def wait_query(self):
        return self.longest(lambda: waiting.typed(self.contender, self.rows))

    def waits(self, fetches):
        return self.longest(lambda: waiting.drawn(self.contender, self.rows, fetches))

    def longest(self, draw):
        """The longest call of the best run, so that it is none of the machine."""
        longest, told = [], None
        for _ in range(min(self.most, 3)):
            self.open()
            told, seconds = draw()
            longest.append(seconds)
        return told, [min(longest)]

    # MARK: deleting

    def cascade(self):
        return self.deleted(self.contender.delete_root)

    def cascade_batch(self):
        return self.deleted(self.contender.delete_root_in_store)

    def deleted(self, work):
        samples, left = [], None
        while len(samples) < min(self.most, 3) and sum(samples) < PATIENCE:
            self.open(tree=True)
            samples.append(timed(work))
            left = self.contender.left()
        return f"{left} left", samples

    # MARK: memory, in bytes a row

    def memory_list(self):
        return self.held(self.contender.list)

    def memory_objects(self):
        return self.held(self.contender.objects)

    def held(self, make):
        self.open()
        self.contender.warm()
        gc.collect()
        before = resident()
        kept = make()
        gc.collect()
        taken = resident() - before
        del kept
        return f"{self.rows} rows", [max(taken, 0) / self.rows]


CASES = {
    "insert.bulk": Run.insert_bulk, "insert.objects": Run.insert_objects, "fetch.first": Run.fetch_first,
    "fetch.warm": Run.fetch_warm, "ids": Run.ids, "all": Run.all, "objects": Run.objects, "filter": Run.filter,
    "contains": Run.contains, "window": Run.window, "window.ids": Run.window_ids, "window.again": Run.window_again,
    "open": Run.open_file, "live.one": Run.live_one, "live.update": Run.live_update, "live.delete": Run.live_delete,
    "live.insert": Run.live_insert, "live.sections": Run.live_sections, "live.thousand": Run.live_thousand,
    "wait.save": Run.wait_save, "wait.fetch": Run.wait_fetch, "wait.query": Run.wait_query, "cascade": Run.cascade,
    "cascade.batch": Run.cascade_batch, "memory.list": Run.memory_list, "memory.objects": Run.memory_objects}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("contender", choices=MODULES)
    parser.add_argument("cases", metavar="CASE,...", help=", ".join(CASES))
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--json", required=True)
    parser.add_argument("--quick", action="store_true", help="a sample or two, to see that it runs")
    options = parser.parse_args()

    module = importlib.import_module(MODULES[options.contender])
    found = []
    for case in options.cases.split(","):
        run = Run(module.Contender(), options.rows, options.folder, options.quick)
        try:
            answer, samples = CASES[case](run)
            run.close()
        finally:
            run.remove()
        found.append({
            "case": case, "contender": options.contender, "rows": options.rows, "answer": answer, "samples": samples})
    with open(options.json, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
