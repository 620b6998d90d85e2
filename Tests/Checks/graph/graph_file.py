"""The file as facts, read with nothing but SQL, in the layout that Core Data gives it."""

from __future__ import annotations

import sqlite3
from typing import Any

from graph_world import CLASSES, FIRST, KEYS, OF, PARENTS, TRANSIENT, inverse, is_kind, root


def _numbers() -> dict[str, int]:
    found: dict[str, int] = {}

    def visit(parent: object) -> None:
        for entity in sorted((each for each in CLASSES if PARENTS.get(each) == parent), key=str.lower):
            found[entity] = len(found) + 1
            visit(entity)

    visit(None)
    return found


NUMBERS = _numbers()
ENTITIES = {number: entity for entity, number in NUMBERS.items()}
HAS_CHILDREN = set(PARENTS.values())
BAND, BOOK, PERSON, TAG = (NUMBERS[each] for each in ("Band", "Book", "Person", "Tag"))
JOINS = {
    "friends": (f"Z_{PERSON}FRIENDS", f"Z_{PERSON}FRIENDS", "REFLEXIVE", None, None),
    "players": (f"Z_{BAND}PLAYERS", f"Z_{BAND}BANDS", f"Z_{PERSON}PLAYERS", None, None),
    "tags": (f"Z_{TAG}BOOKS", f"Z_{BOOK}BOOKS", f"Z_{TAG}TAGS", f"Z_FOK_{TAG}TAGS", f"Z_FOK_{BOOK}BOOKS"),
}
"""The side with the lower number names the table of a many-to-many relationship. Then the column with the keys of the
side that comes first in a pair, that of the other, and the orders within the one and within the other."""


class FileFault(Exception):
    """What no model is needed for to call it wrong."""


def read(connection: sqlite3.Connection, number: dict[tuple[str, int], int]) -> tuple[dict[Any, Any], dict[int, int]]:
    """All facts in the file, with the numbers that objects have here, and the version of each row."""
    facts: dict[Any, Any] = {}
    versions: dict[int, int] = {}
    orders: dict[Any, list[tuple[int, int]]] = {}
    rows: dict[int, sqlite3.Row] = {}
    kinds: dict[tuple[str, int], int] = {}
    connection.execute("BEGIN")
    try:
        for entity in CLASSES:
            if entity in PARENTS:
                continue
            (most,) = connection.execute(
                "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ? AND Z_NAME = ?", (NUMBERS[entity], entity)).fetchone()
            for row in connection.execute(f"SELECT * FROM Z{entity.upper()}"):
                if row["Z_PK"] > most:
                    raise FileFault(f"{entity} {row['Z_PK']} is beyond Z_MAX, {most}")
                if row["Z_OPT"] is None or row["Z_OPT"] < 1:
                    raise FileFault(f"{entity} {row['Z_PK']} has Z_OPT {row['Z_OPT']}")
                n = number.get((entity, row["Z_PK"]))
                if n is None:
                    raise FileFault(f"{entity} {row['Z_PK']} is in the file and was never inserted")
                facts[n] = ENTITIES[row["Z_ENT"]]
                kinds[entity, row["Z_PK"]] = row["Z_ENT"]
                versions[n] = row["Z_OPT"]
                rows[n] = row
        for n, row in rows.items():
            _row(facts, orders, n, row, number, kinds)
        for name, (table, first, second, order_first, order_second) in JOINS.items():
            one = FIRST[name]
            other = next(each.destination for each in OF[one] if each.pair == name)
            for row in connection.execute(f"SELECT * FROM {table}"):
                a, b = number[root(one), row[first]], number[root(other), row[second]]
                if a not in rows or b not in rows:
                    raise FileFault(f"{table} has a pair of {a} and {b}, which are not both there")
                facts[(name, a, b) if name != "friends" else (name, min(a, b), max(a, b))] = True
                if order_first:
                    orders.setdefault(("order", a, "tags"), []).append((row[order_first], b))
                    orders.setdefault(("order", b, "books"), []).append((row[order_second], a))
    finally:
        connection.execute("ROLLBACK")
    for key, order in orders.items():
        if any(place is None for place, _ in order) or len({place for place, _ in order}) < len(order):
            raise FileFault(f"the order keys of {key} are {order}")
        facts[key] = tuple(each for _, each in sorted(order))
    return facts, versions


def _row(
    facts: dict[Any, Any], orders: dict[Any, list[tuple[int, int]]], n: int, row: sqlite3.Row,
    number: dict[tuple[str, int], int], kinds: dict[tuple[str, int], int]
) -> None:
    entity = facts[n]
    for name in KEYS[entity]:
        if name not in TRANSIENT and row[f"Z{name.upper()}"] is not None:
            facts[n, name] = row[f"Z{name.upper()}"]
    for relation in OF[entity]:
        if relation.many:
            continue
        key = row[f"Z{relation.name.upper()}"]
        if key is not None:
            target = number[root(relation.destination), key]
            facts[n, relation.name] = target
            if relation.destination in HAS_CHILDREN:
                kind = row[f"Z{NUMBERS[relation.destination]}_{relation.name.upper()}"]
                present = kinds.get((root(relation.destination), key), kind)
                if kind != present or not is_kind(ENTITIES[kind], relation.destination):
                    raise FileFault(f"{relation.name} of {n} says that {target} is a {ENTITIES.get(kind)}")
            back = inverse(relation)
            if back and back.ordered:
                orders.setdefault(("order", target, back.name), []).append((row[f"Z_FOK_{relation.name.upper()}"], n))
    if entity == "Clip" and row[f"Z{NUMBERS['Book']}CLIPS"] is not None:
        facts["clips", number["Thing", row[f"Z{NUMBERS['Book']}CLIPS"]], n] = True
