"""The terminal: output for people, and what the extra `cli` brings for it."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from .exits import Exit, Problem

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["binary_output", "console", "needs", "notice", "speak_utf8", "table"]

# Where the output is a file or a pipe, nothing is cut.
_UNLIMITED = 100_000


def console(error: bool = False) -> Console:
    """What writes for people: in colour on a terminal that has it, unless NO_COLOR is set."""
    try:
        from rich.console import Console
    except ImportError:
        needs("rich", "13.3")

    class Output(Console):
        def on_broken_pipe(self) -> None:
            # That of Console ends the process with 1.
            raise BrokenPipeError

    stream = sys.stderr if error else sys.stdout
    # Text of files is never read as markup.
    options: dict[str, Any] = {"markup": False, "highlight": False, "emoji": False, "file": stream}
    if not stream.isatty():
        options["width"] = _UNLIMITED
    return Output(**options)


def table(*headings: str, numbers: tuple[int, ...] = (), folded: tuple[int, ...] = ()) -> Table:
    """A table with a line below its headings. Columns in `numbers` are flush right, and those in `folded` may break."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for place, heading in enumerate(headings):
        made.add_column(
            heading, justify="right" if place in numbers else "left",
            min_width=len(heading) if place in numbers else None,
            overflow="fold" if place in folded else "ellipsis", no_wrap=place not in folded)
    return made


def needs(package: str, oldest: str, is_old: bool = False) -> NoReturn:
    """Ends the command, because a package is not installed, or an old one is."""
    wanted = f"{package} {oldest} or later" if is_old else package
    raise Problem(
        Exit.MISSING, f"This needs the package {wanted}, which is not installed: {_command(package, oldest)}.")


def _command(package: str, oldest: str) -> str:
    """How the package is installed where this one comes from Debian, or from elsewhere."""
    is_debian = "/dist-packages/" in __file__
    return "apt install python3-rich" if is_debian and package == "rich" else f"pip install '{package}>={oldest}'"


def notice(sentence: str) -> None:
    """Tells on standard error what does not end the command."""
    print(f"quire: {sentence}", file=sys.stderr)


def binary_output() -> BinaryIO:
    """Standard output for what is no text. A terminal would be upset by it."""
    if sys.stdout.isatty():
        raise Problem(Exit.USAGE, "This is no text; lead it into a file or another program, as in `... > rows.arrows`.")
    sys.stdout.flush()
    return sys.stdout.buffer


def speak_utf8() -> None:
    """Output for programs is UTF-8 wherever it goes."""
    stream: object = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding="utf-8", errors="strict", newline="\n")
