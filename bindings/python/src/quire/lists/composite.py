"""Several live lists as one."""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterator
from ctypes import byref, c_int64, c_void_p
from itertools import chain
from typing import Any, Optional

from .._c import _ffi, _handle, _values
from .._c._load import library, quick
from .._c._public import public
from ..errors import InvalidArgument, failure
from ._live import Live
from .changes import ChangeSet, Path, lent
from .results import Results

__all__ = ["Composite"]


@public
class Composite(Live[Any]):
    """Several live lists of one context as one: the sections of the first, then those of the second, and so on.

    `Composite(favourites, everything)` takes lists from `Query.live`, of whatever classes, and fetches them. An object
    may be in several of them. Their changes are told together: one processing of changes is one `ChangeSet`, whose
    places count in the whole and whose `Change.results` say of which list each is. A row that leaves one list and
    enters another is a `Delete` and an `Insert`.

    The lists can be used as before, and have handlers of their own, which are called first; but they are fetched by
    `Composite.fetch` only. Values, positions of ids and snapshots come from them. Closing the composite leaves them
    open; a list that is closed can no longer be read here. A list is in one composite at most.
    Thread: that of the context.
    """

    _section_at = library.quire_composite_section
    _section_count = quick.quire_composite_section_count
    _sections_page = library.quire_composite_sections

    def __init__(self, *lists: Results[Any]) -> None:
        for each in lists:
            if not isinstance(each, Results):
                raise TypeError(f"a composite consists of live lists, not of {type(each).__name__}")
        if not lists:
            raise InvalidArgument("A composite consists of live lists; give it some.")
        context = lists[0].context
        options = _ffi.quire_composite_options(
            struct_size=ctypes.sizeof(_ffi.quire_composite_options), queues_changes=True)
        error, made = c_void_p(), _handle.Slot(library.quire_composite_release)
        status = library.quire_composite_create(context._raw, byref(options), byref(made), byref(error))
        if status:
            raise failure(status, error)
        super().__init__(
            made, library.quire_composite_release, context, quick.quire_composite_generation(made).contents)
        self._lists = lists
        try:
            for each in lists:
                status = library.quire_composite_add(self._raw, each._raw, byref(error))
                if status:
                    raise failure(status, error)
            self.fetch()
        except BaseException:
            self.close()
            raise
        context._delivery.add(quick.quire_composite_number(self._raw), self)

    @property
    def lists(self) -> tuple[Results[Any], ...]:
        """The lists that it consists of. Any thread."""
        return self._lists

    def fetch(self) -> None:
        """Reads all lists anew from the store, as `Results.fetch`. No handlers are told."""
        self._context._delivery.begin()
        error = c_void_p()
        status = library.quire_composite_fetch(self._raw, byref(error))
        self._section_list = None
        cause: Optional[BaseException] = None
        for each in self._lists:
            each._note_fetch(not status)
            cause = each._request_shown.watch.take_failure() or cause
        self._context._delivery.after(status, error, cause)

    # MARK: reading

    def __len__(self) -> int:
        return int(quick.quire_composite_count(self._raw))

    def __contains__(self, item: object) -> bool:
        return any(item in each for each in self._lists)

    def index(self, item: Any, start: int = 0, stop: Optional[int] = None) -> int:
        """The first place of an object, counted over all sections. Raises ValueError when it is not in the list."""
        places = range(*slice(start, stop).indices(len(self)))
        first = 0
        for each in self._lists:
            if item in each and first + each.index(item) in places:
                return first + each.index(item)
            first += len(each)
        raise ValueError(f"{item!r} is not in the list")

    def count(self, item: Any) -> int:
        """In how many of the lists an object is."""
        return sum(item in each for each in self._lists)

    def path_of(self, object: Any) -> Optional[Path]:
        """The section and row of an object in the first list that has it, or None when it is in none of them."""
        for place, each in enumerate(self._lists):
            path = each.path_of(object)
            if path is not None:
                return Path(self.start_of(place).section + path.section, path.row)
        return None

    def list_of(self, section: int) -> Results[Any]:
        """The list that a section belongs to. Raises `NotFound`."""
        section = _values.whole(section, "a section")
        if not _values.fits(section):
            raise IndexError(f"the list has no section {section}")
        return self._section_of(section)[0]

    def start_of(self, place: int) -> Path:
        """The first section of a list, and as `row` its first row counted over all sections: what is to be added to
        places of the list. Raises IndexError."""
        place = range(len(self._lists))[_values.whole(place, "the place of a list")]
        error, section, row = c_void_p(), c_int64(), c_int64()
        status = library.quire_composite_child_start(self._raw, place, byref(section), byref(row), byref(error))
        if status:
            raise failure(status, error)
        return Path(section.value, row.value)

    def __repr__(self) -> str:
        if self.closed:
            return "<Composite (closed)>"
        return f"<Composite of {len(self._lists)} lists {len(self.sections)} sections {len(self)} rows>"

    # MARK: inside

    @property
    def _names_sections(self) -> bool:
        return any(each._names_sections for each in self._lists)

    def _described(self) -> str:
        return f"A composite of {len(self._lists)} lists"

    def _section_of(self, section: int) -> tuple[Results[Any], int]:
        error, place, inner = c_void_p(), c_int64(), c_int64()
        status = library.quire_composite_child_of_section(
            self._raw, section, byref(place), byref(inner), byref(error))
        if status:
            raise failure(status, error)
        return self._lists[place.value], inner.value

    def _windows(self, first: int, count: int) -> Iterator[tuple[Results[Any], int, int]]:
        """The rows of each list that are among these."""
        self._raw
        for each in self._lists:
            here = min(count, len(each) - first)
            if here > 0:
                yield each, first, here
                first, count = 0, count - here
            else:
                first -= len(each)

    def _window(self, first: int, count: int) -> list[Any]:
        return [each for part, start, here in self._windows(first, count) for each in part._window(start, here)]

    def _iterate(self, first: int, count: int) -> Iterator[Any]:
        # All of them now: the rows that are there when it begins.
        rows = [part._iterate(start, here) for part, start, here in self._windows(first, count)]
        return chain.from_iterable(rows)

    def _take_changes(self) -> Iterator[ChangeSet[Any]]:
        while not self.closed:
            error, taken = c_void_p(), c_void_p()
            status = quick.quire_composite_next_changes(self._raw, byref(taken), byref(error))
            if status:
                raise failure(status, error)
            if taken.value is None:
                return
            self._section_list = None
            yield _Changes(self, taken.value)


class _Changes(ChangeSet[Any]):
    """What happened to several lists at once."""

    def __init__(self, composite: Composite, pointer: int) -> None:
        frames = list(lent(quick.quire_changes_children(pointer)))
        self._lists = composite.lists
        self._old = [each.old_section for each in frames]
        self._new = [each.new_section for each in frames]
        super().__init__(composite.lists[0], pointer)

    def _list_of(self, old_section: int, new_section: int) -> Results[Any]:
        if old_section >= 0:
            return self._lists[bisect_right(self._old, old_section) - 1]
        return self._lists[bisect_right(self._new, new_section) - 1]
