"""How a context tells the handlers of its live lists."""

from __future__ import annotations

import weakref
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c import _handle
from .._c._load import library, quick
from ..errors import InvalidState, StoreClosed, WrongThread, failure, log
from ..objects import _identity
from ..models import _rules
from ..models._entity import Entity

if TYPE_CHECKING:
    from ..lists._live import Live
    from .context import Context

# As many as the library itself allows.
_MOST_ROUNDS = 1000


class Telling(_handle.Handle):
    """The part of a context that tells handlers what the library has queued for their lists."""

    _parent: Optional[Context]
    _maps: dict[Entity, _identity.Objects]
    _lists: list[weakref.ref[Live[Any]]]
    _failures: list[BaseException]
    _generation = 0
    _delivering = False
    _merges_automatically = False

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

    def _begin(self) -> bool:
        """Before a call of the library that moves lists. Within a handler, the others that the running call is yet to
        call are called while their lists show what they are told; save those of a list with a running handler, which
        hear in order what came after that. Whether a handler is running."""
        within = self._parent is not None and not self._parent.closed and self._parent._begin()
        if self._delivering:
            within = True
            for each in self._live_lists():
                if each._telling is None:
                    each._take_on()
                each._tell(self._failures, each._telling)
        elif within:
            self._hear()
        return within

    def _settle(self) -> None:
        """Before a call of the library that moves lists by more than what is pending: has their handlers hear of that
        while the lists show it. What they raise comes out of `_after`, when the call has done its work."""
        self._begin()
        if self._parent is not None and not self._parent.closed:
            self._parent._settle()
        if self._lists and self._pointer is not None:
            error = c_void_p()
            status = self._process_own(error)
            if status:
                self._after(status, error)
            if not self._begin():
                self._hear()
            if self._pointer is None:
                # There is no work left to be done.
                self._raise_failures()

    def _prepare(self) -> None:
        """Before a call of the library that processes what is pending, but merges first in contexts that do so."""
        self._begin()
        context: Optional[Telling] = self
        while context is not None and not context.closed:
            if context._merges_automatically:
                context._settle()
                break
            context = context._parent

    def _process_own(self, error: c_void_p) -> int:
        """Has the library process what is pending, without merging what others have saved."""
        pointer = self._raw
        if not self._merges_automatically:
            return int(library.quire_context_process(pointer, byref(error)))
        try:
            status = library.quire_context_set_merges_automatically(pointer, False, byref(error))
            if status:
                return int(status)
            return int(library.quire_context_process(pointer, byref(error)))
        finally:
            library.quire_context_set_merges_automatically(pointer, self._merges_automatically, None)

    def _deliver(self) -> None:
        """Calls the handlers of live lists that have moved, until none moves any more, and raises what they raise."""
        self._hear()
        self._raise_failures()

    def _hear(self) -> None:
        """Calls the handlers, and keeps what they raise."""
        if self._parent is not None and not self._parent.closed:
            self._parent._hear()
        pointer = self._pointer
        generation = 0 if pointer is None else quick.quire_context_generation(pointer)
        if generation != self._generation:
            self._generation = generation
            for objects in list(self._maps.values()):
                _identity.forget_all(objects)
        if self._delivering or not self._lists:
            return
        self._delivering = True
        try:
            for _ in range(_MOST_ROUNDS):
                moved = False
                for each in self._live_lists():
                    if each._take_on():
                        moved = True
                        each._tell(self._failures)
                if not moved:
                    break
                # The lists hear of what their handlers changed, unless these have closed everything.
                error = c_void_p()
                try:
                    status = self._process_own(error)
                    if status:
                        raise failure(status, error)
                except StoreClosed:
                    break
                except Exception as failed:
                    self._failures.append(failed)
                    break
            else:
                self._failures.append(InvalidState(
                    f"Handlers of live lists changed objects {_MOST_ROUNDS} times in a row. "
                    "A handler must not change an object each time it is told of a change."))
        finally:
            self._delivering = False

    def _raise_failures(self) -> None:
        """Raises what handlers have raised, those of the parent first; within handlers that has to wait."""
        failures = self._take_failures()
        # What ends programs comes out before mere failures.
        failures.sort(key=lambda failed: isinstance(failed, Exception))
        for other in failures[1:]:
            log("Another handler of a live list failed too.", other)
        if failures:
            raise failures[0]

    def _take_failures(self) -> list[BaseException]:
        found = [] if self._parent is None else self._parent._take_failures()
        if not self._delivering:
            found += self._failures
            self._failures = []
        return found
