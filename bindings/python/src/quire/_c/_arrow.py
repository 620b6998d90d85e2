"""Arrow's PyCapsule interface: pages as schemas, arrays and streams for other libraries, and streams of theirs.

The structs are those of "The Arrow C data interface" and "The Arrow C stream interface" of Apache Arrow.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_int64, c_void_p, py_object
from typing import Any, Optional

from ..errors import failure
from ._load import library


class ArrowSchema(ctypes.Structure):
    """Names and types."""


class ArrowArray(ctypes.Structure):
    """Values."""


class ArrowArrayStream(ctypes.Structure):
    """Arrays one after another."""


Release = CFUNCTYPE(None, c_void_p)

ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64), ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))), ("dictionary", POINTER(ArrowSchema)), ("release", Release),
    ("private_data", c_void_p)]
ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64), ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)), ("children", POINTER(POINTER(ArrowArray))), ("dictionary", POINTER(ArrowArray)),
    ("release", Release), ("private_data", c_void_p)]
ArrowArrayStream._fields_ = [
    ("get_schema", CFUNCTYPE(c_int, c_void_p, c_void_p)), ("get_next", CFUNCTYPE(c_int, c_void_p, c_void_p)),
    ("get_last_error", CFUNCTYPE(c_char_p, c_void_p)), ("release", Release), ("private_data", c_void_p)]

SCHEMA, ARRAY, STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"
_python = ctypes.PyDLL(None)
_new_capsule = _python.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = py_object, (c_void_p, c_char_p, c_void_p)
is_capsule = _python.PyCapsule_IsValid
is_capsule.restype, is_capsule.argtypes = c_int, (py_object, c_char_p)
pointer_of = _python.PyCapsule_GetPointer
pointer_of.restype, pointer_of.argtypes = c_void_p, (py_object, c_char_p)

# Structs and the capsules that point to them. A capsule has no destructor: that would be Python, and a capsule may end
# while an exception is on its way. Those that nothing else refers to are swept away when the next ones are made.
_lent: list[tuple[ctypes.Structure, Any]] = []
_lock = threading.Lock()


def _capsule(lent: Any, name: bytes) -> Any:
    made = _new_capsule(ctypes.addressof(lent), name, None)
    with _lock:
        _lent.append((lent, made))
    return made


def sweep() -> None:
    """Releases what was lent in capsules that are gone."""
    gone = []
    with _lock:
        for place in range(len(_lent) - 1, -1, -1):
            # The tuple refers to its capsule, and so does the argument of the call.
            if sys.getrefcount(_lent[place][1]) <= 2:
                gone.append(_lent.pop(place)[0])
    for each in gone:
        if each.release:
            each.release(ctypes.addressof(each))


def schema(page: int, column: int) -> Any:
    """A capsule with the type of a column of a page, or of all (-1)."""
    made = ArrowSchema()
    _export(library.quire_page_export_arrow, page, column, byref(made), None)
    return _capsule(made, SCHEMA)


def array(page: int, column: int) -> tuple[Any, Any]:
    """Capsules with the type and the values."""
    made, values = ArrowSchema(), ArrowArray()
    _export(library.quire_page_export_arrow, page, column, byref(made), byref(values))
    return _capsule(made, SCHEMA), _capsule(values, ARRAY)


def stream(page: int, column: int, batch_rows: int = 0) -> Any:
    """A capsule with a stream of the values, in arrays of at most so many rows."""
    made = ArrowArrayStream()
    _export(library.quire_page_stream_arrow, page, column, batch_rows, byref(made))
    return _capsule(made, STREAM)


def _export(call: Any, *arguments: Any) -> None:
    sweep()
    error = c_void_p()
    status = call(*arguments, byref(error))
    if status:
        raise failure(status, error)


Part = tuple[ArrowArray, int, int]
"""An array, and the first of so many of its rows."""


def nils(array: ArrowArray, first: int, count: int) -> Optional[str]:
    """A character for each value of a part: "0" for a nil. None when there is none."""
    if array.null_count == 0 or array.n_buffers == 0 or not array.buffers[0]:
        return None
    valid = bits(array.buffers[0], first, count)
    return valid if "0" in valid else None


def bits(address: int, first: int, count: int) -> str:
    """A character for each bit of a part, the first one first."""
    # From its byte on: an array may be the last of many slices of one buffer.
    start, before = divmod(first, 8)
    number = int.from_bytes(ctypes.string_at(address + start, (before + count + 7) // 8), "little")
    return f"{number:0{before + count}b}"[::-1][before : before + count]


def memory(array: ArrowArray, buffer: int, start: int, size: int) -> bytes:
    """A copy of a part of a buffer."""
    address = array.buffers[buffer]
    return ctypes.string_at(address + start, size) if size and address else b""


def shared(array: ArrowArray) -> tuple[list[int], list[int]]:
    """Addresses and lengths of the buffers that views point into."""
    starts = [array.buffers[place] or 0 for place in range(2, array.n_buffers - 1)]
    # The last buffer says how long those of the values are.
    lengths = struct.unpack(f"={len(starts)}q", memory(array, array.n_buffers - 1, 0, 8 * len(starts)))
    return starts, [length if start else 0 for start, length in zip(starts, lengths)]
