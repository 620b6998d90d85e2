"""Changes that must be refused, where there can be objects of what they change."""

from __future__ import annotations

from changes_base import Changes
from description import BINARY, INTEGER64, STRING, Relationship
from model_xml import value_class


class RefusedChanges(Changes):
    def refuse_attribute_type(self) -> bool:
        found = self.attribute()
        if found is None or id(found[1]) not in self.known:
            return False
        each = found[1]
        each.type = INTEGER64 if each.type == STRING else STRING
        each.default, each.transformer, each.external, each.class_name = None, None, False, value_class(each.type)
        return True

    def refuse_attribute_mandatory(self) -> bool:
        found = self.attribute()
        if found is None or not found[1].optional or id(found[1]) not in self.known:
            return False
        found[1].optional, found[1].default = False, None
        return True

    def refuse_attribute_new(self) -> bool:
        made = self.parts.add_attribute(self.model, self.parts.entity(self.model), "mandatory")
        if made is not None:
            made.default = None
        return made is not None

    def refuse_attribute_external(self) -> bool:
        found = self.attribute()
        if found is None or found[1].type != BINARY or id(found[1]) not in self.known:
            return False
        found[1].external = not found[1].external
        return True

    def refuse_relationship_to_one(self) -> bool:
        found = self.relationship()
        if found is None or not found[1].many or id(found[1]) not in self.known:
            return False
        found[1].maximum, found[1].ordered = 1, False
        return True

    def refuse_relationship_mandatory(self) -> bool:
        found = self.relationship()
        if found is None or not found[1].optional:
            return False
        found[1].optional = False
        return True

    def refuse_attribute_to_relationship(self) -> bool:
        found = self.attribute()
        if found is None or id(found[1]) not in self.known:
            return False
        entity, each = found
        entity.properties[each.name] = Relationship(
            each.name, optional=True, renamed_from=each.renamed_from, destination=self.parts.entity(self.model),
            maximum=1)
        return True

    def refuse_trees_merged(self) -> bool:
        roots = self.model.children(None)
        if len(roots) < 2:
            return False
        one, other = self.dice.sample(roots, 2)
        return self.reparent(one, other)

    def refuse_entity_abstract(self) -> bool:
        found = self.model.entities[self.parts.entity(self.model, concrete=True)]
        found.abstract = True
        return True

    def refuse_destination_other(self) -> bool:
        found = self.relationship(inverse=False)
        if found is None:
            return False
        found[1].destination = self.parts.entity(self.model)
        return True
