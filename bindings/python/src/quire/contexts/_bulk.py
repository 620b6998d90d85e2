"""Columns of Python values for a bulk insert."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import POINTER
from datetime import date, datetime, time, timezone
from typing import Any, Optional, Protocol, Union
from uuid import UUID

from .._c import _arrow_pack, _arrow_read, _buffers, _ffi, _values
from ..errors import Error, InvalidArgument, InvalidText, WrongType
from ..predicates import _owners
from ..predicates.keys import Key
from ..models import _numpy
from ..models._entity import Entity
from ..models.properties import Attr, blamed, misfit


class ArrowTable(Protocol):
    """A table of polars, pandas, pyarrow, DuckDB and others that speak Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


TableLike = Union[Mapping[Union[str, Key], Iterable[Any]], ArrowTable]
"""What a bulk insert takes: columns by attributes, or a table."""

Given = Union[Sequence[Any], _values.Column]
"""The values of a column, or what was packed of them without one for each."""


def column_attribute(entity: Entity, key: Union[str, Key]) -> Attr[Any]:
    """The attribute that a column is for."""
    _owners.check(entity.model, _owners.of(key), is_set=True)
    name = key._name if isinstance(key, Key) else key
    found = entity.property_named(name)
    if not isinstance(found, Attr):
        raise InvalidArgument(
            f"{key} is no attribute of {entity.name}; columns are of attributes.", entity=entity.name, key=found._name)
    return found


def values_of(attribute: Attr[Any], column: Union[Iterable[Any], _values.Column]) -> Given:
    """What was given as a column, with a length."""
    if isinstance(column, (list, tuple, array, _values.Column)):
        return column
    if _numpy.is_array(column) and getattr(column, "ndim"):
        return _numpy_values(attribute, column)
    if _arrow_read.speaks(column):
        try:
            return _fitting(attribute, _arrow_read.column(column, _packing(attribute)))
        except (InvalidArgument, WrongType) as error:
            raise blamed(error, attribute) from None
    if type(column).__module__.partition(".")[0] == "pandas" and hasattr(column, "isna"):
        return _pandas_values(column)
    if isinstance(column, (str, bytes)) or not isinstance(column, Iterable) or _numpy.is_array(column):
        raise misfit(
            attribute, f"The column for {attribute} is an iterable of its values, not {type(column).__name__}.")
    return list(column)


def _numpy_values(attribute: Attr[Any], column: Any) -> Sequence[Any]:
    try:
        return _numpy.values(column, attribute._type.python is date)
    except Error as error:
        raise _in_row(error, attribute) from None


def _pandas_values(column: Any) -> Sequence[Any]:
    """The values of an array or index of pandas, which knows itself where it has none."""
    try:
        gone = column.isna()
    except NotImplementedError:
        return list(column)
    return [None if missing else value for value, missing in zip(column, gone)]


def _packing(attribute: Attr[Any]) -> Optional[_arrow_pack.Packing]:
    """What a column of Arrow may be packed for: not so where a program has values in another form than the store."""
    kind = attribute._type
    return None if kind.stored is not None else _arrow_pack.Packing(kind.number, attribute._is_optional)


def _fitting(attribute: Attr[Any], values: _arrow_read.Values) -> Given:
    """Values of Arrow where an attribute has others for the same: UUIDs for 16 bytes, moments for days, and for what is
    of the store the form of the program."""
    if isinstance(values, _values.Column):
        return values
    if attribute._type.restored is not None:
        return [_restored(attribute, value, row) for row, value in enumerate(values)]
    python = attribute._type.python
    if python is UUID:
        return [_uuid(each) for each in values]
    if python is datetime:
        return [
            datetime(each.year, each.month, each.day, tzinfo=timezone.utc) if type(each) is date else each
            for each in values]
    return values


def _restored(attribute: Attr[Any], value: Any, row: int) -> Any:
    kind = attribute._type
    assert kind.restored is not None
    # Days and times are themselves in Arrow.
    if value is None or (type(value) in (date, time) and type(value) is kind.python):
        return value
    if kind.number == _ffi.QUIRE_TYPE_UUID:
        value = _uuid(value)
    try:
        if kind.python is date and isinstance(value, datetime) and value.time() != time():
            raise InvalidArgument(
                f"{value.isoformat()} is a moment within a day of UTC, and a date would lose its time; cast the column "
                "to days, which are date32 in Arrow, or declare the attribute as datetime")
        return kind.restored(value)
    except Error as error:
        error.row = row
        raise _in_row(error, attribute) from None


def _in_row(error: Error, attribute: Attr[Any]) -> Error:
    error._reword(f"Row {error.row}, counted from 0: {attribute}: {error.message}")
    return blamed(error, attribute)


def pack_column(attribute: Attr[Any], column: Given) -> _values.Column:
    """The column in the form of the library; an exception names the row that does not fit."""
    if isinstance(column, _values.Column):
        return column
    if len(column) <= _values.AT_ONCE:
        return _pack_part(attribute, column, 0, column)
    return _values.joined([
        _pack_part(attribute, column[first:first + _values.AT_ONCE], first, column)
        for first in range(0, len(column), _values.AT_ONCE)])


def _pack_part(attribute: Attr[Any], part: Sequence[Any], first: int, column: Sequence[Any]) -> _values.Column:
    """The same of a part of the column, which begins with the row `first`."""
    kind = attribute._type
    types = set(map(type, part))
    has_nil = attribute._is_optional and type(None) in types and len(types) > 1
    if kind.pack_column is not None and types - ({type(None)} if has_nil else set()) <= _exact(kind.python):
        try:
            return _with_nils(kind.pack_column, part) if has_nil else kind.pack_column(part)
        except (InvalidArgument, InvalidText, OverflowError):
            pass  # The values one by one tell which one it is.
    packed = []
    for row, value in enumerate(part, first):
        try:
            packed.append(attribute._pack(attribute._checked(value)))
        except Error as error:
            error.row = row
            error._reword(f"Row {row}, counted from 0: {error.message}{_remedy(attribute, value, column)}")
            raise error from None
    return _values.mixed_column(packed)


def _remedy(attribute: Attr[Any], value: Any, column: Sequence[Any]) -> str:
    """What to do about whole numbers that became floats, as pandas makes them of a column with gaps."""
    if attribute._type.python is not int or type(value) is not float or not value.is_integer():
        return ""
    if not any(each is None or _numpy.is_missing(each) for each in column):
        return ""
    return " Where some are missing, pandas makes floats of whole numbers; give column.astype(\"Int64\")."


def _uuid(value: Any) -> Any:
    """A UUID of its 16 bytes or of its text; anything else as it is."""
    if isinstance(value, bytes) and len(value) == 16:
        return UUID(bytes=value)
    try:
        return UUID(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _with_nils(pack: Callable[[Sequence[Any]], _values.Column], column: Sequence[Any]) -> _values.Column:
    """The column where some are None: these are packed as any other value, and taken back."""
    other = next(value for value in column if value is not None)
    packed = pack([other if value is None else value for value in column])
    kinds = memoryview(packed.array).cast("B").cast("I")
    for row, value in enumerate(column):
        if value is None:
            kinds[4 * row] = _ffi.QUIRE_VALUE_NIL
    return packed


def _exact(python: type) -> set[type]:
    return {float, int} if python is float else {python}


class Table:
    """Columns of a bulk insert, as the library takes them. Keep it until the call has returned."""

    __slots__ = ("count", "arguments", "_keep")

    def __init__(self, entity: Entity, columns: TableLike, what: str) -> None:
        if not isinstance(columns, Mapping) and _arrow_read.speaks(columns):
            found = _arrow_read.table(columns, lambda name: _packing(column_attribute(entity, name)))
            if found is None:
                raise WrongType(
                    f"{what} takes a table, and was given one column ({_values.called(columns)}). Write "
                    '{"name": column}.', entity=entity.name)
            given: Mapping[Any, Any] = {
                name: _fitting(column_attribute(entity, name), each) for name, each in found.items()}
        elif isinstance(columns, Mapping):
            given = columns
        else:
            name = next(iter(entity.attributes), "name")
            raise WrongType(
                f"{what} takes columns, a dictionary of attributes and their values in all rows, and was given "
                f'{_values.called(columns)}. Write {{"{name}": [...]}}, or of rows that are dictionaries: '
                "{name: [row[name] for row in rows] for name in rows[0]}.", entity=entity.name)
        attributes = [column_attribute(entity, key) for key in given]
        values = [values_of(*each) for each in zip(attributes, given.values())]
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
