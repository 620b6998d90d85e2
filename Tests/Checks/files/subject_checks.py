"""The library against plain Python: contents, models, and stores that the library creates."""

from __future__ import annotations

import copy
import os
import shutil
import sqlite3
import tempfile
from dataclasses import asdict
from typing import Any

import model_cache
import model_xml
import store_file
import subject
from compiling import compiled, source_differences
from description import Attribute, Model, differences, model_differences, short
from hashes import entity_hashes
from layout import Layout
from oracle_checks import MIGRATED, NOT_PREDICTED
from rows import MissingFile, Object, Reading, Reference
from statements import statements
from tally import Tally


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    lacking = subject.missing()
    if lacking is not None:
        print(f"skipped: the library is not compared with plain Python: {lacking}")
        return
    for path in stores:
        name = "/".join(path.split(os.sep)[-2:])
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
            if model is None:
                continue
            reading = Reading(connection, model, path)
        attempt(tally, name, lambda: check_contents(tally, path, reading, name))
        attempt(tally, name, lambda: check_created(tally, path, model, folder, name))
    for path in models:
        attempt(tally, path, lambda: check_source(tally, path, folder))


def attempt(tally: Tally, name: str, work: Any) -> None:
    """Does a part of a check. What the library raises where the format sees no reason for it is a difference."""
    try:
        work()
    except Exception as error:
        tally.differ(name, f"{type(error).__name__}: {error}")


# Contents and models.


def check_contents(tally: Tally, path: str, reading: Reading, name: str) -> None:
    place = os.path.dirname(path)
    before = store_file.folder_state(place)
    with subject.opened(path) as store:
        for entity, (alone, with_subentities) in reading.counts().items():
            found = (subject.count(store, entity, False), subject.count(store, entity, True))
            tally.expect(name, f"{found} objects of {entity}, not {(alone, with_subentities)}", found == (
                alone, with_subentities))
        compare_objects(tally, store, reading, name)
        compare_model(tally, store.model, reading.model, name)
    tally.count("folders left as they were")
    for each in differences(before, store_file.folder_state(place)):
        tally.differ(name, f"in the folder: {each}")


def compare_objects(tally: Tally, store: Any, reading: Reading, name: str) -> None:
    seen: set[Reference] = set()
    for entity in reading.model.entities:
        if reading.model.entities[entity].abstract:
            continue
        for found in subject.objects(store, reading.model, entity):
            seen.add(found.reference)
            expected = reading.get(found.entity, found.key)
            if expected is None:
                tally.differ(name, f"there is no object {found.reference}")
            else:
                compare_object(tally, found, expected, reading, name)
    for each in reading.objects.values():
        tally.expect(name, f"{each.reference} is not found", each.reference in seen)


def compare_object(tally: Tally, found: Object, expected: Object, reading: Reading, name: str) -> None:
    properties = reading.model.properties(found.entity)
    for key, value in expected.values.items():
        each = properties[key]
        assert isinstance(each, Attribute)
        tally.count("values compared")
        theirs = found.values[key]
        is_same = isinstance(theirs, MissingFile) if isinstance(value, MissingFile) else subject.is_same(
            theirs, value, each.type)
        tally.expect(name, f"{found.reference} {key} is {short(theirs)}, not {short(value)}", is_same)
    dangling = {(owner, relation) for owner, relation, _ in reading.dangling}
    for key, held in expected.one.items():
        if (found.reference, key) not in dangling:
            tally.count("to-one relationships compared")
            tally.expect(name, f"{found.reference} {key} holds {found.one[key]}, not {held}", found.one[key] == held)
    for key, members in expected.many.items():
        tally.count("to-many relationships compared")
        theirs = found.many[key]
        tally.expect(name, f"{found.reference} {key} holds {short(theirs)}, not {short(members)}", theirs == members)


def compare_model(tally: Tally, theirs: Any, model: Model, name: str) -> None:
    found = subject.described(theirs)
    for entity, declared in model.entities.items():
        tally.count("entities compared")
        compare_part(tally, found, entity, asdict(declared), name)
        for key, each in declared.properties.items():
            tally.count("properties compared")
            compare_part(tally, found, f"{entity}.{key}", asdict(each), name)
    for entity, value in subject.hashes(theirs).items():
        if not model.is_derived(entity):
            tally.expect(name, f"the hash of {entity} is another one", value == entity_hashes(model)[entity])


def compare_part(tally: Tally, found: dict[str, dict[str, Any]], key: str, ours: dict[str, Any], name: str) -> None:
    if key not in found:
        tally.differ(name, f"{key} is not in the library's model")
        return
    theirs = {each: value for each, value in found[key].items() if each in ours}
    # The library tells what is text of the user info.
    ours = {**ours, "user_info": {each: value for each, value in ours["user_info"].items() if isinstance(value, str)}}
    for each in differences({each: ours[each] for each in theirs}, theirs, key):
        tally.differ(name, each)


def check_source(tally: Tally, path: str, folder: str) -> None:
    """A source is loaded, saved, and read again by both."""
    ours = model_xml.read_file(path)
    theirs = subject.load_model(path)
    compare_model(tally, theirs, ours, path)
    target = os.path.join(tempfile.mkdtemp(dir=folder), "saved.xcdatamodel")
    subject.save_model(theirs, target)
    tally.count("models saved")
    for each in model_differences(ours, model_xml.read_file(target)):
        tally.differ(path, f"saved: {each}")


# Stores that the library creates.


def check_created(tally: Tally, path: str, model: Model, folder: str, name: str) -> None:
    """A new store of the same model has the same statements, and a cache that says the same."""
    place = tempfile.mkdtemp(dir=folder)
    target = os.path.join(place, "Created.sqlite")
    model = with_texts(tally, model)
    subject.create(target, subject.load_model(path))
    tally.count("stores created")
    with store_file.opened(target) as connection:
        found = model_cache.read_store(connection)
        if found is None:
            tally.differ(name, "a created store has no cache")
            return
        for each in source_differences(found, model):
            tally.differ(name, f"the cache of a created store: {each}")
        made = statements_of(connection)
        layout = Layout(model, store_file.tables(connection))
        compare_statements(tally, made, {each for each in statements(layout) if is_compared(each)}, name)
        theirs = store_file.metadata(connection)
    with store_file.opened(path) as connection:
        ours = store_file.metadata(connection)
        key = "NSStoreModelVersionIdentifiers"
        tally.expect(name, "a created store has other identifiers", sorted(ours[key]) == sorted(theirs[key]))
        if MIGRATED not in ours:
            real = statements_of(connection)
            tally.count("statements of created stores", len(real))
            compare_statements(tally, made, real, f"{name}, the original")
    with subject.opened(target) as store:
        # A copy has the marks that a compiler makes.
        compare_model(tally, store.model, compiled(model), f"{name}, created")
    shutil.rmtree(place)


def with_texts(tally: Tally, model: Model) -> Model:
    """What the library keeps of a model: of user infos the texts, and of those of attributes also lists of texts."""
    kept = copy.deepcopy(model)
    for entity in kept.entities.values():
        for each in (entity, *entity.properties.values()):
            texts = {
                key: value for key, value in each.user_info.items()
                if isinstance(value, str) or isinstance(each, Attribute) and is_list_of_texts(value)}
            if len(texts) < len(each.user_info):
                tally.count("user infos that are no texts left out", len(each.user_info) - len(texts))
            each.user_info = texts
    return kept


def is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def compare_statements(tally: Tally, made: set[str], expected: set[str], name: str) -> None:
    for each in expected - made:
        tally.differ(name, f"a created store lacks {short(each)}")
    for each in made - expected:
        tally.differ(name, f"a created store also has {short(each)}")


def statements_of(connection: sqlite3.Connection) -> set[str]:
    return {
        sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL") if is_compared(sql)}


def is_compared(sql: str) -> bool:
    """History is not made, and derived attributes are kept up by triggers of the library's own.

    How the framework spells names that are not ASCII is not known.
    """
    return sql.isascii() and not any(each in sql for each in (*NOT_PREDICTED, "QUIRE_"))
