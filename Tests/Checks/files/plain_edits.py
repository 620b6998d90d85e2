"""Edits of a store by the rules for writers, with plain SQL: another program that works on the same file."""

from __future__ import annotations

import random
import sqlite3
from typing import Any, Optional

import store_file
from description import (
    BOOLEAN, DATE, DOUBLE, FLOAT, INTEGERS, STRING, URI, Attribute, Model, Relationship)
from rows import Object, Reading, Reference
from store_file import quoted


class PlainEditor:
    """One save: what is done between `begin` and `commit`. A row's version goes up once, however often it changes."""

    def __init__(self, path: str, model: Model) -> None:
        self.path, self.model = path, model
        self.connection: sqlite3.Connection = store_file.connect(path)
        self.connection.execute("BEGIN IMMEDIATE")
        self.reading = Reading(self.connection, model, path)
        self.layout = self.reading.layout
        self._raised: set[tuple[str, int]] = set()

    def commit(self) -> None:
        self.commit_and_stay()
        self.connection.close()

    def commit_and_stay(self) -> None:
        """Commits; what was written stays in the log, as long as the connection is open."""
        self.connection.execute("COMMIT")

    def insert(self, entity: str, values: dict[str, Any]) -> int:
        root = self.model.root(entity)
        number = self.layout.numbers[root]
        self.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_ENT = ?", (number,))
        (key,) = self.connection.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", (number,)).fetchone()
        row = {"Z_PK": key, "Z_ENT": self.layout.numbers[entity], "Z_OPT": 1}
        row.update({self.layout.column(entity, name): value for name, value in values.items()})
        names = ", ".join(quoted(name) for name in row)
        self.connection.execute(
            f"INSERT INTO {quoted(self.layout.table(entity))} ({names}) VALUES ({', '.join('?' * len(row))})",
            list(row.values()))
        self._raised.add((self.layout.table(entity), key))
        return int(key)

    def set(self, entity: str, key: int, columns: dict[str, Any]) -> None:
        """Writes columns of a row, and has its version go up."""
        table = self.layout.table(entity)
        listed = ", ".join(quoted(name) for name in columns)
        row = self.connection.execute(f"SELECT {listed} FROM {quoted(table)} WHERE Z_PK = ?", (key,)).fetchone()
        if row is None or row == tuple(columns.values()):
            return
        if (table, key) not in self._raised:
            self._raised.add((table, key))
            self.connection.execute(f"UPDATE {quoted(table)} SET Z_OPT = Z_OPT + 1 WHERE Z_PK = ?", (key,))
        parts = ", ".join(f"{quoted(name)} = ?" for name in columns)
        self.connection.execute(f"UPDATE {quoted(table)} SET {parts} WHERE Z_PK = ?", (*columns.values(), key))

    def point(self, found: Object, name: str, to: Optional[Reference]) -> None:
        """Has a to-one relationship hold another object; the inverse of a one-to-one follows."""
        each = self.model.properties(found.entity)[name]
        assert isinstance(each, Relationship)
        inverse = self.model.inverse(each)
        if inverse is not None and not inverse.many:
            self._let_go(found, name)
            if to is not None:
                other = self.reading.get(*to)
                assert other is not None
                self._let_go(other, inverse.name)
                self._write(other, inverse.name, found.reference)
        self._write(found, name, to)

    def _let_go(self, found: Object, name: str) -> None:
        """Has what an object holds by a one-to-one relationship hold nothing any more, as far as the file says now."""
        each = self.model.properties(found.entity)[name]
        assert isinstance(each, Relationship)
        column = quoted(self.layout.column(found.entity, name, "key"))
        held = self.connection.execute(
            f"SELECT {column} FROM {quoted(self.layout.table(found.entity))} WHERE Z_PK = ?", (found.key,)).fetchone()
        partner = self.reading.get(each.destination, held[0]) if held and held[0] is not None else None
        inverse = self.model.inverse(each)
        if partner is not None and inverse is not None:
            self._write(partner, inverse.name, None)

    def _write(self, found: Object, name: str, to: Optional[Reference]) -> None:
        columns: dict[str, Any] = {self.layout.column(found.entity, name, "key"): to[1] if to else None}
        if self.layout.has(found.entity, name, "entity"):
            columns[self.layout.column(found.entity, name, "entity")] = self.layout.numbers[to[0]] if to else None
        if self.layout.has(found.entity, name, "order"):
            order = self.layout.column(found.entity, name, "order")
            columns[order] = self._next_place(found.entity, name, to[1]) if to else None
        self.set(found.entity, found.key, columns)

    def _next_place(self, entity: str, name: str, owner: int) -> int:
        key, order = (quoted(self.layout.column(entity, name, role)) for role in ("key", "order"))
        (last,) = self.connection.execute(
            f"SELECT IFNULL(MAX({order}), 0) FROM {quoted(self.layout.table(entity))} WHERE {key} = ?",
            (owner,)).fetchone()
        return int(last) + 1024

    def relate(self, found: Object, name: str, to: Reference) -> None:
        """Puts an object into a many-to-many relationship, at the end on both sides."""
        each = self.model.properties(found.entity)[name]
        assert isinstance(each, Relationship)
        join = self.layout.join(found.entity, name)
        other = self.layout.join(each.destination, each.inverse or "")
        held = (found.key, to[1])
        table = quoted(join.table)
        test = f"SELECT 1 FROM {table} WHERE {quoted(join.owner)} = ? AND {quoted(join.member)} = ?"
        if self.connection.execute(test, held).fetchone() or join.reflexive and self.connection.execute(
                test, held[::-1]).fetchone():
            return
        row: dict[str, Any] = {join.owner: found.key, join.member: to[1]}
        for one, owner in ((join, found.key), (other, to[1])):
            if one.order and not join.reflexive:
                (last,) = self.connection.execute(
                    f"SELECT IFNULL(MAX({quoted(one.order)}), 0) FROM {table} WHERE {quoted(one.owner)} = ?",
                    (owner,)).fetchone()
                row[one.order] = last + 1024
        names = ", ".join(quoted(each) for each in row)
        self.connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", list(row.values()))

    def delete(self, found: Object) -> None:
        """Deletes an object that others then hold no more."""
        for other in self.reading.objects.values():
            for name, held in other.one.items():
                if held == found.reference and other is not found:
                    self._write(other, name, None)
        for (entity, each, inverse) in self.layout.many_to_many():
            if self.model.is_kind(found.entity, entity):
                join = self.layout.join(entity, each.name)
                for column in {join.owner, join.member} if join.reflexive else {join.owner}:
                    self.connection.execute(
                        f"DELETE FROM {quoted(join.table)} WHERE {quoted(column)} = ?", (found.key,))
        for table, owner in self._owner_columns(found):
            keys = self.connection.execute(
                f"SELECT Z_PK FROM {quoted(table)} WHERE {quoted(owner)} = ?", (found.key,)).fetchall()
            for (key,) in keys:
                self.set(self._root_of(table), key, {owner: None})
        self.connection.execute(
            f"DELETE FROM {quoted(self.layout.table(found.entity))} WHERE Z_PK = ?", (found.key,))

    def _root_of(self, table: str) -> str:
        return next(each for each in self.model.children(None) if self.layout.table(each) == table)

    def _owner_columns(self, found: Object) -> list[tuple[str, str]]:
        return [
            (table, each.name) for table, columns in self.layout.columns.items() for each in columns
            if each.role == "owner" and self.model.is_kind(found.entity, each.entity)]


def some_value(dice: random.Random, attribute: Attribute) -> Any:
    """A value to set, as SQLite holds it; None for types that are left alone."""
    if attribute.type in INTEGERS:
        return dice.randrange(100)
    if attribute.type == BOOLEAN:
        return dice.randrange(2)
    if attribute.type in (DOUBLE, DATE, FLOAT):
        return dice.randrange(1000) / 4
    if attribute.type in (STRING, URI):
        return f"edited {dice.randrange(1 << 30)}"
    return None


def unique_names(model: Model, entity: str) -> set[str]:
    return {name for above in model.lineage(entity) for names in model.entities[above].constraints for name in names}


def settable(model: Model, entity: str) -> list[Attribute]:
    """Attributes that an edit may set without breaking a constraint or a trigger."""
    unique = unique_names(model, entity)
    return [each for each in model.attributes(entity)
            if not each.transient and each.derivation is None and each.name not in unique and not each.validations
            and some_value(random.Random(0), each) is not None]


def random_edits(editor: PlainEditor, dice: random.Random, number: int) -> int:
    """Does some edits; returns how many."""
    done = 0
    for _ in range(number):
        objects = list(editor.reading.objects.values())
        found = dice.choice(objects) if objects else None
        if found is None:
            break
        attributes = settable(editor.model, found.entity)
        kind = dice.choice(["set", "set", "insert", "point", "relate"])
        if kind == "set" and attributes:
            each = dice.choice(attributes)
            editor.set(found.entity, found.key, {
                editor.layout.column(found.entity, each.name): some_value(dice, each)})
        elif kind == "insert":
            editor.insert(found.entity, {each.name: some_value(dice, each) for each in attributes})
        elif kind in ("point", "relate"):
            random_relation(editor, dice, found, kind == "relate")
        done += 1
    return done


def random_relation(editor: PlainEditor, dice: random.Random, found: Object, many: bool) -> None:
    model = editor.model
    relations = [
        each for each in model.relationships(found.entity)
        if not each.transient and each.many == many and each.name not in unique_names(model, found.entity)]
    if not relations:
        return
    each = dice.choice(relations)
    others = editor.reading.of_entity(each.destination, True)
    inverse = model.inverse(each)
    if not many:
        editor.point(found, each.name, dice.choice([*(other.reference for other in others), None]))
    elif inverse is not None and inverse.many and others:
        editor.relate(found, each.name, dice.choice(others).reference)
