"""The cases: what is done, by whom, and with how many rows."""

from __future__ import annotations

from typing import NamedTuple

SCALE = (10_000, 100_000, 1_000_000)
WINDOW = 50
"""So many rows are shown at a time."""
MIDDLE = (100_000,)
LARGE = (100_000, 1_000_000)

QUIRE_PYTHON = "quire-python"
PYTHON_PEERS = ("sqlite3", "sqlalchemy", "peewee")
PYTHON = (QUIRE_PYTHON, *PYTHON_PEERS)
NATIVE_PEERS = ("sqlite-c-requery", "grdb")
EVERYONE = ("grdb", *PYTHON)


class Case(NamedTuple):
    name: str
    title: str
    rows: tuple[int, ...]
    others: tuple[str, ...] = EVERYONE
    """The contenders that take part beside the C program, which has Quire and SQLite in it."""
    most: int = 1_000_000
    """The others have no more rows than that, save for quire-python."""
    in_c: str = "="
    """What the C program calls it, "" when it does not take part."""
    rounds: int = 1
    """How often the contenders take turns."""
    also: tuple[str, ...] = ()
    """Further names under which the C program reports what it does in this case."""
    unit: str = "s"


CASES = [
    Case("live.one", "one row changes, and the displayed, sectioned list is right again", SCALE),
    Case("live.insert", "the same for a new row", SCALE, most=100_000),
    Case("live.delete", "the same for a row that is deleted", SCALE, most=100_000),
    # An observation of ids and authors, as GRDB's users have it for a list, is not told of a new title.
    Case("live.update", "the same for a row that keeps its place", SCALE, others=PYTHON, most=100_000),
    Case("live.thousand", "the same for 1,000 rows that move, in one save", SCALE),
    Case("live.ten", "100 rows change in one save, and ten lists with queries of their own are right again", MIDDLE,
         others=(), rounds=3, also=("live.ten.told",)),
    Case("live.sections", "the first section of a list of as many sections, right after a change", MIDDLE,
         others=(QUIRE_PYTHON,), in_c=""),
    Case("fetch.first", "first fetch of the sorted, sectioned list, from a file that was just opened", SCALE),
    Case("fetch.warm", "the same from the cache file that an earlier fetch has left", SCALE, others=(QUIRE_PYTHON,),
         in_c="fetch.first"),
    Case("ids", "the ids in order", MIDDLE, rounds=2),
    Case("window", "50 rows at a random place; the peers by OFFSET", SCALE),
    Case("window.ids", "50 rows at a random place; the peers have all ids", SCALE, in_c="window"),
    Case("window.again", "the same 50 rows, whose objects are held", SCALE, others=(QUIRE_PYTHON,), in_c="window"),
    Case("filter", "the first 50 of those that fulfil a condition, in another order", MIDDLE),
    Case("contains", "`CONTAINS[cd]` over all titles; the peers by LIKE", LARGE, most=100_000,
         also=("contains.exact", "contains.latin", "contains.greek")),
    Case("contains.index", "`CONTAINS[cd]` with a text index", (1_000_000,), others=(),
         also=("contains.index.exact", "searchable.insert", "searchable.save")),
    Case("equal", "`==` with an index", (1_000_000,), others=()),
    Case("any", "`ANY tags.name ==` over a many-to-many relationship", (1_000_000,), others=()),
    Case("objects", "all as objects, and a text of each", MIDDLE, rounds=2, also=("page",)),
    Case("all", "all as objects", MIDDLE, others=PYTHON, in_c="", rounds=2),
    Case("insert.bulk", "insert many rows at once", LARGE, most=100_000, rounds=2),
    Case("insert.objects", "insert one object for each row", LARGE, most=100_000),
    Case("cascade", "delete the root of a tree of objects", (10_000, 100_000), others=(QUIRE_PYTHON, "sqlalchemy"),
         most=10_000),
    Case("cascade.batch", "delete the root of a tree in the store", MIDDLE,
         others=("grdb", QUIRE_PYTHON, "sqlite3", "peewee")),
    Case("open", "open a file and read one text", MIDDLE),
    Case("import", "load the library", (0,), others=PYTHON, in_c=""),
    Case("wait.save", "the longest call of a thread that reads 50 rows every 2 ms and merges, while another saves "
         "200,000 rows at once", LARGE, others=(QUIRE_PYTHON, "sqlite3", "sqlalchemy"),
         most=100_000, also=("wait.save.median",)),
    Case("wait.fetch", "the same while the list is fetched for the first time", LARGE,
         others=(QUIRE_PYTHON, "sqlite3", "sqlalchemy"), most=100_000, also=("wait.fetch.median",)),
    Case("wait.edit", "the longest save of one row by the thread that draws, every 100 ms meanwhile", LARGE, others=(),
         also=("wait.edit.median",)),
    Case("wait.query", "the longest call of a thread that reads 50 rows every 2 ms, and gives its list another "
         "query for each key that is typed", LARGE, others=(QUIRE_PYTHON,), also=("wait.query.median",)),
    Case("read.threads", "50 rows at a random place, by one thread and by two and four with a context each; time for "
         "each window", LARGE, others=(), also=("read.threads.2", "read.threads.4")),
    Case("foreign.writer", "a commit by plain SQLite, alone, beside a context that does nothing, and one that moves 20 "
         "times a second", LARGE, others=()),
    Case("journal", "a save of one row that waits for the disk, with a change journal of saves, of all changes, and "
         "with none", MIDDLE, others=(),
         also=("journal.relaxed", "journal.thousand", "journal.insert", "journal.sql")),
    Case("migrate", "an attribute with a default is added to all rows; SQLite by ALTER TABLE and UPDATE", LARGE,
         others=()),
    Case("memory.list", "memory of the sectioned list", SCALE, unit="bytes a row"),
    Case("memory.objects", "memory of all as objects", MIDDLE, unit="bytes a row"),
]
CASES = [case._replace(in_c=case.name) if case.in_c == "=" else case for case in CASES]
NAMES = [case.name for case in CASES]


def case_of(name: str) -> Case:
    """The case, also of a further name."""
    return next(case for case in CASES if name == case.name or name in case.also)


def takes_part(case: Case, contender: str, rows: int) -> bool:
    return contender in case.others and (rows <= case.most or contender == QUIRE_PYTHON)
