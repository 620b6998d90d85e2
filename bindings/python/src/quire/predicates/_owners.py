"""Which classes the keys of a condition belong to, so that those of another class are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional

from ..errors import InvalidArgument, InvalidModel

if TYPE_CHECKING:
    from ..protocols import Model
    from .keys import Key

Keys = Mapping["type[Model]", "Key"]
"""What is looked up in an object that is asked about: a key of each class that has some."""

NONE: Keys = {}

_BEHIND_A_DOT = re.compile(r"\.\s*%[^%]")
_PLACES = re.compile("%%|%")


class Unresolved:
    """A name that stands for something defined later."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def name(self) -> str:
        """The last part of a dotted name."""
        return self.text.rpartition(".")[2]


def of(value: object) -> Keys:
    """The keys of a key, an expression, a predicate, an order or a rule; of other values there are none."""
    found = getattr(value, "_quire_keys", NONE)
    return found if isinstance(found, dict) else NONE


def joined(values: Iterable[object]) -> Keys:
    """The keys of all of these."""
    found = NONE
    for value in values:
        keys = of(value)
        if keys:
            found = {**found, **keys} if found else keys
    return found


def in_format(format: str, arguments: tuple[Any, ...]) -> Keys:
    """The keys among the arguments of a format, but for those behind a dot, which are of what is before it."""
    found = joined(arguments)
    if not found or not _BEHIND_A_DOT.search(format):
        return found
    if "'" in format or '"' in format:
        # What is in quotes is text, which only the library tells apart.
        return NONE
    places = [match for match in _PLACES.finditer(format) if match.group() == "%"]
    return joined(
        argument for match, argument in zip(places, arguments) if not format[: match.start()].rstrip().endswith("."))


def check(model: type[Model], keys: Keys, is_set: bool = False) -> None:
    """Raises `InvalidArgument` where one of the keys is of a class that objects of the model are not of. A key whose
    value is set cannot be behind a relationship."""
    for owner, key in keys.items():
        if not issubclass(model, owner):
            raise InvalidArgument(_stranger(model, owner, key, is_set), entity=owner.__name__, key=key._name)


def check_declared(model: type[Model], keys: Keys, where: str) -> None:
    """The same for what a class declares."""
    try:
        check(model, keys)
    except InvalidArgument as error:
        raise InvalidModel(f"{where}: {error.message}", entity=error.entity, key=error.key) from None


def check_behind(relationship: Optional[Key], keys: Keys) -> None:
    """The same for keys of what a relationship leads to, where that is known."""
    if relationship is None:
        return
    destination: Any = relationship._destination  # type: ignore[attr-defined]
    for owner, key in keys.items():
        if isinstance(destination, Unresolved):
            name = destination.name
            fits = name in _names_above(owner) or name in _names_below(owner)
        else:
            name = destination.__name__
            fits = any(is_one(each, owner) for each in destination.__mro__) or any(
                is_one(each, destination) for each in owner.__mro__)
        if not fits:
            raise InvalidArgument(
                f"{relationship} leads to objects of {name}, and {key} is a key of {owner.__name__}. "
                f"Take a key of {name}.", entity=owner.__name__, key=key._name)


def is_one(first: type[Any], second: type[Any]) -> bool:
    """Whether they are one class, which may have been defined again, as by running a cell of a notebook twice."""
    return (first.__module__, first.__qualname__) == (second.__module__, second.__qualname__)


def _names_above(model: type[Any]) -> set[str]:
    return {each.__name__ for each in model.__mro__}


def _names_below(model: type[Any]) -> set[str]:
    return {name for each in model.__subclasses__() for name in (each.__name__, *_names_below(each))}


def _stranger(model: type[Model], owner: type[Model], key: Key, is_set: bool) -> str:
    """Why a key cannot be looked up in objects of a model, and what can be."""
    if owner.__name__ in _names_above(model):
        return (
            f"{key} is a key of a class {owner.__name__} that was defined again since. "
            f"Make this anew with the keys of the present {model.__name__}.")
    said = f"{key} is a key of {owner.__name__}, and {model.__name__} has no such key"
    if issubclass(owner, model):
        return f"{said}: {owner.__name__} inherits from {model.__name__}. Take {owner.__name__} in its place."
    for each in () if is_set else model._quire_entity.properties.values():
        destination = getattr(each, "_destination", None)
        if destination is None:
            continue
        name = destination.name if isinstance(destination, Unresolved) else destination.__name__
        if name == owner.__name__ or name in _names_below(owner):
            way = "any" if getattr(each, "_is_to_many", False) else "to"
            return f"{said}. Write {model.__name__}.{each._name}.{way}({key})."
    return f"{said}. Take a key of {model.__name__}."
