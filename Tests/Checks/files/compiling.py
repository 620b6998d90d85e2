"""What the compiler of models adds, so that a source and a compiled model can be compared.

A fetch index of one attribute marks the attribute as indexed, and stands there a second time under the attribute's own
name. One of several properties makes a compound index. A bound of values gets a number in place of a message. The class
of a transformable value is not compiled. A store that the framework migrated holds a model without class names.
"""

from __future__ import annotations

import copy
from typing import Optional

from description import TRANSFORMABLE, Attribute, Entity, Index, IndexElement, Model, model_differences


def compiled(model: Model) -> Model:
    """A model with all that a compiler would add, where it is not there already."""
    made = copy.deepcopy(model)
    for entity in made.entities.values():
        for index in list(entity.indexes):
            add_old_forms(entity, index)
        for each in entity.properties.values():
            for one in each.validations:
                if isinstance(one["warning"], int):
                    one["warning"] = None
            if isinstance(each, Attribute):
                if each.indexed:
                    add_index(entity, each.name)
                if each.type == TRANSFORMABLE:
                    each.class_name = None
    return made


def add_old_forms(entity: Entity, index: Index) -> None:
    names = [each.property or element_name(each) for each in index.elements]
    if any(name is None for name in names):
        return
    if len(names) > 1:
        compound = [name for name in names if name is not None]
        if compound not in entity.compounds:
            entity.compounds.append(compound)
        return
    attribute = entity.properties.get(names[0] or "")
    if isinstance(attribute, Attribute):
        attribute.indexed = True


def element_name(element: IndexElement) -> Optional[str]:
    """What a compound index calls the object itself, and its entity."""
    expression = element.expression or {}
    return "self" if expression.get("self") else "entity" if expression.get("key") == "entity" else None


def add_index(entity: Entity, name: str) -> None:
    if all(each.name != name for each in entity.indexes):
        entity.indexes.append(Index(name, [IndexElement(name)]))


def source_differences(found: Model, source: Model) -> list[str]:
    """What a compiled model and its source differ in, but for what a compiler adds or a migration leaves out."""
    one, other = compiled(found), compiled(source)
    if all(each.class_name is None for each in one.entities.values()):
        for entity in other.entities.values():
            entity.class_name = None
    return model_differences(one, other)
