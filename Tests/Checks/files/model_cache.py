"""Models of `.mom` files and of the cache in stores, as descriptions."""

from __future__ import annotations

import sqlite3
import zlib
from typing import Any, Optional, TypeVar

import archive
import predicates
from archive import ArchiveError, Node, plain, string_of
from description import (
    EXTERNAL, PRESERVED, AnyProperty, Attribute, Entity, FetchedProperty, Index, IndexElement, Model, Property,
    Relationship, differences, plain_property)

MOST_BYTES = 256 << 20
P = TypeVar("P", bound=Property)
# Bits of NSFetchRequestFlags that the files show: 30 for a request that was made with nothing but an entity.
REQUEST_NUMBERS = {
    "NSFetchLimit": "limit", "NSFetchOffset": "offset", "NSBatchSize": "batch_size", "NSResultType": "result_type"}


def inflate(data: bytes) -> bytes:
    """Raw DEFLATE, without the head that zlib writes."""
    engine = zlib.decompressobj(-15)
    try:
        found = engine.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ArchiveError(f"no deflated data: {error}") from error
    if not engine.eof:
        raise ArchiveError("deflated data that ends early or is too large")
    return found


def deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def read_store(connection: sqlite3.Connection) -> Optional[Model]:
    """The model in the cache of a store; None without one."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    row = connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone() if "Z_MODELCACHE" in tables else None
    return read_model(inflate(row[0])) if row and row[0] else None


def read_model(data: bytes) -> Model:
    """The model of an archive."""
    root = archive.read(data)
    if not isinstance(root, Node) or root.kind != "NSManagedObjectModel":
        raise ArchiveError("the root of the archive is no model")
    model = Model({})
    nodes = [(need_text(name), need_node(node)) for name, node in root.pairs("NSEntities")]
    for name, node in nodes:
        if node.text("NSEntityName") != name:
            raise ArchiveError(f"{name} is called {node.text('NSEntityName')}")
        parent = node.node("NSSuperentity")
        model.entities[name] = Entity(
            name, parent.text("NSEntityName") if parent else None, node.flag("NSIsAbstract"), class_name(node),
            node.text("NSVersionHashModifier"), renamed(node, name), user_info(node))
    for name, _ in nodes:
        check_lineage(model, name)
    repeated: list[tuple[str, AnyProperty]] = []
    for name, node in nodes:
        repeated += read_properties(model, model.entities[name], node)
        read_indexes(model.entities[name], node)
    check_repeated(model, repeated)
    model.configurations = {
        need_text(name): sorted(entity_names(need_node(each))) for name, each in root.pairs("NSConfigurations")}
    model.templates = {
        need_text(name): read_request(need_node(each)) for name, each in root.pairs("NSFetchRequestTemplates")}
    model.version_identifiers = sorted(str(plain(each)) for each in root.members("NSVersionIdentifiers"))
    return model


def check_lineage(model: Model, name: str) -> None:
    if model.entities[name].parent not in (None, *model.entities):
        raise ArchiveError(f"the parent of {name} is no entity of the model")
    if model.entities[model.root(name)].parent is not None:
        raise ArchiveError(f"{name} is its own ancestor")


def need_node(value: Any) -> Node:
    if not isinstance(value, Node):
        raise ArchiveError(f"{value!r} is no object with a class")
    return value


def need_text(value: Any) -> str:
    text = string_of(value)
    if text is None:
        raise ArchiveError(f"{value!r} is no text")
    return text


def entity_names(node: Node) -> list[str]:
    """The names in a set of entities, or of names."""
    return [need_text(each.get("NSEntityName")) if isinstance(each, Node) and each.has("NSEntityName")
            else need_text(each) for each in archive.members(node)]


def class_name(node: Node) -> Optional[str]:
    found = node.text("NSClassNameForEntity")
    return None if found == "NSManagedObject" else found


def renamed(node: Node, name: str) -> Optional[str]:
    found = node.text("NSRenamingIdentifier")
    return None if found in (name, "") else found


def user_info(node: Node) -> dict[str, Any]:
    return {str(plain(key)): plain(value) for key, value in node.pairs("NSUserInfo")}


def read_properties(model: Model, entity: Entity, node: Node) -> list[tuple[str, AnyProperty]]:
    """Reads what an entity declares, and returns what it repeats of its parents."""
    inherited = {
        need_text(key) for above in parents(node) for key, _ in above.pairs("NSProperties")}
    repeated: list[tuple[str, AnyProperty]] = []
    for key, value in node.pairs("NSProperties"):
        name, found = need_text(key), need_node(value)
        if found.kind == "_NSPropertyDescriptionProxy":
            continue
        made = read_property(found)
        if made.name != name:
            raise ArchiveError(f"{entity.name}.{name} is called {made.name}")
        if name in inherited:
            repeated.append((entity.name, made))
        else:
            entity.properties[name] = made
    return repeated


def parents(node: Node) -> list[Node]:
    found: list[Node] = []
    above = node.node("NSSuperentity")
    while above is not None and above not in found:
        found.append(above)
        above = above.node("NSSuperentity")
    return found


def check_repeated(model: Model, repeated: list[tuple[str, AnyProperty]]) -> None:
    for name, copy in repeated:
        declarer = model.declarer(name, copy.name)
        original = model.entities[declarer].properties[copy.name]
        for each in differences(plain_property(original), plain_property(copy)):
            model.oddities.append(f"{name} repeats {declarer}.{copy.name} with another {each}")


def read_property(node: Node) -> AnyProperty:
    name = need_text(node.get("NSPropertyName"))
    kind = node.kind
    if kind in ("NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription"):
        return read_attribute(node, common(node, Attribute(name)))
    if kind == "NSRelationshipDescription":
        made = common(node, Relationship(name))
        destination = node.node("NSDestinationEntity")
        made.destination = node.text("_NSDestinationEntityName") or (
            need_text(destination.get("NSEntityName")) if destination else "")
        inverse = node.node("NSInverseRelationship")
        made.inverse = node.text("_NSInverseRelationshipName") or (inverse.text("NSPropertyName") if inverse else None)
        made.minimum, made.maximum = node.number("NSMinCount"), node.number("NSMaxCount")
        made.delete_rule, made.ordered = node.number("NSDeleteRule"), node.flag("NSIsOrdered")
        return made
    if kind == "NSFetchedPropertyDescription":
        fetched = common(node, FetchedProperty(name))
        request = node.node("NSFetchRequest")
        fetched.request = read_request(request) if request else {}
        if "entity" not in fetched.request:
            fetched.request["entity"] = node.text("_NSFetchRequestEntityName")
        # They are so without being told.
        fetched.transient = fetched.read_only = False
        return fetched
    raise ArchiveError(f"{name} is a property of the unknown kind {kind}")


def common(node: Node, made: P) -> P:
    made.optional, made.transient = node.flag("NSIsOptional"), node.flag("NSIsTransient")
    made.read_only, made.indexed = node.flag("NSIsReadOnly"), node.flag("NSIsIndexed")
    made.hash_modifier, made.renamed_from = node.text("NSVersionHashModifier"), renamed(node, made.name)
    made.user_info = user_info(node)
    warnings = [plain(each) for each in node.members("NSValidationWarnings")]
    for number, each in enumerate(node.members("NSValidationPredicates")):
        warning = warnings[number] if number < len(warnings) else None
        made.validations.append({"predicate": predicates.predicate(need_node(each)), "warning": warning})
    return made


def read_attribute(node: Node, made: Attribute) -> Attribute:
    made.type, made.default = node.number("NSAttributeType"), plain(node.get("NSDefaultValue"))
    made.class_name = node.text("NSAttributeValueClassName")
    made.transformer = node.text("NSValueTransformerName")
    flags = node.number("NSFlagsKey")
    made.external, made.preserved = bool(flags & EXTERNAL), bool(flags & PRESERVED)
    made.encrypted = node.flag("NSAllowsCloudEncryption")
    if node.kind == "NSDerivedAttributeDescription":
        derivation, condition = node.node("NSDerivationExpression"), node.node("NSFilteringPredicate")
        made.derivation = predicates.expression(derivation) if derivation else {}
        made.filter = predicates.predicate(condition) if condition else None
        # Derived attributes are so without being told.
        made.read_only = False
    return made


def read_indexes(entity: Entity, node: Node) -> None:
    for each in node.members("NSFetchIndexDescriptions"):
        found = need_node(each)
        condition = found.node("NSPartialIndexPredicate")
        entity.indexes.append(Index(
            found.text("NSIndexName") or "", [read_element(need_node(one)) for one in found.members("NSIndexElements")],
            predicates.predicate(condition) if condition else None))
    entity.constraints = name_lists(node, "NSUniqueTuples")
    entity.compounds = name_lists(node, "NSCompoundIndexes")


def name_lists(node: Node, key: str) -> list[list[str]]:
    return [[property_name(one) for one in archive.members(need_node(each))] for each in node.members(key)]


def property_name(value: Any) -> str:
    """The name of a property that is said by its name or by its description."""
    return need_text(value.get("NSPropertyName")) if isinstance(value, Node) and value.has("NSPropertyName") \
        else need_text(value)


def read_element(node: Node) -> IndexElement:
    made = IndexElement(
        node.text("NSPropertyName"), None, node.number("NSFetchIndexElementType"), bool(node.get("NSAscending", True)))
    indexed = node.node("NSIndexedProperty")
    if indexed is not None and indexed.kind == "NSExpressionDescription":
        expression = indexed.node("NSExpression")
        made.property, made.expression = None, predicates.expression(expression) if expression else {}
    return made


def read_request(node: Node) -> dict[str, Any]:
    """A fetch request: what of it differs from a request with an entity alone."""
    entity, condition = node.node("NSEntity"), node.node("NSPredicate")
    made: dict[str, Any] = {"entity": entity.text("NSEntityName") if entity else node.text("NSEntityName")}
    if made["entity"] is None:
        del made["entity"]
    if condition:
        made["predicate"] = predicates.predicate(condition)
    sorts = [[need_node(each).text("NSKey"), need_node(each).flag("NSAscending"), need_node(each).text("NSSelector")]
             for each in node.members("NSSortDescriptors")]
    if sorts:
        made["sort"] = sorts
    for key, name in REQUEST_NUMBERS.items():
        if node.number(key):
            made[name] = node.number(key)
    for key in ("NSValuesToFetch", "NSValuesToGroupBy", "NSRelationshipKeyPathsForPrefetching"):
        if node.get(key):
            made[key] = [plain(each) if string_of(each) else property_name(each) for each in node.members(key)]
    made["flags"] = node.number("NSFetchRequestFlags", 0)
    return made
