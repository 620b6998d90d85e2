"""What a model class says about itself: the signature of its constructor, and the text of `help`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Optional, Union

from ..errors import InvalidState
from ..predicates._owners import Unresolved
from ._fetched import Fetched
from .properties import Attr, Property, ToMany

if TYPE_CHECKING:
    from inspect import Signature

    from ._entity import Entity
    from .model import Model

_NONE: Any = object()
"""The default of what has none."""


class ConstructorSignature:
    """What `inspect.signature` asks a class for, made when it does. None where it has a constructor of its own."""

    def __get__(self, instance: Optional[Model], owner: type[Model]) -> Optional[Signature]:
        base = next(vars(each) for each in owner.__mro__ if vars(each).get("__signature__") is self)
        made_by: Any = owner.__init__  # type: ignore[misc]
        entity: Optional[Entity] = getattr(owner, "_quire_entity", None)
        # A Protocol leaves the constructor to the one behind its own.
        is_plain = made_by is base["__init__"] or made_by.__name__.startswith("_no_init")
        return _signature(entity) if entity is not None and is_plain else None


class Docstring:
    """The docstring of a class that has none: its constructor, and a line for each property."""

    def __get__(self, instance: Optional[Model], owner: type[Model]) -> str:
        entity = owner._quire_entity
        lines = [f"{entity.name}{_signature(entity)}", ""]
        lines += [f"{name}: {each.__doc__}" for name, each in entity.properties.items()]
        line: Optional[Entity] = entity
        while line is not None:
            lines += [f"{each._name}: {each.__doc__}" for each in line.fetched]
            line = line.parent
        return "\n".join(lines)


def _signature(entity: Entity) -> Signature:
    """How an object is made. Derived attributes are missing: the store calculates them."""
    # It takes as long to load as the package, and few programs ask for it.
    from inspect import Parameter, Signature

    defaults = {name: _default(each) for name, each in entity.properties.items() if not _is_derived(each)}
    return Signature([
        Parameter(
            name, Parameter.KEYWORD_ONLY, default=Parameter.empty if default is _NONE else default,
            annotation=_assigned(entity.properties[name]))
        for name, default in defaults.items()])


def property_docstring(each: Union[Property, Fetched[Any]]) -> str:
    """What is declared of one property: its type, and what a new object has."""
    if isinstance(each, Fetched):
        condition = each._options.condition
        return f"Fetched[{_name(each._destination)}]" + ("" if condition is None else f", where {condition}")
    told = _declared(each)
    if each._key != each._name:
        told += f", called {each._key!r} in predicates"
    if isinstance(each, Attr):
        if _is_derived(each):
            return f"{told}, derived from {each._derivation}"
    elif each._options.inverse is not None:
        told += f", inverse {_name(each._destination)}.{each._options.inverse}"
    return f"{told}, required" if each._is_required else f"{told}, default {_default(each)!r}"


def missing(model: type[Model], values: Mapping[str, Any]) -> TypeError:
    """What to tell of a constructor that was not given everything it needs."""
    entity = model._quire_entity
    names = [name for name in entity.properties if name in entity.required and name not in values]
    first = entity.properties[names[0]]
    if isinstance(first, Attr):
        value = "None" if first._is_optional else "..."
        remedy = f"quire.attr(default={value})"
    else:
        remedy = "quire.relation()"
    return TypeError(
        f"{entity.name}() needs {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))}. Give a value, or "
        f"declare what may be left out with a default: {first._name}: quire.{_declared(first)} = {remedy}")


def positional(model: type[Model], given: tuple[Any, ...]) -> TypeError:
    """What to tell of a constructor that was given values without their names."""
    entity = model._quire_entity
    names = [name for name, each in entity.properties.items() if not _is_derived(each)]
    # Those that it needs first.
    names.sort(key=lambda name: name not in entity.required)
    if isinstance(given[0], Mapping):
        example = f": {entity.name}(**values) of a dictionary"
    else:
        example = f": {entity.name}({names[0]}={given[0]!r:.40})" if names else ""
    return TypeError(f"{entity.name}() takes its values by name{example}.")


def unmade(model: type[Model]) -> InvalidState:
    """What to tell of an object whose class has a constructor that leaves out the one of `Model`."""
    entity = model._quire_entity
    maker = next(each for each in model.__mro__ if "__init__" in vars(each))
    values = ", ".join(f"{name}=..." for name in entity.properties if name in entity.required)
    return InvalidState(
        f"{maker.__name__}.__init__ has not called the constructor of its base class, which makes the object. Begin it "
        f"with super().__init__({values}).", entity=entity.name)


def _declared(each: Property) -> str:
    """The annotation, in one spelling for all."""
    name = each._type.python.__name__ if isinstance(each, Attr) else _name(each._destination)
    is_optional = each._is_optional and not isinstance(each, ToMany)
    return f"{type(each).__name__}[{f'Optional[{name}]' if is_optional else name}]"


def _default(each: Property) -> Any:
    if each._is_required:
        return _NONE
    if isinstance(each, Attr):
        return each._default
    return () if isinstance(each, ToMany) else None


def _assigned(each: Property) -> Any:
    """The type of what is assigned; text when the class it names may come later."""
    if isinstance(each, Attr):
        python = each._type.python
        return Optional[python] if each._is_optional else python
    destination: Any = each._destination
    if isinstance(destination, Unresolved):
        if isinstance(each, ToMany):
            return f"Iterable[{destination.name}]"
        return f"Optional[{destination.name}]" if each._is_optional else destination.name
    if isinstance(each, ToMany):
        return Iterable[destination]
    return Optional[destination] if each._is_optional else destination


def _is_derived(each: Property) -> bool:
    return isinstance(each, Attr) and each._derivation is not None


def _name(destination: Any) -> str:
    name: str = destination.name if isinstance(destination, Unresolved) else destination.__name__
    return name
