"""Rows written as text: tables, CSV, JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, Optional, Protocol, TextIO

from .comma_separated import line_of
from .terminal import console, notice
from .values import as_json, as_text, is_list, shown

__all__ = ["CSVWriter", "JSONWriter", "LinesWriter", "TableWriter", "Writer", "fitted"]

_BETWEEN = 2
# In less, a value cannot be read.
_LEAST = 12
Page = Sequence[tuple[Any, ...]]


class Writer(Protocol):
    """Takes headings and some of the rows to come, then sections and pages of rows, then the end."""

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None: ...
    def section(self, name: str, count: int) -> None: ...
    def rows(self, page: Page) -> None: ...
    def end(self) -> None: ...


class CSVWriter:
    """A line of headings, and a line for each row. A section is a first column."""

    def __init__(self, stream: TextIO, null: str = "") -> None:
        self._stream = stream
        self._null = null
        self._section: list[str] = []

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        all_of_them = ["@section", *headings] if has_sections else headings
        self._stream.write(line_of(all_of_them, all_of_them, self._null))

    def section(self, name: str, count: int) -> None:
        self._section = [name]

    def rows(self, page: Page) -> None:
        section, null = self._section, self._null
        self._stream.write("".join(
            line_of(section + [as_text(value, null) for value in row], (*section, *row), null) for row in page))

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
    """A table for people. The first rows decide how wide its columns are.

    On a terminal what is longer is cut. Elsewhere it is not, and the columns after it stand further right. Rich draws
    the headings alone: it would take minutes for a million rows.
    """

    def __init__(self) -> None:
        self._console = console()
        self._cuts = self._console.is_terminal
        self._headings: list[str] = []
        self._widths: list[int] = []
        self._numbers: set[int] = set()
        self._is_first = True

    def begin(self, headings: list[str], sample: Page, has_sections: bool) -> None:
        self._headings = [_cell(each) for each in headings]
        columns = list(zip(self._headings, *([_cell(value) for value in row] for row in sample)))
        wanted = [max(map(_cells_of, column)) for column in columns]
        self._numbers = {
            place for place, column in enumerate(zip(*sample))
            if {type(value) for value in column if value is not None} & {int, float}}
        self._widths = fitted(wanted, self._console.width, least=_LEAST)

    def section(self, name: str, count: int) -> None:
        from rich.text import Text

        if not self._is_first:
            self._console.print()
        title = Text.assemble((_cell(name) or "(none)", "bold"), (f"  {count:,}", "dim"))
        self._console.print(title, no_wrap=True, overflow="ellipsis")

    def rows(self, page: Page) -> None:
        if self._is_first:
            self._is_first = False
            self._head()
        lines = [self._line([_cell(value) for value in row[: len(self._widths)]]) for row in page]
        self._console.file.write("".join(lines))

    def _head(self) -> None:
        from rich.text import Text

        line = "─" * (sum(self._widths) + _BETWEEN * (len(self._widths) - 1))
        headings = self._line(self._headings[: len(self._widths)]).rstrip("\n")
        self._console.print(Text(headings, "bold"), soft_wrap=True)
        self._console.print(Text(line if _shows(line) else line.replace("─", "-"), "dim"), soft_wrap=True)

    def _line(self, cells: list[str]) -> str:
        parts: list[str] = []
        for place, (text, width) in enumerate(zip(cells, self._widths)):
            room = width - _cells_of(text)
            if room < 0 and self._cuts:
                from rich.cells import set_cell_size

                text = set_cell_size(text, width - 1) + ("…" if _shows("…") else "~")
            elif room > 0:
                text = " " * room + text if place in self._numbers else text + " " * room
            parts.append(text)
        return (" " * _BETWEEN).join(parts).rstrip(" ") + "\n"

    def end(self) -> None:
        if self._is_first:
            self.rows([])
        missing = len(self._headings) - len(self._widths)
        if missing:
            notice(f"{missing} of {len(self._headings)} columns do not fit; choose some with --columns.")


def fitted(wanted: list[int], width: int, between: int = _BETWEEN, least: int = 8) -> list[int]:
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


def _cells_of(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _shows(text: str) -> bool:
    """Whether the output has letters for a text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _cell(value: Any) -> str:
    """A value as the terminal shows it. What its encoding does not have is a number, before widths are measured."""
    text = _text(value)
    if text.isascii() or _shows(text):
        return text
    encoding = sys.stdout.encoding
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if is_list(value):
        return ", ".join(map(_text, value))
    return shown(as_text(value))
