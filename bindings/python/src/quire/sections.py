"""The sections of live lists."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

from . import _buffers, _ffi, _values
from ._load import library, quick
from .aggregates import Aggregates
from ._types import decoded
from .errors import InvalidState, NotFound, failure
from .section_rule import (
    SectionRule, by_day, by_expression, by_letter, by_month, by_number, by_value, by_week, by_year,
)

if TYPE_CHECKING:
    from ._live import Live

__all__ = [
    "Section", "SectionRule", "Sections", "by_day", "by_expression", "by_letter", "by_month", "by_number", "by_value",
    "by_week", "by_year",
]

M = TypeVar("M")


class Section(Sequence[M], Generic[M]):
    """A section of a live list: a sequence of its objects, with a name.

    It describes the list at one moment. When the list has changed since, reading its objects raises `InvalidState`;
    take it from `Results.sections` again. An iteration that has begun goes on with the rows of its beginning.
    """

    __slots__ = ("_sections", "_name", "_index_title", "_value", "_start", "_count", "_place")

    def __init__(
        self, sections: Sections[M], place: int, name: str, index_title: Optional[str], start: int, count: int,
        value: Any
    ) -> None:
        self._sections = sections
        self._place = place
        self._name = name
        self._index_title = index_title
        self._value = value
        self._start = start
        self._count = count

    @property
    def name(self) -> str:
        """The value as text; "" for None. A `SectionRule` may have other names."""
        return self._name

    @property
    def value(self) -> Any:
        """What the rows have in common, as values of its type are read; None for None and "", which share a section.

        A relationship gives an id. With sections made by an expression that gives values of several types, their names.
        """
        return self._value

    @property
    def index_title(self) -> str:
        """For an index beside the list: the first letter of the name in upper case, or what a `SectionRule` has."""
        return self._index_title or ""

    @property
    def start(self) -> int:
        """Place of its first row, counted over all sections."""
        return self._start

    @property
    def aggregates(self) -> Aggregates:
        """What is calculated of its rows, by the names given to `Query.live`: `section.aggregates["total"]`."""
        sections = self._sections
        results, place = sections._results._section_of(self._place)
        return Aggregates(results, place, results._aggregate_names, sections._current)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> list[M]: ...
    def __getitem__(self, index: Union[int, slice]) -> Union[M, list[M]]:
        results = self._sections._current()
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            return results[self._start + start : self._start + stop] if step == 1 else list(self)[index]
        index = _values.whole(index, "a place in the section")
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(f"the section {self._name!r} has {self._count} rows, and no row {index}")
        return results._window(self._start + place, 1)[0]

    def __iter__(self) -> Iterator[M]:
        return self._sections._current()._iterate(self._start, self._count)

    def __contains__(self, item: object) -> bool:
        try:
            self._sections._current().index(item, self._start, self._start + self._count)
        except ValueError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<Section {self._name!r} {self._count} rows>"


def section_columns(page: int) -> list[list[Any]]:
    """The columns of a page of sections, the values among them as Python has them."""
    return [decoded(column.type, _buffers.raw_values(column)) for column in _buffers.columns(page)]


class Sections(Sequence[Section[M]], Generic[M]):
    """The sections of a live list at one moment: by place, and by name as `sections["Goethe"]`."""

    __slots__ = ("_results", "_generation", "_list", "_starts", "_by_name")

    def __init__(self, results: Live[M], generation: int) -> None:
        self._results = results
        self._generation = generation
        error, page = c_void_p(), c_void_p()
        status = results._sections_page(results._raw, _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
        if status:
            raise failure(status, error)
        try:
            columns = section_columns(page.value or 0)
        finally:
            quick.quire_page_release(page)
        self._list = [Section(self, place, *row) for place, row in enumerate(zip(*columns))]
        self._starts = [section.start for section in self._list]
        self._by_name: Optional[dict[str, Section[M]]] = None

    @overload
    def __getitem__(self, index: Union[int, str]) -> Section[M]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Section[M]]: ...
    def __getitem__(self, index: Union[int, str, slice]) -> Union[Section[M], list[Section[M]]]:
        """By place, or by name; raises IndexError or `NotFound`."""
        if isinstance(index, str):
            if self._by_name is None:
                # The first of a name: lists that stand together may have the same.
                self._by_name = {section.name: section for section in reversed(self._list)}
            found = self._by_name.get(index)
            if found is None:
                raise NotFound(f"The list has no section {index!r}.")
            return found
        return self._list[index]

    def __len__(self) -> int:
        return len(self._list)

    def __contains__(self, item: object) -> bool:
        """Whether it is one of the sections, or the name of one."""
        if isinstance(item, str):
            return any(section.name == item for section in self._list)
        return any(section is item for section in self._list)

    @property
    def names(self) -> list[str]:
        """The names of all sections in order."""
        return [section.name for section in self._list]

    def __repr__(self) -> str:
        return f"<Sections {len(self._list)} of {self._results!r}>"

    def _path_at(self, place: int) -> tuple[int, int]:
        """The section and row of a place counted over all sections. The last that begins there has it."""
        section = bisect_right(self._starts, place) - 1
        return section, place - self._starts[section]

    def _current(self) -> Live[M]:
        if self._results.generation != self._generation:
            raise InvalidState("The list has changed since this section was taken; take it from its sections again.")
        return self._results
