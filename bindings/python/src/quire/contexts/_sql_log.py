"""The SQL of stores, told to functions and to Python's logging."""

from __future__ import annotations

import _thread
import ctypes
import itertools
import sys
from collections.abc import Callable
from typing import Any, Optional

from .._c import _ffi
from ..errors import InvalidArgument, WrongType

Tell = Callable[[str, float, int], object]
"""Is given a statement, the seconds that it took, and how many rows it returned."""

_MOST_NANOSECONDS = 2**63 - 1

_numbers = itertools.count(1)
_kept: dict[int, Tell] = {}
"""What the library tells, by the number that it knows each by."""


def described(tell: Tell, includes_values: bool, least_seconds: float) -> _ffi.quire_log:
    """The log as the library takes it, which gives `tell` back by `destroy`; or by `forget`, if it was not taken."""
    if not callable(tell):
        raise WrongType(f"a log is a function of SQL, seconds and a number of rows, not {type(tell).__name__}")
    if not 0 <= least_seconds <= _MOST_NANOSECONDS / 1e9:
        raise InvalidArgument(f"least_seconds is a number of seconds from 0 on; it is {least_seconds!r}.")
    number = next(_numbers)
    _kept[number] = tell
    return _ffi.quire_log(
        struct_size=ctypes.sizeof(_ffi.quire_log), includes_values=bool(includes_values),
        least_nanoseconds=min(round(least_seconds * 1e9), _MOST_NANOSECONDS), user_data=number,
        destroy=ctypes.cast(_forget, _ffi.quire_log_destroy), statement=_statement)


def forget(log: Optional[_ffi.quire_log]) -> None:
    """The library has not taken it."""
    if log is not None:
        _drop(log.user_data)


def to_logging() -> Optional[_ffi.quire_log]:
    """The log of a store that is opened: into the logger "quire.sql", where the program listens to it."""
    # A program that has not loaded it listens to nothing, and loading it takes longer than to load the library.
    logging: Any = sys.modules.get("logging")
    if logging is None:
        return None
    logger = logging.getLogger("quire.sql")
    if not logger.isEnabledFor(logging.DEBUG):
        return None

    def tell(sql: str, seconds: float, row_count: int) -> None:
        logger.debug("%.3f ms, %d rows: %s", seconds * 1000, row_count, sql)

    return described(tell, False, 0)


# MARK: called by the library


def _call(number: int, entry: Any) -> None:
    try:
        tell = _kept.get(number)
        if tell is None:
            # Setting it was interrupted.
            return
        told = entry.contents
        sql = ctypes.string_at(told.sql.data, told.sql.size).decode(errors="replace")
        tell(sql, told.nanoseconds / 1e9, told.row_count)
    except KeyboardInterrupt:
        # It would be printed here and lost. The call that runs the statement ends before it comes again.
        _thread.interrupt_main()


def _drop(number: int) -> None:
    _kept.pop(number, None)


_statement = _ffi.quire_log_statement(_call)
_forget = _ffi.quire_log_destroy(_drop)
