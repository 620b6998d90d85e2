"""Pairs of models with rows: what becomes of them, and what is refused."""

from __future__ import annotations

import inspect
import os
import random
import shutil
import tempfile
import traceback
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any, Optional

import histories
import model_xml
import quire
import store_file
import subject
import subject_checks
from description import Attribute, Model
from expectation import Expectation, Mapping
from file_checks import FileState, duplicates, problems
from fixtures import StoreWriter
from model_changes import Changer
from model_dice import ModelDice
from others import MARK, Others
from rows_dice import Filler, Unfit, fill_by_library
from tally import Tally
from xml_writer import write_xml

MOST_TOLD = 30
Answer = tuple[int, str, list[str], list[str]]


def run(steps: int, seed: int, first: int, keep: Optional[str]) -> int:
    """Returns how many pairs differ."""
    table: dict[str, Counter[str]] = {}
    whole: Counter[str] = Counter()
    differences = 0
    with ProcessPoolExecutor(2) as pool:
        for number, outcome, made, found in pool.map(
                partial(one_pair, seed, keep), range(first, first + steps), chunksize=4):
            whole[outcome] += 1
            for each in set(made):
                table.setdefault(each, Counter())[outcome] += 1
            differences += bool(found)
            if found and differences <= MOST_TOLD:
                for each in found[:6]:
                    print(f"pair {number}: {', '.join(made)}: {each}", flush=True)
    outcomes = ["migrated", "refused", "could not be held", "constraint", "same", "unfit", "failed"]
    print(f"{'':32}" + "".join(f"{each:>18}" for each in outcomes))
    for name in [*sorted(table), "all pairs"]:
        counts = table.get(name, whole)
        print(f"{name:32}" + "".join(f"{counts[each]:>18}" for each in outcomes))
    # A kind of change that never went through, or a refusal that never came, is not tested.
    if steps >= 500:
        for name, counts in table.items():
            wanted = "refused" if name in Changer(Model({}), random.Random(0)).refusals else "migrated"
            if not counts[wanted]:
                print(f"{name} was never {wanted}")
                differences += 1
    return differences


def one_pair(seed: int, keep: Optional[str], number: int) -> Answer:
    folder = tempfile.mkdtemp(prefix="quire-migrations-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    pair = Pair(os.path.join(folder, "store"), random.Random(f"{seed} {number}"), folder)
    found: list[str] = []
    try:
        os.makedirs(os.path.dirname(pair.path))
        found = list(pair.differences())
    except Exception as error:
        pair.outcome = "failed"
        place = traceback.extract_tb(error.__traceback__)[-1]
        found.append(f"{type(error).__name__}: {error} ({os.path.basename(place.filename)}:{place.lineno})")
    finally:
        if found and keep is not None:
            shutil.copytree(folder, os.path.join(keep, f"{number}"), dirs_exist_ok=True)
        shutil.rmtree(folder)
    return number, pair.outcome, pair.made, found


class Pair:
    def __init__(self, place: str, dice: random.Random, folder: str) -> None:
        self.folder, self.dice = folder, dice
        self.path = os.path.join(place, "pair.sqlite")
        self.outcome, self.made = "same", list[str]()
        self.given: Any = None
        self.others: Optional[Others] = None

    def load(self, model: Model, name: str) -> Any:
        place = os.path.join(self.folder, f"{name}.xcdatamodel")
        os.makedirs(place)
        text = write_xml(model)
        with open(os.path.join(place, "contents"), "wb") as file:
            file.write(text)
        return quire.load_model(place)

    def differences(self) -> Iterator[str]:
        related = self.dice.random() < 0.4
        source = ModelDice(self.dice).model(related)
        changer = Changer(source, self.dice)
        changer.run(self.dice.choice([1, 1, 1, 2, 3, 6]), self.dice.random() < 0.15, related)
        self.made = changer.made
        # As a file says it.
        source, target = (model_xml.read_text(write_xml(each)) for each in (source, changer.model))
        former, latter = self.load(source, "former"), self.load(target, "latter")
        if not self.write(source, former):
            self.outcome = "unfit"
            return
        self.given = former if self.dice.random() < 0.3 else None
        self.kept = shutil.copytree(os.path.dirname(self.path), os.path.join(self.folder, "kept"))
        before = FileState(self.path, source)
        mapping = Mapping(source, target)
        verdict = mapping.verdict()
        expected = Expectation(before.reading, mapping, default_value)
        bytes_before = self.files()
        if before.fits(target):
            # By the rules of the format the file is of the target, whatever else has changed.
            self.outcome = "same"
            # A log that is there may go into the file.
            has_log = any(name.endswith("-wal") for name in bytes_before)
            if quire.migrate(self.path, latter, source=self.given) or not has_log and self.files() != bytes_before:
                yield "a file with the target's hashes is migrated"
            return
        stays = self.others is None or self.others.stays(mapping, target)
        try:
            planned = quire.migrate(self.path, latter, source=self.given, dry_run=True)
        except quire.Unsupported as error:
            yield from self.refused(str(error), verdict.must, verdict.may, latter, bytes_before)
            return
        if self.files() != bytes_before:
            yield "a dry run changed the files"
        for reason, names in verdict.must:
            yield f"it is not refused, and was to be for {reason} of {sorted(names)}"
        if verdict.must:
            return
        if expected.torn:
            yield f"it is not refused, and {sorted(expected.torn)[:2]} would have two"
            return
        broken = duplicates(before.layout, expected, target)
        try:
            steps = quire.migrate(self.path, latter, source=self.given)
        except quire.ConstraintError as error:
            self.outcome = "constraint"
            if not broken:
                yield f"a constraint that is kept: {error}"
            after = FileState(self.path, source)
            if after.raw != before.raw or after.metadata != before.metadata or after.statements != before.statements:
                yield "a failed migration changed the store"
            return
        except quire.Unsupported as error:
            self.outcome = "could not be held"
            if stays or MARK not in str(error):
                yield f"the dry run went well, and the run did not: {error}"
            after = FileState(self.path, source)
            if after.raw != before.raw or after.metadata != before.metadata or after.statements != before.statements:
                yield "a failed migration changed the store"
            return
        if broken:
            yield f"{broken} are not kept, and that went through"
            return
        if steps != planned:
            changed = [(one.sql, other.sql) for one, other in zip(planned, steps) if one != other]
            yield f"the steps of the dry run are not those of the run: {len(planned)} {len(steps)} {changed[:1]}"
        self.outcome = "migrated" if steps else "same"
        yield from problems(before, FileState(self.path, target), mapping, expected)
        if self.others is not None:
            yield from self.others.problems(self.path, stays, expected, target)
        yield from self.again(latter, target)

    def write(self, source: Model, former: Any) -> bool:
        """Makes the store and its rows; says whether the model allows that."""
        kind = self.dice.random()
        if kind < 0.4:
            StoreWriter(self.path, source, []).close()
        else:
            quire.open(self.path, former).close()
        filler = Filler(self.path, source, self.dice)
        if kind > 0.8:
            filler.connection.execute("ROLLBACK")
            filler.connection.close()
            try:
                with quire.open(self.path, former) as store:
                    fill_by_library(store, source, filler, 5)
            except (Unfit, quire.ValidationError):
                return False
            return True
        filler.fill(self.dice.choice([0, 3, 8]))
        if self.dice.random() < 0.3:
            histories.add(filler.connection, filler.layout, self.dice)
        if self.dice.random() < 0.2:
            self.others = Others(filler.connection, filler.layout, self.dice)
        if self.dice.random() < 0.3:
            filler.close_with_log()
        else:
            filler.close()
        return True

    def files(self) -> dict[str, str]:
        found = store_file.folder_state(os.path.dirname(self.path))
        return {name: digest for name, digest in found.items() if not name.endswith("-shm")}

    def refused(
        self, message: str, must: list[tuple[str, set[str]]], may: list[tuple[str, set[str]]], latter: Any,
        before: dict[str, str]
    ) -> Iterator[str]:
        if self.others is not None and MARK in message and not must:
            self.outcome = "could not be held"
            return
        self.outcome = "refused" if must else "could not be held"
        reasons = [*must, *may]
        if not reasons:
            yield f"it is refused, and can be inferred: {message}"
        elif not any(f"'{name}'" in message or f".{name}'" in message for _, names in reasons for name in names):
            yield f"the message names neither of {reasons}: {message}"
        try:
            quire.migrate(self.path, latter, source=self.given)
            yield "the dry run was refused, and the run went through"
        except quire.Unsupported:
            pass
        if self.files() != before:
            yield "a refused migration changed the files"

    def again(self, latter: Any, target: Model) -> Iterator[str]:
        """The store is one of the target, for the library too."""
        before = self.files()
        if quire.migrate(self.path, latter) != []:
            yield "a second migration has steps"
        if self.files() != before:
            yield "a second migration changed the files"
        tally = Tell()
        with open_store(self.path, latter) as store:
            if store.check() != 0:
                yield f"store.check() finds {store.check()} faults"
            reading = FileState(self.path, target).reading
            subject_checks.compare_objects(tally, store, reading, "object")
            yield from tally.found
            yield from self.save_one(store, target)

    def save_one(self, store: Any, target: Model) -> Iterator[str]:
        filler = Filler.__new__(Filler)
        filler.model, filler.dice, filler._unique = target, self.dice, 1 << 20
        for name, entity in target.entities.items():
            if entity.abstract or any(not each.optional for each in target.relationships(name)):
                continue
            values: dict[str, Any] = {}
            for each in target.attributes(name):
                if each.type in (1800,) and not each.optional:
                    break
                value = filler.value(each, True)
                if each.type in PLAIN:
                    values[each.name] = value
                elif not each.optional:
                    value = None
                    while value is None:
                        value = filler.value(each, False)
                    values[each.name] = bool(value) if each.type == 800 else subject.to_python(value, each.type)
            else:
                last = max((key for at, key in self.keys(target) if at == target.root(name)), default=0)
                made = subject.add(store, name, values)
                store.context.save()
                if int(made.id) <= last:
                    yield f"a new {name} has the key {made.id}, and {last} was given out"
                return

    def keys(self, target: Model) -> set[tuple[str, int]]:
        found = FileState(self.path, target).reading.objects.values()
        return {(target.root(each.entity), each.key) for each in found}


# Types whose values may be numbers that were not used before.
PLAIN = (200, 300, 700, 1100)


def open_store(path: str, model: Any) -> Any:
    """A store that is written to, with a history or without."""
    known = inspect.signature(quire.open).parameters
    options: dict[str, Any] = {"skips_history": True} if "skips_history" in known else {}
    return quire.open(path, model, **options)


class Tell(Tally):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def differ(self, where: str, text: str) -> None:
        self.differences += 1
        self.found.append(f"by the library: {text}")


def default_value(each: Attribute) -> Any:
    """The default of an attribute as the plain reading has values."""
    value = each.default
    if isinstance(value, dict):
        (mark, inner), = value.items()
        if mark == "$decimal":
            return Decimal(str(inner))
        if mark == "$date":
            return float(inner)
        return uuid.UUID(inner) if mark == "$uuid" else inner
    return value
