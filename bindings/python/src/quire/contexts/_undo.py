"""What a context can undo and redo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_void_p
from typing import Any, Optional

from .._c import _values
from .._c._load import library, quick
from ..errors import check, text
from ._telling import Telling


class Undoing(Telling):
    """The part of a context that undoes and redoes."""

    def enable_undo(self, levels: int = 0) -> None:
        """Has changes be kept from now on, so that they can be undone; at most `levels` groups of them, 0 for all.

        What happens between two processings of changes is one group: `process`, `save` and every query end it.
        `undo_group` makes other groups. Saves do not end what can be undone: an insertion that was saved becomes a
        deletion, a deletion an insertion of the same object with the same id, and the next save writes that. `rollback`
        and `reset` end everything. Called again, it changes the number of levels.
        """
        levels = _values.whole(levels, "the number of levels")
        if not 0 <= levels < 2**63:
            raise ValueError(f"the number of levels is not negative and below 2**63, not {levels}")
        error = c_void_p()
        check(library.quire_context_enable_undo(self._raw, levels, byref(error)), error)

    def disable_undo(self) -> None:
        """Turns undo off; what could be undone and redone is forgotten."""
        error = c_void_p()
        check(library.quire_context_disable_undo(self._raw, byref(error)), error)

    @property
    def undo_enabled(self) -> bool:
        """Whether changes can be undone."""
        return bool(quick.quire_context_is_undo_enabled(self._raw))

    def undo(self) -> None:
        """Takes back the last group of changes, if there is one, and calls the handlers of live lists.

        Objects get the values that they had, on both sides of relationships; what delete rules did is taken back too.
        What other contexts, processes and batch requests did takes no part in it; an object whose row is gone is left
        out. Raises `InvalidState` when undo is off or within an `undo_group`.
        """
        self._revert(library.quire_context_undo)

    def redo(self) -> None:
        """Does again what was undone last. Every new change, one of a handler included, ends that."""
        self._revert(library.quire_context_redo)

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return bool(quick.quire_context_can_undo(self._raw))

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        return bool(quick.quire_context_can_redo(self._raw))

    @property
    def undo_name(self) -> str:
        """Name of the group that `undo` would take back, or ""."""
        return text(quick.quire_context_undo_name(self._raw))

    @property
    def redo_name(self) -> str:
        """Name of the group that `redo` would do again, or ""."""
        return text(quick.quire_context_redo_name(self._raw))

    @contextmanager
    def undo_group(self, name: Optional[str] = None) -> Iterator[None]:
        """A block whose changes are undone together, with a name for a menu: `with context.undo_group("Rename"):`.

        Blocks within it are part of it. Changes are processed before and after the outermost one. When the block
        raises, its changes stay and can be undone.
        """
        encoded = None if name is None else _values.encoded(name)
        self._begin()
        error = c_void_p()
        arguments = self._raw, encoded, 0 if encoded is None else len(encoded), byref(error)
        try:
            # Inside, because a KeyboardInterrupt may come as the call returns, when the group has begun.
            status = library.quire_context_begin_undo_group(*arguments)
            self._after(status, error)
            yield
        except BaseException:
            # What the block raised is what matters; the group ends in any case, if it has begun.
            if not error.value and not self.closed and self.undo_enabled:
                library.quire_context_end_undo_group(self._raw, None)
            raise
        self._begin()
        self._after(library.quire_context_end_undo_group(self._raw, byref(error)), error)

    @contextmanager
    def without_undo(self) -> Iterator[None]:
        """A block whose changes are for good: undoing what was before them gives the values of then."""
        was_registering = bool(quick.quire_context_is_undo_registering(self._raw))
        self._set_registration(False)
        try:
            yield
        finally:
            if not self.closed and self.undo_enabled:
                self._set_registration(was_registering)

    def remove_undo_actions(self) -> None:
        """Forgets what could be undone and redone. The changes stay."""
        error = c_void_p()
        check(library.quire_context_remove_undo_actions(self._raw, byref(error)), error)

    # MARK: inside

    def _set_registration(self, is_registering: bool) -> None:
        error = c_void_p()
        check(library.quire_context_set_undo_registration(self._raw, is_registering, byref(error)), error)

    def _revert(self, call: Any) -> None:
        self._settle()
        error = c_void_p()
        self._after(call(self._raw, None, byref(error)), error)
