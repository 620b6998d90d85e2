"""`quire check`: whether a file is sound."""

from __future__ import annotations

import argparse
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NamedTuple

from ..contexts.store import Store
from ..errors import DatabaseError, Error, Unsupported
from ..models.model_description import AttributeDescription, EntityDescription, RelationshipDescription
from .exits import Exit
from .opening import attributes_of, opened, opened_for_writing
from .tables import Tables
from .terminal import console
from .values import as_text, shown

__all__ = ["check"]

# What is found is told by so many examples.
_EXAMPLES = 3
_ROWS_AT_A_TIME = 5000


class Finding(NamedTuple):
    """What a part of the check has found, in a sentence. A note is no fault."""

    sentence: str
    is_note: bool = False


def check(options: argparse.Namespace) -> Exit:
    """Looks for damage, missing values, relationships that lead nowhere or disagree, and wrong derived values."""
    found = 0
    if options.mend:
        _mend(options.file)
    with opened(options.file) as store:
        for part, findings in (
            ("file and text indexes", _file(store)),
            ("mandatory values", _mandatory(store)),
            ("relationships", _relationships(store)),
            ("derived attributes", _derived(store)),
        ):
            found += _tell(part, findings)
    if not found:
        return Exit.DONE
    _print(f"{found} {'problem' if found == 1 else 'problems'}", "bold red")
    return Exit.FOUND


def _mend(path: str) -> None:
    """Makes text indexes anew that do not lead to every row. What else is wrong the check tells."""
    with opened(path) as store:
        try:
            unsound = store.check()
        except DatabaseError:
            return
    if unsound:
        # Opening it mends some, and the check the others.
        with opened_for_writing(path, None) as store:
            store.check()
        _print(f"{unsound} text {'index was' if unsound == 1 else 'indexes were'} made anew")


def _tell(part: str, findings: Iterator[Finding]) -> int:
    """Prints a line for a part, and one for each finding; returns how many are faults."""
    faults: list[str] = []
    notes: list[str] = []
    try:
        for each in findings:
            (notes if each.is_note else faults).append(each.sentence)
    except DatabaseError as error:
        faults.append(str(error))
    except sqlite3.Error as error:
        faults.append(f"SQLite cannot read the tables: {error}.")
    _print(f"{part}: {'wrong' if faults else 'sound'}", "red" if faults else "green")
    for sentence in faults + notes:
        _print(f"  {sentence}")
    return len(faults)


def _print(text: str, style: str = "") -> None:
    out = console()
    from rich.text import Text

    out.print(Text(shown(text), style), soft_wrap=True)


def _file(store: Store) -> Iterator[Finding]:
    try:
        unsound = store.check()
    except DatabaseError as error:
        if not error.details:
            raise
        for detail in error.details:
            yield Finding(str(detail))
        return
    if unsound:
        are, miss, them = ("indexes are", "they miss", "them") if unsound > 1 else ("index is", "it misses", "it")
        yield Finding(
            f"{unsound} text {are} not used, so searches read all rows: {miss} rows, or may do so after another "
            f"program's VACUUM. `quire check --mend` rebuilds {them}, and so does opening the store for writing after "
            "a VACUUM.")
    with closing(Tables(store)) as tables:
        for name, last, greatest in tables.too_low():
            yield Finding(
                f"The last key of {name} is said to be {last}, and there is {name} {greatest}: an insert would take a "
                "key that is taken.")


def _mandatory(store: Store) -> Iterator[Finding]:
    """Attributes and to-one relationships that are mandatory have values."""
    for name, entity in store.model.entities.items():
        wanted = [each.name for each in attributes_of(entity) if not each.derivation] + [
            each.name for each in entity.properties.values()
            if isinstance(each, RelationshipDescription) and not each.to_many and not each.transient]
        for key in wanted:
            each = entity.properties[key]
            if each.optional or each.entity != name:
                continue
            empty = list(store.context.query(store.classes[name]).where("%K == nil", key).ids())
            if empty:
                yield Finding(f"{name}.{key} of {_objects(len(empty))} has no value: {_examples(name, empty)}.")


class Held:
    """The ids of the objects of each entity, read when they are first asked for."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ids: dict[str, set[int]] = {}

    def __getitem__(self, entity: str) -> set[int]:
        found = self._ids.get(entity)
        if found is None:
            query = self._store.context.query(self._store.classes[entity])
            found = self._ids[entity] = set(query.ids())
        return found


def _relationships(store: Store) -> Iterator[Finding]:
    """To-one relationships lead to objects that are there, and those of one to one lead back."""
    held = Held(store)
    checked: set[tuple[str, str]] = set()
    for name, entity in store.model.entities.items():
        for each in entity.properties.values():
            if not isinstance(each, RelationshipDescription) or each.entity != name or each.to_many or each.transient:
                continue
            leads = dict(_targets(store, name, each.name))
            there = held[each.destination]
            lost = [id for id, target in leads.items() if target not in there]
            if lost:
                yield Finding(
                    f"{name}.{each.name} of {_objects(len(lost))} leads to no {each.destination}: "
                    f"{_examples(name, lost)}.")
            yield from _one_to_one(store, entity, each, leads, checked)
    # Core Data leaves such rows behind, too, and nothing that is read shows them.
    with closing(Tables(store)) as tables:
        for rows in tables.lost():
            yield Finding(
                f"{rows.entity}.{rows.relationship} of {_objects(len(rows.owners))} leads to no {rows.destination}: "
                f"{_examples(rows.entity, rows.owners)}. No list or count shows it.", True)


def _one_to_one(
    store: Store, entity: EntityDescription, each: RelationshipDescription, leads: dict[int, int],
    checked: set[tuple[str, str]],
) -> Iterator[Finding]:
    """Both sides are stored here, and must agree. Of other relationships the file has one side alone."""
    back = store.model.entities[each.destination].properties.get(each.inverse) if each.inverse else None
    if not isinstance(back, RelationshipDescription) or back.to_many:
        return
    if (back.entity, back.name) in checked:
        return
    checked.add((entity.name, each.name))
    leads_back = dict(_targets(store, back.entity, back.name))
    ours = {(id, target) for id, target in leads.items()}
    theirs = {(target, id) for id, target in leads_back.items()}
    for wrong, name, inverse in (
        (sorted(id for id, _ in ours - theirs), f"{entity.name}.{each.name}", f"{back.entity}.{back.name}"),
        (sorted(id for _, id in theirs - ours), f"{back.entity}.{back.name}", f"{entity.name}.{each.name}"),
    ):
        if wrong:
            yield Finding(
                f"{name} of {_objects(len(wrong))} leads to one whose {inverse.rpartition('.')[2]} is another or none: "
                f"{_examples(name.partition('.')[0], wrong)}.")


def _targets(store: Store, entity: str, relationship: str) -> Iterator[tuple[int, int]]:
    """The ids of objects, and of those that a to-one relationship leads to."""
    live = store.context.query(store.classes[entity]).where("%K != nil", relationship).live()
    ids = live.ids
    for first in range(0, len(ids), _ROWS_AT_A_TIME):
        count = min(_ROWS_AT_A_TIME, len(ids) - first)
        yield from zip(
            ids[first : first + count], (target for target, in live.values(relationship, first=first, count=count)))


def _objects(count: int) -> str:
    return "one object" if count == 1 else f"{count:,} objects"


def _examples(entity: str, ids: list[int]) -> str:
    more = ", ..." if len(ids) > _EXAMPLES else ""
    return ", ".join(f"{entity} {id}" for id in ids[:_EXAMPLES]) + more


def _derived(store: Store) -> Iterator[Finding]:
    """Derived attributes have what their derivations calculate now."""
    for name, entity in store.model.entities.items():
        for each in entity.properties.values():
            if not isinstance(each, AttributeDescription) or not each.derivation or each.entity != name:
                continue
            if each.derivation.replace(" ", "") == "now()":
                yield Finding(f"{name}.{each.name} is the time of a save, which nothing can be compared with.", True)
                continue
            try:
                yield from _wrong_values(store, name, each)
            except Unsupported as error:
                yield Finding(f"{name}.{each.name} was not compared: {error}", True)
            except DatabaseError:
                raise
            except Error as error:
                yield Finding(f"{name}.{each.name} cannot be calculated: {error}")


def _wrong_values(store: Store, entity: str, derived: AttributeDescription) -> Iterator[Finding]:
    query = store.context.query(store.classes[entity])
    wrong, example, first = 0, "", 0
    column = "again" if derived.name != "again" else "calculated"
    while True:
        rows = query.limit(_ROWS_AT_A_TIME).offset(first).dictionaries(derived.name, **{column: derived.derivation})
        for row in rows:
            kept, calculated = row[derived.name], row[column]
            if not _same(kept, calculated):
                wrong += 1
                example = example or (
                    f"{as_text(kept, 'no value')} is kept, {as_text(calculated, 'no value')} is right")
        if len(rows) < _ROWS_AT_A_TIME:
            break
        first += _ROWS_AT_A_TIME
    if wrong:
        yield Finding(f"{entity}.{derived.name} of {_objects(wrong)} is not {derived.derivation}: {example}.")


def _same(kept: Any, calculated: Any) -> bool:
    if isinstance(kept, (int, float)) and isinstance(calculated, (int, float)):
        # A sum of numbers depends on their order.
        return math.isclose(kept, calculated, rel_tol=1e-9, abs_tol=1e-9)
    return bool(kept == calculated)
