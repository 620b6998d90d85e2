"""Stores with values in files, whose process is killed while it writes.

A child process inserts, replaces and deletes values around the threshold, in saves, transactions and batch requests,
until SIGKILL ends it at a random moment. Then plain SQLite reads the store: each row that names a file must find it,
whole. Files that no row names are counted, and are no difference.

    external.py [--kills N] [--seed S]
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from typing import Optional

import quire

THRESHOLD = 102_400
LONGEST_LIFE = 0.06
KILLS_PER_STORE = 50
MOST_ROWS = 12


class Photo(quire.Model):
    """`digest` says what `image` must be."""

    name: quire.Attr[str]
    digest: quire.Attr[str]
    image: quire.Attr[Optional[bytes]] = quire.attr(default=None, external=True)


class Work:
    """What the child does until it is killed."""

    def __init__(self, path: str, seed: int, relaxed: bool) -> None:
        self.dice = random.Random(seed)
        self.store = quire.open(path, [Photo], relaxed_durability=relaxed)
        self.context = self.store.context

    def image(self) -> tuple[bytes, str]:
        size = self.dice.choice([0, 5, THRESHOLD, THRESHOLD + 1, 200_000, 1_000_000])
        image = self.dice.randbytes(16) * (size // 16 + 1)
        return image[:size], hashlib.sha256(image[:size]).hexdigest()

    def set(self, photo: Photo) -> None:
        photo.image, photo.digest = self.image()

    def change(self) -> None:
        photos = self.context.query(Photo).all()
        for _ in range(self.dice.randint(1, 3)):
            kind = self.dice.randint(0, 3)
            if kind == 0 and photos:
                self.context.delete(photos.pop(self.dice.randrange(len(photos))))
            elif kind == 1 and photos or len(photos) >= MOST_ROWS:
                self.set(self.dice.choice(photos))
            else:
                image, digest = self.image()
                photos.append(self.context.add(Photo(name="photo", image=image, digest=digest)))
        self.context.save()

    def batch(self) -> None:
        image, digest = self.image()
        query = self.context.query(Photo)
        if self.dice.random() < 0.5:
            query.update(image=image, digest=digest)
        else:
            self.context.insert_rows(Photo, {"name": ["a", "b"], "digest": [digest] * 2, "image": [image] * 2})
            extra = query.all()[MOST_ROWS:]
            if extra:
                query.where("SELF IN %@", extra).delete()

    def run(self) -> None:
        while True:
            kind = self.dice.random()
            if kind < 0.6:
                self.change()
            elif kind < 0.8:
                self.batch()
            else:
                with contextlib.suppress(ZeroDivisionError), self.context.transaction():
                    self.change()
                    self.change()
                    if kind < 0.9:
                        raise ZeroDivisionError
                self.context.rollback()


def differences(path: str) -> tuple[list[str], int]:
    """What is wrong with a store, and how many files no row names."""
    folder, name = os.path.split(path)
    files = os.path.join(folder, f".{os.path.splitext(name)[0]}_SUPPORT", "_EXTERNAL_DATA")
    found, named = [], set()
    with contextlib.closing(sqlite3.connect(path)) as database:
        if database.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            found.append("the database is damaged")
        has_table = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'ZPHOTO'").fetchone()
        rows = database.execute("SELECT Z_PK, ZDIGEST, ZIMAGE FROM ZPHOTO").fetchall() if has_table else []
    for key, digest, stored in rows:
        if stored is None or stored[0] not in (1, 2):
            found.append(f"row {key} holds {stored and stored[:40]!r}")
            continue
        image = stored[1:]
        if stored[0] == 2:
            file = stored[1:37].decode("ascii")
            named.add(file)
            try:
                with open(os.path.join(files, file), "rb") as opened:
                    image = opened.read()
            except FileNotFoundError:
                found.append(f"row {key} names {file}, which is not there")
                continue
        if (len(image) > THRESHOLD) != (stored[0] == 2):
            found.append(f"row {key} has {len(image)} bytes behind the mark {stored[0]}")
        if hashlib.sha256(image).hexdigest() != digest:
            found.append(f"row {key} has other data than it was given")
    present = set(os.listdir(files)) if os.path.isdir(files) else set()
    return found, len(present - named)


def kill_one(path: str, dice: random.Random) -> Optional[str]:
    """Runs a child for a moment; what it says when it ends by itself."""
    seed, life = dice.getrandbits(32), dice.random() ** 2 * LONGEST_LIFE
    relaxed = dice.random() < 0.5
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work = Work(path, seed, relaxed)
            os.write(writing, b".")
            work.run()
        except BaseException as error:  # noqa: B902
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    os.close(writing)
    # From its first save on, as the check of creation has what is before.
    os.read(reading, 1)
    time.sleep(life)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    return None if os.WIFSIGNALED(status) else said or "it ended"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(30))
    options = parser.parse_args()
    dice = random.Random(options.seed)
    count = unnamed = 0
    folder = ""
    for kill in range(options.kills):
        if kill % KILLS_PER_STORE == 0:
            shutil.rmtree(folder, ignore_errors=True)
            folder = tempfile.mkdtemp()
        path = os.path.join(folder, "photos.sqlite")
        said = kill_one(path, dice)
        found, left = differences(path)
        unnamed = max(unnamed, left)
        for difference in found + ([said] if said else []):
            count += 1
            print(f"kill {kill}: {difference}")
    shutil.rmtree(folder, ignore_errors=True)
    print(f"at most {unnamed} files of one store without a row, after {KILLS_PER_STORE} kills")
    print(f"external: {options.kills} steps, {count} differences, seed {options.seed}")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
