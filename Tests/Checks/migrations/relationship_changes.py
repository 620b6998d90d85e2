"""Changes of relationships."""

from __future__ import annotations

from changes_base import Changes
from description import Entity, Relationship
from model_dice import RELATIONSHIPS


class RelationshipChanges(Changes):
    def change_relationship_new(self) -> bool:
        before = {id(each) for entity in self.model.entities.values() for each in entity.properties.values()}
        if not self.parts.add_relationship(self.model):
            return False
        for entity in self.model.entities.values():
            for each in entity.properties.values():
                each.optional = each.optional or id(each) not in before
        return True

    def change_relationship_removed(self) -> bool:
        """With the other side."""
        found = self.relationship()
        if found is None:
            return False
        self._remove(*found)
        return True

    def _remove(self, entity: Entity, each: Relationship) -> None:
        other = self.inverse(each)
        del entity.properties[each.name]
        if other is not None and other is not each:
            owner = self.model.entities[self.model.declarer(each.destination, other.name)]
            del owner.properties[other.name]

    def change_relationship_renamed(self) -> bool:
        found = self.relationship()
        name = self.parts.free(self.model, found[0].name, RELATIONSHIPS) if found else None
        if found is None or name is None:
            return False
        entity, each = found
        other = self.inverse(each)
        self._renamed(each, name)
        if other is not None:
            other.inverse = name
        self._put_again(entity)
        return True

    def change_relationship_to_many(self) -> bool:
        found = self.relationship()
        if found is None or found[1].many:
            return False
        found[1].maximum = 0
        found[1].ordered = found[1].inverse != found[1].name and self.dice.random() < 0.4
        return True

    def change_relationship_ordered(self) -> bool:
        found = self.relationship()
        if found is None or not found[1].many or found[1].inverse == found[1].name:
            return False
        found[1].ordered = not found[1].ordered
        return True

    def change_inverse_lost(self) -> bool:
        """The two sides stay, or one of them."""
        found = self.relationship(inverse=True)
        if found is None:
            return False
        entity, each = found
        other = self.inverse(each)
        each.inverse = None
        if other is not None and other is not each:
            other.inverse = None
            if self.dice.random() < 0.6:
                del self.model.entities[self.model.declarer(each.destination, other.name)].properties[other.name]
        return True

    def change_inverse_new(self) -> bool:
        found = self.relationship(inverse=False)
        name = self.parts.free(self.model, found[1].destination, RELATIONSHIPS) if found else None
        if found is None or name is None:
            return False
        entity, each = found
        many = not each.many if self.dice.random() < 0.6 else bool(self.dice.getrandbits(1))
        made = Relationship(
            name, optional=True, destination=entity.name, inverse=each.name, maximum=0 if many else 1,
            ordered=many and self.dice.random() < 0.4)
        self.model.entities[each.destination].properties[name] = made
        each.inverse = name
        return True

    def change_inverse_of_two(self) -> bool:
        """Two that were apart become each other's inverse."""
        found = self.relationship(inverse=False)
        if found is None:
            return False
        entity, each = found
        others = [
            other for other in self.model.entities[each.destination].properties.values()
            if isinstance(other, Relationship) and other.inverse is None and other.destination == entity.name
            and other is not each]
        if not others:
            return False
        other = self.dice.choice(others)
        each.inverse, other.inverse = other.name, each.name
        return True

    def change_destination_up(self) -> bool:
        found = self.relationship(inverse=False)
        parent = self.model.parent(found[1].destination) if found else None
        if found is None or parent is None:
            return False
        found[1].destination = parent
        return True
