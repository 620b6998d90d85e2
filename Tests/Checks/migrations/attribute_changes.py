"""Changes of attributes, and of where properties are."""

from __future__ import annotations

import copy

from changes_base import Changes
from description import Attribute, Relationship
from model_dice import ATTRIBUTES, DEFAULTS


class AttributeChanges(Changes):
    def change_attribute_new_mandatory(self) -> bool:
        return self.parts.add_attribute(self.model, self.parts.entity(self.model), "mandatory") is not None

    def change_attribute_new_optional(self) -> bool:
        return self.parts.add_attribute(self.model, self.parts.entity(self.model), "optional") is not None

    def change_attribute_new_optional_default(self) -> bool:
        return self.parts.add_attribute(self.model, self.parts.entity(self.model), "default") is not None

    def change_attribute_removed(self) -> bool:
        found = self.attribute()
        if found is None:
            return False
        del found[0].properties[found[1].name]
        return True

    def change_attribute_renamed(self) -> bool:
        found = self.attribute()
        name = self.parts.free(self.model, found[0].name, ATTRIBUTES) if found else None
        if found is None or name is None:
            return False
        self._renamed(found[1], name)
        self._put_again(found[0])
        return True

    def change_attributes_swapped(self) -> bool:
        """Two attributes take each other's name."""
        found = self.attribute()
        others = [
            each for each in found[0].properties.values() if isinstance(each, Attribute) and each is not found[1]
        ] if found else []
        if found is None or not others:
            return False
        other = self.dice.choice(others)
        if found[1].renamed_from or other.renamed_from or {id(found[1]), id(other)} - self.known:
            return False
        one, two = found[1].name, other.name
        self._renamed(found[1], two)
        self._renamed(other, one)
        self._put_again(found[0])
        return True

    def change_attribute_mandatory(self) -> bool:
        found = self.attribute()
        if found is None or not found[1].optional or found[1].type not in DEFAULTS:
            return False
        found[1].optional, found[1].default = False, self.dice.choice(DEFAULTS[found[1].type])
        return True

    def change_attribute_optional(self) -> bool:
        found = self.attribute()
        if found is None or found[1].optional:
            return False
        found[1].optional = True
        return True

    # Where properties are.

    def change_property_up(self) -> bool:
        found = self.attribute() if self.dice.random() < 0.7 else self.relationship(inverse=False)
        parent = self.model.parent(found[0].name) if found else None
        if found is None or parent is None:
            return False
        entity, each = found
        for name in self.model.tree(parent):
            # Siblings that have it, too, share it from now on.
            twin = self.model.entities[name].properties.get(each.name)
            if twin is not None and twin is not each:
                if not isinstance(twin, type(each)) or isinstance(twin, Relationship) and twin.inverse:
                    return False
                del self.model.entities[name].properties[each.name]
        del entity.properties[each.name]
        self.model.entities[parent].properties[each.name] = each
        return True

    def change_property_down(self) -> bool:
        found = self.attribute() if self.dice.random() < 0.7 else self.relationship(inverse=False)
        children = self.model.children(found[0].name) if found else []
        if found is None or not children:
            return False
        entity, each = found
        del entity.properties[each.name]
        for name in self.dice.sample(children, self.dice.randint(1, len(children))):
            made = copy.deepcopy(each)
            self.known.add(id(made))
            self.model.entities[name].properties[each.name] = made
        return True
