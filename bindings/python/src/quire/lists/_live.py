"""What lists share that stay up to date: reading by place, and the handlers of their changes."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_uint64, c_void_p, sizeof
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

from .._c import _ffi, _handle, _values
from ..errors import NotFound, failure
from ._section_values import SectionValues
from .changes import ChangeSet, Path
from .sections import Sections

if TYPE_CHECKING:
    from ..protocols import Context

M = TypeVar("M")
Handler = TypeVar("Handler", bound=Callable[..., object])


class Live(_handle.Handle, Sequence[M], Generic[M]):
    """A sequence over all sections of a list, whose rows `_window` and `_iterate` give."""

    _section_at: Any
    """The function of the library that gives a section."""
    _section_count: Any
    """The one that gives their number."""
    _sections_page: Any
    """The one that gives all sections at once."""
    _mixes_section_values = True
    """Whether the values of sections may be of several types, which that one cannot give."""

    def __init__(
        self, pointer: _handle.Slot, release: Callable[..., object], context: Context, generation: c_uint64
    ) -> None:
        super().__init__(pointer, release)
        self._context = context
        self._generation = generation
        self._handlers: list[Callable[[ChangeSet[Any]], object]] = []
        self._owed: deque[tuple[Callable[[ChangeSet[Any]], object], ChangeSet[Any]]] = deque()
        self._telling: Optional[ChangeSet[Any]] = None
        """What a handler is being called with."""
        self._section_list: Optional[Sections[Any]] = None
        self._followed = weakref.ref(context)

    def __del__(self) -> None:
        # Not where its context goes with it, nor at the end of the program.
        if self.__dict__.get("_handlers") and not self.closed and self._followed() and not sys.is_finalizing():
            called = ", ".join(getattr(each, "__qualname__", None) or type(each).__name__ for each in self._handlers)
            warnings.warn(
                f"{self._described()} was collected with handlers, which are called no more: {called}. "
                "Keep a reference to it as long as they are to be called; close() ends it without this warning.",
                RuntimeWarning, stacklevel=2)

    @property
    def context(self) -> Context:
        """The context that it follows. Any thread."""
        return self._context

    @property
    def generation(self) -> int:
        """A number that grows with every change of the list."""
        self._raw
        return int(self._generation.value)

    # MARK: reading

    @overload
    def __getitem__(self, index: Union[int, Path]) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> list[M]: ...
    def __getitem__(self, index: Union[int, Path, slice]) -> Union[M, list[M]]:
        """By place counted over all sections, by slice of such, or by `Path`."""
        if isinstance(index, tuple):
            index = self.flat(index)
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self._window(start, max(stop - start, 0))
            places = range(start, stop, step)
            if not places:
                return []
            first = min(places[0], places[-1])
            window = self._window(first, max(places[0], places[-1]) - first + 1)
            return [window[place - first] for place in places]
        index = _values.whole(index, "a place in the list")
        count = len(self)
        place = index + count if index < 0 else index
        if not 0 <= place < count:
            raise IndexError(f"the list has {count} rows, and no row {index}")
        return self._window(place, 1)[0]

    def __iter__(self) -> Iterator[M]:
        return self._iterate(0, len(self))

    @property
    def sections(self) -> Sections[M]:
        """The sections, by place and by name. Without `section_by` there is one, also when the list is empty."""
        found = self._section_list
        generation = self.generation
        if found is None or found._generation != generation:
            found = self._section_list = Sections(self, generation)
        return found

    def flat(self, path: Path) -> int:
        """The place of a path, counted over all sections. Raises IndexError when there is no such row."""
        try:
            section, row = path
        except (TypeError, ValueError):
            raise TypeError(f"a path is a section and a row, not {path!r}") from None
        section, row = _values.whole(section, "a section"), _values.whole(row, "a row")
        if not _values.fits(section):
            raise IndexError(f"the list has no row at section {section}, row {row}")
        try:
            found = self._read_section(section)
        except NotFound:
            pass
        else:
            if 0 <= row < found.count:
                return int(found.start) + row
        raise IndexError(f"the list has no row at section {section}, row {row}")

    def __eq__(self, other: object) -> bool:
        """Whether it is the same, or a list holds its objects, in their order."""
        return True if other is self else _values.same_objects(self, other)

    __hash__ = object.__hash__

    # MARK: changes

    def on_change(self, handler: Handler) -> Handler:
        """Calls `handler(change)` with a `ChangeSet` after each change of the list, when the list shows the new state.

        As a decorator, too. A list that is collected calls nothing any more, of which a RuntimeWarning tells: keep a
        reference to it. It is called on the thread that processed the change, and may read, change and save; what
        it changes is told afterwards. Handlers are called in the order in which they were registered. Before a call
        within one of them moves the lists on, the others that are yet to hear are called.

        In two cases the list is ahead of what is told, and may have other rows, or none, at the places that that names:
        in a save before which others have saved, where hooks change objects, or whose write changes more than was
        pending (derived attributes, merge policies), and in a list with a handler that has changes processed more than
        once. Each `ChangeSet` then leads
        from the one before it to the next: to rows that a view keeps of its own, all can be applied in turn, and
        `Change.object` is the object in any case, or None when it has been deleted since.
        """
        if not callable(handler):
            raise TypeError(f"a handler is called with a ChangeSet; {handler!r} cannot be called")
        self._raw
        self._handlers.append(handler)
        return handler

    def remove_handler(self, handler: Callable[..., object]) -> None:
        """Stops calling a handler. Raises ValueError when it is not registered."""
        for place, each in enumerate(self._handlers):
            if each is handler or each == handler:
                del self._handlers[place]
                return
        raise ValueError(f"{handler!r} is not a handler of this list")

    def close(self) -> None:
        """Ends the following of changes. Closing again does nothing."""
        self._handlers.clear()
        self._owed.clear()
        super().close()

    # MARK: inside

    def _read_section(self, section: int) -> _ffi.quire_section:
        """A section as the library gives it, whose texts hold until the next change. Raises `NotFound`."""
        error, found = c_void_p(), _ffi.quire_section(sizeof(_ffi.quire_section))
        status = self._section_at(self._raw, section, byref(found), byref(error))
        if status:
            raise failure(status, error)
        return found

    def _section_values(self, section: int) -> Optional[SectionValues]:
        """What the values of a section are, where they are not what the library gives."""
        results, _ = self._section_of(section)
        found: Optional[SectionValues] = results._values_of_sections[1]
        return found

    @property
    def _names_sections(self) -> bool:
        """Whether sections may have other names than the library gives."""
        raise NotImplementedError

    def _window(self, first: int, count: int) -> list[M]:
        raise NotImplementedError

    def _iterate(self, first: int, count: int) -> Iterator[M]:
        raise NotImplementedError

    def _described(self) -> str:
        """What it is, without asking the library."""
        raise NotImplementedError

    def _section_of(self, section: int) -> tuple[Any, int]:
        """The results controller that a section is of, and its place there."""
        raise NotImplementedError

    def _take_changes(self) -> Iterator[ChangeSet[Any]]:
        raise NotImplementedError

    def _take_on(self) -> bool:
        """Has the handlers be owed what the library has queued; whether they are owed anything."""
        for change in list(self._take_changes()):
            self._owed.extend((handler, change) for handler in self._handlers)
        return bool(self._owed)

    def _tell(self, failures: list[BaseException], only: Optional[ChangeSet[Any]] = None) -> None:
        """Calls the handlers that are owed changes, or `only` those that are owed this one next."""
        outer = self._telling
        try:
            while self._owed and (only is None or self._owed[0][1] is only):
                handler, change = self._owed.popleft()
                # One before it may have removed it, or closed the list.
                if handler not in self._handlers:
                    continue
                self._telling = change
                try:
                    handler(change)
                except BaseException as error:  # No call would notify the others again.
                    failures.append(error)
        finally:
            self._telling = outer

    def _retire(self) -> None:
        self._handlers.clear()
        self._owed.clear()
        super()._retire()
