"""Which rows of an entity are asked for: what `query`, `explain` and `export` have in common."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple, Optional

from ..contexts.query import Query
from ..contexts.store import Store
from ..lists import section_rule
from ..lists.results import Results
from ..lists.section_rule import SectionRule
from ..models.model_description import EntityDescription, RelationshipDescription
from .exits import Exit, Problem
from .opening import attributes_of, model_class

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

    def __init__(self, live: Results[Any], columns: list[str], shows_ids: bool) -> None:
        self.live = live
        self.columns = columns
        """Key paths."""
        self.shows_ids = shows_ids
        self.headings = [ID, *columns] if shows_ids else columns

    def __len__(self) -> int:
        return len(self.live)

    def read(self, first: int, count: int) -> list[tuple[Any, ...]]:
        """Some rows, each with its id before it where ids are shown."""
        if not self.columns:
            return [(each,) for each in self.live.ids[first : first + count]]
        found = self.live.values(*self.columns, first=first, count=count)
        if not self.shows_ids:
            return found
        return [(id, *row) for id, row in zip(self.live.ids[first : first + count], found)]

    def pages(self, first: int = 0, count: Optional[int] = None) -> Iterator[list[tuple[Any, ...]]]:
        """All rows, or `count` from `first` on, some at a time."""
        stop = len(self) if count is None else first + count
        for place in range(first, stop, _ROWS_AT_A_TIME):
            yield self.read(place, min(_ROWS_AT_A_TIME, stop - place))


def rows_of(selection: Selection, given: Optional[str], shows_ids: bool, exports: bool) -> Rows:
    """The rows of a selection with the columns that are given, or those that are usual.

    Usual are attributes. Where people read, to-one relationships come with them, and what may lie in files beside the
    store does not.
    """
    if given is not None:
        columns = [each.strip() for each in given.split(",")]
    else:
        columns = [each.name for each in attributes_of(selection.entity) if exports or not each.external]
        if not exports:
            columns += [
                each.name for each in selection.entity.properties.values()
                if isinstance(each, RelationshipDescription) and not each.to_many]
    live = selection.query.live(selection.section)
    if columns:
        # The library says what is wrong with a column, also where there are no rows.
        live.values(*columns, first=0, count=0)
    return Rows(live, columns, shows_ids or not columns)
