"""Names that SQLite or Quire uses beside a store, at which the command makes no file."""

from __future__ import annotations

import os
import re

from .exits import Exit, Problem

__all__ = ["check_belongs_to_no_store"]

_NAME = re.compile(r"(.+)(?:-wal|-shm|-journal|-list-[0-9a-f]{32}(?:-\d+-\d+)?)", re.DOTALL)
_FOLDER = re.compile(r"\.(.+)_SUPPORT", re.DOTALL)


def check_belongs_to_no_store(path: str) -> None:
    """Raises `Problem` where a file at a path would be taken for a part of a store, as the library does for its own
    files."""
    folder, name = os.path.split(os.path.realpath(path))
    named = _NAME.fullmatch(name)
    store = os.path.join(folder, named[1]) if named else None
    if store is None or not os.path.isfile(store):
        store = _store_of_folder(os.path.join(folder, name))
    if store is not None:
        raise Problem(
            Exit.FILE, f"'{path}' cannot be made: it belongs to '{store}', which has that name for itself. "
            "Give another path.")


def _store_of_folder(path: str) -> str | None:
    """A file beside a folder of large values that a path leads through, or that it names."""
    while path != (outer := os.path.dirname(path)):
        named = _FOLDER.fullmatch(os.path.basename(path))
        if named and os.path.isdir(outer):
            for name in sorted(os.listdir(outer)):
                store = os.path.join(outer, name)
                if os.path.splitext(name)[0] == named[1] and os.path.isfile(store):
                    return store
        path = outer
    return None
