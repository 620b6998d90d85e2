#!/usr/bin/env python3
"""Files of the framework, read by the library and by plain Python that knows nothing of it.

    check_files.py [--stores FOLDER] [--models FOLDER] [--seed S] [--damaged N] [--only PART ...]

Stores are those below FOLDER and some that are made here, with one of everything that a store can hold. The parts:

    oracle   what Python reads agrees with itself: hashes with the metadata, caches with sources of the same version,
             tables and statements with the model, and every row is as the format says
    rules    the checker of edits finds nothing in right ones, and each rule that is broken
    damage   what plain Python makes of damaged stores, archives and sources: it reads or refuses them, and soon
    library  the library opens, describes, edits and creates stores, and loads and saves models, as plain Python says
    hostile  the library reads damaged files as plain Python does, or refuses them, and no process ends

Ends with one line, `files: N stores, ...`; fails when something differs.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable

import damage_checks
import oracle_checks
import rule_checks
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
    "hostile": subject_damage.run}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--stores", default=os.path.join(DATA, "stores"))
    parser.add_argument("--models", default=os.path.join(DATA, "models"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--damaged", type=int, default=DAMAGED, help="how many files of each kind are damaged")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS))
    arguments = parser.parse_args()
    tally = Tally(arguments.damaged)
    stores, models = oracle_checks.found_files(arguments.stores, arguments.models)
    for folder, files in ((arguments.stores, stores), (arguments.models, models)):
        if not files:
            print(f"skipped: {folder} is missing, so that no files of the framework are checked")
    folder = tempfile.mkdtemp(prefix="quire-files-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        stores = oracle_checks.made_stores(folder, arguments.seed) + stores
        models = [oracle_checks.made_source(folder), *models]
        for name in arguments.only:
            PARTS[name](tally, stores, models, folder, arguments.seed)
    finally:
        shutil.rmtree(folder)
    print(tally.last_line(f"files: {len(stores)} stores, {len(models)} sources of models", arguments.seed))
    return 1 if tally.differences else 0


if __name__ == "__main__":
    sys.exit(main())
