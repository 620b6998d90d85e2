"""What is imported: files, as columns of values."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, NamedTuple, Optional, TextIO, TypeVar

from .arrow import open_table
from .comma_separated import Reader
from .exits import Exit, Problem
from .terminal import notice

__all__ = ["Batch", "Source", "open_source"]

_ROWS_AT_A_TIME = 5000
_T = TypeVar("_T")


class Batch(NamedTuple):
    """Some rows of a source."""

    columns: dict[str, Any]
    """Values by column: lists of text, of what JSON has, or arrays of Arrow."""
    size: int
    places: list[int]
    """The line of each row, or its number, for messages."""
    position: int
    """How much of the source has been read, of `Source.total`."""


class Source(NamedTuple):
    """A file whose rows are imported."""

    name: str
    """What messages call it."""
    names: list[str]
    """Its columns."""
    batches: Iterator[Batch]
    total: int
    """Its size, 0 where it is not known."""
    what: str
    """What `places` count."""
    null: Optional[str] = None
    """The text that stands for no value, where there is one."""


@contextmanager
def open_source(path: str, format: str, null: str) -> Generator[Source, None, None]:
    """Opens a file while the block runs, or standard input where the path is "-"."""
    if format in ("parquet", "arrow"):
        yield _table(path, format)
        return
    if path == "-" and sys.stdin.isatty():
        notice("The rows are read from the keyboard; Ctrl-D ends them.")
    stream: BinaryIO = sys.stdin.buffer if path == "-" else open(path, "rb")
    name = "standard input" if path == "-" else f"'{path}'"
    total = 0 if path == "-" else os.fstat(stream.fileno()).st_size
    # A mark at the beginning, as programs of Windows write, is no text.
    with io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        yield _csv(name, text, total, null) if format == "csv" else _lines(name, text, total)


def _position(text: TextIO, total: int) -> int:
    return text.buffer.tell() if total else 0


def _csv(name: str, text: TextIO, total: int, null: str) -> Source:
    rows = Reader(text, null)
    headings = next(_guarded(name, rows, iter(rows.headings, None)), None)
    if headings is None:
        raise Problem(Exit.DATA, f"{name} is empty; its first line names the columns.")
    _check_once(name, headings)

    def batches() -> Iterator[Batch]:
        numbered = _guarded(name, rows, iter(rows))
        while True:
            page = list(itertools.islice(numbered, _ROWS_AT_A_TIME))
            if not page:
                return
            for line, row in page:
                if len(row) != len(headings):
                    raise Problem(
                        Exit.DATA, f"{name}, line {line}: {len(row)} values, and the first line names "
                        f"{len(headings)} columns.")
            columns = zip(*(row for _, row in page))
            yield Batch(
                {heading: rows.values(column) for heading, column in zip(headings, columns)}, len(page),
                [line for line, _ in page], _position(text, total))

    return Source(name, headings, batches(), total, "line", null)


def _check_once(name: str, columns: Sequence[str]) -> None:
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise Problem(Exit.DATA, f"{name} has the column '{min(twice)}' more than once.")


def _guarded(name: str, reader: Optional[Reader], found: Iterator[_T]) -> Iterator[_T]:
    """What reading text fails with, as a sentence."""
    try:
        yield from found
    except csv.Error as error:
        line = None if reader is None else reader.line_num
        raise Problem(Exit.DATA, f"{name}, line {line}: {error}.") from None
    except UnicodeDecodeError:
        raise Problem(Exit.DATA, f"{name} is not in UTF-8.") from None


def _lines(name: str, text: TextIO, total: int) -> Source:
    objects = _objects(name, _guarded(name, None, text))
    first = next(objects, None)
    names: list[str] = [] if first is None else list(first[1])
    everything = itertools.chain([] if first is None else [first], objects)

    def batches() -> Iterator[Batch]:
        while True:
            page = list(itertools.islice(everything, _ROWS_AT_A_TIME))
            if not page:
                return
            for line, row in page:
                more = [each for each in row if each not in known]
                if more:
                    raise Problem(
                        Exit.DATA, f"{name}, line {line}: the first line has no '{more[0]}'; it names all columns.")
            yield Batch(
                {each: [row.get(each) for _, row in page] for each in names}, len(page), [line for line, _ in page],
                _position(text, total))

    known = set(names)
    return Source(name, names, batches(), total, "line")


def _objects(name: str, lines: Iterator[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise Problem(Exit.DATA, f"{name}, line {number}: no JSON: {error}.") from None
        if not isinstance(found, dict):
            raise Problem(Exit.DATA, f"{name}, line {number}: an object is needed, with a value for each column.")
        yield number, found


def _table(path: str, format: str) -> Source:
    if path == "-" and format == "parquet":
        raise Problem(Exit.USAGE, "Parquet is read from a file, not from standard input.")
    table = open_table(path, format, sys.stdin.buffer if path == "-" else None)
    name = "standard input" if path == "-" else f"'{path}'"
    _check_once(name, table.names)

    def batches() -> Iterator[Batch]:
        done = 0
        for columns in table.batches:
            count = len(next(iter(columns.values()), ()))
            yield Batch(columns, count, list(range(done, done + count)), done + count)
            done += count

    return Source(name, table.names, batches(), table.total, "row")
