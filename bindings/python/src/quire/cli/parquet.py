"""Parquet files, by pyarrow."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from ..models.model_description import AttributeDescription, EntityDescription, ModelDescription
from .exits import Exit, Problem
from .opening import property_at
from .progress import Progress
from .selection import ID, Rows
from .terminal import needs

__all__ = ["read_parquet", "write_parquet"]

_ROWS_AT_A_TIME = 50_000


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        needs("pyarrow", "pyarrow")
    found: Any = pyarrow
    return found


def write_parquet(
    model: ModelDescription, entity: EntityDescription, rows: Rows, path: str, bar: Progress
) -> None:
    """Writes rows with the types of their attributes. Decimal numbers are doubles, as in the store."""
    arrow = _pyarrow()
    kinds = ["id"] if rows.shows_ids else []
    for column in rows.columns:
        found = property_at(model, entity, column)
        kinds.append(found.type if isinstance(found, AttributeDescription) else "id")
    schema = arrow.schema([
        arrow.field(heading, _type(arrow, kind)) for heading, kind in zip(rows.headings, kinds)])
    with arrow.parquet.ParquetWriter(path, schema) as file:
        for first in range(0, len(rows), _ROWS_AT_A_TIME):
            page = rows.read(first, min(_ROWS_AT_A_TIME, len(rows) - first))
            columns = [
                _array(arrow, kind, heading, first, values)
                for kind, heading, values in zip(kinds, rows.headings, zip(*page))]
            file.write_batch(arrow.record_batch(columns, schema=schema))
            bar.advance(len(page))


def _type(arrow: Any, kind: str) -> Any:
    types = {
        "id": arrow.int64(), "Integer16": arrow.int16(), "Integer32": arrow.int32(), "Integer64": arrow.int64(),
        "Double": arrow.float64(), "Float": arrow.float32(), "Decimal": arrow.float64(), "Boolean": arrow.bool_(),
        "Date": arrow.timestamp("us", tz="UTC"), "Binary": arrow.binary(), "Transformable": arrow.binary(),
    }
    return types.get(kind, arrow.string())


def _array(arrow: Any, kind: str, heading: str, first: int, values: tuple[Any, ...]) -> Any:
    if kind in ("Decimal", "UUID"):
        values = tuple(_plain(value) for value in values)
    elif kind == "Date":
        for row, value in enumerate(values, first):
            if not isinstance(value, (datetime, type(None))):
                raise Problem(
                    Exit.DATA, f"Row {row}, counted from 0: {heading} is {value} seconds after 2001, which is outside "
                    "of the years 1 to 9999. CSV and JSON Lines take it; or leave the column out with --columns.")
    try:
        return arrow.array(values, _type(arrow, kind))
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise Problem(Exit.DATA, f"The column {heading} does not fit Parquet: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return str(value).upper() if isinstance(value, uuid.UUID) else value


def read_parquet(path: str) -> tuple[int, list[str], Iterator[dict[str, list[Any]]]]:
    """The number of rows of a file, its columns, and its rows as columns of values, some at a time."""
    arrow = _pyarrow()
    try:
        file = arrow.parquet.ParquetFile(path)
    except (arrow.ArrowInvalid, arrow.ArrowIOError) as error:
        raise Problem(Exit.FILE, f"'{path}' cannot be read as Parquet: {error}") from None

    def batches() -> Iterator[dict[str, list[Any]]]:
        with file:
            for batch in file.iter_batches(_ROWS_AT_A_TIME):
                yield {name: column.to_pylist() for name, column in zip(batch.schema.names, batch.columns)}

    names = [name for name in file.schema_arrow.names if name != ID]
    return int(file.metadata.num_rows), names, batches()
