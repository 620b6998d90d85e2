"""Stores as the command opens them, and what is named in them."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Optional, Union

from ..contexts.store import Store
from ..errors import Error, NotFound
from ..models.loaded import load_model
from ..models.model_description import (
    AttributeDescription,
    EntityDescription,
    FetchedPropertyDescription,
    ModelDescription,
    RelationshipDescription,
)
from .exits import Exit, Problem
from .values import shown

__all__ = [
    "at_path", "attributes_of", "class_of", "model_class", "opened", "opened_for_writing", "opened_with_journal",
    "property_at", "remedy"]

# A list of more names than these is no help in a sentence.
_NAMES_SHOWN = 12

PropertyDescription = Union[AttributeDescription, RelationshipDescription, FetchedPropertyDescription]


@contextmanager
def opened(path: str, conditions: Sequence[str] = ()) -> Generator[Store, None, None]:
    """The store at a path for reading, with the model that it brings along.

    A key that an entity does not have ends the command with one that is like it, and with its place in a condition. So
    does a text that is no date, with its place.
    """
    with _open(path, read_only=True) as store:
        try:
            yield store
        except Error as error:
            sentence = _about_key(store, error, conditions) or _about_date(error, conditions)
            if sentence is None:
                raise
            raise Problem(Exit.REQUEST, sentence) from None


def _about_date(error: Error, conditions: Sequence[str]) -> Optional[str]:
    sentence = str(error)
    # The remedy of a program gives an argument, which the command line cannot.
    before, found, after = sentence.partition("as argument (%@), with one ")
    if found:
        return before + after
    text, found, _ = sentence.partition(" is no date in ISO 8601")
    for condition in conditions if found else ():
        place = max(condition.find(text), condition.find(f'"{text[1:-1]}"'))
        if place >= 0:
            return f"{sentence}\n{shown(condition)}\n{' ' * place}^"
    return None


def _about_key(store: Store, error: Error, conditions: Sequence[str]) -> Optional[str]:
    entity = store.model.entities.get(error.entity or "")
    if entity is None or not error.key or error.key in entity.properties:
        return None
    sentence = f"'{entity.name}' has no property '{error.key}'. {remedy(error.key, list(entity.properties))}"
    for condition in conditions:
        if found := re.search(rf"(?<!\w){re.escape(error.key)}(?!\w)", condition):
            return f"{sentence}\n{condition}\n{' ' * found.start()}^"
    return sentence


@contextmanager
def opened_for_writing(path: str, model: Union[str, None]) -> Generator[Store, None, None]:
    """The store at a path for an import. With the path of a model, a file that is not there is made."""
    if model is None:
        with _open(path, must_exist=True) as store:
            yield store
        return
    try:
        loaded = load_model(model)
    except NotFound as error:
        raise Problem(Exit.FILE, str(error)) from None
    with loaded, _open(path, models=loaded) as store:
        yield store


def opened_with_journal(path: str, change_journal: Literal["none", "saves", "all"]) -> Store:
    """The store at a path for writing, which keeps this change journal from now on."""
    return _open(path, change_journal=change_journal)


def _open(path: str, **options: Any) -> Store:
    remedy = " --model makes a new store." if "must_exist" in options else ""
    if not os.path.lexists(path) and "models" not in options:
        raise Problem(Exit.FILE, f"Could not open '{path}': the file does not exist. Check the path.{remedy}")
    if os.path.isfile(path) and not os.path.getsize(path) and "models" not in options:
        raise Problem(Exit.FILE, f"'{path}' is empty, not a store.{remedy}")
    try:
        return Store(path, **options)
    except Error as error:
        # Whatever hinders it, it is the file that cannot be opened.
        raise Problem(Exit.FILE, str(error)) from error


def class_of(store: Store, entity: str) -> Any:
    """The class of an entity. A name that the store does not have ends the command."""
    found = store.classes.get(entity)
    if found is None:
        all_of_them = " `quire info --names` lists them all." if len(store.classes) > _NAMES_SHOWN else ""
        raise Problem(
            Exit.REQUEST, f"The store has no entity '{entity}'. {remedy(entity, list(store.classes))}{all_of_them}")
    return found


def model_class(store: Store, entity: str) -> tuple[Any, EntityDescription]:
    """The class of an entity, and what the model says of it."""
    return class_of(store, entity), store.model.entities[entity]


def remedy(wanted: str, names: list[str]) -> str:
    """What to write instead of a name that there is not: those that are like it, or all."""
    near = difflib.get_close_matches(wanted, names, 3, 0.5)
    near += [name for name in names if name.lower() == wanted.lower() and name not in near]
    if near:
        return f"Did you mean {' or '.join(near)}?"
    if len(names) <= _NAMES_SHOWN:
        return f"It has: {', '.join(names) or 'none'}."
    return f"It has {len(names)}, among them {', '.join(names[:_NAMES_SHOWN])}."


def attributes_of(entity: EntityDescription) -> list[AttributeDescription]:
    """The attributes that the file keeps values of, in the order of the model."""
    return [
        each for each in entity.properties.values()
        if isinstance(each, AttributeDescription) and not each.transient and each.type != "Composite"]


def property_at(model: ModelDescription, entity: EntityDescription, path: str) -> PropertyDescription:
    """The property that a key path of to-one relationships leads to. The library has accepted the path before."""
    *steps, last = path.split(".")
    for step in steps:
        through = entity.properties[step]
        assert isinstance(through, RelationshipDescription)
        entity = model.entities[through.destination]
    return entity.properties[last]


def at_path(instance: Any, path: str) -> Any:
    """The value that a key path of an object leads to. Properties have another name in Python where they must."""
    for step in path.split("."):
        if instance is None:
            return None
        instance = next(
            getattr(instance, each._name) for each in instance._quire_entity.properties.values() if each.path == step)
    return instance
