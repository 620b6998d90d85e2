"""Stores of Core Data that keep a history: what is saved there goes on in their numbers."""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

import quire
from history_facts import CHANGE, LABELS, STRING, TRANSACTION, Difference

TABLES = {CHANGE: "ACHANGE", TRANSACTION: "ATRANSACTION", STRING: "ATRANSACTIONSTRING"}
# Of so many entities in each store an object is changed.
MOST_ENTITIES = 12


def check_found(folder: pathlib.Path) -> int:
    """How many stores differ."""
    differences = count = saves = 0
    for path in found(folder):
        count += 1
        copies = tempfile.mkdtemp()
        try:
            copy = os.path.join(copies, path.name)
            shutil.copyfile(path, copy)
            for ending in ("-wal",):
                if os.path.exists(f"{path}{ending}"):
                    shutil.copyfile(f"{path}{ending}", copy + ending)
            saves += check_store(copy)
        except Exception as error:
            differences += 1
            print(f"{path.relative_to(folder)}: {type(error).__name__}: {error}")
        finally:
            shutil.rmtree(copies)
    if count:
        print(f"{count} stores of Core Data with a history: {saves} saves went on in their numbers")
        if not saves:
            differences += 1
    else:
        print("\nskipped: stores of Core Data with a history: no ../shared/data/stores", flush=True)
    return differences


def found(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if not path.is_file():
            continue
        with open(path, "rb") as file:
            if file.read(15) != b"SQLite format 3":
                continue
        with tempfile.TemporaryDirectory() as copies:
            copy = shutil.copyfile(path, os.path.join(copies, "store"))
            if os.path.exists(f"{path}-wal"):
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            with contextlib.closing(sqlite3.connect(copy)) as file:
                with contextlib.suppress(sqlite3.DatabaseError):
                    if file.execute("SELECT 1 FROM sqlite_master WHERE name = 'ATRANSACTION'").fetchone():
                        yield path


class Tables:
    """The tables of the history now."""

    def __init__(self, path: str) -> None:
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.row_factory = sqlite3.Row
            self.rows = {
                kind: [dict(row) for row in file.execute(f"SELECT * FROM {table} ORDER BY Z_PK")]
                for kind, table in TABLES.items()}
            self.last = {
                kind: file.execute("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?", (kind,)).fetchone()[0]
                for kind in TABLES}


def check_store(path: str) -> int:
    """Changes one object of each of some entities; gives the number of saves."""
    saves = 0
    with quire.open(path) as store:
        before = Tables(path)
        if [each.number for each in store.history()] != [each["Z_PK"] for each in before.rows[TRANSACTION]]:
            raise Difference("other transactions were fetched than there are")
        context = store.context
        context.author = "check"
        token = store.history_token
        for name, entity in store.model.entities.items():
            key = next((
                each.name for each in entity.properties.values()
                if isinstance(each, quire.AttributeDescription) and each.type == "String" and not each.transient
                and not each.derivation and not each.max_length and not each.pattern), None)
            if entity.abstract or key is None or saves == MOST_ENTITIES:
                continue
            first: list[Any] = context.query(store.classes[name]).limit(20).all()
            changed = next((each for each in first if type(each).__name__ == name), None)
            if changed is None:
                continue
            attribute = next(
                name for name, each in changed._quire_entity.properties.items() if each.path == key)
            setattr(changed, attribute, "changed by a check")
            try:
                context.save()
            except quire.Error as error:
                # Real stores have constraints, and lack mandatory values.
                if not isinstance(error, (quire.ValidationError, quire.ConstraintError)):
                    raise
                context.rollback()
                continue
            saves += 1
            after = Tables(path)
            check_save(before, after, entity.number, changed.id)
            before = after
        told = store.history(after=token)
        if len(told) != saves or any(each.author != "check" for each in told):
            raise Difference(f"{saves} saves were fetched as {list(told)}")
    return saves


def check_save(before: Tables, after: Tables, entity: int, key: int) -> None:
    for kind in TABLES:
        there = before.rows[kind]
        if after.rows[kind][: len(there)] != there:
            raise Difference(f"{TABLES[kind]} had other rows before")
        new = [each["Z_PK"] for each in after.rows[kind][len(there):]]
        if new != list(range(before.last[kind] + 1, before.last[kind] + 1 + len(new))):
            raise Difference(f"{TABLES[kind]} goes on with {new} after {before.last[kind]}")
        if after.last[kind] != before.last[kind] + len(new):
            raise Difference(f"Z_MAX of {kind} is {after.last[kind]}")
    made = after.rows[TRANSACTION][len(before.rows[TRANSACTION]):]
    changes = after.rows[CHANGE][len(before.rows[CHANGE]):]
    if len(made) != 1 or (1, entity, key) not in [
            (each["ZCHANGETYPE"], each["ZENTITY"], each["ZENTITYPK"]) for each in changes]:
        raise Difference(f"the save of {entity} {key} is {made} with {changes}")
    if any(each["ZTRANSACTIONID"] != made[0]["Z_PK"] for each in changes):
        raise Difference("changes are of other transactions")
    like = {name: type(value) for name, value in before.rows[TRANSACTION][-1].items() if name not in LABELS}
    for name, kind in like.items():
        if name != "ZQUERYGEN" and type(made[0][name]) is not kind:
            raise Difference(f"{name} is {made[0][name]!r}, and Core Data has {kind.__name__}")
