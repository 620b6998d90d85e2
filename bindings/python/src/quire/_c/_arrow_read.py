"""Arrow arrays and streams of other libraries as lists of Python values."""

from __future__ import annotations

import ctypes
import decimal
import operator
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof, byref
from datetime import date, datetime, time, timedelta, timezone
from itertools import islice, repeat
from typing import Any, Optional, Union

from ..errors import InvalidArgument, InvalidText, NoMemory, WrongType
from . import _arrow
from ._arrow import ArrowArray, ArrowArrayStream, ArrowSchema, Part, bits, memory, nils, shared
from ._arrow_check import Malformed, called, check, form, name
from ._arrow_pack import Packing, packed
from ._values import REFERENCE, Column

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NUMBERS = {
    "c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "e": "e", "f": "f", "g": "d"}
_MICROSECONDS = {"s": (1000000, 1), "m": (1000, 1), "u": (1, 1), "n": (1, 1000)}
_DAY = 86400 * 1000000
_INDEXES = "cCsSiIlL"


def speaks(source: object) -> bool:
    """Whether it is of Arrow's PyCapsule interface."""
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__")


Values = Union[list[Any], Column]
"""Those of a column in Python, or packed for the library."""


def table(source: Any, packing: Callable[[str], Optional[Packing]]) -> Optional[dict[str, Values]]:
    """The columns of a table by name; None for what is no table but one column.

    `packing` says what a column of that name may be packed for.
    """
    with Imported(source) as imported:
        schema, arrays = imported.schema, imported.arrays
        if schema.format != b"+s":
            return None
        names = [name(schema.children[place].contents) for place in range(schema.n_children)]
        twice = {each for each in names if names.count(each) > 1}
        if twice:
            raise InvalidArgument(f"The table has several columns with the name {min(twice)!r}; rename them.")
        if any(array.length and nils(array, array.offset, array.length) is not None for array in arrays):
            raise InvalidArgument("The table has rows that are null as a whole; leave them out.")
        return {
            each: imported.joined(
                schema.children[place].contents, [_part(array, place) for array in arrays], packing(each))
            for place, each in enumerate(names)}


def column(source: Any, packing: Optional[Packing] = None) -> Values:
    """The values of one column."""
    with Imported(source) as imported:
        parts = [(array, array.offset, array.length) for array in imported.arrays]
        return imported.joined(imported.schema, parts, packing)


def _part(array: ArrowArray, place: int) -> Part:
    child = array.children[place].contents
    # The offset of a struct counts for its children, too.
    return child, child.offset + array.offset, array.length


class Imported:
    """Type and arrays of what another library gives.

    They are released once: at the end of `with`, or with the last column that was packed in their memory.
    """

    def __init__(self, source: Any) -> None:
        self._taken: list[Any] = []
        self._is_lent = False
        try:
            if hasattr(source, "__arrow_c_stream__"):
                stream = _moved(source.__arrow_c_stream__(), ArrowArrayStream, _arrow.STREAM, self._taken)
                self.schema = ArrowSchema()
                _check(stream, stream.get_schema(addressof(stream), addressof(self.schema)))
                self._taken.append(self.schema)
                self.arrays = list(_batches(stream, self._taken))
            else:
                given = source.__arrow_c_array__()
                self.schema = _moved(given[0], ArrowSchema, _arrow.SCHEMA, self._taken)
                self.arrays = [_moved(given[1], ArrowArray, _arrow.ARRAY, self._taken)]
            check(self.schema, self.arrays)
        except BaseException:
            self._release()
            raise

    def __enter__(self) -> Imported:
        return self

    def __exit__(self, kind: Any, *rest: object) -> None:
        if kind is not None or not self._is_lent:
            self._release()

    def __del__(self) -> None:
        self._release()

    def _release(self) -> None:
        taken, self._taken = self._taken, []
        for each in reversed(taken):
            if each.release:
                each.release(addressof(each))

    def joined(self, schema: ArrowSchema, parts: list[Part], packing: Optional[Packing]) -> Values:
        """The values of a column, packed where that is possible."""
        values: list[Any] = []
        try:
            if packing is not None and not schema.dictionary:
                found = packed(packing, form(schema), parts, self)
                if found is not None:
                    self._is_lent = True
                    return found
            read = _reader(schema)
            for part in parts:
                values.extend(read(*part))
        except UnicodeDecodeError as error:
            raise InvalidText(f"{called(schema)} has text that is not valid UTF-8 ({error}).") from None
        except Malformed as error:
            raise error.told(schema, len(values)) from None
        except MemoryError:
            raise NoMemory(f"There is not enough memory for {called(schema)[0].lower()}{called(schema)[1:]}.") from None
        return values


def _batches(stream: ArrowArrayStream, taken: list[Any]) -> Iterator[ArrowArray]:
    while True:
        array = ArrowArray()
        _check(stream, stream.get_next(addressof(stream), addressof(array)))
        if not array.release:
            return
        taken.append(array)
        yield array


def _moved(capsule: Any, kind: Any, name: bytes, taken: list[Any]) -> Any:
    """The struct of a capsule, which has none any more."""
    if not _arrow.is_capsule(capsule, name):
        raise WrongType(f"a capsule {name.decode()!r} is needed, and the object gave {capsule!r:.80}")
    there = kind.from_address(_arrow.pointer_of(capsule, name))
    if not there.release:
        raise InvalidArgument(f"the capsule {name.decode()!r} was used already")
    found = kind()
    ctypes.memmove(byref(found), byref(there), ctypes.sizeof(kind))
    there.release = _arrow.Release()
    taken.append(found)
    return found


def _check(stream: ArrowArrayStream, code: int) -> None:
    if code:
        said = stream.get_last_error(addressof(stream)) if stream.get_last_error else None
        text = (said or b"").decode("utf-8", "replace") or f"error {code}"
        raise InvalidArgument(f"The Arrow stream failed: {text}")


def _reader(schema: ArrowSchema) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    """What makes Python values of a slice of an array of that type."""
    kind = form(schema)
    plain = _values_of(kind, called(schema))
    if schema.dictionary and kind not in _INDEXES:
        raise WrongType(f"{called(schema)} has indexes of a dictionary of the type {kind!r}; they are whole numbers.")

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        if count == 0:
            return []
        values = plain(array, first, count)
        valid = nils(array, first, count)
        if schema.dictionary:
            inner = array.dictionary.contents
            words = _reader(schema.dictionary.contents)(inner, inner.offset, inner.length)
            return [
                None if valid is not None and valid[row] == "0" else _word(words, index, row)
                for row, index in enumerate(values)]
        if valid is None:
            return values
        return [value if bit == "1" else None for value, bit in zip(values, valid)]

    return read


def _word(words: Sequence[Any], index: int, row: int) -> Any:
    if not 0 <= index < len(words):
        raise Malformed(f"its index {index} is none of a dictionary of {len(words)}", row)
    return words[index]


def _numbers(code: str) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    width = struct.calcsize(code)

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        raw = memory(array, 1, first * width, count * width)
        if code == "e":
            return struct.unpack(f"={count}e", raw)
        view: Any = memoryview(raw)
        found: list[Any] = view.cast(code).tolist()
        return found

    return read


def _mapped(code: str, convert: Callable[[int], Any]) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    numbers = _numbers(code)

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        # What stands where there is no value means nothing.
        valid = nils(array, first, count) or repeat("1")
        found: list[Any] = []
        try:
            for number, bit in zip(numbers(array, first, count), valid):
                found.append(convert(number) if bit == "1" else None)
        except Malformed as error:
            raise Malformed(error.cause, len(found)) from None
        return found

    return read


def _values_of(form: str, called: str) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    if form in _NUMBERS:
        return _numbers(_NUMBERS[form])
    if form == "n":
        return lambda array, first, count: [None] * count
    if form == "b":
        return lambda array, first, count: [
            bit == "1" for bit in bits(array.buffers[1], first, count)]
    if form in ("u", "U", "z", "Z"):
        return _spans("i" if form in "uz" else "q", form in "uU")
    if form in ("vu", "vz"):
        return _views(form == "vu")
    if re.fullmatch("w:[0-9]{1,9}", form):
        width = int(form[2:])

        def pieces(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
            raw = memory(array, 1, first * width, count * width)
            return [raw[row * width : (row + 1) * width] for row in range(count)]

        return pieces
    if re.fullmatch("d:[0-9]{1,3},-?[0-9]{1,3}(,(32|64|128|256))?", form):
        return _decimals([int(part) for part in form[2:].split(",")])
    if form == "tdD":
        return _mapped("i", _day)
    if form == "tdm":
        return _mapped("q", _day_of_milliseconds)
    if form[:2] == "tt" and form[2:] in _MICROSECONDS:
        times, divided = _MICROSECONDS[form[2]]
        return _mapped(
            "i" if form[2] in "sm" else "q",
            lambda number: _time(number * times // divided))
    if form[:2] == "ts" and form[3:4] == ":" and form[2] in _MICROSECONDS:
        times, divided = _MICROSECONDS[form[2]]
        one = _mapped("q", lambda number: _moment(number * times // divided))
        if (times, divided) != (1, 1):
            return one

        def moments(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
            try:
                # Without a step of Python for each.
                return list(map(_EPOCH.__add__, map(timedelta, repeat(0), repeat(0), number(array, first, count))))
            except OverflowError:
                return one(array, first, count)

        number = _numbers("q")
        return moments
    raise WrongType(
        f"{called} has the type {form!r} of Arrow's format, of which no attribute is. Cast it to numbers, texts, "
        "bytes, booleans, decimals, dates or timestamps, or leave it out.")


def _moment(microseconds: int) -> Any:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        # As dates are that datetime does not know: seconds since 2001.
        return microseconds / 1000000 - REFERENCE


def _day(days: int) -> Any:
    try:
        return date(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return _moment(days * _DAY)


def _day_of_milliseconds(milliseconds: int) -> Any:
    days, rest = divmod(milliseconds, 86400000)
    if rest:
        raise Malformed("its date64 is a moment within a day, so the column is to be cast to timestamp[ms]")
    return _day(days)


def _time(microseconds: int) -> time:
    if not 0 <= microseconds < _DAY:
        raise Malformed("its time is outside of a day")
    return (datetime.min + timedelta(microseconds=microseconds)).time()


def _spans(code: str, is_text: bool) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    width = struct.calcsize(code)

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        view: Any = memoryview(memory(array, 1, first * width, (count + 1) * width))
        ends: list[int] = view.cast(code).tolist()
        start = ends[0]
        if start < 0 or any(map(operator.gt, ends, islice(ends, 1, None))):
            row = next(row for row in range(count) if not 0 <= ends[row] <= ends[row + 1])
            raise Malformed(f"its text or bytes begin at {ends[row]} and end at {ends[row + 1]}", row)
        if ends[count] > start and not array.buffers[2]:
            raise Malformed("its buffer 2 is NULL")
        raw = memory(array, 2, start, ends[count] - start)
        if is_text and raw.isascii():
            text = raw.decode()
            return [text[ends[row] - start : ends[row + 1] - start] for row in range(count)]
        pieces = [raw[ends[row] - start : ends[row + 1] - start] for row in range(count)]
        return [piece.decode() for piece in pieces] if is_text else pieces

    return read


def _views(is_text: bool) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        raw = memory(array, 1, first * 16, count * 16)
        # Without a sign, so that what is negative is too large.
        words = memoryview(raw).cast("I").tolist()
        starts, lengths = shared(array)
        valid = nils(array, first, count)
        found = []
        for row, (size, buffer, offset) in enumerate(zip(words[::4], words[2::4], words[3::4])):
            if valid is not None and valid[row] == "0":
                # What stands where there is no value means nothing.
                found.append(b"")
            elif size <= 12:
                found.append(raw[16 * row + 4 : 16 * row + 4 + size])
            elif buffer < len(starts) and offset + size <= lengths[buffer]:
                found.append(memory(array, 2 + buffer, offset, size))
            else:
                raise Malformed("its view is of no memory that is there", row)
        return [piece.decode() for piece in found] if is_text else found

    return read


def _decimals(parts: list[int]) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    scale, width = parts[1], (parts[2] if len(parts) > 2 else 128) // 8
    exact = decimal.Context(prec=80)

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        raw = memory(array, 1, first * width, count * width)
        return [
            decimal.Decimal(int.from_bytes(raw[row * width : (row + 1) * width], "little", signed=True)).scaleb(
                -scale, exact)
            for row in range(count)]

    return read
