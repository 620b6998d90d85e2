"""What a store holds, read with plain SQL: objects, values, and relationships from both sides."""

from __future__ import annotations

import os
import sqlite3
import struct
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Optional

import store_file
from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGERS, STRING, TRANSFORMABLE, URI, UUID, Attribute, Model,
    Relationship)
from layout import Layout
from store_file import quoted

# The entity of an object, which is never abstract, and its key.
Reference = tuple[str, int]
INLINE, FILE = 1, 2


@dataclass(frozen=True)
class MissingFile:
    """Stands for the bytes of an external file that is not there."""

    name: str


@dataclass
class Object:
    entity: str
    key: int
    version: int
    values: dict[str, Any] = field(default_factory=dict)
    one: dict[str, Optional[Reference]] = field(default_factory=dict)
    # In their order, or by entity and key when they have none.
    many: dict[str, list[Reference]] = field(default_factory=dict)

    @property
    def reference(self) -> Reference:
        return (self.entity, self.key)


class Reading:
    """A whole store. Objects are found by their table and key."""

    def __init__(self, connection: sqlite3.Connection, model: Model, path: str) -> None:
        self.model = model
        self.layout = Layout(model, store_file.tables(connection))
        self.support = store_file.support_folder(path)
        # What no rule of the format explains.
        self.surprises: list[str] = []
        # To-one values that hold the key of no row.
        self.dangling: list[tuple[Reference, str, int]] = []
        # The external files that rows name and that are there.
        self.files: set[str] = set()
        self.objects: dict[tuple[str, int], Object] = {}
        self._row_of: dict[Reference, dict[str, Any]] = {}
        for root in model.children(None):
            self._read_table(connection, root)
        for found in self.objects.values():
            self._read_values(found, self._row_of[found.entity, found.key])
        for name in model.entities:
            self._read_to_many(connection, name)

    def get(self, entity: str, key: int) -> Optional[Object]:
        return self.objects.get((self.layout.table(entity), key))

    def of_entity(self, entity: str, subentities: bool) -> list[Object]:
        wanted = set(self.model.tree(entity)) if subentities else {entity}
        return [each for each in self.objects.values() if each.entity in wanted]

    def counts(self) -> dict[str, tuple[int, int]]:
        """For each entity the number of its objects, without and with those of entities below it."""
        alone = {name: 0 for name in self.model.entities}
        for each in self.objects.values():
            alone[each.entity] += 1
        return {name: (alone[name], sum(alone[each] for each in self.model.tree(name))) for name in alone}

    def totals(self) -> tuple[int, int, int, int]:
        """Objects, values, to-one relationships that hold something, and members of to-many relationships."""
        objects = self.objects.values()
        return (
            len(objects), sum(len(each.values) for each in objects),
            sum(1 for each in objects for held in each.one.values() if held is not None),
            sum(len(members) for each in objects for members in each.many.values()))

    def _surprise(self, text: str) -> None:
        self.surprises.append(text)

    def _read_table(self, connection: sqlite3.Connection, root: str) -> None:
        table = self.layout.table(root)
        cursor = connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY Z_PK")
        names = [each[0] for each in cursor.description]
        tree = self.model.tree(root)
        for values in cursor:
            row = dict(zip(names, values))
            entity = self.layout.names.get(row["Z_ENT"])
            if entity not in tree:
                self._surprise(f"{table} {row['Z_PK']} is of entity {row['Z_ENT']}")
                continue
            if self.model.entities[entity].abstract:
                self._surprise(f"{table} {row['Z_PK']} is of the abstract entity {entity}")
            if not isinstance(row["Z_OPT"], int) or row["Z_OPT"] < 1:
                self._surprise(f"{table} {row['Z_PK']} has the version {row['Z_OPT']}")
            found = Object(entity, row["Z_PK"], row["Z_OPT"])
            self.objects[table, found.key] = found
            self._row_of[entity, found.key] = row

    def _read_values(self, found: Object, row: dict[str, Any]) -> None:
        for name, each in sorted(self.model.properties(found.entity).items()):
            if each.transient:
                continue
            where = f"{found.entity} {found.key} {name}"
            if isinstance(each, Attribute):
                try:
                    found.values[name] = self.decode(each, row[self.layout.column(found.entity, name)])
                except ValueError as error:
                    self._surprise(f"{where}: {error}")
                    found.values[name] = row[self.layout.column(found.entity, name)]
            elif isinstance(each, Relationship) and not each.many:
                found.one[name] = self._to_one(found, each, row, where)

    def _to_one(self, found: Object, each: Relationship, row: dict[str, Any], where: str) -> Optional[Reference]:
        key = row[self.layout.column(found.entity, each.name, "key")]
        number = None
        numbered = self.layout.has(found.entity, each.name, "entity")
        if numbered:
            number = row[self.layout.column(found.entity, each.name, "entity")]
        if key is None:
            if number is not None:
                self._surprise(f"{where} holds nothing of entity {number}")
            return None
        to = self.get(each.destination, key)
        if to is None:
            self.dangling.append((found.reference, each.name, key))
            entity = self.layout.names.get(number) if number is not None else None
            return (entity or each.destination, key)
        if not self.model.is_kind(to.entity, each.destination):
            self._surprise(f"{where} holds {to.reference}, which is no {each.destination}")
        if numbered and number != self.layout.numbers[to.entity]:
            self._surprise(f"{where} holds {to.reference} as entity {number}")
        return to.reference

    # Values.

    def decode(self, attribute: Attribute, value: Any) -> Any:
        """A value as Python has it; ValueError for one that the type does not allow. Dates are seconds since 2001."""
        if value is None:
            return None
        kind = attribute.type
        if kind in (BINARY, TRANSFORMABLE) and isinstance(value, bytes):
            return self.external(value) if attribute.external else value
        if kind in INTEGERS and isinstance(value, int):
            return value
        if kind == BOOLEAN and value in (0, 1) and isinstance(value, int):
            return bool(value)
        if kind in (DOUBLE, FLOAT, DATE) and isinstance(value, (int, float)):
            if kind == FLOAT and struct.unpack("f", struct.pack("f", value))[0] != value:
                raise ValueError(f"{value} is no number of 32 bits")
            return float(value)
        if kind == DECIMAL and isinstance(value, (int, float)):
            return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        if kind in (STRING, URI) and isinstance(value, str):
            return value
        if kind == UUID and isinstance(value, bytes) and len(value) == 16:
            return uuid.UUID(bytes=value)
        raise ValueError(f"{str(value)[:40]} is no value of type {kind}")

    def external(self, value: bytes) -> Any:
        """The bytes behind a prefix, or of the file that is named there."""
        if value[:1] == bytes([INLINE]):
            return value[1:]
        if value[:1] == bytes([FILE]) and len(value) == 38 and value[-1:] == b"\x00":
            name = value[1:-1].decode("ascii")
            path = os.path.join(self.support, str(uuid.UUID(name)).upper())
            if not os.path.isfile(path):
                return MissingFile(name)
            self.files.add(os.path.basename(path))
            with open(path, "rb") as file:
                return file.read()
        raise ValueError(f"external data with the prefix {value[:1].hex()} and {len(value)} bytes")

    # To-many relationships.

    def _read_to_many(self, connection: sqlite3.Connection, entity: str) -> None:
        """Reads the to-many relationships that an entity itself declares."""
        above = self.model.parent(entity)
        inherited = self.model.properties(above) if above else {}
        for name, each in self.model.entities[entity].properties.items():
            if not isinstance(each, Relationship) or not each.many or each.transient or name in inherited:
                continue
            owners = self.of_entity(entity, True)
            for owner in owners:
                owner.many[name] = []
            inverse = self.model.inverse(each)
            if inverse is None:
                pairs = self._by_owner_column(entity, each)
            elif inverse.many:
                pairs = self._by_join_table(connection, entity, name)
            else:
                pairs = self._by_to_one(entity, each, inverse)
            self._sort(entity, each, pairs)

    def _sort(self, entity: str, each: Relationship, pairs: list[tuple[int, int, Any]]) -> None:
        members: dict[int, list[tuple[Any, Reference]]] = {}
        for owner_key, member_key, order in pairs:
            owner, member = self.get(entity, owner_key), self.get(each.destination, member_key)
            where = f"{entity} {owner_key} {each.name}"
            if owner is None or member is None:
                self.dangling.append(((entity, owner_key), each.name, member_key))
                continue
            if not self.model.is_kind(owner.entity, entity) or not self.model.is_kind(member.entity, each.destination):
                self._surprise(f"{where} holds {member.reference}")
                continue
            if each.ordered and not isinstance(order, int):
                self._surprise(f"{where} has {member.reference} at the place {order}")
            members.setdefault(owner_key, []).append((order if each.ordered else 0, member.reference))
        for owner_key, found in members.items():
            places = [order for order, _ in found]
            if each.ordered and len(set(places)) < len(places):
                self._surprise(f"{entity} {owner_key} {each.name} has two members at one place")
            owner = self.get(entity, owner_key)
            assert owner is not None
            found.sort(key=lambda pair: (pair[0] is not None, pair[0] or 0, pair[1]))
            owner.many[each.name] = [reference for _, reference in found]

    def _by_to_one(self, entity: str, each: Relationship, inverse: Relationship) -> list[tuple[int, int, Any]]:
        found: list[tuple[int, int, Any]] = []
        for member in self.of_entity(each.destination, True):
            row = self._row_of[member.reference]
            key = row[self.layout.column(member.entity, inverse.name, "key")]
            order = row[self.layout.column(member.entity, inverse.name, "order")] if each.ordered else None
            # An owner of another entity of the table has its own relationship of this name.
            owner = self.get(entity, key) if key is not None else None
            if owner is not None and self.model.is_kind(owner.entity, entity):
                found.append((key, member.key, order))
        return found

    def _by_owner_column(self, entity: str, each: Relationship) -> list[tuple[int, int, Any]]:
        column = self.layout.column(entity, each.name, "owner")
        order = self.layout.column(entity, each.name, "owner order") if each.ordered else None
        found = []
        for member in self.of_entity(each.destination, True):
            row = self._row_of[member.reference]
            if row[column] is not None:
                found.append((row[column], member.key, row[order] if order else None))
        return found

    def _by_join_table(
        self, connection: sqlite3.Connection, entity: str, name: str
    ) -> list[tuple[int, int, Any]]:
        join = self.layout.join(entity, name)
        order = quoted(join.order) if join.order else "NULL"
        found = list(connection.execute(
            f"SELECT {quoted(join.owner)}, {quoted(join.member)}, {order} FROM {quoted(join.table)}"))
        if join.reflexive:
            # A pair is stored once, and holds in both directions.
            known = {(owner, member) for owner, member, _ in found}
            found += [(member, owner, place) for owner, member, place in found if (member, owner) not in known]
        return found


def one_sided(reading: Reading) -> list[str]:
    """The references that the other side of a relationship does not hold."""
    sides: dict[tuple[Reference, str, Reference], Optional[str]] = {}
    for found in reading.objects.values():
        for each in reading.model.relationships(found.entity):
            if each.transient or reading.model.inverse(each) is None:
                continue
            held = found.one.get(each.name)
            for to in found.many.get(each.name, [held] if held else []):
                if reading.get(*to) is not None:
                    sides[found.reference, each.name, to] = each.inverse
    return [
        f"{member} {inverse} does not hold {owner}, which holds it as {name}"
        for (owner, name, member), inverse in sides.items() if (member, inverse, owner) not in sides]
