"""Writes keyed archives: values, predicates, and whole models as compiled models and stores hold them."""

from __future__ import annotations

import plistlib
import uuid
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Optional

from description import (
    EXTERNAL, PRESERVED, AnyProperty, Attribute, Entity, FetchedProperty, Index, Model, Property, Relationship)
from predicates import COMPOUNDS, OPERATORS

SUPERCLASSES = {
    "NSMutableArray": "NSArray", "NSMutableDictionary": "NSDictionary", "NSMutableSet": "NSSet",
    "NSRelationshipDescription": "NSPropertyDescription", "NSAttributeDescription": "NSPropertyDescription",
    "NSDerivedAttributeDescription": "NSAttributeDescription", "NSExpressionDescription": "NSPropertyDescription",
    "NSFetchedPropertyDescription": "NSPropertyDescription", "NSComparisonPredicate": "NSPredicate",
    "NSCompoundPredicate": "NSPredicate", "NSKeyPathExpression": "NSFunctionExpression",
    "NSFunctionExpression": "NSExpression", "NSSelfExpression": "NSExpression", "NSVariableExpression": "NSExpression",
    "NSConstantValueExpression": "NSExpression", "NSKeyPathSpecifierExpression": "NSExpression",
    "NSAggregateExpression": "NSExpression", "NSEqualityPredicateOperator": "NSPredicateOperator",
    "NSComparisonPredicateOperator": "NSPredicateOperator", "NSInPredicateOperator": "NSPredicateOperator",
    "NSDecimalNumber": "NSNumber", "NSNumber": "NSValue"}
Keys = dict[str, Any]


class Writer:
    """Objects of an archive in the making. Equal texts and numbers are one object."""

    def __init__(self) -> None:
        self.objects: list[Any] = ["$null"]
        self._known: dict[Any, plistlib.UID] = {}

    def data(self, root: plistlib.UID) -> bytes:
        return plistlib.dumps({
            "$version": 100000, "$archiver": "NSKeyedArchiver", "$top": {"root": root}, "$objects": self.objects,
        }, fmt=plistlib.FMT_BINARY, sort_keys=False)

    def add(self, entry: Any) -> plistlib.UID:
        self.objects.append(entry)
        return plistlib.UID(len(self.objects) - 1)

    def primitive(self, value: Any) -> plistlib.UID:
        key = (type(value), value)
        if key not in self._known:
            self._known[key] = self.add(value)
        return self._known[key]

    def kind(self, name: str) -> plistlib.UID:
        if ("class", name) not in self._known:
            classes = [name]
            while classes[-1] in SUPERCLASSES:
                classes.append(SUPERCLASSES[classes[-1]])
            self._known["class", name] = self.add({"$classname": name, "$classes": [*classes, "NSObject"]})
        return self._known["class", name]

    def object(self, kind: str, keys: Optional[Keys] = None) -> plistlib.UID:
        """An object with its keys, which are references or values that lie in it."""
        entry: Keys = {}
        made = self.add(entry)
        entry.update(keys or {})
        entry["$class"] = self.kind(kind)
        return made

    def fill(self, made: plistlib.UID, keys: Keys) -> None:
        self.objects[made.data].update(keys)

    def listed(self, members: Iterable[plistlib.UID], kind: str = "NSArray") -> plistlib.UID:
        return self.object(kind, {"NS.objects": list(members)})

    def mapped(self, pairs: dict[str, plistlib.UID], kind: str = "NSMutableDictionary") -> plistlib.UID:
        return self.object(kind, {"NS.keys": [self.value(each) for each in pairs], "NS.objects": list(pairs.values())})

    def known_keys(self, pairs: dict[str, plistlib.UID]) -> plistlib.UID:
        names = self.listed([self.value(each) for each in pairs])
        mapping = self.object("NSKnownKeysMappingStrategy1", {"keys": names, "length": len(pairs), "version": 1})
        return self.object("NSKnownKeysDictionary1", {
            "searchMapping": mapping, "values": self.listed(pairs.values()), "version": 1,
            "emptyToken": self.value("__empty_slot_token_of_this_test__")})

    def value(self, value: Any) -> plistlib.UID:
        """A plain value, as `archive.plain` says it."""
        if value is None:
            return plistlib.UID(0)
        if isinstance(value, list):
            return self.listed([self.value(each) for each in value])
        if not isinstance(value, dict):
            return self.primitive(value)
        marks = {
            "$date": lambda it: self.object("NSDate", {"NS.time": it}),
            "$data": lambda it: self.object("NSData", {"NS.data": bytes.fromhex(it)}),
            "$uuid": lambda it: self.object("NSUUID", {"NS.uuidbytes": uuid.UUID(it).bytes}),
            "$url": lambda it: self.object("NSURL", {"NS.base": plistlib.UID(0), "NS.relative": self.value(it)}),
            "$set": lambda it: self.listed([self.value(each) for each in it], "NSSet"),
            "$null": lambda it: self.object("NSNull"), "$decimal": self.decimal}
        for mark, make in marks.items():
            if mark in value:
                return make(value[mark])
        if "$class" in value:
            inner = {key: self.value(each) for key, each in value.items() if key != "$class"}
            return self.object(value["$class"], inner)
        return self.mapped({key: self.value(each) for key, each in value.items()}, "NSDictionary")

    def decimal(self, text: str) -> plistlib.UID:
        sign, digits, exponent = Decimal(text).as_tuple()
        assert isinstance(exponent, int)
        mantissa = int("".join(str(each) for each in digits))
        data = mantissa.to_bytes(16, "little")
        return self.object("NSDecimalNumber", {
            "NS.mantissa": data, "NS.mantissa.bo": 1, "NS.exponent": exponent, "NS.negative": bool(sign),
            "NS.length": (mantissa.bit_length() + 15) // 16, "NS.compact": True})

    # Predicates and expressions.

    def predicate(self, plain: Keys) -> plistlib.UID:
        for number, word in COMPOUNDS.items():
            if word in plain:
                parts = self.listed([self.predicate(each) for each in plain[word]])
                return self.object("NSCompoundPredicate", {
                    "NSCompoundPredicateType": number, "NSSubpredicates": parts})
        if "constant" in plain:
            return self.object("NSTruePredicate" if plain["constant"] else "NSFalsePredicate")
        number = {name: each for each, name in OPERATORS.items()}[plain["compare"]]
        keys: Keys = {"NSOperatorType": number, "NSModifier": plain["modifier"]}
        if number in (4, 5):
            kind = "NSEqualityPredicateOperator"
            keys.update({"NSOptions": plain["options"], "NSNegate": number == 5})
        elif number in (10, 99):
            kind = "NSInPredicateOperator"
            keys["NSFlags"] = plain["options"]
        else:
            kind = "NSComparisonPredicateOperator"
            keys.update({"NSOptions": plain["options"], "NSVariant": number})
        return self.object("NSComparisonPredicate", {
            "NSLeftExpression": self.expression(plain["left"]), "NSRightExpression": self.expression(plain["right"]),
            "NSPredicateOperator": self.object(kind, keys)})

    def expression(self, plain: Keys) -> plistlib.UID:
        if "self" in plain:
            return self.object("NSSelfExpression", {"NSExpressionType": 1})
        if "variable" in plain:
            return self.object("NSVariableExpression", {
                "NSExpressionType": 2, "NSVariable": self.value(plain["variable"])})
        if "value" in plain:
            keys: Keys = {"NSExpressionType": 0}
            if plain["value"] is None:
                keys["NSConstantValueClassName"] = plistlib.UID(0)
            else:
                keys["NSConstantValue"] = self.value(plain["value"])
            return self.object("NSConstantValueExpression", keys)
        if "list" in plain:
            return self.object("NSAggregateExpression", {
                "NSExpressionType": 14, "NSCollection": self.listed([self.expression(each) for each in plain["list"]])})
        if "function" in plain:
            operand = self.object("NSConstantValueExpression", {
                "NSExpressionType": 0, "NSConstantValueClassName": self.value("_NSPredicateUtilities")})
            arguments = self.listed([self.expression(each) for each in plain["arguments"]])
            name = plain["function"] + (":" if plain["arguments"] else "")
            return self.object("NSFunctionExpression", {
                "NSExpressionType": 4, "NSOperand": operand, "NSSelectorName": self.value(name),
                "NSArguments": arguments})
        many = "." in plain["key"]
        path = self.object("NSKeyPathSpecifierExpression", {
            "NSExpressionType": 10, "NSKeyPath": self.value(plain["key"])})
        return self.object("NSKeyPathExpression", {
            "NSExpressionType": 3, "NSOperand": self.expression(plain.get("of", {"self": True})),
            "NSSelectorName": self.value("valueForKeyPath:" if many else "valueForKey:"),
            "NSArguments": self.listed([path], "NSMutableArray")})


class ModelWriter(Writer):
    """A model. Entities refer to each other, so each one has its place before it is filled."""

    def __init__(self, model: Model, repeat: bool) -> None:
        super().__init__()
        self.model = model
        self.repeat = repeat
        self.root = self.object("NSManagedObjectModel")
        self.entities = {name: self.object("NSEntityDescription") for name in model.entities}
        self.properties = {
            (entity, name): self.object(self.property_kind(each))
            for entity in model.entities for name, each in self.held(entity).items()}

    def held(self, entity: str) -> dict[str, AnyProperty]:
        """The properties that stand with an entity: its own, and those it repeats of its parents."""
        return self.model.properties(entity) if self.repeat else self.model.entities[entity].properties

    def whole(self, cache: bool) -> bytes:
        for name, entity in self.model.entities.items():
            self.fill_entity(name, entity)
            for each in self.held(name).values():
                self.fill_property(name, each)
        templates = {name: self.request(each) for name, each in self.model.templates.items()}
        configurations = {
            name: self.listed([self.entities[each] for each in members], "NSSet")
            for name, members in self.model.configurations.items()}
        keys: Keys = {
            "NSEntities": self.known_keys(self.entities) if cache else self.mapped(self.entities),
            "NSFetchRequestTemplates": self.mapped(templates) if templates else plistlib.UID(0),
            "NSVersionIdentifiers": self.listed(
                [self.value(each) for each in self.model.version_identifiers], "NSSet")}
        if configurations:
            keys["NSConfigurations"] = self.mapped(configurations)
        self.fill(self.root, keys)
        return self.data(self.root)

    @staticmethod
    def property_kind(each: AnyProperty) -> str:
        if isinstance(each, Attribute):
            return "NSAttributeDescription" if each.derivation is None else "NSDerivedAttributeDescription"
        return "NSRelationshipDescription" if isinstance(each, Relationship) else "NSFetchedPropertyDescription"

    def fill_entity(self, name: str, entity: Entity) -> None:
        keys: Keys = {
            "NSEntityName": self.value(name), "NSClassNameForEntity": self.value(entity.class_name),
            "NSSuperentity": self.entities[entity.parent] if entity.parent else plistlib.UID(0),
            "NSSubentities": self.mapped({each: self.entities[each] for each in self.model.children(name)}),
            "NSProperties": self.mapped({each: self.properties[name, each] for each in self.held(name)}),
            "NSRenamingIdentifier": self.value(entity.renamed_from or name),
            "NSUserInfo": self.value(entity.user_info),
            "NSVersionHashModifier": self.value(entity.hash_modifier), "NSManagedObjectModel": self.root}
        if entity.abstract:
            keys["NSIsAbstract"] = True
        for key, lists in (("NSUniqueTuples", entity.constraints), ("NSCompoundIndexes", entity.compounds)):
            if lists:
                keys[key] = self.listed([self.value(each) for each in lists], "NSMutableArray")
        if entity.indexes:
            keys["NSFetchIndexDescriptions"] = self.listed([self.index(name, each) for each in entity.indexes])
        self.fill(self.entities[name], keys)

    def fill_property(self, entity: str, each: AnyProperty) -> None:
        keys = self.common(entity, each)
        if isinstance(each, Attribute):
            keys.update(self.attribute(each))
        elif isinstance(each, Relationship):
            keys.update(self.relationship(each))
        elif isinstance(each, FetchedProperty):
            keys.update({
                "NSFetchRequest": self.request(each.request), "NSIsTransient": True, "NSIsReadOnly": True,
                "_NSFetchRequestEntityName": self.value(each.request.get("entity"))})
        self.fill(self.properties[entity, each.name], keys)

    def common(self, entity: str, each: Property) -> Keys:
        keys: Keys = {
            "NSPropertyName": self.value(each.name), "NSEntity": self.entities[entity],
            "NSRenamingIdentifier": self.value(each.renamed_from or each.name), "_P": flags(each)}
        for key, flag in (
                ("NSIsOptional", each.optional), ("NSIsTransient", each.transient), ("NSIsReadOnly", each.read_only),
                ("NSIsIndexed", each.indexed)):
            if flag:
                keys[key] = True
        if each.hash_modifier is not None:
            keys["NSVersionHashModifier"] = self.value(each.hash_modifier)
        if each.user_info:
            keys["NSUserInfo"] = self.value(each.user_info)
        if each.validations:
            keys["NSValidationPredicates"] = self.listed([self.predicate(one["predicate"]) for one in each.validations])
            keys["NSValidationWarnings"] = self.listed([self.value(one["warning"]) for one in each.validations])
        return keys

    def attribute(self, each: Attribute) -> Keys:
        keys: Keys = {
            "NSAttributeType": each.type, "NSAttributeValueClassName": self.value(each.class_name),
            "NSDefaultValue": self.value(each.default), "NSValueTransformerName": self.value(each.transformer),
            "NSFlagsKey": (EXTERNAL if each.external else 0) | (PRESERVED if each.preserved else 0)}
        if each.encrypted:
            keys["NSAllowsCloudEncryption"] = True
        if each.derivation is not None:
            keys.update({
                "NSDerivationExpression": self.expression(each.derivation), "NSIsReadOnly": True,
                "NSFilteringPredicate": self.predicate(each.filter) if each.filter else plistlib.UID(0)})
        return keys

    def relationship(self, each: Relationship) -> Keys:
        inverse = self.model.inverse(each)
        keys: Keys = {
            "NSDestinationEntity": self.entities[each.destination],
            "_NSDestinationEntityName": self.value(each.destination), "NSMinCount": each.minimum,
            "NSMaxCount": each.maximum, "NSDeleteRule": each.delete_rule,
            "_NSInverseRelationshipName": self.value(each.inverse),
            "NSInverseRelationship": plistlib.UID(0) if inverse is None else self.properties[
                self.model.declarer(each.destination, inverse.name), inverse.name]}
        if each.ordered:
            keys["NSIsOrdered"] = True
        return keys

    def index(self, entity: str, each: Index) -> plistlib.UID:
        elements = []
        for number, one in enumerate(each.elements):
            keys: Keys = {
                "NSPropertyName": self.value(one.property or f"expression{number}"), "NSAscending": one.ascending,
                "NSFetchIndexElementType": one.type}
            if one.expression is not None:
                keys["NSIndexedProperty"] = self.object("NSExpressionDescription", {
                    "NSPropertyName": self.value(f"expression{number}"),
                    "NSExpression": self.expression(one.expression)})
            elements.append(self.object("NSFetchIndexElementDescription", keys))
        return self.object("NSFetchIndexDescription", {
            "NSIndexName": self.value(each.name), "NSEntity": self.entities[entity],
            "NSIndexElements": self.listed(elements),
            "NSPartialIndexPredicate": self.predicate(each.condition) if each.condition else plistlib.UID(0)})

    def request(self, plain: Keys) -> plistlib.UID:
        sorts = [self.object("NSSortDescriptor", {
            "NSKey": self.value(key), "NSAscending": ascending, "NSSelector": self.value(selector)})
            for key, ascending, selector in plain.get("sort", [])]
        return self.object("NSFetchRequest", {
            "NSEntity": self.entities[plain["entity"]] if "entity" in plain else plistlib.UID(0),
            "NSPredicate": self.predicate(plain["predicate"]) if "predicate" in plain else plistlib.UID(0),
            "NSSortDescriptors": self.listed(sorts) if sorts else plistlib.UID(0), "NSHasFetchRequestFlags": True,
            "NSFetchRequestFlags": plain.get("flags", 30), "NSFetchLimit": plain.get("limit", 0),
            "NSFetchOffset": plain.get("offset", 0), "NSBatchSize": plain.get("batch_size", 0),
            "NSResultType": plain.get("result_type", 0)})


def flags(each: Property) -> int:
    """The bits under _P."""
    ordered = isinstance(each, Relationship) and each.ordered
    return (1 | 16 | 32 | (2 if each.optional else 0) | (4 if each.read_only else 0) | (8 if each.transient else 0)
            | (64 if not each.user_info else 0) | (128 if each.hash_modifier is None else 0) | (1024 if ordered else 0))


def write_model(model: Model, cache: bool = True, repeat: bool = True) -> bytes:
    """The archive of a model, as a cache or as a compiled file has it, with or without repeated properties."""
    return ModelWriter(model, repeat).whole(cache)


def write_value(value: Any) -> bytes:
    """The archive of a plain value."""
    writer = Writer()
    return writer.data(writer.value(value))
