#!/usr/bin/env python3
"""Makes damaged stores, archives and models from whole ones.

    damage.py KIND FILE FOLDER [--number N] [--seed S]

KIND is `store`, `archive` or `xml`. Writes N files to FOLDER, each with what was done to it in its name. The same seed
makes the same files.
"""

from __future__ import annotations

import argparse
import os
import plistlib
import random
import sqlite3
import struct
import sys
import zlib
from collections.abc import Callable
from typing import Any

import model_cache
import store_file

Bytes = Callable[[random.Random, bytes], bytes]
Objects = Callable[[random.Random, list[Any]], None]
HOSTILE = ["", "\x00", "a" * 5000, "%@%n", "../../x", "'; DROP TABLE Z_METADATA; --", "\udcff".encode(
    "utf-8", "surrogatepass").decode("utf-8", "replace"), "NSManagedObjectModel", "self", "Z_PK", "🙂" * 50]
NUMBERS = [0, 1, -1, 2 ** 31, -2 ** 31, 2 ** 63 - 1, -2 ** 63, 65535, 1e308, float("nan"), float("inf"), True]
BOMB = 64 << 20
DEEP = 10000


# Bytes of any file.


def flip_bits(dice: random.Random, data: bytes) -> bytes:
    made = bytearray(data)
    for _ in range(dice.choice([1, 1, 2, 8, 64])):
        if made:
            made[dice.randrange(len(made))] ^= 1 << dice.randrange(8)
    return bytes(made)


def cut_off(dice: random.Random, data: bytes) -> bytes:
    return data[:dice.randrange(len(data))] if data else data


def lose_a_part(dice: random.Random, data: bytes) -> bytes:
    start = dice.randrange(len(data) + 1)
    return data[:start] + data[start + dice.randrange(1, 200):]


def repeat_a_part(dice: random.Random, data: bytes) -> bytes:
    start, length = dice.randrange(len(data) + 1), dice.randrange(1, 500)
    place = dice.randrange(len(data) + 1)
    return data[:place] + data[start:start + length] * dice.choice([1, 2, 50]) + data[place:]


def overwrite(dice: random.Random, data: bytes) -> bytes:
    start = dice.randrange(len(data) + 1)
    part = dice.choice([b"\x00", b"\xff", dice.randbytes(1)]) * dice.randrange(1, 64)
    return data[:start] + part + data[start + len(part):]


BYTES: list[Bytes] = [flip_bits, cut_off, lose_a_part, repeat_a_part, overwrite]


# Objects of an archive.


def some(dice: random.Random, objects: list[Any]) -> dict[str, Any]:
    """An object with keys."""
    found = [each for each in objects if isinstance(each, dict) and len(each) > 1]
    return dice.choice(found) if found else {}


def swap_reference(dice: random.Random, objects: list[Any]) -> None:
    """Has an object hold another one, of a wrong class or with itself within."""
    chosen = some(dice, objects)
    keys = [key for key, value in chosen.items() if isinstance(value, plistlib.UID)]
    if keys:
        chosen[dice.choice(keys)] = plistlib.UID(dice.randrange(len(objects) + 3))


def make_cycle(dice: random.Random, objects: list[Any]) -> None:
    chosen = some(dice, objects)
    place = objects.index(chosen) if chosen in objects else 0
    for key in [each for each in chosen if each != "$class"]:
        chosen[key] = [plistlib.UID(place)] if isinstance(chosen[key], list) else plistlib.UID(place)


def cycle_of_parents(dice: random.Random, objects: list[Any]) -> None:
    """Entities or predicates that are within themselves."""
    keys = ("NSSuperentity", "NSSubpredicates", "NSLeftExpression", "NSOperand", "NSInverseRelationship", "NSEntity")
    places = [
        place for place, each in enumerate(objects) if isinstance(each, dict) and any(key in each for key in keys)]
    for place in dice.sample(places, min(len(places), 5)):
        for key in keys:
            if key in objects[place]:
                objects[place][key] = plistlib.UID(dice.choice([place, dice.choice(places)]))


def wrong_type(dice: random.Random, objects: list[Any]) -> None:
    chosen = some(dice, objects)
    keys = [key for key in chosen if key != "$class"]
    if keys:
        chosen[dice.choice(keys)] = dice.choice([*NUMBERS, *HOSTILE, b"\x00", [], {}, plistlib.UID(0)])


def wrong_value(dice: random.Random, objects: list[Any]) -> None:
    objects[dice.randrange(len(objects))] = dice.choice([*NUMBERS, *HOSTILE, b"\xff" * 10, [], {}])


def lose_key(dice: random.Random, objects: list[Any]) -> None:
    chosen = some(dice, objects)
    if chosen:
        del chosen[dice.choice(list(chosen))]


def other_class(dice: random.Random, objects: list[Any]) -> None:
    classes = [place for place, each in enumerate(objects) if isinstance(each, dict) and "$classname" in each]
    chosen = some(dice, objects)
    if "$class" in chosen and classes:
        chosen["$class"] = plistlib.UID(dice.choice(classes))


def nest_deeply(dice: random.Random, objects: list[Any]) -> None:
    """A predicate, an array or an expression within thousands of its kind."""
    keys = ["NSPartialIndexPredicate", "NSPredicate", "NSDefaultValue", "NSUserInfo", "NSDerivationExpression"]
    holders = [each for each in objects if isinstance(each, dict) and any(key in each for key in keys)]
    if not holders:
        return
    classes = {each["$classname"]: place for place, each in enumerate(objects)
               if isinstance(each, dict) and "$classname" in each}
    objects.append({
        "$classname": "NSCompoundPredicate", "$classes": ["NSCompoundPredicate", "NSPredicate", "NSObject"]})
    compound = len(objects) - 1
    array = classes.get("NSArray", classes.get("NSMutableArray", compound))
    inner = 0
    for _ in range(DEEP if dice.random() < 0.2 else 600):
        objects.append({"NS.objects": [plistlib.UID(inner)], "$class": plistlib.UID(array)})
        objects.append({"NSCompoundPredicateType": 0, "NSSubpredicates": plistlib.UID(len(objects) - 1),
                        "$class": plistlib.UID(compound)})
        inner = len(objects) - 1
    holder = dice.choice(holders)
    for key in keys:
        if key in holder:
            holder[key] = plistlib.UID(inner)


def share_often(dice: random.Random, objects: list[Any]) -> None:
    """Arrays of ten times the array before: small as an archive, and without an end as a tree."""
    holders = [
        each for each in objects if isinstance(each, dict) and ("NSDefaultValue" in each or "NSUserInfo" in each)]
    array = [place for place, each in enumerate(objects) if isinstance(each, dict) and each.get(
        "$classname") in ("NSArray", "NSMutableArray")]
    if not holders or not array:
        return
    inner = 0
    for _ in range(30):
        objects.append({"NS.objects": [plistlib.UID(inner)] * 10, "$class": plistlib.UID(array[0])})
        inner = len(objects) - 1
    holder = dice.choice(holders)
    holder["NSDefaultValue" if "NSDefaultValue" in holder else "NSUserInfo"] = plistlib.UID(inner)


OBJECTS: list[Objects] = [
    swap_reference, swap_reference, make_cycle, cycle_of_parents, wrong_type, wrong_type, wrong_value, lose_key,
    other_class, nest_deeply, share_often]


def damage_archive(dice: random.Random, data: bytes) -> tuple[str, bytes]:
    """A damaged archive, and what was done to it."""
    if dice.random() < 0.3:
        change = dice.choice(BYTES)
        return change.__name__, change(dice, data)
    if dice.random() < 0.05:
        return "nested_lists", nested_list()
    whole = plistlib.loads(data)
    splice = dice.choice(OBJECTS)
    for _ in range(dice.choice([1, 1, 3])):
        splice(dice, whole["$objects"])
    if dice.random() < 0.05:
        whole["$top"] = {"root": plistlib.UID(dice.randrange(len(whole["$objects"]) + 2))}
    return splice.__name__, plistlib.dumps(whole, fmt=plistlib.FMT_BINARY, sort_keys=False)


def nested_list() -> bytes:
    """A binary property list of arrays within each other, and the last one within the first."""
    count = 20000
    body = b"".join(b"\xa1" + struct.pack(">I", (place + 1) % count) for place in range(count))
    offsets = b"".join(struct.pack(">I", 8 + 5 * place) for place in range(count))
    trailer = struct.pack(">5xBBBQQQ", 0, 4, 4, count, 0, 8 + len(body))
    return b"bplist00" + body + offsets + trailer


# Models as XML.


def damage_xml(dice: random.Random, data: bytes) -> tuple[str, bytes]:
    if dice.random() < 0.4:
        change = dice.choice(BYTES)
        return change.__name__, change(dice, data)
    name = dice.choice(["entities", "outside", "deep", "attribute", "tags", "encoding", "many"])
    start = data.find(b"<model")
    if name == "entities":
        levels = "".join(f'<!ENTITY a{place} "{f"&a{place - 1};" * 10}">' for place in range(1, 15))
        head = f'<!DOCTYPE model [<!ENTITY a0 "aaaaaaaaaa">{levels}]>'.encode()
        return name, data[:start] + head + data[start:].replace(b'name="', b'name="&a14;', 1)
    if name == "outside":
        head = b'<!DOCTYPE model [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
        return name, data[:start] + head + data[start:].replace(b"</model>", b"&a;</model>")
    if name == "deep":
        depth = dice.choice([300, DEEP])
        return name, data.replace(b"</model>", b"<entity name='x'>" * depth + b"</entity>" * depth + b"</model>")
    if name == "attribute":
        parts = data.split(b'="')
        place = dice.randrange(1, len(parts))
        value = dice.choice([*(each.encode() for each in HOSTILE), b"-1", b"99999999999999999999", b"YES", b"nan"])
        value = value.replace(b"'", b"").replace(b"\x00", b"&#1;")
        parts[place] = value + parts[place][parts[place].find(b'"'):]
        return name, b'="'.join(parts)
    if name == "tags":
        lines = data.splitlines(True)
        dice.shuffle(lines)
        return name, b"".join(lines)
    if name == "encoding":
        return name, data.replace(b"UTF-8", dice.choice([b"UTF-16", b"no-such", b"ISO-8859-1"]), 1)
    many = b"".join(b'<entity name="E%d" parentEntity="E%d"/>' % (place, (place + 1) % 3000) for place in range(3000))
    return name, data.replace(b"</model>", many + b"</model>")


# Stores.


def damage_store(dice: random.Random, path: str) -> str:
    """Damages a store that lies at a path; returns what was done to it."""
    kinds = ["bytes", "bytes", "cache", "cache", "metadata", "rows", "bomb"]
    kind = dice.choice(kinds)
    if kind == "bytes":
        with open(path, "rb") as file:
            data = file.read()
        change = dice.choice(BYTES)
        with open(path, "wb") as file:
            file.write(change(dice, data))
        return change.__name__
    connection = store_file.connect(path)
    try:
        return {"cache": damage_cache, "metadata": damage_metadata, "rows": damage_rows, "bomb": inflate_cache}[kind](
            dice, connection)
    finally:
        connection.close()


def damage_cache(dice: random.Random, connection: sqlite3.Connection) -> str:
    (data,) = connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
    if dice.random() < 0.3:
        change = dice.choice(BYTES)
        name, made = change.__name__, change(dice, data)
    else:
        name, archive = damage_archive(dice, model_cache.inflate(data))
        made = model_cache.deflate(archive)
    connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", (made,))
    return f"cache_{name}"


def inflate_cache(dice: random.Random, connection: sqlite3.Connection) -> str:
    """A cache that is small, and large when it is inflated; alone, or after the right one."""
    engine = zlib.compressobj(9, wbits=-15)
    (data,) = connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
    made = engine.compress(model_cache.inflate(data)) if dice.random() < 0.5 else b""
    for _ in range(dice.choice([1, 8])):
        made += engine.compress(bytes(BOMB // 8))
    connection.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = ?", (made + engine.flush(),))
    return "cache_bomb"


def damage_metadata(dice: random.Random, connection: sqlite3.Connection) -> str:
    statement = dice.choice([
        "DELETE FROM Z_METADATA", "UPDATE Z_METADATA SET Z_PLIST = NULL", "UPDATE Z_METADATA SET Z_PLIST = x''",
        "UPDATE Z_METADATA SET Z_UUID = NULL", "UPDATE Z_METADATA SET Z_UUID = 'x'",
        "INSERT INTO Z_METADATA SELECT 2, Z_UUID, Z_PLIST FROM Z_METADATA", "UPDATE Z_METADATA SET Z_VERSION = 9",
        "DELETE FROM Z_MODELCACHE", "DROP TABLE Z_MODELCACHE", "DROP TABLE Z_METADATA", "DROP TABLE Z_PRIMARYKEY",
        "DELETE FROM Z_PRIMARYKEY", "UPDATE Z_PRIMARYKEY SET Z_ENT = Z_ENT + 1000",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = 'many'", "UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807",
        "UPDATE Z_PRIMARYKEY SET Z_NAME = NULL", "UPDATE Z_PRIMARYKEY SET Z_SUPER = Z_ENT",
        "INSERT INTO Z_MODELCACHE SELECT Z_CONTENT FROM Z_MODELCACHE", "plist"])
    if statement != "plist":
        connection.execute(statement)
        return "metadata_" + "_".join(statement.split()[:3])
    (data,) = connection.execute("SELECT Z_PLIST FROM Z_METADATA").fetchone()
    whole = plistlib.loads(data)
    key = dice.choice(list(whole))
    whole[key] = dice.choice([*NUMBERS[:6], *HOSTILE[2:5], b"\x00", [], {}, {"a": b"x" * 31}])
    connection.execute("UPDATE Z_METADATA SET Z_PLIST = ?", (plistlib.dumps(whole, fmt=plistlib.FMT_BINARY),))
    return f"metadata_{key}"


def damage_rows(dice: random.Random, connection: sqlite3.Connection) -> str:
    """Values of wrong types, keys of no row, entities of no number, and tables or columns that are not there."""
    tables = [each for each in store_file.tables(connection) if each.startswith("Z") and "_RT_" not in each]
    table = dice.choice(tables)
    column = dice.choice(list(store_file.tables(connection)[table]))
    place = store_file.quoted(table)
    try:
        if dice.random() < 0.2:
            connection.execute(dice.choice([
                f"DROP TABLE {place}", f"ALTER TABLE {place} RENAME COLUMN {store_file.quoted(column)} TO ZLOST"]))
            return f"rows_lost_{table}"
        value = dice.choice([None, *NUMBERS[:7], 1e308, "text", b"\x02short", b"\x01", b"\x02" + b"x" * 36 + b"\x00"])
        connection.execute(f"UPDATE OR IGNORE {place} SET {store_file.quoted(column)} = ?", (value,))
    except sqlite3.Error as error:
        return f"rows_as_they_were_{type(error).__name__}"
    return f"rows_{table}_{column}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kind", choices=["store", "archive", "xml"])
    parser.add_argument("file")
    parser.add_argument("folder")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    for number in range(arguments.number):
        dice = random.Random(f"{arguments.seed}/{number}")
        if arguments.kind == "store":
            place = os.path.join(arguments.folder, str(number))
            os.makedirs(place)
            path = store_file.copy_store(arguments.file, place)
            print(f"{path}: {damage_store(dice, path)}")
            continue
        with open(arguments.file, "rb") as file:
            data = file.read()
        name, made = (damage_archive if arguments.kind == "archive" else damage_xml)(dice, data)
        ending = "mom" if arguments.kind == "archive" else "xml"
        with open(os.path.join(arguments.folder, f"{number}_{name}.{ending}"), "wb") as file:
            file.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
