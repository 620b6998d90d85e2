"""A model that has one of everything that stores can hold, for when no real stores are there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGER16, INTEGER32, INTEGER64, RTREE_INDEX, STRING, TRANSFORMABLE,
    URI, UUID, AnyProperty, Attribute, Entity, FetchedProperty, Index, IndexElement, Model, Relationship)

CLASSES = {
    DECIMAL: "NSDecimalNumber", STRING: "NSString", DATE: "NSDate", BINARY: "NSData", UUID: "NSUUID", URI: "NSURL",
    TRANSFORMABLE: None}
SELF: dict[str, Any] = {"self": True}


def attribute(name: str, kind: int, **options: Any) -> Attribute:
    options.setdefault("optional", True)
    return Attribute(name, type=kind, class_name=CLASSES.get(kind, "NSNumber"), **options)


def one(name: str, destination: str, inverse: Optional[str] = None, **options: Any) -> Relationship:
    options.setdefault("optional", True)
    return Relationship(name, destination=destination, inverse=inverse, maximum=1, **options)


def many(name: str, destination: str, inverse: Optional[str] = None, **options: Any) -> Relationship:
    options.setdefault("optional", True)
    return Relationship(name, destination=destination, inverse=inverse, maximum=options.pop("maximum", 0), **options)


def entity(name: str, properties: Sequence[AnyProperty], **options: Any) -> Entity:
    return Entity(name, properties={each.name: each for each in properties}, class_name=name, **options)


def compare(operator: str, left: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"compare": operator, "left": left, "right": {"value": value}, "modifier": 0, "options": 0}


def everything() -> Model:
    """Shelves of things, and people with friends."""
    entities = [thing(), book(), comic(), record(), person(), shelf(), tag(), page()]
    return Model(
        {each.name: each for each in entities},
        configurations={"Local": ["Person", "Tag"]},
        templates={
            "thick": {"entity": "Book", "predicate": {"and": [
                compare(">", {"key": "pagesCount"}, 100), compare("==", {"key": "lent"}, False)]}, "flags": 30},
            "named": {"entity": "Thing", "flags": 30, "limit": 20, "predicate": {
                "compare": "==", "left": {"key": "name"}, "right": {"variable": "NAME"}, "modifier": 0,
                "options": 0}}},
        version_identifiers=["everything 1"])


def thing() -> Entity:
    return entity("Thing", [
        attribute("name", STRING, optional=False, default="", validations=[
            {"predicate": compare("<=", {"key": "length"}, 1000), "warning": 1660}]),
        attribute("price", DECIMAL, default={"$decimal": "9.95"}), attribute("weight", FLOAT, default=0.5),
        attribute("height", DOUBLE), attribute("made", DATE, default={"$date": -86400.5}),
        attribute("identifier", UUID, hash_modifier="second"), attribute("page", URI, renamed_from="address"),
        attribute("small", INTEGER16, default=-7), attribute("middle", INTEGER32), attribute("large", INTEGER64),
        attribute("lent", BOOLEAN, default=False), attribute("note", STRING, transient=True),
        attribute("cover", BINARY, external=True), attribute("seal", BINARY, preserved=True),
        attribute("extra", TRANSFORMABLE, transformer="NSSecureUnarchiveFromData", user_info={"kept": "yes"}),
        one("owner", "Person", "things"), many("tags", "Tag", "things"), one("shelf", "Shelf", "things"),
        many("scribbles", "Tag"),
    ], abstract=True, constraints=[["identifier"]], user_info={"colour": "red", "number": "3"}, indexes=[
        Index("byName", [IndexElement("name"), IndexElement("made", ascending=False)]),
        Index("lentOnes", [IndexElement("lent"), IndexElement(None, SELF)], {"and": [
            compare("==", {"key": "lent"}, True), compare("!=", {"key": "made"}, None)]})])


def book() -> Entity:
    return entity("Book", [
        attribute("pagesCount", INTEGER64, derivation={
            "function": "count", "arguments": [{"key": "pages"}]}),
        attribute("text", STRING), one("sequel", "Book", "prequel"), one("prequel", "Book", "sequel"),
        many("pages", "Page", "book", delete_rule=2, maximum=500), many("cites", "Book", "citedBy", ordered=True),
        many("citedBy", "Book", "cites"),
        FetchedProperty("sameName", optional=True, request={"entity": "Thing", "flags": 30, "predicate": {
            "compare": "==", "left": {"key": "name"}, "right": {"key": "name", "of": {"variable": "FETCH_SOURCE"}},
            "modifier": 0, "options": 0}}),
    ], parent="Thing", renamed_from="Volume")


def comic() -> Entity:
    return entity("Comic", [attribute("coloured", BOOLEAN)], parent="Book", hash_modifier="comic 2")


def record() -> Entity:
    # Its text is another column than that of a book.
    return entity("Record", [attribute("text", STRING), attribute("speed", FLOAT)], parent="Thing")


def person() -> Entity:
    return entity("Person", [
        attribute("name", STRING), attribute("latitude", DOUBLE), attribute("longitude", DOUBLE),
        many("things", "Thing", "owner", delete_rule=0), many("friends", "Person", "friends"),
        many("shelves", "Shelf", "keepers", ordered=True), one("favourite", "Thing"),
        one("spouse", "Person", "spouse"),
    ], constraints=[["name", "latitude"]], indexes=[Index("place", [
        IndexElement("latitude", type=RTREE_INDEX), IndexElement("longitude", type=RTREE_INDEX)])])


def shelf() -> Entity:
    return entity("Shelf", [
        attribute("label", STRING), many("things", "Thing", "shelf", ordered=True, minimum=0, maximum=-1),
        many("keepers", "Person", "shelves", ordered=True)])


def tag() -> Entity:
    return entity("Tag", [attribute("word", STRING, indexed=True), many("things", "Thing", "tags")], indexes=[
        Index("word", [IndexElement("word")])])


def page() -> Entity:
    return entity("Page", [attribute("number", INTEGER32, default=1), one("book", "Book", "pages", minimum=1)])
