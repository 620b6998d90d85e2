"""Stores of the framework that have a history: their models get an entity that gives all others another number."""

from __future__ import annotations

import os
import shutil
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import model_cache
import quire
import store_file
from description import Attribute
from expectation import Mapping
from file_checks import FileState, history_problems, metadata_problems

DATA = os.path.normpath(os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "shared", "data", "stores"))
FIRST = "AAAAA"


def run() -> int:
    """Returns how many stores differ."""
    found = [path for path in store_file.store_paths(DATA) if has_history(path)]
    if not found:
        print(f"skipped: {DATA} has no store with a history, so that none of the framework's is migrated")
        return 0
    differences = 0
    for path in found:
        folder = tempfile.mkdtemp(prefix="quire-migrations-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        try:
            told = list(problems(store_file.copy_store(path, folder), folder))
        except Exception as error:
            told = [f"{type(error).__name__}: {error}"]
        finally:
            shutil.rmtree(folder)
        differences += bool(told)
        for each in told[:5]:
            print(f"{os.path.basename(path)}: {each}")
    print(f"{len(found)} stores of the framework with a history, {differences} of them otherwise than expected")
    return differences


def has_history(path: str) -> bool:
    with store_file.opened(path) as connection:
        if "ACHANGE" not in store_file.tables(connection) or model_cache.read_store(connection) is None:
            return False
        return bool(connection.execute("SELECT count(*) FROM ACHANGE WHERE ZENTITY < 16000").fetchone()[0])


def drop_indexes_of_joins(path: str) -> None:
    """An application's index of a join table whose name changes is an error, by the rules."""
    connection = store_file.connect(path)
    for (name,) in connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name GLOB 'Z_[0-9]*' "
            "AND name NOT GLOB 'Z_*' AND sql IS NOT NULL").fetchall():
        connection.execute(f"DROP INDEX {store_file.quoted(name)}")
    connection.close()


def problems(path: str, folder: str) -> Iterator[str]:
    with store_file.opened(path) as connection:
        source = model_cache.read_store(connection)
    assert source is not None
    drop_indexes_of_joins(path)
    before = FileState(path, source)
    place = os.path.join(folder, "latter.xcdatamodel")
    quire.load_model(path).save(place)
    contents = os.path.join(place, "contents")
    tree = ElementTree.parse(contents)
    entity = ElementTree.SubElement(tree.getroot(), "entity", {"name": FIRST, "representedClassName": FIRST})
    ElementTree.SubElement(
        entity, "attribute", {"name": "first", "optional": "YES", "attributeType": "Integer 64"})
    root = next(
        each for each in tree.getroot().findall("entity") if each.get("parentEntity") is None and each is not entity)
    ElementTree.SubElement(root, "attribute", {
        "name": "addedLater", "attributeType": "Integer 64", "defaultValueString": "7"})
    tree.write(contents)
    latter = quire.load_model(place)
    planned = quire.migrate(path, latter, dry_run=True)
    if FileState(path, source).raw != before.raw:
        yield "a dry run changed rows"
    if quire.migrate(path, latter) != planned:
        yield "the steps of the dry run are not those of the run"
    with store_file.opened(path) as connection:
        target = model_cache.read_store(connection)
    assert target is not None
    mapping = Mapping(source, target)
    after = FileState(path, target)
    if after.layout.numbers[FIRST] != 1:
        yield f"{FIRST} is not the first entity"
    yield from history_problems(before, after, mapping)
    yield from metadata_problems(before, after, target)
    if after.integrity != "ok":
        yield f"integrity: {after.integrity}"
    theirs = {each.reference: each for each in after.reading.objects.values()}
    added = root.get("name") or ""
    for each in before.reading.objects.values():
        made = theirs.pop(each.reference, None)
        if made is None:
            yield f"{each.reference} is lost"
        elif (made.version, made.one, made.many) != (each.version, each.one, each.many):
            yield f"{each.reference} has another version, or refers to others"
        else:
            wanted = {**each.values, **({"addedLater": 7} if target.is_kind(each.entity, added) else {})}
            for name, value in wanted.items():
                attribute = target.properties(each.entity)[name]
                is_derived = isinstance(attribute, Attribute) and attribute.derivation is not None
                if made.values[name] != value and not is_derived:
                    yield f"{each.reference} {name} is another value"
    if theirs:
        yield f"{len(theirs)} objects are new"
    if quire.migrate(path, latter) != []:
        yield "a second migration has steps"
