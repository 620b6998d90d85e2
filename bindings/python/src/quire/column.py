"""Values in columns."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NoReturn, Optional, Union, overload

from . import _buffers, _ffi, _handle, _types

__all__ = ["Column"]


class HeldPage(_handle.Handle):
    """A page that columns read from."""

    _survives_fork = True


class Column(Sequence[Any]):
    """The values of one key path, from `Query.columns`: a sequence of Python values, made when they are asked for.

    It is a snapshot and may be used on any thread.
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
            values = _buffers.raw_values(self._column)
            decode = _types.COLUMN_DECODERS.get(self._column.type)
            if decode is not None:
                values = [None if value is None else decode(value) for value in values]
            self._list = values
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

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("cannot pickle or copy a 'Column' object: it reads the library's memory; take to_list()")

    def __repr__(self) -> str:
        return f"<Column {self.name} {'(closed)' if self._page.closed else f'of {len(self)}'}>"
