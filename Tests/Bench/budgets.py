"""What the design asks of 1.0, and how far the figures are from it."""

from __future__ import annotations

import pathlib
from typing import Callable, NamedTuple, Optional

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MILLION = 1_000_000


class Figures:
    """The medians, by case, contender and rows; None where something was not measured."""

    def __init__(self, results: list[dict]) -> None:
        self.medians = {(each["case"], each["contender"], each["rows"]): each["median"] for each in results}

    def of(self, case: str, contender: str, rows: int = MILLION) -> Optional[float]:
        return self.medians.get((case, contender, rows))

    def ratio(self, case: str, contender: str, to: str, rows: int = MILLION) -> Optional[float]:
        return _divided(self.of(case, contender, rows), self.of(case, to, rows))

    def ratio_of_cases(self, case: str, to: str, contender: str, rows: int = MILLION) -> Optional[float]:
        return _divided(self.of(case, contender, rows), self.of(to, contender, rows))

    def less_commit(self, case: str, rows: int = MILLION, contender: str = "quire-c") -> Optional[float]:
        """What a change costs beside the same statements and their commit."""
        whole, commit = self.of(case, contender, rows), self.of(case, "sqlite-c-commit", rows)
        return None if whole is None or commit is None else whole - commit


def _divided(a: Optional[float], b: Optional[float], by: float = 1) -> Optional[float]:
    return a / b / by if a is not None and b else None


class Budget(NamedTuple):
    work: str
    limit: float
    unit: str
    """"x" for a ratio; times are in microseconds or milliseconds."""
    measured: Callable[[Figures], Optional[float]]
    is_least: bool = False
    """The limit is what it has to be at least."""
    is_required: bool = True
    """Without it the goal belongs to a later release."""

    def is_met(self, figures: Figures) -> Optional[bool]:
        found = self.measured(figures)
        if found is None:
            return None
        return found >= self.limit if self.is_least else found <= self.limit


def _micro(seconds: Optional[float]) -> Optional[float]:
    return None if seconds is None else seconds * 1e6


def _milli(seconds: Optional[float]) -> Optional[float]:
    return None if seconds is None else seconds * 1e3


def _stripped(_: Figures) -> Optional[float]:
    files = [each for each in (ROOT / "build/stripped").glob("libquire.so.*") if not each.is_symlink()]
    return max((each.stat().st_size for each in files), default=0) / 1e6 or None


def _headline(contender: str, peer: str) -> Budget:
    return Budget(
        f"one row changes, 1,000,000 rows: {peer} takes as many times as long as {contender}", 1000, "x",
        lambda figures: figures.ratio("live.one", peer, contender), is_least=True)


BUDGETS = [
    _headline("quire-c", "grdb"), *(_headline("quire-python", peer) for peer in ("sqlite3", "sqlalchemy", "peewee")),
    Budget("one change, 1,000,000 rows beside 10,000, from C, commit included", 1.5, "x", lambda f: _divided(
        f.of("live.one", "quire-c"), f.of("live.one", "quire-c", 10_000))),
    Budget("the same, less the commit", 1.5, "x", lambda f: _divided(
        f.less_commit("live.one"), f.less_commit("live.one", 10_000))),
    Budget("the same from Python, commit included", 1.5, "x", lambda f: _divided(
        f.of("live.one", "quire-python"), f.of("live.one", "quire-python", 10_000))),
    Budget("one row moves between sections, less the commit", 50, "us", lambda f: _micro(f.less_commit("live.one"))),
    Budget("one row is inserted, less the commit", 50, "us", lambda f: _micro(f.less_commit("live.insert"))),
    Budget("one row is deleted, less the commit", 50, "us", lambda f: _micro(f.less_commit("live.delete"))),
    Budget("one row is updated, less the commit", 50, "us", lambda f: _micro(f.less_commit("live.update"))),
    Budget("1,000 rows change in one save, each, less the commit", 30, "us", lambda f: _divided(
        _micro(f.less_commit("live.thousand")), 1000)),
    Budget("100 rows change in one save: ten lists beside one", 4, "x", lambda f: f.ratio(
        "live.ten", "quire-c", "quire-c-one", 100_000)),
    Budget("first fetch of the sectioned list beside stepping the ids", 1.3, "x", lambda f: f.ratio(
        "fetch.first", "quire-c", "sqlite-c")),
    Budget("the same from a warm cache file", 0.1, "x", lambda f: _divided(
        f.of("fetch.warm", "quire-c"), f.of("fetch.first", "sqlite-c"))),
    Budget("50 rows x 4 columns at a random place, from C", 120, "us", lambda f: _micro(f.of("window.ids", "quire-c"))),
    Budget("the same from Python", 250, "us", lambda f: _micro(f.of("window.ids", "quire-python"))),
    Budget("50 rows x 4 columns that are in memory, from C", 20, "us", lambda f: _micro(
        f.of("window.again", "quire-c"))),
    Budget("the same from Python", 60, "us", lambda f: _micro(f.of("window.again", "quire-python"))),
    Budget("the same from C, when contexts hold a moment", 80, "us", lambda f: _micro(f.of("window.ids", "quire-c")),
           is_required=False),
    Budget("longest call while another thread saves 200,000 rows, from C", 8, "ms", lambda f: _milli(
        f.of("wait.save", "quire-c"))),
    Budget("the same from Python", 16, "ms", lambda f: _milli(f.of("wait.save", "quire-python"))),
    Budget("longest call while the list is fetched, too, from C", 8, "ms", lambda f: _milli(
        f.of("wait.fetch", "quire-c"))),
    Budget("the same from Python", 16, "ms", lambda f: _milli(f.of("wait.fetch", "quire-python"))),
    Budget("longest call while a search is typed, from C", 8, "ms", lambda f: _milli(f.of("wait.query", "quire-c"))),
    Budget("the same from Python", 16, "ms", lambda f: _milli(f.of("wait.query", "quire-python"))),
    Budget("windows of two threads beside those of one, on two processors", 1.7, "x", lambda f: f.ratio_of_cases(
        "read.threads", "read.threads.2", "quire-c"), is_least=True, is_required=False),
    Budget("a commit of plain SQLite beside a context that does nothing", 2, "x", lambda f: f.ratio(
        "foreign.writer", "quire-c-idle", "sqlite-c")),
    Budget("the same beside a context that moves", 2, "x", lambda f: f.ratio("foreign.writer", "quire-c", "sqlite-c")),
    Budget("the same in a file with a change journal of all changes", 2, "x", lambda f: f.ratio(
        "foreign.writer", "sqlite-c-journal", "sqlite-c")),
    Budget("a save of one row with a change journal beside one without", 1.1, "x", lambda f: f.ratio(
        "journal", "quire-c", "quire-c-none", 100_000)),
    Budget("1,000,000 rows get an attribute beside ALTER TABLE and UPDATE", 2, "x", lambda f: f.ratio(
        "migrate", "quire-c", "sqlite-c")),
    Budget("1,000,000 rows inserted at once beside prepared inserts", 1.2, "x", lambda f: f.ratio(
        "insert.bulk", "quire-c", "sqlite-c")),
    Budget("1,000,000 objects inserted beside prepared inserts", 2.0, "x", lambda f: f.ratio(
        "insert.objects", "quire-c", "sqlite-c")),
    Budget("100,000 objects and a text of each beside stepping the columns", 2.5, "x", lambda f: f.ratio(
        "objects", "quire-c", "sqlite-c", 100_000)),
    Budget("`CONTAINS[cd]` over 1,000,000 titles beside LIKE", 1.5, "x", lambda f: f.ratio(
        "contains", "quire-c", "sqlite-c")),
    Budget("`CONTAINS[cd]` with a text index", 5, "ms", lambda f: _milli(f.of("contains.index", "quire-c"))),
    Budget("memory of the sectioned list, a row", 24, "bytes", lambda f: f.of("memory.list", "quire-c")),
    Budget("from Python, 100,000 rows: all as objects beside sqlite3's tuples", 1.2, "x", lambda f: f.ratio(
        "all", "quire-python", "sqlite3", 100_000)),
    Budget("from Python, 100,000 rows: the ids beside sqlite3", 0.4, "x", lambda f: f.ratio(
        "ids", "quire-python", "sqlite3", 100_000)),
    Budget("from Python, 100,000 rows: bulk insert beside sqlite3", 1.2, "x", lambda f: f.ratio(
        "insert.bulk", "quire-python", "sqlite3", 100_000)),
    Budget("from Python: memory of an object that is held", 450, "bytes", lambda f: f.of(
        "memory.objects", "quire-python", 100_000)),
    Budget("from Python: the first of 100,000 sections after a change", 1, "ms", lambda f: _milli(
        f.of("live.sections", "quire-python", 100_000))),
    Budget("size of the library, stripped", 10, "MB", _stripped),
    Budget("loading the library", 5, "ms", lambda f: _milli(f.of("import", "quire-c", 0))),
    Budget("`import quire`", 60, "ms", lambda f: _milli(f.of("import", "quire-python", 0))),
]
