"""How a context tells the handlers of its live lists."""

from __future__ import annotations

import weakref
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from . import _handle, _identity, _rules
from ._entity import Entity
from ._load import library, quick
from .errors import InvalidState, StoreClosed, WrongThread, failure, log

if TYPE_CHECKING:
    from ._live import Live
    from .context import Context

# As many as the library itself allows.
_MOST_ROUNDS = 1000


class Telling(_handle.Handle):
    """The part of a context that tells handlers what the library has queued for their lists."""

    _parent: Optional[Context]
    _maps: dict[Entity, _identity.Objects]
    _lists: list[weakref.ref[Live[Any]]]
    _generation = 0
    _delivering = False

    def _live_lists(self) -> list[Live[Any]]:
        found = [(reference, reference()) for reference in self._lists]
        self._lists = [reference for reference, each in found if each is not None and not each.closed]
        return [each for _, each in found if each is not None and not each.closed]

    def _after(self, status: int, error: c_void_p, cause: Optional[BaseException] = None) -> None:
        """After a call that may have processed changes, of its parent too: tells the handlers, then raises what the
        call failed with, or the `cause` of that, if it is known."""
        if not status:
            self._deliver()
            return
        context: Any = self
        failed = _rules.complete(context, failure(status, error))
        raised = failed if cause is None else cause
        if not isinstance(failed, (WrongThread, StoreClosed)):
            try:
                self._deliver()
            except Exception as other:
                log("A handler of a live list failed, beside the call that brought it up to date.", other)
            except BaseException as interruption:
                raise interruption from raised
        raise raised

    def _deliver(self) -> None:
        """Calls the handlers of live lists that have moved, until none moves any more."""
        if self._parent is not None and not self._parent.closed:
            self._parent._deliver()
        pointer = self._pointer
        generation = 0 if pointer is None else quick.quire_context_generation(pointer)
        if generation != self._generation:
            self._generation = generation
            for objects in list(self._maps.values()):
                _identity.forget_all(objects)
        if self._delivering or not self._lists:
            return
        failures: list[BaseException] = []
        self._delivering = True
        try:
            for _ in range(_MOST_ROUNDS):
                moved = False
                for each in self._live_lists():
                    for change in list(each._take_changes()):
                        moved = True
                        if not each.closed:
                            each._tell(change, failures)
                if not moved:
                    break
                # The lists hear of what their handlers changed, unless these have closed everything.
                error = c_void_p()
                try:
                    status = library.quire_context_process(self._raw, byref(error))
                    if status:
                        raise failure(status, error)
                except StoreClosed:
                    break
                except Exception as failed:
                    failures.append(failed)
                    break
            else:
                failures.append(InvalidState(
                    f"Handlers of live lists changed objects {_MOST_ROUNDS} times in a row. "
                    "A handler must not change an object each time it is told of a change."))
        finally:
            self._delivering = False
        # What ends programs comes out before mere failures.
        failures.sort(key=lambda failed: isinstance(failed, Exception))
        for other in failures[1:]:
            log("Another handler of a live list failed too.", other)
        if failures:
            raise failures[0]
