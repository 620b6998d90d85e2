"""`quire import`: the rows of a file into an entity."""

from __future__ import annotations

import argparse
import re
from typing import Any, NamedTuple, Optional, Union

from ..contexts.store import Store
from ..errors import ConstraintError, Error, InvalidArgument, InvalidText, ValidationError, WrongType
from ..models.model_description import (
    AttributeDescription,
    EntityDescription,
    ModelDescription,
    RelationshipDescription,
)
from ..models.properties import Attr
from ..predicates.keys import Key
from .columns import plain, values_of
from .exits import Exit, Problem, ending_in_order
from .exporting import format_of
from .inserting import Insertion
from .making import is_there, made_whole
from .opening import model_class, opened_for_writing, remedy
from .progress import Progress, progress
from .relating import Clash, Link, about_missing, clash_of, link_of
from .sources import Batch, Source, open_source
from .terminal import notice

__all__ = ["import_rows"]

# How messages name a row of a batch.
_ROW = re.compile(r"^Row \d+, counted from 0: | in row \d+, counted from 0")


def import_rows(options: argparse.Namespace) -> Exit:
    """Inserts the rows of a file in one transaction: all of them, or none."""
    format = format_of(options.format or ("csv" if options.source == "-" else None), options.source)
    # First what is read, so that no store is made for a file that is not there.
    with open_source(options.source, format, options.null) as source:
        is_new = options.model is not None and not is_there(options.file)
        if is_new:
            with ending_in_order(), made_whole(options.file) as path:
                count = _import(source, path, options)
        else:
            count = _import(source, options.file, options)
    if not options.quiet:
        rows = "row of" if count == 1 else "rows of"
        are = "is" if count == 1 else "are"
        notice(f"{count:,} {rows} {source.name} {are} in {options.file}{', which is new' if is_new else ''}.")
    return Exit.DONE


class Taken(NamedTuple):
    """What the columns of a source are for."""

    attributes: dict[str, AttributeDescription]
    links: list[Link]


def _import(source: Source, path: str, options: argparse.Namespace) -> int:
    with opened_for_writing(path, options.model) as store:
        kind, entity = model_class(store, options.entity)
        if entity.abstract:
            raise Problem(Exit.REQUEST, f"'{entity.name}' is abstract and has no rows of its own.")
        taken = _taken(source, store.model, entity, options.columns)
        with progress("importing", source.total, options.quiet) as bar, store.context.transaction() as context:
            # Objects that are there keep the mandatory relationships that they have.
            if not taken.links and not (options.upsert and _needs_others(entity)):
                return _insert(store, kind, source, taken.attributes, options.upsert, bar)
            insertion = Insertion(store, context, kind, entity, taken.attributes, taken.links, options.upsert)
            count = 0
            for batch in source.batches:
                insertion.insert(source, batch)
                count += batch.size
                bar.move(batch.position)
            insertion.finish(source)
            return count


def _taken(source: Source, model: ModelDescription, entity: EntityDescription, columns: Optional[str]) -> Taken:
    """Finds what each column is for, by its name."""
    if columns is None:
        names = [name for name in source.names if not name.startswith("@")]
    else:
        names = [each.strip() for each in columns.split(",")]
        for name in names:
            if name not in source.names:
                there = ", ".join(source.names) or "none"
                raise Problem(Exit.DATA, f"There is no column '{name}'. There are: {there}.")
    attributes: dict[str, AttributeDescription] = {}
    related: dict[str, list[str]] = {}
    derived: list[str] = []
    for name in names:
        each = entity.properties.get(name.partition(".")[0])
        if isinstance(each, RelationshipDescription):
            related.setdefault(each.name, []).append(name)
        elif not isinstance(each, AttributeDescription) or each.name != name:
            known = [each.name for each in entity.properties.values() if isinstance(each, AttributeDescription)]
            raise Problem(
                Exit.DATA, f"'{entity.name}' has no attribute '{name}'. {remedy(name, known)} "
                "--columns says which columns to take.")
        elif each.derivation:
            derived.append(name)
        else:
            attributes[name] = each
    if derived:
        notice(f"The store calculates {', '.join(derived)}, so what stands there is left out.")
    if not attributes and not related:
        raise Problem(Exit.DATA, f"None of the columns is for '{entity.name}'; the first line names attributes.")
    links: list[Link] = []
    for name, found in related.items():
        relationship = entity.properties[name]
        assert isinstance(relationship, RelationshipDescription)
        try:
            links.append(link_of(model, relationship, found))
        except ValueError as error:
            raise Problem(Exit.DATA, f"{error}. --columns says which columns to take.") from None
    return Taken(attributes, links)


def _needs_others(entity: EntityDescription) -> bool:
    return any(
        isinstance(each, RelationshipDescription) and not each.optional for each in entity.properties.values())


def _insert(
    store: Store, kind: Any, source: Source, taken: dict[str, AttributeDescription], upsert: bool, bar: Progress,
) -> int:
    """Inserts rows without relationships, without an object for each."""
    attributes: dict[str, Attr[Any]] = {
        each.path: each for each in kind._quire_entity.attributes.values()}
    count = 0
    for batch in source.batches:
        columns: dict[Union[str, Key], Any] = {
            attributes[name]: values_of(source, batch, each) for name, each in taken.items()}
        try:
            store.context.insert_rows(kind, columns, merge=False, upsert=upsert)
        except (InvalidArgument, WrongType, InvalidText, ValidationError, ConstraintError) as error:
            if error.row is None or error.row >= batch.size:
                raise Problem(Exit.DATA, _of_batch(store, kind, source, batch, columns, error, upsert)) from None
            raise Problem(
                Exit.DATA,
                f"{source.name}, {source.what} {batch.places[error.row]}: {_ROW.sub('', str(error))}") from None
        count += batch.size
        bar.move(batch.position)
    return count


def _of_batch(
    store: Store, kind: Any, source: Source, batch: Batch, columns: dict[Any, Any], error: Error, upsert: bool,
) -> str:
    """A sentence for an error that names no row of a batch. Of a constraint, the row is found by the values."""
    entity = store.model.entities[kind.__name__]
    clash: Optional[Clash] = None
    if isinstance(error, ConstraintError) and not upsert:
        clash = clash_of(store, entity, error.key, {each.path: plain(values) for each, values in columns.items()})
    if clash is None:
        return about_missing(store.model, entity, error) or f"{source.name}: {error}"
    other = "" if clash.other is None else f" {source.what.capitalize()} {batch.places[clash.other]} has it, too."
    return f"{source.name}, {source.what} {batch.places[clash.row]}: {error}{other}"
