"""Puts random objects into stores: with plain SQL, or by the library."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import uuid
from decimal import Decimal
from typing import Any, Optional

import store_file
import subject
from description import BOOLEAN, INTEGERS, STRING, TRANSFORMABLE, UUID, Attribute, Model, Relationship
from fixtures import StoreWriter, random_value
from layout import Layout
from model_dice import UNIQUE
from store_file import quoted

TEXTS = ["", "a", "Zoë", "日本", "🙂👩‍👩‍👧", "A'B\"C; --", "line\nbreak", "e\u0301", "x" * 3000]
Keys = dict[str, list[int]]


class Filler(StoreWriter):
    """Fills a store that is there."""

    def __init__(self, path: str, model: Model, dice: random.Random) -> None:
        self.path, self.model, self.dice = path, model, dice
        self.connection = store_file.connect(path)
        self.layout = Layout(model, store_file.tables(self.connection))
        self.connection.execute("BEGIN")
        self._place = 0
        self._unique = 0

    def fill(self, most: int) -> None:
        keys: Keys = {}
        for name, entity in self.model.entities.items():
            if entity.abstract:
                continue
            for _ in range(self.dice.randint(0, most)):
                if self.dice.random() < 0.1:
                    self.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 3 WHERE Z_NAME = ?", (
                        self.model.root(name),))
                key = self.add(name, self.values(name))
                for above in self.model.lineage(name):
                    keys.setdefault(above, []).append(key)
                self._entities[self.layout.table(name), key] = name
                self.connection.execute(
                    f"UPDATE {quoted(self.layout.table(name))} SET Z_OPT = ? WHERE Z_PK = ?",
                    (self.dice.randint(1, 9), key))
        for name, entity in self.model.entities.items():
            for each in entity.properties.values():
                if isinstance(each, Relationship):
                    self._relate(name, each, keys)

    @property
    def _entities(self) -> dict[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = self.__dict__.setdefault("found", {})
        return found

    def values(self, entity: str) -> dict[str, Any]:
        unique = {
            name for each in self.model.tree(self.model.root(entity))
            for constraint in self.model.entities[each].constraints for name in constraint}
        return {
            each.name: self.value(each, each.name in unique) for each in self.model.attributes(entity)}

    def value(self, each: Attribute, unique: bool) -> Any:
        self._unique += 1
        if unique and each.type in UNIQUE:
            if each.type == STRING:
                return f"{self.dice.choice(TEXTS)}{self._unique}"
            return uuid.UUID(int=self.dice.getrandbits(128), version=4) if each.type == UUID else self._unique
        for _ in range(20):
            value = self.dice.choice(TEXTS) if each.type == STRING and self.dice.random() < 0.8 else random_value(
                self.dice, each)
            if value is not None or each.optional:
                return value
        raise AssertionError(f"{each.name} got no value")

    def _next_place(self) -> int:
        """An order key that no other has, in no order."""
        self._place += 1
        return self._place * 1024 * self.dice.choice([1, -1]) + self.dice.randrange(1024)

    def _relate(self, name: str, each: Relationship, keys: Keys) -> None:
        owners, members = keys.get(name, []), keys.get(each.destination, [])
        inverse = self.model.inverse(each)
        if inverse is None and not each.many:
            for key in owners:
                if members and self.dice.random() < 0.7:
                    self._point(name, key, each, self.dice.choice(members))
        elif inverse is None:
            for key in members:
                if owners and self.dice.random() < 0.7:
                    self.own(name, each.name, self.dice.choice(owners), key)
                    if each.ordered:
                        table = quoted(self.layout.table(each.destination))
                        column = quoted(self.layout.column(name, each.name, "owner order"))
                        self.connection.execute(
                            f"UPDATE {table} SET {column} = ? WHERE Z_PK = ?", (self._next_place(), key))
        elif each.many and inverse.many:
            if (name, each.name) <= (each.destination, inverse.name):
                self._join_many(name, each, owners, members)
        elif each.many:
            pass
        elif inverse.many:
            for key in owners:
                if members and self.dice.random() < 0.7:
                    place = self._next_place() if inverse.ordered else None
                    self._point(name, key, each, self.dice.choice(members), place)
        elif (name, each.name) <= (each.destination, inverse.name):
            self._pair(name, each, inverse, owners, members)

    def _point(self, name: str, key: int, each: Relationship, member: int, place: Optional[int] = None) -> None:
        entity = self._entities[self.layout.table(each.destination), member]
        self.point(name, key, each.name, (entity, member), place)

    def _pair(
        self, name: str, each: Relationship, inverse: Relationship, owners: list[int], members: list[int]
    ) -> None:
        if each is inverse:
            mixed = self.dice.sample(owners, len(owners))
            pairs = list(zip(mixed[::2], mixed[1::2]))
        else:
            pairs = list(zip(self.dice.sample(owners, len(owners)), self.dice.sample(members, len(members))))
        for one, other in pairs:
            if self.dice.random() < 0.7:
                self._point(name, one, each, other)
                self._point(each.destination, other, inverse, one)

    def _join_many(self, name: str, each: Relationship, owners: list[int], members: list[int]) -> None:
        for one in owners:
            for other in self.dice.sample(members, self.dice.randint(0, min(3, len(members)))):
                if each.inverse == each.name and one >= other:
                    continue
                self.join(name, each.name, one, other, self._next_place(), self._next_place())

    def close_with_log(self) -> None:
        """Leaves what was written in the log."""
        self.connection.execute("COMMIT")
        apart = f"{self.path}.apart"
        os.makedirs(apart)
        copied = store_file.copy_store(self.path, apart)
        self.connection.close()
        for suffix in ("", *store_file.LOGS):
            with contextlib.suppress(FileNotFoundError):
                os.remove(self.path + suffix)
            if os.path.exists(copied + suffix):
                shutil.move(copied + suffix, self.path + suffix)
        shutil.rmtree(apart)


def fill_by_library(store: Any, model: Model, filler: Filler, most: int) -> None:
    """The same kinds of objects, by the library's own objects."""
    if any(not each.optional for name in model.entities for each in model.relationships(name)):
        raise Unfit
    dice = filler.dice
    found: dict[str, list[Any]] = {}
    for name, entity in model.entities.items():
        if entity.abstract:
            continue
        for _ in range(dice.randint(0, most)):
            values = {
                key: plain(value, model.properties(name)[key]) for key, value in filler.values(name).items()
                if getattr(model.properties(name)[key], "type") != TRANSFORMABLE}
            made = subject.add(store, name, values)
            for above in model.lineage(name):
                found.setdefault(above, []).append(made)
    for name, entity in model.entities.items():
        for each in entity.properties.values():
            if not isinstance(each, Relationship) or not found.get(each.destination):
                continue
            for owner in found.get(name, []):
                if dice.random() < 0.3:
                    continue
                members = found[each.destination]
                if each.many:
                    for member in dice.sample(members, min(len(members), dice.randint(0, 3))):
                        if member is not owner and member not in subject.members(owner, each.name):
                            subject.put_in(owner, each.name, member)
                else:
                    subject.set_value(owner, each.name, dice.choice(members))
    subject.save(store)


class Unfit(Exception):
    """A model with mandatory relationships, from which one object can take what another one holds."""


def plain(value: Any, each: Any) -> Any:
    """A value for a column as the library takes it."""
    if each.type == BOOLEAN and value is not None:
        return bool(value)
    if value is None or isinstance(value, Decimal) or each.type in INTEGERS:
        return value
    return subject.to_python(value, each.type)
