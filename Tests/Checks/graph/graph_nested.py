"""Contexts on contexts: what the model says that a save to a parent refuses, and what it makes of the parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import quire

from graph_facts import about, apply_rules, differing, members, objects, put, stored
from graph_side import Difference, Side, same
from graph_world import KEYS, OF

STEP = 2
"""How much greater the index of a context is than that of its parent."""


def is_reordered(order: Sequence[int], before: Sequence[int]) -> bool:
    """Whether those that are in both stand in another order."""
    return [m for m in order if m in before] != [m for m in before if m in order]


def reordered(present: Sequence[int], before: Sequence[int], wanted: Sequence[int]) -> tuple[int, ...]:
    """The members of a parent in the order that a child gives them. Where only the parent has reordered what the child
    read, the new ones alone follow the child."""
    if is_reordered(present, before) and not is_reordered(wanted, before):
        wanted = [m for m in wanted if m not in before]
    named = iter([m for m in wanted if m in present])
    return tuple(next(named) if m in wanted else m for m in present)


def conflicts(child: Side) -> set[int]:
    """The objects that keep a child from saving: both have changed the same, or the parent has deleted what the child
    has changed or refers to, or has changed what it deletes."""
    base, now, theirs = stored(child.base), stored(child.now), stored(child.saved)
    found = {n for n in child.written() if n not in theirs} | {n for n in child.inserted() if n in theirs}
    for key in differing(base, now):
        if type(key) is int or not all(n in now for n in about(key)):
            continue
        before, mine, other = base.get(key), now.get(key), theirs.get(key)
        if key[0] == "order":
            before, mine, other = before or (), mine or (), other or ()
            if is_reordered(other, before) and is_reordered(mine, before) and is_reordered(mine, other):
                found.add(key[1])
        elif type(key[0]) is int:
            if key[0] in base and other not in (before, mine):
                found.add(key[0])
            if child.relation(key) and mine in base and mine not in theirs:
                found.add(mine)
        elif mine:
            found |= {n for n in key[1:] if n in base and n not in theirs}
    for n in child.removed():
        names = [*KEYS[base[n]], *(each.name for each in OF[base[n]] if not each.many)]
        if n in theirs and any(base.get((n, name)) != theirs.get((n, name)) for name in names):
            found.add(n)
    return found


def accept(parent: Side, child: Side) -> None:
    """Makes the changes of a child changes of its parent."""
    facts, before = parent.now, dict(parent.now)
    removed = set(child.removed())
    changes = differing(child.base, child.now)
    for n in child.inserted():
        facts[n] = child.now[n]
    for key in changes:
        # Transient values of what is gone here go with it.
        is_here = all(n in facts or n not in child.now for n in about(key)) and not removed.intersection(about(key))
        if type(key) is tuple and key[0] != "order" and is_here:
            put(facts, key, child.now.get(key))
    for n in objects(facts):
        for relation in OF[facts[n]]:
            if not relation.ordered:
                continue
            key = ("order", n, relation.name)
            held = members(facts, n, relation._replace(ordered=False))
            order = [m for m in facts.get(key, ()) if m in held]
            order += [m for m in held if m not in order]
            if key in changes and n in child.now:
                order = reordered(order, child.base.get(key, ()), child.now.get(key, ()))
            put(facts, key, tuple(order))
    apply_rules(facts, parent.base, [(n, facts.pop(n)) for n in removed if n in facts])
    parent.changed(before)


class Nesting:
    """The part of a world that has contexts on contexts which live from step to step."""

    nested: dict[int, Side]

    def look_up(self, side: Side) -> None:
        """Before something changes that children read: what they have let go of they read again now."""
        for other in self.nested.values():
            if other is not side and not other.is_read:
                other.quiet = 0
                other.compare()
                other.read()

    def look_down(self) -> None:
        """After a step: whether children still have what their parents have."""
        for other in self.nested.values():
            assert other.parent
            if other.parent.deleted or stored(other.base) != stored(other.parent.now):
                other.is_fresh = False

    def take_nicks(self, side: Side) -> None:
        """Children have transient values from their parents when they read an object anew."""
        for n in [n for n in objects(side.now) if side.parent and side.now[n] == "Person" and n in side.saved]:
            key, shown = (n, "nick"), side.object(n).nick
            if key not in side.now and shown == side.saved.get(key):
                for facts in (side.now, side.base, side.mark):
                    put(facts, key, shown)

    def do_open(self, side: Side, levels: Optional[int]) -> Any:
        index = side.index + STEP
        if index in self.nested or not side.is_whole() or side.is_automatic or side.quiet:
            return False
        side.context.process()
        side.process()
        child = self.nested[index] = Side(self, index, side.context.create_child(), levels, side)
        child.start(side.now)
        child.compare()

    def do_close(self, side: Side) -> Any:
        if side.parent is None or side.index + STEP in self.nested:
            return False
        while side.groups:
            self.do_end(side)  # type: ignore[attr-defined]
        side.held = {}
        side.context.close()
        del self.nested[side.index]

    def save_above(self, side: Side) -> None:
        parent = side.parent
        assert parent
        side.process()
        broken, disputed = self._broken(side), conflicts(side)  # type: ignore[attr-defined]
        try:
            side.context.save()
        except quire.ValidationError as error:
            if not broken:
                raise
            same("broken rules", {(side.number(each.object), each.key) for each in error.failures}, broken)
            return
        except quire.Conflict as error:
            found = {side.number(each.object) for each in error.conflicts}
            if broken or not found or not found <= disputed | side.soft:
                raise Difference(f"in conflict with the parent: {found}, not {disputed}") from None
            side.has_conflicted = True
            return
        if broken or disputed:
            raise Difference(f"saved to a parent although {broken or disputed} are broken or in conflict")
        # Whether what returns is again a member where no inverse says so is open: it was never saved that it is not.
        returned = {m for m in side.inserted() if parent.base.get(m) == "Clip"}
        open_keys = {("clips", n, m) for n in objects(parent.now, "Book") for m in returned}
        if side.is_pending():
            side.has_conflicted = False
            accept(parent, side)
        side.moved, side.withdrawn = set(), set()
        parent.process()
        side.base = dict(side.now)
        if open_keys:
            parent.quiet = 0
        if not parent.quiet:
            parent.compare(open_keys)
            for key in open_keys:
                put(parent.mark, key, parent.now.get(key))
