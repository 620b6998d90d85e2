"""Rows as Arrow: Parquet files, and the files and streams of Arrow itself, by pyarrow."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from decimal import Decimal
from typing import Any, BinaryIO, Callable, NamedTuple, Optional
from uuid import UUID

from ..errors import InvalidArgument
from .exits import Exit, Problem
from .progress import Progress
from .selection import ID, Rows
from .terminal import needs
from .values import as_text

__all__ = ["Table", "fits", "open_table", "write_parquet", "write_stream", "write_file"]

_ROWS_AT_A_TIME = 50_000
_OLDEST = 14
"""The first version that takes the library's columns without a copy."""
_MAGIC = b"ARROW1"
SECTION = "@section"


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        needs("pyarrow", str(_OLDEST))
    found: Any = pyarrow
    if int(found.__version__.split(".")[0]) < _OLDEST:
        needs("pyarrow", str(_OLDEST), is_old=True)
    return found


def write_parquet(rows: Rows, path: str, bar: Progress) -> None:
    """Writes rows into a file of Parquet."""
    arrow = _pyarrow()
    tables = _Tables(arrow, rows)
    with arrow.parquet.ParquetWriter(path, tables.schema) as file:
        _write(tables, file, bar)


def write_file(rows: Rows, path: str, bar: Progress) -> None:
    """Writes rows into a file of Arrow, in which a reader finds each batch."""
    arrow = _pyarrow()
    tables = _Tables(arrow, rows)
    with arrow.OSFile(path, "wb") as sink, arrow.ipc.new_file(sink, tables.schema) as file:
        _write(tables, file, bar)


def write_stream(rows: Rows, stream: BinaryIO, bar: Optional[Progress] = None, has_sections: bool = False) -> None:
    """Writes rows as a stream of Arrow, which a reader takes as it comes."""
    arrow = _pyarrow()
    tables = _Tables(arrow, rows, has_sections)
    with arrow.ipc.new_stream(stream, tables.schema) as file:
        _write(tables, file, bar)


def _write(tables: _Tables, file: Any, bar: Optional[Progress]) -> None:
    for table in tables:
        file.write_table(table)
        if bar is not None:
            bar.advance(table.num_rows)


class _Tables:
    """The rows of a list as tables of one schema, some at a time.

    The library makes the columns. Those whose type depends on their values have one type here: decimal numbers are
    doubles, as in the store. Whole numbers have the size that the model says.
    """

    def __init__(self, arrow: Any, rows: Rows, has_sections: bool = False) -> None:
        self._arrow = arrow
        self._rows = rows
        self._has_sections = has_sections
        self._made = self._library_table(0, 0).schema
        fields = [arrow.field(SECTION, arrow.string())] if has_sections else []
        fields += [arrow.field(heading, self._type(heading, kind)) for heading, kind in zip(rows.headings, rows.kinds)]
        self.schema = arrow.schema(fields)
        sections = [(each.start, each.name) for each in rows.live.sections] if has_sections else []
        self._starts = [start for start, _ in sections]
        self._names = [name for _, name in sections]

    def _type(self, heading: str, kind: str) -> Any:
        arrow = self._arrow
        if heading == ID:
            return arrow.int64()
        related = heading in self._rows.many
        found = {
            "Integer16": arrow.int16(), "Integer32": arrow.int32(), "Float": arrow.float32(),
            "Decimal": arrow.float64()}.get(kind)
        if found is None:
            found = _related_type(arrow, kind) if related else self._made.field(heading).type
        return arrow.list_(found) if related else found

    def _library_table(self, first: int, count: int) -> Any:
        """The columns that the library reads."""
        if not self._rows.plain:
            return self._arrow.table({})
        return self._arrow.table(self._rows.live.columns(*self._rows.plain, first=first, count=count))

    def __iter__(self) -> Iterator[Any]:
        rows = self._rows
        for first in range(0, len(rows), _ROWS_AT_A_TIME):
            yield self._table(first, min(_ROWS_AT_A_TIME, len(rows) - first))

    def _table(self, first: int, count: int) -> Any:
        arrow, rows = self._arrow, self._rows
        try:
            made = self._library_table(first, count)
        except InvalidArgument as error:
            # A date that a timestamp does not reach.
            after = f" (counted from row {first:,})" if first else ""
            raise Problem(Exit.DATA, f"{error}{after} CSV and JSON take it.") from None
        related = rows.related(first, count)
        columns: list[Any] = []
        for field in self.schema:
            if field.name == SECTION and self._has_sections:
                columns.append(arrow.array(self._sections(first, count), field.type))
            elif field.name == ID:
                columns.append(arrow.array(rows.live.ids[first : first + count], field.type))
            elif field.name in related:
                columns.append(self._lists(field, related[field.name]))
            else:
                columns.append(self._fitted(made.column(field.name), field, first))
        return arrow.table(columns, schema=self.schema)

    def _fitted(self, column: Any, field: Any, first: int) -> Any:
        """A column of the library in the type that the file has for it."""
        if column.type == field.type:
            return column
        if str(column.type).startswith("decimal"):
            # Arrow's cast multiplies by a power of ten, and is off by one bit for many prices. Text is exact.
            column = column.cast(self._arrow.string())
        try:
            return column.cast(field.type)
        except self._arrow.ArrowInvalid:
            bits = field.type.bit_width
            row, number = next(
                (row, each) for row, each in enumerate(column.to_pylist())
                if each is not None and not -(2 ** (bits - 1)) <= each < 2 ** (bits - 1))
            raise Problem(
                Exit.DATA, f"The number {number} in row {first + row:,} of '{field.name}' does not fit into {bits} "
                "bits, which the model gives it. CSV and JSON take it.") from None

    def _lists(self, field: Any, values: list[list[Any]]) -> Any:
        """Lists, whose UUIDs are text."""
        plain = [[_for_arrow(each) for each in members] for members in values]
        try:
            return self._arrow.array(plain, field.type)
        except (self._arrow.ArrowInvalid, self._arrow.ArrowTypeError) as error:
            raise Problem(Exit.DATA, f"The column {field.name} does not fit Arrow: {error}.") from None

    def _sections(self, first: int, count: int) -> list[str]:
        """The name of the section that each row is in."""
        names: list[str] = []
        place = bisect_right(self._starts, first) - 1
        while len(names) < count:
            end = self._starts[place + 1] if place + 1 < len(self._starts) else len(self._rows)
            names += [self._names[place]] * min(end - first - len(names), count - len(names))
            place += 1
        return names


def _for_arrow(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return as_text(value) if isinstance(value, UUID) else value


def _related_type(arrow: Any, kind: str) -> Any:
    types = {
        "id": arrow.int64(), "Integer64": arrow.int64(), "Double": arrow.float64(), "Boolean": arrow.bool_(),
        "Date": arrow.timestamp("us", tz="UTC"), "Binary": arrow.binary(), "Transformable": arrow.binary()}
    return types.get(kind, arrow.string())


class Table(NamedTuple):
    """A file or a stream that is read."""

    names: list[str]
    batches: Iterator[dict[str, Any]]
    """Some rows at a time, as columns by name."""
    total: int
    """How many rows there are, 0 where that is not known."""


def open_table(path: str, format: str, stream: Optional[BinaryIO]) -> Table:
    """What is in a file of Parquet or of Arrow, or in a stream of Arrow."""
    arrow = _pyarrow()
    guard = _guard(arrow, path, format, stream)
    with guard():
        if format == "parquet":
            file = arrow.parquet.ParquetFile(path)
            batches = _columns(file.iter_batches(_ROWS_AT_A_TIME), guard)
            return Table(file.schema_arrow.names, batches, file.metadata.num_rows)
        if stream is None:
            with open(path, "rb") as opened:
                is_file = opened.read(len(_MAGIC)) == _MAGIC
            if is_file:
                reader = arrow.ipc.open_file(arrow.memory_map(path))
                found = (reader.get_batch(place) for place in range(reader.num_record_batches))
                return Table(reader.schema.names, _columns(found, guard), 0)
        reader = arrow.ipc.open_stream(stream or arrow.OSFile(path))
        return Table(reader.schema.names, _columns(reader, guard), 0)


_Guard = Callable[[], AbstractContextManager[None]]


def _guard(arrow: Any, path: str, format: str, stream: Optional[BinaryIO]) -> _Guard:
    """What names the file in the sentence that pyarrow fails with."""
    @contextmanager
    def guard() -> Generator[None, None, None]:
        try:
            yield
        except (arrow.ArrowInvalid, arrow.ArrowIOError) as error:
            if isinstance(error, OSError) and not os.path.isfile(path) and stream is None:
                raise
            name = "Standard input" if stream is not None else f"'{path}'"
            kind = "Parquet" if format == "parquet" else "Arrow"
            reason = " ".join(str(error).split()).rstrip(". ")
            raise Problem(Exit.FILE, f"{name} cannot be read as {kind}: {reason}.") from None
    return guard


def _columns(batches: Iterable[Any], guard: _Guard) -> Iterator[dict[str, Any]]:
    rest = iter(batches)
    while True:
        # Damage behind the beginning is found when it is read.
        with guard():
            batch = next(rest, None)
        if batch is None:
            return
        for first in range(0, batch.num_rows, _ROWS_AT_A_TIME):
            part = batch.slice(first, _ROWS_AT_A_TIME)
            yield dict(zip(part.schema.names, part.columns))


def fits(column: Any, kind: str) -> bool:
    """Whether a column has the type of an attribute, so that the library takes it as it is."""
    written = str(column.type)
    if kind.startswith("Integer"):
        return written.startswith(("int", "uint"))
    if kind in ("Double", "Float"):
        return written in ("double", "float", "halffloat") or written.startswith("int")
    if kind == "Date":
        return written.startswith("timestamp[")
    exact = {
        "String": ("string", "large_string"), "Boolean": ("bool",), "Binary": ("binary", "large_binary"),
        "Transformable": ("binary", "large_binary"), "UUID": ("extension<arrow.uuid>",)}
    return written in exact.get(kind, ()) or (kind == "Decimal" and written.startswith("decimal128"))
