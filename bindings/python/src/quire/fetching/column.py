"""Values in columns."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional, Union, overload

from .._c import _arrow, _buffers, _ffi, _handle, _values
from .._c._load import quick
from .._c._public import public
from ..errors import Error, InvalidArgument, failure
from ..predicates.keys import Key, KeyPath, path_in
from ..objects import _rows
from ..models import _conversions, _types
from ..models._entity import Destination
from ..models.properties import Attr

if TYPE_CHECKING:
    from ..models.model import Model

__all__ = ["Column", "Columns", "RecordBatches"]


class HeldPage(_handle.Handle):
    """A page that columns read from."""

    _survives_fork = True


if TYPE_CHECKING:
    _Values = Sequence[Any]
else:
    # To libraries of tables an instance of Sequence is Python values, which they take one by one.
    class _Values:
        __slots__ = ()
        __contains__ = Sequence.__contains__
        __reversed__ = Sequence.__reversed__
        index, count = Sequence.index, Sequence.count


@public
class Column(_Values):
    """The values of one key path, from `Query.columns` or `Results.columns`: a sequence of Python values.

    They are made when they are asked for. It is a snapshot and may be used on any thread. Libraries of tables take it
    as an Arrow array, without a step for each value: `polars.Series(column)`, `pyarrow.array(column)`. See `Columns`.
    """

    __slots__ = ("name", "_page", "_place", "_seen", "_list", "_attribute")

    def __init__(self, name: str, page: HeldPage, place: int, attribute: Optional[Attr[Any]]) -> None:
        self._attribute = attribute
        self._place = place
        self.name = name
        """The key path."""
        self._page = page
        # Asked for when it is needed: a table of Arrow takes texts in another form.
        self._seen: Optional[_ffi.quire_column] = None
        self._list: Optional[list[Any]] = None

    @property
    def _column(self) -> _ffi.quire_column:
        page, seen = self._page._raw, self._seen
        if seen is None:
            seen = self._seen = quick.quire_page_column(page, self._place).contents
        return seen

    @property
    def data(self) -> memoryview:
        """The memory of the column, without a copy: 64-bit numbers (`q`, `d`), seconds since 1970 for dates (`d`),
        ids (`q`) or booleans (`?`). What stands where `valid` is False means nothing.

        Raises TypeError for columns of text and bytes.
        """
        form = _buffers.NUMBER_FORMATS.get(self._column.type)
        if form is None:
            raise TypeError(f"the column {self.name!r} holds no numbers; take to_list()")
        size = len(self) * (1 if form == "?" else 8)
        if size == 0:
            empty: memoryview = memoryview(b"").cast(form)
            return empty
        memory = (ctypes.c_char * size).from_address(self._column.values)
        # The view keeps this array alive, and so the page.
        memory._quire_page = self._page  # type: ignore[attr-defined]
        view: memoryview = memoryview(memory).cast("B").cast(form)
        return view.toreadonly()

    @property
    def nil_count(self) -> int:
        """How many values are None."""
        return int(self._column.nil_count)

    @property
    def valid(self) -> list[bool]:
        """For each row, whether it has a value."""
        return [bit == "1" for bit in _buffers.validity(self._column)]

    def to_list(self) -> list[Any]:
        """All values, None where there is none."""
        self._page._raw
        if self._list is None:
            self._list = _decoded(self._attribute, self._column)
        return list(self._list)

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema: the type of the values."""
        return _arrow.schema(self._page._raw, self._place)

    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]:
        """Capsules with an ArrowSchema and an ArrowArray. The type is always that of the column."""
        return _arrow.array(self._page._raw, self._place)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream of the values."""
        return _arrow.stream(self._page._raw, self._place)

    def __len__(self) -> int:
        return int(quick.quire_page_row_count(self._page._raw))

    def __iter__(self) -> Iterator[Any]:
        return iter(self.to_list())

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: Union[int, slice]) -> Any:
        if self._list is None:
            self.to_list()
        assert self._list is not None
        return self._list[index]

    def __eq__(self, other: object) -> bool:
        """Whether it is the same column, or a list has the same values."""
        return self.to_list() == other if isinstance(other, list) else NotImplemented

    __hash__ = object.__hash__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("cannot pickle or copy a 'Column' object: it reads the library's memory; take to_list()")

    def __repr__(self) -> str:
        return f"<Column {self.name} {'(closed)' if self._page.closed else f'of {len(self)}'}>"


@public
class Columns(Mapping[str, Column]):
    """Columns by key path. A key of the model finds its own too: `columns[Quote.price]`.

    It is a table for libraries that speak Arrow's PyCapsule interface: `polars.DataFrame(columns)`,
    `pyarrow.table(columns)`, `pandas.DataFrame.from_arrow(columns)`. Numbers, texts, ids, UUIDs and bytes stay where
    they are, and dates, booleans and decimals are laid out anew. Such a table lives as long as it likes: the store may
    be closed. Dates are timestamps in microseconds of UTC, texts and URIs large UTF-8. Decimals are decimal128 with as
    many digits behind the point as a value of the column has, or texts where no such type holds all of them.
    """

    def __init__(self, model: type[Model], columns: dict[str, Column], page: HeldPage) -> None:
        self._columns = columns
        self._model = model
        self._page = page

    def __getitem__(self, key: KeyPath) -> Column:
        return self._columns[path_in(self._model, key)]

    def __contains__(self, key: object) -> bool:
        return (path_in(self._model, key) if isinstance(key, Key) else key) in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Columns {', '.join(self._columns)}>"

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema: names and types of the columns."""
        return _arrow.schema(self._page._raw, -1)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream of all rows."""
        return _arrow.stream(self._page._raw, -1)

    def batches(self, rows: int) -> RecordBatches:
        """The same table as a stream of batches of at most `rows` rows, which share its memory."""
        rows = _values.whole(rows, "the number of rows of a batch")
        if not 0 < rows < 2**63:
            raise InvalidArgument(f"A batch has at least one row, not {rows}.")
        return RecordBatches(self._page, rows)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            "cannot pickle or copy a 'Columns' object: it reads the library's memory; take to_list() of each")


@public
class RecordBatches:
    """A table as a stream of batches, from `Columns.batches`, for libraries that speak Arrow's PyCapsule interface."""

    __slots__ = ("_page", "_rows")

    def __init__(self, page: HeldPage, rows: int) -> None:
        self._page = page
        self._rows = rows

    def __arrow_c_schema__(self) -> Any:
        """A capsule with an ArrowSchema: names and types of the columns."""
        return _arrow.schema(self._page._raw, -1)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A capsule with an ArrowArrayStream."""
        return _arrow.stream(self._page._raw, -1, self._rows)


Pages = Callable[..., int]
"""Makes a page: `page_of(key_paths, count, flags, out_page, out_error)` gives a status."""


def read_columns(
    model: type[Model], keys: Sequence[KeyPath], page_of: Pages, destination: Destination
) -> Columns:
    """The columns of the page that `page_of` makes."""
    # A table has each of its columns once.
    paths = list(dict.fromkeys(_paths(model, keys)))
    return _held(model, paths, _page(model, paths, page_of), destination)


def read_tuples(
    model: type[Model], keys: Sequence[KeyPath], page_of: Pages, destination: Destination
) -> list[tuple[Any, ...]]:
    """The same as one tuple for each row."""
    paths = _paths(model, keys)
    page = _page(model, paths, page_of)
    try:
        assert page.value is not None
        columns = _buffers.columns(page.value)
        with _rows.collector_paused(columns[0].length if columns else 0):
            return list(zip(*[
                _decoded(model._quire_entity.attribute_of(path, destination), each)
                for path, each in zip(paths, columns)]))
    finally:
        page.give_back()


def named_columns(
    model: type[Model], page_of: Pages, destination: Destination, sources: Optional[Mapping[str, str]] = None
) -> Columns:
    """The columns of a page that has names for them itself, and the expression that each is made of, unless all are of
    attributes."""
    return _held(model, [], _page(model, [], page_of), destination, sources)


def _decoded(attribute: Optional[Attr[Any]], column: _ffi.quire_column) -> list[Any]:
    """The values of a column, as objects of the model have them where it is of an attribute."""
    values = _types.decoded(column.type, _buffers.raw_values(column))
    return _conversions.restored(attribute, values)  # type: ignore[no-any-return]


def _paths(model: type[Model], keys: Sequence[KeyPath]) -> list[str]:
    return [path_in(model, key) for key in keys] or [attribute.path for attribute in model._quire_entity.stored]


def _page(model: type[Model], paths: list[str], page_of: Pages) -> _handle.Slot:
    """The page that `page_of` makes."""
    names = [_values.encoded(path) for path in paths]
    error, page = c_void_p(), _handle.Slot(quick.quire_page_release)
    try:
        status = page_of(
            _buffers.key_array(names), len(names), _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
        if status:
            raise failure(status, error)
    except Error as failed:
        if failed.entity == model._quire_entity.name:
            failed._reword(failed.message + model._quire_entity.name_in_store(failed.key))
        raise
    return page


def _held(
    model: type[Model], paths: list[str], page: _handle.Slot, destination: Destination,
    sources: Optional[Mapping[str, str]] = None
) -> Columns:
    owner = HeldPage(page, quick.quire_page_release)
    paths = paths or [column.name.decode() for column in _buffers.columns(owner._raw)]
    found = {
        path: Column(path, owner, place, model._quire_entity.attribute_of(
            path if sources is None else sources.get(path, path), destination))
        for place, path in enumerate(paths)}
    return Columns(model, found, owner)


def tuples(columns: Columns) -> list[tuple[Any, ...]]:
    """One tuple for each row."""
    found = list(columns.values())
    if not found:
        return []
    with _rows.collector_paused(len(found[0])):
        return list(zip(*(column.to_list() for column in found)))
