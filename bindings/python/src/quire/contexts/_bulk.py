"""Columns of Python values for a bulk insert."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from ctypes import POINTER
from typing import Any, Union

from .._c import _buffers, _ffi, _values
from ..errors import Error, InvalidArgument, InvalidText, WrongType
from ..predicates import _owners
from ..predicates.keys import Key
from ..models._entity import Entity
from ..models.properties import Attr, misfit


def column_attribute(entity: Entity, key: Union[str, Key]) -> Attr[Any]:
    """The attribute that a column is for."""
    _owners.check(entity.model, _owners.of(key), is_set=True)
    name = key._name if isinstance(key, Key) else key
    found = entity.property_named(name)
    if not isinstance(found, Attr):
        raise InvalidArgument(
            f"{key} is no attribute of {entity.name}; columns are of attributes.", entity=entity.name, key=found._name)
    return found


def values_of(attribute: Attr[Any], column: Iterable[Any]) -> Sequence[Any]:
    """What was given as a column, with a length."""
    if isinstance(column, (list, tuple, array)):
        return column
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable):
        raise misfit(
            attribute, f"The column for {attribute} is an iterable of its values, not {type(column).__name__}.")
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
        except Error as error:
            error.row = row
            error._reword(f"Row {row}, counted from 0: {error.message}")
            raise error from None
    return _values.mixed_column(packed)


def _exact(python: type) -> set[type]:
    return {float, int} if python is float else {python}


class Table:
    """Columns of a bulk insert, as the library takes them. Keep it until the call has returned."""

    __slots__ = ("count", "arguments", "_keep")

    def __init__(self, entity: Entity, columns: Mapping[Union[str, Key], Iterable[Any]], what: str) -> None:
        if not isinstance(columns, Mapping):
            name = next(iter(entity.attributes), "name")
            raise WrongType(
                f"{what} takes columns, a dictionary of attributes and their values in all rows, and was given "
                f'{_values.called(columns)}. Write {{"{name}": [...]}}, or of rows that are dictionaries: '
                "{name: [row[name] for row in rows] for name in rows[0]}.", entity=entity.name)
        attributes = [column_attribute(entity, key) for key in columns]
        values = [values_of(*each) for each in zip(attributes, columns.values())]
        if not values:
            raise InvalidArgument(f"{what} needs at least one column; its length is the number of objects.")
        self.count = len(values[0])
        for attribute, column in zip(attributes, values):
            if len(column) != self.count:
                raise InvalidArgument(
                    f"The columns have different lengths: {attributes[0]} has {self.count} values, {attribute} has "
                    f"{len(column)}.", entity=entity.name, key=attribute._name)
        packed = [pack_column(attribute, column) for attribute, column in zip(attributes, values)] if self.count else []
        arrays: Any = [each.array for each in packed]
        keys = _buffers.key_array([attribute._key_bytes for attribute in attributes])
        self.arguments = keys, (POINTER(_ffi.quire_value) * len(packed))(*arrays), len(packed)
        """Keys, columns and their number."""
        self._keep = packed
