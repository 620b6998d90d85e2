"""Which tables, columns and join tables hold the objects of a model."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Optional

from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGERS, STRING, TRANSFORMABLE, URI, UUID, Attribute, Model,
    Relationship)

SQL_TYPES = {
    **{each: "INTEGER" for each in INTEGERS}, BOOLEAN: "INTEGER", DOUBLE: "FLOAT", FLOAT: "FLOAT", DECIMAL: "DECIMAL",
    STRING: "VARCHAR", URI: "VARCHAR", DATE: "TIMESTAMP", BINARY: "BLOB", UUID: "BLOB", TRANSFORMABLE: "BLOB"}
HISTORY = {16001: "CHANGE", 16002: "TRANSACTION", 16003: "TRANSACTIONSTRING"}


@dataclass(frozen=True)
class Column:
    """A column of an entity's table, and what it is for."""

    name: str
    sql_type: str
    # The entity that declares the property, and the property.
    entity: str
    property: str
    # "value", "key" of another row, "entity" of that row, "order" among the members, or "owner" of a one-way to-many.
    role: str


@dataclass(frozen=True)
class Join:
    """The join table of a many-to-many relationship, seen from one side."""

    table: str
    owner: str
    member: str
    # The column with the order of the members of one owner.
    order: Optional[str]
    reflexive: bool


class Layout:
    """Predicted from a model.

    Two things are looked up in the tables of the file: which side names a join table, and which of two columns that
    collide in a join table's name has the suffix. Without a file rules decide, which hold for most.
    """

    def __init__(self, model: Model, file: Optional[Mapping[str, Collection[str]]] = None) -> None:
        self.model = model
        self.numbers: dict[str, int] = {}
        for root in model.children(None):
            for name in model.tree(root):
                self.numbers[name] = len(self.numbers) + 1
        self.names = {number: name for name, number in self.numbers.items()}
        self.columns: dict[str, list[Column]] = {}
        self._by_property: dict[tuple[str, str, str], Column] = {}
        for root in model.children(None):
            self._add_table(root)
        self._join_columns = self._name_join_columns()
        self._file = file or {}
        # Where the file does not follow the rules.
        self.surprises: list[str] = []

    # Tables and columns of entities.

    def table(self, entity: str) -> str:
        return "Z" + self.model.root(entity).upper()

    def column(self, entity: str, name: str, role: str = "value") -> str:
        """The column of a property of an entity, which may be inherited."""
        return self._by_property[self.model.declarer(entity, name), name, role].name

    def has(self, entity: str, name: str, role: str) -> bool:
        return (self.model.declarer(entity, name), name, role) in self._by_property

    def _add_table(self, root: str) -> None:
        table = self.table(root)
        taken = {"Z_PK", "Z_ENT", "Z_OPT"}
        found: list[Column] = []
        for entity in self.model.tree(root):
            for column in self._of_entity(entity):
                name, suffix = column.name, 0
                while name in taken:
                    suffix += 1
                    name = f"{column.name}{suffix}"
                taken.add(name)
                made = Column(name, column.sql_type, column.entity, column.property, column.role)
                found.append(made)
                self._by_property[made.entity, made.property, made.role] = made
        self.columns[table] = found

    def _of_entity(self, entity: str) -> list[Column]:
        found: list[Column] = []
        above = self.model.parent(entity)
        inherited = self.model.properties(above) if above else {}
        for name, each in sorted(self.model.entities[entity].properties.items()):
            if each.transient or name in inherited:
                continue
            if isinstance(each, Attribute):
                found.append(Column(f"Z{name.upper()}", SQL_TYPES.get(each.type, "BLOB"), entity, name, "value"))
        for name, each in sorted(self.model.entities[entity].properties.items()):
            if isinstance(each, Relationship) and not each.transient and not each.many and name not in inherited:
                found += self._of_to_one(entity, each)
        return found + self._owner_columns(entity)

    def _of_to_one(self, entity: str, each: Relationship) -> list[Column]:
        name = each.name
        found = [Column(f"Z{name.upper()}", "INTEGER", entity, name, "key")]
        if self.model.children(each.destination):
            number = self.numbers[each.destination]
            found.append(Column(f"Z{number}_{name.upper()}", "INTEGER", entity, name, "entity"))
        inverse = self.model.inverse(each)
        if inverse is not None and inverse.many and inverse.ordered:
            found.append(Column(f"Z_FOK_{name.upper()}", "INTEGER", entity, name, "order"))
        return found

    def _owner_columns(self, entity: str) -> list[Column]:
        """Columns for the to-many relationships to this entity that have no inverse."""
        found: list[Column] = []
        for owner in sorted(self.numbers, key=lambda name: self.numbers[name]):
            above = self.model.parent(owner)
            inherited = self.model.properties(above) if above else {}
            for name, each in sorted(self.model.entities[owner].properties.items()):
                if (isinstance(each, Relationship) and each.many and not each.transient and name not in inherited
                        and each.inverse is None and each.destination == entity):
                    column = f"Z{self.numbers[owner]}{name.upper()}"
                    found.append(Column(column, "INTEGER", owner, name, "owner"))
                    if each.ordered:
                        # No file shows this form.
                        order = f"Z_FOK_{self.numbers[owner]}{name.upper()}"
                        found.append(Column(order, "INTEGER", owner, name, "owner order"))
        return found

    # Join tables.

    def many_to_many(self) -> list[tuple[str, Relationship, Relationship]]:
        """Each entity with its own many-to-many relationship and the inverse: every pair from both sides."""
        found: list[tuple[str, Relationship, Relationship]] = []
        for entity in self.numbers:
            for _, each in sorted(self.model.entities[entity].properties.items()):
                if isinstance(each, Relationship) and each.many and not each.transient:
                    inverse = self.model.inverse(each)
                    if inverse is not None and inverse.many:
                        found.append((entity, each, inverse))
        return found

    def _name_join_columns(self) -> dict[tuple[str, str], str]:
        """For an entity and its relationship, the column that holds the entity's keys."""
        groups: dict[str, list[tuple[str, str, str]]] = {}
        for entity, each, inverse in self.many_to_many():
            name = f"Z_{self.numbers[entity]}{inverse.name.upper()}"
            groups.setdefault(name, []).append((each.name, entity, name))
        return {
            (entity, relationship): f"{name}{place or ''}"
            for group in groups.values() for place, (relationship, entity, name) in enumerate(sorted(group))}

    def join(self, entity: str, name: str) -> Join:
        owner = self.model.declarer(entity, name)
        each = self.model.entities[owner].properties[name]
        assert isinstance(each, Relationship)
        inverse = self.model.inverse(each)
        assert inverse is not None
        other = self.model.declarer(each.destination, inverse.name)
        reflexive = (owner, name) == (other, inverse.name)
        mine = self._join_columns[owner, name]
        theirs = "REFLEXIVE" if reflexive else self._join_columns[other, inverse.name]
        order = f"Z_FOK_{self.numbers[other]}{name.upper()}" if each.ordered else None
        table = self.join_table(owner, each, other, inverse)
        return Join(table, self._present(table, mine), self._present(table, theirs), order, reflexive)

    def _present(self, table: str, name: str) -> str:
        """A column of a join table, with the suffix that it has in the file."""
        present = self._file.get(table, [name])
        if name in present:
            return name
        base = re.sub(r"\d+$", "", name)
        found = [each for each in present if re.fullmatch(re.escape(base) + r"\d*", each)]
        if len(found) != 1:
            return name
        surprise = f"{table} has {found[0]} where the rule says {name}"
        if surprise not in self.surprises:
            self.surprises.append(surprise)
        return found[0]

    def join_table(self, owner: str, each: Relationship, other: str, inverse: Relationship) -> str:
        names = {
            True: f"Z_{self.numbers[owner]}{each.name.upper()}",
            False: f"Z_{self.numbers[other]}{inverse.name.upper()}"}
        present = [side for side in (True, False) if names[side] in self._file]
        if len(present) == 1:
            return names[present[0]]
        return names[self.names_table(owner, each, other, inverse)]

    def names_table(self, owner: str, each: Relationship, other: str, inverse: Relationship) -> bool:
        """Whether a side names the join table: the one with entities below it, or else the lower number."""
        if owner == other:
            return each.name <= inverse.name
        mine, theirs = (
            (0 if self.model.children(name) else 1, self.numbers[name]) for name in (owner, other))
        return mine < theirs

    def joins(self) -> dict[str, set[str]]:
        """The join tables with their columns."""
        found: dict[str, set[str]] = {}
        for entity, each, _ in self.many_to_many():
            join = self.join(entity, each.name)
            found.setdefault(join.table, set()).update({join.owner, join.member, *([join.order] if join.order else [])})
        return found

    def expected_columns(self) -> dict[str, dict[str, str]]:
        """All tables of the model, with the SQL types of their columns."""
        found = {
            table: {"Z_PK": "INTEGER", "Z_ENT": "INTEGER", "Z_OPT": "INTEGER", **{
                each.name: each.sql_type for each in columns}} for table, columns in self.columns.items()}
        for table, names in self.joins().items():
            found[table] = {name: "INTEGER" for name in names}
        return found

    def concrete(self, entity: str) -> list[str]:
        """The entity and those below it of which there can be objects."""
        return [each for each in self.model.tree(entity) if not self.model.entities[each].abstract]
