#!/usr/bin/env python3
"""Random histories of contexts against a model of plain dictionaries, and of the file against both.

    graph.py [--steps N] [--seed S] [--world K] [--whole]
    graph.py --kept

A run is made of worlds, each a new store with a history of a few hundred steps that its number and the seed decide.
With --world only that one is run. A difference is told with the shortest history that was found to show it. With --kept
those histories are run that once showed one.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from typing import Optional

from graph_dice import Dice
from graph_kept import KEPT
from graph_side import Difference
from graph_steps import Step, World

LENGTH = 250
MOST_DIFFERENCES = 3


def replay(path: str, levels: list[Optional[int]], steps: list[Step]) -> tuple[Optional[str], int]:
    """Runs a history; gives what differs, if something does, and how many steps were done until then."""
    world = World(path, levels)
    try:
        for place, step in enumerate(steps):
            failed = attempt(world, step)
            if failed:
                return failed, place + 1
        return None, len(steps)
    finally:
        world.close()


def attempt(world: World, step: Step) -> Optional[str]:
    try:
        world.run(step)
    except Difference as difference:
        return str(difference)
    except Exception as error:  # What the library raises where the model sees no reason for it.
        where = traceback.extract_tb(error.__traceback__)
        ours = [each for each in where if "graph" in os.path.basename(each.filename)]
        return f"{type(error).__name__}: {error} (at {', '.join(f'{each.name}:{each.lineno}' for each in ours[-2:])})"
    return None


def kind(failed: Optional[str]) -> str:
    """What kind of difference it is: its words without the numbers."""
    return "".join(each for each in (failed or "") if not each.isdigit())[:30]


def shrink(path: str, levels: list[Optional[int]], steps: list[Step], failed: str) -> list[Step]:
    """Leaves out what is not needed to see a difference of the same kind."""
    size = len(steps) // 2
    end = time.monotonic() + 60
    while size and time.monotonic() < end:
        place = len(steps)
        while place > 0:
            shorter = steps[:max(place - size, 0)] + steps[place:]
            found, done = replay(path, levels, shorter)
            if kind(found) == kind(failed):
                steps = shorter[:done]
            place = min(place - size, len(steps))
        size //= 2
    return steps


def run(path: str, seed: int, number: int, most: int) -> tuple[int, Optional[str], Dice, list[Step]]:
    """One world; gives how many steps it did, and what differed."""
    dice = Dice(random.Random(f"{seed}/{number}"))
    world = World(path, dice.levels)
    steps: list[Step] = []
    try:
        while len(steps) < min(LENGTH, most):
            step = dice.step(world)
            steps.append(step)
            failed = attempt(world, step)
            if failed:
                return len(steps), failed, dice, steps
        return len(steps), None, dice, steps
    finally:
        world.close()


def run_kept(path: str) -> int:
    differences = 0
    for name, steps in KEPT.items():
        failed, done = replay(path, [0, 0], steps)
        if failed:
            differences += 1
            print(f"graph: {name}: at step {done}: {failed}")
    print(f"graph: {len(KEPT)} histories that were kept, {differences} differences")
    return 1 if differences else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=50000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--world", type=int, default=None, help="run this world of the seed alone")
    parser.add_argument("--whole", action="store_true", help="tell the whole history instead of the shortest")
    parser.add_argument("--kept", action="store_true", help="run the histories that once showed a difference")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 30) if arguments.seed is None else arguments.seed
    folder = tempfile.mkdtemp(prefix="quire-graph-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    path = os.path.join(folder, "graph.sqlite")
    done = differences = 0
    number = arguments.world or 0
    told = time.monotonic()
    try:
        if arguments.kept:
            return run_kept(path)
        while done < arguments.steps and differences < MOST_DIFFERENCES:
            count, failed, dice, steps = run(path, seed, number, arguments.steps - done)
            done += count
            if failed:
                differences += 1
                print(f"graph: world {number} of seed {seed} differs at its step {count}: {failed}")
                if not arguments.whole:
                    steps = shrink(path, dice.levels, steps, failed)
                    print(f"graph: with these steps alone: {replay(path, dice.levels, steps)[0]}")
                for step in steps:
                    print("   ", *step)
                print(f"graph: again with --seed {seed} --world {number}", flush=True)
            if arguments.world is not None:
                break
            number += 1
            if time.monotonic() - told > 20:
                told = time.monotonic()
                print(f"graph: {done} steps", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"graph: {done} steps, {differences} differences, seed {seed}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
