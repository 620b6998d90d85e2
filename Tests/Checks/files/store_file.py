"""A store as a file: a copy of it with its log, opened with plain SQLite, and where its external data lies."""

from __future__ import annotations

import contextlib
import hashlib
import os
import plistlib
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, Optional

# Triggers call these with the table, entity, key, property and value of each row whose derived value they change.
TRIGGER_FUNCTIONS = (
    "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    "NSCoreDataTriggerUpdateAffectedObjectValue")
LOGS = ("-wal", "-journal")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def connect(path: str) -> sqlite3.Connection:
    """A connection that may run the framework's triggers."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8")
    for name in TRIGGER_FUNCTIONS:
        connection.create_function(name, 5, lambda *values: None)
    return connection


def support_folder(path: str) -> str:
    """Where the external data of a store lies."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{os.path.splitext(name)[0]}_SUPPORT", "_EXTERNAL_DATA")


def copy_store(path: str, folder: str) -> str:
    """Copies a store with its log and its external data; returns where it is.

    Another process does it: to close a file here would end the locks that the library has on it in this process.
    """
    files = [path + suffix for suffix in ("", *LOGS) if os.path.exists(path + suffix)]
    support = os.path.dirname(support_folder(path))
    subprocess.run(
        ["cp", "-R", "--no-preserve=mode", *files, *([support] if os.path.isdir(support) else []), folder], check=True)
    return os.path.join(folder, os.path.basename(path))


@contextlib.contextmanager
def opened(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to a copy of a store, so that nothing is left beside the store itself."""
    folder = tempfile.mkdtemp(prefix="quire-files-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        connection = connect(copy_store(path, folder))
        try:
            yield connection
        finally:
            connection.close()
    finally:
        shutil.rmtree(folder)


def tables(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """The columns of each table, with their types."""
    names = [name for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")]
    return {name: {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({quoted(name)})")}
            for name in names}


def metadata(connection: sqlite3.Connection) -> dict[str, Any]:
    """The property list of the store, with its identifier."""
    found: Optional[tuple[str, bytes]] = connection.execute("SELECT Z_UUID, Z_PLIST FROM Z_METADATA").fetchone()
    if found is None:
        raise ValueError("a store without metadata")
    whole = plistlib.loads(found[1])
    if not isinstance(whole, dict):
        raise ValueError("metadata that are no dictionary")
    return {**whole, "NSStoreUUID": found[0]}


def folder_state(folder: str) -> dict[str, str]:
    """Every file below a folder, with a checksum."""
    found: dict[str, str] = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = hashlib.sha256(file.read()).hexdigest()
    return found


def store_paths(folder: str) -> list[str]:
    """The stores below a folder."""
    found: list[str] = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                if file.read(16) == b"SQLite format 3\x00":
                    found.append(path)
    return sorted(found)
