"""Keyed archives, written as binary property lists, as a graph of objects.

An archive is a list of objects that refer to each other by their places. `read` returns its root; a `Node` is an object
with a class, and what it refers to is looked up when it is asked for. So cycles do no harm until `plain` follows them.
"""

from __future__ import annotations

import plistlib
import struct
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Optional

ARRAYS = {"NSArray", "NSMutableArray"}
SETS = {"NSSet", "NSMutableSet"}
ORDERED_SETS = {"NSOrderedSet", "NSMutableOrderedSet"}
DICTIONARIES = {"NSDictionary", "NSMutableDictionary"}
DEEPEST = 200


class ArchiveError(Exception):
    """The bytes are no keyed archive, or one that goes on without an end."""


class Node:
    """An object of an archive that has a class."""

    def __init__(self, archive: Archive, index: int, entry: dict[str, Any]) -> None:
        self._archive = archive
        self._entry = entry
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.index == self.index and other._archive is self._archive

    def __hash__(self) -> int:
        return hash(self.index)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.index}>"

    @property
    def kind(self) -> str:
        """The name of its class."""
        description = self._archive.entry(self._entry["$class"])
        if not isinstance(description, dict) or not isinstance(description.get("$classname"), str):
            raise ArchiveError(f"object {self.index} has no class")
        return str(description["$classname"])

    def keys(self) -> list[str]:
        return [key for key in self._entry if key != "$class"]

    def get(self, key: str, default: Any = None) -> Any:
        """What is under a key: a node, a plain value, or None. The default is for a key that is not there."""
        return self._archive.resolve(self._entry[key]) if key in self._entry else default

    def node(self, key: str) -> Optional[Node]:
        found = self.get(key)
        if found is not None and not isinstance(found, Node):
            raise ArchiveError(f"{key} of object {self.index} is no object with a class")
        return found

    def text(self, key: str) -> Optional[str]:
        found = string_of(self.get(key))
        if found is None and self.get(key) is not None:
            raise ArchiveError(f"{key} of object {self.index} is no text")
        return found

    def number(self, key: str, default: int = 0) -> int:
        found = self.get(key, default)
        if not isinstance(found, int):
            raise ArchiveError(f"{key} of object {self.index} is no number")
        return int(found)

    def flag(self, key: str) -> bool:
        return bool(self.number(key))

    def members(self, key: str) -> list[Any]:
        """What an array or a set under a key holds; nothing when there is none."""
        found = self.node(key)
        return [] if found is None else members(found)

    def pairs(self, key: str) -> list[tuple[Any, Any]]:
        """What a dictionary under a key holds; nothing when there is none."""
        found = self.node(key)
        return [] if found is None else pairs(found)

    def raw(self, key: str) -> list[Any]:
        """The entries of a list that the archive itself holds under a key."""
        found = self._entry.get(key, [])
        if not isinstance(found, list):
            raise ArchiveError(f"{key} of object {self.index} is no list")
        return [self._archive.resolve(each) for each in found]

    def has(self, key: str) -> bool:
        return key in self._entry


class Archive:
    def __init__(self, data: bytes) -> None:
        try:
            whole = plistlib.loads(data, fmt=plistlib.FMT_BINARY)
        except Exception as error:
            raise ArchiveError(f"no binary property list: {error}") from error
        if not isinstance(whole, dict) or whole.get("$archiver") != "NSKeyedArchiver":
            raise ArchiveError("no keyed archive")
        self._objects = whole.get("$objects")
        self._top = whole.get("$top")
        if not isinstance(self._objects, list) or not isinstance(self._top, dict):
            raise ArchiveError("an archive without objects")

        # Arrays of arrays of the same array are small here, and without an end when they are followed.
        self._left = 100000 + 100 * len(self._objects)

    def root(self) -> Any:
        assert isinstance(self._top, dict)
        if "root" not in self._top:
            raise ArchiveError("an archive without a root")
        return self.resolve(self._top["root"])

    def entry(self, reference: Any) -> Any:
        assert isinstance(self._objects, list)
        if not isinstance(reference, plistlib.UID):
            return reference
        if not 0 <= reference.data < len(self._objects):
            raise ArchiveError(f"there is no object {reference.data}")
        return self._objects[reference.data]

    def resolve(self, reference: Any) -> Any:
        found = self.entry(reference)
        self._left -= 1
        if self._left < 0:
            raise ArchiveError("objects that are followed too often")
        if isinstance(reference, plistlib.UID) and found == "$null":
            return None
        if isinstance(found, dict) and "$class" in found:
            return Node(self, reference.data if isinstance(reference, plistlib.UID) else -1, found)
        return found


def read(data: bytes) -> Any:
    return Archive(data).root()


def string_of(value: Any) -> Optional[str]:
    if isinstance(value, str):
        return value
    if isinstance(value, Node) and value.kind in ("NSString", "NSMutableString"):
        found = value.get("NS.string", value.get("NS.bytes"))
        return found.decode("utf-8") if isinstance(found, bytes) else str(found)
    return None


def members(node: Node) -> list[Any]:
    if node.kind in ARRAYS | SETS:
        return node.raw("NS.objects")
    if node.kind in ORDERED_SETS:
        if node.has("NS.objects"):
            return node.raw("NS.objects")
        count = sum(1 for key in node.keys() if key.startswith("NS.object."))
        return [node.get(f"NS.object.{place}") for place in range(count)]
    raise ArchiveError(f"{node.kind} is no array and no set")


def pairs(node: Node) -> list[tuple[Any, Any]]:
    if node.kind in DICTIONARIES:
        keys, values = node.raw("NS.keys"), node.raw("NS.objects")
    elif node.kind == "NSKnownKeysDictionary1":
        mapping = node.node("searchMapping")
        if mapping is None:
            raise ArchiveError("a dictionary of known keys without its keys")
        keys, values = mapping.members("keys"), node.members("values")
    else:
        raise ArchiveError(f"{node.kind} is no dictionary")
    if len(keys) != len(values):
        raise ArchiveError(f"{len(keys)} keys for {len(values)} values")
    empty = node.get("emptyToken")
    return [(key, value) for key, value in zip(keys, values) if empty is None or value != empty]


def decimal_of(node: Node) -> str:
    """The number that NSDecimalNumber holds: a mantissa of eight words of sixteen bits, and an exponent of ten."""
    mantissa = node.get("NS.mantissa", b"")
    # 1 is the order of the little end first.
    words = struct.unpack(f"{'<' if node.number('NS.mantissa.bo', 1) == 1 else '>'}{len(mantissa) // 2}H", mantissa)
    length = node.number("NS.length", len(words))
    if length == 0 and node.flag("NS.negative"):
        return "NaN"
    whole = sum(word << (16 * place) for place, word in enumerate(words[:length]))
    sign = "-" if node.flag("NS.negative") else ""
    return decimal_text(Decimal(f"{sign}{whole}E{node.number('NS.exponent')}"))


def decimal_text(value: Decimal) -> str:
    """A decimal number in one spelling, whatever zeros it was written with."""
    if not value.is_finite():
        return "NaN"
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """A value as dictionaries, lists, texts and numbers. Objects of other classes are dictionaries with their class."""
    if not isinstance(value, Node):
        return plain_entry(value)
    if value.index in above:
        raise ArchiveError(f"object {value.index} is within itself")
    if len(above) > DEEPEST:
        raise ArchiveError("objects within objects go too deep")
    inner = (*above, value.index)
    kind = value.kind
    text = string_of(value)
    if text is not None:
        return text
    if kind in ARRAYS | ORDERED_SETS:
        return [plain(each, inner) for each in members(value)]
    if kind in SETS:
        return {"$set": sorted((plain(each, inner) for each in members(value)), key=repr)}
    if kind in DICTIONARIES or kind == "NSKnownKeysDictionary1":
        return {str(plain(key, inner)): plain(each, inner) for key, each in pairs(value)}
    simple = plain_simple(value)
    if simple is not None:
        return simple
    return {"$class": kind, **{key: plain(value.get(key), inner) for key in value.keys()}}


def plain_entry(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return {"$data": bytes(value).hex()}
    if isinstance(value, (list, tuple)):
        return [plain_entry(each) for each in value]
    if isinstance(value, plistlib.UID):
        return {"$uid": value.data}
    return value


def plain_simple(node: Node) -> Any:
    """Objects that stand for one value."""
    kind = node.kind
    if kind in ("NSData", "NSMutableData"):
        return {"$data": bytes(node.get("NS.data", b"")).hex()}
    if kind == "NSDate":
        return {"$date": float(node.get("NS.time"))}
    if kind == "NSUUID":
        return {"$uuid": str(uuid.UUID(bytes=bytes(node.get("NS.uuidbytes"))))}
    if kind in ("NSDecimalNumber", "NSDecimalNumberPlaceholder"):
        return {"$decimal": decimal_of(node)}
    if kind == "NSURL":
        base = node.node("NS.base")
        return {"$url": node.text("NS.relative"), **({"$base": plain(base)} if base else {})}
    if kind == "NSNull":
        return {"$null": True}
    return None


def walk(root: Any) -> Iterator[Node]:
    """Every node that can be reached, each once."""
    waiting = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, Node) and node.index not in seen:
            seen.add(node.index)
            yield node
            for key in node.keys():
                found = node._entry[key]
                waiting += node.raw(key) if isinstance(found, list) else [node.get(key)]
