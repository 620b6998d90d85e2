"""Python values in the form of the C interface: 16 bytes each, text and bytes beside them."""

from __future__ import annotations

import ctypes
import decimal
import enum
import operator
import struct
import uuid
from array import array
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta, timezone
from itertools import accumulate, repeat
from typing import Any, Optional, Union

from ..errors import InvalidArgument, InvalidText, WrongType
from . import _ffi

_INTEGER = struct.Struct("=IIq")
_REAL = struct.Struct("=IId")
_BOOLEAN = struct.Struct("=II?7x")
_POINTER = struct.Struct("=IIQ")

AT_ONCE = 4096
"""So many values are packed, or copied, in one step. Other threads run between two steps; within one they wait for the
lock of the interpreter."""

Packed = tuple[struct.Struct, int, int, Any, Any]
"""How to write it, kind, size, payload, and what the payload points to."""

NIL: Packed = (_INTEGER, _ffi.QUIRE_VALUE_NIL, 0, 0, None)

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
REFERENCE = 978307200.0
"""When the dates of files begin, which is 2001, in seconds since 1970."""
# Of the years that datetime knows, and the last number before it.
_SPAN = datetime.max.replace(tzinfo=timezone.utc) - _EPOCH + timedelta(microseconds=1)
_END = _SPAN.total_seconds()
_LAST = _END - 2.0 ** -15
_MOST = 2**32 - 2


class Values:
    """An array of values for one call. Keep it until the call has returned."""

    __slots__ = ("array", "count", "_keep")

    def __init__(self, packed: Sequence[Packed]) -> None:
        count = len(packed)
        buffer = bytearray(16 * count or 16)
        offset = 0
        for form, kind, size, payload, _ in packed:
            form.pack_into(buffer, offset, kind, size, payload)
            offset += 16
        self.array = (_ffi.quire_value * (count or 1)).from_buffer(buffer)
        self.count = count
        self._keep = packed


def whole(value: Any, what: str) -> int:
    """A whole number, from other libraries too; TypeError names what it should be."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is a whole number, not {type(value).__name__}") from None


def natural(value: Any, what: str) -> int:
    """The same, of numbers that the library takes as counts."""
    count = whole(value, what)
    if not 0 <= count < 2**63:
        raise InvalidArgument(f"{what} is not negative and below 2**63; it is {count}.")
    return count


def same_objects(sequence: Sequence[Any], other: object) -> bool:
    """Whether a list holds the same objects in the same order; for `__eq__`."""
    if not isinstance(other, list):
        return NotImplemented  # type: ignore[no-any-return]
    return len(sequence) == len(other) and all(map(operator.is_, sequence, other))


def called(value: object) -> str:
    """What a message calls something of a wrong kind."""
    if value is None:
        return "None"
    return f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__


def fits(value: int) -> bool:
    """Whether it is a number of 64 bits. ctypes would cut others down to these without a word."""
    return -(2**63) <= value < 2**63


def integer(value: int) -> Packed:
    if not fits(value):
        raise InvalidArgument(f"{value} does not fit into 64 bits.")
    return (_INTEGER, _ffi.QUIRE_VALUE_INTEGER, 0, value, None)


def boolean(value: bool) -> Packed:
    return (_BOOLEAN, _ffi.QUIRE_VALUE_BOOLEAN, 0, value, None)


def real(value: float, kind: int = _ffi.QUIRE_VALUE_DOUBLE) -> Packed:
    return (_REAL, kind, 0, value, None)


def name(value: object, what: str) -> bytes:
    """The UTF-8 form of what names something; `what` names it in the error for another type."""
    if not isinstance(value, str):
        raise WrongType(f"{what} is a text, not {type(value).__name__}")
    return encoded(value)


def encoded(value: str) -> bytes:
    """The UTF-8 form; a lone surrogate has none."""
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise InvalidText(
            f"the text {value!r:.60} has no UTF-8 form: {error.reason} at character {error.start}") from None
    except AttributeError:
        raise WrongType(f"a text is needed, not {called(value)}") from None


def terminated(value: object, what: str) -> bytes:
    """The UTF-8 form of what the library reads to its first NUL, and which therefore has none inside."""
    form = name(value, what)
    if b"\0" in form:
        raise InvalidArgument(f"{what} contains no U+0000; {value!r:.60} does")
    return form


def data(value: bytes, kind: int = _ffi.QUIRE_VALUE_DATA) -> Packed:
    size = len(value)
    if size > _MOST:
        raise InvalidArgument(f"{size} bytes are more than a value can hold")
    # One byte more, because an empty array has no address.
    keep = array("B", value + b"\0")
    return (_POINTER, kind, size, keep.buffer_info()[0], keep)


def pointer_to(handle: int, kind: int = _ffi.QUIRE_VALUE_OBJECT, keep: object = None) -> Packed:
    return (_POINTER, kind, 0, handle, keep)


def text(value: str) -> Packed:
    return data(encoded(value), _ffi.QUIRE_VALUE_TEXT)


def dictionary(packed: Sequence[Packed]) -> Packed:
    """From keys and values in turn."""
    values = Values(packed)
    return (_POINTER, _ffi.QUIRE_VALUE_DICTIONARY, values.count // 2, ctypes.addressof(values.array), values)


def listed(packed: Sequence[Packed]) -> Packed:
    values = Values(packed)
    return (_POINTER, _ffi.QUIRE_VALUE_LIST, values.count, ctypes.addressof(values.array), values)


def seconds(value: Union[datetime, float]) -> float:
    """Seconds since 1970 of an aware datetime, or of a number as `instant` gives it."""
    if not isinstance(value, datetime):
        return value + REFERENCE
    if value != value:
        raise InvalidArgument(
            f"{value!r:.20} is no date; give None instead, as in "
            "[None if value != value else value for value in column]")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidArgument(
            "a datetime without a time zone names no instant; give it one, such as "
            "datetime.now(timezone.utc) or value.astimezone()")
    since = value - _EPOCH
    found = since.total_seconds()
    # Such as datetime.max, which a number of seconds would round up to the year 10000.
    return _LAST if found >= _END and since < _SPAN else found


def all_seconds(values: Sequence[datetime]) -> array[float]:
    """The same for many, all of them exactly of this type."""
    try:
        # Without a step of Python for each; what has no time zone cannot be subtracted from.
        found = array("d", map(timedelta.total_seconds, map(operator.sub, values, repeat(_EPOCH))))
        return array("d", map(seconds, values)) if max(found, default=0.0) >= _END else found
    except TypeError:
        return array("d", map(seconds, values))


def instant(value: float) -> Union[datetime, float]:
    """The aware UTC datetime of seconds since 1970. A date that datetime does not know is a number: seconds since 2001,
    as files have it."""
    try:
        # It rounds to microseconds as timedelta does, in less than half of the time.
        return datetime.fromtimestamp(value, timezone.utc)
    except (OverflowError, ValueError, OSError):
        return value - REFERENCE


def instants(values: Sequence[float]) -> list[Union[datetime, float]]:
    """The same for many."""
    try:
        return list(map(datetime.fromtimestamp, values, repeat(timezone.utc)))
    except (OverflowError, ValueError, OSError):
        return [instant(value) for value in values]


def is_distant(value: object) -> bool:
    """Whether it is a number of seconds since 2001 whose date datetime does not know."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return value == value and not isinstance(instant(value + REFERENCE), datetime)
    except OverflowError:
        return False


def number_text(value: decimal.Decimal) -> str:
    if not value.is_finite():
        raise InvalidArgument(f"{value} is not a number that can be stored")
    # The limits are the library's, which cannot say what the number is for.
    digits = "".join(map(str, value.as_tuple().digits)).rstrip("0")
    if len(digits) > 38:
        raise InvalidArgument(f"{value} has more than the 38 significant digits that a decimal can have; round it")
    if digits and not -128 <= value.adjusted() - len(digits) + 1 <= 127:
        raise InvalidArgument(
            f"{value} is out of the range of decimals, whose last significant digit stands for a power of ten from "
            "-128 to 127")
    return str(value)


def check_digits(value: decimal.Decimal) -> None:
    """Raises InvalidArgument for more digits than a file keeps."""
    count = len("".join(map(str, value.as_tuple().digits)).strip("0"))
    if count > 15:
        raise InvalidArgument(
            f"{value} has {count} significant digits, and a file keeps 15 of a decimal. Round it, or keep it as text, "
            "with as_=(str, Decimal)")


def lasting(value: Any) -> Any:
    """An argument of a predicate that stays as it is: what can be iterated only once, or can change, as a tuple."""
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, (str, bytes, Mapping)) or hasattr(value, "_quire_pack") or not isinstance(value, Iterable):
        return value
    return tuple(lasting(item) for item in value)


def any_value(value: object) -> Packed:
    """A value whose Python type tells what it is, as the argument of a predicate."""
    if value is None:
        return NIL
    if isinstance(value, bool):
        return boolean(value)
    if isinstance(value, int):
        return integer(value)
    if isinstance(value, float):
        return real(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, datetime):
        return real(seconds(value), _ffi.QUIRE_VALUE_DATE)
    if isinstance(value, decimal.Decimal):
        return data(number_text(value).encode(), _ffi.QUIRE_VALUE_DECIMAL)
    if isinstance(value, uuid.UUID):
        return data(value.bytes, _ffi.QUIRE_VALUE_UUID)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return data(bytes(value))
    if isinstance(value, ctypes.c_float):
        return real(value.value, _ffi.QUIRE_VALUE_FLOAT)
    pack = None if isinstance(value, type) else getattr(value, "_quire_pack", None)
    if pack is not None:
        packed: Packed = pack()
        return packed
    if isinstance(value, Mapping):
        raise InvalidArgument("a dictionary is no value; give its values one by one")
    if isinstance(value, Iterable):
        return listed([any_value(item) for item in value])
    if hasattr(value, "__index__"):
        return integer(operator.index(value))
    if isinstance(value, type):
        raise WrongType(f"the class {value.__name__} is no value; give an object or a key of it")
    raise WrongType(f"{value!r:.200} is of type {type(value).__name__}, which Quire does not know; {_remedy(value)}")


def _remedy(value: object) -> str:
    """What to give instead of a value of a foreign type."""
    if isinstance(value, date):
        return (
            "give a moment of that day, such as "
            f"datetime.datetime({value.year}, {value.month}, {value.day}, tzinfo=datetime.timezone.utc)")
    if isinstance(value, time):
        return "give the microseconds since midnight, which an attribute of times has in the store"
    if isinstance(value, timedelta):
        return "give its total_seconds()"
    if isinstance(value, enum.Enum):
        return f"give its value, {type(value).__name__}.{value.name}.value"
    return "give a bool, int, float, str, bytes, datetime, Decimal or UUID that says the same"


class Column:
    """A column of values for one bulk insert, laid out without a Python step for each value where that is possible."""

    __slots__ = ("array", "_keep")

    def __init__(self, buffer: bytearray, count: int, keep: object) -> None:
        self.array = (_ffi.quire_value * count).from_buffer(buffer)
        self._keep = keep

    def __len__(self) -> int:
        return len(self.array)


def joined(parts: Sequence[Column]) -> Column:
    """The columns one after another."""
    return Column(bytearray().join(part.array for part in parts), sum(map(len, parts)), parts)


def filled(count: int, kind: int) -> bytearray:
    """So many values of a kind, all else zero."""
    buffer = bytearray(16 * count)
    memoryview(buffer).cast("I")[0::4] = memoryview(array("I", [kind]) * count)
    return buffer


def number_column(numbers: array[Any], kind: int) -> Column:
    """From an array of type `q` or `d`."""
    count = len(numbers)
    buffer = filled(count, kind)
    form: Any = numbers.typecode
    memoryview(buffer).cast("B").cast(form)[1::2] = memoryview(numbers)
    return Column(buffer, count, None)


def text_column(texts: Sequence[str], kind: int) -> Column:
    """From strings, none of them None."""
    joined = "".join(texts)
    if joined.isascii():
        blob = joined.encode()
        sizes = list(map(len, texts))
    else:
        pieces = [encoded(value) for value in texts]
        blob = b"".join(pieces)
        sizes = list(map(len, pieces))
    return _bytes_column(blob, sizes, kind)


def data_column(values: Sequence[bytes], kind: int) -> Column:
    """From bytes, none of them None."""
    return _bytes_column(b"".join(values), list(map(len, values)), kind)


def _bytes_column(blob: bytes, sizes: list[int], kind: int) -> Column:
    count = len(sizes)
    # One byte more, because an empty array has no address.
    keep = bytearray(blob)
    keep.append(0)
    start = ctypes.addressof(ctypes.c_char.from_buffer(keep))
    buffer = filled(count, kind)
    view = memoryview(buffer)
    view.cast("I")[1::4] = memoryview(array("I", sizes))
    starts = array("Q", accumulate(sizes, initial=start))
    view.cast("Q")[1::2] = memoryview(starts)[:count]
    return Column(buffer, count, keep)


def mixed_column(packed: Sequence[Packed]) -> Column:
    """From values packed one by one."""
    buffer = bytearray(16 * len(packed))
    offset = 0
    for form, kind, size, payload, _ in packed:
        form.pack_into(buffer, offset, kind, size, payload)
        offset += 16
    return Column(buffer, len(packed), packed)


def length_of(columns: Iterable[Sequence[object]]) -> Optional[int]:
    """The common length, or None when they differ."""
    lengths = {len(column) for column in columns}
    return lengths.pop() if len(lengths) == 1 else None
