"""The library against plain Python: contents, models, edits, and stores that the library creates."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import tempfile
import uuid
from dataclasses import asdict
from typing import Any, Optional

import model_cache
import model_xml
import store_file
import subject
from compiling import source_differences
from description import (
    BINARY, BOOLEAN, DECIMAL, TRANSFORMABLE, UUID, Attribute, Model, Relationship, differences, model_differences,
    short)
from hashes import entity_hashes
from layout import Layout
from oracle_checks import MIGRATED, NOT_PREDICTED
from plain_edits import PlainEditor, random_edits, settable, some_value, unique_names
from rows import MissingFile, Object, Reading, Reference
from statements import statements
from tally import Tally
from writer_rules import check


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    lacking = subject.missing()
    if lacking is not None:
        print(f"skipped: the library is not compared with plain Python: {lacking}")
        return
    for number, path in enumerate(stores):
        name = "/".join(path.split(os.sep)[-2:])
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
            if model is None:
                continue
            reading = Reading(connection, model, path)
        attempt(tally, name, lambda: check_contents(tally, path, reading, name))
        attempt(tally, name, lambda: check_reading_beside(tally, path, model, folder, name))
        attempt(tally, name, lambda: check_edits(tally, path, model, random.Random(f"{seed}/{number}"), folder))
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


def check_reading_beside(tally: Tally, path: str, model: Model, folder: str, name: str) -> None:
    """Reading leaves nothing behind while another program writes, and beside a log that a program left."""
    place = tempfile.mkdtemp(dir=folder)
    target = store_file.copy_store(path, place)
    os.chmod(target, 0o644)
    editor = PlainEditor(target, model)
    random_edits(editor, random.Random(1), 5)
    read_beside(tally, target, editor.reading, f"{name} while another program writes")
    editor.commit_and_stay()
    # What the program would leave if it were ended now: a log and no index of it.
    left = tempfile.mkdtemp(dir=folder)
    copied = store_file.copy_store(target, left)
    editor.connection.close()
    with store_file.opened(copied) as connection:
        reading = Reading(connection, model, copied)
    read_beside(tally, copied, reading, f"{name} with a log")
    shutil.rmtree(place)
    shutil.rmtree(left)


def read_beside(tally: Tally, path: str, reading: Reading, name: str) -> None:
    before = store_file.folder_state(os.path.dirname(path))
    with subject.opened(path) as store:
        for entity, (alone, _) in reading.counts().items():
            found = subject.count(store, entity, False)
            tally.expect(name, f"{found} objects of {entity}, not {alone}", found == alone)
    tally.count("folders left as they were")
    after = store_file.folder_state(os.path.dirname(path))
    # The index of a log is memory that programs share: that of the other program may say that one reads.
    for each in differences(
            {file: value for file, value in before.items() if not file.endswith("-shm")},
            {file: value for file, value in after.items() if not file.endswith("-shm") or file not in before}):
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


# Edits.


def check_edits(tally: Tally, path: str, model: Model, dice: random.Random, folder: str) -> None:
    """Random edits of a copy in one save; then the file and the library say the same, and no rule is broken."""
    place = tempfile.mkdtemp(dir=folder)
    target = store_file.copy_store(path, place)
    os.chmod(target, 0o644)
    with store_file.opened(target) as connection:
        reading = Reading(connection, model, target)
    with subject.opened(target, read_only=False) as store:
        entity = next((each for each in model.entities if is_plain(model, each)), None)
        live, told = subject.watch(store, entity) if entity else (None, [])
        touched = edit_and_save(store, model, reading, dice, entity)
        tally.count("edited objects", len(touched))
        tally.expect(path, "a live list reports no edit", live is None or bool(told))
        with store_file.opened(target) as connection:
            compare_objects(tally, store, Reading(connection, model, target), path)
    layout = Layout(model)
    for problem in check(path, target, model, 1, {(layout.table(one), key) for one, key in touched}):
        tally.differ(path, f"edited: {problem}")
    shutil.rmtree(place)


def edit_and_save(store: Any, model: Model, reading: Reading, dice: random.Random, entity: Optional[str]) -> set[
        Reference]:
    """Edits and saves. When that breaks a rule of the model, such as a count, only attributes are edited."""
    for only_values in (False, True):
        touched = Editor(store, model, reading, dice).run(12, only_values)
        if entity is not None:
            subject.add(store, entity, filled(model, entity, dice))
        try:
            subject.save(store)
            return touched
        except Exception as error:
            if only_values or not subject.is_invalid(error):
                raise
            subject.roll_back(store)
    return set()


def is_plain(model: Model, entity: str) -> bool:
    """Whether objects of an entity can be made with attributes alone."""
    return not model.entities[entity].abstract and all(
        each.optional and each.minimum == 0 for each in model.relationships(entity))


def filled(model: Model, entity: str, dice: random.Random) -> dict[str, Any]:
    """Values for a new object: those that can be made, also of attributes that must differ from all others."""
    return {
        each.name: python_value(dice, each) for each in model.attributes(entity)
        if not each.transient and each.derivation is None and not each.validations
        and (not each.optional or each in settable(model, entity))}


def python_value(dice: random.Random, each: Attribute) -> Any:
    if each.type == UUID:
        return uuid.UUID(int=dice.getrandbits(128), version=4)
    if each.type in (BINARY, TRANSFORMABLE):
        return dice.randbytes(20)
    value = dice.randrange(1000) if each.type == DECIMAL else some_value(dice, each)
    return bool(value) if each.type == BOOLEAN else subject.to_python(value, each.type)


class Editor:
    """Edits objects through the library. What it touches are objects with all that they are or were related to."""

    def __init__(self, store: Any, model: Model, reading: Reading, dice: random.Random) -> None:
        self.store, self.model, self.reading, self.dice = store, model, reading, dice
        self.touched: set[Reference] = set()

    def run(self, number: int, only_values: bool) -> set[Reference]:
        edits = [self.set_value, self.set_value, self.point, self.put_in, self.reorder]
        objects = list(self.reading.objects.values())
        for _ in range(number if objects else 0):
            self.dice.choice(edits[:1] if only_values else edits)(self.dice.choice(objects))
        return self.touched

    def touch(self, held: Reference) -> None:
        self.touched.add(held)
        found = self.reading.get(*held)
        if found is not None:
            self.touched |= {each for each in found.one.values() if each is not None}
            self.touched |= {each for members in found.many.values() for each in members}

    def relation(self, found: Object, many: bool, ordered: bool = False) -> Any:
        present = [
            each for each in self.model.relationships(found.entity) if not each.transient and each.many == many
            and (each.ordered or not ordered) and each.name not in unique_names(self.model, found.entity)]
        return self.dice.choice(present) if present else None

    def set_value(self, found: Object) -> None:
        attributes = settable(self.model, found.entity)
        if attributes:
            each = self.dice.choice(attributes)
            subject.set_value(subject.get(self.store, found.reference), each.name, python_value(self.dice, each))
            self.touched.add(found.reference)

    def other(self, each: Relationship) -> Any:
        others = self.reading.of_entity(each.destination, True)
        return self.dice.choice(others) if others else None

    def point(self, found: Object) -> None:
        each = self.relation(found, False)
        other = self.other(each) if each else None
        if other is not None:
            subject.set_value(
                subject.get(self.store, found.reference), each.name, subject.get(self.store, other.reference))
            self.touch(found.reference)
            self.touch(other.reference)

    def put_in(self, found: Object) -> None:
        each = self.relation(found, True)
        other = self.other(each) if each else None
        if other is not None and other.reference not in found.many[each.name]:
            subject.put_in(
                subject.get(self.store, found.reference), each.name, subject.get(self.store, other.reference))
            self.touch(found.reference)
            self.touch(other.reference)

    def reorder(self, found: Object) -> None:
        each = self.relation(found, True, ordered=True)
        if each is not None and len(found.many[each.name]) > 1:
            owner = subject.get(self.store, found.reference)
            members = subject.members(owner, each.name)
            self.dice.shuffle(members)
            subject.reorder(owner, each.name, members)
            self.touch(found.reference)


# Stores that the library creates.


def check_created(tally: Tally, path: str, model: Model, folder: str, name: str) -> None:
    """A new store of the same model has the same statements, and a cache that says the same."""
    place = tempfile.mkdtemp(dir=folder)
    target = os.path.join(place, "Created.sqlite")
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
        compare_model(tally, store.model, model, f"{name}, created")
    shutil.rmtree(place)


def compare_statements(tally: Tally, made: set[str], expected: set[str], name: str) -> None:
    for each in expected - made:
        tally.differ(name, f"a created store lacks {short(each)}")
    for each in made - expected:
        tally.differ(name, f"a created store also has {short(each)}")


def statements_of(connection: sqlite3.Connection) -> set[str]:
    return {
        sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL") if is_compared(sql)}


def is_compared(sql: str) -> bool:
    """History is not made, and derived attributes are kept up by triggers of the library's own."""
    return not any(each in sql for each in (*NOT_PREDICTED, "QUIRE_"))
