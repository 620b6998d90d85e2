"""Arrow arrays as columns of a bulk insert, without a Python object for each value."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Sequence
from itertools import islice, repeat
from typing import Any, Callable, NamedTuple, Optional

from . import _ffi, _values
from ._arrow import ArrowArray, Part, bits, memory, nils, shared

_Payload = tuple["array[Any]", Optional[Sequence[int]]]
"""Numbers, or addresses with the size of each."""

_WIDE = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q"}
_INTEGERS = {_ffi.QUIRE_TYPE_INTEGER_16: 16, _ffi.QUIRE_TYPE_INTEGER_32: 32, _ffi.QUIRE_TYPE_INTEGER_64: 64}
_TEXTS = {_ffi.QUIRE_TYPE_STRING: _ffi.QUIRE_VALUE_TEXT, _ffi.QUIRE_TYPE_URI: _ffi.QUIRE_VALUE_URI}
_DATA = {_ffi.QUIRE_TYPE_BINARY: _ffi.QUIRE_VALUE_DATA, _ffi.QUIRE_TYPE_TRANSFORMABLE: _ffi.QUIRE_VALUE_DATA}
_PER_SECOND = {"s": 1, "m": 1000, "u": 1000000}
# Of the years 1 to 9999. What is outside of them has another form in Python, and is read value by value.
_FIRST, _END = -62135596800.0, 253402300799.0


class Packing(NamedTuple):
    """What a column is packed for."""

    number: int
    """A `quire_attribute_type`."""
    takes_nil: bool


_FLAGS = bytes.maketrans(b"01", b"\0\1")


class _Unfit(Exception):
    """What one of the values has to be looked at for."""


def packed(packing: Packing, form: str, parts: Sequence[Part], keep: object) -> Optional[_values.Column]:
    """The column in the form of the library; None where values have to be read one by one, some for a message.

    Texts and bytes stay in the memory of the arrays, which `keep` keeps.
    """
    found = _maker(packing.number, form)
    if found is None:
        return None
    kind, make = found
    total = sum(count for _, _, count in parts)
    buffer = _values.filled(total, kind)
    whole = memoryview(buffer).cast("B")
    start = 0
    for source, first, count in parts:
        if count == 0:
            continue
        here: Any = whole[16 * start : 16 * (start + count)]
        start += count
        valid = nils(source, first, count)
        if valid is not None and not packing.takes_nil:
            return None
        try:
            payload, sizes = make(source, first, count, valid)
        except (_Unfit, OverflowError):
            return None
        here.cast(payload.typecode)[1::2] = memoryview(payload)
        if sizes is not None:
            here.cast("I")[1::4] = memoryview(array("I", sizes))
        if valid is not None:
            kinds, row = here.cast("I"), valid.find("0")
            while row >= 0:
                kinds[4 * row] = _ffi.QUIRE_VALUE_NIL
                row = valid.find("0", row + 1)
    return _values.Column(buffer, total, keep)


def _maker(number: int, form: str) -> Optional[tuple[int, Callable[[ArrowArray, int, int, Optional[str]], _Payload]]]:
    """The kind of the values, and what makes their payload of a slice."""
    if number in _INTEGERS and form in _WIDE:
        return _ffi.QUIRE_VALUE_INTEGER, _integers(_WIDE[form], _INTEGERS[number])
    if number == _ffi.QUIRE_TYPE_DOUBLE and form in "gf":
        return _ffi.QUIRE_VALUE_DOUBLE, lambda source, first, count, _: (
            array("d", _numbers("d" if form == "g" else "f", source, first, count)), None)
    if number == _ffi.QUIRE_TYPE_BOOLEAN and form == "b":
        return _ffi.QUIRE_VALUE_BOOLEAN, _booleans
    if number == _ffi.QUIRE_TYPE_DATE and form[:2] == "ts" and form[3:4] == ":" and form[2] in _PER_SECOND:
        return _ffi.QUIRE_VALUE_DATE, _moments(_PER_SECOND[form[2]])
    for kinds, offsets, views in ((_TEXTS, ("u", "U"), "vu"), (_DATA, ("z", "Z"), "vz")):
        if number in kinds and form in offsets:
            return kinds[number], _spans("q" if form.isupper() else "i")
        if number in kinds and form == views:
            return kinds[number], _views
    return None


def _numbers(code: str, source: ArrowArray, first: int, count: int) -> array[Any]:
    found = array(code)
    found.frombytes(memory(source, 1, first * found.itemsize, count * found.itemsize))
    return found


def _integers(code: str, width: int) -> Callable[[ArrowArray, int, int, Optional[str]], _Payload]:
    least, most = -(2 ** (width - 1)), 2 ** (width - 1) - 1
    is_sure = array(code).itemsize * 8 < width or (array(code).itemsize * 8 == width and code.islower())

    def make(source: ArrowArray, first: int, count: int, valid: Optional[str]) -> _Payload:
        found = _numbers(code, source, first, count)
        if not is_sure and not (least <= min(found) and max(found) <= most):
            raise _Unfit
        return (found if code == "q" else array("q", found)), None

    return make


def _booleans(source: ArrowArray, first: int, count: int, valid: Optional[str]) -> _Payload:
    # The first byte of a number is that of a boolean.
    flags = bits(source.buffers[1], first, count)
    return array("q", memoryview(flags.encode().translate(_FLAGS))), None


def _moments(per_second: int) -> Callable[[ArrowArray, int, int, Optional[str]], _Payload]:
    def make(source: ArrowArray, first: int, count: int, valid: Optional[str]) -> _Payload:
        found = array("d", map(operator.truediv, _numbers("q", source, first, count), repeat(per_second)))
        if not (_FIRST <= min(found) and max(found) < _END):
            raise _Unfit
        return found, None

    return make


def _spans(code: str) -> Callable[[ArrowArray, int, int, Optional[str]], _Payload]:
    def make(source: ArrowArray, first: int, count: int, valid: Optional[str]) -> _Payload:
        ends = _numbers(code, source, first, count + 1)
        # Ends that descend make sizes that this array does not take.
        sizes = array("I", map(operator.sub, islice(ends, 1, None), ends))
        start = source.buffers[2] or 0
        if ends[0] < 0 or (not start and ends[count] > ends[0]):
            raise _Unfit
        return array("Q", map(start.__add__, islice(ends, count))), sizes

    return make


def _views(source: ArrowArray, first: int, count: int, valid: Optional[str]) -> _Payload:
    # Without a sign, so that what is negative is too large.
    words = memoryview(memory(source, 1, 16 * first, 16 * count)).cast("I")
    sizes = words[::4].tolist()
    if valid is not None:
        # What stands where there is no value means nothing.
        sizes = [size if bit == "1" else 0 for size, bit in zip(sizes, valid)]
    start = source.buffers[1] + 16 * first + 4
    places = range(start, start + 16 * count, 16)
    if max(sizes) <= 12:
        return array("Q", places), sizes
    starts, lengths = shared(source)
    try:
        return array("Q", [
            place if size <= 12 else starts[buffer] + offset if offset + size <= lengths[buffer] else _unfit()
            for place, size, buffer, offset in zip(places, sizes, words[2::4].tolist(), words[3::4].tolist())]), sizes
    except IndexError:
        raise _Unfit from None


def _unfit() -> int:
    raise _Unfit
