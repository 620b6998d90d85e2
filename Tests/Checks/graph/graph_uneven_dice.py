"""What a history of contexts that read little does next."""

from __future__ import annotations

import random
from typing import Any, Optional

from graph_dice import NUMBERS, TEXTS
from graph_facts import members, objects
from graph_stage import Luck, Stage, Step
from graph_uneven import BEFORE
from graph_uneven_side import UnevenSide
from graph_world import KEYS, RELATIONS, TRANSIENT, lineage

FAMILIES = [
    {"Book": 3, "Tag": 3}, {"Book": 3, "Tag": 3}, {"Person": 4}, {"Band": 3, "Person": 3}, {"Book": 3, "Person": 3},
    {"Book": 3, "Chapter": 4}, {"Node": 5}, {"Person": 3, "Passport": 3}, {"Account": 4, "Node": 2},
    {"Book": 2, "Clip": 3}, {"Book": 3, "Note": 3}, {"Book": 2, "Tag": 2, "Person": 2, "Chapter": 2},
]
"""Of which classes a world has how many objects to begin with: few, so that contexts meet."""


class UnevenDice(Luck):
    """The luck of one world."""

    def __init__(self, random: random.Random) -> None:
        super().__init__(random)
        self.contexts = random.choice([2, 2, 2, 3])
        self.family = random.choice(FAMILIES)
        self.last = 0
        self.weights: dict[str, float] = {
            "read": 22, "set": 3, "point": 12, "link": 12, "unlink": 10, "assign": 5, "insert": 1.5,
            "delete": random.choice([0.5, 4]), "save": 9, "merge": 6, "check": 6, "refresh": 2, "refresh_all": 0.7,
            "forget": 6, "rollback": 0.7,
        }
        self.nested_weights = {**self.weights, "close": 1}
        self.weights["open"] = random.choice([0, 0, 2])
        self.policies = random.choice([[0], [0, 1, 2], [0, 2], [1, 3], [0, 4]])
        self.weights["policy"] = 1
        self.start: list[Step] = []
        for entity, count in self.family.items():
            for _ in range(count):
                self.last += 1
                self.start.append(("insert", 0, self.last, entity))
        self.start.append(("save", 0, False))
        self.start += [("merge", index) for index in range(1, self.contexts)]
        self.start.reverse()

    def step(self, world: Stage) -> Step:
        if self.start:
            return self.start.pop()
        return super().step(world)

    def _looks(self) -> int:
        return self.random.choice([0, BEFORE, BEFORE, 2, 3])

    def _relation(self, side: UnevenSide, is_many: Optional[bool]) -> Any:
        present = {each for n in objects(side.now) for each in lineage(side.now[n])}
        relation = self._pick([
            each for each in RELATIONS
            if is_many in (None, each.many) and each.owner in present and each.destination in present])
        if relation is None:
            return None
        n, m = self._pick(objects(side.now, relation.owner)), self._pick(objects(side.now, relation.destination))
        return n, relation, m

    def _read(self, side: UnevenSide) -> Any:
        found = self._relation(side, None)
        return None if found is None else (found[0], found[1].name)

    def _forget(self, side: UnevenSide) -> Any:
        if self.random.random() < 0.5:
            return ((),)
        held = list(side.held)
        return (tuple(self.random.sample(held, len(held) // 2)),)

    def _insert(self, side: UnevenSide) -> Any:
        if len(objects(side.now)) > sum(self.family.values()) + 1:
            return None
        self.last += 1
        return self.last, self._pick(list(self.family))

    def _set(self, side: UnevenSide) -> Any:
        n = self._pick(objects(side.now))
        if n is None:
            return None
        name, kind = self._pick([each for each in KEYS[side.now[n]].items() if each[0] not in TRANSIENT])
        value = self._pick(TEXTS if kind == "text" else NUMBERS)
        return n, name, 3 if value is None and name in ("age", "visits") else value, self._looks()

    def _point(self, side: UnevenSide) -> Any:
        found = self._relation(side, False)
        if found is None:
            return None
        return found[0], found[1].name, None if self.random.random() < 0.2 else found[2], self._looks()

    def _link(self, side: UnevenSide) -> Any:
        found = self._relation(side, True)
        return None if found is None else (found[0], found[1].name, found[2], self._looks())

    def _unlink(self, side: UnevenSide) -> Any:
        found = self._relation(side, True)
        if found is None:
            return None
        n, relation, m = found
        present = [each for each in members(side.now, n, relation._replace(ordered=False)) if each in side.now]
        if present and self.random.random() < 0.8:
            m = self._pick(present)
        return n, relation.name, m, self._looks()

    def _assign(self, side: UnevenSide) -> Any:
        found = self._relation(side, True)
        if found is None:
            return None
        n, relation, _ = found
        others = objects(side.now, relation.destination)
        wanted = self.random.sample(others, min(len(others), self.random.randrange(4)))
        return n, relation.name, tuple(wanted), self._looks()

    def _delete(self, side: UnevenSide) -> Any:
        n = self._pick(objects(side.now))
        return None if n is None or len(objects(side.now)) < 3 else (n,)

    def _refresh(self, side: UnevenSide) -> Any:
        n = self._pick(objects(side.now))
        return None if n is None else (n,)

    def _save(self, side: UnevenSide) -> Any:
        return (self.random.random() < 0.5,)

    def _policy(self, side: UnevenSide) -> Any:
        return (self._pick(self.policies),)
