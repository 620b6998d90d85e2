"""Staying at one moment of a store, and going to that of another context."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_void_p
from typing import Optional

from .._c import _handle
from .._c._load import library, quick
from .._c._public import public
from ..errors import WrongType, check, failure
from . import _tasks

__all__ = ["Moment"]


@public
class Moment(_handle.Handle):
    """The name of a commit that contexts show, from `Context.moment`. Any thread may have it.

    It holds nothing: `Context.pin` can return to it while it is the newest commit, or while a context of the store
    shows it. Two are equal when contexts find the same at both.
    """

    _survives_fork = True

    def __init__(self, pointer: _handle.Slot) -> None:
        super().__init__(pointer, quick.quire_moment_release)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moment):
            return NotImplemented
        return bool(quick.quire_moment_equal(self._raw, other._raw))

    __hash__ = None  # type: ignore[assignment]


class Pinning(_tasks.Shared):
    """What a context has of this."""

    _was_pinned = False
    """Before the first of the blocks of `pinned` that are open."""

    @property
    def moment(self) -> Moment:
        """The commit that the context shows, for another context to `pin` itself at. One that has read nothing yet
        begins to show the newest.

        Raises `Unsupported` for a child, and for a file without a write-ahead log, and `InvalidState` within a
        `transaction`, and for a context that has lost its moment (`Context.has_lost_moment`).
        """
        error, found = c_void_p(), _handle.Slot(quick.quire_moment_release)
        check(library.quire_context_moment(self._raw, byref(found), byref(error)), error)
        return Moment(found)

    @property
    def has_lost_moment(self) -> bool:
        """Whether the context can no longer read the moment that it shows, because the store has given it up
        (`wal_limit` of `quire.open`), or the file has no write-ahead log and there is something to `merge`.

        Objects and lists stay as they are shown. Values that were not read yet come from the newest state, and an
        object whose row was deleted raises `NotFound`. `merge` brings everything up to date.
        """
        return bool(quick.quire_context_has_lost_moment(self._raw))

    def pin(self, moment: Optional[Moment] = None) -> None:
        """Has the context stay at what it shows, or go to a moment of another one and stay there.

        It does not merge automatically meanwhile, and keeps its moment however long the log becomes. `merge`, its own
        saves and whatever else moves a context move it, and it is then pinned at what it has reached. One that has read
        nothing yet is pinned by its next read.

        With a moment, objects show what is there, and live lists tell the difference. Unsaved changes stay on top. At
        an earlier moment, objects that were inserted since are deleted, with what is unsaved in them, and return with
        the next `merge`. Contexts at one moment that is not the newest wait for each other's reads.

        A reader of an event loop (`loop.add_reader(context, context.merge)`) moves the context all the same: take it
        out while the context is pinned.

        Raises `NotFound` when others have saved since and no context shows the moment, `InvalidArgument` for one of
        another store, `InvalidState` within a `transaction`, a handler or a hook, `Unsupported` for a child and for a
        file without a write-ahead log. The context is where it was then.
        """
        if moment is not None and not isinstance(moment, Moment):
            raise WrongType(f"a context is pinned at a moment of a context, not at {type(moment).__name__}")
        for block in self._pins:
            block.check()
        self._pin(moment)

    def _pin(self, moment: Optional[Moment]) -> None:
        given = None if moment is None else moment._raw
        self._delivery.settle_before_move()
        error = c_void_p()
        self._delivery.after(library.quire_context_pin(self._raw, given, byref(error)), error)

    def unpin(self) -> None:
        """Ends the pin. This advances nothing: a context that merges automatically does so with its next `process`."""
        for block in self._pins:
            block.check()
        self._unpin()

    def _unpin(self) -> None:
        error = c_void_p()
        status = library.quire_context_unpin(self._raw, byref(error))
        if status:
            raise failure(status, error)

    @property
    def is_pinned(self) -> bool:
        """Whether the context is pinned. False for a child."""
        return bool(quick.quire_context_is_pinned(self._raw))

    @contextmanager
    def pinned(self, moment: Optional[Moment] = None) -> Iterator[None]:
        """A block in which the context is pinned: `with context.pinned():`. It raises what `pin` raises.

        The end of the block unpins it, unless it was pinned before the block. It moves nothing. Of blocks that overlap,
        as those of two tasks, the last one unpins it. Another task cannot pin it at a moment, or unpin it, meanwhile
        (`InvalidState`).
        """
        if moment is not None:
            for each in self._pins:
                each.check()
        if not self._pins:
            self._was_pinned = self.is_pinned
        block = _tasks.Block("a pinned()", _tasks.current())
        self._pins = (*self._pins, block)
        try:
            # Inside, because a handler may raise when the context is there.
            self._pin(moment)
            yield
        finally:
            self._pins = tuple(each for each in self._pins if each is not block)
            if not self._pins and not self._was_pinned and not self.closed:
                self._unpin()
