"""Arrow arrays and streams of other libraries as lists of Python values."""

from __future__ import annotations

import ctypes
import decimal
import struct
from collections.abc import Callable, Iterator, Sequence
from ctypes import addressof, byref
from datetime import date, datetime, time, timedelta, timezone
from itertools import chain, repeat
from typing import Any, Optional, Union

from ..errors import InvalidArgument, InvalidText, WrongType
from . import _arrow
from ._arrow import ArrowArray, ArrowArrayStream, ArrowSchema, Part, bits, memory, nils
from ._arrow_pack import Packing, packed
from ._values import Column

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_NUMBERS = {
    "c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "e": "e", "f": "f", "g": "d"}
_MICROSECONDS = {"s": (1000000, 1), "m": (1000, 1), "u": (1, 1), "n": (1, 1000)}
_DAY = 86400 * 1000000


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
        names = [_name(schema.children[place].contents) for place in range(schema.n_children)]
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise InvalidArgument(f"The table has several columns with the name {min(twice)!r}; rename them.")
        if any(array.null_count and nils(array) is not None for array in arrays):
            raise InvalidArgument("The table has rows that are null as a whole; leave them out.")
        return {
            name: imported.joined(
                schema.children[place].contents, [_part(array, place) for array in arrays], packing(name))
            for place, name in enumerate(names)}


def column(source: Any, packing: Optional[Packing] = None) -> Values:
    """The values of one column."""
    with Imported(source) as imported:
        parts = [(array, array.offset, array.length) for array in imported.arrays]
        return imported.joined(imported.schema, parts, packing)


def _part(array: ArrowArray, place: int) -> Part:
    child = array.children[place].contents
    # The offset of a struct counts for its children, too.
    return child, child.offset + array.offset, array.length


def _name(schema: ArrowSchema) -> str:
    return (schema.name or b"").decode("utf-8", "replace")


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
        if packing is not None and not schema.dictionary:
            found = packed(packing, _form(schema), parts, self)
            if found is not None:
                self._is_lent = True
                return found
        read = _reader(schema)
        try:
            return list(chain.from_iterable(read(*part) for part in parts))
        except UnicodeDecodeError as error:
            raise InvalidText(f"{_called(schema)} has text that is not valid UTF-8 ({error}).") from None


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


def _form(schema: ArrowSchema) -> str:
    return (schema.format or b"").decode("utf-8", "replace")


def _called(schema: ArrowSchema) -> str:
    return f"The column {_name(schema)!r}" if schema.name else "The column"


def _reader(schema: ArrowSchema) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    """What makes Python values of a slice of an array of that type."""
    plain = _values_of(_form(schema), _called(schema))

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        if count == 0:
            return []
        values = plain(array, first, count)
        if schema.dictionary:
            inner = array.dictionary.contents
            words = _reader(schema.dictionary.contents)(inner, inner.offset, inner.length)
            valid = nils(array)
            if valid is None:
                return [words[index] for index in values]
            return [words[index] if valid[row] == "1" else None for row, index in enumerate(values, first)]
        valid = nils(array)
        if valid is None:
            return values
        return [value if bit == "1" else None for value, bit in zip(values, valid[first : first + count])]

    return read


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
        valid = nils(array)
        values = numbers(array, first, count)
        if valid is None:
            return [convert(each) for each in values]
        # What stands where there is no value means nothing.
        return [convert(each) if bit == "1" else None for each, bit in zip(values, valid[first:])]

    return read


def _values_of(form: str, called: str) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    if form in _NUMBERS:
        return _numbers(_NUMBERS[form])
    if form == "n":
        return lambda array, first, count: [None] * count
    if form == "b":
        return lambda array, first, count: [
            bit == "1" for bit in bits(array.buffers[1], first + count)[first:]]
    if form in ("u", "U", "z", "Z"):
        return _spans("i" if form in "uz" else "q", form in "uU")
    if form in ("vu", "vz"):
        return _views(form == "vu")
    if form.startswith("w:"):
        width = int(form[2:])

        def pieces(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
            raw = memory(array, 1, first * width, count * width)
            return [raw[row * width : (row + 1) * width] for row in range(count)]

        return pieces
    if form.startswith("d:"):
        return _decimals([int(part) for part in form[2:].split(",")])
    if form == "tdD":
        return _mapped("i", lambda days: date(1970, 1, 1) + timedelta(days=days))
    if form == "tdm":
        return _mapped("q", lambda milliseconds: date(1970, 1, 1) + timedelta(milliseconds=milliseconds))
    if form[:2] == "tt" and form[2:] in _MICROSECONDS:
        times, divided = _MICROSECONDS[form[2]]
        return _mapped(
            "i" if form[2] in "sm" else "q",
            lambda number: (datetime.min + timedelta(microseconds=number * times // divided)).time())
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
        return microseconds / 1000000 - 978307200


def _spans(code: str, is_text: bool) -> Callable[[ArrowArray, int, int], Sequence[Any]]:
    width = struct.calcsize(code)

    def read(array: ArrowArray, first: int, count: int) -> Sequence[Any]:
        view: Any = memoryview(memory(array, 1, first * width, (count + 1) * width))
        ends: list[int] = view.cast(code).tolist()
        start = ends[0]
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
        words = memoryview(raw).cast("i").tolist()
        # Behind the buffers of values stands how long they are.
        last = array.n_buffers - 1
        lengths = memoryview(memory(array, last, 0, (last - 2) * 8)).cast("q").tolist()
        sizes = words[::4]
        valid = nils(array)
        if valid is not None:
            # What stands where there is no value means nothing.
            sizes = [size if bit == "1" else 0 for size, bit in zip(sizes, valid[first:])]
        longer = [memory(array, 2 + place, 0, size) for place, size in enumerate(lengths)]
        found = [
            raw[start : start + size] if size <= 12 else longer[buffer][offset : offset + size]
            for start, size, buffer, offset in zip(range(4, 16 * count, 16), sizes, words[2::4], words[3::4])]
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
