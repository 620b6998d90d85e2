"""Arrays of NumPy as values of attributes, without NumPy itself. Its dates are of UTC."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timezone
from typing import Any

from .._c._values import REFERENCE
from ..errors import Error, InvalidArgument

_DAYS = ("Y", "M", "W", "D")
_MISSING = {"NAType": "value is pandas.NA", "MaskedConstant": "value is numpy.ma.masked"}
_FINE = ("ns", "ps", "fs", "as")
_SECOND = 1000000
_MICROSECONDS = {
    "W": 604800 * _SECOND, "D": 86400 * _SECOND, "h": 3600 * _SECOND, "m": 60 * _SECOND, "s": _SECOND, "ms": 1000,
    "us": 1}


def is_array(value: object) -> bool:
    """Whether it is an array of NumPy, which may be masked."""
    return any(each.__module__ == "numpy" and each.__name__ == "ndarray" for each in type(value).__mro__)


def is_missing(value: Any) -> bool:
    """Whether it stands for a missing value in NumPy or pandas."""
    if type(value).__name__ in _MISSING:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        # Such as an array, which compares its elements.
        return False


def with_none(missing: Any) -> str:
    """How to write a column with None in place of such a value."""
    return f"[None if {_MISSING.get(type(missing).__name__, 'value != value')} else value for value in column]"


def values(column: Any, has_days: bool) -> Sequence[Any]:
    """The values of an array, None for what is masked, and days where `has_days` and the array's are.

    Raises `InvalidArgument` with the row for a date that is none.
    """
    found: list[Any] = _dates(column, has_days) if column.dtype.kind == "M" and column.ndim == 1 else column.tolist()
    return found


def moment(value: Any, has_days: bool) -> Any:
    """A datetime64 as the value of an attribute."""
    try:
        return _dates(value.reshape(1), has_days)[0]
    except Error as error:
        error.row = None
        raise


def _dates(column: Any, has_days: bool) -> list[Any]:
    # What is masked means nothing in the plain array.
    mask = getattr(column, "mask", None)
    plain = column if mask is None else column.data
    if mask is not None and mask.ndim == 0:
        mask = None
    _refuse(_rows(plain != plain, mask), (
        "NaT is no date; give None instead, as in numpy.ma.array(column, mask=numpy.isnat(column))"))
    # Such as datetime64[25s].
    times, unit = re.fullmatch(r"datetime64\[?(\d*)(\w*)\]?", column.dtype.name).groups()  # type: ignore[union-attr]
    found: list[Any]
    if has_days and unit in _DAYS:
        near = plain.astype("datetime64[D]")
        found = near.tolist()
        far = _rows(near.astype(plain.dtype) != plain, mask)
        known = None if mask is None else mask.tolist()
        far += [
            row for row, each in enumerate(found) if type(each) is not date and not (known is not None and known[row])]
        _refuse(sorted(far), "its year is not one from 1 to 9999")
    else:
        near = plain.astype("datetime64[us]")
        found = [
            each.replace(tzinfo=timezone.utc) if isinstance(each, datetime) else
            # As dates are that datetime does not know: seconds since 2001.
            each if each is None else each / _SECOND - REFERENCE
            for each in near.tolist()]
        # Beyond 64 bits NumPy counts from the other end.
        far = [] if unit in _FINE else _rows(near.astype(plain.dtype) != plain, mask)
        if far and unit in _MICROSECONDS:
            numbers = plain.astype("int64")
            for row in far:
                found[row] = int(numbers[row]) * int(times or 1) * _MICROSECONDS[unit] / _SECOND - REFERENCE
        elif far:
            # Years and months are of several lengths.
            seconds = plain.astype("datetime64[s]")
            _refuse(_rows(seconds.astype(plain.dtype) != plain, mask), "it is too far from 1970 for seconds in 64 bits")
            numbers = seconds.astype("int64")
            for row in far:
                found[row] = float(int(numbers[row]) - int(REFERENCE))
    for row in () if mask is None else _rows(mask, None):
        found[row] = None
    return found


def _rows(are: Any, mask: Any) -> list[int]:
    found: list[int] = (are if mask is None else are & ~mask).nonzero()[0].tolist()
    return found


def _refuse(rows: list[int], cause: str) -> None:
    if rows:
        error = InvalidArgument(cause)
        error.row = rows[0]
        raise error
