#!/usr/bin/env python3
"""Random histories of contexts against a model of plain dictionaries, and of the file against both.

    graph.py [--steps N] [--seed S] [--world K] [--kind KIND] [--whole]
    graph.py --kept

A run is made of worlds, each a new store with a history of a few hundred steps that its number and the seed decide.
With --world only that one is run. In worlds with an even number everything is compared after each step, in those with
an odd one nothing is read but what a step is to read: perhaps one side of a relationship long before the other. --kind
has one kind alone run. A difference is told with the shortest history that was found to show it. With --kept those
histories are run that once showed one.
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
from collections.abc import Callable
from typing import Optional, Union

from graph_dice import Dice
from graph_kept import KEPT
from graph_side import Difference
from graph_stage import Step
from graph_steps import World
from graph_uneven import UnevenWorld
from graph_uneven_dice import UnevenDice
from graph_uneven_kept import KEPT_UNEVEN

LENGTHS = {"even": 250, "uneven": 120}
MOST_DIFFERENCES = 3
MakeWorld = Callable[[], Union[World, UnevenWorld]]


def kind_of(number: int) -> str:
    return "uneven" if number % 2 else "even"


def prepare(path: str, seed: int, number: int) -> tuple[MakeWorld, Union[Dice, UnevenDice]]:
    """How to make a world, and what decides its history."""
    luck = random.Random(f"{seed}/{number}")
    if kind_of(number) == "uneven":
        uneven = UnevenDice(luck)
        return lambda: UnevenWorld(path, uneven.contexts), uneven
    dice = Dice(luck)
    return lambda: World(path, dice.levels), dice


def replay(make: MakeWorld, steps: list[Step]) -> tuple[Optional[str], int]:
    """Runs a history; gives what differs, if something does, and how many steps were done until then."""
    world = make()
    try:
        for place, step in enumerate(steps):
            failed = attempt(world, step)
            if failed:
                return failed, place + 1
        return None, len(steps)
    finally:
        world.close()


def attempt(world: Union[World, UnevenWorld], step: Step) -> Optional[str]:
    try:
        world.run(step)
    except Difference as difference:
        return str(difference)
    except Exception as error:  # What the library raises where the model sees no reason for it.
        where = traceback.extract_tb(error.__traceback__)
        ours = [each for each in where if "graph" in os.path.basename(each.filename)]
        return f"{type(error).__name__}: {error} (at {', '.join(f'{each.name}:{each.lineno}' for each in ours[-2:])})"
    return None


def wording(failed: Optional[str]) -> str:
    """What kind of difference it is: its words without the numbers."""
    return "".join(each for each in (failed or "") if not each.isdigit())[:30]


def shrink(make: MakeWorld, steps: list[Step], failed: str) -> list[Step]:
    """Leaves out what is not needed to see a difference of the same kind."""
    size = len(steps) // 2
    end = time.monotonic() + 60
    while size and time.monotonic() < end:
        place = len(steps)
        while place > 0:
            shorter = steps[:max(place - size, 0)] + steps[place:]
            found, done = replay(make, shorter)
            if wording(found) == wording(failed):
                steps = shorter[:done]
            place = min(place - size, len(steps))
        size //= 2
    return steps


def run(path: str, seed: int, number: int, most: int) -> tuple[Optional[str], MakeWorld, list[Step]]:
    """One world; gives what differed, and the steps it did."""
    make, dice = prepare(path, seed, number)
    world = make()
    steps: list[Step] = []
    try:
        while len(steps) < min(LENGTHS[kind_of(number)], most):
            step = dice.step(world)
            steps.append(step)
            failed = attempt(world, step)
            if failed:
                return failed, make, steps
        return None, make, steps
    finally:
        world.close()


def run_kept(path: str) -> int:
    differences = 0
    kept: list[tuple[MakeWorld, dict[str, list[Step]]]] = [
        (lambda: World(path, [0, 0]), KEPT), (lambda: UnevenWorld(path, 3), KEPT_UNEVEN)]
    for make, histories in kept:
        for name, steps in histories.items():
            failed, done = replay(make, steps)
            if failed:
                differences += 1
                print(f"graph: {name}: at step {done}: {failed}")
    print(f"graph: {len(KEPT) + len(KEPT_UNEVEN)} histories that were kept, {differences} differences")
    return 1 if differences else 0


def keep_order_of_sets() -> None:
    """Begins the program anew with a fixed seed of hashes: a history depends on the order of sets, too."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        warnings = [f"-W{each}" for each in sys.warnoptions]
        os.execve(sys.executable, [sys.executable, *warnings, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})


def main() -> int:
    keep_order_of_sets()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=50000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--world", type=int, default=None, help="run this world of the seed alone")
    parser.add_argument("--kind", choices=list(LENGTHS), help="run worlds of this kind alone")
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
            if arguments.world is None and arguments.kind not in (None, kind_of(number)):
                number += 1
                continue
            failed, make, steps = run(path, seed, number, arguments.steps - done)
            done += len(steps)
            if failed:
                differences += 1
                print(f"graph: world {number} of seed {seed} differs at its step {len(steps)}: {failed}")
                if not arguments.whole:
                    steps = shrink(make, steps, failed)
                    print(f"graph: with these steps alone: {replay(make, steps)[0]}")
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
