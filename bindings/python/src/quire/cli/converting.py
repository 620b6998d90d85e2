"""`quire convert`: a store as one of another type."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext

from ..contexts.store import convert
from ..errors import CannotOpen, Error, NotFound
from ..models.loaded import load_model
from .exits import Exit, Problem
from .values import shown

__all__ = ["convert_store"]


def convert_store(options: argparse.Namespace) -> Exit:
    """Writes an XML store as one of SQLite, or the other way round."""
    try:
        loaded = None if options.model is None else load_model(options.model)
    except NotFound as error:
        raise Problem(Exit.FILE, str(error)) from None
    with nullcontext() if loaded is None else loaded:
        try:
            convert(options.file, options.output, loaded, type=options.type)
        except CannotOpen as error:
            raise Problem(Exit.FILE, str(error)) from error
        except Error as error:
            # Whatever hinders it, it is the file that cannot be converted.
            sentence = str(error).replace("Give the model that made it.", "--model gives the model that made it.")
            raise Problem(Exit.FILE, sentence) from error
    if not options.quiet:
        print(f"{shown(options.output)}: {os.path.getsize(options.output):,} bytes", file=sys.stderr)
    return Exit.DONE
