"""The model that is changed, and its parts."""

from __future__ import annotations

import copy
import random
from typing import Optional, Union

from description import AnyProperty, Attribute, Entity, Model, Relationship
from model_dice import ModelDice


class Changes:
    def __init__(self, source: Model, dice: random.Random) -> None:
        self.model, self.dice = copy.deepcopy(source), dice
        self.parts = ModelDice(dice)
        # What the source has.
        self.known = {id(each) for entity in self.model.entities.values() for each in entity.properties.values()}
        self.known |= {id(entity) for entity in self.model.entities.values()}

    # Parts.

    def attribute(self) -> Optional[tuple[Entity, Attribute]]:
        found = [
            (entity, each) for entity in self.model.entities.values() for each in entity.properties.values()
            if isinstance(each, Attribute)]
        return self.dice.choice(found) if found else None

    def relationship(self, *, inverse: Optional[bool] = None) -> Optional[tuple[Entity, Relationship]]:
        found = [
            (entity, each) for entity in self.model.entities.values() for each in entity.properties.values()
            if isinstance(each, Relationship) and (inverse is None or (each.inverse is not None) == inverse)]
        return self.dice.choice(found) if found else None

    def inverse(self, each: Relationship) -> Optional[Relationship]:
        return self.model.inverse(each)

    def _renamed(self, part: Union[AnyProperty, Entity], name: str) -> None:
        if id(part) in self.known:
            if part.renamed_from is None or self.dice.random() < 0.5 and part.renamed_from.lower().startswith("former"):
                part.renamed_from = part.name
        part.name = name

    def _put_again(self, entity: Entity) -> None:
        entity.properties = {each.name: each for each in entity.properties.values()}

    def _tidy(self) -> None:
        """Indexes and constraints of what is gone go."""
        for name, entity in self.model.entities.items():
            properties = self.model.properties(name)
            entity.indexes = [
                each for each in entity.indexes
                if all(isinstance(properties.get(one.property or ""), Attribute) for one in each.elements)
                and self._are_fit([one.property or "" for one in each.elements], name)]
            entity.constraints = [
                each for each in entity.constraints if all(isinstance(properties.get(one), Attribute) for one in each)]

    def _are_fit(self, names: list[str], entity: str) -> bool:
        properties = self.model.properties(entity)
        return all(getattr(properties[each], "type", None) in (100, 200, 300, 500, 700, 900) for each in names)

    def reparent(self, entity: str, parent: Optional[str]) -> bool:
        """Not where a name would be declared twice in a line."""
        if parent is not None:
            above = set(self.model.properties(parent))
            if any(above & set(self.model.entities[each].properties) for each in self.model.tree(entity)):
                return False
        self.model.entities[entity].parent = parent
        return True
