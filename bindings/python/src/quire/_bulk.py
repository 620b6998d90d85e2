"""Columns of Python values for a bulk insert."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any, Union

from . import _values
from ._entity import Entity
from .errors import InvalidArgument, InvalidText
from .keys import Key
from .properties import Attr


def column_attribute(entity: Entity, key: Union[str, Key]) -> Attr[Any]:
    """The attribute that a column is for."""
    name = key._name if isinstance(key, Key) else key
    found = entity.property_named(name)
    if not isinstance(found, Attr) or (isinstance(key, Key) and found is not key):
        raise InvalidArgument(f"{key} is no attribute of {entity.name}; insert_many takes attributes.")
    return found


def values_of(attribute: Attr[Any], column: Iterable[Any]) -> Sequence[Any]:
    """What was given as a column, with a length."""
    if isinstance(column, (list, tuple, array)):
        return column
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise TypeError(f"The column for {attribute} is an iterable of its values, not {type(column).__name__}")
    return list(column)


def pack_column(attribute: Attr[Any], column: Sequence[Any]) -> _values.Column:
    """The column in the form of the library; an exception names the row that does not fit."""
    kind = attribute._type
    if kind.pack_column is not None and set(map(type, column)) <= _exact(kind.python):
        try:
            return kind.pack_column(column)
        except (InvalidArgument, InvalidText, OverflowError):
            pass  # The values one by one tell which one it is.
    packed = []
    for row, value in enumerate(column):
        try:
            packed.append(attribute._pack(attribute._checked(value)))
        except TypeError as error:
            raise TypeError(f"Row {row}: {error}") from None
        except (InvalidArgument, InvalidText) as error:
            raise type(error)(f"Row {row}: {error.message}") from None
    return _values.mixed_column(packed)


def _exact(python: type) -> set[type]:
    return {float, int} if python is float else {python}
