"""Classes for a model that no program has declared: that of a file."""

from __future__ import annotations

import keyword
from typing import Any, Union

from .._c import _ffi, _values
from ..predicates._owners import Unresolved
from . import _types
from ._rules import AttrRules
from .model import RESERVED, Model
from .model_description import (
    AttributeDescription,
    EntityDescription,
    FetchedPropertyDescription,
    ModelDescription,
    RelationshipDescription,
)
from .properties import NO_DEFAULT, Attr, AttrTraits, RelationOptions, ToMany, ToOne

_UNDEFINED = _types.AttributeType(
    "Undefined", _ffi.QUIRE_TYPE_UNDEFINED, object, accepted=(object,), canonical=lambda value: value,
    pack=_values.any_value)
_KINDS = {
    kind.name: kind for kind in (
        _UNDEFINED, _types.Integer16, _types.Integer32, _types.Integer64, _types.Decimal, _types.Double, _types.Float,
        _types.String, _types.Boolean, _types.Date, _types.Binary, _types.UUID, _types.URI, _types.Transformable)
}


def classes_of(model: ModelDescription) -> list[type[Model]]:
    """A class for each entity, parents first. Constructors need nothing: saves find what is missing."""
    made: dict[str, type[Model]] = {}
    waiting = sorted(model.entities.values(), key=lambda entity: entity.number)
    # By number parents come first.
    for entity in waiting:
        made[entity.name] = _class(entity, made[entity.parent] if entity.parent else Model)
    return list(made.values())


def python_name(name: str, taken: Union[frozenset[str], set[str]]) -> str:
    """What a property is called in Python: its name, with an underscore behind it where that name is not free."""
    found = name.lstrip("_") + "_" * (len(name) - len(name.lstrip("_")))
    while found in taken or keyword.iskeyword(found):
        found += "_"
    return found


def _class(entity: EntityDescription, parent: type[Model]) -> type[Model]:
    taken = {*RESERVED, *(parent._quire_entity.properties if parent is not Model else ())}
    own = [each for each in entity.properties.values() if each.entity == entity.name]
    properties: dict[str, Union[Attr[Any], ToOne[Any], ToMany[Any]]] = {}
    # A property with a free name has it, whatever others would come to be called.
    for each in sorted(own, key=lambda each: python_name(each.name, taken) != each.name):
        if isinstance(each, FetchedPropertyDescription):
            continue
        name = python_name(each.name, taken)
        taken.add(name)
        properties[name] = (
            _attribute(entity.name, name, each) if isinstance(each, AttributeDescription)
            else _relationship(entity.name, name, each))
    namespace: dict[str, Any] = {"__abstract__": entity.abstract, "__module__": __name__, "_quire_found": properties}
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


def _relationship(owner: str, name: str, found: RelationshipDescription) -> Union[ToOne[Any], ToMany[Any]]:
    options = RelationOptions(found.inverse or None, 0, found.ordered, found.minimum, found.maximum, found.name)
    kind = ToMany if found.to_many else ToOne
    return kind(owner, name, Unresolved(found.destination), found.optional, options)
