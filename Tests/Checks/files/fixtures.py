"""Writes stores with plain SQLite, from a description: for tests without real stores, and as the start of edits."""

from __future__ import annotations

import os
import plistlib
import random
import uuid
from decimal import Decimal
from typing import Any, Optional

import hashes
import model_cache
import store_file
from archive_writer import write_model, write_value
from description import (
    BINARY, BOOLEAN, DATE, DECIMAL, DOUBLE, FLOAT, INTEGERS, STRING, TRANSFORMABLE, URI, Attribute, Model)
from fixture_model import everything
from layout import Layout
from statements import statements
from store_file import quoted

THRESHOLD = 100 * 1024
NAMES = ["", "a", "Zoë", "naïve “quotes”", "日本", "🙂", "A'B\"C", "line\nbreak"]
AFFECTED = "SELECT NSCoreDataDATrigger{kind}AffectedObjectValue('ZTHING', Z_ENT, Z_PK, 'pagesCount', ZPAGESCOUNT) " \
    "FROM ZTHING WHERE Z_PK = {key}; END"


def count_triggers() -> list[str]:
    """The triggers that keep a book's number of pages, as the framework spells them."""
    found = []
    for name, event, row, change in (
            ("INSERT", "INSERT", "NEW", "IFNULL(ZPAGESCOUNT, 0) + 1"),
            ("UPDATE_INCREMENT", "UPDATE OF ZBOOK", "NEW", "ZPAGESCOUNT + 1"),
            ("UPDATE_DECREMENT", "UPDATE OF ZBOOK", "OLD", "ZPAGESCOUNT - 1"),
            ("DELETE", "DELETE", "OLD", "ZPAGESCOUNT - 1")):
        found.append(
            f"CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_{name} AFTER {event} ON ZPAGE FOR EACH ROW "
            f"WHEN ({row}.ZBOOK NOT NULL) BEGIN UPDATE ZTHING SET ZPAGESCOUNT = {change} WHERE Z_PK = {row}.ZBOOK; "
            + AFFECTED.format(kind="Updated", key=f"{row}.ZBOOK"))
    return [*found, (
        "CREATE TRIGGER Z_DA_ZTHING_Book_pagesCount_SOURCE_INSERT AFTER INSERT ON ZTHING FOR EACH ROW BEGIN "
        "UPDATE ZTHING SET ZPAGESCOUNT = (SELECT IFNULL(COUNT(ZBOOK), 0) FROM ZPAGE WHERE ZBOOK = NEW.Z_PK) "
        "WHERE Z_PK = NEW.Z_PK; " + AFFECTED.format(kind="InsertUpdated", key="NEW.Z_PK"))]


class StoreWriter:
    """A new store, into which objects are put one by one."""

    def __init__(self, path: str, model: Model, triggers: list[str]) -> None:
        self.path, self.model, self.layout = path, model, Layout(model)
        self.connection = store_file.connect(path)
        self.connection.executescript("PRAGMA page_size = 4096; PRAGMA auto_vacuum = 2; PRAGMA journal_mode = WAL;")
        self.connection.execute("BEGIN")
        for each in [*statements(self.layout), *triggers]:
            self.connection.execute(each)
        self._write_bookkeeping()

    def _write_bookkeeping(self) -> None:
        for name, number in self.layout.numbers.items():
            above = self.model.parent(name)
            self.connection.execute(
                "INSERT INTO Z_PRIMARYKEY VALUES (?, ?, ?, 0)",
                (number, name, self.layout.numbers[above] if above else 0))
        known = hashes.entity_hashes(self.model)
        whole = {
            "NSStoreType": "SQLite", "NSStoreModelVersionHashes": known, "NSStoreModelVersionHashesVersion": 3,
            "NSStoreModelVersionIdentifiers": self.model.version_identifiers, "NSPersistenceFrameworkVersion": 1344,
            "_NSAutoVacuumLevel": "2", "NSStoreModelVersionHashesDigest": hashes.digest(known),
            "NSStoreModelVersionChecksumKey": hashes.checksum(known), "kept by the application": {"a": [1, b"\x00"]}}
        self.connection.execute(
            "INSERT INTO Z_METADATA VALUES (1, ?, ?)",
            (str(uuid.uuid4()).upper(), plistlib.dumps(whole, fmt=plistlib.FMT_BINARY)))
        cache = model_cache.deflate(write_model(self.model))
        self.connection.execute("INSERT INTO Z_MODELCACHE VALUES (?)", (cache,))

    def add(self, entity: str, values: dict[str, Any]) -> int:
        """Puts in an object with its attributes; returns its key."""
        root = self.model.root(entity)
        self.connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1 WHERE Z_NAME = ?", (root,))
        (key,) = self.connection.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = ?", (root,)).fetchone()
        row: dict[str, Any] = {"Z_PK": key, "Z_ENT": self.layout.numbers[entity], "Z_OPT": 1}
        for name, value in values.items():
            each = self.model.properties(entity)[name]
            assert isinstance(each, Attribute)
            row[self.layout.column(entity, name)] = self.encoded(each, value)
        names = ", ".join(quoted(name) for name in row)
        marks = ", ".join("?" * len(row))
        self.connection.execute(
            f"INSERT INTO {quoted(self.layout.table(entity))} ({names}) VALUES ({marks})", list(row.values()))
        return int(key)

    def encoded(self, attribute: Attribute, value: Any) -> Any:
        if isinstance(value, Decimal):
            return float(value)
        if isinstance(value, uuid.UUID):
            return value.bytes
        if not attribute.external or value is None:
            return value
        if len(value) <= THRESHOLD:
            return b"\x01" + value
        name = str(uuid.uuid4()).upper()
        folder = store_file.support_folder(self.path)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "wb") as file:
            file.write(value)
        return b"\x02" + name.encode() + b"\x00"

    def point(
        self, entity: str, key: int, name: str, to: Optional[tuple[str, int]], place: Optional[int] = None
    ) -> None:
        """Sets the columns of a to-one relationship."""
        columns = {"key": to[1] if to else None, "entity": self.layout.numbers[to[0]] if to else None, "order": place}
        for role, value in columns.items():
            if self.layout.has(entity, name, role):
                column = quoted(self.layout.column(entity, name, role))
                self.connection.execute(
                    f"UPDATE {quoted(self.layout.table(entity))} SET {column} = ? WHERE Z_PK = ?", (value, key))

    def own(self, entity: str, name: str, owner: int, member: int) -> None:
        """Puts an object into a to-many relationship that has no inverse."""
        destination = self.model.properties(entity)[name]
        column = quoted(self.layout.column(entity, name, "owner"))
        table = quoted(self.layout.table(getattr(destination, "destination")))
        self.connection.execute(f"UPDATE {table} SET {column} = ? WHERE Z_PK = ?", (owner, member))

    def join(self, entity: str, name: str, owner: int, member: int, place: int = 0, owner_place: int = 0) -> None:
        """Relates two objects by a join table, with their places on both sides."""
        join = self.layout.join(entity, name)
        columns = {join.owner: owner, join.member: member}
        if join.order:
            columns[join.order] = place
        inverse = getattr(self.model.properties(entity)[name], "inverse")
        other = self.layout.join(getattr(self.model.properties(entity)[name], "destination"), inverse)
        if other.order and not join.reflexive:
            columns[other.order] = owner_place
        names = ", ".join(quoted(each) for each in columns)
        self.connection.execute(
            f"INSERT OR IGNORE INTO {quoted(join.table)} ({names}) VALUES ({', '.join('?' * len(columns))})",
            list(columns.values()))

    def close(self) -> None:
        self.connection.execute("COMMIT")
        self.connection.close()


def random_value(dice: random.Random, attribute: Attribute) -> Any:
    if dice.random() < 0.2:
        return None
    kind = attribute.type
    if kind in INTEGERS:
        bits = {100: 15, 200: 31, 300: 63}[kind]
        return dice.choice([0, 1, -1, (1 << bits) - 1, -(1 << bits), dice.randrange(1000)])
    if kind == BOOLEAN:
        return dice.choice([0, 1])
    if kind == FLOAT:
        return dice.choice([0.0, -1.5, 0.10000000149011612, 3.4028234663852886e38])
    if kind in (DOUBLE, DATE):
        return dice.choice([0.0, 5.0, -86400.25, 1e300 if kind == DOUBLE else 700000000.125, dice.random()])
    if kind == DECIMAL:
        return dice.choice([Decimal("9.95"), Decimal(7), Decimal("-0.001"), Decimal("123456789.25")])
    if kind == STRING:
        return dice.choice(NAMES)
    if kind == URI:
        return dice.choice(["https://example.org/a?b=%20#c", "file:///tmp/x", "mailto:a@example.org"])
    if kind == TRANSFORMABLE:
        return write_value(dice.choice([{"a": [1, 2.5, None]}, ["x", True], "text", {"$date": 5.0}]))
    if kind == BINARY:
        size = dice.choice([0, 1, 40, 1000]) if not attribute.external else dice.choice([0, 37, 38, THRESHOLD + 1])
        return dice.randbytes(size)
    return uuid.UUID(int=dice.getrandbits(128), version=4)


def write_store(path: str, seed: int = 1, size: int = 40) -> Model:
    """A store of the model of everything, with objects and relationships that the seed decides."""
    dice = random.Random(seed)
    model = everything()
    store = StoreWriter(path, model, count_triggers())
    kinds = ["Book", "Comic", "Record", "Person", "Shelf", "Tag", "Page"]
    objects: list[tuple[str, int]] = []
    for number in range(size):
        entity = dice.choice(kinds)
        values = {
            each.name: random_value(dice, each) for each in model.attributes(entity)
            if not each.transient and each.derivation is None}
        values.update({"name": f"{entity} {number}"} if "name" in values else {})
        objects.append((entity, store.add(entity, values)))
    relate(store, dice, objects)
    # A row of nothing but nil, as far as the schema allows.
    store.add("Record", {})
    lose_a_file(store)
    store.close()
    return model


def relate(store: StoreWriter, dice: random.Random, objects: list[tuple[str, int]]) -> None:
    def of(entity: str) -> list[tuple[str, int]]:
        return [each for each in objects if store.model.is_kind(each[0], entity)]

    people, things, books, shelves, tags = (of(name) for name in ("Person", "Thing", "Book", "Shelf", "Tag"))
    for place, (entity, key) in enumerate(things, 1):
        store.point(entity, key, "owner", dice.choice([*people, None]))
        shelf = dice.choice([*shelves, None])
        store.point(entity, key, "shelf", shelf, 1024 * dice.randrange(1, 9) + place if shelf else None)
        for _, member in dice.sample(tags, min(2, len(tags))):
            store.join(entity, "tags", key, member)
    for _, key in tags:
        if things:
            store.own("Thing", "scribbles", dice.choice(things)[1], key)
    for _, key in of("Page"):
        store.point("Page", key, "book", dice.choice([*books, None]))
    for place, (entity, key) in enumerate(books, 1):
        for _, cited in dice.sample(books, min(3, len(books))):
            place += 7
            store.join(entity, "cites", key, cited, 1024 * place)
    for one, other in zip(books[::2], books[1::2]):
        store.point(*one, "sequel", other)
        store.point(*other, "prequel", one)
    for place, (entity, key) in enumerate(people, 1):
        store.point(entity, key, "favourite", dice.choice([*things, None]))
        for _, kept in dice.sample(shelves, min(2, len(shelves))):
            store.join(entity, "shelves", key, kept, 1024 * kept, 1024 * place)
    for one, other in zip(people[::2], people[1::2]):
        store.join("Person", "friends", one[1], other[1])
        store.point(*one, "spouse", other)
        store.point(*other, "spouse", one)


def lose_a_file(store: StoreWriter) -> None:
    """Has one row name a file that is not there, if there is a row with a file."""
    folder = store_file.support_folder(store.path)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if len(names) > 1:
        os.remove(os.path.join(folder, names[0]))
