"""Migrations that are killed, and migrations on a disk that is full: the state before or after, and nothing between.

A migration with another number for each entity, a table that is copied, new columns, a join table that is made of a
column, and new indexes runs in a child process.
"""

from __future__ import annotations

import copy
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from typing import Optional

import file_checks
import store_file
from description import BINARY, INTEGER64, STRING, Attribute, Entity, Index, IndexElement, Model, Relationship
from fixtures import StoreWriter
from xml_writer import write_xml

ROWS = 20_000
LIMITS = 50
CHILD = """
import resource, signal, sys
import quire
latter = quire.load_model(sys.argv[2])
limit = int(sys.argv[3])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
print("ready", flush=True)
sys.stdin.readline()
try:
    quire.migrate(sys.argv[1], latter)
except quire.DatabaseError as error:
    print(f"refused {error}", flush=True)
else:
    print("done", flush=True)
"""


def models() -> tuple[Model, Model]:
    source = Model({
        "Book": Entity("Book", properties={
            "title": Attribute("title", type=STRING, optional=True, class_name="NSString"),
            "pages": Attribute("pages", type=INTEGER64, optional=True, class_name="NSNumber"),
            "cover": Attribute("cover", type=BINARY, optional=True, external=True, class_name="NSData"),
            "author": Relationship("author", optional=True, destination="Writer", inverse="books", maximum=1)}),
        "Writer": Entity("Writer", properties={
            "name": Attribute("name", type=STRING, optional=True, class_name="NSString"),
            "books": Relationship("books", optional=True, destination="Book", inverse="author", ordered=True)})})
    target = copy.deepcopy(source)
    target.entities = {"Almanac": Entity("Almanac"), **target.entities}
    book, writer = target.entities["Book"], target.entities["Writer"]
    book.properties["length"] = book.properties.pop("pages")
    book.properties["length"].name, book.properties["length"].renamed_from = "length", "pages"
    book.properties["rating"] = Attribute("rating", type=INTEGER64, default=3, class_name="NSNumber")
    author = book.properties["author"]
    assert isinstance(author, Relationship)
    author.maximum = 0
    book.indexes = [Index("byTitle", [IndexElement("title")])]
    writer.properties["note"] = Attribute("note", type=STRING, optional=True, class_name="NSString")
    return source, target


def write(path: str, source: Model, rows: int, dice: random.Random) -> None:
    store = StoreWriter(path, source, [])
    writers = [store.add("Writer", {"name": f"writer {number}"}) for number in range(rows // 20)]
    for number in range(rows):
        key = store.add("Book", {
            "title": f"book {number} 🙂", "pages": dice.randrange(1 << 40),
            "cover": dice.randbytes(dice.choice([9, 99]))})
        store.point("Book", key, "author", ("Writer", dice.choice(writers)), 1024 * (number + 1))
    # A value in a file, which stays.
    store.add("Book", {"title": "outside", "cover": dice.randbytes(200_000)})
    store.close()


def content(path: str) -> str:
    """A checksum of all that a store says, whatever its pages are."""
    digest = hashlib.sha256()
    connection = sqlite3.connect(path)
    try:
        if connection.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            return "damaged"
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        digest.update(repr(schema).encode())
        for kind, name, _ in schema:
            if kind == "table":
                rows = sorted(map(repr, connection.execute(f"SELECT * FROM {store_file.quoted(name)}")))
                digest.update("\n".join(rows).encode())
    finally:
        connection.close()
    folder = store_file.support_folder(path)
    for name, held in sorted(store_file.folder_state(folder).items()):
        digest.update(f"{name} {held}".encode())
    return digest.hexdigest()


class Stage:
    def __init__(self, folder: str, seed: int, rows: int) -> None:
        self.folder, self.dice = folder, random.Random(seed)
        source, target = models()
        self.latter = os.path.join(folder, "latter.xcdatamodel")
        os.makedirs(self.latter)
        with open(os.path.join(self.latter, "contents"), "wb") as file:
            file.write(write_xml(target))
        self.first = os.path.join(folder, "first")
        os.makedirs(self.first)
        path = os.path.join(self.first, "books.sqlite")
        write(path, source, rows, self.dice)
        self.before = content(path)
        place = self.fresh()
        started = time.monotonic()
        answer = self.finish(self.start(place))
        self.duration = time.monotonic() - started
        self.after = content(place)
        self.size = max(os.path.getsize(place), os.path.getsize(path))
        if answer != "done" or self.after in (self.before, "damaged"):
            raise AssertionError(f"the migration that is to be interrupted fails: {answer}")
        state = file_checks.FileState(place, target)
        wanted = [*file_checks.statement_problems(state, state, target), *state.reading.surprises]
        if wanted:
            raise AssertionError(f"{wanted[:3]}")

    def fresh(self) -> str:
        place = tempfile.mkdtemp(dir=self.folder)
        shutil.copytree(self.first, place, dirs_exist_ok=True)
        return os.path.join(place, "books.sqlite")

    def start(self, path: str, limit: int = 0) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, path, self.latter, str(limit)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None and child.stdin is not None
        if child.stdout.readline() != "ready\n":
            raise AssertionError("the child does not begin")
        child.stdin.write("\n")
        child.stdin.flush()
        return child

    def finish(self, child: subprocess.Popen[str]) -> str:
        assert child.stdout is not None and child.stdin is not None
        answer = child.stdout.readline().strip()
        child.stdin.close()
        child.wait()
        child.stdout.close()
        return answer

    def kill(self) -> tuple[str, Optional[str]]:
        """Which state a killed migration left, and what is wrong with it."""
        path = self.fresh()
        child = self.start(path)
        time.sleep(self.dice.uniform(0, self.duration * 1.1))
        child.send_signal(signal.SIGKILL)
        self.finish(child)
        state = content(path)
        if state == self.before:
            # It can be done again.
            if self.dice.random() < 0.2 and (self.finish(self.start(path)) != "done" or content(path) != self.after):
                return "before", "the next migration does not succeed"
            return self._told(path, "before", None)
        return self._told(path, "after", None if state == self.after else f"neither before nor after: {state}")

    def full(self, limit: int) -> tuple[str, Optional[str]]:
        path = self.fresh()
        answer = self.finish(self.start(path, limit))
        state = content(path)
        if answer == "done":
            return self._told(path, "enough room", None if state == self.after else "it says done, and is not")
        if not answer.startswith("refused"):
            return self._told(path, "full", f"at {limit} bytes it answers {answer!r}")
        return self._told(path, "full", None if state == self.before else f"at {limit} bytes it fails and changes")

    def _told(self, path: str, state: str, problem: Optional[str]) -> tuple[str, Optional[str]]:
        shutil.rmtree(os.path.dirname(path))
        return state, problem


def run(kills: int, seed: int) -> int:
    """Returns how many interruptions left something else."""
    if not kills:
        return 0
    differences = 0
    found: dict[str, int] = {}
    folder = tempfile.mkdtemp(prefix="quire-migrations-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        stage = Stage(folder, seed, ROWS)
        answers: list[tuple[str, Optional[str]]] = [stage.kill() for _ in range(kills)]
        limits = [
            max(1, stage.size * 3 * place // (2 * LIMITS)) // (1 if place % 2 else 4096) * (1 if place % 2 else 4096)
            for place in range(1, LIMITS + 1)]
        answers += [stage.full(limit) for limit in (limits if kills >= LIMITS else limits[::10])]
    finally:
        shutil.rmtree(folder)
    for state, problem in answers:
        found[state] = found.get(state, 0) + 1
        if problem is not None:
            differences += 1
            print(f"interrupted: {problem}")
    print("interrupted: " + ", ".join(f"{number} {state}" for state, number in sorted(found.items())))
    for state in ("before", "after", "full") if kills >= LIMITS else ("full",):
        if state not in found:
            print(f"interrupted: no migration ended {state}")
            differences += 1
    return differences
