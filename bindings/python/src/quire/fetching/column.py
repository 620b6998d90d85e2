"""Values in columns."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any, Callable, NoReturn, Optional, Union, overload

from .._c import _buffers, _ffi, _handle, _values
from .._c._load import quick
from .._c._public import public
from ..errors import failure
from ..predicates.keys import KeyPath, path_in
from ..objects import _rows
from ..models import _types

if TYPE_CHECKING:
    from ..models.model import Model

__all__ = ["Column"]


class HeldPage(_handle.Handle):
    """A page that columns read from."""

    _survives_fork = True


@public
class Column(Sequence[Any]):
    """The values of one key path, from `Query.columns` or `Results.columns`: a sequence of Python values.

    They are made when they are asked for. It is a snapshot and may be used on any thread.
    """

    __slots__ = ("name", "_page", "_column", "_list")

    def __init__(self, name: str, page: HeldPage, column: _ffi.quire_column) -> None:
        self.name = name
        """The key path."""
        self._page = page
        self._column = column
        self._list: Optional[list[Any]] = None

    @property
    def data(self) -> memoryview:
        """The memory of the column, without a copy: 64-bit numbers (`q`, `d`), seconds since 1970 for dates (`d`),
        ids (`q`) or booleans (`?`). What stands where `valid` is False means nothing.

        Raises TypeError for columns of text and bytes.
        """
        self._page._raw
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
        self._page._raw
        return int(self._column.nil_count)

    @property
    def valid(self) -> list[bool]:
        """For each row, whether it has a value."""
        self._page._raw
        return [bit == "1" for bit in _buffers.validity(self._column)]

    def to_list(self) -> list[Any]:
        """All values, None where there is none."""
        self._page._raw
        if self._list is None:
            self._list = _types.decoded(self._column.type, _buffers.raw_values(self._column))
        return list(self._list)

    def __len__(self) -> int:
        self._page._raw
        return int(self._column.length)

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


class Columns(dict[str, Column]):
    """Columns by key path. A key of the model finds its own too: `columns[Quote.price]`."""

    def __init__(self, model: type[Model], columns: dict[str, Column]) -> None:
        super().__init__(columns)
        self._model = model

    def __getitem__(self, key: KeyPath) -> Column:
        return super().__getitem__(path_in(self._model, key))


Pages = Callable[..., int]
"""Makes a page: `page_of(key_paths, count, flags, out_page, out_error)` gives a status."""


def read_columns(model: type[Model], keys: Sequence[KeyPath], page_of: Pages) -> Columns:
    """The columns of the page that `page_of` makes."""
    paths = _paths(model, keys)
    return _held(model, paths, _page(model, paths, page_of))


def read_tuples(model: type[Model], keys: Sequence[KeyPath], page_of: Pages) -> list[tuple[Any, ...]]:
    """The same as one tuple for each row."""
    page = _page(model, _paths(model, keys), page_of)
    try:
        columns = _buffers.columns(page)
        with _rows.collector_paused(columns[0].length if columns else 0):
            return list(zip(*[_types.decoded(each.type, _buffers.raw_values(each)) for each in columns]))
    finally:
        quick.quire_page_release(page)


def named_columns(model: type[Model], page_of: Pages) -> Columns:
    """The columns of a page that has names for them itself."""
    return _held(model, [], _page(model, [], page_of))


def _paths(model: type[Model], keys: Sequence[KeyPath]) -> list[str]:
    return [path_in(model, key) for key in keys] or [attribute.path for attribute in model._quire_entity.stored]


def _page(model: type[Model], paths: list[str], page_of: Pages) -> int:
    """The page that `page_of` makes; the caller owns it."""
    names = [_values.encoded(path) for path in paths]
    error, page = c_void_p(), c_void_p()
    status = page_of(
        _buffers.key_array(names), len(names), _ffi.QUIRE_PAGE_NUL_SEPARATED, byref(page), byref(error))
    if status:
        failed = failure(status, error)
        if failed.entity == model._quire_entity.name:
            failed._reword(failed.message + model._quire_entity.name_in_store(failed.key))
        raise failed
    assert page.value is not None
    return page.value


def _held(model: type[Model], paths: list[str], page: int) -> Columns:
    owner = HeldPage(page, quick.quire_page_release)
    columns = _buffers.columns(page)
    paths = paths or [column.name.decode() for column in columns]
    return Columns(model, {path: Column(path, owner, column) for path, column in zip(paths, columns)})


def tuples(columns: Columns) -> list[tuple[Any, ...]]:
    """One tuple for each row."""
    found = list(columns.values())
    if not found:
        return []
    with _rows.collector_paused(len(found[0])):
        return list(zip(*(column.to_list() for column in found)))
