"""Stores go over to other versions of their models, as plain Python says.

Random models change at random, with rows in a store of the former one. What the store must hold then is worked out from
the rules of migration.h, and read with plain SQLite. Refused pairs and dry runs leave every byte. Then migrations are
killed, and run on a disk that is full.

    migrations.py [--steps N] [--seed S] [--kills N]
"""

from __future__ import annotations

import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.join(HERE, "..", "files"))

import interruptions  # noqa: E402
import random_pairs  # noqa: E402
import real_histories  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=2000, help="how many pairs of models")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="the number of the first pair, to see one again")
    parser.add_argument("--keep", help="a folder for the stores and models of pairs that differ")
    arguments = parser.parse_args()
    print(f"migrations: seed {arguments.seed}", flush=True)
    differences = random_pairs.run(arguments.steps, arguments.seed, arguments.first, arguments.keep)
    differences += real_histories.run()
    differences += interruptions.run(arguments.kills, arguments.seed)
    print(f"migrations: {arguments.steps} steps, {differences} differences, seed {arguments.seed}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
