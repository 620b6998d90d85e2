"""Columns of a source as an import takes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

from .._c import _arrow_read
from ..models._conversions import microseconds
from ..models.model_description import AttributeDescription
from .arrow import fits
from .exits import Exit, Problem
from .sources import Batch, Source
from .values import from_text

__all__ = ["converted", "listed", "plain", "values_of"]

_MAY_BE_EMPTY = ("String", "Binary")
# Of others a quoted text that stands for no value does so, too, unless it is a value: some programs quote every field.
_MAY_BE_TEXT = ("String", "Binary", "Transformable", "Undefined", "URI")


def plain(column: Any) -> list[Any]:
    """The values of a column of a source, which may be an array of Arrow."""
    found: Any = column
    if hasattr(column, "to_pylist"):
        # pyarrow rejects nanoseconds, and dates outside of the years 1 to 9999.
        is_of_time = str(column.type).startswith(("timestamp[", "date", "time"))
        found = _arrow_read.column(column) if is_of_time else column.to_pylist()
    return list(found)


def values_of(source: Source, batch: Batch, attribute: AttributeDescription) -> Iterable[Any]:
    """The values of a column as the attribute takes them. Arrow's arrays of its type are left to the library."""
    column = batch.columns[attribute.name]
    if hasattr(column, "to_pylist") and fits(column, attribute.type):
        if column.null_count and not attribute.optional:
            _refuse_none(source, batch, attribute, column.is_null().to_pylist().index(True))
        values: Iterable[Any] = column
        return values
    found: list[Any] = []
    for row, value in enumerate(listed(source, attribute.name, attribute.type, batch)):
        try:
            if value is None and not attribute.optional:
                if source.null != "" or attribute.type not in _MAY_BE_EMPTY:
                    _refuse_none(source, batch, attribute, row)
                value = ""
            found.append(None if value is None else converted(attribute.type, value))
        except ValueError as error:
            raise Problem(
                Exit.DATA, f"{source.name}, {source.what} {batch.places[row]}, {attribute.name}: {error}.") from None
    return found


def listed(source: Source, name: str, kind: str, batch: Batch) -> list[Any]:
    """The values of a column for attributes of type `kind`. Those that stand for no value are None."""
    try:
        found = plain(batch.columns[name])
    except (ValueError, OverflowError, OSError) as error:
        raise Problem(Exit.DATA, f"{source.name}, {name}: {str(error).rstrip('.')}.") from None
    if source.null is None or kind in _MAY_BE_TEXT or source.null not in found or _is_value(kind, source.null):
        return found
    return [None if each == source.null else each for each in found]


def _is_value(kind: str, text: str) -> bool:
    """Whether an attribute of type `kind` can hold what a text stands for."""
    try:
        value = converted(kind, text)
        return not (isinstance(value, (float, Decimal)) and math.isnan(value))
    except ValueError:
        return False


def _refuse_none(source: Source, batch: Batch, attribute: AttributeDescription, row: int) -> None:
    raise Problem(
        Exit.DATA, f"{source.name}, {source.what} {batch.places[row]}, {attribute.name}: there is no value, and the "
        "model wants one.")


def converted(kind: str, value: Any) -> Any:
    """A value as an attribute of type `kind` takes it. Raises ValueError with a reason."""
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("NaN is no number that a store keeps")
    if isinstance(value, (str, int, float, bool)):
        return from_text(kind, value)
    if isinstance(value, bytes) and kind in ("Binary", "Transformable"):
        return value
    if isinstance(value, bytes) and kind == "UUID" and len(value) == 16:
        return UUID(bytes=value)
    if isinstance(value, UUID) and kind == "UUID":
        return value
    if isinstance(value, datetime) and kind == "Date":
        return from_text("Date", value.isoformat())
    if isinstance(value, date) and kind == "Date":
        return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
    if isinstance(value, time) and kind == "Integer64":
        return microseconds(value)
    if isinstance(value, Decimal) and kind in ("Decimal", "Double", "Float"):
        return from_text(kind, str(value))
    raise ValueError(f"a {type(value).__name__} is not what {kind} holds")
