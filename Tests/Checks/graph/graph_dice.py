"""What a history does next."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any, Optional

from graph_facts import insert, members, objects
from graph_side import Side
from graph_stage import Luck, Step
from graph_world import CONCRETE, KEYS, MANDATORY, RELATIONS, lineage

TEXTS = [None, "a", "b", "c"]
NUMBERS = [None, 0, 1, 2]


class Dice(Luck):
    """The luck of one world."""

    def __init__(self, random: random.Random) -> None:
        super().__init__(random)
        self.size = random.choice([6, 10, 14, 20])
        """About how many objects there are."""
        self.levels: list[Optional[int]] = [
            random.choice([None, 0, 0, 0, 3]) for _ in range(random.choice([1, 1, 2, 2, 2]))]
        entities = [each for each in CONCRETE if each != "UniqueAccount" or random.random() < 0.3]
        if len(self.levels) > 1:
            # The file has one owner for each, so two contexts that give it to several undo each other.
            entities.remove("Clip")
        self.entities = random.sample(entities, random.choice([len(entities), 3, 5]))
        self.last = 0
        self.weights = {
            "insert": 8, "set": 8, "point": 14, "link": 14, "unlink": 4, "assign": 4, "reorder": 3, "delete": 6,
            "process": 4, "fetch": 2, "begin": 2, "end": 4, "undo": 12, "redo": 8, "save": 9, "rollback": 1,
            "reset": 0.3, "refresh": 3, "refresh_all": 1, "forget": 2, "child": 2, "look": 3,
        }
        self.weights |= {"batch": 1, "transaction": 1}
        if len(self.levels) > 1:
            self.weights |= {"merge": 8, "automatic": random.choice([0, 0.5])}
        self.policies = random.choice([[0], [0, 0, 1], [1, 2, 3, 4], [5]])
        self.nested_weights = {**self.weights, "merge": 8, "close": 1, "batch": 0, "transaction": 0}
        if random.random() < 0.6:
            for weights in (self.weights, self.nested_weights):
                weights["open"] = 2
        if "UniqueAccount" in self.entities or len(self.levels) > 1:
            self.weights["policy"] = 1

    def _insert(self, side: Side) -> Any:
        count = len(objects(side.now))
        if count > 4 and self.random.random() < count / self.size - 0.5:
            return None
        self.last += 1
        return self.last, self._pick(self.entities)

    def _set(self, side: Side) -> Any:
        n = self._pick(objects(side.now))
        if n is None:
            return None
        name, kind = self._pick(list(KEYS[side.now[n]].items()))
        value = self._pick(TEXTS if kind == "text" else NUMBERS)
        if value is None and name in ("age", "visits"):
            value = 3
        return n, name, value

    def _relation(self, side: Side, many: bool) -> Any:
        present = {each for n in objects(side.now) for each in lineage(side.now[n])}
        relation = self._pick([
            each for each in RELATIONS if each.many == many and each.owner in present and each.destination in present])
        if relation is None:
            return None
        n, m = self._pick(objects(side.now, relation.owner)), self._pick(objects(side.now, relation.destination))
        return None if n is None or m is None else (n, relation, m)

    def _point(self, side: Side) -> Any:
        found = self._relation(side, False)
        if found is None:
            return None
        return found[0], found[1].name, None if self.random.random() < 0.2 else found[2]

    def _link(self, side: Side) -> Any:
        found = self._relation(side, True)
        return None if found is None else (found[0], found[1].name, found[2])

    def _unlink(self, side: Side) -> Any:
        found = self._relation(side, True)
        if found is None:
            return None
        present = members(side.now, found[0], found[1])
        member = self._pick([each for each in present if each in side.now])
        return None if member is None else (found[0], found[1].name, member)

    def _assign(self, side: Side) -> Any:
        found = self._relation(side, True)
        if found is None:
            return None
        n, relation, _ = found
        present = [each for each in members(side.now, n, relation) if each in side.now]
        if present and self.random.random() < 0.5:
            wanted = self.random.sample(present, len(present))
        else:
            others = objects(side.now, relation.destination)
            wanted = self.random.sample(others, min(len(others), self.random.randrange(4)))
        return n, relation.name, tuple(wanted)

    def _reorder(self, side: Side) -> Any:
        orders = [key for key, value in side.now.items() if type(key) is tuple and key[0] == "order" and len(value) > 1]
        if not orders:
            return None
        _, n, name = self._pick(orders)
        order = [m for m in side.now["order", n, name] if m in side.now]
        return n, name, tuple(self.random.sample(order, len(order)))

    def _open(self, side: Side) -> Any:
        if side.index > 3:
            return None
        return (self.random.choice([None, 0, 0, 3]),)

    def _delete(self, side: Side) -> Any:
        n = self._pick(objects(side.now))
        return None if n is None else (n,)

    def _child(self, side: Side) -> Any:
        return self.random.random() < 0.7, self._steps(side)

    def _transaction(self, side: Side) -> Any:
        return self.random.random() < 0.7, self._steps(side)

    def _batch(self, side: Side) -> Any:
        entity = self._pick(self.entities)
        name, kind = self._pick(list(KEYS[entity].items()))
        value = self._pick(TEXTS if kind == "text" else NUMBERS)
        return entity, name, 3 if value is None and name in MANDATORY else value, self.random.random() < 0.7

    def _steps(self, side: Side) -> tuple[Step, ...]:
        names = ["insert", "set", "point", "point", "link", "link", "unlink", "assign", "delete", "process", "undo",
                 "redo", "rollback", "fetch"]
        scratch: Any = SimpleNamespace(now=dict(side.now))
        steps: list[Step] = []
        for _ in range(self.random.randrange(1, 8)):
            name = self._pick(names)
            found = getattr(self, f"_{name}", lambda side: ())(scratch)
            if found is not None:
                steps.append((name, *found))
            if name == "insert" and found is not None:
                insert(scratch.now, *found)
        return tuple(steps)

    def _policy(self, side: Side) -> Any:
        return (self._pick(self.policies),)

    def _fetch(self, side: Side) -> Any:
        return (self._pick(self.entities),)

    def _refresh(self, side: Side) -> Any:
        n = self._pick(objects(side.now))
        return None if n is None else (n, self.random.random() < 0.5)

    def _forget(self, side: Side) -> Any:
        return (self.random.randrange(6),)
