"""What all objects with a handle of the library share: closing, `with`, and what happens at fork and pickle."""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from ctypes import c_void_p
from types import TracebackType
from typing import Any, Callable, NoReturn, Optional, TypeVar, Union

from ..errors import StoreClosed

_Self = TypeVar("_Self", bound="Handle")


class Slot(c_void_p):
    """Where a call puts a handle that it hands out, which is given back with the slot unless it was taken.

    A KeyboardInterrupt may come as the call returns, before its result can be kept by anything else.
    """

    def __init__(self, release: Callable[..., object]) -> None:
        super().__init__()
        self._then: tuple[Any, ...] = release,

    def take(self) -> int:
        """The handle, which is the caller's from now on."""
        pointer = self.value
        assert pointer is not None
        self.value = None
        return pointer

    def give_back(self) -> None:
        """Gives the handle back. The second time does nothing."""
        pointer, self.value = self.value, None
        if pointer is not None:
            release, *arguments = self._then
            release(pointer, *arguments)

    def __del__(self) -> None:
        self.give_back()


class Handle:
    """A reference to something in the library, given back by `close`, at the end of `with`, or when it is collected."""

    _survives_fork = False
    """Whether it is memory alone, without a file and its locks, and so as good in a child process."""

    def __init__(self, pointer: Union[int, Slot], release: Callable[..., object], *arguments: object) -> None:
        if isinstance(pointer, Slot):
            self._slot = pointer
        else:
            self._slot = Slot(release)
            self._slot.value = pointer
        self._pointer: Optional[int] = self._slot.value
        self._abandoned = False
        # Not __del__ alone: this also runs in a defined order at the end of the interpreter.
        self._finalizer = weakref.finalize(self, self._slot.give_back)
        self._slot._then = release, *arguments
        _handles[id(self)] = self

    @property
    def _raw(self) -> int:
        """The pointer for a call; raises StoreClosed when there is none any more."""
        pointer = self._pointer
        if pointer is None:
            raise self._use_after_close()
        return pointer

    @property
    def closed(self) -> bool:
        """Whether it was closed. Any thread."""
        return self._pointer is None

    def close(self) -> None:
        """Gives back what it holds in the library. Closing again does nothing.

        What needs the library afterwards raises `StoreClosed`; what was read before stays.
        """
        self._pointer = None
        self._finalizer()

    def __enter__(self: _Self) -> _Self:
        self._raw
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        value: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"cannot pickle or copy a {type(self).__name__!r} object: it belongs to an open store")

    def _use_after_close(self) -> StoreClosed:
        name = type(self).__name__.strip("_")
        if self._abandoned:
            return StoreClosed(
                f"This {name} belongs to the parent process. Close the store before the fork and open it in each "
                "process, or start the process anew (multiprocessing's 'spawn').")
        return StoreClosed(f"This {name} was closed.")

    def _retire(self) -> None:
        """Closes it for callers, but gives nothing back before it is collected: another thread may be inside a call."""
        self._pointer = None

    def _abandon(self) -> None:
        """After a fork, in the child: the file and its locks are the parent's, so nothing may be given back."""
        self._pointer = None
        self._abandoned = True
        self._slot.value = None
        self._finalizer.detach()

    def _close_at_exit(self) -> None:
        """Before anything is left at the end of the interpreter."""

    def _leave(self) -> None:
        """Closes it for callers, and gives nothing back: the process ends, and a thread may be passing it to a call."""
        self._pointer = None
        self._slot.value = None
        self._finalizer.detach()


# By number: some are compared as values are.
_handles: weakref.WeakValueDictionary[int, Handle] = weakref.WeakValueDictionary()


def _after_fork() -> None:
    for handle in list(_handles.values()):
        if not handle._survives_fork:
            handle._abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _at_exit() -> None:
    """Where threads of the program outlive the end of the interpreter, they find stores closed and handles as they
    were. Otherwise finalizers give everything back."""
    if len(sys._current_frames()) == 1:
        return
    for handle in list(_handles.values()):
        handle._close_at_exit()
    for handle in list(_handles.values()):
        handle._leave()


# What is registered later runs earlier, and finalizers register themselves with the first of them.
weakref.finalize(_handles, int).detach()
atexit.register(_at_exit)
