"""`quire query` and `quire explain`."""

from __future__ import annotations

import argparse
import sys

from .arrow import write_stream
from .exits import Exit
from .opening import opened
from .selection import Selection, rows_of
from .terminal import binary_output, speak_utf8
from .values import shown
from .writers import CSVWriter, JSONWriter, TableWriter, Writer

__all__ = ["explain", "query"]


def query(options: argparse.Namespace) -> Exit:
    """Writes the rows of an entity."""
    with opened(options.file, options.where or ()) as store:
        selection = Selection.of(store, options)
        rows = rows_of(store, selection, options, exports=False)
        has_sections = selection.section is not None
        if options.format == "arrow":
            write_stream(rows, binary_output(), has_sections=has_sections)
            return Exit.DONE
        writer = _writer(options.format)
        writer.begin(rows.headings, next(rows.pages(), ()), has_sections)
        if has_sections:
            for section in rows.live.sections:
                writer.section(section.name, len(section))
                for page in rows.pages(section.start, len(section)):
                    writer.rows(page)
        else:
            for page in rows.pages():
                writer.rows(page)
        writer.end()
    return Exit.DONE


def _writer(format: str) -> Writer:
    if format == "table":
        return TableWriter()
    speak_utf8()
    return CSVWriter(sys.stdout) if format == "csv" else JSONWriter(sys.stdout)


def explain(options: argparse.Namespace) -> Exit:
    """Prints the SQL of a query, SQLite's plan, and the parts that no index serves."""
    with opened(options.file, options.where or ()) as store:
        selection = Selection.of(store, options)
        text = selection.query.explain()
        for line in text.splitlines():
            print(shown(line))
    return Exit.DONE
