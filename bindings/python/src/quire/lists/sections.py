"""The sections of live lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Generic, Optional, TypeVar, Union, overload

from .._c import _buffers, _ffi, _values
from .._c._load import quick
from .._c._public import public
from ..errors import InvalidState, NotFound, failure, text
from ..models._types import decoded
from ._section_values import SectionValues, name_of, value_of
from .aggregates import Aggregates

if TYPE_CHECKING:
    from ._live import Live

__all__ = ["Section", "Sections"]

M = TypeVar("M")

_COLUMN_TYPES = {
    _ffi.QUIRE_VALUE_DATE: _ffi.QUIRE_COLUMN_DATE, _ffi.QUIRE_VALUE_DECIMAL: _ffi.QUIRE_COLUMN_DECIMAL,
    _ffi.QUIRE_VALUE_UUID: _ffi.QUIRE_COLUMN_UUID,
}
"""How a single value is decoded, where its plain form is not what Python has."""


@public
class Section(Sequence[M], Generic[M]):
    """A section of a live list: a sequence of its objects, with a name.

    It describes the list at one moment. When the list has changed since, reading its objects raises `InvalidState`;
    take it from `Results.sections` again. An iteration that has begun goes on with the rows of its beginning.
    """

    __slots__ = ("_sections", "_name", "_index_title", "_value", "_kind", "_start", "_count", "_place", "_values")

    def __init__(
        self, sections: Sections[M], place: int, name: str, index_title: Optional[str], start: int, count: int,
        value: Any, kind: int, values: Optional[SectionValues]
    ) -> None:
        if values is not None:
            name = values.name(name, decoded(kind, [value])[0])
            index_title = values.index_title(index_title or "", name)
        self._values = values
        self._sections = sections
        self._place = place
        self._name = name
        self._index_title = index_title
        self._value = value
        self._kind = kind
        self._start = start
        self._count = count

    @property
    def name(self) -> str:
        """The value as text; "" for None. A `SectionRule` may have other names.

        A member of an enumeration is called by its name, unless its class has `__str__`. Days and times are in ISO
        8601, JSON is as `json` writes it, and a value of another type is as `str` gives it. Where what the store has
        cannot be decoded, it is the text of that.
        """
        return self._name

    @property
    def value(self) -> Any:
        """What the rows have in common, as objects have it; None for None and "", which share a section.

        A relationship gives an id. Raises `InvalidArgument` where the store has what `attr(as_=...)` cannot decode.
        """
        return value_of(self._values, decoded(self._kind, [self._value])[0])

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
        return Aggregates(results, place, sections._current)

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

    def __eq__(self, other: object) -> bool:
        """Whether both are one section of a list at one moment; or a list holds its objects, in their order."""
        if isinstance(other, Section):
            return self._place == other._place and self._sections == other._sections
        return _values.same_objects(self, other)

    def __hash__(self) -> int:
        return hash((self._sections, self._place))

    def __repr__(self) -> str:
        return f"<Section {self._name!r} {self._count} rows>"


def section_columns(page: int) -> list[list[Any]]:
    """The columns of a page of sections, the values among them as Python has them."""
    return [decoded(column.type, _buffers.raw_values(column)) for column in _buffers.columns(page)]


@public
class Sections(Sequence[Section[M]], Generic[M]):
    """The sections of a live list at one moment: by place, and by name as `sections["Goethe"]`.

    A section is made when it is first asked for; iterating, `names` and names as places look at all. When the list has
    changed since, what was not asked for before raises `InvalidState`; take the list's `sections` again.
    """

    __slots__ = ("_results", "_generation", "_count", "_made", "_names", "_by_name")

    def __init__(self, results: Live[M], generation: int) -> None:
        self._results = results
        self._generation = generation
        self._count = int(results._section_count(results._raw))
        self._made: dict[int, Section[M]] = {}
        self._names: Optional[list[str]] = None
        self._by_name: Optional[dict[str, int]] = None

    @overload
    def __getitem__(self, index: Union[int, str]) -> Section[M]: ...
    @overload
    def __getitem__(self, index: slice) -> list[Section[M]]: ...
    def __getitem__(self, index: Union[int, str, slice]) -> Union[Section[M], list[Section[M]]]:
        """By place, or by name; raises IndexError or `NotFound`."""
        if isinstance(index, slice):
            return [self._section(place) for place in range(*index.indices(self._count))]
        if isinstance(index, str):
            place = self._places().get(index)
            if place is None:
                raise NotFound(f"The list has no section {index!r}.")
            return self._section(place)
        index = _values.whole(index, "the place of a section")
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(f"the list has {self._count} sections, and no section {index}")
        return self._section(place)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Section[M]]:
        made = self._made
        if len(made) == self._count or self._results._mixes_section_values:
            # A page has one type for all values.
            return iter([self._section(place) for place in range(self._count)])
        return self._made_of(*self._columns())

    def _made_of(self, columns: list[list[Any]], kind: int) -> Iterator[Section[M]]:
        # A list with one type of values has one attribute for them.
        made, values = self._made, self._results._section_values(0)
        for place, name, index_title, start, count, value in zip(range(self._count), *columns):
            section = made.get(place)
            if section is None:
                section = made[place] = Section(self, place, name, index_title, start, count, value, kind, values)
            yield section

    def __contains__(self, item: object) -> bool:
        """Whether it is one of the sections, or the name of one."""
        if isinstance(item, str):
            return item in self._places()
        return isinstance(item, Section) and item._sections == self

    def __eq__(self, other: object) -> bool:
        """Whether both are of one list at one moment; or a list has the same sections."""
        if isinstance(other, Sections):
            return self._results is other._results and self._generation == other._generation
        if isinstance(other, list):
            return len(other) == self._count and all(place == each for place, each in zip(self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash((id(self._results), self._generation))

    @property
    def names(self) -> list[str]:
        """The names of all sections in order."""
        if self._names is None:
            if self._results._names_sections:
                self._names = [each.name for each in self]
            else:
                self._names = self._columns(1)[0][0]
        return list(self._names)

    def __repr__(self) -> str:
        return f"<Sections {self._count} of {self._results!r}>"

    def _section(self, place: int) -> Section[M]:
        """The section at a place that there is."""
        found = self._made.get(place)
        if found is None:
            results = self._current()
            read = results._read_section(place)
            found = self._made[place] = Section(
                self, place, text(read.name), text(read.index_title), int(read.start), int(read.count),
                _buffers.raw_value(read.value), _COLUMN_TYPES.get(read.value.kind, 0),
                results._section_values(place))
        return found

    def _columns(self, count: Optional[int] = None) -> tuple[list[list[Any]], int]:
        """The first columns of all sections in their plain form, and the type of the last of them."""
        results = self._current()
        error, page = c_void_p(), c_void_p()
        status = results._sections_page(results._raw, _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
        if status:
            raise failure(status, error)
        try:
            columns = _buffers.columns(page.value or 0)[:count]
            return [_buffers.raw_values(each) for each in columns], int(columns[-1].type)
        finally:
            quick.quire_page_release(page)

    def _places(self) -> dict[str, int]:
        if self._by_name is None:
            # The first of a name: lists that stand together may have the same.
            places: dict[str, int] = {}
            for place, name in enumerate(self.names):
                places.setdefault(name, place)
            self._by_name = places
        return self._by_name

    def _current(self) -> Live[M]:
        if self._results.generation != self._generation:
            raise InvalidState("The list has changed since this section was taken; take it from its sections again.")
        return self._results
