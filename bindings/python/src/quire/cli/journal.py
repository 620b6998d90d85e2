"""`quire journal`: the change journal of a file."""

from __future__ import annotations

import argparse
import sys

from .exits import Exit
from .opening import opened_with_journal
from .values import shown

__all__ = ["journal"]

_SENTENCES = {
    "none": "keeps no change journal",
    "saves": "keeps a change journal of what Quire saves",
    "all": "keeps a change journal of what any program changes",
}


def journal(options: argparse.Namespace) -> Exit:
    """Has a file keep a change journal from now on, or none."""
    with opened_with_journal(options.file, options.keep) as store:
        if not options.quiet:
            print(f"quire: {shown(options.file)} {_SENTENCES[store.change_journal]}.", file=sys.stderr)
    return Exit.DONE
