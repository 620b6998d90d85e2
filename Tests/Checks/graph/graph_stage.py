"""What every kind of world has: a store, the file beside it, contexts, and luck."""

from __future__ import annotations

import os
import random
import sqlite3
from typing import Any

import quire

from graph_facts import Facts
from graph_world import CLASSES

Step = tuple[Any, ...]


class Stage:
    """A new store with contexts, and what is known of its file."""

    sides: list[Any]
    nested: dict[int, Any]
    """Contexts on contexts, by their indexes."""

    def __init__(self, path: str, contexts: int) -> None:
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        self.path = path
        self.store = quire.open(path, list(CLASSES.values()), relaxed_durability=True)
        self.file = sqlite3.connect(path, isolation_level=None)
        self.file.row_factory = sqlite3.Row
        self.ids: dict[int, tuple[str, int]] = {}
        self.numbers: dict[tuple[str, int], int] = {}
        self.stored: Facts = {}
        self.versions: dict[int, int] = {}
        self.contexts = [self.store.context] + [self.store.create_context() for _ in range(1, contexts)]

    def begin(self) -> None:
        """Has each context read something: with that its moment begins."""
        for each in self.contexts:
            each.query(CLASSES["Node"]).count()

    def commits(self) -> int:
        """Differs after others have written to the file."""
        (number,) = self.file.execute("PRAGMA data_version").fetchone()
        return int(number)

    def close(self) -> None:
        self.file.close()
        for side in [*self.sides, *self.nested.values()]:
            side.held = {}
        self.store.close()


class Luck:
    """Chooses steps by their weights; a method for each that needs more than its name says what it is about."""

    weights: dict[str, float]
    nested_weights: dict[str, float]

    def __init__(self, random: random.Random) -> None:
        self.random = random

    def step(self, world: Stage) -> Step:
        while True:
            side = self.random.choice([*world.sides, *world.nested.values()])
            weights = self.weights if side.parent is None else self.nested_weights
            name = self.random.choices(list(weights), list(weights.values()))[0]
            found = getattr(self, f"_{name}", lambda side: ())(side)
            if found is not None:
                return (name, side.index, *found)

    def _pick(self, list: list[Any]) -> Any:
        return self.random.choice(list) if list else None
