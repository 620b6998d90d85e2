"""Columns of the library as Python values."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Optional

from . import _ffi
from ._load import quick

NUMBER_FORMATS: dict[int, Any] = {
    _ffi.QUIRE_COLUMN_INTEGER: "q",
    _ffi.QUIRE_COLUMN_BOOLEAN: "?",
    _ffi.QUIRE_COLUMN_DOUBLE: "d",
    _ffi.QUIRE_COLUMN_DATE: "d",
    _ffi.QUIRE_COLUMN_OBJECT_ID: "q",
}
# Fewer values have little to share, and so have those of which as many in a row are all different.
_WORTH_SHARING = 64
_TEXTS = (_ffi.QUIRE_COLUMN_TEXT, _ffi.QUIRE_COLUMN_DECIMAL, _ffi.QUIRE_COLUMN_URI)


def columns(page: int) -> list[_ffi.quire_column]:
    """The columns of a page, borrowed from it."""
    return [quick.quire_page_column(page, index).contents for index in range(quick.quire_page_column_count(page))]


def raw_values(column: _ffi.quire_column) -> list[Any]:
    """All values of a column in their plain form: dates as seconds, decimals as text, UUIDs as 16 bytes."""
    length = column.length
    if length == 0:
        return []
    kind = column.type
    form = NUMBER_FORMATS.get(kind)
    if form is not None:
        size = length if form == "?" else 8 * length
        view = memoryview((ctypes.c_char * size).from_address(column.values)).cast("B").cast(form)
        values: list[Any] = view.tolist()
    elif kind in _TEXTS:
        values = _texts(column, length)
    elif kind == _ffi.QUIRE_COLUMN_DATA:
        values = _slices(column, length)
    elif kind == _ffi.QUIRE_COLUMN_UUID:
        blob = ctypes.string_at(column.values, 16 * length)
        values = [blob[start : start + 16] for start in range(0, 16 * length, 16)]
    else:
        raise NotImplementedError(f"This package does not know columns of type {kind}.")
    if column.nil_count:
        present = validity(column)
        return [value if bit == "1" else None for value, bit in zip(values, present)]
    return values


def compact_values(column: _ffi.quire_column) -> Sequence[Any]:
    """All values in their plain form, in little memory: for columns that are kept beside objects."""
    kind = column.type
    form = NUMBER_FORMATS.get(kind)
    if form is not None:
        if column.nil_count or form == "?":
            return raw_values(column)
        numbers = array(form)
        numbers.frombytes(ctypes.string_at(column.values, 8 * column.length))
        return numbers
    values = raw_values(column)
    if kind in _TEXTS and len(set(values[:_WORTH_SHARING])) < min(len(values), _WORTH_SHARING):
        # Equal texts are one object: names and categories repeat, above all where rows are in their order.
        known: dict[Any, Any] = {}
        return list(map(known.setdefault, values, values))
    return values


def validity(column: _ffi.quire_column) -> str:
    """One character for each row: "1" where there is a value, "0" where it is nil."""
    length = int(column.length)
    if not column.validity:
        return "1" * length
    bits = int.from_bytes(ctypes.string_at(column.validity, (length + 7) // 8), "little")
    return f"{bits:0{length}b}"[::-1][:length]


def _texts(column: _ffi.quire_column, length: int) -> list[str]:
    if column.offsets:
        return [piece.decode() for piece in _slices(column, length)]
    # Each value is ended by NUL, the last one too.
    blob: bytes = ctypes.string_at(column.values, column.values_size - 1)
    return blob.decode().split("\0")


def _slices(column: _ffi.quire_column, length: int) -> list[bytes]:
    # A slice of the pointer would be a list with gaps where Python has no memory for its numbers.
    ends = array("q")
    ends.frombytes(ctypes.string_at(column.offsets, 8 * (length + 1)))
    blob = ctypes.string_at(column.values, ends[length]) if ends[length] else b""
    return [blob[ends[row] : ends[row + 1]] for row in range(length)]


def raw_value(value: _ffi.quire_value) -> Any:
    """One value of the library, in the plain form that `raw_values` uses."""
    kind = value.kind
    if kind == _ffi.QUIRE_VALUE_NIL:
        return None
    if kind in (_ffi.QUIRE_VALUE_INTEGER, _ffi.QUIRE_VALUE_OBJECT_ID):
        return value.as_.integer
    if kind in (_ffi.QUIRE_VALUE_DOUBLE, _ffi.QUIRE_VALUE_FLOAT, _ffi.QUIRE_VALUE_DATE):
        return value.as_.real
    if kind == _ffi.QUIRE_VALUE_BOOLEAN:
        return value.as_.boolean
    # Every member of the union starts at its beginning, and text may contain U+0000.
    address = ctypes.c_void_p.from_buffer(value.as_).value
    data = ctypes.string_at(address, value.size) if address else b""
    if kind in (_ffi.QUIRE_VALUE_DATA, _ffi.QUIRE_VALUE_UUID):
        return data
    return data.decode()


def key_array(keys: Sequence[bytes]) -> Optional[ctypes.Array[ctypes.c_char_p]]:
    """Names for a call that takes `const char *const *`."""
    return _key_array(tuple(keys)) if keys else None


@lru_cache(maxsize=256)
def _key_array(keys: tuple[bytes, ...]) -> ctypes.Array[ctypes.c_char_p]:
    # The library does not write to it, and programs ask for the same names again and again.
    return (ctypes.c_char_p * len(keys))(*keys)
