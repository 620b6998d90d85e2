#!/usr/bin/env python3
"""Files of the framework, read by the library and by plain Python that knows nothing of it.

    check_files.py [--stores FOLDER] [--models FOLDER] [--seed S] [--damaged N] [--program FILE] [--hostile FILE]
                   [--only PART ...]

Stores are those below FOLDER and some that are made here, with one of everything that a store can hold. The parts:

    oracle   what Python reads agrees with itself: hashes with the metadata, caches with sources of the same version,
             tables and statements with the model, and every row is as the format says
    rules    the checker of edits finds nothing in right ones, and each rule that is broken
    damage   what plain Python makes of damaged stores, archives and sources: it reads or refuses them, and soon
    library  the library opens, describes and creates stores, and loads and saves models, as plain Python says
    c        a program in C opens the stores without a model, and prints what plain Python reads
    edits    the library edits stores by the rules, and derived values are right after edits of others, too
    folders  reading leaves the folder of a store as it was, whatever lies in it
    hostile  the library reads damaged files as plain Python does, or refuses them, and no process ends

Ends with one line, `files: N stores, ...`; fails when something differs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import c_checks
import damage_checks
import edit_checks
import folder_checks
import oracle_checks
import rule_checks
import store_file
import subject_checks
import subject_damage
from tally import Tally

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.normpath(os.path.join(HERE, "..", "..", "..", "..", "shared", "data"))
Part = Callable[[Tally, list[str], list[str], str, int], None]
# Of what is damaged, so many files of each kind.
DAMAGED = 100
PARTS: dict[str, Part] = {
    "oracle": oracle_checks.run, "rules": rule_checks.run, "damage": damage_checks.run, "library": subject_checks.run,
    "c": c_checks.run, "edits": edit_checks.run,
    "folders": folder_checks.run, "hostile": subject_damage.run}

# The longest come first, so that two processes end together.
SLOWEST = ["folders", "edits", "hostile", "library", "c", "damage", "rules", "oracle"]


def run_part(tally: Tally, base: str, models: list[str], seed: int, name: str) -> Tally:
    """Runs a part on a copy of all stores, beside which it may put what it likes."""
    made = Tally(tally.damaged, tally.program, tally.hostile)
    place = f"{base}-{name}"
    subprocess.run(["cp", "-R", "--no-preserve=mode", base, place], check=True)
    folder = tempfile.mkdtemp(dir=os.path.dirname(base))
    PARTS[name](made, store_file.store_paths(place), models, folder, seed)
    sys.stdout.flush()
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stores", default=os.path.join(DATA, "stores"))
    parser.add_argument("--models", default=os.path.join(DATA, "models"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--damaged", type=int, default=DAMAGED, help="how many files of each kind are damaged")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--program", help="the program of contents.c")
    parser.add_argument("--hostile", help="the program of hostile.c, which uses damaged files without Python")
    arguments = parser.parse_args()
    tally = Tally(arguments.damaged, arguments.program, arguments.hostile)
    stores, models = oracle_checks.found_files(arguments.stores, arguments.models)
    for folder, files in ((arguments.stores, stores), (arguments.models, models)):
        if not files:
            print(f"skipped: {folder} is missing, so that no files of the framework are checked")
    folder = tempfile.mkdtemp(prefix="quire-files-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        base = os.path.join(folder, "stores")
        if stores:
            subprocess.run(["cp", "-R", "--no-preserve=mode", arguments.stores, base], check=True)
        oracle_checks.make_stores(base, arguments.seed)
        models = [oracle_checks.made_source(folder), *models]
        # Each part in a process of its own, two at a time.
        with ProcessPoolExecutor(2) as pool:
            whole = partial(run_part, tally, base, models, arguments.seed)
            for each in pool.map(whole, sorted(arguments.only, key=SLOWEST.index)):
                tally.add(each)
        stores = store_file.store_paths(base)
    finally:
        shutil.rmtree(folder)
    print(tally.last_line(f"files: {len(stores)} stores, {len(models)} sources of models", arguments.seed))
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
