"""Saving: what the model says that a save refuses, writes and settles, and what is then in the file."""

from __future__ import annotations

import sqlite3
from typing import Any

import quire
from quire import MergePolicy

import graph_file
from graph_facts import Facts, about, differing, drop, inverse, members, objects, put, stored
from graph_side import Difference, Side, same
from graph_world import KEYS, NAMED, OF, TRANSIENT, UNIQUE, root

CASCADED = {"Passport", "Chapter", "Node"}
"""What goes with something else, whatever a policy says of it."""


def decide(conflict: quire.ObjectConflict) -> MergePolicy:
    """A policy that is a function."""
    return MergePolicy(conflict.object.id % 4 + 1)


POLICIES = [*MergePolicy, decide]


class Saving:
    """The part of a world that saves."""

    sides: list[Side]
    file: sqlite3.Connection
    ids: dict[int, tuple[str, int]]
    numbers: dict[tuple[str, int], int]
    stored: Facts
    versions: dict[int, int]

    def do_policy(self, side: Side, place: int) -> Any:
        if side.parent:
            return False
        side.policy = POLICIES[place]
        side.context.merge_policy = side.policy

    def do_save(self, side: Side) -> Any:
        if side.parent:
            return self.save_above(side)
        if not side.is_fresh:
            # It moves on, and that is not to be undone.
            while side.groups:
                self.do_end(side)
        side.process()
        number = self.commits()
        broken, conflicts = self._broken(side), side.conflicts()
        perhaps = {n for n in side.written() & side.soft if side.versions[n] != self.versions.get(n)}
        if not broken and ((conflicts or perhaps) and side.policy is not MergePolicy.ERROR or self._twins(side)):
            while side.groups:
                self.do_end(side)
            return self._save_settling(side, conflicts)
        try:
            side.context.save()
        except quire.ValidationError as error:
            if not broken:
                raise
            same("broken rules", {(side.number(each.object), each.key) for each in error.failures}, broken)
            return
        except quire.Conflict as error:
            if broken or not conflicts | side.soft:
                raise
            found = {side.number(each.object) for each in error.conflicts}
            if not found or not found <= conflicts | side.soft:
                raise Difference(f"in conflict: {found}, not {conflicts}") from None
            side.has_conflicted = True
            self.compare_file()
            return
        if broken or conflicts:
            raise Difference(f"saved although {broken or conflicts} are broken or in conflict")
        self._saved(side, number)
        self.compare_file()

    def _twins(self, side: Side) -> set[int]:
        """Objects with the unique values of another."""
        entity, name = UNIQUE
        holders: dict[Any, int] = {}
        twins: set[int] = set()
        final = dict(self.stored)
        for key in differing(side.base, side.now):
            put(final, key, side.now.get(key))
        # What another writer has deleted is perhaps inserted again.
        for n in side.written():
            if n not in self.stored:
                final.update({key: value for key, value in side.now.items() if n in about(key)})
        for n in objects(final, entity):
            value = final.get((n, name))
            if value is None:
                continue
            if value in holders:
                twins |= {n, holders[value]}
            holders[value] = n
        return twins

    def _save_settling(self, side: Side, conflicts: set[int]) -> None:
        """A save that the merge policy has to settle. What becomes of attributes is in a table; of relationships only
        that the file holds what the context shows, and agrees with itself."""
        number = self.commits()
        wanted = self._settled(side, conflicts)
        twins = self._twins(side)
        try:
            side.context.save()
        except (quire.Conflict, quire.ConstraintError, quire.ValidationError) as error:
            if isinstance(error, quire.Conflict) and side.policy is not MergePolicy.ERROR:
                raise Difference(f"the policy settled nothing: {error}") from None
            if isinstance(error, quire.ConstraintError) and not twins:
                raise
            self.compare_file()
            side.has_conflicted = side.has_conflicted or bool(conflicts)
            while side.groups:
                self.do_end(side)
            side.context.rollback()
            side.context.merge()
            self._take_stored(side)
            return
        try:
            self.stored, self.versions = graph_file.read(self.file, self.numbers)
        except graph_file.FileFault as fault:
            raise Difference(f"the file, settled: {fault}") from None
        self._check_settled(side, wanted, twins)
        self.outdate(side, number)
        same("has changes", side.context.has_changes, False)
        hazy = side.undo, side.redo
        self._take_stored(side)
        side.undo, side.redo = hazy
        side.is_hazy = bool(side.undo or side.redo)

    def _settled(self, side: Side, conflicts: set[int]) -> Facts:
        """What objects become that were changed or deleted here, as the policy says: which of them there are, their
        attributes, and what they belong to."""
        found: Facts = {}
        written, inserted = side.written(), set(side.inserted())
        for n in objects(side.now):
            returns = n in inserted and n in self.stored
            if n in side.base and n not in written | conflicts or returns or n in side.soft:
                continue
            policy = self._policy(side, n)
            # Of several policies one may take back what was changed of an object on behalf of another.
            is_one = isinstance(side.policy, MergePolicy)
            if is_one and n in written & conflicts and n not in self.stored and side.now[n] not in CASCADED:
                found[n] = side.now[n] if policy in (MergePolicy.OBJECT_WINS, MergePolicy.OVERWRITE) else None
            names = list(KEYS[side.now[n]].keys() - TRANSIENT)
            names += [each.name for each in OF[side.now[n]] if not each.many and each.inverse and inverse(each).many]
            for name in names:
                mine, was, theirs = (facts.get((n, name)) for facts in (side.now, side.base, self.stored))
                if n not in self.stored or n not in conflicts or policy is MergePolicy.OVERWRITE:
                    found[n, name] = mine if n in conflicts or n not in self.stored or mine != was else theirs
                elif policy is MergePolicy.ROLLBACK:
                    found[n, name] = theirs
                elif policy is MergePolicy.STORE_WINS:
                    found[n, name] = theirs if theirs != was else mine
                else:
                    found[n, name] = mine if mine != was else theirs
        for n in side.removed():
            if side.base[n] not in CASCADED and n in conflicts:
                gives_up = self._policy(side, n) in (MergePolicy.STORE_WINS, MergePolicy.ROLLBACK)
                found[n] = self.stored.get(n) if gives_up else None
        return found

    def _policy(self, side: Side, n: int) -> MergePolicy:
        return side.policy if isinstance(side.policy, MergePolicy) else MergePolicy(self.ids[n][1] % 4 + 1)

    def _check_settled(self, side: Side, wanted: Facts, twins: set[int]) -> None:
        for key, value in wanted.items():
            n = about(key)[0]
            if n in twins or type(key) is tuple and (n not in self.stored or (key[1] not in KEYS[self.stored[n]]
                                                                             and value not in self.stored)):
                # What belonged to something that is gone may do without.
                continue
            if self.stored.get(key) != value:
                raise Difference(
                    f"the file, settled by {side.policy!r}: {key} is {self.stored.get(key)!r}, not {value!r}")

    def _take_stored(self, side: Side) -> None:
        """Everything was read anew."""
        side.moved = set()
        side.moment = dict(self.stored)
        side.now, side.base, side.versions = stored(side.saved), stored(side.saved), dict(self.versions)
        side.deleted, side.withdrawn = [], set()
        side.is_fresh, side.has_conflicted = True, False
        side.held = {n: each for n, each in side.held.items() if n in side.now}
        side.forget_undo()
        found = side.view()
        for key, value in found.items():
            # Transient values may be there or not.
            if type(key) is tuple and key[1] in TRANSIENT:
                side.now[key] = side.base[key] = side.mark[key] = value

    def _broken(self, side: Side) -> set[tuple[int, str]]:
        """The rules of the model that a save meets."""
        broken: set[tuple[int, str]] = set()
        now, base = side.now, side.base
        bands = {key[1] for key in differing(base, now) if type(key) is tuple and key[0] == "players"}
        for n in objects(now, "Band"):
            if (n in bands or n not in base) and not 1 <= len(members(now, n, NAMED["Band", "players"])) <= 3:
                broken.add((n, "players"))
        for n in side.removed():
            if base[n] == "Crate" and any(value == n and key[1] == "crate" and key[0] in now
                                          for key, value in now.items() if type(key) is tuple):
                broken.add((n, "items"))
        return broken

    def outdate(self, side: Side, number: int) -> bool:
        """Others are at an older commit if this one has written something since the file had that number."""
        has_written = self.commits() != number
        for other in self.sides:
            if other is not side and has_written:
                other.is_fresh = False
        return has_written

    def _saved(self, side: Side, number: int) -> None:
        if side.is_pending():
            side.has_conflicted = False
        written = side.written()
        changes = differing(stored(side.base), stored(side.now))
        for key in changes:
            put(self.stored, key, side.now.get(key))
        for key in [key for key in self.stored if type(key) is tuple and key[0] == "order" and key[1] in self.stored]:
            # A row that was deleted and inserted again has its first version again, so this may be no conflict; nor is
            # it one where a policy has left the owner alone.
            present = members(self.stored, key[1], NAMED[self.stored[key[1]], key[2]]._replace(ordered=False))
            order = [m for m in self.stored[key] if m in present]
            if len(order) < len(present):
                found = graph_file.read(self.file, self.numbers)[0].get(key, ())
                if [m for m in found if m in order] == order and sorted(found) == sorted(present):
                    order = list(found)
            put(self.stored, key, tuple(order))
        before = dict(self.versions)
        for n in written:
            self.versions[n] += 1
        for n in side.soft & self.versions.keys():
            column = self.file.execute(
                f"SELECT Z_OPT FROM Z{root(self.ids[n][0]).upper()} WHERE Z_PK = ?", (self.ids[n][1],)).fetchone()
            if column and column[0] in (self.versions[n] - 1, self.versions[n], self.versions[n] + 1):
                self.versions[n] = column[0]
                if column[0] == before.get(n):
                    written.discard(n)
                else:
                    written.add(n)
        side.moved, side.withdrawn = set(), set()
        for n in side.removed():
            del self.versions[n]
            drop(self.stored, n)
        for n in side.inserted():
            self.versions[n] = 1
        for n in objects(side.now):
            if n in written or n not in side.base:
                side.versions[n] = self.versions[n]
        side.base = dict(side.now)
        if not self.outdate(side, number):
            if changes:
                raise Difference("a save has written nothing")
        elif side.is_fresh:
            side.moment = dict(self.stored)
        else:
            side.take_over()

    def compare_file(self) -> None:
        try:
            facts, versions = graph_file.read(self.file, self.numbers)
        except graph_file.FileFault as fault:
            raise Difference(f"the file: {fault}") from None
        for key in sorted(differing(facts, self.stored), key=str):
            raise Difference(f"the file: {key} is {facts.get(key)!r}, not {self.stored.get(key)!r}")
        for n in versions:
            if versions[n] != self.versions[n]:
                raise Difference(f"the file: Z_OPT of {n}, {facts[n]}, is {versions[n]}, not {self.versions[n]}")
