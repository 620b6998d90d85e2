"""How a context has the handlers of its live lists called."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Optional

from .._c._load import library, quick
from ..errors import DatabaseError, InvalidState, StoreClosed, WrongThread, failure, log
from ..models import _rules

if TYPE_CHECKING:
    from ..lists._live import Live
    from .context import Context

# As many as the library itself allows.
_MOST_ROUNDS = 1000


class Delivery:
    """Calls the handlers of the lists of a context, and keeps what they raise.

    A call of the library that moves lists runs between two of its methods: `begin`, `prepare` or `settle` comes before
    it, `after` or `deliver` comes after it.
    """

    def __init__(self, context: Context, parent: Optional[Delivery]) -> None:
        # Weakly: a context that is let go of ends at once, without the cyclic collector.
        self._followed = weakref.ref(context)
        self._parent = parent
        self._lists: weakref.WeakValueDictionary[int, Live[Any]] = weakref.WeakValueDictionary()
        self._has_lists = False
        """Whether there ever was one. The dictionary takes longer to ask, and each call of the package does."""
        self._owing: set[int] = set()
        """The numbers of lists whose handlers are yet to be called with what was taken from the library."""
        self._failures: list[BaseException] = []
        self._generation = 0
        self._is_running = False

    def add(self, number: int, live: Live[Any]) -> None:
        """Calls the handlers of a list from now on, which has this number in the library."""
        self._lists[number] = live
        self._has_lists = True

    @property
    def lists(self) -> list[Live[Any]]:
        """The lists that are open."""
        # At once, because another thread may close the store.
        found = [reference() for reference in self._lists.valuerefs()]
        return [each for each in found if each is not None and not each.closed]

    # MARK: before a call

    def begin(self) -> bool:
        """Before a call of the library that moves lists. Within a handler, the others that the running call is yet to
        call are called while their lists show what they are told; save those of a list with a running handler, which
        hear in order what came after that. Whether a handler is running."""
        within = self._parent is not None and self._parent._pointer is not None and self._parent.begin()
        if self._is_running:
            within = True
            for number, live in self._with_news():
                if live._telling is None:
                    self._owing.add(number)
                    live._take_on()
                self._tell(number, live, live._telling)
        elif within:
            self._hear()
        return within

    def settle(self) -> None:
        """Before a call of the library that moves lists by more than what is pending: has their handlers hear of that
        while the lists show it. What they raise comes out of `after`, when the call has done its work."""
        self.begin()
        if self._parent is not None and self._parent._pointer is not None:
            self._parent.settle()
        pointer = self._pointer
        if self._has_lists and pointer is not None:
            error = c_void_p()
            status = library.quire_context_process_pending(pointer, byref(error))
            if status:
                self.after(status, error)
            if not self.begin():
                self._hear()
            if self._pointer is None:
                # There is no work left to be done.
                self._raise_failures()

    def settle_before_move(self) -> None:
        """The same before a merge: what cannot be read as of now may have been mended since."""
        try:
            self.settle()
        except DatabaseError:
            if self._pointer is None:
                raise

    def prepare(self) -> None:
        """Before `quire_context_process`, which merges first in contexts that do so."""
        self.begin()
        each: Optional[Delivery] = self
        while each is not None:
            pointer = each._pointer
            if pointer is None:
                break
            if quick.quire_context_merges_automatically(pointer):
                each.settle()
                break
            each = each._parent

    def take(self) -> None:
        """Takes what the lists have queued, while it is known what it is about. The handlers hear of it later."""
        for number, live in self._with_news():
            # Before they are taken out of the library, because an interruption may come in between.
            self._owing.add(number)
            live._take_on()

    # MARK: after a call

    def after(self, status: int, error: c_void_p, cause: Optional[BaseException] = None) -> None:
        """After a call that may have processed changes, of its parent too: calls the handlers, then raises what the
        call failed with, or the `cause` of that, if it is known."""
        if not status:
            self.deliver()
            return
        failed = self.failed(status, error)
        raised = failed if cause is None else cause
        if not isinstance(failed, (WrongThread, StoreClosed)):
            try:
                self.deliver()
            except Exception as other:
                log("A handler of a live list failed, beside the call that brought it up to date.", other)
            except BaseException as interruption:
                raise interruption from raised
        raise raised

    def failed(self, status: int, error: c_void_p) -> Exception:
        """What a call of the context has failed with. After a call that only reads, no handlers are called."""
        context = self._followed()
        assert context is not None
        return _rules.complete(context, failure(status, error))

    def fail(
        self, status: int, error: c_void_p, cause: Optional[BaseException] = None, *, delivers: bool
    ) -> None:
        """Raises what a query has failed with, or the `cause` of that. One that refreshes objects `delivers` first."""
        if delivers:
            self.after(status, error, cause)
        failed = self.failed(status, error)
        raise failed if cause is None else cause

    def deliver(self) -> None:
        """Calls the handlers of live lists that have moved, until none moves any more, and raises what they raise."""
        self._hear()
        self._raise_failures()

    # MARK: inside

    @property
    def _pointer(self) -> Optional[int]:
        """That of the context; None when it is closed."""
        context = self._followed()
        return None if context is None else context._pointer

    def _hear(self) -> None:
        """Calls the handlers in rounds, and keeps what they raise."""
        if self._parent is not None and self._parent._pointer is not None:
            self._parent._hear()
        context = self._followed()
        if context is None:
            return
        pointer = context._pointer
        generation = 0 if pointer is None else quick.quire_context_generation(pointer)
        if generation != self._generation:
            self._generation = generation
            context._forget_values()
        if self._is_running or not self._has_lists or not self._following(pointer, 0):
            return
        self._is_running = True
        try:
            for _ in range(_MOST_ROUNDS):
                if not self._tell_all():
                    break
                # The lists hear of what their handlers changed, unless these have closed everything.
                error = c_void_p()
                try:
                    status = library.quire_context_process_pending(context._raw, byref(error))
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
            self._is_running = False

    def _tell_all(self) -> bool:
        """One round; whether a handler was owed a change."""
        is_any = False
        for number, live in self._with_news():
            # Before they are taken out of the library, because an interruption may come in between.
            self._owing.add(number)
            if live._take_on():
                is_any = True
            self._tell(number, live)
        return is_any

    def _with_news(self) -> Iterator[tuple[int, Live[Any]]]:
        """The lists with changes that wait in the library or here, in the order in which they were made. What handlers
        do meanwhile counts."""
        number = self._following(self._pointer, 0)
        while number:
            live = self._lists.get(number)
            if live is not None:
                yield number, live
            else:
                self._owing.discard(number)
            number = self._following(self._pointer, number)

    def _following(self, pointer: Optional[int], number: int) -> int:
        """The number of the first of them behind a number; 0 when there is none."""
        following: int = 0 if pointer is None else quick.quire_context_next_list_with_changes(pointer, number)
        if self._owing:
            return min((each for each in (following, *self._owing) if each > number), default=0)
        return following

    def _tell(self, number: int, live: Live[Any], only: Optional[Any] = None) -> None:
        # Until they have heard: an interruption may come between two of them.
        if live._owed:
            self._owing.add(number)
            live._tell(self._failures, only)
        if not live._owed:
            self._owing.discard(number)

    def _raise_failures(self) -> None:
        """Raises what handlers have raised, those of the parent first; within handlers that has to wait."""
        failures = self._take_failures()
        if not failures:
            return
        # What ends programs comes out before mere failures.
        failures.sort(key=lambda failed: isinstance(failed, Exception))
        for other in failures[1:]:
            log("Another handler of a live list failed too.", other)
        raise failures[0]

    def _take_failures(self) -> list[BaseException]:
        found = [] if self._parent is None else self._parent._take_failures()
        if self._failures and not self._is_running:
            found += self._failures
            self._failures = []
        return found
