"""Runs a command, and ends it with a number and a sentence."""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Optional

from ..errors import Error
from .arguments import Command, parser, read
from .exits import Exit, Problem, exit_of
from .values import shown

__all__ = ["main"]

_COMMANDS = {
    "info": "info.info", "query": "querying.query", "explain": "querying.explain", "check": "check.check",
    "compact": "compacting.compact",
    "history": "history.history", "watch": "watching.watch", "migrate": "migrating.migrate",
    "convert": "converting.convert_store", "journal": "journal.journal",
    "export": "exporting.export", "import": "importing.import_rows", "browse": "browse.browse",
    "completion": "completion.completion",
}
"""The function of each command, whose module is loaded when it is run."""


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """Runs the command line and returns the number that the process ends with."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets its number.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        options = read(sys.argv[1:] if arguments is None else arguments)
        if options.command is None:
            parser().print_help(sys.stderr)
            return Exit.USAGE
        _read_utf8(options)
        module, name = _COMMANDS[options.command].split(".")
        command: Command = getattr(import_module(f".{module}", __package__), name)
        done = command(options)
        sys.stdout.flush()
        return done
    except SystemExit as ended:
        # What the parser ends with: help and version are no failures.
        return _flushed(int(ended.code or 0))
    except KeyboardInterrupt:
        # A second one may end the clean-up.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _let_go_of_output()
        return Exit.PIPE
    except (Problem, Error, OSError, MemoryError) as error:
        return _told(error)


def _read_utf8(options: argparse.Namespace) -> None:
    """Names in stores are UTF-8, whatever the locale has made of them. Paths stay what they are for the system."""
    for name, value in vars(options).items():
        if name in ("author", "entity", "columns", "section", "null") and value:
            setattr(options, name, _utf8(value))
        elif name in ("where", "sort") and value:
            setattr(options, name, list(map(_utf8, value)))


def _utf8(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _flushed(code: int) -> int:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_output()
        return Exit.PIPE
    return code


def _let_go_of_output() -> None:
    """Has Python not write at its end what the reader does not take any more."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())


def _told(error: BaseException) -> Exit:
    sentence = str(error)
    if isinstance(error, OSError) and not isinstance(error, Error):
        named = f"'{error.filename}': " if error.filename is not None else ""
        sentence = f"{named}{error.strerror or error}".rstrip(". \n") + "."
    elif isinstance(error, MemoryError) and not isinstance(error, Error):
        sentence = "There is not enough memory."
    try:
        sys.stdout.flush()
    except OSError:
        _let_go_of_output()
    # The command waits for locks as long as the library does unless told otherwise, and has no option for that.
    sentence = _utf8(sentence.replace(", or raise the timeout", ""))
    # It may quote the file, or a name that a file has.
    print("quire: " + "\n".join(map(shown, sentence.splitlines())), file=sys.stderr)
    return exit_of(error)
