"""`quire import`: the rows of a file into an entity."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Optional, Union

from ..contexts.store import Store, delete_store
from ..errors import ConstraintError, InvalidArgument, InvalidText, ValidationError, WrongType
from ..models.model_description import AttributeDescription, EntityDescription
from ..models.properties import Attr
from ..predicates.keys import Key
from .exits import Exit, Problem
from .exporting import format_of
from .opening import model_class, opened_for_writing
from .progress import Progress, progress
from .sources import Batch, Source, open_source
from .terminal import notice
from .values import from_text

__all__ = ["import_rows"]

# How messages name a row of a batch.
_ROW = re.compile(r"^Row \d+, counted from 0: | in row \d+, counted from 0")


def import_rows(options: argparse.Namespace) -> Exit:
    """Inserts the rows of a file in one transaction: all of them, or none."""
    format = format_of(options.format or ("csv" if options.source == "-" else None), options.source)
    is_new = not os.path.lexists(options.file)
    # First what is read, so that no store is made for a file that is not there.
    with open_source(options.source, format, options.null) as source:
        try:
            count = _import(source, options)
        except BaseException:
            if is_new and os.path.lexists(options.file):
                delete_store(options.file)
            raise
    if not options.quiet:
        notice(f"{count:,} rows of {source.name} are in {options.file}{', which is new' if is_new else ''}.")
    return Exit.DONE


def _import(source: Source, options: argparse.Namespace) -> int:
    with opened_for_writing(options.file, options.model) as store:
        model, entity = model_class(store, options.entity)
        if entity.abstract:
            raise Problem(Exit.REQUEST, f"'{entity.name}' is abstract and has no rows of its own.")
        taken = _attributes(source, entity, options.columns)
        with progress("importing", source.total, options.quiet) as bar:
            return _insert(store, model, source, taken, options, bar)


def _attributes(
    source: Source, entity: EntityDescription, columns: Optional[str]
) -> dict[str, AttributeDescription]:
    """The attributes that the columns are for, by their names."""
    if columns is None:
        names = [name for name in source.names if not name.startswith("@")]
    else:
        names = [each.strip() for each in columns.split(",")]
        for name in names:
            if name not in source.names:
                there = ", ".join(source.names) or "none"
                raise Problem(Exit.DATA, f"There is no column '{name}'. There are: {there}.")
    found: dict[str, AttributeDescription] = {}
    derived: list[str] = []
    for name in names:
        each = entity.properties.get(name)
        if each is None:
            known = [each.name for each in entity.properties.values() if isinstance(each, AttributeDescription)]
            raise Problem(
                Exit.DATA, f"'{entity.name}' has no attribute '{name}'. It has: {', '.join(known) or 'none'}. "
                "--columns says which columns to take.")
        if not isinstance(each, AttributeDescription):
            raise Problem(
                Exit.DATA, f"'{entity.name}.{name}' is a relationship, and import takes attributes. "
                "--columns says which columns to take.")
        if each.derivation:
            derived.append(name)
        else:
            found[name] = each
    if derived:
        notice(f"The store calculates {', '.join(derived)}, so what stands there is left out.")
    if not found:
        raise Problem(Exit.DATA, f"None of the columns is for '{entity.name}'; the first line names attributes.")
    return found


def _insert(
    store: Store, model: Any, source: Source, taken: Mapping[str, AttributeDescription], options: argparse.Namespace,
    bar: Progress,
) -> int:
    attributes: dict[str, Attr[Any]] = {
        each.path: each for each in model._quire_entity.attributes.values()}
    count = 0
    with store.context.transaction() as context:
        for batch in source.batches:
            columns: dict[Union[str, Key], list[Any]] = {
                attributes[name]: _values(source, batch, each) for name, each in taken.items()}
            try:
                context.insert_rows(model, columns, merge=False, upsert=options.upsert)
            except (InvalidArgument, WrongType, InvalidText, ValidationError, ConstraintError) as error:
                if error.row is None or error.row >= batch.size:
                    raise Problem(Exit.DATA, str(error)) from None
                raise Problem(
                    Exit.DATA,
                    f"{source.name}, {source.what} {batch.places[error.row]}: {_ROW.sub('', str(error))}") from None
            count += batch.size
            bar.move(batch.position)
    return count


def _values(source: Source, batch: Batch, attribute: AttributeDescription) -> list[Any]:
    """The values of a column as the attribute takes them."""
    found: list[Any] = []
    for row, value in enumerate(batch.columns[attribute.name]):
        try:
            if value is None and not attribute.optional:
                raise ValueError("there is no value, and the model wants one")
            found.append(None if value is None else _value(attribute, value))
        except ValueError as error:
            raise Problem(
                Exit.DATA, f"{source.name}, {source.what} {batch.places[row]}, {attribute.name}: {error}.") from None
    return found


def _value(attribute: AttributeDescription, value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        raise ValueError("NaN is no number that a store keeps")
    if isinstance(value, (str, int, float, bool)):
        return from_text(attribute.type, value)
    if isinstance(value, bytes) and attribute.type in ("Binary", "Transformable"):
        return value
    if isinstance(value, datetime) and attribute.type == "Date":
        return from_text("Date", value.isoformat())
    if isinstance(value, Decimal) and attribute.type in ("Decimal", "Double", "Float"):
        return from_text(attribute.type, str(value))
    raise ValueError(f"a {type(value).__name__} is not what {attribute.type} holds")
