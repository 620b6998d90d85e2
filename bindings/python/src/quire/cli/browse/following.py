"""Whether another process has saved."""

from __future__ import annotations

import os
from typing import Optional

__all__ = ["Following"]

_Signature = tuple[Optional[tuple[int, int, int]], ...]


class Following:
    """Looks at the files of a store from time to time. A save changes one of them."""

    def __init__(self, path: str) -> None:
        self._paths = path, f"{path}-wal"
        self._seen = self._signature()

    def has_changed(self) -> bool:
        """Whether a file is another than when this was last asked."""
        found = self._signature()
        changed = found != self._seen
        self._seen = found
        return changed

    def _signature(self) -> _Signature:
        return tuple(map(_of, self._paths))


def _of(path: str) -> Optional[tuple[int, int, int]]:
    try:
        found = os.stat(path)
    except OSError:
        return None
    # A log that is empty is as one that is not there: opening the store makes it.
    return None if found.st_size == 0 else (found.st_ino, found.st_size, found.st_mtime_ns)
