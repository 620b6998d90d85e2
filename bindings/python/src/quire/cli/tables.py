"""What no fetch shows, by SQL: rows of join tables that lead to nothing, and ids that would be given again."""

from __future__ import annotations

import pathlib
import re
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple, Optional

from ..contexts.store import Store
from ..models.model_description import EntityDescription, ModelDescription, RelationshipDescription

__all__ = ["LostRows", "Tables"]

_JOIN_TABLE = re.compile(r"Z_\d+\D")
_KEY = re.compile(r"Z_(\d+)(\D.*)")


class LostRows(NamedTuple):
    """Objects that a relationship to many leads from, and to nothing."""

    entity: str
    relationship: str
    destination: str
    owners: list[int]


class Tables:
    """The tables of a store, read beside the library."""

    def __init__(self, store: Store) -> None:
        self._model: ModelDescription = store.model
        self._file = _opened(store.path)
        self._tables: set[str] = {
            name for name, in self._file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self._by_number = {each.number: each for each in self._model.entities.values()}

    def close(self) -> None:
        self._file.close()

    def too_low(self) -> Iterator[tuple[str, int, int]]:
        """Entities whose table has a key above the last one that the file knows of, with both keys."""
        for name, entity in self._model.entities.items():
            table = self._table(entity)
            if entity.parent or table is None:
                continue
            [(greatest,)] = self._file.execute(f"SELECT max(Z_PK) FROM {_quoted(table)}")
            for last, in self._file.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", (entity.number,)):
                if greatest is not None and greatest > (last or 0):
                    yield name, last or 0, greatest

    def lost(self) -> Iterator[LostRows]:
        """Relationships to many that lead to what is not there, or from there, and are not seen therefore."""
        for table in sorted(filter(_JOIN_TABLE.match, self._tables)):
            yield from self._lost_of_join_table(table)
        for entity in self._model.entities.values():
            for each in entity.properties.values():
                if isinstance(each, RelationshipDescription) and each.to_many and not each.inverse:
                    if each.entity == entity.name:
                        yield from self._lost_owners(entity, each)

    def _lost_of_join_table(self, table: str) -> Iterator[LostRows]:
        columns = self._columns(table)
        keys = [(name, found) for name in columns if (found := _KEY.fullmatch(name)) and name[:6] != "Z_FOK_"]
        entities = [(name, found[2], self._by_number.get(int(found[1]))) for name, found in keys]
        if len(entities) == 1 and "REFLEXIVE" in columns:
            entities.append(("REFLEXIVE", *entities[0][1:]))
        if len(entities) != 2:
            return
        for (own, _, owner), (key, name, destination) in (entities, entities[::-1]):
            if owner is None or destination is None:
                continue
            lost = self._leading_nowhere(table, own, key, destination)
            if lost:
                yield LostRows(owner.name, _relationship(owner, name), destination.name, lost)

    def _lost_owners(self, entity: EntityDescription, each: RelationshipDescription) -> Iterator[LostRows]:
        """A relationship to many without inverse is a column of what it leads to, with the id of its owner."""
        table, key = self._table(self._model.entities[each.destination]), f"Z{entity.number}{each.name.upper()}"
        if table is not None and key in self._columns(table):
            lost = self._leading_nowhere(table, "Z_PK", key, entity, f"{_quoted(key)} IS NOT NULL AND ")
            if lost:
                yield LostRows(each.destination, f"owner by {entity.name}.{each.name}", entity.name, lost)

    def _leading_nowhere(
        self, table: str, own: str, key: str, destination: EntityDescription, condition: str = "",
    ) -> list[int]:
        """Of the rows whose key is of no object of an entity, another column."""
        target = self._table(destination)
        if target is None:
            return []
        numbers = ", ".join(str(each) for each in self._numbers(destination))
        return [id for id, in self._file.execute(
            f"SELECT DISTINCT {_quoted(own)} FROM {_quoted(table)} AS joined WHERE {condition}NOT EXISTS (SELECT 1 "
            f"FROM {_quoted(target)} AS target WHERE target.Z_PK = joined.{_quoted(key)} AND target.Z_ENT IN "
            f"({numbers})) ORDER BY 1")]

    def _numbers(self, entity: EntityDescription) -> Iterator[int]:
        yield entity.number
        for each in self._model.entities.values():
            if each.parent == entity.name:
                yield from self._numbers(each)

    def _table(self, entity: EntityDescription) -> Optional[str]:
        """The table of an entity, which is that of its root."""
        while entity.parent:
            entity = self._model.entities[entity.parent]
        name = f"Z{entity.name.upper()}"
        return name if name in self._tables else None

    def _columns(self, table: str) -> list[str]:
        return [row[1] for row in self._file.execute(f"PRAGMA table_info({_quoted(table)})")]


def _relationship(owner: EntityDescription, upper: str) -> str:
    """The name of a relationship whose column has it in capitals, and perhaps with a number behind it."""
    found = [
        each.name for each in owner.properties.values()
        if isinstance(each, RelationshipDescription) and each.to_many and upper.startswith(each.name.upper())]
    return max(found, key=len) if found else upper


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _opened(path: str) -> sqlite3.Connection:
    """A connection that writes nothing. A folder that cannot be written has no log to read."""
    address = pathlib.Path(path).absolute().as_uri()
    file = sqlite3.connect(f"{address}?mode=ro", uri=True)
    try:
        file.execute("SELECT count(*) FROM sqlite_master")
        return file
    except sqlite3.OperationalError as error:
        file.close()
        if "locked" in str(error):
            raise
        return sqlite3.connect(f"{address}?immutable=1", uri=True)
