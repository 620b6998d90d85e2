"""Plain Python on damaged files: it reads them, or refuses them with an error of a few kinds.

What is right for a damaged file is what this reader makes of it: a description, or an error. A library that reads one
must read the same.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
from types import FrameType
from typing import Any, Optional

import model_cache
import model_xml
import store_file
from archive import ArchiveError
from archive_writer import write_model
from damage import damage_archive, damage_store, damage_xml
from rows import Reading
from tally import Tally

# What a reader of hostile bytes may raise. Others are faults of the reader.
REFUSALS = (ArchiveError, model_xml.XMLError, sqlite3.Error, ValueError, RecursionError, TypeError, KeyError,
            AttributeError, OverflowError, IndexError, MemoryError)
SECONDS = 20


class TooLong(Exception):
    pass


def alarm(number: int, frame: Optional[FrameType]) -> None:
    raise TooLong


def attempt(tally: Tally, where: str, read: Any) -> Optional[Any]:
    """What a reader returns, None when it refuses. A reader that uses a processor for too long is a difference."""
    previous = signal.signal(signal.SIGPROF, alarm)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        found = read()
        tally.count("damaged files that are read")
        return found
    except TooLong:
        tally.differ(where, f"is not read after {SECONDS} seconds of a processor")
    except REFUSALS:
        tally.count("damaged files that are refused")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
    return None


def read_store(path: str) -> Any:
    with store_file.opened(path) as connection:
        model = model_cache.read_store(connection)
        return None if model is None else Reading(connection, model, path)


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    dice = random.Random(seed)
    small = [path for path in stores if os.path.getsize(path) < 1 << 20]
    archives: list[bytes] = []
    for path in small:
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
            if model is not None:
                archives.append(write_model(model))
    sources: list[bytes] = []
    for path in models:
        with open(path, "rb") as file:
            sources.append(file.read())
    limit = sys.getrecursionlimit()
    for step in range(tally.damaged):
        name, data = damage_archive(dice, dice.choice(archives))
        attempt(tally, f"archive {step} {name}", lambda data=data: model_cache.read_model(data))
        if sources:
            name, data = damage_xml(dice, dice.choice(sources))
            attempt(tally, f"source {step} {name}", lambda data=data: model_xml.read_text(data))
        place = tempfile.mkdtemp(dir=folder)
        path = store_file.copy_store(dice.choice(small), place)
        name = damage_store(dice, path)
        attempt(tally, f"store {step} {name}", lambda path=path: read_store(path))
        shutil.rmtree(place)
    assert sys.getrecursionlimit() == limit
