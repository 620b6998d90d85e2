"""Rows written as text: tables, CSV, JSON."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from typing import Any, Optional, Protocol, TextIO

from .terminal import console, notice, table
from .values import as_json, as_text, is_list, shown

__all__ = ["CSVWriter", "JSONWriter", "LinesWriter", "TableWriter", "Writer", "fitted"]

Page = Sequence[tuple[Any, ...]]


class Writer(Protocol):
    """Takes headings and some of the rows to come, then sections and pages of rows, then the end."""

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None: ...
    def section(self, name: str, count: int) -> None: ...
    def rows(self, page: Page) -> None: ...
    def end(self) -> None: ...


class CSVWriter:
    """A line of headings, and a line for each row, by RFC 4180. A section is a first column."""

    def __init__(self, stream: TextIO, null: str = "") -> None:
        self._rows = csv.writer(stream, lineterminator="\n")
        self._null = null
        self._section: list[str] = []

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        self._rows.writerow(["@section", *headings] if has_sections else headings)

    def section(self, name: str, count: int) -> None:
        self._section = [name]

    def rows(self, page: Page) -> None:
        self._rows.writerows(
            self._section + [as_text(value, self._null) for value in row] for row in page)

    def end(self) -> None: ...


class LinesWriter:
    """JSON Lines: an object on each line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._headings: list[str] = []

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        self._headings = headings

    def section(self, name: str, count: int) -> None: ...

    def rows(self, page: Page) -> None:
        for row in page:
            self._stream.write(_object(self._headings, row) + "\n")

    def end(self) -> None: ...


class JSONWriter:
    """An array of objects, one on each line; or of sections, each with its rows."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._headings: list[str] = []
        self._between = ""
        self._section: Optional[str] = None

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        self._headings = headings
        self._stream.write("[")

    def section(self, name: str, count: int) -> None:
        closing = "" if self._section is None else "]},"
        written = json.dumps(name, ensure_ascii=False)
        self._stream.write(f'{closing}\n{{"section": {written}, "count": {count}, "rows": [')
        self._section = name
        self._between = ""

    def rows(self, page: Page) -> None:
        for row in page:
            self._stream.write(f"{self._between}\n{_object(self._headings, row)}")
            self._between = ","

    def end(self) -> None:
        self._stream.write("\n]\n" if self._section is None else "]}\n]\n")


def _object(headings: list[str], row: tuple[Any, ...]) -> str:
    return json.dumps(dict(zip(headings, map(as_json, row))), ensure_ascii=False)


class TableWriter:
    """A table for people. The first rows decide how wide its columns are."""

    def __init__(self) -> None:
        self._console = console()
        self._headings: list[str] = []
        self._widths: list[int] = []
        self._numbers: tuple[int, ...] = ()
        self._is_first = True

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        from rich.cells import cell_len

        self._headings = [shown(each) for each in headings]
        columns = list(zip(self._headings, *([_cell(value) for value in row] for row in sample)))
        wanted = [max(map(cell_len, column)) for column in columns]
        self._numbers = tuple(
            place for place, column in enumerate(zip(*sample))
            if {type(value) for value in column if value is not None} & {int, float})
        self._widths = fitted(wanted, self._console.width)

    def section(self, name: str, count: int) -> None:
        from rich.text import Text

        if not self._is_first:
            self._console.print()
        title = Text.assemble((shown(name) or "(none)", "bold"), (f"  {count:,}", "dim"))
        self._console.print(title, no_wrap=True, overflow="ellipsis")

    def rows(self, page: Page) -> None:
        from rich.text import Text

        made = table(*self._headings[: len(self._widths)], numbers=self._numbers)
        made.show_header = self._is_first
        self._is_first = False
        for column, width in zip(made.columns, self._widths):
            column.width = width
        for row in page:
            made.add_row(*(Text(_cell(value)) for value in row[: len(self._widths)]))
        self._console.print(made)

    def end(self) -> None:
        if self._is_first:
            self.rows([])
        missing = len(self._headings) - len(self._widths)
        if missing:
            notice(f"{missing} of {len(self._headings)} columns do not fit; choose some with --columns.")


def fitted(wanted: list[int], width: int, between: int = 2, least: int = 8) -> list[int]:
    """Widths of columns that fit into a line. The widest give way first, and the last ones are left out."""
    kept = len(wanted)
    while kept > 1 and sum(min(each, least) for each in wanted[:kept]) + between * (kept - 1) > width:
        kept -= 1
    wanted, room = wanted[:kept], width - between * (kept - 1)
    if sum(wanted) <= room:
        return wanted
    limit = max(wanted)
    while limit > 1 and sum(min(each, limit) for each in wanted) > room:
        limit -= 1
    return [min(each, limit) for each in wanted]


def _cell(value: Any) -> str:
    """A value as the terminal shows it. What its encoding does not have is a number, before widths are measured."""
    encoding = sys.stdout.encoding or "utf-8"
    return _text(value).encode(encoding, "backslashreplace").decode(encoding)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_list(value):
        return ", ".join(map(_text, value))
    return shown(as_text(value))
