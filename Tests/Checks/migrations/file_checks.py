"""What the file of a migrated store must be, by the format alone, and what of the former one must have stayed."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator
from typing import Any

import hashes
import model_cache
import others
import store_file
from compiling import source_differences
from description import Attribute, Model, Relationship, short
from expectation import Expectation, Mapping
from layout import Layout
from rows import MissingFile, Object, Reading, one_sided
from statements import statements
from store_file import quoted

OF_MODEL = {
    "NSStoreModelVersionHashes", "NSStoreModelVersionHashesDigest", "NSStoreModelVersionChecksumKey",
    "NSStoreModelVersionIdentifiers"}
HISTORY = ("ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING")
FIRST_OF_HISTORY = 16000


class FileState:
    """All of a store that a migration reads or leaves."""

    def __init__(self, path: str, model: Model) -> None:
        with store_file.opened(path) as connection:
            self.integrity = str(connection.execute("PRAGMA integrity_check").fetchone()[0])
            self.reading = Reading(connection, model, path)
            self.layout = self.reading.layout
            self.tables = store_file.tables(connection)
            self.metadata = store_file.metadata(connection)
            self.cache = model_cache.read_store(connection)
            self.keys: dict[int, tuple[str, int, int]] = {
                number: (name, above, last) for number, name, above, last in connection.execute(
                    "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY")}
            self.statements = [sql for (sql,) in connection.execute(
                "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '%\\_node' ESCAPE '\\' "
                "AND name NOT LIKE '%\\_parent' ESCAPE '\\' AND name NOT LIKE '%\\_rowid' ESCAPE '\\'")]
            self.raw = {table: read_raw(connection, table) for table in self.layout.columns}
            self.history = {
                table: read_raw(connection, table) for table in HISTORY if table in self.tables}

    def fits(self, model: Model) -> bool:
        """Whether the file has all tables and columns of a model, and its hashes."""
        wanted = Layout(model, self.tables).expected_columns()
        return self.metadata["NSStoreModelVersionHashes"] == hashes.entity_hashes(model) and all(
            columns.keys() <= self.tables.get(table, {}).keys() for table, columns in wanted.items())


def read_raw(connection: sqlite3.Connection, table: str) -> dict[int, dict[str, Any]]:
    cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
    names = [each[0] for each in cursor.description]
    rows = (dict(zip(names, values)) for values in cursor)
    return {row["Z_PK"]: row for row in rows}


def plain_statement(sql: str) -> str:
    """A statement without what may differ: blanks, and the order of columns."""
    text = re.sub(r"\s+", " ", others.COLUMN.sub("", sql)).strip()
    text = re.sub(r"\s*([(),])\s*", r"\1", text).replace('"', "")
    found = re.match(r"(CREATE TABLE \S+?)\((.*)\)$", text)
    if found is None or "PRIMARY KEY" not in text:
        return text
    parts = re.split(r",(?![^(]*\))", found[2])
    return f"{found[1]}({','.join(sorted(parts))})"


def problems(before: FileState, after: FileState, mapping: Mapping, expected: Expectation) -> Iterator[str]:
    if after.integrity != "ok":
        yield f"integrity: {after.integrity}"
    yield from statement_problems(before, after, mapping.target)
    yield from metadata_problems(before, after, mapping.target)
    yield from key_problems(before, after, mapping)
    yield from object_problems(after.reading, expected)
    yield from raw_problems(before, after, mapping, expected)
    yield from history_problems(before, after, mapping)
    folder = after.reading.support
    there = set(os.listdir(folder)) if os.path.isdir(folder) else set()
    if there != after.reading.files:
        yield f"the files beside the store are {sorted(there)}, and rows name {sorted(after.reading.files)}"


def statement_problems(before: FileState, after: FileState, target: Model) -> Iterator[str]:
    kept = {plain_statement(each) for each in before.statements
            if re.search(r"\b(ACHANGE|ATRANSACTION|QUIRE_CHANGE_JOURNAL)", each)}
    wanted = {plain_statement(each) for each in statements(after.layout)} | kept
    found = [plain_statement(each) for each in after.statements if f" {others.MARK}" not in each[:30]]
    for each in sorted(wanted - set(found)):
        yield f"the schema lacks: {each}"
    for each in sorted(set(found) - wanted):
        yield f"the schema has: {each}"
    if len(set(found)) < len(found):
        yield "a statement is in the schema twice"
    yield from after.layout.surprises


def metadata_problems(before: FileState, after: FileState, target: Model) -> Iterator[str]:
    known = hashes.entity_hashes(target)
    wanted = {
        "NSStoreModelVersionHashes": known, "NSStoreModelVersionHashesDigest": hashes.digest(known),
        "NSStoreModelVersionChecksumKey": hashes.checksum(known)}
    for key, value in wanted.items():
        # Old files lack some of them.
        if after.metadata.get(key) != (value if key in before.metadata else None):
            yield f"{key} is {short(after.metadata.get(key))}, not {short(value)}"
    identifiers = [each for each in target.version_identifiers if each]
    if [each for each in after.metadata.get("NSStoreModelVersionIdentifiers", []) if each] != identifiers:
        yield f"the identifiers are {after.metadata.get('NSStoreModelVersionIdentifiers')}, not {identifiers}"
    for key in sorted({*before.metadata, *after.metadata} - OF_MODEL):
        if before.metadata.get(key) != after.metadata.get(key):
            yield f"metadata: {key} was {short(before.metadata.get(key))} and is {short(after.metadata.get(key))}"
    if after.cache is None:
        yield "the file keeps no model"
    else:
        for each in source_differences(after.cache, target):
            yield f"the model that the file keeps: {each}"


def key_problems(before: FileState, after: FileState, mapping: Mapping) -> Iterator[str]:
    target = mapping.target
    last = {name: largest for name, _, largest in before.keys.values()}
    wanted = {number: row for number, row in before.keys.items() if number > FIRST_OF_HISTORY}
    for name, number in after.layout.numbers.items():
        above = target.parent(name)
        largest = 0
        if above is None:
            formers = {mapping.former[each] for each in target.tree(name) if each in mapping.former}
            largest = max((last[mapping.source.root(each)] for each in formers), default=0)
        wanted[number] = (name, after.layout.numbers[above] if above else 0, largest)
    if wanted != after.keys:
        yield f"Z_PRIMARYKEY is {after.keys}, not {wanted}"


def object_problems(found: Reading, expected: Expectation) -> Iterator[str]:
    yield from (f"the format: {each}" for each in found.surprises)
    yield from (f"the format: {owner} {name} holds {key}, which is not there" for owner, name, key in found.dangling)
    yield from (f"the format: {each}" for each in one_sided(found))
    theirs = {each.reference: each for each in found.objects.values()}
    for reference in sorted({*theirs, *expected.objects}):
        if reference not in theirs:
            yield f"{reference} is lost"
        elif reference not in expected.objects:
            yield f"{reference} is there"
        else:
            yield from one_object(theirs[reference], expected.objects[reference], expected)


def one_object(found: Object, expected: Object, whole: Expectation) -> Iterator[str]:
    where = f"{found.reference}"
    if found.version != expected.version:
        yield f"{where} has the version {found.version}, not {expected.version}"
    for name, value in expected.values.items():
        theirs = found.values.get(name)
        if theirs != value or not isinstance(theirs, type(value)) and not isinstance(value, MissingFile):
            yield f"{where} {name} is {short(theirs)}, not {short(value)}"
    for name, held in expected.one.items():
        if found.one.get(name) != held:
            yield f"{where} {name} holds {found.one.get(name)}, not {held}"
    for name, members in expected.many.items():
        theirs = found.many.get(name, [])
        if (found.reference, name) in whole.loose:
            theirs, members = sorted(theirs), sorted(members)
        if theirs != members:
            yield f"{where} {name} holds {short(theirs)}, not {short(members)}"


def raw_problems(before: FileState, after: FileState, mapping: Mapping, expected: Expectation) -> Iterator[str]:
    """What stays is in the file as it was, and columns of others hold nothing."""
    for reference, made in expected.objects.items():
        entity, key = reference
        row = after.raw[after.layout.table(entity)].get(key)
        former = mapping.former[entity]
        old = before.raw[before.layout.table(former)][key]
        if row is None:
            continue
        for column in after.layout.columns[after.layout.table(entity)]:
            each = mapping.target.entities[column.entity].properties[column.property]
            assert isinstance(each, (Attribute, Relationship))
            holder = each.destination if column.role.startswith("owner") and isinstance(each, Relationship) \
                else column.entity
            value = row[column.name]
            if not mapping.target.is_kind(entity, holder):
                if value is not None:
                    yield f"{reference} has {short(value)} in {column.name}, which is of {column.entity}"
            elif column.role == "order" and value is not None and made.one.get(column.property) is None:
                yield f"{reference} has the place {value} in {column.name} and holds nothing"
            elif column.role == "value" and isinstance(each, Attribute):
                origin = mapping.origin(entity, column.property)
                if isinstance(origin, Attribute):
                    then = old[before.layout.column(former, origin.name)]
                    if then is not None and (then != value or type(then) is not type(value)):
                        yield f"{reference} {column.name} is {short(value)}, and was {short(then)}"


def history_problems(before: FileState, after: FileState, mapping: Mapping) -> Iterator[str]:
    for table, rows in before.history.items():
        found = after.history.get(table, {})
        wanted: dict[int, dict[str, Any]] = {}
        for key, row in rows.items():
            made = dict(row)
            if table == "ACHANGE":
                former = before.layout.names.get(row["ZENTITY"])
                now = mapping.latter.get(former) if former is not None else None
                if former is not None and now is None:
                    continue
                if now is not None:
                    made["ZENTITY"] = after.layout.numbers[now]
                if made["ZCOLUMNS"] is not None and key in found:
                    made["ZCOLUMNS"] = found[key]["ZCOLUMNS"]
            wanted[key] = made
        if wanted != found:
            lost = sorted({*wanted} ^ {*found})
            changed = [(wanted[key], found[key]) for key in wanted if key in found and wanted[key] != found[key]]
            yield f"{table}: other keys {short(lost)}, other rows {short(changed[:2])}"


def duplicates(layout: Layout, expected: Expectation, target: Model) -> list[str]:
    """The constraints that objects do not keep."""
    found: list[str] = []
    for name, entity in target.entities.items():
        for constraint in entity.constraints:
            seen: set[tuple[Any, ...]] = set()
            declarers = [target.declarer(name, one) for one in constraint]
            for each in expected.objects.values():
                # The index is on columns, which objects of entities above and beside may have, too.
                if not all(target.is_kind(each.entity, one) for one in declarers):
                    continue
                values = tuple(each.values[one] for one in constraint)
                if None not in values and values in seen:
                    found.append(f"{name}.{','.join(constraint)}")
                seen.add(values)
    return found
