"""CSV by RFC 4180, in which a quoted text and a bare one differ.

Nothing between two commas is no value, and "" is an empty text. A text that stands for no value is itself in quotes.
Python's `csv` tells the two apart from version 3.12 on, and for the empty one alone.

In a file of one column a bare field would be an empty line, which readers skip. Both are "" there, and are no value.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

__all__ = ["Reader", "can_stand_bare", "line_of"]

_SPECIAL = re.compile('[",\r\n]')
# A field of a line: quoted; quoted, and going on in the next line; bare.
_FIELD = re.compile(r'(?:\A|(?<=,))(?:"([^"]*(?:""[^"]*)*)"(?=[,\r\n]|\Z)|".*|[^,]*)', re.DOTALL)
_REST = re.compile('[^"]*(?:""[^"]*)*"')
# What UTF-8 has no bytes for, and so no file has.
_EMPTY, _MARKER = "\udfff", "\udffe"

def can_stand_bare(null: str) -> bool:
    """Whether a text can stand for no value. One that needs quotes would be a text."""
    return not _SPECIAL.search(null)


def line_of(texts: Sequence[str], values: Sequence[object], null: str) -> str:
    """A line of texts. Those whose value is None are `null`, and stand bare."""
    line = ",".join(texts)
    if (
        '"' not in line and "\n" not in line and "\r" not in line and line.count(",") == len(texts) - 1
        and len(texts) > 1 and texts.count(null) == values.count(None) and (null == "" or "" not in texts)
    ):
        return line + "\n"
    bare = null or ("" if len(texts) > 1 else '""')
    return ",".join(
        bare if value is None else _quoted(text) if text in ("", null) or _SPECIAL.search(text) else text
        for text, value in zip(texts, values)) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


class Reader:
    """The rows of a file, which `csv` reads. Quoted fields that it would take for bare ones are marked before."""

    def __init__(self, lines: Iterable[str], null: str) -> None:
        csv.field_size_limit(2**31 - 1)
        self._null = null
        self._rows = csv.reader(self._marked(lines), strict=True)
        self._last = 0
        """The last line of the row before."""
        self._tells = True
        """Whether a quoted field differs from a bare one."""
        self._has_marks = False
        self._quoted = {_EMPTY: "", _MARKER: null}
        self._meanings: dict[str, Optional[str]] = {null: None, **self._quoted}

    @property
    def line_num(self) -> int:
        """The number of the line that was read last."""
        return self._rows.line_num

    def headings(self) -> Optional[list[str]]:
        """The first row; None where there is none."""
        found = next(self._rows, None)
        self._last = self.line_num
        if found is None:
            return None
        self._tells = len(found) > 1 or self._null != ""
        return [self._quoted.get(each, each) for each in found]

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """The rows after the headings, each with the number of its last line. An empty line is no row."""
        rows = self._rows
        for row in rows:
            self._last = rows.line_num
            if row:
                yield self._last, row

    def values(self, column: Iterable[str]) -> list[Optional[str]]:
        """The values of some fields of rows."""
        if self._has_marks:
            meanings = self._meanings
            return [meanings.get(each, each) for each in column]
        null = self._null
        return [None if each == null else each for each in column]

    def _marked(self, lines: Iterable[str]) -> Iterator[str]:
        quoted = f'"{self._null}"'
        for line in lines:
            if ('""' in line or quoted in line) and self._tells:
                line = self._with_marks(line)
            yield line

    def _with_marks(self, line: str) -> str:
        # More than one line belongs to a row where a quoted field goes on.
        end = 0
        if self.line_num != self._last:
            found = _REST.match(line)
            if found is None:
                return line
            end = found.end()
        return line[:end] + _FIELD.sub(self._mark, line[end:])

    def _mark(self, found: re.Match[str]) -> str:
        text = found[1]
        if text is None or text not in ("", self._null):
            return found[0]
        self._has_marks = True
        return _MARKER if text else _EMPTY
