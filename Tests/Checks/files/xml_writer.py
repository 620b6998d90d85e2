"""Writes a description as the `contents` of an .xcdatamodel folder."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from typing import Any, Optional

from description import (
    BOOLEAN, COMPOSITE, DATE, RTREE_INDEX, TYPE_NAMES, Attribute, Entity, FetchedProperty, Index, Model,
    Property, Relationship)
from model_xml import FLAGS, RULES, USUAL_FLAGS, value_class

Element = ElementTree.Element


def write_xml(model: Model) -> bytes:
    root = Element("model", {
        "type": "com.apple.IDECoreDataModeler.DataModel", "documentVersion": "1.0", "minimumToolsVersion": "Automatic",
        "userDefinedModelVersionIdentifier": (model.version_identifiers or [""])[0]})
    for each in model.entities.values():
        write_entity(root, each)
    for name, members in model.configurations.items():
        configuration = ElementTree.SubElement(root, "configuration", {"name": name})
        for member in members:
            ElementTree.SubElement(configuration, "memberEntity", {"name": member})
    for name, request in model.templates.items():
        write_request(root, name, request)
    return b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' + ElementTree.tostring(root)


def put(element: Element, **values: Any) -> None:
    """Sets attributes; None and False stand for those that are left out."""
    for name, value in values.items():
        if value is not None and value is not False:
            element.set(name, "YES" if value is True else str(value))


def write_entity(root: Element, entity: Entity) -> None:
    element = ElementTree.SubElement(root, "entity", {"name": entity.name})
    put(element, representedClassName=entity.class_name, parentEntity=entity.parent, isAbstract=entity.abstract,
        versionHashModifier=entity.hash_modifier, elementID=entity.renamed_from, syncable=True)
    for each in entity.properties.values():
        if isinstance(each, Attribute):
            write_attribute(common(element, "attribute", each), each)
        elif isinstance(each, Relationship):
            write_relationship(common(element, "relationship", each), each)
        elif isinstance(each, FetchedProperty):
            write_request(common(element, "fetchedProperty", each), "fetchedPropertyFetchRequest", each.request)
    for index in entity.indexes:
        write_index(element, index)
    for outer, middle, inner, lists in (
            ("uniquenessConstraints", "uniquenessConstraint", "constraint", entity.constraints),
            ("compoundIndexes", "compoundIndex", "index", entity.compounds)):
        whole = ElementTree.SubElement(element, outer) if lists else element
        for names in lists:
            one = ElementTree.SubElement(whole, middle)
            for name in names:
                ElementTree.SubElement(one, inner, {"value": name})
    write_user_info(element, entity.user_info)


def write_user_info(element: Element, user_info: dict[str, Any]) -> None:
    whole = ElementTree.SubElement(element, "userInfo") if user_info else element
    for key, value in user_info.items():
        ElementTree.SubElement(whole, "entry", {"key": key, "value": str(value)})


def common(parent: Element, tag: str, each: Property) -> Element:
    element = ElementTree.SubElement(parent, tag, {"name": each.name})
    put(element, optional=each.optional, transient=each.transient, readOnly=each.read_only, indexed=each.indexed,
        versionHashModifier=each.hash_modifier, elementID=each.renamed_from)
    write_user_info(element, each.user_info)
    return element


def write_attribute(element: Element, each: Attribute) -> None:
    if each.type == COMPOSITE:
        raise ValueError(f"{each.name} is composite")
    if each.type:
        put(element, attributeType=TYPE_NAMES[each.type])
    put(element, valueTransformerName=each.transformer, allowsExternalBinaryDataStorage=each.external,
        preserveAfterDeletion=each.preserved, allowsCloudEncryption=each.encrypted)
    if each.class_name != value_class(each.type):
        put(element, customClassName=each.class_name)
    if each.derivation is not None:
        put(element, derived=True, derivationExpression=expression_text(each.derivation))
    if each.default is not None:
        put(element, **{
            "defaultDateTimeInterval" if each.type == DATE else "defaultValueString": plain_text(
                each.default, each.type)})
    for validation in each.validations:
        write_bound(element, each.type, validation["predicate"])


def plain_text(value: Any, kind: int) -> str:
    if isinstance(value, dict):
        (mark, inner), = value.items()
        if mark not in ("$date", "$decimal", "$uuid", "$url"):
            raise ValueError(f"{mark} is no default in a source")
        return str(inner)
    return ("YES" if value else "NO") if kind == BOOLEAN else str(value)


def write_bound(element: Element, kind: int, predicate: dict[str, Any]) -> None:
    names = {">=": "min", "<=": "max", "MATCHES": "regularExpressionString"}
    if predicate.get("compare") not in names:
        raise ValueError(f"{predicate} is no bound")
    name, value = names[predicate["compare"]], plain_text(predicate["right"]["value"], kind)
    if name in ("min", "max"):
        name += "DateTimeInterval" if kind == DATE else "ValueString"
    put(element, **{name: value})


def write_relationship(element: Element, each: Relationship) -> None:
    rules = {number: name for name, number in RULES.items()}
    put(element, destinationEntity=each.destination, inverseName=each.inverse, toMany=each.many, ordered=each.ordered,
        inverseEntity=each.destination if each.inverse else None, deletionRule=rules[each.delete_rule],
        minCount=each.minimum or None, maxCount=each.maximum or None)


def write_index(parent: Element, index: Index) -> None:
    element = ElementTree.SubElement(parent, "fetchIndex", {"name": index.name})
    put(element, partialIndexPredicate=predicate_text(index.condition) if index.condition else None)
    for each in index.elements:
        one = ElementTree.SubElement(element, "fetchIndexElement")
        put(one, property=each.property, type="RTree" if each.type == RTREE_INDEX else "Binary",
            expression=expression_text(each.expression) if each.expression else None,
            order="ascending" if each.ascending else "descending")


def write_request(parent: Element, name: str, request: dict[str, Any]) -> None:
    element = ElementTree.SubElement(parent, "fetchRequest", {"name": name, "entity": request["entity"]})
    if "predicate" in request:
        put(element, predicateString=predicate_text(request["predicate"]))
    for ours, theirs in (("limit", "fetchLimit"), ("batch_size", "fetchBatchSize"), ("result_type", "resultType")):
        put(element, **{theirs: request.get(ours)})
    for key, bit in FLAGS.items():
        if request["flags"] & bit != USUAL_FLAGS & bit:
            put(element, **{key: "YES" if request["flags"] & bit else "NO"})


# The text of predicates.


def predicate_text(plain: dict[str, Any]) -> str:
    for word in ("and", "or"):
        if word in plain:
            return "(" + f" {word.upper()} ".join(predicate_text(each) for each in plain[word]) + ")"
    if "not" in plain:
        return f"NOT ({predicate_text(plain['not'][0])})"
    if "constant" in plain:
        return "TRUEPREDICATE" if plain["constant"] else "FALSEPREDICATE"
    letters = "".join(letter for letter, bit in {"c": 1, "d": 2, "n": 4, "l": 8}.items() if plain["options"] & bit)
    modifier = {0: "", 1: "ALL ", 2: "ANY "}[plain["modifier"]]
    options = f"[{letters}]" if letters else ""
    return f"{modifier}{expression_text(plain['left'])} {plain['compare']}{options} {expression_text(plain['right'])}"


def expression_text(plain: dict[str, Any]) -> str:
    if plain.get("self"):
        return "SELF"
    if "variable" in plain:
        return f"${plain['variable']}"
    if "function" in plain:
        arguments = ", ".join(expression_text(each) for each in plain["arguments"])
        return f"{plain['function']}{':' if plain['arguments'] else ''}({arguments})"
    if "list" in plain:
        return "{" + ", ".join(expression_text(each) for each in plain["list"]) + "}"
    if "key" in plain:
        owner = f"{expression_text(plain['of'])}." if "of" in plain else ""
        return owner + str(plain["key"])
    return value_text(plain["value"])


def value_text(value: Optional[Any]) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "TRUE", False: "FALSE", None: "NULL"}[value]
    if isinstance(value, str):
        return '"' + re.sub(r'(["\\])', r"\\\1", value) + '"'
    if isinstance(value, (int, float)):
        return repr(value)
    raise ValueError(f"{value} has no text in a predicate")
