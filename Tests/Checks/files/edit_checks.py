"""Edits of stores by the library: then the file and the library say the same, and no rule for writers is broken."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import uuid
from typing import Any, Optional

import model_cache
import store_file
import subject
from description import BINARY, BOOLEAN, DECIMAL, TRANSFORMABLE, UUID, Attribute, Model, Relationship
from folder_checks import Process
from layout import Layout
from plain_edits import settable, some_value, unique_names
from rows import Object, Reading, Reference
from subject_checks import attempt, compare_objects
from tally import Tally
from writer_rules import Checker, State

CASCADE, DENY = 2, 3
MOST_DELETED = 30


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    lacking = subject.missing()
    if lacking is not None:
        print(f"skipped: the library edits nothing: {lacking}")
        return
    for number, path in enumerate(stores):
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
        if model is not None:
            dice = random.Random(f"{seed}/{number}")
            attempt(tally, path, lambda: EditCheck(tally, path, model, dice, folder).run())
            attempt(tally, path, lambda: check_counts(tally, path, model, folder))


class EditCheck:
    """Random edits of a copy in one save, while a live list watches, and then deletions in another save."""

    def __init__(self, tally: Tally, path: str, model: Model, dice: random.Random, folder: str) -> None:
        self.tally, self.path, self.model, self.dice = tally, path, model, dice
        self.place = tempfile.mkdtemp(dir=folder)
        self.target = store_file.copy_store(path, self.place)
        os.chmod(self.target, 0o644)

    def run(self) -> None:
        with subject.opened(self.target, read_only=False) as store:
            editor, before = self.watch_and_edit(store)
            self.compare(store, before, editor)
            before = self.copy()
            editor = Editor(store, self.model, before.reading, self.dice)
            editor.delete_some()
            if editor.deleted:
                subject.save(store)
                self.tally.count("deleted objects", len(editor.deleted))
                self.compare(store, before, editor)
        shutil.rmtree(self.place)

    def copy(self) -> State:
        return State(self.target, self.model)

    def watch_and_edit(self, store: Any) -> tuple[Editor, State]:
        before = self.copy()
        watched = watchable(self.model, before.reading)
        live, told = subject.watch(store, watched) if watched else (None, [])
        editor = self.edit_and_save(store, before.reading, watched, only_values=False)
        if editor is None:
            editor = self.edit_and_save(store, before.reading, watched, only_values=True)
        assert editor is not None
        self.tally.count("edited objects", len(editor.touched) + len(editor.added))
        if live is not None:
            live.close()
        if live is None:
            self.tally.count("stores whose model has no object to watch")
        else:
            self.tally.count("live lists")
            self.tally.expect(self.path, "a live list reports no edit", bool(told))
        return editor, before

    def edit_and_save(
        self, store: Any, reading: Reading, watched: Optional[str], only_values: bool
    ) -> Optional[Editor]:
        """Edits and saves; None when that breaks a rule of the model, such as a count."""
        editor = Editor(store, self.model, reading, self.dice)
        editor.run(12, only_values)
        added = [] if only_values else editor.add_some(3)
        if watched is not None and is_plain(self.model, watched):
            added.append(subject.add(store, watched, filled(self.model, watched, self.dice)))
        elif watched is not None:
            editor.set_value(next(each for each in reading.objects.values() if each.entity == watched))
        try:
            subject.save(store)
        except Exception as error:
            if only_values or not subject.is_invalid(error):
                raise
            subject.roll_back(store)
            return None
        editor.added = {subject.reference(each) for each in added}
        return editor

    def compare(self, store: Any, before: State, editor: Editor) -> None:
        after = State(self.target, self.model)
        compare_objects(self.tally, store, after.reading, self.path)
        layout = before.reading.layout
        touched = {(layout.table(one), key) for one, key in editor.touched}
        checker = Checker(before, after, 1, touched, has_history=True)
        for problem in checker.run():
            # Keys that were handed out for what was not saved are not taken back.
            if "went up without a new row" not in problem:
                self.tally.differ(self.path, f"edited: {problem}")
        self.tally.count("rows of R-Trees", checker.bounds)
        self.tally.count("derived values", checker.derived)
        new = {each.reference for key, each in after.reading.objects.items() if key not in before.reading.objects}
        gone = {each.reference for key, each in before.reading.objects.items() if key not in after.reading.objects}
        self.tally.expect(self.path, f"{sorted(new)} are new, not {sorted(editor.added)}", new == editor.added)
        self.tally.expect(self.path, f"{sorted(gone)} are gone, not {sorted(editor.deleted)}", gone == editor.deleted)


def watchable(model: Model, reading: Reading) -> Optional[str]:
    """An entity of which there will be an edited object: one that can be made, or else one of which there is one."""
    for each in model.entities:
        if is_plain(model, each):
            return each
    return next((each.entity for each in reading.objects.values() if settable(model, each.entity)), None)


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
        self.added: set[Reference] = set()
        self.deleted: set[Reference] = set()

    def run(self, number: int, only_values: bool) -> None:
        edits = [self.set_value, self.set_value, self.point, self.put_in, self.reorder]
        objects = list(self.reading.objects.values())
        for _ in range(number if objects else 0):
            self.dice.choice(edits[:1] if only_values else edits)(self.dice.choice(objects))
        if not only_values:
            # Few objects have members in an order, so that chance alone seldom meets one.
            for found in [each for each in objects if self.ordered_ones(each)][:2]:
                self.reorder(found)

    def touch(self, held: Reference) -> None:
        self.touched.add(held)
        found = self.reading.get(*held)
        if found is not None:
            self.touched |= {each for each in found.one.values() if each is not None}
            self.touched |= {each for members in found.many.values() for each in members}

    def relation(self, found: Object, many: bool) -> Any:
        present = [
            each for each in self.model.relationships(found.entity) if not each.transient and each.many == many
            and each.name not in unique_names(self.model, found.entity)]
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

    def ordered_ones(self, found: Object) -> list[Relationship]:
        return [each for each in self.model.relationships(found.entity)
                if each.ordered and not each.transient and len(found.many[each.name]) > 1]

    def reorder(self, found: Object) -> None:
        for each in self.ordered_ones(found):
            owner = subject.get(self.store, found.reference)
            members = subject.members(owner, each.name)
            self.dice.shuffle(members)
            subject.reorder(owner, each.name, members)
            self.touch(found.reference)

    def add_some(self, number: int) -> list[Any]:
        """Objects of entities that can be made."""
        plain = [each for each in self.model.entities if is_plain(self.model, each)]
        return [subject.add(self.store, each, filled(self.model, each, self.dice))
                for each in self.dice.sample(plain, min(number, len(plain)))]

    # Deletions.

    def delete_some(self) -> None:
        """Deletes objects that nothing denies, with what their deletion deletes."""
        objects = list(self.reading.objects.values())
        self.dice.shuffle(objects)
        for found in objects:
            whole = self.with_cascade(found)
            if len(self.deleted | whole) > MOST_DELETED or not all(self.may_go(each, whole) for each in whole):
                continue
            subject.delete(self.store, subject.get(self.store, found.reference))
            for each in whole:
                self.touch(each)
            self.deleted |= whole
            if len(self.deleted) >= 3:
                break
        # Rows that hold one of them, also by relationships that have no inverse.
        self.touched |= {
            each.reference for each in objects if any(held in self.deleted for held in each.one.values())}

    def with_cascade(self, found: Object) -> set[Reference]:
        waiting, whole = [found], {found.reference}
        while waiting:
            each = waiting.pop()
            for relation in self.model.relationships(each.entity):
                if relation.transient or relation.delete_rule != CASCADE:
                    continue
                held = each.one.get(relation.name)
                for to in each.many.get(relation.name, [held] if held else []):
                    other = self.reading.get(*to)
                    if other is not None and to not in whole:
                        whole.add(to)
                        waiting.append(other)
        return whole

    def may_go(self, held: Reference, whole: set[Reference]) -> bool:
        """Whether no rule denies it, and those that hold it may do without."""
        found = self.reading.get(*held)
        assert found is not None
        for relation in self.model.relationships(found.entity):
            if relation.transient:
                continue
            one = found.one.get(relation.name)
            others = [each for each in found.many.get(relation.name, [one] if one else []) if each not in whole]
            inverse = self.model.inverse(relation)
            if others and (relation.delete_rule in (0, DENY) or inverse is not None and (
                    not inverse.optional or inverse.minimum > 0)):
                return False
        for each in self.reading.objects.values():
            for name, to in each.one.items():
                if to == held and each.reference not in whole:
                    holder = self.model.properties(each.entity)[name]
                    if not holder.optional or getattr(holder, "inverse") is None:
                        return False
        return True


# Derived counts.


def check_counts(tally: Tally, path: str, model: Model, folder: str) -> None:
    """Numbers of members that triggers keep: right after moves by the library, and by another process meanwhile."""
    with store_file.opened(path) as connection:
        reading = Reading(connection, model, path)
    for owner, name, relation, inverse in counted(model):
        owners = sorted(reading.of_entity(owner, True), key=lambda each: -len(each.many[relation.name]))
        if len(owners) < 2 or len(owners[0].many[relation.name]) <= relation.minimum:
            continue
        place = tempfile.mkdtemp(dir=folder)
        target = store_file.copy_store(path, place)
        os.chmod(target, 0o644)
        CountCheck(tally, target, model, name, relation, inverse).run(owners[0].reference, owners[1].reference)
        tally.count("derived counts after moves")
        shutil.rmtree(place)


def counted(model: Model) -> list[tuple[str, str, Relationship, Relationship]]:
    """Entities with an attribute that counts a to-many relationship, whose inverse is to-one."""
    found = []
    for entity in model.entities:
        for each in model.entities[entity].properties.values():
            derivation = each.derivation if isinstance(each, Attribute) else None
            path = str((derivation or {}).get("key") or ((derivation or {}).get("arguments") or [{}])[0].get("key"))
            relation = model.properties(entity).get(path.split(".")[0])
            if not derivation or not isinstance(relation, Relationship) or not relation.many:
                continue
            inverse = model.inverse(relation)
            if inverse is not None and not inverse.many:
                found.append((entity, each.name, relation, inverse))
    return found


class CountCheck:
    def __init__(
        self, tally: Tally, path: str, model: Model, name: str, relation: Relationship, inverse: Relationship
    ) -> None:
        self.tally, self.path, self.model, self.name = tally, path, model, name
        self.relation, self.inverse = relation, inverse

    def run(self, one: Reference, other: Reference) -> None:
        with subject.opened(self.path, read_only=False) as store:
            objects = [subject.get(store, each) for each in (one, other)]
            member = subject.members(objects[0], self.relation.name)[0]
            start = self.numbers(objects)
            live, told = subject.watch(store, one[0])
            subject.set_value(member, self.inverse.name, objects[1])
            subject.save(store)
            self.expect("after a move of ours", [one, other], objects, [start[0] - 1, start[1] + 1])
            self.tally.expect(self.path, "a list tells nothing of derived counts", bool(told))
            live.close()
            held = subject.reference(member)
            for number, (to, change) in enumerate([(one, 0), (other, 1), (one, 0)]):
                writer = Process("writer.py", self.path, str(number))
                answer = writer.ask(f"move {held[0]} {self.inverse.name} {held[1]} {to[0]} {to[1]}")
                writer.end()
                self.tally.expect(self.path, f"the other process says {answer}", "done" in answer)
                subject.refresh(store)
                self.expect("after a move of another process", [one, other], objects, [
                    start[0] - change, start[1] + change])
            # Once more by the library, on top of what the other process did.
            subject.set_value(member, self.inverse.name, objects[1])
            subject.save(store)
            self.expect("after moves of both", [one, other], objects, [start[0] - 1, start[1] + 1])

    def numbers(self, objects: list[Any]) -> list[int]:
        return [subject.get_value(each, self.name) for each in objects]

    def expect(self, words: str, references: list[Reference], objects: list[Any], numbers: list[int]) -> None:
        shown = self.numbers(objects)
        with store_file.opened(self.path) as connection:
            reading = Reading(connection, self.model, self.path)
        rows = []
        for each in references:
            found = reading.get(*each)
            assert found is not None
            rows.append(found.values[self.name])
        self.tally.expect(self.path, f"{words} objects show {shown}, and {numbers} is right", shown == numbers)
        self.tally.expect(self.path, f"{words} the file has {rows}, and {numbers} is right", rows == numbers)
