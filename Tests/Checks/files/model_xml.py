"""Models of `.xcdatamodel` folders and of their `contents` files, as descriptions."""

from __future__ import annotations

import os
import plistlib
import xml.etree.ElementTree as ElementTree
from decimal import Decimal, InvalidOperation
from typing import Any, Optional, TypeVar

from archive import decimal_text
from description import (
    BINARY, BINARY_INDEX, BOOLEAN, COMPOSITE, DATE, DECIMAL, DOUBLE, FLOAT, INTEGERS, RTREE_INDEX, STRING, TYPES, URI,
    UUID, Attribute, Entity, FetchedProperty, Index, IndexElement, Model, Property, Relationship, plain_property)
from predicates import read_expression, read_predicate

RULES = {"No Action": 0, "Nullify": 1, "Cascade": 2, "Deny": 3}
CLASSES = {
    DECIMAL: "NSDecimalNumber", STRING: "NSString", DATE: "NSDate", BINARY: "NSData", UUID: "NSUUID", URI: "NSURL"}
# The bits of a request's flags, of which a request that says nothing has all but the first.
FLAGS = {
    "returnDistinctResults": 1, "includeSubentities": 2, "includePropertyValues": 4, "returnObjectsAsFaults": 8,
    "includesPendingChanges": 16}
USUAL_FLAGS = 30
Element = ElementTree.Element
P = TypeVar("P", bound=Property)


class XMLError(Exception):
    """The text is no model."""


def current_contents(path: str) -> str:
    """The file with the model, for a folder of one version or of several, or for the file itself."""
    if path.rstrip("/").endswith(".xcdatamodeld"):
        chosen = os.path.join(path, ".xccurrentversion")
        if os.path.exists(chosen):
            with open(chosen, "rb") as file:
                name = plistlib.load(file)["_XCCurrentVersionName"]
        else:
            name = sorted(each for each in os.listdir(path) if each.endswith(".xcdatamodel"))[0]
        path = os.path.join(path, str(name))
    return os.path.join(path, "contents") if os.path.isdir(path) else path


def read_file(path: str) -> Model:
    with open(current_contents(path), "rb") as file:
        return read_text(file.read())


def read_text(data: bytes) -> Model:
    if b"<!ENTITY" in data:
        raise XMLError("a model declares no entities of XML")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise XMLError(f"no XML: {error}") from error
    if root.tag != "model":
        raise XMLError(f"{root.tag} is no model")
    composites = {need(each, "name"): each for each in root.findall("composite")}
    model = Model({})
    for each in root.findall("entity"):
        name = need(each, "name")
        if name in model.entities:
            raise XMLError(f"there are two entities {name}")
        model.entities[name] = read_entity(each, name, composites)
    for name, entity in model.entities.items():
        if entity.parent not in (None, *model.entities) or model.entities[model.root(name)].parent is not None:
            raise XMLError(f"the parent of {name} is no entity, or below it")
    for configuration in root.findall("configuration"):
        model.configurations[need(configuration, "name")] = sorted(
            need(member, "name") for member in configuration.findall("memberEntity"))
    for each in root.findall("fetchRequest"):
        model.templates[need(each, "name")] = read_request(each)
    model.version_identifiers = [root.get("userDefinedModelVersionIdentifier", "")]
    return model


def need(element: Element, key: str) -> str:
    found = element.get(key)
    if found is None:
        raise XMLError(f"{element.tag} without {key}")
    return found


def is_yes(element: Element, key: str) -> bool:
    return element.get(key, "NO").upper() in ("YES", "TRUE")


def number(element: Element, key: str, default: int) -> int:
    try:
        return int(element.get(key, default))
    except ValueError as error:
        raise XMLError(f"{key} of {element.get('name')} is no number") from error


def user_info(element: Element) -> dict[str, Any]:
    return {need(entry, "key"): entry.get("value", "") for entry in element.findall("userInfo/entry")}


def class_name(element: Element) -> Optional[str]:
    found = element.get("representedClassName")
    return None if found in ("NSManagedObject", "", None) else found


def renamed(element: Element) -> Optional[str]:
    found = element.get("renamingIdentifier") or element.get("elementID")
    return None if found == element.get("name") else found


def read_entity(element: Element, name: str, composites: dict[str, Element]) -> Entity:
    made = Entity(
        name, element.get("parentEntity"), is_yes(element, "isAbstract"), class_name(element),
        element.get("versionHashModifier"), renamed(element), user_info(element))
    for each in element:
        found: Optional[Property] = None
        if each.tag == "attribute":
            found = read_attribute(each, composites, ())
        elif each.tag == "relationship":
            found = read_relationship(each)
        elif each.tag == "fetchedProperty":
            fetched = common(each, FetchedProperty(need(each, "name")))
            request = each.find("fetchRequest")
            fetched.request = {} if request is None else read_request(request)
            found = fetched
        if isinstance(found, (Attribute, Relationship, FetchedProperty)):
            if found.name in made.properties:
                raise XMLError(f"{name} declares {found.name} twice")
            made.properties[found.name] = found
    made.indexes = [read_index(each) for each in element.findall("fetchIndex")]
    made.constraints = named_lists(element, "uniquenessConstraints/uniquenessConstraint", "constraint")
    made.compounds = named_lists(element, "compoundIndexes/compoundIndex", "index")
    return made


def named_lists(element: Element, path: str, part: str) -> list[list[str]]:
    return [[need(one, "value") for one in each.findall(part)] for each in element.findall(path)]


def common(element: Element, made: P) -> P:
    made.optional, made.transient = is_yes(element, "optional"), is_yes(element, "transient")
    made.read_only, made.indexed = is_yes(element, "readOnly"), is_yes(element, "indexed")
    made.hash_modifier, made.renamed_from = element.get("versionHashModifier"), renamed(element)
    made.user_info = user_info(element)
    return made


def read_attribute(element: Element, composites: dict[str, Element], above: tuple[str, ...]) -> Attribute:
    made = common(element, Attribute(need(element, "name")))
    kind = element.get("attributeType", "Undefined")
    if kind not in TYPES:
        raise XMLError(f"{made.name} is of the unknown type {kind}")
    made.type = TYPES[kind]
    made.default = read_default(element, made.type)
    made.transformer = element.get("valueTransformerName")
    made.class_name = element.get("customClassName") or value_class(made.type)
    made.external = is_yes(element, "allowsExternalBinaryDataStorage")
    made.preserved = is_yes(element, "preserveAfterDeletion")
    made.encrypted = is_yes(element, "allowsCloudEncryption")
    if is_yes(element, "derived"):
        made.derivation = read_expression(need(element, "derivationExpression"))
    made.validations = read_bounds(element, made.type)
    if made.type == COMPOSITE:
        name = need(element, "composite")
        if name in above or name not in composites:
            raise XMLError(f"the composite {name} is not there, or within itself")
        made.parts = [
            plain_property(read_attribute(each, composites, (*above, name)))
            for each in composites[name].findall("attribute")]
    return made


def value_class(kind: int) -> Optional[str]:
    if kind in CLASSES:
        return CLASSES[kind]
    return "NSNumber" if kind in INTEGERS or kind in (DOUBLE, FLOAT, BOOLEAN) else None


def read_default(element: Element, kind: int) -> Any:
    if kind == DATE:
        found = element.get("defaultDateTimeInterval")
        return None if found is None else {"$date": float(found)}
    text = element.get("defaultValueString")
    return None if text is None else value_of(text, kind)


def value_of(text: str, kind: int) -> Any:
    try:
        if kind in INTEGERS:
            return int(float(text)) if "." in text or "e" in text.lower() else int(text)
        if kind in (DOUBLE, FLOAT):
            return float(text)
        if kind == DECIMAL:
            return {"$decimal": decimal_text(Decimal(text))}
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise XMLError(f"{text} is no value of type {kind}") from error
    if kind == BOOLEAN:
        return text.upper() in ("YES", "TRUE", "1")
    if kind == UUID:
        return {"$uuid": text.lower()}
    if kind == URI:
        return {"$url": text}
    return text


def read_bounds(element: Element, kind: int) -> list[dict[str, Any]]:
    """Bounds as the predicates that a compiled model has for them."""
    made: list[dict[str, Any]] = []
    subject = {"key": "length"} if kind == STRING else {"self": True}
    for key, operator in (("min", ">="), ("max", "<=")):
        date, text = element.get(f"{key}DateTimeInterval"), element.get(f"{key}ValueString")
        if kind == DATE and date is not None:
            bound: Any = {"$date": float(date)}
        elif text is not None:
            bound = int(text) if kind == STRING else value_of(text, kind)
        else:
            continue
        made.append(comparison(subject, operator, bound))
    pattern = element.get("regularExpressionString")
    if pattern is not None:
        made.append(comparison({"self": True}, "MATCHES", pattern))
    return made


def comparison(left: dict[str, Any], operator: str, value: Any) -> dict[str, Any]:
    return {"predicate": {
        "compare": operator, "left": left, "right": {"value": value}, "modifier": 0, "options": 0}, "warning": None}


def read_relationship(element: Element) -> Relationship:
    made = common(element, Relationship(need(element, "name")))
    made.destination = element.get("destinationEntity", "")
    made.inverse = element.get("inverseName")
    many = is_yes(element, "toMany")
    made.minimum = number(element, "minCount", 0)
    made.maximum = number(element, "maxCount", 0 if many else 1)
    rule = element.get("deletionRule", "Nullify")
    if rule not in RULES:
        raise XMLError(f"{made.name} has the unknown rule {rule}")
    made.delete_rule, made.ordered = RULES[rule], is_yes(element, "ordered")
    return made


def read_index(element: Element) -> Index:
    condition = element.get("partialIndexPredicate")
    made = Index(element.get("name", ""), [], read_predicate(condition) if condition else None)
    for each in element.findall("fetchIndexElement"):
        expression = each.get("expression")
        made.elements.append(IndexElement(
            each.get("property"), read_expression(expression) if expression else None,
            RTREE_INDEX if each.get("type") == "RTree" else BINARY_INDEX, each.get("order") != "descending"))
    return made


def read_request(element: Element) -> dict[str, Any]:
    made: dict[str, Any] = {"entity": need(element, "entity")}
    condition = element.get("predicateString")
    if condition:
        made["predicate"] = read_predicate(condition)
    for key, name in (("fetchLimit", "limit"), ("fetchBatchSize", "batch_size"), ("resultType", "result_type")):
        if number(element, key, 0):
            made[name] = number(element, key, 0)
    flags = USUAL_FLAGS
    for key, bit in FLAGS.items():
        if element.get(key) is not None:
            flags = flags | bit if is_yes(element, key) else flags & ~bit
    made["flags"] = flags
    return made
