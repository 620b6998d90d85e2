"""Changes of entities, and of their indexes."""

from __future__ import annotations

from typing import Optional

from changes_base import Changes
from description import Entity, Relationship
from model_dice import ENTITIES


class EntityChanges(Changes):
    def _new_name(self) -> Optional[str]:
        found = [each for each in ENTITIES if each not in self.model.entities]
        return self.dice.choice(found) if found else None

    def change_entity_new(self) -> bool:
        name = self._new_name()
        if name is None:
            return False
        parent = self.parts.entity(self.model) if self.dice.random() < 0.5 else None
        self.model.entities[name] = Entity(name, parent, self.dice.random() < 0.2, name)
        for _ in range(self.dice.randint(0, 2)):
            self.parts.add_attribute(self.model, name)
        return True

    def change_entity_new_parent(self) -> bool:
        """A new one between an entity and its parent, or above a root."""
        name = self._new_name()
        if name is None:
            return False
        child = self.parts.entity(self.model)
        self.model.entities[name] = Entity(
            name, self.model.entities[child].parent, self.dice.random() < 0.5, name)
        self.model.entities[child].parent = name
        self.parts.add_attribute(self.model, name, "default")
        return True

    def change_entity_removed(self) -> bool:
        """Its children are gone, too, or have its parent."""
        if len(self.model.entities) < 2:
            return False
        name = self.parts.entity(self.model)
        gone = [name]
        if self.dice.random() < 0.5:
            gone = self.model.tree(name)
        else:
            for child in self.model.children(name):
                self.model.entities[child].parent = self.model.entities[name].parent
        if len(gone) == len(self.model.entities):
            return False
        for each in gone:
            del self.model.entities[each]
        for entity in self.model.entities.values():
            entity.properties = {
                name: each for name, each in entity.properties.items()
                if not isinstance(each, Relationship) or each.destination in self.model.entities}
        self._mend_inverses()
        return True

    def _mend_inverses(self) -> None:
        for entity in self.model.entities.values():
            for each in entity.properties.values():
                if isinstance(each, Relationship) and each.inverse is not None and self.inverse(each) is None:
                    each.inverse = None

    def change_entity_renamed(self) -> bool:
        name = self._new_name()
        if name is None:
            return False
        entity = self.model.entities[self.parts.entity(self.model)]
        former = entity.name
        self._renamed(entity, name)
        entity.class_name = name
        self.model.entities = {each.name: each for each in self.model.entities.values()}
        for each in self.model.entities.values():
            if each.parent == former:
                each.parent = name
            for one in each.properties.values():
                if isinstance(one, Relationship) and one.destination == former:
                    one.destination = name
        return True

    def change_entity_parent(self) -> bool:
        """Another one of its tree, or none."""
        name = self.parts.entity(self.model)
        within = [
            each for each in self.model.tree(self.model.root(name))
            if each not in self.model.tree(name) and each != self.model.parent(name)]
        choices: list[Optional[str]] = [*within, *([None] if self.model.parent(name) else [])]
        return bool(choices) and self.reparent(name, self.dice.choice(choices))

    def change_entity_concrete(self) -> bool:
        found = [each for each in self.model.entities.values() if each.abstract]
        if not found:
            return False
        self.dice.choice(found).abstract = False
        return True

    # Indexes.

    def change_index_new(self) -> bool:
        return self.parts.add_index(self.model, self.parts.entity(self.model))

    def change_index_removed(self) -> bool:
        found = [each for each in self.model.entities.values() if each.indexes]
        if not found:
            return False
        self.dice.choice(found).indexes.pop()
        return True

    def change_constraint_new(self) -> bool:
        return self.parts.add_constraint(self.model, self.parts.entity(self.model))

    def change_constraint_removed(self) -> bool:
        found = [each for each in self.model.entities.values() if each.constraints]
        if not found:
            return False
        self.dice.choice(found).constraints.pop()
        return True
