#!/usr/bin/env python3
"""The history of a store, against what plain Python makes of its tables before and after each write.

    history.py [--steps N] [--kills N] [--seed S] [--world K]

A run is made of worlds, each a new store with some hundred random steps: edits in two contexts and a child, undone
and failed saves, batch requests, transactions, purges, fetches. With --world only that one is run. Then a process that
writes is killed N times, and the history must lead to the rows that are there. Last, copies of stores of Core Data
that keep a history are written, where ../shared/data is there: numbers go on.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shutil
import sys
import tempfile
import traceback
from typing import Optional

from history_facts import Difference
from history_found import check_found
from history_kills import check_kills
from history_world import World

STEPS_OF_A_WORLD = 150
MOST_DIFFERENCES = 3
STORES = pathlib.Path(__file__).resolve().parents[4] / "shared" / "data" / "stores"


def run_world(seed: int, number: int, steps: int) -> tuple[Optional[str], int, int]:
    """What differs, if something does, how many steps were done until then, and how many of them have written."""
    folder = tempfile.mkdtemp()
    world = World(os.path.join(folder, "library.sqlite"), random.Random(f"{seed}/{number}"))
    done = 0
    try:
        while done < steps:
            world.step()
            done += 1
        return None, done, world.writes
    except Difference as difference:
        return f"{difference}\n{where(difference)}", done, world.writes
    except Exception as error:
        return f"{type(error).__name__}: {error}\n{where(error)}", done, world.writes
    finally:
        world.close()
        shutil.rmtree(folder)


def where(error: BaseException) -> str:
    frames = [
        each for each in traceback.extract_tb(error.__traceback__) if "history" in os.path.basename(each.filename)]
    return f"    (at {', '.join(f'{each.name}:{each.lineno}' for each in frames[:6])})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    parser.add_argument("--world", type=int)
    options = parser.parse_args()
    differences = done = written = number = 0
    if options.world is not None:
        number, options.steps = options.world, STEPS_OF_A_WORLD
    while done < options.steps and differences < MOST_DIFFERENCES:
        failed, steps, writes = run_world(options.seed, number, min(STEPS_OF_A_WORLD, options.steps - done))
        done += max(steps, 1)
        written += writes
        if failed:
            differences += 1
            print(f"world {number} of seed {options.seed}, step {steps}: {failed}")
        number += 1
    print(f"{number} worlds: {done} steps, {written} of them have written")
    if not written:
        differences += 1
        print("nothing was written, so that nothing was compared")
    if options.world is None:
        differences += check_kills(options.kills, options.seed)
        differences += check_found(STORES)
    print(f"history: {done} steps, {differences} differences, seed {options.seed}")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
