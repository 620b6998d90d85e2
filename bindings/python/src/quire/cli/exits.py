"""How the command ends: a number, and a sentence where it failed."""

from __future__ import annotations

import enum
import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from .. import errors

__all__ = ["Exit", "Problem", "ending_in_order", "exit_of"]


class Exit(enum.IntEnum):
    """What the command returns. The man page lists these numbers."""

    DONE = 0
    """It did what it was asked to."""
    FOUND = 1
    """`check` found something wrong in the file."""
    USAGE = 2
    """The command line cannot be read."""
    FILE = 3
    """A file cannot be opened, read or written, or is no store."""
    REQUEST = 4
    """The store has no such entity or key, or the predicate is wrong."""
    DATA = 5
    """What is imported does not fit the store; or a value does not fit the format of an export."""
    MISSING = 6
    """The library, or a Python package that the command needs, is not installed."""
    INTERRUPTED = 130
    """Ctrl-C."""
    PIPE = 141
    """The reader of the output went away."""


class Problem(Exception):
    """What ends the command with a sentence."""

    def __init__(self, exit: Exit, sentence: str) -> None:
        super().__init__(sentence)
        self.exit = exit


@contextmanager
def ending_in_order() -> Generator[None, None, None]:
    """While the block runs, a signal that ends programs has it clean up first. The command returns 128 and more."""
    handled: dict[signal.Signals, Any] = {}

    def end(number: int, frame: object) -> None:
        # A second one would end the clean-up.
        for each in handled:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    # Another thread can set none. `nohup` has one of them ignored, and so it stays.
    if threading.current_thread() is threading.main_thread():
        for each in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(each) is signal.SIG_DFL:
                handled[each] = signal.signal(each, end)
    try:
        yield
    finally:
        for each, before in handled.items():
            signal.signal(each, before)


_OF_FILES = (
    errors.CannotOpen, errors.NotAStore, errors.Busy, errors.ReadOnly, errors.DatabaseError, errors.FileMoved,
    errors.ModelMismatch, errors.InvalidModel, errors.NoMemory, errors.StoreClosed)
_OF_DATA = (errors.ValidationError, errors.ConstraintError, errors.Conflict)


def exit_of(error: BaseException) -> Exit:
    """The number for an exception that a command leaves with."""
    if isinstance(error, Problem):
        return error.exit
    if isinstance(error, _OF_DATA):
        return Exit.DATA
    if isinstance(error, _OF_FILES):
        return Exit.FILE
    if isinstance(error, errors.Error):
        return Exit.REQUEST
    return Exit.FILE
