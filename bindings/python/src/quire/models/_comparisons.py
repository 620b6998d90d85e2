"""Which values a key may be compared with for equality: one that nothing equals is a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from .._c import _ffi, _values
from ._types import AttributeType

_NUMBERS = (int, float, Decimal)
_PLAIN = (*_NUMBERS, str, bytes, date, UUID)
_EQUAL: dict[int, tuple[type, ...]] = {
    _ffi.QUIRE_TYPE_STRING: (str,), _ffi.QUIRE_TYPE_URI: (str,), _ffi.QUIRE_TYPE_DATE: (date,),
    **dict.fromkeys((
        _ffi.QUIRE_TYPE_INTEGER_16, _ffi.QUIRE_TYPE_INTEGER_32, _ffi.QUIRE_TYPE_INTEGER_64, _ffi.QUIRE_TYPE_DECIMAL,
        _ffi.QUIRE_TYPE_DOUBLE, _ffi.QUIRE_TYPE_FLOAT, _ffi.QUIRE_TYPE_BOOLEAN), _NUMBERS)}
"""What values of an attribute may equal, by its type in the store. Of other types it is not known."""


def compared(operator: str, other: object) -> Iterator[object]:
    """The values that one of an attribute may equal, where that is what is asked."""
    if operator in ("==", "!="):
        yield other
    elif operator == "IN" and isinstance(other, tuple):
        yield from other


def equals_nothing(kind: AttributeType, value: object) -> bool:
    """Whether no value of the type equals it, so that a predicate would find nothing."""
    kinds = _EQUAL.get(kind.number)
    if kinds is None or not isinstance(value, _PLAIN) or isinstance(value, kind.accepted):
        return False
    if kind.number == _ffi.QUIRE_TYPE_DATE and _values.is_distant(value):
        return False
    return not isinstance(value, kinds) or _is_no_member(kind.python, value)


def _is_no_member(python: Any, value: object) -> bool:
    """Whether the attribute has values of an enumeration, and it is none of theirs."""
    return isinstance(python, type) and issubclass(python, Enum) and all(value != each.value for each in python)
