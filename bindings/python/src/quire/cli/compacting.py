"""`quire compact`: gives free pages back."""

from __future__ import annotations

import argparse
import os

from .exits import Exit
from .opening import opened_for_writing

__all__ = ["compact"]


def compact(options: argparse.Namespace) -> Exit:
    """Makes the file of a store as short as its rows allow, and prints by how much."""
    before = os.path.getsize(options.file)
    with opened_for_writing(options.file, None) as store:
        freed = store.compact()
    print(f"{freed:,} bytes given back: {os.path.getsize(options.file):,} bytes of {before:,}")
    return Exit.DONE
