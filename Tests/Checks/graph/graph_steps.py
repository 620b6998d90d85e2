"""The steps of a history, each done to the library and to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import quire

import graph_facts
from graph_facts import Facts, differing, insert, is_transient, link, members, objects, point, put
from graph_nested import STEP, Nesting
from graph_saving import Saving
from graph_side import Difference, Side, same
from graph_stage import Stage, Step
from graph_world import CLASSES, KEYS, NAMED, OF, TRANSIENT, Relation, root


class World(Saving, Nesting, Stage):
    """A store with one or two contexts, and contexts on those. Steps name objects by numbers, so that a history can be
    run without some of its steps; one that makes no sense then does nothing."""

    def __init__(self, path: str, levels: list[Optional[int]]) -> None:
        super().__init__(path, len(levels))
        self.sides = [Side(self, index, each, levels[index]) for index, each in enumerate(self.contexts)]
        self.nested: dict[int, Side] = {}

    # MARK: running

    def run(self, step: Step) -> bool:
        """Does a step and compares; false when it makes no sense here."""
        name, index, *rest = step
        side = self.sides[index] if index < len(self.sides) else self.nested.get(index)
        if side is None or name != "close" and side.reads_past_parent():
            return False
        self.look_up(side)
        side.is_read = False
        if getattr(self, f"do_{name}")(side, *rest) is False:
            return False
        side.held = {n: each for n, each in side.held.items() if n in side.now or n in side.base}
        if side.quiet:
            side.quiet -= 1
        elif name != "close":
            side.compare()
        self.look_down()
        return True

    def edit(self, side: Side, change: Callable[[], Any], model: Callable[[Facts], Any]) -> None:
        """A change by the caller."""
        before = dict(side.now) if side.redo else {}
        change()
        model(side.now)
        if side.redo:
            side.changed(before)

    # MARK: changes

    def do_insert(self, side: Side, n: int, entity: str) -> Any:
        if n in self.ids:
            return False
        made = side.context.add(CLASSES[entity]())
        self.ids[n] = (entity, made.id)
        self.numbers[root(entity), made.id] = n
        side.held[n] = made
        self.edit(side, lambda: None, lambda facts: insert(facts, n, entity))

    def do_set(self, side: Side, n: int, name: str, value: Any) -> Any:
        if n not in side.now or name not in KEYS[side.now[n]]:
            return False
        each = side.object(n)
        self.edit(side, lambda: setattr(each, name, value), lambda facts: put(facts, (n, name), value))

    def do_point(self, side: Side, n: int, name: str, to: Optional[int]) -> Any:
        if n not in side.now or (to is not None and to not in side.now):
            return False
        relation = NAMED[side.now[n], name]
        each, other = side.object(n), None if to is None else side.object(to)
        self.edit(side, lambda: setattr(each, name, other), lambda facts: point(facts, n, relation, to))

    def do_link(self, side: Side, n: int, name: str, m: int) -> Any:
        if n not in side.now or m not in side.now:
            return False
        relation = NAMED[side.now[n], name]
        if name == "clips" and any(key[0] == "clips" and key[2] == m for key in self._pairs(side)):
            # The file has one place for the owner.
            return False
        if m in members(side.now, n, relation):
            getattr(side.object(n), name).add(side.object(m))
            return
        self.edit(side, lambda: getattr(side.object(n), name).add(side.object(m)),
                  lambda facts: link(facts, n, relation, m))

    def do_unlink(self, side: Side, n: int, name: str, m: int) -> Any:
        if n not in side.now or m not in side.now:
            return False
        relation = NAMED[side.now[n], name]
        is_in = m in members(side.now, n, relation)
        self.edit(side, lambda: getattr(side.object(n), name).discard(side.object(m)),
                  lambda facts: link(facts, n, relation, m, False) if is_in else None)

    def do_assign(self, side: Side, n: int, name: str, wanted: tuple[int, ...]) -> Any:
        if n not in side.now or any(m not in side.now for m in wanted):
            return False
        relation = NAMED[side.now[n], name]
        if name == "clips":
            if any(key[0] == "clips" and key[2] in wanted and key[1] != n for key in self._pairs(side)):
                return False
        list_ = [side.object(m) for m in wanted]
        self.edit(side, lambda: setattr(side.object(n), name, list_),
                  lambda facts: graph_facts.assign(facts, n, relation, wanted))

    do_reorder = do_assign

    def _pairs(self, side: Side) -> list[Any]:
        family = [self.stored, side.now, side.base]
        for other in [*self.sides, *self.nested.values()]:
            family += [other.now, other.base]
        return [key for facts in family for key in facts if type(key) is tuple]

    def do_delete(self, side: Side, n: int) -> Any:
        if n not in side.now:
            return False
        each = side.object(n)

        def take(facts: Facts) -> None:
            side.deleted.append((n, facts.pop(n)))
            side.withdrawn.discard(n)

        self.edit(side, lambda: side.context.delete(each), take)

    # MARK: processing and groups

    def do_process(self, side: Side) -> Any:
        if side.is_automatic and not side.is_fresh:
            if side.groups:
                return False
            side.process()
            side.context.process()
            side.take_over()
        else:
            side.context.process()
            side.process()

    def do_automatic(self, side: Side) -> Any:
        if side.groups or self.nested:
            return False
        side.is_automatic = side.context.merges_automatically = not side.is_automatic

    def do_fetch(self, side: Side, entity: str) -> Any:
        if not side.is_whole() and (side.groups or not side.is_automatic):
            return False
        found = [side.number(each) for each in side.context.query(CLASSES[entity])]
        side.process()
        if not side.is_fresh:
            side.take_over()
        same(f"all {entity}", sorted(found), sorted(objects(side.now, entity)))

    def do_begin(self, side: Side) -> Any:
        if side.levels is None or len(side.groups) > 1:
            return False
        group = side.context.undo_group("group")
        group.__enter__()
        if not side.groups:
            side.process()
        side.groups.append(group)

    def do_end(self, side: Side) -> Any:
        if not side.groups:
            return False
        group = side.groups.pop()
        group.__exit__(None, None, None)
        if not side.groups:
            side.process()

    def do_undo(self, side: Side) -> Any:
        if side.levels is None:
            return False
        if not side.is_fresh or self._reads_past(side, side.undo):
            return False
        return self._revert(side, side.context.undo, lambda: side.revert(side.undo, side.redo))

    def do_redo(self, side: Side) -> Any:
        if side.levels is None:
            return False
        if not side.is_fresh or self._reads_past(side, side.redo):
            return False
        return self._revert(side, side.context.redo, lambda: side.revert(side.redo, side.undo))

    def _reads_past(self, side: Side, groups: list[Facts]) -> bool:
        """Whether a child would bring back what its parent knows to be gone, while another writer has brought back the
        row: it then finds the row, past its parent."""
        parent = side.parent
        return bool(parent and groups) and any(
            type(n) is int and n not in parent.now and n in self.stored for n in groups[-1])

    def _revert(self, side: Side, change: Callable[[], None], model: Callable[[], None]) -> Any:
        if side.groups:
            try:
                change()
            except quire.InvalidState:
                return
            raise Difference("undoing within a group is refused")
        change()
        side.process()
        model()

    # MARK: the store

    def do_merge(self, side: Side) -> Any:
        if side.groups:
            return False
        side.process()
        side.context.merge()
        side.take_over()

    def do_rollback(self, side: Side) -> Any:
        if side.groups:
            return False
        if side.parent:
            side.parent.context.process()
            side.parent.process()
        kept = side.base if side.is_fresh else side.saved
        lost = {n: each for n, each in side.held.items() if n not in kept or n not in side.base}
        side.context.rollback()
        for n, each in lost.items():
            side.held.pop(n)
            if n not in side.base:
                same(f"{n} is deleted", each.is_deleted, True)
        if side.is_fresh and not side.has_conflicted:
            side.now = dict(side.base)
            side.deleted, side.withdrawn = [], set()
            side.forget_undo()
            return
        if not side.has_conflicted or side.index + STEP in self.nested:
            # Children hear of what is gone when it is merged.
            side.context.merge()
        self._take_stored(side)

    def do_reset(self, side: Side) -> Any:
        if side.groups:
            return False
        self.do_rollback(side)
        for other in self.nested.values():
            if other.parent is side:
                # What it does not show before it merges it may have read already, by way of what refers to it.
                other.early |= {key: value for key, value in side.now.items()
                                if is_transient(key) and key[0] not in other.now}
        side.context.reset()
        for each in side.held.values():
            try:
                each.label if isinstance(each, CLASSES["Thing"]) else each.uri
            except quire.InvalidState:
                continue
            raise Difference("an object goes on after a reset")
        side.held = {}
        self._lose_nicks(side, lambda n: True)

    def _lose_nicks(self, side: Side, loses: Callable[[int], bool]) -> None:
        for n in objects(side.now):
            if loses(n):
                for name in TRANSIENT & KEYS[side.now[n]].keys():
                    for facts in (side.now, side.base, side.mark):
                        put(facts, (n, name), side.saved.get((n, name)))

    def do_refresh(self, side: Side, n: int, merges: bool) -> Any:
        if n not in side.now or not side.is_fresh:
            return False
        if not merges and n in side.soft:
            # Where members follow from what others refer to, what there is to take back depends on what was read.
            return False
        each = side.object(n)
        if merges or n in side.base:
            before = dict(side.now)
            each.refresh(merge=merges)
            if not merges:
                key = (n, "nick")
                # What was not saved is what undoing gives back.
                is_given_back = side.base.get(key) != side.mark.get(key)
                mark = side.mark.get(key)
                side.take_back(n)
                side.changed(before)
                self._lose_nicks(side, lambda m: m == n)
                if is_given_back:
                    put(side.mark, key, mark)
                return
            side.changed(before)
            return
        try:
            each.refresh(merge=False)
        except quire.InvalidState:
            return
        raise Difference("refreshing what was never saved is refused")

    def do_refresh_all(self, side: Side) -> Any:
        if not side.is_fresh and (side.groups or side.deleted):
            return False
        side.context.refresh_all()
        self.take_nicks(side)
        if not side.is_fresh:
            # What was to refer to a row that is gone lets go of it, or takes its own change back.
            lost = {key for key, value in side.now.items() if side.relation(key) and value not in side.saved}
            # In the second case it is again in the order of whom it belonged to.
            lost |= {
                ("order", side.saved[key], relation.inverse) for key in lost
                if (relation := side.relation(key)) and relation.inverse and side.saved.get(key) in side.saved}
            side.moved |= {key[1] for key in lost if key[0] == "order"}
            side.process()
            side.context.merge()
            side.take_over(lost)

    def do_look(self, side: Side) -> Any:
        """What objects say of what was saved, and of what was changed."""
        if not side.is_fresh or side.deleted:
            return False
        for n in objects(side.now):
            each = side.object(n)
            saved, changed = each.committed_values(), set(each.changed_values)
            for name in KEYS[side.now[n]].keys() - TRANSIENT:
                same(f"the saved {name} of {n}", saved[name], side.base.get((n, name)))
                same(f"whether {name} of {n} was changed", name in changed,
                     side.base.get((n, name)) != side.now.get((n, name)))
            for relation in OF[side.now[n]]:
                before = self._related(side.base, n, relation) if n in side.base else []
                now = self._related(side.now, n, relation)
                found = saved[relation.name]
                found = [side.number(other) for other in (found if relation.many else [found] if found else [])]
                if not relation.ordered:
                    before, now, found = sorted(before), sorted(now), sorted(found)
                # One that is deleted here may not be found any more.
                wanted = [m for m in before if m in side.base and (relation.many or m in side.now)]
                found = [m for m in found if m in side.base and (relation.many or m in side.now)]
                same(f"the saved {relation.name} of {n}", found, wanted)
                if n in side.base and n not in side.soft and all(m in side.now for m in now):
                    same(f"whether {relation.name} of {n} was changed", relation.name in changed, before != now)

    def _related(self, facts: Facts, n: int, relation: Relation) -> list[int]:
        if relation.many:
            return members(facts, n, relation)
        return [facts[n, relation.name]] if (n, relation.name) in facts else []

    def do_forget(self, side: Side, quiet: int) -> Any:
        """Lets go of all objects, so that those without changes are read anew."""
        if not side.is_fresh:
            return False
        nicked = {key[0] for facts in (side.now, side.base) for key in facts if is_transient(key)}
        nicked |= {key[0] for key in differing(side.base, side.saved) if is_transient(key)}
        side.held = {n: each for n, each in side.held.items() if n in nicked}
        side.quiet = quiet

    # MARK: contexts on contexts

    def do_child(self, side: Side, saves: bool, steps: tuple[Step, ...]) -> Any:
        """A context on this one, which does some steps and is then saved or dropped as a whole."""
        if not side.is_fresh or side.quiet:
            return False
        side.context.process()
        side.process()
        with side.context.create_child() as context:
            child = Side(self, f"{side.index}.{len(steps)}", context, 0, side)
            child.start(side.now)
            for name, *rest in steps:
                getattr(self, f"do_{name}")(child, *rest)
                child.compare()
            if saves:
                self.save_above(child)
                child.compare()
            child.held = {}
