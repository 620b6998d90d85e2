"""A process that writes with a history, killed at a random moment, over and over."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import quire
from history_facts import CHANGE, DELETE, INSERT, TRANSACTION, Difference, State, read

LONGEST_LIFE = 0.06
KILLS_PER_STORE = 50
MOST_ROWS = 40


class Note(quire.Model):
    text: quire.Attr[str] = quire.attr(preserved=True)
    rank: quire.Attr[int] = quire.attr(default=0)


def work(path: str, seed: int) -> None:
    """What the process does until it is killed."""
    dice = random.Random(seed)
    with quire.open(path, [Note], track_history=True, relaxed_durability=bool(seed % 2)) as store:
        context = store.context
        context.author = "writer"
        print("ready", flush=True)
        while True:
            kind = dice.randrange(6)
            notes = context.query(Note).order_by(Note.rank).all()
            if kind < 2 or len(notes) < 5:
                for _ in range(dice.randint(1, 5)):
                    context.add(Note(text="x" * dice.randrange(2000)))
            elif kind == 2:
                for each in dice.sample(notes, 3):
                    each.rank += 1
            elif kind == 3:
                context.query(Note).where(Note.rank < 2).update({Note.rank: Note.rank + 1})
            elif kind == 4:
                with context.transaction():
                    notes[0].text = "y"
                    context.save()
                    context.insert_rows(Note, {"text": ["z"]})
            if len(notes) > MOST_ROWS:
                context.query(Note).limit(MOST_ROWS // 2).delete()
            context.save()
            if dice.random() < 0.02:
                store.purge_history(before=store.history()[-1].token)


def check_kills(kills: int, seed: int) -> int:
    """How many times the history did not agree with the rows."""
    differences = lives = 0
    dice = random.Random(f"{seed}/kills")
    folder = tempfile.mkdtemp()
    try:
        for number in range(kills):
            path = os.path.join(folder, f"notes-{number // KILLS_PER_STORE}.sqlite")
            kill_one(path, dice)
            if not os.path.exists(path):
                continue
            try:
                lives += check(path)
            except (Difference, sqlite3.Error) as difference:
                differences += 1
                print(f"after kill {number} of seed {seed}: {difference}")
                if differences == 3:
                    break
    finally:
        shutil.rmtree(folder)
    print(f"{kills} kills: {lives} of them left a history")
    if kills and not lives:
        print("no kill left a history, so that nothing was compared")
        differences += 1
    return differences


def kill_one(path: str, dice: random.Random) -> None:
    seed = dice.randrange(1 << 31)
    with subprocess.Popen(
            [sys.executable, "-W", "error", __file__, path, str(seed)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # Most of them die while they write, and some while they open.
        if dice.random() < 0.9:
            process.stdout.readline()
        time.sleep(dice.random() * LONGEST_LIFE)
        process.send_signal(signal.SIGKILL)


def check(path: str) -> bool:
    """Compares history and rows; whether there is a history."""
    with contextlib.closing(sqlite3.connect(path)) as file:
        tables = {name for name, in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "ACHANGE" not in tables:
            return False
        [(sound,)] = file.execute("PRAGMA integrity_check")
        if sound != "ok":
            raise Difference(f"the file is damaged: {sound}")
    state = read(path)
    check_numbers(state)
    first = {each["Z_PK"] for each in state.changes}
    if state.last[CHANGE] == len(first):
        check_rows(state)
    return bool(state.transactions)


def check_numbers(state: State) -> None:
    """Transactions are without gaps up to the last, and so are changes; each transaction has some."""
    for rows, kind in ((state.transactions, TRANSACTION), (state.changes, CHANGE)):
        numbers = [each["Z_PK"] for each in rows]
        if numbers != list(range(state.last[kind] + 1 - len(numbers), state.last[kind] + 1)):
            raise Difference(f"numbers of {kind} have gaps, and {state.last[kind]} is the last: {numbers}")
    if {each["Z_PK"] for each in state.transactions} != {each["ZTRANSACTIONID"] for each in state.changes}:
        raise Difference("there are transactions without changes, or changes without a transaction")
    there = set(state.rows)
    for each in state.changes:
        row = (each["ZENTITY"], each["ZENTITYPK"])
        last = [other["ZCHANGETYPE"] for other in state.changes if (other["ZENTITY"], other["ZENTITYPK"]) == row][-1]
        if (row in there) == (last == DELETE):
            raise Difference(f"the last change of {row} is {last}, and it is {'' if row in there else 'not '}there")


def check_rows(state: State) -> None:
    """The whole history is there: it leads to the rows, and says how often each was changed."""
    versions: dict[tuple[int, int], int] = {}
    for each in state.changes:
        row = (each["ZENTITY"], each["ZENTITYPK"])
        if each["ZCHANGETYPE"] == INSERT:
            versions[row] = 1
        elif each["ZCHANGETYPE"] == DELETE:
            del versions[row]
        else:
            versions[row] += 1
    found = {row: values["Z_OPT"] for row, values in state.rows.items()}
    if found != versions:
        raise Difference(f"the history leads to {versions}, and there are {found}")


if __name__ == "__main__":
    work(sys.argv[1], int(sys.argv[2]))
