"""Objects of rows that have relationships."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, Optional

from ..contexts.context import Context
from ..contexts.store import Store
from ..errors import ConstraintError, Error, ValidationError
from ..models.model_description import AttributeDescription, EntityDescription
from .columns import converted, listed, plain, values_of
from .exits import Exit, Problem
from .relating import Key, Link, Lookup, about_missing, constraints_of
from .sources import Batch, Source
from .values import is_list, shown

__all__ = ["Insertion"]

_OBJECTS_AT_A_TIME = 5000


class Later(NamedTuple):
    """A row whose relationship may lead to a row that comes later."""

    id: int
    link: int
    keys: Any
    place: int


class Insertion:
    """Makes an object of each row, or finds the one that has the same unique values, and saves them by the batch.

    Relationships to objects of the same kind are set at the end, when all rows are there. A mandatory one cannot wait.
    """

    def __init__(
        self, store: Store, context: Context, kind: Any, entity: EntityDescription,
        attributes: dict[str, AttributeDescription], links: list[Link], upsert: bool,
    ) -> None:
        self._store = store
        self._context = context
        self._class = kind
        self._entity = entity
        self._attributes = attributes
        self._names = {each.path: name for name, each in kind._quire_entity.properties.items()}
        self._links = links
        self._lookups = [
            Lookup(store, each.relationship.destination, each.keys, each.kinds) for each in links]
        root = _root(store, entity.name)
        self._waits = [
            each.relationship.optional and _root(store, each.relationship.destination) == root for each in links]
        self._unique = [
            (constraint, Lookup(store, entity.name, constraint, [attributes[name].type for name in constraint]))
            for constraint in constraints_of(store.model, entity.name) if upsert and set(constraint) <= set(attributes)]
        self._later: list[Later] = []

    def insert(self, source: Source, batch: Batch) -> None:
        """Makes the objects of a batch, and saves them. A failure names the row."""
        values = {
            self._names[name]: plain(values_of(source, batch, each)) for name, each in self._attributes.items()}
        keys = [self._keys(source, batch, link, lookup) for link, lookup in zip(self._links, self._lookups)]
        made: list[Any] = []
        new: dict[tuple[int, Key], Any] = {}
        for row, place in enumerate(batch.places):
            at = f"{source.name}, {source.what} {place}"
            given = {name: column[row] for name, column in values.items()}
            for place_of_link, link in enumerate(self._links):
                if not self._waits[place_of_link]:
                    name = link.relationship.name
                    given[self._names[name]] = self._found(at, place_of_link, keys[place_of_link][row])
            try:
                made.append(self._object(given, new))
            except (Error, TypeError, ValueError) as error:
                raise Problem(Exit.DATA, f"{at}: {shown(str(error))}") from None
        self._save(source, [(each, place) for each, place in zip(made, batch.places)])
        for (constraint, key), instance in new.items():
            self._unique[constraint][1].add(key, instance.id)
        for place_of_link, waits in enumerate(self._waits):
            if waits:
                self._later += [
                    Later(each.id, place_of_link, key, place)
                    for each, key, place in zip(made, keys[place_of_link], batch.places)]

    def _object(self, given: dict[str, Any], new: dict[tuple[int, Key], Any]) -> Any:
        """The object of a row: one that is there and has its unique values, or a new one."""
        there: Optional[Any] = None
        wanted: list[tuple[int, Key]] = []
        for place, (constraint, lookup) in enumerate(self._unique):
            key = tuple(given[self._names[name]] for name in constraint)
            if None not in key:
                wanted.append((place, key))
                there = there or new.get((place, key)) or lookup.get(self._context, key)
        if there is None:
            single = {name: value for name, value in given.items() if not is_list(value)}
            there = self._context.add(self._class(**single))
            new.update((each, there) for each in wanted)
            given = {name: value for name, value in given.items() if is_list(value)}
        for name, value in given.items():
            setattr(there, name, value)
        return there

    def finish(self, source: Source) -> None:
        """Sets the relationships that waited for all rows."""
        for first in range(0, len(self._later), _OBJECTS_AT_A_TIME):
            changed: list[tuple[Any, int]] = []
            for each in self._later[first : first + _OBJECTS_AT_A_TIME]:
                instance = self._context.get(self._class, each.id)
                at = f"{source.name}, {source.what} {each.place}"
                name = self._names[self._links[each.link].relationship.name]
                setattr(instance, name, self._found(at, each.link, each.keys))
                changed.append((instance, each.place))
            self._save(source, changed)

    def _save(self, source: Source, instances: list[tuple[Any, int]]) -> None:
        places = {(type(each).__name__, each.id): place for each, place in instances}
        try:
            self._context.save()
        except (ValidationError, ConstraintError) as error:
            place = places.get((error.entity or "", error.id or 0))
            at = "" if place is None else f"{source.name}, {source.what} {place}: "
            given = any(each.relationship.name == error.key for each in self._links)
            sentence = None if given else about_missing(self._store.model, self._entity, error)
            raise Problem(Exit.DATA, f"{at}{sentence or error}") from None

    def _keys(self, source: Source, batch: Batch, link: Link, lookup: Lookup) -> list[Any]:
        """For each row the key of the object that it leads to, or a list of keys."""
        columns = [listed(source, name, kind, batch) for name, kind in zip(link.columns, lookup.kinds)]
        found: list[Any] = []
        for row, place in enumerate(batch.places):
            given = [column[row] for column in columns]
            try:
                found.append(
                    [self._key(lookup, each) for each in _members(given)] if link.relationship.to_many
                    else self._key(lookup, given) if any(each is not None for each in given) else None)
            except ValueError as error:
                raise Problem(
                    Exit.DATA, f"{source.name}, {source.what} {place}, {link.columns[0]}: {error}.") from None
        return found

    def _key(self, lookup: Lookup, given: Any) -> Key:
        if None in given:
            raise ValueError("a key has no value")
        return tuple(converted(kind, value) for kind, value in zip(lookup.kinds, given))

    def _found(self, at: str, place: int, keys: Any) -> Any:
        """The object with a key, or the objects with a list of keys."""
        lookup = self._lookups[place]
        try:
            if self._links[place].relationship.to_many:
                return [lookup.find(self._context, each) for each in keys]
            if keys is None and not self._links[place].relationship.optional:
                raise ValueError("there is no value, and the model wants one")
            return None if keys is None else lookup.find(self._context, keys)
        except ValueError as error:
            raise Problem(Exit.DATA, f"{at}, {self._links[place].columns[0]}: {error}.") from None


def _members(given: list[Any]) -> list[tuple[Any, ...]]:
    """Of each object that a relationship to many leads to, the values by which it is known."""
    lists = [_list(each) for each in given]
    if len({len(each) for each in lists}) > 1:
        raise ValueError("the columns of the relationship have lists of different lengths")
    return list(zip(*lists))


def _list(given: Any) -> list[Any]:
    """The list of a cell, which is text in CSV. No value is an empty one."""
    found: Any = given
    if isinstance(given, str):
        try:
            found = json.loads(given)
        except ValueError:
            raise ValueError(f"'{shown(given[:40])}' is no list, such as [\"a\", \"b\"]") from None
    if found is None:
        return []
    if not is_list(found):
        raise ValueError("a relationship to many needs a list")
    return found


def _root(store: Store, entity: str) -> str:
    parent = store.model.entities[entity].parent
    return _root(store, parent) if parent else entity
