"""The steps of a history, each done to the library and to the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import quire

import graph_facts
from graph_facts import Facts, about, differing, insert, is_transient, link, members, objects, point, put
from graph_nested import Nesting
from graph_saving import Saving
from graph_side import Difference, Side, same
from graph_stage import Stage, Step
from graph_world import CLASSES, KEYS, NAMED, OF, TRANSIENT, UNIQUE, Relation, root


class TakenBack(Exception):
    """Ends a transaction."""


class World(Saving, Nesting, Stage):
    """A store with one or two contexts, and contexts on those. Steps name objects by numbers, so that a history can be
    run without some of its steps; one that makes no sense then does nothing."""

    def __init__(self, path: str, levels: list[Optional[int]]) -> None:
        super().__init__(path, len(levels))
        self.sides = [Side(self, index, each, levels[index]) for index, each in enumerate(self.contexts)]
        self.begin()
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
        if not side.is_whole():
            return False
        found = [side.number(each) for each in side.context.query(CLASSES[entity])]
        side.fetch()
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
        if not side.is_even() or self._reads_past(side, side.undo):
            return False
        return self._revert(side, side.context.undo, lambda: side.revert(side.undo, side.redo))

    def do_redo(self, side: Side) -> Any:
        if side.levels is None:
            return False
        if not side.is_even() or self._reads_past(side, side.redo):
            return False
        return self._revert(side, side.context.redo, lambda: side.revert(side.redo, side.undo))

    def _reads_past(self, side: Side, groups: list[Facts]) -> bool:
        """Whether a child would bring back what its parent knows to be gone, while the context above that has it: it
        then finds it there, past its parent."""
        parent = side.parent
        return bool(parent and groups) and any(
            type(n) is int and n not in parent.now and n in parent.saved for n in groups[-1])

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
        side.context.rollback()
        moves = side.has_conflicted or not side.is_even()
        if moves and side.parent:
            side.context.merge()
        kept = side.base
        if moves:
            kept = self.stored if side.parent is None else side.saved
        for n, each in [(n, each) for n, each in side.held.items() if n not in side.base or n not in kept]:
            side.held.pop(n)
            if n not in kept:
                same(f"{n} is deleted", each.is_deleted, True)
        if moves:
            return self._take_stored(side)
        side.now = dict(side.base)
        side.deleted, side.withdrawn = [], set()
        side.forget_undo()

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
        if not side.is_fresh:
            self._take_stored(side)
        self._lose_nicks(side, lambda n: True)

    def _lose_nicks(self, side: Side, loses: Callable[[int], bool]) -> None:
        for n in objects(side.now):
            if loses(n):
                for name in TRANSIENT & KEYS[side.now[n]].keys():
                    for facts in (side.now, side.base, side.mark):
                        put(facts, (n, name), side.saved.get((n, name)))

    def do_refresh(self, side: Side, n: int, merges: bool) -> Any:
        if n not in side.now or not side.is_even() or not side.is_fresh and (side.groups or side.deleted):
            return False
        self._end_step(side)
        if n not in side.now:
            return
        if not side.is_fresh:
            return self._refresh_moving(side, n, merges)
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

    def _end_step(self, side: Side) -> None:
        """Before a refresh, which does not end what is undone at once. What it finds others to have changed or deleted
        would be left out of that, and what others have made go with it. What a parent has told without a difference
        would end it."""
        newest = self.stored if side.parent is None else side.saved
        is_met = any(
            newest.get(key) != side.base.get(key) or any(n in side.base and n not in newest for n in about(key))
            for key in differing(side.mark, side.now))
        if side.parent or not side.is_fresh and (is_met or side.removed()):
            self.do_process(side)

    def _refresh_moving(self, side: Side, n: int, merges: bool) -> Any:
        """One that the whole context moves on for."""
        if not merges and (n in side.soft or n not in side.base):
            return False
        if any(m != n and side.versions.get(m) != self.versions.get(m) for m in side.written() | side.soft):
            # Where both have changed one property, that stays a conflict.
            return False
        each = side.object(n)
        is_refused = False
        try:
            each.refresh(merge=merges)
        except quire.NotFound:
            if n in self.stored:
                raise
        except quire.InvalidState:
            # A rule of what was deleted here may have reached it, once the context has moved.
            is_refused = True
        side.process()
        open_keys = side.merge()
        if is_refused and n in side.now:
            raise Difference(f"refreshing {n} is refused")
        if not merges and n in side.now:
            # Undoing gives back what was not saved.
            before = dict(side.now)
            side.take_back(n)
            side.changed(before)
            self._lose_nicks(side, lambda m: m == n)
        side.compare(open_keys)
        for key in open_keys:
            put(side.mark, key, side.now.get(key))

    def do_refresh_all(self, side: Side) -> Any:
        if not side.is_fresh and (side.groups or side.deleted):
            return False
        self._end_step(side)
        side.context.refresh_all()
        self.take_nicks(side)
        if not side.is_fresh:
            side.process()
            if side.parent:
                side.context.merge()
            side.take_over()

    def do_look(self, side: Side) -> Any:
        """What objects say of what was saved, and of what was changed."""
        if not side.is_even() or side.deleted:
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
        if not side.is_even():
            return False
        nicked = {key[0] for facts in (side.now, side.base) for key in facts if is_transient(key)}
        nicked |= {key[0] for key in differing(side.base, side.saved) if is_transient(key)}
        side.held = {n: each for n, each in side.held.items() if n in nicked}
        side.quiet = quiet

    # MARK: without objects, and together

    def do_batch(self, side: Side, entity: str, name: str, value: Any, merges: bool) -> Any:
        """Sets an attribute of all rows of an entity."""
        if not merges:
            # Objects of the context keep values that are not of its moment then, which this model does not have.
            return False
        if side.parent or side.groups or name in TRANSIENT or name == UNIQUE[1]:
            return False
        if side.is_automatic and not side.is_fresh:
            return False
        side.context.process()
        side.process()
        number = self.commits()
        count = side.context.query(CLASSES[entity]).update({name: value}, merge=merges)
        rows = objects(self.stored, entity)
        same(f"how many of {entity} are updated", count, len(rows))
        for n in rows:
            if self.stored.get((n, name)) != value:
                put(self.stored, (n, name), value)
                self.versions[n] += 1
        self.compare_file()
        if self.outdate(side, number) and not merges:
            side.is_fresh = False
        if merges:
            side.take_over()

    def do_transaction(self, side: Side, saves: bool, steps: tuple[Step, ...]) -> Any:
        """Some steps as one, which is then saved or taken back. Meanwhile the other contexts show their moments."""
        if side.parent or side.groups or self.nested or side.is_automatic and not side.is_fresh:
            return False
        side.context.process()
        side.process()
        if side.is_pending() or side.context.has_changes:
            return False
        number = self.commits()
        broken: set[tuple[int, str]] = set()
        try:
            with side.context.transaction():
                if not side.is_fresh:
                    side.take_over()
                for name, *rest in steps:
                    getattr(self, f"do_{name}")(side, *rest)
                    side.compare()
                for other in self.sides:
                    if other is not side and not other.quiet:
                        other.compare()
                side.context.process()
                side.process()
                broken = self._broken(side)
                if not saves or self._twins(side):
                    raise TakenBack
        except (TakenBack, quire.ValidationError) as error:
            if isinstance(error, quire.ValidationError) and not broken:
                raise
            side.now = dict(side.base)
            side.held = {n: each for n, each in side.held.items() if n in side.now}
            side.moved, side.withdrawn = set(), set()
            side.forget_undo()
        else:
            if broken:
                raise Difference(f"saved although {broken} are broken")
            self._saved(side, number)
        self.compare_file()

    # MARK: contexts on contexts

    def do_child(self, side: Side, saves: bool, steps: tuple[Step, ...]) -> Any:
        """A context on this one, which does some steps and is then saved or dropped as a whole."""
        if not side.is_even() or side.is_automatic and not side.is_fresh or side.quiet:
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
