"""`quire info`: what is in a file."""

from __future__ import annotations

import argparse
import glob
import json
import os
from typing import Any, NamedTuple

from ..contexts.store import Store
from ..models.model_description import (
    AttributeDescription,
    EntityDescription,
    IndexDescription,
    RelationshipDescription,
)
from .exits import Exit
from .opening import model_class, opened
from .terminal import console, speak_utf8, table
from .values import as_json, as_text, shown, sized

__all__ = ["info"]

# Metadata may hold whole documents.
_LONGEST = 500


class Sizes(NamedTuple):
    """How many bytes the files of a store have."""

    file: int
    log: int
    """The write-ahead log, whose saves are not in the file yet."""
    external: int
    external_files: int

    @classmethod
    def of(cls, path: str) -> Sizes:
        folder, name = os.path.split(os.path.abspath(path))
        beside = os.path.join(folder, f".{os.path.splitext(name)[0]}_SUPPORT", "_EXTERNAL_DATA")
        values = glob.glob(os.path.join(glob.escape(beside), "*"))
        return cls(_file_size(path), _file_size(f"{path}-wal"), sum(map(_file_size, values)), len(values))


def _file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def info(options: argparse.Namespace) -> Exit:
    """Tells the entities of a store, its sizes, indexes, version hashes and metadata."""
    with opened(options.file) as store:
        entity = model_class(store, options.entity)[1] if options.entity is not None else None
        if options.names:
            for name in store.classes if entity is None else entity.properties:
                print(name)
        elif options.format == "json":
            speak_utf8()
            described = _described(store) if entity is None else _entity(store, entity)
            print(json.dumps(described, ensure_ascii=False, indent=2))
        elif entity is None:
            _tell(store)
        else:
            _tell_entity(store, entity)
    return Exit.DONE


def _count(store: Store, entity: str) -> tuple[int, int]:
    """An entity's own objects, and those with the entities that inherit from it."""
    query = store.context.query(store.classes[entity])
    return query.excluding_subentities().count(), query.count()


def _described(store: Store) -> dict[str, Any]:
    """All of it for programs."""
    sizes = Sizes.of(store.path)
    return {
        "path": store.path, "uuid": store.uuid, "size": sizes.file, "log_size": sizes.log,
        "external_size": sizes.external, "external_files": sizes.external_files,
        "model_versions": store.model.version_identifiers,
        "entities": [_entity(store, entity) for entity in store.model.entities.values()],
        "metadata": {key: _of_metadata(value) for key, value in store.metadata.copy().items()},
    }


def _entity(store: Store, entity: EntityDescription) -> dict[str, Any]:
    own, all_of_them = _count(store, entity.name)
    return {
        "name": entity.name, "parent": entity.parent or None, "abstract": entity.abstract, "objects": own,
        "objects_with_subentities": all_of_them, "version_hash": entity.version_hash.hex(),
        "properties": [_property(each) for each in entity.properties.values()],
        "indexes": [
            {"name": each.name, "on": _elements(each), "where": each.where or None} for each in entity.indexes],
        "unique": entity.unique,
    }


def _property(each: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"name": each.name, "optional": each.optional}
    if isinstance(each, AttributeDescription):
        found["type"] = each.type
        if each.derivation:
            found["derivation"] = each.derivation
    elif isinstance(each, RelationshipDescription):
        found.update(type="to many" if each.to_many else "to one", destination=each.destination)
        found["inverse"] = each.inverse or None
    else:
        found["type"] = "fetched"
    return found


def _of_metadata(value: Any) -> Any:
    """A value of the metadata, in which bytes are hashes."""
    if isinstance(value, bytes):
        return value.hex()
    if _is(value, dict):
        return {key: _of_metadata(each) for key, each in value.items()}
    if _is(value, list):
        return [_of_metadata(each) for each in value]
    return as_json(value)


def _is(value: object, kind: type[object]) -> bool:
    return isinstance(value, kind)


def _elements(index: IndexDescription) -> list[str]:
    return [
        (each.property or each.expression) + (" descending" if each.descending else "") for each in index.elements]


def _tell(store: Store) -> None:
    """All of it for people."""
    out = console()
    from rich.text import Text

    sizes = Sizes.of(store.path)
    facts = [("size", sized(sizes.file))]
    if sizes.log:
        facts.append(("log", f"{sized(sizes.log)}, not in the file yet"))
    if sizes.external_files:
        facts.append(("beside it", f"{sized(sizes.external)} in {sizes.external_files:,} files of values"))
    facts.append(("UUID", store.uuid))
    if any(store.model.version_identifiers):
        facts.append(("model", ", ".join(store.model.version_identifiers)))
    out.print(Text(shown(store.path), "bold"), soft_wrap=True)
    for name, value in facts:
        out.print(Text(f"  {name:<10}{shown(value)}"), soft_wrap=True)

    entities = table("Entity", "Objects", "In all", "Attributes", "Relationships", numbers=(1, 2, 3, 4))
    for name, entity in _in_order(store):
        own, all_of_them = _count(store, name)
        attributes = sum(isinstance(each, AttributeDescription) for each in entity.properties.values())
        relationships = sum(isinstance(each, RelationshipDescription) for each in entity.properties.values())
        entities.add_row(
            Text("  " * _depth(store, entity) + shown(name), "italic" if entity.abstract else ""),
            "" if entity.abstract else f"{own:,}", f"{all_of_them:,}" if all_of_them != own or entity.abstract else "",
            str(attributes), str(relationships))
    out.print()
    out.print(entities)

    _tell_indexes(list(store.model.entities.values()))

    hashes = table("Entity", "Version hash", folded=(1,))
    for name, entity in store.model.entities.items():
        hashes.add_row(Text(shown(name)), entity.version_hash.hex())
    out.print()
    out.print(hashes)

    metadata = table("Metadata", "Value", folded=(1,))
    for key, value in sorted(store.metadata.copy().items()):
        # Its hashes stand above, one for each entity.
        if key != "NSStoreModelVersionHashes":
            metadata.add_row(Text(shown(key)), Text(_metadata_text(value)))
    out.print()
    out.print(metadata)


def _tell_indexes(entities: list[EntityDescription]) -> None:
    """The indexes that entities declare, of whatever kind."""
    from rich.text import Text

    indexes = table("Index", "Entity", "Of", folded=(0, 2))
    for entity in entities:
        name = Text(shown(entity.name))
        for index in entity.indexes:
            of = ", ".join(_elements(index)) + (f" where {index.where}" if index.where else "")
            kind = " (R-Tree)" if index.rtree else ""
            indexes.add_row(Text(shown(index.name) + kind), name, Text(shown(of)))
        for attribute in entity.properties.values():
            if isinstance(attribute, AttributeDescription) and attribute.searchable and attribute.entity == entity.name:
                indexes.add_row(Text("(text)"), name, Text(shown(attribute.name)))
        for constraint in entity.unique:
            indexes.add_row(Text("(unique)"), name, Text(shown(", ".join(constraint))))
    if indexes.row_count:
        console().print()
        console().print(indexes)


def _tell_entity(store: Store, entity: EntityDescription) -> None:
    """The properties of an entity, its own and inherited ones, and the indexes of these."""
    out = console()
    from rich.text import Text

    own, all_of_them = _count(store, entity.name)
    lineage = [entity]
    while lineage[-1].parent:
        lineage.append(store.model.entities[lineage[-1].parent])
    out.print(Text(shown(entity.name), "bold"), soft_wrap=True)
    facts = [("objects", f"{own:,}" + (f", in all {all_of_them:,}" if all_of_them != own else ""))]
    if entity.parent:
        facts.append(("inherits", f"from {', '.join(each.name for each in lineage[1:])}"))
    for fact, value in facts:
        out.print(Text(f"  {fact:<10}{shown(value)}"), soft_wrap=True)

    attributes = table("Attribute", "Type", "Value", folded=(0, 2))
    relationships = table("Relationship", "Leads to", "Inverse", "When deleted", folded=(0, 1, 2))
    for each in entity.properties.values():
        name = Text(shown(each.name))
        if isinstance(each, AttributeDescription):
            attributes.add_row(name, each.type, Text(shown(", ".join(_traits(each)))))
        elif isinstance(each, RelationshipDescription):
            how = ("many, in order" if each.ordered else "many") if each.to_many else (
                "one or none" if each.optional else "one")
            relationships.add_row(
                name, Text(f"{shown(each.destination)} ({how})"), Text(shown(each.inverse)), each.on_delete)
        else:
            relationships.add_row(name, Text(f"{shown(each.destination)} (fetched)"), "", "")
    for made in (attributes, relationships):
        if made.row_count:
            out.print()
            out.print(made)
    _tell_indexes(lineage)


def _traits(each: AttributeDescription) -> list[str]:
    """What the values of an attribute are, in words."""
    if each.derivation:
        return [f"calculated: {each.derivation}"]
    found = ["optional" if each.optional else "mandatory"]
    if each.default is not None:
        found.append(f"usually {as_text(each.default)}" if as_text(each.default) else "usually empty")
    found += [word for word in ("transient", "external", "encrypted") if getattr(each, word)]
    return found


def _metadata_text(value: Any) -> str:
    found = _of_metadata(value)
    text = json.dumps(found, ensure_ascii=False) if isinstance(found, (dict, list)) else as_text(found)
    return shown(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)")


def _in_order(store: Store) -> list[tuple[str, EntityDescription]]:
    """Entities by name, each below the one that it inherits from."""
    entities = store.model.entities

    def lineage(entity: EntityDescription) -> list[str]:
        return [*(lineage(entities[entity.parent]) if entity.parent else ()), entity.name]

    return sorted(entities.items(), key=lambda each: lineage(each[1]))


def _depth(store: Store, entity: EntityDescription) -> int:
    return 1 + _depth(store, store.model.entities[entity.parent]) if entity.parent else 0
