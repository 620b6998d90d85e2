"""The library on damaged files, in a process of its own, which a fault may end.

    subject_damage.py FILE ...

Prints a line of JSON for each file: how the library reads it, or that it refuses it. The same files are then used by
the program of Tests/Checks/hostile where it is built, which writes to stores too.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from typing import Any, Optional

import bombs
import model_cache
import model_xml
import store_file
import subject
from damage import damage_archive, damage_store, damage_xml
from damage_checks import REFUSALS
from description import Model
from hashes import entity_hashes
from tally import Tally

BATCH = 25
SECONDS_EACH = 20
MOST_MEMORY = 1 << 30
BOMB_SIZE = 1500
# Of what a program says that ends.
MOST_LINES = 40
MOST_SAID = 4000


def is_sanitized() -> bool:
    """Whether a sanitizer counts the memory, which reserves more than any limit allows."""
    return "asan" in os.environ.get("LD_PRELOAD", "")


def run(tally: Tally, stores: list[str], models: list[str], folder: str, seed: int) -> None:
    """Damages stores, compiled models and sources, and has the library read them all."""
    lacking = subject.missing()
    if lacking is not None:
        print(f"skipped: the library reads no damaged files: {lacking}")
        return
    for path in bombs.write_all(tempfile.mkdtemp(dir=folder), BOMB_SIZE):
        read_batch(tally, [path], compares=False)
        if tally.hostile is not None:
            use_all(tally, tally.hostile, [path])
    dice = random.Random(seed)
    waiting: list[str] = []
    for step in range(tally.damaged):
        place = tempfile.mkdtemp(dir=folder)
        waiting += damaged_files(dice, stores, models, place, step)
    used = list(waiting)
    while waiting:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        done = read_batch(tally, batch)
        # The file that ended the process is left out.
        waiting = batch[done + 1:] + waiting if done < len(batch) else waiting
    if tally.hostile is not None:
        use_all(tally, tally.hostile, used)


def use_all(tally: Tally, program: str, waiting: list[str]) -> None:
    """Has the program without Python use files. One that ends it, or hangs, is a difference."""
    environment = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "ASAN_OPTIONS")}
    while waiting:
        batch, waiting = waiting[:BATCH], waiting[BATCH:]
        try:
            ended = subprocess.run(
                [program, *batch], capture_output=True, text=True, errors="replace", env=environment, check=False,
                timeout=SECONDS_EACH * len(batch))
            printed, status, said = ended.stdout, ended.returncode, ended.stderr
        except subprocess.TimeoutExpired as error:
            printed, status, said = (error.stdout or b"").decode(errors="replace"), -1, "too slow"
        lines = printed.splitlines()
        done = sum(line.startswith(("read ", "refused ")) for line in lines)
        tally.count("damaged files that a C program uses", done)
        if status == 0:
            continue
        name = os.path.basename(batch[done]) if done < len(batch) else f"{os.path.basename(batch[0])} and others"
        told = [line for line in [*lines, *said.splitlines()] if not line.startswith(("read ", "refused "))]
        tally.differ(name, f"the C program ends with {status}: " + "\n    ".join(told[:MOST_LINES]))
        # All of them were used where a leak or a difference is all that is wrong.
        waiting = batch[done + 1:] + waiting


def damaged_files(dice: random.Random, stores: list[str], models: list[str], place: str, step: int) -> list[str]:
    small = [each for each in stores if os.path.getsize(each) < 1 << 20]
    path = store_file.copy_store(dice.choice(small), place)
    with store_file.opened(path) as connection:
        row = connection.execute("SELECT Z_CONTENT FROM Z_MODELCACHE").fetchone()
    name, archive = damage_archive(dice, model_cache.inflate(row[0]))
    found = [write(place, f"{step}_{name}.mom", archive)]
    if models:
        with open(dice.choice(models), "rb") as file:
            name, source = damage_xml(dice, file.read())
        os.makedirs(os.path.join(place, f"{step}_{name}.xcdatamodel"))
        write(place, os.path.join(f"{step}_{name}.xcdatamodel", "contents"), source)
        found.append(os.path.join(place, f"{step}_{name}.xcdatamodel"))
    named = os.path.join(place, f"{step}_{damage_store(dice, path)}.sqlite")
    for suffix in ("", *store_file.LOGS):
        if os.path.exists(path + suffix):
            os.rename(path + suffix, named + suffix)
    return [*found, named]


def write(place: str, name: str, data: bytes) -> str:
    path = os.path.join(place, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def read_batch(tally: Tally, batch: list[str], compares: bool = True) -> int:
    """Has a process read files; returns how many it has read or refused before it ended.

    What plain Python makes of them is left alone for those that are built to exhaust a reader.
    """
    try:
        ended = subprocess.run(
            [sys.executable, os.path.abspath(__file__), *batch], capture_output=True, text=True,
            timeout=SECONDS_EACH * len(batch), check=False)
        printed, status = ended.stdout, f"status {ended.returncode}: {ended.stderr[:MOST_SAID]}"
    except subprocess.TimeoutExpired as error:
        printed, status = (error.stdout or b"").decode(), "too slow"
    lines = [json.loads(each) for each in printed.splitlines() if each.startswith("{") and each.endswith("}")]
    for path, line in zip(batch, lines):
        tally.count(f"damaged files that the library {'reads' if 'hashes' in line else 'refuses'}")
        if "fault" in line:
            tally.differ(os.path.basename(path), str(line["fault"]))
        if "hashes" in line and compares:
            compare(tally, path, line["hashes"])
    if len(lines) < len(batch):
        tally.differ(os.path.basename(batch[len(lines)]), f"ended the process: {status}")
    return len(lines)


def compare(tally: Tally, path: str, theirs: dict[str, str]) -> None:
    """Where both read a file, they read the same entities."""
    model = read_by_us(path)
    if model is None:
        tally.count("damaged files that the library alone reads")
        return
    for name, value in entity_hashes(model).items():
        if not model.is_derived(name):
            tally.expect(os.path.basename(path), f"{name} is read otherwise", theirs.get(name) == value.hex())


def read_by_us(path: str) -> Optional[Model]:
    try:
        if path.endswith(".sqlite"):
            with store_file.opened(path) as connection:
                return model_cache.read_store(connection)
        if path.endswith(".mom"):
            with open(path, "rb") as file:
                return model_cache.read_model(file.read())
        return model_xml.read_file(path)
    except REFUSALS:
        return None


def read_by_library(path: str) -> dict[str, Any]:
    try:
        if path.endswith(".sqlite"):
            with subject.opened(path) as store:
                for name in list(store.classes):
                    list(store.context.query(store.classes[name]).values())
                found = subject.hashes(store.model)
        elif path.endswith(".archive"):
            with open(path, "rb") as file:
                subject.decode(file.read())
            found = {}
        else:
            found = subject.hashes(subject.load_model(path))
        return {"hashes": {name: value.hex() for name, value in found.items()}}
    except Exception as error:
        # Whatever is no refusal of the library's own is a fault of its reader.
        return {"refused": str(error)} if subject.is_refusal(error) else {"fault": f"{type(error).__name__}: {error}"}


def main() -> int:
    if not is_sanitized():
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    for path in sys.argv[1:]:
        print(json.dumps(read_by_library(path)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
