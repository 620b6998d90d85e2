"""A plain description of a model, whichever file it comes from, and what two of them differ in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Optional, Union

UNDEFINED, INTEGER16, INTEGER32, INTEGER64, DECIMAL, DOUBLE, FLOAT, STRING = 0, 100, 200, 300, 400, 500, 600, 700
BOOLEAN, DATE, BINARY, UUID, URI, TRANSFORMABLE, OBJECT_ID, COMPOSITE = 800, 900, 1000, 1100, 1200, 1800, 2000, 2100
TYPE_NAMES = {
    UNDEFINED: "Undefined", INTEGER16: "Integer 16", INTEGER32: "Integer 32", INTEGER64: "Integer 64",
    DECIMAL: "Decimal", DOUBLE: "Double", FLOAT: "Float", STRING: "String", BOOLEAN: "Boolean", DATE: "Date",
    BINARY: "Binary", UUID: "UUID", URI: "URI", TRANSFORMABLE: "Transformable", OBJECT_ID: "ObjectID",
    COMPOSITE: "Composite"}
TYPES = {name: number for number, name in TYPE_NAMES.items()}
INTEGERS = {INTEGER16, INTEGER32, INTEGER64}
EXTERNAL, PRESERVED = 4, 16
BINARY_INDEX, RTREE_INDEX = 0, 1


@dataclass
class Property:
    name: str
    optional: bool = False
    transient: bool = False
    read_only: bool = False
    indexed: bool = False
    hash_modifier: Optional[str] = None
    # None when it is its own name.
    renamed_from: Optional[str] = None
    user_info: dict[str, Any] = field(default_factory=dict)
    validations: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Attribute(Property):
    type: int = UNDEFINED
    default: Any = None
    class_name: Optional[str] = None
    transformer: Optional[str] = None
    external: bool = False
    preserved: bool = False
    encrypted: bool = False
    # None for attributes that are not derived.
    derivation: Optional[dict[str, Any]] = None
    filter: Optional[dict[str, Any]] = None
    # The plain attributes of a composite one.
    parts: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Relationship(Property):
    destination: str = ""
    inverse: Optional[str] = None
    minimum: int = 0
    # 1 for to-one; 0 and -1 are without a bound, and they hash differently.
    maximum: int = 0
    delete_rule: int = 1
    ordered: bool = False

    @property
    def many(self) -> bool:
        return self.maximum != 1


@dataclass
class FetchedProperty(Property):
    request: dict[str, Any] = field(default_factory=dict)


AnyProperty = Union[Attribute, Relationship, FetchedProperty]


@dataclass
class IndexElement:
    # The name of a property, or None when an expression is indexed.
    property: Optional[str]
    expression: Optional[dict[str, Any]] = None
    type: int = BINARY_INDEX
    ascending: bool = True


@dataclass
class Index:
    name: str
    elements: list[IndexElement]
    condition: Optional[dict[str, Any]] = None


@dataclass
class Entity:
    name: str
    parent: Optional[str] = None
    abstract: bool = False
    class_name: Optional[str] = None
    hash_modifier: Optional[str] = None
    renamed_from: Optional[str] = None
    user_info: dict[str, Any] = field(default_factory=dict)
    # Those that the entity itself declares.
    properties: dict[str, AnyProperty] = field(default_factory=dict)
    indexes: list[Index] = field(default_factory=list)
    constraints: list[list[str]] = field(default_factory=list)
    compounds: list[list[str]] = field(default_factory=list)


@dataclass
class Model:
    entities: dict[str, Entity]
    configurations: dict[str, list[str]] = field(default_factory=dict)
    templates: dict[str, dict[str, Any]] = field(default_factory=dict)
    version_identifiers: list[str] = field(default_factory=list)
    # What a file says twice and differently: repeated properties, counts of both kinds.
    oddities: list[str] = field(default_factory=list)

    def parent(self, name: str) -> Optional[str]:
        found = self.entities[name].parent
        return found if found in self.entities else None

    def lineage(self, name: str) -> list[str]:
        """The entity, its parent, and so on up to the root."""
        found = [name]
        while (above := self.parent(found[-1])) is not None and above not in found:
            found.append(above)
        return found

    def root(self, name: str) -> str:
        return self.lineage(name)[-1]

    def is_kind(self, name: str, wanted: str) -> bool:
        return wanted in self.lineage(name)

    def children(self, name: Optional[str]) -> list[str]:
        return sorted((each for each in self.entities if self.parent(each) == name), key=lambda text: text.lower())

    def tree(self, name: str) -> list[str]:
        """The entity and those below it, depth first."""
        return [name, *(each for child in self.children(name) for each in self.tree(child))]

    def properties(self, name: str) -> dict[str, AnyProperty]:
        """Its own and inherited ones."""
        found: dict[str, AnyProperty] = {}
        for each in reversed(self.lineage(name)):
            found.update(self.entities[each].properties)
        return found

    def declarer(self, name: str, wanted: str) -> str:
        """The entity of the lineage that declares a property: the highest one, when it is declared again below."""
        return [each for each in self.lineage(name) if wanted in self.entities[each].properties][-1]

    def attributes(self, name: str) -> list[Attribute]:
        return [each for each in self.properties(name).values() if isinstance(each, Attribute)]

    def relationships(self, name: str) -> list[Relationship]:
        return [each for each in self.properties(name).values() if isinstance(each, Relationship)]

    def inverse(self, relationship: Relationship) -> Optional[Relationship]:
        if relationship.inverse is None or relationship.destination not in self.entities:
            return None
        found = self.properties(relationship.destination).get(relationship.inverse)
        return found if isinstance(found, Relationship) else None

    def is_derived(self, name: str) -> bool:
        """Whether the hash of an entity depends on derived attributes, whose form is not known."""
        return any(
            isinstance(each, Attribute) and each.derivation is not None
            for owner in self.lineage(name) for each in self.entities[owner].properties.values())


def kind_of(value: Property) -> str:
    return {Attribute: "attribute", Relationship: "relationship", FetchedProperty: "fetched"}[type(value)]


def plain_property(value: Property) -> dict[str, Any]:
    return {"kind": kind_of(value), **asdict(value)}


def plain_entity(value: Entity) -> dict[str, Any]:
    made = {each.name: getattr(value, each.name) for each in fields(value)}
    made["properties"] = {name: plain_property(each) for name, each in sorted(value.properties.items())}
    # Names of indexes may occur twice, and their order says nothing.
    made["indexes"] = sorted((asdict(each) for each in value.indexes), key=repr)
    made["constraints"] = sorted(value.constraints)
    made["compounds"] = sorted(value.compounds)
    return made


def plain_model(value: Model) -> dict[str, Any]:
    return {
        "entities": {name: plain_entity(each) for name, each in sorted(value.entities.items())},
        "configurations": {name: sorted(each) for name, each in sorted(value.configurations.items())},
        "templates": dict(sorted(value.templates.items())),
        "version_identifiers": sorted(value.version_identifiers)}


def differences(one: Any, other: Any, where: str = "") -> Iterator[str]:
    """Every place at which two plain values differ, with what is there. Numbers of all kinds are compared by value."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}, key=str):
            place = f"{where}.{key}" if where else str(key)
            if key not in one:
                yield f"{place}: only in the second: {short(other[key])}"
            elif key not in other:
                yield f"{place}: only in the first: {short(one[key])}"
            else:
                yield from differences(one[key], other[key], place)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other)):
            yield from differences(left, right, f"{where}[{number}]")
    elif one != other and not (one != one and other != other):
        yield f"{where}: {short(one)} and {short(other)}"


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 160 else f"{text[:150]}... of {len(text)}"


def model_differences(one: Model, other: Model) -> list[str]:
    return list(differences(plain_model(one), plain_model(other)))
