"""A progress bar on a terminal, and none elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Callable

from .terminal import console

__all__ = ["Progress", "progress"]


class Progress:
    """How far a command is."""

    def __init__(self, tell: Callable[[int], object]) -> None:
        self._tell = tell
        self.done = 0

    def advance(self, count: int) -> None:
        """So much more is done."""
        self.move(self.done + count)

    def move(self, done: int) -> None:
        """So much is done altogether."""
        self.done = done
        self._tell(done)


@contextmanager
def progress(what: str, total: int, quiet: bool) -> Generator[Progress, None, None]:
    """A bar on standard error while the block runs. A `total` of 0 is not known."""
    if quiet or not sys.stderr.isatty():
        yield Progress(lambda done: None)
        return
    out = console(error=True)
    from rich.progress import BarColumn, Progress as Bar, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Bar(*columns, console=out, transient=True) as bar:
        task = bar.add_task(what, total=total or None)
        yield Progress(lambda done: bar.update(task, completed=done))
