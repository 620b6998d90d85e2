"""Unique values that objects exchange: only the state at the end counts, in saves, batch updates and upserts."""

from __future__ import annotations

import itertools
import random
import unittest
from collections.abc import Callable
from datetime import datetime
from typing import Any, Optional

import quire

from support import day, seeds


class Shelf(quire.Model):
    name: quire.Attr[str]


class Item(quire.Model):
    code: quire.Attr[Optional[str]] = quire.attr(default=None)
    place: quire.Attr[Optional[int]] = quire.attr(default=None)
    since: quire.Attr[Optional[datetime]] = quire.attr(default=None)
    label: quire.Attr[Optional[int]] = quire.attr(default=None)
    rank: quire.Attr[int] = quire.attr(default=0)
    shelf: quire.ToOne["Shelf | None"] = quire.relation()
    __unique__ = ["code", ("shelf", "place"), "since"]


class Tool(Item):
    serial: quire.Attr[Optional[int]] = quire.attr(default=None)
    # The index of `label` covers items that are no tools, too.
    __unique__ = ["serial", "label"]


CONSTRAINTS = (("code",), ("shelf", "place"), ("since",), ("label",), ("serial",))
POOLS: dict[str, list[Any]] = {
    "code": [None, *"abcdefghi"],
    "place": [None, *range(1, 9)],
    "since": [None, *(day(number) for number in range(9))],
    "label": [None, *range(9)],
    "serial": [None, *range(9)],
    "shelf": [None, "x", "y", "z"],
    "rank": list(range(6)),
}

Row = dict[str, Any]
Rows = dict[int, Row]


def is_unique(rows: Rows) -> bool:
    for constraint in CONSTRAINTS:
        values = [tuple(row.get(key) for key in constraint) for row in rows.values()]
        whole = [each for each in values if None not in each]
        if len(set(whole)) < len(whole):
            return False
    return True


class World:
    """A store, and dictionaries with the rows that it must have."""

    def __init__(self, test: unittest.TestCase, seed: int) -> None:
        self.test, self.seed, self.dice = test, seed, random.Random(seed)
        self.store = quire.open(":memory:", [Shelf, Item, Tool])
        test.addCleanup(self.store.close)
        self.context = self.store.context
        self.shelves = {name: self.context.add(Shelf(name=name)) for name in "xyz"}
        self.context.save()
        self.rows: Rows = {}
        self.outcomes: set[tuple[str, bool]] = set()
        for number in range(7):
            kind = self.dice.choice([Item, Tool])
            row = {"code": "abcdefg"[number], "place": number, "since": day(number), "rank": number,
                   "label": number, "shelf": "x"}
            if kind is Tool:
                row["serial"] = number
            self.rows[self.add(kind, row)] = row
        self.context.enable_undo()

    def add(self, kind: type[Item], row: Row) -> int:
        item = self.context.add(kind(**self.values(row)))
        self.context.save()
        return item.id

    def values(self, row: Row) -> Row:
        return {key: self.shelves.get(value) if key == "shelf" else value for key, value in row.items()}

    def stored(self) -> Rows:
        with self.store.create_context() as fresh:
            return {
                item.id: {
                    **{key: getattr(item, key) for key in POOLS if key != "serial" or isinstance(item, Tool)},
                    "shelf": item.shelf.name if item.shelf else None,
                } for item in fresh.query(Item)}

    def attempt(self, step: Callable[[Rows], Callable[[], object]]) -> None:
        """Has a step change the rows. It must succeed exactly when no two of them share unique values in the end."""
        wanted = {key: dict(row) for key, row in self.rows.items()}
        act = step(wanted)
        what = f"seed {self.seed}: {step.__name__} makes\n{self.rows}\n{wanted}"
        succeeds = is_unique(wanted)
        if succeeds:
            try:
                act()
            except quire.ConstraintError as error:
                self.test.fail(f"{what}: {error}")
            self.rows = wanted
        else:
            with self.test.assertRaises(quire.ConstraintError, msg=what):
                act()
            self.context.rollback()
        self.outcomes.add((step.__name__, succeeds))
        self.test.assertEqual(self.stored(), self.rows, what)

    def mapping(self, key: str, rows: Rows) -> dict[Any, Any]:
        """New values for those that rows have: mostly the same ones in another order."""
        before = [row[key] for row in rows.values() if row.get(key) is not None]
        if not before or self.dice.random() < 0.2:
            return {value: self.dice.choice(POOLS[key]) for value in before}
        turn = self.dice.randrange(len(before))
        return dict(zip(before, before[turn:] + before[:turn] if self.dice.random() < 0.5 else before[::-1]))

    # Steps. Each changes rows as it should, and returns what changes the store so.

    def batch_update(self, rows: Rows) -> Callable[[], object]:
        kind = self.dice.choice([Item, Item, Tool])
        below = self.dice.choice([3, 6, 6, 6])
        matched = {
            key: row for key, row in rows.items() if row["rank"] < below and (kind is Item or "serial" in row)}
        keys = [key for key in POOLS if kind is Tool or key != "serial"]
        values: dict[str, Any] = {}
        for key in self.dice.sample(keys, self.dice.choice([1, 1, 2, 3])):
            if key == "shelf" or self.dice.random() < 0.1:
                value = self.dice.choice(POOLS[key])
                values.update(self.values({key: value}))
                for row in matched.values():
                    row[key] = value
            elif key in ("place", "label", "serial", "rank") and self.dice.random() < 0.6:
                factor, more = self.dice.choice([(1, 1), (1, -1), (-1, 9), (1, 0)])
                values[key] = quire.Expression(f"{key} * {factor} + {more}")
                for row in matched.values():
                    row[key] = None if row[key] is None else row[key] * factor + more
            else:
                mapping = self.mapping(key, matched)
                choice = quire.Expression(key)
                for old, new in mapping.items():
                    choice = quire.Expression(f"TERNARY({key} == %@, %@, %@)", old, new, choice)
                values[key] = choice
                for row in matched.values():
                    row[key] = mapping.get(row[key], row[key])
        query = self.context.query(kind).where("rank < %@", below)
        order = self.dice.choice(["rank", "-rank", "place", "-code"])
        return lambda: self.test.assertEqual(query.order_by(order).update(values), len(matched))

    def save(self, rows: Rows) -> Callable[[], object]:
        for key in self.dice.sample(list(POOLS), self.dice.choice([1, 2, 3])):
            mapping = self.mapping(key, rows)
            for row in rows.values():
                if key in row:
                    row[key] = mapping.get(row[key], row[key])
        for item in self.context.query(Item):
            for key, value in self.values(rows[item.id]).items():
                setattr(item, key, value)
        return self.context.save

    def replacing(self, rows: Rows) -> Callable[[], object]:
        """A row goes, its values go to another one, and the values of that to a new one."""
        first, second = self.dice.sample(list(rows), 2)
        gone, before = rows.pop(first), rows[second]
        rows[second] = {**{key: gone.get(key) for key in before}}
        self.context.delete(self.context.get(Item, first))
        item = self.context.get(Item, second)
        for key, value in self.values(rows[second]).items():
            setattr(item, key, value)
        new = self.context.add((Tool if "serial" in before else Item)(**self.values(before)))
        self.context.obtain_permanent_ids()
        rows[new.id] = before
        return self.context.save

    def upsert(self, rows: Rows) -> Callable[[], object]:
        """Rows with codes that are there get the places and days of each other."""
        known = [row for row in rows.values() if row["code"] is not None and "serial" not in row]
        given = {"code": [row["code"] for row in known]}
        for key in self.dice.sample(["place", "since"], self.dice.choice([1, 2])):
            mapping = self.mapping(key, {number: row for number, row in enumerate(known)})
            for row in known:
                row[key] = mapping.get(row[key], row[key])
            given[key] = [row[key] for row in known]
        return lambda: self.context.insert_rows(Item, given, upsert=True)

    def undo(self, rows: Rows) -> Callable[[], object]:
        """A save of an exchange, which is undone, done again or both, and saved once more."""
        before = {key: dict(row) for key, row in rows.items()}
        save = self.save(rows)
        if rows == before or not is_unique(rows):
            return save
        save()
        self.context.undo()
        if self.dice.random() < 0.3:
            self.context.save()
            self.context.redo()
        else:
            rows.clear()
            rows.update(before)
        return self.context.save


class UniqueValueTests(unittest.TestCase):
    def test_only_the_end_of_a_change_must_be_unique(self) -> None:
        outcomes: set[tuple[str, bool]] = set()
        for seed in seeds(6):
            world = World(self, seed)
            steps = [world.batch_update, world.batch_update, world.save, world.replacing, world.upsert, world.undo]
            for _ in range(40):
                world.attempt(world.dice.choice(steps))
            outcomes |= world.outcomes
        self.assertEqual(len(outcomes), 9, outcomes)

    def test_a_value_that_a_policy_gives_back_is_taken(self) -> None:
        """Each takes the value of the next one, and the last one a value that is taken."""
        for policy, step in itertools.product([quire.MergePolicy.STORE_WINS, quire.MergePolicy.ROLLBACK], [1, -1]):
            with self.subTest(policy, step=step), quire.open(":memory:", [Shelf, Item, Tool]) as store:
                context = store.context
                items = [context.add(Item(label=place, rank=place)) for place in range(31)]
                context.save()
                asked: list[Optional[int]] = []

                def decide(conflict: quire.ObjectConflict) -> quire.MergePolicy:
                    asked.append(conflict.object.rank)
                    self.assertEqual(conflict.other.rank, conflict.object.rank + step)
                    self.assertEqual(conflict.stored["label"], conflict.object.label)
                    return policy

                context.merge_policy = decide
                moving = items[:-1] if step > 0 else items[1:]
                for item in moving:
                    item.label += step
                free = moving[0 if step > 0 else -1].rank
                new = context.add(Item(label=free, rank=free - step))
                context.save()
                self.assertEqual(asked[:-1], [item.rank for item in moving][::-step])
                self.assertEqual([item.label for item in items], list(range(31)))
                self.assertTrue(new.is_deleted)
                self.assertFalse(context.has_changes)
                with store.create_context() as fresh:
                    found = fresh.query(Item).order_by("rank").values("label")
                    self.assertEqual(found, [(place,) for place in range(31)])
