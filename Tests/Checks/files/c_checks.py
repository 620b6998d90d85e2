"""The library in C against plain Python: a program opens each store with the model of the file and prints all of it.

Numbers and dates are compared exactly, which Python's dates cannot be.
"""

from __future__ import annotations

import os
import subprocess
import uuid
from decimal import Decimal
from typing import Any, Optional

import model_cache
import store_file
from description import DATE, Attribute, Model, short
from hashes import entity_hashes
from rows import MissingFile, Reading, Reference
from subject import missing_file
from tally import Tally

# Seconds from 1970, which the library counts from, to 2001.
EPOCH = 978307200
# Seconds for which doubles tell microseconds apart.
EXACT = 1 << 32


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    if tally.program is None:
        print("skipped: no program of C is named that reads stores")
        return
    for path in stores:
        with store_file.opened(path) as connection:
            model = model_cache.read_store(connection)
            if model is not None:
                check_store(tally, tally.program, path, Reading(connection, model, path))


def check_store(tally: Tally, program: str, path: str, reading: Reading) -> None:
    place = os.path.dirname(path)
    before = store_file.folder_state(place)
    done = subprocess.run([program, path], capture_output=True, check=False)
    if done.returncode != 0:
        tally.differ(path, done.stderr.decode().strip())
        return
    printed = done.stdout.decode("utf-8").split("\n")[:-1]
    found = {tuple(head.split("\t")): text for head, _, text in (line.rpartition("\t") for line in printed)}
    tally.expect(path, "C prints something twice", len(found) == len(printed))
    dangling = {(owner, name) for owner, name, _ in reading.dangling}
    expected = dict(expected_lines(reading))
    for entity in reading.model.entities:
        if reading.model.is_derived(entity):
            # The form of derived attributes is not known.
            found.pop(("hash", entity))
    for key in sorted({*expected, *found}):
        if key not in found or key not in expected:
            tally.differ(path, f"{' '.join(key)} is {'missing' if key not in found else 'too much'} in C")
        elif key[0] == "value":
            tally.count("values compared in C")
            tally.expect(path, f"in C {' '.join(key)} is {found[key][:80]}, not {short(expected[key])}", is_same(
                found[key], expected[key], attribute(reading.model, key)))
        elif key[0] != "one" or ((key[1], int(key[2])), key[3]) not in dangling:
            tally.count("references and counts compared in C")
            tally.expect(path, f"in C {' '.join(key)} is {found[key][:80]}, not {short(expected[key])}", (
                found[key] == expected[key]))
    tally.expect(path, "the folder has changed", before == store_file.folder_state(place))


def attribute(model: Model, key: tuple[str, ...]) -> Attribute:
    found = model.properties(key[1])[key[3]]
    assert isinstance(found, Attribute)
    return found


def expected_lines(reading: Reading) -> list[tuple[tuple[str, ...], Any]]:
    """The fields of each line but the last, and what that is to be: a value, or text."""
    found: list[tuple[tuple[str, ...], Any]] = []
    for entity, value in entity_hashes(reading.model).items():
        if not reading.model.is_derived(entity):
            found.append((("hash", entity), f"x{value.hex()}"))
    for entity, (alone, all_of_them) in reading.counts().items():
        found.append((("count", entity, str(alone)), str(all_of_them)))
    for each in reading.objects.values():
        head = (each.entity, str(each.key))
        found += [(("value", *head, name), value) for name, value in each.values.items()]
        found += [(("one", *head, name), spelled([held] if held else [])) for name, held in each.one.items()]
        found += [
            (("many", *head, name), spelled(
                members if is_ordered(reading.model, each.entity, name) else sorted(members, key=lambda one: one[1])))
            for name, members in each.many.items()]
    return found


def is_ordered(model: Model, entity: str, name: str) -> bool:
    return bool(getattr(model.properties(entity)[name], "ordered"))


def spelled(members: list[Reference]) -> str:
    return " ".join(f"{entity}:{key}" for entity, key in members)


def is_same(printed: str, value: Any, each: Attribute) -> bool:
    kind, text = printed[0], printed[1:]
    if isinstance(value, MissingFile):
        return kind == "m" and missing_file(text).name.upper() == value.name.upper()
    if value is None:
        return kind == "n"
    read: Optional[Any] = {
        "i": int, "b": lambda digit: digit == "1", "r": float, "d": float, "c": Decimal,
        "t": lambda digits: bytes.fromhex(digits).decode("utf-8"), "x": bytes.fromhex}.get(kind)
    if read is None:
        return False
    if isinstance(value, uuid.UUID):
        return bool(read(text) == value.bytes)
    if each.type == DATE:
        return kind == "d" and float(text) == since_1970(value)
    return bool(read(text) == value) and (kind == "b") == isinstance(value, bool)


def since_1970(value: float) -> float:
    """A date of a file as the library has it: a whole number of microseconds stays one."""
    exact = Decimal(repr(value))
    is_whole = abs(exact) + EPOCH < EXACT and exact == round(exact, 6)
    return float(exact + EPOCH) if is_whole else value + EPOCH
