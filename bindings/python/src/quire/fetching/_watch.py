"""What looks after a fetch or batch request while the library runs it: a progress function, and Ctrl-C."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Generator
from ctypes import byref, c_void_p
from typing import Any, Callable, Optional

from .._c import _ffi
from .._c._load import library
from ..errors import failure
from .cancellation import Cancellation

Progress = Callable[[int], object]

# Often enough for a waiting user, seldom enough to cost nothing where other threads hold the interpreter's lock.
_MILLISECONDS_BETWEEN_SIGNALS = 100
_MILLISECONDS_BETWEEN_REPORTS = 20


def _reporter(progress: Optional[Progress], failures: list[BaseException]) -> Generator[bool, int, None]:
    """Is sent the rows so far, and gives whether to go on; what goes wrong is kept.

    A generator, because Python handles a signal at the beginning of a function, before any `try` in it. What is resumed
    is within its `try`.
    """
    goes_on = True
    while True:
        try:
            rows = yield goes_on
            goes_on = progress is None or progress(rows) is not False
        except GeneratorExit:
            return
        except BaseException as error:
            # Without this frame, which must not be cleared with those of the traceback.
            here = error.__traceback__
            failures.append(error.with_traceback(None if here is None else here.tb_next))
            goes_on = False


if sys.version_info >= (3, 11):
    from operator import call as _send
else:

    def _send(send: Any, rows: int) -> Any:
        try:
            return send(rows)
        except BaseException as error:
            return send.__self__.throw(error)


# The user data is what to call, so that no function in Python stands before the generator.
_report = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.py_object, ctypes.c_uint64)(_send)
_report_pointer = ctypes.cast(_report, _ffi.quire_progress_report)


class Watch:
    """Looks after the fetches of one request, or a batch request, which it must outlive."""

    def __init__(self, progress: Optional[Progress]) -> None:
        self._failures: list[BaseException] = []
        reporter = _reporter(progress, self._failures)
        next(reporter)
        self._send = reporter.send
        interval = _MILLISECONDS_BETWEEN_REPORTS if progress else _MILLISECONDS_BETWEEN_SIGNALS
        self._progress = _ffi.quire_progress(
            struct_size=ctypes.sizeof(_ffi.quire_progress), interval_milliseconds=interval,
            user_data=id(self._send), report=_report_pointer)

    @property
    def progress(self) -> _ffi.quire_progress:
        """What the library is to tell; keep the watch until it has done so."""
        return self._progress

    def attach(self, request: int) -> None:
        error = c_void_p()
        status = library.quire_fetch_request_set_progress(request, byref(self._progress), byref(error))
        if status:
            raise failure(status, error)

    def take_failure(self) -> Optional[BaseException]:
        """What the progress function, or a signal, raised while it was called."""
        if not self._failures:
            return None
        first = self._failures[0]
        self._failures.clear()
        return first


_for_signals = Watch(None)
_main_thread = threading.main_thread().ident


def check(cancellation: object, progress: object) -> None:
    """Raises the error of a wrong cancellation or progress function."""
    if cancellation is not None and not isinstance(cancellation, Cancellation):
        raise TypeError(f"cancellation is a quire.Cancellation, not {type(cancellation).__name__}")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is a function of a number, not {type(progress).__name__}")
    if cancellation is not None:
        cancellation._raw


def watch(progress: Optional[Progress]) -> Optional[Watch]:
    """The watch over what this thread runs. Signals are handled on the main thread alone."""
    if progress is not None:
        return Watch(progress)
    return _for_signals if threading.get_ident() == _main_thread else None
