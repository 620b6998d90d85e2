"""Relationships in files of rows: by which attributes the objects are known that they lead to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, Optional

from ..contexts.context import Context
from ..contexts.query import Query
from ..contexts.store import Store
from ..errors import Error
from ..models.model_description import (
    AttributeDescription,
    EntityDescription,
    ModelDescription,
    RelationshipDescription,
)
from .exits import Exit, Problem
from .opening import property_at
from .terminal import notice
from .values import as_text, shown

__all__ = [
    "Clash", "Key", "Link", "Lookup", "about_missing", "clash_of", "constraints_of", "link_of", "relationship_columns"]


# MARK: what an export has

def relationship_columns(model: ModelDescription, entity: EntityDescription, query: Query[Any]) -> list[str]:
    """Columns for the relationships of an entity, each of one side, by what is unique in the destination.

    Rows that lead to an object without such a value end the command: what they lead to would be lost.
    """
    found: list[str] = []
    unnamed: list[str] = []
    for each in entity.properties.values():
        if not isinstance(each, RelationshipDescription) or each.transient:
            continue
        inverse = model.entities[each.destination].properties.get(each.inverse) if each.inverse else None
        key = _unique(model, each.destination)
        # A row cannot be imported without what is mandatory, so that is here even where the other side is, too.
        if isinstance(inverse, RelationshipDescription) and (each.optional or each.to_many):
            has_inverse = _unique(model, inverse.destination) is not None
            if has_inverse and _rank(model, inverse) < _rank(model, each):
                continue
        if key is None:
            unnamed.append(each.name)
            continue
        for name in key:
            if each.to_many:
                lost = query.where("SUBQUERY(%K, $each, $each.%K == nil).@count > 0", each.name, name)
            else:
                lost = query.where("%K != nil AND %K == nil", each.name, f"{each.name}.{name}")
            if count := lost.count():
                raise Problem(
                    Exit.DATA, f"{count:,} of the rows lead by {each.name} to a {each.destination} without {name}, so "
                    "no file can say which one it is. Leave them out, or name another key with --columns.")
            found.append(f"{each.name}.{name}")
    if unnamed:
        notice(
            f"Left out: {', '.join(unnamed)}. Nothing is unique in what is there; name a key with --columns, as in "
            "author.name.")
    return found


def _rank(model: ModelDescription, each: RelationshipDescription) -> tuple[Any, ...]:
    """The side of a relationship with the lower rank is in the file: that which has a key, an order, or one object."""
    return (
        _unique(model, each.destination) is None, not each.ordered, each.to_many,
        # Where both have an order, both are in the file.
        ("", "") if each.ordered else (each.entity, each.name))


def _unique(model: ModelDescription, entity: str) -> Optional[list[str]]:
    """The attributes of the first constraint of an entity, or of those that it inherits from."""
    for constraint in constraints_of(model, entity):
        if all(isinstance(model.entities[entity].properties.get(name), AttributeDescription) for name in constraint):
            return constraint
    return None


def constraints_of(model: ModelDescription, entity: str) -> list[list[str]]:
    """What is unique in an entity: its own constraints and those that it inherits."""
    described = model.entities[entity]
    return described.unique + (constraints_of(model, described.parent) if described.parent else [])


# MARK: what an import takes

class Link(NamedTuple):
    """A relationship of the rows of a source, and its columns."""

    relationship: RelationshipDescription
    columns: list[str]
    keys: list[str]
    """What the columns have of the destination: key paths."""
    kinds: list[str]
    """The types of these."""


def link_of(model: ModelDescription, relationship: RelationshipDescription, columns: list[str]) -> Link:
    """Reads the columns of a relationship. Raises ValueError with a reason."""
    destination = model.entities[relationship.destination]
    keys: list[str] = []
    kinds: list[str] = []
    for column in columns:
        key = column.partition(".")[2]
        try:
            found = property_at(model, destination, key) if key else None
        except (KeyError, AssertionError):
            found = None
        if not isinstance(found, AttributeDescription):
            example = _example(model, relationship)
            if not key:
                raise ValueError(
                    f"'{column}' is a relationship, and an import takes no ids. It takes the values of an "
                    f"attribute by which each '{destination.name}' is found{example}")
            raise ValueError(
                f"'{column}' names no attribute of '{destination.name}'. A column of a relationship has the values of "
                f"an attribute by which the object is found{example}")
        keys.append(key)
        kinds.append(found.type)
    return Link(relationship, columns, keys, kinds)


def _example(model: ModelDescription, relationship: RelationshipDescription) -> str:
    known = _unique(model, relationship.destination) or [
        each.name for each in model.entities[relationship.destination].properties.values()
        if isinstance(each, AttributeDescription)]
    return f", as in '{relationship.name}.{known[0]}'" if known else ""


def about_missing(model: ModelDescription, entity: EntityDescription, error: Error) -> Optional[str]:
    """What to say of an import without columns for a mandatory relationship, if that is what an error is about."""
    each = entity.properties.get(error.key or "")
    if not isinstance(each, RelationshipDescription) or each.optional:
        return None
    return (
        f"'{entity.name}.{each.name}' is mandatory, and no column says where it leads. Give a column with the values "
        f"of an attribute by which each '{each.destination}' is found{_example(model, each)}; `quire export "
        "--relationships` writes it.")


class Clash(NamedTuple):
    """A row of a batch that has unique values of another object."""

    row: int
    other: Optional[int]
    """The row of the batch that has them before, if one has."""


def clash_of(
    store: Store, entity: EntityDescription, key: Optional[str], columns: dict[str, list[Any]],
) -> Optional[Clash]:
    """The row because of which a batch could not be inserted, by a constraint that has the attribute `key`."""
    for constraint in constraints_of(store.model, entity.name):
        if key in constraint and set(constraint) <= set(columns):
            seen: dict[Key, Optional[int]] = {}
            # What is there is read first, and the rows of former batches with it.
            for values in store.context.query(store.classes[entity.name]).values(*constraint):
                seen[values] = None
            for row, values in enumerate(zip(*(columns[name] for name in constraint))):
                if None in values:
                    continue
                if values in seen:
                    return Clash(row, seen[values])
                seen[values] = row
    return None


Key = tuple[Any, ...]
"""The values by which an object is known."""


class Lookup:
    """Finds the objects that relationships lead to, by their keys. It reads these when it is first asked."""

    def __init__(self, store: Store, entity: str, keys: Iterable[str], kinds: Iterable[str]) -> None:
        self._store = store
        self._entity = entity
        self._keys = list(keys)
        self.kinds = list(kinds)
        self._ids: Optional[dict[Key, Optional[int]]] = None

    def find(self, context: Context, key: Key) -> Any:
        """The object with a key. Raises ValueError where there is none, and where there are several."""
        found = self.get(context, key)
        if found is None:
            several = self._ids is not None and key in self._ids
            wanted = " and ".join(
                f"{name} '{shown(as_text(value))}'" for name, value in zip(self._keys, key))
            remedy = "" if several else f"; import each {self._entity} first"
            raise ValueError(f"there {'are several' if several else 'is no'} {self._entity} with {wanted}{remedy}")
        return found

    def get(self, context: Context, key: Key) -> Any:
        """The object with a key, or None."""
        if self._ids is None:
            self._ids = {}
            query = context.query(self._store.classes[self._entity])
            for id, values in zip(query.ids(), query.values(*self._keys)):
                # None stands for several.
                self._ids[values] = None if values in self._ids else id
        found = self._ids.get(key)
        return None if found is None else context.get(self._store.classes[self._entity], found)

    def add(self, key: Key, id: int) -> None:
        """An object that was made since."""
        if self._ids is not None:
            self._ids[key] = None if key in self._ids else id
