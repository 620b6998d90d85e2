"""Classes for a model that no program has declared: that of a file."""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from typing import Any, Union

from ..predicates._owners import Unresolved
from . import _types
from ._fetched import Fetched, FetchedOptions
from ._rules import AttrRules
from .model import RESERVED, Model
from .model_description import (
    AttributeDescription,
    EntityDescription,
    FetchedPropertyDescription,
    ModelDescription,
    RelationshipDescription,
)
from .properties import NO_DEFAULT, Attr, AttrTraits, Property, RelationOptions, ToMany, ToOne

_KINDS = {
    kind.name: kind for kind in (
        _types.Undefined, _types.Integer16, _types.Integer32, _types.Integer64, _types.Decimal, _types.Double,
        _types.Float,
        _types.String, _types.Boolean, _types.Date, _types.Binary, _types.UUID, _types.URI, _types.Transformable)
}


def classes_of(model: ModelDescription) -> list[type[Model]]:
    """A class for each entity, parents first. Constructors need nothing: saves find what is missing."""
    made: dict[str, type[Model]] = {}
    templates = template_names(model)
    waiting = sorted(model.entities.values(), key=lambda entity: entity.number)
    # By number parents come first.
    for entity in waiting:
        parent = made[entity.parent] if entity.parent else Model
        made[entity.name] = _class(entity, parent, templates.get(entity.name, {}))
    return list(made.values())


def template_names(model: ModelDescription) -> dict[str, dict[str, str]]:
    """Of each entity, what its templates are called in Python, and in the model."""
    found: dict[str, dict[str, str]] = {}
    # A template with a free name has it, before those that classes have given the name of their entity.
    for name, request in sorted(model.templates.items(), key=lambda item: item[0].startswith(f"{item[1].entity}.")):
        own = found.setdefault(request.entity, {})
        short = name[len(request.entity) + 1 :] if name.startswith(f"{request.entity}.") else name
        own[name if short in own else short] = name
    return found


def python_names(
    entity: EntityDescription, inherited: Iterable[str], others: Iterable[str] = ()
) -> dict[str, str]:
    """What the own properties of an entity are called in Python, by their names; other names are taken."""
    taken = {*RESERVED, *inherited, *others}
    own = [each.name for each in entity.properties.values() if each.entity == entity.name]
    found: dict[str, str] = {}
    # A property with a free name has it, whatever others would come to be called.
    for name in sorted(own, key=lambda name: python_name(name, taken) != name):
        found[name] = python_name(name, taken)
        taken.add(found[name])
    return {name: found[name] for name in own}


def python_name(name: str, taken: Union[frozenset[str], set[str]]) -> str:
    """What a property is called in Python: its name, with an underscore behind it where that name is not free."""
    found = name.lstrip("_") + "_" * (len(name) - len(name.lstrip("_")))
    while found in taken or keyword.iskeyword(found):
        found += "_"
    return found


def _class(entity: EntityDescription, parent: type[Model], templates: dict[str, str]) -> type[Model]:
    names = python_names(entity, parent._quire_entity.properties if parent is not Model else ())
    properties: dict[str, Union[Property, Fetched[Any]]] = {}
    for key, name in names.items():
        each = entity.properties[key]
        if isinstance(each, AttributeDescription):
            properties[name] = _attribute(entity.name, name, each)
        elif isinstance(each, FetchedPropertyDescription):
            properties[name] = _fetched(entity.name, name, each)
        else:
            properties[name] = _relationship(entity.name, name, each)
    namespace: dict[str, Any] = {
        "__abstract__": entity.abstract, "__module__": __name__, "_quire_found": properties,
        "_quire_templates": templates}
    return type(entity.name, (parent,), namespace)


def _attribute(owner: str, name: str, found: AttributeDescription) -> Attr[Any]:
    default = NO_DEFAULT if found.default is None or found.derivation else found.default
    made: Attr[Any] = Attr(
        owner, name, _KINDS[found.type], found.optional, default, found.transient, found.searchable, found.name,
        AttrRules(), found.derivation or None, _traits(found))
    made._is_required = False
    return made


def _traits(found: AttributeDescription) -> AttrTraits:
    return AttrTraits(
        found.external, found.preserved, found.transformer or None, found.value_class or None,
        found.hash_modifier or None, found.renamed_from or None, found.user_info)


def _fetched(owner: str, name: str, found: FetchedPropertyDescription) -> Fetched[Any]:
    request = found.request
    options = FetchedOptions(request.condition or None, tuple(request.order_by), request.limit, found.name)
    return Fetched(owner, name, Unresolved(found.destination), options)


def _relationship(owner: str, name: str, found: RelationshipDescription) -> Union[ToOne[Any], ToMany[Any]]:
    options = RelationOptions(found.inverse or None, 0, found.ordered, found.minimum, found.maximum, found.name)
    kind = ToMany if found.to_many else ToOne
    return kind(owner, name, Unresolved(found.destination), found.optional, options)
