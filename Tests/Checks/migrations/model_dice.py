"""Random models: trees of entities with attributes of all types, and relationships of all forms."""

from __future__ import annotations

import random
from typing import Any, Optional

from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER16, INTEGER32, INTEGER64, RTREE_INDEX, STRING, TRANSFORMABLE,
    URI, UUID, Attribute, Entity, Index, IndexElement, Model, Relationship)
from model_xml import value_class

ENTITIES = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Iota", "Kappa", "Lambda", "Omega"]
# Few names, so that those of siblings collide in the columns of their table.
ATTRIBUTES = [
    "name", "size", "note", "rank", "mark", "code", "tint", "word", "flag", "born", "seal", "site", "Name", "名前"]
RELATIONSHIPS = ["owner", "parts", "next", "links", "host", "items", "peer", "group", "mates", "tops", "base", "rows"]
TYPES = [
    INTEGER16, INTEGER32, INTEGER64, DECIMAL, DOUBLE, FLOAT, STRING, BOOLEAN, DATE, BINARY, UUID, URI, TRANSFORMABLE]
INDEXED = {INTEGER16, INTEGER32, INTEGER64, DOUBLE, STRING, DATE}
UNIQUE = {INTEGER32, INTEGER64, STRING, UUID}
DEFAULTS: dict[int, list[Any]] = {
    INTEGER16: [0, -7, 32767], INTEGER32: [0, 3, -(1 << 31)], INTEGER64: [0, (1 << 63) - 1, -5],
    DECIMAL: [{"$decimal": "9.95"}, {"$decimal": "7"}, {"$decimal": "0"}], DOUBLE: [0.0, 2.5, -1e300],
    FLOAT: [0.5, 0.0], STRING: ["", "it's", "Zoë 🙂", 'say "x"; --'], BOOLEAN: [True, False],
    DATE: [{"$date": 0.0}, {"$date": -86400.5}], UUID: [{"$uuid": "0f3a5b1c-2d4e-4f60-8a7b-9c0d1e2f3a4b"}],
    URI: [{"$url": "https://example.org/a?b=1"}]}


class ModelDice:
    """Makes models, and parts of them, as a seed decides."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def chance(self, of_one: float) -> bool:
        return self.dice.random() < of_one

    def model(self, related: bool = False) -> Model:
        """`related`: few entities with many relationships among them."""
        model = Model({}, version_identifiers=[f"version {self.dice.randrange(100)}"])
        names = self.dice.sample(ENTITIES, self.dice.randint(2, 4 if related else 6))
        for name in names:
            shallow = [each for each in model.entities if len(model.lineage(each)) < 3]
            parent = self.dice.choice(shallow) if shallow and self.chance(0.5) else None
            model.entities[name] = Entity(name, parent, self.chance(0.2), name)
        for name in names:
            for _ in range(self.dice.randint(0, 1 if related else 4)):
                self.add_attribute(model, name)
        for _ in range(self.dice.randint(3, 8) if related else self.dice.randint(0, len(names) + 2)):
            self.add_relationship(model)
        for name in names:
            if self.chance(0.25):
                self.add_index(model, name)
            if self.chance(0.15):
                self.add_constraint(model, name)
            if self.chance(0.05):
                model.entities[name].renamed_from = f"Former{name}"
        return model

    # Names.

    def free(self, model: Model, entity: str, pool: list[str]) -> Optional[str]:
        """A name that no entity above or below has."""
        family = {*model.lineage(entity), *model.tree(entity)}
        taken = {name for each in family for name in model.entities[each].properties}
        found = [each for each in pool if each not in taken]
        return self.dice.choice(found) if found else None

    def entity(self, model: Model, *, concrete: bool = False) -> str:
        found = [name for name, each in model.entities.items() if not (concrete and each.abstract)]
        return self.dice.choice(found or list(model.entities))

    # Attributes.

    def add_attribute(self, model: Model, entity: str, form: Optional[str] = None) -> Optional[Attribute]:
        """`form` is "mandatory", "default" or "optional"; without it all of them, and mandatory without a default."""
        name = self.free(model, entity, ATTRIBUTES)
        if name is None:
            return None
        kind = self.dice.choice(TYPES if form in (None, "optional") else list(DEFAULTS))
        made = Attribute(name, optional=self.chance(0.75), type=kind, class_name=value_class(kind))
        if kind == TRANSFORMABLE:
            made.transformer = "NSSecureUnarchiveFromData"
        if kind == BINARY:
            made.external = self.chance(0.4)
        if kind in DEFAULTS and (self.chance(0.5) if form is None else form != "optional"):
            made.default = self.dice.choice(DEFAULTS[kind])
        if form is not None:
            made.optional = form != "mandatory"
        elif self.chance(0.08):
            made.renamed_from = f"former_{name}"
        model.entities[entity].properties[name] = made
        return made

    # Relationships.

    def add_relationship(self, model: Model) -> bool:
        owner = self.entity(model)
        destination = owner if self.chance(0.25) else self.entity(model)
        form = self.dice.choice(["one", "many", "one to one", "one to many", "many to many", "many to many", "itself"])
        if form == "itself":
            destination = owner
        one = self._put(model, owner, destination, many=form in ("many", "many to many"))
        if one is None:
            return False
        if form in ("one", "many"):
            return True
        if form == "itself":
            one.inverse, one.maximum = one.name, self.dice.choice([0, 1])
            one.ordered = False
            return True
        other = self._put(model, destination, owner, many=form != "one to one")
        if other is None:
            return True
        one.inverse, other.inverse = other.name, one.name
        return True

    def _put(self, model: Model, owner: str, destination: str, many: bool) -> Optional[Relationship]:
        name = self.free(model, owner, RELATIONSHIPS)
        if name is None:
            return None
        made = Relationship(
            name, optional=not self.chance(0.05), destination=destination, maximum=0 if many else 1,
            ordered=many and self.chance(0.4))
        if self.chance(0.05):
            made.renamed_from = f"former_{name}"
        model.entities[owner].properties[name] = made
        return made

    # Indexes and constraints.

    def add_index(self, model: Model, entity: str) -> bool:
        found = [each for each in model.attributes(entity) if each.type in INDEXED]
        name = f"by{len(model.entities[entity].indexes)}{self.dice.choice('XYZ')}"
        if not found or any(each.name == name for each in model.entities[entity].indexes):
            return False
        if found[0].type == DOUBLE and self.chance(0.5):
            elements = [IndexElement(found[0].name, type=RTREE_INDEX)]
        else:
            chosen = self.dice.sample(found, min(len(found), self.dice.randint(1, 2)))
            elements = [IndexElement(each.name, ascending=self.chance(0.7)) for each in chosen]
        names = [each.property for each in elements]
        if any([one.property for one in each.elements] == names for each in model.entities[entity].indexes):
            return False
        model.entities[entity].indexes.append(Index(name, elements))
        return True

    def add_constraint(self, model: Model, entity: str) -> bool:
        above = [each for name in model.lineage(entity) for each in model.entities[name].constraints]
        below = [each for name in model.tree(entity) for each in model.entities[name].constraints]
        found = [
            each.name for each in model.attributes(entity)
            if each.type in UNIQUE and [each.name] not in [*above, *below]]
        if not found:
            return False
        model.entities[entity].constraints.append([self.dice.choice(found)])
        return True
