"""What plain Python reads of real files agrees with itself, so that it can be compared with."""

from __future__ import annotations

import os
import plistlib
import sqlite3

import fixtures
import hashes
import model_cache
import model_xml
import store_file
from archive_writer import write_model
import unusual_model
import xml_writer
from compiling import source_differences
from description import COMPOSITE, Attribute, Model, model_differences
from fixture_model import everything
from layout import Layout
from rows import MissingFile, Reading, one_sided
from statements import statements, tombstones
from store_file import quoted
from tally import Tally

# A file that was migrated keeps old names of indexes, and its columns are where each migration added them.
MIGRATED = "migrationManagerClass"
NOT_PREDICTED = ("ACHANGE", "ATRANSACTION", "Z_DA_", '_rowid"', '_node"', '_parent"')


def found_files(stores: str, models: str) -> tuple[list[str], list[str]]:
    """The stores below a folder, and the sources of models below both."""
    sources: list[str] = []
    for folder in (stores, models):
        for place, _, names in os.walk(folder):
            sources += [os.path.join(place, name) for name in names if name == "contents" or name.endswith(".xml")]
    return store_file.store_paths(stores), sorted(sources)


def made_source(folder: str) -> str:
    """The model of the stores that are made here, as a source."""
    place = os.path.join(folder, "Everything.xcdatamodel")
    os.makedirs(place)
    with open(os.path.join(place, "contents"), "wb") as file:
        file.write(xml_writer.write_xml(everything()))
    return os.path.join(place, "contents")


def make_stores(folder: str, seed: int) -> None:
    """Makes stores in a folder, each in one of its own."""
    for number, size in enumerate((0, 40, 150)):
        place = os.path.join(folder, f"everything-{number}")
        os.makedirs(place)
        fixtures.write_store(os.path.join(place, f"Everything_{number}.sqlite"), seed + number, size)
    place = os.path.join(folder, "unusual")
    os.makedirs(place)
    unusual_model.write_unusual(os.path.join(place, "Unusual.sqlite"), seed, 12)


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    compiled: list[tuple[str, Model]] = []
    for path in stores:
        with store_file.opened(path) as connection:
            name = os.path.basename(path)
            model = model_cache.read_store(connection)
            if model is None:
                tally.count("stores without a model")
                continue
            compiled.append((name, model))
            check_store(tally, connection, model, path)
    for path in compiled_files(stores):
        with open(path, "rb") as file:
            compiled.append((os.path.basename(path), model_cache.read_model(file.read())))
        tally.count("compiled models")
        check_versions(tally, path, compiled[-1][1])
    sources = [(os.path.basename(os.path.dirname(path)), model_xml.read_file(path)) for path in models]
    for name, model in [*compiled, *sources]:
        check_written_again(tally, name, model)
    for name, model in sources:
        check_sources_again(tally, name, model)
    for name, model in compiled:
        for source_name, source in sources:
            compare_with_source(tally, name, model, source_name, source)


def compiled_files(stores: list[str]) -> list[str]:
    """The compiled models beside stores."""
    found = {
        os.path.join(place, name) for store in stores for place, _, names in os.walk(os.path.dirname(store))
        for name in names if name.endswith(".mom")}
    return sorted(found)


def check_store(tally: Tally, connection: sqlite3.Connection, model: Model, path: str) -> None:
    name = "/".join(path.split(os.sep)[-2:])
    for each in model.oddities:
        tally.differ(name, each)
    check_hashes(tally, connection, model, name)
    layout = Layout(model, store_file.tables(connection))
    check_numbers(tally, connection, layout, name)
    check_tables(tally, connection, layout, name)
    check_statements(tally, connection, layout, name)
    check_rows(tally, connection, model, path)


def check_hashes(tally: Tally, connection: sqlite3.Connection, model: Model, name: str) -> None:
    metadata = store_file.metadata(connection)
    known: dict[str, bytes] = metadata["NSStoreModelVersionHashes"]
    found = hashes.entity_hashes(model)
    tally.expect(name, "other entities in the metadata than in the model", set(known) == set(found))
    for entity in set(known) & set(found):
        # The form of derived attributes is not known.
        if model.is_derived(entity):
            tally.count("hashes of derived attributes left out")
        else:
            tally.count("hashes")
            tally.expect(name, f"the hash of {entity} is another one", known[entity] == found[entity])
    for key, value in (
            ("NSStoreModelVersionHashesDigest", hashes.digest(known)),
            ("NSStoreModelVersionChecksumKey", hashes.checksum(known))):
        if key in metadata:
            tally.count("digests")
            tally.expect(name, f"{key} is another one", metadata[key] == value)


def check_numbers(tally: Tally, connection: sqlite3.Connection, layout: Layout, name: str) -> None:
    """Numbers of entities. The name that goes with one can be stale."""
    for number, entity, above in connection.execute("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY"):
        if number > 16000:
            continue
        tally.count("entity numbers")
        found = layout.names.get(number)
        parent = layout.model.parent(found) if found else None
        tally.expect(name, f"{entity} has the number {number}", found is not None)
        tally.expect(name, f"{entity} is below {above}", above == (layout.numbers[parent] if parent else 0))
        if found != entity:
            tally.count("stale names")


def check_tables(tally: Tally, connection: sqlite3.Connection, layout: Layout, name: str) -> None:
    real = store_file.tables(connection)
    for table, columns in layout.expected_columns().items():
        tally.count("tables")
        found = real.get(table)
        if found is None:
            tally.differ(name, f"there is no table {table}")
        elif found != columns:
            differing = sorted(set(found.items()) ^ set(columns.items()))
            tally.differ(name, f"{table} has other columns: {differing[:6]}")
    for surprise in layout.surprises:
        tally.count("suffixes against the rule")
        tally.expect(name, surprise, MIGRATED in store_file.metadata(connection))
    if "ACHANGE" in real:
        found_tombstones = sum(column.startswith("ZTOMBSTONE") for column in real["ACHANGE"])
        tally.expect(name, "another number of tombstones", found_tombstones == tombstones(layout.model))


def check_statements(tally: Tally, connection: sqlite3.Connection, layout: Layout, name: str) -> None:
    expected = set(statements(layout))
    real = {
        sql.replace('"', "") for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
        if not any(each in sql for each in NOT_PREDICTED)}
    tally.count("statements", len(expected & real))
    if MIGRATED in store_file.metadata(connection):
        tally.count("statements that migrations changed", len(expected - real))
        for each in expected - real:
            tally.expect(name, f"only predicted: {each}", each.startswith("CREATE TABLE"))
        return
    for each in sorted(expected - real):
        tally.differ(name, f"only predicted: {each}")
    for each in sorted(real - expected):
        tally.differ(name, f"only in the file: {each}")


def check_rows(tally: Tally, connection: sqlite3.Connection, model: Model, path: str) -> None:
    name = os.path.basename(path)
    reading = Reading(connection, model, path)
    for surprise in reading.surprises:
        tally.differ(name, surprise)
    objects, values, ones, members = reading.totals()
    for what, number in (
            ("objects", objects), ("values", values), ("to-one references", ones), ("members", members),
            ("dangling references", len(reading.dangling)), ("missing files", missing_files(reading))):
        tally.count(what, number)
    for entity, (alone, _) in reading.counts().items():
        (found,) = connection.execute(
            f"SELECT COUNT(*) FROM {quoted(reading.layout.table(entity))} WHERE Z_ENT = ?",
            (reading.layout.numbers[entity],)).fetchone()
        tally.expect(name, f"{alone} objects of {entity}, {found} rows", alone == found)
    for each in one_sided(reading):
        tally.differ(name, each)


def missing_files(reading: Reading) -> int:
    return sum(isinstance(value, MissingFile) for each in reading.objects.values() for value in each.values.values())


def check_written_again(tally: Tally, name: str, model: Model) -> None:
    """A model is the same after it is written and read, with and without repeated properties."""
    if any(isinstance(each, Attribute) and each.type == COMPOSITE
           for entity in model.entities.values() for each in entity.properties.values()):
        # No archive of a composite attribute is known.
        tally.count("models with composites left out")
        return
    for repeat in (True, False):
        tally.count("models written again")
        again = model_cache.read_model(write_model(model, repeat, repeat))
        for each in model_differences(model, again):
            tally.differ(name, f"written again: {each}")


def check_sources_again(tally: Tally, name: str, source: Model) -> None:
    """A source is the same after it is written and read."""
    try:
        text = xml_writer.write_xml(source)
    except ValueError:
        tally.count("sources that cannot be written again")
        return
    tally.count("sources written again")
    for each in model_differences(source, model_xml.read_text(text)):
        tally.differ(name, f"written again as a source: {each}")


def check_versions(tally: Tally, path: str, model: Model) -> None:
    """The hashes that stand beside the compiled versions of a model."""
    beside = os.path.join(os.path.dirname(path), "VersionInfo.plist")
    if os.path.exists(beside):
        with open(beside, "rb") as file:
            known = plistlib.load(file)["NSManagedObjectModel_VersionHashes"]
        version = os.path.splitext(os.path.basename(path))[0]
        tally.count("versions")
        tally.expect(path, "other hashes than VersionInfo.plist has", known[version] == hashes.entity_hashes(model))


def compare_with_source(tally: Tally, name: str, model: Model, source_name: str, source: Model) -> None:
    """A compiled model against its source: those whose entities have the same hashes are of one version."""
    if hashes.entity_hashes(model) != hashes.entity_hashes(source):
        return
    tally.count("compiled models compared with their source")
    for each in source_differences(model, source):
        tally.differ(f"{name} and {source_name}", each)
