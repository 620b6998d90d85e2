"""`quire export`: the rows of an entity into a file."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from typing import Optional, TextIO

from .arrow import write_file, write_parquet, write_stream
from .exits import Exit, Problem, ending_in_order
from .opening import opened
from .progress import Progress, progress
from .selection import Rows, Selection, rows_of
from .store_names import check_belongs_to_no_store
from .terminal import binary_output, notice, speak_utf8
from .writers import CSVWriter, LinesWriter

__all__ = ["export", "format_of"]

ENDINGS = {
    ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet", ".arrow": "arrow", ".feather": "arrow",
    ".arrows": "arrow"}
_STREAMS = ".arrows"
"""So ends the name of a file of Arrow that is a stream."""
_OF_A_STORE = ("", "-wal", "-shm", "-journal")
"""So end the names of the files of a store."""


def format_of(given: Optional[str], path: str) -> str:
    """The format that is given, or that the name of a file ends with."""
    found = given or ENDINGS.get(os.path.splitext(path)[1].lower())
    if found is None:
        raise Problem(
            Exit.USAGE, f"'{path}' does not end in {', '.join(ENDINGS)}; say which format it has with --format.")
    return found


def export(options: argparse.Namespace) -> Exit:
    """Writes the rows of an entity into a file, which appears whole or not at all, or to standard output."""
    format = format_of(options.format or ("csv" if options.output == "-" else None), options.output)
    with opened(options.file, options.where or ()) as store:
        rows = rows_of(store, Selection.of(store, options), options, exports=True)
        if options.output == "-":
            if format == "parquet":
                raise Problem(Exit.USAGE, "Parquet is written into a file, not to standard output.")
            if format == "arrow":
                write_stream(rows, binary_output())
                return Exit.DONE
            speak_utf8()
            _write_text(rows, format, options.null, sys.stdout, None)
            return Exit.DONE
        _check_output(options.output, options.file, options.force)
        with ending_in_order(), _replacing(options.output) as path, \
                progress("exporting", len(rows), options.quiet) as bar:
            if format == "parquet":
                write_parquet(rows, path, bar)
            elif format == "csv" or format == "jsonl":
                with open(path, "w", encoding="utf-8", newline="\n") as text:
                    _write_text(rows, format, options.null, text, bar)
            elif options.output.endswith(_STREAMS):
                with open(path, "wb") as stream:
                    write_stream(rows, stream, bar)
            else:
                write_file(rows, path, bar)
        if not options.quiet:
            notice(f"{len(rows):,} {'row is' if len(rows) == 1 else 'rows are'} in {options.output}.")
    return Exit.DONE


def _check_output(path: str, store: str, force: bool) -> None:
    """Refuses what an export would destroy: the store itself, what is no file, and, unless forced, what is there."""
    its_own = [os.path.realpath(store) + ending for ending in _OF_A_STORE]
    if os.path.realpath(path) in its_own or any(_is_same(path, each) for each in its_own):
        raise Problem(Exit.USAGE, f"'{path}' is the store that is exported, or belongs to it. Give another path.")
    check_belongs_to_no_store(path)
    if os.path.isdir(path):
        raise Problem(Exit.FILE, f"'{path}' is a folder. Give the path of a file.")
    if os.path.exists(path) and not os.path.isfile(path):
        raise Problem(Exit.FILE, f"'{path}' is no regular file, so none can take its place. - is standard output.")
    if os.path.lexists(path) and not force:
        raise Problem(Exit.FILE, f"'{path}' is there already; --force replaces it.")


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def _write_text(rows: Rows, format: str, null: str, stream: TextIO, bar: Optional[Progress]) -> None:
    writer = CSVWriter(stream, null) if format == "csv" else LinesWriter(stream)
    writer.begin(rows.headings, (), False)
    for page in rows.pages():
        writer.rows(page)
        if bar is not None:
            bar.advance(len(page))
    writer.end()


@contextmanager
def _replacing(path: str) -> Generator[str, None, None]:
    """A new file beside `path`, which takes its place at the end. A name that cannot be is told as it was given.

    A symbolic link stays one: the file that it leads to is replaced.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    try:
        descriptor, made = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    os.close(descriptor)
    try:
        yield made
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(made, 0o666 & ~mask)
        os.replace(made, target)
    except BaseException:
        os.unlink(made)
        raise
