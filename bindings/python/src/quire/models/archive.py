"""Keyed archives: what Core Data puts into a transformable attribute unless its program says otherwise."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Union

from .._c._load import library, quick
from ..errors import WrongType, failure
from ..predicates import _evaluation

__all__ = ["decode"]


def decode(data: Union[bytes, bytearray, memoryview]) -> Any:
    """What NSKeyedArchiver has written, as dict, list, str, int, float, bool, bytes, datetime, Decimal, UUID or None.

    Sets come as lists and dates as UTC. An object of another class is a dict of what it archived, with the name of the
    class under `"$class"`. Raises `InvalidArgument` for what is no archive, and `Unsupported` when an object contains
    itself.
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise WrongType(f"an archive is bytes, not {type(data).__name__}")
    content = bytes(data)
    error, given = c_void_p(), c_void_p()
    status = library.quire_archive_decode(content, len(content), byref(given), byref(error))
    if status:
        raise failure(status, error)
    try:
        return _evaluation.python_value(quick.quire_evaluation_value(given).contents, None)
    finally:
        quick.quire_evaluation_release(given)
