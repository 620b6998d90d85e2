"""`quire browse`: a store on the whole terminal."""

from __future__ import annotations

import argparse
import sys

from ..exits import Exit, Problem
from ..opening import class_of, opened
from ..terminal import needs

__all__ = ["browse"]

_OLDEST = "6.0"


def browse(options: argparse.Namespace) -> Exit:
    """Shows the entities of a store, their sections and rows, until it is left."""
    try:
        import textual
    except ImportError:
        needs("textual", _OLDEST)
    assert textual
    with opened(options.file) as store:
        if options.entity is not None:
            class_of(store, options.entity)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise Problem(Exit.USAGE, "browse needs a terminal; `quire query` writes rows elsewhere.")
        try:
            from .app import Browser
        except ImportError as error:
            if not (error.name or "").startswith("textual"):
                raise
            # That of Debian 12 is such a one.
            needs("textual", _OLDEST, is_old=True)
        Browser(store, options.entity).run()
    return Exit.DONE
