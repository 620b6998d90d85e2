"""Random models, and rows of them with every kind of value."""

from __future__ import annotations

import random
import struct
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional

import quire

CHARACTERS = ["a", "Z", " ", "\t", "\n", "\r", "\\", "u", "0", "<", ">", "&", "'", '"', "]", "é", "\u0085", "\u2028",
              "🐘", "\ufffe", "\uffff", "\0", "\x01", "\x1f", "\x7f", "="]
EPOCH = datetime(2001, 1, 1, tzinfo=timezone.utc)


def text(dice: random.Random) -> str:
    return "".join(dice.choices(CHARACTERS, k=dice.choice([0, 1, 2, 5, 12, 40])))


def double(dice: random.Random) -> float:
    while True:
        kind = dice.random()
        if kind < 0.1:
            return dice.choice([0.0, float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308, 2.0**53, 0.1])
        found: float = struct.unpack("<d", dice.randbytes(8))[0] if kind < 0.6 else round(dice.uniform(-1e6, 1e6), 3)
        # A store has no NaN.
        if found == found:
            return found


def single(dice: random.Random) -> float:
    while True:
        found: float = struct.unpack("<f", dice.randbytes(4))[0]
        if found == found:
            return found


def decimal(dice: random.Random) -> Decimal:
    # As many digits as a file of SQLite keeps.
    return Decimal(dice.randint(-10**14, 10**14)).scaleb(dice.randint(-60, 60))


def moment(dice: random.Random) -> datetime:
    seconds = dice.randint(-60_000_000_000, 250_000_000_000)
    return EPOCH + timedelta(seconds=seconds, microseconds=dice.choice([0, 250_000]))


TYPES: list[tuple[Any, dict[str, Any], Any]] = [
    (Optional[int], {"type": quire.Integer16}, lambda dice: dice.choice([-32768, 32767, 0, dice.randint(-99, 99)])),
    (Optional[int], {"type": quire.Integer32}, lambda dice: dice.choice([-2**31, 2**31 - 1, dice.randint(-999, 999)])),
    (Optional[int], {}, lambda dice: dice.choice([-2**63, 2**63 - 1, dice.randint(-2**63, 2**63 - 1)])),
    (Optional[bool], {}, lambda dice: dice.random() < 0.5),
    (Optional[float], {}, double),
    (Optional[float], {"type": quire.Float}, single),
    (Optional[Decimal], {}, decimal),
    (Optional[str], {}, text),
    (Optional[str], {"searchable": True}, text),
    (Optional[str], {"type": quire.URI}, text),
    (Optional[datetime], {}, moment),
    (Optional[bytes], {}, lambda dice: dice.randbytes(dice.choice([0, 1, 2, 3, 50]))),
    (Optional[bytes], {"external": True}, lambda dice: dice.randbytes(dice.choice([0, 1, 40, 110_000]))),
    (Optional[bytes], {"type": quire.Transformable}, lambda dice: dice.randbytes(7)),
    (Optional[uuid.UUID], {}, lambda dice: uuid.UUID(int=dice.getrandbits(128))),
]


class World:
    """A random model, and how its objects are filled."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.classes: list[Any] = []
        self.attributes: dict[str, dict[str, Any]] = {}
        self.to_one: dict[str, list[tuple[str, str]]] = {}
        self.to_many: dict[str, list[tuple[str, str, bool]]] = {}
        count = dice.randint(1, 5)
        names = [f"Entity{letter}" for letter in "ABCDE"[:count]]
        members: dict[str, dict[str, Any]] = {name: {"__annotations__": {}} for name in names}
        parents = {
            name: dice.choice(names[:place]) if place and dice.random() < 0.35 else None
            for place, name in enumerate(names)}
        for name in names:
            self.attributes[name], self.to_one[name], self.to_many[name] = {}, [], []
            for number in range(dice.randint(0, 6)):
                annotation, options, make = dice.choice(TYPES)
                key = f"{name[-1].lower()}Value{number}"
                members[name]["__annotations__"][key] = quire.Attr[annotation]
                members[name][key] = quire.attr(default=None, **options)
                self.attributes[name][key] = make
        for number in range(dice.randint(0, 5)):
            self._relate(members, dice.choice(names), dice.choice(names), number)
        made: dict[str, Any] = {}
        for name in names:
            parent = parents[name]
            made[name] = type(name, (quire.Model if parent is None else made[parent],), {
                "__module__": __name__, **members[name]})
        self.classes = list(made.values())
        for name in names:
            parent = parents[name]
            if parent is not None:
                self.attributes[name].update(self.attributes[parent])
                self.to_one[name] += self.to_one[parent]
                self.to_many[name] += self.to_many[parent]

    def _relate(self, members: dict[str, dict[str, Any]], one: str, other: str, number: int) -> None:
        dice = self.dice
        there, back = f"leads{number}", f"isLed{number}"
        kind = dice.choice(["many-to-many", "many-to-many", "one-to-many", "one-to-many", "one-to-one", "own", "alone"])

        def declare(owner: str, key: str, annotation: Any, **options: Any) -> None:
            members[owner]["__annotations__"][key] = annotation
            members[owner][key] = quire.relation(**options)

        ordered = dice.random() < 0.5
        if kind == "many-to-many":
            declare(one, there, f"quire.ToMany[{other!r}]", inverse=back, ordered=ordered)
            declare(other, back, f"quire.ToMany[{one!r}]", inverse=there, ordered=dice.random() < 0.3)
            self.to_many[one].append((there, other, ordered))
        elif kind == "one-to-many":
            declare(one, there, f"quire.ToMany[{other!r}]", inverse=back, ordered=ordered)
            declare(other, back, f"quire.ToOne[Optional[{one!r}]]", inverse=there)
            self.to_many[one].append((there, other, ordered))
        elif kind == "one-to-one":
            declare(one, there, f"quire.ToOne[Optional[{other!r}]]", inverse=back)
            declare(other, back, f"quire.ToOne[Optional[{one!r}]]", inverse=there)
            self.to_one[one].append((there, other))
        elif kind == "own":
            declare(one, there, f"quire.ToMany[{one!r}]", inverse=there)
            self.to_many[one].append((there, one, False))
        else:
            declare(one, there, f"quire.ToOne[Optional[{other!r}]]")
            self.to_one[one].append((there, other))

    def change(self, context: quire.Context) -> None:
        """Inserts, changes, relates and deletes objects."""
        dice = self.dice
        objects = [each for cls in self.classes for each in context.query(cls).all() if type(each) is cls]
        for _ in range(dice.randint(1, 12)):
            cls = dice.choice(self.classes)
            objects.append(context.add(cls()))
        for each in objects:
            name = type(each).__name__
            for key, make in self.attributes[name].items():
                if dice.random() < 0.5:
                    setattr(each, key, None if dice.random() < 0.2 else make(dice))
            for key, destination in self.to_one[name]:
                wanted = [other for other in objects if self._is(other, destination)]
                if wanted and dice.random() < 0.4:
                    setattr(each, key, dice.choice(wanted))
            for key, destination, _ in self.to_many[name]:
                wanted = [other for other in objects if self._is(other, destination)]
                if wanted and dice.random() < 0.4:
                    setattr(each, key, dice.sample(wanted, min(len(wanted), dice.randint(0, 4))))
        for each in dice.sample(objects, len(objects) // 6):
            context.delete(each)

    def _is(self, each: Any, destination: str) -> bool:
        return any(cls.__name__ == destination for cls in type(each).__mro__)

    def contents(self, store: quire.Store) -> list[Any]:
        """All rows by entity and place. Objects are told by their places, since a conversion may number them anew."""
        context = store.context
        places: dict[Any, tuple[str, int]] = {}
        objects: list[Any] = []
        for cls in self.classes:
            own = sorted((each for each in context.query(cls).all() if type(each) is cls), key=lambda each: each.id)
            for place, each in enumerate(own):
                places[each] = (cls.__name__, place)
            objects += own
        found = []
        for each in objects:
            row: list[Any] = [places[each]]
            for key, property in sorted(store.model.entities[type(each).__name__].properties.items()):
                # What is gone is none: a relationship without inverse may still lead there on SQLite. Where the row
                # would have to tell its class, it is asked for.
                try:
                    value = getattr(each, key)
                except quire.NotFound:
                    value = None
                if isinstance(property, quire.RelationshipDescription):
                    if not property.to_many:
                        value = None if value is None else places.get(value)
                    else:
                        value = [places[other] for other in value]
                        if not property.ordered:
                            value.sort()
                row.append((key, value))
            found.append(row)
        return found
