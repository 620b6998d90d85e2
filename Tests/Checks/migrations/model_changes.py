"""Random changes between two versions of a model, of which some can be inferred and others must be refused."""

from __future__ import annotations

import random
from typing import Callable

from attribute_changes import AttributeChanges
from description import Model
from entity_changes import EntityChanges
from refused_changes import RefusedChanges
from relationship_changes import RelationshipChanges

Change = Callable[[], bool]


class Changer(AttributeChanges, RelationshipChanges, EntityChanges, RefusedChanges):
    """A copy of a model that changes step by step. Each change says whether it could be made."""

    def __init__(self, source: Model, dice: random.Random) -> None:
        super().__init__(source, dice)
        self.made: list[str] = []
        self.changes: dict[str, Change] = {
            name[len("change_"):]: getattr(self, name) for name in sorted(dir(self)) if name.startswith("change_")}
        self.refusals: dict[str, Change] = {
            name[len("refuse_"):]: getattr(self, name) for name in sorted(dir(self)) if name.startswith("refuse_")}

    def run(self, number: int, refused: bool, related: bool = False) -> None:
        """Makes so many changes, and one more that is to be refused. `related`: of relationships and trees alone."""
        usual = {
            name: each for name, each in self.changes.items()
            if not related or name.startswith(("relationship", "inverse", "destination", "entity", "property"))}
        for _ in range(number * 4):
            if len(self.made) >= number:
                break
            self._try(usual)
        if refused:
            for _ in range(10):
                if self._try(self.refusals):
                    break
        self.dice.shuffle(self.model.version_identifiers)
        self._tidy()

    def _try(self, changes: dict[str, Change]) -> bool:
        name = self.dice.choice(list(changes))
        if changes[name]():
            self.made.append(name)
            return True
        return False
