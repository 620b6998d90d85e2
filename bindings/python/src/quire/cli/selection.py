"""Which rows of an entity are asked for: what `query`, `explain` and `export` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional

from ..contexts.query import Query
from ..contexts.store import Store
from ..lists import section_rule
from ..lists.results import Results
from ..lists.section_rule import SectionRule
from ..models.model_description import AttributeDescription, EntityDescription, RelationshipDescription
from .exits import Exit, Problem
from .opening import at_path, attributes_of, model_class, property_at
from .relating import relationship_columns

__all__ = ["ID", "RULES", "Rows", "Selection", "rows_of", "section_of"]

ID = "@id"
"""The heading of ids, which no attribute can have."""

RULES: dict[str, Callable[[str], SectionRule]] = {
    "letter": section_rule.by_letter, "day": section_rule.by_day, "week": section_rule.by_week,
    "month": section_rule.by_month, "year": section_rule.by_year, "value": section_rule.by_value,
}
"""What makes sections other than those of equal values, as in `letter:author`."""

_ROWS_AT_A_TIME = 1000


class Selection(NamedTuple):
    """An entity of a store, and the query that the options ask for."""

    query: Query[Any]
    entity: EntityDescription
    section: Any
    """A key path or a rule, or None."""

    @classmethod
    def of(cls, store: Store, options: argparse.Namespace) -> Selection:
        """Reads the options. Raises what the library says of them."""
        kind, entity = model_class(store, options.entity)
        query: Query[Any] = store.context.query(kind)
        for condition in options.where or ():
            query = query.where(condition)
        orders = [key.strip() for given in options.sort or () for key in given.split(",")]
        if not all(key.lstrip("-") for key in orders):
            raise Problem(Exit.REQUEST, "--sort takes keys with commas between them, and one of them is empty.")
        if options.own:
            query = query.excluding_subentities()
        query = query.order_by(*orders).limit(options.limit).offset(options.offset)
        return cls(query, entity, section_of(getattr(options, "section", None)))


def section_of(given: Optional[str]) -> Any:
    """The key path or the rule that `--section` names."""
    if given is None:
        return None
    name, colon, key = given.partition(":")
    if not colon:
        return given
    rule = RULES.get(name)
    if rule is None or not key:
        raise Problem(
            Exit.REQUEST, f"'{given}' makes no sections. --section takes a key, or one of "
            f"{', '.join(f'{each}:KEY' for each in RULES)}.")
    return rule(key)


class Rows:
    """The rows of a selection, as a list with columns."""

    def __init__(self, live: Results[Any], columns: list[Column], shows_ids: bool) -> None:
        self.live = live
        self.shows_ids = shows_ids
        ids = [Column(ID, "id", None)] if shows_ids else []
        self._columns = ids + columns
        self.headings = [each.path for each in self._columns]
        self.kinds = [each.kind for each in self._columns]
        """Types of attributes, and "id" for what has an id."""
        self.many = {each.path: each.step for each in columns if each.step is not None}
        """Columns through relationships to many, and these relationships."""
        self.plain = [each.path for each in columns if each.step is None]
        """The other columns."""

    def __len__(self) -> int:
        return len(self.live)

    def read(self, first: int, count: int) -> list[tuple[Any, ...]]:
        """Some rows, each with its id before it where ids are shown."""
        plain = self.live.values(*self.plain, first=first, count=count) if self.plain else []
        if not self.many and not self.shows_ids:
            return plain
        found: dict[str, Sequence[Any]] = dict(zip(self.plain, zip(*plain)))
        found.update(self.related(first, count))
        if self.shows_ids:
            found[ID] = self.live.ids[first : first + count]
        return list(zip(*(found[heading] for heading in self.headings)))

    def related(self, first: int, count: int) -> dict[str, list[list[Any]]]:
        """Of columns through relationships to many, the values of all that each row leads to."""
        if not self.many:
            return {}
        instances = self.live[first : first + count]
        return {
            path: [_values(instance, step, path[len(step.name) + 1 :]) for instance in instances]
            for path, step in self.many.items()}

    def pages(self, first: int = 0, count: Optional[int] = None) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, or `count` from `first` on, some at a time."""
        stop = len(self) if count is None else first + count
        for place in range(first, stop, _ROWS_AT_A_TIME):
            yield self.read(place, min(_ROWS_AT_A_TIME, stop - place))


class Column(NamedTuple):
    """A column of rows."""

    path: str
    kind: str
    """The type of its attribute, or "id"."""
    step: Optional[RelationshipDescription]
    """The relationship to many that the path begins with."""


def _values(instance: Any, step: RelationshipDescription, path: str) -> list[Any]:
    """What the objects have that a relationship to many leads to. Those of an unordered one come by id."""
    members: list[Any] = list(at_path(instance, step.name))
    if not step.ordered:
        members.sort(key=lambda each: each.id)
    return [at_path(each, path) if path else each.id for each in members]


def rows_of(store: Store, selection: Selection, options: argparse.Namespace, exports: bool) -> Rows:
    """The rows of a selection with the columns that are given, or those that are usual.

    Usual are attributes. Where people read, to-one relationships come with them, and what may lie in files beside the
    store does not.
    """
    entity = selection.entity
    if options.columns is not None:
        paths = list(dict.fromkeys(each.strip() for each in options.columns.split(",")))
    else:
        paths = [each.name for each in attributes_of(entity) if exports or not each.external]
        if not exports:
            paths += [
                each.name for each in entity.properties.values()
                if isinstance(each, RelationshipDescription) and not each.to_many]
        elif options.relationships:
            paths += relationship_columns(store.model, entity, selection.query)
    live = selection.query.live(selection.section)
    plain = [path for path in paths if _many(entity, path) is None]
    if plain:
        # The library says what is wrong with a column, also where there are no rows.
        live.values(*plain, first=0, count=0)
    columns = [_column(store, entity, path) for path in paths]
    return Rows(live, columns, options.ids or not columns)


def _many(entity: EntityDescription, path: str) -> Optional[RelationshipDescription]:
    """The relationship to many that a path begins with."""
    first = entity.properties.get(path.partition(".")[0])
    return first if isinstance(first, RelationshipDescription) and first.to_many else None


def _column(store: Store, entity: EntityDescription, path: str) -> Column:
    many = _many(entity, path)
    rest = path.partition(".")[2]
    if many is None or not rest:
        return Column(path, _kind(store, entity, path), many)
    # The library says what is wrong with the rest.
    store.context.query(store.classes[many.destination]).limit(0).values(rest)
    return Column(path, _kind(store, store.model.entities[many.destination], rest), many)


def _kind(store: Store, entity: EntityDescription, path: str) -> str:
    found = property_at(store.model, entity, path)
    return found.type if isinstance(found, AttributeDescription) else "id"
