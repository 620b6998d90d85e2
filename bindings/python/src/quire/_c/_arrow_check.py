"""What the structs of Arrow say of their arrays, checked before the memory that they point to is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Optional

from ..errors import Error, InvalidArgument
from ._arrow import ArrowArray, ArrowSchema

# More values than there can be: the size of their buffers would be no number of C.
_END = sys.maxsize // 64
_SPANS = ("u", "U", "z", "Z")
_VIEWS = ("vu", "vz")


class Malformed(Exception):
    """What an array cannot be, and the row of the part that was read, counted from its first."""

    def __init__(self, cause: str, row: Optional[int] = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.row = row

    def told(self, schema: ArrowSchema, before: int = 0) -> Error:
        """The error for a program: of a column, and of a row after those of the parts before."""
        row = None if self.row is None else before + self.row
        start = "" if row is None else f"Row {row}, counted from 0: "
        return InvalidArgument(
            f"{start}{called(schema)} is no valid Arrow array: {self.cause}.", key=name(schema), row=row)


def form(schema: ArrowSchema) -> str:
    """The type in Arrow's format."""
    return (schema.format or b"").decode("utf-8", "replace")


def name(schema: ArrowSchema) -> str:
    """That of a column."""
    return (schema.name or b"").decode("utf-8", "replace")


def called(schema: ArrowSchema) -> str:
    """The beginning of a sentence about a column."""
    if schema.name:
        return f"The column {name(schema)!r}"
    return "The table" if schema.format == b"+s" else "The column"


def check(schema: ArrowSchema, arrays: Sequence[ArrowArray]) -> None:
    """Raises `InvalidArgument` for the first array that does not have what its type and its length promise."""
    try:
        _check_pointers("the type", schema.n_children, schema.children)
        for array in arrays:
            _check(schema, array)
    except Malformed as error:
        raise error.told(schema) from None
    if schema.format != b"+s":
        return
    for place in range(schema.n_children):
        child = schema.children[place].contents
        try:
            for array in arrays:
                _check_child(child, array, place)
        except Malformed as error:
            raise error.told(child) from None


def _check(schema: ArrowSchema, array: ArrowArray) -> None:
    """Of one array, but for what is in its buffers."""
    kind = form(schema)
    if array.length < 0 or array.offset < 0:
        raise Malformed(f"its length is {array.length}, its offset is {array.offset}, and neither may be negative")
    if array.length + array.offset > _END:
        raise Malformed(f"its length is {array.length}, its offset is {array.offset}, more than any memory holds")
    _check_buffers(kind, array)
    if kind == "+s":
        if array.n_children != schema.n_children:
            raise Malformed(f"its type has {schema.n_children} columns, its values have {array.n_children}")
        _check_pointers("the array", array.n_children, array.children)
    if schema.dictionary:
        if not array.dictionary:
            raise Malformed("its values are indexes of a dictionary, and there is none")
        _check(schema.dictionary.contents, array.dictionary.contents)


def _check_buffers(kind: str, array: ArrowArray) -> None:
    if array.n_buffers < 0 or (array.n_buffers and not array.buffers):
        raise Malformed(f"it says that it has {array.n_buffers} buffers, and there are none")
    # Of what is empty, or of other types, no buffer of values is read.
    if array.length == 0 or kind == "n" or kind.startswith("+"):
        return
    needed = 3 if kind in _SPANS or kind in _VIEWS else 2
    if array.n_buffers < needed:
        raise Malformed(f"it has {array.n_buffers} buffers, where the type {kind!r} has {needed}")
    if not array.buffers[1] and not re.fullmatch("w:0+", kind):
        raise Malformed("its buffer 1 is NULL")
    if kind in _VIEWS and array.n_buffers > 3 and not array.buffers[array.n_buffers - 1]:
        raise Malformed("the buffer with the lengths of the others is NULL")


def _check_child(schema: ArrowSchema, array: ArrowArray, place: int) -> None:
    child = array.children[place].contents
    _check(schema, child)
    if child.length < array.offset + array.length:
        raise Malformed(f"it has {child.length} values, and its table has {array.offset + array.length} rows")


def _check_pointers(what: str, count: int, pointers: Sequence[object]) -> None:
    if count < 0 or (count and not pointers) or not all(pointers[place] for place in range(count)):
        raise Malformed(f"{what} says that it has {count} columns, and they are not all there")
