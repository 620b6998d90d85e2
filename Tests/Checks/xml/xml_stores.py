"""XML stores: random models and rows written, read, and converted to SQLite and back; damaged files; killed saves.

Each world is a random model. A store of it on SQLite and an XML store get the same changes; each is converted, and all
must hold the same rows. Of valid files random damage is made, in a process of its own: the file must open, or fail
with an error that names it, and nothing may crash. A child process that saves is killed at a random moment: the file
must be one whole state, the last that was saved or the one that was being saved.

    xml_stores.py [--worlds N] [--damaged N] [--kills N] [--seed S]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time
from typing import Any, Optional

import quire
from models import World

LONGEST_LIFE = 0.05
DAMAGES_PER_CHILD = 100
TOKENS = [
    b'<', b'>', b'&', b'"', b'</', b'/>', b'<!--', b'-->', b']]>', b'<![CDATA[', b'&#0;', b'&#x110000;', b'&lt;',
    b'\x00', b'\xff', b'\xc3(', b'\xed\xa0\x80', b'<object', b'</object>', b'<attribute', b'<relationship',
    b'<!DOCTYPE x [', b"<!ENTITY a 'b'>", b'&a;', b'idrefs', b'z102', b'z9223372036854775807', b'z9223372036854775808',
    b'z-1', b'z0', b'type=', b'int16', b'bool', b'date', b'nan', b'inf', b'1e999', b'<plist>', b'</plist>', b'<array>',
    b'<dict>', b'</metadata>', b'<database>', b'</database>', b'\\u0000',
    b'====================================================================================================',
    b"<?xml version='1.0'?>", b'<?x ?>',
]


class Check:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.seed = seed
        self.steps = 0
        self.differences = 0
        # Of the damaged files.
        self.opened = 0
        self.folder = tempfile.mkdtemp()

    def differ(self, sentence: str) -> None:
        self.differences += 1
        print(f"{sentence} (seed {self.seed})")

    def at(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def clear(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.mkdir(self.folder)

    # Worlds

    def world(self, number: int) -> None:
        self.steps += 1
        self.clear()
        dice = random.Random(self.dice.getrandbits(32))
        world = World(dice)
        histories = [dice.getrandbits(32) for _ in range(dice.randint(1, 3))]
        found: dict[str, Any] = {}
        for name, kind in (("a.sqlite", "sqlite"), ("b.xml", "xml")):
            for history in histories:
                with quire.open(self.at(name), world.classes, type=kind) as store:
                    world.dice = random.Random(history)
                    world.change(store.context)
                    store.context.save()
                    found[name] = world.contents(store)
            with quire.open(self.at(name), world.classes) as store:
                if world.contents(store) != found[name]:
                    self.differ(f"world {number}: {name} has other rows when it is opened again")
        if found["a.sqlite"] != found["b.xml"]:
            self.differ(f"world {number}: the XML store has other rows than the one on SQLite")
        for source, target, back in (("a.sqlite", "c.xml", "d.sqlite"), ("b.xml", "e.sqlite", "f.xml")):
            quire.convert(self.at(source), self.at(target), world.classes)
            quire.convert(self.at(target), self.at(back), world.classes)
            for name in (target, back):
                with quire.open(self.at(name), world.classes) as store:
                    if world.contents(store) != found[source]:
                        self.differ(f"world {number}: {name} has other rows than {source}")
                    if store.check():
                        self.differ(f"world {number}: {name} has text indexes that do not lead to every row")
        with open(self.at("b.xml"), "rb") as first, open(self.at("f.xml"), "rb") as second:
            if first.read() != second.read():
                self.differ(f"world {number}: b.xml by SQLite is another file")

    # Damage

    def damage(self, document: bytes, dice: random.Random) -> bytes:
        found = bytearray(document)
        for _ in range(dice.choice([1, 1, 1, 2, 5])):
            place, kind = dice.randrange(len(found) + 1), dice.random()
            length = dice.choice([1, 1, 2, 10, 100, 1000])
            if kind < 0.25:
                found[place:place + 1] = bytes([dice.randrange(256)])
            elif kind < 0.45:
                del found[place:place + length]
            elif kind < 0.65:
                found[place:place] = dice.choice(TOKENS)
            elif kind < 0.75:
                start = dice.randrange(len(found) + 1)
                found[place:place] = found[start:start + length]
            elif kind < 0.85:
                del found[place:]
            else:
                # Numbers and names, of which most damage is well-formed.
                digits = [at for at, byte in enumerate(found) if 48 <= byte <= 57]
                if digits:
                    found[dice.choice(digits)] = dice.choice(b"0123456789-z.")
        return bytes(found)

    def damaged(self, count: int) -> None:
        done = 0
        while done < count:
            number = min(DAMAGES_PER_CHILD, count - done)
            seed = self.dice.getrandbits(32)
            reading, writing = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reading)
                with os.fdopen(writing, "wb") as pipe:
                    try:
                        self.damaged_here(seed, number, pipe)
                    except BaseException as error:  # noqa: B902
                        pipe.write(f"raised {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
                os._exit(0)
            os.close(writing)
            with os.fdopen(reading, "rb") as pipe:
                said = pipe.read().decode("utf-8", "replace")
            _, status = os.waitpid(child, 0)
            if status:
                self.differ(f"damaged files of seed {seed}: the process ended with {status}: {said[-500:]}")
            for line in said.splitlines():
                if line.startswith("opened "):
                    self.opened += int(line.split()[1])
                    continue
                self.differ(f"damaged files of seed {seed}: {line}")
            done += number
            self.steps += number

    def damaged_here(self, seed: int, count: int, pipe: Any) -> None:
        dice = random.Random(seed)
        self.folder = tempfile.mkdtemp()
        world = World(dice)
        with quire.open(self.at("a.xml"), world.classes, type="xml") as store:
            world.change(store.context)
            store.context.save()
        with open(self.at("a.xml"), "rb") as file:
            document = file.read()
        path = self.at("b.xml")
        opened = 0
        for number in range(count):
            damaged = self.damage(document, dice)
            with open(path, "wb") as file:
                file.write(damaged)
            start = time.process_time()
            try:
                with quire.open(path, world.classes) as store:
                    opened += 1
                    rows = world.contents(store)
                    # What was read can be written and read again.
                    world.change(store.context)
                    store.context.rollback()
                    store.metadata["checked"] = number
                    store.context.save()
                    with quire.open(path, world.classes) as again:
                        if world.contents(again) != rows:
                            pipe.write(f"file {number} has other rows when it was saved\n".encode())
            except quire.Error as error:
                if path not in str(error):
                    pipe.write(f"file {number}: the failure names no file: {error}\n".encode())
                if isinstance(error, quire.DatabaseError) and "line " not in str(error):
                    pipe.write(f"file {number}: the failure names no line: {error}\n".encode())
                with open(path, "rb") as file:
                    if file.read() != damaged:
                        pipe.write(f"file {number} was changed by an opening that failed\n".encode())
            if time.process_time() - start > 20:
                pipe.write(f"file {number} took {time.process_time() - start:.1f} s of a processor\n".encode())
            if set(os.listdir(self.folder)) != {"a.xml", "b.xml"}:
                pipe.write(f"file {number}: {os.listdir(self.folder)} are there\n".encode())
        pipe.write(f"opened {opened}\n".encode())
        shutil.rmtree(self.folder, ignore_errors=True)

    # Kills

    def kill(self, number: int) -> None:
        self.steps += 1
        if number % 25 == 0:
            self.clear()
            with quire.open(self.at("a.xml"), [State], type="xml") as store:
                store.context.add(State(number=0, size=0))
                store.context.save()
        path = self.at("a.xml")
        seed = self.dice.getrandbits(32)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                save_forever(path, seed, writing)
            except BaseException as error:  # noqa: B902
                print(f"kill {number}: {type(error).__name__}: {error}", flush=True)
            os._exit(1)
        os.close(writing)
        first = os.read(reading, 8)
        time.sleep(self.dice.random() ** 2 * LONGEST_LIFE)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        told = first
        with os.fdopen(reading, "rb") as pipe:
            told += pipe.read()
        if not os.WIFSIGNALED(status):
            self.differ(f"kill {number}: the child ended by itself")
            return
        last: int = struct.unpack("<q", told[len(told) // 8 * 8 - 8:len(told) // 8 * 8])[0]
        problem = self.state_problem(path, last)
        if problem:
            self.differ(f"kill {number}: {problem}")
        for name in os.listdir(self.folder):
            if name.startswith("quire-copy-"):
                os.unlink(self.at(name))
            elif name != "a.xml":
                self.differ(f"kill {number}: a file '{name}' is there")

    def state_problem(self, path: str, last: int) -> Optional[str]:
        try:
            with quire.open(path, [State]) as store:
                rows = store.context.query(State).all()
        except quire.Error as error:
            return str(error)
        numbers = {row.number for row in rows}
        if len(numbers) != 1 or {row.size for row in rows} != {len(rows) - 1}:
            return f"the file has {len(rows)} rows of the saves {sorted(numbers)}"
        found = numbers.pop()
        # Told after it was saved, so that one more may be there.
        return None if found in (last, last + 1) else f"the file is of the save {found}, and {last} was the last"


class State(quire.Model):
    """Each row says which save it is of, and how many others there are."""

    number: quire.Attr[int]
    size: quire.Attr[int]
    filler: quire.Attr[str] = quire.attr(default="")


def save_forever(path: str, seed: int, pipe: int) -> None:
    dice = random.Random(seed)
    with quire.open(path, [State], relaxed_durability=dice.random() < 0.5) as store:
        context = store.context
        number = context.query(State).first().number  # type: ignore[union-attr]
        os.write(pipe, struct.pack("<q", number))
        while True:
            number += 1
            rows = context.query(State).all()
            while len(rows) < dice.randint(1, 60):
                rows.append(context.add(State(number=number, size=0, filler="x" * dice.choice([0, 10, 5000]))))
            for row in rows[1:]:
                if dice.random() < 0.2:
                    rows.remove(row)
                    context.delete(row)
            for row in rows:
                row.number, row.size = number, len(rows) - 1
            context.save()
            os.write(pipe, struct.pack("<q", number))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--damaged", type=int, default=5000)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(30))
    options = parser.parse_args()
    check = Check(options.seed)
    print(f"xml: seed {options.seed}", flush=True)
    for number in range(options.worlds):
        check.world(number)
    check.damaged(options.damaged)
    print(f"of {options.damaged} damaged files {check.opened} could be opened", flush=True)
    for number in range(options.kills):
        check.kill(number)
    shutil.rmtree(check.folder, ignore_errors=True)
    print(f"xml: {check.steps} steps, {check.differences} differences, seed {options.seed}")
    return 1 if check.differences else 0


if __name__ == "__main__":
    sys.exit(main())
