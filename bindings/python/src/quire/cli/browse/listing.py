"""What is shown of a store: the rows of an entity, searched, ordered and in sections."""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple, Optional

from ...contexts.query import Query
from ...contexts.store import Store
from ...errors import DatabaseError, Error, NotFound
from ...lists.results import Results
from ...models.model_description import AttributeDescription, EntityDescription, RelationshipDescription
from ...predicates.predicate import Predicate
from ..opening import attributes_of
from ..selection import section_of
from ..values import as_text, shown

__all__ = ["Choice", "Column", "Line", "Listing", "NONE", "cell"]

NONE = "none"
"""What stands for no value in details."""

_ROWS_AT_A_TIME = 200
_PAGES_HELD = 16
_NAMES = ("name", "title", "label")
# Keys, hashes and bytes, in which people find nothing.
_CODE = re.compile(r"(?=.*\d)[\w+/=:.%-]{16,}$|<[\d,]+ bytes>$")

# What people read comes first.
_RANKS = ["String", "number", "Date", "Boolean", "relationship", "URI", "UUID", "Transformable", "Binary", "Undefined"]


class Column(NamedTuple):
    """A column of the list: its heading, and the key path of what it shows."""

    heading: str
    path: str
    is_number: bool


class Line(NamedTuple):
    """A line of the list: the heading of a section, or a row."""

    section: Optional[str]
    size: int
    """How many rows the section has."""
    row: int
    """The place of the row, counted over all sections; of a section, that of its first."""


class Choice(NamedTuple):
    """What can be chosen for the order or for the sections."""

    label: str
    value: Optional[str]


class Listing:
    """The rows of one entity as the browser shows them. It reads those that are on the screen, and some around."""

    def __init__(self, store: Store, entity: str) -> None:
        self._store = store
        self.entity: EntityDescription = store.model.entities[entity]
        self._class: Any = store.classes[entity]
        self.columns = self._columns()
        self.search = ""
        self.order: Optional[str] = None
        self.section: Optional[str] = None
        self._show(self._query("", None), None)
        self._put_poor_columns_last()

    # MARK: what is shown

    def change(
        self, search: Optional[str] = None, order: Optional[str] = None, section: Optional[str] = None,
    ) -> None:
        """Shows something else. Where the library refuses it, that raises and the list stays as it is."""
        search = self.search if search is None else search
        order = self.order if order is None else order or None
        section = self.section if section is None else section or None
        self._show(self._query(search, order), section)
        self.search, self.order, self.section = search, order, section

    def reload(self) -> None:
        """Reads it anew, because another process has saved."""
        self._store.context.refresh_all()
        self._live.fetch()
        self._arrange()

    def _query(self, search: str, order: Optional[str]) -> Query[Any]:
        query = self._store.context.query(self._class)
        if search.startswith("="):
            if search[1:].strip():
                query = query.where(search[1:])
        elif search:
            query = query.where(self._containing(search))
        return query.order_by(order) if order else query

    def _containing(self, text: str) -> Predicate:
        keys = [each.name for each in attributes_of(self.entity) if each.type == "String"]
        if not keys:
            return Predicate("FALSEPREDICATE")
        arguments = [each for key in keys for each in (key, text)]
        return Predicate(" OR ".join(["%K CONTAINS[cd] %@"] * len(keys)), *arguments)

    def _show(self, query: Query[Any], section: Optional[str]) -> None:
        self._live: Results[Any] = query.live(section_of(section))
        self._has_sections = section is not None
        self._arrange()

    def _arrange(self) -> None:
        self._pages: dict[int, list[tuple[Any, ...]]] = {}
        self.failure: Optional[Error] = None
        """Why a row could not be read that was drawn last. Another program has deleted it, or it is damaged."""
        self.names: list[str] = []
        self._starts: list[int] = []
        """The line of each section."""
        if self._has_sections:
            for number, section in enumerate(self._live.sections):
                self.names.append(section.name)
                self._starts.append(section.start + number)

    # MARK: lines

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self._live)

    @property
    def line_count(self) -> int:
        return len(self) + len(self._starts)

    def line(self, number: int) -> Line:
        """What stands on a line."""
        if not self._has_sections:
            return Line(None, 0, number)
        place = bisect_right(self._starts, number) - 1
        if self._starts[place] == number:
            return Line(self.names[place], self.count_of(place), number - place)
        return Line(None, 0, number - place - 1)

    def line_of(self, row: int) -> int:
        """The line on which a row stands."""
        if not self._has_sections:
            return row
        return row + bisect_right([start - number for number, start in enumerate(self._starts)], row)

    def first_row(self, section: int) -> int:
        """The first row of a section."""
        return self._starts[section] - section

    def count_of(self, section: int) -> int:
        """How many rows a section has."""
        following = section + 1
        end = self._starts[following] - following if following < len(self._starts) else len(self)
        return end - self.first_row(section)

    # MARK: values

    def row(self, row: int) -> tuple[str, ...]:
        """The cells of a row; none where it cannot be read."""
        page, place = divmod(row, _ROWS_AT_A_TIME)
        found = self._pages.get(page)
        if found is None:
            first = page * _ROWS_AT_A_TIME
            found = self._read(first, min(_ROWS_AT_A_TIME, len(self) - first))
            if len(self._pages) >= _PAGES_HELD:
                del self._pages[next(iter(self._pages))]
            self._pages[page] = found
        return tuple(map(cell, found[place]))

    def _read(self, first: int, count: int) -> list[tuple[Any, ...]]:
        """The values of some rows, none of one that cannot be read. `failure` says why."""
        paths = [each.path for each in self.columns]
        if not paths:
            # Without any column, there are ids.
            return [(id,) for id in self._live.ids[first : first + count]]
        try:
            return self._live.values(*paths, first=first, count=count)
        except Error as error:
            # A lock would hinder each reading for as long.
            if count == 1 or not isinstance(error, (NotFound, DatabaseError)):
                self.failure = error
                return [()] * count
        # Other rows of the page can be read. Halves find the one that cannot with few readings.
        half = count // 2
        return self._read(first, half) + self._read(first + half, count - half)

    def id_at(self, row: int) -> Optional[int]:
        """The id of the object in a row, by which it is found again."""
        return self._live.ids[row] if row < len(self) else None

    def row_of(self, id: Optional[int]) -> Optional[int]:
        """Where an object is now."""
        return None if id is None else self._live.position_of(id)

    def details(self, row: int) -> list[tuple[str, str]]:
        """All that an object has: names and texts."""
        instance = self._live[row]
        # It may be of an entity that inherits from the one that is shown.
        entity = self._store.model.entities[type(instance).__name__]
        values: list[tuple[str, str]] = []
        related: list[tuple[str, str]] = []
        for each in instance._quire_entity.properties.values():
            described = entity.properties[each.path]
            if isinstance(described, RelationshipDescription):
                related.append((f"{each.path} →", self._related(getattr(instance, each._name), described)))
            elif isinstance(described, AttributeDescription) and described.external:
                values.append((each.path, "(may be in a file beside the store)"))
            else:
                values.append((each.path, _lines(getattr(instance, each._name))))
        return [("id", f"{entity.name} {instance.id}"), *values, *related]

    def _related(self, value: Any, relationship: RelationshipDescription) -> str:
        if value is None:
            return NONE
        if not relationship.to_many:
            return self._called(value)
        count = len(value)
        names = [self._called(each) for _, each in zip(range(5), value)]
        return "\n".join([f"{count:,}", *names, *(["…"] if count > len(names) else [])])

    def _called(self, instance: Any) -> str:
        kind = type(instance).__name__
        path = naming(self._store.model.entities[kind])
        name = "" if path is None else next(
            cell(getattr(instance, each._name)) for each in instance._quire_entity.properties.values()
            if each.path == path)
        return f"{kind} {instance.id}" + (f" {name}" if name else "")

    # MARK: choices

    def orders(self) -> list[Choice]:
        """By what rows can be ordered."""
        found = [Choice("as they were made", "")]
        for each in self._sortable():
            found += [Choice(f"{each} ↑", each), Choice(f"{each} ↓", f"-{each}")]
        return found

    def divisions(self) -> list[Choice]:
        """By what rows can be divided into sections."""
        found = [Choice("no sections", "")]
        for each in self.entity.properties.values():
            if isinstance(each, RelationshipDescription) and not each.to_many:
                path = naming(self._store.model.entities[each.destination])
                found.append(Choice(each.name, f"{each.name}.{path}" if path else each.name))
            elif isinstance(each, AttributeDescription) and each.name in self._sortable():
                if each.type == "String":
                    found.append(Choice(f"first letter of {each.name}", f"letter:{each.name}"))
                if each.type == "Date":
                    found += [
                        Choice(f"{span} of {each.name}", f"{span}:{each.name}") for span in ("year", "month", "day")]
                else:
                    found.append(Choice(each.name, each.name))
        return found

    def _sortable(self) -> list[str]:
        left_out = ("Binary", "Transformable", "Undefined")
        return [each.name for each in attributes_of(self.entity) if each.type not in left_out and not each.external]

    def _columns(self) -> list[Column]:
        ranked: list[tuple[int, Column]] = []
        for each in attributes_of(self.entity):
            if not each.external:
                is_number = each.type.startswith("Integer") or each.type in ("Double", "Float", "Decimal")
                rank = _RANKS.index("number" if is_number else each.type)
                ranked.append((rank, Column(each.name, each.name, is_number)))
        for other in self.entity.properties.values():
            if isinstance(other, RelationshipDescription) and not other.to_many and not other.transient:
                path = naming(self._store.model.entities[other.destination])
                column = Column(other.name, f"{other.name}.{path}" if path else other.name, False)
                ranked.append((_RANKS.index("relationship"), column))
        return [column for _, column in sorted(ranked, key=lambda each: each[0])]

    def _put_poor_columns_last(self) -> None:
        """Many attributes of some models are for programs: they hardly ever have a value, or have codes."""
        sample = [cells for row in range(min(len(self), _ROWS_AT_A_TIME)) if (cells := self.row(row))]
        if self.columns and sample:
            ranks = {each: _rank(each, values) for each, values in zip(self.columns, zip(*sample))}
            self.columns.sort(key=lambda each: ranks[each])
            self._pages.clear()


def _rank(column: Column, values: tuple[str, ...]) -> int:
    """First what people know an object by, then what they read, codes, and what is empty."""
    filled = [each for each in values if each]
    if not filled:
        return 3
    if column.path.rpartition(".")[2] in _NAMES:
        return 0
    return 2 if not column.is_number and all(map(_CODE.match, filled)) else 1


def naming(entity: EntityDescription) -> Optional[str]:
    """The attribute by which people know an object of an entity."""
    texts = [each.name for each in attributes_of(entity) if each.type == "String" and not each.external]
    return next((name for name in _NAMES if name in texts), texts[0] if texts else None)


def cell(value: Any) -> str:
    """A value on one line, as short as people need it."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, (float, Decimal)):
        return f"{value:.10g}"
    return _whole(value)


def _whole(value: Any) -> str:
    """A value with all that it has."""
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shown(as_text(value))


def _lines(value: Any) -> str:
    """A value with the lines that it has."""
    if isinstance(value, str):
        return "\n".join(map(shown, value.splitlines())) or "(empty)"
    return NONE if value is None else _whole(value)
