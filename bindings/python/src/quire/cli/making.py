"""Stores that an import makes: whole ones, or none.

A new store is filled in a folder beside its place, and put there when it is complete. What stands at the place belongs
to others until then: a store that another program has made meanwhile is neither changed nor removed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress

from ..errors import Error
from .exits import Exit, Problem, exit_of
from .store_names import check_belongs_to_no_store

__all__ = ["is_there", "made_whole"]

_PREFIX = ".quire-import-"
_SECONDS_FOR_LOCKS = 5


def is_there(path: str) -> bool:
    """Whether rows go into what is at a path. Otherwise a store can be made there: there is nothing, or an empty file.

    What cannot become a store counts as there, so that opening it says why.
    """
    target = os.path.realpath(path)
    if not os.path.lexists(target):
        return not os.path.isdir(os.path.dirname(target))
    return not os.path.isfile(target) or os.path.getsize(target) > 0


@contextmanager
def made_whole(path: str) -> Generator[str, None, None]:
    """The path at which the block makes a store and closes it. At its end the store is put at `path`, or it is gone.

    A symbolic link stays one: the store comes to the place that it leads to.
    """
    check_belongs_to_no_store(path)
    target = os.path.realpath(path)
    # Named before it is made: a signal may come as the call returns, and nothing is to be left then.
    folder = os.path.join(os.path.dirname(target), _PREFIX + secrets.token_hex(8))
    made = os.path.join(folder, os.path.basename(target))
    try:
        try:
            os.mkdir(folder, 0o700)
        except OSError as error:
            raise OSError(error.errno, error.strerror, path) from None
        try:
            yield made
        except (Error, Problem) as error:
            if made not in str(error):
                raise
            raise Problem(exit_of(error), str(error).replace(made, path)) from None
        if os.path.exists(f"{made}-wal") and os.path.getsize(f"{made}-wal"):
            raise Problem(Exit.FILE, f"The rows of '{path}' could not be written out of its log. Import again.")
        with _external_data(folder, os.path.dirname(target)):
            _put(made, target, path)
    finally:
        if os.path.isdir(folder):
            shutil.rmtree(folder)


@contextmanager
def _external_data(source: str, destination: str) -> Generator[None, None, None]:
    """Moves the files of values, whose names no other store has. When the block raises, none of them stays."""
    made: list[str] = []
    moved: list[str] = []
    try:
        for folder, _, names in os.walk(source):
            there = os.path.join(destination, os.path.relpath(folder, source))
            if folder != source and not os.path.isdir(there):
                os.mkdir(there)
                made.append(there)
            for name in names if folder != source else ():
                os.rename(os.path.join(folder, name), os.path.join(there, name))
                moved.append(os.path.join(there, name))
            if folder != source:
                _synchronize(there)
        yield
    except BaseException:
        for each in moved:
            os.unlink(each)
        for each in reversed(made):
            # Another program may use it by now.
            with suppress(OSError):
                os.rmdir(each)
        raise


def _put(made: str, target: str, path: str) -> None:
    """Puts a store in the place of an empty file, which is made where there is none.

    Every program that uses SQLite locks a file before it makes a store in it, so what is empty under a lock stays so.
    SQLite also removes a log here that a store of this name has left behind. It would be taken for that of the new one.
    """
    is_new = not os.path.lexists(target)
    if is_new:
        try:
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            raise _made_meanwhile(path) from None
    empty = os.stat(target)
    with closing(sqlite3.connect(target, timeout=_SECONDS_FOR_LOCKS, isolation_level=None)) as file:
        try:
            file.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise Problem(Exit.FILE, f"'{path}' cannot be locked: {error}. Import again.") from None
        there = os.stat(target)
        if there.st_size or not os.path.samestat(there, empty):
            raise _made_meanwhile(path)
        try:
            if not is_new:
                shutil.copymode(target, made)
            os.replace(made, target)
        except BaseException:
            if is_new:
                os.unlink(target)
            raise
    _synchronize(os.path.dirname(target))


def _synchronize(folder: str) -> None:
    """Has the names in a folder survive a power cut, where the file system can do that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _made_meanwhile(path: str) -> Problem:
    return Problem(
        Exit.FILE, f"Another program has made '{path}' meanwhile. It stays as it is, and nothing was imported. "
        "Import again to add the rows.")
