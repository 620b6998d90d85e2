"""Tables, columns, indexes, views and triggers that another program has put into a store. They stay."""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

from description import Model
from expectation import Expectation, Mapping
from layout import Layout
from store_file import connect, quoted

MARK = "APP_"
COLUMN = re.compile(r",\s*\"?APP_NOTE\"? VARCHAR", re.IGNORECASE)


class Others:
    """They are on the table of one tree of entities."""

    def __init__(self, connection: sqlite3.Connection, layout: Layout, dice: random.Random) -> None:
        self.root = dice.choice(layout.model.children(None))
        self.table = layout.table(self.root)
        table = quoted(self.table)
        for each in (
                "CREATE TABLE APP_TABLE (a, b)", "CREATE INDEX APP_INDEX ON APP_TABLE (a)",
                "CREATE VIEW APP_VIEW AS SELECT a FROM APP_TABLE", "CREATE TABLE APP_LOG (a)",
                f"ALTER TABLE {table} ADD COLUMN APP_NOTE VARCHAR",
                f"CREATE INDEX APP_NOTE_INDEX ON {table} (APP_NOTE)",
                "INSERT INTO APP_TABLE VALUES (1, 'x'), (2, NULL)",
                f"UPDATE {table} SET APP_NOTE = 'note ' || Z_PK WHERE Z_PK % 3 > 0"):
            connection.execute(each)
        for event in ("INSERT", "UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER APP_{event} AFTER {event} ON {table} "
                f"BEGIN INSERT INTO APP_LOG VALUES ('{event}'); END")

    def stays(self, mapping: Mapping, target: Model) -> bool:
        """Whether the table goes on as such, so that nothing names what is gone. A table of abstract entities alone
        does not where it becomes that of another tree's objects."""
        formers = [name for name in mapping.source.tree(self.root) if name in mapping.latter]
        roots = {target.root(mapping.latter[name]) for name in formers}
        tables = {f"Z{root.upper()}" for root in roots}
        comers = {
            mapping.source.root(mapping.former[name]) for root in roots for name in target.tree(root)
            if name in mapping.former}
        return tables == {self.table} and self.root in mapping.latter and comers == {self.root}

    def problems(self, path: str, stays: bool, expected: Expectation, target: Model) -> Iterator[str]:
        connection = connect(path)
        try:
            rows = connection.execute("SELECT * FROM APP_TABLE ORDER BY a").fetchall()
            if rows != [(1, "x"), (2, None)]:
                yield f"APP_TABLE holds {rows}"
            if connection.execute("SELECT count(*) FROM APP_LOG").fetchone() != (0,):
                yield "a trigger of another program has run"
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            wanted = {"APP_TABLE", "APP_INDEX", "APP_VIEW", "APP_LOG"}
            if stays:
                wanted |= {"APP_NOTE_INDEX", "APP_INSERT", "APP_UPDATE", "APP_DELETE"}
                yield from self._notes(connection, expected, target)
            for each in sorted(wanted - names):
                yield f"{each} is gone"
        finally:
            connection.close()

    def _notes(self, connection: sqlite3.Connection, expected: Expectation, target: Model) -> Iterator[str]:
        found: dict[int, Any] = dict(connection.execute(f"SELECT Z_PK, APP_NOTE FROM {quoted(self.table)}"))
        for entity, key in expected.objects:
            if f"Z{target.root(entity).upper()}" == self.table:
                wanted = f"note {key}" if key % 3 else None
                if found.get(key) != wanted:
                    yield f"APP_NOTE of {entity} {key} is {found.get(key)}, not {wanted}"
