"""Version hashes of entities, and the digest and the checksum of all of them, from a description."""

from __future__ import annotations

import base64
import hashlib
import struct

from description import Attribute, FetchedProperty, Model, Property, Relationship


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def inner_hash(value: Property) -> bytes:
    flags = (1 if value.optional else 0) | (2 if value.transient else 0)
    return sha256(value.name.encode() + struct.pack("<H", flags) + (value.hash_modifier or "").encode())


def attribute_hash(value: Attribute) -> bytes:
    storage = b"\x01" * (value.external + value.preserved)
    return sha256(inner_hash(value) + struct.pack("<I", value.type) + storage)


def relationship_hash(model: Model, entity: str, value: Relationship) -> bytes:
    # A relationship that is its own inverse is hashed as one without an inverse.
    reflexive = value.inverse == value.name and model.is_kind(value.destination, entity)
    inverse = "" if reflexive or value.inverse is None else value.inverse
    ordered = b"\x01\x00" if value.ordered else b""
    return sha256(
        inner_hash(value) + value.destination.encode() + inverse.encode()
        + struct.pack("<iI", value.maximum, value.minimum) + ordered)


def entity_hash(model: Model, name: str) -> bytes:
    entity = model.entities[name]
    parent = model.parent(name)
    parts = [name.encode(), b"\x01" if entity.abstract else b"\x00", entity_hash(model, parent) if parent else b""]
    for key, value in sorted(model.properties(name).items()):
        if value.transient or isinstance(value, FetchedProperty):
            continue
        declarer = model.declarer(name, key)
        parts.append(
            attribute_hash(value) if isinstance(value, Attribute) else relationship_hash(model, declarer, value))
    parts.append((entity.hash_modifier or "").encode())
    parts += sorted(".".join(each).encode() for each in entity.constraints)
    return sha256(b"".join(parts))


def entity_hashes(model: Model) -> dict[str, bytes]:
    return {name: entity_hash(model, name) for name in model.entities}


def digest(hashes: dict[str, bytes]) -> str:
    """What NSStoreModelVersionHashesDigest says."""
    whole = b"".join(name.encode() + each for name, each in sorted(hashes.items()))
    return base64.b64encode(hashlib.sha512(whole).digest()).decode()


def checksum(hashes: dict[str, bytes]) -> str:
    """What NSStoreModelVersionChecksumKey says."""
    return base64.b64encode(sha256(b"".join(each for _, each in sorted(hashes.items())))).decode()
