"""One of the processes that edit a store and mirror it: each keeps what its lists show by change sets alone.

    others_mirror.py PATH SEED COMMITS

Prints `ready`, and begins with a line of its input. After its commits it prints as JSON how many comparisons of the
mirrors with a fresh query were wrong, and how many change sets said that contents may differ. After another line, when
no process commits any more, it compares once more and prints what its lists show.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any, Callable

from others_model import MODELS, Author, Book

import quire


class Mirror:
    """The rows of a live list, with values that are read only where a change set says so."""

    def __init__(self, query: Callable[[], Any], *keys: str) -> None:
        self.query, self.keys = query, keys
        self.rows = query().live()
        self.rows.display(*(key for key in keys if "." in key))
        self.rows.on_change(self._take)
        self.ids: list[int] = list(self.rows.ids)
        self.values: dict[int, tuple[Any, ...]] = dict(zip(self.ids, self.rows.values(*keys)))
        self._stale: set[int] = set()
        self._are_all_stale = False
        self.flags = 0

    def _take(self, changes: quire.ChangeSet[Any]) -> None:
        for step in changes.steps():
            if step.kind == quire.StepKind.INSERT_ROW:
                self.ids.insert(step.flat, step.id)
            elif step.kind == quire.StepKind.DELETE_ROW:
                del self.ids[step.flat]
            elif step.kind == quire.StepKind.MOVE_ROW:
                self.ids.insert(step.to_flat, self.ids.pop(step.flat))
            if step.kind != quire.StepKind.DELETE_ROW:
                self._stale.add(step.id)
        if changes.contents_may_differ:
            self.flags += 1
            self._are_all_stale = True

    def compare(self) -> list[str]:
        """Reads what is stale. Returns what differs from a fresh query."""
        found = []
        shown = list(self.rows.ids)
        if shown != self.ids:
            found.append(f"ids {_first(self.ids, shown)} of the mirror and the list")
            self.ids = shown
        self._read()
        fresh = list(zip(self.query().ids(), self.query().values(*self.keys)))
        mine = [(id, self.values[id]) for id in self.ids]
        if mine != fresh:
            found.append(f"rows {_first(mine, fresh)} of the mirror and a fresh query")
            self._are_all_stale = True
            self._read()
        return found

    def _read(self) -> None:
        if self._are_all_stale or len(self._stale) > 20:
            read = dict(zip(self.ids, self.rows.values(*self.keys)))
            self.values = read if self._are_all_stale else {
                **self.values, **{id: read[id] for id in self._stale if id in read}}
        else:
            for id in self._stale:
                if id in self.ids:
                    [self.values[id]] = self.rows.values(*self.keys, first=self.ids.index(id), count=1)
        self._stale, self._are_all_stale = set(), False


def _first(some: list[Any], others: list[Any]) -> tuple[Any, Any]:
    for place in range(max(len(some), len(others))):
        pair = tuple(each[place] if place < len(each) else None for each in (some, others))
        if pair[0] != pair[1]:
            return pair
    return None, None


class Process:
    def __init__(self, path: str, dice: random.Random) -> None:
        self.store = quire.open(path, MODELS, timeout=60)
        self.context = context = self.store.context
        context.merge_policy = quire.MergePolicy.OBJECT_WINS
        self.random = dice
        self.mirrors = [
            Mirror(lambda: context.query(Book).order_by("number"), "number", "pages", "author.name"),
            Mirror(
                lambda: context.query(Book).where("pages > 500 AND author.name != 'A0'").order_by("-pages", "number"),
                "pages", "author.name"),
            Mirror(lambda: context.query(Author).where("books.@count > 2").order_by("name"), "name"),
        ]
        # Large merges are then computed in the background.
        context.fileno()
        self.wrong = 0
        self.last = "the opening"
        """What this process has done last, for messages."""
        self.differences: list[str] = []

    def compare(self) -> None:
        for mirror in self.mirrors:
            try:
                found = mirror.compare()
            except quire.Error as error:
                found = [f"{error}"]
            for difference in found:
                self.wrong += 1
                self.differences.append(f"after {self.last}: {difference}")

    def commit(self) -> None:
        try:
            self._edit()
            self.context.save()
        except (quire.Conflict, quire.ConstraintError, quire.NotFound) as error:
            # Another process has deleted what this one has changed, or plain SQL has taken a key that is reserved here.
            self.last = f"{self.last}, {type(error).__name__} and a rollback"
            self.context.rollback()
        # The save has taken over what others have committed before it.
        self.compare()

    def _edit(self) -> None:
        context, dice = self.context, self.random
        kind = dice.choice(["edit", "edit", "edit", "rename", "transaction", "update", "delete", "insert"])
        self.last = kind
        if kind == "rename":
            dice.choice(list(context.query(Author).where("name BEGINSWITH 'A'"))).name = f"A{dice.randrange(8)}"
        elif kind == "update":
            least = dice.randrange(1000)
            context.query(Book).where("pages BETWEEN {%d, %d}", least, least + 30).update(pages=dice.randrange(1000))
        elif kind == "delete":
            least = dice.randrange(1000)
            context.query(Book).where("pages BETWEEN {%d, %d}", least, least + 80).delete()
        elif kind == "insert":
            count = 300 if dice.random() < 0.1 else 5
            context.insert_rows(Book, {
                "number": [dice.randrange(10_000) for _ in range(count)],
                "pages": [dice.randrange(1000) for _ in range(count)]})
        elif kind == "transaction":
            with context.transaction():
                self._objects()
                context.save()
                self._objects()
        else:
            self._objects()

    def _objects(self) -> None:
        context, dice = self.context, self.random
        books, authors = list(context.query(Book)), list(context.query(Author))
        for _ in range(dice.randrange(1, 4)):
            kind = dice.choice(["insert", "pages", "pages", "author", "delete"])
            if kind == "insert" or not books:
                books.append(context.add(Book(
                    number=dice.randrange(10_000), pages=dice.randrange(1000), author=dice.choice([*authors, None]))))
            elif kind == "pages":
                dice.choice(books).pages = dice.randrange(1000)
            elif kind == "author":
                dice.choice(books).author = dice.choice([*authors, None])
            else:
                context.delete(books.pop(dice.randrange(len(books))))

    def told(self) -> dict[str, Any]:
        return {
            "wrong": self.wrong, "flags": sum(mirror.flags for mirror in self.mirrors),
            "differences": self.differences[:3]}


def main() -> None:
    path, seed, commits = sys.argv[1], sys.argv[2], int(sys.argv[3])
    process = Process(path, random.Random(seed))
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(commits):
        process.commit()
        process.context.merge()
        process.last = "a merge"
        process.compare()
    print(json.dumps(process.told()), flush=True)
    sys.stdin.readline()
    process.context.merge()
    process.compare()
    print(json.dumps({**process.told(), "shown": [mirror.ids for mirror in process.mirrors]}), flush=True)
    process.store.close()


if __name__ == "__main__":
    main()
