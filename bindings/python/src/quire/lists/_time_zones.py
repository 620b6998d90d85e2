"""Where Python has data of time zones."""

from __future__ import annotations

import functools
import importlib.util
import os
from typing import Optional


@functools.lru_cache(maxsize=None)
def folder_of_tzdata() -> Optional[bytes]:
    """The folder of the files in the package `tzdata`, where that is installed as files."""
    found = importlib.util.find_spec("tzdata")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    return os.fsencode(os.path.join(folders[0], "zoneinfo")) if folders else None
