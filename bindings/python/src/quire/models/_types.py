"""Types of attributes: how Python values go into the store and come back."""

from __future__ import annotations

import decimal
import struct
import uuid
from array import array
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Callable, Optional, Union

from .._c import _ffi, _values
from .._c._public import public
from .._c._values import Column, Packed
from ..errors import InvalidArgument

_SINGLE = struct.Struct("<f")


@public
class AttributeType:
    """How an attribute is stored, for `attr(type=...)`. Its instances are `quire.Integer16`, `quire.URI` and so on."""

    __slots__ = (
        "name", "number", "python", "accepted", "canonical", "pack", "decode", "pack_column", "stored", "restored",
        "unordered", "printed", "kept")

    def __init__(
        self,
        name: str,
        number: int,
        python: type,
        *,
        accepted: tuple[type, ...],
        canonical: Callable[[Any], Any],
        pack: Callable[[Any], Packed],
        decode: Optional[Callable[[Any], Any]] = None,
        pack_column: Optional[Callable[[Sequence[Any]], Column]] = None,
        stored: Optional[Callable[[Any], Any]] = None,
        restored: Optional[Callable[..., Any]] = None,
        unordered: str = "",
        printed: Optional[Callable[[Any], Optional[str]]] = None,
        kept: Optional[Callable[[Any], Any]] = None,
    ) -> None:
        self.name = name
        self.number = number
        self.python = python
        """The type in the annotation."""
        self.accepted = accepted
        """What may be assigned."""
        self.canonical = canonical
        """The value as reading it back would give it. Raises InvalidArgument for what the type cannot hold."""
        self.kept = kept or canonical
        """The same for what goes into a file, which may keep less than the type can hold."""
        self.pack = pack
        self.decode = decode
        """From the plain form of pages; None when that is final."""
        self.pack_column = pack_column
        """From values that are all exactly of the type `python`."""
        self.stored = stored
        """For what a program has in another form than the store: the store's form of a value. None where both agree."""
        self.restored = restored
        """The other way, from what Python has for the store's form."""
        self.unordered = unordered
        """Why the order of the store's form is not that of the values, and what to do; "" where it is."""
        self.printed = printed
        """The text of a value, for names of sections. None where that is the text of the store's form."""

    def __repr__(self) -> str:
        return f"quire.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def _same(value: Any) -> Any:
    return value


def _single(value: float) -> float:
    try:
        rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        raise InvalidArgument(f"{value} does not fit into 32 bits") from None
    return rounded


def _whole(bits: int) -> Callable[[int], int]:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1

    def check(value: int) -> int:
        value = int(value)
        if not least <= value <= most:
            raise InvalidArgument(f"{value} does not fit into {bits} bits")
        return value

    return check


def _integer_column(bits: int) -> Callable[[Sequence[int]], Column]:
    narrow = {16: "h", 32: "i", 64: "q"}[bits]

    def pack(values: Sequence[int]) -> Column:
        # An array of the narrow type refuses what does not fit.
        return _values.number_column(array("q", array(narrow, values)), _ffi.QUIRE_VALUE_INTEGER)

    return pack


def _integer(bits: int) -> AttributeType:
    return AttributeType(
        f"Integer{bits}",
        {16: _ffi.QUIRE_TYPE_INTEGER_16, 32: _ffi.QUIRE_TYPE_INTEGER_32, 64: _ffi.QUIRE_TYPE_INTEGER_64}[bits], int,
        accepted=(int,), canonical=_whole(bits), pack=_values.integer,
        pack_column=_integer_column(bits))


def _characters(value: str) -> str:
    if not value.isascii():
        _values.encoded(value)
    # str(value) is the name of a member of an enumeration, not its text.
    return str.__str__(value)


def _real_column(values: Sequence[float]) -> Column:
    return _values.number_column(array("d", values), _ffi.QUIRE_VALUE_DOUBLE)


def _boolean_column(values: Sequence[bool]) -> Column:
    # The first byte of a number is that of a boolean.
    return _values.number_column(array("q", values), _ffi.QUIRE_VALUE_BOOLEAN)


def _text(kind: int) -> Callable[[str], Packed]:
    return lambda value: _values.data(_values.encoded(value), kind)


def _text_column(kind: int) -> Callable[[Sequence[str]], Column]:
    return lambda values: _values.text_column(values, kind)


def _data_column(values: Sequence[bytes]) -> Column:
    return _values.data_column(values, _ffi.QUIRE_VALUE_DATA)


def _date_column(values: Sequence[datetime]) -> Column:
    return _values.number_column(_values.all_seconds(values), _ffi.QUIRE_VALUE_DATE)


def _date(value: Union[datetime, float]) -> Union[datetime, float]:
    if isinstance(value, datetime) and value.__class__ is datetime and value.tzinfo is timezone.utc and (
            not value.microsecond):
        # Whole seconds are exact.
        return value
    found = _values.instant(_values.seconds(value))
    if isinstance(value, datetime) and not isinstance(found, datetime):
        raise InvalidArgument(f"{value} is outside of the years 1 to 9999 of UTC that Python's datetime knows.")
    return found


def _decimal(value: Any) -> decimal.Decimal:
    number = decimal.Decimal(value)
    _values.number_text(number)
    return number


def _kept_decimal(value: Any) -> decimal.Decimal:
    number = _decimal(value)
    _values.check_digits(number)
    return number


def _blob(name: str, number: int) -> AttributeType:
    return AttributeType(
        name, number, bytes, accepted=(bytes, bytearray, memoryview), canonical=bytes, pack=_values.data,
        pack_column=_data_column)


def _string(name: str, number: int, kind: int) -> AttributeType:
    return AttributeType(
        name, number, str, accepted=(str,), canonical=_characters, pack=_text(kind), pack_column=_text_column(kind))


Integer16 = _integer(16)
"""Whole numbers from -32,768 to 32,767, for `Attr[int]`."""
Integer32 = _integer(32)
"""Whole numbers of 32 bits, for `Attr[int]`."""
Integer64 = _integer(64)
"""Whole numbers of 64 bits: what `Attr[int]` is without a type."""
Double = AttributeType(
    "Double", _ffi.QUIRE_TYPE_DOUBLE, float, accepted=(float, int), canonical=float, pack=_values.real,
    pack_column=_real_column)
"""64-bit floating point: what `Attr[float]` is without a type."""
Float = AttributeType(
    "Float", _ffi.QUIRE_TYPE_FLOAT, float, accepted=(float, int), canonical=_single, pack=_values.real)
"""32-bit floating point, for `Attr[float]`; values are rounded to it at the assignment."""
String = _string("String", _ffi.QUIRE_TYPE_STRING, _ffi.QUIRE_VALUE_TEXT)
"""Text: what `Attr[str]` is without a type."""
URI = _string("URI", _ffi.QUIRE_TYPE_URI, _ffi.QUIRE_VALUE_URI)
"""A URI, for `Attr[str]`. It is kept as it is: that it is one, and absolute, is for the application to see to."""
Boolean = AttributeType(
    "Boolean", _ffi.QUIRE_TYPE_BOOLEAN, bool, accepted=(bool,), canonical=bool, pack=_values.boolean,
    pack_column=_boolean_column)
"""True or False: what `Attr[bool]` is."""
Date = AttributeType(
    "Date", _ffi.QUIRE_TYPE_DATE, datetime, accepted=(datetime,), canonical=_date,
    pack=lambda value: _values.real(_values.seconds(value), _ffi.QUIRE_VALUE_DATE), decode=_values.instant,
    pack_column=_date_column)
"""An instant: what `Attr[datetime]` is. Aware datetimes go in, UTC comes out.

Files of other programs may have dates outside of the years 1 to 9999. Those are read as a float, the seconds since
2001-01-01 UTC, and such a number may be set. `Attr[datetime | float]` is the same attribute, and says so to type
checkers."""
Decimal = AttributeType(
    "Decimal", _ffi.QUIRE_TYPE_DECIMAL, decimal.Decimal, accepted=(decimal.Decimal, int), canonical=_decimal,
    pack=lambda value: _values.data(_values.number_text(value).encode(), _ffi.QUIRE_VALUE_DECIMAL),
    decode=decimal.Decimal, kept=_kept_decimal)
"""A decimal number of up to 15 significant digits: what `Attr[Decimal]` is. The file holds it as a double, which
carries as many. More are rejected: round the number, or keep it as text, with `attr(as_=(str, Decimal))`. Conditions
may have numbers of 38 digits, which count as the nearest double."""
UUID = AttributeType(
    "UUID", _ffi.QUIRE_TYPE_UUID, uuid.UUID, accepted=(uuid.UUID,), canonical=_same,
    pack=lambda value: _values.data(value.bytes, _ffi.QUIRE_VALUE_UUID), decode=lambda raw: uuid.UUID(bytes=raw))
"""A UUID: what `Attr[uuid.UUID]` is."""
Binary = _blob("Binary", _ffi.QUIRE_TYPE_BINARY)
"""Bytes: what `Attr[bytes]` is without a type."""
Transformable = _blob("Transformable", _ffi.QUIRE_TYPE_TRANSFORMABLE)
"""Bytes that the application encodes itself, as Core Data's transformable attributes, for `Attr[bytes]`."""

Undefined = AttributeType(
    "Undefined", _ffi.QUIRE_TYPE_UNDEFINED, object, accepted=(object,), canonical=_same, pack=_values.any_value)
"""Any value, for a transient `Attr[Any]`: what `Attr[Any]` is."""

DEFAULTS: dict[type, AttributeType] = {
    kind.python: kind for kind in (Integer64, Double, String, Boolean, Date, Decimal, UUID, Binary, Undefined)}

# For columns whose plain form is not the value itself.
_COLUMN_DECODERS: dict[int, Callable[[Any], Any]] = {
    _ffi.QUIRE_COLUMN_DATE: _values.instant,
    _ffi.QUIRE_COLUMN_DECIMAL: decimal.Decimal,
    _ffi.QUIRE_COLUMN_UUID: lambda raw: uuid.UUID(bytes=raw),
}


def decoded(kind: int, values: list[Any]) -> list[Any]:
    """The values of a column of the library, from their plain form."""
    if kind == _ffi.QUIRE_COLUMN_DATE and None not in values:
        return _values.instants(values)
    decode = _COLUMN_DECODERS.get(kind)
    return values if decode is None else [None if value is None else decode(value) for value in values]
